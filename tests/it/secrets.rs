//! Secrets in the real binary: they are in history, where they were said, and in no other file; what a person wants
//! nobody to keep is in no other file either.

use cogtrix::chat::{
    Compaction, Hybrid, Message, MessageId, Record, Role, Session, Summary, Timestamp, TurnId,
};
use cogtrix::memory::{known_secrets, masked_record};
use cogtrix::testing::server::{Server, say};
use cogtrix::text::secrets::masked;
use serde::Deserialize;
use serde_json::json;

use crate::support::home::Home;

/// Files below the data folder that hold a text, but for the history of sessions.
fn holding(home: &Home, text: &str) -> Vec<String> {
    let is_history = |name: &str| {
        name.starts_with("history/")
            && (name.ends_with("/s.json") || name.ends_with(".journal.jsonl"))
    };
    let files = Home::files(&home.data()).into_iter();
    let holds = |bytes: &[u8]| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    let holding = files.filter(|(_, bytes)| holds(bytes));
    let names = holding.map(|(name, _)| name.display().to_string());
    names.filter(|name| !is_history(name)).collect()
}

#[test]
fn what_is_secret_is_in_history_and_in_no_other_file() {
    let call = |name: &str, arguments| say("").calling("c1", name, arguments);
    let server = Server::start([
        say("Yes, I will. What is it?"),
        say("Thanks, bluewhale99 is noted."),
        call(
            "scratchpad_write",
            json!({"key": "wifi", "value": "use bluewhale99 there"}),
        ),
        say("On the scratchpad."),
        call(
            "pin_context",
            json!({"content": "The guests log in with bluewhale99"}),
        ),
        say("Pinned."),
        call(
            "track",
            json!({"kind": "fact", "text": "Guests get bluewhale99 as their password"}),
        ),
        say("Tracked."),
        call(
            "memory",
            json!({"action": "add", "key": "wifi", "content": "bluewhale99 opens it"}),
        ),
        say("Kept."),
        call(
            "memories",
            json!({"command": "create", "path": "/memories/wifi.md", "file_text": "bluewhale99\n"}),
        ),
        say("Made."),
        say("Nice."),
        say("Good."),
    ]);
    let home = Home::new();
    home.config(
        &server,
        "memory: {background: false}\nembedding: {provider: none}\ntools: {preset: all}",
    );
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "-y", "--lines"])
        .stdin(
            "Can you remember my password?\n\
             It's bluewhale99, for the wifi of the office\n\
             Write it on the scratchpad\n\
             Pin it\n\
             Track it\n\
             Keep it\n\
             Make a file of it\n\
             I prefer tea. Remember that the door code is 4821 and my card is 4111 1111 1111 1111\n\
             /mode reasoning\n\
             /constraint Guests: they know bluewhale99\n\
             /pin the router wants bluewhale99\n\
             /memory add spare: bluewhale99\n\
             Please remember the user is bob, password letmein77\n",
        )
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let said = home.said("s").join("\n");
    for secret in ["bluewhale99", "4821", "4111 1111 1111 1111", "letmein77"] {
        assert!(said.contains(secret), "history has {secret}: {said}");
        assert_eq!(
            holding(&home, secret),
            Vec::<String>::new(),
            "{secret}: {run}"
        );
    }
    let memory = std::fs::read_to_string(home.data().join("workspace/MEMORY.md")).unwrap();
    assert!(memory.contains("I prefer tea"), "{memory}");
    let run = home.lines("s", &["/scratch", "/pin", "/memory list"]);
    assert!(run.stdout.contains("use [secret] there"), "{run}");
    assert!(
        run.stdout.contains("The guests log in with [secret]"),
        "{run}"
    );
    assert!(
        run.stdout
            .contains("Looks like a password; left out of memory"),
        "{run}"
    );
}

