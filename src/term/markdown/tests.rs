//! Documents laid out, in one piece and in many.

use proptest::prelude::*;

use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use super::highlight::Highlighter;
use super::line::{Line, Links, TextStyle};
use super::screen::Screen;
use super::stream::{Markdown, Size};
use crate::term::escape::Harmless;
use crate::term::policy::Paint;
use crate::term::settings::Theme;

const WIDE: Size = Size {
    columns: 80,
    rows: 24,
};

/// What is settled in the end, without styles.
fn shown<'a>(pieces: impl IntoIterator<Item = &'a str>, size: Size) -> String {
    let mut document = Markdown::new(size, Highlighter::default());
    let mut lines = Vec::new();
    for piece in pieces {
        document.push(piece);
        lines.extend(document.take_settled());
    }
    document.finish();
    lines.extend(document.take_settled());
    lines.iter().map(|line| line.text() + "\n").collect()
}

fn at(columns: usize, text: &str) -> String {
    shown([text], Size { columns, ..WIDE })
}

#[test]
fn blocks_are_laid_out_for_a_terminal() {
    for (name, text, expected) in [
        ("words", "one two", "one two\n"),
        ("lines stay", "one\ntwo", "one\ntwo\n"),
        ("heading", "# One\ntext", "One\ntext\n"),
        ("heading below text", "text\n## Two", "text\n\nTwo\n"),
        ("emphasis", "*a* **b** ~~c~~ `d`", "a b c d\n"),
        (
            "bullets",
            "- a\n- b\n  - c\n\n- d\n",
            "• a\n• b\n  ◦ c\n• d\n",
        ),
        ("numbers", "3. a\n4. b\n", "3. a\n4. b\n"),
        ("all ones", "1. a\n1. b\n1. c\n", "1. a\n2. b\n3. c\n"),
        ("tasks", "- [ ] a\n- [x] b\n", "[ ] a\n[x] b\n"),
        (
            "a list below another",
            "- [x] a\n1. b\n2. c\n\n- d\n",
            "[x] a\n\n1. b\n2. c\n\n• d\n",
        ),
        (
            "a list below one of the same kind",
            "- a\n\n* b\n",
            "• a\n• b\n",
        ),
        ("quote", "> a\n> b\n\nc", "│ a\n│ b\n\nc\n"),
        ("alert", "> [!NOTE]\n> a", "│ Note\n│ a\n"),
        (
            "rule",
            "a\n\n---\n\nb",
            &format!("a\n\n{}\n\nb\n", "─".repeat(60)),
        ),
        (
            "code",
            "a\n```rust\nfn x() {\n\n    y\n}\n```\nb",
            "a\n\nfn x() {\n\n    y\n}\n\nb\n",
        ),
        ("unclosed code", "```\na\n``", "a\n``\n"),
        ("longer fence", "````\n```\n````\n", "```\n"),
        (
            "code in an item",
            "1. a\n   ```\n   b\n   ```\n2. c\n",
            "1. a\n   b\n2. c\n",
        ),
        (
            "link",
            "[a](http://b) <http://c> [http://d](http://d)",
            "a (http://b) http://c http://d\n",
        ),
        ("image", "![a](b.png)", "[image: a] (b.png)\n"),
        (
            "reference",
            "[a][b]\n\n[b]: /c\n\nd",
            "[a][b]\n\n[b]: /c\n\nd\n",
        ),
        (
            "html",
            "<div>\n<b>a</b>\n</div>",
            "<div>\n<b>a</b>\n</div>\n",
        ),
        ("line break", "a<br>b", "a\nb\n"),
        ("math", "$a_b_c$ and \\$5", "$a_b_c$ and $5\n"),
        ("table", "|a|b|\n|-|-:|\n|c|dd|\n", "a   b\n─  ──\nc  dd\n"),
    ] {
        assert_eq!(at(80, text), expected, "{name}");
    }
}

