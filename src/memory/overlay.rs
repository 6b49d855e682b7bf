//! A person's file of patterns over the embedded one of the same name: by language and key. Pure.
//!
//! Invariant: what the person's file does not name is as it was; a list or a text that it names takes the place of the whole.

use serde::de::DeserializeOwned;
use serde_yaml::{Mapping, Value};

/// Both as one.
pub(super) fn laid_over<T: DeserializeOwned>(
    embedded: &str,
    own: &str,
) -> Result<T, serde_yaml::Error> {
    let both = over(serde_yaml::from_str(embedded)?, serde_yaml::from_str(own)?);
    serde_yaml::from_value(both)
}

/// Languages that only the person's file has, in its order.
pub(super) fn added(embedded: &str, own: &str) -> Result<Vec<String>, serde_yaml::Error> {
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
