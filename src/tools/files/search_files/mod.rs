//! `search_files`: lines that match a pattern, in all files that `.gitignore` does not leave out.
//!
//! The search runs in a thread of its own and stops between two reads, when the person or the clock says so. What it
//! had found by then is the answer to the clock.

mod matches;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ignore::overrides::{Override, OverrideBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::project::{Project, ProjectError};
use super::walk::{DEEPEST, Hidden, Kind, Scope, walk};
use super::words::{count, room, shown};
use super::writing::blocking;
use crate::tools::{Around, Done, Effect, Failure, Output, Typed};
use matches::{Search, matcher};

const LONGEST: Duration = Duration::from_secs(20);
const CONTEXT_MAX: usize = 10;
const TEXT_MAX: usize = 256 << 10;

/// Searches files of the project folder.
#[derive(Debug)]
pub struct SearchFiles {
    project: Arc<Project>,
    /// Characters of matches.
    room: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// A regular expression (Rust syntax), matched within lines.
    pattern: String,
    /// A file or folder to search, relative to the project folder, which is the default.
    path: Option<String>,
    /// Only files like this: "*.rs", "src/**/*.py"; "!*.md" for all others.
    glob: Option<String>,
    #[serde(default)]
    case: Case,
    /// Lines to show around each match, at most 10.
    #[serde(default)]
    context: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Case {
    #[default]
    Sensitive,
    Insensitive,
}

impl SearchFiles {
    /// What it finds fits into results of `result_chars` characters.
    pub fn new(project: Arc<Project>, result_chars: usize) -> Self {
        let room = room(result_chars).min(TEXT_MAX);
        Self { project, room }
    }

    /// What is wrong with the arguments comes out here, before anything is read.
    fn search(&self, arguments: &Arguments) -> Result<(PathBuf, Override, Search), Failure> {
        if arguments.context > CONTEXT_MAX {
            return Err(Failure::Arguments(format!(
                "context must be at most {CONTEXT_MAX}"
            )));
        }
        let path = self.project.locate(path(arguments))?;
        let glob = chosen(arguments.glob.as_deref())?;
        let matcher = matcher(&arguments.pattern, arguments.case == Case::Insensitive)?;
        let search = Search::new(matcher, arguments.context, self.room);
        Ok((path, glob, search))
    }
}

fn path(arguments: &Arguments) -> &str {
    arguments.path.as_deref().unwrap_or(".")
}

fn chosen(glob: Option<&str>) -> Result<Override, Failure> {
    // Paths are relative to the project folder, and so are patterns with a `/`.
    let mut chosen = OverrideBuilder::new("");
    if let Some(glob) = glob {
        chosen
            .add(glob)
            .map_err(|error| Failure::Arguments(format!("bad glob: {error}")))?;
    }
    chosen
        .build()
        .map_err(|error| Failure::Arguments(format!("bad glob: {error}")))
}

#[async_trait]
impl Typed for SearchFiles {
    type Arguments = Arguments;

    const NAME: &'static str = "search_files";
    const DESCRIPTION: &'static str = include_str!("../../../../config/tools/search_files.md");

    fn effect(&self, arguments: &Arguments) -> Result<Effect, Failure> {
        self.search(arguments)?;
        Ok(Effect::Reads(PathBuf::from(path(arguments))))
    }

    async fn call(&self, arguments: Arguments, around: &Around<'_>) -> Result<Done, Failure> {
        let (path, glob, search) = self.search(&arguments)?;
        let project = self.project.clone();
        let stop = around.cancel.child_token();
        // The thread ends even if nobody waits for this call any more.
        let _guard = stop.clone().drop_guard();
        let told = stop.clone();
        let searching = blocking(move || run(&project, &path, &glob, search, &told));
        tokio::pin!(searching);
        let done = tokio::select! {
            done = &mut searching => done,
            () = tokio::time::sleep(LONGEST) => {
                stop.cancel();
                searching.await
            }
        };
        // The thread is at its end in any case.
        if around.cancel.is_cancelled() {
            return Err(Failure::Interrupted);
        }
        Ok(told_of(&done?))
    }
}

fn run(
    project: &Project,
    path: &Path,
    glob: &Override,
    mut search: Search,
    stop: &CancellationToken,
) -> Result<Search, Failure> {
    if !project.metadata(path)?.is_dir() {
        let file = project.open_file(path)?;
        search.file(&shown(path), file, stop);
        return Ok(search);
    }
    let scope = Scope {
        depth: DEEPEST,
        hidden: Hidden::Skipped,
    };
    let walked = walk(project, path, scope, |found| {
        if search.is_over(stop) {
            return ControlFlow::Break(());
        }
        if found.kind() != Kind::File || glob.matched(found.path, false).is_ignore() {
            return ControlFlow::Continue(());
        }
        match found.open() {
            Ok(file) => search.file(&shown(found.path), file, stop),
            // Nothing that somebody who searches could miss.
            Err(ProjectError::Kept { .. }) => {}
            Err(_) => search.n_unread += 1,
        }
        ControlFlow::Continue(())
    })?;
    search.is_short |= walked.is_break();
    Ok(search)
}

fn told_of(search: &Search) -> Done {
    let mut text = search.text.clone();
    if search.n_matches == 0 {
        text.push_str("[no matches]\n");
    }
    let more = search.n_matches - search.n_shown;
    if more > 0 {
        let least = if search.is_full() { "at least " } else { "" };
        let note = format!("[… and {least}{more} more: narrow the pattern, path or glob]\n");
        text.push_str(&note);
    } else if search.is_full() {
        text.push_str("[there may be more: narrow the pattern, path or glob]\n");
    } else if search.is_short {
        text.push_str("[stopped: it took too long; narrow the path or glob]\n");
    }
    if search.n_unread > 0 {
        let unread = count(search.n_unread, "file");
        text.extend(["[", &unread, " could not be read]\n"]);
    }
    let brief = match search.n_matches {
        0 => "no matches".to_owned(),
        found => format!(
            "{} in {}",
            count(found, "match"),
            count(search.n_files, "file")
        ),
    };
    Output::content(text.trim_end(), brief).into()
}

#[cfg(test)]
mod tests;
