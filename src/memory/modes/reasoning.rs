//! The `reasoning` mode: goals, constraints, decisions and what led to them (C49-C59).

use std::sync::Arc;

use super::tracked::Tracked;
use super::{HybridOptions, MemoryMode, Preset};
use crate::memory::ReasoningSettings;
use crate::memory::prompts::ModeTexts;
use crate::memory::tracking::readers::Reader;
use crate::memory::tracking::{Board, Freshness, Kind};

pub(super) const NAME: &str = "reasoning";

pub(super) fn create(
    settings: &ReasoningSettings,
    texts: &ModeTexts,
    reader: Arc<dyn Reader>,
) -> Box<dyn MemoryMode> {
    Box::new(Tracked {
        preset: Preset {
            name: NAME.to_owned(),
            summary: "Planning, comparing options, decisions".to_owned(),
            window: settings.working_memory_size,
            prompt: texts.prompt.clone(),
            freshness: Freshness::Within(settings.prefix_max_stale_turns),
            hybrid: HybridOptions {
                summarization: settings.summarization,
                vector_recall_k: settings.vector_recall_k,
            },
        },
        reader,
        board: Board::new(&[
            (Kind::Objective, None),
            (Kind::Phase, None),
            (Kind::Goal, None),
            (Kind::Constraint, None),
            (Kind::Decision, Some(settings.max_decisions)),
            (Kind::Alternative, Some(settings.max_alternatives)),
            (Kind::Assumption, None),
            (Kind::Chain, None),
            (Kind::Question, None),
        ]),
        template: texts.block.clone(),
        most_chars: None,
    })
}
