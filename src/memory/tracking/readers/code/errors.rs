//! Error messages in what a person pasted or a failed tool gave back, each with the place it names.
//!
//! A line is an error if a row of the table matches it; a row says where the place
//! is found: in the line, in a frame above (Python, Gradle) or in a frame below (`--> file`, `at f (file)`).
//! Lines that are prose are searched for quoted errors, unless the sentence talks about errors.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::pass::{Found, Pass};
use super::paths::Paths;
use super::patterns;
use crate::memory::tracking::cues::filled;
use crate::memory::tracking::note::Note;
use crate::text::patterns::{BadPattern, Patterns};

/// Bytes of a line that are read.
const WIDEST: usize = 2000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// Words that patterns name.
    #[serde(default)]
    lists: BTreeMap<String, Vec<String>>,
    /// A line that none of these matches has no error.
    gate: Vec<String>,
    /// Lines that only sound like one.
    never: Vec<String>,
    /// Lines of programs; no errors are quoted in them.
    code: Vec<String>,
    /// Names of fences around programs.
    pub(super) languages: Vec<String>,
    pub(super) rows: Vec<Row>,
    inline: Vec<String>,
    pub(super) frames: Vec<Frame>,
}

/// How one tool writes an error.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// For the reader of the table.
    #[serde(rename = "tool")]
    _tool: String,
    /// Groups: `text`; `file`, `line`, `col`; `same`, the part that may have been told before.
    pattern: String,
    #[serde(default)]
    pub(super) place: Vec<Where>,
    /// The message is the next line.
    #[serde(default)]
    pub(super) next: bool,
    /// What the message begins with.
    #[serde(default)]
    pub(super) prefix: String,
    /// Counts only under the frames of a Python traceback.
    #[serde(default)]
    pub(super) traceback: bool,
    /// Counts only where a sentence quotes it.
    #[serde(default)]
    pub(super) quoted: bool,
}

/// Where the frame of an error stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Where {
    Above,
    Below,
}

/// A line that names a place.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Frame {
    pattern: String,
    pub(super) place: Where,
    /// The last of these holds, however far it is above.
    #[serde(default)]
    pub(super) traceback: bool,
    /// A file alone; the errors under it name their lines.
    #[serde(default)]
    pub(super) heading: bool,
}

#[derive(Debug)]
pub(super) struct Errors {
    table: Table,
    signs: Signs,
}

/// What lines are known by.
#[derive(Debug)]
pub(super) struct Signs {
    pub(super) gate: Patterns,
    pub(super) never: Patterns,
    pub(super) code: Patterns,
    pub(super) talk: Patterns,
    pub(super) rows: Patterns,
    pub(super) inline: Patterns,
    pub(super) frames: Patterns,
}

impl Errors {
    pub(super) fn new(mut table: Table, talk: &[String]) -> Result<Self, BadPattern> {
        let lists = std::mem::take(&mut table.lists);
        for row in &mut table.rows {
            row.pattern = filled(&row.pattern, &lists)?;
        }
        for frame in &mut table.frames {
            frame.pattern = filled(&frame.pattern, &lists)?;
        }
        for inline in &mut table.inline {
            *inline = filled(inline, &lists)?;
        }
        let signs = Signs {
            gate: patterns(&table.gate),
            never: patterns(&table.never),
            code: patterns(&table.code),
            talk: patterns(talk),
            rows: patterns(table.rows.iter().map(|row| &row.pattern)),
            inline: patterns(&table.inline),
            frames: patterns(table.frames.iter().map(|frame| &frame.pattern)),
        };
        Ok(Self { table, signs })
    }

    pub(super) fn check(&self) -> Result<(), BadPattern> {
        let Signs {
            gate,
            never,
            code,
            talk,
            rows,
            inline,
            frames,
        } = &self.signs;
        let all = [gate, never, code, talk, rows, inline, frames];
        all.into_iter().try_for_each(Patterns::check)
    }

    /// Errors in order, each once.
    pub(super) fn read(&self, paths: &Paths, text: &str) -> Vec<Note> {
        let mut pass = Pass::new(&self.table, &self.signs, paths);
        for line in text.lines() {
            pass.line(&line[..line.floor_char_boundary(WIDEST)]);
        }
        once(pass.found())
    }
}

/// Without what was told before: the same words at the same place, or at no place.
fn once(found: Vec<Found>) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    let mut seen: HashMap<String, Vec<usize>> = HashMap::new();
    for error in found {
        if error.text.is_empty() || (error.is_doubtful && error.place.is_none()) {
            continue;
        }
        if error
            .same
            .is_some_and(|same| seen.contains_key(&alike(&same)))
        {
            continue;
        }
        let earlier = seen.entry(alike(&error.text)).or_default();
        // Where one of them has no place, only the first and the last have to be looked at.
        let again = [earlier.first(), earlier.last()]
            .into_iter()
            .flatten()
            .find(|at| {
                let place = &notes[**at].place;
                place.is_none() || error.place.is_none() || *place == error.place
            });
        if let Some(again) = again {
            if notes[*again].place.is_none() {
                notes[*again].place = error.place;
            }
            continue;
        }
        earlier.push(notes.len());
        notes.push(Note {
            place: error.place,
            ..Note::new(error.text)
        });
    }
    notes
}

