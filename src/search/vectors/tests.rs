#![expect(
    clippy::disallowed_methods,
    reason = "files are damaged behind the index's back"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const NO_GRAPH: Options = Options {
    hnsw_min: usize::MAX,
    builders: 1,
};

fn spec(dimension: usize) -> Spec {
    Spec {
        model: "test".to_owned(),
        dimension,
    }
}

fn empty(dimension: usize) -> (TempDir, VectorIndex) {
    let folder = tempfile::tempdir().unwrap();
    let index = VectorIndex::open(folder.path(), &spec(dimension), NO_GRAPH).unwrap();
    (folder, index)
}

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        check::mix(check::mix(self.0, 1), 2)
    }

    fn vector(&mut self, dimension: usize) -> Vec<f32> {
        let mut number = || {
            let high = u16::try_from(self.next() >> 48).unwrap();
            f32::from(high) / 32_768.0 - 1.0
        };
        (0..dimension).map(|_| number()).collect()
    }

    /// A vector near one of `centres`.
    fn near(&mut self, centres: &[Vec<f32>], away: f32) -> Vec<f32> {
        let at = usize::try_from(self.next() % centres.len() as u64).unwrap();
        let noise = self.vector(centres[at].len());
        centres[at]
            .iter()
            .zip(noise)
            .map(|(x, y)| x + away * y)
            .collect()
    }
}

/// What comparing with every vector gives.
fn by_brute_force(vectors: &BTreeMap<u64, Vec<f32>>, query: &[f32], k: usize) -> Vec<f32> {
    let query = quantise::unit(query, query.len()).unwrap();
    let score =
        |vector: &Vec<f32>| quantise::dot(&query, &quantise::unit(vector, query.len()).unwrap());
    let mut scores: Vec<f32> = vectors.values().map(score).collect();
    scores.sort_unstable_by(|a, b| b.total_cmp(a));
    scores.truncate(k);
    scores
}

fn scores(hits: &[Hit]) -> Vec<f32> {
    hits.iter().map(|hit| hit.score).collect()
}

#[test]
fn the_nearest_are_those_that_comparing_all_would_give() {
    for (dimension, clusters, away) in [(24, 0, 0.0), (24, 7, 0.2), (384, 5, 0.05), (64, 3, 1e-4)] {
        let mut numbers = Numbers(dimension as u64);
        let centres: Vec<Vec<f32>> = (0..clusters).map(|_| numbers.vector(dimension)).collect();
        let mut next = || match clusters {
            0 => numbers.vector(dimension),
            _ => numbers.near(&centres, away),
        };
        let (_folder, mut index) = empty(dimension);
        let mut vectors = BTreeMap::new();
        for place in 0..1_200 {
            let vector = next();
            index.push(Place(place), &vector).unwrap();
            vectors.insert(place, vector);
        }
        for _ in 0..20 {
            let query = next();
            let hits = index.search(&query, 10, Filter::All).unwrap();
            assert_eq!(scores(&hits), by_brute_force(&vectors, &query, 10));
        }
    }
}

#[test]
fn a_filter_lets_the_next_ones_through() {
    let (_folder, mut index) = empty(8);
    let mut numbers = Numbers(1);
    for place in 0..100 {
        index.push(Place(place), &numbers.vector(8)).unwrap();
    }
    let query = numbers.vector(8);
    let all = index.search(&query, 100, Filter::All).unwrap();
    assert_eq!(all.len(), 100);
    let is_even = |place: Place| place.0.is_multiple_of(2);
    let even = index.search(&query, 5, Filter::Only(&is_even)).unwrap();
    let expected: Vec<Hit> = all
        .into_iter()
        .filter(|hit| is_even(hit.place))
        .take(5)
        .collect();
    assert_eq!(even, expected);
    assert_eq!(
        index.search(&query, 5, Filter::Only(&|_| false)).unwrap(),
        []
    );
}

#[test]
fn of_equally_near_vectors_the_earlier_comes_first() {
    let (_folder, mut index) = empty(4);
    for place in [9, 3, 7] {
        index.push(Place(place), &[1.0, 2.0, 3.0, 4.0]).unwrap();
    }
    let hits = index.search(&[1.0, 2.0, 3.0, 4.0], 2, Filter::All).unwrap();
    assert_eq!(
        hits.iter().map(|hit| hit.place.0).collect::<Vec<_>>(),
        [9, 3]
    );
}

