//! A result cut to what a window can bear, before it becomes part of history (G26-G29, Q32).
//!
//! Unit: characters (scalar values). Invariant: what is within its limit stays as it is; nothing is longer than its
//! limit and the mark that tells how much went; of a long log with errors in it, the lines that tell them stay.

use super::Text;
use crate::context::ResultPolicy as Policy;

/// Errors are kept up to this length whatever the limit (G26).
const MAX_ERROR: usize = 10_000;

/// What tells of an error in an output, in lower case (G29).
const INDICATORS: [&str; 14] = [
    "error:",
    "panic:",
    "fatal:",
    "stack trace:",
    "exception:",
    "traceback:",
    "undefined:",
    "cannot use",
    "--- fail",
    "permission denied",
    "not found",
    "syntax error",
    "compilation failed",
    "build failed",
];

/// A result as the model gets it. `failed`: whether the call itself did not succeed.
pub fn shaped(text: &str, kind: Text, failed: bool, policy: Policy, most: usize) -> String {
    let chars = text.chars().count();
    match policy {
        Policy::None => text.to_owned(),
        Policy::Ratio => head_and_tail(text, chars, most),
        Policy::Smart if failed => head_and_tail(text, chars, MAX_ERROR.max(most)),
        Policy::Smart if chars <= most => text.to_owned(),
        Policy::Smart if kind == Text::Content => head_and_tail(text, chars, most),
        Policy::Smart => match error_lines(text, most) {
            lines if lines.is_empty() => head_and_tail(text, chars, most),
            lines => errors_first(text, chars, &lines, most),
        },
    }
}

/// 70 % of the limit from the beginning, 20 % from the end (Q32).
fn head_and_tail(text: &str, chars: usize, most: usize) -> String {
    if chars <= most {
        return text.to_owned();
    }
    let (head, tail) = (most * 7 / 10, most * 2 / 10);
    let removed = chars - head - tail;
    let head_end = at(text, head);
    let tail_start = at(text, chars - tail);
    format!(
        "{}\n[… {removed} of {chars} characters left out …]\n{}",
        &text[..head_end],
        &text[tail_start..]
    )
}

/// The byte at which the `n`-th character begins.
fn at(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

/// Lines that tell of an error, at most half the limit of them.
fn error_lines(text: &str, most: usize) -> String {
    const MAX_LINE: usize = 500;
    let mut lines = String::new();
    let mut chars = 0;
    for line in text.lines() {
        let lower = line.to_lowercase();
        if !INDICATORS.iter().any(|indicator| lower.contains(indicator)) {
            continue;
        }
        let line = &line[..at(line, MAX_LINE)];
        chars += line.chars().count() + 1;
        if chars > most / 2 {
            break;
        }
        lines.push_str(line);
        lines.push('\n');
    }
    lines
}

/// Puts what tells of errors first, then as much of the whole as fits.
fn errors_first(text: &str, chars: usize, lines: &str, most: usize) -> String {
    const HEADING: &str = "Lines with errors:\n";
    const REST: &str = "\nOutput:\n";
    let taken = HEADING.len() + REST.len() + lines.chars().count();
    let rest = head_and_tail(text, chars, most.saturating_sub(taken));
    format!("{HEADING}{lines}{REST}{rest}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn smart(text: &str, failed: bool) -> String {
        shaped(text, Text::Log, failed, Policy::Smart, 10_000)
    }

    #[test]
    fn what_is_within_the_limit_stays_as_it_is() {
        for policy in [Policy::Smart, Policy::Ratio, Policy::None] {
            let text = "𝕏".repeat(8_000);
            assert_eq!(shaped(&text, Text::Log, false, policy, 8_000), text);
        }
        let error = "e".repeat(10_000);
        assert_eq!(smart(&error, true), error);
        assert_eq!(shaped(&error, Text::Log, true, Policy::Smart, 2_000), error);
    }

    #[test]
    fn a_longer_one_keeps_head_and_tail_and_says_what_went() {
        let text = format!("{}{}", "a".repeat(5_601), "b".repeat(5_000));
        let cut = shaped(&text, Text::Log, false, Policy::Ratio, 8_000);
        let (head, rest) = cut.split_once('\n').unwrap();
        let (mark, tail) = rest.split_once('\n').unwrap();
        assert_eq!(head, "a".repeat(5_600));
        assert_eq!(mark, "[… 3401 of 10601 characters left out …]");
        assert_eq!(tail, "b".repeat(1_600));
    }

    #[test]
    fn a_line_with_an_error_in_the_middle_of_a_long_log_is_kept() {
        let noise = "all is well here\n".repeat(1_500);
        let log = format!("{noise}src/a.rs:4: Error: the one that matters\n{noise}");
        let cut = smart(&log, false);
        assert!(cut.contains("\nsrc/a.rs:4: Error: the one that matters\n"));
        assert!(cut.chars().count() <= 10_000, "{}", cut.chars().count());
        assert!(cut.starts_with("Lines with errors:\n"));
    }

    #[test]
    fn source_that_speaks_of_errors_is_no_log() {
        let code = "let found = 1;\n".repeat(500);
        let source = format!("{code}eprintln!(\"error: {{found}}\");\n{code}");
        let cut = shaped(&source, Text::Content, false, Policy::Smart, 10_000);
        assert_eq!(
            cut,
            shaped(&source, Text::Content, false, Policy::Ratio, 10_000)
        );
        assert!(cut.starts_with("let found") && cut.contains("characters left out"));
    }

    #[test]
    fn thousands_of_errors_are_bounded_too() {
        let log = "error: again and again\n".repeat(5_000);
        assert!(smart(&log, false).chars().count() <= 10_000);
        assert!(smart(&log, true).chars().count() <= 10_000);
        let one_line = format!("error: {}", "x".repeat(200_000));
        assert!(smart(&one_line, false).chars().count() <= 10_000);
    }

    /// Characters of the mark that says how much went, at most.
    const MAX_MARK: usize = 64;

    proptest! {
        #[test]
        fn nothing_is_longer_than_its_limit(
            text in "[a-zé\n ]{0,400}(error: |not found)?[a-z\n𝕏]{0,400}",
            most in 200_usize..700,
            failed: bool,
            is_content: bool,
        ) {
            let kind = if is_content { Text::Content } else { Text::Log };
            for policy in [Policy::Smart, Policy::Ratio] {
                let cut = shaped(&text, kind, failed, policy, most);
                let limit = if failed && policy == Policy::Smart { MAX_ERROR } else { most };
                prop_assert!(cut.chars().count() <= limit.max(most) + MAX_MARK);
            }
        }
    }
}
