//! Memory entries: short texts with a key, kept for the session, the project or everywhere (G1). Unit: one entry.
//!
//! ```text
//!   entry     one text and what is known of it        tags      what it speaks of, read from its words
//!   list      the entries of one scope: changes are values, applied to whatever is there
//!   file      a scope on disk: a log of changes over the file as it is     format    its form
//!   lookup    entries by words                        project   which project a folder belongs to
//!   line      an entry carried elsewhere: a line of its own, read strictly       import    many of them, all or none
//!   wanted    what is to be kept, checked and without secrets               store    the three scopes together
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
mod settings;
mod store;
mod tags;
mod wanted;

pub use entry::{Earlier, Entry, EntryId, Kind, Origin, Scope};
pub use error::{EntriesError, Notice};
pub use import::Imported;
pub use line::{BadEntry, document, parse, written};
pub use lookup::Found;
pub use project::{hash as project_hash, root as project_root};
pub use settings::StoreSettings;
pub use store::{EntryStore, Folder};
pub use wanted::{Kept, Mask, Status, Wanted, unmasked};
