//! `/history` and `/undo`.

use super::{CommandError, Desk, Next, nothing, usage};
use crate::repl::{listing, transcript};

const DEFAULT: usize = 5;

pub(super) async fn run(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    let count = match arguments {
        "" => DEFAULT,
        "all" => usize::MAX,
        number => number
            .parse()
            .map_err(|_| usage("history", format!("does not know {number:?}")))?,
    };
    let session = desk.session();
    if session.is_empty() {
        return Next::answer("Nothing was said yet");
    }
    let turns = session.turns();
    let skipped = turns.len().saturating_sub(count);
    let mut parts: Vec<String> = Vec::new();
    if skipped > 0 {
        let earlier = listing::count(skipped, "earlier turn");
        parts.push(format!("({earlier}; /history all)"));
    }
    parts.extend(
        turns[skipped..]
            .iter()
            .map(|turn| transcript::turn(session, turn)),
    );
    Next::answer(parts.join("\n\n"))
}

pub(super) async fn undo(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    nothing("undo", arguments)?;
    let (input, warning) = desk.agent.undo()?;
    let words = transcript::first_words(&input, 60);
    Ok(Next::with(format!("Taken back: {words}"), warning))
}
