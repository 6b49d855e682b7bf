//! From flags, environment and file to a [`Config`]. Reads; never writes, asks or prints.

use std::io;
use std::path::{Path, PathBuf};

use super::checks::check;
use super::decode::{Fault, Faulty, decode};
use super::error::{ConfigError, Mistake, Position, Problem};
use super::keys::{keys_of, suggest};
use super::layers::{Flags, Layer, Source, TrustFlag, layer_of, source_of};
use super::paths::{Folders, Written, expand, is_inside, real};
use super::presets::Presets;
use super::search::{Found, Standing, find, find_own, is_personal_root, own_config_paths, read};
use super::settings::{Document, Paths};
use super::tree::{KeyPath, Tree};
use super::trust::{self, Configuration, Demand};
use super::warnings::warnings;
use super::yaml::Spot;
use super::{Config, yaml};
use crate::chat::{BadName, SessionName};
use crate::embed;
use crate::files::Disk;
use crate::long_term::entries;
use crate::long_term::notes::{self, RuleFiles};
use crate::provider::Environment;

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
    /// The folder that tools work in: `--project`, else where the program was started; as the system knows it.
    pub fn project(&self) -> PathBuf {
        let folder = self.flags.project.as_deref().unwrap_or(Path::new(""));
        real(&self.working_dir.join(folder))
    }

    /// Takes what the system says, beside the flags. Fails where the working folder is gone.
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

/// Every variable as it is now. What is not UTF-8 has replacement characters, so that it is refused where
/// it is used and not taken for unset.
pub fn environment() -> Environment {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    let variables = std::env::vars_os();
    Environment(
        variables
            .map(|(name, value)| {
                let text = |os: std::ffi::OsString| os.to_string_lossy().into_owned();
                (text(name), text(value))
            })
            .collect(),
    )
}

/// The configuration without what needs trust that was not given, and the question that would bring the rest.
#[derive(Debug)]
pub struct Loaded {
    pub config: Config,
    pub request: Option<TrustRequest>,
    /// What is wrong with a config file that was ignored, because its folder was never trusted.
    pub broken: Option<ConfigError>,
}

/// To be answered by the person: [`remember`](Self::remember), or, to show settings without acting on them,
/// [`unused`](Self::unused). Whoever goes on without it takes [`Loaded::config`].
#[derive(Debug)]
pub struct TrustRequest {
    /// What to ask about.
    pub demand: Demand,
    folders: Folders,
    config: Config,
}

impl TrustRequest {
    /// Yes, now and until the configuration changes.
    pub fn remember(self, disk: &dyn Disk) -> Result<Config, ConfigError> {
        self.demand.remember(disk, &self.folders)?;
        Ok(self.config)
    }

    /// Without the rules: for what asks no model. `None` where nothing else needs trust.
    pub fn without_rules(mut self) -> Option<Self> {
        self.demand.rules = None;
        (!self.demand.is_empty()).then_some(self)
    }

    /// The error where a configuration needs trust and nobody can be asked.
    pub fn refusal(&self) -> Option<ConfigError> {
        let configuration = self.demand.configuration.as_ref()?;
        Some(ConfigError::Untrusted {
            file: configuration.file.clone(),
            keys: configuration
                .keys
                .iter()
                .map(|key| key.key.clone())
                .collect(),
        })
    }

    /// The configuration for `config show` and `config check`, which contact and open nothing.
    pub fn unused(self) -> Config {
        self.config
    }
}

