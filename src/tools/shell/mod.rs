//! `shell`: a command line in the project folder.
//!
//! ```text
//!   environment   which variables a command gets     run         cogtrix' side of a run: output, limits, the end
//!   sandbox       what a command may write to        supervise   the hidden process above the command
//!   grants        folders without what is kept       descendants whatever a command has started
//!   order         what the two say to each other     output      what is printed, within bounds
//! ```
//!
//! What is promised: when a call returns, however it ended, nothing is left running of what the command started; in the background,
//! in a session of its own or forked twice. The same follows within seconds when cogtrix is killed. Exceptions: processes of
//! other users (`sudo`), what a service starts that was asked over a socket, what forks faster than it is found, and a
//! command that kills the hidden process, which it can without confinement or before Linux 6.12; and anywhere but on Linux all
//! that leaves the command's own group.

mod descendants;
mod environment;
mod grants;
mod order;
mod output;
mod run;
mod sandbox;
mod supervise;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::process::Command;

use super::{Around, Done, Effect, Failure, Output, Typed};

pub use environment::looks_secret;
pub use order::{Order, SUBCOMMAND};
pub use sandbox::{Confinement, Level, Unavailable, available};
pub use supervise::supervise;

use run::{End, Limits, Ran, run};

const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// How commands are run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How long a command may take that names no time itself.
    #[serde(with = "humantime_serde")]
    pub timeout: Duration,
    /// The longest time a command may ask for.
    #[serde(with = "humantime_serde")]
    pub most: Duration,
    /// More variables that commands get, by name; never what [`looks_secret`].
    pub pass_env: Vec<String>,
    pub sandbox: Confinement,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(1),
            most: Duration::from_mins(10),
            pass_env: Vec::new(),
            sandbox: Confinement::default(),
        }
    }
}

/// Where commands are run.
#[derive(Clone, Debug)]
pub struct Place {
    /// This program, which starts itself again to look after a command.
    pub program: PathBuf,
    pub project: PathBuf,
    /// What no command may write to, wherever it lies: the data folder.
    pub kept: Vec<PathBuf>,
    /// Every variable of this process; few are passed on.
    pub environment: BTreeMap<String, String>,
}

/// Runs command lines.
#[derive(Clone, Debug)]
pub struct Shell {
    settings: Settings,
    place: Place,
    environment: BTreeMap<String, String>,
    /// Folders that commands may write to, as they were when the program began: without links.
    writable: Vec<PathBuf>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The command line
    command: String,
    /// Seconds after which it is ended; 60 if left out, at most 600
    #[serde(default)]
    timeout_s: Option<u64>,
}

impl Shell {
    pub fn new(settings: Settings, place: Place) -> Self {
        let environment = environment::passed(&place.environment, &settings.pass_env);
        let temporary = TEMPORARY.iter().map(PathBuf::from);
        let own = environment.get("TMPDIR").map(PathBuf::from);
        let folders = [place.project.clone()]
            .into_iter()
            .chain(temporary)
            .chain(own);
        Self {
            writable: folders
                .filter_map(|path| path.canonicalize().ok())
                .collect(),
            settings,
            place,
            environment,
        }
    }

    fn limit(&self, arguments: &Arguments) -> Result<Duration, Failure> {
        let most = self.settings.most;
        match arguments.timeout_s.map(Duration::from_secs) {
            None => Ok(self.settings.timeout),
            Some(limit) if limit.is_zero() || limit > most => Err(Failure::Arguments(format!(
                "shell: timeout_s must be between 1 and {}",
                most.as_secs()
            ))),
            Some(limit) => Ok(limit),
        }
    }

    fn order(&self, command: &str) -> Order {
        Order {
            confinement: self.settings.sandbox,
            writable: self.writable.clone(),
            kept: self.place.kept.clone(),
            command: vec!["sh".into(), "-c".into(), command.into()],
        }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.place.program);
        command
            .args(self.order(line).arguments())
            .current_dir(&self.place.project)
            .env_clear()
            .envs(&self.environment);
        command
    }
}

#[async_trait]
impl Typed for Shell {
    type Arguments = Arguments;

    const NAME: &'static str = "shell";
    const DESCRIPTION: &'static str = include_str!("../../../config/tools/shell.md");

