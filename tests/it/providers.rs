//! The three wire formats against a scripted server: what is sent, what arrives, and what happens when it
//! does not. The traps of real servers each have a test, here or beside the decoder.

#![expect(
    clippy::unnecessary_wraps,
    reason = "events are compared with what a stream yields"
)]

use std::time::Duration;

use cogtrix::chat::{Message, MessageId, Role, Tokens, ToolCall, Usage};
use cogtrix::hint::Hint;
use cogtrix::provider::{
    Catalog, ChatRequest, Choice, Delivery, Environment, FinishReason, Images, KeySource, Kind,
    ModelSettings, Provider, ProviderError, ProviderSettings, Purpose, Settings, StreamEvent,
    WindowSource,
};
use cogtrix::testing::server::{Reply, Script, Server, fail, hang_up, raw, say, silent, stream_of};
use futures_util::StreamExt;
use serde_json::json;

type Events = Vec<Result<StreamEvent, ProviderError>>;

const KINDS: [Kind; 3] = [Kind::Openai, Kind::Ollama, Kind::Anthropic];

fn entry(kind: Kind, server: &Server) -> ProviderSettings {
    ProviderSettings {
        kind,
        base_url: match kind {
            Kind::Openai => server.openai_url(),
            Kind::Ollama | Kind::Anthropic | Kind::Offline => server.url(),
        },
        api_key: Some("sk-secret-key".into()),
        api_key_env: String::new(),
    }
}

fn settings(kind: Kind, server: &Server) -> Settings {
    let mut settings = Settings::default();
    settings
        .providers
        .insert("test".into(), entry(kind, server));
    settings
}

async fn choose(settings: Settings, choice: &str) -> Result<Choice, ProviderError> {
    Catalog::new(settings, Environment::default())
        .choose(Some(choice))
        .await
}

async fn provider(kind: Kind, server: &Server) -> std::sync::Arc<dyn Provider> {
    let choice = choose(settings(kind, server), "test/scripted").await;
    choice.unwrap().provider
}

fn request(text: &str) -> ChatRequest {
    ChatRequest {
        system: vec!["Be kind.".into()],
        recalled: None,
        messages: [Message::text(
            MessageId::numbered(1),
            Role::User,
            text,
            None,
        )]
        .into(),
        images: Images::default(),
        tools: Vec::new(),
        max_tokens: Tokens(100),
        temperature: None,
        purpose: Purpose::Reply,
        delivery: Delivery::Streamed,
    }
}

fn whole(text: &str) -> ChatRequest {
    ChatRequest {
        delivery: Delivery::Whole,
        ..request(text)
    }
}

async fn ask(kind: Kind, server: &Server) -> Events {
    collect(provider(kind, server).await.stream(request("hi"))).await
}

/// Collects a stream with neighbouring deltas joined, so that chunking does not matter.
async fn collect(mut events: cogtrix::provider::EventStream) -> Events {
    let mut all: Events = Vec::new();
    while let Some(event) = events.next().await {
        match (all.last_mut(), event) {
            (Some(Ok(StreamEvent::Text(last))), Ok(StreamEvent::Text(next)))
            | (Some(Ok(StreamEvent::Reasoning(last))), Ok(StreamEvent::Reasoning(next))) => {
                last.push_str(&next);
            }
            (_, event) => all.push(event),
        }
    }
    all
}

fn text(text: &str) -> Result<StreamEvent, ProviderError> {
    Ok(StreamEvent::Text(text.into()))
}

fn usage(prompt: u32, completion: u32, cached: Option<u32>) -> Usage {
    Usage {
        prompt: Some(Tokens(prompt)),
        completion: Some(Tokens(completion)),
        cached: cached.map(Tokens),
    }
}

fn finished(kind: Kind, reason: FinishReason) -> Result<StreamEvent, ProviderError> {
    let cached = (kind == Kind::Openai).then_some(0);
    Ok(StreamEvent::Finished {
        reason,
        usage: Some(usage(10, 5, cached)),
    })
}

fn error(events: &Events) -> &ProviderError {
    match events.last() {
        Some(Err(error)) => error,
        other => panic!("no error but {other:?}"),
    }
}

