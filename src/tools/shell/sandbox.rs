//! What a command may write and read, by Landlock. Unit: one ruleset, put on this process and inherited by all it
//! starts.
//!
//! Invariant: [`restrict`] either confines the process or fails; nothing is left out silently but what older kernels
//! lack beside the file system (signals to others, abstract sockets).
//!
//! Not held back, because Landlock cannot: modes, owners and times of files (`chmod`, `touch` of what exists), names in
//! folders, and what a service does that is asked over a socket.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::grants::Grants;
use super::order::{Keys, Order};
use crate::files::resolve_links;

/// What this kernel can hold back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Writes.
    Files,
    /// Signals to processes outside, and abstract sockets, too.
    FilesAndSignals,
}

/// Why commands cannot be confined here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot sandbox commands: {why}")]
pub struct Unavailable {
    pub why: String,
}

/// Device files that a confined command may read and write; none of them leads to anybody.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/shm",
    "/dev/mqueue",
];

/// Pseudo terminals, where they are the command's own; a command has no other that `/dev/tty` could stand for.
const TERMINALS: [&str; 3] = ["/dev/ptmx", "/dev/pts", "/dev/tty"];

/// All that is a device is granted by name alone: disks hold everybody's files.
const ALL_DEVICES: &str = "/dev";

/// Asks the kernel without confining anything.
pub fn available() -> Result<Level, Unavailable> {
    kernel::available()
}

/// What is granted to a command.
#[derive(Debug)]
struct Rules {
    written: Grants,
    read: Grants,
    devices: Vec<PathBuf>,
    terminals: Vec<PathBuf>,
}

impl Rules {
    /// With namespaces, what lies in writable folders is covered, and terminals are the command's own.
    fn of(order: &Order, has_namespaces: bool) -> Self {
        let not_covered = |paths: &[PathBuf]| -> Vec<PathBuf> {
            let covered = if has_namespaces {
                order.within(paths)
            } else {
                BTreeSet::new()
            };
            let is_open = |path: &&PathBuf| {
                let real = resolve_links(path);
                !covered.iter().any(|covered| real.starts_with(covered))
            };
            paths.iter().filter(is_open).cloned().collect()
        };
        let kept = not_covered(&order.kept);
        let mut hidden = not_covered(&order.hidden);
        hidden.retain(|path| path.exists());
        let devices = PathBuf::from(ALL_DEVICES);
        let not_written = [&kept[..], &hidden, std::slice::from_ref(&devices)].concat();
        let mut not_read: Vec<PathBuf> = kept.into_iter().filter(|path| path.exists()).collect();
        if order.keys == Keys::Hidden {
            not_read.extend(hidden);
        }
        not_read.push(devices);
        let terminals = if has_namespaces {
            TERMINALS.map(PathBuf::from).into()
        } else {
            Vec::new()
        };
        Self {
            written: Grants::new(&order.writable, &not_written),
            read: Grants::new(&["/".into()], &not_read),
            devices: DEVICES.map(PathBuf::from).into(),
            terminals,
        }
    }
}

/// Confines this process and what it starts from now on.
pub(super) fn restrict(order: &Order, has_namespaces: bool) -> Result<(), Unavailable> {
    if !order.is_confined {
        return Ok(());
    }
    kernel::restrict(&Rules::of(order, has_namespaces))
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::path::Path;

    use landlock::{
        ABI, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
        RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    };

    use super::{Level, Rules, Unavailable};
    use crate::net::causes;

    /// The first level that also holds `truncate` back; without it any file could be emptied.
    const NEEDED: ABI = ABI::V3;

    pub(super) fn available() -> Result<Level, Unavailable> {
        ruleset().map_err(|error| unavailable(&error))?;
        let scoped = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .scope(Scope::Signal);
        Ok(match scoped {
            Ok(_) => Level::FilesAndSignals,
            Err(_) => Level::Files,
        })
    }

    pub(super) fn restrict(rules: &Rules) -> Result<(), Unavailable> {
        confine(rules).map_err(|error| unavailable(&error))?
    }

    fn confine(rules: &Rules) -> Result<Result<(), Unavailable>, RulesetError> {
        let reading = BitFlags::from(AccessFs::ReadFile);
        // No device has to be made anywhere.
        let writing = AccessFs::from_write(NEEDED) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
        let mut ruleset = ruleset()?;
        for path in rules.read.paths() {
            ruleset = granted(ruleset, path, reading)?;
        }
        for path in rules.written.paths() {
            ruleset = granted(ruleset, path, writing)?;
        }
        for path in &rules.devices {
            ruleset = granted(ruleset, path, reading | writing)?;
        }
        ruleset = ruleset.set_compatibility(CompatLevel::BestEffort);
        for path in &rules.terminals {
            ruleset = granted(ruleset, path, reading | writing | AccessFs::IoctlDev)?;
        }
        let status = ruleset.restrict_self()?;
        let is_held = status.ruleset != RulesetStatus::NotEnforced && status.no_new_privs;
        Ok(is_held.then_some(()).ok_or_else(|| Unavailable {
            why: "the kernel did not accept the rules".to_owned(),
        }))
    }

    /// What is not there cannot be granted, and what is not granted cannot be used.
    fn granted(
        ruleset: RulesetCreated,
        path: &Path,
        access: BitFlags<AccessFs>,
    ) -> Result<RulesetCreated, RulesetError> {
        let Ok(opened) = PathFd::new(path) else {
            return Ok(ruleset);
        };
        let access = if path.is_dir() {
            access
        } else {
            access & (AccessFs::from_file(NEEDED) | AccessFs::IoctlDev)
        };
        ruleset.add_rule(PathBeneath::new(opened, access))
    }

    /// Nothing may be written or read yet.
    fn ruleset() -> Result<RulesetCreated, RulesetError> {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(NEEDED))?
            .handle_access(AccessFs::ReadFile)?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::IoctlDev)?
            .scope(Scope::Signal)?
            .scope(Scope::AbstractUnixSocket)?
            .create()?;
        Ok(ruleset.set_compatibility(CompatLevel::HardRequirement))
    }

    fn unavailable(error: &RulesetError) -> Unavailable {
        Unavailable {
            why: format!("needs Landlock of Linux 6.2 or newer ({})", causes(error)),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use super::{Level, Rules, Unavailable};

    pub(super) fn available() -> Result<Level, Unavailable> {
        Err(nothing())
    }

    pub(super) fn restrict(_: &Rules) -> Result<(), Unavailable> {
        Err(nothing())
    }

    fn nothing() -> Unavailable {
        Unavailable {
            why: "only Linux has Landlock".to_owned(),
        }
    }
}
