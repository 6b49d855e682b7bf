//! Single keys, for as long as somebody chooses from a list. A thread reads the terminal, which is in raw mode
//! meanwhile; both end with the reader, so that no key is taken from who reads next.

use std::io::{self, PipeReader, PipeWriter};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{self, OptionalActions, OutputModes, Termios};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long the rest of a key's bytes may take: an escape alone is a key, too.
const REST: Duration = Duration::from_millis(50);

/// A key that means something to a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Enter,
    Up,
    Down,
    PageUp,
    PageDown,
    Backspace,
    EraseWord,
    EraseLine,
    /// Esc, Ctrl-C or Ctrl-D.
    Cancel,
    /// A key without a meaning here.
    Other,
}

/// Reads the terminal on stdin key by key.
#[derive(Debug)]
pub struct Keys {
    received: UnboundedReceiver<Vec<u8>>,
    decoder: Decoder,
    stop: Option<PipeWriter>,
    reading: Option<JoinHandle<()>>,
    before: Termios,
}

impl Keys {
    pub fn open() -> io::Result<Self> {
        let before = termios::tcgetattr(io::stdin())?;
        let (stopped, stop) = io::pipe()?;
        let (sender, received) = unbounded_channel();
        let mut raw = before.clone();
        raw.make_raw();
        raw.output_modes |= OutputModes::OPOST;
        termios::tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        let mut keys = Self {
            received,
            decoder: Decoder::default(),
            stop: Some(stop),
            reading: None,
            before,
        };
        let reading = thread::Builder::new().name("keys".to_owned());
        keys.reading = Some(reading.spawn(move || read(&stopped, &sender))?);
        Ok(keys)
    }

