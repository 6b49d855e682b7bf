//! A stream that keeps what is written to it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Clones share what was written: one goes into the code under test, one stays with the test.
#[derive(Clone, Debug, Default)]
pub struct Capture(Arc<Mutex<Vec<u8>>>);

impl Capture {
    pub fn text(&self) -> String {
        let bytes = self
            .0
            .lock()
            .expect("no writer panics while it holds the lock");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Capture {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self
            .0
            .lock()
            .expect("no writer panics while it holds the lock");
        written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
