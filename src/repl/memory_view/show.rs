//! One thing whole: a capture with the message it came from, an entry with what it said before, a file as it is.

use super::name::Named;
use super::origin::Origin;
use super::{MemoryView, MemoryViewError, labelled};
use crate::chat::Timestamp;
use crate::long_term::entries::{Entry, Scope};
use crate::long_term::notes::{Receipt, Source};
use crate::term::{harmless, thousands};

/// Characters of a file that are shown.
const MAX_CHARS: usize = 20_000;

impl MemoryView<'_> {
    pub fn show(&self, name: &str) -> Result<String, MemoryViewError> {
        let text = match self.named(name)? {
            Named::Capture(receipt) => self.receipt(&receipt),
            Named::Entry(scope, entry) => self.of_entry(scope, &entry),
            Named::File(source) => self.file(&source)?,
        };
        Ok(harmless(&text))
    }

    /// What was captured, when, where it stands, and the message.
    pub(super) fn receipt(&self, receipt: &Receipt) -> String {
        let Receipt { number, what, .. } = receipt;
        let (place, quote) = self.quote(&Origin::of(receipt));
        let mut lines = vec![
            format!("{number}  {}", labelled(&what.category, &what.text)),
            place,
            if what.files.is_empty() {
                "not written to any file".to_owned()
            } else {
                format!("written to {}", what.files.join(", "))
            },
            quote,
        ];
        lines.push(if receipt.forgotten {
            "Already forgotten".to_owned()
        } else {
            let forget = self.caller.command(&format!("forget {number}"));
            format!("{forget} removes it")
        });
        lines.join("\n")
    }

    pub(super) fn of_entry(&self, scope: Scope, entry: &Entry) -> String {
        let mut text = known(scope, entry, self.now);
        if let Some(origin) = self.origin(entry) {
            let (place, quote) = self.quote(&origin);
            text = format!("{text}\nfrom {place}\n{quote}");
        }
        let forget = self.caller.command(&format!("forget {}", entry.id));
        format!("{text}\n{forget} removes it")
    }

    fn file(&self, source: &Source) -> Result<String, MemoryViewError> {
        let workspace = &self.captures.workspace;
        let beginning = workspace.beginning(source, MAX_CHARS)?;
        let beginning = beginning.ok_or_else(|| MemoryViewError::NoFile {
            name: source.as_str().to_owned(),
        })?;
        if beginning.more == 0 {
            return Ok(beginning.text);
        }
        let more = usize::try_from(beginning.more).unwrap_or(usize::MAX);
        let path = workspace.path(source);
        Ok(format!(
            "{}\n… {} more bytes in {}",
            beginning.text,
            thousands(more),
            path.display()
        ))
    }
}

/// The content of an entry, what is known of it, and what it said before.
pub fn whole(scope: Scope, entry: &Entry, now: Timestamp) -> String {
    let mut text = known(scope, entry, now);
    if let Some(from) = &entry.from {
        text = format!(
            "{text}\nfrom session {}, message {}",
            from.session, from.message
        );
    }
    text
}

/// The same without where it is from.
fn known(scope: Scope, entry: &Entry, now: Timestamp) -> String {
    let mut lines = vec![entry.content.clone(), String::new()];
    let key = entry.key.as_deref();
    let key = key.map_or_else(String::new, |key| format!(", key {key}"));
    lines.push(format!(
        "{} ({scope}, {}{key}), {}",
        entry.id,
        entry.kind.as_str(),
        entry.at.ago(now)
    ));
    if !entry.tags.is_empty() {
        lines.push(format!("tags: {}", entry.tags.join(", ")));
    }
    let earlier = entry.earlier.iter().rev();
    lines.extend(earlier.map(|it| format!("before {}: {}", it.at.date(), it.content)));
    lines.join("\n")
}
