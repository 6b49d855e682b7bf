//! The model as a second reader of what the person said: what will matter later, as facts with their source. Pure: the
//! agent asks.
//!
//! Nothing a model answers is believed without a source: each fact quotes words of a message it was shown.

use std::fmt;

use serde_json::Value;

use super::Prompt;
use super::capture::{Capture, Category};
use super::transcript::{fenced, labelled};
use crate::chat::{Hybrid, MessageId, Record, Role, Session, Tokens};
use crate::text::secrets;

/// Messages of the person that have to be unread before it is worth a request.
pub const MIN_UNREAD: usize = 6;
/// Facts that one reading may bring.
const MAX_FACTS: usize = 8;
/// Known lines that one fact may make outdated.
const MAX_REPLACED: usize = 2;
/// Characters of a fact, and of a message as it is shown.
const MAX_FACT: usize = 300;
const MAX_SHOWN: usize = 2_000;
/// Bytes of a quotation: two or three words, or four Chinese characters.
const MIN_QUOTE: usize = 12;
/// Room for the answer.
pub const ANSWER: Tokens = Tokens(1_200);

/// A part of a session to be read.
#[derive(Clone, PartialEq)]
pub struct LearnJob {
    prompt: Prompt,
    /// Lines of MEMORY.md that were captured.
    known: Vec<String>,
    messages: Vec<Shown>,
    upto: usize,
}

#[derive(Clone, PartialEq)]
struct Shown {
    /// Its place among the messages of the session.
    at: usize,
    id: MessageId,
    is_of_person: bool,
    labelled: String,
}

/// What a reading brought.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    pub facts: Vec<Fact>,
    /// The messages of the session that are read now.
    upto: usize,
}

/// Something that lasts.
#[derive(Clone, PartialEq)]
pub struct Fact {
    pub capture: Capture,
    /// Where the person said it.
    pub message: MessageId,
    /// Known lines that it takes the place of, as they stood there.
    pub replaces: Vec<String>,
}

/// The reply is no JSON of the form that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the facts are not in the requested format")]
pub struct Unreadable;

/// Counts alone: what was said belongs into no log.
impl fmt::Debug for LearnJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LearnJob")
            .field("messages", &self.messages.len())
            .field("upto", &self.upto)
            .finish_non_exhaustive()
    }
}

/// Without the words.
impl fmt::Debug for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fact")
            .field("category", &self.capture.category)
            .field("message", &self.message)
            .field("replaces", &self.replaces.len())
            .finish_non_exhaustive()
    }
}

/// Counts the messages of the person that no second reader has seen.
pub fn unread(session: &Session) -> usize {
    unread_messages(session)
        .filter(|it| it.is_of_person)
        .count()
}

fn unread_messages(session: &Session) -> impl Iterator<Item = Shown> {
    let from = session.hybrid().learned;
    let turns = session
        .live_turns()
        .filter(move |turn| turn.messages.start >= from);
    let messages = turns.flat_map(|turn| turn.messages.clone().zip(session.messages_of(turn)));
    messages.filter_map(|(at, message)| {
        Some(Shown {
            at,
            id: message.id.clone(),
            is_of_person: message.role == Role::User && !message.is_reference(),
            labelled: labelled(message)?,
        })
    })
}

impl LearnJob {
    /// The reading of all that is unread, where that is enough. `known`: lines of MEMORY.md that were captured.
    pub fn of(session: &Session, known: Vec<String>, prompt: &Prompt) -> Option<Self> {
        (unread(session) >= MIN_UNREAD).then(|| Self {
            prompt: prompt.clone(),
            known,
            messages: unread_messages(session).collect(),
            upto: session.messages().len(),
        })
    }

    pub fn messages(&self) -> usize {
        self.messages.len()
    }

    /// The request: the known lines, and the oldest messages, as many as `room` holds; the others stay unread. `None` where
    /// it holds none.
    pub fn request(&mut self, room: Tokens) -> Option<String> {
        let known = self.known.iter().enumerate();
        let known: Vec<String> = known
            .map(|(n, line)| format!("{}. {line}", n + 1))
            .collect();
        let known = fenced(&known.join("\n"));
        let fixed = Tokens::estimate(&self.prompt.text) + Tokens::estimate(&known);
        let mut left = room.minus(fixed);
        let mut shown: Vec<String> = Vec::new();
        for message in &self.messages {
            let text: String = message.labelled.chars().take(MAX_SHOWN).collect();
            let cost = Tokens::estimate(&text) + Tokens(2);
            if cost > left {
                break;
            }
            left = left.minus(cost);
            shown.push(text);
        }
        if let Some(first) = self.messages.get(shown.len()) {
            self.upto = first.at;
        }
        self.messages.truncate(shown.len());
        let conversation = fenced(&shown.join("\n\n"));
        let filled = [("known", known.as_str()), ("conversation", &conversation)];
        (!shown.is_empty()).then(|| self.prompt.fill(&filled))
    }

