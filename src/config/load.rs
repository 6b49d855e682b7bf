//! From flags, environment and file to a [`Config`]. Reads; never writes, asks or prints.

use std::io;
use std::path::{Path, PathBuf};

use super::checks::check;
use super::decode::{Fault, decode};
use super::error::{ConfigError, Mistake, Problem};
use super::keys::{keys_of, suggest};
use super::layers::{Flags, Layer, Source, TrustFlag, source_of};
use super::paths::{Folders, Written, automatic_data_root, expand};
use super::presets::Presets;
use super::search::{Found, Standing, find, read};
use super::settings::{Document, Paths};
use super::tree::{KeyPath, Tree};
use super::trust::{self, Answer, Demand, Place};
use super::warnings::{Warning, warnings};
use super::{Config, environment, yaml};
use crate::chat::{BadName, SessionName};
use crate::files::Disk;
use crate::provider::Environment;
use crate::{embed, notes};

/// All that a configuration is made from.
#[derive(Clone, Debug)]
pub struct Inputs {
    pub flags: Flags,
    pub environment: Environment,
    pub working_dir: PathBuf,
    pub folders: Folders,
    /// The names of the memory modes there are.
    pub modes: Vec<String>,
}

impl Inputs {
    /// What the system says, beside the flags. Fails where the working folder is gone.
    pub fn from_system(flags: Flags, modes: Vec<String>) -> io::Result<Self> {
        Ok(Self {
            flags,
            environment: environment(),
            working_dir: std::env::current_dir()?,
            folders: Folders::from_platform(),
            modes,
        })
    }
}

/// A configuration, or the question that stands before it.
#[derive(Debug)]
pub enum Loaded {
    Ready(Config),
    /// The file in the working folder sets what needs trust.
    Untrusted(TrustRequest),
}

/// To be answered by the person: [`remember`](Self::remember), [`refuse`](Self::refuse), or, to show
/// settings without acting on them, [`unused`](Self::unused).
#[derive(Debug)]
pub struct TrustRequest {
    /// What to ask about.
    pub demand: Demand,
    folders: Folders,
    config: Config,
}

impl TrustRequest {
    /// Yes, now and until the values change.
    pub fn remember(self, disk: &dyn Disk) -> Result<Config, ConfigError> {
        trust::remember(disk, &self.folders, &self.demand)?;
        Ok(self.config)
    }

    /// No, or nobody could be asked.
    pub fn refuse(self) -> ConfigError {
        ConfigError::Untrusted {
            file: self.demand.file,
            keys: self.demand.keys.into_iter().map(|key| key.key).collect(),
        }
    }

    /// The configuration for `config show` and `config check`, which contact and open nothing.
    pub fn unused(self) -> Config {
        self.config
    }
}

/// Finds, reads, checks and merges.
pub fn load(inputs: &Inputs, disk: &dyn Disk) -> Result<Loaded, ConfigError> {
    let found = find(
        &inputs.flags,
        &inputs.environment,
        &inputs.working_dir,
        &inputs.folders,
    )?;
    let presets = Presets::load(inputs.folders.config.as_deref())?;
    let layers = layers(found.as_ref(), inputs, &presets)?;
    check_layers(&layers, &inputs.modes)?;

    let document = merged(&layers)?;
    let session = session(&document, &layers)?;
    let paths = paths(&document, &layers, inputs)?;
    let mut warnings = warnings(&document, &inputs.environment, &layers);
    let demand = found
        .as_ref()
        .and_then(|found| demand(found, &layers, inputs))
        .filter(|demand| !is_granted(demand, inputs, disk, &mut warnings));
    let config = Config {
        settings: document.settle(session, paths),
        file: found.map(|found| found.path),
        warnings,
        layers,
        presets,
    };
    Ok(match demand {
        None => Loaded::Ready(config),
        Some(demand) => Loaded::Untrusted(TrustRequest {
            demand,
            folders: inputs.folders.clone(),
            config,
        }),
    })
}

/// Lowest first.
fn layers(
    found: Option<&Found>,
    inputs: &Inputs,
    presets: &Presets,
) -> Result<Vec<Layer>, ConfigError> {
    let mut layers = Vec::new();
    if let Some(found) = found {
        let text = read(found)?;
        let tree = yaml::parse(&text).map_err(|malformed| ConfigError::Malformed {
            path: found.path.clone(),
            position: malformed.position,
            message: malformed.message,
        })?;
        layers.push(Layer::of_file(found.path.clone(), text, tree));
    }
    let flags = Layer::of_flags(&inputs.flags);
    let environment =
        Layer::of_environment(&inputs.environment, &flags).map_err(ConfigError::Mistakes)?;
    layers.extend([environment, flags]);
    layers.insert(0, presets.chosen(&layers)?);
    Ok(layers)
}

/// Each layer by itself, so that each mistake has its place, also one that a higher layer would cover.
fn check_layers(layers: &[Layer], modes: &[String]) -> Result<(), ConfigError> {
    let mut mistakes = Vec::new();
    for layer in layers {
        let faults = match decode::<Document>(&layer.tree) {
            Ok(document) => check(&document, modes),
            Err(faults) => faults,
        };
        // A rule may be broken by a default alone; that is nobody's mistake.
        mistakes.extend(
            faults
                .into_iter()
                .filter(|fault| fault.is_of(&layer.tree))
                .map(|fault| mistake(fault, layer)),
        );
    }
    if mistakes.is_empty() {
        return Ok(());
    }
    mistakes.sort_by_key(|mistake| match &mistake.source {
        Source::File { at, .. } => (0, *at),
        Source::Default | Source::Environment(_) | Source::Flag(_) | Source::Preset(_) => (1, None),
    });
    Err(ConfigError::Mistakes(mistakes))
}

