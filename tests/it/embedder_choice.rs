//! Which embedder there is: candidates against the scripted server, and the program that tells.

use std::path::PathBuf;
use std::sync::Arc;

use cogtrix::embed::{Candidate, ChoiceSettings, EmbedError, EmbedderChoice, Named, Wanted};
use cogtrix::files::{Disk, MemoryDisk};
use cogtrix::net::{Endpoint, Key, Scheme, base_url};
use cogtrix::testing::server::{Script, Server, fail, raw, silent};

use crate::support::home::Home;

const NOMIC: &str = "nomic-embed-text";
/// Of the scripted server.
const DIMENSIONS: usize = 16;

fn endpoint(url: &str) -> Endpoint {
    let url = base_url("base_url", url).unwrap();
    Endpoint::new(url, Key::none(), Scheme::Bearer).unwrap()
}

fn ollama(server: &Server) -> Candidate {
    Candidate::Ollama {
        endpoint: endpoint(&server.url()),
        model: NOMIC.to_owned(),
    }
}

fn compatible(server: &Server) -> Candidate {
    Candidate::Compatible {
        endpoint: endpoint(&server.openai_url()),
        model: String::new(),
    }
}

fn no_key() -> Candidate {
    Candidate::Unusable {
        wanted: Wanted::Openai,
        why: EmbedError::Setup {
            what: "no API key for openai".to_owned(),
            hint: "export one".to_owned(),
        },
    }
}

fn no_files() -> Candidate {
    Candidate::Local {
        folder: PathBuf::from("models/none"),
    }
}

fn choice(candidates: impl Into<Vec<Candidate>>, named: Named) -> (EmbedderChoice, MemoryDisk) {
    let disk = MemoryDisk::default();
    let settings = ChoiceSettings {
        candidates: candidates.into(),
        named,
    };
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    (EmbedderChoice::new(settings, shared), disk)
}

fn paths(server: &Server) -> Vec<String> {
    let requests = server.requests().into_iter();
    requests.map(|request| request.path).collect()
}

/// A server that has these models and no other.
fn with(models: &[&str]) -> Server {
    Script::new([]).models(models.iter().copied()).serve()
}

#[tokio::test]
async fn ollama_is_first_and_counts_only_if_it_lists_the_model() {
    let (first, second) = (with(&["qwen3:8b", "nomic-embed-text:latest"]), with(&["m"]));
    let (choice, _) = choice([ollama(&first), compatible(&second)], Named::No);
    assert_eq!(choice.describe(), "not checked yet");
    assert!(choice.chosen().is_none() && first.requests().is_empty());
    let embedder = choice.resolve().await.unwrap().unwrap();
    assert_eq!(choice.describe(), "ollama/nomic-embed-text");
    assert_eq!(embedder.embed(&["a"]).await.unwrap()[0].len(), DIMENSIONS);
    assert_eq!(choice.describe(), "ollama/nomic-embed-text, 16 dimensions");
    assert_eq!(paths(&first), ["/api/tags", "/api/embed"]);
    assert_eq!(first.requests()[1].body["model"], NOMIC);
    assert!(second.requests().is_empty());
}

#[tokio::test]
async fn a_compatible_server_that_answers_is_next_and_asked_for_a_model_it_has() {
    for (models, asked) in [
        (
            &["text-embedding-3-small", "gpt-4o"][..],
            "text-embedding-3-small",
        ),
        (&["gpt-4o", "bge-embed-large"], "bge-embed-large"),
        (&["all-minilm.gguf"], "all-minilm.gguf"),
    ] {
        let (first, second) = (with(&["qwen3:8b"]), with(models));
        let (choice, _) = choice([ollama(&first), compatible(&second)], Named::No);
        let embedder = choice.resolve().await.unwrap().unwrap();
        embedder.embed(&["a"]).await.unwrap();
        assert_eq!(choice.describe(), format!("openai/{asked}, 16 dimensions"));
        assert_eq!(second.requests()[1].body["model"], asked);
        let passed: Vec<_> = choice.passed().iter().map(ToString::to_string).collect();
        assert_eq!(passed.len(), 1);
        assert!(passed[0].contains("it has qwen3:8b"), "{passed:?}");
    }
}

