//! What goes to the model, as a value: `Draft` -> `fit` -> `ContextPlan`.
//!
//! Stages make sections, a draft lines them up in the order of sending, and [`fit`](fn@fit) alone turns a draft
//! into a plan that is within its budget. `/context` shows the plan; the agent sends it.
//!
//! ```text
//!  classic         system texts, summary, recall, mode state | compacted head | pending | window | recovered | input
//!  cache-friendly  system texts, summary | compacted head | pending | window | recall, mode state | recovered | input
//!                  `------------------ one prompt, at most Budget::prompt -----------------'   reply reserve   margin
//! ```
//! The first group of each is the leading system message; in the second layout recall and mode state are messages
//! of the user's role, fenced and labelled, as what was recovered is in both.

mod budget;
mod fit;
mod plan;
mod section;
mod settings;
pub mod stages;

pub use budget::Budget;
pub use budget::TokenUsage;
pub use fit::{DoesNotFit, fit};
pub use plan::{ContextPlan, Cut, LeftOut};
pub use section::{Brought, Content, Draft, GivesWay, Section, SectionKind, Source};
pub use settings::{Guard, Layout, ResultPolicy, Settings, Strategy};

/// Stands where text was cut out of a message (C80).
pub const TRUNCATED: &str = "[…truncated…]";
