//! `/memory add|get|rm|restore`: entries that outlive the session, by hand (G10).

use super::owning::mistaken;
use super::{CommandError, Next, ReplContext};
use crate::long_term::entries::{Kept, Kind, Scope, Status, Wanted};
use crate::repl::listing::count;
use crate::repl::memory_view;
use crate::repl::transcript::first_words;

/// Characters of an entry that is back.
const SHOWN: usize = 100;

/// Does what the words say; `None` where they are no words of this.
pub(super) fn run(repl: &mut ReplContext, arguments: &str) -> Option<Result<Next, CommandError>> {
    let (word, rest) = first(arguments);
    Some(match word {
        "add" => add(repl, rest),
        "get" => get(repl, rest),
        "rm" => remove(repl, rest),
        "restore" => restore(repl, rest),
        _ => return None,
    })
}

pub(super) fn first(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

fn add(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let (scope, text) = scoped(repl, arguments);
    if is_option(text) {
        return Err(mistaken("add", "has no other options"));
    }
    let (key, content) = keyed(text);
    if content.is_empty() {
        return Err(mistaken("add", "needs a text to save"));
    }
    let wanted = Wanted {
        key: key.map(str::to_owned),
        content: content.to_owned(),
        kind: Kind::Note,
        ..Wanted::default()
    };
    let now = repl.env.now();
    let kept = repl.agent.keep_entry(scope, wanted)?;
    let line = if kept.status == Status::Updated {
        let long_term = repl.agent.long_term();
        in_memory(long_term.and_then(|it| it.keep_in_step(&kept.entry, now)))
    } else {
        String::new()
    };
    // Written a moment later, with what else is kept by then (G8).
    let lost = if repl.agent.loses_entries() {
        "\nNot saved: it is lost when you quit"
    } else {
        ""
    };
    Next::answer(told(&kept) + &line + lost)
}

/// What became of the line of MEMORY.md that goes with an entry, where there is one.
fn in_memory(written: Option<String>) -> String {
    written.map_or_else(String::new, |it| format!("\nIts line in MEMORY.md: {it}"))
}

/// `Kept as mem_… (project)`, and what went with it.
fn told(kept: &Kept) -> String {
    let status = match kept.status {
        Status::Added => "Kept",
        Status::Updated => "Updated, previous text kept",
        Status::Unchanged => "Already kept",
    };
    let key = kept.entry.key.as_deref();
    let key = key.map_or_else(String::new, |key| format!(", key {key}"));
    let mut lines = vec![format!("{status}: {} ({}{key})", kept.entry.id, kept.scope)];
    if kept.is_masked {
        lines.push("A secret in it was removed".to_owned());
    }
    if kept.left > 0 {
        let gone = count(kept.left, "oldest entry");
        lines.push(format!(
            "{gone} removed to make room (`memory.store.max_entries`)"
        ));
    }
    lines.join("\n")
}

fn scoped<'a>(repl: &ReplContext, arguments: &'a str) -> (Scope, &'a str) {
    let (word, rest) = first(arguments);
    let named = word.strip_prefix("--").and_then(Scope::parse);
    named.map_or_else(
        || (repl.agent.entries().usual_scope(), arguments),
        |scope| (scope, rest),
    )
}

/// `--globl text` is a mistyped option; `-- text` and `--- text` are text.
fn is_option(text: &str) -> bool {
    let name = text.strip_prefix("--");
    name.is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic()))
}

/// `db: Postgres` has a key; `see https://…` and `one two: three` have none.
fn keyed(text: &str) -> (Option<&str>, &str) {
    let (word, rest) = first(text);
    match word.strip_suffix(':') {
        Some(key) if !key.is_empty() && !rest.is_empty() => (Some(key), rest),
        Some(_) | None => (None, text.trim()),
    }
}

fn get(repl: &mut ReplContext, name: &str) -> Result<Next, CommandError> {
    if name.is_empty() {
        return Err(mistaken("get", "needs a key or an id"));
    }
    let now = repl.env.now();
    let (scope, entry) = repl.agent.entries_mut().get(name, None)?;
    Next::answer(memory_view::whole(scope, &entry, now))
}

fn remove(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let (word, rest) = first(arguments);
    let scope = word.strip_prefix("--").and_then(Scope::parse);
    let name = if scope.is_some() { rest } else { arguments };
    if is_option(name) {
        return Err(mistaken(
            "rm",
            "has no options other than --global, --project and --session",
        ));
    }
    if name.is_empty() {
        return Err(mistaken("rm", "needs a key or an id"));
    }
    let (captures, now) = (
        repl.agent.long_term().map(|it| it.captures()),
        repl.env.now(),
    );
    let entries = repl.agent.entries_mut();
    let removed = memory_view::remove(entries, (name, scope), captures.as_ref(), now)?;
    Ok(Next::with(removed, repl.agent.flush_entries()))
}

fn restore(repl: &mut ReplContext, id: &str) -> Result<Next, CommandError> {
    if id.is_empty() {
        return Err(mistaken("restore", "needs an id"));
    }
    let (scope, entry) = repl.agent.entries_mut().restore(id)?;
    let words = first_words(&entry.content, SHOWN);
    let long_term = repl.agent.long_term();
    let line = in_memory(long_term.and_then(|it| it.bring_back(&entry, repl.env.now())));
    let told = format!("Restored ({scope}): {words}{line}");
    Ok(Next::with(told, repl.agent.flush_entries()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_word_with_a_colon_before_a_text() {
        for (text, expected) in [
            ("db: Postgres", (Some("db"), "Postgres")),
            ("see https://a.b/c", (None, "see https://a.b/c")),
            ("https://a.b/c is it", (None, "https://a.b/c is it")),
            ("one two: three", (None, "one two: three")),
            ("db:", (None, "db:")),
            (": x", (None, ": x")),
        ] {
            assert_eq!(keyed(text), expected);
        }
    }
}
