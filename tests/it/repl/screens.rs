//! Terminals of every kind: without color, without anything, tiny.

use cogtrix::testing::server::{Script, Server, say};

use super::{Chat, Home};
use crate::support::pty::{Exit, Key, Size};

#[test]
fn no_color_leaves_text_plain_and_a_dumb_terminal_gets_no_sequences() {
    for (variable, value, thought) in [
        ("NO_COLOR", "1", "thought: hm"),
        ("TERM", "dumb", "thinking: hm"),
    ] {
        let server = Server::start([say("Four.").thinking("hm"), say("Five.")]);
        let mut chat = Home::with(&server).start(&["-s", "plain"], &[(variable, value)]);
        chat.wait_for_prompt();
        chat.says("2 + 2?", &format!("{thought}\nFour."));
        chat.says("/nonsense", "error: unknown command");
        chat.enter("/clear").wait_for("[y/N]").enter("n");
        chat.wait_for("Cancelled; nothing changed")
            .wait_for_prompt();
        chat.enter("\"\"\"").enter("a").enter("b").enter("\"\"\"");
        chat.wait_for("Five.").wait_for_prompt();
        chat.leave();
        let printed = chat.printed();
        assert!(!printed.contains("\x1b[1;3"), "{variable}: {printed:?}");
        assert!(!printed.contains("\x1b[2m"), "{variable}: {printed:?}");
        if variable == "TERM" {
            assert!(!printed.contains('\x1b'), "{printed:?}");
        }
    }
}

#[test]
fn on_a_color_terminal_prompt_error_and_hint_are_dressed() {
    let mut chat = Home::offline().chat(&[]);
    chat.says("/mdoe", "did you mean");
    let printed = chat.printed();
    assert!(printed.contains("\x1b[1;31merror: \x1b[0m"), "{printed:?}");
    assert!(printed.contains("conversation> \x1b[0m"), "{printed:?}");
}

#[test]
fn no_subcommand_breaks_a_word_on_a_narrow_screen() {
    let home = Home::offline().sized(40, 100);
    let mut chat = home.chat(&["-s", "a-session-with-a-name-longer-than-others"]);
    chat.says("words", "saved.");
    chat.leave();
    for args in [
        &["--sesion"][..],
        &["--help"],
        &["--help-all"],
        &["sessions"],
        &[
            "sessions",
            "show",
            "a-session-with-a-name-longer-than-others",
        ],
        &["config", "show"],
        &["doctor"],
        &["models"],
        &["memory", "stats"],
        &["memory", "list"],
        &["embedder", "show"],
        &["search", "words"],
    ] {
        let mut run = home.start(args, &[]);
        run.wait_exit();
        let printed = anstream::adapter::strip_str(&run.printed()).to_string();
        assert!(!printed.trim().is_empty(), "{args:?}");
        for line in printed
            .lines()
            .map(|line| line.rsplit('\r').next().unwrap_or(line))
        {
            let is_one_word = !line.trim().contains(' ');
            assert!(
                line.chars().count() <= 40 || is_one_word,
                "{args:?}: {line:?}"
            );
        }
    }
}

#[test]
fn a_session_that_is_shown_at_a_terminal_has_its_replies_laid_out() {
    let server = Server::start([say("# Four\n\nThat is **certain**.")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "sums"]);
    chat.says("is 2 + 2 = **4**?", "certain");
    chat.leave();
    let mut run = home.start(&["sessions", "show", "sums"], &[]);
    run.wait_exit();
    let screen = run.screen();
    assert!(screen.contains("[1] You, "), "{screen}");
    assert!(
        screen.contains("\nis 2 + 2 = **4**?\n\nAssistant, "),
        "{screen}"
    );
    assert!(screen.contains("\nFour\n\nThat is certain."), "{screen}");
}

