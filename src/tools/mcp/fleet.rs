//! All servers: each lives in a task of its own, none waits for another, and nobody waits for them. Unit: the servers
//! of one configuration. Invariant: when a [`Fleet`] is gone, so are its tasks and the programs they started.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::handle::{Handle, McpTool};
use super::journal::Journal;
use super::listing::Listed;
use super::names;
use super::server::{Server, Snapshot};
use super::servers::{Change, News, Servers, State, Status, UnknownServer};
use super::settings::{ServerSettings, Way};
use super::setup::{Setup, Surroundings, shown};
use crate::provider::Environment;
use crate::tools::Tool;

/// Enough for a server to be asked, told and killed.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// The servers a person configured.
#[derive(Debug)]
pub struct Fleet {
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    name: String,
    /// What the names of its tools begin with.
    part: String,
    transport: &'static str,
    target: String,
    /// None where the entry makes no server or is disabled.
    server: Option<Server>,
    seen: watch::Receiver<Snapshot>,
    /// What was told last.
    told: Snapshot,
    task: Option<JoinHandle<()>>,
}

impl Fleet {
    /// Starts nothing yet. `project` is the folder that servers run in and are shown.
    pub fn new(
        settings: &BTreeMap<String, ServerSettings>,
        project: &Path,
        environment: &Environment,
    ) -> Self {
        let around = Surroundings {
            project,
            environment,
        };
        let parts = names::of_servers(settings.keys().map(String::as_str));
        let entries = settings.iter().zip(parts);
        let members =
            entries.map(|((name, settings), part)| Member::new(name, part, settings, around));
        Self {
            members: members.collect(),
        }
    }

    /// Waits until [`Servers::changed`] may have something to tell; for ever where there is no server.
    pub async fn wait_for_news(&mut self) {
        while self.members.iter().all(|member| member.news().is_none()) {
            // One without a server will have no more news.
            let alive = self
                .members
                .iter_mut()
                .filter(|member| member.server.is_some());
            let seen: Vec<_> = alive
                .map(|member| Box::pin(member.seen.changed()))
                .collect();
            if seen.is_empty() {
                std::future::pending::<()>().await;
            }
            // The senders are in the members.
            drop(futures_util::future::select_all(seen).await);
        }
    }

    /// Returns what a server lists, as it is, and the way to call it.
    pub fn server(&self, name: &str) -> Option<(Arc<Vec<Listed>>, Handle)> {
        let member = self.members.iter().find(|member| member.name == name)?;
        let listed = Arc::clone(&member.seen.borrow().listed);
        Some((listed, member.handle()?))
    }

    fn index_of(&self, name: &str) -> Result<usize, UnknownServer> {
        let names = self.members.iter().map(|member| &member.name);
        let index = names.clone().position(|known| known == name);
        index.ok_or_else(|| UnknownServer {
            name: name.to_owned(),
            known: names.cloned().collect(),
        })
    }
}

#[async_trait]
impl Servers for Fleet {
    fn start(&mut self) {
        self.members.iter_mut().for_each(Member::start);
    }

    fn changed(&mut self) -> Vec<Change> {
        self.members
            .iter_mut()
            .filter_map(Member::changed)
            .collect()
    }

    fn tools(&self, taken: &BTreeSet<String>) -> Vec<Arc<dyn Tool>> {
        self.members
            .iter()
            .flat_map(|member| member.tools(taken))
            .collect()
    }

    fn expects(&self, tool: &str) -> bool {
        let mut started = self.members.iter().filter(|member| member.server.is_some());
        started.any(|member| names::is_of(&member.part, tool))
    }

    fn status(&self) -> Vec<Status> {
        self.members.iter().map(Member::status).collect()
    }

    fn restart(&mut self, name: &str) -> Result<(), UnknownServer> {
        let index = self.index_of(name)?;
        self.members[index].start();
        Ok(())
    }

    fn log(&self, name: &str) -> Result<Vec<String>, UnknownServer> {
        let server = &self.members[self.index_of(name)?].server;
        let journal = server.as_ref().map(|server| server.journal.all());
        Ok(journal.unwrap_or_default())
    }

    async fn settled(&self) {
        for member in &self.members {
            let mut seen = member.seen.clone();
            // An error means that nobody will start it.
            drop(seen.wait_for(|seen| !seen.is_starting()).await);
        }
    }

