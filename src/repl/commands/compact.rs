//! `/compact`: what is sent of the past is made smaller, in one of several ways, or back again (O16-O19).

use super::{CommandError, Desk, Next, usage};
use crate::agent::{Compacting, Dry};
use crate::hint::Hint;
use crate::memory::compaction::Kind;
use crate::repl::listing::count;

/// What the first word may be.
pub(super) const WORDS: [&str; 9] = [
    "tools",
    "aggressive",
    "rolling",
    "window",
    "prefix",
    "threshold",
    "proactive",
    "dry",
    "undo",
];

pub(super) async fn run(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    let (first, rest) = split(arguments);
    match first {
        "undo" if rest.is_empty() => undo(desk),
        "dry" => dry(desk, rest).await,
        "" => Ok(Next::Compact(
            Compacting::Kind(Kind::Compact),
            String::new(),
        )),
        word => match of_word(word) {
            Some(what) => Ok(Next::Compact(what, rest.to_owned())),
            None if rest.is_empty() && near(word).is_some() => {
                let near = near(word).unwrap_or_default();
                let problem = format!("does not know {word:?}; did you mean `/compact {near}`?");
                Err(usage("compact", problem))
            }
            None => Ok(Next::Compact(
                Compacting::Kind(Kind::Compact),
                arguments.to_owned(),
            )),
        },
    }
}

/// The first word, and all that follows.
fn split(arguments: &str) -> (&str, &str) {
    let (first, rest) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    (first, rest.trim())
}

fn of_word(word: &str) -> Option<Compacting> {
    match word {
        "tools" => Some(Compacting::Tools),
        "aggressive" => Some(Compacting::Aggressive),
        "rolling" => Some(Compacting::Rolling),
        "compact" => None,
        other => Kind::parse(other).map(Compacting::Kind),
    }
}

/// The word that was probably meant: one that is mistyped must not begin anything.
fn near(word: &str) -> Option<&'static str> {
    let mut words = WORDS.into_iter();
    words.find(|known| strsim::normalized_damerau_levenshtein(known, &word.to_lowercase()) > 0.6)
}

fn undo(desk: &mut Desk) -> Result<Next, CommandError> {
    let warning = desk.agent.undo_compaction()?;
    Ok(Next::with(
        "The last compaction is undone; the messages are sent again".to_owned(),
        warning,
    ))
}

/// What would go, and what would stay.
async fn dry(desk: &mut Desk, word: &str) -> Result<Next, CommandError> {
    let kind = match (word, of_word(word)) {
        ("", _) => Kind::Compact,
        (_, Some(Compacting::Kind(kind))) => kind,
        (_, Some(_) | None) => {
            let problem = format!("dry does not know {word:?}");
            return Err(usage("compact", problem));
        }
    };
    Next::answer(match desk.agent.compact_dry(kind).await {
        Ok(dry) => shown(kind, &dry),
        Err(error) => match error.hint() {
            Some(hint) => format!("{error}; {hint}"),
            None => error.to_string(),
        },
    })
}

fn shown(kind: Kind, dry: &Dry) -> String {
    let Dry {
        cut,
        goes,
        stays,
        requests,
    } = dry;
    let head = match cut.head {
        0 => String::new(),
        head => format!("; messages 1 to {head} stay in front of it"),
    };
    format!(
        "{} would put one text in the place of messages {} to {} ({}, {} tokens){head}\n\
         {} stay word for word ({} tokens); it takes {} to the model; nothing was changed",
        kind.as_str(),
        cut.head + 1,
        cut.upto,
        count(goes.messages, "message"),
        goes.tokens,
        count(stays.messages, "message"),
        stays.tokens,
        count(*requests, "request"),
    )
}
