//! `cogtrix config show` and `cogtrix config check`.

use super::args::{ChatArgs, ConfigCommand};
use super::report::{CliError, Exit};
use super::{app, parts, trust};
use crate::config::{self, Config, ConfigError, Inputs, Texts};
use crate::files::LocalDisk;
use crate::hint::{Hint, chain};
use crate::repl::listing;
use crate::term::Output;

pub(super) fn run(
    command: ConfigCommand,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let (config, inputs) = match trust::show(args, &LocalDisk) {
        Err(error @ CliError::Config(ConfigError::Mistakes(_))) => {
            let inputs = trust::inputs(args)?;
            // All mistakes at once, those of what can be read beside the others.
            if let Some(sound) = config::load_sound(&inputs, &LocalDisk)
                && matches!(command, ConfigCommand::Check)
            {
                tell(&sound, &inputs, output)?;
            }
            return Err(error);
        }
        shown => shown?,
    };
    for warning in &config.warnings {
        output.warning(&warning.to_string());
    }
    match command {
        ConfigCommand::Show => {
            let settings = app::listing(&config);
            output.answer(&listing::settings(settings.iter(), output.answer_columns()));
        }
        ConfigCommand::Check => {
            if tell(&config, &inputs, output)? > 0 {
                return Ok(Exit::Usage);
            }
            let files = config.files_shown();
            let files = files.as_deref().unwrap_or("no config file, using defaults");
            output.answer(&format!("{files}: ok"));
        }
    }
    Ok(Exit::Ok)
}

/// Names each mistake of [`mistakes`]; returns how many there are.
fn tell(config: &Config, inputs: &Inputs, output: &mut Output) -> Result<usize, CliError> {
    let mistakes = mistakes(config, inputs)?;
    for (key, error) in &mistakes {
        let text = format!("{}: {key}: {}", config.source(key), chain(error));
        output.error(&text, error.hint().as_deref());
    }
    Ok(mistakes.len())
}

/// Finds the values that have the right form and name what does not exist: models, and languages of cues.
fn mistakes(config: &Config, inputs: &Inputs) -> Result<Vec<(&'static str, CliError)>, CliError> {
    let texts = Texts::load(inputs.folders.config.as_deref())?;
    let catalog = parts::catalog(config, inputs, &texts)?;
    let settings = &config.settings;
    let models = [
        ("models.default", &settings.provider.models.default),
        (
            "memory.summarization_model",
            &settings.memory.summarization_model,
        ),
        ("rag.model", &settings.rag.model),
    ];
    let models = models.into_iter().filter(|(_, model)| !model.is_empty());
    let unknown = models.filter_map(|(key, model)| Some((key, catalog.knows(model).err()?.into())));
    let cues = [
        (
            "memory.wal.languages",
            parts::extractor(config, &texts).err(),
        ),
        ("memory.facts.cues", parts::fact_cues(config, &texts).err()),
    ];
    let deaf = cues
        .into_iter()
        .filter_map(|(key, error)| Some((key, error?)));
    Ok(unknown.chain(deaf).collect())
}
