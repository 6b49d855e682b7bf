//! The corpora of the fuzz targets, through the functions that libFuzzer calls: what was found once stays mended, also
//! where there is no nightly toolchain.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use crate::support::chance::rounds;

#[expect(unreachable_pub, reason = "the fuzz targets are another crate")]
#[path = "../../fuzz/src/lib.rs"]
mod targets;

/// The inputs of a corpus with their names, in one order everywhere.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let mut inputs: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), fs::read(path).unwrap()))
        .collect();
    inputs.sort();
    assert!(inputs.len() >= 3, "{target} has {} inputs", inputs.len());
    inputs
}

#[test]
fn every_input_of_every_corpus_holds() {
    for (target, check) in targets::TARGETS {
        for (name, input) in corpus(target) {
            let held = catch_unwind(|| check(&input));
            assert!(held.is_ok(), "{name}");
        }
    }
}

#[test]
fn every_input_of_every_corpus_holds_also_when_it_is_damaged() {
    rounds(10, |chance, seed| {
        for (target, check) in targets::TARGETS {
            for (name, mut input) in corpus(target) {
                for _ in 0..=chance.below(4) {
                    input = chance.damaged(&input);
                }
                let held = catch_unwind(|| check(&input));
                assert!(held.is_ok(), "{seed}: {name}");
            }
        }
    });
}
