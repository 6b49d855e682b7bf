//! `/compact` through the real program: what shrinks, what stays, what survives a restart (O16-O19).

use cogtrix::testing::server::{Reply, Request, Script, Server, fail, say};
use serde_json::json;

use crate::support::home::Home;

const SUMMARY: &str = "- They talked about harbours and cranes; the rotation is on Fridays.";

/// Answers chats at length, and requests for a summary by `summary`.
fn server(summary: impl Fn() -> Reply + Send + 'static) -> Server {
    let answer = move |request: &Request| {
        if asks_for_summary(request) {
            summary()
        } else {
            say("There are many cranes in that old harbour.")
        }
    };
    Script::answering(answer).serve()
}

fn asks_for_summary(request: &Request) -> bool {
    request
        .message(-1)
        .contains("Write a summary of the conversation")
}

fn messages(request: &Request) -> usize {
    let messages = request.body["messages"].as_array().unwrap();
    messages
        .iter()
        .filter(|message| message["role"] != "system")
        .count()
}

const SIX: [&str; 6] = [
    "Tell me about the harbour of Hamburg",
    "And the cranes there",
    "And the harbour of Genoa",
    "And its cranes",
    "And the harbour of Bergen",
    "The rotation is on Fridays",
];

fn talk(home: &Home, then: &[&str]) -> crate::support::run::Run {
    let lines: Vec<&str> = SIX.iter().chain(then).copied().collect();
    home.lines("s", &lines)
}

#[test]
fn six_turns_become_two_messages_and_history_stays_whole() {
    let home = Home::new();
    let server = server(|| say(SUMMARY));
    home.config(&server, "");
    let run = talk(&home, &["/compact", "go on"]);
    assert!(run.stdout.contains("Compacted: messages 12 → 2, "), "{run}");
    let chats = server.chats();
    assert!(asks_for_summary(&chats[6]));
    assert!(chats[6].body.get("tools").is_none(), "no tools are offered");
    assert_eq!(messages(&chats[7]), 2 + 1);
    assert!(
        chats[7]
            .body
            .to_string()
            .contains("the rotation is on Fridays")
    );
    assert_eq!(home.snapshot("s")["messages"].as_array().unwrap().len(), 14);
}

#[test]
fn the_compaction_survives_a_restart_and_can_be_undone() {
    let home = Home::new();
    let server = server(|| say(SUMMARY));
    home.config(&server, "");
    talk(&home, &["/compact"]);
    home.ask("s", "go on");
    assert_eq!(messages(&server.chats()[7]), 3);
    home.lines("s", &["/compact undo", "and on"]);
    assert_eq!(messages(&server.chats()[8]), 15);
}

#[test]
fn a_failed_compaction_leaves_everything_as_it_was() {
    type Summary = fn() -> Reply;
    let cases: [(&str, Summary); 8] = [
        ("a tool call", || {
            say(SUMMARY).calling("c1", "shell", json!({"command": "ls"}))
        }),
        ("an error", || fail(500, "overloaded")),
        ("a refused key", || fail(401, "invalid api key")),
        ("too many requests", || fail(429, "slow down")),
        ("nothing", || say(" ")),
        ("no gain", || say(SUMMARY.repeat(60))),
        ("another script", || {
            say("他们讨论了港口和起重机，还讨论了星期五的轮换安排以及其他事情。")
        }),
        ("half of one", || say(SUMMARY).finish("length")),
    ];
    for (what, summary) in cases {
        let home = Home::new();
        let server = server(summary);
        home.config(&server, "");
        let run = talk(&home, &["/compact", "go on"]);
        assert!(run.stderr.contains("not compacted: "), "{what}: {run}");
        assert_eq!(messages(server.chats().last().unwrap()), 13, "{what}");
        assert!(!home.history("s_hybrid.json").exists(), "{what}");
    }
}

#[test]
fn an_empty_session_has_nothing_to_compact() {
    let home = Home::new();
    let server = server(|| say(SUMMARY));
    home.config(&server, "");
    let run = home.lines("s", &["/compact"]);
    assert!(run.stderr.contains("nothing to compact"), "{run}");
    assert_eq!(server.chats().len(), 0);
}

#[test]
fn without_a_model_what_quotes_cannot_shorten_needs_one() {
    let home = Home::new();
    let lines = "The cranes are old\nThe harbour is cold\n/compact\n";
    let run = home.cogtrix(&["-s", "s", "--lines"]).stdin(lines).run();
    let refused = "error: not compacted: a summary needs a model, and none is connected\n\
                   hint: `/model` lists models";
    assert!(run.stderr.contains(refused), "{run}");
}

#[test]
fn without_a_model_the_summary_is_drawn_from_what_was_said() {
    let home = Home::new();
    let mut lines = SIX.join(". It was a long and windy day by the sea.\n");
    lines.push_str("\n/compact\n");
    let run = home.cogtrix(&["-s", "s", "--lines"]).stdin(lines).run();
    assert!(run.stdout.contains("Compacted: messages 12 → 2"), "{run}");
    let hybrid = std::fs::read_to_string(home.history("s_hybrid.json")).unwrap();
    assert!(hybrid.contains("The rotation is on Fridays"), "{hybrid}");
}
