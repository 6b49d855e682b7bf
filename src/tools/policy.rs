//! Whether a call may happen: allowed, to be asked, or refused. Pure.
//!
//! Unit: one call. Order: a rule that denies wins over everything, then a run that may write nothing, then a yes to all,
//! then a rule that allows, then what is harmless by itself; whatever is left is asked.

mod command;
mod options;

use super::Effect;
use command::JOINTS;

/// What a person said once for the calls to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub says: Says,
    /// The name of a tool.
    pub tool: String,
    /// Calls of that tool that it speaks of.
    pub only: Only,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    Allow,
    Deny,
}

/// Which calls of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Only {
    /// All of them.
    Any,
    /// Command lines that begin with these words and add nothing but what [`options`] lists as harmless.
    Command(String),
    /// Addresses of this host.
    Host(String),
}

/// What holds for a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stance {
    pub asking: Asking,
    pub writing: Writing,
}

/// Whether a person is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asking {
    #[default]
    WhenNeeded,
    /// `-y`, `/approve`: everything that no rule denies is allowed.
    Never,
}

/// Whether anything may be changed at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writing {
    #[default]
    Possible,
    /// `--read-only`.
    Refused,
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Ask,
    /// In words for the model.
    Deny(String),
}

/// Judges a call.
pub fn verdict(tool: &str, effect: &Effect, rules: &[Rule], stance: Stance) -> Verdict {
    let speaks = |says| {
        let mut rules = rules.iter().filter(|rule| rule.says == says);
        rules.any(|rule| rule.covers(tool, effect))
    };
    if speaks(Says::Deny) {
        return Verdict::Deny(format!("a rule of this project denies {tool}"));
    }
    if stance.writing == Writing::Refused && may_change(effect) {
        return Verdict::Deny(format!(
            "this run is read-only: {tool} could change something"
        ));
    }
    let is_harmless = matches!(
        effect,
        Effect::Nothing | Effect::Reads(_) | Effect::Keeps(_)
    );
    if is_harmless || stance.asking == Asking::Never || speaks(Says::Allow) {
        Verdict::Allow
    } else {
        Verdict::Ask
    }
}

fn may_change(effect: &Effect) -> bool {
    match effect {
        Effect::Nothing | Effect::Reads(_) | Effect::Contacts { .. } => false,
        Effect::Writes(_) | Effect::Keeps(_) | Effect::Runs(_) | Effect::Delegates { .. } => true,
    }
}

/// The rules by which a person can say yes to this call and to those like it, narrowest first.
pub fn rules_for(tool: &str, effect: &Effect) -> Vec<Rule> {
    let rule = |only| Rule {
        says: Says::Allow,
        tool: tool.to_owned(),
        only,
    };
    let narrow = match effect {
        Effect::Runs(command) => command::prefix(command).map(Only::Command),
        Effect::Contacts { host, .. } => Some(Only::Host(host.clone())),
        Effect::Nothing
        | Effect::Reads(_)
        | Effect::Writes(_)
        | Effect::Keeps(_)
        | Effect::Delegates { .. } => None,
    };
    narrow.into_iter().chain([Only::Any]).map(rule).collect()
}

impl Rule {
    fn covers(&self, tool: &str, effect: &Effect) -> bool {
        self.tool.eq_ignore_ascii_case(tool)
            && match (&self.only, effect) {
                (Only::Any, _) => true,
                (Only::Command(prefix), Effect::Runs(command)) => match self.says {
                    Says::Allow => command::covers(prefix, command),
                    // What is denied is denied behind a `cd x &&` too.
                    Says::Deny => contains_words(command, prefix),
                },
                (Only::Host(host), Effect::Contacts { host: asked, .. }) => {
                    host.eq_ignore_ascii_case(asked)
                }
                (Only::Command(_) | Only::Host(_), _) => false,
            }
    }
}

