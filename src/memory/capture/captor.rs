//! The reader of a person's words. Unit: one message.
//!
//! Invariant: what is captured stands in the message, secrets and folded blanks apart; the same line is never captured
//! twice in one category. Linear in the length of the message.

use std::collections::BTreeMap;

use super::own::{is_inside, own_words, quoted};
use super::same::{self, Verdict};
use super::sheet::{self, Asked, Filling, Sheet, named};
use super::slots::Slots;
use super::snippet::around;
use super::{Capture, Category, WalSettings};
use crate::chat::{Message, Role};
use crate::memory::overlay::{added, laid_over};
use crate::memory::patterns::{BadPattern, Case, Checked, Patterns};
use crate::memory::tracking::prose::{End, Sentence, sentences};
use crate::memory::tracking::readers::BadCues;
use crate::memory::{Prompt, texts};
use crate::text::secrets::{beginning, masked};

/// Patterns of this name are heard whatever languages are set.
const ALWAYS: &str = "all";

/// Characters of a message that are read: nobody types more, and patterns over megabytes would hold up the turn.
const READ: usize = 20_000;

/// What a person says that is worth keeping.
#[derive(Debug)]
pub struct Captor {
    languages: Vec<Language>,
    rules: Vec<Rule>,
    /// The cues of all rules.
    cues: Patterns,
    /// The rule of each cue.
    rule_of: Vec<usize>,
    not_names: Vec<String>,
    slots: Slots,
    durable: Vec<Category>,
}

/// What holds for a language.
#[derive(Debug)]
struct Language {
    quoting: Patterns,
    never: Patterns,
    tags: Patterns,
}

/// Under which conditions cues count.
#[derive(Debug)]
struct Rule {
    category: Category,
    language: usize,
    after: Patterns,
    but: Patterns,
    never: Patterns,
    asked: Asked,
}

impl Captor {
    /// Name of the file under `config/`.
    pub const FILE: &'static str = "cues/capture.yaml";

    /// With the person's own file, if `own` has one, laid over the embedded one by language and key; every pattern is
    /// checked, and the languages that it adds are heard. A language that the settings name and neither has is a mistake.
    pub fn with(
        own: impl Fn(&str) -> Option<Prompt>,
        settings: &WalSettings,
    ) -> Result<Self, BadCues> {
        match own(Self::FILE) {
            None => Self::embedded(settings, Checked::ByTests),
            Some(file) => Self::over_embedded(&file, settings),
        }
    }

    fn embedded(settings: &WalSettings, checked: Checked) -> Result<Self, BadCues> {
        let Prompt { text, file } = texts::embedded(Self::FILE);
        Self::of(sheet::parse(&text, &file)?, &file, settings, &[], checked)
    }

    fn over_embedded(own: &Prompt, settings: &WalSettings) -> Result<Self, BadCues> {
        let bad = |error: serde_yaml::Error| BadCues {
            file: own.file.clone(),
            what: error.to_string(),
        };
        // Alone first: a mistake has its line then.
        if !own.text.trim().is_empty() {
            sheet::parse(&own.text, &own.file)?;
        }
        let embedded = texts::embedded(Self::FILE).text;
        let sheets = laid_over(&embedded, &own.text).map_err(bad)?;
        let added = added(&embedded, &own.text).map_err(bad)?;
        Self::of(sheets, &own.file, settings, &added, Checked::Now)
    }

