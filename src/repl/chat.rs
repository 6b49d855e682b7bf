//! The chat: read a line, do what it says, until the person leaves.

use super::ask::{self, After, Asked, Deadline, Person, Question, Shown};
use super::commands::{self, Answer, CommandError, Next, Typed};
use super::desk::{Desk, ReadOnly, Writing};
use super::edit::{Edit, EditError};
use super::holdings::Front;
use super::input::{InputError, LeaveKeys, Line, LineReader, Step};
use super::show::{self, Remedy};
use super::{Signal, Signals};
use crate::agent::{CompactError, CompactReport, Compacting, Warning};
use crate::chat::{Outcome, SessionName};
use crate::hint::{Hint, chain};
use crate::memory::CannotCompact;
use crate::notes::Draft;
use crate::term::{Output, Paint, harmless};

/// A chat from its first line to its last.
#[derive(Debug)]
pub struct Chat<'a> {
    desk: &'a mut Desk,
    input: &'a mut LineReader,
    output: &'a mut Output,
    signals: &'a mut Signals,
    ended: Ended,
    /// To be said when no line is being typed.
    later: Vec<Warning>,
}

/// What a line is wanted for.
enum Wanted<'a> {
    Input(&'a str),
    Answer(&'a str),
    Paste,
}

/// What came of waiting for a line.
enum Heard {
    Line(Line),
    /// The process was told to end.
    Leave,
}

/// How a chat ended; a script that pipes lines in wants to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// Nothing failed, or the person left by a command whatever failed before.
    #[default]
    Well,
    /// A turn failed, or a line was refused.
    WithErrors,
    /// By Ctrl-C, while lines came from a pipe.
    Interrupted,
}

impl<'a> Chat<'a> {
    pub fn new(
        desk: &'a mut Desk,
        input: &'a mut LineReader,
        output: &'a mut Output,
        signals: &'a mut Signals,
    ) -> Self {
        Self {
            desk,
            input,
            output,
            signals,
            ended: Ended::Well,
            later: Vec::new(),
        }
    }

    /// Reads and answers until the input ends or the person leaves.
    pub async fn run(&mut self) -> Ended {
        let mut leave = LeaveKeys::default();
        loop {
            for warning in self.later.drain(..) {
                show::warning(self.output, &warning);
            }
            self.take_in_servers();
            let prompt = format!("{}> ", self.desk.agent.memory().mode().name);
            self.output.gap();
            let line = match self.hear(Wanted::Input(&prompt)).await {
                Ok(Heard::Line(line)) => line,
                Ok(Heard::Leave) => return self.ended,
                Err(error @ InputError::TooLong { .. }) => {
                    self.refuse(&error);
                    continue;
                }
                Err(error) => {
                    self.refuse(&error);
                    return self.ended;
                }
            };
            self.desk.columns = self.output.columns();
            if line == Line::Interrupted && !self.input.is_terminal() {
                return Ended::Interrupted;
            }
            let after = match (leave.step(&line), line) {
                (Step::Leave, _) => After::Leave,
                (Step::Warn, _) => {
                    self.output.notice("press Ctrl-C again or Ctrl-D to quit");
                    After::GoOn
                }
                (Step::Continue, Line::Text(text)) => self.line(&text).await,
                (Step::Continue, Line::Cleared | Line::Interrupted | Line::Eof) => After::GoOn,
            };
            if after == After::Leave || self.output.failure().is_some() {
                return self.ended;
            }
        }
    }

    /// The next line, or that the process was told to end while one was being typed.
    async fn hear(&mut self, wanted: Wanted<'_>) -> Result<Heard, InputError> {
        let Self {
            desk,
            input,
            output,
            signals,
            later,
            ..
        } = self;
        // An editor that reads keys sees Ctrl-C itself; a pipe or a dumb terminal does not.
        let interrupts = !input.is_terminal() || output.policy().paint == Paint::Bare;
        let reading = async {
            match wanted {
                Wanted::Input(prompt) => input.read(prompt, "", output).await,
                Wanted::Answer(question) => input.answer(question, output).await,
                Wanted::Paste => input.paste("... ", output).await,
            }
        };
        let heard = {
            let mut reading = std::pin::pin!(reading);
            loop {
                tokio::select! {
                    biased;
                    line = &mut reading => break Some(line),
                    // Slow work that is done is taken in at once, so that it is on disk before the next kill.
                    warning = desk.agent.job_done() => later.extend(warning),
                    signal = signals.next() => match signal {
                        Signal::Interrupt if interrupts => break Some(Ok(Line::Interrupted)),
                        Signal::Interrupt => {}
                        Signal::Terminate | Signal::Hangup => break None,
                    },
                }
            }
        };
        let Some(line) = heard else {
            input.abandon(output);
            return Ok(Heard::Leave);
        };
        line.map(Heard::Line)
    }

