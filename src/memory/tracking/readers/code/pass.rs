//! One pass over the lines of a text: fences, frames and errors, in the order in which they stand.

use regex::Captures;

use super::errors::{Signs, Table, Where};
use super::paths::Paths;

/// Characters of a message.
const MAX: usize = 200;

/// Lines without a frame after which an error has no place.
const REACH: usize = 16;

/// An error that was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) text: String,
    pub(super) place: Option<String>,
    /// The part that may have been told before.
    pub(super) same: Option<String>,
    /// Stands among code: only a place makes it an error.
    pub(super) is_doubtful: bool,
}

/// A frame above.
#[derive(Debug)]
struct Above {
    place: Option<String>,
    is_traceback: bool,
    /// Blanks before it: the error of a traceback has fewer.
    indent: usize,
    age: usize,
}

/// The state of one pass over the lines.
pub(super) struct Pass<'e> {
    table: &'e Table,
    signs: &'e Signs,
    paths: &'e Paths,
    found: Vec<Found>,
    /// Marker of the open fence, and whether it is around a program.
    fence: Option<(&'static str, bool)>,
    above: Option<Above>,
    /// The file that the lines up to the next empty one are about.
    heading: Option<String>,
    /// The error whose frame is looked for, and the lines since the last frame.
    below: Option<(usize, usize)>,
    /// The error whose message is looked for.
    next: Option<Found>,
}

impl<'e> Pass<'e> {
    pub(super) fn new(table: &'e Table, signs: &'e Signs, paths: &'e Paths) -> Self {
        Self {
            table,
            signs,
            paths,
            found: Vec::new(),
            fence: None,
            above: None,
            heading: None,
            below: None,
            next: None,
        }
    }

    pub(super) fn found(self) -> Vec<Found> {
        self.found
    }

    pub(super) fn line(&mut self, line: &str) {
        let content = line.trim();
        if content.is_empty() {
            self.heading = None;
        }
        if content.is_empty() || self.fences(content) {
            return;
        }
        if let Some(mut error) = self.next.take() {
            error.text.push_str(&capped(content));
            self.found.push(error);
            return;
        }
        let indent = line.len() - line.trim_start().len();
        let above = self.above.as_ref();
        let in_traceback =
            above.is_some_and(|a| a.is_traceback && a.age < REACH / 2 && indent < a.indent);
        if in_traceback || self.signs.gate.is_match(content) {
            if self.signs.never.is_match(content) {
                self.below = None;
                return;
            }
            if self.row(content, in_traceback) {
                return;
            }
            self.quoted(content);
        }
        self.frame(content, indent);
    }

    /// Whether the line opens or closes a fence.
    fn fences(&mut self, content: &str) -> bool {
        if let Some((marker, _)) = self.fence {
            let closes = content.starts_with(marker);
            if closes {
                self.fence = None;
            }
            return closes;
        }
        let marker = ["```", "~~~"].into_iter().find(|m| content.starts_with(m));
        self.fence = marker.map(|marker| {
            let name = content.trim_start_matches(['`', '~']).trim().to_lowercase();
            (marker, self.table.languages.contains(&name))
        });
        self.fence.is_some()
    }

    fn row(&mut self, content: &str, in_traceback: bool) -> bool {
        let signs = self.signs;
        for (place, parts) in signs.rows.captures(content) {
            let row = &self.table.rows[place];
            if row.quoted || row.traceback && !in_traceback {
                continue;
            }
            let message = parts.name("text").map_or("", |text| text.as_str());
            let mut error = Found {
                text: format!("{}{}", row.prefix, capped(message)),
                place: self.place(&parts),
                same: parts.name("same").map(|same| same.as_str().to_owned()),
                is_doubtful: self.fence.is_some_and(|(_, is_code)| is_code),
            };
            let above = self.above.take_if(|_| row.place.contains(&Where::Above));
            // A traceback is above or nowhere; another frame above holds until one below is seen.
            let looks_below = row.place.contains(&Where::Below)
                && error.place.is_none()
                && !above.as_ref().is_some_and(|above| above.is_traceback);
            error.place = error.place.or_else(|| above.and_then(|above| above.place));
            self.below = None;
            if row.next {
                self.next = Some(error);
            } else {
                if looks_below {
                    self.below = Some((self.found.len(), 0));
                }
                self.found.push(error);
            }
            return true;
        }
        false
    }

