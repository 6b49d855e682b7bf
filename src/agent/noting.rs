//! What outlives the session, within a turn: captured and read before the model is asked, noted when the turn is over.
//!
//! The files are worked on in a thread of their own: another process may hold them for a moment.

use std::sync::Arc;

use super::Agent;
use super::ending::{Ending, Ran};
use super::event::{Observer, TurnEvent, Warning};
use super::notebook::{Forgotten, Lost, NotForgotten, Notebook, Parts};
use crate::chat::{Message, Outcome, Role, SessionName, Tokens, TurnId};
use crate::memory::Kept;

impl Agent {
    /// The same with files that outlive the session.
    #[must_use]
    pub fn with_notebook(mut self, parts: Parts) -> Self {
        self.notebook = Some(Notebook::new(parts));
        self
    }

    /// What outlives the session; `None` where nothing does.
    pub fn notebook(&self) -> Option<&Arc<Parts>> {
        self.notebook.as_ref().map(Notebook::parts)
    }

    /// Takes back what was captured under a number.
    pub fn forget(&self, number: u64) -> Result<Forgotten, NotForgotten> {
        let parts = self.notebook().ok_or(NotForgotten::NoSuch { number })?;
        let (session, now) = (self.session().name(), self.clock.now());
        parts.captures().forget(number, session, now)
    }

    /// Writes down what a person said that is worth keeping (Q2).
    pub(super) async fn write_down(&mut self, words: Option<Message>, observe: &mut Observer<'_>) {
        let (Some(notebook), Some(words)) = (&self.notebook, words) else {
            return;
        };
        let parts = Arc::clone(notebook.parts());
        let (session, now) = (self.session().name().clone(), self.clock.now());
        let work = move || parts.capture(&session, &words, now);
        let Ok(taken) = tokio::task::spawn_blocking(work).await else {
            return;
        };
        if let Some(warning) = self.add_captured(&taken.receipts) {
            observe(TurnEvent::Warning(warning));
        }
        for receipt in taken.receipts {
            observe(TurnEvent::Captured(receipt));
        }
        self.tell_problems(taken.problems, observe);
    }

    /// Reads what a request is to have of the files.
    pub(super) async fn read_notes(&mut self, input: &Message, observe: &mut Observer<'_>) {
        let window = self.budget(self.provider.abilities().await).window();
        let Some(notebook) = &self.notebook else {
            return;
        };
        let parts = Arc::clone(notebook.parts());
        let session = self.session();
        let lost = Lost {
            said: input.said().into_owned(),
            shortened: notebook.shortened(session),
            window,
        };
        let (name, now) = (session.name().clone(), self.clock.now());
        let work = move || (parts.read(&name), parts.recover(&name, &lost, now));
        let Ok((read, (recovery, more))) = tokio::task::spawn_blocking(work).await else {
            return;
        };
        let related = self.kept.related.take();
        self.kept = Kept {
            related,
            recovery,
            ..read.kept
        };
        let problems = read.problems.into_iter().chain(more);
        self.tell_problems(problems.collect(), observe);
    }

    /// Notes a turn that is over (X5).
    pub(super) fn note_turn(&mut self, turn: TurnId, observe: &mut Observer<'_>) {
        // It was for this turn alone.
        let recovery = self.kept.recovery.take();
        let used = self.used();
        let session = self.ledger.session();
        let (Some(notebook), Some(turn)) = (
            &mut self.notebook,
            session.turns().iter().rev().find(|other| other.id == turn),
        ) else {
            return;
        };
        let ending = Ending {
            session,
            turn,
            now: self.clock.now(),
            used,
        };
        // A turn without a reply recovers again.
        let is_told = recovery.is_some() && turn.outcome == Some(Outcome::Answered);
        let put_away = is_told.then(|| notebook.recovered(session, ending.now));
        let Ran { records, failures } = notebook.end(&ending);
        for record in records {
            self.record(record, observe);
        }
        // What one hook could not write another cannot either: that is one message, and it names the file.
        let problems = failures.into_iter().map(|(_, why)| why);
        let problems = put_away.flatten().into_iter().chain(problems);
        self.tell_problems(problems.collect(), observe);
    }

    /// Puts what a compaction takes out of the request into the working buffer, where none is kept yet (Q25).
    pub(super) fn save_removed(&mut self, before: usize, observe: &mut Observer<'_>) {
        let session = self.ledger.session();
        let Some((notebook, shortened)) = self
            .notebook
            .as_ref()
            .zip(session.hybrid().compaction.as_ref())
        else {
            return;
        };
        let gone = before.max(shortened.head)..shortened.upto;
        let exchanges: Vec<(String, String)> = session
            .live_turns()
            .filter(|turn| gone.contains(&turn.messages.start))
            .map(|turn| {
                let messages = session.messages_of(turn);
                let replied = messages.iter().rev().find(|it| it.role == Role::Assistant);
                let said = |message: &Message| message.said().into_owned();
                (said(&messages[0]), replied.map(said).unwrap_or_default())
            })
            .collect();
        let problems = notebook
            .parts()
            .buffer(session.name(), &exchanges, shortened.at);
        self.tell_problems(problems, observe);
    }

    /// What belongs to the session goes with its name.
    pub(super) fn rename_notes(&mut self, before: &SessionName) {
        let name = self.session().name().clone();
        if let Some(notebook) = &mut self.notebook {
            let renamed = notebook.parts().workspace.rename_session(before, &name);
            if let Err(error) = renamed {
                notebook.tell_later(&error);
            }
        }
    }

    /// A session that begins anew begins without what was captured in it and without its buffer.
    pub(super) fn put_notes_away(&mut self) {
        let now = self.clock.now();
        let name = self.session().name().clone();
        if let Some(notebook) = &mut self.notebook {
            let notes = notebook.parts().workspace.session(&name);
            let failed = [
                notes.state().put_away(now).err(),
                notes.buffer().close(now).err(),
            ];
            for error in failed.into_iter().flatten() {
                notebook.tell_later(&error);
            }
        }
    }

    /// The share of the window that the last request filled.
    fn used(&self) -> f64 {
        let Some(last) = &self.last else {
            return 0.0;
        };
        let counted = last.usage.and_then(|usage| usage.prompt);
        let budget = last.plan.budget();
        let prompt = counted.unwrap_or_else(|| budget.calibration().grow(last.plan.cost()));
        Tokens(prompt.0).share_of(budget.window())
    }

    fn tell_problems(&mut self, problems: Vec<String>, observe: &mut Observer<'_>) {
        let Some(notebook) = &mut self.notebook else {
            return;
        };
        for why in notebook.news(problems) {
            observe(TurnEvent::Warning(Warning::NotNoted { why }));
        }
    }
}
