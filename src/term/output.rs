//! The printer. Replies and the answers of commands go to stdout; notices, warnings, errors and progress
//! to stderr. Foreign text is made harmless where a terminal sees it and left as it is where a file does.
//!
//! Invariant: a progress line never mixes with other output (it is cleared first), and nothing but a
//! reply's own text starts in the middle of its line. Text appears as it arrives: every call flushes.
//!
//! Printing returns nothing, so that it can be done from anywhere; what went wrong with stdout is kept
//! and told by [`Output::failure`]. A stderr that fails has nobody left to tell.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::termios::tcgetwinsize;

use super::background::{QUESTION, background};
use super::escape::{Harmless, harmless};
use super::list::List;
use super::markdown::{Highlighter, Line, Links, Markdown, Screen, Size, TextStyle};
use super::policy::{Device, Paint, Policy, Replies, Style, Verbosity};
use super::settings::Theme;
use super::text::{fit_to, thousands, width, wrap, wrap_prose};
use crate::hint::Hint;

/// Columns and rows where nobody says how many there are.
const COLUMNS: usize = 80;
const ROWS: usize = 24;
/// A reply that arrives faster is drawn 30 times a second.
const FRAME: Duration = Duration::from_millis(33);
/// Back to the first column, and the line empty.
const CLEAR_LINE: &str = "\r\x1b[K";
const PASTE_ON: &str = "\x1b[?2004h";

/// Where the output goes.
pub struct Streams {
    pub stdout: Box<dyn Write + Send>,
    pub stderr: Box<dyn Write + Send>,
    pub stdout_device: Device,
    pub stderr_device: Device,
    /// Width of the terminal; `None` asks it each time.
    pub columns: Option<usize>,
}

impl Streams {
    /// The streams of the process.
    pub fn standard() -> Self {
        Self {
            stdout_device: device(&io::stdout()),
            stderr_device: device(&io::stderr()),
            stdout: Box::new(io::stdout()),
            stderr: Box::new(io::stderr()),
            columns: None,
        }
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams")
            .field("stdout_device", &self.stdout_device)
            .field("stderr_device", &self.stderr_device)
            .finish_non_exhaustive()
    }
}

fn device(stream: &impl IsTerminal) -> Device {
    if stream.is_terminal() {
        Device::Terminal
    } else {
        Device::File
    }
}

/// Why stdout takes nothing more.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Whoever read it has enough, as `head` does: the end, not a failure.
    #[error("stdout was closed by its reader")]
    Closed,
    #[error("cannot write to stdout: {0}")]
    Failed(#[source] io::Error),
}

impl Hint for OutputError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Failed(error) if error.kind() == io::ErrorKind::StorageFull => {
                Some("the disk that stdout writes to is full; the session is saved".into())
            }
            Self::Closed | Self::Failed(_) => None,
        }
    }
}

/// Bytes that terminals take at once, as base64 100 KB.
const CLIPBOARD: usize = 74_994;

/// Why nothing was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotCopy {
    #[error("stdout is not a terminal that has a clipboard")]
    NoTerminal,
    #[error("it has {} bytes, and terminals take at most {}", thousands(*bytes), thousands(CLIPBOARD))]
    TooLong { bytes: usize },
}

impl Hint for CannotCopy {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some("`/save FILE` writes the last reply to a file".into())
    }
}

/// What the last output left on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cursor {
    LineStart,
    /// Behind text of a reply or of thinking.
    InLine,
    /// Behind a progress line that is to be cleared.
    Progress,
}

/// What is being streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Idle,
    Reasoning,
    Reply,
}

/// Lines that come at once are taken for a reply that does not stream.
const WHOLE: usize = 10;
/// How long such a reply waits for the colours of its code.
const PATIENCE: Duration = Duration::from_millis(500);

/// A reply that is laid out while it arrives.
struct Reply {
    document: Markdown,
    screen: Screen,
    drawn_at: Option<Instant>,
    /// Something arrived since the last frame.
    is_stale: bool,
}

/// Thinking that is shown while it lasts.
struct Thinking {
    text: String,
    since: Instant,
    /// What stands before is out of sight.
    from: usize,
    screen: Screen,
    drawn_at: Option<Instant>,
    is_stale: bool,
}

