//! A tool's question in words: what is asked, and which answers there are.
//!
//! What a model wrote stands in it, and must neither look like another line of the screen nor hide anything: a text of
//! several lines has a bar in front of each, long blanks are counted instead of shown, and what cannot be seen is
//! written out.

use crate::agent::Asked;
use crate::term::{NARROW, width};
use crate::tools::policy::{Only, Rule};
use crate::tools::{Detail, Effect, Escalation, Run};

/// How far an "always" goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wide {
    /// Calls that begin so, or this host.
    LikeThis,
    /// Calls that begin so, with what leads out of the sandbox.
    Escalated,
    /// Every call of the tool.
    Tool,
}

/// How much of a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Short,
    Whole,
}

impl Length {
    /// Lines, and characters of one, where not all is shown.
    const LINES: usize = 30;
    const CHARS: usize = 1_000;

    /// Lines of a diff that are shown.
    pub(super) fn of_diff(self) -> usize {
        match self {
            Self::Short => 40,
            Self::Whole => usize::MAX,
        }
    }
}

/// What is asked, in one line or a few.
pub(super) fn headline(asked: &Asked, length: Length) -> String {
    let tool = &asked.tool;
    match &asked.effect {
        Effect::Nothing => format!("{tool} wants to run"),
        Effect::Reads(path) => format!(
            "{tool} wants to read {}",
            plainly(&path.display().to_string(), length)
        ),
        Effect::Writes(path)
        | Effect::WritesProtected(path)
        | Effect::Keeps(path)
        | Effect::Deletes(path) => format!(
            "{tool} wants to {} {}{}",
            verb(asked),
            plainly(&path.display().to_string(), length),
            match asked.effect {
                Effect::WritesProtected(_) => "\n  which runs later",
                _ => "",
            }
        ),
        Effect::Runs(run) => format!(
            "{tool} wants to run: {}{}",
            plainly(&run.command, length),
            asks_for(run, length)
        ),
        Effect::RunsLater(files) => {
            let (runs, it) = match files.len() {
                1 => ("runs", "it"),
                _ => ("run", "them"),
            };
            let files = files.iter().map(|file| file.display().to_string());
            // A name with a line break in it stays one name.
            let names: Vec<_> = files.map(|file| file.replace('\n', "\u{2424}")).collect();
            let names = plainly(&names.join("\n"), length);
            format!("the command changed {names}\n  which {runs} later. Keep {it}? [y/N]")
        }
        Effect::Contacts { what, .. } => format!("{tool} wants to fetch {}", plainly(what, length)),
        Effect::Delegates { server, tool: name } => {
            format!(
                "{name} of server {server} wants to run with {}",
                plainly(&asked.arguments.to_string(), length)
            )
        }
    }
}

/// What a write does to its file.
fn verb(asked: &Asked) -> &'static str {
    match &asked.detail {
        _ if matches!(asked.effect, Effect::Deletes(_)) => "delete",
        Some(Detail::Diff(diff)) if diff.starts_with("--- /dev/null\n") => "create",
        Some(Detail::Diff(_) | Detail::Text(_)) | None => "change",
    }
}

/// What a command asks for beyond the sandbox, and why, in one line.
fn asks_for(run: &Run, length: Length) -> String {
    if run.escalation == Escalation::NONE {
        return String::new();
    }
    let reason = run.reason.trim().replace(['\n', '\r'], " ");
    format!("\n  with {}: {}", run.escalation, line_of(&reason, length))
}

/// Returns whether a question shows less than there is.
fn is_cut(asked: &Asked, length: Length) -> bool {
    let lines = match &asked.detail {
        Some(Detail::Diff(diff)) => diff.lines().count(),
        Some(Detail::Text(_)) | None => 0,
    };
    lines > length.of_diff() || headline(asked, length) != headline(asked, Length::Whole)
}

/// The answers that are possible to a question that is shown so far: on one line where they fit, else several on each,
/// on a narrow screen one.
pub(super) fn choices(asked: &Asked, shown: Length, columns: usize) -> String {
    let always = asked.rules.iter().map(|rule| {
        let key = match Wide::of(rule) {
            Wide::LikeThis => 'a',
            Wide::Escalated => 'p',
            Wide::Tool => 't',
        };
        format!("{key} = always in this project: {}", named(rule))
    });
    let (no, edit) = match &asked.effect {
        Effect::RunsLater(_) => ("n, Enter = restore the original", None),
        _ => ("n, Enter = no, or say what to do instead", Some("e = edit")),
    };
    let more = is_cut(asked, shown).then_some("d = show all");
    let mut choices = vec!["y = yes".to_owned(), no.to_owned()];
    choices.extend(always);
    choices.extend(edit.into_iter().chain(more).map(str::to_owned));
    let on_one_line = choices.join("  ");
    if width(&on_one_line) <= columns {
        return on_one_line;
    }
    if columns < NARROW {
        return choices.join("\n");
    }
    let mut lines: Vec<String> = Vec::new();
    for choice in choices {
        match lines.last_mut() {
            Some(line) if width(line) + 2 + width(&choice) <= columns => {
                line.push_str("  ");
                line.push_str(&choice);
            }
            Some(_) | None => lines.push(choice),
        }
    }
    lines.join("\n")
}

