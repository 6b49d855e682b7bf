//! What can go wrong with a memory behind a server. Unit: one request. No error holds a key.

use crate::net::NetError;

/// Why it did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mem0Error {
    #[error(transparent)]
    Net(#[from] NetError),
    #[error("cannot reach {server}: {what}")]
    Unreachable { server: String, what: String },
    #[error("{server} answered {status}: {said}")]
    Refused {
        server: String,
        status: u16,
        said: String,
    },
    #[error("{server} sent an invalid answer: {what}")]
    Protocol { server: String, what: String },
}
