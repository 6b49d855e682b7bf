//! A compaction to be made, as a value: what goes, what to ask for it, and the state of the session it was planned for.

use std::borrow::Cow;
use std::fmt;

use super::cut::Cut;
use super::inquiry::{Inquiry, Line, Manner, inquiry};
use super::material::{Material, line, snippets};
use super::strategies::Kind;
use super::view::View;
use crate::chat::{Form, Message, MessageId, Session, Timestamp, Tokens};
use crate::hint::Hint;
use crate::memory::prompts::Prompts;
use crate::memory::script::{self, Script};

/// A list of more messages is summarised in parts where nobody asked for it.
const BACKLOG: usize = 100;

/// A compaction to be made.
#[derive(Clone, PartialEq)]
pub struct CompactJob {
    pub kind: Kind,
    pub cut: Cut,
    pub(super) basis: Basis,
    /// What is sent now of that which goes.
    pub before: Size,
    /// What stays beside it: in front, and behind.
    pub stays: Size,
    manner: Option<Manner>,
    earlier: Vec<String>,
    lines: Vec<Line>,
    listed: Option<usize>,
    /// Of the messages that go, the oldest so many are left for later.
    untold: usize,
    notice: String,
}

/// How much is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub messages: usize,
    pub tokens: Tokens,
}

impl std::ops::Add for Size {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            tokens: self.tokens + other.tokens,
        }
    }
}

/// What the session was when a job was planned; its result is taken only where it still is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Basis {
    compaction: Option<(usize, usize, usize, Timestamp)>,
    covered: usize,
    last: MessageId,
    /// Messages of turns before the end that counted.
    live: usize,
    pub(super) made: usize,
}

/// A text as the model wrote it, or what takes its place.
#[derive(Clone, PartialEq)]
pub struct Compacted {
    pub kind: Kind,
    pub(super) form: Form,
    pub(super) cut: Cut,
    pub(super) basis: Basis,
    pub(super) untold: usize,
    pub text: String,
    pub before: Size,
}

/// Counts alone: what was said belongs into no log.
impl fmt::Debug for CompactJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompactJob")
            .field("kind", &self.kind)
            .field("cut", &self.cut)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Compacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compacted")
            .field("kind", &self.kind)
            .field("form", &self.form)
            .field("cut", &self.cut)
            .finish_non_exhaustive()
    }
}

/// Why no compaction can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotCompact {
    #[error("nothing to compact: no new messages")]
    Nothing,
    #[error("nothing to compact: {} keeps all current messages", .0.as_str())]
    AllStays(Kind),
    #[error("nothing to summarise: all messages are still in the window")]
    WindowHoldsAll,
    #[error(
        "nothing to condense: no older tool result is longer than {} characters",
        super::CONDENSED
    )]
    NoResults,
    #[error("the model's window is too small to write a summary")]
    WindowTooSmall,
}

impl Hint for CannotCompact {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Nothing | Self::NoResults | Self::WindowHoldsAll => None,
            Self::AllStays(_) => Some("`/compact` alone summarises everything".into()),
            Self::WindowTooSmall => {
                Some("`/tools none` or a model with a larger window (`/model`) makes room".into())
            }
        }
    }
}

