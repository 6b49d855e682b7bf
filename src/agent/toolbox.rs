//! The tools of a conversation, and what may be done with them: rules, a person to ask, limits.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

use super::Agent;
use crate::context::{self, ResultPolicy};
use crate::declare::settings;
use crate::hint::chain;
use crate::store::Outputs;
use crate::tools::files::{Changes, Project};
use crate::tools::policy::{self, Asking, EachTime, Rule, Stance, Verdict};
use crate::tools::shell::{self, Support, Unavailable};
use crate::tools::{Approvals, ApprovalsError, Detail, Effect, Escalation, Registry};

/// A call that a person is asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub tool: String,
    pub arguments: Value,
    pub effect: Effect,
    /// What would change, where that can be told.
    pub detail: Option<Detail>,
    /// Rules that would answer this call and those like it, narrowest first.
    pub rules: Vec<Rule>,
    /// Why the rules cannot be read, where that is why it is asked.
    pub unread: Option<String>,
    /// Whether it is a command for which a part of the sandbox is missing, so that no yes to all allows it.
    pub is_unconfined: bool,
}

/// What the person says.
#[derive(Clone, Debug, PartialEq)]
pub enum Approval {
    Once,
    /// And from now on in this project.
    Always(Rule),
    /// Yes, but with these arguments.
    Edited(Value),
    /// `why` is a word to the model.
    Refused {
        why: Option<String>,
    },
    /// Nobody said anything, and why.
    Unanswered(String),
}

/// Looks at the agent while it waits for a person's answer.
pub type Look = Box<dyn for<'a> FnOnce(&'a mut Agent) -> LocalBoxFuture<'a, ()> + Send>;

/// Asks a person, or answers in their place.
#[async_trait]
pub trait Approver: Send + Sync + fmt::Debug {
    async fn approve(&self, asked: Asked) -> Approval;
}

/// Where nobody can be asked: what needs a yes is refused, and how to give it beforehand is said.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

#[async_trait]
impl Approver for Nobody {
    async fn approve(&self, asked: Asked) -> Approval {
        let tool = asked.tool;
        let how = match (asked.unread, asked.effect) {
            (Some(unread), _) => {
                format!("fix this project's rules first: {unread}")
            }
            (None, Effect::Runs(run)) if run.escalation != Escalation::NONE => {
                let flag = policy::flag_for(run.escalation);
                format!("pass {flag} to allow {}", run.escalation)
            }
            (None, Effect::WritesProtected(_)) => {
                "a program runs that file later, so -y does not cover it".to_owned()
            }
            (None, _) if asked.is_unconfined => {
                "part of the sandbox is missing here, so -y does not cover it; --sandbox off turns the sandbox off"
                    .to_owned()
            }
            (None, _) => "pass -y (--no-confirm) to allow it".to_owned(),
        };
        Approval::Unanswered(format!("nobody can approve {tool} here; {how}"))
    }
}

settings! {
    /// How far tools may go in one turn, and what of their results is kept.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Limits {
        /// Replies with calls in one turn.
        pub max_steps: usize = 25,
        pub result_policy: ResultPolicy = ResultPolicy::Smart,
        /// Characters of one result.
        pub result_chars: usize = 10_000,
        pub whole: Whole = Whole::Dropped,
    }
}

impl Limits {
    /// The same with what settings of the context say of results.
    #[must_use]
    pub fn with(self, context: &context::Settings) -> Self {
        Self {
            result_policy: context.tool_result_policy,
            result_chars: context.result_chars(),
            whole: if context.offload {
                Whole::Beside
            } else {
                Whole::Dropped
            },
            ..self
        }
    }
}

/// What becomes of a result that is too long to be kept whole in history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whole {
    #[default]
    Dropped,
    /// Kept beside the session (`context.offload`).
    Beside,
}

/// The files that tools work on and a person attaches, and what they held before.
#[derive(Clone, Debug)]
pub struct Files {
    pub project: Arc<Project>,
    pub changes: Arc<Changes>,
    /// Where pictures are kept that a person attaches, and long results; `None`: nowhere.
    pub outputs: Option<Arc<Outputs>>,
}

