//! Code in the colours of its language. Grammars are loaded, and lines read, in a thread that begins with the first
//! block of code whose language is named: whoever draws never waits for it, but shows a line plain until its colours
//! are there.
//!
//! A session is a block of code: its lines go to the thread one by one, and their colours come back in that order.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use syntect::highlighting::{
    self, HighlightIterator, HighlightState, ScopeSelectors, StyleModifier, ThemeItem,
    ThemeSettings,
};
use syntect::parsing::{ParseState, ScopeStack, SyntaxReference, SyntaxSet};

use super::line::{Color, Line, TextStyle};
use crate::term::settings::Theme;

/// A longer line is left plain.
const MAX_LINE: usize = 2_000;
/// No more lines wait for the thread.
const MAX_WAITING: usize = 1_000;
/// How long the end of a reply, and a list or a quote with code in it, waits for colours that are on their way: the first
/// line of a language may need most of it, any other next to nothing.
const PATIENCE: Duration = Duration::from_millis(400);
/// Blocks in the unfinished rest of a document that are remembered.
const MAX_BLOCKS: usize = 16;

/// What a piece of code is, as far as colours go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Plain,
    Comment,
    String,
    Keyword,
    Constant,
    Function,
    Type,
    Inserted,
    Deleted,
    Heading,
}

const CLASSES: [Class; 10] = [
    Class::Plain,
    Class::Comment,
    Class::String,
    Class::Keyword,
    Class::Constant,
    Class::Function,
    Class::Type,
    Class::Inserted,
    Class::Deleted,
    Class::Heading,
];

/// Scopes of the grammars; the most specific one counts.
const SCOPES: [(&str, Class); 18] = [
    ("comment", Class::Comment),
    ("string", Class::String),
    ("keyword, storage", Class::Keyword),
    ("keyword.operator", Class::Plain),
    (
        "keyword.operator.word, keyword.operator.logical.python",
        Class::Keyword,
    ),
    ("constant, constant.character.escape", Class::Constant),
    ("entity.name.function, support.function", Class::Function),
    ("variable.function", Class::Function),
    (
        "entity.name.type, entity.name.class, entity.name.struct, entity.name.enum",
        Class::Type,
    ),
    (
        "support.type, support.class, entity.other.inherited-class",
        Class::Type,
    ),
    ("storage.type.numeric", Class::Constant),
    ("entity.name.tag", Class::Keyword),
    ("entity.other.attribute-name", Class::Type),
    (
        "meta.mapping.key string, support.type.property-name",
        Class::Type,
    ),
    ("markup.inserted", Class::Inserted),
    ("markup.deleted", Class::Deleted),
    ("markup.heading", Class::Heading),
    ("meta.diff.range, meta.diff.header", Class::Comment),
];

/// Names of languages that no grammar goes by.
const ALIASES: [(&str, &str); 8] = [
    ("shell", "sh"),
    ("console", "sh"),
    ("shellscript", "sh"),
    ("golang", "go"),
    ("csharp", "cs"),
    ("jsonc", "json"),
    ("docker", "dockerfile"),
    ("make", "makefile"),
];

/// The classes of a line, each up to a place in it.
type Classes = Vec<(usize, Class)>;

/// A block of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Session(u64);

impl Session {
    /// None that ever begins.
    const ENDED: Self = Self(0);
}

/// Colours lines of code.
#[derive(Default)]
pub(crate) struct Highlighter {
    /// `None`: no colours are wanted.
    theme: Option<Theme>,
    /// How long whoever lays out waits for colours that are on their way.
    pub(super) patience: Duration,
    worker: Option<Worker>,
    next: u64,
    waiting: usize,
    blocks: Vec<Block>,
}

/// A block in the unfinished rest of a document, which is laid out again and again.
struct Block {
    session: Session,
    language: String,
    lines: Vec<String>,
    classes: Vec<Classes>,
}

struct Worker {
    requests: Sender<Request>,
    replies: Receiver<(Session, Classes)>,
}

enum Request {
    Line {
        session: Session,
        language: String,
        text: String,
    },
    End(Session),
}

impl Highlighter {
    pub(crate) fn new(theme: Option<Theme>) -> Self {
        Self {
            theme,
            patience: PATIENCE,
            ..Self::default()
        }
    }

    /// Begins a block of code, where its language says that there is anything to colour.
    pub(super) fn begin(&mut self, language: &str) -> Option<Session> {
        if self.theme.is_none() || language.is_empty() {
            return None;
        }
        if self.worker.is_none() {
            self.worker = Worker::start();
        }
        self.next += 1;
        Some(Session(self.next))
    }