    fn frame(&mut self, content: &str, indent: usize) {
        let below = self.below.take();
        self.below = below.and_then(|(at, age)| (age < REACH).then_some((at, age + 1)));
        let above = self.above.take();
        self.above = above.and_then(|above| {
            let age = above.age + 1;
            (age < REACH).then_some(Above { age, ..above })
        });
        if content.contains(' ') && !content.contains(|c: char| c.is_ascii_digit()) {
            return;
        }
        let signs = self.signs;
        let Some((at, parts)) = signs.frames.captures(content).next() else {
            return;
        };
        let frame = &self.table.frames[at];
        if frame.heading {
            self.heading = parts.name("file").map(|file| file.as_str().to_owned());
            return;
        }
        let place = if self.paths.is_library_frame(content) {
            None
        } else {
            self.place(&parts)
        };
        match frame.place {
            Where::Above => {
                let earlier = self
                    .above
                    .take()
                    .filter(|a| a.is_traceback == frame.traceback);
                self.above = Some(Above {
                    place: place.or_else(|| earlier.and_then(|earlier| earlier.place)),
                    is_traceback: frame.traceback,
                    indent,
                    age: 0,
                });
            }
            Where::Below => {
                if let Some((error, age)) = &mut self.below {
                    *age = 0;
                    if place.is_some() {
                        self.found[*error].place = place;
                        self.below = None;
                    }
                }
            }
        }
    }

    /// `file:line:col` of the groups, unless the file is a library's.
    fn place(&self, parts: &Captures<'_>) -> Option<String> {
        let file = parts.name("file").map(|file| file.as_str());
        let file = file.or(self.heading.as_deref())?;
        let file = file.strip_prefix("file://").unwrap_or(file);
        let file = file.trim_start_matches("./");
        let line = parts.name("line")?.as_str();
        if self.paths.is_library(file) || file.starts_with('<') || file.starts_with("node:") {
            return None;
        }
        Some(match parts.name("col") {
            Some(col) => format!("{file}:{line}:{}", col.as_str()),
            None => format!("{file}:{line}"),
        })
    }

    /// Errors inside a line of prose: in back-ticks or quotes, or after words that announce them.
    fn quoted(&mut self, content: &str) {
        let in_code = self.fence.is_some_and(|(_, is_code)| is_code);
        if in_code || self.signs.code.is_match(content) {
            return;
        }
        let mut outside = String::with_capacity(content.len());
        let mut rest = content;
        let mut read = 0;
        while let Some(open) = rest.find(['`', '"', '“']) {
            let quote = rest[open..].chars().next().unwrap_or('`');
            let from = open + quote.len_utf8();
            let closing = if quote == '“' { '”' } else { quote };
            let Some(length) = rest[from..].find(closing) else {
                break;
            };
            let span = &rest[from..from + length];
            let end = from + length + closing.len_utf8();
            if self.span(&content[..read + open], span) {
                outside.push_str(&rest[..open]);
                outside.extend(std::iter::repeat_n(' ', end - open));
            } else {
                outside.push_str(&rest[..end]);
            }
            rest = &rest[end..];
            read += end;
        }
        outside.push_str(rest);
        for (_, parts) in self.signs.inline.captures(&outside) {
            if let Some(text) = parts.name("text")
                && !self.is_talk(&outside[..text.start()])
            {
                self.push(text.as_str(), None);
                return;
            }
        }
    }

    /// Whether what is quoted is an error.
    fn span(&mut self, before: &str, span: &str) -> bool {
        let signs = self.signs;
        let span = span.trim();
        if !signs.gate.is_match(span) || signs.never.is_match(span) || signs.code.is_match(span) {
            return false;
        }
        let mut rows = signs.rows.captures(span);
        let row =
            rows.find(|(row, _)| !self.table.rows[*row].traceback && !self.table.rows[*row].next);
        let Some((_, parts)) = row else {
            return false;
        };
        let Some(text) = parts.name("text").filter(|_| !self.is_talk(before)) else {
            return false;
        };
        self.push(text.as_str(), self.place(&parts));
        true
    }

    fn push(&mut self, text: &str, place: Option<String>) {
        self.found.push(Found {
            text: capped(text),
            place,
            same: None,
            is_doubtful: false,
        });
    }

    /// Whether the sentence up to here speaks of an error that did not happen.
    fn is_talk(&self, before: &str) -> bool {
        let starts = [". ", "? ", "! "]
            .iter()
            .filter_map(|end| before.rfind(end));
        let sentence = &before[starts.max().unwrap_or(0)..];
        self.signs.talk.is_match(sentence)
    }
}

fn capped(text: &str) -> String {
    let text = text.trim();
    let end = text
        .char_indices()
        .nth(MAX)
        .map_or(text.len(), |(end, _)| end);
    text[..end].trim_end().to_owned()
}
