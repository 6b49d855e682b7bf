//! The sentences of a message that are a person's own words: no code, no quotes of others, no logs.
//!
//! Linear in the length of the text.

/// How a sentence ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Stop,
    Question,
    /// With its line or the text.
    Open,
}

/// One sentence; it may span lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// Without list marker and final punctuation.
    pub text: &'a str,
    pub end: End,
    /// Stands in a list.
    pub item: bool,
    /// The heading or introducing line (`Goals:`) above the list that the sentence stands in.
    pub heading: Option<&'a str>,
}

/// The sentences of a text, in order.
pub fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut sentences = Vec::new();
    let mut heading = None;
    for paragraph in paragraphs(text) {
        match paragraph.place {
            Place::Item => {}
            Place::Plain => heading = None,
            Place::Heading => {
                heading = Some(paragraph.text.trim_matches(is_sign).trim());
            }
        }
        let item = paragraph.place == Place::Item;
        let heading = heading.filter(|_| item);
        split(paragraph.text, |text, end| {
            sentences.push(Sentence {
                text,
                end,
                item,
                heading,
            });
        });
    }
    sentences
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Plain,
    Item,
    Heading,
}

/// Lines that belong together.
struct Paragraph<'a> {
    text: &'a str,
    place: Place,
}

/// A line this long that ends without punctuation was wrapped, not ended.
const WRAPPED: usize = 60;

fn paragraphs(text: &str) -> Vec<Paragraph<'_>> {
    let mut paragraphs: Vec<Paragraph<'_>> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut in_diff = false;
    // Byte range of the open paragraph, and whether the next line may go on with it.
    let mut open: Option<(usize, usize, Place)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim();
        if let Some(marker) = fence {
            fence = (content != marker).then_some(marker);
            continue;
        }
        fence = opens_fence(content);
        in_diff = begins_diff(line) || (in_diff && is_of_diff(line));
        if fence.is_some() || content.is_empty() || in_diff || !is_own_words(line) {
            close(text, &mut open, &mut paragraphs);
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let (marker, place) = marked(content);
        let first = start + indent + marker;
        let end = start + line.trim_end().len();
        let goes_on = open.is_some_and(|(from, to, _)| {
            marker == 0
                && content.starts_with(char::is_lowercase)
                && to - from >= WRAPPED
                && !text[from..to].ends_with(['.', '!', '?', ':', ';'])
        });
        match &mut open {
            Some((_, to, _)) if goes_on => *to = end,
            _ => {
                close(text, &mut open, &mut paragraphs);
                open = (first < end).then_some((first, end, place));
            }
        }
    }
    close(text, &mut open, &mut paragraphs);
    paragraphs
}

/// The marker of a fence that a line opens; ` ```cargo build``` fails ` opens none.
pub(super) fn opens_fence(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|marker| {
        let info = line.strip_prefix(marker);
        info.is_some_and(|info| !info.contains('`'))
    })
}

fn close<'a>(
    text: &'a str,
    open: &mut Option<(usize, usize, Place)>,
    paragraphs: &mut Vec<Paragraph<'a>>,
) {
    if let Some((from, to, place)) = open.take() {
        let text = &text[from..to];
        let place = match place {
            Place::Plain if is_title(text) => Place::Heading,
            Place::Plain | Place::Item | Place::Heading => place,
        };
        paragraphs.push(Paragraph { text, place });
    }
}

/// Whether a line introduces what follows: `Goals:`, `**Goals**`.
pub fn is_title(line: &str) -> bool {
    let is_bold = line.len() > 4 && line.starts_with("**") && line.ends_with("**");
    is_bold || line.trim_end_matches('*').ends_with(':')
}

fn is_sign(c: char) -> bool {
    matches!(c, ':' | '*' | ' ')
}

/// Bytes of a list marker or heading sign, and what the line is.
fn marked(line: &str) -> (usize, Place) {
    let hashes = line.len() - line.trim_start_matches('#').len();
    if hashes > 0 && line[hashes..].starts_with(' ') {
        return (hashes + 1, Place::Heading);
    }
    for bullet in ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "• ", "– "] {
        if line.starts_with(bullet) {
            return (bullet.len(), Place::Item);
        }
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = &line[digits..];
    if (1..=3).contains(&digits) && (after.starts_with(". ") || after.starts_with(") ")) {
        return (digits + 2, Place::Item);
    }
    (0, Place::Plain)
}

/// Not a quote, not indented code, not a line of a diff.
fn is_own_words(line: &str) -> bool {
    let content = line.trim_start();
    let indented = line.starts_with("    ") || line.starts_with('\t');
    let quote = content.starts_with('>');
    let is_item = marked(content).0 > 0;
    !(quote || (indented && !is_item))
}

fn begins_diff(line: &str) -> bool {
    ["diff --git ", "@@ ", "+++ ", "--- ", "index "]
        .iter()
        .any(|sign| line.starts_with(sign))
}

/// Whether a line that follows on a diff may be of it.
fn is_of_diff(line: &str) -> bool {
    line.starts_with(['+', '-', ' ', '\\']) || line.trim().is_empty()
}

/// Words before a full stop that is never the end of a sentence …
const TITLES: [&str; 10] = [
    "e.g", "i.e", "vs", "cf", "mr", "mrs", "ms", "dr", "prof", "st",
];

