//! Conversations from elsewhere: read and checked whole, joined to sessions once, there or not there wherever the
//! process is killed.

use std::path::Path;

use cogtrix::testing::server::{Script, Server, say};
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::pty::{Exit, Pty, Size};
use crate::support::run::Run;

/// A talk about a trip, of which every other message is the person's.
const TALK: [&str; 6] = [
    "We take the ferry to Naxos on the ninth.",
    "Then you need a cabin: it sails at night.",
    "Rui gets seasick, so low and in the middle.",
    "Deck three has such cabins.",
    "And who feeds the parrot?",
    "Your neighbour offered to.",
];

fn line(session: &str, n: usize) -> Value {
    let (role, speaker) = [("user", "Ana"), ("assistant", "Bo")][n % 2];
    json!({"session": session, "id": format!("{session}/{n}"), "role": role, "speaker": speaker,
        "timestamp": format!("2024-03-05T10:00:{n:02}Z"), "text": TALK[n]})
}

fn text(lines: &[Value]) -> String {
    lines
        .iter()
        .flat_map(|line| [line.to_string(), "\n".to_owned()])
        .collect()
}

/// The first `n` messages of the talk.
fn talk(session: &str, n: usize) -> String {
    text(&(0..n).map(|n| line(session, n)).collect::<Vec<_>>())
}

fn import(home: &Home, content: &str) -> Run {
    home.write("talk.jsonl", content);
    home.cogtrix(&["memory", "import", "--format", "jsonl", "talk.jsonl"])
        .run()
}

fn ids(home: &Home, session: &str) -> Vec<String> {
    let snapshot = home.snapshot(session);
    let messages = snapshot["messages"].as_array().unwrap().iter();
    messages
        .map(|message| message["id"].as_str().unwrap().to_owned())
        .collect()
}

fn answering() -> Server {
    Script::answering(|_| say("Noted.")).serve()
}