    async fn line(&mut self, text: &str) -> After {
        match commands::parse(text) {
            Typed::Message(_) if self.desk.places.writing == Writing::Refused => {
                self.answer(Err(ReadOnly.into()))
            }
            Typed::Nothing => After::GoOn,
            Typed::Message(message) => self.ask(Question::New(message.to_owned().into())).await,
            Typed::Command(name, arguments) => self.command(name, arguments).await,
        }
    }

    async fn command(&mut self, name: &str, arguments: &str) -> After {
        let command = match commands::find(name) {
            Ok(command) => command,
            Err(error) => {
                self.refuse(&error);
                return After::GoOn;
            }
        };
        if self.desk.places.writing == Writing::Refused && !command.only_shows(arguments) {
            return self.answer(Err(ReadOnly.into()));
        }
        let running = (command.run)(self.desk, arguments);
        let next = tokio::select! {
            biased;
            next = running => next,
            // Commands change things only in their last step, so that dropping one undoes nothing.
            signal = self.signals.next() => {
                self.output.notice("interrupted; nothing changed");
                return if signal == Signal::Interrupt { After::GoOn } else { After::Leave };
            }
        };
        match next {
            Ok(Next::Confirm(question, deed)) => self.confirm(&question, deed).await,
            Ok(Next::WhichSession { existing, new }) => self.which_session(&existing, &new).await,
            Ok(Next::Diff(diff)) => {
                self.output.change(&diff);
                After::GoOn
            }
            Ok(Next::Edit(draft)) => self.edit(draft).await,
            Ok(Next::Retry) => self.ask(Question::Again).await,
            Ok(Next::Think(task)) => self.ask(Question::Think(task.into())).await,
            Ok(Next::Compact(what, focus)) => self.compact(what, &focus).await,
            Ok(Next::Paste) => self.paste().await,
            Ok(Next::Leave) => {
                self.ended = Ended::Well;
                After::Leave
            }
            Ok(Next::Answer(answer)) => self.answer(Ok(answer)),
            Ok(Next::Refuted(text, problem)) => {
                self.output.prose(&text);
                self.refuse(&problem);
                After::GoOn
            }
            Err(error) => self.answer(Err(error)),
        }
    }

    fn answer(&mut self, answer: Result<Answer, CommandError>) -> After {
        match answer {
            Ok(Answer { text, warning }) => {
                self.output.prose(&text);
                if let Some(warning) = warning {
                    show::warning(self.output, &warning);
                }
            }
            Err(error) => self.refuse(&error),
        }
        After::GoOn
    }

    async fn edit(&mut self, draft: Draft) -> After {
        let places = &self.desk.places;
        let notebook = self.desk.agent.notebook();
        let edited = match notebook.filter(|_| self.input.is_terminal()) {
            None => Err(EditError::NoTerminal { path: draft.path }),
            Some(notebook) => {
                let edit = Edit {
                    draft: &draft,
                    workspace: &notebook.workspace,
                    disk: places.disk.as_ref(),
                    folder: places.data.join("editing"),
                    session: self.desk.session().name(),
                };
                edit.run(places.editor.as_deref()).await
            }
        };
        match edited {
            Ok(told) => self.output.notice(&told),
            Err(error) => self.refuse(&error),
        }
        After::GoOn
    }

    fn refuse<E: std::error::Error + Hint>(&mut self, error: &E) {
        self.ended = Ended::WithErrors;
        self.output.error(&chain(error), error.hint().as_deref());
    }

    /// Between turns and before each, so that a turn has one set of tools from its begin to its end.
    fn take_in_servers(&mut self) {
        for change in self.desk.take_in_servers() {
            show::server(self.output, &change, Remedy::Restart);
        }
    }

