//! Modes, windows, times: what the model is sent, through the real program.

use cogtrix::testing::server::{Request, Script, Server, say};
use serde_json::json;

use crate::support::home::Home;

/// A server that answers every chat request alike.
fn chatty() -> Server {
    Script::answering(|_| say("Noted.")).serve()
}

fn texts(request: &Request) -> Vec<String> {
    let messages = request.body["messages"].as_array().unwrap().iter();
    messages
        .filter(|message| message["role"] != "system")
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

/// What was asked for a reply, summaries apart.
fn talk(server: &Server) -> Vec<Request> {
    let mut chats = server.chats();
    chats.retain(|chat| !chat.message(-1).contains("running summary"));
    chats
}

fn turns(home: &Home, session: &str, mode: &str, count: usize) {
    let lines: Vec<String> = (1..=count).map(|n| format!("message {n}")).collect();
    let args = ["-c", "test.yaml", "-s", session, "-M", mode, "--lines"];
    let run = home.cogtrix(&args).stdin(lines.join("\n")).run();
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn the_window_holds_as_many_messages_as_the_mode_says_in_whole_turns() {
    for (mode, count, expected) in [
        ("conversation", 20, 26 + 1),
        ("code", 18, 30 + 1),
        ("reasoning", 18, 30 + 1),
    ] {
        let home = Home::new();
        let server = chatty();
        home.config(&server, "memory: {carry_pending: false}");
        turns(&home, "w", mode, count);
        let last = texts(&talk(&server)[count - 1]);
        assert_eq!(last.len(), expected, "{mode}");
        assert!(last.last().unwrap().ends_with(&format!("message {count}")));
    }
}

#[test]
fn what_left_the_window_is_still_sent_while_there_is_room() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "shutdown_grace: 0s");
    turns(&home, "w", "conversation", 20);
    assert_eq!(texts(&talk(&server)[19]).len(), 39);
}

#[test]
fn each_mode_has_its_own_opener_and_not_the_others() {
    let openers = [
        ("conversation", "You are a helpful AI assistant"),
        ("code", "You are an expert programmer"),
        ("reasoning", "You are a strategic advisor"),
    ];
    for (mode, opener) in openers {
        let home = Home::new();
        let server = chatty();
        home.config(&server, "");
        turns(&home, "m", mode, 1);
        let system = server.chats()[0].system();
        for (_, other) in openers {
            assert_eq!(system.contains(other), other == opener, "{mode}: {system}");
        }
    }
}

#[test]
fn switching_changes_the_very_next_request_and_keeps_the_history() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    let run = home.lines(
        "s",
        &[
            "/mode code",
            "one",
            "/M reasoning",
            "two",
            "/mode reasoning",
            "/mode xyz",
            "/mode",
        ],
    );
    let answers: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| *line != "Noted.")
        .collect();
    assert_eq!(
        answers[..3],
        [
            "Switched to code mode",
            "Switched to reasoning mode",
            "Already in reasoning mode"
        ]
    );
    assert!(answers[5].starts_with("* reasoning"), "{run}");
    assert!(
        run.stderr.contains("modes: code, conversation, reasoning"),
        "{run}"
    );
    let chats = server.chats();
    assert!(chats[0].system().contains("expert programmer"));
    assert!(chats[1].system().contains("strategic advisor"));
    assert!(texts(&chats[1])[0].ends_with("one"), "nothing is lost");
}

#[test]
fn the_mode_list_shows_configured_windows() {
    let home = Home::new();
    let server = chatty();
    home.config(
        &server,
        "memory: {modes: {code: {working_memory_size: 12}}}",
    );
    let run = home.lines("s", &["/mode"]);
    let code = run
        .stdout
        .lines()
        .find(|line| line.contains("code"))
        .unwrap();
    assert!(code.contains(" 12 messages"), "{run}");
}

#[test]
fn the_state_of_every_mode_survives_switching_and_resuming() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    home.lines("s", &["/mode code", "one", "/mode reasoning", "two"]);
    let file = home.history("s_mode_state.json");
    let state =
        || serde_json::from_slice::<serde_json::Value>(&std::fs::read(&file).unwrap()).unwrap();
    for mode in ["conversation", "code", "reasoning"] {
        assert_eq!(state()["modes"][mode]["turn_count"], 2, "{mode}");
    }
    let mut newer = state();
    newer["modes"]["code"]["invented_later"] = json!({"kept": true});
    newer["modes"]["poetry"] = json!({"turn_count": 9});
    let bytes = serde_json::to_vec(&newer).unwrap();
    home.write(&file, bytes);
    home.lines("s", &["three"]);
    assert_eq!(state()["modes"]["code"]["turn_count"], 3);
    assert_eq!(
        state()["modes"]["code"]["invented_later"],
        json!({"kept": true})
    );
    assert_eq!(state()["modes"]["poetry"], json!({"turn_count": 9}));
}

#[test]
fn a_resumed_session_is_what_the_model_sees() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    home.ask("s", "my cat is called Minka");
    home.ask("s", "what is my cat called?");
    let sent = texts(&server.chats()[1]);
    assert_eq!(sent.len(), 3);
    assert!(sent[0].ends_with("my cat is called Minka"));
}

