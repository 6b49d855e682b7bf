//! The terminal as a device: the one place that prints.
//!
//! ```text
//!   output    who prints what on which stream: replies and answers -> stdout, the rest -> stderr
//!   policy    color, progress and verbosity, decided once
//!   escape    foreign text made harmless before a terminal sees it
//!   text      widths, cutting, tables, bars
//!   background  dark or light
//!   markdown  replies laid out while they arrive
//!   list, keys  a list to choose from, and the keys for it
//!   restore   the terminal left as it was found
//! ```
//!
//! It knows nothing of turns, models or memory; who calls it says what the words mean.

mod background;
mod escape;
#[cfg(test)]
pub(crate) mod fixture;
mod keys;
mod list;
mod markdown;
mod output;
mod policy;
mod restore;
mod settings;
mod text;

pub use escape::{Harmless, harmless};
pub use keys::{Key, Keys};
pub use list::List;
pub use markdown::{leads_out, without_markup};
pub use output::{CannotCopy, Output, OutputError, Streams, Went};
pub use policy::{Device, Features, Paint, Policy, Replies, Verbosity};
pub use restore::{Lent, Stops, TerminalState, at_cursor, is_ready};
pub use settings::{EditKeys, Settings, Theme};
pub use text::{
    Align, NARROW, Table, bar, fit_end, fit_to, sentence, thousands, width, wrap_prose,
};