#[test]
fn what_does_not_fit_wraps_at_blanks_below_its_text() {
    for (name, columns, text, expected) in [
        ("words", 10, "one two three", "one two\nthree\n"),
        ("an item", 10, "- one two three", "• one two\n  three\n"),
        ("a quote", 10, "> one two three", "│ one two\n│ three\n"),
        ("a long word", 6, "a longword b", "a\nlongword\nb\n"),
        ("wide", 7, "日本語の文章。", "日本語\nの文\n章。\n"),
        ("exactly", 7, "one two", "one two\n"),
    ] {
        assert_eq!(at(columns, text), expected, "{name}");
    }
}

#[test]
fn each_level_of_a_list_is_set_in_further_also_on_a_small_screen() {
    let tall = "\
- a first item that is long enough to wrap on a terminal of forty columns because it goes on and on and on
  - a nested item that is also long enough to wrap on a terminal of forty columns, hanging properly under itself
    1. deep
    2. deep and long enough to wrap on a terminal of forty columns because it goes on and on and on
- [ ] a task
";
    for rows in 3..20 {
        let laid = shown([tall], Size { columns: 40, rows });
        assert!(
            laid.contains("\n    1. deep\n    2. deep and"),
            "{rows}: {laid}"
        );
    }
    let text =
        "Words.\n\n- one\n  - two\n    1. three\n    2. three again\n       - four\n- five\n";
    let expected =
        "Words.\n\n• one\n  ◦ two\n    1. three\n    2. three again\n       ▪ four\n• five\n";
    for size in SIZES {
        assert_eq!(shown([text], size), expected, "{size:?}");
        let long = format!("{}{text}", "- before\n".repeat(30));
        let last = &expected["Words.\n\n".len()..];
        let long = shown([long.as_str()], size);
        assert!(long.ends_with(last), "{size:?}: {long}");
    }
}

#[test]
fn a_wide_table_folds_to_records() {
    let table = "|Name|What it is for|\n|-|-|\n|apple|eating it at noon|\n|pear|baking|\n";
    assert_eq!(
        at(24, table),
        "Name   What it is for\n─────  ─────────────────\napple  eating it at noon\npear   baking\n"
    );
    assert_eq!(
        at(20, table),
        "Name   What it is\n       for\n─────  ─────────────\napple  eating it at\n       noon\npear   baking\n"
    );
    assert_eq!(
        at(14, table),
        "Name: apple\nWhat it is\n  for: eating\n  it at noon\n\nName: pear\nWhat it is\n  for: baking\n"
    );
}

#[test]
fn a_character_reference_becomes_no_escape() {
    let text = "&#27;[2J `&#27;` [x](&#27;) &#x202E; &#10;|\n\n|&#27;|\n|-|\n|&#155;|\n";
    let shown = at(80, text);
    assert!(shown.contains("␛[2J"), "{shown}");
    assert!(!shown.contains(['\x1b', '\u{9b}', '\u{202e}']), "{shown:?}");
}

/// The documents by name.
fn documents() -> Vec<(&'static str, String)> {
    let documents = include_str!("documents.txt").split("=== ").skip(1);
    documents
        .map(|document| {
            let (name, text) = document.split_once('\n').unwrap();
            (name, text.replace("\\r\n", "\r\n"))
        })
        .collect()
}

/// A document on its way to a terminal: each piece is one frame.
fn sent<'a>(pieces: impl IntoIterator<Item = &'a str>, size: Size, paint: Paint) -> String {
    sent_with(pieces, size, paint, &mut Highlighter::default())
}

/// The same with code in colours, each of which is waited for.
fn sent_with<'a>(
    pieces: impl IntoIterator<Item = &'a str>,
    size: Size,
    paint: Paint,
    highlighter: &mut Highlighter,
) -> String {
    let mut document = Markdown::new(size, std::mem::take(highlighter));
    let mut screen = Screen::default();
    let mut filter = Harmless::default();
    let mut bytes = String::new();
    for piece in pieces {
        document.push(&filter.delta(piece));
        document.wait(Instant::now() + PATIENCE);
        let settled = document.take_settled();
        bytes += &screen.frame(settled, document.tail(), size, paint);
    }
    document.push(filter.end());
    document.wait(Instant::now() + PATIENCE);
    document.finish();
    bytes += &screen.frame(document.take_settled(), Vec::new(), size, paint);
    *highlighter = document.into_highlighter();
    bytes
}

/// Longer than any colours take.
const PATIENCE: Duration = Duration::from_mins(10);

