//! A session: the fold of its records. [`Session::apply`] is the only way to change one, but for messages that
//! were said elsewhere: [`Session::import`] joins them.

use std::collections::BTreeMap;

use super::{
    Calibration, Hybrid, Message, MessageId, ModeStates, Outcome, Pins, Record, Redactions, Role,
    Scratchpad, SessionName, Spending, Timestamp, Turn, TurnId, Unknown, Withdrawal,
};

/// Facts about a session beside its messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionMeta {
    /// The first words of the person, at most 100 characters (O21).
    pub title: String,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    /// The mode and model of the last turn; a hint on resume, never a setting (C63).
    pub mode: Option<String>,
    pub model: Option<String>,
    pub calibration: Calibration,
    /// What its requests took, in all runs.
    pub spent: Spending,
    pub unknown: Unknown,
}

/// A conversation, whole.
///
/// Invariant: `turns` tile `messages` in order; only the last may be running. `messages` are without what was
/// forgotten.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    name: SessionName,
    meta: SessionMeta,
    messages: Vec<Message>,
    turns: Vec<Turn>,
    hybrid: Hybrid,
    mode_states: ModeStates,
    scratchpad: Scratchpad,
    pins: Pins,
    forgotten: Redactions,
    /// Messages of which something was forgotten, as they were said.
    said: BTreeMap<usize, Message>,
    /// Of the reply that the running turn waits for, as far as the log holds it.
    arrived: String,
    next_message: u64,
}

impl Session {
    const TITLE_CHARS: usize = 100;

    pub fn new(name: SessionName) -> Self {
        Self::restore(name, SessionMeta::default(), Vec::new(), |_| None)
    }

    /// A session from the messages of a file. Turns are cut at the user's messages; `mark` tells what a
    /// file knows of the turn that begins at a message: how it ended, and whether it was taken back.
    /// Without a mark a turn with a reply counts as answered, one without as interrupted.
    pub fn restore(
        name: SessionName,
        meta: SessionMeta,
        messages: Vec<Message>,
        mark: impl Fn(&MessageId) -> Option<(Outcome, Option<Withdrawal>)>,
    ) -> Self {
        let highest = messages
            .iter()
            .filter_map(|message| message.id.number())
            .max()
            .unwrap_or(0);
        let next_message = highest.max(messages.len() as u64) + 1;
        let mut starts: Vec<usize> = (0..messages.len())
            .filter(|&i| messages[i].role == Role::User)
            .collect();
        let first_id = if starts.first() == Some(&0) || messages.is_empty() {
            1
        } else {
            starts.insert(0, 0);
            0
        };
        let ends = starts.iter().skip(1).copied().chain([messages.len()]);
        let turns = starts
            .iter()
            .zip(ends)
            .zip(first_id..)
            .map(|((&start, end), id)| {
                let replied = messages[start..end]
                    .last()
                    .is_some_and(|last| last.role != Role::User);
                let derived = (
                    if replied {
                        Outcome::Answered
                    } else {
                        Outcome::Interrupted
                    },
                    None,
                );
                let (outcome, withdrawn) = mark(&messages[start].id).unwrap_or(derived);
                Turn {
                    id: TurnId(id),
                    messages: start..end,
                    outcome: Some(outcome),
                    withdrawn,
                }
            });
        let turns = turns.collect();
        Self {
            name,
            meta,
            messages,
            turns,
            hybrid: Hybrid::default(),
            mode_states: ModeStates::default(),
            scratchpad: Scratchpad::default(),
            pins: Pins::default(),
            forgotten: Redactions::default(),
            said: BTreeMap::new(),
            arrived: String::new(),
            next_message,
        }
    }

