//! Sessions copied up to any of their turns, renamed, deleted and brought back, through the real program.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cogtrix::testing::server::{Script, Server, say};

use crate::support::home::Home;
use crate::support::is_summary;

const SUMMARY: &str = "- The rotation is on Fridays.";

/// Five turns with notes set by hand, a compaction and an undone turn among them.
const SCRIPT: [&str; 9] = [
    "Fix the parser in src/main.rs; the budget is 50k.",
    "/task Write the parser",
    "We decided to use PostgreSQL because it has JSON.",
    "/compact",
    "The deadline of the harbour, when was it?",
    "/undo",
    "What about src/lib.rs?",
    "/goal Ship it in May",
    "My goal is to test the cranes with Anna Berg.",
];

fn home() -> (Home, Server) {
    let home = Home::new();
    let server = Script::answering(|request| {
        if is_summary(request) {
            say(SUMMARY)
        } else {
            say("There are many cranes in that old harbour, and most are older than the ships.")
        }
    })
    .serve();
    home.config(&server, "memory: {timestamps: off}");
    (home, server)
}

/// The script up to the question of a turn.
fn up_to(turn: usize) -> &'static [&'static str] {
    let questions = SCRIPT.iter().enumerate();
    let mut questions = questions.filter(|(_, line)| !line.starts_with('/'));
    &SCRIPT[..=questions.nth(turn - 1).unwrap().0]
}

/// Runs lines in a session in a mode; gives what stdout says.
fn lines(home: &Home, session: &str, mode: &str, lines: &[&str]) -> String {
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", session, "-M", mode, "--lines"])
        .stdin(lines.join("\n"))
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(!run.stderr.contains("warning"), "{run}");
    run.stdout
}

/// The files of a session, whatever their folder.
fn files_of(home: &Home, session: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = Home::files(&home.data());
    let is_of = |name: &PathBuf| {
        let mut parts = name.iter().map(|part| part.to_str().unwrap_or_default());
        parts.any(|part| {
            let rest = part.strip_prefix(session);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '_']))
        })
    };
    files.retain(|name, _| is_of(name));
    files
}

