//! Presets of `context.preset`: named values for what nobody sets, in `config/presets.yaml`.
//!
//! Unit: one preset, a tree of the same keys as a config file. Invariant: a preset is the lowest layer, so that it
//! fills what no other layer sets and hides nothing.

use std::path::{Path, PathBuf};

use super::error::{ConfigError, Mistake, Problem};
use super::layers::{Layer, Source, source_of};
use super::overrides::own_text;
use super::tree::{KeyPath, Tree};
use super::{Config, yaml};
use crate::{context, memory};

/// As it ships.
pub(super) const EMBEDDED: &str = include_str!("../../config/presets.yaml");
/// Its name under `config/`.
pub(super) const FILE: &str = "presets.yaml";
/// The key that names one.
const KEY: &str = "context.preset";

/// All presets: the embedded ones in the order of their file, then those that only the person has.
#[derive(Clone)]
pub(super) struct Presets(Vec<Preset>);

#[derive(Clone)]
struct Preset {
    name: String,
    tree: Tree,
    /// The person's own file, where it is from there.
    own: Option<PathBuf>,
}

/// A preset and what it comes to beside everything else that is set.
#[derive(Clone, Debug, PartialEq)]
pub struct PresetChoice {
    pub name: String,
    /// Keys that it sets, such as `context.strategy: window`.
    pub sets: Vec<String>,
    pub context: context::Settings,
    pub memory: memory::Settings,
}

impl Presets {
    /// The embedded ones; one of the person's own takes the place of the one with its name, or stands beside them.
    pub(super) fn load(user_config_folder: Option<&Path>) -> Result<Self, ConfigError> {
        let embedded = Self::parse(Path::new("config").join(FILE).as_path(), EMBEDDED)?;
        let mut presets = Self(Vec::new());
        presets.lay(embedded, None);
        if let Some((path, text)) = own_text(user_config_folder, FILE)? {
            presets.lay(Self::parse(&path, &text)?, Some(&path));
        }
        Ok(presets)
    }

    fn lay(&mut self, over: Vec<(String, Tree)>, own: Option<&Path>) {
        for (name, tree) in over {
            let own = own.map(Path::to_owned);
            let preset = Preset { name, tree, own };
            match self.0.iter_mut().find(|it| it.name == preset.name) {
                Some(there) => *there = preset,
                None => self.0.push(preset),
            }
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Vec<(String, Tree)>, ConfigError> {
        let tree = yaml::parse(text).map_err(|malformed| ConfigError::Malformed {
            path: path.to_owned(),
            position: malformed.position,
            message: malformed.message,
        })?;
        match tree {
            Tree::Block(presets) => Ok(presets),
            Tree::Null => Ok(Vec::new()),
            _ => Err(ConfigError::NotConfig {
                path: path.to_owned(),
                why: "contains no presets".to_owned(),
            }),
        }
    }

    /// The layer of the preset that these layers name.
    pub(super) fn chosen(&self, layers: &[Layer]) -> Result<Layer, ConfigError> {
        let key = KeyPath::new(KEY);
        let named = layers.iter().rev().find_map(|layer| layer.tree.get(&key));
        let name = match named {
            None => context::Settings::default().preset,
            Some(Tree::Text(name) | Tree::Word(name)) => name.clone(),
            // Its type is found wrong with all others.
            Some(_) => return Ok(Layer::of_preset(String::new(), Tree::empty())),
        };
        self.layer(&name).ok_or_else(|| {
            let known = self.0.iter().map(|it| it.name.clone()).collect();
            ConfigError::Mistakes(vec![Mistake {
                source: source_of(layers, &key),
                key: KEY.to_owned(),
                problem: Problem::NotOneOf {
                    found: name.chars().take(60).collect(),
                    known,
                    nearest: None,
                },
            }])
        })
    }

    fn layer(&self, name: &str) -> Option<Layer> {
        let Preset { name, tree, own } = self.0.iter().find(|it| it.name == name)?;
        // What is wrong with one of the person's own is wrong in that file.
        let name = match own {
            Some(path) => format!("{name} in {}", path.display()),
            None => name.clone(),
        };
        let tree = match tree {
            Tree::Null => Tree::empty(),
            tree => tree.clone(),
        };
        Some(Layer::of_preset(name, tree))
    }
}

impl Config {
    /// Returns what each preset would come to beside everything else that is set; one with a mistake in it is left out.
    pub fn presets(&self) -> Vec<PresetChoice> {
        let names = self.presets.0.iter().map(|it| it.name.as_str());
        names.filter_map(|name| self.preset(name)).collect()
    }

    fn preset(&self, name: &str) -> Option<PresetChoice> {
        let layer = self.presets.layer(name)?;
        let leaves = layer.tree.leaves();
        let is_set = |path: &KeyPath| {
            let source = source_of(&self.layers, path);
            !matches!(source, Source::Default | Source::Preset(_))
        };
        let sets = leaves.iter().filter(|(_, value)| **value != Tree::empty());
        let sets = sets.map(|(path, value)| {
            let hidden = if is_set(path) { " (overridden)" } else { "" };
            format!("{path}: {}{hidden}", value.shown())
        });
        let sets = sets.collect();
        let above = self.layers.iter().filter(|layer| !layer.is_preset());
        let mut tree = layer.tree.clone();
        for layer in above {
            tree.merge(&layer.tree);
        }
        let document = super::decode::decode::<super::settings::Document>(&tree).ok()?;
        Some(PresetChoice {
            name: name.to_owned(),
            sets,
            context: context::Settings {
                preset: name.to_owned(),
                ..document.context
            },
            memory: document.memory,
        })
    }
}
