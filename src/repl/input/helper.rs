//! What rustyline asks while a line is edited: whether it is complete, and what it can go on with.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustyline::completion::Pair;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::SearchDirection;
use rustyline::line_buffer::LineBuffer;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Changeset, CompletionType, Context};

use super::continuation::{Enter, enter};
use super::paste::highlighted;
use super::resized::size;
use super::shared::{Shared, lock};
use crate::term::{fit_to, harmless, thousands, width};

/// Stands in front of a description and nowhere else, so that it can be found and shown dim.
const DESCRIPTION: char = '\u{a0}';

/// Knows what a begun line can go on with. Asked at every key for the hint, so it must be quick.
pub trait Complete: Send + fmt::Debug {
    fn complete(&self, line: &str, cursor: usize) -> Completions;
}

/// What can stand in a line from byte `start` to the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    pub start: usize,
    pub candidates: Vec<Candidate>,
}

/// One of them, with what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub replacement: String,
    pub description: String,
}

/// What rustyline asks while a line is edited.
pub(super) struct Helper {
    pub(super) completer: Box<dyn Complete>,
    pub(super) shared: Arc<Shared>,
}

impl rustyline::Helper for Helper {}

impl Validator for Helper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_verbatim = self.shared.is_verbatim.load(Ordering::Relaxed);
        Ok(if !is_verbatim && enter(context.input()) == Enter::Break {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl rustyline::completion::Completer for Helper {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        if lock(&self.shared.edit).is_some() {
            // An only candidate that is longer than nothing is taken at once.
            let taken = Pair {
                display: String::new(),
                replacement: " ".to_owned(),
            };
            return Ok((cursor, vec![taken]));
        }
        if self.shared.breaks_line.swap(false, Ordering::Relaxed) {
            let line_break = Pair {
                display: String::new(),
                replacement: "\n".to_owned(),
            };
            return Ok((cursor - 1, vec![line_break]));
        }
        let Completions { start, candidates } = self.completer.complete(line, cursor);
        Ok((start, pairs(candidates, cursor - start, size())))
    }

    /// A command of ours reaches the line in no other way.
    fn update(&self, line: &mut LineBuffer, start: usize, elected: &str, changes: &mut Changeset) {
        match lock(&self.shared.edit).take() {
            Some(edit) => {
                if !edit.range.is_empty() || !edit.text.is_empty() {
                    line.replace(edit.range, &edit.text, changes);
                }
                line.set_pos(edit.cursor);
            }
            None => line.replace(start..line.pos(), elected, changes),
        }
    }
}

/// What the editor is given for candidates, of which so many bytes are typed: no more than the screen shows at once,
/// since it shows others in pages, which no Ctrl-C ends.
fn pairs(
    mut candidates: Vec<Candidate>,
    typed: usize,
    (columns, rows): (usize, usize),
) -> Vec<Pair> {
    let widths = candidates.iter().map(|it| width(&it.replacement));
    let widest = widths.max().unwrap_or(0);
    let is_described = candidates.iter().any(|it| !it.description.is_empty());
    let lines = rows.saturating_sub(2).max(1);
    let beside = if is_described {
        1
    } else {
        (columns / (widest.max(MORE) + 2)).max(1)
    };
    let room = lines * beside;
    let more = (candidates.len() > room).then(|| candidates.len() + 1 - room);
    if more.is_some() {
        let common = common_beginning(&candidates);
        if common.len() > typed {
            let replacement = common.to_owned();
            let display = String::new();
            return vec![Pair {
                display,
                replacement,
            }];
        }
        candidates.truncate(room - 1);
    }
    let pair = |candidate: Candidate| candidate.pair(widest, is_described, columns);
    let mut pairs: Vec<Pair> = candidates.into_iter().map(pair).collect();
    pairs.extend(more.map(|more| Pair {
        display: format!("\u{2026} {} more", thousands(more)),
        replacement: String::new(),
    }));
    pairs
}

/// Columns of `… 10,000 more`.
const MORE: usize = 14;

fn common_beginning(candidates: &[Candidate]) -> &str {
    let mut all = candidates.iter().map(|it| it.replacement.as_str());
    let first = all.next().unwrap_or_default();
    let length = all.fold(first.len(), |length, other| {
        let same = first[..length].chars().zip(other.chars());
        same.take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum()
    });
    &first[..length]
}

impl Candidate {
    /// With its description in a column of its own, as far as that fits; the editor then puts one in each line.
    fn pair(self, widest: usize, is_described: bool, columns: usize) -> Pair {
        let name = harmless(&self.replacement).replace(DESCRIPTION, " ");
        let display = if is_described {
            // What is wider is cut before the descriptions lose all their room.
            let widest = widest.min(columns * 2 / 3);
            let name = fit_to(&name, widest);
            let space = " ".repeat(widest.saturating_sub(width(&name)) + 1);
            let description = harmless(&self.description).replace('\n', " ");
            let line = format!("{name}{space}{DESCRIPTION}{description}");
            let line = fit_to(&line, columns.saturating_sub(1)).into_owned();
            // So wide that no second one has room beside it.
            let missing = (columns / 2).saturating_sub(width(&line));
            line + &" ".repeat(missing)
        } else {
            fit_to(&name, columns.saturating_sub(2)).into_owned()
        };
        Pair {
            display,
            replacement: self.replacement,
        }
    }
}

/// What a line may go on with: shown as far as it fits, taken whole.
pub(super) struct Suggestion {
    shown: String,
    whole: String,
}

impl Hint for Suggestion {
    fn display(&self) -> &str {
        &self.shown
    }

    fn completion(&self) -> Option<&str> {
        Some(&self.whole)
    }
}

/// The rest of the newest input that began so.
fn remembered(line: &str, context: &Context<'_>) -> Option<String> {
    let history = context.history();
    let mut from = history.len().checked_sub(1)?;
    loop {
        let found = history
            .starts_with(line, from, SearchDirection::Reverse)
            .ok()??;
        let rest = found.entry.strip_prefix(line).unwrap_or_default();
        // One of several lines would push the prompt about.
        if !rest.trim().is_empty() && !found.entry.contains('\n') {
            return Some(rest.to_owned());
        }
        from = found.idx.checked_sub(1)?;
    }
}

impl Hinter for Helper {
    type Hint = Suggestion;

    fn hint(&self, line: &str, cursor: usize, context: &Context<'_>) -> Option<Suggestion> {
        let hint = self.suggestion(line, cursor, context);
        let shown = hint.as_ref().map_or("", |hint| hint.display());
        self.shared.draw(line, cursor, shown);
        hint
    }
}

impl Helper {
    fn suggestion(&self, line: &str, cursor: usize, context: &Context<'_>) -> Option<Suggestion> {
        let is_plain = !line.contains('\n') && !self.shared.is_verbatim.load(Ordering::Relaxed);
        if cursor < line.len() || line.trim().is_empty() || !is_plain {
            return None;
        }
        let whole = self
            .only_candidate(line)
            .or_else(|| remembered(line, context))?;
        let (columns, _) = size();
        let used = width(&lock(&self.shared.drawn).prompt) + width(line);
        let room = columns - used % columns - 1;
        Some(Suggestion {
            shown: fit_to(&harmless(&whole), room).into_owned(),
            whole,
        })
    }

    /// The rest of the only candidate.
    fn only_candidate(&self, line: &str) -> Option<String> {
        let Completions { start, candidates } = self.completer.complete(line, line.len());
        let [only] = candidates.as_slice() else {
            return None;
        };
        let rest = only.replacement.strip_prefix(line.get(start..)?)?;
        (!rest.trim().is_empty()).then(|| rest.to_owned())
    }
}

impl Highlighter for Helper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        highlighted(line)
    }

    fn highlight_candidate<'c>(&self, candidate: &'c str, _: CompletionType) -> Cow<'c, str> {
        match candidate.split_once(DESCRIPTION) {
            Some((name, description)) => Cow::Owned(format!("{name} \x1b[2m{description}\x1b[22m")),
            None => Cow::Borrowed(candidate),
        }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[2m{hint}\x1b[0m"))
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(names: impl IntoIterator<Item = String>) -> Vec<Candidate> {
        let with = |replacement| Candidate {
            replacement,
            description: String::new(),
        };
        names.into_iter().map(with).collect()
    }

    #[test]
    fn no_more_candidates_are_shown_than_the_screen_has_room_for() {
        let names = || candidates((0..70_000).map(|n| format!("file-{n:05}")));
        let shown = pairs(names(), "file-".len(), (40, 12));
        let last = shown.last().unwrap();
        // Ten lines of two columns.
        assert_eq!((shown.len(), shown[0].display.as_str()), (20, "file-00000"));
        assert_eq!(
            (last.display.as_str(), last.replacement.as_str()),
            ("… 69,981 more", "")
        );
        // What all begin with is typed first.
        let shown = pairs(names(), 1, (40, 12));
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].replacement, "file-");
        // With what they mean, each has a line.
        let mut described = candidates((0..40).map(|n| format!("{n}-session")));
        described[3].description = "What was said first".to_owned();
        let shown = pairs(described, 0, (40, 12));
        assert_eq!(shown.len(), 10);
        assert!(
            shown[3].display.ends_with("What was said first"),
            "{}",
            shown[3].display
        );
        assert_eq!(shown[9].display, "\u{2026} 31 more");
        let few = candidates(["änd".into(), "äös".into()]);
        assert_eq!(common_beginning(&few), "ä");
        assert_eq!(pairs(few, 0, (40, 12)).len(), 2);
    }
}
