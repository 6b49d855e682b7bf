//! Damaged files, impossible input, servers that answer anything at all: a clear word each, and nothing lost
//! (E16, E17, C76, A12).

use std::path::PathBuf;

use cogtrix::testing::server::{Reply, Server, fail, hang_up, raw, say, stream_of};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::home::Home;
use crate::support::run::Run;

/// The files of a session, as they are after a run that was killed.
const FILES: [&str; 5] = [
    "s.json",
    "s.journal.jsonl",
    "s_hybrid.json",
    "s_mode_state.json",
    "s.lock",
];

/// What has become of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    Empty,
    Half,
    WrongType,
    Binary,
    Folder,
    Newer,
}

const DAMAGES: [Damage; 6] = [
    Damage::Empty,
    Damage::Half,
    Damage::WrongType,
    Damage::Binary,
    Damage::Folder,
    Damage::Newer,
];

impl Damage {
    fn of(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Empty | Self::Folder => Vec::new(),
            Self::Half => bytes[..bytes.len() / 2].to_vec(),
            Self::WrongType => b"\"just a text\"".to_vec(),
            Self::Binary => (0..=255).rev().cycle().take(2048).collect(),
            Self::Newer => {
                let text =
                    String::from_utf8_lossy(bytes).replace(",\"type\":", ",\"v\":99,\"type\":");
                text.replace("\"version\":1", "\"version\":99").into_bytes()
            }
        }
    }
}

/// A home with session `s` of three turns and a compaction, killed in the fourth, and a session `other`.
fn killed() -> Home {
    let home = Home::new();
    let long = |word: &str| {
        say(format!(
            "{word}, {}",
            "with more words than a summary has. ".repeat(8)
        ))
    };
    let server = Server::start([
        say("Other."),
        long("First"),
        long("Second"),
        say("- They said first and second things."),
        say("Third."),
        say("Fourth").stall_after(0),
    ]);
    home.config(&server, "memory: {timestamps: off}");
    home.ask("other", "the other session");
    home.lines("s", &["one", "two", "/compact"]);
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "--lines"])
        .stdin("three\nfour\n")
        .start();
    server.wait_for_chats(6);
    run.signal(Signal::KILL);
    run.wait();
    for file in FILES {
        assert!(home.history(file).exists(), "{file}");
    }
    home
}

fn copy_of(template: &Home) -> Home {
    let home = Home::new();
    for (path, bytes) in Home::files(&template.data()) {
        home.write(home.data().join(path), bytes);
    }
    home
}

/// Every file of the session `other`.
fn others(home: &Home) -> Vec<(PathBuf, Vec<u8>)> {
    let files = Home::files(&home.data()).into_iter();
    files
        .filter(|(path, _)| path.to_string_lossy().contains("other"))
        .collect()
}

#[test]
fn any_file_may_be_damaged_in_any_way_and_the_chat_goes_on_or_refuses_without_touching_it() {
    let template = killed();
    for file in FILES {
        for damage in DAMAGES {
            if file == "s.lock" && damage == Damage::Newer {
                continue;
            }
            let case = format!("{file}: {damage:?}");
            let home = copy_of(&template);
            let server = Server::start([say("Still here."), say("And here.")]);
            home.config(&server, "memory: {timestamps: off}");
            let path = home.history(file);
            let damaged = damage.of(&std::fs::read(&path).unwrap());
            if damage == Damage::Folder {
                std::fs::remove_file(&path).unwrap();
                home.write(path.join("inside"), "kept");
            } else {
                home.write(&path, &damaged);
            }
            let before = Home::files(&home.data());
            let others_before = others(&home);
            let run = home.ask("s", "still there?");
            assert_eq!(
                others(&home),
                others_before,
                "{case}: the other session is not touched"
            );
            assert!(!run.stderr.contains("panicked"), "{case}: {run}");
            if run.code == Some(0) {
                assert_ne!(damage, Damage::Newer, "{case} is refused: {run}");
                assert_eq!(run.stdout, "Still here.\n", "{case}: {run}");
                goes_on(&home, &case, file, &damaged, damage);
                let sent = server.chats()[0].body.to_string();
                for line in home
                    .said("s")
                    .iter()
                    .filter_map(|line| line.strip_prefix("user: "))
                {
                    let is_summarised = line == "one" || line == "two";
                    assert!(
                        is_summarised || line == "and now?" || sent.contains(line),
                        "{case}: {line} is kept and not sent: {sent}"
                    );
                }
            } else {
                assert_eq!(run.code, Some(1), "{case}: {run}");
                assert!(
                    run.stderr.contains(file),
                    "{case}: the file is named: {run}"
                );
                let refused =
                    damage == Damage::Newer || (file == "s.lock" && damage == Damage::Folder);
                assert!(refused, "{case}: {run}");
                let mut after = Home::files(&home.data());
                after.retain(|path, _| !path.ends_with("s.lock") || before.contains_key(path));
                let mut before = before;
                if damage == Damage::Newer {
                    // A lock that is had says whose it was.
                    before.retain(|path, _| !path.ends_with("s.lock"));
                    after.retain(|path, _| !path.ends_with("s.lock"));
                }
                assert_eq!(after, before, "{case}: nothing is changed");
            }
        }
    }
}

