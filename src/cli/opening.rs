//! Which session a run opens, and opening it: the one that is named, the last one, one of its own, or the next that is
//! free.

use std::io::{self, BufRead};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::app::USUAL_SESSION;
use super::args::ChatArgs;
use super::parts;
use super::report::CliError;
use super::run_mode::RunMode;
use crate::chat::{SessionName, Timestamp};
use crate::config::{Config, Source};
use crate::files::Disk;
use crate::repl::Signals;
use crate::repl::commands::{Instead, meant_by, open_new, slip_question};
use crate::repl::listing;
use crate::repl::picker::{self, Picked};
use crate::store::{Opened, SessionInfo, SessionStore, StoreError};
use crate::term::Output;
use crate::text::secrets;

/// The name of a session that nobody can open again.
const PRIVATE: &str = "private";

/// A session that is open, and what it is kept in.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) opened: Opened,
    pub(super) store: Arc<dyn SessionStore>,
    pub(super) disk: Arc<dyn Disk>,
    /// As called, but for what the person answered here.
    pub(super) args: ChatArgs,
    /// What the person is told of the choice.
    pub(super) notice: Option<String>,
}

/// What is to be opened.
#[derive(Debug)]
enum Wanted {
    This(SessionName),
    /// This one, or with a number behind its name the first that is in nobody's hands.
    Free(SessionName),
    /// A new one of this name, or with a number behind it.
    New(SessionName),
}

/// Opens the session of a run. At a terminal a person is asked where the name is open elsewhere or looks mistyped;
/// `None` where they want neither session.
pub(super) async fn open(
    args: &ChatArgs,
    config: &Config,
    run_mode: &RunMode,
    now: Timestamp,
    (output, listening): (&mut Output, &mut Option<Signals>),
) -> Result<Option<Session>, CliError> {
    let (disk, store) = parts::disk_and_store(args, config)?;
    let store = Arc::new(store);
    let patience = run_mode.patience(config.settings.lock_wait);
    let is_chosen = args.session.is_some() || args.resume.is_some() || args.resume_last;
    let is_asked = *run_mode == RunMode::Terminal && is_chosen;
    let mut notice = None;
    let opened = match wanted(args, config, run_mode, now, store.as_ref())? {
        Wanted::This(name) if is_asked => {
            let Some(name) = meant(name, store.as_ref(), (output, listening)).await? else {
                return Ok(None);
            };
            let opened = open_asking(args, config, name, (output, listening)).await;
            return opened.map(Some);
        }
        Wanted::This(name) => open_waiting(store.as_ref(), &name, patience, output)?,
        Wanted::New(name) => open_new::<CliError>(&name, 1, store.as_ref())?,
        Wanted::Free(name) => match store.open(&name, Duration::ZERO) {
            Err(StoreError::Locked { .. }) => {
                let opened = open_new::<CliError>(&name, 2, store.as_ref())?;
                let chosen = opened.session.name();
                notice = Some(format!(
                    "{name} is open elsewhere; this is {chosen}. `/session NAME` opens another."
                ));
                opened
            }
            opened => opened?,
        },
    };
    Ok(Some(Session {
        opened,
        store,
        disk,
        args: args.clone(),
        notice,
    }))
}

/// Opens a session; who waits longer than a second for another process to close it is told so.
fn open_waiting(
    store: &dyn SessionStore,
    name: &SessionName,
    patience: Duration,
    output: &mut Output,
) -> Result<Opened, StoreError> {
    const SILENT: Duration = Duration::from_secs(1);
    let silent = patience.min(SILENT);
    match store.open(name, silent) {
        Err(StoreError::Locked { pid, .. }) if silent < patience => {
            let holder = pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
            output.notice(&format!(
                "Waiting for session {name} (open in {holder}), up to {} s",
                patience.as_secs()
            ));
            store.open(name, patience.saturating_sub(silent))
        }
        opened => opened,
    }
}

/// Lets a person at a terminal choose for `-r` without a name, where there is a choice; `None` where they leave.
/// Signals that were listened for are listened for until the end.
pub(super) async fn choose(
    args: ChatArgs,
    config: &Config,
    run_mode: &RunMode,
    now: Timestamp,
    (output, listening): (&mut Output, &mut Option<Signals>),
) -> Result<Option<ChatArgs>, CliError> {
    if *run_mode != RunMode::Terminal || args.resume != Some(None) {
        return Ok(Some(args));
    }
    let (_, store) = parts::disk_and_store(&args, config)?;
    let store: Arc<dyn SessionStore> = Arc::new(store);
    let sessions = match store.list()? {
        all if args.last => (all, 0),
        all => picker::without_one_shots(all),
    };
    if sessions.0.len() < 2 {
        return Ok(Some(args));
    }
    if !output.can_show_list() {
        return choose_by_name(args, &sessions.0, now, (output, listening)).await;
    }
    let signals = listen(listening)?;
    let picked = picker::pick(sessions, &store, now, output, signals).await;
    match picked.map_err(|source| CliError::Runtime { source })? {
        Picked::Session(name) => Ok(Some(ChatArgs {
            resume: Some(Some(name.to_string())),
            ..args
        })),
        Picked::Nothing | Picked::Leave => Ok(None),
    }
}

