//! `/session`, `/new`, `/sessions`, `/rename`, `/delete`, `/clear`.

use std::time::Duration;

use super::{Answer, CommandError, Deed, Desk, Next, board, nothing, usage};
use crate::chat::{BadName, SessionName};
use crate::index::session::keys_of;
use crate::repl::listing;
use crate::repl::recap::recap;
use crate::store::{Opened, Repair, SessionInfo, SessionStore, StoreError};

pub(super) async fn run(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        return Ok(Next::PickSession);
    }
    let name: SessionName = arguments.parse()?;
    // A script is not asked.
    if desk.questions.is_some()
        && name != *desk.session().name()
        && !desk.store.has(&name)?
        && let Some(existing) = slip(&name, &desk.store.list()?)
    {
        return Ok(Next::WhichSession {
            existing,
            new: name,
        });
    }
    open(desk, &name).map(Next::Answer)
}

fn slip(name: &SessionName, sessions: &[SessionInfo]) -> Option<SessionName> {
    name.slip_of(sessions.iter().map(|info| &info.name))
        .cloned()
}

/// The open session in a line, and all others below it: for who has no list to choose from.
pub(in crate::repl) fn overview(desk: &Desk) -> Result<Answer, CommandError> {
    let session = desk.session();
    let last = session
        .meta()
        .updated_at
        .map_or_else(String::new, |at| format!(", last {}", at.ago(desk.now())));
    let messages = listing::count(session.messages().len(), "message");
    let (name, now) = (session.name(), desk.now());
    let table = listing::table(&desk.store.list()?, Some(name), now, desk.columns);
    Ok(Answer {
        text: format!("Session {name} ({messages}{last})\n{table}"),
        warning: None,
    })
}

/// `/new [NAME]`: begins a session, named like the usual one with a number where no name is given.
pub(super) async fn new(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        let opened = open_new(&desk.usual_name, 1, desk.store.as_ref());
        return opened
            .and_then(|opened| enter(desk, opened))
            .map(Next::Answer);
    }
    let name: SessionName = arguments.parse()?;
    if name == *desk.session().name() || desk.store.has(&name)? {
        return Err(StoreError::Taken { name }.into());
    }
    open(desk, &name).map(Next::Answer)
}

/// Opens the first session that was never used, of those with this name and a number from `first` on behind it; 1 is
/// the name alone.
pub fn open_new<E: From<StoreError> + From<BadName>>(
    name: &SessionName,
    first: usize,
    store: &dyn SessionStore,
) -> Result<Opened, E> {
    for n in first.. {
        let name = match n {
            1 => name.clone(),
            n => name.numbered(n)?,
        };
        if store.has(&name)? {
            continue;
        }
        match store.open(&name, Duration::ZERO) {
            Err(StoreError::Locked { .. }) => {}
            // Another process was quicker, and is gone already.
            Ok(opened) if !opened.session.messages().is_empty() => {}
            opened => return Ok(opened?),
        }
    }
    unreachable!("numbers do not end")
}

/// Goes on in another session, which may be new.
pub(in crate::repl) fn open(desk: &mut Desk, name: &SessionName) -> Result<Answer, CommandError> {
    if name == desk.session().name() {
        return Ok(Answer {
            text: format!("Already in session {name}"),
            warning: None,
        });
    }
    let opened = desk.store.open(name, desk.lock_wait)?;
    enter(desk, opened)
}

/// Goes on in a session that is open.
fn enter(desk: &mut Desk, opened: Opened) -> Result<Answer, CommandError> {
    let repairs: Vec<String> = opened.repairs.iter().map(Repair::to_string).collect();
    desk.agent.open(opened)?;
    let mut lines = vec![listing::opened(&desk.agent, desk.now())];
    // A script knows what it asks for.
    if desk.questions.is_some() {
        lines.extend(recap(&desk.agent, desk.columns));
    }
    lines.extend(repairs);
    lines.extend(listing::unread(desk.agent.memory().unread()));
    Ok(Answer {
        text: lines.join("\n"),
        warning: None,
    })
}

pub(super) async fn list(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    nothing("sessions", arguments)?;
    let sessions = desk.store.list()?;
    Next::answer(listing::table(
        &sessions,
        Some(desk.session().name()),
        desk.now(),
        desk.columns,
    ))
}

pub(super) async fn rename(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        return Err(usage("rename", "needs the new name"));
    }
    let name: SessionName = arguments.parse()?;
    let before = desk.session().name().clone();
    desk.agent.rename(&name).await?;
    Next::answer(format!("Session {before} is now called {name}"))
}

pub(super) async fn delete(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        return Err(usage("delete", "needs the name of a session"));
    }
    let name: SessionName = arguments.parse()?;
    if name == *desk.session().name() {
        return Err(usage(
            "delete",
            "cannot take the session that is open; go to another with /session first",
        ));
    }
    let listed = desk.store.list()?;
    let Some(info) = listed.iter().find(|info| info.name == name) else {
        return Err(StoreError::Missing { name }.into());
    };
    let question = format!(
        "Move session {name} ({}) to the trash?",
        listing::count(info.messages, "message")
    );
    Ok(Next::Confirm(question, Deed::Delete(name)))
}

pub(super) async fn clear(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    nothing("clear", arguments)?;
    if desk.agent.is_blank() {
        return Next::answer("Nothing was said yet");
    }
    let messages = listing::count(desk.session().messages().len(), "message");
    let question = format!("Move the {messages} of this session and its notes to the archive?");
    Ok(Next::Confirm(question, Deed::Clear))
}

impl Deed {
    /// Does it; tells what was done.
    pub(in crate::repl) fn run(self, desk: &mut Desk) -> Result<Answer, CommandError> {
        match self {
            Self::Clear => {
                let archive = desk.agent.clear()?;
                let text = format!("Cleared. Archived to {}", archive.display());
                Ok(Answer {
                    text,
                    warning: None,
                })
            }
            Self::Delete(name) => {
                let said = desk.store.read(&name).map(|session| keys_of(&session));
                let trash = desk.store.discard(&name, desk.now())?;
                desk.agent.let_go_of_vectors(said.unwrap_or_default());
                let mut text = format!("Session {name} moved to {}", trash.display());
                if let Some(notebook) = desk.agent.notebook() {
                    let gone = notebook.workspace.discard_session(&name, desk.now());
                    text.extend(listing::notes_gone(gone).map(|line| format!("\n{line}")));
                }
                Ok(Answer {
                    text,
                    warning: None,
                })
            }
            Self::DropAll(kind) => board::drop_all(desk, kind),
        }
    }
}
