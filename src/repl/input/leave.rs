//! When Ctrl-C and Ctrl-D leave: Ctrl-D at once, Ctrl-C the second time in a row on an empty line (A3).

use super::Line;

/// What the loop does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Goes on with the line.
    Continue,
    /// Says that the same key once more leaves.
    Warn,
    Leave,
}

/// Remembers whether the last thing was a Ctrl-C on an empty line.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeaveKeys {
    is_warned: bool,
}

impl LeaveKeys {
    pub fn step(&mut self, line: &Line) -> Step {
        let was_warned = std::mem::replace(&mut self.is_warned, *line == Line::Interrupted);
        match line {
            Line::Text(_) | Line::Cleared => Step::Continue,
            Line::Interrupted if was_warned => Step::Leave,
            Line::Interrupted => Step::Warn,
            Line::Eof => Step::Leave,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_interrupts_in_a_row_on_an_empty_line_leave_and_anything_between_starts_over() {
        let steps = |lines: &[Line]| {
            let mut keys = LeaveKeys::default();
            lines.iter().map(|line| keys.step(line)).collect::<Vec<_>>()
        };
        let text = || Line::Text("hi".to_owned());
        let (interrupted, cleared) = (Line::Interrupted, Line::Cleared);
        for (lines, expected) in [
            (vec![interrupted.clone(); 2], vec![Step::Warn, Step::Leave]),
            (
                vec![interrupted.clone(), text(), interrupted.clone()],
                vec![Step::Warn, Step::Continue, Step::Warn],
            ),
            (
                vec![cleared.clone(), interrupted.clone(), cleared, interrupted],
                vec![Step::Continue, Step::Warn, Step::Continue, Step::Warn],
            ),
            (vec![Line::Eof], vec![Step::Leave]),
        ] {
            assert_eq!(steps(&lines), expected, "{lines:?}");
        }
    }
}
