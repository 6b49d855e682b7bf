//! The board of a mode: sections of entries, what each turn touched, and what a person took off.
//!
//! Unit: turns, numbered 1, 2, … as this board has read them. Invariants: a section holds at most its cap,
//! oldest entry first; numbers only grow and are never given twice; what a person set changes only by a
//! person's hand.

use super::kind::{Again, Holds, Same};
use super::note::{By, Finding, Kind, Note};
use crate::chat::{Timestamp, TurnId, Unknown};

/// One thing that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Given once within a section (C52).
    pub number: u32,
    pub note: Note,
    pub by: By,
    /// The turn in which it was first noted.
    pub since: u64,
    /// The turn in which it was last touched.
    pub turn: u64,
    pub at: Option<Timestamp>,
    pub(super) unknown: Unknown,
}

/// The entries of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    kind: Kind,
    /// Entries kept at most; 0 switches the section off.
    cap: usize,
    pub(super) entries: Vec<Entry>,
    /// The number that was given last.
    pub(super) last_number: u32,
    /// The turn in which any entry was last touched (C58).
    pub(super) touched: u64,
    /// Keys of what a person took off; a heuristic does not bring it back.
    pub(super) dropped: Vec<String>,
    pub(super) unknown: Unknown,
}

/// What became of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// Under this number.
    Added(u32),
    /// It was there already; what it says more is added.
    Again(u32),
    /// Not kept.
    Ignored(Why),
}

/// Why a note is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Nothing in it.
    Empty,
    /// The section's cap is 0.
    Off,
    /// A person set what is there, or took this off.
    ByHand,
    /// This mode keeps no such notes.
    Foreign,
}

/// Things a person took off that are remembered for each section.
const MOST_DROPPED: usize = 32;

impl Section {
    fn new(kind: Kind, cap: usize) -> Self {
        Self {
            kind,
            cap,
            entries: Vec::new(),
            last_number: 0,
            touched: 0,
            dropped: Vec::new(),
            unknown: Unknown::new(),
        }
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn cap(&self) -> usize {
        self.cap
    }

    /// Oldest first, at most as many as the cap says; a cap that was lowered hides older ones until one
    /// has to leave.
    pub fn entries(&self) -> &[Entry] {
        let hidden = self.entries.len().saturating_sub(self.cap);
        &self.entries[hidden..]
    }

    /// The turn in which any entry was last touched.
    pub fn touched(&self) -> u64 {
        self.touched
    }

    fn same(&self, note: &Note) -> Option<usize> {
        let key = key(self.kind, note);
        self.entries
            .iter()
            .position(|entry| key == self::key(self.kind, &entry.note))
    }

    fn note(&mut self, note: Note, by: By, turn: u64, at: Option<Timestamp>) -> Noted {
        if self.cap == 0 {
            return Noted::Ignored(Why::Off);
        }
        let note = note.cleaned(self.kind.row().most_chars);
        if note.text.is_empty() {
            return Noted::Ignored(Why::Empty);
        }
        let key = key(self.kind, &note);
        if by == By::Person {
            self.dropped.retain(|dropped| *dropped != key);
        } else if self.dropped.contains(&key) {
            return Noted::Ignored(Why::ByHand);
        }
        let noted = match self.same(&note) {
            Some(place) => self.again(place, note, by, turn, at),
            None => self.add(note, by, turn, at),
        };
        if !matches!(noted, Noted::Ignored(_)) {
            self.touched = turn;
        }
        noted
    }

    fn again(
        &mut self,
        place: usize,
        note: Note,
        by: By,
        turn: u64,
        at: Option<Timestamp>,
    ) -> Noted {
        let entry = &mut self.entries[place];
        let may_change = by == By::Person || entry.by != By::Person;
        if !may_change && entry.note.text != note.text && self.kind.row().same == Same::Label {
            return Noted::Ignored(Why::ByHand);
        }
        entry.turn = turn;
        entry.at = at.or(entry.at);
        if may_change {
            entry.note.take(note);
            entry.by = entry.by.max(by);
        }
        let number = entry.number;
        if self.kind.row().again == Again::Newest {
            self.entries[place..].rotate_left(1);
        }
        Noted::Again(number)
    }

    fn add(&mut self, note: Note, by: By, turn: u64, at: Option<Timestamp>) -> Noted {
        while self.entries.len() >= self.cap {
            // What a person set leaves last.
            let leaving = self.entries.iter().position(|entry| entry.by != By::Person);
            if self.kind.row().holds == Holds::One && leaving.is_none() && by != By::Person {
                return Noted::Ignored(Why::ByHand);
            }
            self.entries.remove(leaving.unwrap_or_default());
        }
        self.last_number = self.last_number.saturating_add(1);
        self.entries.push(Entry {
            number: self.last_number,
            note,
            by,
            since: turn,
            turn,
            at,
            unknown: Unknown::new(),
        });
        Noted::Added(self.last_number)
    }

    /// Takes an entry off for good.
    fn drop(&mut self, place: usize, turn: u64) -> Entry {
        let entry = self.entries.remove(place);
        self.dropped.push(key(self.kind, &entry.note));
        let surplus = self.dropped.len().saturating_sub(MOST_DROPPED);
        self.dropped.drain(..surplus);
        self.touched = turn;
        entry
    }

    /// Nothing noted yet, and the same cap.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.kind, self.cap)
    }
}

