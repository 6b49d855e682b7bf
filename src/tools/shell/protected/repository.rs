//! Where git keeps a repository, and which of its files name what runs later. Unit: one folder that git works in.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::children;
use super::entry::text;
use super::git_config::settings;
use crate::files::resolve_links;

/// In a folder of git: files that name programs, or another such folder.
const OF_GIT: [&str; 4] = ["hooks", "config", "config.worktree", "commondir"];

/// The names of configurations in it, and in those of worktrees.
const CONFIGS: [&str; 2] = ["config", "config.worktree"];

/// In the folder of each worktree: files that name the folder that counts for it.
pub(super) const OF_WORKTREE: [&str; 3] = ["commondir", "config.worktree", "gitdir"];

/// Submodules of submodules are looked for down to here.
const DEPTH_MAX: usize = 4;

/// Returns what names programs, or another folder of git, in those of a root and of its submodules.
pub(super) fn files(root: &Path) -> Vec<PathBuf> {
    let git = root.join(".git");
    let mut folders = git_folders(root);
    if folders.is_empty() {
        // None may be made either.
        folders.push(git.clone());
    }
    let files = folders.iter().flat_map(|git| files_with_modules(git));
    // Another folder counts: a worktree, a submodule, a link.
    let leads = fs::symlink_metadata(&git).is_ok_and(|found| !found.is_dir());
    files.chain(leads.then_some(git)).collect()
}

/// Returns the same of one folder of git.
pub(in crate::tools::shell) fn files_with_modules(git: &Path) -> Vec<PathBuf> {
    let modules = modules(&git.join("modules"), DEPTH_MAX);
    let folders = modules.iter().map(PathBuf::as_path).chain([git]);
    folders.flat_map(of_git).collect()
}

pub(super) fn of_git(folder: &Path) -> Vec<PathBuf> {
    let worktrees = children(&folder.join("worktrees"));
    let of_worktrees = worktrees.flat_map(|worktree| OF_WORKTREE.map(|name| worktree.join(name)));
    let own = OF_GIT.iter().map(|name| folder.join(name));
    own.chain(of_worktrees).collect()
}

/// Returns which of the files of a repository are configurations.
pub(super) fn configs(files: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
    let is_config = |path: &&PathBuf| CONFIGS.iter().any(|name| path.ends_with(name));
    files.iter().filter(is_config)
}

/// Returns the folders of submodules: those with a `HEAD`; a name with slashes lies deeper.
fn modules(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in children(folder).filter(|path| path.is_dir() && !path.is_symlink()) {
        if path.join("HEAD").exists() {
            found.extend(modules(&path.join("modules"), depth.saturating_sub(1)));
            found.push(path);
        } else if depth > 0 {
            found.extend(modules(&path, depth - 1));
        }
    }
    found
}

/// Returns the real folder of git that counts in a folder.
pub(super) fn git_folder(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    let real = dot_git.canonicalize().ok()?;
    if real.is_dir() {
        return Some(real);
    }
    let text = text(&real)?;
    let named = text.strip_prefix("gitdir: ")?.trim_end();
    root.join(named).canonicalize().ok()
}

/// Returns that folder, and the one that a worktree shares with others; none where there is no repository.
fn git_folders(root: &Path) -> Vec<PathBuf> {
    let own = git_folder(root);
    let common = own.as_deref().and_then(shared_by);
    own.into_iter().chain(common).collect()
}

/// Returns the folder that the one of a worktree shares with others.
fn shared_by(own: &Path) -> Option<PathBuf> {
    let named = text(&own.join("commondir"))?;
    own.join(named.trim_end()).canonicalize().ok()
}

/// Returns the innermost folder from here up that git takes for a repository.
fn root_around(folder: &Path) -> Option<&Path> {
    let mut above = folder.ancestors();
    above.find(|root| fs::symlink_metadata(root.join(".git")).is_ok())
}

