//! Text within a block: emphasis, code, links.

use std::ops::Range;

use super::containers::Container;
use super::{DIM, Kind, Layouter};
use crate::term::markdown::line::{Target, TextStyle};

impl Layouter<'_> {
    pub(super) fn text(&mut self, text: &str, range: &Range<usize>) {
        let is_verbatim = self.styles.len() == 1
            && self.links.is_empty()
            && self.source.get(range.clone()) == Some(text);
        let source = is_verbatim.then_some(range.start);
        self.begin_text(range.start);
        let style = self.style(TextStyle::default());
        self.flow.push(text, style, source);
    }

    pub(super) fn inline(&mut self, text: &str, style: TextStyle) {
        self.begin_text(self.reached);
        self.flow.push(text, style, None);
    }

    /// Text that stands in an item without a paragraph around it begins one.
    pub(super) fn begin_text(&mut self, at: usize) {
        if self.flow.is_empty()
            && self.table.is_none()
            && let Some(Container::Item { .. }) = self.containers.last()
            && self.priors.last() != Some(&Some(Kind::Paragraph))
        {
            self.gap(Kind::Paragraph, at);
        }
    }

    pub(super) fn break_line(&mut self) {
        self.flow.break_line();
    }

    pub(super) fn style(&self, more: TextStyle) -> TextStyle {
        self.styles.last().map_or(more, |style| style.over(more))
    }

    pub(super) fn push_style(&mut self, attribute: u8) {
        self.styles.push(self.style(TextStyle::of(attribute)));
    }

    pub(super) fn begin_link(&mut self, target: &str) {
        self.flow.link(Target::new(target));
        self.links.push((target.to_owned(), self.flow.text().len()));
        self.push_style(TextStyle::UNDERLINE);
    }

    pub(super) fn end_link(&mut self, close: &str) {
        self.styles.pop();
        let Some((target, begin)) = self.links.pop() else {
            return;
        };
        // A picture may be the text of a link.
        let outer = self.links.last();
        self.flow
            .link(outer.and_then(|(target, _)| Target::new(target)));
        let style = self.style(DIM);
        self.inline(close, style);
        let text = self.flow.text().get(begin..).unwrap_or_default();
        let plain = target.strip_prefix("mailto:").unwrap_or(&target);
        if !plain.is_empty() && text != plain && text != target {
            self.inline(&format!(" ({target})"), style);
        }
    }
}

pub(super) fn is_line_break(html: &str) -> bool {
    let tag: String = html.chars().filter(|c| !c.is_whitespace()).collect();
    matches!(tag.to_ascii_lowercase().as_str(), "<br>" | "<br/>")
}