/// What is waited for.
struct Wait {
    what: String,
    /// The last line that it printed.
    printed: String,
    hint: &'static str,
    since: Instant,
}

impl Wait {
    /// Returns its line: the time and the hint stay where there is little room, the rest is cut.
    fn line(&self, columns: usize) -> String {
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
    fn next_second(&self) -> Instant {
        let seconds = self.since.elapsed().as_secs() + 1;
        self.since + Duration::from_secs(seconds)
    }
}

/// How something ended that is told in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Went {
    Well,
    Wrong,
}

/// The only printer.
pub struct Output {
    streams: Streams,
    policy: Policy,
    cursor: Cursor,
    stream: Stream,
    filter: Harmless,
    /// The reply that is being shown, where replies are laid out.
    reply: Option<Reply>,
    thinking: Option<Thinking>,
    wait: Option<Wait>,
    /// Where thinking that is over can be read, for its line.
    thinking_place: &'static str,
    highlighter: Highlighter,
    /// The reply so far ends with a line break (or is empty).
    reply_at_line_start: bool,
    /// Someone saw something since the last empty line between one thing and the next.
    has_shown: bool,
    failure: Option<OutputError>,
}

impl Output {
    pub fn new(streams: Streams, policy: Policy) -> Self {
        Self {
            streams,
            policy,
            cursor: Cursor::LineStart,
            stream: Stream::Idle,
            filter: Harmless::default(),
            reply: None,
            thinking: None,
            wait: None,
            thinking_place: "",
            highlighter: Highlighter::default(),
            reply_at_line_start: true,
            has_shown: false,
            failure: None,
        }
    }

    /// On the streams of the process.
    pub fn standard(policy: Policy) -> Self {
        Self::new(Streams::standard(), policy)
    }

    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Says how much is said from now on.
    pub fn set_verbosity(&mut self, verbosity: Verbosity) {
        self.policy.verbosity = verbosity;
    }

    /// Says how replies are shown from now on.
    pub fn show_replies(&mut self, replies: Replies) {
        self.policy.replies = replies;
        self.highlighter = match (replies, self.policy.paint) {
            (Replies::Markdown(theme), Paint::Full) => Highlighter::new(Some(theme)),
            (Replies::Markdown(_), Paint::Colorless | Paint::Bare) | (Replies::Raw, _) => {
                Highlighter::default()
            }
        };
    }

    /// Columns of the terminal, asked anew each time: windows change.
    pub fn columns(&self) -> usize {
        self.size().columns
    }

    /// Columns that an answer may take: those of the terminal, and in a file as many as it has.
    pub fn answer_columns(&self) -> usize {
        if self.is_interactive() {
            self.columns()
        } else {
            usize::MAX
        }
    }

    /// Rows of the terminal.
    pub fn rows(&self) -> usize {
        self.size().rows
    }

    fn size(&self) -> Size {
        let (mut columns, mut rows) = (self.streams.columns.unwrap_or(COLUMNS), ROWS);
        if self.streams.columns.is_none()
            && let Ok(size) = tcgetwinsize(io::stdout()).or_else(|_| tcgetwinsize(io::stderr()))
        {
            let known = |cells: u16, default| match cells {
                0 => default,
                cells => usize::from(cells),
            };
            columns = known(size.ws_col, columns);
            rows = known(size.ws_row, rows);
        }
        Size { columns, rows }
    }

    /// Whether someone looks at stdout.
    pub fn is_interactive(&self) -> bool {
        self.streams.stdout_device == Device::Terminal
    }

    /// What went wrong with stdout; nothing more is written there from then on.
    pub fn failure(&self) -> Option<&OutputError> {
        self.failure.as_ref()
    }

    /// Ends the output, with what went wrong on the way; a failure is said on stderr.
    pub fn finish(mut self) -> Result<(), OutputError> {
        self.end_reply();
        self.end_progress();
        let Some(failure) = self.failure.take() else {
            return Ok(());
        };
        if matches!(failure, OutputError::Failed(_)) {
            self.error(&failure.to_string(), failure.hint().as_deref());
        }
        Err(failure)
    }
}

