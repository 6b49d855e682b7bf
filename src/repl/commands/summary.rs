//! `/summary`: the rolling summary, those it replaced, and the way back.

use super::{CommandError, Next, ReplContext, usage};
use crate::agent::Agent;
use crate::chat::{Session, Summary};
use crate::repl::listing::count;
use crate::repl::transcript::first_words;

pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    match arguments {
        "" => Next::answer(shown(&repl.agent)),
        "history" => Next::answer(history(repl.session())),
        "undo" => {
            let warning = repl.agent.undo_summary()?;
            let text = match repl.session().hybrid().summary.as_ref() {
                Some(summary) => format!(
                    "Back to the summary of messages {} to {}, written {}; later messages are sent again while they fit",
                    summary.from + 1,
                    summary.upto,
                    summary.at
                ),
                None => "No summary left; its messages are sent again while they fit".to_owned(),
            };
            Ok(Next::with(text, warning))
        }
        other => Err(usage("summary", format!("has no option {other:?}"))),
    }
}

pub(super) fn shown(agent: &Agent) -> String {
    let hybrid = agent.session().hybrid();
    let running = match agent.job_covers() {
        0 => String::new(),
        messages => format!("\n\nsummarising another {}", count(messages, "message")),
    };
    let failed = match hybrid.failures {
        0 => String::new(),
        failures => format!(
            "\n\nSummarising failed {} in a row: older messages are sent as far as they fit; `/compact` tries again",
            count(failures as usize, "time")
        ),
    };
    let summary = hybrid.summary.as_ref().map_or_else(
        || "No summary yet: one is written when ten messages have left the window".to_owned(),
        |summary| format!("{}\n\n{}", heading(summary), summary.text),
    );
    format!("{summary}{running}{failed}")
}

fn heading(summary: &Summary) -> String {
    let by = if summary.by.is_empty() {
        String::new()
    } else {
        format!(", by {}", summary.by)
    };
    let (first, last) = &summary.covers;
    format!(
        "Covers messages {} to {} ({first} to {last}), written {}{by}",
        summary.from + 1,
        summary.upto,
        summary.at
    )
}

/// The present one and those it replaced, newest first.
fn history(session: &Session) -> String {
    let hybrid = session.hybrid();
    let all = hybrid.replaced.iter().chain(&hybrid.summary).rev();
    let lines: Vec<String> = all
        .map(|summary| {
            format!(
                "{}\n  {}",
                heading(summary),
                first_words(&summary.text, 100)
            )
        })
        .collect();
    if lines.is_empty() {
        "No summary yet".to_owned()
    } else {
        lines.join("\n")
    }
}
