//! What a search may read of a workspace (X4, Q16, Q36): each file by its name relative to the workspace.
//!
//! The working buffer is none of them: it would only echo the conversation.

use std::io;

use super::daily::is_date;
use super::error::NotesError;
use super::long_term::LONG_TERM;
use super::memories::{MemoriesError, is_inside};
use super::page::Page;
use super::workspace::Workspace;
use crate::chat::SessionName;
use crate::files::FolderError;

const OF_THE_ROOT: [&str; 4] = [LONG_TERM, "SOUL.md", "IDENTITY.md", "USER.md"];
const STATE: &str = "SESSION-STATE.md";

/// The name of a file that a search may read.
///
/// Invariant: one of the files above; no such name leads out of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source(String);

/// What was found, and why the rest was not.
#[derive(Debug, Default)]
pub struct Sources {
    pub found: Vec<Source>,
    pub problems: Vec<NotesError>,
}

impl Source {
    /// `None` of the name of any other file.
    pub fn parse(name: &str) -> Option<Self> {
        let is_day = || {
            let date = name
                .strip_prefix("memory/")
                .and_then(|name| name.strip_suffix(".md"));
            date.is_some_and(is_date)
        };
        let is_state = || {
            let session = name
                .strip_prefix("sessions/")
                .and_then(|name| name.strip_suffix(STATE)?.strip_suffix('/'));
            name == STATE
                || session.is_some_and(|session| {
                    session
                        .parse::<SessionName>()
                        .is_ok_and(|it| it.as_str() == session)
                })
        };
        let is_one = OF_THE_ROOT.contains(&name) || is_day() || is_state() || is_inside(name);
        is_one.then(|| Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Workspace {
    /// Everything there is for a session: MEMORY.md, its state, the newest days, the person's files, the model's files.
    pub fn sources(&self, session: &SessionName, days: usize) -> Sources {
        let mut sources = Sources::default();
        let state = self.session(session).state().source().to_owned();
        let [memory, own @ ..] = OF_THE_ROOT.map(str::to_owned);
        let days = self
            .daily()
            .newest(days)
            .map(|days| days.into_iter().map(|day| day.source).collect());
        let files = self.memory_files().map_err(|error| self.as_notes(error));
        for names in [Ok(vec![memory, state]), days, Ok(own.into()), files] {
            match names {
                Ok(names) => sources.add(self, &names),
                Err(problem) => sources.problems.push(problem),
            }
        }
        sources
    }

    /// What a file holds now; `None` where it is gone.
    pub fn text(&self, source: &Source) -> Result<Option<String>, NotesError> {
        if !is_inside(&source.0) {
            return Page::new(self.desk(), &source.0).read();
        }
        match self.memory_text(&source.0) {
            Ok(text) => Ok(Some(text)),
            Err(MemoriesError::Folder {
                source: FolderError::Missing,
                ..
            }) => Ok(None),
            Err(error) => Err(self.as_notes(error)),
        }
    }

    /// Bytes of a file; `None` where it is not there.
    pub fn size(&self, source: &Source) -> Result<Option<u64>, NotesError> {
        Page::new(self.desk(), &source.0).size()
    }

    fn as_notes(&self, error: MemoriesError) -> NotesError {
        match error {
            MemoriesError::Notes(error) => error,
            MemoriesError::NotText { path } => NotesError::NotText {
                path: self.root().join(path.trim_start_matches('/')),
            },
            other => NotesError::io("read", self.root())(io::Error::other(other.to_string())),
        }
    }
}

impl Sources {
    fn add(&mut self, workspace: &Workspace, names: &[String]) {
        for source in names.iter().filter_map(|name| Source::parse(name)) {
            match workspace.size(&source) {
                Ok(Some(_)) => self.found.push(source),
                Ok(None) => {}
                Err(problem) => self.problems.push(problem),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::files::{Disk, LocalDisk};
    use crate::long_term::notes::WorkspaceSettings;

    #[test]
    fn only_names_of_files_of_the_workspace_are_sources() {
        for (name, expected) in [
            ("MEMORY.md", true),
            ("memory/2026-02-14.md", true),
            ("memories/a/b.md", true),
            ("SESSION-STATE.md", true),
            ("sessions/my work/SESSION-STATE.md", true),
            ("sessions/../SESSION-STATE.md", false),
            ("sessions/a/working-buffer.md", false),
            ("memory/working-buffer.md", false),
            ("memory/2026-02-30.md", false),
            ("memories", false),
            ("memories/../USER.md", false),
            ("/etc/passwd", false),
            ("other.md", false),
        ] {
            assert_eq!(Source::parse(name).is_some(), expected, "{name}");
        }
    }

    #[test]
    fn a_search_reads_everything_but_the_working_buffer() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let names = [
            "MEMORY.md",
            "sessions/work/SESSION-STATE.md",
            "memory/2026-02-15.md",
            "memory/2026-02-14.md",
            "SOUL.md",
            "USER.md",
            "memories/a/b.md",
        ];
        let others = [
            "sessions/work/working-buffer.md",
            "sessions/other/SESSION-STATE.md",
            "memory/x.md",
            "x.md",
        ];
        for name in names.iter().chain(&others) {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            Disk::replace(&LocalDisk, &at(name), format!("of {name}").as_ref()).unwrap();
        }
        let workspace = Workspace::new(
            Arc::new(LocalDisk),
            folder.path().to_owned(),
            WorkspaceSettings::default(),
        );
        let sources = workspace.sources(&"work".parse().unwrap(), 30);
        assert!(sources.problems.is_empty());
        let found: Vec<_> = sources.found.iter().map(Source::as_str).collect();
        assert_eq!(found, names);
        for source in &sources.found {
            let text = workspace.text(source).unwrap().unwrap();
            assert_eq!(text, format!("of {}", source.as_str()));
        }
        std::fs::remove_dir_all(at("memories")).unwrap();
        assert_eq!(workspace.text(&sources.found[6]).unwrap(), None);
        Disk::replace(&LocalDisk, &at("USER.md"), b"\xff".as_ref()).unwrap();
        assert!(workspace.text(&sources.found[5]).is_err());
    }
}
