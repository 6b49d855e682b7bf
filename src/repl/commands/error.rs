//! Errors of commands, and hints to the person.

use std::borrow::Cow;
use std::io::ErrorKind;

use super::{find, servers};
use crate::agent::{CannotPin, NoTurn};
use crate::chat::{BadName, NotWritten, SessionName};
use crate::hint::Hint;
use crate::long_term::entries::EntriesError;
use crate::memory::BadMode;
use crate::memory::tracking::CannotEdit;
use crate::provider::{CONNECT, ProviderError};
use crate::repl::memory_view::{Caller, MemoryViewError, entries_hint};
use crate::repl::repl_context::ReadOnly;
use crate::store::StoreError;
use crate::tools::files::ChangesError;
use crate::tools::mcp::UnknownServer;
use crate::tools::{ApprovalsError, UnknownTool};

/// An error of a command, which did nothing.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("unknown command /{name}")]
    Unknown {
        name: String,
        near: Vec<String>,
        /// Set where the line could be a message.
        is_line: bool,
    },
    #[error("/{0} has to wait until you answer")]
    QuestionWaits(&'static str),
    /// The command was typed as it should be, and cannot be done.
    #[error("{problem}")]
    Cannot {
        problem: Cow<'static, str>,
        hint: Option<&'static str>,
    },
    #[error("/{name} {problem}")]
    Usage {
        name: &'static str,
        problem: String,
        usage: Cow<'static, str>,
    },
    #[error(transparent)]
    Mode(#[from] BadMode),
    #[error(transparent)]
    Name(#[from] BadName),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    ReadOnly(#[from] ReadOnly),
    #[error(transparent)]
    Model(#[from] ProviderError),
    #[error(transparent)]
    NoTurn(#[from] NoTurn),
    #[error(transparent)]
    Edit(#[from] CannotEdit),
    #[error(transparent)]
    Entries(#[from] EntriesError),
    #[error(transparent)]
    MemoryView(#[from] MemoryViewError),
    #[error(transparent)]
    Pin(#[from] CannotPin),
    #[error(transparent)]
    Scratchpad(#[from] NotWritten),
    #[error(transparent)]
    Tool(#[from] UnknownTool),
    #[error(transparent)]
    Server(#[from] UnknownServer),
    #[error(transparent)]
    Approvals(#[from] ApprovalsError),
    #[error(transparent)]
    Changes(#[from] ChangesError),
    #[error("no session {name}")]
    NoSession {
        name: SessionName,
        near: Option<SessionName>,
    },
    #[error("/{0} needs a model, and none is connected")]
    NeedsModel(&'static str),
    #[error("no such reply")]
    NoReply,
    #[error("no replies yet")]
    NoReplies,
    #[error("cannot write {path}")]
    Export {
        path: String,
        #[source]
        source: std::io::Error,
    },
}

impl CommandError {
    /// Where a line cannot be sent as a message, nobody is told how.
    pub(super) fn of_no_message(self) -> Self {
        match self {
            Self::Unknown { name, near, .. } => Self::Unknown {
                name,
                near,
                is_line: false,
            },
            other => other,
        }
    }
}

impl Hint for CommandError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Unknown { near, is_line, .. } => {
                let near: Vec<String> = near.iter().map(|name| format!("/{name}")).collect();
                let mut hint = match near.as_slice() {
                    [] => "`/help` lists commands".to_owned(),
                    near => format!("did you mean {}?", near.join(" or ")),
                };
                if *is_line {
                    hint.push_str(if near.is_empty() { "; to" } else { " To" });
                    hint.push_str(" send the line as a message, put a space before the /");
                }
                Some(hint.into())
            }
            Self::Usage { name, usage, .. } => Some(
                format!("usage: /{name} {usage}")
                    .trim_end()
                    .to_owned()
                    .into(),
            ),
            Self::Mode(error) => error.hint(),
            Self::Name(error) => error.hint(),
            Self::NoSession {
                name,
                near: Some(near),
            } => Some(format!("did you mean {near}? `/new {name}` starts it").into()),
            Self::NoSession { name, near: None } => {
                Some(format!("`/new {name}` starts it; `/sessions` lists all").into())
            }
            Self::NeedsModel(_) => Some(CONNECT.into()),
            Self::Store(StoreError::Missing { near, .. }) => {
                let near = near.as_ref().map_or(String::new(), |near| format!("did you mean {near}? "));
                Some(format!("{near}`/sessions` lists them").into())
            }
            Self::Store(StoreError::InTheWay { name }) => Some(
                format!("rename that one first (`/rename` in {name}), then restore again").into(),
            ),
            Self::Store(StoreError::NotInTrash { times, .. }) if times.is_empty() => {
                Some("`/sessions restore` lists what was deleted".into())
            }
            Self::Store(error) => error.hint(),
            Self::Model(error) => error.hint(),
            Self::Pin(_) => Some("`/pin` lists them, `/unpin N` removes one".into()),
            Self::Entries(error) => entries_hint(error, Caller::Chat),
            Self::MemoryView(error) => error.hint(),
            Self::QuestionWaits(_) => Some(
                "commands that only show something still work, such as /context, /memory list, /search, /diff".into(),
            ),
            Self::NoReply => Some("`/history` shows them".into()),
            Self::Cannot { hint, .. } => hint.map(Cow::from),
            Self::ReadOnly(error) => error.hint(),
            Self::NoTurn(error) => error.hint(),
            Self::Changes(_) | Self::Scratchpad(_) | Self::NoReplies => None,
            Self::Edit(error) => error.hint(),
            Self::Tool(_) => Some("`/tools` lists them".into()),
            Self::Server(UnknownServer { known, .. }) => Some(
                if known.is_empty() {
                    servers::NONE.to_owned()
                } else {
                    format!("available: {}", known.join(", "))
                }
                .into(),
            ),
            Self::Approvals(error) => error.hint(),
            Self::Export { source, .. } => Some(
                match source.kind() {
                    ErrorKind::NotADirectory => "create its folder first",
                    ErrorKind::PermissionDenied | ErrorKind::NotFound => "choose another folder",
                    _ => "choose another path; existing files are never overwritten",
                }
                .into(),
            ),
        }
    }
}

/// Refuses a command that was typed as it should be.
pub(super) fn cannot(
    problem: impl Into<Cow<'static, str>>,
    hint: impl Into<Option<&'static str>>,
) -> CommandError {
    CommandError::Cannot {
        problem: problem.into(),
        hint: hint.into(),
    }
}

/// Refuses the arguments of a command that takes none.
pub(super) fn nothing(name: &'static str, arguments: &str) -> Result<(), CommandError> {
    if arguments.is_empty() {
        Ok(())
    } else {
        Err(usage(name, "takes no arguments"))
    }
}

pub(super) fn usage(name: &'static str, problem: impl Into<String>) -> CommandError {
    let usage = find(name).map_or("", |command| command.arguments);
    usage_as(name, problem, usage)
}

/// The same with the usage of a part of the command.
pub(super) fn usage_as(
    name: &'static str,
    problem: impl Into<String>,
    usage: impl Into<Cow<'static, str>>,
) -> CommandError {
    CommandError::Usage {
        name,
        problem: problem.into(),
        usage: usage.into(),
    }
}
