//! What configurations of git have run later. Unit: one file, and those that it includes.
//!
//! Read as git reads them: names in any case, values that are quoted in part or go on in the next line, comments. The
//! conditions of an `includeIf` may hold some day, so all of them count. Where git refuses a line, the next one is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter::Peekable;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::Chars;

use super::command_line::{Word, words};
use super::entry::text;
use crate::files::resolve_links;

/// Files that include each other are followed down to here, as git does.
const DEPTH_MAX: usize = 10;
/// Files that are read because of one, and their bytes; what is more is taken for a file that cannot be read.
const FILES_MAX: usize = 1_000;
const BYTES_MAX: usize = 4 << 20;
/// Bytes of the middle of a key that a person is shown, or a few more.
const NAME_MAX: usize = 80;

/// Variables that name a configuration of git.
const NAMING: [&str; 2] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"];

/// Sections and keys whose values are commands; of a section without keys all of them.
#[rustfmt::skip] // not one a line
const PROGRAMS: [(&str, &[&str]); 24] = [
    ("alias", &[]), ("pager", &[]), ("credential", &["helper"]), ("interactive", &["difffilter"]),
    ("core", &["alternaterefscommand", "askpass", "editor", "fsmonitor", "gitproxy", "pager", "sshcommand"]),
    ("diff", &["command", "external", "textconv"]), ("filter", &["clean", "process", "smudge"]),
    ("merge", &["driver"]), ("sequence", &["editor"]), ("gpg", &["defaultkeycommand", "program"]),
    ("uploadpack", &["packobjectshook"]), ("remote", &["pushurl", "receivepack", "uploadpack", "url"]), ("submodule", &["update"]),
    ("trailer", &["cmd", "command"]), ("browser", &["cmd", "path"]), ("difftool", &["cmd", "path"]),
    ("man", &["cmd", "path"]), ("mergetool", &["cmd", "path"]), ("guitool", &["cmd"]), ("tar", &["command"]),
    ("gc", &["recentobjectshook"]), ("hook", &["command"]), ("imap", &["tunnel"]),
    ("sendemail", &["cccmd", "headercmd", "sendmailcmd", "smtpserver", "tocmd"]),
];

/// In these sections only what begins so is a command for a shell.
const OF_SHELL: [&str; 2] = ["alias", "submodule"];
const SHELL: &str = "!";

/// Addresses that begin so are commands, and no other is.
const OF_ADDRESS: [&str; 2] = ["url", "pushurl"];
const COMMAND_ADDRESS: &str = "ext::";

/// Configurations of the machine; which of them counts is up to how git was built.
const OF_MACHINE: [&str; 2] = ["/etc/gitconfig", "/usr/local/etc/gitconfig"];

/// What a person set for git in all their repositories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonalGit {
    pub(super) home: Option<PathBuf>,
    /// Configurations that count in each repository.
    pub(super) configs: Vec<PathBuf>,
}

impl PersonalGit {
    pub fn new(home: Option<PathBuf>, variables: &BTreeMap<String, String>) -> Self {
        let path = |name: &str| variables.get(name).map(PathBuf::from);
        let below = |name: &str| home.as_ref().map(|home| home.join(name));
        let folders = [path("XDG_CONFIG_HOME"), below(".config")].into_iter();
        let configs = folders.flatten().map(|folder| folder.join("git/config"));
        let configs = configs.chain(below(".gitconfig"));
        let configs = configs.chain(NAMING.into_iter().filter_map(path));
        Self {
            configs: configs.chain(OF_MACHINE.map(PathBuf::from)).collect(),
            home,
        }
    }
}

/// Where git works with a configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bases<'a> {
    /// Hooks and programs are named from each of these.
    pub(super) roots: &'a [PathBuf],
    pub(super) home: Option<&'a Path>,
}

/// A path by which a configuration has something run later.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Named {
    pub(super) path: PathBuf,
    pub(super) by: Rc<By>,
}

/// What names it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tools::shell) struct By {
    /// Such as `core.hookspath`.
    pub(super) key: String,
    pub(super) file: PathBuf,
}

