//! What keeping up with the files costs: nothing is read twice without a reason, and a turn looks into no session's
//! folder.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::super::corpus::{Corpus, Reading, Sizes};
use super::*;
use crate::long_term::notes::{Judgement, Section, Workspace, WorkspaceSettings};

/// A disk whose files were all changed long ago.
fn old(disk: &MemoryDisk) {
    disk.stop_clock(SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000));
}

#[tokio::test]
async fn what_was_refused_is_not_read_again_while_it_is_as_it_was() {
    let disk = workspace();
    disk.put("w/USER.md", b"\xff\xfe\x00binary");
    old(&disk);
    let mut index = index_of(&disk);
    let (_, troubles) = index.refresh(now()).await;
    assert!(troubles[0].contains("USER.md in search: it is not text"));
    assert!(disk.looked_at().0.contains(&PathBuf::from("w/USER.md")));
    assert_eq!(index.refresh(now()).await.0, Refreshed::default());
    assert!(disk.looked_at().0.is_empty());
    disk.put("w/USER.md", b"The boat is called Pinguim.\n");
    assert_eq!(index.refresh(now()).await.0.read, 1);
    assert_eq!(found(&mut index, "Pinguim").await.len(), 1);
    disk.put("w/USER.md", b"\xff\xfe no text again\n");
    index.refresh(now()).await;
    assert_eq!(found(&mut index, "Pinguim").await, [""; 0]);
}

#[test]
fn what_there_was_no_room_for_is_not_read_again_until_there_is() {
    let disk = MemoryDisk::default();
    disk.put("w/MEMORY.md", &[b'a'; 60]);
    disk.put("w/USER.md", &[b'b'; 60]);
    old(&disk);
    let reading = Reading {
        sizes: Sizes {
            chunk: 2_000,
            overlap: 0,
            all: 100,
        },
        now: now(),
        left_out: None,
    };
    let mut corpus = Corpus::new(Arc::new(Lists::embedded()));
    let refresh = |corpus: &mut Corpus| {
        let (files, mut troubles) = long_term().places.files(&disk, None);
        corpus.refresh(&disk, &files, &Arc::default(), reading, &mut troubles);
        (disk.looked_at().0.len(), troubles.len())
    };
    assert_eq!(refresh(&mut corpus), (2, 1));
    assert_eq!(refresh(&mut corpus), (0, 0));
    assert_eq!(corpus.counts()[&Kind::Note], 1);
    disk.remove(Path::new("w/MEMORY.md")).unwrap();
    refresh(&mut corpus);
    assert_eq!(refresh(&mut corpus), (1, 0));
    assert_eq!(corpus.counts()[&Kind::Note], 1);
    assert_eq!(refresh(&mut corpus), (0, 0));
}

#[tokio::test]
async fn a_turn_looks_into_no_folder_of_a_session_however_many_there_are() {
    let disk = workspace();
    for n in 0..50 {
        let file = format!("w/sessions/s{n}/SESSION-STATE.md");
        disk.put(file, b"- nothing of note\n");
    }
    let mut index = index_of(&disk);
    let (asked, open) = ("How do we deploy the service?", session(&[]));
    for _ in 0..2 {
        let glance = Glance {
            text: asked,
            k: 5,
            kinds: &Kind::LASTING,
            past: true,
            by_meaning: true,
        };
        let glanced = index.glance(glance, &open, now()).await;
        assert_eq!(glanced.hits[0].source, "MEMORY.md");
        let (read, surveyed) = disk.looked_at();
        let sessions = |path: &PathBuf| path.starts_with("w/sessions");
        assert!(!read.iter().chain(&surveyed).any(sessions), "{surveyed:?}");
        // A search in between leaves them held, and a turn lets them be.
        assert_eq!(found(&mut index, "ferry").await.len(), 1);
        assert!(disk.looked_at().1.len() > 50);
    }
    assert_eq!(
        index.corpus.as_ref().unwrap().counts()[&Kind::SessionState],
        51
    );
}

