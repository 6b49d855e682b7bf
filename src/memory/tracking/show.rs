//! A board in words: the block that stands in a prompt, and the parts it is made of.
//!
//! The block is a text of `config/blocks/`, in which `{{files}}` stands for the newest files. A line whose
//! section is empty is left out, and a paragraph of which no such line is left; so is the whole block.

use super::board::{Board, Entry, Section};
use super::kind::Shape;
use super::note::{Kind, Note, Status};
use crate::text::lines::clipped;

/// Which sections may stand in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// None: the mode keeps its notes to itself.
    Never,
    Always,
    /// Only those touched at most so many turns ago; the objective always (C58).
    Within(u32),
}

impl Freshness {
    /// Whether a section that was touched `stale` turns ago is sent.
    pub fn allows(self, kind: Kind, stale: u64) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::Within(_) if kind == Kind::Objective => true,
            Self::Within(max) => stale <= u64::from(max),
        }
    }
}

/// How much of each section is shown.
#[derive(Clone, Copy)]
struct Measure {
    entries: usize,
    /// Characters of a section in one line.
    chars: usize,
}

/// Characters of a section in one line, when the block is too long with one entry each.
const NARROW: [usize; 3] = [120, 60, 30];

impl Board {
    /// The block for a prompt, at most `max` characters where a limit is given; `None` where there is nothing to say.
    pub fn block(
        &self,
        template: &str,
        freshness: Freshness,
        max: Option<usize>,
    ) -> Option<String> {
        let shown = |section: &Section| section.kind().row().shown;
        let widest = self.sections.iter().map(shown).max().unwrap_or(0);
        let shorter = (1..=widest).rev().map(|entries| Measure {
            entries,
            chars: usize::MAX,
        });
        let narrower = NARROW.map(|chars| Measure { entries: 1, chars });
        shorter.chain(narrower).find_map(|measure| {
            let block = self.filled(template, freshness, measure)?;
            let fits = max.is_none_or(|max| block.chars().count() <= max);
            fits.then_some(block)
        })
    }

    fn filled(&self, template: &str, freshness: Freshness, measure: Measure) -> Option<String> {
        let value = |name: &str| {
            let Some(section) = Kind::parse(name).and_then(|kind| self.section(kind)) else {
                // A typing error in a person's own block is to be seen.
                return Place::Unknown;
            };
            let kind = section.kind();
            let value = section.value(measure);
            if value.is_empty() || !freshness.allows(kind, self.stale(kind)) {
                Place::Empty
            } else {
                Place::Filled(value)
            }
        };
        let template = template.replace("\r\n", "\n");
        let mut says = false;
        let mut paragraphs = Vec::new();
        for paragraph in template.trim().split("\n\n") {
            let lines: Vec<Line> = paragraph.lines().map(|line| fill(line, value)).collect();
            let has_value = lines.iter().any(|line| matches!(line, Line::Filled(_)));
            let is_plain = lines.iter().all(|line| matches!(line, Line::Plain(_)));
            says |= has_value;
            if has_value || is_plain {
                let kept: Vec<String> = lines.into_iter().filter_map(Line::text).collect();
                paragraphs.push(kept.join("\n"));
            }
        }
        says.then(|| paragraphs.join("\n\n"))
    }
}

/// What stands for a name between braces.
enum Place {
    Filled(String),
    Empty,
    Unknown,
}

/// A line of a template.
enum Line {
    /// Without a place of ours.
    Plain(String),
    Filled(String),
    /// Its places have nothing to say.
    Empty,
}

impl Line {
    fn text(self) -> Option<String> {
        match self {
            Self::Plain(text) | Self::Filled(text) => Some(text),
            Self::Empty => None,
        }
    }
}

/// Fills the places of a line. What is filled in is not looked at again: it comes from conversations.
fn fill(line: &str, value: impl Fn(&str) -> Place) -> Line {
    let mut text = String::new();
    let (mut filled, mut empty) = (false, false);
    let mut rest = line;
    while let Some((before, name, after)) = place(rest) {
        text.push_str(before);
        match value(name.trim()) {
            Place::Filled(value) => {
                filled = true;
                text.push_str(&value);
            }
            Place::Empty => empty = true,
            Place::Unknown => text.push_str(&rest[before.len()..rest.len() - after.len()]),
        }
        rest = after;
    }
    text.push_str(rest);
    match (filled, empty) {
        (true, _) => Line::Filled(text),
        (false, true) => Line::Empty,
        (false, false) => Line::Plain(text),
    }
}

/// What stands before the first place of a text, its name, and what stands behind it.
fn place(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    Some((before, name, after))
}

impl Section {
    /// The newest entries as they stand in a prompt.
    fn value(&self, measure: Measure) -> String {
        let row = self.kind().row();
        // What was decided and overruled is history.
        let is_overruled = |entry: &&Entry| {
            self.kind() == Kind::Decision && entry.note.status == Some(Status::Rejected)
        };
        let entries = self.entries().iter();
        let entries: Vec<&Entry> = entries.filter(|entry| !is_overruled(entry)).collect();
        let shown = row.shown.min(measure.entries);
        let newest = &entries[entries.len().saturating_sub(shown)..];
        match row.shape {
            Shape::Listed => {
                let texts = newest.iter().rev().map(|entry| words(&entry.note));
                let between = if self.kind() == Kind::Fact {
                    "; "
                } else {
                    ", "
                };
                clipped(&texts.collect::<Vec<_>>().join(between), measure.chars)
            }
            Shape::Lines | Shape::Numbered | Shape::Timed => {
                let lines = newest.iter().map(|entry| line(entry, row.shape));
                lines.collect::<Vec<_>>().join("\n")
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
    fn a_persons_own_template_may_have_any_line_ends_several_places_and_typing_errors() {
        let mut board = board();
        note(&mut board, Kind::Task, Note::new("T"));
        note(&mut board, Kind::Phase, Note::new("P"));
        let template = "{{task}} in {{phase}}, {{ files }}\r\n{{taks}}\r\n\r\nFiles: {{files}}\r\n";
        let block = board.block(template, Freshness::Always, None).unwrap();
        assert_eq!(block, "T in P, \n{{taks}}");
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
        for max in [0, 1, 3] {
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
                let block = board.block(template, Freshness::Within(max), None).unwrap();
                assert!(block.contains("win"));
                assert_eq!(block.contains("start"), stale <= max, "{stale} of {max}");
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
        for (max, expected) in [
            (60, Some("Files: three.rs, two.rs, one.rs")),
            (25, Some("Files: three.rs, two.rs")),
            (16, Some("Files: three.rs")),
            (10, None),
        ] {
            let block = board.block("Files: {{files}}", Freshness::Always, Some(max));
            assert_eq!(block.as_deref(), expected, "{max}");
        }
        note(&mut board, Kind::File, Note::new("x".repeat(150)));
        let block = board
            .block("Files: {{files}}", Freshness::Always, Some(100))
            .unwrap();
        assert_eq!(
            block,
            format!("Files: {}…", "x".repeat(60)),
            "clipped rather than silent"
        );
    }
}
