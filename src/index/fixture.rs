//! A workspace with notes, and an index of it: for tests alone.

use std::sync::Arc;

use super::{EntryText, Hit, Index, Keeping, Kind, LongTerm, Parts, Places, Written};
use crate::chat::{Session, Timestamp};
use crate::embed::{Candidate, ChoiceSettings, EmbedderChoice, Named};
use crate::files::MemoryDisk;
use crate::long_term::notes::SessionFiles;
use crate::testing;

pub(crate) fn now() -> Timestamp {
    Timestamp::from_unix(1_771_000_000).unwrap()
}

pub(crate) fn embedder(disk: &MemoryDisk, candidates: Vec<Candidate>) -> Arc<EmbedderChoice> {
    let settings = ChoiceSettings {
        candidates,
        named: Named::No,
    };
    Arc::new(EmbedderChoice::new(settings, Arc::new(disk.clone())))
}

pub(crate) fn hit(kind: Kind, source: &str, line: usize, content: &str) -> Hit {
    Hit {
        source: source.to_owned(),
        line,
        content: content.to_owned(),
        score: 1.0,
        kind,
        at: None,
        also: Vec::new(),
        overlap: 1.0,
        similarity: None,
        is_beside: false,
    }
}

pub(crate) fn parts(disk: &MemoryDisk) -> Parts {
    Parts {
        disk: Arc::new(disk.clone()),
        folder: "d/vectordb".into(),
        lists: crate::index::SharedLists::default(),
        embedder: embedder(disk, Vec::new()),
        settings: crate::index::Settings::default(),
        reranker: None,
        min_similarity: 0.25,
        keeping: Keeping::Kept,
    }
}

pub(crate) fn long_term() -> LongTerm {
    LongTerm {
        places: Places {
            workspace: "w".into(),
            session_files: SessionFiles::PerSession,
            daily: 30,
            documents: Some("docs".into()),
        },
        written: Written::default(),
        chunk_size: 2_000,
        chunk_overlap: 200,
        past: None,
    }
}

pub(crate) fn index_of(disk: &MemoryDisk) -> Index {
    Index::new(parts(disk), &"open".parse().unwrap()).with_long_term(long_term())
}

pub(crate) fn workspace() -> MemoryDisk {
    let disk = MemoryDisk::default();
    disk.put(
        "w/MEMORY.md",
        b"# Known\n\n- The deploy uses fly.io.\n- The cat is called Miso.\n",
    );
    disk.put("w/SOUL.md", b"Be calm like a heron.\n");
    disk.put(
        "w/memories/work/team.md",
        "Ana leads the team.\n数据库在上海。\n".as_bytes(),
    );
    disk.put(
        "w/sessions/trip/SESSION-STATE.md",
        b"# State\n- ticket AB-1234 for the ferry\n",
    );
    disk.put("w/sessions/trip/working-buffer.md", b"a secret heron\n");
    disk.put("docs/guide.md", b"# Guide\nTurn the valve to the left.\n");
    for day in 1..=31 {
        let text = format!("- noted the kiwi of day {day}\n");
        disk.put(format!("w/memory/2026-01-{day:02}.md"), text.as_bytes());
    }
    disk.put("w/memory/notes.md", b"no day, no kiwi\n");
    disk
}

pub(crate) fn entry(id: &str, text: &str) -> EntryText {
    EntryText {
        id: id.to_owned(),
        text: text.to_owned(),
        at: Some(now()),
    }
}

pub(crate) fn session(said: &[&str]) -> Session {
    testing::session("open", said.iter().map(|said| (*said, "Yes.")))
}
