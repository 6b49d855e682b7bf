//! One prompt in, one reply out: the program in a script.

use cogtrix::testing::server::{Reply, Script, Server, fail, say, silent};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::home::Home;

#[test]
fn without_any_model_a_question_is_kept_and_one_line_says_how_to_get_one() {
    let home = Home::new();
    let run = home.cogtrix(&["-p", "Where is the boat?"]).run();
    assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""), "{run}");
    assert_eq!(run.stderr.lines().count(), 1, "{run}");
    assert!(run.stderr.contains("OPENAI_API_KEY"), "{run}");
    let kept = home.cogtrix(&["memory", "search", "boat"]).run();
    assert!(kept.stdout.contains("Where is the boat?"), "{kept}");
    let json = home.cogtrix(&["-p", "Where is the boat?", "--json"]).run();
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (&json["reply"], &json["outcome"]),
        (&Value::Null, &"failed".into())
    );
}

#[test]
fn offline_by_choice_answers_by_quoting() {
    let home = Home::new();
    let ask = |prompt| {
        let args = ["-m", "offline", "-s", "one", "-p", prompt];
        home.cogtrix(&args).run()
    };
    ask("The rotation happens on Fridays");
    let run = ask("When is the rotation?");
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stdout.contains("The rotation happens on Fridays"),
        "{run}"
    );
}

#[test]
fn each_question_has_a_session_of_its_own() {
    let server = Server::answering(|_| say("Noted."));
    let home = Home::new();
    home.config(&server, "");
    let asks = |args: &[&str]| {
        let config = ["-c", "test.yaml"];
        let run = home.cogtrix(&[&config[..], args].concat()).run();
        assert_eq!(run.code, Some(0), "{run}");
        let last = server.chats().into_iter().next_back().unwrap();
        last.body.to_string().contains("rotation")
    };
    assert!(asks(&["-p", "What does rotation mean?"]));
    assert!(!asks(&["-p", "Why is the sky blue?"]));
    assert!(!asks(&["what", "is", "rust"]));
    assert!(!asks(&["-s", "work", "-p", "hi"]));
    assert!(!asks(&["-p", "My password is hunter2xyz, is that good?"]));
    let names: Vec<String> = Home::files(&home.data().join("history"))
        .into_keys()
        .map(|path| path.display().to_string())
        .collect();
    let is_there = |end: &str| names.iter().any(|name| name.ends_with(end));
    assert!(is_there("-what-does-rotation-mean.json"), "{names:?}");
    assert!(is_there("-what-is-rust.json"), "{names:?}");
    assert!(!is_there("default.json"), "{names:?}");
    assert!(!names.concat().contains("hunter2"), "{names:?}");
    // The last session is one that was named, unless all are meant.
    for (flags, rotation) in [
        (&["--continue", "-p", "again"][..], "\"session\": \"work\""),
        (&["-p", "again", "-r"], "\"session\": \"work\""),
        (&["--continue", "-p", "again"], "\"session\": \"work\""),
    ] {
        let config = ["-c", "test.yaml", "--json"];
        let run = home.cogtrix(&[&config[..], flags].concat()).run();
        assert!(run.stdout.contains(rotation), "{run}");
    }
    assert!(!asks(&["what", "now"]));
    let all = ["-c", "test.yaml", "--json", "--continue", "--last"];
    let run = home.cogtrix(&[&all[..], &["-p", "again"]].concat()).run();
    // Times are whole seconds, so it may be any of the questions.
    assert!(run.stdout.contains("\"session\": \"2"), "{run}");
    // A chat that was only read in was left last.
    assert_eq!(home.ask("later", "hi").code, Some(0));
    let read = home.cogtrix(&["-c", "test.yaml", "-s", "work", "--lines"]);
    assert_eq!(read.stdin("/status\n").run().code, Some(0));
    let back = home.cogtrix(&["-c", "test.yaml", "--json", "--continue", "-p", "again"]);
    let back = back.run().stdout;
    assert!(back.contains("\"session\": \"work\""), "{back}");
}

