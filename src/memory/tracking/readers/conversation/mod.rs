//! Reads a conversation: topics a person announces, names, and lasting facts about themselves.
//!
//! ```text
//!  user's pieces -> sentences -> words with roles -> names -> [Entity]
//!                            \-> topics                   -> [Topic]
//!                             \-> clauses, names          -> [Fact]
//! ```
//! Word lists and patterns are in `config/cues/conversation.yaml`.

mod facts;
mod names;
mod plain;
mod runs;
#[cfg(test)]
mod tests;
mod topics;
mod words;

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashSet};
use std::ops::Deref;

use serde::Deserialize;

use self::facts::{FactCues, Facts};
use self::names::{Name, NameCues, Names, Reply};
use self::plain::Forms;
use self::topics::{TopicCues, Topics};
use self::words::{Lexicon, Role, Word};
use super::{BadCue, Cued, Reader};
use crate::memory::texts;
use crate::memory::tracking::cues::Language;
use crate::memory::tracking::prose::{Sentence, sentences};
use crate::memory::tracking::{Exchange, Finding, Kind, Note, Speaker};
use crate::text::patterns::BadPattern;

/// Bytes of an answer that are looked at.
const REPLY: usize = 8 * 1024;

/// Words that patterns name.
type Lists = BTreeMap<String, Vec<String>>;

/// What the cue file says of one language.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Sheet {
    /// Words that patterns name.
    lists: Lists,
    /// Short forms and what they stand for.
    forms: Forms,
    /// Words that patterns do not see.
    fillers: String,
    topics: TopicCues,
    facts: FactCues,
    names: NameCues,
}

/// Finds topics, names and facts in what a person says.
#[derive(Debug)]
pub struct ConversationReader {
    lexicon: Lexicon,
    forms: Forms,
    topics: Topics,
    facts: Facts,
    names: Names,
}

impl Cued for ConversationReader {
    const FILE: &'static str = "cues/conversation.yaml";

    fn parse(text: &str) -> Result<Self, BadCue> {
        let sheets: BTreeMap<String, Sheet> = texts::read(text)?;
        let sheets: Vec<Sheet> = sheets.into_values().collect();
        let mut lexicon = Lexicon::default();
        for sheet in &sheets {
            lexicon.add(Role::Filler, &sheet.fillers);
            sheet.topics.words(&mut lexicon);
            sheet.facts.words(&mut lexicon);
            sheet.names.words(&mut lexicon);
        }
        let forms = sheets.iter().flat_map(|sheet| sheet.forms.clone());
        Ok(Self {
            lexicon,
            forms: forms.collect(),
            topics: Topics::new(sheets.iter().map(|sheet| (&sheet.topics, &sheet.lists)))?,
            facts: Facts::new(sheets.iter().map(|sheet| (&sheet.facts, &sheet.lists)))?,
            names: Names::new(sheets.iter().map(|sheet| (&sheet.names, &sheet.lists)))?,
        })
    }

    fn check(&self) -> Result<(), BadPattern> {
        self.topics.check()?;
        self.facts.check()?;
        self.names.check()
    }
}

impl ConversationReader {
    /// What the answer tells of the words of the question: how they are written.
    fn reply(&self, exchange: &Exchange<'_>) -> Reply {
        let mut reply = Reply::default();
        for text in exchange.said_by(&[Speaker::Assistant]) {
            let text = &text[..text.floor_char_boundary(REPLY)];
            for sentence in sentences(text) {
                reply.add(&words::words(sentence.text, &self.lexicon));
            }
        }
        reply
    }

    fn read_text(&self, text: &str, reply: &impl Deref<Target = Reply>, found: &mut Found) {
        let mut spoken: Vec<Spoken<'_>> = sentences(text)
            .into_iter()
            .map(|sentence| Spoken {
                sentence,
                at: words::offset(text, sentence.text),
                words: words::words(sentence.text, &self.lexicon),
            })
            .collect();
        let quotes = words::quoted(text);
        let names = self.names.read(text, &spoken, &quotes, &self.forms, reply);
        mark(&mut spoken, &names);
        for name in &names {
            found.add(name.at, Kind::Entity, name.text);
        }
        for spoken in &spoken {
            self.topics.read(spoken, &self.forms, |at, topic| {
                found.add(at, Kind::Topic, topic);
            });
        }
        self.facts
            .read(&spoken, &quotes, &names, &self.forms, |at, fact| {
                found.add(at, Kind::Fact, fact);
            });
    }
}

impl Reader for ConversationReader {
    fn read(&self, exchange: &Exchange<'_>) -> Vec<Finding> {
        let mut found = Found::default();
        // Few messages need to know the answer.
        let reply = LazyCell::new(|| self.reply(exchange));
        for text in exchange.said_by(&[Speaker::User]) {
            self.read_text(text, &reply, &mut found);
            found.end_piece(text.len());
        }
        found.in_order()
    }
}

/// A sentence, where it begins in its text, and its words.
#[derive(Debug)]
struct Spoken<'a> {
    sentence: Sentence<'a>,
    at: usize,
    words: Vec<Word<'a>>,
}

/// Lets names without a capital be seen as names.
fn mark(text: &mut [Spoken<'_>], names: &[Name<'_>]) {
    let mut names = names.iter().peekable();
    for spoken in text {
        for word in &mut spoken.words {
            let at = spoken.at + word.start;
            while names.next_if(|name| name.at < at).is_some() {}
            word.is_named = names.peek().is_some_and(|name| name.at == at);
        }
    }
}

/// Findings with their places, each once.
#[derive(Debug, Default)]
struct Found {
    findings: Vec<(usize, Finding)>,
    known: HashSet<(Kind, String)>,
    before: usize,
}

impl Found {
    fn add(&mut self, at: usize, kind: Kind, text: &str) {
        let text = text.trim();
        if !text.is_empty() && self.known.insert((kind, text.to_lowercase())) {
            self.findings
                .push((self.before + at, Note::new(text).of(kind)));
        }
    }

    fn end_piece(&mut self, length: usize) {
        self.before += length;
    }

    fn in_order(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|(at, _)| *at);
        self.findings.into_iter().map(|(_, found)| found).collect()
    }
}

/// Cues of one language and kind.
fn language(cues: &[String], never: &[String], lists: &Lists, kind: Kind) -> Language {
    Language {
        lists: lists.clone(),
        never: never.to_vec(),
        cues: [(kind, cues.to_vec())].into(),
    }
}
