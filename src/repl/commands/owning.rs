//! `/memory list|show|forget|why|edit|layers|paths`: what memory holds is the person's own.

use super::entries::first;
use super::{CommandError, Environment, Next, ReplContext, cannot, usage, usage_as};
use crate::agent::Agent;
use crate::hint::chain;
use crate::long_term::entries::Scope;
use crate::repl::memory_view::{
    Caller, Chosen, Extent, Found, History, MemoryView, MemoryViewError,
};
use crate::repl::repl_context::Writing;

/// What `/memory` takes first, beside a mode.
pub const WORDS: [(&str, &str); 13] = [
    ("list", "[all]: list saved entries and notes"),
    ("show", "N|ID|FILE: show one in full"),
    (
        "forget",
        "N|2-8|ID|WORDS|last [--redact]: remove it everywhere except history",
    ),
    ("why", "N|WORDS: show which message it came from"),
    (
        "edit",
        "[FILE]: open MEMORY.md, or another file, in your editor",
    ),
    (
        "layers",
        "show each memory layer with its files, sizes and paths",
    ),
    ("paths", "show where everything is stored"),
    ("add", "[--global|--session] [KEY:] TEXT: save an entry"),
    ("get", "KEY|ID: show an entry"),
    ("rm", "KEY|ID: remove an entry"),
    ("restore", "ID: restore a removed entry"),
    ("search", "WORDS: search long-term memory"),
    ("reindex", "rebuild the long-term index"),
];

const NO_ARGUMENTS: &str = "takes no arguments";

/// Words behind which a file of the workspace may be named.
pub const FILES: [&str; 2] = ["edit", "show"];

/// Does what the words say; `None` where they are no words of this.
pub(super) fn run(repl: &mut ReplContext, arguments: &str) -> Option<Result<Next, CommandError>> {
    match first(arguments) {
        ("edit", name) => Some(edit(repl, name)),
        _ => look(&mut repl.agent, &repl.env, arguments),
    }
}

/// Does what only shows something; `None` where the words are no words of this.
pub(super) fn look(
    agent: &mut Agent,
    env: &Environment,
    arguments: &str,
) -> Option<Result<Next, CommandError>> {
    let (word, rest) = first(arguments);
    let shown = match (word, rest) {
        ("list", "") => answer(agent, env, |held| Ok(held.list(Extent::Newest))),
        ("list", "all") => answer(agent, env, |held| Ok(held.list(Extent::All))),
        ("list", _) => Err(mistaken("list", "takes only `all`")),
        ("show", "") => Err(mistaken("show", "needs a number, an id or a file")),
        ("show", name) => answer(agent, env, |held| held.show(name)),
        ("why", "") => Err(mistaken("why", "needs a number or words")),
        ("why", asked) => answer(agent, env, |held| held.why(asked)),
        ("layers", "") => memory_view(agent, env).and_then(|held| Next::answer(held.layers()?)),
        ("paths", "") => answer(agent, env, |held| Ok(held.paths())),
        ("layers", _) => Err(mistaken("layers", NO_ARGUMENTS)),
        ("paths", _) => Err(mistaken("paths", NO_ARGUMENTS)),
        _ => return None,
    };
    Some(shown)
}

/// `/memory forget`: by number, range, id, key, `last` or words.
pub(super) async fn forget(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let (scope, arguments) = scoped(arguments);
    let (asked, history) = redacting(arguments);
    if asked.is_empty() {
        return Err(mistaken("forget", "needs a number, an id or words"));
    }
    repl.agent.entries_mut().refresh();
    match memory_view(&repl.agent, &repl.env)?.find(asked, scope, history)? {
        Found::Several(listed) => Next::answer(listed),
        Found::One(chosen) => forget_chosen(repl, chosen, history).await,
    }
}

/// `/forget`: what the last turn kept.
pub(super) async fn forget_last(
    repl: &mut ReplContext,
    arguments: &str,
) -> Result<Next, CommandError> {
    if !redacting(arguments).0.is_empty() {
        return forget(repl, arguments).await;
    }
    repl.agent.entries_mut().refresh();
    let chosen = memory_view(&repl.agent, &repl.env)?.kept_last()?;
    forget_chosen(repl, chosen, redacting(arguments).1).await
}

