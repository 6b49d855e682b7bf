//! Lets the model answer while signals are heard: Ctrl-C ends the reply, the end of the terminal or a
//! SIGTERM ends the reply and then the chat.

use std::future::Future;
use std::pin::pin;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::approve::{Asking, Pending, Questions};
use super::holdings::Front;
use super::input::LineReader;
use super::show;
use super::{Signal, Signals};
use crate::agent::{
    Agent, CompactError, CompactReport, Compacting, Input, NoTurn, Progress, TurnError, TurnEvent,
    TurnReport,
};
use crate::term::Output;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    New(Input),
    /// To be thought through.
    Think(Input),
    /// The last one again.
    Again,
}

/// Where the text of a reply goes while it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    AsItArrives(Front),
    /// The caller, a run of one prompt, wants it whole, at the end.
    NotYet(Front),
}

/// Whether the chat goes on after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    GoOn,
    /// The process was told to end.
    Leave,
}

/// Whom tools may ask.
#[derive(Debug)]
pub enum Person<'a> {
    Nobody,
    At {
        input: &'a mut LineReader,
        questions: &'a mut Questions,
    },
}

/// What happens next while a turn runs.
enum Next<T> {
    Event(TurnEvent),
    Question(Pending),
    Signal(Signal),
    Ended(T),
}

/// Asks and shows what arrives. The turn is recorded however it ends.
pub async fn ask(
    agent: &mut Agent,
    question: Question,
    shown: Shown,
    mut person: Person<'_>,
    output: &mut Output,
    signals: &mut Signals,
) -> (Result<Result<TurnReport, TurnError>, NoTurn>, After) {
    let cancel = CancellationToken::new();
    let skip = agent.skip();
    output.progress(&format!("waiting for {} …", agent.provider().model()));
    let (happening, mut happened) = mpsc::unbounded_channel();
    // Whoever takes the events lives longer than the turn.
    let mut observe = |event| happening.send(event).unwrap_or_default();
    let turn = async {
        match question {
            Question::New(input) => Ok(agent.turn_of(input, &mut observe, &cancel).await),
            Question::Think(task) => Ok(agent.think(task, &mut observe, &cancel).await),
            Question::Again => agent.retry(&mut observe, &cancel).await,
        }
    };
    let mut turn = pin!(turn);
    let mut after = After::GoOn;
    // What a call would change was shown with its question.
    let mut seen = false;
    let result = loop {
        let next = tokio::select! {
            biased;
            Some(event) = happened.recv() => Next::Event(event),
            Some(pending) = person.question() => Next::Question(pending),
            result = &mut turn => Next::Ended(result),
            signal = signals.next() => Next::Signal(signal),
        };
        match next {
            Next::Event(TurnEvent::ToolFinished(mut report)) => {
                if std::mem::take(&mut seen)
                    && let Ok(output) = &mut report.output
                {
                    output.detail = None;
                }
                show_event(output, shown, TurnEvent::ToolFinished(report));
            }
            Next::Event(event) => show_event(output, shown, event),
            Next::Question(pending) => match person.answer(pending, output, signals).await {
                Asking::Answered => seen = true,
                Asking::Interrupted => cancel.cancel(),
                Asking::Leave => {
                    cancel.cancel();
                    after = After::Leave;
                }
            },
            // What stands before the request is given up alone.
            Next::Signal(Signal::Interrupt) if skip.skip() => {
                output.notice("going on without a summary");
            }
            Next::Signal(signal) => {
                cancel.cancel();
                if signal != Signal::Interrupt {
                    after = After::Leave;
                }
            }
            Next::Ended(result) => break result,
        }
    };
    while let Ok(event) = happened.try_recv() {
        show_event(output, shown, event);
    }
    output.end_reply();
    output.end_progress();
    (result, after)
}

fn show_event(output: &mut Output, shown: Shown, event: TurnEvent) {
    match (shown, event) {
        (Shown::NotYet(_), TurnEvent::Text(_) | TurnEvent::Reasoning(_)) => {}
        (Shown::NotYet(front) | Shown::AsItArrives(front), event) => {
            show::event(output, event, front);
        }
    }
}

impl Person<'_> {
    /// The next question of a tool; never, where there is nobody to answer.
    async fn question(&mut self) -> Option<Pending> {
        match self {
            Self::Nobody => std::future::pending().await,
            Self::At { questions, .. } => questions.recv().await,
        }
    }

    async fn answer(
        &mut self,
        pending: Pending,
        output: &mut Output,
        signals: &mut Signals,
    ) -> Asking {
        match self {
            Self::Nobody => Asking::Answered,
            Self::At { input, .. } => pending.ask(input, output, signals).await,
        }
    }
}

/// Compacts and shows how far it is.
pub async fn compact(
    agent: &mut Agent,
    what: Compacting,
    focus: &str,
    output: &mut Output,
    signals: &mut Signals,
) -> (Result<CompactReport, CompactError>, After) {
    let cancel = CancellationToken::new();
    output.progress("writing a summary …");
    let mut progress = |progress: Progress| {
        if progress.steps > 1 {
            output.progress(&format!(
                "writing a summary, part {} of {} …",
                progress.done + 1,
                progress.steps
            ));
        }
    };
    let compacting = agent.compact(what, focus, &mut progress, &cancel);
    let (result, after) = listening(compacting, signals, &cancel).await;
    output.end_progress();
    (result, after)
}

/// Drives `work` to its end; signals cancel it, and it then ends by itself.
async fn listening<T>(
    work: impl Future<Output = T>,
    signals: &mut Signals,
    cancel: &CancellationToken,
) -> (T, After) {
    let mut work = pin!(work);
    let mut after = After::GoOn;
    loop {
        tokio::select! {
            biased;
            result = &mut work => return (result, after),
            signal = signals.next() => {
                cancel.cancel();
                if signal != Signal::Interrupt {
                    after = After::Leave;
                }
            }
        }
    }
}
