//! `history_search`: a regular expression over all that was ever said in a session (G13).
//!
//! The whole transcript is searched, whatever of it is sent. The pattern's engine is linear in the text, but a hostile
//! pattern has a large factor: long texts are read in windows, between which it yields, ends when it is told to, and
//! ends by itself when its time is over.

use std::time::Duration;

use async_trait::async_trait;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Around, Done, Effect, Failure, Output, Typed};
use crate::chat::{Message, Part, Session, TurnId};

/// Characters of a pattern.
const MAX_PATTERN: usize = 1_000;
/// Bytes that a compiled pattern may take.
const MAX_PROGRAM: usize = 1 << 20;
const USUAL_HITS: usize = 20;
const MAX_HITS: usize = 100;
/// Characters on either side of a hit.
const AROUND: usize = 50;
/// After so many messages others get their turn.
const AT_A_TIME: usize = 256;
/// Bytes of a long text that are searched at once, and how many of them the next window sees again.
const WINDOW: usize = 16 << 10;
const AGAIN: usize = 1 << 10;
/// A search that is not through by then tells what it has.
const LONGEST: Duration = Duration::from_secs(5);

/// Searches a session.
#[derive(Clone, Copy, Debug)]
pub struct HistorySearch;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// A regular expression, such as `deploy(ed|ment)?`.
    pattern: String,
    /// Hits to show, 20 where nothing is said, at most 100.
    #[serde(default)]
    limit: Option<usize>,
}

/// A place where a pattern was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Number of the message, from 1.
    pub number: usize,
    pub line: String,
}

/// Hits, newest first, and how many messages have one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    pub shown: Vec<Hit>,
    pub total: usize,
    /// Messages, the oldest, that there was no time for.
    pub unread: usize,
}

/// When a search that begins now has to end.
pub fn deadline() -> Instant {
    Instant::now() + LONGEST
}

/// A pattern as a model or a person writes it.
pub fn pattern(text: &str) -> Result<Regex, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::Arguments("the pattern is empty".to_owned()));
    }
    if text.chars().count() > MAX_PATTERN {
        return Err(Failure::Arguments(format!(
            "the pattern is longer than {MAX_PATTERN} characters"
        )));
    }
    let mut builder = RegexBuilder::new(text);
    builder.case_insensitive(true).size_limit(MAX_PROGRAM);
    builder
        .build()
        .map_err(|error| Failure::Arguments(format!("invalid pattern: {error}")))
}

/// Finds where a pattern is in a session; of each message its first place. The turn that runs is left out.
pub async fn search(
    session: &Session,
    pattern: &Regex,
    (limit, until): (usize, Instant),
    running: Option<TurnId>,
    cancel: &CancellationToken,
) -> Result<Hits, Failure> {
    let end = running.and_then(|turn| session.turns().iter().rfind(|it| it.id == turn));
    let end = end.map_or(session.messages().len(), |turn| turn.messages.start);
    let mut hits = Hits::default();
    for (index, message) in session.messages()[..end].iter().enumerate().rev() {
        if index % AT_A_TIME == 0 {
            tokio::task::yield_now().await;
        }
        if cancel.is_cancelled() {
            return Err(Failure::Interrupted);
        }
        let mut found = None;
        for window in texts(message).flat_map(windows) {
            if Instant::now() >= until {
                hits.unread = index + 1;
                return Ok(hits);
            }
            found = snippet(window, pattern);
            if found.is_some() {
                break;
            }
            if window.len() == WINDOW {
                tokio::task::yield_now().await;
                if cancel.is_cancelled() {
                    return Err(Failure::Interrupted);
                }
            }
        }
        let Some(snippet) = found else {
            continue;
        };
        hits.total += 1;
        if hits.shown.len() < limit {
            let at = message.at.map_or_else(String::new, |at| format!(", {at}"));
            hits.shown.push(Hit {
                number: index + 1,
                line: format!("#{} {}{at}: {snippet}", index + 1, message.role.as_str()),
            });
        }
    }
    Ok(hits)
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::ToolCall(call) => call.arguments.as_str(),
        Part::ToolResult { output, .. } => output.as_str(),
        Part::Attached(attached) => attached.text.as_str(),
        Part::Image(image) => image.name.as_str(),
    })
}

/// A text in pieces that overlap; a short one whole.
fn windows(text: &str) -> impl Iterator<Item = &str> {
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let from = start.filter(|from| *from < text.len())?;
        let end = text.floor_char_boundary(from + WINDOW);
        start = (end < text.len()).then(|| text.floor_char_boundary(end - AGAIN));
        Some(&text[from..end])
    })
}

/// The first hit in a text with what stands around it, in one line.
fn snippet(text: &str, pattern: &Regex) -> Option<String> {
    let found = pattern.find(text)?;
    let before = &text[..found.start()];
    let start = before.char_indices().rev().nth(AROUND - 1);
    let start = start.map_or(0, |(at, _)| at);
    let after = &text[found.end()..];
    let end = after.char_indices().nth(AROUND);
    let end = found.end() + end.map_or(after.len(), |(at, _)| at);
    // A pattern may match a whole message.
    let shown: String = text[start..end].chars().take(4 * AROUND).collect();
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let left = if start > 0 { "…" } else { "" };
    let right = if end < text.len() { "…" } else { "" };
    Some(format!("{left}{shown}{right}"))
}

#[async_trait]
impl Typed for HistorySearch {
    type Arguments = Arguments;

