//! What the built program costs as a person meets it: starting, one-shot turns, resuming long sessions, the
//! first prompt, a long chat. Drives the binary against a server in this process, loopback only, bounded, and
//! prints medians of interleaved runs with their ratio to `--version`, the least the binary can do.
//!
//! ```text
//! cargo bench --bench process                                    the binary that cargo builds for benches
//! cargo bench --bench process -- --binary PATH --runs 31 --turns 10000
//! ```
//! Peak memory needs GNU `time`, bytes and syncs need `strace`; where they are missing their columns stay
//! empty. Both are measured in runs of their own, which are not timed.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for developers"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/http.rs"]
mod http;

mod chat;
mod home;
mod run;
mod server;

use std::path::PathBuf;

use home::Home;
use run::{Footprint, Program};
use server::Server;

/// What the command line asks for.
struct Options {
    binary: PathBuf,
    runs: usize,
    /// Turns of the long chat; 0 leaves it out.
    turns: usize,
}

impl Options {
    fn parse() -> Self {
        let mut options = Self {
            binary: PathBuf::from(env!("CARGO_BIN_EXE_cogtrix")),
            runs: 21,
            turns: 2_000,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().expect("a value behind the option");
            match argument.as_str() {
                "--binary" => options.binary = PathBuf::from(value()).canonicalize().unwrap(),
                "--runs" => options.runs = value().parse().unwrap(),
                "--turns" => options.turns = value().parse().unwrap(),
                // Cargo says so to every bench.
                "--bench" => {}
                other => panic!("unknown option {other}"),
            }
        }
        options
    }
}

/// One line of the table.
struct Case {
    label: String,
    program: Program,
    /// The session that is put back before each run, by its number of messages.
    resumes: Option<usize>,
    times: Vec<f64>,
}

impl Case {
    fn new(label: impl Into<String>, program: Program) -> Self {
        Self {
            label: label.into(),
            program,
            resumes: None,
            times: Vec::new(),
        }
    }

    fn prepare(&self, home: &Home) {
        match self.resumes {
            Some(messages) => home.restore(messages),
            None => home.clear(),
        }
    }
}

const RESUMED: [usize; 4] = [100, 1_000, 10_000, 100_000];
const IMPORTED: usize = 100_000;

fn cases(options: &Options, home: &Home) -> Vec<Case> {
    let cogtrix = |arguments: &[&str]| home.program(&options.binary, arguments);
    let ask = |model: &str| cogtrix(&["-m", model, "-p", "And the report?"]);
    let mut cases = vec![
        // By its path, so that no search is timed.
        Case::new("`true`", Program::new("/bin/true".into())),
        Case::new("`--version`", cogtrix(&["--version"])),
        Case::new("`config check`", cogtrix(&["config", "check"])),
        Case::new("one-shot, offline", ask("offline")),
        Case::new("one-shot, openai", ask("by-openai")),
        Case::new("one-shot, ollama", ask("by-ollama")),
        Case::new("one-shot, anthropic", ask("by-anthropic")),
        Case::new("reply of 20,000 words, openai", ask("long-openai")),
        Case::new("reply of 20,000 words, ollama", ask("long-ollama")),
        Case::new("reply of 20,000 words, anthropic", ask("long-anthropic")),
    ];
    for messages in RESUMED {
        let session = Home::session_name(messages);
        let program = cogtrix(&["-m", "by-openai", "-s", &session, "-p", "And the report?"]);
        cases.push(Case {
            resumes: Some(messages),
            ..Case::new(format!("resume {messages} and one turn"), program)
        });
    }
    let talk = home.talk(IMPORTED);
    let program = cogtrix(&["memory", "import", &talk.to_string_lossy()]);
    cases.push(Case::new(format!("import {IMPORTED} messages"), program));
    cases
}

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("measures only under `cargo bench`");
        return;
    }
    let options = Options::parse();
    let server = Server::start();
    let mut home = Home::new(server.address(), &RESUMED);
    for messages in RESUMED {
        let session = Home::session_name(messages);
        let first = ["-m", "by-openai", "-s", &session, "-p", "Good morning."];
        let first = home.program(&options.binary, &first);
        home.prime(messages, &first);
    }
    let mut cases = cases(&options, &home);
    for _ in 0..options.runs {
        for case in &mut cases {
            case.prepare(&home);
            server.reset();
            let wall = run::timed(&case.program);
            case.times.push(wall - server.busy_ms());
        }
    }
    table(&cases, &home, &server);
    first_prompt(&options, &home);
    long_chat(&options, &home, &server);
}

fn table(cases: &[Case], home: &Home, server: &Server) {
    let least = median(&cases[1].times);
    println!(
        "| run | ms beside the server | best | x `--version` | peak MB | KB written | syncs | requests |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for case in cases {
        case.prepare(home);
        server.reset();
        let peak = run::peak_mb(&case.program);
        let requests = server.chats();
        case.prepare(home);
        let written = run::footprint(&case.program, home.data());
        let time = median(&case.times);
        println!(
            "| {} | {time:.1} | {:.1} | {:.1} | {} | {} | {} | {requests} |",
            case.label,
            percentile(&case.times, 0),
            time / least,
            shown(peak),
            shown(written.as_ref().map(Footprint::kilobytes)),
            shown(written.map(|written| written.syncs)),
        );
    }
    assert_eq!(server.refused(), 0, "a request did not fit the window");
}

fn first_prompt(options: &Options, home: &Home) {
    let chat = |messages: usize| {
        home.restore(messages);
        let session = Home::session_name(messages);
        home.program(&options.binary, &["-m", "by-openai", "-s", &session])
    };
    println!("\n| at the prompt | ms to the first prompt | resident MB |");
    println!("|---|--:|--:|");
    for messages in [100, 10_000, 100_000] {
        let starts: Vec<chat::Start> = (0..options.runs.min(11))
            .map(|_| chat::start(&chat(messages)))
            .collect();
        let times: Vec<f64> = starts.iter().map(|start| start.ms).collect();
        let resident: Vec<f64> = starts.iter().map(|start| start.resident_mb).collect();
        println!(
            "| {messages} messages | {:.1} | {:.1} |",
            median(&times),
            median(&resident)
        );
    }
}

fn long_chat(options: &Options, home: &Home, server: &Server) {
    if options.turns == 0 {
        return;
    }
    home.clear();
    let program = home.program(
        &options.binary,
        &["-m", "by-openai", "-s", "long", "--lines", "--quiet"],
    );
    let turns = chat::long(&program, options.turns, server);
    let part = (turns.len() / 10).max(1);
    let resident = |at: usize| turns[at].resident_mb;
    println!("\n| turns of one chat | ms a turn beside the server, p50 | p99 | resident MB |");
    println!("|---|--:|--:|--:|");
    for (from, to) in [
        (0, part),
        (turns.len() / 2, turns.len() / 2 + part),
        (turns.len() - part, turns.len()),
    ] {
        let times: Vec<f64> = turns[from..to].iter().map(|turn| turn.ms).collect();
        println!(
            "| {from} to {to} | {:.2} | {:.2} | {:.1} |",
            median(&times),
            percentile(&times, 99),
            resident(to - 1)
        );
    }
}

fn shown<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"))
}

fn median(values: &[f64]) -> f64 {
    percentile(values, 50)
}

fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut values = values.to_owned();
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * percent / 100]
}
