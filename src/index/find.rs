//! A question -> hits, over the texts of long-term memory and all that was said in sessions: one index each, searched
//! as one.
//!
//! Pure. Nothing is hidden that has a word of the question or is near it; what has little comes last. Invariant: no two
//! hits say the same, nor stand in what another one shows.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use regex::Regex;

use super::corpus::{Corpus, Kind, Piece, folded, is_heading};
use super::session::{Words, found_by, turn_of};
use super::source_of;
use super::words::{self, Asked, ECHO_SCORE, Match, Segment};
use crate::chat::{Message, Role, Session, SessionName, Timestamp};
use crate::long_term::notes::NOTED;

/// Characters of a hit.
const CONTENT: usize = 300;
/// Of a heading or a question, with what follows.
const BELOW_HEADING: usize = 200;
/// What it adds that a person or the model chose to keep it.
const KEPT: f32 = 0.3;
/// What having the exact words adds to a score, where the words of the best line count 1.
const EXACT: f32 = 0.5;
/// Lines looked at for each hit wanted.
const LOOKED_AT: usize = 8;
/// Begins a line of a day's notes that the person said.
const PERSON: &str = NOTED[0];
/// Scores nearer to each other are equally good.
const SAME: f32 = 100.0;

/// A place that speaks of what is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// `MEMORY.md`, `memory/2026-02-14.md`, `entry mem_3`, `session trip`.
    pub source: String,
    /// Of a file counted from 1; of a session the number of the message.
    pub line: usize,
    /// The line, with what follows where it is a heading.
    pub content: String,
    pub score: f32,
    pub kind: Kind,
    pub at: Option<Timestamp>,
    /// Where else it is said: `memory/2026-02-14.md:3`.
    pub also: Vec<String>,
    /// The share of the question's words in it and around it, 0 to 1.
    pub overlap: f32,
    /// The cosine to the question, where it is known.
    pub similarity: Option<f32>,
    /// Neither a word of the question is in it nor is it near: it stands beside something that speaks of it.
    pub is_beside: bool,
}

/// A session as it is searched.
pub(super) struct Talk<'a> {
    pub(super) name: &'a SessionName,
    pub(super) session: &'a Session,
    pub(super) words: &'a Words,
    /// Messages near by meaning, with their cosines.
    pub(super) nearest: Vec<(usize, f32)>,
}

/// What is looked for.
#[derive(Clone, Copy)]
pub(super) struct Query<'a> {
    pub(super) text: &'a str,
    pub(super) k: usize,
    /// Chunks that are near by meaning, by their numbers, with their cosines.
    pub(super) near: &'a [(usize, f32)],
    /// A cosine from which on a text is found without any word of the question.
    pub(super) min_similarity: f32,
    /// Of long-term memory nothing else is found.
    pub(super) kinds: &'a [Kind],
    /// Whether what tools returned is found.
    pub(super) tools: bool,
    /// The open session, searched here or not: what other sessions have of it is no news.
    pub(super) open: Option<&'a Session>,
}

/// A place that may become a hit.
struct Candidate {
    /// 0 of long-term memory, else one more than the number of the session.
    segment: usize,
    place: usize,
    score: f32,
    overlap: f32,
    similarity: Option<f32>,
    is_exact: bool,
    is_near: bool,
}

