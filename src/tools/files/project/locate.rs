//! From what a model wrote to a path relative to the project folder, by the letters alone.

use std::path::{Component, Path, PathBuf};

use crate::tools::Failure;

/// `roots` are the names the project folder goes by, absolute and flat. The result has neither `..` nor `.` in it,
/// unless it is `.`, the folder itself.
pub(super) fn locate(text: &str, roots: &[&Path]) -> Result<PathBuf, Failure> {
    if text.trim().is_empty() {
        return refuse("a path must not be empty; \".\" is the project folder");
    }
    if text.contains('\0') {
        return refuse("a path must not contain NUL");
    }
    let path = Path::new(text);
    let inside = if path.has_root() || path.is_absolute() {
        flat(path).and_then(|path| {
            let mut roots = roots.iter();
            roots.find_map(|root| path.strip_prefix(root).ok().map(Path::to_owned))
        })
    } else {
        flat(path)
    };
    match inside {
        Some(path) if path.as_os_str().is_empty() => Ok(PathBuf::from(".")),
        Some(path) => Ok(path),
        None => refuse(&format!(
            "{text:?} is outside the project folder: use a path inside it, such as \"src/a.txt\""
        )),
    }
}

fn refuse(why: &str) -> Result<PathBuf, Failure> {
    Err(Failure::Arguments(why.to_owned()))
}

/// Without `.` and `..`; `None` where a `..` has nothing to go back on.
pub(super) fn flat(path: &Path) -> Option<PathBuf> {
    let mut flat = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                flat.push(component);
            }
            Component::ParentDir => {
                let last = flat.components().next_back();
                if !matches!(last, Some(Component::Normal(_))) {
                    return None;
                }
                flat.pop();
            }
        }
    }
    Some(flat)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn located(text: &str) -> Option<String> {
        let roots = [Path::new("/real/project"), Path::new("/link")];
        let path = locate(text, &roots).ok()?;
        Some(path.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_path_is_inside_or_refused() {
        for (text, expected) in [
            ("a", Some("a")),
            ("./a", Some("a")),
            ("a/", Some("a")),
            ("a//b", Some("a/b")),
            ("a/../b", Some("b")),
            ("a/..", Some(".")),
            (".", Some(".")),
            ("/real/project", Some(".")),
            ("/real/project/a/b", Some("a/b")),
            ("/link/a", Some("a")),
            ("/link/../real/project/a", Some("a")),
            ("%2e%2e/a", Some("%2e%2e/a")),
            ("..a", Some("..a")),
            ("~/a", Some("~/a")),
            ("", None),
            (" ", None),
            ("a\0", None),
            ("..", None),
            ("../project/a", None),
            ("a/../../x", None),
            ("a/b/../../../x", None),
            ("/", None),
            ("/etc/passwd", None),
            ("/real/project/../other", None),
            ("/real/projects/a", None),
            ("/link/../../etc", None),
        ] {
            assert_eq!(located(text).as_deref(), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_located_never_escapes(
            parts in prop::collection::vec(
                prop_oneof![
                    Just("..".to_owned()), Just(".".to_owned()), Just(String::new()), Just("real".to_owned()),
                    Just("project".to_owned()), Just("link".to_owned()), "\\PC{0,3}",
                ],
                0..9,
            ),
        ) {
            if let Some(path) = located(&parts.join("/")) {
                let mut components = Path::new(&path).components();
                prop_assert!(path == "." || components.all(|c| matches!(c, Component::Normal(_))), "{path}");
            }
        }
    }
}