/// Returns every path by which a configuration has something run later: folders of hooks, programs that are there,
/// configurations that are included, and the `.git` file in the folder of a submodule.
pub(super) fn named_paths(file: &Path, bases: Bases<'_>) -> Vec<Named> {
    let mut reading = Reading {
        bases,
        seen: BTreeSet::new(),
        bytes: 0,
        hooks: Vec::new(),
        words: BTreeMap::new(),
        named: Vec::new(),
        worktree: None,
    };
    reading.read(file, DEPTH_MAX);
    let Reading {
        hooks,
        words,
        mut named,
        worktree,
        ..
    } = reading;
    // A submodule names its hooks from its own folder.
    let own = worktree.as_ref().map(|it| it.path.clone()).or_else(|| {
        let folder = file.parent().filter(|folder| folder.ends_with(".git"))?;
        folder.parent().map(Path::to_owned)
    });
    for root in own.iter().chain(bases.roots) {
        let below = |path: &Path, by: &Rc<By>| Named {
            path: root.join(path),
            by: Rc::clone(by),
        };
        named.extend(hooks.iter().map(|hooks| below(&hooks.path, &hooks.by)));
        let programs = words
            .iter()
            .map(|((word, runs), by)| (below(word, by), *runs));
        let programs = programs.filter(|(it, runs)| is_program(&it.path, *runs));
        named.extend(programs.map(|(it, _)| it));
    }
    named.extend(worktree.map(|Named { path, by }| Named {
        path: path.join(".git"),
        by,
    }));
    named
}

struct Reading<'a> {
    bases: Bases<'a>,
    seen: BTreeSet<PathBuf>,
    bytes: usize,
    /// As they are named.
    hooks: Vec<Named>,
    /// Of commands, each with whether it stands where a command names what it runs.
    words: BTreeMap<(PathBuf, bool), Rc<By>>,
    named: Vec<Named>,
    worktree: Option<Named>,
}

