//! Whether a call may happen: allowed, to be asked, or refused. Pure.
//!
//! Unit: one call. Order: a rule that denies wins over everything, then a run that may write nothing; what is harmless
//! by itself is allowed; then what is asked each time, as files that run later are; then a rule that allows, then a yes
//! to all, which stays inside the sandbox. Whatever is left is asked.

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
    /// Command lines that begin with these words and add nothing but what the table of options lists as harmless; with
    /// an escalation no operands.
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
    /// Returns whether a call is asked each time, so that no answer to it is remembered.
    pub fn asks_each_time(self, effect: &Effect) -> bool {
        match self.each_time {
            EachTime::Nothing => runs_later(effect),
            EachTime::Commands => runs_later(effect) || matches!(effect, Effect::Runs(_)),
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

/// Calls that are asked each time, beside changes to what runs later: neither a remembered rule nor a yes to all allows
/// them; rules that deny still count. In the order of how much that is.
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
        Effect::Nothing | Effect::Reads(_) | Effect::Keeps(_) | Effect::Deletes(_)
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
        | Effect::WritesProtected(_)
        | Effect::Keeps(_)
        | Effect::Deletes(_)
        | Effect::Runs(_)
        | Effect::RunsLater(_)
        | Effect::Delegates { .. } => true,
    }
}

/// Returns whether what is changed runs outside of the sandbox later.
fn runs_later(effect: &Effect) -> bool {
    matches!(effect, Effect::WritesProtected(_) | Effect::RunsLater(_))
}

/// The rules by which a person can say yes to this call and to those like it, narrowest first.
pub fn rules_for(tool: &str, effect: &Effect) -> Vec<Rule> {
    if runs_later(effect) {
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
        | Effect::WritesProtected(_)
        | Effect::Keeps(_)
        | Effect::Deletes(_)
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

/// Returns what may follow the words of a rule in a command that has this beyond the sandbox.
fn further(escalation: Escalation) -> Further {
    if escalation == Escalation::NONE {
        Further::OptionsAndOperands
    } else {
        Further::Options
    }
}

/// Returns whether these words stand next to one another anywhere in a command line.
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
mod tests;
