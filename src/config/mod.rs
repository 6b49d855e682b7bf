//! The configuration: layers that remember where each value comes from, merged once into the [`Settings`]
//! of everything below. The only part that reads the environment.
//!
//! ```text
//!   presets.yaml  --yaml-->  Tree --+
//!   cogtrix.yaml  --yaml-->  Tree --+
//!   COGTRIX_*     --layers-> Tree --+--> each: decode, checks --> mistakes, with their places
//!   flags         --layers-> Tree --+
//!                                   +--> merged --> decode --> Settings --> Config
//!                            file's +--> trust --> Demand? --> Loaded::request
//! ```
//!
//! The structs beside the code that reads them are the schema (`decode`, `keys`); defaults for people are
//! `cogtrix.example.yaml`, which a test holds to the structs.

mod checks;
mod decode;
mod error;
mod keys;
mod layers;
mod load;
mod overrides;
mod paths;
mod presets;
mod search;
mod settings;
mod show;
mod tree;
mod trust;
mod warnings;
mod yaml;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;

use crate::long_term::notes::RuleFiles;

pub use error::{ConfigError, Mistake, Position, Problem};
pub use layers::{ConfirmFlag, Flags, Source, Target, TrustFlag, VARIABLES, Variable};
pub use load::{
    Inputs, Loaded, TrustRequest, claim_data_folder, config_file, environment, load, load_sound,
};
pub use overrides::{Text, TextError, TextSource, Texts, read_text};
pub use paths::Folders;
pub use presets::PresetChoice;
pub use search::{config_paths, own_config_paths};
pub use settings::{RagSettings, Settings};
pub use show::Entry;
pub use trust::{Configuration, DataFolder, Demand, DemandedKey};
pub use warnings::Warning;

/// Every key with its default and what it means; also printed for people who want to begin a file.
pub const EXAMPLE: &str = include_str!("../../cogtrix.example.yaml");

/// The configuration of one run.
pub struct Config {
    pub settings: Settings,
    /// What is allowed and yet probably not meant.
    pub warnings: Vec<Warning>,
    /// Whether tools work in a project: not in the home folder, and not in the root of the file system.
    pub is_project: bool,
    /// Whether nothing that lies there was left out for want of trust.
    pub is_trusted: bool,
    /// Files with rules for the project that may be sent to the model.
    pub rules: RuleFiles,
    layers: Vec<layers::Layer>,
    presets: presets::Presets,
}

impl Config {
    /// Every key with its effective value, in the order of the example file.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        show::entries(&self.layers, &self.settings.data_dir).into_iter()
    }

    /// The same for later: it takes milliseconds, and a chat seldom asks.
    pub fn entries_later(&self) -> impl FnOnce() -> Vec<Entry> + Send + use<> {
        let (layers, data_dir) = (self.layers.clone(), self.settings.data_dir.clone());
        move || show::entries(&layers, &data_dir)
    }

    /// The files that count, what lies over another behind it.
    pub fn files(&self) -> Vec<PathBuf> {
        let files = self.layers.iter().filter_map(layers::Layer::file);
        files.cloned().collect()
    }

    /// The same for a person.
    pub fn files_shown(&self) -> Option<String> {
        let files = self.files();
        let files: Vec<_> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        (!files.is_empty()).then(|| files.join(" and "))
    }

    /// Returns where the value of a key comes from, such as `memory.mode`.
    pub fn source(&self, key: &str) -> Source {
        layers::source_of(&self.layers, &tree::KeyPath::new(key))
    }
}

/// Without the layers, which hold what a file says word for word.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("settings", &self.settings)
            .field("files", &self.files())
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}
