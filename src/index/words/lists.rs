//! What the index knows of a language, as data: stop words, irregular forms, months, ways to speak of time.
//!
//! Invariant: every pattern compiles, and without look-around, so that it takes linear time on any text.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use rust_stemmers::{Algorithm, Stemmer};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::exact::words;
use super::terms::{Purpose, Stems, terms};
use crate::text::patterns::{BadPattern, Checked, Patterns};

/// What terms of the lists that come with the program are related to, made ahead by `cargo bench --bench patterns`;
/// working it out takes as long as all else before the first request. A line a term, in the order of their letters: the
/// term, and those that are related to it.
const RELATED: &str = include_str!("related.txt");

/// For a term those that say nearly the same, or are a kind of it, or what it is a kind of.
type Related = BTreeMap<String, BTreeSet<String>>;

/// Words of a short question.
const SHORT: usize = 10;

/// The lists of one language, ready for use.
pub struct Lists {
    pub(super) stop: HashSet<String>,
    pub(super) irregular: HashMap<String, String>,
    pub(super) stemmer: Option<Stemmer>,
    /// January to December.
    pub(super) months: Vec<Vec<String>>,
    pub(super) capital_months: HashSet<String>,
    pub(super) says_when: Patterns,
    pub(super) asks_when: Patterns,
    pub(super) no_answer: Patterns,
    /// Begins a question, also one without its mark.
    pub(super) asks: Patterns,
    /// Words for who asks and for who is asked.
    pub(super) user: HashSet<String>,
    pub(super) assistant: HashSet<String>,
    goes_on: Vec<String>,
    refers: HashSet<String>,
    alike: Vec<Vec<String>>,
    kinds: BTreeMap<String, Vec<String>>,
    /// What was worked out ahead.
    stored_related: Option<&'static str>,
    related: OnceLock<Related>,
    /// Of the text read: an index made with other lists is another index.
    pub(super) fingerprint: [u8; 8],
}

