//! `/memory list|show|forget|why|edit|layers|paths`: what memory holds is the person's own.

use super::entries::{first, remove};
use super::{CommandError, Desk, Next, usage};
use crate::repl::desk::Writing;
use crate::repl::holdings::{Extent, Front, Holdings, HoldingsError};

/// What `/memory` takes first, beside a mode.
pub const WORDS: [(&str, &str); 13] = [
    ("list", "[all]: what is kept, and what was captured"),
    ("show", "N|ID|FILE: one of them whole"),
    ("forget", "N|ID: take it back"),
    ("why", "N|WORDS: which message put it here"),
    ("edit", "[FILE]: MEMORY.md, or another file, in your editor"),
    (
        "layers",
        "what stands for each layer of memory, its size and path",
    ),
    ("paths", "where everything is"),
    ("add", "[--global|--session] [KEY:] TEXT: keep a text"),
    ("get", "KEY|ID: show what is kept under it"),
    ("rm", "KEY|ID: take it away"),
    ("restore", "ID: bring back what was taken away"),
    ("search", "WORDS: look through what outlives sessions"),
    ("reindex", "read all of it again"),
];

/// Words behind which a file of the workspace may be named.
pub const FILES: [&str; 2] = ["edit", "show"];

/// Does what the words say; `None` where they are no words of this.
pub(super) fn run(desk: &mut Desk, arguments: &str) -> Option<Result<Next, CommandError>> {
    let (word, rest) = first(arguments);
    Some(match word {
        "list" => list(desk, rest),
        "show" => show(desk, rest),
        "forget" => forget(desk, rest),
        "why" => why(desk, rest),
        "edit" => edit(desk, rest),
        "layers" => layers(desk, rest),
        "paths" => bare("paths", rest).and_then(|()| answer(desk, |held| Ok(held.paths()))),
        _ => return None,
    })
}

fn list(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    let extent = match arguments {
        "" => Extent::Newest,
        "all" => Extent::All,
        _ => return Err(usage("memory", "list takes `all` or nothing")),
    };
    answer(desk, |held| held.list(extent))
}

fn show(desk: &mut Desk, name: &str) -> Result<Next, CommandError> {
    if name.is_empty() {
        return Err(usage("memory", "show wants a number, an id or a file"));
    }
    answer(desk, |held| held.show(name))
}

fn forget(desk: &mut Desk, name: &str) -> Result<Next, CommandError> {
    if name.is_empty() {
        return Err(usage("memory", "forget wants a number or an id"));
    }
    if Holdings::is_number(name) {
        desk.agent.entries_mut().refresh();
        let taken = holdings(desk)?.forget(name)?;
        let facts: Vec<&str> = taken.facts.iter().map(String::as_str).collect();
        let warning = desk.agent.drop_facts(&facts);
        return Ok(Next::with(taken.told, warning));
    }
    remove(desk, name)
}

fn why(desk: &mut Desk, asked: &str) -> Result<Next, CommandError> {
    if asked.is_empty() {
        return Err(usage("memory", "why wants a number or words"));
    }
    answer(desk, |held| held.why(asked))
}

fn edit(desk: &mut Desk, name: &str) -> Result<Next, CommandError> {
    let name = if name.is_empty() { "MEMORY.md" } else { name };
    let held = holdings(desk)?;
    match desk.places.writing {
        Writing::Kept => Ok(Next::Edit(held.draft(name)?)),
        Writing::Veiled => Err(HoldingsError::Private {
            path: held.path(name)?.display().to_string(),
        }
        .into()),
    }
}

fn layers(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    bare("layers", arguments)?;
    Next::answer(holdings(desk)?.layers()?)
}

fn bare(word: &str, rest: &str) -> Result<(), CommandError> {
    if rest.is_empty() {
        Ok(())
    } else {
        Err(usage("memory", format!("{word} takes no argument")))
    }
}

fn answer(
    desk: &mut Desk,
    asked: impl FnOnce(&Holdings<'_>) -> Result<String, HoldingsError>,
) -> Result<Next, CommandError> {
    desk.agent.entries_mut().refresh();
    Next::answer(asked(&holdings(desk)?)?)
}

fn holdings(desk: &Desk) -> Result<Holdings<'_>, CommandError> {
    let notebook = desk.agent.notebook();
    let notebook = notebook.ok_or_else(|| usage("memory", "has no files here"))?;
    let session = desk.session();
    Ok(Holdings {
        entries: desk.agent.entries(),
        captures: notebook.captures(),
        store: desk.store.as_ref(),
        disk: desk.places.disk.as_ref(),
        data: &desk.places.data,
        session: session.name(),
        open: Some(session),
        now: desk.now(),
        front: Front::Chat,
        has_further: desk.agent.has_further(),
    })
}
