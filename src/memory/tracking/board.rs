//! The board of a mode: sections of entries, what each turn touched, and what a person took off.
//!
//! Unit: turns, numbered 1, 2, … as this board has read them. Invariants: numbers only grow within a section
//! and are never given twice; what a person set changes and leaves only by a person's hand; a section takes
//! nothing in beyond its cap.

use super::kind::{Again, Holds, Same};
use super::kind::{Key, key};
use super::note::{By, Finding, Kind, Note, Status};
use crate::chat::{Timestamp, TurnId, Unknown};
use crate::text::statement::FORGOTTEN;

/// One thing that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Given once within a section (C52).
    pub number: u32,
    pub note: Note,
    pub by: By,
    /// The turn in which it was last touched.
    pub turn: u64,
    pub at: Option<Timestamp>,
    /// What tells it apart from others of its kind; follows from the note.
    pub(super) key: Key,
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
    /// The turn in which any entry was last touched, and when that was (C58, C59).
    pub(super) touched: Touched,
    /// Keys of what a person took off; a heuristic does not bring it back.
    pub(super) dropped: Vec<Key>,
    pub(super) unknown: Unknown,
}

/// When a section was last touched; turn 0 is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    pub turn: u64,
    pub at: Option<Timestamp>,
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

/// Who notes something, and when.
#[derive(Clone, Copy, Debug)]
struct Moment {
    by: By,
    turn: u64,
    at: Option<Timestamp>,
}

/// Things a person took off that are remembered for each section at least.
const MIN_DROPPED: usize = 32;

