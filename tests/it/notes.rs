//! What the modes note: by hand and from what is said, in requests, on disk, and in `/memory`.

use cogtrix::testing::server::{Request, Script, Server, say};
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::in_order;
use crate::support::run::Run;

fn chatty() -> Server {
    Script::answering(|_| say("Noted.")).serve()
}

/// A home whose sessions begin in this mode.
fn home(server: &Server, mode: &str) -> Home {
    let home = Home::new();
    home.config(server, &format!("memory: {{mode: {mode}}}"));
    home
}

/// System texts of the chats, in order.
fn systems(server: &Server) -> Vec<String> {
    server.chats().iter().map(Request::system).collect()
}

fn state(home: &Home, session: &str) -> Value {
    let file = home.history(&format!("{session}_mode_state.json"));
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn entries(state: &Value, mode: &str, section: &str) -> Vec<String> {
    let entries = state["modes"][mode]["sections"][section]["entries"].as_array();
    let texts = entries.into_iter().flatten().map(|entry| &entry["text"]);
    texts
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

fn answers(run: &Run) -> Vec<&str> {
    run.stdout
        .lines()
        .filter(|line| *line != "Noted.")
        .collect()
}

#[test]
fn a_plan_set_by_hand_stands_in_the_request_in_its_order() {
    let server = chatty();
    let home = home(&server, "reasoning");
    let run = home.lines(
        "p",
        &[
            "/goal launch in Portugal",
            "/goal find a partner",
            "/phase research",
            "/constraint Budget: $50k",
            "/constraint Budget: $60k",
            "/decide PostgreSQL :: it has JSON",
            "/reject MongoDB :: nobody knows it",
            "/assume demand holds",
            "/note chain so we need a bank",
            "/note question who signs?",
            "What next?",
        ],
    );
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        answers(&run)[..2],
        [
            "Objective: launch in Portugal",
            "Goal #1: find a partner (pending)"
        ]
    );
    let system = &systems(&server)[0];
    in_order(
        system,
        &[
            "You are a strategic advisor",
            "Objective: launch in Portugal",
            "Phase: research",
            "#1 find a partner (pending)",
            "- Budget: $60k",
            "#1 PostgreSQL (because it has JSON)",
            "- MongoDB (rejected; because nobody knows it)",
            "- demand holds",
            "- so we need a bank",
            "- who signs?",
        ],
    );
    assert!(!system.contains("$50k"), "the same label replaces");
    assert_eq!(
        entries(&state(&home, "p"), "reasoning", "constraints"),
        ["$60k"]
    );
}

#[test]
fn a_section_leaves_the_request_when_it_went_untouched_and_comes_back() {
    let server = chatty();
    let home = home(&server, "reasoning");
    home.lines("p", &["/goal win", "one", "/decide tabs"]);
    // The decision belongs to turn 2; with 3 turns it is sent up to turn 5, resumed or not.
    home.lines("p", &["two", "three"]);
    let run = home.lines(
        "p",
        &["four", "five", "six", "/memory", "/decide tabs", "seven"],
    );
    let sent: Vec<bool> = systems(&server)
        .iter()
        .map(|system| system.contains("#1 tabs"))
        .collect();
    assert_eq!(sent, [false, true, true, true, true, false, true]);
    assert!(
        systems(&server)
            .iter()
            .all(|system| system.contains("Objective: win"))
    );
    assert!(
        run.stdout
            .contains("Decisions (1 of 20): not sent, unchanged for 5 turns"),
        "{run}"
    );
}

#[test]
fn with_no_stale_turns_a_section_is_sent_only_in_the_turn_that_touched_it() {
    let home = Home::new();
    let server = chatty();
    home.config(
        &server,
        "memory: {mode: reasoning, modes: {reasoning: {prefix_max_stale_turns: 0}}}",
    );
    home.lines("p", &["/decide tabs", "one", "two"]);
    let sent: Vec<bool> = systems(&server)
        .iter()
        .map(|system| system.contains("#1 tabs"))
        .collect();
    assert_eq!(sent, [true, false]);
}

#[test]
fn what_is_set_by_hand_survives_switching_resuming_and_an_empty_session() {
    let server = chatty();
    let home = home(&server, "code");
    home.lines("w", &["/task Fix the login", "/note file src/auth.py"]);
    home.lines(
        "w",
        &["/mode reasoning", "/goal ship", "one", "/mode code", "two"],
    );
    let systems = systems(&server);
    assert!(systems[0].contains("Objective: ship") && !systems[0].contains("Fix the login"));
    in_order(
        &systems[1],
        &["expert programmer", "Task: Fix the login", "src/auth.py"],
    );
}

#[test]
fn commands_work_in_any_mode_and_say_where_the_note_went() {
    let server = chatty();
    let home = home(&server, "conversation");
    let run = home.lines("w", &["/task Fix it", "/task", "/goal", "/memory code"]);
    assert_eq!(
        answers(&run)[..5],
        [
            "Task: Fix it (kept for code mode)",
            "Task: Fix it",
            "No objective yet",
            "No goal yet",
            "code mode, notes from 0 turns",
        ]
    );
}

#[test]
fn done_closes_a_goal_by_number_or_words_and_a_task_by_itself() {
    let server = chatty();
    let home = home(&server, "reasoning");
    let lines = [
        "/goal win",
        "/goal find a bank",
        "/goal find a partner",
        "/done 1",
        "/done partner",
        "/done find",
        "/done 7",
        "/goal 1 blocked",
        "/goal 2",
        "/goal #2 soon",
        "/mode code",
        "/done",
        "/task Fix it",
        "/done",
        "/task",
        "/done wrote the docs",
    ];
    let run = home.lines("w", &lines);
    let shown = format!("{}{}", run.stdout, run.stderr);
    for expected in [
        "Goal #1: find a bank (completed)",
        "Goal #2: find a partner (completed)",
        "several goals match \"find\"\nhint: use the number",
        "no goal 7",
        "available: 1, 2; `/memory` shows them",
        "Goal #1: find a bank (blocked)",
        "/done needs a text: no task is set",
        "Progress #1: Fix it",
        "No task yet",
        "Progress #2: wrote the docs",
    ] {
        assert!(shown.contains(expected), "{expected}:\n{run}");
    }
}

#[test]
fn dropping_asks_before_it_takes_a_whole_section() {
    let server = chatty();
    let home = home(&server, "code");
    let lines = [
        "/note file a.rs",
        "/note file b.rs",
        "/note file c.rs",
        "/drop files 2",
        "/drop files",
        "n",
        "/drop files",
        "y",
        "/drop files",
        "/drop nonsense",
        "/drop files x",
        "/drop",
    ];
    let run = home.lines("w", &lines);
    let shown = format!("{}{}", run.stdout, run.stderr);
    for expected in [
        "Dropped: b.rs",
        "Cancelled; nothing changed",
        "Dropped 2 files",
        "nothing under files",
        "has no section \"nonsense\"; use one of: task, step",
        "needs a number, not \"x\"",
        "/drop needs one of: task, step",
    ] {
        assert!(shown.contains(expected), "{expected}:\n{run}");
    }
    assert_eq!(
        entries(&state(&home, "w"), "code", "files"),
        Vec::<String>::new()
    );
}

#[test]
fn caps_of_nothing_switch_sections_off() {
    let home = Home::new();
    let server = chatty();
    home.config(
        &server,
        "memory: {modes: {code: {max_files: 0, max_errors: 0}, reasoning: {max_decisions: 0, max_alternatives: 0}}}",
    );
    let lines = [
        "/note file a.rs",
        "/note error E1",
        "/decide x",
        "/reject y",
        "hello",
    ];
    let run = home.lines("w", &lines);
    for section in ["files", "errors", "decisions", "alternatives"] {
        let expected = format!("{section}: turned off");
        assert!(run.stderr.contains(&expected), "{expected}: {run}");
    }
    assert!(run.stderr.contains("the config file limits files"), "{run}");
}

#[test]
fn control_characters_and_marks_of_direction_do_not_get_in() {
    let server = chatty();
    let home = home(&server, "code");
    home.lines(
        "w",
        &[
            "/task \u{202e}Fix\u{7} the\u{1b}[31m login\u{feff}",
            "go on",
        ],
    );
    assert!(
        systems(&server)[0].contains("Task: Fix the login"),
        "{:?}",
        systems(&server)
    );
}

#[test]
fn what_cannot_be_read_of_the_states_is_said_and_kept() {
    let server = chatty();
    let home = home(&server, "code");
    home.lines("w", &["/task Fix it", "/note file a.rs", "one"]);
    let mut broken = state(&home, "w");
    broken["modes"]["code"]["sections"]["files"]["entries"] = json!("oops");
    broken["modes"]["reasoning"] = json!([1, 2]);
    home.write(home.history("w_mode_state.json"), broken.to_string());
    let run = home.ask("w", "two");
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("code: files.entries"), "{run}");
    assert!(run.stderr.contains("reasoning: state"), "{run}");
    let kept = state(&home, "w");
    assert_eq!(kept["modes"]["code"]["unread"]["files.entries"], "oops");
    assert_eq!(kept["modes"]["reasoning"]["unread"]["state"], json!([1, 2]));
    assert_eq!(entries(&kept, "code", "task"), ["Fix it"]);
}

