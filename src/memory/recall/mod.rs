//! Recall: what was said earlier and speaks of what is asked now (C17-C20).
//!
//! ```text
//!  session --follow--> Words                         (each message by its words)
//!  question, vectors near it --find--> Vec<Found>    (exchanges, best first)
//!  Vec<Found> --quote--> the block of a request
//! ```
//! Unit: exchanges, a turn's two sides. Invariant: nothing is found that stands in the request as it was said, nor
//! what was taken back. Pure: who calls keeps the index and asks the embedder.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::RecallSettings;
use crate::chat::{Message, MessageId, Role, Session, Tokens, TurnId};
use crate::index::session::{self, Exchange, HEAD, Words, turn_of};
use crate::index::words::ECHO_SCORE;
use crate::index::{Asked, is_spaceless};

/// The share of the question's words that the best message must have, in it and around it, for anything to be found by
/// words; and each other one.
const MIN_OVERLAP: f32 = 0.2;
const MIN_OVERLAP_OF_EACH: f32 = 0.1;

/// Of a message so many bytes are read to see how much of the question it has.
const COVERED: usize = 16 << 10;

/// Messages looked at for each exchange wanted.
const HITS_EACH: usize = 6;

/// Exchanges looked at for each one wanted, for the one that says most of the question.
const LOOKED_AT_EACH: usize = 4;

impl RecallSettings {
    /// What recalled exchanges may cost where a prompt may cost so much.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the share is from 0 to 1"
    )]
    pub(super) fn room(&self, prompt: Tokens) -> Tokens {
        Tokens((f64::from(prompt.0) * f64::from(self.share)) as u32)
    }

    /// Whether an input says enough to look for what it may be about. Scripts without spaces count by characters.
    pub fn asks(&self, input: &str) -> bool {
        let words = input.split_whitespace().map(|word| {
            let long = word.chars().filter(|c| is_spaceless(*c)).count();
            long.max(1)
        });
        let mut so_far = 0;
        let mut counts = words.map(|count| {
            so_far += count;
            so_far
        });
        self.min_words == 0 || counts.any(|count| count >= self.min_words)
    }
}

/// What is asked of recall for an input: all of it, or beginning and end where it is no question all through.
pub fn asked<'a>(input: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
    const END: usize = 4 << 10;
    session::ends(input.into(), END, END)
}

/// What to search with.
#[derive(Clone, Copy, Debug)]
pub struct Searching<'a> {
    pub words: &'a Words,
    /// Messages whose vectors are near the question's, with their cosines; empty without an embedder.
    pub nearest: &'a [(usize, f32)],
}

/// A question to what was said.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub text: &'a str,
    /// Exchanges wanted.
    pub k: usize,
    /// Only messages before this one: the rest stands in the request.
    pub before: usize,
    pub min_similarity: f32,
}

/// A message that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Its index in the session.
    pub message: usize,
    /// What hits are ordered by; scores of two questions do not compare.
    pub score: f32,
    /// The share of the question's words in the message and around it, 0 to 1.
    pub overlap: f32,
    /// The cosine to the question, where its vector was among the nearest.
    pub similarity: Option<f32>,
}

/// An exchange that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub turn: TurnId,
    /// Indices into the session's messages.
    pub messages: Range<usize>,
    /// Of those, the one that fits best.
    pub best: Hit,
    /// The share of the question that one of its messages has in its own words, 0 to 1; a question says nothing of what
    /// it asks. Of those that come first only.
    pub coverage: f32,
}

/// The messages that fit a question best, best first, however little that is.
pub fn search_messages(searching: Searching<'_>, question: Question<'_>) -> Vec<Hit> {
    let Searching { words, nearest } = searching;
    let before = |message: usize| message < question.before;
    let hits = words.search(question.text, nearest, question.k, before);
    let hits = hits.into_iter().map(|hit| {
        let message = words.message(hit.place);
        let near = nearest.iter().find(|(near, _)| *near == message);
        Hit {
            message,
            score: hit.score,
            overlap: hit.overlap,
            similarity: near.map(|(_, cosine)| *cosine),
        }
    });
    hits.collect()
}

/// The messages that speak of the question, best first: those above the floor, with enough of its words or near enough.
fn find_messages(searching: Searching<'_>, question: Question<'_>) -> Vec<Hit> {
    // Where nothing is near, what is least far tells nothing.
    let mut nearest = searching.nearest.iter();
    let is_near = nearest.any(|(_, near)| *near >= question.min_similarity);
    let searching = Searching {
        nearest: if is_near { searching.nearest } else { &[] },
        ..searching
    };
    let mut hits = search_messages(searching, question);
    let best = hits.iter().map(|hit| hit.overlap).fold(0.0, f32::max);
    hits.retain(|hit| {
        let by_words = best >= MIN_OVERLAP && hit.overlap >= MIN_OVERLAP_OF_EACH;
        let near = hit.similarity;
        by_words || near.is_some_and(|near| near >= question.min_similarity)
    });
    hits
}

