//! The last lines of a server, for `/mcp log`: what it wrote to its standard error, its log messages, and what it wrote
//! where only messages belong. Unit: one line. Invariant: never more than [`MAX_LINES`], each cut.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

const MAX_LINES: usize = 200;
const LONGEST: usize = 400;

/// Shared by whoever writes to it and whoever shows it; the lock is held for one line.
#[derive(Clone, Debug, Default)]
pub(super) struct Journal(Arc<Mutex<VecDeque<String>>>);

impl Journal {
    pub(super) fn note(&self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() {
            return;
        }
        let mut cut: String = line.chars().take(LONGEST).collect();
        if cut.len() < line.len() {
            cut.push('…');
        }
        let mut lines = self.lines();
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(cut);
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.lines().iter().cloned().collect()
    }

    pub(super) fn last(&self) -> Option<String> {
        self.lines().back().cloned()
    }

    fn lines(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a stream line by line to its end; no line is held longer than it is shown.
    pub(super) async fn collect(self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = [0; 4096];
        let mut line = Vec::new();
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            for &byte in &buffer[..read] {
                if byte == b'\n' {
                    self.note(&String::from_utf8_lossy(&line));
                    line.clear();
                } else if line.len() <= LONGEST * 4 {
                    line.push(byte);
                }
            }
        }
        self.note(&String::from_utf8_lossy(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_lines_are_kept_and_long_ones_cut() {
        let journal = Journal::default();
        let mut text = (0..300).fold(String::new(), |text, n| format!("{text}line {n}\n"));
        text.push_str(&"x".repeat(100_000));
        journal.clone().collect(text.as_bytes()).await;
        let lines = journal.all();
        assert_eq!(lines.len(), MAX_LINES);
        assert_eq!(lines[0], "line 101");
        assert_eq!(lines[198], "line 299");
        assert_eq!(lines[199], format!("{}…", "x".repeat(LONGEST)));
    }
}
