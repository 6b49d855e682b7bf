//! What a model may do beside talking: one trait, a file for each tool.
//!
//! ```text
//!   typed        arguments as a type -> schema, checked arguments
//!   project      the project folder, which no path leads out of
//!   changes      what files held before they were changed
//!   registry     which tools there are, which of them a request offers
//!   policy       effect -> allowed, asked, refused
//!   quotes       a command line cut at its quotes
//!   shape        a result cut to what a window can bear
//!   mcp/         tools of other programs
//! ```
//!
//! A tool says what a call would do ([`Effect`]) before it does it; whether it may is decided elsewhere. What it
//! returns is data: the agent applies what concerns memory and the registry ([`Wish`]).

mod approvals;
mod clock;
mod deep_think;
pub mod fetch;
pub mod files;
pub mod history;
pub mod keeping;
pub mod mcp;
mod memories;
mod memorize;
mod memory;
mod memory_search;
mod pin_context;
pub mod policy;
mod quotes;
mod registry;
mod request;
mod scratchpad;
mod settings;
pub mod shape;
pub mod shell;
mod track;
mod typed;

use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_util::sync::CancellationToken;

use crate::chat::{Session, Timestamp, ToolSpec, TurnId};
use crate::memory::tracking::Edit;

pub use approvals::{Approvals, ApprovalsError};
pub use clock::CurrentTime;
pub use deep_think::{DeepThink, Thinking};
pub use fetch::FetchUrl;
pub use history::HistorySearch;
pub use keeping::{Adding, Keeping, Lasting};
pub use memories::Memories;
pub use memorize::Memorize;
pub use memory::{MEMORY, MEMORY_STORE, MemoryTool};
pub use memory_search::MemorySearch;
pub use pin_context::PinContext;
pub use registry::{Listed, REQUEST_TOOLS, Registry, Selection, State, Switch, UnknownTool};
pub use request::RequestTools;
pub use scratchpad::{ScratchpadRead, ScratchpadWrite};
pub use settings::Settings;
pub use shell::{PutBack, Shell};
pub use track::Track;
pub use typed::{AgentTool, Typed, tool, tool_as};

/// Something a model can call.
#[async_trait]
pub trait Tool: Send + Sync + fmt::Debug {
    /// Returns what the model is told; the name is what it calls.
    fn spec(&self) -> &ToolSpec;

    /// Returns what a call with these arguments would do. Bad arguments are found here, before anybody is asked.
    fn effect(&self, arguments: &Value) -> Result<Effect, Failure>;

    /// Returns what a person should see before they say yes.
    async fn preview(&self, _arguments: &Value) -> Option<Detail> {
        None
    }

    /// Does it. A call that was cancelled returns soon, and leaves nothing running behind.
    async fn call(&self, arguments: Value, around: &Around<'_>) -> Result<Done, Failure>;
}

/// What a call does to the world, as far as a person wants to be asked about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing outside of this program.
    Nothing,
    /// Reads inside the project folder; the path is as the model wrote it.
    Reads(PathBuf),
    /// Changes a file inside the project folder.
    Writes(PathBuf),
    /// The same of a file that some program acts upon later.
    WritesProtected(PathBuf),
    /// Changes what cogtrix keeps for the model itself; the path is as the model wrote it, empty where it is no file.
    Keeps(PathBuf),
    /// Deletes some of it.
    Deletes(PathBuf),
    /// Runs a command line.
    Runs(Run),
    /// Keeps a change that a command made to files that run later. No tool asks for it beforehand.
    RunsLater(Vec<PathBuf>),
    /// Asks a host on the network.
    Contacts { host: String, what: String },
    /// Whatever a server outside of this program makes of it.
    Delegates { server: String, tool: String },
}

/// A command line, and what it asks for beyond what every command has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    pub command: String,
    pub escalation: Escalation,
    /// Why it asks, in the model's words; empty where it asks for nothing.
    pub reason: String,
}

/// What a command can be given beyond the sandbox. It is asked for each command anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Escalation {
    pub network: bool,
    pub keys: bool,
}

impl Escalation {
    pub const NONE: Self = Self {
        network: false,
        keys: false,
    };

    /// Returns whether `granted` covers all of it.
    pub fn is_within(self, granted: Self) -> bool {
        (granted.network || !self.network) && (granted.keys || !self.keys)
    }
}

