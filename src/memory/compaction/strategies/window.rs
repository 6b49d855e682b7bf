//! `window`: above 40 messages the first run, a summary and the newest half are sent (O6-O11).

use super::{Kind, Strategy};
use crate::memory::compaction::cut::{self, Cut};
use crate::memory::compaction::view::View;

/// See the module.
#[derive(Debug)]
pub(super) struct Window;

impl Strategy for Window {
    fn kind(&self) -> Kind {
        Kind::Window
    }

    fn is_due(&self, view: &View<'_>) -> bool {
        let max = view.settings.max_history_messages;
        let left = cut::first_run(view.session) + 1 + view.settings.window_retained();
        max > 0 && view.listed(self.kind().as_str(), left.min(max), max) > max
    }

    fn cut(&self, view: &View<'_>) -> Option<Cut> {
        let cut = Cut {
            head: cut::first_run(view.session),
            upto: cut::newest(view.session, view.settings.window_retained()),
        };
        cut.checked(view.session)
    }
}
