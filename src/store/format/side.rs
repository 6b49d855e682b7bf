//! The small files beside a history: `{session}_hybrid.json` (C26) and `{session}_mode_state.json`
//! (C73). Each is replaced whole, is the truth for what it holds, and keeps the fields it does not know.

use serde_json::{Value, json};

use super::{VERSION, unknown_version};
use crate::chat::{Compaction, Hybrid, ModeStates, Timestamp, Unknown};

/// Why a side file cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::store) enum Unusable {
    Newer(String),
    Damaged,
}

fn object(bytes: &[u8]) -> Result<Unknown, Unusable> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut fields: Unknown = serde_json::from_slice(bytes).map_err(|_| Unusable::Damaged)?;
    match fields.remove("version").as_ref().and_then(unknown_version) {
        Some(unknown) => Err(Unusable::Newer(unknown)),
        None => Ok(fields),
    }
}

fn bytes(mut fields: Unknown, own: Value) -> Vec<u8> {
    fields.insert("version".to_owned(), VERSION.into());
    if let Value::Object(own) = own {
        fields.extend(own);
    }
    let mut bytes = Value::Object(fields).to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

pub(in crate::store) fn read_hybrid(file: &[u8]) -> Result<Hybrid, Unusable> {
    let mut unknown = object(file)?;
    let compaction = match unknown.remove("compaction") {
        None | Some(Value::Null) => None,
        Some(stored) => Some(compaction(&stored, MAX_PREVIOUS).ok_or(Unusable::Damaged)?),
    };
    Ok(Hybrid {
        compaction,
        unknown,
    })
}

pub(in crate::store) fn write_hybrid(hybrid: &Hybrid) -> Vec<u8> {
    let compaction = hybrid
        .compaction
        .as_ref()
        .map(|compaction| stored_compaction(compaction, MAX_PREVIOUS));
    bytes(hybrid.unknown.clone(), json!({ "compaction": compaction }))
}

/// How many replaced compactions are kept, one inside the other: JSON must not nest too deeply.
const MAX_PREVIOUS: usize = 20;

fn compaction(stored: &Value, depth: usize) -> Option<Compaction> {
    let previous = match stored.get("previous") {
        Some(previous @ Value::Object(_)) if depth > 0 => {
            Some(Box::new(compaction(previous, depth - 1)?))
        }
        Some(_) | None => None,
    };
    Some(Compaction {
        strategy: stored.get("strategy")?.as_str()?.to_owned(),
        upto: usize::try_from(stored.get("upto")?.as_u64()?).ok()?,
        text: stored.get("text")?.as_str()?.to_owned(),
        at: Timestamp::parse(stored.get("at")?.as_str()?)?,
        previous,
    })
}

fn stored_compaction(compaction: &Compaction, depth: usize) -> Value {
    let mut stored = json!({
        "strategy": compaction.strategy,
        "upto": compaction.upto,
        "text": compaction.text,
        "at": compaction.at.iso(),
    });
    if let Some(previous) = &compaction.previous
        && depth > 0
    {
        stored["previous"] = stored_compaction(previous, depth - 1);
    }
    stored
}

/// Brings every index into history to what `fits` says of it; tells whether one had to be changed (C29).
pub(in crate::store) fn clamp(hybrid: &mut Hybrid, fits: impl Fn(usize) -> usize) -> bool {
    let mut clamped = false;
    for key in ["summary_idx", "embedded_idx"] {
        if let Some(value) = hybrid.unknown.get_mut(key)
            && let Some(index) = value.as_u64()
        {
            let fit = fits(usize::try_from(index).unwrap_or(usize::MAX)) as u64;
            if fit != index {
                *value = fit.into();
                clamped = true;
            }
        }
    }
    let mut next = hybrid.compaction.as_mut();
    while let Some(compaction) = next {
        let fit = fits(compaction.upto);
        clamped |= fit != compaction.upto;
        compaction.upto = fit;
        next = compaction.previous.as_deref_mut();
    }
    clamped
}

/// The states of the modes, and the other fields of the file. Notes can be read again from the history: a
/// file whose version is no count, or that holds no modes, is another program's and stops nobody.
pub(in crate::store) fn read_mode_states(file: &[u8]) -> Result<(ModeStates, Unknown), Unusable> {
    let is_count = |version: &str| version.parse().is_ok_and(|count: f64| count > 0.0);
    let mut fields = match object(file) {
        Err(Unusable::Newer(version)) if !is_count(&version) => return Err(Unusable::Damaged),
        read => read?,
    };
    match fields.remove("modes") {
        Some(Value::Object(modes)) => Ok((ModeStates(modes), fields)),
        Some(_) | None => Err(Unusable::Damaged),
    }
}

pub(in crate::store) fn write_mode_states(states: &ModeStates, others: &Unknown) -> Vec<u8> {
    bytes(others.clone(), json!({ "modes": states.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hybrid() -> Hybrid {
        let at = Timestamp::from_unix(1_000_000).unwrap();
        let older = Compaction {
            strategy: "compact".into(),
            upto: 10,
            text: "older".into(),
            at,
            previous: None,
        };
        let newer = Compaction {
            upto: 40,
            text: "newer".into(),
            previous: Some(Box::new(older.clone())),
            ..older
        };
        let Value::Object(unknown) = json!({ "summary_idx": 44, "later": {"x": [1]} }) else {
            unreachable!("an object was written")
        };
        Hybrid {
            compaction: Some(newer),
            unknown,
        }
    }

    #[test]
    fn a_hybrid_file_reads_back_with_what_it_does_not_know() {
        assert_eq!(read_hybrid(&write_hybrid(&hybrid())), Ok(hybrid()));
        let empty = Hybrid::default();
        assert_eq!(read_hybrid(&write_hybrid(&empty)), Ok(empty));
    }

    #[test]
    fn mode_states_read_back_with_what_else_the_file_holds() {
        let file = br#"{"version":1,"modes":{"code":{"task":"x","new":1}},"other":2}"#;
        let (states, others) = read_mode_states(file).unwrap();
        let again = read_mode_states(&write_mode_states(&states, &others)).unwrap();
        assert_eq!(again, (states, others));
    }

    #[test]
    fn indices_beyond_history_are_clamped_and_others_left_alone() {
        let mut hybrid = hybrid();
        assert!(!clamp(&mut hybrid, |index| index.min(50)));
        assert!(clamp(&mut hybrid, |index| index.min(5)));
        let compaction = hybrid.compaction.unwrap();
        assert_eq!(compaction.upto, 5);
        assert_eq!(compaction.previous.unwrap().upto, 5);
        assert_eq!(hybrid.unknown["summary_idx"], 5);
    }

    #[test]
    fn states_of_another_program_are_told_from_those_of_a_newer_version() {
        for (file, expected) in [
            (r#"{"version":9}"#, Unusable::Newer("9".into())),
            (r#"{"version":"1.2.3"}"#, Unusable::Damaged),
            (r#"{"version":0}"#, Unusable::Damaged),
            (r#"{"version":null}"#, Unusable::Damaged),
            (r#"{"files":["a"]}"#, Unusable::Damaged),
        ] {
            assert_eq!(read_mode_states(file.as_bytes()), Err(expected), "{file}");
        }
    }

    #[test]
    fn damage_and_newer_versions_are_told_apart() {
        for (file, expected) in [
            (r#"{"version":9}"#, Unusable::Newer("9".into())),
            (r#"{"version":2.0}"#, Unusable::Newer("2.0".into())),
            ("", Unusable::Damaged),
            ("[1]", Unusable::Damaged),
            (
                r#"{"version":1,"compaction":{"upto":"x"}}"#,
                Unusable::Damaged,
            ),
        ] {
            assert_eq!(read_hybrid(file.as_bytes()), Err(expected), "{file}");
        }
    }
}
