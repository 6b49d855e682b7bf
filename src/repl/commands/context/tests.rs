use crate::memory::tracking::readers::Readers;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::*;
use crate::memory::{self, Memory, Prompt, Prompts, Registry};
use crate::provider::{ChatRequest, Delivery};
use crate::testing::provider::{ScriptedProvider, counted, says};
use crate::testing::{ManualClock, MemoryLog};

fn agent(provider: ScriptedProvider) -> Agent {
    let settings = memory::Settings::default();
    let own = |name: &str| match name {
        "prompts/base.md" => Some(Prompt::new("base.md", "Be kind.")),
        "modes/conversation.md" => Some(Prompt::new("mode.md", "Listen. ".repeat(80))),
        _ => None,
    };
    let prompts = Prompts::with(own);
    let modes = Registry::standard(&settings, &prompts, Readers::embedded());
    let memory = Memory::new(modes, settings, prompts).unwrap();
    let settings = crate::agent::Settings {
        summariser: None,
        jobs: crate::agent::Running::Background,
        think: crate::agent::ThinkSettings::default(),
        recall: None,
        places: Vec::new(),
        data: std::path::PathBuf::new(),
        context: crate::context::Settings::default(),
        delivery: Delivery::Streamed,
        directory: "~/project".into(),
    };
    let opened = MemoryLog::default().open("test");
    let clock = Arc::new(ManualClock::new());
    Agent::new(Arc::new(provider), memory, opened, clock, settings)
}

async fn say(agent: &mut Agent, input: &str) {
    let cancel = CancellationToken::new();
    agent
        .turn(input.to_owned(), &mut |_| {}, &cancel)
        .await
        .unwrap();
}

/// Counts the words of what was said.
#[expect(clippy::unnecessary_wraps, reason = "some providers cannot count")]
fn words_of(request: &ChatRequest) -> Option<Tokens> {
    let words = request.messages[0].said().split_whitespace().count();
    Some(Tokens(u32::try_from(words).unwrap()))
}

#[tokio::test]
async fn without_counts_all_is_estimated_and_marked() {
    let mut agent = agent(ScriptedProvider::new([says("Hello!")]));
    say(&mut agent, "Hi").await;
    say(&mut agent, "Which colour?").await;
    insta::assert_snapshot!(show(&mut agent, Shown::Overview, 80).await, @r"
        system          ~6 tok  █░░░░░░░░░░░░░░░░░░░  base.md
        system        ~164 tok  █░░░░░░░░░░░░░░░░░░░  mode.md
        window         ~23 tok  █░░░░░░░░░░░░░░░░░░░  turn 1, 2 messages
        input          ~14 tok  █░░░░░░░░░░░░░░░░░░░  you, 1 message
        ~207 of 8.2k tokens (3 %), 7.9k reserved for the reply
        ");
}

#[tokio::test]
async fn on_a_narrow_screen_each_source_can_be_read() {
    let mut agent = agent(ScriptedProvider::new([says("Hello!"), says("Blue.")]));
    for input in ["Hi", "Which colour?", "And now?"] {
        say(&mut agent, input).await;
    }
    let shown = show(&mut agent, Shown::Overview, 40).await;
    insta::assert_snapshot!(shown, @r#"
        system        ~6  base.md
        system      ~164  mode.md
        window       ~49  turn 1 to turn 2
        input        ~13  you
        ~232 of 8.2k tokens (3 %), 7.9k reserved for the reply
        "#);
}

#[tokio::test]
async fn a_server_that_counts_is_asked_for_each_row() {
    let provider = ScriptedProvider::new([says("Hello!")]).with_count(words_of);
    let mut agent = agent(provider);
    say(&mut agent, "Hi").await;
    say(&mut agent, "Which colour?").await;
    insta::assert_snapshot!(show(&mut agent, Shown::Overview, 80).await, @r"
        system           2 tok  █░░░░░░░░░░░░░░░░░░░  base.md
        system          80 tok  █░░░░░░░░░░░░░░░░░░░  mode.md
        window          10 tok  █░░░░░░░░░░░░░░░░░░░  turn 1, 2 messages
        input            6 tok  █░░░░░░░░░░░░░░░░░░░  you, 1 message
        98 of 8.2k tokens (1 %), 7.9k reserved for the reply
        ");
}

#[tokio::test]
async fn one_row_that_is_not_counted_makes_the_sum_an_estimate() {
    let provider = ScriptedProvider::new([says("Hello!")])
        .with_count(|request| words_of(request).filter(|words| *words < Tokens(80)));
    let mut agent = agent(provider);
    say(&mut agent, "Hi").await;
    insta::assert_snapshot!(show(&mut agent, Shown::Overview, 80).await, @r"
        system           2 tok  █░░░░░░░░░░░░░░░░░░░  base.md
        system        ~164 tok  █░░░░░░░░░░░░░░░░░░░  mode.md
        input            5 tok  █░░░░░░░░░░░░░░░░░░░  you, 1 message
        ~171 of 8.2k tokens (2 %), 7.9k reserved for the reply
        ");
}

#[tokio::test]
async fn what_the_server_reported_of_the_last_request_goes_before_counts() {
    let near = counted("Hello!", Some(Tokens(6_554)));
    let over = counted("Hello!", Some(Tokens(8_193)));
    let provider = ScriptedProvider::new([near, over, says("ok")]).with_count(words_of);
    let mut agent = agent(provider);
    let mut usage_lines = String::new();
    for input in ["one", "two", "three"] {
        say(&mut agent, input).await;
        let shown = show(&mut agent, Shown::Overview, 80).await;
        usage_lines.extend(shown.lines().last());
        usage_lines.push('\n');
    }
    insta::assert_snapshot!(usage_lines, @r"
        6.6k of 8.2k tokens (80 %, near the limit), 1.6k reserved for the reply
        8.2k of 8.2k tokens (100 %, over the limit), 0 reserved for the reply
        107 of 8.2k tokens (1 %), 7.9k reserved for the reply
        ");
}

#[tokio::test]
async fn before_the_first_request_the_next_one_is_shown() {
    let provider = ScriptedProvider::new([]).with_count(words_of);
    insta::assert_snapshot!(show(&mut agent(provider), Shown::Overview, 80).await, @r"
        Nothing sent yet; the next request would contain:
        system           2 tok  █░░░░░░░░░░░░░░░░░░░  base.md
        system          80 tok  █░░░░░░░░░░░░░░░░░░░  mode.md
        input            0 tok  ░░░░░░░░░░░░░░░░░░░░  you, 1 message
        82 of 8.2k tokens (1 %), 8.0k reserved for the reply
        ");
}

#[tokio::test]
async fn a_request_is_counted_by_the_model_it_went_to() {
    let mut agent = agent(ScriptedProvider::new([says("Hello!")]));
    say(&mut agent, "Hi").await;
    let before = show(&mut agent, Shown::Overview, 80).await;
    let other = ScriptedProvider::new([]).with_count(words_of);
    agent.switch_model(Arc::new(other));
    assert_eq!(show(&mut agent, Shown::Overview, 80).await, before);
}
