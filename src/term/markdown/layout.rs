//! Markdown laid out for a terminal: source in, styled lines out. Pure; the grammar is pulldown-cmark's.
//!
//! What is laid out is a part of a document, cut out of it where a block ended or where one grew too tall for the
//! screen. [`Context`] says what stood before it. Lists are tight, reference definitions are shown as they are written.
//! Nothing recurses: a document may be nested as deeply as it likes.

mod containers;
mod outline;
mod spans;
mod tables;
mod verbatim;

use std::ops::Range;

use pulldown_cmark::{
    BlockQuoteKind, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd,
};

use super::highlight::Highlighter;
use super::line::{Color, Line, TextStyle};
use super::table::{Shape, Table};
use super::wrap::Flow;
use containers::{Container, List};
use spans::is_line_break;
use verbatim::Code;

pub(super) use outline::outline;
pub(super) use verbatim::language_of;

const BULLETS: [&str; 3] = ["• ", "◦ ", "▪ "];
const QUOTE_BAR: &str = "│ ";
/// A rule is no longer than this.
const MAX_RULE: usize = 60;

const DIM: TextStyle = TextStyle::of(TextStyle::DIM);
const INLINE_CODE: TextStyle = TextStyle::of(0).colored(Color::Theme(6));

/// What kind of block something is, as far as the room around it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Paragraph,
    Heading,
    List,
    Quote,
    Code,
    Table,
    Html,
    Rule,
}

/// What stands before a part of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Context {
    /// The block before it; `None` at the beginning and in the middle of a block.
    pub(super) prior: Option<Kind>,
    /// The line before it is empty.
    pub(super) blank: bool,
    /// The number of the last item, where the block before is a numbered list.
    pub(super) number: Option<u64>,
    /// So many items are open; they begin anew with the part, and their markers have been shown.
    pub(super) resumed: usize,
    /// The table that goes on.
    pub(super) shape: Option<Shape>,
}

/// A place where a part can be cut in two.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    /// The first line of the second part.
    pub(super) line: usize,
    /// Where the second part goes on in the source, and what stands before that.
    pub(super) at: usize,
    pub(super) insert: String,
    pub(super) context: Context,
}

/// A part of a document in lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Laid {
    pub(super) lines: Vec<Line>,
    pub(super) cuts: Vec<Cut>,
    /// What stands before the next part.
    pub(super) after: Context,
}

/// Whether places to cut at are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cuts {
    Unwanted,
    Wanted,
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM
}

/// Lays a part of a document out.
pub(super) fn layout(
    source: &str,
    context: &Context,
    columns: usize,
    highlighter: &mut Highlighter,
    cuts: Cuts,
) -> Laid {
    let mut layouter = Layouter::new(source, context, columns, highlighter, cuts);
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        layouter.event(event, range);
    }
    layouter.finish()
}

struct Layouter<'a> {
    source: &'a str,
    columns: usize,
    highlighter: &'a mut Highlighter,
    cuts: Cuts,
    laid: Laid,
    context: &'a Context,
    containers: Vec<Container>,
    lists: Vec<List>,
    /// The last block of each open container, the outermost level first.
    priors: Vec<Option<Kind>>,
    resumed: usize,
    flow: Flow,
    styles: Vec<TextStyle>,
    /// What becomes of a link or an image when it ends: its target, and where its text begins.
    links: Vec<(String, usize)>,
    code: Option<Code>,
    table: Option<Table>,
    /// The source is dealt with up to here.
    reached: usize,
}