    /// Sends a line on its way; tells whether its colours will come.
    pub(super) fn send(&mut self, session: Session, language: &str, text: &str) -> bool {
        let is_sent = text.len() <= MAX_LINE
            && self.waiting < MAX_WAITING
            && self.worker.as_ref().is_some_and(|worker| {
                let request = Request::Line {
                    session,
                    language: language.to_owned(),
                    text: text.to_owned(),
                };
                worker.requests.send(request).is_ok()
            });
        self.waiting += usize::from(is_sent);
        is_sent
    }

    pub(super) fn end(&mut self, session: Session) {
        if let Some(worker) = &self.worker {
            // A thread that is gone has nothing to end.
            worker.requests.send(Request::End(session)).ok();
        }
    }

    /// Returns the next line whose colours are there; waits for it until a deadline, if one is given.
    pub(super) fn next_line(&mut self, deadline: Option<Instant>) -> Option<(Session, Classes)> {
        while self.waiting > 0 {
            let left = deadline.map_or(Duration::ZERO, |at| {
                at.saturating_duration_since(Instant::now())
            });
            let reply = self.worker.as_ref()?.replies.recv_timeout(left);
            match reply {
                Ok((session, classes)) => {
                    self.waiting -= 1;
                    let block = self
                        .blocks
                        .iter_mut()
                        .find(|block| block.session == session);
                    match block {
                        Some(block) => block.classes.push(classes),
                        None => return Some((session, classes)),
                    }
                }
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => {
                    self.worker = None;
                    self.waiting = 0;
                }
            }
        }
        None
    }

    /// Whether colours of a line are still to come.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// Returns the lines of a block of code, with those colours that are there.
    pub(super) fn block(&mut self, language: &str, code: &str) -> Vec<Line> {
        let lines: Vec<&str> = code.lines().collect();
        // The last line may still grow.
        let complete = lines.len() - usize::from(!lines.is_empty() && !code.ends_with('\n'));
        let known = self.blocks.iter().position(|block| {
            let common = block.lines.len().min(complete);
            block.language == language
                && common > 0
                && block.lines[..common].iter().eq(&lines[..common])
        });
        let index = match known {
            Some(index) => index,
            None => match self.begin(language) {
                Some(session) if complete > 0 => self.add_block(session, language),
                Some(_) | None => return lines.into_iter().map(|line| self.plain(line)).collect(),
            },
        };
        let mut block = self.blocks.swap_remove(index);
        for line in lines.iter().take(complete).skip(block.lines.len()) {
            block.lines.push((*line).to_owned());
            if block.session != Session::ENDED && !self.send(block.session, language, line) {
                // What comes behind it could not be told from it.
                self.end(block.session);
                block.session = Session::ENDED;
            }
        }
        let styled = lines.iter().enumerate().map(|(index, line)| {
            match block.classes.get(index).filter(|_| index < complete) {
                Some(classes) => self.styled(line, classes),
                None => self.plain(line),
            }
        });
        let styled = styled.collect();
        self.blocks.push(block);
        styled
    }

    fn add_block(&mut self, session: Session, language: &str) -> usize {
        if self.blocks.len() >= MAX_BLOCKS {
            let oldest = self.blocks.remove(0);
            self.end(oldest.session);
        }
        self.blocks.push(Block {
            session,
            language: language.to_owned(),
            lines: Vec::new(),
            classes: Vec::new(),
        });
        self.blocks.len() - 1
    }

    /// Forgets what it knows of a document.
    pub(super) fn clear(&mut self) {
        for block in std::mem::take(&mut self.blocks) {
            self.end(block.session);
        }
    }

    /// Returns a line in its colours.
    pub(super) fn styled(&self, text: &str, classes: &[(usize, Class)]) -> Line {
        let Some(theme) = self.theme else {
            return self.plain(text);
        };
        let mut line = Line::default();
        let mut at = 0;
        for (end, class) in classes {
            let end = (*end).min(text.len());
            line.push(text.get(at..end).unwrap_or_default(), class.style(theme));
            at = end;
        }
        line.push(text.get(at..).unwrap_or_default(), TextStyle::default());
        self.on_background(line)
    }

    /// Returns a line of code without its colours.
    pub(super) fn plain(&self, code: &str) -> Line {
        let mut line = Line::default();
        line.push(code, TextStyle::default());
        self.on_background(line)
    }

    /// Sets code off from prose, where it is known whether the terminal is dark or light.
    fn on_background(&self, line: Line) -> Line {
        let line = line.trimmed();
        match self.theme {
            Some(Theme::Dark) => line.on_background(Color::Fixed(235)),
            Some(Theme::Light) => line.on_background(Color::Fixed(255)),
            Some(Theme::Auto) | None => line,
        }
    }
}

