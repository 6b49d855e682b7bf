//! `/mcp`: the servers whose tools the model may be offered.

use std::time::Duration;

use super::{CommandError, Next, ReplContext, usage};
use crate::term::{Align, NARROW, Table};
use crate::tools::mcp::{Servers, State, Status, UnknownServer};

pub(super) const NONE: &str = "No MCP servers: add them under `mcp_servers` in the config file. None are started with `--tools none`.";

/// `/mcp`, `/mcp restart NAME`, `/mcp log NAME`.
pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let (word, name) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    match (word, name.trim(), repl.servers.as_deref_mut()) {
        ("restart", "", _) => Err(usage("mcp", "restart needs a server name")),
        ("restart", name, None) => Err(unknown(name)),
        ("restart", name, Some(servers)) => {
            servers.restart(name)?;
            Next::answer(format!("Restarting {name}; `/mcp` shows when it is ready"))
        }
        (_, _, _) => look(repl.servers.as_deref(), repl.env.columns, arguments),
    }
}

/// `/mcp` and `/mcp log NAME`, which only show something.
pub(in crate::repl) fn look(
    servers: Option<&dyn Servers>,
    columns: usize,
    arguments: &str,
) -> Result<Next, CommandError> {
    let (word, name) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    match (word, name.trim(), servers) {
        ("", _, None) => Next::answer(NONE),
        ("", _, Some(servers)) => Next::answer(table(&servers.status(), columns)),
        ("log", "", _) => Err(usage("mcp", "log needs a server name")),
        ("log", name, None) => Err(unknown(name)),
        ("log", name, Some(servers)) => log(servers, name),
        ("restart", _, _) => Err(CommandError::QuestionWaits("mcp restart")),
        (_, _, _) => Err(usage("mcp", format!("has no option {arguments:?}"))),
    }
}

fn unknown(name: &str) -> CommandError {
    UnknownServer {
        name: name.to_owned(),
        known: Vec::new(),
    }
    .into()
}

fn log(servers: &dyn Servers, name: &str) -> Result<Next, CommandError> {
    let mut lines = servers.log(name)?;
    let status = servers.status().into_iter();
    let failed = status
        .filter(|status| status.name == name)
        .find_map(|status| match status.state {
            State::Failed(why) => Some(format!("failed: {why}")),
            State::Disabled | State::Starting | State::Ready { .. } | State::Stopped => None,
        });
    lines.extend(failed);
    if lines.is_empty() {
        return Next::answer(format!("{name} has no log output"));
    }
    Next::answer(lines.join("\n"))
}

fn table(servers: &[Status], columns: usize) -> String {
    let columns_of = |[name, via, state, tools, since, about]: [&str; 6]| -> Vec<String> {
        let cells = if columns < NARROW {
            vec![name, state, tools, about]
        } else {
            vec![name, via, state, tools, since, about]
        };
        cells.into_iter().map(str::to_owned).collect()
    };
    let heading = columns_of(["SERVER", "VIA", "STATE", "TOOLS", "SINCE", ""]);
    let align = heading.iter().map(|it| match it.as_str() {
        "TOOLS" => Align::Right,
        _ => Align::Left,
    });
    let mut table = Table::new(align.collect::<Vec<_>>()).with_names();
    table.row(heading);
    for status in servers {
        let (tools, since, about) = match &status.state {
            State::Ready {
                tools,
                server,
                since,
                ..
            } => (tools.to_string(), ago(since.elapsed()), server),
            State::Failed(why) => (String::new(), String::new(), why),
            State::Disabled | State::Starting | State::Stopped => {
                (String::new(), String::new(), &status.target)
            }
        };
        let state = status.state.as_str();
        let cells = [
            status.name.as_str(),
            status.transport,
            state,
            tools.as_str(),
            since.as_str(),
            about.as_str(),
        ];
        table.row(columns_of(cells));
    }
    table.render(columns).trim_end().to_owned()
}

/// How long ago, roughly.
fn ago(time: Duration) -> String {
    match time.as_secs() / 60 {
        0 => "just now".to_owned(),
        minutes @ 1..60 => format!("{minutes} min"),
        minutes => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_screen_has_room_for_names_and_what_is_wrong() {
        let servers = [Status {
            name: "everything".to_owned(),
            transport: "stdio",
            target: "serve-everything".to_owned(),
            state: State::Failed("not found".to_owned()),
        }];
        assert_eq!(
            table(&servers, 40),
            "SERVER      STATE   TOOLS\neverything  failed         not found"
        );
        assert!(table(&servers, 80).contains("everything  stdio  failed"));
    }

    #[test]
    fn a_time_is_told_in_minutes_and_hours() {
        for (seconds, expected) in [
            (59, "just now"),
            (60, "1 min"),
            (3599, "59 min"),
            (7500, "2 h 5 min"),
        ] {
            assert_eq!(ago(Duration::from_secs(seconds)), expected);
        }
    }
}
