//! Files that run later: hooks, configuration of cogtrix, editors and agents, CI. Unit: one command.
//!
//! They are read-only where a mount namespace works. Those that did not exist, or could not be mounted, are compared
//! before and after the command; what it made or changed is moved aside, and what was there is put back.
//!
//! ```text
//!   guard   compares, and puts back     aside        keeps what a command made
//!   entry   one file as it was          put_back     what a person sees of a change, and can have again
//!   index   what git's index names      submodules   repositories that git enters because of it
//!   git_config   what its configurations name        repository   where git keeps a repository
//!   command_line words of commands in them           refusal      what a command says of protected files
//!   baseline   what was there before any of the commands that run now
//! ```

mod aside;
mod baseline;
mod command_line;
mod entry;
mod git_config;
mod guard;
mod index;
mod put_back;
mod refusal;
mod repository;
mod submodules;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use crate::files::resolve_links;

pub(super) use baseline::try_record;
pub use git_config::PersonalGit;
use git_config::{Bases, By, Named, named_paths};
pub(super) use guard::{Guard, UNKNOWN};
pub use put_back::{Change, PutBack};
pub(super) use refusal::{git_elsewhere, refused, was_refused};
use repository::{configs, files, git_folders_around, of_git};
pub(super) use repository::{files_with_modules, git_to_open};
use submodules::{Lead, Submodules};

/// Paths of a project that some program acts upon later, outside of any sandbox. Others are told by their names
/// ([`has_protected_name`]).
#[rustfmt::skip] // not one a line
const PROTECTED: [&str; 78] = [
    // Editors and shells.
    ".vscode", ".idea", ".vs", ".zed", ".devcontainer", ".devcontainer.json", ".exrc", ".nvim.lua", ".envrc",
    "mise.toml", ".mise.toml", "mise.local.toml", ".config/mise.toml", ".mise/config.toml",
    // Agents, and rules for them.
    ".mcp.json", "AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md",
    ".claude", ".codex", ".gemini", ".qwen", ".kiro", ".roo", ".continue", ".amazonq", ".cursor", ".cursorrules",
    ".windsurf", ".windsurfrules", ".clinerules", ".aider.conf.yml", "opencode.json", ".opencode", "AGENT.md",
    ".github/copilot-instructions.md", ".github/instructions",
    // Hooks of git.
    ".husky", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml", "lefthook-local.yml",
    ".lefthook-local.yml", "lefthook.toml", ".lefthook.toml", ".overcommit.yml",
    // Mercurial's own, and a package manager's that names the program it runs.
    ".hg/hgrc", ".yarnrc.yml",
    // CI.
    ".github/workflows", ".github/actions", ".gitea", ".forgejo", ".gitlab-ci.yml", ".circleci", ".cirrus.yml",
    ".build.yml", ".builds", ".semaphore", ".tekton", ".teamcity", ".travis.yml", ".drone.yml", ".woodpecker.yml",
    ".woodpecker.yaml", ".woodpecker", ".buildkite", "appveyor.yml", ".appveyor.yml", "azure-pipelines.yml",
    "bitbucket-pipelines.yml", "cloudbuild.yaml", "buildspec.yml", "wercker.yml", "Jenkinsfile", ".cogtrix",
];

/// Begins the name of every file of a project that is cogtrix' own.
const OWN: &[u8] = b".cogtrix";

/// Ends the name of a workspace of VS Code, whose tasks and settings count as those in `.vscode` do.
const WORKSPACE_END: &[u8] = b".code-workspace";

/// So many links are followed for one path, as Linux does.
const LINKS_MAX: usize = 40;

/// Why a path is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Some program acts upon it.
    RunsLater,
    /// Git does, or runs what it names.
    OfGit,
    /// A configuration of git names it.
    Named(Rc<By>),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RunsLater => f.write_str("it runs later"),
            Self::OfGit => f.write_str("git runs it or what it names"),
            Self::Named(by) => write!(f, "{} in {} names it", by.key, by.file.display()),
        }
    }
}

