//! Everything that is held, a line each, with how it is taken back.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::{MemoryView, labelled};
use crate::chat::Timestamp;
use crate::hint::chain;
use crate::long_term::entries::{Entry, Kind, Scope};
use crate::long_term::notes::{Captured, Receipt, ReceiptsError};
use crate::repl::transcript::first_words;
use crate::term::{harmless, thousands};
use crate::text::statement::{Author, Statement, Statements};

/// How much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The newest of each kind.
    Newest,
    All,
}

/// Of each kind, as long as not all are wanted.
const NEWEST: usize = 50;
/// Characters of one text.
pub(super) const SHOWN: usize = 100;

impl Extent {
    fn most(self) -> usize {
        match self {
            Self::Newest => NEWEST,
            Self::All => usize::MAX,
        }
    }
}

impl MemoryView<'_> {
    /// Entries by scope, and what was captured; the newest first.
    pub fn list(&self, extent: Extent) -> String {
        let scopes = Scope::ALL.into_iter().filter_map(|scope| {
            let entries = self.entries.all().filter(|(its, _)| *its == scope);
            let rows = entries.map(|(_, entry)| row(entry, self.now)).collect();
            self.part(scope.as_str(), "forget ID", rows, extent)
        });
        let mut parts: Vec<String> = scopes.collect();
        match self.captured() {
            Ok(captured) => {
                let once = self.once(&captured);
                let rows = once.iter().map(|(it, also)| {
                    let row = capture(it, self.now);
                    if also.is_empty() {
                        return row;
                    }
                    let numbers: Vec<String> = also.iter().map(ToString::to_string).collect();
                    format!("{row} (same as {})", numbers.join(", "))
                });
                let rows = rows.collect();
                parts.extend(self.part("noted from your messages", "forget N", rows, extent));
            }
            Err(error) => parts.push(unlisted(&error)),
        }
        if parts.is_empty() {
            let add = "add something with `/memory add TEXT` in a chat";
            return format!("Nothing saved yet; {add}");
        }
        parts.join("\n\n")
    }

    /// Each fact once, oldest first: the newest that says it, with the numbers of the others. What an entry says is
    /// left out.
    fn once<'r>(&self, captured: &'r [Receipt]) -> Vec<(&'r Receipt, Vec<u64>)> {
        let key = |text: &str| Statement::of(text).map_or_else(String::new, |it| it.key());
        let entries = self.entries.all().map(|(_, entry)| key(&entry.content));
        let entries: HashSet<String> = entries.collect();
        let is_fact = |it: &Receipt| it.what.category == Captured::FACT;
        let from = |it: &'r Receipt| (it.what.session.as_str(), it.what.message.as_str());
        let mut said: HashMap<(&str, &str), Statements> = HashMap::new();
        for receipt in captured.iter().filter(|it| !is_fact(it)) {
            if let Some(statement) = Statement::of(receipt.what.words()) {
                said.entry(from(receipt)).or_default().push(statement);
            }
        }
        let mut rows: Vec<(&Receipt, Vec<u64>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for receipt in captured.iter().rev() {
            let words = receipt.what.words();
            let key = key(words);
            // A fact drawn from what was captured says it once more.
            let is_drawn = || {
                let said = said.get(&from(receipt));
                is_fact(receipt) && said.is_some_and(|said| said.are_in(words, Author::Person))
            };
            if entries.contains(&key) || is_drawn() {
                continue;
            }
            if let Some(&place) = places.get(&key) {
                rows[place].1.push(receipt.number);
            } else {
                places.insert(key, rows.len());
                rows.push((receipt, Vec::new()));
            }
        }
        rows.reverse();
        rows
    }

    /// The same whole, for programs.
    pub fn json(&self) -> Value {
        let entries = self.entries.all().map(|(scope, entry)| {
            json!({
                "id": entry.id.as_str(),
                "scope": scope.as_str(),
                "key": entry.key,
                "kind": entry.kind.as_str(),
                "text": entry.content,
                "tags": entry.tags,
                "timestamp": entry.at.iso(),
                "session": entry.from.as_ref().map(|from| &from.session),
                "message": entry.from.as_ref().map(|from| &from.message),
            })
        });
        let entries: Vec<Value> = entries.collect();
        let captured = match self.captured() {
            Ok(captured) => captured,
            Err(error) => {
                let problem = chain(&error);
                return json!({"entries": entries, "captured": null, "problem": problem});
            }
        };
        let captured = captured.iter().map(|receipt| {
            json!({
                "number": receipt.number,
                "kind": receipt.what.category,
                "text": receipt.what.text,
                "timestamp": receipt.at.map(Timestamp::iso),
                "session": receipt.what.session,
                "message": receipt.what.message,
                "files": receipt.what.files,
            })
        });
        let captured: Vec<Value> = captured.collect();
        json!({"entries": entries, "captured": captured})
    }

    /// What was captured and not taken back, oldest first.
    fn captured(&self) -> Result<Vec<Receipt>, ReceiptsError> {
        let mut receipts = self.captures.all()?;
        receipts.retain(|receipt| !receipt.forgotten && self.entry_of(receipt).is_none());
        Ok(receipts)
    }

    /// The entry that stands for what has a receipt; it may have left since.
    pub(super) fn entry_of(&self, receipt: &Receipt) -> Option<&Entry> {
        let id = receipt.what.entry.as_deref()?;
        let mut entries = self.entries.all().map(|(_, entry)| entry);
        entries.find(|entry| entry.id.as_str() == id)
    }

    /// A heading with how one is taken back, and rows, which come oldest first.
    fn part(&self, name: &str, back: &str, rows: Vec<String>, extent: Extent) -> Option<String> {
        let older = rows.len().saturating_sub(extent.most());
        let back = self.caller.command(back);
        let mut lines = vec![format!("{name} (remove with {back})")];
        lines.extend(rows.into_iter().skip(older).rev());
        if older > 0 {
            let all = self.caller.all();
            lines.push(format!("  … {} older, {all}", thousands(older)));
        }
        (lines.len() > 1).then(|| lines.join("\n"))
    }
}

/// What stands for captures where their receipts cannot be read: the files and the entries are none the worse.
pub(super) fn unlisted(error: &ReceiptsError) -> String {
    harmless(&format!("could not list notes: {}", chain(error)))
}

/// `  mem_0123456789abcdef  db: Postgres 16  [fact, 3 days ago]`
pub(super) fn row(entry: &Entry, now: Timestamp) -> String {
    let key = entry.key.as_deref();
    let key = key.map_or_else(String::new, |key| format!("{key}: "));
    let kind = match entry.kind {
        Kind::Note => String::new(),
        kind => format!("{}, ", kind.as_str()),
    };
    let words = first_words(&entry.content, SHOWN);
    let ago = entry.at.ago(now);
    harmless(&format!("  {}  {key}{words}  [{kind}{ago}]", entry.id))
}

/// `  12  preference: I like tea  [3 days ago]`
pub(super) fn capture(receipt: &Receipt, now: Timestamp) -> String {
    let words = first_words(&receipt.what.text, SHOWN);
    let words = labelled(&receipt.what.category, &words);
    let ago = receipt
        .at
        .map_or_else(|| "some time ago".to_owned(), |at| at.ago(now));
    let back = if receipt.forgotten { ", forgotten" } else { "" };
    let number = receipt.number;
    harmless(&format!("{number:>5}  {words}  [{ago}{back}]"))
}
