//! Processes that a command has started, however they came to be there. Unit: a look at the system.
//!
//! A process that was left by its parent becomes a child of this one ([`adopt`]), so that neither `setsid` nor a double
//! fork leads out. Elsewhere than on Linux only the command's own group is known.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Makes this process the parent of every descendant that loses its own.
#[cfg(target_os = "linux")]
pub(super) fn adopt() -> io::Result<()> {
    let this = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(this)).map_err(Into::into)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn adopt() -> io::Result<()> {
    Ok(())
}

/// Sends a signal to a group and to every descendant outside of it.
pub(super) fn signal(group: Pid, signal: Signal) {
    // Who is gone meanwhile needs no signal, and who may not be sent one (another user's) gets none.
    kill_process_group(group, signal).ok();
    for process in running() {
        kill_process(process, signal).ok();
    }
}

/// Processes of a session that have not ended.
pub(super) fn of_session(session: i32) -> Vec<Pid> {
    processes()
        .filter(|stat| stat.session == session && stat.is_running)
        .filter_map(|stat| Pid::from_raw(stat.pid))
        .collect()
}

/// Descendants of this process that have not ended.
pub(super) fn running() -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<(i32, bool)>> = BTreeMap::new();
    for stat in processes() {
        let siblings = children.entry(stat.parent).or_default();
        siblings.push((stat.pid, stat.is_running));
    }
    let mut found = Vec::new();
    let mut next = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(parent) = next.pop() {
        // Taken out, so that pids that were used again while this was read make no circle.
        for (pid, is_running) in children.remove(&parent).unwrap_or_default() {
            next.push(pid);
            found.extend(Pid::from_raw(pid).filter(|_| is_running));
        }
    }
    found
}

fn processes() -> impl Iterator<Item = Stat> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let line = fs::read_to_string(entry.path().join("stat")).ok()?;
        Stat::parse(&line)
    })
}

/// What a line of `/proc/PID/stat` says.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    pid: i32,
    parent: i32,
    session: i32,
    is_running: bool,
}

impl Stat {
    /// The name stands in brackets and may hold anything, brackets too.
    fn parse(line: &str) -> Option<Self> {
        let (pid, rest) = line.split_once(' ')?;
        let mut words = rest[rest.rfind(')')? + 1..].split_ascii_whitespace();
        let state = words.next()?;
        Some(Self {
            pid: pid.parse().ok()?,
            is_running: !matches!(state, "Z" | "X"),
            parent: words.next()?.parse().ok()?,
            session: words.nth(1)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name() {
        for (line, expected) in [
            ("12 (sh) S 7 12 6 0", Some((12, 7, 6, true))),
            ("12 (a) b) (c) Z 7 12 6 0", Some((12, 7, 6, false))),
            ("12", None),
            ("12 (sh", None),
        ] {
            let read = Stat::parse(line)
                .map(|stat| (stat.pid, stat.parent, stat.session, stat.is_running));
            assert_eq!(read, expected, "{line}");
        }
    }
}
