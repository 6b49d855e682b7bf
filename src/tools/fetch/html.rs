//! HTML as text with Markdown's marks, in one pass over its tokens and without a tree. Unit: one page.
//!
//! Invariant: memory and time grow with the length of a page and with nothing that is in it. No more than `MAX_DEPTH` open
//! elements are known, indentation ends at `MAX_INDENT`, and the text at `MAX_TEXT`.

use std::fmt::Write;
use std::mem::take;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use tokio_util::sync::CancellationToken;

use super::page::Page;
use super::tag::{Attribute, StartTag, Tag};
use crate::net::one_line;

/// Bytes of text; no model reads more.
pub(super) const MAX_TEXT: usize = 2 * 1024 * 1024;

/// Open elements that are known. Within more of them the words are kept, and lists and the like lose their form.
const MAX_DEPTH: usize = 256;

/// Bytes in front of a line within lists and quotations.
const MAX_INDENT: usize = 32;

/// Tokens between two looks at whether anybody still waits.
const TOKENS_A_LOOK: usize = 1_000;

/// Converts a page; ends early when `cancel` is cancelled.
pub(super) fn convert(html: &str, cancel: &CancellationToken) -> Page {
    let mut renderer = Renderer::default();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
        renderer.event(&event);
        // A token for each event: only between tokens can the conversion be ended.
        Some(renderer.size())
    });
    emitter.naively_switch_states(true);
    for (n, token) in (1..).zip(Tokenizer::new_with_emitter(html, emitter)) {
        let Ok(size) = token;
        if size > MAX_TEXT || (n % TOKENS_A_LOOK == 0 && cancel.is_cancelled()) {
            break;
        }
    }
    renderer.finish()
}

/// An open element.
#[derive(Debug)]
struct Open {
    tag: Tag,
    /// Bytes of the indentation around it.
    indent: usize,
    /// Bytes of the marks that were owed before its own.
    marks: usize,
    /// The number of the next item of a list, or cell of a row.
    next: usize,
    /// Of a row, how many lines had begun with its first word.
    n_lines: usize,
    address: Option<String>,
}

/// What stands between two words, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
    Paragraph,
}

/// The text so far, and what is owed to it. Gaps and marks are written with the word that follows them, so that elements
/// without words leave nothing behind.
#[derive(Debug)]
struct Renderer {
    text: String,
    title: Option<String>,
    /// The list of links below the text.
    links: String,
    n_links: usize,
    start: Option<StartTag>,
    open: Vec<Open>,
    /// How many of `open` are skipped.
    n_skipped: usize,
    /// How many of them keep their blanks.
    n_pre: usize,
    n_lines: usize,
    gap: Gap,
    /// Stands in front of each line.
    indent: String,
    /// The marks of items and headings for the line that comes next.
    line_mark: String,
    /// Bytes of the indentation of that line.
    line_indent: usize,
    /// Bars of a table's row.
    n_bars: usize,
    /// Marks in front of the next word itself.
    marks: String,
    /// An item or a cell began without a word so far: its first word stays on the line.
    is_fresh: bool,
}

impl Default for Renderer {
    fn default() -> Self {
        Self {
            text: String::new(),
            title: None,
            links: String::new(),
            n_links: 0,
            start: None,
            open: Vec::new(),
            n_skipped: 0,
            n_pre: 0,
            n_lines: 0,
            gap: Gap::Paragraph,
            indent: String::new(),
            line_mark: String::new(),
            line_indent: 0,
            n_bars: 0,
            marks: String::new(),
            is_fresh: false,
        }
    }
}

impl Renderer {
    fn size(&self) -> usize {
        self.text.len() + self.links.len()
    }

    fn finish(mut self) -> Page {
        while let Some(open) = self.open.pop() {
            self.leave(&open);
        }
        let mut text = self.text;
        if !text.is_empty() {
            text.push('\n');
        }
        if !self.links.is_empty() {
            text.push('\n');
            text.push_str(&self.links);
        }
        let is_cut = text.len() > MAX_TEXT;
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        let title = self.title.map(|title| one_line(&title));
        Page {
            title: title.filter(|title| !title.is_empty()),
            text,
            is_cut,
        }
    }

