//! A private session: nothing of it is on disk, while it runs and after it.

use cogtrix::testing::server::{Server, say};
use serde_json::json;

use crate::support::home::Home;

#[test]
fn nothing_of_a_private_session_is_on_disk() {
    let server = Server::start((0..6).map(|n| say(format!("Reply {n}."))));
    let home = Home::new();
    home.config(&server, "memory: {background: false}");
    home.ask("before", "I prefer tea over coffee");
    let before = Home::files(&home.data());
    let home_before = Home::files(&home.home());

    let run = home
        .cogtrix(&["-c", "test.yaml", "--private", "--lines"])
        .stdin(
            "My name is Ophelia\nRemember that the vault code is 8812934\n/mode code\n\
             /task fix the vault\nWhat did I say?\n/clear\ny\n",
        )
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let last = server.chats().last().unwrap().body.to_string();
    assert!(last.contains("What did I say?"), "{last}");
    assert_eq!(Home::files(&home.data()), before, "{run}");
    assert_eq!(Home::files(&home.home()), home_before, "{run}");

    let resumed = home
        .cogtrix(&["-c", "test.yaml", "-r", "private", "-p", "x"])
        .run();
    assert_ne!(resumed.code, Some(0), "{resumed}");
}

#[test]
fn a_private_session_without_a_model_does_not_say_that_it_saves() {
    let home = Home::new();
    let run = home
        .cogtrix(&["--private", "-m", "offline", "--lines"])
        .stdin("hello\n/sessions restore nope\n")
        .run();
    let told = "No model connected. Nothing is saved.";
    assert!(run.stdout.contains(told), "{run}");
    let hint = "hint: `/sessions restore` lists what was deleted";
    assert!(run.stderr.contains(hint), "{run}");
}

#[test]
fn the_models_own_files_are_not_there_in_a_private_session() {
    let create = json!({"command": "create", "path": "/memories/a.md", "file_text": "the vault"});
    let server = Server::start([say("").calling("c1", "memories", create), say("Well.")]);
    let home = Home::new();
    home.config(&server, "");
    let before = Home::files(&home.data());
    let run = home
        .cogtrix(&[
            "-c",
            "test.yaml",
            "--private",
            "-y",
            "--tools",
            "memories,current_time",
            "-p",
            "x",
        ])
        .run();
    assert_eq!((run.stdout.trim(), run.code), ("Well.", Some(0)), "{run}");
    assert_eq!(Home::files(&home.data()), before, "{run}");
    let first = server.chats()[0].body.to_string();
    assert!(
        first.contains("current_time") && !first.contains("memories"),
        "{first}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn commands_of_a_private_session_know_of_others_and_leave_nothing() {
    use std::os::unix::fs::PermissionsExt;

    if !crate::support::can_confine() {
        return;
    }
    let call = say("").calling("c1", "shell", json!({"command": "echo x > .envrc"}));
    let server = Server::start([call, say("Done.")]);
    let home = Home::new();
    home.config(&server, "");
    let run = home
        .cogtrix(&["-c", "test.yaml", "--private", "-y", "--tools", "shell"])
        .args(["-p", "x"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(!home.work().join(".envrc").exists(), "{run}");
    let running = home.home().join(".local/state/cogtrix/running");
    let mode = std::fs::metadata(&running).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(
        Home::files(&home.home().join(".local/state")).is_empty(),
        "{run}"
    );
    assert!(!home.data().join("put-back").exists(), "{run}");
}

#[test]
fn a_private_session_remembers_while_it_runs() {
    let server = Server::start([say("Good."), say("Ophelia.")]);
    let home = Home::new();
    home.config(&server, "");
    let run = home
        .cogtrix(&["-c", "test.yaml", "--private", "--lines"])
        .stdin("My name is Ophelia\nWho am I?\n")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let second = server.chats()[1].body.to_string();
    assert!(second.contains("My name is Ophelia"), "{second}");
}

#[test]
fn the_receipt_of_a_private_run_names_no_command_that_would_find_nothing() {
    for more in [&[][..], &["--no-stream"]] {
        let server = Server::start([say("Good.")]);
        let home = Home::new();
        home.config(&server, "");
        let args = [
            &["-c", "test.yaml", "--private"],
            more,
            &["-p", "I prefer tea over coffee"],
        ];
        let run = home.cogtrix(&args.concat()).run();
        let receipt = "Noted (preference): I prefer tea over coffee · for this run only: private sessions are not saved\n";
        assert!(run.stderr.contains(receipt), "{run}");
        assert!(!run.stderr.contains("memory forget"), "{run}");
    }
}

#[test]
fn a_private_session_has_no_name_of_its_own() {
    for flags in [["--private", "-s", "work"], ["--private", "-r", "work"]] {
        let run = Home::new().cogtrix(&flags).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("--private"), "{run}");
    }
}

#[test]
fn a_private_session_finds_what_others_said_and_none_of_them_finds_it() {
    let server = Server::start((0..4).map(|n| say(format!("Reply {n}."))));
    let home = Home::new();
    home.config(&server, "memory: {capture: off}");
    home.ask("trip", "The ferry leaves from the western quay");
    let run = home
        .cogtrix(&["-c", "test.yaml", "--private", "--lines"])
        .stdin("The bakery is closed on Tuesdays\n/search western quay\n/search bakery\n")
        .run();
    let shown = format!("{}{}", run.stdout, run.stderr);
    assert!(shown.contains("session trip:1"), "{run}");
    assert!(shown.contains("session private:1"), "{run}");
    assert!(!shown.contains("not searched"), "{run}");

    let after = home.cogtrix(&["memory", "search", "bakery"]).run();
    assert!(!after.stdout.contains("bakery"), "{after}");
}
