//! A command line cut at its quotes, as a shell reads them. Unit: one line. Pure.

use std::str::Chars;

/// What a backslash makes literal between double quotes; before anything else it stands for itself.
const ESCAPED: [char; 4] = ['$', '`', '"', '\\'];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Whatever it means to the shell.
    Bare(char),
    /// Behind a backslash.
    Escaped(char),
    /// A backslash at the end of the line.
    Unfinished,
    /// What stands between quotes.
    Quoted {
        text: String,
        /// It holds a variable or a substitution.
        expands: bool,
        is_closed: bool,
    },
}

impl Piece {
    /// Returns whether it is such a character, neither quoted nor escaped.
    pub(super) fn is(&self, is_it: impl FnOnce(char) -> bool) -> bool {
        matches!(self, Self::Bare(it) if is_it(*it))
    }
}

pub(super) fn pieces(line: &str) -> impl Iterator<Item = Piece> {
    let mut chars = line.chars();
    std::iter::from_fn(move || {
        let next = chars.next()?;
        Some(match next {
            '\'' | '"' => quoted(&mut chars, next),
            '\\' => chars.next().map_or(Piece::Unfinished, Piece::Escaped),
            _ => Piece::Bare(next),
        })
    })
}

/// Reads up to the closing quote.
fn quoted(chars: &mut Chars<'_>, quote: char) -> Piece {
    let is_double = quote == '"';
    let (mut text, mut expands, mut is_closed) = (String::new(), false, false);
    while let Some(next) = chars.next() {
        is_closed = next == quote;
        if is_closed {
            break;
        }
        expands |= is_double && ['$', '`'].contains(&next);
        let escaped = (is_double && next == '\\').then(|| chars.next()).flatten();
        if escaped.is_none_or(|it| !ESCAPED.contains(&it)) {
            text.push(next);
        }
        text.extend(escaped);
    }
    Piece::Quoted {
        text,
        expands,
        is_closed,
    }
}
