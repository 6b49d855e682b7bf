//! `/compact`: the whole session becomes two messages, a summary and its acknowledgement (O16-O19).

use std::borrow::Cow;

use crate::chat::{
    Compaction, Hybrid, Message, MessageId, Record, Role, Session, Timestamp, Tokens,
};
use crate::context::{Section, SectionKind, Source};
use crate::hint::Hint;
use crate::memory::writing::Writing;
use crate::memory::{Prompt, script, transcript};

const STRATEGY: &str = "compact";
const HEADING: &str = "[Compacted conversation summary]";
const ACKNOWLEDGEMENT: &str = "Understood. I will go on from this summary; it is background, and the newest message is what counts.";
/// A shorter answer is no summary.
const LEAST_CHARS: usize = 24;
const MOST_CHARS: usize = 8_000;

/// A compaction to be made: one request for each part, each given the summary so far.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactJob {
    pub writing: Writing,
    /// Messages of the session that the result stands for.
    upto: usize,
    /// What is sent of them now.
    pub before: Size,
}

/// How much is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub messages: usize,
    pub tokens: Tokens,
}

/// A summary as the model wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Compacted {
    pub text: String,
    pub upto: usize,
    pub before: Size,
}

/// Why no compaction can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotCompact {
    #[error("nothing to compact: nothing was said since the last time")]
    Nothing,
    #[error("the model's window is too small to summarise in")]
    WindowTooSmall,
}

impl Hint for CannotCompact {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Nothing => None,
            Self::WindowTooSmall => Some("choose a model with a larger window with /model".into()),
        }
    }
}

/// Why a summary was not taken; the session is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCompacted {
    #[error("the summary is empty or too short")]
    TooShort,
    #[error("the summary is not at least a fifth smaller ({} -> {} tokens)", before.0, after.0)]
    NotSmaller { before: Tokens, after: Tokens },
    #[error("the summary is not in the script of the conversation")]
    OtherScript,
    #[error("the session changed meanwhile")]
    Stale,
}

impl Hint for NotCompacted {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some("nothing was changed".into())
    }
}

/// Lines up the requests for a compaction of everything said so far. `room`: cost of one request.
pub fn job(session: &Session, prompt: &Prompt, room: Tokens) -> Result<CompactJob, CannotCompact> {
    let messages = sent(session);
    let upto = session.messages().len();
    let fresh = session
        .hybrid()
        .compaction
        .as_ref()
        .is_none_or(|compaction| compaction.upto < upto);
    if messages.is_empty() || !fresh {
        return Err(CannotCompact::Nothing);
    }
    let before = Size {
        messages: messages.len(),
        tokens: messages.iter().map(Message::cost).sum(),
    };
    let material = messages.iter().filter_map(transcript::labelled).collect();
    let answer = Tokens::of_chars(MOST_CHARS);
    let writing = Writing::new(&prompt.text, String::new(), material, room, answer)
        .map_err(|_| CannotCompact::WindowTooSmall)?;
    Ok(CompactJob {
        writing,
        upto,
        before,
    })
}

/// What is sent of a session before windows and budgets: the compacted head and all live turns after it.
fn sent(session: &Session) -> Vec<Message> {
    let compaction = session.hybrid().compaction.as_ref();
    let covered = compaction.map_or(0, |compaction| compaction.upto);
    let head = compaction.map(head_messages).into_iter().flatten();
    let fresh = session
        .live_turns()
        .filter(|turn| turn.messages.start >= covered);
    head.chain(fresh.flat_map(|turn| session.messages_of(turn)).cloned())
        .collect()
}

impl CompactJob {
    /// The result, once the last step has answered.
    pub fn done(self, text: &str) -> Compacted {
        let text = text.trim().chars().take(MOST_CHARS).collect();
        Compacted {
            text,
            upto: self.upto,
            before: self.before,
        }
    }
}

/// The answer of a step, if it can stand for anything: the next step builds on it.
pub fn worth_keeping(text: String) -> Result<String, NotCompacted> {
    if text.trim().chars().count() < LEAST_CHARS {
        Err(NotCompacted::TooShort)
    } else {
        Ok(text)
    }
}

/// Takes a summary if it is good enough to stand for the messages, and tells the session so.
pub fn accept(session: &Session, done: Compacted, now: Timestamp) -> Result<Record, NotCompacted> {
    let Compacted { text, upto, before } = done;
    if upto != session.messages().len() {
        return Err(NotCompacted::Stale);
    }
    let text = worth_keeping(text)?;
    let previous = session.hybrid().compaction.clone().map(Box::new);
    let compaction = Compaction {
        strategy: STRATEGY.to_owned(),
        upto,
        text,
        at: now,
        previous,
    };
    let after = head(&compaction).cost();
    if u64::from(after.0) * 5 > u64::from(before.tokens.0) * 4 {
        return Err(NotCompacted::NotSmaller {
            before: before.tokens,
            after,
        });
    }
    if script::is_foreign(session, &compaction.text) {
        return Err(NotCompacted::OtherScript);
    }
    let hybrid = Hybrid {
        compaction: Some(compaction),
        ..session.hybrid().clone()
    };
    Ok(Record::HybridReplaced(hybrid))
}

/// The two messages that stand for everything before them, as one section.
pub fn head(compaction: &Compaction) -> Section {
    let source = Source::Compaction {
        upto: compaction.upto,
    };
    Section::messages(
        SectionKind::Compacted,
        source,
        head_messages(compaction).into(),
    )
}

