use std::path::Path;

use super::*;
use crate::embed::{ChoiceSettings, EmbedderChoice, Named};
use crate::files::{Disk, MemoryDisk};
use crate::testing;

fn parts(disk: &MemoryDisk) -> Parts {
    Parts {
        disk: Arc::new(disk.clone()),
        folder: "vectordb".into(),
        lists: crate::index::SharedLists::default(),
        embedder: Arc::new(EmbedderChoice::new(nobody(), Arc::new(disk.clone()))),
        settings: crate::index::Settings::default(),
        reranker: None,
        min_similarity: 0.25,
        keeping: Keeping::Kept,
    }
}

fn nobody() -> ChoiceSettings {
    ChoiceSettings {
        candidates: Vec::new(),
        named: Named::No,
    }
}

fn name() -> SessionName {
    "test".parse().unwrap()
}

fn session(turns: usize) -> Session {
    let said = (0..turns).map(|n| format!("Box number {n} holds a lamp."));
    testing::session(name().as_str(), said.map(|said| (said, "Yes.")))
}

async fn words(index: &mut SessionIndex, session: &Session) -> usize {
    index.catch_up(session).await.unwrap();
    index.words().unwrap().len()
}

const FILE: &str = "vectordb/sessions/test/words.idx";

#[tokio::test]
async fn a_short_session_needs_no_file_and_a_long_one_is_read_again_from_it() {
    let disk = MemoryDisk::default();
    let mut index = SessionIndex::new(&parts(&disk), &name());
    let short = session(20);
    assert_eq!(words(&mut index, &short).await, 40);
    index.keep();
    assert!(disk.size(Path::new(FILE)).is_err());
    let long = session(1_500);
    assert_eq!(words(&mut index, &long).await, 3_000);
    index.keep();
    let bytes = disk.read(Path::new(FILE)).unwrap();
    index.open(&name());
    assert_eq!(words(&mut index, &long).await, 3_000);
    index.keep();
    assert_eq!(
        disk.read(Path::new(FILE)).unwrap(),
        bytes,
        "not worth it yet"
    );
}

#[tokio::test]
async fn a_file_that_is_damaged_or_of_another_history_is_made_again() {
    let disk = MemoryDisk::default();
    let mut index = SessionIndex::new(&parts(&disk), &name());
    let long = session(300);
    words(&mut index, &long).await;
    index.keep();
    index.open(&name());
    let other = session(5);
    assert_eq!(words(&mut index, &other).await, 10);
    for bytes in [&b"nothing of ours"[..], &[]] {
        disk.replace(Path::new(FILE), bytes).unwrap();
        index.open(&name());
        assert_eq!(words(&mut index, &long).await, 600);
    }
}

#[tokio::test]
async fn where_another_process_may_write_nothing_is_written() {
    let disk = MemoryDisk::default();
    let mut parts = parts(&disk);
    parts.keeping = Keeping::ReadOnly;
    let mut index = SessionIndex::new(&parts, &name());
    let long = session(400);
    words(&mut index, &long).await;
    index.keep();
    assert!(disk.size(Path::new(FILE)).is_err());
}
