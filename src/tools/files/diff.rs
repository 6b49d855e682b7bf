//! The difference of two versions of a file, for a person: a unified diff and its count of lines.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use super::words::{count, size};

/// After that long a diff may be larger than it had to be.
const LONGEST: Duration = Duration::from_secs(2);

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
            let diff = TextDiff::configure()
                .timeout(LONGEST)
                .diff_lines(&*old, &*new);
            let name = |is_there| if is_there { path } else { "/dev/null" };
            Difference {
                text: diff
                    .unified_diff()
                    .header(name(sides.0), name(sides.1))
                    .to_string(),
                brief: brief(sides, &new, &diff),
            }
        }
        (None, _) | (_, None) => binary(path, before, after),
    }
}

fn brief(sides: (bool, bool), new: &str, diff: &TextDiff<'_, '_, str>) -> String {
    match sides {
        (false, true) => format!("created, {}", count(new.lines().count() as u64, "line")),
        (_, false) => "removed".to_owned(),
        (true, true) => {
            let n_of = |tag| {
                diff.iter_all_changes()
                    .filter(|change| change.tag() == tag)
                    .count()
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
