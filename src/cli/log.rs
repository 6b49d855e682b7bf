//! `--log FILE`: what happened, for finding out why. Never holds what was said, nor keys.

use std::fs::OpenOptions;
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
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(cannot)?;
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(Mutex::new(log));
    let wanted = Targets::new()
        .with_target("cogtrix", LevelFilter::DEBUG)
        .with_default(LevelFilter::WARN);
    tracing_subscriber::registry()
        .with(lines.with_filter(wanted))
        .init();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "started");
    Ok(())
}
