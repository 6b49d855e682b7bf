//! The entries of one scope. A change is a value that can be applied to whatever entries there are: to those in memory,
//! and again to those on disk when they are written.
//!
//! Invariant: keys and ids are there once; an entry that a change does not name stays as it is, but for the oldest,
//! which leave where there are too many (G9).

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{BTreeSet, HashMap, HashSet};

use super::entry::{Earlier, Entry, EntryId, Kind, Origin, Scope};
use super::lookup::words;
use crate::chat::{Timestamp, Unknown};
use crate::text::lines::single_spaced;

/// Entries in the order in which they were last said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entries {
    list: Vec<Entry>,
    /// What was taken away last, oldest first.
    removed: Vec<Entry>,
}

/// Something to be kept.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct New {
    pub(super) scope: Scope,
    pub(super) key: Option<String>,
    pub(super) content: String,
    pub(super) kind: Kind,
    pub(super) tags: Vec<String>,
    pub(super) at: Timestamp,
    pub(super) project: Option<String>,
    pub(super) from: Option<Origin>,
}

/// What is to become of entries.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    Add(New),
    Remove(EntryId),
    Restore(EntryId),
    /// One from elsewhere, with its past.
    Put(Box<Entry>),
    /// Nothing is left of these contents, not even what could be brought back.
    Forget(Vec<(String, String)>),
}

/// What a change came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Applied {
    Added { entry: Entry, left: usize },
    Updated(Entry),
    Unchanged(Entry),
    Removed(Entry),
    Restored(Entry),
    KeyTaken { key: String },
    Missing,
}

/// How alike the words of two texts are that say the same.
const ALIKE: f64 = 0.9;

/// Entries that can be brought back.
pub(super) const MAX_REMOVED: usize = 20;

impl Entries {
    /// What a file holds. Of entries with one key the last said stays, and has what the others said as its past.
    pub(super) fn restore(list: Vec<Entry>, removed: Vec<Entry>) -> Self {
        let mut entries: Vec<Entry> = Vec::with_capacity(list.len());
        let mut by_key: HashMap<String, usize> = HashMap::new();
        let mut ids: HashSet<EntryId> = HashSet::new();
        for mut entry in list {
            if let Some(key) = &entry.key {
                match by_key.entry(key.clone()) {
                    Occupied(index) => {
                        merge(&mut entries[*index.get()], entry);
                        continue;
                    }
                    Vacant(index) => index.insert(entries.len()),
                };
            }
            let mut salt = 0;
            while !ids.insert(entry.id.clone()) {
                salt += 1;
                entry.id = EntryId::of(&[entry.id.as_str(), &entry.content], salt);
            }
            entries.push(entry);
        }
        let beyond = removed.len().saturating_sub(MAX_REMOVED);
        Self {
            list: entries,
            removed: removed.into_iter().skip(beyond).collect(),
        }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.list.iter()
    }