/// Whether these words stand next to one another anywhere in a command line.
fn contains_words(command: &str, prefix: &str) -> bool {
    let separated = |c: char| c.is_whitespace() || JOINTS.contains(&c) || "'\"".contains(c);
    let words: Vec<&str> = command
        .split(separated)
        .filter(|it| !it.is_empty())
        .collect();
    let wanted: Vec<&str> = prefix.split_whitespace().collect();
    !wanted.is_empty() && words.windows(wanted.len()).any(|some| some == wanted)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn runs(command: &str) -> Effect {
        Effect::Runs(command.to_owned())
    }

    fn rule(says: Says, only: Only) -> Rule {
        Rule {
            says,
            tool: "shell".to_owned(),
            only,
        }
    }

    #[test]
    fn only_what_harms_nobody_runs_unasked() {
        for (effect, expected) in [
            (Effect::Nothing, Verdict::Allow),
            (Effect::Reads(PathBuf::from("a")), Verdict::Allow),
            (Effect::Writes(PathBuf::from("a")), Verdict::Ask),
            (Effect::Keeps(PathBuf::from("a")), Verdict::Allow),
            (runs("ls"), Verdict::Ask),
            (
                Effect::Contacts {
                    host: "example.com".into(),
                    what: String::new(),
                },
                Verdict::Ask,
            ),
            (
                Effect::Delegates {
                    server: "s".into(),
                    tool: "t".into(),
                },
                Verdict::Ask,
            ),
        ] {
            assert_eq!(
                verdict("shell", &effect, &[], Stance::default()),
                expected,
                "{effect:?}"
            );
        }
    }

    #[test]
    fn a_prefix_allows_simple_commands_that_begin_so_and_nothing_else() {
        let rules = [rule(Says::Allow, Only::Command("cargo test".into()))];
        for (command, expected) in [
            ("cargo test", Verdict::Allow),
            ("cargo  test --lib x", Verdict::Allow),
            ("cargo testing", Verdict::Ask),
            ("cargo", Verdict::Ask),
            ("cargo test; rm -rf .", Verdict::Ask),
            ("cargo test && rm x", Verdict::Ask),
            ("cargo test | sh", Verdict::Ask),
            ("cargo test $(rm x)", Verdict::Ask),
            ("cargo test `rm x`", Verdict::Ask),
            ("cargo test > ~/.bashrc", Verdict::Ask),
            ("cargo test\nrm x", Verdict::Ask),
            ("cargo test\u{a0}x", Verdict::Ask),
            ("PATH=. cargo test", Verdict::Ask),
        ] {
            let found = verdict("shell", &runs(command), &rules, Stance::default());
            assert_eq!(found, expected, "{command}");
        }
    }

    #[test]
    fn a_rule_that_denies_wins_whatever_else_is_said() {
        let rules = [
            rule(Says::Allow, Only::Any),
            rule(Says::Deny, Only::Command("git push".into())),
        ];
        let yes = Stance {
            asking: Asking::Never,
            writing: Writing::Possible,
        };
        for command in ["git push", "cd x && git push --force", "sh -c 'git push'"] {
            let found = verdict("shell", &runs(command), &rules, yes);
            assert!(matches!(found, Verdict::Deny(_)), "{command}");
        }
        assert_eq!(
            verdict("shell", &runs("git log"), &rules, yes),
            Verdict::Allow
        );
    }

    #[test]
    fn a_run_that_may_write_nothing_writes_nothing_with_yes_to_all_either() {
        let stance = Stance {
            asking: Asking::Never,
            writing: Writing::Refused,
        };
        for (effect, denied) in [
            (Effect::Writes("a".into()), true),
            (Effect::Keeps("a".into()), true),
            (runs("ls"), true),
            (Effect::Reads("a".into()), false),
        ] {
            let found = verdict("t", &effect, &[], stance);
            assert_eq!(matches!(found, Verdict::Deny(_)), denied, "{effect:?}");
        }
    }

    #[test]
    fn a_prefix_is_offered_where_it_says_what_is_done() {
        for (line, expected) in [
            ("cargo test --lib", Some("cargo test")),
            ("ls -la", Some("ls")),
            ("git -C x push", None),
            ("git", None),
            ("sh -c 'rm x'", None),
            ("sudo ls", None),
            ("/usr/bin/env ls", None),
            ("A=1 ls", None),
            ("ls | sh", None),
            ("", None),
            // A path may lead to anything, and what is quoted or escaped to the same.
            ("/usr/bin/git status", None),
            ("./git status", None),
            ("./x", None),
            ("\\sh -c x", None),
            ("'sh' -c x", None),
            ("l? x", None),
            ("git 'push'", None),
            // What runs something else, in any version.
            (". x", None),
            ("source x", None),
            ("command git push", None),
            ("builtin eval x", None),
            ("fish -c x", None),
            ("ksh -c x", None),
            ("tcsh x", None),
            ("pwsh x", None),
            ("setsid x", None),
            ("stdbuf -o0 x", None),
            ("parallel x", None),
            ("deno run x", None),
            ("bun x", None),
            ("lua5.4 x", None),
            ("python3.12 -c x", None),
            ("Python x", None),
            // Nobody knows what it does, or it does whatever stands behind it.
            ("pip3 install x", None),
            ("7z x a", None),
            ("! touch x", None),
            ("cargo run", None),
            ("npm exec x", None),
            ("git config alias.x '!rm x'", None),
            ("git log -3", Some("git log")),
            // A blank that is none to a shell, or is one where this does not see it.
            ("ls\u{a0}x", None),
            ("ls\u{b}x", None),
        ] {
            assert_eq!(command::prefix(line).as_deref(), expected, "{line}");
        }
    }
}
