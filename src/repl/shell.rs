//! A command that the person types behind a `!`: run in the sandbox with network, shown while it runs, and kept for the
//! next message. Unit: one command.

use std::pin::pin;
use std::time::Duration;

use anstream::adapter::StripStr;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::ask::After;
use super::transcript::first_words;
use super::{Signal, Signals};
use crate::agent::Limits;
use crate::chat::Attached;
use crate::term::Output;
use crate::tools::shape::shaped;
use crate::tools::shell::{NEEDS_TERMINAL, RanTyped, Shell};
use crate::tools::{Failure, Text, progress};

/// What a `!` alone is answered with.
pub(super) const USAGE: &str = "usage: !COMMAND runs a command here, in the sandbox but with network; the model gets its output with your next message";

/// How a program begins to draw on the whole screen, and what vim says before it does so without a terminal.
const SCREENS: [&str; 4] = [
    "\u{1b}[?1049h",
    "\u{1b}[?1047h",
    "\u{1b}[?47h",
    "Vim: Warning: Output is not to a terminal",
];

/// A command that still runs so long after it has one waits for keys; `cat` of a recorded screen does not.
const WAITS_FOR_KEYS: Duration = Duration::from_millis(300);

/// Runs the command and shows what it prints; Ctrl-C ends it. `None` where it wanted the terminal, and was ended.
pub(super) async fn run(
    shell: &Shell,
    command: &str,
    output: &mut Output,
    signals: &mut Signals,
) -> (Result<Option<RanTyped>, Failure>, After) {
    let cancel = CancellationToken::new();
    let (sender, mut printed) = progress();
    let mut plain = StripStr::new();
    let mut after = After::GoOn;
    let mut waits_from: Option<Instant> = None;
    let mut takes_screen = false;
    let mut on_screen = String::new();
    let mut take = |text: &str, waits_from: &mut Option<Instant>, output: &mut Output| {
        let begin = SCREENS.iter().filter_map(|it| text.find(it)).min();
        let begin = if waits_from.is_some() { Some(0) } else { begin };
        let (before, screen) = text.split_at(begin.unwrap_or(text.len()));
        let before = plain.strip_next(before);
        output.command_delta(&before.collect::<String>());
        on_screen.push_str(screen);
        if begin.is_some() {
            waits_from.get_or_insert_with(|| Instant::now() + WAITS_FOR_KEYS);
        }
    };
    output.progress(&format!(
        "running {} … (Ctrl-C ends it)",
        first_words(command, 60)
    ));
    let mut running = pin!(shell.run_typed(command, &cancel, &sender));
    let ran = loop {
        tokio::select! {
            biased;
            () = sleep_until(waits_from.unwrap_or_else(Instant::now)), if waits_from.is_some() && !takes_screen => {
                takes_screen = true;
                cancel.cancel();
            }
            Some(text) = printed.recv() => take(&text, &mut waits_from, output),
            ran = &mut running => break ran,
            signal = signals.next() => {
                cancel.cancel();
                if signal != Signal::Interrupt {
                    after = After::Leave;
                }
            }
        }
    };
    while let Ok(text) = printed.try_recv() {
        take(&text, &mut waits_from, output);
    }
    if !takes_screen {
        let screen = plain.strip_next(&on_screen);
        output.command_delta(&screen.collect::<String>());
    }
    output.end_reply();
    output.end_progress();
    let ran = match ran {
        _ if takes_screen => Ok(None),
        Ok(ran) if ran.end.contains(NEEDS_TERMINAL) => Ok(None),
        ran => ran.map(Some),
    };
    (ran, after)
}

/// Returns the command with its output, cut to the size of a tool's result, as it goes with a message.
pub(super) fn attached(command: &str, ran: &RanTyped, limits: Limits) -> Attached {
    let RanTyped {
        printed,
        notes,
        end,
        failed,
    } = ran;
    let mut printed = shaped(
        printed,
        Text::Log,
        *failed,
        limits.result_policy,
        limits.result_chars,
    );
    if !printed.is_empty() && !printed.ends_with('\n') {
        printed.push('\n');
    }
    Attached {
        name: format!("{}{}", Attached::COMMAND, first_words(command, 60)),
        lines: None,
        text: format!("$ {command}\n{printed}{notes}[{end}]"),
    }
}
