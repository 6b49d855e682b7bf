//! Replies and thinking while they arrive: as raw text, or laid out and drawn frame by frame.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use super::{Cursor, Output, Stream};
use crate::term::markdown::{Line, Links, Markdown, Screen, Size, TextStyle};
use crate::term::policy::{Device, Paint, Replies, Style, Verbosity};
use crate::term::text::{fit_to, thousands, wrap};

/// A reply that arrives faster is drawn 30 times a second.
const FRAME: Duration = Duration::from_millis(33);
/// Lines that come at once are taken for a reply that does not stream.
const WHOLE: usize = 10;
/// How long such a reply waits for the colours of its code.
const PATIENCE: Duration = Duration::from_millis(500);

/// A reply that is laid out while it arrives.
pub(super) struct Reply {
    document: Markdown,
    screen: Screen,
    drawn_at: Option<Instant>,
    /// Something arrived since the last frame.
    is_stale: bool,
}

/// Thinking that is shown while it lasts.
pub(super) struct Thinking {
    text: String,
    since: Instant,
    /// What stands before is out of sight.
    from: usize,
    screen: Screen,
    drawn_at: Option<Instant>,
    is_stale: bool,
}

/// Replies: stdout; thinking: stderr.
impl Output {
    /// Text of a reply, as it arrives.
    pub fn reply_delta(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.begin(Stream::Reply);
        let shown = match self.streams.stdout_device {
            Device::Terminal => Cow::Owned(self.filter.delta(text)),
            Device::File => Cow::Borrowed(text),
        };
        if !self.lays_out() {
            self.write_reply(&shown);
            return;
        }
        let size = self.size();
        let links = if self.policy.features.links {
            Links::Followed
        } else {
            Links::Shown
        };
        let reply = self.reply.get_or_insert_with(|| Reply {
            document: Markdown::new(size, std::mem::take(&mut self.highlighter)),
            screen: Screen::with_links(links),
            drawn_at: None,
            is_stale: false,
        });
        if shown.lines().count() < WHOLE {
            reply.document.push(&shown);
        } else {
            let deadline = Instant::now() + PATIENCE;
            for line in shown.split_inclusive('\n') {
                reply.document.push(line);
                reply.document.wait(deadline);
            }
        }
        reply.is_stale = true;
        if reply.drawn_at.is_none_or(|at| at.elapsed() >= FRAME) {
            self.draw();
        }
    }

    /// What a command prints that the person runs, as it arrives; [`Self::end_reply`] ends it.
    pub fn command_delta(&mut self, text: &str) {
        self.begin(Stream::Reply);
        let shown = match self.streams.stdout_device {
            Device::Terminal => Cow::Owned(self.filter.delta(text)),
            Device::File => Cow::Borrowed(text),
        };
        self.write_reply(&shown);
    }

    /// A reply that is there whole.
    pub fn reply(&mut self, text: &str) {
        self.end_reply();
        self.reply_delta(text);
        self.end_reply();
    }

    fn lays_out(&self) -> bool {
        self.is_interactive() && self.is_laid_out()
    }

    fn folds_thinking(&self) -> bool {
        self.streams.stderr_device == Device::Terminal && self.is_laid_out()
    }

    fn is_laid_out(&self) -> bool {
        self.policy.paint != Paint::Bare && matches!(self.policy.replies, Replies::Markdown(_))
    }

    /// Returns when what has arrived is to be drawn, where it is not on the screen yet.
    pub fn frame_due(&self) -> Option<Instant> {
        let reply = self.reply.as_ref().filter(|reply| reply.is_stale);
        let thinking = self.thinking.as_ref().filter(|thinking| thinking.is_stale);
        let drawn_at = match (reply, thinking) {
            (Some(reply), _) => reply.drawn_at,
            (None, Some(thinking)) => thinking.drawn_at,
            (None, None) => {
                let wait = self.wait.as_ref()?;
                return self.has_progress().then(|| wait.next_second());
            }
        };
        Some(drawn_at? + FRAME)
    }

