//! Lets a model write a text that memory wants: no tools, a limit on each wait, nothing shown.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use tokio_util::sync::CancellationToken;

use super::event::{TurnContext, TurnEvent};
use super::reply::{self, End, Reply};
use crate::chat::{Message, MessageId, Role, Tokens};
use crate::context::Budget;
use crate::files::digest;
use crate::hint::Hint;
use crate::memory::compaction::{Inquiry, PARALLEL, Part};
use crate::memory::writing::Writing;
use crate::provider::{
    ChatRequest, Delivery, FinishReason, Images, Provider, ProviderError, Purpose,
};

/// Longest wait for one answer (C15).
const STEP: Duration = Duration::from_mins(1);

/// A shorter answer is no summary.
const MIN_CHARS: usize = 24;

/// How far a text has come: step `done + 1` of `steps` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub steps: usize,
}

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error("the model did not finish the summary")]
    Incomplete,
    #[error("the model's window of {window} tokens is too small to write a summary")]
    WindowTooSmall { window: Tokens },
    #[error("the summary is empty or too short")]
    TooShort,
    #[error("the model called a tool instead of writing a summary")]
    CalledTool,
    #[error("no summary within {} s", STEP.as_secs())]
    TimedOut,
    #[error("the summary was not finished after {} s", after.as_secs())]
    Stuck { after: Duration },
    #[error("interrupted")]
    Interrupted,
}

/// What helps against a summary that is not good enough, or not there.
pub(super) const BETTER_MODEL: &str =
    "try again; `memory.summarization_model` in the config file can name a better model";

impl Hint for NotWritten {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Provider(error) => error.hint(),
            Self::WindowTooSmall { .. } => {
                Some(
                    "`/tools none` or a model with a larger window (`/model`) makes room; `memory.summarization_model` can name one, too"
                        .into(),
                )
            }
            Self::Incomplete
            | Self::TooShort
            | Self::CalledTool
            | Self::TimedOut
            | Self::Stuck { .. } => Some(BETTER_MODEL.into()),
            Self::Interrupted => None,
        }
    }
}

/// One request for a text.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) text: String,
    /// Room for the answer.
    pub(super) most: Tokens,
    pub(super) temperature: Option<f32>,
}

/// A model to write with.
#[derive(Debug)]
pub(super) struct Summarizer {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) budget: Budget,
    pub(super) cancel: CancellationToken,
    /// Answers that were had before, where they may count again.
    pub(super) summaries: Option<Arc<Summaries>>,
}