/// … and those before one that is the end if the next word has a capital: "I say no. Then …".
const ABBREVIATIONS: [&str; 12] = [
    "etc", "no", "approx", "ca", "inc", "ltd", "jr", "sr", "fig", "min", "max", "resp",
];

fn split<'a>(text: &'a str, mut found: impl FnMut(&'a str, End)) {
    let mut from = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let end = match c {
            '.' | '!' | ';' | '…' | '。' | '！' => End::Stop,
            '?' | '？' => End::Question,
            _ => continue,
        };
        let next = characters.peek().map(|(_, next)| *next);
        let is_wide = matches!(c, '。' | '！' | '？');
        let closes = next.is_none_or(char::is_whitespace) || is_wide;
        let after = &text[at + c.len_utf8()..];
        if !closes || (c == '.' && next.is_some() && abbreviates(&text[from..at], after)) {
            continue;
        }
        push(&text[from..at], end, &mut found);
        from = at + c.len_utf8();
    }
    push(&text[from..], End::Open, &mut found);
}

fn push<'a>(text: &'a str, end: End, found: &mut impl FnMut(&'a str, End)) {
    let ends = |c: char| c.is_whitespace() || matches!(c, '.' | '!' | '?' | '…');
    let text = text.trim().trim_end_matches(ends);
    if !text.is_empty() {
        found(text, end);
    }
}

fn abbreviates(before: &str, after: &str) -> bool {
    let mut words = before.rsplit(char::is_whitespace);
    let word = words.next().unwrap_or_default();
    let word = word.trim_start_matches(['(', '"', '\'']);
    // `Ursula K. Le Guin`, `J.R.R. Tolkien`
    let is_letter = |part: &str| {
        let mut letters = part.chars();
        letters.next().is_some_and(char::is_uppercase) && letters.next().is_none()
    };
    let are_initials = word != "I" && word.split('.').all(is_letter);
    let is_one_of = |known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    // "within 200 ms." is no title.
    let mut is_unit = || {
        words
            .next()
            .is_some_and(|word| word.ends_with(|c: char| c.is_ascii_digit()))
    };
    let is_capital = || after.trim_start().starts_with(char::is_uppercase);
    are_initials
        || (is_one_of(&TITLES) && !is_unit())
        || (is_one_of(&ABBREVIATIONS) && !is_capital())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(&str, End)> {
        sentences(text).iter().map(|s| (s.text, s.end)).collect()
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        use End::{Open, Question, Stop};
        for (text, expected) in [
            (
                "Fix it. Then test",
                vec![("Fix it", Stop), ("Then test", Open)],
            ),
            (
                "Is it v1.2.3? Yes!",
                vec![("Is it v1.2.3", Question), ("Yes", Stop)],
            ),
            (
                "Use e.g. src/a.rs here.",
                vec![("Use e.g. src/a.rs here", Stop)],
            ),
            (
                "J.R.R. Tolkien and I. Then",
                vec![("J.R.R. Tolkien and I", Stop), ("Then", Open)],
            ),
            (
                "Within 200 ms. Dr. No said no. Then 5 min. rest",
                vec![
                    ("Within 200 ms", Stop),
                    ("Dr. No said no", Stop),
                    ("Then 5 min. rest", Open),
                ],
            ),
            ("one\ntwo", vec![("one", Open), ("two", Open)]),
            ("- a\n- b", vec![("a", Open), ("b", Open)]),
            ("对。好吗？", vec![("对", Stop), ("好吗", Question)]),
            ("...", vec![]),
        ] {
            assert_eq!(texts(text), expected, "{text:?}");
        }
    }

    #[test]
    fn code_quotes_and_diffs_are_not_a_persons_own_words() {
        let text = "Before\n```\nfix = add(x)\n```\n> I said that\n    indented()\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n+# We decided so. Our goal is x.\n-old. Thing\nAfter";
        assert_eq!(texts(text), [("Before", End::Open), ("After", End::Open)]);
    }

    #[test]
    fn code_between_three_marks_in_a_line_opens_nothing_and_a_word_may_end_with_no() {
        assert_eq!(
            texts("```cargo build``` fails\nNo. Fix it"),
            [
                ("```cargo build``` fails", End::Open),
                ("No", End::Stop),
                ("Fix it", End::Open)
            ]
        );
    }

    #[test]
    fn a_list_may_stand_under_a_bold_title() {
        for title in [
            "**Goals:**",
            "**Goals**:",
            "**Goals**",
            "## Goals",
            "Goals:",
        ] {
            let text = format!("{title}\n- ship it");
            let heading = sentences(&text).last().and_then(|item| item.heading);
            assert_eq!(heading, Some("Goals"), "{title}");
        }
    }

    #[test]
    fn a_wrapped_line_goes_on_and_a_list_knows_its_heading() {
        let text = "This is a rather long line that was wrapped by somebody who likes\nshort lines.\nGoals:\n1. ship it\n2) sell it";
        let found = sentences(text);
        assert!(found[0].text.ends_with("likes\nshort lines"));
        let items: Vec<_> = found[2..]
            .iter()
            .map(|s| (s.text, s.item, s.heading))
            .collect();
        assert_eq!(
            items,
            [
                ("ship it", true, Some("Goals")),
                ("sell it", true, Some("Goals"))
            ]
        );
    }
}