#[test]
fn the_same_question_asked_twice_at_once_has_two_sessions() {
    let home = Home::new();
    let run = |_| home.cogtrix(&["-m", "offline", "-p", "hm"]).start();
    let runs: Vec<_> = (0..4).map(run).collect();
    for run in runs {
        assert_eq!(run.wait().code, Some(0));
    }
    let list = home.cogtrix(&["sessions"]).run();
    assert_eq!(list.stdout.matches("-hm").count(), 4, "{list}");
}

#[test]
fn a_mistyped_command_is_no_question() {
    let run = Home::new().cogtrix(&["sesions", "list"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.starts_with(
            "error: unknown command \"sesions\"\nhint: did you mean `cogtrix sessions`? to ask it"
        ),
        "{run}"
    );
    // A question that begins with a command.
    for question in [
        &["models", "are", "what"][..],
        &["help", "me", "with", "rust"],
    ] {
        let run = Home::new().cogtrix(question).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(
            run.stderr.contains("to ask this as a question, quote it"),
            "{run}"
        );
    }
    for mistake in [
        &["models", "--nonsense"][..],
        &["config", "pth"],
        &["-q", "-m", "offline", "config", "pth"],
        &["completions", "tcsh"],
    ] {
        let run = Home::new().cogtrix(mistake).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(!run.stderr.contains("as a question"), "{run}");
    }
}

#[test]
fn an_address_in_the_environment_comes_before_a_running_ollama() {
    let home = Home::new();
    let ollama = Server::start([]);
    let other = Server::start([say("From there.")]);
    let run = home
        .cogtrix(&["-p", "hi"])
        .env("OLLAMA_HOST", ollama.url())
        .env("OPENAI_BASE_URL", other.openai_url())
        .run();
    assert_eq!(run.stdout, "From there.\n", "{run}");
    let other = Server::start([say("From elsewhere.")]);
    let run = home
        .cogtrix(&["-p", "hi"])
        .env("OLLAMA_HOST", ollama.url())
        .env("ANTHROPIC_BASE_URL", other.url())
        .env("ANTHROPIC_API_KEY", "secret-key")
        .run();
    assert_eq!(run.stdout, "From elsewhere.\n", "{run}");
}

#[test]
fn without_a_model_what_was_said_long_ago_is_quoted_with_where_it_is_from() {
    let home = Home::new();
    home.write("test.yaml", "models: {default: offline/quotes}");
    let mut lines: Vec<String> = (1..=60)
        .map(|n| format!("Chapter {n} of the novel is about the {n}th voyage."))
        .collect();
    lines[2] = "Grandmother keeps the spare key of the boathouse under the blue bucket.".into();
    lines[40] = "Where is the spare boathouse key kept?".into();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let talk = home.lines("novel", &lines);
    assert_eq!(talk.code, Some(0), "{talk}");
    // Asked twice: what it answered the first time is no source.
    for _ in 0..2 {
        let run = home.ask(
            "novel",
            "Tell me where the boathouse keys are, the spare ones",
        );
        assert_eq!(run.code, Some(0), "{run}");
        let quote = run.stdout.lines().find(|line| line.contains("blue bucket"));
        assert!(
            quote.is_some_and(|line| line.starts_with("> turn 3, m5, 20")),
            "{run}"
        );
        assert_eq!(run.stdout.matches("blue bucket").count(), 1, "{run}");
        assert_eq!(run.stdout.matches("No model").count(), 1, "{run}");
        assert!(run.stdout.lines().count() <= 4, "{run}");
    }
    let recalled = home.cogtrix(&[
        "memory",
        "search",
        "--json",
        "--session",
        "novel",
        "spare boathouse key",
    ]);
    let recalled = recalled.run();
    assert!(recalled.stdout.contains("blue bucket"), "{recalled}");
    assert!(!recalled.stdout.contains("[no model"), "{recalled}");
}

#[test]
fn the_reply_is_on_stdout_and_nothing_else_is() {
    let home = Home::new();
    let server = Server::start([say("Rhine, Danube, Elbe.")]);
    home.config(&server, "");
    let run = home.ask("rivers", "Name three rivers");
    assert_eq!(
        (run.stdout.as_str(), run.stderr.as_str(), run.code),
        ("Rhine, Danube, Elbe.\n", "", Some(0))
    );
}

#[test]
fn each_wire_format_carries_a_conversation() {
    for kind in ["openai", "ollama", "anthropic"] {
        let home = Home::new();
        let server = Server::start([say("One."), say("Two.")]);
        let url = if kind == "openai" {
            server.openai_url()
        } else {
            server.url()
        };
        home.config_of(kind, &url, "");
        assert_eq!(home.ask("s", "first").stdout, "One.\n", "{kind}");
        assert_eq!(home.ask("s", "second").stdout, "Two.\n", "{kind}");
        let second = &server.chats()[1];
        assert!(
            second.message(-1).ends_with("UTC] second"),
            "{kind}: {}",
            second.message(-1)
        );
        assert!(
            second.body.to_string().contains("One."),
            "{kind}: the model sees what was said before"
        );
    }
}

#[test]
fn ollama_is_always_told_its_window_and_reported_when_it_cuts() {
    let home = Home::new();
    let server = Server::start([say("ok").usage(100, 5)]);
    let models = "models: {default: it, it: {provider: there, model: scripted, num_ctx: 4096}}";
    home.config_of("ollama", &server.url(), models);
    let run = home.ask("s", &"many words ".repeat(600));
    assert_eq!(server.chats()[0].body["options"]["num_ctx"], 4096);
    assert!(
        run.stderr.contains("it may have cut off the beginning"),
        "{run}"
    );
}

#[test]
fn a_running_ollama_is_found_without_any_config() {
    let home = Home::new();
    let server = Server::start([say("Found.")]);
    let run = home
        .cogtrix(&["-p", "hi"])
        .env("OLLAMA_HOST", server.url())
        .run();
    assert_eq!(run.stdout, "Found.\n", "{run}");
}

#[test]
fn an_openai_key_and_address_in_the_environment_are_enough() {
    let home = Home::new();
    let server = Server::start([say("Here.")]);
    let run = home
        .cogtrix(&["-p", "hi"])
        .env("OPENAI_API_KEY", "sk-test")
        .env("OPENAI_BASE_URL", server.openai_url())
        .env("OLLAMA_HOST", "127.0.0.1:9")
        .run();
    assert_eq!(run.stdout, "Here.\n", "{run}");
    assert_eq!(server.chats()[0].headers["authorization"], "Bearer sk-test");
}

#[test]
fn what_is_piped_in_is_the_prompt_or_follows_it() {
    let home = Home::new();
    let server = Server::start([say("1"), say("2"), say("3")]);
    home.config(&server, "memory: {timestamps: off}");
    let base = ["-c", "test.yaml", "-p", "explain"];
    home.cogtrix(&base[..2]).stdin("only this\n").run();
    home.cogtrix(&base).stdin("the code\n").run();
    home.write("question.txt", "from a file");
    home.cogtrix(&["-c", "test.yaml", "--prompt-file", "question.txt"])
        .run();
    let asked: Vec<String> = server.chats().iter().map(|chat| chat.message(-1)).collect();
    assert_eq!(asked, ["only this", "explain\n\nthe code", "from a file"]);
}

#[test]
fn a_reply_can_go_to_a_file() {
    let home = Home::new();
    let server = Server::start([say("In the file.")]);
    home.config(&server, "");
    let run = home
        .cogtrix(&["-c", "test.yaml", "-p", "hi", "-o", "answer.md"])
        .run();
    assert_eq!((run.stdout.as_str(), run.code), ("", Some(0)), "{run}");
    assert_eq!(
        std::fs::read_to_string(home.work().join("answer.md")).unwrap(),
        "In the file.\n"
    );
}

#[test]
fn json_has_the_reply_and_what_it_was_made_from() {
    let home = Home::new();
    let server = Server::start([say("Hello.").usage(120, 3)]);
    home.config(&server, "");
    let run = home
        .cogtrix(&[
            "-c",
            "test.yaml",
            "-s",
            "j",
            "-M",
            "code",
            "-p",
            "hi",
            "--json",
        ])
        .run();
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["reply"], "Hello.");
    assert_eq!(json["session"], "j");
    assert_eq!(json["mode"], "code");
    assert_eq!(json["model"], "there/scripted");
    assert_eq!(json["usage"]["prompt_tokens"], 120);
    assert_eq!(json["usage"]["completion_tokens"], 3);
    let kinds: Vec<&str> = json["context"]["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["system", "system", "system", "tools", "input"]);
    assert_eq!(json["error"], Value::Null);
}

#[test]
fn the_exit_code_tells_what_kind_of_failure_it_was() {
    let home = Home::new();
    let server = Server::start([say("fine"), fail(400, "no such thing")]);
    home.config(&server, "");
    for (args, expected) in [
        (&["-c", "test.yaml", "-p", "hi"][..], 0),
        (&["-c", "test.yaml", "-p", "hi"], 1),
        (&["-c", "missing.yaml", "-p", "hi"], 2),
        (&["-M", "nope", "-p", "hi"], 2),
        (&["-s", "../x", "-p", "hi"], 2),
        (&["-p", ""], 2),
        (&["--nonsense"], 2),
        (&["--version"], 0),
    ] {
        let run = home.cogtrix(args).run();
        assert_eq!(run.code, Some(expected), "{args:?}: {run}");
    }
}

#[test]
fn an_unknown_mode_names_the_three_there_are() {
    let run = Home::new().cogtrix(&["-M", "nope", "-p", "hi"]).run();
    for mode in ["conversation", "code", "reasoning"] {
        assert!(run.stderr.contains(mode), "{run}");
    }
}

/// A reply whose first half has arrived and whose second never comes.
fn half() -> Reply {
    say("Half of it.")
        .pieces(["Half of", " it."])
        .stall_after(1)
}

#[test]
fn an_interrupt_keeps_what_arrived_marked_and_ends_with_130() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let home = Home::new();
        let server = Server::start([half(), say("On we go.")]);
        home.config(&server, "memory: {timestamps: off}");
        let running = home
            .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", "hi"])
            .start();
        running.wait_for("Half of");
        running.signal(signal);
        let run = running.wait();
        assert_eq!(
            (run.stdout.as_str(), run.code),
            ("Half of\n", Some(130)),
            "{run}"
        );
        assert_eq!(
            home.said("s"),
            ["user: hi", "assistant: Half of\n[reply cut: interrupted]"]
        );
        assert!(
            !home.history("s.journal.jsonl").exists(),
            "the end was clean"
        );
        assert_eq!(
            home.ask("s", "go on").stderr,
            "",
            "and there is nothing to repair"
        );
        assert!(
            server.chats()[1]
                .body
                .to_string()
                .contains("[reply cut: interrupted]")
        );
    }
}

