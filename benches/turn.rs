//! What a turn costs beside the model, at growing session sizes: preparing the request, persisting the turn,
//! and both in a whole turn of the agent; then opening a session and folding its journal. The claim is a
//! ratio: 100,000 messages against 100.
//!
//! What is written goes to a folder on the disk, and to one in memory, where a sync costs nothing: the
//! difference is what the disk takes.

mod common;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cogtrix::agent::{Agent, Running, Settings as AgentSettings};
use cogtrix::chat::{Calibration, Message, Role, Session, SessionName, Timestamp, Tokens};
use cogtrix::clock::SystemClock;
use cogtrix::context::{self, Budget, Layout, fit};
use cogtrix::memory::tracking::readers::Readers;
use cogtrix::memory::{Memory, Prompts, Registry, Settings, Surroundings};
use cogtrix::provider::{
    Abilities, ChatRequest, Delivery, EventStream, FinishReason, ModelName, Provider,
    ProviderError, StreamEvent, WindowSource,
};
use cogtrix::store::{Opened, SessionStore};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use futures_util::StreamExt;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

const SIZES: [usize; 3] = [100, 10_000, 100_000];
/// The largest is just under the size up to which a clean end folds.
const FOLDED: [usize; 3] = [100, 1_000, 2_500];
const WINDOW: Tokens = Tokens(8_192);

/// Where files are written: what is measured, and where that lies.
fn places() -> Vec<(&'static str, TempDir)> {
    let on_disk = tempfile::tempdir().expect("a temporary folder");
    let in_memory = tempfile::tempdir_in("/dev/shm").ok();
    let in_memory = in_memory.map(|folder| ("without the disk", folder));
    in_memory
        .into_iter()
        .chain([("on the disk", on_disk)])
        .collect()
}

fn name(messages: usize) -> SessionName {
    format!("of {messages}").parse().expect("a valid name")
}

fn open(data: &Path, messages: usize) -> Opened {
    let store = common::store(data);
    store
        .open(&name(messages), Duration::ZERO)
        .expect("a session that is there")
}

/// The journal and the side files go, the snapshot stays.
fn forget_turns(data: &Path, messages: usize) {
    for end in [".journal.jsonl", "_mode_state.json"] {
        let path = data.join(format!("history/{}{end}", name(messages)));
        std::fs::remove_file(path).ok();
    }
}

fn memory() -> Memory {
    let settings = Settings::default();
    let prompts = Prompts::embedded();
    let modes = Registry::standard(&settings, &prompts, Readers::embedded());
    Memory::new(modes, settings, prompts).expect("the default mode exists")
}

fn prepare(criterion: &mut Criterion) {
    let memory = memory();
    let mut group = criterion.benchmark_group("prepare and fit");
    for size in SIZES {
        let session = common::session(name(size), size);
        let input = Message::text(
            session.next_message_id(0),
            Role::User,
            "And the report?",
            None,
        );
        let budget = Budget::new(WINDOW, None, Calibration::default());
        let now = Timestamp::from_unix(1_800_000_000).expect("in range");
        let around = Surroundings {
            directory: "~/project".into(),
            now,
            room: budget.prompt(),
            layout: Layout::Classic,
            recall: None,
            offered: None,
            result_chars: 2_000,
            kept: &cogtrix::memory::LongTermContext::default(),
            compacted_now: 0..0,
            strategy: context::Strategy::Rolling,
        };
        group.bench_with_input(BenchmarkId::from_parameter(size), &size, |bench, _| {
            bench.iter(|| fit(memory.prepare(black_box(&session), &input, &around), budget));
        });
    }
    group.finish();
}

fn apply(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("apply a turn");
    for size in SIZES {
        let mut session = common::session(name(size), size);
        group.bench_with_input(BenchmarkId::from_parameter(size), &size, |bench, _| {
            bench.iter(|| one_turn(&mut session));
        });
    }
    group.finish();
}

fn one_turn(session: &mut Session) {
    for record in common::next_turn(session) {
        session.apply(record);
    }
}

fn append(criterion: &mut Criterion) {
    for (place, folder) in places() {
        let mut group = criterion.benchmark_group(format!("append a turn {place}"));
        group.sampling_mode(SamplingMode::Flat).sample_size(20);
        for size in SIZES {
            common::keep(folder.path(), name(size), size);
            group.bench_with_input(BenchmarkId::from_parameter(size), &size, |bench, _| {
                bench.iter_custom(|turns| {
                    forget_turns(folder.path(), size);
                    let Opened {
                        mut session,
                        mut log,
                        ..
                    } = open(folder.path(), size);
                    timed(turns, || {
                        for record in common::next_turn(&session) {
                            log.append(std::slice::from_ref(&record)).expect("room");
                            session.apply(record);
                        }
                    })
                });
            });
        }
        group.finish();
    }
}

