//! What a merge must not lose: names, numbers, dates and paths of the old summary, unless their subject is spoken of
//! anew: then the old value may have been let go for a reason.

use std::collections::HashSet;

use crate::text::statement::sentences;

const HEADING: &str = "Kept from before:";
/// Stands behind each line that was put back: what follows may know better.
const OLDER: &str = " (older)";
/// Words of the list of what was lost.
const MAX_KEPT: usize = 100;

/// Words that begin a sentence, or a line of a summary, with a capital letter and are no names.
const OPENERS: &str = "\
a about after again all already also although always an and another any anyone are as asked assistant at because \
before being both but by can could currently date decided decision decisions details did do does done during each \
either else even every everyone everything fact facts finally first following for from further goal goals had has \
have he her here his how however i if in instead into is it its just key last later let like main many may maybe me \
might most much must my name names need needs neither never new next no nobody none nor not note notes nothing now of \
old on once one only open or other others our ours out over people perhaps person please plan plans possibly preference \
preferences question questions rather same second several shall she should since so some someone something sometimes \
soon still such summary task tasks than that the their theirs them then there these they third this those though \
through thus to today tomorrow too two under unless until up us use used user using very wants was we were what when \
where whether which while who whose why will with within without work would yes yesterday yet you your yours";

/// Words that say the same of somebody or something, each group a line.
const ATTRIBUTES: &str = "\
lives live living lived home hometown city town resides residence based moved moves moving relocated settled
works work working worked job employer employed company position profession career hired joined
deadline due launch release ships shipping submission
prefers prefer preferred likes like loves favourite favorite
meeting meets appointment call scheduled
budget cost costs price limit
name named called renamed nickname
dentist doctor physician
version runs upgraded";

/// The new summary within its length, and at its end those lines of the old one, marked as older, that hold something
/// of whose subject neither the new summary nor the new messages speak. Where the new one has to be cut, lines of what
/// is cut off count as lines of the old one.
pub(super) fn with_what_was_lost(old: &str, new: &str, material: &str) -> String {
    let mut spoken = Spoken::default();
    spoken.add(new);
    spoken.add(material);
    let mut lost = Lost::default();
    lost.add(old, &spoken);
    if lost.lines.is_empty() && words(new) <= MAX_WORDS {
        return new.to_owned();
    }
    let min = cut(new, MAX_WORDS - MAX_KEPT - words(HEADING));
    let mut said = Spoken::default();
    said.add(min);
    lost.add(&new[min.len()..], &said);
    let new = cut(new, MAX_WORDS - lost.words - words(HEADING));
    lost.lines.retain(|line| !new.contains(line));
    if lost.lines.is_empty() {
        return new.to_owned();
    }
    let lines = lost.lines.iter().map(|line| format!("\n{line}{OLDER}"));
    format!("{new}\n\n{HEADING}{}", lines.collect::<String>())
}

/// Lines to be kept, as many as there is room for.
#[derive(Default)]
struct Lost<'a> {
    lines: Vec<&'a str>,
    words: usize,
}

impl<'a> Lost<'a> {
    fn add(&mut self, text: &'a str, spoken: &Spoken) {
        let lines = text.lines().map(|line| line.trim().trim_end_matches(OLDER));
        for line in lines.filter(|line| *line != HEADING) {
            let is_lost = kept_words(line).any(|word| spoken.lacks(&word));
            let count = words(line) + words(OLDER);
            if is_lost && !spoken.is_about(line) && self.words + count <= MAX_KEPT {
                self.words += count;
                self.lines.push(line);
            }
        }
    }
}

/// A word of a line, in lower case.
struct Word {
    text: String,
    kind: Kind,
}

/// What a word is to its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The line cannot do without it: a digit, a path, a name.
    Item,
    /// It begins a sentence, with a capital letter as a name does: perhaps one.
    Opener,
    Common,
}

/// What some texts speak of.
#[derive(Default)]
struct Spoken {
    items: HashSet<String>,
    words: HashSet<String>,
    sentences: Vec<Subject>,
}

/// What a sentence is about, and what it says of that.
#[derive(Default)]
struct Subject {
    /// In the first form of their attribute.
    words: HashSet<String>,
    items: HashSet<String>,
    /// The item that the sentence begins with.
    begins_with: Option<String>,
    /// Items before the verb: "shelf 40 has" is not "shelf 60 has".
    qualifiers: HashSet<String>,
}

impl Subject {
    fn of(sentence: &str) -> Self {
        let mut subject = Self::default();
        let mut is_behind_verb = false;
        for word in kept_words(sentence) {
            let is_first = subject.words.is_empty() && subject.items.is_empty();
            let may_be_verb = is_opener(&word.text) || attribute(&word.text).is_some();
            is_behind_verb |= !is_first && may_be_verb;
            // A capital letter may be that of any first word.
            if let Some(attribute) = attribute(&word.text) {
                subject.words.insert(attribute.to_owned());
                continue;
            }
            if word.kind == Kind::Common || (word.kind == Kind::Opener && !is_first) {
                if !is_opener(&word.text) {
                    subject.words.insert(singular(&word.text).to_owned());
                }
                continue;
            }
            if is_first {
                subject.begins_with = Some(word.text.clone());
            } else if !is_behind_verb && (subject.begins_with.is_none() || has_digit(&word.text)) {
                subject.qualifiers.insert(word.text.clone());
            }
            subject.items.insert(word.text);
        }
        subject
    }

