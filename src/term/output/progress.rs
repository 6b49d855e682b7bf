//! What is waited for, as one line on stderr that is redrawn and goes before anything else is printed.

use std::time::{Duration, Instant};

use super::{CLEAR_LINE, Cursor, Output};
use crate::term::escape::harmless;
use crate::term::policy::{Device, Paint, Style, Verbosity};
use crate::term::text::{fit_to, width};

/// What is waited for.
pub(super) struct Wait {
    pub(super) what: String,
    /// The last line that it printed.
    pub(super) printed: String,
    pub(super) hint: &'static str,
    pub(super) since: Instant,
}

impl Wait {
    /// Returns its line: the time and the hint stay where there is little room, the rest is cut.
    pub(super) fn line(&self, columns: usize) -> String {
        let seconds = match self.since.elapsed().as_secs() {
            0 => String::new(),
            seconds => format!("{seconds} s \u{b7} "),
        };
        let plain = |text: &str| harmless(text).replace(['\n', '\t'], " ");
        let what = plain(&self.what);
        if self.printed.is_empty() {
            let end = format!(" {seconds}{}", self.hint);
            let room = columns.saturating_sub(width(&end));
            return format!("{}{end}", fit_to(&format!("{what} \u{2026}"), room));
        }
        let printed = plain(&self.printed);
        let end = format!(" \u{b7} {seconds}{}", self.hint);
        let room = columns.saturating_sub(width(&end) + 3);
        let of_what = room.saturating_sub(width(&printed)).max(room / 2);
        let what = fit_to(&what, of_what);
        let printed = fit_to(&printed, room.saturating_sub(width(&what)));
        format!("{what} \u{b7} {printed}{end}")
    }

    /// Returns when the next second begins.
    pub(super) fn next_second(&self) -> Instant {
        let seconds = self.since.elapsed().as_secs() + 1;
        self.since + Duration::from_secs(seconds)
    }
}

impl Output {
    /// One line that is redrawn and goes before anything else is printed; only a terminal has it.
    pub fn progress(&mut self, text: &str) {
        if !self.has_progress() || self.cursor == Cursor::InLine {
            return;
        }
        let text = harmless(text).replace(['\n', '\t'], " ");
        let shown = fit_to(&text, self.columns().saturating_sub(1)).into_owned();
        let painted = self.paint_stderr(Style::Dim, &shown);
        self.write_stderr(&format!("{CLEAR_LINE}{painted}"));
        self.cursor = Cursor::Progress;
    }

    /// Says what is waited for, how long by now, and what Ctrl-C does; goes away with the first output.
    pub fn wait_for(&mut self, what: impl Into<String>, hint: &'static str) {
        self.end_reply();
        self.wait = Some(Wait {
            what: what.into(),
            printed: String::new(),
            hint,
            since: Instant::now(),
        });
        self.draw_wait();
    }

    /// Says something else of the same wait.
    pub fn still_waiting(&mut self, what: impl Into<String>) {
        if let Some(wait) = &mut self.wait {
            wait.what = what.into();
            self.draw_wait();
        }
    }

    /// Shows the last line of what is printed by what is waited for.
    pub fn wait_prints(&mut self, line: &str) {
        if let Some(wait) = &mut self.wait {
            line.clone_into(&mut wait.printed);
            self.draw_wait();
        }
    }

    pub(super) fn draw_wait(&mut self) {
        if let Some(wait) = &self.wait {
            let line = wait.line(self.columns().saturating_sub(1));
            self.progress(&line);
        }
    }

    pub(super) fn has_progress(&self) -> bool {
        self.streams.stderr_device == Device::Terminal
            && self.policy.paint != Paint::Bare
            && self.policy.verbosity > Verbosity::Quiet
    }

    /// Takes the progress line away; nothing is waited for any more.
    pub fn end_progress(&mut self) {
        self.wait = None;
        self.clear_progress();
    }

    pub(super) fn clear_progress(&mut self) {
        if self.cursor == Cursor::Progress {
            self.write_stderr(CLEAR_LINE);
            self.cursor = Cursor::LineStart;
        }
    }
}
