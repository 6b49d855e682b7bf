//! Earlier inputs, across sessions: one line each in a file of the person's own (0600) for each project. A file from
//! before there was one for each counts for all of them.
//!
//! A line break inside an input is written as `\n`, a backslash as `\\`. Nothing here may keep anybody
//! from chatting: whatever fails is a warning.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::files::{Disk, if_there};
use crate::text::statement::{Author, Statements};

/// Most inputs that are remembered.
pub(super) const MAX: usize = 10_000;
/// What is left of a file that grew beyond that, so that it is not rewritten at every start.
const KEPT: usize = 9_000;
/// Longer inputs were pasted, not typed; nobody looks for them with the arrow keys.
const LONGEST: usize = 64 * 1024;

/// The file that holds the history.
#[derive(Clone, Debug)]
pub struct HistoryFile {
    pub path: PathBuf,
    /// Where inputs of all projects were kept before; never written to.
    pub older: Option<PathBuf>,
    pub disk: Arc<dyn Disk>,
    /// The person knows already that it cannot be written.
    pub was_reported: bool,
}

impl HistoryFile {
    /// The file of a project, beside the one of all projects.
    pub fn of_project(older: PathBuf, project: &Path, disk: Arc<dyn Disk>) -> Self {
        const NAMED: usize = 40;
        let digest = Sha256::digest(project.as_os_str().as_encoded_bytes());
        let digest = u64::from_be_bytes(std::array::from_fn(|n| digest[n]));
        let name = project.file_name().unwrap_or_default().to_string_lossy();
        let plain = name
            .chars()
            .filter(|c| c.is_alphanumeric() || "._-".contains(*c));
        let name: String = plain.take(NAMED).collect();
        Self {
            path: folder(&older).join(format!("{name}-{digest:016x}")),
            older: Some(older),
            disk,
            was_reported: false,
        }
    }

    /// The inputs, oldest first; shortens a file that grew too long.
    pub(super) fn load(&self) -> (Vec<String>, Option<String>) {
        let own = self.read(&self.path);
        let older = self
            .older
            .as_deref()
            .map_or(Ok(Vec::new()), |older| self.read(older));
        let (mut own, older) = match (own, older) {
            (Ok(own), Ok(older)) => (own, older),
            (Err(why), _) => return (Vec::new(), Some(why)),
            (Ok(own), Err(why)) => return (own, Some(why)),
        };
        let mut warning = None;
        if own.len() > MAX {
            own.drain(..own.len() - KEPT);
            let lines: String = own.iter().map(|input| escape(input)).collect();
            let replaced = self.disk.replace(&self.path, lines.as_bytes());
            warning = replaced.err().and_then(|error| self.not_written(&error));
        }
        ([older, own].concat(), warning)
    }

    fn read(&self, path: &Path) -> Result<Vec<String>, String> {
        let bytes = if_there(self.disk.read(path)).map_err(|error| {
            let path = path.display();
            format!("cannot read the input history: {error}: {path}")
        })?;
        let text = bytes.unwrap_or_default();
        let lines = String::from_utf8_lossy(&text);
        Ok(lines.lines().map(unescape).collect())
    }

    /// Bytes of the files.
    pub(super) fn size(&self) -> u64 {
        let files = self.older.iter().chain([&self.path]);
        files.map(|path| self.disk.size(path).unwrap_or(0)).sum()
    }

    /// Adds an input; gives a warning if that failed.
    pub(super) fn append(&self, input: &str) -> Option<String> {
        let appended = self
            .disk
            .append_synced(&self.path, escape(input).as_bytes());
        appended.err().and_then(|error| self.not_written(&error))
    }

    fn not_written(&self, error: &io::Error) -> Option<String> {
        tracing::warn!(%error, path = %self.path.display(), "input history");
        let path = self.path.display();
        (!self.was_reported).then(|| format!("cannot write the input history: {error}: {path}"))
    }
}

/// Where the files of projects are, beside the one of all projects.
fn folder(older: &Path) -> PathBuf {
    older.with_file_name("line_histories")
}

/// Takes inputs that say what is forgotten out of the files of all projects, and those that asked to forget it; tells
/// how many there were.
pub fn forget_lines(disk: &dyn Disk, older: &Path, statements: &Statements) -> io::Result<usize> {
    let mut gone = forget_in(disk, older, statements)?;
    for path in disk.list(&folder(older))? {
        gone += forget_in(disk, &path, statements)?;
    }
    Ok(gone)
}

fn forget_in(disk: &dyn Disk, path: &Path, statements: &Statements) -> io::Result<usize> {
    let Some(bytes) = if_there(disk.read(path))? else {
        return Ok(0);
    };
    let text = String::from_utf8_lossy(&bytes);
    let goes = |line: &&str| {
        let input = unescape(line);
        // Between the words of a command there may be any blanks.
        let words = input.split_whitespace().collect::<Vec<_>>().join(" ");
        let asked = ASKING.iter().find_map(|it| words.strip_prefix(it));
        let says_so = |words: &str| statements.iter().any(|it| it.has_words(words));
        asked.is_some_and(says_so) || statements.are_in(&input, Author::Person)
    };
    let kept: Vec<&str> = text.lines().filter(|line| !goes(line)).collect();
    let gone = text.lines().count() - kept.len();
    if gone > 0 {
        let lines: String = kept.iter().flat_map(|line| [line, "\n"]).collect();
        disk.replace(path, lines.as_bytes())?;
    }
    Ok(gone)
}

/// Commands whose words say what is forgotten.
const ASKING: [&str; 9] = [
    "/forget ",
    "/search ",
    "/recall ",
    "/memory forget ",
    "/memory why ",
    "/memory search ",
    "/mem forget ",
    "/mem why ",
    "/mem search ",
];

/// Whether an input is worth finding again.
pub(super) fn is_worth_keeping(input: &str) -> bool {
    !input.trim().is_empty() && input.len() <= LONGEST
}

/// An input as its line in the file.
fn escape(input: &str) -> String {
    let mut line = input
        .replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r");
    line.push('\n');
    line
}

fn unescape(line: &str) -> String {
    let mut input = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => input.push('\n'),
                Some('r') => input.push('\r'),
                Some(other) => input.push(other),
                None => input.push('\\'),
            },
            _ => input.push(character),
        }
    }
    input
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::files::MemoryDisk;

    #[test]
    fn an_unwritable_history_is_reported_unless_it_was_before() {
        let disk = MemoryDisk::default();
        disk.make_read_only();
        for was_reported in [false, true] {
            let older = PathBuf::from("/data/line_history");
            let file = HistoryFile {
                was_reported,
                ..HistoryFile::of_project(older, Path::new("/project"), Arc::new(disk.clone()))
            };
            assert_eq!(file.append("hello").is_none(), was_reported);
        }
    }

    proptest! {
        #[test]
        fn any_input_is_one_line_and_comes_back(input in "(?s)[a\\\\\n\rn\u{0}-\u{ff}]{0,24}") {
            let line = escape(&input);
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert_eq!(unescape(line.trim_end_matches('\n')), input);
        }
    }
}
