//! The `code` mode: the task and how far it is, files, errors, changes (C40-C48).

use std::sync::Arc;

use super::tracked::Tracked;
use super::{HybridOptions, MemoryMode, Preset};
use crate::memory::CodeSettings;
use crate::memory::prompts::ModeTexts;
use crate::memory::tracking::readers::Reader;
use crate::memory::tracking::{Board, Freshness, Kind};

pub(super) const NAME: &str = "code";

pub(super) fn create(
    settings: &CodeSettings,
    texts: &ModeTexts,
    reader: Arc<dyn Reader>,
) -> Box<dyn MemoryMode> {
    Box::new(Tracked {
        preset: Preset {
            name: NAME.to_owned(),
            summary: "Programming, debugging, code review".to_owned(),
            window: settings.working_memory_size,
            prompt: texts.prompt.clone(),
            freshness: Freshness::Always,
            hybrid: HybridOptions {
                summarization: settings.summarization,
                vector_recall_k: settings.vector_recall_k,
            },
        },
        reader,
        board: Board::new(&[
            (Kind::Task, None),
            (Kind::Step, None),
            (Kind::Progress, None),
            (Kind::Blocker, None),
            (Kind::File, Some(settings.max_files)),
            (Kind::Error, Some(settings.max_errors)),
            (Kind::Change, None),
        ]),
        template: texts.block.clone(),
        most_chars: None,
    })
}
