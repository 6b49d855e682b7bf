mod said;
mod upkeep;

use std::path::Path;

use super::fixture::{embedder, entry, index_of, long_term, now, parts, session, workspace};
use super::*;
use crate::chat::fixture;
use crate::chat::{Message, Outcome, Part, Record, Role, ToolCall};
use crate::embed::Candidate;
use crate::files::{Disk, LocalDisk, MemoryDisk};
use crate::long_term::notes::SessionFiles;
use crate::store::FileStore;
use crate::testing::ManualClock;

async fn found(index: &mut Index, query: &str) -> Vec<String> {
    searched(index, query, SearchMode::Hybrid)
        .await
        .hits
        .into_iter()
        .map(|hit| format!("{}:{} {}", hit.source, hit.line, hit.content))
        .collect()
}

fn with_vectors(disk: &MemoryDisk) -> Index {
    let embedder = embedder(disk, vec![Candidate::Hashed { dimensions: 64 }]);
    let parts = Parts {
        embedder,
        ..parts(disk)
    };
    Index::new(parts, &"open".parse().unwrap()).with_long_term(long_term())
}

async fn searched(index: &mut Index, query: &str, mode: SearchMode) -> Searched {
    let search = Search {
        query,
        limit: 50,
        mode,
        scope: Scope::LongTerm,
        now: now(),
    };
    index.search(search, None).await
}

#[tokio::test]
async fn each_source_is_found_with_its_line_whatever_the_case_script_or_signs() {
    let mut index = index_of(&workspace());
    for (query, expected) in [
        ("FLY.IO", "MEMORY.md:3 - The deploy uses fly.io."),
        (
            "what is the cat called?",
            "MEMORY.md:4 - The cat is called Miso.",
        ),
        ("heron", "SOUL.md:1 Be calm like a heron."),
        ("数据库", "memories/work/team.md:2 数据库在上海。"),
        (
            "ab-1234",
            "sessions/trip/SESSION-STATE.md:2 - ticket AB-1234 for the ferry",
        ),
        ("valve", "docs/guide.md:2 Turn the valve to the left."),
        (
            "kiwi of day 2",
            "memory/2026-01-02.md:1 - noted the kiwi of day 2",
        ),
        ("eploy us", "MEMORY.md:3 - The deploy uses fly.io."),
    ] {
        let hits = found(&mut index, query).await;
        assert_eq!(
            hits.first().map(String::as_str),
            Some(expected),
            "{query}: {hits:?}"
        );
    }
    assert_eq!(found(&mut index, "quantum chromodynamics").await, [""; 0]);
    assert_eq!(found(&mut index, "secret").await, [""; 0]);
}

#[tokio::test]
async fn a_document_is_found_by_its_name_and_headings_too() {
    let disk = workspace();
    let sheet = "# Sheet\n\nSome words.\n\n## Cranks\n\n- Williams, 46 teeth\n";
    disk.put("docs/claud-butler.md", sheet.as_bytes());
    let hits = found(&mut index_of(&disk), "claud butler cranks").await;
    let cranks = hits.iter().position(|hit| hit.contains("46 teeth"));
    assert!(cranks.is_some_and(|at| at < 3), "{hits:?}");
}

#[tokio::test]
async fn what_a_tool_returned_is_found_by_its_words_and_by_its_call() {
    let disk = MemoryDisk::default();
    let mut session = session(&[]);
    let turn = fixture::begin(&mut session, "look at it", None);
    let id = |n| session.next_message_id(n);
    let call = ToolCall::new("c1", "read_file", "{\"path\": \"deploy.toml\"}");
    let result = Part::ToolResult {
        call: call.id.clone(),
        name: call.name.clone(),
        output: "region = 'frankfurt'".to_owned(),
        failed: false,
    };
    let messages = vec![
        Message::new(id(0), Role::Assistant, vec![Part::ToolCall(call)], None),
        Message::new(id(1), Role::Tool, vec![result], None),
        Message::text(id(2), Role::Assistant, "Done.", None),
    ];
    fixture::answer(&mut session, turn, messages);
    let mut index = index_of(&disk);
    for query in ["frankfurt", "deploy.toml"] {
        let scope = Scope::Everything;
        let search = Search {
            query,
            limit: 5,
            mode: SearchMode::Text,
            scope,
            now: now(),
        };
        let found = index.search(search, Some(&session)).await;
        assert_eq!(
            found.hits[0].content, "tool: region = 'frankfurt'",
            "{query}"
        );
    }
}

