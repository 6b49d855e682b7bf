//! `/mode`: the memory modes, and switching between them (C64-C67).

use super::{CommandError, Next, ReplContext};

pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    if arguments.is_empty() {
        return Next::answer(list(repl));
    }
    let before = repl.agent.memory().mode().name.clone();
    if arguments.trim().to_lowercase() == before {
        return Next::answer(format!("Already in {before} mode"));
    }
    let warning = repl.agent.switch_mode(arguments)?;
    let name = &repl.agent.memory().mode().name;
    Ok(Next::with(format!("Switched to {name} mode"), warning))
}

/// One line each, the active one marked, with the window as it is configured (C67).
fn list(repl: &ReplContext) -> String {
    let memory = repl.agent.memory();
    let active = &memory.mode().name;
    let rows = memory.modes().iter().map(|mode| {
        let preset = mode.preset();
        let mark = if preset.name == *active { '*' } else { ' ' };
        format!(
            "{mark} {:<13} {:>3} messages  {}",
            preset.name, preset.window, preset.summary
        )
    });
    rows.collect::<Vec<_>>().join("\n")
}
