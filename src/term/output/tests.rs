use proptest::prelude::*;

use std::time::{Duration, Instant};

use super::*;
use crate::term::fixture::streams;
use crate::term::markdown::Line;
use crate::testing::Capture;

fn output(stdout: Device, stderr: Device, policy: Policy) -> (Output, Capture, Capture) {
    let (out, err) = (Capture::default(), Capture::default());
    let streams = Streams {
        stdout: Box::new(out.clone()),
        stderr: Box::new(err.clone()),
        stdout_device: stdout,
        stderr_device: stderr,
        columns: Some(20),
    };
    (Output::new(streams, policy), out, err)
}

/// Both streams on one terminal: one capture shows what the person sees, in its order.
fn screen(paint: Paint) -> (Output, Capture) {
    let seen = Capture::default();
    let streams = streams(&seen, Device::Terminal, 20);
    let policy = Policy {
        paint,
        ..Policy::default()
    };
    (Output::new(streams, policy), seen)
}

#[test]
fn replies_go_to_stdout_byte_for_byte_and_everything_else_to_stderr() {
    let (mut output, out, err) = output(Device::File, Device::File, Policy::default());
    output.progress("asking");
    output.reasoning_delta("hm");
    output.reply_delta("red: \x1b[31m");
    output.notice("still there");
    output.reply_delta("\r");
    output.reply_delta("\nend");
    output.end_reply();
    output.warning("careful");
    output.error("it broke", Some("mend it"));
    output.answer("mode  code");
    assert_eq!(out.text(), "red: \x1b[31m\r\nend\nmode  code\n");
    assert_eq!(
        err.text(),
        "still there\nwarning: careful\nerror: it broke\nhint: mend it\n"
    );
}

#[test]
fn in_a_file_that_gets_both_streams_a_warning_never_stands_in_a_line_of_the_reply() {
    let both = Capture::default();
    let streams = streams(&both, Device::File, 20);
    let mut output = Output::new(streams, Policy::default());
    output.is_one_file = true;
    output.reply_delta("half of");
    output.warning("careful");
    output.end_reply();
    output.reply_delta("whole\n");
    output.warning("careful");
    output.end_reply();
    assert_eq!(
        both.text(),
        "half of\nwarning: careful\nwhole\nwarning: careful\n"
    );
}

#[test]
fn a_notice_in_the_middle_of_a_reply_gets_its_own_line() {
    let (mut output, seen) = screen(Paint::Colorless);
    output.reply_delta("half of");
    output.notice("saved");
    output.reply_delta(" the rest");
    output.end_reply();
    output.end_reply();
    assert_eq!(seen.text(), "half of\nsaved\n the rest\n");
}

#[test]
fn a_gap_is_one_empty_line_and_only_below_something() {
    let (mut output, seen) = screen(Paint::Colorless);
    output.gap();
    output.reply_delta("a reply");
    output.gap();
    output.mark_pastes();
    output.gap();
    output.notice("noticed");
    output.gap();
    assert_eq!(seen.text().replace(PASTE_ON, ""), "a reply\n\nnoticed\n\n");
}

#[test]
fn thinking_is_dim_and_ends_before_the_reply() {
    let (mut output, seen) = screen(Paint::Full);
    output.reasoning_delta("hm, ");
    output.reasoning_delta("yes");
    output.reply_delta("Yes.");
    output.end_reply();
    assert_eq!(seen.text(), "\x1b[2mhm, \x1b[0m\x1b[2myes\x1b[0m\nYes.\n");

    let (mut output, seen) = screen(Paint::Colorless);
    output.reasoning_delta("hm");
    output.reply_delta("Yes.");
    output.end_reply();
    assert_eq!(seen.text(), "thinking: hm\nYes.\n");
}

#[test]
fn a_notice_in_the_middle_of_a_reply_that_is_laid_out_stands_below_what_has_come() {
    let (mut output, seen) = screen(Paint::Colorless);
    output.show_replies(Replies::Markdown(Theme::Auto));
    output.reply_delta("**half** of");
    output.notice("saved");
    output.reply_delta(" the rest");
    output.end_reply();
    assert_eq!(seen.text(), "\x1b[1mhalf\x1b[0m of\nsaved\nthe rest\n");
}

