//! Halves of characters: a gateway that cuts a reply by UTF-16 sends `"\ud83d"` in one event and `"\ude00"` in the
//! next, which no JSON parser takes.

/// Bytes of `\ud83d`.
const ESCAPE: usize = 6;
const REPLACEMENT: &[u8] = br"\ufffd";

/// Puts halves together over the events of one stream.
#[derive(Debug, Default)]
pub(super) struct Surrogates {
    /// The first half, from the end of a string.
    first: Option<Vec<u8>>,
}

impl Surrogates {
    /// Returns the event with whole characters: a first half moves to the event that begins a string with the second
    /// one, any other half is marked.
    pub(super) fn joined(&mut self, event: Vec<u8>) -> Vec<u8> {
        let is_half = |at: &[u8]| at.starts_with(br"\u") && matches!(at.get(2), Some(b'd' | b'D'));
        if !event.windows(3).any(is_half) {
            return event;
        }
        let mut joined = Vec::with_capacity(event.len() + ESCAPE);
        let mut at = 0;
        while let Some(&byte) = event.get(at) {
            let rest = &event[at..];
            let length = match (unit(rest), unit(rest.get(ESCAPE..).unwrap_or_default())) {
                (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => {
                    joined.extend_from_slice(&rest[..2 * ESCAPE]);
                    2 * ESCAPE
                }
                (Some(0xD800..0xDC00), _) if rest.get(ESCAPE) == Some(&b'"') => {
                    self.first = Some(rest[..ESCAPE].to_vec());
                    ESCAPE
                }
                (Some(0xDC00..0xE000), _) if joined.ends_with(b"\"") && self.first.is_some() => {
                    joined.extend(self.first.take().unwrap_or_default());
                    joined.extend_from_slice(&rest[..ESCAPE]);
                    ESCAPE
                }
                (Some(0xD800..0xE000), _) => {
                    joined.extend_from_slice(REPLACEMENT);
                    ESCAPE
                }
                _ => {
                    // What an escape stands before is none: `\\ud83d`.
                    let length = if byte == b'\\' { 2 } else { 1 };
                    joined.extend(rest.iter().take(length));
                    length
                }
            };
            at += length;
        }
        joined
    }
}

/// The UTF-16 unit that an escape at the beginning stands for.
fn unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(br"\u")?.get(..4)?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_joined_over_events_and_marked_where_they_stay_alone() {
        let rows: [(&[&str], &[&str]); 7] = [
            (
                &[r#""a\ud83d""#, r#""\ude00b""#],
                &[r#""a""#, r#""\ud83d\ude00b""#],
            ),
            (&[r#""\uD83D\uDE00""#], &[r#""\uD83D\uDE00""#]),
            (&[r#""\ud83d!""#], &[r#""\ufffd!""#]),
            (&[r#""\ude00""#], &[r#""\ufffd""#]),
            (
                &[r#""\\ud83d""#, r#""\u00e9""#],
                &[r#""\\ud83d""#, r#""\u00e9""#],
            ),
            (
                &[r#""a\ud83d""#, r#"{"n":1}"#, r#""\ude00""#],
                &[r#""a""#, r#"{"n":1}"#, r#""\ud83d\ude00""#],
            ),
            (&[r"\ud8", r"\ud83d\", r"\"], &[r"\ud8", r"\ufffd\", r"\"]),
        ];
        for (events, expected) in rows {
            let mut surrogates = Surrogates::default();
            let joined: Vec<_> = events
                .iter()
                .map(|event| {
                    String::from_utf8(surrogates.joined(event.as_bytes().to_vec())).unwrap()
                })
                .collect();
            assert_eq!(joined, expected);
        }
    }
}
