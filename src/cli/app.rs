//! The composition root: the only place that knows every concrete type.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::args::ChatArgs;
use super::report::{CliError, Exit};
use super::stdin::{self, Stdin};
use super::{ask, trust};
use crate::agent::{self, Agent};
use crate::chat::SessionName;
use crate::clock::{Clock, SystemClock};
use crate::config::{self, Config, Inputs, Source, TextSource, Texts};
use crate::files::{Disk, LocalDisk};
use crate::memory::{Memory, Prompt, Prompts, Registry};
use crate::provider::{Catalog, Choice, Delivery, Known, Provider};
use crate::repl::Signals;
use crate::repl::chat::{Chat, Ended};
use crate::repl::commands::Offers;
use crate::repl::desk::{Desk, Places};
use crate::repl::input::{HistoryFile, LineReader, TerminalInput};
use crate::repl::listing;
use crate::store::{FileStore, Opened, Repair, SessionStore};
use crate::term::{Output, TerminalState, Verbosity};

/// How this run talks to the person.
enum Manner {
    OneShot(String),
    Lines,
    Terminal,
    /// Nothing was asked and nobody is there.
    Silent,
}

/// A chat: one prompt, lines from a pipe, or a person at a terminal.
pub(super) async fn chat(args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let machine = disk(args);
    let (config, inputs) = trust::load(args, machine.as_ref(), output)?;
    let manner = manner(args)?;
    if matches!(manner, Manner::Silent) {
        output.notice("no prompt: nothing was piped in");
        return Ok(Exit::Ok);
    }
    let mut signals = Signals::listen().map_err(|source| CliError::Runtime { source })?;
    let store: Arc<dyn SessionStore> = Arc::new(store(args, machine.clone(), &config));
    let name = session_name(args, &config, store.as_ref())?;
    let texts = Texts::load(inputs.folders.config.as_deref())?;
    let memory = memory(&config, &texts)?;
    let catalog = catalog(&config, &inputs, &texts)?;
    let Choice { provider, notice } = catalog.choose(None).await?;
    let opened = store.open(&name, patience(&manner, config.settings.lock_wait))?;
    let repairs = opened.repairs.clone();

    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let settings = agent::Settings {
        context: config.settings.context.clone(),
        delivery: if args.no_stream {
            Delivery::Whole
        } else {
            Delivery::Streamed
        },
        directory: home_relative(&inputs),
    };
    told_in_detail(&config, provider.as_ref(), output).await;
    let greeting = Greeting {
        hint: mode_hint(&opened, &config),
        notice,
        repairs,
    };
    let agent = Agent::new(provider, memory, opened, clock.clone(), settings);
    let mut desk = Desk {
        agent,
        store,
        catalog,
        clock,
        lock_wait: Duration::ZERO,
        places: Places {
            data: config.settings.data_dir.clone(),
            config: config.file.clone(),
        },
        columns: output.columns(),
    };
    let exit = match manner {
        Manner::OneShot(prompt) => {
            greeting.aside(output);
            ask::run(&mut desk.agent, prompt, args, output, &mut signals).await?
        }
        Manner::Lines => {
            greeting.aside(output);
            lines(&mut desk, output, &mut signals).await?
        }
        Manner::Terminal => {
            greeting.banner(&desk, args, output);
            let history = inputs.folders.line_history().map(|path| HistoryFile {
                path,
                disk: machine,
            });
            terminal(&mut desk, history, output, &mut signals).await?
        }
        Manner::Silent => Exit::Ok,
    };
    desk.agent.close()?;
    Ok(exit)
}

fn manner(args: &ChatArgs) -> Result<Manner, CliError> {
    if args.lines {
        return Ok(Manner::Lines);
    }
    let given = match (&args.prompt, &args.prompt_file) {
        (Some(prompt), _) => Some(prompt.clone()),
        (None, Some(file)) => Some(stdin::read_file(file)?),
        (None, None) => None,
    };
    let piped = match stdin::kind() {
        Stdin::Terminal => String::new(),
        Stdin::Piped => stdin::read()?,
    };
    let asked = given.is_some();
    let prompt = stdin::joined(given, &piped);
    Ok(match (prompt.is_empty(), asked, stdin::kind()) {
        (true, true, _) => {
            return Err(CliError::Usage {
                problem: "the prompt is empty".to_owned(),
                hint: "say something with -p, or pipe it in",
            });
        }
        (true, false, Stdin::Piped) => Manner::Silent,
        (true, false, Stdin::Terminal) => Manner::Terminal,
        (false, ..) => Manner::OneShot(prompt),
    })
}

