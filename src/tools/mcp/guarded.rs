//! What a server writes, bounded before anything parses it: a message is a line, and a line that is too long or nested
//! too deep ends the stream with the reason kept. The parser behind would drop such a line in silence, and the call it
//! answers would wait for its time to run out. What is no message is noted for the person. Unit: one byte. Invariant:
//! no byte is changed; after an end there is nothing more.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use super::journal::Journal;

/// As much as the HTTP transport takes in one message.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// The parser goes to 128.
const DEEPEST: usize = 100;
/// As much of a line that is no message is noted.
const NOTED: usize = 400;

/// Why a stream was ended, if it was.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict(Arc<Mutex<Option<String>>>);

impl Verdict {
    pub(super) fn get(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set(&self, why: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }
}

/// A reader that looks at what passes.
#[derive(Debug)]
pub(super) struct Guarded<R> {
    inner: R,
    line: Line,
    verdict: Verdict,
    journal: Journal,
}

/// How far the line that is being read has come.
#[derive(Debug, Default)]
struct Line {
    length: usize,
    depth: usize,
    within: Within,
    beginning: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Structure,
    Text,
    Escape,
}

impl<R> Guarded<R> {
    pub(super) fn new(inner: R, verdict: Verdict, journal: Journal) -> Self {
        Self {
            inner,
            line: Line::default(),
            verdict,
            journal,
        }
    }

    fn look(&mut self, bytes: &[u8]) -> Result<(), String> {
        for &byte in bytes {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                if let Some(noise) = line.noise() {
                    self.journal
                        .note(&format!("on its standard output: {noise}"));
                }
            } else {
                self.line.push(byte)?;
            }
        }
        Ok(())
    }
}

impl Line {
    fn push(&mut self, byte: u8) -> Result<(), String> {
        self.length += 1;
        if self.length > LONGEST_LINE {
            return Err(format!(
                "it sent a message larger than {} MB",
                LONGEST_LINE / (1024 * 1024)
            ));
        }
        if self.beginning.len() < NOTED {
            self.beginning.push(byte);
        }
        self.within = match (self.within, byte) {
            (Within::Text, b'\\') => Within::Escape,
            (Within::Text, b'"') => Within::Structure,
            (Within::Structure, b'"') | (Within::Escape, _) => Within::Text,
            (within, _) => within,
        };
        if self.within == Within::Structure {
            match byte {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        if self.depth > DEEPEST && self.beginning.starts_with(b"{") {
            return Err(format!("it sent a message nested deeper than {DEEPEST}"));
        }
        Ok(())
    }

    /// The beginning of a line that is no message.
    fn noise(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.beginning);
        let text = text.trim().trim_start_matches('\u{FEFF}');
        (!text.is_empty() && !text.starts_with('{')).then(|| text.to_owned())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Guarded<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.verdict.get().is_some() {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(context, buffer))?;
        let read = buffer.filled()[before..].to_vec();
        if let Err(why) = this.look(&read) {
            this.verdict.set(why);
            buffer.set_filled(before);
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    async fn through(text: &[u8]) -> (Vec<u8>, Option<String>, Vec<String>) {
        let (verdict, journal) = (Verdict::default(), Journal::default());
        let mut guarded = Guarded::new(text, verdict.clone(), journal.clone());
        let mut read = Vec::new();
        guarded.read_to_end(&mut read).await.unwrap();
        (read, verdict.get(), journal.all())
    }

    #[tokio::test]
    async fn messages_pass_unchanged_and_noise_is_noted() {
        let text = b"{\"a\": \"[[[\\\"{{{\"}\nStarting up...\n\n{}\n";
        let (read, verdict, noted) = through(text).await;
        assert_eq!((read.as_slice(), verdict), (text.as_slice(), None));
        assert_eq!(noted, ["on its standard output: Starting up..."]);
    }

    #[tokio::test]
    async fn a_line_without_end_ends_the_stream() {
        let (read, verdict, _) = through(&vec![b'x'; LONGEST_LINE + 1]).await;
        assert!(read.len() <= LONGEST_LINE);
        assert_eq!(
            verdict.as_deref(),
            Some("it sent a message larger than 16 MB")
        );
    }

    #[tokio::test]
    async fn a_message_nested_too_deep_ends_the_stream() {
        let deep = |levels| format!("{{\"a\":{}{}}}\n", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(through(deep(DEEPEST - 1).as_bytes()).await.1, None);
        let verdict = through(deep(DEEPEST).as_bytes()).await.1;
        assert_eq!(
            verdict.as_deref(),
            Some("it sent a message nested deeper than 100")
        );
    }
}
