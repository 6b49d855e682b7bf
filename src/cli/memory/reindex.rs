//! `cogtrix memory reindex`: drops the indexes and makes them again from the history.

use super::sessions::{CaughtUp, Sessions};
use crate::cli::args::ChatArgs;
use crate::cli::report::{CliError, Exit};
use crate::store::StoreError;
use crate::term::Output;

pub(super) async fn run(args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let mut sessions = Sessions::open(args, output)?;
    let names = match &args.session {
        Some(name) => vec![name.parse()?],
        None => sessions.names()?,
    };
    if names.is_empty() {
        output.notice("there is no session yet");
    }
    let mut exit = Exit::Ok;
    for name in &names {
        let volume = sessions.volume(name, output)?;
        if !volume.is_ours() {
            let locked = StoreError::Locked {
                name: name.clone(),
                pid: None,
            };
            if args.session.is_some() {
                return Err(locked.into());
            }
            output.warning(&format!("{name} was left alone"));
            exit = Exit::Failed;
            continue;
        }
        volume
            .shelf
            .drop_all(name)
            .map_err(|source| CliError::File {
                action: "remove the indexes of",
                path: name.as_str().into(),
                source,
            })?;
        // The words come first: what is found by them needs no embedder.
        let read = volume.shelf.catch_up(&volume.session).await;
        if read.is_none() {
            output.warning(&format!("the words of {name} could not be read"));
        }
        volume.shelf.keep_all();
        if volume.catch_up(output).await == CaughtUp::No {
            exit = Exit::Failed;
        }
        output.answer(&format!("{name}: {}", volume.standing()));
    }
    sessions.close();
    Ok(exit)
}
