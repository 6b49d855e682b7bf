//! The index of a turn: lines of JSON, one for each step, each on disk before what it tells of is done.
//!
//! A line without its end was being written when the program was stopped, and what it tells of was not begun: it does
//! not count, and the next line takes its place. Any other line that does not parse is damage, and said so.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Change, ChangesError};
use crate::files::{Disk, if_there};
use crate::tools::files::project::Project;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Step {
    Before,
    After,
    /// What somebody else had made of it when a tool changed it once more.
    Between,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Line {
    step: Step,
    /// Where the project folder was.
    project: String,
    path: String,
    /// The digest; `None` where there was no file.
    content: Option<String>,
}

impl Line {
    pub(super) fn new(
        step: Step,
        project: &Project,
        path: &Path,
        content: Option<String>,
    ) -> Result<Self, ChangesError> {
        let named = path.to_str().ok_or_else(|| ChangesError::Name {
            path: path.to_owned(),
        })?;
        Ok(Self {
            step,
            project: root_of(project),
            path: named.to_owned(),
            content,
        })
    }
}

/// Returns how the folder of a project is named in an index.
pub(super) fn root_of(project: &Project) -> String {
    project.path().to_string_lossy().into_owned()
}

pub(super) fn append(disk: &dyn Disk, index: &Path, line: &Line) -> Result<(), ChangesError> {
    let io = |source| ChangesError::Io {
        path: index.to_owned(),
        source,
    };
    let mut text = serde_json::to_string(line).map_err(|error| io(error.into()))?;
    text.push('\n');
    let written = bytes(disk, index)?;
    let whole = whole(&written).len();
    if whole < written.len() {
        disk.truncate(index, whole as u64).map_err(io)?;
    }
    disk.append_synced(index, text.as_bytes()).map_err(io)
}

/// Returns what the lines tell, put together for each file.
pub(super) fn read(disk: &dyn Disk, index: &Path) -> Result<Vec<Change>, ChangesError> {
    let bytes = bytes(disk, index)?;
    let mut changes: Vec<Change> = Vec::new();
    let lines = whole(&bytes).split_inclusive(|&byte| byte == b'\n');
    for (line, number) in lines.zip(1..) {
        let line = serde_json::from_slice(line).map_err(|_| ChangesError::Index {
            path: index.to_owned(),
            line: number,
        })?;
        add(&mut changes, line);
    }
    Ok(changes)
}

fn add(changes: &mut Vec<Change>, line: Line) {
    let path = PathBuf::from(line.path);
    let known = changes
        .iter_mut()
        .find(|change| change.path == path && change.project == line.project);
    match (line.step, known) {
        (Step::Before, None) => changes.push(Change {
            project: line.project,
            path,
            before: line.content,
            after: Vec::new(),
            between: Vec::new(),
        }),
        (Step::After, Some(change)) => change.after.extend(line.content),
        (Step::Between, Some(change)) => change.between.push(line.content),
        // Nothing writes these: the first copy counts, and there is none after which nothing was kept.
        (Step::Before, Some(_)) | (Step::After | Step::Between, None) => {}
    }
}

fn bytes(disk: &dyn Disk, index: &Path) -> Result<Vec<u8>, ChangesError> {
    let bytes = if_there(disk.read(index)).map_err(|source| ChangesError::Io {
        path: index.to_owned(),
        source,
    })?;
    Ok(bytes.unwrap_or_default())
}

/// Up to the last line that has its end.
fn whole(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte == b'\n');
    &bytes[..end.map_or(0, |end| end + 1)]
}
