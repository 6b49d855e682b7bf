//! Every request fits the model's window (E9, C78-C82), however long the session is.

use cogtrix::chat::Tokens;
use cogtrix::testing::server::{Request, Script, Server, fail, raw, say};
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::is_summary;

/// Our own estimate of a request, message by message.
fn estimate(request: &Request) -> u32 {
    let messages = request.body["messages"].as_array().unwrap().iter();
    messages
        .map(|message| Tokens::estimate(message["content"].as_str().unwrap()).0)
        .sum()
}

fn max_tokens(request: &Request) -> u32 {
    let body = &request.body;
    let field = body
        .get("max_tokens")
        .or_else(|| body.get("max_completion_tokens"));
    u32::try_from(field.and_then(Value::as_u64).unwrap()).unwrap()
}

/// A session file of plain turns.
fn history(turns: usize, text: &str) -> String {
    let messages: Vec<Value> = (0..turns)
        .flat_map(|n| {
            [
                json!({"id": format!("u{n}"), "role": "user", "content": format!("question {n}: {text}")}),
                json!({"id": format!("a{n}"), "role": "assistant", "content": format!("answer {n}: {text}")}),
            ]
        })
        .collect();
    json!({"version": 1, "meta": {}, "messages": messages}).to_string()
}

#[test]
fn any_mix_of_lengths_and_scripts_fits_a_small_window() {
    let home = Home::new();
    let server =
        Script::answering(|_| say("Noted, and here is more text than needed. ".repeat(20))).serve();
    let models =
        "models: {default: it, it: {provider: there, model: scripted, context_window: 4000}}";
    home.config(&server, models);
    let inputs = [
        "short".to_owned(),
        "word ".repeat(4_000),
        "日本語の文章".repeat(900),
        "😀👩‍👧".repeat(2_000),
        "end".to_owned(),
    ];
    for input in &inputs {
        assert_eq!(
            home.cogtrix(&["-c", "test.yaml", "-s", "s"])
                .stdin(input.as_str())
                .run()
                .code,
            Some(0)
        );
    }
    for (chat, input) in server.chats().iter().zip(&inputs) {
        assert!(
            estimate(chat) + max_tokens(chat) <= 4_000,
            "{} + {}",
            estimate(chat),
            max_tokens(chat)
        );
        assert!(max_tokens(chat) >= 1);
        assert!(chat.system().contains("You are a helpful AI assistant"));
        let last = chat.message(-1);
        assert!(
            last.ends_with(input.as_str()) || last.contains("[…truncated…]"),
            "the input is there"
        );
    }
    assert_eq!(server.chats().len(), inputs.len());
    let kept: Vec<String> = home
        .said("s")
        .into_iter()
        .filter(|line| line.starts_with("user"))
        .collect();
    assert_eq!(
        kept[1],
        format!("user: {}", inputs[1].trim()),
        "the full text is saved"
    );
}

/// Texts without their stamps, from the oldest to the newest.
fn sent(request: &Request) -> Vec<(String, String)> {
    let messages = request.body["messages"].as_array().unwrap().iter();
    messages
        .filter(|message| message["role"] != "system")
        .map(|message| {
            let text = |key: &str| message[key].as_str().unwrap().to_owned();
            (text("role"), text("content"))
        })
        .collect()
}

#[test]
fn what_is_sent_is_the_newest_part_of_history_in_whole_turns() {
    let home = Home::new();
    let mut n = 0_usize;
    let replies = [30, 400, 2_000, 9_000, 1];
    let server = Script::answering(move |_| {
        n += 1;
        say(format!(
            "Reply {n}: {}",
            "日本 text 🙂 ".repeat(replies[n % 5] / 10)
        ))
    })
    .serve();
    let models =
        "models: {default: it, it: {provider: there, model: scripted, context_window: 4000}}";
    let more = "memory: {timestamps: off}\ncontext: {guards: []}";
    home.config(&server, &format!("{more}\n{models}"));
    let lengths = [
        3, 17_000, 40, 1_200, 9_000, 250, 20_000, 5, 3_100, 64, 700, 15_000, 2, 90, 4_000,
    ];
    let alphabets = ["word ", "混ぜた文章", "👩‍👧🙂", "Zażółć gęślą jaźń "];
    let inputs: Vec<String> = lengths
        .iter()
        .enumerate()
        .map(|(n, length)| {
            let text: String = alphabets[n % 4].chars().cycle().take(*length).collect();
            format!("Question {n}: {}", text.trim())
        })
        .collect();
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "--lines"])
        .stdin(inputs.join("\n"))
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let stored: Vec<String> = home.said("s");
    let chats = server.chats();
    assert_eq!(chats.len(), inputs.len());
    let mut has_cut = 0;
    for (turn, chat) in chats.iter().enumerate() {
        let messages = sent(chat);
        let n_messages = u32::try_from(chat.body["messages"].as_array().unwrap().len()).unwrap();
        let cost = estimate(chat) + n_messages * Tokens::PER_MESSAGE.0;
        assert!(
            cost + max_tokens(chat) <= 4_000,
            "turn {turn}: {cost} + {}",
            max_tokens(chat)
        );
        assert!(max_tokens(chat) >= 1);
        assert!(
            chat.system().contains("You are a helpful AI assistant"),
            "turn {turn}"
        );
        let past = &stored[..turn * 2];
        let newest = &past[past.len() + 1 - messages.len()..];
        for (kept, (role, text)) in newest.iter().zip(&messages) {
            let whole = format!("{role}: {text}");
            let is_cut = text.contains("[…truncated…]");
            has_cut += usize::from(is_cut);
            assert!(*kept == whole || is_cut, "turn {turn}: {whole} for {kept}");
        }
        assert_eq!(
            messages.len() % 2,
            1,
            "turn {turn}: whole turns and the input"
        );
        let (_, input) = messages.last().unwrap();
        has_cut += usize::from(input.contains("[…truncated…]"));
        assert!(
            *input == inputs[turn] || input.contains("[…truncated…]"),
            "turn {turn}"
        );
        assert!(
            input.starts_with(&format!("Question {turn}: ")),
            "turn {turn}"
        );
    }
    assert!(has_cut > 2, "nothing had to be cut");
}