/// Colours code however long that takes.
fn patient(theme: Theme) -> Highlighter {
    let mut highlighter = Highlighter::new(Some(theme));
    highlighter.patience = PATIENCE;
    highlighter
}

/// All that a terminal shows and has scrolled away, row by row.
fn rows_of(bytes: &str, size: Size) -> Vec<String> {
    rows_as(bytes, size, |screen, width, count| {
        screen.rows(0, width).take(count).collect()
    })
}

/// The same with its colours, as the sequences that make them.
fn painted_rows_of(bytes: &str, size: Size) -> Vec<String> {
    rows_as(bytes, size, |screen, width, count| {
        screen.rows_formatted(0, width).take(count).collect()
    })
}

fn rows_as(
    bytes: &str,
    size: Size,
    rows_of: impl Fn(&vt100::Screen, u16, usize) -> Vec<String>,
) -> Vec<String> {
    let cells = |count: usize| NonZeroU16::new(u16::try_from(count).unwrap()).unwrap();
    let mut terminal = vt100::Parser::new(cells(size.rows), cells(size.columns), 10_000);
    terminal.process(bytes.replace('\n', "\r\n").as_bytes());
    let screen = terminal.screen_mut();
    screen.set_scrollback(usize::MAX);
    let mut rows: Vec<String> = Vec::new();
    let scrolled = screen.scrollback();
    for offset in (0..=scrolled).rev() {
        screen.set_scrollback(offset);
        let width = u16::try_from(size.columns).unwrap();
        let count = if offset == 0 { size.rows } else { 1 };
        rows.extend(rows_of(screen, width, count));
    }
    while rows.last().is_some_and(|row| row.trim().is_empty()) {
        rows.pop();
    }
    rows
}

const SIZES: [Size; 3] = [
    Size {
        columns: 40,
        rows: 12,
    },
    WIDE,
    Size {
        columns: 200,
        rows: 50,
    },
];

#[test]
fn documents_look_as_they_should() {
    for size in SIZES {
        let mut all = String::new();
        for (name, text) in documents() {
            let laid = sent([text.as_str()], size, Paint::Bare);
            all.extend(["=== ", name, "\n", &laid]);
            let mut lines = laid.lines();
            assert!(lines.all(|line| line.trim_end() == line), "{name}: {laid}");
        }
        insta::assert_snapshot!(format!("columns_{}", size.columns), all);
    }
}

#[test]
fn a_screen_drawn_after_each_character_is_the_same_in_the_end_colours_included() {
    let mut highlighter = patient(Theme::Dark);
    for size in SIZES {
        for (name, text) in documents() {
            let mut painted = |pieces: Vec<&str>| {
                let bytes = sent_with(pieces, size, Paint::Full, &mut highlighter);
                painted_rows_of(&bytes, size)
            };
            let whole = painted(vec![text.as_str()]);
            let drawn = painted(text.split_inclusive(|_: char| true).collect());
            assert_eq!(drawn, whole, "{name} at {size:?}");
        }
    }
}

#[test]
fn a_screen_drawn_in_two_pieces_is_the_same_wherever_they_are_cut() {
    for size in SIZES {
        for (name, text) in documents() {
            let whole = painted_rows_of(&sent([text.as_str()], size, Paint::Full), size);
            for (at, _) in text.char_indices() {
                let (before, after) = text.split_at(at);
                let drawn = painted_rows_of(&sent([before, after], size, Paint::Full), size);
                assert_eq!(drawn, whole, "{name} cut at {at} at {size:?}");
            }
        }
    }
}

#[test]
fn each_frame_shows_the_end_of_what_has_arrived() {
    for (name, text) in documents() {
        let mut document = Markdown::new(SIZES[0], Highlighter::default());
        let mut filter = Harmless::default();
        let mut lines: Vec<Line> = Vec::new();
        for character in text.split_inclusive(|_: char| true) {
            document.push(&filter.delta(character));
            lines.extend(document.take_settled());
            let mut all = lines.clone();
            all.extend(document.tail());
            let Some(last) = character.chars().next().filter(|c| c.is_alphabetic()) else {
                continue;
            };
            let end: String = all.iter().rev().take(30).map(Line::text).collect();
            let is_hidden = [
                "tabs",
                "table",
                "link",
                "references",
                "image",
                "fence",
                "item with code",
                "quote with blocks",
                "escapes",
                "alert",
                "hostile",
                "a plan",
            ];
            let may_hide = is_hidden.iter().any(|part| name.contains(part));
            assert!(
                may_hide || end.contains(last),
                "{name}: {last:?} in {end:?}"
            );
        }
    }
}

