//! The printer. Replies and the answers of commands go to stdout; notices, warnings, errors and progress
//! to stderr. Foreign text is made harmless where a terminal sees it and left as it is where a file does.
//!
//! Invariant: a progress line never mixes with other output (it is cleared first), and nothing but a
//! reply's own text starts in the middle of its line. Text appears as it arrives: every call flushes.
//!
//! Printing returns nothing, so that it can be done from anywhere; what went wrong with stdout is kept
//! and told by [`Output::failure`]. A stderr that fails has nobody left to tell.

mod error;
mod messages;
mod progress;
mod reply;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::fs::fstat;
use rustix::termios::tcgetwinsize;

use super::background::{QUESTION, background};
use super::escape::{Harmless, harmless};
use super::list::List;
use super::markdown::{Highlighter, Size};
use super::policy::{Device, Paint, Policy, Replies, Style, Verbosity};
use super::settings::Theme;
use super::text::wrap_prose;
use crate::hint::Hint;
use error::CLIPBOARD;
use progress::Wait;
use reply::{Reply, Thinking};

pub use error::{CannotCopy, OutputError};

/// Columns and rows where nobody says how many there are.
const COLUMNS: usize = 80;
const ROWS: usize = 24;
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

/// How something ended that is told in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Went {
    Well,
    Wrong,
}

/// The only printer.
pub struct Output {
    streams: Streams,
    /// Both streams lead to one file or pipe, which gets whole lines of each.
    is_one_file: bool,
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
            is_one_file: false,
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
        let of = |stream: BorrowedFd<'_>| fstat(stream).map(|stat| (stat.st_dev, stat.st_ino));
        let ends = (of(io::stdout().as_fd()), of(io::stderr().as_fd()));
        Self {
            is_one_file: matches!(ends, (Ok(one), Ok(other)) if one == other),
            ..Self::new(Streams::standard(), policy)
        }
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

/// Answers: stdout.
impl Output {
    /// Asks the terminal for its background where the colours of code depend on that. Returns keys that were typed
    /// meanwhile, and whether an answer is still to come.
    pub fn find_theme(&mut self) -> (Vec<u8>, bool) {
        let is_open = self.policy.replies == Replies::Markdown(Theme::Auto)
            && self.policy.paint == Paint::Full
            && self.is_interactive();
        if !is_open {
            return (Vec::new(), false);
        }
        let has_shown = self.has_shown;
        let answer = background(io::stdin(), || self.write_stdout(QUESTION));
        self.has_shown = has_shown;
        // A terminal that cannot be asked keeps its own colours.
        let answer = answer.unwrap_or_default();
        if let Some(theme) = answer.theme {
            self.show_replies(Replies::Markdown(theme));
        }
        (answer.typed, answer.is_due)
    }

    /// Says where thinking can be read that is over.
    pub fn keep_thinking_at(&mut self, place: &'static str) {
        self.thinking_place = place;
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
}

impl Output {
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

    /// Takes the last rows off the screen again, which a line that is not sent took.
    pub fn take_back(&mut self, rows: usize) {
        if self.is_interactive() && self.policy.paint != Paint::Bare {
            let rows = rows.min(self.rows().saturating_sub(1));
            self.write_stdout(&format!("\x1b[{rows}A\r\x1b[J"));
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
            if self.is_one_file && !self.reply_at_line_start {
                self.write_stderr("\n");
                self.reply_at_line_start = true;
            }
            return;
        }
        self.interrupt();
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
