//! What the system tells a process, as values that a loop can wait for beside everything else.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::flag;
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
    is_told_to_end: bool,
    /// One came and nobody has heard it yet.
    unheard: Arc<AtomicBool>,
}

impl Signals {
    /// Must be called inside the runtime. From now on none of the three ends the process by itself, unless
    /// the one before it was not heard: a process that is stuck in a write to a pipe nobody reads can still
    /// be ended by asking twice.
    pub fn listen() -> io::Result<Self> {
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let unheard = Arc::new(AtomicBool::new(false));
        for kind in kinds {
            flag::register_conditional_default(kind.as_raw_value(), Arc::clone(&unheard))?;
            flag::register(kind.as_raw_value(), Arc::clone(&unheard))?;
        }
        let [interrupt, terminate, hangup] = kinds;
        Ok(Self {
            interrupt: signal(interrupt)?,
            terminate: signal(terminate)?,
            hangup: signal(hangup)?,
            is_told_to_end: false,
            unheard,
        })
    }

    /// The next signal. Dropping the future loses none. Ends come before interrupts.
    pub async fn next(&mut self) -> Signal {
        let signal = tokio::select! {
            biased;
            Some(()) = self.hangup.recv() => Signal::Hangup,
            Some(()) = self.terminate.recv() => Signal::Terminate,
            Some(()) = self.interrupt.recv() => Signal::Interrupt,
            else => std::future::pending().await,
        };
        self.unheard.store(false, Ordering::SeqCst);
        self.is_told_to_end |= signal != Signal::Interrupt;
        signal
    }

    /// Whether somebody has heard a SIGTERM or SIGHUP: nothing slow is to begin any more.
    pub fn is_told_to_end(&self) -> bool {
        self.is_told_to_end
    }
}

/// Lets a write beyond the limit on file sizes (`ulimit -f`) fail like one on a full disk; without this the
/// system would end the process.
pub fn outlive_file_size_limit() -> io::Result<()> {
    let nobody_asks = Arc::new(AtomicBool::new(false));
    flag::register(rustix::process::Signal::XFSZ.as_raw(), nobody_asks).map(drop)
}
