//! The person's lines, one for each request, from a terminal or from a pipe.
//!
//! ```text
//!   repl --Request--> thread "input" --Reply--> repl          no line is read between the two, so that
//!                       terminal | plain                      Ctrl-C is a signal while a reply streams
//!                         ahead          lines typed before a question
//!                         continuation   several lines, one input
//!                         history        inputs of earlier runs, in a file
//!   of the terminal's     helper         completion, suggestion, colours
//!                         handlers       what some keys do
//!                         paste          what is pasted; long texts folded on the line
//!                         vi             operators of vi, with their motions
//!                         text_object    what those take as one
//!                         late_answer    what the terminal answers too late, as keys
//!                         resized        the line drawn anew at another width
//!                         shared         what these tell each other
//!   of the person's       leave          how often Ctrl-C was pressed
//! ```
//!
//! The reading thread cannot be cancelled: a process that ends gives the terminal back through
//! [`crate::term::TerminalState`] and leaves the thread where it is.

mod ahead;
mod continuation;
mod handlers;
mod helper;
mod history;
mod late_answer;
mod leave;
mod paste;
mod plain;
mod resized;
mod shared;
mod terminal;
mod text_object;
mod vi;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead};
use std::sync::mpsc;
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use self::ahead::Ahead;
use crate::hint::Hint;
use crate::term::{Output, Stops, wrap_prose};

pub use helper::{Candidate, Complete, Completions};
pub use history::{HistoryFile, forget_lines};
pub use leave::{LeaveKeys, Step};
pub use paste::long;
pub use terminal::TerminalInput;

/// Longest input that is taken, in bytes.
pub const LONGEST_INPUT: usize = 16 * 1024 * 1024;

/// What came of asking for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// An input, its lines joined, without the marks that held them together.
    Text(String),
    /// Ctrl-C on a line with something on it: it is gone, nothing else happened.
    Cleared,
    /// Ctrl-C on an empty line.
    Interrupted,
    /// Ctrl-D on an empty line, or the end of the pipe.
    Eof,
}

/// What came of asking for the next input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entered {
    Line(Line),
    /// Ctrl-X Ctrl-E: begun, to be gone on with as the editor leaves it.
    ForEditor {
        begun: String,
        /// Rows of the screen that its line and prompt took.
        rows: usize,
    },
}

/// Why there is no line.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The next lines can still be read.
    #[error("line {line} of the input is longer than {} MB", LONGEST_INPUT / (1024 * 1024))]
    TooLong { line: u64 },
    #[error("cannot read the input: {0}")]
    Io(#[source] io::Error),
    #[error("the input reader stopped")]
    Gone,
}

impl Hint for InputError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::TooLong { .. } => Some("nothing was sent; send it in parts".into()),
            Self::Io(_) | Self::Gone => None,
        }
    }
}

/// What a line is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The next input: may have several lines, may have been typed already.
    Input,
    /// A part of `/paste`: exactly as typed, no marks.
    Verbatim,
    /// The answer to a question asked now: never something typed before it was asked.
    Answer,
}

struct Request {
    purpose: Purpose,
    prompt: String,
    initial: String,
    /// What was typed ahead is not handed in by itself: it stands before `initial`.
    is_held: bool,
}

/// How an input came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// Typed behind its prompt, or out of a pipe.
    Prompt,
    /// Typed before a question, and put aside: its prompt still has to be shown.
    Ahead,
    /// Ctrl-Z: begun, to be gone on with when the process runs again.
    Suspended,
    /// Ctrl-X Ctrl-E: begun, to be gone on with as the editor leaves it.
    ForEditor { rows: usize },
}

struct Reply {
    line: Result<Line, InputError>,
    origin: Origin,
    warnings: Vec<String>,
}

impl Reply {
    fn new(line: Result<Line, InputError>) -> Self {
        Self {
            line,
            origin: Origin::Prompt,
            warnings: Vec::new(),
        }
    }
}

/// Reads lines, blocking.
trait Source {
    fn read(&mut self, request: &Request) -> Reply;
}

/// Reads the person's lines without ever blocking the rest.
pub struct LineReader {
    requests: mpsc::Sender<Request>,
    replies: UnboundedReceiver<Reply>,
    /// A request is out whose reply nobody has taken.
    is_waiting: bool,
    kind: Kind,
    stops: Stops,
    /// Stands on the next line to begin with; `None` where a reply came to its end.
    held: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Terminal,
    Lines,
}

