use super::super::entry::Kind;
use super::super::list::New;
use super::*;
use crate::files::{Fault, FaultyDisk, MemoryDisk, Moment, Schedule};

const PATH: &str = "/d/memory/global.json";

fn now() -> Timestamp {
    Timestamp::from_unix(1_800_000_000).unwrap()
}

fn open(disk: &Arc<dyn Disk>) -> File {
    let scope = (Scope::Global, None);
    File::new(Arc::clone(disk), PATH.into(), scope, 1_000, now())
}

fn add(key: &str, content: &str) -> Change {
    Change::Add(New {
        scope: Scope::Global,
        key: Some(key.to_owned()),
        content: content.to_owned(),
        kind: Kind::Note,
        tags: Vec::new(),
        at: now(),
        project: None,
        from: None,
    })
}

fn keys(file: &File) -> Vec<&str> {
    let keys = file.entries.iter().filter_map(|it| it.key.as_deref());
    keys.collect()
}

fn memory() -> (MemoryDisk, Arc<dyn Disk>) {
    let disk = MemoryDisk::default();
    (disk.clone(), Arc::new(disk))
}

#[test]
fn fifty_changes_are_one_write() {
    let (memory, _) = memory();
    let counting = Arc::new(FaultyDisk::new(Arc::new(memory.clone()), None));
    let disk: Arc<dyn Disk> = counting.clone();
    let mut file = open(&disk);
    for n in 0..50 {
        file.change(add(&format!("k{n}"), "x")).unwrap();
    }
    assert!(memory.files().is_empty(), "nothing is written yet");
    file.flush(now()).unwrap();
    file.flush(now()).unwrap();
    assert!(counting.calls() <= 2, "{}", counting.calls());
    let disk: Arc<dyn Disk> = Arc::new(memory.after_power_cut());
    assert_eq!(open(&disk).entries().len(), 50);
}

#[test]
fn what_others_wrote_meanwhile_stays() {
    let (memory, disk) = memory();
    let (mut one, mut other) = (open(&disk), open(&disk));
    one.change(add("a", "1")).unwrap();
    other.change(add("b", "2")).unwrap();
    one.change(add("c", "3")).unwrap();
    one.flush(now()).unwrap();
    other.flush(now()).unwrap();
    one.refresh();
    assert_eq!(keys(&one), keys(&other));
    assert_eq!(keys(&one).len(), 3);
    // A hand adds one and changes another while a change waits.
    one.change(add("d", "4")).unwrap();
    let text = String::from_utf8(memory.files()[Path::new(PATH)].clone()).unwrap();
    let text = text.replace(
        "\"entries\": [",
        "\"entries\": [{\"content\": \"by hand\"},",
    );
    let text = text.replace("\"content\": \"2\"", "\"content\": \"two\"");
    memory.put(PATH, text.as_bytes());
    one.flush(now()).unwrap();
    other.refresh();
    assert_eq!(other.entries().len(), 5);
    assert_eq!(other.entries().named("b").unwrap().content, "two");
    assert!(other.entries().iter().any(|it| it.content == "by hand"));
}

#[test]
fn what_a_hand_saves_between_our_look_and_our_write_stays() {
    let (memory, disk) = memory();
    let mut file = open(&disk);
    file.change(add("a", "1")).unwrap();
    memory.save_before_replacing(PATH, br#"{"entries": [{"content": "by hand"}]}"#);
    memory.save_before_replacing(
        PATH,
        br#"{"entries": [{"content": "by hand"}, {"content": "again"}]}"#,
    );
    file.flush(now()).unwrap();
    let again = open(&disk);
    let contents = again.entries().iter().map(|it| it.content.as_str());
    assert_eq!(contents.collect::<Vec<_>>(), ["by hand", "again", "1"]);
    assert!(!file.is_waiting());
}

#[test]
fn a_file_that_is_too_large_is_neither_damaged_nor_replaced_nor_ever_written() {
    let whole = br#"{"version": 1, "entries": [{"content": "safe"}]}"#;
    let memory = MemoryDisk::with([(PATH, whole.as_slice())]);
    let disk: Arc<dyn Disk> = Arc::new(memory.clone());
    let mut file = open(&disk);
    file.max_bytes = whole.len() as u64 - 1;
    let refused = file.change(add("a", "1"));
    assert!(matches!(refused, Err(EntriesError::TooLarge { .. })));
    assert!(file.flush(now()).is_ok_and(|notice| notice.is_none()));
    assert_eq!(memory.files().len(), 1);
    assert_eq!(memory.files()[Path::new(PATH)], whole);
    // What would be too large to be read again is not written.
    file.max_bytes = whole.len() as u64;
    file.change(add("a", "1")).unwrap();
    let refused = file.flush(now());
    assert!(matches!(refused, Err(EntriesError::TooLarge { .. })));
    assert_eq!(memory.files()[Path::new(PATH)], whole);
    file.max_bytes = MAX_BYTES;
    file.flush(now()).unwrap();
    assert_eq!(open(&disk).entries().len(), 2);
}

#[cfg(unix)]
#[test]
fn a_persons_link_to_a_file_of_the_folder_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("global.json");
    let far = folder.path().join("far/g.json");
    std::os::unix::fs::symlink("far/g.json", &path).unwrap();
    let rooted = files::RootedDisk::new([(folder.path().to_owned(), "data_dir")]);
    let disk: Arc<dyn Disk> = Arc::new(rooted);
    disk.replace(&far, b"{}").unwrap();
    for (key, count) in [("a", 1), ("b", 2)] {
        let scope = (Scope::Global, None);
        let mut file = File::new(Arc::clone(&disk), path.clone(), scope, 9, now());
        file.change(add(key, key)).unwrap();
        file.flush(now()).unwrap();
        assert_eq!(file.entries().len(), count);
        assert!(path.is_symlink() && far.is_file());
    }
}