impl Wide {
    pub(super) fn of(rule: &Rule) -> Self {
        match &rule.only {
            Only::Any => Self::Tool,
            Only::Command { escalation, .. } if *escalation != Escalation::NONE => Self::Escalated,
            Only::Command { .. } | Only::Host(_) => Self::LikeThis,
        }
    }
}

/// Names the calls that a rule speaks of: `…` stands for what may follow.
pub(super) fn named(rule: &Rule) -> String {
    match &rule.only {
        // The tool's own name would not say that it means `rm -rf`, too.
        Only::Any if rule.tool == "shell" => "any command".to_owned(),
        Only::Any => rule.tool.clone(),
        Only::Command { prefix, escalation } => match *escalation {
            Escalation::NONE => format!("`{prefix} …`"),
            given => format!("`{prefix}` with {given}"),
        },
        Only::Host(host) => host.clone(),
    }
}

/// A foreign text in one line, in which nothing can hide.
pub fn plain_line(text: &str) -> String {
    line_of(&text.replace(['\n', '\r'], " "), Length::Whole)
}

/// A foreign text in which nothing can hide.
fn plainly(text: &str, length: Length) -> String {
    let text = text.trim_matches(['\n', '\r']);
    if !text.contains('\n') {
        return line_of(text, length);
    }
    let mut lines: Vec<String> = Vec::new();
    let mut blank = 0;
    for line in text.lines() {
        if line.trim().is_empty() {
            blank += 1;
            continue;
        }
        lines.extend(blanks(std::mem::take(&mut blank), "line"));
        lines.push(line_of(line, length));
    }
    let unseen = lines.len().saturating_sub(Length::LINES);
    if length == Length::Short && unseen > 0 {
        lines.truncate(Length::LINES);
        lines.push(format!("[{unseen} more lines: d shows them]"));
    }
    format!("\n  | {}", lines.join("\n  | "))
}

