//! What is said again and again, and what contradicts what was said: once in a request, and nothing lost. Through the
//! real program.

use cogtrix::testing::server::{Request, Script, Server, say};

use crate::support::home::Home;

const FACT: &str = "I prefer herons over gulls in all of my drawings";

fn chatty() -> Server {
    Script::answering(|_| say("Noted.")).serve()
}

fn last_system(server: &Server) -> String {
    server.chats().last().map(Request::system).unwrap()
}

/// A file of the workspace.
fn read(home: &Home, file: &str) -> String {
    let path = home.data().join("workspace").join(file);
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn what_was_said_nine_times_stands_once_in_each_part_of_a_request() {
    let server = chatty();
    let home = Home::new();
    home.config(&server, "");
    let mut lines = vec![FACT; 9];
    lines.push("What shall I draw?");
    let run = home.lines("s", &lines);
    assert_eq!(run.code, Some(0), "{run}");
    let state = read(&home, "sessions/s/SESSION-STATE.md");
    assert_eq!(
        state.matches("herons").count(),
        9,
        "each has its time: {state}"
    );
    assert_eq!(read(&home, "MEMORY.md").matches("herons").count(), 1);
    let system = last_system(&server);
    let parts = [
        "Your Long-Term Memory",
        "Captured from this session",
        "Facts about the person",
    ];
    let begins = parts.map(|part| system.find(part).unwrap());
    for (part, begin) in parts.iter().zip(begins) {
        let ends = begins.into_iter().filter(|it| *it > begin).min();
        let text = &system[begin..ends.unwrap_or(system.len())];
        assert_eq!(text.matches("herons").count(), 1, "{part}: {system}");
    }
    assert_eq!(system.matches("herons").count(), 3, "{system}");
}

#[test]
fn of_what_was_said_again_later_the_last_counts() {
    let server = chatty();
    let home = Home::new();
    home.config(&server, "");
    let lines = [
        "I prefer tea over coffee",
        "I prefer coffee over tea",
        "I prefer tea over coffee",
        "What shall I drink?",
    ];
    let run = home.lines("s", &lines);
    assert_eq!(run.code, Some(0), "{run}");
    let system = last_system(&server);
    let captured = &system[system.find("Captured from this session").unwrap()..];
    let captured = &captured[..captured.find("Noted from").unwrap_or(captured.len())];
    let coffee = captured.find("coffee over tea").unwrap();
    let tea = captured.find("tea over coffee").unwrap();
    assert!(coffee < tea, "{captured}");
    assert_eq!(captured.matches("tea over coffee").count(), 1, "{captured}");
}

#[test]
fn what_contradicts_an_entry_takes_its_place_and_both_are_kept() {
    let server = chatty();
    let home = Home::new();
    home.config(&server, "");
    let run = home.lines(
        "s",
        &[
            "/memory add berth: the barge lies at berth four",
            "/memory add berth: the barge lies at berth four",
            "/memory add berth: the barge lies at berth nine",
            "Where does the barge lie, at which berth?",
        ],
    );
    assert_eq!(run.code, Some(0), "{run}");
    let system = last_system(&server);
    assert_eq!(system.matches("berth nine").count(), 1, "{system}");
    assert!(!system.contains("berth four"), "{system}");
    let files = Home::files(&home.data().join("memory/projects"));
    let kept: String = files
        .values()
        .map(|it| String::from_utf8_lossy(it))
        .collect();
    assert_eq!(kept.matches("berth nine").count(), 1, "{kept}");
    assert_eq!(kept.matches("berth four").count(), 1, "{kept}");
}

#[test]
fn what_corrects_a_line_of_memory_marks_it_and_stands_beside_it() {
    let server = chatty();
    let home = Home::new();
    home.config(&server, "");
    let lines = ["My name is Ana", "My name is Bobur", "Who am I, then?"];
    let run = home.lines("s", &lines);
    assert_eq!(run.code, Some(0), "{run}");
    let memory = read(&home, "MEMORY.md");
    let line = |name: &str| memory.lines().find(|line| line.contains(name)).unwrap();
    assert!(line("Ana").contains("(superseded "), "{memory}");
    assert!(!line("Bobur").contains("(superseded "), "{memory}");
}
