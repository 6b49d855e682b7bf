//! `/status`: the session, the model, memory and what tools may do, on one screen.

use super::{CommandError, Environment, Next, nothing};
use crate::agent::Agent;
use crate::long_term::notes::{Captured, Receipt};
use crate::provider::WindowSource;
use crate::repl::listing::{count, thousand};
use crate::repl::repl_context::home_relative;
use crate::tools::policy::{Asking, Writing};
use crate::tools::shell::Sandbox;

pub(super) async fn run(
    agent: &Agent,
    env: &Environment,
    arguments: &str,
) -> Result<Next, CommandError> {
    nothing("status", arguments)?;
    let session = agent.session();
    let provider = agent.provider();
    let abilities = provider.abilities().await;
    let mode = agent.memory().mode();
    let began = session
        .meta()
        .created_at
        .map_or_else(|| "now".to_owned(), |at| at.to_string());
    let home = env.places.home.as_deref();
    let files = env.places.config.iter();
    let files: Vec<String> = files.map(|path| home_relative(path, home)).collect();
    let config = match files.as_slice() {
        [] => "none".to_owned(),
        files => files.join(" and "),
    };
    let (model, window) = if provider.is_offline() {
        (
            "none; replies only quote earlier messages".to_owned(),
            String::new(),
        )
    } else {
        let size = abilities.context_window.0;
        let window = window(agent, size, abilities.window_source);
        (provider.model().to_string(), window)
    };
    let rows = [
        ("session", format!("{}, started {began}", session.name())),
        (
            "messages",
            format!(
                "{} in {}",
                session.live_messages(),
                count(session.live_turns().count(), "turn")
            ),
        ),
        (
            "mode",
            format!("{} (window of {} messages)", mode.name, mode.window),
        ),
        ("model", model),
        ("window", window),
        ("memory", memory(agent)),
        ("tools", tools(agent, env)),
        ("folder", agent.settings().directory.clone()),
        ("data", home_relative(&env.places.data, home)),
        ("config", config),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let lines = rows
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name:<9} {value}"));
    Next::answer(lines.collect::<Vec<_>>().join("\n"))
}

fn window(agent: &Agent, size: u32, source: WindowSource) -> String {
    let source = source.as_str();
    let size = thousand(u64::from(size));
    agent.window_use().map_or_else(
        || format!("{size} tokens ({source})"),
        |usage| {
            let about = if usage.is_estimate { "about " } else { "" };
            format!(
                "{about}{} of {size} tokens used, {:.0} % ({source})",
                thousand(u64::from(usage.input.0)),
                usage.percent_used.floor()
            )
        },
    )
}

/// What outlives the window: how much of each there is.
fn memory(agent: &Agent) -> String {
    let session = agent.session();
    let summarised = session.hybrid().running();
    let summarised = summarised.map_or(0, |summary| summary.upto - summary.from);
    let captured = agent
        .long_term()
        .and_then(|long_term| long_term.captures().all().ok())
        .map_or(0, |captures| {
            let is_kept = |it: &&Receipt| !it.forgotten && it.what.category != Captured::MASKED;
            captures.iter().filter(is_kept).count()
        });
    let entries = agent.entries().in_force().count();
    let counts = [
        count(entries, "entry"),
        format!("{captured} noted"),
        format!("{} pinned", session.pins().len()),
        format!("{} summarised", count(summarised, "message")),
    ];
    counts.join(", ")
}

/// What tools may do, and where commands run.
fn tools(agent: &Agent, env: &Environment) -> String {
    let toolbox = agent.toolbox();
    let asked = match (toolbox.stance.writing, toolbox.stance.asking) {
        (Writing::Refused, _) => "read-only".to_owned(),
        (_, Asking::Never) => "never ask".to_owned(),
        (_, Asking::WhenNeeded) => match toolbox.rules().len() {
            0 => "ask before changes".to_owned(),
            rules => format!("ask before changes, {}", count(rules, "rule")),
        },
    };
    let sandbox = match (env.sandbox, toolbox.lacks_sandbox()) {
        (Sandbox::Off, _) => "off",
        (_, true) => "incomplete here, so every command needs approval",
        (Sandbox::On, false) => "on",
        (Sandbox::Net, false) => "on, with network",
    };
    format!("{asked}; sandbox {sandbox}")
}
