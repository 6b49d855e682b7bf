//! A board in words: the block that stands in a prompt, and the parts it is made of.
//!
//! The block is a text of `config/blocks/`, in which `{{files}}` stands for the newest files. A line whose
//! section is empty is left out, and a paragraph of which no such line is left; so is the whole block.

use super::board::{Board, Entry, Section};
use super::kind::Shape;
use super::note::{Kind, Note};

/// Which sections may stand in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    Always,
    /// Only those touched at most so many turns ago; the objective always (C58).
    Within(u32),
}

impl Freshness {
    /// Whether a section that was touched `stale` turns ago is sent.
    pub fn allows(self, kind: Kind, stale: u64) -> bool {
        match self {
            Self::Always => true,
            Self::Within(_) if kind == Kind::Objective => true,
            Self::Within(most) => stale <= u64::from(most),
        }
    }
}

impl Board {
    /// The block for a prompt, at most `most` characters where a limit is given; `None` where there is
    /// nothing to say.
    pub fn block(
        &self,
        template: &str,
        freshness: Freshness,
        most: Option<usize>,
    ) -> Option<String> {
        let widest = self
            .sections
            .iter()
            .map(|section| section.kind().row().shown);
        let widest = widest.max().unwrap_or(0);
        // Shorter lists until it fits.
        (1..=widest).rev().find_map(|shown| {
            let block = self.filled(template, freshness, shown)?;
            let fits = most.is_none_or(|most| block.chars().count() <= most);
            fits.then_some(block)
        })
    }

    fn filled(&self, template: &str, freshness: Freshness, shown: usize) -> Option<String> {
        let value = |name: &str| {
            let section = Kind::parse(name).and_then(|kind| self.section(kind))?;
            let fresh = freshness.allows(section.kind(), self.stale(section.kind()));
            let shown = section.kind().row().shown.min(shown);
            fresh
                .then(|| section.value(shown))
                .filter(|value| !value.is_empty())
        };
        let mut says = false;
        let paragraphs = template.trim().split("\n\n").filter_map(|paragraph| {
            let lines: Vec<Line> = paragraph.lines().map(|line| fill(line, value)).collect();
            let has_place = lines
                .iter()
                .any(|line| *line != Line::Plain(String::new()) && line.has_place());
            let has_value = lines.iter().any(|line| matches!(line, Line::Filled(_)));
            says |= has_value;
            (has_value || !has_place).then(|| {
                let kept: Vec<String> = lines.into_iter().filter_map(Line::text).collect();
                kept.join("\n")
            })
        });
        let paragraphs: Vec<String> = paragraphs.collect();
        says.then(|| paragraphs.join("\n\n"))
    }
}

/// A line of a template.
#[derive(PartialEq, Eq)]
enum Line {
    Plain(String),
    Filled(String),
    /// Its section has nothing to say.
    Empty,
}

impl Line {
    fn has_place(&self) -> bool {
        !matches!(self, Self::Plain(_))
    }

    fn text(self) -> Option<String> {
        match self {
            Self::Plain(text) | Self::Filled(text) => Some(text),
            Self::Empty => None,
        }
    }
}

/// Fills the one place of a line. What is filled in is not looked at again: it comes from conversations.
fn fill(line: &str, value: impl Fn(&str) -> Option<String>) -> Line {
    let place = line.split_once("{{").and_then(|(before, rest)| {
        let (name, after) = rest.split_once("}}")?;
        Some((before, name.trim(), after))
    });
    match place {
        None => Line::Plain(line.to_owned()),
        Some((before, name, after)) => value(name).map_or(Line::Empty, |value| {
            Line::Filled(format!("{before}{value}{after}"))
        }),
    }
}

impl Section {
    /// The newest entries as they stand in a prompt.
    fn value(&self, shown: usize) -> String {
        let entries = self.entries();
        let newest = &entries[entries.len().saturating_sub(shown)..];
        let row = self.kind().row();
        match row.shape {
            Shape::Listed => {
                let texts: Vec<String> = newest
                    .iter()
                    .rev()
                    .map(|entry| words(&entry.note))
                    .collect();
                texts.join(if self.kind() == Kind::Fact {
                    "; "
                } else {
                    ", "
                })
            }
            Shape::Lines | Shape::Numbered | Shape::Timed => {
                let lines: Vec<String> =
                    newest.iter().map(|entry| line(entry, row.shape)).collect();
                lines.join("\n")
            }
        }
    }
}

