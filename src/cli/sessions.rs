//! `cogtrix sessions`: list, show, fork, rename, delete, restore.

use std::time::Duration;

use super::args::{ChatArgs, SessionsCommand};
use super::parts;
use super::report::{CliError, Exit};
use super::trust;
use crate::chat::{SessionName, TurnId};
use crate::clock::{Clock, SystemClock};
use crate::config::Texts;
use crate::index::vectors::let_go;
use crate::memory::Backend;
use crate::repl::memory_view::Caller;
use crate::repl::sessions::{Sessions, renamed};
use crate::repl::{listing, transcript};
use crate::store::SessionStore;
use crate::term::Output;

pub(super) fn run(
    command: Option<SessionsCommand>,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let disk = parts::disk(args);
    let (config, inputs) = trust::look(args, disk.as_ref(), output)?;
    let (disk, store) = parts::disk_and_store(args, &config)?;
    let workspace = parts::workspace(&config, &disk);
    let now = SystemClock.now();
    let sessions = Sessions {
        store: &store,
        workspace: Some(&workspace),
        now,
        caller: Caller::Shell,
    };
    match command.unwrap_or(SessionsCommand::List) {
        SessionsCommand::List => {
            let columns = output.answer_columns();
            output.answer(&listing::table(&store.list()?, None, now, columns));
        }
        SessionsCommand::Show { name } => {
            let session = store.read(&name.parse()?)?;
            let turns = session.turns().iter();
            if output.is_interactive() {
                output.show_replies(config.settings.ui.replies());
                let blocks = turns.flat_map(|turn| transcript::blocks(&session, turn));
                for (index, block) in blocks.enumerate() {
                    let above = if index > 0 { "\n" } else { "" };
                    output.answer(&format!("{above}{}", block.heading));
                    if block.is_reply {
                        output.reply(&block.text);
                    } else {
                        output.answer(&block.text);
                    }
                }
            } else {
                let turns = turns.map(|turn| transcript::turn(&session, turn));
                output.answer(&turns.collect::<Vec<_>>().join("\n\n"));
            }
        }
        SessionsCommand::Fork { name, new, at } => {
            let (from, at) = (name.parse()?, at.map(TurnId));
            let session = store.read(&from)?;
            let texts = Texts::load(inputs.folders.config.as_deref())?;
            let mut memory = parts::memory(&config, &texts)?;
            let Some(mut fork) = memory.fork(&session, new.parse()?, at) else {
                return Err(CliError::Usage {
                    problem: format!("session {from} has no such turn"),
                    hint: "`cogtrix sessions show NAME` has the numbers",
                });
            };
            let (_, told) = sessions.keep_fork(&mut fork, &from, at)?;
            output.answer(&told);
        }
        SessionsCommand::Rename { name, new } => {
            let (from, to): (SessionName, SessionName) = (name.parse()?, new.parse()?);
            if !store.has(&from)? {
                return Err(store.missing(&from).into());
            }
            let mut opened = store.open(&from, Duration::ZERO)?;
            opened.log.rename(&opened.session, &to)?;
            opened.session.rename(to.clone());
            opened.log.checkpoint(&opened.session)?;
            let captures = parts::captures(&config, &disk);
            let lasts = config.settings.memory.backend != Backend::None;
            for problem in captures.rename(&from, &to, lasts, now) {
                output.warning(&problem);
            }
            output.answer(&renamed(&from, &to));
        }
        SessionsCommand::Restore { name, from } => {
            output.answer(&sessions.restore(&name.parse()?, from.as_deref())?);
        }
        SessionsCommand::Delete { name } => {
            // Its words go with its folder.
            let vectors = config.settings.data_dir.join("vectordb");
            let told = sessions.delete(&name.parse()?, |said| {
                let gone = let_go(&disk, &vectors, &said.into_iter().collect(), None);
                let error = gone.err()?;
                Some(format!("Could not delete its vectors: {error}"))
            })?;
            output.answer(&told);
        }
    }
    Ok(Exit::Ok)
}
