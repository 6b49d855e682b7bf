//! Tools that do nothing, or what a test says.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::chat::ToolSpec;
use crate::tools::{Around, Done, Effect, Failure, Output, Tool};

/// A tool of this name that answers with its arguments and does nothing to the world.
pub fn named(name: &str) -> Arc<dyn Tool> {
    scripted(name, Effect::Nothing, |arguments| {
        Ok(Output::text(arguments.to_string(), "done"))
    })
}

/// A tool that has an effect and answers as a function says.
pub fn scripted(
    name: &str,
    effect: Effect,
    answer: impl Fn(&Value) -> Result<Output, Failure> + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    let spec = ToolSpec {
        name: name.to_owned(),
        description: format!("Does what {name} says.\nAnd more."),
        parameters: json!({"type": "object", "properties": {}}),
        trained: None,
    };
    Arc::new(Scripted {
        spec,
        effect,
        answer: Box::new(answer),
    })
}

type Answer = dyn Fn(&Value) -> Result<Output, Failure> + Send + Sync;

struct Scripted {
    spec: ToolSpec,
    effect: Effect,
    answer: Box<Answer>,
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.spec.name)
    }
}

#[async_trait]
impl Tool for Scripted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self, _: &Value) -> Result<Effect, Failure> {
        Ok(self.effect.clone())
    }

    async fn call(&self, arguments: Value, _: &Around<'_>) -> Result<Done, Failure> {
        (self.answer)(&arguments).map(Done::Output)
    }
}
