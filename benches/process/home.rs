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
    /// Snapshots as they were made, by their number of messages.
    pristine: BTreeMap<usize, Vec<u8>>,
}

impl Home {
    pub(crate) fn new(server: SocketAddr, sizes: &[usize]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        write(
            &folder.path().join("cogtrix.yaml"),
            config(server).as_bytes(),
        );
        let mut home = Self {
            folder,
            data,
            pristine: BTreeMap::new(),
        };
        for &messages in sizes {
            let name = Self::session_name(messages).parse().unwrap();
            keep(&home.data, name, messages);
            let snapshot = fs::read(home.snapshot(messages)).unwrap();
            home.pristine.insert(messages, snapshot);
        }
        home
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

    fn snapshot(&self, messages: usize) -> PathBuf {
        let name = Self::session_name(messages);
        self.data.join(format!("history/{name}.json"))
    }

    /// Puts a session back to what it was, and takes everything else away.
    pub(crate) fn restore(&self, messages: usize) {
        self.clear();
        let pristine = &self.pristine[&messages];
        let path = self.snapshot(messages);
        if fs::metadata(&path).is_ok_and(|found| found.len() == pristine.len() as u64) {
            return;
        }
        write(&path, pristine);
    }

    /// Takes away what runs have left, and keeps the snapshots of all sizes.
    pub(crate) fn clear(&self) {
        let snapshots: Vec<PathBuf> = self.pristine.keys().map(|&n| self.snapshot(n)).collect();
        for entry in fs::read_dir(self.data.join("history")).unwrap() {
            let path = entry.unwrap().path();
            if !snapshots.contains(&path) {
                fs::remove_file(path).unwrap();
            }
        }
    }
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
    format!("providers:\n{providers}models:\n{models}")
}

fn write(path: &Path, bytes: &[u8]) {
    let mut file = File::create(path).unwrap();
    file.write_all(bytes).unwrap();
    // Otherwise the first sync of the run under measurement would pay for it.
    file.sync_all().unwrap();
}
