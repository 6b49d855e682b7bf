//! Markdown on a terminal, as it arrives.
//!
//! ```text
//!   stream      pieces of text in, settled lines and an unfinished rest out
//!   layout      a part of a document in lines      table, wrap, line: what lines are made of
//!   highlight   code in the colours of its language
//!   screen      lines out as what a terminal is sent
//! ```
//!
//! Nothing here prints. The text that comes in is harmless already, and what the grammar makes of it (a character
//! reference can stand for an escape) is made harmless again where a line is put together.

use pulldown_cmark::{CowStr, Event, Options, Parser, TagEnd};

mod highlight;
mod layout;
mod line;
mod screen;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod wrap;

pub(super) use highlight::Highlighter;
pub use line::leads_out;
pub(super) use line::{Line, Links, TextStyle};
pub(super) use screen::Screen;
pub(super) use stream::{Markdown, Size};

/// Returns the words of a document without its marks, its blocks one behind another.
pub fn without_markup(document: &str) -> String {
    let events = Parser::new_ext(document, Options::ENABLE_TABLES);
    let pieces = events.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text),
        Event::End(
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Link
            | TagEnd::Image,
        ) => None,
        Event::SoftBreak | Event::HardBreak | Event::End(_) => Some(" ".into()),
        _ => None,
    });
    pieces.map(CowStr::into_string).collect()
}
