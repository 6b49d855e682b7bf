//! What long-term memory holds on what is asked, as a request gets it (X16-X19, G14).
//!
//! Invariant: nothing that the request says anyway, nothing without words of what is asked, and no more than the limit
//! of characters; where there is nothing, there is no section.

use crate::chat::{Message, Role, Session, Timestamp};
use crate::context::Brought;
use crate::index::{Glance, Hit, Index, Kind, distinct, folded, is_heading, is_spaceless};
use crate::long_term::notes::NOTED;
use crate::memory::{AutoRecallSettings, KeptTexts, LongTermContext, RecallSettings, Related};
use crate::text::lines::single_spaced;

/// Characters of one hit.
const SNIPPET: usize = 200;
/// Of one that was said in another session, and of all of those.
const OF_SAID: usize = 320;
const ALL_SAID: usize = 1_200;
/// Hits looked at for each one wanted: some stand in the request anyway.
const LOOKED_AT: usize = 4;
/// Turns whose words are no news to a request.
const RECENT: usize = 12;
/// Of what was said so many characters tell that it is repeated; fewer than so many do not.
const TELLING: usize = 40;
const MIN_WORDS_CHARS: usize = 8;
/// The share of the question's words and the cosine that a hit has together for coming by itself, what the cosine
/// counts in that, the share alone where there are no vectors, and the cosine of what is not among the nearest
/// (docs/RECALL.md).
const CLEAR: f32 = 0.5;
const OF_MEANING: f32 = 1.5;
const CLEAR_BY_WORDS: f32 = 0.16;
const FAR: f32 = 0.2;

/// What is asked, and what a request says anyway.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking<'a> {
    /// With the input as its last message.
    pub session: &'a Session,
    pub input: &'a str,
    /// How little is too little to be asked about.
    pub recall: &'a RecallSettings,
    pub kept: &'a LongTermContext,
    pub settings: &'a AutoRecallSettings,
    /// The headings.
    pub texts: &'a KeptTexts,
    /// `memory.auto_inject`: whether entries take part.
    pub entries: bool,
    /// Whether meaning counts, or words alone.
    pub by_meaning: bool,
    pub now: Timestamp,
}

/// What is worth saying, and why it is without what is elsewhere.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub found: Option<Related>,
    pub without: Option<String>,
}

