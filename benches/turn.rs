//! What a turn costs beside the model: preparing the request and persisting the turn, at growing session
//! sizes. The claim is a ratio: 100,000 messages against 100.

use std::hint::black_box;

use cogtrix::chat::{
    Calibration, Message, MessageId, Outcome, Record, Role, Session, SessionMeta, Timestamp,
    Tokens, TurnId,
};
use cogtrix::context::{Budget, fit};
use cogtrix::memory::{Memory, Prompts, Registry, Settings, Surroundings};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

const SIZES: [usize; 3] = [100, 10_000, 100_000];
/// About what a message of a real conversation holds.
const TEXT: &str = "We looked at the query plan again: the index on (customer_id, created_at) is used, but the sort \
                    spills to disk because work_mem is too small for the two months of orders that the report asks for. \
                    Raising it for this one session is enough; the nightly job can keep the default.";

fn session(messages: usize) -> Session {
    let message = |n: usize| {
        let role = if n.is_multiple_of(2) {
            Role::User
        } else {
            Role::Assistant
        };
        let at = Timestamp::from_unix(1_700_000_000 + i64::try_from(n).unwrap_or(0) * 60);
        Message::text(MessageId::numbered(n as u64 + 1), role, TEXT, at)
    };
    let messages = (0..messages).map(message).collect();
    let name = "bench".parse().expect("a valid name");
    Session::restore(name, SessionMeta::default(), messages, |_| None)
}

fn memory() -> Memory {
    let settings = Settings::default();
    let prompts = Prompts::embedded();
    let modes = Registry::standard(&settings, &prompts);
    Memory::new(modes, settings, prompts).expect("the default mode exists")
}

fn prepare(criterion: &mut Criterion) {
    let memory = memory();
    let mut group = criterion.benchmark_group("prepare and fit");
    for size in SIZES {
        let session = session(size);
        let input = Message::text(
            session.next_message_id(0),
            Role::User,
            "And the report?",
            None,
        );
        let budget = Budget::new(Tokens(8_192), None, Calibration::default());
        let now = Timestamp::from_unix(1_800_000_000).expect("in range");
        let around = Surroundings {
            directory: "~/project".into(),
            now,
            room: budget.prompt(),
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
        let mut session = session(size);
        group.bench_with_input(BenchmarkId::from_parameter(size), &size, |bench, _| {
            bench.iter(|| one_turn(&mut session));
        });
    }
    group.finish();
}

fn one_turn(session: &mut Session) {
    let turn: TurnId = session.next_turn();
    let input = Message::text(session.next_message_id(0), Role::User, TEXT, None);
    session.apply(Record::TurnStarted {
        turn,
        input,
        mode: "code".into(),
        model: "m".into(),
    });
    let reply = Message::text(session.next_message_id(0), Role::Assistant, TEXT, None);
    session.apply(Record::TurnFinished {
        turn,
        messages: vec![reply],
        outcome: Outcome::Answered,
        calibration: None,
    });
}

criterion_group!(benches, prepare, apply);
criterion_main!(benches);
