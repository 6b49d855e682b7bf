//! The composition root: the only place that knows every concrete type.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::args::ChatArgs;
use super::candidates::choice_settings;
use super::greeting::{self, Greeting};
use super::manner::Manner;
use super::report::{CliError, Exit};
use super::{ask, talk, trust};
use crate::agent::{self, Agent, Warning, shelf};
use crate::chat::SessionName;
use crate::clock::{Clock, SystemClock};
use crate::config::{self, Config, Inputs, TextSource, Texts};
use crate::embed::EmbedderChoice;
use crate::files::{Disk, LocalDisk};
use crate::memory::tracking::readers::Readers;
use crate::memory::{Memory, Prompt, Prompts, Registry};
use crate::provider::{Catalog, Delivery, Known, Provider};
use crate::repl::desk::{Desk, Places};
use crate::repl::input::HistoryFile;
use crate::repl::{Signals, show};
use crate::search::Lists;
use crate::store::{FileStore, SessionStore, StoreError};
use crate::term::Output;

/// A chat: one prompt, lines from a pipe, or a person at a terminal.
pub(super) async fn chat(args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let machine = disk(args);
    let (config, inputs) = trust::load(args, machine.as_ref(), output)?;
    let manner = Manner::of(args)?;
    if manner == Manner::Silent {
        output.notice("no prompt: nothing was piped in");
        return Ok(Exit::Ok);
    }
    ask::check_target(args, &config.settings.data_dir)?;
    let store: Arc<dyn SessionStore> = Arc::new(store(args, machine.clone(), &config));
    let name = session_name(args, &config, store.as_ref())?;
    let texts = Texts::load(inputs.folders.config.as_deref())?;
    let memory = memory(&config, &texts)?;
    let catalog = catalog(&config, &inputs, &texts)?;
    let choice = catalog.choose(None).await?;
    let opened = store.open(&name, manner.patience(config.settings.lock_wait))?;
    // Only from here on: until the session is open there is nothing to end cleanly, and a wait for its lock
    // or for a server ends with the process.
    let mut signals = Signals::listen().map_err(|source| CliError::Runtime { source })?;
    let greeting = Greeting::new(&opened, choice.notice, &config);
    greeting::details(&config, choice.provider.as_ref(), output).await;

    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let summariser = match config.settings.memory.summarization_model.as_str() {
        "" => None,
        model => Some(catalog.choose(Some(model)).await?.provider),
    };
    let mut settings = settings(args, &config, &inputs, summariser);
    settings.recall = Some(shelf_parts(
        args,
        machine.clone(),
        &config,
        &texts,
        &catalog,
    )?);
    let mut desk = Desk {
        agent: Agent::new(choice.provider, memory, opened, clock.clone(), settings),
        store,
        catalog,
        clock,
        lock_wait: Duration::ZERO,
        places: Places {
            data: config.settings.data_dir.clone(),
            config: config.file.clone(),
            home: inputs.folders.home.clone(),
        },
        columns: output.columns(),
    };
    desk.agent.warm_up();
    let is_terminal = manner == Manner::Terminal;
    let waiting = Waiting::of(&manner);
    let exit = match manner {
        Manner::OneShot(prompt) => {
            greeting.aside(&desk, output);
            ask::run(&mut desk.agent, prompt, args, output, &mut signals).await
        }
        Manner::Lines => {
            greeting.aside(&desk, output);
            talk::lines(&mut desk, output, &mut signals).await
        }
        Manner::Terminal => {
            greeting.banner(&desk, args, output);
            let history = inputs.folders.line_history().map(|path| HistoryFile {
                path,
                disk: machine,
            });
            talk::terminal(&mut desk, history, output, &mut signals).await
        }
        Manner::Silent => Ok(Exit::Ok),
    };
    let warnings = finish_jobs(&mut desk.agent, &config, waiting, output, &mut signals).await;
    for warning in &warnings {
        show::warning(output, warning);
    }
    desk.agent.close()?;
    if is_terminal {
        talk::farewell(&desk, args, output);
    }
    exit
}

/// Lets work in the background end. A signal ends the wait.
async fn finish_jobs(
    agent: &mut Agent,
    config: &Config,
    waiting: Waiting,
    output: &mut Output,
    signals: &mut Signals,
) -> Vec<Warning> {
    const BEHIND: usize = 20;
    let covers = agent.job_covers();
    let catches_up = waiting == Waiting::ToCatchUp && covers >= BEHIND;
    if covers > 0 && (catches_up || waiting == Waiting::BrieflyAndSaid) {
        output.notice(&format!(
            "summarising {covers} older messages; Ctrl-C leaves that for the next time"
        ));
    }
    let grace = match waiting {
        // Vectors are on disk as they are made, so only a summary is worth a person's wait.
        Waiting::BrieflyAndSaid if covers == 0 => Duration::ZERO,
        _ if catches_up => SUMMARY_AT_MOST,
        _ => config.settings.shutdown_grace,
    };
    let warnings = tokio::select! {
        warnings = agent.settle(grace) => warnings,
        _ = signals.next() => Vec::new(),
    };
    // What is left of it is given up.
    agent.settle(Duration::ZERO).await;
    warnings
}

