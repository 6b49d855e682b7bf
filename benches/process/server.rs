//! The least a model server can do, for being timed beside: one canned reply in each wire format, no
//! checks but the window. Unit: one loopback listener for the whole bench; it ends with the process. Knows
//! how long it was busy, so that the rest of a run is what the client cost.

use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::http::{Request, http, openai, read};

/// What the server serves; a longer prompt is refused.
pub(crate) const WINDOW: usize = 32_768;
const BYTES_A_TOKEN: usize = 4;
const REPLY: &str = "The report reads two months of orders, so its sort needs about 180 MB. With work_mem at 256 MB \
                     it stays in memory, and the query comes back in a little over a second.";

/// The model whose replies are long.
pub(crate) const LONG: &str = "long";
const LONG_WORDS: usize = 20_000;

/// One chat request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) arrived: Instant,
    pub(crate) answered: Instant,
}

#[derive(Debug, Default)]
struct Log {
    exchanges: Vec<Exchange>,
    /// Seconds between a request that is there and the first byte of its answer, questions beside chats
    /// included. Sending counts for the client, who may be slow to take it.
    busy: f64,
    refused: usize,
}

#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    log: Arc<Mutex<Log>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::new(Mutex::new(Log::default()));
        let shared = Arc::clone(&log);
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let (socket, log) = (socket.unwrap(), Arc::clone(&shared));
                // A client that goes away in the middle is its own affair.
                std::thread::spawn(move || serve(socket, &log).ok());
            }
        });
        Self { address, log }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn reset(&self) {
        let mut log = self.log.lock().unwrap();
        log.exchanges.clear();
        log.busy = 0.0;
    }

    pub(crate) fn busy_ms(&self) -> f64 {
        self.log.lock().unwrap().busy * 1_000.0
    }

    pub(crate) fn chats(&self) -> usize {
        self.log.lock().unwrap().exchanges.len()
    }

    pub(crate) fn refused(&self) -> usize {
        self.log.lock().unwrap().refused
    }

    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.log.lock().unwrap().exchanges.clone()
    }
}

fn serve(socket: TcpStream, log: &Mutex<Log>) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut writer = socket.try_clone()?;
    let mut reader = BufReader::new(socket);
    while let Some(request) = read(&mut reader)? {
        let arrived = Instant::now();
        let answer = answer(&request);
        let busy = arrived.elapsed();
        writer.write_all(&answer.bytes)?;
        let answered = Instant::now();
        let mut log = log.lock().unwrap();
        log.busy += busy.as_secs_f64();
        match answer.kind {
            Kind::Chat => log.exchanges.push(Exchange { arrived, answered }),
            Kind::Refused => log.refused += 1,
            Kind::Other => {}
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Chat,
    Refused,
    Other,
}

struct Answer {
    kind: Kind,
    bytes: Vec<u8>,
}

fn answer(request: &Request) -> Answer {
    let body: Option<fn(usize) -> String> = match request.path.as_str() {
        "/v1/chat/completions" => Some(|n| openai(words(n))),
        "/api/chat" => Some(ollama),
        "/v1/messages" => Some(anthropic),
        _ => None,
    };
    match body {
        Some(_) if request.body.len() > WINDOW * BYTES_A_TOKEN => {
            let why = r#"{"error":{"message":"maximum context length exceeded","code":"context_length_exceeded"}}"#;
            Answer {
                kind: Kind::Refused,
                bytes: http("400 Bad Request", "application/json", why),
            }
        }
        Some(body) => {
            let media = if request.path == "/api/chat" {
                "application/x-ndjson"
            } else {
                "text/event-stream"
            };
            let long = format!("\"model\":\"{LONG}\"").into_bytes();
            let is_long = request.body.windows(long.len()).any(|part| part == long);
            let n = if is_long { LONG_WORDS } else { SHORT_WORDS };
            Answer {
                kind: Kind::Chat,
                bytes: http("200 OK", media, &body(n)),
            }
        }
        None => Answer {
            kind: Kind::Other,
            bytes: http("200 OK", "application/json", r#"{"data":[],"models":[]}"#),
        },
    }
}

const SHORT_WORDS: usize = 30;

fn words(n: usize) -> impl Iterator<Item = &'static str> {
    REPLY.split_inclusive(' ').cycle().take(n)
}

fn ollama(n: usize) -> String {
    let line = |text: &str, rest: &str| {
        format!(
            "{{\"model\":\"m\",\"created_at\":\"2026-01-01T00:00:00Z\",\
             \"message\":{{\"role\":\"assistant\",\"content\":\"{text}\"}},{rest}}}\n"
        )
    };
    let body: String = words(n).map(|word| line(word, "\"done\":false")).collect();
    body + &line("", "\"done\":true,\"done_reason\":\"stop\"")
}

fn anthropic(n: usize) -> String {
    let event =
        |name: &str, rest: &str| format!("event: {name}\ndata: {{\"type\":\"{name}\"{rest}}}\n\n");
    let mut body = event(
        "message_start",
        ",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\",\
         \"stop_reason\":null,\"usage\":{\"input_tokens\":0,\"output_tokens\":0}}",
    );
    body += &event(
        "content_block_start",
        ",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}",
    );
    for word in words(n) {
        let rest =
            format!(",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{word}\"}}");
        body += &event("content_block_delta", &rest);
    }
    body += &event("content_block_stop", ",\"index\":0");
    body += &event(
        "message_delta",
        ",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":0}",
    );
    body + &event("message_stop", "")
}
