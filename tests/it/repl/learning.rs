//! The model as a second reader: what it finds at the end of a chat, and what stands in MEMORY.md afterwards.

use cogtrix::testing::server::{Reply, Request, Script, Server, fail, say};

use super::Home;

const ASKED: &str = "note what will still matter to the user";
const AGAIN: &str = "Rewrite this as the JSON object";

fn is_reading(request: &Request) -> bool {
    let body = request.body.to_string();
    body.contains(ASKED) || body.contains(AGAIN)
}

/// Answers a chat in a word, and each reading with the next of these.
fn server<const N: usize>(readings: [Reply; N]) -> Server {
    let mut readings = readings.into_iter();
    Script::answering(move |request| {
        if is_reading(request) {
            readings.next().unwrap_or_else(|| fail(500, "no more"))
        } else {
            say("I see.")
        }
    })
    .serve()
}

fn readings(server: &Server) -> Vec<Request> {
    let chats = server.chats().into_iter();
    chats.filter(is_reading).collect()
}

fn memory(home: &Home) -> String {
    let file = home.path().join("data/cogtrix/workspace/MEMORY.md");
    std::fs::read_to_string(file).unwrap_or_default()
}

const SAID: [&str; 6] = [
    "first week at Tamarack Freight done, same job",
    "can you help me with an intro",
    "shorter please",
    "and warmer",
    "good, thx",
    "my manager is called Todd btw",
];

fn chats(home: &Home, session: &str, said: &[&str]) -> String {
    let mut chat = home.chat(&["-s", session]);
    for line in said {
        chat.says(line, "I see.");
    }
    chat.leave()
}

const FOUND: &str = r#"{"facts": [
    {"fact": "Works at Tamarack Freight", "kind": "profile", "quote": "first week at Tamarack Freight", "replaces": []},
    {"fact": "Lives in Paris", "kind": "profile", "quote": "moved to Paris", "replaces": []}]}"#;

#[test]
fn at_the_end_of_a_chat_the_model_says_what_lasts() {
    let server = server([say(FOUND)]);
    let home = Home::with(&server);
    let screen = chats(&home, "work", &SAID);
    assert!(
        screen.contains("Noted 1 fact from this session"),
        "{screen}"
    );
    let memory = memory(&home);
    assert!(
        memory.contains("- **profile**: Works at Tamarack Freight"),
        "{memory}"
    );
    assert!(!memory.contains("Paris"), "nobody said so: {memory}");
    // What was read is not read again.
    chats(&home, "work", &["bye"]);
    assert_eq!(readings(&server).len(), 1);
    let mut chat = home.chat(&["-s", "other"]);
    chat.says("/memory list", "Works at Tamarack Freight");
    chat.leave();
}

#[test]
fn a_newer_value_takes_the_place_of_the_older() {
    let newer = r#"{"facts": [{"fact": "Works at Halvorsen (before: Tamarack Freight)", "kind": "profile", "quote": "signed with halvorsen", "replaces": [2]}]}"#;
    let server = server([say(FOUND), say(newer)]);
    let home = Home::with(&server);
    chats(&home, "work", &SAID);
    let later = [
        "signed with Halvorsen today",
        "yes",
        "no",
        "hm",
        "ok then",
        "bye",
    ];
    chats(&home, "work", &later);
    let readings = readings(&server);
    assert!(
        readings[1]
            .body
            .to_string()
            .contains("Works at Tamarack Freight")
    );
    let memory = memory(&home);
    let older = memory
        .lines()
        .find(|line| line.contains(": Works at Tamarack"));
    assert!(
        older.is_some_and(|line| line.contains("superseded")),
        "{memory}"
    );
    assert!(memory.contains("- **profile**: Works at Halvorsen (before: Tamarack Freight)\n"));
}

#[test]
fn a_reply_that_cannot_be_read_is_asked_for_once_more() {
    let server = server([
        say("Sure! The person works at a freight company."),
        say(FOUND),
    ]);
    let home = Home::with(&server);
    let screen = chats(&home, "work", &SAID);
    assert!(screen.contains("Noted 1 fact"), "{screen}");
    let again = readings(&server)[1].body.to_string();
    assert!(
        again.contains(AGAIN) && again.contains("works at a freight company"),
        "{again}"
    );
}

#[test]
fn what_there_was_no_time_for_is_read_at_the_next_start() {
    let server = server([fail(500, "overloaded"), say(FOUND)]);
    let home = Home::with(&server);
    chats(&home, "work", &SAID);
    assert!(
        !memory(&home).contains("Tamarack Freight\n"),
        "nothing was read"
    );
    let mut chat = home.chat(&["-s", "work"]);
    // Each message, two readings, and one message more.
    chat.says("hello", "I see.");
    server.wait_for_chats(SAID.len() + 3);
    chat.leave();
    assert!(memory(&home).contains("Works at Tamarack Freight"));
}

#[test]
fn nothing_is_read_of_little_of_private_sessions_or_where_the_model_is_not_to_learn() {
    let server = server([say(FOUND)]);
    let home = Home::with(&server);
    chats(&home, "little", &SAID[..5]);
    let mut chat = home.chat(&["--private"]);
    for line in SAID {
        chat.says(line, "I see.");
    }
    chat.leave();
    let config = std::fs::read_to_string(home.path().join("home/.cogtrix.yaml")).unwrap();
    home.write(
        "home/.cogtrix.yaml",
        &format!("{config}memory: {{learn: local}}\n"),
    );
    chats(&home, "local", &SAID);
    assert_eq!(readings(&server).len(), 0);
}
