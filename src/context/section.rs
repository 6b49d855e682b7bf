//! A section: one piece of a request, with what it costs and where it came from.

use std::fmt;

use crate::chat::{Form, Message, Timestamp, Tokens, ToolSpec, TurnId};

/// What a section is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// Base prompt and mode addition.
    System,
    /// Who the model is and whom it talks to: the person's own files (X2).
    Identity,
    /// Rules of the project that is worked in.
    Rules,
    /// Texts that a person pinned to the session (G12).
    Pins,
    /// What is kept for the long term: MEMORY.md (Q21).
    LongTerm,
    /// What was captured in this session: SESSION-STATE.md (Q12).
    SessionState,
    /// What the long-term memory holds on what is asked (X18, G14).
    Related,
    /// What the active mode's tracker has to say.
    ModeState,
    /// The rolling summary (C12).
    Summary,
    /// Exchanges of long ago that speak of what is asked (C19).
    Recall,
    /// Where the work stood, from what is kept beside the session (Q29).
    Recovered,
    /// Lines on what was found out aside (X25).
    SubResults,
    /// What stands for messages before the past: a text, and in front of it what stays of the beginning (O9, O16).
    Compacted,
    /// A turn that left the window and that no summary covers yet (C7).
    Pending,
    /// A turn of the sliding window (C1).
    Window,
    /// What the person just said.
    Input,
    /// A reply of the running turn that called tools, and what they gave back.
    Step,
    /// What the model is told of the tools it may call.
    Tools,
}

/// What becomes of a section when a request is too large (C79-C81), in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GivesWay {
    /// Drafted into the room that everything else leaves.
    First,
    BeforeHistory,
    /// Pending and window as one list, oldest turn first; never the last whole turn, whose longest texts
    /// are cut instead.
    WithHistory,
    AfterHistory(u8),
    /// Work in progress: results are cut, those of older steps first, then the oldest step goes, never the last one.
    Working,
    /// Stays; it is cut when nothing else is left.
    IsCut,
    Never,
}

impl SectionKind {
    /// One word, as `/context` and `--json` name it, and what gives way when.
    fn row(self) -> (&'static str, GivesWay) {
        match self {
            Self::System => ("system", GivesWay::Never),
            Self::Related => ("related", GivesWay::AfterHistory(0)),
            Self::ModeState => ("mode", GivesWay::AfterHistory(1)),
            Self::SessionState => ("captured", GivesWay::AfterHistory(2)),
            Self::LongTerm => ("memory", GivesWay::AfterHistory(3)),
            Self::Rules => ("rules", GivesWay::AfterHistory(4)),
            Self::Identity => ("identity", GivesWay::AfterHistory(5)),
            Self::Summary => ("summary", GivesWay::AfterHistory(6)),
            Self::Pins => ("pins", GivesWay::AfterHistory(8)),
            Self::Recovered => ("recovered", GivesWay::First),
            Self::Recall => ("recall", GivesWay::BeforeHistory),
            Self::SubResults => ("results", GivesWay::BeforeHistory),
            Self::Compacted => ("compacted", GivesWay::AfterHistory(7)),
            Self::Pending => ("pending", GivesWay::WithHistory),
            Self::Window => ("window", GivesWay::WithHistory),
            Self::Input => ("input", GivesWay::IsCut),
            Self::Step => ("step", GivesWay::Working),
            Self::Tools => ("tools", GivesWay::Never),
        }
    }

    pub fn gives_way(self) -> GivesWay {
        self.row().1
    }

    /// One word, as `/context` and `--json` name it.
    pub fn as_str(self) -> &'static str {
        self.row().0
    }

    /// Whether it is a turn of the past.
    pub fn is_history(self) -> bool {
        self.gives_way() == GivesWay::WithHistory
    }
}

/// Where a section came from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A prompt file: its name under `config/`, or the path of the user's own.
    Prompt(String),
    /// The tracker of a mode.
    Tracker(String),
    /// A compaction: messages before `head` as they were said, and a text in the place of `head..upto` that tells of
    /// those from `from` on.
    Compaction {
        head: usize,
        from: usize,
        upto: usize,
        form: Form,
    },
    /// The rolling summary, which covers the messages `from..upto`.
    Summary {
        from: usize,
        upto: usize,
    },
    /// A file of the workspace or the project, as it is shown to a person.
    File(String),
    /// Several files.
    Files(Vec<String>),
    /// So many texts that a person pinned.
    Pinned(usize),
    /// Where the hits of long-term memory stand: `MEMORY.md:12`.
    Hits(Vec<Brought<String>>),
    /// So many results in the scratchpad.
    Scratchpad(usize),
    /// Turns that recall found, best first.
    Recall(Vec<Brought<TurnId>>),
    Turn(TurnId),
    /// The person, just now.
    You,
    /// Tools that the request offers; how many.
    Offered(usize),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prompt(file) => f.write_str(file),
            Self::Tracker(mode) => write!(f, "{mode} tracker"),
            Self::Compaction {
                from: 0,
                upto,
                form: Form::Summary,
                ..
            } => write!(f, "summarises {upto} messages"),
            Self::Compaction {
                from, upto, form, ..
            } => {
                match form {
                    Form::Summary => f.write_str("summarises")?,
                    Form::Notice => f.write_str("omits")?,
                }
                write!(f, " messages {} to {upto}", from + 1)
            }
            Self::Summary { from, upto } => write!(f, "covers messages {} to {upto}", from + 1),
            Self::File(name) => f.write_str(name),
            Self::Pinned(1) => f.write_str("1 pin"),
            Self::Pinned(pins) => write!(f, "{pins} pins"),
            Self::Files(names) => f.write_str(&names.join(", ")),
            Self::Hits(hits) => f.write_str(&listed(hits)),
            Self::Scratchpad(1) => f.write_str("1 result in the scratchpad"),
            Self::Scratchpad(results) => write!(f, "{results} results in the scratchpad"),
            Self::Recall(turns) => {
                let s = if turns.len() == 1 { "" } else { "s" };
                write!(f, "turn{s} {}", listed(turns))
            }
            Self::Turn(turn) => write!(f, "turn {turn}"),
            Self::You => f.write_str("you"),
            Self::Offered(1) => f.write_str("1 tool offered"),
            Self::Offered(tools) => write!(f, "{tools} tools offered"),
        }
    }
}

