//! `cogtrix memory reindex`: drops the indexes and makes them again from the history.

use std::collections::HashSet;

use super::sessions::{CaughtUp, Sessions, left_out};
use crate::chat::SessionName;
use crate::cli::args::ChatArgs;
use crate::cli::report::{CliError, Exit};
use crate::clock::{Clock, SystemClock};
use crate::index::vectors::Key;
use crate::store::StoreError;
use crate::term::Output;

pub(super) async fn run(args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let mut sessions = Sessions::open(args, output).await?;
    let names = match &args.session {
        Some(name) => vec![name.parse()?],
        None => sessions.names(output)?,
    };
    if names.is_empty() {
        output.notice("No sessions yet");
    }
    let mut exit = Exit::Ok;
    let mut keys = HashSet::new();
    for name in &names {
        match reindex(&mut sessions, name, &mut keys, output).await {
            Ok(CaughtUp::Yes) => {}
            Ok(CaughtUp::No) => exit = Exit::Failed,
            Err(error) if args.session.is_some() => return Err(error),
            Err(error) => {
                output.warning(&left_out(name, &error));
                exit = Exit::Failed;
            }
        }
    }
    if args.session.is_none() && exit == Exit::Ok {
        forget_others(args, &mut sessions, keys, output).await?;
    }
    sessions.close();
    Ok(exit)
}

/// Lets go of the vectors of what is neither said nor kept any more.
async fn forget_others(
    args: &ChatArgs,
    sessions: &mut Sessions,
    mut keys: HashSet<Key>,
    output: &mut Output,
) -> Result<(), CliError> {
    let (mut index, _) = sessions.index(args)?;
    let (_, troubles) = index.refresh(SystemClock.now()).await;
    keys.extend(index.keys());
    // What could not be read may be there still.
    if troubles.is_empty()
        && let Err(error) = sessions.meaning().retain(|key| keys.contains(&key))
    {
        output.warning(&format!("could not remove old vectors: {error}"));
    }
    Ok(())
}

/// Makes the indexes of one session; tells whether they are complete.
async fn reindex(
    sessions: &mut Sessions,
    name: &SessionName,
    keys: &mut HashSet<Key>,
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
        output.warning(&format!("could not index the words of {name}"));
    }
    volume.index.keep_all();
    keys.extend(volume.index.keys(&volume.session).iter().copied());
    let caught_up = volume.catch_up(meaning, output).await;
    output.answer(&format!("{name}: {}", volume.standing(meaning)));
    Ok(caught_up)
}