#[test]
fn a_damaged_state_file_is_set_aside_and_said() {
    let server = chatty();
    let home = home(&server, "code");
    home.lines("w", &["one"]);
    home.write(home.history("w_mode_state.json"), "{not json");
    let run = home.ask("w", "two");
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stderr
            .contains("the mode notes were damaged or not written by cogtrix"),
        "{run}"
    );
    assert_eq!(
        state(&home, "w")["modes"]["code"]["turn_count"],
        2,
        "read again from history"
    );
}

#[test]
fn a_foreign_state_file_is_set_aside_and_a_byte_order_mark_is_nothing_foreign() {
    let server = chatty();
    let home = home(&server, "code");
    home.lines("w", &["/task Fix it", "one"]);
    let file = home.history("w_mode_state.json");
    let ours = std::fs::read_to_string(&file).unwrap();
    for foreign in [
        r#"{"name": "package", "version": "1.2.3"}"#,
        r#"{"version": 0}"#,
        r#"{"active_mode": "code", "code": {"files": ["a.py"]}}"#,
        "[1, 2]",
        "",
    ] {
        home.write(&file, foreign);
        let run = home.ask("w", "two");
        assert_eq!(run.code, Some(0), "{foreign}: {run}");
        assert!(
            run.stderr
                .contains("notes were damaged or not written by cogtrix"),
            "{foreign}: {run}"
        );
    }
    home.write(&file, format!("\u{feff}{ours}"));
    let run = home.lines("w", &["/task"]);
    assert_eq!(run.stdout, "Task: Fix it\n", "{run}");
}

