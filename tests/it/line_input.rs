//! The line input on a real terminal: this test binary starts itself as a small program that reads lines
//! and says what it got.

use std::path::Path;
use std::sync::Arc;

use cogtrix::files::LocalDisk;
use cogtrix::repl::edit::TextEditor;
use cogtrix::repl::input::{
    Candidate, Complete, Completions, Entered, HistoryFile, LeaveKeys, Line, LineReader, Step,
    TerminalInput,
};
use cogtrix::repl::{Signal, Signals};
use cogtrix::term::{EditKeys, Output, Paint, Policy, Stops, TerminalState};
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
    let stops = terminal.silence().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let code = runtime.block_on(converse(Path::new(&home), paint, stops));
    terminal.restore();
    #[expect(
        clippy::exit,
        reason = "the harness around a test would print its own end"
    )]
    std::process::exit(code);
}

fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a program of its own")]
    std::env::var(name).ok()
}

async fn converse(home: &Path, paint: Paint, stops: Stops) -> i32 {
    let mut signals = Signals::listen().unwrap();
    let mut reply_ends = signal(SignalKind::user_defined1()).unwrap();
    let mut output = Output::standard(Policy {
        paint,
        ..Policy::default()
    });
    let mut reader = LineReader::terminal(TerminalInput {
        typed: Vec::new(),
        is_answer_due: true,
        reflows: true,
        stops,
        history: Some(HistoryFile {
            path: home.join("input-history"),
            older: Some(home.join("older-history")),
            disk: Arc::new(LocalDisk),
            was_reported: false,
        }),
        completer: Box::new(Commands),
        paint,
        keys: match variable("DEMO_KEYS").as_deref() {
            Some("vi") => EditKeys::Vi,
            _ => EditKeys::Emacs,
        },
    })
    .unwrap();
    let editor = TextEditor {
        command: variable("DEMO_EDITOR"),
    };
    let mut begun = String::new();
    let mut keys = LeaveKeys::default();
    loop {
        let initial = std::mem::take(&mut begun);
        let entered = tokio::select! {
            entered = reader.read("> ", &initial, &mut output) => entered.unwrap(),
            signal = signals.next() => {
                output.notice(&format!("left by {signal:?}"));
                return 7;
            }
        };
        let line = match entered {
            Entered::Line(line) => line,
            Entered::ForEditor { begun: text, rows } => {
                output.take_back(rows);
                begun = match editor.edit(&text, &mut signals).await {
                    Ok(edited) => edited,
                    Err(error) => {
                        output.error(&error.to_string(), None);
                        text
                    }
                };
                continue;
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
                print(&mut output, &format!("answered {answer:?}"));
            }
            "/paste" => {
                let pasted = reader.paste(". ", &mut output).await.unwrap();
                print(&mut output, &format!("pasted {pasted:?}"));
            }
            _ => print(&mut output, &format!("got {text:?}")),
        }
    }
}

/// As it is, whatever the width.
fn print(output: &mut Output, text: &str) {
    output.reply_delta(text);
    output.end_reply();
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
    pty.enter("one").enter("twq\x7fo").type_text("thr");
    pty.kill(Kill::USR1);
    pty.wait_for("got \"one\"")
        .wait_for("got \"two\"")
        .wait_for("> thr");
    pty.key(Key::Left).type_text("h").key(Key::Backspace);
    pty.key(Key::Right).enter("ee").wait_for("got \"three\"");
}

#[test]
fn what_is_typed_while_a_reply_streams_is_not_shown_in_it() {
    let mut pty = start();
    pty.enter("stream").wait_for("streaming");
    assert!(!pty.is_restored(), "keys are echoed during a reply");
    pty.type_text("ahead");
    pty.kill(Kill::USR1);
    pty.wait_for("> ahead");
    let screen = pty.screen();
    assert_eq!(screen.matches("ahead").count(), 1, "{screen}");
    assert!(screen.contains("streaming\n"), "{screen}");
    pty.key(Key::Enter).wait_for("got \"ahead\"");
}

#[test]
fn a_long_line_typed_ahead_comes_whole() {
    let mut pty = start();
    let line = "x".repeat(6_000) + "end";
    pty.enter("stream").wait_for("streaming");
    pty.type_text(&line);
    pty.kill(Kill::USR1);
    pty.wait_for("xend").key(Key::Enter);
    pty.wait_printed(&format!("got {line:?}"), 1);
}

