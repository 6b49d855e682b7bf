//! Links in a workspace or a data folder that somebody else made: nothing outside is read or written, it is said, and
//! the session goes on. Through the real program; what is outside are harmless files of a home of the test's own.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::Local;
use cogtrix::testing::server::{Request, Script, Server, say};
use serde_json::json;

use crate::support::home::Home;
use crate::support::run::Run;

const PRIVATE: &str = "PRIVATE-MARKER, nobody else's business\n";
const SAID: &str = "Actually, I prefer dark mode. Remember that the key rotates monthly.";

/// A home with files that no link may lead to.
struct Attacked {
    home: Home,
    server: Server,
}

impl Attacked {
    fn new(config: &str) -> Self {
        let home = Home::new();
        let server = Script::answering(|_| say("INJECTED-REPLY")).serve();
        home.config(&server, config);
        for file in [".bashrc", "key"] {
            home.write(home.home().join(file), PRIVATE);
        }
        home.write(home.home().join("outside/file"), PRIVATE);
        Self { home, server }
    }

    fn link(&self, to: &str, link: impl AsRef<Path>) {
        let link = self.home.work().join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(self.home.home().join(to), link).unwrap();
    }

    /// One prompt, with more arguments.
    fn ask(&self, args: &[&str]) -> Run {
        let all = [&["-c", "test.yaml", "-s", "s", "-p", SAID], args].concat();
        self.home.cogtrix(&all).without("COGTRIX_DATA_DIR").run()
    }

