//! Files that are imported: lines -> messages of sessions, and objects -> memory entries.

use cogtrix::chat::{Message, Session, Timestamp};
use cogtrix::cli::import_line;
use cogtrix::files::MemoryDisk;
use cogtrix::long_term::entries::{self, Scope};
use cogtrix::store::export_json;
use serde_json::Value;

use super::store::{name, open, path, plain, without_fractions};

/// A line is a message, nothing, or a flaw in one line of words with something to do about it. A message is kept as it
/// was read, and an entry that is written reads back the same.
pub fn import(input: &[u8]) {
    let mut messages = Vec::new();
    for line in input.split(|byte| *byte == b'\n') {
        match import_line(line) {
            Ok(Some((_, message))) => messages.push(message),
            Ok(None) => {}
            Err((flaw, hint)) => {
                assert!(!hint.is_empty(), "{flaw} has no hint");
                assert!(!flaw.contains('\n'), "{flaw:?} has several lines");
            }
        }
        if let Ok(stored) = serde_json::from_slice(line) {
            check_entry(stored);
        }
    }
    if let Some(Ok(stored)) = entries::document(input) {
        stored.into_iter().for_each(check_entry);
    }
    check_kept(messages);
}

fn check_kept(mut messages: Vec<Message>) {
    let mut ids = std::collections::HashSet::new();
    messages.retain(|message| ids.insert(message.id.clone()));
    if messages.is_empty() {
        return;
    }
    let mut session = Session::new(name());
    session.import(messages);
    let disk = MemoryDisk::default();
    disk.put(path("s.json"), export_json(&session).as_bytes());
    let opened = open(&disk).expect("imported messages open");
    assert_eq!(opened.repairs, [], "an import makes a damaged file");
    assert_eq!(plain(&opened.session), plain(&session));
}

fn check_entry(mut stored: Value) {
    without_fractions(&mut stored);
    let now = Timestamp::from_unix(1_771_082_585).expect("a constant time");
    let Ok((scope, entry)) = entries::parse(stored, now) else {
        return;
    };
    let line = entries::written(scope.unwrap_or(Scope::Project), &entry);
    assert!(!line.contains('\n'), "{line:?} has several lines");
    let again = serde_json::from_str(&line).expect("a written entry is JSON");
    let (_, again) = entries::parse(again, now).expect("a written entry reads");
    assert_eq!(again, entry);
}
