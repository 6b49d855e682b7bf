use super::*;
use crate::provider::KeySource;

fn read(body: &str) -> Complaint {
    Complaint::read(body.as_bytes(), |text| text.replace("sk-secret", "***"))
}

fn error(status: u16, body: &str) -> ProviderError {
    let refusal = Refusal {
        status,
        retry_after: None,
        complaint: read(body),
    };
    refusal.into_error(Asked {
        url: "http://h".into(),
        model: "m",
        key: KeySource::None,
    })
}

/// Trap 5 and 14: `code` as number, string or null, `error` as text, no JSON at all.
#[test]
fn the_message_is_found_in_every_shape() {
    for (body, expected) in [
        (
            r#"{"error":{"message":"m","type":"t","param":null,"code":"c"}}"#,
            "m",
        ),
        (r#"{"error":{"code":400,"message":"m","type":"t"}}"#, "m"),
        (
            r#"{"error":{"message":"m","type":null,"param":null,"code":null}}"#,
            "m",
        ),
        (r#"{"error":"m"}"#, "m"),
        (
            r#"{"type":"error","error":{"type":"api_error","message":"m"},"request_id":"r"}"#,
            "m",
        ),
        (r#"{"detail":"m"}"#, "m"),
        (r#"{"detail":[{"loc":["body"],"msg":"m"}]}"#, "m"),
        (
            r#"[{"error":{"code":404,"message":"m","status":"NOT_FOUND"}}]"#,
            "m",
        ),
        (r#"{"message":"m","error":null}"#, "m"),
        (r#"{"a":1}"#, r#"{"a":1}"#),
        ("404 page not found\n", "404 page not found"),
        ("two\r\n\x1b[31mlines", "two [31mlines"),
        (
            "<html><head><title>502 Bad Gateway</title></head></html>",
            "an HTML page, \"502 Bad Gateway\"",
        ),
        ("<!DOCTYPE html><p>", "an HTML page"),
        ("", ""),
        (r#"{"error":"bad key sk-secret"}"#, "bad key ***"),
    ] {
        assert_eq!(read(body).message, expected, "{body}");
    }
}

#[test]
fn a_message_is_bounded() {
    assert_eq!(
        read(&"é ".repeat(10_000)).message.chars().count(),
        crate::net::LONGEST + 1
    );
    assert_eq!(
        read(&"x".repeat(1_000_000)).message.chars().count(),
        crate::net::LONGEST + 1
    );
}

/// Trap 4: an overlong prompt in each vendor's words.
#[test]
fn an_overlong_prompt_is_known_in_every_shape() {
    for (status, body, prompt, window) in [
        (
            400,
            r#"{"error":{"code":400,"message":"request (3020 tokens) exceeds the available context size (1024 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":3020,"n_ctx":1024}}"#,
            Some(3020),
            Some(1024),
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 1024 tokens. However, you requested 3025 tokens (3020 in the messages, 5 in the completion).","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            Some(3020),
            Some(1024),
        ),
        (
            400,
            r#"{"error":"the prompt is longer than the context length currently available to the model; raise it"}"#,
            None,
            None,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            Some(210_000),
            Some(200_000),
        ),
        (
            400,
            r#"{"error":{"message":"litellm.BadRequestError: request (3,020 tokens) exceeds the available context size","type":null,"param":null,"code":"400"}}"#,
            Some(3020),
            None,
        ),
        (
            413,
            r#"{"error":{"message":"the input is larger than the context window","type":"invalid_request_error"}}"#,
            None,
            None,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"}}"#,
            Some(190_000),
            Some(200_000),
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
            Some(1_200_000),
            Some(1_048_576),
        ),
        (
            400,
            "prompt is too long: 7 tokens > 5 maximum",
            Some(7),
            Some(5),
        ),
    ] {
        let ProviderError::ContextTooLong {
            prompt: p,
            window: w,
            ..
        } = error(status, body)
        else {
            panic!("{body}: {:?}", error(status, body));
        };
        assert_eq!((p, w), (prompt.map(Tokens), window.map(Tokens)), "{body}");
    }
}

#[test]
fn failures_are_sorted_by_what_can_be_done() {
    use ProviderError as E;
    type Is = fn(&ProviderError) -> bool;
    let cases: [(u16, &str, Is); 14] = [
        (401, r#"{"error":{"message":"m","code":401}}"#, |e| {
            matches!(e, E::Unauthorized { status: 401, .. })
        }),
        (403, "no", |e| matches!(e, E::Unauthorized { .. })),
        (
            404,
            r#"{"error":"model \"m\" not found, try pulling it first"}"#,
            |e| matches!(e, E::UnknownModel { .. }),
        ),
        (
            400,
            r#"{"error":{"message":"m","code":"model_not_found"}}"#,
            |e| matches!(e, E::UnknownModel { .. }),
        ),
        (404, "404 page not found", |e| {
            matches!(e, E::Protocol { .. })
        }),
        (
            429,
            r#"{"error":{"message":"m","code":"rate_limit_exceeded"}}"#,
            |e| matches!(e, E::RateLimited { quota: false, .. }),
        ),
        (
            429,
            r#"{"error":{"message":"m","code":"insufficient_quota"}}"#,
            |e| matches!(e, E::RateLimited { quota: true, .. }),
        ),
        (
            402,
            r#"{"error":{"type":"billing_error","message":"m"}}"#,
            |e| matches!(e, E::RateLimited { quota: true, .. }),
        ),
        (503, r#"{"error":"server busy"}"#, |e| {
            matches!(e, E::RateLimited { quota: false, .. })
        }),
        (
            529,
            r#"{"error":{"type":"overloaded_error","message":"m"}}"#,
            |e| e.is_transient(),
        ),
        (500, "larger than the context window", |e| {
            matches!(e, E::Status { status: 500, .. })
        }),
        (
            400,
            r#"{"error":"max_tokens is too large: 5000. At most 4096 completion tokens"}"#,
            |e| matches!(e, E::Status { status: 400, .. }),
        ),
        (500, "", |e| matches!(e, E::Status { status: 500, .. })),
        (400, r#"{"error":"model is required"}"#, |e| {
            matches!(e, E::Status { status: 400, .. })
        }),
    ];
    for (status, body, is) in cases {
        let got = error(status, body);
        assert!(is(&got), "{status} {body}: {got:?}");
    }
}
