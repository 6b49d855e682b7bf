//! What is said while the window fills is kept beside it, and told again when the conversation was shortened or the
//! person asks where it stood. Through the real program.

use std::path::PathBuf;

use cogtrix::testing::server::{Reply, Request, Script, Server, say};

use crate::support::home::Home;

const WINDOW: u32 = 32_768;
const RECOVERED: &str = "Recovered by the program";

/// Replies whose prompts count so many tokens, turn by turn; 10 where nothing is said.
fn counting(tokens: &'static [(usize, u32)]) -> Server {
    let mut turn = 0;
    Script::answering(move |_| -> Reply {
        turn += 1;
        let counted = tokens.iter().find(|(at, _)| *at == turn);
        say(format!("Reply {turn}.")).usage(counted.map_or(10, |(_, tokens)| *tokens), 5)
    })
    .serve()
}

fn folder(home: &Home) -> PathBuf {
    home.data().join("workspace/sessions/s")
}

fn buffer(home: &Home) -> String {
    std::fs::read_to_string(folder(home).join("working-buffer.md")).unwrap_or_default()
}

/// Buffers that were put away.
fn closed(home: &Home) -> Vec<String> {
    let files = Home::files(&folder(home)).into_iter();
    files
        .filter(|(name, _)| name.to_string_lossy().starts_with("working-buffer-"))
        .map(|(_, bytes)| String::from_utf8(bytes).unwrap())
        .collect()
}

/// What each request asked, as it was sent: the last message has what was recovered behind the input.
fn asked(server: &Server) -> Vec<String> {
    let chats = server.chats();
    chats
        .iter()
        .map(|chat: &Request| chat.message(-1))
        .collect()
}

