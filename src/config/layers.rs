//! Where values come from: a file, the environment, the command line; later ones win. Each row of the two
//! tables is a variable or a flag and the key it sets.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use secrecy::{ExposeSecret, SecretString};

use super::error::{Mistake, Position, Problem};
use super::search::{Found, Standing};
use super::tree::{KeyPath, Tree};
use super::yaml::{Spot, Spots};
use crate::provider::Environment;

/// What the command line said, as far as it overrides the configuration.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    pub memory_mode: Option<String>,
    pub session: Option<String>,
    pub model: Option<String>,
    pub config_file: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
    pub project: Option<PathBuf>,
    pub workspace: Option<PathBuf>,
    pub tools: Option<String>,
    pub timeout: Option<String>,
    pub confirm: ConfirmFlag,
    /// `--plain`.
    pub plain: bool,
    pub sandbox: Option<String>,
    pub trust: TrustFlag,
    pub context_preset: Option<String>,
}

/// `--trust-folder`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrustFlag {
    /// Not given: what is remembered counts.
    #[default]
    AsRemembered,
    /// Given: this run trusts the working folder and the project; nothing is remembered.
    ThisRun,
}

/// `-y`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConfirmFlag {
    #[default]
    AsConfigured,
    /// Given: nothing is asked.
    Never,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Default,
    File {
        path: PathBuf,
        at: Option<Position>,
    },
    /// A variable, by name.
    Environment(&'static str),
    /// A flag, as it is typed.
    Flag(&'static str),
    /// What `context.preset` names.
    Preset(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, at: Some(at) } => write!(f, "{}:{at}", path.display()),
            Self::File { path, at: None } => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "${name}"),
            Self::Flag(name) => f.write_str(name),
            Self::Preset(name) => write!(f, "preset {name}"),
        }
    }
}

/// A variable and what it sets.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    pub name: &'static str,
    pub sets: Target,
}

/// What a variable sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Key(&'static str),
    /// Which file is read.
    ConfigFile,
}

/// `COGTRIX_CONFIG_FILE`.
pub(super) const CONFIG_FILE: &str = "COGTRIX_CONFIG_FILE";

/// Every variable that is read. Of two for one key the first counts.
pub const VARIABLES: [Variable; 18] = [
    variable("COGTRIX_MEMORY_MODE", Target::Key("memory.mode")),
    variable("COGTRIX_SESSION", Target::Key("session")),
    variable("COGTRIX_MODEL", Target::Key("models.default")),
    variable("COGTRIX_DATA_DIR", Target::Key("data_dir")),
    variable("COGTRIX_WORKSPACE_ROOT", Target::Key(WORKSPACE)),
    // Another program's, for whoever shares a workspace with it.
    variable("AGX_WORKSPACE_ROOT", Target::Key(WORKSPACE)),
    variable(CONFIG_FILE, Target::ConfigFile),
    variable("COGTRIX_CONTEXT_PRESET", Target::Key("context.preset")),
    variable("COGTRIX_TOOL_OUTPUT_TRIM_CHARS", TRIM),
    variable("CO_CLI_TOOL_OUTPUT_TRIM_CHARS", TRIM),
    variable("COGTRIX_MAX_HISTORY_MESSAGES", MAX_HISTORY),
    variable("CO_CLI_MAX_HISTORY_MESSAGES", MAX_HISTORY),
    variable("COGTRIX_SUMMARIZATION_MODEL", SUMMARISER),
    variable("CO_CLI_SUMMARIZATION_MODEL", SUMMARISER),
    variable("COGTRIX_EMBEDDER_SOURCE", Target::Key("embedding.source")),
    variable(
        RECALL_K,
        Target::Key("memory.modes.conversation.vector_recall_k"),
    ),
    variable(RECALL_K, Target::Key("memory.modes.code.vector_recall_k")),
    variable(
        RECALL_K,
        Target::Key("memory.modes.reasoning.vector_recall_k"),
    ),
];

/// The one key whose variables count only where the file does not set it (X15): a workspace that was chosen for cogtrix
/// is not left because another program is told of one.
const WORKSPACE: &str = "memory.path";
const TRIM: Target = Target::Key("context.tool_output_trim_chars");
const MAX_HISTORY: Target = Target::Key("context.max_history_messages");
const SUMMARISER: Target = Target::Key("memory.summarization_model");
const RECALL_K: &str = "COGTRIX_VECTOR_RECALL_K";

const fn variable(name: &'static str, sets: Target) -> Variable {
    Variable { name, sets }
}

/// A flag, the key it sets, and its value.
type FlagRow = (&'static str, &'static str, fn(&Flags) -> Option<String>);

const FLAGS: [FlagRow; 11] = [
    ("--memory-mode", "memory.mode", |f| f.memory_mode.clone()),
    ("--session", "session", |f| f.session.clone()),
    ("--model", "models.default", |f| f.model.clone()),
    ("--data-dir", "data_dir", |f| {
        path_text(f.data_dir.as_deref())
    }),
    ("--workspace", "memory.path", |f| {
        path_text(f.workspace.as_deref())
    }),
    ("--tools", "tools.preset", |f| f.tools.clone()),
    ("--timeout", "network.timeout", |f| f.timeout.clone()),
    ("--context-preset", "context.preset", |f| {
        f.context_preset.clone()
    }),
    ("--sandbox", "tools.shell.sandbox", |f| f.sandbox.clone()),
    ("--no-confirm", "tools.confirm", |f| {
        off_if(f.confirm == ConfirmFlag::Never)
    }),
    ("--plain", "ui.markdown", |f| off_if(f.plain)),
];

fn path_text(path: Option<&Path>) -> Option<String> {
    Some(path?.to_string_lossy().into_owned())
}