/// Returns the folders of git that count in a folder or around it.
pub(super) fn git_folders_around(folder: &Path) -> Vec<PathBuf> {
    root_around(folder).map(git_folders).unwrap_or_default()
}

/// Returns the folder of git outside of a project that git writes to there: of the repository around it, the one that a
/// worktree shares, or a submodule's. It leads back to the project, so that no file that came along with the project
/// opens the repository of another, belongs to this user, and is git's alone: neither the project nor the home folder
/// lies in it. One in the home folder or above is for all that lies there.
pub(in crate::tools::shell) fn git_to_open(project: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let root = root_around(project)?;
    let dot_git = root.join(".git");
    let kind = fs::symlink_metadata(&dot_git).ok()?.file_type();
    let git = if kind.is_file() {
        leads_back(root)?
    } else {
        dot_git.clone()
    };
    let is_own = |path: &PathBuf| {
        let found = fs::symlink_metadata(path);
        found.is_ok_and(|found| !found.is_symlink() && found.uid() == geteuid().as_raw())
    };
    // Of a worktree, the repository is worked in elsewhere, too.
    let elsewhere = git.parent().filter(|_| git.ends_with(".git"));
    let is_of_home = home.map(resolve_links).is_some_and(|home| {
        let mut folders = [root, &git].into_iter().chain(elsewhere);
        folders.any(|folder| home.starts_with(folder))
    });
    let is_apart = !git.starts_with(project) && !root.starts_with(&git) && !is_of_home;
    let is_open = is_apart && is_repository(&git) && [&dot_git, &git].into_iter().all(is_own);
    is_open.then_some(git)
}

/// Returns whether a folder has what git needs to take it for a repository.
fn is_repository(folder: &Path) -> bool {
    folder.join("HEAD").is_file()
        && ["objects", "refs"]
            .iter()
            .all(|it| folder.join(it).is_dir())
}

