//! One turn through real memory and context, with a scripted provider and a log in memory.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cogtrix::agent::{
    Agent, CompactError, Compacting, Files, NoTurn, NotWritten, Reader, Running, Settings,
    TurnEvent, TurnFailure, Warning,
};
use cogtrix::chat::{Message, Outcome, Part, Record, Role, Tokens, ToolCall, TurnId};
use cogtrix::context::{self, Section};
use cogtrix::files::{Disk, LocalDisk};
use cogtrix::memory::compaction::Kind;
use cogtrix::memory::tracking::readers::Readers;
use cogtrix::memory::tracking::{Exchange, Freshness};
use cogtrix::memory::{self, HybridOptions, Memory, MemoryMode, Preset, Prompt, Prompts, Registry};
use cogtrix::provider::{
    Abilities, ChatRequest, Delivery, EventStream, FinishReason, ModelName, Provider,
    ProviderError, StreamEvent,
};
use cogtrix::testing::provider::{Script, ScriptedProvider, breaks_off, counted, says};
use cogtrix::testing::{ManualClock, MemoryLog};
use cogtrix::tools::files::{Changes, Project};
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

const ALL: Compacting = Compacting::Kind(Kind::Compact);

struct Desk {
    agent: Agent,
    provider: ScriptedProvider,
    log: MemoryLog,
    clock: Arc<ManualClock>,
    events: Vec<TurnEvent>,
}

impl Desk {
    fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        Self::with(ScriptedProvider::new(scripts), &memory::Settings::default())
    }

    fn with(provider: ScriptedProvider, settings: &memory::Settings) -> Self {
        let prompts = Prompts::embedded();
        let modes = Registry::standard(settings, &prompts, Readers::embedded());
        Self::with_memory(
            provider,
            Memory::new(modes, settings.clone(), prompts).unwrap(),
        )
    }

    fn with_memory(provider: ScriptedProvider, memory: Memory) -> Self {
        Self::with_summariser(provider, memory, None)
    }

    fn with_summariser(
        provider: ScriptedProvider,
        memory: Memory,
        summariser: Option<Arc<dyn Provider>>,
    ) -> Self {
        let log = MemoryLog::default();
        let clock = Arc::new(ManualClock::new());
        let settings = Settings {
            context: context::Settings::default(),
            delivery: Delivery::Streamed,
            directory: "~/project".into(),
            summariser,
            jobs: Running::Background,
            think: cogtrix::agent::ThinkSettings::default(),
            recall: None,
            places: Vec::new(),
            data: std::path::PathBuf::new(),
        };
        let agent = Agent::new(
            Arc::new(provider.clone()),
            memory,
            log.open("test"),
            clock.clone(),
            settings,
        );
        Self {
            agent,
            provider,
            log,
            clock,
            events: Vec::new(),
        }
    }

    async fn say(&mut self, input: &str) -> Result<String, TurnFailure> {
        let events = &mut self.events;
        let mut observe = |event| events.push(event);
        let report = self
            .agent
            .turn(input.to_owned(), &mut observe, &CancellationToken::new())
            .await;
        self.clock.advance(10);
        report
            .map(|report| report.text)
            .map_err(|error| error.failure)
    }

    fn warnings(&self) -> Vec<&Warning> {
        let warnings = self.events.iter().map(|event| match event {
            TurnEvent::Warning(warning) => Some(warning),
            TurnEvent::Text(_)
            | TurnEvent::Reasoning(_)
            | TurnEvent::Retrying { .. }
            | TurnEvent::Compacting { .. }
            | TurnEvent::Thinking(_)
            | TurnEvent::Captured(_)
            | TurnEvent::ToolStarted(_)
            | TurnEvent::ToolOutput(_)
            | TurnEvent::ToolFinished(_) => None,
        });
        warnings.flatten().collect()
    }

    fn last_stored(&self) -> &Message {
        self.agent.session().messages().last().unwrap()
    }
}