#[test]
fn a_reply_that_only_gets_longer_is_printed_without_drawing_anything_again() {
    let text = "one two three four\nfive";
    let bytes = sent(text.split_inclusive(' '), WIDE, Paint::Full);
    assert_eq!(bytes, "one two three four\nfive\n");
}

#[test]
fn a_line_that_changes_is_drawn_again_in_one_update() {
    let bytes = sent(["Title", "\n="], WIDE, Paint::Full);
    assert_eq!(
        bytes,
        "Title\x1b[?2026h\r\x1b[J\x1b[1;4mTitle\x1b[0m\n\x1b[?2026l"
    );
}

#[test]
fn a_mark_works_before_it_is_closed() {
    for (pieces, expected) in [
        (["a **b", "** c"], "a \x1b[1mb\x1b[0m c\n"),
        (["a `b", "` c"], "a \x1b[36mb\x1b[0m c\n"),
        (["2 ** 3", " c"], "2 ** 3 c\n"),
    ] {
        assert_eq!(sent(pieces, WIDE, Paint::Full), expected, "{pieces:?}");
    }
}

#[test]
fn without_colours_words_are_still_bold_and_code_is_plain() {
    let text = "**a** `b` [c](d)\n";
    assert_eq!(
        sent([text], WIDE, Paint::Colorless),
        "\x1b[1ma\x1b[0m b \x1b[4mc\x1b[0m (d)\n"
    );
}

#[test]
fn code_gets_the_colours_of_its_language_and_of_the_theme() {
    let code = "fn a() { \"b\" } // c\n";
    let text = format!("```rust\n{code}```\n- in an item\n  ```rust\n  {code}  ```\n\nend");
    let painted = |theme| {
        let mut document = Markdown::new(WIDE, patient(theme));
        let deadline = Instant::now() + PATIENCE;
        for line in text.split_inclusive('\n') {
            document.push(line);
            document.wait(deadline);
        }
        document.finish();
        let lines = document.take_settled();
        let lines: Vec<String> = lines
            .iter()
            .map(|line| line.painted(Paint::Full, Links::Shown))
            .collect();
        lines.join("\n")
    };
    let dark = painted(Theme::Dark);
    let begin = "\x1b[48;5;235m\x1b[K\x1b[0m\x1b[38;5;176;48;5;235mfn\x1b[0m";
    assert!(dark.starts_with(begin), "{dark:?}");
    let item = dark.lines().nth(3).unwrap();
    assert!(item.starts_with(&format!("  {begin}")), "{dark:?}");
    assert!(
        dark.contains("\x1b[38;5;114;48;5;235m\"b\"\x1b[0m"),
        "{dark:?}"
    );
    let light = painted(Theme::Light);
    assert!(
        light.contains("\x1b[38;5;243;48;5;255m// c\x1b[0m"),
        "{light:?}"
    );
    let auto = painted(Theme::Auto);
    assert!(auto.starts_with("\x1b[35mfn\x1b[0m "), "{auto:?}");
    let plain: String = anstream::adapter::strip_str(&auto).to_string();
    assert_eq!(plain, format!("{code}\n• in an item\n  {code}\nend"));
    assert_eq!(auto.matches("\x1b[35mfn\x1b[0m").count(), 2, "{auto:?}");
}

#[test]
fn words_without_their_marks_stand_in_one_line() {
    let text = "# Plan\n\nA **bo**ld `word` and a [link](https://x.org).\n- one\n- two\n\n|a|b|\n|-|-|\n|1|2|\n";
    let words = super::without_markup(text);
    let words: Vec<&str> = words.split_whitespace().collect();
    assert_eq!(
        words.join(" "),
        "Plan A bold word and a link. one two a b 1 2"
    );
}

