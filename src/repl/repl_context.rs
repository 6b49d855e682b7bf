//! What commands work on: the conversation, and what it takes to open another or ask another model.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use super::approve::Questions;
use super::edit::TextEditor;
use crate::agent::Agent;
use crate::chat::{Attached, Session, SessionName, Timestamp};
use crate::clock::Clock;
use crate::files::Disk;
use crate::hint::Hint;
use crate::provider::Catalog;
use crate::store::SessionStore;
use crate::term::Verbosity;
use crate::tools::mcp::{Change, Servers, take_in};
use crate::tools::shell::{Sandbox, Shell};
use crate::{context, memory};

/// The parts of a running chat.
#[derive(Debug)]
pub struct ReplContext {
    pub agent: Agent,
    pub env: Environment,
    /// The model is a guess until its server says which it has.
    pub assumed: bool,
    /// What `/new` calls a session that is not named, with a number behind it.
    pub usual_name: SessionName,
    /// How long opening another session waits for its lock.
    pub lock_wait: Duration,
    /// How long each turn may take; `None`: as long as it takes.
    pub turn_timeout: Option<Duration>,
    /// For `/config`.
    pub settings: Settings,
    /// What `/context preset` switches to.
    pub presets: Vec<Preset>,
    /// Servers whose tools the model may be offered; none where none are configured or tools are off.
    pub servers: Option<Box<dyn Servers>>,
    /// What tools ask the person; none arrive where nobody is asked.
    pub questions: Option<Questions>,
    /// Runs what is typed behind a `!`.
    pub shell: Shell,
    /// Commands that were run so, and what they printed: they go with the next message.
    pub ran: Vec<Attached>,
    /// What the model thought in the last turn, for `/details`; kept nowhere else.
    pub thinking: String,
    /// `ui.memory_line`: a line after each turn says what memory did.
    pub memory_line: bool,
    /// What is to be opened once the chat has ended.
    pub next: Option<Reopen>,
}

/// A session to open with parts of its own, because they write where those of this chat do not, or the other way round.
#[derive(Clone, Debug)]
pub struct Reopen {
    pub name: SessionName,
    pub read_only: bool,
    pub mode: String,
    /// Where another than at the start was chosen.
    pub model: Option<String>,
}

/// What stays as it is while a turn runs.
#[derive(Clone, Debug)]
pub struct Environment {
    pub store: Arc<dyn SessionStore>,
    pub clock: Arc<dyn Clock>,
    /// The models that can be chosen.
    pub catalog: Catalog,
    pub places: Places,
    /// Of shell commands.
    pub sandbox: Sandbox,
    /// Columns of the terminal, for tables; 80 where there is none.
    pub columns: usize,
    pub verbosity: Verbosity,
}

impl Environment {
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// A key of the config file, with the value in force.
#[derive(Clone, Debug)]
pub struct Setting {
    pub key: String,
    pub value: String,
    /// Where it is set; `None`: it is the default.
    pub source: Option<String>,
}

/// Read when it is asked for.
pub type Settings = Arc<LazyLock<Vec<Setting>, Box<dyn FnOnce() -> Vec<Setting> + Send>>>;

/// Settings of the context under a name.
#[derive(Clone, Debug)]
pub struct Preset {
    pub name: String,
    /// `key: value`, one for each that it sets.
    pub sets: Vec<String>,
    pub context: context::Settings,
    pub memory: memory::Settings,
}

/// Where things are.
#[derive(Clone, Debug)]
pub struct Places {
    pub data: PathBuf,
    pub config: Vec<PathBuf>,
    /// What `~` stands for in a path that is typed.
    pub home: Option<PathBuf>,
    /// The file with earlier inputs.
    pub line_history: Option<PathBuf>,
    pub editor: TextEditor,
    /// What this run reads and writes through.
    pub disk: Arc<dyn Disk>,
    pub writing: Writing,
}

/// Whether what is written is there after the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    Kept,
    /// It ends with the run: a private session.
    Veiled,
    /// Nothing is written: the session is open read-only (`--no-lock`).
    Refused,
}

/// Refuses a line that would change a session which is open read-only (C85).
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("this session is open read-only")]
pub struct ReadOnly;

impl Hint for ReadOnly {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some("`/new` starts another session, `/session NAME` opens one".into())
    }
}

impl ReplContext {
    pub fn session(&self) -> &Session {
        self.agent.session()
    }

    /// Takes in what became of servers: the next turn has the tools that they have now.
    pub fn take_in_servers(&mut self) -> Vec<Change> {
        match &mut self.servers {
            Some(servers) => take_in(servers.as_mut(), &mut self.agent.toolbox_mut().registry),
            None => Vec::new(),
        }
    }
}

/// A path with `~` for the person's home.
pub fn home_relative(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest == Path::new("") => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_home_begins_with_a_tilde() {
        for (path, home, expected) in [
            ("/home/ann", Some("/home/ann"), "~"),
            ("/home/ann/proj", Some("/home/ann"), "~/proj"),
            ("/home/anne/proj", Some("/home/ann"), "/home/anne/proj"),
            ("/home/ann/proj", None, "/home/ann/proj"),
        ] {
            let shown = home_relative(Path::new(path), home.map(Path::new));
            assert_eq!(shown, expected, "{path}");
        }
    }
}
