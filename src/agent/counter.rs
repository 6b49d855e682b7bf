//! What a server's counts and refusals teach: how it counts, how large its window really is.
//!
//! Counts tokens as a model does, where its server can be asked, and remembers the counts (G15). Invariant: at most
//! [`AT_ONCE`] questions wait for their answer, none longer than [`PATIENCE`]; what is not answered is estimated and
//! says so. Budgets are not made of these counts: they have to be there at once and offline.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use lru::LruCache;
use sha2::{Digest, Sha256};

use super::Agent;
use super::event::{MakesRoom, TurnContext, Warning};
use crate::chat::{Calibration, Message, MessageId, Role, Tokens, Usage};
use crate::context::{Budget, TokenUsage};
use crate::provider::{ChatRequest, Delivery, Images, ModelName, Provider, Purpose, WindowSource};

const REMEMBERED: NonZeroUsize = NonZeroUsize::new(1_000).expect("a thousand is not zero");
const AT_ONCE: usize = 3;
/// The longest a person waits for the counts of one list of texts.
const PATIENCE: Duration = Duration::from_secs(2);

/// A text, and what it is taken for where nobody counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncounted {
    pub text: String,
    /// Calibrated.
    pub estimate: Tokens,
}

/// What a text costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub tokens: Tokens,
    pub is_estimate: bool,
}

/// Digest of model and text: another model counts otherwise.
type Key = [u8; 32];

/// The counts of the texts that were asked for last.
#[derive(Debug)]
pub(super) struct TokenCounter {
    known: LruCache<Key, Tokens>,
}

impl Default for TokenCounter {
    fn default() -> Self {
        Self {
            known: LruCache::new(REMEMBERED),
        }
    }
}

impl TokenCounter {
    /// One count for each text, in their order.
    pub(super) async fn count(
        &mut self,
        provider: &dyn Provider,
        texts: &[Uncounted],
    ) -> Vec<Count> {
        let mut counts: Vec<Option<Tokens>> = Vec::with_capacity(texts.len());
        let mut missing = Vec::new();
        for (at, Uncounted { text, .. }) in texts.iter().enumerate() {
            let key = key(provider.model(), text);
            // Blank texts are never sent, and no server counts them.
            let blank = text.trim().is_empty().then_some(Tokens::ZERO);
            let known = blank.or_else(|| self.known.get(&key).copied());
            if known.is_none() {
                missing.push((at, key, request(text)));
            }
            counts.push(known);
        }
        let questions = stream::iter(missing).map(|(at, key, request)| async move {
            let tokens = provider.count(&request).await?;
            Some((at, key, tokens))
        });
        let mut answers = pin!(questions.buffer_unordered(AT_ONCE));
        let all = async {
            while let Some(answer) = answers.next().await {
                if let Some((at, key, tokens)) = answer {
                    self.known.put(key, tokens);
                    counts[at] = Some(tokens);
                }
            }
        };
        if tokio::time::timeout(PATIENCE, all).await.is_err() {
            tracing::debug!(
                "counting tokens with {} timed out; estimating",
                provider.model()
            );
        }
        let counts = counts.into_iter().zip(texts);
        let count = |(tokens, text): (Option<Tokens>, &Uncounted)| Count {
            tokens: tokens.unwrap_or(text.estimate),
            is_estimate: tokens.is_none(),
        };
        counts.map(count).collect()
    }
}

fn key(model: &ModelName, text: &str) -> Key {
    let model = model.to_string();
    let digest = Sha256::new()
        .chain_update(model.len().to_le_bytes())
        .chain_update(model)
        .chain_update(text);
    digest.finalize().into()
}

fn request(text: &str) -> ChatRequest {
    let message = Message::text(MessageId::new("count"), Role::User, text, None);
    ChatRequest {
        system: Vec::new(),
        recalled: None,
        messages: vec![message].into(),
        images: Images::default(),
        tools: Vec::new(),
        max_tokens: Tokens(1),
        temperature: None,
        purpose: Purpose::Reply,
        delivery: Delivery::Whole,
    }
}

/// What was sent, for judging what the server counted.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub(super) cost: Tokens,
    /// Of it, what the descriptions of tools take.
    pub(super) tools: Tokens,
    pub(super) max_tokens: Tokens,
    pub(super) budget: Budget,
}

impl Agent {
    /// What the server's count says of our estimate, and what it gives reason to warn of.
    pub(super) fn learn(
        &mut self,
        usage: Option<Usage>,
        sent: Sent,
        context: &mut TurnContext<'_>,
    ) -> Calibration {
        let counted = usage.and_then(|usage| usage.prompt);
        let counted = counted.filter(|counted| Calibration::is_plausible(sent.cost, *counted));
        if let Some(usage) = usage {
            let prompt = counted;
            self.counted.count(Usage { prompt, ..usage });
        }
        // The request itself is a better measure than what was hoped for.
        if self.counted.assumed().is_some() {
            self.counted.forget();
        }
        let mut calibration = sent.budget.calibration();
        let warnings = self.judge(sent, counted);
        // One that counted more did not cut there.
        let is_full = counted == Some(sent.budget.window());
        let is_cut = is_full
            || warnings
                .iter()
                .any(|warning| matches!(warning, Warning::SilentCut { .. }));
        // A count that the server cut short says nothing of how it counts.
        if let Some(counted) = counted.filter(|_| !is_cut) {
            calibration = calibration.learn(sent.cost, counted);
        }
        context.warn_all(warnings);
        calibration
    }

    /// Judges by the server's count, or by our estimate where there is none (G18).
    fn judge(&mut self, sent: Sent, counted: Option<Tokens>) -> Vec<Warning> {
        let window = sent.budget.window();
        let threshold = self.settings.context.warning_threshold;
        let input = counted.unwrap_or_else(|| sent.budget.calibration().grow(sent.cost));
        let usage = TokenUsage::new(input, window, threshold, counted.is_none());
        let tools = sent.budget.calibration().grow(sent.tools);
        let all = sent.budget.calibration().grow(sent.cost);
        let loads_window = self.provider.loads_window();
        let set_by = if loads_window {
            "num_ctx"
        } else {
            "context_window"
        };
        let cut =
            counted.and_then(|counted| self.warned.of_count((all, tools), counted, window, set_by));
        let makes_room = MakesRoom {
            tools,
            compacting: self.settings.summariser.is_some()
                || self.memory.can_compact(sent.budget.prompt()),
            loads_window,
        };
        let near = self.warned.of_usage(usage, makes_room);
        let is_real = match self.window_source {
            WindowSource::Config | WindowSource::Server => true,
            WindowSource::Table | WindowSource::Fallback => false,
        };
        match cut {
            // Both say that it is full: what helps depends on whether that is its size.
            Some(_) if counted == Some(window) && is_real => {
                vec![Warning::NearLimit { usage, makes_room }]
            }
            Some(cut) if counted == Some(window) => vec![cut],
            cut => cut.into_iter().chain(near).collect(),
        }
    }
}

/// A budget that takes the server's word: its window where it names one, its count where it gives one.
///
/// Where it gives neither, something has to be tried. A prompt that fills less than half of the window was refused
/// together with the room asked for its reply, so the reply gets less; a longer one is cut to two thirds.
pub(super) fn tightened(sent: Sent, prompt: Option<Tokens>, window: Option<Tokens>) -> Budget {
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

#[cfg(test)]
mod tests;
