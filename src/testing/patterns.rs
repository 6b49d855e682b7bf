//! The sieves of every list of patterns that the program comes with.

use crate::index::Lists;
use crate::memory::capture::{Extractor, WalSettings};
use crate::memory::facts::{FactCues, FactsSettings};
use crate::memory::tracking::readers::Cued;
use crate::memory::tracking::readers::code::CodeReader;
use crate::memory::tracking::readers::conversation::ConversationReader;
use crate::memory::tracking::readers::reasoning::ReasoningReader;
use crate::memory::{Prompt, RecoveryCues};
use crate::text::patterns::Checked;
use crate::text::patterns::stored::{Files, files};

/// What `src/text/patterns/stored.*` are to hold; see [`files`].
///
/// # Panics
/// If a cue file of the program cannot be read.
pub fn stored_patterns() -> Files {
    files(|| {
        let (wal, facts) = (WalSettings::default(), FactsSettings::default());
        Extractor::with(|_| None, &wal).expect("the program's own cues");
        FactCues::with(|_| None, &facts).expect("the program's own cues");
        let none = Prompt::new("none", "");
        RecoveryCues::parse(&none, Checked::ByTests).expect("the program's own cues");
        ConversationReader::embedded();
        CodeReader::embedded();
        ReasoningReader::embedded();
        Lists::embedded();
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_what_the_cue_files_say() {
        let files = stored_patterns();
        let is_current = files.tables == include_str!("../text/patterns/stored.jsonl")
            && files.words == include_bytes!("../text/patterns/stored.fst");
        assert!(
            is_current,
            "run `cargo bench --features testing --bench patterns`"
        );
    }
}
