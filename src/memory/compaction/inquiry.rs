//! What a model is asked for one compaction: each part by itself, and, of a long list, the parts as one (G24).
//!
//! Unit: a part, which is one text made in as many requests as its window takes. Data are fenced, no tools are offered,
//! and what the person wants kept is fenced, too.

use std::num::NonZeroUsize;

use super::job::CannotCompact;
use super::strategies::Kind;
use crate::chat::Tokens;
use crate::memory::fenced;
use crate::memory::prompts::{Prompt, Prompts};
use crate::memory::writing::Writing;

/// Lists longer than this are summarised in chunks.
const SINGLE: usize = 100;
/// Messages of a chunk.
const CHUNK: usize = 25;
const MAX_CHUNK: usize = 60;
/// Chunks that are asked for at once.
pub const PARALLEL: usize = 3;

/// See the module. Without parts there is nothing to ask.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inquiry {
    pub parts: Vec<Part>,
    merge: Option<Merge>,
}

/// A text to be written, and what takes its place where it cannot be had.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub writing: Writing,
    pub snippets: String,
}

#[derive(Clone, Debug, PartialEq)]
struct Merge {
    instruction: String,
    earlier: Vec<String>,
    room: Tokens,
    answer: Tokens,
}

/// The texts and limits that an inquiry is made with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manner {
    pub(super) instruction: String,
    pub(super) merge: String,
    pub(super) answer: Tokens,
    pub(super) temperature: Option<f32>,
}

impl Manner {
    pub(super) fn new(asks: super::strategies::Asks<'_>, prompts: &Prompts, focus: &str) -> Self {
        Self {
            instruction: with_focus(asks.prompt, prompts, focus),
            merge: with_focus(&prompts.compact_merge, prompts, focus),
            answer: asks.answer,
            temperature: asks.temperature,
        }
    }
}

/// A prompt, with what the person wants kept.
pub fn with_focus(prompt: &Prompt, prompts: &Prompts, focus: &str) -> String {
    let text = prompt.text.trim();
    match focus.trim() {
        "" => text.to_owned(),
        focus => {
            let focus = prompts.compact_focus.fill(&[("focus", &fenced(focus))]);
            format!("{text}\n\n{}", focus.trim())
        }
    }
}

/// Whether a model that has room for so much in a request can write a summary at all.
pub fn can_write(prompts: &Prompts, room: Tokens) -> bool {
    let asks = Kind::Compact.asks(prompts, false);
    let instruction = &asks.prompt.text;
    Writing::new(instruction, String::new(), Vec::new(), room, asks.answer).is_ok()
}

/// One message as text, and as a few words.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// Where the message stands in the session.
    pub(super) at: usize,
    pub(super) text: String,
    pub(super) snippet: String,
}

/// What to ask. `listed`: messages of the whole list that is compacted; `room`: what one request may cost.
pub(super) fn inquiry(
    manner: &Manner,
    earlier: &[String],
    lines: &[Line],
    listed: Option<usize>,
    room: Tokens,
) -> Result<Inquiry, CannotCompact> {
    let is_long = listed.is_some_and(|listed| listed > SINGLE);
    let chunks: Vec<&[Line]> = if is_long {
        lines.chunks(chunk(lines.len()).get()).collect()
    } else {
        vec![lines]
    };
    let is_merged = chunks.len() > 1;
    let first = if is_merged {
        String::new()
    } else {
        earlier.join("\n\n")
    };
    let parts = chunks.into_iter().map(|lines| {
        let material = lines.iter().map(|line| line.text.clone()).collect();
        let snippets = lines.iter().map(|line| line.snippet.as_str());
        let snippets: Vec<&str> = snippets.collect();
        let writing = Writing::new(
            &manner.instruction,
            first.clone(),
            material,
            room,
            manner.answer,
        );
        let mut writing = writing.map_err(|_| CannotCompact::WindowTooSmall)?;
        writing.temperature = manner.temperature;
        Ok(Part {
            writing,
            snippets: snippets.join("\n"),
        })
    });
    Ok(Inquiry {
        parts: parts.collect::<Result<_, _>>()?,
        merge: is_merged.then(|| Merge {
            instruction: manner.merge.clone(),
            earlier: earlier.to_vec(),
            room,
            answer: manner.answer,
        }),
    })
}

/// Messages of a chunk: about 25, so that none is left with fewer than 15, and never more than 60.
fn chunk(messages: usize) -> NonZeroUsize {
    let chunks = ((messages + CHUNK / 2) / CHUNK).max(1);
    let size = messages.div_ceil(chunks).min(MAX_CHUNK);
    NonZeroUsize::new(size).unwrap_or(NonZeroUsize::MIN)
}

impl Inquiry {
    /// The request that makes one text of those of the parts; `None` where there was one part, or no room for it.
    pub fn merge(&self, texts: &[String]) -> Option<Writing> {
        let merge = self.merge.as_ref()?;
        let material = merge.earlier.iter().chain(texts).cloned().collect();
        Writing::new(
            &merge.instruction,
            String::new(),
            material,
            merge.room,
            merge.answer,
        )
        .ok()
    }

    /// The texts of the parts one after the other, where nothing better can be had.
    pub fn joined(&self, texts: &[String]) -> String {
        let earlier = self.merge.iter().flat_map(|merge| &merge.earlier);
        let texts: Vec<&str> = earlier.chain(texts).map(String::as_str).collect();
        texts.join("\n\n")
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_about_25_and_between_15_and_60() {
        for messages in 80..2_000 {
            let size = chunk(messages).get();
            let last = messages - (messages - 1) / size * size;
            assert!((15..=60).contains(&size), "{messages}: {size}");
            assert!(last > 0 && last <= size, "{messages}: {last}");
        }
        assert_eq!((chunk(100).get(), chunk(101).get()), (25, 26));
    }
}
