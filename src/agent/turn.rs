//! The turn: the person's words in, recorded; the reply out, recorded.

use std::borrow::Cow;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::event::{Observer, TurnEvent, Warning};
use super::recalling::Lookup;
use super::reply::{self, End, Reply};
use super::shelf::News;
use super::{Agent, LastRequest, NoTurn, Running};
use crate::chat::{Calibration, Message, Outcome, Record, Role, Tokens, TurnId, Usage, Withdrawal};
use crate::context::{self, Budget, ContextPlan, DoesNotFit, TokenUsage};
use crate::hint::Hint;
use crate::memory::Surroundings;
use crate::provider::{Abilities, ChatRequest, FinishReason, ProviderError, Purpose};

/// A turn that ended with a reply, or that the person ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnReport {
    pub outcome: Outcome,
    /// The reply as it is kept; of an interrupted turn, what had arrived and the mark that closes it.
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
}

impl Hint for TurnFailure {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Provider(error) => error.hint(),
            Self::DoesNotFit(error) => error.hint(),
            Self::Empty => Some("`/retry` asks again".into()),
            Self::Filtered => Some("say it in other words".into()),
        }
    }
}

/// What a conversation with the provider brought.
struct Conversed {
    text: String,
    outcome: Outcome,
    failure: Option<TurnFailure>,
    usage: Option<Usage>,
    calibration: Option<Calibration>,
}

/// How often a request is made again, shorter, before the server's refusal is the answer.
const MOST_REFITS: usize = 3;

impl Agent {
    /// Asks the model. However this ends, the turn is recorded and closed before it returns.
    pub async fn turn(
        &mut self,
        input: String,
        observe: &mut Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        self.told.begin_turn();
        let at = Some(self.clock.now());
        let message = Message::text(self.session().next_message_id(0), Role::User, input, at);
        self.run(message, observe, cancel).await
    }