impl Summarizer {
    /// The text that all steps together make.
    pub(super) async fn write(
        &self,
        writing: &Writing,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<String, NotWritten> {
        let mut text = String::new();
        for step in 0..writing.steps() {
            progress(Progress {
                done: step,
                steps: writing.steps(),
            });
            let asked = Asked {
                text: writing.request(step, &text),
                most: writing.answer,
                temperature: writing.temperature,
            };
            text = self.known_or_asked(asked).await?;
        }
        Ok(text)
    }

    /// The text that all parts together make: those of a long list at once, a few at a time, and then one of them all.
    /// A part that cannot be had leaves its snippets (G24).
    pub(super) async fn inquire(
        &self,
        inquiry: &Inquiry,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<String, NotWritten> {
        if let [only] = inquiry.parts.as_slice() {
            return self.write(&only.writing, progress).await;
        }
        let steps = inquiry.parts.len() + 1;
        let parts = inquiry
            .parts
            .iter()
            .map(|part| self.write_quietly(part).boxed());
        let parts: Vec<_> = parts.collect();
        let mut parts = futures_util::stream::iter(parts).buffered(PARALLEL);
        let mut texts = Vec::new();
        let mut failure = None;
        progress(Progress { done: 0, steps });
        while let Some(text) = parts.next().await {
            match text {
                Err(NotWritten::Interrupted) => return Err(NotWritten::Interrupted),
                Err(error) => {
                    failure = Some(error);
                    let part = &inquiry.parts[texts.len()];
                    texts.push(part.snippets.clone());
                }
                Ok(text) => texts.push(text),
            }
            let done = texts.len();
            let none = texts.iter().zip(&inquiry.parts);
            // Whoever writes none of the first ones writes none of the others.
            if done == PARALLEL
                && none.into_iter().all(|(text, part)| *text == part.snippets)
                && let Some(failure) = failure.take()
            {
                return Err(failure);
            }
            progress(Progress { done, steps });
        }
        let mut written = texts.iter().zip(&inquiry.parts);
        let failed = failure.filter(|_| written.all(|(text, part)| *text == part.snippets));
        if let Some(failure) = failed {
            return Err(failure);
        }
        match inquiry.merge(&texts) {
            None => Ok(inquiry.joined(&texts)),
            Some(merge) => match self.write(&merge, &mut |_| ()).await {
                Err(NotWritten::Interrupted) => Err(NotWritten::Interrupted),
                Err(error) => {
                    tracing::warn!(%error, "could not merge partial summaries; keeping them separate");
                    Ok(inquiry.joined(&texts))
                }
                merged => merged,
            },
        }
    }

    async fn write_quietly(&self, part: &Part) -> Result<String, NotWritten> {
        self.write(&part.writing, &mut |_| ()).await
    }

    async fn known_or_asked(&self, asked: Asked) -> Result<String, NotWritten> {
        let Some(summaries) = &self.summaries else {
            return self.answer(asked).await;
        };
        let name = Summaries::name(&self.provider.model().to_string(), &asked.text);
        if let Some(known) = summaries.get(&name) {
            return Ok(known);
        }
        let text = self.answer(asked).await?;
        summaries.keep(name, &text);
        Ok(text)
    }

    /// The answer to one request, if it is complete and long enough to build on.
    pub(super) async fn answer(&self, asked: Asked) -> Result<String, NotWritten> {
        let message = Message::text(MessageId::new("summary"), Role::User, asked.text, None);
        let max_tokens = asked.most.min(self.budget.max_tokens(message.cost()));
        let request = ChatRequest {
            system: Vec::new(),
            recalled: None,
            messages: [message].into(),
            images: Images::default(),
            tools: Vec::new(),
            max_tokens,
            temperature: asked.temperature,
            purpose: Purpose::Summary,
            delivery: Delivery::Streamed,
        };
        let mut ignore = |_: TurnEvent| {};
        let mut context = TurnContext::new(&mut ignore, &self.cancel);
        let reply = reply::collect(self.provider.stream(request), None, &mut context);
        let Ok(Reply {
            text, end, calls, ..
        }) = tokio::time::timeout(STEP, reply).await
        else {
            return Err(NotWritten::TimedOut);
        };
        match end {
            End::Interrupted => Err(NotWritten::Interrupted),
            End::Failed(error) => Err(error.into()),
            End::Finished(_) if !calls.is_empty() => Err(NotWritten::CalledTool),
            End::Finished(FinishReason::Stop) if text.trim().chars().count() < MIN_CHARS => {
                Err(NotWritten::TooShort)
            }
            End::Finished(FinishReason::Stop) => Ok(text),
            End::Finished(
                FinishReason::Length
                | FinishReason::ToolCalls
                | FinishReason::Filtered
                | FinishReason::Other(_),
            ) => Err(NotWritten::Incomplete),
        }
    }
}

/// The newest so many are kept.
const MAX: usize = 64;

/// Summaries of one session by what was asked: the same question to the same model is asked once (G31). The name of one
/// is the digest of the model and of every word of the request; failures are not kept. In memory alone, with a mutex,
/// because chunks of one compaction are written at once, one of them in the background.
#[derive(Debug, Default)]
pub(super) struct Summaries(Mutex<VecDeque<(String, String)>>);

impl Summaries {
    /// The name of a request to a model.
    pub(super) fn name(model: &str, request: &str) -> String {
        digest(format!("{model}\u{0}{request}").as_bytes())
    }

    pub(super) fn get(&self, name: &str) -> Option<String> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|(known, _)| known == name)?;
        let entry = kept.remove(place)?;
        let text = entry.1.clone();
        kept.push_back(entry);
        Some(text)
    }

    pub(super) fn keep(&self, name: String, text: &str) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != name);
        kept.push_back((name, text.to_owned()));
        if kept.len() > MAX {
            kept.pop_front();
        }
    }

    /// What was not good enough is asked for again.
    pub(super) fn clear(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_sixty_four_are_kept_by_their_whole_request_and_model() {
        let summaries = Summaries::default();
        let begin = "x".repeat(600);
        let name = |n: usize| Summaries::name("m", &format!("{begin}{n}"));
        for n in 0..64 {
            summaries.keep(name(n), &n.to_string());
        }
        assert_eq!(summaries.get(&name(0)).as_deref(), Some("0"));
        summaries.keep(name(64), "64");
        assert_eq!(summaries.get(&name(1)), None, "the one used longest ago");
        assert_eq!(summaries.get(&name(0)).as_deref(), Some("0"));
        let other = Summaries::name("other", &format!("{begin}0"));
        assert_eq!(summaries.get(&other), None, "another model");
        summaries.clear();
        assert_eq!(summaries.get(&name(0)), None);
    }
}
