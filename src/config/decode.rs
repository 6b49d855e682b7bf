//! A [`Tree`] into the structs that say what may be set. The structs are the schema: their fields are the
//! valid keys, their types the valid values; nothing is listed twice. Unit: one layer.
//!
//! A struct whose keys cannot all be known names `"*"` among its fields: any other key is then valid.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer as _, Expected, IntoDeserializer,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::error::Problem;
use super::keys::similar;
use super::tree::{KeyPath, Tree};

/// More mistakes than this are not read by anybody.
const MAX_FAULTS: usize = 20;
const SHOWN_CHARS: usize = 60;

/// A problem and the key it is about.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) path: KeyPath,
    pub(super) problem: Problem,
}

/// A tree that was not read as a whole.
pub(super) struct Faulty<T> {
    pub(super) faults: Vec<Fault>,
    /// The tree without what is faulty.
    pub(super) rest: Option<T>,
}

/// Reads a tree; every fault is found, because what is faulty is taken out and the rest read again.
pub(super) fn decode<T: DeserializeOwned>(tree: &Tree) -> Result<T, Faulty<T>> {
    let mut faults = Vec::new();
    let mut rest = tree.clone();
    loop {
        match T::deserialize(Node(&rest)) {
            Ok(value) if faults.is_empty() => return Ok(value),
            Ok(rest) => {
                let rest = Some(rest);
                return Err(Faulty { faults, rest });
            }
            Err(mut fault) => {
                fault.path.0.reverse();
                rest.remove(&fault.path);
                if fault.follows_from(&faults) {
                    continue;
                }
                faults.push(fault);
                if faults.len() == MAX_FAULTS {
                    return Err(Faulty { faults, rest: None });
                }
            }
        }
    }
}

impl Fault {
    /// Returns whether what it is about stands in `tree`.
    pub(super) fn is_of(&self, tree: &Tree) -> bool {
        tree.has(&self.path)
    }

    /// Returns whether this is a key that is missing only because it was mistyped or taken out.
    fn follows_from(&self, earlier: &[Self]) -> bool {
        let Problem::MissingKey { key } = &self.problem else {
            return false;
        };
        earlier.iter().any(|fault| {
            fault.path.parent() == self.path
                && similar(fault.path.last(), [key].into_iter()).is_some()
        })
    }

    fn new(problem: Problem) -> Self {
        Self {
            path: KeyPath::default(),
            problem,
        }
    }

    /// One level up; paths grow from their end, and [`decode`] turns them round.
    fn below(mut self, key: &str) -> Self {
        self.path.0.push(key.to_owned());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.problem)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Problem::Refused(message.to_string()))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(Problem::WrongType {
            wanted: wanted(expected),
            found: kind(unexpected).to_owned(),
            nearest: None,
        })
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match unexpected {
            Unexpected::Str(text) => format!("{:?}", cut(text)),
            Unexpected::Signed(number) => number.to_string(),
            Unexpected::Unsigned(number) => number.to_string(),
            other => kind(other).to_owned(),
        };
        Self::new(Problem::BadValue {
            wanted: wanted(expected),
            found,
        })
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Problem::NotOneOf {
            found: cut(variant),
            known: expected.iter().map(|&known| known.to_owned()).collect(),
            nearest: None,
        })
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Problem::MissingKey {
            key: field.to_owned(),
        })
    }
}

fn cut(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

/// Returns what a type wants, for people; serde speaks of Rust's types.
fn wanted(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u8" | "u16" | "u64" | "usize" => "a whole number of 0 or more".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "text (quote it if it looks like a number)".to_owned(),
        "a duration" => "a duration such as 10s or 5min".to_owned(),
        other if other.starts_with("struct ") || other == "a map" => "a mapping".to_owned(),
        other => other.to_owned(),
    }
}

fn kind(unexpected: Unexpected<'_>) -> &'static str {
    match unexpected {
        Unexpected::Bool(_) => "true or false",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
        // Numbers beyond 64 bits come as a description of themselves.
        Unexpected::Other(what) if what.starts_with("integer") => "a number",
        Unexpected::Char(_) | Unexpected::Str(_) => "text",
        Unexpected::Unit | Unexpected::Option => "nothing",
        Unexpected::Seq => "a list",
        Unexpected::Map => "a mapping",
        Unexpected::Bytes(_)
        | Unexpected::NewtypeStruct
        | Unexpected::Enum
        | Unexpected::UnitVariant
        | Unexpected::NewtypeVariant
        | Unexpected::TupleVariant
        | Unexpected::StructVariant
        | Unexpected::Other(_) => "something else",
    }
}

/// A tree on its way into a type.
struct Node<'a>(&'a Tree);

