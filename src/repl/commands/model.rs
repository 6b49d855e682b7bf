//! `/model`: which models there are, and switching between them.

use super::{CommandError, Next, ReplContext};
use crate::agent::Agent;
use crate::provider::{Catalog, Choice, ProviderError, chat_models, is_like};

pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        return Next::answer(list(&repl.agent, &repl.env.catalog).await);
    }
    let choice = choose(&repl.env.catalog, arguments).await?;
    repl.env.catalog.check(&choice).await?;
    let model = choice.provider.model().to_string();
    repl.assumed = false;
    let warning = repl.agent.switch_model(choice.provider);
    Ok(Next::with(format!("Switched to {model}"), warning))
}

/// The model of this name; one without its provider is looked for at all of them.
async fn choose(catalog: &Catalog, name: &str) -> Result<Choice, ProviderError> {
    let Err(unknown) = catalog.knows(name) else {
        return catalog.choose(Some(name)).await;
    };
    let listed = catalog.listed().await;
    let (named, others): (Vec<_>, Vec<_>) = listed.iter().partition(|it| it.model == name);
    let meant: Vec<String> = match named.as_slice() {
        [one] => return catalog.choose(Some(&one.to_string())).await,
        [] => {
            let like = others.into_iter().filter(|it| is_like(name, &it.model));
            like.map(ToString::to_string).take(SHOWN).collect()
        }
        several => several.iter().map(ToString::to_string).collect(),
    };
    if meant.is_empty() {
        return Err(unknown);
    }
    Err(ProviderError::Setup {
        what: unknown.to_string(),
        hint: format!("did you mean {}?", meant.join(" or ")),
    })
}

/// Models that are named where none has the name that was typed.
const SHOWN: usize = 3;

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
