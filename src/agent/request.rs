//! One request: what it holds, fitted to what there is room for.

use std::borrow::Cow;

use super::Agent;
use super::event::TurnContext;
use super::recall::Lookup;
use crate::chat::{Message, Role, ToolSpec};
use crate::context::stages::images;
use crate::context::{self, Budget, ContextPlan, DoesNotFit, Draft};
use crate::memory::{self, LongTermContext, Offered, Surroundings};
use crate::provider::{Abilities, ChatRequest, Purpose};

/// What a request is for.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a> {
    pub(super) input: &'a Message,
    pub(super) lookup: &'a Lookup,
}

impl Agent {
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
        let tools = if self.model_takes_tools().await {
            self.offered()
        } else {
            Vec::new()
        };
        self.plan(asking, &tools, budget)
            .or_else(|_| self.plan(asking, &[], budget))
    }

    /// Tools give way where a window is too small for them and the rest.
    pub(super) fn plan_with_tools(
        &mut self,
        asking: Asking<'_>,
        budget: Budget,
        context: &mut TurnContext<'_>,
    ) -> Result<ContextPlan, DoesNotFit> {
        let tools = self.offered();
        match self.plan(asking, &tools, budget) {
            Err(_) if !tools.is_empty() => {
                let plan = self.plan(asking, &[], budget)?;
                let tokens = tools.iter().map(ToolSpec::cost).sum();
                let tokens = budget.calibration().grow(tokens);
                context.warn_all(self.warned.of_tools_left_out(tools.len(), tokens));
                Ok(plan)
            }
            planned => planned,
        }
    }

    /// Asked only where there are tools to offer.
    pub(super) async fn model_takes_tools(&self) -> bool {
        self.offered().is_empty() || self.provider.takes_tools().await
    }

    pub(super) fn offered(&self) -> Vec<ToolSpec> {
        if self.takes_tools {
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
        let pins = self.session().pins().iter();
        let kept = LongTermContext {
            pins: pins.map(|pin| pin.text.clone()).collect(),
            ..self.kept.clone()
        };
        let registry = &self.toolbox.registry;
        let mode = &self.memory.mode().name;
        let further = registry.further(mode);
        let keeping = if registry.can_keep(mode) {
            memory::Keeping::WithinReach
        } else {
            memory::Keeping::OutOfReach
        };
        let around = Surroundings {
            directory: self.settings.directory.clone(),
            now: self.clock.now(),
            room: budget.prompt(),
            layout: self.settings.context.layout,
            recall: self.searching(lookup),
            offered: (!tools.is_empty()).then_some(Offered {
                tools,
                further: &further,
                keeping,
            }),
            result_chars: self.settings.context.tool_output_trim_chars,
            kept: &kept,
            compacted_now: self.compacted_now.clone(),
            strategy: self.settings.context.strategy,
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
}
