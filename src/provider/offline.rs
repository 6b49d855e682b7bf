//! No model at all: answers by quoting what the request holds, and says that it does.
//!
//! Lets a person start without a server and without an account, keeps everything that is said, and finds
//! words again. Quoted are the messages of the request and what recall brought, each with where it is from. Scoring is
//! by shared words, rare ones first; nothing is invented, and what it said itself is no source.

mod past;

use std::collections::HashSet;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};

use super::{
    Abilities, ChatRequest, EventStream, FinishReason, ModelName, Provider, ProviderError, Purpose,
    StreamEvent, WindowSource,
};
use crate::chat::{Message, STAND_IN as OPENING, Tokens};
use crate::text::lines::clipped;

/// The built-in stand-in.
#[derive(Debug)]
pub struct Offline {
    name: ModelName,
    /// Whether what is said to it is saved.
    saves: bool,
}

impl Offline {
    pub fn new(saves: bool) -> Self {
        let name = ModelName {
            provider: "offline".to_owned(),
            model: "quotes".to_owned(),
        };
        Self { name, saves }
    }
}

#[async_trait]
impl Provider for Offline {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn takes_tools(&self) -> bool {
        false
    }

    async fn takes_images(&self) -> bool {
        false
    }

    async fn abilities(&self) -> Abilities {
        Abilities {
            context_window: Tokens(65_536),
            window_source: WindowSource::Table,
            max_output: Some(Tokens(2_048)),
            price: None,
        }
    }

    fn is_offline(&self) -> bool {
        true
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(vec![self.name.model.clone()])
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        let reply = match request.purpose {
            Purpose::Reply => reply(&request, self.saves),
            Purpose::Summary => extract(&request.messages),
            Purpose::Thought => return stream::iter([Err(no_model())]).boxed(),
        };
        let finished = StreamEvent::Finished {
            reason: FinishReason::Stop,
            usage: None,
        };
        stream::iter([Ok(StreamEvent::Text(reply)), Ok(finished)]).boxed()
    }
}

/// How a person in a chat gets a model.
pub const CONNECT: &str = "`/model` lists models; `/help model` says how to connect one";

/// Quotes would only look like thought.
fn no_model() -> ProviderError {
    ProviderError::Setup {
        what: "thinking needs a model, and none is connected".to_owned(),
        hint: CONNECT.to_owned(),
    }
}