    pub(super) fn removed(&self) -> &[Entry] {
        &self.removed
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    #[cfg(test)]
    fn with_id(&self, id: &EntryId) -> Option<&Entry> {
        self.list.iter().find(|entry| entry.id == *id)
    }

    /// By its id, or else its key.
    pub(super) fn named(&self, name: &str) -> Option<&Entry> {
        let id = self.list.iter().find(|entry| entry.id.as_str() == name);
        id.or_else(|| {
            self.list
                .iter()
                .find(|entry| entry.key.as_deref() == Some(name))
        })
    }

    pub(super) fn apply(&mut self, change: &Change, max: usize) -> Applied {
        match change {
            Change::Add(new) => self.add(new, max),
            Change::Remove(id) => self.remove(id),
            Change::Restore(id) => self.bring_back(id),
            Change::Put(entry) => self.put(entry, max),
            Change::Forget(contents) => self.forget(contents),
        }
    }

    /// What an entry says, what those said that can be brought back, and what either said before.
    pub(super) fn contents(&self) -> impl Iterator<Item = (&Entry, &str)> {
        let all = self.list.iter().chain(&self.removed);
        all.flat_map(|entry| {
            let earlier = entry.earlier.iter().map(|it| it.content.as_str());
            std::iter::once(entry.content.as_str())
                .chain(earlier)
                .map(move |content| (entry, content))
        })
    }

    /// `left`: contents, each with what is left of it.
    fn forget(&mut self, left: &[(String, String)]) -> Applied {
        // Whether it stays.
        let redact = |content: &mut String| {
            let Some((_, left)) = left.iter().find(|(said, _)| said == content) else {
                return true;
            };
            content.clone_from(left);
            !left.is_empty()
        };
        let mut gone = None;
        for list in [&mut self.list, &mut self.removed] {
            list.retain_mut(|entry| {
                let before = entry.clone();
                let stays = redact(&mut entry.content);
                entry.earlier.retain_mut(|it| redact(&mut it.content));
                if !stays || *entry != before {
                    gone = Some(before);
                }
                stays
            });
        }
        gone.map_or(Applied::Missing, Applied::Removed)
    }

    fn add(&mut self, new: &New, max: usize) -> Applied {
        if let Some(index) = self.same(new) {
            let mut entry = self.list.remove(index);
            let says_so = means(&entry.content) == means(&new.content);
            let is_so = says_so && (new.kind == Kind::Note || new.kind == entry.kind);
            if is_so {
                entry.touch(new.at);
            } else {
                entry.say(&new.content, new.at);
                entry.kind = new.kind;
                entry.tags.clone_from(&new.tags);
                entry.from.clone_from(&new.from);
            }
            self.list.push(entry.clone());
            return if is_so {
                Applied::Unchanged(entry)
            } else {
                Applied::Updated(entry)
            };
        }
        let entry = self.made(new);
        self.list.push(entry.clone());
        let left = self.evict(max);
        Applied::Added { entry, left }
    }

    /// The entry that a new one takes the place of: the one with its key; without a key the one that says the same
    /// (G4).
    fn same(&self, new: &New) -> Option<usize> {
        let mut list = self.list.iter();
        if new.key.is_some() {
            return list.position(|entry| entry.key == new.key);
        }
        let meant = means(&new.content);
        let equal = list.position(|entry| means(&entry.content) == meant);
        equal.or_else(|| {
            let wanted: BTreeSet<String> = words(&new.content).collect();
            self.list.iter().position(|entry| {
                entry.key.is_none() && likeness(&wanted, &words(&entry.content).collect()) >= ALIKE
            })
        })
    }

    fn made(&self, new: &New) -> Entry {
        let (key, at) = (new.key.as_deref().unwrap_or_default(), new.at.iso());
        let texts = [new.scope.as_str(), key, &new.content, &at];
        let mut ids = (0..).map(|salt| EntryId::of(&texts, salt));
        let is_free = |id: &EntryId| {
            let mut all = self.list.iter().chain(&self.removed);
            all.all(|entry| entry.id != *id)
        };
        Entry {
            id: ids
                .find(is_free)
                .expect("there are more salts than entries"),
            key: new.key.clone(),
            content: new.content.clone(),
            kind: new.kind,
            tags: new.tags.clone(),
            at: new.at,
            created: None,
            project: new.project.clone(),
            from: new.from.clone(),
            earlier: Vec::new(),
            unknown: Unknown::new(),
        }
    }

    /// The oldest leave; what was just said stays, whatever the clock says. Tells how many left.
    fn evict(&mut self, max: usize) -> usize {
        let beyond = self.list.len().saturating_sub(max.max(1));
        if beyond == 0 {
            return 0;
        }
        let mut indices: Vec<usize> = (0..self.list.len() - 1).collect();
        indices.sort_by_key(|index| self.list[*index].at);
        let leaving: HashSet<usize> = indices.into_iter().take(beyond).collect();
        let mut index = 0;
        self.list.retain(|_| {
            index += 1;
            !leaving.contains(&(index - 1))
        });
        leaving.len()
    }

    fn remove(&mut self, id: &EntryId) -> Applied {
        let Some(index) = self.list.iter().position(|entry| entry.id == *id) else {
            return Applied::Missing;
        };
        let entry = self.list.remove(index);
        self.removed.retain(|it| it.id != entry.id);
        self.removed.push(entry.clone());
        let beyond = self.removed.len().saturating_sub(MAX_REMOVED);
        self.removed.drain(..beyond);
        Applied::Removed(entry)
    }

    fn bring_back(&mut self, id: &EntryId) -> Applied {
        let Some(index) = self.removed.iter().position(|entry| entry.id == *id) else {
            return Applied::Missing;
        };
        if let Some(key) = self.removed[index].key.clone()
            && self.list.iter().any(|it| it.key.as_ref() == Some(&key))
        {
            return Applied::KeyTaken { key };
        }
        let entry = self.removed.remove(index);
        self.list.push(entry.clone());
        Applied::Restored(entry)
    }
}

impl Entries {
    /// Keeps an entry that has an id and a past already. Where one with its key or id is there, or one without a key
    /// that says the same, they become one: what was said last stays. Doing so again changes nothing.
    fn put(&mut self, new: &Entry, max: usize) -> Applied {
        self.removed.retain(|it| it.id != new.id);
        let Some(index) = self.place_of(new) else {
            self.list.push(new.clone());
            let left = self.evict(max);
            let entry = new.clone();
            return Applied::Added { entry, left };
        };
        let joined = joined(&self.list[index], new);
        if joined == self.list[index] {
            return Applied::Unchanged(joined);
        }
        self.list[index] = joined.clone();
        Applied::Updated(joined)
    }

