//! `/info`: where one is.

use super::{CommandError, Desk, Next, nothing};
use crate::repl::listing::count;

pub(super) async fn run(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    nothing("info", arguments)?;
    let session = desk.session();
    let provider = desk.agent.provider();
    let abilities = provider.abilities().await;
    let mode = desk.agent.memory().mode();
    let began = session
        .meta()
        .created_at
        .map_or_else(|| "now".to_owned(), |at| at.to_string());
    let config = desk
        .places
        .config
        .as_ref()
        .map_or_else(|| "none".to_owned(), |path| path.display().to_string());
    let rows = [
        ("session", session.name().to_string()),
        ("began", began),
        (
            "messages",
            format!(
                "{} in {}",
                session.messages().len(),
                count(session.turns().len(), "turn")
            ),
        ),
        (
            "mode",
            format!("{} (window of {} messages)", mode.name, mode.window),
        ),
        ("model", provider.model().to_string()),
        (
            "window",
            format!(
                "{} tokens ({})",
                abilities.context_window,
                abilities.window_source.as_str()
            ),
        ),
        ("data", desk.places.data.display().to_string()),
        ("config", config),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let lines = rows
        .iter()
        .map(|(name, value)| format!("{name:<9} {value}"));
    Next::answer(lines.collect::<Vec<_>>().join("\n"))
}