/// Returns the protected paths of a project, config files among them. They may not exist: none may be made either.
pub(super) fn paths(
    project: &Path,
    person: &PersonalGit,
    config_files: &[PathBuf],
) -> Vec<PathBuf> {
    let found = reasons(project, person, config_files);
    found.into_keys().collect()
}

/// Returns them with the reason for each.
pub(super) fn reasons(
    project: &Path,
    person: &PersonalGit,
    config_files: &[PathBuf],
) -> BTreeMap<PathBuf, Reason> {
    let real = resolve_links(project);
    // Each folder that git works in, with its files: the project, what is around it, and submodules.
    let around = real.ancestors().skip(1);
    let around = around.filter(|root| root.join(".git").exists());
    let roots = std::iter::once(real.as_path()).chain(around);
    let mut worked_in: Vec<(PathBuf, Vec<PathBuf>)> =
        roots.map(|root| (root.to_owned(), files(root))).collect();
    for (path, submodule) in Submodules::of(project).entered {
        let mut files = of_git(&submodule.git);
        if let Lead::File(_) = submodule.lead {
            files.push(submodule.entrance);
        }
        worked_in.push((path, files));
    }
    // What a configuration names: hooks of one's own, programs, further configurations, the folder of a submodule. That
    // of the person and of the machine count in each folder.
    let (roots, of_git): (Vec<PathBuf>, Vec<Vec<PathBuf>>) = worked_in.into_iter().unzip();
    let home = person.home.as_deref();
    let named_by = |config: &PathBuf, roots: &[PathBuf]| named_paths(config, Bases { roots, home });
    let own = roots.iter().zip(&of_git).flat_map(|(root, files)| {
        let roots = std::slice::from_ref(root);
        configs(files).flat_map(move |config| named_by(config, roots))
    });
    let of_person = person.configs.iter();
    let named = own.chain(of_person.flat_map(|config| named_by(config, &roots)));
    let named = named.map(|Named { path, by }| (path, Reason::Named(by)));
    let of_git = of_git.iter().flatten().chain(&person.configs);
    let of_git = of_git.map(|path| (path.clone(), Reason::OfGit));
    let listed = PROTECTED.iter().map(|name| real.join(name));
    let listed = listed.chain(named_files(&real));
    let listed = listed.chain(config_files.iter().cloned());
    let listed = listed.map(|path| (path, Reason::RunsLater));
    // Where git needs to write, a configuration protects nothing. In the project that is `.git`, whatever a file says.
    let mut of_git_itself = git_folders_around(&real);
    of_git_itself.retain(|folder| !folder.starts_with(&real));
    of_git_itself.push(real.join(".git"));
    let mut found = BTreeMap::new();
    for (path, reason) in named.chain(of_git).chain(listed) {
        let needed: &[PathBuf] = match reason {
            Reason::Named(_) => &of_git_itself,
            Reason::OfGit | Reason::RunsLater => &[],
        };
        // Where a link leads counts as much as the link, and so does each link on the way.
        for path in by_its_names(&path) {
            let inside = path.strip_prefix(&real).map(|inside| project.join(inside));
            let mut needed = needed.iter().chain([&real]);
            if !needed.any(|folder| folder.starts_with(&path)) {
                let path = inside.unwrap_or(path);
                found.entry(path).or_insert(reason.clone());
            }
        }
    }
    found
}

/// Returns whether some program acts upon one of these files of the project later; paths are relative to the project,
/// without links.
pub fn is_protected(project: &Path, person: &PersonalGit, files: &[&Path]) -> bool {
    // Whatever the case: some file systems know no difference.
    let lower = |path: &Path| PathBuf::from(path.as_os_str().to_ascii_lowercase());
    let lowered: Vec<PathBuf> = files
        .iter()
        .map(|file| lower(&project.join(file)))
        .collect();
    let protected = paths(project, person, &[]);
    lowered.iter().any(|file| {
        let mut protected = protected.iter();
        // What is written below a link lies where the link leads, which counts for itself.
        let holds = |path: &Path| *file == lower(path) || !path.is_symlink();
        protected.any(|path| file.starts_with(lower(path)) && holds(path))
            || file
                .strip_prefix(lower(project))
                .is_ok_and(has_protected_name)
    })
}

