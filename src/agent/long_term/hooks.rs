//! What is noted once a turn is over: the exchange in the day's notes (Q15), the working buffer where the window fills
//! (Q22, Q23), facts (X5-X13). Unit: one answered turn; a failed one is not noted.

use std::sync::Arc;

use super::Parts;
use super::capturing::{LONG_TERM, statement};
use crate::agent::end_hooks::{EndHook, EndHooks, Ending};
use crate::chat::{Message, Outcome, Record, SessionName, Timestamp};
use crate::hint::{advised, chain};
use crate::long_term::notes::{Added, Captured, DailySettings};
use crate::memory::facts::{self, Fact, without_thoughts};
use crate::text::is_off_record;
use crate::text::secrets::Known;
use crate::text::statement::FORGOTTEN;

/// Facts of one turn that go to MEMORY.md (X12).
const MOST_FOR_LONG: usize = 4;
/// Characters of an exchange that a working buffer keeps, and so many more that a cut one is known as cut.
const BUFFERED: usize = 4_000;
const MORE: usize = 1_001;

/// The hooks there are, with their places in the order.
pub(super) fn standard(parts: &Arc<Parts>) -> EndHooks {
    let mut hooks = EndHooks::default();
    for note in [Note::Day, Note::Buffer, Note::Facts] {
        hooks.add(Box::new(Hook {
            parts: Arc::clone(parts),
            note,
            refused: Vec::new(),
        }));
    }
    hooks
}

#[derive(Debug)]
struct Hook {
    parts: Arc<Parts>,
    note: Note,
    /// Facts that a file could not take: they are written with the next ones.
    refused: Vec<Fact>,
}

/// What is noted.
#[derive(Clone, Copy, Debug)]
enum Note {
    Day,
    Buffer,
    Facts,
}

/// An exchange as it is noted: without secrets, and without what the model thought.
pub(super) struct Exchange {
    pub(super) asked: String,
    pub(super) replied: String,
}

impl EndHook for Hook {
    fn name(&self) -> &'static str {
        match self.note {
            Note::Day => "the day's notes",
            Note::Buffer => "the working buffer",
            Note::Facts => "facts",
        }
    }

    fn priority(&self) -> i32 {
        match self.note {
            Note::Day => 50,
            Note::Buffer => 40,
            Note::Facts => -10,
        }
    }

    fn run(&mut self, ending: &Ending) -> (Option<Record>, Result<(), String>) {
        let Some((asked, replied)) = exchange(ending) else {
            return (None, Ok(()));
        };
        let parts = &self.parts;
        let exchange = || parts.exchange(&ending.known, asked, replied);
        match self.note {
            Note::Day => (None, parts.note_day(ending, &exchange())),
            Note::Buffer => (None, parts.note_buffer(ending, &exchange())),
            Note::Facts => parts.note_facts(ending, &mut self.refused),
        }
    }
}

impl Parts {
    fn note_day(&self, ending: &Ending, exchange: &Exchange) -> Result<(), String> {
        let settings = &self.settings.daily_notes;
        if !settings.enabled {
            return Ok(());
        }
        let day = self.workspace.daily();
        let noted = day.exchange(ending.now, &exchange.asked, &exchange.replied, settings);
        noted.map(drop).map_err(|error| advised(&error))
    }

    fn note_buffer(&self, ending: &Ending, exchange: &Exchange) -> Result<(), String> {
        let notes = self.workspace.session(&ending.session);
        let buffer = notes.buffer();
        let crossed = self.buffer_from > 0.0 && ending.used >= self.buffer_from;
        if !crossed && !buffer.is_active().map_err(|error| advised(&error))? {
            return Ok(());
        }
        let added = buffer.append(ending.now, &exchange.asked, &exchange.replied);
        added.map_err(|error| advised(&error))
    }

    /// As many of the newest messages are read for facts; none where no facts are noted.
    pub(in crate::agent) fn newest_read(&self) -> usize {
        let settings = &self.settings.facts;
        let exchanges = settings.min_chat_turns.saturating_mul(2);
        let enough = settings.scan_messages.max(exchanges);
        self.facts.as_ref().map_or(0, |_| enough)
    }

    /// Begins a working buffer with some exchanges, where none is kept; tells what went wrong.
    pub(in crate::agent) fn buffer(
        &self,
        session: &SessionName,
        known: &Known,
        exchanges: &[(String, String)],
        at: Timestamp,
    ) -> Vec<String> {
        let notes = self.workspace.session(session);
        let buffer = notes.buffer();
        if self.buffer_from <= 0.0 || buffer.is_active().unwrap_or(true) {
            return Vec::new();
        }
        let added = exchanges
            .iter()
            .map(|(asked, replied)| self.exchange(known, asked, replied))
            .try_for_each(|it| buffer.append(at, &it.asked, &it.replied));
        added.err().iter().map(advised).collect()
    }

