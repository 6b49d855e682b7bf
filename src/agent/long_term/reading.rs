//! What the files hold, for one request: read anew each time, so that an edit by hand counts at once (X2).

use super::Parts;
use crate::chat::{Session, SessionName, Timestamp, Tokens};
use crate::hint::advised;
use crate::long_term::notes::{Excerpt, NotesError, without_empty_lists};
use crate::memory::{KeptFile, LongTermContext, Recovery};
use crate::text::secrets::masked;

/// Compactions that come by themselves and leave a gap: those of the guards.
const GUARDS: [&str; 2] = ["threshold", "proactive"];

/// A compaction that left a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Shortened {
    at: Timestamp,
    upto: usize,
}

/// What may be lost in a turn.
#[derive(Debug)]
pub(in crate::agent) struct Lost {
    /// What the person said.
    pub(in crate::agent) said: String,
    pub(in crate::agent) shortened: Option<Shortened>,
    pub(in crate::agent) window: Tokens,
}

impl Shortened {
    /// The newest compaction of a session, if it is one of the guards'.
    pub(in crate::agent) fn of(session: &Session) -> Option<Self> {
        let newest = session.hybrid().compaction.as_ref();
        let newest = newest.filter(|it| GUARDS.contains(&it.strategy.as_str()))?;
        let (at, upto) = (newest.at, newest.upto);
        Some(Self { at, upto })
    }
}

/// What was read, and what could not be.
#[derive(Debug, Default)]
pub(in crate::agent) struct Read {
    pub(in crate::agent) kept: LongTermContext,
    pub(in crate::agent) problems: Vec<String>,
}

impl Parts {
    /// The files of every request.
    pub(in crate::agent) fn read(&self, session: &SessionName) -> Read {
        let mut read = Read::default();
        let identity = self.workspace.identity();
        read.problems.extend(identity.problems.iter().map(advised));
        read.kept.identity = identity.files.into_iter().map(file).collect();
        let rules = read.one(self.workspace.project_rules(&self.project, &self.rules));
        read.kept.rules = rules.into_iter().collect();
        let most = self.workspace.file_chars();
        read.kept.long_term = read.one(self.workspace.long_term().read(most));
        read.kept.session_state = read.one(self.workspace.session(session).state().read());
        read
    }

    /// Whether anything may have to be recovered: the window, which a server may have to be asked for, matters only
    /// then.
    pub(in crate::agent) fn may_recover(&self, said: &str, shortened: Option<Shortened>) -> bool {
        let cues = self.recovery.as_ref().filter(|_| self.recovers);
        cues.is_some_and(|cues| shortened.is_some() || cues.ask(said))
    }

    /// What tells where the work stood, where that is wanted: after a compaction of the kind that comes by itself, and
    /// when the person asks (Q29).
    pub(in crate::agent) fn recover(
        &self,
        session: &SessionName,
        lost: &Lost,
        now: Timestamp,
    ) -> (Option<Recovery>, Vec<String>) {
        let Some(cues) = self.recovery.as_ref().filter(|_| self.recovers) else {
            return (None, Vec::new());
        };
        let notes = self.workspace.session(session);
        // A buffer that was begun after it has nothing of what is gone. Where none is kept, captures and the day's
        // notes tell.
        let started = notes.buffer().started().unwrap_or_default();
        let is_lost = lost.shortened.is_some_and(|it| {
            self.buffer_from <= 0.0 || started.is_some_and(|started| started <= it.at)
        });
        if !is_lost && !cues.ask(&lost.said) {
            return (None, Vec::new());
        }
        let recovery = self.workspace.recovery(session, now);
        let problems = recovery.problems.iter().map(advised);
        let problems = problems.collect();
        let files: Vec<KeptFile> = recovery.parts.into_iter().map(clean).collect();
        let max = Tokens(lost.window.0 / Recovery::SHARE);
        let told = (!files.is_empty()).then_some(Recovery { files, max });
        (told, problems)
    }

    /// Puts away what was told, once it was answered, so that it comes once; tells what went wrong.
    pub(super) fn put_buffer_away(&self, session: &SessionName, now: Timestamp) -> Option<String> {
        let notes = self.workspace.session(session);
        notes.buffer().close(now).err().map(|error| advised(&error))
    }
}

impl Read {
    fn one(&mut self, read: Result<Option<Excerpt>, NotesError>) -> Option<KeptFile> {
        match read {
            Ok(found) => found.map(file).and_then(without_empty),
            Err(error) => {
                self.problems.push(advised(&error));
                None
            }
        }
    }
}

/// The file without lists that have become empty; `None` where nothing but headings is left.
fn without_empty(file: KeptFile) -> Option<KeptFile> {
    let text = without_empty_lists(&file.text);
    let mut lines = text.lines().map(str::trim);
    let says_anything = lines.any(|line| !line.is_empty() && !line.starts_with('#'));
    says_anything.then_some(KeptFile { text, ..file })
}

fn file(excerpt: Excerpt) -> KeptFile {
    KeptFile {
        name: excerpt.source,
        text: excerpt.text,
    }
}

/// Without what is secret, which a person may have written there.
fn clean(excerpt: Excerpt) -> KeptFile {
    KeptFile {
        text: masked(&excerpt.text).into_owned(),
        name: excerpt.source,
    }
}
