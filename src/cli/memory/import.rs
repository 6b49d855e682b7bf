//! `cogtrix memory import`: conversations from elsewhere become sessions.
//!
//! ```text
//!   file --read--> batch --check--> every session opened, nothing written --write--> one session after the other
//! ```
//! Invariant: nothing is written before the whole file was read and found right; a session is then written whole
//! or not at all. What is there already is left as it is, so that an import can be repeated.

use std::path::Path;
use std::time::Duration;

use super::batch::{Batch, Part};
use super::flaws::{Flaws, Unit};
use super::line;
use super::source::Source;
use crate::cli::args::ChatArgs;
use crate::cli::parts;
use crate::cli::report::{CliError, Exit};
use crate::cli::trust;
use crate::repl::listing;
use crate::store::{Opened, SessionStore, StoreError};
use crate::term::{Output, thousands};

/// Lines between one look at the progress and the next.
const LINES_A_STEP: usize = 1000;

pub(super) fn run(file: &Path, args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let disk = parts::disk(args);
    let (config, _) = trust::load_for_command(args, disk.as_ref(), output)?;
    let (_, store) = parts::disk_and_store(args, &config)?;
    let import = Import {
        from: Source::named(file),
        store: Box::new(store),
        lock_wait: config.settings.lock_wait,
    };
    let batch = import.read(output)?;
    import.check(&batch, output)?;
    let told = import.write(batch, output)?;
    output.answer(&told);
    Ok(Exit::Ok)
}

/// One import under way.
#[derive(Debug)]
struct Import {
    from: Source,
    store: Box<dyn SessionStore>,
    lock_wait: Duration,
}

impl Import {
    fn read(&self, output: &mut Output) -> Result<Batch, CliError> {
        let mut input = self.from.open()?;
        let mut batch = Batch::default();
        let mut flaws = Flaws::of(Unit::Line);
        let mut bytes = Vec::new();
        while input
            .next_line(&mut bytes)
            .map_err(|error| self.from.cannot_read(error))?
        {
            let taken = match line::parse(&bytes) {
                Ok(Some(read)) => batch.put(input.line(), read),
                Ok(None) => Ok(()),
                Err(flaw) => Err(flaw),
            };
            if let Err(flaw) = taken {
                flaws.add(input.line(), flaw);
            }
            if input.line().is_multiple_of(LINES_A_STEP) {
                output.progress(&input.progress(&self.from));
            }
        }
        output.end_progress();
        flaws.refuse(&self.from, output)?;
        Ok(batch)
    }

    /// Opens every session once, so that one that is open elsewhere or says something else stops the import
    /// while there is nothing to take back.
    fn check(&self, batch: &Batch, output: &mut Output) -> Result<(), CliError> {
        let mut flaws = Flaws::of(Unit::Line);
        for part in &batch.parts {
            let opened = self.open(part, output)?;
            for (line, flaw) in part.clashes(&opened.session) {
                flaws.add(line, flaw);
            }
        }
        flaws.refuse(&self.from, output)
    }

    /// Writes session after session; tells what came of it.
    fn write(&self, batch: Batch, output: &mut Output) -> Result<String, CliError> {
        let mut told = Told {
            there: batch.repeated,
            ..Told::default()
        };
        let parts = batch.parts.len();
        for (n, part) in (1..).zip(batch.parts) {
            output.progress(&format!("writing session {n} of {parts}: {}", part.session));
            let written = self.write_part(part, &mut told, output);
            output.end_progress();
            if let Err(error) = written {
                if told.sessions > 0 {
                    output.notice(&format!("Imported before that: {}", told.words(&self.from)));
                }
                return Err(error);
            }
        }
        Ok(told.words(&self.from))
    }

    fn write_part(&self, part: Part, told: &mut Told, output: &mut Output) -> Result<(), CliError> {
        let Opened {
            mut session,
            mut log,
            ..
        } = self.open(&part, output)?;
        if !part.clashes(&session).is_empty() {
            let name = part.session;
            return Err(StoreError::Changed { name }.into());
        }
        let (name, all) = (part.session.clone(), part.len());
        let new = part.new_messages(&session);
        let n = new.len();
        if n > 0 {
            session.import(new);
            log.rewrite(&session)?;
            told.sessions += 1;
        }
        told.messages += n;
        told.there += all - n;
        output.detail(&format!(
            "{name}: {} ({} already there)",
            listing::count(n, "message"),
            all - n
        ));
        Ok(())
    }

    fn open(&self, part: &Part, output: &mut Output) -> Result<Opened, CliError> {
        let opened = self.store.open(&part.session, self.lock_wait)?;
        for repair in &opened.repairs {
            output.warning(&format!("session {}: {repair}", part.session));
        }
        Ok(opened)
    }
}

/// What was done.
#[derive(Debug, Default)]
struct Told {
    messages: usize,
    sessions: usize,
    /// Messages that were there before, or came twice.
    there: usize,
}

impl Told {
    fn words(&self, from: &Source) -> String {
        match self {
            Self {
                messages: 0,
                there: 0,
                ..
            } => format!("No messages in {}", from.name()),
            Self {
                messages: 0, there, ..
            } => {
                format!("Nothing new: {} already there", were(*there))
            }
            Self {
                messages,
                sessions,
                there,
            } => format!(
                "{} into {} ({} already there)",
                listing::count(*messages, "message"),
                listing::count(*sessions, "session"),
                were(*there)
            ),
        }
    }
}

fn were(n: usize) -> String {
    let verb = if n == 1 { "was" } else { "were" };
    format!("{} {verb}", thousands(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_is_told_in_one_line() {
        let from = Source::named(Path::new("talk.jsonl"));
        for (messages, sessions, there, expected) in [
            (
                100_000,
                1,
                0,
                "100,000 messages into 1 session (0 were already there)",
            ),
            (1, 2, 1, "1 message into 2 sessions (1 was already there)"),
            (0, 0, 1_234, "Nothing new: 1,234 were already there"),
            (0, 0, 0, "No messages in talk.jsonl"),
        ] {
            let told = Told {
                messages,
                sessions,
                there,
            };
            assert_eq!(told.words(&from), expected);
        }
    }
}
