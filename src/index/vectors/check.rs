//! A checksum against damage, not against malice: quick enough to read a whole index at start.

/// Spreads bits; odd.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The checksum of `bytes` in a place told by `seed`: the same bytes elsewhere have another.
pub(super) fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    let mut sum = mix(seed, bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        sum = mix(sum, u64::from_le_bytes(*word));
    }
    for byte in rest {
        sum = mix(sum, u64::from(*byte));
    }
    mix(sum, FACTOR)
}

/// One step: `sum` after `word`.
pub(super) fn mix(sum: u64, word: u64) -> u64 {
    let product = (sum ^ word).wrapping_mul(FACTOR);
    product ^ (product >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_and_every_moved_byte_shows() {
        let bytes: Vec<u8> = (0..200).collect();
        let whole = checksum(1, &bytes);
        for at in 0..bytes.len() * 8 {
            let mut other = bytes.clone();
            other[at / 8] ^= 1 << (at % 8);
            assert_ne!(checksum(1, &other), whole, "{at}");
        }
        assert_ne!(checksum(2, &bytes), whole);
        assert_ne!(checksum(1, &bytes[..199]), whole);
        assert_ne!(checksum(1, &[]), checksum(1, &[0]));
    }
}
