//! `/session`, `/resume`, `/new`, `/fork`, `/sessions`, `/rename`, `/delete`, `/clear`.

use std::time::Duration;

use super::{
    Answer, CommandError, Deed, Environment, Next, ReplContext, board, cannot, nothing, usage,
};
use crate::agent::Agent;
use crate::chat::{BadName, SessionName, TurnId};
use crate::files::Existing;
use crate::repl::listing;
use crate::repl::memory_view::Caller;
use crate::repl::recap::{self, recap};
use crate::repl::repl_context::Writing;
use crate::repl::sessions::{Sessions, renamed};
use crate::store::{Opened, Repair, SessionInfo, SessionStore, StoreError};
use crate::term::sentence;

pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        return Ok(Next::PickSession);
    }
    let name: SessionName = arguments.parse()?;
    // A script is not asked.
    if repl.questions.is_some()
        && name != *repl.session().name()
        && !repl.env.store.has(&name)?
        && let Some(existing) = slip(&name, &repl.env.store.list()?)
        && existing != *repl.session().name()
    {
        return Ok(Next::WhichSession {
            existing,
            new: name,
        });
    }
    Ok(Next::OpenSession(name))
}

/// `/resume [NAME]`: never begins a session, as `-r` does not.
pub(super) async fn resume(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        return Ok(Next::PickSession);
    }
    let name: SessionName = arguments.parse()?;
    if name == *repl.session().name() || repl.env.store.has(&name)? {
        return Ok(Next::OpenSession(name));
    }
    let near = slip(&name, &repl.env.store.list()?);
    Err(CommandError::NoSession { name, near })
}

fn slip(name: &SessionName, sessions: &[SessionInfo]) -> Option<SessionName> {
    name.slip_of(sessions.iter().map(|info| &info.name))
        .cloned()
}

/// The open session in a line, and all others below it: for who has no list to choose from.
pub(in crate::repl) fn overview(repl: &ReplContext) -> Result<Answer, CommandError> {
    let session = repl.session();
    let last = session.meta().updated_at.map_or_else(String::new, |at| {
        format!(", last {}", at.ago(repl.env.now()))
    });
    let messages = listing::count(session.live_messages(), "message");
    let (name, table) = (session.name(), table(&repl.agent, &repl.env)?);
    Ok(Answer {
        text: format!("Session {name} ({messages}{last})\n{table}"),
        warning: None,
    })
}

/// `/new [NAME]`: begins a session, named like the usual one with a number where no name is given.
pub(super) async fn new(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() && repl.env.places.writing == Writing::Refused {
        // What is open read-only is left for a chat that may write.
        let name = free_name(&repl.usual_name, repl.env.store.as_ref())?;
        return Ok(Next::OpenSession(name));
    }
    if arguments.is_empty() {
        let opened = open_new(&repl.usual_name, 1, repl.env.store.as_ref());
        return opened
            .and_then(|opened| enter(repl, opened))
            .map(Next::Answer);
    }
    let name: SessionName = arguments.parse()?;
    if name == *repl.session().name() || repl.env.store.has(&name)? {
        return Err(StoreError::Taken { name }.into());
    }
    Ok(Next::OpenSession(name))
}

/// Asks whether a name is a slip of an existing one.
pub fn slip_question(new: &SessionName, existing: &SessionName) -> String {
    format!("No session {new}. Did you mean {existing}? [Y = open {existing}, n = create {new}]")
}

/// Returns the session that an answer to that means; `None`: neither.
pub fn meant_by<'a>(
    answer: Option<&str>,
    existing: &'a SessionName,
    new: &'a SessionName,
) -> Option<&'a SessionName> {
    match answer?.trim().to_lowercase().as_str() {
        "" | "y" | "yes" => Some(existing),
        "n" | "no" => Some(new),
        _ => None,
    }
}

/// What a person may do about a session that is open in another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instead {
    ReadOnly,
    Other(SessionName),
    Nothing,
}

impl Instead {
    /// Asks for it; `nothing`: what Enter does.
    pub fn question(locked: &StoreError, nothing: &str) -> String {
        sentence(&format!(
            "{locked}. r = open read-only, Enter = {nothing}, or type another name:"
        ))
    }

