//! Texts pinned to a session: they stand in every request, whatever is summarised, kept in `{session}_pins.json` (G12).
//!
//! Unit: one pin. Invariant: a pin is added only while all together take at most [`Pins::MAX_BYTES`]; a number is given
//! once.

use super::record::TextVisitor;
use super::{Timestamp, Unknown};

/// A text and its number.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    pub id: u32,
    pub text: String,
    pub at: Option<Timestamp>,
    pub unknown: Unknown,
}

/// The pins of a session, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Pins {
    list: Vec<Pin>,
    /// The number that the next one gets.
    next: u32,
    pub unknown: Unknown,
}

/// A text that is not pinned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPinned {
    #[error("nothing to pin: the text is empty")]
    Empty,
    #[error("the pins would take {} bytes, the limit is {}", .bytes, Pins::MAX_BYTES)]
    TooMany { bytes: usize },
}

impl Default for Pins {
    fn default() -> Self {
        Self::restore(Vec::new(), 1, Unknown::new())
    }
}

impl Pins {
    /// Bytes of all pins together.
    pub const MAX_BYTES: usize = 64 << 10;

    /// What a file holds; of pins with one number the later get new ones.
    pub fn restore(list: Vec<Pin>, next: u32, unknown: Unknown) -> Self {
        let highest = list.iter().map(|pin| pin.id).max().unwrap_or(0);
        let mut pins = Self {
            list: Vec::with_capacity(list.len()),
            next: next.max(highest.saturating_add(1)),
            unknown,
        };
        for mut pin in list {
            if pin.id == 0 || pins.list.iter().any(|it| it.id == pin.id) {
                pin.id = pins.next_id();
            }
            pins.list.push(pin);
        }
        pins
    }

    pub fn iter(&self) -> impl Iterator<Item = &Pin> {
        self.list.iter()
    }

    pub(super) fn visit_texts(&mut self, visit: &mut TextVisitor<'_>) {
        self.list
            .iter_mut()
            .for_each(|pin| visit("", &mut pin.text));
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number that the next pin gets.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Bytes of all texts.
    pub fn bytes(&self) -> usize {
        self.list.iter().map(|pin| pin.text.len()).sum()
    }

    /// Pins a text; one that is pinned already keeps its number.
    pub fn pin(&mut self, text: &str, at: Timestamp) -> Result<u32, NotPinned> {
        let text = text.trim();
        if text.is_empty() {
            return Err(NotPinned::Empty);
        }
        if let Some(pin) = self.list.iter().find(|pin| pin.text == text) {
            return Ok(pin.id);
        }
        let bytes = self.bytes() + text.len();
        if bytes > Self::MAX_BYTES {
            return Err(NotPinned::TooMany { bytes });
        }
        let id = self.next_id();
        self.list.push(Pin {
            id,
            text: text.to_owned(),
            at: Some(at),
            unknown: Unknown::new(),
        });
        Ok(id)
    }

    pub fn unpin(&mut self, id: u32) -> Option<Pin> {
        let place = self.list.iter().position(|pin| pin.id == id)?;
        Some(self.list.remove(place))
    }

    /// Unpins all; tells how many there were.
    pub fn clear(&mut self) -> usize {
        self.list.drain(..).count()
    }

    fn next_id(&mut self) -> u32 {
        let id = self.next;
        self.next = id.saturating_add(1);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_unix(0).unwrap()
    }

    #[test]
    fn numbers_are_given_once_and_a_text_is_pinned_once() {
        let mut pins = Pins::default();
        assert_eq!(pins.pin(" one ", now()), Ok(1));
        assert_eq!(pins.pin("two", now()), Ok(2));
        assert_eq!(pins.pin("one", now()), Ok(1));
        assert_eq!(pins.unpin(2).unwrap().text, "two");
        assert_eq!(pins.pin("three", now()), Ok(3));
        assert_eq!((pins.unpin(2), pins.clear()), (None, 2));
        assert_eq!(pins.pin("four", now()), Ok(4));
    }

    #[test]
    fn the_byte_after_the_last_is_refused_with_numbers() {
        let mut pins = Pins::default();
        assert_eq!(pins.pin("  ", now()), Err(NotPinned::Empty));
        let half = "é".repeat(Pins::MAX_BYTES / 4);
        pins.pin(&half, now()).unwrap();
        let bytes = Pins::MAX_BYTES + 1;
        let refused = pins.pin(&"x".repeat(Pins::MAX_BYTES / 2 + 1), now());
        assert_eq!(refused, Err(NotPinned::TooMany { bytes }));
        assert!(refused.unwrap_err().to_string().contains("65537 bytes"));
        pins.pin(&"x".repeat(Pins::MAX_BYTES / 2), now()).unwrap();
    }

    #[test]
    fn pins_of_a_file_that_was_edited_have_a_number_each() {
        let pin = |id| Pin {
            id,
            text: format!("text {id}"),
            at: None,
            unknown: Unknown::new(),
        };
        let pins = Pins::restore(vec![pin(0), pin(3), pin(3)], 1, Unknown::new());
        let ids: Vec<u32> = pins.iter().map(|pin| pin.id).collect();
        assert_eq!((ids, pins.next()), (vec![4, 3, 5], 6));
    }
}
