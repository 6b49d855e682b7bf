//! Quotes and items: what they put before the lines in them, and how the document goes on in them where it is cut.

use super::{BULLETS, Context, Cut, DIM, Layouter, QUOTE_BAR, line_start};
use crate::term::markdown::line::{Line, TextStyle};
use crate::term::markdown::table::Shape;

/// What an open container puts before each of its lines.
#[derive(Debug)]
pub(super) enum Container {
    Quote,
    Item {
        /// Shown before its first line.
        marker: String,
        is_shown: bool,
        columns: usize,
        /// The marker as it is written, as wide as the lines below are indented.
        written: String,
    },
}

/// A list that is open: the number of its last item, where it has numbers.
#[derive(Debug)]
pub(super) struct List {
    pub(super) last: Option<u64>,
    pub(super) is_ordered: bool,
}

impl Layouter<'_> {
    pub(super) fn begin_item(&mut self, at: usize) {
        self.flush();
        let depth = self.lists.iter().filter(|list| !list.is_ordered).count();
        let written = written_marker(self.source, at);
        let marker = match self.lists.last_mut() {
            Some(List {
                last,
                is_ordered: true,
            }) => {
                let digits = written.trim_start().trim_end_matches([' ', '.', ')']);
                let number: u64 = digits.parse().unwrap_or(0);
                // Writers who number every item 1 mean the next number.
                let number = last.map_or(number, |last| number.max(last.saturating_add(1)));
                *last = Some(number);
                format!("{number}. ")
            }
            Some(_) | None => BULLETS[(depth.max(1) - 1) % BULLETS.len()].to_owned(),
        };
        let is_shown = self.resumed > 0;
        self.resumed = self.resumed.saturating_sub(1);
        self.containers.push(Container::Item {
            columns: marker.chars().count(),
            marker,
            is_shown,
            written,
        });
        self.priors.push(None);
    }

    /// Notes that the document can be cut before a line, in the containers that are open.
    pub(super) fn cut(&mut self, line: usize, at: usize, insert: &str, shape: Option<Shape>) {
        let mut written = String::new();
        let mut resumed = 0;
        for container in &self.containers {
            match container {
                Container::Quote => written.push_str("> "),
                Container::Item {
                    written: marker, ..
                } => {
                    // Blanks between two markers would set what follows in.
                    written.push_str(if resumed > 0 {
                        marker.trim_start()
                    } else {
                        marker
                    });
                    resumed += 1;
                }
            }
        }
        written.push_str(insert);
        // The open item is counted again when it begins anew.
        let number = self.lists.first().and_then(|list| list.last);
        self.laid.cuts.push(Cut {
            line,
            at,
            insert: written,
            context: Context {
                resumed,
                shape,
                number: number.map(|number| number.saturating_sub(1)),
                ..Context::default()
            },
        });
    }

    /// Columns that the containers leave.
    pub(super) fn room(&self) -> usize {
        let mut used = 0;
        for container in &self.containers {
            let columns = match container {
                Container::Quote => 2,
                Container::Item { columns, .. } => *columns,
            };
            if used + columns > self.columns / 2 {
                break;
            }
            used += columns;
        }
        self.columns - used
    }

    /// What the containers put before the next line. The inner ones of very many are left out.
    pub(super) fn prefix(&mut self) -> Line {
        let mut prefix = Line::default();
        let mut used = 0;
        let last = self.containers.len().saturating_sub(1);
        let mut is_full = false;
        for (index, container) in self.containers.iter_mut().enumerate() {
            let columns = match container {
                Container::Quote => 2,
                Container::Item { columns, .. } => *columns,
            };
            is_full |= used + columns > self.columns / 2;
            if is_full && index < last {
                continue;
            }
            used += columns;
            match container {
                Container::Quote if is_full => {}
                Container::Quote => prefix.push(QUOTE_BAR, DIM),
                Container::Item {
                    marker,
                    is_shown: is_shown @ false,
                    ..
                } => {
                    *is_shown = true;
                    prefix.push(marker, DIM);
                }
                Container::Item { .. } if is_full => {}
                Container::Item { columns, .. } => {
                    prefix.push(&" ".repeat(*columns), TextStyle::default());
                }
            }
        }
        prefix
    }

    pub(super) fn push_line(&mut self, line: Line) {
        let mut whole = self.prefix();
        whole.append(line);
        self.laid.lines.push(whole.trimmed());
    }
}

/// An item's marker as it is written, with the blanks up to its text.
fn written_marker(source: &str, at: usize) -> String {
    let rest = &source[at..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mark = digits + 1;
    let line = rest.lines().next().unwrap_or_default();
    let blanks = line
        .bytes()
        .skip(mark)
        .take_while(|byte| *byte == b' ')
        .count();
    let is_empty = line.len() <= mark + blanks;
    let blanks = if is_empty || blanks > 4 {
        1
    } else {
        blanks.max(1)
    };
    let before = &source[line_start(source, at)..at];
    let indent = before
        .bytes()
        .rev()
        .take_while(|byte| *byte == b' ')
        .count()
        .min(3);
    let mark = line.get(..mark).unwrap_or("-");
    format!("{}{mark}{}", " ".repeat(indent), " ".repeat(blanks))
}
