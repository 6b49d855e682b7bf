//! Sessions by name: listed, shown, resumed, renamed, put away, taken out of the house (E11, O21, C84).

use std::path::Path;

use cogtrix::testing::server::{Script, Server, say};

use crate::support::home::Home;

/// Answers each question by its number.
fn counting() -> Server {
    let mut n = 0;
    Script::answering(move |_| {
        n += 1;
        say(format!("Answer {n}."))
    })
    .serve()
}

/// A home whose model is a server that counts.
fn home() -> (Home, Server) {
    let home = Home::new();
    let server = counting();
    home.config(&server, "memory: {timestamps: off}");
    (home, server)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .map(|entries| {
            entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect()
        })
        .unwrap_or_default();
    names.sort();
    names
}

#[test]
fn the_list_has_name_mode_messages_age_and_first_words_the_newest_first() {
    let (home, _server) = home();
    for (name, mode, title) in [
        ("one", "code", "Fix the bug in auth.py"),
        ("two", "reasoning", "Which database?"),
        ("three", "conversation", "Name three rivers of Europe"),
    ] {
        let args = ["-c", "test.yaml", "-s", name, "-M", mode, "-p", title];
        assert_eq!(home.cogtrix(&args).run().code, Some(0));
    }
    // The clock of a session has seconds; which of them is newest is said by hand.
    for (name, second) in [("one", 3), ("two", 1), ("three", 2)] {
        let path = home.history(&format!("{name}.json"));
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, after) = text.split_once("\"updated_at\":\"").unwrap();
        let time = format!("2020-01-01T00:00:0{second}Z");
        home.write(
            &path,
            format!("{before}\"updated_at\":\"{time}{}", &after[20..]),
        );
    }
    let run = home.cogtrix(&["sessions"]).run();
    let rows: Vec<Vec<&str>> = run
        .stdout
        .lines()
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .collect()
        })
        .collect();
    let row = |row: &[&'static str]| row.to_vec();
    assert_eq!(
        rows[0],
        row(&["SESSION", "MODE", "MESSAGES", "LAST USED", "FIRST WORDS"]),
        "{run}"
    );
    let shown: Vec<(&str, &str, &str, &str)> = rows[1..]
        .iter()
        .map(|row| (row[0], row[1], row[2], row[4]))
        .collect();
    assert_eq!(
        shown,
        [
            ("one", "code", "2", "Fix the bug in auth.py"),
            ("three", "conversation", "2", "Name three rivers of Europe"),
            ("two", "reasoning", "2", "Which database?"),
        ],
        "{run}"
    );
    assert!(rows[1][3].ends_with("ago"), "{run}");
    assert_eq!(run.code, Some(0));
}

