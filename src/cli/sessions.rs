//! `cogtrix sessions`: list, show, fork, rename, delete, restore.

use std::sync::Arc;
use std::time::Duration;

use super::args::{ChatArgs, SessionsCommand};
use super::parts;
use super::report::{CliError, Exit};
use super::{talk, trust};
use crate::chat::{SessionName, TurnId};
use crate::clock::{Clock, SystemClock};
use crate::config::Texts;
use crate::hint::chain;
use crate::index::session::keys_of;
use crate::index::vectors::let_go;
use crate::memory::Backend;
use crate::repl::commands::forked;
use crate::repl::{listing, transcript};
use crate::store::{SessionStore, StoreError};
use crate::term::Output;

pub(super) fn run(
    command: Option<SessionsCommand>,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let disk = parts::disk(args);
    let (config, inputs) = trust::look(args, disk.as_ref(), output)?;
    let disk = parts::disk_of_run(args, &config);
    let workspace = parts::workspace(&config, &disk);
    let store = parts::store(args, Arc::clone(&disk), &config);
    let now = SystemClock.now();
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
            let until = at.and(fork.meta().updated_at);
            fork.touch(now);
            store.keep_fork(&fork, &from)?;
            if let Err(error) = workspace.fork_session(&from, fork.name(), until) {
                output.warning(&chain(&error));
            }
            output.answer(&forked(&from, &fork, at));
        }
        SessionsCommand::Rename { name, new } => {
            let (from, to): (SessionName, SessionName) = (name.parse()?, new.parse()?);
            if !store.has(&from)? {
                return Err(StoreError::Missing { name: from }.into());
            }
            let mut opened = store.open(&from, Duration::ZERO)?;
            opened.log.rename(&opened.session, &to)?;
            opened.session.rename(to.clone());
            opened.log.checkpoint(&opened.session)?;
            let captures = parts::captures(&config, &disk);
            let lasts = config.settings.memory.backend != Backend::None;
            let noted = lasts.then(|| captures.receipts.rename(from.as_str(), to.as_str(), now));
            if let Some(Err(error)) = noted {
                output.warning(&chain(&error));
            }
            if let Err(error) = captures.workspace.rename_session(&from, &to) {
                output.warning(&chain(&error));
            }
            output.answer(&format!("Session {from} is now called {to}"));
        }
        SessionsCommand::Restore { name } => {
            let name: SessionName = name.parse()?;
            let from = store.restore(&name)?;
            if let Err(error) = workspace.restore_session(&name, &from) {
                output.warning(&format!("its notes stay in the trash: {}", chain(&error)));
            }
            output.answer(&format!("Session {name} is back"));
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
            output.answer(&format!(
                "Session {name} moved to {}; `cogtrix sessions restore {}` brings it back",
                trash.display(),
                talk::word(name.as_str())
            ));
            let gone = workspace.discard_session(&name, now);
            if let Some(line) = listing::notes_gone(gone) {
                output.answer(&line);
            }
        }
    }
    Ok(Exit::Ok)
}