#[test]
fn an_undone_turn_takes_its_notes_along_and_leaves_what_was_set_by_hand() {
    let server = chatty();
    let home = home(&server, "reasoning");
    home.lines("w", &["one", "two", "/decide tabs", "/undo", "/undo"]);
    let kept = state(&home, "w");
    assert_eq!(kept["modes"]["reasoning"]["turn_count"], 0);
    assert_eq!(entries(&kept, "reasoning", "decisions"), ["tabs"]);
}

#[test]
fn asking_again_counts_one_turn() {
    let server = chatty();
    let home = home(&server, "code");
    home.lines("w", &["one", "/retry", "/retry"]);
    assert_eq!(state(&home, "w")["modes"]["code"]["turn_count"], 1);
}

#[test]
fn the_overview_tells_where_messages_are_and_refuses_unknown_modes() {
    let server = chatty();
    let home = home(&server, "conversation");
    let run = home.lines("w", &["one", "two", "/memory", "/memory poetry"]);
    assert!(
        run.stdout.contains("4 saved; next request: 4 in full"),
        "{run}"
    );
    let unknown = "/memory has no option \"poetry\"\nhint: `/help memory` lists them";
    assert!(run.stderr.contains(unknown), "{run}");
}

#[test]
fn a_session_of_notes_alone_is_listed_resumed_and_cleared() {
    let server = chatty();
    let home = home(&server, "code");
    home.lines("plan", &["/task Fix it"]);
    let listed = home.cogtrix(&["sessions"]).run();
    assert!(listed.stdout.contains("plan"), "{listed}");
    let run = home
        .cogtrix(&["-c", "test.yaml", "-r", "plan", "--lines"])
        .stdin("/session\n/clear\ny\n/task\n")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("Cleared."), "{run}");
    assert!(run.stdout.ends_with("No task yet\n"), "{run}");
}

