//! Forgetting in the open session: messages are masked, boards, summaries, scratchpad and pins lose the sentence, and
//! the index is made again from what the messages say now.

use std::collections::BTreeSet;

use super::{Agent, Warning};
use crate::chat::{MessageId, Record};
use crate::index::vectors::Key;
use crate::memory::forgetting::{forgotten_in, redact, said_besides};
use crate::store::StoreError;
use crate::text::statement::Statements;

/// What was taken out of the open session.
#[derive(Debug, Default)]
pub struct ForgottenHere {
    /// Where it was taken out.
    pub from: Vec<&'static str>,
    /// Messages of which something was forgotten.
    pub messages: Vec<MessageId>,
    pub warning: Option<Warning>,
}

impl Agent {
    /// Forgets in the open session: from the next request on the sentences read `[forgotten]`. What another process
    /// forgot of it comes first: the record of both is one.
    pub fn forget_here(&mut self, statements: &Statements) -> ForgottenHere {
        let warning = self.take_in_forgotten();
        let mut here = self.strike_here(statements);
        here.warning = here.warning.or(warning);
        here
    }

    fn strike_here(&mut self, statements: &Statements) -> ForgottenHere {
        // What runs in the background was begun with the words.
        self.jobs.abort();
        self.drop_unwritten(|_| true);
        let struck = redact(self.session(), statements);
        let messages = struck.places.iter().map(|(id, _)| id.clone()).collect();
        let Some(begin) = struck.begin else {
            return ForgottenHere::default();
        };
        let session = self.ledger.session();
        let said: Option<Vec<Key>> = self
            .index
            .as_mut()
            .map(|index| index.session.keys(session).to_vec());
        self.counted.forget();
        self.summaries = std::sync::Arc::default();
        let mut refused = self.ledger.record(begin).err();
        if let Some((index, said)) = self.index.as_mut().zip(said) {
            index.let_go_of_messages(self.ledger.session(), &said);
        }
        for record in struck.records {
            self.ledger.apply(record);
        }
        refused = self.ledger.save().err().or(refused);
        let warning = refused.and_then(|refused| self.warned.of_refusal(&refused));
        self.memory.restore(self.ledger.session());
        self.kept = crate::memory::LongTermContext::default();
        ForgottenHere {
            from: struck.from,
            messages,
            warning,
        }
    }

    /// Strikes what was forgotten of these messages from history, too, and folds the journal: the bytes are gone from
    /// disk.
    pub fn redact_here(&mut self, which: &[MessageId]) -> Result<(), StoreError> {
        self.ledger.redact(which)
    }

    /// Takes in what another process forgot of this session.
    pub(super) fn take_in_forgotten(&mut self) -> Option<Warning> {
        let places = self.ledger.forgotten_elsewhere()?;
        let session = self.ledger.session();
        let mut statements = forgotten_in(session, &places);
        statements.without_names_of(&said_besides(session, &statements));
        let mut all = session.forgotten().clone();
        all.join(&places);
        self.ledger.apply(Record::ForgottenReplaced(all));
        self.strike_here(&statements).warning
    }

    /// Lets go of the vectors of what was said in a session that is gone.
    pub fn let_go_of_vectors(&mut self, said: Vec<Key>) {
        if let Some(index) = &mut self.index {
            index.let_go(&said.into_iter().collect());
        }
    }

    /// Takes entries, notes and documents that are gone out of the index.
    pub async fn let_go_of_texts(&mut self, texts: BTreeSet<Key>) {
        let now = self.clock.now();
        self.share_entries();
        if let Some(index) = &mut self.index {
            index.let_go_of_texts(texts, now).await;
        }
    }

    /// The keys of the notes, entries and documents as they are now.
    pub async fn keys_of_texts(&mut self) -> BTreeSet<Key> {
        let now = self.clock.now();
        self.share_entries();
        match &mut self.index {
            Some(index) => {
                index.refresh(now).await;
                index.keys().into_iter().collect()
            }
            None => BTreeSet::new(),
        }
    }
}