    /// Applies one record. Records that speak of a turn this session does not have are ignored: a
    /// journal may have lost its head to damage, and the rest still counts.
    pub fn apply(&mut self, record: Record) {
        match record {
            Record::TurnStarted {
                turn,
                input,
                mode,
                model,
            } => self.start(turn, input, mode, model),
            Record::MessageAdded { turn, message } => self.add(turn, message),
            Record::ReplyArrived { turn, text } => {
                if self.unfinished().is_some_and(|open| open.id == turn) {
                    self.arrived.push_str(&text);
                }
            }
            Record::TurnFinished {
                turn,
                messages,
                outcome,
                calibration,
            } => {
                self.arrived.clear();
                for message in messages {
                    self.add(turn, message);
                }
                if let Some(open) = self.turn_mut(turn) {
                    open.outcome = Some(outcome);
                }
                if let Some(calibration) = calibration {
                    self.meta.calibration = calibration;
                }
            }
            Record::TurnWithdrawn { turn, why } => {
                if let Some(turn) = self.turn_mut(turn) {
                    turn.withdrawn = Some(why);
                }
            }
            Record::ModeChanged { mode } => self.meta.mode = Some(mode),
            Record::ModelChanged { model } => self.change_model(model),
            Record::Spent { model, spent } => self.meta.spent.add(&model, spent),
            Record::HybridReplaced(hybrid) => self.hybrid = hybrid,
            Record::ModeStatesReplaced(states) => self.mode_states = states,
            Record::ScratchpadReplaced(scratchpad) => self.scratchpad = scratchpad,
            Record::PinsReplaced(pins) => self.pins = pins,
            Record::ForgottenReplaced(forgotten) => self.forget(forgotten),
        }
    }

    /// Masks the messages anew.
    fn forget(&mut self, forgotten: Redactions) {
        for (index, message) in std::mem::take(&mut self.said) {
            self.messages[index] = message;
        }
        self.forgotten = forgotten;
        if !self.forgotten.is_empty() {
            (0..self.messages.len()).for_each(|index| self.mask(index));
        }
    }

    fn mask(&mut self, index: usize) {
        if let Some(masked) = self.forgotten.masked(&self.messages[index]) {
            let said = std::mem::replace(&mut self.messages[index], masked);
            self.said.insert(index, said);
        }
    }

    /// Joins messages that were said elsewhere, at the end and in their order. Turns are cut as
    /// [`Session::restore`] cuts them; what comes before the first message of a user belongs to the last turn.
    /// Not while a turn runs.
    pub fn import(&mut self, messages: Vec<Message>) {
        let newest = messages.iter().filter_map(|message| message.at).max();
        let updated_at = self.meta.updated_at.max(newest);
        for message in messages {
            self.join(message);
        }
        self.meta.updated_at = updated_at;
    }

    fn join(&mut self, message: Message) {
        let said_by_user = message.role == Role::User;
        if said_by_user && self.meta.title.is_empty() {
            self.meta.title = Self::title_of(&message.said());
        }
        self.meta.created_at = self.meta.created_at.or(message.at);
        let at = self.messages.len();
        let outcome = if said_by_user {
            Outcome::Interrupted
        } else {
            Outcome::Answered
        };
        let unanswered = self.messages.last().map(|last| last.role) == Some(Role::User);
        match self.turns.last_mut() {
            Some(last) if !said_by_user && unanswered => last.outcome = Some(outcome),
            Some(_) if !said_by_user => {}
            Some(_) | None => self.turns.push(Turn {
                id: if said_by_user {
                    self.next_turn()
                } else {
                    TurnId(0)
                },
                messages: at..at,
                outcome: Some(outcome),
                withdrawn: None,
            }),
        }
        if let Some(last) = self.turns.last().map(|turn| turn.id) {
            self.add(last, message);
        }
    }

    fn start(&mut self, turn: TurnId, input: Message, mode: String, model: String) {
        if self.meta.title.is_empty() {
            self.meta.title = Self::title_of(&input.said());
        }
        self.meta.created_at = self.meta.created_at.or(input.at);
        self.meta.mode = Some(mode);
        self.change_model(model);
        let at = self.messages.len();
        self.turns.push(Turn {
            id: turn,
            messages: at..at,
            outcome: None,
            withdrawn: None,
        });
        self.add(turn, input);
    }