    /// Whether it says something new of what another sentence is about.
    fn replaces(&self, old: &Self) -> bool {
        let is_same = old.words.is_subset(&self.words) && old.qualifiers.is_subset(&self.items);
        if old.words.is_empty() || !is_same {
            return false;
        }
        let has_another_name = self.items.iter().any(|item| !old.items.contains(item));
        match &old.begins_with {
            // Of whom it is said counts, too, unless another one has taken the place.
            Some(who) => has_another_name && (self.items.contains(who) || old.words.len() > 1),
            None => has_another_name || self.words.len() > old.words.len(),
        }
    }
}

/// The word that stands for an attribute, of a word that says it.
fn attribute(word: &str) -> Option<&'static str> {
    let mut groups = ATTRIBUTES.lines();
    let group = groups.find(|group| group.split_whitespace().any(|it| it == word))?;
    group.split_whitespace().next()
}

fn has_digit(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
}

fn singular(word: &str) -> &str {
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 3);
    stem.unwrap_or(word)
}

impl Spoken {
    fn add(&mut self, text: &str) {
        for word in kept_words(text) {
            if word.kind == Kind::Item {
                self.items.insert(word.text.clone());
            }
            self.words.insert(word.text);
        }
        let sentences = sentences(text).map(|range| &text[range]);
        // A question tells nothing.
        let told = sentences.filter(|sentence| !sentence.ends_with('?'));
        self.sentences.extend(told.map(Subject::of));
    }

    /// Whether something new is said of what a line is about.
    fn is_about(&self, line: &str) -> bool {
        let old = Subject::of(line);
        self.sentences
            .iter()
            .any(|sentence| sentence.replaces(&old))
    }

    /// Whether a word must be kept that is not spoken of. A verb that begins a line is mostly spoken of in some way,
    /// a name that does not come up again is not.
    fn lacks(&self, word: &Word) -> bool {
        match word.kind {
            Kind::Item => !self.items.contains(&word.text),
            Kind::Opener => !self.words.contains(&word.text),
            Kind::Common => false,
        }
    }
}

/// The words of a text.
fn kept_words(text: &str) -> impl Iterator<Item = Word> {
    text.lines().flat_map(|line| {
        let mut begins = true;
        let words = line.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';'));
        words.filter_map(move |word| {
            let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '$' | '€' | '£' | '%');
            let ends = word.ends_with(['.', ':', '!', '?']);
            let word = word.trim_matches(is_edge);
            if word.is_empty() {
                return None;
            }
            let first = std::mem::replace(&mut begins, ends);
            let kind = kind(word, first);
            let word = word
                .strip_suffix("'s")
                .or(word.strip_suffix("’s"))
                .unwrap_or(word);
            Some(Word {
                text: word.to_lowercase(),
                kind,
            })
        })
    })
}

fn kind(word: &str, first: bool) -> Kind {
    let is_marked =
        has_digit(word) || word.contains(['/', '\\', '_', '@']) || is_spelt_as_a_name(word);
    let is_capitalised = word.starts_with(char::is_uppercase) && word.len() > 1;
    if is_marked || (is_capitalised && !first) {
        Kind::Item
    } else if is_capitalised && !is_opener(word) {
        Kind::Opener
    } else {
        Kind::Common
    }
}

/// `KX`, `OpenAI`, `iPhone`: capital letters behind the first.
fn is_spelt_as_a_name(word: &str) -> bool {
    let stem = word.split(['\'', '’', '-']).next().unwrap_or(word);
    stem.chars().skip(1).any(char::is_uppercase) && !is_opener(stem)
}

fn is_opener(word: &str) -> bool {
    let stem = word.split(['\'', '’', '-']).next().unwrap_or(word);
    OPENERS
        .split_whitespace()
        .any(|opener| opener == stem.to_lowercase())
}

/// Words of a summary (C14).
pub const MAX_WORDS: usize = 400;

/// Words of a text: what stands between blanks, and half the characters of scripts that put none.
pub(super) fn words(text: &str) -> usize {
    let spaced = text.split_whitespace().count();
    let unspaced = text.chars().filter(|c| is_unspaced(*c)).count();
    spaced + unspaced / 2
}

fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0E7F | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0x20000..=0x323AF)
}

/// The beginning of a text of at most `max` words, up to the end of a sentence or line where there is one.
pub(super) fn cut(text: &str, max: usize) -> &str {
    if words(text) <= max {
        return text;
    }
    let mut end = 0;
    let mut last_word = 0;
    let (mut spaced, mut unspaced, mut in_word) = (0, 0, false);
    for (at, c) in text.char_indices() {
        let after = at + c.len_utf8();
        if c.is_whitespace() {
            in_word = false;
        } else {
            spaced += usize::from(!in_word);
            in_word = true;
            unspaced += usize::from(is_unspaced(c));
        }
        if spaced + unspaced / 2 > max {
            break;
        }
        last_word = if c.is_whitespace() { at } else { last_word };
        let next = text[after..].chars().next();
        let stops = matches!(c, '.' | '!' | '?' | ';') && next.is_none_or(char::is_whitespace);
        if c == '\n' || stops || matches!(c, '。' | '！' | '？') {
            end = after;
        }
    }
    let end = if end == 0 { last_word } else { end };
    text[..end].trim_end()
}

#[cfg(test)]
mod tests;
