//! `meta.json`: what made the vectors, and how much of the files is sure. Written whole at each
//! [`sync`](super::VectorIndex::sync), after the data it speaks of.

use serde::{Deserialize, Serialize};

use super::error::Unusable;

/// Raised with each change of the files' layout.
pub(super) const VERSION: u32 = 1;

/// What made the vectors of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The embedder's model; vectors of two models cannot be compared.
    pub model: String,
    pub dimension: usize,
}

/// The file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meta {
    version: u32,
    model: String,
    dimension: usize,
    /// Records that were synced when this was written.
    pub(super) count: u64,
    /// Over the checksums of those records, in hexadecimal digits: JSON has no such numbers.
    checksum: String,
}

/// Read before the rest, which another version may have otherwise.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Meta {
    pub(super) fn new(spec: &Spec, count: u64, checksum: u64) -> Self {
        Self {
            version: VERSION,
            model: spec.model.clone(),
            dimension: spec.dimension,
            count,
            checksum: hex(checksum),
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("names and numbers are JSON");
        bytes.push(b'\n');
        bytes
    }

    /// Reads the file of vectors made by `spec`.
    pub(super) fn read(bytes: &[u8], spec: &Spec) -> Result<Self, MetaError> {
        let broken = |error: serde_json::Error| MetaError::Broken(error.to_string());
        let Versioned { version } = serde_json::from_slice(bytes).map_err(broken)?;
        if version != VERSION {
            return Err(MetaError::Unusable(Unusable::Version {
                stored: version,
                wanted: VERSION,
            }));
        }
        let meta: Self = serde_json::from_slice(bytes).map_err(broken)?;
        if meta.model != spec.model {
            return Err(MetaError::Unusable(Unusable::Model {
                stored: meta.model,
                wanted: spec.model.clone(),
            }));
        }
        if meta.dimension != spec.dimension {
            return Err(MetaError::Unusable(Unusable::Dimension {
                stored: meta.dimension,
                wanted: spec.dimension,
            }));
        }
        Ok(meta)
    }

    /// What made the vectors, if the file is one of this version.
    pub(super) fn spec(bytes: &[u8]) -> Option<Spec> {
        let meta: Self = serde_json::from_slice(bytes).ok()?;
        (meta.version == VERSION).then_some(Spec {
            model: meta.model,
            dimension: meta.dimension,
        })
    }

    pub(super) fn agrees_with(&self, checksum: u64) -> bool {
        self.checksum == hex(checksum)
    }
}

/// Why a metadata file is not taken.
#[derive(Debug)]
pub(super) enum MetaError {
    Unusable(Unusable),
    Broken(String),
}

fn hex(checksum: u64) -> String {
    format!("{checksum:016x}")
}
