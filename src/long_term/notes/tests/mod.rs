//! The files of a workspace on a disk in memory: what is written, what stays, what a failure leaves.

mod daily;
mod disk;
mod long_term;
mod requests;
mod session_files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::chat::{SessionName, Timestamp};
use crate::files::{Disk, FaultyDisk, LocalDisk, MemoryDisk, RootedDisk};
use crate::hint::Hint;

fn workspace(disk: &MemoryDisk) -> Workspace {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Workspace::new(disk, PathBuf::from("w"), WorkspaceSettings::default())
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn noon() -> Timestamp {
    at("2026-02-14T12:00:00Z")
}

fn session() -> SessionName {
    "work".parse().unwrap()
}

fn text(disk: &MemoryDisk, path: &str) -> String {
    String::from_utf8(disk.read(PathBuf::from("w").join(path).as_path()).unwrap()).unwrap()
}

fn add(long_term: &LongTerm<'_>, text: &str) -> Result<Added, NotesError> {
    long_term.add(noon(), &Section::AutoCaptured, text, |_| Judgement::Add)
}

const STATE: &str = "sessions/work/SESSION-STATE.md";
