//! Chats: the time to the first prompt of a terminal, and what a turn costs early and late in a long chat.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::time::Instant;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::run::Program;
use super::server::Server;

const PROMPT: &[u8] = b"conversation> ";
const LEAVE: &[u8] = b"/quit\r";

/// A chat that has shown its first prompt.
pub(crate) struct Start {
    pub(crate) ms: f64,
    pub(crate) resident_mb: f64,
}

/// Starts at a terminal, waits for the prompt, leaves.
pub(crate) fn start(program: &Program) -> Start {
    let pty = native_pty_system().openpty(PtySize::default()).unwrap();
    let mut command = CommandBuilder::new(&program.binary);
    command.args(&program.arguments);
    command.env_clear();
    command.env("TERM", "xterm-256color");
    if let Some(home) = &program.home {
        command.env("HOME", home);
        command.cwd(home);
    }
    let mut reader = pty.master.try_clone_reader().unwrap();
    let mut writer = pty.master.take_writer().unwrap();
    let begin = Instant::now();
    let mut child = pty.slave.spawn_command(command).unwrap();
    drop(pty.slave);
    let mut shown = Vec::new();
    let mut piece = [0; 4_096];
    while !shown.windows(PROMPT.len()).any(|part| part == PROMPT) {
        let n = reader.read(&mut piece).unwrap();
        shown.extend_from_slice(&piece[..n]);
    }
    let ms = begin.elapsed().as_secs_f64() * 1_000.0;
    let resident_mb = resident_mb(child.process_id().unwrap());
    writer.write_all(LEAVE).unwrap();
    // Reading on, as a terminal does: what is not read could keep the program from ending.
    while matches!(reader.read(&mut piece), Ok(n) if n > 0) {}
    child.wait().unwrap();
    Start { ms, resident_mb }
}

/// One turn of a long chat.
pub(crate) struct Turn {
    /// From the end of the reply before to the arrival of this request: what the program did meanwhile.
    pub(crate) ms: f64,
    pub(crate) resident_mb: f64,
}

/// Says one line after another, each when the reply before is complete.
pub(crate) fn long(program: &Program, turns: usize, server: &Server) -> Vec<Turn> {
    server.reset();
    let mut command = program.command();
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut resident = Vec::with_capacity(turns);
    let mut reply = String::new();
    // One line ahead, so that the program never waits for this one.
    writeln!(input, "{}", question(0)).unwrap();
    for n in 0..turns {
        if n + 1 < turns {
            writeln!(input, "{}", question(n + 1)).unwrap();
        }
        reply.clear();
        while reply.trim().is_empty() {
            assert!(output.read_line(&mut reply).unwrap() > 0, "turn {n}");
        }
        resident.push(resident_mb(child.id()));
    }
    drop(input);
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}");
    let exchanges = server.exchanges();
    assert_eq!(exchanges.len(), turns, "one request a turn");
    exchanges
        .windows(2)
        .zip(&resident[1..])
        .map(|(pair, &resident_mb)| Turn {
            ms: (pair[1].arrived - pair[0].answered).as_secs_f64() * 1_000.0,
            resident_mb,
        })
        .collect()
}

fn question(n: usize) -> String {
    format!(
        "{n}. The report of last month is slow again, and the plan shows a sort that spills to disk. What should \
         we look at first, and which setting would you change for this one session only?"
    )
}

fn resident_mb(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    kilobytes
        .and_then(|number| number.parse::<f64>().ok())
        .unwrap_or(f64::NAN)
        / 1_024.0
}
