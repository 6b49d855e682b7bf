//! The `conversation` mode: topics, names, facts (C38).

use std::sync::Arc;

use super::tracked::Tracked;
use super::{HybridOptions, MemoryMode, Preset};
use crate::memory::ConversationSettings;
use crate::memory::prompts::ModeTexts;
use crate::memory::tracking::readers::Reader;
use crate::memory::tracking::{Board, Freshness, Kind};

pub(super) const NAME: &str = "conversation";

/// Characters of the block in a request.
const MAX: usize = 300;

pub(super) fn create(
    settings: &ConversationSettings,
    texts: &ModeTexts,
    reader: Arc<dyn Reader>,
) -> Box<dyn MemoryMode> {
    Box::new(Tracked {
        preset: Preset {
            name: NAME.to_owned(),
            summary: "General chat, questions and answers, research".to_owned(),
            window: settings.working_memory_size,
            prompt: texts.prompt.clone(),
            freshness: if settings.inject_entities {
                Freshness::Always
            } else {
                Freshness::Never
            },
            hybrid: HybridOptions {
                summarization: settings.summarization,
                vector_recall_k: settings.vector_recall_k,
            },
        },
        reader,
        board: Board::new(&[Kind::Topic, Kind::Entity, Kind::Fact].map(|kind| (kind, None))),
        template: texts.block.clone(),
        most_chars: Some(MAX),
    })
}
