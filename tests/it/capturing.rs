//! What a person says in passing is kept for good: written before the model is asked, seen by it, noted afterwards, and
//! never a secret. Through the real program.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cogtrix::testing::server::{Request, Script, Server, fail, say, silent};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::home::Home;
use crate::support::in_order;
use crate::support::run::Run;

const SAID: &str = "Actually, I prefer dark mode. Remember that the key rotates monthly.";
const STATE: &str = "sessions/s/SESSION-STATE.md";

fn chatty() -> Server {
    Script::answering(|_| say("Noted.")).serve()
}

fn workspace(home: &Home) -> PathBuf {
    home.data().join("workspace")
}

/// A file of the workspace; a missing one is empty.
fn text(home: &Home, file: &str) -> String {
    read(&workspace(home).join(file))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The notes of all days.
fn days(home: &Home) -> String {
    let files = Home::files(&workspace(home).join("memory"));
    let texts = files
        .into_values()
        .map(|bytes| String::from_utf8(bytes).unwrap());
    texts.collect()
}

fn bullets(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("- ")).collect()
}

fn last_system(server: &Server) -> String {
    server.chats().last().map(Request::system).unwrap()
}

/// How often a run told of long-term memory.
fn told(run: &Run, what: &str) -> usize {
    run.stderr
        .lines()
        .filter(|line| line.contains(what))
        .count()
}

#[test]
fn what_is_said_is_on_disk_before_the_model_is_asked() {
    let home = Home::new();
    let files = [STATE, "MEMORY.md"].map(|file| workspace(&home).join(file));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seeing = Arc::clone(&seen);
    let server = Script::answering(move |_| {
        let texts = files.each_ref().map(|file| read(file));
        seeing.lock().unwrap().push(texts);
        say("Noted.")
    })
    .serve();
    home.config(&server, "");
    let run = home.ask("s", SAID);
    assert_eq!(run.code, Some(0), "{run}");
    let [state, memory] = seen.lock().unwrap()[0].clone();
    let kinds: Vec<&str> = bullets(&state)
        .iter()
        .filter_map(|line| line.split("**").nth(1))
        .collect();
    assert_eq!(kinds, ["correction", "preference", "remember"], "{state}");
    assert_eq!(bullets(&memory).len(), 2, "{memory}");
    let system = last_system(&server);
    for line in bullets(&state).iter().chain(&bullets(&memory)) {
        assert!(system.contains(line), "{line} in:\n{system}");
    }
    home.ask("s", SAID);
    assert_eq!(text(&home, "MEMORY.md"), memory, "known already");
    assert_eq!(bullets(&text(&home, STATE)).len(), 6);
    let days = days(&home);
    let noted = format!("**User:** {SAID}");
    assert_eq!(days.matches(&noted).count(), 2, "{days}");
    assert_eq!(days.matches("**Agent:** Noted.").count(), 2, "{days}");
}

