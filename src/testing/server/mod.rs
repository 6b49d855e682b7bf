//! A model server that says what a script tells it, in whichever of the three wire formats it is asked, and
//! fails in the ways real ones do. Unit: one listener on a free loopback port. Invariant: it ends with its
//! value, whatever connections are open; every chat request it gets is checked (see `rules`), and a request
//! that breaks a rule is answered 400 and fails the test when the server is dropped.
//!
//! ```
//! use cogtrix::testing::server::{Server, fail, say};
//!
//! let server = Server::start([say("Hello"), fail(500, "boom"), say("Again").cut_after(2)]);
//! let base_url = server.openai_url();
//! assert!(base_url.ends_with("/v1"));
//! assert_eq!(server.chats().len(), 0);
//! ```
//!
//! The script is for chat requests, in their order. Questions beside them (which models, how much they hold)
//! are answered from [`Script::models`] and [`Script::window`], or by [`Script::route`]; texts to embed, with the
//! vectors of [`Hashed`](crate::embed::Hashed).

mod render;
mod reply;
mod rules;
mod serve;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

pub use reply::{Release, Reply, fail, hang_up, raw, say, silent, stream_of};

/// A test that waits longer than this for a request has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// A request as it came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    pub method: String,
    /// With the query, if there is one.
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// `Null` if the body is no JSON.
    pub body: Value,
}

impl Request {
    /// The text of the message at `index` of `messages`, counted from the end if negative.
    pub fn message(&self, index: isize) -> String {
        let messages = self.body["messages"].as_array();
        let messages = messages.map(Vec::as_slice).unwrap_or_default();
        let at = if index < 0 {
            messages.len().checked_sub(index.unsigned_abs())
        } else {
            Some(index.unsigned_abs())
        };
        let message = at.and_then(|at| messages.get(at));
        message.map(rules::text).unwrap_or_default()
    }

    /// The system text, wherever the format puts it.
    pub fn system(&self) -> String {
        match &self.body["system"] {
            Value::String(text) => text.clone(),
            _ if self.body["messages"][0]["role"] == "system" => self.message(0),
            _ => String::new(),
        }
    }
}

type Answer = Box<dyn FnMut(&Request) -> Reply + Send>;

/// What a server will do, before it starts.
pub struct Script {
    answer: Answer,
    models: Vec<String>,
    window: Option<u32>,
    longest_text: usize,
    dimensions: usize,
    routes: BTreeMap<String, Reply>,
    first: BTreeMap<String, Reply>,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("models", &self.models)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

impl Script {
    /// One reply for each chat request; when they are used up, status 500.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let mut replies: VecDeque<Reply> = replies.into_iter().collect();
        Self::answering(move |_| {
            let next = replies.pop_front();
            next.unwrap_or_else(|| fail(500, "the script is over"))
        })
    }

    /// Replies that depend on the request.
    pub fn answering(answer: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        Self {
            answer: Box::new(answer),
            models: vec!["scripted".to_owned()],
            window: Some(32_768),
            longest_text: usize::MAX,
            dimensions: serve::DIMENSIONS,
            routes: BTreeMap::new(),
            first: BTreeMap::new(),
        }
    }

    /// The models it offers; `scripted` unless said otherwise.
    #[must_use]
    pub fn models<M: Into<String>>(mut self, models: impl IntoIterator<Item = M>) -> Self {
        self.models = models.into_iter().map(Into::into).collect();
        self
    }

    /// The window it tells; `None` if it does not.
    #[must_use]
    pub fn window(mut self, window: impl Into<Option<u32>>) -> Self {
        self.window = window.into();
        self
    }

    /// Refuses to embed texts of more characters.
    #[must_use]
    pub fn longest_text(mut self, longest: usize) -> Self {
        self.longest_text = longest;
        self
    }

    /// Numbers in each vector; 16 unless said otherwise.
    #[must_use]
    pub fn dimensions(mut self, dimensions: usize) -> Self {
        self.dimensions = dimensions;
        self
    }

    /// A fixed reply for a path, whatever the method; it goes before everything else.
    #[must_use]
    pub fn route(mut self, path: &str, reply: Reply) -> Self {
        self.routes.insert(path.to_owned(), reply);
        self
    }

