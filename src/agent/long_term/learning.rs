//! Facts that the model found, on their way to MEMORY.md: with a receipt each, in place of what they make outdated.

use super::Parts;
use super::capturing::{LONG_TERM, Taken, bullet, judgement, statement};
use crate::chat::{SessionName, Timestamp};
use crate::hint::{advised, chain};
use crate::long_term::notes::{Added, Captured, Judgement, Line, Section, unmarked};
use crate::memory::Backend;
use crate::memory::capture::{Capturing, Learning};
use crate::memory::learning::Fact;

/// Captured lines that the model is shown.
const MAX_KNOWN: usize = 60;

impl Parts {
    /// Tells whether the model is asked for what lasts.
    pub(in crate::agent) fn learns(&self) -> bool {
        let lasts = self.settings.backend != Backend::None;
        lasts && self.settings.capture == Capturing::On && self.settings.learn != Learning::Local
    }

    /// Returns the newest captured lines of MEMORY.md that count.
    pub(in crate::agent) fn captured(&self) -> Vec<String> {
        // What cannot be read is told where it is used.
        let lines = self.workspace.long_term().lines().unwrap_or_default();
        let captured = lines.into_iter().map(|line| line.text);
        let counts = |text: &String| text.starts_with("- **") && unmarked(text).is_none();
        let mut captured: Vec<String> = captured.filter(counts).collect();
        captured.drain(..captured.len().saturating_sub(MAX_KNOWN));
        captured
    }

    /// Writes facts to MEMORY.md, unless it has them.
    pub(in crate::agent) fn learn(
        &self,
        session: &SessionName,
        facts: &[&Fact],
        now: Timestamp,
    ) -> Taken {
        let mut taken = Taken::default();
        if facts.is_empty() {
            return taken;
        }
        let texts = facts
            .iter()
            .map(|fact| bullet(fact.capture.category.as_str(), &fact.capture.detail));
        let texts: Vec<String> = texts.collect();
        let mut superseded: Vec<Vec<String>> = vec![Vec::new(); facts.len()];
        let judge = |place: usize, lines: &[Line]| {
            let judged = self.judged(facts[place], lines);
            let numbers = match &judged {
                Judgement::Supersedes(numbers) => numbers.as_slice(),
                Judgement::Add | Judgement::Known => &[],
            };
            let outdated = lines.iter().filter(|line| numbers.contains(&line.number));
            superseded[place] = outdated.map(|line| line.text.clone()).collect();
            judged
        };
        let memory = self.workspace.long_term();
        let added = match memory.add_all(now, &Section::AutoCaptured, &texts, judge) {
            Ok(added) => added,
            Err(error) => {
                taken.problems.push(advised(&error));
                return taken;
            }
        };
        let written = facts.iter().zip(added).zip(superseded);
        let written = written.filter_map(|((fact, added), superseded)| {
            let superseded = match added {
                Added::Added => superseded,
                Added::AtEndOfLarge => Vec::new(),
                Added::Known | Added::NoFile | Added::Full => return None,
            };
            Some(Captured {
                session: session.to_string(),
                message: fact.message.as_str().to_owned(),
                category: fact.capture.category.to_string(),
                text: fact.capture.detail.clone(),
                superseded,
                entry: None,
                files: vec![LONG_TERM.to_owned()],
            })
        });
        let written: Vec<Captured> = written.collect();
        if written.is_empty() {
            return taken;
        }
        match self.receipts.add(written, now) {
            Ok(receipts) => taken.receipts = receipts,
            Err(error) => taken.problems.push(chain(&error)),
        }
        taken
    }

    fn judged(&self, fact: &Fact, lines: &[Line]) -> Judgement {
        let detail = statement(&fact.capture.detail);
        if lines.iter().any(|line| statement(&line.text) == detail) {
            return Judgement::Known;
        }
        let outdated = lines
            .iter()
            .filter(|line| fact.replaces.contains(&line.text));
        let outdated: Vec<usize> = outdated.map(|line| line.number).collect();
        match &self.extractor {
            _ if !outdated.is_empty() => Judgement::Supersedes(outdated),
            Some(extractor) => judgement(extractor, lines, &fact.capture),
            None => Judgement::Add,
        }
    }
}