/// What tells notes of a kind apart.
fn key(kind: Kind, note: &Note) -> String {
    let text = match kind.row().same {
        Same::Text | Same::Message => &note.text,
        Same::Label => note.label.as_ref().unwrap_or(&note.text),
    };
    let is_edge = |c: char| c.is_whitespace() || matches!(c, '.' | '!' | '`' | '"' | '\'' | ':');
    let text = text.trim_matches(is_edge).to_lowercase();
    match kind.row().same {
        Same::Message => text.chars().filter(|c| !c.is_ascii_digit()).collect(),
        // On some systems two files may differ in case alone.
        Same::Text if kind == Kind::File => note.text.clone(),
        Same::Text | Same::Label => text,
    }
}

/// All sections of a mode.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    pub(super) sections: Vec<Section>,
    /// Turns read (C59).
    pub(super) turn_count: u64,
    /// The last turn of the session that was read.
    pub(super) read: Option<TurnId>,
    /// Fields this version does not know; kept on rewrite (C73).
    pub(super) unknown: Unknown,
}

impl Board {
    /// An empty board with these sections; a number replaces the cap of the table.
    pub fn new(sections: &[(Kind, Option<usize>)]) -> Self {
        let sections = sections.iter().map(|&(kind, cap)| {
            let usual = match kind.row().holds {
                Holds::One => 1,
                Holds::Most(most) => most,
            };
            Section::new(kind, cap.unwrap_or(usual))
        });
        Self {
            sections: sections.collect(),
            turn_count: 0,
            read: None,
            unknown: Unknown::new(),
        }
    }

    /// Turns read so far.
    pub fn turn_count(&self) -> u64 {
        self.turn_count
    }

    /// The turn that runs or comes next; what is noted now belongs to it.
    pub fn turn(&self) -> u64 {
        self.turn_count.saturating_add(1)
    }

    /// The last turn of the session that was read.
    pub fn read(&self) -> Option<TurnId> {
        self.read
    }

    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    pub fn section(&self, kind: Kind) -> Option<&Section> {
        self.sections.iter().find(|section| section.kind == kind)
    }

    fn section_mut(&mut self, kind: Kind) -> Option<&mut Section> {
        self.sections
            .iter_mut()
            .find(|section| section.kind == kind)
    }

