//! Whether a call may happen: allowed, to be asked, or refused. Pure.
//!
//! Unit: one call. Order: a rule that denies wins over everything, then a run that may write nothing; what is harmless by itself
//! is allowed; then what is asked each time; then a rule that allows, then a yes to all, which stays inside the sandbox. Whatever
//! is left is asked.

mod command;
mod options;

use super::{Effect, Escalation};
use command::{Further, JOINTS};

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
    /// Command lines that begin with these words and add nothing but what the table of options lists as harmless; with an escalation
    /// no operands.
    Command {
        prefix: String,
        /// What such a command may have beyond the sandbox.
        escalation: Escalation,
    },
    /// Addresses of this host.
    Host(String),
}

/// What holds for a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stance {
    pub asking: Asking,
    pub each_time: EachTime,
    pub writing: Writing,
}

impl Stance {
    /// Whether a call is asked each time, so that no answer to it is remembered.
    pub fn asks_each_time(self, effect: &Effect) -> bool {
        match self.each_time {
            EachTime::Nothing => false,
            EachTime::Commands => matches!(effect, Effect::Runs(_)),
            EachTime::Everything => true,
        }
    }
}

/// Whether a person is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asking {
    #[default]
    WhenNeeded,
    /// `-y`, `/approve`: everything that no rule denies is allowed.
    Never,
}

/// What is asked each time: no remembered rule allows it, and neither does a yes to all. Rules that deny still count. In the
/// order of how much that is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EachTime {
    #[default]
    Nothing,
    /// Commands, where a part of their sandbox is missing.
    Commands,
    /// Whatever is not harmless, in a folder that is no project.
    Everything,
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
    if is_harmless {
        return Verdict::Allow;
    }
    if stance.asks_each_time(effect) {
        return Verdict::Ask;
    }
    if speaks(Says::Allow) {
        return Verdict::Allow;
    }
    match (stance.asking, effect) {
        (Asking::WhenNeeded, _) => Verdict::Ask,
        (Asking::Never, Effect::Runs(run)) if run.escalation != Escalation::NONE => {
            Verdict::Deny(not_by_yes_to_all(run.escalation))
        }
        (Asking::Never, _) => Verdict::Allow,
    }
}

/// A yes to all was given without seeing any command, so it does not lead out of the sandbox.
fn not_by_yes_to_all(wanted: Escalation) -> String {
    format!(
        "approvals are off in this run (-y or /approve), so commands stay inside the sandbox; for {wanted} \
         the user must start cogtrix without -y, or with {}",
        flag_for(wanted)
    )
}

/// The flag with which every command has this.
pub fn flag_for(wanted: Escalation) -> &'static str {
    if wanted.keys {
        "--sandbox off"
    } else {
        "--sandbox net"
    }
}

fn may_change(effect: &Effect) -> bool {
    match effect {
        Effect::Nothing | Effect::Reads(_) | Effect::Contacts { .. } => false,
        Effect::Writes(_)
        | Effect::Keeps(_)
        | Effect::Runs(_)
        | Effect::RunsLater(_)
        | Effect::Delegates { .. } => true,
    }
}

/// The rules by which a person can say yes to this call and to those like it, narrowest first.
pub fn rules_for(tool: &str, effect: &Effect) -> Vec<Rule> {
    if matches!(effect, Effect::RunsLater(_)) {
        return Vec::new();
    }
    let rule = |only| Rule {
        says: Says::Allow,
        tool: tool.to_owned(),
        only,
    };
    let narrow = match effect {
        Effect::Runs(run) => {
            command::prefix(&run.command, further(run.escalation)).map(|prefix| Only::Command {
                prefix,
                escalation: run.escalation,
            })
        }
        Effect::Contacts { host, .. } => Some(Only::Host(host.clone())),
        Effect::Nothing
        | Effect::Reads(_)
        | Effect::Writes(_)
        | Effect::Keeps(_)
        | Effect::RunsLater(_)
        | Effect::Delegates { .. } => None,
    };
    let is_escalated = matches!(effect, Effect::Runs(run) if run.escalation != Escalation::NONE);
    let any = (!is_escalated).then_some(Only::Any);
    narrow.into_iter().chain(any).map(rule).collect()
}

impl Only {
    /// Commands that begin so, inside the sandbox.
    pub fn command(prefix: &str) -> Self {
        Self::Command {
            prefix: prefix.to_owned(),
            escalation: Escalation::NONE,
        }
    }
}

impl Rule {
    fn covers(&self, tool: &str, effect: &Effect) -> bool {
        self.tool.eq_ignore_ascii_case(tool)
            && match (&self.only, effect) {
                (Only::Any, Effect::Runs(run)) => {
                    self.says == Says::Deny || run.escalation == Escalation::NONE
                }
                (Only::Any, _) => true,
                (Only::Command { prefix, escalation }, Effect::Runs(run)) => match self.says {
                    Says::Allow => {
                        run.escalation.is_within(*escalation)
                            && command::covers(prefix, &run.command, further(run.escalation))
                    }
                    // What is denied is denied behind a `cd x &&` too.
                    Says::Deny => contains_words(&run.command, prefix),
                },
                (Only::Host(host), Effect::Contacts { host: asked, .. }) => {
                    host.eq_ignore_ascii_case(asked)
                }
                (Only::Command { .. } | Only::Host(_), _) => false,
            }
    }
}

