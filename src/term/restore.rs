//! The terminal left as it was found. A line editor that waits for a key holds the terminal in raw mode
//! on a thread that nobody can cancel; whoever ends the process gives back what is remembered here.
//!
//! Between two lines keys are neither shown nor collected to lines: what is typed ahead waits for the next prompt,
//! whole. Whoever gets the terminal for a while, a shell behind Ctrl-Z or an editor, gets it as usual ([`Lent`]).

use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpgrp, kill_current_process_group};
use rustix::termios::{
    self, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use signal_hook::iterator::Signals;
use signal_hook::low_level::{emulate_default_handler, raise};

use super::policy::Paint;

/// Ends bracketed paste: the one mode beside the line discipline that is ever switched on.
const PASTE_OFF: &[u8] = b"\x1b[?2004l";

/// What makes a terminal show what is typed and collect it to lines.
const USUAL: LocalModes = LocalModes::ECHO.union(LocalModes::ICANON);

/// Writes where the cursor is, between two of a line editor's own writes. A terminal that is gone shows nothing anyway.
pub fn at_cursor(text: &str) {
    let stdout = io::stdout();
    if stdout.is_terminal() {
        let mut stdout = stdout.lock();
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
            .ok();
    }
}

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

    /// Keeps what is typed from the screen until a line is read, and through Ctrl-Z. A terminal that knows no sequences
    /// is left alone: nothing else would show there what is typed.
    /// Returns what is taken off it while the process is stopped.
    pub fn silence(&self) -> io::Result<Stops> {
        let stops = Stops::default();
        let Some((terminal, found)) = &self.terminal else {
            return Ok(stops);
        };
        if self.paint == Paint::Bare {
            return Ok(stops);
        }
        set_silent(terminal)?;
        let signals = [Signal::TSTP, Signal::CONT, Signal::QUIT];
        let mut signals = Signals::new(signals.map(Signal::as_raw))?;
        let (terminal, found) = (terminal.try_clone()?, found.clone());
        let stopping = stops.clone();
        let follow = move || {
            for signal in signals.forever() {
                follow(signal, (&terminal, &found), &stopping);
            }
        };
        let thread = thread::Builder::new().name("terminal".to_owned());
        thread.spawn(follow)?;
        *lock(&stops.0.count) = Some(0);
        Ok(stops)
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

/// Ctrl-Z, and keys that were typed ahead and are not for the shell that gets the terminal then.
#[derive(Clone, Debug, Default)]
pub struct Stops(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    keys: Mutex<Vec<u8>>,
    /// How often the process was stopped; `None`: nobody follows its signals.
    count: Mutex<Option<u64>>,
    counted: Condvar,
}

impl Stops {
    /// Stops the process and those it is in a pipe with, as Ctrl-Z does anywhere. Returns when it runs again; at once
    /// where no shell waits.
    pub fn suspend(&self) {
        let count = lock(&self.0.count);
        let before = *count;
        kill_current_process_group(Signal::TSTP).ok();
        if before.is_some() {
            // The thread that follows signals stops the process, which may be a moment later.
            drop(self.0.counted.wait_while(count, |count| *count == before));
        }
    }

    /// Returns the keys.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.0.keys))
    }

    /// Stops the process with the terminal as a shell expects it, and returns when it runs again.
    fn stop(&self, terminal: &File) {
        self.fill(terminal);
        {
            let _lent = Lent::new();
            // To this very thread, so that it stops here; a signal that nobody catches, and that stops only where a
            // shell waits.
            raise(Signal::TTIN.as_raw()).ok();
        }
        let mut count = lock(&self.0.count);
        *count = count.map(|count| count + 1);
        self.0.counted.notify_all();
    }

    /// Takes what the terminal holds, unless somebody else reads it key by key.
    fn fill(&self, terminal: &File) {
        let is_ours =
            tcgetattr(terminal).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ISIG));
        let mut buffer = [0; 4096];
        while is_ours && is_ready(terminal, Duration::ZERO).unwrap_or(false) {
            match rustix::io::read(terminal, &mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(read) => lock(&self.0.keys).extend_from_slice(&buffer[..read]),
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether there is something to read, now or before long. A signal does not end the wait.
pub fn is_ready(terminal: &impl AsFd, wait: Duration) -> io::Result<bool> {
    let mut polled = [PollFd::new(terminal, PollFlags::IN)];
    let time = Timespec {
        tv_sec: wait.as_secs().try_into().unwrap_or_default(),
        tv_nsec: wait.subsec_nanos().into(),
    };
    match poll(&mut polled, Some(&time)) {
        Err(Errno::INTR) => is_ready(terminal, wait),
        polling => polling
            .map(|_| polled[0].revents().contains(PollFlags::IN))
            .map_err(Into::into),
    }
}

/// Does what a signal does by itself, with the terminal as a shell expects it.
fn follow(signal: i32, (terminal, found): (&File, &Termios), stops: &Stops) {
    if signal == Signal::TSTP.as_raw() {
        stops.stop(terminal);
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

fn remember(stdin: impl AsFd) -> io::Result<(File, Termios)> {
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
