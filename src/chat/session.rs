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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chat::{Compaction, Hybrid, Summary};

    fn message(n: u64, role: Role, text: &str) -> Message {
        Message::text(
            MessageId::numbered(n),
            role,
            text,
            Timestamp::from_unix(1_000_000 + i64::try_from(n).unwrap()),
        )
    }

    fn session() -> Session {
        Session::new("test".parse().unwrap())
    }

    fn start(session: &mut Session, text: &str) -> TurnId {
        let turn = session.next_turn();
        let input = Message::text(
            session.next_message_id(0),
            Role::User,
            text,
            Timestamp::from_unix(5),
        );
        session.apply(Record::TurnStarted {
            turn,
            input,
            mode: "code".into(),
            model: "m".into(),
        });
        turn
    }

    fn finish(session: &mut Session, turn: TurnId, text: &str) {
        let reply = Message::text(session.next_message_id(0), Role::Assistant, text, None);
        session.apply(Record::TurnFinished {
            turn,
            messages: vec![reply],
            outcome: Outcome::Answered,
            calibration: None,
        });
    }

    #[test]
    fn a_turn_begins_open_and_ends_with_its_outcome() {
        let mut session = session();
        let turn = start(&mut session, "Hello\n  world");
        assert!(session.unfinished().is_some());
        finish(&mut session, turn, "Hi");
        assert_eq!(session.unfinished(), None);
        assert_eq!(session.meta().title, "Hello world");
        assert_eq!(session.turns()[0].messages, 0..2);
        assert_eq!(session.next_message_id(0), MessageId::numbered(3));
    }

    #[test]
    fn a_withdrawn_turn_stays_in_history_and_leaves_the_view() {
        let mut session = session();
        let turn = start(&mut session, "one");
        finish(&mut session, turn, "1");
        session.apply(Record::TurnWithdrawn {
            turn,
            why: Withdrawal::Undone,
        });
        assert_eq!(session.live_turns().count(), 0);
        assert_eq!(session.messages().len(), 2);
        assert_eq!(session.next_turn(), TurnId(2));
    }

    #[test]
    fn foreign_messages_are_cut_into_turns() {
        let messages = vec![
            message(1, Role::Assistant, "Welcome"),
            message(9, Role::User, "a"),
            message(3, Role::Assistant, "b"),
            message(4, Role::User, "c"),
        ];
        let session = Session::restore(
            "x".parse().unwrap(),
            SessionMeta::default(),
            messages,
            |_| None,
        );
        let cut: Vec<_> = session
            .turns()
            .iter()
            .map(|t| (t.id.0, t.messages.clone(), t.outcome))
            .collect();
        assert_eq!(
            cut,
            [
                (0, 0..1, Some(Outcome::Answered)),
                (1, 1..3, Some(Outcome::Answered)),
                (2, 3..4, Some(Outcome::Interrupted)),
            ]
        );
        assert_eq!(session.next_message_id(0), MessageId::numbered(10));
    }

    #[test]
    fn messages_from_elsewhere_are_cut_as_a_file_of_them_would_be() {
        let (user, assistant) = (Role::User, Role::Assistant);
        for roles in [
            vec![],
            vec![user],
            vec![assistant, assistant, user],
            vec![user, user, assistant, assistant, user, assistant],
        ] {
            let message = |(n, role): (u64, &Role)| message(n, *role, "x");
            let messages: Vec<Message> = (1..).zip(&roles).map(message).collect();
            let restored = Session::restore(
                "test".parse().unwrap(),
                SessionMeta::default(),
                messages.clone(),
                |_| None,
            );
            for cut in 0..=messages.len() {
                let mut imported = session();
                imported.import(messages[..cut].to_vec());
                imported.import(messages[cut..].to_vec());
                assert_eq!(imported.messages(), restored.messages(), "{roles:?}");
                assert_eq!(
                    imported.turns(),
                    restored.turns(),
                    "{roles:?}, cut at {cut}"
                );
                assert_eq!(imported.next_message_id(0), restored.next_message_id(0));
            }
        }
    }

    #[test]
    fn an_import_goes_behind_what_is_there_and_an_older_one_does_not_turn_back_the_clock() {
        let mut session = session();
        let turn = start(&mut session, "own question");
        finish(&mut session, turn, "own answer");
        let before = session.meta().clone();
        let old = Message::text(
            MessageId::new("a"),
            Role::User,
            "old",
            Timestamp::from_unix(1),
        );
        session.import(vec![old]);
        assert_eq!(session.meta(), &before);
        assert_eq!(session.turns()[1].id, TurnId(2));
        assert_eq!(session.messages()[2].said(), "old");
    }

    /// A summary of the first messages.
    fn summary(upto: usize) -> Summary {
        let number = |n: usize| MessageId::numbered(n as u64);
        Summary {
            text: "so far".into(),
            from: 0,
            upto,
            covers: (number(1), number(upto)),
            at: Timestamp::from_unix(1).unwrap(),
            by: "m".into(),
        }
    }

    proptest! {
        #[test]
        fn a_fork_holds_the_turns_up_to_its_own_and_no_summary_of_later_ones(
            withdrawn in prop::collection::vec(any::<bool>(), 1..8),
            summaries in prop::collection::vec(1usize..8, 0..4),
            compactions in prop::collection::vec(1usize..8, 0..4),
            at in 1u32..9,
        ) {
            let mut whole = session();
            for is_withdrawn in &withdrawn {
                let turn = start(&mut whole, "q");
                finish(&mut whole, turn, "a");
                if *is_withdrawn {
                    let why = Withdrawal::Undone;
                    whole.apply(Record::TurnWithdrawn { turn, why });
                }
            }
            let turns = withdrawn.len();
            let summaries = summaries.into_iter().map(|n| summary(2 * n.min(turns)));
            let mut replaced: Vec<Summary> = summaries.collect();
            replaced.sort_by_key(|it| it.upto);
            let mut compaction = None;
            for n in compactions {
                let mut next = Compaction::blank("compact", Timestamp::from_unix(1).unwrap());
                (next.upto, next.made) = (2 * n.min(turns), 2 * turns);
                compaction = Some(next.replacing(compaction));
            }
            whole.apply(Record::HybridReplaced(Hybrid {
                summary: replaced.pop(),
                replaced,
                compaction,
                learned: 2 * turns,
                undone: Some(2 * turns),
                ..Hybrid::default()
            }));

            let name: SessionName = "fork".parse().unwrap();
            let now = whole.forked(name.clone(), None).unwrap();
            prop_assert_eq!(now.hybrid(), whole.hybrid());
            prop_assert_eq!((now.messages(), now.turns()), (whole.messages(), whole.turns()));
            let fork = whole.forked(name, Some(TurnId(at)));
            let cut = 2 * at as usize;
            prop_assert_eq!(fork.is_some(), cut <= 2 * turns);
            if let Some(fork) = fork {
                prop_assert_eq!(fork.messages(), &whole.messages()[..cut]);
                prop_assert_eq!(fork.turns().last().unwrap().withdrawn, None);
                prop_assert_eq!(fork.missing_messages(), 0);
                let hybrid = fork.hybrid();
                prop_assert!(hybrid.covered() <= cut && hybrid.learned <= cut);
                let mut kept = hybrid.replaced.iter().chain(&hybrid.summary);
                prop_assert!(cut == 2 * turns || kept.all(|it| it.upto <= cut - 2));
            }
        }
    }

    #[test]
    fn records_of_an_unknown_turn_change_nothing() {
        let mut session = session();
        session.apply(Record::MessageAdded {
            turn: TurnId(4),
            message: message(1, Role::Assistant, "x"),
        });
        session.apply(Record::TurnWithdrawn {
            turn: TurnId(4),
            why: Withdrawal::Undone,
        });
        assert!(session.is_empty());
    }

    #[test]
    fn a_boundary_stands_between_finished_turns_only() {
        let mut session = session();
        for _ in 0..2 {
            let turn = start(&mut session, "q");
            finish(&mut session, turn, "a");
        }
        start(&mut session, "still running");
        let found: Vec<usize> = (0..=7).map(|index| session.boundary(index)).collect();
        assert_eq!(found, [0, 0, 2, 2, 4, 4, 4, 4]);
    }

    #[test]
    fn what_is_missing_shows_in_the_numbers_of_the_ids() {
        assert_eq!(session().missing_messages(), 0);
        let turn = |messages: Vec<Message>| {
            Session::restore(
                "test".parse().unwrap(),
                SessionMeta::default(),
                messages,
                |_| None,
            )
        };
        let kept = vec![
            message(5, Role::User, "q"),
            message(6, Role::Assistant, "a"),
        ];
        assert_eq!(turn(kept).missing_messages(), 4);
        let whole = vec![
            message(1, Role::User, "q"),
            message(2, Role::Assistant, "a"),
        ];
        assert_eq!(turn(whole).missing_messages(), 0);
    }
}
