//! The vectors of a session's exchanges, on disk. Unit: one folder, one embedding model. Blocking. Invariant: each
//! message of line `n` of the catalogue has its vector at a place of that line; what does not agree is dropped and
//! made again (C23, C29).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Parts;
use super::catalogue::{Catalogue, Entry, Row};
use crate::chat::{Session, Turn, TurnId};
use crate::files::Disk;
use crate::memory::recall::Exchange;
use crate::search::vectors::{BadVector, Filter, Options, Place, Spec, VectorError, VectorIndex};

/// An open index with its catalogue.
#[derive(Debug)]
pub(super) struct Vectors {
    index: VectorIndex,
    catalogue: Catalogue,
    parts: Parts,
    folder: PathBuf,
    spec: Spec,
    /// Nothing is written any more.
    is_closed: bool,
}

/// An index, and why the one that was there before was dropped, where one was.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) vectors: Vectors,
    pub(super) dropped: Option<String>,
}

impl Vectors {
    /// What made the vectors in a folder.
    pub(super) fn stored(disk: &dyn Disk, folder: &Path) -> Option<Spec> {
        ensure_inside(disk, folder).ok()?;
        VectorIndex::stored(folder)
    }

    /// Opens what is there, or begins anew where that is of another model or damaged.
    pub(super) fn open(parts: &Parts, folder: &Path, spec: Spec) -> Result<Opened, VectorError> {
        ensure_inside(parts.disk.as_ref(), folder)?;
        let options = options(parts);
        let dropped = match VectorIndex::open(folder, &spec, options) {
            Ok(index) => match Catalogue::open(Arc::clone(&parts.disk), folder) {
                Err(error) => return Err(io_error(folder, error)),
                Ok(Err(damaged)) => damaged.to_string(),
                Ok(Ok(catalogue)) => {
                    let mut vectors = Self {
                        index,
                        catalogue,
                        parts: parts.clone(),
                        folder: folder.to_owned(),
                        spec,
                        is_closed: false,
                    };
                    vectors.agree()?;
                    let dropped = None;
                    return Ok(Opened { vectors, dropped });
                }
            },
            Err(VectorError::Unusable(why)) => why.to_string(),
            Err(other) => return Err(other),
        };
        let vectors = Self::create(parts, folder, spec)?;
        let dropped = Some(dropped);
        Ok(Opened { vectors, dropped })
    }

    fn create(parts: &Parts, folder: &Path, spec: Spec) -> Result<Self, VectorError> {
        let catalogue = Catalogue::create(Arc::clone(&parts.disk), folder)
            .map_err(|error| io_error(folder, error))?;
        Ok(Self {
            index: VectorIndex::recreate(folder, &spec, options(parts))?,
            catalogue,
            parts: parts.clone(),
            folder: folder.to_owned(),
            spec,
            is_closed: false,
        })
    }

    /// Begins anew, with vectors of this many dimensions.
    pub(super) fn drop_all(&mut self, dimension: usize) -> Result<(), VectorError> {
        let spec = Spec {
            dimension,
            ..self.spec.clone()
        };
        *self = Self::create(&self.parts, &self.folder, spec)?;
        Ok(())
    }

    /// After a kill there may be lines without a vector: they are written again.
    fn agree(&mut self) -> Result<(), VectorError> {
        let mut lines = self.catalogue.rows().iter().zip(0..);
        let is_torn = |(row, line): &(&Row, usize)| {
            let mut messages = 0..row.messages;
            !messages.all(|message| self.index.contains(place(*line, message)))
        };
        let whole = lines.find(is_torn).map(|(_, line)| line);
        whole.map_or(Ok(()), |whole| self.keep(whole))
    }

    /// Cuts off what no longer speaks of this session, or of another exchange than its vector; tells how many lines
    /// that were. An exchange without a line among those with one means that a line was lost, and that those behind it
    /// belong to other vectors.
    pub(super) fn follow(&mut self, session: &Session) -> Result<usize, VectorError> {
        let rows = self.catalogue.rows();
        let mut good = 0;
        for turn in session.turns() {
            let Some(row) = rows.get(good) else {
                break;
            };
            if row.turn == turn.id && row.is_of(session, turn) {
                good += 1;
            } else if row.turn == turn.id || is_wanted(session, turn) {
                break;
            }
        }
        let gone = rows.len() - good;
        self.keep(good)?;
        Ok(gone)
    }

