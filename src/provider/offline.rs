//! No model at all: answers by quoting what the request holds, and says that it does.
//!
//! Lets a person start without a server and without an account, keeps everything that is said, and finds
//! words again. Scoring is by shared words, rare ones first; nothing is invented.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};

use super::{
    Abilities, ChatRequest, EventStream, FinishReason, ModelName, Provider, ProviderError, Purpose,
    StreamEvent, WindowSource,
};
use crate::chat::{Message, Role, Tokens};

/// Begins every reply, and tells them from a model's when a session is read again.
const OPENING: &str = "[no model; `/help model` says how to get one]";
const MOST_QUOTES: usize = 3;
const QUOTE_CHARS: usize = 400;

/// The built-in stand-in.
#[derive(Debug)]
pub struct Offline {
    name: ModelName,
}

impl Offline {
    pub fn new() -> Self {
        let name = ModelName {
            provider: "offline".to_owned(),
            model: "quotes".to_owned(),
        };
        Self { name }
    }
}

impl Default for Offline {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Provider for Offline {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn abilities(&self) -> Abilities {
        Abilities {
            context_window: Tokens(65_536),
            window_source: WindowSource::Table,
            max_output: Some(Tokens(2_048)),
        }
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(vec![self.name.model.clone()])
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        let reply = match request.purpose {
            Purpose::Reply => reply(&request.messages),
            Purpose::Summary => extract(&request.messages),
        };
        let finished = StreamEvent::Finished {
            reason: FinishReason::Stop,
            usage: None,
        };
        stream::iter([Ok(StreamEvent::Text(reply)), Ok(finished)]).boxed()
    }
}

/// The reply to the last message.
fn reply(messages: &[Message]) -> String {
    let Some((input, past)) = messages.split_last() else {
        return OPENING.to_owned();
    };
    let quotes = quotes(&input.said(), past);
    if quotes.is_empty() {
        return format!(
            "{OPENING} Nothing said so far shares a word with that; your message is kept."
        );
    }
    format!(
        "{OPENING} This is what the session holds on it:\n{}",
        quotes.join("\n")
    )
}

/// Whether a person or a model said it.
fn is_quotable(message: &Message) -> bool {
    message.role != Role::Tool && !message.is_reference()
}

/// The messages that share the most telling words with `input`, oldest first, as quotations.
fn quotes(input: &str, past: &[Message]) -> Vec<String> {
    let wanted = words(input);
    let held: Vec<(usize, &Message, HashSet<String>)> = past
        .iter()
        .enumerate()
        .filter(|(_, message)| is_quotable(message) && !message.said().contains(OPENING))
        .map(|(place, message)| (place, message, words(&message.said())))
        .collect();
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    for word in held.iter().flat_map(|(.., words)| words) {
        *frequency.entry(word).or_default() += 1;
    }
    let mut scored: Vec<(f64, usize, &Message)> = held
        .iter()
        .map(|(place, message, words)| {
            let shared = words
                .intersection(&wanted)
                .map(|word| rarity(frequency[word.as_str()], held.len()));
            (shared.sum(), *place, *message)
        })
        .filter(|(score, ..)| *score > 0.0)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    scored.truncate(MOST_QUOTES);
    scored.sort_by_key(|(_, place, _)| *place);
    scored
        .into_iter()
        .map(|(.., message)| quote(message))
        .collect()
}

/// Inverse document frequency, never zero.
fn rarity(holding: usize, all: usize) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of messages in one request"
    )]
    (1.0 + all as f64 / holding.max(1) as f64).ln()
}

fn quote(message: &Message) -> String {
    let speaker = match message.role {
        Role::User => "you",
        Role::Assistant | Role::Tool => "reply",
    };
    let said = message.said();
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("> {speaker}: {}", clipped(&line, QUOTE_CHARS))
}

