//! Which slow work is due, and which a person asks for: compactions and rolling summaries, planned as [`Job`]s.
//!
//! Invariant: whoever owns the list goes first, then the guards; before a request one that asks a model only where it is urgent.

use super::compaction::{
    self, CannotCompact, CompactJob, Condensed, Gauge, Kind, Size, Strategy, View,
};
use super::summary::{self, SummaryJob};
use super::{Job, Memory};
use crate::chat::{Compaction, Session, Timestamp};
use crate::context;

/// When slow work is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the first request of a turn: strategies, and guards where it is urgent.
    BeforeTurn,
    /// Before a further request of a turn: guards alone.
    BeforeRequest,
    /// What can be done in the background.
    AfterTurn,
}

/// What slow work is planned for beside the session.
#[derive(Clone, Copy, Debug)]
pub struct Planning<'a> {
    pub settings: &'a context::Settings,
    pub gauge: Gauge,
    /// Where the messages can be read that are left out without a summary.
    pub places: &'a [String],
}

impl<'a> Planning<'a> {
    fn view(self, session: &'a Session) -> View<'a> {
        View {
            session,
            settings: self.settings,
            gauge: self.gauge,
        }
    }
}

impl Memory {
    /// The compaction of a kind, whether it is due or not (`/compact`, O16). `focus`: what the person wants kept.
    pub fn compact(
        &self,
        session: &Session,
        kind: Kind,
        focus: &str,
        planning: Planning<'_>,
    ) -> Result<CompactJob, CannotCompact> {
        let view = planning.view(session);
        let strategy = compaction::of_kind(kind);
        compaction::job(&view, strategy, &self.prompts, focus, planning.places)
    }

    /// The slow work that is due. After failures in a row it is tried now and then only (C15).
    pub fn due(&self, session: &Session, when: When, planning: Planning<'_>) -> Option<Job> {
        let view = planning.view(session);
        let strategy = due_strategy(&view, when);
        let job = strategy.and_then(|strategy| {
            compaction::job(&view, strategy, &self.prompts, "", planning.places).ok()
        });
        match when {
            When::BeforeTurn | When::BeforeRequest => job.map(Job::Compact),
            When::AfterTurn => job
                .map(Job::Compact)
                .or_else(|| self.due_summary(session, planning.settings)),
        }
    }

    fn due_summary(&self, session: &Session, settings: &context::Settings) -> Option<Job> {
        let is_rolling = settings.strategy == context::Strategy::Rolling;
        if !is_rolling || !self.mode().hybrid.summarization {
            return None;
        }
        summary::due(session, self.mode().window, self.summarising()).map(Job::Summarise)
    }

    /// The rolling summary of all that has left the window, however little that is (`/compact rolling`).
    pub fn summarise(&self, session: &Session) -> Option<SummaryJob> {
        summary::of_all(session, self.mode().window, self.summarising())
    }

    fn summarising(&self) -> summary::Asking<'_> {
        summary::Asking {
            summarise: &self.prompts.summarise,
            shorten: &self.prompts.shorten,
        }
    }

    /// Whether a model may be asked before a request without the person's asking (G21), and not after failures in a row.
    pub fn may_ask(&self, session: &Session, settings: &context::Settings) -> bool {
        settings.enable_auto_summary && summary::is_patient(session)
    }

    /// What the compaction of a session takes in a request, without what stays in front of it.
    pub fn compacted_size(&self, session: &Session) -> Size {
        let compaction = session.hybrid().compaction.as_ref();
        let alone = |compaction: &Compaction| Compaction {
            head: 0,
            previous: None,
            ..compaction.clone()
        };
        let section = compaction.filter(|it| !it.is_blank()).map(alone);
        let section =
            section.and_then(|it| compaction::section(session, &it, |_, message| message.clone()));
        section.map_or_else(Size::default, |section| Size {
            messages: section.spoken().max(1),
            tokens: section.cost(),
        })
    }

    /// Condenses older results of tools; asks nobody (`/compact tools`).
    pub fn condense(
        &self,
        session: &Session,
        settings: &context::Settings,
        now: Timestamp,
    ) -> Result<Condensed, CannotCompact> {
        compaction::condense(session, settings.tool_output_trim_chars, now)
    }
}

/// Who compacts now: whoever owns the list, then the guards.
fn due_strategy(view: &View<'_>, when: When) -> Option<&'static dyn Strategy> {
    let is_urgent = view.gauge.share() >= view.settings.warning_threshold;
    let is_patient = summary::is_patient(view.session);
    let owner = compaction::by_strategy(view.settings);
    let owner = owner.filter(|owner| when == When::BeforeTurn && owner.is_due(view));
    let guards = || {
        compaction::by_guards(view.settings).find(|guard| {
            let in_time = match (guard.kind(), when) {
                (Kind::Proactive, When::AfterTurn) => false,
                (Kind::Proactive, _) => true,
                (_, When::AfterTurn) => is_patient,
                (_, When::BeforeTurn | When::BeforeRequest) => is_urgent && is_patient,
            };
            in_time && guard.is_due(view) && guard.cut(view).is_some()
        })
    };
    owner.or_else(guards)
}
