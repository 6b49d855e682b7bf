//! What of the sandbox this machine has. Unit: one try with a command that does nothing.

use std::path::Path;

use rustix::process::{WaitOptions, waitpid};

use super::order::{Namespaces, Network, Order};
use super::protected::{UNKNOWN, try_record};
use super::sandbox::{Level, Unavailable, available};
use super::supervise::{Started, start_confined};

const SIGNALS: &str = "signals to other processes (needs Linux 6.12)";

/// What can be held back here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    pub landlock: Level,
    pub namespaces: Namespaces,
    /// What is not held for want of a part, in words for a person.
    pub missing: Vec<String>,
    /// Why commands of several sessions do not know of each other, in words for a person.
    pub unknown: Option<String>,
}

impl Support {
    /// Returns whether commands may run as they are allowed to. Signals to others have never been held before Linux
    /// 6.12, and harm nothing that is kept: `cogtrix doctor` names them, and nobody is asked because of them.
    pub fn is_whole(&self) -> bool {
        self.unknown.is_none() && self.missing.iter().all(|part| *part == SIGNALS)
    }

    /// Returns all that is not as it should be, in one line for a person; `None` where all is.
    pub fn shortfall(&self) -> Option<String> {
        let missing = self.missing.join("; ");
        let missing = (!missing.is_empty()).then(|| format!("not restricted: {missing}"));
        let parts: Vec<String> = missing.into_iter().chain(self.unknown.clone()).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn new(landlock: Level, started: &Started) -> Self {
        let is_without_namespaces = started.namespaces == Namespaces::Missing;
        let is_without_seccomp = started.missing.is_some();
        let parts = [
            (landlock == Level::Files, SIGNALS),
            (
                is_without_namespaces,
                "a network of its own, read-only files and closed sockets (needs user namespaces or bubblewrap)",
            ),
            (is_without_seccomp, "system calls (needs seccomp)"),
            (
                is_without_namespaces && is_without_seccomp,
                "the network (needs namespaces or seccomp)",
            ),
        ];
        let missing = parts.into_iter().filter(|(is_missing, _)| *is_missing);
        Self {
            landlock,
            namespaces: started.namespaces,
            missing: missing.map(|(_, words)| words.to_owned()).collect(),
            unknown: None,
        }
    }
}

/// Confines a command that does nothing; `program` is this program, which starts itself again, and `running` the folder
/// where commands know of each other.
pub fn support(program: &Path, running: Option<&Path>) -> Result<Support, Unavailable> {
    let landlock = available()?;
    let order = Order {
        is_confined: true,
        network: Network::Isolated,
        command: ["/bin/sh", "-c", ":"].map(Into::into).into(),
        ..Order::default()
    };
    let started = start_confined(&order, program).map_err(|why| Unavailable { why })?;
    // However it ends: that it began is what was asked.
    waitpid(Some(started.pid), WaitOptions::empty()).ok();
    let mut support = Support::new(landlock, &started);
    let record = try_record(running);
    support.unknown = record.err().map(|why| format!("{UNKNOWN}: {why}"));
    Ok(support)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        for (landlock, namespaces, seccomp, expected) in [
            (Level::FilesAndSignals, Namespaces::Own, None, &[][..]),
            (Level::FilesAndSignals, Namespaces::Bubblewrap, None, &[]),
            (Level::Files, Namespaces::Own, None, &["signals"]),
            (
                Level::FilesAndSignals,
                Namespaces::Missing,
                Some("seccomp"),
                &["a network of its own", "system calls", "the network"],
            ),
        ] {
            let started = Started {
                pid: rustix::process::getpid(),
                namespaces,
                without_namespaces: None,
                missing: seccomp.map(str::to_owned),
            };
            let support = Support::new(landlock, &started);
            let is_named = |(words, start): (&String, &&str)| words.starts_with(start);
            assert_eq!(support.missing.len(), expected.len());
            assert!(
                support.missing.iter().zip(expected).all(is_named),
                "{support:?}"
            );
            assert_eq!(support.shortfall().is_none(), expected.is_empty());
            let is_enough = expected.iter().all(|part| *part == "signals");
            assert_eq!(support.is_whole(), is_enough);
            let unknown = Support {
                unknown: Some("cannot tell".to_owned()),
                ..support
            };
            let told = unknown.shortfall().unwrap_or_default();
            assert!(told.ends_with("cannot tell"), "{told}");
            assert!(!unknown.is_whole());
        }
    }
}
