//! Which message something came from, quoted where it can be read. Unit: one message.
//!
//! Invariant: a session that began anew counts its messages anew, so a message counts only where its time fits as well.

use std::borrow::Cow;

use super::MemoryView;
use crate::chat::{Message, Session, SessionName, Timestamp, TurnId};
use crate::hint::chain;
use crate::long_term::entries::Entry;
use crate::long_term::notes::Receipt;
use crate::text::secrets::masked;

/// Characters of a message that are quoted.
const QUOTED: usize = 2_000;

/// The message that something came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin<'a> {
    /// By the name that it has now.
    pub(super) session: Cow<'a, str>,
    pub(super) message: &'a str,
    when: When,
}

/// What is known of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    At(Timestamp),
    /// Not behind this.
    Until(Option<Timestamp>),
}

impl<'a> Origin<'a> {
    pub(super) fn of(receipt: &'a Receipt) -> Self {
        Self {
            session: receipt.what.session.as_str().into(),
            message: &receipt.what.message,
            when: When::Until(receipt.at),
        }
    }

    pub(super) fn is(&self, message: &Message) -> bool {
        let fits = match (self.when, message.at) {
            (When::At(said), at) => at.is_some_and(|at| at.unix() == said.unix()),
            (When::Until(Some(noted)), Some(at)) => at.unix() <= noted.unix(),
            (When::Until(_), _) => true,
        };
        fits && message.id.as_str() == self.message
    }
}

impl MemoryView<'_> {
    /// Where an entry came from; `None` where it was kept by hand.
    pub(super) fn origin<'a>(&self, entry: &'a Entry) -> Option<Origin<'a>> {
        let from = entry.from.as_ref()?;
        let since = from.at.or(entry.created).unwrap_or(entry.at);
        // Without receipts no session is known to have another name.
        let renamed = self.captures.receipts.renamed().unwrap_or_default();
        let later = renamed
            .into_iter()
            .filter(|it| it.at.is_some_and(|at| at.unix() >= since.unix()));
        let session = later.fold(Cow::from(from.session.as_str()), |session, it| {
            if session == it.before {
                it.after.into()
            } else {
                session
            }
        });
        Some(Origin {
            session,
            message: &from.message,
            when: from.at.map_or(When::Until(Some(entry.at)), When::At),
        })
    }

    /// Returns where and when a message was said, and its words without secrets, each line behind `> `; or why they
    /// cannot be had.
    pub(super) fn quote(&self, origin: &Origin<'_>) -> (String, String) {
        let session = format!("session {}", origin.session);
        let (turn, message) = match self.message(origin) {
            Ok(found) => found,
            Err(why) => return (session, why),
        };
        let turn = turn.map_or_else(String::new, |turn| format!(", turn {turn}"));
        let at = message.at.map_or_else(String::new, |at| {
            let ago = at.ago(self.now);
            format!(", {} {} ({ago})", at.date(), at.time_of_day())
        });
        let place = format!("{session}{turn}{at}");
        let said = message.said();
        let said = masked(&said);
        let beginning: String = said.chars().take(QUOTED).collect();
        let lines = beginning.lines().map(|line| format!("> {line}"));
        let mut lines: Vec<String> = lines.collect();
        if beginning.len() < said.len() {
            lines.push("> …".to_owned());
        }
        (place, lines.join("\n"))
    }

    /// Returns a message and its turn, or why they cannot be had.
    pub(super) fn message(&self, origin: &Origin<'_>) -> Result<(Option<TurnId>, Message), String> {
        let session = origin.session.as_ref();
        let find = |session: &Session| {
            let index = session.messages().iter().position(|it| origin.is(it))?;
            let mut turns = session.turns().iter();
            let turn = turns.find(|turn| turn.messages.contains(&index));
            Some((turn.map(|turn| turn.id), session.messages()[index].clone()))
        };
        let gone = || format!("the message is no longer in session {session}");
        if let Some(open) = self.open.filter(|open| open.name().as_str() == session) {
            return find(open).ok_or_else(gone);
        }
        let cannot = |why: String| format!("cannot read the message: {why}");
        let name: SessionName = session.parse().map_err(|error| cannot(chain(&error)))?;
        let read = self.store.read(&name);
        let read = read.map_err(|error| cannot(chain(&error)))?;
        find(&read).ok_or_else(gone)
    }
}
