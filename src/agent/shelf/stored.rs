//! The vectors of a session as they are on disk, for a search of all sessions: read, never written.
//!
//! Unit: one folder and one question. Blocking. Invariant: what cannot be used is as good as not there, and what no longer
//! speaks of the session is not found.

use std::path::Path;

use super::catalogue::{self, Catalogue, Row};
use super::vectors::{Vectors, of_place};
use crate::chat::Session;
use crate::files::Disk;
use crate::memory::recall::Exchange;
use crate::search::vectors::{Filter, VectorError, VectorIndex};

/// The nearest messages that take part in a search.
const NEAREST: usize = 100;

/// The vector of a question, and what made it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::agent) struct Asked {
    pub(in crate::agent) model: String,
    pub(in crate::agent) vector: Vec<f32>,
}

/// A message whose vector is near.
#[derive(Debug)]
pub(in crate::agent) struct NearMessage {
    row: Row,
    /// Of those of its exchange, counted from 0.
    message: usize,
    cosine: f32,
}

/// Whether vectors of a session are there.
pub(in crate::agent) fn is_any(disk: &dyn Disk, folder: &Path) -> bool {
    Vectors::stored(disk, folder).is_some()
}

/// The messages near a question, by vectors that the same embedder made.
pub(in crate::agent) fn near(disk: &dyn Disk, folder: &Path, asked: &Asked) -> Vec<NearMessage> {
    let is_alike = |spec: &crate::search::vectors::Spec| {
        spec.model == asked.model && spec.dimension == asked.vector.len()
    };
    let Some(spec) = Vectors::stored(disk, folder).filter(is_alike) else {
        return Vec::new();
    };
    let searched = || -> Result<Vec<NearMessage>, VectorError> {
        let index = VectorIndex::read(folder, &spec)?;
        let hits = index.search(&asked.vector, NEAREST, Filter::All)?;
        let lines = Catalogue::lines(disk, folder);
        let near = hits.into_iter().filter_map(|hit| {
            let (line, message) = of_place(hit.place)?;
            Some(NearMessage {
                row: catalogue::row(lines.line(line)?).ok()?,
                message,
                cosine: hit.score,
            })
        });
        Ok(near.collect())
    };
    searched().unwrap_or_else(|error| {
        tracing::debug!("{} is searched by words alone: {error}", folder.display());
        Vec::new()
    })
}

/// Those that a session still has as they were, by their indices, with their cosines.
pub(in crate::agent) fn in_session(session: &Session, near: &[NearMessage]) -> Vec<(usize, f32)> {
    let turns = session.turns();
    let index = |near: &NearMessage| {
        let at = turns.binary_search_by_key(&near.row.turn, |turn| turn.id);
        let turn = Some(&turns[at.ok()?]).filter(|turn| turn.withdrawn.is_none())?;
        let is_same = near.row.is_of(session, turn);
        let (index, _) = Exchange::messages_of(session, turn)
            .nth(near.message)
            .filter(|_| is_same)?;
        Some((index, near.cosine))
    };
    near.iter().filter_map(index).collect()
}
