//! What of a session's messages was forgotten: places, not words. Unit: a range of bytes within a part of a message.
//!
//! Invariant: history keeps what was said, everybody who reads a session sees [`FORGOTTEN`] instead. Where the text at
//! a place is another one by now, the whole part is masked: too much is forgotten rather than too little.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use sha2::{Digest, Sha256};

use super::{Message, MessageId, Part};
use crate::text::ranges::{merged, replaced};
use crate::text::statement::FORGOTTEN;

/// Places by message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redactions {
    masks: BTreeMap<MessageId, Vec<Mask>>,
    /// Whether another process put places here that the session's owner has not seen yet.
    pub is_pending: bool,
}

/// One place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mask {
    /// Which part of the message.
    pub part: usize,
    pub start: usize,
    pub end: usize,
    /// Of the text there.
    pub digest: String,
}

impl Mask {
    /// The mask of a range; `None` where the message has no such place.
    pub fn of(message: &Message, part: usize, range: Range<usize>) -> Option<Self> {
        let text = text_of(message.parts.get(part)?)?.get(range.clone())?;
        Some(Self {
            part,
            start: range.start,
            end: range.end,
            digest: digest(text),
        })
    }

    fn fits(&self, text: &str) -> bool {
        text.get(self.start..self.end)
            .is_some_and(|text| digest(text) == self.digest)
    }
}

impl Redactions {
    pub fn is_empty(&self) -> bool {
        self.masks.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&MessageId, &[Mask])> {
        self.masks.iter().map(|(id, masks)| (id, masks.as_slice()))
    }

    /// Places in a message.
    pub fn of(&self, id: &MessageId) -> &[Mask] {
        self.masks.get(id).map_or(&[], Vec::as_slice)
    }

    /// Adds a place, unless it is there.
    pub fn add(&mut self, id: &MessageId, mask: Mask) {
        let masks = self.masks.entry(id.clone()).or_default();
        if let Err(at) = masks.binary_search(&mask) {
            masks.insert(at, mask);
        }
    }

    /// Adds the places of another.
    pub fn join(&mut self, other: &Self) {
        for (id, masks) in other.iter() {
            for mask in masks {
                self.add(id, mask.clone());
            }
        }
        self.is_pending |= other.is_pending;
    }

    /// Lets go of all places in these messages.
    pub fn drop_messages(&mut self, gone: impl Fn(&MessageId) -> bool) {
        self.masks.retain(|id, _| !gone(id));
    }

    /// The message as everybody sees it; `None` where nothing of it was forgotten.
    pub fn masked(&self, message: &Message) -> Option<Message> {
        let masks = self.masks.get(&message.id)?;
        let mut masked = message.clone();
        for (number, part) in masked.parts.iter_mut().enumerate() {
            let of_part: Vec<&Mask> = masks.iter().filter(|mask| mask.part == number).collect();
            let is_call = matches!(part, Part::ToolCall(_));
            let Some(text) = text_of_mut(part).filter(|_| !of_part.is_empty()) else {
                continue;
            };
            if of_part.iter().all(|mask| mask.fits(text)) {
                let places = of_part.iter().map(|mask| mask.start..mask.end).collect();
                *text = replaced(text, merged(places), FORGOTTEN);
            } else if text.contains(FORGOTTEN) {
                // It was struck from history, too.
            } else if is_call {
                "{}".clone_into(text);
            } else {
                FORGOTTEN.clone_into(text);
            }
        }
        Some(masked)
    }

    /// The texts that were forgotten of a message.
    pub fn texts<'m>(&self, message: &'m Message) -> Vec<&'m str> {
        let masks = self.of(&message.id).iter();
        let texts = masks.filter_map(|mask| {
            let text = text_of(message.parts.get(mask.part)?)?;
            mask.fits(text).then(|| &text[mask.start..mask.end])
        });
        texts.collect()
    }
}

/// The text of a part that can be forgotten.
pub fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) => Some(text),
        Part::ToolCall(call) => Some(&call.arguments),
        Part::ToolResult { output, .. } => Some(output),
        Part::Attached(attached) => Some(&attached.text),
        Part::Image(_) => None,
    }
}

fn text_of_mut(part: &mut Part) -> Option<&mut String> {
    match part {
        Part::Text(text) => Some(text),
        Part::ToolCall(call) => Some(&mut call.arguments),
        Part::ToolResult { output, .. } => Some(output),
        Part::Attached(attached) => Some(&mut attached.text),
        Part::Image(_) => None,
    }
}

/// Tells whether a text is the one that was forgotten, without keeping it.
fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let (first, _) = digest.split_at(8);
    first.iter().fold(String::new(), |mut hex, byte| {
        // A string takes whatever is written.
        write!(hex, "{byte:02x}").ok();
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Role;

    fn message(text: &str) -> Message {
        Message::text(MessageId::numbered(1), Role::User, text, None)
    }

    #[test]
    fn a_place_is_masked_exactly_and_another_text_there_masks_the_whole_part() {
        let said = message("Grüße! Моя сестра Гульнора. 再见");
        let start = said.said().find("Моя").unwrap();
        let end = said.said().find(" 再见").unwrap();
        let mut forgotten = Redactions::default();
        forgotten.add(&said.id, Mask::of(&said, 0, start..end).unwrap());
        assert_eq!(
            forgotten.masked(&said).unwrap().said(),
            "Grüße! [forgotten] 再见"
        );
        assert_eq!(forgotten.texts(&said), ["Моя сестра Гульнора."]);
        let edited = message("Grüße!! Моя сестра Гульнора. 再见");
        assert_eq!(forgotten.masked(&edited).unwrap().said(), "[forgotten]");
        let other = Message::text(MessageId::numbered(2), Role::User, "x", None);
        assert_eq!(forgotten.masked(&other), None);
        assert_eq!(Mask::of(&said, 0, 1..start + 1), None, "within a character");
    }

    #[test]
    fn places_that_overlap_become_one_mark() {
        let said = message("one two three four");
        let mut forgotten = Redactions::default();
        for range in [4..13, 0..7, 4..7] {
            forgotten.add(&said.id, Mask::of(&said, 0, range).unwrap());
        }
        assert_eq!(forgotten.masked(&said).unwrap().said(), "[forgotten] four");
    }
}
