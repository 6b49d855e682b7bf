//! Requests to a model that together write one text: material in parts, each merged into the text so far.
//!
//! Shared by everything that summarises. Pure: the agent asks, this says what.

use super::transcript;
use crate::chat::Tokens;

/// A part smaller than this is not worth a request.
const MIN_PART: Tokens = Tokens(256);

/// One text to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Writing {
    instruction: String,
    /// What is there already; empty at first.
    earlier: String,
    parts: Vec<String>,
    /// Room for the answer of a step.
    pub answer: Tokens,
    /// How freely the model writes, where it is told.
    pub temperature: Option<f32>,
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
        let part = |so_far| room.minus(Tokens::estimate(&instruction) + so_far + Tokens(64));
        let size = Tokens::estimate(&earlier);
        let (earlier, material, part) = if size > answer && part(size).0 < part(answer).0 / 2 {
            // A text of a larger model is material like any other.
            let text = format!("Summary of what came before: {earlier}");
            let material = std::iter::once(text).chain(material).collect();
            (String::new(), material, part(answer))
        } else {
            (earlier, material, part(answer.max(size)))
        };
        if part < MIN_PART {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_a_larger_model_is_cut_into_steps_where_it_would_fill_the_window() {
        let earlier = "The harbour is closed. ".repeat(350);
        let material = vec!["User: hello".to_owned()];
        let room = Tokens(1_700);
        let writing = Writing::new("Summarise.", earlier, material, room, Tokens(2_000)).unwrap();
        let steps = writing.steps();
        assert!(steps > 1);
        let so_far = "x".repeat(writing.answer.chars());
        let requests = (0..steps).map(|step| writing.request(step, &so_far));
        let requests: Vec<String> = requests.collect();
        for request in &requests {
            assert!(Tokens::estimate(request) <= room, "{}", request.len());
        }
        let said = requests.concat().matches("harbour").count();
        assert!((349..=350).contains(&said), "{said}");
        assert!(
            requests
                .last()
                .is_some_and(|last| last.contains("User: hello"))
        );
    }

    #[test]
    fn a_summary_of_a_usual_size_stays_what_is_merged_into() {
        let writing = Writing::new(
            "Summarise.",
            "They spoke of cranes.".to_owned(),
            vec!["User: hello".to_owned()],
            Tokens(1_700),
            Tokens(400),
        );
        let request = writing.unwrap().request(0, "");
        assert!(request.contains("to be merged into the new one:\n<--->\nThey spoke of cranes."));
    }
}
