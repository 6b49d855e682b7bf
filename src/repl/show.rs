//! A turn on the screen: its events as they come, and how it ended.

use std::fmt;

use super::approve;
use super::ask::TimedOut;
use super::listing::count;
use super::memory_view::{self, Caller};
use super::transcript::first_words;
use crate::agent::{Progress, Reader, ToolReport, TurnError, TurnEvent, TurnReport, Warning};
use crate::chat::ToolCall;
use crate::hint::Hint;
use crate::long_term::notes::{Captured, Receipt};
use crate::term::{Output, Went};
use crate::tools::Failure;
use crate::tools::mcp::{Change, News};

/// Shows one event of a running turn.
pub fn event(output: &mut Output, event: TurnEvent, caller: Caller) {
    match event {
        TurnEvent::Text(text) => output.reply_delta(&text),
        TurnEvent::Reasoning(text) => output.reasoning_delta(&text),
        TurnEvent::Retrying { why, after } => {
            // The reason may be cut off at the end of the line.
            let seconds = after.as_secs_f64().ceil();
            output.still_waiting(format!("retrying in {seconds} s: {why}"));
        }
        // A run of one prompt has no next turn: its end tells whether it is kept.
        TurnEvent::Warning(Warning::NotSaved { .. } | Warning::SavedAgain)
            if caller != Caller::Chat => {}
        TurnEvent::Warning(warning) => self::warning(output, &warning, caller),
        TurnEvent::Compacting { messages, progress } => {
            output.wait_for(compacting(messages, progress), "Ctrl-C continues without");
        }
        TurnEvent::Captured(receipt) => output.notice(&captured(&receipt, caller)),
        TurnEvent::Thinking(stage) => {
            output.still_waiting(stage.to_string().trim_end_matches(" …"));
        }
        TurnEvent::ToolStarted(call) => {
            output.wait_for(title(&call), "Ctrl-C stops");
        }
        TurnEvent::ToolOutput(text) => {
            output.detail(text.trim_end_matches('\n'));
            if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
                output.wait_prints(line);
            }
        }
        TurnEvent::ToolFinished(report) => action(output, &report),
    }
}

/// What a turn waits for before its request.
fn compacting(messages: usize, progress: Option<Progress>) -> String {
    let part = match progress {
        Some(Progress { done, steps }) if steps > 1 => {
            format!(", part {} of {steps}", (done + 1).min(steps))
        }
        Some(_) | None => String::new(),
    };
    let messages = count(messages, "older message");
    format!("summarising {messages}{part}")
}

/// What was written down, and how it is taken back, where anything keeps it.
fn captured(receipt: &Receipt, caller: Caller) -> String {
    let Receipt { number, what, .. } = receipt;
    if what.category == Captured::MASKED {
        return what.text.clone();
    }
    let kind = memory_view::kind(&what.category);
    let text = first_words(&what.text, 80);
    let after = match caller {
        Caller::Chat | Caller::Shell => caller.command(&format!("forget {number}")),
        Caller::Private => "for this run only: private sessions are not saved".to_owned(),
    };
    format!("Noted ({kind}): {text} · {}", after.trim_matches('`'))
}

/// One call in one line: what was called, how it went, how long it took.
fn action(output: &mut Output, report: &ToolReport) {
    let ToolReport {
        call,
        took,
        output: result,
    } = report;
    let (said, went) = match result {
        Ok(result) if result.failed => (result.brief.clone(), Went::Wrong),
        Ok(result) => (result.brief.clone(), Went::Well),
        Err(Failure::Declined { why }) => {
            let why = why
                .as_ref()
                .map_or_else(String::new, |why| format!(": {why}"));
            output.action(&format!("{}: declined{why}", title(call)), Went::Wrong);
            return;
        }
        Err(failure @ (Failure::NotRun(_) | Failure::Interrupted)) => {
            output.action(&format!("{}: {failure}", title(call)), Went::Wrong);
            return;
        }
        Err(failure) => (first_words(&failure.to_string(), 200), Went::Wrong),
    };
    let seconds = took.as_secs_f64();
    let said = match went {
        Went::Well => said,
        Went::Wrong => format!("failed: {said}"),
    };
    output.action(&format!("{}: {said} ({seconds:.1} s)", title(call)), went);
    if let Ok(result) = result {
        approve::show(output, result.detail.as_ref(), DIFF_LINES);
    }
}

/// Lines of a change that are shown with it.
const DIFF_LINES: usize = 20;

/// A call as a person reads it: the tool, and what it is about.
pub fn title(call: &ToolCall) -> String {
    const CHARS: usize = 72;
    let arguments: Option<serde_json::Value> = serde_json::from_str(&call.arguments).ok();
    let arguments = arguments.as_ref().and_then(serde_json::Value::as_object);
    let about = arguments.and_then(|arguments| {
        let named = ABOUT.iter().find_map(|name| arguments.get(*name));
        let named = named.and_then(serde_json::Value::as_str);
        named.or_else(|| arguments.values().find_map(serde_json::Value::as_str))
    });
    match about {
        Some(about) if !about.trim().is_empty() => {
            format!("{} {}", call.name, first_words(about, CHARS))
        }
        Some(_) | None => call.name.clone(),
    }
}

