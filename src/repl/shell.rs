//! A command that the person types behind a `!`: run in the sandbox with network, shown while it runs, and kept for the
//! next message. Unit: one command.

use std::pin::pin;

use anstream::adapter::StripStr;
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

/// How a program begins to draw on the whole screen.
const SCREENS: [&str; 3] = ["\u{1b}[?1049h", "\u{1b}[?1047h", "\u{1b}[?47h"];

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
    let mut takes_screen = false;
    let mut take = |text: &str, output: &mut Output| {
        let begin = SCREENS.iter().filter_map(|it| text.find(it)).min();
        if !takes_screen {
            let text = plain.strip_next(&text[..begin.unwrap_or(text.len())]);
            output.command_delta(&text.collect::<String>());
        }
        takes_screen |= begin.is_some();
        if takes_screen {
            cancel.cancel();
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
            Some(text) = printed.recv() => take(&text, output),
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
        take(&text, output);
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
