//! `cogtrix config`: settings shown and checked, and their file.

use super::args::{ChatArgs, ConfigCommand};
use super::report::{CliError, Exit};
use super::{app, opening, parts, trust};
use crate::config::{self, Config, ConfigError, Inputs, Texts};
use crate::files::LocalDisk;
use crate::hint::{Hint, chain};
use crate::memory::BadCues;
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
                    problem: format!("there is no {} yet", path.display()),
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
    let (config, _) = trust::show(args, &LocalDisk)?;
    warn(&config, output);
    let settings = app::listing(&config);
    output.answer(&listing::settings(settings.iter(), output.answer_columns()));
    Ok(Exit::Ok)
}

fn check(args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let (config, inputs) = match trust::show(args, &LocalDisk) {
        Err(error @ CliError::Config(ConfigError::Mistakes(_))) => {
            let inputs = trust::inputs(args)?;
            // All mistakes at once, those of what can be read beside the others.
            if let Some(sound) = config::load_sound(&inputs, &LocalDisk) {
                tell(&sound, &inputs, output)?;
            }
            return Err(error);
        }
        shown => shown?,
    };
    warn(&config, output);
    if tell(&config, &inputs, output)? > 0 {
        return Ok(Exit::Usage);
    }
    let files = config.files_shown();
    let files = files.as_deref().unwrap_or("no config file, using defaults");
    output.answer(&format!("{files}: ok"));
    Ok(Exit::Ok)
}

fn warn(config: &Config, output: &mut Output) {
    for warning in &config.warnings {
        output.warning(&warning.to_string());
    }
}

/// Names each mistake of [`mistakes`]; returns how many there are.
fn tell(config: &Config, inputs: &Inputs, output: &mut Output) -> Result<usize, CliError> {
    let mistakes = mistakes(config, inputs)?;
    for (at, error) in &mistakes {
        output.error(&format!("{at}{}", chain(error)), error.hint().as_deref());
    }
    Ok(mistakes.len())
}

/// Finds the values that have the right form and name what does not exist, models and languages of cues, each with its
/// place.
fn mistakes(config: &Config, inputs: &Inputs) -> Result<Vec<(String, CliError)>, CliError> {
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
    let unknown = models.filter_map(|(key, model)| {
        let at = format!("{}: {key}: ", config.source(key));
        Some((at, catalog.knows(model).err()?.into()))
    });
    let cues = [
        parts::extractor(config, &texts).err(),
        parts::fact_cues(config, &texts).err(),
    ];
    let cues = cues.into_iter().flatten().map(|error| match &error {
        CliError::Cues(BadCues::Language { setting, .. }) => {
            (format!("{}: ", config.source(setting)), error)
        }
        _ => (String::new(), error),
    });
    Ok(unknown.chain(cues).collect())
}