#[tokio::test]
async fn the_newest_thirty_days_are_searched_and_no_other_file_beside_them() {
    let mut index = index_of(&workspace());
    let hits = found(&mut index, "kiwi").await;
    assert_eq!(hits.len(), 30, "{hits:?}");
    assert!(
        hits[0].starts_with("memory/2026-01-31.md"),
        "newest first: {hits:?}"
    );
    assert!(!hits.iter().any(|hit| hit.contains("2026-01-01")));
}

#[tokio::test]
async fn what_is_edited_added_or_deleted_by_hand_counts_at_once_and_nothing_else_is_read() {
    let disk = workspace();
    let mut index = index_of(&disk);
    index.refresh(now()).await;
    assert_eq!(index.refresh(now()).await.0, Refreshed::default());
    disk.put("w/MEMORY.md", b"# Known\n- The deploy uses render.\n");
    disk.put("w/memories/new.md", b"a marmot\n");
    disk.remove(Path::new("w/SOUL.md")).unwrap();
    let refreshed = Refreshed { read: 2, gone: 1 };
    assert_eq!(index.refresh(now()).await.0, refreshed);
    assert_eq!(found(&mut index, "fly.io").await, [""; 0]);
    assert_eq!(found(&mut index, "heron").await, [""; 0]);
    assert_eq!(found(&mut index, "render").await.len(), 1);
    assert_eq!(
        found(&mut index, "marmot").await,
        ["memories/new.md:1 a marmot"]
    );
}

#[tokio::test]
async fn an_index_that_is_mostly_dead_is_made_anew_and_finds_the_same() {
    let disk = workspace();
    let mut index = index_of(&disk);
    for round in 0..4 {
        let lines: Vec<String> = (0..600)
            .map(|n| format!("- item {n} of round{round}"))
            .collect();
        disk.put("w/memories/big.md", lines.join("\n").as_bytes());
        index.refresh(now()).await;
    }
    let corpus = index.corpus.as_ref().unwrap();
    assert!(corpus.pieces.len() < 2_000, "{}", corpus.pieces.len());
    assert_eq!(found(&mut index, "round2").await, [""; 0]);
    assert_eq!(
        found(&mut index, "item 77 of round3").await[0],
        "memories/big.md:78 - item 77 of round3"
    );
    assert_eq!(
        found(&mut index, "heron").await,
        ["SOUL.md:1 Be calm like a heron."]
    );
}

#[tokio::test]
async fn what_is_no_text_is_told_once_and_what_is_huge_is_read_as_far_as_it_goes() {
    let disk = workspace();
    disk.put("w/USER.md", b"\xff\xfe\x00binary");
    disk.put(
        "w/IDENTITY.md",
        format!("first word\n{}", "é".repeat(700_000)).as_bytes(),
    );
    disk.put("w/memories/huge.md", &vec![b'x'; (1 << 20) + 1]);
    disk.deny("w/SOUL.md");
    let mut index = index_of(&disk);
    let (_, troubles) = index.refresh(now()).await;
    let told = troubles.join("\n");
    for words in [
        "USER.md in search: it is not text",
        "first and the last 524288 bytes of IDENTITY.md are searched",
        "memories/huge.md in search: it is larger than 1048576 bytes",
        "skipped SOUL.md in search: ",
    ] {
        assert!(told.contains(words), "{told}");
    }
    assert_eq!(index.refresh(now()).await.1, [""; 0]);
    assert_eq!(found(&mut index, "first word").await.len(), 1);
    assert_eq!(found(&mut index, "Miso").await.len(), 1);
}

