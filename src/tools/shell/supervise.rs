//! The supervisor between cogtrix and a command. Unit: one run, from the order to the last descendant's end.
//!
//! One thread starts the command and waits for every child. Another reads stdin, whose end is the order to stop. The
//! first thread decides, and watches what the command uses. The supervisor stays outside of the sandbox: it can send
//! signals to the command, which, where the kernel has that, cannot send any to it.
//!
//! Invariant: it ends only when it has no descendants any more, or when those left do not die of SIGKILL within
//! [`HARD_END`] (a process stuck in the kernel, another user's, one that forks faster than it is found).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use bytesize::ByteSize;
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getrlimit, setrlimit, setsid, wait,
};

use super::descendants::{self, Usage};
use super::order::{ENTER, Entry, Limits, Namespaces, Order, Report, SUPERVISE, heard, say};
use super::protected::Guard;

/// What the shell leaves behind when it ends may still be about to end, as the writer of a pipe is.
const SETTLE: Duration = Duration::from_millis(20);
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// Between one SIGKILL and the next.
const AGAIN: Duration = Duration::from_millis(20);
/// How long to go on with SIGKILL.
const HARD_END: Duration = Duration::from_secs(3);
/// Between one look at what the command uses and the next.
const WATCH: Duration = Duration::from_millis(200);

/// The file of this process, however it is called by now.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Returns how this program starts itself again. On Linux that is its open file: at its path a command may have put
/// another.
pub fn this_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok(THIS_PROGRAM.into());
    }
    std::env::current_exe()
}

/// The exit code when the command was not run.
pub(super) const REFUSED: u8 = 126;

/// What the threads tell the first one.
#[derive(Debug)]
enum Event {
    Refused(String),
    Started(Started),
    /// The command itself has ended.
    Ended(WaitStatus),
    /// No children are left.
    Alone,
    /// Stdin has ended.
    Released,
}

/// A command that runs, and how it is confined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Started {
    pub(super) pid: Pid,
    pub(super) namespaces: Namespaces,
    /// Why there are no namespaces, where some were ordered.
    pub(super) without_namespaces: Option<String>,
    /// A part of the sandbox that the kernel does not have.
    pub(super) missing: Option<String>,
}

/// Runs the part of this program that the arguments name, if it is a hidden one.
pub fn hidden_subcommand(
    mut arguments: impl Iterator<Item = OsString>,
    variables: impl FnOnce() -> BTreeMap<String, String>,
) -> Option<ExitCode> {
    let role = arguments.next()?;
    let run: fn(&Order) -> ExitCode = match role.to_str()? {
        SUPERVISE => supervise,
        ENTER => enter,
        _ => return None,
    };
    Some(match Order::parse(arguments, &variables()) {
        Ok(order) => run(&order),
        Err(why) => refuse(&why),
    })
}

#[cfg(target_os = "linux")]
use super::linux::{enter, second_stage};

#[cfg(not(target_os = "linux"))]
fn enter(_: &Order) -> ExitCode {
    ExitCode::from(REFUSED)
}

/// Runs the command of an order to its end and says what became of it.
fn supervise(order: &Order) -> ExitCode {
    // Away from the terminal, so that nothing can ask there, and to be found by cogtrix if this process is killed;
    // fails only for who leads a group already.
    setsid().ok();
    if let Err(error) = descendants::adopt() {
        return refuse(&format!("cannot supervise processes: {error}"));
    }
    let guard = Guard::new(order.clone());
    if let Err(error) = limit(order.limits) {
        return refuse(&format!("cannot set limits: {error}"));
    }
    let (events, inbox) = channel();
    let stdin = events.clone();
    let starting = order.clone();
    thread::spawn(move || begin(&starting, &events));
    thread::spawn(move || {
        until_released();
        stdin.send(Event::Released).ok();
    });
    decide(&inbox, order, &guard)
}

