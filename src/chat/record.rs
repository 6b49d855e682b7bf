//! What can happen to a session. The store keeps these in order; a session is their fold.

use std::slice;

use serde_json::Value;

use super::{
    Calibration, Message, MessageId, Outcome, Pins, Redactions, Scratchpad, Spent, Timestamp,
    TurnId, Unknown,
};
use crate::declare::named;

named! {
    /// Why a turn is no longer part of what is sent.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Withdrawal {
        /// `/undo`.
        Undone = "undone",
        /// `/retry`: the turn after it asks the same again.
        Retried = "retried",
    }
}

/// What the text of a compaction is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// It stands for the messages.
    #[default]
    Summary,
    /// It only says that they are not there (O10, Q27, X31): the next summary is made of them, too.
    Notice,
}

/// A text that stands for a part of a session in what is sent (O9, O16). History itself stays whole.
///
/// Invariant: `head <= upto`; where they are equal it stands for nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Compaction {
    /// What made it: `compact` for the command.
    pub strategy: String,
    pub form: Form,
    /// Messages `0..head` are sent as they were said, in front of the text.
    pub head: usize,
    /// The text stands for messages `head..upto` of the session. Messages, not turns: indices into history.
    pub upto: usize,
    /// First and last of these messages; `None` in files of earlier versions.
    pub covers: Option<(MessageId, MessageId)>,
    /// How many of these were of turns that count, as they were counted when it was made; `None` in files of earlier
    /// versions.
    pub gone: Option<usize>,
    /// The oldest so many of these messages are not in the text yet: a long backlog is summarised from its newest part
    /// on.
    pub untold: usize,
    /// How many messages the session had when it was planned.
    pub made: usize,
    /// Results of tools in messages before this one are sent with their beginning only.
    pub condensed: usize,
    pub text: String,
    pub at: Timestamp,
    /// What it replaced; `/compact undo` goes back to it.
    pub previous: Option<Box<Self>>,
}

impl Compaction {
    /// How many replaced ones are kept, one inside the other.
    pub const MAX_PREVIOUS: usize = 20;

    /// A compaction without a text: it stands for nothing, and condenses nothing.
    pub fn blank(strategy: &str, at: Timestamp) -> Self {
        Self {
            strategy: strategy.to_owned(),
            form: Form::Summary,
            head: 0,
            upto: 0,
            covers: None,
            gone: None,
            untold: 0,
            made: 0,
            condensed: 0,
            text: String::new(),
            at,
            previous: None,
        }
    }

    /// The same in the place of another, which `/compact undo` goes back to.
    #[must_use]
    pub fn replacing(mut self, previous: Option<Self>) -> Self {
        self.previous = previous.map(Box::new);
        let mut last = &mut self;
        for _ in 0..Self::MAX_PREVIOUS {
            match last.previous {
                None => return self,
                Some(ref mut previous) => last = previous,
            }
        }
        last.previous = None;
        self
    }

    /// How many messages its text stands for: no walk through the session, since each request tells it.
    pub fn gone(&self) -> usize {
        self.gone.unwrap_or(self.upto.saturating_sub(self.head))
    }

    /// The first message that its text tells of.
    pub fn told_from(&self) -> usize {
        self.upto.min(self.head + self.untold)
    }

    /// Whether its text stands for a message, or says that it is not there.
    pub fn is_blank(&self) -> bool {
        self.upto <= self.head
    }
}

/// A summary that grows with the session: it stands for messages that have left the window (C12, C26).
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub text: String,
    /// The text stands for messages `from..upto` of the session; a compaction may stand for those before.
    pub from: usize,
    pub upto: usize,
    /// First and last of these messages.
    pub covers: (MessageId, MessageId),
    pub at: Timestamp,
    /// The model that wrote it.
    pub by: String,
}

/// What the hybrid layer knows of a session: the content of `{session}_hybrid.json`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hybrid {
    pub summary: Option<Summary>,
    /// Summaries that were replaced, oldest first, at most [`Hybrid::MAX_REPLACED`].
    pub replaced: Vec<Summary>,
    /// Summaries in a row that could not be had (C15).
    pub failures: u32,
    pub compaction: Option<Compaction>,
    /// Messages there were when a compaction was undone, as long as no other was made.
    pub undone: Option<usize>,
    /// Messages that a second reader has read for what lasts.
    pub learned: usize,
    pub unknown: Unknown,
}

impl Hybrid {
    pub const MAX_REPLACED: usize = 12;

    /// Messages `0..covered` are stood for by a compaction, a summary, or both.
    pub fn covered(&self) -> usize {
        let compacted = self.compaction.as_ref().map_or(0, |it| it.upto);
        compacted.max(self.summary.as_ref().map_or(0, |it| it.upto))
    }

    /// The summary where it stands for more than a compaction does.
    pub fn running(&self) -> Option<&Summary> {
        let compacted = self.compaction.as_ref().map_or(0, |it| it.upto);
        self.summary
            .as_ref()
            .filter(|summary| summary.upto > compacted)
    }