#[test]
fn a_title_has_at_most_a_hundred_characters() {
    let (home, _server) = home();
    home.ask("long", &"wörter ".repeat(60));
    let title = home.snapshot("long")["meta"]["title"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(title.chars().count() <= 100, "{title}");
    assert!(title.starts_with("wörter wörter"), "{title}");
}

#[test]
fn without_a_session_the_list_says_so_and_creates_nothing() {
    let home = Home::new();
    let run = home.cogtrix(&["sessions"]).run();
    assert_eq!(
        (run.stdout.as_str(), run.code),
        ("No sessions yet\n", Some(0)),
        "{run}"
    );
    assert!(!home.data().exists());
}

#[test]
fn show_prints_what_was_said_and_an_unknown_name_is_an_error() {
    let (home, _server) = home();
    home.ask("one", "Hello there");
    let run = home.cogtrix(&["sessions", "show", "one"]).run();
    insta::assert_snapshot!(home.shown(&run), @"
    [1] You, TIME
    Hello there

    Assistant, TIME
    Answer 1.
    --- stderr
    --- exit 0
    ");
    let run = home.cogtrix(&["sessions", "show", "nobody"]).run();
    insta::assert_snapshot!(home.shown(&run), @"
    --- stderr
    error: no session nobody
    hint: `cogtrix sessions` lists them
    --- exit 1
    ");
}

#[test]
fn delete_moves_everything_of_the_session_to_the_trash_and_nothing_else() {
    let (home, _server) = home();
    home.lines(
        "one",
        &[
            "Hello there, this is the first of several longer sentences",
            "/compact",
        ],
    );
    home.ask("one.more", "Hello");
    let mine = ["one.json", "one_mode_state.json"];
    for extra in ["one_pins.json", "one_scratchpad.json"] {
        home.write(home.history(extra), "{}");
    }
    let before = Home::files(&home.data());
    let run = home.cogtrix(&["sessions", "delete", "one"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    let after = Home::files(&home.data());
    let (put_away, kept): (Vec<_>, Vec<_>) = after
        .iter()
        .partition(|(path, _)| path.starts_with("trash"));
    let others: Vec<_> = before
        .iter()
        .filter(|(path, _)| {
            !path.starts_with("history") || path.to_string_lossy().contains("one.more")
        })
        .collect();
    assert_eq!(kept, others, "nothing else is touched");
    let moved: Vec<&[u8]> = put_away.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    let expected: Vec<&[u8]> = before
        .iter()
        .filter(|(path, _)| !others.iter().any(|(other, _)| other == path))
        .map(|(_, bytes)| bytes.as_slice())
        .collect();
    assert_eq!(moved, expected, "and nothing is lost");
    assert!(put_away.len() >= mine.len() + 2, "{put_away:?}");
    let again = home.cogtrix(&["sessions", "delete", "one"]).run();
    assert_eq!(again.code, Some(1), "{again}");
}

#[test]
fn an_open_session_is_not_deleted_and_its_holder_is_named() {
    let (home, _server) = home();
    let mut chat = home
        .cogtrix(&["-c", "test.yaml", "-s", "one", "--lines"])
        .open_stdin()
        .start();
    chat.say("hello");
    chat.wait_for("Answer 1.\n");
    let run = home.cogtrix(&["sessions", "delete", "one"]).run();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains(&format!("pid {}", chat.pid())), "{run}");
    assert_eq!(chat.wait().code, Some(0));
    assert_eq!(home.said("one").len(), 2);
}

#[test]
fn resume_takes_a_name_or_the_session_used_last_and_begins_none() {
    let (home, server) = home();
    home.ask("old", "the old one");
    let path = home.history("old.json");
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("\"updated_at\":\"20", "\"updated_at\":\"19");
    home.write(&path, text);
    home.ask("new", "the new one");
    for (flags, expected) in [
        (&["-r"][..], "the new one"),
        (&["--resume"], "the new one"),
        (&["-r", "old"], "the old one"),
        (&["--resume", "old"], "the old one"),
    ] {
        let run = home
            .cogtrix(&["-c", "test.yaml", "-p", "go on"])
            .args(flags)
            .run();
        assert_eq!(run.code, Some(0), "{flags:?}: {run}");
        let chat = server.chats().pop().unwrap();
        assert_eq!(chat.message(1), expected, "{flags:?}");
    }
    let run = home
        .cogtrix(&["-c", "test.yaml", "-r", "nobody", "-p", "hi"])
        .run();
    insta::assert_snapshot!(home.shown(&run), @"
    --- stderr
    error: no session nobody
    hint: `cogtrix sessions` lists them
    --- exit 1
    ");
    assert!(!home.history("nobody.json").exists());
}

#[test]
fn resume_with_nothing_to_resume_says_how_to_begin() {
    let home = Home::new();
    let run = home.cogtrix(&["-r", "-p", "hi"]).run();
    insta::assert_snapshot!(home.shown(&run), @"
    --- stderr
    error: no session to resume
    hint: run `cogtrix` to start one; `--last` includes one-shot questions
    --- exit 2
    ");
}

#[test]
fn names_that_are_no_safe_file_names_are_refused_with_the_allowed_form() {
    let home = Home::new();
    for name in [
        "../../x",
        "a/b",
        "",
        " ",
        ".hidden",
        "..",
        "a_hybrid",
        "A_Mode_State",
        "x.lock",
        "x.journal",
        "nul\u{1}",
        "é/…",
        &"x".repeat(65),
    ] {
        let run = home.cogtrix(&["-s", name, "-p", "hi"]).run();
        assert_eq!(run.code, Some(2), "{name:?}: {run}");
        assert!(
            run.stderr
                .contains("1 to 64 letters, digits, spaces, or . _ -"),
            "{name:?}: {run}"
        );
        assert!(!home.data().exists(), "{name:?}");
    }
    for name in ["Año 2026", "日本", "a.b_c-d", " trimmed "] {
        let args = ["-m", "offline", "-s", name, "-p", "hi"];
        let run = home.cogtrix(&args).run();
        assert_eq!(run.code, Some(0), "{name:?}: {run}");
        assert!(
            home.history(&format!("{}.json", name.trim())).exists(),
            "{name:?}"
        );
    }
}

#[test]
fn rename_takes_the_whole_session_along() {
    let (home, server) = home();
    home.ask("taken", "hello");
    let run = home.lines(
        "one",
        &[
            "first",
            "/rename taken",
            "/rename ../x",
            "/rename",
            "/rename two",
            "second",
        ],
    );
    insta::assert_snapshot!(home.shown(&run), @r#"
    Answer 2.
    Renamed session one to two
    Answer 3.
    --- stderr
    error: session taken already exists
    hint: choose another name
    error: session name "../x" starts with a dot
    hint: use 1 to 64 letters, digits, spaces, or . _ - and do not start with a dot
    error: /rename needs a new name
    hint: usage: /rename NAME
    --- exit 1
    "#);
    assert!(
        names(&home.data().join("history"))
            .iter()
            .all(|file| !file.starts_with("one"))
    );
    assert_eq!(home.said("two").len(), 4);
    assert_eq!(home.said("taken").len(), 2);
    home.ask("two", "third");
    assert_eq!(server.chats().pop().unwrap().message(1), "first");
}

#[test]
fn restore_without_a_name_lists_what_is_deleted() {
    let (home, _server) = home();
    home.ask("other", "hello");
    let run = home.lines("one", &["/sessions restore"]);
    assert!(run.stdout.contains("No deleted sessions"), "{run}");
    let run = home.lines("one", &["/delete other", "y", "/sessions restore"]);
    let list = run.stdout.split("`/sessions restore NAME`").last();
    assert!(list.is_some_and(|list| list.contains("other")), "{run}");
    home.ask("second", "hello");
    let run = home.lines("one", &["/delete second", "y", "/sessions restore"]);
    let place = |name| run.stdout.rfind(name).unwrap_or_else(|| panic!("{run}"));
    assert!(place("second") < place("other"), "{run}");
}

#[test]
fn deleting_and_clearing_ask_first_and_do_nothing_on_anything_but_yes() {
    let (home, _server) = home();
    home.ask("other", "hello");
    let run = home.lines(
        "one",
        &[
            "first",
            "/delete other",
            "n",
            "/delete other",
            "",
            "/clear",
            "no",
            "/delete one",
            "/delete nobody",
            "/delete",
        ],
    );
    insta::assert_snapshot!(home.shown(&run), @"
    Answer 2.
    --- stderr
    Move session other (2 messages) to the trash? [y/N]
    Cancelled; nothing changed
    Move session other (2 messages) to the trash? [y/N]
    Cancelled; nothing changed
    Move the 2 messages of this session and its notes to the archive? [y/N]
    Cancelled; nothing changed
    error: this session is open
    hint: switch with `/session NAME` before you delete it
    error: no session nobody
    hint: `/sessions` lists them
    error: /delete needs the name of another session
    hint: `/sessions` lists them, `/clear` empties this one
    --- exit 1
    ");
    assert_eq!(home.said("other").len(), 2);
    assert_eq!(home.said("one").len(), 2);
    let run = home.lines("one", &["/delete other"]);
    assert!(
        run.stderr.contains("Cancelled; nothing changed"),
        "the end of the input is no yes: {run}"
    );
    assert_eq!(home.said("other").len(), 2);
}

#[test]
fn clear_archives_and_begins_anew_under_the_same_name() {
    let (home, server) = home();
    // What was said is known on from the notes of the day.
    home.config(&server, "memory: {capture: off}");
    let run = home.lines(
        "one",
        &[
            "the old matter",
            "/clear",
            "yes",
            "the new matter",
            "/clear",
            "y",
        ],
    );
    assert_eq!(run.code, Some(0), "{run}");
    let told = run.stdout.matches("Cleared. Archived to ");
    assert_eq!(told.count(), 2, "{run}");
    let chats = server.chats();
    assert!(!chats[1].body.to_string().contains("the old matter"));
    let archived = Home::files(&home.data().join("archive"));
    let archived: String = archived
        .values()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .collect();
    for kept in ["the old matter", "Answer 1.", "the new matter", "Answer 2."] {
        assert!(archived.contains(kept), "{kept}: {archived}");
    }
    assert!(
        !home.history("one.json").exists(),
        "an empty session leaves no file"
    );
}

#[test]
fn delete_after_a_yes_moves_another_session_to_the_trash() {
    let (home, _server) = home();
    home.ask("other", "hello");
    let run = home.lines("one", &["first", "/delete other", "y", "/sessions"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(!home.history("other.json").exists());
    assert!(
        !run.stdout.lines().last().unwrap().contains("other"),
        "{run}"
    );
    assert_eq!(names(&home.data().join("trash")).len(), 1);
}

#[test]
fn an_export_in_json_is_a_session_again_and_never_writes_over_a_file() {
    let (home, server) = home();
    let run = home.lines(
        "one",
        &[
            "first question",
            "/export json out.json",
            "/export md out.md",
            "/export out.json",
            "/export",
            "/export json",
        ],
    );
    insta::assert_snapshot!(home.shown(&run), @"
    Answer 1.
    2 messages written to out.json
    2 messages written to out.md
    --- stderr
    error: cannot write out.json: the file already exists
    hint: choose another path; existing files are never overwritten
    error: /export needs a file name
    hint: usage: /export [md|json|html] FILE
    error: /export needs a file name
    hint: usage: /export [md|json|html] FILE
    --- exit 1
    ");
    let markdown = std::fs::read_to_string(home.work().join("out.md")).unwrap();
    assert!(markdown.starts_with("# one\n\n**You** · 20"), "{markdown}");
    assert!(
        markdown.contains("first question") && markdown.contains("Answer 1."),
        "{markdown}"
    );
    let json = std::fs::read(home.work().join("out.json")).unwrap();
    home.write(home.history("copy.json"), json);
    let run = home.ask("copy", "go on");
    assert_eq!(run.code, Some(0), "{run}");
    let chat = server.chats().pop().unwrap();
    assert_eq!(
        [chat.message(1), chat.message(2)],
        ["first question", "Answer 1."]
    );
}

#[test]
fn undo_takes_the_last_turn_out_of_what_is_sent_and_history_keeps_it() {
    let (home, server) = home();
    let run = home.lines(
        "one",
        &["first", "second", "/undo", "third", "/history all"],
    );
    assert!(run.stdout.contains("Undone: second"), "{run}");
    let body = server.chats()[2].body.to_string();
    assert!(body.contains("first") && !body.contains("second"), "{body}");
    assert!(run.stdout.contains("(undone)\nsecond"), "{run}");
    home.ask("one", "fourth");
    assert!(
        !server.chats()[3].body.to_string().contains("second"),
        "also after a restart"
    );
    // Undone in this run, where the snapshot still counts it, and in one before.
    let listed = home.lines("one", &["/undo", "/sessions"]).stdout;
    let later = home.cogtrix(&["sessions"]).run().stdout;
    for listed in [listed, later] {
        let row = listed.lines().find(|line| line.contains(" one "));
        assert!(row.is_some_and(|row| row.contains(" 4 ")), "{listed}");
    }
}

#[test]
fn retry_replaces_the_answer_in_what_is_sent_and_history_keeps_both() {
    let (home, server) = home();
    let run = home.lines("one", &["first", "/retry", "second", "/history"]);
    let chats = server.chats();
    assert_eq!(chats[1].message(-1), "first");
    assert_eq!(
        [chats[2].message(1), chats[2].message(2)],
        ["first", "Answer 2."]
    );
    assert!(!chats[2].body.to_string().contains("Answer 1."));
    assert!(run.stdout.contains("(retried)\nAnswer 1."), "{run}");
}

#[test]
fn retry_and_undo_of_nothing_say_so() {
    let (home, server) = home();
    let run = home.lines("one", &["/retry", "/undo", "/history", "/compact undo"]);
    insta::assert_snapshot!(home.shown(&run), @"
    No messages yet
    --- stderr
    error: nothing to retry
    error: nothing to undo
    error: no compaction to undo
    --- exit 1
    ");
    assert_eq!(server.chats().len(), 0);
    assert!(!home.data().join("history/one.json").exists());
}

#[test]
fn history_shows_the_last_turns_and_says_how_many_came_before() {
    let (home, _server) = home();
    let run = home.lines("one", &["a", "b", "c", "/history 2", "/history x"]);
    let shown = run.stdout.split_once("(1 earlier turn;").unwrap().1;
    assert!(
        !shown.contains("\na\n") && shown.contains("\nb\n") && shown.contains("\nc\n"),
        "{run}"
    );
    assert!(run.stderr.contains("/history [N|all]"), "{run}");
}

#[test]
fn an_unknown_command_names_the_nearest_and_is_never_sent() {
    let (home, server) = home();
    let run = home.lines(
        "one",
        &[
            "/mdoe code",
            "/",
            "/zzzz",
            "/undo now",
            " /etc/hosts has a line",
        ],
    );
    insta::assert_snapshot!(home.shown(&run), @"
    Answer 1.
    --- stderr
    error: unknown command /mdoe
    hint: did you mean /mode? To send the line as a message, put a space before the /
    error: unknown command /
    hint: `/help` lists commands; to send the line as a message, put a space before the /
    error: unknown command /zzzz
    hint: `/help` lists commands; to send the line as a message, put a space before the /
    error: /undo takes no arguments
    hint: usage: /undo
    --- exit 1
    ");
    let chats = server.chats();
    assert_eq!(chats.len(), 1);
    assert_eq!(chats[0].message(-1), "/etc/hosts has a line");
}

#[test]
fn going_to_another_session_keeps_both_apart() {
    let (home, server) = home();
    home.ask("two", "in two");
    let run = home.lines(
        "one",
        &[
            "in one",
            "/session two",
            "again",
            "/session one",
            "and again",
            "/s",
            "/session one",
        ],
    );
    assert_eq!(run.code, Some(0), "{run}");
    let chats = server.chats();
    assert_eq!(chats[2].message(1), "in two");
    assert_eq!(chats[3].message(1), "in one");
    assert!(
        run.stdout
            .contains("Resumed two (2 messages, last just now)"),
        "{run}"
    );
    assert!(run.stdout.ends_with("Already in session one\n"), "{run}");
    assert_eq!((home.said("one").len(), home.said("two").len()), (4, 4));
}

#[test]
fn a_session_used_in_another_mode_says_so_only_to_a_person() {
    let (home, _server) = home();
    home.cogtrix(&["-c", "test.yaml", "-M", "code", "-s", "s", "-p", "one"])
        .run();
    let run = home.ask("s", "two");
    assert_eq!(run.stderr, "", "{run}");
}

#[test]
fn a_name_that_is_nearly_one_there_is_is_suggested() {
    let (home, _server) = home();
    home.ask("first", "one");
    for (args, near) in [
        (&["-r", "frist", "-p", "two"][..], "first"),
        (&["sessions", "show", "frist"], "first"),
        (&["sessions", "rm", "frist"], "first"),
        (&["sessions", "mv", "frist", "second"], "first"),
        (&["-m", "offline", "--tools", "shll", "-p", "two"], "shell"),
    ] {
        let run = home.cogtrix(args).run();
        let hint = format!("hint: did you mean {near}?");
        assert!(run.stderr.contains(&hint), "{args:?}: {run}");
    }
}

#[test]
fn a_data_folder_that_is_none_is_one_error_with_a_hint_whatever_it_is_wanted_for() {
    let home = Home::new();
    home.write("file", "");
    for folder in ["file", "file/below"] {
        for args in [
            &["-m", "offline", "-s", "s", "-p", "hi"][..],
            &["-m", "offline", "-p", "hi"],
            &["--continue", "-p", "hi"],
            &["sessions"],
            &["sessions", "rm", "s"],
            &["memory", "list"],
            &["memory", "forget", "1"],
            &["memory", "stats"],
            &["search", "hi"],
            &["memory", "export"],
        ] {
            let run = home
                .cogtrix(&[&["--data-dir", folder], args].concat())
                .run();
            assert_eq!(run.code, Some(1), "{args:?}: {run}");
            let lines: Vec<&str> = run.stderr.lines().collect();
            let [error, hint] = lines.as_slice() else {
                panic!("{args:?}: {run}");
            };
            assert!(error.starts_with("error: cannot use "), "{args:?}: {run}");
            assert!(hint.contains("--data-dir"), "{args:?}: {run}");
        }
    }
}

#[test]
fn several_lines_can_be_one_message() {
    let (home, server) = home();
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
