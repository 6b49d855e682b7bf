//! `read_file`: lines of a text file, numbered. Unit: one call, a page that fits into a result whole whatever the file.

mod lines;
mod range;

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::project::{Project, ProjectError};
use super::words::{count, room, shown, size};
use super::writing::blocking;
use crate::tools::{Around, Done, Effect, Failure, Output, Typed};
use lines::Page;

pub(in crate::tools::files) use lines::{Numbers, page};
pub(in crate::tools::files) use range::Range;

/// So much of the start tells whether a file is text.
pub(in crate::tools::files) const HEAD: u64 = 8 << 10;

/// What the first bytes of well-known files are.
const KINDS: [(&[u8], &str); 14] = [
    (b"\x89PNG", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"RIFF", "RIFF media"),
    (b"%PDF", "PDF document"),
    (b"PK\x03\x04", "ZIP archive or office document"),
    (b"\x1f\x8b", "gzip archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"7z\xbc\xaf", "7z archive"),
    (b"\x7fELF", "ELF program or library"),
    (b"MZ", "Windows program or library"),
    (b"SQLite format 3", "SQLite database"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
];

/// Reads files of the project folder.
#[derive(Debug)]
pub struct ReadFile {
    project: Arc<Project>,
    /// Characters of a page.
    room: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Relative to the project folder.
    path: String,
    /// Lines, from 1: "10-40", "10-" to the end, "-40" from the start, or "10".
    range: Option<String>,
}

impl ReadFile {
    /// Pages fit into results of `result_chars` characters.
    pub fn new(project: Arc<Project>, result_chars: usize) -> Self {
        let room = room(result_chars);
        Self { project, room }
    }
}

impl Arguments {
    fn range(&self) -> Result<Range, Failure> {
        self.range.as_deref().map_or(Ok(Range::WHOLE), Range::parse)
    }
}

#[async_trait]
impl Typed for ReadFile {
    type Arguments = Arguments;

    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = include_str!("../../../../config/tools/read_file.md");

    fn effect(&self, arguments: &Arguments) -> Result<Effect, Failure> {
        arguments.range()?;
        self.project.locate(&arguments.path)?;
        Ok(Effect::Reads(PathBuf::from(&arguments.path)))
    }

    async fn call(&self, arguments: Arguments, around: &Around<'_>) -> Result<Done, Failure> {
        let range = arguments.range()?;
        let path = self.project.locate(&arguments.path)?;
        let (project, cancel) = (self.project.clone(), around.cancel.clone());
        let room = self.room;
        blocking(move || read(&project, &path, range, room, &cancel)).await
    }
}

fn read(
    project: &Project,
    path: &Path,
    range: Range,
    room: usize,
    cancel: &CancellationToken,
) -> Result<Done, Failure> {
    let broken = |source| ProjectError::Io {
        path: path.to_owned(),
        source,
    };
    let mut file = project.open_file(path).map_err(with_advice)?;
    let bytes = file.metadata().map_err(broken)?.len();
    let mut head = Vec::new();
    (&mut file)
        .take(HEAD)
        .read_to_end(&mut head)
        .map_err(broken)?;
    if let Some(kind) = binary(&head) {
        return Ok(Output::text(kind_of(kind, bytes), "binary").into());
    }
    let mut reader = BufReader::new(head.as_slice().chain(file));
    let is_over = || cancel.is_cancelled();
    let page = page(&mut reader, range, Numbers::Shown, room, is_over).map_err(broken)?;
    if cancel.is_cancelled() {
        return Err(Failure::Interrupted);
    }
    let brief = count(page.n_taken(), "line");
    let text = text(path, page)?;
    Ok(Output::content(text, brief).into())
}

fn kind_of(kind: &str, bytes: u64) -> String {
    format!("[not text: {kind}, {}]", size(bytes))
}

fn with_advice(error: ProjectError) -> Failure {
    match error {
        ProjectError::Folder { .. } => Failure::of(format!("{error}; use list_directory")),
        _ => error.into(),
    }
}

/// Returns what it is, if it is no text.
pub(in crate::tools::files) fn binary(head: &[u8]) -> Option<&'static str> {
    let known = KINDS.iter().find(|(start, _)| head.starts_with(start));
    match known {
        // Letters alone, as `MZ`, begin texts too.
        Some((start, kind)) if !start.is_ascii() || head.contains(&0) => Some(kind),
        Some((b"%PDF", kind)) => Some(kind),
        Some(_) | None => head.contains(&0).then_some("binary"),
    }
}

fn text(path: &Path, page: Page) -> Result<String, Failure> {
    let mut notes = Vec::new();
    if page.n_taken() == 0 {
        if page.n_lines > 0 || page.first > 1 {
            return Err(Failure::of(format!(
                "{} has only {}",
                shown(path),
                count(page.n_lines, "line")
            )));
        }
        return Ok("[empty file]".to_owned());
    }
    let last = page.first + page.n_taken() - 1;
    if page.is_cut {
        let of = if page.is_counted { "" } else { "more than " };
        notes.push(format!(
            "[lines {}-{last} of {of}{}; range \"{}-\" has the next]",
            page.first,
            page.n_lines,
            last + 1
        ));
    }
    if page.n_bad > 0 {
        let bad = count(page.n_bad, "line");
        notes.push(format!("[not UTF-8: {bad} shown with � for invalid bytes]"));
    }
    if page.lacks_end {
        notes.push("[no line break at the end]".to_owned());
    }
    let mut text = page.text;
    text.push_str(&notes.join("\n"));
    Ok(text.trim_end_matches('\n').to_owned())
}

#[cfg(test)]
mod tests;