#[test]
fn code_stands_on_a_background_that_is_no_text_and_takes_no_letter() {
    let full_row = "x".repeat(WIDE.columns);
    let cells = |count: usize| NonZeroU16::new(u16::try_from(count).unwrap()).unwrap();
    let columns = cells(WIDE.columns);
    let text = format!("```\nfn\n\n{full_row}\n```\nprose");
    let mut document = Markdown::new(WIDE, patient(Theme::Dark));
    document.push(&text);
    document.finish();
    let lines = document.take_settled();
    let painted = lines
        .iter()
        .map(|line| line.painted(Paint::Full, Links::Shown));
    let painted: Vec<String> = painted.collect();
    let mut screen = vt100::Parser::new(cells(10), columns, 0);
    screen.process(painted.join("\r\n").as_bytes());
    let screen = screen.screen();
    let rows: Vec<String> = screen.rows(0, columns.get()).collect();
    assert_eq!(rows[..3], ["fn".to_owned(), String::new(), full_row]);
    let background = |row, column| screen.cell(row, column).unwrap().bgcolor();
    for row in 0..3 {
        assert_eq!(background(row, 1), vt100::Color::Idx(235), "{row}");
        assert_eq!(background(row, columns.get() - 1), vt100::Color::Idx(235));
    }
    assert_eq!(rows[4], "prose");
    assert_eq!(background(4, 1), vt100::Color::Default);
}

/// Documents that nobody writes, and some that grow without an end.
fn bad_documents() -> Vec<(&'static str, String)> {
    vec![
        ("one line", "word ".repeat(40_000)),
        ("one word", "a".repeat(200_000)),
        ("one line of code", format!("```\n{}", "a".repeat(200_000))),
        ("one line of marks", "*".repeat(20_000)),
        ("open links", "[".repeat(20_000)),
        ("links", "[a](".repeat(10_000)),
        ("quotes", format!("{}a", ">".repeat(10_000))),
        (
            "quotes on lines",
            format!("{}a\n", ">".repeat(500)).repeat(50),
        ),
        ("lists", format!("{}a", "- ".repeat(10_000))),
        (
            "deeper and deeper",
            (0..150)
                .flat_map(|depth| ["  ".repeat(depth), "- a\n".to_owned()])
                .collect(),
        ),
        ("unclosed fences", "```a\nb\n".repeat(500)),
        ("short lines", "a\n".repeat(20_000)),
        ("items", "- a\n".repeat(5_000)),
        (
            "an item of many lines",
            format!("- a\n{}", "  b\n".repeat(5_000)),
        ),
        ("rows", format!("|a|b|\n|-|-|\n{}", "|c|d|\n".repeat(3_000))),
        (
            "one row",
            format!("|a|b|\n|-|-|\n|{}|d|\n", "word ".repeat(10_000)),
        ),
        ("html", format!("<div>\n{}", "a\n".repeat(5_000))),
        ("a heading", format!("# {}", "word ".repeat(10_000))),
        ("definitions", "[a]: b\n".repeat(3_000)),
        ("combining", format!("e{}", "\u{301}".repeat(50_000))),
        (
            "code in an item",
            format!("- a\n  ```rust\n{}", "  let a = 1;\n".repeat(3_000)),
        ),
        ("indented code", "    a\n".repeat(3_000)),
        ("entities", "&#27;&#0;&#x202e;".repeat(3_000)),
    ]
}

#[test]
fn bad_documents_are_shown_whole_at_any_size() {
    for size in [
        Size {
            columns: 1,
            rows: 1,
        },
        Size {
            columns: 10,
            rows: 3,
        },
        WIDE,
    ] {
        for (name, text) in bad_documents() {
            let shown = shown([text.as_str()], size);
            let letters = |text: &str| text.chars().filter(char::is_ascii_lowercase).count();
            // Markers and languages of fences are not shown, everything else is.
            let missing = letters(&text).saturating_sub(letters(&shown));
            let allowed = match name {
                "unclosed fences" => 500,
                "code in an item" => 4,
                "entities" => 6_000,
                // A record has no line for a cell that has not come.
                "one row" => 1,
                _ => 0,
            };
            assert!(
                missing <= allowed,
                "{name} at {size:?}: {missing} letters are gone"
            );
            assert!(!shown.contains('\x1b'), "{name}");
        }
    }
}