impl LineReader {
    /// From the terminal on stdin, with editing, history and completion.
    pub fn terminal(input: TerminalInput) -> io::Result<Self> {
        let stops = input.stops.clone();
        let reader = Self::start(Kind::Terminal, move || {
            terminal::TerminalSource::open(input)
        })?;
        Ok(Self { stops, ..reader })
    }

    /// From anything, line by line, as if typed (A3).
    pub fn lines(lines: impl BufRead + Send + 'static) -> io::Result<Self> {
        Self::start(Kind::Lines, move || plain::PlainSource::new(lines))
    }

    /// Whether a person types the lines.
    pub fn is_terminal(&self) -> bool {
        self.kind == Kind::Terminal
    }

    fn start<S: Source>(kind: Kind, open: impl FnOnce() -> S + Send + 'static) -> io::Result<Self> {
        let (requests, incoming) = mpsc::channel();
        let (outgoing, replies) = unbounded_channel();
        thread::Builder::new()
            .name("input".to_owned())
            .spawn(move || serve(&mut open(), &incoming, &outgoing))?;
        Ok(Self {
            requests,
            replies,
            is_waiting: false,
            kind,
            stops: Stops::default(),
            held: None,
        })
    }

    /// The next input. `initial` stands on the line to begin with.
    ///
    /// Dropping the future loses nothing: the line goes to who asks next.
    pub async fn read(
        &mut self,
        prompt: &str,
        initial: &str,
        output: &mut Output,
    ) -> Result<Entered, InputError> {
        let (origin, line) = self
            .request(Purpose::Input, prompt, initial, output)
            .await?;
        Ok(match (origin, line) {
            (Origin::ForEditor { rows }, Line::Text(begun)) => Entered::ForEditor { begun, rows },
            (_, line) => Entered::Line(line),
        })
    }

    /// The answer to a question that was just asked.
    pub async fn answer(&mut self, prompt: &str, output: &mut Output) -> Result<Line, InputError> {
        self.edit(prompt, "", output).await
    }

    /// The answer to a question that was just asked, with a text to begin with.
    pub async fn edit(
        &mut self,
        prompt: &str,
        initial: &str,
        output: &mut Output,
    ) -> Result<Line, InputError> {
        let answered = self.request(Purpose::Answer, prompt, initial, output);
        answered.await.map(|(_, line)| line)
    }

    /// Lines exactly as they come, until one is a single `.` or the input ends (Ctrl-D).
    pub async fn paste(&mut self, prompt: &str, output: &mut Output) -> Result<Line, InputError> {
        let mut pasted = Vec::new();
        loop {
            let (_, line) = self.request(Purpose::Verbatim, prompt, "", output).await?;
            match line {
                Line::Text(text) => {
                    let (before, last) = text.rsplit_once('\n').unwrap_or(("", &text));
                    if last == "." {
                        pasted.extend((!before.is_empty()).then(|| before.to_owned()));
                        break;
                    }
                    pasted.push(text);
                }
                Line::Eof => break,
                Line::Cleared | Line::Interrupted => return Ok(Line::Cleared),
            }
        }
        Ok(Line::Text(pasted.join("\n")))
    }

    /// Holds what was typed ahead for the next line, to be sent or not: whoever stops a reply stops what was to follow
    /// it.
    pub fn hold_typed(&mut self) {
        if self.kind == Kind::Terminal && !self.is_waiting {
            let mut ahead = Ahead::of(&self.stops.take());
            // A terminal that cannot be read has nothing typed.
            ahead.fill(io::stdin()).ok();
            let typed = ahead.take_text().unwrap_or_default();
            self.held.get_or_insert_default().push_str(&typed);
        }
    }

    /// Gives up the line that is being typed, if one is: what comes next stands below it.
    pub fn abandon(&self, output: &mut Output) {
        if self.is_waiting && self.kind == Kind::Terminal {
            output.end_typed_line();
        }
    }

    async fn request(
        &mut self,
        purpose: Purpose,
        prompt: &str,
        initial: &str,
        output: &mut Output,
    ) -> Result<(Origin, Line), InputError> {
        output.prepare_for_input();
        if self.kind == Kind::Lines && purpose == Purpose::Answer {
            // A script's log without the question could not explain the answer.
            output.notice(prompt.trim_end());
        }
        // The editor itself would break a question within a word.
        let wrapped = match (self.kind, purpose) {
            (Kind::Terminal, Purpose::Answer) => {
                wrap_prose(prompt.trim_end(), output.columns()) + " "
            }
            _ => prompt.to_owned(),
        };
        let reply = self.reply(purpose, &wrapped, initial).await?;
        if self.kind == Kind::Terminal {
            // The editor switched this off on leaving.
            output.mark_pastes();
        }
        for warning in &reply.warnings {
            output.warning(warning);
        }
        if let (Origin::Ahead, Ok(Line::Text(text))) = (reply.origin, &reply.line) {
            output.echo_input(prompt, &paste::brief(text, paste::Came::Pasted));
        }
        Ok((reply.origin, reply.line?))
    }

