//! `threshold`: from 75 % of the window on after a turn, from 80 % before a request, the middle is summarised until the
//! request takes half of the window (G19-G25).

use std::ops::RangeInclusive;

use super::{Kind, Strategy};
use crate::chat::Tokens;
use crate::memory::Recovery;
use crate::memory::compaction::MOST_CHARS;
use crate::memory::compaction::cut::{self, Cut, Tail};
use crate::memory::compaction::view::View;

/// With fewer messages nothing is gained (G25).
const LEAST_MESSAGES: usize = 12;
/// New messages between two of them (Q28).
const COOL_DOWN: usize = 4;
const HEAD: usize = 2;
const LEAST_TAIL: usize = 4;
const MOST_TAIL: usize = 20;

/// See the module.
#[derive(Debug)]
pub(super) struct Threshold;

impl Strategy for Threshold {
    fn kind(&self) -> Kind {
        Kind::Threshold
    }

    /// After a turn; before a request the bar is `warning_threshold`.
    fn is_due(&self, view: &View<'_>) -> bool {
        view.gauge.share() >= view.settings.compact_from() && view.since(COOL_DOWN) >= COOL_DOWN
    }

    fn cut(&self, view: &View<'_>) -> Option<Cut> {
        if !view.has_more_than(LEAST_MESSAGES - 1) {
            return None;
        }
        let cut = sparing(
            view,
            view.settings.summarization_ratio,
            HEAD,
            LEAST_TAIL..=MOST_TAIL,
        );
        cut.checked(view.session)
    }
}

/// A cut after which a request takes so much of the window: the tail is as long as that allows, between two numbers of
/// messages. Neither head nor tail is kept where it alone takes much of the window (lesson 26).
pub(super) fn sparing(
    view: &View<'_>,
    target: f64,
    head: usize,
    tail: RangeInclusive<usize>,
) -> Cut {
    let head = cut::first(view.session, head);
    let head = if cost(view, head) <= view.gauge.part(0.125) {
        head
    } else {
        0
    };
    let mut room = view.gauge.room(target);
    if view.settings.recovery {
        // What tells where the work stood goes along with the request.
        room = room.minus(view.gauge.part(1.0 / f64::from(Recovery::SHARE)));
    }
    let summary = Tokens::of_chars(MOST_CHARS).min(Tokens(room.0 / 4));
    let tail = Tail {
        least: *tail.start(),
        most: *tail.end(),
        room: room.minus(cost(view, head) + summary),
        at_most: view.gauge.part(0.25),
    };
    Cut {
        head,
        upto: cut::fitted(view, tail),
    }
}

fn cost(view: &View<'_>, head: usize) -> Tokens {
    let messages = view.session.messages()[..head].iter();
    messages.map(|message| view.cost_of(message)).sum()
}
