//! What a search of everything costs over 100,000 messages in twenty sessions and 20,000 notes: the first of a process,
//! which reads all of it from the disk, and those that follow. By words, and by words and meaning, with an embedder that
//! costs nothing. The claims are absolute: 5 ms by words, and 30 ms for the first.
//!
//! The talk is made up, with words as unequally frequent as those of a language; each question has five words of one
//! message or note. Figures are of single calls, p50 and p99 of what follows.

#![expect(clippy::print_stdout, reason = "a table for people")]

#[path = "common/numbers.rs"]
mod numbers;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cogtrix::chat::{Message, MessageId, Role, Session, SessionMeta, Timestamp};
use cogtrix::clock::SystemClock;
use cogtrix::embed::{Candidate, ChoiceSettings, EmbedderChoice, Named};
use cogtrix::files::{Disk, LocalDisk};
use cogtrix::index::{
    Index, Keeping, LongTerm, Parts, Past, Places, Scope, Search, SearchMode, Settings,
    SharedLists, Written,
};
use cogtrix::long_term::notes::SessionFiles;
use cogtrix::store::{FileStore, SessionStore};
use numbers::Numbers;

const SESSIONS: u64 = 20;
const MESSAGES: u64 = 5_000;
const NOTES: u64 = 20_000;
const A_FILE: u64 = 1_000;
const WORDS_EACH: u64 = 25;
const SITTING: u64 = 40;
const FIRST: i64 = 1_600_000_000;
const CALLS: usize = 200;
const NOW: i64 = 1_800_000_000;

/// A question that has some words of a text.
fn question(text: &str) -> String {
    let some: Vec<&str> = text.split(' ').step_by(3).take(5).collect();
    format!("what did you say about the {}?", some.join(" "))
}

/// Sessions and notes, on disk as the program leaves them, and questions.
fn fill(data: &Path, store: &FileStore, parts: &Parts) -> Vec<String> {
    let mut numbers = Numbers(7);
    let mut questions = Vec::new();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    for number in 0..SESSIONS {
        let message = |n: u64| {
            let role = if n.is_multiple_of(2) {
                Role::User
            } else {
                Role::Assistant
            };
            let day = i64::try_from(number * MESSAGES / SITTING + n / SITTING).unwrap_or(0);
            let minute = i64::try_from(n % SITTING).unwrap_or(0);
            let at = Timestamp::from_unix(FIRST + day * 86_400 + minute * 60);
            let text = numbers.text(WORDS_EACH);
            if n.is_multiple_of(997) {
                questions.push(question(&text));
            }
            Message::text(MessageId::numbered(n + 1), role, text, at)
        };
        let past = (0..MESSAGES).map(message).collect();
        let name = format!("talk-{number}").parse().expect("a valid name");
        let session = Session::restore(name, SessionMeta::default(), past, |_| None);
        let mut opened = store
            .open(session.name(), Duration::ZERO)
            .expect("a new session");
        opened.log.rewrite(&session).expect("room on the disk");
        let mut index = Index::new(parts.clone(), session.name());
        runtime
            .block_on(index.session.catch_up(&session))
            .expect("an index");
        index.session.keep_all();
    }
    for file in 0..NOTES / A_FILE {
        let notes: Vec<String> = (0..A_FILE)
            .map(|_| format!("- {}\n", numbers.text(WORDS_EACH)))
            .collect();
        questions.push(question(&notes[usize::try_from(file).unwrap_or(0)]));
        let path = data.join(format!("workspace/memories/file-{file}.md"));
        LocalDisk
            .replace(&path, notes.concat().as_bytes())
            .expect("room on the disk");
    }
    questions
}