#[test]
fn facts_come_from_the_third_turn_on_each_once_and_eight_at_a_time() {
    let home = Home::new();
    home.write(workspace(&home).join("MEMORY.md"), "# Mine\n\n- by hand\n");
    let folder = workspace(&home).join("memory");
    let counts = Arc::new(Mutex::new(Vec::new()));
    let counting = Arc::clone(&counts);
    let server = Script::answering(move |_| {
        let days = Home::files(&folder).into_values();
        let days: String = days.map(|day| String::from_utf8(day).unwrap()).collect();
        let mut counts = counting.lock().unwrap();
        counts.push(bullets(&days).len());
        let turn = counts.len();
        if turn.is_multiple_of(2) {
            say(format!("已完成第{turn}个报告的编写工作。"))
        } else {
            say(format!("Done: report {turn} was created in the office."))
        }
    })
    .serve();
    home.config(&server, "context: {preset: agenticx}");
    let lines: Vec<String> = (1..=12)
        .map(|turn| {
            if turn % 2 == 0 {
                format!("请帮我把第{turn}个报告写好并发送给港口办公室的同事们")
            } else {
                format!("Please write report number {turn} for the people of the harbour office")
            }
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let run = home.lines("s", &lines);
    assert_eq!(run.code, Some(0), "{run}");
    let counts = counts.lock().unwrap().clone();
    assert_eq!(counts[..3], [0, 0, 0], "two turns bring nothing");
    assert!(
        counts.windows(2).all(|pair| pair[1] - pair[0] <= 8),
        "{counts:?}"
    );
    let days = days(&home);
    let facts = bullets(&days);
    assert_eq!(facts.len(), 24, "{days}");
    for (label, several) in [
        ("- User request: ", 6),
        ("- Completed: ", 6),
        ("- 用户请求: ", 6),
        ("- 完成事项: ", 6),
    ] {
        let its = facts.iter().filter(|fact| fact.starts_with(label));
        assert_eq!(its.count(), several, "{label}: {days}");
    }
    let scratchpad: Value =
        serde_json::from_slice(&std::fs::read(home.history("s_scratchpad.json")).unwrap()).unwrap();
    let kept = scratchpad.to_string();
    for fact in &facts {
        assert!(
            kept.contains(fact.trim_start_matches("- ")),
            "{fact}: {kept}"
        );
    }
    let memory = text(&home, "MEMORY.md");
    assert!(memory.starts_with("# Mine\n\n- by hand\n"), "{memory}");
    in_order(&memory, &["## Auto-extracted (", "User request: "]);
    assert!(memory.chars().count() < 4_500, "{memory}");
}

#[test]
fn what_was_asked_and_done_goes_to_the_day_and_not_to_memory() {
    let home = Home::new();
    home.write(workspace(&home).join("MEMORY.md"), "# Mine\n");
    let server = Script::answering(|_| say("Done: the report was created.")).serve();
    home.config(&server, "");
    let asked = "Please write the report for the people of the harbour office";
    home.lines(
        "s",
        &[asked, "thanks", "please make the letter more formal", "bye"],
    );
    let days = days(&home);
    in_order(&days, &["- User request: ", "- Completed: "]);
    assert_eq!(text(&home, "MEMORY.md"), "# Mine\n");
    assert_eq!(read(&home.data().join("memory/receipts.jsonl")), "");
}

#[test]
fn asking_again_captures_nothing_twice() {
    let server = chatty();
    let home = Home::new();
    home.config(&server, "");
    home.lines("s", &[SAID, "/retry", "/retry"]);
    assert_eq!(server.chats().len(), 3);
    assert_eq!(bullets(&text(&home, STATE)).len(), 3);
    let receipts = read(&home.data().join("memory/receipts.jsonl"));
    assert_eq!(receipts.lines().count(), 2, "{receipts}");
}

#[test]
fn a_session_takes_its_captures_along_and_one_that_begins_anew_has_none() {
    for elsewhere in ["", "memory: {path: elsewhere}"] {
        let server = chatty();
        let home = home_with(&server, elsewhere);
        let lines = [SAID, "/rename t", "two", "/clear", "y", "three"];
        let run = home.lines("s", &lines);
        assert_eq!(run.code, Some(0), "{run}");
        let systems: Vec<String> = server.chats().iter().map(Request::system).collect();
        let has: Vec<bool> = systems
            .iter()
            .map(|system| system.contains("**correction**"))
            .collect();
        assert_eq!(has, [true, true, false], "{elsewhere}: {run}");
        let mut files = Home::files(&home.data());
        files.extend(Home::files(&home.work().join("elsewhere")));
        files.retain(|name, _| name.to_string_lossy().contains("/SESSION-STATE"));
        assert_eq!(files.len(), 1, "{elsewhere}: {:?}", files.keys());
        let kept = String::from_utf8(files.pop_first().unwrap().1).unwrap();
        assert_eq!(bullets(&kept).len(), 3, "{elsewhere}: {kept}");
    }
}

#[test]
fn what_is_piped_in_attached_or_pasted_as_a_command_is_not_captured() {
    let server = chatty();
    let home = home_with(&server, "");
    home.write(
        "notes.txt",
        "I prefer tea over coffee.\nMy name is Bobur.\n",
    );
    let piped = home
        .cogtrix(&[
            "-c",
            "test.yaml",
            "-s",
            "s",
            "-p",
            "Summarise this in a word",
        ])
        .stdin("Remember that the moon is made of cheese.\n")
        .run();
    assert_eq!(piped.code, Some(0), "{piped}");
    home.ask("s", "What does @notes.txt say?");
    home.lines("s", &["/note fact I prefer dark mode"]);
    assert_eq!(text(&home, STATE), "");
    assert_eq!(text(&home, "MEMORY.md"), "");
}

fn home_with(server: &Server, more: &str) -> Home {
    let home = Home::new();
    home.config(server, more);
    home
}

#[test]
fn each_switch_keeps_what_it_says_from_being_written() {
    for (more, state, day) in [
        ("memory: {capture: off}", false, false),
        ("memory: {backend: none}", false, false),
        ("memory: {daily_notes: {enabled: false}}", true, false),
        ("memory: {facts: {enabled: false}}", true, true),
    ] {
        let server = chatty();
        let home = home_with(&server, more);
        let run = home.ask("s", SAID);
        assert_eq!(run.code, Some(0), "{more}: {run}");
        assert_eq!(!text(&home, STATE).is_empty(), state, "{more}");
        assert_eq!(!text(&home, "MEMORY.md").is_empty(), state, "{more}");
        assert_eq!(!days(&home).is_empty(), day, "{more}");
        assert_eq!(
            workspace(&home).exists(),
            state || day,
            "{more}: an empty folder is no use to anybody"
        );
    }
}

#[test]
fn no_secret_and_no_thought_is_in_any_file_but_history() {
    const SECRETS: [&str; 3] = ["sk-proj-abc123DEF456ghi789", "hunter2swordfish", "waltzing"];
    let server = Script::answering(|_| {
        say("<think>I am waltzing</think>Your key sk-proj-abc123DEF456ghi789 is created.")
            .usage(20_000, 10)
    })
    .serve();
    let home = home_with(&server, "");
    let run = home.lines(
        "s",
        &[
            "Remember that my key is sk-proj-abc123DEF456ghi789, please",
            "My name is Ana and my password is hunter2swordfish, I prefer tea",
            "Please could you tell me what to do with sk-proj-abc123DEF456ghi789 now",
            "where were we?",
        ],
    );
    assert_eq!(run.code, Some(0), "{run}");
    let files = Home::files(&home.data());
    let buffered = files
        .keys()
        .any(|name| name.to_string_lossy().contains("working-buffer"));
    assert!(buffered, "{:?}", files.keys());
    for (name, bytes) in files {
        if name.starts_with("history") {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        for secret in SECRETS {
            assert!(
                !text.contains(secret),
                "{secret} in {}:\n{text}",
                name.display()
            );
        }
    }
    let asked = server.chats();
    let recovered = asked[3].message(-1);
    assert!(recovered.contains("[secret]"), "{recovered}");
    assert!(!recovered.contains("sk-proj"), "{recovered}");
}

#[test]
fn a_persons_files_stand_in_their_order_and_an_edit_counts_with_the_next_request() {
    let home = Home::new();
    let root = workspace(&home);
    let user = home.write(root.join("USER.md"), "Likes herons.\n");
    home.write(root.join("SOUL.md"), "Be calm.\n");
    home.write(root.join("IDENTITY.md"), "You are Ada.\n");
    home.write(root.join("MEMORY.md"), "- The cat is called Miso.\n");
    home.write("AGENTS.md", "Tabs, never spaces.\n");
    home.write("CLAUDE.md", "Only where there is no other.\n");
    home.trust();
    let mut count = 0;
    let server = Script::answering(move |_| {
        count += 1;
        match count {
            1 => std::fs::copy(user.with_file_name("SOUL.md"), &user).map(drop),
            2 => std::fs::remove_file(&user),
            _ => Ok(()),
        }
        .unwrap();
        say("Noted.")
    })
    .serve();
    home.config(&server, "");
    let run = home.lines("s", &["/pin Ship on Friday", SAID, "two", "three"]);
    assert_eq!(run.code, Some(0), "{run}");
    let systems: Vec<String> = server.chats().iter().map(Request::system).collect();
    in_order(
        &systems[0],
        &[
            "Be calm.",
            "You are Ada.",
            "Likes herons.",
            "Tabs, never spaces.",
            "Ship on Friday",
            "Your Long-Term Memory",
            "The cat is called Miso.",
            "**correction**",
        ],
    );
    assert!(!systems[0].contains("no other"), "the first one counts");
    assert_eq!(systems[1].matches("Be calm.").count(), 2, "edited by hand");
    assert!(!systems[1].contains("herons"));
    assert!(!systems[2].contains("USER.md"), "{}", systems[2]);
    let off = "memory: {workspace: {project_files: []}}";
    home.config(&server, off);
    home.ask("s", "four");
    assert!(!last_system(&server).contains("Tabs, never spaces."));
}

#[test]
fn a_workspace_that_cannot_be_used_is_told_once_and_the_chat_goes_on() {
    let server = chatty();
    let home = home_with(&server, "");
    home.write(workspace(&home), "I am no folder");
    let run = home.lines("s", &[SAID, "My name is Bobur", "three", "four"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.stdout.matches("Noted.").count(), 4, "{run}");
    assert_eq!(told(&run, "long-term memory: "), 1, "{run}");
    assert_eq!(read(&workspace(&home)), "I am no folder");
}

#[test]
fn a_folder_in_the_place_of_a_file_costs_that_file_alone() {
    let server = chatty();
    let home = home_with(&server, "");
    std::fs::create_dir_all(workspace(&home).join(STATE)).unwrap();
    let run = home.lines("s", &[SAID, "I prefer tea over coffee"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(told(&run, "long-term memory: "), 1, "{run}");
    assert_eq!(bullets(&text(&home, "MEMORY.md")).len(), 3, "{run}");
    assert!(days(&home).contains("I prefer tea"), "{run}");
}

#[test]
fn a_file_that_is_no_text_is_told_once_and_stays() {
    let server = chatty();
    let home = home_with(&server, "");
    let user = home.write(workspace(&home).join("USER.md"), b"\xff\xfe\x00binary");
    let memory = home.write(workspace(&home).join("MEMORY.md"), b"\xffmine");
    let run = home.lines("s", &[SAID, "I prefer tea over coffee", "three"]);
    assert_eq!(run.code, Some(0), "{run}");
    for file in ["USER.md is not UTF-8", "MEMORY.md is not UTF-8"] {
        assert_eq!(told(&run, file), 1, "{file}: {run}");
    }
    assert_eq!(std::fs::read(user).unwrap(), b"\xff\xfe\x00binary");
    assert_eq!(std::fs::read(memory).unwrap(), b"\xffmine");
    assert_eq!(bullets(&text(&home, STATE)).len(), 4);
}

#[test]
fn what_was_written_by_hand_stays_however_it_is_made() {
    let server = chatty();
    let home = home_with(&server, "");
    let by_hand =
        "## Auto-captured\n##Notes\n- [ ] **half\n\t* list\n```\n## not closed\n- [2026-13";
    home.write(workspace(&home).join("MEMORY.md"), by_hand);
    home.write(workspace(&home).join(STATE), "- [half a line");
    home.lines("s", &[SAID, "hello"]);
    let memory = text(&home, "MEMORY.md");
    for line in by_hand.lines() {
        assert!(memory.lines().any(|it| it == line), "{line}:\n{memory}");
    }
    assert!(
        memory.contains("dark mode") && memory.contains("rotates monthly"),
        "{memory}"
    );
    let state = text(&home, STATE);
    assert!(state.starts_with("- [half a line\n- ["), "{state}");
}

#[test]
fn a_memory_of_50_megabytes_costs_no_turn() {
    let server = chatty();
    let home = home_with(&server, "");
    let line = format!("- {}\n", "x".repeat(98));
    let path = home.write(workspace(&home).join("MEMORY.md"), line.repeat(500_000));
    let before = std::fs::metadata(&path).unwrap().len();
    let run = home.lines("s", &[SAID, "hello"]);
    assert_eq!(run.code, Some(0), "{run}");
    let after = std::fs::metadata(&path).unwrap().len();
    assert!(after > before && after < before + 1_000, "{before} {after}");
    assert!(last_system(&server).contains("rotates monthly"));
}

#[test]
fn whatever_the_disk_does_the_reply_comes_and_nothing_panics() {
    let server = chatty();
    for fault in ["fail-before", "fail-torn", "fail-after", "full", "dead"] {
        for at in [1, 2, 3, 4, 6, 8, 10, 13] {
            let home = home_with(&server, "");
            let fault = format!("{fault}@{at}");
            let args = ["-c", "test.yaml", "-s", "s", "-p", SAID, "--fault", &fault];
            let run = home.cogtrix(&args).run();
            assert!(run.stdout.contains("Noted."), "{fault}: {run}");
            assert!(!run.stderr.contains("panicked"), "{fault}: {run}");
        }
    }
}

#[test]
fn what_was_said_right_before_a_kill_is_captured_when_the_session_goes_on() {
    let server = Server::start([silent(), say("Welcome back."), say("Yes.")]);
    let home = Home::new();
    let args = ["-c", "test.yaml", "-s", "s", "--lines"];
    // A process that is killed before it writes anything down.
    home.config(&server, "memory: {capture: off}");
    let mut running = home.cogtrix(&args).open_stdin().start();
    running.say("Remember that the key rotates monthly.");
    server.wait_for_chats(1);
    running.signal(Signal::KILL);
    running.wait();
    home.config(&server, "memory: {capture: on}");
    for line in ["hello", "hello again"] {
        home.lines("s", &[line]);
        let memory = std::fs::read_to_string(home.data().join("workspace/MEMORY.md")).unwrap();
        assert_eq!(
            memory.matches("the key rotates monthly").count(),
            1,
            "{memory}"
        );
    }
    let receipts = std::fs::read_to_string(home.data().join("memory/receipts.jsonl")).unwrap();
    assert_eq!(receipts.lines().count(), 1, "{receipts}");
}

#[test]
fn what_was_said_with_capture_off_stays_so_though_its_turn_failed() {
    let server = Server::start([fail(400, "no such model"), say("Welcome back.")]);
    let home = Home::new();
    home.config(&server, "memory: {capture: off}");
    home.ask("s", "I prefer whisky.");
    home.config(&server, "memory: {capture: on}");
    let run = home.ask("s", "hello");
    assert!(run.stdout.contains("Welcome back."), "{run}");
    assert_eq!(text(&home, "MEMORY.md"), "");
    assert_eq!(read(&home.data().join("memory/receipts.jsonl")), "");
}

#[test]
fn what_the_disk_refused_to_keep_is_kept_with_the_next_turn() {
    let home = Home::new();
    let blocked = workspace(&home);
    let server = Script::answering({
        let blocked = blocked.clone();
        move |_| {
            // By the time of the first request the words were to be written.
            std::fs::remove_file(&blocked).ok();
            say("Noted.")
        }
    })
    .serve();
    home.config(&server, "");
    home.lines("s", &["/status"]);
    std::fs::remove_dir_all(&blocked).ok();
    home.write(&blocked, "in the way");
    let run = home.lines("s", &[SAID, "Thanks."]);
    assert!(run.stderr.contains("long-term memory: "), "{run}");
    assert!(text(&home, "MEMORY.md").contains("dark mode"), "{run}");
    assert_eq!(text(&home, STATE).matches("rotates monthly").count(), 1);
}

/// A home in which MEMORY.md is in nobody's way any more from the request of this number on, from 1.
fn refusing_until(request: usize) -> (Home, Server) {
    let home = Home::new();
    let blocked = workspace(&home).join("MEMORY.md");
    std::fs::create_dir_all(&blocked).unwrap();
    let mut requests = 0;
    let server = Script::answering(move |_| {
        requests += 1;
        if requests == request {
            std::fs::remove_dir(&blocked).unwrap();
        }
        say("Noted.")
    })
    .serve();
    home.config(&server, "");
    (home, server)
}

#[test]
fn the_file_that_refused_a_capture_gets_it_later_and_the_other_file_has_it_once() {
    let (home, _server) = refusing_until(1);
    let run = home.lines("s", &[SAID, "Thanks."]);
    assert!(text(&home, "MEMORY.md").contains("dark mode"), "{run}");
    assert_eq!(text(&home, STATE).matches("rotates monthly").count(), 1);
}

#[test]
fn what_memory_refused_is_kept_although_another_session_is_opened_or_the_run_ends() {
    let (home, server) = refusing_until(2);
    let run = home.lines("s", &[SAID, "/session t", "Thanks.", "Bye."]);
    assert_eq!(run.code, Some(0), "{run}");
    let last = last_system(&server);
    assert!(last.contains("I prefer dark mode"), "{last}");
    assert_eq!(text(&home, "sessions/t/SESSION-STATE.md"), "");

    let (home, _server) = refusing_until(1);
    let run = home.ask("s", SAID);
    assert!(text(&home, "MEMORY.md").contains("dark mode"), "{run}");
}
