//! The three scopes together (G1): the session's in memory, the project's and the global one in files.
//!
//! The store looks at no clock and waits for nothing: whoever owns it says when it is, and when to
//! [`EntryStore::flush`].

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::StoreSettings;
use super::entry::{Entry, EntryId, Kind, Scope};
use super::error::{EntriesError, Recovered};
use super::file::File;
use super::list::{Applied, Change, Entries, New};
use super::lookup::{self, Found};
use super::project::hash;
use super::wanted::{Kept, Mask, Status, Wanted};
use crate::chat::Timestamp;
use crate::files::Disk;

/// Where files of entries are, and for which project.
#[derive(Clone, Debug)]
pub struct Folder {
    pub disk: Arc<dyn Disk>,
    /// `memory` in the data folder.
    pub path: PathBuf,
    /// The root of the project, as the system knows it.
    pub project: PathBuf,
}

/// All entries that a session sees.
#[derive(Debug)]
pub struct EntryStore {
    pub settings: StoreSettings,
    pub(super) mask: Mask,
    session: Entries,
    /// Project and global; none where nothing outlives a session.
    files: Vec<File>,
    is_on_disk: bool,
    /// The hash of the project.
    pub(super) project: Option<String>,
    revision: u64,
}

impl EntryStore {
    /// A store without files: what it keeps ends with the session.
    pub fn session_only(settings: StoreSettings, mask: Mask) -> Self {
        Self {
            settings,
            mask,
            session: Entries::default(),
            files: Vec::new(),
            is_on_disk: false,
            project: None,
            revision: 0,
        }
    }

    /// The files are read now. A damaged one is set aside, and what could be read of it written.
    pub fn open(
        folder: &Folder,
        settings: StoreSettings,
        mask: Mask,
        now: Timestamp,
    ) -> (Self, Vec<Result<Recovered, EntriesError>>) {
        let project = hash(&folder.project);
        let open = |name: String, scope, path| {
            let disk = Arc::clone(&folder.disk);
            let file = folder.path.join(name);
            File::new(disk, file, (scope, path), settings.max_entries, now)
        };
        let path = folder.project.display().to_string();
        let own = format!("projects/{project}.json");
        let mut files = vec![open(own, Scope::Project, Some(path))];
        if settings.allow_global {
            files.push(open("global.json".to_owned(), Scope::Global, None));
        }
        let mut store = Self {
            files,
            is_on_disk: true,
            project: Some(project),
            ..Self::session_only(settings, mask)
        };
        let mut notices = store.flush(now);
        notices.extend(store.files.iter().filter_map(File::problem).map(Err));
        (store, notices)
    }

    /// Files of entries, whether they are there or not.
    pub fn paths(&self) -> impl Iterator<Item = &std::path::Path> {
        self.files.iter().map(File::path)
    }

    /// Where an entry goes that is given no scope.
    pub fn usual_scope(&self) -> Scope {
        if self.is_on_disk {
            Scope::Project
        } else {
            Scope::Session
        }
    }

    /// Where an entry of this kind goes that is given no scope: preferences are the person's own, in every project.
    pub fn scope_of(&self, kind: Kind) -> Scope {
        if kind == Kind::Preference && self.is_on_disk && self.settings.allow_global {
            Scope::Global
        } else {
            self.usual_scope()
        }
    }

    /// Goes up whenever an entry changed, as far as that was seen.
    pub fn revision(&self) -> u64 {
        let files = self.files.iter().map(|file| file.revision);
        self.revision + files.sum::<u64>()
    }

    /// Takes in what others wrote meanwhile.
    pub fn refresh(&mut self) {
        for file in &mut self.files {
            file.refresh();
        }
    }

    /// Everything, session first, oldest first within a scope; as of the last look at the files.
    pub fn all(&self) -> impl Iterator<Item = (Scope, &Entry)> {
        let scopes = Scope::ALL.into_iter();
        scopes.flat_map(|scope| {
            let entries = self.entries(scope).into_iter().flat_map(Entries::iter);
            entries.map(move |entry| (scope, entry))
        })
    }