/// The session after a run that got by with a damaged file.
fn goes_on(home: &Home, case: &str, file: &str, damaged: &[u8], damage: Damage) {
    let said = home.said("s");
    let answered = ["user: still there?", "assistant: Still here."];
    assert_eq!(said[said.len() - 2..], answered, "{case}");
    let kept: Vec<&[u8]> = match (file, damage) {
        ("s.json", _) => vec![],
        _ => vec![b"assistant: First, with"],
    };
    let all = said.join("\n");
    for kept in kept {
        assert!(
            all.contains(&*String::from_utf8_lossy(kept)),
            "{case}: {all}"
        );
    }
    if file != "s.journal.jsonl" {
        assert!(
            all.contains("user: three\nassistant: Third."),
            "{case}: the journal's turns are there: {all}"
        );
    }
    if matches!(file, "s.json") && damage == Damage::Half {
        assert!(
            all.starts_with("user: one\n"),
            "{case}: what is whole comes back: {all}"
        );
    }
    let files = Home::files(&home.data());
    let is_copy = |path: &PathBuf| path.to_string_lossy().contains(&format!("{file}.damaged-"));
    let copies: Vec<_> = files.iter().filter(|(path, _)| is_copy(path)).collect();
    let is_noticeable = match file {
        "s.lock" => false,
        // An empty journal is one in which nothing happened.
        "s.journal.jsonl" => damage != Damage::Empty,
        _ => true,
    };
    let n_copies = usize::from(is_noticeable);
    assert_eq!(copies.len(), n_copies, "{case}: {:?}", files.keys());
    if let Some((_, copy)) = copies.first() {
        let original = if damage == Damage::Folder {
            b"kept".as_slice()
        } else {
            damaged
        };
        assert_eq!(
            copy.as_slice(),
            original,
            "{case}: the copy is the original"
        );
    }
    let again = home.ask("s", "and now?");
    assert_eq!(
        (again.stderr.as_str(), again.code),
        ("", Some(0)),
        "{case}: mended once: {again}"
    );
    assert_eq!(home.said("s").len(), said.len() + 2, "{case}");
}

