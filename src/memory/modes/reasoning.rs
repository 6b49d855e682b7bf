//! The `reasoning` mode.

use super::{MemoryMode, Preset, Standard};
use crate::memory::{Prompt, ReasoningSettings};

pub(super) const NAME: &str = "reasoning";

pub(super) fn create(settings: &ReasoningSettings, prompt: Prompt) -> Box<dyn MemoryMode> {
    Standard::boxed(Preset {
        name: NAME.to_owned(),
        summary: "Planning, comparing options, decisions".to_owned(),
        window: settings.working_memory_size,
        prompt,
    })
}
