//! The reader of a person's words.
//!
//! The classifier decides; patterns hear explicit commands and name what is said. A sentence that only announces
//! something is kept with that alone.
//!
//! Invariant: what is captured stands in the message, secrets and folded blanks apart; the same line is never captured
//! twice in one category. Linear in the length of the message.

use std::collections::BTreeMap;
use std::ops::Range;

use super::own::{is_inside, own_words, quoted};
use super::same::{self, Verdict};
use super::sheet::{Asked, Sheet};
use super::slots::Slots;
use super::snippet::around;
use super::{Capture, Category, WalSettings};
use crate::chat::{Message, Role};
use crate::memory::Prompt;
use crate::memory::cue_files::{BadCues, CueFile, Filling, Heard};
use crate::memory::tracking::one_line;
use crate::memory::tracking::prose::{End, Sentence, sentences};
use crate::text::classify::{Classifier, Judged, Kind};
use crate::text::is_off_record;
use crate::text::patterns::{Case, Checked, Patterns};
use crate::text::secrets::{MASK, beginning, masked};

/// Patterns of this name are heard whatever languages are set.
const ALWAYS: &str = "all";

/// Characters of a message that are read: nobody types more, and patterns over megabytes would hold up the turn.
const READ: usize = 20_000;

/// The score of a sentence from which on the classifier lets a pattern say what it is.
const AGREES: f32 = -1.5;

/// Words of a sentence among which is what it speaks of.
const SUBJECT: usize = 4;

/// Characters of a sentence that is kept whole.
const DETAIL: usize = 200;

/// What a person says that is worth keeping.
#[derive(Debug)]
pub struct Extractor {
    languages: Vec<Language>,
    rules: Vec<Rule>,
    /// The cues of all rules.
    cues: Patterns,
    /// The rule of each cue.
    rule_of: Vec<usize>,
    not_names: Vec<String>,
    pronouns: Vec<String>,
    slots: Slots,
    durable: Vec<Category>,
    classifier: Classifier,
}

/// What holds for a language.
#[derive(Debug)]
struct Language {
    /// The person added it.
    is_own: bool,
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

impl Extractor {
    /// Name of the file under `config/`.
    pub const FILE: &'static str = "cues/capture.yaml";

    /// With the person's own file, if `own` has one, laid over the embedded one by language and key; every pattern is
    /// checked, and the languages that it adds are heard. A language that the settings name and neither has is a
    /// mistake.
    pub fn with(
        own: impl Fn(&str) -> Option<Prompt>,
        settings: &WalSettings,
    ) -> Result<Self, BadCues> {
        let mut file: CueFile<Sheet> = CueFile::read(Self::FILE, own)?;
        let mut extractor = Self {
            languages: Vec::new(),
            rules: Vec::new(),
            cues: Patterns::default(),
            rule_of: Vec::new(),
            not_names: Vec::new(),
            pronouns: Vec::new(),
            slots: Slots::default(),
            classifier: Classifier::default(),
            durable: settings
                .durable
                .iter()
                .filter_map(|name| Category::parse(name))
                .collect(),
        };
        let mut cues = Vec::new();
        for heard in file.heard(Some(ALWAYS), &settings.languages, "memory.wal.languages")? {
            let of_language = extractor.listen(&heard, file.checked);
            cues.extend(of_language.map_err(|what| file.bad(what))?);
        }
        extractor.cues = Patterns::new(Case::Ignored, cues);
        Ok(extractor)
    }

