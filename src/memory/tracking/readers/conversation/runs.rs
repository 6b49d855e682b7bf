//! Runs of words with a capital in one sentence, and which of them are names.

use std::ops::Range;

use super::Spoken;
use super::names::{Name, Sure};
use super::words::{Role, Word, holding};

/// Words of a name; a longer run is a heading.
const MAX: usize = 8;

/// Letters of an acronym.
const ACRONYM: usize = 6;

/// The runs of capitals of one sentence.
pub(super) struct Runs<'r, 'a> {
    pub(super) text: &'a str,
    pub(super) spoken: &'r Spoken<'a>,
    pub(super) quotes: &'r [Range<usize>],
}

impl<'a> Runs<'_, 'a> {
    /// Tells the names of the sentence.
    pub(super) fn read(&self, found: &mut Vec<(Name<'a>, Sure)>) {
        let words = &self.spoken.words;
        let mut place = 0;
        while place < words.len() {
            if let Some(after) = self.title(place, found) {
                place = after;
            } else if looks_like_name(&words[place]) {
                let end = run_end(words, place);
                self.run(place, end, found);
                place = end;
            } else {
                place += 1;
            }
        }
    }

    /// A quoted title that begins here, and the place after it.
    fn title(&self, place: usize, found: &mut Vec<(Name<'a>, Sure)>) -> Option<usize> {
        let words = &self.spoken.words;
        let from = self.spoken.at + words[place].start;
        let quote = holding(self.quotes, from).filter(|quote| quote.start == from)?;
        let rest = words[place..].iter();
        let inside = rest
            .take_while(|word| self.spoken.at + word.start < quote.end)
            .count();
        let inside = &words[place..place + inside];
        let after = place + inside.len();
        let capitals = inside.iter().filter(|word| is_capital(word.text)).count();
        let small = inside.iter().filter(|word| {
            !is_capital(word.text) && (word.text.len() > 3 && !word.is(Role::Particle))
        });
        let is_work = words[place.saturating_sub(3)..place]
            .iter()
            .any(|word| word.is(Role::Work));
        let is_title = inside.len() <= MAX
            && is_capital(inside[0].text)
            && self
                .text
                .get(quote.clone())
                .is_some_and(|said| !said.ends_with(['.', '!', ',']))
            && ((capitals > 1 && small.count() == 0) || is_work);
        if !is_title {
            return None;
        }
        let text = self.text.get(quote.clone())?.trim();
        found.push((Name { at: from, text }, Sure::Yes));
        Some(after)
    }

    /// Tells the names in a run of words.
    fn run(&self, from: usize, end: usize, found: &mut Vec<(Name<'a>, Sure)>) {
        let words = &self.spoken.words;
        let opens = self.opens(from, end);
        let (mut from, mut end) = (from, end);
        let whole = from;
        while from < end && is_dropped(&words[from], from == whole && opens) {
            from += 1;
        }
        while from < end && (words[end - 1].is(Role::Particle) || words[end - 1].is(Role::NotName))
        {
            end -= 1;
        }
        let begins_small = from > 0
            && words[from - 1].is(Role::Prefix)
            && words[from - 1].after.is_empty()
            && words[from].before.is_empty();
        if begins_small
            && words[..from]
                .iter()
                .rev()
                .take(4)
                .any(|word| word.is(Role::Common))
        {
            from -= 1;
        }
        let run = &words[from..end];
        let named = run.iter().filter(|word| !word.is(Role::Particle));
        if run.is_empty() || run.len() > MAX || named.clone().all(|w| w.is(Role::Adjective)) {
            return;
        }
        let is_loud = run.len() > 1 && run.iter().all(|word| is_shouted(word.text));
        if is_loud && run.iter().any(is_ordinary) {
            return;
        }
        if self.is_greeted(from, end) {
            return;
        }
        let last = &run[run.len() - 1];
        let dot = usize::from(are_initials(last.text) && last.after.starts_with('.'));
        let end_at = numbered(words, end).unwrap_or(last.end + dot);
        let text = &self.spoken.sentence.text[run[0].start..end_at];
        let at = self.spoken.at + run[0].start;
        let sure = if let [word] = run {
            match self.single(word, from, opens && from == whole) {
                Some(sure) => sure,
                None => return,
            }
        } else {
            Sure::Yes
        };
        found.push((Name { at, text }, sure));
    }

    /// Whether a capital here says nothing: a sentence, a quote or a list begins.
    fn opens(&self, from: usize, end: usize) -> bool {
        let words = &self.spoken.words;
        let Some(before) = from.checked_sub(1).and_then(|before| words.get(before)) else {
            return true;
        };
        // `my sister (Ana)`
        let is_aside = words[from].before == "(" && words[end - 1].after.starts_with(')');
        if !is_aside
            && words[from]
                .before
                .contains(['"', '“', '«', '„', '‘', '(', '['])
        {
            return true;
        }
        let introduces = |word: &Word<'_>| word.is(Role::Being) || word.is(Role::Work);
        if before.after.ends_with(':') {
            return !words[..from].iter().rev().take(3).any(introduces);
        }
        before.after.ends_with(['.', '!', '?', '"', '”']) && !joins(before)
    }

    /// How sure a name of one word is.
    fn single(&self, word: &Word<'_>, place: usize, opens: bool) -> Option<Sure> {
        let words = &self.spoken.words;
        let letters = word.text.chars().filter(|c| c.is_alphabetic()).count();
        let is_acronym = is_shouted(word.text);
        let is_word = word.is(Role::Starter) && !word.is(Role::Acronym);
        let is_loud = is_acronym && (is_word || letters > ACRONYM);
        if letters < 2 || word.is(Role::Honorific) || is_loud {
            return None;
        }
        let is_odd = word.text.chars().skip(1).any(char::is_uppercase);
        if is_odd {
            // Two words in capitals side by side are shouted.
            let shouts = |other: Option<&Word<'_>>| {
                other.is_some_and(|w| is_shouted(w.text) && w.text.len() > 1 && w.is(Role::Common))
            };
            let before = place.checked_sub(1).and_then(|before| words.get(before));
            let is_loud = is_acronym && (shouts(before) || shouts(words.get(place + 1)));
            return (!is_loud).then_some(Sure::Yes);
        }
        if !opens {
            let is_aside = place > 0 && words[place - 1].pauses();
            return (!(is_aside && word.is(Role::Starter))).then_some(Sure::Yes);
        }
        if word.is(Role::Starter) {
            return None;
        }
        let acts = words.get(place + 1).is_some_and(|next| next.is(Role::Acts));
        let is_name =
            |next: &Word<'_>| next.before.is_empty() && is_capital(next.text) && !is_ordinary(next);
        let joiner = words.get(place + 1).filter(|next| {
            word.after.is_empty()
                && next.after.is_empty()
                && matches!(next.text, "and" | "or" | "vs")
        });
        let next = place + if joiner.is_some() { 2 } else { 1 };
        let is_listed = (joiner.is_some() || word.after.starts_with(','))
            && words.get(next).is_some_and(is_name);
        let is_sure = (acts && word.after.is_empty()) || is_listed;
        Some(if is_sure { Sure::Yes } else { Sure::IfKnown })
    }

    /// Somebody who is greeted is most often the assistant.
    fn is_greeted(&self, from: usize, end: usize) -> bool {
        let words = &self.spoken.words;
        let ends = end == words.len() || words[end - 1].pauses();
        (1..=2).contains(&from) && ends && words[..from].iter().all(|word| word.is(Role::Greeting))
    }
}

/// Where the run that begins here ends.
fn run_end(words: &[Word<'_>], from: usize) -> usize {
    let mut end = from + 1;
    let is_title = from > 0 && words[from].text == "The";
    loop {
        let last = &words[end - 1];
        let next = words.get(end);
        let is_place = last.owns() && next.is_some_and(|next| next.is(Role::Institution));
        if !joins(last) && !is_place {
            return end;
        }
        let particles = words[end..].iter().take(3).take_while(|word| {
            let links = is_title && word.text == "and";
            (word.is(Role::Particle) || is_number(word) || links)
                && !is_capital(word.text)
                && word.before.is_empty()
                && word.after.is_empty()
        });
        let particles = particles.count();
        // `The Old Man and the Sea`, but `The Beatles and Queen`.
        if particles == 1 && words[end].text == "and" {
            return end;
        }
        let next = end + particles;
        match words.get(next) {
            Some(word)
                if particles < 3
                    && looks_like_name(word)
                    && word.before.is_empty()
                    && !word.is(Role::NotName)
                    && !(particles > 0 && last.is(Role::NotName)) =>
            {
                end = next + 1;
            }
            _ => return end,
        }
    }
}

/// The next word may belong to the same name: an initial, `St.`, `Thomas'`.
fn joins(word: &Word<'_>) -> bool {
    let after = word.after;
    let is_short = word.text.chars().count() <= 2 || word.is(Role::Honorific);
    after.is_empty()
        || (after == "." && (is_short || are_initials(word.text)))
        || (matches!(after, "'" | "’") && word.text.ends_with('s'))
}

/// `J.R.R`
fn are_initials(word: &str) -> bool {
    let mut parts = word.split('.');
    word.contains('.')
        && parts.all(|part| part.len() == 1 && part.bytes().all(|b| b.is_ascii_uppercase()))
}

/// A number right after a name belongs to it: `iPhone 15`.
fn numbered(words: &[Word<'_>], end: usize) -> Option<usize> {
    let last = words.get(end.checked_sub(1)?)?;
    let number = words.get(end)?;
    let joins = last.after.is_empty() && number.before.is_empty();
    let counts = number.after.is_empty()
        && words.get(end + 1).is_some_and(|next| {
            next.text.starts_with(char::is_lowercase) && !next.is(Role::Common)
        });
    (is_number(number) && joins && !counts).then_some(number.end)
}

fn is_number(word: &Word<'_>) -> bool {
    word.text.len() <= 3 && word.text.bytes().all(|b| b.is_ascii_digit())
}

/// A word that may stand at the beginning of a run and yet is not part of the name.
fn is_dropped(word: &Word<'_>, opens: bool) -> bool {
    word.is(Role::NotName)
        || word.is(Role::Title)
        || (word.is(Role::Particle) && !is_capital(word.text))
        || (opens && (word.is(Role::Starter) || word.is(Role::Greeting) || is_derived(word.text)))
}

/// `Honestly Porto …`, `Visiting Porto …`
fn is_derived(word: &str) -> bool {
    word.len() > 5 && (word.ends_with("ly") || word.ends_with("ing"))
}

pub(super) fn is_ordinary(word: &Word<'_>) -> bool {
    word.is(Role::Starter) || word.is(Role::NotName) || word.is(Role::Common)
}

pub(super) fn is_capital(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

fn is_shouted(word: &str) -> bool {
    word.chars().any(char::is_uppercase) && !word.contains(char::is_lowercase)
}

/// Latin letters with a capital first or second (`iPhone`), without the signs of code and addresses.
pub(super) fn looks_like_name(word: &Word<'_>) -> bool {
    let mut characters = word.text.chars();
    let (first, second) = (characters.next(), characters.next());
    let is_upper = |c: Option<char>| c.is_some_and(char::is_uppercase);
    let begins = is_upper(first) || (matches!(first, Some('i' | 'e')) && is_upper(second));
    let is_address = word.after.starts_with(['(', '_', '=', '@', '\\']);
    // `T-shirt`, `A-levels`
    let is_shape = second == Some('-');
    begins
        && !is_shape
        && !is_address
        && (word.text.chars().all(is_of_name) || are_initials(word.text))
        && !word.before.contains('`')
}

fn is_of_name(c: char) -> bool {
    let is_latin = c < '\u{250}' || ('\u{1e00}'..'\u{1f00}').contains(&c);
    (c.is_alphanumeric() && is_latin) || matches!(c, '-' | '\'' | '’' | '&' | '!')
}
