//! What outlives a session, as one request sees it: the person's own files, the project's rules, pins, long-term
//! memory, what was captured, what was found on the input. Pure: the texts are read elsewhere.
//!
//! Invariant: the files together take at most a third of the room; what is cut says so, and the newest stays.

use super::{Memory, Prompt, recovery, transcript};
use crate::chat::Tokens;
use crate::context::{Brought, Section, SectionKind, Source};

/// What outlives a session, as it is read for one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LongTermContext {
    /// The person's own: who the model is, its style, who the person is (X2).
    pub identity: Vec<KeptFile>,
    /// The project's rules.
    pub rules: Vec<KeptFile>,
    /// Texts pinned to the session, oldest first (G12).
    pub pins: Vec<String>,
    /// MEMORY.md (Q21).
    pub long_term: Option<KeptFile>,
    /// SESSION-STATE.md without its title (Q12).
    pub session_state: Option<KeptFile>,
    /// What was found on what is asked.
    pub related: Option<Related>,
    /// What tells where the work stood; it stands behind the input, and is kept nowhere (Q31).
    pub recovery: Option<Recovery>,
}

/// Files that tell where the work stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// In the order in which they are told; never none.
    pub files: Vec<KeptFile>,
    /// What the section may cost, where there is room (Q30).
    pub max: Tokens,
}

impl Recovery {
    /// It takes one part in so many of the window at most (Q30).
    pub const SHARE: u32 = 10;
}

/// A file as it is sent, already within the limits of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// As a person knows it: `MEMORY.md`.
    pub name: String,
    pub text: String,
}

/// Hits of the long-term memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Related {
    /// Over the hits, in the language of the conversation.
    pub heading: String,
    /// One line each, best first.
    pub text: String,
    /// Where they stand, such as `MEMORY.md:12`, and why they were brought.
    pub places: Vec<Brought<String>>,
}

/// The share of the room that the files may take together: one part in so many.
const SHARE: u32 = 3;

/// What stands where the beginning of a text was left out.
const CUT: &str = "[…truncated…]\n";

/// Which end of a text stays where it is too long.
#[derive(Clone, Copy)]
enum Keep {
    Beginning,
    End,
}

impl Memory {
    /// What stands between the system texts and the summary (SEEDS 3.1: files, pins, long-term memory, captures).
    pub(super) fn lasting(&self, kept: &LongTermContext, room: Tokens) -> Vec<Section> {
        let files = kept.identity.iter().chain(&kept.rules);
        let files = files.chain(&kept.long_term).chain(&kept.session_state);
        let costs = files.map(|file| Tokens::estimate(&file.text).chars());
        let max = level(costs.collect(), Tokens(room.0 / SHARE).chars());
        let texts = &self.prompts.kept;
        let file = |kind, prompt: &Prompt, file: &KeptFile, keep| {
            let text = transcript::fenced(&within(&file.text, max, keep));
            let text = prompt.fill(&[("name", &file.name), ("text", &text)]);
            Section::system(kind, Source::File(file.name.clone()), text)
        };
        let identity = kept
            .identity
            .iter()
            .map(|own| file(SectionKind::Identity, &texts.identity, own, Keep::Beginning));
        let rules = kept
            .rules
            .iter()
            .map(|rules| file(SectionKind::Rules, &texts.rules, rules, Keep::Beginning));
        let long_term = kept
            .long_term
            .iter()
            .map(|known| file(SectionKind::LongTerm, &texts.long_term, known, Keep::End));
        let state = kept.session_state.iter().map(|state| {
            file(
                SectionKind::SessionState,
                &texts.session_state,
                state,
                Keep::End,
            )
        });
        identity
            .chain(rules)
            .chain(self.pins(&kept.pins))
            .chain(long_term)
            .chain(state)
            .collect()
    }

    fn pins(&self, pins: &[String]) -> Option<Section> {
        if pins.is_empty() {
            return None;
        }
        let text = transcript::fenced(&pins.join("\n\n"));
        let text = self.prompts.kept.pins.fill(&[("text", &text)]);
        let source = Source::Pinned(pins.len());
        Some(Section::system(SectionKind::Pins, source, text))
    }

    /// Where the work stood, in what the others leave of the room: behind the input, and no part of it (Q29).
    pub(super) fn recovered(&self, kept: &LongTermContext, rest: Tokens) -> Option<Section> {
        let lost = kept.recovery.as_ref()?;
        let section = |text: &str| {
            let text = transcript::fenced(text);
            let text = self.prompts.kept.recovery.fill(&[("text", &text)]);
            let names = lost.files.iter().map(|file| file.name.clone());
            let source = Source::Files(names.collect());
            Section::reference(SectionKind::Recovered, source, text.trim())
        };
        let max = lost.max.min(rest);
        let text = max.minus(section("").cost()).chars();
        let section = section(&recovery::told(&lost.files, text)?);
        // A fence may be longer than the shortest.
        (section.cost() <= rest).then_some(section)
    }

    /// What was found on what is asked (X18).
    pub(super) fn related(&self, kept: &LongTermContext) -> Option<Section> {
        let related = kept.related.as_ref()?;
        let text = transcript::fenced(&related.text);
        let values = [("heading", related.heading.as_str()), ("text", &text)];
        let text = self.prompts.kept.related.fill(&values);
        let source = Source::Hits(related.places.clone());
        Some(Section::system(SectionKind::Related, source, text))
    }
}

/// The length that no text may exceed so that all of them together keep to a total.
pub(super) fn level(mut lengths: Vec<usize>, total: usize) -> usize {
    lengths.sort_unstable();
    let mut left = total;
    let mut waiting = lengths.len();
    for length in lengths {
        let share = left / waiting;
        if length > share {
            return share;
        }
        left -= length;
        waiting -= 1;
    }
    usize::MAX
}

/// A text cut to so many characters, at a line where there is one near.
fn within(text: &str, max: usize, keep: Keep) -> String {
    let chars = text.chars().count();
    if chars <= max {
        return text.to_owned();
    }
    let gone = chars - max;
    match keep {
        Keep::Beginning => {
            let kept: String = text.chars().take(chars - gone).collect();
            let end = kept.rfind('\n').filter(|end| *end * 2 > kept.len());
            format!("{}\n{}", &kept[..end.unwrap_or(kept.len())], CUT.trim_end())
        }
        Keep::End => {
            let kept: String = text.chars().skip(gone).collect();
            let begin = kept.find('\n').filter(|at| *at * 2 < kept.len());
            format!("{CUT}{}", &kept[begin.map_or(0, |at| at + 1)..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_stay_whole_and_long_ones_share_what_is_left() {
        for (costs, total, expected) in [
            (vec![], 90, usize::MAX),
            (vec![10, 20, 30], 90, usize::MAX),
            (vec![10, 500, 400], 90, 40),
            (vec![500], 90, 90),
        ] {
            assert_eq!(level(costs, total), expected);
        }
    }

    #[test]
    fn a_long_text_keeps_the_end_that_matters_and_says_so() {
        let text = "first line\n".to_owned() + &"x\n".repeat(2_000) + "last line";
        let newest = within(&text, 200, Keep::End);
        assert!(
            newest.starts_with(CUT) && newest.ends_with("last line"),
            "{newest}"
        );
        let oldest = within(&text, 200, Keep::Beginning);
        assert!(
            oldest.starts_with("first line") && oldest.ends_with("[…truncated…]"),
            "{oldest}"
        );
        assert_eq!(within("short", 200, Keep::End), "short");
    }
}
