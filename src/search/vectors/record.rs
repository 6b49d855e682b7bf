//! The records of `vectors.rows`, one for each vector that came and each that went. Unit: one record.
//! Invariant: a record that was not written whole, or stands in another place, is not read as one.
//!
//! ```text
//!   0   place      u64
//!   8   kind       u32   1 a vector came, 2 it went
//!   12  scale      f32
//!   16  error      f32
//!   20  floats     u32   checksum of its row in vectors.f32
//!   24  codes      one byte a dimension, padded with zeros to a multiple of 8
//!   ..  checksum   u64   of all that, and of the record's number
//! ```
//! All numbers are little-endian.

use super::check::checksum;
use super::quantise::Grain;

const HEAD: usize = 24;
const CHECK: usize = 8;
const CAME: u32 = 1;
const WENT: u32 = 2;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Record<'a> {
    Came {
        place: u64,
        grain: Grain,
        floats: u32,
        codes: &'a [i8],
    },
    Went {
        place: u64,
    },
}

/// Bytes of a record.
pub(super) fn size(dimension: usize) -> usize {
    HEAD + dimension.next_multiple_of(8) + CHECK
}

impl Record<'_> {
    /// The bytes of the record with this number, and their checksum.
    pub(super) fn encode(&self, number: u64, dimension: usize) -> (Vec<u8>, u64) {
        let mut bytes = Vec::with_capacity(size(dimension));
        match self {
            Self::Came {
                place,
                grain,
                floats,
                codes,
            } => {
                bytes.extend(place.to_le_bytes());
                bytes.extend(CAME.to_le_bytes());
                bytes.extend(grain.scale.to_le_bytes());
                bytes.extend(grain.error.to_le_bytes());
                bytes.extend(floats.to_le_bytes());
                bytes.extend(codes.iter().map(|code| code.cast_unsigned()));
            }
            Self::Went { place } => {
                bytes.extend(place.to_le_bytes());
                bytes.extend(WENT.to_le_bytes());
            }
        }
        bytes.resize(size(dimension) - CHECK, 0);
        let check = checksum(number, &bytes);
        bytes.extend(check.to_le_bytes());
        (bytes, check)
    }
}

/// Reads the record with this number; its codes are put into `codes`. `None` if it is not whole.
pub(super) fn decode<'a>(
    bytes: &[u8],
    number: u64,
    codes: &'a mut [i8],
) -> Option<(Record<'a>, u64)> {
    let (body, check) = bytes.split_last_chunk::<CHECK>()?;
    let check = u64::from_le_bytes(*check);
    if check != checksum(number, body) {
        return None;
    }
    let place = u64::from_le_bytes(*body.first_chunk()?);
    let word = |at: usize| body.get(at..)?.first_chunk::<4>().copied();
    match u32::from_le_bytes(word(8)?) {
        CAME => {
            let grain = Grain {
                scale: f32::from_le_bytes(word(12)?),
                error: f32::from_le_bytes(word(16)?),
            };
            let stored = body.get(HEAD..)?.get(..codes.len())?;
            for (code, byte) in codes.iter_mut().zip(stored) {
                *code = byte.cast_signed();
            }
            let came = Record::Came {
                place,
                grain,
                floats: u32::from_le_bytes(word(20)?),
                codes,
            };
            Some((came, check))
        }
        WENT => Some((Record::Went { place }, check)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_and_no_other_bytes_are_one() {
        let grain = Grain {
            scale: 0.5,
            error: 0.25,
        };
        let came = Record::Came {
            place: 7,
            grain,
            floats: 9,
            codes: &[1, -2, 127, -127, 0],
        };
        for record in [came, Record::Went { place: u64::MAX }] {
            let (bytes, check) = record.encode(3, 5);
            assert_eq!(bytes.len(), size(5));
            let mut codes = [0; 5];
            assert_eq!(decode(&bytes, 3, &mut codes), Some((record, check)));
            assert_eq!(decode(&bytes, 4, &mut codes), None);
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= 0x10;
                assert_eq!(decode(&other, 3, &mut codes), None, "{at}");
                assert_eq!(decode(&bytes[..at], 3, &mut codes), None, "{at}");
            }
        }
        assert_eq!(decode(&[0; 40], 0, &mut [0; 5]), None);
    }
}
