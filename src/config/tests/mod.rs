//! The configuration as a whole: what wins, what is refused and in which words, what needs trust, and that
//! the documents say what the code does.

mod documents;
mod mistakes;
mod precedence;
mod presets;
mod shown;
mod texts;
mod trusting;
mod warned;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::decode::decode;
use super::keys::keys_of;
use super::settings::Document;
use super::*;
use crate::files::LocalDisk;
use crate::hint::Hint;
use crate::provider::Environment;

/// A machine with a home, a config folder and a project in which cogtrix is started.
struct Machine {
    root: tempfile::TempDir,
    inputs: Inputs,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().canonicalize().unwrap().join(name);
        let inputs = Inputs {
            // Trust is what `trusting` is about.
            flags: Flags {
                trust: TrustFlag::ThisRun,
                ..Flags::default()
            },
            environment: Environment::default(),
            working_dir: at("project"),
            folders: Folders {
                home: Some(at("home")),
                config: Some(at("home/.config/cogtrix")),
                data: Some(at("home/.local/share/cogtrix")),
                state: Some(at("home/.local/state/cogtrix")),
            },
            modes: ["conversation", "code", "reasoning"]
                .map(str::to_owned)
                .into(),
        };
        fs::create_dir(&inputs.working_dir).unwrap();
        fs::create_dir(at("home")).unwrap();
        Self { root, inputs }
    }

    fn with(name: &str, text: &str) -> Self {
        let machine = Self::new();
        machine.write(name, text);
        machine
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path)
            .unwrap()
            .write_all(text.as_ref())
            .unwrap();
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.inputs
            .environment
            .0
            .insert(name.to_owned(), value.to_owned());
        self
    }

    fn flags(mut self, flags: Flags) -> Self {
        let trust = self.inputs.flags.trust;
        self.inputs.flags = Flags { trust, ..flags };
        self
    }

    /// The same, started by somebody who has trusted nothing.
    fn untrusted(mut self) -> Self {
        self.inputs.flags.trust = TrustFlag::AsRemembered;
        self
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        load(&self.inputs, &LocalDisk)
    }

    fn config(&self) -> Config {
        let Loaded {
            config, request, ..
        } = self.load().unwrap();
        let demand = request.map(|request| request.demand);
        assert_eq!(demand, None, "asks for trust");
        config
    }

    fn demand(&self) -> Option<TrustRequest> {
        self.load().unwrap().request
    }

    /// The configuration where nobody says yes.
    fn restricted(&self) -> Config {
        self.load().unwrap().config
    }

    /// The words of an error, paths shortened; also of one that hinders nothing, since the file is not trusted.
    fn error(&self) -> String {
        let error = match self.load() {
            Ok(loaded) => loaded.broken.expect("no error"),
            Err(error) => error,
        };
        error.to_string().replace(
            &format!("{}/", self.at("").display()).replace("//", "/"),
            "",
        )
    }
}
