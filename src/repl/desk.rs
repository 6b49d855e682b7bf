//! What commands work on: the conversation, and what it takes to open another or ask another model.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::approve::Questions;
use crate::agent::Agent;
use crate::chat::{Session, Timestamp};
use crate::clock::Clock;
use crate::provider::Catalog;
use crate::store::SessionStore;

/// The parts of a running chat.
#[derive(Debug)]
pub struct Desk {
    pub agent: Agent,
    pub store: Arc<dyn SessionStore>,
    pub catalog: Catalog,
    pub clock: Arc<dyn Clock>,
    /// How long opening another session waits for its lock.
    pub lock_wait: Duration,
    pub places: Places,
    /// What tools ask the person; none arrive where nobody is asked.
    pub questions: Option<Questions>,
    /// Columns of the terminal, for tables; 80 where there is none.
    pub columns: usize,
}

/// Where things are.
#[derive(Clone, Debug)]
pub struct Places {
    pub data: PathBuf,
    pub config: Option<PathBuf>,
    /// What `~` stands for in a path that is typed.
    pub home: Option<PathBuf>,
}

impl Desk {
    pub fn session(&self) -> &Session {
        self.agent.session()
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