#[test]
fn the_json_of_an_interrupted_turn_has_the_text_alone_and_says_whether_it_was_cut() {
    for (reply, text, is_cut) in [
        (half(), Value::from("Half of"), true),
        (silent(), Value::Null, false),
    ] {
        let home = Home::new();
        let server = Server::start([reply]);
        home.config(&server, "");
        let args = ["-c", "test.yaml", "--timeout", "3s", "-p", "hi", "--json"];
        let run = home.cogtrix(&args).run();
        let json: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(json["reply"], text, "{run}");
        assert_eq!(json["cut"], is_cut, "{run}");
        assert_eq!(json["outcome"], "interrupted", "{run}");
    }
}

#[test]
fn an_interrupt_before_the_first_word_closes_the_turn() {
    let home = Home::new();
    let server = Server::start([silent()]);
    home.config(&server, "");
    let running = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", "hi"])
        .start();
    server.wait_for_chats(1);
    running.signal(Signal::INT);
    let run = running.wait();
    assert_eq!((run.stdout.as_str(), run.code), ("", Some(130)), "{run}");
    assert_eq!(home.said("s")[1], "assistant: [no reply: interrupted]");
}

#[test]
fn a_script_of_lines_told_to_end_saves_and_is_clean() {
    for signal in [Signal::TERM, Signal::HUP] {
        let home = Home::new();
        let server = Server::start([say("One."), half()]);
        home.config(&server, "memory: {timestamps: off}");
        let mut chat = home
            .cogtrix(&["-c", "test.yaml", "-s", "s", "--lines"])
            .open_stdin()
            .start();
        chat.say("one");
        chat.wait_for("One.\n");
        chat.say("two");
        chat.wait_for("Half of");
        chat.signal(signal);
        let run = chat.wait();
        assert_eq!(run.signal, None, "{run}");
        let said = home.said("s");
        assert_eq!(said[..2], ["user: one", "assistant: One."]);
        assert_eq!(said[3], "assistant: Half of\n[reply cut: interrupted]");
        assert!(!home.history("s.journal.jsonl").exists());
    }
}

