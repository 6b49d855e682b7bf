//! The slash commands: one table, so that help, completion and dispatch cannot disagree.
//!
//! A command takes the [`ReplContext`] and its arguments and returns what is to happen next as a value; it prints
//! nothing itself. One file for each command that needs more than a line.

mod board;
mod compact;
mod config;
mod context;
mod cost;
mod entries;
mod error;
mod export;
mod help;
mod history;
mod memory;
mod mode;
mod model;
mod owning;
mod pins;
mod recall;
mod reply;
mod search;
mod servers;
mod session;
mod status;
mod summary;
mod table;
mod tools;
mod why;

use futures_util::future::LocalBoxFuture;

use super::repl_context::{Environment, ReplContext};
use crate::agent::{Agent, Compacting, Warning};
use crate::chat::SessionName;
use crate::memory::OutOfReach;
use crate::memory::tracking::Kind;

pub(super) use servers::look as look_at_servers;
pub(super) use session::{left_behind, open as open_session, overview as session_overview};

pub use error::CommandError;
pub use export::FORMATS as EXPORT_FORMATS;
pub use owning::{FILES as MEMORY_FILES, WORDS as MEMORY_WORDS};
pub use reply::Saved;
pub use session::{Instead, meant_by, open_new, slip_question};
pub use table::COMMANDS;

use error::{cannot, nothing, usage, usage_as};

/// One row of the table.
pub struct Command {
    /// Without the slash.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// As help shows them: `[NAME]`.
    pub arguments: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What `/help NAME` adds to it; may be empty.
    pub details: &'static str,
    pub completes: Completes,
    pub run: Run,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "/{}", self.name)
    }
}

impl Command {
    /// Whether the command, with these arguments, leaves the session and every file as they are. What is not listed
    /// here is refused in a session that is open read-only.
    pub fn only_shows(&self, arguments: &str) -> bool {
        let first = arguments.split_whitespace().next().unwrap_or_default();
        match self.name {
            "help" | "mode" | "model" | "context" | "recall" | "search" | "tools" | "mcp"
            | "approve" | "details" | "history" | "diff" | "session" | "resume" | "new"
            | "export" | "status" | "config" | "cost" | "copy" | "save" | "why" | "quit" => true,
            "memory" => !["add", "edit", "forget", "reindex", "restore", "rm"].contains(&first),
            "compact" => first == "dry",
            "summary" => first != "undo",
            "approvals" => first != "revoke",
            // One word names what is shown, more would be written.
            "note" | "scratch" => first == arguments,
            "sessions" | "pin" | "task" | "done" | "goal" | "objective" | "phase" | "decide"
            | "reject" | "constraint" | "assume" => arguments.is_empty(),
            _ => false,
        }
    }
}

type Run =
    for<'a> fn(&'a mut ReplContext, &'a str) -> LocalBoxFuture<'a, Result<Next, CommandError>>;

/// What the first argument of a command may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completes {
    Nothing,
    Modes,
    /// What `/memory` takes first: a mode, or what to do with entries.
    Memory,
    Models,
    Sessions,
    Commands,
    /// What `/note` takes first.
    Kinds,
    /// What `/drop` takes first.
    Sections,
    /// Keys of the config file.
    Settings,
    /// Formats of an export.
    Formats,
    /// One of these words.
    Words(&'static [&'static str]),
}

/// What is to happen after a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    Answer(Answer),
    /// Print this, and that it shows a failure.
    Refuted(String, OutOfReach),
    /// Print a change of files.
    Diff(String),
    /// Let the person edit this file.
    Edit(crate::long_term::notes::Draft),
    /// Let the person edit this message, and send it.
    EditMessage(String),
    /// Ask the person; on "yes" do this.
    Confirm(String, Deed),
    /// Let the person choose a session from a list, where there is a terminal to show it.
    PickSession,
    /// Open this session, which may be new; it may be open in another process.
    OpenSession(SessionName),
    /// Ask the person which of two sessions is meant: the one that exists, or the one to begin.
    WhichSession {
        existing: SessionName,
        new: SessionName,
    },
    /// Ask the model the last question again.
    Retry,
    /// Think this through.
    Think(String),
    /// Compact in this way; the text is what the person wants kept.
    Compact(Compacting, String),
    /// Put a text on the clipboard; what it is, in words.
    Copy {
        what: String,
        text: String,
    },
    /// Read several lines and send them.
    Paste,
    Leave,
}

