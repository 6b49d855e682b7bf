//! A document that arrives in pieces: what is settled is laid out once and never again, the unfinished rest is laid out
//! for each frame.
//!
//! Invariant: what settles depends on the text and the size of the screen alone, never on where the pieces were cut.
//! Decisions are made when a line ends and, within a very long line, each time it has grown by a step. The rest is
//! bounded: it fits the screen or becomes settled in part.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use super::highlight::{Class, Highlighter, Session};
use super::layout::{Context, Cut, Cuts, Kind, Laid, language_of, layout, line_start, outline};
use super::line::Line;

/// Most bytes that wait to be settled.
const MAX_OPEN: usize = 64 * 1024;

/// Columns and rows of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl Size {
    /// Rows that can be drawn again: the cursor cannot go back to what has scrolled away.
    pub(crate) fn max_tail(self) -> usize {
        self.rows.saturating_sub(1).max(1)
    }

    /// Bytes after which a line that does not end is looked at.
    fn step(self) -> usize {
        (self.columns * self.rows / 8).clamp(64, MAX_OPEN / 4)
    }
}

/// A document on its way.
#[derive(Debug)]
pub(crate) struct Markdown {
    size: Size,
    /// The source that is not settled.
    open: String,
    /// Where its last line begins, which has not ended.
    line_at: usize,
    /// Length of that line at which it is looked at.
    next_step: usize,
    context: Context,
    /// The block of code whose lines are coming.
    fence: Option<Fence>,
    /// The open block is a paragraph, which another line of words cannot end.
    is_paragraph: bool,
    settled: VecDeque<Settled>,
    /// Lines of sessions that were given away before their colours came.
    given_away: HashMap<Session, usize>,
    highlighter: Highlighter,
}

/// A line that will not be laid out again.
#[derive(Debug)]
struct Settled {
    line: Line,
    /// Where its colours are still to come: the session and the code.
    awaited: Option<(Session, String)>,
}

impl From<Line> for Settled {
    fn from(line: Line) -> Self {
        Self {
            line,
            awaited: None,
        }
    }
}

impl Markdown {
    pub(crate) fn new(size: Size, highlighter: Highlighter) -> Self {
        Self {
            size,
            open: String::new(),
            line_at: 0,
            next_step: size.step(),
            context: Context::default(),
            fence: None,
            is_paragraph: false,
            settled: VecDeque::new(),
            given_away: HashMap::new(),
            highlighter,
        }
    }

    /// Goes on at another size. The terminal has wrapped anew what stands there, so all but the last line is settled.
    pub(crate) fn resize(&mut self, size: Size) {
        if size == self.size {
            return;
        }
        if self.fence.is_none() {
            let mut laid = self.laid_to_cut();
            if let Some(cut) = laid.cuts.pop() {
                self.settle_before(cut, laid.lines);
            } else if self.line_at > 0 {
                self.settle(self.line_at);
                self.context.prior = None;
            }
            self.line_at = line_start(&self.open, self.open.len());
        }
        self.give_away(0);
        self.size = size;
    }

