//! `cogtrix memory reindex`: drops the indexes and makes them again from the history.

use super::sessions::{CaughtUp, Sessions, left_out};
use crate::chat::SessionName;
use crate::cli::args::ChatArgs;
use crate::cli::report::{CliError, Exit};
use crate::store::StoreError;
use crate::term::Output;

pub(super) async fn run(args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let mut sessions = Sessions::open(args, output)?;
    let names = match &args.session {
        Some(name) => vec![name.parse()?],
        None => sessions.names(output)?,
    };
    if names.is_empty() {
        output.notice("there is no session yet");
    }
    let mut exit = Exit::Ok;
    for name in &names {
        match reindex(&mut sessions, name, output).await {
            Ok(CaughtUp::Yes) => {}
            Ok(CaughtUp::No) => exit = Exit::Failed,
            Err(error) if args.session.is_some() => return Err(error),
            Err(error) => {
                output.warning(&left_out(name, &error));
                exit = Exit::Failed;
            }
        }
    }
    sessions.close();
    Ok(exit)
}

/// Makes the indexes of one session; tells whether they are complete.
async fn reindex(
    sessions: &mut Sessions,
    name: &SessionName,
    output: &mut Output,
) -> Result<CaughtUp, CliError> {
    let (volume, meaning) = sessions.volume(name, output)?;
    if !volume.is_ours() {
        return Err(StoreError::Locked {
            name: name.clone(),
            pid: None,
        }
        .into());
    }
    volume
        .index
        .drop_all(name)
        .map_err(|source| CliError::File {
            action: "remove the indexes of",
            path: name.as_str().into(),
            source,
        })?;
    // The words come first: what is found by them needs no embedder.
    let read = volume.index.catch_up(&volume.session).await;
    if read.is_none() {
        output.warning(&format!("the words of {name} could not be read"));
    }
    volume.index.keep_all();
    let caught_up = volume.catch_up(meaning, output).await;
    output.answer(&format!("{name}: {}", volume.standing(meaning)));
    Ok(caught_up)
}
