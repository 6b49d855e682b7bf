//! Writes the cue files as JSON, which the program reads at its start many times faster than YAML.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo says in the environment where to write"
)]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

const CUES: &str = "config/cues";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={CUES}");
    let out = env::var("OUT_DIR")?;
    for entry in fs::read_dir(CUES)? {
        let path = entry?.path();
        let read: serde_json::Value = serde_yaml::from_str(&fs::read_to_string(&path)?)?;
        let name = path.file_stem().ok_or("a file without a name")?;
        let json = Path::new(&out).join(name).with_extension("json");
        fs::write(json, serde_json::to_string(&read)?)?;
    }
    Ok(())
}
