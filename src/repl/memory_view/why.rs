//! Which message put a fact here: by the number of a capture, by an id or key, or by words of it.

use super::name::{Named, unknown};
use super::origin::Origin;
use super::{MemoryView, MemoryViewError, list};
use crate::long_term::entries::Entry;
use crate::long_term::notes::Receipt;
use crate::term::harmless;

/// Facts that are explained at once, the newest.
const MAX: usize = 10;

impl MemoryView<'_> {
    pub fn why(&self, asked: &str) -> Result<String, MemoryViewError> {
        let text = match self.named(asked) {
            Ok(Named::Capture(receipt)) => self.receipt(&receipt),
            Ok(Named::Entry(scope, entry)) => self.of_entry(scope, &entry),
            Ok(Named::File(_))
            | Err(MemoryViewError::Unknown { .. } | MemoryViewError::NoNumber { .. }) => {
                self.by_words(asked)?
            }
            Err(other) => return Err(other),
        };
        Ok(harmless(&text))
    }

    fn by_words(&self, asked: &str) -> Result<String, MemoryViewError> {
        let words: Vec<String> = asked.split_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() {
            return Err(unknown(asked));
        }
        let speaks = |text: &str| {
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let receipts = self.captures.all();
        let unlisted = receipts.as_ref().err().map(list::unlisted);
        let receipts = receipts.unwrap_or_default();
        let receipts = receipts.iter().filter(|it| self.entry_of(it).is_none());
        let receipts = receipts.filter(|it| speaks(&it.what.text));
        let mut found: Vec<String> = receipts.map(|it| self.of_capture(it)).collect();
        found.reverse();
        let entries = self.entries.all().map(|(_, entry)| entry);
        let said = |entry: &&Entry| {
            let key = entry.key.as_deref().unwrap_or_default();
            speaks(&format!("{key} {}", entry.content))
        };
        found.extend(entries.filter(said).map(|entry| self.of_kept(entry)));
        if found.is_empty() && unlisted.is_none() {
            return Ok(
                "No note, fact or entry matches; text that you or the model wrote to a file is not tracked"
                    .to_owned(),
            );
        }
        let more = found.len().saturating_sub(MAX);
        found.truncate(MAX);
        if more > 0 {
            found.push(format!("… {more} more; try more specific words"));
        }
        found.extend(unlisted);
        Ok(found.join("\n\n"))
    }

    fn of_capture(&self, receipt: &Receipt) -> String {
        format!(
            "{}\n{}",
            list::capture(receipt, self.now),
            self.from(&Origin::of(receipt))
        )
    }

    fn of_kept(&self, entry: &Entry) -> String {
        let from = self.origin(entry).map_or_else(
            || "       added by hand, no message known".to_owned(),
            |origin| self.from(&origin),
        );
        format!("{}\n{from}", list::row(entry, self.now))
    }

    fn from(&self, origin: &Origin<'_>) -> String {
        let (place, quote) = self.quote(origin);
        let lines = std::iter::once(place.as_str()).chain(quote.lines());
        let lines = lines.map(|line| format!("       {line}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}