/// Notes without their numbers: those of a turn that was undone are not given again.
fn unnumbered(notes: &str) -> String {
    let lines = notes
        .lines()
        .map(|line| match line.trim_start().split_once("  ") {
            Some((number, rest)) if number.parse::<u32>().is_ok() => rest,
            Some(_) | None => line,
        });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_fork_is_the_session_of_its_turn_and_the_original_stays_to_the_byte() {
    for mode in ["conversation", "code", "reasoning"] {
        let (home, server) = home();
        lines(&home, "whole", mode, &SCRIPT);
        let before = files_of(&home, "whole");
        let said = home.said("whole");
        assert_eq!(said.len(), 10);
        for turn in 1..=5 {
            let (fork, other) = (format!("fork{turn}"), format!("left{turn}"));
            let at = turn.to_string();
            let run = home
                .cogtrix(&[
                    "-c",
                    "test.yaml",
                    "sessions",
                    "fork",
                    "whole",
                    &fork,
                    "--at",
                    &at,
                ])
                .run();
            assert_eq!(run.code, Some(0), "{run}");
            assert_eq!(home.said(&fork), said[..2 * turn], "{mode}, turn {turn}");

            lines(&home, &other, mode, up_to(turn));
            let noted = ["code", "reasoning", "conversation"].map(|mode| format!("/memory {mode}"));
            let noted = noted.each_ref().map(String::as_str);
            let (forked, left) = (
                lines(&home, &fork, mode, &noted),
                lines(&home, &other, mode, &noted),
            );
            assert_eq!(
                unnumbered(&home.normal(&forked)),
                unnumbered(&home.normal(&left)),
                "{mode}, turn {turn}"
            );

            let asked = lines(&home, &fork, mode, &["And now?", "/context proof"]);
            assert!(asked.contains("cranes"), "{asked}");
            let sent = server.chats().pop().unwrap().body.to_string();
            assert_eq!(sent.contains("rotation is on Fridays"), turn >= 2, "{sent}");
            let undone = "The deadline of the harbour";
            assert_eq!(
                sent.contains(undone),
                turn == 3,
                "{mode}, turn {turn}: {sent}"
            );
        }
        assert_eq!(files_of(&home, "whole"), before, "{mode}");
    }
}

#[test]
fn a_chat_goes_on_in_the_fork() {
    let (home, _server) = home();
    let told = lines(
        &home,
        "work",
        "code",
        &[
            "one",
            "two",
            "three",
            "/history",
            "/fork",
            "four",
            "/session work-fork",
            "/fork 2",
            "/fork plan b 1",
            "/info",
        ],
    );
    assert!(told.contains("[3] You, "), "{told}");
    for expected in [
        "Session work copied to work-fork (6 messages); `/session work` goes back",
        "Session work-fork up to turn 2 copied to work-fork-2 (4 messages)",
        "Session work-fork-2 up to turn 1 copied to plan b (2 messages)",
        "session   plan b",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    assert_eq!(home.said("work-fork").len(), 8);
    assert_eq!(home.said("work").len(), 6);
    assert_eq!(home.said("work-fork-2"), home.said("work")[..4]);
}

#[test]
fn a_fork_counts_as_the_session_used_last() {
    let (home, _server) = home();
    lines(&home, "made", "code", &["one"]);
    for (name, year) in [("old", 2020), ("newer", 2021)] {
        let said =
            format!(r#"[{{"role":"user","content":"one","timestamp":"{year}-02-14T15:23:05Z"}}]"#);
        home.write(home.history(&format!("{name}.json")), &said);
    }
    let listed = || {
        let run = home.cogtrix(&["-c", "test.yaml", "sessions"]).run();
        let rows = run.stdout.lines().skip(1).map(str::to_owned);
        let names = rows.filter_map(|row| row.split_whitespace().next().map(str::to_owned));
        names.filter(|name| name != "made").collect::<Vec<_>>()
    };
    assert_eq!(listed(), ["newer", "old"]);
    let fork = ["-c", "test.yaml", "sessions", "fork", "old", "copy"];
    let run = home.cogtrix(&fork).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(listed(), ["copy", "newer", "old"]);
}

#[test]
fn what_cannot_be_forked_is_refused_and_nothing_is_written() {
    let (home, _server) = home();
    lines(&home, "work", "code", &["one"]);
    lines(&home, "other", "code", &["one"]);
    let before = Home::files(&home.data().join("history"));
    for (arguments, error) in [
        (
            &["work", "new", "--at", "2"][..],
            "error: session work has no such turn",
        ),
        (&["work", "other"], "error: session other already exists"),
        (&["nobody", "new"], "error: no session nobody"),
        (&["work", "../new"], "error: session name"),
    ] {
        let run = home
            .cogtrix(&["-c", "test.yaml", "sessions", "fork"])
            .args(arguments)
            .run();
        assert_ne!(run.code, Some(0), "{run}");
        assert!(run.stderr.starts_with(error), "{run}");
    }
    for (line, error) in [
        ("/fork new 7", "no such turn"),
        ("/fork other", "error: session other already exists"),
    ] {
        let run = home.lines("work", &[line]);
        assert!(run.stderr.contains(error), "{run}");
    }
    assert_eq!(Home::files(&home.data().join("history")), before);
}

#[test]
fn a_renamed_session_keeps_everything() {
    let (home, _server) = home();
    lines(
        &home,
        "draft",
        "code",
        &["/task Write it", "I prefer tabs to spaces."],
    );
    let run = home
        .cogtrix(&["-c", "test.yaml", "sessions", "rename", "draft", "final"])
        .run();
    assert_eq!(run.stdout, "Renamed session draft to final\n", "{run}");
    assert!(files_of(&home, "draft").is_empty());
    let told = lines(&home, "final", "code", &["/task", "/history"]);
    assert!(
        told.contains("Write it") && told.contains("tabs to spaces"),
        "{told}"
    );
    for (from, to, error) in [
        ("draft", "x", "error: no session draft"),
        ("final", "final", ""),
    ] {
        let run = home
            .cogtrix(&["-c", "test.yaml", "sessions", "rename", from, to])
            .run();
        assert!(run.stderr.starts_with(error), "{run}");
    }
}

#[test]
fn a_deleted_session_comes_back_as_it_was() {
    let (home, _server) = home();
    lines(
        &home,
        "old",
        "code",
        &["/task Write it", "one", "/pin Keep this"],
    );
    let before = files_of(&home, "old");
    let sessions = |arguments: &[&str]| {
        home.cogtrix(&["-c", "test.yaml", "sessions"])
            .args(arguments)
            .run()
    };
    let run = sessions(&["delete", "old"]);
    assert!(
        run.stdout
            .contains("; `cogtrix sessions restore old` brings it back"),
        "{run}"
    );
    assert!(!home.history("old.json").exists());
    // Another of its name is in the way, and is the one that comes back first when it is deleted, too.
    lines(&home, "old", "code", &["two"]);
    let run = home.lines("old", &["/sessions restore old"]);
    let open = "error: session old already exists, so none of that name can be restored\nhint: rename that one first (`/rename` in old)";
    assert!(run.stderr.contains(open), "not open elsewhere: {run}");
    let run = sessions(&["restore", "old"]);
    assert!(
        run.stderr.starts_with("error: session old already exists"),
        "{run}"
    );
    assert_eq!(sessions(&["rename", "old", "other"]).code, Some(0));
    assert_eq!(
        sessions(&["restore", "old"]).stdout,
        "Session old is back; `cogtrix -s old` opens it\n"
    );
    assert_eq!(files_of(&home, "old"), before);
    let run = sessions(&["restore", "old"]);
    assert!(
        run.stderr.starts_with("error: session old already exists"),
        "{run}"
    );
    let run = sessions(&["restore", "nobody"]);
    assert!(
        run.stderr
            .starts_with("error: no session nobody in the trash"),
        "{run}"
    );
    let told = home.lines(
        "other",
        &["/delete old", "y", "/sessions restore old", "/session old"],
    );
    assert!(
        told.stdout
            .contains("; `/sessions restore old` brings it back"),
        "{told}"
    );
    assert!(
        told.stdout
            .contains("Session old is back; `/session old` opens it"),
        "{told}"
    );
    assert!(told.stdout.contains("Resumed old (2 messages"), "{told}");
}

#[test]
fn notes_kept_elsewhere_come_back_with_their_session() {
    let home = Home::new();
    let server = Script::answering(|_| say("Noted.")).serve();
    let elsewhere = home.work().join("notes");
    let path = elsewhere.display();
    home.config(
        &server,
        &format!("embedding: {{provider: none}}\nmemory: {{path: {path}}}"),
    );
    lines(
        &home,
        "s",
        "conversation",
        &["I prefer green tea to coffee."],
    );
    let state = elsewhere.join("sessions/s/SESSION-STATE.md");
    let before = std::fs::read(&state).unwrap();
    let run = home
        .cogtrix(&["sessions", "fork", "s", "t", "-c", "test.yaml"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let copy = elsewhere.join("sessions/t/SESSION-STATE.md");
    assert_eq!(std::fs::read(&copy).unwrap(), before);
    for command in ["delete", "restore"] {
        let run = home
            .cogtrix(&["sessions", command, "s", "-c", "test.yaml"])
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        assert_eq!(state.exists(), command == "restore");
    }
    assert_eq!(std::fs::read(&state).unwrap(), before);
    let told = home.lines("other", &["/delete s", "y", "/sessions restore s"]);
    assert!(told.stdout.contains("Its notes moved to "), "{told}");
    assert_eq!(std::fs::read(&state).unwrap(), before);
}

#[test]
fn of_several_deleted_sessions_of_a_name_any_can_be_brought_back() {
    let (home, _server) = home();
    let sessions = |arguments: &[&str]| {
        home.cogtrix(&["-c", "test.yaml", "sessions"])
            .args(arguments)
            .run()
    };
    for (time, said) in [("20260102T030405Z", "one"), ("20260203T040506Z", "two")] {
        lines(&home, "old", "code", &[said]);
        assert_eq!(sessions(&["delete", "old"]).code, Some(0));
        let trash = home.data().join("trash");
        let made = std::fs::read_dir(&trash).unwrap().map(|it| it.unwrap());
        let made = made.max_by_key(std::fs::DirEntry::file_name).unwrap();
        std::fs::rename(made.path(), trash.join(format!("{time}-old"))).unwrap();
    }
    lines(&home, "old", "code", &["three"]);
    assert_eq!(sessions(&["delete", "old"]).code, Some(0));
    let run = sessions(&["restore", "old", "--from", "2027"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.stderr
            .starts_with("error: no session old from that time in the trash\nhint: deleted: 2"),
        "{run}"
    );
    let run = sessions(&["restore", "old"]);
    assert_eq!(
        run.stdout,
        "Session old is back; `cogtrix -s old` opens it\n\
         2 other sessions of this name in the trash, deleted 2026-02-03T04:05:06Z, 2026-01-02T03:04:05Z; \
         rename this one, then `cogtrix sessions restore old --from 2026-02-03T04:05:06Z`\n"
    );
    assert_eq!(home.said("old")[0], "user: three");
    assert_eq!(sessions(&["rename", "old", "newest"]).code, Some(0));
    let run = sessions(&["restore", "old", "--from", "2026-01-02"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(home.said("old")[0], "user: one");
    // In a chat too.
    let told = home.lines(
        "other",
        &[
            "/delete old",
            "y",
            "/sessions restore old --from 2026-02-03T04:05:06Z",
        ],
    );
    assert!(told.stdout.contains("`/session old` opens it"), "{told}");
    assert!(
        told.stdout.contains("1 other session of this name"),
        "{told}"
    );
    assert_eq!(home.said("old")[0], "user: two");
}

#[test]
fn a_fork_has_the_outputs_its_own_turns_name_and_no_others() {
    let (home, _server) = home();
    let digests = ["a".repeat(64), "b".repeat(64), "c".repeat(64)];
    let said = [&digests[0], &digests[1]].map(|digest| format!("whole output in {digest}"));
    lines(&home, "s", "code", &[&said[0], &said[1]]);
    for digest in &digests {
        home.write(home.history("s_outputs").join(digest), "bytes");
    }
    for (name, up_to) in [("t", "--at=1"), ("u", "--at=2")] {
        let args = ["-c", "test.yaml", "sessions", "fork", "s", name, up_to];
        let run = home.cogtrix(&args).run();
        assert_eq!(run.code, Some(0), "{run}");
        let copied = Home::files(&home.history(&format!("{name}_outputs")));
        let expected = if name == "t" { 1 } else { 2 };
        assert_eq!(copied.len(), expected, "{name}: {copied:?}");
        assert!(copied.keys().all(|file| !file.ends_with(&digests[2])));
    }
}

#[test]
fn what_is_forgotten_is_forgotten_in_forks_too() {
    let (home, server) = home();
    lines(
        &home,
        "s",
        "conversation",
        &["I prefer green tea to coffee.", "/fork t"],
    );
    let run = home.lines("other", &["/memory forget green tea", "y"]);
    assert_eq!(run.code, Some(0), "{run}");
    for session in ["s", "t"] {
        lines(&home, session, "conversation", &["And now?"]);
        let sent = server.chats().pop().unwrap().body.to_string();
        assert!(!sent.contains("green tea"), "{session}: {sent}");
    }
    let files = Home::files(&home.data().join("workspace/sessions"));
    for (name, bytes) in files {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("green tea"), "{}: {text}", name.display());
    }
}

#[test]
fn a_restore_that_is_killed_at_any_write_is_finished_by_the_next_run() {
    let (home, _server) = home();
    lines(
        &home,
        "old",
        "code",
        &["/task Write it", "one", "/pin Keep this"],
    );
    let before = files_of(&home, "old");
    let mut kills = 0;
    for n in 1..60 {
        let sessions = |arguments: &[&str]| {
            home.cogtrix(&["-c", "test.yaml", "sessions"])
                .args(arguments)
                .run()
        };
        assert_eq!(sessions(&["delete", "old"]).code, Some(0));
        let killed = sessions(&["restore", "old", "--fault", &format!("kill-before@{n}")]);
        let list = sessions(&["list"]);
        if !list.stdout.contains("old ") {
            assert_eq!(sessions(&["restore", "old"]).code, Some(0));
        }
        assert_eq!(files_of(&home, "old"), before, "killed before write {n}");
        if killed.code == Some(0) {
            break;
        }
        kills += 1;
    }
    assert!(kills > 3, "{kills}");
}
