//! `cogtrix models`: what each provider offers, and what is told of one that does not answer.

use cogtrix::testing::server::{Script, raw, say};
use serde_json::{Value, json};

use crate::support::home::Home;

const GONE: &str = "http://127.0.0.1:9/v1";

fn home() -> (Home, cogtrix::testing::server::Server) {
    let list = json!({"data": [
        {"id": "org/large", "context_length": 200_000,
         "pricing": {"prompt": "0.000003", "completion": "0.000015"}},
        {"id": "gpt-4o-mini"},
        {"id": "nobody-knows"},
    ]});
    let list = raw(200, "application/json", [list.to_string()]);
    let server = Script::new([]).route("/v1/models", list).serve();
    let home = Home::new();
    let config = format!(
        "providers:\n  there: {{type: openai, base_url: \"{}\"}}\n  gone: {{type: openai, base_url: \"{GONE}\"}}\n\
         models:\n  mine: {{provider: there, model: nobody-knows, context_window: 5000, price: {{input: 0.5, output: 1}}}}\n",
        server.openai_url()
    );
    home.write("test.yaml", config);
    (home, server)
}

#[test]
fn each_model_has_a_line_with_window_and_price_where_they_are_known() {
    let (home, _server) = home();
    let run = home.cogtrix(&["-c", "test.yaml", "models"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    let row = |name: &str| {
        let line = run.stdout.lines().find(|line| line.starts_with(name));
        let words = line.unwrap_or_else(|| panic!("{name}: {run}"));
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        row("there/org/large"),
        "there/org/large 200k $3 in, $15 out"
    );
    assert_eq!(
        row("there/gpt-4o-mini"),
        "there/gpt-4o-mini 128k $0.15 in, $0.60 out"
    );
    assert_eq!(
        row("there/nobody-knows"),
        "there/nobody-knows 5.0k $0.50 in, $1 out"
    );
    let gone = run.stderr.lines().filter(|line| line.starts_with("gone: "));
    assert_eq!(gone.count(), 1, "{run}");
    assert!(
        !run.stderr.contains("anthropic: "),
        "nobody set it up: {run}"
    );
}

#[test]
fn models_are_told_as_json_too() {
    let (home, _server) = home();
    let run = home.cogtrix(&["-c", "test.yaml", "models", "--json"]).run();
    let providers: Value = serde_json::from_str(&run.stdout).unwrap();
    let of = |name: &str| {
        let mut providers = providers.as_array().unwrap().iter();
        providers.find(|it| it["provider"] == name).unwrap()
    };
    let there = of("there");
    assert_eq!(there["error"], Value::Null);
    let large = &there["models"][2];
    assert_eq!(large["name"], "there/org/large");
    assert_eq!(large["window"], 200_000);
    assert_eq!(large["price"]["output"], 15.0);
    assert!(
        of("gone")["error"]
            .as_str()
            .unwrap()
            .contains("127.0.0.1:9")
    );
}

#[test]
fn where_no_provider_offers_anything_the_exit_code_says_so() {
    let home = Home::new();
    let config = format!("providers: {{gone: {{type: openai, base_url: \"{GONE}\"}}}}\n");
    home.write("test.yaml", config);
    let run = home
        .cogtrix(&["-c", "test.yaml", "models"])
        .env("OLLAMA_HOST", "127.0.0.1:9")
        .run();
    assert_eq!(run.code, Some(3), "{run}");
    assert_eq!(run.stdout, "");
    assert!(
        run.stderr
            .ends_with("Run `cogtrix init` to set up a provider\n"),
        "{run}"
    );
}

#[test]
fn a_column_of_nothing_has_no_heading() {
    let list = raw(
        200,
        "application/json",
        [r#"{"data": [{"id": "nobody-knows"}]}"#],
    );
    let server = Script::new([]).route("/v1/models", list).serve();
    let home = Home::new();
    home.config(&server, "");
    let run = home.cogtrix(&["-c", "test.yaml", "models"]).run();
    assert_eq!(run.stdout, "MODEL\nthere/nobody-knows\n", "{run}");
}

#[test]
fn a_model_named_with_m_is_checked_and_its_tag_may_be_left_out() {
    let server = Script::new([say("From tiny."), say("Not asked.")])
        .models(["tiny:latest", "big:8b", "big:70b"])
        .serve();
    let home = Home::new();
    let url = server.openai_url();
    let config = format!("providers: {{desk: {{type: openai, base_url: \"{url}\"}}}}\n");
    home.write("test.yaml", config);
    let ask = |model| {
        home.cogtrix(&["-c", "test.yaml", "-m", model, "-p", "hi"])
            .run()
    };
    let tagged = ask("tiny");
    assert_eq!(tagged.code, Some(0), "{tagged}");
    assert_eq!(server.chats()[0].body["model"], "tiny:latest");
    let unlisted = ask("desk/medium");
    assert_eq!(unlisted.code, Some(3), "{unlisted}");
    assert!(
        unlisted
            .stderr
            .contains("does not have the model \"medium\""),
        "{unlisted}"
    );
    let several = ask("big");
    assert_eq!(several.code, Some(2), "{several}");
    assert!(
        several
            .stderr
            .contains("hint: did you mean desk/big:8b or desk/big:70b?"),
        "{several}"
    );
    assert_eq!(server.chats().len(), 1);
}

/// A name that everybody knows was taken for a model of the first server of its kind, which need not have it.
#[test]
fn a_name_alone_is_the_model_of_whichever_provider_has_it() {
    let serve = |models: &[&str]| {
        let replies = (0..6).map(|_| say("Here."));
        Script::new(replies).models(models.iter().copied()).serve()
    };
    let (first, second) = (serve(&["demo"]), serve(&["gpt-5-mini", "lone"]));
    let home = Home::new();
    let providers = format!(
        "providers:\n  a: {{type: openai, base_url: \"{}\"}}\n  b: {{type: openai, base_url: \"{}\"}}\n",
        first.openai_url(),
        second.openai_url()
    );
    let with = |default: &str| {
        let config = format!("{providers}models: {{default: {default}}}\n");
        home.write("test.yaml", config);
    };
    let run = |args: &[&str]| home.cogtrix(&[&["-c", "test.yaml"], args].concat()).run();
    with("a/demo");
    for name in ["gpt-5-mini", "lone"] {
        let asked = run(&["-m", name, "-p", "hi"]);
        assert_eq!(asked.code, Some(0), "{name}: {asked}");
        let chat = home.cogtrix(&["-c", "test.yaml", "--lines"]);
        let chat = chat.stdin(format!("/model {name}\n")).run();
        assert_eq!(chat.stdout, format!("Switched to b/{name}\n"), "{chat}");
    }
    let near = "error: --model: unknown model \"lon\"\nhint: did you mean b/lone?\n";
    assert_eq!(run(&["-m", "lon", "-p", "hi"]).stderr, near);
    with("gpt-5-mini");
    let asked = run(&["-p", "hi"]);
    assert_eq!(asked.code, Some(0), "{asked}");
    assert_eq!((first.chats().len(), second.chats().len()), (0, 3));
    with("lone");
    let named = run(&["-p", "hi"]).stderr;
    assert!(
        named.ends_with("models.default: unknown model \"lone\"\nhint: did you mean b/lone?\n"),
        "{named}"
    );
}
