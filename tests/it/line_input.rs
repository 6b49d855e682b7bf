//! The line input on a real terminal: this test binary starts itself as a small program that reads lines
//! and says what it got.

use std::path::Path;
use std::sync::Arc;

use cogtrix::files::LocalDisk;
use cogtrix::repl::input::{
    Candidate, Complete, Completions, HistoryFile, LeaveKeys, Line, LineReader, Step, TerminalInput,
};
use cogtrix::repl::{Signal, Signals};
use cogtrix::term::{Output, Paint, Policy, TerminalState};
use rustix::process::Signal as Kill;
use tokio::signal::unix::{SignalKind, signal};

use crate::support::pty::{Exit, Key, Pty, Size};

const ROLE: &str = "LINE_INPUT_DEMO";

/// The program, when this binary is started as such; otherwise nothing.
#[test]
fn demo() {
    #[expect(clippy::disallowed_methods, reason = "tells the program from the test")]
    let home = match std::env::var(ROLE) {
        Ok(_) => std::env::var("HOME").unwrap(),
        Err(_) => return,
    };
    #[expect(clippy::disallowed_methods, reason = "a program of its own")]
    let paint = Paint::from_variables(Some("1"), std::env::var("TERM").ok().as_deref());
    let mut terminal = TerminalState::remember(paint);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let code = runtime.block_on(converse(Path::new(&home), paint));
    terminal.restore();
    #[expect(
        clippy::exit,
        reason = "the harness around a test would print its own end"
    )]
    std::process::exit(code);
}

async fn converse(home: &Path, paint: Paint) -> i32 {
    let mut signals = Signals::listen().unwrap();
    let mut reply_ends = signal(SignalKind::user_defined1()).unwrap();
    let mut output = Output::standard(Policy {
        paint,
        ..Policy::default()
    });
    let mut reader = LineReader::terminal(TerminalInput {
        typed: Vec::new(),
        history: Some(HistoryFile {
            path: home.join("input-history"),
            disk: Arc::new(LocalDisk),
        }),
        completer: Box::new(Commands),
        paint,
    })
    .unwrap();
    let mut keys = LeaveKeys::default();
    loop {
        let line = tokio::select! {
            line = reader.read("> ", "", &mut output) => line.unwrap(),
            signal = signals.next() => {
                output.notice(&format!("left by {signal:?}"));
                return 7;
            }
        };
        match keys.step(&line) {
            Step::Continue => {}
            Step::Warn => output.notice("once more to leave"),
            Step::Leave => return 0,
        }
        let Line::Text(text) = line else { continue };
        match text.as_str() {
            "stream" => {
                output.reply_delta("streaming");
                tokio::select! {
                    Some(()) = reply_ends.recv() => {}
                    Signal::Interrupt = signals.next() => output.notice("interrupted"),
                }
                output.end_reply();
            }
            "ask" => {
                output.reply_delta("asking");
                reply_ends.recv().await;
                output.end_reply();
                let answer = reader.answer("sure? ", &mut output).await.unwrap();
                output.answer(&format!("answered {answer:?}"));
            }
            "/paste" => {
                let pasted = reader.paste(". ", &mut output).await.unwrap();
                output.answer(&format!("pasted {pasted:?}"));
            }
            _ => output.answer(&format!("got {text:?}")),
        }
    }
}

#[derive(Debug)]
struct Commands;

impl Complete for Commands {
    fn complete(&self, line: &str, _: usize) -> Completions {
        let commands = [
            ("/mode", "shows or switches the mode"),
            ("/model", "shows or switches the model"),
            ("/quit", "leaves"),
        ];
        let candidates = commands
            .iter()
            .filter(|(name, _)| line.starts_with('/') && name.starts_with(line))
            .map(|(name, about)| Candidate {
                replacement: (*name).to_owned(),
                description: (*about).to_owned(),
            })
            .collect();
        Completions {
            start: 0,
            candidates,
        }
    }
}

fn start() -> Pty {
    start_in(Size(80, 24))
}

fn start_in(size: Size) -> Pty {
    let mut pty = Pty::spawn(&program(), &ARGUMENTS, &[(ROLE, "1")], size);
    wait_for_prompt(&mut pty);
    pty
}

