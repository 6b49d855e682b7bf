//! Bringing files back to what they held before a turn, and showing what became of them since.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Change, Changes, ChangesError, FILE_MAX, digest, index};
use crate::chat::{SessionName, TurnId};
use crate::tools::files::diff::difference;
use crate::tools::files::project::{Project, ProjectError};
use crate::tools::files::words::shown;

/// What became of the files of a turn. Files that held already what they held before it are in none of the lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// They hold again what they held before.
    pub back: Vec<PathBuf>,
    /// They were not there before, and are gone.
    pub removed: Vec<PathBuf>,
    /// They stayed as they are, and why.
    pub kept: Vec<(PathBuf, String)>,
}

impl Restored {
    /// One line for each file.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let line = |word: &str, path: &Path| format!("{word} {}", path.display());
        let back = self.back.iter().map(move |path| line("restored", path));
        let removed = self.removed.iter();
        let removed = removed.map(move |path| line("removed", path));
        let kept = self.kept.iter();
        let kept = kept.map(move |(path, why)| format!("{} ({why})", line("left unchanged", path)));
        back.chain(removed).chain(kept)
    }
}

enum Outcome {
    Back,
    Removed,
    WasSo,
}

/// What a file holds now.
enum Now {
    Nothing,
    Content(Vec<u8>),
    TooLarge,
}

impl Changes {
    /// Brings each file back to what it held before that turn. Turns are taken back newest first: of an older one, only
    /// the files come back that no later turn changed.
    pub fn restore(
        &self,
        project: &Project,
        session: &SessionName,
        turn: TurnId,
    ) -> Result<Restored, ChangesError> {
        let _held = self.hold();
        let root = index::root_of(project);
        let mut restored = Restored::default();
        for change in self.of(session, turn)? {
            let outcome = if change.project == root {
                self.bring_back(project, session, &change)
            } else {
                Err(elsewhere(&change.project))
            };
            match outcome {
                Ok(Outcome::Back) => restored.back.push(change.path),
                Ok(Outcome::Removed) => restored.removed.push(change.path),
                Ok(Outcome::WasSo) => {}
                Err(why) => restored.kept.push((change.path, why)),
            }
        }
        Ok(restored)
    }

    /// A unified diff of every file that one of these turns changed: from before the oldest of them to now.
    pub fn diff(
        &self,
        project: &Project,
        session: &SessionName,
        turns: &[TurnId],
    ) -> Result<String, ChangesError> {
        let mut oldest_first = turns.to_vec();
        oldest_first.sort_unstable();
        let mut first = BTreeMap::new();
        for turn in oldest_first {
            for change in self.of(session, turn)? {
                let place = (change.project, change.path);
                first.entry(place).or_insert(change.before);
            }
        }
        let root = index::root_of(project);
        let diff = |((changed_in, path), before): ((String, PathBuf), _)| {
            if changed_in == root {
                self.diff_of(project, session, &path, before)
            } else {
                Ok(format!("{}: {}\n", shown(&path), elsewhere(&changed_in)))
            }
        };
        first.into_iter().map(diff).collect()
    }

    fn diff_of(
        &self,
        project: &Project,
        session: &SessionName,
        path: &Path,
        before: Option<String>,
    ) -> Result<String, ChangesError> {
        let before = before
            .map(|before| self.kept(session, &before))
            .transpose()?;
        let name = shown(path);
        Ok(match now(project, path) {
            Ok(Now::Nothing) => difference(&name, before.as_deref(), None).text,
            Ok(Now::Content(now)) => difference(&name, before.as_deref(), Some(&now)).text,
            Ok(Now::TooLarge) => format!("{name}: too large to compare\n"),
            Err(error) => format!("{error}\n"),
        })
    }

    fn bring_back(
        &self,
        project: &Project,
        session: &SessionName,
        change: &Change,
    ) -> Result<Outcome, String> {
        let held = match now(project, &change.path).map_err(|error| error.to_string())? {
            Now::Nothing => None,
            Now::Content(content) => Some(digest(&content)),
            Now::TooLarge => return Err("it was changed since".to_owned()),
        };
        if held == change.before {
            return Ok(Outcome::WasSo);
        }
        if let Some(between) = change.between.last() {
            return Err(self.changed_between(session, between.as_deref()));
        }
        match &held {
            None => return Err("it was removed since".to_owned()),
            Some(held) if !change.after.contains(held) => {
                return Err("it was changed since".to_owned());
            }
            Some(_) => {}
        }
        let Some(before) = &change.before else {
            let removed = project.remove(&change.path);
            return removed
                .map(|()| Outcome::Removed)
                .map_err(|error| error.to_string());
        };
        let content = self
            .kept(session, before)
            .map_err(|error| error.to_string())?;
        project
            .replace(&change.path, &content)
            .map(|()| Outcome::Back)
            .map_err(|error| error.to_string())
    }

    /// Of two changes of a turn and what somebody else did between them, no one can tell what is to be taken back.
    fn changed_between(&self, session: &SessionName, held: Option<&str>) -> String {
        match held {
            None => "it was removed between two changes".to_owned(),
            Some(held) => {
                let copy = self.of_session(session).join(held);
                format!(
                    "it was changed from outside between two changes; that version is in {}",
                    copy.display()
                )
            }
        }
    }
}

fn elsewhere(project: &str) -> String {
    format!("it was changed in {project}")
}

fn now(project: &Project, path: &Path) -> Result<Now, ProjectError> {
    match project.read_if_there(path, FILE_MAX) {
        Ok(Some(content)) => Ok(Now::Content(content)),
        Ok(None) => Ok(Now::Nothing),
        Err(ProjectError::TooLarge { .. }) => Ok(Now::TooLarge),
        Err(error) => Err(error),
    }
}
