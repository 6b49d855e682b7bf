use super::*;
use crate::chat::Unknown;

/// What a message of a file becomes, and what it is written as.
fn through(file: &str) -> (Message, Value) {
    let Ok(Stored::Message(stored)) = serde_json::from_str(file) else {
        panic!("{file}")
    };
    let line = Line {
        message: &stored.message,
        mark: stored.mark,
    };
    let written = serde_json::to_value(line).unwrap();
    (stored.message, written)
}

#[test]
fn what_is_attached_stands_beside_the_words() {
    let file = serde_json::json!({
        "id": "m1", "role": "user", "content": "See @a and @b.png",
        "parts": [
            {"text": "See @a and @b.png"},
            {"attached": {"name": "a", "lines": [1, 2], "text": "x"}},
            {"attached": {"name": "src/", "text": "a.rs"}},
            {"image": {"name": "b.png", "media_type": "image/png", "sha256": "00ff"}},
        ],
    });
    let (message, written) = through(&file.to_string());
    assert_eq!((message.parts.len(), message.unknown), (4, None));
    assert_eq!(written, file);
}

#[test]
fn every_dialect_is_read_and_one_is_written() {
    let call = r#"[{"id":"c1","name":"f","arguments":"{\"a\":1}"}]"#;
    for (file, role, content, calls) in [
        (r#"{"role":"USER","content":"x"}"#, "user", "x", None),
        (r#"{"type":"human","content":"x"}"#, "user", "x", None),
        (
            r#"{"type":"ai","content":["a",{"type":"text","text":"b"}]}"#,
            "assistant",
            "a\nb",
            None,
        ),
        (
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",
                    "function":{"name":"f","arguments":"{\"a\":1}"}}]}"#,
            "assistant",
            "",
            Some(call),
        ),
        (
            r#"{"type":"ai","content":"","tool_calls":[{"name":"f","args":{"a":1},"id":"c1"}]}"#,
            "assistant",
            "",
            Some(call),
        ),
        (
            r#"{"role":"assistant","content":[{"type":"text","text":"x"},
                    {"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]}"#,
            "assistant",
            "x",
            Some(call),
        ),
        (r#"{"role":"user","content":7}"#, "user", "7", None),
    ] {
        let (message, written) = through(file);
        assert_eq!(written["role"], role, "{file}");
        assert_eq!(written["content"], content, "{file}");
        let calls: Option<Value> = calls.map(|calls| serde_json::from_str(calls).unwrap());
        assert_eq!(written.get("tool_calls"), calls.as_ref(), "{file}");
        let (again, _) = through(&written.to_string());
        assert_eq!(again, message, "{file}");
    }
}

#[test]
fn results_of_tools_are_read_from_every_dialect() {
    for (file, call, output, failed) in [
        (
            r#"{"role":"tool","tool_call_id":"c1","name":"f","content":"42"}"#,
            "c1",
            "42",
            false,
        ),
        (
            r#"{"type":"tool","tool_call_id":"c1","status":"error","content":"no"}"#,
            "c1",
            "no",
            true,
        ),
        (
            r#"{"role":"tool","content":[{"type":"tool_result","tool_use_id":"c1",
                    "content":[{"type":"text","text":"42"}],"is_error":true}]}"#,
            "c1",
            "42",
            true,
        ),
        (
            r#"{"role":"function","name":"f","content":null}"#,
            "",
            "",
            false,
        ),
    ] {
        let (message, _) = through(file);
        let [
            Part::ToolResult {
                call: found,
                output: said,
                failed: broke,
                ..
            },
        ] = &message.parts[..]
        else {
            panic!("{message:?}")
        };
        assert_eq!(
            (found.as_str(), said.as_str(), *broke),
            (call, output, failed),
            "{file}"
        );
    }
}

#[test]
fn what_is_not_understood_is_written_back() {
    for (file, key) in [
        (r#"{"role":"user","content":"x","name":["Ann"]}"#, "name"),
        (r#"{"role":"user","content":"x","name":""}"#, "name"),
        (r#"{"role":"user","content":"x","data":[1]}"#, "data"),
        (
            r#"{"role":"user","content":"x","timestamp":12}"#,
            "timestamp",
        ),
        (
            r#"{"role":"user","content":"x","outcome":"odd"}"#,
            "outcome",
        ),
        (r#"{"role":"user","content":"x","parts":"odd"}"#, "parts"),
        (r#"{"role":"user","type":"message","content":"x"}"#, "type"),
    ] {
        let (_, written) = through(file);
        let file: Unknown = serde_json::from_str(file).unwrap();
        assert_eq!(written[key], file[key], "{key}");
    }
    let (_, written) = through(r#"{"role":"user","content":[{"type":"image_url","image_url":1}]}"#);
    assert_eq!(written["content_parts"][0]["image_url"], 1);
}

#[test]
fn the_name_of_who_said_it_comes_back() {
    for role in ["user", "assistant"] {
        let file = format!(r#"{{"role":"{role}","content":"x","name":"Ann"}}"#);
        let (message, written) = through(&file);
        assert_eq!(message.speaker(), Some("Ann"));
        assert_eq!((message.unknown, &written["name"]), (None, &"Ann".into()));
    }
}

#[test]
fn content_edited_by_hand_wins_over_the_parts_beside_it() {
    let file = r#"{"role":"user","content":"a\nb","parts":[{"text":"a"},{"text":"b"}]}"#;
    assert_eq!(through(file).0.parts.len(), 2);
    let (edited, _) = through(&file.replace(r"a\nb", "mine"));
    assert_eq!(edited.parts, [Part::Text("mine".into())]);
}

#[test]
fn what_is_no_message_is_refused() {
    for file in [
        "{}",
        r#"{"role":"user"}"#,
        r#"{"content":"x"}"#,
        r#"{"role":"cat","content":"x"}"#,
    ] {
        assert!(serde_json::from_str::<Stored>(file).is_err(), "{file}");
    }
}
