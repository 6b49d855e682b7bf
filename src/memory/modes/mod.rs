//! Memory modes: what a session pays attention to. A mode is a preset, a prompt addition and a tracker; a
//! new one is a function in `standard.rs` and a line in [`Registry::standard`].

mod registry;
mod standard;

use std::fmt;

use serde_json::Value;

use super::Prompt;
use super::tracking::{Board, Exchange, Freshness};
use crate::chat::TurnId;
use crate::context::Section;

pub use registry::{BadMode, Registry};

/// One way of remembering. Total: nothing in it can fail or wait.
pub trait MemoryMode: Send + Sync + fmt::Debug {
    fn preset(&self) -> &Preset;

    /// Reads one finished turn. Every mode reads every turn, whichever is active, so that switching
    /// modes loses nothing (C66).
    fn observe(&mut self, turn: TurnId, exchange: &Exchange<'_>);

    /// What the mode has to say in the next request.
    fn sections(&self) -> Vec<Section>;

    /// The state to keep in `{session}_mode_state.json`.
    fn state(&self) -> Value {
        self.board().map_or(Value::Null, Board::to_value)
    }

    /// Takes up a kept state; unknown fields it keeps, what it cannot read it leaves at its defaults and
    /// tells by its place.
    fn restore(&mut self, state: Value) -> Vec<String> {
        let board = self.board_mut();
        board.map_or_else(Vec::new, |board| board.restore(state))
    }

    /// What it keeps about the work, where it keeps anything.
    fn board(&self) -> Option<&Board> {
        None
    }

    /// For changes by hand.
    fn board_mut(&mut self) -> Option<&mut Board> {
        None
    }
}

/// What a mode is, before anything was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    pub name: String,
    /// What it is best for, in one line (C35).
    pub summary: String,
    /// Messages of the sliding window (C1).
    pub window: usize,
    /// The system-prompt addition (C4).
    pub prompt: Prompt,
    /// How long what its tracker noted is sent (C58).
    pub freshness: Freshness,
    pub hybrid: HybridOptions,
}

/// What a mode takes of the hybrid layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HybridOptions {
    /// Whether what left the window is summarised, and the summary sent (C24).
    pub summarization: bool,
    /// Exchanges that recall may bring into a request; 0 turns it off (C18, C25).
    pub vector_recall_k: usize,
}
