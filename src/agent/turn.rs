//! The turn: the person's words in, recorded; the reply out, recorded.

use std::borrow::Cow;

use tokio_util::sync::CancellationToken;

use super::event::{Observer, TurnContext, Warning};
use super::model_loop::Conversed;
use super::recall::Lookup;
use super::undo::TakenBack;
use super::{Agent, NoTurn, Running};
use crate::chat::{Attached, Message, Outcome, Part, Record, Role, TurnId, Usage, Withdrawal};
use crate::context::DoesNotFit;
use crate::hint::{Hint, chain};
use crate::index::News;
use crate::memory::report::DEEP_THINK;
use crate::provider::ProviderError;
use crate::text::lines::clipped;
use crate::tools::files::{ChangesError, Restored};

/// What a turn is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Replying,
    Thinking,
}

impl Doing {
    /// Under whose name the last message of the turn is kept: by it a report is known, and a retry thinks again.
    fn speaker(self) -> Option<&'static str> {
        match self {
            Self::Replying => None,
            Self::Thinking => Some(DEEP_THINK),
        }
    }
}

/// What a turn begins with.
struct Said {
    message: Message,
    /// The person's own words of it, where they are new: what is worth keeping of them is written down.
    own: Option<Message>,
}

/// A turn that ended with a reply, or that the person ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnReport {
    pub outcome: Outcome,
    /// The reply; of an interrupted turn what had arrived.
    pub text: String,
    /// Whether anything of a reply was shown and kept.
    pub partial: bool,
    pub usage: Option<Usage>,
}

/// A turn without a complete reply. It is in history all the same, closed, and `/retry` asks again.
#[derive(Debug, thiserror::Error)]
#[error("no reply")]
pub struct TurnError {
    #[source]
    pub failure: TurnFailure,
    /// Whether part of a reply was shown and kept.
    pub partial: bool,
}

/// Why there is no complete reply.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TurnFailure {
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    DoesNotFit(#[from] DoesNotFit),
    #[error("the model sent an empty reply")]
    Empty,
    #[error("the server refused to answer this")]
    Filtered,
    #[error("stopped after {steps} rounds of tool calls")]
    TooManySteps { steps: usize },
    #[error("no approach found: could not parse the model's reply")]
    NoApproach,
    #[error("stopped: the same {tool} call failed three times")]
    Stuck { tool: String },
}

impl Hint for TurnFailure {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Provider(error) => {
                let hint = error.hint()?;
                let hint = match hint.as_ref() {
                    "try again" => return Some("`/retry` tries again".into()),
                    "wait a moment and try again" => {
                        return Some("wait a moment, then `/retry`".into());
                    }
                    // No running program learns of a new variable.
                    export if export.starts_with("export ") => {
                        return Some(format!("quit, {export}, then `cogtrix --continue`").into());
                    }
                    _ => hint,
                };
                let joint = if hint.ends_with('?') { " " } else { "; " };
                Some(format!("{hint}{joint}`/retry` tries again").into())
            }
            Self::DoesNotFit(error) => error.hint(),
            Self::NoApproach => Some("`/retry` tries again; another model may do better".into()),
            Self::Empty => Some("`/retry` tries again".into()),
            Self::Filtered => Some("rephrase it".into()),
            Self::TooManySteps { .. } => Some(
                "say \"go on\" to continue; `tools.max_steps` in the config file sets the limit"
                    .into(),
            ),
            Self::Stuck { .. } => {
                Some("say what it should do instead; `/details` shows what it tried".into())
            }
        }
    }
}

impl Agent {
    /// Asks the model. However this ends, the turn is recorded and closed before it returns.
    pub async fn turn(
        &mut self,
        input: impl Into<Input>,
        observe: &mut Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let context = TurnContext::new(observe, cancel);
        self.take_turn(input.into(), Doing::Replying, context).await
    }

    /// Thinks a question through (C70). However this ends, the turn is recorded and closed before it returns.
    pub async fn think(
        &mut self,
        task: Input,
        observe: &mut Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let context = TurnContext::new(observe, cancel);
        self.take_turn(task, Doing::Thinking, context).await
    }

