//! `memory/YYYY-MM-DD.md`: what was talked about on a day, an exchange a section, and the facts of the day (Q15,
//! X10-X14).
//!
//! ```text
//!  # Daily Notes 2026-02-14
//!
//!  ## [15:23:05]
//!
//!  **User:** …
//!  **Agent:** …
//!
//!  ## Session Facts (2026-02-14)
//!
//!  - …
//! ```
//! Limits of facts are measured on the facts' own lines.

use std::path::PathBuf;

use super::DailySettings;
use super::error::NotesError;
use super::excerpt::{Excerpt, Keep};
use super::long_term::new_bullets;
use super::markdown::{added, clipped, gap_after, line_end, sections};
use super::page::{EDITABLE, Edit, Page};
use super::workspace::Desk;
use crate::chat::Timestamp;
use crate::text::lines::one_line;

const FOLDER: &str = "memory";
/// Characters of a file from which on only facts are added to it.
const FULL: usize = 200_000;
/// A longer file is not written anew for a few facts: they get a section at its end.
const REWRITTEN: usize = 32_000;
/// How the title of a section of facts begins.
pub const FACTS: &str = "Session Facts (";
/// How the lines of an exchange begin: what the person said, and the reply.
pub const NOTED: [&str; 2] = ["**User:**", "**Agent:**"];

/// The notes of days.
#[derive(Clone, Debug)]
pub struct Daily<'a>(&'a Desk);

/// The file of one day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DayFile {
    /// `2026-02-14`.
    pub date: String,
    /// Relative to the workspace.
    pub source: String,
    pub path: PathBuf,
}

/// What became of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    Noted,
    /// The day has too many of them.
    Full,
}

/// What became of facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facts {
    Added,
    /// None of them is new.
    Known,
    /// The facts of the day would be too long.
    Full,
}

impl<'a> Daily<'a> {
    pub(super) fn new(desk: &'a Desk) -> Self {
        Self(desk)
    }

    /// Adds an exchange, clipped.
    pub fn exchange(
        &self,
        at: Timestamp,
        user: &str,
        agent: &str,
        settings: &DailySettings,
    ) -> Result<Noted, NotesError> {
        let user = clipped(&one_line(user), settings.user_chars);
        let agent = clipped(&one_line(agent), settings.agent_chars);
        let page = self.page(at);
        if page.size()?.is_some_and(|size| size > EDITABLE) {
            return Ok(Noted::Full);
        }
        page.edit(|text| {
            if text.len() > FULL && text.chars().count() > FULL {
                return Ok((Edit::None, Noted::Full));
            }
            let end = line_end(text);
            let [by_user, by_agent] = NOTED;
            let section = format!(
                "## [{}]{end}{end}{by_user} {user}{end}{by_agent} {agent}{end}",
                time_of(at)
            );
            let edit = if text.trim().is_empty() {
                let whole = format!("{text}{}{end}{end}{section}", title(at));
                Edit::replace_adding(whole, section)
            } else {
                Edit::Append(format!("{}{section}", gap_after(text)))
            };
            Ok((edit, Noted::Noted))
        })
    }

    /// Adds those facts that the day does not have yet, where its facts stay within `max` characters (X10, X11).
    pub fn facts(&self, at: Timestamp, facts: &[String], max: usize) -> Result<Facts, NotesError> {
        self.page(at).edit(|text| {
            let bullets = new_bullets(&facts_of(text), facts);
            if bullets.is_empty() {
                return Ok((Edit::None, Facts::Known));
            }
            let heading = format!("{FACTS}{})", at.date());
            let end = line_end(text);
            let base = if text.trim().is_empty() {
                &format!("{text}{}{end}", title(at))
            } else {
                text
            };
            let whole = added(base, &heading, &bullets);
            if facts_of(&whole).chars().count() > max {
                return Ok((Edit::None, Facts::Full));
            }
            if text.len() > REWRITTEN {
                let block = bullets.join(end);
                let more = format!("{}## {heading}{end}{end}{block}{end}", gap_after(text));
                return Ok((Edit::Append(more), Facts::Added));
            }
            Ok((
                Edit::replace_adding(whole, bullets.join("\n")),
                Facts::Added,
            ))
        })
    }

    /// Puts what `compacted` makes of the whole file in its place, where its facts have more than `over` characters and
    /// something came of it (X14). Whether it did.
    pub fn compact(
        &self,
        at: Timestamp,
        over: usize,
        mut compacted: impl FnMut(&str) -> Option<String>,
    ) -> Result<bool, NotesError> {
        self.page(at).edit(|text| {
            let is_long = facts_of(text).chars().count() > over;
            let whole = if is_long { compacted(text) } else { None };
            Ok(match whole.filter(|whole| whole != text) {
                Some(whole) => (Edit::replace(whole), true),
                None => (Edit::None, false),
            })
        })
    }

    /// The end of a day's notes.
    pub fn read(&self, at: Timestamp, room: usize) -> Result<Option<Excerpt>, NotesError> {
        self.page(at).excerpt(room, Keep::End)
    }

    /// The newest files whose names are dates, newest first (Q17).
    pub fn newest(&self, max: usize) -> Result<Vec<DayFile>, NotesError> {
        let folder = self.0.root.join(FOLDER);
        let listed = self
            .0
            .disk
            .list(&folder)
            .map_err(NotesError::io("list", &folder))?;
        let mut days: Vec<DayFile> = listed.into_iter().filter_map(day_file).collect();
        days.sort_unstable_by(|a, b| b.cmp(a));
        days.truncate(max);
        Ok(days)
    }

    fn page(&self, at: Timestamp) -> Page<'a> {
        Page::new(self.0, &format!("{FOLDER}/{}.md", at.date()))
    }
}

fn title(at: Timestamp) -> String {
    format!("# Daily Notes {}", at.date())
}

/// `15:23:05`.
pub(super) fn time_of(at: Timestamp) -> String {
    let iso = at.iso();
    iso.split_once('T').map_or_else(String::new, |(_, time)| {
        time.trim_end_matches('Z').to_owned()
    })
}

/// All sections of facts, one behind the other.
fn facts_of(text: &str) -> String {
    let facts = sections(text)
        .into_iter()
        .filter(|(title, _)| title.starts_with(FACTS));
    facts
        .map(|(_, range)| text[range].trim_end())
        .collect::<Vec<_>>()
        .join("\n")
}

fn day_file(path: PathBuf) -> Option<DayFile> {
    let date = path.file_name()?.to_str()?.strip_suffix(".md")?.to_owned();
    is_date(&date).then(|| DayFile {
        source: format!("{FOLDER}/{date}.md"),
        date,
        path,
    })
}

/// Whether it is a day that there is, written `2026-02-14`.
pub(super) fn is_date(date: &str) -> bool {
    date.len() == "2026-02-14".len() && Timestamp::parse(&format!("{date}T00:00:00Z")).is_some()
}
