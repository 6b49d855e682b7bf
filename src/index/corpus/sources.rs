//! Where long-term texts stand, and which of them are there now: files of the workspace and of a folder with documents.
//!
//! Invariant: nothing is opened here, and a folder that cannot be listed is told, not an error.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::chat::Timestamp;
use crate::files::{Disk, Surveyed, What};
use crate::long_term::notes::{SessionFiles, Workspace};

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// MEMORY.md and the person's own files beside it.
    Note,
    /// What was captured in a session.
    SessionState,
    /// A day's file.
    Daily,
    /// A file that the model keeps.
    OwnFile,
    /// An entry.
    Entry,
    /// A file of `rag.docs_dir`.
    Document,
    /// A message of a session.
    Said,
    /// What a memory behind a server holds.
    External,
}

/// Where files are looked for.
#[derive(Clone, Debug)]
pub struct Places {
    pub workspace: PathBuf,
    pub session_files: SessionFiles,
    /// Daily files that are read, the newest of them (Q17).
    pub daily: usize,
    /// `rag.docs_dir`.
    pub documents: Option<PathBuf>,
}

/// A file that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::index) struct Found {
    /// As a person knows it: `memory/2026-02-14.md`.
    pub(in crate::index) source: String,
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    /// When what it says is from.
    pub(super) at: Option<Timestamp>,
}

/// Files of the workspace's root that are read.
const ROOT: [&str; 4] = ["MEMORY.md", "USER.md", "IDENTITY.md", "SOUL.md"];
const STATE: &str = "SESSION-STATE.md";
/// A file of the model's that is longer is left out (Q36).
const MAX_OF_OWN: u64 = 1 << 20;
/// Folders in folders, and files of one kind, that are looked at.
const DEEPEST: usize = 8;
const MAX_FILES: usize = 5_000;
/// Endings of documents.
const TEXTS: [&str; 5] = ["md", "markdown", "txt", "rst", "text"];

impl Kind {
    /// What outlives sessions.
    pub const LASTING: [Self; 6] = [
        Self::Note,
        Self::SessionState,
        Self::Daily,
        Self::OwnFile,
        Self::Entry,
        Self::Document,
    ];
}

impl Places {
    /// Every file there is but those of a kind that is left out, and what could not be listed.
    pub(in crate::index) fn files(
        &self,
        disk: &dyn Disk,
        left_out: Option<Kind>,
    ) -> (Vec<Found>, Vec<String>) {
        let mut walk = Walk {
            disk,
            found: Vec::new(),
            troubles: Vec::new(),
        };
        let root = walk.listed(&self.workspace);
        for name in ROOT {
            walk.take_named(&root, name, name.to_owned(), Kind::Note);
        }
        match self.session_files {
            _ if left_out == Some(Kind::SessionState) => {}
            SessionFiles::Shared => {
                walk.take_named(&root, STATE, STATE.to_owned(), Kind::SessionState);
            }
            SessionFiles::PerSession => walk.states(&self.workspace.join("sessions")),
        }
        walk.daily(&self.workspace.join("memory"), self.daily);
        let own = |file: &Surveyed| match file.what {
            What::File if file.size > MAX_OF_OWN => Wanted::TooLong,
            What::File => Wanted::Yes,
            _ => Wanted::No,
        };
        walk.tree(
            &self.workspace.join("memories"),
            "memories",
            Kind::OwnFile,
            &own,
        );
        if let Some(folder) = &self.documents {
            let label = folder.file_name().unwrap_or_default().to_string_lossy();
            walk.tree(folder, &label, Kind::Document, &is_document);
        }
        (walk.found, walk.troubles)
    }
}

/// A link is none: whoever wrote the documents would choose which file of the person's is read.
fn is_document(file: &Surveyed) -> Wanted {
    let ending = file.path.extension().unwrap_or_default().to_string_lossy();
    let is_text = TEXTS.iter().any(|text| ending.eq_ignore_ascii_case(text));
    if is_text && file.what == What::File {
        Wanted::Yes
    } else {
        Wanted::No
    }
}

/// Whether a file of a folder is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Yes,
    No,
    /// It would be, if it were shorter.
    TooLong,
}

