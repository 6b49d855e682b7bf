//! What a turn tells while it runs, and what it warns of.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::summarizer::Progress;
use super::think::Stage;
use crate::chat::{Form, Tokens, ToolCall};
use crate::context::TokenUsage;
use crate::hint::chain;
use crate::index::News;
use crate::long_term::notes::Receipt;
use crate::store::StoreError;
use crate::tools::{Failure, Output};

/// Takes the events of a turn as they happen.
pub type Observer<'a> = dyn FnMut(TurnEvent) + Send + 'a;

/// What the steps of a turn share: whom they tell, and what ends them early.
pub(super) struct TurnContext<'a> {
    observer: &'a mut Observer<'a>,
    pub(super) cancel: &'a CancellationToken,
}

impl<'a> TurnContext<'a> {
    pub(super) fn new(observer: &'a mut Observer<'a>, cancel: &'a CancellationToken) -> Self {
        Self { observer, cancel }
    }

    pub(super) fn emit(&mut self, event: TurnEvent) {
        (self.observer)(event);
    }

    pub(super) fn warn(&mut self, warning: Warning) {
        self.emit(TurnEvent::Warning(warning));
    }

    pub(super) fn warn_all(&mut self, warnings: impl IntoIterator<Item = Warning>) {
        for warning in warnings {
            self.warn(warning);
        }
    }
}

/// What happens in a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEvent {
    Text(String),
    Reasoning(String),
    Retrying {
        why: String,
        after: Duration,
    },
    /// Before the request, a text is written that takes the place of so many messages.
    Compacting {
        messages: usize,
        progress: Option<Progress>,
    },
    /// How far thinking something through has come.
    Thinking(Stage),
    ToolStarted(ToolCall),
    /// What a running tool has to say, as it comes.
    ToolOutput(String),
    ToolFinished(ToolReport),
    /// Something that the person said was written down for longer than this session.
    Captured(Receipt),
    Warning(Warning),
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReport {
    pub call: ToolCall,
    pub took: Duration,
    pub output: Result<Output, Failure>,
}

/// What the person who reads something can type next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Commands of a chat.
    Chat,
    /// The next command line, with its flags.
    Shell,
}

