//! `cogtrix sessions`: list, show, delete.

use std::sync::Arc;

use super::args::{ChatArgs, SessionsCommand};
use super::parts;
use super::report::{CliError, Exit};
use super::trust;
use crate::chat::SessionName;
use crate::clock::{Clock, SystemClock};
use crate::index::session::keys_of;
use crate::index::vectors::let_go;
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
    let store = parts::store(args, Arc::clone(&disk), &config);
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
            let said = store.read(&name).map(|session| keys_of(&session));
            let trash = store.discard(&name, now)?;
            // Its words go with its folder.
            let gone = said.unwrap_or_default().into_iter().collect();
            let vectors = config.settings.data_dir.join("vectordb");
            if let Err(error) = let_go(&disk, &vectors, &gone, None) {
                output.warning(&format!("could not delete its vectors: {error}"));
            }
            output.answer(&format!("Session {name} moved to {}", trash.display()));
            let gone = workspace.discard_session(&name, now);
            if let Some(line) = listing::notes_gone(gone) {
                output.answer(&line);
            }
        }
    }
    Ok(Exit::Ok)
}
