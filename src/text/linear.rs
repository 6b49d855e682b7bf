//! A linear model over hashed features, read as it lies in the program.
//!
//! ```text
//!  magic "LIN1" | scale, f32, little endian | buckets: four tags, four weights (i8)
//! ```
//! The upper bits of a feature choose a bucket, eight more are its tag: what was never learned has no weight but by
//! chance. Pure and without allocation. `benches/common/learning.rs` makes such files.

pub const MAGIC: [u8; 4] = *b"LIN1";
/// Weights of a bucket.
pub const WAYS: usize = 4;
/// Bits of a tag.
pub const TAG_BITS: u32 = 8;

/// A feature: a well mixed hash, whose upper bits say which weight is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature(u64);

impl Feature {
    /// Returns the feature of a kind that is made of two hashes.
    pub const fn new(kind: u8, one: u64, other: u64) -> Self {
        let mixed = one
            .rotate_left(29)
            .wrapping_add(other)
            .wrapping_add((kind as u64) << 48)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 31) ^ other).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Self(mixed ^ mixed << 32)
    }

    /// Returns the feature that it is for one of several labels.
    #[must_use]
    pub const fn and(self, label: u64) -> Self {
        Self::new(0, self.0, label)
    }

    /// Returns its upper bits.
    pub const fn index(self, bits: u32) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "fewer than 32 bits are left"
        )]
        let index = (self.0 >> (64 - bits)) as usize;
        index
    }
}

/// Returns the hash of a text in small letters (FNV-1a over characters).
pub fn hash(text: &str) -> u64 {
    if text.is_ascii() {
        let bytes = text.bytes().map(|b| u64::from(b.to_ascii_lowercase()));
        return hash_of(bytes);
    }
    hash_of(text.chars().flat_map(char::to_lowercase).map(u64::from))
}

/// Returns the hash of a row of numbers.
pub fn hash_of(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0xCBF2_9CE4_8422_2325, |hash, number| {
        (hash ^ number).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

/// Weights of features.
#[derive(Clone, Copy, Debug)]
pub struct Model<'w> {
    buckets: &'w [[u8; 2 * WAYS]],
    scale: f32,
}

impl<'w> Model<'w> {
    /// Reads a file that the trainer made; one of another form has no weights.
    pub const fn new(file: &'w [u8]) -> Self {
        let none = Self {
            buckets: &[],
            scale: 0.0,
        };
        let Some((magic, rest)) = file.split_first_chunk::<4>() else {
            return none;
        };
        let Some((scale, weights)) = rest.split_first_chunk::<4>() else {
            return none;
        };
        let (buckets, _) = weights.as_chunks();
        if u32::from_le_bytes(*magic) != u32::from_le_bytes(MAGIC)
            || !buckets.len().is_power_of_two()
        {
            return none;
        }
        Self {
            buckets,
            scale: f32::from_le_bytes(*scale),
        }
    }

    /// Returns the weight of a feature, in steps of the scale.
    pub fn weight(&self, feature: Feature) -> i32 {
        let index = feature.index(self.buckets.len().trailing_zeros() + TAG_BITS);
        let Some(bucket) = self.buckets.get(index >> TAG_BITS) else {
            return 0;
        };
        // All tags at once: the lowest byte that is zero is the one that matches.
        let (tags, _) = bucket
            .split_first_chunk::<WAYS>()
            .unwrap_or((&[0; WAYS], &[]));
        let other = u32::from_le_bytes(*tags) ^ (u32::from(index.to_le_bytes()[0]) * 0x0101_0101);
        let zeros = other.wrapping_sub(0x0101_0101) & !other & 0x8080_8080;
        if zeros == 0 {
            return 0;
        }
        i32::from(bucket[WAYS + (zeros.trailing_zeros() / 8) as usize].cast_signed())
    }

    /// Returns a sum of weights as the number it stands for.
    pub fn scaled(&self, sum: i32) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "sums of bytes are small")]
        let sum = sum as f32;
        sum * self.scale
    }
}