    fn keep(&mut self, lines: usize) -> Result<(), VectorError> {
        let kept = self.catalogue.keep(lines);
        kept.map_err(|error| io_error(&self.folder, error))
    }

    /// Lets nothing be written any more.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// The turn up to which exchanges have their vectors.
    pub(super) fn last(&self) -> Option<TurnId> {
        self.catalogue.rows().last().map(|row| row.turn)
    }

    pub(super) fn len(&self) -> usize {
        self.catalogue.rows().len()
    }

    pub(super) fn dimension(&self) -> usize {
        self.spec.dimension
    }

    /// Adds exchanges with the vectors of their messages, in this order; on disk when it returns. What a task that was given up comes with late is
    /// not taken.
    pub(super) fn add(
        &mut self,
        entries: &[Entry],
        vectors: &[Vec<f32>],
    ) -> Result<(), VectorError> {
        let is_known = |entry: &Entry| Some(entry.turn) <= self.last();
        if self.is_closed || entries.first().is_some_and(is_known) {
            return Ok(());
        }
        let first = self.catalogue.rows().len();
        let places = entries.iter().zip(first..).flat_map(|(entry, line)| {
            let messages = 0..entry.texts.len();
            messages.map(move |message| place(line, message))
        });
        // A text without a direction, or that was refused, must not hold up those behind it.
        let anywhere = vec![1.0; self.spec.dimension];
        for (place, vector) in places.zip(vectors) {
            let vector = if vector.is_empty() { &anywhere } else { vector };
            match self.index.push(place, vector) {
                Err(VectorError::BadVector(BadVector::Zero | BadVector::NotFinite)) => {
                    self.index.push(place, &anywhere)?;
                }
                pushed => pushed?,
            }
        }
        let appended = self.catalogue.append(entries);
        appended.map_err(|error| io_error(&self.folder, error))?;
        self.index.sync()
    }

    /// The messages nearest to a vector, with their cosines.
    pub(super) fn nearest(&self, vector: &[f32], k: usize) -> Result<Vec<Near>, VectorError> {
        let rows = self.catalogue.rows();
        let hits = self.index.search(vector, k, Filter::All)?;
        let near = hits.into_iter().filter_map(|hit| {
            let (line, message) = of_place(hit.place)?;
            Some(Near {
                turn: rows.get(line)?.turn,
                message,
                cosine: hit.score,
            })
        });
        Ok(near.collect())
    }
}

/// A message that is near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Near {
    pub(super) turn: TurnId,
    /// Of those of its exchange, counted from 0.
    pub(super) message: usize,
    pub(super) cosine: f32,
}

/// Whether a turn should have a line.
fn is_wanted(session: &Session, turn: &Turn) -> bool {
    turn.withdrawn.is_none() && !Exchange::of(session, turn).is_empty()
}

fn options(parts: &Parts) -> Options {
    Options {
        hnsw_min: parts.hnsw_min,
        ..Options::default()
    }
}

/// Messages of one exchange that have a place; a turn has hardly ever more than two.
const EACH: usize = 256;

fn place(line: usize, message: usize) -> Place {
    Place((line * EACH + message.min(EACH - 1)) as u64)
}

pub(super) fn of_place(place: Place) -> Option<(usize, usize)> {
    let place = usize::try_from(place.0).ok()?;
    Some((place / EACH, place % EACH))
}

/// Refuses a folder behind a link that leads out of the data folder: an index opens its files by itself.
fn ensure_inside(disk: &dyn Disk, folder: &Path) -> Result<(), VectorError> {
    match disk.size(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(folder, error)),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn io_error(folder: &Path, source: io::Error) -> VectorError {
    VectorError::Io {
        path: folder.to_owned(),
        source,
    }
}
