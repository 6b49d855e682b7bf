//! One search over everything that is kept, through the real program: by the person, by the model, and by itself at the
//! beginning of a turn.

use cogtrix::files::{Disk, LocalDisk};
use cogtrix::testing::server::{Request, Script, Server, raw, say};
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::run::Run;

const HEADING: &str = "Related memory (auto-recall)";
const WORDS: &str = "embedding: {provider: none}";

fn chatty() -> Server {
    Script::answering(|_| say("Noted.")).serve()
}

/// A home with a word of its own in each source, and 31 days.
fn planted(server: &Server, more: &str) -> Home {
    let home = Home::new();
    // What is asked does not become a source itself.
    let quiet = if more.contains("memory:") {
        ""
    } else {
        "memory: {capture: off}"
    };
    home.config(server, &format!("{WORDS}\n{quiet}\n{more}"));
    keep(
        &home,
        "MEMORY.md",
        "# Known\n\n- The deploy of the shop uses fly.io.\n",
    );
    keep(
        &home,
        "sessions/s/SESSION-STATE.md",
        "# State\n- ticket AB-1234 is open\n",
    );
    keep(
        &home,
        "memories/team.md",
        "Ana leads the team.\n数据库在上海。\n",
    );
    home.write(
        "papers/valves.md",
        "# Valves\nTurn the red one to the left.\n",
    );
    for day in 1..=31 {
        let text = format!("- ate a kiwi, number {day}\n");
        keep(&home, &format!("memory/2026-01-{day:02}.md"), &text);
    }
    home
}

/// Writes a file of the workspace.
fn keep(home: &Home, file: &str, text: &str) {
    let path = home.data().join("workspace").join(file);
    LocalDisk.replace(&path, text.as_bytes()).unwrap();
}

/// What the model got for a call.
fn result_of(home: &Home, server: &Server, arguments: &Value) -> String {
    let run = home.ask("s", &format!("Call it: {arguments}"));
    assert_eq!(run.code, Some(0), "{run}");
    server.chats().last().unwrap().message(-1)
}

/// A server whose model calls `memory_search` with the arguments that it is told.
fn searching() -> Server {
    Script::answering(|request| {
        let said = request.message(-1);
        // Results, which are fenced, quote what was said.
        match said.split_once("Call it: ") {
            Some((_, arguments)) if !said.starts_with('<') => {
                let arguments = serde_json::from_str(arguments.lines().next().unwrap());
                say("").calling("c1", "memory_search", arguments.unwrap())
            }
            Some(_) | None => say("Found."),
        }
    })
    .serve()
}

/// The hits of a result but for what was said.
fn rows(result: &str) -> Vec<Value> {
    let found = result.find("[\n").zip(result.rfind("\n]"));
    let (start, end) = found.unwrap_or_else(|| panic!("{result}"));
    let rows = serde_json::from_str(&result[start..end + 2]);
    let rows: Vec<Value> = rows.unwrap_or_else(|_| panic!("{result}"));
    let is_said = |row: &Value| row["file"].as_str().unwrap().starts_with("session ");
    rows.into_iter().filter(|row| !is_said(row)).collect()
}

#[test]
fn a_model_finds_every_source_by_any_words_and_each_hit_says_where_it_stands() {
    let server = searching();
    let home = planted(&server, "rag: {docs_dir: papers}\ntools: {preset: all}");
    for (query, file, line, words) in [
        ("FLY.IO", "MEMORY.md", 3, "fly.io"),
        ("ab-1234", "sessions/s/SESSION-STATE.md", 2, "AB-1234"),
        ("数据库", "memories/team.md", 2, "数据库"),
        ("red one", "papers/valves.md", 2, "red one"),
        ("kiwi, number 2", "memory/2026-01-02.md", 1, "number 2"),
    ] {
        let rows = rows(&result_of(
            &home,
            &server,
            &json!({"query": query, "limit": 3}),
        ));
        assert!(rows.len() <= 3);
        let hit = &rows[0];
        assert_eq!(
            (&hit["file"], &hit["line"]),
            (&json!(file), &json!(line)),
            "{query}: {rows:?}"
        );
        assert!(hit["content"].as_str().unwrap().contains(words), "{hit}");
        assert!(hit["score"].is_number(), "{hit}");
    }
    let days = rows(&result_of(
        &home,
        &server,
        &json!({"query": "kiwi", "limit": 50, "mode": "text"}),
    ));
    let of_a_day = |row: &&Value| row["file"].as_str().unwrap().starts_with("memory/");
    assert_eq!(days.iter().filter(of_a_day).count(), 30, "{days:?}");
    assert!(!days.iter().any(|row| row["file"] == "memory/2026-01-01.md"));
    let blank = result_of(&home, &server, &json!({"query": "  "}));
    assert!(blank.contains("query is blank"), "{blank}");
}