/// The day that a file is named after.
pub(super) fn day(path: &Path) -> Option<Timestamp> {
    let name = path.file_name()?.to_str()?.strip_suffix(".md")?;
    let is_date = name.len() == 10
        && name.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    is_date.then(|| Timestamp::parse(&format!("{name}T12:00:00Z")))?
}

/// What was found so far.
struct Walk<'a> {
    disk: &'a dyn Disk,
    found: Vec<Found>,
    troubles: Vec<String>,
}

impl Walk<'_> {
    fn listed(&mut self, folder: &Path) -> Vec<Surveyed> {
        self.disk.survey(folder).unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotADirectory {
                let folder = folder.display();
                self.troubles
                    .push(format!("cannot search {folder}: {error}"));
            }
            Vec::new()
        })
    }

    fn take(&mut self, file: &Surveyed, source: String, kind: Kind) {
        self.found.push(Found {
            source,
            path: file.path.clone(),
            kind,
            size: file.size,
            modified: file.modified,
            at: match kind {
                Kind::Daily => day(&file.path),
                _ => None,
            },
        });
    }

    fn take_named(&mut self, files: &[Surveyed], name: &str, source: String, kind: Kind) {
        let mut files = files.iter().filter(|file| file.path.ends_with(name));
        if let Some(file) = files.find(|file| matches!(file.what, What::File | What::Link)) {
            self.take(file, source, kind);
        }
    }

    /// What was captured in each session.
    fn states(&mut self, folder: &Path) {
        for session in self.listed(folder) {
            if session.what == What::Folder {
                let name = session.path.file_name().unwrap_or_default();
                let source = format!("sessions/{}/{STATE}", name.to_string_lossy());
                let files = self.listed(&session.path);
                self.take_named(&files, STATE, source, Kind::SessionState);
            }
        }
    }

    /// The newest files that are named as dates; there may be others beside them.
    fn daily(&mut self, folder: &Path, max: usize) {
        let files = self.listed(folder);
        let days = files.iter().filter(|file| {
            day(&file.path).is_some() && matches!(file.what, What::File | What::Link)
        });
        for file in days.rev().take(max) {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            self.take(file, format!("memory/{name}"), Kind::Daily);
        }
    }

    /// Every file of a folder and of those in it that is wanted; no link to a folder is followed.
    fn tree(
        &mut self,
        folder: &Path,
        label: &str,
        kind: Kind,
        wanted: &dyn Fn(&Surveyed) -> Wanted,
    ) {
        let mut folders = vec![(folder.to_owned(), label.to_owned(), 0)];
        let mut left = MAX_FILES;
        while let Some((folder, label, depth)) = folders.pop() {
            for file in self.listed(&folder) {
                let name = file.path.file_name().unwrap_or_default().to_string_lossy();
                if name.starts_with('.') {
                    continue;
                }
                let source = format!("{label}/{name}");
                if file.what == What::Folder {
                    if depth < DEEPEST {
                        folders.push((file.path.clone(), source, depth + 1));
                    }
                    continue;
                }
                match wanted(&file) {
                    Wanted::No => {}
                    Wanted::TooLong => self.troubles.push(format!(
                        "skipped {source} in search: it is larger than {MAX_OF_OWN} bytes"
                    )),
                    Wanted::Yes if left == 0 => {
                        self.troubles.push(format!(
                            "{label} has more than {MAX_FILES} files; the rest are not searched"
                        ));
                        return;
                    }
                    Wanted::Yes => {
                        left -= 1;
                        self.take(&file, source, kind);
                    }
                }
            }
        }
    }
}

/// Sources that this process wrote since they were last read, by their names (`MEMORY.md`, `memories/work`): the time of
/// a file may not tell, where a file system counts in seconds or a clock stands still (Q33). What is written while it is
/// being read stays marked.
#[derive(Clone, Debug, Default)]
pub struct Written(Arc<Mutex<BTreeSet<String>>>);

impl Written {
    /// From now on every write is marked.
    pub fn watch(&self, workspace: &Workspace) {
        let marks = self.clone();
        workspace.observe(Arc::new(move |written| {
            marks.lock().insert(written.source.clone());
        }));
    }

    pub fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
