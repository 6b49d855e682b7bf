//! `cogtrix memory`: what concerns the memory of many sessions at once. One file per subcommand.
//!
//! ```text
//!   owned       what memory holds: listed, shown, taken back         entries   entries to a file and from it
//!   import      messages from elsewhere -> sessions: read and checked whole, then written
//!   source      a file or stdin -> lines
//!   line        one line of such a file -> a message, or what is wrong with it
//!   flaws       what is wrong with a file, line by line
//!   batch       messages of a file by session, each id once
//!   search      a question, or a file of them -> messages of sessions
//!   everything  the same question to what outlives sessions, or to all there is
//!   reindex     history -> indexes; stats: what there is
//!   sessions    sessions opened for searching, each once
//! ```

mod batch;
mod entries;
mod everything;
mod flaws;
mod import;
mod line;
mod owned;
mod reindex;
mod search;
mod sessions;
mod source;
mod stats;

pub(super) use flaws::ImportError;

/// A line of a file to import: its session and message, nothing, or what is wrong with it and what to do.
#[cfg(any(test, feature = "testing"))]
pub fn import_line(line: &[u8]) -> Result<Option<(SessionName, Message)>, (String, String)> {
    let read = line::parse(line).map_err(|flaw| {
        let hint = flaw.hint().unwrap_or_default().into_owned();
        (flaw.to_string(), hint)
    })?;
    Ok(read.map(|line| (line.session, line.message)))
}

use super::args::{ChatArgs, ImportFormat, MemoryCommand};
use super::report::{CliError, Exit};
#[cfg(any(test, feature = "testing"))]
use crate::chat::{Message, SessionName};
#[cfg(any(test, feature = "testing"))]
use crate::hint::Hint;
use crate::repl::memory_view::History;
use crate::term::Output;

pub(super) async fn run(
    command: MemoryCommand,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    match command {
        MemoryCommand::List { all, json } => owned::list(all, json, args, output),
        MemoryCommand::Show { what } => owned::show(&what, args, output),
        MemoryCommand::Forget {
            what,
            scope,
            redact,
        } => {
            check_kept(args)?;
            let history = if redact {
                History::Redacted
            } else {
                History::Kept
            };
            owned::forget(&what, (scope, history), args, output).await
        }
        MemoryCommand::Export { format, file } => {
            entries::export(format, file.as_deref(), args, output)
        }
        MemoryCommand::Import {
            format: ImportFormat::Jsonl,
            global: false,
            file,
        } => import::run(&file, args, output),
        MemoryCommand::Import {
            format: ImportFormat::Jsonl,
            global: true,
            ..
        } => Err(CliError::Usage {
            problem: "--global only works with --format entries".to_owned(),
            hint: "remove --global",
        }),
        MemoryCommand::Import {
            format: ImportFormat::Entries,
            global,
            file,
        } => {
            check_kept(args)?;
            entries::import(&file, global, args, output)
        }
        MemoryCommand::Search(search) => search::run(&search, args, output).await,
        MemoryCommand::Reindex => reindex::run(args, output).await,
        MemoryCommand::Stats => stats::run(args, output).await,
    }
}

/// Refuses what would say that it was done and be gone with the run.
fn check_kept(args: &ChatArgs) -> Result<(), CliError> {
    if args.private {
        return Err(CliError::Usage {
            problem: "with --private nothing would be saved".to_owned(),
            hint: "remove --private",
        });
    }
    Ok(())
}
