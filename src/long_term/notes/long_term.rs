//! MEMORY.md: what is known from all conversations. Read, added to by section, corrected a line at a time; a person
//! edits it too (Q13, Q14, Q20, Q21, X12).
//!
//! Whether something is known already is not decided here: whoever adds a bullet judges the lines that are there.

use super::error::NotesError;
use super::excerpt::{Excerpt, Keep};
use super::markdown::{Line, added, changed, lines};
use super::page::{EDITABLE, Edit, Page};
use crate::chat::Timestamp;
use crate::text::lines::one_line;

/// The file, as it is named everywhere.
pub const LONG_TERM: &str = "MEMORY.md";
pub(super) const TITLE: &str = "# Memory\n";

const MARK: &str = "(superseded ";
/// How the title of a section of facts begins.
pub const EXTRACTED: &str = "Auto-extracted (";
/// So much of either end of a file that is too large to be read whole is looked at before a bullet is added.
const LOOKED_AT: usize = 1 << 20;

/// Where a bullet belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Section {
    /// What a person said in passing (Q13).
    AutoCaptured,
    /// What the model was told to keep (Q20).
    Notes,
}

/// What is to become of a bullet, and of the lines that are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    Add,
    /// It is there; nothing is written.
    Known,
    /// It is added, and the lines of these numbers are marked as outdated.
    Supersedes(Vec<usize>),
}

/// What became of a bullet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    Added,
    Known,
    /// Added, at the end: the file is so large that no other line of it was changed and not every one was looked at.
    AtEndOfLarge,
    /// There is no file, and none is made for this.
    NoFile,
    /// There is too much in it already.
    Full,
}

/// The file.
#[derive(Clone, Debug)]
pub struct LongTerm<'a>(Page<'a>);

impl Section {
    fn title(&self) -> &'static str {
        match self {
            Self::AutoCaptured => "Auto-captured",
            Self::Notes => "Notes",
        }
    }
}

impl<'a> LongTerm<'a> {
    pub(super) fn new(page: Page<'a>) -> Self {
        Self(page)
    }

    /// Adds `- text` to a section, unless the judge says otherwise; the judge sees every line as it is now.
    pub fn add(
        &self,
        at: Timestamp,
        section: &Section,
        text: &str,
        mut judge: impl FnMut(&[Line]) -> Judgement,
    ) -> Result<Added, NotesError> {
        let added = self.add_all(at, section, &[text.to_owned()], |_, lines| judge(lines))?;
        Ok(added.first().copied().unwrap_or(Added::Known))
    }

    /// The same with several, in one write. The judge hears which one it is about, and sees those that come before it;
    /// all are judged anew, from the first on, where a hand changes the file meanwhile.
    pub fn add_all(
        &self,
        at: Timestamp,
        section: &Section,
        texts: &[String],
        mut judge: impl FnMut(usize, &[Line]) -> Judgement,
    ) -> Result<Vec<Added>, NotesError> {
        let bullets: Vec<String> = texts
            .iter()
            .map(|it| format!("- {}", one_line(it)))
            .collect();
        if self.0.size()?.is_some_and(|size| size > EDITABLE) {
            return self.add_to_large(section.title(), &bullets, judge);
        }
        self.0.edit(|text| {
            let mut whole = text.to_owned();
            let (mut results, mut new) = (Vec::new(), Vec::new());
            for (index, bullet) in bullets.iter().enumerate() {
                let outdated = match judge(index, &lines(&whole)) {
                    Judgement::Known => {
                        results.push(Added::Known);
                        continue;
                    }
                    Judgement::Add => Vec::new(),
                    Judgement::Supersedes(numbers) => numbers,
                };
                if whole.is_empty() {
                    TITLE.clone_into(&mut whole);
                }
                for number in outdated {
                    whole = superseded(&whole, number, at);
                }
                whole = added(&whole, section.title(), std::slice::from_ref(bullet));
                new.push(bullet.as_str());
                results.push(Added::Added);
            }
            if new.is_empty() {
                return Ok((Edit::None, results));
            }
            Ok((Edit::replace_adding(whole, new.join("\n")), results))
        })
    }

    /// Adds facts under the heading of their day, if there is such a file and it has fewer than `below` characters
    /// (X12). Facts that are there, in whatever section, are left out.
    pub fn add_extracted(
        &self,
        at: Timestamp,
        facts: &[String],
        below: usize,
    ) -> Result<Added, NotesError> {
        match self.0.size()? {
            None => return Ok(Added::NoFile),
            Some(size) if size > EDITABLE => return Ok(Added::Full),
            Some(_) => {}
        }
        self.0.edit(|text| {
            if text.chars().count() >= below {
                return Ok((Edit::None, Added::Full));
            }
            let bullets = new_bullets(text, facts);
            if bullets.is_empty() {
                return Ok((Edit::None, Added::Known));
            }
            let title = format!("{EXTRACTED}{})", at.date());
            let whole = added(text, &title, &bullets);
            Ok((
                Edit::replace_adding(whole, bullets.join("\n")),
                Added::Added,
            ))
        })
    }