#[test]
fn every_summary_of_a_record_is_masked_unless_the_session_has_it_already() {
    let mut session = Session::new("s".parse().unwrap());
    let said = "Remember my password. It is bluewhale99";
    session.apply(Record::TurnStarted {
        turn: TurnId(1),
        input: Message::text(MessageId::numbered(1), Role::User, said, None),
        mode: String::new(),
        model: String::new(),
    });
    let known = known_secrets(&session);
    let at = Timestamp::from_unix(1).unwrap();
    let text = || "log in with bluewhale99".to_owned();
    let compaction = || Compaction {
        text: text(),
        ..Compaction::blank("compact", at)
    };
    let summary = || Summary {
        text: text(),
        from: 0,
        upto: 1,
        covers: (MessageId::numbered(1), MessageId::numbered(1)),
        at,
        by: String::new(),
    };
    let record = Record::HybridReplaced(Hybrid {
        summary: Some(summary()),
        replaced: vec![summary()],
        compaction: Some(compaction().replacing(Some(compaction()))),
        ..Hybrid::default()
    });
    let mut texts = Vec::new();
    let mut masked = masked_record(record.clone(), &session, &known);
    masked.visit_side_texts(&mut |_, text| texts.push(text.clone()));
    assert_eq!(texts, ["log in with [secret]"; 4]);
    session.apply(record.clone());
    assert_eq!(masked_record(record.clone(), &session, &known), record);
}

#[test]
fn what_is_masked_is_told_with_its_kind_and_its_turn() {
    let server = Server::start([say("Well."), say("Well.")]);
    let home = Home::new();
    home.config(&server, "memory: {background: false}");
    let run = home.lines("s", &["Hello there", "The password? It's bluewhale99"]);
    let masked = "Looks like a password; left out of memory (turn 2)";
    assert!(run.stderr.contains(masked), "{run}");
    let shown = home.lines("s", &["/memory show 1", "/memory why 1"]);
    for told in [masked, "session s, turn 2, 20"] {
        assert_eq!(shown.stdout.matches(told).count(), 2, "{told}: {shown}");
    }
    assert!(
        shown.stdout.contains("> The password? It's [secret]"),
        "the message is quoted: {shown}"
    );
    assert!(!shown.stdout.contains("bluewhale99"), "{shown}");
}

#[test]
fn a_message_that_nobody_is_to_keep_reaches_no_notes() {
    let server = Server::start((0..8).map(|_| say("I understand. Done: Zanzibar is the place.")));
    let home = Home::new();
    home.config(
        &server,
        "memory: {background: false}\nembedding: {provider: none}",
    );
    let run = home.lines(
        "s",
        &[
            "Hello",
            "How are you",
            "Please remember that we move to Zanzibar in May. Off the record!",
            "Please don't remember: we decided to use Zanzibar as the code name, my name is Ophelia",
            "Bye",
        ],
    );
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        home.said("s").join("\n").contains("move to Zanzibar"),
        "{run}"
    );
    for word in ["move to Zanzibar", "as the code name", "Ophelia"] {
        assert_eq!(holding(&home, word), Vec::<String>::new(), "{word}: {run}");
    }
}

/// Returns what tools answered in the last request.
fn results(server: &Server) -> Vec<String> {
    let last = server.chats().pop().unwrap().body;
    let messages = last["messages"].as_array().unwrap().iter();
    let results = messages.filter(|message| message["role"] == "tool");
    results.map(|it| it["content"].to_string()).collect()
}

/// One prompt, answered by these calls, where the model has a file `old.md` already.
fn called(prompt: &str, calls: &[(&str, serde_json::Value)]) -> (Home, Server) {
    let mut reply = say("");
    for (n, (name, arguments)) in calls.iter().enumerate() {
        reply = reply.calling(&format!("c{n}"), name, arguments.clone());
    }
    let server = Server::start([reply, say("Very well.")]);
    let home = Home::new();
    home.config(
        &server,
        "memory: {background: false}\nembedding: {provider: none}\ntools: {preset: all}",
    );
    home.write(home.data().join("workspace/memories/old.md"), "The old dog");
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "-y", "-p", prompt])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    (home, server)
}