async fn forget_chosen(
    repl: &mut ReplContext,
    mut chosen: Chosen,
    history: History,
) -> Result<Next, CommandError> {
    memory_view(&repl.agent, &repl.env)?.settle(&mut chosen);
    let texts = repl.agent.keys_of_texts().await;
    let here = repl.agent.forget_here(&chosen.statements);
    let mut failed = Vec::new();
    let name = repl.session().name();
    let which = chosen.to_redact(name, here.messages.iter(), history);
    let mut from = here.from;
    if !which.is_empty() {
        match repl.agent.redact_here(&which) {
            Ok(()) => from.push("history"),
            Err(error) => failed.push(format!("history: {}", chain(&error))),
        }
    }
    let now = repl.env.now();
    let entries = chosen.forget_entries(repl.agent.entries_mut(), now)?;
    let refused = repl.agent.flush_entries();
    let mut gone = memory_view(&repl.agent, &repl.env)?.forget(&chosen, history)?;
    gone.also_from(&from, entries);
    gone.failed.extend(failed);
    let keys = texts
        .into_iter()
        .chain(std::mem::take(&mut gone.keys))
        .collect();
    repl.agent.let_go_of_texts(keys).await;
    let told =
        memory_view(&repl.agent, &repl.env)?.told(&chosen, &gone, history, repl.env.verbosity);
    Ok(Next::with(told, here.warning.or(refused)))
}

/// `--redact` at either end.
fn redacting(arguments: &str) -> (&str, History) {
    const REDACT: &str = "--redact";
    let arguments = arguments.trim();
    let left = arguments
        .strip_prefix(REDACT)
        .or_else(|| arguments.strip_suffix(REDACT));
    left.map_or((arguments, History::Kept), |left| {
        (left.trim(), History::Redacted)
    })
}

fn scoped(arguments: &str) -> (Option<Scope>, &str) {
    let (word, rest) = first(arguments);
    let scope = word.strip_prefix("--").and_then(Scope::parse);
    (scope, if scope.is_some() { rest } else { arguments })
}

fn edit(repl: &mut ReplContext, name: &str) -> Result<Next, CommandError> {
    let name = if name.is_empty() { "MEMORY.md" } else { name };
    let held = memory_view(&repl.agent, &repl.env)?;
    match repl.env.places.writing {
        Writing::Kept => Ok(Next::Edit(held.draft(name)?)),
        Writing::Veiled | Writing::Refused => Err(MemoryViewError::Private {
            path: held.path(name)?.display().to_string(),
        }
        .into()),
    }
}

/// A mistake in what stands behind a word: how that is written is told.
pub(super) fn mistaken(word: &'static str, problem: &str) -> CommandError {
    let row = WORDS.iter().find(|(known, _)| *known == word);
    let takes = row.and_then(|(_, does)| does.split_once(": "));
    let takes = takes.map_or("", |(takes, _)| takes);
    let usage = format!("{word} {takes}");
    usage_as(
        "memory",
        format!("{word} {problem}"),
        usage.trim_end().to_owned(),
    )
}

/// Refuses an argument that is neither a mode nor a subcommand, and suggests the nearest.
pub(super) fn unknown(arguments: &str, modes: &[String]) -> CommandError {
    const LIKE: f64 = 0.6;
    let (typed, _) = first(arguments);
    let likeness =
        |known: &str| strsim::normalized_damerau_levenshtein(known, &typed.to_lowercase());
    let words = WORDS.iter().map(|(word, _)| *word);
    let known = words.chain(modes.iter().map(String::as_str));
    let near = known
        .map(|known| (likeness(known), known))
        .filter(|(likeness, _)| *likeness > LIKE);
    let near = near.max_by(|a, b| a.0.total_cmp(&b.0));
    let typed: String = typed.chars().take(40).collect();
    match near {
        Some((_, word)) => {
            let problem = format!("has no option {typed:?}; did you mean `/memory {word}`?");
            usage("memory", problem)
        }
        None => cannot(
            format!("/memory has no option {typed:?}"),
            "`/help memory` lists them",
        ),
    }
}

fn answer(
    agent: &mut Agent,
    env: &Environment,
    asked: impl FnOnce(&MemoryView<'_>) -> Result<String, MemoryViewError>,
) -> Result<Next, CommandError> {
    agent.entries_mut().refresh();
    Next::answer(asked(&memory_view(agent, env)?)?)
}

fn memory_view<'a>(agent: &'a Agent, env: &'a Environment) -> Result<MemoryView<'a>, CommandError> {
    let long_term = agent.long_term();
    let long_term = long_term.ok_or_else(|| cannot("no long-term memory here", None))?;
    let session = agent.session();
    Ok(MemoryView {
        entries: agent.entries(),
        captures: long_term.captures(),
        store: env.store.as_ref(),
        disk: env.places.disk.as_ref(),
        data: &env.places.data,
        line_history: env.places.line_history.as_deref(),
        session: session.name(),
        open: Some(session),
        now: env.now(),
        caller: Caller::Chat,
        has_external: agent.has_external(),
    })
}
