//! What the tests of MCP servers stand on: servers by rote, and a fleet of them in a folder of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use cogtrix::chat::{Session, SessionName, Timestamp, TurnId};
use cogtrix::provider::Environment;
use cogtrix::tools::mcp::{Fleet, ServerSettings, Servers as _, State};
use cogtrix::tools::{Around, Done, Failure, Output, Tool};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio_util::sync::CancellationToken;

pub(super) const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp/server.sh");

/// Servers that are up, or are not.
pub(super) struct Servers {
    pub(super) fleet: Fleet,
    pub(super) folder: TempDir,
}

/// A program by rote.
pub(super) fn rote(kind: &str) -> ServerSettings {
    ServerSettings {
        command: "sh".to_owned(),
        args: vec![SCRIPT.to_owned(), kind.to_owned()],
        ..ServerSettings::default()
    }
}

/// One whose start may take next to no time.
pub(super) fn hasty(kind: &str) -> ServerSettings {
    ServerSettings {
        timeout: Duration::from_millis(300),
        ..rote(kind)
    }
}

fn environment() -> Environment {
    let variables = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/nowhere"),
        ("TOKEN", "of-the-person"),
        ("OPENAI_API_KEY", "sk-secret"),
    ];
    Environment(
        variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
    )
}

impl Servers {
    /// Started, and waited for.
    pub(super) async fn up<const N: usize>(servers: [(&str, ServerSettings); N]) -> Self {
        Self::up_in(&environment(), servers).await
    }

    /// The same in another environment.
    pub(super) async fn up_in<const N: usize>(
        environment: &Environment,
        servers: [(&str, ServerSettings); N],
    ) -> Self {
        let folder = TempDir::new().unwrap();
        let servers: BTreeMap<String, ServerSettings> = servers
            .into_iter()
            .map(|(name, settings)| (name.to_owned(), settings))
            .collect();
        let project = folder.path().canonicalize().unwrap();
        let mut fleet = Fleet::new(&servers, &project, environment);
        fleet.start();
        fleet.settled().await;
        Self { fleet, folder }
    }

    pub(super) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.fleet.tools(&BTreeSet::new())
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.tools()
            .iter()
            .map(|tool| tool.spec().name.clone())
            .collect()
    }

    pub(super) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let tool = self
            .tools()
            .into_iter()
            .find(|tool| tool.spec().name == name);
        tool.unwrap_or_else(|| panic!("no {name} among {:?}", self.names()))
    }

    pub(super) fn state(&self, server: &str) -> State {
        self.fleet
            .status()
            .into_iter()
            .find(|status| status.name == server)
            .unwrap()
            .state
    }

    pub(super) fn why(&self, server: &str) -> String {
        match self.state(server) {
            State::Failed(why) => why,
            other => panic!("{server} is {other:?}"),
        }
    }

    pub(super) async fn call(&self, name: &str) -> Result<Output, Failure> {
        call(&self.tool(name), &Calling::new()).await
    }
}

/// Who waits for a call.
pub(super) struct Calling {
    pub(super) cancel: CancellationToken,
    progress: Sender<String>,
    pub(super) told: Receiver<String>,
}

impl Calling {
    pub(super) fn new() -> Self {
        let (progress, told) = cogtrix::tools::progress();
        Self {
            cancel: CancellationToken::new(),
            progress,
            told,
        }
    }
}

pub(super) async fn call(tool: &Arc<dyn Tool>, calling: &Calling) -> Result<Output, Failure> {
    call_with(tool, json!({}), &calling.cancel, &calling.progress).await
}

/// The same for a caller whose progress somebody else listens to.
pub(super) async fn call_with(
    tool: &Arc<dyn Tool>,
    arguments: Value,
    cancel: &CancellationToken,
    progress: &Sender<String>,
) -> Result<Output, Failure> {
    let session = Session::new("test".parse::<SessionName>().unwrap());
    let around = Around {
        session: &session,
        turn: TurnId(1),
        now: Timestamp::from_unix(0).unwrap(),
        cancel,
        progress,
    };
    match tool.call(arguments, &around).await? {
        Done::Output(output) => Ok(output),
        Done::Wish(wish) => panic!("{wish:?}"),
    }
}

impl Calling {
    pub(super) fn sender(&self) -> Sender<String> {
        self.progress.clone()
    }
}
