//! `/history`, `/undo` and `/diff`.

use super::{CommandError, Next, ReplContext, nothing, usage};
use crate::agent::{Agent, Undone};
use crate::hint::chain;
use crate::long_term::notes::Receipt;
use crate::repl::input::long;
use crate::repl::{listing, transcript};

const DEFAULT: usize = 5;

pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    history(&repl.agent, arguments)
}

pub(super) fn history(agent: &Agent, arguments: &str) -> Result<Next, CommandError> {
    let (which, is_full) = match arguments.strip_suffix("full") {
        Some(which) => (which.trim_end(), true),
        None => (arguments, false),
    };
    let count = match which {
        "" => DEFAULT,
        "all" => usize::MAX,
        number => number
            .parse()
            .map_err(|_| usage("history", format!("needs a number, not {number:?}")))?,
    };
    let session = agent.session();
    if session.is_empty() {
        return Next::answer("No messages yet");
    }
    let turns = session.turns();
    let skipped = turns.len().saturating_sub(count);
    let mut parts: Vec<String> = Vec::new();
    if skipped > 0 {
        let earlier = listing::count(skipped, "earlier turn");
        parts.push(format!("({earlier}; /history all)"));
    }
    let blocks = turns[skipped..]
        .iter()
        .flat_map(|turn| transcript::blocks(session, turn));
    parts.extend(blocks.map(|mut block| {
        if !is_full && !block.is_reply {
            block.text = folded(block.text);
        }
        block.to_string()
    }));
    Next::answer(parts.join("\n\n"))
}

/// A long text as its beginning and its length, as the prompt folds what is pasted.
fn folded(text: String) -> String {
    const LINES: usize = 3;
    const CHARS: usize = 200;
    let Some(length) = long(&text) else {
        return text;
    };
    let begin: Vec<&str> = text.lines().take(LINES).collect();
    let begin: String = begin.join("\n").chars().take(CHARS).collect();
    format!("{begin} …\n[{length}; `/history full` shows them]")
}

pub(super) async fn undo(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    nothing("undo", arguments)?;
    let Undone {
        input,
        files,
        has_commands,
        captured,
        warning,
    } = repl.agent.undo()?;
    let words = transcript::first_words(&input, 60);
    let mut lines = vec![format!("Undone: {words}")];
    match files {
        Ok(restored) => lines.extend(restored.lines().map(|line| format!("  {line}"))),
        Err(error) => lines.push(format!(
            "Could not undo its file changes: {}",
            chain(&error)
        )),
    }
    if has_commands {
        lines.push("  changes made by its commands remain".to_owned());
    }
    match captured {
        Ok(receipts) => lines.extend(receipts.iter().map(stays)),
        Err(error) => lines.push(format!(
            "Could not check what memory noted from it: {}",
            chain(&error)
        )),
    }
    Ok(Next::with(lines.join("\n"), warning))
}

/// What was captured of a turn that was taken back, and how it is forgotten.
fn stays(receipt: &Receipt) -> String {
    let Receipt { number, what, .. } = receipt;
    let kind = what.category.replace('_', " ");
    let text = transcript::first_words(&what.text, 80);
    format!("  still in memory ({kind}): {text} · /memory forget {number}")
}

/// `/edit`: the last message, to be sent anew.
pub(super) async fn edit(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    nothing("edit", arguments)?;
    let session = repl.session();
    let turn = session.live_turns().next_back();
    let message = turn.and_then(|turn| session.messages_of(turn).first());
    match message {
        Some(message) => Ok(Next::EditMessage(message.said().into_owned())),
        None => Next::answer("No message to edit."),
    }
}

/// `/diff [N]`: what tools changed, in the last N turns or the whole session.
pub(super) async fn diff(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    changes(&repl.agent, arguments)
}

pub(super) fn changes(agent: &Agent, arguments: &str) -> Result<Next, CommandError> {
    let newest = match arguments {
        "" | "all" => usize::MAX,
        "last" => 1,
        number => number
            .parse()
            .map_err(|_| usage("diff", format!("needs a number, not {number:?}")))?,
    };
    let diff = agent.changes(newest)?;
    if diff.trim().is_empty() {
        return Next::answer("No files changed by tools.");
    }
    Ok(Next::Diff(diff))
}
