//! The standard modes: each a preset, a reader and a board.
//!
//! ```text
//!  conversation  topics, names, facts (C38)
//!  code          the task and how far it is, files, errors, changes (C40-C48)
//!  reasoning     goals, constraints, decisions and what led to them (C49-C59)
//! ```

use std::sync::Arc;

use super::{HybridOptions, MemoryMode, Preset};
use crate::chat::TurnId;
use crate::context::{Section, SectionKind, Source};
use crate::memory::prompts::ModeTexts;
use crate::memory::tracking::readers::Reader;
use crate::memory::tracking::{Board, By, Exchange, Freshness, Kind};
use crate::memory::{CodeSettings, ConversationSettings, Prompt, ReasoningSettings};

pub(super) const CONVERSATION: &str = "conversation";
pub(super) const CODE: &str = "code";
pub(super) const REASONING: &str = "reasoning";

/// Characters of the block of `conversation` in a request.
const CONVERSATION_CHARS: usize = 300;

/// A mode that is a preset, a reader and a board.
#[derive(Debug)]
pub(super) struct Tracked {
    pub(super) preset: Preset,
    pub(super) reader: Arc<dyn Reader>,
    pub(super) board: Board,
    /// How the board speaks in a request.
    pub(super) template: Prompt,
    /// Characters of that at most, where the mode has a limit.
    pub(super) max_chars: Option<usize>,
}

impl MemoryMode for Tracked {
    fn preset(&self) -> &Preset {
        &self.preset
    }

    fn observe(&mut self, turn: TurnId, exchange: &Exchange<'_>) {
        for fact in self.reader.facts(exchange) {
            self.board.note(fact, By::Tool, exchange.at);
        }
        let findings = self.reader.read(exchange);
        self.board.observe(turn, findings, exchange.at);
    }

    fn sections(&self) -> Vec<Section> {
        let freshness = self.preset.freshness;
        let block = self
            .board
            .block(&self.template.text, freshness, self.max_chars);
        let source = Source::Tracker(self.preset.name.clone());
        let section = block.map(|block| Section::system(SectionKind::ModeState, source, block));
        section.into_iter().collect()
    }

    fn board(&self) -> Option<&Board> {
        Some(&self.board)
    }

    fn board_mut(&mut self) -> Option<&mut Board> {
        Some(&mut self.board)
    }
}

pub(super) fn conversation(
    settings: &ConversationSettings,
    texts: &ModeTexts,
    reader: Arc<dyn Reader>,
) -> Tracked {
    Tracked {
        preset: Preset {
            name: CONVERSATION.to_owned(),
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
        max_chars: Some(CONVERSATION_CHARS),
    }
}

pub(super) fn code(settings: &CodeSettings, texts: &ModeTexts, reader: Arc<dyn Reader>) -> Tracked {
    Tracked {
        preset: Preset {
            name: CODE.to_owned(),
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
        max_chars: None,
    }
}

pub(super) fn reasoning(
    settings: &ReasoningSettings,
    texts: &ModeTexts,
    reader: Arc<dyn Reader>,
) -> Tracked {
    Tracked {
        preset: Preset {
            name: REASONING.to_owned(),
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
        max_chars: None,
    }
}
