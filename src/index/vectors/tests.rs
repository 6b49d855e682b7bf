use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use super::file::{checksum, mix};
use super::*;
use crate::files::MemoryDisk;

const FOLDER: &str = "v";

fn made(dimension: usize) -> Made {
    Made {
        model: "test".to_owned(),
        dimension,
    }
}

fn open(disk: &MemoryDisk, dimension: usize) -> VectorStore {
    open_with_graph(disk, dimension, u64::MAX)
}

/// Graphs of few rows.
fn open_with_graph(disk: &MemoryDisk, dimension: usize, memory: u64) -> VectorStore {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    VectorStore::open_from(disk, Path::new(FOLDER), made(dimension), (1_024, memory)).unwrap()
}

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn vector(&mut self, dimension: usize) -> Vec<f32> {
        let mut number = || {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let high = u16::try_from(mix(mix(self.0, 1), 2) >> 48).unwrap();
            f32::from(high) / 32_768.0 - 1.0
        };
        (0..dimension).map(|_| number()).collect()
    }
}

fn key(n: usize) -> Key {
    Key::of(&n.to_string())
}

fn fill(
    store: &mut VectorStore,
    numbers: std::ops::Range<usize>,
    dimension: usize,
) -> Vec<Vec<f32>> {
    let mut random = Numbers(numbers.start as u64 + 7);
    let vectors: Vec<Vec<f32>> = numbers.clone().map(|_| random.vector(dimension)).collect();
    let keyed: Vec<(Key, Vec<f32>)> = numbers.map(key).zip(vectors.iter().cloned()).collect();
    store.put(&keyed).unwrap();
    vectors
}

fn nearest(store: &VectorStore, query: &[f32], n: usize, k: usize) -> Vec<usize> {
    let rows: Vec<Option<u32>> = (0..n).map(|n| store.row(key(n))).collect();
    store
        .nearest_of(query, &rows, k)
        .into_iter()
        .map(|(position, _)| position)
        .collect()
}

fn path(disk: &MemoryDisk) -> PathBuf {
    disk.list(Path::new(FOLDER)).unwrap().remove(0)
}

#[test]
fn a_vector_is_nearest_to_itself_also_after_opening_again_and_only_among_the_rows_asked_for() {
    let disk = MemoryDisk::default();
    let vectors = fill(&mut open(&disk, 24), 0..500, 24);
    let store = open(&disk, 24);
    assert_eq!(store.len(), 500);
    for (n, vector) in vectors.iter().enumerate().step_by(37) {
        assert_eq!(nearest(&store, vector, 500, 3)[0], n);
        let rows: Vec<Option<u32>> = (0..n).map(|n| store.row(key(n))).collect();
        let others = store.nearest_of(vector, &rows, 5);
        assert!(
            others
                .iter()
                .all(|(position, cosine)| *position < n && *cosine < 0.999)
        );
    }
    assert_eq!(
        store
            .nearest_of(&vectors[0], &[None, store.row(key(0)), Some(9_999)], 3)
            .len(),
        1
    );
    assert_eq!(store.nearest_of(&[1.0], &[Some(0)], 3), []);
}

#[test]
fn a_text_has_one_vector_whoever_wrote_it_first() {
    let disk = MemoryDisk::default();
    let (mut one, mut other) = (open(&disk, 4), open(&disk, 4));
    fill(&mut one, 0..3, 4);
    fill(&mut other, 0..5, 4);
    assert_eq!(other.len(), 5);
    fill(&mut one, 5..6, 4);
    assert_eq!((one.len(), open(&disk, 4).len()), (6, 6));
    let size = disk.size(&path(&disk)).unwrap();
    fill(&mut one, 0..6, 4);
    assert_eq!(disk.size(&path(&disk)).unwrap(), size);
}

#[test]
fn a_vector_without_a_direction_is_kept_and_near_nothing() {
    let disk = MemoryDisk::default();
    let mut store = open(&disk, 2);
    store
        .put(&[
            (key(0), Vec::new()),
            (key(1), vec![0.0, 0.0]),
            (key(2), vec![1.0, 0.0]),
        ])
        .unwrap();
    let rows: Vec<Option<u32>> = (0..3).map(|n| store.row(key(n))).collect();
    let near = store.nearest_of(&[1.0, 0.0], &rows, 3);
    assert_eq!(near[0].0, 2);
    assert!(
        near[1..].iter().all(|(_, cosine)| *cosine == 0.0),
        "{near:?}"
    );
}