#[test]
fn a_conversation_from_elsewhere_is_a_session_like_any_other() {
    let home = Home::new();
    let server = answering();
    home.config(&server, "memory: {timestamps: off}");
    let run = import(&home, &(talk("trip", 6) + &talk("other", 2)));
    insta::assert_snapshot!(home.shown(&run), @r"
    8 messages into 2 sessions (0 were already there)
    --- stderr
    --- exit 0
    ");
    let snapshot = home.snapshot("trip");
    assert_eq!(snapshot["meta"]["title"], TALK[0]);
    assert_eq!(snapshot["meta"]["turns"], 3);
    assert_eq!(
        snapshot["messages"][1],
        json!({"id": "trip/1", "role": "assistant", "content": TALK[1], "name": "Bo",
            "timestamp": "2024-03-05T10:00:01Z"})
    );
    let list = home.cogtrix(&["sessions"]).run();
    assert!(list.stdout.contains("trip"), "{list}");
    let shown = home.lines("trip", &["/history all"]);
    assert!(
        TALK.iter().all(|text| shown.stdout.contains(text)),
        "{shown}"
    );
    let asked = home.ask("trip", "Which deck?");
    assert_eq!(
        (asked.stdout.as_str(), asked.stderr.as_str()),
        ("Noted.\n", ""),
        "{asked}"
    );
    let request = &server.chats()[0];
    let sent: Vec<String> = (-7..0).map(|n| request.message(n)).collect();
    assert_eq!(sent, [&TALK[..], &["Which deck?"]].concat());
    assert_eq!(ids(&home, "trip")[5..], ["trip/5", "m7", "m8"]);
}

#[test]
fn an_import_can_be_repeated_and_a_file_that_has_grown_adds_what_is_new() {
    let home = Home::new();
    assert_eq!(import(&home, &talk("trip", 3)).code, Some(0));
    let before = Home::files(&home.data());
    let run = import(&home, &talk("trip", 3));
    assert_eq!(run.stdout, "Nothing new: 3 were already there\n", "{run}");
    assert_eq!(Home::files(&home.data()), before);
    let run = import(&home, &talk("trip", 6));
    assert_eq!(
        run.stdout, "3 messages into 1 session (3 were already there)\n",
        "{run}"
    );
    let grown = home.snapshot("trip");
    assert_eq!(home.said("trip").len(), 6);
    let at_once = Home::new();
    import(&at_once, &talk("trip", 6));
    assert_eq!(grown, at_once.snapshot("trip"));
}

#[test]
fn every_wrong_line_is_named_and_nothing_is_imported() {
    let home = Home::new();
    let mut lines = vec![line("trip", 0)];
    lines.push(json!({"session": "trip", "role": "user", "text": "x"}));
    lines.push(json!({"session": "trip", "id": "a", "role": "narrator", "text": "x"}));
    lines.push(
        json!({"session": "trip", "id": "a", "role": "user", "text": "x", "timestamp": "noon"}),
    );
    lines.push(json!({"session": "a/b", "id": "a", "role": "user", "text": "x"}));
    lines.push(json!({"session": "trip", "id": "trip/0", "role": "user", "text": "other words"}));
    let content = text(&lines) + "\n{\"session\":\n" + &talk("other", 2);
    let run = import(&home, &content);
    insta::assert_snapshot!(home.shown(&run), @r#"
    --- stderr
    error: talk.jsonl:2: no "id"
    hint: a message needs session, id, role and text; speaker and timestamp are optional
    error: talk.jsonl:3: "role" is "narrator"
    hint: use user, assistant or tool; omit system prompts
    error: talk.jsonl:4: "timestamp" is "noon"
    hint: use a timestamp like TIME or 2026-02-14T16:23:05+01:00
    error: talk.jsonl:5: session name "a/b" contains '/'
    hint: use 1 to 64 letters, digits, spaces, or . _ - and do not start with a dot
    error: talk.jsonl:6: id "trip/0" is already used on line 1, with different content
    hint: give each message in a session its own id
    error: talk.jsonl:8: not JSON: EOF while parsing a value (column 11)
    hint: each line must be an object such as {"session":"work","id":"1","role":"user","text":"Hello"}
    error: nothing was imported: 6 lines of talk.jsonl are invalid
    hint: fix the file and import it again
    --- exit 1
    "#);
    assert!(!home.data().exists(), "nothing was written");
}

#[test]
fn of_many_wrong_lines_ten_are_named_and_the_rest_is_counted() {
    let home = Home::new();
    let run = import(&home, &"oops\n".repeat(1_234));
    let told = run
        .stderr
        .lines()
        .filter(|line| line.contains("talk.jsonl:"));
    assert_eq!(told.count(), 10, "{run}");
    let last = "nothing was imported: 1,234 lines of talk.jsonl are invalid, 1,224 more not shown";
    assert!(run.stderr.contains(last), "{run}");
    assert_eq!((run.stdout.as_str(), run.code), ("", Some(1)), "{run}");
}

#[test]
fn a_line_too_long_or_not_utf8_is_named_and_the_others_are_still_read() {
    let home = Home::new();
    let mut content = vec![b'x'; 17 << 20];
    content.extend_from_slice(b"\n{\"id\":\"\xff\"}\nno\n");
    home.write("talk.jsonl", content);
    let run = home.cogtrix(&["memory", "import", "talk.jsonl"]).run();
    let told: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| line.starts_with("error: "))
        .collect();
    assert_eq!(
        told,
        [
            "error: talk.jsonl:1: the line is longer than 16 MB",
            "error: talk.jsonl:2: byte 8 is not UTF-8",
            "error: talk.jsonl:3: not JSON: expected ident (column 2)",
            "error: nothing was imported: 3 lines of talk.jsonl are invalid",
        ],
        "{run}"
    );
}

#[test]
fn lines_come_from_stdin_too_with_any_line_ends_and_empty_lines() {
    let home = Home::new();
    let content = format!("\u{feff}{}", talk("trip", 4).replace('\n', "\r\n\r\n"));
    let run = home
        .cogtrix(&["memory", "import", "-"])
        .stdin(content)
        .run();
    assert_eq!(
        run.stdout, "4 messages into 1 session (0 were already there)\n",
        "{run}"
    );
    let run = home
        .cogtrix(&["memory", "import", "-"])
        .stdin("\nno\n")
        .run();
    assert!(run.stderr.starts_with("error: stdin:2: not JSON"), "{run}");
    let run = home.cogtrix(&["memory", "import", "-"]).run();
    assert_eq!(run.stdout, "No messages in stdin\n", "{run}");
    let run = home.cogtrix(&["memory", "import", "nowhere.jsonl"]).run();
    insta::assert_snapshot!(home.shown(&run), @"
    --- stderr
    error: cannot read nowhere.jsonl: no such file or directory
    --- exit 1
    ");
}

#[test]
fn an_import_goes_behind_own_turns_and_never_takes_their_ids() {
    let home = Home::new();
    let server = answering();
    home.config(&server, "memory: {timestamps: off}");
    home.ask("trip", "My own question");
    let own = home.snapshot("trip");
    let clash = json!({"session": "trip", "id": "m1", "role": "user", "text": "not my question"});
    let run = import(
        &home,
        &(talk("first", 2) + &talk("trip", 2) + &text(&[clash])),
    );
    insta::assert_snapshot!(home.shown(&run), @r#"
    --- stderr
    error: talk.jsonl:5: session trip already has a message "m1" with different content
    hint: import into another session, or change the ids
    error: nothing was imported: 1 line of talk.jsonl is invalid
    hint: fix the file and import it again
    --- exit 1
    "#);
    assert_eq!(home.snapshot("trip"), own);
    assert!(!home.history("first.json").exists());
    import(&home, &talk("trip", 2));
    assert_eq!(ids(&home, "trip"), ["m1", "m2", "trip/0", "trip/1"]);
    assert_eq!(home.snapshot("trip")["meta"]["title"], "My own question");
}

#[test]
fn messages_in_a_row_of_one_side_stay_as_they_are() {
    let home = Home::new();
    let roles = ["assistant", "user", "user", "assistant", "tool", "user"];
    let lines = roles.iter().enumerate().map(|(n, role)| {
        json!({"session": "s", "id": format!("{n}"), "role": role, "text": format!("{role} {n}"), "mood": n})
    });
    import(&home, &text(&lines.collect::<Vec<_>>()));
    let before = home.snapshot("s");
    let said = [
        "assistant: assistant 0",
        "user: user 1",
        "user: user 2",
        "assistant: assistant 3",
        "assistant: tool 4",
        "user: user 5",
    ];
    assert_eq!(home.said("s"), said);
    assert_eq!(before["messages"][4]["imported_role"], "tool");
    let server = answering();
    home.config(&server, "memory: {timestamps: off}");
    assert_eq!(home.ask("s", "And now?").stdout, "Noted.\n");
    let after = home.snapshot("s");
    assert_eq!(home.said("s")[..6], said);
    assert_eq!(after["messages"][3], before["messages"][3]);
    assert_eq!(after["messages"][5]["mood"], 5);
}

#[test]
fn a_session_that_is_open_elsewhere_stops_the_import_and_its_holder_is_named() {
    let home = Home::new();
    let server = answering();
    home.config(&server, "lock_wait: 100ms");
    let mut chat = home
        .cogtrix(&["-c", "test.yaml", "-s", "trip", "--lines"])
        .open_stdin()
        .start();
    chat.say("hello");
    chat.wait_for("Noted.\n");
    home.write("talk.jsonl", talk("first", 2) + &talk("trip", 2));
    let run = home
        .cogtrix(&["-c", "test.yaml", "memory", "import", "talk.jsonl"])
        .run();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains(&format!("pid {}", chat.pid())), "{run}");
    assert!(!home.history("first.json").exists(), "all or nothing");
    assert_eq!(chat.wait().code, Some(0));
    assert_eq!(home.said("trip").len(), 2);
}

#[test]
fn killed_at_any_write_each_session_has_all_of_the_import_or_nothing() {
    for kind in ["kill-before", "kill-torn", "kill-after"] {
        let mut writes = 0;
        for at in 1..40 {
            let fault = format!("{kind}@{at}");
            let home = Home::new();
            let server = answering();
            home.config(&server, "memory: {timestamps: off}");
            home.ask("trip", "My own question");
            home.write("talk.jsonl", talk("trip", 6) + &talk("other", 6));
            let run = home
                .cogtrix(&["memory", "import", "talk.jsonl", "--fault", &fault])
                .run();
            for (session, own) in [("trip", 2), ("other", 0)] {
                let is_there = home.history(&format!("{session}.json")).exists();
                let n = if is_there {
                    home.said(session).len()
                } else {
                    own
                };
                assert!(n == own || n == own + 6, "{fault}: {session} has {n}");
            }
            let again = import(&home, &(talk("trip", 6) + &talk("other", 6)));
            assert_eq!(
                (again.code, again.stderr.as_str()),
                (Some(0), ""),
                "{fault}: {again}"
            );
            assert_eq!(home.said("trip").len(), 8, "{fault}");
            assert_eq!(home.said("other").len(), 6, "{fault}");
            let is_left_over = |path: &Path| path.extension().is_some_and(|end| end == "tmp");
            let files = Home::files(&home.data());
            assert!(
                !files.keys().any(|path| is_left_over(path)),
                "{fault}: {files:?}"
            );
            if run.signal != Some(9) {
                assert_eq!(run.code, Some(0), "{fault}: {run}");
                break;
            }
            writes += 1;
        }
        assert!((3..39).contains(&writes), "{kind}: {writes} writes");
    }
}

#[test]
fn a_full_disk_is_told_with_what_was_imported_before() {
    let home = Home::new();
    home.write("talk.jsonl", talk("trip", 6) + &talk("other", 6));
    let runs = (1..20).map(|at| {
        let data = home.home().join(format!("data{at}"));
        home.cogtrix(&[
            "memory",
            "import",
            "talk.jsonl",
            "--fault",
            &format!("full@{at}"),
        ])
        .env("COGTRIX_DATA_DIR", data)
        .run()
    });
    let half_way = "Imported before that: 6 messages into 1 session (0 were already there)";
    let told = runs
        .take_while(|run| run.code != Some(0))
        .inspect(|run| {
            assert!(
                run.stderr.contains("error: nothing can be saved in "),
                "{run}"
            );
        })
        .filter(|run| run.stderr.contains(half_way));
    assert!(told.count() > 0);
}

#[test]
fn progress_is_shown_at_a_terminal_and_nowhere_else() {
    let home = Home::new();
    let lines: Vec<Value> = (0..2_500)
        .map(|n| json!({"session": "long", "id": n.to_string(), "role": "user", "text": "word ".repeat(9)}))
        .collect();
    let path = home.write("long.jsonl", text(&lines));
    let file = path.to_str().unwrap();
    let run = home.cogtrix(&["memory", "import", file]).run();
    assert_eq!(run.stderr, "", "{run}");
    let program = Path::new(env!("CARGO_BIN_EXE_cogtrix"));
    let mut pty = Pty::spawn(program, &["memory", "import", file], &[], Size(200, 20));
    assert_eq!(pty.wait_exit(), Exit::code(0));
    let printed = pty.printed();
    assert!(printed.contains("░ 1,000 lines"), "{printed}");
    assert!(
        printed.contains("writing session 1 of 1: long"),
        "{printed}"
    );
    let screen = pty.screen();
    assert_eq!(
        screen.trim(),
        "2,500 messages into 1 session (0 were already there)"
    );
}
