//! A graph over the rows of a store: quicker than comparing all of them, and nearly as sure. Unit: the rows up to a
//! number; those behind are compared one by one. Invariant: it holds numbers of rows and nothing else, so that a bad one
//! may miss a row but makes up no hit.
//!
//! `hnsw_rs` builds it. Only its links are kept: with what it has beside them it takes ten times as much memory, and
//! its own files panic where they are damaged.
//!
//! ```text
//!   "cogtrix graph 1\n", header of the vectors' file
//!   numbers (u32): rows when it was built, rows, then of each layer from the top: rows on it, links,
//!                  its rows (none of the lowest, which has all), where the links of each end, the links
//!   keys of the rows (16 bytes each), checksum u64 of all that
//! ```

use super::file::checksum;
use super::quantise::{Query, Rows};
use super::{KEY, Key};

const MAGIC: &[u8] = b"cogtrix graph 1\n";
/// Rows that are looked at side by side on the upper layers.
const DESCENDING: usize = 8;

/// Links between rows that are near each other.
#[derive(Debug)]
pub(super) struct Graph {
    /// Rows when it was built.
    n_built: usize,
    /// It covers the rows before this one.
    n_rows: usize,
    /// From the top down; the lowest has every row.
    layers: Vec<Layer>,
}

#[derive(Debug, Default)]
struct Layer {
    /// Ascending; none where it has all of them.
    rows: Vec<u32>,
    /// Of each row where its links end; they begin where those of the one before do.
    ends: Vec<u32>,
    links: Vec<u32>,
}

impl Layer {
    fn push(&mut self, row: Option<u32>, links: impl Iterator<Item = u32>) {
        self.rows.extend(row);
        self.links.extend(links);
        self.ends.push(number(self.links.len()));
    }

    fn links(&self, row: u32) -> &[u32] {
        let at = if self.rows.is_empty() {
            row as usize
        } else {
            let Ok(at) = self.rows.binary_search(&row) else {
                return &[];
            };
            at
        };
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.links[start as usize..self.ends[at] as usize]
    }

    /// Each row with its links.
    fn all(&self) -> impl Iterator<Item = (u32, &[u32])> {
        let own = self.rows.iter().copied();
        let every = 0..number(self.ends.len());
        let rows = own.chain(every.skip(self.rows.len()));
        rows.map(|row| (row, self.links(row)))
    }

    /// Whether nothing leads out of so many rows.
    fn is_sound(&self, n_rows: usize, is_lowest: bool) -> bool {
        let n_here = if is_lowest { n_rows } else { self.rows.len() };
        self.ends.len() == n_here
            && self.rows.is_empty() == is_lowest
            && self.rows.is_sorted_by(|a, b| a < b)
            && self.ends.is_sorted()
            && self
                .ends
                .last()
                .is_some_and(|end| *end as usize == self.links.len())
            && self
                .rows
                .iter()
                .chain(&self.links)
                .all(|row| (*row as usize) < n_rows)
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        let counts = [self.rows.len(), self.links.len()].map(number);
        let all = self.rows.iter().chain(&self.ends).chain(&self.links);
        counts.into_iter().chain(all.copied())
    }
}

