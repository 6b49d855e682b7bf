//! Choosing a session from a list: filtered by name, first words and what was said, the one used last first.
//!
//! Unit: one choice. Only names are needed to begin; what was said is read meanwhile by a thread, newest first, and
//! searched as plain text, because a word that is half typed is in no index.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use regex::{Regex, RegexBuilder};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::listing::count;
use super::{Signal, Signals};
use crate::chat::{Role, Session, SessionName, Timestamp};
use crate::store::{SessionInfo, SessionStore};
use crate::term::{Key, Keys, List, Output};

/// Between one look at the size of the screen and the next.
const LOOK: Duration = Duration::from_millis(100);
/// Bytes of what was said that are searched, of all sessions and of one.
const MAX_ALL: usize = 64 << 20;
const MAX_SAID: usize = 1 << 20;
/// Characters shown in front of a word that was found, so few that it is seen on a narrow screen.
const BEFORE: usize = 12;
const MAX_QUERY: usize = 200;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picked {
    Session(SessionName),
    Nothing,
    /// The process was told to end.
    Leave,
}

/// Leaves out the sessions that a question of the command line made; tells how many those are.
pub fn without_one_shots(mut sessions: Vec<SessionInfo>) -> (Vec<SessionInfo>, usize) {
    let all = sessions.len();
    sessions.retain(|info| !info.name.is_of_question());
    let one_shots = all - sessions.len();
    (sessions, one_shots)
}

/// Lets a person choose among sessions, the last used first; of those left out of them so many are told. Needs a
/// terminal ([`Output::can_show_list`]).
pub async fn pick(
    (sessions, one_shots): (Vec<SessionInfo>, usize),
    store: &Arc<dyn SessionStore>,
    now: Timestamp,
    output: &mut Output,
    signals: &mut Signals,
) -> io::Result<Picked> {
    let names = sessions.iter().map(|info| info.name.clone()).collect();
    let mut said = read_said(Arc::clone(store), names)?;
    let mut sessions = Sessions::new(sessions, now);
    let mut keys = Keys::open()?;
    let mut query = String::new();
    let mut selected = 0;
    let mut is_reading = true;
    let picked = loop {
        let found = sessions.find(&query);
        selected = selected.min(found.len().saturating_sub(1));
        let rows: Vec<[String; 3]> = found.iter().map(|it| it.cells.clone()).collect();
        let more = if is_reading { "…" } else { "" };
        let left_out = match one_shots {
            0 => String::new(),
            n => format!(" · {} not listed", count(n, "one-shot run")),
        };
        let status = format!(
            "{} of {}{more} · type to filter, Esc closes{left_out}",
            found.len(),
            sessions.0.len()
        );
        let size = (output.columns(), output.rows());
        output.show_list(&List {
            label: "Session: ",
            query: &query,
            rows: &rows,
            selected,
            status: &status,
        });
        // Until something is to be drawn anew.
        let key = loop {
            tokio::select! {
                biased;
                key = keys.next() => break Some(key),
                signal = signals.next() => match signal {
                    Signal::Interrupt => break Some(Key::Cancel),
                    Signal::Terminate | Signal::Hangup => break None,
                },
                read = said.recv(), if is_reading => {
                    is_reading = read.is_some();
                    let mut read = read;
                    while let Some((index, text)) = read {
                        sessions.0[index].said = text;
                        read = said.try_recv().ok();
                    }
                    if !query.is_empty() || !is_reading {
                        break Some(Key::Other);
                    }
                }
                () = tokio::time::sleep(LOOK) => {
                    if size != (output.columns(), output.rows()) {
                        break Some(Key::Other);
                    }
                }
            }
        };
        let Some(key) = key else {
            break Picked::Leave;
        };
        let page = List::page(output.rows());
        let before = query.len();
        match key {
            Key::Cancel => break Picked::Nothing,
            Key::Enter => {
                if let Some(found) = found.get(selected) {
                    break Picked::Session(found.name.clone());
                }
            }
            Key::Up => selected = selected.saturating_sub(1),
            Key::Down => selected += 1,
            Key::PageUp => selected = selected.saturating_sub(page),
            Key::PageDown => selected += page,
            Key::Char(char) if query.len() < MAX_QUERY => query.push(char),
            Key::Backspace => drop(query.pop()),
            Key::EraseWord => {
                let kept = query.trim_end().rfind(char::is_whitespace);
                query.truncate(kept.map_or(0, |blank| blank + 1));
            }
            Key::EraseLine => query.clear(),
            Key::Char(_) | Key::Other => {}
        }
        if query.len() != before {
            selected = 0;
        }
    };
    output.end_list();
    Ok(picked)
}