    pub(super) fn page(&self) -> &Page<'a> {
        &self.0
    }

    /// Every line with its section; of a file that is too large only an error.
    pub fn lines(&self) -> Result<Vec<Line>, NotesError> {
        Ok(lines(&self.0.read()?.unwrap_or_default()))
    }

    /// Marks a line as outdated, if it still is there.
    pub fn supersede(&self, at: Timestamp, line: &Line) -> Result<(), NotesError> {
        self.0.edit(|text| {
            let number = self.0.place_of(text, line)?;
            let whole = superseded(text, number, at);
            Ok((Edit::replace(whole), ()))
        })
    }

    /// Takes a line out, if it still is there.
    pub fn remove(&self, line: &Line) -> Result<(), NotesError> {
        self.0.remove_line(line)
    }

    /// What of it goes into a request: its beginning and its end, where it has more than `room` characters.
    pub fn read(&self, room: usize) -> Result<Option<Excerpt>, NotesError> {
        self.0.excerpt(room, Keep::Both)
    }

    fn add_to_large(
        &self,
        title: &str,
        bullets: &[String],
        mut judge: impl FnMut(usize, &[Line]) -> Judgement,
    ) -> Result<Vec<Added>, NotesError> {
        let _held = self.0.hold()?;
        let tail = lines(&self.0.tail(LOOKED_AT)?);
        let is_open = tail
            .last()
            .is_some_and(|line| line.section.as_deref() == Some(title));
        let mut seen = lines(&self.0.head(LOOKED_AT)?);
        seen.extend(tail);
        let (mut results, mut new) = (Vec::new(), Vec::new());
        for (index, bullet) in bullets.iter().enumerate() {
            if judge(index, &seen) == Judgement::Known {
                results.push(Added::Known);
                continue;
            }
            seen.push(Line {
                number: seen.last().map_or(1, |line| line.number + 1),
                section: Some(title.to_owned()),
                text: bullet.clone(),
            });
            new.push(bullet.as_str());
            results.push(Added::AtEndOfLarge);
        }
        if new.is_empty() {
            return Ok(results);
        }
        let gap = if self.0.lacks_end()? { "\n" } else { "" };
        let heading = if is_open {
            String::new()
        } else {
            format!("\n## {title}\n\n")
        };
        let new = new.join("\n");
        self.0.append(&format!("{gap}{heading}{new}\n"))?;
        Ok(results)
    }
}

/// Facts as bullets, each once and none that is a line of the text.
pub(super) fn new_bullets(text: &str, facts: &[String]) -> Vec<String> {
    let mut bullets: Vec<String> = Vec::new();
    for fact in facts {
        let bullet = format!("- {}", one_line(fact));
        let is_known = text.lines().any(|line| line.trim() == bullet);
        if !is_known && bullet != "- " && !bullets.contains(&bullet) {
            bullets.push(bullet);
        }
    }
    bullets
}

/// A line as it was before it was marked, and the day of the mark.
pub fn unmarked(line: &str) -> Option<(String, &str)> {
    let start = line.len() - line.trim_start().len();
    let is_bullet = ["- ", "* ", "+ "]
        .iter()
        .any(|mark| line[start..].starts_with(mark));
    let (mark, content) = line.split_at(if is_bullet { start + 2 } else { start });
    let (date, rest) = content.strip_prefix(MARK)?.split_once(") ")?;
    Some((format!("{mark}{rest}"), date))
}

/// The text with a line marked: `- (superseded 2026-02-14) **preference**: …`. One that is marked stays as it is.
fn superseded(text: &str, number: usize, at: Timestamp) -> String {
    let Some(line) = lines(text).into_iter().nth(number.wrapping_sub(1)) else {
        return text.to_owned();
    };
    let indent = line.text.len() - line.text.trim_start().len();
    let is_bullet = ["- ", "* ", "+ "]
        .iter()
        .any(|mark| line.text[indent..].starts_with(mark));
    let (mark, content) = line
        .text
        .split_at(if is_bullet { indent + 2 } else { indent });
    if content.starts_with(MARK) {
        return text.to_owned();
    }
    changed(
        text,
        number,
        Some(&format!("{mark}{MARK}{}) {content}", at.date())),
    )
}
