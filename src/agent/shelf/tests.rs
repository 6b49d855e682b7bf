use std::path::Path;

use super::*;
use crate::embed::{CacheSettings, ChoiceSettings, Named};
use crate::files::MemoryDisk;
use crate::testing;

fn parts(disk: &MemoryDisk) -> Parts {
    Parts {
        disk: Arc::new(disk.clone()),
        folder: "vectordb".into(),
        lists: None,
        embedder: Arc::new(EmbedderChoice::new(nobody(), Arc::new(disk.clone()))),
        hnsw_min: 50_000,
        keeping: Keeping::Kept,
    }
}

fn nobody() -> ChoiceSettings {
    ChoiceSettings {
        candidates: Vec::new(),
        named: Named::No,
        cache: CacheSettings::new("cache"),
    }
}

fn name() -> SessionName {
    "test".parse().unwrap()
}

fn session(turns: usize) -> Session {
    let said = (0..turns).map(|n| format!("Box number {n} holds a lamp."));
    testing::session(name().as_str(), said.map(|said| (said, "Yes.")))
}

async fn words(shelf: &mut Shelf, session: &Session) -> usize {
    shelf.look_up(session, "").await.unwrap();
    shelf.words().unwrap().len()
}

const FILE: &str = "vectordb/test/words.idx";

#[tokio::test]
async fn a_short_session_needs_no_file_and_a_long_one_is_read_again_from_it() {
    let disk = MemoryDisk::default();
    let mut shelf = Shelf::new(parts(&disk), &name());
    let short = session(20);
    assert_eq!(words(&mut shelf, &short).await, 40);
    shelf.keep();
    assert!(disk.size(Path::new(FILE)).is_err());
    let long = session(1_500);
    assert_eq!(words(&mut shelf, &long).await, 3_000);
    shelf.keep();
    let bytes = disk.read(Path::new(FILE)).unwrap();
    shelf.open(&name());
    assert_eq!(words(&mut shelf, &long).await, 3_000);
    shelf.keep();
    assert_eq!(
        disk.read(Path::new(FILE)).unwrap(),
        bytes,
        "not worth it yet"
    );
}

#[tokio::test]
async fn a_file_that_is_damaged_or_of_another_history_is_made_again() {
    let disk = MemoryDisk::default();
    let mut shelf = Shelf::new(parts(&disk), &name());
    let long = session(300);
    words(&mut shelf, &long).await;
    shelf.keep();
    shelf.open(&name());
    let other = session(5);
    assert_eq!(words(&mut shelf, &other).await, 10);
    for bytes in [&b"nothing of ours"[..], &[]] {
        disk.replace(Path::new(FILE), bytes).unwrap();
        shelf.open(&name());
        assert_eq!(words(&mut shelf, &long).await, 600);
    }
}

#[tokio::test]
async fn where_another_process_may_write_nothing_is_written() {
    let disk = MemoryDisk::default();
    let mut parts = parts(&disk);
    parts.keeping = Keeping::ReadOnly;
    let mut shelf = Shelf::new(parts, &name());
    let long = session(400);
    words(&mut shelf, &long).await;
    shelf.keep();
    assert!(disk.size(Path::new(FILE)).is_err());
}