    fn event(&mut self, event: &CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => self.start = Tag::of(name).map(StartTag::new),
            CallbackEvent::AttributeName { name } => {
                if let Some(start) = &mut self.start {
                    start.attribute = Attribute::of(start.tag, name);
                }
            }
            CallbackEvent::AttributeValue { value } => {
                if let Some(start) = &mut self.start {
                    start.set(value);
                }
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                if let Some(start) = self.start.take() {
                    let tag = start.tag;
                    self.enter(start);
                    if *self_closing && matches!(tag, Tag::Skipped(_)) {
                        self.close(tag);
                    }
                }
            }
            CallbackEvent::EndTag { name } => {
                if let Some(tag) = Tag::of(name) {
                    self.end(tag);
                }
            }
            CallbackEvent::String { value } => self.words(&String::from_utf8_lossy(value)),
            CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
    }

    fn enter(&mut self, start: StartTag) {
        let tag = start.tag;
        if self.n_skipped == 0 {
            self.begin(&start);
        }
        let begins_skipped = self.n_skipped == 0 && matches!(tag, Tag::Skipped(_));
        if !tag.is_open() || (self.open.len() >= MAX_DEPTH && !begins_skipped) {
            return;
        }
        self.open.push(Open {
            tag,
            indent: self.indent.len(),
            marks: self.marks.len(),
            next: start.first_number,
            n_lines: self.n_lines + usize::from(self.gap >= Gap::Line),
            address: start.address,
        });
        let has_room = self.indent.len() < MAX_INDENT;
        match tag {
            Tag::Skipped(_) => self.n_skipped += 1,
            _ if self.n_skipped > 0 => {}
            Tag::Quote if has_room => self.indent.push_str("> "),
            Tag::Item if has_room => self.indent.push_str("  "),
            Tag::Pre => {
                self.n_pre += 1;
                self.marks.extend(["```\n", &self.indent]);
            }
            Tag::Code if self.n_pre == 0 => self.marks.push('`'),
            Tag::Link if self.open.last().is_some_and(|open| open.address.is_some()) => {
                self.marks.push('[');
            }
            _ => {}
        }
    }

    /// Does what the beginning of an element means for the words around it.
    fn begin(&mut self, start: &StartTag) {
        match start.tag {
            Tag::Block | Tag::Line => self.owe(Gap::Line),
            Tag::Paragraph | Tag::Quote => self.owe(Gap::Paragraph),
            Tag::Pre => {
                self.close(Tag::Code);
                self.owe(Gap::Paragraph);
            }
            Tag::List | Tag::Ordered | Tag::Table => self.owe(self.gap_around_list()),
            Tag::Break => self.line_break(),
            Tag::Rule => {
                self.owe(Gap::Paragraph);
                self.word("---");
                self.owe(Gap::Paragraph);
            }
            Tag::Image if !start.alternative.is_empty() => {
                self.word(&format!("[{}]", start.alternative));
            }
            Tag::Heading(level) => {
                self.owe(Gap::Paragraph);
                self.mark_line(&format!("{} ", "#".repeat(level)));
            }
            Tag::Item => self.item(),
            Tag::Row => {
                self.close(Tag::Row);
                self.owe(Gap::Line);
            }
            Tag::Cell => self.cell(),
            Tag::Code | Tag::Link | Tag::Image | Tag::Title | Tag::Skipped(_) => {}
        }
    }

    /// Lists within lists and tables have no blank lines around them.
    fn gap_around_list(&self) -> Gap {
        let holds = |open: &Open| matches!(open.tag, Tag::Item | Tag::Cell);
        if self.open.iter().any(holds) {
            Gap::Line
        } else {
            Gap::Paragraph
        }
    }

    fn line_break(&mut self) {
        let is_heading = |open: &Open| matches!(open.tag, Tag::Heading(_));
        if self.n_pre > 0 {
            self.preformatted("\n");
        } else if self.open.iter().any(is_heading) {
            self.owe(Gap::Space);
        } else if self.gap == Gap::Line {
            self.owe(Gap::Paragraph);
        } else {
            self.owe(Gap::Line);
        }
    }

    fn item(&mut self) {
        self.close(Tag::Item);
        let mut within = self.open.iter_mut().rev();
        let list = within.find(|open| matches!(open.tag, Tag::List | Tag::Ordered));
        let mark = match list {
            Some(list) if list.tag == Tag::Ordered => {
                let number = list.next;
                list.next = number.saturating_add(1);
                format!("{number}. ")
            }
            Some(_) | None => "* ".to_owned(),
        };
        self.owe(Gap::Line);
        self.mark_line(&mark);
        self.is_fresh = true;
    }

