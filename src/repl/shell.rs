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
use crate::tools::shell::{RanTyped, Shell};
use crate::tools::{Failure, Text, progress};

/// What a `!` alone is answered with.
pub(super) const USAGE: &str = "usage: !COMMAND runs a command here, in the sandbox but with network; the model gets its output with your next message";

/// Runs the command and shows what it prints; Ctrl-C ends it.
pub(super) async fn run(
    shell: &Shell,
    command: &str,
    output: &mut Output,
    signals: &mut Signals,
) -> (Result<RanTyped, Failure>, After) {
    let cancel = CancellationToken::new();
    let (sender, mut printed) = progress();
    let mut plain = StripStr::new();
    let mut after = After::GoOn;
    output.progress(&format!(
        "running {} … (Ctrl-C ends it)",
        first_words(command, 60)
    ));
    let mut running = pin!(shell.run_typed(command, &cancel, &sender));
    let ran = loop {
        tokio::select! {
            biased;
            Some(text) = printed.recv() => show(&mut plain, &text, output),
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
        show(&mut plain, &text, output);
    }
    output.end_reply();
    output.end_progress();
    (ran, after)
}

fn show(plain: &mut StripStr, text: &str, output: &mut Output) {
    let text: String = plain.strip_next(text).collect();
    output.command_delta(&text);
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
