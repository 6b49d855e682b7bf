//! Whether a person asks where the conversation was (Q29), by the patterns of `cues/recovery.yaml`.
//!
//! Unit: one message. Only a short one asks that: a long text has such words by chance.

use std::collections::BTreeMap;

use super::Prompt;
use super::cue_files::laid_over;
use super::texts::embedded;
use crate::text::patterns::{BadPattern, Checked, Patterns};

/// A longer message is not read.
const MAX_CHARS: usize = 200;

/// The patterns.
#[derive(Debug, Default)]
pub struct RecoveryCues(Vec<Patterns>);

/// Patterns that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadRecoveryCues {
    #[error("{file} is not a list of patterns by language: {what}")]
    Malformed { file: String, what: String },
    #[error("{file}: {language}: {pattern}")]
    Pattern {
        file: String,
        language: String,
        pattern: BadPattern,
    },
}

impl RecoveryCues {
    /// The patterns of a file, over the embedded ones: a language that it does not name is heard as it was.
    pub fn parse(file: &Prompt, checked: Checked) -> Result<Self, BadRecoveryCues> {
        let languages: BTreeMap<String, Vec<String>> =
            laid_over(&embedded("cues/recovery.yaml").text, &file.text).map_err(|error| {
                BadRecoveryCues::Malformed {
                    file: file.file.clone(),
                    what: error.to_string(),
                }
            })?;
        let patterns = languages.into_iter().map(|(language, patterns)| {
            Patterns::read(patterns, checked).map_err(|pattern| BadRecoveryCues::Pattern {
                file: file.file.clone(),
                language,
                pattern,
            })
        });
        Ok(Self(patterns.collect::<Result<_, _>>()?))
    }

    /// Whether a message asks where the conversation was.
    pub fn ask(&self, said: &str) -> bool {
        let said = said.trim();
        said.chars().count() <= MAX_CHARS && self.0.iter().any(|cue| cue.is_match(said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_where_we_were_is_understood_and_nobody_else() {
        let cues = RecoveryCues::parse(&embedded("cues/recovery.yaml"), Checked::Now).unwrap();
        for asks in [
            "where were we?",
            "OK, so where were we",
            "What were we doing before lunch?",
            "continue where we left off",
            "Remind me what we decided",
            "Where did we leave off?",
            "Qayerda to'xtadik?",
            "nima qilayotgan edik?",
            "我们刚才说到哪了?",
            "继续上次的",
        ] {
            assert!(cues.ask(asks), "{asks}");
        }
        for other in [
            "Where were the Vikings from?",
            "where were we supposed to meet Anna on Friday for the show",
            "What were you doing in Rome?",
            "Continue the story",
            "remind me to call Anna",
            "go on",
            "继续",
        ] {
            assert!(!cues.ask(other), "{other}");
        }
        assert!(!cues.ask(&format!("{} where were we?", "x ".repeat(200))));
    }

    #[test]
    fn a_language_of_the_persons_own_is_heard_beside_the_embedded_ones() {
        let own = Prompt::new("mine.yaml", "de: ['\\bwo waren wir\\b']");
        let cues = RecoveryCues::parse(&own, Checked::Now).unwrap();
        assert!(cues.ask("Wo waren wir?") && cues.ask("where were we?"));
    }

    #[test]
    fn a_pattern_that_cannot_be_read_names_its_file_and_language() {
        let bad =
            RecoveryCues::parse(&Prompt::new("mine.yaml", "en: ['(']"), Checked::Now).unwrap_err();
        let bad = bad.to_string();
        assert!(
            bad.starts_with("mine.yaml: en: the pattern \"(\" cannot be used"),
            "{bad}"
        );
        let bad =
            RecoveryCues::parse(&Prompt::new("mine.yaml", "[1, 2]"), Checked::Now).unwrap_err();
        assert!(
            bad.to_string().starts_with("mine.yaml is not a list"),
            "{bad}"
        );
    }
}