/// What may follow the words of a rule in a command that has this beyond the sandbox.
fn further(escalation: Escalation) -> Further {
    if escalation == Escalation::NONE {
        Further::OptionsAndOperands
    } else {
        Further::Options
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
    use crate::tools::Run;

    fn runs(command: &str) -> Effect {
        Effect::Runs(command.into())
    }

    fn with_network(command: &str) -> Effect {
        Effect::Runs(Run {
            command: command.to_owned(),
            escalation: Escalation {
                network: true,
                keys: false,
            },
            reason: "to fetch".to_owned(),
        })
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
        let rules = [rule(Says::Allow, Only::command("cargo test"))];
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
            rule(Says::Deny, Only::command("git push")),
        ];
        let yes = Stance {
            asking: Asking::Never,
            ..Stance::default()
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
            ..Stance::default()
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
    fn what_is_asked_each_time_is_allowed_by_no_rule_and_by_no_yes_to_all() {
        let rules = [
            rule(Says::Allow, Only::Any),
            rule(Says::Deny, Only::command("rm")),
        ];
        let write = Effect::Writes("a".into());
        for (each_time, runs_asks, write_asks) in [
            (EachTime::Nothing, false, false),
            (EachTime::Commands, true, false),
            (EachTime::Everything, true, true),
        ] {
            let stance = Stance {
                asking: Asking::Never,
                each_time,
                ..Stance::default()
            };
            for (effect, asks) in [(runs("ls"), runs_asks), (write.clone(), write_asks)] {
                let expected = if asks { Verdict::Ask } else { Verdict::Allow };
                let found = verdict("shell", &effect, &rules, stance);
                assert_eq!(found, expected, "{each_time:?} {effect:?}");
            }
            // What is denied stays denied, and what only reads is not asked.
            let denied = verdict("shell", &runs("rm x"), &rules, stance);
            assert!(matches!(denied, Verdict::Deny(_)), "{each_time:?}");
            let reads = verdict("shell", &Effect::Reads("a".into()), &rules, stance);
            assert_eq!(reads, Verdict::Allow, "{each_time:?}");
        }
    }

    #[test]
    fn a_command_with_network_is_covered_only_by_a_rule_that_names_it() {
        let narrow = |network| Only::Command {
            prefix: "git fetch".to_owned(),
            escalation: Escalation {
                network,
                keys: false,
            },
        };
        let stance = Stance::default();
        for (only, covered) in [
            (Only::Any, false),
            (narrow(false), false),
            (narrow(true), true),
        ] {
            let rules = [rule(Says::Allow, only)];
            let expected = if covered {
                Verdict::Allow
            } else {
                Verdict::Ask
            };
            let found = verdict("shell", &with_network("git fetch --prune"), &rules, stance);
            assert_eq!(found, expected, "{rules:?}");
            for other in ["curl x", "git fetch origin"] {
                let other = verdict("shell", &with_network(other), &rules, stance);
                assert_eq!(other, Verdict::Ask, "{rules:?}");
            }
        }
        // Nor by a wider escalation: keys are not the network.
        let keys = Effect::Runs(Run {
            escalation: Escalation {
                network: true,
                keys: true,
            },
            ..Run::from("git fetch")
        });
        let rules = [rule(Says::Allow, narrow(true))];
        assert_eq!(verdict("shell", &keys, &rules, stance), Verdict::Ask);
        // And a rule that denies the tool, or the command, denies it with network too.
        for only in [Only::Any, Only::command("git fetch")] {
            let rules = [rule(Says::Allow, narrow(true)), rule(Says::Deny, only)];
            let found = verdict("shell", &with_network("git fetch"), &rules, stance);
            assert!(matches!(found, Verdict::Deny(_)), "{rules:?}");
        }
    }

    #[test]
    fn a_yes_to_all_stays_inside_the_sandbox_and_says_how_to_get_the_network() {
        let stance = Stance {
            asking: Asking::Never,
            ..Stance::default()
        };
        assert_eq!(verdict("shell", &runs("ls"), &[], stance), Verdict::Allow);
        let Verdict::Deny(why) = verdict("shell", &with_network("curl x"), &[], stance) else {
            panic!("the network was given");
        };
        assert!(why.contains("-y") && why.contains("--sandbox net"), "{why}");
    }

    #[test]
    fn a_rule_for_network_is_offered_for_this_command_alone() {
        let offered = rules_for("shell", &with_network("git fetch origin"));
        let network = Escalation {
            network: true,
            keys: false,
        };
        let expected = Only::Command {
            prefix: "git fetch origin".to_owned(),
            escalation: network,
        };
        assert_eq!(offered, [rule(Says::Allow, expected)]);
        assert_eq!(rules_for("shell", &with_network("curl x")), []);
        assert!(rules_for("shell", &runs("curl x")).contains(&rule(Says::Allow, Only::Any)));
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
            let found = command::prefix(line, Further::OptionsAndOperands);
            assert_eq!(found.as_deref(), expected, "{line}");
        }
    }
}