    /// What is asked where a reply could not be read.
    pub fn repair(reply: &str) -> String {
        format!(
            "Rewrite this as the JSON object {{\"facts\": [...]}} that was asked for, and write nothing else:\n{}",
            fenced(reply)
        )
    }

    /// Reads a reply. A fact without a source, a secret, and what goes beyond the bounds are left out.
    ///
    /// # Errors
    /// Where there is no such JSON in it.
    pub fn read(&self, reply: &str) -> Result<Learned, Unreadable> {
        let (from, to) = reply.find('{').zip(reply.rfind('}')).ok_or(Unreadable)?;
        let json = reply.get(from..=to).ok_or(Unreadable)?;
        let json: Value = serde_json::from_str(json).map_err(|_| Unreadable)?;
        let facts = json.get("facts").and_then(Value::as_array);
        let facts = facts.ok_or(Unreadable)?.iter();
        Ok(Learned {
            facts: facts
                .filter_map(|fact| self.fact(fact))
                .take(MAX_FACTS)
                .collect(),
            upto: self.upto,
        })
    }

    /// Nothing that lasts.
    pub fn nothing(&self) -> Learned {
        Learned {
            facts: Vec::new(),
            upto: self.upto,
        }
    }

    fn fact(&self, fact: &Value) -> Option<Fact> {
        let text = |key: &str| fact.get(key).and_then(Value::as_str);
        let detail = text("fact")?
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let category = text("kind").and_then(Category::named)?;
        let is_bounded = !detail.is_empty() && detail.chars().count() <= MAX_FACT;
        if !is_bounded || secrets::holds_secret(&detail) {
            return None;
        }
        let quoted = plain(text("quote")?);
        if quoted.len() < MIN_QUOTE {
            return None;
        }
        let said =
            |message: &&Shown| message.is_of_person && plain(&message.labelled).contains(&quoted);
        let message = self.messages.iter().rev().find(said)?.id.clone();
        let numbers = fact.get("replaces").and_then(Value::as_array);
        let numbers = numbers.into_iter().flatten().filter_map(Value::as_u64);
        let place = |number: u64| usize::try_from(number).ok()?.checked_sub(1);
        let lines = numbers.filter_map(|number| self.known.get(place(number)?).cloned());
        // One that makes much outdated was not thought over.
        let lines: Vec<String> = lines.collect();
        let lines = if lines.len() <= MAX_REPLACED {
            lines
        } else {
            Vec::new()
        };
        Some(Fact {
            capture: Capture { category, detail },
            message,
            replaces: lines,
        })
    }
}

impl Learned {
    /// That the messages are read, for the session.
    pub fn record(&self, session: &Session) -> Record {
        Record::HybridReplaced(Hybrid {
            learned: self.upto,
            ..session.hybrid().clone()
        })
    }
}

