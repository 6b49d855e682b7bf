//! What a person wrote about the model and about themselves, and the rules of a project: read anew for every request,
//! within caps (X2). Unit: one file; an empty one is none.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use super::WorkspaceSettings;
use super::error::NotesError;
use super::excerpt::{Excerpt, Keep, WIDEST, cut, plain, whole_characters_at_start};
use super::page::Page;
use super::workspace::Desk;

/// In the order of a request.
const FILES: [&str; 3] = ["SOUL.md", "IDENTITY.md", "USER.md"];

/// Files with rules for a project that may be sent, first first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFiles {
    /// The root of the project, which holds all of them.
    pub root: PathBuf,
    pub files: Vec<PathBuf>,
}

/// The files that are there, and why others could not be read.
#[derive(Debug, Default)]
pub struct Identity {
    pub files: Vec<Excerpt>,
    pub problems: Vec<NotesError>,
}

pub(super) fn read(desk: &Desk, settings: &WorkspaceSettings) -> Identity {
    let mut identity = Identity::default();
    let mut room = settings.total_chars;
    for name in FILES {
        let page = Page::new(desk, name);
        match page.excerpt(settings.file_chars.min(room), Keep::Start) {
            Ok(Some(excerpt)) => {
                room = room.saturating_sub(excerpt.text.chars().count());
                identity.files.push(excerpt);
            }
            Ok(None) => {}
            Err(problem) => identity.problems.push(problem),
        }
    }
    identity
}

/// The first of these files that can be read: ordinary ones below the root of the project, wherever links lead. Where
/// there is none, what stands in the place of one is an error.
pub(super) fn project_rules(
    project: &Path,
    rules: &RuleFiles,
    settings: &WorkspaceSettings,
) -> Result<Option<Excerpt>, NotesError> {
    let RuleFiles { root, files } = rules;
    if files.is_empty() {
        return Ok(None);
    }
    let opened = Dir::open_ambient_dir(root, ambient_authority());
    let opened = opened.map_err(NotesError::io("read", root))?;
    let mut passed = None;
    for path in files {
        let inside = path.strip_prefix(root).unwrap_or(path);
        // What leads out of the project, or is no file, is none; but a person who put it there is told.
        match stands(&opened, inside) {
            Stands::File => {}
            Stands::Nothing => continue,
            Stands::Other(why) => {
                let path = path.clone();
                passed = passed.or(Some(NotesError::NotRules { path, why }));
                continue;
            }
        }
        let bytes = match head(&opened, inside, settings.file_chars) {
            Ok(bytes) => bytes,
            Err(error) => {
                passed = passed.or(Some(NotesError::io("read", path)(error)));
                continue;
            }
        };
        let Ok(text) = std::str::from_utf8(whole_characters_at_start(&bytes)) else {
            passed = passed.or(Some(NotesError::NotText { path: path.clone() }));
            continue;
        };
        let (text, is_cut) = cut(&plain(text), settings.file_chars, Keep::Start);
        if !text.is_empty() {
            return Ok(Some(Excerpt {
                source: seen_from(project, path),
                text,
                is_cut,
            }));
        }
    }
    passed.map_or(Ok(None), Err)
}

/// A path in a folder above the project, or in the project itself.
fn seen_from(project: &Path, path: &Path) -> String {
    let is_above = |folder: &Path| path.starts_with(folder);
    let up = project.ancestors().take_while(|it| !is_above(it)).count();
    let folder = project.ancestors().nth(up).unwrap_or(project);
    let name = path.strip_prefix(folder).unwrap_or(path);
    format!("{}{}", "../".repeat(up), name.display())
}

/// What has a name.
enum Stands {
    File,
    /// Nothing that anybody took for rules.
    Nothing,
    /// No file that is read, and why.
    Other(&'static str),
}

fn stands(folder: &Dir, name: &Path) -> Stands {
    match folder.metadata(name) {
        Ok(found) if found.is_file() => Stands::File,
        Ok(found) if found.is_dir() => Stands::Nothing,
        Ok(_) => Stands::Other("it is not a regular file"),
        Err(_) if folder.symlink_metadata(name).is_ok() => {
            Stands::Other("the link is broken or points outside the project")
        }
        Err(_) => Stands::Nothing,
    }
}

fn head(folder: &Dir, name: &Path, room: usize) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    // What was a file a moment ago may be a pipe by now, which is not waited for.
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let mut bytes = Vec::new();
    let max = room
        .saturating_add(1)
        .saturating_mul(WIDEST)
        .saturating_add(1 << 10);
    folder
        .open_with(name, &options)?
        .take(max as u64)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
