//! Memory entries: short texts with a key, kept for the session, the project or everywhere (G1).
//!
//! ```text
//!   entry     one text and what is known of it        wanted    what is to be kept: checked, tagged, without secrets
//!   list      the entries of one scope: changes are values, applied to whatever is there
//!   file      a scope on disk: a log of changes over the file as it is     format    its form
//!   lookup    entries by words                        project   which project a folder belongs to
//!   line      an entry carried elsewhere: a line of its own, read strictly       import    many of them, all or none
//!   store     the three scopes together
//! ```
//! Invariant: within a scope no two entries have the same key, and no change of somebody else is lost.

mod entry;
mod error;
mod file;
mod format;
mod import;
mod line;
mod list;
mod lookup;
mod project;
mod store;
mod wanted;

pub use entry::{Earlier, Entry, EntryId, Kind, Origin, Scope};
pub use error::{EntriesError, Recovered};
pub use import::Imported;
pub use line::{BadEntry, document, parse, written};
pub use lookup::Found;
pub use project::{hash as project_hash, root as project_root};
pub use store::{EntryStore, Folder};
pub use wanted::{Kept, Mask, Status, Wanted, unmasked};

use serde::Deserialize;

use crate::declare::settings;

settings! {
    /// `memory.store`: what a person may set about memory entries.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct StoreSettings {
        /// Entries of one scope; beyond it the oldest leave (G9).
        pub max_entries: usize = 1_000,
        /// Milliseconds after which what waits to be written is written; what is told as kept is written at once (G8).
        pub debounce_ms: u64 = 2_000,
        /// Whether anything may be kept for all projects.
        pub allow_global: bool = true,
        /// The folder that names the project; `auto`: the nearest one with `.git` or a build file (G6).
        pub project_root: String = "auto".to_owned(),
    }
}
