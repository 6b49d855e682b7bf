//! The reader of a person's words. Unit: one message.
//!
//! Invariant: what is captured stands in the message, secrets and folded blanks apart; the same line is never captured
//! twice in one category. Linear in the length of the message.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::{Regex, RegexSet};

use super::own::{is_inside, own_words, quoted};
use super::same::{self, Verdict};
use super::sheet::{self, Asked, Pattern, RuleSheet, Sheet, named, patterns};
use super::slots::{SlotSheet, Slots};
use super::snippet::around;
use super::{Capture, Category, WalSettings};
use crate::chat::{Message, Role};
use crate::memory::overlay::{added, laid_over};
use crate::memory::secrets::{beginning, masked};
use crate::memory::tracking::cues::BadPattern;
use crate::memory::tracking::prose::{End, Sentence, sentences};
use crate::memory::tracking::readers::BadCues;
use crate::memory::{Prompt, texts};

/// Patterns of this name are heard whatever languages are set.
const ALWAYS: &str = "all";

/// Characters of a message that are read: nobody types more, and patterns over megabytes would hold up the turn.
const READ: usize = 20_000;

/// What a person says that is worth keeping.
#[derive(Debug)]
pub struct Captor {
    languages: Vec<Language>,
    not_names: Vec<String>,
    slots: SlotSheet,
    durable: Vec<Category>,
    compiled: OnceLock<Compiled>,
    file: String,
}

/// One language of the file, not compiled yet.
#[derive(Debug)]
struct Language {
    quoting: Vec<Pattern>,
    never: Vec<Pattern>,
    tags: Vec<Pattern>,
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    category: Category,
    cues: Vec<Pattern>,
    after: Vec<Pattern>,
    but: Vec<Pattern>,
    asked: Asked,
}

#[derive(Debug)]
struct Compiled {
    /// Every cue of every rule, to pass over sentences that say nothing.
    any: RegexSet,
    cues: Vec<Cue>,
    languages: Vec<Conditions>,
    slots: Slots,
}

#[derive(Debug)]
struct Cue {
    category: Category,
    language: usize,
    pattern: Regex,
    after: RegexSet,
    but: RegexSet,
    asked: Asked,
}

#[derive(Debug)]
struct Conditions {
    quoting: Vec<Regex>,
    never: RegexSet,
    tags: RegexSet,
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
        let Some(file) = own(Self::FILE) else {
            let embedded = texts::embedded(Self::FILE);
            return Self::parse(&embedded.text, &embedded.file, settings);
        };
        let captor = Self::over_embedded(&file, settings)?;
        let compiled = captor.compile()?;
        captor.compiled.get_or_init(|| compiled);
        Ok(captor)
    }

    /// Reads a file; its patterns are compiled when they are first needed.
    fn parse(text: &str, file: &str, settings: &WalSettings) -> Result<Self, BadCues> {
        Self::of(sheet::parse(text, file)?, file, &[], settings)
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
        Self::of(sheets, &own.file, &added, settings)
    }

    /// `added`: languages that are heard beside those of the settings.
    fn of(
        mut sheets: BTreeMap<String, Sheet>,
        file: &str,
        added: &[String],
        settings: &WalSettings,
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
            not_names: Vec::new(),
            slots: SlotSheet::default(),
            durable: settings
                .durable
                .iter()
                .filter_map(|name| Category::named(name))
                .collect(),
            compiled: OnceLock::new(),
            file: file.to_owned(),
        };
        for name in heard {
            if let Some(sheet) = sheets.remove(name) {
                captor.listen(name, &sheet).map_err(named(file))?;
            }
        }
        Ok(captor)
    }

    fn listen(&mut self, name: &str, sheet: &Sheet) -> Result<(), (String, BadPattern)> {
        let lists = &sheet.lists;
        let mut rules = Vec::new();
        for (category, of_category) in &sheet.cues {
            for rule in of_category {
                rules.push(Rule::new(
                    *category,
                    rule,
                    lists,
                    &format!("{name}: {category}"),
                )?);
            }
        }
        self.languages.push(Language {
            quoting: patterns(&sheet.quoting, lists, &format!("{name}: quoting"))?,
            never: patterns(&sheet.never, lists, &format!("{name}: never"))?,
            tags: patterns(&sheet.tags, lists, &format!("{name}: tags"))?,
            rules,
        });
        let words = sheet.not_names.split_whitespace();
        self.not_names.extend(words.map(str::to_lowercase));
        self.slots.listen(name, &sheet.slots, lists)
    }

    fn compile(&self) -> Result<Compiled, BadCues> {
        self.try_compile().map_err(named(&self.file))
    }

    fn try_compile(&self) -> Result<Compiled, (String, BadPattern)> {
        let mut cues = Vec::new();
        let mut all = Vec::new();
        let mut languages = Vec::new();
        for (place, language) in self.languages.iter().enumerate() {
            for rule in &language.rules {
                let (after, but) = (set(&rule.after)?, set(&rule.but)?);
                for cue in &rule.cues {
                    all.push(cue);
                    cues.push(Cue {
                        category: rule.category,
                        language: place,
                        pattern: cue.compiled()?,
                        after: after.clone(),
                        but: but.clone(),
                        asked: rule.asked,
                    });
                }
            }
            let quoting: Result<Vec<_>, _> =
                language.quoting.iter().map(Pattern::compiled).collect();
            languages.push(Conditions {
                quoting: quoting?,
                never: set(&language.never)?,
                tags: set(&language.tags)?,
            });
        }
        Ok(Compiled {
            any: sheet::set(&all)?,
            cues,
            languages,
            slots: self.slots.compiled()?,
        })
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            self.compile()
                .expect("a test compiles the embedded patterns, a person's own are compiled when they are read")
        })
    }

    /// Compiles the patterns now: for a thread of its own, before the first message waits for them.
    pub fn warm_up(&self) {
        self.compiled();
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
        let compiled = self.compiled();
        let own = own_words(beginning(text, READ));
        let own = &own[..compiled.quoting(&own)];
        let text = masked(own);
        let quotes = quoted(&text);
        let mut captures: Vec<Capture> = Vec::new();
        for sentence in sentences(&text) {
            let start = sentence.text.as_ptr().addr() - text.as_ptr().addr();
            let line = Line::of(&sentence);
            let is_quoted = |at: usize| is_inside(&quotes, start + at);
            let mut found = compiled.found(&line, &sentence, is_quoted, &self.not_names);
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
        same::written(&self.compiled().slots, lines, new)
    }
}

