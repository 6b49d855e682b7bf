//! A plan: a draft that fits. What is sent, what was left out, what was cut, and what it costs.

use std::fmt;

use std::borrow::Cow;

use crate::chat::{Message, Tokens, ToolSpec};

use super::{Budget, Content, Section, SectionKind, Source};

/// A request that is within its budget.
///
/// Invariant: made by [`fit`](fn@super::fit) only; costs no more than its budget's prompt; has every system
/// section of the draft whole, and its input.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextPlan {
    pub(super) sections: Vec<Section>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) beyond: usize,
    pub(super) cuts: Vec<Cut>,
    pub(super) budget: Budget,
}

/// A section that had to give way.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    pub kind: SectionKind,
    pub source: Source,
    pub cost: Tokens,
    pub messages: usize,
}

/// A message that was cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    pub kind: SectionKind,
    pub source: Source,
    /// Characters (scalar values) left out.
    pub chars: usize,
}

impl ContextPlan {
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The text that recall brought.
    pub fn recalled(&self) -> Option<Cow<'_, str>> {
        let mut sections = self.sections.iter();
        let recall = sections.find(|section| section.kind == SectionKind::Recall)?;
        match recall.content() {
            Content::System(text) => Some(Cow::Borrowed(text)),
            Content::Messages(messages) => Some(messages.first()?.said()),
            Content::Tools(_) => None,
        }
    }

    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    pub fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Messages of the session that are not in this request: those left out and those never drafted.
    pub fn messages_left_out(&self) -> usize {
        self.beyond
            + self
                .left_out
                .iter()
                .map(|gone| gone.messages)
                .sum::<usize>()
    }

    /// Estimated cost of the prompt.
    pub fn cost(&self) -> Tokens {
        self.sections.iter().map(Section::cost).sum()
    }

    pub fn max_tokens(&self) -> Tokens {
        self.budget.max_tokens(self.cost())
    }

    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.sections.iter().flat_map(Section::as_messages)
    }

    /// Tools that are offered.
    pub fn tools(&self) -> impl Iterator<Item = &ToolSpec> {
        self.sections
            .iter()
            .flat_map(|section| match section.content() {
                Content::Tools(tools) => tools.as_slice(),
                Content::System(_) | Content::Messages(_) => &[],
            })
    }

    /// System texts in order; one text when `merged` (C8).
    pub fn system(&self, merged: bool) -> Vec<String> {
        let texts = self
            .sections
            .iter()
            .filter_map(|section| match section.content() {
                Content::System(text) => Some(text.trim().to_owned()),
                Content::Messages(_) | Content::Tools(_) => None,
            });
        let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        if merged && !texts.is_empty() {
            vec![texts.join("\n\n")]
        } else {
            texts
        }
    }
}

/// One line a section: kind, cost, source; then what was left out; then the sum.
impl fmt::Display for ContextPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for section in &self.sections {
            writeln!(
                f,
                "{:<10}{:>8} tok  {}",
                section.kind.as_str(),
                section.cost(),
                section.source
            )?;
        }
        for gone in &self.left_out {
            writeln!(
                f,
                "{:<10}{:>8} tok  {}, {}",
                "left out",
                gone.cost,
                gone.kind.as_str(),
                gone.source
            )?;
        }
        if self.beyond > 0 {
            writeln!(f, "{:<10}{:>8} messages  older", "left out", self.beyond)?;
        }
        for cut in &self.cuts {
            writeln!(
                f,
                "{:<10}{:>8} chars  {}, {}",
                "cut",
                cut.chars,
                cut.kind.as_str(),
                cut.source
            )?;
        }
        write!(f, "{} tok of {} tok", self.cost(), self.budget.prompt())
    }
}
