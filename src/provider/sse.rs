//! Server-sent events: bytes in, the data of each event out. Invariant: an event that does not end within
//! [`ndjson::LONGEST`](super::ndjson::LONGEST) bytes is refused before it is kept. Parsing is eventsource-stream's,
//! here and below async-openai; what the data means is left to the formats.

use std::borrow::Cow;

use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::{Stream, StreamExt, stream};

use super::ProviderError;
use super::ndjson::LONGEST;
use super::reply::Frames;
use super::surrogates::Surrogates;

/// Byte order marks at the start of a stream are left out: the parser panics at one.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Passes event after event on until one grows too long; bytes that are no text, which the parser would hold for ever,
/// are marked, and halves of characters are joined. Whole lines, because the parser reads what it holds from the start
/// again with every piece, which would take minutes for a line of some megabytes; and no more than an event at a time,
/// because it moves all that it holds with every line it takes.
pub(super) fn bounded(
    url: String,
    bytes: impl Stream<Item = Result<Vec<u8>, ProviderError>> + Send + 'static,
) -> impl Stream<Item = Result<Vec<u8>, ProviderError>> + Send + 'static {
    let mut surrogates = Surrogates::default();
    let events = whole_lines(url, bytes).flat_map(move |lines| {
        stream::iter(match lines {
            Ok(lines) => {
                let events = events(&lines).into_iter().map(text);
                events.map(|event| Ok(surrogates.joined(event))).collect()
            }
            Err(error) => vec![Err(error)],
        })
    });
    events.scan(Some(true), |at_start, event| {
        let passed = at_start.map(|at_start| event.map(|event| without_marks(event, at_start)));
        *at_start = match &passed {
            Some(Ok(event)) => at_start.map(|at_start| at_start && event.is_empty()),
            Some(Err(_)) | None => None,
        };
        std::future::ready(passed)
    })
}

/// An event, with a mark for each byte that is no text.
fn text(event: Vec<u8>) -> Vec<u8> {
    match String::from_utf8_lossy(&event) {
        Cow::Borrowed(_) => event,
        Cow::Owned(text) => text.into_bytes(),
    }
}

fn without_marks(mut event: Vec<u8>, at_start: bool) -> Vec<u8> {
    while at_start && event.starts_with(BYTE_ORDER_MARK) {
        event.drain(..BYTE_ORDER_MARK.len());
    }
    event
}

/// Whole lines, cut behind each blank one.
fn events(lines: &[u8]) -> Vec<Vec<u8>> {
    let mut is_new = true;
    let mut events: Vec<Vec<u8>> = Vec::new();
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        match events.last_mut() {
            Some(event) if !is_new => event.extend_from_slice(line),
            _ => events.push(line.to_vec()),
        }
        is_new = is_blank(line);
    }
    events
}

fn is_blank(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r\n")
}

fn whole_lines(
    url: String,
    bytes: impl Stream<Item = Result<Vec<u8>, ProviderError>> + Send + 'static,
) -> impl Stream<Item = Result<Vec<u8>, ProviderError>> + Send + 'static {
    let ends = bytes.map(Some).chain(stream::iter([None]));
    let state = (Box::pin(ends), Guard::default());
    stream::try_unfold(state, move |(mut bytes, mut guard)| {
        let url = url.clone();
        async move {
            loop {
                let lines = match bytes.next().await {
                    Some(Some(piece)) => guard.lines(&piece?),
                    Some(None) => Some(guard.rest()),
                    None => return Ok(None),
                };
                let Some(lines) = lines else {
                    let what = format!("an event of more than {} MiB", LONGEST >> 20);
                    return Err(ProviderError::Protocol { url, what });
                };
                if !lines.is_empty() {
                    return Ok(Some((lines, (bytes, guard))));
                }
            }
        }
    })
}

/// Holds the line begun but not ended, and counts the bytes since the last blank one.
#[derive(Debug, Default)]
struct Guard {
    held: Vec<u8>,
    n_bytes: usize,
}

