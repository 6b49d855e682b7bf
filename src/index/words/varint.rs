//! Whole numbers in as few bytes as they need: seven bits a byte, least first, the high bit says more follows.

pub(super) fn write(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

/// Takes a number off the front; `None` where the bytes end too early or the number is too big.
#[inline]
pub(super) fn read(bytes: &mut &[u8]) -> Option<u64> {
    match bytes.split_first() {
        Some((byte, rest)) if *byte < 0x80 => {
            *bytes = rest;
            Some(u64::from(*byte))
        }
        _ => read_long(bytes),
    }
}

fn read_long(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7F);
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Small numbers of either sign as small numbers.
pub(super) fn fold(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

pub(super) fn unfold(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_comes_back(value: i64, after: Vec<u8>) {
            let mut bytes = Vec::new();
            write(&mut bytes, fold(value));
            bytes.extend(&after);
            let mut rest = bytes.as_slice();
            prop_assert_eq!(read(&mut rest).map(unfold), Some(value));
            prop_assert_eq!(rest, after.as_slice());
        }

        #[test]
        fn any_bytes_are_a_number_or_none(bytes: Vec<u8>) {
            let mut rest = bytes.as_slice();
            while !rest.is_empty() && read(&mut rest).is_some() {}
        }
    }
}