    /// What was learnt of one model's tokens says nothing of another's.
    fn change_model(&mut self, model: String) {
        if self.meta.model.as_ref() != Some(&model) {
            self.meta.calibration = Calibration::default();
        }
        self.meta.model = Some(model);
    }

    /// Returns a copy under another name: whole, or as it was when a turn had ended; `None` where there is no such
    /// turn. What the modes had noted is still that of the whole session, and so are pins and scratchpad.
    pub fn forked(&self, name: SessionName, at: Option<TurnId>) -> Option<Self> {
        let mut fork = self.clone();
        fork.name = name;
        // It was paid for once.
        fork.meta.spent = Spending::default();
        fork.turns
            .retain(|turn| turn.outcome.is_some() && at.is_none_or(|at| turn.id <= at));
        if let Some(at) = at {
            let last = fork.turns.last_mut().filter(|last| last.id == at)?;
            // It was taken back later, if at all.
            last.withdrawn = None;
        }
        let messages = fork.turns.last().map_or(0, |turn| turn.messages.end);
        if messages < self.messages.len() {
            fork.messages.truncate(messages);
            fork.said.retain(|index, _| *index < messages);
            fork.arrived.clear();
            let newest = fork.turns.last().map_or(0, |turn| turn.messages.start);
            fork.hybrid = self.hybrid.before(newest, messages);
            fork.meta.updated_at = fork.messages.iter().rev().find_map(|message| message.at);
            let numbers = fork
                .messages
                .iter()
                .filter_map(|message| message.id.number());
            fork.next_message = numbers.max().unwrap_or(0).max(messages as u64) + 1;
        }
        Some(fork)
    }

    /// Messages only ever join the last turn: turns tile the list.
    fn add(&mut self, turn: TurnId, message: Message) {
        let Some(last) = self.turns.last_mut().filter(|last| last.id == turn) else {
            return;
        };
        self.arrived.clear();
        self.meta.updated_at = message.at.or(self.meta.updated_at);
        self.next_message = self
            .next_message
            .max(message.id.number().map_or(0, |n| n + 1));
        self.messages.push(message);
        last.messages.end = self.messages.len();
        if !self.forgotten.is_empty() {
            self.mask(self.messages.len() - 1);
        }
        self.next_message = self.next_message.max(self.messages.len() as u64 + 1);
    }

    fn turn_mut(&mut self, id: TurnId) -> Option<&mut Turn> {
        let place = self.turns.binary_search_by_key(&id, |turn| turn.id).ok()?;
        Some(&mut self.turns[place])
    }

    /// The title that a first message makes (O21).
    pub fn title_of(text: &str) -> String {
        let mut title = String::new();
        for word in text.split_whitespace() {
            if title.len() > Self::TITLE_CHARS * 4 {
                break;
            }
            if !title.is_empty() {
                title.push(' ');
            }
            title.push_str(word);
        }
        if title.chars().nth(Self::TITLE_CHARS).is_none() {
            return title;
        }
        let cut: String = title.chars().take(Self::TITLE_CHARS - 1).collect();
        cut + "…"
    }

    pub fn name(&self) -> &SessionName {
        &self.name
    }

    /// Marks the session as used at this time.
    pub fn touch(&mut self, now: Timestamp) {
        self.meta.updated_at = Some(now);
    }

    pub fn rename(&mut self, name: SessionName) {
        self.name = name;
    }

    pub fn meta(&self) -> &SessionMeta {
        &self.meta
    }

    /// Every message ever said here, withdrawn turns included, without what was forgotten.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Returns the record that would write the same side file as it is now; `None` for a record of history.
    pub fn present(&self, record: &Record) -> Option<Record> {
        Some(match record {
            Record::HybridReplaced(_) => Record::HybridReplaced(self.hybrid.clone()),
            Record::ModeStatesReplaced(_) => Record::ModeStatesReplaced(self.mode_states.clone()),
            Record::ScratchpadReplaced(_) => Record::ScratchpadReplaced(self.scratchpad.clone()),
            Record::PinsReplaced(_) => Record::PinsReplaced(self.pins.clone()),
            _ => return None,
        })
    }

