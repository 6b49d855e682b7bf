//! What a statement is about, so far as patterns tell: a slot that holds one value at a time.

use std::collections::HashSet;

use regex::Captures;

use super::Category;
use super::sheet;
use crate::memory::cue_files::Filling;
use crate::text::patterns::Patterns;

/// Patterns that tell slots, of every language that is heard.
#[derive(Debug, Default)]
pub(super) struct Slots {
    cues: Vec<(Category, Patterns)>,
    instead: Vec<Patterns>,
    liked: Vec<Patterns>,
    disliked: Vec<Patterns>,
    words: WordLists,
}

#[derive(Debug, Default)]
struct WordLists {
    breaks: HashSet<String>,
    fillers: HashSet<String>,
    negations: HashSet<String>,
    copulas: HashSet<String>,
}

/// How a statement stands to an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Same,
    Changed,
    Unrelated,
}

/// A thing that is spoken of: `dark mode` of `dark mode in the editor`, and the rest.
#[derive(Debug, PartialEq, Eq)]
struct Thing {
    words: Vec<String>,
    scope: Vec<String>,
}

impl Slots {
    pub(super) fn listen(
        &mut self,
        language: &str,
        slots: &sheet::Slots,
        filling: Filling<'_>,
    ) -> Result<(), String> {
        for (category, texts) in &slots.cues {
            let cues = filling.patterns(texts, &format!("{language}: slots: {category}"))?;
            self.cues.push((*category, cues));
        }
        for (place, texts, all) in [
            ("instead", &slots.instead, &mut self.instead),
            ("liked", &slots.liked, &mut self.liked),
            ("disliked", &slots.disliked, &mut self.disliked),
        ] {
            all.push(filling.patterns(texts, &format!("{language}: slots: {place}"))?);
        }
        for (words, all) in [
            (&slots.breaks, &mut self.words.breaks),
            (&slots.fillers, &mut self.words.fillers),
            (&slots.negations, &mut self.words.negations),
            (&slots.copulas, &mut self.words.copulas),
        ] {
            all.extend(words.split_whitespace().map(str::to_lowercase));
        }
        Ok(())
    }

    /// How a statement of a category stands to an older one of the same.
    pub(super) fn relation(&self, category: Category, new: &str, old: &str) -> Relation {
        if let Some(old_thing) = self.disowned(new)
            && self.things(category, old).contains(&old_thing)
        {
            return Relation::Changed;
        }
        let of_slots = self.of(category).flat_map(|cues| {
            let new = cues.captures(new);
            new.filter_map(|(place, new)| {
                let old = cues.get(place)?.captures(old)?;
                Some(self.of_slot(&new, &old))
            })
        });
        let mut related = of_slots.filter(|relation| *relation != Relation::Unrelated);
        related.next().unwrap_or_else(|| self.of_liking(new, old))
    }

    /// Whether a statement says `instead` of what is not named, in a slot that the older one fills, too.
    pub(super) fn may_replace(&self, category: Category, new: &str, old: &str) -> bool {
        let mut instead = captures(&self.instead, new);
        let says_instead = instead.any(|found| found.name("old").is_none());
        says_instead
            && self.disowned(new).is_none()
            && self.of(category).any(|cues| {
                let mut new = cues.captures(new);
                new.any(|(place, new)| {
                    let old = cues.get(place).and_then(|cue| cue.captures(old));
                    let has_kind = |found: &Captures<'_>| found.name("kind").is_some();
                    has_kind(&new) && old.is_some_and(|old| has_kind(&old))
                })
            })
    }

    /// The cues of a category.
    fn of(&self, category: Category) -> impl Iterator<Item = &Patterns> {
        let cues = self.cues.iter().filter(move |(of, _)| *of == category);
        cues.map(|(_, cues)| cues)
    }

    /// Whether a correction says `not` of what an older statement of any category holds, and speaks of the same.
    pub(super) fn corrects(&self, new: &str, old: &str) -> bool {
        let named = captures(&self.instead, new).filter_map(|found| found.name("old"));
        let denied = named.map(|denied| {
            let mut words = self.said(denied.as_str());
            words.retain(|word| !self.words.breaks.contains(word));
            words
        });
        let mut denied = denied.filter(|words| !words.is_empty());
        let Some(denied) = denied.next() else {
            return false;
        };
        let held = self.said(old);
        let holds = held.windows(denied.len()).enumerate().any(|(at, window)| {
            window == denied && !held[..at].last().is_some_and(|word| self.is_negation(word))
        });
        let (new, old) = (self.subject(new), self.subject(old));
        let is_other = !new.is_empty() && !old.is_empty() && !new.iter().any(|it| old.contains(it));
        holds && !is_other
    }

