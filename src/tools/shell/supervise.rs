//! The hidden process between cogtrix and a command. Unit: one run, from the order to the last descendant's end.
//!
//! One thread is confined, starts the command and waits for every child; the command inherits its confinement. Another reads
//! stdin, whose end is the order to stop. The first thread decides. It is not confined itself, so that it can send
//! signals to the command, which, where the kernel has that, cannot send any to it.
//!
//! Invariant: it ends only when it has no descendants any more, or when those left do not die of SIGKILL within
//! [`HARD_END`] (a process stuck in the kernel, another user's, one that forks faster than it is found).

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, setsid, wait};

use super::descendants;
use super::grants::Grants;
use super::order::{Order, Report};
use super::sandbox::{self, Confinement, Unavailable};

/// What the shell leaves behind when it ends may still be about to end, as the writer of a pipe is.
const SETTLE: Duration = Duration::from_millis(20);
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// Between one SIGKILL and the next.
const AGAIN: Duration = Duration::from_millis(20);
/// How long to go on with SIGKILL.
const HARD_END: Duration = Duration::from_secs(3);

/// The exit code when the command was not run.
const REFUSED: u8 = 126;

/// What the threads tell the first one.
#[derive(Debug)]
enum Event {
    Refused(String),
    Started(Pid),
    /// The command itself has ended.
    Ended(WaitStatus),
    /// No children are left.
    Alone,
    /// Stdin has ended.
    Released,
}

/// Runs the command of an order to its end and says what became of it.
pub fn supervise(order: Order) -> ExitCode {
    // Away from the terminal, so that nothing can ask there, and to be found by cogtrix if this process is killed; fails only
    // for who leads a group already.
    setsid().ok();
    if let Err(error) = descendants::adopt() {
        return refuse(&format!("cannot look after processes: {error}"));
    }
    let (events, inbox) = channel();
    let stdin = events.clone();
    thread::spawn(move || begin(&order, &events));
    thread::spawn(move || {
        until_released();
        stdin.send(Event::Released).ok();
    });
    decide(&inbox)
}

fn decide(inbox: &Receiver<Event>) -> ExitCode {
    let mut group = None;
    let mut status = None;
    let mut is_released = false;
    // What is starting when stdin ends is told of soon, and then there is something to end.
    while !(is_released && group.is_some()) {
        let Ok(event) = inbox.recv() else {
            break;
        };
        match event {
            Event::Refused(why) => return refuse(&why),
            Event::Started(pid) => group = Some(pid),
            Event::Ended(ended) => {
                status = Some(ended);
                break;
            }
            Event::Released => is_released = true,
            Event::Alone => {}
        }
    }
    let Some(group) = group else {
        return refuse("the command was lost");
    };
    end_all(group, inbox, &mut status);
    report(status)
}

/// Ends what is left, politely first.
fn end_all(group: Pid, inbox: &Receiver<Event>, status: &mut Option<WaitStatus>) {
    if status.is_some() {
        if is_alone(inbox, SETTLE, status) {
            return;
        }
        let left = descendants::running().len();
        if left > 0 {
            tell(&Report::Left(left));
        }
    }
    descendants::signal(group, Signal::TERM);
    // What is stopped does not hear the first signal.
    descendants::signal(group, Signal::CONT);
    if is_alone(inbox, GRACE, status) {
        return;
    }
    let begun = Instant::now();
    while begun.elapsed() < HARD_END {
        descendants::signal(group, Signal::KILL);
        if is_alone(inbox, AGAIN, status) {
            return;
        }
    }
}

/// Whether the last child is gone within `patience`.
fn is_alone(inbox: &Receiver<Event>, patience: Duration, status: &mut Option<WaitStatus>) -> bool {
    let begun = Instant::now();
    loop {
        let left = patience.saturating_sub(begun.elapsed());
        match inbox.recv_timeout(left) {
            Ok(Event::Alone) => return true,
            Ok(Event::Ended(ended)) => *status = Some(ended),
            Ok(Event::Refused(_) | Event::Started(_) | Event::Released) => {}
            Err(_) => return false,
        }
    }
}

/// Confines this thread, starts the command, and waits for children until there are none.
fn begin(order: &Order, events: &Sender<Event>) {
    let pid = match start(order, sandbox::restrict) {
        Ok(pid) => pid,
        Err(why) => {
            events.send(Event::Refused(why)).ok();
            return;
        }
    };
    events.send(Event::Started(pid)).ok();
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == pid => {
                events.send(Event::Ended(status)).ok();
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => break,
        }
    }
    events.send(Event::Alone).ok();
}

/// Starts the command, confined by `restrict` where that is ordered; what cannot be confined is not started.
fn start(
    order: &Order,
    restrict: impl FnOnce(&Grants) -> Result<(), Unavailable>,
) -> Result<Pid, String> {
    let (program, arguments) = order.command.split_first().ok_or("no command")?;
    let stderr = io::stderr();
    let output = || stderr.as_fd().try_clone_to_owned().map(Stdio::from);
    let no_output = |error: io::Error| format!("no output: {error}");
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(output().map_err(no_output)?)
        .stderr(output().map_err(no_output)?)
        .process_group(0);
    match order.confinement {
        Confinement::Landlock => {
            let grants = Grants::new(&order.writable, &order.kept);
            restrict(&grants).map_err(|error| error.to_string())?;
        }
        Confinement::Off => {}
    }
    let shown = program.to_string_lossy();
    let child = command
        .spawn()
        .map_err(|error| format!("{shown}: {error}"))?;
    Ok(Pid::from_child(&child))
}

/// Nothing is ever written to stdin; it ends with cogtrix, at the latest.
fn until_released() {
    let mut byte = [0];
    while let Ok(1) = io::stdin().read(&mut byte) {}
}

fn refuse(why: &str) -> ExitCode {
    tell(&Report::Refused(why.to_owned()));
    // For a person who runs this by hand; cogtrix reads the report.
    writeln!(io::stderr(), "cogtrix: {why}").ok();
    ExitCode::from(REFUSED)
}

fn report(status: Option<WaitStatus>) -> ExitCode {
    let Some(status) = status else {
        return ExitCode::from(REFUSED);
    };
    if let Some(signal) = status.terminating_signal() {
        tell(&Report::Signalled(signal));
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    let code = status.exit_status().unwrap_or_default();
    tell(&Report::Exited(code));
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Nobody may be listening any more; the processes are ended all the same.
fn tell(report: &Report) {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{report}")
        .and_then(|()| stdout.flush())
        .ok();
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rustix::process::waitpid;

    use super::*;

    /// An order to leave a file behind.
    fn order(file: &Path) -> Order {
        Order {
            confinement: Confinement::Landlock,
            writable: Vec::new(),
            kept: Vec::new(),
            command: vec!["touch".into(), file.into()],
        }
    }

    #[test]
    fn a_command_that_cannot_be_confined_is_not_started() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("a");
        let refused = start(&order(&file), |_| {
            let why = "no such kernel".to_owned();
            Err(Unavailable { why })
        });
        let why = "commands cannot be confined: no such kernel";
        assert_eq!(refused, Err(why.to_owned()));
        assert!(!file.exists());
        let started = start(&order(&file), |_| Ok(())).unwrap();
        waitpid(Some(started), WaitOptions::empty()).unwrap();
        assert!(file.exists(), "the order itself is good");
    }
}