#[tokio::test]
async fn a_dialogue_reads_the_same_in_every_format() {
    for kind in KINDS {
        let server = Server::start([
            say("naïve 😀 café").thinking("hm"),
            say("Let me see. ").calling("call_1", "read", json!({"path": "a<b>"})),
            say("<think>hm</think>\n\nYes."),
        ]);
        let provider = provider(kind, &server).await;
        let thought = || Ok(StreamEvent::Reasoning("hm".into()));
        let call = ToolCall::new("call_1", "read", r#"{"path":"a<b>"}"#);
        let expected = [
            vec![
                thought(),
                text("naïve 😀 café"),
                finished(kind, FinishReason::Stop),
            ],
            vec![
                text("Let me see. "),
                Ok(StreamEvent::ToolCall(call)),
                finished(kind, FinishReason::ToolCalls),
            ],
            vec![thought(), text("Yes."), finished(kind, FinishReason::Stop)],
        ];
        for expected in expected {
            assert_eq!(
                collect(provider.stream(request("hi"))).await,
                expected,
                "{kind:?}"
            );
        }
        assert_eq!(server.chats().len(), 3);
        let asked = &server.chats()[0];
        assert_eq!(asked.system(), "Be kind.", "{kind:?}");
        assert_eq!(asked.message(-1), "hi", "{kind:?}");
    }
}

#[tokio::test]
async fn a_reply_that_is_not_streamed_has_one_text() {
    for kind in KINDS {
        let server =
            Server::start([say("one two three")
                .thinking("hm")
                .calling("c", "f", json!({}))]);
        let provider = provider(kind, &server).await;
        let got: Events = provider.stream(whole("hi")).collect().await;
        let expected = [
            Ok(StreamEvent::Reasoning("hm".into())),
            text("one two three"),
            Ok(StreamEvent::ToolCall(ToolCall::new("c", "f", "{}"))),
            finished(kind, FinishReason::ToolCalls),
        ];
        assert_eq!(got, expected, "{kind:?}");
        assert_eq!(server.chats()[0].body["stream"], false);
    }
}

#[tokio::test]
async fn each_format_sends_its_key_and_its_version() {
    for (kind, name, value) in [
        (Kind::Openai, "authorization", "Bearer sk-secret-key"),
        (Kind::Ollama, "authorization", "Bearer sk-secret-key"),
        (Kind::Anthropic, "x-api-key", "sk-secret-key"),
    ] {
        let server = Server::start([say("x")]);
        drop(ask(kind, &server).await);
        let headers = server.chats()[0].headers.clone();
        assert_eq!(headers[name], value);
        assert_eq!(
            headers.contains_key("anthropic-version"),
            kind == Kind::Anthropic
        );
    }
}

#[tokio::test]
async fn without_a_key_no_header_is_sent() {
    let server = Server::start([say("x")]);
    let mut settings = settings(Kind::Openai, &server);
    settings.providers.get_mut("test").unwrap().api_key = None;
    let provider = choose(settings, "test/m").await.unwrap().provider;
    drop(collect(provider.stream(request("hi"))).await);
    assert!(!server.chats()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn the_reason_for_the_end_is_known_in_every_format() {
    for (kind, word, reason) in [
        (Kind::Openai, "length", FinishReason::Length),
        (Kind::Openai, "content_filter", FinishReason::Filtered),
        (Kind::Openai, "odd", FinishReason::Other("odd".into())),
        (Kind::Ollama, "length", FinishReason::Length),
        (Kind::Ollama, "unload", FinishReason::Stop),
        (Kind::Anthropic, "end_turn", FinishReason::Stop),
        (Kind::Anthropic, "max_tokens", FinishReason::Length),
        (Kind::Anthropic, "refusal", FinishReason::Filtered),
        (Kind::Anthropic, "stop_sequence", FinishReason::Stop),
    ] {
        let server = Server::start([say("x").finish(word)]);
        assert_eq!(
            ask(kind, &server).await,
            [text("x"), finished(kind, reason)]
        );
    }
}

/// A complete reply of a server that names no reason was taken for a broken one.
#[tokio::test]
async fn a_reply_without_a_reason_is_complete_where_its_end_is_marked() {
    let said = r#"{"choices":[{"delta":{"content":"x"},"finish_reason":null}]}"#;
    let complete = [
        text("x"),
        Ok(StreamEvent::Finished {
            reason: FinishReason::Stop,
            usage: None,
        }),
    ];
    for end in ["data: [DONE]\n\n", "data:[DONE]\r\n\r\n", "data: [DONE]"] {
        let server = Server::start([stream_of([format!("data: {said}\n\n"), end.to_owned()])]);
        assert_eq!(ask(Kind::Openai, &server).await, complete, "{end:?}");
    }
    let server = Server::start([raw(
        200,
        "application/json",
        [r#"{"choices":[{"message":{"content":"x"}}]}"#],
    )]);
    let got = provider(Kind::Openai, &server).await.stream(whole("hi"));
    assert_eq!(collect(got).await, complete);
    for unmarked in [&[said][..], &[]] {
        let events = unmarked.iter().map(|said| format!("data: {said}\n\n"));
        let server = Server::start([stream_of(events)]);
        let got = ask(Kind::Openai, &server).await;
        let is_truncated = matches!(error(&got), ProviderError::Truncated { .. });
        assert!(is_truncated, "{got:?}");
    }
}

/// Traps 2 and 10's sibling: the connection closes in the middle of the body.
#[tokio::test]
async fn a_reply_cut_half_way_keeps_what_came_and_says_so() {
    for kind in KINDS {
        let n = if kind == Kind::Anthropic { 3 } else { 2 };
        for reply in [
            say("one two three").cut_after(n),
            say("one two three").end_after(n),
        ] {
            let server = Server::start([reply]);
            let got = ask(kind, &server).await;
            assert_eq!(got[0], text("one two "), "{kind:?}");
            assert_eq!(got.len(), 2);
            let is_truncated = matches!(error(&got), ProviderError::Truncated { .. });
            assert!(is_truncated, "{kind:?}: {got:?}");
            assert_eq!(
                server.chats().len(),
                1,
                "never retried after text was shown"
            );
        }
    }
}

/// Trap 1.
#[tokio::test]
async fn an_empty_stream_is_a_failure() {
    let none: [&[u8]; 0] = [];
    for kind in KINDS {
        for content_type in [
            "text/event-stream",
            "application/json",
            "application/x-ndjson",
        ] {
            for asked in [request("hi"), whole("hi")] {
                let server = Server::start([raw(200, content_type, none)]);
                let provider = provider(kind, &server).await;
                let got = collect(provider.stream(asked)).await;
                let is_failure = matches!(
                    error(&got),
                    ProviderError::Truncated { .. } | ProviderError::Protocol { .. }
                );
                assert!(
                    is_failure && got.len() == 1,
                    "{kind:?} {content_type}: {got:?}"
                );
            }
        }
    }
}

/// Trap 3.
#[tokio::test]
async fn an_error_inside_a_good_stream_is_an_error() {
    for kind in KINDS {
        let n = if kind == Kind::Anthropic { 2 } else { 1 };
        let server = Server::start([say("one two").error_after(n, "the GPU left")]);
        let got = ask(kind, &server).await;
        assert_eq!(got[0], text("one "), "{kind:?}");
        let ProviderError::Stream { message, .. } = error(&got) else {
            panic!("{kind:?}: {got:?}");
        };
        assert_eq!(message, "the GPU left");
    }
}

#[tokio::test]
async fn an_error_object_under_status_200_is_an_error() {
    for kind in KINDS {
        let body = r#"{"error": {"message": "no upstream",
            "code": null}}"#;
        for asked in [request("hi"), whole("hi")] {
            let server = Server::start([raw(200, "application/json", [body.replace('\n', " ")])]);
            let provider = provider(kind, &server).await;
            let got = collect(provider.stream(asked)).await;
            let said = error(&got).to_string();
            assert!(said.contains("no upstream"), "{kind:?}: {said}");
        }
    }
}

#[tokio::test]
async fn a_whole_object_in_place_of_a_stream_is_read() {
    let body =
        "{\"choices\": [\n{\"message\": {\"content\": \"x\"}, \"finish_reason\": \"stop\"}]}";
    let server = Server::start([raw(200, "application/json; charset=utf-8", [body])]);
    let got = ask(Kind::Openai, &server).await;
    assert_eq!(got[0], text("x"));
    assert_eq!(got.len(), 2);
}

/// Trap 14 and others: what is no API at all.
#[tokio::test]
async fn servers_that_are_no_api_are_recognised() {
    let html = "<html><head><title>Welcome</title></head></html>";
    for kind in KINDS {
        for (reply, word) in [
            (raw(200, "text/html", [html]), "Welcome"),
            (
                raw(404, "text/plain", ["404 page not found"]),
                "404 page not found",
            ),
            (raw(404, "text/html", [html]), "Welcome"),
            (
                raw(200, "text/event-stream", [&b"data: \xff\xfe\n\n"[..]]),
                "",
            ),
            (
                raw(200, "text/event-stream", ["data: {broken\n\n"]),
                "broken",
            ),
        ] {
            let server = Server::start([reply]);
            let got = ask(kind, &server).await;
            let error = error(&got);
            let is_protocol = matches!(error, ProviderError::Protocol { .. });
            assert!(is_protocol, "{kind:?}: {error:?}");
            assert!(error.to_string().contains(word), "{kind:?}: {error}");
            assert!(error.hint().unwrap().contains("base_url"));
            assert_eq!(server.chats().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_gateways_error_page_is_one_short_line() {
    let page = format!(
        "<html><title>502 Bad Gateway</title>{}</html>",
        "x".repeat(1 << 20)
    );
    for kind in KINDS {
        let page = page.clone();
        let server = Server::answering(move |_| raw(502, "text/html", [page.clone()]));
        let mut settings = settings(kind, &server);
        settings.network.tries = 1;
        let provider = choose(settings, "test/scripted").await.unwrap().provider;
        let got = collect(provider.stream(request("hi"))).await;
        let ProviderError::Status {
            status: 502,
            message,
            ..
        } = error(&got)
        else {
            panic!("{kind:?}: {got:?}");
        };
        assert_eq!(message, "an HTML page, \"502 Bad Gateway\"");
    }
}

#[tokio::test]
async fn garbage_in_the_stream_is_said_after_what_came() {
    for kind in KINDS {
        let n = if kind == Kind::Anthropic { 2 } else { 1 };
        let garbage = b"data: {\"x\n\n{]\n\n";
        let server = Server::start([say("one two").garbage_after(n, garbage)]);
        let got = ask(kind, &server).await;
        assert_eq!(got[0], text("one "), "{kind:?}");
        let is_protocol = matches!(error(&got), ProviderError::Protocol { .. });
        assert!(is_protocol, "{kind:?}: {got:?}");
    }
}

#[tokio::test]
async fn silence_is_ended_by_the_idle_limit_before_and_within_a_reply() {
    for kind in KINDS {
        let n = if kind == Kind::Anthropic { 2 } else { 1 };
        for (reply, n_texts) in [(silent(), 0), (say("one two").stall_after(n), 1)] {
            let server = Server::start([reply]);
            let mut settings = settings(kind, &server);
            settings.network.idle = Duration::from_millis(200);
            let provider = choose(settings, "test/scripted").await.unwrap().provider;
            let got = collect(provider.stream(request("hi"))).await;
            assert_eq!(got.len(), n_texts + 1, "{kind:?}: {got:?}");
            assert!(
                matches!(error(&got), ProviderError::Idle { .. }),
                "{kind:?}: {got:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_busy_server_is_asked_again_and_says_when() {
    for kind in KINDS {
        let server = Server::start([
            fail(429, "slow down").header("retry-after", "0.01"),
            fail(503, "loading").header("retry-after-ms", "5"),
            say("x"),
        ]);
        let got = ask(kind, &server).await;
        let waits: Vec<Duration> = got
            .iter()
            .filter_map(|event| match event {
                Ok(StreamEvent::Retrying { after, .. }) => Some(*after),
                _ => None,
            })
            .collect();
        assert_eq!(
            waits,
            [Duration::from_millis(10), Duration::from_millis(5)],
            "{kind:?}"
        );
        assert_eq!(got[2..], [text("x"), finished(kind, FinishReason::Stop)]);
    }
}

#[tokio::test]
async fn a_long_wait_is_not_waited_for_but_said() {
    for kind in KINDS {
        let server = Server::start([fail(429, "slow down").header("retry-after", "90")]);
        let got = ask(kind, &server).await;
        assert_eq!(
            error(&got).retry_after(),
            Some(Duration::from_secs(90)),
            "{kind:?}"
        );
        assert!(error(&got).hint().unwrap().contains("90 s"));
        assert_eq!(server.chats().len(), 1);
    }
}

#[tokio::test]
async fn what_the_person_has_to_change_is_not_retried() {
    for kind in KINDS {
        for status in [400, 401, 403, 422] {
            let server = Server::start([fail(status, "no")]);
            let got = ask(kind, &server).await;
            assert_eq!(got.len(), 1, "{kind:?} {status}: {got:?}");
            assert_eq!(server.chats().len(), 1, "{kind:?} {status}");
        }
    }
}

#[tokio::test]
async fn a_refused_key_is_named_by_its_place_and_never_shown() {
    for kind in KINDS {
        let server = Server::start([fail(401, "bad key sk-secret-key given")]);
        let provider = provider(kind, &server).await;
        let got = collect(provider.stream(request("hi"))).await;
        let error = error(&got);
        assert!(
            error.hint().unwrap().contains("providers.test.api_key"),
            "{error:?}"
        );
        let ProviderError::Unauthorized { message, key, .. } = error else {
            panic!("{kind:?}: {error:?}");
        };
        assert_eq!(message, "bad key *** given");
        assert_eq!(key, &KeySource::Config("providers.test.api_key".into()));
        let shown = format!("{error:?} {provider:?}");
        assert!(!shown.contains("sk-secret"), "{shown}");
    }
}

#[tokio::test]
async fn an_unknown_model_comes_with_those_that_exist() {
    for kind in KINDS {
        let script = Script::answering(|_| fail(404, "model \"nope\" not found"));
        let server = script.models(["b", "a"]).serve();
        let mut settings = settings(kind, &server);
        settings.network.tries = 1;
        let provider = choose(settings, "test/nope").await.unwrap().provider;
        let got = collect(provider.stream(request("hi"))).await;
        let ProviderError::UnknownModel { known, model, .. } = error(&got) else {
            panic!("{kind:?}: {got:?}");
        };
        assert_eq!(
            (model.as_str(), known.join(" ").as_str()),
            ("nope", "a b"),
            "{kind:?}"
        );
        assert_eq!(error(&got).hint().unwrap(), "available: a, b");
    }
}

/// Trap 4, the generation that says so.
#[tokio::test]
async fn an_overlong_request_is_told_from_other_bad_requests() {
    for (kind, message) in [
        (
            Kind::Openai,
            "request (3020 tokens) exceeds the available context size (1024 tokens)",
        ),
        (
            Kind::Ollama,
            "the prompt is longer than the context length currently available",
        ),
        (
            Kind::Anthropic,
            "prompt is too long: 210000 tokens > 200000 maximum",
        ),
    ] {
        let server = Server::start([fail(400, message)]);
        let got = ask(kind, &server).await;
        let is_too_long = matches!(error(&got), ProviderError::ContextTooLong { .. });
        assert!(is_too_long, "{kind:?}: {got:?}");
    }
}

/// Trap 4, the generation that cuts without a word: the count comes back for the alarm.
#[tokio::test]
async fn a_silent_cut_shows_in_the_usage() {
    let server = Server::start([say("x").usage(16, 1)]);
    let got = ask(Kind::Ollama, &server).await;
    let Some(Ok(StreamEvent::Finished {
        usage: Some(usage), ..
    })) = got.last()
    else {
        panic!("{got:?}");
    };
    assert_eq!(usage.prompt, Some(Tokens(16)));
}

/// Trap 10.
#[tokio::test]
async fn a_used_connection_that_closes_before_the_first_byte_is_tried_again_at_once() {
    for kind in KINDS {
        let server = Server::start([say("one").then_stale(), say("two"), say("three")]);
        let mut settings = settings(kind, &server);
        // With one try nothing but this rule can make up for it.
        settings.network.tries = 1;
        let provider = choose(settings, "test/scripted").await.unwrap().provider;
        for expected in ["one", "two", "three"] {
            let got = collect(provider.stream(request("hi"))).await;
            assert_eq!(got[0], text(expected), "{kind:?}: {got:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_always_hangs_up_is_unreachable_after_the_tries() {
    let server = Server::answering(|_| hang_up());
    let mut settings = settings(Kind::Openai, &server);
    settings.network.tries = 2;
    let provider = choose(settings, "test/scripted").await.unwrap().provider;
    let got = collect(provider.stream(request("hi"))).await;
    assert!(
        matches!(got[0], Ok(StreamEvent::Retrying { .. })),
        "{got:?}"
    );
    assert!(
        matches!(error(&got), ProviderError::Unreachable { .. }),
        "{got:?}"
    );
    assert_eq!(server.chats().len(), 2);
}

#[tokio::test]
async fn a_closed_port_is_refused_at_once_with_the_reason() {
    let url = {
        let server = Server::start([]);
        server.url()
    };
    for kind in KINDS {
        let mut settings = Settings::default();
        settings.network.tries = 1;
        settings.providers.insert(
            "test".into(),
            ProviderSettings {
                kind,
                base_url: url.clone(),
                api_key: None,
                api_key_env: String::new(),
            },
        );
        let provider = choose(settings, "test/m").await.unwrap().provider;
        let got = collect(provider.stream(request("hi"))).await;
        let ProviderError::Unreachable { why, .. } = error(&got) else {
            panic!("{kind:?}: {got:?}");
        };
        assert_eq!(why, "connection refused", "{kind:?}");
        let abilities = provider.abilities().await;
        assert_eq!(abilities.window_source, WindowSource::Fallback);
        assert_eq!(abilities.context_window, Tokens(8_192));
    }
}

#[tokio::test]
async fn an_endless_line_is_ended() {
    let mebibyte = vec![b'x'; 1 << 20];
    for kind in KINDS {
        let pieces = std::iter::once(b"data: ".to_vec()).chain(vec![mebibyte.clone(); 12]);
        let server = Server::start([stream_of(pieces)]);
        let got = ask(kind, &server).await;
        let is_protocol = matches!(error(&got), ProviderError::Protocol { .. });
        assert!(is_protocol, "{kind:?}: {:?}", error(&got));
    }
}

#[tokio::test]
async fn a_server_that_refuses_stream_options_is_asked_without_them_from_then_on() {
    let script = Script::answering(|request| match request.body.get("stream_options") {
        Some(_) => fail(400, "unknown field `stream_options`"),
        None => say("x"),
    });
    let server = script.serve();
    let provider = provider(Kind::Openai, &server).await;
    for n_requests in [2, 3] {
        let got = collect(provider.stream(request("hi"))).await;
        assert_eq!(got[0], text("x"), "{got:?}");
        assert_eq!(server.chats().len(), n_requests);
    }
}

#[tokio::test]
async fn a_model_that_wants_the_other_limit_gets_it() {
    let script = Script::answering(|request| match request.body.get("max_tokens") {
        Some(_) => fail(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        None => say("x"),
    });
    let server = script.serve();
    let got = ask(Kind::Openai, &server).await;
    assert_eq!(got[0], text("x"), "{got:?}");
    assert_eq!(server.chats()[1].body["max_completion_tokens"], 100);
}

#[tokio::test]
async fn the_window_comes_from_the_config_the_server_or_the_table_in_this_order() {
    for (kind, told, model, configured, expected) in [
        (
            Kind::Openai,
            Some(4_096),
            "scripted",
            0,
            (4_096, WindowSource::Server),
        ),
        (
            Kind::Openai,
            Some(4_096),
            "gpt-4o",
            0,
            (4_096, WindowSource::Server),
        ),
        (
            Kind::Openai,
            None,
            "gpt-4o",
            0,
            (128_000, WindowSource::Table),
        ),
        (
            Kind::Openai,
            Some(4_096),
            "scripted",
            99,
            (99, WindowSource::Config),
        ),
        (
            Kind::Ollama,
            Some(4_096),
            "scripted",
            0,
            (4_096, WindowSource::Server),
        ),
        (
            Kind::Ollama,
            Some(131_072),
            "scripted",
            0,
            (16_384, WindowSource::Server),
        ),
        (
            Kind::Ollama,
            Some(131_072),
            "scripted",
            32_000,
            (32_000, WindowSource::Config),
        ),
        (
            Kind::Ollama,
            None,
            "scripted",
            0,
            (8_192, WindowSource::Fallback),
        ),
        (
            Kind::Anthropic,
            Some(4_096),
            "scripted",
            0,
            (4_096, WindowSource::Server),
        ),
        (
            Kind::Anthropic,
            Some(4_096),
            "claude-sonnet-4-5",
            0,
            (200_000, WindowSource::Table),
        ),
    ] {
        let server = Script::new([]).window(told).serve();
        let mut settings = settings(kind, &server);
        let alias = ModelSettings {
            provider: "test".into(),
            model: model.into(),
            context_window: configured,
            max_tokens: 0,
            num_ctx: 0,
            price: None,
        };
        settings.models.aliases.insert("it".into(), alias);
        let provider = choose(settings, "it").await.unwrap().provider;
        let got = provider.abilities().await;
        let got = (got.context_window.0, got.window_source);
        assert_eq!(got, expected, "{kind:?} {told:?} {model} {configured}");
        let before = server.requests().len();
        let _ = provider.abilities().await;
        assert_eq!(server.requests().len(), before, "asked once");
    }
}

#[tokio::test]
async fn ollama_is_told_the_same_window_in_every_request() {
    for (num_ctx, expected) in [(0, 16_384), (5_000, 5_000)] {
        let server = Script::new([say("x"), say("y")]).window(40_960).serve();
        let mut settings = settings(Kind::Ollama, &server);
        let alias = ModelSettings {
            provider: "test".into(),
            model: "scripted".into(),
            context_window: 0,
            max_tokens: 0,
            num_ctx,
            price: None,
        };
        settings.models.aliases.insert("it".into(), alias);
        let provider = choose(settings, "it").await.unwrap().provider;
        for _ in 0..2 {
            drop(collect(provider.stream(request("hi"))).await);
        }
        let chats = server.chats();
        let sent: Vec<_> = chats
            .iter()
            .map(|chat| &chat.body["options"]["num_ctx"])
            .collect();
        assert_eq!(sent, [expected, expected]);
        assert_eq!(provider.abilities().await.context_window, Tokens(expected));
    }
}

/// A model was loaded a second time, for minutes, because the server told its window only at the second request.
#[tokio::test]
async fn ollama_is_told_the_same_window_even_if_the_first_question_for_it_failed() {
    let script = Script::new([say("x"), say("y")]).window(40_960);
    let server = script
        .first("/api/show", raw(500, "text/plain", ["busy"]))
        .serve();
    let provider = provider(Kind::Ollama, &server).await;
    for _ in 0..2 {
        drop(collect(provider.stream(request("hi"))).await);
        assert_eq!(provider.abilities().await.context_window, Tokens(8_192));
    }
    assert_eq!(sent_windows(&server), [8_192, 8_192]);
}

#[tokio::test]
async fn a_window_that_no_server_got_is_not_kept() {
    let script = Script::new([hang_up(), hang_up(), say("x"), say("y")]).window(40_960);
    let server = script
        .first("/api/show", raw(500, "text/plain", ["busy"]))
        .serve();
    let provider = provider(Kind::Ollama, &server).await;
    for _ in 0..2 {
        drop(collect(provider.stream(request("hi"))).await);
    }
    assert_eq!(sent_windows(&server)[2..], [16_384, 16_384]);
}

fn sent_windows(server: &Server) -> Vec<u64> {
    let chats = server.chats().into_iter();
    chats
        .filter_map(|chat| chat.body["options"]["num_ctx"].as_u64())
        .collect()
}

/// `/model` waited for the idle limit, minutes, at a server that takes the connection and says nothing.
#[tokio::test(start_paused = true)]
async fn a_silent_server_is_not_waited_for_with_its_list_of_models() {
    for kind in KINDS {
        let script = Script::new([]).route("/v1/models", silent());
        let server = script.route("/api/tags", silent()).serve();
        let listed = provider(kind, &server).await.models().await;
        let expected = ProviderError::Idle {
            url: entry(kind, &server).base_url,
            idle: Duration::from_secs(2),
        };
        assert_eq!(listed, Err(expected), "{kind:?}");
    }
}

#[tokio::test]
async fn models_are_listed_in_the_order_of_the_server() {
    for kind in KINDS {
        let server = Script::new([]).models(["b", "c", "a"]).serve();
        let models = provider(kind, &server).await.models().await.unwrap();
        assert_eq!(models, ["b", "c", "a"], "{kind:?}");
    }
}

#[tokio::test]
async fn dropping_a_stream_closes_the_connection() {
    for kind in KINDS {
        let n = if kind == Kind::Anthropic { 2 } else { 1 };
        let server = Server::start([say("one two").stall_after(n)]);
        let provider = provider(kind, &server).await;
        let mut events = provider.stream(request("hi"));
        assert_eq!(events.next().await, Some(text("one ")), "{kind:?}");
        drop(events);
    }
}

fn environment(pairs: &[(&str, &str)]) -> Environment {
    let pairs = pairs.iter();
    Environment(
        pairs
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect(),
    )
}

async fn auto(script: Script, more: &[(&str, &str)]) -> (String, Option<String>) {
    let server = script.serve();
    let mut pairs = vec![("OLLAMA_HOST", server.url())];
    pairs.extend(
        more.iter()
            .map(|(name, value)| (*name, (*value).to_owned())),
    );
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let catalog = Catalog::new(Settings::default(), environment(&pairs));
    let choice = catalog.choose(None).await.unwrap();
    (choice.provider.model().to_string(), choice.notice)
}

fn json_reply(body: &serde_json::Value) -> Reply {
    raw(200, "application/json", [body.to_string()])
}

#[tokio::test]
async fn a_running_ollama_is_found_with_the_model_that_is_loaded() {
    let loaded = json!({"models": [
        {"name": "nomic-embed-text:latest", "details": {"family": "nomic-bert"}},
        {"name": "qwen3:8b", "details": {"family": "qwen3"}},
    ]});
    let script = Script::new([]).route("/api/ps", json_reply(&loaded));
    assert_eq!(auto(script, &[]).await, ("ollama/qwen3:8b".into(), None));
}

#[tokio::test]
async fn of_models_that_are_not_loaded_the_newest_chat_model_is_taken() {
    let installed = json!({"models": [
        {"name": "old", "modified_at": "2026-01-01T00:00:00+09:00"},
        {"name": "new", "modified_at": "2026-02-01T12:00:00.123456789-05:00"},
        {"name": "newer-but-embeds", "modified_at": "2026-03-01T00:00:00Z", "capabilities": ["embedding"]},
        {"name": "all-minilm", "modified_at": "2026-03-02T00:00:00Z"},
    ]});
    let script = Script::new([]).route("/api/tags", json_reply(&installed));
    let key = [("OPENAI_API_KEY", "sk-x")];
    assert_eq!(auto(script, &key).await, ("ollama/new".into(), None));
}

#[tokio::test]
async fn an_ollama_without_models_says_how_to_get_one_unless_there_is_a_key() {
    let none: [&str; 0] = [];
    let (model, notice) = auto(Script::new([]).models(none), &[]).await;
    assert!(model.starts_with("offline/"), "{model}");
    assert!(notice.unwrap().contains("ollama pull"));
    let key = [("ANTHROPIC_API_KEY", "sk-x")];
    let (model, notice) = auto(Script::new([]).models(none), &key).await;
    assert!(model.starts_with("anthropic/claude-"), "{model}");
    assert_eq!(notice, None);
}

#[tokio::test]
async fn without_ollama_a_key_decides_and_without_a_key_it_is_offline() {
    let url = {
        let server = Server::start([]);
        server.url()
    };
    for (pairs, expected) in [
        (
            &[("OPENAI_API_KEY", "a"), ("ANTHROPIC_API_KEY", "b")][..],
            "openai/",
        ),
        (&[("ANTHROPIC_API_KEY", "b")], "anthropic/"),
        (&[], "offline/"),
    ] {
        let mut pairs = pairs.to_vec();
        pairs.push(("OLLAMA_HOST", &url));
        let catalog = Catalog::new(Settings::default(), environment(&pairs));
        let choice = catalog.choose(None).await.unwrap();
        let model = choice.provider.model().to_string();
        assert!(model.starts_with(expected), "{model}");
        assert_eq!(choice.notice.is_some(), expected == "offline/");
    }
}

#[tokio::test]
async fn a_compatible_server_is_asked_for_its_models_and_one_that_embeds_is_not_taken() {
    let models = ["a-text-embedding-model", "local-model", "first-by-letter"];
    let server = Script::new([]).models(models).serve();
    let base = server.openai_url();
    let pairs = [
        ("OPENAI_BASE_URL", base.as_str()),
        ("OLLAMA_HOST", "127.0.0.1:1"),
    ];
    let catalog = Catalog::new(Settings::default(), environment(&pairs));
    let choice = catalog.choose(None).await.unwrap();
    assert_eq!(choice.provider.model().to_string(), "openai/local-model");
}

#[tokio::test]
async fn a_name_never_keeps_a_model_from_being_chosen_but_what_its_server_says_of_it_does() {
    let list = json!({"data": [
        {"id": "embed-and-chat"},
        {"id": "chatty-embed", "capabilities": {"completion_chat": true}},
        {"id": "vectors", "capabilities": {"completion_chat": false}},
        {"id": "all-vectors", "capabilities": ["embedding"]},
    ]});
    let server = Script::new([])
        .route("/v1/models", json_reply(&list))
        .serve();
    let catalog = Catalog::new(settings(Kind::Openai, &server), Environment::default());
    for (model, chats) in [
        ("embed-and-chat", true),
        ("chatty-embed", true),
        ("vectors", false),
        ("all-vectors", false),
    ] {
        let choice = catalog.choose(Some(&format!("test/{model}"))).await;
        let checked = catalog.check(&choice.unwrap()).await;
        assert_eq!(checked.is_ok(), chats, "{model}: {checked:?}");
    }
}

#[tokio::test]
async fn an_ollama_model_that_only_embeds_is_refused_and_not_hinted_at() {
    let installed = json!({"models": [
        {"name": "tinyvectors:latest"},
        {"name": "tinyvectors-embed:latest"},
        {"name": "tiny:latest"},
    ]});
    let server = Script::new([])
        .route("/api/tags", json_reply(&installed))
        .route(
            "/api/show",
            json_reply(&json!({"capabilities": ["embedding"]})),
        )
        .serve();
    let catalog = Catalog::new(settings(Kind::Ollama, &server), Environment::default());
    let choice = catalog.choose(Some("tinyvectors")).await.unwrap();
    assert_eq!(choice.provider.model().model, "tinyvectors:latest");
    let refused = catalog.check(&choice).await.unwrap_err().to_string();
    assert!(
        refused.ends_with("tinyvectors is not a chat model"),
        "{refused}"
    );
    let near = catalog.choose(Some("tinyvec")).await.unwrap_err();
    let hint = near.hint().unwrap().into_owned();
    assert_eq!(hint, "did you mean test/tinyvectors:latest?");
}

#[tokio::test]
async fn the_tag_of_a_model_may_be_left_out_where_only_one_has_it() {
    let installed = json!({"models": [
        {"name": "tiny:1b"}, {"name": "tiny:latest"}, {"name": "big:8b"}, {"name": "big:70b"},
    ]});
    let server = Script::new([])
        .route("/api/tags", json_reply(&installed))
        .serve();
    let catalog = Catalog::new(settings(Kind::Ollama, &server), Environment::default());
    let choice = catalog.choose(Some("tiny")).await.unwrap();
    assert_eq!(choice.provider.model().to_string(), "test/tiny:latest");
    let several = catalog.choose(Some("big")).await.unwrap_err();
    let hint = several.hint().unwrap().into_owned();
    assert_eq!(hint, "did you mean test/big:8b or test/big:70b?");
}

#[tokio::test]
async fn names_that_mean_nothing_are_refused_with_those_that_do() {
    let server = Server::start([]);
    for (choice, words) in [
        ("quen", &["did you mean qwen", "PROVIDER/MODEL"][..]),
        ("nothing/like-it", &["available: test, ollama"]),
        ("lost", &["ollama, openai, anthropic, offline"]),
    ] {
        let mut settings = settings(Kind::Ollama, &server);
        for (alias, provider) in [("qwen", "test"), ("lost", "nowhere")] {
            let model = ModelSettings {
                provider: provider.into(),
                model: "m".into(),
                context_window: 0,
                max_tokens: 0,
                num_ctx: 0,
                price: None,
            };
            settings.models.aliases.insert(alias.into(), model);
        }
        let error = choose(settings, choice).await.unwrap_err();
        let hint = error.hint().unwrap().into_owned();
        assert!(
            words.iter().all(|word| hint.contains(word)),
            "{choice}: {hint}"
        );
    }
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_before_anything_is_sent() {
    let entry = |base_url: &str, key: Option<&str>, variable: &str| ProviderSettings {
        kind: Kind::Openai,
        base_url: base_url.into(),
        api_key: key.map(Into::into),
        api_key_env: variable.into(),
    };
    for (entry, words) in [
        (entry("api.example.com/v1", None, ""), "has no scheme"),
        (entry("ftp://h", None, ""), "not an http or https URL"),
        (entry("http://h/v1", Some("sk\nx"), ""), "line break"),
        (entry("http://h/v1", None, "NOT_SET"), "$NOT_SET"),
        (entry("", None, ""), "no API key"),
    ] {
        let mut settings = Settings::default();
        settings.providers.insert("test".into(), entry);
        let error = choose(settings, "test/m").await.unwrap_err();
        assert!(matches!(error, ProviderError::Setup { .. }), "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn the_vendors_key_is_not_sent_to_another_server_of_the_config() {
    let server = Server::start([say("x")]);
    let mut settings = settings(Kind::Openai, &server);
    settings.providers.get_mut("test").unwrap().api_key = None;
    let environment = environment(&[("OPENAI_API_KEY", "sk-vendor")]);
    let choice = Catalog::new(settings, environment)
        .choose(Some("test/m"))
        .await;
    drop(collect(choice.unwrap().provider.stream(request("hi"))).await);
    assert!(!server.chats()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_redirect_is_said_and_not_followed_with_the_key() {
    let moved = raw(301, "text/plain", [""]).header("location", "https://elsewhere.example/v1");
    let server = Server::start([moved]);
    let got = ask(Kind::Anthropic, &server).await;
    let said = error(&got).to_string();
    assert!(
        said.contains("redirected to https://elsewhere.example/v1"),
        "{said}"
    );
}

#[tokio::test]
async fn each_name_finds_its_model() {
    let server = Server::start([]);
    for (choice, expected) in [
        ("it", "test/m"),
        ("test/other:8b", "test/other:8b"),
        ("test/org/model", "test/org/model"),
        ("offline", "offline/quotes"),
        (
            "claude-sonnet-4-5-20250929",
            "anthropic/claude-sonnet-4-5-20250929",
        ),
    ] {
        let mut settings = settings(Kind::Openai, &server);
        let model = ModelSettings {
            provider: "test".into(),
            model: "m".into(),
            context_window: 0,
            max_tokens: 0,
            num_ctx: 0,
            price: None,
        };
        settings.models.aliases.insert("it".into(), model);
        let environment = environment(&[("ANTHROPIC_API_KEY", "sk-x")]);
        let choice = Catalog::new(settings, environment)
            .choose(Some(choice))
            .await;
        assert_eq!(choice.unwrap().provider.model().to_string(), expected);
    }
}

const COUNT: &str = "/v1/messages/count_tokens";

#[tokio::test]
async fn a_prompt_is_counted_without_what_only_a_reply_needs() {
    let answer = raw(200, "application/json", [r#"{"input_tokens":14}"#]);
    let server = Script::new([]).route(COUNT, answer).serve();
    let provider = provider(Kind::Anthropic, &server).await;
    assert_eq!(provider.count(&request("hi")).await, Some(Tokens(14)));
    let asked = server.requests().pop().unwrap();
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("POST", COUNT)
    );
    assert_eq!(asked.headers["anthropic-version"], "2023-06-01");
    assert_eq!(
        asked.body,
        json!({
            "model": "scripted", "system": "Be kind.",
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        })
    );
}

#[tokio::test]
async fn a_count_that_fails_is_none() {
    let json = |body: &'static str| raw(200, "application/json", [body]);
    for answer in [
        fail(404, "no such route"),
        fail(529, "overloaded"),
        hang_up(),
        json("{}"),
        json(r#"{"input_tokens":-1}"#),
        json("[14]"),
        json("counting"),
    ] {
        let server = Script::new([]).route(COUNT, answer.clone()).serve();
        let provider = provider(Kind::Anthropic, &server).await;
        assert_eq!(provider.count(&request("hi")).await, None, "{answer:?}");
    }
}

#[tokio::test]
async fn a_server_whose_protocol_cannot_count_is_not_asked() {
    for kind in [Kind::Openai, Kind::Ollama] {
        let server = Server::start([]);
        let provider = provider(kind, &server).await;
        let before = server.requests().len();
        assert_eq!(provider.count(&request("hi")).await, None, "{kind:?}");
        assert_eq!(server.requests().len(), before, "{kind:?}");
    }
}
