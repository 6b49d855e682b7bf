//! What was said, found by the person who asks for it: `/recall`, and `cogtrix memory search` with what keeps its
//! indexes.

use std::io::Write;

use cogtrix::testing::server::{Script, Server, say};
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::pty::{Pty, Size};
use crate::support::run::Run;

const TALK: [(&str, &str, &str, &str); 6] = [
    ("trip", "1", "user", "We take the ferry on the ninth."),
    (
        "trip",
        "2",
        "assistant",
        "Then you need a cabin: it sails at night.",
    ),
    ("trip", "3", "user", "Rui wants to see the windmills."),
    ("trip", "4", "assistant", "They are closed in March."),
    (
        "work",
        "a",
        "user",
        "The printer on the second floor is broken.",
    ),
    ("work", "b", "assistant", "It needs a new drum, then."),
];

/// Two sessions from elsewhere, and a config with words alone or with an embedder.
fn library(embedding: &str) -> Home {
    let home = Home::new();
    let lines = TALK.iter().map(|(session, id, role, text)| {
        let mut line = json!({"session": session, "id": id, "role": role, "text": text});
        if *id == "1" {
            line["speaker"] = "Ana".into();
            line["timestamp"] = "2024-03-05T10:00:00Z".into();
        }
        line.to_string() + "\n"
    });
    home.write("talk.jsonl", lines.collect::<String>());
    home.write("test.yaml", format!("embedding: {{{embedding}}}\n"));
    let run = home.cogtrix(&["memory", "import", "talk.jsonl"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    home
}

const WORDS: &str = "provider: none";
const VECTORS: &str = "provider: hashed, dim: 32";

fn memory(home: &Home, args: &[&str]) -> Run {
    home.cogtrix(&[&["-c", "test.yaml"], args].concat()).run()
}

/// What a run printed, without the figures that tuning moves.
fn unscored(home: &Home, run: &Run) -> String {
    let shown = home.shown(run);
    let mut parts = shown.split("\"score\":");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        text + "\"score\":SCORE" + rest
    })
}

fn ids(run: &Run) -> Vec<String> {
    let found: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run}"));
    let hits = found["hits"].as_array().unwrap().iter();
    hits.map(|hit| {
        let part = |name: &str| hit[name].as_str().unwrap().to_owned();
        format!("{}/{}", part("session"), part("id"))
    })
    .collect()
}