/// Everything the agent does in a turn: two appends, prepare, fit, the mode states.
fn whole_turn(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().expect("a runtime");
    for (place, folder) in places() {
        let mut group = criterion.benchmark_group(format!("a whole turn {place}"));
        group.sampling_mode(SamplingMode::Flat).sample_size(20);
        for size in SIZES {
            common::keep(folder.path(), name(size), size);
            group.bench_with_input(BenchmarkId::from_parameter(size), &size, |bench, _| {
                bench.iter_custom(|turns| {
                    forget_turns(folder.path(), size);
                    let mut agent = agent(open(folder.path(), size));
                    timed(turns, || say(&runtime, &mut agent))
                });
            });
        }
        group.finish();
    }
}

fn timed(times: u64, mut act: impl FnMut()) -> Duration {
    let begin = Instant::now();
    for _ in 0..times {
        act();
    }
    begin.elapsed()
}

fn agent(opened: Opened) -> Agent {
    let settings = AgentSettings {
        summariser: None,
        jobs: Running::Background,
        think: cogtrix::agent::ThinkSettings::default(),
        recall: None,
        context: context::Settings::default(),
        delivery: Delivery::Streamed,
        directory: "~/project".into(),
        places: Vec::new(),
        data: std::path::PathBuf::new(),
    };
    let model = ModelName {
        provider: "bench".to_owned(),
        model: "at-once".to_owned(),
    };
    let provider = Arc::new(AtOnce(model));
    Agent::new(provider, memory(), opened, Arc::new(SystemClock), settings)
}

fn say(runtime: &Runtime, agent: &mut Agent) {
    let cancel = CancellationToken::new();
    let mut observe = |_| {};
    let turn = agent.turn(common::TEXT.to_owned(), &mut observe, &cancel);
    runtime.block_on(turn).expect("a reply");
}

/// A model that takes no time.
#[derive(Debug)]
struct AtOnce(ModelName);

#[async_trait]
impl Provider for AtOnce {
    fn model(&self) -> &ModelName {
        &self.0
    }

    async fn abilities(&self) -> Abilities {
        Abilities {
            context_window: WINDOW,
            window_source: WindowSource::Config,
            max_output: None,
            price: None,
        }
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        black_box(request);
        let finished = StreamEvent::Finished {
            reason: FinishReason::Stop,
            usage: None,
        };
        let events = [StreamEvent::Text(common::TEXT.to_owned()), finished];
        futures_util::stream::iter(events.map(Ok)).boxed()
    }
}

fn load(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut group = criterion.benchmark_group("open a session");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    for size in SIZES {
        common::keep(folder.path(), name(size), size);
        group.bench_with_input(BenchmarkId::from_parameter(size), &size, |bench, _| {
            bench.iter_custom(|times| {
                // Letting go of the session before is not part of opening the next.
                let open_one = |_| {
                    let begin = Instant::now();
                    let opened = open(folder.path(), size);
                    let spent = begin.elapsed();
                    drop(opened);
                    spent
                };
                (0..times).map(open_one).sum()
            });
        });
    }
    group.finish();
}

fn checkpoint(criterion: &mut Criterion) {
    for (place, folder) in places() {
        let mut group = criterion.benchmark_group(format!("fold a journal {place}"));
        group.sampling_mode(SamplingMode::Flat).sample_size(20);
        for size in FOLDED {
            group.bench_with_input(BenchmarkId::from_parameter(size), &size, |bench, _| {
                bench.iter_custom(|times| folding(folder.path(), size, times));
            });
        }
        group.finish();
    }
}

/// The time of so many folds, each of one turn, beginning with a fresh session.
fn folding(data: &Path, messages: usize, times: u64) -> Duration {
    std::fs::remove_dir_all(data.join("history")).ok();
    common::keep(data, name(messages), messages);
    let Opened {
        mut session,
        mut log,
        ..
    } = open(data, messages);
    let mut spent = Duration::ZERO;
    for _ in 0..times {
        for record in common::next_turn(&session) {
            log.append(std::slice::from_ref(&record)).expect("room");
            session.apply(record);
        }
        spent += timed(1, || log.checkpoint(&session).expect("room"));
    }
    spent
}

criterion_group!(
    benches, prepare, apply, append, whole_turn, load, checkpoint
);
criterion_main!(benches);
