//! The composition root: the only place that knows every concrete type.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use super::args::ChatArgs;
use super::greeting::{self, Greeting};
use super::report::{CliError, Exit};
use super::run_mode::RunMode;
use super::settings::check_models;
use super::{ask, leaving, opening, parts, servers, talk, toolbox, trust};
use crate::agent::{self, Agent};
use crate::clock::{Clock, SystemClock};
use crate::config::{Config, Entry, Source, Texts};
use crate::provider::{Catalog, Delivery, Provider, ProviderError};
use crate::repl::approve;
use crate::repl::ask::Deadline;
use crate::repl::input::HistoryFile;
use crate::repl::memory_view::Caller;
use crate::repl::repl_context::{
    Environment, Places, Preset, ReadOnly, Reopen, ReplContext, Setting, Settings, Writing,
    home_relative,
};
use crate::repl::{Signals, show};
use crate::store::Unwritable;
use crate::term::Output;

/// What a session is called where neither a person nor a config file says.
pub(super) const USUAL_SESSION: &str = "default";

/// A chat: one prompt, lines from a pipe, or a person at a terminal, who may ask for another session.
pub(super) async fn chat(called: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let mut args = called.clone();
    let mut listening = None;
    loop {
        let (exit, next) = Box::pin(one_chat(&args, output, &mut listening)).await?;
        let Some(next) = next else {
            return Ok(exit);
        };
        args = ChatArgs {
            session: Some(next.name.to_string()),
            resume: None,
            resume_last: false,
            no_lock: called.no_lock || next.read_only,
            mode: Some(next.mode),
            model: next.model.or(args.model),
            ..args
        };
    }
}

/// How a chat ended, and what is to be opened after it.
type Ended = (Exit, Option<Reopen>);