impl Rule {
    fn new(
        category: Category,
        rule: &RuleSheet,
        lists: &BTreeMap<String, Vec<String>>,
        place: &str,
    ) -> Result<Self, (String, BadPattern)> {
        Ok(Self {
            category,
            cues: patterns(&rule.cues, lists, place)?,
            after: patterns(&rule.after, lists, place)?,
            but: patterns(&rule.but, lists, place)?,
            asked: rule.asked,
        })
    }
}

fn set(patterns: &[Pattern]) -> Result<RegexSet, (String, BadPattern)> {
    for pattern in patterns {
        pattern.compiled()?;
    }
    sheet::set(&patterns.iter().collect::<Vec<_>>())
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

impl Compiled {
    /// Where in a text begins what somebody else wrote.
    fn quoting(&self, text: &str) -> usize {
        let patterns = self.languages.iter().flat_map(|language| &language.quoting);
        let ends = patterns.filter_map(|pattern| pattern.find(text).map(|found| found.end()));
        ends.min().unwrap_or(text.len())
    }

    fn found(
        &self,
        line: &Line,
        sentence: &Sentence<'_>,
        is_quoted: impl Fn(usize) -> bool,
        not_names: &[String],
    ) -> Vec<Capture> {
        let mut captures = Vec::new();
        let matched = self.any.matches(&line.plain);
        if !matched.matched_any() {
            return captures;
        }
        // Up to where in the line each category has been captured.
        let mut taken: BTreeMap<Category, usize> = BTreeMap::new();
        for place in matched {
            let cue = &self.cues[place];
            let conditions = &self.languages[cue.language];
            let asks = sentence.end == End::Question && !conditions.tags.is_match(&line.plain);
            if (asks && cue.asked == Asked::Not) || conditions.never.is_match(&line.plain) {
                continue;
            }
            for found in cue.pattern.captures_iter(&line.plain) {
                let Some(whole) = found.get(0) else { continue };
                let (at, start) = line.places[whole.start()];
                let end = line.places[whole.end()].1;
                let name = found.name("name");
                let is_free = taken.get(&cue.category).is_none_or(|taken| start >= *taken);
                let counts = is_free
                    && !is_quoted(at)
                    && (cue.after.is_empty() || cue.after.is_match(&line.plain[..whole.start()]))
                    && !cue.but.is_match(&line.plain[whole.start()..])
                    && name.is_none_or(|name| may_be_name(name.as_str(), not_names));
                if !counts {
                    continue;
                }
                let kept = around(&line.shown, start..end);
                taken.insert(cue.category, kept.end);
                captures.push(Capture {
                    category: cue.category,
                    detail: line.shown[kept].to_owned(),
                });
            }
        }
        captures
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
