//! A mode that is a preset, a reader and a board: the standard modes differ in these alone.

use std::sync::Arc;

use serde_json::Value;

use super::{MemoryMode, Preset};
use crate::chat::TurnId;
use crate::context::{Section, SectionKind, Source};
use crate::memory::Prompt;
use crate::memory::tracking::readers::Reader;
use crate::memory::tracking::{Board, By, Exchange};

/// See the module.
#[derive(Debug)]
pub(super) struct Tracked {
    pub(super) preset: Preset,
    pub(super) reader: Arc<dyn Reader>,
    pub(super) board: Board,
    /// How the board speaks in a request.
    pub(super) template: Prompt,
    /// Characters of that at most, where the mode has a limit.
    pub(super) most_chars: Option<usize>,
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
            .block(&self.template.text, freshness, self.most_chars);
        let source = Source::Tracker(self.preset.name.clone());
        let section = block.map(|block| Section::system(SectionKind::ModeState, source, block));
        section.into_iter().collect()
    }

    fn state(&self) -> Value {
        self.board.to_value()
    }

    fn restore(&mut self, state: Value) -> Vec<String> {
        self.board.restore(state)
    }

    fn board(&self) -> Option<&Board> {
        Some(&self.board)
    }

    fn board_mut(&mut self) -> Option<&mut Board> {
        Some(&mut self.board)
    }
}