    /// Returns the next key; a terminal that is gone cancels. Dropping the future loses none.
    pub async fn next(&mut self) -> Key {
        loop {
            if let Some(key) = self.decoder.next() {
                return key;
            }
            let bytes = if self.decoder.is_waiting() {
                match tokio::time::timeout(REST, self.received.recv()).await {
                    Ok(bytes) => bytes,
                    Err(_) => return self.decoder.end(),
                }
            } else {
                self.received.recv().await
            };
            match bytes {
                Some(bytes) => self.decoder.bytes.extend(bytes),
                None => return Key::Cancel,
            }
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(reading) = self.reading.take() {
            drop(reading.join());
        }
        // What fails here has no remedy: the terminal is gone.
        termios::tcsetattr(io::stdin(), OptionalActions::Now, &self.before).ok();
    }
}

/// Reads until the other end of the pipe is closed.
fn read(stopped: &PipeReader, sender: &UnboundedSender<Vec<u8>>) {
    let stdin = io::stdin();
    let mut bytes = [0; 1024];
    loop {
        let mut polled = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::new(stopped, PollFlags::IN),
        ];
        match poll(&mut polled, None) {
            Err(Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) if !polled[1].revents().is_empty() => return,
            Ok(_) => {}
        }
        match rustix::io::read(&stdin, &mut bytes) {
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(length @ 1..) if sender.send(bytes[..length].to_vec()).is_ok() => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// Makes keys of bytes.
#[derive(Debug, Default)]
struct Decoder {
    bytes: Vec<u8>,
    /// Within a marked paste, whose line breaks are no Enter.
    is_paste: bool,
}

impl Decoder {
    const ESC: u8 = 0x1b;

    /// Whether a key has begun whose end is not there yet.
    fn is_waiting(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Returns the next key that is there whole.
    fn next(&mut self) -> Option<Key> {
        let (key, length) = self.first()?;
        self.bytes.drain(..length);
        Some(key)
    }

    /// Gives up what is not whole: an escape that stands alone is a key, anything else is none.
    fn end(&mut self) -> Key {
        let is_escape = self.bytes == [Self::ESC];
        self.bytes.clear();
        if is_escape { Key::Cancel } else { Key::Other }
    }

    fn first(&mut self) -> Option<(Key, usize)> {
        let bytes = &self.bytes;
        let key = match *bytes.first()? {
            Self::ESC => return self.sequence(),
            b'\r' | b'\n' if self.is_paste => Key::Char(' '),
            b'\r' | b'\n' => Key::Enter,
            // Ctrl-C, Ctrl-D; Ctrl-P, Ctrl-N; Ctrl-H, Ctrl-W, Ctrl-U.
            0x03 | 0x04 => Key::Cancel,
            0x10 => Key::Up,
            0x0e => Key::Down,
            0x08 | 0x7f => Key::Backspace,
            0x17 => Key::EraseWord,
            0x15 => Key::EraseLine,
            0..0x20 => Key::Other,
            0x20..0x7f => Key::Char(char::from(bytes[0])),
            lead => {
                let length = match lead {
                    0xc0..0xe0 => 2,
                    0xe0..0xf0 => 3,
                    0xf0..0xf8 => 4,
                    _ => return Some((Key::Other, 1)),
                };
                let char = std::str::from_utf8(bytes.get(..length)?);
                let char = char.ok().and_then(|text| text.chars().next());
                return Some(char.map_or((Key::Other, 1), |char| (Key::Char(char), length)));
            }
        };
        Some((key, 1))
    }

    /// Returns the key of an escape sequence.
    fn sequence(&mut self) -> Option<(Key, usize)> {
        let bytes = &self.bytes;
        let (parameters, end) = match bytes.get(1)? {
            b'[' => {
                let end = 2 + bytes[2..].iter().position(|b| (0x40..0x7f).contains(b))?;
                (&bytes[2..end], end)
            }
            b'O' => {
                bytes.get(2)?;
                (&bytes[2..2], 2)
            }
            // An answer of the terminal that comes late, up to what ends it.
            b']' => {
                let end = bytes[2..]
                    .iter()
                    .position(|b| [0x07, Self::ESC].contains(b))?
                    + 2;
                let length = if bytes[end] == Self::ESC { 2 } else { 1 };
                return (end + length <= bytes.len()).then_some((Key::Other, end + length));
            }
            &Self::ESC => return Some((Key::Cancel, 1)),
            // With Alt held down.
            _ => return Some((Key::Other, 2)),
        };
        let key = match (parameters, bytes[end]) {
            (b"", b'A') => Key::Up,
            (b"", b'B') => Key::Down,
            (b"5", b'~') => Key::PageUp,
            (b"6", b'~') => Key::PageDown,
            (b"200", b'~') => {
                self.is_paste = true;
                Key::Other
            }
            (b"201", b'~') => {
                self.is_paste = false;
                Key::Other
            }
            _ => Key::Other,
        };
        Some((key, end + 1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(pieces: &[&[u8]]) -> Vec<Key> {
        let mut decoder = Decoder::default();
        let mut keys = Vec::new();
        for piece in pieces {
            decoder.bytes.extend_from_slice(piece);
            keys.extend(std::iter::from_fn(|| decoder.next()));
        }
        if decoder.is_waiting() {
            keys.push(decoder.end());
        }
        keys.retain(|key| *key != Key::Other);
        keys
    }

    #[test]
    fn bytes_are_decoded_to_keys() {
        use Key::{Backspace, Cancel, Char, Down, Enter, EraseWord, PageDown, Up};
        for (bytes, expected) in [
            ("aä😀", &[Char('a'), Char('ä'), Char('😀')][..]),
            ("\x1b[A\x1bOB\x10\x0e", &[Up, Down, Up, Down]),
            ("\x1b[6~\x1b[1;5C\x1bx\r", &[PageDown, Enter]),
            ("\x1b", &[Cancel]),
            ("\x03", &[Cancel]),
            ("\x7f\x17", &[Backspace, EraseWord]),
            (
                "\x1b[200~a\rb\x1b[201~\r",
                &[Char('a'), Char(' '), Char('b'), Enter],
            ),
        ] {
            assert_eq!(keys(&[bytes.as_bytes()]), expected, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn keys_are_the_same_wherever_the_bytes_are_cut(
            bytes in prop::collection::vec(
                prop_oneof![Just(0x1b), Just(b'['), Just(b'A'), any::<u8>()], 0..12
            ),
            cut in 0usize..12,
        ) {
            let (before, after) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(keys(&[before, after]), keys(&[&bytes]));
        }
    }
}