/// The best hits, best first; of equally good ones the newest.
pub(super) fn find(corpus: &Corpus, talks: &[Talk<'_>], query: Query<'_>) -> Vec<Hit> {
    let cosines: BTreeMap<usize, f32> = query.near.iter().copied().collect();
    let pieces = corpus.pieces.iter().zip(0..);
    let near = pieces.filter_map(|(piece, place)| Some((place, *cosines.get(&piece.chunk)?)));
    let mut nearest: Vec<Vec<(u32, f32)>> = vec![near.collect()];
    nearest.extend(talks.iter().map(|talk| talk.words.near(&talk.nearest)));
    let of_talks = talks.iter().map(|talk| talk.words.index());
    let indexes = [&corpus.index].into_iter().chain(of_talks);
    let segments: Vec<Segment<'_>> = indexes
        .zip(&nearest)
        .map(|(index, nearest)| Segment { index, nearest })
        .collect();
    let is_wanted = |segment, place| segment > 0 || corpus.is_wanted(place as usize, query);
    let max = query.k.saturating_mul(LOOKED_AT).saturating_add(64);
    let ranked = words::search(&segments, query.text, max, &is_wanted);
    let exact = corpus.exact(query);
    let similarity = |hit: &Match| {
        let near = nearest[hit.segment].iter().find(|(at, _)| *at == hit.place);
        near.map(|(_, cosine)| *cosine)
    };
    let mut candidates: Vec<Candidate> = ranked
        .iter()
        .map(|hit| {
            let is_exact = hit.segment == 0 && exact.contains(&(hit.place as usize));
            let similarity = similarity(hit);
            Candidate {
                segment: hit.segment,
                place: hit.place as usize,
                score: hit.score + corpus.bonus(hit, is_exact),
                overlap: hit.overlap,
                similarity,
                is_exact,
                is_near: similarity.is_some_and(|cosine| cosine >= query.min_similarity),
            }
        })
        .collect();
    candidates
        .retain(|it| it.overlap > 0.0 || it.is_near || it.is_exact || it.similarity.is_none());
    // What the index makes nothing of, such as signs or parts of words, is there all the same.
    let seen: HashSet<usize> = candidates
        .iter()
        .filter(|it| it.segment == 0)
        .map(|it| it.place)
        .collect();
    let unranked = exact.into_iter().filter(|place| !seen.contains(place));
    candidates.extend(unranked.map(|place| Candidate {
        segment: 0,
        place,
        score: EXACT,
        overlap: 1.0,
        similarity: None,
        is_exact: true,
        is_near: false,
    }));
    let mut asked = corpus.index.asked(query.text);
    let mut hits: Vec<Hit> = Vec::new();
    let mut chosen = Chosen::default();
    candidates.retain_mut(|candidate| {
        let Some(talk) = candidate.talk(talks) else {
            return true;
        };
        let Some((at, message)) = talk.message(candidate.place) else {
            return true;
        };
        if message.role == Role::User && asked.is_echo(&message.said()) {
            candidate.score = ECHO_SCORE;
        }
        let is_copy = query.open.is_some_and(|open| talk.copies(open, at));
        !is_copy && (query.tools || message.role != Role::Tool)
    });
    set_back_questions(&mut candidates, corpus, talks, &mut asked);
    candidates.sort_by(|a, b| better(corpus, talks, a, b));
    for candidate in candidates {
        if hits.len() == query.k {
            break;
        }
        hits.extend(match candidate.segment.checked_sub(1) {
            None => corpus.hit(&candidate, &mut asked, &mut chosen),
            Some(talk) => talks[talk].hit(&candidate, &mut asked, &mut chosen),
        });
    }
    hits
}

impl Candidate {
    /// The session that it was said in.
    fn talk<'t>(&self, talks: &'t [Talk<'t>]) -> Option<&'t Talk<'t>> {
        talks.get(self.segment.checked_sub(1)?)
    }
}

/// Puts what merely asks, and what was found for its sake, behind what may answer: all that is near, or has half as much
/// of the question as the best that asks nothing.
fn set_back_questions(
    candidates: &mut [Candidate],
    corpus: &Corpus,
    talks: &[Talk<'_>],
    asked: &mut Asked<'_>,
) {
    let said = |candidate: &Candidate| {
        let Some(talk) = candidate.talk(talks) else {
            let piece = &corpus.pieces[candidate.place];
            let line = corpus.text_of(piece);
            let of_person = line.trim_start().strip_prefix(PERSON);
            let is_daily = corpus.chunks[piece.chunk].kind == Kind::Daily;
            return match of_person.filter(|_| is_daily) {
                Some(said) => (said.into(), true),
                None => (line.into(), false),
            };
        };
        let message = talk.message(candidate.place);
        let said = message.map(|(_, it)| (it.said(), it.role == Role::User));
        said.unwrap_or_default()
    };
    // Of what asks nothing the share of the question that it has.
    let shares: Vec<Option<f32>> = candidates
        .iter()
        .map(|candidate| {
            let (said, is_persons) = said(candidate);
            let answers = !is_persons || !asked.merely_asks(&said);
            answers.then(|| asked.coverage(beginning(&said)))
        })
        .collect();
    let best = shares.iter().flatten().copied().fold(0.0, f32::max);
    let answers = candidates.iter().zip(&shares).filter(|(it, share)| {
        share.is_some_and(|share| it.is_near || (share > 0.0 && share >= best / 2.0))
    });
    let lowest = answers.map(|(it, _)| it.score).min_by(f32::total_cmp);
    let Some(below) = lowest.map(|lowest| lowest - 1.0 / SAME) else {
        return;
    };
    let asking: HashSet<(usize, usize)> = candidates
        .iter()
        .zip(&shares)
        .filter(|(_, share)| share.is_none())
        .map(|(it, _)| (it.segment, it.place))
        .collect();
    for (candidate, share) in candidates.iter_mut().zip(shares) {
        let before = candidate.place.checked_sub(1);
        let is_behind_one = before.is_some_and(|it| asking.contains(&(candidate.segment, it)));
        // What has none of the words was found for the sake of the question before it.
        let is_beside = share == Some(0.0) && is_behind_one && !candidate.is_near;
        if share.is_none() || is_beside {
            candidate.score = candidate.score.min(below);
        }
    }
}

/// As much of a text as is read to see what it has of a question.
fn beginning(text: &str) -> &str {
    const READ: usize = 16 << 10;
    &text[..text.floor_char_boundary(READ)]
}

fn better(corpus: &Corpus, talks: &[Talk<'_>], a: &Candidate, b: &Candidate) -> Ordering {
    let rounded = |candidate: &Candidate| (candidate.score * SAME).round();
    let time = |candidate: &Candidate| match candidate.segment.checked_sub(1) {
        None => corpus.chunks[corpus.pieces[candidate.place].chunk].at,
        Some(talk) => talks[talk]
            .message(candidate.place)
            .and_then(|(_, it)| it.at),
    };
    let place = |candidate: &Candidate| (candidate.segment, candidate.place);
    rounded(b)
        .total_cmp(&rounded(a))
        .then_with(|| time(b).cmp(&time(a)))
        .then_with(|| place(a).cmp(&place(b)))
}

impl Talk<'_> {
    /// The message at a place, and where in the session it stands.
    fn message(&self, place: usize) -> Option<(usize, &Message)> {
        let at = self.words.message(u32::try_from(place).ok()?);
        Some((at, self.session.messages().get(at)?))
    }

    /// Returns whether a message is one of the open session, too: a fork begins with what its original has, each at its
    /// place.
    fn copies(&self, open: &Session, at: usize) -> bool {
        let its = open
            .messages()
            .get(at)
            .filter(|_| turn_of(open, at).is_some());
        let own = self.session.messages().get(at);
        self.session.name() != open.name()
            && own.zip(its).is_some_and(|(own, its)| {
                (&own.id, own.role, own.at) == (&its.id, its.role, its.at)
                    && own.said() == its.said()
            })
    }

    /// The part of a message that has the words of the question, or else its beginning.
    fn hit(
        &self,
        candidate: &Candidate,
        asked: &mut Asked<'_>,
        chosen: &mut Chosen,
    ) -> Option<Hit> {
        let (at, message) = self.message(candidate.place)?;
        if !chosen.messages.insert((candidate.segment, at)) {
            return None;
        }
        let said = found_by(message);
        let part = asked.passage(&said, CONTENT);
        let part = part.map_or(&*said, |part| &said[part]);
        let part: String = part.trim().chars().take(CONTENT).collect();
        let who = message.speaker().unwrap_or(message.role.as_str());
        let content = format!("{who}: {part}");
        chosen.texts.insert(folded(&part)).then(|| Hit {
            source: source_of(self.name),
            line: at + 1,
            content,
            score: candidate.score,
            kind: Kind::Said,
            at: message.at,
            also: Vec::new(),
            overlap: candidate.overlap,
            similarity: candidate.similarity,
            is_beside: !candidate.is_near && asked.coverage(&said) == 0.0,
        })
    }
}

impl Corpus {
    fn hit(
        &self,
        candidate: &Candidate,
        asked: &mut Asked<'_>,
        chosen: &mut Chosen,
    ) -> Option<Hit> {
        let piece = &self.pieces[candidate.place];
        let (content, lines) = self.content(piece, asked);
        let coverage = asked.coverage(self.text_of(piece));
        let chunk = &self.chunks[piece.chunk];
        let has_words = coverage > 0.0 || candidate.is_exact;
        chosen
            .takes(piece, has_words, &content, lines)
            .then(|| Hit {
                source: chunk.source.to_string(),
                line: piece.line,
                content,
                score: candidate.score,
                kind: chunk.kind,
                at: chunk.at,
                also: Vec::new(),
                overlap: candidate.overlap,
                similarity: candidate.similarity,
                is_beside: !candidate.is_near && !has_words,
            })
    }

    /// What a place is worth beside what its words and its meaning are.
    fn bonus(&self, hit: &Match, is_exact: bool) -> f32 {
        let piece = self
            .pieces
            .get(hit.place as usize)
            .filter(|_| hit.segment == 0);
        let is_kept = piece
            .is_some_and(|piece| matches!(self.chunks[piece.chunk].kind, Kind::Note | Kind::Entry));
        (if is_exact { EXACT } else { 0.0 }) + if is_kept { KEPT } else { 0.0 }
    }

    fn is_wanted(&self, place: usize, query: Query<'_>) -> bool {
        let chunk = &self.chunks[self.pieces[place].chunk];
        query.kinds.contains(&chunk.kind)
    }

    /// Places that have the words of the question as they are written (Q18).
    fn exact(&self, query: Query<'_>) -> HashSet<usize> {
        let needle = folded(query.text);
        if needle.is_empty() {
            return HashSet::new();
        }
        // Read once for all lines; a needle too large for it is in none of them.
        let Ok(pattern) = Regex::new(&regex::escape(&needle)) else {
            return HashSet::new();
        };
        let has = |place: &usize| {
            let folded = &self.pieces[*place].folded;
            folded.len() >= needle.len() && pattern.is_match(folded)
        };
        let places = 0..self.pieces.len();
        let wanted = places.filter(|place| self.is_wanted(*place, query));
        wanted.filter(has).collect()
    }

    /// What is shown of a place, and how many lines that is. A long line is shown where it has the words.
    fn content(&self, piece: &Piece, asked: &Asked<'_>) -> (String, usize) {
        let line = self.text_of(piece).trim();
        if line.chars().count() > CONTENT {
            let part = asked.passage(line, CONTENT);
            let part = part.map_or(line, |part| line[part].trim());
            return (part.chars().take(CONTENT).collect(), 1);
        }
        // A question stands for the reply behind it, as a heading does for what is below.
        if !is_heading(line) && !line.ends_with(['?', '？', '؟']) {
            return (line.to_owned(), 1);
        }
        let rest = &self.chunks[piece.chunk].text[piece.bytes.end..];
        let mut content = line.to_owned();
        let mut lines = 1;
        for below in rest.split('\n').skip(1) {
            if content.len() + below.len() > BELOW_HEADING {
                break;
            }
            lines += 1;
            if !below.trim().is_empty() {
                content.push('\n');
                content.push_str(below.trim_end());
            }
        }
        (content, lines)
    }
}

/// What the hits so far say.
#[derive(Default)]
struct Chosen {
    texts: HashSet<String>,
    chunks: HashSet<usize>,
    /// Lines that are shown, by chunk.
    shown: HashSet<(usize, usize)>,
    /// Messages, by segment.
    messages: HashSet<(usize, usize)>,
}

impl Chosen {
    fn takes(&mut self, piece: &Piece, has_words: bool, content: &str, lines: usize) -> bool {
        // Without words of its own it was found by those around it, or by its chunk: that is told once.
        let says_nothing_new = !has_words && self.chunks.contains(&piece.chunk);
        // Of one that says the same as another hit the neighbours are no news either.
        self.chunks.insert(piece.chunk);
        if says_nothing_new
            || self.shown.contains(&(piece.chunk, piece.line))
            || !self.texts.insert(folded(content))
        {
            return false;
        }
        let lines = piece.line..piece.line + lines;
        self.shown.extend(lines.map(|line| (piece.chunk, line)));
        true
    }
}