/// Reads in a thread what was said in sessions, each by its index; the thread ends when nobody waits any more.
fn read_said(
    store: Arc<dyn SessionStore>,
    names: Vec<SessionName>,
) -> io::Result<UnboundedReceiver<(usize, String)>> {
    let (sender, receiver) = unbounded_channel();
    let work = move || read_all(store.as_ref(), &names, &sender);
    thread::Builder::new()
        .name("sessions".to_owned())
        .spawn(work)?;
    Ok(receiver)
}

fn read_all(
    store: &dyn SessionStore,
    names: &[SessionName],
    sender: &UnboundedSender<(usize, String)>,
) {
    let mut room = MAX_ALL;
    for (index, name) in names.iter().enumerate() {
        let Ok(session) = store.read(name) else {
            continue;
        };
        let text = said(&session);
        room = room.saturating_sub(text.len());
        if sender.send((index, text)).is_err() || room == 0 {
            return;
        }
    }
}

/// What person and model said, the newest of it where that is very much.
fn said(session: &Session) -> String {
    let mut newest = Vec::new();
    let mut length = 0;
    for message in session.messages().iter().rev() {
        if message.role != Role::Tool && !message.is_no_reply() {
            let text = message.said();
            length += text.len();
            newest.push(text);
        }
        if length > MAX_SAID {
            break;
        }
    }
    newest.reverse();
    newest.join("\n")
}

struct Sessions(Vec<Candidate>);

struct Candidate {
    name: SessionName,
    when: String,
    title: String,
    /// Empty until it was read.
    said: String,
}

/// Where the query stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    WholeName,
    BeginningOfName,
    Name,
    FirstWords,
    Said,
}

struct Found {
    name: SessionName,
    cells: [String; 3],
}

impl Sessions {
    fn new(sessions: Vec<SessionInfo>, now: Timestamp) -> Self {
        let candidates = sessions.into_iter().map(|info| Candidate {
            when: info.updated_at.map_or_else(String::new, |at| at.ago(now)),
            title: info.problem.unwrap_or(info.title),
            name: info.name,
            said: String::new(),
        });
        Self(candidates.collect())
    }

    /// Returns those in which every word of the query stands, the nearest first and of those the one used last.
    fn find(&self, query: &str) -> Vec<Found> {
        let words: Vec<Regex> = query.split_whitespace().filter_map(pattern).collect();
        let query = query.trim().to_lowercase();
        let mut found: Vec<(Rank, Found)> = Vec::new();
        for candidate in &self.0 {
            let name = candidate.name.as_str().to_lowercase();
            let title = candidate.title.to_lowercase();
            let is_named = words
                .iter()
                .all(|word| word.is_match(candidate.name.as_str()));
            let text = if is_named {
                candidate.title.clone()
            } else if let Some(text) = candidate.said_with(&words) {
                text
            } else {
                continue;
            };
            let rank = match () {
                () if query.is_empty() => Rank::Name,
                () if name == query => Rank::WholeName,
                () if name.starts_with(&query) => Rank::BeginningOfName,
                () if is_named => Rank::Name,
                () if title.contains(&query) => Rank::FirstWords,
                () => Rank::Said,
            };
            found.push((rank, candidate.found(text)));
        }
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, found)| found).collect()
    }
}