#[test]
fn a_reader_who_has_enough_ends_it_quietly() {
    let home = Home::new();
    let many: String = (0..5_000)
        .map(|n| format!("line {n} of very many\n"))
        .collect::<Vec<_>>()
        .concat();
    let server = Server::start([say(many)]);
    home.config(&server, "");
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", "hi"])
        .head(1)
        .run();
    assert_eq!((run.stderr.as_str(), run.signal), ("", None), "{run}");
    assert_eq!(run.code, Some(0));
    assert!(
        home.said("s")[1].contains("line 4999 of very many"),
        "the whole reply is kept"
    );
}

#[test]
fn a_failed_turn_stays_in_history_and_the_next_goes_on() {
    let home = Home::new();
    let server = Server::start([fail(500, "overloaded"), say("Back.")]);
    home.config(&server, "");
    let run = home.ask("s", "hello?");
    assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""), "{run}");
    assert!(
        run.stderr.contains("overloaded"),
        "the server's own words: {run}"
    );
    assert!(home.said("s")[1].starts_with("assistant: [no reply: "));
    assert_eq!(home.ask("s", "again").stdout, "Back.\n");
    assert!(server.chats()[1].body.to_string().contains("[no reply: "));
}

#[test]
fn a_reply_cut_half_way_is_kept_marked_and_said() {
    let home = Home::new();
    let server = Server::start([say("First half, second half.")
        .pieces(["First half,", " second half."])
        .cut_after(1)]);
    home.config(&server, "");
    let run = home.ask("s", "hi");
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stdout.starts_with("First half,"), "{run}");
    assert!(run.stderr.contains("the partial reply is kept"), "{run}");
    assert!(
        home.said("s")[1].contains("First half,\n[reply cut: "),
        "{:?}",
        home.said("s")
    );
}

