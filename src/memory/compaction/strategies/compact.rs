//! `/compact`: a summary stands for everything said so far (O16). Never due by itself.

use super::{Kind, Strategy};
use crate::memory::compaction::cut::Cut;
use crate::memory::compaction::view::View;

/// See the module.
#[derive(Debug)]
pub(super) struct Everything;

impl Strategy for Everything {
    fn kind(&self) -> Kind {
        Kind::Compact
    }

    fn is_due(&self, _: &View<'_>) -> bool {
        false
    }

    fn cut(&self, view: &View<'_>) -> Option<Cut> {
        let session = view.session;
        let all = session.messages().len();
        let running = session.unfinished().map(|turn| turn.messages.start);
        let cut = Cut {
            head: 0,
            upto: running.unwrap_or(all),
        };
        cut.checked(session)
    }
}