#[test]
fn a_session_of_ten_thousand_messages_goes_on_with_one_request() {
    let home = Home::new();
    let server = Script::answering(|_| say("Still here.")).serve();
    home.config(&server, "");
    let text = "the quick brown fox jumps over the lazy dog, ".repeat(2);
    home.write(home.history("long.json"), history(5_000, &text));
    let run = home.ask("long", "are you still there?");
    assert_eq!(run.stdout, "Still here.\n", "{run}");
    assert!(
        run.stderr.contains("older messages are no longer sent"),
        "{run}"
    );
    let mut chats = server.chats();
    chats.retain(|chat| !is_summary(chat));
    assert_eq!(chats.len(), 1);
    let chat = &chats[0];
    assert!(estimate(chat) + max_tokens(chat) <= 32_768);
    let sent = chat.body["messages"].as_array().unwrap().len();
    assert!(sent > 100, "the window is used: {sent}");
    assert!(
        chat.message(-2).contains("answer 4999"),
        "the newest are sent"
    );
}

#[test]
fn a_server_with_a_smaller_window_than_assumed_is_believed_in_each_of_its_shapes() {
    let llama = json!({"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096,
        "message": "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"}});
    let openai = json!({"error": {"code": "context_length_exceeded", "type": "invalid_request_error", "param": "messages",
        "message": "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens."}});
    let ollama = json!({"error": "the prompt is longer than the context length currently available to the model"});
    for body in [llama, openai, ollama] {
        let home = Home::new();
        let refused = raw(400, "application/json", [body.to_string()]);
        let server = Server::start([refused, say("Now it fits.")]);
        home.config(&server, "");
        home.write(
            home.history("s.json"),
            history(200, "words and more words in every message of this session"),
        );
        let run = home.ask("s", "hello");
        assert_eq!(run.stdout, "Now it fits.\n", "{body}: {run}");
        let chats = server.chats();
        let asked = |n: usize| estimate(&chats[n]) + max_tokens(&chats[n]);
        assert!(asked(1) < asked(0), "{body}");
    }
}

#[test]
fn another_bad_request_is_not_taken_for_a_long_one() {
    let home = Home::new();
    let server = Server::start([fail(400, "unknown field"), say("never")]);
    home.config(&server, "");
    let run = home.ask("s", "hello");
    assert_eq!((run.code, server.chats().len()), (Some(1), 1), "{run}");
}

#[test]
fn a_window_too_small_for_anything_is_a_clear_error() {
    let home = Home::new();
    let server = Server::start([]);
    let models =
        "models: {default: it, it: {provider: there, model: scripted, context_window: 100}}";
    home.config(&server, models);
    let run = home.ask("s", "hello");
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr.contains("a context window of 100 tokens leaves"),
        "{run}"
    );
    assert_eq!(server.chats().len(), 0);
}

#[test]
fn context_lists_sections_with_shares_and_sources() {
    let home = Home::new();
    let server = Server::start([say("One."), say("Two.")]);
    home.config(&server, "");
    let run = home.lines("s", &["first", "second", "/context", "/context full"]);
    for expected in [
        "config/prompts/base.md",
        "config/modes/conversation.md",
        "turn 1, 2 messages",
        "you, 1 message",
        "of 33k tokens",
    ] {
        assert!(run.stdout.contains(expected), "{expected}: {run}");
    }
    assert!(
        run.stdout.contains("You are a helpful AI assistant"),
        "full prints it: {run}"
    );
}

#[test]
fn where_tools_take_the_room_a_cut_message_says_so_and_how_to_make_room() {
    // Once, a message of 1,500 tokens was called larger than a window of 5,000.
    let said = "The tide is high. ".repeat(300);
    for (preset, size, told, remedy) in [
        (
            "all",
            1,
            "does not fit in the model's window of 5,000 tokens: tool descriptions take about ",
            "`/tools off NAME`, `/tools none`",
        ),
        (
            "none",
            20,
            "your message is larger than the model's window: ",
            "(the full text is saved)\n",
        ),
    ] {
        let server = Script::answering(|_| say("Well.").without_usage()).serve();
        let home = Home::new();
        home.config(
            &server,
            &format!(
                "tools: {{preset: {preset}}}\n\
                 models: {{default: it, it: {{provider: there, model: scripted, context_window: 5000, max_tokens: 300}}}}"
            ),
        );
        let run = home.lines("s", &[&said.repeat(size)]);
        assert!(run.stderr.contains(told), "{preset}: {run}");
        assert!(run.stderr.contains(remedy), "{preset}: {run}");
        let near = run.stderr.lines().find(|line| line.contains("% full"));
        let near = near.unwrap_or_else(|| panic!("{run}"));
        let names = near.contains("tool descriptions take about ");
        assert_eq!(names, preset == "all", "{near}");
    }
}
