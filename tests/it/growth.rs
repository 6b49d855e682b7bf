//! What a turn reads and writes does not grow with what was kept: counted by the system, for the whole process.
#![cfg(target_os = "linux")]

use cogtrix::testing::server::{Script, Server, say};
use serde_json::json;

use crate::support::home::Home;

/// Entries, days and receipts of a small memory, and of one that was used for years. The test of 50,000 entries takes a
/// minute without optimisation: a tenth of them shows the same.
const FEW: usize = 10;
const ENTRIES: usize = 5_000;
const DAYS: usize = 3 * 365;

/// A line of MEMORY.md as somebody wrote it, with a space too many that a program would not leave.
const BY_HAND: &str = "*  The boat is  called Aurora.\r\n";

fn server() -> Server {
    Script::answering(|request| {
        let said = request.message(-1);
        let line = said.lines().next().unwrap_or_default();
        let word = line.split_whitespace().last().unwrap_or_default();
        say(format!("Heard {word}"))
    })
    .serve()
}

/// A home whose MEMORY.md is as long as one may be, with so many entries and days.
fn home(server: &Server, entries: usize, days: usize) -> Home {
    let home = Home::new();
    let more = "embedding: {provider: none}\ntools: {preset: none}\n\
                memory: {background: false, learn: local, store: {max_entries: 60000}}";
    home.config(server, more);
    let entry = |n: usize| {
        json!({
            "id": format!("mem_{n:016x}"),
            "content": format!("Crate {n} stands on shelf {} of the northern warehouse.", n * 7),
            "type": "global",
            "tags": [],
            "timestamp": "2024-03-05T10:00:00Z",
        })
    };
    let list: Vec<_> = (0..entries).map(entry).collect();
    let file = json!({"version": 1, "entries": list});
    home.write(home.data().join("memory/global.json"), file.to_string());
    let receipts: Vec<String> = (1..=entries)
        .map(|n| {
            let line = json!({
                "n": n, "at": "2024-03-05T10:00:00Z", "session": "old", "message": format!("m{n}"),
                "kind": "remember", "text": format!("crate {n} stands on a shelf"), "files": ["MEMORY.md"],
            });
            format!("{line}\n")
        })
        .collect();
    home.write(home.data().join("memory/receipts.jsonl"), receipts.concat());
    let workspace = home.data().join("workspace");
    for day in 0..days {
        let (year, month, day) = (2021 + day / 365, 1 + day % 12, 1 + day / 12 % 28);
        let text =
            format!("# Daily Notes\n\n## [10:00:00]\n\n**User:** crate {day}\n**Agent:** Noted.\n");
        let name = format!("memory/{year}-{month:02}-{day:02}.md");
        home.write(workspace.join(name), text);
    }
    let facts: Vec<String> = (0..580)
        .map(|n| format!("- Fact {n} of the harbour office.\n"))
        .collect();
    let memory = format!("# Memory\n\n{BY_HAND}{}", facts.concat());
    home.write(workspace.join("MEMORY.md"), memory);
    home
}

/// Bytes that a process has read and written so far.
fn bytes(pid: u32) -> (u64, u64) {
    let counts = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    let count = |name: &str| {
        let line = counts.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().parse().unwrap()
    };
    (count("rchar:"), count("wchar:"))
}

/// What a turn reads and writes in a running chat: one that captures something, and one that does not.
fn cost_of_turns(home: &Home) -> [(u64, u64); 2] {
    let args = ["-c", "test.yaml", "-s", "s", "--lines"];
    let mut running = home.cogtrix(&args).open_stdin().start();
    let mut turn = 0;
    let mut take = |said: &str| {
        turn += 1;
        running.say(&format!("{said} t{turn}"));
        running.wait_for(&format!("Heard t{turn}"));
        // What is done at its end is done when the next line is read.
        running.say(&format!("/help nothing{turn}"));
        running.wait_for_notice(&format!("nothing{turn}"));
        bytes(running.pid())
    };
    // What is read once in a process is read by now.
    take("Remember that the ferry sails on Mondays.");
    let start = take("How are the tides today,");
    let captured = take("Remember that the anchor weighs ninety kilos.");
    let plain = take("What is the weather like,");
    let cost = |from: (u64, u64), to: (u64, u64)| (to.0 - from.0, to.1 - from.1);
    [cost(start, captured), cost(captured, plain)]
}

#[test]
fn a_turn_reads_and_writes_as_much_with_years_of_memory_as_with_a_little() {
    let server = server();
    let few = cost_of_turns(&home(&server, FEW, FEW));
    let many = cost_of_turns(&home(&server, ENTRIES, DAYS));
    for ((few, many), what) in few.iter().zip(many).zip(["captures", "captures nothing"]) {
        // The end of the receipts, to number the next one, and 30 days in the place of 10.
        assert!(many.0 < few.0 + 40_000, "{what}: {few:?} {many:?}");
        assert!(many.1 < few.1 + 4_000, "{what}: {few:?} {many:?}");
    }
}

#[test]
fn what_a_person_wrote_stays_as_it_is_and_its_file_is_not_written_where_no_line_changes() {
    let server = server();
    let home = home(&server, FEW, FEW);
    let file = home.data().join("workspace/MEMORY.md");
    let entries = home.data().join("memory/global.json");
    let state = |file: &std::path::Path| {
        let found = std::fs::metadata(file).unwrap();
        let inode = std::os::unix::fs::MetadataExt::ino(&found);
        (inode, found.modified().unwrap())
    };
    let before = [state(&file), state(&entries)];
    let said = "Remember that the ferry sails on Mondays.";
    home.lines("s", &["How are the tides today?", "Thanks, good night."]);
    assert_eq!([state(&file), state(&entries)], before);
    home.lines("s", &[said]);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(BY_HAND) && text.contains("sails on Mondays"));
    let captured = state(&file);
    assert_ne!(captured, before[0]);
    // It is known by now.
    home.lines("s", &[said, "Let us go on."]);
    assert_eq!(state(&file), captured);
}
