//! A JSON value as a field holds it: a text is borrowed from the file where that is possible, so that the
//! contents of a large history are copied once, into the message they belong to.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor, value};
use serde_json::Value;

/// A value of a field: a text without a copy where the file allows it.
pub(super) enum Loose<'de> {
    Text(Cow<'de, str>),
    Null,
    Other(Value),
}

impl Loose<'_> {
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.into_owned()),
            Self::Null => Value::Null,
            Self::Other(value) => value,
        }
    }
}

impl<'de> Deserialize<'de> for Loose<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue;
        impl<'de> Visitor<'de> for AnyValue {
            type Value = Loose<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Loose<'de>, E> {
                Ok(Loose::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Loose<'de>, E> {
                Ok(Loose::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E>(self, text: String) -> Result<Loose<'de>, E> {
                Ok(Loose::Text(Cow::Owned(text)))
            }
            fn visit_unit<E>(self) -> Result<Loose<'de>, E> {
                Ok(Loose::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Loose<'de>, E> {
                Ok(Loose::Other(value.into()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Loose<'de>, E> {
                Ok(Loose::Other(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Loose<'de>, E> {
                Ok(Loose::Other(value.into()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Loose<'de>, E> {
                Ok(Loose::Other(value.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Loose<'de>, A::Error> {
                let list = Value::deserialize(value::SeqAccessDeserializer::new(seq))?;
                Ok(Loose::Other(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Loose<'de>, A::Error> {
                let object = Value::deserialize(value::MapAccessDeserializer::new(map))?;
                Ok(Loose::Other(object))
            }
        }
        deserializer.deserialize_any(AnyValue)
    }
}
