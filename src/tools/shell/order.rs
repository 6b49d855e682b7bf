//! What cogtrix, the supervisor of a command and the stage that enters the sandbox say to each other.
//!
//! ```text
//!  cogtrix  -- arguments, variables ----->  cogtrix __confined  -- the same -->  cogtrix __enter  = exec =>  sh -c
//!           -- stdin, until its end: go on ->                  <- stdout: Entry --
//!           <- stdout: a report a line ----
//!           <- stderr: what the command prints, both its streams ------------------------------------------- sh
//! ```
//!
//! Unit: one run. The end of stdin is the order to end everything, also when cogtrix was killed. The command's
//! variables are passed as variables, because arguments can be read by every user; by other names, because some act on
//! whoever has them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::protected::{PutBack, is_below};
use crate::declare::named;
use crate::files::resolve_links;

/// The hidden subcommand of the supervisor, which stays outside of the sandbox.
pub const SUPERVISE: &str = "__confined";
/// The hidden subcommand that enters the sandbox and becomes the command.
pub(super) const ENTER: &str = "__enter";

/// Begins the name under which a variable of the command is passed on.
const VARIABLE: &str = "COGTRIX_COMMAND_";

named! {
    /// Which network a command has.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Network {
        /// A loopback interface of its own, or none.
        #[default]
        Isolated = "isolated",
        /// The network of this machine.
        Host = "host",
    }
}

named! {
    /// Whether a command may read the hidden paths and talk to the agents that hold keys.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Keys {
        #[default]
        Hidden = "hidden",
        Readable = "readable",
    }
}

named! {
    /// How a command gets its namespaces, in the order in which ways are tried.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Namespaces {
        /// It makes them itself.
        #[default]
        Own = "own",
        /// bubblewrap has made them.
        Bubblewrap = "bubblewrap",
        /// There are none.
        Missing = "missing",
    }
}

/// What all processes of a command may use together; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory.
    pub memory: u64,
    pub processes: u64,
    /// Bytes of one file.
    pub file_size: u64,
}

/// What the supervisor is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Without it nothing but the limits is held.
    pub is_confined: bool,
    pub network: Network,
    pub keys: Keys,
    pub namespaces: Namespaces,
    /// Folders that may be written to.
    pub writable: Vec<PathBuf>,
    /// What may be neither written nor read even if it lies in such a folder.
    pub kept: Vec<PathBuf>,
    /// What may not be read unless keys are readable, and never written.
    pub hidden: Vec<PathBuf>,
    /// Files that run later: read-only, and put back where that cannot be had.
    pub protected: Vec<PathBuf>,
    /// Where what a command made of protected files is moved when they are put back.
    pub aside: Option<PathBuf>,
    /// Where it stands what was there of protected files before the first of the commands that run now.
    pub running: Option<PathBuf>,
    /// The socket of the ssh agent, which is closed unless keys are readable.
    pub agent: Option<PathBuf>,
    pub limits: Limits,
    /// The variables of the command; those of the supervisor are none of its business, which is outside of the sandbox.
    pub environment: BTreeMap<String, String>,
    pub command: Vec<OsString>,
}

