//! Recall by meaning: the embedder, the vectors, and the work of making them in the background. Unit: one session.
//!
//! ```text
//!  Closed --open--> Opening --> Open --index--> a task embeds batch by batch, each on disk when it is done
//!                      └------> Without (no embedder, or the disk refuses): asked again some turns later
//! ```
//! Invariant: whatever fails costs this half of recall and nothing else; a failure is told once.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::Parts;
use super::vectors::{Near, Vectors};
use super::work::{self, Ready, Trouble, lock};
use crate::chat::Session;
use crate::embed::NoEmbedder;
use crate::hint::chain;
use crate::memory::recall::Exchange;
use crate::search::vectors::Spec;

/// Longest wait for the index when a question comes before it is open.
const PATIENCE: Duration = Duration::from_secs(5);
/// After failures in a row the embedder is left alone for twice as many turns each time, at most for so many.
const LONGEST_REST: u32 = 32;

/// News of the work in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A long way to go has begun.
    Indexing { exchanges: usize },
    /// It has come to its end.
    Indexed { exchanges: usize },
    /// The index was made with another model, or is damaged.
    Dropped { why: String },
    /// There are no vectors for now.
    Without { why: String },
}

impl std::fmt::Display for News {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Indexing { exchanges } => write!(
                f,
                "{exchanges} exchanges are being indexed by meaning in the background; they are found by their words meanwhile"
            ),
            Self::Indexed { exchanges } => {
                write!(f, "all {exchanges} exchanges are indexed by meaning")
            }
            Self::Dropped { why } => {
                write!(f, "{why}: the vectors are made again from the history")
            }
            Self::Without { why } => write!(
                f,
                "no recall by meaning for now ({why}); by words it goes on"
            ),
        }
    }
}

/// Why exchanges have no vectors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the vectors could not be made: {why}")]
pub struct NoVectors {
    why: String,
}

/// From so many exchanges on the person hears of the work.
const WORTH_TELLING: usize = 200;

/// Recall by meaning, as far as it is.
#[derive(Debug, Default)]
pub(super) struct Meaning {
    state: State,
    gate: Arc<Mutex<Gate>>,
    /// Whether a question has waited for what is being opened, or need not.
    waited: bool,
    /// Failures in a row, the step that failed, and turns to wait before the next try.
    failures: u32,
    failed: Option<Step>,
    rest: u32,
    /// That there are no vectors was said.
    told: bool,
    /// The person was told that a long way to go has begun, and not yet that it is over.
    owes_end: bool,
}

/// Held while an index is being opened: a thread cannot be called back, and must not begin an index in a folder that
/// belongs to somebody else by then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Gate {
    #[default]
    Open,
    Shut,
}

impl Drop for Meaning {
    fn drop(&mut self) {
        *lock(&self.gate) = Gate::Shut;
    }
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Closed,
    Opening(JoinHandle<Result<Option<Ready>, String>>),
    /// There is no embedder, or the disk refuses.
    Without,
    Open(Ready),
}

/// What is done, in this order: who can do one can do those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Open,
    Question,
    Exchanges,
}

/// How far the vectors are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The model, where there is one.
    pub model: Option<String>,
    pub exchanges: usize,
    pub dimensions: usize,
    /// Of the work that runs: done and wanted.
    pub running: Option<(usize, usize)>,
}

impl Meaning {
    /// Begins to open what is there, where vectors were made before.
    pub(super) fn begin(&mut self, parts: &Parts, folder: &Path) {
        if matches!(self.state, State::Closed)
            && Vectors::stored(parts.disk.as_ref(), folder).is_some()
        {
            self.open(parts, folder);
        }
    }

    fn open(&mut self, parts: &Parts, folder: &Path) {
        let parts = parts.clone();
        let folder = folder.to_owned();
        let gate = Arc::clone(&self.gate);
        let stored = Vectors::stored(parts.disk.as_ref(), &folder);
        // What is empty as yet is worth no wait.
        self.waited = stored.is_none();
        self.state = State::Opening(tokio::spawn(async move {
            let embedder = parts.embedder.resolve().await;
            let Some(embedder) = embedder.map_err(|error| chain(&error))? else {
                return Ok(None);
            };
            let model = embedder.model().to_owned();
            if let Some(stored) = &stored
                && stored.model != model
                && is_away(&stored.model, &parts.embedder.passed())
            {
                return Err(format!(
                    "{} made the vectors and is not there",
                    stored.model
                ));
            }
            let dimension = match stored.filter(|stored| stored.model == model) {
                Some(stored) => stored.dimension,
                None => embedder.probe().await.map_err(|error| chain(&error))?,
            };
            let spec = Spec { model, dimension };
            let opening = tokio::task::spawn_blocking(move || {
                let gate = lock(&gate);
                let opened = (*gate == Gate::Open).then(|| Vectors::open(&parts, &folder, spec));
                opened.transpose()
            });
            let opened = opening.await.map_err(|error| error.to_string())?;
            let opened = opened.map_err(|error| chain(&error))?;
            Ok(opened.map(|opened| Ready::new(embedder, opened)))
        }));
    }