/// Finds, reads, checks and merges.
pub fn load(inputs: &Inputs, disk: &dyn Disk) -> Result<Loaded, ConfigError> {
    let mut files = files(inputs)?;
    let data = trust::in_working_folder(&inputs.working_dir)
        .filter(|_| !is_personal_root(&inputs.working_dir, &inputs.folders));
    let mut broken = None;
    let mut trusted = match build(&files, data.as_deref(), inputs, disk) {
        Err(error) if !may_hinder(&files, inputs, disk) => {
            files = find_own(&inputs.folders).into_iter().collect();
            broken = Some(error);
            build(&files, data.as_deref(), inputs, disk)?
        }
        built => built?,
    };
    let mut configuration = configuration(&files, &trusted, inputs);
    if let Some(demanded) = &configuration
        && let Some(error) = demanded.too_long()
        && inputs.flags.trust != TrustFlag::ThisRun
        && !demanded.is_granted(disk, &inputs.folders)
    {
        broken = Some(error);
        configuration = None;
    }
    let harmless = harmless_over_own(&files, &inputs.folders);
    if configuration.is_none() && harmless != files {
        files.clone_from(&harmless);
        trusted = build(&files, data.as_deref(), inputs, disk)?;
    }
    let demand = Demand {
        configuration,
        rules: some_rules(&trusted),
        data: data
            .as_deref()
            .filter(|data| !trust::is_own(disk, data, &inputs.folders))
            .map(|data| trust::described(&real(&inputs.working_dir), data)),
        ..Demand::default()
    };
    let mut unreadable = Vec::new();
    let mut demand = demand.without_granted(disk, &inputs.folders, &mut unreadable);
    trusted.warnings.append(&mut unreadable.clone());
    let own_data = data.as_deref().filter(|_| demand.data.is_none());
    // Where sessions are kept elsewhere, or the person named this very folder, there is nothing to ask about it.
    let is_named = inputs.flags.data_dir.is_some()
        || matches!(trusted.source("data_dir"), Source::Environment(_));
    demand.data = demand
        .data
        .filter(|_| !is_named && data.as_ref() == Some(&trusted.settings.data_dir));
    trusted.is_trusted = broken.is_none();
    if demand.is_empty() || inputs.flags.trust == TrustFlag::ThisRun {
        return Ok(Loaded {
            config: trusted,
            request: None,
            broken,
        });
    }
    let counting = match &demand.configuration {
        Some(_) => &harmless,
        None => &files,
    };
    let mut config = build(counting, own_data, inputs, disk)?;
    config.is_trusted = false;
    // What the file says of rules does not count either: those it hid or moved are not sent without trust.
    let restricted = Demand {
        rules: some_rules(&config),
        ..Demand::default()
    };
    let restricted = restricted.without_granted(disk, &inputs.folders, &mut Vec::new());
    if let Some(untrusted) = restricted.rules {
        let files = &mut config.rules.files;
        files.retain(|file| !untrusted.files.contains(file));
        demand.rules = demand.rules.or(Some(untrusted));
    }
    config.warnings.append(&mut unreadable);
    Ok(Loaded {
        config,
        request: Some(TrustRequest {
            demand,
            folders: inputs.folders.clone(),
            config: trusted,
        }),
        broken,
    })
}

/// Returns the config file that is read where it is trusted; where there is none, the one that would be.
pub fn config_file(inputs: &Inputs) -> Result<PathBuf, ConfigError> {
    let found = files(inputs)?.pop().map(|found| found.path);
    found
        .or_else(|| own_config_paths(&inputs.folders).next())
        .ok_or(ConfigError::NoConfigFile)
}

/// The file that counts where it is trusted.
fn files(inputs: &Inputs) -> Result<Vec<Found>, ConfigError> {
    let found = find(
        &inputs.flags,
        &inputs.environment,
        &inputs.working_dir,
        &inputs.folders,
    )?;
    Ok(found.into_iter().collect())
}

/// The files that count without trust: the person's own, and over it what is harmless of one that merely lies in the
/// folder.
fn harmless_over_own(files: &[Found], folders: &Folders) -> Vec<Found> {
    let harmless = files.iter().filter_map(|found| match found.standing {
        Standing::Own => None,
        Standing::WorkingFolder | Standing::Harmless => Some(Found {
            path: found.path.clone(),
            standing: Standing::Harmless,
        }),
    });
    let harmless: Vec<_> = harmless.collect();
    if harmless.is_empty() {
        return files.to_vec();
    }
    find_own(folders).into_iter().chain(harmless).collect()
}

/// Returns whether a mistake in a config file is the person's own: not in one that merely lies in a folder they never
/// trusted.
fn may_hinder(files: &[Found], inputs: &Inputs, disk: &dyn Disk) -> bool {
    files.iter().all(|found| found.standing == Standing::Own)
        || inputs.flags.trust == TrustFlag::ThisRun
        || trust::was_granted(&inputs.working_dir, disk, &inputs.folders)
}

/// The configuration with these files and this `./data`, where there are any.
fn build(
    files: &[Found],
    data: Option<&Path>,
    inputs: &Inputs,
    disk: &dyn Disk,
) -> Result<Config, ConfigError> {
    let presets = Presets::load(inputs.folders.config.as_deref())?;
    let layers = layers(files, inputs, &presets)?;
    check_layers(&layers, &inputs.modes)?;
    built(layers, presets, data, inputs, disk)
}

/// Returns the sound part of a configuration with mistakes; `None` where nothing is left.
/// A broken provider or model has a stand-in, so that what refers to it is not told as a second mistake.
pub fn load_sound(inputs: &Inputs, disk: &dyn Disk) -> Option<Config> {
    let files = files(inputs).ok()?;
    let presets = Presets::load(inputs.folders.config.as_deref()).ok()?;
    let mut layers = layers(&files, inputs, &presets).ok()?;
    for layer in &mut layers {
        for fault in faults(layer, &inputs.modes) {
            let stand_in = |keys: &[&str]| {
                let offline = |key: &&str| ((*key).to_owned(), Tree::Text("offline".to_owned()));
                Tree::Block(keys.iter().map(offline).collect())
            };
            let path = &fault.path.0;
            let entry = KeyPath(path.iter().take(2).cloned().collect());
            match (
                path.first().map(String::as_str),
                path.get(1).map(String::as_str),
            ) {
                (None, _) => return None,
                (Some("providers"), Some(_)) => layer.tree.set(&entry, stand_in(&["type"])),
                (Some("models"), Some(alias)) if alias != "default" => {
                    layer.tree.set(&entry, stand_in(&["provider", "model"]));
                }
                (Some(_), _) => layer.tree.remove(&fault.path),
            }
        }
    }
    built(layers, presets, None, inputs, disk).ok()
}

