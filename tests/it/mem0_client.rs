//! The client of a memory behind a server: what it asks, what it takes for an answer, and what it says when there is
//! none.

use cogtrix::mem0::{Mem0, Mem0Error, Memory};
use cogtrix::net::{Key, KeySource};
use cogtrix::testing::server::{Script, Server, fail, raw};

fn key() -> Key {
    Key {
        secret: Some("m0-secret-key".to_owned().into()),
        source: KeySource::Environment("MEM0_API_KEY".into()),
    }
}

fn serving(path: &str, answer: &str) -> Server {
    let reply = raw(200, "application/json", [answer.to_owned()]);
    Script::new([]).route(path, reply).serve()
}

#[tokio::test]
async fn the_service_and_an_own_server_are_asked_at_their_addresses() {
    for (end, path, header) in [
        ("/v1", "/v1/memories/search/", "authorization"),
        ("", "/search", "x-api-key"),
    ] {
        let server = serving(
            path,
            r#"{"results": [{"memory": "likes tea", "score": 0.9}]}"#,
        );
        let mem0 = Mem0::new(&format!("{}{end}", server.url()), key(), "ann").unwrap();
        let found = mem0.search("what does Ann drink", 3).await.unwrap();
        assert_eq!(
            found,
            [Memory {
                text: "likes tea".into(),
                score: 0.9
            }]
        );
        let request = &server.requests()[0];
        assert_eq!(request.body["user_id"], "ann");
        assert_eq!(request.body["query"], "what does Ann drink");
        let sent = request.headers.get(header).cloned().unwrap_or_default();
        assert!(sent.ends_with("m0-secret-key"), "{sent}");
    }
}

#[tokio::test]
async fn a_bare_list_is_an_answer_too_and_no_more_than_asked_for_is_taken() {
    let server = serving(
        "/search",
        r#"[{"memory": "a"}, {"memory": "b"}, {"memory": "c"}]"#,
    );
    let mem0 = Mem0::new(&server.url(), Key::none(), "ann").unwrap();
    let found = mem0.search("x", 2).await.unwrap();
    assert_eq!(found.len(), 2);
}

#[tokio::test]
async fn what_goes_wrong_names_the_server_and_no_key() {
    let refusal = fail(401, "bad key m0-secret-key");
    let server = Script::new([]).route("/memories", refusal).serve();
    let mem0 = Mem0::new(&server.url(), key(), "ann").unwrap();
    let error = mem0.add("I like tea").await.unwrap_err().to_string();
    assert!(
        error.contains("401") && error.contains("127.0.0.1"),
        "{error}"
    );
    assert!(!error.contains("m0-secret-key"), "{error}");
    let garbled = serving("/search", "[1, 2");
    let mem0 = Mem0::new(&garbled.url(), key(), "ann").unwrap();
    let error = mem0.search("x", 2).await.unwrap_err();
    assert!(matches!(error, Mem0Error::Protocol { .. }), "{error}");
    let nobody = Mem0::new("http://127.0.0.1:1", key(), "ann").unwrap();
    let error = nobody.search("x", 2).await.unwrap_err();
    assert!(matches!(error, Mem0Error::Unreachable { .. }), "{error}");
}
