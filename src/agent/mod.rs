//! One turn after another: [`Agent`] holds the parts of a conversation and lets them meet.
//!
//! ```text
//!  input -> record(TurnStarted) -> memory.prepare -> context::fit -> provider.stream -> events
//!                                                                        |
//!           record(ModeStates)  <- memory.update  <- record(TurnFinished)
//! ```
//! However a turn ends, it is recorded, closed and sendable before [`Agent::turn`] returns. Where what stands:
//! ```text
//!  the turn         turn; request: what is sent; model_loop, reply: what comes back; tool_calls, toolbox;
//!                   mentions; undo, think/
//!  what it tells    event; warn_once: not every turn
//!  compaction       compact: asked for; auto_compact: by itself; summarizer; jobs: in the background
//!  recall           recall: in the session; related: what comes into a request by itself; memory_search:
//!                   over everything
//!  long-term memory notes, end_hooks, long_term/; entries, entry_writer; external_memory: behind a server
//!  forgetting       forgetting: in the open session
//!  learning         counter: how servers count; jobs: what a model reads out of a session
//!                   ledger: the session and its log in step
//! ```

mod auto_compact;
mod calibration;
mod compact;
mod counter;
mod end_hooks;
mod entries;
mod entry_writer;
mod event;
mod external_memory;
mod forgetting;
mod jobs;
mod ledger;
pub mod long_term;
mod memory_search;
mod mentions;
mod model_loop;
mod notes;
mod recall;
mod related;
mod reply;
mod request;
mod summarizer;
mod think;
mod tool_calls;
mod toolbox;
mod turn;
mod undo;
mod warn_once;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::chat::{Hybrid, Record, Session, SessionName, Spending, Tokens, TurnId, Usage};
use crate::clock::Clock;
use crate::context::{self, ContextPlan, TokenUsage};
use crate::index::{self, Index};
use crate::long_term::entries::EntryStore;
use crate::memory::tracking::{CannotEdit, Edit, Edited};
use crate::memory::{BadMode, LongTermContext, Memory};
use crate::provider::{Delivery, Meter, Price, Provider, WindowSource};
use crate::store::{Opened, StoreError, Unwritable};

pub use auto_compact::Skip;
pub use compact::{CompactError, CompactReport, Compacting, Dry, DryCut, DryTools};
pub use counter::{Count, Uncounted};
pub use end_hooks::{EndHook, EndHooks, Ending, Ran};
pub use entries::{CannotPin, Pinned};
pub use event::{Beside, MakesRoom, Observer, Reach, Reader, ToolReport, TurnEvent, Warning};
pub use external_memory::ExternalMemory;
pub use forgetting::ForgottenHere;
pub use ledger::Ledger;
pub use recall::{Recalled, Vectors};
pub use summarizer::{NotWritten, Progress};
pub use think::{Stage, ThinkSettings};
pub use toolbox::{Approval, Approver, Asked, Files, Limits, Look, Nobody, Toolbox, Whole};
pub use turn::Input;
pub use turn::{TurnError, TurnFailure, TurnReport};
pub use undo::{NoTurn, TakenDown, Undone};

/// What stays the same from turn to turn.
#[derive(Clone, Debug)]
pub struct Settings {
    pub context: context::Settings,
    pub delivery: Delivery,
    /// The folder the person works in.
    pub directory: String,
    /// The model that summarises, where it is not the one that answers.
    pub summariser: Option<Arc<dyn Provider>>,
    pub jobs: Running,
    pub think: ThinkSettings,
    /// What recall works with; `None`: nothing is recalled.
    pub recall: Option<index::Parts>,
    /// Files in which messages can be read that are left out of a request; `{session}` stands for the session's name.
    pub places: Vec<String>,
    /// The folder that holds the sessions.
    pub data: PathBuf,
}

/// When slow work runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Running {
    /// After the reply, while the person reads and types.
    #[default]
    Background,
    /// Before the turn ends.
    Foreground,
}

