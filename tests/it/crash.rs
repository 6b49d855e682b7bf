//! `kill -9` at every write, and a disk that fills up: what was acknowledged is there afterwards (E14, C76,
//! C77).
//!
//! A reply is acknowledged with the line break behind it: it is printed once the reply is on disk. A
//! question is acknowledged as soon as its request has reached the server.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cogtrix::testing::server::{Request, Script, Server, say, silent};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::home::Home;
use crate::support::run::Run;

const SUMMARY: &str = "- They talked about three words and what each of them might mean.";
const WORDS: [&str; 3] = ["alpha", "beta", "gamma"];
/// Three turns, a compaction, a change of mode, and the last turn taken back.
const LINES: &str = "alpha\nbeta\n/compact\n/mode code\ngamma\n/undo\n/quit\n";
/// The kinds of a kill: before a write, in the middle of it, behind it.
const KILLS: [&str; 3] = ["kill-before", "kill-torn", "kill-after"];

/// What takes longer to be written does not come.
const PATIENCE: Duration = Duration::from_secs(20);

/// More writes than any of these runs makes.
const MOST_WRITES: usize = 60;

/// What it says to a word: long enough for a summary to be shorter.
fn reply_to(word: &str) -> String {
    format!(
        "About {word}: {}end of {word}.",
        "there is much to be said of it. ".repeat(6)
    )
}

fn word_of(request: &Request) -> Option<&'static str> {
    let input = request.message(-1);
    WORDS.into_iter().find(|word| input.ends_with(*word))
}

fn server() -> Server {
    Script::answering(|request| match word_of(request) {
        Some(word) => say(reply_to(word)),
        None => say(SUMMARY),
    })
    .serve()
}

/// What only a process under way may leave in the data folder. An empty lock of a name that was never opened
/// is no such thing.
fn temporary_files(home: &Home) -> Vec<String> {
    let files = Home::files(&home.data()).into_keys();
    let is_temporary = |path: &PathBuf| {
        let ending = path.extension().unwrap_or_default();
        ending == "tmp" || ending == "moving" || path.ends_with("s.lock")
    };
    let temporary = files.filter(is_temporary);
    temporary.map(|path| path.display().to_string()).collect()
}

/// What is acknowledged of a run: questions that reached the server and replies that were printed whole.
struct Acknowledged {
    questions: Vec<&'static str>,
    replies: Vec<String>,
    is_compacted: bool,
    is_undone: bool,
}

impl Acknowledged {
    fn of(run: &Run, requests: &[Request]) -> Self {
        let replies = WORDS.map(reply_to).into_iter();
        Self {
            questions: requests.iter().filter_map(word_of).collect(),
            replies: replies
                .filter(|reply| run.stdout.contains(&format!("{reply}\n")))
                .collect(),
            is_compacted: run.stdout.contains("Compacted: "),
            is_undone: run.stdout.contains("Undone: gamma"),
        }
    }

    /// Holds it against a session that was opened again and left in peace.
    fn check(&self, home: &Home, restarted: &Run, case: &str) {
        assert_eq!(restarted.code, Some(0), "{case}: {restarted}");
        let said = if home.history("s.json").exists() {
            home.said("s")
        } else {
            Vec::new()
        };
        for question in &self.questions {
            let line = format!("user: {question}");
            let at = said.iter().position(|said| *said == line);
            let at = at.unwrap_or_else(|| panic!("{case}: {question} is lost: {said:#?}"));
            let reply = said.get(at + 1).map_or("", String::as_str);
            let whole = format!("assistant: {}", reply_to(question));
            let is_part = reply
                .strip_suffix("\n[reply cut: interrupted]")
                .is_some_and(|part| whole.starts_with(part));
            assert!(
                reply == whole || reply == "assistant: [no reply: interrupted]" || is_part,
                "{case}: {question} is followed by {reply:?}"
            );
        }
        let is_cut_off = said.iter().any(|said| said.ends_with(": interrupted]"));
        let is_reported = restarted.stderr.contains("the last turn was cut off");
        assert_eq!(is_reported, is_cut_off, "{case}: {restarted}");
        for reply in &self.replies {
            assert!(
                said.contains(&format!("assistant: {reply}")),
                "{case}: {reply} is lost: {said:#?}"
            );
        }
        if self.is_undone {
            let gamma = &home.snapshot("s")["messages"][4];
            assert_eq!(gamma["withdrawn"], "undone", "{case}: {gamma}");
        }
        if self.is_compacted {
            let hybrid = std::fs::read_to_string(home.history("s_hybrid.json")).unwrap();
            assert!(hybrid.contains(SUMMARY), "{case}: {hybrid}");
        }
        assert_eq!(temporary_files(home), [""; 0], "{case}");
        for (path, bytes) in Home::files(&home.data()) {
            let is_json = path.extension().is_some_and(|end| end == "json");
            assert!(
                !is_json || serde_json::from_slice::<Value>(&bytes).is_ok(),
                "{case}: {}",
                path.display()
            );
        }
    }
}

