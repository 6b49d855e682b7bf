//! Configuration through the real program: what wins, what is refused, what is shown (A2, A6, C60-C63).

use cogtrix::testing::server::{Script, Server, say};
use std::path::Path;

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
        .cogtrix(&["-m", "offline", "-p", "hi"])
        .without("COGTRIX_DATA_DIR")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        std::fs::read_dir(home.work()).unwrap().count(),
        0,
        "nothing is made in an empty folder"
    );
    let is_used = |folder: &Path| !Home::files(&folder.join("history")).is_empty();
    assert!(is_used(&home.home().join(".local/share/cogtrix")));
    std::fs::create_dir_all(home.work().join("data/history")).unwrap();
    home.cogtrix(&["-p", "hi"])
        .without("COGTRIX_DATA_DIR")
        .run();
    assert!(is_used(&home.work().join("data")));
    home.cogtrix(&["-p", "hi", "--data-dir", "elsewhere"]).run();
    assert!(is_used(&home.work().join("elsewhere")));
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
    let system = server.chats()[0].system();
    assert!(
        system.starts_with(
            "You are the harbour master of port.\n\nSpeak in verse.\n\nYou can call tools."
        ),
        "{system}"
    );
}

#[test]
fn aliases_and_provider_slash_model_choose_and_unknown_ones_are_explained() {
    let home = Home::new();
    let server = Script::answering(|_| say("Hello."))
        .models(["one", "two", "three"])
        .serve();
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
            run.code == Some(0) && run.stdout.contains("doctor"),
            "{shell}: {run}"
        );
        assert!(
            !run.stdout.contains("confined"),
            "{shell} offers what is not for people"
        );
    }
    let help = home.cogtrix(&["--help-all"]).run();
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

