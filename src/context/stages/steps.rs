//! Where the past begins in a request that is to begin like the one before it: a place that stays for many turns and
//! then moves on by many turns at once.
//!
//! Unit: turns. Pure, and without memory: of the places that are allowed, the roundest turn number is taken. It
//! stays the roundest until it is allowed no more, and a session that is resumed begins where it did.

use crate::chat::{Tokens, TurnId};

/// What one turn of the past takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub turn: TurnId,
    pub messages: usize,
    pub cost: Tokens,
}

/// How much of the past is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Messages that are enough.
    pub enough: usize,
    /// Messages that are sent at most.
    pub max: usize,
    /// What they may cost. Half of it is enough, too.
    pub room: Tokens,
}

impl Bounds {
    /// As much as there is room for.
    pub fn of_room(room: Tokens) -> Self {
        Self {
            enough: usize::MAX,
            max: usize::MAX,
            room,
        }
    }

    /// So many messages, and up to a step more.
    pub fn of_messages(enough: usize, step: usize, room: Tokens) -> Self {
        Self {
            enough,
            max: enough.saturating_add(step),
            room,
        }
    }
}

/// The first of these turns, oldest first, to be sent; never beyond the last one.
pub fn start(turns: &[Size], bounds: Bounds) -> usize {
    let mut messages = 0;
    let mut cost = Tokens::ZERO;
    let mut best: Option<(u32, usize)> = None;
    for (place, turn) in turns.iter().enumerate().rev() {
        messages += turn.messages;
        cost += turn.cost;
        let is_last = place + 1 == turns.len();
        if !is_last && (cost > bounds.room || messages > bounds.max) {
            break;
        }
        let is_enough = messages >= bounds.enough || cost > Tokens(bounds.room.0 / 2);
        // With nothing left out there is nothing to begin at; with too little, more is better.
        let roundness = match (place, is_enough) {
            (0, _) => u32::MAX,
            (_, true) => 1 + turn.turn.0.trailing_zeros(),
            (_, false) => 0,
        };
        if best.is_none_or(|(found, _)| roundness >= found) {
            best = Some((roundness, place));
        }
    }
    best.map_or(0, |(_, place)| place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn turns(upto: u32, cost: u32) -> Vec<Size> {
        let size = |turn| Size {
            turn: TurnId(turn),
            messages: 2,
            cost: Tokens(cost),
        };
        (1..=upto).map(size).collect()
    }

    #[test]
    fn the_beginning_stays_for_many_turns_and_enough_is_sent() {
        let bounds = Bounds::of_messages(26, 80, Tokens(1_000_000));
        let mut moves = 0;
        let mut before = 0;
        for n in 1..=400 {
            let at = start(&turns(n, 100), bounds);
            let sent = 2 * (n as usize - at);
            assert!(sent <= 106 && (at == 0 || sent >= 26), "{sent} of {n}");
            assert!(at >= before, "it went back in turn {n}");
            moves += usize::from(at > before);
            before = at;
        }
        assert!(moves <= 14, "{moves}");
    }

    #[test]
    fn a_small_room_is_left_in_steps_as_well() {
        let bounds = Bounds::of_room(Tokens(1_600));
        let starts: Vec<usize> = (17..=48).map(|n| start(&turns(n, 100), bounds)).collect();
        let mut different = starts.clone();
        different.dedup();
        assert!(different.len() <= 5, "{starts:?}");
    }

    #[test]
    fn one_turn_is_always_sent() {
        let bounds = Bounds::of_messages(26, 80, Tokens(10));
        assert_eq!(start(&turns(7, 100), bounds), 6);
        assert_eq!(start(&[], bounds), 0);
    }

    proptest! {
        #[test]
        fn what_is_sent_is_within_its_bounds(
            costs in prop::collection::vec(1_u32..400, 1..60),
            room in 1_u32..4_000,
            enough in 1_usize..40,
        ) {
            let sizes: Vec<Size> = costs
                .iter()
                .zip(1_u32..)
                .map(|(cost, turn)| Size { turn: TurnId(turn), messages: 2, cost: Tokens(*cost) })
                .collect();
            let bounds = Bounds::of_messages(enough, 20, Tokens(room));
            let at = start(&sizes, bounds);
            let cost: u32 = costs[at..].iter().sum();
            let is_last = at + 1 == costs.len();
            prop_assert!(is_last || (cost <= room && 2 * (costs.len() - at) <= enough + 20));
        }
    }
}
