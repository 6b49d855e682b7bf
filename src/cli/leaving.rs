//! The end of a run: how long work in the background is waited for.

use std::time::Duration;

use super::run_mode::RunMode;
use crate::agent::{Agent, Warning};
use crate::config::Config;
use crate::repl::Signals;
use crate::repl::ask::Deadline;
use crate::term::Output;

/// Lets work in the background end. A signal ends the wait, and so does the deadline of the run; after a SIGTERM there
/// is none.
pub(super) async fn finish_jobs(
    agent: &mut Agent,
    config: &Config,
    (waiting, deadline): (Waiting, Option<Deadline>),
    output: &mut Output,
    signals: &mut Signals,
) -> Vec<Warning> {
    const BEHIND: usize = 20;
    if signals.is_told_to_end() {
        return agent.settle(Duration::ZERO).await;
    }
    let covers = agent.job_covers();
    let catches_up = waiting == Waiting::ToCatchUp && covers >= BEHIND;
    if covers > 0 && (catches_up || waiting == Waiting::BrieflyAndSaid) {
        let what = match agent.job_name() {
            Some("facts") => format!("Extracting facts from {covers} messages"),
            Some(_) | None => format!("Summarising {covers} older messages"),
        };
        output.notice(&format!("{what}; Ctrl-C leaves it for the next run"));
    }
    let grace = match waiting {
        // Vectors are on disk as they are made, so only a summary is worth a person's wait.
        Waiting::BrieflyAndSaid if covers == 0 && !agent.is_adding() => Duration::ZERO,
        _ if catches_up => MAX_SUMMARY_WAIT,
        _ => config.settings.shutdown_grace,
    };
    let grace = deadline.map_or(grace, |deadline| grace.min(deadline.left()));
    let warnings = tokio::select! {
        warnings = agent.settle(grace) => warnings,
        _ = signals.next() => Vec::new(),
    };
    // What is left of it is given up.
    agent.settle(Duration::ZERO).await;
    warnings
}

/// Longest wait of a run for a summary that is overdue.
const MAX_SUMMARY_WAIT: Duration = Duration::from_mins(1);

/// How work in the background is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// A run of a single prompt that is two batches behind waits for a summary as long as that may take, so
    /// that such runs do not fall behind for ever.
    ToCatchUp,
    /// For the grace of leaving; a person at a terminal would wonder.
    BrieflyAndSaid,
    /// For the grace of leaving.
    Briefly,
}

impl Waiting {
    pub(super) fn of(run_mode: &RunMode) -> Self {
        match run_mode {
            RunMode::OneShot(_) => Self::ToCatchUp,
            RunMode::Terminal => Self::BrieflyAndSaid,
            RunMode::Lines => Self::Briefly,
        }
    }
}