/// Plans a compaction by a cut, whether its kind is due or not. `focus`: what the person wants kept; `places`: where
/// the messages can be read that a notice leaves out; `room`: of a long backlog only the newest part is taken, as much
/// as this holds, so that no turn brings a storm of requests, and the rest is left to [`next_part`].
pub fn job(
    view: &View<'_>,
    kind: Kind,
    cut: Option<Cut>,
    prompts: &Prompts,
    focus: &str,
    places: &[String],
    room: Option<Tokens>,
) -> Result<CompactJob, CannotCompact> {
    let nothing = match kind {
        Kind::Compact => CannotCompact::Nothing,
        Kind::Window | Kind::Prefix | Kind::Threshold | Kind::Proactive => {
            CannotCompact::AllStays(kind)
        }
    };
    let cut = cut.ok_or(nothing)?;
    let session = view.session;
    let material = Material::of(session, cut);
    let basis = Basis::of(session, cut).ok_or(nothing)?;
    let cost = |message: &Message| view.cost_of(message);
    let before = Size {
        messages: material.messages.len() + material.earlier.len(),
        tokens: material.cost(cost),
    };
    let is_cjk = script::mainly(session) == Some(Script::Cjk);
    let asks = view.settings.proactive_summary || kind != Kind::Proactive;
    let room = room.filter(|_| material.messages.len() > BACKLOG);
    let messages = material
        .indices
        .iter()
        .copied()
        .zip(material.messages.iter().copied());
    let (lines, untold) = newest(messages.rev(), cut.head, room);
    Ok(CompactJob {
        kind,
        cut,
        before,
        stays: stays(view, cut),
        manner: asks.then(|| Manner::new(kind.asks(prompts, is_cjk), prompts, focus)),
        earlier: material.earlier.iter().map(|&it| it.to_owned()).collect(),
        lines,
        listed: (kind.is_hierarchical() && untold == 0).then(|| listed(view)),
        untold,
        notice: notice(kind, &material, prompts, places),
        basis,
    })
}

/// The next part of a backlog whose newest part was summarised: what comes before that, as much as `room` takes.
pub fn next_part(view: &View<'_>, prompts: &Prompts, room: Tokens) -> Option<CompactJob> {
    let session = view.session;
    let compaction = session.hybrid().compaction.as_ref();
    let compaction = compaction.filter(|it| it.untold > 0 && it.form == Form::Summary)?;
    let kind = Kind::parse(&compaction.strategy)?;
    let cut = Cut {
        head: compaction.head,
        upto: compaction.upto,
    };
    let end = compaction.told_from();
    let turns = session.turns();
    let turns = &turns[..turns.partition_point(|turn| turn.messages.start < end)];
    let live = turns.iter().rev().filter(|turn| turn.withdrawn.is_none());
    let places = live.flat_map(|turn| turn.messages.clone().rev());
    let places = places.filter(|at| (cut.head..end).contains(at));
    let messages = places.map(|at| (at, &session.messages()[at]));
    let (mut lines, untold) = newest(messages, cut.head, Some(room));
    let taken = lines
        .iter()
        .map(|line| view.cost_of(&session.messages()[line.at]));
    let taken: Tokens = taken.sum();
    let before = Size {
        messages: lines.len() + 1,
        tokens: taken + Tokens::estimate(&compaction.text),
    };
    lines.push(Line {
        at: cut.upto,
        text: format!("What came after that, in short:\n{}", compaction.text),
        snippet: String::new(),
    });
    let is_cjk = script::mainly(session) == Some(Script::Cjk);
    Some(CompactJob {
        kind,
        cut,
        basis: Basis::of(session, cut)?,
        before,
        stays: Size::default(),
        manner: Some(Manner::new(kind.asks(prompts, is_cjk), prompts, "")),
        earlier: Vec::new(),
        lines,
        listed: None,
        untold,
        notice: String::new(),
    })
}

/// Messages as a model is shown them, oldest first, as many of the newest as there is room for; and how many places
/// behind `head` are left. `messages`: newest first.
fn newest<'a>(
    messages: impl Iterator<Item = (usize, &'a Message)>,
    head: usize,
    room: Option<Tokens>,
) -> (Vec<Line>, usize) {
    let room = room.map_or(usize::MAX, Tokens::chars);
    let (mut lines, mut chars, mut from) = (Vec::new(), 0, head);
    for (at, message) in messages {
        let Some(line) = shown(at, message) else {
            continue;
        };
        chars += line.text.chars().count();
        if chars > room && !lines.is_empty() {
            from = at + 1;
            break;
        }
        lines.push(line);
    }
    lines.reverse();
    (lines, from - head)
}

fn shown(at: usize, message: &Message) -> Option<Line> {
    Some(Line {
        at,
        text: line(message)?,
        snippet: snippets(&[message]),
    })
}

/// Messages of the list before it is compacted.
fn listed(view: &View<'_>) -> usize {
    let covered = view.session.hybrid().covered();
    let turns = view.turns();
    let turns = turns.take_while(|turn| turn.messages.end > covered);
    turns.map(|turn| turn.messages.len()).sum()
}

