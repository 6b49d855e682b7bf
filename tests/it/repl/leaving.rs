//! How a chat ends: by a key, by a signal, with its terminal, or by force; and what is there afterwards.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use cogtrix::testing::server::{Server, say};
use rustix::process::Signal;
use tempfile::TempDir;

use super::Home;
use crate::support::pty::{Exit, Key};

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn ctrl_c_clears_the_line_and_leaves_when_given_twice_on_an_empty_one() {
    let home = Home::offline();
    let mut chat = home.chat(&["-s", "keys"]);
    chat.says("hello", "Message saved.");
    chat.type_text("never sent").wait_for("> never sent");
    chat.key(Key::CtrlC).wait_for_prompt();
    chat.key(Key::CtrlC)
        .wait_for("Press Ctrl-C again or Ctrl-D to quit");
    chat.wait_for_prompt().says("/mode", "* conversation");
    chat.key(Key::CtrlC);
    chat.wait_until("the second warning", |screen| {
        screen.matches("again or Ctrl-D to quit").count() == 2
    });
    chat.wait_for_prompt().key(Key::CtrlC);
    assert_eq!(chat.wait_exit(), Exit::code(0));
    assert!(
        chat.screen()
            .ends_with("Saved. Resume with: cogtrix -s keys")
    );
    assert!(chat.is_restored());
    assert_eq!(home.kept("keys").len(), 2);
}

#[test]
fn quit_its_aliases_and_ctrl_d_leave() {
    for leave in ["/quit\r", "/exit\r", "/q\r", "\x04"] {
        let home = Home::offline();
        let mut chat = home.chat(&["-s", "bye now"]);
        chat.says("hello", "Message saved.");
        chat.type_text(leave);
        assert_eq!(chat.wait_exit(), Exit::code(0), "{leave:?}");
        let screen = chat.screen();
        assert!(
            screen.ends_with("\nSaved. Resume with: cogtrix -s 'bye now'"),
            "{leave:?}: {screen}"
        );
        assert!(chat.is_restored());
        assert_folded(&home, "bye now");
    }
}

#[test]
fn a_signal_at_the_prompt_ends_as_cleanly_as_quit() {
    for signal in [Signal::TERM, Signal::HUP] {
        let home = Home::offline();
        let mut chat = home.chat(&["-s", "told"]);
        chat.says("hello", "Message saved.");
        chat.type_text("begun").wait_for("> begun");
        chat.kill(signal);
        assert_eq!(chat.wait_exit(), Exit::code(0), "{signal:?}");
        let screen = chat.screen();
        assert!(
            screen.ends_with("\nSaved. Resume with: cogtrix -s told"),
            "{screen}"
        );
        assert!(chat.is_restored(), "{signal:?}");
        assert_folded(&home, "told");
        assert_eq!(home.kept("told").len(), 2);
    }
}

#[test]
fn a_signal_in_the_middle_of_a_reply_keeps_what_arrived() {
    for signal in [Signal::TERM, Signal::HUP] {
        let server = Server::start([say("half of it").stall_after(2)]);
        let home = Home::with(&server);
        let mut chat = home.chat(&["-s", "told"]);
        chat.enter("tell").wait_for("half of");
        chat.kill(signal);
        assert_eq!(chat.wait_exit(), Exit::code(0), "{signal:?}");
        assert!(chat.is_restored(), "{signal:?}");
        assert_folded(&home, "told");
        let kept = home.kept("told");
        assert!(kept[1].starts_with("half of"), "{kept:?}");
    }
}

#[test]
fn a_signal_while_a_question_waits_does_nothing_but_leave() {
    let home = Home::offline();
    let mut chat = home.chat(&["-s", "asked"]);
    chat.says("hello", "Message saved.");
    chat.enter("/clear").wait_for("[y/N]").kill(Signal::TERM);
    assert_eq!(chat.wait_exit(), Exit::code(0));
    assert!(chat.is_restored());
    assert_eq!(home.kept("asked").len(), 2);
}

#[test]
fn a_kill_in_the_middle_of_a_reply_costs_the_reply_alone() {
    let server = Server::start([
        say("kept"),
        say("half of it").stall_after(2),
        say("the whole"),
    ]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "killed"]);
    chat.says("one", "kept");
    chat.enter("two").wait_for("half of");
    chat.kill(Signal::KILL);
    assert!(chat.wait_exit().signal.is_some());

    let mut chat = home.chat(&["-s", "killed"]);
    let screen = chat.screen();
    assert!(screen.contains("Resumed killed (4 messages"), "{screen}");
    assert!(
        screen.contains("Reply: (none, `/retry` asks again)"),
        "{screen}"
    );
    assert_eq!(screen.matches("/retry").count(), 1, "told once: {screen}");
    chat.says("/retry", "the whole");
    chat.leave();
    let last = &server.chats()[2];
    assert!(last.message(1).ends_with("one"));
    assert!(last.message(-1).ends_with("two"));
    assert_eq!(last.body["messages"].as_array().unwrap().len(), 4);
}

#[test]
fn a_terminal_that_is_closed_ends_the_chat_as_cleanly_as_quit() {
    let place = TempDir::new().unwrap();
    let mut window = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "repl::leaving::window", "--nocapture"])
        .env(WINDOW, "1")
        .env("TMPDIR", place.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(window.stdout.take().unwrap()).lines();
    let home = lines.find_map(|line| line.unwrap().strip_prefix("home: ").map(str::to_owned));
    let history = Path::new(&home.unwrap()).join("data/cogtrix/history");
    let lock = File::open(history.join("closed.lock")).unwrap();
    assert!(lock.try_lock().is_err(), "the chat holds it");

    window.kill().unwrap();
    window.wait().unwrap();
    let (ended, end) = channel();
    std::thread::spawn(move || ended.send(lock.lock().is_ok()));
    assert_eq!(end.recv_timeout(PATIENCE), Ok(true), "the chat goes on");
    assert!(!history.join("closed.journal.jsonl").exists());
    let snapshot = std::fs::read_to_string(history.join("closed.json")).unwrap();
    assert!(snapshot.contains("Message saved."), "{snapshot}");
}

const WINDOW: &str = "REPL_WINDOW";

/// The window with the terminal in it, when this binary is started as such; otherwise nothing. It is
/// killed, so that nothing is left that could hold the terminal.
#[test]
fn window() {
    #[expect(clippy::disallowed_methods, reason = "tells the window from the test")]
    if std::env::var(WINDOW).is_err() {
        return;
    }
    let home = Home::offline();
    let mut chat = home.chat(&["-s", "closed"]);
    chat.says("hello", "Message saved.");
    chat.type_text("begun").wait_for("> begun");
    #[expect(clippy::print_stdout, reason = "to the test")]
    {
        println!("\nhome: {}", home.path().display());
    }
    loop {
        std::thread::park();
    }
}

/// Everything is in the snapshot.
#[track_caller]
fn assert_folded(home: &Home, session: &str) {
    let file = |end: &str| home.history(&format!("{session}{end}"));
    assert!(file(".json").exists());
    assert!(!file(".journal.jsonl").exists());
}