/// Opens the session again, says nothing to the model, and leaves.
fn restart(home: &Home) -> Run {
    home.lines("s", &["/history all"])
}

/// Runs `program` with a fault at the first write, the second, and so on, until one run gets by without
/// meeting it; returns how many there were.
fn at_every_write(kind: &str, program: impl Fn(&str) -> bool) -> usize {
    let met = (1..MOST_WRITES).take_while(|n| program(&format!("{kind}@{n}")));
    let n = met.count();
    assert!(n + 1 < MOST_WRITES, "{kind} never ends");
    n
}

/// A chat of several lines under a fault.
fn chat(home: &Home, fault: &str) -> Run {
    home.cogtrix(&["-c", "test.yaml", "-s", "s", "--lines", "--fault", fault])
        .stdin(LINES)
        .run()
}

#[test]
fn a_kill_at_any_write_of_a_chat_loses_nothing_that_was_acknowledged() {
    for kind in KILLS {
        let writes = at_every_write(kind, |fault| {
            let home = Home::new();
            let server = server();
            home.config(&server, "memory: {timestamps: off, capture: off}");
            let run = chat(&home, fault);
            let acknowledged = Acknowledged::of(&run, &server.chats());
            let restarted = restart(&home);
            acknowledged.check(&home, &restarted, fault);
            let next = home.ask("s", "and then gamma");
            assert_eq!(
                next.stdout,
                reply_to("gamma") + "\n",
                "{fault}: the session goes on: {next}"
            );
            assert_eq!(next.stderr, "", "{fault}: a repair is reported once");
            let killed = run.signal == Some(9);
            assert!(killed || run.code == Some(0), "{fault}: {run}");
            killed
        });
        assert!(
            writes >= 12,
            "{kind}: {writes} writes; three turns alone make nine"
        );
    }
}

#[test]
fn a_kill_at_any_write_of_a_one_shot_run_loses_nothing_that_was_acknowledged() {
    for kind in KILLS {
        let writes = at_every_write(kind, |fault| {
            let home = Home::new();
            let server = server();
            home.config(&server, "memory: {timestamps: off}");
            home.ask("s", "alpha");
            let run = home
                .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", "beta", "--fault", fault])
                .run();
            let acknowledged = Acknowledged::of(&run, &server.chats());
            assert_eq!(acknowledged.questions[0], "alpha");
            acknowledged.check(&home, &restart(&home), fault);
            assert!(
                home.said("s")
                    .contains(&format!("assistant: {}", reply_to("alpha"))),
                "{fault}"
            );
            run.signal == Some(9)
        });
        assert!(writes >= 5, "{kind}: {writes} writes");
    }
}

/// A turn that is withdrawn is not taken back a second time, so its files must be back by then.
#[test]
fn a_kill_at_any_write_of_undo_leaves_no_files_behind_a_turn_that_is_gone() {
    for kind in KILLS {
        let writes = at_every_write(kind, |fault| {
            let home = Home::new();
            let arguments = serde_json::json!({"path": "a.txt", "content": "by the tool"});
            let write = say("").calling("c1", "write_file", arguments);
            let server = Server::start([write, say("Done.")]);
            home.config(&server, "memory: {timestamps: off, capture: off}");
            home.write("a.txt", "old");
            home.cogtrix(&["-c", "test.yaml", "-M", "code", "-s", "s", "-p", "Change a"])
                .args(["--tools", "all", "-y"])
                .run();
            let held = || std::fs::read_to_string(home.work().join("a.txt")).unwrap();
            assert_eq!(held(), "by the tool", "{fault}");
            let run = home
                .cogtrix(&["-c", "test.yaml", "-s", "s", "--lines", "--fault", fault])
                .stdin("/undo\n/quit\n")
                .run();
            restart(&home);
            let is_withdrawn = home.snapshot("s")["messages"][0]["withdrawn"] == "undone";
            assert!(!is_withdrawn || held() == "old", "{fault}: {run}");
            let again = home.lines("s", &["/undo"]);
            assert_eq!(held(), "old", "{fault}: {again}");
            run.signal == Some(9)
        });
        assert!(writes >= 1, "{kind}: {writes} writes");
    }
}