/// A text without case and punctuation.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Message, Outcome};
    use crate::memory::Prompts;

    fn session_of(said: &[&str]) -> Session {
        let mut session = Session::new("s".parse().unwrap());
        for said in said {
            let turn = session.next_turn();
            let input = Message::text(session.next_message_id(0), Role::User, *said, None);
            session.apply(Record::TurnStarted {
                turn,
                input,
                mode: "m".into(),
                model: "m".into(),
            });
            session.apply(Record::TurnFinished {
                turn,
                messages: Vec::new(),
                outcome: Outcome::Answered,
                calibration: None,
            });
        }
        session
    }

    fn job(said: &[&str], known: &[&str]) -> LearnJob {
        let mut said = said.to_vec();
        while said.len() < MIN_UNREAD {
            said.push("go on please");
        }
        let session = session_of(&said);
        let known = known.iter().map(|line| (*line).to_owned()).collect();
        LearnJob::of(&session, known, &Prompts::embedded().learn).unwrap()
    }

    fn facts(job: &LearnJob, reply: &str) -> Vec<String> {
        let learned = job.read(reply).unwrap();
        learned
            .facts
            .into_iter()
            .map(|fact| fact.capture.detail)
            .collect()
    }

    #[test]
    fn a_fact_without_a_source_in_the_persons_words_is_left_out() {
        let job = job(
            &["psych bumped me up to 75mg on Wednesday", "我住在上海浦东"],
            &[],
        );
        let reply = |quote: &str| {
            format!(
                "Here you are:\n```json\n{{\"facts\": [{{\"fact\": \"Takes 75 mg\", \"kind\": \"profile\", \"quote\": {quote:?}}}]}}\n```"
            )
        };
        for (quote, counts) in [
            ("bumped me up to 75mg", true),
            ("Bumped  me, UP to", true),
            ("我住在上海", true),
            ("bumped me down to 75mg", false),
            ("bumped me", false),
            ("", false),
        ] {
            assert_eq!(!facts(&job, &reply(quote)).is_empty(), counts, "{quote}");
        }
    }

    #[test]
    fn what_is_malformed_or_secret_or_too_much_is_left_out() {
        let job = job(&["my name is Ana and I live in Graz"], &[]);
        let fact = |text: &str, kind: &str| {
            format!("{{\"fact\": {text:?}, \"kind\": {kind:?}, \"quote\": \"I live in Graz\"}}")
        };
        let reply = |facts: &[String]| format!("{{\"facts\": [{}]}}", facts.join(","));
        assert_eq!(
            facts(
                &job,
                &reply(&[
                    fact("Lives in\nGraz", "profile"),
                    fact("Lives in Graz", "nonsense"),
                    fact("", "profile"),
                    fact(&"x".repeat(301), "profile"),
                    fact("The password is hunter2-Xk9", "profile"),
                    "7".to_owned(),
                ])
            ),
            ["Lives in Graz"]
        );
        let many: Vec<String> = (0..20)
            .map(|n| fact(&format!("Fact {n}"), "goal"))
            .collect();
        assert_eq!(facts(&job, &reply(&many)).len(), MAX_FACTS);
        for bad in ["", "none", "{\"facts\": 3}", "}{", "{\"facts\": [}"] {
            assert_eq!(job.read(bad), Err(Unreadable), "{bad}");
        }
    }

    #[test]
    fn a_fact_that_makes_many_lines_outdated_replaces_none() {
        let known = ["- a: one thing", "- b: another", "- c: a third"];
        let job = job(&["finally unpacked, Vienna feels like home"], &known);
        let reply = "{\"facts\": [{\"fact\": \"Lives in Vienna\", \"kind\": \"profile\", \"quote\": \"Vienna feels like home\", \"replaces\": [1, 2, 3]}]}";
        let learned = job.read(reply).unwrap();
        assert_eq!(learned.facts[0].replaces, [""; 0]);
    }

    #[test]
    fn known_lines_are_replaced_by_their_numbers() {
        let known = ["- **profile**: Lives in Graz", "- **goal**: Run a marathon"];
        let job = job(&["finally unpacked, Vienna feels like home"], &known);
        let reply = "{\"facts\": [{\"fact\": \"Lives in Vienna (before: Graz)\", \"kind\": \"profile\", \"quote\": \"Vienna feels like home\", \"replaces\": [1, 0, 9, -1, \"x\"]}]}";
        let learned = job.read(reply).unwrap();
        assert_eq!(learned.facts[0].replaces, [known[0]]);
    }

    #[test]
    fn the_request_holds_the_oldest_messages_that_fit_and_the_others_stay_unread() {
        let long = "the tide is high ".repeat(60);
        let said = [
            long.as_str(),
            &long,
            &long,
            &long,
            &long,
            "the last of them",
        ];
        let mut job = job(&said, &["- **profile**: Lives in Graz"]);
        let whole = job.request(Tokens(8_000)).unwrap();
        assert_eq!(whole.matches(long.trim()).count(), 5);
        assert!(whole.contains("1. - **profile**: Lives in Graz"));
        assert_eq!(job.nothing().upto, 6);
        let part = job.request(Tokens(1_400)).unwrap();
        assert!(Tokens::estimate(&part) <= Tokens(1_400));
        let shown = part.matches(long.trim()).count();
        assert!((1..5).contains(&shown), "{part}");
        assert!(!part.contains("the last of them"));
        assert_eq!(job.nothing().upto, shown);
        assert_eq!(job.request(Tokens(10)), None);
    }

    #[test]
    fn few_messages_and_those_that_were_read_are_not_read() {
        let prompt = &Prompts::embedded().learn;
        let few = session_of(&["one", "two", "three"]);
        assert_eq!(LearnJob::of(&few, Vec::new(), prompt), None);
        let mut session = session_of(&["one", "two", "three", "four", "five", "six"]);
        let job = LearnJob::of(&session, Vec::new(), prompt).unwrap();
        let record = job.nothing().record(&session);
        session.apply(record);
        assert_eq!(unread(&session), 0);
    }
}
