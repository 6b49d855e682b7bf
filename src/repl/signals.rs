//! What the system tells a process, as values that a loop can wait for beside everything else.

use std::io;

use tokio::signal::unix::{Signal as Listener, SignalKind, signal};

/// A signal that means something to a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C while no line is being read: ends the turn in flight, keeps what arrived of it.
    Interrupt,
    /// SIGTERM: leave as `/quit` does.
    Terminate,
    /// SIGHUP, the terminal was closed: leave as `/quit` does.
    Hangup,
}

/// Listens from its making on; what came before anybody asked is not lost.
#[derive(Debug)]
pub struct Signals {
    interrupt: Listener,
    terminate: Listener,
    hangup: Listener,
}

impl Signals {
    /// Must be called inside the runtime. From now on none of the three ends the process by itself.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The next signal. Dropping the future loses none. Ends come before interrupts.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            biased;
            Some(()) = self.hangup.recv() => Signal::Hangup,
            Some(()) = self.terminate.recv() => Signal::Terminate,
            Some(()) = self.interrupt.recv() => Signal::Interrupt,
            else => std::future::pending().await,
        }
    }
}
