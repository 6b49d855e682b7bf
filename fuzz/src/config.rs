//! `cogtrix.yaml`: bytes -> settings, a question of trust, or mistakes with their places.

use std::fs::File;
use std::io::Write;

use cogtrix::config::{ConfigError, Flags, Folders, Inputs, Loaded, Source, load};
use cogtrix::files::MemoryDisk;
use cogtrix::hint::Hint;
use cogtrix::provider::Environment;
use tempfile::TempDir;

thread_local! {
    static PROJECT: TempDir = TempDir::new().expect("there is a folder for temporary files");
}

/// Loading never panics, says the same thing twice, and names a place that is in the file.
pub fn config(input: &[u8]) {
    PROJECT.with(|project| {
        let file = project.path().join("cogtrix.yaml");
        let written = File::create(&file).and_then(|mut file| file.write_all(input));
        written.expect("a temporary file can be written");
        let home = project.path().join("home");
        let inputs = Inputs {
            flags: Flags::default(),
            environment: Environment::default(),
            working_dir: project.path().to_owned(),
            folders: Folders {
                home: Some(home.clone()),
                config: Some(home.join(".config/cogtrix")),
                data: Some(home.join(".local/share/cogtrix")),
                state: Some(home.join(".local/state/cogtrix")),
            },
            modes: ["conversation", "code", "reasoning"]
                .map(str::to_owned)
                .into(),
        };
        let first = shown(&inputs, input);
        assert_eq!(first, shown(&inputs, input), "loading twice differs");
    });
}

/// What comes of a file, in words.
fn shown(inputs: &Inputs, input: &[u8]) -> String {
    let config = match load(inputs, &MemoryDisk::default()) {
        Err(error) => {
            check_places(&error, input);
            return format!("{error} {:?}", error.hint());
        }
        Ok(Loaded {
            config,
            request: None,
            ..
        }) => config,
        Ok(Loaded {
            request: Some(request),
            ..
        }) => {
            assert!(!request.demand.is_empty(), "asks for nothing");
            request.unused()
        }
    };
    let entries: Vec<_> = config.entries().collect();
    for entry in &entries {
        assert!(
            !entry.value.contains(char::is_control),
            "{entry:?} shows control characters"
        );
    }
    let presets = config.presets().len();
    format!("{entries:?} {presets} {:?}", config.warnings)
}

fn check_places(error: &ConfigError, input: &[u8]) {
    let lines = input.split(|byte| *byte == b'\n').count();
    let places: Vec<_> = match error {
        ConfigError::Malformed { position, .. } => vec![*position],
        ConfigError::Mistakes(mistakes) => {
            assert!(!mistakes.is_empty(), "mistakes without a mistake");
            let sources = mistakes.iter().map(|mistake| &mistake.source);
            let places = sources.map(|source| match source {
                Source::File { at, .. } => *at,
                _ => None,
            });
            places.collect()
        }
        _ => Vec::new(),
    };
    for at in places.into_iter().flatten() {
        // The parser may stand at the end of the file, and counts other line breaks, too.
        let most = lines
            + input
                .iter()
                .filter(|byte| !byte.is_ascii() || **byte == b'\r')
                .count();
        assert!((1..=most + 1).contains(&at.line), "{at:?} of {lines} lines");
    }
}
