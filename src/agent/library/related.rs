//! What long-term memory holds on what is asked, as a request gets it (X16-X19, G14). Unit: one turn.
//!
//! Invariant: nothing that the request says anyway, nothing without words of what is asked, and no more than the limit
//! of characters; where there is nothing, there is no section.

use super::find::Hit;
use super::lines::folded;
use super::meaning::Elsewhere;
use super::saying::distinct;
use super::sources::Kind;
use super::{Library, Searched, Sought};
use crate::chat::{Message, Role, Session, Timestamp};
use crate::memory::{AutoRecallSettings, Kept, KeptTexts, RecallSettings, Related};
use crate::notes::NOTED;
use crate::search::is_spaceless;

/// Characters of one hit.
const SNIPPET: usize = 200;
/// Hits looked at for each one wanted: some stand in the request anyway.
const LOOKED_AT: usize = 4;
/// Turns whose words are no news to a request.
const RECENT: usize = 12;
/// Of what was said so many characters tell that it is repeated; fewer than so many do not.
const TELLING: usize = 40;
const LEAST_TELLING: usize = 8;
/// A cosine from which on a chunk that has no word of what is asked may come by itself: few texts that have nothing to
/// do with each other are so near.
const NEAR: f32 = 0.5;

/// What is asked, and what a request says anyway.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// With the input as its last message.
    pub session: &'a Session,
    pub input: &'a str,
    /// How little is too little to be asked about.
    pub recall: &'a RecallSettings,
    pub kept: &'a Kept,
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
pub struct Beside {
    pub found: Option<Related>,
    pub without: Option<String>,
}

impl Library {
    /// What is worth saying beside an input, and what could not be read. `further`: what is found elsewhere.
    pub async fn related(
        &mut self,
        asking: Asking<'_>,
        further: impl Future<Output = Result<Vec<Hit>, String>>,
    ) -> (Beside, Vec<String>) {
        let notes = asking.settings.enabled;
        let query = query(asking.session, asking.settings);
        if !asking.recall.asks(&query) || !(notes || asking.entries) {
            return (Beside::default(), Vec::new());
        }
        // The session's own stands in the request, those of others are of other work.
        let left_out = Some(Kind::SessionState);
        let refreshing = self.refresh_but(left_out, asking.now);
        let ((_, troubles), further) = tokio::join!(refreshing, further);
        let vector = if asking.by_meaning {
            let asked = self.meaning.question(asking.input, Elsewhere::Nothing);
            asked.await.map(|asked| asked.vector)
        } else {
            None
        };
        let sought = Sought {
            text: query.clone(),
            about: asking
                .recall
                .asks(asking.input)
                .then(|| asking.input.to_owned()),
            k: asking.settings.limit * LOOKED_AT,
            vector,
            min_similarity: self.parts.min_similarity.max(NEAR),
            kinds: kinds(notes, asking.entries),
        };
        let hits = self.look(sought).await;
        let known = Known::of(asking);
        let (further, without) = match further {
            Ok(further) => (further, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let session = asking.session;
        let mut news: Vec<Hit> = hits.into_iter().chain(further).collect();
        news.retain(|hit| !known.says(hit) && !is_of(session, hit));
        let mut news = distinct(news);
        news.truncate(asking.settings.limit);
        let heading = heading(asking.settings, asking.texts, &query);
        let found = section(news, asking.settings, heading);
        (Beside { found, without }, troubles)
    }
}

impl Searched {
    /// Whether anything was there to be searched.
    pub fn is_of_nothing(&self) -> bool {
        self.looked.is_empty()
    }
}

/// What takes part.
fn kinds(notes: bool, entries: bool) -> Vec<Kind> {
    let kinds = Kind::LASTING.into_iter();
    let kinds = kinds.filter(|kind| match kind {
        Kind::Entry => entries,
        Kind::Note | Kind::Daily | Kind::OwnFile | Kind::Document => notes,
        Kind::SessionState | Kind::Said | Kind::Further => false,
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
    (said.chars().count() >= LEAST_TELLING && message.role != Role::Tool).then(|| said.to_owned())
}

fn section(hits: Vec<Hit>, settings: &AutoRecallSettings, heading: &str) -> Option<Related> {
    let mut lines: Vec<String> = Vec::new();
    let mut places = Vec::new();
    let mut chars = 0;
    for hit in hits {
        let place = format!("{}:{}", hit.source, hit.line);
        let words: Vec<&str> = hit.content.split_whitespace().collect();
        let line = format!("- {place}: {}", cut(&words.join(" ")));
        chars += line.chars().count() + 1;
        if chars > settings.total_chars + 1 {
            break;
        }
        lines.push(line);
        places.push(place);
    }
    (!lines.is_empty()).then(|| Related {
        heading: heading.to_owned(),
        text: lines.join("\n"),
        places,
    })
}

fn cut(text: &str) -> String {
    if text.chars().count() <= SNIPPET {
        return text.to_owned();
    }
    beginning(text, SNIPPET - 1) + "…"
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
mod tests {
    use super::*;
    use crate::memory::Prompts;

    fn hit(line: usize, content: &str) -> Hit {
        Hit {
            source: "MEMORY.md".to_owned(),
            line,
            content: content.to_owned(),
            score: 1.0,
            kind: Kind::Note,
            at: None,
            also: Vec::new(),
        }
    }

    #[test]
    fn hits_are_cut_and_end_before_the_limit_of_characters() {
        let settings = AutoRecallSettings::default();
        let hits = (1..=5).map(|n| hit(n, &"word ".repeat(60))).collect();
        let related = section(hits, &settings, "words").unwrap();
        assert_eq!(related.places, ["MEMORY.md:1", "MEMORY.md:2"]);
        assert!(related.text.chars().count() <= 500, "{}", related.text);
        assert_eq!(section(Vec::new(), &settings, "words"), None);
    }

    #[test]
    fn the_heading_is_in_the_language_of_the_conversation_unless_it_is_set() {
        let mut settings = AutoRecallSettings::default();
        let texts = Prompts::embedded().kept;
        assert_eq!(
            heading(&settings, &texts, "where is the database?"),
            "Related memory (auto-recall)"
        );
        assert_eq!(
            heading(&settings, &texts, "数据库在哪里 db"),
            "## 相关历史记忆(自动召回)"
        );
        settings.heading = "What I know".to_owned();
        assert_eq!(heading(&settings, &texts, "数据库在哪里"), "What I know");
    }
}