#[test]
fn a_kill_at_any_write_of_the_repair_itself_loses_nothing_either() {
    let template = Home::new();
    let server = Script::answering(|request| match word_of(request) {
        Some("gamma") => silent(),
        Some(word) => say(reply_to(word)),
        None => say(SUMMARY),
    })
    .serve();
    template.config(&server, "memory: {timestamps: off}");
    let chat = template
        .cogtrix(&["-c", "test.yaml", "-s", "s", "--lines"])
        .stdin(LINES)
        .start();
    server.wait_for_chats(4);
    chat.signal(Signal::KILL);
    assert_eq!(chat.wait().signal, Some(9));
    // A torn end of the journal and a damaged snapshot of an earlier life make the repair long.
    let journal = template.history("s.journal.jsonl");
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes.extend_from_slice(b"{\"seq\":99,\"type\":\"turn_fin");
    template.write(&journal, bytes);
    template.write(
        template.history("s_mode_state.json"),
        "{\"version\":1,\"modes\":",
    );
    for kind in KILLS {
        at_every_write(kind, |fault| {
            let home = Home::new();
            for (path, bytes) in Home::files(&template.data()) {
                home.write(home.data().join(path), bytes);
            }
            home.config(&server, "memory: {timestamps: off, capture: off}");
            let run = home
                .cogtrix(&["-c", "test.yaml", "-s", "s", "--lines", "--fault", fault])
                .stdin("/history all\n")
                .run();
            let killed = run.signal == Some(9);
            let restarted = restart(&home);
            assert_eq!(restarted.code, Some(0), "{fault}: {restarted}");
            let said = home.said("s");
            let expected = [
                "user: alpha".to_owned(),
                format!("assistant: {}", reply_to("alpha")),
                "user: beta".to_owned(),
                format!("assistant: {}", reply_to("beta")),
                "user: gamma".to_owned(),
                "assistant: [no reply: interrupted]".to_owned(),
            ];
            assert_eq!(said, expected, "{fault}");
            assert_eq!(temporary_files(&home), [""; 0], "{fault}");
            killed
        });
    }
}

