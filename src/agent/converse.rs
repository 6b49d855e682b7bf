//! A conversation with the provider within one turn: plan, send, read; where the reply calls tools, do that and ask again.
//!
//! Every request goes through the plan and the budget again: what tools brought may be more than there is room for.

use std::borrow::Cow;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::acting::{Acted, Called, Standing};
use super::event::{Observer, TurnEvent, Warning};
use super::recalling::Lookup;
use super::reply::{self, End, Reply};
use super::toolbox::Strikes;
use super::turn::TurnFailure;
use super::{Agent, LastRequest};
use crate::chat::{
    Calibration, CallId, Message, Outcome, Part, Record, Role, Tokens, ToolCall, ToolSpec, TurnId,
    Usage,
};
use crate::context::stages::images;
use crate::context::{self, Budget, ContextPlan, DoesNotFit, Draft, TokenUsage};
use crate::memory::{Offered, Surroundings};
use crate::provider::{Abilities, ChatRequest, FinishReason, ProviderError, Purpose};

/// What a conversation with the provider brought.
pub(super) struct Conversed {
    pub(super) text: String,
    pub(super) outcome: Outcome,
    pub(super) failure: Option<TurnFailure>,
    pub(super) usage: Option<Usage>,
    pub(super) calibration: Option<Calibration>,
}

/// A reply that arrived, and what it asks for.
enum Concluded {
    Ended(Conversed),
    Calls {
        text: String,
        calls: Vec<ToolCall>,
        standing: Standing,
        calibration: Calibration,
    },
}

/// What was sent, for judging what the server counted.
#[derive(Clone, Copy)]
struct Sent {
    cost: Tokens,
    max_tokens: Tokens,
    budget: Budget,
}

/// What a request is for.
#[derive(Clone, Copy)]
struct Asking<'a> {
    input: &'a Message,
    lookup: &'a Lookup,
}

/// How often a request is made again, shorter, before the server's refusal is the answer.
const MOST_REFITS: usize = 3;

impl Agent {
    /// Asks until there is a reply without calls, or a reason to stop.
    pub(super) async fn converse(
        &mut self,
        turn: TurnId,
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
        let asking = Asking { input, lookup };
        let mut budget = self.budget(abilities);
        let mut strikes = Strikes::default();
        let most = self.toolbox.limits.max_steps;
        for round in 0.. {
            let concluded = self.ask_model(asking, &mut budget, observe, cancel).await;
            let (text, calls, mut standing, calibration) = match concluded {
                Concluded::Ended(conversed) => return conversed,
                Concluded::Calls {
                    text,
                    calls,
                    standing,
                    calibration,
                } => (text, calls, standing, calibration),
            };
            let calls = self.tidied(turn, calls);
            if round == most {
                standing = Standing::Refused("not done: this turn has had all its rounds of calls");
            }
            budget = budget.with(budget.window(), calibration);
            self.record_calls(turn, text, &calls, observe);
            let called = Called {
                turn,
                calls: &calls,
                standing,
            };
            match self.act(called, &mut strikes, observe, cancel).await {
                Acted::All if round == most => break,
                Acted::All => {}
                Acted::Interrupted => return Conversed::interrupted(String::new()),
                Acted::Stuck { tool } => {
                    return Conversed::failed(String::new(), TurnFailure::Stuck { tool });
                }
            }
        }
        let failure = TurnFailure::TooManySteps { steps: most };
        Conversed::failed(String::new(), failure)
    }

