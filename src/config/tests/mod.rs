//! The configuration as a whole: what wins, what is refused and in which words, what needs trust, and that
//! the documents say what the code does.

mod documents;
mod mistakes;
mod precedence;
mod shown;
mod texts;
mod trusting;
mod warned;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::decode::decode;
use super::keys::keys_of;
use super::settings::Document;
use super::*;
use crate::files::{Disk, Lock, LockError};
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
            flags: Flags::default(),
            environment: Environment::default(),
            working_dir: at("project"),
            folders: Folders {
                home: Some(at("home")),
                config: Some(at("home/.config/cogtrix")),
                data: Some(at("home/.local/share/cogtrix")),
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
        self.inputs.flags = flags;
        self
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        load(&self.inputs, &Folder)
    }

    fn config(&self) -> Config {
        match self.load().unwrap() {
            Loaded::Ready(config) => config,
            Loaded::Untrusted(request) => panic!("asks for trust: {:?}", request.demand),
        }
    }

    fn demand(&self) -> Option<TrustRequest> {
        match self.load().unwrap() {
            Loaded::Ready(_) => None,
            Loaded::Untrusted(request) => Some(request),
        }
    }

    /// The words of an error, paths shortened.
    fn error(&self) -> String {
        let error = self.load().expect_err("no error");
        error.to_string().replace(
            &format!("{}/", self.at("").display()).replace("//", "/"),
            "",
        )
    }
}

/// The real file system, as plainly as the tests need it.
#[derive(Debug)]
struct Folder;

impl Disk for Folder {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn read_head(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?
            .take(limit as u64)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        Ok(fs::metadata(path)?.len())
    }

    fn append_synced(&self, _: &Path, _: &[u8]) -> io::Result<()> {
        unimplemented!()
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::create_dir_all(path.parent().unwrap())?;
        File::create(path)?.write_all(bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if to.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn truncate(&self, _: &Path, _: u64) -> io::Result<()> {
        unimplemented!()
    }

    fn list(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        unimplemented!()
    }

    fn lock(&self, _: &Path, _: Duration) -> Result<Lock, LockError> {
        unimplemented!()
    }
}
