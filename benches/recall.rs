//! What recall costs in a long session: opening its index of words, taking in one more message, finding, preparing a
//! request, and a whole turn with and without it. No embedder, no network. The claims are absolute, for 100,000
//! messages; the ratio to 10,000 tells how each grows.
//!
//! The talk is made up: words as unequally frequent as those of a language, sittings of forty messages, questions that
//! share some words with one message of long ago. Each figure is of single calls, p50 and p99.

#![expect(clippy::print_stdout, reason = "a table for people")]

#[path = "common/numbers.rs"]
mod numbers;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cogtrix::agent::{Agent, Running, Settings as AgentSettings};
use cogtrix::chat::{
    Calibration, Message, MessageId, Outcome, Record, Role, Session, SessionMeta, Timestamp, Tokens,
};
use cogtrix::clock::SystemClock;
use cogtrix::context::{self, Budget, Layout, fit};
use cogtrix::embed::{ChoiceSettings, EmbedderChoice, Named};
use cogtrix::files::{Disk, LocalDisk};
use cogtrix::index::{Keeping, Lists, Parts, Words};
use cogtrix::memory::recall::{self, Question, Searching};
use cogtrix::memory::tracking::readers::Readers;
use cogtrix::memory::{Memory, Prompts, Registry, Settings, Surroundings};
use cogtrix::provider::Delivery;
use cogtrix::testing::MemoryLog;
use cogtrix::testing::provider::{ScriptedProvider, says};
use numbers::Numbers;
use tokio_util::sync::CancellationToken;

const SIZES: [usize; 2] = [10_000, 100_000];
const WINDOW: Tokens = Tokens(8_192);
const WORDS_EACH: u64 = 45;
const SITTING: u64 = 40;
const FIRST: i64 = 1_600_000_000;

fn message(n: u64, numbers: &mut Numbers) -> Message {
    let role = if n.is_multiple_of(2) {
        Role::User
    } else {
        Role::Assistant
    };
    // A sitting a day.
    let at = FIRST + i64::try_from(n / SITTING * 86_400 + n % SITTING * 60).unwrap_or(0);
    let text = numbers.text(WORDS_EACH);
    Message::text(
        MessageId::numbered(n + 1),
        role,
        text,
        Timestamp::from_unix(at),
    )
}

fn session(messages: usize) -> Session {
    let mut numbers = Numbers(7);
    let past = (0..messages as u64)
        .map(|n| message(n, &mut numbers))
        .collect();
    let name = "long".parse().expect("a valid name");
    Session::restore(name, SessionMeta::default(), past, |_| None)
}

/// Five words of a message somewhere, among some that everybody uses.
fn question(session: &Session, numbers: &mut Numbers) -> String {
    let all = session.messages();
    let at = usize::try_from(numbers.below(all.len() as u64)).unwrap_or(0);
    let said = all[at].said();
    let some: Vec<&str> = said.split(' ').step_by(5).take(5).collect();
    format!("what did you say about the {}?", some.join(" "))
}

fn say(session: &mut Session, numbers: &mut Numbers) {
    let turn = session.next_turn();
    let [input, reply] = [0, 1].map(|n| message(session.messages().len() as u64 + n, numbers));
    session.apply(Record::TurnStarted {
        turn,
        input,
        mode: "conversation".into(),
        model: "m".into(),
    });
    session.apply(Record::TurnFinished {
        turn,
        messages: vec![reply],
        outcome: Outcome::Answered,
        calibration: None,
    });
}

/// Times of single calls, in order.
struct Times(Vec<Duration>);

impl Times {
    fn of<T>(calls: usize, mut call: impl FnMut() -> T) -> Self {
        let one = |_| {
            let begin = Instant::now();
            let result = black_box(call());
            let spent = begin.elapsed();
            drop(result);
            spent
        };
        Self((0..calls).map(one).collect()).sorted()
    }

    fn sorted(mut self) -> Self {
        self.0.sort_unstable();
        self
    }

    fn at(&self, percent: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0[last.min(self.0.len() * percent / 100)]
    }
}

struct Row {
    what: &'static str,
    times: Times,
}

fn memory() -> Memory {
    let settings = Settings::default();
    let prompts = Prompts::embedded();
    let modes = Registry::standard(&settings, &prompts, Readers::embedded());
    Memory::new(modes, settings, prompts).expect("the default mode exists")
}

fn asked(text: &str) -> Question<'_> {
    Question {
        text,
        k: 3,
        before: usize::MAX,
        min_similarity: 0.25,
    }
}

