//! Sessions opened for searching. Unit: one run of a command. Invariant: a session is opened once, and nothing of its
//! history is written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::chat::{Record, Redactions, Session, SessionName};
use crate::cli::args::ChatArgs;
use crate::cli::report::CliError;
use crate::cli::{parts, toolbox, trust};
use crate::config::{Config, Inputs, Texts};
use crate::hint::chain;
use crate::index::{EntryText, Index, Keeping, Meaning, News, Parts, SessionIndex, Words};
use crate::memory::known_secrets;
use crate::repl::listing::count;
use crate::store::{FileStore, SessionLog, SessionStore, StoreError};
use crate::term::{Output, thousands};

/// The sessions of a data folder.
pub(super) struct Sessions {
    pub(super) config: Config,
    pub(super) inputs: Inputs,
    pub(super) store: FileStore,
    pub(super) parts: Parts,
    meaning: Meaning,
    /// Whether messages are searched as they were said: then nothing is written.
    pub(super) shows_forgotten: bool,
    open: BTreeMap<SessionName, Volume>,
}

/// One session with its indexes.
pub(super) struct Volume {
    pub(super) session: Session,
    pub(super) index: SessionIndex,
    /// Held, so that no other process writes the indexes meanwhile; `None` where another one does.
    log: Option<Box<dyn SessionLog>>,
}

/// Whether every exchange has its vectors that can have some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaughtUp {
    Yes,
    No,
}

/// Longest wait for the vectors of a session that is not long.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why one of all sessions takes no part.
pub(super) fn left_out(name: &SessionName, why: &dyn std::error::Error) -> String {
    format!("skipped session {name}: {}", chain(why))
}

impl Sessions {
    pub(super) async fn open(args: &ChatArgs, output: &mut Output) -> Result<Self, CliError> {
        let disk = parts::disk(args);
        let (config, inputs) = trust::load_for_command(args, disk.as_ref(), output)?;
        let (disk, store) = parts::disk_and_store(args, &config)?;
        let texts = Texts::load(inputs.folders.config.as_deref())?;
        let catalog = parts::catalog(&config, &inputs, &texts)?;
        let parts = Box::pin(parts::index(args, disk, &config, &texts, (&catalog, None))).await?;
        Ok(Self {
            config,
            inputs,
            store,
            meaning: parts.meaning(),
            parts,
            shows_forgotten: false,
            open: BTreeMap::new(),
        })
    }

    /// Every session that can be read; of the others it is said why they cannot.
    pub(super) fn names(&self, output: &mut Output) -> Result<Vec<SessionName>, StoreError> {
        let mut names = Vec::new();
        for info in self.store.list()? {
            match info.problem {
                None => names.push(info.name),
                Some(problem) => {
                    output.warning(&format!("skipped session {}: {problem}", info.name));
                }
            }
        }
        Ok(names)
    }

    /// A session, opened the first time it is asked for, and what finds by meaning in any of them.
    pub(super) fn volume(
        &mut self,
        name: &SessionName,
        output: &mut Output,
    ) -> Result<(&mut Volume, &mut Meaning), StoreError> {
        if !self.open.contains_key(name) {
            let volume = self.read(name, output)?;
            self.open.insert(name.clone(), volume);
        }
        let missing = || StoreError::Missing {
            name: name.clone(),
            near: None,
        };
        let volume = self.open.get_mut(name).ok_or_else(missing)?;
        Ok((volume, &mut self.meaning))
    }

    fn read(&self, name: &SessionName, output: &mut Output) -> Result<Volume, StoreError> {
        // Opening would begin one that is not there.
        let mut session = self.store.read(name)?;
        if self.shows_forgotten {
            session.apply(Record::ForgottenReplaced(Redactions::default()));
        }
        let mut parts = self.parts.clone();
        if parts.keeping == Keeping::Kept && !self.shows_forgotten {
            match self.store.open(name, Duration::ZERO) {
                Ok(opened) => {
                    for repair in &opened.repairs {
                        output.warning(&repair.to_string());
                    }
                    return Ok(Volume {
                        index: SessionIndex::new(&parts, name),
                        session: opened.session,
                        log: Some(opened.log),
                    });
                }
                Err(StoreError::Locked { .. }) => output.notice(&format!(
                    "Session {name} is open elsewhere; reading only its last saved state"
                )),
                Err(other) => return Err(other),
            }
        }
        parts.keeping = Keeping::ReadOnly;
        Ok(Volume {
            index: SessionIndex::new(&parts, name),
            session,
            log: None,
        })
    }

