//! Reads plans and decisions: objective, goals, phase, decisions with what they were preferred to,
//! constraints, assumptions, conclusions and open questions, from what the person says.
//!
//! ```text
//!  text -> sentences (no quotes, no stories) -> clauses -> cues -> parts -> findings
//! ```
//! One clause gives one finding (and a decision the alternatives it was preferred to). The words are in
//! `config/cues/reasoning.yaml`.

mod clauses;
mod file;
mod findings;
mod marks;
mod parts;

use std::ops::Range;

use regex::Captures;

use self::clauses::{clauses, head, is_inside, plain, quoted};
use self::findings::Findings;
use self::marks::Marks;
use self::parts::Separators;
use super::Reader;
use crate::memory::tracking::cues::Cues;
use crate::memory::tracking::prose::{End, Sentence, is_title, sentences};
use crate::memory::tracking::{Exchange, Finding, Kind, Note, Speaker, Status};

/// What a constraint is about if nothing tells.
const ANY_LABEL: &str = "Requirement";

/// Finds what a person plans and decides.
#[derive(Debug)]
pub struct ReasoningReader {
    groups: Vec<Group>,
    /// A reason or a time (`why`) before what matters (`text`).
    fronted: Cues,
    marks: Sentences,
    headings: Vec<(Kind, Marks)>,
    /// What a constraint is about, told by its words; the first one counts.
    labels: Vec<(String, Marks)>,
    separators: Separators,
}

/// Cues that are looked for together.
#[derive(Debug)]
struct Group {
    /// A clause without one of these is not worth a look; none is needed if there are none.
    needs: Marks,
    /// The clauses have no subject of their own.
    is_elliptic: bool,
    cues: Cues,
}

/// The groups that a sentence is worth a look of.
struct Worthy<'r> {
    groups: Vec<&'r Group>,
    leads: &'r Marks,
}

/// Marks of whole texts and sentences, and of their clauses.
#[derive(Debug, Default)]
struct Sentences {
    /// Texts of which nothing is read.
    fiction: Marks,
    /// Conditions and questions, whatever their clauses say.
    unreal: Marks,
    /// Begins a story of the past, which goes on to the end of its paragraph …
    story: Marks,
    /// … or to one of these.
    present: Marks,
    /// Words before a clause that say nothing.
    leads: Marks,
    /// Between two clauses.
    breaks: Marks,
    /// A blank and the first words of a clause that needs no break before it.
    openers: Marks,
}

/// What stands before the clause that matters, and the rest of the sentence.
#[derive(Debug, Default)]
struct Fronted<'t> {
    why: Option<&'t str>,
    /// What the decision that follows is preferred to.
    not: Vec<&'t str>,
    rest: &'t str,
}

/// Where the subject of a clause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// In the clause.
    Needed,
    /// In the clause, or in the one before it, or nowhere: "picked Nomad".
    Understood,
}

impl Worthy<'_> {
    fn begins(&self, text: &str, subject: Subject) -> bool {
        let begins = |text: &str| self.of(subject).any(|group| group.cues.begins(text));
        let stripped = self.leads.stripped(text);
        begins(text) || (stripped.len() < text.len() && begins(stripped))
    }

    /// The weightiest thing that a clause says, with the words that lead to it or without.
    fn said<'t>(&self, clause: &'t str, subject: Subject) -> Option<(Kind, Captures<'t>)> {
        let said = |clause: &'t str| {
            self.of(subject)
                .flat_map(|group| group.cues.read(clause))
                .min_by_key(|(kind, _)| findings::weight(*kind))
        };
        said(clause).or_else(|| {
            let stripped = self.leads.stripped(clause);
            (stripped.len() < clause.len())
                .then(|| said(stripped))
                .flatten()
        })
    }

    fn of(&self, subject: Subject) -> impl Iterator<Item = &Group> {
        let of = move |group: &&&Group| !group.is_elliptic || subject == Subject::Understood;
        self.groups.iter().filter(of).copied()
    }
}

impl Reader for ReasoningReader {
    fn read(&self, exchange: &Exchange<'_>) -> Vec<Finding> {
        let mut findings = Findings::default();
        for text in exchange.said_by(&[Speaker::User]) {
            if !self.marks.fiction.is_in(text) {
                self.text(text, &mut findings);
            }
        }
        findings.found()
    }
}

impl ReasoningReader {
    fn text(&self, text: &str, findings: &mut Findings) {
        let quoted = quoted(text);
        let mut is_story = false;
        let mut before = 0;
        // What the line before says of this one.
        let mut heading = None;
        for sentence in sentences(text) {
            let start = sentence.text.as_ptr().addr() - text.as_ptr().addr();
            let gap = text.get(before..start).unwrap_or_default();
            before = start + sentence.text.len();
            let goes_on = || gap.matches('\n').count() < 2;
            is_story = is_story && goes_on() && !self.marks.present.is_in(sentence.text);
            is_story = is_story || self.marks.story.is_in(sentence.text);
            if is_story || is_inside(&quoted, start) {
                continue;
            }
            let is_line = gap.contains('\n');
            let below = heading.take().filter(|_| is_line && !sentence.item);
            let listed = sentence.heading.and_then(|heading| self.headed(heading));
            heading = is_heading(&sentence, gap)
                .then(|| self.headed(sentence.text))
                .flatten();
            match below.or(listed.filter(|_| is_line)) {
                _ if heading.is_some() => {}
                Some(kind) => self.item(kind, &sentence, findings),
                None => self.sentence(&sentence, findings),
            }
        }
    }

