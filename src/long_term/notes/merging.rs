//! What a person made of a text and what was written into it meanwhile, in one text. Pure; unit: one file.
//!
//! Invariant: every line that either of them added is there; where both changed the same lines, the person's come
//! first.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::markdown::line_end;

/// Lines of `now` in the place of some of `edited`.
struct Patch<'a> {
    from: usize,
    to: usize,
    lines: Vec<&'a str>,
}

/// The edited text, with what became of `base` otherwise; and how many lines that is.
pub(super) fn merged(base: &str, edited: &str, now: &str) -> (String, usize) {
    if now == base || now == edited {
        return (edited.to_owned(), 0);
    }
    if edited == base {
        return (now.to_owned(), 0);
    }
    let [base, edited, now] = [base, edited, now].map(ended);
    let [base, mut edited, now] = [&base, &edited, &now].map(|text| lines(text));
    let indices = indices(&base, &edited);
    let changes = capture_diff_slices(Algorithm::Patience, &base, &now);
    let changes = changes.iter().filter(|change| !is_equal(change));
    let patches: Vec<Patch<'_>> = changes
        .map(|change| patch(change, &base, &now, &indices, edited.len()))
        .collect();
    let count = patches.iter().map(|patch| patch.lines.len()).sum();
    // From the end, so that places go on counting.
    for patch in patches.into_iter().rev() {
        edited.splice(patch.from..patch.to, patch.lines);
    }
    (edited.concat(), count)
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn is_equal(change: &DiffOp) -> bool {
    matches!(change, DiffOp::Equal { .. })
}

/// Where each line of the base is in the edited text, if it stayed.
fn indices(base: &[&str], edited: &[&str]) -> Vec<Option<usize>> {
    let mut indices = vec![None; base.len()];
    for same in capture_diff_slices(Algorithm::Patience, base, edited) {
        if is_equal(&same) {
            for (old, new) in same.old_range().zip(same.new_range()) {
                indices[old] = Some(new);
            }
        }
    }
    indices
}

/// A change of the base as one of the edited text.
fn patch<'a>(
    change: &DiffOp,
    base: &[&str],
    now: &[&'a str],
    indices: &[Option<usize>],
    end: usize,
) -> Patch<'a> {
    let (old, new) = (change.old_range(), change.new_range());
    let lines = now[new].to_vec();
    let kept: Option<Vec<usize>> = indices[old.clone()].iter().copied().collect();
    if let Some([first, .., last] | [first @ last]) = kept.as_deref()
        && last - first + 1 == old.len()
    {
        return Patch {
            from: *first,
            to: last + 1,
            lines,
        };
    }
    // The person changed them too, or nothing was there: what is new comes behind what stayed before it.
    let before = indices[..old.start].iter().rev().find_map(|index| *index);
    let from = match before {
        Some(index) => index + 1,
        None if indices.iter().all(Option::is_none) => end,
        None => 0,
    };
    let lines = lines
        .into_iter()
        .filter(|line| !base[old.clone()].contains(line))
        .collect();
    Patch {
        from,
        to: from,
        lines,
    }
}

/// The text with an end to its last line, so that this one is like others.
fn ended(text: &str) -> String {
    let end = match text.chars().last() {
        None | Some('\n') => "",
        Some(_) => line_end(text),
    };
    format!("{text}{end}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_both_did_is_there() {
        for (base, edited, now, expected) in [
            ("a\nb\n", "a\nc\nb\n", "a\nb\n", "a\nc\nb\n"),
            ("a\nb\n", "a\nb\n", "a\nb\nnoted\n", "a\nb\nnoted\n"),
            ("a\nb\n", "x\na\n", "a\nb\nnoted\n", "x\na\nnoted\n"),
            (
                "a\nb\nc\n",
                "a\nB\nc\n",
                "a\nb\n(old) c\n",
                "a\nB\n(old) c\n",
            ),
            ("a\nb\n", "a\nmine\n", "a\ntheirs\n", "a\ntheirs\nmine\n"),
            ("a\nb\nc\n", "a\nb\nc\nd\n", "a\nc\n", "a\nc\nd\n"),
            ("a", "a\nb", "a\nnoted\n", "a\nnoted\nb\n"),
            ("", "mine\n", "noted\n", "mine\nnoted\n"),
            ("a\n", "", "a\nnoted\n", "noted\n"),
        ] {
            assert_eq!(
                merged(base, edited, now).0,
                expected,
                "{base:?} {edited:?} {now:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_added_line_is_lost_and_whoever_is_alone_gets_their_text(
            base in "([a-c]\n){0,6}", edited in "([a-d]\n){0,6}", now in "([a-c]\n|[n-p]\n){0,6}",
        ) {
            let (text, _) = merged(&base, &edited, &now);
            let count = |text: &str, line: &str| text.lines().filter(|it| *it == line).count();
            for line in ["n", "o", "p"] {
                prop_assert!(count(&text, line) >= count(&now, line), "{text:?}");
            }
            prop_assert!(count(&text, "d") >= count(&edited, "d"), "{text:?}");
            prop_assert_eq!(merged(&base, &edited, &base).0, edited);
            prop_assert_eq!(merged(&base, &base, &now).0, now);
        }
    }
}