    /// `added`: languages that are heard beside those of the settings.
    fn of(
        mut sheets: BTreeMap<String, Sheet>,
        file: &str,
        settings: &WalSettings,
        added: &[String],
        checked: Checked,
    ) -> Result<Self, BadCues> {
        let mut heard: Vec<&str> = vec![ALWAYS];
        for language in settings.languages.iter().chain(added) {
            if !sheets.contains_key(language.as_str()) {
                return Err(unknown(language, &sheets, file));
            }
            if !heard.contains(&language.as_str()) {
                heard.push(language);
            }
        }
        let mut captor = Self {
            languages: Vec::new(),
            rules: Vec::new(),
            cues: Patterns::default(),
            rule_of: Vec::new(),
            not_names: Vec::new(),
            slots: Slots::default(),
            durable: settings
                .durable
                .iter()
                .filter_map(|name| Category::named(name))
                .collect(),
        };
        let mut cues = Vec::new();
        for name in heard {
            if let Some(sheet) = sheets.remove(name) {
                let heard = captor.listen(name, &sheet, checked);
                cues.extend(heard.map_err(named(file))?);
            }
        }
        captor.cues = Patterns::new(Case::Ignored, cues);
        Ok(captor)
    }

    /// Takes in a language; gives the cues of its rules.
    fn listen(
        &mut self,
        name: &str,
        sheet: &Sheet,
        checked: Checked,
    ) -> Result<Vec<String>, (String, BadPattern)> {
        let lists = &sheet.lists;
        let filling = Filling { lists, checked };
        let mut cues = Vec::new();
        for (category, of_category) in &sheet.cues {
            let place = format!("{name}: {category}");
            for rule in of_category {
                filling.patterns(&rule.cues, &place)?;
                let texts = filling.texts(&rule.cues, &place)?;
                self.rule_of.extend(texts.iter().map(|_| self.rules.len()));
                cues.extend(texts);
                self.rules.push(Rule {
                    category: *category,
                    language: self.languages.len(),
                    after: filling.patterns(&rule.after, &place)?,
                    but: filling.patterns(&rule.but, &place)?,
                    never: filling.patterns(&rule.never, &place)?,
                    asked: rule.asked,
                });
            }
        }
        self.languages.push(Language {
            quoting: filling.patterns(&sheet.quoting, &format!("{name}: quoting"))?,
            never: filling.patterns(&sheet.never, &format!("{name}: never"))?,
            tags: filling.patterns(&sheet.tags, &format!("{name}: tags"))?,
        });
        let words = sheet.not_names.split_whitespace();
        self.not_names.extend(words.map(str::to_lowercase));
        self.slots.listen(name, &sheet.slots, filling)?;
        Ok(cues)
    }

    /// Whether what is captured in this category is kept in MEMORY.md, too (Q13).
    pub fn is_durable(&self, category: Category) -> bool {
        self.durable.contains(&category)
    }

    /// What a message of a person says that is worth keeping, in the order of saying; of one sentence in the order of
    /// categories.
    pub fn capture(&self, input: &Message) -> Vec<Capture> {
        if input.role != Role::User || input.is_reference() {
            return Vec::new();
        }
        self.said(&input.said())
    }

    fn said(&self, text: &str) -> Vec<Capture> {
        let own = own_words(beginning(text, READ));
        let own = &own[..self.quoting(&own)];
        let text = masked(own);
        let quotes = quoted(&text);
        let mut captures: Vec<Capture> = Vec::new();
        for sentence in sentences(&text) {
            let start = sentence.text.as_ptr().addr() - text.as_ptr().addr();
            let line = Line::of(&sentence);
            let is_quoted = |at: usize| is_inside(&quotes, start + at);
            let mut found = self.found(&line, &sentence, is_quoted);
            found.sort_by_key(|capture| capture.category);
            for capture in found {
                if !captures.contains(&capture) {
                    captures.push(capture);
                }
            }
        }
        captures
    }

    /// What a capture is beside what is kept already: lines of MEMORY.md, in its order (Q14).
    pub fn written(&self, lines: &[&str], new: &Capture) -> Verdict {
        same::written(&self.slots, lines, new)
    }

    /// Where in a text begins what somebody else wrote.
    fn quoting(&self, text: &str) -> usize {
        let languages = self.languages.iter();
        let patterns = languages.flat_map(|language| language.quoting.possible(text));
        let ends = patterns.filter_map(|(_, pattern)| Some(pattern.find(text)?.end()));
        ends.min().unwrap_or(text.len())
    }