    /// Nothing outside changed, came in, or was sent.
    fn assert_nothing_happened(&self, run: &Run) {
        let home = self.home.home();
        for file in [".bashrc", "key", "outside/file"] {
            let text = std::fs::read_to_string(home.join(file)).unwrap();
            assert_eq!(text, PRIVATE, "{file}: {run}");
        }
        assert_eq!(names(&home.join("outside")), ["file"], "{run}");
        assert_eq!(names(&home), [".bashrc", "key", "outside", "work"], "{run}");
        let requests = self.server.requests().into_iter();
        for Request { body, .. } in requests {
            assert!(!body.to_string().contains("PRIVATE-MARKER"), "{run}");
        }
        assert!(!run.to_string().contains("PRIVATE-MARKER"), "{run}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != ".local").collect();
    names.sort();
    names
}

/// Names of the notes of today, and of the days around it in case midnight is near.
fn days() -> [String; 3] {
    let day = Duration::from_hours(24);
    let now = Local::now();
    [now - day, now, now + day].map(|at| format!("{}.md", at.format("%Y-%m-%d")))
}

#[test]
fn links_in_a_workspace_lead_neither_to_a_shell_file_nor_to_a_key() {
    let attacked = Attacked::new("");
    for day in days() {
        attacked.link(".bashrc", format!("notes/memory/{day}"));
    }
    attacked.link("key", "notes/USER.md");
    attacked.link("key", "notes/MEMORY.md");
    let run = attacked.ask(&["--workspace", "notes"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("INJECTED-REPLY"), "{run}");
    attacked.assert_nothing_happened(&run);
    for name in ["USER.md", "MEMORY.md"] {
        let told = format!("{name} is a link that points outside ");
        assert_eq!(run.stderr.matches(&told).count(), 1, "{run}");
    }
    assert!(
        run.stderr
            .contains("/notes; copy the file in, or point memory.path"),
        "{run}"
    );
    assert!(
        run.stderr.contains(".md is a link that points outside "),
        "{run}"
    );
}

#[test]
fn the_same_links_in_the_workspace_of_a_data_folder_lead_nowhere() {
    let attacked = Attacked::new("");
    for day in days() {
        attacked.link(".bashrc", format!("data/workspace/memory/{day}"));
    }
    attacked.link("key", "data/workspace/USER.md");
    attacked.link("outside", "data/workspace/sessions");
    attacked.link("outside", "data/workspace/memories");
    let run = attacked.ask(&["--data-dir", "data"]);
    assert_eq!(run.code, Some(0), "{run}");
    attacked.assert_nothing_happened(&run);
    assert!(
        run.stderr
            .contains("USER.md is a link that points outside "),
        "{run}"
    );
}

#[test]
fn a_workspace_that_is_itself_a_link_out_of_the_data_folder_is_not_used() {
    let attacked = Attacked::new("");
    attacked.link("outside", "data/workspace");
    let run = attacked.ask(&["--data-dir", "data"]);
    assert_eq!(run.code, Some(0), "{run}");
    attacked.assert_nothing_happened(&run);
    assert!(
        run.stderr
            .contains("workspace is a link that points outside "),
        "{run}"
    );
}

#[test]
fn no_file_of_a_session_is_read_or_written_behind_a_link_that_leads_out() {
    // Where it leads to harm comes first.
    for file in ["s.journal.jsonl", "s.lock", "s.json"] {
        for to in ["outside/new", "key"] {
            let attacked = Attacked::new("");
            attacked.link(to, format!("data/history/{file}"));
            let run = attacked.ask(&["--data-dir", "data"]);
            attacked.assert_nothing_happened(&run);
            assert!(run.stderr.contains("a link"), "{file}: {run}");
            let link: PathBuf = attacked.home.work().join("data/history").join(file);
            assert!(link.is_symlink(), "{file}: {run}");
        }
    }
}

#[test]
fn a_history_folder_that_is_a_link_out_holds_no_session() {
    let attacked = Attacked::new("");
    attacked.link("outside", "data/history");
    let run = attacked.ask(&["--data-dir", "data"]);
    attacked.assert_nothing_happened(&run);
    assert!(
        run.stderr
            .contains("history is a link that points outside "),
        "{run}"
    );
}

#[test]
fn entries_behind_a_link_that_leads_out_are_neither_read_nor_written() {
    let attacked = Attacked::new("");
    attacked.link("key", "data/memory/global.json");
    attacked
        .home
        .write("new.jsonl", "{\"content\": \"tea, not coffee\"}\n");
    let import = [
        "memory",
        "import",
        "--format",
        "entries",
        "--global",
        "new.jsonl",
    ];
    let all = [&["-c", "test.yaml", "--data-dir", "data"], &import[..]].concat();
    let run = attacked
        .home
        .cogtrix(&all)
        .without("COGTRIX_DATA_DIR")
        .run();
    attacked.assert_nothing_happened(&run);
    assert_ne!(run.code, Some(0), "{run}");
    assert!(
        run.stderr
            .contains("global.json is a link that points outside "),
        "{run}"
    );
}

#[test]
fn no_vector_is_read_or_written_behind_a_link() {
    let config = "embedding: {provider: hashed, dim: 32}\nmemory: {background: false}\n";
    // Of `hashed/32`.
    let vectors = "vectordb/b07595f0f2d57b98.vectors";
    let links = [
        None,
        Some(("outside", "vectordb")),
        Some(("outside", "vectordb/sessions/s")),
        Some(("outside/new", vectors)),
        Some(("key", vectors)),
        Some(("key", "vectordb/sessions/s/exchanges.jsonl")),
    ];
    for link in links {
        let attacked = Attacked::new(config);
        if let Some((to, link)) = link {
            attacked.link(to, Path::new("data").join(link));
        }
        attacked.ask(&["--data-dir", "data"]);
        let index = ["-c", "test.yaml", "--data-dir", "data", "memory", "reindex"];
        let run = attacked.home.cogtrix(&index);
        let run = run.without("COGTRIX_DATA_DIR").run();
        attacked.assert_nothing_happened(&run);
        let vectors = attacked.home.work().join("data").join(vectors);
        assert!(vectors.is_file() || link.is_some(), "without a link: {run}");
    }
}

#[test]
fn a_workspace_in_the_project_is_out_of_reach_of_tools_and_commands() {
    const NOTE: &str = "PRIVATE-MARKER";
    let command = "mv notes away; rm -rf notes; ln -s ../outside notes; cat notes/USER.md";
    let server = Server::start([
        say("").calling("c1", "read_file", json!({"path": "notes/USER.md"})),
        say("").calling("c2", "shell", json!({"command": command})),
        say("Done."),
    ]);
    let home = Home::new();
    let more = "memory: {path: notes}\nembedding: {provider: none}\ntools: {preset: all}";
    home.config(&server, more);
    home.write("notes/USER.md", NOTE);
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "-y", "-p", "Look at my notes"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let folder = home.work().join("notes");
    assert!(folder.symlink_metadata().unwrap().is_dir(), "{run}");
    assert_eq!(
        std::fs::read_to_string(folder.join("USER.md")).unwrap(),
        NOTE
    );
    let last = server.chats().pop().unwrap().body;
    let messages = last["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    for result in results {
        assert!(!result["content"].to_string().contains(NOTE), "{result}");
    }
}
