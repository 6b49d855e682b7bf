//! What a terminal is sent so that it shows settled lines once and the unfinished rest below them, drawn anew where it
//! changed. Each frame is one synchronised update; words that are only added to the last line are just printed.

use super::line::{Line, Links};
use super::stream::Size;
use crate::term::policy::Paint;

const BEGIN_UPDATE: &str = "\x1b[?2026h";
const END_UPDATE: &str = "\x1b[?2026l";

/// The unfinished lines that stand on the screen; the cursor is behind the last one.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    drawn: Vec<Drawn>,
    links: Links,
}

#[derive(Debug, PartialEq)]
struct Drawn {
    painted: String,
    line: Line,
}

impl Screen {
    /// A screen whose links can be followed, or not.
    pub(crate) fn with_links(links: Links) -> Self {
        Self {
            links,
            ..Self::default()
        }
    }

    /// Returns what brings the screen from the last frame to this one.
    pub(crate) fn frame(
        &mut self,
        settled: Vec<Line>,
        tail: Vec<Line>,
        size: Size,
        paint: Paint,
    ) -> String {
        let how = self.links;
        let draw = |line: Line| Drawn {
            painted: line.painted(paint, how),
            line,
        };
        let settled_count = settled.len();
        let is_ended = tail.is_empty();
        let mut lines: Vec<Drawn> = settled.into_iter().chain(tail).map(draw).collect();
        let was_drawn = self.drawn.len();
        let mut same = lines
            .iter()
            .zip(&self.drawn)
            .take_while(|(new, old)| new == old)
            .count();
        if same == lines.len() && same < was_drawn {
            // The cursor has to end up behind the last line.
            same = same.saturating_sub(1);
        }
        let mut bytes = String::new();
        let mut is_drawn_again = false;
        // What can be reached of a line that is drawn again; it stands on the screen as a whole.
        let mut reachable = None;
        let mut first = same.max(self.scrolled_away(size));
        if first < was_drawn {
            let old = &self.drawn[first].painted;
            let added = (first + 1 == was_drawn)
                .then(|| lines.get(first)?.painted.strip_prefix(old.as_str()))
                .flatten();
            if let Some(added) = added {
                bytes.push_str(added);
                first += 1;
            } else {
                let rows = self.drawn[first..].iter();
                let rows: usize = rows.map(|drawn| drawn.line.rows(size.columns)).sum();
                bytes.push('\r');
                // The cursor is in the last of these rows.
                let up = (rows - 1).min(size.rows.saturating_sub(1));
                if up > 0 {
                    bytes.extend(["\x1b[", &up.to_string(), "A"]);
                }
                bytes.push_str("\x1b[J");
                is_drawn_again = true;
                let unreachable = rows - 1 - up;
                if let Some(Drawn { line, .. }) = lines.get(first)
                    && unreachable > 0
                {
                    let rows = line.rows(size.columns).saturating_sub(unreachable);
                    reachable = Some(line.last_rows(rows, size.columns).painted(paint, how));
                }
            }
        }
        for (index, line) in lines.iter().enumerate().skip(first) {
            let is_below = index > 0 && !(is_drawn_again && index == first);
            if is_below {
                bytes.push('\n');
            }
            bytes.push_str(reachable.take().as_ref().unwrap_or(&line.painted));
        }
        if is_ended && !lines.is_empty() {
            bytes.push('\n');
        }
        self.drawn = lines.split_off(settled_count);
        if is_drawn_again {
            bytes = format!("{BEGIN_UPDATE}{bytes}{END_UPDATE}");
        }
        bytes
    }

    /// Counts the lines that stay as they are because the cursor cannot go back to them; the last one is never among
    /// them.
    fn scrolled_away(&self, size: Size) -> usize {
        let mut rows = 0;
        let lines = self.drawn.iter().rev();
        let reachable = lines.take_while(|drawn| {
            rows += drawn.line.rows(size.columns);
            rows <= size.rows
        });
        self.drawn.len() - reachable.count().max(1).min(self.drawn.len())
    }

    /// Whether the cursor stands behind unfinished text.
    pub(crate) fn is_in_line(&self) -> bool {
        !self.drawn.is_empty()
    }
}
