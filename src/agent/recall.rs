//! Recall, as far as it waits: what is looked up before a request, what is made in the background after it.

use super::event::Reach;
use super::{Agent, Running, Warning};
use crate::chat::Message;
use crate::context::ContextPlan;
use crate::context::stages::history;
use crate::embed::EmbedderChoice;
use crate::index::News;
use crate::index::vectors::Made;
use crate::memory::recall::{self, Found, Question, Searching};
use crate::memory::{Proof, known_secrets};

/// What was looked up for an input.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    words: Words,
    /// Messages whose vectors are near the input's.
    nearest: Vec<(usize, f32)>,
}

/// Whether the index of words can be searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Words {
    /// Nobody asked.
    #[default]
    Unasked,
    Ready,
    /// It could not be had in time.
    Missing,
}

/// What recall finds for a question that a person asks of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// Best first.
    pub found: Vec<Found>,
    /// They as a request would quote them, in the same order.
    pub quotes: Vec<String>,
    pub warning: Option<Warning>,
}

/// How far the vectors of a session are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vectors {
    pub made: Made,
    /// Exchanges of the session that have vectors.
    pub exchanges: usize,
    /// Of the texts that are being embedded: how many are done, and of how many.
    pub running: Option<(usize, usize)>,
}

impl Agent {
    /// Begins to read what recall needs, so that the first turn need not wait for it.
    pub fn warm_up(&mut self) {
        if self.recalls()
            && let Some(index) = &mut self.index
        {
            index.begin(self.ledger.session());
        }
    }

    fn recalls(&self) -> bool {
        self.memory.recall_k() > 0
    }

    /// What becomes of messages that are not sent.
    pub(super) fn reach(&self, lookup: &Lookup) -> Reach {
        let has_words = self.index.is_some() && lookup.words != Words::Missing;
        if self.recalls() && has_words {
            Reach::Recalled
        } else {
            Reach::OnDisk
        }
    }

    /// Looks up what the input may be about (C18). Total: what cannot be had is not there.
    pub(super) async fn look_up(&mut self, input: &Message) -> (Lookup, Option<Warning>) {
        let said = input.said();
        if !self.recalls() || !self.memory.settings().recall.asks(&said) {
            return (Lookup::default(), None);
        }
        self.look_up_words(&recall::asked(said.as_ref())).await
    }

    async fn look_up_words(&mut self, said: &str) -> (Lookup, Option<Warning>) {
        let session = self.ledger.session();
        let Some(index) = &mut self.index else {
            return (Lookup::default(), None);
        };
        let Some(found) = index.look_up(session, said).await else {
            let lookup = Lookup {
                words: Words::Missing,
                ..Lookup::default()
            };
            return (lookup, None);
        };
        let lookup = Lookup {
            words: Words::Ready,
            nearest: found.nearest,
        };
        (lookup, found.news.map(Warning::Recall))
    }

    /// What memory searches for a request.
    pub(super) fn searching<'a>(&'a self, lookup: &'a Lookup) -> Option<Searching<'a>> {
        let words = self.index.as_ref()?.session.words()?;
        (lookup.words == Words::Ready).then_some(Searching {
            words,
            nearest: &lookup.nearest,
        })
    }

    /// What recall would bring for a question: at most `k` exchanges of the whole session.
    pub async fn recall(&mut self, text: &str, k: usize) -> Recalled {
        let (lookup, warning) = self.look_up_words(text).await;
        let question = Question {
            text,
            k,
            before: usize::MAX,
            min_similarity: self.memory.settings().recall.min_similarity,
        };
        let Some(searching) = self.searching(&lookup) else {
            return Recalled {
                found: Vec::new(),
                quotes: Vec::new(),
                warning,
            };
        };
        let session = self.session();
        let found = recall::find(session, searching, question);
        let asked = searching.words.asked(text);
        let quotes = found.iter().map(|found| {
            let one = std::slice::from_ref(found);
            recall::quote(session, &asked, one)
        });
        Recalled {
            quotes: quotes.collect(),
            found,
            warning,
        }
    }

    /// Where every message is, as a plan sees it, and whether recall could bring those it does not hold.
    pub async fn proof(&mut self, plan: &ContextPlan) -> Proof {
        let recalls = self.recalls();
        let session = self.ledger.session();
        let words = match &mut self.index {
            Some(index) if recalls => index.session.catch_up(session).await,
            Some(_) | None => None,
        };
        self.memory.proof(session, plan, |message| {
            words.is_some_and(|words| words.brings(session, message))
        })
    }

    /// How far the vectors are, once they were needed.
    pub fn vectors(&self) -> Option<Vectors> {
        let index = self.index.as_ref()?;
        Some(Vectors {
            made: index.meaning.made()?,
            exchanges: index.session.kept_exchanges(),
            running: index.meaning.running(),
        })
    }

    /// Who computes vectors.
    pub fn embedder(&self) -> Option<&EmbedderChoice> {
        self.index.as_ref().map(|index| index.meaning.embedder())
    }

    /// Begins to make vectors of what has left the window (C17), then of what outlives the session.
    pub(super) fn begin_embedding(&mut self) -> Option<News> {
        if !self.recalls() {
            return None;
        }
        let session = self.ledger.session();
        let before = history::window_start(session, self.memory.mode().window);
        let index = self.index.as_mut()?;
        let known = || known_secrets(session);
        let news = index
            .session
            .embed(session, before, known, &mut index.meaning);
        index.embed_long_term();
        // In a chat; a script has no use for it.
        match (news, self.settings.jobs) {
            (None, Running::Background) => index.offer_embedder(),
            (news, _) => news,
        }
    }
}