    /// Takes more of the document in.
    pub(crate) fn push(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            let mut rest = piece;
            while !rest.is_empty() {
                let length = self.open.len() - self.line_at;
                let room = self.next_step.saturating_sub(length).max(1);
                let end = (room..rest.len()).find(|end| rest.is_char_boundary(*end));
                let (head, behind) = rest.split_at(end.unwrap_or(rest.len()));
                self.open.push_str(head);
                rest = behind;
                if rest.is_empty() && piece.ends_with('\n') {
                    self.end_line();
                } else if self.open.len() - self.line_at >= self.next_step {
                    self.grow();
                }
            }
        }
    }

    /// Settles all that is there: the document ends.
    pub(crate) fn finish(&mut self) {
        if self.fence.is_some() && !self.open.is_empty() {
            self.end_code_line();
        }
        let deadline = Instant::now() + self.highlighter.patience;
        self.wait(deadline);
        self.settle(self.open.len());
        if let Some(session) = self.fence.take().and_then(|fence| fence.session) {
            self.highlighter.end(session);
        }
        self.wait(deadline);
        self.give_away(0);
    }

    /// Ends with what colours code, for the next document.
    pub(crate) fn into_highlighter(mut self) -> Highlighter {
        self.highlighter.clear();
        self.highlighter
    }

    /// Waits for the colours of all code that has come.
    pub(crate) fn wait(&mut self, deadline: Instant) {
        if Instant::now() >= deadline {
            return;
        }
        if self.fence.is_none() && self.open.contains("```") {
            // Code within another block is sent on its way where it is laid out.
            drop(self.rest());
        }
        self.wait_for_colors(deadline);
    }

    fn wait_for_colors(&mut self, deadline: Instant) {
        while self.highlighter.is_waiting() {
            let Some((session, classes)) = self.highlighter.next_line(Some(deadline)) else {
                return;
            };
            self.color(session, &classes);
        }
    }

    /// Whether a line that is settled waits for its colours.
    pub(crate) fn is_waiting(&self) -> bool {
        self.highlighter.is_waiting() && self.settled.iter().any(|line| line.awaited.is_some())
    }

    /// Settles all that is there because something else is printed below it. What still comes goes on below that.
    pub(crate) fn interrupt(&mut self) {
        if self.fence.is_some() {
            let line = self.code_tail();
            self.settled.extend(line.map(Settled::from));
            self.open.clear();
            self.line_at = 0;
        } else {
            self.settle(self.open.len());
        }
        self.give_away(0);
        self.context.prior = None;
        self.is_paragraph = false;
    }

    /// Returns what has become settled since the last call.
    pub(crate) fn take_settled(&mut self) -> Vec<Line> {
        self.take_colors();
        self.give_away(self.size.max_tail() / 2);
        let ready = self
            .settled
            .iter()
            .take_while(|line| line.awaited.is_none());
        let ready = ready.count();
        self.settled
            .drain(..ready)
            .map(|settled| settled.line)
            .collect()
    }

    /// Takes in the colours that are ready.
    fn take_colors(&mut self) {
        while let Some((session, classes)) = self.highlighter.next_line(None) {
            self.color(session, &classes);
        }
    }

    /// Puts colours on the line that has waited longest for those of its session.
    fn color(&mut self, session: Session, classes: &[(usize, Class)]) {
        if let Some(count @ 1..) = self.given_away.get_mut(&session) {
            *count -= 1;
            return;
        }
        let is_awaited = |settled: &&mut Settled| matches!(settled.awaited, Some((awaited, _)) if awaited == session);
        if let Some(settled) = self.settled.iter_mut().find(is_awaited)
            && let Some((_, code)) = settled.awaited.take()
        {
            settled.line = self.highlighter.styled(&code, classes);
        }
    }

    /// Lets lines go without their colours, until at most so many rows wait.
    fn give_away(&mut self, max_rows: usize) {
        let columns = self.size.columns;
        let first = self.settled.iter().position(|line| line.awaited.is_some());
        let Some(first) = first else {
            return;
        };
        let waiting = self.settled.range(first..);
        let mut rows: usize = waiting.map(|settled| settled.line.rows(columns)).sum();
        for settled in self.settled.range_mut(first..) {
            if rows <= max_rows {
                break;
            }
            rows -= settled.line.rows(columns);
            if let Some((session, _)) = settled.awaited.take() {
                *self.given_away.entry(session).or_default() += 1;
            }
        }
    }

    /// Returns the unfinished rest as it looks for now.
    pub(crate) fn tail(&mut self) -> Vec<Line> {
        let settled = self.settled.iter();
        let mut lines: Vec<Line> = settled.map(|settled| settled.line.clone()).collect();
        lines.extend(self.rest());
        lines
    }

    fn rest(&mut self) -> Vec<Line> {
        if self.fence.is_some() {
            return self.code_tail().into_iter().collect();
        }
        let (lines, last) = self.open.split_at(self.line_at);
        // A line that consists of marks so far may become anything.
        let is_undecided = last
            .trim()
            .chars()
            .all(|c| c.is_ascii_digit() || "-=*_`~#>+|:.)[ \t".contains(c));
        // Neither is it known whether a first row is one of a table before the second has come.
        let is_first_row = self.open.starts_with('|') && lines.matches('\n').count() < 2;
        let source = match (is_first_row, is_undecided) {
            (true, _) => "",
            (false, true) => lines,
            (false, false) if has_open_fence(lines) => &self.open,
            (false, false) => &format!("{lines}{}", closed(last)),
        };
        let laid = layout(
            source,
            &self.context,
            self.size.columns,
            &mut self.highlighter,
            Cuts::Unwanted,
        );
        laid.lines
    }

    #[cfg(test)]
    pub(super) fn open_bytes(&self) -> usize {
        self.open.len()
    }

    fn end_line(&mut self) {
        if self.fence.is_some() {
            self.end_code_line();
        } else {
            self.settle_blocks();
            self.settle_tall();
        }
        self.line_at = self.open.len();
        self.next_step = self.size.step();
    }

    /// Looks at a line that is long and has not ended.
    fn grow(&mut self) {
        if self.fence.is_none() {
            self.settle_tall();
        } else if self.open.len() > MAX_OPEN {
            self.end_code_line();
        }
        self.line_at = line_start(&self.open, self.open.len());
        let length = self.open.len() - self.line_at;
        let step = self.size.step();
        self.next_step = if self.may_be_tall() {
            // What cannot be settled is looked at less and less often.
            (length + length / 2).min(MAX_OPEN).max(length + step)
        } else {
            length + step
        };
    }

    /// Settles every block that another has followed, and what its last line has ended.
    fn settle_blocks(&mut self) {
        let line = &self.open[self.line_at..];
        let is_blank = line.trim().is_empty();
        if self.is_paragraph && line.trim_start().starts_with(char::is_alphabetic) {
            return;
        }
        let begins = outline(&self.open);
        let Some(last) = begins.last().copied() else {
            if is_blank {
                self.settle(self.open.len());
            }
            return;
        };
        self.settle(last.at);
        let mut fence = (last.kind == Kind::Code)
            .then(|| Fence::open(&self.open))
            .flatten();
        let is_ended = match last.kind {
            Kind::Heading | Kind::Rule => true,
            Kind::Paragraph | Kind::Table => is_blank,
            Kind::Code => fence.is_some(),
            Kind::List | Kind::Quote | Kind::Html => false,
        };
        if is_ended {
            self.settle(self.open.len());
        }
        if let Some(fence) = &mut fence {
            fence.session = self.highlighter.begin(&fence.language);
        }
        self.fence = fence;
        self.is_paragraph = last.kind == Kind::Paragraph && !is_ended;
    }

    fn laid(&mut self, end: usize) -> Laid {
        layout(
            &self.open[..end],
            &self.context,
            self.size.columns,
            &mut self.highlighter,
            Cuts::Unwanted,
        )
    }

    fn settle(&mut self, end: usize) {
        if end == 0 {
            return;
        }
        self.take_colors();
        let mut laid = self.laid(end);
        if self.open[..end].contains("```") && self.highlighter.is_waiting() {
            // Only now its last line is known to be whole.
            self.wait_for_colors(Instant::now() + self.highlighter.patience);
            laid = self.laid(end);
        }
        self.settled
            .extend(laid.lines.into_iter().map(Settled::from));
        self.context = laid.after;
        self.open.drain(..end);
        self.line_at = self.line_at.saturating_sub(end);
    }

    /// Settles a part of a block that is taller than the screen.
    fn settle_tall(&mut self) {
        if !self.may_be_tall() {
            return;
        }
        let mut laid = self.laid_to_cut();
        let rows: usize = laid
            .lines
            .iter()
            .map(|line| line.rows(self.size.columns))
            .sum();
        let max = self.size.max_tail();
        if rows <= max && self.open.len() <= MAX_OPEN {
            return;
        }
        if self.open.contains("```") && self.highlighter.is_waiting() {
            self.wait_for_colors(Instant::now() + self.highlighter.patience);
            laid = self.laid_to_cut();
        }
        // What is near the end may still change.
        let wanted = laid.lines.len() * 3 / 4;
        let mut cuts = laid.cuts.into_iter().filter(|cut| cut.line > 0);
        let mut cut = cuts.next();
        while let Some(next) = cuts.next().filter(|next| next.line <= wanted) {
            cut = Some(next);
        }
        if let Some(cut) = cut {
            self.settle_before(cut, laid.lines);
        } else if rows > 2 * max || self.open.len() > MAX_OPEN {
            let is_cut = !self.open.ends_with('\n');
            // Of a word that does not end whole rows are settled.
            let word = self.open.rsplit([' ', '\n']).next().unwrap_or_default();
            let rest = if word.is_ascii() {
                word.len() % self.size.columns.max(1)
            } else {
                0
            };
            self.settle(self.open.len() - rest);
            self.is_paragraph = false;
            if is_cut {
                // What follows goes on with it.
                self.context.prior = None;
            }
        }
    }

    fn settle_before(&mut self, cut: Cut, mut lines: Vec<Line>) {
        lines.truncate(cut.line);
        self.settled.extend(lines.into_iter().map(Settled::from));
        self.open.replace_range(..cut.at, &cut.insert);
        self.context = cut.context;
    }

    fn laid_to_cut(&mut self) -> Laid {
        layout(
            &self.open,
            &self.context,
            self.size.columns,
            &mut self.highlighter,
            Cuts::Wanted,
        )
    }

    /// Estimates from above: a wrapped line is at least half full.
    fn may_be_tall(&self) -> bool {
        let lines = self.open.bytes().filter(|byte| *byte == b'\n').count();
        let rows = 2 * (self.open.len() / self.size.columns.max(1) + lines);
        rows >= self.size.max_tail() || self.open.len() > MAX_OPEN
    }

    fn end_code_line(&mut self) {
        let Some(fence) = &mut self.fence else {
            return;
        };
        let line = self.open.strip_suffix('\n').unwrap_or(&self.open);
        if fence.is_closed_by(line) {
            if let Some(session) = fence.session {
                self.highlighter.end(session);
            }
            self.fence = None;
            self.context = Context {
                prior: Some(Kind::Code),
                ..Context::default()
            };
        } else {
            let code = fence.unindented(line).trim_end();
            let session = fence.session;
            let line = self.highlighter.plain(code);
            let is_sent =
                |session: &Session| self.highlighter.send(*session, &fence.language, code);
            self.settled.push_back(Settled {
                line,
                awaited: session
                    .filter(is_sent)
                    .map(|session| (session, code.to_owned())),
            });
        }
        self.open.clear();
        self.line_at = 0;
    }

    /// Returns the line of code that has not ended.
    fn code_tail(&self) -> Option<Line> {
        let fence = self.fence.as_ref()?;
        let is_nothing = self.open.is_empty() || fence.may_be_closed_by(&self.open);
        (!is_nothing).then(|| self.highlighter.plain(fence.unindented(&self.open)))
    }
}