impl Order {
    /// Returns the arguments of the program in the given role.
    pub fn arguments(&self, role: &str) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec![role.into()];
        let words = [
            ("--sandbox", if self.is_confined { "on" } else { "off" }),
            ("--network", self.network.as_str()),
            ("--keys", self.keys.as_str()),
            ("--namespaces", self.namespaces.as_str()),
        ];
        for (flag, word) in words {
            arguments.extend([flag.into(), word.into()]);
        }
        for (flag, number) in [
            ("--max-memory", self.limits.memory),
            ("--max-processes", self.limits.processes),
            ("--max-file-size", self.limits.file_size),
        ] {
            arguments.extend([flag.into(), number.to_string().into()]);
        }
        let lists = [
            ("--write", &self.writable),
            ("--keep", &self.kept),
            ("--hide", &self.hidden),
            ("--protect", &self.protected),
        ];
        let singles = [
            ("--aside", &self.aside),
            ("--running", &self.running),
            ("--agent", &self.agent),
        ];
        let singles = singles
            .into_iter()
            .flat_map(|(flag, path)| path.iter().map(move |path| (flag, path)));
        let lists = lists
            .into_iter()
            .flat_map(|(flag, paths)| paths.iter().map(move |path| (flag, path)));
        for (flag, path) in lists.chain(singles) {
            arguments.extend([flag.into(), path.into()]);
        }
        arguments.push("--".into());
        arguments.extend(self.command.iter().cloned());
        arguments
    }

    /// Returns which of the paths exist in folders that may be written to, by their real names. With namespaces they are
    /// covered: Landlock would have to grant each other entry of such a folder by itself, so that nothing new could be
    /// made there.
    pub(super) fn within(&self, paths: &[PathBuf]) -> BTreeSet<PathBuf> {
        let roots = &self.writable;
        let real = paths.iter().map(|path| resolve_links(path));
        real.filter(|path| path.exists())
            .filter(|path| {
                is_below(path, roots) && !roots.iter().any(|root| root.starts_with(path))
            })
            .collect()
    }

    /// Returns the command's variables under the names by which they are passed on.
    pub fn variables(&self) -> impl Iterator<Item = (String, &str)> {
        let variables = self.environment.iter();
        variables.map(|(name, value)| (format!("{VARIABLE}{name}"), value.as_str()))
    }

    /// Reads the arguments after the role, and the variables.
    pub fn parse(
        arguments: impl IntoIterator<Item = OsString>,
        variables: &BTreeMap<String, String>,
    ) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        let passed = variables.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix(VARIABLE)?;
            Some((name.to_owned(), value.clone()))
        });
        let mut order = Self {
            environment: passed.collect(),
            ..Self::default()
        };
        while let Some(flag) = arguments.next() {
            if flag == "--" {
                order.command = arguments.collect();
                break;
            }
            let value = arguments.next();
            let value = value.ok_or_else(|| format!("{} needs a value", flag.display()))?;
            order.set(&flag, value)?;
        }
        if order.command.is_empty() {
            return Err("no command".to_owned());
        }
        Ok(order)
    }

    fn set(&mut self, flag: &OsStr, value: OsString) -> Result<(), String> {
        let bad = || format!("{} cannot be {}", flag.display(), value.display());
        let word = value.to_str().unwrap_or_default();
        let number = || word.parse().map_err(|_| bad());
        match flag.to_str().unwrap_or_default() {
            "--sandbox" if word == "on" => self.is_confined = true,
            "--sandbox" if word == "off" => self.is_confined = false,
            "--sandbox" => return Err(bad()),
            "--network" => self.network = Network::parse(word).ok_or_else(bad)?,
            "--keys" => self.keys = Keys::parse(word).ok_or_else(bad)?,
            "--namespaces" => self.namespaces = Namespaces::parse(word).ok_or_else(bad)?,
            "--max-memory" => self.limits.memory = number()?,
            "--max-processes" => self.limits.processes = number()?,
            "--max-file-size" => self.limits.file_size = number()?,
            "--write" => self.writable.push(value.into()),
            "--keep" => self.kept.push(value.into()),
            "--hide" => self.hidden.push(value.into()),
            "--protect" => self.protected.push(value.into()),
            "--aside" => self.aside = Some(value.into()),
            "--running" => self.running = Some(value.into()),
            "--agent" => self.agent = Some(value.into()),
            _ => return Err(format!("unknown argument {}", flag.display())),
        }
        Ok(())
    }
}

/// What the stage that enters the sandbox says before it becomes the command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Entry {
    /// Everything that was ordered holds, but for a part that the kernel does not have.
    Ready { missing: Option<String> },
    /// Nothing was run; another way to namespaces may do.
    NoNamespaces(String),
    /// Nothing was run, and nothing else can be tried.
    Refused(String),
}

