//! The name of a content: its SHA-256 in hexadecimal digits.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// 64 characters; the same for the same bytes.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Two digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut name, byte| {
        write!(name, "{byte:02x}").expect("a string takes every character");
        name
    })
}
