//! The chat: read a line, do what it says, until the person leaves.

mod compaction;
mod sessions;
mod turns;

use std::time::Duration;

use tokio::time::timeout;

use super::ask::{After, Question};
use super::commands::{self, Answer, CommandError, Next, Typed};
use super::edit::{Edit, EditError};
use super::input::{Entered, InputError, LeaveKeys, Line, LineReader, Step};
use super::listing::count;
use super::memory_view::Caller;
use super::repl_context::{ReadOnly, ReplContext, Writing};
use super::shell;
use super::show::{self, Remedy};
use super::{Signal, Signals};
use crate::agent::Warning;
use crate::hint::{Hint, chain};
use crate::long_term::notes::Draft;
use crate::term::{Output, Paint};
use crate::tools::mcp::Change;
use crate::tools::policy;

/// A chat from its first line to its last.
#[derive(Debug)]
pub struct Chat<'a> {
    repl: &'a mut ReplContext,
    input: &'a mut LineReader,
    output: &'a mut Output,
    signals: &'a mut Signals,
    ended: Ended,
    /// To be said when no line is being typed.
    later: Vec<Warning>,
    /// What became of servers, to be said above the next prompt.
    servers: Vec<Change>,
}

/// What a line is wanted for.
enum Wanted<'a> {
    /// The prompt, and what stands behind it to begin with.
    Input(&'a str, &'a str),
    Answer(&'a str),
    Paste,
}