    fn cell(&mut self) {
        self.close(Tag::Cell);
        let mut within = self.open.iter_mut().rev();
        let row = within.find(|open| matches!(open.tag, Tag::Row | Tag::Table));
        if let Some(row) = row.filter(|open| open.tag == Tag::Row) {
            let is_first = row.next == 1;
            row.next += 1;
            if self.n_lines > row.n_lines {
                // A row of more than one line lays out a page.
                self.gap = self.gap.max(Gap::Line);
            } else if !is_first {
                self.n_bars += 1;
                if self.n_lines == row.n_lines {
                    self.gap = Gap::None;
                }
            }
        }
        self.is_fresh = true;
    }

    fn end(&mut self, tag: Tag) {
        if self.n_skipped == 0 {
            match tag {
                Tag::Paragraph => self.owe(Gap::Paragraph),
                Tag::Block | Tag::Line => self.owe(Gap::Line),
                Tag::Break => self.line_break(),
                _ => {}
            }
        }
        self.close(tag);
    }

    /// Closes the innermost open element of a kind and all within it.
    fn close(&mut self, tag: Tag) {
        for index in (0..self.open.len()).rev() {
            let open = self.open[index].tag;
            if open == tag {
                while self.open.len() > index
                    && let Some(open) = self.open.pop()
                {
                    self.leave(&open);
                }
                return;
            }
            if tag.ends_within(open) {
                return;
            }
        }
    }

    /// Does what the end of an element means for the words around it.
    fn leave(&mut self, open: &Open) {
        if let Tag::Skipped(_) = open.tag {
            self.n_skipped -= 1;
        }
        if self.n_skipped > 0 {
            return;
        }
        let has_words = self.marks.len() <= open.marks;
        match open.tag {
            Tag::Heading(_) => {
                self.line_mark.clear();
                self.owe(Gap::Paragraph);
            }
            Tag::Pre => {
                self.n_pre -= 1;
                if has_words {
                    self.end_pre();
                }
                self.owe(Gap::Paragraph);
            }
            Tag::Code if has_words && self.n_pre == 0 => self.text.push('`'),
            Tag::Link if has_words => self.end_link(open.address.as_deref()),
            Tag::Quote => {
                self.indent.truncate(open.indent);
                self.owe(Gap::Paragraph);
            }
            Tag::List | Tag::Ordered | Tag::Table => self.owe(self.gap_around_list()),
            Tag::Item | Tag::Row | Tag::Cell => {
                self.is_fresh = false;
                self.gap = self.gap.min(Gap::Line);
                match open.tag {
                    Tag::Item => {
                        self.line_mark.clear();
                        self.indent.truncate(open.indent);
                        self.owe(Gap::Line);
                    }
                    Tag::Row => {
                        self.n_bars = 0;
                        self.owe(Gap::Line);
                    }
                    _ => {}
                }
            }
            Tag::Block => self.owe(Gap::Line),
            _ => {}
        }
        self.marks.truncate(open.marks);
    }

    fn end_pre(&mut self) {
        self.text.truncate(self.text.trim_end().len());
        self.text.extend(["\n", &self.indent, "```"]);
    }

    fn end_link(&mut self, address: Option<&str>) {
        if let Some(address) = address {
            self.n_links += 1;
            let n = self.n_links;
            // Writing to a string cannot fail.
            write!(self.text, "][{n}]").unwrap_or_default();
            writeln!(self.links, "[{n}]: {address}").unwrap_or_default();
        }
    }

    fn owe(&mut self, gap: Gap) {
        if !self.is_fresh {
            self.gap = self.gap.max(gap);
        }
    }

    fn mark_line(&mut self, mark: &str) {
        if self.line_mark.is_empty() {
            self.line_indent = self.indent.len();
        }
        self.line_mark.push_str(mark);
    }

    fn words(&mut self, text: &str) {
        if self.n_skipped > 0 {
            return;
        }
        if self.open.last().is_some_and(|open| open.tag == Tag::Title) {
            self.title.get_or_insert_with(|| text.to_owned());
            return;
        }
        if self.n_pre > 0 {
            self.preformatted(text);
            return;
        }
        let mut rest = text;
        while self.size() <= MAX_TEXT {
            let words = rest.trim_start();
            if words.len() < rest.len() {
                self.owe(Gap::Space);
            }
            if words.is_empty() {
                return;
            }
            let end = words.find(char::is_whitespace).unwrap_or(words.len());
            self.word(&words[..end]);
            rest = &words[end..];
        }
    }