fn built(
    layers: Vec<Layer>,
    presets: Presets,
    data: Option<&Path>,
    inputs: &Inputs,
    disk: &dyn Disk,
) -> Result<Config, ConfigError> {
    let document = merged(&layers)?;
    let session = session(&document, &layers)?;
    let paths = paths(&document, data, &layers, inputs)?;
    let warnings = warnings(&document, &inputs.environment, &layers);
    let settings = document.settle(session, paths);
    let project = inputs.project();
    let is_project = !is_personal_root(&project, &inputs.folders);
    let root = entries::project_root(&settings.memory.store.project_root, &project, disk);
    let root = real(&root);
    let root = if is_personal_root(&root, &inputs.folders) || !project.starts_with(&root) {
        project.clone()
    } else {
        root
    };
    let names = settings.memory.workspace.project_files.iter();
    let names: Vec<String> = names.filter(|_| is_project).cloned().collect();
    Ok(Config {
        rules: trust::rules(&project, root, &names),
        is_project,
        is_trusted: true,
        settings,
        warnings,
        layers,
        presets,
    })
}

/// Returns what needs trust in the folder's own file, granted or not.
fn configuration(files: &[Found], config: &Config, inputs: &Inputs) -> Option<Configuration> {
    let is_there = |found: &&Found| found.standing == Standing::WorkingFolder;
    let found = files.iter().find(is_there)?;
    let layer = config.layers.iter().find(|layer| layer.file().is_some())?;
    let folder = &inputs.working_dir;
    let mut demanded = trust::configuration(&layer.tree, &found.path, folder)?;
    demanded.instead_of = find_own(&inputs.folders).map(|own| own.path);
    Some(demanded)
}

fn some_rules(config: &Config) -> Option<RuleFiles> {
    (!config.rules.files.is_empty()).then(|| config.rules.clone())
}

/// Marks an empty `./data` that this run keeps its sessions in as the person's own.
pub fn claim_data_folder(config: &Config, inputs: &Inputs, disk: &dyn Disk) -> io::Result<()> {
    match trust::in_working_folder(&inputs.working_dir) {
        Some(data) if data == config.settings.data_dir => {
            trust::claim(disk, &data, &inputs.folders)
        }
        Some(_) | None => Ok(()),
    }
}

/// Lowest first.
fn layers(files: &[Found], inputs: &Inputs, presets: &Presets) -> Result<Vec<Layer>, ConfigError> {
    let mut layers = Vec::new();
    for found in files {
        let text = read(found, &inputs.working_dir)?;
        let mut tree = yaml::parse(&text).map_err(|malformed| ConfigError::Malformed {
            path: found.path.clone(),
            position: malformed.position,
            message: malformed.message,
        })?;
        if found.standing == Standing::Harmless {
            tree = trust::harmless(&tree);
            if tree.is_empty_block() {
                continue;
            }
        }
        layers.push(Layer::of_file(found, text, tree));
    }
    let flags = Layer::of_flags(&inputs.flags).map_err(ConfigError::Mistakes)?;
    let environment = Layer::of_environment(&inputs.environment, &flags, &layers)
        .map_err(ConfigError::Mistakes)?;
    layers.extend([environment, flags]);
    layers.insert(0, presets.chosen(&layers)?);
    Ok(layers)
}

/// Each layer by itself, so that each mistake has its place, also one that a higher layer would cover.
fn check_layers(layers: &[Layer], modes: &[String]) -> Result<(), ConfigError> {
    let mistakes: Vec<Mistake> = layers
        .iter()
        .flat_map(|layer| {
            let faults = faults(layer, modes).into_iter();
            faults.map(|fault| mistake(fault, layer))
        })
        .collect();
    if mistakes.is_empty() {
        return Ok(());
    }
    Err(ConfigError::of(mistakes))
}

/// What is wrong in a layer. A rule may be broken by a default alone; that is nobody's mistake.
fn faults(layer: &Layer, modes: &[String]) -> Vec<Fault> {
    let mut faults = match decode::<Document>(&layer.tree) {
        Ok(document) => check(&document, modes),
        Err(Faulty { mut faults, rest }) => {
            let mut more: Vec<_> = rest.iter().flat_map(|rest| check(rest, modes)).collect();
            // What a block lacks may be what could not be read.
            more.retain(|more| {
                !faults
                    .iter()
                    .any(|fault| fault.path.0.starts_with(&more.path.0))
            });
            faults.append(&mut more);
            faults
        }
    };
    faults.retain(|fault| fault.is_of(&layer.tree));
    faults
}