#[test]
fn thinking_that_is_over_folds_to_a_line_with_its_time_and_length() {
    let (mut output, seen) = screen(Paint::Colorless);
    output.show_replies(Replies::Markdown(Theme::Auto));
    output.keep_thinking_at("/details");
    let thought = ["word"; 20].join(" ");
    output.reasoning_delta(&thought);
    let whole = format!("thought: {thought}");
    let thinking = output.thinking.as_ref().unwrap();
    for (columns, seconds, expected) in [
        (80, 0, "Thought (20 words) · /details"),
        (80, 3, "Thought for 3 s (20 words) · /details"),
        (20, 3, "Thought for 3 s (20…"),
        (200, 3, &whole),
    ] {
        let size = Size { columns, rows: 24 };
        let folded = thinking.folded(Duration::from_secs(seconds), size, "/details");
        let folded: Vec<String> = folded.iter().map(Line::text).collect();
        assert_eq!(folded, [expected]);
    }
    output.reply_delta("Yes.");
    output.end_reply();
    let text = seen.text();
    assert!(text.ends_with("…\n\x1b[?2026lYes.\n"), "{text:?}");
}

#[test]
fn words_of_our_own_wrap_at_blanks() {
    for paint in [Paint::Colorless, Paint::Bare] {
        let (mut output, seen) = screen(paint);
        output.warning("this has more words than fit a line");
        output.answer("  and so has this one here");
        assert_eq!(
            seen.text(),
            "warning: this has\nmore words than fit\na line\n  and so has this\n  one here\n"
        );
    }
}

#[test]
fn a_progress_line_is_redrawn_cut_to_the_terminal_and_cleared_before_anything_else() {
    let (mut output, seen) = screen(Paint::Colorless);
    output.progress("waiting for the model to load");
    output.progress("1 s");
    output.reply_delta("hi");
    output.progress("not in the middle of a reply");
    output.end_reply();
    assert_eq!(
        seen.text(),
        "\r\x1b[Kwaiting for the mo…\r\x1b[K1 s\r\x1b[Khi\n"
    );
    let (mut output, seen) = screen(Paint::Bare);
    output.progress("waiting");
    assert_eq!(seen.text(), "");
}

#[test]
fn a_wait_names_what_runs_beside_what_it_printed_last() {
    for (columns, printed, expected) in [
        (79, "", "shell for i in 1 2 3; do … Ctrl-C stops"),
        (79, "6", "shell for i in 1 2 3; do · 6 · Ctrl-C stops"),
        (34, "6", "shell for i in… · 6 · Ctrl-C stops"),
        (
            45,
            &"x".repeat(90),
            "shell for i … · xxxxxxxxxxxxx… · Ctrl-C stops",
        ),
    ] {
        let wait = Wait {
            what: "shell for i in 1 2 3; do".to_owned(),
            printed: printed.to_owned(),
            hint: "Ctrl-C stops",
            since: Instant::now(),
        };
        assert_eq!(wait.line(columns), expected, "{columns}");
    }
}

#[test]
fn quiet_keeps_warnings_and_errors_and_verbose_adds_details() {
    let told = |verbosity| {
        let policy = Policy {
            verbosity,
            ..Policy::default()
        };
        let (mut output, _, err) = output(Device::File, Device::File, policy);
        output.detail("detail");
        output.notice("notice");
        output.warning("warned");
        err.text()
    };
    assert_eq!(told(Verbosity::Quiet), "warning: warned\n");
    assert_eq!(told(Verbosity::Normal), "notice\nwarning: warned\n");
    assert_eq!(
        told(Verbosity::Verbose),
        "detail\nnotice\nwarning: warned\n"
    );
}

/// A stdout that refuses with one kind of error.
struct Refusing(io::ErrorKind);