    fn word(&mut self, word: &str) {
        self.pay();
        self.text.push_str(word);
    }

    fn preformatted(&mut self, text: &str) {
        let has_begun = self.marks.is_empty();
        let text = if has_begun {
            text
        } else {
            text.trim_start_matches(['\r', '\n'])
        };
        if text.is_empty() {
            return;
        }
        self.pay();
        for (n, line) in text.split('\n').enumerate() {
            if n > 0 {
                self.n_lines += 1;
                self.text.extend(["\n", &self.indent]);
            }
            self.text.push_str(line);
            if self.size() > MAX_TEXT {
                return;
            }
        }
    }

    /// Writes the gap and the marks that are owed before a word.
    fn pay(&mut self) {
        match self.gap {
            Gap::None if self.n_bars > 0 => self.text.push(' '),
            Gap::None => {}
            Gap::Space => self.text.push(' '),
            Gap::Line | Gap::Paragraph => {
                if !self.text.is_empty() {
                    let is_paragraph = self.gap == Gap::Paragraph;
                    self.text.push_str(if is_paragraph { "\n\n" } else { "\n" });
                }
                self.n_lines += 1;
                let indent = if self.line_mark.is_empty() {
                    self.indent.len()
                } else {
                    self.line_indent.min(self.indent.len())
                };
                self.text.push_str(&self.indent[..indent]);
            }
        }
        self.gap = Gap::None;
        self.is_fresh = false;
        for _ in 0..take(&mut self.n_bars) {
            self.text.push_str("| ");
        }
        self.text.push_str(&take(&mut self.line_mark));
        self.text.push_str(&take(&mut self.marks));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(html: &str) -> String {
        convert(html, &CancellationToken::new()).text
    }

    #[test]
    fn a_page_is_its_words_and_links() {
        let html = "<!doctype html><html><head><title> A &amp; B\n</title><style>p{}</style></head><body>\
            <nav><a href=/menu>menu</a></nav><script>alert('<p>1')</script><noscript><p>no</noscript>\
            <h1>Head<br>line</h1><p>Some <a href='https://example.com/x'>link</a>, <a href=#here>here</a>.</p>\
            <ul><li>one<li>two</ul><button>press</button></body></html>";
        let page = convert(html, &CancellationToken::new());
        assert_eq!(page.title.as_deref(), Some("A & B"));
        assert_eq!(
            page.text,
            "# Head line\n\nSome [link][1], here.\n\n* one\n* two\n\n[1]: https://example.com/x\n"
        );
        assert!(!page.is_cut);
    }

    #[test]
    fn ordinary_elements_keep_their_form() {
        for (html, expected) in [
            ("a\n  b<b> c</b>d<i>e </i> f&nbsp;g", "a b cde f g\n"),
            (
                "<p>one<p>two<div>three</div>four",
                "one\n\ntwo\nthree\nfour\n",
            ),
            ("one<br>two<br><br>three", "one\ntwo\n\nthree\n"),
            ("<h2> Two </h2><h3></h3>text", "## Two\n\ntext\n"),
            (
                "<ol start=3><li><p>a</p><p>b</p></li><li>c<ul><li>d</li></ul></li></ol>e",
                "3. a\n\n  b\n4. c\n  * d\n\ne\n",
            ),
            ("<ul><li></li><li>x</ul>y", "* x\n\ny\n"),
            (
                "<blockquote><p>a</p><p>b</p></blockquote>c",
                "> a\n\n> b\n\nc\n",
            ),
            (
                "use <code> a  b </code>, <code></code>then",
                "use `a b` , then\n",
            ),
            (
                "<pre>\n<code>fn x() {\n\n    <b>1</b>\n}\n</code></pre>after",
                "```\nfn x() {\n\n    1\n}\n```\n\nafter\n",
            ),
            ("<ul><li><pre>a\nb</pre></ul>", "* ```\n  a\n  b\n  ```\n"),
            (
                "<table><tr><th>A</th><th>B</th><th>C</th></tr>\n<tr><td><p>1</p></td><td></td><td>3</td></tr></table>",
                "A | B | C\n1 | | 3\n",
            ),
            (
                "<table><tr><td><div>menu</div><div>more</div></td><td>words</td></tr></table>",
                "menu\nmore\nwords\n",
            ),
            (
                "<table><tr><td><table><tr><td>a<td>b</table><td>c</table>",
                "a | b | c\n",
            ),
            ("<dl><dt>term<dd>what it is</dl>", "term\nwhat it is\n"),
            ("a<hr>b", "a\n\n---\n\nb\n"),
            ("<img src=x alt='a  cat'><img alt='' src=y>", "[a cat]\n"),
            (
                "<a href='/a b'><div><h3>Card</h3>text</div></a><a href=x></a>",
                "### [Card\n\ntext][1]\n\n[1]: /a%20b\n",
            ),
            (
                "<a href='javascript:x()'>do</a> <a name=x>it</a>",
                "do it\n",
            ),
        ] {
            assert_eq!(text(html), expected, "{html}");
        }
    }

    #[test]
    fn tags_that_do_not_match_cost_form_and_no_words() {
        for (html, expected) in [
            ("<div><ul><li>a</div>b", "* a\n\nb\n"),
            ("<div><nav>menu</div>b", "b\n"),
            ("<b><div>a</b>b</div>c", "ab\nc\n"),
            ("</ul></td></a></pre>a</p></h1>b", "a\n\nb\n"),
            ("<table><tr><td></div></table>a", "a\n"),
            ("<a href=x><code>a</a>b</code>", "[`a`][1]b\n\n[1]: x\n"),
            ("<code><pre>a</code>b</pre>c", "```\nab\n```\n\nc\n"),
            ("<svg/>a<svg><title>t</title><path/></svg>b", "ab\n"),
            ("a<", "a<\n"),
            ("a<!-- b", "a\n"),
            ("&#0;&#x110000;&bogus;&amp", "\u{fffd}\u{fffd}&bogus;&\n"),
        ] {
            assert_eq!(text(html), expected, "{html}");
        }
    }

    #[test]
    fn pages_made_to_be_costly_come_to_a_bounded_text() {
        const LENGTH: usize = 256 * 1024;
        for piece in [
            "<b>x</b>",
            "<div>x",
            "<ul><li>x",
            "<ul><li>x<br>",
            "<blockquote>x<p>",
            "<li>",
            "<ol><li>",
            "<h6>",
            "<table><tr><td>x",
            "<td>",
            "<tr><td>x<td>",
            "<a href=x>y</a>",
            "<a href=x>",
            "<a href=x></a>",
            "<code>",
            "<pre>",
            "<pre>\n",
            "<pre>x",
            "<svg><nav>",
            "</div>",
            "&amp;",
            "&",
            "&#120;",
            "<!--",
            "<![CDATA[",
            "<a b",
            "\n",
            "\u{fffd}",
            "x",
        ] {
            let page = convert(
                &piece.repeat(LENGTH / piece.len()),
                &CancellationToken::new(),
            );
            assert!(page.text.len() <= MAX_TEXT, "{piece}: {}", page.text.len());
        }
        let attribute = format!("<a href='{}'>x</a>", "y".repeat(LENGTH));
        assert_eq!(text(&attribute), "x\n");
        let lists = format!("{}x{}", "<ul><li>".repeat(200), "<br>x".repeat(1_000));
        assert!(text(&lists).len() < 50_000);
    }

    #[test]
    fn deep_pages_keep_all_their_words() {
        let page = format!(
            "{}words{}end",
            "<div><ul><li>".repeat(100_000),
            "</div>".repeat(100_000)
        );
        let text = text(&page);
        assert!(text.contains("words") && text.ends_with("end\n"));
    }

    #[test]
    fn a_longer_text_is_cut_and_says_so() {
        let page = convert(&"<p>é".repeat(1_000_000), &CancellationToken::new());
        assert!(page.is_cut);
        assert!(MAX_TEXT - page.text.len() < 2);
        assert!(page.text.starts_with("é\n\né\n"));
    }

    #[test]
    fn a_conversion_that_nobody_waits_for_ends() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let page = convert(&"<b>x</b>".repeat(100_000), &cancel);
        assert!(page.text.len() < TOKENS_A_LOOK, "{}", page.text.len());
    }
}
