//! `cogtrix config`: settings shown and checked, and their file.

use std::borrow::Cow;

use super::args::{ChatArgs, ConfigCommand};
use super::report::{CliError, Exit};
use super::trust::Shown;
use super::{app, opening, parts, trust};
use crate::config::{self, Config, ConfigError, Mistake, Problem, Settings, Source, Texts};
use crate::files::LocalDisk;
use crate::hint::{Hint, chain};
use crate::provider::{Catalog, Choice};
use crate::repl::listing;
use crate::term::Output;

pub(super) async fn run(
    command: ConfigCommand,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    match command {
        ConfigCommand::Show => show(args, output),
        ConfigCommand::Check => check(args, output),
        ConfigCommand::Path => {
            let path = config::config_file(&trust::inputs(args)?)?;
            output.answer(&path.display().to_string());
            if !path.exists() {
                output.notice("It does not exist yet; `cogtrix init` writes it.");
            }
            Ok(Exit::Ok)
        }
        ConfigCommand::Edit => {
            let inputs = trust::inputs(args)?;
            let path = config::config_file(&inputs)?;
            if !path.exists() {
                return Err(CliError::Usage {
                    problem: format!("{} does not exist yet", path.display()),
                    hint: "run `cogtrix init` to write it",
                });
            }
            let mut listening = None;
            let signals = opening::listen(&mut listening)?;
            parts::editor(&inputs).open(&path, signals).await?;
            check(args, output)
        }
    }
}

fn show(args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let Shown {
        config, ignored, ..
    } = trust::show(args, &LocalDisk)?;
    trust::tell_broken(ignored.as_ref(), output);
    warn(&config, output);
    let settings = app::listing(&config);
    output.answer(&listing::settings(settings.iter(), output.answer_columns()));
    Ok(Exit::Ok)
}

/// Tells all mistakes at once, those of what can be read beside the others.
fn check(args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let mut exit = Exit::Ok;
    let (mut mistakes, config, inputs) = match trust::show(args, &LocalDisk) {
        Err(CliError::Config(ConfigError::Mistakes(mistakes))) => {
            let inputs = trust::inputs(args)?;
            let sound = config::load_sound(&inputs, &LocalDisk);
            (mistakes, sound, inputs)
        }
        shown => {
            let Shown {
                config,
                inputs,
                ignored,
            } = shown?;
            if let Some(error) = ignored {
                output.error(&chain(&error), error.hint().as_deref());
                exit = Exit::Usage;
            }
            warn(&config, output);
            (Vec::new(), Some(config), inputs)
        }
    };
    if let Some(config) = &config {
        let texts = Texts::load(inputs.folders.config.as_deref())?;
        let catalog = parts::catalog(config, &inputs, &texts)?;
        mistakes.extend(unknown_models(
            config,
            &catalog,
            CHAT_MODELS.iter().chain(&EMBEDDING_MODELS),
        ));
        let cues = [
            parts::extractor(config, &texts).err(),
            parts::fact_cues(config, &texts).err(),
        ];
        for error in cues.into_iter().flatten() {
            match error {
                CliError::Config(ConfigError::Mistakes(unknown)) => mistakes.extend(unknown),
                error => {
                    output.error(&chain(&error), error.hint().as_deref());
                    exit = Exit::Usage;
                }
            }
        }
    }
    if !mistakes.is_empty() {
        return Err(ConfigError::of(mistakes).into());
    }
    if exit == Exit::Ok {
        let files = config.as_ref().and_then(Config::files_shown);
        let files = files.as_deref().unwrap_or("no config file, using defaults");
        output.answer(&format!("{files}: ok"));
    }
    Ok(exit)
}

fn warn(config: &Config, output: &mut Output) {
    for warning in &config.warnings {
        output.warning(&warning.to_string());
    }
}

/// A setting that names a model.
type ModelSetting = (&'static str, fn(&Settings) -> &str);

const CHAT_MODELS: [ModelSetting; 2] = [
    ("models.default", |it| &it.provider.models.default),
    ("memory.summarization_model", |it| {
        &it.memory.summarization_model
    }),
];
const EMBEDDING_MODELS: [ModelSetting; 1] = [("rag.model", |it| &it.rag.model)];

/// Refuses models of a chat that name nothing, with the place of each and what servers have that is like it. Of the
/// command line a name that some server has is enough: returns that model.
pub(super) async fn check_models(
    config: &Config,
    catalog: &Catalog,
) -> Result<Option<Choice>, CliError> {
    let mut unknown = Vec::new();
    let mut of_flag = None;
    for setting in &CHAT_MODELS {
        for mut mistake in unknown_models(config, catalog, [setting]) {
            let found = catalog.choose(Some(setting.1(&config.settings))).await;
            let near = match found {
                Ok(found) if matches!(mistake.source, Source::Flag(_)) => {
                    of_flag = Some(found);
                    continue;
                }
                Ok(found) => Some(format!("did you mean {}?", found.provider.model())),
                Err(error) => error.hint().map(Cow::into_owned),
            };
            if let (Problem::Unknown { hint, .. }, Some(near)) = (&mut mistake.problem, near) {
                *hint = near;
            }
            unknown.push(mistake);
        }
    }
    if unknown.is_empty() {
        return Ok(of_flag);
    }
    Err(ConfigError::of(unknown).into())
}

fn unknown_models<'a>(
    config: &Config,
    catalog: &Catalog,
    named: impl IntoIterator<Item = &'a ModelSetting>,
) -> Vec<Mistake> {
    let unknown = named.into_iter().filter_map(|(key, model)| {
        let model = model(&config.settings);
        let error = (!model.is_empty()).then(|| catalog.knows(model).err());
        let error = error.flatten()?;
        Some(Mistake {
            source: config.source(key),
            key: (*key).to_owned(),
            problem: Problem::Unknown {
                what: error.to_string(),
                hint: error.hint().unwrap_or_default().into_owned(),
            },
        })
    });
    unknown.collect()
}
