//! A board as it is kept in `{session}_mode_state.json`, under its mode's name (C73):
//! ```text
//! {"turn_count": 12, "read": 14, "sections": {
//!    "files": {"touched_turn": 12, "touched_at": "2026-02-14T15:23:05Z", "last_number": 8, "entries": [
//!       {"number": 8, "text": "src/auth.py", "by": "heuristic", "turn": 12}, …]}, …}, …}
//! ```
//! What this version does not know is kept where it stood; what it cannot read is moved to `unread` and
//! told, so that nothing is lost and nothing keeps the rest from being read.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::board::{Board, Entry, Section, Touched};
use super::kind::{Key, key};
use super::note::{By, Kind, Note};
use crate::chat::{Timestamp, TurnId, Unknown};

const TURN_COUNT: &str = "turn_count";
const READ: &str = "read";
const SECTIONS: &str = "sections";
const UNREAD: &str = "unread";

/// Entries of one section that are read; a file may hold anything.
const MAX_ENTRIES: usize = 1_000;

#[derive(Serialize, Deserialize)]
struct KeptEntry {
    number: u32,
    #[serde(flatten)]
    note: Note,
    by: By,
    turn: u64,
    #[serde(flatten)]
    unknown: Unknown,
}

impl Board {
    /// The board as a value to be kept; sections in which nothing ever stood are left out.
    pub(crate) fn to_value(&self) -> Value {
        let mut sections = match self.unknown.get(SECTIONS) {
            Some(Value::Object(others)) => others.clone(),
            _ => Map::new(),
        };
        for section in &self.sections {
            if section.last_number > 0 || !section.unknown.is_empty() {
                sections.insert(section.kind().row().section.to_owned(), of_section(section));
            }
        }
        let mut fields = self.unknown.clone();
        fields.insert(TURN_COUNT.to_owned(), self.turn_count.into());
        if let Some(read) = self.read {
            fields.insert(READ.to_owned(), read.0.into());
        }
        if !sections.is_empty() {
            fields.insert(SECTIONS.to_owned(), sections.into());
        }
        Value::Object(fields)
    }

    /// Takes up a kept value in place of all that stands here; tells what could not be read, by its place.
    pub(crate) fn restore(&mut self, value: Value) -> Vec<String> {
        let mut unread = Unread::default();
        let mut fields = match value {
            Value::Object(fields) => fields,
            Value::Null => Map::new(),
            other => {
                unread.keep("state", other);
                Map::new()
            }
        };
        if let Some(Value::Object(earlier)) = fields.remove(UNREAD) {
            unread.values = earlier;
        }
        let mut field = |name: &str| Some((fields.remove(name)?, name.to_owned()));
        let turn_count = field(TURN_COUNT).and_then(|it| read(it, &mut unread));
        self.turn_count = turn_count.unwrap_or(0);
        self.read = field(READ).and_then(|it| read(it, &mut unread)).map(TurnId);
        let sections = field(SECTIONS).and_then(|it| read(it, &mut unread));
        let mut sections: Map<String, Value> = sections.unwrap_or_default();
        for section in &mut self.sections {
            let name = section.kind().row().section;
            *section = section.emptied();
            match sections.remove(name) {
                Some(Value::Object(kept)) => fill(section, kept, &mut unread),
                Some(other) => unread.keep(name, other),
                None => {}
            }
        }
        if !sections.is_empty() {
            // Sections of a newer version.
            fields.insert(SECTIONS.to_owned(), Value::Object(sections));
        }
        if !unread.values.is_empty() {
            fields.insert(UNREAD.to_owned(), Value::Object(unread.values));
        }
        self.unknown = fields;
        unread.places
    }
}

/// What cannot be read, kept under its place.
#[derive(Default)]
struct Unread {
    places: Vec<String>,
    values: Map<String, Value>,
}

