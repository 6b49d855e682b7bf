//! Markdown as far as notes need it: lines, sections, bullets. Pure.
//!
//! Invariant: a function here changes the lines it is asked to change and no byte of any other; ends of lines stay as
//! the file has them (LF or CR LF).

use std::ops::Range;

/// A line of a file, as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub number: usize,
    /// The heading that it stands under, without `#`.
    pub section: Option<String>,
    /// Without the end of the line.
    pub text: String,
}

/// All of them, blank ones too.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut section = None;
    let mut fence = Fence::default();
    let mut lines = Vec::new();
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        let line = bare(line);
        if !fence.holds(line)
            && let Some((_, title)) = heading(line)
        {
            section = Some(title.to_owned());
        }
        lines.push(Line {
            number,
            section: section.clone(),
            text: line.to_owned(),
        });
    }
    lines
}

/// The text with bullets at the end of the section under `## title`, which is made at the end where it is not there.
pub(super) fn added(text: &str, title: &str, bullets: &[String]) -> String {
    let end = line_end(text);
    let block = bullets.join(end);
    match section(text, title) {
        Some(range) => {
            let body = text[range.clone()].trim_end();
            let end_of_body = range.start + body.len();
            // Blanks that end the last line stay with it.
            let blanks = text[end_of_body..].split('\n').next().unwrap_or_default();
            let at = end_of_body + blanks.strip_suffix('\r').unwrap_or(blanks).len();
            let is_bare = !body.contains('\n');
            let gap = if is_bare {
                [end, end].concat()
            } else {
                end.to_owned()
            };
            let rest = &text[at..];
            let close = if rest.is_empty() { end } else { "" };
            format!("{}{gap}{block}{close}{rest}", &text[..at])
        }
        None => format!("{text}{}## {title}{end}{end}{block}{end}", gap_after(text)),
    }
}

/// What parts a text from a section that is put behind it.
pub(super) fn gap_after(text: &str) -> &'static str {
    let is_empty = bare(text).is_empty() && !text.contains('\n');
    let has_returns = line_end(text) == "\r\n";
    match (
        text.ends_with('\n'),
        text.ends_with("\n\n") || text.ends_with("\r\n\r\n"),
    ) {
        _ if is_empty => "",
        (_, true) => "",
        (true, false) => {
            if has_returns {
                "\r\n"
            } else {
                "\n"
            }
        }
        (false, false) => {
            if has_returns {
                "\r\n\r\n"
            } else {
                "\n\n"
            }
        }
    }
}

/// How lines of a text end: as its first one does.
pub(super) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// Where the section under `## title` is, heading and all; the last of that name.
pub(super) fn section(text: &str, title: &str) -> Option<Range<usize>> {
    sections(text)
        .into_iter()
        .rfind(|(found, _)| *found == title)
        .map(|(_, range)| range)
}

/// The sections under `## …`, in their order; each ends where the next heading of its rank or a higher one begins.
pub(super) fn sections(text: &str) -> Vec<(&str, Range<usize>)> {
    let mut found: Vec<(&str, Range<usize>)> = Vec::new();
    let mut is_open = false;
    let mut fence = Fence::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let line = bare(line);
        if fence.holds(line) {
            continue;
        }
        let Some((rank, title)) = heading(line).filter(|(rank, _)| *rank <= 2) else {
            continue;
        };
        if is_open && let Some((_, range)) = found.last_mut() {
            range.end = start;
        }
        is_open = rank == 2;
        if is_open {
            found.push((title, start..text.len()));
        }
    }
    found
}

/// The text without headings of the program's lists under which nothing stands.
pub fn without_empty_lists(text: &str) -> String {
    let mut left = text.to_owned();
    loop {
        let empty = sections(&left).into_iter().find(|(title, range)| {
            let is_list = OWN.iter().any(|own| title.starts_with(own));
            let mut lines = left[range.clone()].lines().skip(1);
            is_list && lines.all(|line| line.trim().is_empty())
        });
        let Some((_, range)) = empty else {
            return left;
        };
        left.replace_range(range, "");
    }
}

/// How the headings begin of the lists that the program keeps.
const OWN: [&str; 4] = [
    "Auto-captured",
    "Notes",
    "Auto-extracted (",
    "Session Facts (",
];

/// The text with another line in the place of line `number`, which keeps its end; `None`: without that line.
pub(super) fn changed(text: &str, number: usize, line: Option<&str>) -> String {
    let mut result = String::with_capacity(text.len());
    for (old, at) in text.split_inclusive('\n').zip(1..) {
        match line {
            _ if at != number => result.push_str(old),
            Some(new) => {
                let mark = if old.starts_with('\u{feff}') {
                    "\u{feff}"
                } else {
                    ""
                };
                let content = mark.len() + bare(old).len();
                result.extend([mark, new, &old[content..]]);
            }
            None => {}
        }
    }
    // The mark that begins a file stays when its line goes.
    if text.starts_with('\u{feff}') && !result.starts_with('\u{feff}') {
        result.insert(0, '\u{feff}');
    }
    result
}

