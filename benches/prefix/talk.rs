//! A long talk that is the same in every run, and how much of each request begins like the one before it.
//!
//! Nothing here waits or measures time: what is counted depends on the texts alone.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cogtrix::agent::{Agent, Running, Settings};
use cogtrix::chat::Tokens;
use cogtrix::context::{self, ContextPlan, Layout};
use cogtrix::embed::{ChoiceSettings, EmbedderChoice, Named};
use cogtrix::files::MemoryDisk;
use cogtrix::index::{Keeping, Parts};
use cogtrix::memory::tracking::readers::Readers;
use cogtrix::memory::{self, Memory, Prompts, Registry};
use cogtrix::provider::{
    Abilities, ChatRequest, Delivery, EventStream, ModelName, Provider, ProviderError, Purpose,
    WindowSource,
};
use cogtrix::store::Opened;
use cogtrix::testing::provider::says;
use cogtrix::testing::{ManualClock, MemoryLog};
use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

/// How a session is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) layout: Layout,
    pub(crate) mode: &'static str,
    pub(crate) window: Tokens,
    pub(crate) turns: usize,
    pub(crate) summarization: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    /// Tokens of all prompts, and those of them that begin a prompt as they began the one before.
    pub(crate) prompt: u64,
    pub(crate) unchanged: u64,
    pub(crate) requests: u64,
    /// The most messages that were left out of a request.
    pub(crate) most_left_out: usize,
    /// Requests of which less than half began like the one before.
    pub(crate) broken: u64,
}

impl Share {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 tokens")]
    pub(crate) fn percent(self) -> f64 {
        100.0 * self.unchanged as f64 / self.prompt as f64
    }

    /// Takes in a request; `before` is the text of the one before it.
    fn count(&mut self, before: &str, plan: &ContextPlan, text: &str) {
        let same = before
            .bytes()
            .zip(text.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        let same = Tokens::estimate(&text[..text.floor_char_boundary(same)]);
        let whole = Tokens::estimate(text);
        self.prompt += u64::from(whole.0);
        self.unchanged += u64::from(same.0);
        self.requests += 1;
        self.broken += u64::from(same.0 * 2 < whole.0);
        self.most_left_out = self.most_left_out.max(plan.messages_left_out());
    }
}

/// A request as text, in the order in which it is sent.
pub(crate) fn wire(plan: &ContextPlan) -> String {
    let mut text = String::new();
    for system in plan.system(true) {
        text.push_str(&system);
    }
    for message in plan.messages() {
        write!(text, "\n{}: {}", message.role.as_str(), message.said()).expect("memory takes it");
    }
    text
}

/// Holds the talk, and looks at each request.
pub(crate) async fn hold(held: Held, mut look: impl FnMut(&Agent, &ContextPlan)) -> Share {
    let clock = Arc::new(ManualClock::new());
    let opened = MemoryLog::default().open("talk");
    let mut agent = agent(held, opened, Arc::clone(&clock));
    let mut share = Share::default();
    let mut before = String::new();
    let mut inputs = Writer(7);
    for turn in 0..held.turns {
        clock.advance(95);
        let input = inputs.input(turn);
        let cancel = CancellationToken::new();
        let said = agent.turn(input, &mut |_| {}, &cancel).await;
        said.expect("the model always answers");
        let plan = agent.last_plan().expect("a turn was sent");
        let text = wire(plan);
        share.count(&before, plan, &text);
        look(&agent, plan);
        before = text;
    }
    share
}

pub(crate) fn agent(held: Held, opened: Opened, clock: Arc<ManualClock>) -> Agent {
    let mut settings = memory::Settings {
        mode: held.mode.to_owned(),
        ..memory::Settings::default()
    };
    settings.modes.conversation.summarization = held.summarization;
    settings.modes.code.summarization = held.summarization;
    settings.modes.reasoning.summarization = held.summarization;
    let prompts = Prompts::embedded();
    let modes = Registry::standard(&settings, &prompts, Readers::embedded());
    let memory = Memory::new(modes, settings, prompts).expect("one of the three modes");
    let settings = Settings {
        context: context::Settings {
            layout: held.layout,
            ..context::Settings::default()
        },
        delivery: Delivery::Streamed,
        directory: "~/project".into(),
        summariser: None,
        jobs: Running::Foreground,
        think: cogtrix::agent::ThinkSettings::default(),
        recall: Some(recall()),
        places: Vec::new(),
        data: std::path::PathBuf::new(),
    };
    let provider = Arc::new(Talkative {
        name: ModelName {
            provider: "test".into(),
            model: "talkative".into(),
        },
        window: held.window,
        writer: Mutex::new(Writer(11)),
    });
    Agent::new(provider, memory, opened, clock, settings)
}

/// Recall by words, which is always there.
fn recall() -> Parts {
    let disk = Arc::new(MemoryDisk::default());
    let nobody = ChoiceSettings {
        candidates: Vec::new(),
        named: Named::No,
    };
    Parts {
        embedder: Arc::new(EmbedderChoice::new(nobody, Arc::clone(&disk) as _)),
        disk,
        folder: "vectordb".into(),
        lists: cogtrix::index::SharedLists::default(),
        settings: cogtrix::index::Settings::default(),
        reranker: None,
        min_similarity: 0.25,
        keeping: Keeping::Kept,
    }
}

/// Answers at once, some dozens of words; a summary is what it last read.
#[derive(Debug)]
struct Talkative {
    name: ModelName,
    window: Tokens,
    writer: Mutex<Writer>,
}

#[async_trait]
impl Provider for Talkative {
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
        let reply = match request.purpose {
            Purpose::Summary => summary(&request.messages[0].said()),
            Purpose::Reply | Purpose::Thought => {
                let mut writer = self.writer.lock().expect("nothing panics in it");
                let sentences = 4 + writer.below(9);
                writer.sentences(sentences)
            }
        };
        stream::iter(says(&reply)).boxed()
    }
}

