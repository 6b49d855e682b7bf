//! What `write_file` and `edit_file` have in common: read, make the new content, keep a copy, replace, tell the
//! difference.

use std::path::PathBuf;
use std::sync::Arc;

use super::changes::{Changes, FILE_MAX};
use super::diff::{Difference, difference};
use super::project::{Project, ProjectError};
use super::words::{shown, size};
use crate::chat::{SessionName, TurnId};
use crate::tools::shell::is_protected;
use crate::tools::{Around, Detail, Done, Effect, Failure, Output};

/// Where tools write, and where they keep what was there.
#[derive(Clone, Debug)]
pub(super) struct Writing {
    project: Arc<Project>,
    changes: Arc<Changes>,
}

/// Makes the new content of the old one, `None` where there is no file yet.
pub(super) trait Rewrite:
    FnOnce(Option<&[u8]>) -> Result<Vec<u8>, Failure> + Send + 'static
{
}

impl<F: FnOnce(Option<&[u8]>) -> Result<Vec<u8>, Failure> + Send + 'static> Rewrite for F {}

/// A change that is thought out and not done.
struct Planned {
    /// As the model named it, inside the project folder.
    path: PathBuf,
    /// Behind all links.
    real: PathBuf,
    old: Option<Vec<u8>>,
    new: Vec<u8>,
}

impl Writing {
    pub(super) fn new(project: Arc<Project>, changes: Arc<Changes>) -> Self {
        Self { project, changes }
    }

    pub(super) fn effect(&self, path: &str) -> Result<Effect, Failure> {
        let located = self.project.locate(path)?;
        let real = self.project.resolve(&located)?;
        let path = PathBuf::from(path);
        // By its own name, too: a link that is protected may lead to what is not, or to nothing yet.
        let (project, git) = (self.project.path(), &self.project.git);
        Ok(if is_protected(project, git, &[&located, &real]) {
            Effect::WritesProtected(path)
        } else {
            Effect::Writes(path)
        })
    }

    pub(super) async fn preview(&self, path: String, rewrite: impl Rewrite) -> Option<Detail> {
        let this = self.clone();
        let planned = blocking(move || this.plan(&path, rewrite)).await.ok()?;
        Some(Detail::Diff(planned.difference().text))
    }

    pub(super) async fn call(
        &self,
        path: String,
        rewrite: impl Rewrite,
        around: &Around<'_>,
    ) -> Result<Done, Failure> {
        if around.cancel.is_cancelled() {
            return Err(Failure::Interrupted);
        }
        let this = self.clone();
        let (session, turn) = (around.session.name().clone(), around.turn);
        blocking(move || {
            let _held = this.changes.hold();
            let planned = this.plan(&path, rewrite)?;
            this.write(&session, turn, &planned)?;
            Ok(planned.told())
        })
        .await
    }

    fn plan(&self, path: &str, rewrite: impl Rewrite) -> Result<Planned, Failure> {
        let path = self.project.locate(path)?;
        let real = self.project.resolve(&path)?;
        let old = match self.project.read_if_there(&real, FILE_MAX) {
            Err(ProjectError::TooLarge { .. }) => return Err(too_large(&shown(&path))),
            found => found?,
        };
        let new = rewrite(old.as_deref())?;
        if new.len() as u64 > FILE_MAX {
            return Err(too_large("the new content"));
        }
        Ok(Planned {
            path,
            real,
            old,
            new,
        })
    }

    fn write(&self, session: &SessionName, turn: TurnId, planned: &Planned) -> Result<(), Failure> {
        if planned.is_nothing() {
            return Ok(());
        }
        let Planned { real, old, new, .. } = planned;
        self.changes
            .before(&self.project, session, turn, real, old.as_deref())
            .and_then(|()| self.changes.after(&self.project, session, turn, real, new))
            .map_err(|error| {
                Failure::of(format!(
                    "{} is unchanged, because no copy could be saved for undo: {error}",
                    shown(&planned.path)
                ))
            })?;
        Ok(self.project.replace(real, new)?)
    }
}

impl Planned {
    fn is_nothing(&self) -> bool {
        self.old.as_ref() == Some(&self.new)
    }

    fn difference(&self) -> Difference {
        difference(&shown(&self.path), self.old.as_deref(), Some(&self.new))
    }

    fn told(&self) -> Done {
        let name = shown(&self.path);
        if self.is_nothing() {
            return Output::text(format!("{name} already has this content"), "unchanged").into();
        }
        let Difference { text, brief } = self.difference();
        Output {
            text: format!("{name}: {brief}"),
            brief,
            detail: Some(Detail::Diff(text)),
            ..Output::default()
        }
        .into()
    }
}

fn too_large(what: &str) -> Failure {
    Failure::of(format!(
        "nothing was written: {what} is larger than {}, too large to save a copy for undo",
        size(FILE_MAX)
    ))
}

/// Off the threads that answer. A closure that panicked is a failure of this call alone.
pub(in crate::tools) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Failure::of(format!("the tool crashed: {error}"))))
}

#[cfg(test)]
mod tests;