impl<'a> Node<'a> {
    fn entries(&self) -> Result<&'a [(String, Tree)], Fault> {
        match self.0 {
            Tree::Block(entries) => Ok(entries),
            Tree::Null => Ok(&[]),
            other => Err(Fault::new(Problem::WrongType {
                wanted: "a mapping".to_owned(),
                found: other.kind().to_owned(),
                nearest: None,
            })),
        }
    }

    /// A word that reads as `T` is one; what does not is refused as the text it is.
    fn word<T: std::str::FromStr>(&self) -> Option<T> {
        match self.0 {
            Tree::Word(word) => word.trim().parse().ok(),
            _ => None,
        }
    }

    fn whole<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.word::<i64>() {
            Some(number) => visit_whole(number.into(), visitor),
            None => self.deserialize_any(visitor),
        }
    }
}

fn visit_whole<'de, V: Visitor<'de>>(number: i128, visitor: V) -> Result<V::Value, Fault> {
    match (u64::try_from(number), i64::try_from(number)) {
        (Ok(number), _) => visitor.visit_u64(number),
        (_, Ok(number)) => visitor.visit_i64(number),
        _ => visitor.visit_i128(number),
    }
}

macro_rules! whole_numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            self.whole(visitor)
        })*
    };
}

impl<'de> de::Deserializer<'de> for Node<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Tree::Null => visitor.visit_unit(),
            Tree::Bool(value) => visitor.visit_bool(*value),
            Tree::Whole(number) => visit_whole(*number, visitor),
            Tree::Real(number) => visitor.visit_f64(*number),
            Tree::Text(text) | Tree::Word(text) => visitor.visit_str(text),
            Tree::List(items) => {
                visitor.visit_seq(de::value::SeqDeserializer::new(items.iter().map(Node)))
            }
            Tree::Block(_) => self.deserialize_map(visitor),
        }
    }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.word() {
            Some(value) => visitor.visit_bool(value),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.word() {
            Some(number) => visitor.visit_f64(number),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Tree::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.0 {
            Tree::Text(text) | Tree::Word(text) => {
                let name: StrDeserializer<'_, Fault> = text.as_str().into_deserializer();
                visitor.visit_enum(name)
            }
            other => Err(Fault::new(Problem::WrongType {
                wanted: format!("one of {}", variants.join(", ")),
                found: other.kind().to_owned(),
                nearest: None,
            })),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_map(Entries::new(self.entries()?, &["*"]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_map(Entries::new(self.entries()?, fields))
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct identifier
        ignored_any
    }
}

impl IntoDeserializer<'_, Fault> for Node<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The entries of a block, checked against the keys it may have. Empty values are left out.
struct Entries<'a> {
    rest: std::slice::Iter<'a, (String, Tree)>,
    current: Option<&'a (String, Tree)>,
    valid: &'static [&'static str],
}

impl<'a> Entries<'a> {
    fn new(entries: &'a [(String, Tree)], valid: &'static [&'static str]) -> Self {
        Self {
            rest: entries.iter(),
            current: None,
            valid,
        }
    }

    fn check(&self, key: &str) -> Result<(), Fault> {
        if self.valid.contains(&key) || self.valid.contains(&"*") {
            return Ok(());
        }
        let problem = Problem::UnknownKey {
            nearest: None,
            valid: self.valid.iter().map(|&name| name.to_owned()).collect(),
        };
        Err(Fault::new(problem).below(key))
    }
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        while let Some(entry) = self.rest.next() {
            self.check(&entry.0)?;
            self.current = Some(entry);
            if entry.1 != Tree::Null {
                let key: StrDeserializer<'_, Fault> = entry.0.as_str().into_deserializer();
                return seed.deserialize(key).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some((key, value)) = self.current else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        seed.deserialize(Node(value))
            .map_err(|fault| fault.below(key))
    }
}
