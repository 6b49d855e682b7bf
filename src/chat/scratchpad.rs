//! A session's scratchpad: short texts under keys, kept in `{session}_scratchpad.json` (X22, X23).
//!
//! Unit: one entry. Invariant: nothing is added beyond the [`ScratchpadLimits`]; what is there already stays, whatever
//! they are now. Some keys are the program's own (X24): it writes them, a model may read most of them.

use std::collections::BTreeMap;

use super::record::TextVisitor;

/// Texts by key, in the order of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scratchpad(BTreeMap<String, String>);

/// How the keys begin that only the program writes.
const RESERVED: [&str; 3] = [SUB_RESULT, "delegation_result::", "__"];

/// Keys that only the program writes; the last is no key but a field of the file.
const RESERVED_KEYS: [&str; 2] = [FACTS, "version"];

const FACTS: &str = "session_facts";

const SUB_RESULT: &str = "subagent_result::";
const THOUGHT: &str = "subagent_result::think-";

/// How much there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScratchpadLimits {
    pub keys: usize,
    /// Characters of one text; a longer one is cut.
    pub chars: usize,
}

impl Default for ScratchpadLimits {
    fn default() -> Self {
        Self {
            keys: Scratchpad::MAX_KEYS,
            chars: Scratchpad::MAX_CHARS,
        }
    }
}

/// What became of a text that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Characters that are kept.
    pub chars: usize,
    /// Whether the text was longer than that.
    pub is_cut: bool,
}

/// A text that is not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotWritten {
    #[error("the key is missing")]
    NoKey,
    #[error("the key contains a secret; choose another")]
    SecretKey,
    #[error("the key {key:?} is reserved; choose another")]
    Reserved { key: String },
    #[error("the key has {chars} characters, the limit is {max}", max = Scratchpad::MAX_KEY_CHARS)]
    LongKey { chars: usize },
    #[error("the scratchpad is full ({keys} keys); overwrite one of them")]
    Full { keys: usize },
}

impl Scratchpad {
    pub const MAX_KEYS: usize = 50;
    pub const MAX_CHARS: usize = 10_000;
    /// Of a key.
    pub const MAX_KEY_CHARS: usize = 200;

    /// What a file holds, all of it: limits may have been others when it was written.
    pub fn restore(entries: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(entries.into_iter().collect())
    }

    /// All of it, in the order of keys.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.0.iter();
        entries.map(|(key, text)| (key.as_str(), text.as_str()))
    }

    pub(super) fn visit_texts(&mut self, visit: &mut TextVisitor<'_>) {
        self.0.iter_mut().for_each(|(key, text)| visit(key, text));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// What a model may read under a key.
    pub fn read(&self, key: &str) -> Option<&str> {
        self.get(key).filter(|_| is_readable(key))
    }

    /// Keys that a model may read.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries()
            .map(|(key, _)| key)
            .filter(|key| is_readable(key))
    }

    /// What a model or a person writes, within the usual limits.
    pub fn write(&mut self, key: &str, text: &str) -> Result<Written, NotWritten> {
        self.write_within(key, text, ScratchpadLimits::default())
    }

    /// What a model or a person writes.
    pub fn write_within(
        &mut self,
        key: &str,
        text: &str,
        limits: ScratchpadLimits,
    ) -> Result<Written, NotWritten> {
        let key = key.trim();
        let key_of = || key.to_owned();
        if key.is_empty() {
            return Err(NotWritten::NoKey);
        }
        let chars = key.chars().count();
        if chars > Self::MAX_KEY_CHARS {
            return Err(NotWritten::LongKey { chars });
        }
        if Self::is_reserved(key) {
            return Err(NotWritten::Reserved { key: key_of() });
        }
        self.put(key_of(), text, limits)
    }

    /// Whether only the program writes under a key.
    pub fn is_reserved(key: &str) -> bool {
        RESERVED_KEYS.contains(&key) || RESERVED.iter().any(|begin| key.starts_with(begin))
    }

    /// What was noted of the session (X13): lines, the newest last.
    pub fn facts(&self) -> &str {
        self.get(FACTS).unwrap_or_default()
    }

    /// Adds lines to what was noted; repeated ones are left out, and the oldest leave where there is no room. Of the
    /// newest at least the beginning stays.
    pub fn keep_facts(&mut self, lines: &[String], limits: ScratchpadLimits) {
        let known = self.facts().lines().map(str::to_owned);
        let mut all: Vec<String> = known.collect();
        for line in lines {
            if !all.contains(line) {
                all.push(line.clone());
            }
        }
        if let Some(newest) = all.last_mut() {
            *newest = newest.chars().take(limits.chars).collect();
        }
        let mut room = limits.chars + 1;
        let fits = |line: &&String| {
            let rest = room.checked_sub(line.chars().count() + 1);
            room = rest.unwrap_or(0);
            rest.is_some()
        };
        let newest: Vec<&String> = all.iter().rev().take_while(fits).collect();
        let text: Vec<&str> = newest.into_iter().rev().map(String::as_str).collect();
        self.0.insert(FACTS.to_owned(), text.join("\n"));
    }

    /// Takes a key off, whoever wrote it; tells its text.
    pub fn remove(&mut self, key: &str) -> Option<String> {
        self.0.remove(key)
    }

    /// The number that the next thing thought through gets.
    pub fn next_thought(&self) -> u32 {
        let highest = self.thoughts().map(|(number, _)| number).max();
        highest.map_or(1, |highest| highest.saturating_add(1))
    }

    /// Keeps what was thought through under its number; where there is no room, the oldest of them leaves (X25).
    pub fn keep_thought(&mut self, number: u32, report: &str) -> Result<Written, NotWritten> {
        let key = format!("{THOUGHT}{number}");
        if self.0.len() >= Self::MAX_KEYS && !self.0.contains_key(&key) {
            let oldest = self.thoughts().map(|(number, _)| number).min();
            let keys = Self::MAX_KEYS;
            self.forget_thought(oldest.ok_or(NotWritten::Full { keys })?);
        }
        let limits = ScratchpadLimits {
            keys: usize::MAX,
            ..ScratchpadLimits::default()
        };
        self.put(key, report, limits)
    }

    pub fn forget_thought(&mut self, number: u32) {
        self.0.remove(&format!("{THOUGHT}{number}"));
    }

    /// What was found out aside: name and text, the newest first.
    pub fn sub_results(&self) -> Vec<(&str, &str)> {
        let results = self.entries().filter_map(|(key, text)| {
            let name = key.strip_prefix(SUB_RESULT)?;
            Some((name, text))
        });
        let mut results: Vec<(&str, &str)> = results.collect();
        results.sort_by_key(|(name, _)| std::cmp::Reverse(number_of(name)));
        results
    }

    fn thoughts(&self) -> impl Iterator<Item = (u32, &str)> {
        self.entries().filter_map(|(key, text)| {
            let number = key.strip_prefix(THOUGHT)?.parse().ok()?;
            Some((number, text))
        })
    }

    fn put(
        &mut self,
        key: String,
        text: &str,
        limits: ScratchpadLimits,
    ) -> Result<Written, NotWritten> {
        if self.0.len() >= limits.keys && !self.0.contains_key(&key) {
            return Err(NotWritten::Full { keys: limits.keys });
        }
        let end = text.char_indices().nth(limits.chars);
        let kept = end.map_or(text, |(end, _)| &text[..end]);
        self.0.insert(key, kept.to_owned());
        Ok(Written {
            chars: kept.chars().count(),
            is_cut: end.is_some(),
        })
    }
}