fn stays(view: &View<'_>, cut: Cut) -> Size {
    let turns = view.turns();
    let turns = turns.filter(|turn| turn.messages.start >= cut.upto);
    let head = view.session.messages()[..cut.head].iter();
    let head = Size {
        messages: super::cut::taken(view.session, 0..cut.head),
        tokens: head.map(|message| view.cost_of(message)).sum(),
    };
    turns.fold(head, |size, turn| Size {
        messages: size.messages + turn.messages.len(),
        tokens: size.tokens + view.cost(turn),
    })
}

/// What a request would still take after a cut, if the text of the compaction before it stayed as long as it is.
pub fn min_after(view: &View<'_>, cut: Cut) -> Tokens {
    let earlier = Material::of(view.session, cut).earlier;
    let texts: Tokens = earlier.iter().map(|text| Tokens::estimate(text)).sum();
    view.gauge.fixed + stays(view, cut).tokens + texts
}

/// What stands there where no model wrote a summary. What was summarised before is not given up.
fn notice(kind: Kind, material: &Material<'_>, prompts: &Prompts, places: &[String]) -> String {
    let own = match kind {
        Kind::Prefix => snippets(&material.messages),
        Kind::Proactive if places.is_empty() => String::new(),
        Kind::Proactive => {
            let places: Vec<String> = places.iter().map(|it| format!("- {it}")).collect();
            let places = places.join("\n");
            let text = prompts.compact_places.fill(&[("places", &places)]);
            text.trim().to_owned()
        }
        Kind::Compact | Kind::Window | Kind::Threshold => String::new(),
    };
    let texts = material.earlier.iter().copied().chain([own.as_str()]);
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

impl Basis {
    fn of(session: &Session, cut: Cut) -> Option<Self> {
        let hybrid = session.hybrid();
        let last = session.messages().get(cut.upto.checked_sub(1)?)?;
        let turns = session.live_turns();
        let turns = turns.take_while(|turn| turn.messages.start < cut.upto);
        Some(Self {
            compaction: hybrid
                .compaction
                .as_ref()
                .map(|it| (it.head, it.told_from(), it.upto, it.at)),
            covered: hybrid.covered(),
            last: last.id.clone(),
            live: turns.map(|turn| turn.messages.len()).sum(),
            made: session.messages().len(),
        })
    }

    /// Whether the session still begins as it did when the job was planned.
    pub(super) fn holds(&self, session: &Session, cut: Cut) -> bool {
        let now = Self::of(session, cut);
        now.is_some_and(|now| {
            now == Self {
                made: now.made,
                ..self.clone()
            }
        })
    }
}

impl CompactJob {
    /// How many messages it is about.
    pub fn messages(&self) -> usize {
        self.cut.range().len() - self.untold
    }

    /// What to ask a model; nothing where none is needed. `room`: what one request may cost.
    pub fn inquiry(&self, room: Tokens) -> Result<Inquiry, CannotCompact> {
        match &self.manner {
            Some(manner) => inquiry(manner, &self.earlier, &self.lines, self.listed, room),
            None => Ok(Inquiry::default()),
        }
    }

    /// Whether a model has to be asked.
    pub fn asks(&self) -> bool {
        self.manner.is_some()
    }

    /// The result, once the model has answered.
    pub fn done(self, text: &str) -> Compacted {
        let text = text.trim().chars().take(super::MAX_CHARS).collect();
        self.result(Form::Summary, text)
    }

    /// What takes the place of a summary that cannot be had; `None` where the list stays as it is then.
    pub fn without_summary(self) -> Option<Compacted> {
        match self.kind {
            Kind::Window | Kind::Prefix | Kind::Proactive => {
                let notice = self.notice.clone();
                Some(self.result(Form::Notice, notice))
            }
            Kind::Compact | Kind::Threshold => None,
        }
    }

    fn result(self, form: Form, text: String) -> Compacted {
        Compacted {
            kind: self.kind,
            form,
            cut: self.cut,
            basis: self.basis,
            // Without a summary nothing is told of any of them, and nothing is waited for.
            untold: if form == Form::Summary {
                self.untold
            } else {
                0
            },
            text,
            before: self.before,
        }
    }
}