/// One key's line of `config show`.
fn key_line(home: &Home, key: &str, args: &[&str], variables: &[(&str, &str)]) -> String {
    let mut run = home
        .cogtrix(args)
        .args(["config", "show"])
        .without("COGTRIX_DATA_DIR");
    for (name, value) in variables {
        run = run.env(name, value);
    }
    let run = run.run();
    assert_eq!(run.code, Some(0), "{run}");
    let line = run
        .stdout
        .lines()
        .find(|line| line.split_whitespace().next() == Some(key));
    let line = line.unwrap_or_else(|| panic!("no {key}: {run}"));
    home.normal(&line.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn each_setting_of_the_command_line_goes_through_the_same_four_layers() {
    for (key, variable, flag) in [
        ("memory.mode", "COGTRIX_MEMORY_MODE", "--memory-mode"),
        ("session", "COGTRIX_SESSION", "--session"),
        ("models.default", "COGTRIX_MODEL", "--model"),
        ("data_dir", "COGTRIX_DATA_DIR", "--data-dir"),
    ] {
        let value = |layer: &str| match (key, layer) {
            ("memory.mode", "file") => "code".to_owned(),
            ("memory.mode", "variable") => "reasoning".to_owned(),
            ("memory.mode", _) => "conversation".to_owned(),
            (_, layer) => format!("from-{layer}"),
        };
        let home = Home::new();
        let line = key_line(&home, key, &[], &[]);
        assert!(line.ends_with("# default"), "{line}");
        let indented = key.replace('.', ":\n  ");
        home.write("cogtrix.yaml", format!("{indented}: {}\n", value("file")));
        let line = key_line(&home, key, &[], &[]);
        assert!(
            line.contains(&value("file")) && line.contains("cogtrix.yaml:"),
            "{line}"
        );
        let variables = [(variable, &*value("variable"))];
        let line = key_line(&home, key, &[], &variables);
        assert!(
            line.contains(&value("variable")) && line.contains(variable),
            "{line}"
        );
        let line = key_line(&home, key, &[flag, &value("flag")], &variables);
        assert!(
            line.contains(&value("flag")) && line.contains(flag),
            "{line}"
        );
    }
}

#[test]
fn the_first_file_of_the_list_is_read_and_no_other() {
    let home = Home::new();
    let places = [
        home.home().join(".cogtrix.yaml"),
        home.home().join(".config/cogtrix/cogtrix.yaml"),
        home.work().join("config/cogtrix.yaml"),
        home.work().join(".cogtrix.yml"),
        home.work().join(".cogtrix.yaml"),
        home.work().join("cogtrix.yaml"),
    ];
    for (n, place) in places.iter().enumerate() {
        home.write(place, format!("session: number-{n}\n"));
        let line = key_line(&home, "session", &[], &[]);
        assert!(
            line.contains(&format!("session number-{n} ")),
            "{}: {line}",
            place.display()
        );
    }
    home.write("named.yaml", "session: named\n");
    home.write("flag.yaml", "memory: {mode: code}\n");
    let variables = [("COGTRIX_CONFIG_FILE", "named.yaml")];
    assert!(key_line(&home, "session", &[], &variables).contains("session named "));
    let line = key_line(&home, "session", &["-c", "flag.yaml"], &variables);
    assert_eq!(line, "session default # default", "one file, not several");
    std::fs::create_dir_all(home.work().join("below")).unwrap();
    std::fs::remove_file(home.home().join(".cogtrix.yaml")).unwrap();
    std::fs::remove_file(home.home().join(".config/cogtrix/cogtrix.yaml")).unwrap();
    let run = home
        .cogtrix(&["config", "check"])
        .directory(home.work().join("below"))
        .run();
    assert!(
        run.stdout.contains("no config file"),
        "no parent folders: {run}"
    );
}

#[test]
fn a_named_file_that_is_missing_or_no_config_is_a_mistake() {
    let home = Home::new();
    std::fs::create_dir(home.work().join("folder.yaml")).unwrap();
    home.write("binary.yaml", [0, 159, 146, 150]);
    home.write("list.yaml", "- a\n- b\n");
    home.write("twice.yaml", "session: a\nsession: b\n");
    for (file, expected) in [
        ("missing.yaml", "config file"),
        ("folder.yaml", "is a folder"),
        ("binary.yaml", "is not a config file: it is not UTF-8 text"),
        ("list.yaml", "list.yaml:1:1"),
        ("twice.yaml", "twice.yaml:2:1"),
    ] {
        for args in [
            &["-c", file, "-p", "hi"][..],
            &["-c", file, "config", "check"],
        ] {
            let run = home.cogtrix(args).run();
            assert_eq!(
                (run.code, run.stdout.as_str()),
                (Some(2), ""),
                "{file}: {run}"
            );
            assert!(run.stderr.contains(expected), "{file}: {run}");
        }
        let run = home
            .cogtrix(&["-p", "hi"])
            .env("COGTRIX_CONFIG_FILE", file)
            .run();
        assert_eq!(run.code, Some(2), "{file}: {run}");
    }
    assert!(!home.data().exists(), "nothing was begun");
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once() {
    let home = Home::new();
    home.write(
        "bad.yaml",
        "memroy: {mode: code}\nmemory:\n  mode: code\n  timestamps: yes please\nlock_wait: soon\nnetwork: {tries: many}\n",
    );
    let run = home.cogtrix(&["-c", "bad.yaml", "config", "check"]).run();
    insta::assert_snapshot!(home.shown(&run), @r#"
    --- stderr
    error: ROOT/home/work/bad.yaml:1:1: memroy: unknown key; did you mean memory?
    ROOT/home/work/bad.yaml:4:15: memory.timestamps: "yes please" is not one of all, user, off
    ROOT/home/work/bad.yaml:5:12: lock_wait: expected a duration such as 10s or 5min, found "soon"
    ROOT/home/work/bad.yaml:6:18: network.tries: expected a whole number from 0 to 4294967295, found text
    hint: `cogtrix -c /dev/null config show` lists every key with its default
    --- exit 2
    "#);
}

#[test]
fn a_bad_variable_or_flag_is_named_with_what_is_allowed() {
    let home = Home::new();
    let run = home
        .cogtrix(&["-p", "hi"])
        .env("COGTRIX_MEMORY_MODE", "resoning")
        .run();
    insta::assert_snapshot!(home.shown(&run), @r#"
    --- stderr
    error: $COGTRIX_MEMORY_MODE: "resoning" is not one of conversation, code, reasoning; did you mean reasoning?
    --- exit 2
    "#);
    let run = home.cogtrix(&["-M", "nope", "-p", "hi"]).run();
    insta::assert_snapshot!(home.shown(&run), @r#"
    --- stderr
    error: --memory-mode: "nope" is not one of conversation, code, reasoning
    --- exit 2
    "#);
    let run = home.cogtrix(&["--modle", "x"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("--model"), "{run}");
}

#[test]
fn a_variable_nobody_knows_is_a_warning() {
    let home = Home::new();
    let run = home
        .cogtrix(&["config", "check"])
        .env("COGTRIX_MEMORY_MODDE", "code")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stderr
            .contains("COGTRIX_MEMORY_MODDE; did you mean COGTRIX_MEMORY_MODE"),
        "{run}"
    );
}

#[test]
fn each_yaml_block_of_the_modes_parses_unchanged() {
    let home = Home::new();
    home.write(
        "modes.yaml",
        "memory:\n  mode: code\n  modes:\n    code:\n      working_memory_size: 30\n      max_files: 20\n      max_errors: 5\n      summarization: true\n      vector_recall_k: 3\n    reasoning:\n      working_memory_size: 30\n      max_decisions: 20\n      max_alternatives: 10\n      summarization: true\n      vector_recall_k: 3\n      prefix_max_stale_turns: 3\n    conversation:\n      working_memory_size: 25\n      summarization: true\n      vector_recall_k: 3\n",
    );
    let run = home.cogtrix(&["-c", "modes.yaml", "config", "check"]).run();
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
}

#[test]
fn the_shipped_example_is_what_config_show_prints_by_default() {
    let home = Home::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/cogtrix.example.yaml");
    let values = |args: &[&str]| {
        let run = home.cogtrix(args).args(["config", "show"]).run();
        assert_eq!(run.code, Some(0), "{run}");
        let lines = run
            .stdout
            .lines()
            .map(|line| line.split(" # ").next().unwrap().trim().to_owned());
        let mut lines: Vec<String> = lines.collect();
        lines.sort();
        lines
    };
    let (of_example, by_default) = (values(&["-c", example]), values(&[]));
    let is_key = |line: &&String| !line.is_empty();
    assert!(
        of_example
            .iter()
            .filter(is_key)
            .eq(by_default.iter().filter(is_key))
    );
}

#[test]
fn what_is_harmless_in_a_working_folder_needs_no_trust() {
    let home = Home::new();
    home.write("cogtrix.yaml", "ui: {theme: dark}\n");
    let run = home
        .cogtrix(&["-m", "offline", "-s", "default", "-p", "hi"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(home.history("default.json").exists());
    home.write("cogtrix.yaml", "data_dir: inside\n");
    let run = home
        .cogtrix(&["-p", "hi"])
        .without("COGTRIX_DATA_DIR")
        .run();
    insta::assert_snapshot!(home.shown(&run), @"
    --- stderr
    error: ROOT/home/work/cogtrix.yaml sets data_dir, but its folder is not trusted
    hint: review the file, then pass --trust-folder for this run, or answer yes when asked at a terminal
    --- exit 2
    ");
    assert!(!home.work().join("inside").exists());
}

#[test]
fn looking_at_an_untrusted_folder_contacts_nobody_and_reads_no_secret_place() {
    let home = Home::new();
    let server = chatty();
    let path = home.config(&server, "");
    std::fs::rename(&path, home.work().join("cogtrix.yaml")).unwrap();
    for args in [&["sessions"][..], &["config", "show"], &["config", "check"]] {
        let run = home.cogtrix(args).run();
        assert_eq!(run.code, Some(0), "{args:?}: {run}");
    }
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn servers_that_are_too_long_to_be_asked_about_can_be_reviewed() {
    let home = Home::new();
    let long = "x".repeat(9_000);
    let servers = format!("mcp_servers: {{s: {{command: no-such-program, args: [{long}]}}}}\n");
    home.write("cogtrix.yaml", &servers);
    let show = home.cogtrix(&["config", "show"]).run();
    assert_eq!(show.code, Some(0), "{show}");
    // Whole, however the lines are laid out.
    let shown = show.stdout.matches('x').count();
    assert!(shown >= long.len(), "{shown}");
    assert!(show.stdout.contains("no-such-program"), "{show}");
    assert!(show.stderr.contains("is too long to review"), "{show}");
    // Chats ignore it.
    let check = home.cogtrix(&["config", "check"]).run();
    assert_eq!(check.code, Some(2), "{check}");
    assert!(check.stderr.contains("is too long to review"), "{check}");
    assert!(!check.stdout.contains("ok"), "{check}");
    let check = ["config", "check", "--trust-folder"];
    assert_eq!(home.cogtrix(&check).run().code, Some(0));
    let doctor = home.cogtrix(&["doctor"]).run();
    assert!(doctor.stdout.contains("`cogtrix config show`"), "{doctor}");
}

#[test]
fn trust_for_one_run_is_not_remembered() {
    let home = Home::new();
    let server = chatty();
    let path = home.config(&server, "");
    std::fs::rename(&path, home.work().join("cogtrix.yaml")).unwrap();
    assert_eq!(
        home.cogtrix(&["-p", "hi", "--trust-folder"]).run().code,
        Some(0)
    );
    assert_eq!(home.cogtrix(&["-p", "hi"]).run().code, Some(2));
}

#[test]
fn a_file_of_ones_own_home_or_config_folder_is_trusted() {
    for place in [".cogtrix.yaml", ".config/cogtrix/cogtrix.yaml"] {
        let home = Home::new();
        let server = chatty();
        let path = home.config(&server, "");
        let own = home.home().join(place);
        std::fs::create_dir_all(own.parent().unwrap()).unwrap();
        std::fs::rename(&path, own).unwrap();
        let run = home.cogtrix(&["-p", "hi"]).run();
        assert_eq!(run.stdout, "Noted.\n", "{place}: {run}");
    }
}

#[test]
fn a_check_names_every_value_that_means_nothing_with_its_place() {
    let home = Home::new();
    home.write(
        "test.yaml",
        "memory:\n  wal:\n    languages: [klingon, xx]\n  facts: {cues: [yy]}\n",
    );
    let run = home
        .cogtrix(&["-c", "test.yaml", "-m", "nope", "config", "check"])
        .env("COGTRIX_SUMMARIZATION_MODEL", "naught")
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    for mistake in [
        "--model: unknown model \"nope\"",
        "$COGTRIX_SUMMARIZATION_MODEL: memory.summarization_model: unknown model \"naught\"",
        "test.yaml:3:5: memory.wal.languages: \"klingon\" is not one of en, uz\n",
        "test.yaml:3:5: memory.wal.languages: \"xx\" is not one of en, uz\n",
        "test.yaml:4:11: memory.facts.cues: \"yy\" is not one of ",
    ] {
        assert!(run.stderr.contains(mistake), "{mistake}: {run}");
    }
    let run = home.cogtrix(&["-m", "ollama/x", "config", "check"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    // Beside what has not even the right form.
    home.write(
        "test.yaml",
        "memory:\n  mode: cod\n  wal:\n    languages: [en, xx]\nbogus: 1\nrag: {model: lone}\n",
    );
    let run = home
        .cogtrix(&["-c", "test.yaml", "-m", "nope", "config", "check"])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    let mistakes = [
        "test.yaml:2:9: memory.mode: ",
        "test.yaml:4:5: memory.wal.languages: ",
        "test.yaml:5:1: bogus: ",
        "test.yaml:6:14: rag.model: \"lone\" is not PROVIDER/MODEL",
        "--model: unknown model \"nope\"",
    ];
    for mistake in mistakes {
        assert_eq!(run.stderr.matches(mistake).count(), 1, "{mistake}: {run}");
    }
    let places: Vec<_> = mistakes.iter().map(|it| run.stderr.find(it)).collect();
    assert!(places.is_sorted(), "as they follow each other: {run}");
    // A provider or a model that is broken hides nothing, and what refers to it is no second mistake.
    for (broken, mistake) in [
        ("models: {fast: openai/whatever}", "models.fast: expected"),
        (
            "models: {sm: {provider: zzz}}",
            "models.sm: missing key model",
        ),
        (
            "providers: {mine: {type: opnai}}",
            "providers.mine.type: \"opnai\" is not one of",
        ),
    ] {
        home.write(
            "test.yaml",
            format!(
                "{broken}\nmemory:\n  summarization_model: naught\n  wal: {{languages: [en, xx]}}\n"
            ),
        );
        for (model, is_known) in [
            ("nope", false),
            ("fast", true),
            ("sm", true),
            ("mine/x", true),
        ] {
            if is_known && !broken.contains(model.trim_end_matches("/x")) {
                continue;
            }
            let run = home
                .cogtrix(&["-c", "test.yaml", "-m", model, "config", "check"])
                .run();
            assert_eq!(run.code, Some(2), "{run}");
            for mistake in [
                mistake,
                "memory.summarization_model: unknown model \"naught\"",
                "memory.wal.languages: \"xx\"",
            ] {
                assert_eq!(run.stderr.matches(mistake).count(), 1, "{mistake}: {run}");
            }
            let is_told = run.stderr.contains("--model: unknown model");
            assert_eq!(is_told, !is_known, "{model}: {run}");
        }
    }
}

#[test]
fn a_chat_says_where_a_model_is_named_that_means_nothing() {
    let home = Home::new();
    let run = home
        .cogtrix(&["-p", "hi"])
        .env("COGTRIX_MODEL", "nope")
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.starts_with(
            "error: $COGTRIX_MODEL: models.default: unknown model \"nope\"\nhint: use "
        ),
        "{run}"
    );
    home.write("test.yaml", "memory: {summarization_model: naught}\n");
    let run = home
        .cogtrix(&["-c", "test.yaml", "-m", "offline", "-p", "hi"])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr
            .contains("test.yaml:1:10: memory.summarization_model: unknown"),
        "{run}"
    );
}

#[test]
fn a_flag_that_is_empty_is_refused() {
    let home = Home::new();
    for flag in ["--model", "--memory-mode", "--session", "--tools"] {
        for empty in ["", " "] {
            let run = home.cogtrix(&[flag, empty, "-p", "hi"]).run();
            assert_eq!(run.code, Some(2), "{flag}: {run}");
            assert!(run.stderr.contains(&format!("{flag}: ")), "{flag}: {run}");
            assert!(run.stderr.contains("empty"), "{flag}: {run}");
        }
    }
}

#[test]
fn the_file_that_is_read_is_named_and_opened() {
    let home = Home::new();
    let run = home.cogtrix(&["config", "path"]).run();
    assert!(run.stdout.ends_with("cogtrix/cogtrix.yaml\n"), "{run}");
    assert!(run.stderr.contains("does not exist yet"), "{run}");
    let run = home.cogtrix(&["config", "edit"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("cogtrix init"), "{run}");
    home.write("mine.yaml", "bogus: 1\n");
    let run = home.cogtrix(&["-c", "mine.yaml", "config", "path"]).run();
    assert_eq!(
        (home.shown(&run).as_str(), run.code),
        ("ROOT/home/work/mine.yaml\n--- stderr\n--- exit 0", Some(0))
    );
    // Also one with a mistake in it, which is told while there is one.
    let edit = || home.cogtrix(&["-c", "mine.yaml", "config", "edit"]);
    let run = edit().run();
    assert!(run.stderr.contains("no editor is set"), "{run}");
    let run = edit().env("EDITOR", "true").run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("bogus: unknown key"), "{run}");
    let run = edit().env("EDITOR", "sed -i d").run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.ends_with("mine.yaml: ok\n"), "{run}");
}
