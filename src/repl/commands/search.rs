//! `/search`: one search over notes, entries, documents and sessions; between slashes a regular expression over this
//! one.

use std::collections::BTreeMap;

use tokio_util::sync::CancellationToken;

use super::{Answer, CommandError, Next, ReplContext, usage};
use crate::agent::{Agent, Warning};
use crate::index::{Hit, Kind, Scope, SearchMode, Searched};
use crate::repl::listing::{also, beside, count, worth_showing};
use crate::repl::transcript::first_words;
use crate::term::harmless;
use crate::tools::history;

/// Hits shown.
const SHOWN: usize = 20;
/// Characters of one hit.
const CHARS: usize = 240;

pub(super) async fn run(agent: &mut Agent, query: &str) -> Result<Next, CommandError> {
    let regex = query
        .strip_prefix('/')
        .and_then(|rest| rest.strip_suffix('/'));
    match regex {
        Some(regex) => in_session(agent, regex).await,
        None => search(agent, query, Scope::Everything, "search").await,
    }
}

/// `/memory search`.
pub(super) async fn long_term(agent: &mut Agent, query: &str) -> Result<Next, CommandError> {
    search(agent, query, Scope::LongTerm, "memory").await
}

async fn search(
    agent: &mut Agent,
    query: &str,
    scope: Scope,
    command: &'static str,
) -> Result<Next, CommandError> {
    if query.trim().is_empty() {
        return Err(usage(command, "needs words to search for"));
    }
    let searching = agent.search(query, SHOWN, SearchMode::Hybrid, scope);
    let searched = searching.await;
    let text = if searched.hits.is_empty() {
        nothing(&searched)
    } else {
        listed(&worth_showing(&searched.hits))
    };
    Ok(Next::Answer(Answer {
        text,
        warning: warning(&searched.troubles),
    }))
}

/// `/memory reindex`.
pub(super) async fn reindex(repl: &mut ReplContext) -> Result<Next, CommandError> {
    let Some((read, troubles)) = repl.agent.reread_long_term().await else {
        return Next::answer("No long-term memory here");
    };
    let text = format!("{} reindexed", count(read.read, "source"));
    Ok(Next::Answer(Answer {
        text,
        warning: warning(&troubles),
    }))
}

async fn in_session(agent: &Agent, regex: &str) -> Result<Next, CommandError> {
    let bad = |failure: crate::tools::Failure| usage("search", failure.to_string());
    let pattern = history::pattern(regex).map_err(bad)?;
    // Ctrl-C drops the whole command, which lets go between messages and between parts of a long one.
    let cancel = CancellationToken::new();
    let hits = history::search(
        agent.session(),
        &pattern,
        (SHOWN, history::deadline()),
        None,
        &cancel,
    )
    .await;
    let hits = hits.map_err(bad)?;
    if hits.total == 0 && hits.unread == 0 {
        let messages = count(agent.session().messages().len(), "message");
        return Next::answer(format!("No matches in the {messages} of this session"));
    }
    let mut lines: Vec<String> = hits.shown.iter().map(|hit| harmless(&hit.line)).collect();
    if hits.total > lines.len() {
        let shown = lines.len();
        let matching = count(hits.total, "message");
        lines.push(format!("{matching} in total; showing the newest {shown}"));
    }
    if hits.unread > 0 {
        let unread = count(hits.unread, "message");
        lines.push(format!(
            "out of time before the oldest {unread}; try a simpler pattern"
        ));
    }
    Next::answer(lines.join("\n"))
}

fn warning(troubles: &[String]) -> Option<Warning> {
    let why = troubles.join("; ");
    (!why.is_empty()).then_some(Warning::NotSearched { why })
}

/// Hits by what they are, the kind with the best one first.
fn listed(hits: &[&Hit]) -> String {
    let mut groups: Vec<(Kind, Vec<&Hit>)> = Vec::new();
    for &hit in hits {
        match groups.iter_mut().find(|(kind, _)| *kind == hit.kind) {
            Some((_, group)) => group.push(hit),
            None => groups.push((hit.kind, vec![hit])),
        }
    }
    let mut lines = Vec::new();
    let mut number = 0;
    for (kind, group) in groups {
        lines.push(names(kind).1.to_owned());
        for hit in group {
            number += 1;
            let words = first_words(&hit.content, CHARS);
            let also = also(&hit.also);
            let beside = beside(hit);
            let line = format!(
                "{number:>4}  {}:{}  {words}{also}{beside}",
                hit.source, hit.line
            );
            lines.push(harmless(&line));
        }
    }
    lines.join("\n")
}

/// What was looked through, where that brought nothing.
fn nothing(searched: &Searched) -> String {
    if searched.is_of_nothing() {
        return "Nothing to search yet".to_owned();
    }
    format!("No matches in {}", looked(&searched.looked))
}

fn looked(looked: &BTreeMap<Kind, usize>) -> String {
    let parts = looked.iter().map(|(kind, number)| {
        let (one, several) = names(*kind);
        match number {
            1 => format!("1 {one}"),
            number => format!("{number} {several}"),
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// One of a kind, and several.
fn names(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Note => ("note", "notes"),
        Kind::SessionState => ("session state", "session states"),
        Kind::Daily => ("daily note", "daily notes"),
        Kind::OwnFile => ("file of the model", "files of the model"),
        Kind::Entry => ("entry", "entries"),
        Kind::Document => ("document", "documents"),
        Kind::Said => ("session", "sessions"),
        Kind::External => ("mem0", "mem0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::fixture::hit;

    #[test]
    fn hits_are_numbered_under_their_kind_and_nothing_in_them_reaches_a_terminal() {
        let hits = [
            hit(Kind::Note, "MEMORY.md", 3, "deploy uses\nfly.io"),
            hit(Kind::Daily, "memory/2026-02-14.md", 1, "\u{1b}[2Jred"),
            hit(Kind::Note, "SOUL.md", 9, "calm"),
        ];
        let text = listed(&hits.each_ref());
        assert!(!text.contains('\u{1b}'), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..4],
            [
                "notes",
                "   1  MEMORY.md:3  deploy uses fly.io",
                "   2  SOUL.md:9  calm",
                "daily notes"
            ]
        );
        assert!(lines[4].starts_with("   3  memory/2026-02-14.md:1  "));
    }
}
