//! Lets the model answer while signals are heard: Ctrl-C ends the reply, the end of the terminal or a
//! SIGTERM ends the reply and then the chat. So does a deadline end the reply, as Ctrl-C would.

use std::borrow::Cow;
use std::future;
use std::pin::pin;
use std::time::Duration;

use humantime_serde::re::humantime::format_duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::approve::{Asking, Pending, Questions};
use super::input::LineReader;
use super::memory_view::Caller;
use super::repl_context::Environment;
use super::show;
use super::{Signal, Signals};
use crate::agent::{
    Agent, CompactError, CompactReport, Compacting, Input, NoTurn, Progress, TurnError, TurnEvent,
    TurnReport,
};
use crate::chat::Outcome;
use crate::hint::Hint;
use crate::long_term::notes::{Captured, Receipt};
use crate::term::Output;
use crate::tools::mcp::Servers;

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
    AsItArrives(Caller),
    /// The same, but that a line after the turn says what was noted.
    WithLineAfter(Caller),
    /// The caller, a run of one prompt, wants it whole, at the end.
    NotYet(Caller),
}

impl Shown {
    /// Whether a line after the turn tells of something noted. What was masked is told at once.
    fn is_told_after(self, receipt: &Receipt) -> bool {
        matches!(self, Self::WithLineAfter(_)) && receipt.what.category != Captured::MASKED
    }
}

/// What Ctrl-C does while something is waited for.
pub(super) const STOPS: &str = "Ctrl-C stops";

/// Whether the chat goes on after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    GoOn,
    /// The process was told to end.
    Leave,
}

/// When a turn has to be over, whatever it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    at: Instant,
    timeout: Duration,
}

impl Deadline {
    /// Returns `None` for no time at all, which stands for no deadline, and for more time than can be counted.
    pub fn after(timeout: Duration) -> Option<Self> {
        let at = Instant::now().checked_add(timeout)?;
        (!timeout.is_zero()).then_some(Self { at, timeout })
    }

    /// Returns the time that is left.
    pub fn left(self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    async fn passed(self) -> TimedOut {
        sleep_until(self.at).await;
        TimedOut(self.timeout)
    }
}

/// A turn was ended by its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no complete reply after {} (--timeout)", format_duration(*.0))]
pub struct TimedOut(Duration);

impl Hint for TimedOut {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some("wait longer with `--timeout 2h`, or without limit with `--timeout 0s`".into())
    }
}

/// How asking ended.
#[derive(Debug)]
pub struct Asked {
    pub result: Result<Result<TurnReport, TurnError>, NoTurn>,
    pub after: After,
    /// Why a turn that counts as interrupted ended, where it was not the person who ended it.
    pub timed_out: Option<TimedOut>,
    /// What the model thought before it answered.
    pub thinking: String,
    /// What was noted of what the person said.
    pub noted: Vec<Receipt>,
}

/// Whom tools may ask.
#[derive(Debug)]
pub enum Person<'a> {
    Nobody,
    At {
        input: &'a mut LineReader,
        questions: &'a mut Questions,
        env: &'a Environment,
        servers: Option<&'a dyn Servers>,
    },
}

/// What happens next while a turn runs.
enum Next<T> {
    Event(TurnEvent),
    Question(Pending),
    /// What has arrived is to be drawn.
    Frame,
    Signal(Signal),
    TimedOut(TimedOut),
    Ended(T),
}

