//! The `conversation` mode.

use super::{MemoryMode, Preset, Standard};
use crate::memory::{ConversationSettings, Prompt};

pub(super) const NAME: &str = "conversation";

pub(super) fn create(settings: &ConversationSettings, prompt: Prompt) -> Box<dyn MemoryMode> {
    Standard::boxed(Preset {
        name: NAME.to_owned(),
        summary: "General chat, questions and answers, research".to_owned(),
        window: settings.working_memory_size,
        prompt,
    })
}