/// Limits that the kernel keeps, for this process and all it starts.
fn limit(limits: Limits) -> io::Result<()> {
    let none = Some(0);
    let mut wanted = vec![(Resource::Core, none)];
    if limits.file_size > 0 {
        wanted.push((Resource::Fsize, Some(limits.file_size)));
    }
    for (resource, most) in wanted {
        // Never more than it was.
        let held = getrlimit(resource).maximum;
        let most = held.into_iter().chain(most).min();
        let limit = Rlimit {
            current: most,
            maximum: most,
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

fn decide(inbox: &Receiver<Event>, order: &Order, guard: &Guard) -> ExitCode {
    let mut started = None;
    let mut status = None;
    let mut exceeded = None;
    let mut is_released = false;
    // What is starting when stdin ends is told of soon, and then there is something to end.
    while !(is_released && started.is_some()) {
        match inbox.recv_timeout(WATCH) {
            Ok(Event::Refused(why)) => return refuse(&why),
            Ok(Event::Started(begun)) => {
                if let Some(mounts) = descendants::own_mounts() {
                    tell(&Report::Began(begun.namespaces, mounts));
                }
                started = Some(begun);
            }
            Ok(Event::Ended(ended)) => {
                status = Some(ended);
                break;
            }
            Ok(Event::Released) => is_released = true,
            Ok(Event::Alone) => {}
            Err(RecvTimeoutError::Timeout) => {
                exceeded = order.limits.exceeded(descendants::usage());
                if exceeded.is_some() {
                    break;
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let Some(started) = started else {
        return refuse("the command was lost");
    };
    let ending = if exceeded.is_some() {
        Ending::AtOnce
    } else {
        Ending::Politely
    };
    let are_gone = end_all(&started, inbox, &mut status, ending);
    if let Some(why) = started.without_namespaces {
        tell(&Report::Lacks(format!(
            "no namespaces for this command: {why}"
        )));
    }
    if let Some(part) = started.missing {
        tell(&Report::Lacks(format!("no {part} for this command")));
    }
    if let Some(what) = &guard.lacks {
        tell(&Report::Lacks(what.clone()));
    }
    if are_gone {
        for file in guard.put_back(started.namespaces) {
            tell(&Report::PutBack(file));
        }
    } else {
        // What still runs could put a link where a file is to be written.
        tell(&Report::Remaining(descendants::running().len().max(1)));
    }
    report(status, exceeded)
}

/// Why a command was ended that waited for keys.
pub(super) const NEEDS_TERMINAL: &str = "it needs a terminal of its own";

impl Limits {
    /// Returns what was used too much of, or is not to be had.
    fn exceeded(self, usage: Usage) -> Option<String> {
        let is_over = |used: u64, limit: u64| limit > 0 && used > limit;
        if is_over(usage.memory, self.memory) {
            let limit = ByteSize(self.memory).display().iec();
            Some(format!("used more than {limit} of memory"))
        } else if is_over(usage.processes, self.processes) {
            Some(format!("had more than {} processes", self.processes))
        } else if usage.waits_for_terminal {
            Some(NEEDS_TERMINAL.to_owned())
        } else {
            None
        }
    }
}

/// Whether processes get the time to end by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Politely,
    AtOnce,
}

/// Ends what is left, politely first. Returns whether all are gone.
fn end_all(
    started: &Started,
    inbox: &Receiver<Event>,
    status: &mut Option<WaitStatus>,
    ending: Ending,
) -> bool {
    let group = started.pid;
    if status.is_some() {
        if is_alone(inbox, SETTLE, status) {
            return true;
        }
        let left = descendants::running().len();
        if left > 0 {
            tell(&Report::Left(left));
        }
    }
    if ending == Ending::Politely {
        match started.namespaces {
            // bubblewrap does not end before the command does, or it would take the command with it at once.
            Namespaces::Bubblewrap => descendants::signal_below(group, Signal::TERM),
            Namespaces::Own | Namespaces::Missing => descendants::signal(group, Signal::TERM),
        }
        // What is stopped does not hear the first signal.
        descendants::signal(group, Signal::CONT);
        if is_alone(inbox, GRACE, status) {
            return true;
        }
    }
    let begun = Instant::now();
    while begun.elapsed() < HARD_END {
        descendants::stop(group);
        descendants::signal(group, Signal::KILL);
        if is_alone(inbox, AGAIN, status) {
            return true;
        }
    }
    false
}

/// Returns whether the last child is gone within `patience`.
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

/// Starts the command, and waits for children until there are none.
fn begin(order: &Order, events: &Sender<Event>) {
    let started = match start(order) {
        Ok(started) => started,
        Err(why) => {
            events.send(Event::Refused(why)).ok();
            return;
        }
    };
    let pid = started.pid;
    events.send(Event::Started(started)).ok();
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

/// Starts the command; what cannot be confined is not started.
fn start(order: &Order) -> Result<Started, String> {
    if !order.is_confined {
        let (program, arguments) = order.command.split_first().ok_or("no command")?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(&order.environment)
            .stdin(Stdio::null());
        let child = spawn(command, io::stderr())
            .map_err(|error| format!("{}: {error}", program.display()))?;
        return Ok(Started {
            pid: Pid::from_child(&child),
            namespaces: Namespaces::Missing,
            without_namespaces: None,
            missing: None,
        });
    }
    start_confined(order, Path::new(THIS_PROGRAM))
}

/// Tries one way to namespaces after the other, from the ordered one on; `program` is this program.
#[cfg(target_os = "linux")]
pub(super) fn start_confined(order: &Order, program: &Path) -> Result<Started, String> {
    super::sandbox::available().map_err(|error| error.to_string())?;
    let mut why = None;
    let ways = Namespaces::ALL.into_iter();
    for namespaces in ways.skip_while(|way| *way != order.namespaces) {
        let order = Order {
            namespaces,
            ..order.clone()
        };
        let failed = |error: io::Error| format!("the sandbox could not be started: {error}");
        let Some(command) = second_stage(&order, program).map_err(failed)? else {
            continue;
        };
        let (pid, entry) = entered(command).map_err(failed)?;
        match entry {
            Some(Entry::Ready { missing }) => {
                return Ok(Started {
                    pid,
                    namespaces,
                    without_namespaces: why.filter(|_| namespaces == Namespaces::Missing),
                    missing,
                });
            }
            Some(Entry::Refused(why)) => return Err(why),
            Some(Entry::NoNamespaces(error)) => why = Some(error),
            None if namespaces == Namespaces::Bubblewrap => {
                why.get_or_insert_with(|| "bubblewrap failed".to_owned());
            }
            None => return Err("the sandbox ended before the command began".to_owned()),
        }
    }
    Err("the sandbox could not be entered".to_owned())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn start_confined(_: &Order, _: &Path) -> Result<Started, String> {
    Err("commands can only be sandboxed on Linux".to_owned())
}

/// Starts the second stage and waits until it is about to become the command, or has failed and is gone.
fn entered(command: Command) -> io::Result<(Pid, Option<Entry>)> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut child = spawn(command, OwnedFd::from(theirs))?;
    let mut said = String::new();
    // Not to the end: bubblewrap keeps its streams until the command is over.
    BufReader::new(ours).read_line(&mut said)?;
    let entry = heard(&said);
    if !matches!(entry, Some(Entry::Ready { .. })) {
        child.wait()?;
    }
    Ok((Pid::from_child(&child), entry))
}

/// In a process group of its own; what a command prints goes to our stderr.
fn spawn(mut command: Command, stdout: impl Into<Stdio>) -> io::Result<std::process::Child> {
    command.stdout(stdout).stderr(io::stderr()).process_group(0);
    command.spawn()
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

fn report(status: Option<WaitStatus>, exceeded: Option<String>) -> ExitCode {
    if let Some(why) = exceeded {
        tell(&Report::Exceeded(why));
        return ExitCode::from(REFUSED);
    }
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
    say(report, io::stdout().lock()).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_too_much_of_is_named() {
        let limits = Limits {
            memory: 4 << 30,
            processes: 10,
            file_size: 0,
        };
        for (processes, memory, expected) in [
            (10, 4 << 30, None),
            (1, (4 << 30) + 1, Some("used more than 4.0 GiB of memory")),
            (11, 0, Some("had more than 10 processes")),
        ] {
            let usage = Usage {
                processes,
                memory,
                ..Usage::default()
            };
            assert_eq!(limits.exceeded(usage).as_deref(), expected);
        }
        let usage = Usage {
            processes: u64::MAX,
            memory: u64::MAX,
            ..Usage::default()
        };
        assert_eq!(Limits::default().exceeded(usage), None);
    }

    #[test]
    fn a_command_that_did_not_enter_the_sandbox_has_not_begun() {
        let refusing = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            entered(command).unwrap().1
        };
        let why = "no such kernel".to_owned();
        assert_eq!(
            refusing(r#"echo '{"refused": "no such kernel"}'"#),
            Some(Entry::Refused(why))
        );
        assert_eq!(refusing("exit 0"), None);
    }
}
