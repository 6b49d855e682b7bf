//! What every mode keeps: how many turns it has read (C59), and whatever else a newer version wrote.

use serde_json::{Map, Value};

/// The state of one mode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModeState {
    /// Turns read, numbered from 1.
    pub turn_count: u64,
    /// Fields this version does not know; kept on rewrite (C73).
    unknown: Map<String, Value>,
}

impl ModeState {
    const TURN_COUNT: &str = "turn_count";

    /// Anything but an object, or a count that is no number, reads as "nothing yet".
    pub fn from_value(value: Value) -> Self {
        let Value::Object(mut unknown) = value else {
            return Self::default();
        };
        let turn_count = unknown
            .remove(Self::TURN_COUNT)
            .and_then(|count| count.as_u64())
            .unwrap_or(0);
        Self {
            turn_count,
            unknown,
        }
    }

    pub fn to_value(&self) -> Value {
        let mut fields = self.unknown.clone();
        fields.insert(Self::TURN_COUNT.to_owned(), self.turn_count.into());
        Value::Object(fields)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_fields_survive_and_nonsense_reads_as_nothing() {
        let newer = json!({"turn_count": 7, "mood": "calm"});
        assert_eq!(ModeState::from_value(newer.clone()).to_value(), newer);
        for nonsense in [json!(null), json!([1]), json!({"turn_count": "many"})] {
            assert_eq!(ModeState::from_value(nonsense).turn_count, 0);
        }
    }
}
