//! Compaction by itself: how full the window is, what is due before a request, and how a job is written (2.2).
//!
//! At most one in a turn, and never another for one that failed: then the plain window is sent, and the person is told.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use super::Agent;
use super::event::{TurnContext, TurnEvent, Warning};
use super::recall::Lookup;
use super::request::Asking;
use super::summarizer::{NotWritten, Progress, Summaries, Summarizer};
use crate::chat::{Calibration, Message, Role, Tokens, Usage};
use crate::context::{Budget, Section, SectionKind, Strategy};
use crate::memory::compaction::{CannotCompact, CompactJob, Gauge, Kind};
use crate::memory::{Done, Job, Planning, When, summary};
use crate::provider::Provider;

/// Whom to ask for a summary.
#[derive(Debug)]
pub(super) struct Asker {
    pub(super) provider: Arc<dyn Provider>,
    /// A window smaller than the model's own.
    pub(super) limit: Option<Tokens>,
    /// How the model's server counts, as far as that is known.
    pub(super) calibration: Calibration,
    pub(super) summaries: Arc<Summaries>,
}

/// What the server counted of the last requests, as far as it still says something of the next (G17).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    /// The last prompt; gone when what is sent has changed.
    prompt: Option<Tokens>,
    /// Whether that is what a compaction is to leave, and nobody has counted it yet (Q28).
    is_assumed: bool,
    output: u64,
    turns: u64,
}

impl Counted {
    pub(super) fn count(&mut self, usage: Usage) {
        if usage.prompt.is_some() {
            self.prompt = usage.prompt;
            self.is_assumed = false;
        }
        if let Some(output) = usage.completion {
            self.output += u64::from(output.0);
            self.turns += 1;
        }
    }

    /// What is sent has changed.
    pub(super) fn forget(&mut self) {
        self.prompt = None;
        self.is_assumed = false;
    }

    /// Takes what a compaction is to leave for the last prompt.
    fn assume(&mut self, prompt: Tokens) {
        self.prompt = Some(prompt);
        self.is_assumed = true;
    }

    /// What was taken for the last prompt, while nobody has counted it.
    pub(super) fn assumed(self) -> Option<Tokens> {
        self.prompt.filter(|_| self.is_assumed)
    }

    fn average(self) -> Option<Tokens> {
        let average = self.output.checked_div(self.turns)?;
        u32::try_from(average).ok().map(Tokens)
    }
}

/// Lets a model write what a job wants.
pub(super) async fn written(
    job: CompactJob,
    asker: Asker,
    progress: &mut (dyn FnMut(Progress) + Send),
    cancel: &CancellationToken,
) -> Result<Done, NotWritten> {
    let abilities = cancel.run_until_cancelled(asker.provider.abilities());
    let abilities = abilities.await.ok_or(NotWritten::Interrupted)?;
    let window = asker.limit.map_or(abilities.context_window, |limit| {
        abilities.context_window.min(limit)
    });
    let budget = Budget::new(window, abilities.max_output, asker.calibration);
    let inquiry = job.inquiry(budget.prompt());
    let inquiry = inquiry.map_err(|_: CannotCompact| NotWritten::WindowTooSmall { window })?;
    let writer = Summarizer {
        provider: asker.provider,
        budget,
        cancel: cancel.clone(),
        summaries: Some(asker.summaries),
    };
    let text = writer.inquire(&inquiry, progress).await?;
    Ok(Done::Compacted(job.done(&text)))
}

impl Agent {
    /// Returns how full the window is: by what the server counted while that holds, else by an estimate of the next
    /// request.
    pub(super) fn gauge(&self, budget: Budget, asking: Option<Asking<'_>>) -> Gauge {
        let nothing = Message::text(self.session().next_message_id(0), Role::User, "", None);
        let lookup = Lookup::default();
        let Asking { input, lookup } = asking.unwrap_or(Asking {
            input: &nothing,
            lookup: &lookup,
        });
        let draft = self.draft(input, lookup, &self.offered(), budget);
        let is_past = |kind: SectionKind| kind.is_history() || kind == SectionKind::Compacted;
        let cost = |past: bool| -> Tokens {
            // What is recovered goes along once.
            let sections = draft.sections.iter();
            let sections = sections.filter(|section| section.kind != SectionKind::Recovered);
            let some = sections.filter(|section| is_past(section.kind) == past);
            some.map(Section::cost).sum()
        };
        let (past, fixed) = (cost(true), cost(false));
        let calibration = budget.calibration();
        let window = budget.window();
        let estimate = calibration.grow(past + fixed);
        let used = self.counted.prompt.unwrap_or(estimate);
        let context = &self.settings.context;
        // With the layout that leaves turns out in steps, what is drafted fits although some found no room.
        let is_left = draft.beyond > 0 && self.settings.context.strategy == Strategy::Full;
        let least = if past + fixed <= budget.prompt() && !is_left {
            Tokens::ZERO
        } else if context.strategy == Strategy::Rolling {
            // What finds no room is found by recall and summarised in the background: nobody waits for that.
            part(window, context.compact_from())
        } else {
            window
        };
        Gauge {
            window,
            used: used.max(least),
            output: self.counted.average().unwrap_or_else(|| self.usual_reply()),
            fixed,
            calibration,
        }
    }