/// Returns the folder of git that a `.git` file names, where that knows of it.
fn leads_back(root: &Path) -> Option<PathBuf> {
    let own = git_folder(root)?;
    let is = |named: &str, real: &Path| {
        own.join(named.trim_end())
            .canonicalize()
            .is_ok_and(|it| it == real)
    };
    if let Some(back) = text(&own.join("gitdir")) {
        let worktrees = own
            .parent()
            .filter(|folder| folder.ends_with("worktrees"))?;
        let shared = shared_by(&own).filter(|it| worktrees.parent() == Some(it))?;
        return is(&back, &root.join(".git")).then_some(shared);
    }
    let config = settings(&text(&own.join("config"))?).into_iter();
    let mut worktree = config.filter(|it| it.section == "core" && it.key == "worktree");
    let worktree = worktree.next_back()?.value;
    is(&worktree, root).then_some(own)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::tests::write;
    use super::*;

    #[test]
    fn a_folder_of_git_elsewhere_is_opened_only_where_it_leads_back() {
        let root = tempfile::TempDir::new().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in [
            "home/r/.git/worktrees/w",
            "home/r/.git/modules/sub/hooks",
            "home/r/sub/deep",
            "home/r/deep/er",
            "home/w/deep",
            "home/forged",
            "home/other/.git",
            "home/linked",
            "home/none",
            "home/packed/.git/worktrees/p",
            "home/p",
            "home/worktrees/x",
            "home/spread",
            "home/archive/deep",
            "home/bare/main",
            "home/bare/worktrees/main",
            "home/of_home",
            "home/.git/worktrees/of_home",
        ] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for git in [
            "r/.git",
            "r/.git/modules/sub",
            "other/.git",
            "packed/.git",
            "archive",
            "bare",
            ".git",
            "",
        ] {
            let git = root.join("home").join(git);
            fs::create_dir_all(git.join("objects")).unwrap();
            fs::create_dir_all(git.join("refs")).unwrap();
            write(&git.join("HEAD"), "ref: refs/heads/main\n");
        }
        let lead = |to: &str| format!("gitdir: {}\n", root.join(to).display());
        for (file, text) in [
            (
                "home/r/sub/.git",
                "gitdir: ../.git/modules/sub\n".to_owned(),
            ),
            (
                "home/r/.git/modules/sub/config",
                "[core]\n\tworktree = ../../../sub\n".to_owned(),
            ),
            ("home/w/.git", lead("home/r/.git/worktrees/w")),
            ("home/r/.git/worktrees/w/commondir", "../..\n".to_owned()),
            (
                "home/r/.git/worktrees/w/gitdir",
                root.join("home/w/.git").display().to_string(),
            ),
            // They name what does not name them, or brought along what does and shares the folder of another.
            ("home/forged/.git", lead("home/other/.git")),
            ("home/none/.git", lead("home/r/.git/modules/sub")),
            ("home/p/.git", lead("home/packed/.git/worktrees/p")),
            (
                "home/packed/.git/worktrees/p/commondir",
                "../../../../other/.git".to_owned(),
            ),
            (
                "home/packed/.git/worktrees/p/gitdir",
                root.join("home/p/.git").display().to_string(),
            ),
            // They have the project, the home folder or all of a repository taken for git's.
            ("home/worktrees/x/.git", "gitdir: .\n".to_owned()),
            ("home/worktrees/x/gitdir", ".git\n".to_owned()),
            ("home/worktrees/x/commondir", "../..\n".to_owned()),
            ("home/spread/.git", "gitdir: ..\n".to_owned()),
            ("home/config", "[core]\n\tworktree = spread\n".to_owned()),
            ("home/archive/.git", "gitdir: .\n".to_owned()),
            ("home/archive/config", "[core]\n\tworktree = .\n".to_owned()),
            ("home/bare/main/.git", lead("home/bare/worktrees/main")),
            ("home/bare/worktrees/main/commondir", "../..\n".to_owned()),
            (
                "home/bare/worktrees/main/gitdir",
                root.join("home/bare/main/.git").display().to_string(),
            ),
            ("home/of_home/.git", lead("home/.git/worktrees/of_home")),
            (
                "home/.git/worktrees/of_home/commondir",
                "../..\n".to_owned(),
            ),
            (
                "home/.git/worktrees/of_home/gitdir",
                root.join("home/of_home/.git").display().to_string(),
            ),
        ] {
            write(&root.join(file), &text);
        }
        symlink(root.join("home/other/.git"), root.join("home/linked/.git")).unwrap();
        let home = root.join("home");
        for (project, expected) in [
            ("home/r", None),
            ("home/r/deep/er", Some("home/r/.git")),
            ("home/r/sub", Some("home/r/.git/modules/sub")),
            ("home/r/sub/deep", Some("home/r/.git/modules/sub")),
            ("home/w", Some("home/r/.git")),
            ("home/w/deep", Some("home/r/.git")),
            ("home/forged", None),
            ("home/none", None),
            ("home/p", None),
            ("home/linked", None),
            ("home/other", None),
            ("home/worktrees/x", None),
            ("home/spread", None),
            ("home/archive/deep", None),
            ("home/bare/main", None),
            ("home/of_home", None),
        ] {
            let found = git_to_open(&root.join(project), Some(&home));
            assert_eq!(found, expected.map(|path| root.join(path)), "{project}");
        }
        // A repository of all that lies in the home folder is none of a project's.
        let project = root.join("home/r/deep/er");
        symlink(root.join("home/r"), root.join("linked_home")).unwrap();
        for home in ["home/r", "linked_home"] {
            assert_eq!(git_to_open(&project, Some(&root.join(home))), None);
        }
        // What belongs to another user is left alone by git, too.
        if geteuid().is_root() {
            std::os::unix::fs::chown(root.join("home/r/.git"), Some(65_534), None).unwrap();
            assert_eq!(git_to_open(&project, Some(&home)), None);
        }
    }
}
