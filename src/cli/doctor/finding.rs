//! One line of the answer: how something is, what it is, and below a problem what to do. Pure. No secret comes here:
//! errors mask theirs before.

use crate::hint::{Hint, chain};
use crate::term::{NARROW, width};

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Ok,
    Problem,
    /// Nobody set it up; a chat goes without.
    NotSetUp,
}

impl Verdict {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Problem => "problem",
            Self::NotSetUp => "-",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) verdict: Verdict,
    /// What was looked at.
    about: String,
    what: String,
    remedy: Option<String>,
}

impl Finding {
    pub(super) fn ok(about: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Ok,
            about: about.into(),
            what: what.into(),
            remedy: None,
        }
    }

    pub(super) fn none(about: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::NotSetUp,
            ..Self::ok(about, what)
        }
    }

    pub(super) fn problem(
        about: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            verdict: Verdict::Problem,
            remedy: Some(remedy.into()),
            ..Self::ok(about, what)
        }
    }

    /// Something to know; a chat works all the same.
    pub(super) fn note(
        about: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            verdict: Verdict::NotSetUp,
            ..Self::problem(about, what, remedy)
        }
    }

    /// A problem in the words of an error that knows its remedy.
    pub(super) fn of_error<E: std::error::Error + Hint>(
        about: impl Into<String>,
        error: &E,
    ) -> Self {
        Self {
            verdict: Verdict::Problem,
            remedy: error.hint().map(std::borrow::Cow::into_owned),
            ..Self::ok(about, chain(error))
        }
    }
}

/// All findings, each beginning in the first column; on a narrow screen what was found stands below.
pub(super) fn render(findings: &[Finding], columns: usize) -> String {
    if columns < NARROW {
        let lines = findings.iter().flat_map(|finding| {
            let begin = format!("{:<VERDICTS$}{}", finding.verdict.as_str(), finding.about);
            let found = finding.what.lines().chain(finding.remedy.as_deref());
            let found = found.map(|line| format!("    {line}"));
            [begin].into_iter().chain(found).collect::<Vec<_>>()
        });
        return lines.collect::<Vec<_>>().join("\n");
    }
    let about = findings.iter().map(|finding| width(&finding.about)).max();
    let column = VERDICTS + about.unwrap_or(0) + GAP;
    let mut lines = Vec::new();
    for finding in findings {
        let begin = format!("{:<VERDICTS$}{}", finding.verdict.as_str(), finding.about);
        let mut begin = padded(begin, column);
        for line in finding.what.lines().chain(finding.remedy.as_deref()) {
            lines.push(format!("{begin}{line}"));
            begin = padded(String::new(), column);
        }
    }
    lines.join("\n")
}

/// Columns of the first cell.
const VERDICTS: usize = 9;
const GAP: usize = 2;

fn padded(text: String, columns: usize) -> String {
    let missing = columns.saturating_sub(width(&text));
    text + &" ".repeat(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_stands_below_the_problem_and_words_begin_in_one_column() {
        let findings = [
            Finding::ok("a", "fine"),
            Finding::problem("längér", "two\nlines", "do this"),
            Finding::none("b", "not there"),
        ];
        assert_eq!(
            render(&findings, 80),
            "ok       a       fine\n\
             problem  längér  two\n                 lines\n                 do this\n\
             -        b       not there"
        );
        assert_eq!(
            render(&findings[1..], 40),
            "problem  längér\n    two\n    lines\n    do this\n-        b\n    not there"
        );
    }
}
