//! A thousand turns with recall: what was said once, in an aside, long ago, is found when it is asked for in other
//! words.
//!
//! The summaries know nothing of the facts, so what is not in the window has only recall.

use std::path::Path;
use std::sync::Arc;

use cogtrix::agent::{Agent, Running, Settings};
use cogtrix::chat::Tokens;
use cogtrix::context;
use cogtrix::embed::{Candidate, ChoiceSettings, EmbedderChoice, Named};
use cogtrix::files::{Disk, LocalDisk};
use cogtrix::index::{Keeping, Parts};
use cogtrix::memory::tracking::readers::Readers;
use cogtrix::memory::{self, Memory, Prompts, Registry};
use cogtrix::provider::Delivery;
use cogtrix::testing::{ManualClock, MemoryLog};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Careless, TURNS, text};

const FACTS: usize = 60;
/// Turns of one sitting, and seconds from one sitting to the next.
const SITTING: usize = 25;
const DAY: i64 = 86_400;

/// Things, and what may be said and asked of each: the statement, and a question that shares some of its words.
const TALK: [([&str; 5], [[&str; 2]; 3]); 4] = [
    (
        ["grandmother", "cousin", "uncle", "niece", "godfather"],
        [
            [
                "My {} has been living in {code} since last winter.",
                "In which town does my {} live?",
            ],
            [
                "For the birthday of my {} I bought a {code} on the market.",
                "What did I get my {} as a birthday present?",
            ],
            [
                "My {} cannot eat {code}, it makes the skin itch.",
                "Which food is my {} unable to eat?",
            ],
        ],
    ),
    (
        ["printer", "boiler", "tractor", "loom", "telescope"],
        [
            [
                "The {} in the workshop only takes the spare part {code}.",
                "Which spare part should I order for the {}?",
            ],
            [
                "The warranty of the {} ends with the month of {code}.",
                "Until when is the {} under warranty?",
            ],
            [
                "We paid the sum of {code} for the {} at the auction.",
                "How much did we pay for that {}?",
            ],
        ],
    ),
    (
        ["cellar", "greenhouse", "chapel", "lighthouse", "quarry"],
        [
            [
                "The door of the {} opens with the word {code}.",
                "What word opens the {} door?",
            ],
            [
                "The {} was painted {code} all over by the volunteers.",
                "What colour did they paint the {}?",
            ],
            [
                "Behind the {} they found a {code} under a flat stone.",
                "What was found behind the {}?",
            ],
        ],
    ),
    (
        ["Bibliothek", "Bäckerei", "Werkstatt", "Brücke", "Mühle"],
        [
            [
                "Die {} schließt heute schon um {code}, das ist neu.",
                "Wann schließt die {} denn?",
            ],
            [
                "In der {} arbeitet jetzt Frau {code} als Leiterin.",
                "Wer arbeitet eigentlich in der {}?",
            ],
            [
                "Für die {} brauchen wir noch {code} Liter Farbe.",
                "Wie viel Farbe brauchen wir für die {}?",
            ],
        ],
    ),
];

struct Fact {
    /// What nobody can answer who was not told.
    code: String,
    statement: String,
    question: String,
    said: Said,
}

/// Where a fact is said.
#[derive(Clone, Copy, Debug)]
enum Said {
    ByUser,
    ByAssistant,
    InTheMiddleByUser,
    InTheMiddleByAssistant,
}

impl Fact {
    fn all() -> Vec<Self> {
        let ways = [
            Said::ByUser,
            Said::ByAssistant,
            Said::InTheMiddleByUser,
            Said::InTheMiddleByAssistant,
        ];
        (0..FACTS)
            .map(|n| {
                // All things of one kind are spread over the session.
                let (things, talk) = TALK[n % 4];
                let (thing, [statement, question]) = (things[n / 4 % 5], talk[n / 20]);
                let code = code(n);
                Self {
                    statement: statement.replace("{}", thing).replace("{code}", &code),
                    question: question.replace("{}", thing),
                    code,
                    said: ways[(n / 4 + n % 4) % 4],
                }
            })
            .collect()
    }
}

/// A word that is no word.
fn code(n: usize) -> String {
    let syllables = ["zu", "vek", "mor", "tal", "qui", "bex", "dro", "fyn"];
    format!(
        "X{}{}{}",
        syllables[n % 8],
        syllables[n / 8 % 8],
        syllables[(n * 3 + 1) % 8]
    )
}

/// About 5,000 characters with a sentence in their middle.
fn around(sentence: &str, turn: usize) -> String {
    let filler = |part: usize| -> String {
        let lines = (0..40).map(|n| {
            let number = turn * 80 + part * 40 + n;
            format!("Paragraph {number} of the report repeats what is known. ")
        });
        lines.collect()
    };
    format!("{}{sentence} {}", filler(0), filler(1))
}

/// What is said in a turn without a fact; now and then a thing is named of which there is one.
fn small_talk(turn: usize) -> String {
    if turn.is_multiple_of(8) {
        let (things, _) = TALK[turn / 8 % 4];
        let thing = things[turn / 32 % 5];
        return format!("In lesson {turn} somebody mentioned a {thing}, and we laughed.");
    }
    format!("In lesson {turn} we read on, and nothing else came to pass there.")
}

fn parts(folder: &Path, candidates: Vec<Candidate>) -> Parts {
    let disk: Arc<dyn Disk> = Arc::new(LocalDisk);
    let embedder = ChoiceSettings {
        candidates,
        named: Named::No,
    };
    Parts {
        embedder: Arc::new(EmbedderChoice::new(embedder, Arc::clone(&disk))),
        disk,
        folder: folder.join("vectordb"),
        lists: cogtrix::index::SharedLists::default(),
        settings: cogtrix::index::Settings::default(),
        reranker: None,
        min_similarity: 0.25,
        keeping: Keeping::Kept,
    }
}