#[test]
fn bad_vectors_are_neither_stored_nor_searched_for() {
    let (_folder, mut index) = empty(2);
    for bad in [&[1.0][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[1.0, 1.0, 1.0]] {
        assert!(matches!(
            index.push(Place(1), bad),
            Err(VectorError::BadVector(_))
        ));
        let found = index.search(bad, 1, Filter::All);
        assert!(matches!(found, Err(VectorError::BadVector(_))));
    }
    assert!(index.is_empty());
    assert_eq!(index.search(&[1.0, 1.0], 3, Filter::All).unwrap(), []);
}

/// One step of a life of an index.
#[derive(Clone, Debug)]
enum Step {
    Push(u64, Vec<f32>),
    Withdraw(u64),
    Sync,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let vector = prop::collection::vec(-1.0_f32..1.0, 5);
    let step = prop_oneof![
        6 => (0..12_u64, vector).prop_map(|(place, vector)| Step::Push(place, vector)),
        2 => (0..12_u64).prop_map(Step::Withdraw),
        1 => Just(Step::Sync),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..60)
}

fn live(steps: &[Step], folder: &TempDir) -> (VectorIndex, BTreeMap<u64, Vec<f32>>) {
    let open = || VectorIndex::open(folder.path(), &spec(5), NO_GRAPH).unwrap();
    let (mut index, mut model) = (open(), BTreeMap::new());
    for step in steps {
        match step {
            Step::Push(place, vector) => {
                if index.push(Place(*place), vector).is_ok() {
                    model.insert(*place, vector.clone());
                }
            }
            Step::Withdraw(place) => {
                let was_there = index.withdraw(Place(*place)).unwrap();
                assert_eq!(was_there, model.remove(place).is_some());
            }
            Step::Sync => index.sync().unwrap(),
            Step::Reopen => index = open(),
        }
    }
    (index, model)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_was_pushed_and_not_withdrawn_is_found_even_after_reopening(
        steps in steps(),
        query in prop::collection::vec(0.1_f32..1.0, 5),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (index, model) = live(&steps, &folder);
        let reopened = VectorIndex::open(folder.path(), &spec(5), NO_GRAPH).unwrap();
        for index in [index, reopened] {
            let hits = index.search(&query, 12, Filter::All).unwrap();
            prop_assert_eq!(scores(&hits), by_brute_force(&model, &query, 12));
            prop_assert_eq!(index.len(), model.len());
            for hit in hits {
                prop_assert!(model.contains_key(&hit.place.0));
            }
        }
    }

    #[test]
    fn a_torn_end_loses_only_what_was_never_synced(
        before in steps(),
        after in steps(),
        cut in 0.0_f64..1.0,
        which in prop_oneof![Just("vectors.rows"), Just("vectors.f32")],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (mut index, _) = live(&before, &folder);
        index.sync().unwrap();
        let path = folder.path().join(which);
        let sure = fs::metadata(&path).unwrap().len();
        let only_pushes: Vec<Step> =
            after.into_iter().filter(|step| matches!(step, Step::Push(..))).collect();
        live(&only_pushes, &folder);
        let whole = fs::metadata(&path).unwrap().len();
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss,
            reason = "a place anywhere between the two")]
        let len = sure + ((whole - sure) as f64 * cut) as u64;
        fs::File::options().write(true).open(&path).unwrap().set_len(len).unwrap();
        let again = VectorIndex::open(folder.path(), &spec(5), NO_GRAPH).unwrap();
        prop_assert!(again.rows.len() >= index.rows.len());
        let query = [1.0, 0.5, 0.25, 0.5, 1.0];
        again.search(&query, 12, Filter::All).unwrap();
    }
}

fn filled(folder: &TempDir) -> Vec<PathBuf> {
    let mut index = VectorIndex::open(folder.path(), &spec(6), NO_GRAPH).unwrap();
    let mut numbers = Numbers(3);
    for place in 0..5 {
        index.push(Place(place), &numbers.vector(6)).unwrap();
    }
    index.withdraw(Place(2)).unwrap();
    index.sync().unwrap();
    let names = ["vectors.rows", "vectors.f32", "meta.json"];
    names.map(|name| folder.path().join(name)).to_vec()
}

/// Opening tells, or at the latest a search that needs what is damaged.
fn use_of(folder: &TempDir) -> Result<Vec<Hit>, VectorError> {
    let index = VectorIndex::open(folder.path(), &spec(6), NO_GRAPH)?;
    index.search(&[1.0; 6], 5, Filter::All)
}

#[test]
fn any_damage_to_what_was_synced_is_told_and_never_gives_other_hits() {
    let folder = tempfile::tempdir().unwrap();
    let files = filled(&folder);
    let truth = use_of(&folder).unwrap();
    assert_eq!(truth.len(), 4);
    for path in files {
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&path, &bytes).unwrap();
            match use_of(&folder) {
                // White space in the metadata; floats of a row that was withdrawn.
                Ok(hits) => assert_eq!(hits, truth, "{} at {at}", path.display()),
                Err(error) => assert!(matches!(error, VectorError::Unusable(_)), "{error}"),
            }
        }
        for len in 0..whole.len() - 1 {
            fs::write(&path, &whole[..len]).unwrap();
            let error = use_of(&folder).unwrap_err();
            assert!(matches!(error, VectorError::Unusable(_)), "{error}");
        }
        fs::write(&path, &whole).unwrap();
        fs::remove_file(&path).unwrap();
        let error = use_of(&folder).unwrap_err();
        assert!(matches!(error, VectorError::Unusable(_)), "{error}");
        fs::write(&path, &whole).unwrap();
    }
    assert_eq!(use_of(&folder).unwrap(), truth);
}