impl Unread {
    fn keep(&mut self, place: &str, value: Value) {
        self.places.push(place.to_owned());
        let free = (1..).map(|n| match n {
            1 => place.to_owned(),
            n => format!("{place} ({n})"),
        });
        let name = free
            .into_iter()
            .find(|name| !self.values.contains_key(name));
        self.values.insert(name.unwrap_or_default(), value);
    }
}

fn fill(section: &mut Section, mut kept: Map<String, Value>, unread: &mut Unread) {
    let row = section.kind().row();
    let mut field = |name: &str| {
        let value = kept.remove(name)?;
        Some((value, format!("{}.{name}", row.section)))
    };
    let turn = field("touched_turn").and_then(|it| read(it, unread));
    section.touched = Touched {
        turn: turn.unwrap_or(0),
        at: field("touched_at").and_then(|it| time(it, unread)),
    };
    section.last_number = field("last_number")
        .and_then(|it| read(it, unread))
        .unwrap_or(0);
    let dropped: Option<Vec<String>> = field("dropped").and_then(|it| read(it, unread));
    section.dropped = dropped.iter().flatten().map(|key| Key::kept(key)).collect();
    let entries: Option<Vec<Value>> = field("entries").and_then(|it| read(it, unread));
    let mut entries = entries.unwrap_or_default();
    let surplus = entries.len().saturating_sub(MAX_ENTRIES);
    if surplus > 0 {
        let older = entries.drain(..surplus).collect();
        unread.keep(&format!("{}[..{surplus}]", row.section), older);
    }
    for (index, value) in entries.into_iter().enumerate() {
        let place = format!("{}[{}]", row.section, surplus + index);
        section
            .entries
            .extend(entry(section.kind(), value, &place, unread));
    }
    let highest = section.entries.iter().map(|entry| entry.number).max();
    section.last_number = section.last_number.max(highest.unwrap_or(0));
    section.unknown = kept;
}

fn entry(kind: Kind, value: Value, place: &str, unread: &mut Unread) -> Option<Entry> {
    let mut kept: KeptEntry = read((value, place.to_owned()), unread)?;
    let at = kept.unknown.remove("at");
    let note = kept.note.cleaned(kind.row().max_chars);
    Some(Entry {
        number: kept.number,
        key: key(kind, &note),
        note,
        by: kept.by,
        turn: kept.turn,
        at: at.and_then(|at| time((at, format!("{place}.at")), unread)),
        unknown: kept.unknown,
    })
}

/// A value that stood at a place; kept as unread where it is not what belongs there.
fn read<T: DeserializeOwned>((value, place): (Value, String), unread: &mut Unread) -> Option<T> {
    let read = T::deserialize(&value).ok();
    if read.is_none() {
        unread.keep(&place, value);
    }
    read
}

fn time((value, place): (Value, String), unread: &mut Unread) -> Option<Timestamp> {
    let read = value.as_str().and_then(Timestamp::parse);
    if read.is_none() {
        unread.keep(&place, value);
    }
    read
}

