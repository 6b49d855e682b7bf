//! Files and pictures that a message mentions, in the real binary: what is sent, kept, shown, refused and sent again.

use cogtrix::testing::server::{Request, Script, Server, fail, raw, say};
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::run::Run;

const FORMATS: [&str; 3] = ["openai", "ollama", "anthropic"];

/// As far as anybody looks at it here.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\npicture";
const PNG_BASE64: &str = "iVBORw0KGgpwaWN0dXJl";

/// A server that says "seen" to everything; an Ollama model on it has eyes.
fn seeing() -> Server {
    let shown = json!({"model_info": {}, "capabilities": ["completion", "vision"]});
    Script::answering(|_| say("seen"))
        .route(
            "/api/show",
            raw(200, "application/json", [shown.to_string()]),
        )
        .serve()
}

/// A home with a project of a few files, whose model is at this server.
fn home_of(kind: &str, server: &Server) -> Home {
    let home = Home::new();
    let url = if kind == "openai" {
        server.openai_url()
    } else {
        server.url()
    };
    home.config_of(kind, &url, "");
    home.write("src/main.rs", "fn main() {\n    one();\n    two();\n}\n");
    home.write("shot.png", PNG);
    home
}

/// The last message of a request, without its time.
fn heard(request: &Request) -> String {
    let text = request.message(-1);
    text.split_once("UTC] ")
        .map_or(text.clone(), |(_, text)| text.to_owned())
}

/// Base64 of the pictures in a request, in any format, by message.
fn pictures(request: &Request) -> Vec<Vec<String>> {
    let messages = request.body["messages"].as_array().unwrap().iter();
    let users = messages.filter(|message| message["role"] == "user");
    users
        .map(|message| {
            let of_ollama = message["images"].as_array().into_iter().flatten();
            let of_ollama = of_ollama.map(|image| image.as_str().unwrap().to_owned());
            let blocks = message["content"].as_array().into_iter().flatten();
            let of_blocks = blocks.filter_map(|block| {
                let url = block["image_url"]["url"].as_str();
                let url = url.map(|url| url.strip_prefix("data:image/png;base64,").unwrap());
                let source = &block["source"];
                let source = (source["media_type"] == "image/png").then_some(&source["data"]);
                Some(url.or(source.and_then(Value::as_str))?.to_owned())
            });
            of_ollama.chain(of_blocks).collect()
        })
        .collect()
}