    pub fn hybrid(&self) -> &Hybrid {
        &self.hybrid
    }

    pub fn mode_states(&self) -> &ModeStates {
        &self.mode_states
    }

    pub fn scratchpad(&self) -> &Scratchpad {
        &self.scratchpad
    }

    pub fn pins(&self) -> &Pins {
        &self.pins
    }

    /// What of its messages was forgotten.
    pub fn forgotten(&self) -> &Redactions {
        &self.forgotten
    }

    /// A message as it was said, for history alone.
    pub fn as_said(&self, index: usize) -> &Message {
        self.said.get(&index).unwrap_or(&self.messages[index])
    }

    /// The same session with what was forgotten struck from its history, too: of these messages, or of all.
    #[must_use]
    pub fn redacted(mut self, which: impl Fn(&MessageId) -> bool) -> Self {
        let first = self.said.get(&0).filter(|first| which(&first.id));
        // Older titles end without the sign that they were cut.
        let begins = |title: &str| {
            title
                .chars()
                .take(Self::TITLE_CHARS - 1)
                .collect::<String>()
        };
        let is_titled =
            first.is_some_and(|it| begins(&self.meta.title) == begins(&Self::title_of(&it.said())));
        if is_titled {
            self.meta.title = Self::title_of(&self.messages[0].said());
        }
        self.said.retain(|_, message| !which(&message.id));
        self.forgotten.drop_messages(which);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns when a turn was asked, where that is known.
    pub fn begun(&self, turn: TurnId) -> Option<Timestamp> {
        let turn = self.turns.iter().find(|known| known.id == turn)?;
        self.messages_of(turn).first()?.at
    }

    pub fn messages_of(&self, turn: &Turn) -> &[Message] {
        &self.messages[turn.messages.clone()]
    }

    /// Messages of the turn that runs, its input first; none between turns.
    pub fn running(&self) -> &[Message] {
        self.unfinished().map_or(&[], |turn| self.messages_of(turn))
    }

    /// Turns that are sent: neither undone nor replaced by a retry. Newest last.
    pub fn live_turns(&self) -> impl DoubleEndedIterator<Item = &Turn> {
        self.turns.iter().filter(|turn| turn.withdrawn.is_none())
    }

    /// Counts the messages of those turns.
    pub fn live_messages(&self) -> usize {
        self.live_turns().map(|turn| turn.messages.len()).sum()
    }

    /// The id of the turn that the next input begins.
    pub fn next_turn(&self) -> TurnId {
        TurnId(self.turns.last().map_or(1, |turn| turn.id.0 + 1))
    }

    /// An id that no message of this session has yet; `ahead` counts ids taken but not yet applied.
    pub fn next_message_id(&self, ahead: u64) -> MessageId {
        MessageId::numbered(self.next_message + ahead)
    }

    /// The last boundary between finished turns at or before the message at `index`.
    pub fn boundary(&self, index: usize) -> usize {
        let index = index.min(self.messages.len());
        let before = self
            .turns
            .partition_point(|turn| turn.messages.start < index);
        match before.checked_sub(1).and_then(|last| self.turns.get(last)) {
            Some(turn) if turn.outcome.is_none() || turn.messages.end > index => {
                turn.messages.start
            }
            Some(_) | None => index,
        }
    }

    /// How many messages this session once had and has no more, as far as the numbers in their ids tell.
    pub fn missing_messages(&self) -> usize {
        let given = usize::try_from(self.next_message.saturating_sub(1)).unwrap_or(usize::MAX);
        given.saturating_sub(self.messages.len())
    }

    /// What the log holds of a reply that was cut off by the end of a process.
    pub fn arrived(&self) -> &str {
        &self.arrived
    }

    /// The turn that was cut off by the end of a process, if the last one was.
    pub fn unfinished(&self) -> Option<&Turn> {
        self.turns.last().filter(|turn| turn.outcome.is_none())
    }
}

#[cfg(test)]
mod tests;
