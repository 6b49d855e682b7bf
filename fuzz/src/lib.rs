//! What must hold for any bytes, one function for each fuzz target. libFuzzer calls them from `fuzz_targets/`, and the
//! test suite (`tests/it/fuzzed.rs`) replays the corpora through the same functions, without the nightly toolchain.

mod config;
mod cues;
mod import;
mod journal;
mod markdown;
mod session;
mod store;
mod streams;

pub use config::config;
pub use cues::cues;
pub use import::import;
pub use journal::journal;
pub use markdown::markdown;
pub use session::session;
pub use streams::{anthropic, ollama, openai};

/// A name, as of its corpus folder, and what must hold of an input.
pub type Target = (&'static str, fn(&[u8]));

pub const TARGETS: [Target; 9] = [
    ("config", config),
    ("session", session),
    ("journal", journal),
    ("openai", openai),
    ("anthropic", anthropic),
    ("ollama", ollama),
    ("markdown", markdown),
    ("cues", cues),
    ("import", import),
];
