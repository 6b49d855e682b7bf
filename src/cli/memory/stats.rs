//! `cogtrix memory stats`: what is kept of each session, and what of it is indexed.

use std::path::Path;

use super::sessions::{Sessions, left_out};
use crate::chat::Session;
use crate::cli::args::ChatArgs;
use crate::cli::report::{CliError, Exit};
use crate::files::Disk;
use crate::index::session;
use crate::repl::listing::count;
use crate::store::SessionStore;
use crate::term::{Align, Output, Table, thousands};

pub(super) async fn run(args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let sessions = Sessions::open(args, output).await?;
    let names = match &args.session {
        Some(name) => vec![name.parse()?],
        None => sessions.names(output)?,
    };
    if names.is_empty() {
        output.notice("No sessions yet");
        return Ok(Exit::Ok);
    }
    let mut table = Table::new([
        Align::Left,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Left,
        Align::Right,
    ]);
    table.row([
        "session",
        "messages",
        "turns",
        "summarised",
        "vectors",
        "index",
    ]);
    for name in &names {
        let session = match sessions.store.read(name) {
            Ok(session) => session,
            Err(error) if args.session.is_some() => return Err(error.into()),
            Err(error) => {
                output.warning(&left_out(name, &error));
                continue;
            }
        };
        let folder = sessions.parts.sessions().join(name.as_str());
        table.row(row(&session, &folder, sessions.parts.disk.as_ref()));
    }
    output.answer(table.render_whole(output.answer_columns()).trim_end());
    Ok(Exit::Ok)
}

fn row(session: &Session, folder: &Path, disk: &dyn Disk) -> [String; 6] {
    let files = disk.list(folder).unwrap_or_default();
    let bytes: u64 = files.iter().filter_map(|file| disk.size(file).ok()).sum();
    let made_by = session::meta(disk, folder).map_or_else(
        || "-".to_owned(),
        |meta| {
            let exchanges = count(session::exchanges(disk, folder), "exchange");
            format!("{exchanges} by {} ({})", meta.model, meta.dimension)
        },
    );
    [
        session.name().to_string(),
        thousands(session.messages().len()),
        thousands(session.turns().len()),
        thousands(session.hybrid().covered()),
        made_by,
        format!(
            "{} KB",
            thousands(usize::try_from(bytes.div_ceil(1024)).unwrap_or(usize::MAX))
        ),
    ]
}
