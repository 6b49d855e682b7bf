//! Both embedders against the scripted server: what they send, and what they make of what comes back.

use std::time::Duration;

use cogtrix::embed::{EmbedError, Embedder, Hashed, Ollama, OpenAi, RemoteSettings};
use cogtrix::net::{Endpoint, Key, KeySource, Scheme, base_url};
use cogtrix::testing::server::{Reply, Script, Server, hang_up, raw, silent};
use serde_json::json;

const DIMENSIONS: usize = 16;

fn settings() -> RemoteSettings {
    RemoteSettings {
        batch: 3,
        ..RemoteSettings::new("m")
    }
}

fn key() -> Key {
    Key {
        secret: Some("sk-secret".into()),
        source: KeySource::Config("providers.p.api_key".to_owned()),
    }
}

/// Ollama's and the other, each as one asks it.
fn both(server: &Server, settings: &RemoteSettings) -> [(&'static str, Box<dyn Embedder>); 2] {
    let endpoint = |url: &str| {
        let url = base_url("base_url", url).unwrap();
        Endpoint::new(url, key(), Scheme::Bearer).unwrap()
    };
    let ollama = Ollama::new(endpoint(&server.url()), settings.clone());
    let openai = OpenAi::new(endpoint(&server.openai_url()), settings.clone());
    [
        ("/api/embed", Box::new(ollama)),
        ("/v1/embeddings", Box::new(openai)),
    ]
}

async fn plain(texts: &[&str]) -> Vec<Vec<f32>> {
    Hashed::new(DIMENSIONS).embed(texts).await.unwrap()
}

fn close(a: &[Vec<f32>], b: &[Vec<f32>]) -> bool {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    a.len() == b.len() && pairs.into_iter().all(|(x, y)| (x - y).abs() < 1e-6)
}

#[tokio::test]
async fn texts_go_out_in_batches_and_vectors_come_back_in_order() {
    let server = Script::new([]).serve();
    let texts = ["one", "two", "", "four", "five", " \n", "seven"];
    for (path, embedder) in both(&server, &settings()) {
        assert_eq!(embedder.dimensions(), None);
        let vectors = embedder.embed(&texts).await.unwrap();
        assert!(close(&vectors, &plain(&texts).await), "{path}");
        assert_eq!(embedder.dimensions(), Some(DIMENSIONS));
        assert_eq!(embedder.embed(&[]).await, Ok(Vec::new()));
        let requests = server
            .requests()
            .into_iter()
            .filter(|request| request.path == path);
        let sent: Vec<_> = requests.collect();
        let inputs: Vec<_> = sent.iter().map(|request| &request.body["input"]).collect();
        assert_eq!(
            inputs,
            [
                &json!(["one", "two", "(nothing)"]),
                &json!(["four", "five", "(nothing)"]),
                &json!(["seven"]),
            ]
        );
        assert_eq!(sent[0].body["model"], "m");
        assert_eq!(sent[0].headers["authorization"], "Bearer sk-secret");
    }
}

#[tokio::test]
async fn a_text_that_is_too_long_for_the_server_is_shortened_and_the_others_are_not() {
    let server = Script::new([]).longest_text(300).serve();
    let long = "word ".repeat(200);
    let texts = ["one", long.as_str(), "three", "four"];
    let cut = &long[..250];
    for (path, embedder) in both(&server, &settings()) {
        let vectors = embedder.embed(&texts).await.unwrap();
        let expected = plain(&["one", cut, "three", "four"]).await;
        assert!(close(&vectors, &expected), "{path}");
    }
    let server = Script::new([]).longest_text(2).serve();
    for (path, embedder) in both(&server, &settings()) {
        let error = embedder.embed(&texts).await.unwrap_err();
        assert!(
            matches!(error, EmbedError::TooLong { .. }),
            "{path}: {error}"
        );
    }
}

#[tokio::test]
async fn no_text_is_sent_longer_than_the_settings_allow() {
    let server = Script::new([]).serve();
    let settings = RemoteSettings {
        longest: 4,
        ..settings()
    };
    for (_, embedder) in both(&server, &settings) {
        embedder.embed(&["  éééééé", "ab"]).await.unwrap();
    }
    for request in server.requests() {
        assert_eq!(request.body["input"], json!(["éééé", "ab"]));
    }
}

async fn failure(reply: &Reply) -> [EmbedError; 2] {
    let mut script = Script::new([]);
    for path in ["/api/embed", "/v1/embeddings"] {
        script = script.route(path, reply.clone());
    }
    let server = script.serve();
    let mut settings = settings();
    settings.patience.idle = Duration::from_millis(200);
    let [(_, ollama), (_, openai)] = both(&server, &settings);
    let error = |vectors: Result<Vec<Vec<f32>>, EmbedError>| vectors.unwrap_err();
    [
        error(ollama.embed(&["a", "b"]).await),
        error(openai.embed(&["a", "b"]).await),
    ]
}

fn json(status: u16, body: &str) -> Reply {
    raw(status, "application/json", [body])
}

#[tokio::test]
async fn answers_that_are_no_vectors_of_the_texts_are_refused() {
    for (ollama, openai, said) in [
        (
            r#"{"embeddings":[[1,0]]}"#,
            r#"{"data":[{"embedding":[1,0]}]}"#,
            "1 vectors for 2",
        ),
        (
            r#"{"embeddings":[[1,0],[1]]}"#,
            r#"{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1]}]}"#,
            "a vector of 1 numbers, not 2",
        ),
        (
            r#"{"embeddings":[[1,0],[0,0]]}"#,
            r#"{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0,0]}]}"#,
            "a zero vector",
        ),
        (
            r#"{"embedding":[1]}"#,
            r#"{"object":"list"}"#,
            "not a list of vectors",
        ),
    ] {
        let [error, _] = failure(&json(200, ollama)).await;
        assert!(error.to_string().contains(said), "{error}");
        let [_, error] = failure(&json(200, openai)).await;
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[tokio::test]
async fn an_answer_without_an_end_is_not_kept() {
    let flood = raw(200, "application/json", vec![vec![b' '; 1 << 20]; 65]);
    let script = Script::new([]).route("/api/embed", flood.clone());
    let server = script.route("/v1/embeddings", flood).serve();
    for (_, embedder) in both(&server, &settings()) {
        let error = embedder.embed(&["a"]).await.unwrap_err();
        let expected = "more than 64 MiB";
        assert!(error.to_string().ends_with(expected), "{error}");
    }
}

#[tokio::test]
async fn failures_say_what_happened_and_hide_the_key() {
    use EmbedError as E;
    type Is = fn(&EmbedError) -> bool;
    let cases: [(Reply, Is); 5] = [
        (
            json(
                404,
                r#"{"error":"model \"m\" not found, try pulling it first"}"#,
            ),
            |e| matches!(e, E::UnknownModel { model, .. } if model == "m"),
        ),
        (raw(404, "text/plain", ["404 page not found"]), |e| {
            matches!(e, E::Protocol { .. })
        }),
        (json(503, r#"{"error":"server busy: sk-secret"}"#), |e| {
            matches!(e, E::Refused { message, .. } if message == "server busy: ***")
                && e.is_transient()
        }),
        (hang_up(), |e| matches!(e, E::Unreachable { .. })),
        (silent(), |e| matches!(e, E::Silent { .. })),
    ];
    for (reply, is) in cases {
        for error in failure(&reply).await {
            assert!(is(&error), "{error:?}");
        }
    }
    let page = raw(200, "text/html", ["<html><title>Log in</title>"]);
    for error in failure(&page).await {
        assert!(matches!(error, E::Protocol { .. }), "{error:?}");
    }
    let refused = json(401, r#"{"error":{"message":"bad key sk-secret"}}"#);
    let [_, error] = failure(&refused).await;
    let expected = E::Unauthorized {
        url: String::new(),
        status: 401,
        message: "bad key ***".to_owned(),
        key: key().source,
    };
    let E::Unauthorized {
        url,
        status,
        message,
        key,
    } = error
    else {
        panic!("{error:?}");
    };
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let url = String::new();
    assert_eq!(
        E::Unauthorized {
            url,
            status,
            message,
            key
        },
        expected
    );
    let slow = json(429, r#"{"error":"slow down"}"#).header("retry-after", "7");
    let [_, error] = failure(&slow).await;
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_by_its_address() {
    let server = Script::new([]).serve();
    let embedders = both(&server, &settings());
    let url = server.url();
    drop(server);
    for (_, embedder) in embedders {
        let error = embedder.embed(&["a"]).await.unwrap_err();
        assert!(
            matches!(&error, EmbedError::Unreachable { .. }),
            "{error:?}"
        );
        assert!(error.to_string().contains(&url), "{error}");
    }
}
