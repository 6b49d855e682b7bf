//! What outlives the session, within a turn: captured and read before the model is asked, noted when the turn is over.
//!
//! The files are worked on in a thread of their own: another process may hold them for a moment.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Agent;
use super::end_hooks::{Ending, Ran};
use super::event::{TurnContext, TurnEvent, Warning};
use super::long_term::{LongTermMemory, Lost, Parts, Taken, Unwritten};
use crate::chat::{Message, Outcome, Part, Role, SessionName, Tokens, TurnId};
use crate::hint::advised;
use crate::memory::{Backend, LongTermContext};
use crate::text::is_off_record;
use crate::text::secrets::Known;

/// Characters of a message that are searched for what is worth keeping, and a few more.
const CAPTURED: usize = 24_000;

impl Agent {
    /// The same with files that outlive the session.
    #[must_use]
    pub fn with_long_term_memory(mut self, parts: Parts) -> Self {
        self.long_term = Some(LongTermMemory::new(parts));
        self
    }

    /// What outlives the session; `None` where nothing does.
    pub fn long_term(&self) -> Option<&Arc<Parts>> {
        self.long_term.as_ref().map(LongTermMemory::parts)
    }

    /// Gives up what the disk refused to keep of messages that are forgotten or taken back.
    pub(super) fn drop_unwritten(&mut self, is_dropped: impl Fn(&Unwritten) -> bool) {
        if let Some(long_term) = &mut self.long_term {
            long_term.unwritten.retain(|it| !is_dropped(it));
        }
    }

    /// Tries once more what the disk refused: the session is left, or the process ends.
    pub(super) fn write_down_rest(&mut self) {
        let Some(long_term) = &mut self.long_term else {
            return;
        };
        let unwritten = std::mem::take(&mut long_term.unwritten);
        let parts = Arc::clone(long_term.parts());
        let taken = written_again(&parts, unwritten);
        long_term.refused(taken.unwritten);
        long_term.later.extend(taken.problems);
        if let Some(warning) = self.add_captured(&taken.receipts) {
            tracing::warn!(%warning, "captured");
        }
    }

    /// Writes down what a person said that is worth keeping (Q2). Where the person does not wait for it, it is written
    /// all the same, and told with the next turn.
    pub(super) async fn write_down(
        &mut self,
        words: Option<Message>,
        context: &mut TurnContext<'_>,
    ) {
        let (session, now) = (self.session().name().clone(), self.clock.now());
        let missed = self.said_before();
        let known = self.ledger.known().clone();
        let messages = self.session().messages();
        let turn = self.session().turns().last();
        let turn = turn.map_or(TurnId(1), |turn| turn.id);
        let replies = messages
            .iter()
            .rev()
            .filter(|it| it.role == Role::Assistant);
        let before = replies
            .map(|it| it.said().into_owned())
            .next()
            .unwrap_or_default();
        let Some(long_term) = &mut self.long_term else {
            return;
        };
        if let Some(words) = words {
            let parts = Arc::clone(long_term.parts());
            let unwritten = std::mem::take(&mut long_term.unwritten);
            let work = move || {
                if parts.memories
                    && let Err(error) = parts.workspace.make_memories()
                {
                    tracing::warn!("could not make the folder of the model's files: {error}");
                }
                let again = written_again(&parts, unwritten);
                let missed = missed.map(|missed| {
                    parts.capture_missed(&session, &without_secrets(&known, missed), now)
                });
                let masked = parts.note_masked(&session, &words, turn, known.classes(), now);
                let words = without_secrets(&known, words);
                let taken = parts.capture(&session, &words, &before, now);
                again.and(missed.unwrap_or_default()).and(taken).and(masked)
            };
            long_term.capturing.push(tokio::task::spawn_blocking(work));
        }
        while let Some(taken) = self.next_captured(context.cancel).await {
            self.tell_captured(taken, context);
        }
    }