#[tokio::test]
async fn of_a_huge_file_both_ends_are_searched_and_lines_have_their_numbers() {
    let disk = MemoryDisk::default();
    let middle = "- nothing of note in this line\n".repeat(60_000);
    let text = format!("- The cat is called Miso.\n{middle}- The ferry is called Halunda.\n");
    disk.put("w/MEMORY.md", text.as_bytes());
    let mut index = index_of(&disk);
    for (query, expected) in [
        ("Miso", "MEMORY.md:1 - The cat is called Miso."),
        ("Halunda", "MEMORY.md:60002 - The ferry is called Halunda."),
    ] {
        assert_eq!(found(&mut index, query).await, [expected]);
    }
    // One line without an end, and letters of several bytes; also behind marks of an encoding.
    for mark in ["", "\u{feff}", "\u{feff}\u{feff}"] {
        let text = format!("{mark}heron {}gannet", "é".repeat(900_000));
        disk.put("w/MEMORY.md", text.as_bytes());
        assert_eq!(found(&mut index, "heron").await.len(), 1);
        assert!(found(&mut index, "gannet").await[0].starts_with("MEMORY.md:1 "));
    }
}

#[tokio::test]
async fn the_same_words_in_two_places_are_one_hit() {
    let disk = workspace();
    disk.put("w/memories/copy.md", b"- The  cat is called MISO.\n");
    let mut index = index_of(&disk);
    assert_eq!(found(&mut index, "Miso").await.len(), 1);
}

#[tokio::test]
async fn entries_are_found_as_they_are_now() {
    let disk = MemoryDisk::default();
    let mut index = index_of(&disk);
    index.set_entries([entry("mem_1", "deploy: fly.io")]);
    assert_eq!(
        found(&mut index, "deploy").await,
        ["entry mem_1:1 deploy: fly.io"]
    );
    index.set_entries([entry("mem_1", "deploy: render")]);
    assert_eq!(
        found(&mut index, "deploy").await,
        ["entry mem_1:1 deploy: render"]
    );
    index.set_entries([]);
    assert_eq!(found(&mut index, "deploy").await, [""; 0]);
}

#[tokio::test]
async fn an_embedder_is_offered_once_where_there_is_none_and_much_is_kept() {
    let disk = workspace();
    let nobody = Candidate::Local {
        folder: "models/none".into(),
    };
    let parts = Parts {
        embedder: embedder(&disk, vec![nobody]),
        ..parts(&disk)
    };
    let fresh = || Index::new(parts.clone(), &"open".parse().unwrap()).with_long_term(long_term());
    let mut index = fresh();
    index.refresh(now()).await;
    index.embed_all_long_term().await;
    assert_eq!(index.offer_embedder(), None, "little is kept");
    let lines: Vec<String> = (0..12).map(|n| format!("- fact {n}")).collect();
    disk.put("w/MEMORY.md", lines.join("\n").as_bytes());
    let mut index = fresh();
    index.refresh(now()).await;
    assert_eq!(index.offer_embedder(), None, "nobody looked for one yet");
    index.embed_all_long_term().await;
    let offered = index.offer_embedder().map(|news| news.to_string());
    assert!(offered.is_some_and(|told| told.contains("cogtrix embedder install")));
    assert_eq!(index.offer_embedder(), None, "once");
}

#[tokio::test]
async fn where_vectors_are_they_are_made_once_for_each_text() {
    let disk = workspace();
    let mut index = with_vectors(&disk);
    index.refresh(now()).await;
    index.embed_all_long_term().await;
    let made = index.meaning.count();
    assert!(made > 30, "{made}");
    index.embed_long_term();
    assert!(!index.meaning.is_working());
    let hits = found(&mut index, "what is the cat called?").await;
    assert_eq!(hits[0], "MEMORY.md:4 - The cat is called Miso.");
    disk.put("w/SOUL.md", b"Be brave.\n");
    index.refresh(now()).await;
    index.embed_all_long_term().await;
    assert_eq!(index.meaning.count(), made + 1, "of the new text alone");
}