/// Everything about tools that an agent holds.
#[derive(Debug)]
pub struct Toolbox {
    pub registry: Registry,
    pub stance: Stance,
    pub approver: Arc<dyn Approver>,
    pub limits: Limits,
    /// What is to be looked at while a question waits; `None`: nobody looks.
    pub looks: Option<UnboundedReceiver<Look>>,
    /// `None`: no tool changes files.
    pub files: Option<Files>,
    /// The sandbox is tried with this before the first command, and then no more.
    untried: Option<Untried>,
    /// Whether a part of the sandbox was found to be missing.
    is_unconfined: bool,
    /// The reason why no command can run, in words for the model; none is judged or asked about then.
    runs_none: Option<String>,
    /// Where rules are kept; `None`: answers hold for this run.
    approvals: Option<Approvals>,
    /// Those of the file as it was last read, then those that the disk refused.
    rules: Vec<Rule>,
    unsaved: Vec<Rule>,
    /// Why the file could not be read when it was last tried. What it denies is not known then, so every call is asked.
    unread: Option<String>,
}

#[derive(Clone, Debug)]
struct Untried {
    /// It starts commands.
    program: PathBuf,
    /// Where commands know of each other.
    running: Option<PathBuf>,
}

impl Default for Toolbox {
    /// Nothing to call, and nobody to ask.
    fn default() -> Self {
        Self {
            registry: Registry::default(),
            stance: Stance::default(),
            approver: Arc::new(Nobody),
            limits: Limits::default(),
            looks: None,
            files: None,
            untried: None,
            is_unconfined: false,
            runs_none: None,
            approvals: None,
            rules: Vec::new(),
            unsaved: Vec::new(),
            unread: None,
        }
    }
}

impl Toolbox {
    pub fn new(registry: Registry, approver: Arc<dyn Approver>) -> Self {
        Self {
            registry,
            approver,
            ..Self::default()
        }
    }

    /// Has commands confined. Starts nothing: it returns what to tell where the kernel cannot confine at all, and the
    /// rest of the sandbox is tried before the first command. Call it once the stance is set.
    pub fn confine_commands(
        &mut self,
        program: PathBuf,
        running: Option<PathBuf>,
    ) -> Option<String> {
        match shell::available() {
            Ok(_) => {
                self.untried = Some(Untried { program, running });
                None
            }
            Err(unavailable) => self.take_up(Err(unavailable)),
        }
    }

    /// Tries the sandbox, once in a run: before a command is judged, or a person says yes to all. Returns a warning
    /// where a part is missing.
    pub async fn try_sandbox(&mut self) -> Option<String> {
        let Untried { program, running } = self.untried.clone()?;
        let try_it = move || shell::support(&program, running.as_deref());
        let tried = tokio::task::spawn_blocking(try_it).await;
        self.untried = None;
        let crashed = |error: tokio::task::JoinError| {
            let why = error.to_string();
            Err(Unavailable { why })
        };
        self.take_up(tried.unwrap_or_else(crashed))
    }

    /// Has each command asked where a part of its sandbox is missing, and returns what to tell of that.
    fn take_up(&mut self, support: Result<Support, Unavailable>) -> Option<String> {
        let warning = match support {
            Ok(support) if support.is_whole() => return None,
            Ok(support) => format!(
                "shell commands are only partly sandboxed here, so each one needs approval; {}",
                support.shortfall().unwrap_or_default()
            ),
            Err(unavailable) => {
                let why = format!("cannot sandbox shell commands here ({unavailable})");
                self.runs_none = Some(format!(
                    "no command is run: {why}; the person can choose --sandbox off, which runs them unsandboxed"
                ));
                format!("{why}, so none are run; `--sandbox off` runs them unsandboxed")
            }
        };
        self.is_unconfined = true;
        self.stance.each_time = self.stance.each_time.max(EachTime::Commands);
        Some(warning)
    }

    /// Whether a part of the sandbox was found to be missing.
    pub fn lacks_sandbox(&self) -> bool {
        self.is_unconfined
    }

    /// Returns whether this is a command for which a part of the sandbox is missing.
    pub(super) fn is_unconfined(&self, effect: &Effect) -> bool {
        self.is_unconfined && matches!(effect, Effect::Runs(_))
    }

    /// Takes up the rules of a project. Where they cannot be read every call is asked, and the error is returned.
    pub fn remember_in(&mut self, approvals: Approvals) -> Result<(), ApprovalsError> {
        self.approvals = Some(approvals);
        self.reread()
    }

