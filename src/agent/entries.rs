//! Texts that outlive a turn: entries of memory, pins, the scratchpad; for a model and for a person.
//!
//! Pins and scratchpad are records of the session; entries are written by the
//! [`EntryWriter`](super::entry_writer::EntryWriter).

use serde_json::json;

use super::event::TurnContext;
use super::{Agent, Warning};
use crate::chat::{NotPinned, NotWritten, Pin, Pins, Record, Tokens, Written};
use crate::hint::chain;
use crate::long_term::entries::{
    EntriesError, Entry, EntryStore, Found, Kept, Scope, Status, Wanted,
};
use crate::text::lines::{clipped, single_spaced};
use crate::tools::{Adding, Failure, Keeping, Lasting, Output};

/// All pins may take one part in so many of a window (G12).
const SHARE: u32 = 10;

/// Characters of an entry in a list.
const SHOWN: usize = 300;

/// A text that is pinned.
#[derive(Clone, Debug, PartialEq)]
pub struct Pinned {
    pub id: u32,
    /// Of all pins.
    pub bytes: usize,
    pub warning: Option<Warning>,
}

/// Why a text is not pinned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotPin {
    #[error(transparent)]
    Text(#[from] NotPinned),
    #[error(
        "the pins would take about {tokens} tokens; the limit is {most}, a tenth of the model's window"
    )]
    NoRoom { tokens: Tokens, most: Tokens },
    #[error("no pin {id}")]
    Missing { id: u32 },
}

impl Agent {
    /// The entries that this session sees. What is changed in them is written soon after.
    pub fn entries(&self) -> &EntryStore {
        self.entries.store()
    }

    pub fn entries_mut(&mut self) -> &mut EntryStore {
        self.entries.store_mut()
    }

    /// Keeps an entry, without the secrets that were said. It is on disk after the next flush.
    pub fn keep_entry(&mut self, scope: Scope, wanted: Wanted) -> Result<Kept, EntriesError> {
        let known = self.ledger.known();
        let content = match &wanted.key {
            Some(key) => known.masked_value(key, &wanted.content),
            None => known.masked(&wanted.content).into_owned(),
        };
        let is_masked = content != wanted.content;
        let tags = wanted
            .tags
            .iter()
            .map(|tag| known.masked_after("", tag).into_owned());
        let tags = tags.collect();
        let wanted = Wanted {
            content,
            tags,
            ..wanted
        };
        let now = self.clock.now();
        let mut kept = self.entries_mut().add(scope, &wanted, now)?;
        kept.is_masked |= is_masked;
        Ok(kept)
    }

    /// Writes what entries wait for, before anybody is told that it is kept; that it cannot be is said each time.
    pub fn flush_entries(&mut self) -> Option<Warning> {
        self.entries.flush_at_last(self.clock.now())
    }

    /// Pins a text to the session.
    pub async fn pin(&mut self, text: &str) -> Result<Pinned, CannotPin> {
        let mut pins = self.session().pins().clone();
        let id = pins.pin(text, self.clock.now())?;
        if pins == *self.session().pins() {
            let bytes = pins.bytes();
            let warning = None;
            return Ok(Pinned { id, bytes, warning });
        }
        let window = self.budget(self.provider.abilities().await).window();
        let most = Tokens(window.0 / SHARE);
        let tokens: Tokens = pins.iter().map(|pin| Tokens::estimate(&pin.text)).sum();
        if tokens > most {
            return Err(CannotPin::NoRoom { tokens, most });
        }
        let bytes = pins.bytes();
        let warning = self.keep(Record::PinsReplaced(pins));
        Ok(Pinned { id, bytes, warning })
    }

    /// Takes a pin off.
    pub fn unpin(&mut self, id: u32) -> Result<(Pin, Option<Warning>), CannotPin> {
        let mut pins = self.session().pins().clone();
        let pin = pins.unpin(id).ok_or(CannotPin::Missing { id })?;
        Ok((pin, self.keep(Record::PinsReplaced(pins))))
    }

    /// Takes all pins off; tells how many there were.
    pub fn unpin_all(&mut self) -> (usize, Option<Warning>) {
        let mut pins = self.session().pins().clone();
        match pins.clear() {
            0 => (0, None),
            gone => (gone, self.keep(Record::PinsReplaced(pins))),
        }
    }

