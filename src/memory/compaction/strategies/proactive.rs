//! `proactive`: where the next turn would take more than 60 % of the window, a line with a count stands for all but the first
//! two messages and the last four (Q25-Q28).

use super::threshold::sparing;
use super::{Kind, Strategy};
use crate::memory::compaction::cut::Cut;
use crate::memory::compaction::view::View;

/// With no more messages than these nothing is gained (Q26).
const MIN_MESSAGES: usize = 6;
/// New messages between two of them (Q28).
const COOL_DOWN: usize = 4;
const HEAD: usize = 2;
const TAIL: usize = 4;

/// See the module.
#[derive(Debug)]
pub(super) struct Proactive;

impl Strategy for Proactive {
    fn kind(&self) -> Kind {
        Kind::Proactive
    }

    fn is_due(&self, view: &View<'_>) -> bool {
        let gauge = view.gauge;
        let next = f64::from((gauge.used + gauge.output).0) * view.settings.safety_margin;
        let max = f64::from(gauge.window.0) * view.settings.proactive_threshold;
        gauge.window.0 > 0 && next > max && view.since(COOL_DOWN) >= COOL_DOWN
    }

    fn cut(&self, view: &View<'_>) -> Option<Cut> {
        if !view.has_more_than(MIN_MESSAGES) {
            return None;
        }
        let cut = sparing(view, view.settings.compaction_target, HEAD, TAIL..=TAIL);
        cut.checked(view.session)
    }
}