    /// Takes in a language; gives the cues of its rules.
    fn listen(&mut self, heard: &Heard<Sheet>, checked: Checked) -> Result<Vec<String>, String> {
        let (name, sheet) = (&heard.language, &heard.sheet);
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
            is_own: heard.is_own,
            quoting: filling.patterns(&sheet.quoting, &format!("{name}: quoting"))?,
            never: filling.patterns(&sheet.never, &format!("{name}: never"))?,
            tags: filling.patterns(&sheet.tags, &format!("{name}: tags"))?,
        });
        let words = sheet.not_names.split_whitespace();
        self.not_names.extend(words.map(str::to_lowercase));
        let words = sheet.pronouns.split_whitespace();
        self.pronouns.extend(words.map(str::to_owned));
        self.slots.listen(name, &sheet.slots, filling)?;
        Ok(cues)
    }

    /// Whether what is captured in this category is kept in MEMORY.md, too (Q13).
    pub fn is_durable(&self, category: Category) -> bool {
        self.durable.contains(&category)
    }

    /// What a message of a person says that is worth keeping, in the order of saying; of one sentence in the order of
    /// categories. `before`: what was said to them just before.
    pub fn capture(&self, input: &Message, before: &str) -> Vec<Capture> {
        let said = input.said();
        if input.role != Role::User || input.is_reference() || is_off_record(&said) {
            return Vec::new();
        }
        self.said(&said, before)
    }

    fn said(&self, text: &str, before: &str) -> Vec<Capture> {
        let own = own_words(beginning(text, READ));
        let own = &own[..self.quoting(&own)];
        let text = masked(own);
        let quotes = quoted(&text);
        let reading = self.classifier.read(&text, before);
        let sentences = sentences(&text);
        let mut captures: Vec<Capture> = Vec::new();
        // Sentences that were kept with the one that announced them.
        let mut announced = 0..0;
        for (number, sentence) in sentences.iter().enumerate() {
            if announced.contains(&number) {
                continue;
            }
            let start = sentence.text.as_ptr().addr() - text.as_ptr().addr();
            let place = start..start + sentence.text.len();
            let line = Line::of(sentence);
            let is_quoted = |at: usize| is_inside(&quotes, start + at);
            let (mut found, order) = self.found(&line, sentence, is_quoted);
            let score = reading.score(&place);
            found.retain(|(capture, is_own)| {
                *is_own || agrees(capture.category, score, reading.kind)
            });
            let mut found: Vec<Capture> = found.into_iter().map(|(it, _)| it).collect();
            let judged = reading.kept_in(&place).filter(|_| !is_quoted(0));
            if let Some(judged) = judged {
                self.add(judged, &line.shown, &mut found);
            }
            let heads_list = sentence.text.ends_with([':', '：']);
            if found.is_empty() && heads_list && self.classifier.announces(sentence.text) {
                found.push(Capture {
                    category: Category::Remember,
                    detail: String::new(),
                });
            }
            if !found.is_empty()
                && let Some((content, range)) = self.announced(&sentences, number, &text)
            {
                for capture in &mut found {
                    capture.detail.clone_from(&content);
                }
                announced = range;
            }
            for capture in &mut found {
                let before = order.and_then(|order| capture.detail.strip_suffix(order));
                if let Some(before) = before {
                    capture.detail = before.to_owned();
                }
            }
            found.retain(|it| !it.detail.is_empty() && !is_all_secret(&it.detail));
            if !found.is_empty()
                && number > 0
                && !sentence.item
                && let Some((earlier, both)) = self.with_earlier(&sentences[number - 1], &line)
            {
                // It stands in the line that is kept of both.
                captures.retain(|it| {
                    let is_part = it.detail == earlier;
                    if is_part {
                        found.push(it.clone());
                    }
                    !is_part
                });
                for capture in &mut found {
                    capture.detail.clone_from(&both);
                }
                found.dedup();
            }
            found.sort_by_key(|capture| capture.category);
            for capture in found {
                if !captures.contains(&capture) {
                    captures.push(capture);
                }
            }
        }
        captures
    }

    /// Adds what the classifier says of a sentence to what patterns have found, where nothing of that is to last.
    fn add(&self, judged: &Judged, shown: &str, found: &mut Vec<Capture>) {
        let is_correction = judged.kind == Kind::Correction;
        let has = |category: Category| found.iter().any(|it| it.category == category);
        if found.iter().any(|it| self.is_durable(it.category))
            || is_correction && has(Category::Correction)
        {
            return;
        }
        let categories = match found.first() {
            None if is_correction => vec![Category::Correction, Category::fact(judged)],
            None => vec![Category::of(judged)],
            Some(_) => vec![Category::fact(judged)],
        };
        let detail = match found.first() {
            Some(found) => found.detail.clone(),
            None => self.detail(shown),
        };
        found.extend(categories.into_iter().map(|category| Capture {
            category,
            detail: detail.clone(),
        }));
    }

    /// As much of a sentence as is kept: of a long one what is around its best clause.
    fn detail(&self, shown: &str) -> String {
        if shown.chars().count() <= DETAIL {
            return shown.to_owned();
        }
        let clauses = shown.split([',', ';', ':', '，', '；', '—']);
        let scored = clauses.map(|it| (self.classifier.read(it, "").score(&(0..it.len())), it));
        let best = scored.max_by(|one, other| one.0.total_cmp(&other.0));
        let best = best.map_or(shown, |(_, clause)| clause);
        let at = best.as_ptr().addr() - shown.as_ptr().addr();
        let kept = around(shown, at..at + best.len());
        shown[kept].trim().to_owned()
    }

    /// A sentence that speaks of `he` or `it` says nothing by itself: returns the one before it, and both, where both
    /// are short.
    fn with_earlier(&self, earlier: &Sentence<'_>, line: &Line) -> Option<(String, String)> {
        let words = line
            .plain
            .split(|c: char| !c.is_alphanumeric() && c != '\'');
        let words = words.filter(|word| !word.is_empty()).take(SUBJECT);
        let mut words = words.map(str::to_lowercase);
        let refers_back = words.any(|word| {
            // Chinese writes no blanks.
            let is_it = |it: &String| {
                word == *it
                    || !it.is_ascii() && it.chars().count() == 1 && word.starts_with(it.as_str())
            };
            self.pronouns.iter().any(is_it)
        });
        let is_whole = |shown: &str| shown.chars().count() <= DETAIL;
        let earlier =
            Some(earlier).filter(|it| refers_back && !it.item && it.end != End::Question)?;
        let earlier = Line::of(earlier).shown;
        let both = format!("{} {}", with_stop(&earlier), line.shown);
        is_whole(&both).then_some((earlier, both))
    }

    /// What a sentence announces: itself with the list below it or what follows behind `;`, the next sentence, or the
    /// one before it. Nothing where it says all that it has to say.
    fn announced(
        &self,
        sentences: &[Sentence<'_>],
        number: usize,
        text: &str,
    ) -> Option<(String, Range<usize>)> {
        let sentence = &sentences[number];
        let shown = |range: Range<usize>| {
            let lines: Vec<String> = sentences[range]
                .iter()
                .map(|it| Line::of(it).shown)
                .collect();
            one_line(&lines.join("; "), DETAIL)
        };
        let next = number + 1;
        let is_bare = self.classifier.announces(sentence.text);
        let items = sentences[next..]
            .iter()
            .take_while(|it| it.item && !sentence.item)
            .count();
        if sentence.text.ends_with([':', '：']) && items > 0 {
            let first = if is_bare { next } else { number };
            return Some((shown(first..next + items), next..next + items));
        }
        if is_bare {
            // What is asked is not to be remembered.
            let follows = sentences
                .get(next)
                .is_some_and(|it| it.end != End::Question);
            return Some(if follows {
                (shown(next..next + 1), next..next + 1)
            } else if number > 0 {
                (shown(number - 1..number), 0..0)
            } else {
                (String::new(), 0..0)
            });
        }
        let goes_on = |it: &&Sentence<'_>| {
            let end = it.text.as_ptr().addr() - text.as_ptr().addr() + it.text.len();
            text[end..].starts_with(';')
        };
        let more = sentences[number..]
            .iter()
            .take_while(goes_on)
            .count()
            .min(sentences.len() - next);
        (more > 0).then(|| (shown(number..next + more), next..next + more))
    }

    /// What a capture is beside what is kept already: lines of MEMORY.md, in its order (Q14).
    pub fn written(&self, lines: &[&str], new: &Capture) -> Verdict {
        same::written(&self.slots, lines, new)
    }

    /// Where in a text begins what somebody else wrote.
    fn quoting(&self, text: &str) -> usize {
        let languages = self.languages.iter();
        let patterns = languages.flat_map(|language| language.quoting.matching(text));
        let ends = patterns.filter_map(|(_, pattern)| Some(pattern.find(text)?.end()));
        ends.min().unwrap_or(text.len())
    }

    /// What patterns find, and whether the person added them; and the order at the end to remember what stands before.
    fn found<'l>(
        &self,
        line: &'l Line,
        sentence: &Sentence<'_>,
        is_quoted: impl Fn(usize) -> bool,
    ) -> (Vec<(Capture, bool)>, Option<&'l str>) {
        let mut captures = Vec::new();
        let mut order = None;
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
                if let Some(found) = found.name("order")
                    && !is_quoted(at)
                {
                    order = Some(&line.shown[line.places[found.start()].1..]);
                }
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
                let capture = Capture {
                    category: rule.category,
                    detail: line.shown[kept].to_owned(),
                };
                captures.push((capture, language.is_own));
            }
        }
        (captures, order)
    }
}

