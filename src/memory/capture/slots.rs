//! What a statement is about, so far as patterns tell: a slot that holds one value at a time. Unit: one statement.

use std::collections::{BTreeMap, HashSet};

use regex::{Captures, Regex};

use super::Category;
use super::sheet::{self, Pattern, patterns};
use crate::memory::tracking::cues::BadPattern;

/// The patterns of every language that is heard, not compiled yet.
#[derive(Debug, Default)]
pub(super) struct SlotSheet {
    cues: Vec<(Category, Pattern)>,
    instead: Vec<Pattern>,
    liked: Vec<Pattern>,
    disliked: Vec<Pattern>,
    words: WordLists,
}

#[derive(Clone, Debug, Default)]
struct WordLists {
    breaks: HashSet<String>,
    fillers: HashSet<String>,
    negations: HashSet<String>,
    copulas: HashSet<String>,
}

/// Patterns that tell slots.
#[derive(Debug)]
pub(super) struct Slots {
    cues: Vec<(Category, Regex)>,
    instead: Vec<Regex>,
    liked: Vec<Regex>,
    disliked: Vec<Regex>,
    words: WordLists,
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

impl SlotSheet {
    pub(super) fn listen(
        &mut self,
        language: &str,
        slots: &sheet::Slots,
        lists: &BTreeMap<String, Vec<String>>,
    ) -> Result<(), (String, BadPattern)> {
        for (category, texts) in &slots.cues {
            let cues = patterns(texts, lists, &format!("{language}: slots: {category}"))?;
            self.cues
                .extend(cues.into_iter().map(|cue| (*category, cue)));
        }
        for (place, texts, all) in [
            ("instead", &slots.instead, &mut self.instead),
            ("liked", &slots.liked, &mut self.liked),
            ("disliked", &slots.disliked, &mut self.disliked),
        ] {
            all.extend(patterns(
                texts,
                lists,
                &format!("{language}: slots: {place}"),
            )?);
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

    pub(super) fn compiled(&self) -> Result<Slots, (String, BadPattern)> {
        let all = |patterns: &[Pattern]| -> Result<Vec<Regex>, _> {
            patterns.iter().map(Pattern::compiled).collect()
        };
        let cues = self
            .cues
            .iter()
            .map(|(category, cue)| Ok((*category, cue.compiled()?)));
        Ok(Slots {
            cues: cues.collect::<Result<_, _>>()?,
            instead: all(&self.instead)?,
            liked: all(&self.liked)?,
            disliked: all(&self.disliked)?,
            words: self.words.clone(),
        })
    }
}

impl Slots {
    /// How a statement of a category stands to an older one of the same.
    pub(super) fn relation(&self, category: Category, new: &str, old: &str) -> Relation {
        if let Some(old_thing) = self.disowned(new)
            && self.things(category, old).contains(&old_thing)
        {
            return Relation::Changed;
        }
        let of_slots = self
            .cues
            .iter()
            .filter(|(of, _)| *of == category)
            .filter_map(|(_, cue)| {
                let (new, old) = (cue.captures(new)?, cue.captures(old)?);
                Some(self.of_slot(&new, &old))
            });
        let mut related = of_slots.filter(|relation| *relation != Relation::Unrelated);
        related.next().unwrap_or_else(|| self.of_liking(new, old))
    }

    /// Whether a statement says `instead` of what is not named, in a slot that the older one fills, too.
    pub(super) fn may_replace(&self, category: Category, new: &str, old: &str) -> bool {
        let says_instead = self.instead.iter().any(|pattern| {
            let found = pattern.captures(new);
            found.is_some_and(|found| found.name("old").is_none())
        });
        says_instead
            && self.disowned(new).is_none()
            && self.cues.iter().any(|(of, cue)| {
                let of_kind = |text: &str| {
                    cue.captures(text)
                        .is_some_and(|found| found.name("kind").is_some())
                };
                *of == category && of_kind(new) && of_kind(old)
            })
    }

    /// Whether a correction says `not` of what an older statement of any category holds, and speaks of the same.
    pub(super) fn corrects(&self, new: &str, old: &str) -> bool {
        let denied = self
            .instead
            .iter()
            .filter_map(|pattern| pattern.captures(new)?.name("old"))
            .map(|denied| {
                let words = self.said(denied.as_str());
                words
                    .into_iter()
                    .filter(|word| !self.words.breaks.contains(word))
                    .collect()
            })
            .find(|words: &Vec<String>| !words.is_empty());
        let Some(denied) = denied else { return false };
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
        let found = self
            .instead
            .iter()
            .filter_map(|pattern| pattern.captures(text)?.name("old"));
        let things = found.map(|old| self.thing(old.as_str()).words);
        things.into_iter().find(|words| !words.is_empty())
    }

    /// What a statement is about, by each slot.
    fn things(&self, category: Category, text: &str) -> Vec<Vec<String>> {
        let of_category = self.cues.iter().filter(|(of, _)| *of == category);
        let cues = of_category.map(|(_, cue)| cue).chain(&self.liked);
        let kinds = cues.filter_map(|cue| cue.captures(text)?.name("kind"));
        kinds.map(|kind| self.thing(kind.as_str()).words).collect()
    }

    fn kind(&self, patterns: &[Regex], text: &str) -> Option<Thing> {
        let found = patterns
            .iter()
            .find_map(|pattern| pattern.captures(text)?.name("kind"));
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
