//! A board as it is kept in `{session}_mode_state.json`, under its mode's name (C73):
//! ```text
//! {"turn_count": 12, "read": 14, "sections": {
//!    "files": {"touched": 12, "last_number": 8, "entries": [
//!       {"number": 8, "text": "src/auth.py", "by": "heuristic", "since": 3, "turn": 12}, …]}, …}, …}
//! ```
//! What this version does not know is kept where it stood; what it cannot read is moved to `unread` and
//! told, so that nothing is lost and nothing keeps the rest from being read.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::board::{Board, Entry, Section};
use super::note::{By, Note};
use crate::chat::{Timestamp, TurnId, Unknown};

const TURN_COUNT: &str = "turn_count";
const READ: &str = "read";
const SECTIONS: &str = "sections";
const UNREAD: &str = "unread";

/// Entries of one section that are read; a file may hold anything.
const MOST_ENTRIES: usize = 1_000;

#[derive(Serialize, Deserialize)]
struct KeptEntry {
    number: u32,
    #[serde(flatten)]
    note: Note,
    by: By,
    #[serde(default)]
    since: u64,
    turn: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<String>,
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
        self.turn_count = take(&mut fields, TURN_COUNT, TURN_COUNT, &mut unread).unwrap_or(0);
        self.read = take(&mut fields, READ, READ, &mut unread).map(TurnId);
        let mut sections: Map<String, Value> =
            take(&mut fields, SECTIONS, SECTIONS, &mut unread).unwrap_or_default();
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
        self.values.insert(place.to_owned(), value);
    }
}

/// The field of this name where it can be read; else it is kept as unread.
fn take<T: DeserializeOwned>(
    fields: &mut Map<String, Value>,
    name: &str,
    place: &str,
    unread: &mut Unread,
) -> Option<T> {
    let value = fields.remove(name)?;
    let read = T::deserialize(&value).ok();
    if read.is_none() {
        unread.keep(place, value);
    }
    read
}

fn fill(section: &mut Section, mut kept: Map<String, Value>, unread: &mut Unread) {
    let row = section.kind().row();
    let place = |field: &str| format!("{}.{field}", row.section);
    let touched = place("touched");
    section.touched = take(&mut kept, "touched", &touched, unread).unwrap_or(0);
    let last_number = place("last_number");
    section.last_number = take(&mut kept, "last_number", &last_number, unread).unwrap_or(0);
    section.dropped = take(&mut kept, "dropped", &place("dropped"), unread).unwrap_or_default();
    let entries: Vec<Value> =
        take(&mut kept, "entries", &place("entries"), unread).unwrap_or_default();
    for (index, value) in entries.into_iter().enumerate() {
        match KeptEntry::deserialize(&value) {
            Ok(entry) if index < MOST_ENTRIES => section.entries.push(Entry {
                number: entry.number,
                note: entry.note.cleaned(row.most_chars),
                by: entry.by,
                since: entry.since,
                turn: entry.turn,
                at: entry.at.as_deref().and_then(Timestamp::parse),
                unknown: entry.unknown,
            }),
            Ok(_) | Err(_) => unread.keep(&format!("{}[{index}]", row.section), value),
        }
    }
    let highest = section.entries.iter().map(|entry| entry.number).max();
    section.last_number = section.last_number.max(highest.unwrap_or(0));
    section.unknown = kept;
}

fn of_section(section: &Section) -> Value {
    let entries = section.entries.iter().map(|entry| {
        let kept = KeptEntry {
            number: entry.number,
            note: entry.note.clone(),
            by: entry.by,
            since: entry.since,
            turn: entry.turn,
            at: entry.at.map(Timestamp::iso),
            unknown: entry.unknown.clone(),
        };
        serde_json::to_value(kept).unwrap_or_default()
    });
    let mut fields = section.unknown.clone();
    fields.insert("entries".to_owned(), entries.collect());
    fields.insert("touched".to_owned(), section.touched.into());
    fields.insert("last_number".to_owned(), section.last_number.into());
    if !section.dropped.is_empty() {
        fields.insert("dropped".to_owned(), section.dropped.clone().into());
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
                "files": {"touched": 6, "last_number": 4, "colour": "red", "entries": [
                    {"number": 4, "text": "src/a.rs", "by": "heuristic", "since": 1, "turn": 6, "size": 12},
                ]},
                "smells": {"entries": [1, 2]},
            },
        });
        let mut board = board();
        assert_eq!(board.restore(kept.clone()), Vec::<String>::new());
        assert_eq!(board.turn_count(), 7);
        assert_eq!(board.section(Kind::File).unwrap().touched(), 6);
        assert_eq!(board.to_value(), kept);
    }

    #[test]
    fn what_cannot_be_read_is_told_and_kept_and_the_rest_counts() {
        let kept = json!({
            "turn_count": "many",
            "sections": {
                "task": "fix it",
                "files": {"last_number": 3, "touched": 1, "entries": [
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
        let entry = |number: u32| json!({"number": number, "text": format!("{number}.rs"), "by": "heuristic", "since": 1, "turn": 1});
        let kept = json!({"turn_count": 1, "sections": {"files": {
            "touched": 1, "last_number": 3, "entries": [entry(1), entry(2), entry(3)],
        }}});
        let mut board = board();
        board.restore(kept.clone());
        assert_eq!(board.section(Kind::File).unwrap().entries().len(), 2);
        assert_eq!(board.to_value(), kept);
    }
}
