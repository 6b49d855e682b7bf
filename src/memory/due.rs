//! Which slow work is due, and which a person asks for: compactions and rolling summaries, planned as [`Job`]s.
//!
//! Invariant: whoever owns the list goes first, then the guards; before a request one that asks a model only where it
//! is urgent.

use super::compaction::{self, CannotCompact, CompactJob, Condensed, Gauge, Kind, Size, View};
use super::summary::{self, SummaryJob};
use super::{Job, Memory};
use crate::chat::{Compaction, Session, Timestamp, Tokens};
use crate::context;

/// New messages before a guard that misses its target is tried again.
const REST: usize = 10;

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
    /// What one turn summarises of a long backlog: as much as takes no more than two requests.
    fn part(self) -> Tokens {
        const MAX: Tokens = Tokens(8_000);
        match self.gauge.part(0.5) {
            Tokens::ZERO => MAX,
            half => half.min(MAX),
        }
    }

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
        compaction::job(
            &view,
            kind,
            kind.cut(&view),
            &self.prompts,
            focus,
            planning.places,
            None,
        )
    }

    /// Whether a model that has room for so much in a request can write a summary.
    pub fn can_compact(&self, room: Tokens) -> bool {
        compaction::can_write(&self.prompts, room)
    }

    /// The slow work that is due. After failures in a row it is tried now and then only (C15).
    pub fn due(&self, session: &Session, when: When, planning: Planning<'_>) -> Option<Job> {
        let view = planning.view(session);
        let room = planning.part();
        let job = due_kind(&view, when).and_then(|kind| {
            let (cut, places, room) = (kind.cut(&view), planning.places, Some(room));
            compaction::job(&view, kind, cut, &self.prompts, "", places, room).ok()
        });
        match when {
            When::BeforeTurn | When::BeforeRequest => job.map(Job::Compact),
            // What is newest comes first, and a backlog when nothing else is due.
            When::AfterTurn => job
                .or_else(|| self.backlog(&view, planning, room))
                .map(Job::Compact)
                .or_else(|| self.due_summary(session, planning.settings))
                .or_else(|| self.next_part(&view, room).map(Job::Compact)),
        }
    }

    /// The newest part of a backlog that the rolling summary would work off from its oldest part on.
    fn backlog(&self, view: &View<'_>, planning: Planning<'_>, room: Tokens) -> Option<CompactJob> {
        let is_rolling = view.settings.strategy == context::Strategy::Rolling;
        let summarises = is_rolling && self.mode().hybrid.summarization;
        let may_ask = self.may_ask(view.session, view.settings) && !view.is_spared();
        if !summarises || !may_ask {
            return None;
        }
        let cut = Some(compaction::backlog(view, self.mode().window)?);
        let (kind, places, room) = (Kind::Threshold, planning.places, Some(room));
        compaction::job(view, kind, cut, &self.prompts, "", places, room).ok()
    }

    /// What is left of a backlog that is summarised in parts.
    fn next_part(&self, view: &View<'_>, room: Tokens) -> Option<CompactJob> {
        let may_ask = self.may_ask(view.session, view.settings) && !view.is_spared();
        let job = may_ask.then(|| compaction::next_part(view, &self.prompts, room));
        job.flatten()
    }

    fn due_summary(&self, session: &Session, settings: &context::Settings) -> Option<Job> {
        let is_rolling = settings.strategy == context::Strategy::Rolling;
        if !is_rolling || !self.mode().hybrid.summarization {
            return None;
        }
        summary::due(session, self.mode().window, self.summarising()).map(Job::Summarise)
    }

    /// The rolling summary of all that has left the window, however little that is (`/compact rolling`). `focus`: what
    /// the person wants kept.
    pub fn summarise(&self, session: &Session, focus: &str) -> Option<SummaryJob> {
        let mut job = summary::of_all(session, self.mode().window, self.summarising())?;
        job.instruction = compaction::with_focus(&self.prompts.summarise, &self.prompts, focus);
        Some(job)
    }

    fn summarising(&self) -> summary::Asking<'_> {
        summary::Asking {
            summarise: &self.prompts.summarise,
            shorten: &self.prompts.shorten,
        }
    }

    /// Whether a model may be asked before a request without the person's asking (G21). After failures in a row it is
    /// asked once in ten turns: what is due every ninth turn is hardly ever due in a tenth one.
    pub fn may_ask(&self, session: &Session, settings: &context::Settings) -> bool {
        let newest = session.hybrid().compaction.as_ref();
        let has_rested = newest.is_some_and(|it| summary::is_later_round(session, it.made));
        settings.enable_auto_summary && (summary::is_patient(session) || has_rested)
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

/// Who compacts now: whoever owns the list, then the guards; nobody soon after one was undone.
fn due_kind(view: &View<'_>, when: When) -> Option<Kind> {
    if view.is_spared() {
        return None;
    }
    let is_urgent = view.gauge.share() >= view.settings.warning_threshold;
    let is_patient = summary::is_patient(view.session);
    let owner = compaction::by_strategy(view.settings);
    let owner = owner.filter(|owner| when == When::BeforeTurn && owner.is_due(view));
    let guards = || {
        compaction::by_guards(view.settings).find(|guard| {
            let in_time = match (*guard, when) {
                (Kind::Proactive, When::AfterTurn) => false,
                (Kind::Proactive, _) => true,
                (_, When::AfterTurn) => is_patient,
                (_, When::BeforeTurn | When::BeforeRequest) => is_urgent && is_patient,
            };
            in_time && guard.is_due(view) && is_worth_it(view, *guard)
        })
    };
    owner.or_else(guards)
}

/// Whether a guard has something to take, and gets where it is to: one that cannot comes no more often than the rolling
/// summary grows, and what finds no room is left out meanwhile.
fn is_worth_it(view: &View<'_>, guard: Kind) -> bool {
    let Some(cut) = guard.cut(view) else {
        return false;
    };
    let target = guard.target(view.settings);
    let reaches = |target| compaction::min_after(view, cut) <= view.gauge.part(target);
    target.is_none_or(reaches) || view.since(REST) >= REST
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::fixture;
    use crate::chat::{Calibration, Record, Tokens, Withdrawal};

    fn turn(session: &mut Session, words: usize) {
        let said = "harbour ".repeat(words);
        fixture::say(session, said.clone(), said, None);
    }

    fn view<'a>(session: &'a Session, settings: &'a context::Settings, gauge: Gauge) -> View<'a> {
        View {
            session,
            settings,
            gauge,
        }
    }

    /// Messages that came before a guard is due again, in a window that is always full.
    fn rest(kind: Kind, fixed: u32, withdrawn: bool) -> usize {
        let mut session = Session::new("test".parse().unwrap());
        for _ in 0..12 {
            turn(&mut session, 30);
        }
        let settings = context::Settings {
            guards: vec![match kind {
                Kind::Proactive => context::Guard::Proactive,
                _ => context::Guard::Threshold,
            }],
            ..context::Settings::default()
        };
        let gauge = Gauge {
            window: Tokens(2_000),
            used: Tokens(1_900),
            output: Tokens(50),
            fixed: Tokens(fixed),
            calibration: Calibration::default(),
        };
        let prompts = crate::memory::Prompts::embedded();
        let first = view(&session, &settings, gauge);
        let cut = kind.cut(&first);
        let job = compaction::job(&first, kind, cut, &prompts, "", &[], None).unwrap();
        let done = job.done("- They talked of the harbour and of its tide tables.");
        let now = Timestamp::from_unix(1_800_000_000).unwrap();
        session.apply(compaction::accept(&session, done, now).unwrap());
        let made = session.messages().len();
        for _ in 0..20 {
            if due_kind(&view(&session, &settings, gauge), When::BeforeTurn).is_some() {
                break;
            }
            turn(&mut session, 30);
            if withdrawn {
                let turn = session.turns().last().unwrap().id;
                let why = Withdrawal::Undone;
                session.apply(Record::TurnWithdrawn { turn, why });
            }
        }
        session.messages().len() - made
    }

    #[test]
    fn a_guard_rests_for_four_messages_and_for_ten_where_it_misses_its_target() {
        for (kind, fixed, expected) in [
            (Kind::Threshold, 100, 4),
            (Kind::Threshold, 1_200, 10),
            (Kind::Proactive, 100, 4),
            (Kind::Proactive, 1_200, 10),
        ] {
            assert_eq!(rest(kind, fixed, false), expected, "{kind:?} {fixed}");
        }
    }

    #[test]
    fn turns_that_were_taken_back_end_no_rest() {
        assert_eq!(rest(Kind::Proactive, 100, true), 40, "never due");
    }
}
