//! Lines of `/api/chat`, read with tolerance. Pure. A whole reply is one line with `done: true`. Calls come
//! whole, and before today's versions without an id.

use serde::Deserialize;
use serde_json::Value;

use crate::chat::{Tokens, Usage};
use crate::provider::reply::{Decode, Reply};
use crate::provider::{FinishReason, ProviderError};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    message: Option<Message>,
    done: bool,
    done_reason: Option<String>,
    prompt_eval_count: Option<u32>,
    eval_count: Option<u32>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call {
    id: Option<String>,
    function: Function,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function {
    name: String,
    arguments: Option<Value>,
}

/// Holds nothing between lines.
pub(super) struct Decoder;

fn take_call(call: Call, reply: &mut Reply) {
    let arguments = match call.function.arguments {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text,
        Some(object) => object.to_string(),
    };
    reply.begin_call();
    reply.keep(&call.function.name);
    reply.keep(&arguments);
    reply.call(call.id, call.function.name, arguments);
}

impl Decode for Decoder {
    type Frame = String;

    fn frame(&mut self, line: String, reply: &mut Reply) -> Result<(), ProviderError> {
        let line: Line = reply.parse(&line, "a reply line")?;
        reply.check(line.error.as_ref())?;
        let message = line.message.unwrap_or_default();
        reply.reasoning(&message.thinking.unwrap_or_default());
        reply.text(&message.content.unwrap_or_default());
        for call in message.tool_calls.into_iter().flatten() {
            take_call(call, reply);
        }
        if line.done {
            // Counts of zero are left out; a prompt that was cached whole may count nothing.
            reply.used(Usage {
                prompt: line.prompt_eval_count.map(Tokens),
                completion: line.eval_count.map(Tokens),
                cached: None,
            });
            reply.ended(match line.done_reason.as_deref() {
                None | Some("") => FinishReason::Stop,
                Some(reason) => FinishReason::of(reason),
            });
        }
        Ok(())
    }

    fn close(&mut self, _reply: &mut Reply) {}
}

#[cfg(test)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "events are compared with what a stream yields"
)]
mod tests {
    use super::*;
    use crate::chat::ToolCall;
    use crate::provider::StreamEvent;
    use crate::provider::ndjson::Lines;
    use crate::provider::reply::{joined, replay};

    type Events = Vec<Result<StreamEvent, ProviderError>>;

    async fn lines(lines: &[&str]) -> Events {
        let lines = lines.iter().map(|line| Ok((*line).to_owned())).collect();
        joined(replay(Decoder, lines).await)
    }

    fn text(text: &str) -> Result<StreamEvent, ProviderError> {
        Ok(StreamEvent::Text(text.into()))
    }

    fn finished(reason: FinishReason, counts: (u32, u32)) -> Result<StreamEvent, ProviderError> {
        Ok(StreamEvent::Finished {
            reason,
            usage: Some(Usage {
                prompt: Some(Tokens(counts.0)),
                completion: Some(Tokens(counts.1)),
                cached: None,
            }),
        })
    }

    /// As Ollama writes it: Go's escapes, times of any precision, an empty content at the end.
    const RECORDED: &str = concat!(
        "{\"model\":\"m\",\"created_at\":\"2026-02-14T15:23:05.12Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"h\u{e9}\"},\"done\":false}\n",
        "{\"model\":\"m\",\"created_at\":\"2026-02-14T15:23:05.123456789Z\",\"message\":{\"role\":\"assistant\",\"content\":\"na\u{ef}ve \\u003cb\\u003e \"},\"done\":false}\r\n",
        "\n",
        "{\"message\":{\"content\":\"\u{1f600}\",\"tool_calls\":null},\"done\":false}\n",
        "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"length\",\"total_duration\":1,\"prompt_eval_count\":22,\"eval_count\":5}",
    );

    /// Trap 9.
    #[tokio::test]
    async fn recorded_bytes_cut_at_every_position_give_the_same_events() {
        let expected = [
            Ok(StreamEvent::Reasoning("hé".into())),
            text("naïve <b> 😀"),
            finished(FinishReason::Length, (22, 5)),
        ];
        for cut in 0..=RECORDED.len() {
            let (head, tail) = RECORDED.as_bytes().split_at(cut);
            let mut split = Lines::default();
            let mut got = split.push(head);
            got.extend(split.push(tail));
            got.extend(split.end());
            let got: Vec<&str> = got.iter().map(|line| line.as_deref().unwrap()).collect();
            assert_eq!(lines(&got).await, expected, "{cut}");
        }
    }

    const DONE: &str = r#"{"done":true,"done_reason":"stop","prompt_eval_count":2,"eval_count":3}"#;

    /// Trap 6: no id in older versions, "stop" for a reason.
    #[tokio::test]
    async fn calls_get_ids_of_their_own() {
        let got = lines(&[
            r#"{"message":{"content":"","tool_calls":[{"function":{"name":"read","arguments":{"p":1}}},{"function":{"name":"list","arguments":{}}}]},"done":false}"#,
            r#"{"message":{"tool_calls":[{"id":"x","function":{"index":2,"name":"list","arguments":"{}"}}]},"done":false}"#,
            DONE,
        ])
        .await;
        let call = |id: &str, name: &str, arguments: &str| {
            Ok(StreamEvent::ToolCall(ToolCall::new(id, name, arguments)))
        };
        assert_eq!(
            got,
            [
                call("call_m1_0", "read", r#"{"p":1}"#),
                call("call_m1_1", "list", "{}"),
                call("x", "list", "{}"),
                finished(FinishReason::ToolCalls, (2, 3)),
            ]
        );
    }

    #[tokio::test]
    async fn arguments_count_and_so_do_calls() {
        let long = format!(
            r#"{{"message":{{"tool_calls":[{{"function":{{"name":"f","arguments":{{"x":"{}"}}}}}}]}}}}"#,
            "x".repeat(4 << 20)
        );
        let short = r#"{"message":{"tool_calls":[{"function":{"name":"f","arguments":{}}}]}}"#;
        for (line, n, what) in [
            (long.as_str(), 8, "a reply of more than 32 MiB"),
            (short, 101, "a reply with more than 100 tool calls"),
        ] {
            let error = Err(ProviderError::Protocol {
                url: "http://test".into(),
                what: what.into(),
            });
            assert_eq!(lines(&vec![line; n]).await.last(), Some(&error));
        }
    }

    /// Trap 3: the error line, after which the body ends without `done`.
    #[tokio::test]
    async fn an_error_line_is_an_error_and_what_came_is_kept() {
        let got = lines(&[
            r#"{"message":{"content":"x"},"done":false}"#,
            r#"{"error":"an error was encountered while running the model"}"#,
        ])
        .await;
        assert_eq!(got[0], text("x"));
        let Err(ProviderError::Stream { message, .. }) = &got[1] else {
            panic!("{got:?}");
        };
        assert_eq!(message, "an error was encountered while running the model");
    }

    /// Traps 1 and 2.
    #[tokio::test]
    async fn a_stream_without_done_is_truncated() {
        for stream in [&[][..], &[r#"{"message":{"content":"x"},"done":false}"#]] {
            let got = lines(stream).await;
            let is_truncated = matches!(got.last(), Some(Err(ProviderError::Truncated { .. })));
            assert!(is_truncated, "{got:?}");
        }
    }

    #[tokio::test]
    async fn a_line_that_is_no_json_is_said() {
        let got = lines(&["<html>"]).await;
        let Err(error) = &got[0] else {
            panic!("{got:?}");
        };
        assert!(error.to_string().contains("<html>"), "{error}");
    }
}