#[tokio::test]
async fn a_chat_model_is_never_asked_for_vectors() {
    for models in [&["gpt-4o", "gpt-5"][..], &["qwen3:8b"]] {
        let server = with(models);
        let (choice, _) = choice([compatible(&server)], Named::No);
        assert!(choice.resolve().await.unwrap().is_none(), "{models:?}");
        let passed: Vec<_> = choice.passed().iter().map(ToString::to_string).collect();
        assert!(passed[0].contains("lists no embedding model"), "{passed:?}");
        assert_eq!(server.requests().len(), 1, "only its list");
    }
}

#[tokio::test]
async fn a_server_without_a_list_of_models_answers_all_the_same() {
    for reply in [
        raw(404, "text/plain", ["no"]),
        raw(200, "text/plain", ["hi"]),
    ] {
        let server = Script::new([]).route("/v1/models", reply).serve();
        let (choice, _) = choice([compatible(&server)], Named::No);
        assert!(choice.resolve().await.unwrap().is_some());
        assert_eq!(choice.describe(), "openai/text-embedding-3-small");
    }
}

#[tokio::test]
async fn where_none_is_there_none_is_chosen_and_nobody_is_warned() {
    let server = Script::new([])
        .models(["qwen3:8b"])
        .route("/v1/models", fail(401, "no key"))
        .serve();
    let candidates = [ollama(&server), compatible(&server), no_key(), no_files()];
    let (choice, disk) = choice(candidates, Named::No);
    assert!(choice.resolve().await.unwrap().is_none());
    assert_eq!(choice.describe(), "none: keyword search");
    assert_eq!(choice.passed().len(), 4);
    assert!(disk.files().is_empty());
}

#[tokio::test]
async fn one_that_was_asked_for_and_is_not_there_is_an_error_and_looked_for_again() {
    let server = Script::new([])
        .models([NOMIC])
        .first("/api/tags", fail(500, "starting"))
        .serve();
    let (choice, _) = choice([ollama(&server)], Named::Yes);
    let error = choice.resolve().await.unwrap_err();
    assert!(error.to_string().contains("starting"), "{error}");
    let told = choice.describe();
    assert!(
        told.starts_with("none: keyword search (cannot embed with ollama/"),
        "{told}"
    );
    assert!(choice.resolve().await.unwrap().is_some());
    assert!(choice.resolve().await.unwrap().is_some());
    assert_eq!(
        paths(&server),
        ["/api/tags", "/api/tags"],
        "found once, kept"
    );
}

/// The clock runs ahead as soon as everything waits.
#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_not_waited_for() {
    let server = Script::new([]).route("/api/tags", silent()).serve();
    let (choice, _) = choice([ollama(&server)], Named::No);
    assert!(choice.resolve().await.unwrap().is_none());
}

#[tokio::test]
async fn without_candidates_nobody_is_asked() {
    let (choice, _) = choice([], Named::No);
    assert!(choice.is_off());
    assert_eq!(choice.describe(), "none: keyword search");
    assert!(choice.resolve().await.unwrap().is_none());
}

#[tokio::test]
async fn hashed_and_a_vendor_with_a_key_need_no_asking() {
    let hashed = choice([Candidate::Hashed { dimensions: 8 }], Named::Yes).0;
    assert!(hashed.resolve().await.unwrap().is_some());
    assert_eq!(hashed.describe(), "hashed/8, 8 dimensions");
    let server = with(&["m"]);
    let vendor = Candidate::Vendor {
        endpoint: endpoint(&server.openai_url()),
        model: "m".to_owned(),
    };
    let vendor = choice([vendor], Named::No).0;
    assert!(vendor.resolve().await.unwrap().is_some());
    assert!(server.requests().is_empty());
}

