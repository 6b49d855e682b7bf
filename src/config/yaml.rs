//! YAML text to a [`Tree`], and back from a key path to its line. Unit: one file.
//!
//! The parser keeps no positions, but its errors carry one: to find a key, the text is read again with a
//! visitor that stops there with an error. Files are small and positions are wanted for messages only.

use std::collections::HashSet;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, IgnoredAny, MapAccess,
    SeqAccess, Visitor,
};

use super::error::Position;
use super::tree::{KeyPath, Tree};

/// Why text is not YAML that could be a config file.
pub(super) struct Malformed {
    pub(super) position: Option<Position>,
    pub(super) message: String,
}

/// How deep brackets and braces may stand in each other. The parser's time grows with the square of it.
const DEEPEST: usize = 64;

/// How many of them there may be at all: closing ones inside quotes hide depth from a count of depth.
const MAX_OPENED: usize = 4096;

/// Reads a text. Duplicate keys, keys that are not text, tags, several documents and alias bombs are
/// refused.
pub(super) fn parse(text: &str) -> Result<Tree, Malformed> {
    if let Some(position) = too_deep(text) {
        return Err(Malformed {
            position: Some(position),
            message: "nested too deeply".to_owned(),
        });
    }
    match serde_yaml::from_str::<Tree>(text) {
        Ok(Tree::Null) => Ok(Tree::empty()),
        Ok(tree) => Ok(tree),
        // Comments alone are a file that sets nothing.
        Err(_) if text.lines().all(is_blank) => Ok(Tree::empty()),
        Err(error) => Err(Malformed {
            position: position(&error),
            message: message(&error),
        }),
    }
}