/// The words of a message without its numbers and addresses.
fn alike(text: &str) -> String {
    let mut alike = String::with_capacity(text.len());
    let mut in_number = false;
    for word in text.split_inclusive(' ') {
        if word.starts_with("0x") {
            alike.push_str("# ");
            continue;
        }
        for c in word.chars() {
            let is_digit = c.is_ascii_digit();
            if !is_digit {
                alike.extend(c.to_lowercase());
            } else if !in_number {
                alike.push('#');
            }
            in_number = is_digit;
        }
    }
    alike
}

#[cfg(test)]
mod tests {
    use super::super::tests::embedded;

    fn read(text: &str) -> Vec<String> {
        let reader = embedded();
        let errors = reader.errors.read(&reader.paths, text).into_iter();
        let written = errors.map(|error| match error.place {
            Some(place) => format!("{} @ {place}", error.text),
            None => error.text,
        });
        written.collect()
    }

    #[test]
    fn each_tool_writes_its_errors_and_their_places_in_its_own_way() {
        for (text, expected) in [
            (
                "  File \"a.py\", line 3, in f\n    x()\n  File \"/v/site-packages/b.py\", line 9, in g\nmypkg.Odd",
                "mypkg.Odd @ a.py:3",
            ),
            (
                "E   KeyError: 'B'\n\nsrc/c.py:18: KeyError\nFAILED t.py::t - KeyError: 'B'",
                "KeyError: 'B' @ src/c.py:18",
            ),
            (
                "error[E0308]: mismatched types\n  --> src/b.rs:8:9",
                "error[E0308]: mismatched types @ src/b.rs:8:9",
            ),
            (
                "thread 'm' panicked at src/x.rs:4:5:\nboom",
                "panicked: boom @ src/x.rs:4:5",
            ),
            (
                "panic: nil map\n\ngoroutine 1:\n\t/usr/local/go/src/a.go:1 +0x1\n\t/h/m.go:9 +0x1",
                "panic: nil map @ /h/m.go:9",
            ),
            (
                "a.ts(1,7): error TS2322: No.",
                "error TS2322: No. @ a.ts:1:7",
            ),
            (
                "TypeError: no\n    at n (/a/node_modules/x.js:1:1)\n    at f (/a/s.js:14:33)",
                "TypeError: no @ /a/s.js:14:33",
            ),
            (
                "a.c:9:1: fatal error: x.h: missing",
                "fatal error: x.h: missing @ a.c:9:1",
            ),
            (
                "java.lang.Foo$BadException: no\n\tat java.util.X.y(X.java:1)\n\tat me.A.b(A.java:5)",
                "java.lang.Foo$BadException: no @ A.java:5",
            ),
            (
                "[ERROR] /p/A.java:[41,17] cannot find symbol",
                "cannot find symbol @ /p/A.java:41:17",
            ),
            (
                "Unhandled exception. System.OddException: no\n   at A.B() in C:\\s\\A.cs:line 6",
                "System.OddException: no @ C:\\s\\A.cs:6",
            ),
            (
                "PHP Fatal error:  no in /v/a.php on line 8",
                "PHP Fatal error:  no @ /v/a.php:8",
            ),
            (
                "psql:m.sql:7: ERROR:  no table",
                "ERROR:  no table @ m.sql:7",
            ),
            (
                "./x.sh: line 8: jq: command not found",
                "jq: command not found @ x.sh:8",
            ),
            (
                "/h/src/i.js\n  3:7  error  'x' is unused  no-unused",
                "'x' is unused @ /h/src/i.js:3:7",
            ),
            (
                "2024-03-07 10:22:51,123 ERROR could not load",
                "could not load",
            ),
            (
                "npm ERR! code ERESOLVE\nnpm ERR! errno 1",
                "npm ERR! code ERESOLVE",
            ),
            (
                "It fails with error: linker `cc` not found, why?",
                "error: linker `cc` not found",
            ),
            (
                "I get `TypeError: x is no function` here",
                "TypeError: x is no function",
            ),
            ("Cannot find module 'x'", "Cannot find module 'x'"),
            (
                "TypeError: code 12\nTypeError: code 13 \n",
                "TypeError: code 12",
            ),
        ] {
            assert_eq!(read(text), [expected], "{text:?}");
        }
    }

    #[test]
    fn talk_about_errors_code_counts_and_warnings_are_no_errors() {
        for text in [
            "error handling is fine, 0 errors, no errors, what is a ValueError?",
            "If I did that, would I get \"TypeError: x is no function\"?",
            "```python\nraise ValueError(\"Error: no\")\n```",
            "throw new TypeError('Error: bad value');",
            "except KeyError as e:\n    logger.error('error: %s', e)",
            "level: error\nroot: error",
            "error: none",
            "2 failed, 3 passed\nFAILED (failures=1)\ntest result: FAILED. 1 passed; 1 failed",
            "error: could not compile `x` due to 2 previous errors\nFound 2 errors.",
            "warning: unused import\n  --> src/a.rs:1:1\na.c:1:1: warning: unused",
        ] {
            assert_eq!(read(text), [""; 0], "{text:?}");
        }
    }

    #[test]
    fn a_message_is_cut_after_two_hundred_characters() {
        let text = format!("KeyError: {}", "ä ".repeat(300));
        let read = read(&text);
        assert!((199..=200).contains(&read[0].chars().count()), "{read:?}");
    }
}