fn mistake(mut fault: Fault, layer: &Layer) -> Mistake {
    suggest(&fault.path, &mut fault.problem, &keys_of::<Document>());
    let spot = match fault.problem {
        Problem::UnknownKey { .. } | Problem::MissingKey { .. } => yaml::Spot::Key,
        Problem::WrongType { .. }
        | Problem::BadValue { .. }
        | Problem::NotOneOf { .. }
        | Problem::Refused(_) => yaml::Spot::Value,
    };
    Mistake {
        source: layer.source_of(&fault.path, spot),
        key: fault.path.to_string(),
        problem: fault.problem,
    }
}

fn merged(layers: &[Layer]) -> Result<Document, ConfigError> {
    let mut tree = Tree::empty();
    for layer in layers {
        tree.merge(&layer.tree);
    }
    decode(&tree).map_err(|faults| {
        let mistakes = faults.into_iter().map(|fault| Mistake {
            source: source_of(layers, &fault.path),
            key: fault.path.to_string(),
            problem: fault.problem,
        });
        ConfigError::Mistakes(mistakes.collect())
    })
}

fn session(document: &Document, layers: &[Layer]) -> Result<SessionName, ConfigError> {
    let parsed = document.session.parse();
    parsed.map_err(|bad: BadName| refused("session", bad.explained(), layers))
}

fn paths(document: &Document, layers: &[Layer], inputs: &Inputs) -> Result<Paths, ConfigError> {
    let data_dir = data_dir(document, layers, inputs)?;
    let embedding_folder = match document.embedding.path.as_str() {
        "" => data_dir.join(embed::FOLDER),
        text => path_at("embedding.path", text, layers, inputs)?,
    };
    Ok(Paths {
        workspace: workspace(document, &data_dir, layers, inputs)?,
        data_dir,
        system_prompt_file: system_prompt_file(document, layers, inputs)?,
        embedding_folder,
        documents: match document.rag.docs_dir.as_str() {
            "" => None,
            text => Some(path_at("rag.docs_dir", text, layers, inputs)?),
        },
    })
}

fn data_dir(
    document: &Document,
    layers: &[Layer],
    inputs: &Inputs,
) -> Result<PathBuf, ConfigError> {
    match &inputs.flags.data_dir {
        // A path need not be text.
        Some(path) if !path.starts_with("~") => Ok(inputs.working_dir.join(path)),
        _ if matches!(document.data_dir.as_str(), "" | "auto") => {
            automatic_data_root(&inputs.working_dir, &inputs.folders)
                .ok_or(ConfigError::NoDataFolder)
        }
        _ => path_at("data_dir", &document.data_dir, layers, inputs),
    }
}

fn workspace(
    document: &Document,
    data_dir: &Path,
    layers: &[Layer],
    inputs: &Inputs,
) -> Result<PathBuf, ConfigError> {
    match (&inputs.flags.workspace, document.memory.path.as_str()) {
        // A path need not be text.
        (Some(path), _) if !path.starts_with("~") => Ok(inputs.working_dir.join(path)),
        (_, "") => Ok(data_dir.join(notes::FOLDER)),
        (_, text) => path_at("memory.path", text, layers, inputs),
    }
}

fn system_prompt_file(
    document: &Document,
    layers: &[Layer],
    inputs: &Inputs,
) -> Result<Option<PathBuf>, ConfigError> {
    let text = &document.system_prompt_file;
    if text.is_empty() {
        return Ok(None);
    }
    path_at("system_prompt_file", text, layers, inputs).map(Some)
}

/// A path, from the folder of the file that says it, or from the working folder.
fn path_at(
    key: &str,
    text: &str,
    layers: &[Layer],
    inputs: &Inputs,
) -> Result<PathBuf, ConfigError> {
    let source = source_of(layers, &KeyPath::new(key));
    let base = match &source {
        Source::File { path, .. } => path.parent().unwrap_or(Path::new("")),
        Source::Default | Source::Environment(_) | Source::Flag(_) | Source::Preset(_) => {
            &inputs.working_dir
        }
    };
    expand(Written { text, base }, &inputs.folders).map_err(|why| refused(key, why, layers))
}

fn refused(key: &str, why: String, layers: &[Layer]) -> ConfigError {
    ConfigError::Mistakes(vec![Mistake {
        source: source_of(layers, &KeyPath::new(key)),
        key: key.to_owned(),
        problem: Problem::Refused(why),
    }])
}

/// What the file asks for, if it has no trust by where it lies or by the flag.
fn demand(found: &Found, layers: &[Layer], inputs: &Inputs) -> Option<Demand> {
    if found.standing == Standing::Own || inputs.flags.trust == TrustFlag::ThisRun {
        return None;
    }
    let place = Place {
        file: &found.path,
        working_dir: &inputs.working_dir,
        folders: &inputs.folders,
    };
    let file = layers.iter().find(|layer| layer.file().is_some())?;
    trust::demand(&file.tree, place)
}

fn is_granted(
    demand: &Demand,
    inputs: &Inputs,
    disk: &dyn Disk,
    warnings: &mut Vec<Warning>,
) -> bool {
    match trust::is_remembered(disk, &inputs.folders, demand) {
        Answer::Yes => true,
        Answer::No => false,
        Answer::Unreadable { path, why } => {
            warnings.push(Warning::TrustUnreadable { path, why });
            false
        }
    }
}