    pub fn of(answer: Option<&str>) -> Result<Self, BadName> {
        match answer.map(str::trim) {
            None | Some("") => Ok(Self::Nothing),
            Some("r") => Ok(Self::ReadOnly),
            Some(other) => other.parse().map(Self::Other),
        }
    }
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
pub(in crate::repl) fn open(
    repl: &mut ReplContext,
    name: &SessionName,
) -> Result<Answer, CommandError> {
    if name == repl.session().name() {
        return Ok(Answer {
            text: format!("Already in session {name}"),
            warning: None,
        });
    }
    let opened = repl.env.store.open(name, repl.lock_wait)?;
    enter(repl, opened)
}

/// Goes on in a session that is open.
fn enter(repl: &mut ReplContext, opened: Opened) -> Result<Answer, CommandError> {
    let mut repairs = opened.repairs.clone();
    let mode = &repl.agent.memory().mode().name;
    let mode_hint = recap::mode_hint(&opened.session, mode);
    repl.agent.open(opened)?;
    let left = left_behind(repl);
    let mut lines = vec![listing::opened(&repl.agent, repl.env.now())];
    // A script knows what it asks for.
    if repl.questions.is_some() {
        lines.extend(recap(&repl.agent, repl.env.columns));
        repairs.retain(|repair| !recap::tells(repl.session(), repair));
        lines.extend(mode_hint);
    }
    lines.extend(repairs.iter().map(Repair::to_string));
    lines.extend(left);
    lines.extend(listing::unread(repl.agent.memory().unread()));
    Ok(Answer {
        text: lines.join("\n"),
        warning: None,
    })
}

/// Drops what belongs to the next message of the session that is left; says so.
pub(in crate::repl) fn left_behind(repl: &mut ReplContext) -> Option<String> {
    let left = std::mem::take(&mut repl.ran).len();
    let commands = listing::count(left, "command");
    (left > 0).then(|| format!("The output of {commands} was dropped"))
}

/// `/fork [NAME] [N]`: goes on in a copy of this session.
pub(super) async fn fork(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let (name, at) = name_and_turn(arguments);
    let from = repl.session().name().clone();
    if repl.session().is_empty() {
        return Err(cannot("nothing to copy yet", None));
    }
    let name = match name {
        Some(name) => name.parse()?,
        None => fork_name(&from, repl.env.store.as_ref())?,
    };
    let Some(mut fork) = repl.agent.fork(name, at) else {
        let hint = "`/history` shows turn numbers";
        return Err(cannot("no such turn", hint));
    };
    let (opened, text) = sessions(repl).keep_fork(&mut fork, &from, at)?;
    repl.agent.open(opened)?;
    Next::answer(text)
}

/// What commands do to whole sessions.
fn sessions(repl: &ReplContext) -> Sessions<'_> {
    Sessions {
        store: repl.env.store.as_ref(),
        workspace: repl.agent.long_term().map(|it| &it.workspace),
        now: repl.env.now(),
        caller: Caller::Chat,
    }
}

/// `NAME`, `N`, both in either order, or none.
fn name_and_turn(arguments: &str) -> (Option<&str>, Option<TurnId>) {
    let turn = |word: &str| word.parse().ok().map(TurnId);
    let last = arguments.rsplit_once(char::is_whitespace);
    let first = arguments.split_once(char::is_whitespace);
    let (name, at) = [
        last.map(|(name, at)| (name, turn(at))),
        first.map(|(at, name)| (name, turn(at))),
        Some(("", turn(arguments))),
    ]
    .into_iter()
    .flatten()
    .find(|(_, at)| at.is_some())
    .map_or((arguments, None), |(name, at)| (name.trim(), at));
    ((!name.is_empty()).then_some(name), at)
}

/// How the name of a fork ends.
const FORK: &str = "-fork";

/// The first of `NAME-fork`, `NAME-fork-2`, … that nothing has.
fn fork_name(from: &SessionName, store: &dyn SessionStore) -> Result<SessionName, CommandError> {
    // A fork of a fork is another fork of the same session.
    let is_number = |rest: &str| rest.chars().all(|c| c == '-' || c.is_ascii_digit());
    let origin = from.as_str().rsplit_once(FORK);
    let origin = origin.filter(|(_, rest)| is_number(rest)).map(|it| it.0);
    let origin: SessionName = origin.unwrap_or(from.as_str()).parse()?;
    free_name(&origin.with_end(FORK)?, store)
}

/// Returns the first of `NAME`, `NAME-2`, … that nothing has.
fn free_name(base: &SessionName, store: &dyn SessionStore) -> Result<SessionName, CommandError> {
    let mut name = base.clone();
    for n in 2.. {
        if !store.has(&name)? {
            break;
        }
        name = base.numbered(n)?;
    }
    Ok(name)
}