    /// Writes on the scratchpad.
    pub fn scribble(
        &mut self,
        key: &str,
        text: &str,
    ) -> Result<(Written, Option<Warning>), NotWritten> {
        if self.ledger.known().masked_after("", key) != key {
            return Err(NotWritten::SecretKey);
        }
        let limits = self.memory.settings().scratchpad.limits();
        let mut scratchpad = self.session().scratchpad().clone();
        let written = scratchpad.write_within(key, text, limits)?;
        Ok((written, self.keep(Record::ScratchpadReplaced(scratchpad))))
    }

    /// Takes a key off the scratchpad; tells its text.
    pub fn unscribble(&mut self, key: &str) -> Option<(String, Option<Warning>)> {
        let mut scratchpad = self.session().scratchpad().clone();
        let text = scratchpad.remove(key)?;
        Some((text, self.keep(Record::ScratchpadReplaced(scratchpad))))
    }

    /// Does what a tool wished for.
    pub(super) async fn keep_for_model(
        &mut self,
        keeping: Keeping,
        context: &mut TurnContext<'_>,
    ) -> Result<Output, Failure> {
        let (output, warning) = match keeping {
            Keeping::Add(adding) => (self.add_entry(adding).await?, None),
            Keeping::Get { name, scope } => {
                let (scope, entry) = self.entries_mut().get(&name, scope).map_err(refused)?;
                let text = whole(scope, &entry);
                (Output::content(text, brief(&entry)), None)
            }
            Keeping::Search {
                query,
                scope,
                limit,
            } => (self.search_entries(&query, scope, limit)?, None),
            Keeping::List { scope, limit } => (self.list_entries(scope, limit)?, None),
            Keeping::Remove { name, scope } => {
                let (scope, entry) = self.entries_mut().remove(&name, scope).map_err(refused)?;
                let mut said = json!({
                    "status": "removed", "count": 1, "id": entry.id.as_str(),
                    "key": entry.key, "scope": scope.as_str(),
                });
                if let Some(gone) = self.let_go(&entry).await {
                    said["MEMORY.md"] = gone.into();
                }
                let brief = format!("removed {}", brief(&entry));
                (Output::text(said.to_string(), brief), None)
            }
            Keeping::Pin(text) => {
                let pinned = self.pin(&text).await.map_err(Failure::of)?;
                let said = format!(
                    "pinned as {}; pins use {} of {} bytes",
                    pinned.id,
                    pinned.bytes,
                    Pins::MAX_BYTES
                );
                (Output::text(said.clone(), said), pinned.warning)
            }
            Keeping::Unpin => {
                let (gone, warning) = self.unpin_all();
                let said = format!("unpinned {gone}");
                (Output::text(said.clone(), said), warning)
            }
            Keeping::Write { key, text } => {
                let (written, warning) = self.scribble(&key, &text).map_err(Failure::of)?;
                let cut = if written.is_cut {
                    ", the rest was cut off"
                } else {
                    ""
                };
                let said = format!("stored {key}: {} characters{cut}", written.chars);
                (Output::text(said.clone(), said), warning)
            }
        };
        context.warn_all(warning);
        Ok(output)
    }

    async fn add_entry(&mut self, adding: Adding) -> Result<Output, Failure> {
        let Adding {
            scope,
            wanted,
            lasting,
        } = adding;
        let scope = scope.unwrap_or_else(|| self.entries().scope_of(wanted.kind));
        let kept = self.keep_entry(scope, wanted).map_err(refused)?;
        let mut said = json!({
            "status": kept.status.as_str(), "id": kept.entry.id.as_str(),
            "key": kept.entry.key, "scope": kept.scope.as_str(),
        });
        if kept.is_masked {
            said["note"] = "a secret in it was redacted".into();
        }
        if kept.left > 0 {
            said["left"] = format!("{} oldest entries, to make room", kept.left).into();
        }
        if kept.scope != Scope::Session {
            self.add_further(&kept.entry.content);
        }
        if let Some(written) = self.keep_durably(&kept, lasting).await {
            said["MEMORY.md"] = written.into();
        }
        let brief = format!(
            "{} {}, {}",
            kept.status.as_str(),
            brief(&kept.entry),
            kept.scope
        );
        Ok(Output::text(said.to_string(), brief))
    }