/// A one-shot run waits for a session that is open elsewhere; a person is told at once.
fn patience(manner: &Manner, lock_wait: Duration) -> Duration {
    match manner {
        Manner::OneShot(_) | Manner::Lines => lock_wait,
        Manner::Terminal | Manner::Silent => Duration::ZERO,
    }
}

/// The machine's disk.
#[cfg(not(feature = "testing"))]
pub(super) fn disk(_: &ChatArgs) -> Arc<dyn Disk> {
    Arc::new(LocalDisk)
}

/// The machine's disk, or one that goes wrong when a test says so.
#[cfg(feature = "testing")]
pub(super) fn disk(args: &ChatArgs) -> Arc<dyn Disk> {
    Arc::new(crate::files::FaultyDisk::new(
        Arc::new(LocalDisk),
        args.fault,
    ))
}

pub(super) fn store(args: &ChatArgs, disk: Arc<dyn Disk>, config: &Config) -> FileStore {
    let store = FileStore::new(
        disk,
        config.settings.data_dir.clone(),
        Arc::new(SystemClock),
    );
    if args.no_lock {
        store.without_lock()
    } else {
        store
    }
}

/// `-s` and config name a session that may be new; `-r` one that exists, without a name the last used.
fn session_name(
    args: &ChatArgs,
    config: &Config,
    store: &dyn SessionStore,
) -> Result<SessionName, CliError> {
    match &args.resume {
        None => Ok(config.settings.session.clone()),
        Some(Some(name)) => {
            let name: SessionName = name.parse()?;
            let known = store.list()?.into_iter().any(|info| info.name == name);
            if known {
                Ok(name)
            } else {
                Err(crate::store::StoreError::Missing { name }.into())
            }
        }
        Some(None) => {
            let last = store.list()?.into_iter().next();
            last.map(|info| info.name).ok_or(CliError::NothingToResume)
        }
    }
}

fn memory(config: &Config, texts: &Texts) -> Result<Memory, CliError> {
    let settings = config.settings.memory.clone();
    let mut prompts = Prompts::with(|name| texts.get(name).map(prompt));
    if let Some(file) = &config.settings.system_prompt_file {
        prompts.base = Prompt::new(file.display().to_string(), config::read_text(file)?);
    }
    let modes = Registry::standard(&settings, &prompts);
    Ok(Memory::new(modes, settings, prompts)?)
}

fn prompt(text: &config::Text) -> Prompt {
    let file = match &text.source {
        TextSource::Embedded => format!("config/{}", text.name),
        TextSource::File(path) => path.display().to_string(),
    };
    Prompt::new(file, text.content.clone())
}

fn catalog(config: &Config, inputs: &Inputs, texts: &Texts) -> Result<Catalog, CliError> {
    let catalog = Catalog::new(config.settings.provider.clone(), inputs.environment.clone());
    let known = texts
        .get("models.yaml")
        .map(|text| Known::parse(&text.content))
        .transpose()?;
    Ok(match known {
        Some(known) => catalog.with_known(known),
        None => catalog,
    })
}

/// The working folder as a prompt names it: without the name of the person's home.
fn home_relative(inputs: &Inputs) -> String {
    let directory = &inputs.working_dir;
    let home = inputs.folders.home.as_deref();
    match home.and_then(|home| directory.strip_prefix(home).ok()) {
        Some(rest) if rest == Path::new("") => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => directory.display().to_string(),
    }
}

/// A session remembers its last mode but does not set it: the person is told (C63).
fn mode_hint(opened: &Opened, config: &Config) -> Option<String> {
    let used = opened.session.meta().mode.as_deref()?;
    let chosen = config.source("memory.mode") != Source::Default;
    (!chosen && used != config.settings.memory.mode).then(|| {
        format!("this session was last used in {used} mode; `/mode {used}` goes back to it")
    })
}

