//! A pattern -> words of which every text that it matches has one. Unit: one pattern. Pure.
//!
//! ```text
//!  (?:please )?(?:fix|repair)\b .+   ->   fix, repair      (please is not needed)
//!  \d+                               ->   nothing is needed: any text may match
//! ```
//! Of several parts that are needed the one with the longest words tells most.

use regex_syntax::Parser;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

/// Texts that a part may be spelled out to.
const MAX_EXACT: usize = 256;
/// Words that a pattern may need one of.
const MAX_NEEDED: usize = 4_096;
/// Words that are looked for in each other.
const MAX_COMPARED: usize = 48;
/// Characters of a class that is spelled out.
const MAX_OF_CLASS: usize = 4;

/// One of these is in every text that matches; `None`: there may be none.
pub(super) fn by(pattern: &str) -> Option<Vec<String>> {
    // Written as it stands: the words are folded afterwards, as the texts are.
    let hir = Parser::new().parse(pattern).ok()?;
    let mut words = part(&hir).usable()?;
    words.sort_unstable_by_key(String::len);
    let mut fewest: Vec<String> = Vec::new();
    for word in words {
        // Whoever looks for `fix` finds it in `please fix`.
        let is_there = |known: &String| word.contains(known.as_str());
        if fewest.len() > MAX_COMPARED || !fewest.iter().any(is_there) {
            fewest.push(word);
        }
    }
    Some(fewest)
}

/// What is known of a part of a pattern.
enum Part {
    /// It is one of these texts and no other.
    Exact(Vec<String>),
    /// It has one of these in it.
    Needs(Vec<String>),
    Anything,
}

impl Part {
    /// What it needs, if it tells anything.
    fn usable(self) -> Option<Vec<String>> {
        match self {
            Self::Exact(words) | Self::Needs(words) => {
                (!words.is_empty() && words.iter().all(|word| !word.is_empty())).then_some(words)
            }
            Self::Anything => None,
        }
    }

    fn of_words(words: Option<Vec<String>>) -> Self {
        words.map_or(Self::Anything, Self::Needs)
    }
}

fn part(hir: &Hir) -> Part {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Part::Exact(vec![String::new()]),
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => Part::Exact(vec![text.to_owned()]),
            Err(_) => Part::Anything,
        },
        HirKind::Class(class) => spelled(class),
        HirKind::Repetition(repetition) => repeated(repetition),
        HirKind::Capture(capture) => part(&capture.sub),
        HirKind::Concat(parts) => one_after_another(parts),
        HirKind::Alternation(parts) => one_of(parts),
    }
}

fn spelled(class: &Class) -> Part {
    let Class::Unicode(class) = class else {
        return Part::Anything;
    };
    let characters = class.iter().flat_map(|range| range.start()..=range.end());
    let characters: Vec<char> = characters.take(MAX_OF_CLASS + 1).collect();
    if characters.len() > MAX_OF_CLASS {
        return Part::Anything;
    }
    Part::Exact(characters.into_iter().map(String::from).collect())
}

fn repeated(repetition: &Repetition) -> Part {
    let sub = part(&repetition.sub);
    match (repetition.min, repetition.max, sub) {
        (1, Some(1), sub) => sub,
        (0, Some(1), Part::Exact(mut texts)) if texts.len() < MAX_OF_CLASS => {
            texts.push(String::new());
            Part::Exact(texts)
        }
        (0, _, _) => Part::Anything,
        (_, _, sub) => Part::of_words(sub.usable()),
    }
}

fn one_after_another(parts: &[Hir]) -> Part {
    let mut best: Option<Vec<String>> = None;
    let mut run = vec![String::new()];
    let mut is_whole = true;
    for hir in parts {
        match part(hir) {
            Part::Exact(texts) if run.len() * texts.len() <= MAX_EXACT => {
                run = product(&run, &texts);
            }
            other => {
                is_whole = false;
                let before = std::mem::replace(&mut run, vec![String::new()]);
                best = better(best, Part::Exact(before).usable());
                match other {
                    Part::Exact(texts) => run = texts,
                    other => best = better(best, other.usable()),
                }
            }
        }
    }
    if is_whole {
        return Part::Exact(run);
    }
    Part::of_words(better(best, Part::Exact(run).usable()))
}

fn product(before: &[String], behind: &[String]) -> Vec<String> {
    let joined = |before: &String| {
        behind
            .iter()
            .map(|text| format!("{before}{text}"))
            .collect()
    };
    before.iter().flat_map::<Vec<String>, _>(joined).collect()
}

fn one_of(parts: &[Hir]) -> Part {
    let parts: Vec<Part> = parts.iter().map(part).collect();
    let is_exact = |part: &Part| matches!(part, Part::Exact(_));
    let are_exact = parts.iter().all(is_exact);
    let mut all = Vec::new();
    for part in parts {
        match part {
            Part::Exact(texts) if are_exact => all.extend(texts),
            part => match part.usable() {
                Some(words) => all.extend(words),
                None => return Part::Anything,
            },
        }
        if all.len() > MAX_NEEDED {
            return Part::Anything;
        }
    }
    if are_exact {
        Part::Exact(all)
    } else {
        Part::Needs(all)
    }
}

/// The one with longer words, or with fewer.
fn better(a: Option<Vec<String>>, b: Option<Vec<String>>) -> Option<Vec<String>> {
    match (a, b) {
        (Some(a), Some(b)) if rank(&b) > rank(&a) => Some(b),
        (Some(a), _) => Some(a),
        (None, b) => b,
    }
}

/// How rare the commonest of the words may be: letters tell, and signs of scripts without letters more.
fn rank(words: &[String]) -> (usize, std::cmp::Reverse<usize>) {
    let letters = |word: &String| {
        let letters = word.chars().filter(|c| c.is_alphanumeric());
        letters.map(char::len_utf8).sum::<usize>()
    };
    let fewest = words.iter().map(letters).min().unwrap_or(0);
    (fewest, std::cmp::Reverse(words.len()))
}