    const NAME: &'static str = "history_search";
    const DESCRIPTION: &'static str = include_str!("../../config/tools/history_search.md");

    fn effect(&self, _: &Arguments) -> Result<Effect, Failure> {
        Ok(Effect::Nothing)
    }

    async fn call(&self, wanted: Arguments, around: &Around<'_>) -> Result<Done, Failure> {
        let pattern = pattern(&wanted.pattern)?;
        let limit = wanted.limit.unwrap_or(USUAL_HITS).clamp(1, MAX_HITS);
        let running = Some(around.turn);
        let hits = search(
            around.session,
            &pattern,
            (limit, deadline()),
            running,
            around.cancel,
        )
        .await?;
        let brief = match hits.total {
            1 => "1 hit".to_owned(),
            total => format!("{total} hits"),
        };
        if hits.total == 0 && hits.unread == 0 {
            return Ok(Output::text("no matches in this session", brief).into());
        }
        let unread = hits.unread;
        let mut lines: Vec<String> = hits.shown.into_iter().map(|hit| hit.line).collect();
        if hits.total > lines.len() {
            lines.push(format!(
                "{} messages match; these are the newest",
                hits.total
            ));
        }
        if unread > 0 {
            lines.push(format!(
                "out of time before the oldest {unread} messages; try a simpler pattern"
            ));
        }
        Ok(Output::text(lines.join("\n"), brief).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{MessageId, Role, Timestamp};

    fn session(texts: &[&str]) -> Session {
        let mut session = Session::new("test".parse().unwrap());
        let message = |(n, text): (usize, &&str)| {
            let role = [Role::User, Role::Assistant][n % 2];
            let at = Timestamp::from_unix(0);
            Message::text(MessageId::numbered(n as u64 + 1), role, *text, at)
        };
        session.import(texts.iter().enumerate().map(message).collect());
        session
    }

    fn run<T>(work: impl Future<Output = T>) -> T {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.build().unwrap().block_on(work)
    }

    fn found(session: &Session, text: &str, limit: usize) -> (Vec<String>, usize) {
        let (pattern, cancel) = (pattern(text).unwrap(), CancellationToken::new());
        let hits = run(search(
            session,
            &pattern,
            (limit, deadline()),
            None,
            &cancel,
        ))
        .unwrap();
        (
            hits.shown.into_iter().map(|hit| hit.line).collect(),
            hits.total,
        )
    }

    #[test]
    fn hits_are_told_newest_first_with_who_and_when_and_what_stands_around() {
        let long = format!("{} Deployed on Friday {}", "a".repeat(80), "b".repeat(80));
        let session = session(&[&long, "fine", "Is it deployed?"]);
        let (lines, total) = found(&session, "DEPLOY(ED)?", 20);
        assert_eq!(total, 2);
        assert_eq!(lines[0], "#3 user, 1970-01-01 00:00 UTC: Is it deployed?");
        assert!(lines[1].starts_with("#1 user, 1970-01-01 00:00 UTC: …aaa"));
        assert!(lines[1].ends_with("bbb…"), "{}", lines[1]);
        assert_eq!(found(&session, "deploy", 1).0.len(), 1);
    }

    #[test]
    fn a_search_ends_when_somebody_says_so_meanwhile() {
        let session = session(&vec!["needle"; 2 * AT_A_TIME + 2]);
        let (pattern, cancel) = (pattern("needle").unwrap(), CancellationToken::new());
        let search = search(&session, &pattern, (20, deadline()), None, &cancel);
        // On one thread the second is reached only if the first lets it.
        let meanwhile = async { cancel.cancel() };
        let (found, ()) = run(async { tokio::join!(biased; search, meanwhile) });
        assert_eq!(found, Err(Failure::Interrupted));
    }

    #[test]
    fn a_search_whose_time_is_over_tells_what_it_did_not_read() {
        let session = session(&["needle", "hay", "needle"]);
        let (pattern, cancel) = (pattern("needle").unwrap(), CancellationToken::new());
        let over = run(search(
            &session,
            &pattern,
            (20, Instant::now()),
            None,
            &cancel,
        ));
        assert_eq!(over.unwrap().unread, 3);
    }

    #[test]
    fn a_hit_far_inside_a_long_text_is_found_and_a_hostile_pattern_comes_to_an_end() {
        let text = format!("{}needle {}", "日ab ".repeat(10_000), "x".repeat(50_000));
        let session = session(&[&text]);
        let (lines, _) = found(&session, "needle", 20);
        assert!(lines[0].contains("needle"), "{lines:?}");
        assert_eq!(windows("ab").collect::<Vec<_>>(), ["ab"]);
        let seen: usize = windows(&text).map(str::len).sum();
        assert!(seen > text.len());
        assert_eq!(found(&session, "(a|ab|b|x)*[ax]{40}z", 20).1, 0);
    }

    #[test]
    fn a_hit_between_wide_letters_is_cut_between_letters() {
        let text = format!("{}x{}", "日本".repeat(100), "🎉".repeat(100));
        let (lines, _) = found(&session(&[&text]), "x", 20);
        assert!(lines[0].contains('x') && lines[0].contains('…'));
    }

    #[test]
    fn a_bad_pattern_is_told_and_a_hostile_one_refused() {
        for (text, expected) in [
            ("(", "unclosed group"),
            (" ", "empty"),
            (&"a".repeat(1_001), "longer than 1000"),
            (r"(\w{1000}){1000}", "size limit"),
        ] {
            let error = pattern(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
