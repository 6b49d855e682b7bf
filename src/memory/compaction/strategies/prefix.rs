//! `prefix`: above 20 messages or 48,000 characters a summary stands for all but the newest eight (X26-X33).

use super::{Kind, Strategy};
use crate::memory::compaction::cut::{self, Cut};
use crate::memory::compaction::view::View;

/// New messages before characters alone bring another compaction (X33).
const COOL_DOWN: usize = 6;

/// See the module.
#[derive(Debug)]
pub(super) struct Prefix;

impl Strategy for Prefix {
    fn kind(&self) -> Kind {
        Kind::Prefix
    }

    fn is_due(&self, view: &View<'_>) -> bool {
        let settings = view.settings;
        let max = settings.prefix_messages();
        let left = settings.prefix_retained();
        view.listed(self.kind().as_str(), left, max) > max
            || (view.since(COOL_DOWN) >= COOL_DOWN && view.holds_more_than(settings.prefix_chars()))
    }

    fn cut(&self, view: &View<'_>) -> Option<Cut> {
        let cut = Cut {
            head: 0,
            upto: cut::newest(view.session, view.settings.prefix_retained()),
        };
        cut.checked(view.session)
    }
}
