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
use crate::tools::shell::{RanTyped, Shell};
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
    // Since when it draws on the whole screen, and what.
    let mut drawing: Option<(Instant, String)> = None;
    let mut wants_keys = false;
    let mut take = |text: &str, drawing: &mut Option<(Instant, String)>, output: &mut Output| {
        if let Some((_, drawn)) = drawing {
            drawn.push_str(text);
            return;
        }
        let begin = SCREENS.iter().filter_map(|it| text.find(it)).min();
        let (before, drawn) = text.split_at(begin.unwrap_or(text.len()));
        show(&mut plain, before, output);
        *drawing = begin.map(|_| (Instant::now(), drawn.to_owned()));
    };
    output.progress(&format!(
        "running {} … (Ctrl-C ends it)",
        first_words(command, 60)
    ));
    let mut running = pin!(shell.run_typed(command, &cancel, &sender));
    let ran = loop {
        tokio::select! {
            biased;
            () = waiting_for_keys(drawing.as_ref()), if !wants_keys => {
                wants_keys = true;
                cancel.cancel();
            }
            Some(text) = printed.recv() => take(&text, &mut drawing, output),
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
        take(&text, &mut drawing, output);
    }
    if let Some((_, drawn)) = drawing.filter(|_| !wants_keys) {
        show(&mut plain, &drawn, output);
    }
    output.end_reply();
    output.end_progress();
    let ran = match ran {
        _ if wants_keys => Ok(None),
        Ok(ran) if ran.needs_terminal => Ok(None),
        ran => ran.map(Some),
    };
    (ran, after)
}

fn show(plain: &mut StripStr, text: &str, output: &mut Output) {
    let text: String = plain.strip_next(text).collect();
    output.command_delta(&text);
}

/// Ends once a command that draws on the whole screen has done so for as long as one that waits for keys.
async fn waiting_for_keys(drawing: Option<&(Instant, String)>) {
    match drawing {
        Some((since, _)) => sleep_until(*since + WAITS_FOR_KEYS).await,
        None => std::future::pending().await,
    }
}

/// Returns the command with its output, cut to the size of a tool's result, as it goes with a message.
pub(super) fn attached(command: &str, ran: &RanTyped, limits: Limits) -> Attached {
    let RanTyped {
        printed,
        notes,
        end,
        failed,
        ..
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