    fn place_of(&self, new: &Entry) -> Option<usize> {
        let index = |is_it: &dyn Fn(&Entry) -> bool| self.list.iter().position(is_it);
        let by_key = index(&|it| it.key.is_some() && it.key == new.key);
        let by_id = by_key.or_else(|| index(&|it| it.id == new.id));
        let meant = means(&new.content);
        let is_same = |it: &Entry| it.key.is_none() && means(&it.content) == meant;
        by_id.or_else(|| new.key.is_none().then(|| index(&is_same)).flatten())
    }
}

/// Two forms of one entry: the id of the one that is there, the words of the later one, the past of both.
fn joined(there: &Entry, new: &Entry) -> Entry {
    let (later, before) = if new.at > there.at {
        (new, there)
    } else {
        (there, new)
    };
    let mut joined = later.clone();
    joined.id = there.id.clone();
    joined.key = later.key.clone().or_else(|| before.key.clone());
    joined.created = later.created.or(before.created);
    joined.from = later.from.clone().or_else(|| before.from.clone());
    let last = Earlier {
        content: before.content.clone(),
        at: before.at,
    };
    for earlier in before.earlier.iter().cloned().chain([last]) {
        joined.recall(earlier);
    }
    joined
}

/// Two entries with one key: the one that was said last stays, in the place of the first.
fn merge(kept: &mut Entry, mut other: Entry) {
    if other.at >= kept.at {
        std::mem::swap(kept, &mut other);
        // Of ids it is known for the first alone that nobody else has it.
        std::mem::swap(&mut kept.id, &mut other.id);
    }
    for earlier in other.earlier {
        kept.remember(earlier.content, earlier.at);
    }
    kept.remember(other.content, other.at);
}

/// A text without what makes no difference: case, blanks, the stop at its end.
fn means(text: &str) -> String {
    let text = single_spaced(text).to_lowercase();
    text.trim_end_matches(['.', '!']).to_owned()
}

/// How many of the words of both are in each (Jaccard).
fn likeness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    let exact = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if all == 0 {
        0.0
    } else {
        exact(common) / exact(all)
    }
}

#[cfg(test)]
mod tests;