impl fmt::Display for Escalation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.network, self.keys) {
            (true, true) => "network and keys",
            (true, false) => "network",
            (false, true) => "keys",
            (false, false) => "nothing more",
        })
    }
}

impl From<&str> for Run {
    /// A command that asks for nothing.
    fn from(command: &str) -> Self {
        Self {
            command: command.to_owned(),
            ..Self::default()
        }
    }
}

/// Where and when a call happens.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    pub session: &'a Session,
    pub turn: TurnId,
    pub now: Timestamp,
    pub cancel: &'a CancellationToken,
    /// Text that is worth showing while the call runs, as it comes. Nobody need be listening, and what finds no room is
    /// dropped ([`progress`]).
    pub progress: &'a Sender<String>,
}

/// Texts of a running call that wait to be shown. A terminal that is slower than what it shows loses some of them; it
/// costs neither memory nor the call any time.
const MAX_PROGRESS: usize = 256;

/// A channel for what a running call shows.
pub fn progress() -> (Sender<String>, Receiver<String>) {
    channel(MAX_PROGRESS)
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    Output(Output),
    /// Something that only the agent can do; its answer is the result.
    Wish(Wish),
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// What the model gets to read, whole: it is cut to size elsewhere.
    pub text: String,
    /// A few words for the person, such as `120 lines` or `exit 1`.
    pub brief: String,
    /// Whether what was asked for went wrong: a command that ends with another code than 0.
    pub failed: bool,
    /// More for the person.
    pub detail: Option<Detail>,
    /// What is worth keeping of it where it is too long.
    pub kind: Text,
    /// Arguments with which a call that failed could succeed, if a person allows them.
    pub retry: Option<Value>,
    /// Protected files that are as they were before the call; a person may keep the change.
    pub put_back: Vec<PutBack>,
}

/// What kind of text a result is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Text {
    /// What a program said: lines that tell of errors matter most.
    #[default]
    Log,
    /// What somebody wrote, in which such words mean nothing: source, names, matches.
    Content,
}

/// What a person can look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A unified diff, without colours.
    Diff(String),
    Text(String),
}

/// What a tool wants of the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// A note on a board of memory.
    Track(Edit),
    /// A question thought through.
    Think(Thinking),
    /// Something kept beyond the turn, or looked up of it.
    Keep(Keeping),
    /// What long-term memory holds on something.
    Search {
        query: String,
        limit: usize,
        mode: crate::index::SearchMode,
    },
    /// Other tools in the next request, or the catalogue.
    Load {
        add: Vec<String>,
        remove: Vec<String>,
        query: Option<String>,
    },
}

impl Wish {
    /// Returns what it does to texts that outlive the turn, beside history.
    fn effect(&self) -> Effect {
        match self {
            Self::Track(_) => Effect::Keeps(PathBuf::new()),
            Self::Keep(keeping) => match keeping {
                Keeping::Add(_) | Keeping::Pin(_) | Keeping::Write { .. } => {
                    Effect::Keeps(PathBuf::new())
                }
                Keeping::Remove { .. } | Keeping::Unpin => Effect::Deletes(PathBuf::new()),
                Keeping::Get { .. } | Keeping::Search { .. } | Keeping::List { .. } => {
                    Effect::Nothing
                }
            },
            Self::Think(_) | Self::Load { .. } | Self::Search { .. } => Effect::Nothing,
        }
    }
}

/// How the result of a call begins to which the person said no.
pub const DECLINED: &str = "declined by the person";
/// And how that of one which nobody said no to.
pub const NOT_RUN: &str = "not run";

/// Why a call did nothing, or not what was asked: an answer to the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Arguments(String),
    #[error("{0}")]
    Failed(String),
    /// The person said no, perhaps why.
    #[error("{DECLINED}{}", why.as_ref().map_or_else(String::new, |why| format!(": {why}")))]
    Declined { why: Option<String> },
    /// It was not begun, and why.
    #[error("{NOT_RUN}: {0}")]
    NotRun(String),
    /// The person ended it.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    pub fn of(text: impl fmt::Display) -> Self {
        Self::Failed(text.to_string())
    }
}

impl Output {
    pub fn text(text: impl Into<String>, brief: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            brief: brief.into(),
            ..Self::default()
        }
    }

    /// Of files: what they hold, what they are called.
    pub fn content(text: impl Into<String>, brief: impl Into<String>) -> Self {
        Self {
            kind: Text::Content,
            ..Self::text(text, brief)
        }
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self::Output(output)
    }
}