    /// Asks the last question again; the turn that asked it before is taken out of what is sent (C86).
    /// The question keeps the time at which it was first put (C30).
    pub async fn retry(
        &mut self,
        observe: &mut Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<Result<TurnReport, TurnError>, NoTurn> {
        let asked = self.session().live_turns().next_back();
        let at = asked.and_then(|turn| self.session().messages_of(turn)[0].at);
        // Saved with the record that begins the turn, so that no kill leaves the question in no view at all.
        let input = self.withdraw(Withdrawal::Retried)?;
        self.told.begin_turn();
        let at = at.or_else(|| Some(self.clock.now()));
        let message = Message::text(self.session().next_message_id(0), Role::User, input, at);
        Ok(self.run(message, observe, cancel).await)
    }

    /// What the next request would hold before anything is said.
    pub async fn preview(&self) -> Result<ContextPlan, DoesNotFit> {
        let input = Message::text(self.session().next_message_id(0), Role::User, "", None);
        let budget = self.budget(self.provider.abilities().await);
        self.plan(&input, &Lookup::default(), budget)
    }

    async fn run(
        &mut self,
        input: Message,
        observe: &mut Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let turn = self.session().next_turn();
        let mode = self.memory.mode().name.clone();
        let model = self.provider.model().to_string();
        tracing::info!(%turn, mode, model, "turn started");
        let warning = self.take_in_finished().await;
        if let Some(warning) = warning {
            observe(TurnEvent::Warning(warning));
        }
        self.record(
            Record::TurnStarted {
                turn,
                input: input.clone(),
                mode,
                model,
            },
            observe,
        );
        let (lookup, warning) = tokio::select! {
            biased;
            () = cancel.cancelled() => (Lookup::default(), None),
            looked_up = self.look_up(&input) => looked_up,
        };
        if let Some(warning) = warning {
            observe(TurnEvent::Warning(warning));
        }
        let conversed = self.converse(&input, &lookup, observe, cancel).await;
        let report = self.finish(turn, conversed, observe);
        if let Some(kept) = &mut self.shelf {
            kept.turn_over();
        }
        let news = self.begin_jobs();
        // A whole history to be indexed is nothing to wait for.
        let waits = self.settings.jobs == Running::Foreground
            && !matches!(news, Some(Warning::Recall(News::Indexing { .. })));
        if let Some(news) = news {
            observe(TurnEvent::Warning(news));
        }
        while waits && self.is_working() {
            let warning = tokio::select! {
                biased;
                () = cancel.cancelled() => break,
                warning = self.job_done() => warning,
            };
            if let Some(warning) = warning {
                observe(TurnEvent::Warning(warning));
            }
        }
        report
    }

    fn record(&mut self, record: Record, observe: &mut Observer<'_>) {
        self.ledger.apply(record);
        self.save(observe);
    }

    fn save(&mut self, observe: &mut Observer<'_>) {
        if let Err(error) = self.ledger.save()
            && let Some(warning) = self.told.of_refusal(&error)
        {
            observe(TurnEvent::Warning(warning));
        }
    }

    /// Plans, sends and reads; again with a tighter budget where the server says it was too much.
    async fn converse(
        &mut self,
        input: &Message,
        lookup: &Lookup,
        observe: &mut Observer<'_>,
        cancel: &CancellationToken,
    ) -> Conversed {
        let abilities = tokio::select! {
            biased;
            () = cancel.cancelled() => return Conversed::interrupted(String::new()),
            abilities = self.provider.abilities() => abilities,
        };
        let mut budget = self.budget(abilities);
        let mut refits = 0;
        loop {
            let plan = match self.plan(input, lookup, budget) {
                Ok(plan) => plan,
                Err(error) => return Conversed::failed(String::new(), error.into()),
            };
            for warning in self.told.of_plan(&plan, self.reach(lookup)) {
                observe(TurnEvent::Warning(warning));
            }
            tracing::debug!(
                cost = plan.cost().0,
                window = budget.window().0,
                left_out = plan.messages_left_out(),
                "request planned"
            );
            let sent = Sent {
                cost: plan.cost(),
                max_tokens: plan.max_tokens(),
                budget,
            };
            let stream = self.provider.stream(self.request(&plan));
            let last = self.last.insert(LastRequest {
                plan,
                provider: Arc::clone(&self.provider),
                usage: None,
            });
            let reply = reply::collect(stream, observe, cancel).await;
            last.usage = reply.usage;
            if let End::Failed(ProviderError::ContextTooLong { prompt, window, .. }) = &reply.end
                && refits < MOST_REFITS
                && reply.text.is_empty()
            {
                refits += 1;
                budget = tightened(sent, *prompt, *window);
                observe(TurnEvent::Warning(Warning::Refitted { window: *window }));
                continue;
            }
            return self.conclude(reply, sent, observe);
        }
    }

    pub(super) fn budget(&self, abilities: Abilities) -> Budget {
        let calibration = self.session().meta().calibration;
        let window = self.served_window.map_or(abilities.context_window, |seen| {
            seen.min(abilities.context_window)
        });
        Budget::new(window, abilities.max_output, calibration)
    }

    fn plan(
        &self,
        input: &Message,
        lookup: &Lookup,
        budget: Budget,
    ) -> Result<ContextPlan, DoesNotFit> {
        let directory = self.settings.directory.clone();
        let around = Surroundings {
            directory,
            now: self.clock.now(),
            room: budget.prompt(),
            layout: self.settings.context.layout,
            recall: self.searching(lookup),
        };
        context::fit(self.memory.prepare(self.session(), input, &around), budget)
    }

    fn request(&self, plan: &ContextPlan) -> ChatRequest {
        ChatRequest {
            system: plan.system(self.settings.context.merge_system),
            recalled: plan.recalled().map(Cow::into_owned),
            messages: plan.messages().cloned().collect(),
            tools: Vec::new(),
            max_tokens: plan.max_tokens(),
            purpose: Purpose::Reply,
            delivery: self.settings.delivery,
        }
    }

    /// Turns the end of a stream into the end of a conversation, and learns from what the server counted.
    fn conclude(&mut self, reply: Reply, sent: Sent, observe: &mut Observer<'_>) -> Conversed {
        let Reply { text, usage, end } = reply;
        let reason = match end {
            End::Interrupted => return Conversed::interrupted(text),
            End::Failed(error) => return Conversed::failed(text, error.into()),
            End::Finished(reason) => reason,
        };
        // A tighter window counts from the moment a request within it was answered.
        self.served_window = Some(sent.budget.window());
        let counted = usage.and_then(|usage| usage.prompt);
        let counted = counted.filter(|counted| Calibration::is_plausible(sent.cost, *counted));
        let mut calibration = sent.budget.calibration();
        let warnings = self.judge(sent, counted);
        let is_cut = warnings
            .iter()
            .any(|warning| matches!(warning, Warning::SilentCut { .. }));
        // A count that the server cut short says nothing of how it counts.
        if let Some(counted) = counted.filter(|_| !is_cut) {
            calibration = calibration.learn(sent.cost, counted);
        }
        for warning in warnings {
            observe(TurnEvent::Warning(warning));
        }
        let calibration = Some(calibration);
        let failure = match reason {
            FinishReason::Filtered => Some(TurnFailure::Filtered),
            _ if text.trim().is_empty() => Some(TurnFailure::Empty),
            _ => None,
        };
        if let Some(failure) = failure {
            return Conversed {
                usage,
                calibration,
                ..Conversed::failed(text, failure)
            };
        }
        if reason == FinishReason::Length {
            observe(TurnEvent::Warning(Warning::ReplyCut {
                max_tokens: sent.max_tokens,
            }));
        }
        Conversed {
            text,
            outcome: Outcome::Answered,
            failure: None,
            usage,
            calibration,
        }
    }

    /// Judges by the server's count, or by our estimate where there is none (G18).
    fn judge(&mut self, sent: Sent, counted: Option<Tokens>) -> Vec<Warning> {
        let window = sent.budget.window();
        let threshold = self.settings.context.warning_threshold;
        let input = counted.unwrap_or_else(|| sent.budget.calibration().grow(sent.cost));
        let usage = TokenUsage::new(input, window, threshold, counted.is_none());
        let sent_tokens = sent.budget.calibration().grow(sent.cost);
        let cut = counted.and_then(|counted| self.told.of_count(sent_tokens, counted, window));
        cut.into_iter().chain(self.told.of_usage(usage)).collect()
    }

    fn finish(
        &mut self,
        turn: TurnId,
        conversed: Conversed,
        observe: &mut Observer<'_>,
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
        let reply = Message::text(
            self.session().next_message_id(0),
            Role::Assistant,
            closed.clone(),
            at,
        );
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
        self.save(observe);
        match failure {
            None => Ok(TurnReport {
                outcome,
                text: closed,
                partial,
                usage,
            }),
            Some(failure) => Err(TurnError { failure, partial }),
        }
    }
}

/// What was sent, for judging what the server counted.
#[derive(Clone, Copy)]
struct Sent {
    cost: Tokens,
    max_tokens: Tokens,
    budget: Budget,
}

impl Conversed {
    fn interrupted(text: String) -> Self {
        Self {
            text,
            outcome: Outcome::Interrupted,
            failure: None,
            usage: None,
            calibration: None,
        }
    }