#[test]
fn damage_costs_the_vectors_it_hit_and_a_torn_end_is_cut_off() {
    let disk = MemoryDisk::default();
    fill(&mut open(&disk, 6), 0..5, 6);
    let file = path(&disk);
    let whole = disk.read(&file).unwrap();
    let header = made(6).model.len() + 26;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        disk.replace(&file, &bytes).unwrap();
        let left = open(&disk, 6).len();
        assert_eq!(left, if at < header { 0 } else { 4 }, "{at}");
    }
    for len in (0..whole.len()).rev() {
        disk.replace(&file, &whole[..len]).unwrap();
        let mut store = open(&disk, 6);
        assert_eq!(store.len(), len.saturating_sub(header) / 34, "{len}");
        fill(&mut store, 0..5, 6);
        assert_eq!(open(&disk, 6).len(), 5, "{len}");
    }
}

#[test]
fn another_model_has_another_file_and_another_dimension_begins_anew() {
    let disk = MemoryDisk::default();
    fill(&mut open(&disk, 6), 0..5, 6);
    let arc: Arc<dyn Disk> = Arc::new(disk.clone());
    let other = Made {
        model: "other".to_owned(),
        dimension: 6,
    };
    let mut store = VectorStore::open(arc, Path::new(FOLDER), other.clone(), 0).unwrap();
    assert!(store.is_empty());
    fill(&mut store, 0..2, 6);
    assert_eq!(open(&disk, 6).len(), 5);
    let mut all = Made::all(&disk, Path::new(FOLDER));
    all.sort_by(|a, b| a.model.cmp(&b.model));
    assert_eq!(all, [other, made(6)]);
    let mut longer = open(&disk, 8);
    assert!(longer.is_empty());
    fill(&mut longer, 0..1, 8);
    assert_eq!((open(&disk, 8).len(), open(&disk, 6).len()), (1, 0));
}

#[test]
fn what_is_let_go_of_is_not_on_disk_any_more() {
    let disk = MemoryDisk::default();
    let mut store = open(&disk, 6);
    let vectors = fill(&mut store, 0..10, 6);
    store.retain(|wanted| wanted != key(3)).unwrap();
    for store in [store, open(&disk, 6)] {
        assert_eq!((store.len(), store.row(key(3))), (9, None));
        assert_eq!(nearest(&store, &vectors[7], 10, 1), [7]);
    }
}

/// Waits for the graph as long as it is being built; its thread always ends that.
fn settled(store: &VectorStore) -> GraphState {
    loop {
        match store.graph() {
            GraphState::Building { .. } => std::thread::yield_now(),
            other => return other,
        }
    }
}

/// A block, and a tenth more.
const N: usize = 1_150;

/// Vectors around some centres, as those of texts are, and some to ask for.
fn clustered() -> (MemoryDisk, VectorStore, Vec<Vec<f32>>) {
    let disk = MemoryDisk::default();
    let mut store = open(&disk, 16);
    let mut numbers = Numbers(5);
    let centres: Vec<Vec<f32>> = (0..20).map(|_| numbers.vector(16)).collect();
    let mut near = |n: usize| -> Vec<f32> {
        let noise = numbers.vector(16);
        let both = centres[n % 20].iter().zip(noise);
        both.map(|(x, y)| x + 0.3 * y).collect()
    };
    let keyed: Vec<(Key, Vec<f32>)> = (0..N).map(|n| (key(n), near(n))).collect();
    store.put(&keyed).unwrap();
    let queries = (0..30).map(near).collect();
    (disk, store, queries)
}

type Built = (BTreeMap<PathBuf, Vec<u8>>, Vec<Vec<f32>>);

/// The same with a graph, which is built once: that takes seconds.
fn with_graph() -> (MemoryDisk, Vec<Vec<f32>>) {
    static BUILT: LazyLock<Built> = LazyLock::new(|| {
        let (disk, store, queries) = clustered();
        nearest(&store, &queries[0], N, 10);
        assert_eq!(settled(&store), GraphState::Ready);
        (disk.files(), queries)
    });
    let (files, queries) = &*BUILT;
    let disk = MemoryDisk::default();
    for (path, bytes) in files {
        disk.put(path, bytes);
    }
    (disk, queries.clone())
}

fn graph_file(disk: &MemoryDisk) -> PathBuf {
    path(disk).with_extension("graph")
}

