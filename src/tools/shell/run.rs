//! One command under way, from cogtrix' side. Unit: one run.
//!
//! Invariant: when [`run`] returns, the supervising process has ended, and it ends only when nothing that the command
//! started is left. When the future is dropped, or cogtrix is killed, the pipe to the supervising process closes, and
//! it ends everything then. When the supervising process itself is killed, what it would have done is done here, as far
//! as the namespace that it told of leads.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::descendants;
use super::order::{Report, heard};
use super::output::{Collected, Shown};
use super::protected::{Guard, PutBack};

/// Longer than the supervising process needs for the most stubborn command.
const PATIENCE: Duration = Duration::from_secs(8);
/// What is in the pipe is read at once; only who got away from the supervising process could keep it open longer.
const REST: Duration = Duration::from_secs(1);
const LAST_ROUNDS: usize = 100;
const AGAIN: Duration = Duration::from_millis(10);

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    Cancelled,
    /// It used more than it may.
    Exceeded(String),
    /// It never began.
    Refused(String),
    /// The supervising process was killed, and the command with it as far as it could be found.
    Lost,
}

/// What became of a command.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) end: End,
    pub(super) took: Duration,
    pub(super) output: Collected,
    /// Processes that were still there when the shell had ended.
    pub(super) left: usize,
    /// Processes that could not be ended.
    pub(super) remaining: usize,
    /// Parts of the sandbox that this command did not have.
    pub(super) lacks: Vec<String>,
    pub(super) put_back: Vec<PutBack>,
}

/// What ends a run early.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<'a> {
    pub(super) time: Duration,
    pub(super) cancel: &'a CancellationToken,
}

/// Runs the supervising process, `command`, until nothing is left of what it started. What it would put back, `guard`
/// does if it cannot.
pub(super) async fn run(
    mut command: Command,
    guard: &Guard,
    bounds: Bounds<'_>,
    progress: &Sender<String>,
) -> io::Result<Ran> {
    let begun = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let session = child.id().map(u32::cast_signed);
    let release = child.stdin.take();
    let mut reading = Reading {
        pipe: child.stderr.take(),
        collected: Collected::default(),
        shown: Shown::default(),
        progress,
    };
    let early = tokio::select! {
        () = over(&mut reading, &mut child) => None,
        () = bounds.cancel.cancelled() => Some(End::Cancelled),
        () = sleep(bounds.time) => Some(End::TimedOut),
    };
    let took = begun.elapsed();
    drop(release);
    let is_over = timeout(PATIENCE, over(&mut reading, &mut child))
        .await
        .is_ok();
    if !is_over {
        child.kill().await?;
    }
    let reports = reports(&mut child).await;
    let ended = ended(&reports);
    let (mut left, mut remaining) = (0, 0);
    let (mut lacks, mut put_back) = (Vec::new(), Vec::new());
    let mut entered = None;
    for report in reports {
        match report {
            Report::Began(namespaces, mounts) => entered = Some((namespaces, mounts)),
            Report::Left(n) => left = n,
            Report::Remaining(n) => remaining = n,
            Report::Lacks(part) => lacks.push(part),
            Report::PutBack(file) => put_back.push(file),
            Report::Refused(_) | Report::Exited(_) | Report::Signalled(_) | Report::Exceeded(_) => {
            }
        }
    }
    if let (None, Some(session)) = (&ended, session) {
        kill_all(|| descendants::of_session(session)).await;
        if let Some((namespaces, mounts)) = entered {
            remaining = kill_all(|| descendants::of_mounts(&mounts)).await;
            if remaining == 0 {
                put_back = guard.put_back(namespaces);
            }
        }
    }
    Ok(Ran {
        end: early.or(ended).unwrap_or(End::Lost),
        took,
        output: reading.collected,
        left,
        remaining,
        lacks,
        put_back,
    })
}

/// Until the supervising process has ended and all output is read. May be called again after it was dropped.
async fn over(reading: &mut Reading<'_>, child: &mut Child) {
    tokio::select! {
        () = reading.drain() => {
            // Closed pipes come before the end itself; an error here means that it was waited for already.
            child.wait().await.ok();
        }
        _ = child.wait() => {}
    }
    timeout(REST, reading.drain()).await.ok();
}

/// The pipe with what the command prints.
struct Reading<'a> {
    pipe: Option<ChildStderr>,
    collected: Collected,
    shown: Shown,
    progress: &'a Sender<String>,
}

impl Reading<'_> {
    /// Reads to the end of the pipe.
    async fn drain(&mut self) {
        let mut buffer = vec![0; 64 * 1024];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut buffer).await {
                Ok(0) | Err(_) => self.pipe = None,
                Ok(length) => self.take(&buffer[..length]),
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.collected.push(bytes);
        if let Some(text) = self.shown.push(bytes) {
            // Nobody need be listening, and what was collected is whole.
            self.progress.try_send(text).ok();
        }
    }
}

/// All lines of the supervising process, which has ended.
async fn reports(child: &mut Child) -> Vec<Report> {
    let mut text = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        // Whatever was read before an error counts.
        timeout(REST, stdout.read_to_string(&mut text)).await.ok();
    }
    text.lines().filter_map(heard).collect()
}

fn ended(reports: &[Report]) -> Option<End> {
    reports.iter().find_map(|report| match report {
        Report::Exited(code) => Some(End::Exited(*code)),
        Report::Signalled(signal) => Some(End::Signalled(*signal)),
        Report::Refused(why) => Some(End::Refused(why.clone())),
        Report::Exceeded(why) => Some(End::Exceeded(why.clone())),
        Report::Began(..)
        | Report::Left(_)
        | Report::Lacks(_)
        | Report::Remaining(_)
        | Report::PutBack(_) => None,
    })
}

/// Kills what is found until nothing is, and returns how many are left: the supervising process is gone and did not do
/// its work.
async fn kill_all(find: impl Fn() -> Vec<Pid>) -> usize {
    for _ in 0..LAST_ROUNDS {
        let left = find();
        if left.is_empty() {
            return 0;
        }
        // None starts another while it is killed.
        for signal in [Signal::STOP, Signal::KILL] {
            for process in &left {
                kill_process(*process, signal).ok();
            }
        }
        sleep(AGAIN).await;
    }
    find().len()
}
