//! What the keys of vi take as one: words, what stands in quotes or brackets; and where a motion leads. Pure. Places are
//! bytes of the line.

use std::ops::Range;

/// How much of an object is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// `i`
    Inner,
    /// `a`: with its quotes or brackets, or the blanks beside it.
    Around,
}

const BRACKETS: [(char, char); 4] = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];

/// Returns the object of a key around a place; of brackets the `n`th from within, of words `n` of them.
pub(super) fn object(
    line: &str,
    at: usize,
    extent: Extent,
    key: char,
    n: usize,
) -> Option<Range<usize>> {
    match key {
        'w' | 'W' => words(line, at, extent, key == 'W', n),
        '"' | '\'' | '`' => quoted(line, at, extent, key),
        'b' => bracketed(line, at, extent, BRACKETS[0], n),
        'B' => bracketed(line, at, extent, BRACKETS[2], n),
        _ => {
            let pair = BRACKETS
                .iter()
                .find(|(open, close)| [*open, *close].contains(&key))?;
            bracketed(line, at, extent, *pair, n)
        }
    }
}

/// Returns what an operator takes with a motion. `is_change`: `cw` leaves the blanks behind a word alone.
pub(super) fn reach(
    line: &str,
    at: usize,
    key: char,
    n: usize,
    is_change: bool,
) -> Option<Range<usize>> {
    let row = row(line, at);
    let is_big = key.is_uppercase();
    let repeat = |step: &dyn Fn(usize) -> usize| repeated(at, n, step);
    let forward = |to: usize| (to > at).then_some(at..to);
    match key {
        'w' | 'W' if is_change && !is_blank(line, at) => {
            let end = run(line, at, is_big).end;
            let next = |end: usize| word_end(line, end.saturating_sub(1), is_big);
            forward(repeated(end, n - 1, next))
        }
        'w' | 'W' => {
            let to = repeat(&|at| next_word(line, at, is_big));
            // The last word of a row is taken to its end.
            let is_last =
                line[at..to].trim_end_matches(' ').ends_with('\n') || to > row.end && n == 1;
            forward(if is_last { row.end } else { to })
        }
        'e' | 'E' => forward(repeat(&|at| word_end(line, at, is_big).max(at))),
        'b' | 'B' => {
            let from = repeat(&|at| word_before(line, at, is_big));
            (from < at).then_some(from..at)
        }
        'h' => {
            let before = line[row.start..at].char_indices().rev().take(n).last();
            before.map(|(from, _)| row.start + from..at)
        }
        'l' | ' ' => forward(chars_on(line, at, n).min(row.end)),
        '0' => (row.start < at).then_some(row.start..at),
        '^' => {
            let text = &line[row.clone()];
            let first = row.start + text.len() - text.trim_start().len();
            (first != at).then_some(first.min(at)..first.max(at))
        }
        '$' => forward(row.end),
        '%' => {
            let partner = partner(line, at)?;
            let (from, to) = (at.min(partner), at.max(partner));
            Some(from..chars_on(line, to, 1))
        }
        'j' => {
            let rows = line[row.end..]
                .match_indices('\n')
                .map(|(end, _)| row.end + end);
            let below: Vec<usize> = rows.collect();
            let last = *below.get(n - 1)?;
            Some(row.start..self::row(line, last + 1).end)
        }
        'k' => {
            let above: Vec<usize> = line[..row.start]
                .rmatch_indices('\n')
                .map(|(at, _)| at)
                .collect();
            let first = *above.get(n - 1)?;
            Some(self::row(line, first).start..row.end)
        }
        _ => None,
    }
}

/// Returns where `f`, `t`, `F` and `T` lead in the row.
pub(super) fn found(line: &str, at: usize, kind: char, wanted: char, n: usize) -> Option<usize> {
    let row = row(line, at);
    let is_it = |(_, c): &(usize, char)| *c == wanted;
    match kind {
        'f' | 't' => {
            let from = chars_on(line, at, 1).min(row.end);
            let hits = line[from..row.end].char_indices().filter(is_it);
            let hit = from + hits.map(|(at, _)| at).nth(n - 1)?;
            let before = last(&line[..hit]).unwrap_or_default();
            Some(if kind == 'f' { hit } else { before })
        }
        _ => {
            let hits = line[row.start..at].char_indices().rev().filter(is_it);
            let hit = row.start + hits.map(|(at, _)| at).nth(n - 1)?;
            Some(if kind == 'F' {
                hit
            } else {
                hit + wanted.len_utf8()
            })
        }
    }
}