fn of_section(section: &Section) -> Value {
    let entries = section.entries.iter().map(|entry| {
        let mut unknown = entry.unknown.clone();
        unknown.extend(entry.at.map(|at| ("at".to_owned(), at.iso().into())));
        let kept = KeptEntry {
            number: entry.number,
            note: entry.note.clone(),
            by: entry.by,
            turn: entry.turn,
            unknown,
        };
        serde_json::to_value(kept).expect("texts and numbers under string keys")
    });
    let mut fields = section.unknown.clone();
    fields.insert("entries".to_owned(), entries.collect());
    fields.insert("touched_turn".to_owned(), section.touched.turn.into());
    fields.extend(
        section
            .touched
            .at
            .map(|at| ("touched_at".to_owned(), at.iso().into())),
    );
    fields.insert("last_number".to_owned(), section.last_number.into());
    if !section.dropped.is_empty() {
        let dropped = section.dropped.iter().map(Key::as_str);
        fields.insert("dropped".to_owned(), dropped.collect());
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::memory::tracking::Kind;

    fn board() -> Board {
        Board::new(&[(Kind::Task, None), (Kind::File, Some(2))])
    }

    #[test]
    fn what_a_newer_version_wrote_is_kept_where_it_stood() {
        let kept = json!({
            "turn_count": 7, "read": 9, "mood": "calm",
            "sections": {
                "files": {"touched_turn": 6, "touched_at": "2026-02-14T15:23:05Z", "last_number": 4, "colour": "red", "entries": [
                    {"number": 4, "text": "src/a.rs", "by": "heuristic", "turn": 6, "size": 12, "at": "2026-02-14T15:23:05Z"},
                ]},
                "smells": {"entries": [1, 2]},
            },
        });
        let mut board = board();
        assert_eq!(board.restore(kept.clone()), Vec::<String>::new());
        assert_eq!(board.turn_count(), 7);
        assert_eq!(board.section(Kind::File).unwrap().touched().turn, 6);
        assert_eq!(board.to_value(), kept);
    }

    #[test]
    fn what_cannot_be_read_is_told_and_kept_and_the_rest_counts() {
        let kept = json!({
            "turn_count": "many",
            "sections": {
                "task": "fix it",
                "files": {"last_number": 3, "touched_turn": 1, "entries": [
                    7,
                    {"number": 3, "text": "src/a.rs", "by": "heuristic", "turn": 1},
                    {"number": "x"},
                ]},
            },
        });
        let mut board = board();
        let unread = board.restore(kept);
        assert_eq!(unread, ["turn_count", "task", "files[0]", "files[2]"]);
        assert_eq!(board.section(Kind::File).unwrap().entries().len(), 1);
        let written = board.to_value();
        assert_eq!(written["unread"]["task"], "fix it");
        assert_eq!(written["unread"]["files[0]"], 7);
        let mut again = self::board();
        assert!(again.restore(written.clone()).is_empty(), "told once");
        assert_eq!(again.to_value(), written);
    }

    #[test]
    fn what_was_unread_before_stays_beside_what_is_unread_now() {
        let mut board = board();
        let kept = |first| json!({"sections": {"files": {"entries": [first]}}, "unread": {"files[0]": "older"}});
        board.restore(kept("newer"));
        let unread = &board.to_value()["unread"];
        assert_eq!(unread["files[0]"], "older");
        assert_eq!(unread["files[0] (2)"], "newer");
    }

    #[test]
    fn of_thousands_of_entries_the_newest_are_read_and_the_rest_kept() {
        let entries: Vec<_> = (1..=3_000)
            .map(|n| json!({"number": n, "text": format!("{n}.rs"), "by": "heuristic", "turn": 1}))
            .collect();
        let mut board = board();
        let unread = board.restore(json!({"sections": {"files": {"entries": entries}}}));
        assert_eq!(unread, ["files[..2000]"]);
        let newest = board.section(Kind::File).unwrap().entries().last().unwrap();
        assert_eq!(newest.note.text, "3000.rs");
        let kept = &board.to_value()["unread"]["files[..2000]"];
        assert_eq!(kept.as_array().unwrap().len(), 2_000);
    }

    #[test]
    fn nonsense_in_place_of_a_state_is_told_and_nothing_is_nothing() {
        for (value, unread) in [
            (json!(null), 0),
            (json!([1]), 1),
            (json!("x"), 1),
            (json!({}), 0),
        ] {
            let mut board = board();
            assert_eq!(board.restore(value.clone()).len(), unread, "{value}");
            assert_eq!(board.turn_count(), 0);
        }
    }

    #[test]
    fn a_lowered_cap_hides_and_does_not_delete() {
        let entry = |number: u32| json!({"number": number, "text": format!("{number}.rs"), "by": "heuristic", "turn": 1});
        let kept = json!({"turn_count": 1, "sections": {"files": {
            "touched_turn": 1, "last_number": 3, "entries": [entry(1), entry(2), entry(3)],
        }}});
        let mut board = board();
        board.restore(kept.clone());
        assert_eq!(board.section(Kind::File).unwrap().entries().len(), 2);
        assert_eq!(board.to_value(), kept);
    }
}
