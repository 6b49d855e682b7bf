//! `cogtrix mcp probe`: one server looked at from near, without a config file and without a model.

mod sample;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

use super::args::{McpCommand, ProbeArgs};
use super::report::{CliError, Exit};
use crate::config;
use crate::term::{Align, Output, Table};
use crate::tools::mcp::{Fleet, Handle, Listed, ServerSettings, Servers, State, Status};
use crate::tools::{Failure, Output as Got};

/// What the server is called in messages.
const NAME: &str = "probe";

pub(super) async fn run(command: &McpCommand, output: &mut Output) -> Result<Exit, CliError> {
    let McpCommand::Probe(args) = command;
    let arguments = arguments(args.arguments.as_deref())?;
    let servers = BTreeMap::from([(NAME.to_owned(), settings(args)?)]);
    let project = std::env::current_dir().map_err(|source| CliError::NoWorkingFolder { source })?;
    let mut fleet = Fleet::new(&servers, &project, &config::environment());
    fleet.start();
    // A program in a group of its own would not hear the interrupt.
    let done = tokio::select! {
        done = probe(&fleet, args, arguments, output) => done,
        _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
    };
    output.end_progress();
    for line in fleet.log(NAME).unwrap_or_default() {
        output.detail(&line);
    }
    Box::new(fleet).shutdown().await;
    done
}

fn arguments(text: Option<&str>) -> Result<Value, CliError> {
    let Some(text) = text else {
        return Ok(json!({}));
    };
    serde_json::from_str(text).map_err(|error| CliError::Usage {
        problem: format!("--arguments is not JSON: {error}"),
        hint: "pass an object, such as '{\"path\": \"a.txt\"}'",
    })
}

fn settings(args: &ProbeArgs) -> Result<ServerSettings, CliError> {
    let mut words = args.command.iter().cloned();
    let headers = args.header_env.iter().map(|pair| {
        let (header, variable) = pair.split_once('=').ok_or_else(|| CliError::Usage {
            problem: format!("--header-env {pair:?} has no variable"),
            hint: "use HEADER=VARIABLE, such as Authorization=MY_TOKEN",
        })?;
        Ok((header.to_owned(), variable.to_owned()))
    });
    Ok(ServerSettings {
        url: args.url.clone().unwrap_or_default(),
        headers_env: headers.collect::<Result<_, CliError>>()?,
        command: words.next().unwrap_or_default(),
        args: words.collect(),
        pass_env: args.pass_env.clone(),
        ..ServerSettings::default()
    })
}

async fn probe(
    fleet: &Fleet,
    args: &ProbeArgs,
    arguments: Value,
    output: &mut Output,
) -> Result<Exit, CliError> {
    output.progress("connecting");
    fleet.settled().await;
    output.end_progress();
    let status = fleet.status().into_iter().next();
    let found = fleet.server(NAME);
    let (
        Some(Status {
            state: State::Ready {
                server, protocol, ..
            },
            ..
        }),
        Some((listed, handle)),
    ) = (&status, found)
    else {
        return Err(CliError::Mcp {
            problem: format!("cannot use the MCP server: {}", why(status)),
        });
    };
    if let Some(tool) = &args.call {
        return call(&handle, tool, arguments, output).await;
    }
    output.answer(overview(server, protocol, &listed).trim_end());
    if args.try_all {
        try_all(&handle, &listed, output).await
    } else {
        Ok(Exit::Ok)
    }
}

fn why(status: Option<Status>) -> String {
    match status.map(|status| status.state) {
        Some(State::Failed(why)) => why,
        Some(State::Disabled | State::Starting | State::Ready { .. } | State::Stopped) | None => {
            "it did not start".to_owned()
        }
    }
}

fn overview(server: &str, protocol: &str, listed: &[Listed]) -> String {
    let mut head = Table::new([Align::Left, Align::Left]);
    head.row(["server", server]);
    head.row(["protocol", protocol]);
    head.row(["tools", &listed.len().to_string()]);
    let mut tools = Table::new([Align::Left, Align::Left]);
    for tool in listed {
        tools.row([
            format!("  {}", tool.name).as_str(),
            tool.description.lines().next().unwrap_or_default(),
        ]);
    }
    format!("{}{}", head.render(usize::MAX), tools.render(LINE))
}

/// Descriptions are cut to that, so that a tool is a line.
const LINE: usize = 120;

/// One call, its result as it is.
async fn call(
    handle: &Handle,
    tool: &str,
    arguments: Value,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let result = called(handle, tool, arguments, output).await;
    let result = result.map_err(|failure| CliError::Mcp {
        problem: failure.to_string(),
    })?;
    output.answer(&result.text);
    Ok(if result.failed {
        Exit::Failed
    } else {
        Exit::Ok
    })
}

/// Every tool that can be called with made-up values; an error of a tool is an answer too.
async fn try_all(
    handle: &Handle,
    listed: &Arc<Vec<Listed>>,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let mut exit = Exit::Ok;
    for tool in listed.iter() {
        let Some(arguments) = sample::arguments(&tool.parameters) else {
            output.answer(&format!(
                "{}: skipped, could not generate its arguments",
                tool.name
            ));
            continue;
        };
        let line = match called(handle, &tool.name, arguments.clone(), output).await {
            Ok(result) => format!(
                "{}: {}",
                result.brief,
                result.text.lines().next().unwrap_or_default()
            ),
            Err(failure) => {
                exit = Exit::Failed;
                failure.to_string()
            }
        };
        output.answer(&format!("{} {arguments}: {line}", tool.name));
    }
    Ok(exit)
}

async fn called(
    handle: &Handle,
    tool: &str,
    arguments: Value,
    output: &mut Output,
) -> Result<Got, Failure> {
    let (sender, mut progress) = crate::tools::progress();
    let cancel = CancellationToken::new();
    let result = tokio::select! {
        result = handle.call(tool, arguments, &cancel, &sender) => result,
        never = show(&mut progress, output) => match never {},
    };
    output.end_progress();
    result
}

/// Shows what comes, for as long as it is asked to.
async fn show(progress: &mut Receiver<String>, output: &mut Output) -> Infallible {
    while let Some(line) = progress.recv().await {
        output.progress(&line);
    }
    std::future::pending().await
}