/// Why a file of lists cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadLists {
    /// Not YAML, or not of this form; the source names line and key.
    #[error("cannot read the word lists")]
    Form(#[source] serde_yaml::Error),
    /// No Snowball stemmer has this name.
    #[error("there is no stemmer {name:?}")]
    Stemmer {
        /// The name in the file.
        name: String,
    },
    /// Neither no months nor twelve.
    #[error("the word lists have {found} months instead of 12")]
    Months {
        /// How many there are.
        found: usize,
    },
    /// A pattern that does not compile or is too big; the source says why.
    #[error("bad pattern in {key}")]
    Pattern {
        /// The list it stands in.
        key: &'static str,
        /// What is wrong with it.
        #[source]
        source: BadPattern,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    stemmer: Option<String>,
    #[serde(default)]
    stop: Vec<String>,
    #[serde(default)]
    irregular: HashMap<String, String>,
    #[serde(default)]
    months: Vec<Vec<String>>,
    #[serde(default)]
    capital_months: HashSet<String>,
    #[serde(default)]
    says_when: Vec<String>,
    #[serde(default)]
    asks_when: Vec<String>,
    #[serde(default)]
    no_answer: Vec<String>,
    #[serde(default)]
    asks: Vec<String>,
    #[serde(default)]
    user: HashSet<String>,
    #[serde(default)]
    assistant: HashSet<String>,
    #[serde(default)]
    goes_on: Vec<String>,
    #[serde(default)]
    refers: HashSet<String>,
    #[serde(default)]
    alike: Vec<Vec<String>>,
    #[serde(default)]
    kinds: BTreeMap<String, Vec<String>>,
}

impl Lists {
    /// Reads lists from the text of a file like `config/search/english.yaml`.
    pub fn parse(text: &str) -> Result<Self, BadLists> {
        let file = serde_yaml::from_str(text).map_err(BadLists::Form)?;
        Self::of(file, text, Checked::Now)
    }

    fn of(file: File, text: &str, checked: Checked) -> Result<Self, BadLists> {
        if !matches!(file.months.len(), 0 | 12) {
            return Err(BadLists::Months {
                found: file.months.len(),
            });
        }
        let pattern = |key, before: &str, alternatives: &[String]| {
            let pattern = pattern(before, alternatives);
            Patterns::read(pattern, checked).map_err(|source| BadLists::Pattern { key, source })
        };
        let mut fingerprint = [0; 8];
        fingerprint.copy_from_slice(&Sha256::digest(text)[..8]);
        Ok(Self {
            stop: file.stop.into_iter().collect(),
            irregular: file.irregular,
            stemmer: file.stemmer.map(stemmer).transpose()?,
            months: file.months,
            capital_months: file.capital_months,
            says_when: pattern("says_when", r"\b", &file.says_when)?,
            asks_when: pattern("asks_when", r"^\s*", &file.asks_when)?,
            no_answer: pattern("no_answer", r"^(?s:.{0,20}?)\b", &file.no_answer)?,
            asks: pattern("asks", r"^\s*", &file.asks)?,
            user: file.user,
            assistant: file.assistant,
            goes_on: file.goes_on,
            refers: file.refers,
            alike: file.alike,
            kinds: file.kinds,
            stored_related: None,
            related: OnceLock::new(),
            fingerprint,
        })
    }

    /// Whether a question can only be understood with what was said before it: "and what is its code?".
    pub fn goes_on(&self, question: &str) -> bool {
        let question = question.trim().to_lowercase();
        let begins = |beginning: &String| {
            let rest = question.strip_prefix(beginning.as_str());
            rest.is_some_and(|rest| rest.starts_with(|c: char| !c.is_alphanumeric()))
        };
        let words = words(&question);
        let refers = || {
            words
                .iter()
                .any(|word| self.refers.contains(word.beginning()))
        };
        self.goes_on.iter().any(begins) || words.len() <= SHORT && refers()
    }

    /// Returns terms that a question for this one finds as well.
    pub(super) fn related(&self, term: &str) -> impl Iterator<Item = &str> {
        let stored = self.stored_related.and_then(|list| line_of(list, term));
        let own = self.stored_related.is_none();
        let own = own.then(|| self.related.get_or_init(|| self.all_related()));
        let own = own.and_then(|related| related.get(term));
        let stored = stored.into_iter().flat_map(str::split_ascii_whitespace);
        stored.chain(own.into_iter().flatten().map(String::as_str))
    }

    fn all_related(&self) -> Related {
        let mut related = Related::new();
        let mut relate = |asked: &[String], found: &[String]| {
            let found = self.all_terms(found);
            for term in self.all_terms(asked) {
                let others = found.iter().filter(|other| **other != term).cloned();
                let others: Vec<_> = others.collect();
                related.entry(term).or_default().extend(others);
            }
        };
        for group in &self.alike {
            relate(group, group);
        }
        for (thing, kinds) in &self.kinds {
            let thing = std::slice::from_ref(thing);
            relate(thing, kinds);
            relate(kinds, thing);
        }
        related
    }

    fn all_terms(&self, words: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for word in words {
            let lists = (self, &mut Stems::default());
            terms(lists, word, Purpose::Ask, |term| {
                found.push(term.to_owned());
            });
        }
        found
    }

    /// The lists that come with the program.
    pub fn embedded() -> Self {
        Self {
            stored_related: Some(RELATED),
            ..Self::unrelated()
        }
    }

    fn unrelated() -> Self {
        let json = include_str!(concat!(env!("OUT_DIR"), "/english.json"));
        let text = include_str!("../../../config/search/english.yaml");
        let lists = serde_json::from_str(json)
            .ok()
            .and_then(|file| Self::of(file, text, Checked::ByTests).ok());
        lists.expect("a test reads the embedded lists")
    }
}

/// What `related.txt` is to hold.
#[cfg(any(test, feature = "testing"))]
pub fn embedded_related() -> String {
    let related = Lists::unrelated().all_related();
    let lines = related.iter().map(|(term, others)| {
        let others = others.iter().map(String::as_str);
        let words: Vec<&str> = std::iter::once(term.as_str()).chain(others).collect();
        words.join(" ") + "\n"
    });
    lines.collect()
}

/// What stands behind a word at the beginning of a line, in a list that is in the order of these words.
fn line_of<'l>(list: &'l str, word: &str) -> Option<&'l str> {
    let bytes = list.as_bytes();
    let (mut from, mut upto) = (0, list.len());
    while from < upto {
        let middle = usize::midpoint(from, upto);
        let is_break = |byte: &u8| *byte == b'\n';
        let before = bytes[from..middle].iter().rposition(is_break);
        let start = before.map_or(from, |at| from + at + 1);
        let behind = bytes[middle..].iter().position(is_break);
        let end = behind.map_or(list.len(), |at| middle + at);
        let line = &list[start..end];
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        match first.cmp(word) {
            Ordering::Equal => return Some(rest),
            Ordering::Less => from = end + 1,
            Ordering::Greater => upto = start,
        }
    }
    None
}

/// Lists that many work with: a person's own, or those of the program, read when they are first needed.
#[derive(Clone, Debug, Default)]
pub struct SharedLists(Arc<OnceLock<Arc<Lists>>>);

impl SharedLists {
    pub fn get(&self) -> &Arc<Lists> {
        self.0.get_or_init(|| Arc::new(Lists::embedded()))
    }
}

impl From<Lists> for SharedLists {
    fn from(lists: Lists) -> Self {
        Self(Arc::new(OnceLock::from(Arc::new(lists))))
    }
}

impl fmt::Debug for Lists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lists")
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}