    /// Waits until what is being opened is open.
    async fn opened(&mut self, session: &Session) -> Option<News> {
        let State::Opening(opening) = &mut self.state else {
            return None;
        };
        let opened = opening.await.unwrap_or_else(|error| Err(error.to_string()));
        match opened {
            Ok(None) => {
                self.state = State::Without;
                self.rest = LONGEST_REST;
                None
            }
            Ok(Some(mut ready)) => {
                let dropped = ready.check(session);
                self.state = State::Open(ready);
                dropped.map(|why| News::Dropped { why })
            }
            Err(why) => {
                self.state = State::Without;
                self.went_wrong(Step::Open, why.into())
            }
        }
    }

    fn went_well(&mut self, step: Step) {
        if self.failed.is_none_or(|failed| failed <= step) {
            self.failures = 0;
            self.failed = None;
            self.told = false;
        }
    }

    fn went_wrong(&mut self, step: Step, trouble: Trouble) -> Option<News> {
        tracing::warn!("no vectors: {trouble:?}");
        self.failures = self.failures.saturating_add(1);
        self.failed = self.failed.max(Some(step));
        self.rest = match trouble {
            Trouble::Dropped(_) if self.failures == 1 => 0,
            Trouble::Dropped(_) | Trouble::Passing(_) => {
                let rest = 1_u32.checked_shl(self.failures);
                rest.map_or(LONGEST_REST, |rest| rest.min(LONGEST_REST))
            }
        };
        let is_first = !std::mem::replace(&mut self.told, true);
        is_first.then_some(match trouble {
            Trouble::Passing(why) => News::Without { why },
            Trouble::Dropped(why) => News::Dropped { why },
        })
    }

    /// One turn less to rest.
    pub(super) fn turn_over(&mut self) {
        self.rest = self.rest.saturating_sub(1);
        if self.rest == 0 && matches!(self.state, State::Without) {
            self.state = State::Closed;
        }
    }

    /// The messages near a question, with their cosines; none where they cannot be had soon.
    pub(super) async fn nearest(
        &mut self,
        session: &Session,
        question: &str,
    ) -> (Vec<(usize, f32)>, Option<News>) {
        let patience = if std::mem::replace(&mut self.waited, true) {
            Duration::ZERO
        } else {
            PATIENCE
        };
        let opening = tokio::time::timeout(patience, self.opened(session));
        let news = opening.await.ok().flatten();
        let State::Open(ready) = &self.state else {
            return (Vec::new(), news);
        };
        if self.rest > 0 || ready.vectors().len() == 0 {
            return (Vec::new(), news);
        }
        match ready.nearest(question).await {
            Ok(near) => {
                self.went_well(Step::Question);
                (messages(session, &near), news)
            }
            Err(trouble) => (
                Vec::new(),
                self.went_wrong(Step::Question, trouble).or(news),
            ),
        }
    }

    /// Begins to embed the exchanges before a message that have no vector yet.
    pub(super) fn index(
        &mut self,
        parts: &Parts,
        folder: &Path,
        session: &Session,
        before: usize,
    ) -> Option<News> {
        if parts.embedder.is_off() || self.rest > 0 {
            return None;
        }
        match &mut self.state {
            State::Closed => {
                if work::is_any(session, before) {
                    self.open(parts, folder);
                }
                None
            }
            State::Open(ready) if !ready.is_working() => {
                let exchanges = ready.start(session, before);
                if exchanges == 0 {
                    return self.finished();
                }
                let is_news = exchanges >= WORTH_TELLING && !self.owes_end;
                self.owes_end |= is_news;
                is_news.then_some(News::Indexing { exchanges })
            }
            State::Opening(_) | State::Without | State::Open(_) => None,
        }
    }

