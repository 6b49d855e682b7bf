//! Arguments made up for a schema: the least that it requires. Pure. Values are small and say that they mean nothing.

use serde_json::{Map, Value, json};

/// Deeper schemas are not followed.
const DEEPEST: usize = 4;

/// An object with every required property, if there is a value for each.
pub(super) fn arguments(schema: &Value) -> Option<Value> {
    object(schema, 0)
}

fn object(schema: &Value, depth: usize) -> Option<Value> {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let values = names.map(|name| {
        let value = value(schema.get("properties")?.get(name)?, depth + 1)?;
        Some((name.to_owned(), value))
    });
    Some(Value::Object(values.collect::<Option<Map<_, _>>>()?))
}

fn value(schema: &Value, depth: usize) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    let named = ["const", "default"]
        .into_iter()
        .find_map(|key| schema.get(key));
    let listed = ["enum", "examples"]
        .into_iter()
        .find_map(|key| schema.get(key)?.get(0));
    if let Some(value) = named.or(listed) {
        return Some(value.clone());
    }
    let variants = ["anyOf", "oneOf"]
        .into_iter()
        .find_map(|key| schema.get(key)?.as_array());
    if let Some(variants) = variants {
        return variants
            .iter()
            .find_map(|variant| value(variant, depth + 1));
    }
    let kind = schema.get("type")?;
    match kind.as_str().or_else(|| kind.get(0)?.as_str())? {
        "string" => Some(json!("sample")),
        "integer" | "number" => Some(schema.get("minimum").cloned().unwrap_or(json!(1))),
        "boolean" => Some(json!(false)),
        "array" => array(schema, depth),
        "object" => object(schema, depth),
        "null" => Some(Value::Null),
        _ => None,
    }
}

fn array(schema: &Value, depth: usize) -> Option<Value> {
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    match (least, schema.get("items")) {
        (0, _) => Some(json!([])),
        (1, Some(items)) => Some(json!([value(items, depth + 1)?])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_gets_the_least_value_of_its_type() {
        let schema = json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"}, "n": {"type": "number", "minimum": 3}, "yes": {"type": "boolean"},
                "one": {"enum": ["a", "b"]}, "list": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "inner": {"type": "object", "properties": {"x": {"type": ["integer", "null"]}}, "required": ["x"]},
                "either": {"anyOf": [{"type": "null"}]}, "left": {"type": "string"},
            },
            "required": ["text", "n", "yes", "one", "list", "inner", "either"],
        });
        let expected = json!({
            "text": "sample", "n": 3, "yes": false, "one": "a", "list": ["sample"], "inner": {"x": 1}, "either": null,
        });
        assert_eq!(arguments(&schema), Some(expected));
    }

    #[test]
    fn what_cannot_be_made_up_is_left_alone() {
        assert_eq!(arguments(&json!({})), Some(json!({})));
        for property in [
            json!({}),
            json!({"$ref": "#/x"}),
            json!({"type": "array", "minItems": 2}),
        ] {
            let schema = json!({"properties": {"a": property}, "required": ["a"]});
            assert_eq!(arguments(&schema), None, "{schema}");
        }
        assert_eq!(arguments(&json!({"required": ["unknown"]})), None);
    }
}
