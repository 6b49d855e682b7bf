//! `shell`: a command line in the project folder.
//!
//! ```text
//!   environment   which variables a command gets     run         cogtrix' side of a run: output, limits, the end
//!   order         what the processes say             supervise   the process above the command, outside of the sandbox
//!   network       what programs say without a network
//!   keys          where keys lie                     descendants whatever a command has started, and what it uses
//!   protected     files that run later               output      what is printed, within bounds
//!   support       what of the sandbox there is
//!   linux         the stage that enters the sandbox and becomes the command
//!   linux/..      its parts: namespaces, mounts, sandbox (Landlock), grants, privileges, syscalls (seccomp)
//! ```
//!
//! What is promised: when a call returns, however it ended, nothing is left running of what the command started; in the
//! background, in a session of its own or forked twice. The same follows within seconds when cogtrix is killed.
//! Exceptions: processes of other users (`sudo`), what a service starts that was asked over a socket, what forks faster
//! than it is found, and a command that kills the hidden process, which it can without confinement, or without
//! namespaces before Linux 6.12; elsewhere all that leaves the command's own group.

mod descendants;
mod environment;
mod grants;
mod keys;
#[cfg(target_os = "linux")]
mod linux;
mod network;
mod order;
mod output;
mod protected;
mod run;
mod sandbox;
mod supervise;
mod support;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use bytesize::ByteSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::process::Command;
use tokio::sync::mpsc::Sender;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::{Around, Done, Effect, Escalation, Failure, Output, Run, Typed};

pub use environment::looks_secret;
pub use order::{Keys, Limits, Namespaces, Network, Order, SUPERVISE};
pub use protected::{Change, PersonalGit, PutBack, is_protected};
pub use sandbox::{Level, Unavailable, available};
pub use supervise::{hidden_subcommand, this_program};
pub use support::{Support, support};

use protected::{Guard, Reason};
use run::{Bounds, End, Ran, run};
use supervise::NEEDS_TERMINAL;

const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// The variable that names the socket of the ssh agent.
const AGENT: &str = "SSH_AUTH_SOCK";

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
    /// The same, or `NAME=VALUE`.
    pub env: Vec<String>,
    pub sandbox: Sandbox,
    /// More paths that commands may not read.
    pub hide: Vec<String>,
    /// What all processes of a command may use together; 0 is no limit.
    pub max_memory: ByteSize,
    pub max_processes: u64,
    pub max_file_size: ByteSize,
}

/// How commands are confined unless more is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// Without network, keys and protected files.
    #[default]
    #[serde(alias = "landlock")]
    On,
    /// The same with network.
    Net,
    Off,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(1),
            most: Duration::from_mins(10),
            pass_env: Vec::new(),
            env: Vec::new(),
            sandbox: Sandbox::default(),
            hide: Vec::new(),
            max_memory: ByteSize::gib(8),
            max_processes: 512,
            max_file_size: ByteSize::gib(16),
        }
    }
}

/// Where commands are run.
#[derive(Clone, Debug)]
pub struct Place {
    /// [`this_program`], which starts itself again to look after a command.
    pub program: PathBuf,
    pub project: PathBuf,
    /// Whether nothing of the project was left out for want of trust: commands write to its folder of git wherever that
    /// is.
    pub is_trusted: bool,
    /// The home folder of the account, below which keys lie; `HOME` may not be set.
    pub home: Option<PathBuf>,
    /// What no command may read or write, wherever it lies: the data folder.
    pub kept: Vec<PathBuf>,
    /// Paths at which a configuration of cogtrix is found: no command may make or change one.
    pub config_files: Vec<PathBuf>,
    /// Where what a command made of protected files is kept when they are put back.
    pub aside: Option<PathBuf>,
    /// Where commands of all processes know of each other; nothing is left in it when none is running.
    pub running: Option<PathBuf>,
    /// Every variable of this process; few are passed on.
    pub environment: BTreeMap<String, String>,
}

/// What a command may do beyond the usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub network: Network,
    pub keys: Keys,
}

/// Runs command lines.
#[derive(Clone, Debug)]
pub struct Shell {
    settings: Settings,
    place: Place,
    environment: BTreeMap<String, String>,
    /// Folders that commands may write to, as they were when the program began: without links.
    writable: Vec<PathBuf>,
    /// The one among them that is a folder of git outside of the project.
    git: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The command line
    command: String,
    /// Seconds after which it is ended; 60 if left out, at most 600
    #[serde(default)]
    timeout_s: Option<u64>,
    /// Ask the person for the network; needs a reason
    #[serde(default)]
    network: bool,
    /// Ask the person to let it read keys and use the ssh agent; needs a reason
    #[serde(default)]
    keys: bool,
    /// Why network or keys are needed, in one line that the person reads
    #[serde(default)]
    reason: Option<String>,
}