const ARGUMENTS: [&str; 3] = ["--exact", "line_input::demo", "--nocapture"];

fn program() -> std::path::PathBuf {
    std::env::current_exe().unwrap()
}

/// Waits for an empty line behind a prompt. The screen is shown without spaces at the ends of lines.
#[track_caller]
fn wait_for_prompt(pty: &mut Pty) {
    pty.wait_until("a prompt", |screen| screen.lines().last() == Some(">"));
}

#[test]
fn a_line_is_typed_edited_and_found_again_in_the_next_session() {
    let mut pty = start();
    pty.type_text("helo")
        .key(Key::Left)
        .type_text("l")
        .key(Key::Right);
    pty.type_text("!?").key(Key::Backspace).key(Key::Enter);
    pty.wait_for("got \"hello!\"");
    wait_for_prompt(&mut pty);
    pty.key(Key::CtrlD);
    assert_eq!(pty.wait_exit(), Exit::code(0));
    assert!(pty.is_restored());

    let history = pty.home().join("home/input-history");
    assert_eq!(std::fs::read_to_string(&history).unwrap(), "hello!\n");
    let mode = std::os::unix::fs::PermissionsExt::mode(&history.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let home = pty.shared_home();
    let mut later = Pty::spawn_at(home, &program(), &ARGUMENTS, &[(ROLE, "1")], Size(80, 24));
    later.key(Key::Up).wait_for("> hello!").key(Key::Enter);
    later.wait_for("got \"hello!\"");
}

#[test]
fn several_pasted_lines_are_one_input() {
    let mut pty = start();
    pty.paste("one \\\ntwo\nthree").key(Key::Enter);
    pty.wait_for(r#"got "one \\\ntwo\nthree""#);
}

#[test]
fn a_fence_a_backslash_and_alt_enter_go_on_in_the_next_line() {
    let mut pty = start();
    pty.enter("\"\"\"")
        .enter("fn main() {")
        .enter("}")
        .enter("\"\"\"");
    pty.wait_for(r#"got "fn main() {\n}""#);
    wait_for_prompt(&mut pty);
    pty.enter("a\\").enter("b");
    pty.wait_for(r#"got "a\nb""#);
    wait_for_prompt(&mut pty);
    pty.type_text("c").key(Key::AltEnter).enter("d");
    pty.wait_for(r#"got "c\nd""#);
}

#[test]
fn paste_mode_takes_lines_as_they_come_until_a_single_dot() {
    let mut pty = start();
    pty.enter("/paste")
        .wait_until("its prompt", |screen| screen.lines().last() == Some("."));
    pty.enter("a\\").enter("\"\"\"").enter("/quit").enter(".");
    pty.wait_for(r#"pasted Text("a\\\n\"\"\"\n/quit")"#);
}

#[test]
fn lines_typed_while_a_reply_streams_wait_for_the_prompt() {
    let mut pty = start();
    pty.enter("stream").wait_for("streaming");
    pty.enter("one")
        .enter("two")
        .type_text("thr")
        .wait_for("thr");
    pty.kill(Kill::USR1);
    pty.wait_for("got \"one\"")
        .wait_for("got \"two\"")
        .wait_for("> thr");
    pty.enter("ee").wait_for("got \"three\"");
}

#[test]
fn lines_sent_in_one_go_are_all_read_in_order() {
    let mut pty = start();
    let lines: Vec<String> = (0..40)
        .map(|n| format!("line {n} {}", "x".repeat(50)))
        .collect();
    pty.type_text(&(lines.join("\r") + "\r"));
    pty.wait_for(&format!("got {:?}", lines[39]));
    let printed = pty.printed();
    let mut from = 0;
    for line in &lines {
        let found = printed[from..].find(&format!("got {line:?}"));
        from += found.unwrap_or_else(|| panic!("{line} is lost or out of order"));
    }
}

#[test]
fn several_lines_pasted_while_a_reply_streams_are_one_input() {
    let mut pty = start();
    pty.enter("stream").wait_for("streaming");
    pty.paste("one\ntwo").key(Key::Enter).wait_for("two");
    pty.kill(Kill::USR1);
    pty.wait_for(r#"got "one\ntwo""#);
}

#[test]
fn a_question_is_not_answered_by_what_was_typed_before_it() {
    let mut pty = start();
    pty.enter("ask").wait_for("asking");
    pty.enter("yes").type_text("y").wait_for("yes\ny");
    pty.kill(Kill::USR1);
    pty.wait_for("sure?").enter("no");
    pty.wait_for(r#"answered Text("no")"#)
        .wait_for("got \"yes\"");
}

#[test]
fn interrupt_clears_the_line_and_leaves_when_given_twice_on_an_empty_one() {
    let mut pty = start();
    pty.type_text("never mind")
        .wait_for("never mind")
        .key(Key::CtrlC);
    wait_for_prompt(&mut pty);
    pty.key(Key::CtrlC).wait_for("once more to leave");
    wait_for_prompt(&mut pty);
    pty.enter("stay").wait_for("got \"stay\"");
    wait_for_prompt(&mut pty);
    pty.key(Key::CtrlC);
    pty.wait_until("the second warning", |screen| {
        screen.matches("once more").count() == 2
    });
    wait_for_prompt(&mut pty);
    pty.key(Key::CtrlC);
    assert_eq!(pty.wait_exit(), Exit::code(0));
    assert!(pty.is_restored());
}

#[test]
fn interrupt_while_a_reply_streams_is_a_signal_and_the_prompt_comes_back() {
    let mut pty = start();
    pty.enter("stream").wait_for("streaming").key(Key::CtrlC);
    pty.wait_for("interrupted");
    wait_for_prompt(&mut pty);
    pty.enter("still here").wait_for("got \"still here\"");
}

#[test]
fn being_ended_at_the_prompt_gives_the_terminal_back() {
    for (signal, name) in [(Kill::TERM, "Terminate"), (Kill::HUP, "Hangup")] {
        let mut pty = start();
        pty.type_text("half a li").wait_for("half a li");
        assert!(!pty.is_restored(), "the editor holds the terminal");
        pty.kill(signal);
        assert_eq!(pty.wait_exit(), Exit::code(7), "{name}");
        assert!(pty.is_restored(), "{name}");
        let printed = pty.printed();
        assert!(printed.contains(&format!("left by {name}")));
        assert!(
            printed.rfind("\x1b[?2004l") > printed.rfind("\x1b[?2004h"),
            "{name}"
        );
        for never in ["\x1b[?1049h", "\x1b[?1000h", "\x1b[?1006h"] {
            assert!(!printed.contains(never), "{never:?}");
        }
    }
}

#[test]
fn a_tab_lists_what_can_follow_with_its_meaning_and_the_only_one_is_hinted_at() {
    let mut pty = start();
    pty.type_text("/q")
        .wait_for("> /quit")
        .key(Key::Tab)
        .key(Key::Enter);
    pty.wait_for("got \"/quit\"");
    wait_for_prompt(&mut pty);
    pty.type_text("/m").key(Key::Tab);
    pty.wait_for("/model  shows or switches the model")
        .wait_for("/mode   shows");
    pty.key(Key::Enter).wait_for("got \"/mode\"");
}

#[test]
fn a_tiny_terminal_and_a_changing_one_are_fine() {
    let mut pty = start_in(Size(10, 4));
    pty.type_text("日本語 and some more than fits")
        .key(Key::Tab);
    pty.resize(Size(60, 10)).key(Key::Enter);
    pty.wait_for("got \"日本語 and some more than fits\"");
}

#[test]
fn a_terminal_that_knows_no_sequences_gets_none() {
    let mut pty = Pty::spawn(
        &program(),
        &ARGUMENTS,
        &[(ROLE, "1"), ("TERM", "dumb")],
        Size(80, 24),
    );
    wait_for_prompt(&mut pty);
    pty.enter("\"\"\"")
        .enter("plain")
        .enter("\"\"\"")
        .wait_for("got \"plain\"");
    wait_for_prompt(&mut pty);
    pty.key(Key::CtrlD);
    assert_eq!(pty.wait_exit(), Exit::code(0));
    assert!(!pty.printed().contains('\x1b'), "{}", pty.printed());
    assert!(pty.screen().ends_with('>'), "{}", pty.screen());
}
