//! Memory entries in the real binary: the model's tools, the person's commands, the files, and what happens to these.

use std::path::{Path, PathBuf};

use cogtrix::testing::server::{Reply, Server, say, silent};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::run::Run;

fn home(server: &Server) -> Home {
    let home = Home::new();
    home.config(server, "tools: {preset: all}");
    home
}

fn nobody() -> Server {
    Server::start(Vec::<Reply>::new())
}

fn memory(home: &Home, file: &str) -> PathBuf {
    home.data().join("memory").join(file)
}

/// The one file of a project.
fn project_file(home: &Home) -> PathBuf {
    let folder = memory(home, "projects");
    let files = Home::files(&folder).into_keys();
    let mut files = files.filter(|name| name.extension().is_some_and(|end| end == "json"));
    let file = files.next().expect("there is a file of the project");
    assert_eq!(files.next(), None);
    folder.join(file)
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What tool calls, one a reply, come to.
fn results(home: &Home, calls: &[(&str, Value)]) -> Vec<String> {
    let replies = calls
        .iter()
        .enumerate()
        .map(|(n, (tool, arguments))| say("").calling(&format!("c{n}"), tool, arguments.clone()));
    let server = Server::start(replies.chain([say("Done.")]));
    home.config(&server, "tools: {preset: all}");
    let run = home.ask("calls", "Begin");
    assert_eq!(run.code, Some(0), "{run}");
    let messages = home.snapshot("calls")["messages"].clone();
    let messages = messages.as_array().unwrap().iter();
    let results = messages.filter(|message| message["role"] == "tool");
    let text = |message: &Value| message["content"].as_str().unwrap().to_owned();
    let mut results: Vec<String> = results.map(text).collect();
    results.split_off(results.len() - calls.len())
}

#[test]
fn a_model_adds_finds_and_removes_entries_and_is_told_what_it_got_wrong() {
    let home = Home::new();
    let call = |arguments| ("memory", arguments);
    let calls = [
        call(json!({"action": "add", "key": "db", "content": "Postgres 16 in /srv/db"})),
        call(json!({"action": "remember", "key": "db", "content": "MySQL 8"})),
        call(json!({"action": "add", "key": "db", "content": "MySQL 8"})),
        call(json!({"action": "add", "key": "db", "content": "SQLite", "scope": "global"})),
        call(json!({"action": "add", "content": "deploy uses fly.io", "scope": "session"})),
        call(json!({"action": "get", "key": "db"})),
        call(json!({"action": "search", "query": "how do we deploy?"})),
        call(json!({"action": "list"})),
        call(json!({"action": "remove", "key": "db"})),
        call(json!({"action": "forget", "key": "db", "scope": "global"})),
        call(json!({"action": "get", "key": "db", "scope": "global"})),
        call(json!({"action": "add", "content": " "})),
        call(json!({"action": "shrink"})),
        call(json!({"action": "list", "scope": "team"})),
        call(json!({"action": "search"})),
        call(json!({"action": "get"})),
        ("memorize", json!({"type": "rumour", "content": "x"})),
        ("memorize", json!({"type": "fact", "content": ""})),
        (
            "memorize",
            json!({"type": "fact", "content": "The port is 8080", "durable": true}),
        ),
    ];
    let expected = [
        "\"status\":\"added\"",
        "\"status\":\"updated\"",
        "\"status\":\"unchanged\"",
        "\"scope\":\"global\"",
        "\"scope\":\"session\"",
        "MySQL 8\nbefore",
        "deploy uses fly.io",
        "global:\nmem_",
        "\"db\" exists in several scopes: project, global; choose one with scope",
        "\"status\":\"removed\"",
        "no entry has the id or key \"db\" in scope global",
        "needs content",
        "use add, get, search, list or remove",
        "use session, project or global",
        "needs query",
        "needs id or key",
        "use fact, preference, convention or pattern",
        "content is empty",
        "\"MEMORY.md\":\"written\"",
    ];
    for ((got, expected), (_, call)) in results(&home, &calls).iter().zip(expected).zip(&calls) {
        assert!(got.contains(expected), "{call}: {got}");
        assert!(got.matches("--->").count() <= 2, "fenced twice: {got}");
    }
    let file = read(&project_file(&home));
    let entries = file["entries"].clone();
    let db = &entries[0];
    let id = db["id"].as_str().unwrap();
    assert!(id.starts_with("mem_") && id.len() == 20, "{id}");
    assert_eq!(
        (&db["content"], &db["type"]),
        (&json!("MySQL 8"), &json!("project"))
    );
    let mut fields: Vec<&String> = db.as_object().unwrap().keys().collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "content",
            "id",
            "key",
            "project",
            "tags",
            "timestamp",
            "type"
        ],
        "an entry has its own fields alone"
    );
    let about = &file["about"][id];
    assert_eq!(about["earlier"][0]["content"], "Postgres 16 in /srv/db");
    assert_eq!(about["from"]["session"], "calls");
    assert_eq!(entries[1]["kind"], "fact");
    assert_eq!(entries[1]["tags"], json!(["fact"]));
}

