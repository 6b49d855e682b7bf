//! The file of patterns: `config/cues/capture.yaml` or a person's own.
//!
//! ```yaml
//! en:
//!   lists: {opening: ['^', ', ']}        # what patterns name as {opening}
//!   never: ['^if i\b']                    # sentences that say nothing
//!   cues:
//!     preference:
//!       - cues: ['\bi prefer \S']
//!         after: ['{opening}$']           # what has to stand before a match
//!         but: ['^i prefer not to say']   # what a match may not go on as
//!         never: ['\bhaha\b']             # sentences in which these cues do not count
//! ```
//! Patterns ignore case and are linear in the length of the text. A cue with a group `name` finds only words that
//! can be a name.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Category;

/// What the file says of one language.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Sheet {
    pub(super) lists: BTreeMap<String, Vec<String>>,
    /// Beginnings of what somebody else wrote; the rest of the message is not read.
    pub(super) quoting: Vec<String>,
    /// Sentences that say nothing.
    pub(super) never: Vec<String>,
    /// Questions that are none: `…, ok?`
    pub(super) tags: Vec<String>,
    /// Words that are no names although they are written as such.
    pub(super) not_names: String,
    /// Words for somebody or something that an earlier sentence names.
    pub(super) pronouns: String,
    pub(super) cues: BTreeMap<Category, Vec<RuleSheet>>,
    pub(super) slots: Slots,
}

/// Patterns that find a category under the same conditions.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RuleSheet {
    pub(super) cues: Vec<String>,
    pub(super) after: Vec<String>,
    pub(super) but: Vec<String>,
    /// Sentences in which these cues do not count.
    pub(super) never: Vec<String>,
    /// Whether questions are read, too.
    pub(super) asked: Asked,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Asked {
    #[default]
    Not,
    Too,
}

/// How statements are told to be about the same thing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Slots {
    /// Patterns with a `value`, of which only the newest holds (`my name is …`); with a `subject`, one for each; with a
    /// `kind`, one for each last word of it (`dark mode`, `light mode`).
    pub(super) cues: BTreeMap<Category, Vec<String>>,
    /// Patterns of what says that the old is no longer so, with the old in `old` if it is named.
    pub(super) instead: Vec<String>,
    /// Patterns with the thing in `kind` that is liked, and that is not.
    pub(super) liked: Vec<String>,
    pub(super) disliked: Vec<String>,
    /// Words that end the name of a thing …
    pub(super) breaks: String,
    /// … that say nothing, and that turn a sentence round.
    pub(super) fillers: String,
    pub(super) negations: String,
    /// Words between what is spoken of and what is said of it.
    pub(super) copulas: String,
}
