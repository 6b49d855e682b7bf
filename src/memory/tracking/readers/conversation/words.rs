//! Words of a sentence with what the lists of the cue file say of each, and the quoted stretches of a text.
//!
//! Unit: one word between blanks, bare of the punctuation around it. One look into one table tells all the
//! roles of a word, so that a long text costs one look per word.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// What a word can be; one list of the cue file each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Opens sentences without being a name.
    Starter,
    /// Written with a capital and yet no name.
    NotName,
    /// A people or a language: part of a longer name at most.
    Adjective,
    /// Stands before the name of a person and is not part of it.
    Title,
    /// Joins the words of one name.
    Particle,
    /// Stands before the title of a work.
    Work,
    /// What people do and things do not.
    Acts,
    /// Tells that a sentence is in a language that writes no noun with a capital.
    Common,
    /// Tells that a sentence is in a language that writes every noun with a capital.
    Foreign,
    Greeting,
    /// A sentence with a topic has one of these.
    Topic,
    /// Joins two clauses.
    Joiner,
    /// Begins a clause that may be a fact.
    Subject,
    /// As `Subject`, at the beginning of a sentence only.
    Start,
    /// Begins a question or an order.
    Asker,
    /// Begins what is only imagined.
    Imagined,
    /// Says nothing at the beginning of a clause.
    Opener,
    /// Begins words of place or time before the subject.
    Adjunct,
    /// Somebody one can tell facts about.
    Being,
    /// Follows a name that is the subject.
    Verb,
    /// Tells one of several: `the younger one`.
    Elder,
    /// After it somebody else speaks.
    Fiction,
    /// Begins a family name without a capital.
    Prefix,
    /// Goes on with a name after an owner: `St Mary's School`.
    Institution,
    /// Its `'s` belongs to the name.
    Whole,
    /// Is a name in capitals only.
    Acronym,
    /// Stands before a name and belongs to it.
    Honorific,
    /// Begins what is only named, not told: `my dog`.
    Owner,
    /// Says nothing wherever it stands.
    Filler,
    /// Is dropped before and after a topic; a topic that begins with the last is none.
    Before,
    After,
    Empty,
}

/// All roles of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Roles(u64);

impl Roles {
    pub(super) fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u64) != 0
    }
}

/// The words of all lists.
#[derive(Debug, Default)]
pub(super) struct Lexicon(HashMap<String, Roles>);

impl Lexicon {
    /// Adds the words of a list, which are parted by blanks.
    pub(super) fn add(&mut self, role: Role, list: &str) {
        for word in list.split_whitespace() {
            let roles = self.0.entry(word.to_lowercase()).or_default();
            roles.0 |= 1 << role as u64;
        }
    }

    pub(super) fn roles(&self, word: &str) -> Roles {
        let key: Cow<'_, str> = if word.is_ascii() && !word.bytes().any(|b| b.is_ascii_uppercase())
        {
            word.into()
        } else {
            word.to_lowercase().replace('’', "'").into()
        };
        self.0.get(key.as_ref()).copied().unwrap_or_default()
    }
}

/// One word of a sentence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    /// Bare of punctuation and of a final `'s`.
    pub(super) text: &'a str,
    /// Where it begins and ends in the sentence.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Punctuation right before and right after it.
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    pub(super) roles: Roles,
    /// Found to be a name though it has no capital.
    pub(super) is_named: bool,
}

impl Word<'_> {
    pub(super) fn is(&self, role: Role) -> bool {
        self.roles.has(role)
    }

    /// Ends with the `'s` of an owner.
    pub(super) fn owns(&self) -> bool {
        OWNER.iter().any(|owner| self.after.starts_with(owner))
    }

    /// Whether a clause may end after it.
    pub(super) fn pauses(&self) -> bool {
        self.after
            .contains([',', ':', ';', ')', '-', '–', '—', '!', '.', '…'])
    }
}

const OWNER: [&str; 2] = ["'s", "’s"];

/// The words of a sentence, in order.
pub(super) fn words<'a>(sentence: &'a str, lexicon: &Lexicon) -> Vec<Word<'a>> {
    let mut words: Vec<Word<'a>> = Vec::with_capacity(sentence.len() / 5);
    let mut at = 0;
    for chunk in sentence.split_inclusive(char::is_whitespace) {
        let start = at;
        at += chunk.len();
        for part in halves(chunk.trim_end()) {
            let offset = start + (part.as_ptr() as usize - chunk.as_ptr() as usize);
            push(sentence, offset, part, lexicon, &mut words);
        }
    }
    words
}

/// `rock—paper` is two words, `his/hers` too; a path or an address is one.
fn halves(chunk: &str) -> impl Iterator<Item = &str> {
    let is_path = chunk.contains("//") || chunk.matches('/').count() > 1 || chunk.contains('.');
    chunk.split_inclusive(move |c| matches!(c, '—' | '–') || (c == '/' && !is_path))
}

fn push<'a>(
    sentence: &'a str,
    offset: usize,
    part: &'a str,
    lexicon: &Lexicon,
    words: &mut Vec<Word<'a>>,
) {
    let core = part.trim_start_matches(|c: char| !is_inside(c));
    let start = offset + part.len() - core.len();
    let core = core.trim_end_matches(|c: char| !is_inside(c));
    if core.is_empty() {
        // A dash between blanks belongs to the word before it.
        if let Some(last) = words.last_mut() {
            last.after = &sentence[last.end..offset + part.len()];
        }
        return;
    }
    let roles = lexicon.roles(core);
    let owner = OWNER.iter().find_map(|owner| core.strip_suffix(owner));
    let text = owner.filter(|_| !roles.has(Role::Whole)).unwrap_or(core);
    let roles = if roles == Roles::default() {
        lexicon.roles(text)
    } else {
        roles
    };
    let end = start + text.len();
    words.push(Word {
        text,
        start,
        end,
        before: &sentence[offset..start],
        after: &sentence[end..offset + part.len()],
        roles,
        is_named: false,
    });
}

fn is_inside(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '&' | '@' | '#' | '$' | '\\' | '/' | '`')
}

/// The stretches of a text that stand between double quotes, without them, in order.
///
/// A quote that is not closed before the next empty line is none.
pub(super) fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut quotes = Vec::new();
    let mut open: Option<usize> = None;
    let mut before = ' ';
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map_or(' ', |(_, next)| *next);
        match c {
            '\n' if before == '\n' => open = None,
            '“' | '«' | '„' => open = Some(at + c.len_utf8()),
            '"' if open.is_none() && !before.is_alphanumeric() && !next.is_whitespace() => {
                open = Some(at + c.len_utf8());
            }
            '"' | '”' | '»' => {
                if let Some(from) = open.take() {
                    quotes.push(from..at);
                }
            }
            _ => {}
        }
        before = c;
    }
    quotes
}

/// Where a slice begins in the text it was cut from.
pub(super) fn offset(text: &str, slice: &str) -> usize {
    (slice.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// The stretch that holds this place, if any.
pub(super) fn holding(ranges: &[Range<usize>], place: usize) -> Option<&Range<usize>> {
    let after = ranges.partition_point(|range| range.start <= place);
    let range = ranges.get(after.checked_sub(1)?)?;
    (place < range.end).then_some(range)
}
