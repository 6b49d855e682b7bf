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
        let tail = clip(tail, size);
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
        let mut first = same;
        if same < was_drawn {
            let old = &self.drawn[same].painted;
            let added = (same + 1 == was_drawn)
                .then(|| lines.get(same)?.painted.strip_prefix(old.as_str()))
                .flatten();
            if let Some(added) = added {
                bytes.push_str(added);
                first = same + 1;
            } else {
                let rows = self.drawn[same..].iter();
                let rows: usize = rows.map(|drawn| drawn.line.rows(size.columns)).sum();
                bytes.push('\r');
                // The cursor is in the last of these rows, and none that scrolled away can be reached.
                let up = (rows - 1).min(size.rows.saturating_sub(1));
                if up > 0 {
                    bytes.extend(["\x1b[", &up.to_string(), "A"]);
                }
                bytes.push_str("\x1b[J");
                is_drawn_again = true;
            }
        }
        for (index, line) in lines.iter().enumerate().skip(first) {
            let is_below = index > 0 && !(is_drawn_again && index == first);
            if is_below {
                bytes.push('\n');
            }
            bytes.push_str(&line.painted);
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

    /// Whether the cursor stands behind unfinished text.
    pub(crate) fn is_in_line(&self) -> bool {
        !self.drawn.is_empty()
    }
}

/// The end of the lines, as much as fits the screen.
fn clip(mut lines: Vec<Line>, size: Size) -> Vec<Line> {
    let max = size.max_tail();
    let mut used = 0;
    let mut first = lines.len();
    while first > 0 && used < max {
        first -= 1;
        used += lines[first].rows(size.columns);
    }
    let mut kept = lines.split_off(first);
    if used > max
        && let Some(line) = kept.first_mut()
    {
        let rows = line.rows(size.columns) - (used - max);
        *line = line.last_rows(rows, size.columns);
    }
    kept
}