fn head_messages(compaction: &Compaction) -> [Message; 2] {
    let text = format!("{HEADING}\n{}", compaction.text);
    [
        Message::text(MessageId::new("compacted"), Role::User, text, None),
        Message::text(
            MessageId::new("acknowledged"),
            Role::Assistant,
            ACKNOWLEDGEMENT,
            None,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Outcome;
    use crate::memory::Prompts;

    fn session(turns: usize, said: &str) -> Session {
        let mut session = Session::new("test".parse().unwrap());
        for _ in 0..turns {
            let turn = session.next_turn();
            let input = Message::text(session.next_message_id(0), Role::User, said, None);
            session.apply(Record::TurnStarted {
                turn,
                input,
                mode: "m".into(),
                model: "m".into(),
            });
            let reply = Message::text(session.next_message_id(0), Role::Assistant, said, None);
            session.apply(Record::TurnFinished {
                turn,
                messages: vec![reply],
                outcome: Outcome::Answered,
                calibration: None,
            });
        }
        session
    }

    const SAID: &str =
        "We talked about the harbour, its cranes and the tide tables of last spring.";
    const SUMMARY: &str = "- They discussed the harbour and its tide tables.";

    fn now() -> Timestamp {
        Timestamp::from_unix(1_800_000_000).unwrap()
    }

    fn make(session: &Session, room: u32) -> CompactJob {
        job(session, &Prompts::embedded().compact, Tokens(room)).unwrap()
    }

    #[test]
    fn the_session_becomes_two_messages_and_its_history_stays() {
        let mut session = session(6, SAID);
        let job = make(&session, 8_000);
        assert_eq!((job.before.messages, job.writing.steps()), (12, 1));
        let record = accept(&session, job.done(SUMMARY), now()).unwrap();
        session.apply(record);
        let compaction = session.hybrid().compaction.as_ref().unwrap();
        assert_eq!(head(compaction).as_messages().len(), 2);
        assert_eq!((compaction.upto, session.messages().len()), (12, 12));
        assert_eq!(job_error(&session), CannotCompact::Nothing);
    }

    fn job_error(session: &Session) -> CannotCompact {
        job(session, &Prompts::embedded().compact, Tokens(8_000)).unwrap_err()
    }

    #[test]
    fn what_does_not_fit_one_request_is_merged_step_by_step() {
        let session = session(40, SAID);
        let job = make(&session, 1_600);
        assert!(job.writing.steps() > 1, "{}", job.writing.steps());
        let second = job.writing.request(1, SUMMARY);
        assert!(
            second.contains("summary") && second.contains(SUMMARY),
            "{second}"
        );
        let asked: usize = (0..job.writing.steps())
            .map(|step| job.writing.request(step, "").matches(SAID).count())
            .sum();
        assert_eq!(asked, 80, "every message is in exactly one part");
    }

    #[test]
    fn bad_summaries_change_nothing() {
        let session = session(6, SAID);
        let done = |text: &str| make(&session, 8_000).done(text);
        let before = make(&session, 8_000).before.tokens;
        for (text, check) in [
            (
                "  \n ",
                (|error| *error == NotCompacted::TooShort) as fn(&NotCompacted) -> bool,
            ),
            ("ok", |error| *error == NotCompacted::TooShort),
            (&SAID.repeat(20), |error| {
                matches!(error, NotCompacted::NotSmaller { .. })
            }),
            (
                "他们讨论了港口、起重机和去年春天的潮汐表，没有其他内容。",
                |error| *error == NotCompacted::OtherScript,
            ),
        ] {
            let error = accept(&session, done(text), now()).unwrap_err();
            assert!(check(&error), "{text:?}: {error:?}");
        }
        assert!(before > Tokens(200));
    }

    #[test]
    fn a_conversation_in_two_scripts_may_be_summarised_in_either() {
        let session = session(
            6,
            "Исправь эту функцию: fn main() { let harbour = crane(); println!(\"{harbour}\"); }",
        );
        for summary in [
            "- Они исправили функцию main и портовый кран.",
            "- They fixed the function main.",
        ] {
            accept(&session, make(&session, 8_000).done(summary), now()).unwrap();
        }
    }

    #[test]
    fn a_window_too_small_for_a_summary_is_said() {
        let session = session(6, SAID);
        let error = job(&session, &Prompts::embedded().compact, Tokens(500)).unwrap_err();
        assert_eq!(error, CannotCompact::WindowTooSmall);
        let small = make(&session, 1_000);
        for step in 0..small.writing.steps() {
            let request = Tokens::estimate(
                &small
                    .writing
                    .request(step, &"s".repeat(small.writing.answer().chars())),
            );
            assert!(request <= Tokens(1_000), "{request}");
        }
    }

    #[test]
    fn a_summary_of_an_older_state_is_stale() {
        let mut session = session(6, SAID);
        let done = make(&session, 8_000).done(SUMMARY);
        let turn = session.next_turn();
        let input = Message::text(session.next_message_id(0), Role::User, "more", None);
        session.apply(Record::TurnStarted {
            turn,
            input,
            mode: "m".into(),
            model: "m".into(),
        });
        assert_eq!(accept(&session, done, now()), Err(NotCompacted::Stale));
    }
}
