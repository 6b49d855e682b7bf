//! Files of the workspace, which a person edits, too: bytes -> lines and sections, changed a line at a time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cogtrix::chat::Timestamp;
use cogtrix::files::MemoryDisk;
use cogtrix::long_term::notes::{
    Added, DailySettings, Judgement, LONG_TERM, Line, NotesError, Section, Workspace,
    WorkspaceSettings, unmarked,
};

use super::store::{SEPARATOR, name};

/// Room for what goes into a request.
const ROOM: usize = 200;

/// The first byte chooses a line, the rest is the file and, behind a separator, somebody's words. A change changes the
/// line it is about and no other, and a file that is no text stays byte for byte.
pub fn markdown(input: &[u8]) {
    let Some((chosen, rest)) = input.split_first() else {
        return;
    };
    let mut pieces = rest.splitn(2, |byte| *byte == SEPARATOR);
    let file = pieces.next().unwrap_or_default();
    let words = String::from_utf8_lossy(pieces.next().unwrap_or_default()).into_owned();
    let page = Page::new(file);
    page.add(&words);
    Page::new(file).mark(usize::from(*chosen));
    Page::new(file).remove(usize::from(*chosen));
    Page::new(file).read(&words);
}

struct Page {
    disk: MemoryDisk,
    workspace: Workspace,
    file: Vec<u8>,
}

impl Page {
    fn new(file: &[u8]) -> Self {
        let disk = MemoryDisk::default();
        disk.put(path(LONG_TERM), file);
        disk.put(path(&day()), file);
        disk.put(path("sessions/s/SESSION-STATE.md"), file);
        disk.put(path("sessions/s/working-buffer.md"), file);
        let settings = WorkspaceSettings::default();
        Self {
            workspace: Workspace::new(Arc::new(disk.clone()), "/w".into(), settings),
            disk,
            file: file.to_vec(),
        }
    }

    fn held(&self) -> Vec<u8> {
        self.disk.files()[&path(LONG_TERM)].clone()
    }

    /// Its lines; none of what is no text, which then stays as it is.
    fn lines(&self) -> Vec<Line> {
        match self.workspace.long_term().lines() {
            Ok(lines) => {
                let numbers: Vec<usize> = lines.iter().map(|line| line.number).collect();
                assert_eq!(numbers, (1..=lines.len()).collect::<Vec<_>>());
                lines
            }
            Err(NotesError::NotText { .. }) => Vec::new(),
            Err(error) => panic!("{error}"),
        }
    }

    fn add(&self, words: &str) {
        let before = self.lines();
        let section = Section::Notes;
        let long_term = self.workspace.long_term();
        let added = long_term.add(now(), &section, words, |_| Judgement::Add);
        let added = match added {
            Ok(added) => added,
            Err(NotesError::NotText { .. }) => return assert_eq!(self.held(), self.file),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(added, Added::Added);
        let after = self.lines();
        let mut rest = after.iter();
        for line in &before {
            // Half a line end that ended the file.
            let text = line.text.trim_end_matches('\r');
            let is_there = rest.any(|new| new.text.trim_end_matches('\r') == text);
            assert!(is_there, "line {} is lost: {after:#?}", line.number);
        }
        let words: Vec<&str> = words
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty())
            .collect();
        let bullet = format!("- {}", words.join(" "));
        let count = |lines: &[Line]| lines.iter().filter(|line| line.text == bullet).count();
        assert_eq!(count(&after), count(&before) + 1, "{bullet:?}: {after:#?}");
    }

    fn mark(&self, chosen: usize) {
        let before = self.lines();
        let Some(line) = before.get(chosen % before.len().max(1)) else {
            return;
        };
        match self.workspace.long_term().supersede(now(), line) {
            Ok(()) => {}
            Err(error) => panic!("{error}"),
        }
        let after = self.lines();
        assert_eq!(after.len(), before.len());
        for (old, new) in before.iter().zip(&after) {
            if old.number != line.number {
                assert_eq!(old.text, new.text, "another line is marked");
            } else if unmarked(&old.text).is_none() && old.text != new.text {
                let (was, date) = unmarked(&new.text).expect("the line is marked");
                assert_eq!(
                    (was.as_str(), date),
                    (old.text.as_str(), now().date().as_str())
                );
            }
        }
    }

    fn remove(&self, chosen: usize) {
        let mut expected = self.lines();
        let Some(line) = expected.get(chosen % expected.len().max(1)).cloned() else {
            return;
        };
        match self.workspace.long_term().remove(&line) {
            Ok(()) => {}
            Err(error) => panic!("{error}"),
        }
        expected.remove(line.number - 1);
        let texts = |lines: &[Line]| -> Vec<String> {
            lines.iter().map(|line| line.text.clone()).collect()
        };
        let mut expected = texts(&expected);
        // The mark that begins a file stays when it stood alone.
        if expected.is_empty() && self.file.starts_with(b"\xEF\xBB\xBF") {
            expected.push(String::new());
        }
        assert_eq!(texts(&self.lines()), expected);
    }

    /// What goes into a request and what is noted of a session; every one of them may refuse, none may panic.
    fn read(&self, words: &str) {
        let session = self.workspace.session(&name());
        let (state, buffer, daily) = (session.state(), session.buffer(), self.workspace.daily());
        let long_term = self.workspace.long_term().read(ROOM);
        let others = [state.read(), buffer.read(ROOM), daily.read(now(), ROOM)];
        for excerpt in others.into_iter().chain([long_term]).flatten().flatten() {
            assert!(!excerpt.text.trim().is_empty(), "an empty excerpt");
        }
        let facts = [words.to_owned(), "done: it works".to_owned()];
        daily.facts(now(), &facts, 8_000).ok();
        daily
            .exchange(now(), words, words, &DailySettings::default())
            .ok();
        state.append(now(), &[("fact", words)], 400).ok();
        state.lines().ok();
        buffer.append(now(), words, words).ok();
        buffer.close(now()).ok();
    }
}

fn path(source: &str) -> PathBuf {
    Path::new("/w").join(source)
}

fn day() -> String {
    format!("memory/{}.md", now().date())
}

fn now() -> Timestamp {
    Timestamp::from_unix(1_771_082_585).expect("a constant time")
}
