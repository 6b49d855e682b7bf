//! Words that are worth keeping, written down before the model is asked (Q2). Unit: one message of the person.

use super::Parts;
use crate::chat::{Message, Role, SessionName, Timestamp};
use crate::hint::chain;
use crate::memory::Backend;
use crate::memory::capture::{Captor, Capture, Verdict};
use crate::notes::{Added, Captured, Judgement, Line, Receipt, Section};

/// What became of it.
#[derive(Debug, Default)]
pub(in crate::agent) struct Taken {
    pub(in crate::agent) receipts: Vec<Receipt>,
    pub(in crate::agent) problems: Vec<String>,
}

impl Taken {
    /// With what became of something later.
    pub(in crate::agent) fn and(mut self, later: Self) -> Self {
        self.receipts.extend(later.receipts);
        self.problems.extend(later.problems);
        self
    }
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
        let kept = self.keep_for_good(captor, &captures, now, &mut taken.problems);
        let written: Vec<Captured> = captures
            .iter()
            .zip(kept)
            .map(|(capture, kept)| {
                let superseded = kept.iter().flat_map(|kept| kept.superseded.clone());
                Captured {
                    session: session.to_string(),
                    message: input.id.as_str().to_owned(),
                    category: capture.category.as_str().to_owned(),
                    text: capture.detail.clone(),
                    superseded: superseded.collect(),
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

    /// The same for a message of a process that may have been killed before it did so; one of which anything was captured has
    /// been seen to, whatever became of it.
    pub(in crate::agent) fn capture_missed(
        &self,
        session: &SessionName,
        missed: &Message,
        now: Timestamp,
    ) -> Taken {
        let is_its = |receipt: &Receipt| {
            receipt.what.session == session.as_str()
                && receipt.what.message == missed.id.as_str()
                && receipt.at >= missed.at
        };
        // What cannot be read cannot tell that it is new.
        let is_seen = self
            .receipts
            .all()
            .map_or(true, |all| all.iter().any(is_its));
        if is_seen || missed.role != Role::User || missed.is_reference() {
            return Taken::default();
        }
        // What was piped in stands behind a blank line, and is not the person's own.
        let said = missed.said();
        let own = said.split("\n\n").next().unwrap_or_default();
        let own = Message::text(missed.id.clone(), Role::User, own, missed.at);
        self.capture(session, &own, now)
    }

    /// Adds what a model was told to keep to MEMORY.md, unless it is there; tells what became of it (Q20).
    pub(in crate::agent) fn remember(&self, text: &str, now: Timestamp) -> String {
        if self.settings.backend == Backend::None {
            return "not written: nothing outlives this session".to_owned();
        }
        let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let key = statement(&folded);
        let known = |lines: &[Line]| {
            if lines.iter().any(|line| statement(&line.text) == key) {
                Judgement::Known
            } else {
                Judgement::Add
            }
        };
        let memory = self.workspace.long_term();
        match memory.add(now, &Section::Notes, &folded, known) {
            Ok(Added::Known) => "there already".to_owned(),
            Ok(Added::Added | Added::AtEndOfLarge) => "written".to_owned(),
            Ok(Added::NoFile | Added::Full) => "not written: it is full".to_owned(),
            Err(error) => format!("not written: {}", chain(&error)),
        }
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

    /// Writes those captures that are to last to MEMORY.md, in one go, unless they are known there; tells of each where it is
    /// now.
    fn keep_for_good(
        &self,
        captor: &Captor,
        captures: &[Capture],
        now: Timestamp,
        problems: &mut Vec<String>,
    ) -> Vec<Option<KeptForGood>> {
        let mut kept: Vec<Option<KeptForGood>> = captures.iter().map(|_| None).collect();
        let all = captures.iter().enumerate();
        let lasting: Vec<(usize, &Capture)> = all
            .filter(|(_, capture)| captor.is_durable(capture.category))
            .collect();
        if lasting.is_empty() {
            return kept;
        }
        let texts = lasting.iter();
        let texts: Vec<String> = texts
            .map(|(_, capture)| bullet(capture.category.as_str(), &capture.detail))
            .collect();
        let mut superseded: Vec<Vec<String>> = vec![Vec::new(); lasting.len()];
        let judge = |place: usize, lines: &[Line]| {
            let judgement = judgement(captor, lines, lasting[place].1);
            superseded[place] = match &judgement {
                Judgement::Supersedes(numbers) => {
                    let outdated = lines.iter().filter(|line| numbers.contains(&line.number));
                    outdated.map(|line| line.text.clone()).collect()
                }
                Judgement::Known | Judgement::Add => Vec::new(),
            };
            judgement
        };
        let memory = self.workspace.long_term();
        let added = match memory.add_all(now, &Section::AutoCaptured, &texts, judge) {
            Ok(added) => added,
            Err(error) => {
                problems.push(chain(&error));
                return kept;
            }
        };
        for ((added, superseded), (place, _)) in added.into_iter().zip(superseded).zip(lasting) {
            kept[place] = match added {
                Added::Added => Some(superseded),
                // Of a large file no other line was changed.
                Added::AtEndOfLarge => Some(Vec::new()),
                Added::Known | Added::NoFile | Added::Full => None,
            }
            .map(|superseded| KeptForGood {
                file: LONG_TERM.to_owned(),
                superseded,
            });
        }
        kept
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

/// A capture as it stands in both files.
pub(super) fn bullet(category: &str, detail: &str) -> String {
    format!("**{category}**: {detail}")
}