impl Graph {
    /// Of each layer from the lowest up the rows with those that they lead to.
    pub(super) fn of(layers: Vec<Vec<(u32, Vec<u32>)>>) -> Self {
        let n_rows = layers.first().map_or(0, Vec::len);
        let layers = layers
            .into_iter()
            .enumerate()
            .filter(|(_, rows)| !rows.is_empty());
        let layers = layers.map(|(level, mut rows)| {
            rows.sort_unstable();
            let mut layer = Layer::default();
            for (row, links) in rows {
                layer.push((level > 0).then_some(row), links.into_iter());
            }
            layer
        });
        let mut layers: Vec<Layer> = layers.collect();
        layers.reverse();
        Self {
            n_built: n_rows,
            n_rows,
            layers,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.n_rows
    }

    /// Whether a fifth of so many rows are not in it, or of its own are gone.
    pub(super) fn is_outgrown(&self, n_rows: usize) -> bool {
        let new = n_rows.saturating_sub(self.n_rows);
        let gone = self.n_built - self.n_rows;
        5 * (new + gone) > n_rows.max(self.n_built)
    }

    /// About the `n` nearest rows, nearest first.
    pub(super) fn nearest(&self, query: &Query, rows: &Rows, n: usize) -> Vec<(f32, u32)> {
        let Some((lowest, upper)) = self.layers.split_last() else {
            return Vec::new();
        };
        let top = self.layers[0].rows.first().copied().unwrap_or_default();
        let mut found = vec![(0.0, top)];
        for layer in upper {
            found = layer.walk(query, rows, &found, DESCENDING);
        }
        lowest.walk(query, rows, &found, n)
    }

    /// The same over the rows that are left, by their new numbers, which are in the order of the old ones; `None` where
    /// they are not, or none is left.
    pub(super) fn renumbered(&self, new: &[Option<u32>]) -> Option<Self> {
        let left = new.iter().flatten();
        let n_rows = left.clone().count();
        let is_in_order = n_rows > 0 && left.copied().eq(0..number(n_rows));
        if new.len() != self.n_rows || !is_in_order {
            return None;
        }
        let new = |row: u32| new[row as usize];
        let layers = self.layers.iter().map(|layer| {
            let is_lowest = layer.rows.is_empty();
            let mut left = Layer::default();
            for (row, links) in layer.all() {
                if let Some(row) = new(row) {
                    let links = links.iter().filter_map(|link| new(*link));
                    left.push((!is_lowest).then_some(row), links);
                }
            }
            left
        });
        Some(Self {
            n_built: self.n_built,
            n_rows,
            layers: layers.filter(|layer| !layer.ends.is_empty()).collect(),
        })
    }

    /// Behind the header of the vectors' file, with the keys of its rows.
    pub(super) fn to_bytes(&self, header: &[u8], keys: &[Key]) -> Vec<u8> {
        let mut bytes = [MAGIC, header].concat();
        let counts = [self.n_built, self.n_rows].map(number);
        let layers = self.layers.iter().flat_map(Layer::numbers);
        for number in counts.into_iter().chain(layers) {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(keys.iter().flat_map(|key| key.0));
        bytes.extend(checksum(0, &bytes).to_le_bytes());
        bytes
    }

    /// The graph of these bytes over the rows that its keys have by now. `None` where it is damaged, of other vectors
    /// or in another order.
    pub(super) fn from_bytes(
        bytes: &[u8],
        header: &[u8],
        row: impl Fn(Key) -> Option<u32>,
    ) -> Option<Self> {
        let (body, check) = bytes.split_last_chunk()?;
        if u64::from_le_bytes(*check) != checksum(0, body) {
            return None;
        }
        let mut rest = body.strip_prefix(MAGIC)?.strip_prefix(header)?;
        let [n_built, n_rows] = take(&mut rest, 2)?[..] else {
            return None;
        };
        let n_rows = n_rows as usize;
        let keys = rest.split_off(rest.len().checked_sub(n_rows.checked_mul(KEY)?)?..)?;
        let mut layers: Vec<Layer> = Vec::new();
        while !rest.is_empty() {
            let [n_here, n_links] = take(&mut rest, 2)?[..] else {
                return None;
            };
            let rows = take(&mut rest, n_here as usize)?;
            let n_ends = if rows.is_empty() { n_rows } else { rows.len() };
            layers.push(Layer {
                rows,
                ends: take(&mut rest, n_ends)?,
                links: take(&mut rest, n_links as usize)?,
            });
        }
        let lowest = layers.len().checked_sub(1)?;
        let mut numbered = layers.iter().enumerate();
        let is_sound = numbered.all(|(at, layer)| layer.is_sound(n_rows, at == lowest));
        let read = Self {
            n_built: n_built as usize,
            n_rows,
            layers,
        };
        let rows: Vec<Option<u32>> = keys
            .as_chunks()
            .0
            .iter()
            .map(|key| row(Key(*key)))
            .collect();
        (is_sound && read.n_built >= n_rows).then(|| read.renumbered(&rows))?
    }
}

impl Layer {
    /// Goes from row to row as long as that leads nearer; the `n` nearest, nearest first.
    fn walk(&self, query: &Query, rows: &Rows, from: &[(f32, u32)], n: usize) -> Vec<(f32, u32)> {
        let mut seen = vec![0_u64; rows.len().div_ceil(64)];
        // Each with whether its links were followed.
        let mut best: Vec<(f32, u32, bool)> = Vec::with_capacity(n + 1);
        let mut offer = |best: &mut Vec<(f32, u32, bool)>, row: u32| {
            let (word, bit) = (row as usize / 64, 1 << (row % 64));
            if seen[word] & bit != 0 {
                return n;
            }
            seen[word] |= bit;
            let cosine = query.near(rows.row(row as usize));
            let at = best.partition_point(|(better, ..)| *better >= cosine);
            if at < n {
                best.truncate(n - 1);
                best.insert(at, (cosine, row, false));
            }
            at
        };
        for (_, row) in from {
            offer(&mut best, *row);
        }
        let mut next = 0;
        while let Some((_, row, is_done)) = best.get_mut(next) {
            let mut nearest = next + 1;
            if !std::mem::replace(is_done, true) {
                for link in self.links(*row) {
                    nearest = nearest.min(offer(&mut best, *link));
                }
            }
            next = nearest;
        }
        best.into_iter()
            .map(|(cosine, row, _)| (cosine, row))
            .collect()
    }
}

fn take(rest: &mut &[u8], count: usize) -> Option<Vec<u32>> {
    let bytes = rest.split_off(..count.checked_mul(4)?)?;
    let numbers = bytes.as_chunks().0.iter();
    Some(numbers.map(|four| u32::from_le_bytes(*four)).collect())
}

/// The best so far, best first; of equally good ones the earlier.
#[derive(Debug)]
pub(super) struct Best {
    k: usize,
    found: Vec<(usize, f32)>,
}

impl Best {
    pub(super) fn new(k: usize) -> Self {
        Self {
            k,
            found: Vec::with_capacity(k + 1),
        }
    }

    pub(super) fn offer(&mut self, position: usize, score: f32) {
        let is_full = self.found.len() >= self.k;
        if self.k == 0 || is_full && self.found.last().is_some_and(|(_, worst)| score <= *worst) {
            return;
        }
        let at = self.found.partition_point(|(_, better)| *better >= score);
        self.found.insert(at, (position, score));
        self.found.truncate(self.k);
    }

    pub(super) fn found(self) -> Vec<(usize, f32)> {
        self.found
    }
}

/// Row numbers fit: nobody keeps four thousand million vectors.
pub(super) fn number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}