/// A way to remember.
struct Way {
    /// Turns from one fact to the next.
    every: usize,
    window: Tokens,
    carry_pending: bool,
    embedder: Vec<Candidate>,
}

struct Talk {
    agent: Agent,
    provider: Arc<Careless>,
    clock: Arc<ManualClock>,
    _folder: TempDir,
}

impl Talk {
    fn begin(way: Way) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let provider = Arc::new(Careless::new(way.window));
        let settings = memory::Settings {
            carry_pending: way.carry_pending,
            ..memory::Settings::default()
        };
        let prompts = Prompts::embedded();
        let modes = Registry::standard(&settings, &prompts, Readers::embedded());
        let memory = Memory::new(modes, settings, prompts).unwrap();
        let settings = Settings {
            context: context::Settings::default(),
            delivery: Delivery::Streamed,
            directory: "~/project".into(),
            summariser: None,
            jobs: Running::Foreground,
            think: cogtrix::agent::ThinkSettings::default(),
            recall: Some(parts(folder.path(), way.embedder)),
            places: Vec::new(),
            data: std::path::PathBuf::new(),
        };
        let clock = Arc::new(ManualClock::new());
        let opened = MemoryLog::default().open("test");
        let agent = Agent::new(
            Arc::clone(&provider) as _,
            memory,
            opened,
            Arc::clone(&clock) as _,
            settings,
        );
        Self {
            agent,
            provider,
            clock,
            _folder: folder,
        }
    }

    async fn say(&mut self, input: String, reply: Option<String>) {
        self.clock.advance(60);
        self.provider.state.lock().unwrap().says = reply;
        let cancel = CancellationToken::new();
        let mut observe = |_| {};
        let turn = self.agent.turn(input, &mut observe, &cancel);
        turn.await.unwrap();
    }

    async fn tell(&mut self, fact: &Fact, turn: usize) {
        let statement = fact.statement.clone();
        let (input, reply) = match fact.said {
            Said::ByUser => (statement, None),
            Said::ByAssistant => ("Go on with what you know, please.".into(), Some(statement)),
            Said::InTheMiddleByUser => (around(&statement, turn), None),
            Said::InTheMiddleByAssistant => (
                "Read me the report of the day.".into(),
                Some(around(&statement, turn)),
            ),
        };
        self.say(input, reply).await;
    }

    /// Whether the request to the model holds what is asked for.
    async fn knows(&mut self, fact: &Fact) -> bool {
        self.say(fact.question.clone(), None).await;
        text(self.agent.last_plan().unwrap()).contains(&fact.code)
    }

    async fn prove(&mut self, turn: usize) {
        let plan = self.agent.last_plan().unwrap().clone();
        let proof = self.agent.proof(&plan).await;
        assert_eq!(proof.check(self.agent.session()), Ok(()), "turn {turn}");
    }
}

/// Facts that are neither in the request nor brought by recall when they are asked for, at some time or in the end.
async fn lost(way: Way) -> Vec<String> {
    let every = way.every;
    let mut talk = Talk::begin(way);
    let facts = Fact::all();
    let mut told = 0;
    let mut lost = Vec::new();
    for turn in 1..=every * (FACTS + 6) {
        if turn.is_multiple_of(SITTING) {
            talk.clock.advance(DAY);
        }
        if turn % every == 5 && told < FACTS {
            talk.tell(&facts[told], turn).await;
            told += 1;
        } else if turn % (5 * every) == 4 * every {
            let fact = &facts[turn * 7 % told];
            if !talk.knows(fact).await {
                lost.push(format!("turn {turn}, {:?}: {}", fact.said, fact.question));
            }
        } else {
            talk.say(small_talk(turn), None).await;
        }
        if turn.is_multiple_of(10) {
            talk.prove(turn).await;
        }
    }
    assert_eq!(told, FACTS);
    assert!(every != LONG || talk.agent.session().turns().len() >= TURNS);
    for fact in &facts {
        if !talk.knows(fact).await {
            lost.push(format!("in the end, {:?}: {}", fact.said, fact.question));
        }
    }
    talk.prove(talk.agent.session().turns().len()).await;
    talk.provider.fails_often();
    lost
}

/// A thousand turns.
const LONG: usize = 16;
/// Some four hundred.
const SHORT: usize = 7;

const NONE: [String; 0] = [];

#[tokio::test]
async fn what_was_told_once_is_found_by_its_words() {
    let way = Way {
        every: LONG,
        window: Tokens(32_768),
        carry_pending: true,
        embedder: Vec::new(),
    };
    assert_eq!(lost(way).await, NONE);
}

#[tokio::test]
async fn what_was_told_once_is_found_with_an_embedder_too() {
    let way = Way {
        every: SHORT,
        window: Tokens(32_768),
        carry_pending: true,
        embedder: vec![Candidate::Hashed { dimensions: 256 }],
    };
    assert_eq!(lost(way).await, NONE);
}

#[tokio::test]
async fn what_was_told_once_is_found_in_a_window_too_small_for_what_waits_for_a_summary() {
    let way = Way {
        every: SHORT,
        window: Tokens(8_192),
        carry_pending: true,
        embedder: Vec::new(),
    };
    assert_eq!(lost(way).await, NONE);
}

#[tokio::test]
async fn what_was_told_once_is_found_where_nothing_is_carried_until_it_is_summarised() {
    let way = Way {
        every: SHORT,
        window: Tokens(32_768),
        carry_pending: false,
        embedder: Vec::new(),
    };
    assert_eq!(lost(way).await, NONE);
}
