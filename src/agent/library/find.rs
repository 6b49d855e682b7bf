//! A question -> hits: lines that have its words, the exact ones always, and chunks that are near by meaning.
//!
//! Unit: one question. Pure. Invariant: no two hits say the same, nor stand in what another one shows.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use super::chunks::is_heading;
use super::corpus::Corpus;
use super::lines::folded;
use super::pieces::Piece;
use super::sources::Kind;
use crate::chat::Timestamp;
use crate::memory::recall::{LEAST_OVERLAP, LEAST_OVERLAP_OF_EACH};
use crate::search::{Asked, Hit as Ranked};

/// Characters of a hit.
const CONTENT: usize = 300;
/// Of a heading, with what follows.
const BELOW_HEADING: usize = 200;
/// What having the exact words adds to a score, where the words of the best line count 1.
const EXACT: f32 = 0.5;
/// Lines looked at for each hit wanted.
const LOOKED_AT: usize = 8;
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
}

/// What is looked for.
#[derive(Clone, Copy)]
pub(super) struct Query<'a> {
    pub(super) text: &'a str,
    pub(super) k: usize,
    /// Chunks that are near by meaning, by their numbers, with their cosines.
    pub(super) near: &'a [(usize, f32)],
    /// A cosine from which on a chunk is found without any word of the question.
    pub(super) min_similarity: f32,
    /// What a hit must have words of, where that is not the whole text.
    pub(super) about: Option<&'a str>,
    /// Nothing else is found.
    pub(super) kinds: &'a [Kind],
}

/// A line that may become a hit.
struct Candidate {
    place: usize,
    score: f32,
    coverage: f32,
    is_exact: bool,
}

impl Corpus {
    /// The best hits, best first; of equally good ones the newest.
    pub(super) fn find(&self, query: Query<'_>) -> Vec<Hit> {
        let asked = self.index.asked(query.text);
        let mut candidates = self.candidates(query, &asked);
        candidates.sort_by(|a, b| self.better(a, b));
        let mut chosen = Chosen::default();
        let mut hits = Vec::new();
        for candidate in candidates {
            if hits.len() == query.k {
                break;
            }
            let piece = &self.pieces[candidate.place];
            let (content, lines) = self.content(piece, &asked);
            if chosen.takes(piece, &candidate, &content, lines) {
                let chunk = &self.chunks[piece.chunk];
                hits.push(Hit {
                    source: chunk.source.to_string(),
                    line: piece.line,
                    content,
                    score: candidate.score,
                    kind: chunk.kind,
                    at: chunk.at,
                    also: Vec::new(),
                });
            }
        }
        hits
    }

    fn candidates(&self, query: Query<'_>, asked: &Asked<'_>) -> Vec<Candidate> {
        let exact = self.exact(query);
        let near: BTreeMap<usize, f32> = query.near.iter().copied().collect();
        let ranked = self.ranked(query, &near);
        let best = ranked.iter().map(|hit| hit.overlap).fold(0.0, f32::max);
        // Scores are scaled by the best line: how well that one fits tells them from those of sessions.
        let nearest = near.values().copied().fold(0.0, f32::max);
        let fits = if exact.is_empty() {
            best.max(nearest)
        } else {
            1.0
        };
        let about = query.about.map(|about| self.overlaps(about));
        let mut candidates = Vec::new();
        let mut seen = HashSet::new();
        for hit in ranked {
            let place = hit.place as usize;
            let piece = &self.pieces[place];
            let is_exact = exact.contains(&place);
            // What is asked last is what counts; what was said before it only ranks.
            let by_words = match &about {
                Some(about) => about.get(&hit.place).is_some_and(|of| *of >= LEAST_OVERLAP),
                None => best >= LEAST_OVERLAP && hit.overlap >= LEAST_OVERLAP_OF_EACH,
            };
            let is_near = near
                .get(&piece.chunk)
                .is_some_and(|cosine| *cosine >= query.min_similarity);
            if is_exact || by_words || is_near {
                seen.insert(place);
                candidates.push(Candidate {
                    place,
                    score: hit.score * fits + if is_exact { EXACT } else { 0.0 },
                    coverage: asked.coverage(self.text_of(piece)),
                    is_exact,
                });
            }
        }
        // What the index makes nothing of, such as signs or parts of words, is there all the same.
        let unranked = exact.into_iter().filter(|place| !seen.contains(place));
        candidates.extend(unranked.map(|place| Candidate {
            place,
            score: EXACT,
            coverage: 1.0,
            is_exact: true,
        }));
        candidates
    }

    fn ranked(&self, query: Query<'_>, near: &BTreeMap<usize, f32>) -> Vec<Ranked> {
        let filter = |place: u32| self.is_wanted(place as usize, query);
        let most = query.k.saturating_mul(LOOKED_AT).saturating_add(64);
        let cosine = |place: u32| near.get(&self.pieces[place as usize].chunk).copied();
        let near: Vec<(u32, f32)> = (0..self.index.len())
            .filter_map(|place| Some((place, cosine(place)?)))
            .collect();
        self.index.search(query.text, &near, most, filter)
    }

    /// How much of a text's words is at each place.
    fn overlaps(&self, text: &str) -> BTreeMap<u32, f32> {
        let hits = self.index.search(text, &[], 1_000, |_| true);
        hits.iter().map(|hit| (hit.place, hit.overlap)).collect()
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
        let places = 0..self.pieces.len();
        let wanted = places.filter(|place| self.is_wanted(*place, query));
        wanted
            .filter(|place| self.pieces[*place].folded.contains(&needle))
            .collect()
    }

    fn better(&self, a: &Candidate, b: &Candidate) -> Ordering {
        let chunk = |candidate: &Candidate| &self.chunks[self.pieces[candidate.place].chunk];
        let rounded = |candidate: &Candidate| (candidate.score * SAME).round();
        let time = |candidate: &Candidate| chunk(candidate).at.map(Timestamp::unix);
        rounded(b)
            .total_cmp(&rounded(a))
            .then_with(|| time(b).cmp(&time(a)))
            .then_with(|| chunk(a).source.cmp(&chunk(b).source))
            .then_with(|| a.place.cmp(&b.place))
    }

    /// What is shown of a place, and how many lines that is. A long line is shown where it has the words.
    fn content(&self, piece: &Piece, asked: &Asked<'_>) -> (String, usize) {
        let line = self.text_of(piece).trim();
        if line.chars().count() > CONTENT {
            let part = asked.passage(line, CONTENT);
            let part = part.map_or(line, |part| line[part].trim());
            return (part.chars().take(CONTENT).collect(), 1);
        }
        if !is_heading(line) {
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
}

impl Chosen {
    fn takes(&mut self, piece: &Piece, candidate: &Candidate, content: &str, lines: usize) -> bool {
        // Without words of its own it was found by those around it, or by its chunk: that is told once.
        let says_nothing_new =
            candidate.coverage <= 0.0 && !candidate.is_exact && self.chunks.contains(&piece.chunk);
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