/// A script has to tell these from a failure of its own.
#[test]
fn the_exit_code_tells_what_was_wrong() {
    let home = Home::new();
    for args in [
        &[][..],
        &["-r"],
        &["-p", ""],
        &["--project", "/nope", "-p", "hi"],
    ] {
        let run = home.cogtrix(args).stdin("").run();
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
        assert!(run.stderr.contains("hint: "), "{run}");
    }
    let server = Script::answering(|_| fail(404, "no such page")).serve();
    for (kind, url, is_hinted) in [
        ("openai", server.openai_url(), false),
        ("openai", format!("{}/v2", server.url()), true),
        ("anthropic", format!("{}/v2", server.url()), false),
    ] {
        home.config_of(kind, &url, "");
        let run = home.ask("s", "hi");
        assert_eq!(run.code, Some(3), "{run}");
        assert!(run.stderr.contains("unexpected response"), "{run}");
        assert_eq!(run.stderr.contains("ends in /v1"), is_hinted, "{run}");
    }
    let server = Server::start([
        fail(401, "Incorrect API key"),
        fail(401, "Incorrect API key"),
    ]);
    home.config(&server, "");
    let run = home.ask("s", "hi");
    assert_eq!(run.code, Some(3), "{run}");
    let expected = "needs an API key (401): Incorrect API key; set api_key_env (or api_key) for this provider\n";
    assert!(run.stderr.ends_with(expected), "{run}");
    let run = home
        .cogtrix(&["-m", "openai/scripted", "-p", "hi"])
        .env("OPENAI_BASE_URL", server.openai_url())
        .run();
    let expected = "needs an API key (401): Incorrect API key; export OPENAI_API_KEY=…\n";
    assert!(run.stderr.ends_with(expected), "{run}");
    let server = Server::start([say("never").stall_after(0)]);
    home.config(&server, "");
    let run = home
        .cogtrix(&["-c", "test.yaml", "--timeout", "1s", "-p", "hi"])
        .run();
    assert_eq!(run.code, Some(3), "{run}");
}