    /// As much of an exchange as any file keeps.
    pub(super) fn exchange(&self, known: &Known, asked: &str, replied: &str) -> Exchange {
        let DailySettings {
            user_chars,
            agent_chars,
            ..
        } = self.settings.daily_notes;
        let most = BUFFERED.max(user_chars).max(agent_chars);
        let most = most.saturating_add(MORE);
        Exchange {
            asked: known
                .masked_beginning(asked.trim_start(), most)
                .into_owned(),
            replied: known
                .masked_beginning(without_thoughts(replied).trim_start(), most)
                .into_owned(),
        }
    }

    /// `refused`: facts that a file could not take before, and after this.
    fn note_facts(
        &self,
        ending: &Ending,
        refused: &mut Vec<Fact>,
    ) -> (Option<Record>, Result<(), String>) {
        let Some(cues) = self.facts.as_ref().filter(|_| self.settings.facts.enabled) else {
            return (None, Ok(()));
        };
        let settings = &self.settings.facts;
        let said: Vec<&Message> = ending.newest.iter().collect();
        let found = facts::facts(&said, ending.scratchpad.facts(), settings, cues);
        let known = |fact: Fact| Fact {
            text: ending.known.masked_after("", &fact.text).into_owned(),
            ..fact
        };
        // What was forgotten is no fact.
        let is_known = |fact: &Fact| !fact.text.contains(FORGOTTEN);
        // What was forgotten meanwhile is not tried again.
        let is_still_noted = |fact: &Fact| {
            let noted = ending.scratchpad.facts();
            noted.lines().any(|line| line == fact.to_string())
        };
        let mut all = std::mem::take(refused);
        all.retain(is_still_noted);
        all.extend(found.into_iter().filter(is_known).map(known));
        if all.is_empty() {
            return (None, Ok(()));
        }
        let lines: Vec<String> = all.iter().map(ToString::to_string).collect();
        let mut new = self.not_in_memory(&all);
        new.sort_by_key(|fact| !fact.is_remembered);
        let found: Vec<String> = all.iter().map(Fact::without_mark).collect();
        let day = self.workspace.daily();
        let noted = day
            .facts(ending.now, &found, settings.daily_max_chars)
            .and_then(|_| {
                let compacted = |text: &str| Some(facts::compacted(text));
                day.compact(ending.now, settings.daily_compact_chars, compacted)
            });
        // Each file is written whatever became of the other.
        let known_for_long = self.note_for_long(ending, &new[..new.len().min(MOST_FOR_LONG)]);
        let mut scratchpad = ending.scratchpad.clone();
        scratchpad.keep_facts(&lines, self.settings.scratchpad.limits());
        let noted = noted.err().map(|error| advised(&error));
        let problems = [noted, known_for_long.err()].into_iter().flatten();
        let mut problems: Vec<String> = problems.collect();
        problems.dedup();
        let done = if problems.is_empty() {
            Ok(())
        } else {
            *refused = all;
            Err(problems.join("; "))
        };
        let is_new = scratchpad != ending.scratchpad;
        let record = is_new.then(|| Record::ScratchpadReplaced(scratchpad));
        (record, done)
    }

    /// Adds facts to MEMORY.md, and notes which messages they came from.
    fn note_for_long(&self, ending: &Ending, facts: &[Fact]) -> Result<(), String> {
        let lines: Vec<String> = facts.iter().map(Fact::without_mark).collect();
        let most = self.settings.facts.memory_md_max_chars;
        let memory = self.workspace.long_term();
        let added = memory.add_extracted(ending.now, &lines, most);
        if added.map_err(|error| advised(&error))? != Added::Added {
            return Ok(());
        }
        let noted = facts.iter().zip(lines).map(|(fact, text)| Captured {
            session: ending.session.to_string(),
            message: fact.message.clone(),
            category: Captured::FACT.to_owned(),
            text,
            files: vec![LONG_TERM.to_owned()],
            ..Captured::default()
        });
        let noted = self.receipts.add(noted.collect(), ending.now);
        noted.map(drop).map_err(|error| chain(&error))
    }
}

/// What was asked and what was replied; nothing of a turn without a reply, or of which a person wants nothing kept.
fn exchange(ending: &Ending) -> Option<(&str, &str)> {
    let is_answered = ending.outcome == Some(Outcome::Answered);
    let is_kept = is_answered && !is_off_record(&ending.asked);
    is_kept.then_some((&ending.asked, &ending.replied))
}

/// A shorter line says too little to be found again in another one.
const TELLING: usize = 10;

impl Parts {
    /// Those facts that MEMORY.md does not have in other words of the same sentence.
    pub(super) fn not_in_memory(&self, facts: &[Fact]) -> Vec<Fact> {
        let lines = self.workspace.long_term().lines().unwrap_or_default();
        let known: Vec<String> = lines
            .iter()
            .map(|line| folded(&line.text))
            .filter(|known| known.chars().count() >= TELLING)
            .collect();
        let is_new = |fact: &&Fact| {
            let fact = folded(&fact.text);
            !known
                .iter()
                .any(|known| fact.contains(known.as_str()) || known.contains(&fact))
        };
        let new = facts.iter().filter(is_new);
        new.cloned().collect()
    }
}

/// What a text says, whatever ends it.
pub(super) fn folded(text: &str) -> String {
    let text = statement(text);
    text.trim_end_matches(['.', '!', '?']).to_owned()
}
