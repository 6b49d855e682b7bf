//! What the person says to `/compact` and `/context preset`, and that one turn brings one compaction at most, through
//! the real program.

use cogtrix::testing::server::{Reply, Request, Script, Server, fail, say};
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::run::Run;

const SUMMARY: &str = "- They count messages, one after the other.";

fn is_summary(request: &Request) -> bool {
    let asked = request.message(-1);
    let begins = [
        "Write a summary of the conversation",
        "Below are summaries",
        "running summary",
    ];
    begins.iter().any(|begin| asked.contains(begin))
}

/// Answers talk and requests for a summary by their number, from 1.
fn server(
    mut reply: impl FnMut(usize) -> Reply + Send + 'static,
    mut summary: impl FnMut(usize) -> Reply + Send + 'static,
) -> Server {
    let (mut replies, mut summaries) = (0, 0);
    Script::answering(move |request| {
        let (count, answer): (_, &mut dyn FnMut(usize) -> Reply) = if is_summary(request) {
            (&mut summaries, &mut summary)
        } else {
            (&mut replies, &mut reply)
        };
        *count += 1;
        answer(*count)
    })
    .serve()
}

fn summaries(server: &Server) -> Vec<String> {
    let chats = server.chats();
    let asked = chats.iter().filter(|chat| is_summary(chat));
    asked.map(|chat| chat.message(-1)).collect()
}

fn talk(home: &Home, turns: usize) {
    let lines: Vec<String> = (1..=turns)
        .map(|n| format!("message number {n} of the talk about tides"))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    home.lines("s", &lines);
}

fn noted(_: usize) -> Reply {
    say("It is noted with those before it.")
}

fn long(n: usize) -> String {
    format!("Message number {n}. {}", "The tide is high. ".repeat(77))
}

/// Turns in a window of 8,000 tokens that a guard watches.
fn full_talk(server: &Server, home: &Home, turns: usize) -> Run {
    let config = "memory: {background: false}\ntools: {preset: none}\n\
                  context: {strategy: full, guards: [threshold]}\n\
                  models: {default: it, it: {provider: there, model: scripted, context_window: 8000, max_tokens: 500}}";
    home.config(server, config);
    let lines: Vec<String> = (1..=turns).map(long).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    home.lines("s", &lines)
}

fn hybrid(home: &Home) -> Value {
    let file = std::fs::read(home.history("s_hybrid.json")).unwrap();
    serde_json::from_slice(&file).unwrap()
}

#[test]
fn after_a_compaction_that_failed_before_a_request_the_same_turn_asks_for_no_other() {
    let home = Home::new();
    let reply = |n| match n {
        7 => say(long(n)).usage(6_480, 100),
        8 => say(long(n)).usage(6_500, 100),
        _ => say(long(n)).without_usage(),
    };
    let server = server(reply, |_| fail(500, "no"));
    let run = full_talk(&server, &home, 8);
    // Behind the seventh turn, and before the request of the eighth.
    assert_eq!(summaries(&server).len(), 2, "{run}");
    assert!(is_summary(&server.chats()[8]), "{run}");
    assert_eq!(server.chats().len(), 10, "{run}");
}

#[test]
fn a_turn_that_was_compacted_before_its_request_is_not_compacted_again_when_its_tools_fill_the_window()
 {
    let home = Home::new();
    let reply = |n| match n {
        7 => say(long(n)).usage(6_480, 100),
        8 | 9 => say("")
            .calling("c", "no_tool", json!({ "n": n }))
            .without_usage(),
        10 => say(long(n)).usage(6_600, 100),
        _ => say(long(n)).without_usage(),
    };
    let summary = |n| {
        if n == 1 {
            fail(500, "no")
        } else {
            say(SUMMARY)
        }
    };
    let server = server(reply, summary);
    let run = full_talk(&server, &home, 8);
    assert_eq!(summaries(&server).len(), 2, "{run}");
    assert_eq!(server.chats().len(), 12, "{run}");
    assert_eq!(hybrid(&home)["compaction"]["upto"], 10, "{run}");
}

#[test]
fn after_a_compaction_that_failed_before_a_turn_none_is_tried_between_its_calls_of_tools() {
    let home = Home::new();
    let reply = |n| match n {
        7 => say(long(n)).usage(6_480, 100),
        8 | 9 => say("")
            .calling("c", "no_tool", json!({ "n": n }))
            .without_usage(),
        _ => say(long(n)).without_usage(),
    };
    let server = server(reply, |_| fail(500, "no"));
    let run = full_talk(&server, &home, 8);
    // Behind the seventh turn, and before the eighth: not before its second and third request too.
    assert_eq!(summaries(&server).len(), 2, "{run}");
    assert_eq!(server.chats().len(), 10 + 2, "{run}");
}