/// Returns a path as it is written, each link that is passed on the way, and where it ends, whether or not anything is
/// there: all count.
fn by_its_names(path: &Path) -> Vec<PathBuf> {
    let is_flat = path.components().all(|part| part != Component::ParentDir);
    let mut names: Vec<PathBuf> = is_flat.then(|| path.to_owned()).into_iter().collect();
    let mut links = 0;
    let mut real = PathBuf::new();
    let mut rest = path.to_owned();
    loop {
        let mut parts = rest.components();
        let Some(part) = parts.next() else { break };
        let behind = parts.as_path().to_owned();
        match part {
            Component::ParentDir => {
                real.pop();
            }
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => real.push(part),
        }
        rest = match fs::read_link(&real) {
            Ok(target) if links < LINKS_MAX => {
                links += 1;
                names.push(real.clone());
                real.pop();
                target.join(behind)
            }
            Ok(_) | Err(_) => behind,
        };
    }
    names.push(real);
    names
}

/// Returns whether a path in a project begins with a name of cogtrix' own files or of a workspace.
fn has_protected_name(path: &Path) -> bool {
    let name = path.iter().next().unwrap_or_default();
    let name = name.as_encoded_bytes();
    name.starts_with(OWN) || name.ends_with(WORKSPACE_END)
}

/// Returns what a project holds of such files.
fn named_files(project: &Path) -> impl Iterator<Item = PathBuf> {
    children(project).filter(|path| {
        path.file_name()
            .is_some_and(|name| has_protected_name(Path::new(name)))
    })
}

/// Returns whether a mount can cover a path: something is there, and no link leads to it.
pub(super) fn can_be_mounted(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|real| real == path)
}

