//! What a command may write to. Unit: one ruleset, put on the calling thread and inherited by all it starts.
//!
//! Invariant: [`restrict`] either confines the thread or fails; nothing is left out silently but what older kernels
//! lack beside the file system (signals to others, abstract sockets).
//!
//! Not held back, because Landlock cannot: modes, owners and times of files (`chmod`, `touch` of what exists), files
//! of the project that count elsewhere (`.git/hooks`), what a service does that is asked over a socket, the network.

use std::path::PathBuf;

use serde::Deserialize;

use super::grants::Grants;

/// Whether commands are held in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confinement {
    /// Writes only beneath the folders that were named; anything less is an error.
    #[default]
    Landlock,
    Off,
}

impl Confinement {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Landlock => "landlock",
            Self::Off => "off",
        }
    }
}

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
#[error("commands cannot be confined: {why}")]
pub struct Unavailable {
    pub why: String,
}

/// Device files that a confined command may write to; none of them leads to anybody.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/shm",
];

/// Asks the kernel without confining anything.
pub fn available() -> Result<Level, Unavailable> {
    kernel::available()
}

/// Confines the calling thread and what it starts from now on.
pub(super) fn restrict(grants: &Grants) -> Result<(), Unavailable> {
    let devices = DEVICES.map(PathBuf::from);
    kernel::restrict(grants.paths().chain(&devices))
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::path::PathBuf;

    use landlock::{
        ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    };

    use super::{Level, Unavailable};
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

    pub(super) fn restrict<'a>(
        paths: impl Iterator<Item = &'a PathBuf>,
    ) -> Result<(), Unavailable> {
        confine(paths).map_err(|error| unavailable(&error))?
    }

    fn confine<'a>(
        paths: impl Iterator<Item = &'a PathBuf>,
    ) -> Result<Result<(), Unavailable>, RulesetError> {
        let mut ruleset = ruleset()?;
        for path in paths {
            // What is not there cannot be granted, and what is not granted cannot be written.
            let Ok(folder) = PathFd::new(path) else {
                continue;
            };
            ruleset = ruleset.add_rule(PathBeneath::new(folder, writes(path)))?;
        }
        let status = ruleset.restrict_self()?;
        let is_held = status.ruleset != RulesetStatus::NotEnforced && status.no_new_privs;
        Ok(is_held.then_some(()).ok_or_else(|| Unavailable {
            why: "the kernel did not take the rules".to_owned(),
        }))
    }

    /// Nothing may be written yet.
    fn ruleset() -> Result<RulesetCreated, RulesetError> {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(NEEDED))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::IoctlDev)?
            .scope(Scope::Signal)?
            .scope(Scope::AbstractUnixSocket)?
            .create()?;
        Ok(ruleset.set_compatibility(CompatLevel::HardRequirement))
    }

    fn writes(path: &std::path::Path) -> landlock::BitFlags<AccessFs> {
        let all = AccessFs::from_write(NEEDED);
        if path.is_dir() {
            all
        } else {
            all & AccessFs::from_file(NEEDED)
        }
    }

    fn unavailable(error: &RulesetError) -> Unavailable {
        Unavailable {
            why: format!(
                "Landlock of Linux 6.2 or newer is needed ({})",
                causes(error)
            ),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::path::PathBuf;

    use super::{Level, Unavailable};

    pub(super) fn available() -> Result<Level, Unavailable> {
        Err(nothing())
    }

    pub(super) fn restrict<'a>(_: impl Iterator<Item = &'a PathBuf>) -> Result<(), Unavailable> {
        Err(nothing())
    }

    fn nothing() -> Unavailable {
        Unavailable {
            why: "only Linux has Landlock".to_owned(),
        }
    }
}