/// What a search brought, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Brought<T> {
    pub what: T,
    /// What hits are ordered by; scores of two questions do not compare.
    pub score: f32,
    /// The share of the question's words in it and around it, 0 to 1.
    pub overlap: f32,
    /// The cosine to the question, where it is known.
    pub similarity: Option<f32>,
    /// When it was written or said, where that is known.
    pub at: Option<Timestamp>,
}

impl<T: fmt::Display> fmt::Display for Brought<T> {
    /// `MEMORY.md:12 (matches 41 % of the words, 0.54 similar in meaning)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, percent) = (&self.what, 100.0 * self.overlap);
        match self.similarity {
            None if self.overlap == 0.0 => write!(f, "{what} (next to a match)"),
            None => write!(f, "{what} (matches {percent:.0} % of the words)"),
            Some(similarity) => write!(
                f,
                "{what} (matches {percent:.0} % of the words, {similarity:.2} similar in meaning)"
            ),
        }
    }
}

fn listed<T: fmt::Display>(brought: &[Brought<T>]) -> String {
    brought
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// System texts stay apart from messages: they are merged into one leading message when sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    System(String),
    /// One turn, or another group that goes or stays as one: a tool call is never parted from its result.
    Messages(Vec<Message>),
    /// Not text among text: each wire format has its own place for them.
    Tools(Vec<ToolSpec>),
}

/// A piece of a request.
///
/// Invariant: `cost` is what `content` costs; only constructors and [`fit`](fn@super::fit) set it.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    pub kind: SectionKind,
    pub source: Source,
    content: Content,
    cost: Tokens,
}

impl Section {
    pub fn system(kind: SectionKind, source: Source, text: impl Into<String>) -> Self {
        Self::new(kind, source, Content::System(text.into()))
    }

    pub fn messages(kind: SectionKind, source: Source, messages: Vec<Message>) -> Self {
        Self::new(kind, source, Content::Messages(messages))
    }

    /// What the person just said, last in every request; as it is sent, time included.
    pub fn input(message: Message) -> Self {
        Self::messages(SectionKind::Input, Source::You, vec![message])
    }

    /// Tools to be offered, in this order.
    pub fn tools(tools: Vec<ToolSpec>) -> Self {
        let source = Source::Offered(tools.len());
        Self::new(SectionKind::Tools, source, Content::Tools(tools))
    }

    /// What the program says behind the past, beside the input.
    pub fn reference(kind: SectionKind, source: Source, text: impl Into<String>) -> Self {
        Self::messages(kind, source, vec![Message::reference(text)])
    }

    fn new(kind: SectionKind, source: Source, content: Content) -> Self {
        let cost = cost(&content);
        Self {
            kind,
            source,
            content,
            cost,
        }
    }

    pub fn content(&self) -> &Content {
        &self.content
    }

    pub fn cost(&self) -> Tokens {
        self.cost
    }

    /// Messages of this section as they are sent; none for a system text and for tools.
    pub fn as_messages(&self) -> &[Message] {
        match &self.content {
            Content::System(_) | Content::Tools(_) => &[],
            Content::Messages(messages) => messages,
        }
    }

    /// Messages that somebody said, or that stand for such; not the program's own.
    pub fn spoken(&self) -> usize {
        let messages = self.as_messages().iter();
        messages.filter(|message| !message.is_reference()).count()
    }

    /// Changes the messages and counts again.
    pub(super) fn edit(&mut self, change: impl FnOnce(&mut [Message])) {
        if let Content::Messages(messages) = &mut self.content {
            change(messages);
        }
        self.cost = cost(&self.content);
    }
}

fn cost(content: &Content) -> Tokens {
    match content {
        Content::System(text) => Tokens::estimate(text) + Tokens::PER_MESSAGE,
        Content::Messages(messages) => messages.iter().map(Message::cost).sum(),
        Content::Tools(tools) => tools.iter().map(ToolSpec::cost).sum(),
    }
}

/// Everything that would be sent if there were room, in the order of sending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    pub sections: Vec<Section>,
    /// Older messages that were not even drafted because they cannot fit; still on disk.
    pub beyond: usize,
}
