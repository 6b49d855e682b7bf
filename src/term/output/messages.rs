//! What the program tells beside replies and answers, on stderr: a line or a few, each by its kind.

use std::borrow::Cow;

use super::{Output, Went};
use crate::term::escape::harmless;
use crate::term::policy::{Device, Style, Verbosity};

impl Output {
    /// Something worth knowing; silent with `-q`.
    pub fn notice(&mut self, text: &str) {
        if self.policy.verbosity > Verbosity::Quiet {
            self.line(Style::Plain, "", text);
        }
    }

    /// Something only `-v` wants to know.
    pub fn detail(&mut self, text: &str) {
        if self.policy.verbosity == Verbosity::Verbose {
            self.line(Style::Dim, "", text);
        }
    }

    /// Something that did not stop the work but may matter.
    pub fn warning(&mut self, text: &str) {
        self.line(Style::Warning, "warning: ", text);
    }

    /// Something that failed, and below it what can be done about it.
    pub fn error(&mut self, text: &str, hint: Option<&str>) {
        self.line(Style::Error, "error: ", text);
        if let Some(hint) = hint {
            self.line(Style::Notice, "hint: ", hint);
        }
    }

    /// Something that waits for an answer; never silent.
    pub fn question(&mut self, text: &str) {
        self.line(Style::Notice, "? ", text);
    }

    /// An aside that only who looks on sees.
    pub fn aside(&mut self, text: &str) {
        self.end_reply();
        if self.is_interactive() {
            self.line(Style::Dim, "", text);
        }
    }

    /// What a tool did, in one line.
    pub fn action(&mut self, text: &str, went: Went) {
        if self.policy.verbosity == Verbosity::Quiet {
            return;
        }
        match went {
            Went::Well => self.line(Style::Dim, "", &format!("\u{2022} {text}")),
            Went::Wrong => self.line(Style::Warning, "\u{2022} ", text),
        }
    }

    /// A unified diff, at most so many lines of it.
    pub fn diff(&mut self, diff: &str, most: usize) {
        self.fresh_line();
        let total = diff.lines().count();
        for line in diff.lines().take(most) {
            let style = Style::of_change(line);
            let shown = match self.streams.stderr_device {
                Device::Terminal => Cow::Owned(harmless(line)),
                Device::File => Cow::Borrowed(line),
            };
            let painted = self.paint_stderr(style, &shown);
            self.write_stderr(&format!("{painted}\n"));
        }
        if total > most {
            self.line(
                Style::Dim,
                "",
                &format!("\u{2026} {} more lines", total - most),
            );
        }
    }
}
