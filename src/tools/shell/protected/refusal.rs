//! What a command's output says of protected files that it could not write. Unit: one output. Pure.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Reason, is_below};

/// What programs say of a file that is mounted read-only, in small letters.
const MOUNTED: [&str; 4] = [
    "read-only file system",
    "device or resource busy",
    "erofs",
    "ebusy",
];

/// What they say of one that the sandbox does not let them write, or that nobody may read or run.
const DENIED: [&str; 2] = ["permission denied", "eacces"];

/// Returns the lines of an output that say that something could not be written, or read.
fn lines(output: &str) -> impl Iterator<Item = &str> {
    let signs = || MOUNTED.iter().chain(&DENIED);
    output.lines().filter(move |line| says(line, signs()))
}

fn says<'s>(line: &str, signs: impl IntoIterator<Item = &'s &'s str>) -> bool {
    let small = line.to_lowercase();
    signs.into_iter().any(|sign| small.contains(sign))
}

/// Returns whether a command's output says that something could not be written.
pub(in crate::tools::shell) fn was_refused(output: &str) -> bool {
    lines(output).next().is_some()
}

/// Returns the protected path that a command's output says could not be written, and why it is protected: the first of a
/// line, and of a folder and what lies in it the latter. Where no line names one (`sed: cannot rename ./sedx1`), that
/// which the command names.
pub(in crate::tools::shell) fn refused<'p>(
    (command, output): (&str, &str),
    project: &Path,
    protected: &'p BTreeMap<PathBuf, Reason>,
) -> Option<(&'p PathBuf, &'p Reason)> {
    let told = lines(output).find_map(|line| {
        let named = protected.iter().filter_map(|found| {
            let (path, _) = found;
            let below = path.strip_prefix(project).ok().and_then(Path::to_str);
            let names = [path.to_str(), below].into_iter().flatten();
            let at = names.filter_map(|name| named_at(line, name)).min()?;
            Some(((at, Reverse(path.as_os_str().len())), found))
        });
        let first = named.min_by_key(|(place, _)| *place);
        first.map(|(_, found)| found)
    });
    told.or_else(|| {
        let is_of_project =
            |line: &&str| says(line, &MOUNTED) && ![" /", "'/"].iter().any(|it| line.contains(it));
        output.lines().find(is_of_project)?;
        let is_named = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| is_word_of(command, name))
        };
        protected.iter().find(|(path, _)| is_named(path))
    })
}

/// Returns whether a command line has a name as a word or as the end of a path.
fn is_word_of(command: &str, name: &str) -> bool {
    let is_end = |it: char| it.is_whitespace() || "/'\"`;|&<>()=,:".contains(it);
    command.split(is_end).any(|word| word == name)
}

/// Returns where a line names a path or what lies below it.
fn named_at(line: &str, path: &str) -> Option<usize> {
    let is_of_name = |it: char| it.is_alphanumeric() || "_-".contains(it);
    let mut found = line.match_indices(path);
    let found = found.find(|(at, _)| {
        let before = &line[..*at];
        let before = before.strip_suffix("./").unwrap_or(before);
        let mut after = line[at + path.len()..].chars();
        let is_longer = match after.next() {
            Some('.') => after.next().is_some_and(is_of_name),
            next => next.is_some_and(is_of_name),
        };
        !is_longer && !before.ends_with(|it| is_of_name(it) || "./~".contains(it))
    });
    found.map(|(at, _)| at)
}

