//! The same against a real server, where the environment names one: `COGTRIX_TEST_MCP`, a command line without quotes
//! (split at spaces), or an address. Without it the test says on stderr that it was skipped.

use std::collections::BTreeMap;
use std::io::Write;

use cogtrix::provider::Environment;
use cogtrix::tools::mcp::{ServerSettings, Servers as _, State};
use serde_json::json;

use super::support::Servers;

#[tokio::test]
async fn a_real_server_lists_tools_and_ends() {
    #[expect(
        clippy::disallowed_methods,
        reason = "nothing but this names a real server, and it runs as it would"
    )]
    let environment = Environment(std::env::vars().collect());
    let Some(line) = environment.get("COGTRIX_TEST_MCP").map(str::to_owned) else {
        let skipped = b"skipped: a real MCP server, as $COGTRIX_TEST_MCP names none\n";
        std::io::stderr().write_all(skipped).unwrap();
        return;
    };
    let settings = if line.starts_with("http") {
        ServerSettings {
            url: line,
            ..ServerSettings::default()
        }
    } else {
        let mut words = line.split_whitespace().map(str::to_owned);
        ServerSettings {
            command: words.next().unwrap(),
            args: words.collect(),
            ..ServerSettings::default()
        }
    };
    let servers = Servers::up_in(&environment, [("real", settings)]).await;
    let state = servers.state("real");
    assert!(
        matches!(state, State::Ready { tools: 1.., .. }),
        "{state:?}"
    );
    let names: BTreeMap<_, _> = servers
        .tools()
        .iter()
        .map(|tool| (tool.spec().name.clone(), tool.spec().parameters.clone()))
        .collect();
    assert!(
        names.keys().all(|name| name.starts_with("real__")),
        "{names:?}"
    );
    assert!(
        names
            .values()
            .all(|schema| schema["type"] == json!("object")),
        "{names:?}"
    );
    Box::new(servers.fleet).shutdown().await;
}
