//! A line as it is laid out: pieces of text, each with its style. The text is harmless whatever went in.

use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;

use crate::term::escape::harmless;
use crate::term::policy::Paint;
use crate::term::text::max_width;

/// Columns that a text takes at most.
pub(super) fn text_width(text: &str) -> usize {
    text.graphemes(true).map(max_width).sum()
}

/// Columns between two stops of the tab.
const TAB: usize = 8;

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextStyle {
    attributes: u8,
    color: Option<Color>,
    background: Option<Color>,
}

/// A colour of the terminal's palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    /// One of the 16 that the terminal's own theme defines.
    Theme(u8),
    /// One of the 256 that look the same everywhere.
    Fixed(u8),
}

impl Color {
    /// The code that sets it, for letters from 30 on, for their background from 40 on.
    fn code(self, base: u8) -> String {
        match self {
            Self::Theme(index @ 0..8) => format!("{}", base + index),
            Self::Theme(index) => format!("{}", base + 52 + index.min(15)),
            Self::Fixed(index) => format!("{};5;{index}", base + 8),
        }
    }
}

/// Attribute, the sequence that switches it on, and whether it stays without colours.
const ATTRIBUTES: [(u8, &str, bool); 5] = [
    (TextStyle::BOLD, "1", true),
    (TextStyle::DIM, "2", false),
    (TextStyle::ITALIC, "3", true),
    (TextStyle::UNDERLINE, "4", true),
    (TextStyle::STRIKE, "9", true),
];

impl TextStyle {
    pub(crate) const BOLD: u8 = 1;
    pub(crate) const DIM: u8 = 2;
    pub(crate) const ITALIC: u8 = 4;
    pub(crate) const UNDERLINE: u8 = 8;
    pub(crate) const STRIKE: u8 = 16;

    /// Returns the plain style with some attributes.
    pub(crate) const fn of(attributes: u8) -> Self {
        Self {
            attributes,
            color: None,
            background: None,
        }
    }

    pub(crate) const fn with(self, attributes: u8) -> Self {
        Self {
            attributes: self.attributes | attributes,
            ..self
        }
    }

    pub(crate) const fn colored(self, color: Color) -> Self {
        Self {
            color: Some(color),
            ..self
        }
    }

    /// Returns this style with what another adds to it.
    pub(crate) fn over(self, more: Self) -> Self {
        Self {
            attributes: self.attributes | more.attributes,
            color: more.color.or(self.color),
            background: more.background.or(self.background),
        }
    }

    /// Appends `text` as a terminal shows it in this style.
    fn paint(self, text: &str, paint: Paint, painted: &mut String) {
        let mut codes = Vec::new();
        if paint != Paint::Bare {
            for (attribute, code, stays) in ATTRIBUTES {
                if self.attributes & attribute != 0 && (stays || paint == Paint::Full) {
                    codes.push(code.to_owned());
                }
            }
        }
        if paint == Paint::Full {
            codes.extend(self.color.map(|color| color.code(30)));
            codes.extend(self.background.map(|color| color.code(40)));
        }
        if codes.is_empty() || text.is_empty() {
            painted.push_str(text);
        } else {
            painted.push_str("\x1b[");
            painted.push_str(&codes.join(";"));
            painted.push('m');
            painted.push_str(text);
            painted.push_str("\x1b[0m");
        }
    }
}

/// Returns whether an address leads to a page, a file of the web or mail.
pub fn leads_out(address: &str) -> bool {
    const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];
    let begin = address.get(..8).unwrap_or(address).to_ascii_lowercase();
    SCHEMES.iter().any(|scheme| begin.starts_with(scheme))
}

/// Where a link leads: an address of plain letters alone, fit for a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target(Arc<str>);

impl Target {
    /// Longer ones are not taken by terminals.
    const MAX_BYTES: usize = 2_000;

    /// Returns the target of an address that leads out, and of no other.
    pub(crate) fn new(address: &str) -> Option<Self> {
        if !leads_out(address) {
            return None;
        }
        let mut plain = String::with_capacity(address.len());
        for byte in address.bytes() {
            match byte {
                b'!'..=b'~' => plain.push(char::from(byte)),
                // A control character is never a part of an address.
                0..=0x1f | 0x7f => {}
                other => plain.extend(["%".to_owned(), format!("{other:02X}")]),
            }
        }
        (plain.len() <= Self::MAX_BYTES).then(|| Self(plain.into()))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    text: String,
    style: TextStyle,
    target: Option<Target>,
}

/// Whether the terminal makes links of texts (OSC 8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Links {
    #[default]
    Shown,
    Followed,
}

