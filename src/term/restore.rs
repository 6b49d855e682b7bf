//! The terminal left as it was found. A line editor that waits for a key holds the terminal in raw mode
//! on a thread that nobody can cancel; whoever ends the process gives back what is remembered here.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};

use rustix::termios::{self, OptionalActions, Termios};

use super::policy::Paint;

/// Ends bracketed paste: the one mode beside the line discipline that is ever switched on.
const PASTE_OFF: &[u8] = b"\x1b[?2004l";

/// How a terminal was set at the start. Dropping it restores that, on a panic too.
pub struct TerminalState {
    terminal: Option<(File, Termios)>,
    paint: Paint,
}

impl TerminalState {
    /// Remembers the terminal on stdin, if there is one.
    pub fn remember(paint: Paint) -> Self {
        Self {
            terminal: remember(io::stdin()).ok(),
            paint,
        }
    }

    /// Gives the terminal back, once. What fails here has no remedy: the terminal is gone.
    pub fn restore(&mut self) {
        let Some((mut terminal, found)) = self.terminal.take() else {
            return;
        };
        let is_there = termios::tcsetattr(&terminal, OptionalActions::Now, &found).is_ok();
        if is_there && self.paint != Paint::Bare {
            drop(terminal.write_all(PASTE_OFF));
        }
    }
}

fn remember(stdin: impl std::os::fd::AsFd) -> io::Result<(File, Termios)> {
    let found = termios::tcgetattr(&stdin)?;
    Ok((File::from(stdin.as_fd().try_clone_to_owned()?), found))
}

impl Drop for TerminalState {
    fn drop(&mut self) {
        self.restore();
    }
}

impl fmt::Debug for TerminalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalState")
            .field("is_terminal", &self.terminal.is_some())
            .finish_non_exhaustive()
    }
}
