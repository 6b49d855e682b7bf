//! A backlog, as an imported session brings it: more messages behind the window than are sent, and no summary for them. A
//! summary of the newest part stands for all of them, and grows backwards turn by turn.

use super::{Kind, Strategy};
use crate::context::stages::history;
use crate::memory::MOST_PENDING;
use crate::memory::compaction::cut::Cut;
use crate::memory::compaction::view::View;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Backlog {
    /// Messages of the sliding window: they stay.
    pub window: usize,
}

impl Strategy for Backlog {
    fn kind(&self) -> Kind {
        Kind::Threshold
    }

    fn is_due(&self, view: &View<'_>) -> bool {
        let start = history::window_start(view.session, self.window);
        start.saturating_sub(view.session.hybrid().covered()) > MOST_PENDING
    }

    fn cut(&self, view: &View<'_>) -> Option<Cut> {
        let compaction = view.session.hybrid().compaction.as_ref();
        let cut = Cut {
            head: compaction.map_or(0, |it| it.head),
            upto: history::window_start(view.session, self.window),
        };
        cut.checked(view.session)
    }
}
