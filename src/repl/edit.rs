//! A file in the person's own editor. Unit: one run of it; it has the terminal until it ends.
//!
//! Invariant: the editor has a copy, so that what others write into the file meanwhile is not saved over; what the
//! person wrote is in the file, or in a copy that is named.

use std::borrow::Cow;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal as SystemSignal, kill_process};
use tempfile::Builder;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::{Signal, Signals};
use crate::chat::SessionName;
use crate::files::{Disk, LocalDisk};
use crate::hint::Hint;
use crate::long_term::notes::{Draft, NotesError, TakenIn, Workspace};
use crate::term::Lent;

/// Why a file was not edited.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("no editor set; the file is {}", path.display())]
    NoEditor { path: PathBuf },
    #[error("no editor is set")]
    NoEditorForText,
    #[error("editing needs a terminal")]
    NoTerminalForText,
    #[error("cannot hand the text to an editor")]
    Text(#[source] io::Error),
    #[error("cannot open an editor without a terminal; the file is {}", path.display())]
    NoTerminal { path: PathBuf },
    #[error("cannot start the editor {editor:?}")]
    Start {
        editor: String,
        #[source]
        source: io::Error,
    },
    #[error("the editor {editor:?} {}{}", failure(*status), in_copy(copy.as_deref()))]
    Failed {
        editor: String,
        status: ExitStatus,
        /// Where something was saved, what it is in.
        copy: Option<PathBuf>,
    },
    #[error("the editor deleted the file; {} is unchanged", file.display())]
    Gone { file: PathBuf },
    #[error("the edited file is not text; it is in {}", path.display())]
    NotText { path: PathBuf },
    #[error("could not save your changes; they are in {}", copy.display())]
    NotTaken {
        copy: PathBuf,
        #[source]
        source: NotesError,
    },
    #[error("cannot read or write the editor's copy {}", path.display())]
    Copy {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

fn failure(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (_, Some(signal)) if signal == SystemSignal::INT.as_raw() => "was interrupted".to_owned(),
        (_, Some(signal)) => format!("was killed by signal {signal}"),
        (Some(0), None) => "was told to end".to_owned(),
        (Some(code), None) => format!("failed with exit code {code}"),
        (None, None) => "failed".to_owned(),
    }
}

fn in_copy(copy: Option<&Path>) -> String {
    copy.map_or_else(String::new, |copy| {
        format!("; what it saved is in {}", copy.display())
    })
}

impl Hint for EditError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::NoEditor { .. } => {
                Some("set EDITOR, or edit the file directly: it is re-read every turn".into())
            }
            Self::NoEditorForText | Self::Start { .. } => Some("set EDITOR or VISUAL".into()),
            Self::NoTerminal { .. } => {
                Some("edit the file directly: it is re-read every turn".into())
            }
            Self::NotTaken { source, .. } => source.hint(),
            Self::Gone { .. } => Some("use `/memory forget` to remove a single item".into()),
            Self::Failed { .. }
            | Self::NotText { .. }
            | Self::Copy { .. }
            | Self::NoTerminalForText
            | Self::Text(_) => None,
        }
    }
}

impl EditError {
    fn with_copy(self, saved: Option<PathBuf>) -> Self {
        match self {
            Self::Failed { editor, status, .. } => Self::Failed {
                editor,
                status,
                copy: saved,
            },
            other => other,
        }
    }
}

/// Who edits what, and where the copy is.
pub(super) struct Edit<'a> {
    pub(super) draft: &'a Draft,
    pub(super) workspace: &'a Workspace,
    pub(super) disk: &'a dyn Disk,
    /// For copies.
    pub(super) folder: PathBuf,
    /// Of the session: no other one has it open.
    pub(super) session: &'a SessionName,
}

