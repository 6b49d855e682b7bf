use super::*;
use crate::chat::ToolCall;
use crate::provider::StreamEvent;
use crate::provider::reply::{joined, replay};
use crate::provider::sse;

type Events = Vec<Result<StreamEvent, ProviderError>>;

async fn chunks(chunks: &[&str]) -> Events {
    let chunks = chunks
        .iter()
        .map(|text| Ok(serde_json::from_str(text).unwrap()));
    joined(replay(Decoder::default(), chunks.collect()).await)
}

fn text(text: &str) -> Result<StreamEvent, ProviderError> {
    Ok(StreamEvent::Text(text.into()))
}

fn finished(reason: FinishReason, usage: Option<Usage>) -> Result<StreamEvent, ProviderError> {
    Ok(StreamEvent::Finished { reason, usage })
}

const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

/// A reply of llama.cpp's server: `content: null` first, thinking, then text, extra fields.
const RECORDED: &str = concat!(
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}],\"created\":1,\"id\":\"c\",\"object\":\"chat.completion.chunk\"}\n\n",
    ": keep-alive\n\n",
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"reasoning_content\":\"h\u{e9}\"}}]}\n\n",
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\"na\u{ef}ve \"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\u{1f600}\"}}]}\r\n\r\n",
    "data: {\"choices\":[{\"finish_reason\":\"stop\",\"index\":0,\"delta\":{}}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"completion_tokens\":5,\"prompt_tokens\":22,\"total_tokens\":27,\"prompt_tokens_details\":{\"cached_tokens\":7}},\"timings\":{\"cache_n\":1}}\n\n",
);

async fn bytes(pieces: &[&[u8]]) -> Events {
    let data = sse::recorded(pieces).await;
    let chunks = data
        .into_iter()
        .map(|data| Ok(serde_json::from_str(&data?).unwrap()));
    joined(replay(Decoder::default(), chunks.collect()).await)
}

/// Traps 8 and 9.
#[tokio::test]
async fn recorded_bytes_cut_at_every_position_give_the_same_events() {
    let usage = Usage {
        prompt: Some(Tokens(22)),
        completion: Some(Tokens(5)),
        cached: Some(Tokens(7)),
    };
    let expected = [
        Ok(StreamEvent::Reasoning("hé".into())),
        text("naïve 😀"),
        finished(FinishReason::Stop, Some(usage)),
    ];
    for cut in 0..=RECORDED.len() {
        let (head, tail) = RECORDED.as_bytes().split_at(cut);
        assert_eq!(bytes(&[head, tail]).await, expected, "{cut}");
    }
    let single: Vec<&[u8]> = RECORDED.as_bytes().chunks(1).collect();
    assert_eq!(bytes(&single).await, expected);
}

/// Trap 6.
#[tokio::test]
async fn calls_are_assembled_by_index_whatever_their_pieces() {
    let expected = [
        Ok(StreamEvent::ToolCall(ToolCall::new(
            "a",
            "read",
            r#"{"p":1}"#,
        ))),
        Ok(StreamEvent::ToolCall(ToolCall::new(
            "call_m1_1",
            "list",
            "{}",
        ))),
        finished(FinishReason::ToolCalls, None),
    ];
    let streams: [&[&str]; 3] = [
        // Interleaved, in pieces, the second without an id.
        &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"list","arguments":"{"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"p\""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":null,"function":{"arguments":"}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":":1}"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
        ],
        // Whole, as an object, no arguments at all, and "stop" for a reason.
        &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":{"p":1}}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"","function":{"name":"list"}}]}}]}"#,
            STOP,
        ],
        // Without indexes: an id begins a call.
        &[
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"read","arguments":"{\"p\":"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"1}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"list","arguments":null}}]}}]}"#,
            STOP,
        ],
    ];
    for stream in streams {
        assert_eq!(chunks(stream).await, expected, "{stream:?}");
    }
}