#[test]
fn a_session_is_searched_and_each_hit_says_where_it_is_from() {
    let home = library(WORDS);
    let run = memory(
        &home,
        &[
            "-s", "trip", "memory", "search", "take", "the", "ferry", "on", "the", "ninth",
        ],
    );
    let lines: Vec<&str> = run.stdout.lines().collect();
    let first = " 1  trip/1  2024-03-05 10:00  Ana: We take the ferry on the ninth.";
    assert_eq!(lines[0], first, "{run}");
    assert!(
        run.stdout
            .contains("  trip/2  assistant: Then you need a cabin"),
        "{run}"
    );
    let run = memory(
        &home,
        &["-s", "trip", "memory", "search", "quantum chromodynamics"],
    );
    insta::assert_snapshot!(home.shown(&run), @r"
    --- stderr
    No matches
    --- exit 0
    ");
}

#[test]
fn hits_are_written_as_json_as_many_as_wanted() {
    let home = library(WORDS);
    let run = memory(
        &home,
        &[
            "-s",
            "trip",
            "memory",
            "search",
            "--json",
            "-k",
            "1",
            "ferry on the ninth",
        ],
    );
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let hit = &found["hits"][0];
    assert_eq!(found["query"], "ferry on the ninth");
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    for (field, expected) in [
        ("id", json!("1")),
        ("session", json!("trip")),
        ("role", json!("user")),
        ("speaker", json!("Ana")),
        ("timestamp", json!("2024-03-05T10:00:00Z")),
        ("text", json!("We take the ferry on the ninth.")),
        ("similarity", Value::Null),
    ] {
        assert_eq!(hit[field], expected, "{field}");
    }
    assert!(hit["score"].as_f64().unwrap() > 0.0 && hit["overlap"].as_f64().unwrap() > 0.5);
    let run = memory(
        &home,
        &["-s", "trip", "memory", "search", "--json", "chromodynamics"],
    );
    assert_eq!((ids(&run), run.code), (vec![], Some(0)));
}

#[test]
fn all_sessions_are_searched_at_once() {
    for embedding in [WORDS, VECTORS] {
        let home = library(embedding);
        let best = |query: &str| {
            let run = memory(&home, &["memory", "search", "--all", "--json", query]);
            ids(&run).first().cloned()
        };
        assert_eq!(
            best("the broken printer").as_deref(),
            Some("work/a"),
            "{embedding}"
        );
        assert_eq!(
            best("windmills that Rui wants to see").as_deref(),
            Some("trip/3"),
            "{embedding}"
        );
    }
}

#[test]
fn among_sessions_what_only_asks_stands_behind_what_answers_and_a_copy_is_found_once() {
    let home = Home::new();
    let line = |session: &str, id: &str, text: &str| {
        json!({"session": session, "id": id, "role": "user", "text": text}).to_string() + "\n"
    };
    let lines = [
        line(
            "a",
            "1",
            "I left the spare bike key with Ana, in the blue tin.",
        ),
        line("b", "1", "where is the spare key of my bike"),
        line("c", "1", "The spare bike key?"),
    ];
    home.write("talk.jsonl", lines.concat());
    home.write("test.yaml", format!("embedding: {{{WORDS}}}\n"));
    memory(&home, &["memory", "import", "talk.jsonl"]);
    memory(&home, &["sessions", "fork", "a", "copy"]);
    let query = ["memory", "search", "--all", "--json", "spare bike key"];
    let found = ids(&memory(&home, &query));
    let first = ["a/1", "copy/1"].contains(&found[0].as_str());
    assert!(first && found.len() == 3, "{found:?}");
}

#[test]
fn a_search_writes_nothing_of_a_history_and_is_quick_to_say_what_is_wrong() {
    let home = library(VECTORS);
    let history = Home::files(&home.data().join("history"));
    for (args, code, said) in [
        (
            &["-s", "nope", "memory", "search", "a"][..],
            1,
            "error: no session nope",
        ),
        (&["memory", "search", "quetzalcoatl"], 0, "No matches"),
        (&["memory", "search"], 2, "<QUERY>"),
        (
            &["memory", "search", "-k", "0", "a"],
            2,
            "0 is not in 1..=1000",
        ),
        (
            &["memory", "search", "--all", "--batch", "no.jsonl"],
            1,
            "cannot read no.jsonl",
        ),
        (
            &["-s", "nope", "memory", "reindex"],
            1,
            "error: no session nope",
        ),
    ] {
        let run = memory(&home, args);
        assert_eq!((run.code, run.stdout.as_str()), (Some(code), ""), "{run}");
        assert!(run.stderr.contains(said), "{run}");
    }
    memory(&home, &["memory", "search", "--all", "ferry"]);
    assert_eq!(Home::files(&home.data().join("history")), history);
    assert!(!home.data().join("vectordb/sessions/nope").exists());

    let empty = Home::new();
    let shown = |args: &[&str]| empty.shown(&empty.cogtrix(args).run());
    insta::assert_snapshot!(shown(&["memory", "search", "--all", "ferry"]), @r"
    --- stderr
    No matches
    --- exit 0
    ");
    insta::assert_snapshot!(shown(&["memory", "stats"]), @r"
    --- stderr
    No sessions yet
    --- exit 0
    ");
    insta::assert_snapshot!(shown(&["memory", "reindex"]), @r"
    --- stderr
    No sessions yet
    --- exit 0
    ");
    assert!(Home::files(&empty.data()).is_empty());
}

#[test]
fn each_line_of_a_batch_is_answered_by_a_line_up_to_one_that_is_wrong() {
    let home = library(WORDS);
    let batch = |lines: &str| {
        let args = [
            "-c",
            "test.yaml",
            "-s",
            "trip",
            "memory",
            "search",
            "-k",
            "1",
            "--batch",
            "-",
        ];
        home.cogtrix(&args).stdin(lines).run()
    };
    let good = "{\"id\":\"q1\",\"query\":\"ferry\"}\n\n{\"id\":\"q2\",\"query\":\"printer\",\"session\":\"work\"}\n\
                {\"id\":\"q3\",\"query\":\"\"}\n{\"id\":\"q4\",\"query\":\"chromodynamics\"}\n";
    insta::assert_snapshot!(unscored(&home, &batch(good)), @r#"
    {"id":"q1","hits":[{"id":"1","score":SCORE,"session":"trip"}]}
    {"id":"q2","hits":[{"id":"a","score":SCORE,"session":"work"}]}
    {"id":"q3","hits":[]}
    {"id":"q4","hits":[]}
    --- stderr
    --- exit 0
    "#);
    for (line, said) in [
        ("nonsense", "stdin, line 2: expected ident"),
        (
            "{\"id\":1,\"query\":\"a\"}",
            "stdin, line 2: invalid type: integer `1`, expected a string\n",
        ),
        ("{\"id\":\"q\"}", "stdin, line 2: missing field `query`"),
        (
            "{\"id\":\"q\",\"query\":\"a\",\"session\":\"nope\"}",
            "stdin, line 2: no session nope",
        ),
        (
            "{\"id\":\"q\",\"query\":\"a\",\"session\":\"../x\"}",
            "stdin, line 2: session name \"../x\"",
        ),
    ] {
        let run = batch(&format!(
            "{{\"id\":\"q1\",\"query\":\"ferry\"}}\n{line}\n{good}"
        ));
        assert_eq!(run.code, Some(2), "{run}");
        assert_eq!(run.stdout.lines().count(), 1, "{run}");
        assert!(run.stderr.contains(said), "{run}");
    }
}

#[test]
fn indexes_are_made_anew_on_request_and_counted() {
    let home = library(VECTORS);
    let shown = |args: &[&str]| home.shown(&memory(&home, args));
    insta::assert_snapshot!(shown(&["memory", "reindex"]), @r"
    trip: 4 messages by keyword, vectors for 2 exchanges by hashed/32
    work: 2 messages by keyword, vectors for 1 exchange by hashed/32
    --- stderr
    --- exit 0
    ");
    let folder = home.data().join("vectordb/sessions/trip");
    let made = Home::files(&folder);
    assert_eq!(
        made.keys()
            .map(|name| name.to_str().unwrap())
            .collect::<Vec<_>>(),
        ["exchanges.jsonl", "meta.json", "words.idx"]
    );
    for file in made.keys() {
        home.write(folder.join(file), "nothing of ours");
    }
    let run = memory(&home, &["-s", "trip", "memory", "reindex"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(Home::files(&folder), made);
    let stats = memory(&home, &["memory", "stats"]).stdout;
    assert!(
        stats.lines().nth(1).is_some_and(|line| line
            .starts_with("trip            4      2           0  2 exchanges by hashed/32")),
        "{stats}"
    );
}

fn chatting() -> Server {
    Script::answering(|_| say("Noted.")).serve()
}

#[test]
fn a_session_that_is_open_elsewhere_is_searched_by_words_and_not_indexed() {
    let (home, server) = (Home::new(), chatting());
    home.config(&server, "embedding: {provider: hashed, dim: 32}");
    let mut chat = home
        .cogtrix(&["-c", "test.yaml", "-s", "w", "--lines"])
        .open_stdin()
        .start();
    chat.say("The gate code is 4711.");
    // A turn is found when it is over, and the next line is read then.
    chat.say("/memory");
    chat.wait_for("recall  ");
    let run = memory(
        &home,
        &["-s", "w", "memory", "search", "what is the gate code"],
    );
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("4711"), "{run}");
    assert!(run.stderr.contains("Session w is open elsewhere"), "{run}");
    let run = memory(&home, &["-s", "w", "memory", "reindex"]);
    assert_eq!(run.code, Some(1), "{run}");
    let run = memory(&home, &["memory", "reindex"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("skipped session w"), "{run}");
    assert!(!home.data().join("vectordb").exists());
    chat.say("And the key is under the mat.");
    chat.say("/quit");
    assert_eq!(chat.wait().code, Some(0));
    assert_eq!(home.said("w").len(), 4);
}

#[test]
fn recall_shows_what_it_would_bring_how_well_it_fits_and_where_it_is_from() {
    let (home, server) = (Home::new(), chatting());
    let options = "memory: {background: false, carry_pending: false, modes: {conversation: {working_memory_size: 2}}}\n\
                   embedding: {provider: none}";
    home.config(&server, options);
    let run = home.lines(
        "w",
        &[
            "/recall gate code",
            "The gate code is 4711.",
            "Then there is the matter of boats.",
            "The code of the gate was changed.",
            "/recall what is the gate code",
            "/recall chromodynamics",
            "/recall",
        ],
    );
    let (nothing, rest) = run.stdout.split_once("Noted.\n").unwrap();
    assert_eq!(nothing, "No matches\n");
    let shown = home.normal(rest);
    assert!(
        shown.contains(
            " %\n  [turn 1, m1 to m2, TIME]\n  User: The gate code is 4711.\n  Assistant: Noted.\n"
        ),
        "{run}"
    );
    assert!(
        shown.contains(" %, in the window\n  [turn 3, m5 to m6, TIME]\n  User: The code"),
        "{run}"
    );
    assert!(shown.ends_with("No matches\n"), "{run}");
    assert!(
        run.stderr
            .contains("error: /recall needs a question\nhint: usage: /recall QUESTION"),
        "{run}"
    );
    assert_eq!(server.chats().len(), 3, "a question to memory is no turn");
}

#[test]
fn what_recall_shows_fits_terminals_of_every_width() {
    let server = chatting();
    for columns in [24, 120] {
        let home = std::sync::Arc::new(tempfile::TempDir::new().unwrap());
        let url = server.openai_url();
        let config = format!(
            "providers: {{there: {{type: openai, base_url: \"{url}\"}}}}\nmodels: {{default: it, it: {{provider: there, model: m}}}}\n\
             embedding: {{provider: none}}\n"
        );
        std::fs::create_dir(home.path().join("home")).unwrap();
        let mut file = std::fs::File::create(home.path().join("home/.cogtrix.yaml")).unwrap();
        file.write_all(config.as_bytes()).unwrap();
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_cogtrix"));
        let mut pty = Pty::spawn_at(home, program, &["-s", "w"], &[], Size(columns, 60));
        pty.wait_for("conversation>");
        pty.enter("The harbour gate code of the boathouse is 4711, by the way.");
        pty.wait_printed("Noted.", 1);
        pty.enter("/recall harbour gate code");
        pty.wait_printed("[turn 1", 1).wait_for("Assistant: Noted.");
        pty.enter("/quit").wait_exit();
    }
}

#[test]
fn an_index_of_words_alone_is_whole_where_there_is_no_embedder() {
    let home = Home::new();
    home.cogtrix(&["-m", "offline", "-s", "x", "-p", "The boat is red"])
        .run();
    let run = home.cogtrix(&["memory", "reindex"]).run();
    assert_eq!(run.code, Some(0), "{run}");
}
