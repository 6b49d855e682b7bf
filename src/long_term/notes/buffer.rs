//! working-buffer.md: what is said while the window is more than half full, so that nothing is lost when it is made
//! smaller (Q22-Q24). Unit: one stretch of a session, from the exchange that crossed the line to the recovery.
//!
//! ```text
//!  # Working Buffer
//!
//!  **Status:** ACTIVE
//!  **Started:** 2026-02-14T15:23:05Z
//!
//!  ## [2026-02-14 15:23:05] Human
//!
//!  …
//!
//!  ## [2026-02-14 15:23:05] Agent (summary)
//!
//!  …
//! ```
//! A closed one goes to `working-buffer-20260214T152305Z.md` beside it; the newest ten of those are kept.

use std::io;

use super::daily::time_of;
use super::error::NotesError;
use super::excerpt::{Excerpt, Keep};
use super::markdown::{clipped, gap_after, neutral, sections};
use super::page::{EDITABLE, Edit, Page};
use super::workspace::Desk;
use crate::chat::Timestamp;
use crate::text::lines::one_line;

const ACTIVE: &str = "**Status:** ACTIVE";
const CLOSED: &str = "**Status:** CLOSED";
const STARTED: &str = "**Started:**";
/// Bytes in which the status is looked for.
const HEAD: usize = 1 << 10;
const USER_CHARS: usize = 4_000;
const AGENT_CHARS: usize = 200;
/// Bytes of the file, and what it is cut down to, so that not every exchange cuts it.
const MAX: usize = 200 << 10;
const LEFT: usize = 160 << 10;
/// Closed ones that are kept.
const KEPT: usize = 10;
/// Closed ones of the same second.
const MAX_ALIKE: u32 = 100;

/// The file of a session.
#[derive(Clone, Debug)]
pub struct Buffer<'a> {
    desk: &'a Desk,
    /// Relative to the workspace, without `.md`.
    name: String,
    page: Page<'a>,
}

impl<'a> Buffer<'a> {
    pub(super) fn new(desk: &'a Desk, name: &str) -> Self {
        Self {
            desk,
            name: name.to_owned(),
            page: Page::new(desk, &format!("{name}.md")),
        }
    }

    /// Whether exchanges are being kept.
    pub fn is_active(&self) -> Result<bool, NotesError> {
        if self.page.size()?.is_none() {
            return Ok(false);
        }
        Ok(has_line(&self.page.head(HEAD)?, ACTIVE))
    }

    /// When the active one was begun; `None` where none is active, or a person took the line out.
    pub fn started(&self) -> Result<Option<Timestamp>, NotesError> {
        if !self.is_active()? {
            return Ok(None);
        }
        let head = self.page.head(HEAD)?;
        let mut lines = head.lines();
        Ok(lines.find_map(|line| Timestamp::parse(line.strip_prefix(STARTED)?.trim())))
    }

    /// Adds an exchange; begins a buffer where none is active. The oldest exchanges leave one that is full.
    pub fn append(&self, at: Timestamp, user: &str, agent: &str) -> Result<(), NotesError> {
        if self.page.size()?.is_some() && !self.is_active()? {
            self.set_aside(at)?;
        }
        let exchange = exchange(at, user, agent);
        if self.page.size()?.is_some_and(|size| size > EDITABLE) {
            self.set_aside(at)?;
        }
        self.page.edit(|text| {
            if text.trim().is_empty() {
                let whole = format!("{}{exchange}", header(at));
                return Ok((Edit::replace_adding(whole, exchange.clone()), ()));
            }
            let more = format!("{}{exchange}", gap_after(text));
            let whole = format!("{text}{more}");
            if whole.len() <= MAX {
                return Ok((Edit::Append(more), ()));
            }
            let whole = without_oldest(&whole);
            Ok((Edit::replace_adding(whole, exchange.clone()), ()))
        })
    }

    /// Closes it and puts it away; whether there was an active one.
    pub fn close(&self, at: Timestamp) -> Result<bool, NotesError> {
        if !self.is_active()? {
            return Ok(false);
        }
        self.page.edit(|text| {
            let whole = text.replacen(ACTIVE, CLOSED, 1);
            Ok((Edit::replace(whole), ()))
        })?;
        self.set_aside(at)?;
        Ok(true)
    }

