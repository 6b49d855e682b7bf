//! Chance for tests, from a seed: `COGTRIX_TEST_SEED` sets another one, `COGTRIX_TEST_ROUNDS` more rounds. A failure
//! names the seed of its round; with it and `COGTRIX_TEST_ROUNDS=1` that round is played alone.

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// Numbers from a seed.
pub(crate) struct Chance(TestRng);

impl Chance {
    fn new(seed: u64) -> Self {
        let seed = [seed.to_le_bytes(); 4].concat();
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.0.next_u64()).unwrap() % n
    }

    pub(crate) fn of(&mut self, all: &[&'static str]) -> &'static str {
        all[self.below(all.len())]
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        let mut bytes = vec![0; n];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    /// Bytes as disks and hands damage them.
    pub(crate) fn damaged(&mut self, bytes: &[u8]) -> Vec<u8> {
        let at = self.below(bytes.len() + 1);
        let len = 1 + self.below(64);
        let end = (at + len).min(bytes.len());
        match self.below(6) {
            0 => bytes[..at].to_vec(),
            1 => [&bytes[..at], &bytes[end..]].concat(),
            2 => [&bytes[..at], &vec![0; len], &bytes[end..]].concat(),
            3 => [&bytes[..at], &self.bytes(len), &bytes[at..]].concat(),
            4 => [&bytes[..end], &bytes[at..]].concat(),
            _ => {
                let mut flipped = bytes.to_vec();
                if let Some(byte) = flipped.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
                flipped
            }
        }
    }
}

/// Runs a number of rounds, each with a seed of its own: which one is in the words that it gets for its failures.
pub(crate) fn rounds(usual: u64, round: impl Fn(&mut Chance, &str)) {
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests decides")]
    let number = |name: &str| Some(std::env::var(name).ok()?.parse::<u64>().unwrap());
    let first = number("COGTRIX_TEST_SEED").unwrap_or(1);
    let rounds = number("COGTRIX_TEST_ROUNDS").unwrap_or(usual);
    for seed in first..first + rounds {
        round(&mut Chance::new(seed), &format!("COGTRIX_TEST_SEED={seed}"));
    }
}