#[tokio::test]
async fn the_first_search_of_a_process_finds_by_meaning_too() {
    let disk = workspace();
    let mut index = with_vectors(&disk);
    let search = Search {
        query: "what is the cat called?",
        limit: 5,
        mode: SearchMode::Hybrid,
        scope: Scope::LongTerm,
        now: now(),
    };
    let found = index.search(search, None).await;
    assert_eq!(found.hits[0].content, "- The cat is called Miso.");
    assert!(found.hits[0].similarity.is_some(), "{:?}", found.hits);
}

#[tokio::test]
async fn past_sessions_are_found_by_message_and_what_was_said_since_too() {
    let disk = MemoryDisk::default();
    let store = FileStore::new(
        Arc::new(disk.clone()),
        "d".into(),
        Arc::new(ManualClock::new()),
    );
    let store = Arc::new(store);
    let said = |text: &str| {
        let mut opened = store
            .open(&"trip".parse().unwrap(), Duration::ZERO)
            .unwrap();
        let turn = opened.session.next_turn();
        let input = Message::text(opened.session.next_message_id(0), Role::User, text, None);
        let started = Record::TurnStarted {
            turn,
            input,
            mode: "m".into(),
            model: "m".into(),
        };
        opened.session.apply(started.clone());
        let reply = Message::text(
            opened.session.next_message_id(0),
            Role::Assistant,
            "Yes.",
            None,
        );
        let finished = Record::TurnFinished {
            turn,
            messages: vec![reply],
            outcome: Outcome::Answered,
            calibration: None,
        };
        opened.session.apply(finished.clone());
        opened.log.append(&[started, finished]).unwrap();
    };
    said("We take the ferry on the ninth.");
    let past = Past {
        store: store.clone(),
        history: "d/history".into(),
    };
    let long_term = LongTerm {
        past: Some(past),
        ..long_term()
    };
    let mut index = Index::new(parts(&disk), &"open".parse().unwrap()).with_long_term(long_term);
    let open = session(&["The windmill is closed."]);
    for (query, expected) in [
        (
            "ferry",
            "session trip:1 user: We take the ferry on the ninth.",
        ),
        ("cabin", "session trip:3 user: A cabin is booked."),
    ] {
        let search = Search {
            query,
            limit: 5,
            mode: SearchMode::Text,
            scope: Scope::Everything,
            now: now(),
        };
        let found = index.search(search, Some(&open)).await;
        let hit = &found.hits[0];
        assert_eq!(
            format!("{}:{} {}", hit.source, hit.line, hit.content),
            expected
        );
        assert_eq!(found.looked[&Kind::Said], 2);
        if query == "ferry" {
            said("A cabin is booked.");
        }
    }
}

/// Whoever wrote a repository would choose which files of the person's are read.
#[cfg(unix)]
#[test]
fn no_link_among_documents_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("docs/inner")).unwrap();
    std::fs::create_dir(at("own")).unwrap();
    for file in ["own/keys.md", "docs/guide.md", "docs/inner/more.md"] {
        LocalDisk.replace(&at(file), b"text\n").unwrap();
    }
    std::os::unix::fs::symlink(at("own/keys.md"), at("docs/linked.md")).unwrap();
    std::os::unix::fs::symlink(at("own"), at("docs/folder")).unwrap();
    let places = Places {
        workspace: at("w"),
        session_files: SessionFiles::PerSession,
        daily: 30,
        documents: Some(at("docs")),
    };
    let (files, troubles) = places.files(&LocalDisk, None);
    let found: Vec<&str> = files.iter().map(|file| file.source.as_str()).collect();
    assert_eq!(found, ["docs/guide.md", "docs/inner/more.md"]);
    assert_eq!(troubles, Vec::<String>::new());
}
