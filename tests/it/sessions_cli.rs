//! Sessions by name: listed, resumed, shown, renamed, thrown away, exported (E11, O21, C84).

use cogtrix::testing::server::{Script, Server, say};

use crate::support::home::Home;

fn chatty() -> Server {
    Script::answering(|_| say("Noted.")).serve()
}

fn three_sessions(home: &Home) {
    home.ask("alpha", "the alpha question");
    home.cogtrix(&[
        "-c",
        "test.yaml",
        "-M",
        "code",
        "-s",
        "beta",
        "-p",
        "the beta question",
    ])
    .run();
    home.ask("gamma", &"gamma ".repeat(60));
}

#[test]
fn the_list_names_mode_messages_age_and_first_words() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    three_sessions(&home);
    let list = home.cogtrix(&["sessions"]).run();
    assert_eq!(list.stdout.lines().count(), 4, "{list}");
    let beta = list
        .stdout
        .lines()
        .find(|line| line.contains("beta"))
        .unwrap();
    for expected in ["code", "2", "just now", "the beta question"] {
        assert!(beta.contains(expected), "{expected}: {list}");
    }
    let gamma = list
        .stdout
        .lines()
        .find(|line| line.contains("gamma"))
        .unwrap();
    assert!(
        gamma.matches("gamma").count() <= 18,
        "titles have at most 100 characters: {gamma}"
    );
}

#[test]
fn resume_takes_the_last_used_or_one_that_exists() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    let none = home.cogtrix(&["-c", "test.yaml", "-r", "-p", "hi"]).run();
    assert_eq!(none.code, Some(2), "{none}");
    home.ask("alpha", "first words");
    let again = home.cogtrix(&["-c", "test.yaml", "-p", "more", "-r"]).run();
    assert_eq!(again.code, Some(0), "{again}");
    assert_eq!(home.said("alpha").len(), 4);
    let missing = home
        .cogtrix(&["-c", "test.yaml", "--resume", "nope", "-p", "hi"])
        .run();
    assert_ne!(missing.code, Some(0));
    assert!(
        missing.stderr.contains("there is no session nope"),
        "{missing}"
    );
    assert!(!home.history("nope.json").exists());
}

#[test]
fn show_prints_what_was_said_and_delete_moves_it_to_the_trash() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    three_sessions(&home);
    let shown = home.cogtrix(&["sessions", "show", "alpha"]).run();
    assert!(
        shown.stdout.contains("the alpha question") && shown.stdout.contains("Noted."),
        "{shown}"
    );
    let deleted = home.cogtrix(&["sessions", "delete", "alpha"]).run();
    assert_eq!(deleted.code, Some(0), "{deleted}");
    let left: Vec<String> = files(&home.data().join("history"));
    assert!(
        left.iter().all(|file| !file.starts_with("alpha")),
        "{left:?}"
    );
    assert!(
        left.contains(&"beta.json".to_owned()) && left.contains(&"gamma.json".to_owned()),
        "{left:?}"
    );
    assert!(!files(&home.data().join("trash")).is_empty());
    let gone = home.cogtrix(&["sessions", "show", "alpha"]).run();
    assert_ne!(gone.code, Some(0), "{gone}");
}