/// Where brackets and braces are nested beyond reason, quotes and comments not told apart.
fn too_deep(text: &str) -> Option<Position> {
    let (mut depth, mut opened) = (0_usize, 0_usize);
    for (line, content) in text.lines().enumerate() {
        for (column, letter) in content.chars().enumerate() {
            match letter {
                '[' | '{' => (depth, opened) = (depth + 1, opened + 1),
                ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > DEEPEST || opened > MAX_OPENED {
                return Some(Position {
                    line: line + 1,
                    column: column + 1,
                });
            }
        }
    }
    None
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// Whether a key or its value is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    Key,
    Value,
}

/// The line and column at which `path` stands in `text`.
pub(super) fn locate(text: &str, path: &KeyPath, spot: Spot) -> Option<Position> {
    let finder = Finder {
        path: &path.0,
        spot,
    };
    let error = finder
        .deserialize(serde_yaml::Deserializer::from_str(text))
        .err()?;
    position(&error)
}

fn position(error: &serde_yaml::Error) -> Option<Position> {
    let location = error.location()?;
    Some(Position {
        line: location.line(),
        column: location.column(),
    })
}

/// The parser's words without the position, which is given apart from them.
fn message(error: &serde_yaml::Error) -> String {
    let whole = error.to_string();
    let message = whole
        .split_once(" at line ")
        .map_or(whole.as_str(), |(message, _)| message);
    match message {
        "repetition limit exceeded" => "aliases expand to too much data".to_owned(),
        "recursion limit exceeded" => "nested too deeply".to_owned(),
        message if message.contains("more than one document") => {
            "more than one document; remove the `---` between them".to_owned()
        }
        message => message.to_owned(),
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Whole(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Whole(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Tree, E> {
        Ok(Tree::Whole(value))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Tree, E> {
        Ok(Tree::Whole(i128::try_from(value).unwrap_or(i128::MAX)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Real(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut block = Vec::new();
        let mut seen = HashSet::new();
        while let Some(key) = entries.next_key_seed(NewKey(&mut seen))? {
            block.push((key, entries.next_value()?));
        }
        Ok(Tree::Block(block))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<Tree, A::Error> {
        Err(A::Error::custom("tags such as !name are not supported"))
    }
}

/// A key that has not been seen in its block; complains at the key itself.
struct NewKey<'a>(&'a mut HashSet<String>);

impl<'de> DeserializeSeed<'de> for NewKey<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NewKey<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key name")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<String, E> {
        if !self.0.insert(key.to_owned()) {
            let key: String = key.chars().take(60).collect();
            return Err(E::custom(format!("duplicate key {key:?}")));
        }
        Ok(key.to_owned())
    }
}

/// Walks down to a path and stops there with an error.
#[derive(Clone, Copy)]
struct Finder<'a> {
    path: &'a [String],
    spot: Spot,
}

impl<'de> DeserializeSeed<'de> for Finder<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.path.is_empty() {
            return deserializer.deserialize_any(Stop);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Finder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let [wanted, deeper @ ..] = self.path else {
            return Ok(());
        };
        let stop_at_key = deeper.is_empty() && self.spot == Spot::Key;
        while let Some(found) = entries.next_key_seed(Probe {
            wanted,
            stop: stop_at_key,
        })? {
            if found {
                let finder = Self {
                    path: deeper,
                    spot: self.spot,
                };
                entries.next_value_seed(finder)?;
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Tells whether a key is the wanted one.
struct Probe<'a> {
    wanted: &'a str,
    stop: bool,
}

impl<'de> DeserializeSeed<'de> for Probe<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Probe<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key name")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<bool, E> {
        let found = key == self.wanted;
        if found && self.stop {
            return Err(E::custom("here"));
        }
        Ok(found)
    }
}

/// Refuses whatever it meets; the error says where that was.
struct Stop;

impl Visitor<'_> for Stop {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("to stop here")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let Ok(tree) = parse(text) else {
            panic!("not read: {text}")
        };
        tree.leaves()
            .iter()
            .map(|(path, value)| format!("{path}={} ({})", value.shown(), value.kind()))
            .collect()
    }

    #[test]
    fn a_file_becomes_a_tree() {
        assert_eq!(
            shown("a: 1\nb:\n  c: text\n  d: true\n  e: 0.5\n  f:\ng: {}\nh: [1, x]\ni: off\n"),
            [
                "a=1 (a number)",
                "b.c=text (text)",
                "b.d=true (true or false)",
                "b.e=0.5 (a number)",
                "g={} (a mapping)",
                "h=[1, x] (a list)",
                "i=off (text)",
            ]
        );
    }

    #[test]
    fn a_file_that_says_nothing_sets_nothing() {
        for text in ["", "\n\n", "# a comment\n  # another\n", "---\n", "~"] {
            assert_eq!(shown(text), [""; 0], "{text:?}");
        }
    }

    #[test]
    fn what_is_not_a_config_is_refused_at_its_place() {
        let mut bomb = vec!["a: &a [x, x, x, x, x, x, x, x]".to_owned()];
        for (name, last) in ('b'..='k').zip('a'..) {
            bomb.push(format!(
                "{name}: &{name} [{}]",
                vec![format!("*{last}"); 8].join(", ")
            ));
        }
        let bomb = bomb.join("\n");
        let deep = "[".repeat(200);
        let hidden = "?[\"]\",\n".repeat(50_000);
        for (text, at, words) in [
            ("a: b: c\n", Some((1, 5)), "mapping values are not allowed"),
            ("a: 1\n\tb: 2\n", Some((2, 1)), "tab character"),
            ("x: 1\ny:\n  a: 1\n  a: 2\n", Some((4, 3)), "\"a\""),
            ("? [a]\n: 1\n", Some((1, 3)), "a key name"),
            ("a: !thing 3\n", Some((1, 4)), "tags"),
            ("a: *nobody\n", Some((1, 4)), "unknown anchor"),
            ("a: 1\n---\nb: 2\n", None, "more than one document"),
            (bomb.as_str(), None, "aliases expand to too much data"),
            (deep.as_str(), Some((1, 65)), "nested too deeply"),
            (hidden.as_str(), Some((4097, 2)), "nested too deeply"),
            ("a: 'open\n", Some((2, 1)), "unexpected end of stream"),
            ("a: [1, 2\n", Some((2, 1)), "expected ',' or ']'"),
        ] {
            let Err(malformed) = parse(text) else {
                panic!("accepted: {text}")
            };
            let position = malformed.position.map(|at| (at.line, at.column));
            assert_eq!(position, at, "{text:?}: {}", malformed.message);
            assert!(
                malformed.message.contains(words),
                "{text:?}: {}",
                malformed.message
            );
        }
    }

    #[test]
    fn a_key_and_its_value_are_found_again() {
        let text = "# first\nmemory:\n  mode: code\n  modes: {code: {max_files: 3}}\n";
        for (path, spot, at) in [
            ("memory", Spot::Key, Some((2, 1))),
            ("memory.mode", Spot::Key, Some((3, 3))),
            ("memory.mode", Spot::Value, Some((3, 9))),
            ("memory.modes.code.max_files", Spot::Value, Some((4, 29))),
            ("memory.other", Spot::Key, None),
            ("memory.mode.deeper", Spot::Key, Some((3, 9))),
        ] {
            let found = locate(text, &KeyPath::new(path), spot).map(|at| (at.line, at.column));
            assert_eq!(found, at, "{path}");
        }
    }
}