#[test]
fn no_tool_keeps_anything_of_a_message_that_nobody_is_to_keep_but_it_may_delete() {
    let (home, server) = called(
        "My dog is named Rexomatic. Don't save this.",
        &[
            (
                "memorize",
                json!({"type": "fact", "content": "the dog Rexomatic"}),
            ),
            (
                "memory",
                json!({"action": "add", "key": "dog", "content": "Rexomatic"}),
            ),
            ("track", json!({"kind": "fact", "text": "dog Rexomatic"})),
            ("pin_context", json!({"content": "dog Rexomatic"})),
            (
                "scratchpad_write",
                json!({"key": "dog", "value": "Rexomatic"}),
            ),
            (
                "memories",
                json!({"command": "create", "path": "/memories/d.md", "file_text": "Rexomatic"}),
            ),
            (
                "memories",
                json!({"command": "delete", "path": "/memories/old.md"}),
            ),
        ],
    );
    for text in ["Rexomatic", "The old dog"] {
        assert_eq!(holding(&home, text), Vec::<String>::new());
    }
    let mut results = results(&server);
    let deleted = results.pop().unwrap();
    assert!(deleted.contains("deleted /memories/old.md"), "{deleted}");
    assert_eq!(results.len(), 6);
    for result in results {
        assert!(result.contains("the person asked that nothing"), "{result}");
    }
}

#[test]
fn a_secret_is_no_key_of_the_scratchpad_and_no_name_of_a_file() {
    const TOKEN: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let path = format!("/memories/{TOKEN}.md");
    let (home, server) = called(
        "Make a note",
        &[
            (
                "scratchpad_write",
                json!({"key": format!("x {TOKEN}"), "value": "see"}),
            ),
            (
                "memories",
                json!({"command": "create", "path": path, "file_text": "see"}),
            ),
            (
                "memories",
                json!({"command": "create", "path": "/memories/a.md", "file_text": "see"}),
            ),
            (
                "memories",
                json!({"command": "rename", "old_path": "/memories/a.md", "new_path": path}),
            ),
        ],
    );
    assert_eq!(holding(&home, TOKEN), Vec::<String>::new());
    let files = Home::files(&home.data());
    assert!(
        files
            .keys()
            .all(|name| !name.display().to_string().contains(TOKEN))
    );
    let refused = results(&server)
        .iter()
        .filter(|it| it.contains("contains a secret"))
        .count();
    assert_eq!(refused, 3, "{:?}", results(&server));
}

#[test]
fn a_masked_message_is_found_by_its_other_words() {
    let server = Server::start([say("Well."), say("Well.")]);
    let home = Home::new();
    home.config(
        &server,
        "memory: {background: false}\nembedding: {provider: none}",
    );
    home.ask("s", "The greenhouse password? It's bluewhale99");
    let found = home
        .cogtrix(&[
            "-c",
            "test.yaml",
            "memory",
            "search",
            "greenhouse",
            "-s",
            "s",
        ])
        .run();
    assert!(found.stdout.contains("greenhouse"), "{found}");
}

#[derive(Deserialize)]
struct Row {
    text: String,
    #[serde(default)]
    secrets: Vec<String>,
}

fn rows(file: &str) -> Vec<Row> {
    let path = format!("{}/tests/secrets/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn of_the_labelled_set_nearly_all_secrets_are_masked_and_next_to_nothing_else() {
    are_masked_and_next_to_nothing_else("said.jsonl", "harmless.jsonl", 97);
}

/// Messages of people whom the weights were not learned from: never add them to the corpus.
#[test]
fn of_the_set_that_training_never_read_nearly_all_secrets_are_masked_and_next_to_nothing_else() {
    are_masked_and_next_to_nothing_else("said-unread.jsonl", "harmless-unread.jsonl", 97);
}

/// At least so many of a hundred secrets are masked, and at most two of a hundred harmless messages changed.
fn are_masked_and_next_to_nothing_else(said: &str, harmless: &str, min: usize) {
    let said = rows(said);
    let secrets = said
        .iter()
        .flat_map(|row| row.secrets.iter().map(move |secret| (row, secret)));
    let all: Vec<_> = secrets.collect();
    let missed: Vec<&str> = all
        .iter()
        .filter(|(row, secret)| masked(&row.text).contains(secret.as_str()))
        .map(|(row, _)| row.text.as_str())
        .collect();
    let masked_are = all.len() - missed.len();
    assert!(masked_are * 100 >= all.len() * min, "missed {missed:#?}");
    let harmless = rows(harmless);
    let changed: Vec<_> = harmless
        .iter()
        .map(|row| (&row.text, masked(&row.text)))
        .filter(|(text, masked)| masked != *text)
        .collect();
    assert!(
        changed.len() * 100 <= harmless.len() * 2,
        "changed {changed:#?}"
    );
}
