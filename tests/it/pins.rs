//! Pins and the scratchpad in the real binary: where they stand, how long they stay, and what is refused.

use cogtrix::testing::server::{Script, Server, say};
use serde_json::json;

use crate::support::home::Home;

const PIN: &str = "Always answer in rhyme";

#[test]
fn a_pin_is_in_every_request_of_its_session_and_of_no_other() {
    let server = Script::answering(|_| say("A short summary of all the talk so far.")).serve();
    let home = Home::new();
    home.config(&server, "");
    let long = "words and words ".repeat(40);
    let pin = format!("/pin {PIN}");
    home.lines(
        "s",
        &[
            &pin,
            &long,
            "/mode code",
            "and on",
            "/mode reasoning",
            "and on",
            "/compact",
            "and on",
        ],
    );
    home.ask("s", "resumed");
    home.ask("other", "hello");
    let chats = server.chats();
    // The compaction is no request of the conversation.
    let pinned: Vec<bool> = chats
        .iter()
        .map(|chat| chat.system().contains(PIN))
        .collect();
    assert_eq!(pinned, [true, true, true, false, true, true, false]);
    let run = home.lines(
        "s",
        &[
            "/pin",
            "/unpin 1",
            "/pin",
            "/unpin 1",
            "/pin next",
            "/unpin all",
        ],
    );
    assert!(run.stdout.contains(&format!("   1  {PIN}")), "{run}");
    assert!(run.stdout.contains("No pins"), "{run}");
    assert!(run.stderr.contains("no pin 1"), "{run}");
    assert!(run.stdout.contains("Pinned as 2"), "{run}");
}

#[test]
fn a_model_pins_and_clears_and_more_than_a_tenth_of_the_window_is_refused_with_numbers() {
    let call = |arguments| say("").calling("c1", "pin_context", arguments);
    let long = "a long story ".repeat(2_000);
    let server = Server::start([
        call(json!({"content": PIN})),
        call(json!({"content": long})),
        call(json!({})),
        say("Pinned."),
        call(json!({"clear": true})),
        say("Cleared."),
    ]);
    let home = Home::new();
    home.config(&server, "tools: {preset: all}");
    home.ask("s", "Pin it");
    let chats = server.chats();
    assert!(!chats[0].system().contains(PIN) && chats[1].system().contains(PIN));
    let said = home.said("s").join("\n");
    assert!(
        said.contains("pinned as 1; pins use 22 of 65536 bytes"),
        "{said}"
    );
    assert!(
        said.contains("the limit is 3,276,") || said.contains("the limit is 3276,"),
        "{said}"
    );
    assert!(said.contains("this needs content"), "{said}");
    home.ask("s", "Clear");
    assert!(home.said("s").join("\n").contains("unpinned 1"));
    assert!(!server.chats()[5].system().contains(PIN));
}

#[test]
fn damaged_pins_are_set_aside_and_said() {
    let server = Server::start([say("Hello.")]);
    let home = Home::new();
    home.config(&server, "");
    home.lines("s", &[&format!("/pin {PIN}")]);
    home.write(home.history("s_pins.json"), "{\"pins\": [");
    let run = home.ask("s", "hi");
    assert!(run.stderr.contains("the pins were damaged"), "{run}");
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn a_model_writes_and_reads_the_scratchpad_within_its_limits_also_after_a_restart() {
    let write = |key: &str, value| {
        say("").calling(
            "c1",
            "scratchpad_write",
            json!({"key": key, "value": value}),
        )
    };
    let read = |arguments| say("").calling("c2", "scratchpad_read", arguments);
    let server = Server::start([
        write("plan", json!({"steps": ["one", "two"]})),
        write("long", json!("walk on and on ".repeat(3))),
        write("third", json!("x")),
        write("session_facts", json!("x")),
        write(" ", json!("x")),
        say("Written."),
        read(json!({"key": "plan"})),
        read(json!({})),
        read(json!({"key": "nowhere"})),
        say("Read."),
    ]);
    let home = Home::new();
    home.config(
        &server,
        "tools: {preset: all}\nmemory: {scratchpad: {max_keys: 2, max_value_chars: 25}}",
    );
    home.ask("s", "Write");
    home.ask("s", "Read");
    let said = home.said("s").join("\n");
    for words in [
        "stored plan: 23 characters",
        "stored long: 25 characters, the rest was cut off",
        "the scratchpad is full (2 keys",
        "the key \"session_facts\" is reserved",
        "key is missing",
        "{\"steps\":[\"one\",\"two\"]}",
        "long: 25 characters",
        "there is no key \"nowhere\"; there are long, plan",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let run = home.lines(
        "s",
        &[
            "/scratch",
            "/scratch plan",
            "/scratch long short",
            "/scratch none",
        ],
    );
    assert!(run.stdout.contains("long  25 characters: walk on"), "{run}");
    assert!(run.stdout.contains("Stored long: 5 characters"), "{run}");
    assert!(run.stderr.contains("has no key \"none\""), "{run}");
}

#[test]
fn a_person_takes_a_key_off_the_scratchpad_and_sees_what_it_said() {
    let server = Server::start([say("Hello.")]);
    let home = Home::new();
    home.config(&server, "");
    let run = home.lines(
        "s",
        &[
            "/scratch plan one, then two",
            "/scratch rm plan",
            "/scratch",
        ],
    );
    let told = "Removed plan; restore it with `/scratch plan TEXT`. It was:\none, then two\n";
    assert!(run.stdout.contains(told), "{run}");
    assert!(run.stdout.contains("The scratchpad is empty"), "{run}");
    let run = home.lines("s", &["/scratch rm plan", "/scratch rm", "/scratch"]);
    assert!(
        run.stderr
            .contains("has no key \"plan\"\nhint: `/scratch` lists them"),
        "{run}"
    );
    assert!(run.stderr.contains("rm needs a key"), "{run}");
    assert!(run.stdout.contains("The scratchpad is empty"), "{run}");
}