/// What a command prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub text: String,
    /// What comes after it, mostly that the disk refused.
    pub warning: Option<Warning>,
}

/// What is done only after a "yes".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    Clear,
    Delete(SessionName),
    DropAll(Kind),
    /// Write a reply over a file.
    Save(Saved),
}

impl Next {
    #[expect(clippy::unnecessary_wraps, reason = "it is what commands end with")]
    fn answer(text: impl Into<String>) -> Result<Self, CommandError> {
        Ok(Self::with(text.into(), None))
    }

    fn with(text: String, warning: Option<Warning>) -> Self {
        Self::Answer(Answer { text, warning })
    }
}

/// A line as a person typed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed<'a> {
    Nothing,
    /// Name without the slash, and the rest, trimmed.
    Command(&'a str, &'a str),
    /// A command for the shell, without the exclamation mark; may be empty.
    Shell(&'a str),
    Message(&'a str),
}

/// Tells a command from a message. A blank before the slash or the exclamation mark makes it a message.
pub fn parse(line: &str) -> Typed<'_> {
    if line.trim().is_empty() {
        return Typed::Nothing;
    }
    if let Some(command) = line.strip_prefix('!') {
        return Typed::Shell(command.trim());
    }
    let Some(rest) = line.strip_prefix('/') else {
        return Typed::Message(line.trim());
    };
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Typed::Command(name, arguments.trim())
}

/// The command of a name or alias. Case matters: `/M` is not `/m` (C64).
pub fn find(name: &str) -> Result<&'static Command, CommandError> {
    let named = |command: &&Command| command.name == name || command.aliases.contains(&name);
    COMMANDS
        .iter()
        .find(named)
        .ok_or_else(|| CommandError::Unknown {
            name: name.chars().take(40).collect(),
            near: nearest(name),
            is_line: true,
        })
}

/// Does what a command does that only shows something, while a tool's question waits and the agent is all there is to
/// look at.
pub(super) async fn look(
    agent: &mut Agent,
    env: &Environment,
    name: &str,
    arguments: &str,
) -> Result<Next, CommandError> {
    let command = find(name).map_err(CommandError::of_no_message)?;
    match (command.name, arguments) {
        ("help", of) => help::help(of, env.columns),
        ("context", what) if !what.starts_with("preset") => {
            context::look(agent, env.columns, what).await
        }
        ("why", arguments) => why::run(agent, arguments),
        ("model", "") => Next::answer(model::list(agent, &env.catalog).await),
        ("status", arguments) => status::run(agent, env, arguments).await,
        ("search", query) => search::run(agent, query).await,
        ("sessions", "") => session::table(agent, env).and_then(Next::answer),
        ("memory", "") => memory::overview(agent).await,
        ("memory", mode) if agent.memory().modes().get(mode).is_ok() => {
            Next::answer(memory::state(agent.memory().modes().get(mode)?))
        }
        ("memory", words) => match words.split_once(' ') {
            Some(("search", query)) => search::long_term(agent, query.trim()).await,
            _ => owning::look(agent, env, words)
                .unwrap_or(Err(CommandError::QuestionWaits(command.name))),
        },
        ("details", which) => tools::made(agent, "", which),
        ("diff", newest) => history::changes(agent, newest),
        ("history", newest) => history::history(agent, newest),
        ("tools", "") => Next::answer(tools::catalogue(agent, env.columns)),
        ("approvals", "") => Next::answer(tools::rules(agent)),
        ("pin", "") => Next::answer(pins::pinned(agent.session().pins())),
        ("summary", "") => Next::answer(summary::shown(agent)),
        (name, _) => Err(CommandError::QuestionWaits(name)),
    }
}

