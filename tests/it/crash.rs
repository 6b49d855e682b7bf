//! The program killed at every write, and a disk that fills up at every write (E14, C77, C76).
//!
//! `--fault KIND@N` exists in test builds alone: the N-th change of a file is where it goes wrong. A run
//! is repeated with N = 1, 2, … until one ends by itself, so every write point is met.

use std::path::Path;

use cogtrix::testing::server::{Script, Server, say};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::home::{Home, Run};

fn chatty() -> Server {
    let mut n = 0;
    Script::answering(move |_| {
        n += 1;
        say(format!(
            "Answer number {n}, and it is about harbours and their many cranes."
        ))
    })
    .serve()
}

/// Three turns, a switch of mode and an undo.
const LINES: &str = "question one\n/mode code\nquestion two\n/undo\nquestion three\n";

fn faulty(home: &Home, fault: &str) -> Run {
    let args = ["-c", "test.yaml", "-s", "s", "--lines", "--fault", fault];
    home.cogtrix(&args).stdin(LINES).run()
}

/// What the session holds after a run without faults that only lists it.
fn recovered(home: &Home) -> (Vec<String>, Run) {
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "--lines"])
        .stdin("/history all\n/quit\n")
        .run();
    let said = if home.history("s.json").exists() {
        home.said("s")
    } else {
        Vec::new()
    };
    (said, run)
}

/// Every JSON file of the history folder parses, and nothing temporary is left.
fn check_files(folder: &Path, what: &str) {
    for entry in std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        let ending = entry.extension().unwrap_or_default();
        assert!(
            ending != "tmp" && ending != "moving",
            "{what}: {} is left over",
            entry.display()
        );
        if ending == "json" {
            let bytes = std::fs::read(&entry).unwrap();
            let parsed = serde_json::from_slice::<Value>(&bytes);
            assert!(parsed.is_ok(), "{what}: {} does not parse", entry.display());
        }
    }
}

#[test]
fn a_kill_at_any_write_loses_nothing_that_was_acknowledged() {
    for moment in ["before", "torn", "after"] {
        let mut met = 0;
        for n in 1..200 {
            let home = Home::new();
            let server = chatty();
            home.config(&server, "");
            let fault = format!("kill-{moment}@{n}");
            let killed = faulty(&home, &fault);
            if killed.code.is_some() {
                met = n - 1;
                break;
            }
            let (said, after) = recovered(&home);
            assert_eq!(after.code, Some(0), "{fault}: {after}");
            // A reply that was shown counts as acknowledged once the next line was read, and a question
            // once the server has it.
            for chat in server.chats() {
                let question = chat.message(-1);
                let question = question.rsplit("] ").next().unwrap();
                assert!(
                    said.iter().any(|line| line.ends_with(question)),
                    "{fault}: lost {question:?}: {said:?}"
                );
            }
            let shown: Vec<&str> = killed
                .stdout
                .lines()
                .filter(|line| line.starts_with("Answer"))
                .collect();
            for reply in shown.iter().rev().skip(1) {
                assert!(
                    said.iter().any(|line| line.ends_with(reply)),
                    "{fault}: lost {reply:?}: {said:?}"
                );
            }
            for pair in said.chunks(2) {
                assert!(
                    pair[0].starts_with("user: ") && pair[1].starts_with("assistant: "),
                    "{fault}: {said:?}"
                );
            }
            check_files(&home.data().join("history"), &fault);
        }
        assert!(met > 10, "only {met} writes were met for kill-{moment}");
    }
}

#[test]
fn a_turn_killed_while_the_server_thinks_is_closed_reported_and_can_be_asked_again() {
    let home = Home::new();
    let server = Server::start([say("never").stall_after(0), say("Here I am.")]);
    home.config(&server, "");
    let running = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", "are you there?"])
        .start();
    server.wait_for_chats(1);
    running.signal(Signal::KILL);
    running.wait();
    let run = home.lines("s", &["/retry"]);
    assert!(run.stderr.contains("the last turn was cut off"), "{run}");
    assert_eq!(run.stdout, "Here I am.\n", "{run}");
    let said = home.said("s");
    assert_eq!(said[1], "assistant: [no reply: interrupted]");
    assert_eq!(said.last().unwrap(), "assistant: Here I am.");
    assert!(
        !server.chats()[1].body.to_string().contains("[no reply"),
        "the retry replaces it in the view"
    );
    assert!(!home.ask("s", "hi").stderr.contains("cut off"), "said once");
}

#[test]
fn a_full_disk_at_any_write_is_said_and_costs_nothing_that_was_saved() {
    let mut met = 0;
    for n in 1..100 {
        let home = Home::new();
        let server = chatty();
        home.config(&server, "");
        let fault = format!("full@{n}");
        let run = faulty(&home, &fault);
        assert_eq!(
            run.stdout.matches("Answer").count(),
            3,
            "{fault}: every turn is answered: {run}"
        );
        if !run.stderr.contains("NOT SAVED") && run.code == Some(0) {
            met = n - 1;
            break;
        }
        let (said, after) = recovered(&home);
        assert_eq!(after.code, Some(0), "{fault}: {after}");
        if said.iter().any(|line| line.ends_with("question three")) {
            assert!(
                said.iter().any(|line| line.ends_with("question one")),
                "{fault}: {said:?}"
            );
        }
        check_files(&home.data().join("history"), &fault);
        assert_eq!(home.ask("s", "room again").code, Some(0), "{fault}");
    }
    assert!(met > 5, "only {met} writes were met");
}

#[test]
fn what_a_full_disk_refused_is_written_with_the_next_turn() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    // The second change of a file is the question of the first turn, give or take a lock.
    let args = [
        "-c",
        "test.yaml",
        "-s",
        "s",
        "--lines",
        "--fault",
        "fail-before@2",
    ];
    let run = home
        .cogtrix(&args)
        .stdin("question one\nquestion two\n")
        .run();
    let said = home.said("s");
    assert_eq!(said.len(), 4, "{said:?}: {run}");
    assert!(said[0].ends_with("question one"));
}
