//! What a session was about, for who comes back to it: at most four lines, from what is on disk.

use crate::agent::Agent;
use crate::chat::{Form, Outcome, Role, Session};
use crate::memory::tracking::{By, Entry, Kind, Status, words};
use crate::store::Repair;
use crate::term::{fit_to, without_markup};
use crate::text::secrets::{beginning, masked};

/// Characters of a reply that are read for its one line.
const READ: usize = 2_000;

/// Returns what the session is about, what is open, and the last exchange, each in one line of at most `columns`. A
/// session in which nothing was said has none.
pub fn recap(agent: &Agent, columns: usize) -> Vec<String> {
    let session = agent.session();
    let last = session.live_turns().next_back();
    let messages = last.map_or(&[][..], |turn| session.messages_of(turn));
    let mut said = messages
        .iter()
        .filter(|message| !message.is_no_reply() && !message.said().trim().is_empty());
    let question = said.clone().find(|message| message.role == Role::User);
    let reply = said.rfind(|message| message.role == Role::Assistant);
    let question = question.map(|message| message.said().into_owned());
    let reply = reply.map(|message| without_markup(beginning(&message.said(), READ)));
    let reply = match last.and_then(|turn| turn.outcome) {
        Some(Outcome::Answered) | None => reply,
        Some(Outcome::Interrupted | Outcome::Failed) => Some(match reply {
            Some(begun) => format!("(cut, `/retry` asks again) {begun}"),
            None => "(none, `/retry` asks again)".to_owned(),
        }),
    };
    let about = about(session).filter(|about| {
        // A single exchange is told below.
        let title = question.as_deref().map(Session::title_of);
        title.as_ref() != Some(about)
    });
    let lines = [
        ("About:", about),
        ("Open:", open(agent)),
        ("You:", question),
        ("Reply:", reply),
    ];
    let lines = lines.into_iter().filter_map(|(label, text)| {
        // A screen is seen by others, too.
        let text = masked(&text?)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let line = format!("  {label:<7}{text}");
        (!text.is_empty()).then(|| fit_to(&line, columns).into_owned())
    });
    lines.collect()
}

/// A session remembers its last mode but does not set it: the person is told (C63).
pub fn mode_hint(session: &Session, mode: &str) -> Option<String> {
    let used = session
        .meta()
        .mode
        .as_deref()
        .filter(|used| *used != mode)?;
    Some(format!(
        "This session was last used in {used} mode; `/mode {used}` switches back"
    ))
}

/// Tells whether the recap says that the last turn was cut off.
pub fn tells(session: &Session, repair: &Repair) -> bool {
    let last = session.live_turns().next_back();
    let is_cut = last.is_some_and(|turn| turn.outcome == Some(Outcome::Interrupted));
    is_cut && matches!(repair, Repair::UnfinishedTurn { .. })
}

/// The first line of the newest summary, else the first words of the person.
fn about(session: &Session) -> Option<String> {
    let hybrid = session.hybrid();
    let compaction = hybrid.compaction.as_ref();
    let compaction = compaction.filter(|it| it.form == Form::Summary && !it.is_blank());
    let summary = hybrid.running().map(|summary| &summary.text);
    let summary = summary.or(compaction.map(|compaction| &compaction.text));
    let line = summary.and_then(|text| {
        let lines = text.lines().map(str::trim);
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines
            .next()
            .map(|line| line.trim_start_matches(['-', '*', ' ']))
    });
    let line = line.unwrap_or(&session.meta().title);
    (!line.is_empty()).then(|| line.to_owned())
}

/// The task of code mode and the open goals of reasoning mode; in another mode those that a person or a model set.
fn open(agent: &Agent) -> Option<String> {
    let mode = agent.session().meta().mode.as_deref();
    let kinds = [
        (Kind::Task, "code"),
        (Kind::Objective, "reasoning"),
        (Kind::Goal, "reasoning"),
    ];
    let open = kinds.into_iter().flat_map(|(kind, home)| {
        let board = agent
            .memory()
            .modes()
            .keeper(kind)
            .and_then(|it| it.board());
        let section = board.and_then(|board| board.section(kind));
        let entries = section.map_or(&[][..], |section| section.entries());
        let is_open = move |entry: &&Entry| {
            let is_over = matches!(
                entry.note.status,
                Some(Status::Completed | Status::Rejected)
            );
            !is_over && (mode == Some(home) || entry.by != By::Heuristic)
        };
        entries.iter().filter(is_open)
    });
    let open: Vec<String> = open.map(|entry| words(&entry.note)).collect();
    (!open.is_empty()).then(|| open.join("; "))
}
