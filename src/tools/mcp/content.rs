//! What a call came back with, as text that a model can read. Pure. Invariant: every block leaves a trace; bytes are
//! named, never shown.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::tools::Output;

/// A result as ours.
pub(super) fn output(result: CallToolResult) -> Output {
    let blocks: Vec<String> = result.content.iter().map(block).collect();
    let has_text = result
        .content
        .iter()
        .any(|block| matches!(block, ContentBlock::Text(_) | ContentBlock::Resource(_)));
    let structured = result
        .structured_content
        .filter(|_| !has_text)
        .map(|value| value.to_string());
    let text = blocks
        .into_iter()
        .chain(structured)
        .collect::<Vec<_>>()
        .join("\n");
    let failed = result.is_error.unwrap_or(false);
    Output {
        brief: brief(&text, failed),
        text: if text.is_empty() {
            "(no content)".to_owned()
        } else {
            text
        },
        failed,
        ..Output::default()
    }
}

fn brief(text: &str, failed: bool) -> String {
    if failed {
        return "failed".to_owned();
    }
    match text.lines().count() {
        0 => "no content".to_owned(),
        1 => "1 line".to_owned(),
        lines => format!("{lines} lines"),
    }
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => bytes("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => bytes("audio", &audio.mime_type, &audio.data),
        ContentBlock::Resource(resource) => embedded(&resource.resource),
        ContentBlock::ResourceLink(link) => match &link.description {
            Some(description) => format!("[resource {} ({}): {description}]", link.uri, link.name),
            None => format!("[resource {} ({})]", link.uri, link.name),
        },
        // The protocol may get more kinds.
        _ => "[content of an unknown kind]".to_owned(),
    }
}

fn embedded(resource: &ResourceContents) -> String {
    match resource {
        ResourceContents::TextResourceContents { uri, text, .. } => {
            format!("[resource {uri}]\n{text}")
        }
        ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => {
            let kind = mime_type.as_deref().unwrap_or("application/octet-stream");
            format!("[resource {uri}, {kind}, {}]", size(blob))
        }
        _ => "[resource of an unknown kind]".to_owned(),
    }
}

fn bytes(kind: &str, mime: &str, base64: &str) -> String {
    format!("[{kind}, {mime}, {}]", size(base64))
}

/// Of the bytes that a text in base64 stands for.
fn size(base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() * 3 / 4;
    if bytes < 1024 {
        format!("{bytes} bytes")
    } else {
        format!("{} KB", bytes.div_ceil(1024))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(result: Value) -> Output {
        output(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn every_kind_of_block_becomes_text() {
        for (name, block, expected) in [
            ("text", json!({"type": "text", "text": "a\nb"}), "a\nb"),
            (
                "image",
                json!({"type": "image", "mimeType": "image/png", "data": "A".repeat(16384)}),
                "[image, image/png, 12 KB]",
            ),
            (
                "audio",
                json!({"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}),
                "[audio, audio/wav, 3 bytes]",
            ),
            (
                "resource",
                json!({"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}),
                "[resource file:///a]\ninside",
            ),
            (
                "blob",
                json!({"type": "resource", "resource": {"uri": "x:b", "blob": "AA=="}}),
                "[resource x:b, application/octet-stream, 1 bytes]",
            ),
            (
                "link",
                json!({"type": "resource_link", "uri": "x:c", "name": "c", "description": "a thing"}),
                "[resource x:c (c): a thing]",
            ),
        ] {
            let output = read(json!({"content": [block]}));
            assert_eq!(
                (output.text.as_str(), output.failed),
                (expected, false),
                "{name}"
            );
        }
    }

    #[test]
    fn structured_content_stands_in_where_there_is_no_text() {
        let alone = read(json!({"content": [], "structuredContent": {"n": 1}}));
        assert_eq!(alone.text, "{\"n\":1}");
        let beside = read(
            json!({"content": [{"type": "text", "text": "one"}], "structuredContent": {"n": 1}}),
        );
        assert_eq!(beside.text, "one");
        assert_eq!(read(json!({"content": []})).text, "(no content)");
    }

    #[test]
    fn an_error_is_a_failed_output_and_not_a_failure() {
        let output =
            read(json!({"content": [{"type": "text", "text": "no such file"}], "isError": true}));
        assert_eq!(
            (output.text.as_str(), output.brief.as_str(), output.failed),
            ("no such file", "failed", true)
        );
    }
}
