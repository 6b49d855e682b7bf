//! The MCP servers of a run: made from the configuration, waited for where nobody could wait later, and ended.

use std::path::Path;

use super::report::Exit;
use crate::config::{Config, Inputs};
use crate::repl::Signals;
use crate::repl::repl_context::ReplContext;
use crate::repl::show::{self, Remedy};
use crate::term::Output;
use crate::tools::Selection;
use crate::tools::mcp::{Servers, State};

/// The servers of the configuration, none of them started; none where the model is offered no tools at all.
pub(super) fn servers(
    config: &Config,
    inputs: &Inputs,
    project: &Path,
) -> Option<Box<dyn Servers>> {
    let settings = &config.settings;
    if settings.mcp_servers.is_empty() || settings.tools.preset == Selection::None {
        return None;
    }
    fleet(config, inputs, project)
}

/// The same whatever tools the model is offered; none where this program cannot talk to servers.
#[cfg(feature = "mcp")]
#[expect(clippy::unnecessary_wraps, reason = "as the other one")]
pub(super) fn fleet(config: &Config, inputs: &Inputs, project: &Path) -> Option<Box<dyn Servers>> {
    let servers = &config.settings.mcp_servers;
    let fleet = crate::tools::mcp::Fleet::new(servers, project, &inputs.environment);
    Some(Box::new(fleet))
}

/// The configuration has warned of it.
#[cfg(not(feature = "mcp"))]
pub(super) fn fleet(_: &Config, _: &Inputs, _: &Path) -> Option<Box<dyn Servers>> {
    None
}

/// For a run of a single prompt, whose model needs the tools now: waits until each server is up or is not, unless the
/// model is offered none of their tools. A signal ends the run, as nothing was asked yet.
pub(super) async fn wait_for_all(
    repl: &mut ReplContext,
    output: &mut Output,
    signals: &mut Signals,
) -> Result<(), Exit> {
    let Some(servers) = &repl.servers else {
        return Ok(());
    };
    let is_offered = match repl.agent.toolbox().registry.selection() {
        Selection::None => false,
        Selection::Listed(names) => names.iter().any(|name| servers.expects(name)),
        Selection::Mode | Selection::All => true,
    };
    let provider = repl.agent.provider();
    if !is_offered || provider.is_offline() {
        return Ok(());
    }
    let starting = servers.status().into_iter();
    let starting = starting.filter(|status| status.state == State::Starting);
    let names: Vec<String> = starting.map(|status| status.name).collect();
    if !names.is_empty() {
        output.progress(&format!("waiting for MCP servers: {} …", names.join(", ")));
    }
    let settled = tokio::select! {
        biased;
        _ = signals.next() => Err(Exit::Interrupted),
        takes_tools = async {
            servers.settled().await;
            provider.takes_tools().await
        } => Ok(takes_tools),
    };
    output.end_progress();
    match settled {
        Ok(takes_tools) => {
            for change in repl.take_in_servers() {
                if takes_tools {
                    show::server(output, &change, Remedy::LookCloser);
                }
            }
            Ok(())
        }
        Err(exit) => {
            output.notice("Interrupted while MCP servers were starting; nothing was sent");
            Err(exit)
        }
    }
}

/// Ends what runs; each exit comes by here, and where the process ends otherwise the servers' input does.
pub(super) async fn end(repl: &mut ReplContext) {
    if let Some(servers) = repl.servers.take() {
        servers.shutdown().await;
    }
}