    /// Takes up the rules as they are now, so that a person's edit and another process's answer count. Where they
    /// cannot be read nothing is allowed unasked, and a yes to all is over: it was said with rules that deny in mind.
    pub fn reread(&mut self) -> Result<(), ApprovalsError> {
        let Some(approvals) = &self.approvals else {
            return Ok(());
        };
        match approvals.load() {
            Ok(rules) => {
                self.hold(rules);
                self.unread = None;
                Ok(())
            }
            Err(error) => {
                self.unread = Some(chain(&error));
                self.stance.asking = Asking::WhenNeeded;
                Err(error)
            }
        }
    }

    fn hold(&mut self, kept: Vec<Rule>) {
        self.unsaved.retain(|rule| !kept.contains(rule));
        self.rules = kept;
        self.rules.extend_from_slice(&self.unsaved);
    }

    /// Why the rules could not be read when they were last looked at.
    pub fn unread(&self) -> Option<&str> {
        self.unread.as_deref()
    }

    pub fn approvals(&self) -> Option<&Approvals> {
        self.approvals.as_ref()
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Takes the rule of this number away, counted from 1.
    pub fn revoke(&mut self, number: usize) -> Result<Rule, ApprovalsError> {
        self.reread()?;
        let known = self.rules.len();
        let place = number.checked_sub(1).filter(|place| *place < known);
        let place = place.ok_or(ApprovalsError::NoSuch { number, known })?;
        let rule = self.rules[place].clone();
        match self.unsaved.iter().position(|unsaved| *unsaved == rule) {
            // Those that the disk refused stand behind those it has.
            Some(unsaved) => {
                self.unsaved.remove(unsaved);
                self.rules.remove(place);
            }
            None => match &self.approvals {
                Some(approvals) => {
                    let (_, kept) = approvals.revoke(number)?;
                    self.hold(kept);
                }
                None => {
                    self.rules.remove(place);
                }
            },
        }
        Ok(rule)
    }

    /// Takes all rules away; tells how many there were.
    pub fn revoke_all(&mut self) -> Result<usize, ApprovalsError> {
        if let Some(approvals) = &self.approvals {
            approvals.revoke_all()?;
        }
        self.unsaved.clear();
        Ok(std::mem::take(&mut self.rules).len())
    }

    /// Judges a call by the rules as they are now.
    pub(super) fn verdict(&mut self, tool: &str, effect: &Effect) -> Verdict {
        if let (Effect::Runs(_), Some(why)) = (effect, &self.runs_none) {
            return Verdict::Deny(why.clone());
        }
        // Why they are not known is told with the question.
        let is_known = self.reread().is_ok();
        match policy::verdict(tool, effect, &self.rules, self.stance) {
            Verdict::Allow if !is_known => Verdict::Ask,
            verdict => verdict,
        }
    }

    /// Returns the rules that a person may answer with: none where a call is asked each time, or where no rule can be
    /// kept.
    pub(super) fn rules_for(&self, tool: &str, effect: &Effect) -> Vec<Rule> {
        if self.unread.is_some() || self.stance.asks_each_time(effect) {
            return Vec::new();
        }
        policy::rules_for(tool, effect)
    }

    /// Keeps a rule; returns its number where it outlives the run. It holds for this run even where the disk refuses
    /// it.
    pub(super) fn learn(&mut self, rule: &Rule) -> Result<Option<usize>, ApprovalsError> {
        if !self.rules.contains(rule) {
            self.rules.push(rule.clone());
            self.unsaved.push(rule.clone());
        }
        let Some(approvals) = &self.approvals else {
            return Ok(None);
        };
        let kept = approvals.remember(rule.clone())?;
        self.hold(kept);
        let place = self.rules.iter().position(|held| held == rule);
        Ok(place.map(|place| place + 1))
    }
}

/// Calls that failed in a turn, to notice that a model goes round in circles.
#[derive(Debug, Default)]
pub(super) struct Strikes(BTreeMap<(String, String), usize>);

impl Strikes {
    const MAX: usize = 3;

    /// Counts a failure; whether it was one too many of the same.
    pub(super) fn strike(&mut self, name: &str, arguments: &str) -> bool {
        let count = self
            .0
            .entry((name.to_owned(), arguments.to_owned()))
            .or_default();
        *count += 1;
        *count >= Self::MAX
    }
}

#[cfg(test)]
mod tests;