impl fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Highlighter")
            .field("theme", &self.theme)
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}

impl Class {
    /// Colours that can be read on the background of a theme, on any in the terminal's own.
    fn style(self, theme: Theme) -> TextStyle {
        let plain = TextStyle::default();
        let index = |auto, dark, light| match theme {
            Theme::Auto => Color::Theme(auto),
            Theme::Dark => Color::Fixed(dark),
            Theme::Light => Color::Fixed(light),
        };
        match self {
            Self::Plain => plain,
            Self::Comment if theme == Theme::Auto => TextStyle::of(TextStyle::DIM),
            Self::Comment => plain.colored(index(8, 245, 243)),
            Self::String | Self::Inserted => plain.colored(index(2, 114, 28)),
            Self::Keyword => plain.colored(index(5, 176, 127)),
            Self::Constant => plain.colored(index(6, 80, 30)),
            Self::Function => plain.colored(index(4, 111, 26)),
            Self::Type => plain.colored(index(6, 180, 94)),
            Self::Deleted => plain.colored(index(1, 203, 160)),
            Self::Heading => TextStyle::of(TextStyle::BOLD),
        }
    }
}

impl Worker {
    fn start() -> Option<Self> {
        let (requests, incoming) = channel();
        let (outgoing, replies) = channel();
        // Where no thread can be had, code stays plain.
        thread::Builder::new()
            .name("highlight".to_owned())
            .spawn(move || work(&incoming, &outgoing))
            .ok()?;
        Some(Self { requests, replies })
    }
}

/// The thread: ends with whoever asks.
fn work(requests: &Receiver<Request>, replies: &Sender<(Session, Classes)>) {
    let syntaxes = two_face::syntax::extra_newlines();
    let theme = theme();
    let highlighter = highlighting::Highlighter::new(&theme);
    let mut open: HashMap<Session, Option<(ParseState, HighlightState)>> = HashMap::new();
    for request in requests {
        let (session, language, text) = match request {
            Request::Line {
                session,
                language,
                text,
            } => (session, language, text),
            Request::End(session) => {
                open.remove(&session);
                continue;
            }
        };
        let state = open.entry(session).or_insert_with(|| {
            let state = HighlightState::new(&highlighter, ScopeStack::new());
            syntax(&syntaxes, &language).map(|syntax| (ParseState::new(syntax), state))
        });
        let classes = match state {
            Some((parse, state)) => classes(&text, parse, state, &highlighter, &syntaxes),
            None => Vec::new(),
        };
        if replies.send((session, classes)).is_err() {
            return;
        }
    }
}

fn syntax<'a>(syntaxes: &'a SyntaxSet, language: &str) -> Option<&'a SyntaxReference> {
    let lower = language.to_lowercase();
    let alias = ALIASES.iter().find(|(name, _)| *name == lower);
    syntaxes.find_syntax_by_token(alias.map_or(&lower, |(_, name)| name))
}

fn classes(
    text: &str,
    parse: &mut ParseState,
    state: &mut HighlightState,
    highlighter: &highlighting::Highlighter<'_>,
    syntaxes: &SyntaxSet,
) -> Classes {
    let line = format!("{text}\n");
    // A grammar that trips over a line leaves it plain.
    let Ok(changes) = parse.parse_line(&line, syntaxes) else {
        return Vec::new();
    };
    let mut end = 0;
    let pieces = HighlightIterator::new(state, &changes, &line, highlighter);
    pieces
        .map(|(style, piece)| {
            end += piece.len();
            let class = CLASSES.get(usize::from(style.foreground.r));
            (end, class.copied().unwrap_or(Class::Plain))
        })
        .collect()
}

/// A theme whose colours are the classes by number.
fn theme() -> highlighting::Theme {
    let color = |class: Class| highlighting::Color {
        r: CLASSES
            .iter()
            .zip(0..)
            .find(|(known, _)| **known == class)
            .map_or(0, |(_, number)| number),
        g: 0,
        b: 0,
        a: u8::MAX,
    };
    let scopes = SCOPES.iter().filter_map(|(selectors, class)| {
        Some(ThemeItem {
            scope: ScopeSelectors::from_str(selectors).ok()?,
            style: StyleModifier {
                foreground: Some(color(*class)),
                ..StyleModifier::default()
            },
        })
    });
    highlighting::Theme {
        settings: ThemeSettings {
            foreground: Some(color(Class::Plain)),
            ..ThemeSettings::default()
        },
        scopes: scopes.collect(),
        ..highlighting::Theme::default()
    }
}