/// One line, without its line break. It may be longer than the terminal is wide: long words and lines of code are left
/// to the terminal to wrap, so that they are copied whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    spans: Vec<Span>,
}

impl Line {
    /// Appends text, made harmless; a line break in it becomes a blank.
    pub(crate) fn push(&mut self, text: &str, style: TextStyle) {
        self.push_linked(text, style, None);
    }

    /// The same as the text of a link.
    pub(crate) fn push_linked(&mut self, text: &str, style: TextStyle, target: Option<Target>) {
        if text.is_empty() {
            return;
        }
        let text = harmless(text).replace('\n', " ");
        self.push_span(Span {
            text,
            style,
            target,
        });
    }

    fn push_span(&mut self, span: Span) {
        match self.spans.last_mut() {
            Some(last) if last.style == span.style && last.target == span.target => {
                last.text.push_str(&span.text);
            }
            Some(_) | None => self.spans.push(span),
        }
    }

    pub(crate) fn append(&mut self, other: Self) {
        for span in other.spans {
            self.push_span(span);
        }
    }

    /// The line without blanks at its end.
    pub(crate) fn trimmed(mut self) -> Self {
        while let Some(last) = self.spans.last_mut() {
            last.text.truncate(last.text.trim_end().len());
            if !last.text.is_empty() {
                break;
            }
            self.spans.pop();
        }
        self
    }

    /// The whole line with more attributes.
    pub(crate) fn with(mut self, attributes: u8) -> Self {
        for span in &mut self.spans {
            span.style = span.style.with(attributes);
        }
        self
    }

    /// The whole line on a background, also where nothing is written.
    pub(crate) fn on_background(mut self, color: Color) -> Self {
        if self.spans.is_empty() {
            self.spans.push(Span {
                text: String::new(),
                style: TextStyle::default(),
                target: None,
            });
        }
        for span in &mut self.spans {
            span.style.background = Some(color);
        }
        self
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|span| text_width(&span.text)).sum()
    }

    /// The line as a terminal shows it, its links as ones that can be followed where that is wanted.
    pub(crate) fn painted(&self, paint: Paint, links: Links) -> String {
        let mut painted = String::new();
        let mut is_filled = paint != Paint::Full;
        for span in &self.spans {
            if let (false, Some(color)) = (is_filled, span.style.background) {
                // The rest of the row without blanks, which would be copied. Before the text: behind a full row it
                // would take the last letter.
                painted.extend(["\x1b[", &color.code(40), "m\x1b[K\x1b[0m"]);
                is_filled = true;
            }
            let target = span.target.as_ref();
            let target = target.filter(|_| links == Links::Followed && paint == Paint::Full);
            if let Some(Target(address)) = target {
                painted.extend(["\x1b]8;;", address, "\x1b\\"]);
            }
            span.style.paint(&span.text, paint, &mut painted);
            if target.is_some() {
                painted.push_str("\x1b]8;;\x1b\\");
            }
        }
        painted
    }

    /// Rows that the line takes on a terminal of so many columns.
    pub(crate) fn rows(&self, columns: usize) -> usize {
        let mut place = Place::default();
        for span in &self.spans {
            for grapheme in span.text.graphemes(true) {
                place.advance(grapheme, columns);
            }
        }
        place.row + 1
    }

    /// The end of the line, as much as fits so many rows.
    pub(crate) fn last_rows(&self, rows: usize, columns: usize) -> Self {
        let skipped = self.rows(columns).saturating_sub(rows);
        let mut place = Place::default();
        let mut end = Self::default();
        for span in &self.spans {
            let mut kept = String::new();
            for grapheme in span.text.graphemes(true) {
                place.advance(grapheme, columns);
                if place.row >= skipped {
                    kept.push_str(grapheme);
                }
            }
            end.push_linked(&kept, span.style, span.target.clone());
        }
        end
    }
}

/// Where a terminal's cursor is while it prints a line.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    row: usize,
    column: usize,
}

impl Place {
    fn advance(&mut self, grapheme: &str, columns: usize) {
        if grapheme == "\t" {
            // A tab stops at the last column and never wraps.
            self.column = (self.column / TAB + 1).saturating_mul(TAB);
            self.column = self.column.min(columns.saturating_sub(1)).max(1);
            return;
        }
        let wide = max_width(grapheme);
        if self.column + wide > columns && self.column > 0 {
            self.row += 1;
            self.column = 0;
        }
        self.column += wide;
    }
}
