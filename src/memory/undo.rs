//! What the modes kept before each of the last turns, so that a turn that is taken back takes its notes
//! along. Lives as long as the process; older turns are forgotten here.

use std::collections::VecDeque;

use super::tracking::Edit;
use crate::chat::{ModeStates, Timestamp, TurnId};

/// Turns that can be taken back exactly.
const MOST: usize = 16;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Past(VecDeque<Step>);

#[derive(Debug)]
struct Step {
    turn: TurnId,
    before: ModeStates,
    /// Made by hand after this turn and before the next.
    edits: Vec<(Edit, Timestamp)>,
}

impl Past {
    pub(super) fn remember(&mut self, turn: TurnId, before: ModeStates) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(Step {
            turn,
            before,
            edits: Vec::new(),
        });
    }

    pub(super) fn edited(&mut self, edit: &Edit, at: Timestamp) {
        if let Some(last) = self.0.back_mut() {
            last.edits.push((edit.clone(), at));
        }
    }

    /// What was kept before the last turn, and what was changed by hand since, if that turn is this one.
    pub(super) fn take_back(
        &mut self,
        turn: TurnId,
    ) -> Option<(ModeStates, Vec<(Edit, Timestamp)>)> {
        let step = self.0.pop_back_if(|last| last.turn == turn)?;
        if let Some(last) = self.0.back_mut() {
            last.edits.extend(step.edits.iter().cloned());
        }
        Some((step.before, step.edits))
    }
}
