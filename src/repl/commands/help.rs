//! `/help`: the table of commands, one of its rows, or the guide to the modes (C69).

use super::{Command, CommandError, Next, ReplContext, find};
use crate::term::NARROW;

const MODES: &str = "\
Memory modes

  conversation  general questions, research, summaries, brainstorming: light and fast
  code          writing or reviewing code, debugging, refactoring: a larger window, keeps to the task and its errors
  reasoning     architecture decisions, planning, comparing options: keeps objectives and reasons, respects decisions later

Use conversation unless another fits better. Switching with `/mode` loses nothing.";

const KEYS: &str = "\
Keys
  Tab            complete commands, names, modes and @paths
  Up, Down       earlier input
  Right          accept the grey suggestion
  Ctrl-R         search earlier input
  Ctrl-X Ctrl-E  write the message in your editor
  Alt-Enter      start a new line
  Ctrl-C         stop a reply or a command; twice on an empty line: quit
  Ctrl-D         quit, on an empty line

Input
  !COMMAND       run a command; its output goes with your next message
  @PATH          send a file or folder along: @src/main.rs:10-40, @\"my notes.md\", @shot.png, @folder/
  \"\"\"            starts and ends a message of several lines; \\ at the end of a line continues it
  /COMMAND       a command; with a space before the /, a message

`ui.keys: vi` in the config file switches to vi keys.";

/// Commands under a heading each, in the order in which they are listed.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Chat",
        &[
            "help", "retry", "edit", "undo", "diff", "think", "details", "copy", "save", "paste",
            "quit",
        ],
    ),
    (
        "Session",
        &[
            "session", "resume", "new", "fork", "sessions", "rename", "delete", "clear", "history",
            "export",
        ],
    ),
    (
        "Memory",
        &[
            "memory", "forget", "recall", "search", "why", "mode", "pin", "unpin", "scratch",
        ],
    ),
    (
        "Notes",
        &[
            "task",
            "done",
            "goal",
            "objective",
            "phase",
            "decide",
            "reject",
            "constraint",
            "assume",
            "note",
            "drop",
        ],
    ),
    (
        "Model and context",
        &["model", "context", "compact", "summary", "cost"],
    ),
    ("Tools", &["tools", "mcp", "approvals", "approve"]),
    ("Setup", &["status", "config"]),
];

pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    help(arguments, repl.env.columns)
}

pub(super) fn help(arguments: &str, columns: usize) -> Result<Next, CommandError> {
    match arguments.trim_start_matches('/') {
        "" => Next::answer(list(columns)),
        "modes" => Next::answer(MODES),
        "keys" | "!" | "@" => Next::answer(KEYS),
        name => Next::answer(one(find(name).map_err(CommandError::of_no_message)?)),
    }
}

fn names(command: &Command) -> String {
    let names = std::iter::once(&command.name).chain(command.aliases);
    let names: Vec<String> = names.map(|name| format!("/{name}")).collect();
    names.join(", ")
}

/// Every command under the heading of its group, its summary beside it or, on a narrow screen, below.
fn list(columns: usize) -> String {
    let row = |command: &Command| {
        let names = names(command);
        if columns < NARROW {
            format!("  {names}\n      {}", command.summary)
        } else {
            format!("  {names:<17}  {}", command.summary)
        }
    };
    let groups = GROUPS.iter().map(|(heading, names)| {
        let commands = names.iter().filter_map(|name| find(name).ok());
        let rows: Vec<String> = commands.map(row).collect();
        format!("{heading}\n{}", rows.join("\n"))
    });
    let groups: Vec<String> = groups.collect();
    format!(
        "{}\n\n`/help COMMAND` explains one, `/help keys` the keys, !COMMAND and @files, `/help modes` the modes.",
        groups.join("\n\n")
    )
}

fn one(command: &Command) -> String {
    let signature = format!("{} {}", names(command), command.arguments);
    let mut text = format!("{}\n  {}", signature.trim_end(), command.summary);
    for line in command.details.lines() {
        // A sentence is not over where its line is.
        text.push_str(if text.ends_with(',') || text.ends_with(';') {
            " "
        } else {
            "\n  "
        });
        text.push_str(line.trim());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repl::commands::COMMANDS;

    #[test]
    fn the_list_names_every_command_and_alias() {
        let list = list(80);
        for command in &COMMANDS {
            assert!(command.summary.len() <= 59, "{command:?} takes two lines");
            assert!(list.contains(&names(command)), "{command:?}");
            let groups = GROUPS.iter().flat_map(|(_, names)| *names);
            let times = groups.filter(|name| **name == command.name).count();
            assert_eq!(times, 1, "{command:?}");
        }
        insta::assert_snapshot!(list);
    }

    #[test]
    fn one_command_is_explained() {
        let text = one(find("m").unwrap());
        assert!(
            text.starts_with(
                "/model, /m [ALIAS|PROVIDER/MODEL]
  List models"
            ),
            "{text}"
        );
        assert!(text.contains("OPENAI_API_KEY"), "{text}");
    }
}