/// Whether nothing worth keeping is left of a sentence once its secret is masked: what it is the secret of.
fn is_all_secret(detail: &str) -> bool {
    const LABEL: usize = 10;
    detail.contains(MASK)
        && detail.split_whitespace().count() <= LABEL
        && !detail.contains(|c: char| c.is_ascii_digit())
}

/// A sentence with the mark that ends it.
fn with_stop(sentence: &str) -> String {
    let has_stop =
        sentence.ends_with(|c: char| c.is_ascii_punctuation() || "。！？；：…".contains(c));
    let stop = if has_stop { "" } else { "." };
    format!("{sentence}{stop}")
}

/// Whether the classifier lets a pattern say that a sentence is worth keeping. What is ordered is kept; a name is,
/// unless it is somebody else's.
fn agrees(category: Category, score: f32, kind: Kind) -> bool {
    // A name in mockery is a name all the same.
    let may_be_meant = !kind.is_trap() || kind == Kind::Sarcasm;
    match category {
        Category::Remember => true,
        Category::ProperNoun if score < AGREES => may_be_meant,
        _ => score >= AGREES,
    }
}

/// A sentence in one line, and the same with plain apostrophes, as patterns see it.
struct Line {
    /// Blanks folded.
    shown: String,
    /// As many characters as `shown`.
    plain: String,
    /// For each byte of `plain`: the place of its character in the sentence and in `shown`. Only character starts
    /// count.
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