fn rows(messages: usize) -> Vec<Row> {
    let mut session = session(messages);
    let mut numbers = Numbers(11);
    let lists = Arc::new(Lists::embedded());
    let mut words = Words::new(Arc::clone(&lists));
    words.follow(&session);
    let mut rows = Vec::new();
    let mut row = |what, times| rows.push(Row { what, times });

    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("words.idx");
    let bytes = words.to_bytes();
    println!(
        "{messages} messages: an index of {} KB",
        bytes.len() / 1_000
    );
    LocalDisk.replace(&file, &bytes).expect("room on the disk");
    let open = || {
        let bytes = LocalDisk.read(&file).expect("it was just written");
        let mut words = Words::from_bytes(Arc::clone(&lists), &bytes).expect("a sound index");
        assert!(words.is_of(&session), "of this session");
        words
    };
    row(
        "open the index and hold it against the session",
        Times::of(15, open),
    );

    let questions: Vec<String> = (0..500).map(|_| question(&session, &mut numbers)).collect();
    let mut next = questions.iter().cycle();
    let mut next = || next.next().map_or("", String::as_str);
    let searching = Searching {
        words: &words,
        nearest: &[],
    };
    row(
        "search the words, 10 messages",
        Times::of(500, || {
            let k = 10;
            recall::search_messages(searching, Question { k, ..asked(next()) })
        }),
    );
    row(
        "find 3 exchanges",
        Times::of(500, || recall::find(&session, searching, asked(next()))),
    );
    let memory = memory();
    let prepare = |searching: Option<Searching<'_>>, text: &str| {
        let input = Message::text(session.next_message_id(0), Role::User, text, None);
        let budget = Budget::new(WINDOW, None, Calibration::default());
        let around = Surroundings {
            directory: "~/project".into(),
            now: Timestamp::from_unix(1_800_000_000).expect("in range"),
            layout: Layout::Classic,
            room: budget.prompt(),
            recall: searching,
            offered: None,
            result_chars: 2_000,
            kept: &cogtrix::memory::LongTermContext::default(),
            compacted_now: 0..0,
            strategy: context::Strategy::Rolling,
        };
        fit(memory.prepare(&session, &input, &around), budget)
    };
    row(
        "prepare and fit, without recall",
        Times::of(500, || prepare(None, next())),
    );
    row(
        "prepare and fit, with recall",
        Times::of(1_000, || prepare(Some(searching), next())),
    );
    for recalling in [Recalling::Off, Recalling::On] {
        row(
            recalling.what(),
            turns(&session, recalling, &questions, folder.path()),
        );
    }
    let follow = (0..2_000).map(|_| {
        say(&mut session, &mut numbers);
        let begin = Instant::now();
        words.follow(&session);
        begin.elapsed() / 2
    });
    row("take in one more message", Times(follow.collect()).sorted());
    rows
}

#[derive(Clone, Copy)]
enum Recalling {
    Off,
    On,
}

impl Recalling {
    fn what(self) -> &'static str {
        match self {
            Self::Off => "a whole turn, without recall",
            Self::On => "a whole turn, with recall",
        }
    }
}

/// Whole turns of the agent, without a disk.
fn turns(session: &Session, recalling: Recalling, questions: &[String], folder: &Path) -> Times {
    let settings = AgentSettings {
        summariser: None,
        jobs: Running::Background,
        think: cogtrix::agent::ThinkSettings::default(),
        recall: match recalling {
            Recalling::On => Some(parts(folder.join("vectordb"))),
            Recalling::Off => None,
        },
        context: context::Settings::default(),
        delivery: Delivery::Streamed,
        directory: "~/project".into(),
        places: Vec::new(),
        data: PathBuf::new(),
    };
    let provider = Arc::new(ScriptedProvider::new([says("Let us go on with it then.")]));
    let opened = MemoryLog::default().reopen(session.clone());
    let mut agent = Agent::new(provider, memory(), opened, Arc::new(SystemClock), settings);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    let mut next = questions.iter().cycle();
    let mut turn = || {
        let input = next.next().cloned().unwrap_or_default();
        let cancel = CancellationToken::new();
        let mut observe = |_| {};
        let turn = agent.turn(input, &mut observe, &cancel);
        runtime.block_on(turn).expect("a reply").partial
    };
    // The first one waits for the index.
    turn();
    Times::of(300, turn)
}

fn parts(folder: PathBuf) -> Parts {
    let disk: Arc<dyn Disk> = Arc::new(LocalDisk);
    let nobody = ChoiceSettings {
        candidates: Vec::new(),
        named: Named::No,
    };
    Parts {
        embedder: Arc::new(EmbedderChoice::new(nobody, Arc::clone(&disk))),
        disk,
        folder,
        lists: cogtrix::index::SharedLists::default(),
        settings: cogtrix::index::Settings::default(),
        reranker: None,
        min_similarity: 0.25,
        keeping: Keeping::Kept,
    }
}

fn main() {
    let [small, large] = SIZES.map(rows);
    println!(
        "| ms | {} p50 | p99 | {} p50 | p99 | ratio of p50 |",
        SIZES[0], SIZES[1]
    );
    println!("|---|--:|--:|--:|--:|--:|");
    for (small, large) in small.iter().zip(&large) {
        let ms = |times: &Times, percent| times.at(percent).as_secs_f64() * 1e3;
        let (few, many) = (&small.times, &large.times);
        println!(
            "| {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.1} |",
            small.what,
            ms(few, 50),
            ms(few, 99),
            ms(many, 50),
            ms(many, 99),
            ms(many, 50) / ms(few, 50),
        );
    }
}
