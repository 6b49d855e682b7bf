//! The slash commands: one table, so that help, completion and dispatch cannot disagree.
//!
//! A command takes the [`Desk`] and its arguments and returns what is to happen next as a value; it prints
//! nothing itself. One file for each command that needs more than a line.

mod board;
mod compact;
mod context;
mod entries;
mod export;
mod help;
mod history;
mod info;
mod memory;
mod mode;
mod model;
mod owning;
mod pins;
mod recall;
mod search;
mod servers;
mod session;
mod summary;
mod tools;

use std::borrow::Cow;

use futures_util::future::LocalBoxFuture;

use super::desk::{Desk, ReadOnly};
use super::holdings::{Front, HoldingsError, entries_hint};
use crate::agent::{CannotPin, Compacting, NoTurn, Warning};
use crate::chat::{BadName, NotWritten, SessionName};
use crate::entries::EntriesError;
use crate::hint::Hint;
use crate::memory::tracking::{CannotEdit, Kind};
use crate::memory::{BadMode, OutOfReach};
use crate::provider::ProviderError;
use crate::store::StoreError;
use crate::tools::files::ChangesError;
use crate::tools::mcp::UnknownServer;
use crate::tools::{ApprovalsError, UnknownTool};

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
            | "approve" | "details" | "history" | "diff" | "session" | "sessions" | "export"
            | "info" | "quit" => true,
            "memory" => !["add", "edit", "forget", "reindex", "restore", "rm"].contains(&first),
            "compact" => first == "dry",
            "summary" => first != "undo",
            "approvals" => first != "revoke",
            // One word names what is shown, more would be written.
            "note" | "scratch" => first == arguments,
            "pin" | "task" | "done" | "goal" | "objective" | "phase" | "decide" | "reject"
            | "constraint" | "assume" => arguments.is_empty(),
            _ => false,
        }
    }
}

type Run = for<'a> fn(&'a mut Desk, &'a str) -> LocalBoxFuture<'a, Result<Next, CommandError>>;

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
    Edit(crate::notes::Draft),
    /// Ask the person; on "yes" do this.
    Confirm(String, Deed),
    /// Ask the model the last question again.
    Retry,
    /// Think this through.
    Think(String),
    /// Compact in this way; the text is what the person wants kept.
    Compact(Compacting, String),
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

