//! Words, and the gaps and marks that are written with the word that follows them.

use std::fmt::Write;
use std::mem::take;

use super::{Gap, MAX_TEXT, Renderer, Tag};

impl Renderer {
    pub(super) fn end_pre(&mut self) {
        self.text.truncate(self.text.trim_end().len());
        self.text.extend(["\n", &self.indent, "```"]);
    }

    pub(super) fn end_link(&mut self, address: Option<&str>) {
        if let Some(address) = address {
            self.n_links += 1;
            let n = self.n_links;
            // Writing to a string cannot fail.
            write!(self.text, "][{n}]").unwrap_or_default();
            writeln!(self.links, "[{n}]: {address}").unwrap_or_default();
        }
    }

    pub(super) fn owe(&mut self, gap: Gap) {
        if !self.is_fresh {
            self.gap = self.gap.max(gap);
        }
    }

    pub(super) fn mark_line(&mut self, mark: &str) {
        if self.line_mark.is_empty() {
            self.line_indent = self.indent.len();
        }
        self.line_mark.push_str(mark);
    }

    pub(super) fn words(&mut self, text: &str) {
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

    pub(super) fn word(&mut self, word: &str) {
        self.pay();
        self.text.push_str(word);
    }

    pub(super) fn preformatted(&mut self, text: &str) {
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