/// Names like this one, best first, at most two.
fn nearest(name: &str) -> Vec<String> {
    let name = name.to_lowercase();
    // Two edits make any other word of a short one.
    let max = name.chars().count().saturating_sub(1) / 3;
    let names = COMMANDS.iter().map(|command| command.name);
    let mut near: Vec<(usize, &str)> = names
        .map(|known| (strsim::osa_distance(known, &name), known))
        .filter(|(edits, known)| *edits <= max.min(2) || (max > 0 && known.starts_with(&name)))
        .collect();
    near.sort_unstable();
    let near = near.into_iter().take(2);
    near.map(|(_, known)| known.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::hint::Hint;

    #[test]
    fn names_and_aliases_are_unique() {
        let mut seen = HashSet::new();
        for command in &COMMANDS {
            for name in std::iter::once(&command.name).chain(command.aliases) {
                assert!(seen.insert(*name), "/{name} stands twice");
            }
        }
    }

    #[test]
    fn lines_are_commands_only_with_the_mark_first() {
        for (line, expected) in [
            ("/mode code", Typed::Command("mode", "code")),
            ("/M  reasoning ", Typed::Command("M", "reasoning")),
            ("/", Typed::Command("", "")),
            (
                " /etc/passwd holds users",
                Typed::Message("/etc/passwd holds users"),
            ),
            ("!ls -l", Typed::Shell("ls -l")),
            ("!", Typed::Shell("")),
            (" !important", Typed::Message("!important")),
            ("  ", Typed::Nothing),
            ("hello", Typed::Message("hello")),
        ] {
            assert_eq!(parse(line), expected, "{line:?}");
        }
    }

    #[test]
    fn an_unknown_command_names_the_nearest() {
        for (typed, near) in [
            ("mdoe", "mode"),
            ("sesion", "session"),
            ("MODE", "mode or model"),
            ("quti", "quit"),
            ("hist", "history"),
            ("forgte", "forget"),
            ("frgt", "none"),
            ("foo", "none"),
            ("forgetting", "none"),
        ] {
            let error = find(typed).unwrap_err();
            let CommandError::Unknown { near: found, .. } = &error else {
                panic!("{error:?}")
            };
            let found = found.join(" or ");
            assert_eq!(
                if found.is_empty() { "none" } else { &found },
                near,
                "{typed}"
            );
        }
        assert!(find("").unwrap_err().hint().is_some());
        assert!(find("zzzz").unwrap_err().hint().unwrap().contains("/help"));
    }

    #[test]
    fn commands_that_change_something_are_told_from_those_that_show() {
        for (line, expected) in [
            ("/history all", true),
            ("/context proof", true),
            ("/memory", true),
            ("/memory list all", true),
            ("/memory forget 3", false),
            ("/memory edit", false),
            ("/pin", true),
            ("/pin a text", false),
            ("/unpin all", false),
            ("/scratch", true),
            ("/scratch key", true),
            ("/scratch key value", false),
            ("/scratch rm key", false),
            ("/note fact", true),
            ("/note fact it rains", false),
            ("/task", true),
            ("/task mend it", false),
            ("/drop facts", false),
            ("/compact", false),
            ("/compact dry", true),
            ("/compact undo", false),
            ("/summary history", true),
            ("/summary undo", false),
            ("/approvals revoke all", false),
            ("/undo", false),
            ("/retry", false),
            ("/think hard", false),
            ("/paste", false),
            ("/rename b", false),
            ("/new b", true),
            ("/fork b", false),
            ("/sessions", true),
            ("/sessions restore b", false),
            ("/delete b", false),
            ("/clear", false),
            ("/config ui", true),
            ("/export a.md", true),
        ] {
            let Typed::Command(name, arguments) = parse(line) else {
                panic!("{line}")
            };
            assert_eq!(
                find(name).unwrap().only_shows(arguments),
                expected,
                "{line}"
            );
        }
    }

    #[test]
    fn the_case_of_an_alias_matters() {
        assert_eq!(find("M").unwrap().name, "mode");
        assert_eq!(find("m").unwrap().name, "model");
    }
}
