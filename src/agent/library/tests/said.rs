//! What was said in sessions that are not open: by words of their own, and by vectors that were made before.

use super::*;
use crate::agent::shelf::{Keeping, Parts as ShelfParts, Shelf};

fn store(disk: Arc<dyn Disk>, folder: &Path) -> Arc<FileStore> {
    let clock = Arc::new(ManualClock::new());
    Arc::new(FileStore::new(disk, folder.to_owned(), clock))
}

/// Says something in the session `trip`, which is `Yes.` to the program.
fn say(store: &FileStore, text: &str) -> Session {
    let name = "trip".parse().unwrap();
    let mut opened = store.open(&name, std::time::Duration::ZERO).unwrap();
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
        indexes: folder.join("vectordb/sessions"),
    }
}

async fn said(library: &mut Library, query: &str, mode: SearchMode) -> Vec<String> {
    let search = Search {
        query,
        limit: 10,
        mode,
        scope: Scope::Everything,
        now: now(),
    };
    let found = library.search(search, None).await;
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
    let mut parts = parts(&disk);
    parts.sessions = Some(past(&store, Path::new("d")));
    let mut library = Library::new(parts);
    assert_eq!(
        said(&mut library, "deadline", SearchMode::Text).await[0],
        "user: The deadline of the report is Friday."
    );
}

#[tokio::test]
async fn a_turn_does_not_wait_for_long_sessions_that_have_no_index_and_who_asks_finds_them() {
    let disk = MemoryDisk::default();
    let store = store(Arc::new(disk.clone()), Path::new("d"));
    let related = async |text: &str| {
        say(&store, text);
        let mut parts = parts(&disk);
        parts.sessions = Some(past(&store, Path::new("d")));
        let mut library = Library::new(parts);
        let question = "when is the deadline of the report?";
        let by_itself = related(&mut library, &[question], &Kept::default(), true).await;
        let asked = said(&mut library, question, SearchMode::Text).await;
        (!by_itself.is_empty(), !asked.is_empty())
    };
    assert_eq!(
        related("The deadline of the report is Friday.").await,
        (true, true)
    );
    let long = "Nothing else came to pass on that day. ".repeat(8_000);
    assert_eq!(related(&long).await, (false, true));
}

fn hashed(disk: &Arc<dyn Disk>, dimensions: usize) -> Arc<EmbedderChoice> {
    let settings = ChoiceSettings {
        candidates: vec![Candidate::Hashed { dimensions }],
        named: Named::Yes,
        cache: CacheSettings::new("cache"),
    };
    Arc::new(EmbedderChoice::new(settings, Arc::clone(disk)))
}

/// Every file below a folder, with its bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn past_sessions_are_found_by_the_vectors_they_have_and_only_by_those_of_the_same_embedder() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let disk: Arc<dyn Disk> = Arc::new(LocalDisk);
    let store = store(Arc::clone(&disk), folder);
    say(&store, "We love windsurfing");
    say(&store, "The report is due on Friday.");
    let session = say(&store, "A cabin is booked.");
    let indexes = folder.join("vectordb/sessions");
    let shelf = ShelfParts {
        disk: Arc::clone(&disk),
        folder: indexes.clone(),
        lists: None,
        embedder: hashed(&disk, 256),
        hnsw_min: 50_000,
        keeping: Keeping::Kept,
    };
    let mut shelf = Shelf::new(shelf, session.name());
    shelf.index_all(&session, &mut |_| {}).await.unwrap();
    drop(shelf);
    // What a killed writer left behind the last whole line is left to the next writer.
    let torn = indexes.join("trip/exchanges.jsonl");
    disk.append_synced(&torn, b"{\"turn\":").unwrap();
    let before = files(&indexes.join("trip"));
    let library = |dimensions| {
        let mut parts = parts(&MemoryDisk::default());
        parts.disk = Arc::clone(&disk);
        parts.places.workspace = folder.join("w");
        parts.places.documents = None;
        parts.embedder = hashed(&disk, dimensions);
        parts.sessions = Some(past(&store, folder));
        Library::new(parts)
    };
    let near = ["user: We love windsurfing"];
    let asked = "windsurfboard";
    let mut alike = library(256);
    assert_eq!(said(&mut alike, asked, SearchMode::Hybrid).await, near);
    assert_eq!(said(&mut alike, asked, SearchMode::Text).await, [""; 0]);
    let mut other = library(128);
    assert_eq!(said(&mut other, asked, SearchMode::Hybrid).await, [""; 0]);
    assert_eq!(files(&indexes.join("trip")), before, "nothing is written");
    let mut words = Words::new(Arc::new(Lists::embedded()));
    words.follow(&session);
    let search = Search {
        query: asked,
        limit: 10,
        mode: SearchMode::Hybrid,
        scope: Scope::Everything,
        now: now(),
    };
    let open = Open {
        session: &session,
        words: Some(&words),
    };
    let found = library(256).search(search, Some(open)).await;
    assert_eq!(found.hits[0].content, near[0], "the open one as well");
}
