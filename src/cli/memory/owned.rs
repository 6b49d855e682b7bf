//! `cogtrix memory list|show|forget`: what memory holds, from outside of a chat; also while one is open. Unit: one run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::sessions::Sessions;
use crate::agent::long_term::Captures;
use crate::chat::Timestamp;
use crate::cli::args::{ChatArgs, KeptFor};
use crate::cli::report::{CliError, Exit};
use crate::cli::{parts, toolbox, trust};
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::files::Disk;
use crate::index::EntryText;
use crate::index::vectors::Key;
use crate::long_term::entries::{EntriesError, EntryStore, Scope};
use crate::repl::memory_view::{Caller, Extent, Found, History, MemoryView};
use crate::store::FileStore;
use crate::term::Output;

/// What memory holds for the folder and session of this run.
pub(super) struct Owned {
    pub(super) entries: EntryStore,
    captures: Captures,
    store: FileStore,
    disk: Arc<dyn Disk>,
    config: Config,
    line_history: Option<PathBuf>,
    pub(super) now: Timestamp,
}

pub(super) fn list(
    all: bool,
    json: bool,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let owned = Owned::open(args, output)?;
    let held = owned.memory_view();
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
    output.answer(&owned.memory_view().show(what)?);
    Ok(Exit::Ok)
}

/// Forgets what the words name, or lists what they may mean.
pub(super) async fn forget(
    what: &[String],
    (scope, history): (Option<KeptFor>, History),
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let mut owned = Owned::open(args, output)?;
    let scope = scope.map(|scope| match scope {
        KeptFor::Project => Scope::Project,
        KeptFor::Global => Scope::Global,
    });
    let mut chosen = match owned.memory_view().find(&what.join(" "), scope, history)? {
        Found::One(chosen) => chosen,
        Found::Several(listed) => {
            output.answer(&listed);
            return Ok(Exit::Failed);
        }
    };
    let sessions = Sessions::open(args, output).await?;
    let (mut index, _) = sessions.index(args)?;
    index.refresh(owned.now).await;
    let mut keys: BTreeSet<Key> = index.keys().into_iter().collect();
    owned.memory_view().settle(&mut chosen);
    let entries = chosen.forget_entries(&mut owned.entries, owned.now)?;
    owned.flush(output)?;
    let mut gone = owned.memory_view().forget(&chosen, history)?;
    gone.also_from(&[], entries);
    keys.extend(std::mem::take(&mut gone.keys));
    index.set_entries(owned.entries.in_force().map(EntryText::from));
    index.let_go_of_texts(keys, owned.now).await;
    let verbosity = output.policy().verbosity;
    let told = owned.memory_view().told(&chosen, &gone, history, verbosity);
    output.answer(&told);
    Ok(if chosen.problems.is_empty() {
        Exit::Ok
    } else {
        Exit::Failed
    })
}

impl Owned {
    pub(super) fn open(args: &ChatArgs, output: &mut Output) -> Result<Self, CliError> {
        let disk = parts::disk(args);
        let (config, inputs) = trust::look(args, disk.as_ref(), output)?;
        let (disk, store) = parts::disk_and_store(args, &config)?;
        let project = toolbox::project(args, &inputs)?;
        let (entries, notices) = parts::entries(&config, &project, Arc::clone(&disk));
        for notice in &notices {
            output.warning(notice);
        }
        Ok(Self {
            entries,
            captures: parts::captures(&config, &disk),
            store,
            disk,
            config,
            line_history: inputs.folders.line_history(),
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

    fn memory_view(&self) -> MemoryView<'_> {
        MemoryView {
            entries: &self.entries,
            captures: self.captures.clone(),
            store: &self.store,
            disk: self.disk.as_ref(),
            data: &self.config.settings.data_dir,
            line_history: self.line_history.as_deref(),
            session: &self.config.settings.session,
            open: None,
            now: self.now,
            caller: Caller::Shell,
            has_external: !self.config.settings.memory.mem0.base_url.is_empty(),
        }
    }
}
