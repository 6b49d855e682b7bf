//! Memory entries: short texts with a key, kept for the session, the project or everywhere (G1). Unit: one entry.
//!
//! Invariant: within a scope no two entries have the same key.

mod settings;

pub use settings::StoreSettings;