    /// Shows a text out of an editor as if it had been typed at the prompt.
    pub fn echo_edited(prompt: &str, text: &str, output: &mut Output) {
        output.echo_input(prompt, &paste::brief(text, paste::Came::Edited));
    }

    /// Asks for a line and waits for it, over any Ctrl-Z.
    async fn reply(
        &mut self,
        purpose: Purpose,
        prompt: &str,
        initial: &str,
    ) -> Result<Reply, InputError> {
        let mut initial = initial.to_owned();
        let held = self.held.take_if(|_| purpose == Purpose::Input);
        let mut is_held = held.is_some();
        initial.push_str(&held.unwrap_or_default());
        loop {
            if !self.is_waiting {
                let request = Request {
                    purpose,
                    prompt: prompt.to_owned(),
                    initial,
                    is_held: std::mem::take(&mut is_held),
                };
                self.requests.send(request).map_err(|_| InputError::Gone)?;
                self.is_waiting = true;
            }
            let reply = self.replies.recv().await.ok_or(InputError::Gone)?;
            self.is_waiting = false;
            match (reply.origin, reply.line) {
                (Origin::Suspended, Ok(Line::Text(begun))) => {
                    self.stops.suspend();
                    initial = begun;
                }
                (_, line) => return Ok(Reply { line, ..reply }),
            }
        }
    }
}

/// The reading thread: ends with the reader, or with the first line nobody waits for any more.
fn serve(
    source: &mut impl Source,
    requests: &mpsc::Receiver<Request>,
    replies: &UnboundedSender<Reply>,
) {
    for request in requests {
        if replies.send(source.read(&request)).is_err() {
            return;
        }
    }
}

impl fmt::Debug for LineReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineReader")
            .field("is_waiting", &self.is_waiting)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use super::*;
    use crate::term::fixture::streams;
    use crate::term::{Device, Policy};
    use crate::testing::Capture;

    fn output() -> (Output, Capture) {
        let told = Capture::default();
        let streams = streams(&told, Device::File, 80);
        (Output::new(streams, Policy::default()), told)
    }

    #[tokio::test]
    async fn a_read_that_was_given_up_loses_no_line() {
        let (pipe, mut writer) = io::pipe().unwrap();
        let mut reader = LineReader::lines(BufReader::new(pipe)).unwrap();
        let (mut output, _) = output();
        tokio::select! {
            biased;
            line = reader.read("> ", "", &mut output) => panic!("{line:?} from an empty pipe"),
            () = std::future::ready(()) => {}
        }
        writer.write_all(b"one\ntwo\n").unwrap();
        drop(writer);
        let mut lines = Vec::new();
        for _ in 0..4 {
            lines.push(reader.read("> ", "", &mut output).await.unwrap());
        }
        let text = |text: &str| Line::Text(text.to_owned());
        let expected = [text("one"), text("two"), Line::Eof, Line::Eof];
        assert_eq!(lines, expected.map(Entered::Line));
    }

    #[tokio::test]
    async fn plain_lines_come_without_prompts_and_warn_of_what_they_could_not_read() {
        let lines = io::Cursor::new(b"/paste\na\n\\\n.\ncaf\xe9\n".to_vec());
        let mut reader = LineReader::lines(lines).unwrap();
        let (mut output, told) = output();
        let command = reader.read("> ", "", &mut output).await.unwrap();
        assert_eq!(command, Entered::Line(Line::Text("/paste".to_owned())));
        let pasted = reader.paste(". ", &mut output).await.unwrap();
        assert_eq!(pasted, Line::Text("a\n\\".to_owned()));
        let odd = reader.read("> ", "", &mut output).await.unwrap();
        assert_eq!(odd, Entered::Line(Line::Text("caf\u{FFFD}".to_owned())));
        assert!(
            told.text()
                .starts_with("warning: line 5 of the input is not UTF-8")
        );
        assert!(!told.text().contains("> "), "{}", told.text());
    }
}
