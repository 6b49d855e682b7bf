//! A tool's question in words: what is asked, and which answers there are.
//!
//! What a model wrote stands in it, and must neither look like another line of the screen nor hide anything: a text of several
//! lines has a bar in front of each, long blanks are counted instead of shown, and what cannot be seen is written out.

use crate::agent::Asked;
use crate::tools::Effect;
use crate::tools::policy::{Only, Rule};

/// How far an "always" goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wide {
    /// Calls that begin so, or this host.
    LikeThis,
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
        Effect::Writes(path) | Effect::Keeps(path) => format!(
            "{tool} wants to change {}",
            plainly(&path.display().to_string(), length)
        ),
        Effect::Runs(command) => format!("{tool} wants to run: {}", plainly(command, length)),
        Effect::Contacts { what, .. } => format!("{tool} wants to fetch {}", plainly(what, length)),
        Effect::Delegates { server, tool: name } => {
            format!(
                "{name} of the server {server} is called with {}",
                plainly(&asked.arguments.to_string(), length)
            )
        }
    }
}

/// The answers that are possible.
pub(super) fn choices(asked: &Asked) -> String {
    let always = asked.rules.iter().map(|rule| {
        let key = if Wide::Tool.is(rule) { "t" } else { "a" };
        format!("  {key} = always {}", named(rule))
    });
    let always: String = always.collect();
    let is_cut = headline(asked, Length::Short) != headline(asked, Length::Whole);
    let more = if asked.detail.is_some() || is_cut {
        "  d = show all"
    } else {
        ""
    };
    format!("y = yes  n = no, or say what to do instead{always}  e = edit{more}")
}

impl Wide {
    pub(super) fn is(self, rule: &Rule) -> bool {
        (self == Self::Tool) == (rule.only == Only::Any)
    }
}

fn named(rule: &Rule) -> String {
    match &rule.only {
        Only::Any => rule.tool.clone(),
        Only::Command(prefix) => format!("`{prefix}`"),
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
        }
    }

    #[test]
    fn a_question_says_what_is_done_and_which_answers_there_are() {
        let asked = asked(Effect::Runs("cargo test --lib".into()));
        assert_eq!(
            headline(&asked, Length::Short),
            "shell wants to run: cargo test --lib"
        );
        insta::assert_snapshot!(choices(&asked), @r"
        y = yes  n = no, or say what to do instead  a = always `cargo test`  t = always shell  e = edit
        ");
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
        let asked = asked(Effect::Runs(many));
        assert!(choices(&asked).ends_with("d = show all"));
    }
}
