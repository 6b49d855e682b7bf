//! Compaction: one text in the place of many messages, in what is sent and never in what is kept.
//!
//! A result is committed only if it is complete, not empty, at least a fifth smaller than what it stands
//! for, and in the conversation's script; otherwise nothing changes (O18).

mod command;

pub use command::{
    CannotCompact, CompactJob, Compacted, NotCompacted, Size, accept, head, job, worth_keeping,
};
