//! Memory modes: what a session pays attention to. A mode is a preset, a prompt addition and a state of
//! its own; a new one is a file here and a line in [`Registry::standard`].

mod code;
mod conversation;
mod reasoning;
mod registry;
mod state;

use std::fmt;

use serde_json::Value;

use crate::chat::{Message, Session};
use crate::context::Section;

pub use registry::{BadMode, Registry};
pub use state::ModeState;

use super::Prompt;

/// One way of remembering. Total: nothing in it can fail or wait.
pub trait MemoryMode: Send + Sync + fmt::Debug {
    fn preset(&self) -> &Preset;

    /// Reads one finished turn. Every mode reads every turn, whichever is active, so that switching
    /// modes loses nothing (C66).
    fn observe(&mut self, session: &Session, turn: &[Message]);

    /// What the mode has to say in the next request.
    fn sections(&self) -> Vec<Section>;

    /// The state to keep in `{session}_mode_state.json`.
    fn state(&self) -> Value;

    /// Takes up a kept state; what it cannot read it leaves at its defaults, unknown fields it keeps.
    fn restore(&mut self, state: Value);
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
}

/// A mode that is its preset and counts its turns.
#[derive(Debug)]
struct Standard {
    preset: Preset,
    state: ModeState,
}

impl Standard {
    fn boxed(preset: Preset) -> Box<dyn MemoryMode> {
        Box::new(Self {
            preset,
            state: ModeState::default(),
        })
    }
}

impl MemoryMode for Standard {
    fn preset(&self) -> &Preset {
        &self.preset
    }

    fn observe(&mut self, _session: &Session, _turn: &[Message]) {
        self.state.turn_count += 1;
    }

    fn sections(&self) -> Vec<Section> {
        Vec::new()
    }

    fn state(&self) -> Value {
        self.state.to_value()
    }

    fn restore(&mut self, state: Value) {
        self.state = ModeState::from_value(state);
    }
}
