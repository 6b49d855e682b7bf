//! `/why`: which memories the last answer used, each with its source, its date and the reason it was there.

use super::{CommandError, Next, nothing};
use crate::agent::Agent;
use crate::chat::{Session, Timestamp, TurnId};
use crate::context::{Brought, Content, Section, SectionKind, Source};
use crate::long_term::entries::Entry;
use crate::repl::transcript::first_words;

/// Characters that are shown of one thing.
const SHOWN: usize = 100;
/// Lines of one section that are shown.
const LINES: usize = 10;
const ALWAYS: &str = "sent with every request";

pub(super) fn run(agent: &Agent, arguments: &str) -> Result<Next, CommandError> {
    nothing("why", arguments)?;
    let Some(plan) = agent.last_plan() else {
        return Next::answer(if agent.session().turns().is_empty() {
            "No answer yet."
        } else {
            "The last answer is from before this start, and what it used was not saved. `/why` works again after your next message."
        });
    };
    let is_offline = agent.provider().is_offline();
    let sections = plan.sections().iter();
    // What goes along with every request is not quoted.
    let sections = sections.filter(|section| {
        !is_offline || matches!(section.source, Source::Recall(_) | Source::Hits(_))
    });
    let mut behind: Vec<String> = sections
        .flat_map(|section| reasons(agent, section))
        .collect();
    if is_offline {
        behind.push(
            "No model is connected: replies quote messages that share words with yours.".to_owned(),
        );
    } else if behind.is_empty() {
        behind.push(
            "Memory was not used: the last answer is based only on the messages in the window."
                .to_owned(),
        );
    }
    behind.push(
        "`/context full` shows the whole request, `/memory why N` where a note came from."
            .to_owned(),
    );
    Next::answer(behind.join("\n"))
}

/// A thing in a line: its name, when it was said, why it is there; its words below.
fn item(name: &str, at: Option<Timestamp>, why: &str, words: &str) -> String {
    let date = at.map_or_else(String::new, |at| format!(", {}", at.date()));
    let line = format!("{name}{date}: {why}");
    let words = first_words(words, SHOWN);
    if words.is_empty() {
        line
    } else {
        format!("{line}\n    {words}")
    }
}

fn reasons(agent: &Agent, section: &Section) -> Vec<String> {
    let session = agent.session();
    let always = |name: &str, at| vec![item(name, at, ALWAYS, "")];
    let with_lines = |names: Vec<String>| [names, lines_of(&text_of(section))].concat();
    match (&section.source, section.kind) {
        (Source::Recall(turns), _) => turns.iter().map(|it| recalled(session, it)).collect(),
        (Source::Hits(hits), _) => {
            let text = text_of(section);
            hits.iter().map(|hit| found(agent, hit, &text)).collect()
        }
        (Source::Summary { from, upto }, _) => {
            let summary = session.hybrid().running();
            let name = format!("summary of messages {} to {upto}", from + 1);
            let why = "sent in place of messages outside the window";
            vec![item(&name, summary.map(|summary| summary.at), why, "")]
        }
        (Source::Compaction { upto, .. }, _) => {
            let compaction = session.hybrid().compaction.as_ref();
            let name = format!("summary of messages up to {upto}");
            let at = compaction.map(|compaction| compaction.at);
            vec![item(&name, at, "sent in their place", "")]
        }
        (Source::Pinned(pins), _) => always(&format!("{pins} pinned by you"), None),
        (Source::Tracker(mode), _) => with_lines(always(&format!("notes of {mode} mode"), None)),
        (Source::File(name), kind) if kind != SectionKind::System => with_lines(always(name, None)),
        (Source::Files(names), kind) if kind != SectionKind::System => {
            with_lines(always(&names.join(", "), None))
        }
        (Source::Scratchpad(_), _) => always("scratchpad", None),
        _ => Vec::new(),
    }
}

/// The first items of lists in a section, shortened, one a line, each once.
fn lines_of(text: &str) -> Vec<String> {
    let mut items: Vec<&str> = Vec::new();
    for line in text.lines() {
        let item = line.trim_start().strip_prefix("- ").map(words_of);
        if let Some(item) = item.filter(|item| !items.contains(item)) {
            items.push(item);
        }
    }
    let shown = items.iter().take(LINES);
    let mut lines: Vec<String> = shown
        .map(|line| format!("    {}", first_words(line, SHOWN)))
        .collect();
    if items.len() > LINES {
        lines.push(format!("    … {} more", items.len() - LINES));
    }
    lines
}

/// What a line says, without the time and the category before it: `[2026-02-14T15:23:05+00:00] **profile**: `.
fn words_of(line: &str) -> &str {
    let dated = line.strip_prefix('[').and_then(|it| it.split_once("] "));
    let line = dated.map_or(line, |(_, said)| said);
    let labelled = line.strip_prefix("**").and_then(|it| it.split_once("**: "));
    labelled.map_or(line, |(_, said)| said)
}

/// An exchange of this session that recall brought.
fn recalled(session: &Session, turn: &Brought<TurnId>) -> String {
    let said = session.turns().iter().find(|known| known.id == turn.what);
    let said = said.and_then(|turn| session.messages_of(turn).first());
    let words = said.map_or_else(String::new, |message| message.said().into_owned());
    let name = format!("turn {}", turn.what);
    item(&name, turn.at, &match_of(turn), &words)
}

/// A note, an entry, a document or another session, with the line that was sent of it.
fn found(agent: &Agent, hit: &Brought<String>, text: &str) -> String {
    let begin = format!("- {}: ", hit.what);
    let words = text.lines().find_map(|line| line.strip_prefix(&begin));
    let words = words.unwrap_or_default();
    let entry = hit.what.strip_prefix("entry ");
    let entry = entry.and_then(|it| {
        let (id, _) = it.rsplit_once(':')?;
        agent.entries().all().find(|(_, it)| it.id.as_str() == id)
    });
    let (name, words) = match entry {
        // What a person called it says more than its id.
        Some((_, Entry { key: Some(key), .. })) => {
            let said = words.strip_prefix(key.as_str());
            let said = said.and_then(|it| it.strip_prefix(": "));
            (format!("entry {key}"), said.unwrap_or(words))
        }
        Some((_, entry)) => (format!("entry {}", entry.id), words),
        None => (hit.what.clone(), words),
    };
    item(&name, hit.at, &match_of(hit), words_of(words))
}

fn match_of<T>(brought: &Brought<T>) -> String {
    if brought.overlap == 0.0 && brought.similarity.is_none() {
        return "next to a match".to_owned();
    }
    let words = format!(
        "matches {:.0} % of the question's words",
        100.0 * brought.overlap
    );
    brought.similarity.map_or_else(
        || words.clone(),
        |similarity| format!("{words}, {similarity:.2} similar in meaning"),
    )
}

fn text_of(section: &Section) -> String {
    match section.content() {
        Content::System(text) => text.clone(),
        Content::Messages(messages) => {
            let said = messages.iter().map(|message| message.said().into_owned());
            said.collect::<Vec<_>>().join("\n")
        }
        Content::Tools(_) => String::new(),
    }
}
