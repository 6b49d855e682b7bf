//! Writes the cue files and word lists as JSON, which the program reads at its start many times faster than YAML.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo says in the environment where to write"
)]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

const FOLDERS: [&str; 2] = ["config/cues", "config/search"];

fn main() -> Result<(), Box<dyn Error>> {
    let out = env::var("OUT_DIR")?;
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let read: serde_json::Value = serde_yaml::from_str(&fs::read_to_string(&path)?)?;
            let name = path.file_stem().ok_or("a file without a name")?;
            let json = Path::new(&out).join(name).with_extension("json");
            fs::write(json, serde_json::to_string(&read)?)?;
        }
    }
    Ok(())
}