    async fn take_turn(
        &mut self,
        input: Input,
        doing: Doing,
        mut context: TurnContext<'_>,
    ) -> Result<TurnReport, TurnError> {
        self.warned.begin_turn();
        let said = self.said(input, &mut context).await;
        self.run(said, doing, &mut context).await
    }

    /// What the person says, with the files it mentions.
    async fn said(&mut self, mut input: Input, context: &mut TurnContext<'_>) -> Said {
        let at = Some(self.clock.now());
        let attached = self.attached(input.typed(), context).await;
        let with_it = input.take_attached().into_iter().map(Part::Attached);
        let id = self.session().next_message_id(0);
        let own = Message::text(id.clone(), Role::User, input.typed(), at);
        let mut message = Message::text(id, Role::User, input.into_text(), at);
        message.parts.extend(attached);
        message.parts.extend(with_it);
        Said {
            message,
            own: Some(own),
        }
    }

    /// Asks the last question again; the turn that asked it before is taken out of what is sent (C86), and the files
    /// that its tools changed are brought back.
    /// The question keeps the time at which it was first put (C30), and the files that go with it as they were then.
    pub async fn retry(
        &mut self,
        observe: &mut Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<Result<TurnReport, TurnError>, NoTurn> {
        let mut context = TurnContext::new(observe, cancel);
        self.take_in_forgotten();
        let asked = self.session().live_turns().next_back();
        let reply = asked.and_then(|turn| self.session().messages_of(turn).last());
        let doing = match reply.and_then(Message::speaker) {
            // Without a model nothing can be thought through, only answered.
            Some(DEEP_THINK) if !self.provider.is_offline() => Doing::Thinking,
            Some(_) | None => Doing::Replying,
        };
        let asked = asked.map(|turn| self.session().messages_of(turn)[0].clone());
        let at = asked.as_ref().and_then(|asked| asked.at);
        // Saved with the record that begins the turn, so that no kill leaves the question in no view at all.
        let TakenBack { input, files } = self.take_back(Withdrawal::Retried)?;
        self.warned.begin_turn();
        tell_of_files(files, &mut context);
        let at = at.or_else(|| Some(self.clock.now()));
        let mut message = Message::text(self.session().next_message_id(0), Role::User, input, at);
        let parts = asked.into_iter().flat_map(|asked| asked.parts);
        let attached = parts.filter(|part| matches!(part, Part::Attached(_) | Part::Image(_)));
        message.parts.extend(attached);
        // What is worth keeping of it was written down when it was said first.
        let said = Said { message, own: None };
        Ok(self.run(said, doing, &mut context).await)
    }

    async fn run(
        &mut self,
        said: Said,
        doing: Doing,
        context: &mut TurnContext<'_>,
    ) -> Result<TurnReport, TurnError> {
        let Said {
            message: input,
            own,
        } = said;
        let turn = self.begin(&input, context).await;
        self.write_down(own, context).await;
        let lookup = self.gather(&input, context).await;
        let conversed = match doing {
            Doing::Replying => self.converse(turn, &input, &lookup, context).await,
            Doing::Thinking => self.ponder(&input, &lookup, context).await,
        };
        let report = self.finish(turn, doing, conversed, context);
        self.note_turn(turn, context).await;
        self.schedule(context).await;
        report
    }

    /// Takes in what was done since the last turn, and records the input.
    async fn begin(&mut self, input: &Message, context: &mut TurnContext<'_>) -> TurnId {
        let turn = self.session().next_turn();
        let mode = self.memory.mode().name.clone();
        let model = self.provider.model().to_string();
        tracing::info!(%turn, mode, model, "turn started");
        self.toolbox.registry.begin_turn();
        self.compacted_now = 0..0;
        context.warn_all(self.take_in_forgotten());
        context.warn_all(self.take_in_finished().await);
        let input = input.clone();
        let begun = Record::TurnStarted {
            turn,
            input,
            mode,
            model,
        };
        self.record(begun, context);
        turn
    }

    /// Gathers what is to stand beside the input, as far as it gets before the turn is cancelled.
    async fn gather(&mut self, input: &Message, context: &mut TurnContext<'_>) -> Lookup {
        let cancel = context.cancel;
        let gathering = async {
            self.read_notes(input, context).await;
            let (lookup, warning) = self.look_up(input).await;
            context.warn_all(warning);
            self.relate(input, context).await;
            self.settle_pictures(input, context).await;
            lookup
        };
        let gathered = cancel.run_until_cancelled(gathering).await;
        gathered.unwrap_or_default()
    }

    /// Begins the work that no reply waits for, and awaits it where the run is to end with it.
    async fn schedule(&mut self, context: &mut TurnContext<'_>) {
        if let Some(index) = &mut self.index {
            index.turn_over();
        }
        let news = self.begin_jobs();
        // A whole history to be indexed is nothing to wait for.
        let waits = self.settings.jobs == Running::Foreground
            && !matches!(news, Some(Warning::Recall(News::Indexing { .. })));
        context.warn_all(news);
        while waits
            && self.is_working()
            && let Some(warning) = context.cancel.run_until_cancelled(self.job_done()).await
        {
            context.warn_all(warning);
        }
    }

    pub(super) fn record(&mut self, record: Record, context: &mut TurnContext<'_>) {
        self.ledger.apply(record);
        self.save(context);
    }

    fn save(&mut self, context: &mut TurnContext<'_>) {
        context.warn_all(match self.ledger.save() {
            Ok(()) => self.warned.of_saved(),
            Err(error) => self.warned.of_refusal(&error),
        });
    }

    fn finish(
        &mut self,
        turn: TurnId,
        doing: Doing,
        conversed: Conversed,
        context: &mut TurnContext<'_>,
    ) -> Result<TurnReport, TurnError> {
        let Conversed {
            text,
            outcome,
            failure,
            usage,
            calibration,
        } = conversed;
        let reason = failure
            .as_ref()
            .map_or_else(|| "interrupted".to_owned(), short);
        let partial = !text.trim().is_empty();
        let tokens = usage.and_then(|usage| usage.prompt).map(|tokens| tokens.0);
        tracing::info!(%turn, outcome = outcome.as_str(), failure = failure.as_ref().map(short), tokens, "turn finished");
        let closed = outcome.closing(&text, &reason);
        let at = Some(self.clock.now());
        let id = self.session().next_message_id(0);
        let reply = Message {
            speaker: doing.speaker().map(Into::into),
            ..Message::text(id, Role::Assistant, closed, at)
        };
        self.ledger.apply(Record::TurnFinished {
            turn,
            messages: vec![reply],
            outcome,
            calibration,
        });
        if let Some(turn) = self.session().turns().last().cloned() {
            let states = self.memory.update(self.ledger.session(), &turn);
            self.ledger.apply(states);
        }
        self.bill();
        self.save(context);
        match failure {
            None => Ok(TurnReport {
                outcome,
                text,
                partial,
                usage,
            }),
            Some(failure) => Err(TurnError { failure, partial }),
        }
    }
}

/// What became of the files of the first try.
fn tell_of_files(files: Result<Restored, ChangesError>, context: &mut TurnContext<'_>) {
    match files {
        Ok(restored) => {
            for line in restored.lines() {
                context.warn(Warning::FileTakenBack { line });
            }
        }
        Err(error) => context.warn(Warning::FilesStay { why: chain(&error) }),
    }
}

/// A failure in so few words that it can stand in history.
fn short(failure: &TurnFailure) -> String {
    clipped(&failure.to_string(), 160)
}

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    text: String,
    /// Bytes from the start in which mentions of files count.
    typed: usize,
    attached: Vec<Attached>,
}

impl Input {
    /// A prompt, and text that was piped in beside it: nobody looked there for what it mentions.
    pub fn with_piped(prompt: &str, piped: &str) -> Self {
        Self {
            text: format!("{prompt}\n\n{piped}"),
            typed: prompt.len(),
            attached: Vec::new(),
        }
    }

    /// The same with texts that go with it.
    #[must_use]
    pub fn with_attached(self, attached: Vec<Attached>) -> Self {
        Self { attached, ..self }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn into_text(self) -> String {
        self.text
    }

    pub(super) fn take_attached(&mut self) -> Vec<Attached> {
        std::mem::take(&mut self.attached)
    }

    pub(super) fn typed(&self) -> &str {
        &self.text[..self.typed]
    }
}

impl From<String> for Input {
    fn from(text: String) -> Self {
        let typed = text.len();
        Self {
            text,
            typed,
            attached: Vec::new(),
        }
    }
}