    /// Makes all vectors that are missing, and waits for them.
    pub(super) async fn index_all(
        &mut self,
        parts: &Parts,
        folder: &Path,
        session: &Session,
        progress: &mut (dyn FnMut(Standing) + Send),
    ) -> Result<Option<News>, NoVectors> {
        /// Between one look at the progress and the next.
        const LOOK: Duration = Duration::from_millis(100);
        let mut dropped = None;
        loop {
            // How far it is, the progress tells.
            self.index(parts, folder, session, usize::MAX);
            if !self.is_working() {
                return Ok(dropped);
            }
            let news = loop {
                match tokio::time::timeout(LOOK, self.work_done(session)).await {
                    Ok(news) => break news,
                    Err(_) => self.standing().into_iter().for_each(&mut *progress),
                }
            };
            match news {
                Some(News::Without { why }) => return Err(NoVectors { why }),
                Some(news @ News::Dropped { .. }) => dropped = Some(news),
                Some(News::Indexing { .. } | News::Indexed { .. }) | None => {}
            }
        }
    }

    /// Waits for what runs, for ever where nothing does. May be dropped at any time.
    pub(super) async fn work_done(&mut self, session: &Session) -> Option<News> {
        match &mut self.state {
            State::Opening(_) => self.opened(session).await,
            State::Open(ready) if ready.is_working() => match ready.task_done().await {
                Ok(()) => {
                    self.went_well(Step::Exchanges);
                    None
                }
                Err(trouble) => self.went_wrong(Step::Exchanges, trouble),
            },
            State::Closed | State::Without | State::Open(_) => std::future::pending().await,
        }
    }

    /// Whether anything runs.
    pub(super) fn is_working(&self) -> bool {
        match &self.state {
            State::Opening(_) => true,
            State::Open(ready) => ready.is_working(),
            State::Closed | State::Without => false,
        }
    }

    /// That the work which was told of is done.
    fn finished(&mut self) -> Option<News> {
        if !std::mem::take(&mut self.owes_end) {
            return None;
        }
        let exchanges = self.standing()?.exchanges;
        Some(News::Indexed { exchanges })
    }

    /// Gives up what runs; what is on disk by then stays.
    pub(super) fn abort(&mut self) {
        if let State::Open(ready) = &mut self.state {
            ready.abort();
        }
    }

    pub(super) fn standing(&self) -> Option<Standing> {
        let State::Open(ready) = &self.state else {
            return None;
        };
        let vectors = ready.vectors();
        Some(Standing {
            model: Some(ready.model().to_owned()),
            exchanges: vectors.len(),
            dimensions: vectors.dimension(),
            running: ready.running(),
        })
    }
}

/// The messages that are near, by their indices in the session.
fn messages(session: &Session, near: &[Near]) -> Vec<(usize, f32)> {
    let turns = session.turns();
    let index = |near: &Near| {
        let at = turns
            .binary_search_by_key(&near.turn, |turn| turn.id)
            .ok()?;
        let turn = Some(&turns[at]).filter(|turn| turn.withdrawn.is_none())?;
        let (index, _) = Exchange::messages_of(session, turn).nth(near.message)?;
        Some((index, near.cosine))
    };
    near.iter().filter_map(index).collect()
}

/// Whether the maker of vectors is one of those that were looked for and are not there just now: then another one that is
/// must not take its place, since that would cost all vectors.
fn is_away(maker: &str, absent: &[NoEmbedder]) -> bool {
    let kind =
        |name: &str| -> String { name.chars().take_while(char::is_ascii_alphabetic).collect() };
    let maker = kind(maker);
    absent.iter().any(|absent| kind(&absent.candidate) == maker)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passing() -> Trouble {
        Trouble::Passing("busy".to_owned())
    }

    #[test]
    fn a_step_that_fails_is_spoken_of_again_only_when_it_or_a_later_one_went_well() {
        let mut meaning = Meaning::default();
        assert!(meaning.went_wrong(Step::Exchanges, passing()).is_some());
        meaning.went_well(Step::Question);
        assert_eq!(meaning.went_wrong(Step::Exchanges, passing()), None);
        assert_eq!(meaning.rest, 4, "longer each time");
        meaning.went_well(Step::Exchanges);
        assert!(meaning.went_wrong(Step::Question, passing()).is_some());
        meaning.went_well(Step::Question);
        assert!(meaning.went_wrong(Step::Open, passing()).is_some());
    }

    #[test]
    fn what_was_dropped_is_made_again_at_once_but_not_for_ever() {
        let mut meaning = Meaning::default();
        let dropped = || Trouble::Dropped("damaged".to_owned());
        let news = meaning.went_wrong(Step::Question, dropped());
        assert!(matches!(news, Some(News::Dropped { .. })) && meaning.rest == 0);
        assert_eq!(meaning.went_wrong(Step::Question, dropped()), None);
        assert!(meaning.rest > 0);
    }
}
