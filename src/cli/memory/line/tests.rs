use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::chat::Session;

fn read(line: &Value) -> Result<Option<Line>, Flaw> {
    parse(line.to_string().as_bytes())
}

fn sample() -> Value {
    json!({"session": "trips", "id": "t/1", "role": "user", "speaker": "Ana",
            "timestamp": "2026-02-14T16:23:05+01:00", "text": "The ferry was late."})
}

fn with(field: &str, value: Value) -> Value {
    let mut line = sample();
    line[field] = value;
    line
}

#[test]
fn a_message_keeps_id_speaker_time_and_text() {
    let Line { session, message } = read(&sample()).unwrap().unwrap();
    assert_eq!(session.as_str(), "trips");
    assert_eq!(message.id.as_str(), "t/1");
    assert_eq!(message.role, Role::User);
    assert_eq!(message.speaker(), Some("Ana"));
    assert_eq!(message.at.unwrap().iso(), "2026-02-14T15:23:05Z");
    assert_eq!(message.said(), "The ferry was late.");
    assert_eq!(message.unknown, None);
}

#[test]
fn times_have_a_zone_or_are_in_utc_and_may_be_missing() {
    for (time, expected) in [
        (json!("2026-02-14T15:23:05Z"), Some("2026-02-14T15:23:05Z")),
        (
            json!("2026-02-14T15:23:05.9-02:00"),
            Some("2026-02-14T17:23:05Z"),
        ),
        (json!("2026-02-14T15:23:05"), Some("2026-02-14T15:23:05Z")),
        (Value::Null, None),
    ] {
        let line = read(&with("timestamp", time.clone())).unwrap().unwrap();
        let at = line.message.at.map(Timestamp::iso);
        assert_eq!(at.as_deref(), expected, "{time}");
    }
}

#[test]
fn what_a_tool_said_is_kept_as_the_assistants_and_marked() {
    let line = read(&with("role", "tool".into())).unwrap().unwrap();
    assert_eq!(line.message.role, Role::Assistant);
    assert_eq!(line.message.unknown.unwrap()["imported_role"], "tool");
}

#[test]
fn fields_of_its_own_are_kept_and_those_a_session_file_would_misread_stand_aside() {
    let mut line = sample();
    line["lang"] = "pt".into();
    line["outcome"] = "failed".into();
    line["parts"] = json!([1]);
    let kept = read(&line).unwrap().unwrap().message.unknown.unwrap();
    assert_eq!(
        Value::Object(*kept),
        json!({"lang": "pt", "imported": {"outcome": "failed", "parts": [1]}})
    );
}

#[test]
fn empty_lines_are_nothing() {
    for line in ["", " ", "\r", "\t \r"] {
        assert_eq!(parse(line.as_bytes()), Ok(None), "{line:?}");
    }
}

#[test]
fn each_flaw_is_told() {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    for (line, expected) in [
        (
            "{\"id\":".to_owned(),
            "not JSON: EOF while parsing a value (column 6)",
        ),
        (
            "{} {}".to_owned(),
            "not JSON: trailing characters (column 4)",
        ),
        ("[1]".to_owned(), "a list, not an object"),
        ("{}".to_owned(), "no \"session\""),
        (with("text", Value::Null).to_string(), "no \"text\""),
        (
            with("text", json!(["a"])).to_string(),
            "\"text\" is a list, not a string",
        ),
        (
            with("id", json!(7)).to_string(),
            "\"id\" is a number, not a string",
        ),
        (with("id", "".into()).to_string(), "\"id\" is empty"),
        (
            with("role", "system".into()).to_string(),
            "\"role\" is \"system\"",
        ),
        (
            with("role", "User".into()).to_string(),
            "\"role\" is \"User\"",
        ),
        (
            with("timestamp", "yesterday".into()).to_string(),
            "\"timestamp\" is \"yesterday\"",
        ),
        (
            with("timestamp", "0000-01-01T00:00:00+01:00".into()).to_string(),
            "\"timestamp\" is \"0000-01-01T00:00:00+01:00\"",
        ),
        (
            with("session", "../x".into()).to_string(),
            "session name \"../x\" starts with a dot",
        ),
        (
            with("more", deep).to_string(),
            "\"more\" has more than 64 levels",
        ),
    ] {
        let flaw = parse(line.as_bytes()).unwrap_err();
        assert_eq!(flaw.to_string(), expected, "{line}");
        assert!(flaw.hint().is_some(), "{line}");
    }
    let flaw = parse(b"{\"id\":\"\xff\"}").unwrap_err();
    assert_eq!(flaw, Flaw::NotUtf8 { at: 8 });
    let flaw = parse(&vec![b'x'; MAX_BYTES + 1]).unwrap_err();
    assert_eq!(flaw, Flaw::TooLong);
}

fn field() -> impl Strategy<Value = (String, Value)> {
    let name = prop_oneof![
        prop::sample::select(MESSAGE_FIELDS.to_vec()).prop_map(str::to_owned),
        prop::sample::select(vec![
            "session", "speaker", "text", "data", "imported", "status"
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec![
            "user",
            "tool",
            "answered",
            "undone",
            "2026-02-14T15:23:05"
        ])
        .prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    (name, value)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_bytes_make_reading_panic(line in any::<Vec<u8>>()) {
        parse(&line).ok();
    }

    #[test]
    fn no_object_makes_reading_panic(fields in prop::collection::vec(field(), 0..8)) {
        let fields: Unknown = fields.into_iter().collect();
        read(&Value::Object(fields)).ok();
    }

    #[test]
    fn whatever_stands_in_a_line_is_in_the_session_file_the_same(
        fields in prop::collection::vec(field(), 0..8),
        text in any::<String>(),
    ) {
        let mut line = sample();
        for (name, value) in fields {
            if sample().get(&name).is_none() {
                line[name] = value;
            }
        }
        line["text"] = text.into();
        let Line { session, message } = read(&line).unwrap().unwrap();
        let mut kept = Session::new(session);
        kept.import(vec![message.clone()]);
        let file: Value = serde_json::from_str(&crate::store::export_json(&kept)).unwrap();
        let written = &file["messages"][0];
        prop_assert_eq!(&written["content"], &line["text"]);
        prop_assert_eq!(&written["name"], "Ana");
        prop_assert_eq!(&written["outcome"], "interrupted");
        for (field, value) in message.unknown.into_iter().flat_map(|unknown| *unknown) {
            prop_assert_eq!(&written[field], &value);
        }
    }
}