#[test]
fn what_is_memorized_is_listed_and_preferences_go_everywhere() {
    let home = Home::new();
    let memorize = |kind: &str, content: &str| {
        (
            "memorize",
            json!({"type": kind, "content": content, "key": kind}),
        )
    };
    let calls = [
        memorize("preference", "short answers"),
        memorize("convention", "tabs"),
        memorize("convention", "tabs"),
        memorize("pattern", "ports and adapters"),
        ("memory", json!({"action": "list"})),
    ];
    let results = results(&home, &calls);
    assert!(
        results[0].contains("\"scope\":\"global\""),
        "{}",
        results[0]
    );
    assert!(results[2].contains("unchanged"), "{}", results[2]);
    for content in ["short answers", "tabs (convention", "ports and adapters"] {
        assert!(results[4].contains(content), "{}", results[4]);
    }
    home.config(&nobody(), "memory: {store: {allow_global: false}}");
    let run = home.lines("s", &["/memory list", "/memory add --global x"]);
    assert!(!run.stdout.contains("short answers"), "{run}");
    assert!(run.stderr.contains("allow_global is false"), "{run}");
}

/// What a model kept for good stood in MEMORY.md whatever became of the entry.
#[test]
fn a_line_for_good_goes_with_its_entry() {
    let memory = |home: &Home| {
        let file = home.data().join("workspace/MEMORY.md");
        std::fs::read_to_string(file).unwrap_or_default()
    };
    let said =
        |content: &str| json!({"type": "fact", "key": "god", "content": content, "durable": true});
    let home = Home::new();
    let calls = [("memorize", said("Zeus")), ("memorize", said("Hera"))];
    let told = results(&home, &calls);
    assert!(told.iter().all(|it| it.contains("written")), "{told:?}");
    let text = memory(&home);
    assert!(text.contains(") Zeus\n- Hera\n"), "{text}");
    let run = home.lines("s", &["/memory rm god"]);
    assert!(
        run.stdout.contains("MEMORY.md: its 2 lines were removed"),
        "{run}"
    );
    assert!(!memory(&home).contains("Hera"));
}

/// One line of commands, in a folder of the home.
fn commands(home: &Home, folder: &str, lines: &[&str]) -> Run {
    let folder = home.work().join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let config = home.work().join("test.yaml");
    let args = ["-c", config.to_str().unwrap(), "-s", "s", "--lines"];
    let run = home.cogtrix(&args).directory(folder);
    run.stdin(lines.join("\n") + "\n").run()
}