    /// An index of all that is said and kept, with no session open, and what is to be told of its entries.
    pub(super) fn index(&self, args: &ChatArgs) -> Result<(Index, Vec<String>), CliError> {
        let disk = Arc::clone(&self.parts.disk);
        let project = toolbox::project(args, &self.inputs)?;
        let (entries, notices) = parts::entries(&self.config, &project, Arc::clone(&disk));
        let store = Arc::new(parts::store(args, disk, &self.config));
        let long_term = parts::searched(&self.config, store);
        let name = &self.config.settings.session;
        let mut index = Index::new(self.parts.clone(), name).with_long_term(long_term);
        index.set_entries(entries.in_force().map(EntryText::from));
        Ok((index, notices))
    }

    /// Returns what finds by meaning in any of them.
    pub(super) fn meaning(&mut self) -> &mut Meaning {
        &mut self.meaning
    }

    /// Lets go of a session, so that others can have it.
    pub(super) fn put_back(&mut self, name: &SessionName) {
        if let Some(mut volume) = self.open.remove(name) {
            volume.index.keep();
        }
    }

    pub(super) fn close(self) {
        for mut volume in self.open.into_values() {
            volume.index.keep();
        }
    }
}

impl Volume {
    /// Whether no other process may write its indexes.
    pub(super) fn is_ours(&self) -> bool {
        self.log.is_some()
    }

    /// Makes the vectors that are missing of a session that is not long, and says of a long one how it gets them:
    /// nobody waits minutes for one question.
    pub(super) async fn catch_up_if_short(&mut self, meaning: &mut Meaning, output: &mut Output) {
        const SHORT: usize = 500;
        let turns = self.session.turns().len();
        if turns <= SHORT {
            let waiting = tokio::time::timeout(PATIENCE, self.catch_up(meaning, output)).await;
            if waiting.is_err() {
                meaning.abort();
                output.end_progress();
                output.warning(
                    "the embedder is slow; using keyword search where vectors are missing",
                );
            }
            return;
        }
        let name = self.session.name();
        let embedder = meaning.embedder().resolve().await;
        let kept = self.index.kept_exchanges();
        if self.is_ours() && matches!(embedder, Ok(Some(_))) && kept + SHORT < turns {
            output.notice(&format!(
                "{kept} of {} exchanges have vectors; `cogtrix memory reindex -s {name}` adds the rest",
                thousands(turns)
            ));
        }
    }

    /// Makes what is missing of the vectors, showing how far it is; tells whether all could be made.
    pub(super) async fn catch_up(
        &mut self,
        meaning: &mut Meaning,
        output: &mut Output,
    ) -> CaughtUp {
        /// Between one look at the progress and the next.
        const LOOK: Duration = Duration::from_millis(100);
        let name = self.session.name().to_string();
        meaning.end_rest();
        if matches!(meaning.embedder().resolve().await, Ok(None)) {
            return CaughtUp::Yes;
        }
        loop {
            let session = &self.session;
            let mut news =
                self.index
                    .embed(session, usize::MAX, || known_secrets(session), meaning);
            if !meaning.is_working() && news.is_none() {
                output.end_progress();
                return if meaning.is_resting() {
                    CaughtUp::No
                } else {
                    CaughtUp::Yes
                };
            }
            while meaning.is_working() {
                if let Some((done, wanted)) = meaning.running() {
                    output.progress(&format!("{name}: vectors {done} of {wanted}"));
                }
                if let Ok(told) = tokio::time::timeout(LOOK, meaning.done()).await {
                    news = told;
                }
            }
            if let Some(News::Without { why }) = news {
                output.end_progress();
                output.warning(&format!(
                    "could not create vectors: {why}; using keyword search only"
                ));
                return CaughtUp::No;
            }
        }
    }

    /// In words: how much of the session can be found.
    pub(super) fn standing(&self, meaning: &Meaning) -> String {
        let words = self.index.words().map_or(0, Words::len);
        let vectors = meaning.made().map_or_else(
            || "no vectors".to_owned(),
            |made| {
                let exchanges = count(self.index.kept_exchanges(), "exchange");
                format!("vectors for {exchanges} by {}", made.model)
            },
        );
        format!("{} by keyword, {vectors}", count(words, "message"))
    }
}
