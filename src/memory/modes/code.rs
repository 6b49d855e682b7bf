//! The `code` mode.

use super::{MemoryMode, Preset, Standard};
use crate::memory::{CodeSettings, Prompt};

pub(super) const NAME: &str = "code";

pub(super) fn create(settings: &CodeSettings, prompt: Prompt) -> Box<dyn MemoryMode> {
    Standard::boxed(Preset {
        name: NAME.to_owned(),
        summary: "Programming, debugging, code review".to_owned(),
        window: settings.working_memory_size,
        prompt,
    })
}
