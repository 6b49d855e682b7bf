//! What every chat request has to keep, whatever the test is about: strict servers refuse anything else.
//! The system text comes first, then the user; two neighbours never have the same role; each call of a tool
//! has exactly one result right after it; the last word is not the assistant's; nothing is empty; the reply
//! has room.

use serde_json::Value;

use super::Request;
use super::render::Format;

/// The text of a message, in any of the formats.
pub(super) fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}

/// The rules that a request breaks.
pub(super) fn broken(format: Format, request: &Request) -> Vec<String> {
    let body = &request.body;
    let Some(messages) = body["messages"].as_array() else {
        return vec!["there are no messages".to_owned()];
    };
    let n_system = messages
        .iter()
        .take_while(|message| message["role"] == "system")
        .count();
    let said = &messages[n_system..];
    let mut broken = Vec::new();
    let room = match format {
        Format::Ollama => &body["options"]["num_predict"],
        Format::Openai if body["max_tokens"].is_null() => &body["max_completion_tokens"],
        Format::Openai | Format::Anthropic => &body["max_tokens"],
    };
    if room.as_i64().is_none_or(|room| room < 1) {
        broken.push(format!("no room for a reply: {room}"));
    }
    if format == Format::Ollama && body["options"]["num_ctx"].as_i64().is_none() {
        broken.push("no options.num_ctx".to_owned());
    }
    order(format, said, &mut broken);
    match format {
        Format::Openai | Format::Ollama => pairs(said, &mut broken),
        Format::Anthropic => anthropic_pairs(said, &mut broken),
    }
    broken
}

fn order(format: Format, said: &[Value], broken: &mut Vec<String>) {
    let role = |message: &Value| message["role"].as_str().unwrap_or_default().to_owned();
    if said.first().map(role).as_deref() != Some("user") {
        broken.push("the first message is not the user's".to_owned());
    }
    if !matches!(said.last().map(role).as_deref(), Some("user" | "tool")) {
        broken.push("the last message is neither the user's nor a result".to_owned());
    }
    for (index, pair) in said.windows(2).enumerate() {
        if role(&pair[0]) == role(&pair[1]) && role(&pair[0]) != "tool" {
            broken.push(format!("two {} messages at {index}", role(&pair[0])));
        }
    }
    for (index, message) in said.iter().enumerate() {
        let role = role(message);
        if role == "system" || (role == "tool" && format == Format::Anthropic) {
            broken.push(format!("a {role} message at {index}"));
        }
        let has_blocks = message["content"].as_array().is_some_and(|blocks| {
            let is_other = |block: &Value| block["type"] != "text";
            blocks.iter().any(is_other)
        });
        let may_be_empty = role == "tool" || has_blocks || message["tool_calls"].is_array();
        if !may_be_empty && text(message).trim().is_empty() {
            broken.push(format!("an empty {role} message at {index}"));
        }
    }
}

fn pairs(said: &[Value], broken: &mut Vec<String>) {
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in said.iter().enumerate() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            match open.iter().position(|call| *call == id) {
                Some(at) => drop(open.remove(at)),
                None => broken.push(format!("a result at {index} for no open call: {id:?}")),
            }
            continue;
        }
        close(&mut open, index, broken);
        let calls = message["tool_calls"].as_array();
        let ids = calls.into_iter().flatten();
        open.extend(ids.map(|call| call["id"].as_str().unwrap_or_default()));
    }
    close(&mut open, said.len(), broken);
}

fn close(open: &mut Vec<&str>, index: usize, broken: &mut Vec<String>) {
    let left = open.drain(..);
    broken.extend(left.map(|id| format!("the call {id:?} has no result before {index}")));
}

fn anthropic_pairs(said: &[Value], broken: &mut Vec<String>) {
    let blocks = |message: &'_ Value, kind: &str, id: &str| -> Vec<String> {
        let blocks = message["content"].as_array().into_iter().flatten();
        let blocks = blocks.filter(|block| block["type"] == kind);
        blocks
            .map(|block| block[id].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let mut open: Vec<String> = Vec::new();
    for (index, message) in said.iter().enumerate() {
        for id in blocks(message, "tool_result", "tool_use_id") {
            match open.iter().position(|call| *call == id) {
                Some(at) => drop(open.remove(at)),
                None => broken.push(format!("a result at {index} for no open call: {id:?}")),
            }
        }
        let left = open.drain(..);
        broken.extend(left.map(|id| format!("the call {id:?} has no result at {index}")));
        open = blocks(message, "tool_use", "id");
    }
    broken.extend(
        open.iter()
            .map(|id| format!("the call {id:?} has no result")),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(format: Format, messages: &Value) -> Vec<String> {
        let request = Request {
            body: json!({
                "messages": messages, "max_tokens": 1,
                "options": {"num_ctx": 1, "num_predict": 1},
            }),
            ..Request::default()
        };
        broken(format, &request)
    }

    #[test]
    fn a_good_dialogue_breaks_no_rule() {
        let openai = json!([
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "a"}, {"id": "b"}]},
            {"role": "tool", "tool_call_id": "b", "content": ""},
            {"role": "tool", "tool_call_id": "a", "content": "r"},
        ]);
        assert_eq!(check(Format::Openai, &openai), Vec::<String>::new());
        let anthropic = json!([
            {"role": "user", "content": [{"type": "text", "text": "u"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
        ]);
        assert_eq!(check(Format::Anthropic, &anthropic), Vec::<String>::new());
    }

    #[test]
    fn each_rule_is_held() {
        let user = json!({"role": "user", "content": "u"});
        let call = json!({"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]});
        for bad in [
            json!([]),
            json!([{"role": "assistant", "content": "a"}, user]),
            json!([user, user]),
            json!([user, {"role": "assistant", "content": "a"}]),
            json!([user, {"role": "system", "content": "late"}, user]),
            json!([{"role": "user", "content": " "}]),
            json!([user, call, user]),
            json!([user, {"role": "tool", "tool_call_id": "a", "content": "r"}]),
        ] {
            assert_ne!(check(Format::Openai, &bad), Vec::<String>::new(), "{bad}");
        }
    }
}