impl Shell {
    pub fn new(settings: Settings, place: Place) -> Self {
        let more = [settings.pass_env.as_slice(), &settings.env].concat();
        let environment = environment::passed(&place.environment, &more);
        let temporary = TEMPORARY.iter().map(PathBuf::from);
        let own = environment.get("TMPDIR").map(PathBuf::from);
        let project = place.project.canonicalize().ok();
        let git = project.as_ref().filter(|_| place.is_trusted);
        let git = git.and_then(|project| protected::git_to_open(project, place.home.as_deref()));
        let others = temporary.chain(own).chain(git.clone());
        let others = others.filter_map(|path| path.canonicalize().ok());
        Self {
            writable: project.into_iter().chain(others).collect(),
            git,
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

    /// Returns what settings give to every command.
    pub fn usual_access(&self) -> Access {
        Access {
            network: match self.settings.sandbox {
                Sandbox::On => Network::Isolated,
                Sandbox::Net | Sandbox::Off => Network::Host,
            },
            keys: match self.settings.sandbox {
                Sandbox::On | Sandbox::Net => Keys::Hidden,
                Sandbox::Off => Keys::Readable,
            },
        }
    }

    /// Returns what a call gets once it is approved.
    fn access(&self, arguments: &Arguments) -> Access {
        let usual = self.usual_access();
        Access {
            network: if arguments.network {
                Network::Host
            } else {
                usual.network
            },
            keys: if arguments.keys {
                Keys::Readable
            } else {
                usual.keys
            },
        }
    }

    /// Returns what a call asks for that settings do not give to every command.
    fn escalation(&self, arguments: &Arguments) -> Escalation {
        let usual = self.usual_access();
        Escalation {
            network: arguments.network && usual.network == Network::Isolated,
            keys: arguments.keys && usual.keys == Keys::Hidden,
        }
    }

    /// Tells that a command failed for want of the network or of a key, and offers it once more with what it lacked; with
    /// keys too where the network alone would be the first of two questions.
    fn offer_more(&self, output: &mut Output, arguments: Arguments) {
        let access = self.access(&arguments);
        let network = (access.network == Network::Isolated)
            .then(|| network::sign_of_need(&output.text))
            .flatten();
        let key = (access.keys == Keys::Hidden)
            .then(|| keys::sign_of_need(&output.text, &self.hidden()))
            .flatten();
        let with_keys = network.is_some() && network::wants_keys(&arguments.command);
        let keys = arguments.keys || key.is_some() || with_keys;
        let lacked = if network.is_some() { "network" } else { "keys" };
        let wanted = match (arguments.network || network.is_some(), keys) {
            (true, true) => "network: true, keys: true",
            (true, false) => "network: true",
            (false, _) => "keys: true",
        };
        let Some(sign) = network.as_ref().or(key.as_ref()) else {
            if access.network == Network::Isolated && network::was_refused(&output.text) {
                output.text += "\n[it ran without network: of the servers on this machine it reaches only its own; for another one call again with network: true and a reason]";
            }
            return;
        };
        let told = format!(
            "\n[it ran without {lacked}; if it needs that, call again with {wanted} and a reason]"
        );
        output.text += &told;
        let given = arguments.reason.filter(|reason| !reason.trim().is_empty());
        let again = Arguments {
            reason: Some(given.unwrap_or_else(|| format!("it failed without: {sign}"))),
            network: arguments.network || network.is_some(),
            keys,
            ..arguments
        };
        output.retry = serde_json::to_value(again).ok();
    }

    /// Tells which protected file a command could not write, what has it protected, and what to do; `None` where it was
    /// none.
    fn told_protected(&self, command: &str, printed: &str, by: Caller) -> Option<String> {
        if self.settings.sandbox == Sandbox::Off || !protected::was_refused(printed) {
            return None;
        }
        let project = &self.place.project;
        if let Some(folder) = protected::git_elsewhere(printed, &self.writable) {
            let way = match by {
                _ if !self.place.is_trusted => "it opens when this folder is trusted",
                Caller::Model => "the user can start cogtrix there, or run git",
                Caller::Person => "start cogtrix there, or run git outside of it",
            };
            return Some(format!(
                "[commands write only in the project, and git's folder is in {}: {way}]",
                folder.display()
            ));
        }
        let reasons = self.protected();
        let (path, reason) = protected::refused((command, printed), project, &reasons)?;
        let below = path.strip_prefix(project).ok();
        // File tools refuse what lies in git's folder, and outside of the project.
        let is_of_git = below.is_none_or(|it| it.iter().any(|part| part == ".git"));
        let way = match by {
            Caller::Person => "change it outside of cogtrix",
            Caller::Model if is_of_git => "the user has to change it",
            Caller::Model => {
                "try write_file or edit_file, which ask the user, or have the user change it"
            }
        };
        Some(format!(
            "[{} is protected from commands, because {reason}; {way}]",
            below.unwrap_or(path).display()
        ))
    }

    /// Returns the files that run later, each with the reason why it is protected.
    fn protected(&self) -> BTreeMap<PathBuf, Reason> {
        let Place { project, home, .. } = &self.place;
        let git = PersonalGit::new(home.clone(), &self.place.environment);
        let mut found = protected::reasons(project, &git, &self.place.config_files);
        // Whatever leads to it by now.
        let opened = self
            .git
            .iter()
            .flat_map(|git| protected::files_with_modules(git));
        found.extend(opened.map(|path| (path, Reason::OfGit)));
        found
    }

    /// Returns the paths of keys, which no tool reads.
    pub fn hidden(&self) -> Vec<PathBuf> {
        let Place {
            home, environment, ..
        } = &self.place;
        keys::hidden(home.as_deref(), environment, &self.settings.hide)
    }

    /// Runs a command that the person typed: nobody is asked, it has the network, and it takes as long as it takes. One
    /// that `cancel` ends is returned with what it printed.
    pub async fn run_typed(
        &self,
        command: &str,
        cancel: &CancellationToken,
        progress: &Sender<String>,
    ) -> Result<RanTyped, Failure> {
        let access = Access {
            network: Network::Host,
            ..self.usual_access()
        };
        let bounds = Bounds {
            time: Duration::MAX,
            cancel,
        };
        let ran = self.run(command, access, bounds, progress).await?;
        let (_, end) = ended(&ran, bounds.time)?;
        let failed = ran.end != End::Exited(0);
        let needs_terminal = matches!(&ran.end, End::Exceeded(why) if why == NEEDS_TERMINAL);
        let (printed, mut notes) = texts(ran);
        if failed || network::may_hide_failure(command) {
            let told = self.told_protected(command, &printed, Caller::Person);
            notes.extend(told.map(|told| told + "\n"));
        }
        Ok(RanTyped {
            printed,
            notes,
            end,
            failed,
            needs_terminal,
        })
    }

    async fn run(
        &self,
        command: &str,
        access: Access,
        bounds: Bounds<'_>,
        progress: &Sender<String>,
    ) -> Result<Ran, Failure> {
        let failed = |error: io::Error| {
            Failure::of(format_args!("the command could not be started: {error}"))
        };
        let order = self.order(command, access);
        // It may wait for another command.
        let guard = tokio::select! {
            guard = spawn_blocking(move || Guard::new(order)) => guard,
            () = bounds.cancel.cancelled() => {
                return Ok(Ran {
                    end: End::Cancelled,
                    took: Duration::ZERO,
                    output: output::Collected::default(),
                    left: 0,
                    remaining: 0,
                    lacks: Vec::new(),
                    put_back: Vec::new(),
                });
            }
        };
        let guard = guard.map_err(|error| failed(error.into()))?;
        let ran = run(self.command(&guard.order), &guard, bounds, progress).await;
        ran.map_err(failed)
    }

    fn order(&self, command: &str, access: Access) -> Order {
        let is_confined = self.settings.sandbox != Sandbox::Off;
        let variables = &self.place.environment;
        let mut environment = self.environment.clone();
        if let (Keys::Readable, Some(agent)) = (access.keys, variables.get(AGENT)) {
            environment.insert(AGENT.to_owned(), agent.clone());
        }
        Order {
            is_confined,
            network: access.network,
            keys: access.keys,
            namespaces: Namespaces::default(),
            writable: self.writable.clone(),
            kept: self.place.kept.clone(),
            hidden: self.hidden(),
            protected: if is_confined {
                self.protected().into_keys().collect()
            } else {
                Vec::new()
            },
            aside: self.place.aside.clone(),
            running: self.place.running.clone(),
            agent: variables.get(AGENT).map(PathBuf::from),
            limits: Limits {
                memory: self.settings.max_memory.as_u64(),
                processes: self.settings.max_processes,
                file_size: self.settings.max_file_size.as_u64(),
            },
            environment,
            command: vec!["sh".into(), "-c".into(), command.into()],
        }
    }

    fn command(&self, order: &Order) -> Command {
        let mut command = Command::new(&self.place.program);
        command
            .args(order.arguments(SUPERVISE))
            .current_dir(&self.place.project)
            // By its own name a variable may have the supervisor load what an earlier command has made.
            .env_clear()
            .envs(order.variables());
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
            let text = "shell: command must be a command line without NUL bytes";
            return Err(Failure::Arguments(text.to_owned()));
        }
        let escalation = self.escalation(arguments);
        let reason = arguments.reason.as_deref().unwrap_or_default();
        if escalation != Escalation::NONE && reason.trim().is_empty() {
            let text = format!("shell: give a reason for {escalation}, which the user reads");
            return Err(Failure::Arguments(text));
        }
        Ok(Effect::Runs(Run {
            reason: if escalation == Escalation::NONE {
                String::new()
            } else {
                reason.to_owned()
            },
            escalation,
            ..Run::from(arguments.command.as_str())
        }))
    }

    async fn call(&self, arguments: Arguments, around: &Around<'_>) -> Result<Done, Failure> {
        let bounds = Bounds {
            time: self.limit(&arguments)?,
            cancel: around.cancel,
        };
        let access = self.access(&arguments);
        let ran = self.run(&arguments.command, access, bounds, around.progress);
        let ran = ran.await?;
        let has_failed = matches!(ran.end, End::Exited(code) if code != 0);
        let mut output = told(ran, bounds.time)?;
        if has_failed || network::may_hide_failure(&arguments.command) {
            let told = self.told_protected(&arguments.command, &output.text, Caller::Model);
            output.text.extend(told.map(|told| format!("\n{told}")));
            self.offer_more(&mut output, arguments);
        }
        if !has_failed {
            output.retry = None;
        }
        Ok(output.into())
    }
}

/// Who has a command run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    Model,
    Person,
}