/// How many of what a scan finds the store finds too, of 300.
fn known(disk: &MemoryDisk, store: &VectorStore, queries: &[Vec<f32>]) -> usize {
    let exact = open_with_graph(disk, 16, 0);
    let of_one = |query: &Vec<f32>| {
        let found = nearest(store, query, N, 10);
        let truth = nearest(&exact, query, N, 10);
        truth.iter().filter(|it| found.contains(it)).count()
    };
    queries.iter().map(of_one).sum()
}

#[test]
fn a_graph_answers_about_as_well_and_is_there_at_the_next_start() {
    let (disk, mut store, queries) = clustered();
    assert_eq!(store.graph(), GraphState::None, "nobody searched yet");
    nearest(&store, &queries[0], N, 10);
    assert_eq!(settled(&store), GraphState::Ready);
    assert!(known(&disk, &store, &queries) >= 291);
    let again = open(&disk, 16);
    assert_eq!(again.graph(), GraphState::Ready, "read, not built");
    assert!(known(&disk, &again, &queries) >= 291);
    // What came after the graph is found, and where few rows are asked for, they are compared one by one.
    store.put(&[(key(N), queries[0].clone())]).unwrap();
    assert_eq!(nearest(&store, &queries[0], N + 1, 1), [N]);
    assert_eq!(nearest(&store, &queries[0], 12, 10).len(), 10);
}

#[test]
fn what_is_let_go_of_is_gone_from_a_graph_and_a_fifth_less_makes_another() {
    let (disk, queries) = with_graph();
    let mut store = open(&disk, 16);
    assert_eq!(store.graph(), GraphState::Ready);
    let gone: Vec<usize> = nearest(&store, &queries[0], N, 10);
    let is_left = |wanted: Key| !gone.iter().any(|n| key(*n) == wanted);
    store.retain(is_left).unwrap();
    let file = disk.read(&graph_file(&disk)).unwrap();
    let holds = |key: Key| file.windows(KEY).any(|it| it == key.0);
    assert!(!gone.iter().any(|n| holds(key(*n))), "not even its digest");
    for store in [store, open(&disk, 16)] {
        assert_eq!(store.graph(), GraphState::Ready);
        assert!(known(&disk, &store, &queries) >= 290);
        assert!(
            !nearest(&store, &queries[0], N, 10)
                .iter()
                .any(|n| gone.contains(n))
        );
    }
    let mut store = open(&disk, 16);
    store
        .retain(|wanted| (60..N).any(|n| key(n) == wanted))
        .unwrap();
    nearest(&store, &queries[0], N, 10);
    assert!(store.slot().builder.is_none(), "not yet");
    store
        .retain(|wanted| (110..N).any(|n| key(n) == wanted))
        .unwrap();
    nearest(&store, &queries[0], N, 10);
    assert!(store.slot().builder.is_some());
}

#[test]
fn a_damaged_graph_is_built_again_and_never_makes_up_a_hit() {
    let (disk, queries) = with_graph();
    let whole = disk.read(&graph_file(&disk)).unwrap();
    let exact = nearest(&open_with_graph(&disk, 16, 0), &queries[0], N, 10);
    let damaged = (0..whole.len()).step_by(997).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        bytes
    });
    let cut = [0, 5, whole.len() - 1].map(|len| whole[..len].to_vec());
    for bytes in damaged.chain(cut) {
        disk.replace(&graph_file(&disk), &bytes).unwrap();
        let store = open(&disk, 16);
        assert_eq!(store.graph(), GraphState::None);
        assert_eq!(nearest(&store, &queries[0], N, 10), exact);
    }
    // A link that leads nowhere, under a checksum that is right.
    let mut bytes = whole[..whole.len() - 8].to_vec();
    let at = bytes.len() - N * KEY - 4;
    bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    bytes.extend(checksum(0, &bytes).to_le_bytes());
    disk.replace(&graph_file(&disk), &bytes).unwrap();
    let store = open(&disk, 16);
    assert_eq!(nearest(&store, &queries[0], N, 10), exact);
    assert_eq!(settled(&store), GraphState::Ready, "built again");
}

#[test]
fn vectors_in_another_order_make_another_graph_and_too_little_memory_none() {
    let (disk, queries) = with_graph();
    let rows: Vec<_> = (0..N)
        .rev()
        .map(|n| (key(n), queries[n % 30].clone()))
        .collect();
    disk.remove(&path(&disk).with_extension("vectors")).unwrap();
    open(&disk, 16).put(&rows).unwrap();
    assert_eq!(open(&disk, 16).graph(), GraphState::None);
    let small = open_with_graph(&disk, 16, 1 << 20);
    nearest(&small, &queries[0], N, 10);
    assert_eq!(small.graph(), GraphState::None);
}