    fn failed(text: String, failure: TurnFailure) -> Self {
        Self {
            text,
            outcome: Outcome::Failed,
            failure: Some(failure),
            usage: None,
            calibration: None,
        }
    }
}

/// A budget that takes the server's word: its window where it names one, its count where it gives one.
///
/// Where it gives neither, something has to be tried. A prompt that fills less than half of the window was
/// refused together with the room asked for its reply, so the reply gets less; a longer one is cut to two
/// thirds.
fn tightened(sent: Sent, prompt: Option<Tokens>, window: Option<Tokens>) -> Budget {
    let Sent { cost, budget, .. } = sent;
    let seen = budget.calibration();
    let calibration = prompt.map_or(seen, |prompt| seen.learn(cost, prompt));
    let named = window.filter(|window| *window > Tokens::ZERO);
    let window = match (named, prompt) {
        (Some(window), _) => window.min(budget.window()),
        (None, Some(_)) => budget.window(),
        (None, None) if seen.grow(cost).0 < budget.window().0 / 2 => Tokens(budget.window().0 / 2),
        (None, None) => Tokens(seen.grow(cost).0 / 3 * 2).min(budget.window()),
    };
    let tighter = budget.with(window, calibration);
    if tighter == budget {
        budget.with(window, Calibration::new(seen.ratio() * 1.5))
    } else {
        tighter
    }
}

/// A failure in so few words that it can stand in history.
fn short(failure: &TurnFailure) -> String {
    const MOST: usize = 160;
    let text = failure.to_string();
    match text.char_indices().nth(MOST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