impl<'a> Layouter<'a> {
    fn new(
        source: &'a str,
        context: &'a Context,
        columns: usize,
        highlighter: &'a mut Highlighter,
        cuts: Cuts,
    ) -> Self {
        Self {
            source,
            columns: columns.max(1),
            highlighter,
            cuts,
            laid: Laid {
                after: Context {
                    number: context.number,
                    ..Context::default()
                },
                ..Laid::default()
            },
            context,
            containers: Vec::new(),
            lists: Vec::new(),
            priors: vec![context.prior],
            resumed: context.resumed,
            flow: Flow::default(),
            styles: vec![TextStyle::default()],
            links: Vec::new(),
            code: None,
            table: None,
            reached: 0,
        }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, &range),
            Event::End(tag) => self.end(tag, &range),
            Event::Text(text) => match &mut self.code {
                Some(code) => {
                    let is_verbatim = self.source.get(range.clone()) == Some(&*text);
                    let mut at = range.start;
                    for line in text.split_inclusive('\n') {
                        if code.text.is_empty() || code.text.ends_with('\n') {
                            code.lines.push(is_verbatim.then_some(at));
                        }
                        code.text.push_str(line);
                        at += line.len();
                    }
                }
                None => self.text(&text, &range),
            },
            Event::Code(text) => self.inline(&text, self.style(INLINE_CODE)),
            Event::InlineMath(text) => self.inline(&format!("${text}$"), self.style(INLINE_CODE)),
            Event::DisplayMath(text) => {
                self.inline(&format!("$${text}$$"), self.style(INLINE_CODE));
            }
            Event::InlineHtml(text) if is_line_break(&text) => self.break_line(),
            Event::InlineHtml(text) => self.inline(&text, self.style(DIM)),
            Event::Html(text) => self.html(&text, &range),
            Event::FootnoteReference(text) => {
                self.inline(&format!("[^{text}]"), self.style(TextStyle::default()));
            }
            Event::SoftBreak | Event::HardBreak => self.break_line(),
            Event::Rule => {
                self.begin_block(Kind::Rule, range.start);
                let room = self.room().min(MAX_RULE);
                let mut line = Line::default();
                line.push(&"─".repeat(room), DIM);
                self.push_line(line);
            }
            Event::TaskListMarker(is_done) => {
                if let Some(Container::Item {
                    marker,
                    is_shown: false,
                    columns,
                    ..
                }) = self.containers.last_mut()
                {
                    (if is_done { "[x] " } else { "[ ] " }).clone_into(marker);
                    *columns = marker.len();
                }
            }
        }
        self.reached = self.reached.max(range.end);
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Paragraph => self.begin_block(Kind::Paragraph, range.start),
            Tag::Heading { level, .. } => {
                self.begin_block(Kind::Heading, range.start);
                self.styles.push(heading(level));
            }
            Tag::BlockQuote(kind) => {
                self.begin_block(Kind::Quote, range.start);
                self.containers.push(Container::Quote);
                self.priors.push(None);
                if let Some(kind) = kind {
                    let mut line = Line::default();
                    line.push(label(kind), TextStyle::of(TextStyle::BOLD));
                    self.push_line(line);
                }
            }
            Tag::CodeBlock(kind) => {
                self.begin_block(Kind::Code, range.start);
                let (language, opener) = match kind {
                    CodeBlockKind::Fenced(info) => {
                        let opener = self.source[range.start..].lines().next();
                        (language_of(&info).to_owned(), opener.map(str::to_owned))
                    }
                    CodeBlockKind::Indented => (String::new(), None),
                };
                self.code = Some(Code {
                    language,
                    text: String::new(),
                    lines: Vec::new(),
                    opener,
                });
            }
            Tag::List(first) => {
                self.begin_block(Kind::List, range.start);
                let goes_on = self.containers.is_empty()
                    && self.laid.lines.is_empty()
                    && (self.resumed > 0 || self.context.prior == Some(Kind::List));
                let last = self.context.number.filter(|_| goes_on);
                self.lists.push(List {
                    last,
                    is_ordered: first.is_some(),
                });
            }
            Tag::Item => self.begin_item(range.start),
            Tag::Table(alignments) => {
                self.begin_block(Kind::Table, range.start);
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                let at = line_start(self.source, range.start);
                if let Some(table) = &mut self.table {
                    table.begin_row(at);
                }
            }
            Tag::Emphasis => self.push_style(TextStyle::ITALIC),
            Tag::Strong => self.push_style(TextStyle::BOLD),
            Tag::Strikethrough => self.push_style(TextStyle::STRIKE),
            Tag::Link { dest_url, .. } => self.begin_link(&dest_url),
            Tag::Image { dest_url, .. } => {
                self.inline("[image: ", self.style(DIM));
                self.begin_link(&dest_url);
            }
            Tag::HtmlBlock => self.begin_block(Kind::Html, range.start),
            // Only with options that are off, and what changes nothing on a screen.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Paragraph => self.flush(),
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.containers.pop();
                self.priors.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                let list = self.lists.pop();
                if self.containers.is_empty() {
                    self.laid.after.number = list.and_then(|list| list.last);
                }
            }
            TagEnd::Item => {
                self.flush();
                if let Some(Container::Item {
                    is_shown: false, ..
                }) = self.containers.last()
                {
                    self.push_line(Line::default());
                }
                self.containers.pop();
                self.priors.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.flow);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::Table => self.end_table(range),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link => self.end_link(""),
            TagEnd::Image => self.end_link("]"),
            _ => {}
        }
    }

    /// Makes room before a block and shows what the grammar has swallowed.
    fn begin_block(&mut self, kind: Kind, at: usize) {
        self.flush();
        self.swallowed(at);
        self.gap(kind, at);
    }

    fn gap(&mut self, kind: Kind, at: usize) {
        let in_item = matches!(self.containers.last(), Some(Container::Item { .. }));
        let before = self.source[..line_start(self.source, at)]
            .lines()
            .next_back();
        let blank = match before {
            Some(line) => is_blank(line),
            None => self.context.blank,
        };
        let is_outermost = self.priors.len() == 1;
        let is_numbered = self.source[at..].starts_with(|c: char| c.is_ascii_digit());
        let is_other_list = is_numbered != self.laid.after.number.is_some();
        let Some(prior) = self.priors.last_mut() else {
            return;
        };
        let needs_gap = match (*prior, kind) {
            (None, _) => false,
            (Some(Kind::List), Kind::List) => is_outermost && is_other_list,
            (Some(_), Kind::Heading) => true,
            (Some(Kind::Paragraph), Kind::Paragraph) => blank || !in_item,
            (Some(Kind::Code | Kind::Table), _) | (Some(_), Kind::Code | Kind::Table) => {
                blank || !in_item
            }
            (Some(Kind::List), _) | (Some(_), Kind::List) if in_item => false,
            (Some(_), _) => blank,
        };
        *prior = Some(kind);
        if is_outermost && kind != Kind::List {
            self.laid.after.number = None;
        }
        if needs_gap {
            let prefix = self.prefix();
            self.laid.lines.push(prefix.trimmed());
        }
    }

    /// Shows text between blocks that the grammar makes nothing of: definitions of references.
    fn swallowed(&mut self, upto: usize) {
        let from = self.reached;
        self.reached = from.max(upto);
        let Some(text) = self.source.get(from..upto) else {
            return;
        };
        let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
        if !text.starts_with('[') {
            return;
        }
        self.gap(Kind::Paragraph, from);
        for line in text.trim_end().lines() {
            self.flow.push(line.trim(), TextStyle::default(), None);
            self.flow.break_line();
        }
        self.flush();
    }

    /// Lays out the text that is waiting.
    fn flush(&mut self) {
        if self.flow.is_empty() || self.table.is_some() {
            return;
        }
        let flow = std::mem::take(&mut self.flow);
        let mut ranges = flow.wrap(self.room());
        // A line break at the end of a block means nothing.
        while ranges.len() > 1
            && ranges
                .last()
                .is_some_and(|range| flow.text()[range.clone()].trim().is_empty())
        {
            ranges.pop();
        }
        for (index, range) in ranges.into_iter().enumerate() {
            let source = flow.source_of(range.start).filter(|_| index > 0);
            let line = self.laid.lines.len();
            self.push_line(flow.line(range));
            if let (Cuts::Wanted, Some(at)) = (self.cuts, source) {
                self.cut(line, at, "", None);
            }
        }
    }

    fn finish(mut self) -> Laid {
        self.flush();
        self.swallowed(self.source.len());
        self.laid.after.prior = self.priors.first().copied().flatten();
        self.laid.after.blank = match self.source.lines().next_back() {
            Some(line) => is_blank(line),
            None => self.context.blank,
        };
        self.laid
    }
}

fn heading(level: HeadingLevel) -> TextStyle {
    match level {
        HeadingLevel::H1 => TextStyle::of(TextStyle::BOLD | TextStyle::UNDERLINE),
        HeadingLevel::H2 => TextStyle::of(TextStyle::BOLD),
        _ => TextStyle::of(TextStyle::BOLD | TextStyle::ITALIC),
    }
}

fn label(kind: BlockQuoteKind) -> &'static str {
    match kind {
        BlockQuoteKind::Note => "Note",
        BlockQuoteKind::Tip => "Tip",
        BlockQuoteKind::Important => "Important",
        BlockQuoteKind::Warning => "Warning",
        BlockQuoteKind::Caution => "Caution",
    }
}

/// Whether a line holds nothing but the marks of quotes.
fn is_blank(line: &str) -> bool {
    line.chars().all(|c| c.is_whitespace() || c == '>')
}

/// Where the line begins that `at` stands in.
pub(super) fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |end| end + 1)
}
