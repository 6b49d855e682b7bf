//! A thousand turns with a summariser that fails three times in ten: nothing that was said is ever out of reach.

mod recall;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cogtrix::agent::{Agent, Running, Settings};
use cogtrix::chat::Tokens;
use cogtrix::context::{self, ContextPlan, Layout};
use cogtrix::memory::tracking::readers::Readers;
use cogtrix::memory::{self, Memory, Prompts, Registry};
use cogtrix::provider::{
    Abilities, ChatRequest, Delivery, EventStream, FinishReason, ModelName, Provider,
    ProviderError, Purpose, StreamEvent, WindowSource,
};
use cogtrix::testing::provider::{Script, breaks_off, says};
use cogtrix::testing::{ManualClock, MemoryLog};
use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

/// One fact is planted in so many turns.
const TURNS: usize = 1_000;
const PLANTED_EVERY: usize = 40;

/// Answers talk; summarises by keeping the lines that tell of shelves, and goes wrong as real models do.
#[derive(Debug)]
struct Careless {
    name: ModelName,
    window: Tokens,
    state: Mutex<State>,
}

impl Careless {
    fn new(window: Tokens) -> Self {
        Self {
            name: ModelName {
                provider: "test".into(),
                model: "careless".into(),
            },
            window,
            state: Mutex::new(State {
                seed: 11,
                asked: 0,
                failed: 0,
                says: None,
            }),
        }
    }

    fn fails_often(&self) {
        let state = self.state.lock().unwrap();
        assert!(
            state.failed * 10 > state.asked * 2 && state.failed > 20,
            "{} of {} summaries failed",
            state.failed,
            state.asked
        );
    }
}

#[derive(Debug)]
struct State {
    /// A linear congruential generator: the same faults in every run.
    seed: u64,
    asked: usize,
    failed: usize,
    /// The next reply.
    says: Option<String>,
}

impl State {
    fn below(&mut self, n: u64) -> u64 {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % n
    }

    fn summary(&mut self, request: &str) -> Script {
        self.asked += 1;
        let mut lines = shelves(request);
        if self.below(10) < 3 {
            self.failed += 1;
            return match self.below(4) {
                0 => breaks_off("- The lo", unreachable()),
                1 => says(""),
                // Too long, also when it is asked to be short: either refused or cut.
                2 => says(&format!("{}\n{}", lines.join("\n"), FILLER.repeat(60))),
                _ => vec![
                    Ok(StreamEvent::Text("- The shelves are".into())),
                    Ok(StreamEvent::Finished {
                        reason: FinishReason::Length,
                        usage: None,
                    }),
                ],
            };
        }
        // The classic failure: a merge that forgets something the summary before it knew.
        let earlier = shelves(request.split("What followed:").next().unwrap_or_default());
        if earlier.len() > 1 && request.contains("What followed:") {
            let forgotten = earlier.len() as u64;
            let forgotten = usize::try_from(self.below(forgotten)).unwrap();
            lines.retain(|line| *line != earlier[forgotten]);
        }
        says(&format!("- They talk of a school.\n{}", lines.join("\n")))
    }
}

const FILLER: &str = "- They go on about the weather of that day.\n";

/// The sentences on shelves of a text, each once, as lines.
fn shelves(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for piece in text.split("Shelf ").skip(1) {
        let sentence = piece.split('.').next().unwrap_or_default();
        let line = format!("- Shelf {sentence}.");
        if !found.contains(&line) {
            found.push(line);
        }
    }
    found
}

fn unreachable() -> ProviderError {
    ProviderError::Unreachable {
        url: "http://there".into(),
        why: "refused".into(),
    }
}

#[async_trait]
impl Provider for Careless {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn abilities(&self) -> Abilities {
        Abilities {
            context_window: self.window,
            window_source: WindowSource::Config,
            max_output: None,
            price: None,
        }
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        let script = match request.purpose {
            Purpose::Summary => {
                let text = request.messages[0].said();
                self.state.lock().unwrap().summary(&text)
            }
            Purpose::Reply | Purpose::Thought => {
                let told = self.state.lock().unwrap().says.take();
                says(
                    told.as_deref()
                        .unwrap_or("Noted, and thank you for telling me about the school today."),
                )
            }
        };
        stream::iter(script).boxed()
    }
}

fn agent(provider: Arc<Careless>, layout: Layout) -> Agent {
    let settings = memory::Settings::default();
    let prompts = Prompts::embedded();
    let modes = Registry::standard(&settings, &prompts, Readers::embedded());
    let memory = Memory::new(modes, settings, prompts).unwrap();
    let settings = Settings {
        context: context::Settings {
            layout,
            ..context::Settings::default()
        },
        delivery: Delivery::Streamed,
        directory: "~/project".into(),
        summariser: None,
        jobs: Running::Foreground,
        think: cogtrix::agent::ThinkSettings::default(),
        recall: None,
        places: Vec::new(),
        data: std::path::PathBuf::new(),
    };
    let opened = MemoryLog::default().open("test");
    let clock = Arc::new(ManualClock::new());
    Agent::new(provider, memory, opened, clock, settings)
}

fn text(plan: &ContextPlan) -> String {
    let mut text = plan.system(true).join("\n");
    for message in plan.messages() {
        text.push('\n');
        text.push_str(&message.said());
    }
    text
}

#[tokio::test]
async fn nothing_that_was_said_in_a_thousand_turns_is_out_of_reach_of_any_request() {
    talk(Layout::Classic, TURNS).await;
}

#[tokio::test]
async fn nor_is_it_in_four_hundred_turns_of_the_cache_friendly_layout() {
    talk(Layout::CacheFriendly, 400).await;
}

async fn talk(layout: Layout, turns: usize) {
    let provider = Arc::new(Careless::new(Tokens(32_768)));
    let mut agent = agent(Arc::clone(&provider), layout);
    let mut planted: Vec<String> = Vec::new();
    let mut covered = 0;
    for turn in 1..=turns {
        let mut input =
            format!("In lesson {turn} we read on, and nothing else came to pass there.");
        if turn % PLANTED_EVERY == 0 {
            let code = format!("K{}-{}", turn * 7 % 1_000, turn * 131 % 9_000);
            input = format!("Shelf {turn} has the book {code}.");
            planted.push(code);
        }
        let cancel = CancellationToken::new();
        agent.turn(input, &mut |_| {}, &cancel).await.unwrap();

        let plan = agent.last_plan().unwrap();
        let request = text(plan);
        for code in &planted {
            assert!(request.contains(code.as_str()), "{code} in turn {turn}");
        }
        let proof = agent.memory().proof(agent.session(), plan, |_| false);
        assert_eq!(proof.check(agent.session()), Ok(()), "turn {turn}");
        assert_eq!(plan.messages_left_out(), 0);
        let now = agent.session().hybrid().covered();
        assert!(now >= covered, "coverage went back in turn {turn}");
        covered = now;
    }
    assert_eq!(planted.len(), turns / PLANTED_EVERY);
    assert!(covered > 2 * turns - 100, "{covered}");
    provider.fails_often();
}