impl Section {
    fn new(kind: Kind, cap: usize) -> Self {
        Self {
            kind,
            cap,
            entries: Vec::new(),
            last_number: 0,
            touched: Touched::default(),
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

    /// Oldest first, at most as many as the cap says; a cap that was lowered hides older ones.
    pub fn entries(&self) -> &[Entry] {
        &self.entries[self.hidden()..]
    }

    /// Entries that a lowered cap hides.
    pub fn hidden(&self) -> usize {
        self.entries.len().saturating_sub(self.cap)
    }

    /// When any entry was last touched.
    pub fn touched(&self) -> Touched {
        self.touched
    }

    /// Nothing noted yet, and the same cap.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.kind, self.cap)
    }

    fn note(&mut self, note: Note, moment: Moment) -> Noted {
        if self.cap == 0 {
            return Noted::Ignored(Why::Off);
        }
        let note = note.cleaned(self.kind.row().max_chars);
        // Where something was forgotten there is nothing to note.
        if note.text.is_empty() || note.text.contains(FORGOTTEN) {
            return Noted::Ignored(Why::Empty);
        }
        let dropped = Key::of_dropped(self.kind, &note);
        if moment.by == By::Person {
            self.dropped.retain(|key| *key != dropped);
        } else if self.dropped.contains(&dropped) {
            return Noted::Ignored(Why::ByHand);
        }
        let key = key(self.kind, &note);
        let is_same = |entry: &Entry| {
            let is_file = self.kind == Kind::File;
            entry.key == key || is_file && is_same_file(&entry.note.text, &note.text)
        };
        let noted = match self.entries.iter().position(is_same) {
            Some(index) => self.again(index, note, moment),
            None => self.add(key, note, moment),
        };
        if !matches!(noted, Noted::Ignored(_)) {
            self.touched = Touched {
                turn: moment.turn,
                at: moment.at.or(self.touched.at),
            };
        }
        noted
    }

    fn again(&mut self, index: usize, note: Note, moment: Moment) -> Noted {
        let is_hidden = index < self.hidden();
        let entry = &mut self.entries[index];
        let may_change = moment.by == By::Person || entry.by != By::Person;
        let replaces = self.kind.row().same == Same::Label && entry.note.text != note.text;
        if replaces && !may_change {
            return Noted::Ignored(Why::ByHand);
        }
        entry.turn = moment.turn;
        entry.at = moment.at.or(entry.at);
        if replaces {
            entry.note = note;
            entry.by = moment.by;
        } else if may_change {
            entry.note.take(note);
            entry.by = entry.by.max(moment.by);
        }
        let number = entry.number;
        if is_hidden || self.kind.row().again == Again::Newest {
            self.entries[index..].rotate_left(1);
        }
        Noted::Again(number)
    }

    fn add(&mut self, key: Key, note: Note, moment: Moment) -> Noted {
        while self.entries.len() >= self.cap {
            // What a person set leaves last, and only to what a person sets.
            let leaving = self.entries.iter().position(|entry| entry.by != By::Person);
            if leaving.is_none() && moment.by != By::Person {
                return Noted::Ignored(Why::ByHand);
            }
            self.entries.remove(leaving.unwrap_or(0));
        }
        self.last_number = self.last_number.saturating_add(1);
        self.entries.push(Entry {
            number: self.last_number,
            note,
            by: moment.by,
            turn: moment.turn,
            at: moment.at,
            key,
            unknown: Unknown::new(),
        });
        Noted::Added(self.last_number)
    }

    /// Takes an entry off for good.
    fn drop(&mut self, index: usize, turn: u64, at: Option<Timestamp>) -> Entry {
        let entry = self.entries.remove(index);
        self.dropped.push(Key::of_dropped(self.kind, &entry.note));
        let max = self.cap.max(MIN_DROPPED);
        let surplus = self.dropped.len().saturating_sub(max);
        self.dropped.drain(..surplus);
        self.touched = Touched { turn, at };
        entry
    }

    /// Forgets what only heuristics noted after a turn.
    fn rewind(&mut self, turn: u64) {
        self.entries
            .retain(|entry| entry.turn <= turn || entry.by == By::Person);
        if self.touched.turn > turn {
            self.touched = Touched::default();
        }
    }

    /// Gives what was noted again the number and the place it had.
    fn settle(&mut self, before: &Self, now: u64) {
        for entry in &mut self.entries {
            let known = before.entries.iter().find(|known| known.key == entry.key);
            entry.number = known.map_or(entry.number, |known| known.number);
            entry.turn = entry.turn.min(now);
        }
        self.entries
            .sort_by_key(|entry| match self.kind.row().again {
                Again::Newest => (entry.turn, entry.number),
                Again::Stays => (0, entry.number),
            });
        let newest = self.entries.iter().max_by_key(|entry| entry.turn);
        if let Some(newest) = newest.filter(|newest| newest.turn > self.touched.turn) {
            self.touched = Touched {
                turn: newest.turn,
                at: newest.at,
            };
        }
    }
}

/// Whether a text speaks of an error by the name that it begins with: `KeyError: 'id'`, "fixed the key error".
fn is_named(error: &str, text: &str) -> bool {
    let together = |text: &str| text.replace([' ', '_', '-'], "").to_lowercase();
    let name = error.split([':', ' ', '(', '[']).next().unwrap_or_default();
    let name = together(name.rsplit('.').next().unwrap_or_default());
    name.len() >= MIN_NAME && together(text).contains(&name)
}

/// Letters of an error's name by which it is told from a word: `error`, `panic`, `fatal` are none.
const MIN_NAME: usize = 8;

/// Whether one of two paths is the other from the root on: `/home/a/src/main.rs`, `src/main.rs`.
fn is_same_file(one: &str, other: &str) -> bool {
    let is_rooted = |path: &str| path.starts_with(['/', '~']);
    let is_end_of = |end: &str, whole: &str| {
        let before = whole.strip_suffix(end);
        !is_rooted(end)
            && end.contains('/')
            && before.is_some_and(|it| it.ends_with('/'))
            && is_rooted(whole)
    };
    is_end_of(one, other) || is_end_of(other, one)
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
                Holds::Most(max) => max,
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

    /// Whether nothing is noted.
    pub fn is_blank(&self) -> bool {
        self.sections
            .iter()
            .all(|section| section.entries.is_empty())
    }

    /// Keeps a note, as the turn's that runs or comes next.
    pub fn note(&mut self, finding: Finding, by: By, at: Option<Timestamp>) -> Noted {
        let moment = Moment {
            by,
            turn: self.turn(),
            at,
        };
        match (finding.kind, finding.note.status) {
            (Kind::Alternative, Some(Status::Rejected)) => self.overrule(&finding.note.text, by),
            (Kind::Error, Some(Status::Completed)) => {
                self.solve(&finding.note.text, by);
                return Noted::Ignored(Why::Empty);
            }
            _ => {}
        }
        self.section_mut(finding.kind)
            .map_or(Noted::Ignored(Why::Foreign), |section| {
                section.note(finding.note, moment)
            })
    }

    /// Marks earlier decisions for what is now rejected: they are kept and no longer sent.
    fn overrule(&mut self, rejected: &str, by: By) {
        let rejected = rejected.trim().to_lowercase();
        let Some(decisions) = self.section_mut(Kind::Decision) else {
            return;
        };
        for entry in &mut decisions.entries {
            let decided = entry.note.text.to_lowercase();
            let is_it = decided == rejected || decided.ends_with(&format!(" {rejected}"));
            if is_it && by >= entry.by && !rejected.is_empty() {
                entry.note.status = Some(Status::Rejected);
            }
        }
    }

    /// Takes off the errors of earlier turns that a text names, or all where it names none; the same can come again.
    fn solve(&mut self, solved: &str, by: By) {
        let now = self.turn();
        let Some(errors) = self.section_mut(Kind::Error) else {
            return;
        };
        let entries = &mut errors.entries;
        let is_any_named = entries.iter().any(|it| is_named(&it.note.text, solved));
        entries.retain(|it| {
            let is_solved = !is_any_named || is_named(&it.note.text, solved);
            it.turn >= now || it.by > by || !is_solved
        });
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
    pub fn drop(&mut self, kind: Kind, number: u32, at: Option<Timestamp>) -> Option<Entry> {
        let turn = self.turn();
        let section = self.section_mut(kind)?;
        let numbered = |entry: &Entry| entry.number == number;
        let index = section.entries.iter().position(numbered)?;
        Some(section.drop(index, turn, at))
    }

    /// Turns since a section was touched, as the next request counts them (C58).
    pub fn stale(&self, kind: Kind) -> u64 {
        let touched = self.section(kind).map_or(0, |section| section.touched.turn);
        self.turn().saturating_sub(touched)
    }

    /// The board as it was when it had read so many turns, as far as it can tell: the turns after that are
    /// to be observed again, and then [`Board::settle`] gives every note its old number.
    pub(crate) fn rewind(&mut self, turn_count: u64) {
        for section in &mut self.sections {
            section.rewind(turn_count);
        }
        self.turn_count = turn_count;
    }

    /// Returns the board with nothing noted and no turn read; what a person took off stays away.
    pub(crate) fn emptied(&self) -> Self {
        let sections = self.sections.iter().map(|section| Section {
            dropped: section.dropped.clone(),
            ..section.emptied()
        });
        Self {
            sections: sections.collect(),
            turn_count: 0,
            read: None,
            unknown: self.unknown.clone(),
        }
    }

    /// Notes again what a person set by hand on an earlier board before its turn that comes next here.
    pub(crate) fn set_again(&mut self, before: &Self) {
        for section in &before.sections {
            let mut by_hand: Vec<&Entry> = section.entries.iter().collect();
            by_hand.retain(|entry| entry.by == By::Person && entry.turn == self.turn());
            by_hand.sort_by_key(|entry| entry.number);
            for entry in by_hand {
                self.note(entry.note.clone().of(section.kind), By::Person, entry.at);
            }
        }
    }

    /// Ends what [`Board::rewind`] began; `before` is the board as it was before that.
    pub(crate) fn settle(&mut self, before: &Self) {
        let now = self.turn();
        for section in &mut self.sections {
            if let Some(before) = before.section(section.kind) {
                section.settle(before, now);
            }
        }
    }
}

#[cfg(test)]
mod tests;
