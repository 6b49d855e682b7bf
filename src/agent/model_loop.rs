//! A conversation with the provider within one turn: plan, send, read; where the reply calls tools, do that and ask
//! again.
//!
//! Every request goes through the plan and the budget again: what tools brought may be more than there is room for.

use std::sync::Arc;

use super::calibration::{Sent, tightened};
use super::entry_writer::while_due;
use super::event::{TurnContext, Warning};
use super::recall::Lookup;
use super::reply::{self, Arriving, End, Reply};
use super::request::Asking;
use super::tool_calls::{Acted, Called, Standing};
use super::toolbox::Strikes;
use super::turn::TurnFailure;
use super::{Agent, LastRequest};
use crate::chat::{
    Calibration, CallId, Message, Outcome, Part, Record, Role, ToolCall, ToolSpec, TurnId, Usage,
};
use crate::context::Budget;
use crate::memory::When;
use crate::provider::{FinishReason, ProviderError};

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

/// How often a request is made again, shorter, before the server's refusal is the answer.
const MAX_REFITS: usize = 3;

impl Agent {
    /// Asks until there is a reply without calls, or a reason to stop.
    pub(super) async fn converse(
        &mut self,
        turn: TurnId,
        input: &Message,
        lookup: &Lookup,
        context: &mut TurnContext<'_>,
    ) -> Conversed {
        let asked = async {
            (
                self.provider.abilities().await,
                self.model_takes_tools().await,
            )
        };
        let Some((abilities, takes_tools)) = context.cancel.run_until_cancelled(asked).await else {
            return Conversed::interrupted(String::new());
        };
        self.takes_tools &= takes_tools;
        self.price = abilities.price;
        self.window_source = abilities.window_source;
        let asking = Asking { input, lookup };
        let mut budget = self.budget(abilities);
        let mut strikes = Strikes::default();
        let most = self.toolbox.limits.max_steps;
        for round in 0.. {
            let when = match round {
                0 => When::BeforeTurn,
                _ => When::BeforeRequest,
            };
            self.make_room(when, budget, asking, context).await;
            let concluded = self.ask_model(asking, &mut budget, context).await;
            let (text, calls, mut standing, calibration) = match concluded {
                Concluded::Ended(conversed) => return conversed,
                Concluded::Calls {
                    text,
                    calls,
                    standing,
                    calibration,
                } => (text, calls, standing, calibration),
            };
            let calls = self.tidied(calls);
            if round == most {
                standing = Standing::Refused("this turn has used all its rounds of tool calls");
            }
            budget = budget.with(budget.window(), calibration);
            self.record_calls(turn, text, &calls, context);
            let called = Called {
                turn,
                calls: &calls,
                standing,
            };
            match self.act(called, &mut strikes, context).await {
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
        context: &mut TurnContext<'_>,
    ) -> Concluded {
        let mut refits = 0;
        loop {
            let plan = match self.plan_with_tools(asking, *budget, context) {
                Ok(plan) => plan,
                Err(error) => {
                    return Concluded::Ended(Conversed::failed(String::new(), error.into()));
                }
            };
            context.warn_all(self.warned.of_plan(&plan, self.reach(asking.lookup)));
            tracing::debug!(
                cost = plan.cost().0,
                window = budget.window().0,
                left_out = plan.messages_left_out(),
                "request planned"
            );
            let sent = Sent {
                cost: plan.cost(),
                tools: plan.tools().map(ToolSpec::cost).sum(),
                max_tokens: plan.max_tokens(),
                budget: *budget,
            };
            let request = self.request(&plan);
            let has_images = !request.images.is_empty();
            let stream = self.provider.stream(request);
            for work in self.memory.warm_up() {
                // Ends by itself, or with the process.
                std::thread::spawn(work);
            }
            let last = self.last.insert(LastRequest {
                plan,
                provider: Arc::clone(&self.provider),
                usage: None,
                is_past: false,
            });
            let (reply, kept) = {
                let arriving = Arriving::into(&mut self.ledger);
                let reply = reply::collect(stream, Some(arriving), context);
                while_due(&mut self.entries, self.clock.as_ref(), reply).await
            };
            last.usage = reply.usage;
            context.warn_all(kept);
            match &reply.end {
                End::Failed(ProviderError::ContextTooLong { prompt, window, .. })
                    if refits < MAX_REFITS && reply.text.is_empty() =>
                {
                    refits += 1;
                    *budget = tightened(sent, *prompt, *window);
                    context.warn(Warning::Refitted { window: *window });
                }
                End::Failed(ProviderError::NoTools { .. }) if self.takes_tools => {
                    self.takes_tools = false;
                    let model = self.provider.model().to_string();
                    context.warn(Warning::NoTools { model });
                }
                End::Failed(error)
                    if error.refuses_trained_tools() && self.toolbox.registry.favours_trained() =>
                {
                    self.toolbox.registry.favour_trained(false);
                }
                End::Failed(error) if has_images && error.refuses_images() => {
                    self.takes_images = false;
                    context.warn(self.no_images());
                }
                _ => return self.conclude(reply, sent, context),
            }
        }
    }

    /// Turns the end of a stream into the end of a conversation, or into calls; learns from what the server counted.
    fn conclude(&mut self, reply: Reply, sent: Sent, context: &mut TurnContext<'_>) -> Concluded {
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
        let calibration = self.learn(usage, sent, context);
        if reason == FinishReason::Length {
            context.warn(Warning::ReplyCut {
                max_tokens: sent.max_tokens,
            });
        }
        if !calls.is_empty() {
            return Concluded::Calls {
                text,
                calls,
                standing: match reason {
                    FinishReason::Length => Standing::CutAt(sent.max_tokens),
                    FinishReason::Filtered => Standing::Refused("the server filtered this reply"),
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

    /// Calls whose names and ids any server takes back; within a turn no id is there twice.
    fn tidied(&self, calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let running = self.session().running().iter();
        let before = running.flat_map(Message::calls);
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
        context: &mut TurnContext<'_>,
    ) {
        let said = (!text.trim().is_empty()).then_some(Part::Text(text));
        let calls = calls.iter().cloned().map(Part::ToolCall);
        let parts = said.into_iter().chain(calls).collect();
        let (id, at) = (self.session().next_message_id(0), Some(self.clock.now()));
        let message = Message::new(id, Role::Assistant, parts, at);
        self.record(Record::MessageAdded { turn, message }, context);
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