impl Edit<'_> {
    /// Lets the person edit it; `editor` is a command as a shell reads it, such as `code --wait`. Tells what came of
    /// it.
    pub(super) async fn run(
        &self,
        editor: Option<&str>,
        signals: &mut Signals,
    ) -> Result<String, EditError> {
        let editor = editor.ok_or_else(|| EditError::NoEditor {
            path: self.draft.path.clone(),
        })?;
        let copy = self.copy();
        let path = copy.clone();
        let cannot = |source| EditError::Copy { path, source };
        let text = self.draft.text.as_bytes();
        self.disk.replace(&copy, text).map_err(cannot)?;
        let ended = open(editor, &copy, signals).await;
        let taken = match self.disk.read(&copy) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(EditError::Gone {
                file: self.draft.path.clone(),
            }),
            Err(source) => Err(EditError::Copy {
                path: copy.clone(),
                source,
            }),
            Ok(edited) if ended.is_err() || edited == text => {
                // What a failed editor saved may be all there is of it.
                if edited == text {
                    self.drop_copy(&copy);
                }
                Ok(TakenIn::Unchanged)
            }
            Ok(edited) => self.take_in(edited, &copy),
        };
        ended.map_err(|error| error.with_copy(self.disk.size(&copy).is_ok().then_some(copy)))?;
        Ok(told(taken?))
    }

    fn take_in(&self, edited: Vec<u8>, copy: &Path) -> Result<TakenIn, EditError> {
        let path = copy.to_owned();
        let not_text = |_| EditError::NotText { path };
        let edited = String::from_utf8(edited).map_err(not_text)?;
        let taken = self.workspace.take_in(self.draft, &edited);
        let taken = taken.map_err(|source| EditError::NotTaken {
            copy: copy.to_owned(),
            source,
        })?;
        self.drop_copy(copy);
        Ok(taken)
    }

    /// A name that is free.
    fn copy(&self) -> PathBuf {
        let file = self.draft.path.file_name().unwrap_or_default();
        let file = format!("{}-{}", self.session, file.to_string_lossy());
        let others = (2..).map(|n| self.folder.join(format!("{n}-{file}")));
        let is_free = |path: &PathBuf| self.disk.size(path).is_err();
        let mut names = std::iter::once(self.folder.join(&file)).chain(others);
        names
            .find(is_free)
            .unwrap_or_else(|| self.folder.join(&file))
    }

    fn drop_copy(&self, copy: &Path) {
        if let Err(error) = self.disk.remove(copy) {
            tracing::warn!("{} stays: {error}", copy.display());
        }
    }
}

fn told(taken: TakenIn) -> String {
    let counts = "Saved; takes effect with the next turn";
    match taken {
        TakenIn::Unchanged => {
            "Nothing changed; if your editor returns at once, make it wait, as with `code --wait`"
                .to_owned()
        }
        TakenIn::Written { others: 0 } => counts.to_owned(),
        TakenIn::Written { others: 1 } => format!("{counts}; one line noted meanwhile was kept"),
        TakenIn::Written { others } => {
            format!("{counts}; {others} lines noted meanwhile were kept")
        }
    }
}

/// The person's editor.
#[derive(Clone, Debug, Default)]
pub struct TextEditor {
    /// A command as a shell reads it.
    pub command: Option<String>,
}

impl TextEditor {
    /// Lets the person edit a file where it is.
    pub async fn open(&self, path: &Path, signals: &mut Signals) -> Result<(), EditError> {
        let editor = self.command.as_deref();
        open(editor.ok_or(EditError::NoEditorForText)?, path, signals).await
    }

    /// Lets the person edit a text; returns what they saved, without the line break at its end.
    pub async fn edit(&self, text: &str, signals: &mut Signals) -> Result<String, EditError> {
        let editor = self.command.as_deref();
        let editor = editor.ok_or(EditError::NoEditorForText)?;
        let file = Builder::new().prefix("cogtrix-").suffix(".md").tempfile();
        let mut file = file.map_err(EditError::Text)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.flush());
        written.map_err(EditError::Text)?;
        let ended = open(editor, file.path(), signals).await;
        let saved = LocalDisk.read(file.path()).map_err(EditError::Text)?;
        let saved = match (ended, String::from_utf8(saved)) {
            (Err(error), Ok(saved)) if saved == text => return Err(error),
            (Ok(()), Ok(saved)) => saved,
            (ended, saved) => {
                let (_, path) = file.keep().map_err(|error| EditError::Text(error.error))?;
                ended.map_err(|error| error.with_copy(Some(path.clone())))?;
                return saved.map_err(|_| EditError::NotText { path });
            }
        };
        Ok(saved.strip_suffix('\n').unwrap_or(&saved).to_owned())
    }
}

/// Opens `path`. Ctrl-C is the editor's; what tells this process to end ends the editor first.
async fn open(editor: &str, path: &Path, signals: &mut Signals) -> Result<(), EditError> {
    /// For the editor to save what it has.
    const GRACE: Duration = Duration::from_secs(3);
    let _lent = Lent::new();
    let cannot = |source| EditError::Start {
        editor: editor.to_owned(),
        source,
    };
    // A plain command takes the place of the shell, so that a signal reaches it.
    let exec = if editor.contains([';', '|', '&', '(', '{', '=', '\n']) {
        ""
    } else {
        "exec "
    };
    let started = Command::new("sh")
        .args(["-c", &format!("{exec}{editor} \"$1\""), "editor"])
        .arg(path)
        .spawn();
    let mut child = started.map_err(cannot)?;
    let ended = loop {
        tokio::select! {
            biased;
            status = child.wait() => break status.map(|status| (status, status.success())),
            signal = signals.next() => if signal != Signal::Interrupt {
                break end(&mut child, GRACE).await.map(|status| (status, false));
            },
        }
    };
    let (status, is_done) = ended.map_err(cannot)?;
    if is_done {
        return Ok(());
    }
    Err(EditError::Failed {
        editor: editor.to_owned(),
        status,
        copy: None,
    })
}

