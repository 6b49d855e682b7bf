//! Words that are worth keeping, written down before the model is asked (Q2).

pub(super) use crate::long_term::notes::LONG_TERM;

use super::Parts;
use crate::chat::{Message, Role, SessionName, Timestamp, TurnId};
use crate::hint::{advised, chain};
use crate::long_term::notes::{Added, Captured, Judgement, Line, NotesError, Receipt, Section};
use crate::memory::capture::{Capture, Category, Extractor, Verdict};
use crate::text::lines::single_spaced;
use crate::text::secrets::Class;

/// What became of it.
#[derive(Debug, Default)]
pub(in crate::agent) struct Taken {
    pub(in crate::agent) receipts: Vec<Receipt>,
    pub(in crate::agent) problems: Vec<String>,
    /// What the disk refused: it is tried again with the next turn.
    pub(in crate::agent) unwritten: Vec<Unwritten>,
}

/// A message of the person with the files that lack what is worth keeping of it.
#[derive(Clone, Debug)]
pub(in crate::agent) struct Unwritten {
    pub(in crate::agent) session: SessionName,
    /// Without secrets.
    pub(in crate::agent) message: Message,
    /// What was said to the person just before.
    before: String,
    at: Timestamp,
    /// Whether the session's state lacks it.
    pub(in crate::agent) in_state: bool,
    /// Whether MEMORY.md lacks it.
    pub(in crate::agent) in_memory: bool,
}

impl Taken {
    /// With what became of something later.
    pub(in crate::agent) fn and(mut self, later: Self) -> Self {
        self.receipts.extend(later.receipts);
        self.problems.extend(later.problems);
        self.unwritten.extend(later.unwritten);
        self
    }
}

/// A capture that stands in MEMORY.md.
struct KeptForGood {
    file: String,
    /// The lines it took the place of.
    superseded: Vec<String>,
}

impl Parts {
    /// Writes down what a message has that is worth keeping. `before`: what was said to the person just before.
    pub(in crate::agent) fn capture(
        &self,
        session: &SessionName,
        input: &Message,
        before: &str,
        now: Timestamp,
    ) -> Taken {
        self.write_captures(Unwritten {
            session: session.clone(),
            message: input.clone(),
            before: before.to_owned(),
            at: now,
            in_state: true,
            in_memory: true,
        })
    }