/// What the supervisor says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Report {
    /// It did not begin.
    Refused(String),
    /// It began, in a mount namespace of this name, from which no process of it gets away.
    Began(Namespaces, String),
    Exited(i32),
    Signalled(i32),
    /// It was ended for what it used.
    Exceeded(String),
    /// A part of the sandbox that was ordered and is not there.
    Lacks(String),
    /// So many processes could not be ended, so no protected file was put back.
    Remaining(usize),
    /// So many processes were still there behind it.
    Left(usize),
    /// A protected file is as it was before the command.
    PutBack(PutBack),
}

/// Writes an entry or a report, as one line.
pub(super) fn say(said: &impl Serialize, mut to: impl io::Write) -> io::Result<()> {
    writeln!(to, "{}", serde_json::to_string(said)?)?;
    to.flush()
}

/// Reads a line; `None` where nothing was said, or not all of it.
pub(super) fn heard<T: DeserializeOwned>(line: &str) -> Option<T> {
    serde_json::from_str(line).ok()
}

#[cfg(test)]
mod tests {
    use super::super::protected::Change;
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let order = Order {
            is_confined: true,
            network: Network::Host,
            keys: Keys::Readable,
            namespaces: Namespaces::Bubblewrap,
            writable: vec!["/a".into(), "/b c".into()],
            kept: vec!["/a/data".into()],
            hidden: vec!["/home/me/.ssh".into()],
            protected: vec!["/a/.git/hooks".into()],
            aside: Some("/a/data/changes".into()),
            running: Some("/state/running".into()),
            agent: Some("/tmp/agent".into()),
            limits: Limits {
                memory: 1,
                processes: 2,
                file_size: 3,
            },
            environment: BTreeMap::from([("FLAGS".to_owned(), "--a=b c".to_owned())]),
            command: vec!["sh".into(), "-c".into(), "--keep x".into()],
        };
        let arguments = order.arguments(SUPERVISE);
        assert_eq!(arguments[0], SUPERVISE);
        let arguments = arguments.into_iter().skip(1);
        let variables = order
            .variables()
            .map(|(name, value)| (name, value.to_owned()));
        let mut variables: BTreeMap<String, String> = variables.collect();
        variables.insert("LD_PRELOAD".to_owned(), "its own".to_owned());
        assert_eq!(Order::parse(arguments, &variables), Ok(order));
    }

    #[test]
    fn an_order_with_a_mistake_is_refused() {
        for (arguments, why) in [
            ("--sandbox on", "no command"),
            ("--sandbox maybe -- sh", "--sandbox cannot be maybe"),
            ("--max-memory much -- sh", "--max-memory cannot be much"),
            ("--write", "--write needs a value"),
            ("--no such -- sh", "unknown argument --no"),
        ] {
            let arguments_of = arguments.split(' ').map(OsString::from);
            let parsed = Order::parse(arguments_of, &BTreeMap::new());
            assert_eq!(parsed, Err(why.to_owned()), "{arguments}");
        }
    }

    #[test]
    fn reports_are_read_as_they_were_written() {
        for report in [
            Report::Refused("no such folder: /x y".into()),
            Report::Began(Namespaces::Own, "mnt:[4026531841]".into()),
            Report::Exited(-1),
            Report::Signalled(9),
            Report::Left(2),
            Report::Lacks("no seccomp for this command".into()),
            Report::Remaining(1),
            Report::Exceeded("used more than 4 GiB of memory".into()),
            Report::PutBack(PutBack {
                change: Change::Made,
                path: "/a/.git/hooks/x\ny".into(),
                copy: Some("/data/x".into()),
            }),
        ] {
            let mut line = Vec::new();
            say(&report, &mut line).unwrap();
            let line = String::from_utf8(line).unwrap();
            assert_eq!(heard::<Report>(&line[..line.len() - 2]), None, "{line}");
            assert_eq!(line.lines().count(), 1);
            assert_eq!(heard(&line), Some(report));
        }
        assert_eq!(heard::<Report>("Compiling x"), None);
    }
}