/// Something the person should know that does not end the turn. [`Warning::in_words`] also says what to do about it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Warning {
    /// The disk refused; the words are in memory and are tried again with the next ones (C76).
    #[error("NOT SAVED: {why}; will retry after the next message")]
    NotSaved { why: String },
    /// The disk has taken what it refused before.
    #[error("Everything is saved again.")]
    SavedAgain,
    /// There is no room, or the mode sends its window alone.
    #[error("{messages} older messages are no longer sent; {reach}")]
    LeftOut { messages: usize, reach: Reach },
    /// The input was larger than what there was room for beside the rest (C81).
    #[error(
        "your message {beside}: {chars} characters from its middle were not sent (the full text is saved)"
    )]
    InputCut { chars: usize, beside: Beside },
    /// The server counted far fewer tokens than were sent: it may have cut the beginning.
    #[error("{}", silent_cut(*estimated, *counted, *window, set_by))]
    SilentCut {
        estimated: Tokens,
        counted: Tokens,
        window: Tokens,
        /// The key of the config that says how large it is.
        set_by: &'static str,
    },
    /// The server's window is smaller than assumed.
    #[error(
        "the request was too long for the server{}; retried with less",
        window.map(|window| format!(", whose window has {window} tokens")).unwrap_or_default()
    )]
    Refitted { window: Option<Tokens> },
    #[error("{}", near_limit(usage))]
    NearLimit {
        usage: TokenUsage,
        makes_room: MakesRoom,
    },
    #[error("the reply reached its limit of {max_tokens} tokens; say \"go on\" for the rest")]
    ReplyCut { max_tokens: Tokens },
    /// Several summaries in a row could not be had (C15).
    #[error(
        "summarising failed three times in a row ({why}): older messages are sent as far as they fit"
    )]
    NoSummary { why: String },
    /// The request holds as many older messages as find room.
    #[error("Could not summarise older messages ({why}); the newest are sent")]
    NotCompacted { why: String },
    /// A compaction that nobody asked for has taken effect.
    #[error(
        "{messages} older message{} replaced by {}",
        plural(*messages),
        match form { Form::Summary => "a summary", Form::Notice => "a notice (no summary)" }
    )]
    Compacted { messages: usize, form: Form },
    /// A compaction did not reach what it was for, in per cent of the window.
    #[error(
        "the request still takes about {percent} % of the window after compaction (target: {target} %); the oldest messages are left out as needed"
    )]
    StillFull { percent: u32, target: u32 },
    /// What the model found in a session, as it is kept.
    #[error(
        "Noted {} fact{} from this session",
        facts.len(), plural(facts.len())
    )]
    Learned { facts: Vec<String> },
    #[error(transparent)]
    Recall(News),
    /// Something of long-term memory that is not searched, or not all of it.
    #[error("{why}")]
    NotSearched { why: String },
    #[error("{model} does not support tools; sent without them")]
    NoTools { model: String },
    /// Files that the message mentions and that go with it.
    #[error("Attached {}", names.join("; "))]
    Attached { names: Vec<String> },
    /// Something that the message mentions and that does not go with it; the whole sentence.
    #[error("{notice}")]
    NotAttached { notice: String },
    #[error("{model} does not support images; only their names were sent")]
    NoImages { model: String },
    /// `tokens`: what the descriptions of the tools would take.
    #[error(
        "the model's window is too small for {tools} tools, whose descriptions take about {tokens} tokens; sent without them"
    )]
    ToolsLeftOut { tools: usize, tokens: Tokens },
    /// What became of a file that the turn changed which is asked again.
    #[error("{line}")]
    FileTakenBack { line: String },
    #[error("could not undo the file changes of the first try: {why}")]
    FilesStay { why: String },
    #[error("thinking ended early: {why}; this is the best result so far")]
    ThoughtCut { why: String },
    /// A long result could not be put beside the session.
    #[error("could not save the full result: {why}; history has the truncated one")]
    NotKeptWhole { why: String },
    /// What became of a file of entries.
    #[error("{notice}")]
    Entries { notice: String },
    #[error("memory entries NOT SAVED: {why}; will retry later")]
    EntriesNotKept { why: String },
    /// A file of the workspace could not be read or written.
    #[error("long-term memory: {why}")]
    NotNoted { why: String },
    /// An "always" holds in the project from now on, as the rule of this number.
    #[error("Saved for this project. `/approvals revoke {number}` undoes it.")]
    Remembered { number: usize },
    #[error("approval not saved: {why}; {hint}")]
    NotRemembered { why: String, hint: String },
    /// A part of the sandbox of commands is missing.
    #[error("{notice}")]
    NotConfined { notice: String },
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn silent_cut(estimated: Tokens, counted: Tokens, window: Tokens, set_by: &str) -> String {
    if counted == window {
        return format!(
            "the request filled the whole window of {window} tokens: the server may have cut off its beginning (set the model's {set_by} to the real size)"
        );
    }
    format!(
        "about {estimated} tokens were sent, but the server counted {counted}: it may have cut off the beginning (assumed window: {window}; set the model's {set_by} to the real size)"
    )
}

fn near_limit(usage: &TokenUsage) -> String {
    let TokenUsage { input, max, .. } = usage;
    match input.cmp(max) {
        Ordering::Equal if !usage.is_estimate => format!(
            "the request filled the context window of {max} tokens, so the server may have cut off its beginning"
        ),
        Ordering::Greater if !usage.is_estimate => {
            format!("the server counted {input} tokens, more than the {max} of its window")
        }
        Ordering::Less | Ordering::Equal | Ordering::Greater => format!(
            "the context window is {}{:.0} % full ({input} of {max} tokens)",
            if usage.is_estimate { "about " } else { "" },
            usage.percent_used.floor(),
        ),
    }
}

/// What takes the room that an input lacks. About, as the server counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The descriptions of tools.
    pub tools: Tokens,
    /// All else but the input.
    pub rest: Tokens,
    pub window: Tokens,
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tools,
            rest,
            window,
        } = self;
        if *tools == Tokens::ZERO {
            return f.write_str("is larger than the model's window");
        }
        write!(
            f,
            "does not fit in the model's window of {window} tokens: tool descriptions take about {tools}, system prompt and files {rest}"
        )
    }
}