#[test]
fn another_model_dimension_or_version_is_unusable_until_recreated() {
    let folder = tempfile::tempdir().unwrap();
    filled(&folder);
    let open = |spec: &Spec| VectorIndex::open(folder.path(), spec, NO_GRAPH);
    let other = Spec {
        model: "other".to_owned(),
        dimension: 6,
    };
    let Err(VectorError::Unusable(Unusable::Model { stored, .. })) = open(&other) else {
        panic!("opened with another model");
    };
    assert_eq!(stored, "test");
    let wrong = open(&spec(7));
    let expected = Unusable::Dimension {
        stored: 6,
        wanted: 7,
    };
    assert!(matches!(wrong, Err(VectorError::Unusable(why)) if why == expected));
    let path = folder.path().join("meta.json");
    let newer = fs::read_to_string(&path).unwrap();
    let newer = newer.replace("\"version\": 1", "\"version\": 2, \"more\": true");
    fs::write(&path, newer).unwrap();
    let wrong = open(&spec(6));
    assert!(matches!(
        wrong,
        Err(VectorError::Unusable(Unusable::Version { stored: 2, .. }))
    ));
    assert_eq!(VectorIndex::stored(folder.path()), None);
    let index = VectorIndex::recreate(folder.path(), &other, NO_GRAPH).unwrap();
    assert!(index.is_empty());
    drop(index);
    assert_eq!(VectorIndex::stored(folder.path()), Some(other.clone()));
    assert!(open(&other).unwrap().is_empty());
}

/// Waits for the graph as long as it is being built; its thread always ends that.
fn settled(index: &VectorIndex) -> GraphState {
    loop {
        match index.graph() {
            GraphState::Building { .. } => std::thread::yield_now(),
            other => return other,
        }
    }
}

fn with_graph(n: u64, away: f32) -> (TempDir, VectorIndex, Vec<Vec<f32>>) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        hnsw_min: 1_024,
        builders: 2,
    };
    let mut index = VectorIndex::open(folder.path(), &spec(16), options).unwrap();
    let mut numbers = Numbers(5);
    let centres: Vec<Vec<f32>> = (0..20).map(|_| numbers.vector(16)).collect();
    for place in 0..n {
        let vector = numbers.near(&centres, away);
        index.push(Place(place), &vector).unwrap();
    }
    let queries = (0..30).map(|_| numbers.near(&centres, away)).collect();
    (folder, index, queries)
}

#[test]
fn above_its_threshold_a_graph_answers_about_as_well() {
    let (folder, index, queries) = with_graph(1_300, 0.3);
    assert_eq!(settled(&index), GraphState::Ready);
    let exact = VectorIndex::open(folder.path(), &spec(16), NO_GRAPH).unwrap();
    assert_eq!(exact.graph(), GraphState::None);
    let mut known = 0;
    for query in &queries {
        let hits = index.search(query, 10, Filter::All).unwrap();
        let truth = exact.search(query, 10, Filter::All).unwrap();
        known += truth.iter().filter(|hit| hits.contains(hit)).count();
    }
    assert!(known >= 291, "{known} of 300");
}

#[test]
fn rows_that_came_after_the_graph_and_rows_that_went_are_respected() {
    let (_folder, mut index, queries) = with_graph(1_300, 0.3);
    assert_eq!(settled(&index), GraphState::Ready);
    let first = index.search(&queries[0], 1, Filter::All).unwrap()[0];
    index.withdraw(first.place).unwrap();
    let hits = index.search(&queries[0], 10, Filter::All).unwrap();
    assert!(!hits.contains(&first));
    index.push(Place(9_999), &queries[0]).unwrap();
    let hit = index.search(&queries[0], 1, Filter::All).unwrap()[0];
    assert_eq!(hit.place, Place(9_999));
    // So narrow that the graph's hits do not suffice.
    let rare = |place: Place| place.0.is_multiple_of(100);
    let hits = index.search(&queries[0], 10, Filter::Only(&rare)).unwrap();
    assert_eq!(hits.len(), 10);
    assert!(hits.iter().all(|hit| rare(hit.place)));
}

#[test]
fn a_graph_in_doubt_is_dropped_built_again_once_and_the_scan_answers() {
    let (_folder, index, queries) = with_graph(1_300, 0.3);
    let exact = index.search(&queries[0], 10, Filter::All).unwrap();
    for round in 0..=REBUILDS {
        assert_eq!(settled(&index), GraphState::Ready, "{round}");
        index.slot().graph.as_ref().unwrap().put_in_doubt();
        assert_eq!(index.graph(), GraphState::None);
        assert_eq!(index.search(&queries[0], 10, Filter::All).unwrap(), exact);
    }
    assert_eq!(settled(&index), GraphState::None);
    assert!(index.slot().graph.is_none());
}

#[test]
fn an_index_with_a_graph_under_way_can_be_dropped_at_any_time() {
    let (folder, index, _) = with_graph(1_300, 0.3);
    drop(index);
    let options = Options {
        hnsw_min: 1_024,
        builders: 1,
    };
    let index = VectorIndex::open(folder.path(), &spec(16), options).unwrap();
    assert!(matches!(
        index.graph(),
        GraphState::Building { .. } | GraphState::Ready
    ));
    drop(index);
}