#[tokio::test]
async fn two_writes_of_one_size_and_time_are_both_found() {
    let disk = workspace();
    old(&disk);
    let settings = WorkspaceSettings::default();
    let notes = Workspace::new(Arc::new(disk.clone()), "w".into(), settings);
    let mut index = index_of(&disk);
    index.long_term.as_ref().unwrap().written.watch(&notes);
    index.refresh(now()).await;
    let long_term = notes.long_term();
    let add = |word: &str| {
        let text = format!("The {word} is asleep.");
        long_term
            .add(now(), &Section::Notes, &text, |_| Judgement::Add)
            .unwrap();
    };
    add("walrus");
    assert_eq!(found(&mut index, "walrus").await.len(), 1);
    let lines = long_term.lines().unwrap();
    let line = lines.iter().find(|line| line.text.contains("walrus"));
    long_term.remove(line.unwrap()).unwrap();
    add("magpie");
    assert_eq!(found(&mut index, "magpie").await.len(), 1);
    assert_eq!(found(&mut index, "walrus").await, [""; 0]);
}

#[tokio::test]
async fn vectors_are_looked_after_only_where_something_changed() {
    let disk = workspace();
    old(&disk);
    let mut index = with_vectors(&disk);
    index.refresh(now()).await;
    index.embed_all_long_term().await;
    assert!(!index.is_stale);
    index.refresh(now()).await;
    assert!(!index.is_stale);
    disk.put("w/SOUL.md", b"Be brave and calm.\n");
    index.refresh(now()).await;
    assert!(index.is_stale);
}

/// Notes enough for their index to be kept.
fn many_notes() -> MemoryDisk {
    let disk = workspace();
    let lines: Vec<String> = (0..700)
        .map(|n| format!("- heron {n} at pond {}\n", n % 7))
        .collect();
    disk.put("w/memories/birds.md", lines.concat().as_bytes());
    disk.put(
        "w/memories/fish.md",
        b"# Fish\n- The carp is called Quux.\n",
    );
    disk
}

const KEPT: &str = "d/vectordb/notes.idx";

#[tokio::test]
async fn words_that_were_kept_find_the_same_and_are_not_read_again() {
    let disk = many_notes();
    let questions = [
        "heron 512",
        "What is the carp called?",
        "the pond",
        "kiwi of day 2",
    ];
    let mut fresh = Vec::new();
    for question in questions {
        fresh.push(searched(&mut index_of(&disk), question, SearchMode::Text).await);
        disk.remove(Path::new(KEPT)).unwrap();
    }
    index_of(&disk).refresh(now()).await;
    let kept = disk.read(Path::new(KEPT)).unwrap();
    for (question, fresh) in questions.iter().zip(&fresh) {
        assert_eq!(
            searched(&mut index_of(&disk), question, SearchMode::Text).await,
            *fresh
        );
    }
    assert_eq!(disk.read(Path::new(KEPT)).unwrap(), kept, "nothing new");
    let mut index = index_of(&disk);
    index.refresh(now()).await;
    let corpus = index.corpus.as_ref().unwrap();
    assert_eq!(
        corpus.index.to_bytes(),
        kept[kept.len() - corpus.index.to_bytes().len()..]
    );
    for at in (0..kept.len()).step_by(461) {
        let mut damaged = kept.clone();
        damaged[at] ^= 16;
        disk.put(KEPT, &damaged);
        let found = searched(&mut index_of(&disk), questions[0], SearchMode::Text).await;
        assert_eq!(found, fresh[0], "{at}");
    }
}

#[tokio::test]
async fn what_has_changed_since_words_were_kept_is_read_again_and_what_is_forgotten_leaves_the_file()
 {
    let disk = many_notes();
    index_of(&disk).refresh(now()).await;
    disk.put(
        "w/memories/fish.md",
        b"# Fish\n- The carp is called Ahab.\n",
    );
    disk.put("w/memories/cats.md", b"- The zebu sleeps on the organ.\n");
    disk.remove(Path::new("w/SOUL.md")).unwrap();
    let mut index = index_of(&disk);
    assert_eq!(
        found(&mut index, "carp called").await[0],
        "memories/fish.md:2 - The carp is called Ahab."
    );
    assert_eq!(found(&mut index, "zebu").await.len(), 1);
    assert_eq!(found(&mut index, "Quux").await, [""; 0]);
    assert_eq!(found(&mut index, "calm").await, [""; 0]);
    let is_kept = |word: &str| {
        let kept = disk.read(Path::new(KEPT)).unwrap_or_default();
        kept.windows(word.len()).any(|it| it == word.as_bytes())
    };
    assert!(is_kept("quux"), "a few changes are not worth writing it");
    index.let_go_of_texts(BTreeSet::new(), now()).await;
    assert!(!is_kept("quux"));
    index.refresh(now()).await;
    assert!(!is_kept("zebu"), "once in a process");
    index_of(&disk).refresh(now()).await;
    assert!(is_kept("zebu") && !is_kept("quux"));
}