impl Write for Refusing {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_is_an_end_and_a_full_disk_is_an_error() {
    let finished = |kind| {
        let (mut output, ..) = output(Device::File, Device::File, Policy::default());
        output.streams.stdout = Box::new(Refusing(kind));
        output.reply_delta("lost");
        assert!(output.failure().is_some());
        output.reply_delta("not tried again");
        output.finish().unwrap_err()
    };
    assert!(matches!(
        finished(io::ErrorKind::BrokenPipe),
        OutputError::Closed
    ));
    let full = finished(io::ErrorKind::StorageFull);
    assert!(matches!(full, OutputError::Failed(_)));
    assert!(full.hint().is_some());
}

#[test]
fn a_copied_text_goes_to_the_terminal_wrapped_for_tmux_and_only_within_the_limit() {
    let (mut output, seen) = screen(Paint::Full);
    output.copy("hi").unwrap();
    assert_eq!(seen.text(), "\x1b]52;c;aGk=\x07");
    let (mut output, seen) = screen(Paint::Full);
    output.policy.features.is_tmux = true;
    output.copy("hi").unwrap();
    assert_eq!(
        seen.text(),
        "\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"
    );
    let long = "x".repeat(CLIPBOARD + 1);
    assert_eq!(
        output.copy(&long).unwrap_err().to_string(),
        "it has 74,995 bytes, and terminals take at most 74,994"
    );
    let (mut output, out, _) = output_to_file();
    assert_eq!(output.copy("hi"), Err(CannotCopy::NoTerminal));
    assert_eq!(out.text(), "");
}

fn output_to_file() -> (Output, Capture, Capture) {
    output(Device::File, Device::Terminal, Policy::default())
}

#[test]
fn links_can_be_followed_where_the_terminal_is_known_to_and_hostile_ones_do_nothing() {
    let shown = |paint, links, text: &str| {
        let (mut output, seen) = screen(paint);
        output.policy.features.links = links;
        output.show_replies(Replies::Markdown(Theme::Dark));
        output.reply(text);
        seen.text()
    };
    let link = "[docs](https://x.org/a\u{e9})";
    let followed = shown(Paint::Full, true, link);
    assert!(
        followed.contains("\x1b]8;;https://x.org/a%C3%A9\x1b\\\x1b[4mdocs\x1b[0m\x1b]8;;\x1b\\"),
        "{followed:?}"
    );
    let plain = shown(Paint::Full, false, link);
    let strip = |text: &str| anstream::adapter::strip_str(text).to_string();
    assert_eq!(strip(&followed), strip(&plain), "the same text is seen");
    for (paint, links, text) in [
        (Paint::Full, false, link),
        (Paint::Colorless, true, link),
        (Paint::Full, true, "[x](javascript:alert)"),
        (Paint::Full, true, "[x](file:///etc/passwd)"),
    ] {
        let text = shown(paint, links, text);
        assert!(!text.contains("\x1b]8"), "{text:?}");
    }
    let evil = shown(
        Paint::Full,
        true,
        "[x](<https://x/&#27;\\&#7;\u{9b}2J&#27;[2J>)",
    );
    let sequences = evil
        .replace("\x1b]8;;", "")
        .replace("\x1b\\", "")
        .replace("\x1b[", "");
    assert!(!sequences.contains(['\x1b', '\x07', '\u{9b}']), "{evil:?}");
    assert!(!evil.contains("\x1b[2J"), "{evil:?}");
}

proptest! {
    #[test]
    fn foreign_text_never_acts_on_a_terminal(
        deltas in prop::collection::vec("(?s)[\u{0}-\u{ff}\u{202a}-\u{2069}]{0,12}", 0..8)
    ) {
        let (mut output, seen) = screen(Paint::Colorless);
        for delta in &deltas {
            output.reply_delta(delta);
            output.reasoning_delta(delta);
            output.notice(delta);
            output.answer(delta);
        }
        output.end_reply();
        let acts = |c: &char| c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
        prop_assert_eq!(seen.text().chars().find(acts), None);
    }

    #[test]
    fn foreign_text_that_is_laid_out_never_acts_either_and_is_whole(
        deltas in prop::collection::vec("(?s)([a-z\u{0}-\u{ff}\u{202a}-\u{2069}]|&#27;|\\n|  ){0,12}", 0..8)
    ) {
        let (mut output, seen) = screen(Paint::Full);
        output.show_replies(Replies::Markdown(Theme::Dark));
        for delta in &deltas {
            output.reasoning_delta(delta);
            output.notice(delta);
            output.reply_delta(delta);
            output.notice(delta);
            output.reply_delta(delta);
        }
        output.end_reply();
        let plain = anstream::adapter::strip_str(&seen.text()).to_string();
        let acts = |c: &char| c.is_control() && !matches!(c, '\n' | '\t' | '\r')
            || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
        prop_assert_eq!(plain.chars().find(acts), None);
        let cursor_or_style = seen.text().replace("\x1b[?2026", "").replace("\x1b[", "");
        prop_assert!(!cursor_or_style.contains('\x1b'));
    }

    #[test]
    fn whatever_is_printed_in_whatever_order_a_reply_in_a_file_is_whole(
        deltas in prop::collection::vec("(?s).{1,12}", 1..8)
    ) {
        let (mut output, out, _) = output(Device::File, Device::Terminal, Policy::default());
        for delta in &deltas {
            output.progress("working");
            output.reply_delta(delta);
            output.warning("hm");
        }
        output.end_reply();
        let mut reply = deltas.concat();
        if !reply.ends_with('\n') {
            reply.push('\n');
        }
        prop_assert_eq!(out.text(), reply);
    }
}
