//! `/model`: which models there are, and switching between them.

use super::{CommandError, Next, ReplContext};
use crate::agent::Agent;
use crate::provider::{Catalog, chat_models};

pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        return Next::answer(list(&repl.agent, &repl.env.catalog).await);
    }
    let choice = repl.env.catalog.choose(Some(arguments)).await?;
    repl.env.catalog.check(&choice).await?;
    let model = choice.provider.model().to_string();
    repl.assumed = false;
    let warning = repl.agent.switch_model(choice.provider);
    Ok(Next::with(format!("Switched to {model}"), warning))
}

/// The active model, the aliases of the config file, and what the active server has.
pub(super) async fn list(agent: &Agent, catalog: &Catalog) -> String {
    let provider = agent.provider();
    let active = provider.model();
    let mut lines = vec![format!("* {active}")];
    let aliases = catalog.described_aliases();
    lines.extend(aliases.map(|(alias, model)| format!("  {alias}: {model}")));
    match provider.offers().await {
        Ok(models) => {
            let latest = format!("{}:latest", active.model);
            let models = chat_models(models).into_iter();
            let others = models.filter(|name| *name != active.model && *name != latest);
            lines.extend(others.map(|name| format!("  {}/{name}", active.provider)));
        }
        Err(error) => lines.push(format!(
            "  (could not list the models of {}: {error})",
            active.provider
        )),
    }
    lines.join("\n")
}
