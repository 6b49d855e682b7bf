//! The person owns memory: what was captured is told, listed, explained and taken back; entries go to a file and come back;
//! in a chat and from the command line, also at once.

use std::path::{Path, PathBuf};

use cogtrix::files::{Disk, LocalDisk};
use cogtrix::testing::server::{Script, Server, say};
use serde_json::Value;

use crate::support::home::Home;
use crate::support::run::Run;

const TEA: &str = "I prefer tea over coffee";

fn chatty() -> Server {
    Script::answering(|_| say("Noted.")).serve()
}

fn home(server: &Server) -> Home {
    let home = Home::new();
    home.config(server, "embedding: {provider: none}");
    home
}

fn memory(home: &Home, args: &[&str]) -> Run {
    let args = [&["memory"], args].concat();
    home.cogtrix(&args).run()
}

fn workspace(home: &Home, file: &str) -> PathBuf {
    home.data().join("workspace").join(file)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The files that hold what was captured in session `s`.
fn captured(home: &Home) -> [String; 2] {
    ["MEMORY.md", "sessions/s/SESSION-STATE.md"].map(|file| read(&workspace(home, file)))
}

#[test]
fn a_run_of_one_prompt_says_which_command_takes_a_capture_back() {
    let server = chatty();
    let home = home(&server);
    let run = home.ask("s", TEA);
    let receipt = "· cogtrix memory forget 1\n";
    assert!(run.stderr.contains(receipt), "{run}");
}

#[test]
fn what_is_forgotten_leaves_both_files_and_the_next_request() {
    let server = chatty();
    let home = home(&server);
    let run = home.lines("s", &[TEA]);
    assert!(run.stderr.contains("/memory forget 1"), "{run}");
    let mark = "**preference**";
    assert!(captured(&home).iter().all(|text| text.contains(mark)));
    let run = home.lines("s", &["/undo", "hello"]);
    let before = server.chats().last().unwrap().body.to_string();
    assert!(before.contains(mark), "{run}{before}");

    let run = home.lines("s", &["/memory forget 1", "hello again", "/memory list"]);
    let told = format!(
        "Forgotten: {TEA}\nStill in history; `/forget 1 --redact` removes it there.\nNoted.\n"
    );
    assert!(run.stdout.starts_with(&told), "{run}");
    assert!(run.stdout.contains("Nothing saved yet"), "{run}");
    assert!(!captured(&home).concat().contains(mark));
    let after = server.chats().last().unwrap().body.to_string();
    assert!(
        after.contains("hello again") && !after.contains(mark),
        "{after}"
    );
    let run = home.lines("s", &["/memory forget 1"]);
    assert!(
        run.stderr.contains("number 1 was already forgotten"),
        "{run}"
    );
}

#[test]
fn what_is_forgotten_leaves_the_days_notes_and_the_scratchpad_and_what_stays_is_named() {
    // Once, facts and the day's notes kept what was forgotten, and were merely named.
    let said = format!("Please note that {TEA}. And book the ferry for Friday.");
    for front in ["chat", "shell"] {
        let server = chatty();
        let home = home(&server);
        home.lines("s", &[&said, "hello there", "how are you?"]);
        let scratchpad = || read(&home.history("s_scratchpad.json"));
        let notes = || {
            let files = Home::files(&home.data().join("workspace"));
            let texts = files.into_values().map(|it| String::from_utf8(it).unwrap());
            texts.collect::<String>()
        };
        assert!(scratchpad().contains(TEA), "{}", scratchpad());
        assert!(notes().matches(TEA).count() >= 4, "{}", notes());
        let run = if front == "chat" {
            home.cogtrix(&["-v", "-c", "test.yaml", "-s", "s", "--lines"])
                .stdin("/memory forget 1\n/scratch\n")
                .run()
        } else {
            memory(&home, &["forget", "1", "-v"])
        };
        let gone = run
            .stdout
            .lines()
            .find(|line| line.starts_with("Removed from "));
        let gone = gone.unwrap_or_else(|| panic!("{run}"));
        for place in ["requests", "the scratchpad", ", memory/", ", MEMORY.md"] {
            assert!(gone.contains(place), "{place}: {gone}");
        }
        assert!(run.stdout.contains("Still in history; `"), "{run}");
        assert!(!notes().contains(TEA), "{}", notes());
        assert!(
            notes().contains("[forgotten]. And book the ferry"),
            "{}",
            notes()
        );
        assert!(!scratchpad().contains(TEA), "{}", scratchpad());
        assert!(home.said("s").concat().contains(TEA));
    }
}

#[test]
fn forgetting_a_changed_preference_brings_back_the_one_before_it() {
    let server = chatty();
    let home = home(&server);
    home.lines("s", &["I prefer dark mode.", "I prefer light mode."]);
    assert!(
        captured(&home)[0].contains("(superseded "),
        "{}",
        captured(&home)[0]
    );
    let run = memory(&home, &["forget", "2"]);
    let told = "MEMORY.md: restored what it had replaced: **preference**: I prefer dark mode";
    assert!(run.stdout.contains(told), "{run}");
    let memory = &captured(&home)[0];
    assert!(
        memory.contains("\n- **preference**: I prefer dark mode"),
        "{memory}"
    );
    assert!(!memory.contains("light"), "{memory}");
}

#[test]
fn what_was_captured_of_a_turn_that_is_taken_back_is_named_and_stays() {
    let server = chatty();
    let home = home(&server);
    let run = home.lines("s", &[TEA, "hello", "/undo", "/undo"]);
    let (first, second) = run.stdout.split_once("Undone: I prefer").unwrap();
    let named = "still in memory (preference): I prefer tea over coffee · /memory forget 1\n";
    assert!(!first.contains(named) && second.contains(named), "{run}");
    assert!(captured(&home).concat().contains("tea over coffee"));
    // The same place in a session that was begun anew.
    let run = home.lines("s", &["/clear", "y", "hello", "/memory forget 1", "/undo"]);
    assert!(!run.stdout.contains("still in memory"), "{run}");
}

#[test]
fn a_session_that_is_deleted_takes_its_notes_along_wherever_they_are() {
    let server = chatty();
    let home = home(&server);
    let elsewhere = home.work().join("notes");
    let path = elsewhere.display();
    home.config(
        &server,
        &format!("embedding: {{provider: none}}\nmemory: {{path: {path}}}"),
    );
    let state = elsewhere.join("sessions/s/SESSION-STATE.md");
    let deletions: [&dyn Fn() -> Run; 2] = [
        &|| {
            home.cogtrix(&["sessions", "delete", "s", "-c", "test.yaml"])
                .run()
        },
        &|| home.lines("other", &["/delete s", "y"]),
    ];
    for delete in deletions {
        home.lines("s", &[TEA]);
        assert!(state.exists());
        let run = delete();
        assert!(run.stdout.contains("Its notes moved to "), "{run}");
        assert!(!state.exists(), "{run}");
    }
    let put_away = Home::files(&elsewhere.join("trash"));
    assert_eq!(put_away.len(), 2, "{put_away:?}");
    home.lines("s", &["hello"]);
    let request = server.chats().last().unwrap().body.to_string();
    assert!(!request.contains("sessions/s"), "{request}");
    assert!(!state.exists());
}

#[test]
fn what_was_captured_is_forgotten_also_when_its_session_has_another_name() {
    let server = chatty();
    let home = home(&server);
    home.lines("s", &[TEA, "/rename t"]);
    let run = home.lines("t", &["/memory forget 1"]);
    assert!(run.stdout.starts_with("Forgotten: "), "{run}");
    let state = read(&workspace(&home, "sessions/t/SESSION-STATE.md"));
    assert!(!state.is_empty() && !state.contains("tea"), "{state}");
}

#[test]
fn of_a_line_that_a_person_wrote_more_on_only_what_was_captured_goes() {
    let server = chatty();
    let home = home(&server);
    home.lines("s", &[TEA]);
    let path = workspace(&home, "MEMORY.md");
    let changed = read(&path).replace("coffee", "coffee, but only in the morning");
    LocalDisk.replace(&path, changed.as_bytes()).unwrap();
    let run = memory(&home, &["forget", "1", "-v"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stdout
            .contains("sessions/s/SESSION-STATE.md, MEMORY.md"),
        "{run}"
    );
    let left = read(&path);
    assert!(
        left.contains("[forgotten], but only in the morning"),
        "{left}"
    );
    assert!(!left.contains("tea"), "{left}");
}

#[test]
fn why_names_the_message_that_put_a_fact_here() {
    let server = chatty();
    let home = home(&server);
    home.lines("s", &["hello", &format!("{TEA}.")]);
    let from = "session s, turn 2, 20";
    for (session, asked) in [
        ("s", "1"),
        ("s", "tea COFFEE"),
        ("other", "1"),
        ("other", "tea"),
    ] {
        let run = home.lines(session, &[&format!("/memory why {asked}")]);
        assert!(run.stdout.contains(from), "{asked}: {run}");
        assert!(run.stdout.contains(&format!("> {TEA}.")), "{asked}: {run}");
    }
    let run = memory(&home, &["show", "1"]);
    assert!(run.stdout.contains(from), "{run}");
    assert!(run.stdout.contains(&format!("> {TEA}.")), "{run}");
    assert!(
        run.stdout.contains("`cogtrix memory forget 1` removes it"),
        "{run}"
    );
}

#[test]
fn memory_is_listed_shown_and_forgotten_from_the_command_line() {
    let server = chatty();
    let home = home(&server);
    let add = ["/memory add db: Postgres", "/memory add db: MySQL"];
    home.lines("s", &[&[TEA], &add[..]].concat());
    let run = memory(&home, &["list"]);
    for words in [
        "project (remove with `cogtrix memory forget ID`)",
        "db: MySQL",
        "noted from your messages (remove with `cogtrix memory forget N`)",
        "    1  preference: ",
    ] {
        assert!(run.stdout.contains(words), "{run}");
    }
    let run = memory(&home, &["list", "--json"]);
    let all: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(all["captured"][0]["number"], 1);
    assert_eq!(all["captured"][0]["session"], "s");
    let id = all["entries"][0]["id"].as_str().unwrap();
    for name in [id, "db"] {
        let run = memory(&home, &["show", name]);
        assert!(run.stdout.starts_with("MySQL\n"), "{run}");
        assert!(run.stdout.contains(": Postgres"), "{run}");
    }
    let run = memory(&home, &["show", "MEMORY.md"]);
    assert_eq!(run.stdout, captured(&home)[0], "{run}");
    let run = memory(&home, &["forget", id]);
    assert!(run.stdout.starts_with("Forgotten: MySQL\n"), "{run}");
    let run = memory(&home, &["forget", "1"]);
    let told = format!(
        "Forgotten: {TEA}\nStill in history; `cogtrix memory forget 1 --redact` removes it there.\n"
    );
    assert_eq!(run.stdout, told, "{run}");
    let run = memory(&home, &["list"]);
    assert!(run.stdout.contains("Nothing saved yet"), "{run}");
}

#[test]
fn several_are_forgotten_at_once_and_one_that_cannot_be_stops_no_other() {
    let server = chatty();
    let home = home(&server);
    let kept = ["/memory add db: MySQL", "/memory add --global db: Postgres"];
    let said = [TEA, "Remember that the key rotates monthly."];
    home.lines("s", &[&said[..], &kept[..]].concat());
    let run = home.lines("s", &["/memory forget 2 77 1"]);
    for words in [
        "Forgotten: Remember that the key rotates monthly\n",
        "77: not forgotten: no note 77",
        "Forgotten: I prefer tea",
    ] {
        assert!(run.stdout.contains(words), "{words}: {run}");
    }
    // A key of two scopes: what is typed next is told, and it works.
    let run = memory(&home, &["forget", "db"]);
    assert_eq!(run.code, Some(1), "{run}");
    let hint = run.stderr.split("hint: ").nth(1).unwrap_or_default();
    assert_eq!(
        hint.matches("`cogtrix memory forget mem_").count(),
        2,
        "{run}"
    );
    let run = memory(&home, &["forget", "99", "db", "--scope", "global"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.stdout.contains("99: not forgotten: no note 99"),
        "{run}"
    );
    assert!(run.stdout.contains(": Postgres\n"), "{run}");
    let run = memory(&home, &["forget", "db"]);
    assert!(run.stdout.contains(": MySQL\n"), "{run}");
    let run = memory(&home, &["forget", "--help"]);
    for words in ["Numbers or ids", "--redact", "--project", "--scope"] {
        assert!(run.stdout.contains(words), "{words}: {run}");
    }
}

/// All was done, and yet it ended with an error.
#[test]
fn numbers_that_said_the_same_are_forgotten_together_without_an_error() {
    let server = chatty();
    let home = home(&server);
    home.lines("s", &[TEA]);
    home.lines("t", &[TEA]);
    let run = memory(&home, &["forget", "1", "2"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("Forgotten: I prefer tea"), "{run}");
    home.lines("s", &[TEA]);
    home.lines("t", &[TEA]);
    let run = home.lines("t", &["/memory forget 3 4"]);
    assert!(run.stdout.contains("Forgotten: I prefer tea"), "{run}");
    assert!(!run.stdout.contains("not forgotten"), "{run}");
    for session in ["s", "t"] {
        let state = format!("sessions/{session}/SESSION-STATE.md");
        assert!(!read(&workspace(&home, &state)).contains(TEA), "{session}");
    }
}

/// A mistyped word was looked for among the modes, and an option was kept as a text.
#[test]
fn a_mistyped_word_is_told_its_own_form_and_does_nothing() {
    let server = chatty();
    let home = home(&server);
    let long = "k".repeat(300);
    let long = format!("/scratch {long} x");
    for (line, expected) in [
        (
            "/memory lsit",
            "has no option \"lsit\"; did you mean `/memory list`?",
        ),
        ("/memory cod", "did you mean `/memory code`?"),
        (
            "/memory foo",
            "/memory has no option \"foo\"\nhint: `/help memory` lists them\n",
        ),
        ("/sessions all", "/sessions has no option \"all\""),
        (
            "/memory add",
            "usage: /memory add [--global|--session] [KEY:] TEXT",
        ),
        (
            "/memory forget",
            "usage: /memory forget N|2-8|ID|WORDS|last",
        ),
        ("/memory list some", "usage: /memory list [all]"),
        ("/memory paths x", "usage: /memory paths\n"),
        ("/memory add --globl x", "usage: /memory add [--global"),
        ("/memory rm --globl x", "usage: /memory rm KEY|ID"),
        ("/pin rm", "/pin takes a text; use `/unpin N`"),
        ("/pin rm 1", "/pin takes a text; use `/unpin N`"),
        (
            long.as_str(),
            "the key has 300 characters, the limit is 200",
        ),
        ("/memory edit", "cannot open an editor without a terminal"),
        ("/compact windw", "did you mean `/compact window`?"),
        ("/compact prefx", "did you mean `/compact prefix`?"),
    ] {
        let run = home.lines("s", &[line]);
        assert!(run.stderr.contains(expected), "{line}: {run}");
    }
    assert!(!workspace(&home, "MEMORY.md").exists());
    let run = home.lines("s", &["/memory list", "/pin", "/scratch"]);
    for words in ["Nothing saved yet", "No pins", "scratchpad is empty"] {
        assert!(run.stdout.contains(words), "{run}");
    }
}

#[test]
fn what_memory_does_not_hold_is_an_error_and_no_path_leads_out() {
    let server = chatty();
    let home = home(&server);
    home.lines("s", &[TEA]);
    let before = Home::files(&home.data());
    let huge = "9".repeat(400);
    for (args, expected) in [
        (["show", "7"], "no note 7"),
        (["forget", "0"], "no note 0"),
        (["forget", huge.as_str()], "no note 99"),
        (["forget", "-1"], "unexpected argument"),
        (["forget", "nothing"], "No match for nothing."),
        (
            ["show", "../../etc/passwd"],
            "no entry, note or file \"../../etc/passwd\"",
        ),
        (["show", "/etc/passwd"], "no entry, note or file"),
        (["show", "memories/../../x"], "no entry, note or file"),
        (["show", "USER.md"], "file USER.md does not exist yet"),
        (["show", ""], "no entry, note or file \"\""),
    ] {
        let run = memory(&home, &args);
        let code = if args[1] == "-1" { 2 } else { 1 };
        assert_eq!(run.code, Some(code), "{run}");
        assert!(run.to_string().contains(expected), "{args:?}: {run}");
        assert!(!run.to_string().contains("root:"), "{run}");
    }
    let run = home.lines(
        "t",
        &[
            "/memory show ../../etc/passwd",
            "/memory edit ../../etc/passwd",
            "/memory forget",
            "/memory forget 99999999999999999999999",
            "/memory why",
            "/memory list everything",
            "/memory edit 2026-02-14",
        ],
    );
    assert_eq!(run.stderr.matches("error: ").count(), 7, "{run}");
    assert!(!run.to_string().contains("root:"), "{run}");
    for (file, content) in before {
        assert_eq!(
            std::fs::read(home.data().join(&file)).unwrap(),
            content,
            "{file:?}"
        );
    }
}

#[test]
fn layers_and_paths_say_where_memory_is_and_how_large() {
    let server = chatty();
    let home = home(&server);
    let run = home.lines("s", &[TEA, "/memory layers", "/memory paths"]);
    let size = std::fs::metadata(workspace(&home, "MEMORY.md"))
        .unwrap()
        .len();
    let line = format!("{size} B  {}", workspace(&home, "MEMORY.md").display());
    assert!(run.stdout.contains(&line), "{run}");
    for layer in [
        "core ",
        "episodic ",
        "semantic ",
        "short-term ",
        "long-term ",
        "workspace ",
    ] {
        let begins = run.stdout.lines().any(|line| line.starts_with(layer));
        assert!(begins, "{layer}: {run}");
    }
    let receipts = home.data().join("memory/receipts.jsonl");
    let line = format!("receipts          {}\n", receipts.display());
    assert!(run.stdout.contains(&line), "{run}");
}

#[test]
fn entries_go_to_a_file_and_come_back_as_they_were_however_often() {
    let server = chatty();
    let home = home(&server);
    home.lines(
        "s",
        &[
            "/memory add db: Postgres",
            "/memory add db: MySQL",
            "/memory add --global editor: helix",
            "/memory add deploy uses fly.io",
        ],
    );
    let run = memory(&home, &["export", "all.jsonl"]);
    assert!(
        run.stderr.contains("3 entries written to all.jsonl"),
        "{run}"
    );
    let run = memory(&home, &["export", "all.jsonl"]);
    assert_eq!(run.code, Some(1), "a file that is there stays: {run}");
    let kept = read(&home.work().join("all.jsonl"));
    assert_eq!(memory(&home, &["export"]).stdout, kept);

    // Into the same: nothing changes.
    let before = Home::files(&home.data().join("memory"));
    let import = ["import", "--format", "entries", "all.jsonl"];
    let run = memory(&home, &import);
    let same = "0 entries added, 0 updated, 3 unchanged\n";
    assert_eq!(run.stdout, same, "{run}");
    assert_eq!(Home::files(&home.data().join("memory")), before);

    // What was forgotten comes back; into nothing all of it does.
    memory(&home, &["forget", "db"]);
    let run = memory(&home, &import);
    assert!(run.stdout.starts_with("1 entry added"), "{run}");
    std::fs::rename(home.data(), home.home().join("old")).unwrap();
    let run = memory(&home, &import);
    assert!(run.stdout.starts_with("3 entries added"), "{run}");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&memory(&home, &["export"]).stdout), sorted(&kept));

    // A file of entries as it is on disk, for all projects.
    let run = memory(
        &home,
        &["import", "--format", "entries", "--global", "all.jsonl"],
    );
    assert!(run.stdout.starts_with("2 entries added"), "{run}");
    let file = home.home().join("old/memory/global.json");
    let file = file.to_str().unwrap();
    let run = memory(&home, &["import", "--format", "entries", file]);
    assert!(run.stdout.contains("1 unchanged"), "{run}");
}

#[test]
fn a_file_of_entries_with_something_wrong_in_it_is_refused_whole_with_every_line() {
    let server = chatty();
    let home = home(&server);
    home.write(
        "bad.jsonl",
        "{\"content\": \"fine\"}\n\nnot json\n{\"content\": \"\"}\n{\"content\": \"x\", \"type\": \"team\"}\n\
         {\"content\": \"x\", \"id\": \"1\"}\n[1]\n",
    );
    let run = memory(&home, &["import", "--format", "entries", "bad.jsonl"]);
    assert_eq!(run.code, Some(1), "{run}");
    for words in [
        "bad.jsonl:3: not JSON",
        "bad.jsonl:4: no \"content\"",
        "bad.jsonl:5: invalid \"type\": \"team\"",
        "bad.jsonl:6: invalid \"id\": \"1\"",
        "bad.jsonl:7: not an object",
        "nothing was imported: 5 lines of bad.jsonl are invalid",
    ] {
        assert!(run.stderr.contains(words), "{run}");
    }
    assert!(
        memory(&home, &["list"])
            .stdout
            .contains("Nothing saved yet")
    );
    home.write("bad.json", "{\"entries\": [{\"content\": \"fine\"}, 7]}");
    let run = memory(&home, &["import", "--format", "entries", "bad.json"]);
    assert!(
        run.stderr.contains("bad.json, entry 2: not an object"),
        "{run}"
    );
    home.write("bin", b"\xff\x00\xfe");
    let run = memory(&home, &["import", "--format", "entries", "bin"]);
    assert!(run.stderr.contains("bin:1: not JSON"), "{run}");
    let run = memory(&home, &["import", "--format", "entries", "none"]);
    assert!(run.stderr.contains("cannot read none"), "{run}");
    let run = memory(&home, &["import", "--global", "bad.jsonl"]);
    assert_eq!(run.code, Some(2), "{run}");
    home.write("secret", "{\"content\": \"password: q8R2wlZk71Xd\"}");
    let run = home
        .cogtrix(&["memory", "import", "--format", "entries", "-"])
        .stdin(read(&home.work().join("secret")))
        .run();
    assert!(
        run.stderr.contains("Secrets were removed from 1 entry"),
        "{run}"
    );
    assert!(!memory(&home, &["export"]).stdout.contains("q8R2"));
}

#[test]
fn an_open_chat_and_the_command_line_lose_nothing_of_each_other() {
    let server = chatty();
    let home = home(&server);
    home.write(
        "two.jsonl",
        "{\"content\": \"imported\", \"key\": \"two\"}\n",
    );
    let args = ["-c", "test.yaml", "-s", "s", "--lines"];
    let mut chat = home.cogtrix(&args).open_stdin().start();
    chat.say(TEA);
    chat.wait_for("Noted.");
    chat.say("/memory add one: waits to be written");
    chat.wait_for("Kept: mem_");
    let run = memory(&home, &["import", "--format", "entries", "two.jsonl"]);
    assert!(run.stdout.starts_with("1 entry added"), "{run}");
    let run = memory(&home, &["forget", "1"]);
    assert!(run.stdout.contains("Forgotten: "), "{run}");
    chat.say("I live in Lisbon and I prefer trains over planes");
    chat.wait_for_notice("/memory forget 2");
    chat.wait_for_times("Noted.", 2);
    chat.say("/memory list");
    chat.wait_for("two: imported");
    chat.say("/memory rm two");
    chat.wait_for("Removed (project): imported");
    chat.say("/memory add three: said at the end");
    chat.wait_for_times("Kept: mem_", 2);
    assert_eq!(chat.wait().code, Some(0));
    let run = memory(&home, &["list"]);
    for (words, expected) in [
        ("one: waits to be written", true),
        ("two: imported", false),
        ("three: said at the end", true),
        ("trains", true),
        (TEA, false),
    ] {
        assert_eq!(run.stdout.contains(words), expected, "{words}: {run}");
    }
    let memory = read(&workspace(&home, "MEMORY.md"));
    assert!(
        memory.contains("trains") && !memory.contains("tea over"),
        "{memory}"
    );
}

#[test]
fn many_at_once_from_the_command_line_all_arrive() {
    let server = chatty();
    let home = home(&server);
    let runs: Vec<_> = (0..6)
        .map(|n| {
            let file = format!("{n}.jsonl");
            let key = format!("{{\"content\": \"number {n} of them\", \"key\": \"k{n}\"}}\n");
            home.write(&file, key);
            home.cogtrix(&["memory", "import", "--format", "entries", &file])
                .start()
        })
        .collect();
    for run in runs {
        let run = run.wait();
        assert_eq!(run.code, Some(0), "{run}");
    }
    let run = memory(&home, &["export"]);
    assert_eq!(run.stdout.lines().count(), 6, "{run}");
}

#[test]
fn a_private_session_lists_and_forgets_what_it_captured_and_leaves_no_receipt() {
    let server = chatty();
    let home = home(&server);
    home.lines("before", &["I prefer trains over planes"]);
    let before = Home::files(&home.data());
    let run = home
        .cogtrix(&["-c", "test.yaml", "--private", "--lines"])
        .stdin(format!(
            "{TEA}\n/memory list\n/memory why tea\n/memory forget 2\n/memory forget 1\n/memory edit\n"
        ))
        .run();
    assert!(run.stdout.contains("    2  preference: "), "{run}");
    assert!(run.stdout.contains(&format!("> {TEA}")), "{run}");
    assert!(run.stdout.contains("Forgotten: "), "{run}");
    assert!(
        run.stderr.contains("a private session cannot edit files"),
        "{run}"
    );
    assert_eq!(Home::files(&home.data()), before, "{run}");
    let run = home.cogtrix(&["--private", "memory", "forget", "1"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(Home::files(&home.data()), before, "{run}");
}
