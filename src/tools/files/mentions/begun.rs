//! What a mention that is being typed can go on with: names in a folder of the project.

use std::ops::ControlFlow;
use std::path::Path;

use super::parse::begun;
use crate::tools::files::project::Project;
use crate::tools::files::walk::{Found, Hidden, Kind, Scope, walk};

/// A mention at the end of what is typed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun<'a> {
    /// Where what follows the `@` begins, in bytes.
    pub start: usize,
    /// Up to the last `/`, that included.
    pub folder: &'a str,
    /// What is typed of the name.
    pub name: &'a str,
}

impl<'a> Begun<'a> {
    pub fn of(typed: &'a str) -> Option<Self> {
        let (start, path) = begun(typed)?;
        let (folder, name) = path.split_at(path.rfind('/').map_or(0, |slash| slash + 1));
        Some(Self {
            start,
            folder,
            name,
        })
    }

    /// Returns whether names that begin with a dot are asked for.
    pub fn wants_hidden(&self) -> bool {
        self.name.starts_with('.')
    }
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// A folder's ends with `/`.
    pub name: String,
    /// Of a file.
    pub bytes: Option<u64>,
}

/// Names in a folder, as `.gitignore` files leave them, a folder's with a `/` behind it; none where the folder cannot
/// be had. `folder` is as it is typed.
pub fn names(project: &Project, folder: &str, with_hidden: bool) -> Vec<Named> {
    let scope = Scope {
        depth: 1,
        hidden: if with_hidden {
            Hidden::Shown
        } else {
            Hidden::Skipped
        },
    };
    let mut names = Vec::new();
    let start = if folder.is_empty() { "." } else { folder };
    let Ok(start) = project.locate(start) else {
        return names;
    };
    let walked = walk(project, &start, scope, |found| {
        names.extend(name(project, found));
        ControlFlow::<()>::Continue(())
    });
    walked.map_or_else(|_| Vec::new(), |_| names)
}

/// A link counts as what it leads to; one that leads nowhere, or out, is left out.
fn name(project: &Project, found: &Found<'_>) -> Option<Named> {
    let name = Path::to_str(found.name())?;
    let bytes = match found.kind() {
        Kind::File => Some(found.size().unwrap_or(0)),
        Kind::Folder => None,
        Kind::Link => {
            let target = project.metadata(found.path).ok()?;
            (!target.is_dir()).then(|| target.len())
        }
        Kind::Special => return None,
    };
    let is_folder = bytes.is_none();
    let is_plain = !name.chars().any(char::is_control);
    is_plain.then(|| Named {
        name: format!("{name}{}", if is_folder { "/" } else { "" }),
        bytes,
    })
}

/// Returns what stands behind an `@` for a path: quoted where it would end too early. A folder can be gone on with.
pub fn written(path: &str) -> String {
    if !path.contains(char::is_whitespace) {
        path.to_owned()
    } else if path.ends_with('/') {
        format!("\"{path}")
    } else {
        format!("\"{path}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::files::fixture::Fixture;

    #[test]
    fn a_mention_at_the_end_is_begun() {
        for (typed, expected) in [
            ("see @", Some((5, "", ""))),
            ("see @src/ma", Some((5, "src/", "ma"))),
            ("@a @b", Some((4, "", "b"))),
            ("@\"my no", Some((1, "", "my no"))),
            ("@\"my dir/a b", Some((1, "my dir/", "a b"))),
            ("@\"done\" ", None),
            ("@src/main.rs ", None),
            ("me@example", None),
            ("", None),
        ] {
            let begun = Begun::of(typed);
            let found = begun.map(|begun| (begun.start, begun.folder, begun.name));
            assert_eq!(found, expected, "{typed}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn names_are_those_of_the_project_that_are_not_ignored() {
        let fixture = Fixture::with(&[
            (".gitignore", "*.log"),
            ("a b.md", ""),
            ("x.log", ""),
            ("src/main.rs", ""),
            ("src/.hidden", ""),
        ]);
        fixture.link("way", "src");
        fixture.link("out", "../outside");
        for (folder, with_hidden, expected) in [
            ("", false, vec!["src/", "a b.md", "way/"]),
            ("src/", false, vec!["main.rs"]),
            ("src/", true, vec![".hidden", "main.rs"]),
            ("../", false, vec![]),
            ("none/", false, vec![]),
        ] {
            let found = names(&fixture.project, folder, with_hidden);
            let found: Vec<String> = found.into_iter().map(|named| named.name).collect();
            assert_eq!(found, expected, "{folder}");
        }
        for (path, expected) in [
            ("src/", "src/"),
            ("a b.md", "\"a b.md\""),
            ("a b/", "\"a b/"),
        ] {
            assert_eq!(written(path), expected);
        }
    }
}