#[test]
fn words_near_to_those_that_are_known_begin_no_compaction() {
    let home = Home::new();
    let server = server(noted, |_| say(SUMMARY));
    home.config(&server, "");
    talk(&home, 4);
    let run = home.lines(
        "s",
        &[
            "/compact undo please",
            "/compact dri rolling",
            "/compact undoo it all",
        ],
    );
    assert!(run.stderr.contains("undo takes no arguments"), "{run}");
    assert!(run.stderr.contains("did you mean `/compact dry`?"), "{run}");
    assert!(
        run.stderr.contains("did you mean `/compact undo`?"),
        "{run}"
    );
    assert_eq!(summaries(&server).len(), 0, "{run}");
    assert!(!home.history("s_hybrid.json").exists(), "{run}");
}

#[test]
fn a_wish_reaches_the_rolling_summary_and_is_refused_where_nobody_writes() {
    let home = Home::new();
    let server = server(noted, |_| say(SUMMARY));
    home.config(&server, "");
    talk(&home, 17);
    let run = home.lines(
        "s",
        &[
            "/compact tools the dates",
            "/compact proactive the dates",
            "/compact rolling the dates",
        ],
    );
    assert!(run.stderr.contains("tools does not use the model"), "{run}");
    assert!(run.stderr.contains("proactive writes no summary"), "{run}");
    let asked = summaries(&server);
    assert_eq!(asked.len(), 1, "{run}");
    assert!(asked[0].contains("<--->\nthe dates\n<--->"), "{}", asked[0]);
    assert!(hybrid(&home)["compaction"].is_null(), "{run}");
}

#[test]
fn every_way_to_compact_can_be_told_beforehand() {
    let home = Home::new();
    let server = server(
        |n| match n {
            1 => say("").calling("c1", "shell", json!({"command": "seq 500"})),
            _ => noted(n),
        },
        |_| say(SUMMARY),
    );
    home.config(&server, "");
    home.cogtrix(&[
        "-c",
        "test.yaml",
        "-s",
        "s",
        "--tools",
        "all",
        "-y",
        "--sandbox",
        "off",
        "-p",
        "count",
    ])
    .run();
    talk(&home, 17);
    let dry = [
        "/compact dry tools",
        "/compact dry aggressive",
        "/compact dry rolling",
    ];
    let before = std::fs::read(home.history("s_hybrid.json")).ok();
    let run = home.lines("s", &dry);
    let tools = "tools would shorten 1 result to the beginning: ";
    assert_eq!(run.stdout.matches(tools).count(), 2, "{run}");
    assert!(
        run.stdout
            .contains("then compact would replace 29 messages (up to message 38, "),
        "{run}"
    );
    assert!(run.stdout.contains("rolling would "), "{run}");
    assert_eq!(run.stdout.matches("; nothing changed").count(), 3, "{run}");
    let after = std::fs::read(home.history("s_hybrid.json")).ok();
    assert_eq!(before, after, "{run}");
}

#[test]
fn the_newest_is_undone_first_be_it_a_compaction_or_a_summary() {
    let home = Home::new();
    let server = server(noted, |_| say(SUMMARY));
    home.config(&server, "");
    talk(&home, 3);
    home.lines("s", &["/compact"]);
    talk(&home, 17);
    let run = home.lines("s", &["/compact rolling", "/compact undo"]);
    assert!(run.stdout.contains("Last summary undone"), "{run}");
    assert_eq!(hybrid(&home)["compaction"]["upto"], 6, "{run}");
    let run = home.lines("s", &["/compact undo", "/compact undo"]);
    assert!(run.stdout.contains("Last compaction undone"), "{run}");
    assert!(run.stderr.contains("no compaction to undo"), "{run}");
}

#[test]
fn a_preset_that_is_switched_live_says_how_much_of_a_result_is_kept() {
    let home = Home::new();
    let count =
        |n: usize| say("").calling(&format!("c{n}"), "shell", json!({"command": "seq 3500"}));
    let server = server(
        move |n| if n % 2 == 1 { count(n) } else { noted(n) },
        |_| say(SUMMARY),
    );
    home.config(&server, "");
    let lines = "Count\n/context preset qanot\nCount\n/context preset co-cli\nCount\n";
    let run = home
        .cogtrix(&[
            "-c",
            "test.yaml",
            "-s",
            "s",
            "--lines",
            "--tools",
            "all",
            "-y",
            "--sandbox",
            "off",
        ])
        .stdin(lines.to_owned())
        .run();
    let said = home.said("s");
    let results: Vec<usize> = said
        .iter()
        .filter(|said| said.contains("\n7\n8\n"))
        .map(|said| said.chars().count())
        .collect();
    assert_eq!(results.len(), 3, "{run}");
    assert!((9_000..11_000).contains(&results[0]), "smart: {results:?}");
    assert!((7_000..9_000).contains(&results[1]), "ratio: {results:?}");
    assert!(results[2] > 16_000, "whole: {results:?}");
}