/// The reply to the last message.
fn reply(request: &ChatRequest, saves: bool) -> String {
    // What the program says stands behind the input.
    let messages = &request.messages;
    let Some(last) = messages.iter().rposition(|it| !it.is_reference()) else {
        return OPENING.to_owned();
    };
    let (past, input) = (&messages[..last], &messages[last]);
    let quotes = past::quotes(&input.said(), past, request.recalled.as_deref());
    if quotes.is_empty() {
        let told = if saves {
            "Message saved."
        } else {
            "Nothing is saved."
        };
        return format!("{OPENING} {told}");
    }
    format!("{OPENING} From this session:\n{}", quotes.join("\n"))
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
    let pieces = text.split(|c: char| !c.is_alphanumeric());
    for word in pieces.filter(|word| !word.is_empty()) {
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
    use crate::chat::{MessageId, Role};
    use crate::provider::{Delivery, Images};

    fn said(role: Role, text: &str) -> Message {
        Message::text(MessageId::numbered(1), role, text, None)
    }

    fn answer(messages: &[Message], recalled: &str) -> String {
        let request = ChatRequest {
            system: Vec::new(),
            recalled: Some(recalled.to_owned()).filter(|text| !text.is_empty()),
            messages: messages.into(),
            images: Images::default(),
            tools: Vec::new(),
            max_tokens: Tokens(100),
            temperature: None,
            purpose: Purpose::Reply,
            delivery: Delivery::Whole,
        };
        reply(&request, true)
    }

    #[test]
    fn what_was_said_is_quoted_and_nothing_else() {
        let messages = [
            said(Role::User, "The password rotation happens on Fridays"),
            said(Role::Assistant, "Noted."),
            said(Role::User, "I like tea"),
            said(Role::User, "When is the password rotation?"),
        ];
        let reply = answer(&messages, "");
        assert!(
            reply.contains("> you: The password rotation happens on Fridays"),
            "{reply}"
        );
        assert!(!reply.contains("tea"), "{reply}");
        assert!(reply.starts_with(OPENING));
    }

    #[test]
    fn what_recall_brought_is_quoted_with_where_it_is_from() {
        let messages = [
            said(Role::User, "I like tea"),
            said(Role::User, "When do our passwords rotate?"),
        ];
        let recalled = "Found.\n\n[turn 2, m3 to m4, 2026-02-03 10:00 UTC]\nUser: I had toast.\nAssistant: Fine.\n\n\
                        [turn 7, m13 to m14, 2026-02-04 10:00 UTC]\nUser (Ann): Our passwords rotate on Fridays.\n\n\
                        At noon, I mean.\nAssistant: Noted.";
        assert_eq!(
            answer(&messages, recalled),
            format!(
                "{OPENING} From this session:\n\
                 > turn 2, m3 to m4, 2026-02-03 10:00 UTC: you: I had toast. / reply: Fine.\n\
                 > turn 7, m13 to m14, 2026-02-04 10:00 UTC: Ann: Our passwords rotate on Fridays. At noon, I mean. / \
                 reply: Noted."
            )
        );
    }

    #[test]
    fn of_a_long_text_the_part_is_quoted_that_shares_the_words() {
        let filler = "Nothing much came of it. ".repeat(100);
        let long = format!("{filler}The vault opens with 7731. {filler}");
        let messages = [
            said(Role::User, &long),
            said(Role::User, "What opens the vault?"),
        ];
        let reply = answer(&messages, "");
        assert!(reply.contains("The vault opens with 7731."), "{reply}");
        assert!(reply.chars().count() < 700);
    }

    #[test]
    fn a_question_put_before_gives_way_to_what_was_said() {
        let mut messages = vec![said(
            Role::User,
            "The harbour closes at nine in the evening",
        )];
        let asked = "[2026-02-03 10:00:00 UTC] When closes the harbour?";
        messages.extend([0; 3].map(|_| said(Role::User, asked)));
        messages.push(said(Role::User, "[2026-02-03 11:00:00 UTC] I like tea"));
        messages.push(said(Role::User, asked));
        let reply = answer(&messages, "");
        assert!(reply.contains("nine in the evening"), "{reply}");
        assert_eq!(reply.matches("When").count(), 0, "the same again: {reply}");
        assert!(!reply.contains("tea"), "a time is no word: {reply}");
        messages.push(said(
            Role::User,
            "[2026-02-03 12:00:00 UTC] The harbour, when?",
        ));
        let reply = answer(&messages, "");
        assert!(
            reply.contains("> 2026-02-03 10:00:00 UTC: you: When"),
            "{reply}"
        );
    }

    #[test]
    fn its_own_replies_are_not_quoted_again() {
        let first = [
            said(Role::User, "harbour cranes"),
            said(Role::User, "cranes?"),
        ];
        let own = said(Role::Assistant, &answer(&first, ""));
        let older = "[no model; `/help model` says how to get one] From this session:\n> cranes";
        let older = said(Role::Assistant, older);
        let second = [
            first[0].clone(),
            own,
            older,
            said(Role::User, "cranes again?"),
        ];
        assert_eq!(answer(&second, "").matches("> ").count(), 1);
    }

    #[test]
    fn what_the_program_itself_says_is_not_quoted() {
        let messages = [
            said(Role::User, "harbour cranes"),
            Message::reference("Noted: harbour cranes"),
            said(Role::User, "cranes?"),
        ];
        let reply = answer(&messages, "");
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
        assert!(answer(&messages, "").contains("法兰克福"));
    }

    #[test]
    fn a_summary_is_drawn_from_the_fenced_material_alone() {
        let request = "Keep:\n- decisions\n\n<--->\nUser: We ship in March. And more.\n\nAssistant: Fine.\n- old point\n<--->";
        let summary = extract(&[said(Role::User, request)]);
        assert_eq!(summary, "- The user said: We ship in March.\n- old point");
    }
}