#[test]
fn the_program_tells_which_embedder_it_has_and_why() {
    let (home, first, second) = (Home::new(), with(&[NOMIC]), with(&["e5-embed"]));
    let show = |args: &[&str]| {
        let args = [args, &["embedder", "show"]].concat();
        home.cogtrix(&args)
    };
    let run = show(&[]).env("OLLAMA_HOST", first.url()).run();
    assert_eq!(
        run.stdout,
        "embedder  ollama/nomic-embed-text, 16 dimensions\n\
         because   embedding.provider is auto, and this is the first one available\n"
    );
    let run = show(&[])
        .env("OLLAMA_HOST", second.url())
        .env("OPENAI_BASE_URL", second.openai_url())
        .run();
    assert!(
        run.stdout.contains("ollama/e5-embed, 16 dimensions"),
        "any that embeds: {run}"
    );
    let chats = with(&["qwen3:8b"]);
    let run = show(&[])
        .env("OLLAMA_HOST", chats.url())
        .env("OPENAI_BASE_URL", second.openai_url())
        .run();
    assert!(
        run.stdout.contains("openai/e5-embed, 16 dimensions"),
        "{run}"
    );
    assert!(run.stdout.contains("not       ollama: "), "{run}");
    // Nobody asked for a vendor that the chat does not use.
    let run = show(&[])
        .env("OLLAMA_HOST", chats.url())
        .env("OPENAI_API_KEY", "sk-none")
        .run();
    assert!(run.stdout.contains("none: keyword search"), "{run}");
    assert!(!run.stdout.contains("openai"), "{run}");
    let nobody = "http://127.0.0.1:9";
    let run = show(&[]).env("OLLAMA_HOST", nobody).run();
    assert!(
        run.stdout.starts_with("embedder  none: keyword search\n"),
        "{run}"
    );
    assert_eq!(
        (run.code, run.stdout.lines().count()),
        (Some(0), 4),
        "{run}"
    );

    home.write("one.yaml", "embedding: {provider: ollama}\n");
    let run = show(&["-c", "one.yaml"]).env("OLLAMA_HOST", nobody).run();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.stderr
            .contains("error: cannot embed with ollama: cannot reach"),
        "{run}"
    );

    home.write("none.yaml", "embedding: {provider: none}\n");
    let n_asked = first.requests().len();
    let run = show(&["-c", "none.yaml"])
        .env("OLLAMA_HOST", first.url())
        .run();
    assert!(
        run.stdout.contains("none: keyword search") && run.code == Some(0),
        "{run}"
    );
    assert_eq!(first.requests().len(), n_asked);
}

#[test]
fn an_alias_says_which_model_embeds() {
    let (home, server) = (Home::new(), with(&["bge-m3", NOMIC]));
    let config = |more: &str| {
        let models =
            "models: {emb: {provider: there, model: bge-m3}, cl: {provider: anthropic, model: c}}";
        home.config_of("ollama", &server.url(), &format!("{models}\n{more}"));
        home.cogtrix(&["-c", "test.yaml", "embedder", "show"]).run()
    };
    let run = config("rag: {model: emb}");
    assert_eq!(
        run.stdout, "embedder  ollama/bge-m3, 16 dimensions\nbecause   rag.model is emb\n",
        "{run}"
    );
    assert_eq!(server.requests().last().unwrap().body["model"], "bge-m3");
    let run = config("rag: {model: emv}");
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr
            .contains("rag.model: \"emv\" is not one of cl, emb; did you mean emb?"),
        "{run}"
    );
    let run = config("rag: {model: cl}");
    assert!(run.stderr.contains("anthropic has no embeddings"), "{run}");
    assert!(run.stdout.contains("ollama/nomic-embed-text, 16"), "{run}");
}
