//! Sessions in lines: the table of all, and the one that was opened.

use std::path::PathBuf;

use crate::agent::Agent;
use crate::chat::{SessionName, Timestamp};
use crate::hint::chain;
use crate::index::Hit;
use crate::long_term::notes::NotesError;
use crate::store::SessionInfo;
use crate::term::{Align, Table, thousands};

/// `Resumed work (12 messages, last 3 days ago)`, or that it is new (C75).
pub fn opened(agent: &Agent, now: Timestamp) -> String {
    let session = agent.session();
    let name = session.name();
    if agent.is_blank() {
        return format!("New session {name}");
    }
    if session.is_empty() {
        return format!("Resumed {name} (no messages yet; `/memory` shows its notes)");
    }
    let messages = count(session.messages().len(), "message");
    let last = session
        .meta()
        .updated_at
        .map_or_else(String::new, |at| format!(", last {}", at.ago(now)));
    format!("Resumed {name} ({messages}{last})")
}

/// What became of the notes of a session that was deleted, where that is worth a line.
pub fn notes_gone(gone: Result<Option<PathBuf>, NotesError>) -> Option<String> {
    match gone {
        Ok(gone) => gone.map(|gone| format!("Its notes moved to {}", gone.display())),
        Err(error) => Some(format!("Could not move its notes: {}", chain(&error))),
    }
}

/// That parts of what the modes had noted cannot be read.
pub fn unread(places: &[String]) -> Option<String> {
    const NAMED: usize = 5;
    (!places.is_empty()).then(|| {
        let named = places[..places.len().min(NAMED)].join(", ");
        let more = match places.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "some mode notes could not be read and are kept under \"unread\" in the mode state file: {named}{more}"
        )
    })
}

/// The other places that say the same, a few of them; empty where there are none.
pub fn also(places: &[String]) -> String {
    const NAMED: usize = 3;
    let (named, more) = places.split_at(places.len().min(NAMED));
    match (named, more.len()) {
        ([], _) => String::new(),
        (named, 0) => format!("  (also {})", named.join(", ")),
        (named, more) => format!("  (also {} and {more} more)", named.join(", ")),
    }
}

/// The hits a person is shown: those that have something of the question, and what stands within two lines of them. Where
/// nothing has, all.
pub fn worth_showing(hits: &[Hit]) -> Vec<&Hit> {
    let is_near = |hit: &Hit| {
        hits.iter().any(|other| {
            !other.is_beside && other.source == hit.source && other.line.abs_diff(hit.line) <= 2
        })
    };
    let shown: Vec<&Hit> = hits.iter().filter(|hit| is_near(hit)).collect();
    if shown.is_empty() {
        hits.iter().collect()
    } else {
        shown
    }
}

/// That a hit has nothing of the question itself.
pub fn beside(hit: &Hit) -> &'static str {
    if hit.is_beside {
        "  (next to a match)"
    } else {
        ""
    }
}

/// `940`, `4.1k`, `16k`, `1.0M`: tokens in a few letters.
pub fn thousand(n: u64) -> String {
    let tenths = |unit: u64| (n * 10 + unit / 2) / unit;
    let short = |tenths: u64, letter: char| match tenths {
        100.. => format!("{}{letter}", (tenths + 5) / 10),
        _ => format!("{}.{}{letter}", tenths / 10, tenths % 10),
    };
    match n {
        0..1_000 => n.to_string(),
        1_000..999_500 => short(tenths(1_000), 'k'),
        _ => short(tenths(1_000_000), 'M'),
    }
}

/// `1 message`, `2,000 messages`.
pub fn count(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(n))
}

/// One line a session: name, mode, messages, last used, first words; the open one marked.
pub fn table(
    sessions: &[SessionInfo],
    open: Option<&SessionName>,
    now: Timestamp,
    columns: usize,
) -> String {
    if sessions.is_empty() {
        return "No sessions yet".to_owned();
    }
    let mut table = Table::new([
        Align::Left,
        Align::Left,
        Align::Right,
        Align::Left,
        Align::Left,
    ]);
    table.row(["  SESSION", "MODE", "MESSAGES", "LAST USED", "FIRST WORDS"]);
    for info in sessions {
        let mark = if open == Some(&info.name) { '*' } else { ' ' };
        let name = format!("{mark} {}", info.name);
        let mode = info.mode.clone().unwrap_or_default();
        let last = info.updated_at.map_or_else(String::new, |at| at.ago(now));
        let words = info.problem.as_ref().unwrap_or(&info.title).clone();
        table.row([name, mode, info.messages.to_string(), last, words]);
    }
    table.render(columns).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Kind;
    use crate::index::fixture::hit;

    #[test]
    fn what_is_far_from_any_match_is_not_shown_unless_nothing_matches() {
        let found = |source, line, is_beside| Hit {
            is_beside,
            ..hit(Kind::Said, source, line, "words")
        };
        let hits = [
            found("a", 4, false),
            found("a", 5, true),
            found("a", 9, true),
            found("b", 4, true),
        ];
        let lines = |hits: &[Hit]| -> Vec<usize> {
            worth_showing(hits).iter().map(|hit| hit.line).collect()
        };
        assert_eq!(lines(&hits), [4, 5]);
        assert_eq!(lines(&hits[1..]), [5, 9, 4]);
    }
}
