//! `cogtrix memory export` and `import --format entries`: entries as lines of a file. Unit: one file.
//!
//! Invariant: nothing is kept before the whole file was read and found right; what is there stays, so that an import
//! can be repeated.

use std::path::Path;

use serde_json::Value;

use super::flaws::{Flaws, Unit};
use super::owned::Owned;
use super::source::Source;
use crate::cli::args::{ChatArgs, ExportFormat};
use crate::cli::report::{CliError, Exit};
use crate::files::{Existing, write_for_person};
use crate::long_term::entries::{self, BadEntry, Imported, Scope};
use crate::term::{Output, thousands};

/// A larger file is none of entries.
const MAX_BYTES: u64 = 64 << 20;

pub(super) fn export(
    ExportFormat::Entries: ExportFormat,
    file: Option<&Path>,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let owned = Owned::open(args, output)?;
    let all = owned.entries.all();
    let lines: Vec<String> = all
        .map(|(scope, entry)| entries::written(scope, entry) + "\n")
        .collect();
    let text = lines.concat();
    match file.filter(|file| file.as_os_str() != "-") {
        None => output.answer(&text),
        Some(path) => {
            let written = write_for_person(path, text.as_bytes(), Existing::Stays);
            written.map_err(|source| CliError::File {
                action: "write",
                path: path.to_owned(),
                source,
            })?;
            output.notice(&format!(
                "{} written to {}",
                number(lines.len()),
                path.display()
            ));
        }
    }
    Ok(Exit::Ok)
}

pub(super) fn import(
    file: &Path,
    global: bool,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let from = Source::named(file);
    let bytes = from.whole(MAX_BYTES)?;
    let mut owned = Owned::open(args, output)?;
    let (unit, objects) = objects(&bytes);
    let mut flaws = Flaws::of(unit);
    let mut wanted = Vec::new();
    for (place, read) in objects {
        match read.and_then(|stored| entries::parse(stored, owned.now)) {
            Ok((said, entry)) => wanted.push((scope(said, global), entry)),
            Err(flaw) => flaws.add(place, flaw),
        }
    }
    flaws.refuse(&from, output)?;
    let imported = owned.entries.import(wanted)?;
    owned.flush(output)?;
    if imported.masked > 0 {
        output.notice(&format!(
            "Secrets were removed from {}",
            number(imported.masked)
        ));
    }
    output.answer(&told(imported, &from));
    Ok(Exit::Ok)
}

/// What a session kept for itself goes to the project: its session is not here.
fn scope(said: Option<Scope>, global: bool) -> Scope {
    match said {
        _ if global => Scope::Global,
        Some(Scope::Global) => Scope::Global,
        Some(Scope::Project | Scope::Session) | None => Scope::Project,
    }
}

/// Something that should be an entry, and where it stands.
type Read = (usize, Result<Value, BadEntry>);

/// Each object with its line, or its number in a file of entries; blank lines are passed over.
fn objects(bytes: &[u8]) -> (Unit, Vec<Read>) {
    match entries::document(bytes) {
        Some(Ok(stored)) => (Unit::Entry, (1..).zip(stored.into_iter().map(Ok)).collect()),
        Some(Err(flaw)) => (Unit::Line, vec![(1, Err(flaw))]),
        None => {
            let lines = (1..).zip(bytes.split(|byte| *byte == b'\n'));
            let full = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
            let read = full.map(|(number, line)| (number, object(line)));
            (Unit::Line, read.collect())
        }
    }
}

fn object(line: &[u8]) -> Result<Value, BadEntry> {
    serde_json::from_slice(line).map_err(|error| BadEntry::NotJson {
        problem: super::line::problem(&error),
    })
}

fn told(imported: Imported, from: &Source) -> String {
    let Imported {
        added,
        updated,
        unchanged,
        ..
    } = imported;
    match added + updated + unchanged {
        0 => format!("No entries in {}", from.name()),
        _ => format!(
            "{} added, {} updated, {} unchanged",
            number(added),
            thousands(updated),
            thousands(unchanged)
        ),
    }
}

fn number(n: usize) -> String {
    let noun = if n == 1 { "entry" } else { "entries" };
    format!("{} {noun}", thousands(n))
}
