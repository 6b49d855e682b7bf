//! One-shot: a prompt in, a reply out, an exit code.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::args::ChatArgs;
use super::report::{CliError, Exit};
use crate::agent::{Agent, Input, TurnError, TurnFailure, TurnReport};
use crate::chat::Outcome;
use crate::context::ContextPlan;
use crate::files::{Existing, no_folder, write_for_person};
use crate::hint::Hint;
use crate::repl::Signals;
use crate::repl::ask::{self, Deadline, Person, Question, Shown, TimedOut};
use crate::repl::memory_view::Caller;
use crate::repl::show;
use crate::term::Output;

/// Where the reply goes.
enum Destination {
    Stdout,
    File(PathBuf),
    Json(Option<PathBuf>),
}

impl Destination {
    fn of(args: &ChatArgs) -> Self {
        match (args.json, args.output.clone()) {
            (true, file) => Self::Json(file),
            (false, Some(file)) => Self::File(file),
            (false, None) => Self::Stdout,
        }
    }
}

/// Refuses, before anything is asked, a file that could not be written or would lie among the sessions.
pub(super) fn check_target(args: &ChatArgs, data_dir: &Path) -> Result<(), CliError> {
    let Some(path) = &args.output else {
        return Ok(());
    };
    let cannot = |source| CliError::File {
        action: "write",
        path: path.clone(),
        source,
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let folder = folder.canonicalize().map_err(|error| {
        cannot(match error.kind() {
            io::ErrorKind::NotFound => no_folder(),
            _ => error,
        })
    })?;
    if !folder.is_dir() {
        return Err(cannot(io::ErrorKind::NotADirectory.into()));
    }
    if path.is_dir() {
        return Err(cannot(io::ErrorKind::IsADirectory.into()));
    }
    let target = path.canonicalize().unwrap_or(folder);
    match data_dir.join("history").canonicalize() {
        Ok(history) if target.starts_with(&history) => Err(CliError::Usage {
            problem: format!("{} is inside the session history", path.display()),
            hint: "choose a file outside the history folder",
        }),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// What a run asks.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) prompt: Input,
    pub(super) deadline: Option<Deadline>,
    /// How to get a model, where none was found: then nothing is an answer.
    pub(super) no_model: Option<String>,
}

pub(super) async fn run(
    agent: &mut Agent,
    asked: Asked,
    args: &ChatArgs,
    output: &mut Output,
    signals: &mut Signals,
) -> Result<Exit, CliError> {
    let destination = Destination::of(args);
    let caller = if args.private {
        Caller::Private
    } else {
        Caller::Shell
    };
    let shown = match (&destination, args.no_stream) {
        (Destination::Stdout, false) if asked.no_model.is_none() => Shown::AsItArrives(caller),
        (Destination::Stdout | Destination::File(_) | Destination::Json(_), _) => {
            Shown::NotYet(caller)
        }
    };
    let ask::Asked {
        result, timed_out, ..
    } = ask::ask(
        agent,
        Question::New(asked.prompt),
        shown,
        Person::Nobody,
        asked.deadline,
        output,
        signals,
    )
    .await;
    let result = result.map_err(|no_turn| CliError::Usage {
        problem: no_turn.to_string(),
        hint: "",
    })?;
    let no_model = asked.no_model.map(|how| CliError::NoModel {
        how,
        session: agent.session().name().clone(),
    });
    match (&result, timed_out) {
        (Err(error), _) => failure(output, error),
        (Ok(report), Some(error)) => show::timed_out(output, error, report),
        (Ok(_), None) => {}
    }
    match (&destination, &result) {
        (Destination::Json(file), _) => {
            let text = format!("{:#}\n", json(agent, &result, no_model.as_ref(), timed_out));
            write(file.as_deref(), &text, output)?;
        }
        (Destination::Stdout | Destination::File(_), _) if no_model.is_some() => {}
        (Destination::File(file), Ok(report)) if has_reply(report) => {
            write(Some(file), &format!("{}\n", report.text), output)?;
        }
        (Destination::Stdout, Ok(report))
            if shown == Shown::NotYet(caller) && has_reply(report) =>
        {
            output.reply(&report.text);
        }
        (Destination::Stdout | Destination::File(_), _) => {}
    }
    if let Some(error) = no_model {
        return Err(error);
    }
    Ok(match &result {
        Ok(report) if timed_out.is_some() && !has_reply(report) && !has_called(agent) => {
            Exit::NoModel
        }
        Ok(_) if timed_out.is_some() => Exit::Failed,
        Ok(report) if report.outcome == Outcome::Interrupted => Exit::Interrupted,
        Ok(_) => Exit::Ok,
        Err(error) if is_no_answer(error) => Exit::NoModel,
        Err(_) => Exit::Failed,
    })
}

/// Tells whether a turn ended without a word because no model could be had.
fn is_no_answer(error: &TurnError) -> bool {
    let is_none = matches!(&error.failure, TurnFailure::Provider(error) if error.is_no_answer());
    is_none && !error.partial
}

/// Tells whether the model called tools in the last turn.
fn has_called(agent: &Agent) -> bool {
    let session = agent.session();
    let messages = session.turns().last().map(|turn| session.messages_of(turn));
    let mut messages = messages.unwrap_or_default().iter();
    messages.any(|message| message.calls().next().is_some())
}

/// Tells whether there is a reply, or a part of one.
fn has_reply(report: &TurnReport) -> bool {
    report.partial || report.outcome == Outcome::Answered
}

/// Says what went wrong; in one line where there was no model, for scripts.
fn failure(output: &mut Output, error: &TurnError) {
    let TurnFailure::Provider(cause) = &error.failure else {
        // Where there is no chat there is no command either.
        let hint = error.failure.hint();
        let hint = hint.map(|hint| hint.replace("`/retry` tries again", "try again"));
        return show::no_reply(output, &error.failure, hint.as_deref(), error.partial);
    };
    match cause.hint() {
        Some(hint) if is_no_answer(error) => output.error(&format!("{cause}; {hint}"), None),
        hint => show::no_reply(output, cause, hint.as_deref(), error.partial),
    }
}

fn write(file: Option<&Path>, text: &str, output: &mut Output) -> Result<(), CliError> {
    let Some(path) = file else {
        output.answer(text.trim_end());
        return Ok(());
    };
    write_for_person(path, text.as_bytes(), Existing::IsReplaced).map_err(|source| CliError::File {
        action: "write",
        path: path.to_owned(),
        source,
    })
}

/// The object of `--json`; its shape is documented in docs/GUIDE.md.
fn json(
    agent: &Agent,
    result: &Result<TurnReport, TurnError>,
    no_model: Option<&CliError>,
    timed_out: Option<TimedOut>,
) -> Value {
    let usage = result.as_ref().ok().and_then(|report| report.usage);
    let usage = usage.map(|usage| {
        json!({
            "prompt_tokens": usage.prompt.map(|tokens| tokens.0),
            "completion_tokens": usage.completion.map(|tokens| tokens.0),
            "cached_tokens": usage.cached.map(|tokens| tokens.0),
        })
    });
    let error = match (result, timed_out) {
        (Err(error), _) => match &error.failure {
            TurnFailure::Provider(cause) => told(cause),
            other => {
                // Commands of the chat help no script.
                let hint = other.hint().filter(|hint| !hint.contains("`/"));
                json!({"message": other.to_string(), "hint": hint})
            }
        },
        (Ok(_), Some(error)) => told(&error),
        (Ok(_), None) => no_model.map_or(Value::Null, told),
    };
    let answer = result.as_ref().ok().filter(|_| no_model.is_none());
    json!({
        "reply": answer.filter(|report| has_reply(report)).map(|report| report.text.as_str()),
        "cut": answer.is_some_and(|report| report.partial && report.outcome != Outcome::Answered),
        "error": error,
        "outcome": answer.map_or(Outcome::Failed, |report| report.outcome).as_str(),
        "session": agent.session().name().as_str(),
        "mode": agent.memory().mode().name,
        "model": agent.provider().model().to_string(),
        "usage": usage,
        "context": agent.last_plan().map(context),
    })
}

fn told<E: std::error::Error + Hint>(error: &E) -> Value {
    json!({"message": error.to_string(), "hint": error.hint()})
}

fn context(plan: &ContextPlan) -> Value {
    let sections = plan.sections().iter().map(|section| {
        json!({
            "kind": section.kind.as_str(),
            "source": section.source.to_string(),
            "tokens": section.cost().0,
            "messages": section.spoken(),
        })
    });
    json!({
        "window": plan.budget().window().0,
        "prompt_tokens": plan.cost().0,
        "max_tokens": plan.max_tokens().0,
        "sections": sections.collect::<Vec<_>>(),
        "messages_left_out": plan.messages_left_out(),
    })
}