fn files(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn names_that_are_not_safe_are_refused_with_the_allowed_form() {
    let home = Home::new();
    for name in [
        "../x",
        "a/b",
        ".hidden",
        "a_hybrid",
        "x.journal",
        "tab\there",
    ] {
        let run = home.cogtrix(&["-s", name, "-p", "hi"]).run();
        assert_eq!(run.code, Some(2), "{name}: {run}");
        assert!(
            run.stderr.contains("letters, digits, spaces"),
            "{name}: {run}"
        );
    }
    assert!(!home.data().exists(), "nothing was made");
    let run = home.cogtrix(&["-s", "Año 2026 日本", "-p", "hi"]).run();
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn sessions_are_switched_renamed_and_deleted_from_within() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    home.ask("other", "something else");
    let run = home.lines(
        "s",
        &[
            "one",
            "/session other",
            "two",
            "/rename newname",
            "/sessions",
            "/delete s",
            "y",
            "/sessions",
        ],
    );
    assert!(run.stdout.contains("Resumed other (2 messages"), "{run}");
    assert!(
        run.stdout.contains("Session other is now called newname"),
        "{run}"
    );
    assert!(run.stdout.contains("Session s moved to"), "{run}");
    assert_eq!(home.said("newname").len(), 4);
    assert!(!home.history("s.json").exists() && !home.history("other.json").exists());
    let sent = server.chats().pop().unwrap().body.to_string();
    assert!(
        sent.contains("something else"),
        "the other session's past was sent"
    );
}

#[test]
fn clear_asks_and_archives() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    let run = home.lines("s", &["one", "/clear", "n", "/clear", "y", "two"]);
    assert!(run.stderr.contains("nothing was changed"), "{run}");
    assert!(run.stdout.contains("Begun anew"), "{run}");
    assert_eq!(home.said("s"), ["user: two", "assistant: Noted."]);
    let archive = files(&home.data().join("archive"));
    assert_eq!(archive.len(), 1, "{archive:?}");
}

#[test]
fn an_export_as_json_is_a_session_again_and_nothing_is_written_over() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    let run = home.lines(
        "s",
        &[
            "one",
            "/export json out.json",
            "/export md notes.md",
            "/export out.json",
        ],
    );
    assert!(
        run.stdout.contains("2 messages written to out.json"),
        "{run}"
    );
    assert!(run.stderr.contains("cannot write out.json"), "{run}");
    let notes = std::fs::read_to_string(home.work().join("notes.md")).unwrap();
    assert!(
        notes.contains("**You**") && notes.contains("one"),
        "{notes}"
    );
    std::fs::copy(home.work().join("out.json"), home.history("copy.json")).unwrap();
    home.ask("copy", "two");
    assert!(server.chats()[1].body.to_string().contains("one"));
}

#[test]
fn undo_and_retry_change_what_is_sent_and_never_what_is_kept() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    let run = home.lines(
        "s",
        &[
            "keep this",
            "a mistake",
            "/undo",
            "again please",
            "/retry",
            "/history all",
        ],
    );
    assert!(run.stdout.contains("Taken back: a mistake"), "{run}");
    let retried = server.chats()[3].body.to_string();
    assert!(
        !retried.contains("a mistake") && retried.matches("again please").count() == 1,
        "{retried}"
    );
    assert_eq!(home.said("s").len(), 8, "history is whole");
    assert!(
        run.stdout.contains("(undone)") && run.stdout.contains("(asked again)"),
        "{run}"
    );
}

#[test]
fn an_unknown_command_names_the_nearest_and_never_reaches_the_model() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    let run = home.lines(
        "s",
        &["/mdoe", "/", "/etc/passwd", " /etc/passwd holds users"],
    );
    assert!(run.stderr.contains("did you mean /mode"), "{run}");
    let asked: Vec<String> = server.chats().iter().map(|chat| chat.message(-1)).collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].ends_with("/etc/passwd holds users"));
}

#[test]
fn a_session_used_in_another_mode_says_so_only_to_a_person() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    home.cogtrix(&["-c", "test.yaml", "-M", "code", "-s", "s", "-p", "one"])
        .run();
    let run = home.ask("s", "two");
    assert_eq!(run.stderr, "", "{run}");
}

#[test]
fn several_lines_can_be_one_message() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "memory: {timestamps: off}");
    home.lines(
        "s",
        &[
            "\"\"\"",
            "first",
            "second",
            "\"\"\"",
            "one \\",
            "two",
            "/paste",
            "pasted /mode",
            "here",
            ".",
        ],
    );
    let asked: Vec<String> = server.chats().iter().map(|chat| chat.message(-1)).collect();
    assert_eq!(asked, ["first\nsecond", "one \ntwo", "pasted /mode\nhere"]);
}