/// A conversation with all its parts.
#[derive(Debug)]
pub struct Agent {
    provider: Arc<dyn Provider>,
    memory: Memory,
    ledger: Ledger,
    clock: Arc<dyn Clock>,
    settings: Settings,
    /// For `/context`.
    last: Option<LastRequest>,
    counter: counter::TokenCounter,
    /// A window smaller than assumed, learnt when a request was refused as too long.
    served_window: Option<Tokens>,
    /// What the server counted, while it holds.
    counted: auto_compact::Counted,
    /// The turn in which something was compacted, or tried to be: once is enough.
    compacted_in: Option<TurnId>,
    /// The messages that were compacted in the running turn: recall does not bring them back into it.
    compacted_now: Range<usize>,
    summaries: Arc<summarizer::Summaries>,
    skip: Skip,
    /// What was said once is not said every turn.
    warned: warn_once::WarnOnce,
    jobs: jobs::Jobs,
    index: Option<Index>,
    external: Option<ExternalMemory>,
    toolbox: Toolbox,
    /// Whether the model is offered tools: not once its server said that it takes none.
    takes_tools: bool,
    /// Whether it is shown pictures.
    takes_images: bool,
    /// What outlives the session, as the last turn read it.
    kept: LongTermContext,
    entries: entry_writer::EntryWriter,
    long_term: Option<long_term::LongTermMemory>,
    /// What requests of this run took, and of it what sessions have on record.
    meter: Meter,
    billed: Spending,
    /// What the model costs, as the last turn learnt it.
    price: Option<Price>,
    window_source: WindowSource,
}

/// A request, whom it was sent to, and what the server said it cost.
#[derive(Debug)]
struct LastRequest {
    plan: ContextPlan,
    provider: Arc<dyn Provider>,
    usage: Option<Usage>,
    /// Whether messages were compacted since, or a compaction undone.
    is_past: bool,
}

