//! A memory behind a server, beside the files: what is to last is added to it, it is asked with them, and nothing
//! depends on it. Through the real program.

use cogtrix::testing::server::{Reply, Request, Script, Server, fail, raw, say, silent};
use serde_json::json;

use crate::support::home::Home;
use crate::support::run::Cogtrix;

const KEY: &str = "m0-not-to-be-seen";
const SAID: &str = "Actually, I prefer dark mode. Remember that the key rotates monthly.";

fn json(text: &str) -> Reply {
    raw(200, "application/json", [text.to_owned()])
}

/// A model and a memory at one address.
fn server(add: Reply, search: Reply) -> Server {
    Script::answering(|_| say("Noted."))
        .route("/memories", add)
        .route("/search", search)
        .serve()
}

fn home(server: &Server, more: &str) -> Home {
    let home = Home::new();
    let url = server.url();
    home.config(
        server,
        &format!("memory: {{mem0: {{base_url: \"{url}\", api_key_env: M0_KEY}}{more}}}"),
    );
    home
}

fn with_key(home: &Home, args: &[&str]) -> Cogtrix {
    home.cogtrix(&["-c", "test.yaml", "-s", "s"])
        .args(args)
        .env("M0_KEY", KEY)
}

fn asked<'a>(requests: &'a [Request], path: &str) -> Vec<&'a Request> {
    requests.iter().filter(|it| it.path == path).collect()
}

#[test]
fn what_is_to_last_is_added_and_what_it_knows_comes_with_the_request() {
    let known = r#"{"results": [{"memory": "Ann drinks green tea", "score": 0.9}]}"#;
    let server = server(json("{}"), json(known));
    let home = home(&server, "");
    let run = with_key(&home, &["-p", SAID]).run();
    assert_eq!(run.code, Some(0), "{run}");
    let requests = server.requests();
    let added = asked(&requests, "/memories");
    assert_eq!(added.len(), 2, "preference and remember, no correction");
    for request in &added {
        assert_eq!(request.body["user_id"], "cogtrix");
        assert_eq!(request.headers["x-api-key"], KEY);
    }
    let system = server.chats()[0].system();
    assert!(system.contains("mem0:1: Ann drinks green tea"), "{system}");
    let run = with_key(&home, &["--lines"])
        .stdin("/search what does Ann drink\n")
        .run();
    assert!(run.stdout.contains("mem0:1  Ann drinks green tea"), "{run}");
    for (name, bytes) in Home::files(&home.data()) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(KEY), "{}", name.display());
    }
}

#[test]
fn what_a_model_memorizes_is_added_and_what_it_searches_is_asked_for() {
    let mut calls = vec![
        say("").calling(
            "c2",
            "memory_search",
            json!({"query": "what does Ann drink"}),
        ),
        say("").calling(
            "c1",
            "memorize",
            json!({"type": "fact", "content": "The harbour opens at six"}),
        ),
    ];
    let known = r#"[{"memory": "Ann drinks green tea"}]"#;
    let server = Script::answering(move |_| calls.pop().unwrap_or_else(|| say("Done.")))
        .route("/memories", json("[]"))
        .route("/search", json(known))
        .serve();
    let home = home(&server, "");
    let run = with_key(&home, &["-p", "keep it"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    let requests = server.requests();
    let added = asked(&requests, "/memories");
    assert_eq!(added.len(), 1, "{run}");
    assert!(
        added[0]
            .body
            .to_string()
            .contains("The harbour opens at six")
    );
    let result = server.chats()[2].message(-1);
    assert!(
        result.contains("\"mem0\"") && result.contains("green tea"),
        "{result}"
    );
}

#[test]
fn no_secret_is_sent_to_it() {
    let secret = "sk-proj-abc123DEF456ghi789";
    let mut calls = vec![say("").calling(
        "c1",
        "memorize",
        json!({"type": "fact", "content": format!("The harbour opens with {secret}")}),
    )];
    let server = Script::answering(move |_| calls.pop().unwrap_or_else(|| say("Done.")))
        .route("/memories", json("[]"))
        .route("/search", json("[]"))
        .serve();
    let home = home(&server, "");
    let said = format!("Remember that my key for the harbour is {secret}");
    let run = with_key(&home, &["-p", &said]).run();
    assert_eq!(run.code, Some(0), "{run}");
    let requests = server.requests();
    for path in ["/memories", "/search"] {
        let sent = asked(&requests, path);
        let text: String = sent.iter().map(|it| it.body.to_string()).collect();
        assert!(text.contains("harbour"), "{path}: {text}");
        assert!(!text.contains(secret), "{path}: {text}");
    }
}

#[test]
fn a_wrong_key_or_silence_is_told_once_and_the_files_have_it() {
    for (add, search) in [
        (
            fail(401, "bad key m0-not-to-be-seen"),
            fail(401, "bad key m0-not-to-be-seen"),
        ),
        (silent(), silent()),
        (json("[1, 2"), json("[1, 2")),
    ] {
        let is_taken = add.clone();
        let server = server(add, search);
        let home = home(&server, "");
        let lines = format!("{SAID}\nMy name is Bobur\nI like the harbour at night\n");
        let run = with_key(&home, &["--lines"]).stdin(lines).run();
        assert_eq!(run.code, Some(0), "{run}");
        assert_eq!(run.stdout.matches("Noted.").count(), 3, "{run}");
        assert_eq!(
            run.stderr.matches("could not search mem0").count(),
            1,
            "{run}"
        );
        let untaken = run.stderr.matches("could not save to mem0").count();
        let is_answer = format!("{is_taken:?}").contains("status: 200");
        assert_eq!(untaken, usize::from(!is_answer), "{run}");
        assert!(!run.to_string().contains(KEY), "{run}");
        let memory = std::fs::read_to_string(home.data().join("workspace/MEMORY.md")).unwrap();
        assert!(
            memory.contains("rotates monthly") && memory.contains("Bobur"),
            "{memory}"
        );
    }
}

#[test]
fn a_private_session_and_one_without_a_memory_ask_it_nothing() {
    for (more, flag) in [("", "--private"), (", backend: none", "--no-stream")] {
        let server = server(json("{}"), json("[]"));
        let home = home(&server, more);
        let run = home
            .cogtrix(&["-c", "test.yaml", "-p", SAID, flag])
            .env("M0_KEY", KEY)
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        let requests = server.requests();
        assert_eq!(asked(&requests, "/memories").len(), 0, "{flag}");
        assert_eq!(asked(&requests, "/search").len(), 0, "{flag}");
    }
}

#[test]
fn without_its_key_it_is_not_used_and_that_is_told() {
    let server = server(json("{}"), json("[]"));
    let home = home(&server, "");
    let run = home.ask("s", SAID);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("M0_KEY is not set"), "{run}");
    assert_eq!(asked(&server.requests(), "/search").len(), 0);
}
