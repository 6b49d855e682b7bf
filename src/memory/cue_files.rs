//! Cue files: words and patterns by language. A person's own is laid over the embedded one of the same name, by
//! language and key. Pure.
//!
//! Invariant: what the person's file does not name is as it was; a list or a text that it names takes the place of the
//! whole.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_yaml::{Mapping, Value};

use super::tracking::cues::filled;
use super::{Prompt, texts};
use crate::hint::Hint;
use crate::text::patterns::{Checked, Patterns};

/// The reason why there are no cues.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCues {
    /// A file that cannot be used: `config/cues/…` or the person's own.
    #[error("{file}: {what}")]
    File { file: String, what: String },

    /// A setting names languages that no file has.
    #[error("{setting}: {} is not one of {}", quoted(languages), known.join(", "))]
    Languages {
        setting: &'static str,
        languages: Vec<String>,
        known: Vec<String>,
    },
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    names.join(", ")
}

impl Hint for BadCues {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::File { .. } => {
                Some("fix the file, or move it away to use the built-in cues".into())
            }
            Self::Languages { .. } => None,
        }
    }
}

/// A cue file, by language.
pub(super) struct CueFile<T> {
    file: String,
    languages: BTreeMap<String, T>,
    /// Languages that only the person's file has, in its order.
    added: Vec<String>,
    pub(super) checked: Checked,
}

/// What a cue file says of a language that is listened for.
pub(super) struct Heard<T> {
    pub(super) language: String,
    pub(super) sheet: T,
    /// The person added it.
    pub(super) is_own: bool,
}

impl<T: DeserializeOwned> CueFile<T> {
    /// Reads the file of a name: the embedded one, with the person's own laid over it if `own` has one, whose patterns
    /// are checked.
    pub(super) fn read(name: &str, own: impl Fn(&str) -> Option<Prompt>) -> Result<Self, BadCues> {
        let embedded = texts::embedded(name);
        let Some(own) = own(name) else {
            return Ok(Self {
                languages: texts::read(texts::embedded_cues(name)).map_err(bad(&embedded.file))?,
                added: Vec::new(),
                checked: Checked::ByTests,
                file: embedded.file,
            });
        };
        let languages = laid_over(&embedded.text, &own.text).map_err(|error| {
            // Alone, a mistake has its line.
            let alone = serde_yaml::from_str::<BTreeMap<String, T>>(&own.text).err();
            alone.unwrap_or(error)
        });
        Ok(Self {
            languages: languages.map_err(bad(&own.file))?,
            added: added(&embedded.text, &own.text).map_err(bad(&own.file))?,
            checked: Checked::Now,
            file: own.file,
        })
    }

    /// Takes out the languages that are listened for: `always`, where the file has it, those of a setting, and those
    /// that the person added. Languages of the setting that the file does not have are a mistake.
    pub(super) fn heard(
        &mut self,
        always: Option<&str>,
        wanted: &[String],
        setting: &'static str,
    ) -> Result<Vec<Heard<T>>, BadCues> {
        let known = self.languages.keys().map(String::as_str);
        let known = known.filter(|name| Some(*name) != always);
        let known: Vec<String> = known.map(str::to_owned).collect();
        let mut unknown = Vec::new();
        let mut heard: Vec<Heard<T>> = Vec::new();
        for language in always
            .into_iter()
            .chain(wanted.iter().chain(&self.added).map(String::as_str))
        {
            if let Some(sheet) = self.languages.remove(language) {
                heard.push(Heard {
                    language: language.to_owned(),
                    sheet,
                    is_own: self.added.iter().any(|it| it == language),
                });
            } else if Some(language) != always && heard.iter().all(|it| it.language != language) {
                unknown.push(language.to_owned());
            }
        }
        if !unknown.is_empty() {
            return Err(BadCues::Languages {
                setting,
                languages: unknown,
                known,
            });
        }
        Ok(heard)
    }

    /// A mistake in this file.
    pub(super) fn bad(&self, what: String) -> BadCues {
        BadCues::File {
            file: self.file.clone(),
            what,
        }
    }
}

fn bad(file: &str) -> impl Fn(serde_yaml::Error) -> BadCues {
    move |error| BadCues::File {
        file: file.to_owned(),
        what: error.to_string(),
    }
}

/// What patterns of a language name, and who checks them. A mistake is told with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling<'s> {
    pub(super) lists: &'s BTreeMap<String, Vec<String>>,
    pub(super) checked: Checked,
}

impl Filling<'_> {
    /// The texts of patterns of one place.
    pub(super) fn texts(self, patterns: &[String], place: &str) -> Result<Vec<String>, String> {
        let filled = patterns.iter().map(|pattern| filled(pattern, self.lists));
        let filled: Result<Vec<String>, _> = filled.collect();
        filled.map_err(|error| format!("{place}: {error}"))
    }

    /// Patterns of one place, any of which counts.
    pub(super) fn patterns(self, patterns: &[String], place: &str) -> Result<Patterns, String> {
        let patterns = Patterns::read(self.texts(patterns, place)?, self.checked);
        patterns.map_err(|error| format!("{place}: {error}"))
    }
}

/// Both as one.
pub(super) fn laid_over<T: DeserializeOwned>(
    embedded: &str,
    own: &str,
) -> Result<T, serde_yaml::Error> {
    let both = over(serde_yaml::from_str(embedded)?, serde_yaml::from_str(own)?);
    serde_yaml::from_value(both)
}

/// Languages that only the person's file has, in its order.
fn added(embedded: &str, own: &str) -> Result<Vec<String>, serde_yaml::Error> {
    let embedded: Mapping = serde_yaml::from_str(embedded)?;
    let own: Option<Mapping> = serde_yaml::from_str(own)?;
    let own = own.unwrap_or_default().into_iter();
    let names = own.filter_map(|(name, _)| Some(name.as_str()?.to_owned()));
    Ok(names
        .filter(|name| !embedded.contains_key(name.as_str()))
        .collect())
}

fn over(embedded: Value, own: Value) -> Value {
    match (embedded, own) {
        (embedded, Value::Null) => embedded,
        (Value::Mapping(mut embedded), Value::Mapping(own)) => {
            for (key, value) in own {
                let value = match embedded.remove(&key) {
                    Some(old) => over(old, value),
                    None => value,
                };
                embedded.insert(key, value);
            }
            Value::Mapping(embedded)
        }
        (_, own) => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_stays_and_what_is_named_takes_its_place() {
        let embedded = "en: {never: [a, b], cues: {x: [1], y: [2]}}\nuz: {never: [c]}";
        let own = "en: {cues: {y: [3, 4]}}\nde: {never: [d]}\nuz:";
        let both: Value = laid_over(embedded, own).unwrap();
        let expected =
            "en: {never: [a, b], cues: {x: [1], y: [3, 4]}}\nuz: {never: [c]}\nde: {never: [d]}";
        assert_eq!(both, serde_yaml::from_str::<Value>(expected).unwrap());
        assert_eq!(added(embedded, own).unwrap(), ["de"]);
        assert_eq!(
            laid_over::<Value>(embedded, "").unwrap(),
            serde_yaml::from_str::<Value>(embedded).unwrap()
        );
        assert!(added(embedded, "").unwrap().is_empty());
    }
}