/// At most so many characters, the last of them `…` where something is missing.
pub(super) fn clipped(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// A text of several lines in which none is a heading, a rule or the start of a code block any more.
pub(super) fn neutral(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let start = line.trim_start();
        let escape = if makes_structure(start) { "\\" } else { "" };
        format!("{escape}{}", if escape.is_empty() { line } else { start })
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn makes_structure(line: &str) -> bool {
    let rule = |mark: char| {
        let n_marks = line.chars().filter(|c| *c == mark).count();
        n_marks > 0 && line.chars().all(|c| c == mark || c.is_whitespace())
    };
    line.starts_with('#')
        || line.starts_with("```")
        || line.starts_with("~~~")
        || ['-', '=', '*', '_'].into_iter().any(rule)
}

/// A line without its end and without the mark that may begin a file.
fn bare(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.strip_prefix('\u{feff}').unwrap_or(line)
}

/// Rank and title.
fn heading(line: &str) -> Option<(usize, &str)> {
    let rank = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = &line[rank..];
    let is_heading =
        (1..=6).contains(&rank) && (title.is_empty() || title.starts_with([' ', '\t']));
    is_heading.then(|| (rank, title.trim()))
}

/// Whether lines are code, in which `#` begins no heading.
#[derive(Default)]
struct Fence(Option<&'static str>);

impl Fence {
    fn holds(&mut self, line: &str) -> bool {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (self.0, mark) {
            (None, None) => return false,
            (None, Some(_)) => self.0 = mark,
            (Some(open), Some(mark)) if open == mark => self.0 = None,
            (Some(_), _) => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::lines::one_line;

    fn bullet(text: &str) -> [String; 1] {
        [text.to_owned()]
    }

    #[test]
    fn a_bullet_joins_its_section_or_makes_it() {
        for (text, expected) in [
            ("", "## Notes\n\n- new\n"),
            ("\u{feff}", "\u{feff}## Notes\n\n- new\n"),
            ("# M", "# M\n\n## Notes\n\n- new\n"),
            ("# M\n", "# M\n\n## Notes\n\n- new\n"),
            ("## Notes", "## Notes\n\n- new\n"),
            ("## Notes\n\n- a", "## Notes\n\n- a\n- new\n"),
            (
                "## Notes\r\n\r\n- a\r\n",
                "## Notes\r\n\r\n- a\r\n- new\r\n",
            ),
            (
                "## Notes\n- a\n\n## Other\n- b\n",
                "## Notes\n- a\n- new\n\n## Other\n- b\n",
            ),
            (
                "## Notes\n### Sub\n- a\n# Top\n",
                "## Notes\n### Sub\n- a\n- new\n# Top\n",
            ),
            (
                "```\n## Notes\n```\n",
                "```\n## Notes\n```\n\n## Notes\n\n- new\n",
            ),
            ("## Notesy\n- a\n", "## Notesy\n- a\n\n## Notes\n\n- new\n"),
            ("## Notes\n- a  ", "## Notes\n- a  \n- new\n"),
            ("## Notes\r\n- a \r\n", "## Notes\r\n- a \r\n- new\r\n"),
        ] {
            assert_eq!(added(text, "Notes", &bullet("- new")), expected, "{text:?}");
        }
    }

    #[test]
    fn lines_know_their_section_and_number() {
        let lines = lines("\u{feff}# M\r\n\r\n## Notes\r\n- a\r\n```\n# no\n```");
        let seen: Vec<_> = lines
            .iter()
            .map(|line| (line.number, line.section.as_deref(), line.text.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (1, Some("M"), "# M"),
                (2, Some("M"), ""),
                (3, Some("Notes"), "## Notes"),
                (4, Some("Notes"), "- a"),
                (5, Some("Notes"), "```"),
                (6, Some("Notes"), "# no"),
                (7, Some("Notes"), "```"),
            ]
        );
    }

    #[test]
    fn words_cannot_forge_structure() {
        assert_eq!(one_line("a\n## b\r\n---\tc\u{1b}[2J"), "a ## b --- c [2J");
        assert_eq!(
            neutral("ok\n## [x]\n  # y\n---\n- item\n===\n```\nfin"),
            "ok\n\\## [x]\n\\# y\n\\---\n- item\n\\===\n\\```\nfin"
        );
        assert_eq!(clipped("äöüß", 3), "äö…");
        assert_eq!(clipped("äöü", 3), "äöü");
    }

    proptest! {
        #[test]
        fn what_is_added_changes_no_other_line(
            text in "(\u{feff})?(## Notes|# T|- a|ü|```|\r|\n|\r\n| ){0,24}",
        ) {
            let new = added(&text, "Notes", &bullet("- new"));
            prop_assert!(new.contains("- new"), "{new:?}");
            // Whatever was there is there in its order, byte for byte.
            let mut rest = new.as_str();
            for line in text.split_inclusive('\n').map(|line| line.trim_end_matches(['\n', '\r', ' '])) {
                let at = rest.find(line);
                prop_assert!(at.is_some(), "{line:?} of {text:?} in {new:?}");
                rest = &rest[at.unwrap_or_default() + line.len()..];
            }
            // One piece was put in, nothing taken out.
            let before = text.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
            let after = text.len() - before;
            prop_assert!(new.as_bytes().ends_with(&text.as_bytes()[text.len() - after..]));
        }

        #[test]
        fn a_line_is_changed_or_removed_and_no_other(
            text in "(\u{feff})?(- a|ü|\r|\n|\r\n| ){0,24}", number in 1_usize..12,
        ) {
            let old = lines(&text);
            let new = lines(&changed(&text, number, Some("X")));
            prop_assert_eq!(old.len(), new.len());
            for (old, new) in old.iter().zip(&new) {
                prop_assert_eq!(&new.text, if old.number == number { "X" } else { &old.text });
            }
            let left: Vec<_> = lines(&changed(&text, number, None)).into_iter().map(|line| line.text).collect();
            let mut expected: Vec<_> = old.iter().filter(|line| line.number != number).map(|line| line.text.clone()).collect();
            // A file that held its mark alone still does.
            if expected.is_empty() && !left.is_empty() {
                expected.push(String::new());
            }
            prop_assert_eq!(left, expected);
        }
    }
}