/// What became of a command that the person typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RanTyped {
    /// What it printed, within bounds.
    pub printed: String,
    /// What the sandbox did or lacked, one line each.
    pub notes: String,
    /// Such as `exit 1, 0.3 s`.
    pub end: String,
    /// Whether it ended otherwise than with code 0.
    pub failed: bool,
    /// It was ended because it waited for keys.
    pub needs_terminal: bool,
}

/// Returns what the model and the person get to know.
fn told(ran: Ran, limit: Duration) -> Result<Output, Failure> {
    if ran.end == End::Cancelled {
        return Err(Failure::Interrupted);
    }
    let (brief, end) = ended(&ran, limit)?;
    let failed = ran.end != End::Exited(0);
    let put_back = ran.put_back.clone();
    let (printed, notes) = texts(ran);
    Ok(Output {
        brief,
        failed,
        put_back,
        text: format!("{printed}{notes}[{end}]"),
        ..Output::default()
    })
}

/// Returns how a command ended, in a few words and in full.
fn ended(ran: &Ran, limit: Duration) -> Result<(String, String), Failure> {
    Ok(match &ran.end {
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
        End::Exceeded(why) => ("killed".to_owned(), format!("killed: {why}")),
        End::Lost => ("killed".to_owned(), "killed from outside".to_owned()),
        End::Cancelled => ("interrupted".to_owned(), "interrupted".to_owned()),
    })
}

/// Returns what a command printed, and lines on what the sandbox did.
fn texts(ran: Ran) -> (String, String) {
    let mut output = ran.output.into_text();
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    let left = match ran.left {
        0 => String::new(),
        n => format!("[background processes ended with the command: {n}]\n"),
    };
    let remaining = match ran.remaining {
        0 => String::new(),
        n => {
            format!("[processes that could not be ended: {n}; protected files were not checked]\n")
        }
    };
    let lacks = ran.lacks.iter().map(|part| format!("[sandbox: {part}]\n"));
    let lacks: String = lacks.collect();
    let put_back = ran.put_back.iter().map(|file| {
        let (path, change) = (file.path.display(), file.change);
        match (file.change, &file.copy) {
            (Change::Changed, None) => format!("[{path} is protected, and was changed]\n"),
            _ => format!("[{path} is protected: the command {change} it, which was undone]\n"),
        }
    });
    let put_back: String = put_back.collect();
    let notes = format!("{left}{remaining}{lacks}{put_back}");
    (output, notes)
}

#[cfg(test)]
mod tests;
