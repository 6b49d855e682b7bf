//! Writes the cue files, the word lists and the table of models as JSON, which the program reads at its start many times
//! faster than YAML, and the lists of concepts as maps, which it reads as they are.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo says in the environment where to write"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::{env, fs};

const FOLDERS: [&str; 2] = ["config/cues", "config/search"];
const MODELS: &str = "config/models.yaml";
const CONCEPTS: &str = "src/text/classify";

fn main() -> Result<(), Box<dyn Error>> {
    let out = env::var("OUT_DIR")?;
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        for entry in fs::read_dir(folder)? {
            as_json(&entry?.path(), &out)?;
        }
    }
    println!("cargo::rerun-if-changed={MODELS}");
    as_json(Path::new(MODELS), &out)?;
    println!("cargo::rerun-if-changed={CONCEPTS}");
    for entry in fs::read_dir(CONCEPTS)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "txt") {
            let name = path.file_stem().ok_or("a file without a name")?;
            let map = fst::Map::from_iter(concepts(&fs::read_to_string(&path)?))?;
            let file = Path::new(&out).join(name).with_extension("fst");
            fs::write(file, map.as_fst().as_bytes())?;
        }
    }
    Ok(())
}

fn as_json(yaml: &Path, out: &str) -> Result<(), Box<dyn Error>> {
    let read: serde_json::Value = serde_yaml::from_str(&fs::read_to_string(yaml)?)?;
    let name = yaml.file_stem().ok_or("a file without a name")?;
    let json = Path::new(out).join(name).with_extension("json");
    Ok(fs::write(json, serde_json::to_string(&read)?)?)
}

/// The words and phrases of a list, each with the number of its concept: the first that has it. A line is `NAME: FORM …`,
/// in a form `_` is a blank.
fn concepts(list: &str) -> BTreeMap<String, u64> {
    let mut concepts = BTreeMap::new();
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let lines = lines.filter_map(|line| line.split_once(": "));
    for (number, (_, forms)) in (0..).zip(lines) {
        for form in forms.split(' ') {
            concepts.entry(form.replace('_', " ")).or_insert(number);
        }
    }
    concepts
}
