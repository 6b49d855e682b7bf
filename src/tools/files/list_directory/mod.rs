//! `list_directory`: what is in a folder, folders first, without what `.gitignore` leaves out.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::project::Project;
use super::walk::{Found, Hidden, Kind, Scope, walk};
use super::words::{count, shown, size};
use super::writing::blocking;
use crate::tools::{Around, Done, Effect, Failure, Output, Typed};

const ENTRIES_MAX: u64 = 500;
/// The rest is counted up to here.
const COUNTED_MAX: u64 = 100_000;
const DEPTH_MAX: usize = 10;

/// Lists folders of the project folder.
#[derive(Debug)]
pub struct ListDirectory(Arc<Project>);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Relative to the project folder, which is the default.
    path: Option<String>,
    /// How many levels, 1 to 10; 1 by default.
    depth: Option<usize>,
}

impl ListDirectory {
    pub fn new(project: Arc<Project>) -> Self {
        Self(project)
    }
}

impl Arguments {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }

    fn depth(&self) -> Result<usize, Failure> {
        let depth = self.depth.unwrap_or(1);
        if (1..=DEPTH_MAX).contains(&depth) {
            Ok(depth)
        } else {
            Err(Failure::Arguments(format!(
                "depth must be 1 to {DEPTH_MAX}"
            )))
        }
    }
}

#[async_trait]
impl Typed for ListDirectory {
    type Arguments = Arguments;

    const NAME: &'static str = "list_directory";
    const DESCRIPTION: &'static str = include_str!("../../../../config/tools/list_directory.md");

    fn effect(&self, arguments: &Arguments) -> Result<Effect, Failure> {
        arguments.depth()?;
        self.0.locate(arguments.path())?;
        Ok(Effect::Reads(PathBuf::from(arguments.path())))
    }

    async fn call(&self, arguments: Arguments, around: &Around<'_>) -> Result<Done, Failure> {
        let depth = arguments.depth()?;
        let path = self.0.locate(arguments.path())?;
        let (project, cancel) = (self.0.clone(), around.cancel.clone());
        blocking(move || list(&project, &path, depth, &cancel)).await
    }
}

fn list(
    project: &Project,
    path: &Path,
    depth: usize,
    cancel: &CancellationToken,
) -> Result<Done, Failure> {
    let (text, n_found) = listing(project, path, depth, cancel)?;
    Ok(Output::content(text, count(n_found, "entry")).into())
}

/// Names in a folder, a line each, and how many there are.
pub(in crate::tools::files) fn listing(
    project: &Project,
    path: &Path,
    depth: usize,
    cancel: &CancellationToken,
) -> Result<(String, u64), Failure> {
    let scope = Scope {
        depth,
        hidden: Hidden::Shown,
    };
    let (mut text, mut n_found) = (String::new(), 0);
    let walked = walk(project, path, scope, |found| {
        if cancel.is_cancelled() || n_found == COUNTED_MAX {
            return ControlFlow::Break(());
        }
        if n_found < ENTRIES_MAX {
            line(&mut text, found);
        }
        n_found += 1;
        ControlFlow::Continue(())
    })?;
    if cancel.is_cancelled() {
        return Err(Failure::Interrupted);
    }
    if n_found > ENTRIES_MAX {
        let more = if walked.is_break() { "more than " } else { "" };
        let rest = n_found - ENTRIES_MAX;
        let note = format!("[{more}{rest} more; list a subfolder]");
        text.push_str(&note);
    }
    if text.is_empty() {
        text.push_str("[empty folder]");
    }
    Ok((text.trim_end().to_owned(), n_found))
}

fn line(text: &mut String, found: &Found<'_>) {
    let indent = "  ".repeat(found.depth - 1);
    let name = shown(found.name());
    let rest = match found.kind() {
        Kind::Folder => "/".to_owned(),
        Kind::File => found
            .size()
            .map_or(String::new(), |bytes| format!("  {}", size(bytes))),
        Kind::Link => found
            .target()
            .map_or(String::new(), |target| format!(" -> {}", shown(&target))),
        Kind::Special => "  (special file)".to_owned(),
    };
    writeln!(text, "{indent}{name}{rest}").expect("a string takes every character");
}

#[cfg(test)]
mod tests;
