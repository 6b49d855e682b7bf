//! What reading a turn costs: each reader on messages of 10,000 characters of several kinds, and all three on
//! messages of growing length. The claims: under two milliseconds for 10,000 characters, and linear.

use std::hint::black_box;

use cogtrix::memory::tracking::readers::{Reader, Readers};
use cogtrix::memory::tracking::{Exchange, Piece, Speaker};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Kinds of text: a name, and what is said again and again.
const KINDS: [(&str, &str); 5] = [
    (
        "talk",
        "My sister Ana moved to Porto last spring and works as a nurse there. What is the difference between a tide \
         and a current? I have two cats, and we want to visit her in May. ",
    ),
    (
        "plan",
        "Our goal is to launch by June. The budget is $50k and we must not exceed three people. Let's go with \
         PostgreSQL over MongoDB because it has JSON, assuming that the load stays low. ",
    ),
    (
        "code",
        "Please fix the login in src/auth.py, I changed `src/users.py` to use get. It fails with KeyError: 'ana' in \
         tests/test_auth.py::test_login, see https://example.com/a/b.html for v1.2.3. ",
    ),
    (
        "traceback",
        "Traceback (most recent call last):\n  File \"/home/me/app/src/auth.py\", line 42, in login\n    user = \
         users[name]\nKeyError: 'ana'\nerror[E0382]: borrow of moved value: `x`\n  --> src/main.rs:4:5\n",
    ),
    (
        "hostile",
        "what is [(src/a.b.c/d.rs:1:2 'my error: our goal is ",
    ),
];

fn text(said: &str, chars: usize) -> String {
    said.chars().cycle().take(chars).collect()
}

fn exchange(text: &str) -> Exchange<'_> {
    Exchange {
        pieces: vec![Piece {
            by: Speaker::User,
            text: text.into(),
        }],
        ..Exchange::default()
    }
}

fn all(readers: &Readers, exchange: &Exchange<'_>) -> usize {
    let readers: [&dyn Reader; 3] = [
        readers.conversation.as_ref(),
        readers.code.as_ref(),
        readers.reasoning.as_ref(),
    ];
    readers
        .into_iter()
        .map(|reader| reader.read(exchange).len())
        .sum()
}

fn kinds(criterion: &mut Criterion) {
    let readers = Readers::embedded();
    let mut group = criterion.benchmark_group("10,000 characters");
    for (kind, said) in KINDS {
        let text = text(said, 10_000);
        let exchange = exchange(&text);
        let each: [(&str, &dyn Reader); 3] = [
            ("conversation", readers.conversation.as_ref()),
            ("code", readers.code.as_ref()),
            ("reasoning", readers.reasoning.as_ref()),
        ];
        for (name, reader) in each {
            group.bench_function(BenchmarkId::new(name, kind), |bencher| {
                bencher.iter(|| black_box(reader.read(black_box(&exchange))));
            });
        }
        group.bench_function(BenchmarkId::new("all", kind), |bencher| {
            bencher.iter(|| black_box(all(&readers, black_box(&exchange))));
        });
    }
    group.finish();
}

fn lengths(criterion: &mut Criterion) {
    let readers = Readers::embedded();
    let mut group = criterion.benchmark_group("length");
    for (kind, said) in KINDS {
        for chars in [5_000_usize, 20_000, 80_000] {
            let text = text(said, chars);
            let exchange = exchange(&text);
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(BenchmarkId::new(kind, chars), |bencher| {
                bencher.iter(|| black_box(all(&readers, black_box(&exchange))));
            });
        }
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_secs(2)).warm_up_time(std::time::Duration::from_millis(500));
    targets = kinds, lengths
}
criterion_main!(benches);