/// Returns the bracket that belongs to the first one from a place on in its row.
pub(super) fn partner(line: &str, at: usize) -> Option<usize> {
    let row = row(line, at);
    let mut chars = line[at..row.end].char_indices();
    let (offset, pair, is_open) = chars.find_map(|(offset, c)| {
        // `<` and `>` are rarely a pair.
        let pair = BRACKETS[..3]
            .iter()
            .find(|(open, close)| [*open, *close].contains(&c))?;
        Some((offset, *pair, pair.0 == c))
    })?;
    let bracket = at + offset;
    if is_open {
        closing(line, bracket + 1, pair)
    } else {
        opening(line, bracket, pair)
    }
}

/// Takes so many steps, or as many as lead further: a count may be large.
fn repeated(from: usize, n: usize, step: impl Fn(usize) -> usize) -> usize {
    let mut at = from;
    for _ in 0..n {
        let next = step(at);
        if next == at {
            break;
        }
        at = next;
    }
    at
}

/// The row of a text of several that a place is in, without its line break.
pub(super) fn row(line: &str, at: usize) -> Range<usize> {
    let start = line[..at].rfind('\n').map_or(0, |at| at + 1);
    let end = line[at..].find('\n').map_or(line.len(), |end| at + end);
    start..end
}

/// The place of the last character.
pub(super) fn last(text: &str) -> Option<usize> {
    text.char_indices().next_back().map(|(at, _)| at)
}

/// The place so many characters on.
pub(super) fn chars_on(line: &str, at: usize, n: usize) -> usize {
    let mut chars = line[at..].char_indices().skip(n);
    chars.next().map_or(line.len(), |(on, _)| at + on)
}

fn kind(c: char, is_big: bool) -> u8 {
    match c {
        c if c.is_whitespace() => 0,
        c if is_big || c.is_alphanumeric() || c == '_' => 1,
        _ => 2,
    }
}

fn is_blank(line: &str, at: usize) -> bool {
    line[at..].starts_with(char::is_whitespace)
}

/// The characters of one kind around a place.
fn run(line: &str, at: usize, is_big: bool) -> Range<usize> {
    let Some(here) = line[at..].chars().next() else {
        return at..at;
    };
    let same = |c: &char| kind(*c, is_big) == kind(here, is_big);
    let before: usize = line[..at]
        .chars()
        .rev()
        .take_while(same)
        .map(char::len_utf8)
        .sum();
    let behind: usize = line[at..]
        .chars()
        .take_while(same)
        .map(char::len_utf8)
        .sum();
    at - before..at + behind
}

fn next_word(line: &str, at: usize, is_big: bool) -> usize {
    let end = if is_blank(line, at) {
        at
    } else {
        run(line, at, is_big).end
    };
    line.len() - line[end..].trim_start().len()
}

/// Behind the last character of the word that ends next.
fn word_end(line: &str, at: usize, is_big: bool) -> usize {
    let on = chars_on(line, at, 1);
    let word = line.len() - line[on..].trim_start().len();
    run(line, word, is_big).end
}

fn word_before(line: &str, at: usize, is_big: bool) -> usize {
    let text = line[..at].trim_end();
    last(text).map_or(0, |last| run(line, last, is_big).start)
}

fn words(line: &str, at: usize, extent: Extent, is_big: bool, n: usize) -> Option<Range<usize>> {
    let row = row(line, at);
    if row.is_empty() {
        return None;
    }
    // There are no more words than bytes.
    let n = n.min(row.len());
    // Behind the last character stands the cursor where it was typed.
    let at = if at == row.end {
        last(&line[..at])?
    } else {
        at
    };
    let cut = |run: Range<usize>| run.start.max(row.start)..run.end.min(row.end);
    let mut all = cut(run(line, at, is_big));
    let next = |all: &Range<usize>| cut(run(line, all.end, is_big)).end;
    let is_before_blank = |all: &Range<usize>| all.end < row.end && is_blank(line, all.end);
    if extent == Extent::Inner {
        for _ in 1..n {
            all.end = next(&all);
        }
        return Some(all);
    }
    let begins_blank = is_blank(line, at);
    for index in 0..n {
        // A word, and the blanks on the side where it has some.
        if index > 0 || begins_blank {
            if begins_blank && is_before_blank(&all) {
                all.end = next(&all);
            }
            all.end = next(&all);
        }
        if !begins_blank && is_before_blank(&all) {
            all.end = next(&all);
        } else if !begins_blank && index + 1 == n {
            let before = line[row.start..all.start].trim_end();
            all.start = row.start + before.len();
        }
    }
    Some(all)
}

