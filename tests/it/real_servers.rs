//! The same questions to real servers, where the environment names one: `COGTRIX_TEST_LLAMA` (llama.cpp),
//! `COGTRIX_TEST_OLLAMA`, each a base URL without `/v1`, with a model called `tiny` that is scripted by the
//! first word of the last message (`[think]`, `[utf8]`, `[tool:read]`, `[loop]`). Without them each test
//! says on stderr that it was skipped.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use cogtrix::chat::{Message, MessageId, Part, Role, Tokens, ToolCall, ToolSpec};
use cogtrix::provider::{
    Catalog, ChatRequest, Delivery, Environment, EventStream, FinishReason, Images, Kind, Provider,
    ProviderError, ProviderSettings, Purpose, Settings, StreamEvent, WindowSource,
};
use futures_util::StreamExt;
use serde_json::json;

/// A server, the format to speak with it, and how far it goes.
const SERVERS: [(&str, Kind, &str); 4] = [
    ("COGTRIX_TEST_LLAMA", Kind::Openai, "/v1"),
    ("COGTRIX_TEST_LLAMA", Kind::Anthropic, ""),
    ("COGTRIX_TEST_OLLAMA", Kind::Ollama, ""),
    ("COGTRIX_TEST_OLLAMA", Kind::Openai, "/v1"),
];

async fn servers(test: &str) -> Vec<(&'static str, Kind, Arc<dyn Provider>)> {
    let mut servers = Vec::new();
    let mut missing = BTreeSet::new();
    for (variable, kind, path) in SERVERS {
        #[expect(
            clippy::disallowed_methods,
            reason = "nothing but this names a real server"
        )]
        let Ok(url) = std::env::var(variable) else {
            missing.insert(variable);
            continue;
        };
        let entry = ProviderSettings {
            kind,
            base_url: format!("{url}{path}"),
            api_key: None,
            api_key_env: String::new(),
        };
        let mut settings = Settings::default();
        settings.providers.insert("real".into(), entry);
        let catalog = Catalog::new(settings, Environment::default());
        let choice = catalog.choose(Some("real/tiny")).await.unwrap();
        servers.push((variable, kind, choice.provider));
    }
    for variable in missing {
        let line = format!("skipped: {test}, as ${variable} names no server\n");
        std::io::stderr().write_all(line.as_bytes()).unwrap();
    }
    servers
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
        max_tokens: Tokens(400),
        temperature: None,
        purpose: Purpose::Reply,
        delivery: Delivery::Streamed,
    }
}

#[derive(Debug, Default)]
struct Got {
    text: String,
    thought: String,
    calls: Vec<ToolCall>,
    end: Option<(FinishReason, Option<Tokens>)>,
    error: Option<ProviderError>,
}

async fn collect(mut events: EventStream) -> Got {
    let mut got = Got::default();
    while let Some(event) = events.next().await {
        match event {
            Ok(StreamEvent::Text(text)) => got.text.push_str(&text),
            Ok(StreamEvent::Reasoning(text)) => got.thought.push_str(&text),
            Ok(StreamEvent::ToolCall(call)) => got.calls.push(call),
            Ok(StreamEvent::Retrying { .. }) => {}
            Ok(StreamEvent::Finished { reason, usage }) => {
                got.end = Some((reason, usage.and_then(|usage| usage.prompt)));
            }
            Err(error) => got.error = Some(error),
        }
    }
    got
}

#[tokio::test]
async fn real_servers_answer_streamed_and_whole_alike() {
    for (server, kind, provider) in servers("streamed and whole").await {
        for text in ["hello", "[utf8] hello", "[long] hello"] {
            let streamed = collect(provider.stream(request(text))).await;
            let whole = ChatRequest {
                delivery: Delivery::Whole,
                ..request(text)
            };
            let whole = collect(provider.stream(whole)).await;
            for got in [&streamed, &whole] {
                assert!(
                    !got.text.is_empty() && got.error.is_none(),
                    "{server} {kind:?}: {got:?}"
                );
            }
            if text == "hello" {
                // Longer replies leave the script now and then: servers sample at random.
                assert_eq!(streamed.text, whole.text, "{server} {kind:?}");
            }
            let (reason, prompt) = streamed.end.unwrap();
            assert_eq!(reason, FinishReason::Stop, "{server} {kind:?} {text}");
            assert!(
                prompt.is_some_and(|n| n > Tokens::ZERO),
                "{server} {kind:?} {text}"
            );
        }
    }
}

#[tokio::test]
async fn real_servers_tell_their_window_and_models() {
    for (server, kind, provider) in servers("window").await {
        let abilities = provider.abilities().await;
        // Ollama's compatible side tells no window.
        let is_told = !(server.ends_with("OLLAMA") && kind == Kind::Openai);
        assert_eq!(
            abilities.window_source == WindowSource::Server,
            is_told,
            "{server} {kind:?}"
        );
        let models = provider.models().await.unwrap();
        assert!(
            models.iter().any(|name| name.starts_with("tiny")),
            "{server} {kind:?}"
        );
    }
}