#[test]
fn examples_and_their_words_can_be_told_apart_on_a_narrow_screen() {
    let mut run = Home::offline().sized(40, 100).start(&["--help"], &[]);
    run.wait_exit();
    let printed = run.printed().replace('\r', "");
    let example = "  cogtrix what is a monad\n      ask one question\n";
    assert!(printed.contains(example), "{printed}");
}

/// Every command in turn; an `n` where one asks.
const LINES: [&str; 27] = [
    "hello there",
    "日本語 👋 with more words than fit",
    "/help",
    "/help modes",
    "/help model",
    "/mode",
    "/mode reasoning",
    "/mode nonsense",
    "/model",
    "/context",
    "/context full",
    "/compact",
    "/history",
    "/undo",
    "/retry",
    "/clear",
    "n",
    "/new",
    "/session b",
    "/sessions",
    "/delete a",
    "n",
    "/rename c",
    "/info",
    "/export out.md",
    "/nonsense",
    "the last words",
];

#[test]
fn every_command_works_on_a_tiny_terminal() {
    for (columns, rows) in [(10, 3), (20, 5)] {
        let server = Script::answering(|_| say("日本語 words 👩‍👧 and words")).serve();
        let home = Home::with(&server).sized(columns, rows);
        let mut chat = home.start(&["-s", "a"], &[]);
        for (n, line) in LINES.iter().enumerate() {
            wait_for_read(&mut chat, n);
            chat.enter(line);
        }
        wait_for_read(&mut chat, LINES.len());
        chat.key(Key::CtrlD);
        assert_eq!(chat.wait_exit(), Exit::code(0), "{columns}x{rows}");
        assert!(chat.is_restored());
        let printed = chat.printed();
        assert!(!printed.contains("panicked"), "{printed}");
        let words: Vec<&str> = printed.split_whitespace().collect();
        assert!(words.join(" ").contains("Saved. Resume with"), "{printed}");
    }
}

/// Words, lists, a table and code, longer than any screen.
fn long_reply() -> String {
    let part = "## Part\n\nWords that **wrap** 日本語 👩‍👧 at any width.\n\n- one\n  - two\n\n|a|b|\n|-|-|\n|c|d|\n\n```rust\nfn main() {}\n```\n\n";
    part.repeat(60).trim_end().to_owned()
}

#[test]
fn on_a_terminal_of_one_cell_a_reply_is_kept_whole() {
    let server = Server::start([say(long_reply())]);
    let home = Home::with(&server).sized(1, 1);
    let mut chat = home.start(&["-s", "a"], &[]);
    wait_for_read(&mut chat, 0);
    chat.enter("tell");
    wait_for_read(&mut chat, 1);
    chat.key(Key::CtrlD);
    assert_eq!(chat.wait_exit(), Exit::code(0));
    assert!(chat.is_restored());
    assert_eq!(home.kept("a")[1], long_reply());
}

#[test]
fn a_terminal_that_is_resized_all_the_time_loses_nothing() {
    let server = Server::start([say(long_reply()), say("And that was all.")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "a"]);
    chat.enter("tell");
    let is_done = |chat: &Chat| chat.printed().matches("\x1b[?2004h").count() > 2;
    for n in (0..1_000).cycle() {
        if is_done(&chat) {
            break;
        }
        chat.resize(Size(1 + n * 7 % 120, 1 + n * 5 % 50));
    }
    chat.resize(Size(80, 24))
        .clear_screen()
        .says("more", "And that was all.");
    chat.leave();
    let printed = chat.printed();
    assert!(!printed.contains("panicked"), "{printed}");
    assert_eq!(home.kept("a")[1], long_reply());
}

/// Waits until the editor reads its line `n`, counted from 0. It asks for marks around pastes when it
/// begins, and they are asked for again when it is done.
#[track_caller]
fn wait_for_read(chat: &mut Chat, n: usize) {
    chat.wait_printed("\x1b[?2004h", 2 * n + 1);
}
