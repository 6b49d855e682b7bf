//! `fetch_url` against servers on loopback: what of an answer is told, where it goes, and when it gives up.
//! Nothing sleeps: a server that is to be slow waits for the end of its client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use cogtrix::chat::{Session, Timestamp, TurnId};
use cogtrix::tools::fetch::{Rule, Settings};
use cogtrix::tools::{Around, Done, Effect, Failure, FetchUrl, Output, tool};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Answers connections until the end of the tests: one request each, `answer` writes everything.
struct Site {
    port: u16,
    /// The head of each request, as it came.
    heads: Receiver<String>,
}

impl Site {
    fn new(answer: impl Fn(&str, &mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (came, heads) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let head: Vec<String> = lines
                    .map_while(Result::ok)
                    .take_while(|line| !line.is_empty())
                    .collect();
                let path = head.first().and_then(|line| line.split(' ').nth(1));
                let path = path.unwrap_or_default().to_owned();
                if came.send(head.join("\n")).is_err() {
                    return;
                }
                answer(&path, &mut stream);
            }
        });
        Self { port, heads }
    }

    /// The same answer to everything.
    fn of(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let (content_type, body) = (content_type.to_owned(), body.into());
        Self::new(move |_, stream| {
            let more = format!("content-type: {content_type}\r\n");
            reply(stream, "200 OK", &more, &body);
        })
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn reply(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    // A client may have seen enough.
    stream.write_all(head.as_bytes()).ok();
    stream.write_all(body).ok();
}

fn redirect(stream: &mut TcpStream, to: &str) {
    reply(stream, "302 Found", &format!("location: {to}\r\n"), b"");
}

/// Until the client is gone.
fn wait(stream: &mut TcpStream) {
    stream.read_to_end(&mut Vec::new()).ok();
}

fn anywhere() -> FetchUrl {
    FetchUrl::new(&Settings {
        allow_private: true,
        ..Settings::default()
    })
}

/// As if 127.0.0.1 were a public address.
fn one_public() -> FetchUrl {
    let rule: Rule = |address| address == IpAddr::V4(Ipv4Addr::LOCALHOST);
    FetchUrl::with_rule(&Settings::default(), rule)
}

async fn fetch(fetcher: FetchUrl, url: &str) -> Result<Output, Failure> {
    call(fetcher, url, &CancellationToken::new()).await
}

async fn call(fetcher: FetchUrl, url: &str, cancel: &CancellationToken) -> Result<Output, Failure> {
    let session = Session::new("s".parse().unwrap());
    let (progress, _shown) = cogtrix::tools::progress();
    let around = Around {
        session: &session,
        turn: TurnId(1),
        now: Timestamp::from_unix(0).unwrap(),
        cancel,
        progress: &progress,
    };
    match tool(fetcher).call(json!({"url": url}), &around).await? {
        Done::Output(output) => Ok(output),
        Done::Wish(wish) => panic!("{wish:?}"),
    }
}

#[tokio::test]
async fn a_page_comes_as_text_behind_its_address_status_and_title() {
    let html = "<html><head><title>The Title</title></head><body><nav>menu</nav><p>Words.</p></body></html>";
    let site = Site::of("text/html; charset=utf-8", html);
    let output = fetch(anywhere(), &site.url("/a")).await.unwrap();
    let expected = format!(
        "{}\nstatus: 200 OK\ntitle: The Title\n\nWords.\n",
        site.url("/a")
    );
    assert_eq!(output.text, expected);
    assert_eq!((output.brief.as_str(), output.failed), ("1 lines", false));
}

#[tokio::test]
async fn text_and_json_come_as_they_are_and_other_types_by_name() {
    for (content_type, body, expected) in [
        (
            "application/json",
            &b"{\"a\": [1,\n 2]}"[..],
            "{\"a\": [1,\n 2]}",
        ),
        ("text/plain", b"  one\n\n\n\ntwo", "  one\n\n\n\ntwo"),
        ("text/plain; charset=iso-8859-1", b"caf\xe9", "café"),
        ("text/html", b"<meta charset=latin1><p>caf\xe9", "café\n"),
        ("image/png", b"\x89PNG", "[image/png, 4 bytes: not shown]"),
    ] {
        let site = Site::of(content_type, body);
        let output = fetch(anywhere(), &site.url("/")).await.unwrap();
        let (_, text) = output.text.split_once("\n\n").unwrap();
        assert_eq!(text, expected, "{content_type}");
    }
}

#[tokio::test]
async fn a_request_says_who_asks_and_nothing_else() {
    let site = Site::of("text/plain", "");
    fetch(anywhere(), &site.url("/")).await.unwrap();
    let head = site.heads.recv().unwrap().to_ascii_lowercase();
    assert!(head.contains("user-agent: cogtrix/"), "{head}");
    for absent in ["cookie", "authorization", "referer"] {
        assert!(!head.contains(absent), "{head}");
    }
}

#[tokio::test]
async fn a_status_that_is_no_success_is_a_failed_call_with_its_text() {
    let site = Site::new(|_, stream| {
        reply(
            stream,
            "404 Not Found",
            "content-type: text/plain\r\n",
            b"no such page",
        );
    });
    let output = fetch(anywhere(), &site.url("/")).await.unwrap();
    assert_eq!((output.brief.as_str(), output.failed), ("status 404", true));
    assert!(output.text.ends_with("no such page"));
}

#[tokio::test]
async fn private_addresses_are_refused_before_anybody_is_asked() {
    let fetcher = tool(FetchUrl::new(&Settings::default()));
    for url in [
        "http://127.0.0.1:1/",
        "http://0x7f.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "http://user:pass@example.com/",
    ] {
        let effect = fetcher.effect(&json!({"url": url}));
        assert!(matches!(effect, Err(Failure::Arguments(_))), "{url}");
    }
    let effect = fetcher.effect(&json!({"url": "https://Example.com/a b"}));
    let expected = Effect::Contacts {
        host: "example.com".to_owned(),
        what: "https://example.com/a%20b".to_owned(),
    };
    assert_eq!(effect, Ok(expected));
}

#[tokio::test]
async fn a_name_that_leads_to_a_private_address_is_refused_when_it_is_resolved() {
    let site = Site::of("text/plain", "secret");
    let url = format!("http://localhost:{}/", site.port);
    let refused = fetch(FetchUrl::new(&Settings::default()), &url).await;
    let failure = refused.unwrap_err().to_string();
    assert!(
        failure.contains("localhost points to a private"),
        "{failure}"
    );
    assert!(site.heads.try_recv().is_err());
    assert!(fetch(one_public(), &url).await.is_ok());
}

#[tokio::test]
async fn every_redirect_is_checked() {
    let site = Site::new(|path, stream| match path {
        "/ok" => reply(stream, "200 OK", "content-type: text/plain\r\n", b"there"),
        "/relative" => redirect(stream, "/ok"),
        "/loop" => redirect(stream, "/loop?"),
        "/loop?" => redirect(stream, "/loop"),
        other => redirect(stream, other.trim_start_matches("/to/")),
    });
    for (path, expected) in [
        ("/to/ftp://127.0.0.1/x", "only http and https"),
        ("/to/http://127.0.0.2/", "127.0.0.2 points to a private"),
        ("/to/http://0x7f.2/", "127.0.0.2 points to a private"),
        ("/to/http://[::1]/", "[::1] points to a private"),
        ("/to/http://u:p@127.0.0.1/", "user name or password"),
        ("/loop", "more than 5 redirects"),
    ] {
        let failure = fetch(one_public(), &site.url(path)).await.unwrap_err();
        assert!(failure.to_string().contains(expected), "{path}: {failure}");
    }
    // Not even taken for an address.
    let output = fetch(one_public(), &site.url("/to/file:///etc/passwd")).await;
    let output = output.unwrap();
    assert!(
        output.failed && !output.text.contains("root:"),
        "{}",
        output.text
    );
    let output = fetch(one_public(), &site.url("/relative")).await.unwrap();
    assert!(output.text.starts_with(&site.url("/ok")), "{}", output.text);
    assert!(output.text.ends_with("there"));
}

#[tokio::test]
async fn a_redirect_to_another_host_is_told_and_not_followed() {
    let other = Site::of("text/plain", "there");
    let target = format!("http://localhost:{}/x", other.port);
    let to = target.clone();
    let site = Site::new(move |_, stream| redirect(stream, &to));
    let failure = fetch(anywhere(), &site.url("/")).await.unwrap_err();
    let expected = format!("it redirects to {target}; fetch that URL if needed");
    assert!(failure.to_string().ends_with(&expected), "{failure}");
    assert!(other.heads.try_recv().is_err(), "nobody was asked about it");
    assert!(fetch(anywhere(), &target).await.is_ok());
}

#[tokio::test]
async fn a_large_body_is_cut() {
    let site = Site::new(|_, stream| {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100000000\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let piece = vec![b'x'; 1_000_000];
        // The client goes when it has enough.
        let sent = (0..100).take_while(|_| stream.write_all(&piece).is_ok());
        assert!(sent.count() < 100);
    });
    let output = fetch(anywhere(), &site.url("/")).await.unwrap();
    assert!(output.text.contains("page cut after 5242880 bytes"));
    assert!(output.text.len() < 5_242_880 + 200, "{}", output.text.len());
}

#[tokio::test]
async fn a_body_without_end_is_given_up_in_time() {
    let site = Site::new(|_, stream| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nbegun";
        stream.write_all(head.as_bytes()).unwrap();
        wait(stream);
    });
    let fetcher = FetchUrl::new(&Settings {
        allow_private: true,
        timeout: Duration::from_millis(200),
    });
    let failure = fetch(fetcher, &site.url("/")).await.unwrap_err();
    assert!(
        failure
            .to_string()
            .ends_with("no complete response within 0.2 s")
    );
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends() {
    let (came, coming) = tokio::sync::oneshot::channel();
    let came = std::sync::Mutex::new(Some(came));
    let site = Site::new(move |_, stream| {
        came.lock().unwrap().take().unwrap().send(()).unwrap();
        wait(stream);
    });
    let cancel = CancellationToken::new();
    let url = site.url("/");
    let (result, ()) = tokio::join!(call(anywhere(), &url, &cancel), async {
        coming.await.unwrap();
        cancel.cancel();
    });
    assert_eq!(result.unwrap_err(), Failure::Interrupted);
}
