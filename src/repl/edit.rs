//! A file in the person's own editor. Unit: one run of it; it has the terminal until it ends.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use tokio::process::Command;

use crate::hint::Hint;

/// Why a file was not edited.
#[derive(Debug, thiserror::Error)]
pub(super) enum EditError {
    #[error("no editor is set; the file is {}", path.display())]
    NoEditor { path: PathBuf },
    #[error("there is no terminal to edit at; the file is {}", path.display())]
    NoTerminal { path: PathBuf },
    #[error("cannot start the editor {editor:?}")]
    Start {
        editor: String,
        #[source]
        source: io::Error,
    },
    #[error("the editor {editor:?} ended with {status}")]
    Failed { editor: String, status: ExitStatus },
}

impl Hint for EditError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::NoEditor { .. } | Self::Start { .. } => {
                Some("set EDITOR, or edit it by hand: it is read anew with each turn".into())
            }
            Self::NoTerminal { .. } => {
                Some("edit it by hand: it is read anew with each turn".into())
            }
            Self::Failed { .. } => None,
        }
    }
}

/// Opens `path`; `editor` is a command as a shell reads it, such as `code --wait`.
pub(super) async fn edit(editor: Option<&str>, path: &Path) -> Result<(), EditError> {
    let editor = editor.ok_or_else(|| EditError::NoEditor {
        path: path.to_owned(),
    })?;
    let started = Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "editor"])
        .arg(path)
        .status()
        .await;
    let status = started.map_err(|source| EditError::Start {
        editor: editor.to_owned(),
        source,
    })?;
    if status.success() {
        return Ok(());
    }
    Err(EditError::Failed {
        editor: editor.to_owned(),
        status,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Disk, LocalDisk};

    #[tokio::test]
    async fn the_editor_gets_the_file_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a $(b) 'c'.md");
        LocalDisk.replace(&path, b"old\n").unwrap();
        edit(Some("printf new >"), &path).await.unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    }

    #[tokio::test]
    async fn what_goes_wrong_is_told_with_the_file_or_the_editor() {
        let path = Path::new("/x/MEMORY.md");
        let error = edit(None, path).await.unwrap_err().to_string();
        assert!(error.contains("/x/MEMORY.md"), "{error}");
        let error = edit(Some("false"), path).await.unwrap_err();
        assert!(matches!(error, EditError::Failed { .. }), "{error}");
    }
}
