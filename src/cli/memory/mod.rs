//! `cogtrix memory`: what concerns the memory of many sessions at once. One file per subcommand.
//!
//! ```text
//!   import    messages from elsewhere -> sessions: read and checked whole, then written
//!   source    a file or stdin -> lines
//!   line      one line of such a file -> a message, or what is wrong with it
//!   batch     messages of a file by session, each id once
//! ```

mod batch;
mod import;
mod line;
mod source;

pub(super) use import::ImportError;

use super::args::{ChatArgs, MemoryCommand};
use super::report::{CliError, Exit};
use crate::term::Output;

pub(super) fn run(
    command: MemoryCommand,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    match command {
        MemoryCommand::Import { format, file } => import::run(format, &file, args, output),
    }
}
