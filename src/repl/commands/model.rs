//! `/model`: which models there are, and switching between them.

use super::{CommandError, Desk, Next};

pub(super) async fn run(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        return Next::answer(list(desk).await);
    }
    let choice = desk.catalog.choose(Some(arguments)).await?;
    desk.catalog.check(&choice).await?;
    let model = choice.provider.model().to_string();
    let warning = desk.agent.switch_model(choice.provider);
    Ok(Next::with(format!("Switched to {model}"), warning))
}

/// The active model, the aliases of the config file, and what the active server has.
async fn list(desk: &Desk) -> String {
    let provider = desk.agent.provider();
    let active = provider.model();
    let mut lines = vec![format!("* {active}")];
    let aliases = desk.catalog.described_aliases();
    lines.extend(aliases.map(|(alias, model)| format!("  {alias}: {model}")));
    match provider.models().await {
        Ok(models) => {
            let latest = format!("{}:latest", active.model);
            let is_active = |model: &&String| **model == active.model || **model == latest;
            let others = models.iter().filter(|model| !is_active(model));
            lines.extend(others.map(|model| format!("  {}/{model}", active.provider)));
        }
        Err(error) => lines.push(format!(
            "  (could not list the models of {}: {error})",
            active.provider
        )),
    }
    lines.join("\n")
}
