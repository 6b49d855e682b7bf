//! What a summary is made of: the texts that stand for older messages already, and the messages that nothing stands
//! for.

use super::cut::Cut;
use crate::chat::{Form, Message, Part, Session, Tokens};
use crate::memory::transcript::{self, clipped};
use crate::text::lines::single_spaced;

/// Characters of the arguments of a call.
const ARGUMENTS: usize = 300;

/// See the module.
#[derive(Debug)]
pub(super) struct Material<'a> {
    /// Summaries that stand for the beginning.
    pub(super) earlier: Vec<&'a str>,
    /// The messages that go and that no summary stands for.
    pub(super) messages: Vec<&'a Message>,
    /// Where they stand in the session.
    pub(super) indices: Vec<usize>,
}

impl<'a> Material<'a> {
    pub(super) fn of(session: &'a Session, cut: Cut) -> Self {
        let hybrid = session.hybrid();
        let compaction = hybrid.compaction.as_ref();
        let compaction = compaction.filter(|it| it.form == Form::Summary && !it.is_blank());
        let running = hybrid.running();
        let told = |index: usize| {
            compaction.is_some_and(|it| (it.told_from()..it.upto).contains(&index))
                || running.is_some_and(|it| (it.from..it.upto).contains(&index))
        };
        let turns = session.live_turns();
        let turns = turns.skip_while(|turn| turn.messages.end <= cut.head);
        let turns = turns.take_while(|turn| turn.messages.start < cut.upto);
        let indices = turns.flat_map(|turn| turn.messages.clone());
        let indices = indices.filter(|index| cut.takes(*index) && !told(*index));
        let indices: Vec<usize> = indices.collect();
        let texts = compaction.map(|it| it.text.as_str());
        let texts = texts.into_iter().chain(running.map(|it| it.text.as_str()));
        Self {
            earlier: texts.collect(),
            messages: indices.iter().map(|&at| &session.messages()[at]).collect(),
            indices,
        }
    }

    /// What all of it costs where it is sent.
    pub(super) fn cost(&self, cost: impl Fn(&Message) -> Tokens) -> Tokens {
        let earlier = self.earlier.iter().map(|text| Tokens::estimate(text));
        let messages = self.messages.iter().map(|message| cost(message));
        earlier.chain(messages).sum()
    }
}

/// A message as a line for the model that summarises, with the tools it called and what they brought (O14).
pub(super) fn line(message: &Message) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(transcript::labelled(message).map(clipped));
    for part in &message.parts {
        match part {
            Part::ToolCall(call) => {
                let arguments: String = call.arguments.chars().take(ARGUMENTS).collect();
                lines.push(format!("Assistant calls {}: {arguments}", call.name));
            }
            Part::ToolResult { name, output, .. } => {
                lines.push(clipped(format!("Result of {name}: {output}")));
            }
            Part::Text(_) | Part::Attached(_) | Part::Image(_) => {}
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The last messages in a few words each, where there is no summary (X31); of too many the newest.
pub(super) fn snippets(messages: &[&Message]) -> String {
    const NEWEST: usize = 12;
    const EACH: usize = 160;
    const ALL: usize = 700;
    let newest = &messages[messages.len().saturating_sub(NEWEST)..];
    let mut snippets: Vec<String> = Vec::new();
    let mut room = ALL;
    for line in newest.iter().rev().filter_map(|message| line(message)) {
        let snippet: String = single_spaced(&line).chars().take(EACH).collect();
        let cost = snippet.chars().count() + usize::from(!snippets.is_empty());
        if cost > room {
            break;
        }
        room -= cost;
        snippets.push(snippet);
    }
    snippets.reverse();
    snippets.join("\n")
}