/// The same at a terminal that cannot draw a list again and again.
async fn choose_by_name(
    args: ChatArgs,
    sessions: &[SessionInfo],
    now: Timestamp,
    (output, listening): (&mut Output, &mut Option<Signals>),
) -> Result<Option<ChatArgs>, CliError> {
    let columns = output.answer_columns();
    output.answer(&listing::table(sessions, None, now, columns));
    let last = &sessions[0].name;
    let question = format!("Session name (Enter = {last}):");
    let name = match hear(&question, output, listening).await {
        None => return Ok(None),
        Some(name) if name.is_empty() => last.to_string(),
        Some(name) => name,
    };
    Ok(Some(ChatArgs {
        resume: Some(Some(name)),
        ..args
    }))
}

/// Listens for signals from now on, if nobody does yet.
pub(super) fn listen(listening: &mut Option<Signals>) -> Result<&mut Signals, CliError> {
    if listening.is_none() {
        *listening = Some(Signals::listen().map_err(|source| CliError::Runtime { source })?);
    }
    Ok(listening.as_mut().expect("it is there now"))
}

/// `-s` and config name a session that may be new; `-r` one that exists, without a name the last used.
fn wanted(
    args: &ChatArgs,
    config: &Config,
    run_mode: &RunMode,
    now: Timestamp,
    store: &dyn SessionStore,
) -> Result<Wanted, CliError> {
    let configured = || config.settings.session.clone();
    if args.private {
        return Ok(Wanted::This(PRIVATE.parse()?));
    }
    if let Some(Some(name)) = &args.resume {
        let name: SessionName = name.parse()?;
        return if store.has(&name)? {
            Ok(Wanted::This(name))
        } else {
            Err(store.missing(&name).into())
        };
    }
    if args.resume.is_some() || args.resume_last {
        let mut sessions = store.list()?.into_iter();
        let last = sessions.find(|info| args.last || !info.name.is_of_question());
        return last
            .map(|info| Wanted::This(info.name))
            .ok_or(CliError::NothingToResume);
    }
    Ok(match run_mode {
        _ if args.session.is_some() || args.no_lock => Wanted::This(configured()),
        RunMode::OneShot(prompt) if config.source("session") == Source::Default => {
            // Names of sessions are in lists, logs and paths.
            let question = secrets::masked(prompt.text());
            Wanted::New(SessionName::of_question(now, &question))
        }
        RunMode::OneShot(_) => Wanted::This(configured()),
        RunMode::Lines | RunMode::Terminal => Wanted::Free(configured()),
    })
}

/// Asks whether another session is meant, where none has this name and one has nearly the same; `None`: neither.
async fn meant(
    name: SessionName,
    store: &dyn SessionStore,
    (output, listening): (&mut Output, &mut Option<Signals>),
) -> Result<Option<SessionName>, CliError> {
    if store.has(&name)? {
        return Ok(Some(name));
    }
    let sessions = store.list()?;
    // It may have no message yet.
    let usual: SessionName = USUAL_SESSION.parse()?;
    let others = sessions.iter().map(|info| &info.name).chain([&usual]);
    let Some(near) = name.slip_of(others.filter(|other| **other != name)) else {
        return Ok(Some(name));
    };
    let question = slip_question(&name, near);
    let answer = hear(&question, output, listening).await;
    let chosen = meant_by(answer.as_deref(), near, &name).cloned();
    if chosen.is_none() {
        output.notice("Cancelled; no session opened");
    }
    Ok(chosen)
}

/// Opens a session; where it is open elsewhere, asks whether to read in it or to take another.
async fn open_asking(
    args: &ChatArgs,
    config: &Config,
    mut name: SessionName,
    (output, listening): (&mut Output, &mut Option<Signals>),
) -> Result<Session, CliError> {
    let mut args = args.clone();
    loop {
        let (disk, store) = parts::disk_and_store(&args, config)?;
        let locked = match store.open(&name, Duration::ZERO) {
            Err(locked @ StoreError::Locked { .. }) => locked,
            opened => {
                return Ok(Session {
                    opened: opened?,
                    store: Arc::new(store),
                    disk,
                    args,
                    notice: None,
                });
            }
        };
        let question = Instead::question(&locked, "leave");
        let answer = hear(&question, output, listening).await;
        match Instead::of(answer.as_deref()) {
            Ok(Instead::Nothing) => return Err(locked.into()),
            Ok(Instead::ReadOnly) => args.no_lock = true,
            Ok(Instead::Other(other)) => name = other,
            Err(bad) => output.notice(&bad.to_string()),
        }
    }
}

/// What a person types; `None` also at a signal, which ends the process by itself where nobody listens for it.
async fn hear(
    question: &str,
    output: &mut Output,
    listening: &mut Option<Signals>,
) -> Option<String> {
    let Some(signals) = listening else {
        return answer(question, output);
    };
    output.question(question);
    let (sender, typed) = oneshot::channel();
    thread::spawn(move || sender.send(read_answer()));
    tokio::select! {
        biased;
        typed = typed => typed.ok().flatten(),
        _ = signals.next() => None,
    }
}

/// What a person types, trimmed; `None` at the end of input.
pub(super) fn answer(question: &str, output: &mut Output) -> Option<String> {
    output.question(question);
    read_answer()
}

fn read_answer() -> Option<String> {
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    matches!(read, Ok(1..)).then(|| answer.trim().to_owned())
}