    /// Shows the last lines of the thinking.
    fn draw_thinking(&mut self, size: Size) {
        let paint = self.policy.paint;
        let Some(thinking) = &mut self.thinking else {
            return;
        };
        let tail = thinking.tail(size);
        thinking.is_stale = false;
        thinking.drawn_at = Some(Instant::now());
        let bytes = thinking.screen.frame(Vec::new(), tail, size, paint);
        if thinking.screen.is_in_line() {
            self.cursor = Cursor::InLine;
        }
        self.write_stderr(&bytes);
    }

    /// Folds thinking that is over to one line, and one that is interrupted to what is seen of it.
    fn end_thinking(&mut self, end: ThinkingEnd) {
        let size = self.size();
        let paint = self.policy.paint;
        let place = self.thinking_place;
        let Some(thinking) = &mut self.thinking else {
            return;
        };
        let tail = match end {
            ThinkingEnd::Over => thinking.folded(thinking.since.elapsed(), size, place),
            ThinkingEnd::Interrupted => thinking.tail(size),
        };
        let bytes = thinking.screen.frame(tail, Vec::new(), size, paint);
        self.cursor = Cursor::LineStart;
        self.write_stderr(&bytes);
        if end == ThinkingEnd::Over {
            self.thinking = None;
        } else if let Some(thinking) = &mut self.thinking {
            thinking.from = thinking.text.len();
        }
    }

    /// Ends the line of what is shown unfinished, so that something else can stand below.
    pub(super) fn interrupt(&mut self) {
        if self.cursor == Cursor::InLine && self.reply.is_some() {
            let size = self.size();
            if let Some(reply) = &mut self.reply {
                reply.document.interrupt();
                let settled = reply.document.take_settled();
                self.frame(settled, Vec::new(), size);
            }
        }
        if self.cursor == Cursor::InLine && self.thinking.is_some() {
            self.end_thinking(ThinkingEnd::Interrupted);
        }
    }

    /// Brings the screen up to date with what has arrived.
    pub fn draw(&mut self) {
        if self.wait.is_some() {
            self.draw_wait();
            return;
        }
        self.clear_progress();
        let size = self.size();
        self.draw_thinking(size);
        let Some(reply) = &mut self.reply else {
            return;
        };
        reply.document.resize(size);
        let settled = reply.document.take_settled();
        let tail = reply.document.tail();
        // Colours come when they are ready.
        reply.is_stale = reply.document.is_waiting();
        reply.drawn_at = Some(Instant::now());
        self.frame(settled, tail, size);
    }

    /// Shows what has become settled, and what is unfinished below it.
    fn frame(&mut self, settled: Vec<Line>, tail: Vec<Line>, size: Size) {
        let Some(reply) = &mut self.reply else {
            return;
        };
        let bytes = reply.screen.frame(settled, tail, size, self.policy.paint);
        self.cursor = if reply.screen.is_in_line() {
            Cursor::InLine
        } else {
            Cursor::LineStart
        };
        if !bytes.is_empty() {
            self.write_stdout(&bytes);
        }
    }

    /// Thinking, dim, for who looks on; a file never gets it.
    pub fn reasoning_delta(&mut self, text: &str) {
        let watched = self.streams.stderr_device == Device::Terminal;
        if !watched || self.policy.verbosity == Verbosity::Quiet || text.is_empty() {
            return;
        }
        let is_new = self.begin(Stream::Reasoning);
        let shown = self.filter.delta(text);
        if self.folds_thinking() {
            let thinking = self.thinking.get_or_insert_with(|| Thinking {
                text: String::new(),
                since: Instant::now(),
                from: 0,
                screen: Screen::default(),
                drawn_at: None,
                is_stale: false,
            });
            if thinking.text.is_empty() && self.policy.paint != Paint::Full {
                thinking.text.push_str(Thinking::LABEL);
            }
            thinking.text.push_str(&shown);
            thinking.is_stale = true;
            if thinking.drawn_at.is_none_or(|at| at.elapsed() >= FRAME) {
                self.draw();
            }
            return;
        }
        if is_new && self.policy.paint != Paint::Full {
            self.write_stderr(Thinking::LABEL);
        }
        if shown.is_empty() {
            return;
        }
        let painted = self.paint_stderr(Style::Dim, &shown);
        self.write_stderr(&painted);
        self.cursor = if shown.ends_with('\n') {
            Cursor::LineStart
        } else {
            Cursor::InLine
        };
    }

