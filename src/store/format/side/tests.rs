use super::*;

fn hybrid() -> Hybrid {
    let at = Timestamp::from_unix(1_000_000).unwrap();
    let older = Compaction {
        upto: 10,
        made: 10,
        text: "older".into(),
        ..Compaction::blank("compact", at)
    };
    let newer = Compaction {
        strategy: "window".into(),
        form: Form::Notice,
        head: 2,
        upto: 40,
        covers: Some((MessageId::numbered(3), MessageId::numbered(40))),
        gone: Some(36),
        untold: 7,
        made: 61,
        condensed: 30,
        text: "newer".into(),
        previous: Some(Box::new(older.clone())),
        ..older
    };
    let Value::Object(unknown) = json!({ "embedded_idx": 44, "later": {"x": [1]} }) else {
        unreachable!("an object was written")
    };
    let summary = Summary {
        text: "so far".into(),
        from: 2,
        upto: 44,
        covers: (MessageId::numbered(3), MessageId::numbered(44)),
        at,
        by: "a/model".into(),
    };
    Hybrid {
        summary: Some(summary.clone()),
        replaced: vec![Summary {
            text: "before".into(),
            upto: 34,
            ..summary
        }],
        failures: 2,
        compaction: Some(newer),
        undone: Some(62),
        learned: 40,
        unknown,
    }
}

#[test]
fn a_compaction_of_an_earlier_version_stands_for_everything_before_its_end() {
    let old = br#"{"version": 1, "compaction": {"strategy": "compact", "upto": 12, "text": "so far", "at": "2027-01-15T08:00:00Z"}}"#;
    let compaction = read_hybrid(old).unwrap().compaction.unwrap();
    let found = (compaction.head, compaction.upto, compaction.made);
    assert_eq!(found, (0, 12, 12));
    assert_eq!((compaction.form, compaction.condensed), (Form::Summary, 0));
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
fn a_scratchpad_has_the_form_of_the_golden_file_and_reads_back() {
    let mut scratchpad = Scratchpad::default();
    scratchpad
        .keep_thought(1, "# Deep think #1\nUse B.")
        .unwrap();
    scratchpad.write("port", "8080").unwrap();
    let file = write_scratchpad(&scratchpad);
    let value = |text: &[u8]| serde_json::from_slice::<Value>(text).unwrap();
    let golden = include_bytes!("../../golden/session_scratchpad.json");
    assert_eq!(value(&file), value(golden));
    assert_eq!(read_scratchpad(&file), Ok(scratchpad));
}

#[test]
fn pins_read_back_with_their_numbers_and_what_the_file_holds_besides() {
    let file = br#"{"version":1,"next":7,"later":1,"pins":[
            {"id":4,"text":"Use tabs","ts":"2026-02-14T15:23:05Z","why":"house style"},{"text":"by hand"}]}"#;
    let pins = read_pins(file).unwrap();
    let ids: Vec<u32> = pins.iter().map(|pin| pin.id).collect();
    assert_eq!((ids, pins.next()), (vec![4, 7], 8));
    assert_eq!(read_pins(&write_pins(&pins)), Ok(pins));
    let bare = read_pins(br#"[{"id":2,"text":"x"}]"#).unwrap();
    assert_eq!((bare.len(), bare.next()), (1, 3));
    let value: Value = serde_json::from_slice(&write_pins(&read_pins(file).unwrap())).unwrap();
    assert_eq!(
        (&value["later"], &value["pins"][0]["why"]),
        (&json!(1), &json!("house style"))
    );
    for (file, expected) in [
        (r#"{"pins":[{"id":1}]}"#, Unusable::Damaged),
        (r#"{"pins":7}"#, Unusable::Damaged),
        ("[1]", Unusable::Damaged),
        (r#"{"version":9}"#, Unusable::Newer("9".into())),
    ] {
        assert_eq!(read_pins(file.as_bytes()), Err(expected), "{file}");
    }
}

#[test]
fn a_scratchpad_of_another_program_keeps_what_is_no_text() {
    let read = read_scratchpad(br#"{"a":"x","b":{"c":[1]}}"#).unwrap();
    assert_eq!(
        (read.get("a"), read.get("b")),
        (Some("x"), Some(r#"{"c":[1]}"#))
    );
    assert_eq!(read_scratchpad(b"[1]"), Err(Unusable::Damaged));
    let newer = read_scratchpad(br#"{"version":9,"a":"x"}"#);
    assert_eq!(newer, Err(Unusable::Newer("9".into())));
}

#[test]
fn indices_beyond_history_are_clamped_and_others_left_alone() {
    let mut hybrid = hybrid();
    let newest = hybrid.compaction.as_mut().unwrap();
    newest.covers = None;
    assert!(!clamp(&mut hybrid, |index| index.min(50)));
    assert!(clamp(&mut hybrid, |index| index.min(5)));
    let compaction = hybrid.compaction.unwrap();
    assert_eq!(compaction.upto, 5);
    assert_eq!(compaction.previous.unwrap().upto, 5);
    assert_eq!(hybrid.unknown["embedded_idx"], 5);
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