async fn one_chat(
    args: &ChatArgs,
    output: &mut Output,
    listening: &mut Option<Signals>,
) -> Result<Ended, CliError> {
    let machine = parts::disk(args);
    let (mut config, inputs) = trust::load(args, machine.as_ref(), output)?;
    output.show_replies(config.settings.ui.replies());
    let run_mode = RunMode::of(args)?;
    if args.no_lock && matches!(run_mode, RunMode::OneShot(_)) {
        return Err(ReadOnly.into());
    }
    let project = toolbox::project(args, &inputs)?;
    ask::check_target(args, &config.settings.data_dir)?;
    let texts = Texts::load(inputs.folders.config.as_deref())?;
    let memory = parts::memory(&config, &texts)?;
    let mut catalog = parts::catalog(&config, &inputs, &texts)?;
    if args.private || Unwritable::of(&config.settings.data_dir.join("history")).is_some() {
        catalog = catalog.saving_nothing();
    }
    let mut choice = match check_models(&config, &catalog).await? {
        Some(found) => found,
        None => catalog.choose(None).await?,
    };
    let default = &mut config.settings.provider.models.default;
    if !catalog.is_certain(default) {
        *default = choice.provider.model().to_string();
    }
    // Whatever else keeps the server from answering is told with the reply that it costs.
    if args.model.is_some()
        && let Err(error @ (ProviderError::UnknownModel { .. } | ProviderError::Setup { .. })) =
            catalog.check(&choice).await
    {
        return Err(error.into());
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let chosen = opening::choose(
        args.clone(),
        &config,
        &run_mode,
        clock.now(),
        (output, &mut *listening),
    );
    let Some(args) = chosen.await? else {
        return Ok((Exit::Ok, None));
    };
    let opened = opening::open(
        &args,
        &config,
        &run_mode,
        clock.now(),
        (output, &mut *listening),
    );
    let Some(opening::Session {
        opened,
        store,
        disk: machine,
        args,
        notice,
    }) = opened.await?
    else {
        return Ok((Exit::Ok, None));
    };
    let args = &args;
    let name = opened.session.name().clone();
    // Only from here on: until the session is open there is nothing to end cleanly, and a wait for its lock
    // or for a server ends with the process.
    let signals = opening::listen(listening)?;
    let timeout = config.settings.provider.network.timeout;
    let deadline = match &run_mode {
        RunMode::OneShot(_) => Deadline::after(timeout),
        RunMode::Terminal | RunMode::Lines => None,
    };
    let no_model = match run_mode {
        // A server that is not there answers for itself.
        RunMode::OneShot(_) => choice
            .notice
            .take()
            .filter(|_| choice.provider.is_offline()),
        RunMode::Lines | RunMode::Terminal => None,
    };
    let greeting = Greeting::new(&opened, &choice, notice, (&config, &run_mode));
    greeting::details(&config, choice.provider.as_ref(), output).await;

    let folder = home_relative(&project, inputs.folders.home.as_deref());
    if run_mode == RunMode::Terminal && !config.is_project {
        output.notice(&format!(
            "{folder} is not a project: its rules and config files are ignored, and tools ask before every change or command"
        ));
    }
    let summariser = summariser(&config, &catalog, output).await?;
    let mut settings = settings(args, &config, folder, summariser);
    settings.recall = Some(
        parts::index(
            args,
            machine.clone(),
            &config,
            &texts,
            (&catalog, Some(&choice)),
        )
        .await?,
    );
    let past = Arc::new(parts::past(machine.clone(), &config));
    let searched = parts::searched(&config, past);
    let person = (run_mode == RunMode::Terminal).then(approve::at_terminal);
    let (approver, questions, looks) = match person {
        Some(person) => (person.approver, Some(person.questions), Some(person.looks)),
        None => (
            Arc::new(agent::Nobody) as Arc<dyn agent::Approver>,
            None,
            None,
        ),
    };
    let servers = servers::servers(&config, &inputs, &project);
    let workspace = parts::workspace(&config, &machine);
    searched.written.watch(&workspace);
    workspace.tidy(&name);
    parts::tidy_vectors(&config, machine.as_ref());
    let mut toolbox = toolbox::toolbox(
        args,
        &config,
        &inputs,
        toolbox::Folders {
            project: &project,
            workspace: &workspace,
        },
        machine.clone(),
        approver,
        output,
    )?;
    toolbox.looks = looks;
    let long_term =
        parts::long_term_memory(args, &config, &texts, workspace, machine.clone(), &project)?;
    toolbox::check_names(args, &toolbox.registry, servers.as_deref())?;
    let (entries, notices) = parts::entries(&config, &project, machine.clone());
    for notice in &notices {
        output.warning(notice);
    }
    let further = parts::further(args, &config, &inputs, output)?;
    let shell = toolbox::shell(args, &config, &inputs, &project)?;
    let meter = catalog.meter().clone();
    let assumed = choice.is_assumed();
    let mut repl = ReplContext {
        agent: Agent::new(choice.provider, memory, opened, clock.clone(), settings)
            .with_tools(toolbox)
            .with_entries(entries)
            .with_long_term_memory(long_term)
            .with_meter(meter)
            .with_searched(searched)
            .with_external_memory(further),
        env: Environment {
            store,
            clock,
            catalog,
            places: Places {
                line_history: inputs.folders.line_history(),
                data: config.settings.data_dir.clone(),
                config: config.files(),
                home: inputs.folders.home.clone(),
                editor: parts::editor(&inputs),
                disk: Arc::clone(&machine),
                writing: match (args.no_lock, args.private) {
                    (true, _) => Writing::Refused,
                    (false, true) => Writing::Veiled,
                    (false, false) => Writing::Kept,
                },
            },
            sandbox: config.settings.tools.shell.sandbox,
            columns: output.columns(),
            verbosity: output.policy().verbosity,
        },
        assumed,
        usual_name: match &args.session {
            None => config.settings.session.clone(),
            Some(_) => USUAL_SESSION.parse()?,
        },
        lock_wait: Duration::ZERO,
        // A chat has one only where somebody asks for it.
        turn_timeout: args.timeout.as_ref().map(|_| timeout),
        servers,
        questions,
        settings: listing(&config),
        presets: presets(&config),
        shell,
        ran: Vec::new(),
        thinking: String::new(),
        memory_line: config.settings.ui.memory_line && output.is_interactive(),
        next: None,
    };
    let model = repl.agent.provider().model().to_string();
    repl.agent.warm_up();
    // In the background: nobody waits for them but a run of one prompt.
    if let Some(servers) = &mut repl.servers {
        servers.start();
    }
    let is_terminal = run_mode == RunMode::Terminal;
    let is_chat = !matches!(run_mode, RunMode::OneShot(_));
    let learns = is_terminal && repl.env.places.writing == Writing::Kept;
    let waiting = leaving::Waiting::of(&run_mode);
    let exit = match run_mode {
        RunMode::OneShot(prompt) => {
            greeting.aside(&mut repl, output);
            match servers::wait_for_all(&mut repl, output, signals).await {
                Ok(()) => {
                    let asked = ask::Asked {
                        prompt,
                        deadline,
                        no_model,
                    };
                    ask::run(&mut repl.agent, asked, args, output, signals).await
                }
                Err(exit) => Ok(exit),
            }
        }
        RunMode::Lines => {
            greeting.aside(&mut repl, output);
            talk::lines(&mut repl, output, signals).await
        }
        RunMode::Terminal => {
            greeting.banner(&mut repl, args, output);
            if learns {
                // What an earlier run had no time for.
                repl.agent.begin_learning();
            }
            let folder = parts::project_root(&config, &project, machine.as_ref());
            let history = inputs.folders.line_history().map(|older| HistoryFile {
                was_reported: older
                    .parent()
                    .is_some_and(|it| repl.agent.has_warned_of(it)),
                ..HistoryFile::of_project(older, &folder, machine)
            });
            let keys = config.settings.ui.keys;
            talk::terminal(&mut repl, history, keys, output, signals).await
        }
    };
    if let Some(mut next) = repl.next.take() {
        let now = repl.agent.provider().model().to_string();
        next.model = (now != model).then_some(now);
        repl.agent.close()?;
        servers::end(&mut repl).await;
        return Ok((Exit::Ok, Some(next)));
    }
    if learns && !signals.is_told_to_end() {
        repl.agent.begin_learning();
    }
    let warnings = leaving::finish_jobs(
        &mut repl.agent,
        &config,
        (waiting, deadline),
        output,
        signals,
    )
    .await;
    let caller = if is_chat { Caller::Chat } else { Caller::Shell };
    for warning in &warnings {
        show::warning(output, warning, caller);
    }
    let closed = repl.agent.close();
    if is_chat && repl.env.places.writing == Writing::Kept && !repl.agent.is_blank() {
        let left = repl.env.store.leave(repl.session().name(), repl.env.now());
        if let Err(error) = left {
            tracing::warn!(%error, "the session used last");
        }
    }
    servers::end(&mut repl).await;
    closed.map_err(|source| match source.unwritable() {
        Some(unwritable) => CliError::Unwritable {
            folder: config.settings.data_dir.clone(),
            unwritable,
            was_warned_at_start: repl.agent.was_warned_at_start(),
        },
        None => CliError::NotSaved { source },
    })?;
    if is_terminal {
        talk::farewell(&repl, args, output);
    }
    exit.map(|exit| (exit, None))
}

/// The model that summarises, where it is not the one that replies. One that cannot be used costs a warning and
/// nothing else: then the one that replies does it (C9).
async fn summariser(
    config: &Config,
    catalog: &Catalog,
    output: &mut Output,
) -> Result<Option<Arc<dyn Provider>>, CliError> {
    let model = config.settings.memory.summarization_model.as_str();
    if model.is_empty() {
        return Ok(None);
    }
    match catalog.choose(Some(model)).await {
        Ok(choice) => Ok(Some(choice.provider)),
        Err(error) => {
            output.warning(&format!(
                "cannot use memory.summarization_model, the chat model summarises instead: {error}"
            ));
            Ok(None)
        }
    }
}

fn settings(
    args: &ChatArgs,
    config: &Config,
    directory: String,
    summariser: Option<Arc<dyn Provider>>,
) -> agent::Settings {
    agent::Settings {
        context: config.settings.context.clone(),
        delivery: if args.no_stream {
            Delivery::Whole
        } else {
            Delivery::Streamed
        },
        directory,
        summariser,
        jobs: if config.settings.memory.background {
            agent::Running::Background
        } else {
            agent::Running::Foreground
        },
        think: config.settings.deep_think,
        recall: None,
        places: parts::places(config),
        data: config.settings.data_dir.clone(),
    }
}

/// Every setting, for a chat that asks.
pub(super) fn listing(config: &Config) -> Settings {
    let entries = config.entries_later();
    let settings = |entry: Entry| Setting {
        key: entry.key,
        value: entry.value,
        source: (entry.source != Source::Default).then(|| entry.source.to_string()),
    };
    Arc::new(LazyLock::new(Box::new(move || {
        entries().into_iter().map(settings).collect()
    })))
}

/// What `/context preset` can switch to.
fn presets(config: &Config) -> Vec<Preset> {
    let presets = config.presets().into_iter();
    presets
        .map(|preset| Preset {
            name: preset.name,
            sets: preset.sets,
            context: preset.context,
            memory: preset.memory,
        })
        .collect()
}
