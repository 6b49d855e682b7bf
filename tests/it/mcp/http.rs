//! Servers behind an address: what is sent to them, and what becomes of calls when they refuse, send elsewhere or go
//! away.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use cogtrix::tools::Failure;
use cogtrix::tools::mcp::{ServerSettings, Servers as _, State};
use secrecy::SecretString;

use super::support::{Calling, Servers, call_with, rote};

/// One request, as it came.
#[derive(Clone, Debug)]
struct Request {
    /// The first line and the headers, in small letters.
    head: String,
    body: String,
}

/// A server that answers each request on a connection of its own; its thread ends with the program.
struct Web {
    url: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Web {
    fn new(answer: impl Fn(&Request) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                let Some(request) = read(&connection) else {
                    continue;
                };
                noted.lock().unwrap().push(request.clone());
                // A client may have gone.
                drop(connection.write_all(answer(&request).as_bytes()));
            }
        });
        Self { url, seen }
    }

    fn settings(&self) -> ServerSettings {
        ServerSettings {
            url: self.url.clone(),
            ..ServerSettings::default()
        }
    }

    fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

fn read(connection: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(connection);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |n| n.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        head,
        body: String::from_utf8(body).unwrap(),
    })
}

fn reply(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\nMcp-Session-Id: s-1\r\n\r\n{body}"
    )
}

/// A server as it should be: one tool, its answers as events behind one that is empty.
fn by_rote(request: &Request) -> String {
    let id = request
        .body
        .split_once("\"id\":")
        .map_or("0", |(_, rest)| rest.split([',', '}']).next().unwrap());
    let json = |result: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}");
    let events = |result: &str| {
        reply(
            "200 OK",
            "text/event-stream",
            &format!("id: 1\ndata:\n\nid: 2\ndata: {}\n\n", json(result)),
        )
    };
    let asked = |method: &str| request.body.contains(&format!("\"method\":\"{method}\""));
    if asked("initialize") {
        let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"2"}}"#;
        reply("200 OK", "application/json", &json(result))
    } else if asked("tools/list") {
        events(r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#)
    } else if asked("tools/call") {
        events(r#"{"content":[{"type":"text","text":"over the wire"}]}"#)
    } else if request.head.starts_with("get ") {
        reply("405 Method Not Allowed", "text/plain", "")
    } else {
        reply("202 Accepted", "text/plain", "")
    }
}

#[tokio::test]
async fn a_server_behind_an_address_is_called_with_its_headers_and_its_session_ended() {
    let web = Web::new(by_rote);
    let settings = ServerSettings {
        url: format!("{}?key=in-query", web.url),
        headers: [("X-Team".to_owned(), SecretString::from("blue"))].into(),
        headers_env: [("Authorization".to_owned(), "TOKEN".to_owned())].into(),
        ..web.settings()
    };
    let servers = Servers::up([("web", settings)]).await;
    assert_eq!(
        servers.call("web__echo").await.unwrap().text,
        "over the wire"
    );
    let status = servers.fleet.status().remove(0);
    assert_eq!(
        (status.transport, status.target.as_str()),
        ("http", web.url.as_str())
    );
    Box::new(servers.fleet).shutdown().await;
    let seen = web.seen();
    for Request { head, .. } in &seen {
        assert!(
            head.contains("x-team: blue") && head.contains("authorization: of-the-person"),
            "{head}"
        );
        assert!(
            head.lines().next().unwrap().contains("/mcp?key=in-query"),
            "{head}"
        );
    }
    let last = &seen.last().unwrap().head;
    assert!(
        last.starts_with("delete ") && last.contains("mcp-session-id: s-1"),
        "{last}"
    );
}

#[tokio::test]
async fn a_server_that_sends_its_client_elsewhere_is_not_followed() {
    let elsewhere = Web::new(by_rote);
    let location = elsewhere.url.clone();
    let web = Web::new(move |_| {
        format!(
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
    });
    let servers = Servers::up([("web", web.settings())]).await;
    assert!(matches!(servers.state("web"), State::Failed(_)));
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn a_server_that_refuses_or_is_none_says_so_and_shows_no_secret() {
    let denied = |_: &Request| {
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned()
    };
    for (name, web, expected) in [
        ("401", Web::new(denied), "requires authorisation"),
        (
            "500",
            Web::new(|_| reply("500 Internal Server Error", "text/plain", "broken")),
            "500",
        ),
        (
            "page",
            Web::new(|_| reply("200 OK", "text/html", "<html></html>")),
            "text/html",
        ),
        ("empty", Web::new(|_| String::new()), "could not reach it"),
    ] {
        let url = format!("{}?key=in-query", web.url);
        let servers = Servers::up([
            (
                "web",
                ServerSettings {
                    url,
                    ..web.settings()
                },
            ),
            ("good", rote("plain")),
        ])
        .await;
        let why = servers.why("web");
        assert!(
            why.contains(expected) && !why.contains("in-query"),
            "{name}: {why}"
        );
        assert!(servers.call("good__echo").await.is_ok());
    }
}

#[tokio::test]
async fn a_call_to_a_server_that_went_away_fails_and_says_why() {
    let web = Web::new(|request| {
        if request.body.contains("tools/call") {
            String::new()
        } else {
            by_rote(request)
        }
    });
    let servers = Servers::up([("web", web.settings())]).await;
    let Err(Failure::Failed(text)) = servers.call("web__echo").await else {
        panic!()
    };
    assert_eq!(
        text,
        "the MCP server web could not complete the call: connection closed before message completed"
    );
    assert!(matches!(servers.state("web"), State::Ready { .. }));
}

#[tokio::test]
async fn a_result_that_is_too_large_or_too_deep_is_a_failure_and_the_next_call_is_heard() {
    for (name, content) in [
        ("large", format!("\"{}\"", "x".repeat(17 * 1024 * 1024))),
        ("deep", format!("{}{}", "[".repeat(200), "]".repeat(200))),
    ] {
        let web = Web::new(move |request| {
            if request.body.contains("\"much\"") {
                let data = format!(
                    "id: 2\ndata: {{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"content\":{content}}}}}\n\n"
                );
                reply("200 OK", "text/event-stream", &data)
            } else {
                by_rote(request)
            }
        });
        let servers = Servers::up([("web", web.settings())]).await;
        let tool = servers.tool("web__echo");
        let calling = Calling::new();
        let arguments = serde_json::json!({"a": "much"});
        let result = call_with(&tool, arguments, &calling.cancel, &calling.sender()).await;
        let Err(Failure::Failed(text)) = result else {
            panic!("{name}: {result:?}")
        };
        assert!(
            text.contains("too large or nested too deep"),
            "{name}: {text}"
        );
        assert!(servers.call("web__echo").await.is_ok(), "{name}");
    }
}
