//! The keys that a config file of a folder may set before the folder is trusted: how a request is laid out, how long things
//! may take and how they look. Everything else chooses what is read, kept, asked or run, and by whom.

use crate::config::tree::KeyPath;

const HARMLESS: [&str; 4] = [
    "memory.timestamps",
    "memory.carry_pending",
    "lock_wait",
    "shutdown_grace",
];

/// Blocks of which every value is harmless.
const HARMLESS_BLOCKS: [&str; 3] = ["context", "network", "ui"];

pub(super) fn needs_trust(path: &KeyPath) -> bool {
    let mut keys = HARMLESS.iter();
    let mut blocks = HARMLESS_BLOCKS.iter();
    !(keys.any(|key| path.matches(key)) || blocks.any(|block| path.is_below(block)))
}
