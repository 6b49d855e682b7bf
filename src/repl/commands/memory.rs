//! `/memory`: what memory holds, and the whole state of a mode.

use super::{CommandError, Desk, Next};
use crate::context::{ContextPlan, SectionKind};
use crate::memory::MemoryMode;
use crate::memory::tracking::{Board, By, Entry, Freshness, Holds, Section, words};
use crate::repl::listing::count;
use crate::repl::transcript::first_words;

pub(super) async fn run(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    if !arguments.is_empty() {
        let mode = desk.agent.memory().modes().get(arguments)?;
        return Next::answer(state(mode));
    }
    let plan = desk.agent.preview().await.ok();
    let messages = messages(desk, plan.as_ref());
    let mode = desk.agent.memory().modes().active();
    Next::answer(format!("{messages}\n\n{}", state(mode)))
}

/// Where every message is: sent, stood for, or left out.
fn messages(desk: &Desk, plan: Option<&ContextPlan>) -> String {
    let session = desk.session();
    let compaction = session.hybrid().compaction.as_ref();
    let of = |kind| {
        let sections = plan.iter().flat_map(|plan| plan.sections());
        let sections = sections.filter(|section| section.kind == kind);
        sections
            .map(|section| section.as_messages().len())
            .sum::<usize>()
    };
    let left_out = plan.map_or(0, ContextPlan::messages_left_out);
    let compacted = compaction.map_or_else(
        || "none".to_owned(),
        |compaction| {
            let words = first_words(&compaction.text, 60);
            let messages = count(compaction.upto, "message");
            format!("stands for {messages}, made {}: {words}", compaction.at)
        },
    );
    let rows = [
        ("session", session.name().to_string()),
        (
            "messages",
            format!(
                "{} kept; next request: {} in the window, {} pending, {} stood for by a summary, {left_out} left out",
                session.messages().len(),
                of(SectionKind::Window),
                of(SectionKind::Pending),
                compaction.map_or(0, |compaction| compaction.upto),
            ),
        ),
        ("compaction", compacted),
    ];
    let lines = rows
        .iter()
        .map(|(name, value)| format!("{name:<11} {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

fn state(mode: &dyn MemoryMode) -> String {
    let preset = mode.preset();
    let Some(board) = mode.board() else {
        return format!("{} mode keeps no notes", preset.name);
    };
    let heading = format!(
        "{} mode, {} read",
        preset.name,
        count(
            usize::try_from(board.turn_count()).unwrap_or(usize::MAX),
            "turn"
        )
    );
    let sections = board.sections().iter();
    let noted: Vec<String> = sections
        .clone()
        .filter(|section| !section.entries().is_empty())
        .map(|section| of_section(board, section, preset.freshness))
        .collect();
    let empty: Vec<&str> = sections
        .filter(|section| section.entries().is_empty())
        .map(|section| section.kind().row().section)
        .collect();
    let mut parts = vec![heading];
    parts.extend(noted);
    if !empty.is_empty() {
        parts.push(format!("nothing noted yet: {}", empty.join(", ")));
    }
    parts.join("\n\n")
}

fn of_section(board: &Board, section: &Section, freshness: Freshness) -> String {
    let row = section.kind().row();
    let entries = section.entries();
    let kept = match row.holds {
        Holds::One => String::new(),
        Holds::Most(_) => format!(" ({} of {})", entries.len(), section.cap()),
    };
    let stale = board.stale(section.kind());
    let sent = match freshness {
        Freshness::Within(most) if !freshness.allows(section.kind(), stale) => {
            let turns = count(usize::try_from(stale).unwrap_or(usize::MAX), "turn");
            format!(
                ": not sent, last touched {turns} ago (after {most} a section waits until it is touched again)"
            )
        }
        Freshness::Within(_) | Freshness::Always if entries.len() > row.shown => {
            format!(", the newest {} are sent", row.shown)
        }
        Freshness::Within(_) | Freshness::Always => String::new(),
    };
    let heading = format!("{}{kept}{sent}", row.heading);
    let lines = entries.iter().map(line);
    std::iter::once(heading)
        .chain(lines)
        .collect::<Vec<_>>()
        .join("\n")
}

fn line(entry: &Entry) -> String {
    let by = match entry.by {
        By::Heuristic => "",
        By::Tool => ", by a tool",
        By::Person => ", by hand",
    };
    format!(
        "{:>4}  {}  [turn {}{by}]",
        entry.number,
        words(&entry.note),
        entry.turn
    )
}
