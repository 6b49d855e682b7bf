//! What can be wrong with an index on disk, and with a vector. An unusable index is no loss: the vectors
//! can be made again from what they stand for, so the caller drops it and rebuilds.

use std::io;
use std::path::{Path, PathBuf};

/// Why an index answered nothing.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// Drop it with [`VectorIndex::recreate`](super::VectorIndex::recreate) and push everything again.
    #[error(transparent)]
    Unusable(#[from] Unusable),

    #[error("{}: {source}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },

    #[error(transparent)]
    BadVector(#[from] BadVector),

    /// Rows are numbered with 32 bits.
    #[error("the vector index is full")]
    Full,
}

/// Why what is on disk cannot be used. Asking again gives the same answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("the vector index has format {stored}, not {wanted}")]
    Version { stored: u32, wanted: u32 },

    #[error("the vector index was made with {stored:?}, not with {wanted:?}")]
    Model { stored: String, wanted: String },

    #[error("the vector index has {stored} dimensions, not {wanted}")]
    Dimension { stored: usize, wanted: usize },

    #[error("{} is damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
}

/// Why a vector can neither be stored nor searched for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadVector {
    #[error("a vector has {got} dimensions, not {wanted}")]
    Length { got: usize, wanted: usize },

    #[error("a vector holds a number that is not finite")]
    NotFinite,

    /// It points nowhere, so nothing is near it.
    #[error("a vector is zero")]
    Zero,
}

impl VectorError {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Unusable(Unusable::Damaged {
            path: path.to_owned(),
            what: what.into(),
        })
    }
}
