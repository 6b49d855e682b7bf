//! `/memory`: what memory holds, and the whole state of a mode; entries are in [`entries`], what a person
//! owns of all of it in [`owning`].

use super::{CommandError, Next, ReplContext, entries, owning, search};
use crate::agent::Agent;
use crate::chat::Session;
use crate::context::{ContextPlan, DoesNotFit};
use crate::embed::EmbedderChoice;
use crate::memory::tracking::{Board, By, Entry, Freshness, Holds, Section, words};
use crate::memory::{MemoryMode, Place};
use crate::repl::listing::count;
use crate::repl::transcript::first_words;

pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    if let Some(done) = entries::run(repl, arguments) {
        return done;
    }
    if let Some(done) = owning::run(repl, arguments) {
        return done;
    }
    match arguments.split_once(' ').unwrap_or((arguments, "")) {
        ("forget", asked) => return owning::forget(repl, asked.trim()).await,
        ("search", query) => return search::long_term(&mut repl.agent, query.trim()).await,
        ("reindex", "") => return search::reindex(repl).await,
        _ => {}
    }
    if !arguments.is_empty() {
        return match repl.agent.memory().modes().get(arguments) {
            Ok(mode) => Next::answer(state(mode)),
            Err(_) => Err(owning::unknown(
                arguments,
                &repl.agent.memory().modes().names(),
            )),
        };
    }
    overview(&repl.agent).await
}

/// What memory holds, with the notes of the active mode.
pub(super) async fn overview(agent: &Agent) -> Result<Next, CommandError> {
    let plan = agent.preview().await;
    let mut parts = vec![messages(agent, &plan)];
    let modes = agent.memory().modes();
    parts.push(state(modes.active()));
    let others = modes.iter().filter_map(|mode| elsewhere(agent, mode));
    let others: Vec<String> = others.collect();
    if !others.is_empty() {
        parts.push(others.join("\n"));
    }
    Next::answer(parts.join("\n\n"))
}