#[test]
fn memory_search_is_offered_in_every_mode() {
    let server = chatty();
    let home = planted(&server, "");
    for mode in ["conversation", "code", "reasoning"] {
        home.cogtrix(&["-c", "test.yaml", "-M", mode, "-s", mode, "-p", "Hi"])
            .run();
        let tools = server.chats().last().unwrap().body["tools"].to_string();
        assert!(tools.contains("memory_search"), "{mode}: {tools}");
    }
}

/// What the last request holds under the heading; empty where there is no section.
fn related(server: &Server, heading: &str) -> String {
    let system = server.chats().last().map(Request::system).unwrap();
    let at = system.find(heading);
    at.map_or(String::new(), |at| {
        let section = system[at..].split("---").collect::<Vec<_>>();
        section.into_iter().take(2).collect()
    })
}

fn ask(home: &Home, session: &str, question: &str) -> Run {
    let run = home.ask(session, question);
    assert_eq!(run.code, Some(0), "{run}");
    run
}

#[test]
fn what_memory_holds_on_the_question_is_in_the_request_within_its_limit_and_no_other() {
    let server = chatty();
    let home = planted(&server, "");
    // What stands in MEMORY.md is in the request as it is.
    keep(
        &home,
        "memories/shop.md",
        "The deploy of the shop uses render.com.\n",
    );
    for n in 0..30 {
        keep(
            &home,
            &format!("memories/deploy{n}.md"),
            &format!("The deploy of part {n} {}\n", "is long ".repeat(40)),
        );
    }
    ask(&home, "a", "How does the deploy of the shop work?");
    let section = related(&server, HEADING);
    let hits: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with("- "))
        .collect();
    assert!(
        section.contains("render.com") && !section.contains("fly.io"),
        "{section}"
    );
    let chars: usize = hits.iter().map(|line| line.chars().count() + 1).sum();
    assert!((1..=501).contains(&chars), "{section}");
    ask(&home, "b", "Who composed the Brandenburg concertos?");
    assert_eq!(related(&server, HEADING), "");
}

#[test]
fn an_edit_by_hand_counts_from_the_next_turn_on_and_a_deleted_file_is_found_no_more() {
    let server = chatty();
    let home = planted(&server, "");
    let question = "Which colour has the old lighthouse?";
    ask(&home, "a", question);
    assert_eq!(related(&server, HEADING), "");
    keep(
        &home,
        "memories/trip.md",
        "The old lighthouse is painted green.\n",
    );
    ask(&home, "b", question);
    assert!(related(&server, HEADING).contains("memories/trip.md:1: The old lighthouse"));
    std::fs::remove_file(home.data().join("workspace/memories/trip.md")).unwrap();
    ask(&home, "c", question);
    assert_eq!(related(&server, HEADING), "");
}

#[test]
fn an_edit_counts_within_a_running_program() {
    let data = Home::new();
    let path = data.data().join("workspace/memories/trip.md");
    let file = path.clone();
    let server = Script::answering(move |_| {
        let text = b"The old lighthouse is painted green.\n";
        LocalDisk.replace(&file, text).unwrap();
        say("Noted.")
    })
    .serve();
    data.config(&server, WORDS);
    let question = "Which colour has the old lighthouse?";
    let run = data.lines("s", &[question, question]);
    assert_eq!(run.code, Some(0), "{run}");
    let chats = server.chats();
    assert!(!chats[0].system().contains(HEADING));
    assert!(
        chats[1].system().contains("painted green"),
        "{}",
        chats[1].system()
    );
    assert!(path.exists());
}

#[test]
fn the_heading_is_in_the_language_of_the_talk_and_nothing_comes_where_it_is_off() {
    let server = chatty();
    let home = planted(&server, "");
    ask(&home, "a", "我们的数据库在哪个城市？");
    let section = related(&server, "## 相关历史记忆(自动召回)");
    assert!(section.contains("数据库在上海"), "{section}");
    let off = planted(&server, "memory: {auto_recall: {enabled: false}}");
    ask(&off, "a", "How does the deploy of the shop work?");
    assert_eq!(related(&server, HEADING), "");
}

#[test]
fn a_person_searches_everything_and_is_told_where_nothing_was_found() {
    let server = chatty();
    let home = planted(&server, "");
    ask(&home, "trip", "We take the ferry on the ninth.");
    let run = home.lines(
        "s",
        &[
            "/search ferry",
            "/search fly.io",
            "/memory search ferry",
            "/search quetzalcoatl",
            "/search /fer+y/",
            "/search /(/",
            "/memory reindex",
        ],
    );
    let out = &run.stdout;
    for words in [
        "sessions\n   1  session trip:1  user: We take the ferry on the ninth.",
        "notes\n   1  MEMORY.md:3  - The deploy of the shop uses fly.io.",
        "No matches in 1 note, 1 session state, 30 daily notes, 1 file of the model",
        ", 1 session",
        "No matches in the 0 messages of this session",
        "33 sources reindexed",
    ] {
        assert!(out.contains(words), "no {words:?} in {run}");
    }
    assert!(run.stderr.contains("unclosed group"), "{run}");
}

