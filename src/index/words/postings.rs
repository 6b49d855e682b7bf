//! Where a term stands: places in ascending order with how often, packed into two or three bytes each.
//!
//! ```text
//!  each place:  varint( (place - last place) * 2 + more )   and, if more, varint( count - 2 )
//! ```
//!
//! The first place counts from -1, so that no difference is 0.
//! Invariant: the bytes decode into `messages` places, ascending, of which the last is `last`.

use std::ops::Range;

use super::varint;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Postings {
    bytes: Vec<u8>,
    /// The last place plus one; 0 when empty.
    after: u32,
    messages: u32,
}

impl Postings {
    /// A term of one message.
    pub(super) fn of(place: u32, count: u32) -> Self {
        let mut postings = Self::default();
        postings.push(place, count);
        postings
    }

    /// How many messages have the term.
    pub(super) fn messages(&self) -> u32 {
        self.messages
    }

    /// Adds a place beyond all that are there.
    pub(super) fn push(&mut self, place: u32, count: u32) {
        debug_assert!(place >= self.after && count > 0, "places ascend");
        let more = u64::from(count > 1);
        varint::write(
            &mut self.bytes,
            u64::from(place + 1 - self.after) * 2 + more,
        );
        if count > 1 {
            varint::write(&mut self.bytes, u64::from(count - 2));
        }
        self.after = place + 1;
        self.messages += 1;
    }

    /// Each place with its count.
    fn counts(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut rest = self.bytes.as_slice();
        let mut after = 0;
        std::iter::from_fn(move || {
            let (difference, count) = next(&mut rest)?;
            after += difference;
            Some((after - 1, count))
        })
    }

    /// Each place with its count, ready to be weighed.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a count is weighed from here on"
    )]
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.counts().map(|(place, count)| (place, count as f32))
    }

    /// Takes these places out, as far as they are there.
    pub(super) fn withdraw(&mut self, places: &Range<u32>) {
        if self.after > places.start && self.counts().any(|(place, _)| places.contains(&place)) {
            self.retain(|place| !places.contains(&place));
        }
    }

    /// Takes out this place and all beyond.
    pub(super) fn truncate(&mut self, place: u32) {
        if self.after > place {
            self.retain(|other| other < place);
        }
    }

    fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let mut kept = Self::default();
        for (place, count) in self.counts().filter(|(place, _)| keep(*place)) {
            kept.push(place, count);
        }
        *self = kept;
    }

    /// The packed form.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// From the packed form, if that is sound and no place is `limit` or more.
    pub(super) fn from_bytes(bytes: &[u8], limit: u32) -> Option<Self> {
        let mut rest = bytes;
        let (mut after, mut messages) = (0_u32, 0);
        while !rest.is_empty() {
            let (difference, _) = next(&mut rest)?;
            after = after
                .checked_add(difference)
                .filter(|after| difference > 0 && *after <= limit)?;
            messages += 1;
        }
        Some(Self {
            bytes: bytes.to_owned(),
            after,
            messages,
        })
    }
}

/// The next difference and count.
fn next(rest: &mut &[u8]) -> Option<(u32, u32)> {
    let head = varint::read(rest)?;
    let count = match head & 1 {
        0 => 1,
        _ => u32::try_from(varint::read(rest)?).ok()?.checked_add(2)?,
    };
    Some((u32::try_from(head >> 1).ok()?, count))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    fn packed(places: &BTreeMap<u32, u32>) -> Postings {
        let mut postings = Postings::default();
        for (place, count) in places {
            postings.push(*place, *count);
        }
        postings
    }

    proptest! {
        #[test]
        fn places_come_back_as_they_went_in(
            places in prop::collection::btree_map(0..u32::MAX - 1, 1..u32::MAX, 0..20),
        ) {
            let postings = packed(&places);
            prop_assert_eq!(postings.counts().collect::<BTreeMap<_, _>>(), places);
            let read = Postings::from_bytes(postings.bytes(), u32::MAX);
            prop_assert_eq!(read, Some(postings));
        }

        #[test]
        fn a_place_withdrawn_was_never_there(
            mut places in prop::collection::btree_map(0..40_u32, 1..4_u32, 1..20),
            place in 0..40_u32,
        ) {
            let mut postings = packed(&places);
            postings.withdraw(&(place..place + 1));
            places.remove(&place);
            prop_assert_eq!(&postings, &packed(&places));
            postings.truncate(place);
            places.retain(|other, _| *other < place);
            prop_assert_eq!(postings, packed(&places));
        }

        #[test]
        fn any_bytes_are_sound_or_refused(bytes: Vec<u8>, limit: u32) {
            if let Some(postings) = Postings::from_bytes(&bytes, limit) {
                prop_assert!(postings.counts().all(|(place, _)| place < limit));
                prop_assert_eq!(postings.counts().count(), postings.messages() as usize);
            }
        }
    }
}