/// `/sessions [restore NAME [--from TIME]]`
pub(super) async fn list(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    if let Some(which) = arguments.strip_prefix("restore")
        && !which.starts_with(char::is_alphanumeric)
    {
        if which.is_empty() {
            return deleted(&repl.env).and_then(Next::answer);
        }
        let (name, time) = which
            .split_once(" --from ")
            .map_or((which, None), |(name, time)| (name, Some(time)));
        return Next::answer(sessions(repl).restore(&name.trim().parse()?, time)?);
    }
    if !arguments.is_empty() {
        return Err(usage("sessions", format!("has no option {arguments:?}")));
    }
    table(&repl.agent, &repl.env).and_then(Next::answer)
}

/// What `restore` can bring back.
fn deleted(env: &Environment) -> Result<String, CommandError> {
    let mut sessions = Vec::new();
    let mut folders = env.store.put_away();
    folders.retain(|(folder, _)| folder.parent().is_some_and(|it| it.ends_with("trash")));
    // Their names begin with the time; what was deleted last is wanted back first.
    folders.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
    for (_, store) in folders {
        sessions.extend(store.list()?);
    }
    if sessions.is_empty() {
        return Ok("No deleted sessions".to_owned());
    }
    let table = listing::table(&sessions, None, env.now(), env.columns);
    Ok(format!(
        "Deleted; `/sessions restore NAME` brings one back\n{table}"
    ))
}

/// Every session in a line, the open one marked.
pub(super) fn table(agent: &Agent, env: &Environment) -> Result<String, CommandError> {
    let sessions = env.store.list()?;
    let open = Some(agent.session().name());
    Ok(listing::table(&sessions, open, env.now(), env.columns))
}

pub(super) async fn rename(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        return Err(usage("rename", "needs a new name"));
    }
    let name: SessionName = arguments.parse()?;
    let before = repl.session().name().clone();
    repl.agent.rename(&name).await?;
    Next::answer(renamed(&before, &name))
}

pub(super) async fn delete(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        return Err(cannot(
            "/delete needs the name of another session",
            "`/sessions` lists them, `/clear` empties this one",
        ));
    }
    let name: SessionName = arguments.parse()?;
    if name == *repl.session().name() {
        let hint = "switch with `/session NAME` before you delete it";
        return Err(cannot("this session is open", hint));
    }
    let listed = repl.env.store.list()?;
    let Some(info) = listed.iter().find(|info| info.name == name) else {
        return Err(repl.env.store.missing(&name).into());
    };
    let question = format!(
        "Move session {name} ({}) to the trash?",
        listing::count(info.messages, "message")
    );
    Ok(Next::Confirm(question, Deed::Delete(name)))
}

pub(super) async fn clear(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    nothing("clear", arguments)?;
    if repl.agent.is_blank() {
        return Next::answer("No messages yet");
    }
    let messages = listing::count(repl.session().messages().len(), "message");
    let question = format!("Move the {messages} of this session and its notes to the archive?");
    Ok(Next::Confirm(question, Deed::Clear))
}

impl Deed {
    /// Does it; tells what was done.
    pub(in crate::repl) fn run(self, repl: &mut ReplContext) -> Result<Answer, CommandError> {
        match self {
            Self::Clear => {
                let archive = repl.agent.clear()?;
                let text = format!("Cleared. Archived to {}", archive.display());
                Ok(Answer {
                    text,
                    warning: None,
                })
            }
            Self::Delete(name) => {
                let mut said = Vec::new();
                let text = sessions(repl).delete(&name, |keys| {
                    said = keys;
                    None
                })?;
                repl.agent.let_go_of_vectors(said);
                Ok(Answer {
                    text,
                    warning: None,
                })
            }
            Self::DropAll(kind) => board::drop_all(repl, kind),
            Self::Save(reply) => reply.write(Existing::IsReplaced),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_takes_a_name_and_a_turn_in_either_order() {
        for (arguments, name, at) in [
            ("", None, None),
            ("plan b", Some("plan b"), None),
            ("2", None, Some(2)),
            ("plan b 2", Some("plan b"), Some(2)),
            ("2 plan b", Some("plan b"), Some(2)),
        ] {
            assert_eq!(
                name_and_turn(arguments),
                (name, at.map(TurnId)),
                "{arguments}"
            );
        }
    }
}