#[test]
fn what_was_mended_is_said_once_with_the_place_of_the_copy() {
    let home = copy_of(&killed());
    let path = home.history("s.json");
    let whole = std::fs::read(&path).unwrap();
    home.write(&path, &whole[..whole.len() - 200]);
    let run = home
        .cogtrix(&["-s", "s", "--lines"])
        .stdin("/history 1\n")
        .run();
    insta::assert_snapshot!(home.shown(&run), @"
    (3 earlier turns; /history all)

    [4] You, TIME
    four

    Assistant, TIME
    [no reply: interrupted]
    --- stderr
    warning: ROOT/data/history/s.json was damaged: recovered 3 messages, damaged file kept as ROOT/data/history/s.json.damaged-TIME
    warning: ROOT/data/history/s_hybrid.json pointed beyond the history and was corrected
    warning: the last turn was cut off when cogtrix ended; `/retry` asks again
    No model found: run `cogtrix init`, start Ollama, or set OPENAI_BASE_URL, OPENAI_API_KEY or ANTHROPIC_API_KEY
    --- exit 0
    ");
}

#[test]
fn a_damaged_session_is_listed_and_shown_without_touching_it() {
    let home = copy_of(&killed());
    home.write(home.history("s.json"), "\"just a text\"");
    let before = Home::files(&home.data());
    let list = home.cogtrix(&["sessions"]).run();
    assert_eq!(list.code, Some(0), "{list}");
    assert!(
        list.stdout.contains("damaged; opening it recovers"),
        "{list}"
    );
    assert!(list.stdout.contains("the other session"), "{list}");
    let show = home.cogtrix(&["sessions", "show", "s"]).run();
    assert!(show.stdout.contains("Third."), "{show}");
    assert_eq!(Home::files(&home.data()), before);
}

#[test]
fn a_data_folder_that_is_no_folder_is_a_clear_error() {
    for place in ["data", "data/history"] {
        let home = Home::new();
        home.write(home.data().parent().unwrap().join(place), "a file");
        let run = home.cogtrix(&["-p", "hi"]).run();
        assert_eq!(run.code, Some(1), "{place}: {run}");
        assert!(run.stderr.contains(place), "{place}: {run}");
        assert_eq!(run.stderr.matches("error:").count(), 1, "{place}: {run}");
    }
}

#[test]
fn what_is_remembered_about_trust_may_be_damaged_and_only_costs_the_trust() {
    for damage in [
        "",
        "{\"version\":1,\"fi",
        "[1]",
        "\u{0}\u{1}",
        "{\"version\":99}",
    ] {
        let home = Home::new();
        let server = Server::start([say("ok")]);
        let config = home.config(&server, "");
        std::fs::rename(config, home.work().join("cogtrix.yaml")).unwrap();
        let path = home.home().join(".local/state/cogtrix/trust.json");
        home.write(&path, damage);
        let run = home.cogtrix(&["-p", "hi"]).run();
        assert_eq!(run.code, Some(2), "{damage:?}: {run}");
        assert!(run.stderr.contains("--trust-folder"), "{damage:?}: {run}");
        let run = home.cogtrix(&["-p", "hi", "--trust-folder"]).run();
        assert_eq!(
            (run.stdout.as_str(), run.code),
            ("ok\n", Some(0)),
            "{damage:?}: {run}"
        );
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            damage,
            "it is left unchanged"
        );
    }
}

#[test]
fn a_text_of_ones_own_that_cannot_be_read_is_named() {
    for (name, damage) in [
        ("modes/code.md", vec![0, 1, 2]),
        ("prompts/base.md", vec![b'x'; 70_000]),
        ("models.yaml", b"- [".to_vec()),
    ] {
        let home = Home::new();
        home.write(home.home().join(".config/cogtrix").join(name), &damage);
        let run = home.cogtrix(&["-p", "hi"]).run();
        assert_eq!(run.code, Some(2), "{name}: {run}");
        assert!(run.stderr.contains(name), "{name}: {run}");
        assert!(!home.data().exists(), "{name}");
    }
}

/// Asks once and again, and holds that the failure was one clear error that left a valid history.
fn fails_clearly(case: &str, reply: Reply) -> (Home, Run) {
    let home = Home::new();
    let server = Server::start([reply, say("Now it works.")]);
    home.config(&server, "memory: {timestamps: off}");
    let run = home.ask("s", "hello");
    assert!(matches!(run.code, Some(1 | 3)), "{case}: {run}");
    assert_eq!(run.stderr.matches("error: ").count(), 1, "{case}: {run}");
    assert!(
        run.stderr.lines().all(|line| line.chars().count() < 600),
        "{case}: {run}"
    );
    let said = home.said("s");
    assert_eq!(said.len(), 2, "{case}: {said:?}");
    let closed = said[1].contains("[no reply: ") || said[1].contains("[reply cut: ");
    assert!(closed, "{case}: {said:?}");
    let retried = home.lines("s", &["/retry"]);
    assert_eq!(
        (retried.stdout.as_str(), retried.code),
        ("Now it works.\n", Some(0)),
        "{case}: {retried}"
    );
    let chats = server.chats();
    assert_eq!(chats.len(), 2, "{case}");
    assert_eq!(chats[1].message(-1), "hello", "{case}");
    assert!(
        !chats[1].body.to_string().contains("[no reply"),
        "{case}: the failed turn is replaced"
    );
    (home, run)
}

