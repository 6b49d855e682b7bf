//! Entries from elsewhere, all of them or none.
//!
//! Invariant: what is there stays; the same import again changes nothing.

use super::entry::{Earlier, Entry, Scope};
use super::error::EntriesError;
use super::list::{Applied, Change};
use super::store::EntryStore;

/// What became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub added: usize,
    /// They were there with other words, or another past.
    pub updated: usize,
    pub unchanged: usize,
    /// Entries out of which a secret was taken.
    pub masked: usize,
}

impl EntryStore {
    /// Keeps entries that have their ids and times already, unless a scope has no room for all of them. On disk after
    /// the next flush.
    pub fn import(&mut self, entries: Vec<(Scope, Entry)>) -> Result<Imported, EntriesError> {
        self.refresh();
        let mut imported = Imported::default();
        let mut changes = Vec::with_capacity(entries.len());
        for (scope, entry) in entries {
            self.check(scope)?;
            let masked = self.masked(scope, &entry);
            imported.masked += usize::from(masked.content != entry.content.trim());
            changes.push((scope, Change::Put(Box::new(masked))));
        }
        self.check_room(&changes)?;
        for (scope, change) in changes {
            match self.change(scope, change)? {
                Applied::Added { .. } => imported.added += 1,
                Applied::Updated(_) => imported.updated += 1,
                Applied::Unchanged(_)
                | Applied::Removed(_)
                | Applied::Restored(_)
                | Applied::KeyTaken { .. }
                | Applied::Missing => imported.unchanged += 1,
            }
        }
        Ok(imported)
    }

    /// The entry as it may be kept in a scope: without secrets, of this project.
    fn masked(&self, scope: Scope, entry: &Entry) -> Entry {
        let mask = |text: &str| (self.mask)(text).into_owned();
        let mut masked = entry.clone();
        masked.content = mask(entry.content.trim());
        masked.key = entry.key.as_deref().map(mask);
        masked.tags = entry.tags.iter().map(|tag| mask(tag)).collect();
        let earlier = |it: &Earlier| Earlier {
            content: mask(&it.content),
            at: it.at,
        };
        masked.earlier = entry.earlier.iter().map(earlier).collect();
        masked.project = self.project.clone().filter(|_| scope == Scope::Project);
        masked
    }

    /// Refuses what would push others out.
    fn check_room(&self, changes: &[(Scope, Change)]) -> Result<(), EntriesError> {
        let max = self.settings.max_entries;
        for scope in Scope::ALL {
            let mut trial = self.entries(scope).cloned().unwrap_or_default();
            let (mut is_more, all) = (false, usize::MAX);
            for (_, change) in changes.iter().filter(|(its, _)| *its == scope) {
                is_more |= matches!(trial.apply(change, all), Applied::Added { .. });
            }
            let would = trial.len();
            if is_more && would > max {
                return Err(EntriesError::TooMany { scope, would, max });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::StoreSettings;
    use super::super::line::parse;
    use super::super::store::Folder;
    use super::super::wanted::Mask;
    use super::*;
    use crate::chat::Timestamp;
    use crate::files::MemoryDisk;
    use serde_json::json;

    fn now() -> Timestamp {
        Timestamp::from_unix(1_800_000_000).unwrap()
    }

    fn open(disk: &MemoryDisk, max_entries: usize) -> EntryStore {
        let folder = Folder {
            disk: Arc::new(disk.clone()),
            path: "/d/memory".into(),
            project: "/w".into(),
        };
        let settings = StoreSettings {
            max_entries,
            ..StoreSettings::default()
        };
        let mask: Mask = |text| text.replace("hunter2", "[secret]").into();
        EntryStore::open(&folder, settings, mask, now()).0
    }

    fn some(contents: &[&str]) -> Vec<(Scope, Entry)> {
        let entry = |content: &&str| parse(json!({"content": content}), now()).unwrap().1;
        contents
            .iter()
            .map(|it| (Scope::Project, entry(it)))
            .collect()
    }

    #[test]
    fn an_import_is_repeatable_and_keeps_no_secret() {
        let disk = MemoryDisk::default();
        let mut store = open(&disk, 10);
        let entries = some(&["the word is hunter2", "deploy uses fly.io"]);
        let first = store.import(entries.clone()).unwrap();
        assert_eq!((first.added, first.masked), (2, 1));
        assert!(store.flush(now()).is_empty());
        let files = disk.files();
        let again = open(&disk, 10).import(entries).unwrap();
        assert_eq!((again.added, again.updated, again.unchanged), (0, 0, 2));
        assert_eq!(disk.files(), files);
        assert!(!format!("{files:?}").contains("hunter2"));
    }

    #[test]
    fn what_would_push_others_out_is_refused_whole() {
        let disk = MemoryDisk::default();
        let mut store = open(&disk, 2);
        store.import(some(&["one"])).unwrap();
        let refused = store.import(some(&["two", "three"]));
        assert!(
            matches!(refused, Err(EntriesError::TooMany { would: 3, .. })),
            "{refused:?}"
        );
        assert_eq!(store.all().count(), 1);
        store.import(some(&["two", "one"])).unwrap();
        assert_eq!(store.all().count(), 2);
    }

    #[test]
    fn another_program_that_writes_meanwhile_loses_nothing() {
        let disk = MemoryDisk::default();
        let (mut one, mut other) = (open(&disk, 10), open(&disk, 10));
        one.import(some(&["from one"])).unwrap();
        other.import(some(&["from the other"])).unwrap();
        assert!(one.flush(now()).is_empty());
        assert!(other.flush(now()).is_empty());
        assert_eq!(open(&disk, 10).all().count(), 2);
    }
}
