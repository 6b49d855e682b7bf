use super::*;

/// A request refitted to prompt and reply together gave up most of the conversation.
#[test]
fn a_prompt_is_never_counted_with_its_reply() {
    for (message, prompt, window) in [
        (
            "This model's maximum context length is 8192 tokens. However, you requested 8235 tokens (432 in the messages, 7803 in the completion). Please reduce the length.",
            Some(432),
            Some(8_192),
        ),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 8235 tokens (432 in the messages, 20 in the functions, and 7783 in the completion).",
            Some(452),
            Some(8_192),
        ),
        (
            "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (38000 of text input, 2000 in the output).",
            Some(38_000),
            Some(32_768),
        ),
        (
            "This model's maximum context length is 4097 tokens, however you requested 4108 tokens (3985 in your prompt; 123 for the completion).",
            Some(3_985),
            Some(4_097),
        ),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 8235 tokens.",
            None,
            Some(8_192),
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 7803. This model's maximum context length is 8192 tokens and your request has 432 input tokens (7803 > 8192 - 432).",
            Some(432),
            Some(8_192),
        ),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 7803 output tokens and your prompt contains at least 432 input tokens, for a total of at least 8235 tokens.",
            Some(432),
            Some(8_192),
        ),
        (
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
            Some(190_000),
            Some(200_000),
        ),
        (
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`",
            Some(4_000),
            Some(4_096),
        ),
    ] {
        check(message, prompt, window);
    }
}

#[test]
fn the_sizes_are_found_where_each_server_puts_them() {
    for (message, prompt, window) in [
        (
            "prompt is too long: 210000 tokens > 200000 maximum",
            Some(210_000),
            Some(200_000),
        ),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            Some(1_200_000),
            Some(1_048_576),
        ),
        (
            "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length",
            None,
            None,
        ),
        (
            "Trying to keep the first 4500 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
            Some(4_500),
            Some(4_096),
        ),
        (
            "This model's maximum context length is 16385 tokens. However, your messages resulted in 17,001 tokens.",
            Some(17_001),
            Some(16_385),
        ),
        (
            "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
            Some(9_000),
            Some(8_192),
        ),
        (
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            Some(40_000),
            Some(32_768),
        ),
        (
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            Some(537_812),
            Some(131_072),
        ),
        (
            "request (3020 tokens) exceeds the available context size (1024 tokens), try increasing it",
            Some(3_020),
            Some(1_024),
        ),
        ("Input is too long for requested model.", None, None),
        ("Context size has been exceeded.", None, None),
        (
            "This model's maximum context length is 99999999999 tokens",
            None,
            None,
        ),
    ] {
        check(message, prompt, window);
    }
}

fn check(message: &str, prompt: Option<u32>, window: Option<u32>) {
    assert_eq!(Overflow::of(message), Some(Overflow::Named), "{message}");
    let expected = Sizes {
        prompt: prompt.map(Tokens),
        window: window.map(Tokens),
    };
    assert_eq!(Sizes::of(message), expected, "{message}");
}

#[test]
fn other_words_for_it_count_in_one_sentence_and_unrelated_refusals_do_not() {
    for (message, expected) in [
        ("Your input exceeds the model's context window", true),
        ("The request is larger than the context size", true),
        ("too long for the context window of this model", true),
        ("Context limit of 4096 exceeded", true),
        (
            "max_tokens is too large: 5000. This model supports at most 4096 completion tokens",
            false,
        ),
        (
            "The context window is 8192. Field `name` is too long",
            false,
        ),
        ("content length exceeds the limit of 5 MB", false),
        (
            "image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
            false,
        ),
        ("Request exceeds the maximum size", false),
        (
            "tools.0.name: String should have at most 64 characters",
            false,
        ),
        ("temperature must not be greater than 2", false),
        ("unknown field `context_length`", false),
        ("set the context length when loading the model", false),
    ] {
        let likely = expected.then_some(Overflow::Likely);
        assert_eq!(Overflow::of(message), likely, "{message}");
    }
}