#[test]
fn a_damaged_file_is_copied_first_and_stays_where_that_fails() {
    let damaged = br#"{"version": 1, "entries": [{"content": "safe"}, {"conte"#;
    let memory = MemoryDisk::with([(PATH, damaged.as_slice())]);
    let fails = Schedule {
        fault: Fault::Fail(Moment::Before),
        at: 1,
    };
    let faulty = FaultyDisk::new(Arc::new(memory.clone()), Some(fails));
    let disk: Arc<dyn Disk> = Arc::new(faulty);
    let mut file = open(&disk);
    file.change(add("a", "1")).unwrap();
    assert!(file.flush(now()).is_err());
    assert_eq!(memory.files()[Path::new(PATH)], damaged);
    let notice = file.flush(now()).unwrap();
    let Some(Recovered {
        kept_as, entries, ..
    }) = notice
    else {
        panic!("{notice:?}");
    };
    assert_eq!(
        (memory.files()[&kept_as].as_slice(), entries),
        (damaged.as_slice(), 2)
    );
    assert_eq!(open(&disk).entries().len(), 2);
}

#[test]
fn a_newer_file_and_one_that_cannot_be_read_are_left_alone() {
    let newer = br#"{"version": 9, "entries": []}"#;
    let memory = MemoryDisk::with([(PATH, newer.as_slice())]);
    let disk: Arc<dyn Disk> = Arc::new(memory.clone());
    let mut file = open(&disk);
    let refused = file.change(add("a", "1"));
    assert!(matches!(refused, Err(EntriesError::Newer { .. })));
    file.flush(now()).unwrap();
    assert_eq!(memory.files()[Path::new(PATH)], newer);
    memory.put(PATH, b"{}");
    file.change(add("a", "1")).unwrap();
    memory.deny(PATH);
    assert!(file.flush(now()).is_err());
    assert!(file.is_waiting());
    assert_eq!(memory.files()[Path::new(PATH)], b"{}");
}

#[test]
fn whatever_goes_wrong_while_writing_nothing_is_lost_by_trying_again() {
    for fault in [
        Fault::Fail(Moment::Before),
        Fault::Fail(Moment::Torn),
        Fault::Fail(Moment::After),
    ] {
        let (memory, disk) = memory();
        let mut file = open(&disk);
        file.change(add("a", "1")).unwrap();
        file.flush(now()).unwrap();
        let faulty = FaultyDisk::new(Arc::new(memory.clone()), Some(Schedule { fault, at: 1 }));
        let disk: Arc<dyn Disk> = Arc::new(faulty);
        let mut file = open(&disk);
        file.change(add("b", "2")).unwrap();
        file.change(add("a", "one")).unwrap();
        assert!(file.flush(now()).is_err(), "{fault:?}");
        file.flush(now()).unwrap();
        let again = open(&disk);
        assert_eq!(again.entries().len(), 2, "{fault:?}");
        let one = again.entries().named("a").unwrap();
        assert_eq!(
            (one.content.as_str(), one.earlier.len()),
            ("one", 1),
            "{fault:?}"
        );
    }
}