/// Why a command did nothing.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("unknown command /{name}")]
    Unknown { name: String, near: Vec<String> },
    #[error("/{name} {problem}")]
    Usage {
        name: &'static str,
        problem: String,
        usage: Cow<'static, str>,
    },
    #[error(transparent)]
    Mode(#[from] BadMode),
    #[error(transparent)]
    Name(#[from] BadName),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    ReadOnly(#[from] ReadOnly),
    #[error(transparent)]
    Model(#[from] ProviderError),
    #[error(transparent)]
    NoTurn(#[from] NoTurn),
    #[error(transparent)]
    Edit(#[from] CannotEdit),
    #[error(transparent)]
    Entries(#[from] EntriesError),
    #[error(transparent)]
    Holdings(#[from] HoldingsError),
    #[error(transparent)]
    Pin(#[from] CannotPin),
    #[error(transparent)]
    Scratchpad(#[from] NotWritten),
    #[error(transparent)]
    Tool(#[from] UnknownTool),
    #[error(transparent)]
    Server(#[from] UnknownServer),
    #[error(transparent)]
    Approvals(#[from] ApprovalsError),
    #[error(transparent)]
    Changes(#[from] ChangesError),
    #[error("cannot write {path}")]
    Export {
        path: String,
        #[source]
        source: std::io::Error,
    },
}

impl Hint for CommandError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Unknown { near, .. } if near.is_empty() => Some(
                "`/help` lists them; to send a line that begins with /, put a space before it"
                    .into(),
            ),
            Self::Unknown { near, .. } => {
                let near: Vec<String> = near.iter().map(|name| format!("/{name}")).collect();
                Some(
                    format!(
                        "did you mean {}? `/help` lists all; a space before the / sends the line",
                        near.join(" or ")
                    )
                    .into(),
                )
            }
            Self::Usage { name, usage, .. } => Some(
                format!("usage: /{name} {usage}")
                    .trim_end()
                    .to_owned()
                    .into(),
            ),
            Self::Mode(error) => error.hint(),
            Self::Name(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Model(error) => error.hint(),
            Self::Pin(_) => Some("`/pin` lists them, `/unpin N` takes one off".into()),
            Self::Entries(error) => entries_hint(error, Front::Chat),
            Self::Holdings(error) => error.hint(),
            Self::ReadOnly(_) | Self::NoTurn(_) | Self::Changes(_) | Self::Scratchpad(_) => None,
            Self::Edit(error) => error.hint(),
            Self::Tool(_) => Some("`/tools` lists them".into()),
            Self::Server(UnknownServer { known, .. }) => Some(
                if known.is_empty() {
                    servers::NONE.to_owned()
                } else {
                    format!("there are {}", known.join(", "))
                }
                .into(),
            ),
            Self::Approvals(error) => error.hint(),
            Self::Export { .. } => {
                Some("choose another path; a file that is there is never written over".into())
            }
        }
    }
}

/// Lets a plain async function stand in the table.
macro_rules! run {
    ($function:path) => {
        |desk, arguments| Box::pin($function(desk, arguments))
    };
}

pub use owning::{FILES as MEMORY_FILES, WORDS as MEMORY_WORDS};

/// Every command, in the order in which help lists them.
pub const COMMANDS: [Command; 42] = [
    Command {
        name: "help",
        aliases: &["h", "?"],
        arguments: "[COMMAND|modes]",
        summary: "List the commands, or explain one",
        details: "`/help modes` says which memory mode suits what; `/help model` says how to get a model.",
        completes: Completes::Commands,
        run: run!(help::run),
    },
    Command {
        name: "mode",
        aliases: &["M"],
        arguments: "[MODE]",
        summary: "List the memory modes, or switch to one",
        details: "Takes effect with the very next request. Nothing is lost: every mode reads every turn.",
        completes: Completes::Modes,
        run: run!(mode::run),
    },
    Command {
        name: "model",
        aliases: &["m"],
        arguments: "[ALIAS|PROVIDER/MODEL]",
        summary: "List the models, or switch to one",
        details: "Memory stays as it is. An alias is an entry of `models` in the config file.\n\
                  To get a model: install Ollama and `ollama pull` one, or set OPENAI_API_KEY or ANTHROPIC_API_KEY,\n\
                  or name an OpenAI-compatible server in the config file (`providers`, then `models`).",
        completes: Completes::Models,
        run: run!(model::run),
    },
    Command {
        name: "context",
        aliases: &[],
        arguments: "[full|proof|preset [NAME]]",
        summary: "Show what the last request held: sections, tokens, where from",
        details: "`/context full` prints the whole of it; `/context proof` says where every message of the session is,\n\
                  and fails where one is out of the model's reach. `/context preset` lists the presets of settings and what\n\
                  they set; with a name it takes one for the rest of this run.",
        completes: Completes::Words(&["full", "proof", "preset"]),
        run: run!(context::run),
    },
    Command {
        name: "memory",
        aliases: &["mem"],
        arguments: "[MODE|list|show|forget|why|edit|…]",
        summary: "Show what memory holds; list, explain, edit and forget it",
        details: "Numbers are what `/drop` takes. A mode's name shows what that mode noted.\n\
                  `/memory list [all]` shows entries and what was captured from your words; `/memory show N|ID|FILE` one of them whole;\n\
                  `/memory forget N|ID` takes it back, or several of them; `/memory why N|WORDS` tells which message put it here.\n\
                  `/memory edit [FILE]` opens MEMORY.md, or another file of the workspace, in your editor.\n\
                  `/memory layers` and `/memory paths` show what there is, how large it is and where.\n\
                  `/memory add [--global|--session] [KEY:] TEXT` keeps an entry for this project, all of them, or this session;\n\
                  `/memory get KEY|ID` and `/memory rm KEY|ID` find and remove; `/memory restore ID` brings back.\n\
                  `/memory search WORDS` looks through what outlives sessions; `reindex` reads all of it again, which is never needed.",
        completes: Completes::Memory,
        run: run!(memory::run),
    },
    Command {
        name: "pin",
        aliases: &[],
        arguments: "[TEXT]",
        summary: "Pin a text to the session, or list what is pinned",
        details: "It stands in every request of this session, whatever is summarised or compacted.",
        completes: Completes::Nothing,
        run: run!(pins::pin),
    },
    Command {
        name: "unpin",
        aliases: &[],
        arguments: "N|all",
        summary: "Take a pin off by its number, or all of them",
        details: "",
        completes: Completes::Words(&["all"]),
        run: run!(pins::unpin),
    },
    Command {
        name: "scratch",
        aliases: &[],
        arguments: "[KEY [VALUE]|rm KEY]",
        summary: "Show the session's scratchpad, read, write or remove a key",
        details: "Models write on it too: `scratchpad_write`. `rm KEY` takes off any key, and shows what it said.",
        completes: Completes::Words(&pins::WORDS),
        run: run!(pins::scratch),
    },
    Command {
        name: "task",
        aliases: &[],
        arguments: "[TEXT]",
        summary: "Show or set the task (code mode)",
        details: "What is set by hand here and below is never overwritten by what the program reads.",
        completes: Completes::Nothing,
        run: run!(board::task),
    },
    Command {
        name: "done",
        aliases: &[],
        arguments: "[TEXT|N]",
        summary: "Note that something is done",
        details: "In reasoning mode a goal, by its number or words. Otherwise a step of the work; alone, the task itself.",
        completes: Completes::Nothing,
        run: run!(board::done),
    },
    Command {
        name: "goal",
        aliases: &[],
        arguments: "[TEXT|N STATUS]",
        summary: "Show or add goals (reasoning mode); the first is the objective",
        details: "Status is one of pending, in progress, completed, blocked.",
        completes: Completes::Nothing,
        run: run!(board::goal),
    },
    Command {
        name: "objective",
        aliases: &[],
        arguments: "[TEXT]",
        summary: "Show or replace the objective",
        details: "",
        completes: Completes::Nothing,
        run: run!(board::objective),
    },
    Command {
        name: "phase",
        aliases: &[],
        arguments: "[TEXT]",
        summary: "Show or set the phase of the work",
        details: "",
        completes: Completes::Nothing,
        run: run!(board::phase),
    },
    Command {
        name: "decide",
        aliases: &[],
        arguments: "[TEXT [:: WHY]]",
        summary: "Show or log decisions",
        details: "",
        completes: Completes::Nothing,
        run: run!(board::decide),
    },
    Command {
        name: "reject",
        aliases: &[],
        arguments: "[OPTION [:: WHY]]",
        summary: "Show or log rejected options",
        details: "",
        completes: Completes::Nothing,
        run: run!(board::reject),
    },
    Command {
        name: "constraint",
        aliases: &[],
        arguments: "[LABEL: VALUE]",
        summary: "Show or set constraints; the same label replaces",
        details: "",
        completes: Completes::Nothing,
        run: run!(board::constraint),
    },
    Command {
        name: "assume",
        aliases: &[],
        arguments: "[TEXT]",
        summary: "Show or log assumptions",
        details: "",
        completes: Completes::Nothing,
        run: run!(board::assume),
    },
    Command {
        name: "note",
        aliases: &[],
        arguments: "KIND [TEXT]",
        summary: "Show or note anything else a mode keeps: a file, error, question, fact, …",
        details: "",
        completes: Completes::Kinds,
        run: run!(board::note),
    },
    Command {
        name: "drop",
        aliases: &[],
        arguments: "SECTION [N]",
        summary: "Take notes off: one by its number, or a whole section",
        details: "`/memory` shows sections and numbers. What is dropped is not read from the talk again.",
        completes: Completes::Sections,
        run: run!(board::drop),
    },
    Command {
        name: "compact",
        aliases: &[],
        arguments: "[HOW] [WISH]|dry [HOW]|undo",
        summary: "Let a summary stand for everything said so far, or for a part of it",
        details: "Only what is sent shrinks: history stays whole on disk, and `/compact undo` goes back.\n\
                  HOW is one of tools (older results of tools in short, without a model), aggressive (that and everything),\n\
                  rolling, window, prefix, threshold, proactive. `/compact dry [HOW]` only says what would go.\n\
                  Any other words are a wish for the summary: `/compact the dates of the harbour`.",
        completes: Completes::Words(&compact::WORDS),
        run: run!(compact::run),
    },
    Command {
        name: "summary",
        aliases: &[],
        arguments: "[history|undo]",
        summary: "Show the summary of what has left the window",
        details: "`/summary history` lists those it replaced; `/summary undo` goes back to the one before.",
        completes: Completes::Words(&["history", "undo"]),
        run: run!(summary::run),
    },
    Command {
        name: "recall",
        aliases: &[],
        arguments: "QUESTION",
        summary: "Show what memory would bring for a question",
        details: "Each exchange with its score, the share of the question's words in it, and where an embedder is, how near it is by meaning. A request gets the best of those that it does not hold anyway.",
        completes: Completes::Nothing,
        run: run!(recall::run),
    },
    Command {
        name: "search",
        aliases: &[],
        arguments: "QUERY|/REGEX/",
        summary: "Find something in all that is kept: notes, entries, documents, sessions",
        details: "Case does not matter. A regular expression between slashes finds what was said in this session.",
        completes: Completes::Nothing,
        run: run!(search::run),
    },
    Command {
        name: "tools",
        aliases: &[],
        arguments: "[on|off NAME] [all|none|mode]",
        summary: "List the tools the model may call, or switch some",
        details: "A mode has a few at hand; the model loads others when it needs them, for one turn. What is switched on or off\nhere stays so until you leave.",
        completes: Completes::Words(&["on", "off", "all", "none", "mode"]),
        run: run!(tools::tools),
    },
    Command {
        name: "mcp",
        aliases: &[],
        arguments: "[restart|log NAME]",
        summary: "List the MCP servers, start one again, or show its last lines",
        details: "They are entries of `mcp_servers` in the config file; their tools are called NAME__TOOL.",
        completes: Completes::Words(&["restart", "log"]),
        run: run!(servers::run),
    },
    Command {
        name: "approvals",
        aliases: &[],
        arguments: "[revoke N|all]",
        summary: "List what tools may do here without asking, or take it back",
        details: "Rules are kept for each project folder, in a file that can be edited.",
        completes: Completes::Words(&["revoke"]),
        run: run!(tools::approvals),
    },
    Command {
        name: "approve",
        aliases: &[],
        arguments: "[on|off]",
        summary: "Let tools do everything without asking, until you leave",
        details: "The same as -y. A rule that denies still denies.",
        completes: Completes::Words(&["on", "off"]),
        run: run!(tools::approve),
    },
    Command {
        name: "details",
        aliases: &[],
        arguments: "[N]",
        summary: "Show the tool calls of the last turn whole: arguments and results",
        details: "",
        completes: Completes::Nothing,
        run: run!(tools::details),
    },
    Command {
        name: "history",
        aliases: &[],
        arguments: "[N]",
        summary: "Print the last N turns (default 5), or `all`",
        details: "Shows what is kept, whatever the model is sent: undone and failed turns are marked.",
        completes: Completes::Words(&["all"]),
        run: run!(history::run),
    },
    Command {
        name: "undo",
        aliases: &[],
        arguments: "",
        summary: "Take back the last turn: what was said, and what its tools changed in files",
        details: "The turn stays in the history on disk, marked. A file that was changed by hand since is left alone, and so is\nwhat commands of `shell` did.",
        completes: Completes::Nothing,
        run: run!(history::undo),
    },
    Command {
        name: "diff",
        aliases: &[],
        arguments: "[N|last]",
        summary: "Show what tools changed in files, in this session or its last N turns",
        details: "What commands of `shell` changed is not in it.",
        completes: Completes::Words(&["last"]),
        run: run!(history::diff),
    },
    Command {
        name: "retry",
        aliases: &[],
        arguments: "",
        summary: "Ask the last question again",
        details: "The new answer replaces the old one in what is sent; history keeps both. What the first try changed in files is\ntaken back as by `/undo`.",
        completes: Completes::Nothing,
        run: |_, arguments| {
            Box::pin(async move { nothing("retry", arguments).map(|()| Next::Retry) })
        },
    },
    Command {
        name: "think",
        aliases: &[],
        arguments: "TASK",
        summary: "Think a hard question through: several approaches, weighed",
        details: "Takes up to 15 model calls; Ctrl-C ends it with the best so far. The report is kept as a reply, and in\n\
                  reasoning mode what it chose and rejected is noted. `deep_think` in the config file says how far it goes.",
        completes: Completes::Nothing,
        run: |_, task| {
            Box::pin(async move {
                if task.is_empty() {
                    return Err(usage("think", "wants a task"));
                }
                Ok(Next::Think(task.to_owned()))
            })
        },
    },
    Command {
        name: "session",
        aliases: &["s"],
        arguments: "[NAME]",
        summary: "Show the session, or go on with another",
        details: "A name that is new begins a session.",
        completes: Completes::Sessions,
        run: run!(session::run),
    },
    Command {
        name: "sessions",
        aliases: &[],
        arguments: "",
        summary: "List all sessions, most recently used first",
        details: "",
        completes: Completes::Nothing,
        run: run!(session::list),
    },
    Command {
        name: "rename",
        aliases: &[],
        arguments: "NAME",
        summary: "Give this session another name",
        details: "",
        completes: Completes::Nothing,
        run: run!(session::rename),
    },
    Command {
        name: "delete",
        aliases: &[],
        arguments: "NAME",
        summary: "Move a session to the trash folder; asks first",
        details: "",
        completes: Completes::Sessions,
        run: run!(session::delete),
    },
    Command {
        name: "clear",
        aliases: &[],
        arguments: "",
        summary: "Begin this session anew; asks first",
        details: "What was said moves to the archive folder; nothing is deleted.",
        completes: Completes::Nothing,
        run: run!(session::clear),
    },
    Command {
        name: "export",
        aliases: &[],
        arguments: "[md|json] FILE",
        summary: "Write the whole session to a file",
        details: "Without a format the file's ending decides; Markdown otherwise. Never writes over a file.",
        completes: Completes::Words(&["md", "json"]),
        run: run!(export::run),
    },
    Command {
        name: "info",
        aliases: &[],
        arguments: "",
        summary: "Show session, mode, model, window and where things are kept",
        details: "",
        completes: Completes::Nothing,
        run: run!(info::run),
    },
    Command {
        name: "paste",
        aliases: &[],
        arguments: "",
        summary: "Read several lines, up to a line with a single dot",
        details: "A message may also begin and end with \"\"\", or lines may end in \\.",
        completes: Completes::Nothing,
        run: |_, arguments| {
            Box::pin(async move { nothing("paste", arguments).map(|()| Next::Paste) })
        },
    },
    Command {
        name: "quit",
        aliases: &["exit", "q"],
        arguments: "",
        summary: "Save and leave; so does Ctrl-D",
        details: "",
        completes: Completes::Nothing,
        run: |_, arguments| {
            Box::pin(async move { nothing("quit", arguments).map(|()| Next::Leave) })
        },
    },
];

/// A line as a person typed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed<'a> {
    Nothing,
    /// Name without the slash, and the rest, trimmed.
    Command(&'a str, &'a str),
    Message(&'a str),
}

/// Tells a command from a message. A blank before the slash makes it a message.
pub fn parse(line: &str) -> Typed<'_> {
    if line.trim().is_empty() {
        return Typed::Nothing;
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
        })
}

/// Names like this one, best first, at most two.
fn nearest(name: &str) -> Vec<String> {
    const LIKE: f64 = 0.7;
    let likeness = |known: &str| strsim::jaro_winkler(known, &name.to_lowercase());
    let names = COMMANDS.iter().map(|command| command.name);
    let mut near: Vec<(f64, &str)> = names.map(|known| (likeness(known), known)).collect();
    near.retain(|(likeness, _)| *likeness > LIKE && !name.is_empty());
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter()
        .take(2)
        .map(|(_, known)| known.to_owned())
        .collect()
}

/// For commands that take nothing: refuses anything else.
fn nothing(name: &'static str, arguments: &str) -> Result<(), CommandError> {
    if arguments.is_empty() {
        Ok(())
    } else {
        Err(usage(name, "takes no argument"))
    }
}

fn usage(name: &'static str, problem: impl Into<String>) -> CommandError {
    let usage = find(name).map_or("", |command| command.arguments);
    usage_as(name, problem, usage)
}

/// Of a part of what a command takes.
fn usage_as(
    name: &'static str,
    problem: impl Into<String>,
    usage: impl Into<Cow<'static, str>>,
) -> CommandError {
    CommandError::Usage {
        name,
        problem: problem.into(),
        usage: usage.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

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
    fn lines_are_commands_only_with_the_slash_first() {
        for (line, expected) in [
            ("/mode code", Typed::Command("mode", "code")),
            ("/M  reasoning ", Typed::Command("M", "reasoning")),
            ("/", Typed::Command("", "")),
            (
                " /etc/passwd holds users",
                Typed::Message("/etc/passwd holds users"),
            ),
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
            ("MODE", "mode"),
            ("quti", "quit"),
        ] {
            let error = find(typed).unwrap_err();
            let CommandError::Unknown { near: found, .. } = &error else {
                panic!("{error:?}")
            };
            assert_eq!(found.first().map(String::as_str), Some(near), "{typed}");
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
            ("/delete b", false),
            ("/clear", false),
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