    /// Writes what is worth keeping of a message to the files that lack it.
    pub(in crate::agent) fn write_captures(&self, mut lacking: Unwritten) -> Taken {
        let mut taken = Taken::default();
        let Some(extractor) = &self.extractor else {
            return taken;
        };
        let captures = extractor.capture(&lacking.message, &lacking.before);
        let mut in_state = None;
        if lacking.in_state {
            match self.keep_in_session(&lacking.session, &captures, lacking.at) {
                Ok(file) => (in_state, lacking.in_state) = (file, false),
                Err(error) => taken.problems.push(advised(&error)),
            }
        }
        let of_sentences = captures.chunk_by(|one, next| one.detail == next.detail);
        let of_sentences: Vec<&[Capture]> = of_sentences.collect();
        let mut kept = Vec::new();
        if lacking.in_memory {
            match self.keep_for_good(extractor, &of_sentences, lacking.at) {
                Ok(files) => (kept, lacking.in_memory) = (files, false),
                Err(error) => taken.problems.push(advised(&error)),
            }
        }
        kept.resize_with(of_sentences.len(), || None);
        let written: Vec<Captured> = of_sentences
            .into_iter()
            .zip(kept)
            .map(|(of_sentence, kept)| {
                let superseded = kept.iter().flat_map(|kept| kept.superseded.clone());
                Captured {
                    session: lacking.session.to_string(),
                    message: lacking.message.id.as_str().to_owned(),
                    category: named(of_sentence),
                    text: of_sentence[0].detail.clone(),
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
        let at = lacking.at;
        if lacking.in_state || lacking.in_memory {
            taken.unwritten.push(lacking);
        }
        if written.is_empty() {
            return taken;
        }
        match self.receipts.add(written, at) {
            Ok(receipts) => taken.receipts = receipts,
            Err(error) => taken.problems.push(chain(&error)),
        }
        taken
    }

    /// Notes which kinds of secrets a message has: they stand in history, and nowhere else.
    pub(in crate::agent) fn note_masked(
        &self,
        session: &SessionName,
        message: &Message,
        turn: TurnId,
        classes: &[Class],
        now: Timestamp,
    ) -> Taken {
        let mut taken = Taken::default();
        if self.extractor.is_none() || classes.is_empty() {
            return taken;
        }
        let classes: Vec<String> = classes.iter().copied().map(with_article).collect();
        let masked = Captured {
            session: session.to_string(),
            message: message.id.as_str().to_owned(),
            category: Captured::MASKED.to_owned(),
            text: format!(
                "Looks like {}; left out of memory (turn {turn})",
                classes.join(", ")
            ),
            ..Captured::default()
        };
        match self.receipts.add(vec![masked], now) {
            Ok(receipts) => taken.receipts = receipts,
            Err(error) => taken.problems.push(chain(&error)),
        }
        taken
    }

    /// The same for a message of a process that may have been killed before it did so; one of which anything was
    /// captured has been seen to, whatever became of it.
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
        self.capture(session, &own, "", now)
    }

    /// Writes captures to the session's state; tells which file has them now.
    fn keep_in_session(
        &self,
        session: &SessionName,
        captures: &[Capture],
        now: Timestamp,
    ) -> Result<Option<String>, NotesError> {
        if captures.is_empty() {
            return Ok(None);
        }
        let lines = captures.iter();
        let lines: Vec<(&str, &str)> = lines
            .map(|capture| (capture.category.as_str(), capture.detail.as_str()))
            .collect();
        let notes = self.workspace.session(session);
        let state = notes.state();
        state.append(now, &lines, self.settings.wal.max_bytes)?;
        Ok(Some(state.source().to_owned()))
    }

    /// Writes what sentences say that is to last to MEMORY.md, in one go, unless it is known there; tells of each where
    /// it is now.
    fn keep_for_good(
        &self,
        extractor: &Extractor,
        of_sentences: &[&[Capture]],
        now: Timestamp,
    ) -> Result<Vec<Option<KeptForGood>>, NotesError> {
        let mut kept: Vec<Option<KeptForGood>> = of_sentences.iter().map(|_| None).collect();
        let sayings = of_sentences.iter().enumerate();
        let mut sayings: Vec<(usize, Saying<'_>)> = sayings
            .filter_map(|(place, captures)| Some((place, Saying::of(extractor, captures)?)))
            .collect();
        if sayings.is_empty() {
            return Ok(kept);
        }
        let texts: Vec<String> = sayings.iter().map(|(_, saying)| saying.text()).collect();
        let judge = |place: usize, lines: &[Line]| sayings[place].1.judged(extractor, lines);
        let memory = self.workspace.long_term();
        let added = memory.add_all(now, &Section::AutoCaptured, &texts, judge)?;
        for (added, (place, saying)) in added.into_iter().zip(sayings) {
            kept[place] = saying.kept(added);
        }
        Ok(kept)
    }
}

/// A sentence that may last.
struct Saying<'c> {
    durable: Option<&'c Capture>,
    correction: Option<&'c Capture>,
    /// The lines it takes the place of.
    superseded: Vec<String>,
    /// Whether the file says it already.
    is_held: bool,
}

impl<'c> Saying<'c> {
    /// `None`: nothing of it lasts.
    fn of(extractor: &Extractor, captures: &'c [Capture]) -> Option<Self> {
        let is_durable = |capture: &&Capture| extractor.is_durable(capture.category);
        let is_correction = |capture: &&Capture| capture.category == Category::Correction;
        let saying = Self {
            durable: captures.iter().find(is_durable),
            correction: captures.iter().find(is_correction),
            superseded: Vec::new(),
            is_held: false,
        };
        saying.capture().is_some().then_some(saying)
    }

    fn capture(&self) -> Option<&'c Capture> {
        self.durable.or(self.correction)
    }

    fn text(&self) -> String {
        let bullet = |capture: &Capture| bullet(capture.category.as_str(), &capture.detail);
        self.capture().map(bullet).unwrap_or_default()
    }

    /// What is to become of the lines that are there. A correction lasts only where it takes the place of one.
    fn judged(&mut self, extractor: &Extractor, lines: &[Line]) -> Judgement {
        let Some(capture) = self.capture() else {
            return Judgement::Known;
        };
        let mut judged = judgement(extractor, lines, capture);
        if let (Judgement::Add, Some(correction)) = (&judged, self.correction) {
            judged = judgement(extractor, lines, correction);
        }
        if self.durable.is_none() && !matches!(judged, Judgement::Supersedes(_)) {
            judged = Judgement::Known;
        }
        let mut texts = lines.iter().map(|line| &line.text);
        self.is_held = texts.any(|text| is_captured_as(text, &capture.detail));
        self.superseded = match &judged {
            Judgement::Supersedes(numbers) => {
                let outdated = lines.iter().filter(|line| numbers.contains(&line.number));
                outdated.map(|line| line.text.clone()).collect()
            }
            Judgement::Known | Judgement::Add => Vec::new(),
        };
        judged
    }

    fn kept(self, added: Added) -> Option<KeptForGood> {
        let superseded = match added {
            Added::Added => self.superseded,
            // Of a large file no other line was changed.
            Added::AtEndOfLarge => Vec::new(),
            Added::Known if self.is_held => Vec::new(),
            Added::Known | Added::NoFile | Added::Full => return None,
        };
        Some(KeptForGood {
            file: LONG_TERM.to_owned(),
            superseded,
        })
    }
}

/// Between the categories of a sentence that falls into several.
const AND: &str = ", ";

fn with_article(class: Class) -> String {
    let article = match class {
        Class::AccessCode | Class::Account => "an ",
        Class::RecoveryCode => "",
        _ => "a ",
    };
    format!("{article}{}", class.as_str())
}

fn named(of_sentence: &[Capture]) -> String {
    let names = of_sentence.iter().map(|capture| capture.category.as_str());
    names.collect::<Vec<_>>().join(AND)
}

/// What is to become of the lines that are there.
pub(super) fn judgement(extractor: &Extractor, lines: &[Line], capture: &Capture) -> Judgement {
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    match extractor.written(&texts, capture) {
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

/// Returns what a line says, for comparing: without the marks of a list and of a category, blanks, case and a full
/// stop. Only a whole line says the same: a part may be denied in it, or be a part of another word.
pub(super) fn statement(line: &str) -> String {
    let line = line.trim();
    let marks = ["- ", "* ", "+ "];
    let said = marks.iter().find_map(|mark| line.strip_prefix(mark));
    let said = said.unwrap_or(line).trim_start();
    let captured = said
        .strip_prefix("**")
        .and_then(|rest| rest.split_once("**: "));
    let said = captured.map_or(said, |(_, said)| said);
    single_spaced(said).trim_end_matches('.').to_lowercase()
}

/// Whether a line was captured, counts, and says just that.
pub(super) fn is_captured_as(line: &str, said: &str) -> bool {
    line.trim_start().starts_with("- **") && statement(line) == statement(said)
}

/// A capture as it stands in its files: under each of its categories, if it has any there.
pub(super) fn bullets(what: &Captured) -> Vec<String> {
    if what.is_bare() {
        return vec![what.text.clone()];
    }
    let categories = what.category.split(AND);
    categories
        .map(|category| bullet(category, &what.text))
        .collect()
}

pub(super) fn bullet(category: &str, detail: &str) -> String {
    format!("**{category}**: {detail}")
}
