//! The chat with someone who types, and with a script that pipes lines in.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::args::ChatArgs;
use super::report::{CliError, Exit};
use crate::provider::{Answered, SetUp, chat_models};
use crate::repl::Signals;
use crate::repl::chat::{Chat, Ended};
use crate::repl::completion::{Listed, Offer, Offers, Paths};
use crate::repl::input::{HistoryFile, LineReader, TerminalInput};
use crate::repl::repl_context::ReplContext;
use crate::repl::sessions::{option, word};
use crate::term::{EditKeys, Output, Stops, TerminalState};

/// How long completion waits for the models of servers.
const LISTING: Duration = Duration::from_millis(500);

/// Each line as if typed.
pub(super) async fn lines(
    repl: &mut ReplContext,
    output: &mut Output,
    signals: &mut Signals,
) -> Result<Exit, CliError> {
    let stdin = std::io::BufReader::new(std::io::stdin());
    let mut input = LineReader::lines(stdin).map_err(|source| CliError::Runtime { source })?;
    let mut chat = Chat::new(repl, &mut input, output, signals);
    Ok(match chat.run().await {
        Ended::Well => Exit::Ok,
        Ended::WithErrors => Exit::Failed,
        Ended::Interrupted => Exit::Interrupted,
    })
}

/// However a person leaves, it is well.
pub(super) async fn terminal(
    repl: &mut ReplContext,
    history: Option<HistoryFile>,
    keys: EditKeys,
    output: &mut Output,
    signals: &mut Signals,
) -> Result<Exit, CliError> {
    output.keep_thinking_at("/details");
    let mut state = TerminalState::remember(output.policy().paint);
    let completer = Box::new(offers(repl));
    let (typed, is_answer_due) = output.find_theme();
    let stops = state.silence().unwrap_or_else(|error| {
        let warning = format!("cannot hide what you type during a reply: {error}");
        output.warning(&warning);
        Stops::default()
    });
    let input = TerminalInput {
        typed,
        is_answer_due,
        reflows: output.policy().features.reflows,
        stops,
        history,
        completer,
        paint: output.policy().paint,
        keys,
    };
    let mut input = LineReader::terminal(input).map_err(|source| CliError::Runtime { source })?;
    let mut chat = Chat::new(repl, &mut input, output, signals);
    chat.run().await;
    state.restore();
    Ok(Exit::Ok)
}

/// The last line of a chat whose session is saved: the command that goes on with it.
pub(super) fn farewell(repl: &ReplContext, args: &ChatArgs, output: &mut Output) {
    if args.private {
        output.notice("Private session: nothing was saved.");
        return;
    }
    if repl.agent.is_blank() || args.no_lock {
        return;
    }
    let place = |flag: &str, path: &Option<std::path::PathBuf>| {
        path.as_ref().map_or_else(String::new, |path| {
            format!("{flag} {} ", word(&path.display().to_string()))
        })
    };
    let config = place("-c", &args.config_file);
    let data = place("--data-dir", &args.data_dir);
    let workspace = place("--workspace", &args.workspace);
    let name = option(repl.session().name());
    output.notice(&format!(
        "Saved. Resume with: cogtrix {config}{data}{workspace}{name}"
    ));
}

/// What completion offers behind a command.
fn offers(repl: &ReplContext) -> Offers {
    let modes = repl.agent.memory().modes().iter().map(|mode| {
        let preset = mode.preset();
        (preset.name.clone(), preset.summary.clone())
    });
    let store = Arc::clone(&repl.env.store);
    let sessions = move || {
        let sessions = store.list().unwrap_or_default().into_iter();
        sessions
            .map(|info| (info.name.to_string(), info.title))
            .collect()
    };
    let files = repl.agent.toolbox().files.as_ref();
    let workspace = repl.agent.long_term().map(|parts| parts.workspace.clone());
    let name = repl.session().name().clone();
    let notes = move || {
        let names = workspace
            .iter()
            .flat_map(|workspace| workspace.names(&name));
        names.map(|name| (name, String::new())).collect()
    };
    Offers {
        modes: modes.collect(),
        models: models(repl),
        presets: repl
            .presets
            .iter()
            .map(|preset| (preset.name.clone(), preset.sets.join(", ")))
            .collect(),
        sessions: Listed::by(sessions),
        settings: Arc::clone(&repl.settings),
        files: Listed::by(notes),
        paths: files.map(|files| Paths::of(Arc::clone(&files.project))),
    }
}

/// Aliases, and the models of the servers that are set up.
fn models(repl: &ReplContext) -> Listed {
    let (catalog, runtime) = (repl.env.catalog.clone(), Handle::current());
    Listed::by(move || {
        let listed = catalog.providers().into_iter();
        let asked = listed
            .filter(|provider| provider.set_up == SetUp::Yes)
            .map(async |provider| {
                let answered = timeout(LISTING, catalog.ask(&provider.name)).await;
                let Ok(Ok(Answered { url, models, .. })) = answered else {
                    return Vec::new();
                };
                let named = |model| (format!("{}/{model}", provider.name), url.clone());
                chat_models(models)
                    .into_iter()
                    .map(named)
                    .collect::<Vec<Offer>>()
            });
        // In the thread of the editor, which nothing else waits for.
        let servers = runtime.block_on(join_all(asked));
        let aliases = catalog.described_aliases();
        let aliases = aliases.map(|(alias, model)| (alias.to_owned(), model));
        aliases.chain(servers.into_iter().flatten()).collect()
    })
}