    /// The end of it, if it is active.
    pub fn read(&self, room: usize) -> Result<Option<Excerpt>, NotesError> {
        if self.is_active()? {
            self.page.excerpt(room, Keep::End)
        } else {
            Ok(None)
        }
    }

    /// Of the closed ones the newest stay: what was said is in history anyway. To be called under the lock.
    fn prune(&self) {
        let closed = self.closed().unwrap_or_default();
        let old = closed.len().saturating_sub(KEPT);
        for page in &closed[..old] {
            if let Err(error) = page.remove() {
                tracing::warn!("cannot remove {}: {error}", page.path.display());
            }
        }
    }

    fn closed(&self) -> Result<Vec<Page<'a>>, NotesError> {
        let folder = self.page.path.parent().unwrap_or(&self.page.path);
        let listed = self.desk.disk.list(folder);
        let listed = listed.map_err(NotesError::io("list", folder))?;
        let (within, stem) = self.name.rsplit_once('/').unwrap_or(("", &self.name));
        let mut closed: Vec<(Closed, String)> = listed
            .iter()
            .filter_map(|path| path.file_name()?.to_str())
            .filter_map(|name| Some((Closed::of(name, stem)?, format!("{within}/{name}"))))
            .collect();
        closed.sort_unstable();
        let pages = closed.into_iter();
        Ok(pages
            .map(|(_, source)| Page::new(self.desk, &source))
            .collect())
    }

    fn set_aside(&self, at: Timestamp) -> Result<(), NotesError> {
        let _held = self.page.hold()?;
        for number in 1..=MAX_ALIKE {
            let more = if number == 1 {
                String::new()
            } else {
                format!("-{number}")
            };
            let to = Page::new(
                self.desk,
                &format!("{}-{}{more}.md", self.name, at.compact()),
            );
            match self.page.rename(&to) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // Another process was first.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                done => {
                    done.map_err(NotesError::io("move", &self.page.path))?;
                    self.prune();
                    return Ok(());
                }
            }
        }
        let source = io::ErrorKind::AlreadyExists.into();
        Err(NotesError::io("move", &self.page.path)(source))
    }
}

/// When a buffer was closed, and which of that second it is.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Closed(String, u32);

impl Closed {
    /// `None` of any other file.
    fn of(name: &str, stem: &str) -> Option<Self> {
        let rest = name.strip_prefix(stem)?.strip_prefix('-')?;
        let rest = rest.strip_suffix(".md")?;
        let (time, number) = match rest.split_once('-') {
            Some((time, number)) => (time, number.parse().ok()?),
            None => (rest, 1),
        };
        is_compact(time).then(|| Self(time.to_owned(), number))
    }
}

/// `20260214T152305Z`.
fn is_compact(time: &str) -> bool {
    let is_shaped = |(at, c): (usize, char)| match at {
        8 => c == 'T',
        15 => c == 'Z',
        _ => c.is_ascii_digit(),
    };
    time.len() == "20260214T152305Z".len() && time.char_indices().all(is_shaped)
}

fn has_line(text: &str, line: &str) -> bool {
    text.lines().any(|it| it.trim_end() == line)
}

fn header(at: Timestamp) -> String {
    format!("# Working Buffer\n\n{ACTIVE}\n{STARTED} {}\n\n", at.iso())
}

fn exchange(at: Timestamp, user: &str, agent: &str) -> String {
    let time = format!("{} {}", at.date(), time_of(at));
    let user = neutral(&clipped(user.trim(), USER_CHARS));
    let agent = clipped(&one_line(agent), AGENT_CHARS);
    let agent = neutral(&agent);
    format!("## [{time}] Human\n\n{user}\n\n## [{time}] Agent (summary)\n\n{agent}\n")
}

/// What is before the first exchange, a note, and the newest exchanges.
fn without_oldest(text: &str) -> String {
    let begins = |(title, _): &&(&str, _)| title.ends_with("] Human");
    let sections = sections(text);
    let mut starts = sections.iter().filter(begins).map(|(_, range)| range.start);
    let Some(first) = starts.next() else {
        return text.to_owned();
    };
    let mut last = first;
    let kept = starts
        .inspect(|start| last = *start)
        .find(|start| text.len() - start <= LEFT);
    let kept = kept.unwrap_or(last);
    let head = text[..first]
        .trim_end()
        .trim_end_matches(DROPPED)
        .trim_end();
    format!("{head}\n\n{DROPPED}\n\n{}", &text[kept..])
}

const DROPPED: &str = "[older exchanges dropped]";