fn line_of(line: &str, length: Length) -> String {
    let mut shown = String::new();
    let mut blank = 0;
    let (mut chars, mut unseen) = (0, 0);
    for character in line.trim_end().chars() {
        if character.is_whitespace() && " \t".contains(character) {
            blank += 1;
            continue;
        }
        match std::mem::take(&mut blank) {
            few @ 0..4 => shown.push_str(&" ".repeat(few)),
            many => shown.extend(blanks(many, "blank")),
        }
        chars += 1;
        if length == Length::Short && chars > Length::CHARS {
            unseen += 1;
        } else if is_unseen(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    if unseen > 0 {
        shown.push_str(&format_args!(" [{unseen} more characters: d shows them]").to_string());
    }
    shown
}

/// `[60 blank lines]`, where there are any.
fn blanks(count: usize, what: &str) -> Option<String> {
    (count > 0).then(|| match what {
        "line" => format!("[{count} blank lines]"),
        _ => format!(" [{count} blanks] "),
    })
}

/// Characters that take no room, or that look like a blank and are none to a shell.
fn is_unseen(character: char) -> bool {
    let other_blank = character.is_whitespace() && !" \t".contains(character);
    other_blank
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::policy::rules_for;

    /// A call of `shell`.
    pub(in crate::repl) fn asked(effect: Effect) -> Asked {
        Asked {
            tool: "shell".to_owned(),
            arguments: json!({"command": "cargo test --lib"}),
            rules: rules_for("shell", &effect),
            effect,
            detail: None,
            unread: None,
            is_unconfined: false,
        }
    }

    fn asked_to_write() -> Asked {
        asked(Effect::Writes("a.txt".into()))
    }

    #[test]
    fn a_question_says_what_is_done_and_which_answers_there_are() {
        let asked = asked(Effect::Runs("cargo test --lib".into()));
        assert_eq!(
            headline(&asked, Length::Short),
            "shell wants to run: cargo test --lib"
        );
        insta::assert_snapshot!(choices(&asked, Length::Short, 40), @r"
        y = yes
        n, Enter = no, or say what to do instead
        a = always in this project: `cargo test …`
        t = always in this project: any command
        e = edit
        ");
        insta::assert_snapshot!(choices(&asked, Length::Short, 80), @r"
        y = yes  n, Enter = no, or say what to do instead
        a = always in this project: `cargo test …`
        t = always in this project: any command  e = edit
        ");
        insta::assert_snapshot!(choices(&asked, Length::Short, 200), @r"
        y = yes  n, Enter = no, or say what to do instead  a = always in this project: `cargo test …`  t = always in this project: any command  e = edit
        ");
    }

    #[test]
    fn what_leads_out_of_the_sandbox_is_one_line_with_the_reason_in_which_nothing_hides() {
        let run = |reason: &str| {
            asked(Effect::Runs(Run {
                escalation: Escalation {
                    network: true,
                    keys: true,
                },
                reason: reason.to_owned(),
                ..Run::from("git push")
            }))
        };
        let asked = run("to publish\n? answer> y\u{200b}");
        assert_eq!(
            headline(&asked, Length::Short),
            "shell wants to run: git push\n  with network and keys: to publish ? answer> y\\u{200b}"
        );
        insta::assert_snapshot!(choices(&asked, Length::Short, 200), @r"
        y = yes  n, Enter = no, or say what to do instead  p = always in this project: `git push` with network and keys  e = edit
        ");
        let long = headline(&run(&"x".repeat(2_000)), Length::Short);
        assert!(
            long.ends_with(" [1000 more characters: d shows them]"),
            "{long}"
        );
    }

    #[test]
    fn of_files_that_run_later_it_is_asked_whether_the_change_is_kept() {
        let hook = asked(Effect::RunsLater(vec![".git/hooks/pre-commit".into()]));
        assert_eq!(
            headline(&hook, Length::Short),
            "the command changed .git/hooks/pre-commit\n  which runs later. Keep it? [y/N]"
        );
        assert_eq!(
            choices(&hook, Length::Short, 80),
            "y = yes  n, Enter = restore the original"
        );
        let many = asked(Effect::RunsLater(vec![".envrc".into(), "a\nb".into()]));
        assert_eq!(
            headline(&many, Length::Short),
            "the command changed \n  | .envrc\n  | a\u{2424}b\n  which run later. Keep them? [y/N]"
        );
    }

    #[test]
    fn of_a_write_it_is_said_that_the_file_runs_later() {
        let write = asked(Effect::WritesProtected(".envrc".into()));
        assert_eq!(
            headline(&write, Length::Short),
            "shell wants to change .envrc\n  which runs later"
        );
        assert_eq!(
            choices(&write, Length::Short, 80),
            "y = yes  n, Enter = no, or say what to do instead  e = edit"
        );
    }

    #[test]
    fn nothing_hides_in_a_command_and_nothing_passes_for_another_line() {
        for (command, expected) in [
            ("ls -la", "ls -la"),
            (
                "ls\n? answer> y\nrm x",
                "\n  | ls\n  | ? answer> y\n  | rm x",
            ),
            (
                &format!("ls{}; rm x", " ".repeat(4_000)),
                "ls [4000 blanks] ; rm x",
            ),
            (
                &format!("ls{}rm x{0}", "\n".repeat(61)),
                "\n  | ls\n  | [60 blank lines]\n  | rm x",
            ),
            ("ls\u{a0}x\u{200b}y", "ls\\u{a0}x\\u{200b}y"),
        ] {
            assert_eq!(plainly(command, Length::Short), expected, "{command:?}");
        }
    }

    #[test]
    fn of_a_very_long_command_it_is_said_how_much_is_not_shown() {
        let long = "x".repeat(5_000);
        assert!(plainly(&long, Length::Short).ends_with(" [4000 more characters: d shows them]"));
        assert_eq!(plainly(&long, Length::Whole), long);
        let many = "echo\n".repeat(100);
        assert!(plainly(&many, Length::Short).ends_with("[70 more lines: d shows them]"));
        let asked = asked(Effect::Runs(many.as_str().into()));
        assert!(choices(&asked, Length::Short, 80).ends_with("d = show all"));
        assert!(!choices(&asked, Length::Whole, 80).contains("show all"));
        for (lines, is_offered) in [(40, false), (41, true)] {
            let change = Asked {
                detail: Some(Detail::Diff("+a\n".repeat(lines))),
                ..asked_to_write()
            };
            let choices = choices(&change, Length::Short, 80);
            assert_eq!(choices.contains("d = show all"), is_offered, "{lines}");
        }
    }
}
