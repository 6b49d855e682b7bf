//! `/session`, `/sessions`, `/rename`, `/delete`, `/clear`.

use super::{Answer, CommandError, Deed, Desk, Next, board, nothing, usage};
use crate::chat::SessionName;
use crate::index::session::keys_of;
use crate::repl::listing;
use crate::store::{Repair, SessionInfo};

pub(super) async fn run(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        let session = desk.session();
        let last = session
            .meta()
            .updated_at
            .map_or_else(String::new, |at| format!(", last {}", at.ago(desk.now())));
        return Next::answer(format!(
            "Session {} ({}{last})",
            session.name(),
            listing::count(session.messages().len(), "message")
        ));
    }
    let name: SessionName = arguments.parse()?;
    if name == *desk.session().name() {
        return Next::answer(format!("Already in session {name}"));
    }
    // A script is not asked.
    if desk.questions.is_some()
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

/// Goes on in another session, which may be new.
pub(in crate::repl) fn open(desk: &mut Desk, name: &SessionName) -> Result<Answer, CommandError> {
    let opened = desk.store.open(name, desk.lock_wait)?;
    let repairs: Vec<String> = opened.repairs.iter().map(Repair::to_string).collect();
    desk.agent.open(opened)?;
    let mut lines = vec![listing::opened(&desk.agent, desk.now())];
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
        return Err(usage("rename", "needs a new name"));
    }
    let name: SessionName = arguments.parse()?;
    let before = desk.session().name().clone();
    desk.agent.rename(&name).await?;
    Next::answer(format!("Renamed session {before} to {name}"))
}

pub(super) async fn delete(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        return Err(usage("delete", "needs a session name"));
    }
    let name: SessionName = arguments.parse()?;
    if name == *desk.session().name() {
        return Err(usage(
            "delete",
            "cannot delete the open session; switch with `/session NAME` first",
        ));
    }
    let listed = desk.store.list()?;
    let Some(info) = listed.iter().find(|info| info.name == name) else {
        return Err(crate::store::StoreError::Missing { name }.into());
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
        return Next::answer("No messages yet");
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