#[tokio::test]
async fn real_servers_call_a_tool_and_take_its_result() {
    for (server, kind, provider) in servers("tools").await {
        let mut asking = request("[tool:read] please");
        asking.tools = vec![ToolSpec {
            name: "read".into(),
            description: "Reads a file.".into(),
            parameters: json!({
                "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"],
            }),
            trained: None,
        }];
        let got = collect(provider.stream(asking.clone())).await;
        assert_eq!(got.calls.len(), 1, "{server} {kind:?}: {got:?}");
        assert_eq!(got.end.unwrap().0, FinishReason::ToolCalls);
        let call = got.calls[0].clone();
        let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
        assert_eq!(arguments, json!({"path": "a.txt"}));
        let said = |n: u64, role: Role, part: Part| {
            let mut message = Message::text(MessageId::numbered(n), role, "", None);
            message.parts = vec![part];
            message
        };
        let result = Part::ToolResult {
            call: call.id.clone(),
            name: call.name.clone(),
            output: "contents".into(),
            failed: false,
        };
        asking.messages = [
            asking.messages[0].clone(),
            said(2, Role::Assistant, Part::ToolCall(call)),
            said(3, Role::Tool, result),
        ]
        .into();
        let got = collect(provider.stream(asking)).await;
        assert!(
            !got.text.is_empty() && got.error.is_none(),
            "{server} {kind:?}: {got:?}"
        );
    }
}

#[tokio::test]
async fn real_servers_stop_at_the_limit() {
    for (server, kind, provider) in servers("limit").await {
        let mut asking = request("[loop] please");
        asking.max_tokens = Tokens(20);
        let got = collect(provider.stream(asking)).await;
        assert!(got.text.len() < 400, "{server} {kind:?}: {got:?}");
        if server.ends_with("OLLAMA") && kind == Kind::Openai {
            // Samples so much at random there that the endless script may end.
            continue;
        }
        assert_eq!(
            got.end.unwrap().0,
            FinishReason::Length,
            "{server} {kind:?}"
        );
    }
}

#[tokio::test]
async fn real_servers_think_aside() {
    for (server, kind, provider) in servers("thinking").await {
        let got = collect(provider.stream(request("[think] please"))).await;
        assert!(!got.text.contains("think>"), "{server} {kind:?}: {got:?}");
        assert!(!got.thought.is_empty(), "{server} {kind:?}: {got:?}");
    }
}

/// An overlong prompt is an error, or shows in the count.
#[tokio::test]
async fn real_servers_do_not_swallow_an_overlong_prompt() {
    for (server, kind, provider) in servers("overlong").await {
        let window = provider.abilities().await.context_window;
        let text = "x".repeat(window.chars() * 2);
        let got = collect(provider.stream(request(&text))).await;
        match got.error {
            Some(error) => {
                let is_too_long = matches!(error, ProviderError::ContextTooLong { .. });
                assert!(is_too_long, "{server} {kind:?}: {error:?}");
            }
            None => assert!(
                got.end.clone().unwrap().1.unwrap() <= window,
                "{server} {kind:?}: {got:?}"
            ),
        }
    }
}

#[tokio::test]
async fn many_replies_on_one_connection_all_arrive() {
    for (server, kind, provider) in servers("many replies").await {
        for n in 0..40 {
            let got = collect(provider.stream(request("hello"))).await;
            assert!(got.error.is_none(), "{server} {kind:?} {n}: {got:?}");
        }
    }
}

/// llama.cpp takes any name.
#[tokio::test]
async fn a_real_ollama_names_its_models_for_an_unknown_one() {
    for (_, kind, provider) in servers("unknown model").await {
        if kind != Kind::Ollama {
            continue;
        }
        drop(provider);
        #[expect(
            clippy::disallowed_methods,
            reason = "nothing but this names a real server"
        )]
        let url = std::env::var("COGTRIX_TEST_OLLAMA").unwrap();
        let variables = [("OLLAMA_HOST".to_owned(), url)];
        let environment = Environment(variables.into_iter().collect());
        let catalog = Catalog::new(Settings::default(), environment);
        let nope = catalog.choose(Some("ollama/nope")).await.unwrap().provider;
        let got = collect(nope.stream(request("hello"))).await;
        let Some(ProviderError::UnknownModel { known, .. }) = got.error else {
            panic!("{got:?}");
        };
        assert_eq!(known, ["tiny:latest"]);
        let found = catalog.choose(None).await.unwrap().provider;
        assert_eq!(found.model().to_string(), "ollama/tiny:latest");
    }
}

#[tokio::test]
async fn a_prompt_is_counted_by_the_protocol_that_can_and_a_longer_one_is_more() {
    for (server, kind, provider) in servers("counts").await {
        let short = provider.count(&request("one two")).await;
        let long = provider
            .count(&request("one two three four five six"))
            .await;
        assert_eq!(short.is_some(), kind == Kind::Anthropic, "{server}");
        assert_eq!(short < long, kind == Kind::Anthropic, "{server}");
    }
}
