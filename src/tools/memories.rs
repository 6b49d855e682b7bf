//! `memories`: the model's own files, in six operations (Q35-Q37). Unit: one call. What may go wrong with paths and
//! texts is known in `notes::memories`; here arguments become an operation.

use std::path::PathBuf;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::files::blocking;
use super::{Around, Done, Effect, Failure, Output, Typed};
use crate::chat::Trained;
use crate::long_term::notes::Workspace;
use crate::long_term::notes::memories::{MemoriesError, Operation};
use crate::memory::known_secrets;
use crate::text::secrets::{Known, MASK};

/// Works on the model's files.
#[derive(Debug)]
pub struct Memories(Workspace);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    command: Command,
    /// Such as /memories/notes.md; of all commands but rename.
    path: Option<String>,
    /// For view: first and last line, from 1; a last of -1 is the end.
    view_range: Option<Vec<i64>>,
    /// For create: the whole text.
    file_text: Option<String>,
    /// For `str_replace`: a text that is in the file once.
    old_str: Option<String>,
    new_str: Option<String>,
    /// For insert: behind so many lines.
    insert_line: Option<usize>,
    insert_text: Option<String>,
    /// For rename.
    old_path: Option<String>,
    new_path: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Command {
    View,
    Create,
    StrReplace,
    Insert,
    Delete,
    Rename,
}

impl Memories {
    pub fn new(workspace: Workspace) -> Self {
        Self(workspace)
    }
}

impl Arguments {
    fn operation(self) -> Result<Operation, Failure> {
        let path = || wanted(self.path.clone(), "path");
        Ok(match self.command {
            Command::View => Operation::View {
                path: path()?,
                range: self.view_range.as_deref().map(range).transpose()?,
            },
            Command::Create => Operation::Create {
                path: path()?,
                text: wanted(self.file_text, "file_text")?,
            },
            Command::StrReplace => Operation::StrReplace {
                path: path()?,
                old: wanted(self.old_str, "old_str")?,
                new: self.new_str.unwrap_or_default(),
            },
            Command::Insert => Operation::Insert {
                path: path()?,
                line: wanted(self.insert_line, "insert_line")?,
                text: wanted(self.insert_text, "insert_text")?,
            },
            Command::Delete => Operation::Delete { path: path()? },
            Command::Rename => Operation::Rename {
                from: wanted(self.old_path.or(self.path), "old_path")?,
                to: wanted(self.new_path, "new_path")?,
            },
        })
    }

    fn checked(self) -> Result<Operation, Failure> {
        let operation = self.operation()?;
        operation
            .check()
            .map_err(|error| Failure::Arguments(error.to_string()))?;
        Ok(operation)
    }
}

/// Takes secrets out of what is to be written; whether there were any (Q10).
fn mask(operation: &mut Operation, known: &Known) -> bool {
    let (Operation::Create { text, .. }
    | Operation::Insert { text, .. }
    | Operation::StrReplace { new: text, .. }) = operation
    else {
        return false;
    };
    let without = known.masked(text).into_owned();
    let is_masked = without != *text;
    *text = without;
    is_masked
}

/// Refuses a new name with a secret in it; under one that is there a file is still read and deleted.
fn refuse_secret_name(operation: &Operation, known: &Known) -> Result<(), Failure> {
    let (Operation::Create { path, .. } | Operation::Rename { to: path, .. }) = operation else {
        return Ok(());
    };
    let stems = path.split('/').filter_map(|name| name.split('.').next());
    let mut names = path.split('/').chain(stems);
    if names.any(|name| known.masked_after("", name) != name) {
        return Err(Failure::of("the path contains a secret; choose another"));
    }
    Ok(())
}

fn wanted<T>(value: Option<T>, name: &str) -> Result<T, Failure> {
    value.ok_or_else(|| Failure::Arguments(format!("this command needs {name}")))
}

fn range(range: &[i64]) -> Result<(i64, i64), Failure> {
    match *range {
        [first, last] => Ok((first, last)),
        _ => Err(Failure::Arguments(
            "view_range must be [first, last]".to_owned(),
        )),
    }
}

#[async_trait]
impl Typed for Memories {
    type Arguments = Arguments;

    const NAME: &'static str = "memories";
    const DESCRIPTION: &'static str = include_str!("../../config/tools/memories.md");
    const TRAINED: Option<Trained> = Some(Trained {
        kind: "memory_20250818",
        name: "memory",
        displaced: "memory_store",
        marker: "command",
        beta: "context-management-2025-06-27",
    });

    fn effect(&self, arguments: &Arguments) -> Result<Effect, Failure> {
        let operation = arguments.clone().checked()?;
        let path = PathBuf::from(operation.path());
        Ok(match operation {
            Operation::View { .. } => Effect::Nothing,
            Operation::Delete { .. } => Effect::Deletes(path),
            Operation::Create { .. }
            | Operation::StrReplace { .. }
            | Operation::Insert { .. }
            | Operation::Rename { .. } => Effect::Keeps(path),
        })
    }

    async fn call(&self, arguments: Arguments, around: &Around<'_>) -> Result<Done, Failure> {
        let mut operation = arguments.checked()?;
        let known = known_secrets(around.session);
        refuse_secret_name(&operation, &known)?;
        let is_masked = mask(&mut operation, &known);
        let reads = matches!(operation, Operation::View { .. });
        let workspace = self.0.clone();
        let mut told = blocking(move || {
            workspace
                .memories(&operation)
                .map_err(|error| failure(&error))
        })
        .await?;
        if is_masked {
            told = format!("{told}; secrets are not saved, {MASK} replaces them");
        }
        let brief = if reads {
            let n_lines = told.lines().count();
            format!("{n_lines} line{}", if n_lines == 1 { "" } else { "s" })
        } else {
            told.clone()
        };
        Ok(Output::content(told, brief).into())
    }
}

/// With what is behind it, which a model can act on as well: a full disk, a folder that may not be written.
fn failure(error: &MemoriesError) -> Failure {
    Failure::of(crate::hint::chain(error))
}
