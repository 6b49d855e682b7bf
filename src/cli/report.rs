//! Errors at the edge: what failed, what to do, and the exit code.

use std::borrow::Cow;
use std::error::Error;
use std::io;
use std::iter::successors;
use std::path::PathBuf;
use std::process::ExitCode;

use rustix::io::Errno;

use super::memory::ImportError;
use crate::chat::{BadName, SessionName};
use crate::config::{ConfigError, TextError};
use crate::embed::{InstallError, NoEmbedder};
use crate::hint::{Hint, chain};
use crate::index::BadLists;
use crate::long_term::entries::EntriesError;
use crate::memory::BadCues;
use crate::memory::BadMode;
use crate::memory::BadRecoveryCues;
use crate::net::NetError;
use crate::provider::ProviderError;
use crate::repl::edit::EditError;
use crate::repl::memory_view::{Caller, MemoryViewError, entries_hint};
use crate::repl::repl_context::ReadOnly;
use crate::store::{StoreError, Unwritable};
use crate::term::{Output, OutputError};

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Ok = 0,
    /// A provider or something at run time.
    Failed = 1,
    /// Arguments or configuration.
    Usage = 2,
    /// No model answered.
    NoModel = 3,
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Whatever ends the program before or beside a turn.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Text(#[from] TextError),
    #[error(transparent)]
    Name(#[from] BadName),
    #[error(transparent)]
    Mode(#[from] BadMode),
    #[error(transparent)]
    Cues(#[from] BadCues),
    #[error(transparent)]
    Recovery(#[from] BadRecoveryCues),
    #[error("cannot use {file}")]
    Lists {
        file: String,
        #[source]
        source: BadLists,
    },
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    MemoryView(#[from] MemoryViewError),
    #[error(transparent)]
    Entries(#[from] EntriesError),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    ReadOnly(#[from] ReadOnly),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// An address or a key of another server than a model's.
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(transparent)]
    Embedder(#[from] NoEmbedder),
    #[error(transparent)]
    Install(#[from] InstallError),
    /// A server that cannot be used, or a call without a result.
    #[error("{problem}")]
    #[cfg(feature = "mcp")]
    Mcp { problem: String },
    #[error("cannot {action} {}", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write {}", path.display())]
    ConfigFile {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot use {} as the data folder", path.display())]
    DataFolder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("session not saved")]
    NotSaved {
        #[source]
        source: StoreError,
    },
    /// The data folder takes nothing.
    #[error("session not saved in {}: {}", folder.display(), unwritable.why())]
    Unwritable {
        folder: PathBuf,
        unwritable: Unwritable,
        /// It was said at the start, with what to do about it.
        was_warned_at_start: bool,
    },
    #[error("{problem}")]
    Usage { problem: String, hint: &'static str },
    #[error("unknown command {word:?}")]
    NearCommand { word: String, command: String },
    #[error("cannot start")]
    Runtime {
        #[source]
        source: io::Error,
    },
    #[error("cannot find the working folder")]
    NoWorkingFolder {
        #[source]
        source: io::Error,
    },
    #[error("{how}; your message is saved in session {session}")]
    NoModel { how: String, session: SessionName },
    #[error("no session to resume")]
    NothingToResume,
    #[error("unknown tool {name}")]
    UnknownTool {
        name: String,
        near: Option<String>,
        known: Vec<String>,
    },
}

impl CliError {
    fn exit(&self) -> Exit {
        match self {
            Self::Config(_)
            | Self::Text(_)
            | Self::Name(_)
            | Self::Mode(_)
            | Self::Cues(_)
            | Self::Recovery(_)
            | Self::UnknownTool { .. }
            | Self::Lists { .. }
            | Self::Net(_)
            | Self::Usage { .. }
            | Self::NearCommand { .. }
            | Self::NothingToResume
            | Self::Install(InstallError::Setup(_))
            | Self::Provider(ProviderError::Setup { .. }) => Exit::Usage,
            Self::NoModel { .. } => Exit::NoModel,
            Self::Provider(error) if error.is_no_answer() => Exit::NoModel,
            Self::Import(_)
            | Self::MemoryView(_)
            | Self::Entries(_)
            | Self::Edit(_)
            | Self::Store(_)
            | Self::ReadOnly(_)
            | Self::Provider(_)
            | Self::Embedder(_)
            | Self::Install(_)
            | Self::File { .. }
            | Self::ConfigFile { .. }
            | Self::DataFolder { .. }
            | Self::NotSaved { .. }
            | Self::Unwritable { .. }
            | Self::Runtime { .. }
            | Self::NoWorkingFolder { .. } => Exit::Failed,
            #[cfg(feature = "mcp")]
            Self::Mcp { .. } => Exit::Failed,
        }
    }
}

/// Says what to do about a data folder that cannot be used.
pub(super) const USABLE_FOLDER: &str =
    "make it a folder that you can read and write, or choose another with --data-dir";

impl Hint for CliError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Config(error) => error.hint(),
            Self::Text(error) => error.hint(),
            Self::Name(error) => error.hint(),
            Self::Mode(error) => error.hint(),
            Self::Cues(error) => error.hint(),
            Self::Recovery(_) => Some("fix the file in the config folder, or move it away".into()),
            Self::Import(error) => error.hint(),
            Self::MemoryView(error) => error.hint_for(Caller::Shell),
            Self::Entries(error) => entries_hint(error, Caller::Shell),
            Self::Edit(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Provider(error) => error.hint(),
            Self::Net(error) => error.hint(),
            Self::Embedder(error) => error.hint(),
            Self::Install(error) => error.hint(),
            Self::Usage { hint, .. } => Some((*hint).into()),
            Self::NoWorkingFolder { .. } => {
                Some("it was removed or is not accessible; `cd` to another folder".into())
            }
            Self::NotSaved { source } => source.hint(),
            Self::Unwritable {
                was_warned_at_start: true,
                ..
            } => None,
            Self::Unwritable { unwritable, .. } => Some(unwritable.remedy().into()),
            Self::ConfigFile { .. } => Some("choose another file: `cogtrix -c FILE init`".into()),
            Self::DataFolder { .. } => Some(USABLE_FOLDER.into()),
            Self::NearCommand { command, .. } => {
                let question = "to ask it as a question, quote it or put `--` before it";
                Some(format!("did you mean `cogtrix {command}`? {question}").into())
            }
            Self::NothingToResume => {
                Some("run `cogtrix` to start one; `--last` includes one-shot questions".into())
            }
            Self::UnknownTool { near, known, .. } => {
                let near = near
                    .as_ref()
                    .map_or(String::new(), |near| format!("did you mean {near}? "));
                Some(format!("{near}available: {}", known.join(", ")).into())
            }
            Self::Lists { .. } => {
                Some("fix the file, or move it away to use the built-in lists".into())
            }
            #[cfg(feature = "mcp")]
            Self::Mcp { .. } => None,
            Self::ReadOnly(error) => error.hint(),
            Self::File { source, .. } if source.kind() == io::ErrorKind::NotConnected => {
                Some("start the program that reads it first".into())
            }
            // One of ours says that there is no folder for the file.
            Self::File { source, .. }
                if source.kind() == io::ErrorKind::NotADirectory && source.get_ref().is_some() =>
            {
                Some("create its folder first".into())
            }
            Self::File { action, .. } if *action == "write" => Some("choose another file".into()),
            Self::NoModel { .. } | Self::File { .. } | Self::Runtime { .. } => None,
        }
    }
}

/// Prints an error with its causes and its hint.
pub(super) fn report(output: &mut Output, error: &CliError) -> Exit {
    let hint = if causes(error).any(is_out_of_files) {
        Some("raise the limit on open files with `ulimit -n 1024`".into())
    } else {
        error.hint()
    };
    output.error(&chain(error), hint.as_deref());
    error.exit()
}

/// An error and what caused it.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(Some(error), |&error| error.source())
}

/// Tells whether no further file could be opened: the process has too many of them, or the system has.
pub(super) fn is_out_of_files(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    let errno = error.and_then(Errno::from_io_error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE))
}

/// Ends the output. A reader who had enough is no failure; a full disk behind stdout is.
pub(super) fn last_words(output: Output, exit: Exit) -> Exit {
    match (output.finish(), exit) {
        (Err(OutputError::Failed(_)), Exit::Ok) => Exit::Failed,
        (Err(OutputError::Failed(_) | OutputError::Closed) | Ok(()), exit) => exit,
    }
}