    async fn shutdown(mut self: Box<Self>) {
        let tasks: Vec<_> = self.members.iter_mut().filter_map(Member::stop).collect();
        let aborts: Vec<_> = tasks.iter().map(JoinHandle::abort_handle).collect();
        if timeout(SHUTDOWN, futures_util::future::join_all(tasks))
            .await
            .is_err()
        {
            aborts.iter().for_each(tokio::task::AbortHandle::abort);
        }
    }
}

impl Member {
    fn new(name: &str, part: String, settings: &ServerSettings, around: Surroundings<'_>) -> Self {
        let (state, setup) = match (settings.enabled, Setup::new(name, settings, around)) {
            (false, _) => (State::Disabled, None),
            (true, Ok(setup)) => (State::Stopped, Some(setup)),
            (true, Err(why)) => (State::Failed(why), None),
        };
        let (sender, seen) = watch::channel(Snapshot::of(state));
        let server = setup.map(|setup| Server {
            setup: Arc::new(setup),
            run: 0,
            seen: sender,
            journal: Journal::default(),
            stop: CancellationToken::new(),
        });
        Self {
            name: name.to_owned(),
            part,
            transport: if settings.way() == Ok(Way::Url) {
                "http"
            } else {
                "stdio"
            },
            target: shown(settings),
            server,
            told: Snapshot::of(State::Stopped),
            seen,
            task: None,
        }
    }

    /// A task that runs is told to stop first, and the new one waits for it.
    fn start(&mut self) {
        let before = self.stop();
        let Some(server) = &mut self.server else {
            return;
        };
        // Whatever comes of it is news, also the same as before.
        self.told = Snapshot::of(State::Starting);
        server.stop = CancellationToken::new();
        server.run += 1;
        let server = server.clone();
        server.seen.send_modify(|seen| {
            seen.run = server.run;
            seen.state = State::Starting;
            seen.link = None;
        });
        self.task = Some(tokio::spawn(async move {
            if let Some(mut before) = before
                && timeout(SHUTDOWN, &mut before).await.is_err()
            {
                before.abort();
            }
            server.live().await;
        }));
    }

    fn stop(&mut self) -> Option<JoinHandle<()>> {
        if let Some(server) = &self.server {
            server.stop.cancel();
        }
        self.task.take()
    }

    fn news(&self) -> Option<News> {
        news(&self.told, &self.seen.borrow())
    }

    fn changed(&mut self) -> Option<Change> {
        let news = self.news()?;
        self.told = self.seen.borrow_and_update().clone();
        Some(Change {
            server: self.name.clone(),
            news,
        })
    }

    fn tools(&self, taken: &BTreeSet<String>) -> Vec<Arc<dyn Tool>> {
        let Some(handle) = self.handle() else {
            return Vec::new();
        };
        let listed = Arc::clone(&self.seen.borrow().listed);
        let own: Vec<&str> = listed.iter().map(|tool| tool.name.as_str()).collect();
        let names = names::of_tools(&self.part, &own, taken);
        let tools = names.into_iter().zip(listed.iter());
        tools
            .map(|(name, listed)| {
                Arc::new(McpTool::new(name, listed, handle.clone())) as Arc<dyn Tool>
            })
            .collect()
    }

    fn handle(&self) -> Option<Handle> {
        let server = self.server.as_ref()?;
        Some(Handle::new(Arc::clone(&server.setup), self.seen.clone()))
    }

    fn status(&self) -> Status {
        Status {
            name: self.name.clone(),
            transport: self.transport,
            target: match &self.server {
                Some(server) => server.setup.mask(&self.target),
                None => self.target.clone(),
            },
            state: self.seen.borrow().state.clone(),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(task) = self.stop() {
            task.abort();
        }
    }
}

/// Returns what is worth telling of a server that was `before` and is `now`.
fn news(before: &Snapshot, now: &Snapshot) -> Option<News> {
    match (&before.state, &now.state) {
        (State::Ready { since: old, .. }, State::Ready { since, tools, .. }) if old == since => {
            (before.listed != now.listed).then_some(News::ToolsChanged { tools: *tools })
        }
        (_, State::Ready { tools, .. }) => Some(News::CameUp { tools: *tools }),
        (State::Failed(old), State::Failed(why)) if old == why => None,
        (_, State::Failed(why)) => Some(News::Failed(why.clone())),
        (_, State::Stopped | State::Starting | State::Disabled) => None,
    }
}