#[test]
fn whatever_a_server_answers_is_one_clear_error_and_retry_works_afterwards() {
    let html = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>";
    let chunk = |text: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    let cases = [
        ("html", raw(200, "text/html", [html])),
        ("html with an error", raw(502, "text/html", [html])),
        ("empty", raw(200, "text/event-stream", [""; 0])),
        ("empty object", raw(200, "application/json", ["{}"])),
        (
            "no json",
            raw(200, "application/json", ["{\"choices\": [{"]),
        ),
        (
            "no json in the stream",
            stream_of(["data: {\"choices\": [{\n\n", "data: [DONE]\n\n"]),
        ),
        ("no utf-8", stream_of([b"data: \xff\xfe\xfa\n\n".to_vec()])),
        ("nothing but the end", stream_of(["data: [DONE]\n\n"])),
        (
            "binary",
            raw(200, "application/octet-stream", [vec![0_u8, 159, 146, 150]]),
        ),
        ("a stream cut half-way", say("Half of a reply").cut_after(1)),
        (
            "a stream without its end",
            say("Half of a reply").end_after(1),
        ),
        (
            "an error in the stream",
            say("Half of a reply").error_after(1, "out of memory"),
        ),
        (
            "garbage in the stream",
            say("Half of a reply").garbage_after(1, b"\x00\xffgarbage\n\n"),
        ),
        ("a closed connection", hang_up()),
        ("status 500", fail(500, "the model crashed")),
        ("status 404", fail(404, "model not found")),
        ("status 401", fail(401, "bad key")),
        ("blanks only", say("  \n ")),
        (
            "cut characters",
            stream_of([
                chunk("half").into_bytes(),
                b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xe6\x97".to_vec(),
            ]),
        ),
    ];
    for (case, reply) in cases {
        fails_clearly(case, reply);
    }
}

