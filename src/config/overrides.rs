//! Texts for the model and tables that ship inside the program, each replaceable by a file of the same
//! name in the person's config folder. Unit: one text. Invariant: every row of the table has a text.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::presets;
use crate::hint::Hint;
use crate::{memory, provider};

/// A text for the model larger than this fills a small window by itself.
const MAX_BYTES: u64 = 64 * 1024;

/// Name under `config/` and content of each text.
fn embedded() -> impl Iterator<Item = (&'static str, &'static str)> {
    let tables = [
        ("models.yaml", provider::KNOWN_MODELS),
        (presets::FILE, presets::EMBEDDED),
    ];
    tables.into_iter().chain(memory::TEXTS)
}

/// The person's own text of a name, and where it is.
pub(super) fn own_text(
    user_config_folder: Option<&Path>,
    name: &str,
) -> Result<Option<(PathBuf, String)>, TextError> {
    match user_config_folder {
        Some(folder) => read_own(&folder.join(name)),
        None => Ok(None),
    }
}

/// All texts, each as it counts.
#[derive(Clone, Debug)]
pub struct Texts(Vec<Text>);

/// One text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Such as `modes/code.md`.
    pub name: &'static str,
    pub content: Cow<'static, str>,
    pub source: TextSource,
}

/// Where a text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextSource {
    Embedded,
    File(PathBuf),
}

impl Texts {
    /// Reads what the person replaces; the rest is as it ships.
    pub fn load(user_config_folder: Option<&Path>) -> Result<Self, TextError> {
        embedded()
            .map(|(name, content)| {
                let own = own_text(user_config_folder, name)?;
                Ok(own.map_or_else(
                    || Text {
                        name,
                        content: Cow::Borrowed(content),
                        source: TextSource::Embedded,
                    },
                    |(path, content)| Text {
                        name,
                        content: Cow::Owned(content),
                        source: TextSource::File(path),
                    },
                ))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The text of this name; `None` for a name that no text has.
    pub fn get(&self, name: &str) -> Option<&Text> {
        self.0.iter().find(|text| text.name == name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Text> {
        self.0.iter()
    }
}

/// Nothing there is fine; a link that leads nowhere is not nothing.
fn read_own(path: &Path) -> Result<Option<(PathBuf, String)>, TextError> {
    match std::fs::symlink_metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Ok(_) | Err(_) => read_text(path).map(|content| Some((path.to_owned(), content))),
    }
}

/// Reads a text for the model: an ordinary file, UTF-8, at most 64 KB. For `system_prompt_file` too.
pub fn read_text(path: &Path) -> Result<String, TextError> {
    let unreadable = |source| TextError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let not_text = |why: String| TextError::NotText {
        path: path.to_owned(),
        why,
    };
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(not_text("is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(not_text(format!("is larger than {} KB", MAX_BYTES / 1024)));
    }
    let text = String::from_utf8(bytes).map_err(|_| not_text("is not UTF-8".to_owned()))?;
    if text.contains('\0') {
        return Err(not_text("contains binary data".to_owned()));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

/// Why a text cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    #[error("cannot read {}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} cannot be used: it {why}", path.display())]
    NotText { path: PathBuf, why: String },
}

impl Hint for TextError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some("use a regular UTF-8 file of at most 64 KB, or move the file away to use the built-in one".into())
    }
}