#[test]
fn two_sessions_never_mix() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "memory: {capture: off}");
    home.ask("one", "the red secret");
    home.ask("two", "the blue secret");
    home.ask("one", "go on");
    let body = server.chats()[2].body.to_string();
    assert!(
        body.contains("red secret") && !body.contains("blue secret"),
        "{body}"
    );
}

#[test]
fn times_are_sent_as_configured_and_echoes_are_taken_off() {
    for (setting, user, assistant) in [
        ("all", true, true),
        ("user", true, false),
        ("off", false, false),
    ] {
        let home = Home::new();
        let server = Script::answering(|_| say("[2026-02-14 15:23:05 UTC] hi")).serve();
        home.config(&server, &format!("memory: {{timestamps: {setting}}}"));
        let run = home.ask("s", "one");
        assert_eq!(run.stdout, "hi\n", "the echo is not shown");
        home.ask("s", "two");
        assert_eq!(home.said("s")[1], "assistant: hi", "nor kept");
        let chat = &server.chats()[1];
        let stamped: Vec<bool> = texts(chat)
            .iter()
            .map(|text| text.starts_with("[20"))
            .collect();
        assert_eq!(stamped, [user, assistant, user], "{setting}");
        assert_eq!(
            chat.system().contains("Today is 20"),
            setting == "off",
            "the only clock"
        );
    }
}

#[test]
fn files_hold_iso_times_and_old_files_without_times_are_sent_without() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    let old = json!([
        {"type": "human", "content": "an old question"},
        {"type": "ai", "content": "an old answer"},
    ]);
    home.write(home.history("old.json"), old.to_string());
    let run = home.ask("old", "and now?");
    assert_eq!(run.code, Some(0), "{run}");
    let sent = texts(&server.chats()[0]);
    assert_eq!(sent[..2], ["an old question", "an old answer"]);
    assert!(sent[2].starts_with("[20"));
    let snapshot = home.snapshot("old");
    let time = snapshot["messages"][2]["timestamp"].as_str().unwrap();
    assert!(
        time.len() == 20 && time.ends_with('Z') && time.contains('T'),
        "{time}"
    );
    assert!(snapshot["messages"][0].get("timestamp").is_none());
}

#[test]
fn separate_system_messages_on_request() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "context: {merge_system: false}");
    home.ask("s", "hi");
    let body = &server.chats()[0].body;
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "system", "system", "user"]);
}

#[test]
fn help_says_which_mode_suits_what() {
    let home = Home::new();
    let run = home.cogtrix(&["--lines"]).stdin("/help modes\n").run();
    for expected in [
        "debugging",
        "architecture decisions",
        "Use conversation unless",
        "conversation",
        "code",
        "reasoning",
    ] {
        assert!(run.stdout.contains(expected), "{expected}: {run}");
    }
}

/// Nothing that outlives a session stands between.
const QUIET_AND_STEADY: &str = "context: {layout: cache-friendly}\nmemory: {capture: off}";

#[test]
fn a_cache_friendly_request_has_one_system_message_and_alternating_roles() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, QUIET_AND_STEADY);
    home.ask("s", "My name is Marta Silva and I live in Porto.");
    home.ask("s", "Where do I live?");
    let body = &server.chats()[1].body;
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    let system = messages[0]["content"].as_str().unwrap();
    assert!(!system.contains("Porto"), "{system}");
    let last = messages[3]["content"].as_str().unwrap();
    assert!(
        last.starts_with("Reference, put here by the program."),
        "{last}"
    );
    assert!(
        last.contains("Noted from this conversation") && last.ends_with("Where do I live?"),
        "{last}"
    );
    let kept = home.snapshot("s");
    let kept = kept["messages"][2]["content"].as_str().unwrap();
    assert_eq!(kept, "Where do I live?");
}

#[test]
fn the_order_of_a_cache_friendly_request_is_shown_as_it_is_sent() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, QUIET_AND_STEADY);
    home.ask("s", "My name is Marta Silva and I live in Porto.");
    let args = ["-c", "test.yaml", "-s", "s", "--lines"];
    let run = home.cogtrix(&args).stdin("Hello again\n/context\n").run();
    let listed: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| line.contains(" tok  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        listed,
        [
            "system", "system", "system", "tools", "window", "mode", "input"
        ],
        "{run}"
    );
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "--json", "-p", "And now?"])
        .run();
    let told: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let sections = told["context"]["sections"].as_array().unwrap();
    let kinds: Vec<_> = sections
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "system", "system", "system", "tools", "window", "window", "mode", "input"
        ]
    );
    assert_eq!(sections[6]["messages"], 0);
}

#[test]
fn a_layout_that_is_none_is_a_mistake_that_names_those_there_are() {
    let home = Home::new();
    home.write("bad.yaml", "context: {layout: cachefriendly}\n");
    let run = home.cogtrix(&["-c", "bad.yaml", "config", "check"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    for expected in ["context.layout", "classic", "cache-friendly"] {
        assert!(run.stderr.contains(expected), "{expected}: {run}");
    }
}