#[test]
fn the_servers_own_words_are_quoted_in_one_line() {
    let (home, run) = fails_clearly(
        "500",
        fail(400, "the model\ncrashed: \u{1b}[31mout of memory"),
    );
    insta::assert_snapshot!(home.shown(&run), @"
    --- stderr
    error: http://127.0.0.1:PORT/v1 answered 400: the model crashed: [31mout of memory
    --- exit 1
    ");
}

#[test]
fn a_closed_port_is_an_error_of_the_turn_and_the_chat_goes_on() {
    let home = Home::new();
    home.config_of(
        "openai",
        "http://127.0.0.1:9/v1",
        "memory: {timestamps: off}",
    );
    let run = home.lines("s", &["hello", "/history", "/quit"]);
    insta::assert_snapshot!(home.shown(&run), @"
    [1] You, TIME
    hello

    Assistant, TIME
    [no reply: cannot reach http://127.0.0.1:PORT/v1: connection refused]
    --- stderr
    error: cannot reach http://127.0.0.1:PORT/v1: connection refused
    hint: check that the server is running and base_url is correct; `/retry` tries again
    --- exit 0
    ");
    let server = Server::start([say("Here I am.")]);
    home.config(&server, "memory: {timestamps: off}");
    let run = home.lines("s", &["/retry"]);
    assert_eq!(run.stdout, "Here I am.\n", "{run}");
}

#[test]
fn a_line_that_never_ends_is_ended_by_its_size() {
    let home = Home::new();
    let endless = "data: ".to_owned() + &"x".repeat(1 << 20);
    let reply = raw(200, "text/event-stream", (0..40).map(|_| endless.clone()));
    let server = Server::start([reply, say("Fine.")]);
    home.config(&server, "");
    let run = home.ask("s", "hello");
    assert_eq!(
        run.code,
        Some(3),
        "{}",
        &run.stderr[..run.stderr.len().min(500)]
    );
    assert_eq!(run.stderr.matches("error: ").count(), 1);
    assert!(run.stderr.len() < 1000, "{}", run.stderr.len());
    assert_eq!(home.ask("s", "again").stdout, "Fine.\n");
}

#[test]
fn enormous_input_is_sent_cut_said_and_kept_whole() {
    let home = Home::new();
    let server = Server::start([say("Long."), say("Short.")]);
    home.config(&server, "memory: {timestamps: off}");
    let enormous = "twenty million bytes ".repeat(1_000_000);
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s"])
        .stdin(enormous.as_str())
        .run();
    assert_eq!(
        (run.stdout.as_str(), run.code),
        ("Long.\n", Some(0)),
        "{run}"
    );
    assert!(
        run.stderr
            .contains("characters from its middle were not sent"),
        "{run}"
    );
    assert!(server.chats()[0].message(-1).contains("[…truncated…]"));
    let kept = home.snapshot("s");
    assert_eq!(
        kept["messages"][0]["content"].as_str().map(str::len),
        Some(enormous.trim().len())
    );
    let next = home.ask("s", "and now a short one");
    assert_eq!(
        (next.stdout.as_str(), next.code),
        ("Short.\n", Some(0)),
        "{next}"
    );
}

#[test]
fn input_beyond_all_bounds_and_binary_input_are_refused() {
    let home = Home::new();
    let beyond = vec![b'x'; 64 * 1024 * 1024 + 1];
    for (case, bytes) in [("too much", beyond), ("binary", vec![b'a', 0, b'b'])] {
        let run = home.cogtrix(&["-s", "s"]).stdin(bytes).run();
        assert_eq!(run.code, Some(2), "{case}: {run}");
        assert_eq!(run.stderr.matches("error: ").count(), 1, "{case}: {run}");
        assert!(!home.history("s.json").exists(), "{case}");
    }
}

#[test]
fn control_characters_and_broken_characters_are_carried_and_kept() {
    let home = Home::new();
    let server = Server::start([say("\u{1b}]0;title\u{7}ok\u{202e}")]);
    home.config(&server, "memory: {timestamps: off}");
    let mut bytes = b"\x1b[31mred\x07\x08 caf".to_vec();
    bytes.extend_from_slice(b"\xe9\n");
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s"])
        .stdin(bytes)
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let expected = "\u{1b}[31mred\u{7}\u{8} caf\u{fffd}";
    assert_eq!(server.chats()[0].message(-1), expected);
    let kept: Value = home.snapshot("s");
    assert_eq!(kept["messages"][0]["content"], expected);
}

#[test]
fn empty_lines_are_ignored_and_an_empty_prompt_is_a_mistake() {
    let home = Home::new();
    let server = Server::start([say("ok")]);
    home.config(&server, "");
    let run = home.lines("s", &["", "   ", "hello", ""]);
    assert_eq!((run.stdout.as_str(), run.code), ("ok\n", Some(0)), "{run}");
    for args in [&["-p", ""][..], &["-p", " \n"]] {
        let run = home.cogtrix(args).run();
        assert_eq!(run.code, Some(2), "{args:?}: {run}");
    }
    assert_eq!(server.chats().len(), 1);
}

#[test]
fn errors_of_the_vendors_are_quoted_with_a_remedy() {
    for (status, message, expected) in [
        (401, "Incorrect API key", "key"),
        (403, "not allowed", "key"),
        (404, "model not found", "; available: "),
        (429, "slow down", "wait"),
    ] {
        let home = Home::new();
        let server = Server::start([fail(status, message)]);
        home.config(&server, "");
        let run = home.ask("s", "hi");
        assert!(
            run.stderr.contains(message) && run.stderr.contains(expected),
            "{status}: {run}"
        );
    }
}
