//! `~`, and `dw` and `yw` with the keys of vi where fewer words follow than are asked for: the editor's own stop before the last
//! character there. Such an operator is taken with whatever motion follows; all others are left to the editor.

use rustyline::{At, CharSearch, Cmd, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount, Word};

/// An operator whose motion is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operator {
    key: char,
    n: RepeatCount,
    /// `f` and the like, whose character is still to come.
    find: Option<char>,
}

/// Takes a key of vi's command mode, with the text from the cursor on; `None`: the editor is to see to it.
pub(super) fn step(
    waiting: &mut Option<Operator>,
    KeyEvent(code, modifiers): KeyEvent,
    n: RepeatCount,
    behind: &str,
) -> Option<Cmd> {
    let key = match (code, modifiers) {
        (KeyCode::Char(key), Modifiers::NONE) => Some(key),
        _ => None,
    };
    let Some(operator) = waiting.take() else {
        if key == Some('~') {
            return behind.chars().next().map(in_other_case);
        }
        let key = key.filter(|key| ['d', 'y'].contains(key))?;
        let is_short = words_behind(behind, Word::Big) < usize::from(n) && !behind.is_empty();
        *waiting = is_short.then_some(Operator { key, n, find: None });
        return is_short.then_some(Cmd::Noop);
    };
    if let (None, Some(digit @ 1..)) = (operator.find, key.and_then(|key| key.to_digit(10))) {
        let n = RepeatCount::try_from(digit).unwrap_or(1);
        *waiting = Some(Operator { n, ..operator });
        return Some(Cmd::Noop);
    }
    if let Some(key @ ('f' | 'F' | 't' | 'T')) = key.filter(|_| operator.find.is_none()) {
        *waiting = Some(Operator {
            find: Some(key),
            ..operator
        });
        return Some(Cmd::Noop);
    }
    let movement = key.and_then(|key| operator.movement(key, behind));
    Some(match (movement, operator.key) {
        (Some(movement), 'd') => Cmd::Kill(movement),
        (Some(movement), _) => Cmd::ViYankTo(movement),
        (None, _) => Cmd::Noop,
    })
}

/// `~`, which the editor does not have.
fn in_other_case(c: char) -> Cmd {
    let mut other: Box<dyn Iterator<Item = char>> = if c.is_lowercase() {
        Box::new(c.to_uppercase())
    } else {
        Box::new(c.to_lowercase())
    };
    match (other.next(), other.next()) {
        (Some(other), None) => Cmd::Overwrite(other),
        _ => Cmd::Overwrite(c),
    }
}

impl Operator {
    fn movement(self, key: char, behind: &str) -> Option<Movement> {
        let Self { n, .. } = self;
        if let Some(find) = self.find {
            let search = match find {
                'f' => CharSearch::Forward(key),
                'F' => CharSearch::Backward(key),
                't' => CharSearch::ForwardBefore(key),
                _ => CharSearch::BackwardAfter(key),
            };
            return Some(Movement::ViCharSearch(n, search));
        }
        let to_word = |word| {
            if words_behind(behind, word) < usize::from(n) {
                Movement::EndOfLine
            } else {
                Movement::ForwardWord(n, At::Start, word)
            }
        };
        Some(match key {
            _ if key == self.key => Movement::WholeLine,
            'w' => to_word(Word::Vi),
            'W' => to_word(Word::Big),
            'e' => Movement::ForwardWord(n, At::AfterEnd, Word::Vi),
            'E' => Movement::ForwardWord(n, At::AfterEnd, Word::Big),
            'b' => Movement::BackwardWord(n, Word::Vi),
            'B' => Movement::BackwardWord(n, Word::Big),
            '$' => Movement::EndOfLine,
            '0' | '^' => Movement::BeginningOfLine,
            'h' => Movement::BackwardChar(n),
            'l' | ' ' => Movement::ForwardChar(n),
            'j' => Movement::LineDown(n),
            'k' => Movement::LineUp(n),
            _ => return None,
        })
    }
}

/// Counts the words that begin behind the first character.
fn words_behind(text: &str, word: Word) -> usize {
    let kind = |c: char| match c {
        c if c.is_whitespace() => 0,
        c if word == Word::Big || c.is_alphanumeric() || c == '_' => 1,
        _ => 2,
    };
    let kinds: Vec<u8> = text.chars().map(kind).collect();
    let begins = |pair: &&[u8]| pair[1] > 0 && pair[0] != pair[1];
    kinds.windows(2).filter(begins).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &str, n: RepeatCount, behind: &str) -> Option<Cmd> {
        let mut waiting = None;
        let mut last = None;
        for key in keys.chars() {
            let key = KeyEvent(KeyCode::Char(key), Modifiers::NONE);
            last = step(&mut waiting, key, n, behind);
        }
        assert_eq!(waiting, None);
        last
    }

    #[test]
    fn a_word_is_taken_to_its_end_where_none_follows() {
        let end = Movement::EndOfLine;
        for (keys, n, behind, expected) in [
            ("dw", 1, "word", Some(Cmd::Kill(end.clone()))),
            ("yw", 1, "word", Some(Cmd::ViYankTo(end.clone()))),
            ("dW", 1, "foo-bar", Some(Cmd::Kill(end.clone()))),
            ("dw", 2, "last but", Some(Cmd::Kill(end))),
            ("dd", 1, "word", Some(Cmd::Kill(Movement::WholeLine))),
            (
                "dw",
                1,
                "foo-bar",
                Some(Cmd::Kill(Movement::ForwardWord(1, At::Start, Word::Vi))),
            ),
            ("dx", 1, "word", Some(Cmd::Noop)),
            ("dw", 1, "two words", None),
            ("x", 1, "word", None),
            ("~", 1, "word", Some(Cmd::Overwrite('W'))),
            ("~", 1, "ßa", Some(Cmd::Overwrite('ß'))),
        ] {
            assert_eq!(typed(keys, n, behind), expected, "{keys} {behind}");
        }
    }
}