fn mistake(mut fault: Fault, layer: &Layer) -> Mistake {
    suggest(&fault.path, &mut fault.problem, &keys_of::<Document>());
    let of: fn(Spot) -> Position = match fault.problem {
        Problem::UnknownKey { .. } | Problem::MissingKey { .. } => |spot| spot.key,
        Problem::WrongType { .. }
        | Problem::BadValue { .. }
        | Problem::NotOneOf { .. }
        | Problem::Refused(_)
        | Problem::Unknown { .. } => |spot| spot.value,
    };
    Mistake {
        source: layer.source_of(&fault.path, of),
        key: fault.path.to_string(),
        problem: fault.problem,
    }
}

fn merged(layers: &[Layer]) -> Result<Document, ConfigError> {
    let mut tree = Tree::empty();
    for layer in layers {
        tree.merge(&layer.tree);
    }
    decode(&tree).map_err(|faulty: Faulty<Document>| {
        let mistakes = faulty.faults.into_iter().map(|fault| Mistake {
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

fn paths(
    document: &Document,
    data: Option<&Path>,
    layers: &[Layer],
    inputs: &Inputs,
) -> Result<Paths, ConfigError> {
    let data_dir = data_dir(document, data, layers, inputs)?;
    let path_of = |key: &str, text: &str| path_at(key, text, layers, inputs);
    let embedding_folder = path_of("embedding.path", &document.embedding.path)?
        .unwrap_or_else(|| data_dir.join(embed::FOLDER));
    Ok(Paths {
        workspace: workspace(document, &data_dir, layers, inputs)?,
        data_dir,
        embedding_folder,
        system_prompt_file: path_of("system_prompt_file", &document.system_prompt_file)?,
        documents: path_of("rag.docs_dir", &document.rag.docs_dir)?,
    })
}

fn data_dir(
    document: &Document,
    data: Option<&Path>,
    layers: &[Layer],
    inputs: &Inputs,
) -> Result<PathBuf, ConfigError> {
    match &inputs.flags.data_dir {
        // A path need not be text.
        Some(path) if !path.starts_with("~") => Ok(inputs.working_dir.join(path)),
        _ if matches!(document.data_dir.as_str(), "" | "auto") => {
            let automatic = data.or(inputs.folders.data.as_deref());
            automatic
                .map(Path::to_owned)
                .ok_or(ConfigError::NoDataFolder)
        }
        _ => path_at("data_dir", &document.data_dir, layers, inputs)?
            .ok_or(ConfigError::NoDataFolder),
    }
}

fn workspace(
    document: &Document,
    data_dir: &Path,
    layers: &[Layer],
    inputs: &Inputs,
) -> Result<PathBuf, ConfigError> {
    match &inputs.flags.workspace {
        // A path need not be text.
        Some(path) if !path.starts_with("~") => Ok(inputs.working_dir.join(path)),
        _ => Ok(
            path_at("memory.path", &document.memory.path, layers, inputs)?
                .unwrap_or_else(|| data_dir.join(notes::FOLDER)),
        ),
    }
}

/// Returns a path, from the folder of the file that says it, or from the working folder; `None` where none is set.
fn path_at(
    key: &str,
    text: &str,
    layers: &[Layer],
    inputs: &Inputs,
) -> Result<Option<PathBuf>, ConfigError> {
    if text.is_empty() {
        return Ok(None);
    }
    let layer = layer_of(layers, &KeyPath::new(key));
    let base = match layer.and_then(Layer::file) {
        Some(path) => path.parent().unwrap_or(Path::new("")),
        None => &inputs.working_dir,
    };
    let path =
        expand(Written { text, base }, &inputs.folders).map_err(|why| refused(key, why, layers))?;
    // A link that came with the folder, or that a command made later, would lead where nobody was asked about.
    let folder = &inputs.working_dir;
    let is_of_folder = layer.is_some_and(Layer::is_of_folder);
    if is_of_folder && path.starts_with(folder) && !is_inside(&path, folder) {
        let why = format!(
            "leads out of {} through a link; write where it leads ({})",
            folder.display(),
            real(&path).display()
        );
        return Err(refused(key, why, layers));
    }
    Ok(Some(path))
}

fn refused(key: &str, why: String, layers: &[Layer]) -> ConfigError {
    ConfigError::Mistakes(vec![Mistake {
        source: source_of(layers, &KeyPath::new(key)),
        key: key.to_owned(),
        problem: Problem::Refused(why),
    }])
}
