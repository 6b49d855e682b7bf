//! What people suffer from where conversations are compacted: endless tries, rules and files that are gone, switches
//! that are not heeded, requests for a summary that are too long. Each with every strategy and guard, through the real
//! program.

use std::path::PathBuf;

use cogtrix::testing::server::{Reply, Request, Script, Server, fail, say};
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::is_summary;
use crate::support::run::Run;

const SUMMARY: &str = "- They count messages, one after the other; the rotation is on Fridays.";

/// Every way in which messages are compacted by themselves, with a number of them that is soon reached.
const WAYS: [&str; 5] = [
    "strategy: rolling, guards: []",
    "strategy: window, max_history_messages: 10, guards: []",
    "strategy: prefix, guards: []",
    "strategy: full, guards: [threshold]",
    "strategy: full, guards: [proactive], proactive_summary: true",
];

fn summaries(server: &Server) -> Vec<Request> {
    let chats = server.chats().into_iter();
    chats.filter(is_summary).collect()
}

/// Before which requests of the talk (counted from 1) a summary was asked for.
fn asked_before(server: &Server) -> Vec<usize> {
    let mut next = 1;
    let mut asked = Vec::new();
    for chat in server.chats() {
        if is_summary(&chat) {
            asked.push(next);
        } else {
            next += 1;
        }
    }
    asked
}

/// Answers talk with about 110 tokens, and requests for a summary with what `summary` says.
fn server(summary: impl Fn() -> Reply + Send + 'static) -> Server {
    Script::answering(move |request| {
        if is_summary(request) {
            summary()
        } else {
            say("tide ".repeat(90)).without_usage()
        }
    })
    .serve()
}

/// Compacts in such a way, in the foreground, in a window of so many tokens.
fn config(home: &Home, server: &Server, way: &str, window: u32, memory: &str) {
    let models = format!(
        "models: {{default: it, it: {{provider: there, model: scripted, context_window: {window}, max_tokens: 300}}}}"
    );
    let config = format!(
        "memory: {{background: false, {memory}}}\ntools: {{preset: none}}\ncontext: {{{way}}}\n{models}"
    );
    home.config(server, &config);
}

/// So many turns of about 110 tokens each way, and more lines behind them.
fn talk(home: &Home, turns: usize, then: &[&str]) -> Run {
    let lines: Vec<String> = (1..=turns)
        .map(|n| format!("Message number {n}. {}", "The tide is high. ".repeat(24)))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    home.lines("s", &[&lines, then].concat())
}

fn hybrid(home: &Home) -> Value {
    let file = std::fs::read(home.history("s_hybrid.json")).unwrap();
    serde_json::from_slice(&file).unwrap()
}

/// Whether anything stands for messages in the files.
fn is_shortened(home: &Home) -> bool {
    let hybrid = hybrid(home);
    hybrid["compaction"].is_object() || hybrid["summary"].is_string()
}

#[test]
fn a_model_that_never_summarises_is_asked_a_few_times_in_forty_turns() {
    for way in WAYS {
        let home = Home::new();
        let server = server(|| fail(500, "overloaded"));
        config(&home, &server, way, 3_000, "");
        let run = talk(&home, 40, &[]);
        assert_eq!(run.code, Some(0), "{way}: {run}");
        assert_eq!(run.stdout.matches("tide tide").count(), 40 * 45, "{way}");
        // Three failures in a row, and one in ten turns from then on.
        let mut asked = asked_before(&server);
        asked.dedup();
        assert!((1..=3 + 40 / 10).contains(&asked.len()), "{way}: {asked:?}");
        assert!(summaries(&server).len() <= 10, "{way}");
        let told = run.stderr.lines().count();
        assert!(told < 30, "{way}: {told} lines were told: {run}");
    }
}