#[test]
fn thinking_is_neither_printed_nor_kept() {
    let home = Home::new();
    let server = Server::start([say("Answer.").thinking("secret thoughts")]);
    home.config(&server, "");
    let run = home.ask("s", "hi");
    assert_eq!(run.stdout, "Answer.\n", "{run}");
    assert!(!home.snapshot("s").to_string().contains("secret thoughts"));
}

#[test]
fn a_second_run_waits_for_the_session_and_says_who_has_it() {
    let home = Home::new();
    let server = Server::start([half(), say("never")]);
    home.config(&server, "lock_wait: 100ms");
    let first = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", "hi"])
        .start();
    server.wait_for_chats(1);
    let second = home.ask("s", "me too");
    assert_eq!(second.code, Some(1), "{second}");
    assert!(
        second.stderr.contains(&format!("pid {}", first.pid())),
        "{second}"
    );
    first.signal(Signal::INT);
    first.wait();
    assert_eq!(
        home.said("s").len(),
        2,
        "only the first run's turn is there"
    );
}

#[test]
fn a_second_run_goes_on_as_soon_as_the_session_is_free() {
    let home = Home::new();
    let server = Server::start([half(), say("My turn.")]);
    home.config(&server, "memory: {timestamps: off}");
    let first = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", "first"])
        .start();
    first.wait_for("Half of");
    let second = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", "second"])
        .start();
    first.signal(Signal::INT);
    first.wait();
    let second = second.wait();
    assert_eq!(
        (second.stdout.as_str(), second.code),
        ("My turn.\n", Some(0)),
        "{second}"
    );
    assert_eq!(
        server.chats()[1].message(1),
        "first",
        "it sees what the first one wrote"
    );
    assert_eq!(home.said("s").len(), 4);
}

#[test]
fn quiet_says_errors_only_and_verbose_more() {
    let home = Home::new();
    let quiet = home.cogtrix(&["-q", "-m", "offline", "-p", "hi"]).run();
    assert_eq!(
        (quiet.stderr.as_str(), quiet.code),
        ("", Some(0)),
        "{quiet}"
    );
    let server = Server::start([fail(400, "no such thing")]);
    home.config(&server, "");
    let failed = home.cogtrix(&["-c", "test.yaml", "-q", "-p", "hi"]).run();
    assert!(failed.stderr.contains("no such thing"), "{failed}");
}

#[test]
fn nothing_is_coloured_where_nobody_looks() {
    let home = Home::new();
    let server = Server::start([say("Plain."), fail(500, "broken")]);
    home.config(&server, "");
    for _ in 0..2 {
        let run = home.ask("s", "hi");
        assert!(!run.to_string().contains('\u{1b}'), "{run}");
    }
}