    fn found(
        &self,
        line: &Line,
        sentence: &Sentence<'_>,
        is_quoted: impl Fn(usize) -> bool,
    ) -> Vec<Capture> {
        let mut captures = Vec::new();
        // Up to where in the line each category has been captured.
        let mut taken: BTreeMap<Category, usize> = BTreeMap::new();
        for (place, pattern) in self.cues.matching(&line.plain) {
            let rule = &self.rules[self.rule_of[place]];
            let language = &self.languages[rule.language];
            let asks = sentence.end == End::Question && !language.tags.is_match(&line.plain);
            let says_nothing = (asks && rule.asked == Asked::Not)
                || language.never.is_match(&line.plain)
                || rule.never.is_match(&line.plain);
            if says_nothing {
                continue;
            }
            for found in pattern.captures_iter(&line.plain) {
                let Some(whole) = found.get(0) else { continue };
                let (at, start) = line.places[whole.start()];
                let end = line.places[whole.end()].1;
                let name = found.name("name");
                let is_free = taken
                    .get(&rule.category)
                    .is_none_or(|taken| start >= *taken);
                let counts = is_free
                    && !is_quoted(at)
                    && (rule.after.is_empty() || rule.after.is_match(&line.plain[..whole.start()]))
                    && !rule.but.is_match(&line.plain[whole.start()..])
                    && name.is_none_or(|name| may_be_name(name.as_str(), &self.not_names));
                if !counts {
                    continue;
                }
                let kept = around(&line.shown, start..end);
                taken.insert(rule.category, kept.end);
                captures.push(Capture {
                    category: rule.category,
                    detail: line.shown[kept].to_owned(),
                });
            }
        }
        captures
    }
}

fn unknown(language: &str, sheets: &BTreeMap<String, Sheet>, file: &str) -> BadCues {
    let known = sheets
        .keys()
        .map(String::as_str)
        .filter(|name| *name != ALWAYS);
    BadCues {
        file: file.to_owned(),
        what: format!(
            "has no language {language:?}, which memory.wal.languages names; it has: {}",
            known.collect::<Vec<_>>().join(", ")
        ),
    }
}

/// A sentence in one line, and the same with plain apostrophes, as patterns see it.
struct Line {
    /// Blanks folded.
    shown: String,
    /// As many characters as `shown`.
    plain: String,
    /// For each byte of `plain`: the place of its character in the sentence and in `shown`. Only character starts count.
    places: Vec<(usize, usize)>,
}

impl Line {
    fn of(sentence: &Sentence<'_>) -> Self {
        let mut line = Self {
            shown: String::with_capacity(sentence.text.len()),
            plain: String::with_capacity(sentence.text.len()),
            places: Vec::with_capacity(sentence.text.len() + 1),
        };
        let mut blank = false;
        for (at, c) in sentence.text.char_indices() {
            if c.is_whitespace() || c.is_control() {
                blank = !line.shown.is_empty();
                continue;
            }
            if std::mem::take(&mut blank) {
                line.push(at, ' ');
            }
            line.push(at, c);
        }
        line.places.push((sentence.text.len(), line.shown.len()));
        line
    }

    fn push(&mut self, at: usize, c: char) {
        let plain = match c {
            '’' | '‘' | 'ʼ' | 'ʻ' | '´' => '\'',
            c => c,
        };
        let place = (at, self.shown.len());
        self.places
            .extend(std::iter::repeat_n(place, plain.len_utf8()));
        self.plain.push(plain);
        self.shown.push(c);
    }
}

/// Begins with a letter that is not small, and is no word that is written so without being a name.
fn may_be_name(word: &str, not_names: &[String]) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let begins = |c: char| c.is_alphabetic() && !c.is_lowercase();
    let is_owner = word.ends_with("'s");
    word.starts_with(begins) && !is_owner && !not_names.contains(&word.to_lowercase())
}

#[cfg(test)]
mod tests;
