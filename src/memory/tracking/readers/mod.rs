//! Readers: what is said in, findings out. Pure, total, linear in the length of the text; one for each
//! standard mode, its words and patterns in `config/cues/`.

pub mod code;
pub mod conversation;
pub mod marked;
pub mod reasoning;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::exchange::{Exchange, Piece, Speaker};
use super::note::{Finding, Kind};
use crate::memory::cue_files::BadCues;
use crate::memory::{Prompt, texts};
use crate::text::patterns::BadPattern;
use code::CodeReader;
use conversation::ConversationReader;
use reasoning::ReasoningReader;

/// Findings, each once.
#[derive(Debug, Default)]
struct Found {
    findings: Vec<Finding>,
    seen: HashSet<(Kind, String)>,
}

impl Found {
    /// Adds a finding, unless there is one of its kind with this key.
    fn add(&mut self, finding: Finding, key: String) {
        if self.seen.insert((finding.kind, key)) {
            self.findings.push(finding);
        }
    }
}

/// Finds what a mode wants to know in what is said.
pub trait Reader: Send + Sync + fmt::Debug {
    /// Findings in the order in which they were said. The same text gives the same findings.
    fn read(&self, exchange: &Exchange<'_>) -> Vec<Finding>;

    /// What tools are known to have done: no guess, and worth more than one.
    fn facts(&self, _: &Exchange<'_>) -> Vec<Finding> {
        Vec::new()
    }
}

/// Why a cue file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadCue {
    #[error(transparent)]
    Malformed(#[from] serde_yaml::Error),
    #[error(transparent)]
    Pattern(#[from] BadPattern),
}

/// A reader whose words and patterns are in a file.
pub trait Cued: Reader + Sized + 'static {
    /// Name of the file under `config/`.
    const FILE: &'static str;

    /// Reads a cue file; its patterns are compiled when they are first needed.
    fn parse(text: &str) -> Result<Self, BadCue>;

    /// Compiles every pattern now, to learn whether it can be used.
    fn check(&self) -> Result<(), BadPattern>;

    /// With the cues that come with the program.
    fn embedded() -> Self {
        Self::parse(texts::embedded_cues(Self::FILE))
            .expect("a test parses every embedded cue file")
    }
}

/// A reader with the embedded cues, which are parsed when it first reads.
#[derive(Debug)]
struct Embedded<R>(OnceLock<R>);

impl<R: Cued> Reader for Embedded<R> {
    fn read(&self, exchange: &Exchange<'_>) -> Vec<Finding> {
        self.0.get_or_init(R::embedded).read(exchange)
    }

    fn facts(&self, exchange: &Exchange<'_>) -> Vec<Finding> {
        self.0.get_or_init(R::embedded).facts(exchange)
    }
}

/// The readers of the standard modes.
#[derive(Clone, Debug)]
pub struct Readers {
    pub conversation: Arc<dyn Reader>,
    pub code: Arc<dyn Reader>,
    pub reasoning: Arc<dyn Reader>,
}

impl Readers {
    /// With what `own` has in place of embedded cues (`cues/code.yaml`), every pattern of which is checked.
    pub fn with(own: impl Fn(&str) -> Option<Prompt>) -> Result<Self, BadCues> {
        Ok(Self {
            conversation: reader::<ConversationReader>(&own)?,
            code: reader::<CodeReader>(&own)?,
            reasoning: reader::<ReasoningReader>(&own)?,
        })
    }

    /// With the embedded cues.
    pub fn embedded() -> Self {
        Self {
            conversation: embedded::<ConversationReader>(),
            code: embedded::<CodeReader>(),
            reasoning: embedded::<ReasoningReader>(),
        }
    }

    /// Work that lets each reader read what says nothing, so that it knows the words that its patterns need before a
    /// turn waits for that. Each takes some milliseconds: for threads of their own, while the model answers.
    pub fn warm_up(&self) -> [impl FnOnce() + Send + use<>; 3] {
        const SENTENCES: &str = "Hm. 1.";
        [&self.conversation, &self.code, &self.reasoning].map(|reader| {
            let reader = Arc::clone(reader);
            move || {
                let piece = |by| Piece {
                    by,
                    text: SENTENCES.into(),
                };
                let pieces = vec![piece(Speaker::User), piece(Speaker::Assistant)];
                reader.read(&Exchange {
                    pieces,
                    ..Exchange::default()
                });
            }
        })
    }
}

fn reader<R: Cued>(own: impl Fn(&str) -> Option<Prompt>) -> Result<Arc<dyn Reader>, BadCues> {
    let Some(cues) = own(R::FILE) else {
        return Ok(embedded::<R>());
    };
    let checked = R::parse(&cues.text).and_then(|reader| {
        reader.check()?;
        Ok(reader)
    });
    match checked {
        Ok(reader) => Ok(Arc::new(reader)),
        Err(error) => Err(BadCues::File {
            what: error.to_string(),
            file: cues.file,
        }),
    }
}

fn embedded<R: Cued>() -> Arc<dyn Reader> {
    Arc::new(Embedded::<R>(OnceLock::new()))
}

/// The readers with one file of a person's own.
#[cfg(test)]
fn with<R: Cued>(file: &str, text: &str) -> Result<Readers, BadCues> {
    Readers::with(|name| (name == R::FILE).then(|| Prompt::new(file, text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<R: Cued>() {
        R::embedded().check().unwrap();
        let error = with::<R>("my.yaml", "en: [").unwrap_err();
        assert!(error.to_string().starts_with("my.yaml: "));
    }

    #[test]
    fn every_embedded_cue_file_parses_and_every_pattern_compiles() {
        check::<ConversationReader>();
        check::<CodeReader>();
        check::<ReasoningReader>();
    }
}
