//! Streams whose text a test reads.

use super::{Device, Streams};
use crate::testing::Capture;

/// Returns both streams of a device of so many columns, captured as one.
pub(crate) fn streams(seen: &Capture, device: Device, columns: usize) -> Streams {
    Streams {
        stdout: Box::new(seen.clone()),
        stderr: Box::new(seen.clone()),
        stdout_device: device,
        stderr_device: device,
        columns: Some(columns),
    }
}
