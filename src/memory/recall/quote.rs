//! Exchanges as they stand in a request: with where they are from, and of long texts the part that is asked about.

use super::Found;
use crate::chat::{Message, MessageId, Role, Session};
use crate::index::Asked;
use crate::index::session::{self, Exchange, HEAD, turn_of};

/// A longer message is quoted in part.
const LONGEST: usize = 1_500;
/// Characters of such a part.
const PART: usize = 1_250;

/// The text of what was found, in the order in which it was said.
pub fn quote(session: &Session, asked: &Asked<'_>, found: &[Found]) -> String {
    let mut found: Vec<&Found> = found.iter().collect();
    found.sort_by_key(|found| found.messages.start);
    let quotes = found
        .into_iter()
        .filter_map(|found| one(session, asked, found));
    quotes.collect::<Vec<_>>().join("\n\n")
}

fn one(session: &Session, asked: &Asked<'_>, found: &Found) -> Option<String> {
    let turn = turn_of(session, found.best.message)?;
    let exchange = Exchange::of(session, turn);
    let messages = exchange.messages();
    // Words said beside a tool call are part of no exchange, but they may be what is asked for.
    let beside = session.messages().get(found.best.message);
    let beside = beside.filter(|message| exchange.messages().all(|one| one.id != message.id));
    let lines: Vec<String> = messages
        .chain(beside)
        .map(|message| side(asked, message))
        .collect();
    let ids: Vec<&str> = exchange.ids().map(MessageId::as_str).collect();
    let ids = match ids.as_slice() {
        [] => String::new(),
        [only] => format!(", {only}"),
        [first, .., last] => format!(", {first} to {last}"),
    };
    let at = exchange.at();
    let at = at.map_or(String::new(), |at| {
        format!(", {} {} UTC", at.date(), at.time_of_day())
    });
    Some(format!("[turn {}{ids}{at}]\n{}", turn.id, lines.join("\n")))
}

fn side(asked: &Asked<'_>, message: &Message) -> String {
    let label = match message.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
    };
    let name = session::name(message);
    let speaker = name.map_or(String::new(), |name| format!(" ({name})"));
    let said = session::found_by(message);
    let said = said.trim();
    format!("{label}{speaker}: {}", part(asked, said))
}

/// The text, or the part of a long one that has the words of the question; its ends where it has none.
fn part(asked: &Asked<'_>, text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    // Where words are not indexed, none is looked for.
    let head = &text[..text.floor_char_boundary(text.len().min(HEAD))];
    let Some(range) = asked.passage(head, PART) else {
        return session::clipped(text).into_owned();
    };
    let before = if range.start > 0 { "[…] " } else { "" };
    let after = if range.end < text.len() { " […]" } else { "" };
    format!("{before}{}{after}", text[range].trim())
}