/// The exchanges that speak of the question, best first; of equally good ones the newest. None is there twice, nor
/// two that say the same.
pub fn find(session: &Session, searching: Searching<'_>, question: Question<'_>) -> Vec<Found> {
    let messages = Question {
        k: question.k.saturating_mul(HITS_EACH),
        ..question
    };
    let mut turns = HashSet::new();
    let mut texts = HashSet::new();
    let mut asked = searching.words.asked(question.text);
    let said = |hit: &Hit| &session.messages()[hit.message];
    let mut hits = find_messages(searching, messages);
    // What a page or a program said comes when it is asked for, not by itself.
    hits.retain(|hit| said(hit).role != Role::Tool);
    for hit in &mut hits {
        if said(hit).role == Role::User && asked.is_echo(&said(hit).said()) {
            hit.score = ECHO_SCORE;
        }
    }
    // The reply to the same question speaks for its exchange, not the question.
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut found: Vec<Found> = hits
        .into_iter()
        .filter_map(|best| {
            let turn = turn_of(session, best.message)?;
            let is_new = turns.insert(turn.id) && texts.insert(Exchange::of(session, turn).text());
            is_new.then(|| Found {
                turn: turn.id,
                messages: turn.messages.clone(),
                best,
                coverage: 0.0,
            })
        })
        .collect();
    let by_score = |a: &Found, b: &Found| b.best.score.total_cmp(&a.best.score);
    found.sort_by(|a, b| by_score(a, b).then(b.turn.cmp(&a.turn)));
    found.truncate(question.k.saturating_mul(LOOKED_AT_EACH));
    for found in &mut found {
        let messages = session.messages()[found.messages.clone()].iter();
        let coverages = messages.map(|message| coverage(&mut asked, message));
        found.coverage = coverages.fold(0.0, f32::max);
    }
    found = with_the_plainest(found, question.k);
    found.truncate(question.k);
    found
}

fn coverage(asked: &mut Asked<'_>, message: &Message) -> f32 {
    let said = session::found_by(message);
    if message.is_no_reply() || message.is_stand_in() || said.trim_end().ends_with(['?', '？', '؟'])
    {
        return 0.0;
    }
    asked.coverage(&session::ends(said, COVERED, 0))
}

/// What was found, best first, with the one that says most of the question in its own words among the first `k`, as the
/// last of them if need be: what speaks against it may be no more than that its vector does not know the middle of a
/// long text, or that what was said next to it ranks higher.
pub(super) fn with_the_plainest(mut found: Vec<Found>, k: usize) -> Vec<Found> {
    let by_coverage = |a: &usize, b: &usize| found[*a].coverage.total_cmp(&found[*b].coverage);
    let plainest = (0..found.len()).rev().max_by(by_coverage);
    if let Some(at) = plainest
        && k > 0
        && at >= k
        && found[at].coverage > 0.0
    {
        let plainest = found.remove(at);
        found.insert(k - 1, plainest);
    }
    found
}

/// A longer message is quoted in part.
const LONGEST: usize = 1_500;
/// Characters of such a part.
const PART: usize = 1_250;

/// The text of what was found, in the order in which it was said.
pub fn quote(session: &Session, asked: &Asked<'_>, found: &[Found]) -> String {
    let mut found: Vec<&Found> = found.iter().collect();
    found.sort_by_key(|found| found.messages.start);
    let quotes = found
        .into_iter()
        .filter_map(|found| one(session, asked, found));
    quotes.collect::<Vec<_>>().join("\n\n")
}

fn one(session: &Session, asked: &Asked<'_>, found: &Found) -> Option<String> {
    let turn = turn_of(session, found.best.message)?;
    let exchange = Exchange::of(session, turn);
    let messages = exchange.messages();
    // Words said beside a tool call are part of no exchange, but they may be what is asked for.
    let beside = session.messages().get(found.best.message);
    let beside = beside.filter(|message| exchange.messages().all(|one| one.id != message.id));
    let lines: Vec<String> = messages
        .chain(beside)
        .map(|message| side(asked, message))
        .collect();
    let ids: Vec<&str> = exchange.ids().map(MessageId::as_str).collect();
    let ids = match ids.as_slice() {
        [] => String::new(),
        [only] => format!(", {only}"),
        [first, .., last] => format!(", {first} to {last}"),
    };
    let at = exchange.at();
    let at = at.map_or(String::new(), |at| {
        format!(", {} {} UTC", at.date(), at.time_of_day())
    });
    Some(format!("[turn {}{ids}{at}]\n{}", turn.id, lines.join("\n")))
}

fn side(asked: &Asked<'_>, message: &Message) -> String {
    let label = match message.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
    };
    let name = session::name(message);
    let speaker = name.map_or(String::new(), |name| format!(" ({name})"));
    let said = session::found_by(message);
    let said = said.trim();
    format!("{label}{speaker}: {}", part(asked, said))
}

/// The text, or the part of a long one that has the words of the question; its ends where it has none.
fn part(asked: &Asked<'_>, text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    // Where words are not indexed, none is looked for.
    let head = &text[..text.floor_char_boundary(text.len().min(HEAD))];
    let Some(range) = asked.passage(head, PART) else {
        return session::clipped(text).into_owned();
    };
    let before = if range.start > 0 { "[…] " } else { "" };
    let after = if range.end < text.len() { " […]" } else { "" };
    format!("{before}{}{after}", text[range].trim())
}
