//! What is known of a server at a moment: a value that its task replaces and everybody else looks at.

use std::sync::Arc;

use super::link::Link;
use super::listing::Listed;
use super::state::State;

/// The state, and what stands behind it.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// Which start this is about; a task of an earlier one has nothing to say any more.
    pub(super) run: u64,
    pub(super) state: State,
    /// There while it is ready.
    pub(super) link: Option<Link>,
    /// The last list there was; stays when the server ends, so that its tools can say what became of it.
    pub(super) listed: Arc<Vec<Listed>>,
    /// Why it ended the last time, while it is started again.
    pub(super) ended: Option<String>,
}

impl Snapshot {
    pub(super) fn of(state: State) -> Self {
        Self {
            run: 0,
            state,
            link: None,
            listed: Arc::default(),
            ended: None,
        }
    }

    pub(super) fn is_starting(&self) -> bool {
        self.state == State::Starting
    }
}
