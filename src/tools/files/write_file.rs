//! `write_file`: a whole file, new or in the place of another.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::changes::Changes;
use super::project::Project;
use super::writing::Writing;
use crate::tools::{Around, Detail, Done, Effect, Failure, Typed};

/// Writes files of the project folder.
#[derive(Debug)]
pub struct WriteFile(Writing);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Relative to the project folder; missing folders are created.
    path: String,
    /// All that the file is to hold.
    content: String,
}

impl WriteFile {
    pub fn new(project: Arc<Project>, changes: Arc<Changes>) -> Self {
        Self(Writing::new(project, changes))
    }
}

#[async_trait]
impl Typed for WriteFile {
    type Arguments = Arguments;

    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = include_str!("../../../config/tools/write_file.md");

    fn effect(&self, arguments: &Arguments) -> Result<Effect, Failure> {
        self.0.effect(&arguments.path)
    }

    async fn preview(&self, arguments: &Arguments) -> Option<Detail> {
        let content = arguments.content.clone().into_bytes();
        let rewrite = move |_: Option<&[u8]>| Ok(content);
        self.0.preview(arguments.path.clone(), rewrite).await
    }

    async fn call(&self, arguments: Arguments, around: &Around<'_>) -> Result<Done, Failure> {
        let content = arguments.content.into_bytes();
        let rewrite = move |_: Option<&[u8]>| Ok(content);
        self.0.call(arguments.path, rewrite, around).await
    }
}
