//! What cogtrix and its supervising process say to each other.
//!
//! ```text
//!  cogtrix  -- arguments ------------------>  cogtrix __confined  -- sh -c ..
//!           -- stdin, until its end: go on ->
//!           <- stdout: a line a report -----
//!           <- stderr: what the command prints, both its streams --------- sh
//! ```
//!
//! Unit: one run. The end of stdin is the order to end everything, also when cogtrix was killed.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use super::sandbox::Confinement;

/// The hidden subcommand.
pub const SUBCOMMAND: &str = "__confined";

/// What the supervising process is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub confinement: Confinement,
    /// Folders that may be written to.
    pub writable: Vec<PathBuf>,
    /// What may not be written to even if it lies in such a folder.
    pub kept: Vec<PathBuf>,
    pub command: Vec<OsString>,
}

impl Order {
    /// As the command line takes it.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec![SUBCOMMAND.into()];
        arguments.extend(["--confinement".into(), self.confinement.name().into()]);
        for (flag, paths) in [("--write", &self.writable), ("--keep", &self.kept)] {
            for path in paths {
                arguments.extend([flag.into(), path.into()]);
            }
        }
        arguments.push("--".into());
        arguments.extend(self.command.iter().cloned());
        arguments
    }
}

/// What the supervising process says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// It did not begin.
    Refused(String),
    Exited(i32),
    Signalled(i32),
    /// So many processes were still there behind it.
    Left(usize),
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "refused {}", why.replace('\n', " ")),
            Self::Exited(code) => write!(f, "exited {code}"),
            Self::Signalled(signal) => write!(f, "signalled {signal}"),
            Self::Left(n) => write!(f, "left {n}"),
        }
    }
}

impl Report {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (what, rest) = line.split_once(' ')?;
        Some(match what {
            "refused" => Self::Refused(rest.to_owned()),
            "exited" => Self::Exited(rest.parse().ok()?),
            "signalled" => Self::Signalled(rest.parse().ok()?),
            "left" => Self::Left(rest.parse().ok()?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_as_they_were_written() {
        for report in [
            Report::Refused("no such folder: /x y".into()),
            Report::Exited(-1),
            Report::Signalled(9),
            Report::Left(2),
        ] {
            assert_eq!(Report::parse(&report.to_string()), Some(report));
        }
        assert_eq!(Report::parse("exited x"), None);
        assert_eq!(Report::parse("Compiling x"), None);
    }
}