    /// What counts: of entries with one key that of the nearest scope (G1).
    pub fn in_force(&self) -> impl Iterator<Item = &Entry> {
        let mut keys = HashSet::new();
        let entries = self.all().map(|(_, entry)| entry);
        entries.filter(move |entry| entry.key.as_ref().is_none_or(|key| keys.insert(key)))
    }

    /// Keeps an entry. It is on disk after the next flush.
    pub fn add(
        &mut self,
        scope: Scope,
        wanted: &Wanted,
        now: Timestamp,
    ) -> Result<Kept, EntriesError> {
        self.check(scope)?;
        let (new, is_masked) = wanted.checked(scope, self.mask, now)?;
        let new = New {
            project: self.project.clone().filter(|_| scope == Scope::Project),
            ..new
        };
        let (status, entry, left) = match self.change(scope, Change::Add(new))? {
            Applied::Added { entry, left } => (Status::Added, entry, left),
            Applied::Updated(entry) => (Status::Updated, entry, 0),
            Applied::Unchanged(entry) | Applied::Removed(entry) | Applied::Restored(entry) => {
                (Status::Unchanged, entry, 0)
            }
            Applied::KeyTaken { key } => return Err(EntriesError::KeyTaken { key }),
            Applied::Missing => return Err(EntriesError::Empty),
        };
        Ok(Kept {
            scope,
            entry,
            status,
            is_masked,
            left,
        })
    }

    /// The entry with this id or key: of the session, or else the project, or else the global one.
    pub fn get(
        &mut self,
        name: &str,
        scope: Option<Scope>,
    ) -> Result<(Scope, Entry), EntriesError> {
        let found = self.named(name, scope)?.into_iter().next();
        found.ok_or_else(|| missing(name, scope))
    }

    /// Takes the entry with this id or key away; it can be brought back by its id. A key that is in several scopes
    /// needs one of them.
    pub fn remove(
        &mut self,
        name: &str,
        scope: Option<Scope>,
    ) -> Result<(Scope, Entry), EntriesError> {
        let mut found = self.named(name, scope)?;
        if found.len() > 1 {
            return Err(EntriesError::Ambiguous {
                name: name.to_owned(),
                found: found.into_iter().map(|(its, it)| (its, it.id)).collect(),
            });
        }
        let (scope, entry) = found.pop().ok_or_else(|| missing(name, scope))?;
        self.change(scope, Change::Remove(entry.id.clone()))?;
        Ok((scope, entry))
    }

    /// Forgets contents of entries for good, with what they said before and what could be brought back of them; tells
    /// the ids of those that had them. `left`: what is left of a content where something of it goes; an entry of which
    /// nothing is left goes. Those of other projects go at once; of this one it is on disk after the next flush.
    pub fn forget(
        &mut self,
        left: &dyn Fn(&Entry, &str) -> Option<String>,
        now: Timestamp,
    ) -> Result<BTreeSet<EntryId>, EntriesError> {
        let forget = |entries: &Entries, forgotten: &mut BTreeSet<EntryId>| {
            let contents = entries.contents().filter_map(|(entry, content)| {
                let left = left(entry, content)?;
                forgotten.insert(entry.id.clone());
                Some((content.to_owned(), left))
            });
            let contents: Vec<(String, String)> = contents.collect();
            (!contents.is_empty()).then_some(Change::Forget(contents))
        };
        self.refresh();
        let mut forgotten = BTreeSet::new();
        for scope in Scope::ALL {
            let change = self
                .entries(scope)
                .and_then(|entries| forget(entries, &mut forgotten));
            if let Some(change) = change {
                self.change(scope, change)?;
            }
        }
        let siblings = self.files.first().map(File::siblings).unwrap_or_default();
        for mut file in siblings {
            if let Some(change) = forget(file.entries(), &mut forgotten) {
                file.change(change)?;
                file.flush(now)?;
            }
        }
        Ok(forgotten)
    }

