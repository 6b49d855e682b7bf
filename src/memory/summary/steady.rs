//! Which of the last summaries a request holds that is to begin like the one before it.
//!
//! A new summary changes everything behind it. So the one before it is sent for a while yet, with the messages that
//! only the new one covers: a request then changes near its beginning after many turns only. Pure: how long is
//! read from what the summaries cover.

use crate::chat::{Hybrid, Summary};

/// Messages of such a while; beyond what the window holds, about so many are sent at most.
pub const STEP: usize = 96;
/// The step in halves: none, half of it, a quarter, an eighth. Where a whole one finds no room, a smaller one may.
const UNIT: usize = STEP / 8;
pub const LEVELS: u32 = 4;

/// A summary that may be sent.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub summary: &'a Summary,
    /// The higher, the longer will it be the one to send.
    pub level: u32,
}

/// The summaries that stand for the past as the running one does, oldest first; none where there is none.
pub fn candidates(hybrid: &Hybrid) -> Vec<Candidate<'_>> {
    let Some(running) = hybrid.running() else {
        return Vec::new();
    };
    let compacted = hybrid.compaction.as_ref().map_or(0, |it| it.upto);
    let earlier = hybrid.replaced.iter().filter(|earlier| {
        earlier.from == running.from && earlier.upto > compacted && earlier.upto < running.upto
    });
    let mut covered = running.from;
    let mut candidates = Vec::new();
    for summary in earlier.chain([running]) {
        // After an undo an older one may stand behind a newer one.
        if summary.upto > covered {
            candidates.push(Candidate {
                summary,
                level: level(covered, summary.upto),
            });
            covered = summary.upto;
        }
    }
    // Of the oldest that is kept, nobody knows any more where the one before it ended.
    if candidates.len() > Hybrid::MAX_REPLACED {
        candidates.remove(0);
    }
    candidates
}

/// Whether no whole step is over since `begin`: then no summary need be sent at all.
pub fn is_young(candidates: &[Candidate<'_>], begin: usize) -> bool {
    let since = candidates
        .last()
        .map_or(0, |running| running.summary.upto.saturating_sub(begin));
    since < 2 * STEP && candidates.iter().all(|candidate| candidate.level < LEVELS)
}

/// The largest part of a step whose border lies between two coverages.
fn level(before: usize, after: usize) -> u32 {
    let crossed = (before / UNIT) ^ (after / UNIT);
    (usize::BITS - crossed.leading_zeros()).min(LEVELS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{MessageId, Timestamp};

    fn summary(upto: usize) -> Summary {
        let id = |n: usize| MessageId::numbered(n as u64);
        Summary {
            text: String::new(),
            from: 0,
            upto,
            covers: (id(1), id(upto)),
            at: Timestamp::from_unix(1_800_000_000).unwrap(),
            by: "m".into(),
        }
    }

    /// The state after so many summaries of ten messages each.
    fn hybrid(summaries: usize) -> Hybrid {
        let first = summaries.saturating_sub(1 + Hybrid::MAX_REPLACED) + 1;
        Hybrid {
            replaced: (first..summaries).map(|n| summary(n * 10)).collect(),
            summary: Some(summary(summaries * 10)),
            ..Hybrid::default()
        }
    }

    fn chosen(hybrid: &Hybrid) -> usize {
        let candidates = candidates(hybrid);
        let best = candidates
            .iter()
            .max_by_key(|it| (it.level, it.summary.upto));
        best.map_or(0, |best| best.summary.upto)
    }

    #[test]
    fn a_summary_is_the_one_to_send_until_a_whole_step_is_over() {
        let mut sent: Vec<usize> = (10..=40).map(|n| chosen(&hybrid(n))).collect();
        for (sent, newest) in sent.iter().zip(10..) {
            assert!(newest * 10 - sent < STEP + 10, "{sent} of {newest}");
        }
        sent.dedup();
        assert_eq!(sent, [100, 200, 290, 390]);
    }

    #[test]
    fn a_session_is_young_until_the_first_step_is_over() {
        for (summaries, young) in [(1, true), (9, true), (10, false), (30, false)] {
            let hybrid = hybrid(summaries);
            assert_eq!(is_young(&candidates(&hybrid), 0), young, "{summaries}");
        }
        assert!(is_young(&[], 0));
    }

    #[test]
    fn what_stands_for_something_else_is_no_candidate() {
        let mut hybrid = hybrid(3);
        hybrid.replaced[0].from = 4;
        hybrid.replaced.push(summary(40));
        let upto: Vec<usize> = candidates(&hybrid)
            .iter()
            .map(|it| it.summary.upto)
            .collect();
        assert_eq!(upto, [20, 30]);
        hybrid.summary = None;
        assert!(candidates(&hybrid).is_empty());
    }
}