    /// One reply: asked for again with a tighter budget where the server says it was too much, and without tools where
    /// the model takes none.
    async fn ask_model(
        &mut self,
        asking: Asking<'_>,
        budget: &mut Budget,
        observe: &mut Observer<'_>,
        cancel: &CancellationToken,
    ) -> Concluded {
        let mut refits = 0;
        loop {
            let plan = match self.plan_with_tools(asking, *budget, observe) {
                Ok(plan) => plan,
                Err(error) => {
                    return Concluded::Ended(Conversed::failed(String::new(), error.into()));
                }
            };
            for warning in self.told.of_plan(&plan, self.reach(asking.lookup)) {
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
                budget: *budget,
            };
            let request = self.request(&plan);
            let has_images = !request.images.is_empty();
            let stream = self.provider.stream(request);
            let last = self.last.insert(LastRequest {
                plan,
                provider: Arc::clone(&self.provider),
                usage: None,
            });
            let reply = reply::collect(stream, observe, cancel).await;
            last.usage = reply.usage;
            match &reply.end {
                End::Failed(ProviderError::ContextTooLong { prompt, window, .. })
                    if refits < MOST_REFITS && reply.text.is_empty() =>
                {
                    refits += 1;
                    *budget = tightened(sent, *prompt, *window);
                    observe(TurnEvent::Warning(Warning::Refitted { window: *window }));
                }
                End::Failed(ProviderError::NoTools { .. }) if self.takes_tools => {
                    self.takes_tools = false;
                    let model = self.provider.model().to_string();
                    observe(TurnEvent::Warning(Warning::NoTools { model }));
                }
                End::Failed(error) if has_images && error.refuses_images() => {
                    self.takes_images = false;
                    observe(TurnEvent::Warning(self.no_images()));
                }
                _ => return self.conclude(reply, sent, observe),
            }
        }
    }

    pub(super) fn budget(&self, abilities: Abilities) -> Budget {
        let calibration = self.session().meta().calibration;
        let window = self.served_window.map_or(abilities.context_window, |seen| {
            seen.min(abilities.context_window)
        });
        Budget::new(window, abilities.max_output, calibration)
    }

    /// What the next request would hold before anything is said.
    pub async fn preview(&self) -> Result<ContextPlan, DoesNotFit> {
        let input = Message::text(self.session().next_message_id(0), Role::User, "", None);
        let budget = self.budget(self.provider.abilities().await);
        let asking = Asking {
            input: &input,
            lookup: &Lookup::default(),
        };
        let tools = self.offered();
        self.plan(asking, &tools, budget)
            .or_else(|_| self.plan(asking, &[], budget))
    }

    /// Tools give way where a window is too small for them and the rest.
    fn plan_with_tools(
        &mut self,
        asking: Asking<'_>,
        budget: Budget,
        observe: &mut Observer<'_>,
    ) -> Result<ContextPlan, DoesNotFit> {
        let tools = self.offered();
        match self.plan(asking, &tools, budget) {
            Err(_) if !tools.is_empty() => {
                let plan = self.plan(asking, &[], budget)?;
                if let Some(warning) = self.told.of_tools_left_out(tools.len()) {
                    observe(TurnEvent::Warning(warning));
                }
                Ok(plan)
            }
            planned => planned,
        }
    }

    fn offered(&self) -> Vec<ToolSpec> {
        if self.takes_tools && self.provider.takes_tools() {
            self.toolbox.registry.offered(&self.memory.mode().name)
        } else {
            Vec::new()
        }
    }

    fn plan(
        &self,
        asking: Asking<'_>,
        tools: &[ToolSpec],
        budget: Budget,
    ) -> Result<ContextPlan, DoesNotFit> {
        let draft = self.draft(asking.input, asking.lookup, tools, budget);
        context::fit(draft, budget)
    }

    /// What a request would hold if there were room.
    pub(super) fn draft(
        &self,
        input: &Message,
        lookup: &Lookup,
        tools: &[ToolSpec],
        budget: Budget,
    ) -> Draft {
        let further = self.toolbox.registry.further(&self.memory.mode().name);
        let around = Surroundings {
            directory: self.settings.directory.clone(),
            now: self.clock.now(),
            room: budget.prompt(),
            layout: self.settings.context.layout,
            recall: self.searching(lookup),
            offered: (!tools.is_empty()).then_some(Offered {
                tools,
                further: &further,
            }),
            result_chars: self.settings.context.tool_output_trim_chars,
        };
        let draft = self.memory.prepare(self.session(), input, &around);
        images::named(draft, self.pictures())
    }