fn quoted(line: &str, at: usize, extent: Extent, quote: char) -> Option<Range<usize>> {
    let row = row(line, at);
    let mut quotes = Vec::new();
    let mut is_escaped = false;
    for (offset, c) in line[row.clone()].char_indices() {
        if c == quote && !is_escaped {
            quotes.push(row.start + offset);
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    // One that the cursor stands on is one of a pair from the left; else the last before it begins one.
    let begin = match quotes.binary_search(&at) {
        Ok(on) => on - on % 2,
        Err(behind) => behind.saturating_sub(1),
    };
    let (open, close) = (*quotes.get(begin)?, *quotes.get(begin + 1)?);
    match extent {
        Extent::Inner => Some(open + 1..close),
        Extent::Around => {
            let behind = &line[close + 1..row.end];
            let blanks = behind.len() - behind.trim_start().len();
            let before = line[row.start..open].trim_end();
            Some(if blanks == 0 {
                row.start + before.len()..close + 1
            } else {
                open..close + 1 + blanks
            })
        }
    }
}

fn bracketed(
    line: &str,
    at: usize,
    extent: Extent,
    pair: (char, char),
    n: usize,
) -> Option<Range<usize>> {
    let mut open = if line[at..].starts_with(pair.0) {
        at
    } else {
        opening(line, at, pair)?
    };
    for _ in 1..n {
        open = opening(line, open, pair)?;
    }
    let close = closing(line, open + 1, pair)?;
    Some(match extent {
        Extent::Inner => open + 1..close,
        Extent::Around => open..close + 1,
    })
}

/// The bracket that is open before a place.
fn opening(line: &str, at: usize, pair: (char, char)) -> Option<usize> {
    unmatched(line[..at].char_indices().rev(), (pair.1, pair.0))
}

/// The bracket that closes what is open at a place.
fn closing(line: &str, at: usize, pair: (char, char)) -> Option<usize> {
    unmatched(line[at..].char_indices(), pair).map(|offset| at + offset)
}

/// The first of `wanted` that none of `nested` belongs to.
fn unmatched(
    chars: impl Iterator<Item = (usize, char)>,
    (nested, wanted): (char, char),
) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in chars {
        if c == nested {
            depth += 1;
        } else if c == wanted && depth == 0 {
            return Some(at);
        } else if c == wanted {
            depth -= 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cursor is at `|`; what is taken is shown in `«»`.
    fn marked(text: &str, take: impl Fn(&str, usize) -> Option<Range<usize>>) -> String {
        let at = text.find('|').unwrap();
        let line = text.replace('|', "");
        match take(&line, at) {
            Some(Range { start, end }) => {
                format!("{}«{}»{}", &line[..start], &line[start..end], &line[end..])
            }
            None => "none".to_owned(),
        }
    }

    /// The count that keys begin with.
    fn count(keys: &str) -> usize {
        let digits = keys.chars().take_while(char::is_ascii_digit);
        let n = digits.collect::<String>().parse().unwrap_or(1);
        n.max(1)
    }

    #[test]
    fn objects_are_taken_as_vi_takes_them() {
        for (keys, text, expected) in [
            ("iw", "one tw|o three", "one «two» three"),
            ("aw", "one tw|o three", "one «two »three"),
            ("aw", "one two thr|ee", "one two« three»"),
            ("aw", "say \"b|ye\" now", "say \"«bye»\" now"),
            ("iw", "one|  two", "one«  »two"),
            ("aw", "one|  two", "one«  two»"),
            ("iw", "foo.b|ar", "foo.«bar»"),
            ("iW", "a foo.b|ar", "a «foo.bar»"),
            ("iw", "the last|", "the «last»"),
            ("iw", "ein schö|nes Wort", "ein «schönes» Wort"),
            ("2aw", "|a b c", "«a b »c"),
            ("3iw", "|a b c", "«a b» c"),
            ("iw", "|", "none"),
            ("i\"", "say \"he|llo you\" now", "say \"«hello you»\" now"),
            ("a\"", "say \"he|llo you\" now", "say «\"hello you\" »now"),
            ("i\"", "s|ay \"a \\\" b\"", "say \"«a \\\" b»\""),
            ("i'", "it|", "none"),
            ("i`", "run `c|argo`", "run `«cargo»`"),
            ("i(", "f(a, (b)|, c)", "f(«a, (b), c»)"),
            ("a(", "f(a, (b|), c)", "f(a, «(b)», c)"),
            ("2i(", "f(a, (b|), c)", "f(«a, (b), c»)"),
            ("ib", "f|(x)", "f(«x»)"),
            ("i}", "{a|: 1}", "{«a: 1»}"),
            ("aB", "{a|: 1}", "«{a: 1}»"),
            ("i]", "[1, 2|]", "[«1, 2»]"),
            ("i<", "<b|>", "<«b»>"),
            ("i(", "no b|racket", "none"),
            ("iz", "no s|uch", "none"),
            ("99980001iw", "on|e two", "«one two»"),
            ("99980001aw", "on|e two", "«one two»"),
        ] {
            let (n, keys) = (
                count(keys),
                keys.trim_start_matches(|c: char| c.is_ascii_digit()),
            );
            let (extent, key) = keys.split_at(1);
            let extent = if extent == "i" {
                Extent::Inner
            } else {
                Extent::Around
            };
            let key = key.chars().next().unwrap();
            let take = |line: &str, at| object(line, at, extent, key, n);
            assert_eq!(marked(text, take), expected, "{keys} in {text}");
        }
    }

    #[test]
    fn motions_reach_as_far_as_those_of_vi() {
        for (keys, text, expected) in [
            ("w", "o|ne two", "o«ne »two"),
            ("w", "one tw|o", "one tw«o»"),
            ("cw", "|one two", "«one» two"),
            ("cw", "on|e two", "on«e» two"),
            ("2w", "|one two three", "«one two »three"),
            ("2cw", "|one two three", "«one two» three"),
            ("w", "|foo-bar", "«foo»-bar"),
            ("W", "|foo-bar", "«foo-bar»"),
            ("w", "a b|\nc", "none"),
            ("w", "a |b\nc", "a «b»\nc"),
            ("e", "|one two", "«one» two"),
            ("e", "on|e two", "on«e two»"),
            ("b", "one t|wo", "one «t»wo"),
            ("2b", "one two |three", "«one two »three"),
            ("h", "ab|c", "a«b»c"),
            ("l", "|ü", "«ü»"),
            ("l", "a|\nb", "none"),
            ("0", "a b|c", "«a b»c"),
            ("^", "  a|b", "  «a»b"),
            ("$", "a\nb|c\nd", "a\nb«c»\nd"),
            ("%", "|f(a(b))", "«f(a(b))»"),
            ("%", "f(a(b)|)", "f«(a(b))»"),
            ("j", "a|b\ncd\ne", "«ab\ncd»\ne"),
            ("k", "ab\nc|d\ne", "«ab\ncd»\ne"),
            ("j", "a|b", "none"),
            ("99980001e", "|one two", "«one two»"),
            ("99980001w", "|one two", "«one two»"),
            ("99980001cw", "|one two", "«one two»"),
            ("99980001b", "one tw|o", "«one tw»o"),
            ("99980001h", "one tw|o", "«one tw»o"),
            ("99980001l", "|one two", "«one two»"),
            ("99980001j", "|one\ntwo", "none"),
        ] {
            let n = count(keys);
            let keys = keys.trim_start_matches(|c: char| n > 1 && c.is_ascii_digit());
            let is_change = keys.starts_with('c');
            let key = keys.chars().last().unwrap();
            let take = |line: &str, at| reach(line, at, key, n, is_change);
            assert_eq!(marked(text, take), expected, "{keys} in {text}");
        }
    }
}