fn off_if(is_given: bool) -> Option<String> {
    is_given.then(|| "false".to_owned())
}

/// One layer.
#[derive(Clone)]
pub(super) struct Layer {
    pub(super) tree: Tree,
    origin: Origin,
}

#[derive(Clone)]
enum Origin {
    /// The text is kept for the lines of its keys, which are seldom wanted; it may hold keys of another kind.
    File {
        path: PathBuf,
        text: SecretString,
        spots: OnceLock<Spots>,
        standing: Standing,
    },
    /// The names of the variables that set something, by key.
    Environment(Vec<(&'static str, &'static str)>),
    Flags,
    Preset(String),
}

impl Layer {
    /// Makes the layer of a preset; below every other layer.
    pub(super) fn of_preset(name: String, tree: Tree) -> Self {
        Self {
            tree,
            origin: Origin::Preset(name),
        }
    }

    pub(super) fn of_file(found: &Found, text: String, tree: Tree) -> Self {
        Self {
            tree,
            origin: Origin::File {
                path: found.path.clone(),
                text: text.into(),
                spots: OnceLock::new(),
                standing: found.standing,
            },
        }
    }

    /// The flags that are given. An empty one is a variable of a shell that is not set.
    pub(super) fn of_flags(flags: &Flags) -> Result<Self, Vec<Mistake>> {
        let mut tree = Tree::empty();
        let mut mistakes = Vec::new();
        for (name, key, value) in &FLAGS {
            let Some(value) = value(flags) else {
                continue;
            };
            // The name of a session says itself what it may be.
            if value.trim().is_empty() && *key != "session" {
                mistakes.push(Mistake {
                    source: Source::Flag(name),
                    key: (*key).to_owned(),
                    problem: Problem::Refused("must not be empty".to_owned()),
                });
            }
            tree.set(&KeyPath::new(key), Tree::Word(value));
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Ok(Self {
            tree,
            origin: Origin::Flags,
        })
    }

    /// The variables that are set and that no layer in `above` overrides: what has no effect does no harm. Some give
    /// way to the files below.
    pub(super) fn of_environment(
        environment: &Environment,
        above: &Self,
        files: &[Self],
    ) -> Result<Self, Vec<Mistake>> {
        let mut tree = Tree::empty();
        let mut mistakes = Vec::new();
        let mut names = Vec::new();
        for Variable { name, sets } in VARIABLES {
            let (Target::Key(key), Some(value)) = (sets, environment.get(name)) else {
                continue;
            };
            let path = KeyPath::new(key);
            if value.is_empty() || above.tree.get(&path).is_some() || tree.get(&path).is_some() {
                continue;
            }
            if key == WORKSPACE && files.iter().any(|file| file.names(&path)) {
                continue;
            }
            names.push((key, name));
            if value.contains(char::REPLACEMENT_CHARACTER) {
                mistakes.push(Mistake {
                    source: Source::Environment(name),
                    key: key.to_owned(),
                    problem: Problem::Refused("is not UTF-8".to_owned()),
                });
            }
            tree.set(&path, Tree::Word(value.to_owned()));
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Ok(Self {
            tree,
            origin: Origin::Environment(names),
        })
    }

    /// Returns whether this layer says something for `path`.
    fn names(&self, path: &KeyPath) -> bool {
        match self.tree.get(path) {
            None | Some(Tree::Null) => false,
            Some(Tree::Text(text) | Tree::Word(text)) => !text.is_empty(),
            Some(_) => true,
        }
    }

    /// Returns where this layer has `path` from, at the place of the key or of the value, as `of` chooses. A key that is
    /// missing has its block's place.
    pub(super) fn source_of(&self, path: &KeyPath, of: fn(Spot) -> Position) -> Source {
        match &self.origin {
            Origin::File {
                path: file,
                text,
                spots,
                ..
            } => {
                let spots = spots.get_or_init(|| Spots::of(text.expose_secret()));
                Source::File {
                    path: file.clone(),
                    at: spots.get(path).map(of),
                }
            }
            Origin::Environment(names) => names
                .iter()
                .find(|(key, _)| path.matches(key))
                .map_or(Source::Default, |(_, name)| Source::Environment(name)),
            Origin::Flags => FLAGS
                .iter()
                .find(|(_, key, _)| path.matches(key))
                .map_or(Source::Default, |(name, ..)| Source::Flag(name)),
            Origin::Preset(name) => Source::Preset(name.clone()),
        }
    }

    pub(super) fn is_preset(&self) -> bool {
        matches!(self.origin, Origin::Preset(_))
    }

    /// Returns whether this is a file that merely lies in the folder.
    pub(super) fn is_of_folder(&self) -> bool {
        matches!(&self.origin, Origin::File { standing, .. } if *standing != Standing::Own)
    }

    /// The file's path, where this is one.
    pub(super) fn file(&self) -> Option<&PathBuf> {
        match &self.origin {
            Origin::File { path, .. } => Some(path),
            Origin::Environment(_) | Origin::Flags | Origin::Preset(_) => None,
        }
    }
}

/// Returns the layer that the effective value of `path` comes from; they stand lowest first.
pub(super) fn layer_of<'a>(layers: &'a [Layer], path: &KeyPath) -> Option<&'a Layer> {
    let mut highest = layers.iter().rev();
    highest.find(|layer| layer.tree.get(path).is_some())
}

/// Returns where the effective value of `path` comes from.
pub(super) fn source_of(layers: &[Layer], path: &KeyPath) -> Source {
    layer_of(layers, path).map_or(Source::Default, |layer| {
        layer.source_of(path, |spot| spot.key)
    })
}
