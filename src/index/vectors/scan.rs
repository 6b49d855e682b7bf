//! The best few of many scores. Unit: one search.

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
