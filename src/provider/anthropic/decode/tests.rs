use super::*;
use crate::chat::ToolCall;
use crate::provider::StreamEvent;
use crate::provider::reply::{joined, replay};
use crate::provider::sse;

type Events = Vec<Result<StreamEvent, ProviderError>>;

async fn bytes(pieces: &[&[u8]]) -> Events {
    let decoder = Decoder::new(Names::default());
    joined(replay(decoder, sse::recorded(pieces).await).await)
}

async fn events(events: &[&str]) -> Events {
    let stream = format!("data: {}\n\n", events.join("\n\ndata: "));
    bytes(&[stream.as_bytes()]).await
}

fn text(text: &str) -> Result<StreamEvent, ProviderError> {
    Ok(StreamEvent::Text(text.into()))
}

fn call(id: &str, name: &str, arguments: &str) -> Result<StreamEvent, ProviderError> {
    Ok(StreamEvent::ToolCall(ToolCall::new(id, name, arguments)))
}

const RECORDED: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":7,\"cache_creation_input_tokens\":null,\"output_tokens\":1}}}\n\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"h\u{e9}\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"c2ln\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"na\u{ef}ve \u{1f600}\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
    "event: news\ndata: {\"type\":\"news\",\"index\":3,\"delta\":{\"type\":\"news_delta\"}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"read\",\"input\":{}}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"p\\\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\":1}\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":9}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

/// Traps 9 and 13.
#[tokio::test]
async fn recorded_bytes_cut_at_every_position_give_the_same_events() {
    let expected = [
        Ok(StreamEvent::Reasoning("hé".into())),
        text("naïve 😀"),
        call("toolu_1", "read", r#"{"p":1}"#),
        Ok(StreamEvent::Finished {
            reason: FinishReason::ToolCalls,
            usage: Some(Usage {
                prompt: Some(Tokens(17)),
                completion: Some(Tokens(9)),
                cached: Some(Tokens(7)),
            }),
        }),
    ];
    for cut in 0..=RECORDED.len() {
        let (head, tail) = RECORDED.as_bytes().split_at(cut);
        assert_eq!(bytes(&[head, tail]).await, expected, "{cut}");
    }
}

/// Trap 7: blocks that overlap, and start blocks without an input.
#[tokio::test]
async fn interleaved_blocks_are_kept_apart() {
    let got = events(&[
        r#"{"type":"message_start","message":{}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"one"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"two","input":{"whole":true}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":":1}"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ])
    .await;
    assert_eq!(
        got,
        [
            call("b", "two", r#"{"whole":true}"#),
            call("a", "one", r#"{"x":1}"#),
            Ok(StreamEvent::Finished {
                reason: FinishReason::ToolCalls,
                usage: None
            }),
        ]
    );
}

#[tokio::test]
async fn arguments_count_while_they_come_and_so_do_calls() {
    let begun = |n: usize| {
        format!(
            r#"{{"type":"content_block_start","index":{n},"content_block":{{"type":"tool_use","id":"a{n}","name":"f"}}}}"#
        )
    };
    let piece = format!(
        r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":"{}"}}}}"#,
        "x".repeat(1 << 20)
    );
    let error = |what: &str| {
        [Err(ProviderError::Protocol {
            url: "http://test".into(),
            what: what.into(),
        })]
    };
    let long: Vec<String> = [begun(0)].into_iter().chain(vec![piece; 33]).collect();
    let many: Vec<String> = (0..=100).map(begun).collect();
    for (stream, what) in [
        (long, "a reply of more than 32 MiB"),
        (many, "a reply with more than 100 tool calls"),
    ] {
        let stream: Vec<&str> = stream.iter().map(String::as_str).collect();
        assert_eq!(events(&stream).await, error(what));
    }
}

/// Trap 3.
#[tokio::test]
async fn an_error_event_is_an_error_and_an_overload_may_be_retried() {
    let start = r#"{"type":"message_start","message":{}}"#;
    let error =
        |kind: &str| format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"m"}}}}"#);
    let overloaded = events(&[start, &error("overloaded_error")]).await;
    assert!(
        overloaded[0]
            .as_ref()
            .is_err_and(ProviderError::is_transient)
    );
    let broken = events(&[start, &error("api_error")]).await;
    assert!(matches!(&broken[0], Err(ProviderError::Stream { message, .. }) if message == "m"));
}

/// Traps 1 and 2.
#[tokio::test]
async fn a_stream_without_message_stop_is_truncated() {
    let cut = RECORDED.find("event: message_stop").unwrap();
    for stream in ["", &RECORDED[..cut]] {
        let got = bytes(&[stream.as_bytes()]).await;
        let is_truncated = matches!(got.last(), Some(Err(ProviderError::Truncated { .. })));
        assert!(is_truncated, "{got:?}");
    }
}

#[tokio::test]
async fn a_whole_message_gives_the_same_events() {
    let got = events(&[r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"f","input":{"p":1}}],"stop_reason":"max_tokens","usage":{"input_tokens":3,"output_tokens":4}}"#]).await;
    assert_eq!(
        got,
        [
            Ok(StreamEvent::Reasoning("hm".into())),
            text("x"),
            call("a", "f", r#"{"p":1}"#),
            Ok(StreamEvent::Finished {
                reason: FinishReason::Length,
                usage: Some(Usage {
                    prompt: Some(Tokens(3)),
                    completion: Some(Tokens(4)),
                    cached: None
                })
            })
        ]
    );
}