#[test]
fn the_json_of_a_reply_and_of_a_failure_have_one_shape() {
    let home = Home::new();
    let server = Server::start([say("Hello.").usage(120, 3), fail(400, "no such thing")]);
    home.config(&server, "");
    let args = [
        "-c",
        "test.yaml",
        "--tools",
        "none",
        "-s",
        "j",
        "-p",
        "hi",
        "--json",
    ];
    let good = home.cogtrix(&args).run();
    insta::assert_snapshot!(home.shown(&good), @r#"
    {
      "reply": "Hello.",
      "cut": false,
      "error": null,
      "outcome": "answered",
      "session": "j",
      "mode": "conversation",
      "model": "there/scripted",
      "usage": {
        "prompt_tokens": 120,
        "completion_tokens": 3,
        "cached_tokens": 0
      },
      "context": {
        "window": 32768,
        "prompt_tokens": 272,
        "max_tokens": 32432,
        "sections": [
          {
            "kind": "system",
            "source": "config/prompts/base.md",
            "tokens": 159,
            "messages": 0
          },
          {
            "kind": "system",
            "source": "config/modes/conversation.md",
            "tokens": 102,
            "messages": 0
          },
          {
            "kind": "input",
            "source": "you",
            "tokens": 11,
            "messages": 1
          }
        ],
        "messages_left_out": 0
      }
    }
    --- stderr
    --- exit 0
    "#);
    let bad = home.cogtrix(&args).run();
    let (good, bad): (Value, Value) = (
        serde_json::from_str(&good.stdout).unwrap(),
        serde_json::from_str(&bad.stdout).unwrap(),
    );
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&good), keys(&bad));
    assert_eq!(bad["outcome"], "failed");
    assert_eq!(bad["reply"], Value::Null);
    assert!(
        bad["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no such thing"),
        "{bad}"
    );
}

#[test]
fn a_turn_is_on_disk_before_the_model_is_asked_and_whole_after_it() {
    let home = Home::new();
    let server = Server::start([half()]);
    home.config(&server, "memory: {timestamps: off}");
    let running = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", "the question"])
        .start();
    server.wait_for_chats(1);
    let journal = std::fs::read_to_string(home.history("s.journal.jsonl")).unwrap();
    assert!(
        journal.contains("the question") && journal.contains("turn_started"),
        "{journal}"
    );
    assert!(!home.history("s.json").exists());
    running.wait_for("Half of");
    running.signal(Signal::INT);
    running.wait();
    let snapshot = home.snapshot("s");
    insta::assert_snapshot!(home.normal(&format!("{snapshot:#}")), @r#"
    {
      "version": 1,
      "meta": {
        "id": "s",
        "title": "the question",
        "created_at": "TIME",
        "updated_at": "TIME",
        "mode": "conversation",
        "model": "there/scripted",
        "turns": 1,
        "messages": 2,
        "journal_seq": 2
      },
      "messages": [
        {
          "id": "m1",
          "role": "user",
          "content": "the question",
          "timestamp": "TIME",
          "outcome": "interrupted"
        },
        {
          "id": "m2",
          "role": "assistant",
          "content": "Half of\n[reply cut: interrupted]",
          "timestamp": "TIME"
        }
      ]
    }
    "#);
}

#[cfg(unix)]
#[test]
fn only_their_owner_can_read_what_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.cogtrix(&["-s", "s", "-p", "hi"]).run();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.data().join("history")), 0o700);
    for file in Home::files(&home.data()).keys() {
        assert_eq!(mode(&home.data().join(file)), 0o600, "{}", file.display());
    }
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let home = Home::new();
    let server = Server::start([silent()]);
    home.config(&server, "");
    let config = std::fs::read_to_string(home.work().join("test.yaml")).unwrap();
    home.write(
        "test.yaml",
        config.replace("tries: 1", "tries: 1, idle: 200ms"),
    );
    let run = home.ask("s", "hi");
    assert_eq!(run.code, Some(3), "{run}");
    assert!(run.stderr.contains("sent nothing"), "{run}");
}

#[test]
fn no_stream_asks_for_the_whole_reply_at_once() {
    let home = Home::new();
    let server = Server::start([say("Whole.")]);
    home.config(&server, "");
    let run = home
        .cogtrix(&["-c", "test.yaml", "-p", "hi", "--no-stream"])
        .run();
    assert_eq!(run.stdout, "Whole.\n", "{run}");
    assert_ne!(server.chats()[0].body["stream"], true);
}

