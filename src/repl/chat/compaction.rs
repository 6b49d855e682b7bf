//! `/compact` in a chat: from the asking to what is said of it.

use super::{Chat, Ended};
use crate::agent::{CompactError, CompactReport, Compacting, Reader};
use crate::hint::Hint;
use crate::memory::CannotCompact;
use crate::repl::ask::{self, After};
use crate::term::harmless;

impl Chat<'_> {
    pub(super) async fn compact(&mut self, what: Compacting, focus: &str) -> After {
        let agent = &mut self.repl.agent;
        let ran = agent.job_name();
        let (result, after) = ask::compact(agent, what, focus, self.output, self.signals).await;
        if let Some(name) = ran.filter(|_| agent.job_name().is_none()) {
            self.output.notice(&given_up(name, result.is_ok()));
        }
        match result {
            Ok(report) => self.output.answer(&compacted(&report, focus)),
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
}

/// What became of what was being written in the background.
fn given_up(name: &str, is_done: bool) -> String {
    if is_done {
        format!("Cancelled the background {name} in favour of this one")
    } else {
        format!("Cancelled the background {name}; it restarts after the next turn if due")
    }
}

/// What shrank (O16).
fn compacted(report: &CompactReport, wish: &str) -> String {
    let CompactReport {
        before,
        after,
        warning,
    } = report;
    let mut text = format!(
        "Compacted: messages {} → {}, tokens {} → {}; undo with `/compact undo`",
        before.messages, after.messages, before.tokens, after.tokens
    );
    if !wish.is_empty() {
        text = format!("{text}; focus: {}", harmless(wish));
    }
    if let Some(warning) = warning {
        text = format!("{text}\n{}", warning.in_words(Reader::Chat));
    }
    text
}