    fn effect(&self, arguments: &Arguments) -> Result<Effect, Failure> {
        self.limit(arguments)?;
        if arguments.command.trim().is_empty() || arguments.command.contains('\0') {
            let text = "shell: command must be a command line without zero bytes";
            return Err(Failure::Arguments(text.to_owned()));
        }
        Ok(Effect::Runs(arguments.command.clone()))
    }

    async fn call(&self, arguments: Arguments, around: &Around<'_>) -> Result<Done, Failure> {
        let limits = Limits {
            time: self.limit(&arguments)?,
            cancel: around.cancel,
        };
        let ran = run(self.command(&arguments.command), limits, around.progress).await;
        let ran = ran.map_err(|error| {
            Failure::of(format_args!("the command could not be started: {error}"))
        })?;
        told(ran, limits.time)
    }
}

/// What the model and the person get to know.
fn told(ran: Ran, limit: Duration) -> Result<Done, Failure> {
    let (brief, end) = match &ran.end {
        End::Cancelled => return Err(Failure::Interrupted),
        End::Refused(why) => {
            return Err(Failure::of(format_args!("the command was not run: {why}")));
        }
        End::Exited(code) => {
            let took = ran.took.as_secs_f64();
            (format!("exit {code}"), format!("exit {code}, {took:.1} s"))
        }
        End::Signalled(signal) => (
            format!("signal {signal}"),
            format!("killed by signal {signal}"),
        ),
        End::TimedOut => (
            "timed out".to_owned(),
            format!("timed out after {} s", limit.as_secs()),
        ),
        End::Lost => ("killed".to_owned(), "killed from outside".to_owned()),
    };
    let failed = ran.end != End::Exited(0);
    let output = ran.output.into_text();
    Ok(Output {
        text: text(output, &end, ran.left),
        brief,
        failed,
        ..Output::default()
    }
    .into())
}

fn text(mut output: String, end: &str, left: usize) -> String {
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    let left = match left {
        0 => String::new(),
        n => format!("[processes in the background, ended with the command: {n}]\n"),
    };
    format!("{output}{left}[{end}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell() -> Shell {
        let place = Place {
            program: "/usr/bin/cogtrix".into(),
            project: "/usr".into(),
            kept: vec!["/data".into()],
            environment: BTreeMap::from([("TMPDIR".to_owned(), "/etc".to_owned())]),
        };
        Shell::new(Settings::default(), place)
    }

    fn arguments(command: &str, timeout_s: Option<u64>) -> Arguments {
        Arguments {
            command: command.to_owned(),
            timeout_s,
        }
    }

    #[test]
    fn bad_arguments_are_refused_before_anybody_is_asked() {
        for (command, timeout_s, is_good) in [
            ("ls", None, true),
            ("ls", Some(600), true),
            ("ls", Some(601), false),
            ("ls", Some(0), false),
            (" ", None, false),
            ("a\0b", None, false),
        ] {
            let effect = shell().effect(&arguments(command, timeout_s));
            let expected = is_good.then(|| Effect::Runs(command.to_owned()));
            assert_eq!(effect.ok(), expected, "{command:?} {timeout_s:?}");
        }
    }

    #[test]
    fn the_order_names_what_may_be_written_and_what_is_kept() {
        let arguments = shell().order("ls -l").arguments();
        let expected = "__confined --confinement landlock --write /usr --write /tmp \
             --write /var/tmp --write /etc --keep /data -- sh -c";
        let expected = expected.split(' ').chain(["ls -l"]);
        assert!(arguments.iter().eq(expected), "{arguments:?}");
    }

    #[test]
    fn settings_are_read_with_defaults_and_unknown_ones_refused() {
        let read = |text: &str| serde_yaml::from_str::<Settings>(text);
        assert_eq!(read("{}").unwrap(), Settings::default());
        let off = read("{sandbox: \"off\", timeout: 5s, pass_env: [CARGO_HOME]}").unwrap();
        assert_eq!(off.sandbox, Confinement::Off);
        assert_eq!(off.timeout, Duration::from_secs(5));
        assert!(read("{sandbx: off}").is_err());
    }
}
