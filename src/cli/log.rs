//! `--log FILE`: what happened, for finding out why. Never holds what was said, nor keys.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Mutex;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

use super::report::CliError;

/// Starts logging where a file is named.
pub(super) fn start(file: Option<&Path>) -> Result<(), CliError> {
    let Some(path) = file else { return Ok(()) };
    let cannot = |source| CliError::File {
        action: "open",
        path: path.to_owned(),
        source,
    };
    let log = open(path).map_err(cannot)?;
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(Mutex::new(log));
    let wanted = Targets::new()
        .with_target("cogtrix", LevelFilter::DEBUG)
        // Its warnings quote messages and addresses.
        .with_target("rmcp", LevelFilter::OFF)
        .with_default(LevelFilter::WARN);
    tracing_subscriber::registry()
        .with(lines.with_filter(wanted))
        .init();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "started");
    Ok(())
}

/// Goes on with a log, or begins one that is the person's alone.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.create(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    #[test]
    fn a_new_log_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let log = super::open(&folder.path().join("log")).unwrap();
        assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
