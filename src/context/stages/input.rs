//! What the person just said, last in every request.

use crate::chat::Message;
use crate::context::{Section, SectionKind, Source};

/// The input's section; `message` as it is sent, time included.
pub fn section(message: Message) -> Section {
    Section::messages(SectionKind::Input, Source::You, vec![message])
}
