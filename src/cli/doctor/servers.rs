//! MCP servers: each is started, asked for its tools and ended. Unit: all of a configuration. Each has its own time
//! limit, so the look ends.

use std::path::Path;

use super::finding::Finding;
use crate::cli::servers::fleet;
use crate::config::{Config, Inputs};
use crate::tools::mcp::{State, Status};

pub(super) async fn servers(config: &Config, inputs: &Inputs, project: &Path) -> Vec<Finding> {
    if config.settings.mcp_servers.is_empty() {
        return vec![Finding::none("MCP servers", "none configured")];
    }
    let Some(mut servers) = fleet(config, inputs, project) else {
        let why = "not supported by this build";
        return vec![Finding::none("MCP servers", why)];
    };
    servers.start();
    servers.settled().await;
    let findings = servers.status().iter().map(finding).collect();
    servers.shutdown().await;
    findings
}

fn finding(status: &Status) -> Finding {
    let Status {
        name,
        transport,
        target,
        state,
    } = status;
    let about = format!("MCP server {name}");
    match state {
        State::Ready { tools, server, .. } => {
            Finding::ok(about, format!("{server} ({transport}), {tools} tools"))
        }
        State::Failed(why) => Finding::problem(
            about,
            format!("{target}: {why}"),
            format!("fix mcp_servers.{name} in the config file, or set enabled: false"),
        ),
        State::Disabled => Finding::none(about, "disabled in the config"),
        State::Starting | State::Stopped => Finding::none(about, "not started"),
    }
}