pub(super) fn is_below(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

/// The same, but for the roots themselves.
pub(super) fn is_inside(path: &Path, roots: &[PathBuf]) -> bool {
    let mut roots = roots.iter();
    roots.any(|root| path.starts_with(root) && path != root)
}

/// Returns what a folder holds; nothing where it cannot be read.
fn children(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Write;

    use super::repository::OF_WORKTREE;
    use super::*;

    /// Tells what a test leaves out, so that no test runner swallows it.
    pub(super) fn skipped(why: &str) {
        let test = std::thread::current();
        let line = format!("{} is skipped: {why}\n", test.name().unwrap_or_default());
        std::io::stderr().write_all(line.as_bytes()).unwrap();
    }

    pub(super) fn write(path: &Path, text: &str) {
        let mut file = fs::File::create(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Those that lie in the project.
    fn inside(project: &Path, person: &PersonalGit) -> Vec<PathBuf> {
        let mut found = paths(project, person, &[]);
        found.retain(|path| path.starts_with(project));
        found
    }

    #[test]
    fn worktrees_and_a_folder_of_hooks_of_ones_own_are_protected() {
        let root = tempfile::TempDir::new().unwrap();
        let project = root.path().canonicalize().unwrap();
        let config = project.join(".git/config");
        fs::create_dir_all(project.join(".git/worktrees/w")).unwrap();
        for (value, expected) in [
            ("tools/hooks", Some("tools/hooks")),
            ("\"tools/my hooks\" # mine", Some("tools/my hooks")),
            ("hooks ; mine", Some("hooks")),
            ("too\\\nls/\"hooks\"", Some("tools/hooks")),
            ("\".git\"hooks", Some(".githooks")),
            ("../hooks", None),
            (".", None),
        ] {
            write(&config, &format!("[Core]\n\thooksPath = {value}\n"));
            let usual = inside(&project.join("missing"), &PersonalGit::default()).len();
            let found = inside(&project, &PersonalGit::default());
            let more = expected.map_or(0, |_| 1);
            assert_eq!(found.len(), usual + OF_WORKTREE.len() + more, "{value}");
            for path in expected.into_iter().chain([
                ".git/worktrees/w/commondir",
                ".git/worktrees/w/config.worktree",
                ".git/worktrees/w/gitdir",
            ]) {
                assert!(found.contains(&project.join(path)), "{value}: {path}");
            }
        }
    }

    #[test]
    fn what_editors_agents_hooks_and_ci_run_is_protected() {
        let root = tempfile::TempDir::new().unwrap();
        let project = root.path().canonicalize().unwrap();
        fs::create_dir(project.join(".git")).unwrap();
        write(
            &project.join(".git/config"),
            "[core]\n\thooksPath = tools/hooks\n",
        );
        for (file, expected) in [
            (".github/workflows/a.yml", true),
            (".github/actions/a/action.yml", true),
            (".gitea/workflows/a.yml", true),
            (".forgejo/workflows/a.yml", true),
            ("bitbucket-pipelines.yml", true),
            (".drone.yml", true),
            (".woodpecker.yml", true),
            (".woodpecker/a.yml", true),
            (".buildkite/pipeline.yml", true),
            ("appveyor.yml", true),
            (".pre-commit-config.yaml", true),
            ("lefthook.yml", true),
            (".devcontainer/devcontainer.json", true),
            (".zed/tasks.json", true),
            (".exrc", true),
            ("mise.toml", true),
            (".gemini/settings.json", true),
            (".codex/config.toml", true),
            (".claude/settings.json", true),
            (".semaphore/semaphore.yml", true),
            (".builds/a.yml", true),
            (".tekton/a.yml", true),
            (".teamcity/settings.kts", true),
            (".kiro/hooks/a", true),
            (".config/mise.toml", true),
            (".config/other.toml", false),
            (".mise/config.toml", true),
            (".vs/tasks.vs.json", true),
            ("Mine.Code-Workspace", true),
            ("mine.code-workspace.md", false),
            (".cogtrix-hooks/a", true),
            (".cogtrix.yaml", true),
            (".ENVRC", true),
            (".git/hooks/pre-push", true),
            ("tools/hooks/pre-push", true),
            ("tools/other", false),
            (".github/CODEOWNERS", false),
            ("docs/.envrc.md", false),
            ("src/main.rs", false),
        ] {
            assert_eq!(
                is_protected(&project, &PersonalGit::default(), &[Path::new(file)]),
                expected,
                "{file}"
            );
        }
    }

    #[test]
    fn hooks_named_from_the_home_folder_and_by_the_persons_own_configuration_are_protected() {
        let home = tempfile::TempDir::new().unwrap();
        let home = home.path().canonicalize().unwrap();
        let project = home.join("work/p");
        fs::create_dir_all(project.join(".git")).unwrap();
        let config = "[core]\n\thooksPath = ~/work/p/.hk\n";
        write(&project.join(".git/config"), config);
        let person = PersonalGit::new(Some(home.clone()), &BTreeMap::new());
        let found = || inside(&project, &person);
        assert!(found().contains(&project.join(".hk")));
        let usual = found();
        write(
            &home.join(".gitconfig"),
            "[includeIf \"gitdir:~/work/\"]\n\tpath = .gitconfig-work\n",
        );
        write(
            &home.join(".gitconfig-work"),
            "[core]\n\thooksPath = .githooks\n",
        );
        let own: Vec<PathBuf> = found()
            .into_iter()
            .filter(|it| !usual.contains(it))
            .collect();
        assert_eq!(own, [project.join(".githooks")]);
        write(&home.join(".gitconfig"), "[core]\n\thooksPath = ~/hooks\n");
        assert_eq!(found(), usual);
    }

    #[test]
    fn hooks_that_are_named_from_elsewhere_are_protected() {
        let home = tempfile::TempDir::new().unwrap();
        let home = home.path().canonicalize().unwrap();
        let repository = home.join("work/repo");
        let project = repository.join("sub");
        fs::create_dir_all(repository.join(".git")).unwrap();
        fs::create_dir_all(project.join("conf/git")).unwrap();
        let variables = |name: &str, file: &str| {
            let value = project.join(file).display().to_string();
            BTreeMap::from([(name.to_owned(), value)])
        };
        let global = variables("GIT_CONFIG_GLOBAL", "mine");
        let folder = variables("XDG_CONFIG_HOME", "conf");
        let none = BTreeMap::new();
        let above = "../.git/config";
        for (config, variables, hooks, expected) in [
            // Of a repository around the project.
            (above, &none, "sub/hk", Some("hk")),
            (above, &none, "hk", None),
            (above, &none, "~other/work/repo/sub/hk", Some("hk")),
            (above, &none, "~other/sub/hk", Some("hk")),
            (above, &none, "~/work/repo/sub/hk", Some("hk")),
            (above, &none, ":(optional)sub/hk", Some("hk")),
            // Of the person.
            ("mine", &global, "hk", Some("hk")),
            ("mine", &none, "hk", None),
            ("conf/git/config", &folder, "hk", Some("hk")),
            ("conf/git/config", &folder, "sub/hk", Some("hk")),
        ] {
            let text = format!("[core]\n\thooksPath = {hooks}\n");
            write(&project.join(config), &text);
            let person = PersonalGit::new(Some(home.clone()), variables);
            let is_protected = |file: &str| is_protected(&project, &person, &[Path::new(file)]);
            let about = format!("{config} {hooks}");
            assert_eq!(is_protected("hk/pre-commit"), expected.is_some(), "{about}");
            // So is the configuration itself.
            assert_eq!(is_protected(config), !variables.is_empty(), "{about}");
            fs::remove_file(project.join(config)).unwrap();
        }
        // In the folder of a submodule the person's own counts as well, also where the project is only around it.
        let git = |arguments: &[&str]| {
            let mut command = std::process::Command::new("git");
            command.args(arguments).current_dir(&repository).output()
        };
        let names = ["update-index", "--add", "--cacheinfo"];
        let entry = format!("160000,{},sub/module", "1".repeat(40));
        let Ok(_) = git(&["init", "-q"]) else {
            return skipped("there is no git");
        };
        git(&[&names[..], &[&entry]].concat()).unwrap();
        fs::create_dir_all(project.join("module/.git")).unwrap();
        write(&project.join("mine"), "[core]\n\thooksPath = hk\n");
        let person = PersonalGit::new(None, &global);
        for (file, expected) in [
            ("module/hk/pre-commit", true),
            ("module/.git/config", true),
            ("other/hk/pre-commit", false),
        ] {
            let found = is_protected(&project, &person, &[Path::new(file)]);
            assert_eq!(found, expected, "{file}");
        }
    }

    #[test]
    fn programs_of_the_project_that_a_configuration_names_are_protected() {
        let root = tempfile::TempDir::new().unwrap();
        let home = root.path().canonicalize().unwrap();
        let project = home.join("p");
        let config = project.join(".git/config");
        for folder in [".git", "tools"] {
            fs::create_dir_all(project.join(folder)).unwrap();
        }
        for file in ["tools/x", "tools/my x", "x"] {
            write(&project.join(file), "");
        }
        let program = "tools/x";
        let person = PersonalGit {
            home: Some(home),
            ..PersonalGit::default()
        };
        let is_protected = |path| is_protected(&project, &person, &[Path::new(path)]);
        for (section, line, expected) in [
            ("core", "fsmonitor = tools/x", true),
            ("core", "sshCommand = X=1 ./tools/x -v", true),
            ("core", "editor = tools/x", true),
            ("core", "pager = less | tools/x", true),
            ("core", "excludesFile = tools/x", false),
            ("filter \"a\"", "clean = tools/x %f", true),
            ("filter \"a\"", "smudge = sh 'tools/x'", true),
            ("filter \"a\"", "process = tools/x", true),
            ("filter \"a\"", "required = true", false),
            ("diff \"a\"", "command = tools/x", true),
            ("diff \"a\"", "textconv = tools/x", true),
            ("merge \"a\"", "driver = tools/x %O %A", true),
            ("alias", "a = !tools/x", true),
            ("alias", "a = \"!f() { tools/x; }; f\"", true),
            (
                "alias",
                "a = !$(git rev-parse --show-toplevel)/tools/x",
                true,
            ),
            ("alias", "a = log tools/x", false),
            ("sequence", "editor = tools/x", true),
            ("credential \"https://a\"", "helper = !tools/x", true),
            ("gpg \"ssh\"", "program = tools/x", true),
            ("uploadpack", "packObjectsHook = tools/x", true),
            ("user", "name = tools/x", false),
            ("alias", "a = !tools/none", false),
            ("alias", "a = !git diff -- . ':!tools/x'", false),
            ("alias", "a = !cat tools/x", false),
            ("tar \"a.b\"", "command = tools/x -c", true),
            ("gc", "recentObjectsHook = tools/x", true),
            ("sendemail", "toCmd = tools/x", true),
            ("sendemail \"a\"", "sendmailCmd = tools/x", true),
            ("imap", "tunnel = tools/x", true),
            ("guitool \"a\"", "cmd = tools/x", true),
            ("hook \"a\"", "command = tools/x", true),
            ("alias", "a = !cd tools && ./x", true),
            ("alias", "a = !$PWD/tools/x", true),
            ("alias", "url = !tools/x", true),
            ("pager", "url = tools/x", true),
            ("alias", "a = \"!(cd a && make); (cd tools && ./x)\"", true),
            ("alias", "a = !cd -P tools && ./x", true),
            ("alias", "a = !$HOME/p/tools/x", true),
            ("alias", "a = \"!sh -c 'cd tools; ./x'\"", true),
            ("remote \"a\"", "url = ext::tools/x %S", true),
            ("remote \"a\"", "pushUrl = ext::sh tools/x", true),
            ("remote \"a\"", "url = tools/x", false),
        ] {
            write(&config, &format!("[{section}]\n\t{line}\n"));
            assert_eq!(is_protected(program), expected, "{section} {line}");
            assert!(!is_protected("tools/none") && !is_protected("tools/y"));
        }
        write(&config, "[core]\n\tpager = \"'tools/my x'\"\n");
        assert!(is_protected("tools/my x"));
        write(&config, "[alias]\n\ta = !tools/my\\\\ x\n");
        assert!(is_protected("tools/my x"));
        // A template brings hooks.
        write(&config, "[init]\n\ttemplateDir = tools\n");
        assert!(is_protected("tools/hooks/pre-commit"));
        // Whatever can be started may be, by whatever program.
        write(&config, "[alias]\n\ta = !xargs tools/x\n");
        assert!(!is_protected(program));
        let rights = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(project.join(program), rights).unwrap();
        assert!(is_protected(program));
        // A word that is in no folder counts as well: `sh x`.
        write(&config, "[core]\n\teditor = sh x\n");
        assert!(is_protected("x"));
    }

    #[test]
    fn a_config_without_an_end_is_not_read() {
        let root = tempfile::TempDir::new().unwrap();
        let project = root.path().canonicalize().unwrap();
        let module = project.join(".git/modules/x");
        fs::create_dir_all(&module).unwrap();
        write(&module.join("HEAD"), "x");
        let usual = paths(&project, &PersonalGit::default(), &[]);
        std::os::unix::fs::symlink("/dev/zero", module.join("config")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            project.join(".git/config"),
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        let found = paths(&project, &PersonalGit::default(), &[]);
        assert!(usual.iter().all(|path| found.contains(path)));
    }

    #[test]
    fn configs_that_are_included_and_the_folders_of_submodules_are_protected() {
        let root = tempfile::TempDir::new().unwrap();
        let project = root.path().canonicalize().unwrap();
        let module = project.join(".git/modules/sm");
        fs::create_dir_all(&module).unwrap();
        fs::create_dir(project.join("sm")).unwrap();
        write(
            &project.join(".git/config"),
            "[include] path = ../.gitlocal\n",
        );
        write(&module.join("HEAD"), "x");
        write(&module.join("config"), "[core]\n\tworktree = ../../../sm\n");
        let found = paths(&project, &PersonalGit::default(), &[]);
        for path in [".gitlocal", "sm/.git"] {
            assert!(found.contains(&project.join(path)), "{path}: {found:?}");
        }
    }

    #[test]
    fn each_link_on_the_way_to_a_protected_path_and_where_it_ends_is_protected() {
        let hooks = |path: &str| format!("[core]\n\thooksPath = {path}\n");
        let filter = "[filter \"f\"]\n\tclean = run\n".to_owned();
        for (links, config, expected) in [
            (
                [("l1", "d"), ("h2", "l1/hk")],
                hooks("h2"),
                vec!["h2", "l1", "d/hk"],
            ),
            (
                [("l1", "d"), ("h2", "l1/hk")],
                hooks("x/../l1/hk"),
                vec!["l1", "d/hk"],
            ),
            // Nothing is there yet.
            (
                [("l1", "none"), ("h2", "l1/hk")],
                hooks("h2"),
                vec!["l1", "none/hk"],
            ),
            (
                [(".git/hooks", "hooks2"), (".git/hooks2", "../d/hooks")],
                String::new(),
                vec![".git/hooks2", "d/hooks"],
            ),
            (
                [("l1", "d"), (".vscode", "l1/vs")],
                String::new(),
                vec!["l1", "d/vs"],
            ),
            (
                [("l1", "./d/../d"), ("AGENTS.md", "l1/A.md")],
                String::new(),
                vec!["l1", "d/A.md"],
            ),
            (
                [("l1", "d"), ("run", "l1/run")],
                filter,
                vec!["run", "l1", "d/run"],
            ),
            // In a circle.
            (
                [("l1", ".vscode"), (".vscode", "l1")],
                String::new(),
                vec!["l1"],
            ),
        ] {
            let root = tempfile::TempDir::new().unwrap();
            let project = root.path().canonicalize().unwrap();
            for folder in [".git", "x", "d/hk", "d/hooks", "d/vs"] {
                fs::create_dir_all(project.join(folder)).unwrap();
            }
            for file in ["d/A.md", "d/run"] {
                write(&project.join(file), "");
            }
            write(&project.join(".git/config"), &config);
            for (link, target) in links {
                std::os::unix::fs::symlink(target, project.join(link)).unwrap();
            }
            let found = paths(&project, &PersonalGit::default(), &[]);
            for path in expected {
                assert!(found.contains(&project.join(path)), "{links:?}: {path}");
            }
            // What else lies behind such a link is a file like any other.
            let is_protected = |path| is_protected(&project, &PersonalGit::default(), &[path]);
            assert!(!is_protected(Path::new("l1/other")), "{links:?}");
            assert!(found.iter().all(|path| !project.starts_with(path)));
        }
    }

    #[test]
    fn a_worktree_protects_the_folders_that_its_file_names() {
        let root = tempfile::TempDir::new().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in ["main/.git/worktrees/w", "w", "main/.git/modules/a/b/hooks"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let own = root.join("main/.git/worktrees/w");
        write(
            &root.join("w/.git"),
            &format!("gitdir: {}\n", own.display()),
        );
        write(&own.join("commondir"), "../..\n");
        write(&root.join("main/.git/modules/a/b/HEAD"), "x");
        let of_worktree = paths(&root.join("w"), &PersonalGit::default(), &[]);
        for path in [
            "w/.git",
            "main/.git/worktrees/w/config.worktree",
            "main/.git/hooks",
        ] {
            assert!(of_worktree.contains(&root.join(path)), "{path}");
        }
        let of_main = paths(&root.join("main"), &PersonalGit::default(), &[]);
        for found in [of_main, of_worktree] {
            assert!(found.contains(&root.join("main/.git/modules/a/b/hooks")));
        }
        // A file that came along opens no folder that it calls git's.
        fs::create_dir_all(root.join("p/.vscode/git")).unwrap();
        write(&root.join("p/.git"), "gitdir: .vscode/git\n");
        write(
            &root.join("p/.vscode/git/config"),
            "[core]\n\thooksPath = .vscode\n",
        );
        let of_hostile = paths(&root.join("p"), &PersonalGit::default(), &[]);
        assert!(of_hostile.contains(&root.join("p/.vscode")));
    }
}