#[test]
fn an_unbroken_word_of_many_screens_stays_in_whole_rows() {
    let size = Size {
        columns: 80,
        rows: 24,
    };
    let text = format!("Here it is:\n\n{}\n\nDone.", "x".repeat(20_000));
    let pieces: Vec<&str> = text
        .as_bytes()
        .chunks(7)
        .map(|it| str::from_utf8(it).unwrap())
        .collect();
    for rows in [
        rows_of(&sent([text.as_str()], size, Paint::Full), size),
        rows_of(&sent(pieces, size, Paint::Full), size),
    ] {
        let word = rows.iter().filter(|row| row.starts_with('x'));
        assert_eq!(word.clone().count(), 250, "{rows:?}");
        assert!(word.clone().all(|row| row.len() == 80));
        let first = rows.iter().position(|row| row.starts_with('x')).unwrap();
        assert!(
            rows[first..first + 250]
                .iter()
                .all(|row| row.starts_with('x'))
        );
    }
}

#[test]
fn the_unfinished_rest_stays_small_however_long_a_document_is() {
    for (name, text) in bad_documents() {
        let mut document = Markdown::new(WIDE, Highlighter::default());
        let mut most = 0;
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.floor_char_boundary(997).max(1));
            document.push(piece);
            drop(document.take_settled());
            most = most.max(document.open_bytes());
            rest = behind;
        }
        assert!(most <= 80 * 1024, "{name}: {most} bytes");
    }
}

#[test]
fn nothing_is_lost_where_a_block_is_taller_than_the_screen() {
    // Where lines are cut, there is other room around them, and markup that is cut in two stands as it is written.
    let visible = |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
    for columns in [20, 40, 80] {
        for (name, text) in documents() {
            let tall = Size {
                columns,
                rows: 1_000,
            };
            let whole = shown([text.as_str()], tall);
            for rows in [4, 8, 12] {
                let size = Size { columns, rows };
                let parts = visible(&shown([text.as_str()], size));
                if name.contains("table") {
                    // A table that goes on has the shape that suited its first rows.
                    let mut words = whole.split(|c: char| !c.is_alphanumeric());
                    assert!(
                        words.all(|word| parts.contains(word)),
                        "{name} at {size:?}: {parts}"
                    );
                } else {
                    assert_eq!(parts, visible(&whole), "{name} at {size:?}");
                }
            }
        }
    }
}

/// Returns whether the unfinished rest fits the screen in each frame.
fn fits(pieces: &[&str], size: Size) -> bool {
    let mut document = Markdown::new(size, Highlighter::default());
    pieces.iter().all(|piece| {
        document.push(piece);
        drop(document.take_settled());
        let rows = document.tail().into_iter();
        rows.map(|line| line.rows(size.columns)).sum::<usize>() <= size.rows
    })
}

/// A paragraph of one source line.
fn long_line() -> String {
    let words = (0..600).map(|n| format!("word{n:03}"));
    words.collect::<Vec<_>>().join(" ")
}

/// The text went up the screen and was nowhere until the block was looked at.
#[test]
fn what_has_arrived_of_one_long_line_is_on_the_screen_or_above_it_in_each_frame() {
    let marked = long_line().replace("word", "*word").replace(' ', "* ");
    for text in [long_line(), marked, format!("- {}", long_line())] {
        let mut document = Markdown::new(WIDE, Highlighter::default());
        let mut screen = Screen::default();
        let mut bytes = String::new();
        let mut arrived = String::new();
        for (index, word) in text.split_inclusive(' ').enumerate() {
            arrived.push_str(word);
            document.push(word);
            let settled = document.take_settled();
            bytes += &screen.frame(settled, document.tail(), WIDE, Paint::Full);
            if index % 40 == 0 {
                let rows = rows_of(&bytes, WIDE);
                let words = |text: &str| text.replace(['*', '-', '\u{2022}'], "");
                let (shown, arrived) = (words(&rows.join(" ")), words(&arrived));
                assert!(
                    shown.split_whitespace().eq(arrived.split_whitespace()),
                    "{index}: {shown}"
                );
            }
        }
    }
}