    /// What the last replies cost on average.
    fn usual_reply(&self) -> Tokens {
        const TURNS: usize = 10;
        let session = self.session();
        let turns = session.live_turns().rev();
        let turns = turns.filter(|turn| turn.outcome.is_some()).take(TURNS);
        let replies = turns.map(|turn| {
            let messages = session.messages_of(turn).iter();
            let said = messages.filter(|message| message.role == Role::Assistant);
            said.map(Message::cost).sum::<Tokens>()
        });
        let replies: Vec<Tokens> = replies.collect();
        let all: Tokens = replies.iter().copied().sum();
        let count = u32::try_from(replies.len().max(1)).unwrap_or(u32::MAX);
        Tokens(all.0 / count)
    }

    /// Where messages can be read that are left out.
    fn places(&self) -> Vec<String> {
        let name = self.session().name().as_str();
        let places = self.settings.places.iter();
        places
            .map(|place| place.replace("{session}", name))
            .collect()
    }

    /// What is due. Without a guard, and with no compaction undone, nobody looks at tokens.
    pub(super) fn due(
        &self,
        when: When,
        budget: Option<Budget>,
        asking: Option<Asking<'_>>,
    ) -> Option<Job> {
        let context = &self.settings.context;
        let is_undone = self.session().hybrid().undone.is_some();
        let gauge = match budget {
            Some(budget) if is_undone || !context.guards.is_empty() => self.gauge(budget, asking),
            Some(_) | None => Gauge::default(),
        };
        let planning = Planning {
            settings: context,
            gauge,
            places: &self.places(),
        };
        self.memory.due(self.session(), when, planning)
    }

    /// The compaction of a kind, due or not.
    pub(super) fn compact_job(
        &self,
        kind: Kind,
        focus: &str,
        budget: Budget,
    ) -> Result<CompactJob, CannotCompact> {
        let planning = Planning {
            settings: &self.settings.context,
            gauge: self.gauge(budget, None),
            places: &self.places(),
        };
        self.memory.compact(self.session(), kind, focus, planning)
    }

    /// Whom to ask where the person has not asked for it (O15).
    pub(super) fn asker(&self) -> Asker {
        let own = self.settings.summariser.clone();
        let calibration = self.session().meta().calibration;
        Asker {
            limit: own.is_none().then_some(self.served_window).flatten(),
            calibration: own.as_ref().map_or(calibration, |_| Calibration::default()),
            provider: own.unwrap_or_else(|| Arc::clone(&self.provider)),
            summaries: Arc::clone(&self.summaries),
        }
    }

    /// Compacts before a request where that is due, at most once a turn. Total: what fails costs a warning.
    pub(super) async fn make_room(
        &mut self,
        when: When,
        budget: Budget,
        asking: Asking<'_>,
        context: &mut TurnContext<'_>,
    ) {
        let before = self.compacted_to();
        let kind = self.compact_if_due(when, budget, asking, context).await;
        let upto = self.compacted_to();
        if upto > before {
            self.compacted_now = before..upto;
            if let Some(last) = &mut self.last {
                last.is_past = true;
            }
            self.read_recovery(asking.input, context).await;
        }
        if let Some(kind) = kind {
            let missed = self.missed(kind, budget, Some(asking));
            context.warn_all(missed);
            if upto > before {
                self.assume(kind, budget);
            }
        }
    }

