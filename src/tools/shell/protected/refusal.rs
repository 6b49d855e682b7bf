//! What a command's output says of protected files that it could not write. Unit: one output. Pure.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Reason, is_below};

/// What programs say of a file that is mounted read-only or that the sandbox does not let them write, in small letters.
const REFUSALS: [&str; 6] = [
    "read-only file system",
    "device or resource busy",
    "permission denied",
    "erofs",
    "ebusy",
    "eacces",
];

/// Returns the lines of an output that say that something could not be written, or read.
fn lines(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter(|line| {
        let small = line.to_lowercase();
        REFUSALS.iter().any(|sign| small.contains(sign))
    })
}

/// Returns whether a command's output says that something could not be written.
pub(in crate::tools::shell) fn was_refused(output: &str) -> bool {
    lines(output).next().is_some()
}

/// Returns the protected path that a command's output says could not be written, and why it is protected: the first of a
/// line, and of a folder and what lies in it the latter.
pub(in crate::tools::shell) fn refused<'p>(
    output: &str,
    project: &Path,
    protected: &'p BTreeMap<PathBuf, Reason>,
) -> Option<(&'p PathBuf, &'p Reason)> {
    lines(output).find_map(|line| {
        let named = protected.iter().filter_map(|found| {
            let (path, _) = found;
            let below = path.strip_prefix(project).ok().and_then(Path::to_str);
            let names = [path.to_str(), below].into_iter().flatten();
            let at = names.filter_map(|name| named_at(line, name)).min()?;
            Some(((at, Reverse(path.as_os_str().len())), found))
        });
        let first = named.min_by_key(|(place, _)| *place);
        first.map(|(_, found)| found)
    })
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
            let found = refused(&format!("a\n{line}\n"), &project, &reasons);
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
