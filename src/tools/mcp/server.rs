//! The life of one server, as a task: started, listed, listened to, and started once more when it ends by itself. Unit:
//! one server. Invariant: whatever happens to it ends in a [`State`], and every wait has an end.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::service::{ClientInitializeError, Peer, RoleClient, RunningService, ServiceExt};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::sync::mpsc::{self, Receiver};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::client::Ours;
use super::journal::Journal;
use super::link::{self, Link};
use super::listing::{self, Listed};
use super::process::{self, Program};
use super::servers::State;
use super::setup::Setup;
use super::web;
use crate::net::one_line;

/// For a connection to be taken down: a session of a web server is ended by a request.
const CLOSING: Duration = Duration::from_secs(2);
/// Between two lists, whatever a server says about changes.
const BETWEEN_LISTS: Duration = Duration::from_millis(200);

/// A server, and where its state is told.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) setup: Arc<Setup>,
    /// Counts its starts.
    pub(super) run: u64,
    pub(super) seen: watch::Sender<Snapshot>,
    pub(super) journal: Journal,
    pub(super) stop: CancellationToken,
}

/// What is known of a server at a moment: the state, and what stands behind it.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// Which start this is about; a task of an earlier one has nothing to say any more.
    pub(super) run: u64,
    pub(super) state: State,
    /// There while it is ready.
    pub(super) link: Option<Link>,
    /// The last list there was; stays when the server ends, so that its tools can say what became of it.
    pub(super) listed: Arc<Vec<Listed>>,
    /// Why it ended the last time, while it is started again.
    pub(super) ended: Option<String>,
}

impl Snapshot {
    pub(super) fn of(state: State) -> Self {
        Self {
            run: 0,
            state,
            link: None,
            listed: Arc::default(),
            ended: None,
        }
    }

    pub(super) fn is_starting(&self) -> bool {
        self.state == State::Starting
    }
}

/// How a life ended.
enum End {
    Stopped,
    NeverUp(String),
    Died(String),
}

/// What a start has made so far.
struct Begun {
    program: Option<Program>,
    relist: Receiver<()>,
}

impl Server {
    /// Runs until it is stopped or has failed.
    pub(super) async fn live(self) {
        let first = self.once().await;
        let last = match first {
            End::Died(why) => {
                self.journal.note(&format!("cogtrix: {why}; started again"));
                self.tell(|seen| {
                    seen.state = State::Starting;
                    seen.link = None;
                    seen.ended = Some(why);
                });
                self.once().await
            }
            End::Stopped | End::NeverUp(_) => first,
        };
        self.tell(|seen| {
            seen.link = None;
            seen.ended = None;
            seen.state = match last {
                End::Stopped => State::Stopped,
                End::NeverUp(why) | End::Died(why) => State::Failed(why),
            };
        });
    }

    fn tell(&self, what: impl FnOnce(&mut Snapshot)) {
        self.seen.send_if_modified(|seen| {
            let is_current = seen.run == self.run;
            if is_current {
                what(seen);
            }
            is_current
        });
    }

    async fn once(&self) -> End {
        let (changed, relist) = mpsc::channel(1);
        let mut begun = Begun {
            program: None,
            relist,
        };
        let ours = Ours::new(&self.setup.project, changed, self.journal.clone());
        let progress = ours.progress.clone();
        let up = tokio::select! {
            up = timeout(self.setup.timeout, self.start(ours, &mut begun)) => up,
            () = self.stop.cancelled() => return End::Stopped,
        };
        let service = match up {
            Ok(Ok(service)) => service,
            Ok(Err(why)) => return End::NeverUp(self.why(why, begun.program).await),
            Err(_) => {
                return End::NeverUp(format!(
                    "it did not answer within {}",
                    in_words(self.setup.timeout)
                ));
            }
        };
        let link = Link {
            peer: service.peer().clone(),
            progress,
            call_timeout: self.setup.call_timeout,
        };
        self.serve(service, link, begun).await
    }

    /// Starts it and shakes hands; what has to be ended is left in `begun`.
    async fn start(
        &self,
        ours: Ours,
        begun: &mut Begun,
    ) -> Result<RunningService<RoleClient, Ours>, Stumble> {
        if let Some((program, (output, input))) =
            process::spawn(&self.setup.target, &self.journal).map_err(Stumble::Told)?
        {
            begun.program = Some(program);
            let transport = AsyncRwTransport::new_client(output, input);
            return ours.serve(transport).await.map_err(stumble);
        }
        match web::transport(&self.setup).map_err(Stumble::Told)? {
            Some(transport) => ours.serve(transport).await.map_err(stumble),
            None => Err(Stumble::Told(
                "it has neither a command nor a url".to_owned(),
            )),
        }
    }