    /// Brings back what was taken away.
    pub fn restore(&mut self, name: &str) -> Result<(Scope, Entry), EntriesError> {
        self.refresh();
        let is_it = |entry: &&Entry| entry.id.as_str() == name;
        let mut scopes = Scope::ALL.into_iter();
        let scope = scopes.find(|scope| {
            let removed = self.entries(*scope).map_or(&[][..], Entries::removed);
            removed.iter().any(|entry| is_it(&entry))
        });
        let (scope, id) = scope
            .zip(EntryId::parse(name))
            .ok_or_else(|| missing(name, None))?;
        match self.change(scope, Change::Restore(id))? {
            Applied::Restored(entry) => Ok((scope, entry)),
            Applied::KeyTaken { key } => Err(EntriesError::KeyTaken { key }),
            Applied::Added { .. }
            | Applied::Updated(_)
            | Applied::Unchanged(_)
            | Applied::Removed(_)
            | Applied::Missing => Err(missing(name, None)),
        }
    }

    /// Entries that speak of what is asked, the best first (G14).
    pub fn lookup(&mut self, query: &str, scope: Option<Scope>, limit: usize) -> Vec<Found> {
        self.refresh();
        let entries = self.all();
        let entries = entries.filter(|(its, _)| scope.is_none_or(|scope| scope == *its));
        lookup::lookup(entries, query, limit)
    }

    /// Whether something is to be written.
    pub fn is_waiting(&self) -> bool {
        self.files.iter().any(File::is_waiting)
    }

    /// Writes what waits; what cannot be written waits on, and is said.
    pub fn flush(&mut self, now: Timestamp) -> Vec<Result<Recovered, EntriesError>> {
        let flushed = self.files.iter_mut().map(|file| file.flush(now));
        flushed.filter_map(Result::transpose).collect()
    }

    /// Forgets what was kept for the session.
    pub fn end_session(&mut self) {
        self.session = Entries::default();
        self.revision += 1;
    }

    /// Whether entries may be in a scope here.
    pub fn check(&self, scope: Scope) -> Result<(), EntriesError> {
        match scope {
            Scope::Project | Scope::Global if !self.is_on_disk => Err(EntriesError::NoFiles),
            Scope::Global if !self.settings.allow_global => Err(EntriesError::NoGlobal),
            Scope::Session | Scope::Project | Scope::Global => Ok(()),
        }
    }

    fn named(
        &mut self,
        name: &str,
        scope: Option<Scope>,
    ) -> Result<Vec<(Scope, Entry)>, EntriesError> {
        if let Some(scope) = scope {
            self.check(scope)?;
        }
        self.refresh();
        let name = name.trim();
        let scopes = Scope::ALL.into_iter();
        let scopes = scopes.filter(|its| scope.is_none_or(|scope| scope == *its));
        let found = scopes.filter_map(|scope| {
            let entry = self.entries(scope)?.named(name)?;
            Some((scope, entry.clone()))
        });
        Ok(found.collect())
    }

    pub(super) fn entries(&self, scope: Scope) -> Option<&Entries> {
        match scope {
            Scope::Session => Some(&self.session),
            Scope::Project => self.files.first().map(File::entries),
            Scope::Global => self.files.get(1).map(File::entries),
        }
    }

    pub(super) fn change(&mut self, scope: Scope, change: Change) -> Result<Applied, EntriesError> {
        let file = match scope {
            Scope::Session => {
                self.revision += 1;
                return Ok(self.session.apply(&change, self.settings.max_entries));
            }
            Scope::Project => self.files.first_mut(),
            Scope::Global => self.files.get_mut(1),
        };
        file.ok_or(EntriesError::NoFiles)?.change(change)
    }
}

fn missing(name: &str, scope: Option<Scope>) -> EntriesError {
    EntriesError::Missing {
        name: name.to_owned(),
        scope,
    }
}

#[cfg(test)]
mod tests;