fn parts(data: &Path, candidates: Vec<Candidate>) -> Parts {
    let disk: Arc<dyn Disk> = Arc::new(LocalDisk);
    let settings = ChoiceSettings {
        candidates,
        named: Named::No,
    };
    Parts {
        embedder: Arc::new(EmbedderChoice::new(settings, Arc::clone(&disk))),
        disk,
        folder: data.join("vectordb"),
        lists: SharedLists::default(),
        settings: Settings::default(),
        reranker: None,
        min_similarity: 0.25,
        keeping: Keeping::Kept,
    }
}

fn index(data: &Path, store: &Arc<FileStore>, candidates: Vec<Candidate>) -> Index {
    let name = "open".parse().expect("a valid name");
    Index::new(parts(data, candidates), &name).with_long_term(LongTerm {
        places: Places {
            workspace: data.join("workspace"),
            session_files: SessionFiles::PerSession,
            daily: 30,
            documents: None,
        },
        written: Written::default(),
        chunk_size: 2_000,
        chunk_overlap: 200,
        past: Some(Past {
            store: Arc::clone(store) as Arc<dyn SessionStore>,
            history: data.join("history"),
        }),
    })
}

async fn search(index: &mut Index, query: &str, mode: SearchMode) -> Duration {
    let begin = Instant::now();
    let search = Search {
        query,
        limit: 10,
        mode,
        scope: Scope::Everything,
        now: Timestamp::from_unix(NOW).expect("in range"),
    };
    let found = index.search(search, None).await;
    assert!(!found.hits.is_empty(), "{query}: {:?}", found.troubles);
    begin.elapsed()
}

/// Makes the vectors of all messages and notes.
async fn embed(data: &Path, store: &Arc<FileStore>) {
    let mut index = index(data, store, vec![Candidate::Hashed { dimensions: 384 }]);
    index
        .refresh(Timestamp::from_unix(NOW).expect("in range"))
        .await;
    index.embed_all_long_term().await;
    for number in 0..SESSIONS {
        let name = format!("talk-{number}").parse().expect("a valid name");
        let session = store.read(&name).expect("a session");
        index.session.open(&name);
        let all = session.messages().len();
        let known = cogtrix::text::secrets::Known::default;
        index
            .session
            .embed(&session, all, known, &mut index.meaning);
        while index.meaning.is_working() {
            index.meaning.done().await;
            index
                .session
                .embed(&session, all, known, &mut index.meaning);
        }
    }
}

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path();
    let disk: Arc<dyn Disk> = Arc::new(LocalDisk);
    let store = Arc::new(FileStore::new(disk, data.to_owned(), Arc::new(SystemClock)));
    let questions = {
        let (data, store) = (data.to_owned(), Arc::clone(&store));
        let filling = move || fill(&data, &store, &parts(&data, Vec::new()));
        tokio::task::spawn_blocking(filling)
            .await
            .expect("no panic")
    };
    println!("| ms | first | p50 | p99 |");
    println!("|---|--:|--:|--:|");
    for (what, mode) in [
        ("words", SearchMode::Text),
        ("words and meaning", SearchMode::Hybrid),
    ] {
        let candidates = || match mode {
            SearchMode::Text => Vec::new(),
            SearchMode::Hybrid => vec![Candidate::Hashed { dimensions: 384 }],
        };
        if mode == SearchMode::Hybrid {
            embed(data, &store).await;
        }
        let mut firsts = Vec::new();
        for question in questions.iter().take(7) {
            let mut index = index(data, &store, candidates());
            firsts.push(search(&mut index, question, mode).await);
        }
        let mut index = index(data, &store, candidates());
        search(&mut index, &questions[0], mode).await;
        let mut times = Vec::new();
        for question in questions.iter().cycle().take(CALLS) {
            times.push(search(&mut index, question, mode).await);
        }
        firsts.sort_unstable();
        times.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let [first, p50, p99] = [firsts[3], times[CALLS / 2], times[CALLS * 99 / 100]].map(ms);
        println!("| {what} | {first:.1} | {p50:.1} | {p99:.1} |");
    }
}