    /// What was said last before this process took the session up, if its turn was cut short: the process may have been
    /// killed before anything was written down. One that failed came to its end, and what it heard was seen to then.
    fn said_before(&mut self) -> Option<Message> {
        let session = self.ledger.session();
        if !self.long_term.as_mut()?.takes_up(session.name()) {
            return None;
        }
        let before = session.turns().iter().rev().nth(1)?;
        let is_cut_short = matches!(before.outcome, None | Some(Outcome::Interrupted));
        if !is_cut_short || before.withdrawn.is_some() {
            return None;
        }
        session.messages_of(before).first().cloned()
    }

    /// What became of the oldest capture that is being written; `None` where there is none, or nobody waits.
    async fn next_captured(&mut self, cancel: &CancellationToken) -> Option<Taken> {
        let capturing = &mut self.long_term.as_mut()?.capturing;
        let taken = tokio::select! {
            biased;
            taken = capturing.first_mut()? => taken,
            () = cancel.cancelled() => return None,
        };
        capturing.remove(0);
        Some(taken.unwrap_or_default())
    }

    fn tell_captured(&mut self, taken: Taken, context: &mut TurnContext<'_>) {
        context.warn_all(self.add_captured(&taken.receipts));
        for receipt in taken.receipts {
            context.emit(TurnEvent::Captured(receipt));
        }
        if let Some(long_term) = &mut self.long_term {
            long_term.refused(taken.unwritten);
        }
        self.tell_problems(taken.problems, context);
    }

    /// Reads what a request is to have of the files.
    pub(super) async fn read_notes(&mut self, input: &Message, context: &mut TurnContext<'_>) {
        let Some(long_term) = &self.long_term else {
            return;
        };
        let parts = Arc::clone(long_term.parts());
        let name = self.session().name().clone();
        let work = move || parts.read(&name);
        let Ok(read) = tokio::task::spawn_blocking(work).await else {
            return;
        };
        let related = self.kept.related.take();
        self.kept = LongTermContext {
            related,
            ..read.kept
        };
        self.tell_problems(read.problems, context);
        self.read_recovery(input, context).await;
    }

    /// Reads what tells where the work stood, where a compaction or the input gives a reason (Q29).
    pub(super) async fn read_recovery(&mut self, input: &Message, context: &mut TurnContext<'_>) {
        let Some(long_term) = &self.long_term else {
            return;
        };
        let parts = Arc::clone(long_term.parts());
        let session = self.session();
        let said = input.said().into_owned();
        let shortened = long_term.shortened(session);
        if !parts.may_recover(&said, shortened) {
            return;
        }
        let lost = Lost {
            said,
            shortened,
            window: self.budget(self.provider.abilities().await).window(),
        };
        let (name, now) = (session.name().clone(), self.clock.now());
        let work = move || parts.recover(&name, &lost, now);
        let Ok((recovery, problems)) = tokio::task::spawn_blocking(work).await else {
            return;
        };
        self.kept.recovery = recovery;
        self.tell_problems(problems, context);
    }

    /// Notes a turn that is over (X5).
    pub(super) async fn note_turn(&mut self, turn: TurnId, context: &mut TurnContext<'_>) {
        // It was for this turn alone.
        let has_recovery = self.kept.recovery.take().is_some() && self.warned.has_recovered();
        let used = self.used();
        let session = self.ledger.session();
        let (Some(long_term), Some(turn)) = (
            &mut self.long_term,
            session.turns().iter().rev().find(|other| other.id == turn),
        ) else {
            return;
        };
        // A turn without a reply, or without room for it, recovers again.
        let is_told = has_recovery && turn.outcome == Some(Outcome::Answered);
        if is_told {
            long_term.recovered(session);
        }
        let most = long_term.parts().newest_read();
        let ending = Ending::of(
            session,
            self.ledger.known(),
            turn,
            most,
            self.clock.now(),
            used,
        );
        let work = long_term.at_end(ending, is_told);
        let Ok((put_away, Ran { records, failures })) = tokio::task::spawn_blocking(work).await
        else {
            return;
        };
        for record in records {
            self.record(record, context);
        }
        // What one hook could not write another cannot either: that is one message, and it names the file.
        let problems = failures.into_iter().map(|(_, why)| why);
        let problems = put_away.into_iter().chain(problems);
        self.tell_problems(problems.collect(), context);
    }