    /// What a heading makes of the items, or of the one line, under it.
    fn headed(&self, heading: &str) -> Option<Kind> {
        let heading = plain(heading);
        let heading = heading.trim_end_matches(':').trim();
        let mut headings = self.headings.iter();
        let heading = headings.find(|(_, marks)| marks.is_in(heading));
        heading.map(|(kind, _)| *kind)
    }

    /// An item under a heading says what the heading names; with a cue for the same, without its words.
    fn item(&self, kind: Kind, sentence: &Sentence<'_>, findings: &mut Findings) {
        let words = plain(sentence.text);
        let said = self.worthy(&words).said(&words, Subject::Understood);
        let said = said.filter(|(found, _)| *found == kind);
        let note = match &said {
            Some((_, parts)) => self.note(kind, parts, &words),
            None => self.noted(kind, &words, None, &words),
        };
        findings.add(kind, note);
    }

    fn sentence(&self, sentence: &Sentence<'_>, findings: &mut Findings) {
        let words = plain(sentence.text);
        if self.marks.unreal.is_in(&words) {
            return;
        }
        let worthy = self.worthy(&words);
        let Fronted { why, not, rest } = self.fronted(&words, &worthy);
        let begins = |text: &str, subject| worthy.begins(text, subject);
        let mut subject = Subject::Understood;
        for clause in clauses(rest, self.breaks(rest), begins) {
            let said = worthy.said(clause, subject);
            subject = Subject::Needed;
            let Some((kind, parts)) = said else {
                continue;
            };
            subject = Subject::Understood;
            if sentence.end == End::Question && kind != Kind::Question {
                continue;
            }
            let mut note = self.note(kind, &parts, clause);
            if kind == Kind::Decision {
                note.why = note.why.or_else(|| why.map(str::to_owned));
                note.instead_of
                    .extend(not.iter().map(|&not| not.to_owned()));
            }
            findings.add(kind, note);
        }
    }

    fn worthy(&self, words: &str) -> Worthy<'_> {
        let is_worthy = |group: &&Group| group.needs.is_empty() || group.needs.is_in(words);
        Worthy {
            groups: self.groups.iter().filter(is_worthy).collect(),
            leads: &self.marks.leads,
        }
    }

    fn fronted<'t>(&self, words: &'t str, worthy: &Worthy<'_>) -> Fronted<'t> {
        let stripped = self.marks.leads.stripped(words);
        let mut fronted = Fronted {
            rest: words,
            ..Fronted::default()
        };
        if worthy.begins(stripped, Subject::Understood) {
            return fronted;
        }
        let Some((_, parts)) = self.fronted.read(head(stripped)).next() else {
            return fronted;
        };
        let part = |name| parts.name(name).map(|part| &stripped[part.range()]);
        fronted.why = part("why").map(|why| self.separators.whole(why));
        fronted.not.extend(
            part("not")
                .into_iter()
                .flat_map(|not| self.separators.each(not)),
        );
        if let Some(rest) = parts.name("text") {
            fronted.rest = &stripped[rest.start()..];
        }
        fronted
    }

    /// Where clauses may end and the next begin, in order.
    fn breaks(&self, text: &str) -> Vec<Range<usize>> {
        let openers = self.marks.openers.all(text);
        let openers = openers.map(|mark| mark.start..mark.start + 1);
        let mut breaks: Vec<_> = self.marks.breaks.all(text).chain(openers).collect();
        breaks.sort_by_key(|mark| mark.start);
        breaks
    }

    fn note(&self, kind: Kind, parts: &Captures<'_>, clause: &str) -> Note {
        let part = |name| parts.name(name).map(|part| part.as_str().trim());
        let part = |name| part(name).filter(|part| !part.is_empty());
        let text = part("text").unwrap_or_default();
        let mut note = self.noted(kind, text, part("label"), clause);
        note.why = note
            .why
            .or_else(|| part("why").map(|why| self.separators.whole(why).to_owned()));
        let preferred = part("not").map(|not| self.separators.each(not));
        let preferred = preferred.into_iter().flatten();
        note.instead_of.extend(preferred.map(str::to_owned));
        note
    }

    fn noted(&self, kind: Kind, text: &str, label: Option<&str>, clause: &str) -> Note {
        let separators = &self.separators;
        match kind {
            Kind::Decision => {
                let parts = separators.decision(text);
                Note {
                    why: parts.why.map(str::to_owned),
                    instead_of: parts.instead_of.into_iter().map(str::to_owned).collect(),
                    ..Note::new(parts.text)
                }
            }
            Kind::Alternative => {
                let parts = separators.rejection(text);
                Note {
                    why: parts.why.map(str::to_owned),
                    status: Some(Status::Rejected),
                    ..Note::new(parts.text)
                }
            }
            Kind::Constraint => {
                let text = separators.unreasoned(text);
                Note {
                    label: Some(self.label(label, text, clause)),
                    ..Note::new(text)
                }
            }
            Kind::Goal => Note::new(separators.unreasoned(text)),
            _ => Note::new(separators.whole(text)),
        }
    }

    /// The written label, or the one that the words tell, or the one of anything else.
    fn label(&self, written: Option<&str>, text: &str, clause: &str) -> String {
        let told = || {
            let of = |text| self.labels.iter().find(|(_, marks)| marks.is_in(text));
            of(text)
                .or_else(|| of(clause))
                .map(|(label, _)| label.clone())
        };
        match written {
            Some(written) => capitalised(written),
            None => told().unwrap_or_else(|| ANY_LABEL.to_owned()),
        }
    }
}

/// Whether a line, behind this gap, is a title.
fn is_heading(sentence: &Sentence<'_>, gap: &str) -> bool {
    let is_marked = gap.trim_end().ends_with('#');
    is_marked || is_title(sentence.text)
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}

#[cfg(test)]
mod tests;