    pub(super) fn request(&self, plan: &ContextPlan) -> ChatRequest {
        ChatRequest {
            system: plan.system(self.settings.context.merge_system),
            recalled: plan.recalled().map(Cow::into_owned),
            messages: plan.messages().cloned().collect(),
            images: self.load_pictures(plan),
            tools: plan.tools().cloned().collect(),
            max_tokens: plan.max_tokens(),
            temperature: None,
            purpose: Purpose::Reply,
            delivery: self.settings.delivery,
        }
    }

    /// Turns the end of a stream into the end of a conversation, or into calls; learns from what the server counted.
    fn conclude(&mut self, reply: Reply, sent: Sent, observe: &mut Observer<'_>) -> Concluded {
        let Reply {
            text,
            calls,
            usage,
            end,
        } = reply;
        let reason = match end {
            End::Interrupted => return Concluded::Ended(Conversed::interrupted(text)),
            End::Failed(error) => {
                return Concluded::Ended(Conversed::failed(text, error.into()));
            }
            End::Finished(reason) => reason,
        };
        // A tighter window counts from the moment a request within it was answered.
        self.served_window = Some(sent.budget.window());
        let calibration = self.learn(usage, sent, observe);
        if reason == FinishReason::Length {
            observe(TurnEvent::Warning(Warning::ReplyCut {
                max_tokens: sent.max_tokens,
            }));
        }
        if !calls.is_empty() {
            return Concluded::Calls {
                text,
                calls,
                standing: match reason {
                    FinishReason::Length => Standing::CutAt(sent.max_tokens),
                    FinishReason::Filtered => {
                        Standing::Refused("not done: the server filtered this reply")
                    }
                    FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other(_) => {
                        Standing::ToBeDone
                    }
                },
                calibration,
            };
        }
        let calibration = Some(calibration);
        let failure = match reason {
            FinishReason::Filtered => Some(TurnFailure::Filtered),
            _ if text.trim().is_empty() => Some(TurnFailure::Empty),
            _ => None,
        };
        if let Some(failure) = failure {
            return Concluded::Ended(Conversed {
                usage,
                calibration,
                ..Conversed::failed(text, failure)
            });
        }
        Concluded::Ended(Conversed {
            text,
            outcome: Outcome::Answered,
            failure: None,
            usage,
            calibration,
        })
    }

    /// What the server's count says of our estimate, and what it gives reason to warn of.
    fn learn(
        &mut self,
        usage: Option<Usage>,
        sent: Sent,
        observe: &mut Observer<'_>,
    ) -> Calibration {
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
        calibration
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

    /// Calls whose names and ids any server takes back; within a turn no id is there twice.
    fn tidied(&self, turn: TurnId, calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let turns = self.session().turns().iter();
        let running = turns.rev().find(|known| known.id == turn);
        let messages = running.map_or(&[][..], |turn| self.session().messages_of(turn));
        let before = messages.iter().flat_map(Message::calls);
        let mut taken: Vec<CallId> = before.map(|call| call.id.clone()).collect();
        let id = self.session().next_message_id(0);
        let tidied = calls.into_iter().enumerate().map(|(place, call)| {
            let call = call.tidied(&taken, &format!("call_{id}_{place}"));
            taken.push(call.id.clone());
            call
        });
        tidied.collect()
    }

    /// A reply with calls is on disk before any of them is done.
    fn record_calls(
        &mut self,
        turn: TurnId,
        text: String,
        calls: &[ToolCall],
        observe: &mut Observer<'_>,
    ) {
        let said = (!text.trim().is_empty()).then_some(Part::Text(text));
        let calls = calls.iter().cloned().map(Part::ToolCall);
        let message = Message {
            id: self.session().next_message_id(0),
            role: Role::Assistant,
            parts: said.into_iter().chain(calls).collect(),
            at: Some(self.clock.now()),
            speaker: None,
            unknown: None,
        };
        self.record(Record::MessageAdded { turn, message }, observe);
    }
}

impl Conversed {
    pub(super) fn interrupted(text: String) -> Self {
        Self {
            text,
            outcome: Outcome::Interrupted,
            failure: None,
            usage: None,
            calibration: None,
        }
    }

    pub(super) fn failed(text: String, failure: TurnFailure) -> Self {
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