/// How work in the background is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// A run of a single prompt that is two batches behind waits for a summary as long as that may take, so
    /// that such runs do not fall behind for ever.
    ToCatchUp,
    /// For the grace of leaving; a person at a terminal would wonder.
    BrieflyAndSaid,
    /// For the grace of leaving.
    Briefly,
}

impl Waiting {
    fn of(manner: &Manner) -> Self {
        match manner {
            Manner::OneShot(_) => Self::ToCatchUp,
            Manner::Terminal => Self::BrieflyAndSaid,
            Manner::Lines | Manner::Silent => Self::Briefly,
        }
    }
}

/// Longest wait of a run for a summary that is overdue.
const SUMMARY_AT_MOST: Duration = Duration::from_mins(1);

fn settings(
    args: &ChatArgs,
    config: &Config,
    inputs: &Inputs,
    summariser: Option<Arc<dyn Provider>>,
) -> agent::Settings {
    agent::Settings {
        context: config.settings.context.clone(),
        delivery: if args.no_stream {
            Delivery::Whole
        } else {
            Delivery::Streamed
        },
        directory: home_relative(inputs),
        summariser,
        jobs: if config.settings.memory.background {
            agent::Running::Background
        } else {
            agent::Running::Foreground
        },
        recall: None,
    }
}

/// What recall works with; a person's own word lists are read now, so that a mistake in them is told.
pub(super) fn shelf_parts(
    args: &ChatArgs,
    disk: Arc<dyn Disk>,
    config: &Config,
    texts: &Texts,
    catalog: &Catalog,
) -> Result<shelf::Parts, CliError> {
    let own = texts.get("search/english.yaml");
    let own = own.filter(|text| text.source != TextSource::Embedded);
    let lists = own.map(|text| {
        let lists = Lists::parse(&text.content).map_err(|source| CliError::Lists {
            file: file_of(text),
            source,
        })?;
        Ok::<_, CliError>(Arc::new(lists))
    });
    Ok(shelf::Parts {
        embedder: Arc::new(embedder_choice(config, catalog, Arc::clone(&disk))),
        hnsw_min: config.settings.memory.recall.hnsw_min,
        disk,
        folder: config.settings.data_dir.join("vectordb/sessions"),
        lists: lists.transpose()?,
        keeping: if args.no_lock {
            shelf::Keeping::ReadOnly
        } else {
            shelf::Keeping::Kept
        },
    })
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
                Err(StoreError::Missing { name }.into())
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
    let file = config.settings.system_prompt_file.as_ref();
    if let Some((file, text)) = file.zip(config.settings.system_prompt()?) {
        prompts.base = Prompt::new(file.display().to_string(), text);
    }
    let own = |name: &str| {
        texts
            .get(name)
            .filter(|text| text.source != TextSource::Embedded)
    };
    let readers = Readers::with(|name| own(name).map(prompt))?;
    for work in readers.warm_up() {
        // Ends by itself, or with the process.
        std::thread::spawn(work);
    }
    let modes = Registry::standard(&settings, &prompts, readers);
    Ok(Memory::new(modes, settings, prompts)?)
}

fn prompt(text: &config::Text) -> Prompt {
    Prompt::new(file_of(text), text.content.clone())
}

fn file_of(text: &config::Text) -> String {
    match &text.source {
        TextSource::Embedded => format!("config/{}", text.name),
        TextSource::File(path) => path.display().to_string(),
    }
}

/// Who turns texts into vectors for recall. Asks nobody and reads nothing before it is resolved.
pub(super) fn embedder_choice(
    config: &Config,
    catalog: &Catalog,
    disk: Arc<dyn Disk>,
) -> EmbedderChoice {
    EmbedderChoice::new(choice_settings(&config.settings, catalog), disk)
}

pub(super) fn catalog(
    config: &Config,
    inputs: &Inputs,
    texts: &Texts,
) -> Result<Catalog, CliError> {
    let catalog = Catalog::new(config.settings.provider.clone(), inputs.environment.clone());
    let known = texts
        .get("models.yaml")
        .map(|text| Known::parse(&text.content, &file_of(text)))
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
