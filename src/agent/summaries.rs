//! Summaries that were written, by what was asked: the same question to the same model is asked once (G31).
//!
//! Unit: one answer. Invariant: the name of an answer is the digest of the model and of every word of the request, the
//! instruction among them; failures are not kept. In memory alone; one for each session.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::files::digest;

/// The newest so many are kept.
const MAX: usize = 64;

/// See the module. A mutex, because chunks of one compaction are written at once, one of them in the background.
#[derive(Debug, Default)]
pub(super) struct Summaries(Mutex<VecDeque<(String, String)>>);

impl Summaries {
    /// The name of a request to a model.
    pub(super) fn name(model: &str, request: &str) -> String {
        digest(format!("{model}\u{0}{request}").as_bytes())
    }

    pub(super) fn get(&self, name: &str) -> Option<String> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|(known, _)| known == name)?;
        let entry = kept.remove(place)?;
        let text = entry.1.clone();
        kept.push_back(entry);
        Some(text)
    }

    pub(super) fn keep(&self, name: String, text: &str) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != name);
        kept.push_back((name, text.to_owned()));
        if kept.len() > MAX {
            kept.pop_front();
        }
    }

    /// What was not good enough is asked for again.
    pub(super) fn clear(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_sixty_four_are_kept_by_their_whole_request_and_model() {
        let summaries = Summaries::default();
        let begin = "x".repeat(600);
        let name = |n: usize| Summaries::name("m", &format!("{begin}{n}"));
        for n in 0..64 {
            summaries.keep(name(n), &n.to_string());
        }
        assert_eq!(summaries.get(&name(0)).as_deref(), Some("0"));
        summaries.keep(name(64), "64");
        assert_eq!(summaries.get(&name(1)), None, "the one used longest ago");
        assert_eq!(summaries.get(&name(0)).as_deref(), Some("0"));
        let other = Summaries::name("other", &format!("{begin}0"));
        assert_eq!(summaries.get(&other), None, "another model");
        summaries.clear();
        assert_eq!(summaries.get(&name(0)), None);
    }
}