    /// Puts what a compaction takes out of the request into the working buffer, where none is kept yet (Q25).
    pub(super) async fn save_removed(&mut self, before: usize, context: &mut TurnContext<'_>) {
        let session = self.ledger.session();
        let Some((long_term, shortened)) = self
            .long_term
            .as_ref()
            .zip(session.hybrid().compaction.as_ref())
        else {
            return;
        };
        let gone = before.max(shortened.head)..shortened.upto;
        let exchanges: Vec<(String, String)> = session
            .live_turns()
            .filter(|turn| gone.contains(&turn.messages.start))
            .filter(|turn| !is_off_record(&session.messages_of(turn)[0].said()))
            .map(|turn| {
                let messages = session.messages_of(turn);
                let replied = messages.iter().rev().find(|it| it.role == Role::Assistant);
                let said = |message: &Message| message.said().into_owned();
                (said(&messages[0]), replied.map(said).unwrap_or_default())
            })
            .collect();
        let parts = Arc::clone(long_term.parts());
        let (name, at) = (session.name().clone(), shortened.at);
        let known = self.ledger.known().clone();
        let work = move || parts.buffer(&name, &known, &exchanges, at);
        let problems = tokio::task::spawn_blocking(work).await;
        self.tell_problems(problems.unwrap_or_default(), context);
    }

    /// What belongs to the session goes with its name.
    pub(super) async fn rename_notes(&mut self, before: SessionName) {
        let (name, now) = (self.session().name().clone(), self.clock.now());
        let Some(long_term) = &mut self.long_term else {
            return;
        };
        long_term.renamed(&before, &name);
        let parts = Arc::clone(long_term.parts());
        let lasts = parts.settings.backend != Backend::None;
        let work = move || parts.captures().rename(&before, &name, lasts, now);
        let problems = tokio::task::spawn_blocking(work).await;
        long_term.later.extend(problems.unwrap_or_default());
    }

    /// A session that begins anew begins without what was captured in it and without its buffer.
    pub(super) fn put_notes_away(&mut self) {
        let now = self.clock.now();
        let name = self.session().name().clone();
        if let Some(long_term) = &mut self.long_term {
            long_term.leave_session();
            let notes = long_term.parts().workspace.session(&name);
            let failed = [
                notes.state().put_away(now).err(),
                notes.buffer().close(now).err(),
            ];
            let failed = failed.into_iter().flatten();
            long_term.later.extend(failed.map(|error| advised(&error)));
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

    fn tell_problems(&mut self, problems: Vec<String>, context: &mut TurnContext<'_>) {
        // A folder that refuses the session refuses its notes: one thing to say.
        let is_told = |it: &LongTermMemory| self.has_warned_of(it.parts().workspace.root());
        if self.long_term.as_ref().is_some_and(is_told) {
            return;
        }
        let Some(long_term) = &mut self.long_term else {
            return;
        };
        for why in long_term.news(problems) {
            context.warn(Warning::NotNoted { why });
        }
    }
}

fn written_again(parts: &Parts, unwritten: Vec<Unwritten>) -> Taken {
    let again = unwritten.into_iter().map(|it| parts.write_captures(it));
    again.fold(Taken::default(), Taken::and)
}

/// A message of a person without the secrets that were said.
fn without_secrets(known: &Known, message: Message) -> Message {
    let said = message.said().into_owned();
    // More of it is not searched for what is worth keeping.
    let masked = known.masked_beginning(&said, CAPTURED);
    if masked == said {
        return message;
    }
    Message {
        parts: vec![Part::Text(masked.into_owned())],
        ..message
    }
}
