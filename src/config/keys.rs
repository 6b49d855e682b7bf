//! Every valid key, learnt from the structs that are read: a deserializer that offers each field in turn
//! and notes what is asked of it. Used for the nearest key of a mistyped one, and by the tests that hold
//! the documents to the structs.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::error::Problem;
use super::tree::KeyPath;

/// Below this two names have nothing to do with each other.
const SIMILAR: f64 = 0.6;

/// Every key of `T`; `*` stands for a name that is the person's to choose.
pub(super) fn keys_of<T: DeserializeOwned>() -> Vec<KeyPath> {
    let mut found = Vec::new();
    // A type that cannot be explored has its keys noted up to there; the document tests would show it.
    drop(T::deserialize(Explorer {
        at: KeyPath::default(),
        found: &mut found,
    }));
    found
}

/// Adds to a problem the key that was probably meant.
pub(super) fn suggest(path: &KeyPath, problem: &mut Problem, keys: &[KeyPath]) {
    match problem {
        Problem::UnknownKey { nearest, valid } => {
            *nearest = nearest_key(path, valid, keys);
            for name in valid.iter_mut().filter(|name| *name == "*") {
                "NAME".clone_into(name);
            }
        }
        Problem::WrongType {
            wanted, nearest, ..
        } if wanted == "a mapping" => {
            let siblings: Vec<_> = keys
                .iter()
                .filter(|key| key.parent() == path.parent())
                .map(|key| key.last().to_owned())
                .collect();
            *nearest = similar(path.last(), siblings.iter())
                .map(|name| path.parent().child(name).to_string());
        }
        Problem::NotOneOf {
            found,
            known,
            nearest,
        } => *nearest = similar(found, known.iter()).cloned(),
        Problem::WrongType { .. }
        | Problem::MissingKey { .. }
        | Problem::BadValue { .. }
        | Problem::Refused(_)
        | Problem::Unknown { .. } => {}
    }
}

/// First what other programs call so, then the same name elsewhere, a sibling written almost so, a name elsewhere
/// written almost so.
fn nearest_key(path: &KeyPath, siblings: &[String], keys: &[KeyPath]) -> Option<String> {
    if path.to_string() == "model" {
        return Some("models.default".to_owned());
    }
    let blocks = keys.iter().map(KeyPath::parent);
    let same = keys.iter().cloned().chain(blocks);
    if let Some(same) = same.into_iter().find(|key| key.last() == path.last()) {
        return Some(same.to_string().replace('*', "NAME"));
    }
    if let Some(sibling) = similar(path.last(), siblings.iter().filter(|name| *name != "*")) {
        return Some(path.parent().child(sibling).to_string());
    }
    let alike = |key: &KeyPath| similarity(key.last(), path.last());
    // Of several of one name the first: keys that come first are set most.
    let mut near: Vec<&KeyPath> = keys.iter().filter(|key| alike(key) > 0.85).collect();
    near.sort_by(|a, b| alike(b).total_cmp(&alike(a)));
    let nearest = near.first()?;
    Some(nearest.to_string().replace('*', "NAME"))
}

/// The most similar of some names, if any is similar at all.
pub(super) fn similar<'a>(
    name: &str,
    among: impl Iterator<Item = &'a String>,
) -> Option<&'a String> {
    among
        .map(|known| (similarity(known, name), known))
        .filter(|(score, _)| *score >= SIMILAR)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, known)| known)
}

fn similarity(a: &str, b: &str) -> f64 {
    let known_as = |text: &str| text.to_lowercase().replace('-', "_");
    strsim::normalized_damerau_levenshtein(&known_as(a), &known_as(b))
}

struct Explorer<'a> {
    at: KeyPath,
    found: &'a mut Vec<KeyPath>,
}

impl Explorer<'_> {
    fn note(&mut self) {
        self.found.push(self.at.clone());
    }
}

macro_rules! values {
    ($($method:ident $visit:ident $value:expr,)*) => {
        $(fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Unexplored> {
            self.note();
            visitor.$visit($value)
        })*
    };
}

impl<'de> de::Deserializer<'de> for Explorer<'_> {
    type Error = Unexplored;

    values! {
        deserialize_bool visit_bool false,
        deserialize_i8 visit_i8 1,
        deserialize_i16 visit_i16 1,
        deserialize_i32 visit_i32 1,
        deserialize_i64 visit_i64 1,
        deserialize_u8 visit_u8 1,
        deserialize_u16 visit_u16 1,
        deserialize_u32 visit_u32 1,
        deserialize_u64 visit_u64 1,
        deserialize_f32 visit_f32 1.0,
        deserialize_f64 visit_f64 1.0,
        // Reads as a name, a text and a duration alike.
        deserialize_str visit_str "1s",
        deserialize_string visit_str "1s",
    }

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Unexplored> {
        self.note();
        // Reads as a name, a list of names and a size alike.
        visitor.visit_str("1")
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unexplored> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unexplored> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unexplored> {
        self.note();
        let first: StrDeserializer<'_, Unexplored> = variants
            .first()
            .copied()
            .unwrap_or_default()
            .into_deserializer();
        visitor.visit_enum(first)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unexplored> {
        self.deserialize_struct("", &["*"], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unexplored> {
        visitor.visit_map(Fields {
            explorer: self,
            rest: fields.iter(),
            current: "",
        })
    }

    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Unexplored> {
        self.note();
        visitor.visit_seq(de::value::SeqDeserializer::<_, Unexplored>::new(
            std::iter::empty::<()>(),
        ))
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

struct Fields<'a> {
    explorer: Explorer<'a>,
    rest: std::slice::Iter<'static, &'static str>,
    current: &'static str,
}

impl<'de> de::MapAccess<'de> for Fields<'_> {
    type Error = Unexplored;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unexplored> {
        let Some(name) = self.rest.next() else {
            return Ok(None);
        };
        self.current = name;
        let name: StrDeserializer<'_, Unexplored> = (*name).into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Unexplored> {
        seed.deserialize(Explorer {
            at: self.explorer.at.child(self.current),
            found: self.explorer.found,
        })
    }
}

/// A type that did not take what it was offered.
#[derive(Debug)]
struct Unexplored;

impl fmt::Display for Unexplored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a type cannot be explored")
    }
}

impl std::error::Error for Unexplored {}

impl de::Error for Unexplored {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}