#[test]
fn what_was_recovered_gives_way_before_turns_and_is_never_taken_for_the_input() {
    // It was a part of the input: turns went for it, and then the person was told that their message was too long.
    let words = "a word and another one of many ".repeat(5);
    let lines: Vec<String> = (1..=6)
        .map(|n| {
            format!("Remember that bay {n} has {words}")
                .trim()
                .to_owned()
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    for layout in ["classic", "cache-friendly"] {
        let mut told = 0;
        for window in [2_500, 3_500, 6_000, 12_000] {
            let server = counting(&[]);
            let home = Home::new();
            let config = |window: u32| {
                let more = format!(
                    "context: {{recovery: true, layout: {layout}}}\n\
                     models: {{default: it, it: {{provider: there, model: scripted, context_window: {window}}}}}"
                );
                home.config(&server, &more);
            };
            config(WINDOW);
            home.lines("s", &lines);
            config(window);
            let run = home.ask("s", "where were we?");
            assert_eq!(run.code, Some(0), "{run}");
            assert!(!run.stderr.contains("your message is larger"), "{run}");
            let chats = server.chats();
            // A summary may be asked for behind it.
            let mut asking = chats.iter().rev();
            let request = asking.find(|chat| {
                let asked = chat.message(-1);
                let mut lines = asked.lines();
                lines.any(|line| line.ends_with("where were we?") && !line.starts_with("User:"))
            });
            let request = request.unwrap_or_else(|| panic!("{layout} {window}: {run}"));
            let sent = request.body.to_string();
            let turns = lines.iter().filter(|line| sent.contains(**line)).count();
            if sent.contains(RECOVERED) {
                assert_eq!(turns, lines.len(), "no turn went for it: {layout} {window}");
                told += 1;
            }
        }
        assert!(told > 0, "{layout}: told where there is room");
    }
}

#[test]
fn the_buffer_begins_with_the_exchange_that_fills_half_of_the_window() {
    let server = counting(&[(1, WINDOW * 49 / 100), (2, WINDOW / 2)]);
    let home = Home::new();
    home.config(&server, "");
    home.ask("s", "at 49 %");
    assert_eq!(buffer(&home), "");
    let run = home.lines("s", &["at 50 %", "one\n## forged", "two", "three"]);
    assert_eq!(run.code, Some(0), "{run}");
    let buffer = buffer(&home);
    assert!(
        buffer.starts_with("# Working Buffer\n\n**Status:** ACTIVE\n"),
        "{buffer}"
    );
    assert!(!buffer.contains("49 %"), "{buffer}");
    let humans = buffer.matches("] Human\n").count();
    assert!(humans >= 4, "{buffer}");
    assert_eq!(buffer.matches("] Agent (summary)\n").count(), humans);
    assert!(buffer.find("at 50 %") < buffer.find("three"), "{buffer}");
}

#[test]
fn with_a_threshold_of_nothing_there_is_no_buffer() {
    let server = counting(&[(1, WINDOW * 7 / 10)]);
    let home = Home::new();
    home.config(&server, "context: {buffer_threshold: 0}");
    home.ask("s", "hello");
    assert_eq!(buffer(&home), "");
}

#[test]
fn the_request_that_a_compaction_made_room_for_tells_once_where_the_work_stood() {
    let server = counting(&[(4, 25_000)]);
    let home = Home::new();
    home.config(&server, "context: {strategy: full, guards: [proactive]}");
    let run = home.lines(
        "s",
        &[
            "Remember that the falcon lands at noon",
            "the walrus",
            "three",
            "about the otter",
            "five",
            "six",
            "seven",
            "where were we?",
            "nine",
        ],
    );
    assert_eq!(run.code, Some(0), "{run}");
    let asked = asked(&server);
    let told: Vec<bool> = asked.iter().map(|it| it.contains(RECOVERED)).collect();
    assert_eq!(
        told,
        [false, false, false, false, true, false, false, true, false],
        "{run}"
    );
    let fifth = &asked[4];
    let typed = fifth.find("five");
    let recovered = fifth.find(RECOVERED);
    let buffer = fifth.find("about the otter");
    let state = fifth.find("the falcon lands at noon");
    let day = fifth.find("**User:** the walrus");
    assert!(typed.is_some() && typed < recovered, "{fifth}");
    assert!(
        recovered < buffer && buffer < state && state < day,
        "{fifth}"
    );
    assert!(
        asked[7].contains("the falcon lands at noon"),
        "{}",
        asked[7]
    );
    let said = home.said("s");
    assert_eq!(said[8], "user: five", "history has what was typed");
    assert_eq!(said[14], "user: where were we?");
    let state = std::fs::read_to_string(folder(&home).join("SESSION-STATE.md")).unwrap();
    assert_eq!(state.matches("**remember**").count(), 1, "{state}");
    let closed = closed(&home);
    assert_eq!(closed.len(), 1, "{closed:?}");
    assert!(closed[0].contains("**Status:** CLOSED"), "{closed:?}");
    let marker = server.chats()[4].body.to_string();
    for place in [
        "history/s.json",
        "sessions/s/SESSION-STATE.md",
        "workspace/memory",
    ] {
        assert!(marker.contains(place), "{place}: {marker}");
    }
}

#[test]
fn what_a_compaction_takes_out_is_in_the_buffer_although_none_was_begun() {
    // Two thirds of the window are passed at once, in a turn whose own exchange begins no buffer.
    let server = counting(&[(5, 25_000)]);
    let home = Home::new();
    let more = "context: {strategy: full, guards: [proactive], buffer_threshold: 0.9}";
    home.config(&server, more);
    let run = home.lines(
        "s",
        &["one", "the heron", "three", "four", "five", "six", "seven"],
    );
    assert_eq!(run.code, Some(0), "{run}");
    let asked = asked(&server);
    assert!(asked[5].contains(RECOVERED), "{}", asked[5]);
    assert!(asked[5].contains("the heron"), "{}", asked[5]);
    assert_eq!(closed(&home).len(), 1);
}

#[test]
fn a_turn_that_fails_leaves_the_recovery_for_the_next() {
    let mut turn = 0;
    let server = Script::answering(move |_| {
        turn += 1;
        match turn {
            4 => say("Reply.").usage(25_000, 5),
            5 => cogtrix::testing::server::fail(400, "no"),
            _ => say("Reply.").usage(10, 5),
        }
    })
    .serve();
    let home = Home::new();
    home.config(&server, "context: {strategy: full, guards: [proactive]}");
    let lines = [
        "one",
        "two",
        "three",
        "the otter",
        "five",
        "/retry",
        "seven",
    ];
    home.lines("s", &lines);
    let told: Vec<bool> = asked(&server)
        .iter()
        .map(|it| it.contains(RECOVERED))
        .collect();
    assert_eq!(told, [false, false, false, false, true, true, false]);
}

#[test]
fn without_recovery_nothing_is_told() {
    let server = counting(&[(4, 25_000)]);
    let home = Home::new();
    home.config(
        &server,
        "context: {strategy: full, guards: [proactive], recovery: false}",
    );
    home.lines(
        "s",
        &["one", "two", "three", "four", "five", "where were we?"],
    );
    assert!(asked(&server).iter().all(|it| !it.contains(RECOVERED)));
}
