//! The files of a session: bytes -> a session, mended where they are damaged.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cogtrix::chat::{Session, SessionMeta, Unknown};
use cogtrix::files::MemoryDisk;
use cogtrix::store::{Repair, SessionStore, StoreError, export_json};

use super::store::{
    FILES, SEPARATOR, check_goes_on, check_other, name, open, path, plain, put_other, store,
};

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Whatever the files of a session hold: it opens, once mended it stays as it is, the original of what was mended is
/// kept, and no other session is touched. What is refused is left byte for byte.
pub fn session(input: &[u8]) {
    let disk = MemoryDisk::default();
    let other = put_other(&disk);
    for (file, bytes) in FILES.iter().zip(input.split(|byte| *byte == SEPARATOR)) {
        // An empty piece is no file.
        if !bytes.is_empty() {
            disk.put(path(file), bytes);
        }
    }
    let before = kept(&disk);
    check_other(&disk, &other);
    store(&disk).read(&name()).ok();
    assert_eq!(kept(&disk), before, "reading changed files");
    let opened = match open(&disk) {
        Ok(opened) => opened,
        Err(StoreError::Newer { .. }) => {
            assert_eq!(kept(&disk), before, "a newer file was touched");
            return check_other(&disk, &other);
        }
        Err(error) => panic!("a session does not open: {error}"),
    };
    for repair in &opened.repairs {
        check_kept(repair, &before, &kept(&disk));
    }
    let exported = export_json(&opened.session);
    check_export(&exported, &opened.session);
    check_goes_on(&disk, opened);
    check_other(&disk, &other);
}

fn kept(disk: &MemoryDisk) -> Files {
    let mut files = disk.files();
    files.retain(|path, _| path.extension().is_none_or(|ending| ending != "lock"));
    files
}

fn check_kept(repair: &Repair, before: &Files, after: &Files) {
    let (file, kept_as) = match repair {
        Repair::SetAside { file, kept_as, .. }
        | Repair::NotesSetAside { file, kept_as }
        | Repair::ScratchpadSetAside { file, kept_as }
        | Repair::PinsSetAside { file, kept_as }
        | Repair::ForgottenSetAside { file, kept_as }
        | Repair::JournalLines { file, kept_as, .. }
        | Repair::SummariesDropped { file, kept_as } => (file, kept_as),
        Repair::UnfinishedTurn { .. } | Repair::Clamped { .. } | Repair::LeftAlone { .. } => return,
    };
    assert_eq!(before[file], after[kept_as], "{repair:?}");
}

/// A session carried elsewhere is the same there.
fn check_export(exported: &str, session: &Session) {
    let disk = MemoryDisk::default();
    disk.put(path("s.json"), exported.as_bytes());
    let opened = open(&disk).expect("an export opens");
    assert_eq!(opened.repairs, [], "an export is damaged");
    assert_eq!(plain(&opened.session), plain(session));
    // A value that cannot be that of a known field is kept until the field itself is written.
    let known = |session: &Session| SessionMeta {
        unknown: Unknown::new(),
        ..session.meta().clone()
    };
    assert_eq!(known(&opened.session), known(session));
}
