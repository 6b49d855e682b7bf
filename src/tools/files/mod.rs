//! Tools for the files of a project, and what keeps them inside it.
//!
//! ```text
//!   read_file, list_directory, search_files, write_file, edit_file    the tools
//!   project       the folder, as a capability: nothing leads out of it
//!   walk          folders and what is in them, ignored files apart
//!   changes       what files held before tools changed them
//!   writing       one change of a file: copy first, then replace
//!   replacement   exact text for exact text
//!   mentions      files that a person's message names with an `@`
//!   diff, words   a change in lines; numbers, sizes and paths in words
//! ```

mod changes;
mod diff;
mod edit_file;
#[cfg(test)]
mod fixture;
mod list_directory;
pub mod mentions;
mod project;
mod read_file;
mod replacement;
mod search_files;
mod walk;
mod words;
mod write_file;
mod writing;

pub use changes::{Change, Changes, ChangesError, FILE_MAX, Restored};
pub(super) use diff::difference;
pub use edit_file::EditFile;
pub use list_directory::ListDirectory;
pub use project::{Project, ProjectError};
pub use read_file::ReadFile;
pub use search_files::SearchFiles;
pub use write_file::WriteFile;
pub(super) use writing::blocking;
