//! `cogtrix doctor`: what it says of what is there, what is not and what is wrong, and how it ends.

use cogtrix::testing::server::{Script, Server, fail, raw};

use crate::support::home::Home;
use crate::support::pty::{Pty, Size};
use crate::support::run::Run;

/// What of an answer is the same on every machine: not how much room there is, and whether an Ollama runs.
fn shown(home: &Home, run: &Run) -> String {
    let text = home.shown(run);
    let lines = text.lines();
    let lines = lines.filter(|line| !line.contains("provider ollama"));
    lines.map(without_room).collect::<Vec<_>>().join("\n")
}

fn without_room(line: &str) -> String {
    match line.split_once(" GB free") {
        Some((before, _)) => {
            let before = before.trim_end_matches(|c: char| c.is_ascii_digit());
            format!("{before}N GB free")
        }
        None => line.to_owned(),
    }
}

fn doctor(home: &Home, more: &[&str]) -> Run {
    home.cogtrix(&[&["-c", "test.yaml", "doctor"], more].concat())
        .run()
}

/// Leaves to the machine as little as possible.
const SETTLED: &str = "embedding: {provider: none}\ntools: {shell: {sandbox: off}}";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp/server.sh");

#[test]
fn a_chat_that_can_begin_is_well() {
    let server = Script::new([]).models(["other", "scripted"]).serve();
    let home = Home::new();
    home.config(&server, SETTLED);
    std::fs::create_dir(home.data()).unwrap();
    let run = doctor(&home, &[]);
    insta::assert_snapshot!(shown(&home, &run), @r"
    ok       config              ROOT/home/work/test.yaml
    ok       data folder         ROOT/data, writable, N GB free
    ok       provider there      2 models at http://127.0.0.1:PORT/v1, no key
    -        provider anthropic  no API key for anthropic
    ok       model               there/scripted, context window 32,768 tokens (from config)
    -        embedder            keyword search only; see why with `cogtrix embedder show`
    -        MCP servers         none configured
    -        sandbox             off: shell commands can write anywhere you can
    ok       project             ROOT/home/work
    -        terminal            stdout is not a terminal
    --- stderr
    --- exit 0
    ");
    assert_eq!(
        Home::files(&home.data()).len(),
        0,
        "something was left behind"
    );
    assert!(server.chats().is_empty());
}

#[cfg(feature = "mcp")]
#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let home = Home::new();
    let servers = format!(
        "bad: {{command: sh, args: ['{SCRIPT}', dies]}}, good: {{command: sh, args: ['{SCRIPT}', plain]}}, \
         missing: {{command: no-such-program}}, off: {{command: x, enabled: false}}"
    );
    home.config_of(
        "openai",
        "http://127.0.0.1:9/v1",
        &format!("{SETTLED}\nmcp_servers: {{{servers}}}"),
    );
    let run = doctor(&home, &[]);
    insta::assert_snapshot!(shown(&home, &run).replace(SCRIPT, "SCRIPT"), @r"
    ok       config              ROOT/home/work/test.yaml
    ok       data folder         ROOT/data, created by the first session, N GB free
    problem  provider there      cannot reach http://127.0.0.1:PORT/v1: connection refused
                                 check that the server is running and its base_url is correct
    -        provider anthropic  no API key for anthropic
    ok       model               there/scripted, context window 32,768 tokens (from config)
    -        embedder            keyword search only; see why with `cogtrix embedder show`
    problem  MCP server bad      sh SCRIPT dies: it ended with exit status 3: no licence found
                                 fix mcp_servers.bad in the config file, or set enabled: false
    ok       MCP server good     by rote 1 (stdio), 10 tools
    problem  MCP server missing  no-such-program: cannot start no-such-program: not found
                                 fix mcp_servers.missing in the config file, or set enabled: false
    -        MCP server off      disabled in the config
    -        sandbox             off: shell commands can write anywhere you can
    ok       project             ROOT/home/work
    -        terminal            stdout is not a terminal
    --- stderr
    --- exit 1
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn commands_that_cannot_know_of_each_other_are_said_of_the_sandbox() {
    if !crate::support::can_confine() {
        return;
    }
    let home = Home::new();
    home.config_of(
        "openai",
        "http://127.0.0.1:9/v1",
        "embedding: {provider: none}",
    );
    home.write("../.local/state/cogtrix/running", "");
    let run = doctor(&home, &[]);
    let told: Vec<&str> = run.stdout.split_whitespace().collect();
    let told = told.join(" ");
    for part in [
        "on, cannot tell apart changes to protected files by other sessions' commands: cannot create ",
        "/cogtrix/running: file exists",
    ] {
        assert!(told.contains(part), "{run}");
    }
}

#[test]
fn a_key_that_is_refused_is_told_by_where_it_came_from() {
    let server = Script::new([])
        .route("/v1/models", fail(401, "invalid x-api-key"))
        .serve();
    let home = Home::new();
    home.config_of("anthropic", &server.url(), SETTLED);
    let run = doctor(&home, &[]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.stdout
            .contains("rejected the API key (401): invalid x-api-key"),
        "{run}"
    );
    assert!(
        run.stdout
            .contains("check the key at providers.there.api_key"),
        "{run}"
    );
    assert!(!run.to_string().contains("secret-key"), "{run}");
}

#[test]
fn a_model_that_an_ollama_does_not_have_is_said() {
    let server = Script::new([]).models(["qwen3:8b"]).serve();
    let home = Home::new();
    home.config_of("ollama", &server.url(), SETTLED);
    let run = doctor(&home, &[]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stdout.contains("1 model at http://127.0.0.1"), "{run}");
    let missing = "does not have the model \"scripted\": not in its model list\n";
    assert!(run.stdout.contains(missing), "{run}");
    assert!(run.stdout.contains("run `ollama pull scripted`"), "{run}");
}

#[test]
fn a_model_that_a_server_does_not_list_is_a_problem() {
    let server = Script::new([]).models(["one", "two"]).serve();
    let home = Home::new();
    home.config_of("openai", &server.openai_url(), SETTLED);
    let run = doctor(&home, &[]);
    assert_eq!(run.code, Some(1), "{run}");
    for line in [
        "problem  model               http://127.0.0.1",
        "does not have the model \"scripted\": not in its model list\n",
        "available: one, two\n",
    ] {
        assert!(run.stdout.contains(line), "{line}: {run}");
    }
}

#[test]
fn a_server_without_a_list_of_models_is_well_where_it_has_a_chat() {
    let refusal = |status, what: &str| raw(status, "text/plain", [what]);
    let is_well = "does not list its models, but answers chat requests\n";
    let is_not = "check that base_url points to the API\n";
    for (chat, code, line) in [
        (None, 0, is_well),
        (
            Some(refusal(400, "you must provide a model parameter")),
            0,
            is_well,
        ),
        (Some(refusal(400, "bad request")), 1, is_not),
        (Some(refusal(404, "404 page not found")), 1, is_not),
    ] {
        let missing = refusal(404, "Cannot GET /v1/models");
        let script = Script::new([]).route("/v1/models", missing);
        let server = match chat {
            None => script,
            Some(refusal) => script.route("/v1/chat/completions", refusal),
        };
        let server = server.serve();
        let home = Home::new();
        home.config(&server, SETTLED);
        let run = doctor(&home, &[]);
        assert_eq!(run.code, Some(code), "{run}");
        assert!(run.stdout.contains(line), "{run}");
        let guessed = doctor(&home, &["-m", "there"]);
        assert_eq!(guessed.code, Some(code), "{guessed}");
        let guess = "-        model               there/gpt-5-mini is a guess: ";
        assert!(guessed.stdout.contains(guess), "{guessed}");
    }
}

#[test]
fn without_any_config_everything_is_looked_at_all_the_same() {
    let home = Home::new();
    let run = home
        .cogtrix(&["doctor"])
        .env("OLLAMA_HOST", "127.0.0.1:9")
        .run();
    assert_eq!(run.code, Some(1), "{run}");
    for line in [
        "-        config              no file, using defaults",
        "problem  provider ollama     cannot reach http://127.0.0.1:9: connection refused",
        "-        provider openai     no API key for openai",
        "problem  model               none; ",
        "-        MCP servers         none configured",
        "ok       project             ",
        "-        terminal            stdout is not a terminal",
    ] {
        assert!(run.stdout.contains(line), "{line}: {run}");
    }
    assert!(
        !home.data().exists(),
        "the data folder is made by the first session"
    );
}

#[test]
fn a_data_folder_that_cannot_be_written_to_is_a_problem() {
    let server = Script::new([]).models(["scripted"]).serve();
    let home = Home::new();
    home.config(&server, SETTLED);
    let file = home.write("file", "");
    let below = file.join("data");
    std::fs::create_dir(home.data()).unwrap();
    for (more, why) in [
        (
            ["--data-dir", file.to_str().unwrap()],
            "cannot be used: not a directory",
        ),
        (
            ["--data-dir", below.to_str().unwrap()],
            "cannot be used: not a directory",
        ),
        (["--fault", "full@1"], "cannot be used: "),
    ] {
        let run = doctor(&home, &more);
        assert_eq!(run.code, Some(1), "{run}");
        let line = run.stdout.lines().find(|line| line.contains("data folder"));
        let line = line.unwrap();
        assert!(
            line.starts_with("problem") && line.contains(why),
            "{why}: {run}"
        );
        assert!(
            run.stdout.contains("or choose another with --data-dir"),
            "{run}"
        );
    }
}

#[test]
fn a_config_with_mistakes_and_one_without_trust_are_problems_and_nobody_is_asked_for_it() {
    let server = Server::start([]);
    let home = Home::new();
    let config = home.config(&server, SETTLED);
    let text = std::fs::read_to_string(&config).unwrap();
    home.write("cogtrix.yaml", &text);
    let run = home.cogtrix(&["doctor"]).run();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stdout.contains("its folder is not trusted"), "{run}");
    assert!(
        run.stdout.contains("pass --trust-folder for this run"),
        "{run}"
    );
    assert!(server.requests().is_empty());

    home.write("test.yaml", "memroy: {}\nsession: 3\n");
    let run = doctor(&home, &[]);
    insta::assert_snapshot!(shown(&home, &run), @r"
    problem  config    ROOT/home/work/test.yaml:1:1: memroy: unknown key; did you mean memory?
                       ROOT/home/work/test.yaml:2:10: session: expected text (quote it if it looks like a number), found a number
                       `cogtrix -c /dev/null config show` lists every key with its default
    ok       project   ROOT/home/work
    -        terminal  stdout is not a terminal
    --- stderr
    --- exit 1
    ");
}

#[test]
fn a_terminal_is_described() {
    let program = env!("CARGO_BIN_EXE_cogtrix");
    let args = ["--data-dir", "data", "-m", "offline", "doctor"];
    let mut pty = Pty::spawn(program.as_ref(), &args, &[("NO_COLOR", "1")], Size(100, 40));
    pty.wait_for("100 columns, no colours (NO_COLOR), locale C.UTF-8");
    assert!(pty.screen().contains("ok       model"), "{}", pty.screen());
    assert_eq!(pty.wait_exit().signal, None);
}
