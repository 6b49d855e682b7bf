//! Configuration through the real program: what wins, what is refused, what is shown (A2, A6, C60-C63).

use cogtrix::testing::server::{Script, Server, say};

use crate::support::home::Home;

fn chatty() -> Server {
    Script::answering(|_| say("Noted.")).serve()
}

#[test]
fn flags_win_over_variables_over_the_file_over_defaults() {
    let shown = |home: &Home, args: &[&str], variable: Option<&str>| {
        let args: Vec<&str> = args.iter().chain(&["config", "show"]).copied().collect();
        let mut run = home.cogtrix(&args);
        if let Some(value) = variable {
            run = run.env("COGTRIX_MEMORY_MODE", value);
        }
        let run = run.run();
        run.stdout
            .lines()
            .find(|line| line.starts_with("memory.mode "))
            .unwrap_or_default()
            .to_owned()
    };
    let home = Home::new();
    assert!(shown(&home, &[], None).contains("conversation"));
    home.write("cogtrix.yaml", "memory: {mode: code}\n");
    let from_file = shown(&home, &[], None);
    assert!(
        from_file.contains(" code ") && from_file.contains("cogtrix.yaml"),
        "{from_file}"
    );
    let from_variable = shown(&home, &[], Some("reasoning"));
    assert!(
        from_variable.contains("reasoning") && from_variable.contains("COGTRIX_MEMORY_MODE"),
        "{from_variable}"
    );
    let from_flag = shown(&home, &["-M", "conversation"], Some("reasoning"));
    assert!(
        from_flag.contains("conversation") && from_flag.contains("--memory-mode"),
        "{from_flag}"
    );
}

#[test]
fn every_mistake_names_file_line_key_and_the_nearest_key() {
    let home = Home::new();
    home.write(
        "bad.yaml",
        "memory:\n  mod: code\ncontext:\n  merge_system: perhaps\n",
    );
    let run = home.cogtrix(&["-c", "bad.yaml", "config", "check"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    for expected in [
        "bad.yaml:2:3",
        "memory.mod",
        "memory.mode",
        "bad.yaml:4:",
        "context.merge_system",
    ] {
        assert!(run.stderr.contains(expected), "{expected}: {run}");
    }
    home.write("torn.yaml", "memory: [\n");
    let run = home.cogtrix(&["-c", "torn.yaml", "-p", "hi"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("torn.yaml:"), "{run}");
    home.write("good.yaml", "memory: {mode: code}\n");
    let run = home.cogtrix(&["-c", "good.yaml", "config", "check"]).run();
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn keys_are_masked_wherever_settings_are_shown() {
    let home = Home::new();
    home.write("k.yaml", "providers: {p: {type: openai, api_key: sk-very-secret, base_url: \"http://127.0.0.1:9/v1\"}}\nmodels: {default: m, m: {provider: p, model: x}}\nnetwork: {tries: 1}\n");
    let show = home.cogtrix(&["-c", "k.yaml", "config", "show"]).run();
    let ask = home
        .cogtrix(&["-c", "k.yaml", "-v", "--log", "log.txt", "-p", "hi"])
        .run();
    let log = std::fs::read_to_string(home.work().join("log.txt")).unwrap();
    for text in [&show.stdout, &show.stderr, &ask.stdout, &ask.stderr, &log] {
        assert!(!text.contains("very-secret"), "{text}");
    }
    assert!(show.stdout.contains("•••"), "{show}");
    assert!(log.contains("turn started"), "{log}");
}

#[test]
fn a_file_of_the_working_folder_may_not_name_servers_until_trusted() {
    let home = Home::new();
    let server = chatty();
    let path = home.config(&server, "");
    std::fs::rename(&path, home.work().join("cogtrix.yaml")).unwrap();
    let refused = home.cogtrix(&["-p", "hi"]).run();
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(
        refused.stderr.contains("--trust-folder")
            && refused.stderr.contains("providers.there.base_url"),
        "{refused}"
    );
    assert_eq!(server.chats().len(), 0);
    let trusted = home.cogtrix(&["-p", "hi", "--trust-folder"]).run();
    assert_eq!(trusted.stdout, "Noted.\n", "{trusted}");
    let named = home.cogtrix(&["-c", "cogtrix.yaml", "-p", "hi"]).run();
    assert_eq!(named.stdout, "Noted.\n", "{named}");
}

#[test]
fn the_data_folder_is_the_working_folders_only_where_it_holds_history() {
    let home = Home::new();
    let run = home
        .cogtrix(&["-p", "hi"])
        .without("COGTRIX_DATA_DIR")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        std::fs::read_dir(home.work()).unwrap().count(),
        0,
        "nothing is made in an empty folder"
    );
    assert!(
        home.home()
            .join(".local/share/cogtrix/history/default.json")
            .exists()
    );
    std::fs::create_dir_all(home.work().join("data/history")).unwrap();
    home.cogtrix(&["-p", "hi"])
        .without("COGTRIX_DATA_DIR")
        .run();
    assert!(home.work().join("data/history/default.json").exists());
    home.cogtrix(&["-p", "hi", "--data-dir", "elsewhere"]).run();
    assert!(home.work().join("elsewhere/history/default.json").exists());
}

#[test]
fn prompts_of_the_persons_own_replace_the_built_in_ones() {
    let home = Home::new();
    let server = chatty();
    home.write("own.md", "You are the harbour master of {{session}}.");
    home.config(&server, "system_prompt_file: own.md");
    home.write(
        home.home().join(".config/cogtrix/modes/code.md"),
        "Speak in verse.",
    );
    let run = home
        .cogtrix(&["-c", "test.yaml", "-M", "code", "-s", "port", "-p", "hi"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        server.chats()[0].system(),
        "You are the harbour master of port.\n\nSpeak in verse."
    );
}

#[test]
fn aliases_and_provider_slash_model_choose_and_unknown_ones_are_explained() {
    let home = Home::new();
    let server = chatty();
    let models = "models: {default: a, a: {provider: there, model: one, context_window: 9000}, b: {provider: there, model: two, context_window: 9000}}";
    home.config(&server, models);
    for args in [
        &["-p", "hi"][..],
        &["-p", "hi", "-m", "b"],
        &["-p", "hi", "-m", "there/three"],
    ] {
        let args: Vec<&str> = ["-c", "test.yaml"].iter().chain(args).copied().collect();
        let run = home.cogtrix(&args).run();
        assert_eq!(run.code, Some(0), "{run}");
    }
    let asked: Vec<String> = server
        .chats()
        .iter()
        .map(|chat| chat.body["model"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(asked, ["one", "two", "three"]);
    let run = home
        .cogtrix(&["-c", "test.yaml", "-m", "zzz", "-p", "hi"])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("zzz"), "{run}");
}

#[test]
fn completions_and_help_are_printed() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let run = home.cogtrix(&["completions", shell]).run();
        assert!(
            run.code == Some(0) && run.stdout.contains("cogtrix"),
            "{shell}: {run}"
        );
    }
    let help = home.cogtrix(&["--help"]).run();
    for flag in [
        "--memory-mode",
        "--session",
        "--resume",
        "--model",
        "--config-file",
        "--data-dir",
        "--prompt",
        "--prompt-file",
        "--output",
        "--json",
        "--lines",
        "--no-stream",
        "--no-banner",
        "--quiet",
        "--verbose",
        "--log",
        "--trust-folder",
    ] {
        assert!(help.stdout.contains(flag), "{flag}: {help}");
    }
}