/// Returns the folder of a repository elsewhere whose own folder of git a command's output says could not be written.
pub(in crate::tools::shell) fn git_elsewhere(
    output: &str,
    writable: &[PathBuf],
) -> Option<PathBuf> {
    let lines = lines(output).filter(|line| line.to_lowercase().contains(".lock"));
    let mut paths = lines.filter_map(|line| line.split('\'').nth(1).map(Path::new));
    paths.find_map(|path| {
        let mut above = path.ancestors();
        let git = above.find(|folder| folder.ends_with(".git"))?;
        let is_elsewhere = git.is_absolute() && !is_below(git, writable);
        is_elsewhere.then(|| git.parent().map(Path::to_owned))?
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::write;
    use super::super::{PersonalGit, reasons};
    use super::*;

    #[test]
    fn a_refused_write_is_told_by_its_file_and_what_names_it() {
        let root = tempfile::TempDir::new().unwrap();
        let root = root.path().canonicalize().unwrap();
        let project = root.join("p");
        for folder in [".git/modules/sub", "../.git", "my hooks"] {
            fs::create_dir_all(project.join(folder)).unwrap();
        }
        for file in [".git/modules/sub/HEAD", "tools", "pager", "my hooks/h"] {
            write(&project.join(file), "");
        }
        for (config, text) in [
            (
                ".git/config",
                "[core]\n\thooksPath = \"my hooks\"\n[filter \"a.b\"]\n\tclean = ./tools %f\n",
            ),
            ("../.git/config", "[core]\n\tpager = p/pager\n"),
        ] {
            write(&project.join(config), text);
        }
        let reasons = reasons(&project, &PersonalGit::default(), &[]);
        let own = project.join(".git/config").display().to_string();
        let above = root.join(".git/config").display().to_string();
        let hooks = format!("core.hookspath in {own} names it");
        let of_git = "git runs it or what it names";
        let absolute = format!(
            "rm: cannot remove '{}/my hooks/h': Read-only file system",
            project.display()
        );
        let of_above = format!("error: could not lock config file {above}: Permission denied");
        for (line, expected) in [
            (
                "sh: 1: cannot create .envrc: Read-only file system",
                Some((".envrc", "it runs later")),
            ),
            (
                "error: could not write config file .git/config: Device or resource busy",
                Some((".git/config", of_git)),
            ),
            (&absolute, Some(("my hooks", &hooks))),
            (
                "Error: EROFS: read-only file system, rename 'a b' -> './my hooks/c d'",
                Some(("my hooks", &hooks)),
            ),
            (
                "PermissionError: [Errno 13] Permission denied: 'x' -> 'tools'",
                Some(("tools", &format!("filter.a.b.clean in {own} names it"))),
            ),
            (
                "Error: EACCES, open 'pager'",
                Some(("pager", &format!("core.pager in {above} names it"))),
            ),
            (
                "touch: .git/modules/sub/config: Permission denied",
                Some((".git/modules/sub/config", of_git)),
            ),
            (&of_above, Some(("../.git/config", of_git))),
            ("touch: cannot touch '/usr/x': Read-only file system", None),
            ("touch: src/tools: Read-only file system", None),
            ("touch: tools.c: Permission denied", None),
            ("touch: ~/.envrc: Permission denied", None),
            ("cat: .envrc: No such file or directory", None),
        ] {
            let found = refused(("", &format!("a\n{line}\n")), &project, &reasons);
            let found = found.map(|(path, reason)| (path.clone(), reason.to_string()));
            let expected = expected.map(|(path, why)| {
                let path = path
                    .strip_prefix("../")
                    .map_or(project.join(path), |it| root.join(it));
                (path, why.to_owned())
            });
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn where_no_line_names_the_file_the_command_does() {
        let project = Path::new("/p");
        let protected = BTreeMap::from([
            (project.join("AGENTS.md"), Reason::RunsLater),
            (project.join("tools/x.sh"), Reason::OfGit),
        ]);
        for (command, line, expected) in [
            (
                "sed -i s/a/b/ AGENTS.md",
                "sed: cannot rename ./sedb1: Device or resource busy",
                Some("AGENTS.md"),
            ),
            (
                "cd sub && echo x >> ../AGENTS.md",
                "sh: 1: cannot create ../AGENTS.md: Read-only file system",
                Some("AGENTS.md"),
            ),
            (
                "cd tools && echo>>x.sh",
                "sh: 1: cannot create x.sh: Read-only file system",
                Some("tools/x.sh"),
            ),
            (
                "cat AGENTS.md > b",
                "sh: 1: cannot create b: Permission denied",
                None,
            ),
            (
                "cp AGENTS.md /usr",
                "cp: cannot create regular file '/usr/AGENTS.md': Read-only file system",
                None,
            ),
            (
                "touch b",
                "touch: cannot touch 'b': Read-only file system",
                None,
            ),
        ] {
            let found = refused((command, line), project, &protected);
            let expected = expected.map(|path| project.join(path));
            assert_eq!(found.map(|(path, _)| path), expected.as_ref(), "{command}");
        }
    }

    #[test]
    fn a_folder_of_git_elsewhere_is_told_by_its_repository() {
        for (line, expected) in [
            (
                "fatal: Unable to create '/a/.git/index.lock': Permission denied",
                Some("/a"),
            ),
            (
                "fatal: Unable to create '/a/.git/worktrees/w/index.lock': Read-only file system",
                Some("/a"),
            ),
            (
                "fatal: Unable to create '/a/p/.git/index.lock': Permission denied",
                None,
            ),
            (
                "fatal: Unable to create '/b/.git/refs/x.lock': Permission denied",
                None,
            ),
            (
                "fatal: Unable to create '/a/.git/index.lock': File exists.",
                None,
            ),
            ("cat: '/a/.git/config': Permission denied", None),
        ] {
            let found = git_elsewhere(line, &["/a/p".into(), "/b/.git".into()]);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{line}");
        }
    }
}
