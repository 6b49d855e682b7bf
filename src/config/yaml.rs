//! YAML text to a [`Tree`], and back from a key path to its line. Unit: one file.
//!
//! The parser keeps no positions, but its errors carry one: to find the keys, the text is read again with a visitor that
//! refuses each of them and each plain value, and goes on. Positions are wanted for messages only.

use std::collections::{BTreeMap, HashSet};
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

/// Finds where brackets and braces are nested beyond reason, quotes and comments not told apart.
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

/// Where a key stands, and where its value does; the latter is the key's own place where it is no plain value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) key: Position,
    pub(super) value: Position,
}

/// The places of all keys in a text that was read before.
#[derive(Clone, Debug)]
pub(super) struct Spots(BTreeMap<KeyPath, Spot>);

impl Spots {
    pub(super) fn of(text: &str) -> Self {
        let begin = text.lines().position(|line| !is_blank(line));
        let begin = Position {
            line: begin.unwrap_or_default() + 1,
            column: 1,
        };
        let whole = Spot {
            key: begin,
            value: begin,
        };
        let mut found = Self(BTreeMap::from([(KeyPath::default(), whole)]));
        let walk = Walk {
            at: KeyPath::default(),
            found: &mut found.0,
        };
        // It was read as a whole before; whatever stops it here, what was found counts.
        walk.deserialize(serde_yaml::Deserializer::from_str(text))
            .ok();
        found
    }

    /// Returns the place of a key, or of the innermost one around it that there is.
    pub(super) fn get(&self, path: &KeyPath) -> Option<Spot> {
        let mut path = path.clone();
        while !self.0.contains_key(&path) {
            path.0.pop()?;
        }
        self.0.get(&path).copied()
    }
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

/// Goes through all blocks.
struct Walk<'a> {
    at: KeyPath,
    found: &'a mut BTreeMap<KeyPath, Spot>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut name = None;
        // Each key and each plain value has been read by the time it is refused.
        while let Err(error) = entries.next_key_seed(StopAtKey(&mut name)) {
            let key = position_in_words(&error).unwrap_or(Position { line: 1, column: 1 });
            let Some(name) = name.take() else {
                return Err(error);
            };
            let path = self.at.child(&name);
            self.found.insert(path.clone(), Spot { key, value: key });
            let walk = Walk {
                at: path.clone(),
                found: &mut *self.found,
            };
            if let Err(error) = entries.next_value_seed(walk) {
                let value = position_in_words(&error);
                let spot = self.found.get_mut(&path).zip(value);
                spot.ok_or(error).map(|(spot, value)| spot.value = value)?;
            }
        }
        Ok(())
    }
}

/// Refuses a key, which it keeps.
struct StopAtKey<'a>(&'a mut Option<String>);

impl<'de> DeserializeSeed<'de> for StopAtKey<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for StopAtKey<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key name")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<(), E> {
        *self.0 = Some(key.to_owned());
        Err(E::custom("here"))
    }
}

/// Returns the position at the end of an error of the parser, which names line 1, column 1 by nothing.
fn position_in_words(error: &impl fmt::Display) -> Option<Position> {
    let text = error.to_string();
    let (_, at) = text.rsplit_once(" at line ")?;
    let (line, column) = at.split_once(" column ")?;
    Some(Position {
        line: line.parse().ok()?,
        column: column.parse().ok()?,
    })
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
        let text = "# first\nmemory:\n  mode: code\n  modes: {code: {max_files: 3}, list: [a: 1]}\nlast: &x {a: 1}\nlater: *x\nend: 'x at line 7 column 9'\n";
        let spots = Spots::of(text);
        let shown = |at: Position| (at.line, at.column);
        for (path, expected) in [
            ("memory", Some(((2, 1), (2, 1)))),
            ("memory.mode", Some(((3, 3), (3, 9)))),
            ("memory.mode.deeper", Some(((3, 3), (3, 9)))),
            ("memory.modes.code.max_files", Some(((4, 18), (4, 29)))),
            ("memory.modes.list", Some(((4, 33), (4, 33)))),
            ("memory.other", Some(((2, 1), (2, 1)))),
            ("last.a", Some(((5, 11), (5, 14)))),
            ("later", Some(((6, 1), (6, 1)))),
            ("end", Some(((7, 1), (7, 6)))),
            ("none", Some(((2, 1), (2, 1)))),
        ] {
            let found = spots.get(&KeyPath::new(path));
            let found = found.map(|spot| (shown(spot.key), shown(spot.value)));
            assert_eq!(found, expected, "{path}");
        }
    }

    #[test]
    fn the_places_of_many_keys_are_found_in_one_reading() {
        let lines: Vec<String> = (0..20_000).map(|n| format!("k{n}: {{a: 1}}\n")).collect();
        let spots = Spots::of(&lines.concat());
        assert_eq!(spots.0.len(), 40_001);
    }
}
