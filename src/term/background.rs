//! Whether the background of a terminal is dark or light, as the terminal itself says (OSC 11).
//!
//! Behind the question stands one that every terminal answers (its attributes), so that nobody waits for an answer that
//! does not come. Bytes are read one by one, so that keys typed after the answers stay with the terminal.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use super::restore::is_ready;
use super::settings::Theme;

/// Asks for the colour of the background, then for the attributes.
pub(super) const QUESTION: &str = "\x1b]11;?\x1b\\\x1b[c";
/// Nobody waits longer. Over a slow line an answer takes a while; whoever reads keys later lets one that comes later
/// pass.
const PATIENCE: Duration = Duration::from_secs(1);
/// The rest of an answer that has begun.
const REST: Duration = Duration::from_millis(100);
/// No answer is longer.
const MAX_ANSWER: usize = 64;

const COLOR: &[u8] = b"\x1b]11;";
const ATTRIBUTES: &[u8] = b"\x1b[?";

/// What a terminal answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) theme: Option<Theme>,
    /// Keys that were no part of an answer.
    pub(super) typed: Vec<u8>,
    /// The last answer has not come yet.
    pub(super) is_due: bool,
}

/// What the bytes read so far amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    /// The beginning of an answer.
    Part,
    Color(Option<Theme>),
    /// The answer behind which no other comes.
    Attributes,
    Keys,
}

/// Asks, by `ask`, and reads the answer from a terminal that does not echo it.
pub(super) fn background(terminal: impl AsFd, ask: impl FnOnce()) -> io::Result<Answer> {
    let found = tcgetattr(&terminal)?;
    let mut quiet = found.clone();
    quiet
        .local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO);
    tcsetattr(&terminal, OptionalActions::Now, &quiet)?;
    ask();
    let answer = answer(&terminal, Instant::now() + PATIENCE);
    tcsetattr(&terminal, OptionalActions::Now, &found)?;
    answer
}

fn answer(terminal: &impl AsFd, deadline: Instant) -> io::Result<Answer> {
    let mut answer = Answer {
        is_due: true,
        ..Answer::default()
    };
    let mut bytes = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = if bytes.is_empty() {
            left
        } else {
            left.max(REST)
        };
        if !is_ready(terminal, wait)? {
            break;
        }
        let mut byte = [0];
        if rustix::io::read(terminal, &mut byte)? == 0 {
            break;
        }
        bytes.extend_from_slice(&byte);
        match heard(&bytes) {
            Heard::Part => {}
            Heard::Color(theme) => {
                answer.theme = theme;
                bytes.clear();
            }
            Heard::Attributes => {
                bytes.clear();
                answer.is_due = false;
                break;
            }
            // Behind them stands the answer.
            Heard::Keys => answer.typed.append(&mut bytes),
        }
    }
    answer.typed.append(&mut bytes);
    Ok(answer)
}

fn heard(bytes: &[u8]) -> Heard {
    let begins = |answer: &[u8]| bytes.starts_with(answer) || answer.starts_with(bytes);
    if bytes.len() > MAX_ANSWER {
        Heard::Keys
    } else if let Some(color) = bytes.strip_prefix(COLOR) {
        let end = [b"\x07".as_slice(), b"\x1b\\"];
        let ended = end.iter().find_map(|end| color.strip_suffix(*end));
        ended.map_or(Heard::Part, |color| Heard::Color(theme_of(color)))
    } else if let Some(attributes) = bytes.strip_prefix(ATTRIBUTES) {
        match attributes.last() {
            Some(b'c') => Heard::Attributes,
            None | Some(b'0'..=b'9' | b';') => Heard::Part,
            Some(_) => Heard::Keys,
        }
    } else if begins(COLOR) || begins(ATTRIBUTES) {
        Heard::Part
    } else {
        Heard::Keys
    }
}

/// Reads `rgb:RRRR/GGGG/BBBB`, each of one to four digits.
fn theme_of(color: &[u8]) -> Option<Theme> {
    let color = std::str::from_utf8(color).ok()?;
    let parts = color.strip_prefix("rgb:")?.split('/');
    let shares: Option<Vec<f64>> = parts
        .map(|digits| {
            let bits = 4 * u32::try_from(digits.len()).ok()?;
            let max = (1_u32.checked_shl(bits)?)
                .checked_sub(1)
                .filter(|max| *max > 0)?;
            let value = u32::from_str_radix(digits, 16).ok()?;
            Some(f64::from(value) / f64::from(max))
        })
        .collect();
    let shares = shares?;
    let [red, green, blue] = shares[..] else {
        return None;
    };
    let brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
    Some(if brightness > 0.5 {
        Theme::Light
    } else {
        Theme::Dark
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Answer {
        let (reader, writer) = io::pipe().unwrap();
        io::Write::write_all(&mut &writer, bytes).unwrap();
        answer(&reader, Instant::now() + Duration::from_millis(50)).unwrap()
    }

    #[test]
    fn a_terminal_says_whether_it_is_dark_or_light() {
        for (bytes, theme, typed) in [
            (
                "\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62;c",
                Some(Theme::Dark),
                "",
            ),
            ("\x1b]11;rgb:ff/ff/e0\x07\x1b[?1;2c", Some(Theme::Light), ""),
            ("\x1b[?6c", None, ""),
            ("\x1b]11;nonsense\x07\x1b[?6c", None, ""),
            ("\x1b]11;rgb:fff/fff\x07\x1b[?6c", None, ""),
            ("", None, ""),
            ("hello", None, "hello"),
            ("日本", None, "日本"),
            (
                "hi\r\x1b]11;rgb:0/0/0\x07日\x1b[A\x1b[?6chello",
                Some(Theme::Dark),
                "hi\r日\x1b[A",
            ),
            ("\x1b[A", None, "\x1b[A"),
        ] {
            let expected = Answer {
                theme,
                typed: typed.as_bytes().to_vec(),
                is_due: !bytes.contains("\x1b[?"),
            };
            assert_eq!(read(bytes.as_bytes()), expected, "{bytes:?}");
        }
    }
}
