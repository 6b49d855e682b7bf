//! What was taken back, in words: which files no longer have it, which still do and why.

use super::{Holdings, HoldingsError, kind, name};
use crate::agent::notebook::Forgotten;
use crate::entries::{Entry, EntryStore, Scope};
use crate::repl::transcript::first_words;
use crate::term::harmless;

/// Days whose notes are looked through for the same words.
const DAYS: usize = 30;
/// Places that are named.
const NAMED: usize = 5;

impl Holdings<'_> {
    /// Whether a name is that of a capture.
    pub fn is_number(name: &str) -> bool {
        name::number(name.trim()).is_some()
    }

    /// Takes back the capture of a number.
    pub fn forget(&self, number: &str) -> Result<String, HoldingsError> {
        let digits = name::number(number.trim()).unwrap_or_default();
        let number = self.capture(digits)?.number;
        let forgotten = self.captures.forget(number, self.session, self.now)?;
        Ok(harmless(&self.told(&forgotten)))
    }

    pub(super) fn told(&self, forgotten: &Forgotten) -> String {
        let Forgotten {
            receipt,
            from,
            changed,
            failed,
        } = forgotten;
        let what = &receipt.what;
        let text = first_words(&what.text, super::list::SHOWN);
        let mut lines = vec![format!(
            "Forgotten {} ({}): {text}",
            receipt.number,
            kind(&what.category)
        )];
        if !from.is_empty() {
            lines.push(format!("gone from {}", from.join(", ")));
        }
        lines.extend(changed.iter().map(|file| {
            format!("{file}: the line is gone or was changed by hand, so nothing was taken from it")
        }));
        let unchanged = failed.iter().map(|(file, why)| {
            format!("{file}: could not be changed, take the line out by hand: {why}")
        });
        lines.extend(unchanged);
        let places = self.elsewhere(&what.text);
        if !places.is_empty() {
            lines.push(format!("its words also stand in {}", places.join(", ")));
        }
        // Only what was captured for good may have been sent there.
        if self.has_further && what.files.iter().any(|file| file == "MEMORY.md") {
            lines.push("mem0 may have it too, and keeps it: delete it there".to_owned());
        }
        lines.join("\n")
    }

    /// Lines of the workspace that have the same words: `memory/2026-02-14.md:7`.
    fn elsewhere(&self, text: &str) -> Vec<String> {
        let workspace = &self.captures.workspace;
        let wanted = text.to_lowercase();
        let sources = workspace.sources(self.session, DAYS).found.into_iter();
        let mut places = sources.flat_map(|source| {
            // What cannot be read is told when it is shown.
            let text = workspace.text(&source).ok().flatten().unwrap_or_default();
            let lines: Vec<String> = (1..)
                .zip(text.lines())
                .filter(|(_, line)| line.to_lowercase().contains(&wanted))
                .map(|(number, _): (usize, _)| format!("{}:{number}", source.as_str()))
                .collect();
            lines
        });
        let mut named: Vec<String> = places.by_ref().take(NAMED).collect();
        if places.next().is_some() {
            named.push("…".to_owned());
        }
        named
    }
}

/// Takes an entry away; it is on disk after the next flush.
pub fn remove(
    entries: &mut EntryStore,
    name: &str,
    scope: Option<Scope>,
) -> Result<String, HoldingsError> {
    let (scope, entry) = entries.remove(name, scope)?;
    Ok(removed(scope, &entry))
}

fn removed(scope: Scope, entry: &Entry) -> String {
    let words = first_words(&entry.content, super::list::SHOWN);
    let id = &entry.id;
    harmless(&format!(
        "Removed ({scope}): {words}\n`/memory restore {id}` in a chat brings it back"
    ))
}
