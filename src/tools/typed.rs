//! A tool whose arguments are a type: the schema the model gets and the check of what it sends are derived from it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::keeping::{Keeping, origin};
use super::{Around, Detail, Done, Effect, Failure, Tool, Wish};
use crate::chat::{ToolSpec, Trained};

/// A tool as one writes it. The doc comments of the fields of `Arguments` are what the model reads of them.
#[async_trait]
pub trait Typed: Send + Sync + fmt::Debug + 'static {
    type Arguments: DeserializeOwned + JsonSchema + Send + Sync;

    const NAME: &'static str;
    /// A file under `config/tools/`; its first line is what the catalogue shows.
    const DESCRIPTION: &'static str;
    /// Where a vendor's models know it by another name.
    const TRAINED: Option<Trained> = None;

    fn effect(&self, arguments: &Self::Arguments) -> Result<Effect, Failure>;

    async fn preview(&self, _arguments: &Self::Arguments) -> Option<Detail> {
        None
    }

    async fn call(&self, arguments: Self::Arguments, around: &Around<'_>) -> Result<Done, Failure>;
}

/// A tool whose work is the agent's: it does nothing by itself, but for checking what is asked for.
pub trait AgentTool: Send + Sync + fmt::Debug + 'static {
    type Arguments: Clone + DeserializeOwned + JsonSchema + Send + Sync;

    /// As [`Typed::NAME`].
    const NAME: &'static str;
    /// As [`Typed::DESCRIPTION`].
    const DESCRIPTION: &'static str;

    fn wish(arguments: Self::Arguments) -> Result<Wish, Failure>;
}

#[async_trait]
impl<T: AgentTool> Typed for T {
    type Arguments = <T as AgentTool>::Arguments;

    const NAME: &'static str = <T as AgentTool>::NAME;
    const DESCRIPTION: &'static str = <T as AgentTool>::DESCRIPTION;

    fn effect(&self, arguments: &Self::Arguments) -> Result<Effect, Failure> {
        T::wish(arguments.clone()).map(|wish| wish.effect())
    }

    async fn call(&self, arguments: Self::Arguments, around: &Around<'_>) -> Result<Done, Failure> {
        let mut wish = T::wish(arguments)?;
        if let Wish::Keep(Keeping::Add(adding)) = &mut wish {
            adding.wanted.from = origin(around);
        }
        Ok(Done::Wish(wish))
    }
}

/// A typed tool among others.
pub fn tool<T: Typed>(inner: T) -> Arc<dyn Tool> {
    tool_as(inner, T::NAME)
}

/// The same under another name.
pub fn tool_as<T: Typed>(inner: T, name: &str) -> Arc<dyn Tool> {
    Arc::new(Checked {
        spec: ToolSpec {
            name: name.to_owned(),
            description: T::DESCRIPTION.trim().to_owned(),
            parameters: schema::<T::Arguments>(),
            trained: T::TRAINED,
        },
        inner,
    })
}

#[derive(Debug)]
struct Checked<T> {
    inner: T,
    spec: ToolSpec,
}

/// Every definition in its place: some servers know no references.
fn schema<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    schema.remove("title");
    let mut schema = schema.to_value();
    // A tool without arguments has an object without properties, which some servers want to see.
    if let Some(object) = schema.as_object_mut() {
        object
            .entry("properties")
            .or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    schema
}

impl<T: Typed> Checked<T> {
    fn check(&self, arguments: Value) -> Result<T::Arguments, Failure> {
        serde_json::from_value(arguments).map_err(|error| {
            Failure::Arguments(format!("{}: bad arguments: {error}", self.spec.name))
        })
    }
}

#[async_trait]
impl<T: Typed> Tool for Checked<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self, arguments: &Value) -> Result<Effect, Failure> {
        self.inner.effect(&self.check(arguments.clone())?)
    }

    async fn preview(&self, arguments: &Value) -> Option<Detail> {
        let arguments = self.check(arguments.clone()).ok()?;
        self.inner.preview(&arguments).await
    }

    async fn call(&self, arguments: Value, around: &Around<'_>) -> Result<Done, Failure> {
        self.inner.call(self.check(arguments)?, around).await
    }
}