/// Tells what can make room in a window that is nearly full.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MakesRoom {
    /// Tokens that the descriptions of tools take.
    pub tools: Tokens,
    /// The window is large enough to write a summary in.
    pub compacting: bool,
    /// The server loads the window that it is told.
    pub loads_window: bool,
}

impl MakesRoom {
    fn remedy(self, max: Tokens, reader: Reader) -> String {
        const MUCH: u32 = 4;
        let Self {
            tools,
            compacting,
            loads_window,
        } = self;
        let takes_much = tools != Tokens::ZERO && tools.0 >= max.0 / MUCH;
        let last = match (compacting, loads_window, reader) {
            (true, _, Reader::Chat) => "`/compact`",
            (true, _, Reader::Shell) => "`/compact` in a chat",
            (false, true, _) => "a larger window (num_ctx)",
            (false, false, Reader::Chat) => "a model with a larger window (`/model`)",
            (false, false, Reader::Shell) => "a model with a larger window (`-m`)",
        };
        let none = match reader {
            Reader::Chat => "`/tools none`",
            Reader::Shell => "`--tools none`",
        };
        if takes_much {
            let off = match reader {
                Reader::Chat => "`/tools off NAME`, ",
                Reader::Shell => "",
            };
            return format!(
                "tool descriptions take about {tools} of them; {off}{none} or {last} makes room"
            );
        }
        if compacting || tools == Tokens::ZERO {
            return format!("{last} makes room");
        }
        format!("{none} or {last} makes room")
    }
}

/// How messages can still come back that are not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reach {
    #[error("they are recalled when they become relevant")]
    Recalled,
    #[error("they are still on disk")]
    OnDisk,
}

impl Warning {
    /// Returns all of it, with what whoever reads it can do.
    pub fn in_words(&self, reader: Reader) -> String {
        let more: Cow<'_, str> = match (self, reader) {
            (Self::LeftOut { .. }, Reader::Chat) => {
                " (`/context` shows what is sent, `/compact` makes room)".into()
            }
            (Self::LeftOut { .. }, Reader::Shell) => " (`/compact` in a chat makes room)".into(),
            (Self::InputCut { beside, .. }, _) if beside.tools == Tokens::ZERO => "".into(),
            (Self::InputCut { .. }, Reader::Chat) => {
                "; `/tools off NAME`, `/tools none` or `--tools none` makes room".into()
            }
            (Self::InputCut { .. }, Reader::Shell) => "; `--tools none` makes room".into(),
            (Self::NearLimit { usage, makes_room }, _) => {
                format!("; {}", makes_room.remedy(usage.max, reader)).into()
            }
            (Self::NoSummary { .. }, Reader::Chat) => "; `/compact` tries again".into(),
            (Self::Compacted { .. }, Reader::Chat) => " · /compact undo".into(),
            (Self::Learned { facts }, _) => {
                let list = match reader {
                    Reader::Chat => "`/memory list`",
                    Reader::Shell => "`cogtrix memory list`",
                };
                format!(" ({list} shows them): {}", facts.join(" · ")).into()
            }
            (Self::ToolsLeftOut { .. }, Reader::Chat) => {
                " (`/tools off NAME` turns one off, `/tools none` or `--tools none` all)".into()
            }
            (Self::ToolsLeftOut { .. }, Reader::Shell) => " (`--tools none` all)".into(),
            _ => "".into(),
        };
        format!("{self}{more}")
    }

    /// Whether it only tells how things are going.
    pub fn is_notice(&self) -> bool {
        matches!(
            self,
            Self::Recall(News::Indexing { .. } | News::Indexed { .. } | News::Offered { .. })
                | Self::Attached { .. }
                | Self::Compacted { .. }
                | Self::LeftOut { .. }
                | Self::Learned { .. }
                | Self::NotCompacted { .. }
                | Self::NotAttached { .. }
                | Self::FileTakenBack { .. }
                | Self::Remembered { .. }
                | Self::SavedAgain
        )
    }

    pub fn not_saved(error: &StoreError) -> Self {
        let why = match error.unwritable() {
            // The names of its files would say nothing more.
            Some(unwritable) => unwritable.why().to_owned(),
            None => chain(error),
        };
        Self::NotSaved { why }
    }
}