    /// Keeps a note, as the turn's that runs or comes next.
    pub fn note(&mut self, finding: Finding, by: By, at: Option<Timestamp>) -> Noted {
        let turn = self.turn();
        self.section_mut(finding.kind)
            .map_or(Noted::Ignored(Why::Foreign), |section| {
                section.note(finding.note, by, turn, at)
            })
    }

    /// Takes in what was found in a turn (C3); the turn counts whatever was found.
    pub fn observe(&mut self, turn: TurnId, findings: Vec<Finding>, at: Option<Timestamp>) {
        for finding in findings {
            self.note(finding, By::Heuristic, at);
        }
        self.turn_count = self.turn();
        self.read = Some(turn);
    }

    /// Takes an entry off; heuristics will not bring it back.
    pub fn drop(&mut self, kind: Kind, number: u32) -> Option<Entry> {
        let turn = self.turn();
        let section = self.section_mut(kind)?;
        let place = section
            .entries
            .iter()
            .position(|entry| entry.number == number)?;
        Some(section.drop(place, turn))
    }

    /// Turns since a section was touched, as the next request counts them (C58).
    pub fn stale(&self, kind: Kind) -> u64 {
        let touched = self.section(kind).map_or(0, |section| section.touched);
        self.turn().saturating_sub(touched)
    }