#[test]
fn notes_are_searched_from_the_command_line_with_their_places() {
    let server = chatty();
    let home = planted(&server, "");
    let search = |args: &[&str]| {
        let args = [&["-c", "test.yaml", "memory", "search"], args].concat();
        home.cogtrix(&args).run()
    };
    let run = search(&["--in", "notes", "FLY.IO"]);
    assert!(
        run.stdout
            .ends_with("  MEMORY.md:3  - The deploy of the shop uses fly.io.\n"),
        "{run}"
    );
    let run = search(&["--in", "everything", "--json", "-k", "2", "kiwi"]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["hits"].as_array().unwrap().len(), 2, "{run}");
    assert_eq!(found["hits"][0]["source"], "memory/2026-01-31.md");
    home.write(
        "kept.jsonl",
        "{\"content\": \"The anchor is behind the boathouse.\"}\n",
    );
    ask(&home, "trip", "We take the ferry on the ninth.");
    let import = ["-c", "test.yaml", "memory", "import", "--format", "entries"];
    let run = home.cogtrix(&[&import[..], &["kept.jsonl"]].concat()).run();
    assert_eq!(run.code, Some(0), "{run}");
    for (args, source, words) in [
        (&["--in", "notes", "anchor"][..], "entry ", "The anchor is"),
        (&["--in", "everything", "anchor"], "entry ", "The anchor is"),
        (&["anchor"], "entry ", "The anchor is"),
        (&["fly.io"], "MEMORY.md:3", "fly.io"),
        (&["which", "ferry"], "session trip:1", "We take the ferry"),
    ] {
        let run = search(args);
        let first = run.stdout.lines().next().unwrap_or_default();
        assert!(first.contains(source) && first.contains(words), "{run}");
    }
    for of_sessions in [&["--all", "anchor"][..], &["-s", "trip", "anchor"]] {
        let run = search(of_sessions);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run}");
    }
    let run = search(&["--in", "notes", "quetzalcoatl"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run}");
    assert!(run.stderr.contains("No matches"), "{run}");
}

#[test]
fn what_is_no_text_is_told_once_and_costs_no_turn_anything() {
    let server = chatty();
    let home = planted(&server, "");
    let path = home.data().join("workspace/USER.md");
    LocalDisk.replace(&path, b"\xff\x00\xfe").unwrap();
    let run = home.lines(
        "s",
        &[
            "How does the deploy of the shop work?",
            "And what else is there to know?",
        ],
    );
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        run.stderr
            .matches("USER.md in search: it is not text")
            .count(),
        1,
        "{run}"
    );
}

#[test]
fn search_and_memory_search_are_one_command() {
    let server = chatty();
    let home = planted(&server, "");
    for arguments in [
        &["fly.io"][..],
        &["kiwi", "-k", "3", "--json"],
        &["nothing-of-this"],
        &["deploy", "--in", "notes"],
    ] {
        let search = |command: &[&str]| {
            let run = home
                .cogtrix(&["-c", "test.yaml"])
                .args(command)
                .args(arguments)
                .run();
            (run.code, run.stdout)
        };
        let (code, found) = search(&["search"]);
        assert_eq!((code, &found), (Some(0), &search(&["memory", "search"]).1));
        let is_known = arguments[0] != "nothing-of-this";
        assert_eq!(!found.is_empty(), is_known, "{arguments:?}");
    }
}

#[test]
fn a_cross_encoder_orders_what_was_found_and_where_it_fails_the_order_stays() {
    let answer = r#"{"results":[{"index":1,"relevance_score":0.5}]}"#;
    let server = Script::answering(|_| say("Noted."))
        .first(
            "/v1/rerank",
            raw(200, "application/json", [answer.to_owned()]),
        )
        .route("/v1/rerank", raw(500, "application/json", ["{}"]))
        .serve();
    let home = Home::new();
    home.config(
        &server,
        "embedding: {provider: hashed, dim: 32}\nindex: {reranker: there/m}",
    );
    keep(
        &home,
        "MEMORY.md",
        "# Known\n\n- the ferry leaves at nine\n- the ferry is blue, the ferry is old\n",
    );
    let found = || -> Vec<String> {
        let args = ["-c", "test.yaml", "memory", "search", "--json", "the ferry"];
        let run = home.cogtrix(&args).run();
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        let hits = found["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["text"].as_str().unwrap().to_owned())
            .collect()
    };
    let (reranked, usual) = (found(), found());
    assert_eq!(reranked[..2], [usual[1].clone(), usual[0].clone()]);
    let asked = server.requests().into_iter();
    assert_eq!(asked.filter(|it| it.path == "/v1/rerank").count(), 2);
}