fn is_readable(key: &str) -> bool {
    !key.starts_with("__")
}

/// The `12` of `think-12`; 0 for a name without a number.
fn number_of(name: &str) -> u32 {
    let (_, number) = name.rsplit_once('-').unwrap_or_default();
    number.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_and_the_fifty_first_key_refused() {
        let mut scratchpad = Scratchpad::default();
        let long = "é".repeat(Scratchpad::MAX_CHARS + 1);
        let written = scratchpad.write("long", &long).unwrap();
        assert_eq!((written.chars, written.is_cut), (10_000, true));
        for n in 1..Scratchpad::MAX_KEYS {
            scratchpad.write(&format!("key {n}"), "x").unwrap();
        }
        assert_eq!(
            scratchpad.write("one more", "x"),
            Err(NotWritten::Full { keys: 50 })
        );
        let again = scratchpad.write("key 1", "y").unwrap();
        assert_eq!((again.chars, scratchpad.read("key 1")), (1, Some("y")));
        assert_eq!(scratchpad.write(" ", "x"), Err(NotWritten::NoKey));
    }

    #[test]
    fn reserved_keys_are_the_programs_to_write_and_only_hidden_ones_are_not_read() {
        for key in [
            "subagent_result::think-1",
            "delegation_result::a",
            "session_facts",
            "__pending_subagent_summaries__",
            "__taskspace_hint__",
            "__taskspace_label_hint__",
            "version",
        ] {
            let refused = Scratchpad::default().write(key, "x");
            let key = key.to_owned();
            assert_eq!(refused, Err(NotWritten::Reserved { key }));
        }
        let entries = ["__hidden", "session_facts"].map(|key| (key.to_owned(), "x".to_owned()));
        let scratchpad = Scratchpad::restore(entries);
        assert_eq!(scratchpad.keys().collect::<Vec<_>>(), ["session_facts"]);
        assert_eq!(scratchpad.read("__hidden"), None);
    }

    #[test]
    fn noted_lines_stand_once_and_the_oldest_leave_where_there_is_no_room() {
        let mut scratchpad = Scratchpad::default();
        let limits = ScratchpadLimits {
            chars: 11,
            ..ScratchpadLimits::default()
        };
        let lines = |lines: &[&str]| {
            lines
                .iter()
                .map(|&line| line.to_owned())
                .collect::<Vec<_>>()
        };
        scratchpad.keep_facts(&lines(&["one", "two"]), limits);
        scratchpad.keep_facts(&lines(&["two", "six"]), limits);
        assert_eq!(scratchpad.facts(), "one\ntwo\nsix");
        scratchpad.keep_facts(&lines(&["seven"]), limits);
        assert_eq!(scratchpad.facts(), "six\nseven");
        scratchpad.keep_facts(&lines(&["a line of more characters"]), limits);
        assert_eq!(scratchpad.facts(), "a line of m");
    }

    #[test]
    fn what_was_thought_through_is_numbered_and_the_oldest_leaves_a_full_scratchpad() {
        let mut scratchpad = Scratchpad::default();
        for n in 1..=9 {
            assert_eq!(scratchpad.next_thought(), n);
            scratchpad.keep_thought(n, &format!("report {n}")).unwrap();
        }
        for n in scratchpad.entries().count()..Scratchpad::MAX_KEYS {
            scratchpad.write(&format!("key {n}"), "x").unwrap();
        }
        scratchpad.keep_thought(10, "report 10").unwrap();
        let names: Vec<&str> = scratchpad.sub_results().iter().map(|it| it.0).collect();
        assert_eq!(names.first(), Some(&"think-10"));
        assert_eq!(names.last(), Some(&"think-2"));
    }
}