    /// Writes what is to last to MEMORY.md, and what an entry says now that has a line there (Q20); tells the model
    /// what became of it.
    async fn keep_durably(&self, kept: &Kept, lasting: Lasting) -> Option<String> {
        let Some(long_term) = self.long_term().cloned() else {
            let lost = "not written: nothing is kept beyond this session".to_owned();
            return (lasting == Lasting::Durable).then_some(lost);
        };
        let (entry, status, now) = (kept.entry.clone(), kept.status, self.clock.now());
        let work = move || match (lasting, status) {
            (Lasting::Durable, _) => Some(long_term.remember(&entry, now)),
            (_, Status::Updated) => long_term.keep_in_step(&entry, now),
            (_, Status::Added | Status::Unchanged) => None,
        };
        let written = tokio::task::spawn_blocking(work).await;
        written.unwrap_or_else(|error| Some(format!("not written: {error}")))
    }

    /// Takes the lines of an entry that is gone out of MEMORY.md; tells the model where there were some.
    async fn let_go(&self, entry: &Entry) -> Option<String> {
        let captures = self.long_term()?.captures();
        let (id, now) = (entry.id.clone(), self.clock.now());
        let work = move || captures.let_go(id.as_str(), now);
        match tokio::task::spawn_blocking(work).await {
            Ok(gone) => gone.told(),
            Err(error) => Some(format!("not changed: {error}")),
        }
    }

    fn search_entries(
        &mut self,
        query: &str,
        scope: Option<Scope>,
        limit: usize,
    ) -> Result<Output, Failure> {
        if let Some(scope) = scope {
            self.entries().check(scope).map_err(refused)?;
        }
        let found = self.entries_mut().lookup(query, scope, limit);
        if found.is_empty() {
            return Ok(Output::content("no entry matches", "no entries"));
        }
        let line = |found: &Found| {
            let entry = row(&found.entry);
            format!("{:.2} {} {entry}", found.score, found.scope)
        };
        let lines: Vec<String> = found.iter().map(line).collect();
        let brief = entries(found.len());
        Ok(Output::content(lines.join("\n"), brief))
    }

    fn list_entries(&mut self, scope: Option<Scope>, limit: usize) -> Result<Output, Failure> {
        if let Some(scope) = scope {
            self.entries().check(scope).map_err(refused)?;
        }
        let store = self.entries_mut();
        store.refresh();
        let mut parts = Vec::new();
        let mut count = 0;
        for its in Scope::ALL {
            if scope.is_some_and(|scope| scope != its) {
                continue;
            }
            let rows: Vec<String> = store
                .all()
                .filter(|(scope, _)| *scope == its)
                .map(|(_, entry)| row(entry))
                .collect();
            count += rows.len();
            if !rows.is_empty() {
                let left = match rows.len().saturating_sub(limit) {
                    0 => String::new(),
                    older => format!("\n({older} older entries not shown; search, or raise limit)"),
                };
                let newest: Vec<&str> = rows.iter().rev().take(limit).map(String::as_str).collect();
                parts.push(format!("{its}:\n{}{left}", newest.join("\n")));
            }
        }
        if parts.is_empty() {
            return Ok(Output::content("nothing saved yet", "no entries"));
        }
        Ok(Output::content(parts.join("\n"), entries(count)))
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what `map_err` hands over"
)]
fn refused(error: EntriesError) -> Failure {
    Failure::of(chain(&error))
}

fn entries(count: usize) -> String {
    match count {
        1 => "1 entry".to_owned(),
        several => format!("{several} entries"),
    }
}

/// Key or id, for the person.
fn brief(entry: &Entry) -> String {
    entry
        .key
        .clone()
        .unwrap_or_else(|| entry.id.as_str().to_owned())
}

/// One entry in a line.
fn row(entry: &Entry) -> String {
    let key = entry.key.as_deref();
    let key = key.map_or_else(String::new, |key| format!("{key}: "));
    let shown = clipped(&single_spaced(&entry.content), SHOWN);
    format!(
        "{} {key}{shown} ({}, {})",
        entry.id,
        entry.kind.as_str(),
        entry.at.date()
    )
}

/// All of an entry, with what it said before.
fn whole(scope: Scope, entry: &Entry) -> String {
    let key = entry.key.as_deref();
    let key = key.map_or_else(String::new, |key| format!(", key {key}"));
    let tags = match entry.tags.as_slice() {
        [] => String::new(),
        tags => format!(", tags {}", tags.join(" ")),
    };
    let head = format!(
        "{} ({scope}, {}{key}{tags}, {})",
        entry.id,
        entry.kind.as_str(),
        entry.at.date()
    );
    let mut lines = vec![head, entry.content.clone()];
    let earlier = entry.earlier.iter().rev();
    lines.extend(earlier.map(|it| format!("before {}: {}", it.at.date(), it.content)));
    lines.join("\n")
}