fn line(entry: &Entry, shape: Shape) -> String {
    let words = words(&entry.note);
    match (shape, entry.at) {
        (Shape::Numbered, _) => format!("#{} {words}", entry.number),
        (Shape::Timed, Some(at)) => format!("- {} {words}", at.time_of_day()),
        (Shape::Lines | Shape::Listed | Shape::Timed, _) => format!("- {words}"),
    }
}

/// A note in one line: `Budget: $50k`, `PostgreSQL (because it has JSON; rejected: MongoDB)`.
pub fn words(note: &Note) -> String {
    let mut words = String::new();
    if let Some(label) = &note.label {
        words.push_str(label);
        words.push_str(": ");
    }
    words.push_str(&note.text);
    let mut asides = Vec::new();
    asides.extend(note.status.map(|status| status.as_str().to_owned()));
    asides.extend(note.place.clone());
    asides.extend(note.why.as_ref().map(|why| format!("because {why}")));
    if !note.instead_of.is_empty() {
        asides.push(format!("rejected: {}", note.instead_of.join(", ")));
    }
    asides.extend(note.parent.map(|parent| format!("part of #{parent}")));
    if asides.is_empty() {
        words
    } else {
        format!("{words} ({})", asides.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Timestamp, TurnId};
    use crate::memory::tracking::{By, Status};

    const TEMPLATE: &str = "Noted:\n\nTask: {{task}}\nPhase: {{phase}}\n\nFiles: {{files}}\n\nDecided:\n{{decisions}}\n\nChanges:\n{{changes}}\n";

    fn board() -> Board {
        let kinds = [
            Kind::Task,
            Kind::File,
            Kind::Phase,
            Kind::Decision,
            Kind::Objective,
            Kind::Change,
        ];
        Board::new(&kinds.map(|kind| (kind, None)))
    }

    fn note(board: &mut Board, kind: Kind, note: Note) {
        board.note(note.of(kind), By::Person, Timestamp::from_unix(3_600));
    }

    #[test]
    fn empty_sections_leave_no_line_and_an_empty_board_no_block() {
        let mut board = board();
        assert_eq!(board.block(TEMPLATE, Freshness::Always, None), None);
        note(&mut board, Kind::File, Note::new("a.rs"));
        note(&mut board, Kind::File, Note::new("{{task}}"));
        let block = board.block(TEMPLATE, Freshness::Always, None).unwrap();
        assert_eq!(block, "Noted:\n\nFiles: {{task}}, a.rs");
    }

    #[test]
    fn decisions_have_numbers_reasons_and_what_was_rejected_and_changes_their_time() {
        let mut board = board();
        let decision = Note {
            why: Some("it has JSON".into()),
            instead_of: vec!["MongoDB".into(), "files".into()],
            status: Some(Status::Chosen),
            ..Note::new("PostgreSQL")
        };
        note(&mut board, Kind::Decision, decision);
        note(&mut board, Kind::Change, Note::new("src/a.rs"));
        let block = board.block(TEMPLATE, Freshness::Always, None).unwrap();
        assert_eq!(
            block,
            "Noted:\n\nDecided:\n#1 PostgreSQL (chosen; because it has JSON; rejected: MongoDB, files)\n\nChanges:\n- 01:00 src/a.rs"
        );
    }

    #[test]
    fn a_section_is_sent_for_so_many_turns_after_it_was_touched_and_the_objective_always() {
        let template = "Objective: {{objective}}\nPhase: {{phase}}";
        for most in [0, 1, 3] {
            let mut board = board();
            board.observe(
                TurnId(1),
                vec![
                    Note::new("win").of(Kind::Objective),
                    Note::new("start").of(Kind::Phase),
                ],
                None,
            );
            for stale in 1..=5_u32 {
                let block = board
                    .block(template, Freshness::Within(most), None)
                    .unwrap();
                assert!(block.contains("win"));
                assert_eq!(block.contains("start"), stale <= most, "{stale} of {most}");
                board.observe(TurnId(1 + stale), Vec::new(), None);
            }
        }
    }

    #[test]
    fn a_block_with_a_limit_gets_shorter_until_it_fits() {
        let mut board = board();
        for file in ["one.rs", "two.rs", "three.rs"] {
            note(&mut board, Kind::File, Note::new(file));
        }
        for (most, expected) in [
            (60, Some("Files: three.rs, two.rs, one.rs")),
            (25, Some("Files: three.rs, two.rs")),
            (16, Some("Files: three.rs")),
            (10, None),
        ] {
            let block = board.block("Files: {{files}}", Freshness::Always, Some(most));
            assert_eq!(block.as_deref(), expected, "{most}");
        }
    }
}