#[track_caller]
fn well(run: &Run) {
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn lines_of_a_file_go_behind_the_words_now_and_later() {
    for kind in FORMATS {
        let server = seeing();
        let home = home_of(kind, &server);
        let run = home.ask("s", "Explain @src/main.rs:2-3, please");
        well(&run);
        assert!(
            run.stderr.contains("Attached src/main.rs, lines 2-3"),
            "{kind}: {run}"
        );
        let block = "[file src/main.rs, lines 2-3]\n```\n    one();\n    two();\n```";
        let expected = format!("Explain @src/main.rs:2-3, please\n\n{block}");
        assert_eq!(heard(&server.chats()[0]), expected, "{kind}");
        // What is on disk by now is not what was sent.
        home.write("src/main.rs", "other\n");
        well(&home.ask("s", "And now?"));
        let past = server.chats()[1].message(-3);
        assert!(past.ends_with(&expected), "{kind}: {past}");
        assert_eq!(
            home.said("s")[0],
            "user: Explain @src/main.rs:2-3, please",
            "{kind}"
        );
        assert_eq!(server.violations(), Vec::<String>::new(), "{kind}");
    }
}

#[test]
fn an_attached_file_is_one_line_in_the_history_and_in_an_export() {
    let server = seeing();
    let home = home_of("openai", &server);
    let run = home.lines(
        "s",
        &[
            "See @src/main.rs:1 and @shot.png",
            "/history",
            "/export out.md",
        ],
    );
    well(&run);
    let exported = std::fs::read_to_string(home.work().join("out.md")).unwrap();
    for text in [&run.stdout, &exported] {
        assert!(text.contains("[attached src/main.rs, line 1]"), "{text}");
        assert!(text.contains("[image shot.png]"), "{text}");
        assert!(!text.contains("fn main"), "{text}");
    }
}

#[test]
fn without_tools_mentions_are_attached_all_the_same() {
    let server = seeing();
    let home = home_of("openai", &server);
    let args = ["-c", "test.yaml", "--tools", "none", "-p", "See @src/"];
    well(&home.cogtrix(&args).run());
    let heard = heard(&server.chats()[0]);
    assert!(
        heard.starts_with("See @src/\n\n[folder src/]\n```\nmain.rs"),
        "{heard}"
    );
}

#[test]
fn what_may_not_be_read_is_refused_and_the_words_are_sent() {
    let server = seeing();
    let home = home_of("openai", &server);
    home.write("../secret.txt", "outside-secret");
    home.write("data/history/other.json", "session-secret");
    home.write(".git/config", "git-secret");
    home.write("prog", b"\x7fELF\0");
    let data = home.work().join("data");
    for (mention, why) in [
        ("@../secret.txt", "is outside the project folder"),
        (
            "@data/history/other.json",
            "belongs to cogtrix or holds keys, and tools may not access it",
        ),
        ("@.git/config", "is inside .git"),
        ("@prog", "is not text"),
        ("@none.rs", "No such file: none.rs; sent as typed"),
        ("@alice", ""),
        ("me@none.rs", ""),
    ] {
        let prompt = format!("See {mention}");
        let run = home
            .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", &prompt])
            .env("COGTRIX_DATA_DIR", &data)
            .run();
        well(&run);
        assert!(run.stderr.contains(why), "{mention}: {run}");
        assert!(!why.is_empty() || run.stderr.is_empty(), "{mention}: {run}");
        let sent = server.chats().pop().unwrap();
        assert_eq!(heard(&sent), prompt);
        assert!(!sent.body.to_string().contains("-secret"), "{mention}");
    }
}

/// What is piped in beside a prompt was written by who knows whom.
#[test]
fn what_is_piped_in_beside_a_prompt_mentions_nothing() {
    let server = seeing();
    let home = home_of("openai", &server);
    let run = home
        .cogtrix(&["-c", "test.yaml", "-p", "Explain @src/main.rs:1"])
        .stdin("a log of @src/main.rs:3 and @none.rs")
        .run();
    well(&run);
    assert!(!run.stderr.contains("none.rs"), "{run}");
    let heard = heard(&server.chats()[0]);
    assert!(heard.contains("[file src/main.rs, line 1]"), "{heard}");
    assert!(!heard.contains("two();"), "{heard}");
}

#[test]
fn a_picture_is_sent_in_each_format_and_again_after_a_resume_for_two_turns() {
    for kind in FORMATS {
        let server = seeing();
        let home = home_of(kind, &server);
        well(&home.ask("s", "What is @shot.png?"));
        // The bytes are those that were sent, whatever becomes of the file.
        std::fs::remove_file(home.work().join("shot.png")).unwrap();
        for _ in 0..3 {
            well(&home.ask("s", "And?"));
        }
        let sent = server.chats();
        let first = |request: &Request| pictures(request)[0].len();
        assert_eq!(pictures(&sent[0]), [[PNG_BASE64]], "{kind}");
        let counts: Vec<usize> = sent.iter().map(first).collect();
        assert_eq!(counts, [1, 1, 1, 0], "{kind}");
        let text = sent[3].message(isize::from(kind != "anthropic"));
        assert!(
            text.ends_with("What is @shot.png?\n\n[image shot.png]"),
            "{kind}: {text}"
        );
        assert_eq!(server.violations(), Vec::<String>::new(), "{kind}");
    }
}

#[test]
fn pictures_move_with_their_session() {
    let server = seeing();
    let home = home_of("openai", &server);
    let lines = ["What is @shot.png?", "/rename t", "And?"];
    well(&home.lines("s", &lines));
    assert_eq!(pictures(&server.chats()[1])[0], [PNG_BASE64]);
    let kept = Home::files(&home.data().join("history/t_outputs"));
    assert_eq!(kept.into_values().collect::<Vec<_>>(), [PNG]);
    assert!(!home.history("s_outputs").exists());
}

#[test]
fn a_model_without_eyes_is_told_the_name() {
    let refuse = |request: &Request| {
        if pictures(request).concat().is_empty() {
            say("read")
        } else {
            fail(400, "this model does not support image input")
        }
    };
    let refusing = Server::answering(refuse);
    let shown = json!({"model_info": {}, "capabilities": ["completion"]}).to_string();
    let known = Script::answering(refuse)
        .route("/api/show", raw(200, "application/json", [shown]))
        .serve();
    for (kind, server, n_asked) in [
        ("openai", &refusing, 2),
        ("anthropic", &refusing, 4),
        ("ollama", &known, 1),
    ] {
        let home = home_of(kind, server);
        let run = home.ask("s", "What is @shot.png?");
        well(&run);
        assert_eq!(run.stdout, "read\n", "{kind}: {run}");
        assert!(
            run.stderr.contains("does not support images"),
            "{kind}: {run}"
        );
        assert_eq!(server.chats().len(), n_asked, "{kind}");
        let heard = heard(server.chats().last().unwrap());
        assert_eq!(heard, "What is @shot.png?\n\n[image shot.png]", "{kind}");
    }
}

#[test]
fn a_question_that_is_asked_again_brings_its_files_along() {
    let server = seeing();
    let home = home_of("openai", &server);
    well(&home.lines("s", &["See @src/main.rs:2 @shot.png", "/retry"]));
    let sent = server.chats();
    assert_eq!(heard(&sent[0]), heard(&sent[1]));
    assert!(heard(&sent[1]).contains("one();"));
    assert_eq!(pictures(&sent[1]), [[PNG_BASE64]]);
}