/// What `-v` adds: where things come from.
async fn told_in_detail(config: &Config, provider: &dyn Provider, output: &mut Output) {
    if output.policy().verbosity < Verbosity::Verbose {
        return;
    }
    let file = config
        .file
        .as_ref()
        .map_or_else(|| "none".to_owned(), |file| file.display().to_string());
    let abilities = provider.abilities().await;
    output.detail(&format!(
        "config {file}, data {}",
        config.settings.data_dir.display()
    ));
    output.detail(&format!(
        "model {}, window of {} tokens ({})",
        provider.model(),
        abilities.context_window,
        abilities.window_source.as_str()
    ));
}

/// What a person is told before the first line.
struct Greeting {
    hint: Option<String>,
    notice: Option<String>,
    repairs: Vec<Repair>,
}

impl Greeting {
    /// Repairs and the way to a model; nothing that a script would have to skip.
    fn aside(&self, output: &mut Output) {
        for repair in &self.repairs {
            output.warning(&repair.to_string());
        }
        if let Some(notice) = &self.notice {
            output.notice(notice);
        }
    }

    fn banner(&self, desk: &Desk, args: &ChatArgs, output: &mut Output) {
        if !args.no_banner {
            let mode = &desk.agent.memory().mode().name;
            let model = desk.agent.provider().model();
            let name = desk.session().name();
            let version = env!("CARGO_PKG_VERSION");
            output.notice(&format!(
                "cogtrix {version} · session {name} · {mode} mode · {model}"
            ));
            output.notice(&format!(
                "{} · /help lists commands",
                listing::opened(desk.session(), desk.now())
            ));
        }
        self.aside(output);
        if let Some(hint) = &self.hint {
            output.notice(hint);
        }
    }
}

async fn lines(
    desk: &mut Desk,
    output: &mut Output,
    signals: &mut Signals,
) -> Result<Exit, CliError> {
    let stdin = std::io::BufReader::new(std::io::stdin());
    let mut input = LineReader::lines(stdin).map_err(|source| CliError::Runtime { source })?;
    let mut chat = Chat {
        desk,
        input: &mut input,
        output,
        signals,
        ended: Ended::Well,
    };
    Ok(match chat.run().await {
        Ended::Well => Exit::Ok,
        Ended::WithErrors => Exit::Failed,
    })
}

/// However a person leaves, it is well.
async fn terminal(
    desk: &mut Desk,
    history: Option<HistoryFile>,
    output: &mut Output,
    signals: &mut Signals,
) -> Result<Exit, CliError> {
    let mut state = TerminalState::remember(output.policy().paint);
    let completer = Box::new(offers(desk));
    let input = TerminalInput {
        history,
        completer,
        paint: output.policy().paint,
    };
    let mut input = LineReader::terminal(input).map_err(|source| CliError::Runtime { source })?;
    let mut chat = Chat {
        desk,
        input: &mut input,
        output,
        signals,
        ended: Ended::Well,
    };
    chat.run().await;
    state.restore();
    if !desk.session().is_empty() {
        output.notice(&format!(
            "Saved. Resume with: cogtrix -s {}",
            quoted(desk.session().name())
        ));
    }
    Ok(Exit::Ok)
}

/// What completion offers behind a command.
fn offers(desk: &Desk) -> Offers {
    let modes = desk.agent.memory().modes().iter().map(|mode| {
        let preset = mode.preset();
        (preset.name.clone(), preset.summary.clone())
    });
    let store = Arc::clone(&desk.store);
    let sessions = move || {
        let sessions = store.list().unwrap_or_default().into_iter();
        sessions
            .map(|info| (info.name.to_string(), info.title))
            .collect()
    };
    Offers {
        modes: modes.collect(),
        models: desk
            .catalog
            .aliases()
            .map(|alias| (alias.to_owned(), String::new()))
            .collect(),
        sessions: Box::new(sessions),
    }
}

/// A session name as a shell takes it.
fn quoted(name: &SessionName) -> String {
    let name = name.as_str();
    if name.contains(' ') {
        format!("'{name}'")
    } else {
        name.to_owned()
    }
}