/// Returns what is worth saying beside an input, and what could not be read. `external`: what is found elsewhere.
pub(super) async fn related(
    index: &mut Index,
    asking: Asking<'_>,
    external: impl Future<Output = Result<Vec<Hit>, String>>,
) -> (Beside, Vec<String>) {
    let notes = asking.settings.enabled;
    let lately = query(asking.session, asking.settings);
    // What stands for itself is not clouded by what was said before it.
    let query = if index.lists().goes_on(asking.input) {
        lately.as_str()
    } else {
        asking.input
    };
    if !index.has_long_term() || !asking.recall.asks(query) || !(notes || asking.entries) {
        return (Beside::default(), Vec::new());
    }
    let glance = Glance {
        text: query,
        k: asking.settings.limit * LOOKED_AT,
        kinds: &kinds(notes, asking.entries),
        past: notes,
        by_meaning: asking.by_meaning,
    };
    let (glanced, external) =
        tokio::join!(index.glance(glance, asking.session, asking.now), external);
    let mut hits = glanced.hits;
    hits.retain(|hit| comes_by_itself(hit, glanced.by_meaning));
    let known = Known::of(asking);
    let (external, without) = match external {
        Ok(external) => (external, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let session = asking.session;
    let mut news: Vec<Hit> = hits.into_iter().chain(external).collect();
    news.retain(|hit| !known.says(hit) && !is_of(session, hit));
    let (said, kept) = distinct(news)
        .into_iter()
        .partition(|hit| hit.kind == Kind::Said);
    let heading = heading(asking.settings, asking.texts, &lately);
    let found = section([kept, said], asking.settings, heading);
    (Beside { found, without }, glanced.troubles)
}

/// Whether a hit speaks so clearly of the question that nobody need ask for it: by its words alone, or with its meaning
/// where that is known of others.
fn comes_by_itself(hit: &Hit, by_meaning: bool) -> bool {
    // A heading alone says nothing.
    if hit.content.lines().all(is_heading) {
        return false;
    }
    if by_meaning {
        hit.overlap + OF_MEANING * hit.similarity.unwrap_or(FAR) >= CLEAR
    } else {
        hit.overlap >= CLEAR_BY_WORDS
    }
}

/// What takes part.
fn kinds(notes: bool, entries: bool) -> Vec<Kind> {
    let kinds = Kind::LASTING.into_iter();
    let kinds = kinds.filter(|kind| match kind {
        Kind::Entry => entries,
        Kind::Note | Kind::Daily | Kind::OwnFile | Kind::Document => notes,
        Kind::SessionState | Kind::Said | Kind::External => false,
    });
    kinds.collect()
}

/// The newest things the person said as one text, the newest of it where it is too long.
fn query(session: &Session, settings: &AutoRecallSettings) -> String {
    let said = session
        .live_turns()
        .rev()
        .filter_map(|turn| session.messages_of(turn).first())
        .filter(|message| message.role == Role::User);
    let mut said: Vec<String> = said
        .take(settings.user_messages)
        .map(|message| beginning(message.said().trim(), settings.per_message_chars))
        .collect();
    said.reverse();
    let whole = said.join(" ");
    let gone = whole.chars().count().saturating_sub(settings.query_chars);
    whole.chars().skip(gone).collect()
}

fn beginning(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// What a request says anyway.
struct Known {
    /// Files and pins.
    texts: Vec<String>,
    /// How what was said lately begins.
    said: Vec<String>,
}

impl Known {
    fn of(asking: Asking<'_>) -> Self {
        let kept = asking.kept;
        let files = kept.identity.iter().chain(&kept.rules);
        let files = files.chain(&kept.long_term).chain(&kept.session_state);
        let texts = files.map(|file| &file.text).chain(&kept.pins);
        let session = asking.session;
        let turns = session.live_turns().rev().take(RECENT);
        let said = turns.flat_map(|turn| session.messages_of(turn));
        Self {
            texts: texts.map(|text| folded(text)).collect(),
            said: said.filter_map(telling).collect(),
        }
    }

    fn says(&self, hit: &Hit) -> bool {
        let content = folded(&hit.content);
        let said = self.said.iter().any(|said| content.contains(said.as_str()));
        said || self.texts.iter().any(|text| text.contains(&content))
    }
}

/// Whether a hit is the note of an exchange of this session, which its window or recall brings as it was said.
fn is_of(session: &Session, hit: &Hit) -> bool {
    let noted = NOTED
        .iter()
        .find_map(|label| hit.content.trim().strip_prefix(label));
    let Some(noted) = noted.filter(|_| hit.kind == Kind::Daily) else {
        return false;
    };
    let letters = |text: &str| {
        text.chars()
            .filter(|c| !c.is_whitespace())
            .collect::<Vec<_>>()
    };
    let noted = letters(noted.trim().trim_end_matches('…'));
    // Older ones are no part of a request, and a turn costs the same in any session.
    let mut messages = session.messages().iter().rev().take(OWN);
    messages.any(|message| {
        let said = message.said();
        let said = said.chars().filter(|c| !c.is_whitespace());
        said.take(noted.len()).eq(noted.iter().copied())
    })
}

/// Messages of this session that a note is compared with.
const OWN: usize = 400;

/// How a message begins, as what repeats it would.
fn telling(message: &Message) -> Option<String> {
    let said = beginning(message.said().trim(), 2 * TELLING);
    let said = beginning(&folded(&said), TELLING);
    let said = said.trim_end();
    (said.chars().count() >= MIN_WORDS_CHARS && message.role != Role::Tool).then(|| said.to_owned())
}

/// The best of what is kept, and of what was said in other sessions, each within its own room.
fn section(
    [kept, said]: [Vec<Hit>; 2],
    settings: &AutoRecallSettings,
    heading: &str,
) -> Option<Related> {
    let mut found = Lines::default();
    found.add(kept, settings, SNIPPET, settings.total_chars);
    found.add(said, settings, OF_SAID, ALL_SAID);
    (!found.lines.is_empty()).then(|| Related {
        heading: heading.to_owned(),
        text: found.lines.join("\n"),
        places: found.places,
    })
}

#[derive(Default)]
struct Lines {
    lines: Vec<String>,
    places: Vec<Brought<String>>,
}

impl Lines {
    /// Hits of so many characters each and all together, as many as are wanted.
    fn add(&mut self, hits: Vec<Hit>, settings: &AutoRecallSettings, each: usize, all: usize) {
        let mut chars = 0;
        for hit in hits.into_iter().take(settings.limit) {
            let place = format!("{}:{}", hit.source, hit.line);
            let line = format!("- {place}: {}", cut(&single_spaced(&hit.content), each));
            chars += line.chars().count() + 1;
            if chars > all + 1 {
                break;
            }
            self.lines.push(line);
            self.places.push(Brought {
                what: place,
                score: hit.score,
                // What only stands next to a match has none of its words.
                overlap: if hit.is_beside { 0.0 } else { hit.overlap },
                similarity: hit.similarity,
                at: hit.at,
            });
        }
    }
}

fn cut(text: &str, chars: usize) -> String {
    if text.chars().count() <= chars {
        return text.to_owned();
    }
    beginning(text, chars - 1) + "…"
}

/// In the language of the conversation, unless it is set.
fn heading<'a>(settings: &'a AutoRecallSettings, texts: &'a KeptTexts, query: &str) -> &'a str {
    if !settings.heading.is_empty() {
        return &settings.heading;
    }
    let letters = query.chars().filter(|c| c.is_alphabetic());
    let (spaceless, others): (Vec<char>, Vec<char>) = letters.partition(|c| is_spaceless(*c));
    let heading = if spaceless.len() > others.len() {
        &texts.related_heading_zh
    } else {
        &texts.related_heading
    };
    heading.text.trim()
}

#[cfg(test)]
mod tests;