impl Reading<'_> {
    fn read(&mut self, file: &Path, depth: usize) {
        let real = resolve_links(file);
        let Some(folder) = file.parent().map(resolve_links) else {
            return;
        };
        if self.seen.len() == FILES_MAX || !self.seen.insert(real) {
            return;
        }
        let Some(text) = text(file) else { return };
        self.bytes += text.len();
        if self.bytes > BYTES_MAX {
            return;
        }
        for Setting {
            section,
            key,
            name,
            value,
        } in settings(&text)
        {
            let by = || {
                Rc::new(By {
                    key: name,
                    file: file.to_owned(),
                })
            };
            let named = |by: &Rc<By>, path| Named {
                path,
                by: Rc::clone(by),
            };
            match (section.as_str(), key.as_str()) {
                // The second one holds a folder of hooks.
                ("core", "hookspath") | ("init", "templatedir") => {
                    let (by, paths) = (by(), self.expanded(&value));
                    self.hooks
                        .extend(paths.into_iter().map(|path| named(&by, path)));
                }
                ("core", "worktree") => self.worktree = Some(named(&by(), folder.join(value))),
                ("include" | "includeif", "path") => {
                    let by = by();
                    for included in self.expanded(&value) {
                        let included = folder.join(included);
                        if depth > 0 {
                            self.read(&included, depth - 1);
                        }
                        self.named.push(named(&by, included));
                    }
                }
                (section, key) if is_command(section, key, &value) => {
                    let line = value.strip_prefix(SHELL);
                    let line = line.or_else(|| value.strip_prefix(COMMAND_ADDRESS));
                    let line = line.unwrap_or(&value);
                    let mut words = words(line);
                    // Some are paths, whatever is in them.
                    let (text, runs) = (value, true);
                    words.push(Word { text, runs });
                    let by = by();
                    for Word { text, runs } in words {
                        let paths = self.expanded(&text).into_iter();
                        // Behind a variable or a substitution that is the root, or the home folder.
                        let tail = text.trim_start_matches('/');
                        let at_home = text.starts_with('/').then_some(self.bases.home).flatten();
                        let paths = paths.chain([tail.into()]);
                        let paths = paths.chain(at_home.map(|home| home.join(tail)));
                        let named = paths.map(|path| ((path, runs), Rc::clone(&by)));
                        self.words.extend(named);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the paths that a value may name. Where the home folder of another name is cannot be told, so it counts as
    /// one's own, and as each from which the tail could lead into the project.
    fn expanded(&self, value: &str) -> Vec<PathBuf> {
        let value = value.strip_prefix(":(optional)").unwrap_or(value);
        let Some(of_home) = value.strip_prefix('~') else {
            return (!value.is_empty())
                .then(|| value.into())
                .into_iter()
                .collect();
        };
        let (name, tail) = of_home.split_once('/').unwrap_or_default();
        let mut found: Vec<PathBuf> = self.bases.home.iter().map(|it| it.join(tail)).collect();
        if !name.is_empty() {
            let ends = tail.match_indices('/').map(|(at, _)| tail.split_at(at));
            for root in self.bases.roots {
                let leads = ends.clone().filter(|(start, _)| root.ends_with(start));
                found.extend(leads.map(|(_, rest)| root.join(&rest[1..])));
                found.push(root.join(tail));
            }
        }
        found
    }
}

/// Returns whether a file may be one that a command runs; among its arguments, only if it can be started.
fn is_program(path: &Path, runs: bool) -> bool {
    let found = fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && (runs || found.mode() & 0o111 != 0))
}

/// Returns whether git runs the value of a key.
fn is_command(section: &str, key: &str, value: &str) -> bool {
    let mut rows = PROGRAMS.iter();
    let is_told =
        rows.any(|(name, keys)| *name == section && (keys.is_empty() || keys.contains(&key)));
    is_told
        && (!OF_SHELL.contains(&section) || value.starts_with(SHELL))
        && (section != "remote" || !OF_ADDRESS.contains(&key) || value.starts_with(COMMAND_ADDRESS))
}

/// One line of a configuration; section and key in small letters, of a section only the first part of its name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) section: String,
    pub(super) key: String,
    /// The whole key as a person writes it: `filter.a.b.clean`.
    name: String,
    /// Empty where a key stands alone.
    pub(super) value: String,
}

pub(super) fn settings(text: &str) -> Vec<Setting> {
    let text = text.replace("\r\n", "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut chars = text.chars().peekable();
    let mut found = Vec::new();
    let (mut section, mut rest) = (String::new(), String::new());
    while let Some(next) = chars.next() {
        match next {
            '[' => (section, rest) = read_section(&mut chars),
            _ if next.is_ascii_alphabetic() => {
                let mut key = next.to_string();
                while let Some(next) = chars.next_if(|it| it.is_ascii_alphanumeric() || *it == '-')
                {
                    key.push(next);
                }
                while chars.next_if(|it| " \t".contains(*it)).is_some() {}
                let is_assigned = chars.next_if_eq(&'=').is_some();
                let value = if is_assigned {
                    read_value(&mut chars)
                } else {
                    skip_line(&mut chars);
                    String::new()
                };
                key.make_ascii_lowercase();
                found.push(Setting {
                    name: format!("{section}{rest}.{key}"),
                    section: section.clone(),
                    key,
                    value,
                });
            }
            _ if next.is_whitespace() => {}
            _ => skip_line(&mut chars),
        }
    }
    found
}

/// Reads to the end of a name of a section, and returns its first part and the rest; what is quoted in it may hold
/// brackets.
fn read_section(chars: &mut Peekable<Chars<'_>>) -> (String, String) {
    let (mut name, mut rest) = (String::new(), String::new());
    let mut is_quoted = false;
    while let Some(next) = chars.next_if(|it| *it != '\n') {
        match next {
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted => {
                let next = chars.next_if(|it| *it != '\n');
                rest.extend(next.filter(|_| rest.len() < NAME_MAX));
            }
            ']' if !is_quoted => break,
            // `[a.b]` is an older way to write `[a "b"]`.
            _ if rest.is_empty() && (next.is_whitespace() || next == '.') => rest.push('.'),
            _ if rest.is_empty() => name.push(next.to_ascii_lowercase()),
            _ if rest.len() < NAME_MAX && (is_quoted || !next.is_whitespace()) => rest.push(next),
            _ => {}
        }
    }
    (name, rest)
}

/// Reads what is assigned to the end of its last line.
fn read_value(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut value = String::new();
    // Of what is not quoted, blanks at the end do not count.
    let mut length = 0;
    let mut is_quoted = false;
    while let Some(next) = chars.next() {
        match next {
            '\n' => break,
            '"' => is_quoted = !is_quoted,
            '\\' => match chars.next() {
                // Blanks before the end of the line count.
                None | Some('\n') => {}
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(other) => value.push(other),
            },
            '#' | ';' if !is_quoted => {
                skip_line(chars);
                break;
            }
            _ if next.is_whitespace() && !is_quoted => {
                if !value.is_empty() {
                    value.push(next);
                }
                continue;
            }
            _ => value.push(next),
        }
        length = value.len();
    }
    value.truncate(length);
    value
}

fn skip_line(chars: &mut Peekable<Chars<'_>>) {
    while chars.next().is_some_and(|it| it != '\n') {}
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::super::tests::{skipped, write};
    use super::*;

    fn paths(file: &Path, bases: Bases<'_>) -> Vec<PathBuf> {
        let named = named_paths(file, bases).into_iter();
        named.map(|it| it.path).collect()
    }

    fn listed(text: &str) -> Vec<String> {
        let found = settings(text).into_iter();
        let found = found.map(|it| format!("{}.{}={}", it.section, it.key, it.value));
        found.collect()
    }

    /// The same by git; `None` where it is not there.
    fn listed_by_git(text: &str) -> Option<Vec<String>> {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("config");
        write(&file, text);
        let mut command = Command::new("git");
        command.args(["config", "--null", "--list", "--file"]);
        let output = command.arg(&file).output().ok()?;
        assert!(output.status.success(), "git refuses {text:?}");
        let listed = String::from_utf8(output.stdout).unwrap();
        let parts = listed.split_terminator('\0').map(|line| {
            let (name, value) = line.split_once('\n').unwrap_or((line, ""));
            let section = name.split('.').next().unwrap();
            let key = name.rsplit('.').next().unwrap();
            format!("{section}.{key}={value}")
        });
        Some(parts.collect())
    }

    const HEADER: &str = r#"(\[core\]|\[a "b\\"\]"\]|\[A\.b\])?"#;
    const ASSIGNED: &str = r#"[ \t]*=[ \t]*(x|é| |\\[nt"\\]|\\\n|"(x|#|;| |é|\\[nt"\\]|\\\n){0,3}"){0,5}([#;][x"\[ ]{0,3})?"#;
    const OTHER: &str = r#"[ \t]*([#;][x"\\ ]{0,3})?"#;

    fn valid() -> impl Strategy<Value = String> {
        let key = format!("[ \t]*(x|Y-1)(|[ \t]{{1,2}}|{ASSIGNED})");
        let line = format!("{HEADER}({key}|{OTHER})(\r\n|\n)");
        let lines = format!("({line}){{0,6}}");
        proptest::string::string_regex(&lines).unwrap()
    }

    #[test]
    fn what_git_reads_is_read_the_same() {
        if listed_by_git("").is_none() {
            return skipped("there is no git");
        }
        proptest!(|(lines in valid())| {
            let text = format!("[core]\n{lines}");
            prop_assert_eq!(Some(listed(&text)), listed_by_git(&text), "{:?}", text);
        });
    }

    #[test]
    fn a_configuration_is_read_as_git_reads_it() {
        for (text, expected) in [
            ("[core]\n\thooksPath = a\n", "core.hookspath=a"),
            ("[CORE] hookspath=a", "core.hookspath=a"),
            (
                "[core] x = 1\n[core] hooksPath = b",
                "core.x=1 core.hookspath=b",
            ),
            ("[core \"sub]\\\"]\"]\nhooksPath = a", "core.hookspath=a"),
            ("[include.x]\npath = a", "include.path=a"),
            (
                "[core]\nhooksPath = \"\\\".git\\\"\"hooks",
                "core.hookspath=\".git\"hooks",
            ),
            (
                "[core]\nhooksPath = \".git\"hooks",
                "core.hookspath=.githooks",
            ),
            (
                "[core]\nhooksPath = too\\\nls/\"h k\" # mine\nx = 1",
                "core.hookspath=tools/h k core.x=1",
            ),
            ("[core]\nx = a \\\n", "core.x=a "),
            (
                "[core]\r\nhooksPath = a ; b\r\nx = \"#\"\r\n",
                "core.hookspath=a core.x=#",
            ),
            (
                "[core]\n; hooksPath = a\n# x = 1\nbare\ny = a\\tb  ",
                "core.bare= core.y=a\tb",
            ),
            ("[core]\n= x\n\"hooksPath\" = a\nx = 1", "core.x=1"),
            ("\u{feff}[core]x=1", "core.x=1"),
            ("", ""),
        ] {
            assert_eq!(listed(text).join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn what_included_configurations_name_counts_however_deep() {
        let root = tempfile::TempDir::new().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in ["p/.git", "home/more"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for (file, text) in [
            (
                "p/.git/config",
                "[include]\npath = ../shared\n[includeIf \"gitdir:~/x/\"]\npath = ~/more/c\n",
            ),
            (
                "p/shared",
                "[include] path = shared\n[core] hooksPath = from-shared\n",
            ),
            ("home/more/c", "[include]\npath = \"d\"\n"),
            ("home/more/d", "[core]\nhooksPath = from-d\n"),
        ] {
            write(&root.join(file), text);
        }
        let project = root.join("p");
        let roots = [project.clone()];
        let bases = |home| Bases {
            roots: &roots,
            home,
        };
        let home = root.join("home");
        let config = project.join(".git/config");
        let mut found = paths(&config, bases(Some(&home)));
        found.sort();
        found.dedup();
        let expected = [
            "home/more/c",
            "home/more/d",
            "p/from-d",
            "p/from-shared",
            "p/.git/../shared",
            "p/shared",
        ];
        let mut expected = expected.map(|path| root.join(path));
        expected.sort();
        assert_eq!(found, expected);
        // A chain that is longer than git follows, and one that goes round, come to an end.
        for n in 0..100 {
            let text = format!(
                "[include]\npath = c{}\npath = c0\n[core]\nhooksPath = h{n}",
                n + 1
            );
            write(&project.join(format!(".git/c{n}")), &text);
        }
        let found = paths(&project.join(".git/c0"), bases(None));
        assert!(found.contains(&project.join("h10")));
        assert!(!found.contains(&project.join("h11")));
        // Many beside each other are read.
        let many: Vec<String> = (0..FILES_MAX - 1)
            .map(|n| format!("path = m{n}\n"))
            .collect();
        write(
            &project.join(".git/many"),
            &format!("[include]\n{}", many.concat()),
        );
        write(
            &project.join(format!(".git/m{}", FILES_MAX - 2)),
            "[core]\nhooksPath = last",
        );
        let found = paths(&project.join(".git/many"), bases(None));
        assert!(found.contains(&project.join("last")));
    }

    #[test]
    fn a_submodule_names_its_hooks_from_its_own_folder() {
        let root = tempfile::TempDir::new().unwrap();
        let root = root.path().canonicalize().unwrap();
        let bases = Bases {
            roots: &[],
            home: None,
        };
        for (folder, text) in [
            (
                ".git/modules/sub",
                "[core]\nworktree = ../../../sub\nhooksPath = hk\n",
            ),
            ("sub/.git", "[core]\nhooksPath = hk\n"),
        ] {
            let config = root.join(folder).join("config");
            fs::create_dir_all(config.parent().unwrap()).unwrap();
            write(&config, text);
            let found = paths(&config, bases);
            let found: Vec<PathBuf> = found.iter().map(|path| resolve_links(path)).collect();
            assert!(found.contains(&root.join("sub/hk")), "{folder}: {found:?}");
        }
    }
}