impl Agent {
    pub fn new(
        provider: Arc<dyn Provider>,
        mut memory: Memory,
        opened: Opened,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Self {
        memory.restore(&opened.session);
        let ledger = Ledger::new(opened);
        let warned = warn_once::WarnOnce::default();
        let parts = settings.recall.clone();
        let index = parts.map(|parts| Index::new(parts, ledger.session().name()));
        Self {
            provider,
            memory,
            ledger,
            clock,
            settings,
            last: None,
            counter: counter::TokenCounter::default(),
            served_window: None,
            counted: auto_compact::Counted::default(),
            compacted_in: None,
            compacted_now: 0..0,
            summaries: Arc::default(),
            skip: Skip::default(),
            warned,
            jobs: jobs::Jobs::default(),
            index,
            external: None,
            toolbox: Toolbox::default(),
            takes_tools: true,
            takes_images: true,
            kept: LongTermContext::default(),
            entries: entry_writer::EntryWriter::default(),
            long_term: None,
            meter: Meter::default(),
            billed: Spending::default(),
            price: None,
            window_source: WindowSource::Fallback,
        }
    }

    /// The same with tools at hand.
    #[must_use]
    pub fn with_tools(mut self, toolbox: Toolbox) -> Self {
        self.toolbox = toolbox;
        self.favour_trained();
        self
    }

    /// The same with the meter of the providers, so that the session knows what it took.
    #[must_use]
    pub fn with_meter(self, meter: Meter) -> Self {
        Self { meter, ..self }
    }

    fn favour_trained(&mut self) {
        let knows = self.provider.knows_trained_tools();
        self.toolbox.registry.favour_trained(knows);
    }

    /// The same with entries that outlive the session.
    #[must_use]
    pub fn with_entries(mut self, entries: EntryStore) -> Self {
        self.entries = entry_writer::EntryWriter::new(entries);
        self
    }

    /// The same with long-term memory to search.
    #[must_use]
    pub fn with_searched(mut self, long_term: index::LongTerm) -> Self {
        self.index = self.index.map(|index| index.with_long_term(long_term));
        self
    }

    pub fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    pub fn toolbox_mut(&mut self) -> &mut Toolbox {
        &mut self.toolbox
    }

    pub fn session(&self) -> &Session {
        self.ledger.session()
    }

    /// By which a compaction is given up that a turn waits for.
    pub fn skip(&self) -> Skip {
        self.skip.clone()
    }

    /// Takes other settings of the context and of memory, from the next request on: what is sent, how much of a result
    /// is kept, what is noted.
    pub fn resettle(&mut self, context: context::Settings, memory: crate::memory::Settings) {
        self.toolbox.limits = self.toolbox.limits.with(&context);
        if let Some(long_term) = &mut self.long_term {
            long_term.resettle(&context, &memory);
        }
        self.settings.context = context;
        self.memory.resettle(memory);
        self.counted.forget();
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    pub fn provider(&self) -> &Arc<dyn Provider> {
        &self.provider
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn last_plan(&self) -> Option<&ContextPlan> {
        self.last.as_ref().map(|last| &last.plan)
    }

    /// Whether the next request holds other messages than the last one did, because of a compaction.
    pub fn is_compacted_since(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.is_past)
    }

    /// What a compaction is to have left of the last prompt, while nobody has counted it (Q28).
    pub fn assumed_prompt(&self) -> Option<Tokens> {
        self.counted.assumed()
    }

    /// What the server said the last request cost, if it did.
    pub fn last_usage(&self) -> Option<Usage> {
        self.last.as_ref()?.usage
    }

    /// How much of its model's window the last request took, or a compaction is to have left of it; `None` before the
    /// first and where nobody knows.
    pub fn window_use(&self) -> Option<TokenUsage> {
        let last = self.last.as_ref()?;
        if !Arc::ptr_eq(&last.provider, &self.provider) || last.provider.is_offline() {
            return None;
        }
        let budget = last.plan.budget();
        let counted = last.usage.and_then(|usage| usage.prompt);
        let counted = counted.filter(|_| !last.is_past);
        let used = match counted.or(self.counted.assumed()) {
            Some(used) => used,
            None if last.is_past => return None,
            None => budget.calibration().grow(last.plan.cost()),
        };
        let threshold = self.settings.context.warning_threshold;
        Some(TokenUsage::new(
            used,
            budget.window(),
            threshold,
            counted.is_none(),
        ))
    }

    /// What the model costs, where the config or its server said so by the last turn.
    pub fn price(&self) -> Option<Price> {
        self.price
    }

    /// What the requests of this session took, in all runs.
    pub fn spending(&self) -> Spending {
        let mut spending = self.session().meta().spent.clone();
        for (model, spent) in self.meter.total().since(&self.billed).iter() {
            spending.add(model, spent);
        }
        spending
    }

    /// Puts on record what requests took since the last time; tells whether there was anything.
    fn bill(&mut self) -> bool {
        let total = self.meter.total();
        let news = total.since(&self.billed);
        for (model, spent) in news.iter() {
            let model = model.to_owned();
            self.ledger.apply(Record::Spent { model, spent });
        }
        self.billed = total;
        !news.is_empty()
    }

    /// Counts texts as the model does that the last request went to; before the first, the active one.
    pub async fn count(&mut self, texts: &[Uncounted]) -> Vec<Count> {
        let last = self.last.as_ref();
        let provider = last.map_or(&self.provider, |last| &last.provider);
        self.counter.count(provider.as_ref(), texts).await
    }

    /// Makes another mode the active one, from the next request on (C65).
    pub fn switch_mode(&mut self, mode: &str) -> Result<Option<Warning>, BadMode> {
        self.memory.switch(mode)?;
        self.counted.forget();
        let mode = self.memory.mode().name.clone();
        let refused = self.forgive();
        Ok(self.note(Record::ModeChanged { mode }).or(refused))
    }

    /// Lets another model answer from the next request on. Whether its window needs a compaction is seen anew.
    pub fn switch_model(&mut self, provider: Arc<dyn Provider>) -> Option<Warning> {
        self.provider = provider;
        self.price = None;
        if self.jobs.is_compacting() {
            self.jobs.abort();
        }
        self.favour_trained();
        self.counted = auto_compact::Counted::default();
        self.served_window = None;
        self.takes_tools = true;
        self.takes_images = true;
        self.warned = warn_once::WarnOnce::default();
        let model = self.provider.model().to_string();
        let refused = self.forgive();
        self.note(Record::ModelChanged { model }).or(refused)
    }

    /// Summaries that could not be had are tried again at once, now that something is different (C15).
    fn forgive(&mut self) -> Option<Warning> {
        let hybrid = self.session().hybrid();
        if hybrid.failures == 0 {
            return None;
        }
        let failures = 0;
        let hybrid = hybrid.clone();
        self.keep(Record::HybridReplaced(Hybrid { failures, ..hybrid }))
    }

    /// Records what only matters to a session that has begun: an empty one leaves no file behind.
    fn note(&mut self, record: Record) -> Option<Warning> {
        if self.session().is_empty() {
            return None;
        }
        self.keep(record)
    }

    /// Records; the warning says that the disk refused.
    fn keep(&mut self, record: Record) -> Option<Warning> {
        if let Record::HybridReplaced(new) = &record {
            let hybrid = self.session().hybrid();
            let is_compacted = new.compaction != hybrid.compaction;
            let is_summarised = new.summary != hybrid.summary;
            if is_compacted && let Some(last) = &mut self.last {
                last.is_past = true;
            }
            if is_compacted || is_summarised {
                self.counted.forget();
            }
        }
        let refused = self.ledger.record(record).err()?;
        self.warned.of_refusal(&refused)
    }

    /// Takes note that whoever runs the chat has warned that nothing can be saved.
    pub fn warned_unwritable(&mut self, unwritable: Unwritable) {
        self.warned.at_start(unwritable);
    }

    /// Returns whether the person was warned of that before the first turn, and it is still so.
    pub fn was_warned_at_start(&self) -> bool {
        self.warned.was_warned_at_start()
    }

    /// Returns whether the data folder took nothing when it was tried last.
    pub fn is_unsaved(&self) -> bool {
        self.warned.unwritable().is_some()
    }

    /// Returns whether that holds for entries, too.
    pub fn loses_entries(&self) -> bool {
        let folder = self.entries.store().paths().next().and_then(Path::parent);
        folder.is_some_and(|folder| self.has_warned_of(folder))
    }

    /// Returns whether the person was warned that nothing can be saved in this folder: it is inside the data folder, and
    /// refuses for the same reason.
    pub fn has_warned_of(&self, folder: &Path) -> bool {
        let is_inside = folder.starts_with(&self.settings.data);
        self.warned.unwritable().is_some_and(|told| {
            is_inside && (told == Unwritable::Full || Unwritable::of(folder) == Some(told))
        })
    }

    /// Changes by hand what a mode keeps about the work; tells which mode it was.
    pub fn edit(&mut self, edit: &Edit) -> Result<(Edited, String, Option<Warning>), CannotEdit> {
        let (edited, mode, record) = self.memory.edit(edit, self.clock.now())?;
        Ok((edited, mode, self.keep(record)))
    }

    /// Ends the session cleanly: what is not on disk yet is written, and the journal folded where cheap.
    pub fn close(&mut self) -> Result<(), StoreError> {
        self.write_down_rest();
        if let Some(warning) = self.flush_entries() {
            tracing::warn!(%warning, "entries");
        }
        if self.is_blank() {
            // A session in which nothing was ever said or noted leaves no file.
            return Ok(());
        }
        if let Some(index) = &mut self.index {
            index.session.keep();
        }
        if self.bill() {
            self.ledger.save()?;
        }
        self.ledger.close()
    }

    /// Whether nothing was ever said here, and nothing noted.
    pub fn is_blank(&self) -> bool {
        let session = self.session();
        let is_unmarked = session.pins().is_empty() && session.scratchpad().is_empty();
        session.is_empty() && is_unmarked && self.memory.is_blank()
    }

    /// Goes on with another session. The present one is closed first; where that fails, nothing is switched,
    /// because its log holds what is not on disk yet.
    pub fn open(&mut self, opened: Opened) -> Result<(), StoreError> {
        self.close()?;
        self.close_index();
        self.ledger = Ledger::new(opened);
        self.begin_anew();
        self.take_in_forgotten();
        Ok(())
    }

    /// Returns a copy of this session under another name, whole or as it was when a turn had ended; `None` where there
    /// is no such turn.
    pub fn fork(&mut self, name: SessionName, at: Option<TurnId>) -> Option<Session> {
        let session = self.ledger.session();
        let fork = self.memory.fork(session, name, at);
        self.memory.restore(session);
        fork
    }

    /// Moves all that was said to the archive and begins anew under the same name; tells where it went.
    pub fn clear(&mut self) -> Result<PathBuf, StoreError> {
        self.close_index();
        let archived = self.ledger.archive(self.clock.now())?;
        self.put_notes_away();
        self.begin_anew();
        Ok(archived)
    }

    fn begin_anew(&mut self) {
        self.jobs.abort();
        self.entries.end_session();
        self.counted = auto_compact::Counted::default();
        self.compacted_in = None;
        self.summaries = Arc::default();
        self.memory.restore(self.ledger.session());
        self.last = None;
        self.warned = warn_once::WarnOnce::default();
        self.close_index();
    }

    pub async fn rename(&mut self, name: &SessionName) -> Result<(), StoreError> {
        self.close_index();
        let before = self.session().name().clone();
        self.ledger.rename(name)?;
        self.rename_notes(before).await;
        self.close_index();
        Ok(())
    }

    /// Nothing of it is at work behind this: its files are about to be elsewhere, or are by now.
    fn close_index(&mut self) {
        if let Some(index) = &mut self.index {
            index.meaning.abort();
            index.session.open(self.ledger.session().name());
        }
    }
}