    /// Forgets what heuristics noted for the first time in a turn, if it is the one that was read last.
    pub(crate) fn forget(&mut self, turn: TurnId) {
        if self.read != Some(turn) {
            return;
        }
        let last = self.turn_count;
        for section in &mut self.sections {
            section
                .entries
                .retain(|entry| entry.since != last || entry.by != By::Heuristic);
        }
        self.turn_count = last.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn board() -> Board {
        let kinds = [
            (Kind::Task, None),
            (Kind::File, Some(3)),
            (Kind::Error, Some(2)),
            (Kind::Constraint, None),
            (Kind::Decision, Some(2)),
            (Kind::Change, Some(0)),
        ];
        Board::new(&kinds)
    }

    fn note(board: &mut Board, kind: Kind, text: &str, by: By) -> Noted {
        let (label, text) = match text.split_once(": ") {
            Some((label, text)) if kind == Kind::Constraint => (Some(label.to_owned()), text),
            _ => (None, text),
        };
        let note = Note {
            label,
            ..Note::new(text)
        };
        board.note(note.of(kind), by, None)
    }

    fn texts(board: &Board, kind: Kind) -> Vec<&str> {
        let section = board.section(kind).unwrap();
        let entries = section.entries().iter();
        entries.map(|entry| entry.note.text.as_str()).collect()
    }

    #[test]
    fn the_least_recently_mentioned_leaves_and_a_mention_refreshes() {
        let mut board = board();
        for file in ["a.rs", "b.rs", "c.rs", "a.rs", "d.rs"] {
            note(&mut board, Kind::File, file, By::Heuristic);
        }
        assert_eq!(texts(&board, Kind::File), ["c.rs", "a.rs", "d.rs"]);
    }

    #[test]
    fn the_same_error_in_another_run_is_the_same_error() {
        let mut board = board();
        for error in ["index 5 of 3", "no such file", "Index 12 of 9"] {
            note(&mut board, Kind::Error, error, By::Heuristic);
        }
        assert_eq!(
            texts(&board, Kind::Error),
            ["no such file", "Index 12 of 9"]
        );
    }

    #[test]
    fn numbers_go_on_when_the_oldest_has_left() {
        let mut board = board();
        let noted: Vec<Noted> = ["x", "y", "z"]
            .map(|text| note(&mut board, Kind::Decision, text, By::Heuristic))
            .into();
        assert_eq!(noted, [1, 2, 3].map(Noted::Added));
        assert_eq!(texts(&board, Kind::Decision), ["y", "z"]);
    }

    #[test]
    fn the_same_label_replaces() {
        let mut board = board();
        for text in ["Budget: $50k", "Team: 3 people", "budget: $60k"] {
            note(&mut board, Kind::Constraint, text, By::Heuristic);
        }
        assert_eq!(texts(&board, Kind::Constraint), ["$60k", "3 people"]);
    }

    #[test]
    fn what_a_person_set_no_heuristic_changes_or_brings_back() {
        let mut board = board();
        note(&mut board, Kind::Task, "Ship it", By::Person);
        note(&mut board, Kind::Constraint, "Budget: $50k", By::Person);
        for (kind, text) in [(Kind::Task, "Fix x"), (Kind::Constraint, "Budget: $1")] {
            let noted = note(&mut board, kind, text, By::Heuristic);
            assert_eq!(noted, Noted::Ignored(Why::ByHand), "{text}");
        }
        assert_eq!(texts(&board, Kind::Task), ["Ship it"]);
        assert_eq!(texts(&board, Kind::Constraint), ["$50k"]);

        note(&mut board, Kind::File, "wrong.rs", By::Heuristic);
        board.drop(Kind::File, 1).unwrap();
        let again = note(&mut board, Kind::File, "wrong.rs", By::Heuristic);
        assert_eq!(again, Noted::Ignored(Why::ByHand));
        let by_hand = note(&mut board, Kind::File, "wrong.rs", By::Person);
        assert_eq!(by_hand, Noted::Added(2));
    }

    #[test]
    fn entries_set_by_hand_leave_last() {
        let mut board = board();
        note(&mut board, Kind::File, "mine.rs", By::Person);
        for file in ["a.rs", "b.rs", "c.rs"] {
            note(&mut board, Kind::File, file, By::Heuristic);
        }
        assert_eq!(texts(&board, Kind::File), ["mine.rs", "b.rs", "c.rs"]);
    }

    #[test]
    fn a_cap_of_nothing_switches_a_section_off() {
        let mut board = board();
        let noted = note(&mut board, Kind::Change, "a.rs", By::Person);
        assert_eq!(noted, Noted::Ignored(Why::Off));
        let foreign = note(&mut board, Kind::Topic, "cats", By::Person);
        assert_eq!(foreign, Noted::Ignored(Why::Foreign));
    }

    #[test]
    fn a_turn_that_is_taken_back_takes_along_what_it_brought() {
        let mut board = board();
        board.observe(TurnId(1), vec![Note::new("a.rs").of(Kind::File)], None);
        let found = ["a.rs", "b.rs"].map(|file| Note::new(file).of(Kind::File));
        board.observe(TurnId(2), found.into(), None);
        board.forget(TurnId(1));
        assert_eq!(texts(&board, Kind::File), ["a.rs", "b.rs"], "not the last");
        board.forget(TurnId(2));
        assert_eq!(texts(&board, Kind::File), ["a.rs"]);
        assert_eq!(board.turn_count(), 1);
    }

    proptest! {
        #[test]
        fn no_section_outgrows_its_cap_and_no_number_is_given_twice(
            notes in prop::collection::vec((0..6_usize, "[a-f: ]{0,6}", 0..3_u8, any::<bool>()), 0..80),
        ) {
            let kinds = [Kind::Task, Kind::File, Kind::Error, Kind::Constraint, Kind::Decision, Kind::Change];
            let mut board = board();
            let mut given = std::collections::HashSet::new();
            for (kind, text, by, turn_ends) in notes {
                let kind = kinds[kind];
                let by = [By::Heuristic, By::Tool, By::Person][usize::from(by)];
                if let Noted::Added(number) = note(&mut board, kind, &text, by) {
                    prop_assert!(given.insert((kind, number)));
                }
                if turn_ends {
                    board.observe(TurnId(1), Vec::new(), None);
                }
                for section in board.sections() {
                    prop_assert!(section.entries.len() <= section.cap());
                    prop_assert!(section.touched() <= board.turn());
                }
            }
            let mut again = self::board();
            prop_assert!(again.restore(board.to_value()).is_empty());
            prop_assert_eq!(again, board);
        }
    }
}
