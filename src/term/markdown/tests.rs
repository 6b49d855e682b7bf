//! Documents laid out, in one piece and in many.

use proptest::prelude::*;

use super::highlight::Highlighter;
use super::screen::Screen;
use super::stream::{Markdown, Size};
use crate::term::policy::Paint;

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
        prop_assert_eq!(shown(pieces, size), shown([text.as_str()], size));
    }
}
