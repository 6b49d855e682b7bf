//! The tools of a conversation, and what may be done with them: rules, a person to ask, limits.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::context::ResultPolicy;
use crate::store::Outputs;
use crate::tools::files::{Changes, Project};
use crate::tools::policy::{self, Rule, Stance, Verdict};
use crate::tools::{Approvals, ApprovalsError, Detail, Effect, Registry, Tool};

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
}

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
        Approval::Refused {
            why: Some(format!(
                "nobody is there to approve {}; this run allows it with -y (--no-confirm)",
                asked.tool
            )),
        }
    }
}

/// How far tools may go in one turn, and what of their results is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Replies with calls in one turn.
    pub max_steps: usize,
    pub result_policy: ResultPolicy,
    /// Characters of one result.
    pub result_chars: usize,
    pub whole: Whole,
}

/// What becomes of a result that is too long to be kept whole in history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whole {
    #[default]
    Dropped,
    /// Kept beside the session (`context.offload`).
    Beside,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 25,
            result_policy: ResultPolicy::Smart,
            result_chars: 10_000,
            whole: Whole::Dropped,
        }
    }
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
    /// `None`: no tool changes files.
    pub files: Option<Files>,
    /// Where rules are kept; `None`: answers hold for this run.
    approvals: Option<Approvals>,
    rules: Vec<Rule>,
}

impl Default for Toolbox {
    /// Nothing to call, and nobody to ask.
    fn default() -> Self {
        Self {
            registry: Registry::default(),
            stance: Stance::default(),
            approver: Arc::new(Nobody),
            limits: Limits::default(),
            files: None,
            approvals: None,
            rules: Vec::new(),
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

    /// Takes up the rules of a project. Where they cannot be read every call is asked, and the error is returned.
    pub fn remember_in(&mut self, approvals: Approvals) -> Result<(), ApprovalsError> {
        let loaded = approvals.load();
        self.approvals = Some(approvals);
        self.rules = loaded?;
        Ok(())
    }

    pub fn approvals(&self) -> Option<&Approvals> {
        self.approvals.as_ref()
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Takes the rule of this number away, counted from 1.
    pub fn revoke(&mut self, number: usize) -> Result<Rule, ApprovalsError> {
        match &self.approvals {
            Some(approvals) => {
                let (rule, rules) = approvals.revoke(number)?;
                self.rules = rules;
                Ok(rule)
            }
            None if (1..=self.rules.len()).contains(&number) => Ok(self.rules.remove(number - 1)),
            None => Err(ApprovalsError::NoSuch {
                number,
                known: self.rules.len(),
            }),
        }
    }

    /// Takes all rules away; tells how many there were.
    pub fn revoke_all(&mut self) -> Result<usize, ApprovalsError> {
        if let Some(approvals) = &self.approvals {
            approvals.revoke_all()?;
        }
        Ok(std::mem::take(&mut self.rules).len())
    }

    pub(super) fn verdict(&self, tool: &str, effect: &Effect) -> Verdict {
        policy::verdict(tool, effect, &self.rules, self.stance)
    }

    /// Keeps a rule. It holds for this run even where the disk refuses it.
    pub(super) fn learn(&mut self, rule: Rule) -> Result<(), ApprovalsError> {
        if !self.rules.contains(&rule) {
            self.rules.push(rule.clone());
        }
        if let Some(approvals) = &self.approvals {
            self.rules = approvals.remember(rule)?;
        }
        Ok(())
    }

    pub(super) fn tool(&self, name: &str, mode: &str) -> Option<Arc<dyn Tool>> {
        self.registry.callable(name, mode).map(Arc::clone)
    }
}

/// Calls that failed in a turn, to notice that a model goes round in circles.
#[derive(Debug, Default)]
pub(super) struct Strikes(BTreeMap<(String, String), usize>);

impl Strikes {
    const MOST: usize = 3;

    /// Counts a failure; whether it was one too many of the same.
    pub(super) fn strike(&mut self, name: &str, arguments: &str) -> bool {
        let count = self
            .0
            .entry((name.to_owned(), arguments.to_owned()))
            .or_default();
        *count += 1;
        *count >= Self::MOST
    }
}
