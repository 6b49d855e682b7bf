//! The terminal left as it was found. A line editor that waits for a key holds the terminal in raw mode
//! on a thread that nobody can cancel; whoever ends the process gives back what is remembered here.
//!
//! Between two lines keys are neither shown nor collected to lines: what is typed ahead waits for the next prompt, whole.
//! Whoever gets the terminal for a while, a shell behind Ctrl-Z or an editor, gets it as usual ([`Lent`]).

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::thread;

use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group, kill_process};
use rustix::termios::{
    self, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::policy::Paint;

/// Ends bracketed paste: the one mode beside the line discipline that is ever switched on.
const PASTE_OFF: &[u8] = b"\x1b[?2004l";

/// What makes a terminal show what is typed and collect it to lines.
const USUAL: LocalModes = LocalModes::ECHO.union(LocalModes::ICANON);

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

    /// Keeps what is typed from the screen until a line is read, and through Ctrl-Z. A terminal that knows no sequences is
    /// left alone: nothing else would show there what is typed.
    pub fn silence(&self) -> io::Result<()> {
        let Some((terminal, found)) = &self.terminal else {
            return Ok(());
        };
        if self.paint == Paint::Bare {
            return Ok(());
        }
        set_silent(terminal)?;
        let signals = [Signal::TSTP, Signal::CONT, Signal::QUIT];
        let mut signals = Signals::new(signals.map(Signal::as_raw))?;
        let (terminal, found) = (terminal.try_clone()?, found.clone());
        let follow = move || {
            for signal in signals.forever() {
                follow(signal, &terminal, &found);
            }
        };
        thread::Builder::new()
            .name("terminal".to_owned())
            .spawn(follow)
            .map(drop)
    }

    /// Gives the terminal back, once. What fails here has no remedy: the terminal is gone.
    pub fn restore(&mut self) {
        let Some((mut terminal, found)) = self.terminal.take() else {
            return;
        };
        let is_there = tcsetattr(&terminal, OptionalActions::Now, &found).is_ok();
        if is_there && self.paint != Paint::Bare {
            drop(terminal.write_all(PASTE_OFF));
        }
    }
}

/// Stops the process and those it is in a pipe with, as Ctrl-Z does anywhere, with the terminal as a shell expects it.
/// Returns when it runs again; at once where no shell waits.
pub fn suspend() {
    let _lent = Lent::new();
    // Ctrl-Z itself is heard by a thread of its own, which may be too late.
    kill_current_process_group(Signal::TTIN).ok();
}

/// Does what a signal does by itself, with the terminal as a shell expects it.
fn follow(signal: i32, terminal: &File, found: &Termios) {
    if signal == Signal::TSTP.as_raw() {
        let _lent = Lent::new();
        // What stops by this, and only where a shell waits, is not caught.
        kill_process(getpid(), Signal::TTIN).ok();
    } else if signal == Signal::CONT.as_raw() {
        let is_usual = tcgetattr(terminal).is_ok_and(|modes| modes.local_modes.contains(USUAL));
        if is_usual && is_in_front(terminal) {
            set_silent(terminal).ok();
        }
    } else {
        tcsetattr(terminal, OptionalActions::Now, found).ok();
        emulate_default_handler(signal).ok();
    }
}

/// Whether the terminal is this process' own to set; a process in the background would be stopped.
fn is_in_front(terminal: &File) -> bool {
    termios::tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp())
}

fn set_silent(terminal: &File) -> io::Result<()> {
    let mut silent = tcgetattr(terminal)?;
    silent.local_modes.remove(USUAL);
    // Ctrl-C ends a reply, not what was typed meanwhile.
    silent.local_modes.insert(LocalModes::NOFLSH);
    silent.special_codes[SpecialCodeIndex::VMIN] = 1;
    silent.special_codes[SpecialCodeIndex::VTIME] = 0;
    Ok(tcsetattr(terminal, OptionalActions::Now, &silent)?)
}

/// The terminal on stdin as programs expect it, until this is dropped.
#[must_use]
pub struct Lent {
    before: Option<(File, Termios)>,
}

impl Lent {
    pub fn new() -> Self {
        let before = remember(io::stdin()).ok();
        if let Some((terminal, before)) = &before {
            let mut usual = before.clone();
            usual.local_modes.insert(USUAL);
            usual.local_modes.remove(LocalModes::NOFLSH);
            tcsetattr(terminal, OptionalActions::Now, &usual).ok();
        }
        Self { before }
    }
}

impl Default for Lent {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some((terminal, before)) = &self.before
            && is_in_front(terminal)
        {
            tcsetattr(terminal, OptionalActions::Now, before).ok();
        }
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").finish_non_exhaustive()
    }
}

fn remember(stdin: impl std::os::fd::AsFd) -> io::Result<(File, Termios)> {
    let found = tcgetattr(&stdin)?;
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
