//! Lines typed before a question was asked, put aside so that they do not answer it.
//!
//! Unit: bytes as the terminal gives them, in any pieces, keys that edit a line among them. A marked paste of several
//! lines is one line here.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use crate::term::is_ready;
const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";
/// More than this is not typed by anybody; the rest stays with the terminal.
const MAX: usize = 4 * 1024 * 1024;

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Line(String),
    /// Ctrl-D at the beginning of a line.
    End,
}

/// What was typed and not asked for yet.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    typed: VecDeque<Typed>,
    /// A line that is not ended; it may still get its end.
    rest: Vec<u8>,
}

impl Ahead {
    /// Takes keys in that somebody else has read.
    pub(super) fn of(keys: &[u8]) -> Self {
        const CTRL_D: &[u8] = b"\x04";
        let mut ahead = Self::default();
        match keys {
            CTRL_D => ahead.end(),
            keys => ahead.take_in(keys),
        }
        ahead
    }

    /// Everything typed, as one text to be gone on with.
    pub(super) fn take_text(&mut self) -> Option<String> {
        let rest = self.take_begun();
        let lines = self.typed.drain(..).filter_map(|typed| match typed {
            Typed::Line(line) => Some(line),
            Typed::End => None,
        });
        let lines: Vec<String> = lines.chain(rest).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// The line that was begun and not ended.
    pub(super) fn take_begun(&mut self) -> Option<String> {
        let begun = text_of(&std::mem::take(&mut self.rest));
        (!begun.is_empty()).then_some(begun)
    }

    /// Takes what the terminal holds, without waiting for more.
    pub(super) fn fill(&mut self, terminal: impl AsFd) -> io::Result<()> {
        let mut buffer = [0; 4096];
        let mut taken = 0;
        while taken < MAX && is_ready(&terminal, Duration::ZERO)? {
            let read = rustix::io::read(&terminal, &mut buffer)?;
            if read == 0 {
                self.end();
                return Ok(());
            }
            self.take_in(&buffer[..read]);
            taken += read;
        }
        Ok(())
    }

    /// The next thing typed.
    pub(super) fn next(&mut self) -> Option<Typed> {
        self.typed.pop_front()
    }

    /// Takes keys in, whoever has read them.
    pub(super) fn take_in(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        while let Some(end) = end_of_line(&self.rest) {
            let mut line: Vec<u8> = self.rest.drain(..end).collect();
            let is_return = line.pop() == Some(b'\r');
            if is_return && self.rest.first() == Some(&b'\n') {
                self.rest.remove(0);
            }
            self.typed.push_back(Typed::Line(text_of(&line)));
        }
    }

    fn end(&mut self) {
        if self.rest.is_empty() {
            self.typed.push_back(Typed::End);
        }
    }
}

/// Reads on to the end of a marked paste, or until nothing more of it comes.
pub(super) fn skip_paste(terminal: impl AsFd) -> io::Result<()> {
    const PAUSE: Duration = Duration::from_millis(100);
    let mut buffer = [0; 4096];
    let mut end = Vec::new();
    while is_ready(&terminal, PAUSE)? {
        let read = rustix::io::read(&terminal, &mut buffer)?;
        end.extend_from_slice(&buffer[..read]);
        if read == 0 || position(&end, PASTE_END).is_some() {
            break;
        }
        end.drain(..end.len().saturating_sub(PASTE_END.len()));
    }
    Ok(())
}

/// Behind the first line break that is not inside a marked paste.
fn end_of_line(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = &bytes[at..];
        let line_break = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
        match position(&rest[..line_break], PASTE_BEGIN) {
            None => return Some(at + line_break + 1),
            Some(begin) => at += begin + position(&rest[begin..], PASTE_END)? + PASTE_END.len(),
        }
    }
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

/// A line as it was typed: what was erased is gone, and so are the marks of pastes and other keys; line breaks in it
/// are newlines.
fn text_of(line: &[u8]) -> String {
    let typed = String::from_utf8_lossy(line)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let mut text = String::with_capacity(typed.len());
    let mut keys = typed.chars().peekable();
    while let Some(key) = keys.next() {
        match key {
            '\x7f' | '\x08' => {
                text.pop();
            }
            '\x15' => text.clear(),
            '\x17' => {
                text.truncate(text.trim_end().len());
                let word = text.rfind(char::is_whitespace);
                text.truncate(word.map_or(0, |blank| blank + 1));
            }
            '\x1b' => {
                if keys.next_if_eq(&'[').is_some() {
                    // Parameters, and the letter that ends them.
                    while keys
                        .next_if(|key| ('\x20'..='\x3f').contains(key))
                        .is_some()
                    {}
                } else if keys.next_if_eq(&']').is_some() {
                    // An answer of the terminal, up to what ends it.
                    while keys.next_if(|key| !key.is_control()).is_some() {}
                    keys.next_if_eq(&'\x1b');
                } else {
                    keys.next_if_eq(&'O');
                }
                keys.next();
            }
            '\n' | '\t' => text.push(key),
            key if key.is_control() => {}
            key => text.push(key),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(text: &str) -> Typed {
        Typed::Line(text.to_owned())
    }

    #[test]
    fn whole_lines_come_first_and_the_begun_one_stays() {
        for (name, bytes, expected) in [
            (
                "two and a half",
                "one\ntwo\nthr",
                vec![line("one"), line("two")],
            ),
            (
                "left by an editor",
                "one\rtwo\r",
                vec![line("one"), line("two")],
            ),
            ("both ends", "one\r\ntwo\n", vec![line("one"), line("two")]),
            (
                "a marked paste",
                "see \x1b[200~a\nb\x1b[201~!\nnext\n",
                vec![line("see a\nb!"), line("next")],
            ),
            ("half a paste", "\x1b[200~a\nb", vec![]),
            (
                "edited",
                "onx\x7fe \x1b[Dtoo\x17\x1bOAtwo\x01\nno\x15yes\n",
                vec![line("one two"), line("yes")],
            ),
            (
                "answers of the terminal",
                "a\x1b]11;rgb:1e/1e/1e\x1b\\b\x1b]11;rgb:1e/1e/1e\x07c\x1b[?62;22cd\n",
                vec![line("abcd")],
            ),
        ] {
            let mut ahead = Ahead::default();
            ahead.take_in(bytes.as_bytes());
            let typed: Vec<Typed> = std::iter::from_fn(|| ahead.next()).collect();
            assert_eq!(typed, expected, "{name}");
        }
    }

    #[test]
    fn the_end_counts_only_on_an_empty_line() {
        let mut ahead = Ahead::default();
        ahead.take_in(b"half");
        ahead.end();
        assert_eq!(ahead.next(), None);
        ahead.take_in(b"\n");
        assert_eq!(ahead.next(), Some(line("half")));
        ahead.end();
        assert_eq!(ahead.next(), Some(Typed::End));
    }

    #[test]
    fn what_a_pipe_holds_is_taken_without_waiting() {
        let (reader, writer) = io::pipe().unwrap();
        let mut ahead = Ahead::default();
        ahead.fill(&reader).unwrap();
        assert_eq!(ahead.next(), None);
        io::Write::write_all(&mut &writer, b"one\ntw").unwrap();
        ahead.fill(&reader).unwrap();
        assert_eq!(ahead.next(), Some(line("one")));
        drop(writer);
        ahead.fill(&reader).unwrap();
        assert_eq!(
            ahead.next(),
            None,
            "a pipe without writers says that it hung up"
        );
    }

    proptest! {
        #[test]
        fn where_the_pieces_are_cut_does_not_matter(
            text in "([a-c]{0,3}(\n|\x1b\\[200~|\x1b\\[201~)){0,8}", cut in 0usize..64
        ) {
            let cut = cut.min(text.len());
            let typed = |pieces: &[&[u8]]| {
                let mut ahead = Ahead::default();
                for piece in pieces {
                    ahead.take_in(piece);
                }
                (std::iter::from_fn(|| ahead.next()).collect::<Vec<_>>(), ahead.rest)
            };
            let (before, after) = text.as_bytes().split_at(cut);
            prop_assert_eq!(typed(&[before, after]), typed(&[text.as_bytes()]));
        }
    }
}
