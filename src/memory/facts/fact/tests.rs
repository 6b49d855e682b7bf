use proptest::prelude::*;

use super::*;
use crate::chat::MessageId;

fn talk(said: &[&str]) -> Vec<Message> {
    let message = |(place, text): (usize, &&str)| {
        let role = if place % 2 == 0 {
            Role::User
        } else {
            Role::Assistant
        };
        Message::text(MessageId::numbered(place as u64), role, *text, None)
    };
    said.iter().enumerate().map(message).collect()
}

fn found(said: &[&str], already: &str) -> Vec<String> {
    let settings = FactsSettings::default();
    let cues = FactCues::with(|_| None, &settings).unwrap();
    let messages = talk(said);
    let messages: Vec<&Message> = messages.iter().collect();
    let facts = facts(&messages, already, &settings, &cues);
    facts.iter().map(ToString::to_string).collect()
}

/// Filled up to three turns.
fn three(user: &str, assistant: &str) -> Vec<String> {
    found(&["hi", "hello", user, assistant, "thanks", "welcome"], "")
}

#[test]
fn two_turns_bring_nothing_and_three_do() {
    let said = [
        "Please write the whole report for the board",
        "All done, see report.md",
        "hi",
        "hello",
    ];
    assert!(found(&said, "").is_empty());
    let three = [&said[..], &["bye", "see you"]].concat();
    assert_eq!(
        found(&three, ""),
        [
            "- User request: Please write the whole report for the board",
            "- Completed: All done, see report.md"
        ]
    );
}

#[test]
fn an_english_and_a_chinese_conversation_are_labelled_in_their_language() {
    for (user, assistant, expected) in [
        (
            "请帮我为后端项目编写一个完整的部署脚本",
            "部署脚本已完成,位于 deploy.sh",
            vec![
                "- 用户请求: 请帮我为后端项目编写一个完整的部署脚本",
                "- 完成事项: 部署脚本已完成,位于 deploy.sh",
            ],
        ),
        (
            "记住我的生日是五月三日",
            "好的,没问题,明白了。",
            vec!["- 用户要求记住: 记住我的生日是五月三日"],
        ),
        (
            "Remember that I am away in May",
            "Noted, thank you.",
            vec!["- User asked to remember: Remember that I am away in May"],
        ),
        (
            "Could you deploy the new server to staging?\nsecond line",
            "Deployed.\nMore",
            vec![
                "- User request: Could you deploy the new server to staging?",
                "- Completed: Deployed.",
            ],
        ),
        (
            "hello, how are you",
            "see https://example.com/x for it",
            vec!["- Key information: see https://example.com/x for it"],
        ),
        ("please", "That plan was abandoned.", vec![]),
        (
            "ok, go on then",
            "It is not done yet, I could not get it fixed.",
            vec![],
        ),
        (
            "ok, go on then",
            "<think>it is done, I fixed it</think>Let us look at it.",
            vec![],
        ),
        ("ok, go on then", "<think>it is done, I fixed it", vec![]),
        (
            "ok, go on then",
            "[no reply: cannot reach http://127.0.0.1:8080/v1]",
            vec![],
        ),
        (
            "ok, go on then",
            "Done: the token is sk-abc123DEF456ghi789",
            vec!["- Completed: Done: the token is [secret]"],
        ),
    ] {
        assert_eq!(three(user, assistant), expected, "{user} / {assistant}");
    }
}

#[test]
fn each_fact_comes_once_in_a_session_and_eight_at_a_time() {
    let requests: Vec<String> = (0..10)
        .map(|n| format!("Please write chapter {n} of the long report"))
        .collect();
    let said: Vec<&str> = requests
        .iter()
        .flat_map(|request| [request.as_str(), "ok"])
        .collect();
    let first = found(&said, "");
    assert_eq!(first.len(), 8);
    let second = found(&said, &first.join("\n").to_uppercase());
    assert_eq!(
        second,
        requests[8..]
            .iter()
            .map(|r| format!("- User request: {r}"))
            .collect::<Vec<_>>()
    );
    let all = [first, second].concat().join("\n");
    assert!(found(&said, &all).is_empty());
}

#[test]
fn only_the_newest_messages_are_read_and_lines_are_short() {
    let long = format!("Please {}", "write it ".repeat(60));
    let mut said = vec![long.as_str(), "ok"];
    said.extend(["hi", "hello"].repeat(10));
    assert!(found(&said, "").is_empty());
    let [fact] = &three(&long, "ok")[..] else {
        panic!()
    };
    assert!(
        fact.chars().count() <= 200 + "- User request: ".len(),
        "{fact}"
    );
}

#[test]
fn every_embedded_pattern_compiles() {
    let own = |name: &str| Some(crate::memory::texts::embedded(name));
    let cues = FactCues::with(own, &FactsSettings::default()).unwrap();
    assert_eq!(cues.languages().len(), 2);
}

#[test]
fn a_mistake_in_a_persons_own_file_is_named() {
    let settings = FactsSettings::default();
    for (text, wanted) in [
        (
            "zh: {}\nen: {request: {label: x, cues: ['(open']}}",
            "en: request: the pattern",
        ),
        ("zh: {requests: {}}", "requests"),
    ] {
        let error = FactCues::with(|_| Some(Prompt::new("my.yaml", text)), &settings).unwrap_err();
        assert!(
            error.to_string().contains(wanted) && error.to_string().starts_with("my.yaml: "),
            "{error}"
        );
    }
    let settings = FactsSettings {
        cues: vec!["fr".into()],
        ..FactsSettings::default()
    };
    let error = FactCues::with(|_| Some(Prompt::new("my.yaml", "")), &settings).unwrap_err();
    assert!(
        error.to_string().contains("\"fr\" is not one of "),
        "{error}"
    );
}

#[test]
fn a_language_of_the_persons_own_is_heard_beside_the_embedded_ones() {
    let settings = FactsSettings::default();
    let own = "de: {remember: {label: Gemerkt, cues: ['merk dir']}}";
    let cues = FactCues::with(|_| Some(Prompt::new("my.yaml", own)), &settings).unwrap();
    let hears = |said: &str| cues.languages().iter().any(|it| it.remember.are_in(said));
    assert!(hears("merk dir das") && hears("keep in mind") && !hears("was nun"));
}

use crate::memory::Prompt;

#[test]
fn facts_stand_once_and_everything_else_stays() {
    let text = "# 2025-01-15\n- a\n- a\n\n## Session Facts (2025-01-15)\n- User request: Tea\n- user request:  tea\n  by hand\n- USER REQUEST: TEA\n- b\n\n## [10:00:00]\n- b\n## Session Facts (2025-01-15)\n- b\n- c";
    let expected = "# 2025-01-15\n- a\n- a\n\n## Session Facts (2025-01-15)\n- User request: Tea\n- user request:  tea\n  by hand\n- b\n\n## [10:00:00]\n- b\n## Session Facts (2025-01-15)\n- c";
    assert_eq!(compacted(text), expected);
}

proptest! {
    #[test]
    fn twice_is_once_and_order_is_kept(text in "((## Session Facts\n)|(## x\n)|(- [ab]{1,2}\r?\n)|( - a\n)|(\n)|(é)){0,30}") {
        let once = compacted(&text);
        prop_assert_eq!(compacted(&once), once.as_str());
        let mut rest = text.split_inclusive('\n');
        for line in once.split_inclusive('\n') {
            prop_assert!(rest.any(|other| other == line), "{:?}", line);
        }
    }
}
