//! The stage that enters the sandbox and becomes the command. Unit: this process, which has one thread.
//!
//! ```text
//!   namespaces   own mounts and network      privileges   capabilities, no_new_privs
//!   mounts       what is mounted where       syscalls     refused system calls (seccomp)
//! ```
//!
//! Invariant: the command is not started unless all that was ordered holds, but for the parts that are named as
//! missing.

mod mounts;
mod namespaces;
mod privileges;
mod syscalls;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use rustix::process::{Resource, Rlimit, setrlimit};

use super::order::{ENTER, Entry, Keys, Namespaces, Network, Order, say};
use super::sandbox;
use super::supervise::REFUSED;

/// Threads count as processes for the kernel, and not for the supervisor.
const THREADS: u64 = 8;

const BUBBLEWRAP: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// Which part could not be had.
const SECCOMP: &str = "seccomp";

/// Enters the sandbox and becomes the command; what is said of it goes to stdout, which the command does not get.
pub(super) fn enter(order: &Order) -> ExitCode {
    let Ok(channel) = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3) else {
        return ExitCode::from(REFUSED);
    };
    let entry = confine(order);
    let is_ready = matches!(entry, Entry::Ready { .. });
    let said = say(&entry, File::from(channel));
    if let Some((program, arguments)) = order.command.split_first()
        && is_ready
        && said.is_ok()
    {
        let error = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(&order.environment)
            .stdin(Stdio::null())
            .stdout(io::stderr())
            .exec();
        writeln!(io::stderr(), "cogtrix: {}: {error}", program.display()).ok();
    }
    ExitCode::from(REFUSED)
}

fn confine(order: &Order) -> Entry {
    if order.namespaces == Namespaces::Own
        && let Err(error) = own_namespaces(order)
    {
        return Entry::NoNamespaces(error.to_string());
    }
    // When memory runs out, commands go first.
    File::options()
        .write(true)
        .open("/proc/self/oom_score_adj")
        .and_then(|mut file| file.write_all(b"500"))
        .ok();
    let has_namespaces = order.namespaces != Namespaces::Missing;
    if let Err(error) = sandbox::restrict(order, has_namespaces) {
        return Entry::Refused(error.to_string());
    }
    if let Err(error) = privileges::drop_all() {
        return Entry::Refused(format!("capabilities cannot be dropped: {error}"));
    }
    let sockets = match (order.network, order.namespaces) {
        (Network::Isolated, Namespaces::Missing) => syscalls::Internet::Refused,
        _ => syscalls::Internet::Allowed,
    };
    let missing = match syscalls::refuse(sockets) {
        Ok(()) => None,
        Err(_) => Some(SECCOMP.to_owned()),
    };
    Entry::Ready { missing }
}

fn own_namespaces(order: &Order) -> io::Result<()> {
    // Read before the network is another one: it knows the sockets of this machine.
    let mounts = mounts::plan(order);
    let folder = std::env::current_dir()?;
    let of_user = namespaces::enter(order.network)?;
    if of_user && order.limits.processes > 0 {
        let limit = Some(order.limits.processes.saturating_mul(THREADS));
        let limit = Rlimit {
            current: limit,
            maximum: limit,
        };
        setrlimit(Resource::Nproc, limit)?;
    }
    mounts::apply(&mounts)?;
    // The old one is the folder below the mounts.
    std::env::set_current_dir(folder)
}

/// Returns the command that starts the second stage of an order; `None` where there is no such way.
pub(super) fn second_stage(order: &Order, program: &Path) -> io::Result<Option<Command>> {
    let arguments = order.arguments(ENTER);
    if order.namespaces != Namespaces::Bubblewrap {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        return Ok(Some(command));
    }
    let Some(mut command) = bubblewrap() else {
        return Ok(None);
    };
    command
        .args(
            mounts::plan(order)
                .iter()
                .flat_map(mounts::Mount::arguments),
        )
        .args((order.network == Network::Isolated).then_some("--unshare-net"))
        .arg("--chdir")
        .arg(std::env::current_dir()?)
        // To bubblewrap this program is known by an open file: at its path there may be another by now.
        .args(["--", "/proc/self/fd/0"])
        .args(arguments)
        .stdin(File::open(program)?);
    Ok(Some(command))
}

/// bubblewrap, if there is one that may make namespaces: some systems allow them to few programs.
fn bubblewrap() -> Option<Command> {
    let program = BUBBLEWRAP.iter().find(|path| Path::new(path).exists())?;
    let usual = || {
        let mut command = Command::new(program);
        command.args(["--dev-bind", "/", "/", "--dev", "/dev"]);
        command.args(["--unshare-ipc", "--die-with-parent"]);
        command
    };
    // What it complains of is not the command's.
    let tried = usual()
        .args(["--unshare-net", "--", "/bin/sh", "-c", ":"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success()).then(usual)
}

/// Paths that are closed to an order although they are no files of keys: sockets of agents.
fn agent(order: &Order) -> Option<&PathBuf> {
    order.agent.as_ref().filter(|_| order.keys == Keys::Hidden)
}

/// A path as an argument of a program.
fn argument(path: &Path) -> OsString {
    path.as_os_str().to_owned()
}