fn clipped(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Words that may tell something: three letters or more, or any ideograph; lower case.
fn words(text: &str) -> HashSet<String> {
    const COMMON: [&str; 40] = [
        "the", "and", "for", "are", "was", "were", "what", "which", "who", "how", "why", "when",
        "where", "did", "does", "you", "your", "that", "this", "with", "have", "has", "had", "not",
        "but", "can", "our", "his", "her", "its", "they", "them", "will", "would", "from", "about",
        "tell", "said", "utc", "please",
    ];
    let mut words = HashSet::new();
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let word = word.to_lowercase();
        if word.chars().any(|c| u32::from(c) >= 0x2E80) {
            words.extend(word.chars().map(String::from));
        } else if word.chars().count() >= 3 && !COMMON.contains(&word.as_str()) {
            words.insert(word);
        }
    }
    words
}

/// A summary without a model: what the person said, shortened, and what an earlier summary held; the
/// newest part of it where it would be too long.
fn extract(messages: &[Message]) -> String {
    let material = messages.last().map(Message::said).unwrap_or_default();
    let mut fence: Option<&str> = None;
    let mut points: Vec<String> = Vec::new();
    for line in material.lines() {
        match fence {
            None if is_fence(line) => fence = Some(line),
            Some(open) if open == line => fence = None,
            Some(_) => points.extend(point(line)),
            None => {}
        }
    }
    let room = (material.chars().count() / 4).clamp(200, 4_000);
    let mut used = 0;
    let first = points.iter().rposition(|point| {
        used += point.chars().count();
        used > room
    });
    points
        .split_off(first.map_or(0, |place| place + 1))
        .join("\n")
}

fn is_fence(line: &str) -> bool {
    line.len() > 4
        && line.starts_with("<-")
        && line.ends_with("->")
        && line[1..line.len() - 1].chars().all(|c| c == '-')
}

fn point(line: &str) -> Option<String> {
    if line.starts_with("- ") {
        return Some(line.to_owned());
    }
    let said = line.strip_prefix("User: ")?;
    let sentence = said.find(". ").map_or(said, |end| &said[..=end]);
    Some(format!("- The user said: {}", clipped(sentence, 160)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::MessageId;

    fn said(role: Role, text: &str) -> Message {
        Message::text(MessageId::numbered(1), role, text, None)
    }

    #[test]
    fn what_was_said_is_quoted_and_nothing_else() {
        let messages = [
            said(Role::User, "The password rotation happens on Fridays"),
            said(Role::Assistant, "Noted."),
            said(Role::User, "I like tea"),
            said(Role::User, "When is the password rotation?"),
        ];
        let reply = reply(&messages);
        assert!(
            reply.contains("> you: The password rotation happens on Fridays"),
            "{reply}"
        );
        assert!(!reply.contains("tea"), "{reply}");
        assert!(reply.starts_with(OPENING));
    }

    #[test]
    fn its_own_replies_are_not_quoted_again() {
        let first = [
            said(Role::User, "harbour cranes"),
            said(Role::User, "cranes?"),
        ];
        let own = said(Role::Assistant, &reply(&first));
        let second = [first[0].clone(), own, said(Role::User, "cranes again?")];
        assert_eq!(reply(&second).matches("> ").count(), 1);
    }

    #[test]
    fn what_the_program_itself_says_is_not_quoted() {
        let messages = [
            said(Role::User, "harbour cranes"),
            Message::reference("Noted: harbour cranes"),
            said(Role::User, "cranes?"),
        ];
        let reply = reply(&messages);
        assert!(
            reply.contains("harbour") && !reply.contains("Noted"),
            "{reply}"
        );
    }

    #[test]
    fn words_of_other_languages_are_found() {
        let messages = [
            said(Role::User, "数据库在法兰克福"),
            said(Role::User, "天气很好"),
            said(Role::User, "数据库在哪里"),
        ];
        assert!(reply(&messages).contains("法兰克福"));
    }

    #[test]
    fn a_summary_is_drawn_from_the_fenced_material_alone() {
        let request = "Keep:\n- decisions\n\n<--->\nUser: We ship in March. And more.\n\nAssistant: Fine.\n- old point\n<--->";
        let summary = extract(&[said(Role::User, request)]);
        assert_eq!(summary, "- The user said: We ship in March.\n- old point");
    }
}