#[test]
fn a_model_that_summarises_again_is_asked_within_ten_turns() {
    let home = Home::new();
    let mut summaries = 0;
    let server = Script::answering(move |request| {
        summaries += usize::from(is_summary(request));
        match (is_summary(request), summaries) {
            (true, 1..=3) => fail(500, "overloaded"),
            (true, _) => say(SUMMARY),
            (false, _) => say("Noted."),
        }
    })
    .serve();
    config(&home, &server, "strategy: window, guards: []", 32_768, "");
    let lines: Vec<String> = (1..=50).map(|n| format!("message number {n}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let run = home.lines("s", &lines);
    // A window is due every ninth turn.
    assert_eq!(asked_before(&server), [21, 30, 39, 48], "{run}");
    assert_eq!(hybrid(&home)["compaction"]["text"], SUMMARY);
}

#[test]
fn a_compaction_that_fails_leaves_the_files_as_they_were_and_the_earlier_one_counts() {
    let refusals: [fn() -> Reply; 5] = [
        || fail(401, "invalid api key"),
        || fail(429, "slow down"),
        || fail(500, "overloaded"),
        || say(""),
        || say("<think>They count.</think>"),
    ];
    for refusal in refusals {
        let home = Home::new();
        let good = server(|| say(SUMMARY));
        config(&home, &good, WAYS[3], 32_768, "");
        talk(&home, 6, &["/compact"]);
        talk(&home, 6, &[]);
        let history = home.data().join("history");
        let files = || {
            let mut files = Home::files(&history);
            // What the try cost is counted.
            let snapshot = files.remove(&PathBuf::from("s.json")).unwrap();
            let mut snapshot: Value = serde_json::from_slice(&snapshot).unwrap();
            snapshot["meta"].take();
            (files, snapshot)
        };
        let before = files();
        let bad = server(refusal);
        config(&home, &bad, WAYS[3], 32_768, "");
        let run = home.lines("s", &["/compact"]);
        assert!(run.stderr.contains("not compacted: "), "{run}");
        assert!(before == files(), "{run}");
        home.ask("s", "go on");
        let sent = bad.chats().pop().unwrap().body.to_string();
        assert!(sent.contains("the rotation is on Fridays"), "{sent}");
        let named = sent.matches("Message number ").count();
        assert_eq!(named, 6, "{sent}");
    }
}

#[test]
fn rules_of_a_project_and_pins_stand_word_for_word_in_every_request_and_in_no_summary() {
    const RULES: &str = "# Rules\n\nTabs, never spaces; ask before you touch `src/gate.rs`.\n";
    const PIN: &str = "The harbour office: 4 Quay Road, open on Fridays.";
    for way in WAYS {
        let home = Home::new();
        home.write("AGENTS.md", RULES);
        home.trust();
        let server = server(|| say(SUMMARY));
        config(&home, &server, way, 3_000, "");
        home.lines("s", &[&format!("/pin {PIN}")]);
        talk(&home, 24, &["/compact"]);
        home.ask("s", "go on");
        assert!(is_shortened(&home), "{way}");
        let chats = server.chats();
        assert!(summaries(&server).len() > 1, "{way}");
        for (n, chat) in chats.iter().enumerate() {
            let has = chat.body.to_string().contains("never spaces");
            assert_eq!(has, !is_summary(chat), "{way}, request {n}");
            for kept in [RULES.trim(), PIN] {
                assert_eq!(chat.system().contains(kept), has, "{way}, request {n}");
            }
        }
    }
}

#[test]
fn which_files_are_worked_on_and_what_went_wrong_stays_known_after_every_compaction() {
    for way in WAYS {
        let home = Home::new();
        let server = server(|| say(SUMMARY));
        config(&home, &server, way, 3_000, "mode: code");
        let told = [
            "Fix the bug in src/auth.py, please; it fails:\\",
            "Traceback (most recent call last):\\",
            "  File \"src/auth.py\", line 42, in login\\",
            "KeyError: 'ana'",
        ];
        home.lines("s", &told);
        home.lines("s", &["And look into src/users/table.rs as well."]);
        talk(&home, 24, &["/compact"]);
        assert!(is_shortened(&home), "{way}");
        home.ask("s", "go on");
        let last = server.chats().pop().unwrap();
        let body = last.body["messages"].as_array().unwrap()[1..].to_vec();
        assert!(!json!(body).to_string().contains("auth.py"), "{way}");
        for known in ["src/auth.py", "src/users/table.rs", "KeyError: 'ana'"] {
            assert!(last.system().contains(known), "{way}: {}", last.system());
        }
    }
}

#[test]
fn where_it_is_switched_off_no_strategy_and_no_guard_asks_a_model() {
    for way in WAYS {
        let home = Home::new();
        let server = server(|| say(SUMMARY));
        let off = "modes: {conversation: {summarization: false}}";
        let way = format!("{way}, enable_auto_summary: false");
        config(&home, &server, &way, 3_000, off);
        let run = talk(&home, 30, &[]);
        assert_eq!(run.code, Some(0), "{way}: {run}");
        assert!(summaries(&server).is_empty(), "{way}");
        // The person may still ask for it.
        home.lines("s", &["/compact"]);
        assert!(!summaries(&server).is_empty(), "{way}");
    }
}

#[test]
fn no_request_for_a_summary_is_longer_than_the_window_however_full_the_session_is() {
    // The server counts half as much again as is estimated, and refuses what is longer than its window.
    const WINDOW: usize = 3_000;
    for way in WAYS {
        let home = Home::new();
        let server = Script::answering(|request| {
            let said = request.body["messages"].as_array().unwrap();
            let chars: usize = said
                .iter()
                .map(|it| it["content"].as_str().unwrap_or_default().len())
                .sum();
            let counted = chars * 3 / 8;
            if counted > WINDOW {
                return fail(400, "maximum context length is 3000 tokens");
            }
            let counted = u32::try_from(counted).unwrap();
            if is_summary(request) {
                say(SUMMARY).usage(counted, 20)
            } else {
                say("tide ".repeat(90)).usage(counted, 90)
            }
        })
        .serve();
        config(&home, &server, way, 3_000, "");
        let run = talk(&home, 30, &["/compact"]);
        assert_eq!(run.code, Some(0), "{way}: {run}");
        assert!(run.stdout.contains("Compacted: "), "{way}: {run}");
        assert!(!run.stderr.contains("maximum context"), "{way}: {run}");
        assert!(summaries(&server).len() > 1, "{way}: {run}");
    }
}

#[test]
fn a_session_that_was_compacted_by_itself_is_resumed_as_it_was_sent() {
    for way in WAYS {
        let home = Home::new();
        let server = server(|| say(SUMMARY));
        config(&home, &server, way, 3_000, "");
        let run = talk(&home, 24, &[]);
        assert!(is_shortened(&home), "{way}: {run}");
        let (asked, record) = (summaries(&server).len(), hybrid(&home));
        // Resumed three times without a word, and then with one.
        for _ in 0..3 {
            home.lines("s", &["/context"]);
        }
        assert_eq!(summaries(&server).len(), asked, "{way}");
        assert_eq!(hybrid(&home), record, "{way}");
        let before = server.chats();
        let run = home.ask("s", "go on");
        assert!(!run.stderr.contains("left out"), "{way}: {run}");
        let last = server.chats().pop().unwrap().body.to_string();
        assert!(last.contains("the rotation is on Fridays"), "{way}");
        assert!(last.len() / 4 < 3_000, "{way}: {} bytes", last.len());
        assert!(server.chats().len() <= before.len() + 2, "{way}");
    }
}

#[test]
fn a_larger_model_needs_no_compaction_that_a_smaller_one_began() {
    const TURNS: usize = 9;
    let home = Home::new();
    let (held, release) = say(SUMMARY).hold_after(0);
    let mut held = Some(held);
    let server = Script::answering(move |request| {
        if is_summary(request) {
            held.take().unwrap_or_else(|| say(SUMMARY))
        } else {
            say("tide ".repeat(90)).without_usage()
        }
    })
    .models(["scripted", "large"])
    .serve();
    home.config(
        &server,
        "tools: {preset: none}\ncontext: {strategy: full, guards: [threshold]}\n\
         models: {default: it, it: {provider: there, model: scripted, context_window: 3000, max_tokens: 300}, \
         large: {provider: there, model: large, context_window: 32768, max_tokens: 300}}",
    );
    let args = ["-c", "test.yaml", "-s", "s", "--lines"];
    let mut run = home.cogtrix(&args).open_stdin().start();
    // Behind the ninth turn the window is three quarters full.
    for n in 1..=TURNS {
        run.say(&format!(
            "Message number {n}. {}",
            "The tide is high. ".repeat(24)
        ));
        run.wait_for_times(&"tide ".repeat(89), n);
    }
    server.wait_for_chats(TURNS + 1);
    run.say("/model large");
    run.wait_for("large");
    release.go_on();
    run.say("go on");
    run.wait_for_times(&"tide ".repeat(89), TURNS + 1);
    run.say("and on");
    let run = run.wait();
    assert_eq!(run.code, Some(0), "{run}");
    let last = server.chats().pop().unwrap();
    assert_eq!(last.body["model"], "large");
    let sent = last.body["messages"].as_array().unwrap().len();
    assert_eq!(sent, 1 + 2 * (TURNS + 1) + 1, "{run}");
}

#[test]
fn a_summary_in_another_language_s_script_never_enters_a_talk() {
    for way in WAYS {
        let home = Home::new();
        let mut asked = 0;
        let server = Script::answering(move |request| {
            if !is_summary(request) {
                return say("прилив ".repeat(60)).without_usage();
            }
            asked += 1;
            if asked == 1 {
                say(SUMMARY)
            } else {
                say("- Они говорят о приливе; смена по пятницам.")
            }
        })
        .serve();
        config(&home, &server, way, 3_000, "");
        let lines: Vec<String> = (1..=24)
            .map(|n| format!("Сообщение номер {n}. {}", "Прилив высок. ".repeat(24)))
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let run = home.lines("s", &lines);
        assert_eq!(run.code, Some(0), "{way}: {run}");
        for chat in server.chats() {
            let asked = chat.message(-1).replace('\n', " ");
            let is_asked = asked.contains("in the language of the ");
            assert_eq!(is_asked, is_summary(&chat), "{way}: {asked}");
            assert!(
                !chat.body.to_string().contains("one after the other"),
                "{way}"
            );
        }
        let last = server.chats().pop().unwrap().body.to_string();
        assert!(last.contains("смена по пятницам"), "{way}: {run}");
    }
}

#[test]
fn where_nobody_tells_the_window_a_usual_one_is_assumed_and_kept_to() {
    let home = Home::new();
    let server = Script::answering(|request| {
        if is_summary(request) {
            say(SUMMARY)
        } else {
            say("tide ".repeat(1_000)).without_usage()
        }
    })
    .window(None)
    .serve();
    home.config(
        &server,
        "memory: {background: false}\ntools: {preset: none}\ncontext: {strategy: full, guards: [threshold]}\n\
         models: {default: it, it: {provider: there, model: scripted}}",
    );
    let run = talk(&home, 30, &[]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(is_shortened(&home), "{run}");
    let last = server.chats().pop().unwrap().body.to_string();
    assert!(last.contains("the rotation is on Fridays"), "{run}");
}
