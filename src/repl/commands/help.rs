//! `/help`: the table of commands, one of its rows, or the guide to the modes (C69).

use super::{COMMANDS, Command, CommandError, Desk, Next, find};

const MODES: &str = "\
Which memory mode for what

  general questions, research             conversation   light and fast
  summaries, brainstorming                conversation   the flow of ideas
  writing or reviewing code               code           a larger window of messages
  debugging                               code           keeps to the task and its errors
  refactoring a code base                 code           more context stays visible
  architecture decisions                  reasoning      options, trade-offs, reasons
  project planning                        reasoning      objectives and constraints first
  comparing options                       reasoning      decisions are respected later

Rule of thumb: take the lightest mode that fits: conversation, then code, then reasoning. Switching with `/mode`
loses nothing.";

pub(super) async fn run(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    help(arguments, desk.env.columns)
}

pub(super) fn help(arguments: &str, columns: usize) -> Result<Next, CommandError> {
    match arguments.trim_start_matches('/') {
        "" => Next::answer(list(columns)),
        "modes" => Next::answer(MODES),
        name => find(name).and_then(|command| Next::answer(one(command))),
    }
}

fn signature(command: &Command) -> String {
    let names = std::iter::once(&command.name).chain(command.aliases);
    let names: Vec<String> = names.map(|name| format!("/{name}")).collect();
    let space = if command.arguments.is_empty() {
        ""
    } else {
        " "
    };
    format!("{}{space}{}", names.join(", "), command.arguments)
}

/// Every command, its summary beside it or, where that has no room, below.
fn list(columns: usize) -> String {
    const SIGNATURE: usize = 26;
    let (indent, beside) = match columns {
        0..60 => (6, 0),
        _ => (SIGNATURE + 4, SIGNATURE),
    };
    let rows = COMMANDS.iter().map(|command| {
        let signature = signature(command);
        if signature.chars().count() <= beside {
            format!("  {signature:<SIGNATURE$}  {}", command.summary)
        } else {
            format!("  {signature}\n{:indent$}{}", "", command.summary)
        }
    });
    let rows: Vec<String> = rows.collect();
    format!(
        "{}\n\nSeveral lines: begin and end with \"\"\", end a line with \\, or Alt-Enter. Ctrl-C stops a reply.\n\
         Files: @src/main.rs:10-40, @\"my notes.md\", @shot.png, @folder/ go with the message; Tab completes.\n\
         !COMMAND runs a command; its output goes with your next message. Ctrl-R searches earlier input, Ctrl-X Ctrl-E opens the editor.",
        rows.join("\n")
    )
}

fn one(command: &Command) -> String {
    let mut text = format!("{}\n  {}", signature(command), command.summary);
    for line in command.details.lines() {
        text.push_str("\n  ");
        text.push_str(line.trim());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_every_command_and_alias() {
        let list = list(80);
        for command in &COMMANDS {
            assert!(list.contains(&signature(command)), "{command:?}");
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
