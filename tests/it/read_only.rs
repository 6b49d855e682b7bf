//! A session that is open read-only: everything can be looked at, nothing is written or asked (C85).

use cogtrix::testing::server::{Server, say};

use crate::support::home::Home;
use crate::support::is_wholly_confined;

const REFUSAL: &str = "error: this session is open read-only\nhint: `/new` starts another session, `/session NAME` opens one\n";

/// A home whose session `s` has two turns, and the server that answers there.
fn home() -> (Home, Server) {
    let home = Home::new();
    let server = Server::start((1..6).map(|n| say(format!("Reply {n}."))));
    home.config(
        &server,
        "memory: {timestamps: off, background: false}\nembedding: {provider: none}",
    );
    home.lines("s", &["The ferry leaves from the western quay", "two"]);
    home.lines("s", &["/pin keep this", "/scratch port 8080"]);
    (home, server)
}

#[test]
fn a_session_that_is_open_elsewhere_is_shown_and_nothing_of_it_is_written() {
    let (home, server) = home();
    let mut writer = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "--lines"])
        .open_stdin()
        .start();
    writer.say("three");
    writer.say("/info");
    // The turn before it is over then, and all its work done.
    writer.wait_for("version");
    let before = Home::files(&home.data());
    let export = home.work().join("s.md");
    let shows = [
        "/history all",
        "/context",
        "/memory",
        "/pin",
        "/scratch port",
        "/search western quay",
        "/recall ferry",
        "/sessions",
        "/export s.md",
    ];
    let refused = [
        "hello?",
        "/pin another",
        "/scratch port 9090",
        "/rename other",
        "/clear",
        "/delete other",
        "/undo",
        "/retry",
        "/compact",
        "/memory add lost: text",
        "/task be lost",
        "/paste",
    ];
    let lines: String = shows
        .iter()
        .chain(&refused)
        .flat_map(|line| [*line, "\n"])
        .collect();
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "--no-lock", "--lines"])
        .stdin(lines)
        .run();
    assert_eq!(run.stderr.matches(REFUSAL).count(), refused.len(), "{run}");
    assert_eq!(run.stderr.matches("error:").count(), refused.len(), "{run}");
    assert_eq!(run.code, Some(1), "{run}");
    for shown in ["Reply 3.", "keep this", "8080", "session s:1"] {
        assert!(run.stdout.contains(shown), "{shown}: {run}");
    }
    assert!(
        std::fs::read_to_string(&export)
            .unwrap()
            .contains("Reply 3.")
    );
    assert_eq!(Home::files(&home.data()), before, "{run}");
    assert_eq!(server.chats().len(), 3, "the model is not asked");
    writer.say("four");
    writer.wait_for("Reply 4.\n");
    assert_eq!(writer.wait().code, Some(0));
    let said = home.said("s");
    let replies = said.iter().filter(|line| line.starts_with("assistant: "));
    assert_eq!(
        replies.collect::<Vec<_>>(),
        [1, 2, 3, 4]
            .map(|n| format!("assistant: Reply {n}."))
            .iter()
            .collect::<Vec<_>>()
    );
}

#[test]
fn a_run_of_one_prompt_is_refused_before_the_model_is_asked() {
    let (home, server) = home();
    let before = Home::files(&home.data());
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "--no-lock", "-p", "hello"])
        .run();
    assert_eq!((run.stderr.as_str(), run.code), (REFUSAL, Some(1)), "{run}");
    assert_eq!(server.chats().len(), 2);
    assert_eq!(Home::files(&home.data()), before);
}

#[test]
fn a_session_that_needs_mending_is_shown_mended_and_left_as_it_is() {
    let (home, _server) = home();
    home.write(home.history("s_pins.json"), "{\"version\":1,\"pi");
    home.write(
        home.history("s.journal.jsonl"),
        "{\"seq\":99,\"type\":\"turn_fin",
    );
    let before = Home::files(&home.data());
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "--no-lock", "--lines"])
        .stdin("/history all\n")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("Reply 2."), "{run}");
    assert_eq!(Home::files(&home.data()), before, "{run}");
}

#[test]
fn it_belongs_to_a_chat_and_not_to_commands_that_write() {
    let (home, _server) = home();
    let before = Home::files(&home.data());
    for args in [
        &["--no-lock", "sessions", "delete", "s"][..],
        &["--no-lock", "--private"],
    ] {
        let run = home.cogtrix(args).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("--no-lock"), "{run}");
    }
    assert_eq!(Home::files(&home.data()), before);
}

#[test]
fn lines_of_a_script_run_commands_too_but_not_in_a_session_that_is_open_read_only() {
    if !is_wholly_confined() {
        return;
    }
    let (home, server) = home();
    let args = ["-c", "test.yaml", "-s", "s", "--lines"];
    let run = home
        .cogtrix(&args)
        .stdin("!echo from a line\nwhat was it?\n")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("from a line\nReply"), "{run}");
    assert!(run.stderr.contains("with your next message"), "{run}");
    let sent = server.chats().last().unwrap().message(-1);
    assert!(
        sent.contains("$ echo from a line\nfrom a line\n[exit 0"),
        "{sent}"
    );
    let run = home
        .cogtrix(&[&args[..], &["--no-lock"]].concat())
        .stdin("!echo again\n")
        .run();
    assert!(run.stderr.contains(REFUSAL.trim_end()), "{run}");
    assert!(!run.stdout.contains("again"), "{run}");
}