    async fn serve(
        &self,
        service: RunningService<RoleClient, Ours>,
        link: Link,
        begun: Begun,
    ) -> End {
        let Begun {
            program,
            mut relist,
        } = begun;
        let close = service.cancellation_token();
        let peer = link.peer.clone();
        let mut closed = pin!(service.waiting());
        let end = tokio::select! {
            _ = &mut closed => None,
            () = self.stop.cancelled() => Some(End::Stopped),
            failed = self.keep_listing(&peer, link, &mut relist) => Some(match failed {
                Ok(never) => match never {},
                Err(why) => End::NeverUp(why),
            }),
        };
        let Some(end) = end else {
            return End::Died(self.why(Stumble::Closed, program).await);
        };
        close.cancel();
        // What does not close in time is dropped, and the program with it.
        drop(timeout(CLOSING, closed).await);
        if let Some(program) = program {
            program.end().await;
        }
        end
    }

    /// Lists the tools, and again whenever the server says that they changed. Only the first list must come, and in
    /// time.
    async fn keep_listing(
        &self,
        peer: &Peer<RoleClient>,
        link: Link,
        changed: &mut Receiver<()>,
    ) -> Result<Infallible, String> {
        self.list(peer, &link).await?;
        loop {
            if changed.recv().await.is_none() {
                std::future::pending::<()>().await;
            }
            if let Err(why) = self.list(peer, &link).await {
                self.journal.note(&format!("cogtrix: {why}"));
            }
            sleep(BETWEEN_LISTS).await;
        }
    }

    async fn list(&self, peer: &Peer<RoleClient>, link: &Link) -> Result<(), String> {
        let offers_tools = peer
            .peer_info()
            .is_some_and(|info| info.capabilities.tools.is_some());
        let listed = match timeout(self.setup.timeout, listing::list(peer, &self.setup.tools)).await
        {
            Ok(Ok(listed)) => listed,
            // It said that it has none.
            Ok(Err(_)) if !offers_tools => Vec::new(),
            Ok(Err(error)) => {
                return Err(self.setup.mask(&format!(
                    "could not list its tools: {}",
                    link::in_words(&error)
                )));
            }
            Err(_) => {
                return Err(format!(
                    "it did not list its tools within {}",
                    in_words(self.setup.timeout)
                ));
            }
        };
        self.tell(|seen| {
            seen.state = ready(peer, listed.len(), &seen.state);
            seen.listed = Arc::new(listed);
            seen.link = Some(link.clone());
            seen.ended = None;
        });
        Ok(())
    }

    async fn why(&self, stumble: Stumble, program: Option<Program>) -> String {
        let why = match (stumble, program) {
            (Stumble::Told(why), _) => why,
            (Stumble::Closed, Some(mut program)) => program.last_words().await,
            (Stumble::Closed, None) => "the connection ended".to_owned(),
        };
        self.setup.mask(&why)
    }
}

/// Why a connection is not there.
enum Stumble {
    Told(String),
    /// The other end closed it; a program may have said why.
    Closed,
}

fn stumble(error: ClientInitializeError) -> Stumble {
    if error.is_authorization_required() {
        return Stumble::Told("it requires authorisation (OAuth is not supported; put a token in headers or headers_env)".to_owned());
    }
    match error {
        ClientInitializeError::ConnectionClosed(_) => Stumble::Closed,
        // The pipe breaks when the program ends before it has read.
        ClientInitializeError::TransportError { error, .. }
            if is_broken_pipe(error.error.as_ref()) =>
        {
            Stumble::Closed
        }
        ClientInitializeError::TransportError { error, .. } => Stumble::Told(format!(
            "could not reach it: {}",
            web::in_words(error.error.as_ref())
        )),
        ClientInitializeError::JsonRpcError(error) => Stumble::Told(format!(
            "it refused to initialise: {}",
            one_line(&error.message)
        )),
        other => Stumble::Told(one_line(&format!(
            "it did not initialise as the protocol requires: {other}"
        ))),
    }
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The time stays as long as the connection does.
fn ready(peer: &Peer<RoleClient>, tools: usize, before: &State) -> State {
    let info = peer.peer_info();
    let named = info.as_ref().and_then(|info| info.server_info.as_ref());
    State::Ready {
        tools,
        server: named.map_or_else(
            || "unnamed".to_owned(),
            |server| one_line(&format!("{} {}", server.name, server.version)),
        ),
        protocol: info.map_or_else(String::new, |info| info.protocol_version.to_string()),
        since: match before {
            State::Ready { since, .. } => *since,
            State::Disabled | State::Starting | State::Failed(_) | State::Stopped => Instant::now(),
        },
    }
}

fn in_words(time: Duration) -> String {
    if time.as_secs() > 0 && time.subsec_millis() == 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{} ms", time.as_millis())
    }
}
