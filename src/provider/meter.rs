//! Counts what the requests of this run took. Shared by every provider of a catalogue, so that summaries count, too.

use std::sync::{Arc, Mutex, PoisonError};

use super::ModelName;
use crate::chat::{Spending, Spent, Usage};

#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<Mutex<Spending>>);

impl Meter {
    pub(super) fn count(&self, model: &ModelName, usage: Usage) {
        let mut spending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spending.add(&model.to_string(), Spent::of(usage));
    }

    /// Returns what was spent since the start.
    pub fn total(&self) -> Spending {
        let spending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spending.clone()
    }
}
