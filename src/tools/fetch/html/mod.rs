//! HTML as text with Markdown's marks, in one pass over its tokens and without a tree. Unit: one page.
//!
//! Invariant: memory and time grow with the length of a page and with nothing that is in it. No more than `MAX_DEPTH`
//! open elements are known, indentation ends at `MAX_INDENT`, and the text at `MAX_TEXT`.

mod words;

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

/// The text so far, and what is owed to it. Gaps and marks are written with the word that follows them, so that
/// elements without words leave nothing behind.
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
}

#[cfg(test)]
mod tests;
