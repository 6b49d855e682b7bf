//! Kills and damage by chance: what was acknowledged is there, and no damage reaches further than its file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cogtrix::testing::server::{Request, Script, Server, say};
use serde_json::json;

use crate::support::chance::rounds;
use crate::support::home::Home;
use crate::support::run::Run;

const SUMMARY: &str = "- They numbered their words and talked about each of them.";
const KILLS: [&str; 3] = ["kill-before", "kill-torn", "kill-after"];
/// What a person types beside questions.
const COMMANDS: [&str; 6] = [
    "/compact",
    "/mode code",
    "/mode reasoning",
    "/undo",
    "/pin keep this",
    "/retry",
];

fn reply_to(question: &str) -> String {
    format!(
        "About {question}: {}that is all of {question}.",
        "there is much to be said of it. ".repeat(4)
    )
}

/// No two are alike.
fn question(n: u32) -> String {
    format!("word {n}")
}

fn question_of(request: &Request) -> Option<String> {
    let input = request.message(-1);
    let at = input.rfind("word ")?;
    let question = &input[at..];
    question["word ".len()..].parse::<u32>().ok()?;
    Some(question.to_owned())
}

fn server() -> Server {
    Script::answering(|request| match question_of(request) {
        Some(question) => say(reply_to(&question)),
        None => say(SUMMARY),
    })
    .serve()
}

#[test]
fn a_session_killed_again_and_again_keeps_what_was_acknowledged_in_each_of_its_lives() {
    const LIVES: usize = 4;
    rounds(5, |chance, seed| {
        let home = Home::new();
        let server = server();
        home.config(&server, "memory: {timestamps: off}");
        let mut next = 1;
        let mut replies: Vec<String> = Vec::new();
        for life in 0..LIVES {
            let mut lines = String::new();
            for _ in 0..=chance.below(4) {
                if chance.below(3) == 0 {
                    lines += chance.of(&COMMANDS);
                } else {
                    lines.push_str(&question(next));
                    next += 1;
                }
                lines += "\n";
            }
            let fault = format!("{}@{}", chance.of(&KILLS), 1 + chance.below(24));
            let run = home
                .cogtrix(&["-c", "test.yaml", "-s", "s", "--lines", "--fault", &fault])
                .stdin(lines.as_str())
                .run();
            let is_end = run.signal == Some(9) || run.code == Some(0);
            assert!(is_end, "{seed}, life {life} with {fault}: {run}");
            let printed = (1..next).map(|n| reply_to(&question(n)));
            replies.extend(printed.filter(|reply| run.stdout.contains(&format!("{reply}\n"))));
        }
        let asked: Vec<String> = server.chats().iter().filter_map(question_of).collect();
        let opened = home.lines("s", &["/history all"]);
        assert_eq!(opened.code, Some(0), "{seed}: {opened}");
        let said = if home.history("s.json").exists() {
            home.said("s")
        } else {
            Vec::new()
        };
        for question in asked {
            let line = format!("user: {question}");
            assert!(
                said.contains(&line),
                "{seed}: {question} is lost: {said:#?}"
            );
        }
        for reply in replies {
            let line = format!("assistant: {reply}");
            assert!(said.contains(&line), "{seed}: {reply} is lost: {said:#?}");
        }
        let again = home.ask("s", &question(next));
        let expected = reply_to(&question(next)) + "\n";
        assert_eq!(
            (&again.stdout, again.code),
            (&expected, Some(0)),
            "{seed}: {again}"
        );
        assert_eq!(again.stderr, "", "{seed}: a repair is said once");
    });
}