#[test]
fn an_interrupted_reply_keeps_what_was_typed_during_it() {
    let mut pty = start();
    pty.enter("stream").wait_for("streaming");
    pty.type_text("for later").key(Key::CtrlC);
    pty.wait_for("interrupted").wait_for("> for later");
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
    pty.paste("one\ntwo").key(Key::Enter);
    pty.kill(Kill::USR1);
    pty.wait_for(r#"got "one\ntwo""#);
}

fn lines(n: usize) -> String {
    let lines: Vec<String> = (1..=n).map(|n| format!("line {n}")).collect();
    lines.join("\n")
}

#[test]
fn a_long_paste_is_folded_on_the_screen_and_whole_in_the_message_and_the_history() {
    let mut pty = start();
    let (text, wide) = (lines(300), "w".repeat(1_500));
    pty.type_text("see ").paste(&text).type_text(" and ");
    pty.paste(&wide).type_text("!");
    pty.wait_for("> see [pasted 300 lines] and [pasted 1,500 characters]!");
    assert!(!pty.printed().contains("line 299"), "{}", pty.screen());
    pty.key(Key::Enter);
    let whole = format!("see {text} and {wide}!");
    pty.wait_printed(&format!("got {whole:?}"), 1);
    wait_for_prompt(&mut pty);
    pty.key(Key::Up).wait_for("> see [pasted 300 lines] and");
    pty.key(Key::Enter)
        .wait_printed(&format!("got {whole:?}"), 2);
    wait_for_prompt(&mut pty);
    pty.key(Key::CtrlD);
    assert_eq!(pty.wait_exit(), Exit::code(0));
    let kept = std::fs::read_to_string(pty.home().join("home/input-history")).unwrap();
    assert_eq!(kept.trim_end(), whole.replace('\n', "\\n"));

    let home = pty.shared_home();
    let mut later = Pty::spawn_at(home, &program(), &ARGUMENTS, &[(ROLE, "1")], Size(80, 24));
    later.key(Key::Up).wait_for("> [pasted 300 lines]");
    later
        .key(Key::Enter)
        .wait_printed(&format!("got {whole:?}"), 1);
}

#[test]
fn the_marker_of_a_paste_goes_as_one_and_typed_words_are_no_marker() {
    let mut pty = start();
    pty.paste(&lines(20)).wait_for("> [pasted 20 lines]");
    pty.key(Key::Backspace);
    wait_for_prompt(&mut pty);
    pty.type_text("[pasted 20 lines]").key(Key::Enter);
    pty.wait_for("got \"[pasted 20 lines]\"");
    wait_for_prompt(&mut pty);
    // The cursor jumps over it, and what is typed stands before it.
    pty.paste(&lines(20)).wait_for("> [pasted 20 lines]");
    pty.key(Key::Left)
        .type_text("<")
        .key(Key::Right)
        .type_text(">");
    pty.wait_for("> <[pasted 20 lines]>").key(Key::Enter);
    pty.wait_printed(&format!("got {:?}", format!("<{}>", lines(20))), 1);
    wait_for_prompt(&mut pty);
    // Changed in its middle, it is words, and that is said.
    pty.paste(&lines(20)).wait_for("> [pasted 20 lines]");
    pty.type_text("\x1bb")
        .type_text("very ")
        .wait_for("20 very lines]");
    pty.key(Key::Enter).wait_for("that text is not sent");
    assert!(!pty.printed().contains("20 very line 1"));
}

#[test]
fn a_long_paste_that_begins_like_a_command_is_none_and_one_at_once_is_taken_whole() {
    let mut pty = start();
    let text = format!("/quit\n{}", lines(2_000));
    pty.paste(&text).wait_for("> [pasted 2,001 lines]");
    pty.key(Key::Enter);
    pty.wait_printed(&format!("got {:?}", format!(" {text}")), 1);
}

#[test]
fn the_line_goes_to_the_editor_and_comes_back_with_its_text() {
    let editor = r#"f() { sed -i "s/helo/hello/; \$a second" "$1"; }; f"#;
    let variables = [(ROLE, "1"), ("DEMO_EDITOR", editor)];
    let mut pty = Pty::spawn(&program(), &ARGUMENTS, &variables, Size(80, 24));
    wait_for_prompt(&mut pty);
    pty.type_text("helo").type_text("\x18\x05");
    pty.wait_for("> hello\nsecond");
    assert!(!pty.screen().contains("> helo"), "{}", pty.screen());
    pty.key(Key::Enter);
    pty.wait_for(r#"got "hello\nsecond""#);
    let mut pty = start();
    pty.type_text("as it was\x18\x05")
        .wait_for("no editor is set");
    pty.wait_until("the line", |screen| {
        screen.lines().last() == Some("> as it was")
    });
}

#[test]
fn an_editor_has_the_terminal_as_usual_and_a_long_text_comes_back_folded() {
    let editor =
        r#"f() { stty -a | grep -o -e ' -\?echo ' -e ' -\?icanon' > "$1"; seq 20 >> "$1"; }; f"#;
    let variables = [(ROLE, "1"), ("DEMO_EDITOR", editor)];
    let mut pty = Pty::spawn(&program(), &ARGUMENTS, &variables, Size(80, 24));
    wait_for_prompt(&mut pty);
    pty.type_text("x\x18\x05").wait_for("> [edited 22 lines]");
    pty.key(Key::Enter).wait_for("icanon");
    let printed = pty.printed();
    assert!(
        printed.contains(" icanon") && printed.contains(" echo "),
        "{printed}"
    );
}

#[test]
fn the_rest_of_an_earlier_input_is_suggested_and_taken_with_right() {
    let mut pty = start();
    pty.enter("explain the parser").wait_for("got");
    wait_for_prompt(&mut pty);
    pty.type_text("exp").wait_for("> explain the parser");
    pty.key(Key::Right).type_text("!").key(Key::Enter);
    pty.wait_for("got \"explain the parser!\"");
    wait_for_prompt(&mut pty);
    pty.type_text("expl")
        .wait_for("> explain the parser!")
        .key(Key::Enter);
    pty.wait_for("got \"expl\"");
    wait_for_prompt(&mut pty);
    // A suggestion that was not taken leaves the screen with the line.
    pty.type_text("explain")
        .wait_for("> explain the parser!")
        .key(Key::CtrlC);
    pty.wait_until("the line as it was typed", |screen| {
        screen.ends_with("> explain\n>")
    });
    pty.type_text("\x12parser")
        .wait_for("(reverse-i-search)`parser'");
    pty.key(Key::Enter);
    pty.wait_until("found again", |screen| {
        screen.matches("got \"explain the parser!\"").count() == 2
    });
}

#[test]
fn an_older_history_is_taken_over_and_left_as_it_is() {
    let first = start();
    let home = first.shared_home();
    drop(first);
    std::fs::create_dir_all(home.path().join("home")).unwrap();
    let older = home.path().join("home/older-history");
    let mut file = std::fs::File::create(&older).unwrap();
    std::io::Write::write_all(&mut file, b"from before\n").unwrap();
    let mut pty = Pty::spawn_at(home, &program(), &ARGUMENTS, &[(ROLE, "1")], Size(80, 24));
    wait_for_prompt(&mut pty);
    pty.enter("new").wait_for("got \"new\"");
    wait_for_prompt(&mut pty);
    pty.key(Key::Up).wait_for("> new").key(Key::Up);
    pty.wait_for("> from before").key(Key::Enter);
    pty.wait_for("got \"from before\"");
    assert_eq!(std::fs::read_to_string(&older).unwrap(), "from before\n");
}

#[test]
fn vi_keys_edit_the_line_where_they_are_asked_for() {
    let variables = [(ROLE, "1"), ("DEMO_KEYS", "vi")];
    let mut pty = Pty::spawn(&program(), &ARGUMENTS, &variables, Size(80, 24));
    wait_for_prompt(&mut pty);
    pty.type_text("one two").wait_for("> one two");
    pty.type_text("\x1b")
        .type_text("0dw")
        .wait_until("the rest", |screen| screen.lines().last() == Some("> two"));
    pty.key(Key::Enter).wait_for("got \"two\"");
    wait_for_prompt(&mut pty);
    pty.type_text("one two").wait_for("> one two");
    pty.type_text("\x1b")
        .type_text("bdw")
        .wait_until("the last word gone", |screen| {
            screen.lines().last() == Some("> one")
        });
    pty.key(Key::Enter).wait_for("got \"one \"");
}

#[test]
fn an_answer_of_the_terminal_that_comes_late_is_not_typed() {
    for keys in ["emacs", "vi"] {
        let variables = [(ROLE, "1"), ("DEMO_KEYS", keys)];
        let mut pty = Pty::spawn(&program(), &ARGUMENTS, &variables, Size(80, 24));
        wait_for_prompt(&mut pty);
        pty.type_text("one ")
            .type_text("\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b[?62;22c")
            .type_text("two ")
            .type_text("\x1b]11;rgb:ff/ff/ff\x07")
            .type_text("three");
        pty.key(Key::Enter).wait_for("got \"one two three\"");
        pty.enter("ask").wait_for("asking");
        pty.kill(Kill::USR1);
        pty.wait_for("sure?");
        pty.type_text("\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\no");
        pty.key(Key::Enter).wait_for("answered Text(\"no\")");
    }
}

#[test]
fn a_question_is_not_answered_by_what_was_typed_before_it() {
    let mut pty = start();
    pty.enter("ask").wait_for("asking");
    pty.enter("yes").type_text("y");
    pty.kill(Kill::USR1);
    pty.wait_for("sure?").enter("no");
    pty.wait_for(r#"answered Text("no")"#)
        .wait_for("got \"yes\"")
        .wait_for("> y");
    pty.enter("es").wait_for("got \"yes\"\n> yes\ngot");
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

/// The editor went back as many rows as the line had taken before: what was above was gone, or the line stood there twice.
#[test]
fn a_line_stands_once_below_what_was_said_however_often_the_width_changes() {
    const LINE: &str = "> one two three four five";
    let mut pty = start_in(Size(60, 200));
    pty.enter("hello").wait_for("got \"hello\"");
    wait_for_prompt(&mut pty);
    pty.type_text(&LINE[2..]).wait_for(LINE);
    for (columns, times) in [1, 60, 5, 25, 7, 60].into_iter().zip(1..) {
        pty.resize_reflowing(Size(columns, 200));
        pty.wait_printed(LINE, times);
    }
    pty.wait_until("the whole line", |screen| {
        screen.ends_with(&format!("got \"hello\"\n{LINE}"))
    });
    pty.key(Key::Enter)
        .wait_for("got \"one two three four five\"");
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
