//! `cogtrix memory`: what concerns the memory of many sessions at once. One file per subcommand.
//!
//! ```text
//!   import    messages from elsewhere -> sessions: read and checked whole, then written
//!   source    a file or stdin -> lines
//!   line      one line of such a file -> a message, or what is wrong with it
//!   batch     messages of a file by session, each id once
//!   search    a question, or a file of them -> messages
//!   notes     the same question to what outlives sessions
//!   reindex   history -> indexes; stats: what there is
//!   library   sessions opened for searching, each once
//! ```

mod batch;
mod import;
mod library;
mod line;
mod notes;
mod reindex;
mod search;
mod source;
mod stats;

pub(super) use import::ImportError;

use super::args::{ChatArgs, MemoryCommand};
use super::report::{CliError, Exit};
use crate::term::Output;

pub(super) async fn run(
    command: MemoryCommand,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    match command {
        MemoryCommand::Import { format, file } => import::run(format, &file, args, output),
        MemoryCommand::Search(search) => search::run(&search, args, output).await,
        MemoryCommand::Reindex => reindex::run(args, output).await,
        MemoryCommand::Stats => stats::run(args, output),
    }
}
