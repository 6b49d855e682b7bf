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

/// Sends a signal to every descendant but the one that leads a group.
pub(super) fn signal_below(leader: Pid, signal: Signal) {
    for process in running().into_iter().filter(|pid| *pid != leader) {
        kill_process(process, signal).ok();
    }
}

/// Scans until no process is new; who starts others faster than that is not held by it.
const STOPS_MAX: usize = 20;

/// Stops a group and every descendant, so that none starts another while they are ended. What was stopped dies of
/// SIGKILL.
pub(super) fn stop(group: Pid) {
    let mut known = Vec::new();
    for _ in 0..STOPS_MAX {
        signal(group, Signal::STOP);
        let found = running();
        if found.iter().all(|process| known.contains(process)) {
            return;
        }
        known = found;
    }
}

/// Processes of a session that have not ended.
pub(super) fn of_session(session: i32) -> Vec<Pid> {
    processes()
        .filter(|stat| stat.session == session && stat.is_running)
        .filter_map(|stat| Pid::from_raw(stat.pid))
        .collect()
}

/// Returns the name of the mount namespace of descendants where it is not the one of this process.
pub(super) fn own_mounts() -> Option<String> {
    let own = mounts_of(rustix::process::getpid())?;
    let mut mounts = running().into_iter().filter_map(mounts_of);
    mounts.find(|mounts| *mounts != own)
}

/// Processes in a mount namespace that have not ended.
pub(super) fn of_mounts(mounts: &str) -> Vec<Pid> {
    processes()
        .filter_map(|stat| Pid::from_raw(stat.pid))
        .filter(|process| mounts_of(*process).is_some_and(|found| found == mounts))
        .collect()
}

/// What has ended has none.
fn mounts_of(process: Pid) -> Option<String> {
    let link = format!("/proc/{}/ns/mnt", process.as_raw_nonzero());
    fs::read_link(link)
        .ok()?
        .into_os_string()
        .into_string()
        .ok()
}

/// Descendants of this process that have not ended.
pub(super) fn running() -> Vec<Pid> {
    let pids = descendants().into_iter().map(|stat| stat.pid);
    pids.filter_map(Pid::from_raw).collect()
}

/// What all descendants of this process use together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) processes: u64,
    /// Bytes of memory; what processes share counts for each of them.
    pub(super) memory: u64,
    /// Whether one of them waits for keys where this process prints: an editor such as vim, without a terminal, takes
    /// stderr for one, and waits there for ever.
    pub(super) waits_for_terminal: bool,
}

pub(super) fn usage() -> Usage {
    let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
    let stream = |process: &str, number: u8| fs::read_link(format!("/proc/{process}/fd/{number}"));
    // A file may be read and written by the same program.
    let printed = stream("self", 2).ok();
    let printed = printed.filter(|it| it.to_string_lossy().starts_with("pipe:"));
    let mut usage = Usage::default();
    for stat in descendants() {
        usage.processes += 1;
        usage.memory = usage.memory.saturating_add(stat.pages.saturating_mul(page));
        usage.waits_for_terminal |=
            printed.is_some() && stream(&stat.pid.to_string(), 0).ok() == printed;
    }
    usage
}

fn descendants() -> Vec<Stat> {
    let mut children: BTreeMap<i32, Vec<Stat>> = BTreeMap::new();
    for stat in processes() {
        children.entry(stat.parent).or_default().push(stat);
    }
    let mut found = Vec::new();
    let mut next = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(parent) = next.pop() {
        // Taken out, so that pids that were used again while this was read make no circle.
        for stat in children.remove(&parent).unwrap_or_default() {
            next.push(stat.pid);
            found.extend(Some(stat).filter(|stat| stat.is_running));
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
    /// Pages of memory in use.
    pages: u64,
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
            pages: words
                .nth(17)
                .and_then(|pages| pages.parse().ok())
                .unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name() {
        for (line, expected) in [
            ("12 (sh) S 7 12 6 0", Some((12, 7, 6, true, 0))),
            ("12 (a) b) (c) Z 7 12 6 0", Some((12, 7, 6, false, 0))),
            (
                "12 (sh) S 7 12 6 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 5 99 345 18446744073709551615",
                Some((12, 7, 6, true, 345)),
            ),
            ("12", None),
            ("12 (sh", None),
        ] {
            let read = Stat::parse(line).map(|stat| {
                (
                    stat.pid,
                    stat.parent,
                    stat.session,
                    stat.is_running,
                    stat.pages,
                )
            });
            assert_eq!(read, expected, "{line}");
        }
    }
}
