//! Compaction: a text takes the place of a part of what is sent; history keeps everything (O6-O22, X26-X34, G19-G25,
//! Q25-Q28).
//!
//! ```text
//!  View -> Kind -> Cut -> CompactJob -> Inquiry -> (the agent asks) -> Compacted -> accept -> Record
//!  who is due, and     head | goes | tail   what to ask the model for             judged by numbers
//! ```
//! Pure: the agent asks and waits. Invariant: one [`Cut`] says what is summarised and what is no longer sent, so the
//! two are the same; it lies between turns, or in the first one where no call is parted from its result, and the newest
//! message of the person is never in it.

mod accept;
mod cut;
mod inquiry;
mod job;
mod marker;
mod material;
mod strategies;
mod view;

#[cfg(test)]
mod tests;

pub use accept::{NotCompacted, accept};
pub use cut::Cut;
pub use inquiry::{Inquiry, PARALLEL, Part, can_write, with_focus};
pub use job::{CannotCompact, CompactJob, Compacted, Size, job, min_after, next_part};
pub use marker::{Condensed, condense, section};
pub use strategies::{Kind, backlog, by_guards, by_strategy};
pub use view::{Gauge, View};

/// A shorter answer is no summary (G25).
pub const MIN_CHARS: usize = 24;
/// A longer one is cut.
pub const MAX_CHARS: usize = 8_000;
/// Characters of a condensed result.
pub const CONDENSED: usize = 200;
