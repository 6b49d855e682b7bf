//! `cogtrix memory list|show|forget`: what memory holds, from outside of a chat; also while one is open. Unit: one run.

use std::sync::Arc;

use crate::agent::notebook::Captures;
use crate::chat::Timestamp;
use crate::cli::args::{ChatArgs, KeptFor};
use crate::cli::report::{CliError, Exit, report};
use crate::cli::{parts, toolbox, trust};
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::entries::{EntriesError, EntryStore, Scope};
use crate::files::Disk;
use crate::repl::holdings::{self, Extent, Front, Holdings};
use crate::store::FileStore;
use crate::term::Output;

/// What memory holds for the folder and session of this run.
pub(super) struct Owned {
    pub(super) entries: EntryStore,
    captures: Captures,
    store: FileStore,
    disk: Arc<dyn Disk>,
    config: Config,
    pub(super) now: Timestamp,
}

pub(super) fn list(
    all: bool,
    json: bool,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let owned = Owned::open(args, output)?;
    let held = owned.holdings();
    let extent = if all { Extent::All } else { Extent::Newest };
    let text = if json {
        format!("{:#}", held.json())
    } else {
        held.list(extent)
    };
    output.answer(&text);
    Ok(Exit::Ok)
}

pub(super) fn show(what: &str, args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let owned = Owned::open(args, output)?;
    output.answer(&owned.holdings().show(what)?);
    Ok(Exit::Ok)
}

/// Takes each of them back; one that cannot be keeps no other from it.
pub(super) fn forget(
    what: &[String],
    scope: Option<KeptFor>,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let mut owned = Owned::open(args, output)?;
    let scope = scope.map(|scope| match scope {
        KeptFor::Project => Scope::Project,
        KeptFor::Global => Scope::Global,
    });
    let (mut exit, mut gone) = (Exit::Ok, Vec::new());
    for name in what {
        // What said the same went with it, and that was told.
        if Holdings::is_among(name, &gone) {
            continue;
        }
        match owned.forget(name, scope, output) {
            Ok((told, also)) => {
                output.answer(&told);
                gone.extend(also);
            }
            Err(error) => exit = report(output, &error),
        }
    }
    Ok(exit)
}

impl Owned {
    pub(super) fn open(args: &ChatArgs, output: &mut Output) -> Result<Self, CliError> {
        let disk = parts::disk(args);
        let (config, inputs) = trust::look(args, disk.as_ref(), output)?;
        let disk = parts::disk_of_run(args, &config);
        let project = toolbox::project(args, &inputs)?;
        let (entries, notices) = parts::entries(&config, &project, Arc::clone(&disk));
        for notice in &notices {
            output.warning(notice);
        }
        Ok(Self {
            entries,
            captures: parts::captures(&config, &disk),
            store: parts::store(args, Arc::clone(&disk), &config),
            disk,
            config,
            now: SystemClock.now(),
        })
    }

    /// Puts what was changed on disk; what could not be written was not changed.
    pub(super) fn flush(&mut self, output: &mut Output) -> Result<(), EntriesError> {
        for result in self.entries.flush(self.now) {
            output.warning(&result?.to_string());
        }
        Ok(())
    }

    /// Tells of it, and which numbers went along.
    fn forget(
        &mut self,
        what: &str,
        scope: Option<Scope>,
        output: &mut Output,
    ) -> Result<(String, Vec<u64>), CliError> {
        if Holdings::is_number(what) {
            let taken = self.holdings().forget(what)?;
            return Ok((taken.told, taken.also));
        }
        let told = holdings::remove(
            &mut self.entries,
            (what, scope),
            Some(&self.captures),
            self.now,
        )?;
        self.flush(output)?;
        Ok((told, Vec::new()))
    }

    fn holdings(&self) -> Holdings<'_> {
        Holdings {
            entries: &self.entries,
            captures: self.captures.clone(),
            store: &self.store,
            disk: self.disk.as_ref(),
            data: &self.config.settings.data_dir,
            session: &self.config.settings.session,
            open: None,
            now: self.now,
            front: Front::Shell,
            has_further: !self.config.settings.memory.mem0.base_url.is_empty(),
        }
    }
}
