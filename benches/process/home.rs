//! A folder of its own for the program under measurement: config, sessions of the sizes asked for, and the
//! way back to them after a run. Removed at the end.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use cogtrix::chat::Timestamp;
use tempfile::TempDir;

use super::common::{keep, session};
use super::run::Program;
use super::server::{LONG, WINDOW};

pub(crate) struct Home {
    folder: TempDir,
    data: PathBuf,
    /// The files of each session as they are after a first run, which reads and indexes what was imported.
    pristine: BTreeMap<usize, BTreeMap<PathBuf, Vec<u8>>>,
}

impl Home {
    pub(crate) fn new(server: SocketAddr, sizes: &[usize]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        write(
            &folder.path().join("cogtrix.yaml"),
            config(server).as_bytes(),
        );
        for &messages in sizes {
            keep(
                &data,
                Self::session_name(messages).parse().unwrap(),
                messages,
            );
        }
        Self {
            folder,
            data,
            pristine: BTreeMap::new(),
        }
    }

    /// Lets the program meet a session for the first time, and remembers what it is then.
    pub(crate) fn prime(&mut self, messages: usize, first: &Program) {
        super::run::timed(first);
        let name = Self::session_name(messages);
        let of_session = |path: &PathBuf| path.to_string_lossy().contains(&name);
        let files = files(&self.data).into_iter().filter(of_session);
        let kept = files.map(|path| (path.clone(), fs::read(&path).unwrap()));
        self.pristine.insert(messages, kept.collect());
    }

    /// A file of so many messages to import.
    pub(crate) fn talk(&self, messages: usize) -> PathBuf {
        let path = self.folder.path().join("talk.jsonl");
        let talk = session("talk".parse().unwrap(), messages);
        let lines = talk.messages().iter().map(|message| {
            let line = serde_json::json!({
                "session": "talk",
                "id": message.id.as_str(),
                "role": message.role.as_str(),
                "speaker": "Someone",
                "timestamp": message.at.map(Timestamp::iso),
                "text": message.said(),
            });
            format!("{line}\n")
        });
        write(&path, lines.collect::<String>().as_bytes());
        path
    }

    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// The program in this home and with nothing else of the environment.
    pub(crate) fn program(&self, binary: &Path, arguments: &[&str]) -> Program {
        let folder = self.folder.path();
        Program::new(binary.to_owned())
            .arguments(arguments)
            .arguments(&[
                "--config-file",
                &folder.join("cogtrix.yaml").to_string_lossy(),
            ])
            .arguments(&["--data-dir", &self.data.to_string_lossy()])
            .home(folder)
    }

    pub(crate) fn session_name(messages: usize) -> String {
        format!("of {messages}")
    }

    /// Puts a session back to what it was, and takes everything else away but the other sessions.
    pub(crate) fn restore(&self, messages: usize) {
        self.clear();
        for (path, bytes) in &self.pristine[&messages] {
            // A large snapshot is never written anew by a turn.
            let is_same = fs::metadata(path).is_ok_and(|found| found.len() == bytes.len() as u64);
            if !is_same || bytes.len() < 1 << 20 {
                write(path, bytes);
            }
        }
    }

    /// Takes away what runs have left, and keeps the files of all sessions.
    pub(crate) fn clear(&self) {
        for path in files(&self.data) {
            if !self.pristine.values().any(|kept| kept.contains_key(&path)) {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

/// All files in a folder and those in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

fn config(server: SocketAddr) -> String {
    let kinds = [("openai", "/v1"), ("ollama", ""), ("anthropic", "")];
    let providers = kinds.map(|(kind, path)| {
        format!(
            "  at-{kind}: {{ type: {kind}, base_url: \"http://{server}{path}\", api_key: \"k\" }}\n"
        )
    });
    let models = kinds.map(|(kind, _)| {
        let model = |name: &str, model: &str| {
            format!("  {name}-{kind}: {{ provider: at-{kind}, model: {model}, context_window: {WINDOW} }}\n")
        };
        model("by", "m") + &model("long", LONG)
    });
    let [providers, models] = [providers, models].map(|lines| lines.concat());
    // One request a turn: what is measured is the turn, not the summaries between turns.
    let memory =
        "memory: {modes: {conversation: {summarization: false}}}\nembedding: {provider: none}\n";
    // The bench's terminal does not tell its colours, and is not waited for.
    let theme = "ui: {theme: dark}\n";
    format!("providers:\n{providers}models:\n{models}{memory}{theme}")
}

fn write(path: &Path, bytes: &[u8]) {
    let mut file = File::create(path).unwrap();
    file.write_all(bytes).unwrap();
    // Otherwise the first sync of the run under measurement would pay for it.
    file.sync_all().unwrap();
}