#[tokio::test]
async fn arguments_count_while_they_come_and_so_do_calls() {
    let piece = format!(
        r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"{}"}}}}]}}}}]}}"#,
        "x".repeat(1 << 20)
    );
    let call = |n: usize| {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{n},"function":{{"name":"f"}}}}]}}}}]}}"#
        )
    };
    let calls: Vec<String> = (0..=100).map(call).collect();
    let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    let error = |what: &str| {
        [Err(ProviderError::Protocol {
            url: "http://test".into(),
            what: what.into(),
        })]
    };
    let got = chunks(&vec![piece.as_str(); 33]).await;
    assert_eq!(got, error("a reply of more than 32 MiB"));
    let got = chunks(&calls).await;
    assert_eq!(got, error("a reply with more than 100 tool calls"));
    let got = chunks(&[&calls[..100], &[STOP]].concat()).await;
    assert_eq!(got.len(), 101);
    assert!(got.iter().all(Result::is_ok));
}

#[tokio::test]
async fn odd_but_good_chunks_are_read() {
    for odd in [
        r#"{"choices":[{"delta":{"content":"x"}}]}"#,
        r#"{"id":null,"created":1.5,"usage":null,"choices":[{"index":null,"delta":{"content":"x"},"finish_reason":""}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"text","text":"x"}],"tool_calls":null}}]}"#,
        r#"{"choices":[{"delta":{"refusal":"x","content":null}}],"error":null}"#,
    ] {
        let expected = [text("x"), finished(FinishReason::Stop, None)];
        assert_eq!(chunks(&[odd, STOP]).await, expected, "{odd}");
    }
}

#[tokio::test]
async fn thinking_inside_the_text_and_beside_it_is_no_text() {
    for thinking in [
        r#"{"choices":[{"delta":{"reasoning":"hm"}}]}"#,
        r#"{"choices":[{"delta":{"reasoning_content":"hm","reasoning":"hm"}}]}"#,
        r#"{"choices":[{"delta":{"content":"<think>hm</think>\n"}}]}"#,
    ] {
        let x = r#"{"choices":[{"delta":{"content":"x"}}]}"#;
        let expected = [
            Ok(StreamEvent::Reasoning("hm".into())),
            text("x"),
            finished(FinishReason::Stop, None),
        ];
        assert_eq!(chunks(&[thinking, x, STOP]).await, expected, "{thinking}");
    }
}

/// Traps 1 and 2.
#[tokio::test]
async fn a_stream_without_its_end_mark_is_truncated_and_keeps_what_came() {
    let truncated = || {
        Err(ProviderError::Truncated {
            url: "http://test".into(),
            why: None,
        })
    };
    assert_eq!(chunks(&[]).await, [truncated()]);
    let x = r#"{"choices":[{"delta":{"content":"<thi"}}]}"#;
    assert_eq!(chunks(&[x]).await, [text("<thi"), truncated()]);
}

/// Trap 3.
#[tokio::test]
async fn an_error_object_in_mid_stream_is_an_error() {
    for (error, message) in [
        (r#"{"error":{"message":"boom","code":500}}"#, "boom"),
        (r#"{"error":"boom"}"#, "boom"),
    ] {
        let x = r#"{"choices":[{"delta":{"content":"x"}}]}"#;
        let expected = Err(ProviderError::Stream {
            url: "http://test".into(),
            message: message.into(),
        });
        assert_eq!(chunks(&[x, error, STOP]).await, [text("x"), expected]);
    }
}

#[tokio::test]
async fn a_whole_completion_is_read_like_one_chunk() {
    let whole = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"x","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3}}"#;
    let usage = Usage {
        prompt: Some(Tokens(3)),
        ..Usage::default()
    };
    assert_eq!(
        chunks(&[whole]).await,
        [
            text("x"),
            Ok(StreamEvent::ToolCall(ToolCall::new("a", "f", "{}"))),
            finished(FinishReason::ToolCalls, Some(usage))
        ]
    );
}
