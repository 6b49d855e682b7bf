//! `/recall`: what memory would bring for a question, how well each fits, and where it is from.

use super::{Answer, CommandError, Next, ReplContext, usage};
use crate::context::stages::history::window_start;
use crate::memory::recall::Found;
use crate::term::harmless;

/// Exchanges shown.
const SHOWN: usize = 5;

pub(super) async fn run(repl: &mut ReplContext, question: &str) -> Result<Next, CommandError> {
    if question.is_empty() {
        return Err(usage("recall", "needs a question".to_owned()));
    }
    let recalled = repl.agent.recall(question, SHOWN).await;
    let window = repl.agent.memory().mode().window;
    let window = window_start(repl.session(), window);
    let shown: Vec<String> = recalled
        .found
        .iter()
        .zip(&recalled.quotes)
        .map(|(found, quote)| {
            let is_sent = found.messages.start >= window;
            let sent = if is_sent { ", in the window" } else { "" };
            format!("{}{sent}\n{}", figures(found), set_off(quote))
        })
        .collect();
    let text = if shown.is_empty() {
        "No matches".to_owned()
    } else {
        shown.join("\n\n")
    };
    Ok(Next::Answer(Answer {
        text,
        warning: recalled.warning,
    }))
}

/// A quotation that cannot pass for anything else on the screen: no line of it begins where the program's own do, and
/// no sequence in it reaches a terminal, also by way of a file.
fn set_off(quote: &str) -> String {
    let lines = quote.lines().map(|line| format!("  {}", harmless(line)));
    lines.collect::<Vec<_>>().join("\n")
}

/// `0.92  words 61 %, meaning 0.48`; the window is sent anyway.
fn figures(found: &Found) -> String {
    let best = found.best;
    let meaning = best
        .similarity
        .map_or(String::new(), |cosine| format!(", meaning {cosine:.2}"));
    format!(
        "{:.2}  words {:.0} %{meaning}",
        best.score,
        best.overlap * 100.0
    )
}