    /// Returns what stands for a session that is cut to so many messages, of which those from `newest` on are sent as
    /// they were said: what covers more is left out, and what it had replaced takes its place.
    #[must_use]
    pub fn before(&self, newest: usize, messages: usize) -> Self {
        let mut compaction = self.compaction.clone();
        while let Some(too_long) = compaction.take_if(|it| it.upto > messages) {
            compaction = too_long.previous.map(|previous| *previous);
        }
        let mut next = compaction.as_mut();
        while let Some(it) = next {
            it.made = it.made.min(messages);
            it.condensed = it.condensed.min(messages);
            next = it.previous.as_deref_mut();
        }
        let compacted = compaction.as_ref().map_or(0, |it| it.upto);
        let mut replaced = self.replaced.clone();
        replaced.extend(self.summary.clone());
        replaced.retain(|it| it.upto <= newest && it.from <= compacted);
        Self {
            summary: replaced.pop(),
            replaced,
            failures: 0,
            compaction,
            undone: self.undone.filter(|undone| *undone <= messages),
            learned: self.learned.min(messages),
            unknown: self.unknown.clone(),
        }
    }

    fn visit_texts(&mut self, visit: &mut TextVisitor<'_>) {
        let Self {
            summary,
            replaced,
            failures: _,
            learned: _,
            compaction,
            undone: _,
            unknown: _,
        } = self;
        for summary in summary.iter_mut().chain(replaced) {
            visit("", &mut summary.text);
        }
        let mut next = compaction.as_mut();
        while let Some(compaction) = next {
            visit("", &mut compaction.text);
            next = compaction.previous.as_deref_mut();
        }
    }
}

/// Takes a text and the name that it is kept under; most have none.
pub(super) type TextVisitor<'v> = dyn FnMut(&str, &mut String) + 'v;

fn visit_strings(value: &mut Value, visit: &mut TextVisitor<'_>) {
    match value {
        Value::String(text) => visit("", text),
        Value::Array(values) => values.iter_mut().for_each(|it| visit_strings(it, visit)),
        Value::Object(values) => values.values_mut().for_each(|it| visit_strings(it, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The state of every memory mode, keyed by its name; what a value holds is the mode's own affair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModeStates(pub Unknown);

/// One event in the life of a session.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a handful a turn, each moved once: nothing is gained by a box"
)]
pub enum Record {
    /// Durable before any model is asked (C77).
    TurnStarted {
        turn: TurnId,
        input: Message,
        mode: String,
        model: String,
    },
    /// A message of a running turn that must survive a kill before the turn ends (tool work).
    MessageAdded {
        turn: TurnId,
        message: Message,
    },
    /// What has arrived of a reply since the last of these: a reply that is there whole takes their place.
    ReplyArrived {
        turn: TurnId,
        text: String,
    },
    /// However it ended: `messages` are the rest of the turn.
    TurnFinished {
        turn: TurnId,
        messages: Vec<Message>,
        outcome: Outcome,
        calibration: Option<Calibration>,
    },
    TurnWithdrawn {
        turn: TurnId,
        why: Withdrawal,
    },
    ModeChanged {
        mode: String,
    },
    ModelChanged {
        model: String,
    },
    /// What requests to a model took since the last of these.
    Spent {
        model: String,
        spent: Spent,
    },
    /// Replaces `{session}_hybrid.json` whole.
    HybridReplaced(Hybrid),
    /// Replaces `{session}_mode_state.json` whole.
    ModeStatesReplaced(ModeStates),
    /// Replaces `{session}_scratchpad.json` whole.
    ScratchpadReplaced(Scratchpad),
    /// Replaces `{session}_pins.json` whole.
    PinsReplaced(Pins),
    /// Replaces `{session}_forgotten.json` whole.
    ForgottenReplaced(Redactions),
}

impl Record {
    /// Returns the messages that it adds to history.
    pub fn messages(&self) -> &[Message] {
        match self {
            Self::TurnStarted { input: message, .. } | Self::MessageAdded { message, .. } => {
                slice::from_ref(message)
            }
            Self::TurnFinished { messages, .. } => messages,
            Self::ReplyArrived { .. }
            | Self::TurnWithdrawn { .. }
            | Self::ModeChanged { .. }
            | Self::ModelChanged { .. }
            | Self::Spent { .. }
            | Self::HybridReplaced(_)
            | Self::ModeStatesReplaced(_)
            | Self::ScratchpadReplaced(_)
            | Self::PinsReplaced(_)
            | Self::ForgottenReplaced(_) => &[],
        }
    }

    /// Visits every text that is kept beside history.
    pub fn visit_side_texts(&mut self, visit: &mut TextVisitor<'_>) {
        match self {
            Self::HybridReplaced(hybrid) => hybrid.visit_texts(visit),
            Self::ModeStatesReplaced(states) => {
                let states = states.0.values_mut();
                states.for_each(|state| visit_strings(state, visit));
            }
            Self::ScratchpadReplaced(scratchpad) => scratchpad.visit_texts(visit),
            Self::PinsReplaced(pins) => pins.visit_texts(visit),
            Self::TurnStarted { .. }
            | Self::MessageAdded { .. }
            | Self::ReplyArrived { .. }
            | Self::TurnFinished { .. }
            | Self::TurnWithdrawn { .. }
            | Self::ModeChanged { .. }
            | Self::ModelChanged { .. }
            | Self::Spent { .. }
            | Self::ForgottenReplaced(_) => {}
        }
    }
}