#[test]
fn binary_input_is_refused_and_odd_characters_are_carried() {
    let home = Home::new();
    let server = Server::start([say("ok")]);
    home.config(&server, "memory: {timestamps: off}");
    let run = home
        .cogtrix(&["-c", "test.yaml"])
        .stdin(vec![0x7f, b'E', b'L', b'F', 0, 1])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    let odd = "\u{1b}[31mred \u{202e}right-to-left \u{200b}\u{7}";
    assert_eq!(home.ask("s", odd).code, Some(0));
    assert_eq!(server.chats()[0].message(-1), odd);
}

#[cfg(target_os = "linux")]
#[test]
fn a_stdout_that_takes_nothing_is_said_on_stderr() {
    let full = std::fs::File::create("/dev/full").unwrap();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_cogtrix"))
        .args(["completions", "bash"])
        .stdout(full)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("cannot write to stdout"), "{stderr}");
}

#[test]
fn a_file_that_cannot_take_the_reply_is_found_before_the_model_is_asked() {
    let home = Home::new();
    let server = Server::start([say("first")]);
    home.config(&server, "");
    let ask = |file: &str| {
        home.cogtrix(&[
            "-c",
            "test.yaml",
            "--data-dir",
            "kept",
            "-p",
            "hi",
            "-o",
            file,
        ])
        .run()
    };
    assert_eq!(ask("reply.md").code, Some(0));
    for (file, code) in [
        ("missing/reply.md", 1),
        (".", 1),
        ("kept/history/reply.md", 2),
    ] {
        let run = ask(file);
        assert_eq!(run.code, Some(code), "{file}: {run}");
    }
    assert_eq!(server.chats().len(), 1);
}

#[test]
fn a_data_folder_that_cannot_be_used_is_one_error() {
    let home = Home::new();
    let file = home.write("file", "x").display().to_string();
    let args = ["-m", "offline", "--data-dir", file.as_str()];
    for (more, stdin) in [
        (["-p", "hi"].as_slice(), ""),
        (&["--lines"], "hi\n/memory\n"),
    ] {
        let run = home.cogtrix(&args).args(more).stdin(stdin).run();
        assert_eq!(run.code, Some(1), "{run}");
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert!(
            matches!(lines[..], [error, hint] if error.starts_with("error: cannot use ") && hint.contains("--data-dir")),
            "{run}"
        );
    }
    if cfg!(target_os = "linux") {
        let args = ["-m", "offline", "--data-dir", "/proc/none", "--lines"];
        let run = home.cogtrix(&args).stdin("hi\n").run();
        assert_eq!(run.stderr.matches("warning: ").count(), 1, "{run}");
        assert_eq!(run.stderr.matches("error: ").count(), 1, "{run}");
    }
}

#[test]
fn who_waits_for_a_session_that_is_open_is_told_so_after_a_second() {
    let home = Home::new();
    let server = Server::start([]);
    home.config(&server, "lock_wait: 60s");
    let mut chat = home
        .cogtrix(&["-m", "offline", "-s", "work", "--lines"])
        .open_stdin()
        .start();
    chat.say("hello");
    chat.wait_for("Message saved.");
    let args = ["-c", "test.yaml", "-m", "offline", "-s", "work", "-p", "hi"];
    let waiting = home.cogtrix(&args).start();
    let pid = chat.pid();
    waiting.wait_for_notice(&format!(
        "Waiting for session work (open in process {pid}), up to 60 s\n"
    ));
    home.config(&server, "lock_wait: 1100ms");
    let quiet = home.cogtrix(&args).args(["--quiet"]).run();
    assert!(!quiet.stderr.contains("waiting"), "{quiet}");
    assert!(
        quiet.stderr.contains("is open in another process"),
        "{quiet}"
    );
    chat.wait();
    let run = waiting.wait();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stdout.contains("From this session:") || run.stdout.contains("saved"),
        "{run}"
    );
}
