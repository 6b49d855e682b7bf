//! What was said in sessions that are not open: by words of their own, and by vectors that were made before.

use super::*;
use crate::text::secrets::Known;

fn store(disk: Arc<dyn Disk>, folder: &Path) -> Arc<FileStore> {
    let clock = Arc::new(ManualClock::new());
    Arc::new(FileStore::new(disk, folder.to_owned(), clock))
}

/// Says something in the session `trip`, which is `Yes.` to the program.
fn say(store: &FileStore, text: &str) -> Session {
    let name = "trip".parse().unwrap();
    let mut opened = store.open(&name, Duration::ZERO).unwrap();
    let session = &mut opened.session;
    let turn = session.next_turn();
    let input = Message::text(session.next_message_id(0), Role::User, text, None);
    let started = Record::TurnStarted {
        turn,
        input,
        mode: "m".into(),
        model: "m".into(),
    };
    session.apply(started.clone());
    let id = session.next_message_id(0);
    let finished = Record::TurnFinished {
        turn,
        messages: vec![Message::text(id, Role::Assistant, "Yes.", None)],
        outcome: Outcome::Answered,
        calibration: None,
    };
    session.apply(finished.clone());
    opened.log.append(&[started, finished]).unwrap();
    opened.session
}

fn past(store: &Arc<FileStore>, folder: &Path) -> Past {
    Past {
        store: store.clone(),
        history: folder.join("history"),
    }
}

fn with_past(parts: Parts, store: &Arc<FileStore>, folder: &Path) -> Index {
    let long_term = LongTerm {
        past: Some(past(store, folder)),
        ..long_term()
    };
    Index::new(parts, &"open".parse().unwrap()).with_long_term(long_term)
}

async fn said(index: &mut Index, query: &str, mode: SearchMode) -> Vec<String> {
    let search = Search {
        query,
        limit: 10,
        mode,
        scope: Scope::Everything,
        now: now(),
    };
    let found = index.search(search, None).await;
    let said = found.hits.into_iter().filter(|hit| hit.kind == Kind::Said);
    said.map(|hit| hit.content).collect()
}

#[tokio::test]
async fn a_message_with_the_words_stands_before_those_beside_it() {
    let disk = MemoryDisk::default();
    let store = store(Arc::new(disk.clone()), Path::new("d"));
    for text in [
        "I'm Dilnoza.",
        "The deadline of the report is Friday.",
        "The weather is grey.",
    ] {
        say(&store, text);
    }
    let mut index = with_past(parts(&disk), &store, Path::new("d"));
    assert_eq!(
        said(&mut index, "deadline", SearchMode::Text).await[0],
        "user: The deadline of the report is Friday."
    );
}

#[tokio::test]
async fn what_merely_asks_stands_behind_what_answers() {
    for (question, query) in [
        (
            "Where did I put the spare key of the bike?",
            "spare key bike",
        ),
        ("where is the spare key of my bike", "spare key of the bike"),
        ("The spare key of the bike?", "where is the spare bike key?"),
    ] {
        let disk = MemoryDisk::default();
        let store = store(Arc::new(disk.clone()), Path::new("d"));
        let answer = "I keep the bike key in a blue tin.";
        for text in [answer, "The weather is grey.", "Who knows?", question] {
            say(&store, text);
        }
        let mut index = with_past(parts(&disk), &store, Path::new("d"));
        let found = said(&mut index, query, SearchMode::Text).await;
        assert_eq!(found[0], format!("user: {answer}"), "{query}");
        let question = format!("user: {question}");
        assert!(found.contains(&question), "still there: {found:?}");
    }
}