/// What came of waiting for a line.
enum Heard {
    Entered(Entered),
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
        repl: &'a mut ReplContext,
        input: &'a mut LineReader,
        output: &'a mut Output,
        signals: &'a mut Signals,
    ) -> Self {
        Self {
            repl,
            input,
            output,
            signals,
            ended: Ended::Well,
            later: Vec::new(),
            servers: Vec::new(),
        }
    }

    /// Reads and answers until the input ends or the person leaves.
    pub async fn run(&mut self) -> Ended {
        let mut leave = LeaveKeys::default();
        self.wait_for_servers().await;
        loop {
            for warning in self.later.drain(..) {
                show::warning(self.output, &warning, Caller::Chat);
            }
            self.take_in_servers();
            // Without a model there is nobody to call their tools.
            if !self.repl.agent.provider().is_offline() {
                for change in self.servers.drain(..) {
                    show::server(self.output, &change, Remedy::ReadLog);
                }
            }
            let prompt = prompt(self.repl);
            self.output.gap();
            let line = match self.next_line(&prompt).await {
                Ok(Some(line)) => line,
                Ok(None) => return self.ended,
                Err(error @ InputError::TooLong { .. }) => {
                    self.refuse(&error);
                    continue;
                }
                Err(error) => {
                    self.refuse(&error);
                    return self.ended;
                }
            };
            self.repl.env.columns = self.output.columns();
            if line == Line::Interrupted && !self.input.is_terminal() {
                return Ended::Interrupted;
            }
            let after = match (leave.step(&line), line) {
                (Step::Leave, _) => After::Leave,
                (Step::Warn, _) => {
                    self.output.notice("Press Ctrl-C again or Ctrl-D to quit");
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

    /// Returns the next line, also by way of an editor (Ctrl-X Ctrl-E); `None`: the process was told to end.
    async fn next_line(&mut self, prompt: &str) -> Result<Option<Line>, InputError> {
        let mut begun = String::new();
        loop {
            match self.hear(Wanted::Input(prompt, &begun)).await? {
                Heard::Entered(Entered::Line(line)) => return Ok(Some(line)),
                Heard::Entered(Entered::ForEditor { begun: text, rows }) => {
                    self.output.take_back(rows);
                    let editor = &self.repl.env.places.editor;
                    begun = match editor.edit(&text, self.signals).await {
                        Ok(edited) => edited,
                        Err(error) => {
                            self.output.error(&chain(&error), error.hint().as_deref());
                            if self.signals.is_told_to_end() {
                                return Ok(None);
                            }
                            text
                        }
                    };
                }
                Heard::Leave => return Ok(None),
            }
        }
    }

    /// Returns what a question of the program's own is answered; `None`: the process was told to end.
    async fn answer_to(&mut self, question: &str) -> Option<Option<String>> {
        match self.hear(Wanted::Answer(question)).await {
            Ok(Heard::Leave) => None,
            Ok(Heard::Entered(Entered::Line(Line::Text(answer)))) => Some(Some(answer)),
            Ok(Heard::Entered(_)) | Err(_) => Some(None),
        }
    }

    /// The next line, or that the process was told to end while one was being typed.
    async fn hear(&mut self, wanted: Wanted<'_>) -> Result<Heard, InputError> {
        let Self {
            repl,
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
                Wanted::Input(prompt, begun) => input.read(prompt, begun, output).await,
                Wanted::Answer(question) => input.answer(question, output).await.map(Entered::Line),
                Wanted::Paste => input.paste("... ", output).await.map(Entered::Line),
            }
        };
        let heard = {
            let mut reading = std::pin::pin!(reading);
            loop {
                tokio::select! {
                    biased;
                    line = &mut reading => break Some(line),
                    // Slow work that is done is taken in at once, so that it is on disk before the next kill.
                    warning = repl.agent.job_done() => later.extend(warning),
                    signal = signals.next() => match signal {
                        Signal::Interrupt if interrupts => break Some(Ok(Entered::Line(Line::Interrupted))),
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
        line.map(Heard::Entered)
    }

    async fn line(&mut self, text: &str) -> After {
        match commands::parse(text) {
            Typed::Message(_) if self.repl.env.places.writing == Writing::Refused => {
                self.answer(Err(ReadOnly.into()))
            }
            Typed::Nothing => After::GoOn,
            Typed::Message(message) => self.ask(Question::New(message.to_owned().into())).await,
            Typed::Command(name, arguments) => self.command(name, arguments).await,
            Typed::Shell(command) => self.shell(command).await,
        }
    }

    /// Runs a command; its output goes with the next message.
    async fn shell(&mut self, command: &str) -> After {
        if self.repl.env.places.writing == Writing::Refused {
            return self.answer(Err(ReadOnly.into()));
        }
        let toolbox = self.repl.agent.toolbox();
        if toolbox.stance.writing == policy::Writing::Refused {
            self.ended = Ended::WithErrors;
            self.output
                .error("this run is read-only: commands are disabled", None);
            return After::GoOn;
        }
        if command.is_empty() {
            self.output.notice(shell::USAGE);
            return After::GoOn;
        }
        let limits = toolbox.limits;
        let (ran, after) = shell::run(&self.repl.shell, command, self.output, self.signals).await;
        match ran {
            Ok(None) => {
                self.ended = Ended::WithErrors;
                self.output.error(
                    "the command needs a terminal of its own",
                    Some("run it in another terminal; `/edit` and Ctrl-X Ctrl-E open your editor"),
                );
            }
            Ok(Some(ran)) => {
                let notes = ran.notes.trim_end();
                if !notes.is_empty() {
                    self.output.notice(notes);
                }
                let printed = if ran.printed.is_empty() {
                    ", no output"
                } else {
                    ""
                };
                self.output.notice(&format!(
                    "{}{printed}; it goes to the model with your next message",
                    ran.end
                ));
                self.repl.ran.push(shell::attached(command, &ran, limits));
            }
            Err(failure) => {
                self.ended = Ended::WithErrors;
                self.output.error(
                    &failure.to_string(),
                    Some("`cogtrix doctor` checks the sandbox; `--sandbox off` runs commands without it"),
                );
            }
        }
        after
    }

    async fn command(&mut self, name: &str, arguments: &str) -> After {
        let command = match commands::find(name) {
            Ok(command) => command,
            Err(error) => {
                self.refuse(&error);
                return After::GoOn;
            }
        };
        if self.repl.env.places.writing == Writing::Refused && !command.only_shows(arguments) {
            return self.answer(Err(ReadOnly.into()));
        }
        let running = (command.run)(self.repl, arguments);
        let next = tokio::select! {
            biased;
            next = running => next,
            // Commands change things only in their last step, so that dropping one undoes nothing.
            signal = self.signals.next() => {
                self.output.notice("Interrupted; nothing changed");
                return if signal == Signal::Interrupt { After::GoOn } else { After::Leave };
            }
        };
        match next {
            Ok(Next::Confirm(question, deed)) => self.confirm(&question, deed).await,
            Ok(Next::PickSession) => self.pick_session().await,
            Ok(Next::OpenSession(name)) => self.open_session(name).await,
            Ok(Next::WhichSession { existing, new }) => self.which_session(&existing, &new).await,
            Ok(Next::Diff(diff)) => {
                self.output.change(&diff);
                After::GoOn
            }
            Ok(Next::Copy { what, text }) => {
                match self.output.copy(&text) {
                    Ok(()) => {
                        let chars = count(text.chars().count(), "character");
                        let tmux = if self.output.policy().features.is_tmux {
                            "; tmux needs `set -g set-clipboard on`"
                        } else {
                            ""
                        };
                        let sent =
                            format!("Sent {what} ({chars}) to the terminal's clipboard{tmux}");
                        self.output.answer(&sent);
                    }
                    Err(error) => self.refuse(&error),
                }
                After::GoOn
            }
            Ok(Next::Edit(draft)) => self.edit(draft).await,
            Ok(Next::EditMessage(message)) => self.edit_message(&message).await,
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
                self.output.answer(&text);
                self.refuse(&problem);
                After::GoOn
            }
            Err(error) => self.answer(Err(error)),
        }
    }

    fn answer(&mut self, answer: Result<Answer, CommandError>) -> After {
        match answer {
            Ok(Answer { text, warning }) => {
                self.output.answer(&text);
                if let Some(warning) = warning {
                    show::warning(self.output, &warning, Caller::Chat);
                }
            }
            Err(error) => self.refuse(&error),
        }
        After::GoOn
    }

    async fn edit(&mut self, draft: Draft) -> After {
        let places = &self.repl.env.places;
        let long_term = self.repl.agent.long_term();
        let edited = match long_term.filter(|_| self.input.is_terminal()) {
            None => Err(EditError::NoTerminal { path: draft.path }),
            Some(long_term) => {
                let edit = Edit {
                    draft: &draft,
                    workspace: &long_term.workspace,
                    disk: places.disk.as_ref(),
                    folder: places.data.join("editing"),
                    session: self.repl.session().name(),
                };
                edit.run(places.editor.command.as_deref(), self.signals)
                    .await
            }
        };
        match edited {
            Ok(told) => self.output.notice(&told),
            Err(error) => self.refuse(&error),
        }
        self.after_editor()
    }

    fn after_editor(&self) -> After {
        if self.signals.is_told_to_end() {
            After::Leave
        } else {
            After::GoOn
        }
    }

    /// Sends a message as the person's editor leaves it, where that is another one.
    async fn edit_message(&mut self, message: &str) -> After {
        if !self.input.is_terminal() {
            self.refuse(&EditError::NoTerminalForText);
            return After::GoOn;
        }
        let editor = &self.repl.env.places.editor;
        let edited = editor.edit(message, self.signals).await;
        match edited {
            Ok(edited) if edited.trim().is_empty() || edited.trim() == message.trim() => {
                self.output.notice("Unchanged; nothing was sent");
                After::GoOn
            }
            Ok(edited) => {
                LineReader::echo_edited(&prompt(self.repl), edited.trim(), self.output);
                self.ask(Question::New(edited.trim().to_owned().into()))
                    .await
            }
            Err(error) => {
                self.refuse(&error);
                self.after_editor()
            }
        }
    }

    fn refuse<E: std::error::Error + Hint>(&mut self, error: &E) {
        self.ended = Ended::WithErrors;
        self.output.error(&chain(error), error.hint().as_deref());
    }

    /// Waits a moment, so that a server that cannot be started is told of above the first prompt.
    async fn wait_for_servers(&self) {
        const MOMENT: Duration = Duration::from_millis(200);
        if let Some(servers) = &self.repl.servers
            && self.input.is_terminal()
        {
            // Whoever takes longer is told of later.
            timeout(MOMENT, servers.settled()).await.ok();
        }
    }

    /// Between turns and before each, so that a turn has one set of tools from its begin to its end.
    fn take_in_servers(&mut self) {
        self.servers.extend(self.repl.take_in_servers());
    }

    async fn confirm(&mut self, question: &str, deed: commands::Deed) -> After {
        let prompt = format!("{question} [y/N] ");
        let Some(answer) = self.answer_to(&prompt).await else {
            return After::Leave;
        };
        let is_yes = |answer: &str| matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
        if !answer.as_deref().is_some_and(is_yes) {
            self.output.notice("Cancelled; nothing changed");
            return After::GoOn;
        }
        let done = deed.run(self.repl);
        self.answer(done)
    }

    async fn paste(&mut self) -> After {
        self.output
            .notice("Enter several lines; end with a single dot on a line, or Ctrl-D");
        match self.hear(Wanted::Paste).await {
            Ok(Heard::Entered(Entered::Line(Line::Text(text)))) if !text.trim().is_empty() => {
                self.ask(Question::New(text.into())).await
            }
            Ok(Heard::Entered(_)) => After::GoOn,
            Ok(Heard::Leave) => After::Leave,
            Err(error) => {
                self.refuse(&error);
                After::GoOn
            }
        }
    }
}

/// The mode, that nothing can be written, and how full the context is once that matters.
fn prompt(repl: &ReplContext) -> String {
    const FULL: f64 = 60.0;
    let mut prompt = repl.agent.memory().mode().name.clone();
    if repl.env.places.writing == Writing::Refused {
        prompt.push_str(" read-only");
    }
    let usage = repl.agent.window_use();
    if let Some(usage) = usage.filter(|usage| usage.percent_used >= FULL) {
        prompt.push_str(&format_args!(" {:.0}%", usage.percent_used.floor()).to_string());
    }
    prompt + "> "
}
