//! The journal: what was acknowledged before the damage is there after it.

use cogtrix::chat::{Record, Session};
use cogtrix::files::MemoryDisk;
use cogtrix::store::StoreError;

use super::store::{check_goes_on, check_other, name, open, path, put_other, turn};

/// The first bytes say how many turns there were, where the damage begins and whether it replaces what follows; the
/// rest is the damage. Every record whose line ends before the damage is in the session again, in its order.
pub fn journal(input: &[u8]) {
    let [turns, place, mode, damage @ ..] = input else {
        return;
    };
    let disk = MemoryDisk::default();
    let other = put_other(&disk);
    let acknowledged = acknowledged(&disk, usize::from(turns % 5), damage);
    let file = path("s.journal.jsonl");
    let good = disk.files().remove(&file).unwrap_or_default();
    let place = good.len() * usize::from(*place) / usize::from(u8::MAX);
    let behind = match mode % 3 {
        // Torn there.
        0 => good.len(),
        // Overwritten.
        1 => (place + damage.len()).min(good.len()),
        // Written between.
        _ => place,
    };
    disk.put(&file, &[&good[..place], damage, &good[behind..]].concat());
    let whole = good[..place].split(|byte| *byte == b'\n').count() - 1;
    let mut expected = Session::new(name());
    for record in &acknowledged[..whole] {
        expected.apply(record.clone());
    }
    let before = disk.files();
    match open(&disk) {
        Ok(opened) => {
            let messages = opened.session.messages();
            let kept = expected.messages();
            assert!(
                messages.starts_with(kept),
                "{whole} records before the damage: {kept:#?}, found {messages:#?}"
            );
            check_goes_on(&disk, opened);
        }
        // A line that says it is of a newer version: then nothing is touched.
        Err(StoreError::Newer { .. }) => {
            assert_eq!(disk.files().get(&file), before.get(&file));
        }
        Err(error) => panic!("a session does not open: {error}"),
    }
    check_other(&disk, &other);
}

/// Turns kept in the journal alone, as a kill leaves them; their texts are taken from the input, so that they quote
/// damage.
fn acknowledged(disk: &MemoryDisk, turns: usize, text: &[u8]) -> Vec<Record> {
    let opened = open(disk).expect("an empty folder opens");
    let (mut session, mut log) = (opened.session, opened.log);
    let text = String::from_utf8_lossy(&text[..text.len().min(64)]);
    let mut records = Vec::new();
    for n in 0..turns {
        let more = turn(&session, &format!("{n}: {text}"), &text);
        log.append(&more).expect("a memory disk takes it");
        for record in more {
            session.apply(record.clone());
            records.push(record);
        }
    }
    records
}