/// Rows of such a line that were drawn alone were taken for all of it, so that words stood there twice.
#[test]
fn of_a_line_taller_than_the_screen_that_is_drawn_again_only_what_is_added_is_printed() {
    let size = Size {
        columns: 6,
        rows: 2,
    };
    let mut screen = Screen::default();
    let mut bytes = String::new();
    for end in ["no", "ab", "ab ab"] {
        let mut line = Line::default();
        line.push(&format!("{}{end}", "ab ".repeat(9)), TextStyle::default());
        bytes += &screen.frame(Vec::new(), vec![line], size, Paint::Bare);
    }
    let rows = rows_of(&bytes, size).join("");
    assert_eq!(rows.matches("ab").count(), 11, "{rows}");
}

/// A resize went back over rows that the terminal had wrapped anew, so that words stood there up to three times.
#[test]
fn after_a_change_of_size_at_most_the_last_line_is_drawn_again() {
    for text in [long_line(), format!("- {}", long_line())] {
        for (columns, rows) in [(60, 24), (40, 24), (80, 12), (120, 40)] {
            let mut document = Markdown::new(WIDE, Highlighter::default());
            let mut screen = Screen::default();
            let (mut size, mut bytes) = (WIDE, String::new());
            for (index, word) in text.split_inclusive(' ').enumerate() {
                if index == 200 {
                    size = Size { columns, rows };
                }
                document.push(word);
                document.resize(size);
                let settled = document.take_settled();
                bytes += &screen.frame(settled, document.tail(), size, Paint::Full);
            }
            document.finish();
            bytes += &screen.frame(document.take_settled(), Vec::new(), size, Paint::Full);
            let printed = anstream::adapter::strip_str(&bytes).to_string();
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
            let again = letters(&printed) - letters(&text);
            assert!(again <= WIDE.columns, "{size:?}: {again} letters");
        }
    }
}

#[test]
fn a_window_may_change_its_size_at_any_time() {
    for (name, text) in documents() {
        let mut document = Markdown::new(WIDE, Highlighter::default());
        let mut screen = Screen::default();
        for (index, character) in text.split_inclusive(|_: char| true).enumerate() {
            let size = Size {
                columns: 1 + index * 7 % 90,
                rows: 1 + index * 5 % 30,
            };
            document.resize(size);
            document.push(character);
            let settled = document.take_settled();
            screen.frame(settled, document.tail(), size, Paint::Full);
        }
        document.finish();
        assert!(
            !document.take_settled().is_empty() || text.len() < 2 || document.open_bytes() == 0,
            "{name}"
        );
    }
}

proptest! {
    #[test]
    fn where_a_document_is_cut_changes_nothing(
        text in "([a-c é日-]{1,6}|\n|\n\n|> |- |  - |1\\. |```\n|# |\\*\\*|`|\\|a\\|b\\|\n|\\|-\\|-\\|\n|    ){0,40}",
        cuts in prop::collection::vec(0usize..200, 0..8), columns in 1usize..30, rows in 1usize..8
    ) {
        let size = Size { columns, rows };
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut)).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut begin = 0;
        for cut in cuts {
            pieces.push(&text[begin..cut]);
            begin = cut;
        }
        pieces.push(&text[begin..]);
        prop_assert_eq!(shown(pieces.clone(), size), shown([text.as_str()], size));
        // A screen of one column has no room for a wide character, and rows that have scrolled away stay as they were.
        if columns > 1 && fits(&pieces, size) {
            let drawn = rows_of(&sent(pieces, size, Paint::Full), size);
            prop_assert_eq!(drawn, rows_of(&sent([text.as_str()], size, Paint::Full), size));
        }
    }

    #[test]
    fn no_text_acts_on_a_terminal(text in "(?s)([\u{0}-\u{ff}\u{202a}-\u{2069}]|&#[0-9]{1,3};|&#x20[0-9a-f]{2};|\n|`|\\[|\\]\\(){0,60}") {
        let mut filter = Harmless::default();
        let mut harmless = filter.delta(&text);
        harmless.push_str(filter.end());
        let shown = shown([harmless.as_str()], WIDE);
        let acts = |c: &char| c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
        prop_assert_eq!(shown.chars().find(acts), None);
    }
}
