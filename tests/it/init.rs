//! `cogtrix init` through the real program: what it finds, asks, writes and tries.

use std::path::PathBuf;
use std::sync::Arc;

use cogtrix::testing::server::{Server, fail, say};
use tempfile::TempDir;

use crate::support::home::Home;
use crate::support::program;
use crate::support::pty::{Exit, Key, Pty, Size};
use crate::support::run::Run;

const NO_OLLAMA: (&str, &str) = ("OLLAMA_HOST", "127.0.0.1:1");
const KEY: &str = "sk-a-key-that-is-nowhere-but-here";

fn config(home: &Home) -> PathBuf {
    home.home().join(".config/cogtrix/cogtrix.yaml")
}

fn init(home: &Home, url: &str, args: &[&str]) -> Run {
    home.cogtrix(&["init"])
        .args(args)
        .env(NO_OLLAMA.0, NO_OLLAMA.1)
        .env("OPENAI_BASE_URL", url)
        .env("OPENAI_API_KEY", KEY)
        .run()
}

#[test]
fn the_server_of_the_environment_is_written_without_its_key_and_tried() {
    let home = Home::new();
    let server = Server::start([say("Hello!")]);
    let run = init(&home, &server.openai_url(), &["--yes"]);
    assert_eq!(run.code, Some(0), "{run}");
    let written = std::fs::read_to_string(config(&home)).unwrap();
    assert!(run.stdout.contains("openai/"), "{run}");
    assert!(
        run.stdout.contains(" answered in ") && run.stdout.contains(": Hello!"),
        "{run}"
    );
    assert!(
        written.contains("    api_key_env: OPENAI_API_KEY\n"),
        "{written}"
    );
    assert!(
        written.contains(&format!("base_url: \"{}\"", server.openai_url())),
        "{written}"
    );
    assert!(!written.contains(KEY), "{written}");
    let sent = server.chats();
    assert_eq!(sent.len(), 1, "one tiny request");
    assert_eq!(sent[0].message(-1), "Say hello in one word.");

    // The file alone is enough from now on.
    let check = home
        .cogtrix(&["config", "check"])
        .env("OPENAI_API_KEY", KEY)
        .run();
    assert_eq!(check.code, Some(0), "{check}");
    let before = written;
    let again = init(&home, &server.openai_url(), &["--yes"]);
    assert_eq!(again.code, Some(2), "{again}");
    assert!(
        again
            .stderr
            .contains("exists, and --yes does not replace it"),
        "{again}"
    );
    assert_eq!(std::fs::read_to_string(config(&home)).unwrap(), before);
}

#[test]
fn a_password_in_an_address_is_not_written() {
    let home = Home::new();
    let server = Server::start([say("Hello!")]);
    let url = server
        .openai_url()
        .replace("http://", "http://me:secret-word@");
    let run = init(&home, &url, &["--yes"]);
    let written = std::fs::read_to_string(config(&home)).unwrap();
    assert!(!written.contains("secret-word"), "{written}");
    assert!(!written.contains("base_url:"), "{written}");
    assert!(run.stdout.contains(" answered in "), "{run}");
}

