//! The tools of a server, as far as they are fit to be shown to a model. Unit: one list. Invariant: names differ,
//! descriptions and schemas are bounded, and a schema is one of an object.

use std::collections::BTreeSet;

use rmcp::model::{JsonObject, PaginatedRequestParams, Tool};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::{Map, Value, json};

const MAX_TOOLS: usize = 500;
const MAX_PAGES: usize = 100;
const LONGEST_NAME: usize = 256;
const LONGEST_DESCRIPTION: usize = 1024;
const LARGEST_SCHEMA: usize = 64 * 1024;

/// A tool as its server lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The server's own name for it.
    pub name: String,
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// Every page of a server's list; `allowed` are names, none means all.
pub(super) async fn list(
    peer: &Peer<RoleClient>,
    allowed: &[String],
) -> Result<Vec<Listed>, ServiceError> {
    let mut tools = Vec::new();
    let mut cursors = BTreeSet::new();
    let mut cursor = None;
    while cursors.len() < MAX_PAGES && tools.len() < MAX_TOOLS {
        let page = peer
            .list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor)))
            .await?;
        tools.extend(page.tools);
        cursor = page.next_cursor;
        // A server that names a page twice would never end.
        if cursor
            .as_ref()
            .is_none_or(|next| !cursors.insert(next.clone()))
        {
            break;
        }
    }
    Ok(fit(tools, allowed))
}

fn fit(tools: Vec<Tool>, allowed: &[String]) -> Vec<Listed> {
    let mut names = BTreeSet::new();
    let is_wanted =
        |tool: &Tool| allowed.is_empty() || allowed.iter().any(|name| *name == tool.name);
    let is_named = |tool: &Tool| (1..=LONGEST_NAME).contains(&tool.name.len());
    let tools = tools
        .into_iter()
        .filter(|tool| is_named(tool) && is_wanted(tool));
    tools
        .filter(|tool| names.insert(tool.name.clone()))
        .take(MAX_TOOLS)
        .map(|tool| Listed {
            description: description(&tool),
            parameters: parameters(&tool.input_schema),
            name: tool.name.into_owned(),
        })
        .collect()
}

/// Without control characters but line breaks, and not too long.
fn description(tool: &Tool) -> String {
    let said = tool
        .description
        .as_deref()
        .filter(|text| !text.trim().is_empty());
    let said = said.or(tool.title.as_deref()).unwrap_or_default().trim();
    let clean = said.chars().filter(|c| !c.is_control() || *c == '\n');
    let mut text: String = clean.clone().take(LONGEST_DESCRIPTION).collect();
    if clean.count() > LONGEST_DESCRIPTION {
        text.pop();
        text.push('…');
    }
    text
}

fn parameters(schema: &JsonObject) -> Value {
    let is_object = schema.get("type").is_none_or(|kind| kind == "object");
    let mut schema = schema.clone();
    schema.insert("type".to_owned(), json!("object"));
    // Some providers want to see them even where there are none.
    schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    let schema = Value::Object(schema);
    if is_object && schema.to_string().len() <= LARGEST_SCHEMA {
        schema
    } else {
        json!({"type": "object", "properties": {}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(tools: Value, allowed: &[&str]) -> Vec<Listed> {
        let allowed: Vec<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        fit(serde_json::from_value(tools).unwrap(), &allowed)
    }

    #[test]
    fn descriptions_lose_what_acts_on_a_terminal_and_what_is_too_much() {
        let tools = listed(
            json!([
                {"name": "a", "description": "\u{1b}[31mred\u{7}\r\nmore", "inputSchema": {}},
                {"name": "b", "description": "x".repeat(5000), "inputSchema": {}},
                {"name": "c", "title": "Called so", "inputSchema": {}},
            ]),
            &[],
        );
        assert_eq!(tools[0].description, "[31mred\nmore");
        assert_eq!(tools[1].description.chars().count(), LONGEST_DESCRIPTION);
        assert!(tools[1].description.ends_with("x…"));
        assert_eq!(tools[2].description, "Called so");
    }

    #[test]
    fn only_a_schema_of_an_object_of_bearable_size_is_passed_on() {
        let empty = json!({"type": "object", "properties": {}});
        let real =
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        for (schema, expected) in [
            (real.clone(), real),
            (json!({}), empty.clone()),
            (json!({"type": "string"}), empty.clone()),
            (
                json!({"type": "object", "properties": {"a": {"description": "x".repeat(LARGEST_SCHEMA)}}}),
                empty,
            ),
        ] {
            assert_eq!(
                listed(json!([{"name": "a", "inputSchema": schema}]), &[])[0].parameters,
                expected
            );
        }
    }

    #[test]
    fn tools_that_are_not_allowed_listed_twice_or_without_a_name_are_left_out() {
        let tools = json!([
            {"name": "a", "inputSchema": {}}, {"name": "", "inputSchema": {}},
            {"name": "a", "inputSchema": {}}, {"name": "b", "inputSchema": {}},
        ]);
        let names = |allowed: &[&str]| {
            listed(tools.clone(), allowed)
                .into_iter()
                .map(|tool| tool.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), ["a", "b"]);
        assert_eq!(names(&["b", "c"]), ["b"]);
    }
}
