//! The model's own files in the real binary: the six operations in each wire format, what leads out, who may write.

use cogtrix::testing::server::{Server, fail, say};
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::run::Run;

fn ask(home: &Home, more: &[&str]) -> Run {
    let mut args = vec!["-c", "test.yaml", "-s", "s", "-p", "Remember"];
    args.extend(more);
    home.cogtrix(&args).run()
}

fn home_of(kind: &str, server: &Server) -> Home {
    let home = Home::new();
    let url = if kind == "openai" {
        server.openai_url()
    } else {
        server.url()
    };
    home.config_of(kind, &url, "");
    home
}

/// Calls of the tool in one reply, as a server of this format makes them.
fn calling(kind: &str, calls: &[Value]) -> cogtrix::testing::server::Reply {
    let name = if kind == "anthropic" {
        "memory"
    } else {
        "memories"
    };
    let mut reply = say("");
    for (call, n) in calls.iter().zip(1..) {
        reply = reply.calling(&format!("c{n}"), name, call.clone());
    }
    reply
}

#[test]
fn the_six_operations_work_in_each_format_without_a_question() {
    for kind in ["openai", "ollama", "anthropic"] {
        let calls = [
            json!({"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\n"}),
            json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "two", "new_str": "zwei"}),
            json!({"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "zero"}),
            json!({"command": "view", "path": "/memories/a.md"}),
            json!({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b/c.md"}),
            json!({"command": "view", "path": "/memories"}),
            json!({"command": "create", "path": "/memories/gone.md", "file_text": ""}),
            json!({"command": "delete", "path": "/memories/gone.md"}),
        ];
        let server = Server::start([calling(kind, &calls), say("Kept."), say("On.")]);
        let home = home_of(kind, &server);
        let run = ask(&home, &["--tools", "memories"]);
        assert!(run.stdout.contains("Kept."), "{kind}: {run}");
        assert!(
            run.stderr
                .contains("memories create: created /memories/a.md"),
            "{kind}: {run}"
        );
        let files = Home::files(&home.data().join("workspace/memories/b"));
        assert_eq!(files.len(), 1, "{kind}: {files:?}");
        assert_eq!(files.values().next().unwrap(), b"zero\none\nzwei\n");
        let said = home.said("s").join("\n");
        assert!(said.contains("     3\tzwei"), "{kind}: {said}");
        assert!(said.contains("/memories/b/c.md"), "{kind}: {said}");
        // On disk the tool has one name, whatever the server calls it.
        let calls = home.snapshot("s")["messages"][1]["tool_calls"].to_string();
        assert!(calls.contains("memories") && !calls.contains("\"memory\""));
        let run = ask(&home, &["--tools", "memories"]);
        assert!(run.stdout.contains("On."), "{kind}: {run}");
    }
}

#[test]
fn the_messages_api_is_told_the_name_of_the_tool_its_models_know() {
    let view = json!({"command": "view", "path": "/memories"});
    let server = Server::start([calling("anthropic", &[view]), say("Empty."), say("None.")]);
    let home = home_of("anthropic", &server);
    ask(&home, &["--tools", "memories,current_time"]);
    let chats = server.chats();
    for chat in &chats {
        let tools = chat.body["tools"].as_array().unwrap();
        assert!(
            tools.contains(&json!({"type": "memory_20250818", "name": "memory"})),
            "{tools:?}"
        );
        assert_eq!(tools.len(), 2);
        assert_eq!(
            chat.headers["anthropic-beta"],
            "context-management-2025-06-27"
        );
    }
    assert_eq!(chats[1].body["messages"][1]["content"][0]["name"], "memory");
    ask(&home, &["--tools", "current_time"]);
    let last = &server.chats()[2];
    assert!(!last.headers.contains_key("anthropic-beta"));
}

#[test]
fn the_messages_api_gets_the_trained_tool_and_its_header_where_nothing_is_set() {
    let server = Server::start([say("Hello.")]);
    let home = home_of("anthropic", &server);
    ask(&home, &[]);
    let chat = &server.chats()[0];
    let tools = chat.body["tools"].as_array().unwrap();
    let trained = json!({"type": "memory_20250818", "name": "memory"});
    assert!(tools.contains(&trained), "{tools:?}");
    let beta = &chat.headers["anthropic-beta"];
    assert_eq!(beta, "context-management-2025-06-27");
    // A server that only speaks the protocol may not know it.
    let refused = "tools.3: unknown type memory_20250818";
    let server = Server::start([fail(400, refused), say("Hello."), say("Again.")]);
    let home = home_of("anthropic", &server);
    let run = ask(&home, &[]);
    assert!(run.stdout.contains("Hello."), "{run}");
    let chats = server.chats();
    assert!(chats[0].body["tools"].to_string().contains("memory_2025"));
    assert!(!chats[1].body["tools"].to_string().contains("memory_2025"));
    assert!(!chats[1].headers.contains_key("anthropic-beta"));
    // Models of other servers load it when they want it.
    let server = Server::start([say("Hello.")]);
    let home = home_of("openai", &server);
    ask(&home, &[]);
    let chat = &server.chats()[0];
    assert!(!chat.body["tools"].to_string().contains("\"memories\""));
}

#[test]
fn the_folder_is_made_where_it_is_enabled_and_a_file_in_it_is_found_until_it_is_deleted() {
    let server = Server::start(std::iter::repeat_with(|| say("Hello.")).take(8));
    let home = home_of("openai", &server);
    let folder = home.data().join("workspace/memories");
    for without in [&["--private"][..], &["--read-only"]] {
        let run = home
            .cogtrix(&["-c", "test.yaml", "-p", "Hello"])
            .args(without)
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        assert!(!folder.exists(), "{without:?}");
    }
    ask(&home, &[]);
    assert!(folder.is_dir());
    let file = folder.join("harbour.md");
    home.write(&file, "The lighthouse keeper is called Ambrosius.\n");
    let brings = || {
        let args = ["-c", "test.yaml", "-s", "other", "-p"];
        let question = "Who is the keeper of the lighthouse?";
        home.cogtrix(&args).args([question]).run();
        let chats = server.chats();
        chats.last().unwrap().system().contains("Ambrosius")
    };
    assert!(brings());
    std::fs::remove_file(&file).unwrap();
    assert!(!brings());
}

#[test]
fn nothing_outside_of_the_folder_is_made_whatever_a_path_says() {
    let paths = [
        "/memories/../MEMORY.md",
        "/memories/../../x",
        "/etc/x",
        "x",
        "/memories/%2e%2e/x",
        "/memories/a\\..\\x",
        "/memories/a\u{0}",
        "/memories/way/x",
        "/Memories/x",
    ];
    let calls = paths.map(|path| json!({"command": "create", "path": path, "file_text": "x"}));
    let server = Server::start([calling("openai", &calls), say("Well.")]);
    let home = home_of("openai", &server);
    let memories = home.data().join("workspace/memories");
    std::fs::create_dir_all(&memories).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(home.work(), memories.join("way")).unwrap();
    let before = Home::files(&home.work());
    let run = ask(&home, &["--tools", "memories", "-y"]);
    assert!(run.stdout.contains("Well."), "the turn goes on: {run}");
    assert_eq!(Home::files(&home.work()), before);
    let workspace = std::fs::read_dir(home.data().join("workspace")).unwrap();
    let names = workspace.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names, ["memories", "memory"], "and the day's notes");
    assert!(!home.data().join("x").exists());
    let messages = home.snapshot("s")["messages"].as_array().unwrap().clone();
    let failed = messages.iter().filter(|it| it["failed"] == json!(true));
    assert_eq!(failed.count(), paths.len());
}

#[test]
fn a_read_only_run_looks_and_writes_nothing_and_without_the_setting_there_is_no_tool() {
    let create = json!({"command": "create", "path": "/memories/a.md", "file_text": "x"});
    let view = json!({"command": "view", "path": "/memories"});
    let server = Server::start([calling("openai", &[create, view]), say("So."), say("None.")]);
    let home = home_of("openai", &server);
    ask(&home, &["--tools", "memories", "--read-only"]);
    let said = home.said("s").join("\n");
    assert!(said.contains("read-only"), "{said}");
    assert!(said.contains("(empty)"), "{said}");
    assert!(!home.data().join("workspace/memories").exists());
    home.config_of(
        "openai",
        &server.openai_url(),
        "memory: {memories_tool: false}",
    );
    ask(&home, &["--tools", "all"]);
    let tools = server.chats()[2].body["tools"].to_string();
    assert!(!tools.contains("memories"), "{tools}");
}

#[test]
fn a_secret_is_left_out_of_what_a_model_keeps_and_it_is_told_so() {
    let secret = "sk-proj-abc123DEF456ghi789";
    let calls = [
        json!({"command": "create", "path": "/memories/a.md", "file_text": format!("key {secret}\nend\n")}),
        json!({"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": format!("first {secret}")}),
        json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "end", "new_str": format!("last {secret}")}),
        json!({"command": "create", "path": "/memories/b.md", "file_text": "no key"}),
    ];
    let server = Server::start([calling("openai", &calls), say("Kept.")]);
    let home = home_of("openai", &server);
    let run = ask(&home, &["--tools", "memories"]);
    assert!(run.stdout.contains("Kept."), "{run}");
    let kept = home.data().join("workspace/memories/a.md");
    let kept = std::fs::read_to_string(kept).unwrap();
    assert_eq!(kept, "first [secret]\nkey [secret]\nlast [secret]\n");
    let said = home.said("s").join("\n");
    assert_eq!(said.matches("secrets are not saved").count(), 3, "{said}");
}