    /// Returns what was compacted by, unless it failed or was begun before.
    async fn compact_if_due(
        &mut self,
        when: When,
        budget: Budget,
        asking: Asking<'_>,
        context: &mut TurnContext<'_>,
    ) -> Option<Kind> {
        let turn = self.session().unfinished().map(|turn| turn.id);
        if self.compacted_in == turn {
            return None;
        }
        // Recall is asked only where something is due: its cost then counts.
        let without_recall = Asking {
            lookup: &Lookup::default(),
            ..asking
        };
        self.due(when, Some(budget), Some(without_recall))?;
        let Some(Job::Compact(job)) = self.due(when, Some(budget), Some(asking)) else {
            return None;
        };
        self.compacted_in = turn;
        if self.jobs.is_compacting() {
            self.await_compaction(context).await;
            return None;
        }
        let kind = job.kind;
        let before = self.compacted_to();
        let fallback = job.clone().without_summary();
        let asks = job.asks() && self.memory.may_ask(self.session(), &self.settings.context);
        let failed = if asks {
            self.compact_now(job, context).await.err()
        } else {
            None
        };
        if let Some(failed) = &failed {
            tracing::warn!(kind = kind.as_str(), error = %failed, "compaction failed");
            let (record, _) = summary::failed(self.session());
            self.record(record, context);
        }
        if failed.is_some() || !asks {
            let taken = fallback.and_then(|notice| {
                let done = Done::Compacted(notice);
                self.memory
                    .absorb(self.session(), done, self.clock.now())
                    .ok()
            });
            if let Some(record) = taken {
                self.record(record, context);
                self.counted.forget();
                context.warn_all(self.compacted());
            }
        }
        if self.compacted_to() > before && matches!(kind, Kind::Threshold | Kind::Proactive) {
            self.save_removed(before, context).await;
        }
        match failed {
            Some(why) => {
                context.warn_all(self.warned.of_not_compacted(why));
                None
            }
            None => Some(kind),
        }
    }

    /// After a compaction that counts alone, its target is the size of the last prompt until somebody counts (Q28).
    pub(super) fn assume(&mut self, kind: Kind, budget: Budget) {
        if kind == Kind::Proactive {
            let share = self.settings.context.compaction_target;
            self.counted.assume(part(budget.window(), share));
        }
    }

    /// The message from which on everything is sent.
    pub(super) fn compacted_to(&self) -> usize {
        let compaction = self.session().hybrid().compaction.as_ref();
        compaction.map_or(0, |compaction| compaction.upto)
    }

    /// A summary in the place of the messages; tells why there is none.
    async fn compact_now(
        &mut self,
        job: CompactJob,
        context: &mut TurnContext<'_>,
    ) -> Result<(), String> {
        let messages = job.messages();
        context.emit(TurnEvent::Compacting {
            messages,
            progress: None,
        });
        let own = self.skip.begin(context.cancel);
        let mut told = |progress: Progress| {
            context.emit(TurnEvent::Compacting {
                messages,
                progress: Some(progress),
            });
        };
        let done = written(job, self.asker(), &mut told, &own).await;
        self.skip.end();
        let done = done.map_err(|error| error.to_string())?;
        let warning = self
            .take_compaction(done)
            .map_err(|error| error.to_string())?;
        self.counted.forget();
        context.warn_all(warning.into_iter().chain(self.compacted()));
        Ok(())
    }

    /// What the person is told of the compaction that has just been made for them.
    pub(super) fn compacted(&self) -> Option<Warning> {
        let compaction = self.session().hybrid().compaction.as_ref()?;
        let all = compaction.upto.saturating_sub(compaction.head);
        let messages = compaction.gone.unwrap_or(all);
        let form = compaction.form;
        (messages > 0).then_some(Warning::Compacted { messages, form })
    }

    /// One runs in the background already: it is what the request waits for.
    async fn await_compaction(&mut self, context: &mut TurnContext<'_>) {
        context.emit(TurnEvent::Compacting {
            messages: self.job_covers(),
            progress: None,
        });
        let own = self.skip.begin(context.cancel);
        while self.jobs.is_compacting()
            && let Some(warning) = own.run_until_cancelled(self.job_done()).await
        {
            context.warn_all(warning);
        }
        self.skip.end();
    }

    /// Says so, once, where the request is still larger than the compaction was to make it; the plain window follows.
    pub(super) fn missed(
        &mut self,
        kind: Kind,
        budget: Budget,
        asking: Option<Asking<'_>>,
    ) -> Option<Warning> {
        let target = kind.target(&self.settings.context)?;
        let share = self.gauge(budget, asking).share();
        self.warned.of_target(percent(share), percent(target))
    }
}

fn part(window: Tokens, share: f64) -> Tokens {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of a u32"
    )]
    Tokens((f64::from(window.0) * share).ceil() as u32)
}

fn percent(share: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "float casts saturate"
    )]
    {
        (share * 100.0).round() as u32
    }
}

/// Shared by the turn and by whoever hears Ctrl-C while it runs; hence the mutex.
#[derive(Clone, Debug, Default)]
pub struct Skip(Arc<Mutex<Option<CancellationToken>>>);

impl Skip {
    /// Gives up what a turn waits for; tells whether there was anything.
    pub fn skip(&self) -> bool {
        let running = self.lock().take();
        if let Some(token) = &running {
            token.cancel();
        }
        running.is_some()
    }

    /// What is begun now can be given up, alone or with the turn.
    pub(super) fn begin(&self, turn: &CancellationToken) -> CancellationToken {
        let token = turn.child_token();
        *self.lock() = Some(token.clone());
        token
    }

    pub(super) fn end(&self) {
        self.lock().take();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