/// Replies and answers: stdout.
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

    /// Asks the terminal for its background where the colours of code depend on that. Returns keys that were typed
    /// meanwhile.
    pub fn find_theme(&mut self) -> Vec<u8> {
        let is_open = self.policy.replies == Replies::Markdown(Theme::Auto)
            && self.policy.paint == Paint::Full
            && self.is_interactive();
        if !is_open {
            return Vec::new();
        }
        let has_shown = self.has_shown;
        let answer = background(io::stdin(), || self.write_stdout(QUESTION));
        self.has_shown = has_shown;
        // A terminal that cannot be asked keeps its own colours.
        let answer = answer.unwrap_or_default();
        if let Some(theme) = answer.theme {
            self.show_replies(Replies::Markdown(theme));
        }
        answer.typed
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

    /// Says where thinking can be read that is over.
    pub fn keep_thinking_at(&mut self, place: &'static str) {
        self.thinking_place = place;
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

    /// An empty line between what was shown and the next prompt, where someone looks on.
    pub fn gap(&mut self) {
        self.end_reply();
        self.fresh_line();
        if self.has_shown && self.is_interactive() {
            self.write_stdout("\n");
        }
        self.has_shown = false;
    }

    /// The answer of a command, whole; ends with exactly the line break it needs. At a terminal it wraps at blanks.
    pub fn answer(&mut self, text: &str) {
        self.end_reply();
        self.fresh_line();
        let shown = match self.streams.stdout_device {
            Device::Terminal => {
                Cow::Owned(harmless(&self.wrapped(text, self.streams.stdout_device)))
            }
            Device::File => Cow::Borrowed(text),
        };
        let end = if shown.is_empty() || shown.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        self.write_stdout(&format!("{shown}{end}"));
    }

    /// Puts a text on the clipboard of whoever looks on, through the terminal (OSC 52): also over ssh and in tmux.
    pub fn copy(&mut self, text: &str) -> Result<(), CannotCopy> {
        if !self.is_interactive() || self.policy.paint == Paint::Bare {
            return Err(CannotCopy::NoTerminal);
        }
        if text.len() > CLIPBOARD {
            return Err(CannotCopy::TooLong { bytes: text.len() });
        }
        let sequence = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
        self.end_reply();
        self.fresh_line();
        // tmux takes the first where it may set the clipboard, and passes on the second where it may do that.
        if self.policy.features.is_tmux {
            let wrapped = sequence.replace('\x1b', "\x1b\x1b");
            self.write_stdout(&format!("{sequence}\x1bPtmux;{wrapped}\x1b\\"));
        } else {
            self.write_stdout(&sequence);
        }
        Ok(())
    }

    /// A change of files, whole, as the answer of a command.
    pub fn change(&mut self, diff: &str) {
        self.end_reply();
        self.fresh_line();
        for line in diff.lines() {
            let shown = match self.streams.stdout_device {
                Device::Terminal => Cow::Owned(harmless(line)),
                Device::File => Cow::Borrowed(line),
            };
            let device = self.streams.stdout_device;
            let painted = Style::of_change(line).paint(&shown, device, self.policy.paint);
            self.write_stdout(&format!("{painted}\n"));
        }
    }

    /// A line typed while something else was on the screen, shown behind its prompt as if typed there.
    pub fn echo_input(&mut self, prompt: &str, text: &str) {
        self.answer(&format!("{prompt}{text}"));
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
    fn folded(&self, took: Duration, size: Size, place: &str) -> Vec<Line> {
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

/// Everything else: stderr.
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

    fn draw_wait(&mut self) {
        if let Some(wait) = &self.wait {
            let line = wait.line(self.columns().saturating_sub(1));
            self.progress(&line);
        }
    }

    fn has_progress(&self) -> bool {
        self.streams.stderr_device == Device::Terminal
            && self.policy.paint != Paint::Bare
            && self.policy.verbosity > Verbosity::Quiet
    }

    /// Takes the progress line away; nothing is waited for any more.
    pub fn end_progress(&mut self) {
        self.wait = None;
        self.clear_progress();
    }

    fn clear_progress(&mut self) {
        if self.cursor == Cursor::Progress {
            self.write_stderr(CLEAR_LINE);
            self.cursor = Cursor::LineStart;
        }
    }

    /// Whether a list can be drawn and drawn again.
    pub fn can_show_list(&self) -> bool {
        self.is_interactive()
            && self.streams.stderr_device == Device::Terminal
            && self.policy.paint != Paint::Bare
    }

    /// Draws a list below what stands there, or over the one that was drawn before.
    pub fn show_list(&mut self, list: &List<'_>) {
        self.prepare_for_input();
        let Size { columns, rows } = self.size();
        self.write_stderr(&list.frame(columns, rows, self.policy.paint));
    }

    /// Takes the list away; nothing is left of it.
    pub fn end_list(&mut self) {
        self.write_stderr("\r\x1b[J");
    }

    /// Makes room for a prompt: nothing half-written stands before it.
    pub fn prepare_for_input(&mut self) {
        self.wait = None;
        self.end_reply();
        self.fresh_line();
    }

    /// Goes below a line that somebody was typing and that is not read to its end.
    pub fn end_typed_line(&mut self) {
        if self.is_interactive() {
            self.write_stdout("\n");
        } else if self.streams.stderr_device == Device::Terminal {
            self.write_stderr("\n");
        }
    }

    /// Asks the terminal to mark pastes, also while nobody reads, so that a paste of several lines stays
    /// one input.
    pub fn mark_pastes(&mut self) {
        if self.is_interactive() && self.policy.paint != Paint::Bare {
            let has_shown = self.has_shown;
            self.write_stdout(PASTE_ON);
            self.has_shown = has_shown;
        }
    }

    fn line(&mut self, style: Style, label: &str, text: &str) {
        self.fresh_line();
        let shown = match self.streams.stderr_device {
            Device::Terminal => Cow::Owned(harmless(text)),
            Device::File => Cow::Borrowed(text),
        };
        let whole = format!("{label}{}", shown.trim_end_matches('\n'));
        let wrapped = self.wrapped(&whole, self.streams.stderr_device);
        let painted = if style == Style::Dim {
            self.paint_stderr(style, &wrapped)
        } else {
            // The blank behind a label may have become a line break.
            let label = if wrapped.starts_with(label) {
                label
            } else {
                label.trim_end()
            };
            let text = wrapped.strip_prefix(label).unwrap_or(&wrapped);
            format!("{}{text}", self.paint_stderr(style, label))
        };
        self.write_stderr(&format!("{painted}\n"));
    }

    /// Text of our own, wrapped at blanks where somebody reads it.
    fn wrapped(&self, text: &str, device: Device) -> String {
        if device == Device::Terminal {
            wrap_prose(text, self.columns())
        } else {
            text.to_owned()
        }
    }

    fn paint_stderr(&self, style: Style, text: &str) -> String {
        style.paint(text, self.streams.stderr_device, self.policy.paint)
    }

    /// Turns to another kind of stream; tells whether it is a new one.
    fn begin(&mut self, stream: Stream) -> bool {
        self.wait = None;
        if self.stream == stream {
            self.clear_progress();
            return false;
        }
        self.end_reply();
        self.fresh_line();
        self.stream = stream;
        true
    }

    /// A line of its own for what comes next, without touching the reply's bytes.
    fn fresh_line(&mut self) {
        if self.streams.stderr_device == Device::File {
            return;
        }
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
        match std::mem::replace(&mut self.cursor, Cursor::LineStart) {
            Cursor::LineStart => {}
            Cursor::InLine => self.write_stderr("\n"),
            Cursor::Progress => self.write_stderr(CLEAR_LINE),
        }
    }

    fn write_stdout(&mut self, text: &str) {
        if self.failure.is_some() {
            return;
        }
        self.has_shown |= self.streams.stdout_device == Device::Terminal;
        let stdout = &mut self.streams.stdout;
        if let Err(error) = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
        {
            self.failure = Some(match error.kind() {
                io::ErrorKind::BrokenPipe => OutputError::Closed,
                _ => OutputError::Failed(error),
            });
        }
    }

    fn write_stderr(&mut self, text: &str) {
        self.has_shown |= self.streams.stderr_device == Device::Terminal;
        let stderr = &mut self.streams.stderr;
        drop(
            stderr
                .write_all(text.as_bytes())
                .and_then(|()| stderr.flush()),
        );
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("policy", &self.policy)
            .field("cursor", &self.cursor)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