/// Asks the editor to end, and ends it where it does not.
async fn end(child: &mut Child, grace: Duration) -> io::Result<ExitStatus> {
    if let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
        // Fails only where it has ended already.
        kill_process(pid, SystemSignal::TERM).ok();
    }
    if let Ok(status) = timeout(grace, child.wait()).await {
        return status;
    }
    child.kill().await?;
    child.wait().await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::long_term::notes::WorkspaceSettings;

    #[tokio::test]
    async fn what_a_failed_editor_saved_of_a_text_is_kept_and_named() {
        let mut signals = Signals::listen().unwrap();
        let editor = |command: &str| TextEditor {
            command: Some(command.to_owned()),
        };
        let error = editor("false").edit("old", &mut signals).await.unwrap_err();
        assert!(!error.to_string().contains(".md"), "{error}");
        for command in ["f() { printf new > \"$1\"; false; }; f", "printf '\\377' >"] {
            let error = editor(command).edit("old", &mut signals).await;
            let error = error.unwrap_err().to_string();
            let path = error.rsplit(' ').next().unwrap();
            assert_ne!(std::fs::read(path).unwrap(), b"old", "{error}");
            std::fs::remove_file(path).unwrap();
        }
        assert_eq!(
            editor("printf new >")
                .edit("old", &mut signals)
                .await
                .unwrap(),
            "new"
        );
    }

    /// What comes of an editor, the file it was about, and the copies that are left.
    async fn edited(
        editor: Option<&str>,
        is_protected: bool,
    ) -> (Result<String, EditError>, String, usize) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("a $(b) 'c'");
        let path = root.join("MEMORY.md");
        LocalDisk.replace(&path, b"old\n").unwrap();
        let workspace = Workspace::new(Arc::new(LocalDisk), root, WorkspaceSettings::default());
        let session: SessionName = "work".parse().unwrap();
        let source = workspace.named("MEMORY.md", &session).unwrap();
        let draft = workspace.draft(&source).unwrap().unwrap();
        let mut permissions = path.metadata().unwrap().permissions();
        permissions.set_readonly(is_protected);
        std::fs::set_permissions(&path, permissions).unwrap();
        let edit = Edit {
            draft: &draft,
            workspace: &workspace,
            disk: &LocalDisk,
            folder: folder.path().join("the copies"),
            session: &session,
        };
        let told = edit.run(editor, &mut Signals::listen().unwrap()).await;
        let text = std::fs::read_to_string(&path).unwrap();
        let copies = LocalDisk.list(&edit.folder).unwrap().len();
        (told, text, copies)
    }

    #[tokio::test]
    async fn the_editor_gets_the_file_whatever_its_name() {
        let (told, text, copies) = edited(Some("printf new >"), false).await;
        assert!(told.unwrap().contains("takes effect with the next turn"));
        assert_eq!((text.as_str(), copies), ("new", 0));
    }

    #[tokio::test]
    async fn what_goes_wrong_is_told_with_the_file_or_the_editor_and_nothing_typed_is_lost() {
        for (editor, is_protected, words, copies) in [
            (None, false, "MEMORY.md", 0),
            (Some("false"), false, "failed with exit code 1", 0),
            (Some("kill -s INT $$ #"), false, "was interrupted", 0),
            (
                Some("f() { echo new > \"$1\"; false; }; f"),
                false,
                "the copies",
                1,
            ),
            (Some("rm"), false, "deleted the file", 0),
            (Some("printf '\\377' >"), false, "not text", 1),
            (Some("printf new >"), true, "the copies", 1),
        ] {
            let (told, text, left) = edited(editor, is_protected).await;
            let error = crate::hint::chain(&told.unwrap_err());
            assert!(error.contains(words), "{error}");
            assert_eq!((text.as_str(), left), ("old\n", copies), "{error}");
        }
        let (told, text, copies) = edited(Some("true"), false).await;
        assert!(told.unwrap().contains("Nothing changed; if your editor"));
        assert_eq!((text.as_str(), copies), ("old\n", 0));
    }
}