#[test]
fn a_kill_while_the_server_holds_the_request_leaves_the_question_closed_and_reported() {
    let home = Home::new();
    let server = Server::start([say("First."), silent(), say("At last.")]);
    home.config(&server, "memory: {timestamps: off}");
    home.ask("s", "one");
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", "two"])
        .start();
    server.wait_for_chats(2);
    run.signal(Signal::KILL);
    assert_eq!(run.wait().signal, Some(9));
    let restarted = home.lines("s", &["/retry"]);
    insta::assert_snapshot!(home.shown(&restarted), @"
    At last.
    --- stderr
    warning: the last turn was cut off when cogtrix ended; `/retry` asks again
    --- exit 0
    ");
    assert_eq!(server.chats()[2].message(-1), "two");
    assert_eq!(
        home.said("s"),
        [
            "user: one",
            "assistant: First.",
            "user: two",
            "assistant: [no reply: interrupted]",
            "user: two",
            "assistant: At last."
        ]
    );
    assert_eq!(temporary_files(&home), [""; 0]);
}

#[test]
fn a_kill_in_the_middle_of_a_reply_keeps_what_had_arrived_and_marks_it_as_cut() {
    let home = Home::new();
    let server = Server::start([
        say("")
            .thinking("between you and me")
            .pieces(["Half", " a reply", " that ends"])
            .stall_after(3),
        say("Go on."),
    ]);
    home.config(&server, "memory: {timestamps: off}");
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", "hello"])
        .start();
    let journal = home.history("s.journal.jsonl");
    let held = || std::fs::read_to_string(&journal).unwrap_or_default();
    let began = Instant::now();
    while !held().contains(" a reply") {
        assert!(began.elapsed() < PATIENCE, "{}", held());
        std::thread::yield_now();
    }
    assert!(!held().contains("between you and me"), "{}", held());
    run.signal(Signal::KILL);
    assert_eq!(run.wait().signal, Some(9));
    let looked = home
        .cogtrix(&["-c", "test.yaml", "sessions", "show", "s"])
        .run();
    let shown = "Assistant\nHalf a reply\n[reply cut: interrupted]";
    assert!(looked.stdout.contains(shown), "{looked}");
    let restarted = restart(&home);
    insta::assert_snapshot!(home.shown(&restarted), @"
    [1] You, TIME
    hello

    Assistant, TIME
    Half a reply
    [reply cut: interrupted]
    --- stderr
    warning: the last turn was cut off when cogtrix ended; the partial reply is kept, `/retry` asks again
    --- exit 0
    ");
    let said = [
        "user: hello",
        "assistant: Half a reply\n[reply cut: interrupted]",
    ];
    assert_eq!(home.said("s"), said);
    assert!(!journal.exists(), "it is part of the snapshot now");
    let next = home.ask("s", "and then?");
    assert_eq!((next.stderr.as_str(), next.code), ("", Some(0)), "{next}");
    assert!(server.chats()[1].message(-2).contains("Half a reply"));
}

#[test]
fn a_kill_at_any_write_of_a_rename_leaves_the_session_under_one_name() {
    for kind in KILLS {
        let writes = at_every_write(kind, |fault| {
            let home = Home::new();
            let server = server();
            home.config(&server, "memory: {timestamps: off, capture: off}");
            home.lines("old", &["alpha", "beta", "/compact"]);
            let run = home
                .cogtrix(&["-c", "test.yaml", "-s", "old", "--lines", "--fault", fault])
                .stdin("/rename new\n/quit\n")
                .run();
            let list = home.cogtrix(&["sessions"]).run();
            let names: Vec<&str> = list
                .stdout
                .lines()
                .skip(1)
                .filter_map(|line| line.split_whitespace().next())
                .collect();
            assert!(names == ["old"] || names == ["new"], "{fault}: {list}");
            home.lines(names[0], &["/history all"]);
            let said = home.said(names[0]);
            assert_eq!(said.len(), 4, "{fault}: {said:?}");
            let hybrid = home.history(&format!("{}_hybrid.json", names[0]));
            assert!(hybrid.exists(), "{fault}: the compaction came along");
            assert_eq!(temporary_files(&home), [""; 0], "{fault}");
            run.signal == Some(9)
        });
        assert!(writes >= 4, "{kind}: {writes} writes");
    }
}

#[test]
fn a_kill_at_any_write_of_a_deletion_loses_no_file() {
    for kind in KILLS {
        at_every_write(kind, |fault| {
            let home = Home::new();
            let server = server();
            home.config(&server, "memory: {timestamps: off}");
            home.lines("s", &["alpha", "beta", "/compact"]);
            let before = contents(&home.data());
            let run = home
                .cogtrix(&["sessions", "delete", "s", "--fault", fault])
                .run();
            let again = home.cogtrix(&["sessions", "delete", "s"]).run();
            assert!(!home.history("s.json").exists(), "{fault}: {again}");
            assert_eq!(contents(&home.data()), before, "{fault}");
            run.signal == Some(9)
        });
    }
}

/// What all files of a folder hold, wherever they are.
fn contents(folder: &Path) -> Vec<String> {
    let files = Home::files(folder).into_iter();
    let mut contents: Vec<_> = files
        .filter(|(path, _)| path.extension().is_none_or(|end| end != "lock"))
        .map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    contents.sort();
    contents
}

#[test]
fn on_a_disk_that_fills_up_every_turn_answers_and_says_that_it_is_not_saved() {
    let mut n = 0;
    loop {
        n += 1;
        let home = Home::new();
        let server = server();
        home.config(&server, "memory: {timestamps: off}");
        home.ask("s", "alpha");
        let run = home
            .cogtrix(&[
                "-c",
                "test.yaml",
                "-s",
                "s",
                "--lines",
                "--fault",
                &format!("full@{n}"),
            ])
            .stdin("beta\ngamma\n/quit\n")
            .run();
        let is_full = run.stderr.contains("NOT SAVED");
        for word in ["beta", "gamma"] {
            assert!(
                run.stdout.contains(&reply_to(word)),
                "full@{n}: {word} is answered: {run}"
            );
        }
        let warnings = run.stderr.matches("NOT SAVED").count();
        assert!(
            warnings <= 1,
            "full@{n}: it goes on, and is one thing to say: {run}"
        );
        assert_eq!(
            run.stderr.matches("error: session not saved in ").count(),
            run.stderr.matches("hint: free some disk space").count(),
            "full@{n}: nobody said before what to do: {run}"
        );
        let restarted = restart(&home);
        assert_eq!(restarted.code, Some(0), "full@{n}: {restarted}");
        let said = home.said("s");
        assert_eq!(
            said[..2],
            [
                "user: alpha".to_owned(),
                format!("assistant: {}", reply_to("alpha"))
            ]
        );
        if !is_full {
            assert_eq!(
                said.len(),
                6,
                "full@{n}: nobody was told of a loss: {said:?}"
            );
        }
        let next = home.ask("s", "and gamma");
        assert_eq!(
            (next.stderr.as_str(), next.code),
            ("", Some(0)),
            "full@{n}: {next}"
        );
        if run.code == Some(0) && !is_full {
            break;
        }
        assert!(n < MOST_WRITES, "the disk never has room");
    }
    assert!(n > 5, "only {n} writes");
}

#[test]
fn a_full_disk_is_an_error_of_the_whole_run_too() {
    let home = Home::new();
    let server = server();
    home.config(&server, "memory: {timestamps: off}");
    let run = home
        .cogtrix(&[
            "-c",
            "test.yaml",
            "-s",
            "s",
            "-p",
            "alpha",
            "--fault",
            "full@1",
        ])
        .run();
    assert_eq!(run.stdout, reply_to("alpha") + "\n");
    insta::assert_snapshot!(home.shown(&run).replace(&reply_to("alpha"), "REPLY"), @"
    REPLY
    --- stderr
    error: session not saved in ROOT/data: the disk is full
    hint: free some disk space, or choose another data folder with --data-dir
    --- exit 1
    ");
}

#[test]
fn what_the_disk_refused_is_written_with_the_next_turn() {
    // The first three changes of a file are the question, the reply and the state of the modes.
    for n in 1..=3 {
        let home = Home::new();
        let server = server();
        home.config(&server, "memory: {timestamps: off}");
        let fault = format!("fail-before@{n}");
        let run = home
            .cogtrix(&["-c", "test.yaml", "-s", "s", "--lines", "--fault", &fault])
            .stdin("alpha\nbeta\n")
            .run();
        assert_eq!(run.stderr.matches("NOT SAVED").count(), 1, "{fault}: {run}");
        assert_eq!(run.code, Some(0), "{fault}: {run}");
        let expected = ["alpha", "beta"].map(|word| {
            [
                format!("user: {word}"),
                format!("assistant: {}", reply_to(word)),
            ]
        });
        assert_eq!(home.said("s"), expected.concat(), "{fault}");
    }
}

/// A kill inside a write cannot be timed; a second name for the old file shows whether it was touched.
#[test]
fn whole_files_are_replaced_and_never_rewritten_in_place() {
    let home = Home::new();
    let server = server();
    home.config(&server, "memory: {timestamps: off}");
    home.lines("s", &["alpha", "beta", "/compact"]);
    let files = ["s.json", "s_mode_state.json", "s_hybrid.json"].map(|file| home.history(file));
    let before = files.each_ref().map(|file| {
        std::fs::hard_link(file, file.with_extension("link")).unwrap();
        std::fs::read(file).unwrap()
    });
    home.lines("s", &["gamma", "/compact"]);
    for (file, before) in files.iter().zip(before) {
        let old = std::fs::read(file.with_extension("link")).unwrap();
        assert_eq!(old, before, "{}", file.display());
        assert_ne!(std::fs::read(file).unwrap(), before, "{}", file.display());
    }
}
