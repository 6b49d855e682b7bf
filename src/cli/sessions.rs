//! `cogtrix sessions`: list, show, delete.

use super::args::{ChatArgs, SessionsCommand};
use super::parts;
use super::report::{CliError, Exit};
use super::trust;
use crate::chat::SessionName;
use crate::clock::{Clock, SystemClock};
use crate::repl::{listing, transcript};
use crate::store::SessionStore;
use crate::term::Output;

pub(super) fn run(
    command: Option<SessionsCommand>,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let disk = parts::disk(args);
    let (config, _) = trust::look(args, disk.as_ref(), output)?;
    let disk = parts::disk_of_run(args, &config);
    let workspace = parts::workspace(&config, &disk);
    let store = parts::store(args, disk, &config);
    let now = SystemClock.now();
    match command.unwrap_or(SessionsCommand::List) {
        SessionsCommand::List => {
            let columns = if output.is_interactive() {
                output.columns()
            } else {
                usize::MAX
            };
            output.answer(&listing::table(&store.list()?, None, now, columns));
        }
        SessionsCommand::Show { name } => {
            let session = store.read(&name.parse()?)?;
            let turns = session
                .turns()
                .iter()
                .map(|turn| transcript::turn(&session, turn));
            output.answer(&turns.collect::<Vec<_>>().join("\n\n"));
        }
        SessionsCommand::Delete { name } => {
            let name: SessionName = name.parse()?;
            let trash = store.discard(&name, now)?;
            output.answer(&format!("Session {name} moved to {}", trash.display()));
            let gone = workspace.discard_session(&name, now);
            if let Some(line) = listing::notes_gone(gone) {
                output.answer(&line);
            }
        }
    }
    Ok(Exit::Ok)
}
