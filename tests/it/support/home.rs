//! A home of its own for the program under test: empty folders, an empty environment, and runs of the
//! real binary in it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use cogtrix::testing::server::Server;
use serde_json::Value;
use tempfile::TempDir;

use super::normal::normal;
use super::run::{Cogtrix, Run};

/// Folders that nothing else uses.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir_all(folder.path().join("home/work")).unwrap();
        Self { folder }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The folder it is started in.
    pub(crate) fn work(&self) -> PathBuf {
        self.home().join("work")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A file below `history/`.
    pub(crate) fn history(&self, file: &str) -> PathBuf {
        self.data().join("history").join(file)
    }

    /// The snapshot of a session.
    pub(crate) fn snapshot(&self, session: &str) -> Value {
        let path = self.history(&format!("{session}.json"));
        let bytes =
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_slice(&bytes).unwrap()
    }

    /// What a session's snapshot holds, as `role: content`.
    pub(crate) fn said(&self, session: &str) -> Vec<String> {
        let snapshot = self.snapshot(session);
        let messages = snapshot["messages"].as_array().unwrap().iter();
        let line = |message: &Value| {
            format!(
                "{}: {}",
                message["role"].as_str().unwrap(),
                message["content"].as_str().unwrap()
            )
        };
        messages.map(line).collect()
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(text.as_ref()).unwrap();
        path
    }

    /// A config file with one OpenAI-compatible model at `server`, and more lines behind it.
    pub(crate) fn config(&self, server: &Server, more: &str) -> PathBuf {
        self.config_of("openai", &server.openai_url(), more)
    }

    /// The same for another protocol.
    pub(crate) fn config_of(&self, kind: &str, url: &str, more: &str) -> PathBuf {
        let key = if kind == "anthropic" {
            ", api_key: secret-key"
        } else {
            ""
        };
        let text = format!(
            "providers: {{there: {{type: {kind}, base_url: \"{url}\"{key}}}}}\n\
             network: {{tries: 1}}\n{more}\n"
        );
        let models = if more.contains("models:") {
            ""
        } else {
            "models: {default: it, it: {provider: there, model: scripted, context_window: 32768}}\n"
        };
        self.write("test.yaml", text + models)
    }

    /// The program with arguments, its data in this home.
    pub(crate) fn cogtrix(&self, args: &[&str]) -> Cogtrix {
        Cogtrix::new(&self.work())
            .args(args)
            .env("HOME", self.home())
            .env("COGTRIX_DATA_DIR", self.data())
    }

    /// Trusts the rules of the folder it is started in, as a person does who answers yes.
    pub(crate) fn trust(&self) {
        let work = self.work().canonicalize().unwrap();
        let record = serde_json::json!({
            "id": cogtrix::files::FolderId::of(&work),
            "rule_files": [work.join("AGENTS.md"), work.join("CLAUDE.md")],
        });
        let folders =
            serde_json::json!({"version": 2, "folders": {work.to_str().unwrap(): record}});
        let file = self.home().join(".local/state/cogtrix/trust.json");
        self.write(file, folders.to_string());
    }

    /// One prompt to the model of `test.yaml`, in a session.
    pub(crate) fn ask(&self, session: &str, prompt: &str) -> Run {
        self.cogtrix(&["-c", "test.yaml", "-s", session, "-p", prompt])
            .run()
    }

    /// Lines to the model of `test.yaml`, in a session.
    pub(crate) fn lines(&self, session: &str, lines: &[&str]) -> Run {
        let text: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        self.cogtrix(&["-c", "test.yaml", "-s", session, "--lines"])
            .stdin(text)
            .run()
    }

    /// Everything a run printed, without what differs from run to run.
    pub(crate) fn shown(&self, run: &Run) -> String {
        self.normal(&run.to_string())
    }

    /// A text without what differs from run to run.
    pub(crate) fn normal(&self, text: &str) -> String {
        normal(text, self.folder.path())
    }

    /// Every file below a folder, relative to it, with its content; but for the one that says which session was left
    /// last, which every chat writes.
    pub(crate) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&next) else {
                continue;
            };
            for path in entries.map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("history/.last") {
                    let name = path.strip_prefix(folder).unwrap().to_owned();
                    files.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
        files
    }
}