    /// Ends what is being streamed; the reply's last line gets its line break.
    pub fn end_reply(&mut self) {
        let held = self.filter.end();
        match std::mem::replace(&mut self.stream, Stream::Idle) {
            Stream::Idle => {}
            Stream::Reasoning if self.thinking.is_some() => {
                if let Some(thinking) = &mut self.thinking {
                    thinking.text.push_str(held);
                }
                self.clear_progress();
                self.end_thinking(ThinkingEnd::Over);
            }
            Stream::Reasoning => self.fresh_line(),
            Stream::Reply if self.reply.is_some() => {
                let size = self.size();
                self.clear_progress();
                if let Some(reply) = &mut self.reply {
                    reply.document.push(held);
                    reply.document.finish();
                    let settled = reply.document.take_settled();
                    self.frame(settled, Vec::new(), size);
                }
                if let Some(reply) = self.reply.take() {
                    self.highlighter = reply.document.into_highlighter();
                }
            }
            Stream::Reply => {
                if !held.is_empty() {
                    self.write_reply(held);
                }
                let is_open = match self.streams.stdout_device {
                    Device::Terminal => self.cursor == Cursor::InLine,
                    Device::File => !self.reply_at_line_start,
                };
                if is_open {
                    self.write_stdout("\n");
                    self.cursor = Cursor::LineStart;
                }
                self.reply_at_line_start = true;
            }
        }
    }

    fn write_reply(&mut self, shown: &str) {
        if shown.is_empty() {
            return;
        }
        self.write_stdout(shown);
        self.reply_at_line_start = shown.ends_with('\n');
        self.cursor = match (self.streams.stdout_device, self.reply_at_line_start) {
            (Device::Terminal, false) => Cursor::InLine,
            (Device::File, _) | (Device::Terminal, true) => Cursor::LineStart,
        };
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThinkingEnd {
    Over,
    /// Something else is printed below it.
    Interrupted,
}

impl Thinking {
    /// Stands before it where it cannot be dim.
    const LABEL: &str = "thinking: ";
    /// Rows that are seen of it.
    const ROWS: usize = 5;

    /// Returns its last lines.
    fn tail(&mut self, size: Size) -> Vec<Line> {
        const WRAPPED: usize = 50;
        let text = &self.text[self.from..];
        let mut lines = wrap(text, size.columns);
        if lines.len() > WRAPPED {
            let first = lines.len() - Self::ROWS.max(1);
            let shown = lines.split_off(first);
            let from = shown.first().map_or(0, |line| line.start);
            lines = shown
                .into_iter()
                .map(|line| line.start - from..line.end - from)
                .collect();
            self.from += from;
        }
        let text = &self.text[self.from..];
        let mut lines: Vec<&str> = lines
            .into_iter()
            .map(|line| text[line].trim_end())
            .collect();
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        let first = lines.len().saturating_sub(Self::ROWS);
        lines.into_iter().skip(first).map(dim).collect()
    }

    /// Returns the one line that stays of it: all of it where that is short, else how long it took and was.
    pub(super) fn folded(&self, took: Duration, size: Size, place: &str) -> Vec<Line> {
        let text = self.text.trim();
        let text = text.strip_prefix(Self::LABEL).unwrap_or(text);
        if text.is_empty() {
            return Vec::new();
        }
        let whole = format!("thought: {text}");
        if !text.contains('\n') && wrap(&whole, size.columns).len() == 1 {
            return vec![dim(&whole)];
        }
        let took = match took.as_secs() {
            0 => String::new(),
            seconds => format!(" for {seconds} s"),
        };
        let words = thousands(text.split_whitespace().count());
        let place = if place.is_empty() {
            String::new()
        } else {
            format!(" \u{b7} {place}")
        };
        let line = format!("Thought{took} ({words} words){place}");
        vec![dim(&fit_to(&line, size.columns))]
    }
}

fn dim(text: &str) -> Line {
    let mut line = Line::default();
    line.push(text, TextStyle::of(TextStyle::DIM));
    line
}