/// One line a message, as the model saw it.
fn seen(messages: &[Message]) -> String {
    let lines: Vec<String> = messages
        .iter()
        .map(|message| format!("{:9} {}", message.role.as_str(), message.said()))
        .collect();
    lines.join("\n")
}

fn broken() -> ProviderError {
    ProviderError::Truncated {
        url: "http://server".into(),
        why: None,
    }
}

#[tokio::test]
async fn a_request_has_system_history_and_input_each_with_its_time() {
    let mut desk = Desk::new([says("Hello!"), says("Blue.")]);
    desk.say("Hi").await.unwrap();
    desk.say("Which colour?").await.unwrap();
    let request = desk.provider.requests().pop().unwrap();
    insta::assert_snapshot!(seen(&request.messages), @r"
    user      [2026-02-14 15:23:05 UTC] Hi
    assistant [2026-02-14 15:23:05 UTC] Hello!
    user      [2026-02-14 15:23:15 UTC] Which colour?
    ");
    assert_eq!(request.system.len(), 1, "one leading system message");
    assert!(request.system[0].contains("Session: test"));
    assert!(request.system[0].contains("You are a helpful AI assistant"));
}

#[tokio::test]
async fn the_question_is_recorded_before_the_model_is_asked_and_the_reply_after() {
    let mut desk = Desk::new([says("Hello!")]);
    desk.say("Hi").await.unwrap();
    let kinds: Vec<&str> = desk
        .log
        .records()
        .iter()
        .map(|record| match record {
            Record::TurnStarted { .. } => "started",
            Record::TurnFinished { .. } => "finished",
            Record::ModeStatesReplaced(_) => "modes",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["started", "finished", "modes"]);
}

#[tokio::test]
async fn a_nearly_full_window_is_told_by_the_servers_count_once_it_is_above_the_threshold() {
    for (counted_tokens, expected) in [(6_320, false), (6_400, false), (6_480, true)] {
        let provider = ScriptedProvider::new([counted("ok", Some(Tokens(counted_tokens)))]);
        let provider = provider.with_window(Tokens(8_000));
        let mut desk = Desk::with(provider, &memory::Settings::default());
        for _ in 0..2 {
            desk.say("Hi").await.unwrap();
        }
        let near = |warning: &&&Warning| matches!(warning, Warning::NearLimit { .. });
        let told = desk.warnings().iter().filter(near).count();
        assert_eq!(told, usize::from(expected), "{counted_tokens} of 8,000");
    }
}

#[tokio::test]
async fn a_nearly_full_window_is_told_by_our_estimate_where_the_server_counts_nothing() {
    for (chars, expected) in [(20_000, false), (26_000, true)] {
        let provider = ScriptedProvider::new([says("ok")]).with_window(Tokens(8_000));
        let provider = provider.with_max_output(Tokens(500));
        let mut desk = Desk::with(provider, &memory::Settings::default());
        desk.say(&"x".repeat(chars)).await.unwrap();
        let told = desk.warnings().iter().any(
            |warning| matches!(warning, Warning::NearLimit { usage, .. } if usage.is_estimate),
        );
        assert_eq!(told, expected, "{chars} characters");
    }
}

#[tokio::test]
async fn the_system_prompt_is_the_same_bytes_every_turn() {
    let mut desk = Desk::new([says("ok")]);
    for n in 0..5 {
        desk.clock.advance(86_400);
        desk.say(&format!("message {n}")).await.unwrap();
    }
    let requests = desk.provider.requests();
    assert!(
        requests
            .windows(2)
            .all(|pair| pair[0].system == pair[1].system)
    );
}

#[tokio::test]
async fn echoed_times_are_neither_shown_nor_kept() {
    let mut desk = Desk::new([says("[2026-02-14 15:23:05 UTC] hi")]);
    assert_eq!(desk.say("Hi").await.unwrap(), "hi");
    assert_eq!(desk.last_stored().said(), "hi");
    assert!(desk.events.contains(&TurnEvent::Text("hi".into())));
}

#[tokio::test]
async fn thinking_is_shown_and_never_kept_or_sent() {
    let script = vec![
        Ok(StreamEvent::Reasoning("hmm, secret plan".into())),
        Ok(StreamEvent::Text("Done.".into())),
        Ok(StreamEvent::Finished {
            reason: FinishReason::Stop,
            usage: None,
        }),
    ];
    let mut desk = Desk::new([script, says("ok")]);
    desk.say("Think").await.unwrap();
    desk.say("Again").await.unwrap();
    assert!(
        desk.events
            .contains(&TurnEvent::Reasoning("hmm, secret plan".into()))
    );
    let sent = seen(&desk.provider.requests().pop().unwrap().messages);
    assert!(
        !sent.contains("secret plan") && sent.contains("Done."),
        "{sent}"
    );
}

#[tokio::test]
async fn a_switch_of_mode_changes_the_very_next_request_and_loses_nothing() {
    let mut desk = Desk::new([says("ok")]);
    desk.say("remember the harbour").await.unwrap();
    desk.agent.switch_mode("code").unwrap();
    desk.say("go on").await.unwrap();
    let request = desk.provider.requests().pop().unwrap();
    assert!(request.system[0].contains("You are an expert programmer"));
    assert!(!request.system[0].contains("helpful AI assistant"));
    assert!(seen(&request.messages).contains("remember the harbour"));
    assert_eq!(desk.agent.session().meta().mode.as_deref(), Some("code"));
}

#[tokio::test]
async fn every_mode_reads_every_turn() {
    let mut desk = Desk::new([says("ok")]);
    desk.say("one").await.unwrap();
    desk.agent.switch_mode("reasoning").unwrap();
    desk.say("two").await.unwrap();
    let states = desk.agent.session().mode_states().0.clone();
    for mode in ["conversation", "code", "reasoning"] {
        assert_eq!(states[mode]["turn_count"], 2, "{mode}");
    }
}

#[tokio::test]
async fn a_failed_turn_is_closed_kept_and_sent() {
    let refused = ProviderError::Unreachable {
        url: "http://server".into(),
        why: "connection refused".into(),
    };
    let mut desk = Desk::new([vec![Err(refused)], says("ok")]);
    desk.say("Hi").await.unwrap_err();
    assert_eq!(
        desk.last_stored().said(),
        "[no reply: cannot reach http://server: connection refused]"
    );
    desk.say("Still there?").await.unwrap();
    insta::assert_snapshot!(seen(&desk.provider.requests()[1].messages), @r"
    user      [2026-02-14 15:23:05 UTC] Hi
    assistant [2026-02-14 15:23:05 UTC] [no reply: cannot reach http://server: connection refused]
    user      [2026-02-14 15:23:15 UTC] Still there?
    ");
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_kept_and_marked() {
    let mut desk = Desk::new([breaks_off("Half of the", broken())]);
    desk.say("Hi").await.unwrap_err();
    let stored = desk.last_stored().said().into_owned();
    assert!(stored.starts_with("Half of the\n[reply cut: "), "{stored}");
    assert_eq!(
        desk.agent.session().turns()[0].outcome,
        Some(Outcome::Failed)
    );
}

#[tokio::test]
async fn retry_asks_the_same_again_with_its_time_and_replaces_the_turn_in_the_view() {
    let mut desk = Desk::new([breaks_off("Half", broken()), says("Whole"), says("ok")]);
    desk.say("Question").await.unwrap_err();
    let mut observe = |_| {};
    desk.agent
        .retry(&mut observe, &CancellationToken::new())
        .await
        .unwrap()
        .unwrap();
    desk.say("Next").await.unwrap();
    insta::assert_snapshot!(seen(&desk.provider.requests()[2].messages), @r"
    user      [2026-02-14 15:23:05 UTC] Question
    assistant [2026-02-14 15:23:15 UTC] Whole
    user      [2026-02-14 15:23:15 UTC] Next
    ");
    assert_eq!(
        desk.agent.session().messages().len(),
        6,
        "history keeps both tries"
    );
}

#[tokio::test]
async fn undo_takes_the_last_turn_out_of_what_is_sent() {
    let mut desk = Desk::new([says("ok")]);
    desk.say("keep").await.unwrap();
    desk.say("mistake").await.unwrap();
    assert_eq!(desk.agent.undo().unwrap().input, "mistake");
    desk.say("next").await.unwrap();
    let sent = seen(&desk.provider.requests().pop().unwrap().messages);
    assert!(sent.contains("keep") && !sent.contains("mistake"), "{sent}");
    for _ in 0..2 {
        desk.agent.undo().unwrap();
    }
    assert_eq!(desk.agent.undo().unwrap_err(), NoTurn::NothingToUndo);
}

#[tokio::test]
async fn an_interrupted_reply_is_kept_and_the_session_goes_on() {
    let mut desk = Desk::new([says("never read"), says("ok")]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let mut observe = |_| {};
    let report = desk
        .agent
        .turn("Hi".to_owned(), &mut observe, &cancel)
        .await
        .unwrap();
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Interrupted, "")
    );
    desk.say("again").await.unwrap();
}

#[tokio::test]
async fn a_full_disk_is_said_and_everything_is_saved_once_there_is_room() {
    let mut desk = Desk::new([says("ok")]);
    desk.log.set_full(true);
    desk.say("during").await.unwrap();
    assert!(
        desk.warnings()
            .iter()
            .all(|warning| warning.to_string().starts_with("NOT SAVED"))
    );
    assert_eq!(desk.log.records(), []);
    desk.log.set_full(false);
    desk.say("after").await.unwrap();
    let said: Vec<String> = desk
        .log
        .records()
        .iter()
        .filter_map(|record| match record {
            Record::TurnStarted { input, .. } => Some(input.said().into_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["during", "after"]);
}

#[tokio::test]
async fn a_request_refused_as_too_long_is_made_again_within_the_servers_window() {
    let too_long = ProviderError::ContextTooLong {
        url: "http://server".into(),
        message: "exceeds".into(),
        prompt: Some(Tokens(3_000)),
        window: Some(Tokens(2_048)),
    };
    let mut desk = Desk::new([
        says(&"word ".repeat(1_000)),
        says(&"word ".repeat(1_000)),
        vec![Err(too_long)],
        says("ok"),
    ]);
    for input in ["one", "two", "three", "four"] {
        desk.say(input).await.unwrap();
    }
    let requests = desk.provider.requests();
    assert_eq!(
        requests.len(),
        5,
        "one request more than turns: the second learns from the first"
    );
    let cost = |n: usize| -> Tokens { requests[n].messages.iter().map(Message::cost).sum() };
    assert!(cost(3) < cost(2) && cost(3) < Tokens(2_048));
    assert!(desk.warnings().contains(&&Warning::Refitted {
        window: Some(Tokens(2_048))
    }));
}

#[tokio::test]
async fn a_dense_language_shrinks_the_budget_after_the_first_count() {
    let mut desk = Desk::new([
        counted(&"长".repeat(6_000), Some(Tokens(4_000))),
        says("ok"),
    ]);
    desk.say(&"问".repeat(4_000)).await.unwrap();
    assert!(desk.agent.session().meta().calibration.ratio() > 3.0);
}

/// Two warnings in a row said that the window was full; one advised to set its size, which is known, and the other to
/// compact, for which it is too small.
#[tokio::test]
async fn a_window_that_is_known_and_full_is_one_thing_to_say() {
    for (window, makes_room) in [
        (
            1_000,
            "; a model with a larger window (`/model`) makes room",
        ),
        (8_000, "; `/compact` makes room"),
    ] {
        let provider = ScriptedProvider::new([counted("ok", Some(Tokens(window)))]);
        let mut desk = Desk::with(
            provider.with_window(Tokens(window)),
            &memory::Settings::default(),
        );
        desk.say(&"word ".repeat(20)).await.unwrap();
        let warnings = desk.warnings().into_iter();
        let told: Vec<String> = warnings.map(|it| it.in_words(Reader::Chat)).collect();
        let told: Vec<&String> = told.iter().filter(|it| it.contains("window")).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("the request filled the context window of "));
        assert!(told[0].ends_with(makes_room), "{told:?}");
    }
}

/// It said that the server may have cut what it had counted, and went on sending too much.
#[tokio::test]
async fn a_count_above_the_window_is_no_cut_and_is_learned_from() {
    let script = [counted("ok", Some(Tokens(14_000))), says("ok")];
    let provider = ScriptedProvider::new(script).with_window(Tokens(8_000));
    let mut desk = Desk::with(provider, &memory::Settings::default());
    desk.say(&"word ".repeat(2_000)).await.unwrap();
    let warnings = desk.warnings().into_iter();
    let told: Vec<String> = warnings.map(|it| it.in_words(Reader::Chat)).collect();
    assert_eq!(
        told,
        [
            "the server counted 14,000 tokens, more than the 8,000 of its window; `/compact` makes room"
        ]
    );
    desk.say(&"word ".repeat(2_000)).await.unwrap();
    let told = desk.warnings();
    assert!(
        told.iter().any(|it| matches!(it, Warning::InputCut { .. })),
        "{:?}",
        desk.warnings()
    );
}

#[tokio::test]
async fn a_silent_cut_by_the_server_raises_the_alarm() {
    let mut desk = Desk::new([counted("ok", Some(Tokens(100)))]);
    desk.say(&"word ".repeat(2_000)).await.unwrap();
    assert!(
        matches!(
            desk.warnings()[..],
            [Warning::SilentCut {
                counted: Tokens(100),
                set_by: "context_window",
                ..
            }]
        ),
        "{:?}",
        desk.warnings()
    );
}

#[tokio::test]
async fn an_input_larger_than_the_window_is_cut_said_and_kept_whole() {
    let mut desk = Desk::with(
        ScriptedProvider::new([says("ok")]).with_window(Tokens(4_000)),
        &memory::Settings::default(),
    );
    let enormous = "ä".repeat(100_000);
    desk.say(&enormous).await.unwrap();
    assert!(
        matches!(desk.warnings()[..], [Warning::InputCut { .. }]),
        "{:?}",
        desk.warnings()
    );
    assert_eq!(desk.agent.session().messages()[0].said(), enormous);
}

#[tokio::test]
async fn a_call_of_a_tool_nobody_offered_is_answered_and_an_empty_reply_is_a_failure() {
    let call = vec![
        Ok(StreamEvent::ToolCall(ToolCall::new("c1", "rm", "{}"))),
        Ok(StreamEvent::Finished {
            reason: FinishReason::ToolCalls,
            usage: None,
        }),
    ];
    let mut desk = Desk::new([call, says("")]);
    assert_eq!(desk.say("Hi").await, Err(TurnFailure::Empty));
    let answered = desk.provider.requests().pop().unwrap();
    let Some([Part::ToolResult { output, failed, .. }]) = answered
        .messages
        .last()
        .map(|message| message.parts.as_slice())
    else {
        panic!("no result: {:?}", answered.messages.last());
    };
    assert!(failed & output.contains("there is no tool rm"), "{output}");
}

#[tokio::test]
async fn a_fourth_mode_needs_nothing_but_its_registration() {
    #[derive(Debug)]
    struct Poetry(Preset);
    impl MemoryMode for Poetry {
        fn preset(&self) -> &Preset {
            &self.0
        }
        fn observe(&mut self, _: TurnId, _: &Exchange<'_>) {}
        fn sections(&self) -> Vec<Section> {
            let source = context::Source::Tracker("poetry".into());
            vec![Section::system(
                context::SectionKind::ModeState,
                source,
                "Metre: iambic",
            )]
        }
    }
    let settings = memory::Settings {
        mode: "poetry".into(),
        ..memory::Settings::default()
    };
    let prompts = Prompts::embedded();
    let mut modes = Registry::standard(&settings, &prompts, Readers::embedded());
    let preset = Preset {
        name: "poetry".into(),
        summary: "Verse".into(),
        window: 2,
        prompt: Prompt::new("config/modes/poetry.md", "You are a poet."),
        freshness: Freshness::Always,
        hybrid: HybridOptions {
            summarization: true,
            vector_recall_k: 0,
        },
    };
    modes.register(Box::new(Poetry(preset))).unwrap();
    let memory = Memory::new(modes, settings, prompts).unwrap();
    let mut desk = Desk::with_memory(ScriptedProvider::new([says("ok")]), memory);
    desk.say("Sing").await.unwrap();
    let system = &desk.provider.requests()[0].system[0];
    assert!(
        system.contains("You are a poet.") && system.ends_with("Metre: iambic"),
        "{system}"
    );
}

const SUMMARY: &str = "- They talked about harbours, cranes and the tide.";

async fn talk(desk: &mut Desk, turns: usize) {
    for n in 0..turns {
        desk.say(&format!(
            "Tell me about harbour number {n}, its cranes and the tide"
        ))
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn compact_leaves_two_messages_and_the_conversation_goes_on() {
    let mut desk = Desk::new(
        std::iter::repeat_n(says("There are many cranes in that harbour."), 6)
            .chain([says(SUMMARY)]),
    );
    talk(&mut desk, 6).await;
    let report = desk
        .agent
        .compact(ALL, "", &mut |_| {}, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!((report.before.messages, report.after.messages), (12, 2));
    assert!(report.after.tokens < report.before.tokens);
    desk.say("Go on").await.unwrap();
    let request = desk.provider.requests().pop().unwrap();
    assert_eq!(request.messages.len(), 3);
    assert!(request.messages[0].said().contains(SUMMARY));
    assert_eq!(
        desk.agent.session().messages().len(),
        14,
        "history is whole"
    );
    assert!(matches!(desk.log.records()[18], Record::HybridReplaced(_)));
    desk.agent.undo_compaction().unwrap();
    desk.say("And on").await.unwrap();
    assert_eq!(desk.provider.requests().pop().unwrap().messages.len(), 15);
}

#[tokio::test]
async fn a_compaction_that_fails_changes_nothing() {
    type Check = fn(&CompactError) -> bool;
    let cases: [(Script, Check); 5] = [
        (vec![Err(broken())], |error| {
            matches!(error, CompactError::NotWritten(NotWritten::Provider(_)))
        }),
        (says("  \n"), |error| {
            matches!(
                error,
                CompactError::NotTaken(_) | CompactError::NotWritten(NotWritten::TooShort)
            )
        }),
        (says(&SUMMARY.repeat(40)), |error| {
            matches!(
                error,
                CompactError::NotTaken(_) | CompactError::NotWritten(NotWritten::TooShort)
            )
        }),
        (
            vec![
                Ok(StreamEvent::Text(SUMMARY.into())),
                Ok(StreamEvent::Finished {
                    reason: FinishReason::Length,
                    usage: None,
                }),
            ],
            |error| matches!(error, CompactError::NotWritten(NotWritten::Incomplete)),
        ),
        (
            vec![
                Ok(StreamEvent::Text(SUMMARY.into())),
                Ok(StreamEvent::ToolCall(ToolCall::new("c", "x", "{}"))),
                Ok(StreamEvent::Finished {
                    reason: FinishReason::Stop,
                    usage: None,
                }),
            ],
            |error| matches!(error, CompactError::NotWritten(NotWritten::CalledTool)),
        ),
    ];
    for (script, expected) in cases {
        let mut desk = Desk::new(std::iter::repeat_n(says("Many cranes."), 3).chain([script]));
        talk(&mut desk, 3).await;
        let error = desk
            .agent
            .compact(ALL, "", &mut |_| {}, &CancellationToken::new())
            .await
            .unwrap_err();
        assert!(expected(&error), "{error:?}");
        assert_eq!(desk.agent.session().hybrid().compaction, None);
    }
}

#[tokio::test]
async fn an_empty_session_has_nothing_to_compact_and_asks_nobody() {
    let mut desk = Desk::new([says(SUMMARY)]);
    let error = desk
        .agent
        .compact(ALL, "", &mut |_| {}, &CancellationToken::new())
        .await
        .unwrap_err();
    assert!(matches!(error, CompactError::Cannot(_)));
    assert_eq!(desk.provider.requests(), []);
}

/// A provider whose answers begin after a while, or never.
#[derive(Debug)]
struct Late(ScriptedProvider, Option<Duration>);

#[async_trait::async_trait]
impl Provider for Late {
    fn model(&self) -> &ModelName {
        self.0.model()
    }
    async fn abilities(&self) -> Abilities {
        self.0.abilities().await
    }
    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        self.0.models().await
    }
    fn stream(&self, request: ChatRequest) -> EventStream {
        let Some(after) = self.1 else {
            return Box::pin(futures_util::stream::pending());
        };
        let events = self.0.stream(request);
        let late = tokio::time::sleep(after);
        Box::pin(late.map(|()| events).flatten_stream())
    }
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_is_always_about_to_come_is_given_up() {
    let late = ScriptedProvider::new([says(SUMMARY)]).with_window(Tokens(2_000));
    let after = Some(Duration::from_secs(50));
    let settings = memory::Settings::default();
    let prompts = Prompts::embedded();
    let modes = Registry::standard(&settings, &prompts, Readers::embedded());
    let mut desk = Desk::with_summariser(
        ScriptedProvider::new([says("Noted.")]),
        Memory::new(modes, settings, prompts).unwrap(),
        Some(Arc::new(Late(late, after))),
    );
    let unguarded = context::Settings {
        guards: Vec::new(),
        ..context::Settings::default()
    };
    desk.agent.resettle(unguarded, memory::Settings::default());
    for n in 0..18 {
        let said = format!("{n} {}", "cranes of the harbour ".repeat(80));
        desk.say(&said).await.unwrap();
    }
    assert!(desk.agent.is_working());
    let begun = tokio::time::Instant::now();
    desk.agent.settle(Duration::from_hours(1)).await;
    assert_eq!(begun.elapsed().as_secs(), 120);
    assert_eq!(desk.agent.session().hybrid().failures, 1);
    assert!(!desk.agent.is_working());
}

#[tokio::test(start_paused = true)]
async fn a_compaction_that_a_turn_waits_for_is_given_up_and_the_turn_goes_on() {
    let never = ScriptedProvider::new([says(SUMMARY)]);
    let settings = memory::Settings::default();
    let prompts = Prompts::embedded();
    let modes = Registry::standard(&settings, &prompts, Readers::embedded());
    let mut desk = Desk::with_summariser(
        ScriptedProvider::new([says("Noted.")]),
        Memory::new(modes, settings, prompts).unwrap(),
        Some(Arc::new(Late(never, None))),
    );
    let by_window = context::Settings {
        strategy: context::Strategy::Window,
        max_history_messages: 8,
        guards: Vec::new(),
        ..context::Settings::default()
    };
    desk.agent.resettle(by_window, memory::Settings::default());
    for n in 0..4 {
        desk.say(&format!("message {n}")).await.unwrap();
    }
    let skip = desk.agent.skip();
    let mut given_up = 0;
    let mut observe = |event| {
        if matches!(
            event,
            TurnEvent::Compacting {
                progress: Some(_),
                ..
            }
        ) {
            given_up += usize::from(skip.skip());
        }
    };
    let report = desk
        .agent
        .turn("go on".to_owned(), &mut observe, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!((report.text.as_str(), given_up), ("Noted.", 1));
    let compaction = desk.agent.session().hybrid().compaction.clone().unwrap();
    assert_eq!(compaction.form, cogtrix::chat::Form::Notice);
    assert!(!skip.skip(), "nothing is left to give up");
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_never_comes_ends_after_its_time() {
    let mut desk = Desk::new([says("Many cranes.")]);
    talk(&mut desk, 3).await;
    desk.agent
        .switch_model(Arc::new(Late(desk.provider.clone(), None)));
    let begun = tokio::time::Instant::now();
    let error = desk
        .agent
        .compact(ALL, "", &mut |_| {}, &CancellationToken::new())
        .await
        .unwrap_err();
    assert!(matches!(
        error,
        CompactError::NotWritten(NotWritten::TimedOut)
    ));
    assert_eq!(begun.elapsed().as_secs(), Duration::from_mins(1).as_secs());
}

#[tokio::test]
async fn an_undone_turn_inside_a_compaction_is_not_half_forgotten() {
    let mut desk = Desk::new(std::iter::repeat_n(says("Many cranes."), 4).chain([says(SUMMARY)]));
    talk(&mut desk, 4).await;
    desk.agent
        .compact(ALL, "", &mut |_| {}, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(desk.agent.undo().unwrap_err(), NoTurn::Compacted);
}

#[tokio::test]
async fn a_turn_that_cannot_be_taken_back_leaves_its_files_too() {
    let mut desk = Desk::new(std::iter::repeat_n(says("Many cranes."), 4).chain([says(SUMMARY)]));
    let folder = tempfile::tempdir().unwrap();
    let (root, copies) = (folder.path().join("project"), folder.path().join("copies"));
    std::fs::create_dir(&root).unwrap();
    let project = Arc::new(Project::open(&root).unwrap());
    let changes = Arc::new(Changes::new(copies, Arc::new(LocalDisk)));
    let (session, turn, path) = ("test".parse().unwrap(), TurnId(4), Path::new("a"));
    changes
        .before(&project, &session, turn, path, Some(b"old"))
        .unwrap();
    changes
        .after(&project, &session, turn, path, b"new")
        .unwrap();
    LocalDisk.replace(&root.join("a"), b"new").unwrap();
    desk.agent.toolbox_mut().files = Some(Files {
        project,
        changes,
        outputs: None,
    });
    talk(&mut desk, 4).await;
    let cancel = CancellationToken::new();
    desk.agent
        .compact(ALL, "", &mut |_| {}, &cancel)
        .await
        .unwrap();
    assert_eq!(desk.agent.undo().unwrap_err(), NoTurn::Compacted);
    let retried = desk.agent.retry(&mut |_| {}, &cancel).await;
    assert_eq!(retried.unwrap_err(), NoTurn::Compacted);
    assert_eq!(std::fs::read(root.join("a")).unwrap(), b"new");
    desk.agent.undo_compaction().unwrap();
    let files = desk.agent.undo().unwrap().files.unwrap();
    assert_eq!(files.back, [path]);
    assert_eq!(std::fs::read(root.join("a")).unwrap(), b"old");
}

#[tokio::test]
async fn messages_count_roles_as_stored() {
    let mut desk = Desk::new([says("ok")]);
    desk.say("hi").await.unwrap();
    let roles: Vec<Role> = desk
        .agent
        .session()
        .messages()
        .iter()
        .map(|message| message.role)
        .collect();
    assert_eq!(roles, [Role::User, Role::Assistant]);
}