#[test]
fn a_reason_stands_behind_two_colons_between_blanks() {
    let server = chatty();
    let home = home(&server, "reasoning");
    let run = home.lines(
        "w",
        &[
            "/decide Use Foo::Bar",
            "/note error thread panicked at std::env",
            "/decide x :: y",
        ],
    );
    assert_eq!(
        answers(&run),
        [
            "Decision #1: Use Foo::Bar",
            "Error #1: thread panicked at std::env (kept for code mode)",
            "Decision #2: x (because y)",
        ]
    );
}

#[test]
fn the_overview_says_what_other_modes_noted_and_what_is_not_sent() {
    let home = Home::new();
    let server = chatty();
    home.config(
        &server,
        "memory: {modes: {conversation: {inject_entities: false}}}",
    );
    let lines = [
        "/task Fix it",
        "/note file a.rs",
        "/note topic tides",
        "hello",
        "/memory",
    ];
    let run = home.lines("w", &lines);
    assert!(!systems(&server)[0].contains("tides"));
    assert!(
        run.stdout
            .contains("Topics (1 of 20): kept but not sent (`inject_entities` is off)"),
        "{run}"
    );
    assert!(
        run.stdout
            .contains("in code mode: task, 1 file (`/memory code`)"),
        "{run}"
    );
}

#[test]
fn the_block_of_a_conversation_has_at_most_three_hundred_characters() {
    let server = chatty();
    let home = home(&server, "conversation");
    let long = "lighthouse ".repeat(15);
    let lines = [
        format!("/note fact {long}"),
        format!("/note topic {long}"),
        "hello".to_owned(),
    ];
    home.lines("w", &lines.each_ref().map(String::as_str));
    let system = &systems(&server)[0];
    let block = &system[system.find("Noted from this conversation").unwrap()..];
    assert!(block.chars().count() <= 300, "{block}");
    assert!(
        block.contains("Facts about the person: lighthouse"),
        "{block}"
    );
}

const TRACEBACK: &str = "Fix the bug in src/auth.py. I get this:\n\
    Traceback (most recent call last):\n  File \"src/auth.py\", line 42, in login\n    user = users[name]\nKeyError: 'ana'";

/// Sends each of these as one message.
fn said(home: &Home, session: &str, messages: &[&str]) -> Run {
    let lines: Vec<String> = messages
        .iter()
        .map(|message| format!("\"\"\"\n{message}\n\"\"\""))
        .collect();
    home.lines(
        session,
        &lines.iter().map(String::as_str).collect::<Vec<_>>(),
    )
}

#[test]
fn talk_about_code_fills_the_task_context_without_a_model_call() {
    let home = Home::new();
    let server =
        Script::answering(|_| say("I changed `src/auth.py` to use `users.get(name)`.")).serve();
    home.config(&server, "memory: {mode: code}");
    let diff = "Here is what I have:\ndiff --git a/src/auth.py b/src/auth.py\n--- a/src/auth.py\n+++ b/src/auth.py\n@@ -1 +1 @@\n-a\n+b";
    said(&home, "w", &[TRACEBACK, diff, "and now?"]);
    assert_eq!(server.chats().len(), 3, "one call a turn");
    let systems = systems(&server);
    assert!(
        !systems[0].contains("Task context"),
        "nothing is known before the first turn"
    );
    in_order(
        &systems[2],
        &[
            "expert programmer",
            "Task: Fix the bug in src/auth.py",
            "Done so far:\n- changed `src/auth.py` to use `users.get(name)`",
            "Files touched, newest first: src/auth.py",
            "Recent errors, newest last:\n- KeyError: 'ana' (src/auth.py:42)",
            "Changes, newest last:\n- ",
        ],
    );
}