impl Candidate {
    fn found(&self, text: String) -> Found {
        Found {
            name: self.name.clone(),
            cells: [self.name.to_string(), self.when.clone(), text],
        }
    }

    /// Returns what was said around the first word that is not in the name; `None` where one of the words is nowhere.
    fn said_with(&self, words: &[Regex]) -> Option<String> {
        let mut shown: Option<(&str, usize)> = None;
        for word in words {
            if word.is_match(self.name.as_str()) {
                continue;
            }
            let in_title = word
                .find(&self.title)
                .map(|found| (self.title.as_str(), found));
            let (text, found) = match in_title {
                Some(found) => found,
                None => (self.said.as_str(), word.find(&self.said)?),
            };
            shown.get_or_insert((text, found.start()));
        }
        let (text, place) = shown.unwrap_or((&self.title, 0));
        Some(around(text, place))
    }
}

/// A line of text from a few characters before a place on.
fn around(text: &str, place: usize) -> String {
    const SHOWN: usize = 200;
    let line_start = text[..place].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[line_start..place];
    let start = before.char_indices().rev().nth(BEFORE - 1);
    let mut start = line_start + start.map_or(0, |(at, _)| at);
    if start > line_start
        && let Some(blank) = text[start..place].trim_end().find(' ')
    {
        start += blank + 1;
    }
    let cut = if start > line_start { "…" } else { "" };
    let shown: String = text[start..].chars().take(SHOWN).collect();
    format!("{cut}{}", shown.replace('\n', " "))
}

/// A word as it is looked for: anywhere, in either case.
fn pattern(word: &str) -> Option<Regex> {
    let mut pattern = RegexBuilder::new(&regex::escape(word));
    pattern.case_insensitive(true).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(name: &str, title: &str, said: &str) -> Candidate {
        Candidate {
            name: name.parse().unwrap(),
            when: String::new(),
            title: title.to_owned(),
            said: said.to_owned(),
        }
    }

    #[test]
    fn sessions_are_found_by_name_and_by_what_was_said() {
        let sessions = Sessions(vec![
            candidate(
                "work",
                "the harbour plan",
                "The HÄFEN of Frankfurt\nare small",
            ),
            candidate("harbour", "hello", "nothing else"),
            candidate("trip", "where to", "to the harbour of Hamburg we go"),
        ]);
        for (query, expected) in [
            ("", &["work", "harbour", "trip"][..]),
            ("harbour", &["harbour", "work", "trip"]),
            ("HAMB", &["trip"]),
            ("häfen wor", &["work"]),
            ("harbour small", &["work"]),
            (".*", &[]),
            ("nowhere", &[]),
        ] {
            let found = sessions.find(query);
            let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names, expected, "{query:?}");
        }
        let numbered = ["s12", "s11", "s1", "as1"];
        let numbered = Sessions(
            numbered
                .map(|name| candidate(name, "number 1", "s1"))
                .into_iter()
                .chain([
                    candidate("b", "hi", "number 1"),
                    candidate("a", "s1 it is", ""),
                ])
                .collect(),
        );
        let names = |query: &str| -> Vec<String> {
            let found = numbered.find(query).into_iter();
            found.map(|it| it.name.to_string()).collect()
        };
        assert_eq!(names("s1"), ["s1", "s12", "s11", "as1", "a"]);
        assert_eq!(names("number 1"), ["s12", "s11", "s1", "as1", "b"]);
        assert_eq!(
            sessions.find("hamburg")[0].cells[2],
            "…harbour of Hamburg we go"
        );
        assert_eq!(sessions.find("plan")[0].cells[2], "the harbour plan");
    }

    #[test]
    fn what_was_said_is_cut_between_characters() {
        let text = "日本語".repeat(20);
        for (place, _) in text.char_indices() {
            assert!(around(&text, place).contains(&text[place..]));
        }
    }
}
