//! `edit_file`: one place of a file, found by its words, gets other words.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::changes::Changes;
use super::project::Project;
use super::replacement::{Which, replaced};
use super::words::shown;
use super::writing::{Rewrite, Writing};
use crate::tools::{Around, Detail, Done, Effect, Failure, Typed};

/// Edits files of the project folder.
#[derive(Debug)]
pub struct EditFile(Writing);

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Relative to the project folder.
    path: String,
    /// The exact text to replace, without line numbers, with enough around it to be there only once.
    old: String,
    /// What to put in its place.
    new: String,
    /// Replace it wherever it is.
    #[serde(default)]
    all: bool,
}

impl EditFile {
    pub fn new(project: Arc<Project>, changes: Arc<Changes>) -> Self {
        Self(Writing::new(project, changes))
    }
}

impl Arguments {
    fn rewrite(self) -> impl Rewrite {
        let name = shown(self.path.as_ref());
        let which = if self.all { Which::All } else { Which::TheOne };
        move |file: Option<&[u8]>| {
            let file = file.ok_or_else(|| {
                Failure::of(format!("{name} does not exist: create it with write_file"))
            })?;
            let text = str::from_utf8(file).map_err(|_| {
                Failure::of(format!("{name} is not UTF-8 text and cannot be edited"))
            })?;
            replaced(text, &self.old, &self.new, which)
                .map(String::into_bytes)
                .map_err(|miss| Failure::of(format!("{name} is unchanged: {miss}")))
        }
    }
}

#[async_trait]
impl Typed for EditFile {
    type Arguments = Arguments;

    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = include_str!("../../../config/tools/edit_file.md");

    fn effect(&self, arguments: &Arguments) -> Result<Effect, Failure> {
        if arguments.old.is_empty() {
            return Err(Failure::Arguments(
                "old must not be empty: name the text to replace, or use write_file".to_owned(),
            ));
        }
        self.0.effect(&arguments.path)
    }

    async fn preview(&self, arguments: &Arguments) -> Option<Detail> {
        let path = arguments.path.clone();
        self.0.preview(path, arguments.clone().rewrite()).await
    }

    async fn call(&self, arguments: Arguments, around: &Around<'_>) -> Result<Done, Failure> {
        self.effect(&arguments)?;
        let path = arguments.path.clone();
        self.0.call(path, arguments.rewrite(), around).await
    }
}