    /// The words of a statement before its `is`; none if it has none.
    fn subject(&self, text: &str) -> Vec<String> {
        let words = self.said(text);
        let end = words
            .iter()
            .position(|word| self.words.copulas.contains(word));
        words[..end.unwrap_or(0)].to_vec()
    }

    fn of_slot(&self, new: &Captures<'_>, old: &Captures<'_>) -> Relation {
        let part = |found: &Captures<'_>, name: &str| {
            found.name(name).map(|part| self.said(part.as_str()))
        };
        if part(new, "subject") != part(old, "subject") {
            return Relation::Unrelated;
        }
        if let (Some(new), Some(old)) = (part(new, "value"), part(old, "value")) {
            // `Bobur` says nothing new after `Bobur Karimov`.
            return if old.starts_with(&new) {
                Relation::Same
            } else {
                Relation::Changed
            };
        }
        let thing = |found: &Captures<'_>| found.name("kind").map(|kind| self.thing(kind.as_str()));
        let (Some(new), Some(old)) = (thing(new), thing(old)) else {
            return Relation::Unrelated;
        };
        let are_named = new.words.len() > 1 && old.words.len() > 1;
        if new.scope != old.scope {
            Relation::Unrelated
        } else if new.words == old.words {
            Relation::Same
        } else if are_named && new.words.last() == old.words.last() {
            Relation::Changed
        } else {
            Relation::Unrelated
        }
    }

    /// `I don't like tea` after `I like tea`, and the other way round.
    fn of_liking(&self, new: &str, old: &str) -> Relation {
        let turned = [(&self.liked, &self.disliked), (&self.disliked, &self.liked)];
        let is_turned = turned.into_iter().any(|(of_new, of_old)| {
            let new = self.kind(of_new, new);
            new.is_some() && new == self.kind(of_old, old)
        });
        if is_turned {
            Relation::Changed
        } else {
            Relation::Unrelated
        }
    }

    /// What a statement says is no longer so: `coffee` of `tea instead of coffee`.
    fn disowned(&self, text: &str) -> Option<Vec<String>> {
        let found = captures(&self.instead, text).filter_map(|found| found.name("old"));
        let things = found.map(|old| self.thing(old.as_str()).words);
        things.into_iter().find(|words| !words.is_empty())
    }

    /// What a statement is about, by each slot.
    fn things(&self, category: Category, text: &str) -> Vec<Vec<String>> {
        let cues = self.of(category).chain(&self.liked);
        let found = cues.flat_map(|cues| cues.captures(text));
        let kinds = found.filter_map(|(_, found)| found.name("kind"));
        kinds.map(|kind| self.thing(kind.as_str()).words).collect()
    }

    fn kind(&self, patterns: &[Patterns], text: &str) -> Option<Thing> {
        let found = captures(patterns, text).find_map(|found| found.name("kind"));
        found.map(|kind| self.thing(kind.as_str()))
    }

    fn thing(&self, text: &str) -> Thing {
        let length = text.find([',', ';', ':', '(', '—']).unwrap_or(text.len());
        let mut words = self.said(&text[..length]);
        let end = words
            .iter()
            .position(|word| self.words.breaks.contains(word));
        let scope = words.split_off(end.unwrap_or(words.len()));
        Thing { words, scope }
    }

    /// The words of a text without those that say nothing.
    pub(super) fn said(&self, text: &str) -> Vec<String> {
        words(text)
            .filter(|word| !self.words.fillers.contains(word))
            .collect()
    }

    pub(super) fn is_negation(&self, word: &str) -> bool {
        self.words.negations.contains(word)
    }
}

/// What patterns of any language have captured.
fn captures<'t>(patterns: &[Patterns], text: &'t str) -> impl Iterator<Item = Captures<'t>> {
    let found = patterns
        .iter()
        .flat_map(move |patterns| patterns.captures(text));
    found.map(|(_, found)| found)
}

/// In small letters, with plain apostrophes.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let is_between = |c: char| !c.is_alphanumeric() && !is_apostrophe(c);
    let words = text
        .split(is_between)
        .map(|word| word.trim_matches(is_apostrophe));
    words
        .filter(|word| !word.is_empty())
        .map(|word| plain(word).to_lowercase())
}

/// With plain apostrophes.
pub(super) fn plain(text: &str) -> String {
    text.replace(is_apostrophe, "'")
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | 'ʼ' | 'ʻ')
}