/// Asks and shows what arrives. The turn is recorded however it ends.
pub async fn ask(
    agent: &mut Agent,
    question: Question,
    shown: Shown,
    mut person: Person<'_>,
    deadline: Option<Deadline>,
    output: &mut Output,
    signals: &mut Signals,
) -> Asked {
    let cancel = CancellationToken::new();
    let skip = agent.skip();
    let model = format!("waiting for {}", agent.provider().model());
    output.wait_for(&model, STOPS);
    let (happening, mut happened) = mpsc::unbounded_channel();
    // Whoever takes the events lives longer than the turn.
    let mut observe = |event| happening.send(event).unwrap_or_default();
    let turn = async {
        match question {
            Question::New(input) => Ok(agent.turn(input, &mut observe, &cancel).await),
            Question::Think(task) => Ok(agent.think(task, &mut observe, &cancel).await),
            Question::Again => agent.retry(&mut observe, &cancel).await,
        }
    };
    let mut turn = pin!(turn);
    let mut passed = pin!(async {
        match deadline {
            Some(deadline) => deadline.passed().await,
            None => future::pending().await,
        }
    });
    let mut timed_out = None;
    let mut thinking = String::new();
    let mut noted = Vec::new();
    // What runs while a tool asks the person.
    let mut running = model.clone();
    let mut after = After::GoOn;
    // What a call would change was shown with its question.
    let mut seen = false;
    let result = loop {
        let frame = output.frame_due();
        let next = tokio::select! {
            biased;
            () = frame_time(frame), if frame.is_some() => Next::Frame,
            Some(event) = happened.recv() => Next::Event(event),
            Some(pending) = person.question() => Next::Question(pending),
            result = &mut turn => Next::Ended(result),
            signal = signals.next() => Next::Signal(signal),
            why = &mut passed, if timed_out.is_none() => Next::TimedOut(why),
        };
        match next {
            Next::Event(TurnEvent::ToolFinished(mut report)) => {
                if std::mem::take(&mut seen)
                    && let Ok(output) = &mut report.output
                {
                    output.detail = None;
                }
                show_event(output, shown, TurnEvent::ToolFinished(report));
                running.clone_from(&model);
                output.wait_for(&running, STOPS);
            }
            Next::Event(TurnEvent::Captured(receipt)) if shown.is_told_after(&receipt) => {
                noted.push(receipt);
            }
            Next::Event(event) => {
                if let TurnEvent::Reasoning(text) = &event {
                    thinking.push_str(text);
                }
                if let TurnEvent::ToolStarted(call) = &event {
                    running = show::title(call);
                }
                show_event(output, shown, event);
            }
            Next::Frame => output.draw(),
            Next::Question(pending) => {
                let (asked, ended) = {
                    let mut asking = pin!(person.answer(pending, output, signals));
                    // The turn goes on only as far as the person looks at what it has.
                    tokio::select! {
                        biased;
                        asked = &mut asking => (asked, None),
                        // Nobody needs the answer any more; what is typed goes to who asks next.
                        result = &mut turn => (Asking::Answered, Some(result)),
                    }
                };
                match asked {
                    Asking::Answered => {
                        seen = true;
                        output.wait_for(&running, STOPS);
                    }
                    Asking::Interrupted => cancel.cancel(),
                    Asking::Leave => {
                        cancel.cancel();
                        after = After::Leave;
                    }
                }
                if let Some(result) = ended {
                    break result;
                }
            }
            // What stands before the request is given up alone.
            Next::Signal(Signal::Interrupt) if skip.skip() => {
                output.notice("Continuing without a summary");
            }
            Next::Signal(signal) => {
                cancel.cancel();
                if let Person::At { input, .. } = &mut person {
                    input.hold_typed();
                }
                if signal != Signal::Interrupt {
                    after = After::Leave;
                }
            }
            Next::TimedOut(why) => {
                timed_out = Some(why);
                cancel.cancel();
            }
            Next::Ended(result) => break result,
        }
    };
    while let Ok(event) = happened.try_recv() {
        match event {
            TurnEvent::Captured(receipt) if shown.is_told_after(&receipt) => noted.push(receipt),
            event => show_event(output, shown, event),
        }
    }
    output.end_reply();
    output.end_progress();
    // It may have come to its end at the same moment.
    let is_cut = matches!(&result, Ok(Ok(report)) if report.outcome == Outcome::Interrupted);
    Asked {
        result,
        after,
        timed_out: timed_out.filter(|_| is_cut),
        thinking,
        noted,
    }
}

async fn frame_time(due: Option<std::time::Instant>) {
    match due {
        Some(at) => sleep_until(at.into()).await,
        None => future::pending().await,
    }
}

fn show_event(output: &mut Output, shown: Shown, event: TurnEvent) {
    match (shown, event) {
        (Shown::NotYet(_), TurnEvent::Text(_) | TurnEvent::Reasoning(_)) => {}
        (
            Shown::NotYet(caller) | Shown::AsItArrives(caller) | Shown::WithLineAfter(caller),
            event,
        ) => {
            show::event(output, event, caller);
        }
    }
}

impl Person<'_> {
    /// The next question of a tool; never, where there is nobody to answer.
    async fn question(&mut self) -> Option<Pending> {
        match self {
            Self::Nobody => future::pending().await,
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
            Self::At {
                input,
                env,
                servers,
                ..
            } => pending.ask(input, (env, *servers), output, signals).await,
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
    output.wait_for("writing a summary", STOPS);
    let (telling, mut told) = mpsc::unbounded_channel();
    let mut progress = |progress: Progress| telling.send(progress).unwrap_or_default();
    let mut compacting = pin!(agent.compact(what, focus, &mut progress, &cancel));
    let mut after = After::GoOn;
    let result = loop {
        let frame = output.frame_due();
        tokio::select! {
            biased;
            result = &mut compacting => break result,
            signal = signals.next() => {
                cancel.cancel();
                if signal != Signal::Interrupt {
                    after = After::Leave;
                }
            }
            Some(Progress { done, steps }) = told.recv() => {
                if steps > 1 {
                    let part = format!("writing a summary, part {} of {steps}", done + 1);
                    output.still_waiting(part);
                }
            }
            () = frame_time(frame), if frame.is_some() => output.draw(),
        }
    };
    output.end_progress();
    (result, after)
}