#[test]
fn chat_in_another_mode_already_knows_files_and_errors_and_resuming_keeps_them() {
    let server = chatty();
    let home = home(&server, "conversation");
    said(&home, "w", &[TRACEBACK]);
    home.lines("w", &["/mode code", "go on"]);
    let system = systems(&server).pop().unwrap();
    in_order(
        &system,
        &["Task: Fix the bug", "src/auth.py", "KeyError: 'ana'"],
    );
}

#[test]
fn the_least_recently_mentioned_file_and_the_oldest_error_leave() {
    let server = chatty();
    let home = home(&server, "code");
    let files: Vec<String> = (1..=21)
        .map(|n| format!("look at src/file{n}.rs"))
        .collect();
    let errors: Vec<String> = (1..=6)
        .map(|n| format!("it says\nerror[E010{n}]: no such thing {n}"))
        .collect();
    let all: Vec<&str> = files.iter().chain(&errors).map(String::as_str).collect();
    said(&home, "w", &all);
    said(&home, "w", &["src/file2.rs again", "and src/file22.rs"]);
    let kept = state(&home, "w");
    let files = entries(&kept, "code", "files");
    assert_eq!(files.len(), 20);
    assert!(
        !files.contains(&"src/file1.rs".to_owned()) && !files.contains(&"src/file3.rs".to_owned()),
        "{files:?}"
    );
    assert_eq!(files[18..], ["src/file2.rs", "src/file22.rs"]);
    let errors = entries(&kept, "code", "errors");
    assert_eq!(errors.len(), 5);
    assert!(errors[0].starts_with("error[E0102]"), "{errors:?}");
}

#[test]
fn a_heuristic_does_not_overwrite_what_was_set_by_hand() {
    let server = chatty();
    let home = home(&server, "code");
    said(&home, "w", &["Fix the login in src/auth.py"]);
    home.lines("w", &["/task Ship the release"]);
    said(&home, "w", &["Refactor the parser in src/parse.rs"]);
    assert_eq!(
        entries(&state(&home, "w"), "code", "task"),
        ["Ship the release"]
    );
}

#[test]
fn lost_states_are_read_again_from_history() {
    let server = chatty();
    let home = home(&server, "code");
    said(&home, "w", &[TRACEBACK, "thanks"]);
    std::fs::remove_file(home.history("w_mode_state.json")).unwrap();
    home.ask("w", "go on");
    let system = systems(&server).pop().unwrap();
    in_order(&system, &["Task: Fix the bug", "KeyError: 'ana'"]);
    assert_eq!(state(&home, "w")["modes"]["code"]["turn_count"], 3);
}

#[test]
fn an_undone_turn_is_forgotten_also_after_a_resume() {
    let server = chatty();
    let home = home(&server, "code");
    said(&home, "w", &["Fix the login in src/auth.py"]);
    said(&home, "w", &["Refactor the parser in src/parse.rs"]);
    home.lines("w", &["/undo"]);
    let kept = state(&home, "w");
    assert_eq!(
        entries(&kept, "code", "task"),
        ["Fix the login in src/auth.py"]
    );
    assert_eq!(entries(&kept, "code", "files"), ["src/auth.py"]);
    assert_eq!(kept["modes"]["code"]["turn_count"], 1);
}

#[test]
fn thousands_of_paths_and_megabytes_of_text_are_no_trouble() {
    let server = chatty();
    let home = home(&server, "code");
    let paths: Vec<String> = (0..10_000)
        .map(|n| format!("src/part{n}/mod{n}.rs"))
        .collect();
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "w"])
        .stdin(paths.join(" "))
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let files = entries(&state(&home, "w"), "code", "files");
    assert_eq!(
        (files.len(), files[19].as_str()),
        (20, "src/part9999/mod9999.rs")
    );
    let large = format!(
        "{}\nFix the bug in src/end.rs",
        "lorem ipsum dolor ".repeat(300_000)
    );
    let file = home.write(home.work().join("large.txt"), large);
    let run = home
        .cogtrix(&[
            "-c",
            "test.yaml",
            "-s",
            "w",
            "--prompt-file",
            &file.display().to_string(),
        ])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        entries(&state(&home, "w"), "code", "files")[19],
        "src/end.rs"
    );
}

