//! What a frame costs while a reply is laid out: every piece of a long reply is drawn at once, the worst that a
//! terminal can ask for. Prints the median, the 99th percentile and the longest frame in milliseconds and how many
//! took longer than 2 ms, the limit within a reply of 10,000 lines; then the time for one line of 5 MB.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for developers"
)]

use std::io::sink;
use std::time::{Duration, Instant};

use cogtrix::term::{Device, Output, Policy, Replies, Streams, Theme};

/// Bytes that arrive at once, about one token.
const PIECE: usize = 5;
const LINES: usize = 10_000;
const LIMIT: Duration = Duration::from_millis(2);

const PROSE: &str = "## A heading with `code`\n\nWords of a paragraph that is **long enough** to be wrapped at \
    the edge of the screen, with a [link](https://example.com/page) and 日本語 in it, so that it takes some lines.\n\n\
    - a list\n  - that is nested, with a line that hangs below its mark because it is too long for one\n- and goes on\n\n\
    | name | what it does | since |\n|---|---|--:|\n| alpha | finds the first | 2019 |\n| beta | the second | 2024 |\n\n";
const CODE: &str = "```rust\nfn main() {\n    let words: Vec<&str> = \"a b c\".split(' ').collect();\n    \
    println!(\"{}\", words.len()); // counts\n}\n```\n\n";

fn main() {
    let lines = |text: &str| text.lines().count();
    let mixed = format!("{PROSE}{CODE}");
    let mixed = mixed.repeat(LINES / lines(&mixed));
    let fence = format!(
        "```rust\n{}```\n",
        "let x = vec![1, 2, 3]; // a comment\n".repeat(LINES)
    );
    let list = "1. an item of a long list, with *words* in it\n".repeat(LINES);
    let paragraph = "word ".repeat(20_000);
    println!(
        "{:<14}{:>9}{:>9}{:>9}{:>9}{:>12}",
        "reply", "frames", "median", "p99", "longest", "over 2 ms"
    );
    for (name, text) in [
        ("mixed", &mixed),
        ("one fence", &fence),
        ("one list", &list),
        ("one paragraph", &paragraph),
    ] {
        report(name, &mut frames(text));
    }
    let begun = Instant::now();
    let mut output = terminal();
    let line = "x".repeat(5 * 1024 * 1024);
    for piece in line.as_bytes().chunks(4_096) {
        output.reply_delta(str::from_utf8(piece).unwrap());
    }
    output.end_reply();
    println!(
        "a line of 5 MB: {:.0} ms",
        begun.elapsed().as_secs_f64() * 1_000.0
    );
}

fn terminal() -> Output {
    let streams = Streams {
        stdout: Box::new(sink()),
        stderr: Box::new(sink()),
        stdout_device: Device::Terminal,
        stderr_device: Device::Terminal,
        columns: Some(80),
    };
    let mut output = Output::new(streams, Policy::default());
    output.show_replies(Replies::Markdown(Theme::Dark));
    output
}

/// Draws after each piece; gives what each frame took, layout and drawing together.
fn frames(text: &str) -> Vec<Duration> {
    let mut output = terminal();
    let mut frames = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, left) = rest.split_at(rest.ceil_char_boundary(PIECE));
        rest = left;
        let begun = Instant::now();
        output.reply_delta(piece);
        output.draw();
        frames.push(begun.elapsed());
    }
    output.end_reply();
    frames
}

fn report(name: &str, frames: &mut [Duration]) {
    frames.sort_unstable();
    let at = |share: usize| frames[(frames.len() - 1) * share / 100].as_secs_f64() * 1_000.0;
    let over = frames.iter().filter(|frame| **frame > LIMIT).count();
    println!(
        "{name:<14}{:>9}{:>9.3}{:>9.3}{:>9.3}{over:>12}",
        frames.len(),
        at(50),
        at(99),
        at(100)
    );
}