#[test]
fn entries_outlive_the_session_as_far_as_their_scope_says() {
    let home = home(&nobody());
    for folder in ["one/.git", "one/src/deep", "two/.git"] {
        std::fs::create_dir_all(home.work().join(folder)).unwrap();
    }
    let add = [
        "/memory add where: in the project",
        "/memory add --global everywhere: in all",
        "/memory add --session here: only now",
        "/memory list",
    ];
    let run = commands(&home, "one", &add);
    for content in ["in the project", "in all", "only now"] {
        assert!(run.stdout.contains(content), "{run}");
    }
    for (folder, expected) in [
        ("one", [true, true, false]),
        ("one/src/deep", [true, true, false]),
        ("two", [false, true, false]),
    ] {
        let run = commands(&home, folder, &["/memory list"]);
        let found = ["in the project", "in all", "only now"].map(|it| run.stdout.contains(it));
        assert_eq!(found, expected, "{folder}: {run}");
    }
    let files = Home::files(&home.data().join("memory"));
    assert_eq!(files.len(), 2, "{files:?}");
    #[cfg(unix)]
    for file in files.keys() {
        use std::os::unix::fs::PermissionsExt;
        let path = home.data().join("memory").join(file);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}

#[test]
fn what_is_kept_for_the_session_ends_when_another_is_opened_or_it_is_cleared() {
    let server = Server::start([say("Hello.")]);
    let home = home(&server);
    let run = home.lines(
        "s",
        &[
            "hi",
            "/memory add --session first",
            "/session other",
            "/memory list",
            "/session s",
            "/memory add --session second",
            "/memory get second",
            "/clear",
            "y",
            "/memory list",
        ],
    );
    assert_eq!(run.stdout.matches("Nothing saved yet").count(), 2, "{run}");
}

#[test]
fn a_removed_entry_is_brought_back_by_what_the_answer_says() {
    let home = home(&nobody());
    let run = home.lines(
        "s",
        &["/memory add db: Postgres", "/memory rm db", "/memory list"],
    );
    assert!(run.stdout.contains("Nothing saved yet"), "{run}");
    let (_, rest) = run.stdout.split_once("`/memory restore ").unwrap();
    let (id, _) = rest.split_once('`').unwrap();
    let run = home.lines("s", &[&format!("/memory restore {id}"), "/memory get db"]);
    assert!(run.stdout.contains("Postgres"), "{run}");
    let run = home.lines("s", &["/memory get nothing", "/memory rm", "/memory add"]);
    for words in [
        "no entry has the id or key \"nothing\"",
        "rm needs",
        "add needs",
    ] {
        assert!(run.stderr.contains(words), "{run}");
    }
}

#[test]
fn what_was_kept_is_on_disk_a_moment_later_and_survives_a_kill() {
    let add = json!({"action": "add", "content": "told by the model"});
    let server = Server::start([say("").calling("c1", "memory", add), silent()]);
    let home = Home::new();
    home.config(
        &server,
        "tools: {preset: all}\nmemory: {store: {debounce_ms: 50}}",
    );
    let args = [
        "-c",
        "test.yaml",
        "-s",
        "s",
        "--log",
        "/dev/stderr",
        "--lines",
    ];
    for line in ["/memory add typed by hand", "Begin"] {
        let mut running = home.cogtrix(&args).open_stdin().start();
        running.say(line);
        running.wait_for_notice("entries written");
        running.signal(Signal::KILL);
        running.wait();
    }
    let run = home.lines("s", &["/memory list"]);
    for content in ["typed by hand", "told by the model"] {
        assert!(run.stdout.contains(content), "{run}");
    }
}

#[test]
fn fifty_entries_of_one_process_are_no_more_than_two_versions_of_the_file() {
    let mut reply = say("");
    for n in 0..25 {
        let add = json!({"action": "add", "key": format!("m{n}"), "content": format!("model {n}")});
        reply = reply.calling(&format!("c{n}"), "memory", add);
    }
    let server = Server::start([reply, say("Done.")]);
    let home = home(&server);
    let typed: Vec<String> = (0..25)
        .map(|n| format!("/memory add t{n}: typed {n}"))
        .collect();
    let lines: Vec<&str> = typed.iter().map(String::as_str).chain(["Begin"]).collect();
    let args = [
        "-c",
        "test.yaml",
        "-s",
        "s",
        "--log",
        "/dev/stderr",
        "--lines",
    ];
    let run = home.cogtrix(&args).stdin(lines.join("\n") + "\n").run();
    assert_eq!(run.code, Some(0), "{run}");
    let versions = run.stderr.matches("entries written").count();
    assert!((1..=2).contains(&versions), "{run}");
    let entries = read(&project_file(&home))["entries"].clone();
    assert_eq!(entries.as_array().unwrap().len(), 50);
}

#[test]
fn what_another_process_or_a_hand_writes_meanwhile_is_seen_and_stays() {
    let home = home(&nobody());
    home.lines("s", &["/memory add db: Postgres"]);
    let args = ["-c", "test.yaml", "-s", "first", "--lines"];
    let mut first = home.cogtrix(&args).open_stdin().start();
    first.say("/memory add one: waits to be written");
    first.wait_for("Kept: mem_");
    home.lines("second", &["/memory add two: from elsewhere"]);
    let file = project_file(&home);
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replace(
        "\"entries\": [",
        "\"entries\": [{\"content\": \"by hand\"},",
    );
    home.write(&file, text.replace("\"Postgres\"", "\"Postgres 17\""));
    first.say("/memory list");
    first.wait_for("by hand");
    let run = first.wait();
    assert_eq!(run.code, Some(0), "{run}");
    let run = home.lines("s", &["/memory list"]);
    for content in ["waits to be", "from elsewhere", "by hand", "Postgres 17"] {
        assert!(run.stdout.contains(content), "{run}");
    }
}

#[test]
fn a_damaged_file_is_set_aside_and_what_can_be_read_of_it_is_kept() {
    let home = home(&nobody());
    home.lines("s", &["/memory add a: first", "/memory add b: second"]);
    let file = project_file(&home);
    let text = std::fs::read_to_string(&file).unwrap();
    let torn = &text[..text.find("second").unwrap()];
    home.write(&file, torn);
    let run = home.lines("s", &["/memory list"]);
    assert!(
        run.stderr.contains("was damaged: recovered 1 entries"),
        "{run}"
    );
    assert!(run.stdout.contains("a: first"), "{run}");
    let files = Home::files(&memory(&home, "projects"));
    let mut kept = files
        .iter()
        .filter(|(name, _)| name.to_string_lossy().contains(".damaged-"));
    assert_eq!(kept.next().unwrap().1, torn.as_bytes());
    // One of a newer version stays as it is.
    let newer = r#"{"version": 2, "entries": []}"#;
    home.write(&file, newer);
    let run = home.lines("s", &["/memory add c: third"]);
    assert!(run.stderr.contains("has version 2"), "{run}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), newer);
}

#[test]
fn the_oldest_entry_leaves_where_there_are_too_many() {
    let home = Home::new();
    home.config(&nobody(), "memory: {store: {max_entries: 5}}");
    let lines: Vec<String> = (1..=6)
        .map(|n| format!("/memory add k{n}: text {n}"))
        .collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.push("/memory list");
    let run = home.lines("s", &lines);
    assert!(
        run.stdout.contains("1 oldest entry removed to make room"),
        "{run}"
    );
    assert!(
        !run.stdout.contains("k1: text 1") && run.stdout.contains("k6: text 6"),
        "{run}"
    );
}

#[test]
fn without_a_backend_only_the_session_keeps_entries_and_no_file_is_written() {
    let home = Home::new();
    home.config(&nobody(), "memory: {backend: none}");
    let run = home.lines(
        "s",
        &[
            "/memory add db: Postgres",
            "/memory add --global x",
            "/memory list",
        ],
    );
    assert!(run.stdout.contains(")\n  mem_"), "{run}");
    assert!(run.stderr.contains("memory.backend is none"), "{run}");
    assert!(!home.data().join("memory").exists());
}
