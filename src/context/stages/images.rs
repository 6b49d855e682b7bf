//! Pictures are sent with their own turn and for a while after it; then their names stand for them.
//!
//! Only the copy that is sent is changed; history keeps which pictures there were.

use crate::chat::{Message, Part};
use crate::context::{Draft, SectionKind};

/// Newest turns of the past whose pictures are sent again.
const TURNS: usize = 2;

/// Which pictures a request may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// Those of this turn and of the newest of the past.
    Recent,
    /// The model takes none.
    None,
}

/// A draft in which names stand for pictures that are not sent.
#[must_use]
pub fn named(mut draft: Draft, pictures: Pictures) -> Draft {
    let mut left = match pictures {
        Pictures::Recent => TURNS,
        Pictures::None => 0,
    };
    for section in draft.sections.iter_mut().rev() {
        let is_sent = match section.kind {
            SectionKind::Input => pictures == Pictures::Recent,
            kind if kind.is_history() => {
                let is_sent = left > 0;
                left = left.saturating_sub(1);
                is_sent
            }
            _ => false,
        };
        let has_any = section.as_messages().iter().any(has_image);
        if has_any && !is_sent {
            section.edit(|messages| messages.iter_mut().for_each(name));
        }
    }
    draft
}

fn has_image(message: &Message) -> bool {
    let mut parts = message.parts.iter();
    parts.any(|part| matches!(part, Part::Image(_)))
}

fn name(message: &mut Message) {
    for part in &mut message.parts {
        if let Part::Image(image) = part {
            *part = Part::Text(image.mark());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Image, MessageId, Role, TurnId};
    use crate::context::{Section, Source};

    fn turn(n: u32, kind: SectionKind) -> Section {
        let mut message = Message::text(MessageId::numbered(n.into()), Role::User, "see", None);
        message.parts.push(Part::Image(Image {
            name: format!("{n}.png"),
            media_type: "image/png".into(),
            sha256: "0".repeat(64),
        }));
        Section::messages(kind, Source::Turn(TurnId(n)), vec![message])
    }

    #[test]
    fn pictures_of_this_turn_and_of_two_before_it_are_sent() {
        for (pictures, expected) in [
            (Pictures::Recent, vec![false, true, true, true]),
            (Pictures::None, vec![false; 4]),
        ] {
            let window = (1..=3).map(|n| turn(n, SectionKind::Window));
            let sections: Vec<Section> = window.chain([turn(4, SectionKind::Input)]).collect();
            let draft = Draft {
                sections,
                beyond: 0,
            };
            let named = named(draft, pictures);
            let sent = named.sections.iter();
            let sent: Vec<bool> = sent.map(|one| has_image(&one.as_messages()[0])).collect();
            assert_eq!(sent, expected);
            let first = &named.sections[0];
            assert_eq!(first.as_messages()[0].said(), "see\n[image 1.png]");
            assert!(first.cost() < Image::COST);
        }
    }
}