/// Where every message is: sent, stood for, or left out.
fn messages(agent: &Agent, plan: &Result<ContextPlan, DoesNotFit>) -> String {
    let session = agent.session();
    let rows = [
        ("session", session.name().to_string()),
        ("messages", saved(agent, plan)),
        ("summary", summary(agent)),
        ("compaction", compaction(session)),
        ("recall", recall(agent)),
    ];
    let lines = rows
        .iter()
        .map(|(name, value)| format!("{name:<11} {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// How many messages there are, and what the next request makes of them.
fn saved(agent: &Agent, plan: &Result<ContextPlan, DoesNotFit>) -> String {
    let session = agent.session();
    if session.messages().is_empty() {
        return "none yet".to_owned();
    }
    let messages = session.messages().len();
    let saved = if agent.is_unsaved() {
        format!("{messages}, not saved")
    } else {
        format!("{messages} saved")
    };
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => return format!("{saved}; next request: {error}"),
    };
    let proof = agent.memory().proof(session, plan, |_| false);
    let of = |place| proof.ranges(place).count();
    let parts = [
        (of(Place::Window), "in full"),
        (of(Place::Pending), "waiting for a summary"),
        (of(Place::Summarised) + of(Place::Compacted), "summarised"),
        (plan.messages_left_out(), "left out"),
    ];
    let parts = parts.into_iter().filter(|(messages, _)| *messages > 0);
    let parts: Vec<String> = parts.map(|(n, how)| format!("{n} {how}")).collect();
    format!("{saved}; next request: {}", parts.join(", "))
}

/// What recall searches: words, and vectors where there are any (C21).
fn recall(agent: &Agent) -> String {
    let k = agent.memory().recall_k();
    if k == 0 {
        return "off".to_owned();
    }
    let embedder = agent.embedder().map(EmbedderChoice::describe);
    let embedder = embedder.unwrap_or_default();
    let embedder = match embedder.strip_prefix("none: keyword search") {
        Some(why) => format!("no embedder{why}"),
        None => format!("embedder: {embedder}"),
    };
    let vectors = agent.vectors().map_or_else(String::new, |vectors| {
        let running = vectors.running.map_or(String::new(), |(done, wanted)| {
            format!(", {} pending", wanted - done)
        });
        let exchanges = count(vectors.exchanges, "exchange");
        format!("; vectors for {exchanges}{running}")
    });
    format!("top {k} by keyword; {embedder}{vectors}")
}

/// How far the rolling summary has come, and how it fares (C15).
fn summary(agent: &Agent) -> String {
    let hybrid = agent.session().hybrid();
    let mut parts = vec![hybrid.running().map_or_else(
        || "none yet".to_owned(),
        |summary| {
            let messages = count(summary.upto - summary.from, "message");
            let by = match summary.by.as_str() {
                "" => String::new(),
                by => format!(" by {by}"),
            };
            format!("{messages}, written {}{by}", summary.at)
        },
    )];
    let running = agent.job_covers();
    if running > 0 {
        parts.push(format!(
            "{} being summarised now",
            count(running, "message")
        ));
    }
    if hybrid.failures > 0 {
        let times = count(hybrid.failures as usize, "time");
        parts.push(format!("failed {times} in a row"));
    }
    if !agent.memory().mode().hybrid.summarization {
        parts.push("off in this mode".to_owned());
    }
    parts.join("; ")
}

fn compaction(session: &Session) -> String {
    session.hybrid().compaction.as_ref().map_or_else(
        || "none".to_owned(),
        |compaction| {
            let words = first_words(&compaction.text, 60);
            let messages = count(compaction.upto, "message");
            format!("{messages}, replaced {}: {words}", compaction.at)
        },
    )
}

/// One line on what a mode noted that is not the active one.
fn elsewhere(agent: &Agent, mode: &dyn MemoryMode) -> Option<String> {
    let name = &mode.preset().name;
    let sections = mode.board()?.sections().iter();
    let noted = sections.filter(|section| !section.entries().is_empty());
    let noted: Vec<String> = noted
        .map(|section| {
            let row = section.kind().row();
            match row.holds {
                Holds::One => row.section.to_owned(),
                Holds::Most(_) => match section.entries().len() {
                    1 => format!("1 {}", row.name),
                    several => format!("{several} {}", row.section),
                },
            }
        })
        .collect();
    (agent.memory().mode().name != *name && !noted.is_empty())
        .then(|| format!("in {name} mode: {} (`/memory {name}`)", noted.join(", ")))
}

pub(super) fn state(mode: &dyn MemoryMode) -> String {
    let preset = mode.preset();
    let Some(board) = mode.board() else {
        return format!("{} mode takes no notes", preset.name);
    };
    let heading = format!(
        "{} mode, notes from {}",
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
    let off: Vec<&str> = sections
        .clone()
        .filter(|section| section.cap() == 0)
        .map(|section| section.kind().row().section)
        .collect();
    let empty: Vec<&str> = sections
        .filter(|section| section.entries().is_empty() && section.cap() > 0)
        .map(|section| section.kind().row().section)
        .collect();
    let mut parts = vec![heading];
    parts.extend(noted);
    if !empty.is_empty() {
        parts.push(format!("Nothing noted yet: {}", empty.join(", ")));
    }
    if !off.is_empty() {
        parts.push(format!("Off in the config: {}", off.join(", ")));
    }
    parts.join("\n\n")
}

fn of_section(board: &Board, section: &Section, freshness: Freshness) -> String {
    let row = section.kind().row();
    let entries = section.entries();
    let hidden = match section.hidden() {
        0 => String::new(),
        hidden => format!(", {hidden} older ones not shown"),
    };
    let kept = match row.holds {
        Holds::One => String::new(),
        Holds::Most(_) => format!(" ({} of {}{hidden})", entries.len(), section.cap()),
    };
    let heading = format!("{}{kept}{}", row.heading, sent(board, section, freshness));
    let lines = entries.iter().map(line);
    std::iter::once(heading)
        .chain(lines)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Whether and how far a section is sent, where that is not all of it.
fn sent(board: &Board, section: &Section, freshness: Freshness) -> String {
    let row = section.kind().row();
    let stale = board.stale(section.kind());
    match freshness {
        Freshness::Never => ": kept but not sent (`inject_entities` is off)".to_owned(),
        Freshness::Within(most) if !freshness.allows(section.kind(), stale) => {
            let turns = count(usize::try_from(stale).unwrap_or(usize::MAX), "turn");
            let at = section.touched().at;
            let at = at.map_or_else(String::new, |at| format!(" ({at})"));
            format!(": not sent, unchanged for {turns}{at}; the limit is {most}")
        }
        Freshness::Within(_) | Freshness::Always if section.entries().len() > row.shown => {
            format!(", only the newest {} are sent", row.shown)
        }
        Freshness::Within(_) | Freshness::Always => String::new(),
    }
}

fn line(entry: &Entry) -> String {
    let by = match entry.by {
        By::Heuristic => "",
        By::Tool => ", by the model",
        By::Person => ", by hand",
    };
    format!(
        "{:>4}  {}  [turn {}{by}]",
        entry.number,
        words(&entry.note),
        entry.turn
    )
}