#[test]
fn own_cues_take_the_place_of_the_built_in_ones_and_broken_ones_are_named() {
    let server = chatty();
    let home = home(&server, "code");
    let own = home.home().join(".config/cogtrix/cues/code.yaml");
    let embedded = include_str!("../../config/cues/code.yaml");
    let german = "nl:\n  cues:\n    task: ['^(?:bitte )?(?P<text>behebe .+)']\n";
    home.write(&own, format!("{german}{embedded}"));
    said(&home, "w", &["Behebe den Fehler beim Anmelden"]);
    assert_eq!(
        entries(&state(&home, "w"), "code", "task"),
        ["Behebe den Fehler beim Anmelden"]
    );

    for (broken, why) in [
        ("nl:\n  cues:\n    task: ['(']\n", "unclosed group"),
        ("nl:\n  cues:\n    tasks: ['x']\n", "tasks"),
        ("de: [1\n", "code.yaml"),
    ] {
        home.write(&own, format!("{broken}{embedded}"));
        let run = home.ask("w", "hello");
        assert_eq!(run.code, Some(2), "{run}");
        assert!(
            run.stderr.contains("cues/code.yaml") && run.stderr.contains(why),
            "{why}: {run}"
        );
        assert!(run.stderr.contains("hint: "), "{run}");
    }
}

#[test]
fn plain_talk_fills_the_plan() {
    let server = chatty();
    let home = home(&server, "reasoning");
    said(
        &home,
        "p",
        &[
            "Our goal is to launch in Portugal by June. Budget: $50k\nWe are in the research phase.",
            "Let's go with PostgreSQL over MongoDB because it has JSON. Assuming that the load stays low, one server is enough.",
            "Open question: who signs the contract?\nWhat now?",
        ],
    );
    let system = systems(&server).pop().unwrap();
    in_order(
        &system,
        &[
            "Objective: launch in Portugal by June",
            "Phase: research",
            "Budget: $50k",
            "#1 PostgreSQL (because it has JSON",
            "MongoDB (rejected",
            "the load stays low",
        ],
    );
    let kept = state(&home, "p");
    assert_eq!(
        entries(&kept, "reasoning", "questions"),
        ["who signs the contract"]
    );
}

#[test]
fn the_oldest_decision_and_alternative_leave_and_numbers_go_on() {
    let server = chatty();
    let home = home(&server, "reasoning");
    let lines: Vec<String> = (1..=21)
        .map(|n| format!("/decide number {n}"))
        .chain((1..=11).map(|n| format!("/reject option {n}")))
        .chain(["/memory".to_owned()])
        .collect();
    let run = home.lines("p", &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let kept = state(&home, "p");
    let decisions = entries(&kept, "reasoning", "decisions");
    assert_eq!((decisions.len(), decisions[0].as_str()), (20, "number 2"));
    assert_eq!(entries(&kept, "reasoning", "alternatives")[0], "option 2");
    assert!(run.stdout.contains("  21  number 21"), "{run}");
}

#[test]
fn a_conversation_knows_its_topics_names_and_facts() {
    let server = chatty();
    let home = home(&server, "conversation");
    said(
        &home,
        "c",
        &[
            "Tell me about Python.",
            "My sister Ana lives in Porto, and I work as a nurse.",
            "thanks",
        ],
    );
    let block = systems(&server).pop().unwrap();
    in_order(
        &block,
        &["Facts about the person: ", "Topics: Python", "Names: "],
    );
    assert!(
        block.contains("I work as a nurse") && block.contains("Ana"),
        "{block}"
    );
    let run = home.lines("c", &["/memory"]);
    assert!(
        run.stdout.contains("Python") && run.stdout.contains("Porto"),
        "{run}"
    );
}
