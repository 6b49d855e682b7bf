//! Requests to a model that together write one text: material in parts, each merged into the text so far.
//!
//! Shared by everything that summarises. Pure: the agent asks, this says what.

use super::transcript;
use crate::chat::Tokens;

/// A part smaller than this is not worth a request.
const LEAST_PART: Tokens = Tokens(256);

/// One text to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Writing {
    instruction: String,
    /// What is there already; empty at first.
    earlier: String,
    parts: Vec<String>,
    answer: Tokens,
    temperature: Option<f32>,
}

/// The window of the model is too small to write in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowTooSmall;

impl Writing {
    /// `material` are labelled messages; `room` is what one request may cost, `answer` what its answer may.
    pub fn new(
        instruction: &str,
        earlier: String,
        material: Vec<String>,
        room: Tokens,
        answer: Tokens,
    ) -> Result<Self, WindowTooSmall> {
        let instruction = instruction.trim().to_owned();
        let answer = answer.min(Tokens(room.0 / 4));
        // Instruction, text so far and fences are in every request beside its part.
        let so_far = answer.max(Tokens::estimate(&earlier));
        let part = room.minus(Tokens::estimate(&instruction) + so_far + Tokens(64));
        if part < LEAST_PART {
            return Err(WindowTooSmall);
        }
        Ok(Self {
            instruction,
            earlier,
            parts: transcript::parts(material, part),
            answer,
            temperature: None,
        })
    }

    /// How many requests it takes.
    pub fn steps(&self) -> usize {
        self.parts.len()
    }

    /// The user message of one step; `so_far` is what the step before it answered.
    pub fn request(&self, step: usize, so_far: &str) -> String {
        let part = self.parts.get(step).map_or("", String::as_str);
        let material = transcript::fenced(part);
        let so_far = if step == 0 { &self.earlier } else { so_far };
        if so_far.is_empty() {
            return format!("{}\n\n{material}", self.instruction);
        }
        let earlier = transcript::fenced(so_far);
        format!(
            "{}\n\nThe summary of what came before, to be merged into the new one:\n{earlier}\n\nWhat followed:\n{material}",
            self.instruction
        )
    }

    /// How freely the model writes, where it is told.
    pub fn temperature(&self) -> Option<f32> {
        self.temperature
    }

    #[must_use]
    pub fn at_temperature(self, temperature: Option<f32>) -> Self {
        Self {
            temperature,
            ..self
        }
    }

    /// Room for the answer of a step.
    pub fn answer(&self) -> Tokens {
        self.answer
    }
}