/// Whether a block of code inside another block is open at the end of some lines.
fn has_open_fence(lines: &str) -> bool {
    let is_fence = |line: &&str| {
        let line = line.trim_start_matches([' ', '>']);
        line.starts_with("```") || line.starts_with("~~~")
    };
    lines.lines().filter(is_fence).count() % 2 == 1
}

/// Returns a line that has not ended with its last mark closed: what it opens is seen at once.
fn closed(line: &str) -> String {
    let mut closed = line
        .trim_end()
        .trim_end_matches(['*', '`'])
        .trim_end()
        .to_owned();
    let code = closed
        .rfind('`')
        .filter(|_| closed.matches('`').count() % 2 == 1);
    // Within code nothing else is a mark.
    let text: String = closed.split('`').step_by(2).collect();
    let strong = text.rsplit_once("**");
    let is_strong = text.matches("**").count() % 2 == 1;
    if code.is_some() {
        closed.push('`');
    } else if let Some((_, inside)) = strong.filter(|_| is_strong)
        && !inside.starts_with(char::is_whitespace)
    {
        closed.push_str("**");
    }
    closed
}

/// The line that opened a block of code.
#[derive(Debug)]
struct Fence {
    mark: char,
    count: usize,
    indent: usize,
    language: String,
    session: Option<Session>,
}

impl Fence {
    /// Reads the one line that `source` holds.
    fn open(source: &str) -> Option<Self> {
        let line = source.strip_suffix('\n').unwrap_or(source);
        let rest = line.trim_start_matches(' ');
        let indent = line.len() - rest.len();
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = rest.trim_start_matches(mark);
        let count = rest.len() - info.len();
        let is_fence = indent < 4 && count >= 3 && !line.contains('\n');
        is_fence.then(|| Self {
            mark,
            count,
            indent,
            language: language_of(info).to_owned(),
            session: None,
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let rest = line.trim_start_matches(' ');
        let behind = rest.trim_start_matches(self.mark);
        line.len() - rest.len() < 4
            && rest.len() - behind.len() >= self.count
            && behind.trim_matches([' ', '\t', '\r']).is_empty()
    }

    /// Whether a line that has not ended may become the one that closes the block.
    fn may_be_closed_by(&self, line: &str) -> bool {
        line.trim().chars().all(|c| c == self.mark)
    }

    /// A line without as many blanks as stand before the fence.
    fn unindented<'a>(&self, line: &'a str) -> &'a str {
        let blanks = line.bytes().take_while(|byte| *byte == b' ').count();
        &line[blanks.min(self.indent)..]
    }
}