#[test]
fn without_a_terminal_it_wants_yes_and_writes_nothing() {
    let home = Home::new();
    let run = init(&home, "http://127.0.0.1:1/v1", &[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr
            .contains("hint: `cogtrix init --yes` accepts the defaults"),
        "{run}"
    );
    assert!(!config(&home).exists());
}

#[test]
fn without_any_model_the_file_says_where_one_goes() {
    let home = Home::new();
    let run = home
        .cogtrix(&["init", "--yes", "-c", "own.yaml"])
        .env(NO_OLLAMA.0, NO_OLLAMA.1)
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("No model is set yet"), "{run}");
    insta::assert_snapshot!(std::fs::read_to_string(home.work().join("own.yaml")).unwrap(), @r#"
    # Written by `cogtrix init`. `cogtrix config show` lists all keys with their values;
    # `cogtrix config check` finds mistakes.

    models:
      # The model a chat starts with; -m and /model choose another.
      default: "auto"

    memory:
      # The mode a session starts in: conversation, code or reasoning.
      mode: conversation
    "#);
    let check = home.cogtrix(&["-c", "own.yaml", "config", "check"]).run();
    assert_eq!(check.code, Some(0), "{check}");
}

#[test]
fn a_model_that_does_not_answer_is_said_so_and_the_file_stays() {
    let home = Home::new();
    let server = Server::start([fail(401, r#"{"error": {"message": "wrong key"}}"#)]);
    let run = init(&home, &server.openai_url(), &["--yes"]);
    assert_eq!(run.code, Some(3), "{run}");
    assert!(run.stderr.contains("does not answer"), "{run}");
    assert!(!run.stderr.contains(KEY), "{run}");
    assert!(config(&home).exists());
}

/// At a terminal, with the address of a server in the environment.
fn at_terminal(home: &Arc<TempDir>, url: &str) -> Pty {
    Pty::spawn_at(
        Arc::clone(home),
        &program(),
        &["init"],
        &[NO_OLLAMA, ("OPENAI_BASE_URL", url)],
        Size(200, 24),
    )
}

#[test]
fn an_address_that_is_typed_is_written_and_its_password_only_when_asked_for() {
    let server = Server::start([say("Hello!"), say("Hello again!")]);
    let plain = server.openai_url();
    let secret = plain.replace("http://", "http://me:secret-word@");
    for (typed, answer, written) in [
        (&plain, None, Some(&plain)),
        (&secret, Some("n"), None),
        (&secret, Some("y"), Some(&secret)),
    ] {
        let home = Arc::new(TempDir::new().unwrap());
        let mut chat = at_terminal(&home, "http://u:other-word@127.0.0.1:1/v1");
        chat.wait_for("(Enter: none)").enter("7");
        chat.wait_for("Not an address. Example: http://localhost:8080/v1")
            .enter(typed);
        if let Some(answer) = answer {
            chat.wait_for("Write the password of this address")
                .enter(answer);
        }
        chat.wait_for("mostly do?").key(Key::Enter);
        chat.wait_for("[Y/n]").key(Key::Enter);
        assert_eq!(chat.wait_exit(), Exit::code(0));
        chat.wait_for(match written {
            Some(_) => " answered in ",
            None => "set OPENAI_BASE_URL to it",
        });
        // What was typed, and not again.
        let shown = chat.screen().matches("-word").count();
        assert_eq!(shown, usize::from(typed == &secret), "{}", chat.screen());
        let text = std::fs::read_to_string(home.path().join("config/cogtrix/cogtrix.yaml"));
        let text = text.unwrap();
        let line = written.map(|url| format!("base_url: \"{url}\"\n"));
        match line {
            Some(line) => assert!(text.contains(&line), "{text}"),
            None => assert!(
                !text.contains("base_url:") && !text.contains("secret"),
                "{text}"
            ),
        }
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named_with_a_way_out() {
    let home = Home::new();
    home.write("config", "a file in the place of the folder");
    let path = home.work().join("config/own.yaml");
    let run = home
        .cogtrix(&["-c", &path.display().to_string(), "init", "--yes"])
        .env(NO_OLLAMA.0, NO_OLLAMA.1)
        .run();
    assert_eq!(run.code, Some(1), "{run}");
    let why = format!("cannot write {}: ", path.display());
    assert!(run.stderr.contains(&why), "{run}");
    assert!(
        run.stderr
            .contains("hint: choose another file: `cogtrix -c FILE init`"),
        "{run}"
    );
}

#[test]
fn a_person_is_asked_three_questions_and_an_existing_file_is_kept_beside() {
    let home = Arc::new(TempDir::new().unwrap());
    let server = Server::start([say("Hello!"), say("Hello again!")]);
    let path = home.path().join("config/cogtrix/cogtrix.yaml");

    let mut first = at_terminal(&home, &server.openai_url());
    first.wait_for("PROVIDER/MODEL [1]").enter("99");
    first
        .wait_for("\"99\" is not in the list.")
        .enter("openai/own");
    first.wait_for("mostly do?").enter("wrong");
    first.wait_for("\"wrong\" is not a mode.").enter("CODE");
    first.wait_for("[Y/n]").key(Key::Enter);
    assert_eq!(first.wait_exit(), Exit::code(0));
    first.wait_for("openai/own answered in");
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(
        written.contains("mode: code") && written.contains("\"openai/own\""),
        "{written}"
    );

    let mut second = at_terminal(&home, &server.openai_url());
    second.wait_for("[1]").key(Key::Enter);
    second.wait_for("mostly do?").key(Key::Enter);
    second.wait_for("[y/N]").key(Key::Enter);
    assert_eq!(second.wait_exit(), Exit::code(0));
    second.wait_for("Nothing was written; `cogtrix init` asks again.");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written);

    let mut third = at_terminal(&home, &server.openai_url());
    third.wait_for("[1]").key(Key::Enter);
    third.wait_for("mostly do?").key(Key::Enter);
    third.wait_for("[y/N]").enter("y");
    assert_eq!(third.wait_exit(), Exit::code(0));
    third.wait_for("Hello again!");
    let old = std::fs::read_to_string(path.with_extension("yaml.old")).unwrap();
    assert_eq!(old, written);
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .contains("mode: conversation")
    );
}