fn stemmer(name: String) -> Result<Stemmer, BadLists> {
    let algorithm = match name.as_str() {
        "english" => Algorithm::English,
        "french" => Algorithm::French,
        "german" => Algorithm::German,
        "italian" => Algorithm::Italian,
        "portuguese" => Algorithm::Portuguese,
        "spanish" => Algorithm::Spanish,
        _ => return Err(BadLists::Stemmer { name }),
    };
    Ok(Stemmer::create(algorithm))
}

/// One pattern of all alternatives, or none of none.
fn pattern(before: &str, alternatives: &[String]) -> Option<String> {
    let joined = alternatives.join("|");
    let pattern = format!(r"{before}(?:{joined})\b");
    // Word boundaries by Unicode take the slow road on any text that is not all ASCII; a typographic apostrophe is
    // enough for that. Patterns that are plain ASCII lose nothing by plain boundaries.
    let pattern = if joined.is_ascii() {
        pattern.replace(r"\b", r"(?-u:\b)")
    } else {
        pattern
    };
    (!alternatives.is_empty()).then_some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_goes_on_with_what_was_said_where_it_begins_so_or_refers_to_it() {
        let lists = Lists::embedded();
        for question in [
            "and what is its code?",
            "How about Friday?",
            "when does it close",
            "и где он лежит?",
        ] {
            assert!(lists.goes_on(question), "{question}");
        }
        for question in [
            "When do I have to see the dentist?",
            "Andrea's birthday",
            "",
        ] {
            assert!(!lists.goes_on(question), "{question}");
        }
    }

    #[test]
    fn the_embedded_lists_can_be_read() {
        let lists = Lists::embedded();
        assert!(
            ["the", "nicht", "para", "когда"]
                .iter()
                .all(|word| lists.stop.contains(*word))
        );
        assert!(
            ["son", "bin", "men", "die"]
                .iter()
                .all(|word| !lists.stop.contains(*word))
        );
        assert_eq!(lists.irregular.len(), 121);
        assert_eq!(lists.months.len(), 12);
    }

    #[test]
    fn what_is_made_ahead_is_current() {
        let current = embedded_related();
        assert!(
            current == RELATED,
            "run `cargo bench --features testing --bench patterns`"
        );
        let (worked_out, stored) = (Lists::unrelated(), Lists::embedded());
        let terms = RELATED.lines().filter_map(|line| line.split(' ').next());
        for term in terms.chain(["", "a", "nothing", "zzz"]) {
            assert!(
                stored.related(term).eq(worked_out.related(term)),
                "{term:?}"
            );
        }
    }

    #[test]
    fn related_words_are_found_by_their_terms() {
        let lists = Lists::parse(
            "{stemmer: english, irregular: {children: child}, alike: [[children, kids]], kinds: {pets: [dogs]}}",
        )
        .unwrap();
        let related = |term| lists.related(term).collect::<Vec<_>>();
        assert_eq!(related("child"), ["kid"]);
        assert_eq!(related("kid"), ["child"]);
        assert_eq!(related("pet"), ["dog"]);
        assert_eq!(related("dog"), ["pet"]);
    }

    #[test]
    fn empty_lists_are_lists() {
        let lists = Lists::parse("{}").unwrap();
        assert!(lists.stop.is_empty() && lists.says_when.is_empty() && lists.stemmer.is_none());
    }

    #[test]
    fn lists_that_cannot_be_used_say_why() {
        let rows = [
            ("stop: 3", "cannot read the word lists"),
            ("stops: []", "cannot read the word lists"),
            ("stemmer: klingon", "there is no stemmer \"klingon\""),
            (
                "months: [[january]]",
                "the word lists have 1 months instead of 12",
            ),
            ("says_when: ['(']", "bad pattern in says_when"),
            ("asks_when: ['a(?=b)']", "bad pattern in asks_when"),
        ];
        for (text, expected) in rows {
            assert_eq!(Lists::parse(text).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_message_that_tells_a_time_is_known() {
        let says_when = Lists::embedded().says_when;
        for text in [
            "I’m off — see you Yesterday!",
            "it was 3 years ago",
            "on the 5th",
            "since 2019",
            "last sunny weekend",
        ] {
            assert!(says_when.is_match(text), "{text}");
        }
        for text in ["", "a sincere yearling", "12 monkeys", "Übertoday"] {
            assert!(!says_when.is_match(text), "{text}");
        }
    }

    #[test]
    fn a_question_for_a_time_is_known() {
        let asks_when = Lists::embedded().asks_when;
        for text in [
            " When was it?",
            "what exact date",
            "How long ago?",
            "in which year",
        ] {
            assert!(asks_when.is_match(text), "{text}");
        }
        for text in [
            "whenever",
            "What did he do when it rained?",
            "Which timetable",
        ] {
            assert!(!asks_when.is_match(text), "{text}");
        }
    }
}