#[tokio::test]
async fn what_a_fork_has_of_its_original_is_found_once_and_never_comes_from_beside_it() {
    let disk = MemoryDisk::default();
    let store = store(Arc::new(disk.clone()), Path::new("d"));
    let original = say(&store, "The deadline of the report is Friday.");
    let fork = original.forked("open".parse().unwrap(), None).unwrap();
    let question = "when is the deadline of the report?";
    let glance = Glance {
        text: question,
        k: 5,
        kinds: &Kind::LASTING,
        past: true,
        by_meaning: true,
    };
    let search = Search {
        query: question,
        limit: 10,
        mode: SearchMode::Text,
        scope: Scope::Everything,
        now: now(),
    };
    let mut index = with_past(parts(&disk), &store, Path::new("d"));
    assert_eq!(index.glance(glance, &fork, now()).await.hits, []);
    let sources = async |index: &mut Index, open| {
        let found = index.search(search, Some(open)).await.hits;
        let with = found
            .into_iter()
            .filter(|hit| hit.content.contains("Friday"));
        with.map(|hit| hit.source).collect::<Vec<_>>()
    };
    assert_eq!(sources(&mut index, &fork).await, ["session open"]);
    let stranger = session(&[]);
    let mut index = with_past(parts(&disk), &store, Path::new("d"));
    assert_ne!(index.glance(glance, &stranger, now()).await.hits, []);
    assert_eq!(sources(&mut index, &stranger).await, ["session trip"]);
}

#[tokio::test]
async fn a_turn_does_not_wait_for_long_sessions_that_have_no_index_and_who_asks_finds_them() {
    let disk = MemoryDisk::default();
    let store = store(Arc::new(disk.clone()), Path::new("d"));
    let finds = async |text: &str| {
        say(&store, text);
        let mut index = with_past(parts(&disk), &store, Path::new("d"));
        let question = "when is the deadline of the report?";
        let glance = Glance {
            text: question,
            k: 5,
            kinds: &Kind::LASTING,
            past: true,
            by_meaning: true,
        };
        let by_itself = index.glance(glance, &session(&[]), now()).await.hits;
        let asked = said(&mut index, question, SearchMode::Text).await;
        (!by_itself.is_empty(), !asked.is_empty())
    };
    assert_eq!(
        finds("The deadline of the report is Friday.").await,
        (true, true)
    );
    let long = "Nothing else came to pass on that day. ".repeat(8_000);
    assert_eq!(finds(&long).await, (false, true));
}

#[tokio::test]
async fn past_sessions_are_found_by_the_vectors_they_have_and_only_by_those_of_the_same_embedder() {
    let disk = MemoryDisk::default();
    let folder = Path::new("d");
    let store = store(Arc::new(disk.clone()), folder);
    say(&store, "We love windsurfing");
    say(&store, "The report is due on Friday.");
    let trip = say(&store, "A cabin is booked.");
    let hashed = |dimensions| {
        let embedder = embedder(&disk, vec![Candidate::Hashed { dimensions }]);
        Parts {
            embedder,
            ..parts(&disk)
        }
    };
    let mut index = Index::new(hashed(256), trip.name());
    while index
        .session
        .embed(&trip, usize::MAX, Known::default, &mut index.meaning)
        .is_some()
        || index.meaning.is_working()
    {
        index.meaning.done().await;
    }
    assert_eq!(index.session.kept_exchanges(), 3);
    drop(index);
    // What a killed writer left behind the last whole line is left to the next writer.
    let torn = Path::new("d/vectordb/sessions/trip/exchanges.jsonl");
    disk.append_synced(torn, b"{\"turn\":").unwrap();
    let files = || -> Vec<(PathBuf, Vec<u8>)> {
        let folders = [
            Path::new("d/vectordb/sessions/trip"),
            Path::new("d/vectordb"),
        ];
        let files = folders.iter().flat_map(|folder| disk.list(folder).unwrap());
        files
            .filter_map(|file| Some((file.clone(), disk.read(&file).ok()?)))
            .collect()
    };
    let before = files();
    let near = ["user: We love windsurfing"];
    let asked = "windsurfboard";
    let mut alike = with_past(hashed(256), &store, folder);
    assert_eq!(said(&mut alike, asked, SearchMode::Hybrid).await, near);
    assert_eq!(said(&mut alike, asked, SearchMode::Text).await, [""; 0]);
    let mut other = with_past(hashed(128), &store, folder);
    assert_eq!(said(&mut other, asked, SearchMode::Hybrid).await, [""; 0]);
    assert_eq!(files(), before, "nothing is written");
    let search = Search {
        query: asked,
        limit: 10,
        mode: SearchMode::Hybrid,
        scope: Scope::Everything,
        now: now(),
    };
    let found = with_past(hashed(256), &store, folder)
        .search(search, Some(&trip))
        .await;
    assert_eq!(found.hits[0].content, near[0], "the open one as well");
}
