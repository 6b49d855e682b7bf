//! A server that is a program: started with the environment of its setup and nothing else, in a process group of its
//! own, and ended with all that it started. Unit: one run. Invariant: when a [`Program`] is gone, so is its group.

use std::io::ErrorKind;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use secrecy::ExposeSecret;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::guarded::{Guarded, Verdict};
use super::journal::Journal;
use super::setup::Target;

/// For a server to end by itself once nobody talks to it any more.
const GRACE: Duration = Duration::from_secs(1);
/// And once it was told to.
const LAST_GRACE: Duration = Duration::from_millis(500);
/// A process that closed its output is about to end.
const ENDING: Duration = Duration::from_secs(1);

/// A program under way.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
    /// Gone once it was killed.
    group: Option<Pid>,
    errors: JoinHandle<()>,
    verdict: Verdict,
    journal: Journal,
}

/// Its two ends, for the transport.
pub(super) type Pipes = (Guarded<ChildStdout>, ChildStdin);

/// Starts the program of a target; of another target there is none.
pub(super) fn spawn(
    target: &Target,
    journal: &Journal,
) -> Result<Option<(Program, Pipes)>, String> {
    let Target::Program {
        command,
        args,
        variables,
        folder,
    } = target
    else {
        return Ok(None);
    };
    let mut starting = Command::new(command);
    starting
        .args(args)
        .env_clear()
        .envs(
            variables
                .iter()
                .map(|(name, value)| (name, value.expose_secret())),
        )
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let failed =
        |error: &dyn std::fmt::Display| format!("cannot start {}: {error}", command.display());
    let mut child = starting.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound if !folder.is_dir() => {
            failed(&format_args!("no folder {}", folder.display()))
        }
        ErrorKind::NotFound => failed(&"not found"),
        _ => failed(&error),
    })?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(failed(&"it has no pipes"));
    };
    let verdict = Verdict::default();
    let program = Program {
        group: child.id().and_then(|id| Pid::from_raw(id.cast_signed())),
        child,
        errors: tokio::spawn(journal.clone().collect(stderr)),
        verdict: verdict.clone(),
        journal: journal.clone(),
    };
    Ok(Some((
        program,
        (Guarded::new(stdout, verdict, journal.clone()), stdin),
    )))
}

impl Program {
    /// Returns why it cannot be talked to any more, once its output has ended.
    pub(super) async fn last_words(&mut self) -> String {
        if let Some(why) = self.verdict.get() {
            return why;
        }
        let Ok(Ok(status)) = timeout(ENDING, self.child.wait()).await else {
            return "it closed its standard output".to_owned();
        };
        // Whatever it said is in the pipe already, unless somebody else holds that.
        let heard = timeout(ENDING, &mut self.errors).await;
        match self.journal.last().filter(|_| heard.is_ok()) {
            // Who is killed has not said why.
            Some(line) if status.code().is_some() => {
                format!("it ended with {}: {line}", how(status))
            }
            Some(line) => format!("it ended with {}; its last output: {line}", how(status)),
            None => format!("it ended with {}", how(status)),
        }
    }

    /// Ends it; its standard input is closed already.
    pub(super) async fn end(mut self) {
        if timeout(GRACE, self.child.wait()).await.is_err() {
            self.signal(Signal::TERM);
        }
        if timeout(LAST_GRACE, self.child.wait()).await.is_err() {
            self.signal(Signal::KILL);
        }
        // What is left of its group goes when this value does.
        if timeout(LAST_GRACE, self.child.wait()).await.is_err() {
            tracing::warn!("a server does not end");
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group
            && let Err(error) = kill_process_group(group, signal)
        {
            // Nobody is left in it.
            tracing::debug!(%error, "signal to a server's group");
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        self.group = None;
        self.errors.abort();
    }
}

fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}