/// A data folder with every kind of file in it: two sessions and a journal, side files, indexes, entries, notes.
fn everything() -> Home {
    let home = Home::new();
    let pin = |text: &str| say("").calling("c1", "pin_context", json!({"content": text}));
    let note = say("").calling(
        "c2",
        "scratchpad_write",
        json!({"key": "plan", "value": "ship it"}),
    );
    let keep = say("").calling(
        "c3",
        "memorize",
        json!({"content": "deploys use fly.io", "key": "deploy"}),
    );
    let server = Server::start([
        say("The ferry sails at night."),
        pin("the port is 8080"),
        note,
        keep,
        say("Kept."),
        say("Third."),
    ]);
    let config = "tools: {preset: all, confirm: false}\nembedding: {provider: hashed, dim: 32}";
    home.config(&server, config);
    home.ask(
        "other",
        "I prefer the ferry. Remember: the cabin is number nine.",
    );
    let run = home.ask(
        "s",
        "My name is Ana. I prefer tabs, please pin and keep it.",
    );
    assert_eq!(run.code, Some(0), "{run}");
    home.lines(
        "s",
        &[
            "/mode code",
            "three",
            "/remember lint with clippy",
            "/pin the key is in the drawer",
        ],
    );
    let run = home
        .cogtrix(&["-c", "test.yaml", "memory", "reindex"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    // A life that ended by a kill leaves a journal.
    home.cogtrix(&[
        "-c",
        "test.yaml",
        "-s",
        "s",
        "-p",
        "four",
        "--fault",
        "kill-after@4",
    ])
    .run();
    home
}

fn others(files: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<(&PathBuf, &Vec<u8>)> {
    let is_other = |path: &Path| path.starts_with("history") && path.ends_with("other.json");
    files.iter().filter(|(path, _)| is_other(path)).collect()
}

#[test]
fn bytes_damaged_in_any_file_of_the_data_folder_stop_no_search_no_other_session_and_no_chat() {
    let template = everything();
    let files = Home::files(&template.data());
    let kinds: Vec<&PathBuf> = files
        .iter()
        .filter(|(path, bytes)| {
            !bytes.is_empty() && path.extension().is_none_or(|end| end != "lock")
        })
        .map(|(path, _)| path)
        .collect();
    for kind in [
        "s.json",
        "s.journal.jsonl",
        "s_pins.json",
        "s_scratchpad.json",
        "s_mode_state.json",
    ] {
        assert!(
            kinds.iter().any(|path| path.ends_with(kind)),
            "no {kind} in {kinds:#?}"
        );
    }
    rounds(1, |chance, seed| {
        for kind in &kinds {
            let home = Home::new();
            for (path, bytes) in &files {
                home.write(home.data().join(path), bytes);
            }
            let server = Script::answering(|_| say("Still here.")).serve();
            home.config(&server, "embedding: {provider: hashed, dim: 32}");
            home.write(home.data().join(kind), chance.damaged(&files[*kind]));
            let case = format!("{seed}, {}", kind.display());
            let before = Home::files(&home.data());
            let memory = |args: &[&str]| -> Run {
                let run = home
                    .cogtrix(&[&["-c", "test.yaml", "memory"], args].concat())
                    .run();
                assert!(!run.stderr.contains("panicked"), "{case}: {run}");
                assert!(matches!(run.code, Some(0 | 1)), "{case}: {run}");
                run
            };
            let found = memory(&["search", "ferry"]);
            memory(&["stats"]);
            let after = Home::files(&home.data());
            assert_eq!(others(&after), others(&before), "{case}: another session");
            if !kind.ends_with("other.json") {
                assert!(found.stdout.contains("ferry"), "{case}: {found}");
                let run = home.ask("other", "still there?");
                assert_eq!(
                    (run.stdout.as_str(), run.code),
                    ("Still here.\n", Some(0)),
                    "{case}: {run}"
                );
            }
            let run = home.ask("s", "still there?");
            assert!(!run.stderr.contains("panicked"), "{case}: {run}");
            let is_refused = run.code == Some(1) && run.stderr.matches("error: ").count() == 1;
            let goes_on = run.code == Some(0) && run.stdout == "Still here.\n";
            assert!(goes_on || is_refused, "{case}: {run}");
        }
    });
}