/// The newest things that were said, under 300 words of them.
fn summary(request: &str) -> String {
    let said = request.lines().filter_map(|line| {
        let line = line.strip_prefix("User: ").or(line.strip_prefix("- "))?;
        let words: Vec<&str> = line.split_whitespace().take(14).collect();
        Some(format!("- {}", words.join(" ")))
    });
    let mut lines: Vec<String> = said.collect();
    let old = lines.len().saturating_sub(18);
    lines.drain(..old);
    lines.join("\n")
}

/// Writes what people write at work, always the same.
#[derive(Debug)]
struct Writer(u64);

const WHO: [&str; 6] = [
    "the team",
    "Marta",
    "the client",
    "our server",
    "Jonas",
    "the new build",
];
const DOES: [&str; 8] = [
    "moves the old records to",
    "waits for",
    "keeps a copy of",
    "breaks with",
    "needs a review of",
    "pays for",
    "asks about",
    "measures the load of",
];
const WHAT: [&str; 10] = [
    "the archive",
    "the login page in src/auth.py",
    "the invoices of last year",
    "PostgreSQL",
    "the report for the board",
    "the queue between both services",
    "the map of the harbour",
    "tests/test_users.py",
    "the budget of 40,000 euros",
    "the mobile app",
];
const WHEN: [&str; 6] = [
    "before Friday",
    "as soon as the tests pass",
    "in the second week of March",
    "every night at two",
    "without telling anybody",
    "because the disk is nearly full",
];
const SHORT: [&str; 3] = ["Yes, go on.", "Thanks!", "And then?"];
const ASKS: [&str; 4] = [
    "What do you make of this?",
    "Let's go with the first option because it is simpler.",
    "Our goal is to be done by June.",
    "It fails with KeyError: 'name' again.",
];

impl Writer {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % n as u64).expect("less than n")
    }

    fn one(&mut self, of: &[&'static str]) -> &'static str {
        of[self.below(of.len())]
    }

    /// A question now and then short, else of some sentences.
    fn input(&mut self, turn: usize) -> String {
        if self.below(6) == 0 {
            return self.one(&SHORT).to_owned();
        }
        let sentences = 1 + self.below(4);
        let said = self.sentences(sentences);
        format!("On point {turn}: {said} {}", self.one(&ASKS))
    }

    fn sentences(&mut self, n: usize) -> String {
        let sentence = |_| {
            let (who, does, what, when) = (
                self.one(&WHO),
                self.one(&DOES),
                self.one(&WHAT),
                self.one(&WHEN),
            );
            format!("We saw that {who} {does} {what} {when}.")
        };
        (0..n).map(sentence).collect::<Vec<_>>().join(" ")
    }
}