    /// Answers the first request for `path` so, and the others as if nothing had been said.
    #[must_use]
    pub fn first(mut self, path: &str, reply: Reply) -> Self {
        self.first.insert(path.to_owned(), reply);
        self
    }

    pub fn serve(self) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free loopback port");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            script: Mutex::new(self),
            log: Mutex::default(),
            arrived: Condvar::new(),
            over: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        let thread = std::thread::spawn(move || accept(&accepting, &listener));
        Server {
            address,
            shared,
            thread: Some(thread),
        }
    }
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the threads share: locks are held for single steps only.
struct Shared {
    script: Mutex<Script>,
    log: Mutex<Log>,
    arrived: Condvar,
    over: AtomicBool,
}

#[derive(Default)]
struct Log {
    requests: Vec<Request>,
    violations: Vec<String>,
    /// To be closed from outside when the server is dropped.
    sockets: Vec<TcpStream>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    /// A panic in a test's closure must not hide behind a poisoned lock.
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// Serves one reply for each chat request.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        Script::new(replies).serve()
    }

    /// Serves replies that depend on the request.
    pub fn answering(answer: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        Script::answering(answer).serve()
    }

    /// `http://127.0.0.1:PORT`, as the base URL of `ollama` and `anthropic`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// With `/v1`, as the base URL of `openai`.
    pub fn openai_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// All requests so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.log().requests.clone()
    }

    /// The chat requests among them.
    pub fn chats(&self) -> Vec<Request> {
        let requests = self.requests().into_iter();
        requests
            .filter(|request| render::Format::of(request).is_some())
            .collect()
    }

    /// Waits until that many chat requests have come; panics if they do not.
    pub fn wait_for_chats(&self, n: usize) {
        let is_chat = |request: &&Request| render::Format::of(request).is_some();
        let log = self.shared.log();
        let waiting = |log: &mut Log| log.requests.iter().filter(is_chat).count() < n;
        let waited = self
            .shared
            .arrived
            .wait_timeout_while(log, PATIENCE, waiting);
        let (log, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(log);
        assert!(!waited.timed_out(), "{n} chat requests did not come");
    }

    /// The texts it was asked to embed, in the order in which they came.
    pub fn embedded(&self) -> Vec<String> {
        let requests = self.requests().into_iter();
        let asked = requests.filter(|request| serve::embeds(&request.path));
        let texts = asked.flat_map(|request| match &request.body["input"] {
            Value::Array(texts) => texts.clone(),
            _ => Vec::new(),
        });
        texts
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect()
    }

    /// What was wrong with the chat requests; dropping a server with such panics.
    pub fn violations(&self) -> Vec<String> {
        self.shared.log().violations.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Wakes `accept`, which then sees that it is over.
        drop(TcpStream::connect(self.address));
        for socket in self.shared.log().sockets.drain(..) {
            drop(socket.shutdown(std::net::Shutdown::Both));
        }
        let failed = self
            .thread
            .take()
            .is_some_and(|thread| thread.join().is_err());
        if std::thread::panicking() {
            return;
        }
        assert!(!failed, "the scripted server panicked");
        let violations = self.violations();
        assert!(violations.is_empty(), "bad requests: {violations:#?}");
    }
}

fn accept(shared: &Arc<Shared>, listener: &TcpListener) {
    let mut threads = Vec::new();
    for socket in listener.incoming() {
        if shared.over.load(Ordering::SeqCst) {
            break;
        }
        let Ok(socket) = socket else { continue };
        let Ok(handle) = socket.try_clone() else {
            continue;
        };
        shared.log().sockets.push(handle);
        let shared = Arc::clone(shared);
        threads.push(std::thread::spawn(move || {
            serve::connection(&shared, socket);
        }));
    }
    // A connection accepted just before the end may have missed the first closing.
    for socket in shared.log().sockets.drain(..) {
        drop(socket.shutdown(std::net::Shutdown::Both));
    }
    for thread in threads {
        // A panicked connection has printed its message; the test sees a broken reply.
        drop(thread.join());
    }
}
