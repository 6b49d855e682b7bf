//! The difference of two versions of a file, for a person: a unified diff and its count of lines.

use std::time::{Duration, Instant};

use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use super::words::{count, size};

/// After that long a diff may be larger than it had to be.
const LONGEST: Duration = Duration::from_secs(2);

/// Lines around a change that are shown with it.
const AROUND: usize = 3;

/// A unified diff and what to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) struct Difference {
    /// Without colours; ends in a line break.
    pub(in crate::tools) text: String,
    /// `+3 -1`, `created, 12 lines`, `removed`.
    pub(super) brief: String,
}

/// From before to after; `None` is a file that is not there.
pub(in crate::tools) fn difference(
    path: &str,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Difference {
    match (
        text(before.unwrap_or_default()),
        text(after.unwrap_or_default()),
    ) {
        (Some(old), Some(new)) => {
            let sides = (before.is_some(), after.is_some());
            let [old, new] = [&old, &new].map(|it| it.split_inclusive('\n').collect::<Vec<_>>());
            // Of slices, as elsewhere: each further kind of text is half a megabyte of the program.
            let deadline = Instant::now().checked_add(LONGEST);
            let changes = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
            let brief = brief(sides, &old, &new, &changes);
            let name = |is_there| if is_there { path } else { "/dev/null" };
            let text = unified([name(sides.0), name(sides.1)], &old, &new, changes);
            Difference { text, brief }
        }
        (None, _) | (_, None) => binary(path, before, after),
    }
}

fn unified(names: [&str; 2], old: &[&str], new: &[&str], changes: Vec<DiffOp>) -> String {
    let mut text = String::new();
    for hunk in group_diff_ops(changes, AROUND) {
        if text.is_empty() {
            text = format!("--- {}\n+++ {}\n", names[0], names[1]);
        }
        text += &UnifiedHunkHeader::new(&hunk).to_string();
        text.push('\n');
        for (tag, lines) in hunk.iter().flat_map(|change| change.iter_slices(old, new)) {
            for line in lines {
                text.extend([&*tag.to_string(), line]);
                if !line.ends_with('\n') {
                    text += "\n\\ No newline at end of file\n";
                }
            }
        }
    }
    text
}

fn brief(sides: (bool, bool), old: &[&str], new: &[&str], changes: &[DiffOp]) -> String {
    match sides {
        (false, true) => format!("created, {}", count(new.len() as u64, "line")),
        (_, false) => "removed".to_owned(),
        (true, true) => {
            let n_of = |wanted| -> usize {
                let slices = changes.iter().flat_map(|it| it.iter_slices(old, new));
                let lines = slices.filter(|(tag, _)| *tag == wanted);
                lines.map(|(_, lines)| lines.len()).sum()
            };
            format!("+{} -{}", n_of(ChangeTag::Insert), n_of(ChangeTag::Delete))
        }
    }
}

fn binary(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Difference {
    let of = |side: Option<&[u8]>| side.map_or("none".to_owned(), |side| size(side.len() as u64));
    let brief = format!("binary, {} → {}", of(before), of(after));
    Difference {
        text: format!("{path}: {brief}\n"),
        brief,
    }
}

/// What is not text has no lines to compare.
fn text(bytes: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
    (!bytes.contains(&0)).then(|| String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_a_diff_and_a_few_words() {
        for (before, after, brief, text) in [
            (
                Some("a\nb\n"),
                Some("a\nc\nd\n"),
                "+2 -1",
                "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n",
            ),
            (
                None,
                Some("a\nb"),
                "created, 2 lines",
                "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
            ),
            (None, Some(""), "created, 0 lines", ""),
            (
                Some("a\n"),
                None,
                "removed",
                "--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            ),
            (Some("a\n"), Some("a\n"), "+0 -0", ""),
            (
                Some("\0"),
                None,
                "binary, 1 byte → none",
                "f: binary, 1 byte → none\n",
            ),
        ] {
            let found = difference("f", before.map(str::as_bytes), after.map(str::as_bytes));
            assert_eq!((found.brief.as_str(), found.text.as_str()), (brief, text));
        }
    }
}