    async fn ask(&mut self, question: Question) -> After {
        self.take_in_servers();
        let person = match &mut self.desk.questions {
            Some(questions) => Person::At {
                input: self.input,
                questions,
            },
            None => Person::Nobody,
        };
        let Asked {
            result,
            after,
            timed_out,
            thinking,
        } = ask::ask(
            &mut self.desk.agent,
            question,
            Shown::AsItArrives(Front::Chat),
            person,
            self.desk.turn_timeout.and_then(Deadline::after),
            self.output,
            self.signals,
        )
        .await;
        self.desk.thinking = thinking;
        match result {
            Ok(Ok(report)) if report.outcome == Outcome::Interrupted => match timed_out {
                None => show::interrupted(self.output, &report),
                Some(error) => {
                    self.ended = Ended::WithErrors;
                    show::timed_out(self.output, error, &report);
                }
            },
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                self.ended = Ended::WithErrors;
                show::failure(self.output, &error);
            }
            Err(no_turn) => {
                self.ended = Ended::WithErrors;
                self.output.error(&no_turn.to_string(), None);
            }
        }
        after
    }

    async fn compact(&mut self, what: Compacting, focus: &str) -> After {
        let agent = &mut self.desk.agent;
        let ran = agent.job_name();
        let (result, after) = ask::compact(agent, what, focus, self.output, self.signals).await;
        if let Some(name) = ran.filter(|_| agent.job_name().is_none()) {
            self.output.notice(&given_up(name, result.is_ok()));
        }
        match result {
            Ok(report) => self.output.prose(&compacted(&report, focus)),
            Err(CompactError::Cannot(
                error @ (CannotCompact::Nothing
                | CannotCompact::AllStays(_)
                | CannotCompact::NoResults
                | CannotCompact::WindowHoldsAll),
            )) => {
                self.output.notice(&error.to_string());
            }
            Err(error) => {
                self.ended = Ended::WithErrors;
                self.output
                    .error(&format!("not compacted: {error}"), error.hint().as_deref());
            }
        }
        after
    }

    async fn confirm(&mut self, question: &str, deed: commands::Deed) -> After {
        let prompt = format!("{question} [y/N] ");
        let yes = match self.hear(Wanted::Answer(&prompt)).await {
            Ok(Heard::Leave) => return After::Leave,
            Ok(Heard::Line(Line::Text(answer))) => {
                matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
            }
            Ok(Heard::Line(Line::Cleared | Line::Interrupted | Line::Eof)) | Err(_) => false,
        };
        if !yes {
            self.output.notice("cancelled; nothing changed");
            return After::GoOn;
        }
        let done = deed.run(self.desk);
        self.answer(done)
    }

    async fn which_session(&mut self, existing: &SessionName, new: &SessionName) -> After {
        let prompt = format!("No session {new}. Did you mean {existing}? [Y/n = create {new}] ");
        let answer = match self.hear(Wanted::Answer(&prompt)).await {
            Ok(Heard::Leave) => return After::Leave,
            Ok(Heard::Line(Line::Text(answer))) => Some(answer.trim().to_lowercase()),
            Ok(Heard::Line(Line::Cleared | Line::Interrupted | Line::Eof)) | Err(_) => None,
        };
        let chosen = match answer.as_deref() {
            Some("" | "y" | "yes") => existing,
            Some("n" | "no") => new,
            Some(_) | None => {
                self.output.notice("cancelled; nothing changed");
                return After::GoOn;
            }
        };
        let opened = commands::open_session(self.desk, chosen);
        self.answer(opened)
    }

    async fn paste(&mut self) -> After {
        self.output
            .notice("enter several lines; end with a single dot on a line, or Ctrl-D");
        match self.hear(Wanted::Paste).await {
            Ok(Heard::Line(Line::Text(text))) if !text.trim().is_empty() => {
                self.ask(Question::New(text.into())).await
            }
            Ok(Heard::Line(_)) => After::GoOn,
            Ok(Heard::Leave) => After::Leave,
            Err(error) => {
                self.refuse(&error);
                After::GoOn
            }
        }
    }
}

/// What became of what was being written in the background.
fn given_up(name: &str, is_done: bool) -> String {
    let after = if is_done {
        "in favour of this one"
    } else {
        "; it restarts after the next turn if due"
    };
    let gap = if is_done { " " } else { "" };
    format!("cancelled the background {name}{gap}{after}")
}

/// What shrank (O16).
fn compacted(report: &CompactReport, wish: &str) -> String {
    let CompactReport {
        before,
        after,
        warning,
    } = report;
    let mut text = format!(
        "Compacted: {} messages -> {} messages, {} -> {} tokens; undo with `/compact undo`",
        before.messages, after.messages, before.tokens, after.tokens
    );
    if !wish.is_empty() {
        text = format!("{text}; focus: {}", harmless(wish));
    }
    if let Some(warning) = warning {
        text = format!("{text}\n{warning}");
    }
    text
}