impl Guard {
    /// The lines that `piece` completes, or `None` if an event is too long.
    fn lines(&mut self, piece: &[u8]) -> Option<Vec<u8>> {
        let ends = piece.iter().rposition(|byte| *byte == b'\n');
        let (complete, begun) = piece.split_at(ends.map_or(0, |at| at + 1));
        let mut lines = Vec::new();
        if !complete.is_empty() {
            lines.append(&mut self.held);
            lines.extend_from_slice(complete);
        }
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.n_bytes = if is_blank(line) {
                0
            } else {
                self.n_bytes + line.len()
            };
            if self.n_bytes > LONGEST {
                return None;
            }
        }
        self.held.extend_from_slice(begun);
        (self.n_bytes + self.held.len() <= LONGEST).then_some(lines)
    }

    fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

/// The data of each event; comments, empty data and the names of events are left out, because every format
/// repeats the name inside the data.
pub(super) fn data(
    url: String,
    bytes: impl Stream<Item = Result<Vec<u8>, ProviderError>> + Send + 'static,
) -> Frames<String> {
    let events = bounded(url.clone(), bytes).eventsource();
    events
        .filter_map(move |event| {
            let data = match event {
                Ok(event) if event.data.trim().is_empty() => None,
                Ok(event) => Some(Ok(event.data)),
                Err(EventStreamError::Transport(error)) => Some(Err(error)),
                Err(EventStreamError::Utf8(_)) => Some(Err(ProviderError::Protocol {
                    url: url.clone(),
                    what: "text that is not UTF-8".to_owned(),
                })),
                Err(EventStreamError::Parser(_)) => Some(Err(ProviderError::Protocol {
                    url: url.clone(),
                    what: "not an event stream".to_owned(),
                })),
            };
            std::future::ready(data)
        })
        .boxed()
}

/// The data of recorded bytes, delivered in `pieces`, for the tests of the decoders.
#[cfg(test)]
pub(super) async fn recorded(pieces: &[&[u8]]) -> Vec<Result<String, ProviderError>> {
    let pieces: Vec<_> = pieces.iter().map(|piece| Ok(piece.to_vec())).collect();
    data("http://test".into(), stream::iter(pieces))
        .collect()
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Traps 9 and 13.
    #[tokio::test]
    async fn events_cut_at_any_byte_are_the_same_and_noise_is_left_out() {
        let whole = ": comment\n\nevent: ping\ndata: {\"a\":\"é😀\"}\r\n\r\ndata:\n\nid: 7\nretry: 5\n\ndata: b\n\n";
        for cut in 0..=whole.len() {
            let (head, tail) = whole.as_bytes().split_at(cut);
            let data: Vec<String> = recorded(&[head, tail])
                .await
                .into_iter()
                .map(Result::unwrap)
                .collect();
            assert_eq!(data, ["{\"a\":\"é😀\"}", "b"], "{cut}");
        }
    }

    #[test]
    fn lines_are_cut_behind_each_event() {
        let lines = b"event: a\r\ndata: 1\r\n\r\ndata: 2\n\n: begun\n";
        let expected: [&[u8]; 3] = [b"event: a\r\ndata: 1\r\n\r\n", b"data: 2\n\n", b": begun\n"];
        assert_eq!(events(lines), expected);
    }

    #[tokio::test]
    async fn an_endless_event_is_refused() {
        let mebibyte = "data: x\n".repeat((1 << 20) / 8);
        let endless = stream::iter(0..).map(move |_| Ok(mebibyte.clone().into_bytes()));
        let got: Vec<_> = bounded("http://h".into(), endless).collect().await;
        assert!(got.len() < 20);
        assert!(matches!(
            got.last(),
            Some(Err(ProviderError::Protocol { .. }))
        ));
    }

    #[tokio::test]
    async fn bytes_that_are_no_text_are_marked_and_cost_nothing_else() {
        let got = recorded(&[
            b"data: x\n\ndata: caf\xc3",
            b" y\n\n",
            b"data: \xc3",
            b"\xa9\n\n",
        ])
        .await;
        let got: Vec<String> = got.into_iter().map(Result::unwrap).collect();
        assert_eq!(got, ["x", "caf\u{fffd} y", "\u{e9}"]);
    }

    #[tokio::test]
    async fn byte_order_marks_before_the_first_event_are_left_out() {
        let whole = b"\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\n";
        for cut in 0..whole.len() {
            let (head, tail) = whole.split_at(cut);
            let got = recorded(&[head, tail]).await;
            assert!(
                matches!(&got[..], [Ok(data)] if data == "a"),
                "{cut}: {got:?}"
            );
        }
    }
}
