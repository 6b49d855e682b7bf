//! An answer of the terminal for which nobody waits any more: it arrives as keys, which are not to be taken for typed ones.
//! Unit: one key.

use rustyline::{Cmd, Event, KeyCode, KeyEvent, Modifiers};

use super::shared::event_keys;

/// What is known of answers.
#[derive(Debug, Default)]
pub(super) struct LateAnswer {
    come: Come,
    /// The terminal has not said yet what it can do.
    is_due: bool,
}

/// What has come of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Come {
    #[default]
    Nothing,
    /// So many keys of its background's colour: `Alt-]`, `11;rgb:…`, `Alt-\` or Ctrl-G.
    Color(usize),
    /// Of what it can do: a sequence that is no key, `62;22c`.
    Attributes,
}

impl LateAnswer {
    pub(super) fn new(is_due: bool) -> Self {
        Self {
            is_due,
            ..Self::default()
        }
    }

    /// Lets a key pass that belongs to an answer; `None` where it is a key.
    pub(super) fn pass(&mut self, event: &Event) -> Option<Cmd> {
        /// No answer is longer.
        const MAX: usize = 64;
        let &[KeyEvent(code, modifiers)] = event_keys(event) else {
            return None;
        };
        let next = match (self.come, code, modifiers) {
            (Come::Nothing, KeyCode::Char(']'), Modifiers::ALT) => Come::Color(0),
            (Come::Nothing, KeyCode::UnknownEscSeq, _) if self.is_due => Come::Attributes,
            // The keys of vi take digits for a count.
            (Come::Color(0), KeyCode::Char('1' | ';'), Modifiers::NONE) => Come::Color(1),
            (Come::Color(1), KeyCode::Char('1' | ';' | 'r'), Modifiers::NONE) => Come::Color(2),
            (Come::Color(2..), KeyCode::Char('G'), Modifiers::CTRL)
            | (Come::Color(2..), KeyCode::Char('\\'), Modifiers::ALT) => Come::Nothing,
            (Come::Color(keys @ 2..MAX), KeyCode::Char(key), Modifiers::NONE)
                if key.is_ascii_alphanumeric() || ";:/".contains(key) =>
            {
                Come::Color(keys + 1)
            }
            (Come::Attributes, KeyCode::Char('0'..='9' | ';'), Modifiers::NONE) => Come::Attributes,
            (Come::Attributes, KeyCode::Char('c'), Modifiers::NONE) => {
                self.is_due = false;
                Come::Nothing
            }
            (Come::Nothing | Come::Color(_) | Come::Attributes, ..) => {
                self.come = Come::Nothing;
                return None;
            }
        };
        self.come = next;
        Some(Cmd::Noop)
    }
}
