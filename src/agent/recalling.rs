//! What is looked up before a request: the one step of recall that may wait.

use super::Agent;
use crate::chat::Message;
use crate::memory::recall::Searching;

/// What was looked up for an input.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    /// Whether the index of words can be searched.
    words: bool,
    /// Messages whose vectors are near the input's.
    nearest: Vec<(usize, f32)>,
}

impl Agent {
    /// Begins to read what recall needs, so that the first turn need not wait for it.
    pub fn warm_up(&mut self) {
        if self.recalls()
            && let Some(shelf) = &mut self.shelf
        {
            shelf.begin();
        }
    }

    fn recalls(&self) -> bool {
        self.memory.mode().hybrid.vector_recall_k > 0
    }

    /// Looks up what the input may be about (C18). Total: what cannot be had is not there.
    pub(super) async fn look_up(&mut self, input: &Message) -> Lookup {
        if !self.recalls() || !self.memory.recall_settings().asks(&input.said()) {
            return Lookup::default();
        }
        let session = self.ledger.session();
        let Some(shelf) = &mut self.shelf else {
            return Lookup::default();
        };
        let words = shelf.words(session).await;
        Lookup {
            words: words.is_some(),
            nearest: Vec::new(),
        }
    }

    /// What memory searches for a request.
    pub(super) fn searching<'a>(&'a self, lookup: &'a Lookup) -> Option<Searching<'a>> {
        let words = self.shelf.as_ref()?.words_as_they_are()?;
        lookup.words.then_some(Searching {
            words,
            nearest: &lookup.nearest,
        })
    }
}