/// Arguments that say what a call is about, the best first.
const ABOUT: [&str; 10] = [
    "command", "path", "url", "pattern", "query", "text", "task", "content", "name", "key",
];

/// Says what the person should know.
pub fn warning(output: &mut Output, warning: &Warning, caller: Caller) {
    let text = warning.in_words(match caller {
        Caller::Chat => Reader::Chat,
        Caller::Shell | Caller::Private => Reader::Shell,
    });
    if warning.is_notice() {
        output.notice(&text);
    } else {
        output.warning(&text);
    }
}

/// What a person can do about a server that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    ReadLog,
    /// Nobody types commands in this run.
    LookCloser,
}

/// Says what became of an MCP server: what went as expected only to who wants details.
pub fn server(output: &mut Output, change: &Change, remedy: Remedy) {
    /// Characters of a reason; the log has all of it.
    const REASON: usize = 60;
    let server = &change.server;
    match (&change.news, remedy) {
        (News::CameUp { tools }, _) => {
            output.detail(&format!(
                "MCP server {server} is up: {}",
                count(*tools, "tool")
            ));
        }
        (News::ToolsChanged { tools }, _) => {
            output.detail(&format!(
                "MCP server {server} now has {}",
                count(*tools, "tool")
            ));
        }
        (News::Failed(why), remedy) => {
            let see = match remedy {
                Remedy::ReadLog => format!("/mcp log {server}"),
                Remedy::LookCloser => "cogtrix doctor".to_owned(),
            };
            let why = first_words(why, REASON);
            output.warning(&format!("MCP server {server}: {why}; see `{see}`"));
        }
    }
}

/// Says that the person ended the reply, and what is left of it.
pub fn interrupted(output: &mut Output, report: &TurnReport) {
    let kept = if report.partial {
        "the partial reply is kept, "
    } else {
        ""
    };
    output.notice(&format!("Interrupted; {kept}`/retry` asks again"));
}

/// Says why there is no complete reply, and what to do.
pub fn failure(output: &mut Output, error: &TurnError) {
    no_reply(
        output,
        &error.failure,
        error.failure.hint().as_deref(),
        error.partial,
    );
}

/// The same for a reply that took too long.
pub fn timed_out(output: &mut Output, error: TimedOut, report: &TurnReport) {
    no_reply(output, &error, error.hint().as_deref(), report.partial);
}

/// The same for any cause; `partial` where part of a reply arrived.
pub fn no_reply(output: &mut Output, error: &dyn fmt::Display, hint: Option<&str>, partial: bool) {
    let kept = if partial {
        " (the partial reply is kept)"
    } else {
        ""
    };
    output.error(&format!("{error}{kept}"), hint);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::term::fixture::streams;
    use crate::term::{Device, Policy};
    use crate::testing::Capture;

    /// A run of one prompt named commands that nobody can type there.
    #[test]
    fn a_run_of_one_prompt_is_advised_flags_and_no_commands() {
        use crate::agent::{Beside, MakesRoom, Reach};
        use crate::chat::{Form, Tokens};
        use crate::context::TokenUsage;
        let usage = TokenUsage::new(Tokens(90), Tokens(100), 0.8, false);
        let near = |tools, compacting| Warning::NearLimit {
            usage,
            makes_room: MakesRoom {
                tools: Tokens(tools),
                compacting,
                loads_window: false,
            },
        };
        for warning in [
            near(0, true),
            near(0, false),
            near(10, false),
            near(60, true),
            Warning::LeftOut {
                messages: 12,
                reach: Reach::Recalled,
            },
            Warning::InputCut {
                chars: 9,
                beside: Beside {
                    tools: Tokens(9),
                    rest: Tokens(9),
                    window: Tokens(99),
                },
            },
            Warning::NoSummary {
                why: "no answer".to_owned(),
            },
            Warning::Learned { facts: Vec::new() },
            Warning::Compacted {
                messages: 4,
                form: Form::Summary,
            },
            Warning::ToolsLeftOut {
                tools: 4,
                tokens: Tokens(900),
            },
        ] {
            let seen = Capture::default();
            let mut output = Output::new(streams(&seen, Device::Terminal, 200), Policy::default());
            self::warning(&mut output, &warning, Caller::Shell);
            let text = seen.text().replace("`/compact` in a chat", "");
            assert!(!text.contains('/'), "{text}");
        }
    }

    #[test]
    fn the_time_to_the_next_try_is_seen_however_long_the_reason_is() {
        let seen = Capture::default();
        let streams = streams(&seen, Device::Terminal, 40);
        let mut output = Output::new(streams, Policy::default());
        output.wait_for("waiting for the model", "Ctrl-C stops");
        let retrying = TurnEvent::Retrying {
            why: "cannot reach http://127.0.0.1:11434: connection refused".to_owned(),
            after: Duration::from_millis(1_500),
        };
        event(&mut output, retrying, Caller::Chat);
        assert!(seen.text().contains("retrying in 2 s: "), "{}", seen.text());
    }
}
