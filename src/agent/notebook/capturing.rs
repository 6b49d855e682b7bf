//! Words that are worth keeping, written down before the model is asked (Q2). Unit: one message of the person.

use super::Parts;
use crate::chat::{Message, SessionName, Timestamp};
use crate::hint::chain;
use crate::memory::capture::{Captor, Capture, Verdict};
use crate::notes::{Added, Captured, Judgement, Line, Receipt, Section};

/// What became of it.
#[derive(Debug, Default)]
pub(in crate::agent) struct Taken {
    pub(in crate::agent) receipts: Vec<Receipt>,
    pub(in crate::agent) problems: Vec<String>,
}

/// A capture that stands in MEMORY.md.
struct KeptForGood {
    file: String,
    /// The lines it took the place of.
    superseded: Vec<String>,
}

pub(super) const LONG_TERM: &str = "MEMORY.md";

impl Parts {
    /// Writes down what a message has that is worth keeping.
    pub(in crate::agent) fn capture(
        &self,
        session: &SessionName,
        input: &Message,
        now: Timestamp,
    ) -> Taken {
        let mut taken = Taken::default();
        let Some(captor) = &self.captor else {
            return taken;
        };
        let captures = captor.capture(input);
        let in_state = self.keep_in_session(session, &captures, now, &mut taken.problems);
        let written: Vec<Captured> = captures
            .iter()
            .map(|capture| {
                let kept = self.keep_for_good(captor, capture, now, &mut taken.problems);
                let superseded = kept.iter().flat_map(|kept| kept.superseded.clone());
                Captured {
                    session: session.to_string(),
                    message: input.id.as_str().to_owned(),
                    category: capture.category.as_str().to_owned(),
                    text: capture.detail.clone(),
                    superseded: superseded.collect(),
                    entry: None,
                    files: in_state
                        .iter()
                        .cloned()
                        .chain(kept.map(|kept| kept.file))
                        .collect(),
                }
            })
            .filter(|captured| !captured.files.is_empty())
            .collect();
        if written.is_empty() {
            return taken;
        }
        match self.receipts.add(written, now) {
            Ok(receipts) => taken.receipts = receipts,
            Err(error) => taken.problems.push(chain(&error)),
        }
        taken
    }

    /// Writes captures to the session's state; tells which file has them now.
    fn keep_in_session(
        &self,
        session: &SessionName,
        captures: &[Capture],
        now: Timestamp,
        problems: &mut Vec<String>,
    ) -> Option<String> {
        if captures.is_empty() {
            return None;
        }
        let lines = captures.iter();
        let lines: Vec<(&str, &str)> = lines
            .map(|capture| (capture.category.as_str(), capture.detail.as_str()))
            .collect();
        let notes = self.workspace.session(session);
        let state = notes.state();
        match state.append(now, &lines, self.settings.wal.max_bytes) {
            Ok(()) => Some(state.source().to_owned()),
            Err(error) => {
                problems.push(chain(&error));
                None
            }
        }
    }

    /// Writes a capture that is to last to MEMORY.md, unless it is known there; tells where it is now.
    fn keep_for_good(
        &self,
        captor: &Captor,
        capture: &Capture,
        now: Timestamp,
        problems: &mut Vec<String>,
    ) -> Option<KeptForGood> {
        if !captor.is_durable(capture.category) {
            return None;
        }
        let text = bullet(capture.category.as_str(), &capture.detail);
        let mut superseded = Vec::new();
        let judge = |lines: &[Line]| {
            let judgement = judgement(captor, lines, capture);
            if let Judgement::Supersedes(numbers) = &judgement {
                let outdated = lines.iter().filter(|line| numbers.contains(&line.number));
                superseded.extend(outdated.map(|line| line.text.clone()));
            }
            judgement
        };
        let memory = self.workspace.long_term();
        match memory.add(now, &Section::AutoCaptured, &text, judge) {
            Ok(added @ (Added::Added | Added::AtEndOfLarge)) => {
                // Of a large file no other line was changed.
                if added == Added::AtEndOfLarge {
                    superseded.clear();
                }
                Some(KeptForGood {
                    file: LONG_TERM.to_owned(),
                    superseded,
                })
            }
            Ok(Added::Known | Added::NoFile | Added::Full) => None,
            Err(error) => {
                problems.push(chain(&error));
                None
            }
        }
    }
}

/// What is to become of the lines that are there.
fn judgement(captor: &Captor, lines: &[Line], capture: &Capture) -> Judgement {
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    match captor.written(&texts, capture) {
        Verdict::AlreadyThere => Judgement::Known,
        Verdict::New => Judgement::Add,
        Verdict::Supersedes(place) => Judgement::Supersedes(
            lines
                .get(place)
                .map(|line| line.number)
                .into_iter()
                .collect(),
        ),
    }
}

/// What a line says, for comparing: without the marks of a list and of a category, blanks, case and a full stop. Only a whole
/// line says the same: a part may be denied in it, or be a part of another word.
pub(super) fn statement(line: &str) -> String {
    let line = line.trim();
    let marks = ["- ", "* ", "+ "];
    let said = marks.iter().find_map(|mark| line.strip_prefix(mark));
    let said = said.unwrap_or(line).trim_start();
    let captured = said
        .strip_prefix("**")
        .and_then(|rest| rest.split_once("**: "));
    let said = captured.map_or(said, |(_, said)| said);
    let words: Vec<&str> = said.split_whitespace().collect();
    words.join(" ").trim_end_matches('.').to_lowercase()
}

/// A capture as it stands in its files.
pub(super) fn written(what: &Captured) -> String {
    if what.is_bare() {
        what.text.clone()
    } else {
        bullet(&what.category, &what.text)
    }
}

fn bullet(category: &str, detail: &str) -> String {
    format!("**{category}**: {detail}")
}
