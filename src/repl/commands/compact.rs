//! `/compact`: what is sent of the past is made smaller, in one of several ways, or back again (O16-O19).

use super::{CommandError, Next, ReplContext, usage};
use crate::agent::{Compacting, Dry, DryCut, DryTools, TakenDown};
use crate::hint::advised;
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

pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let (first, rest) = split(arguments);
    match first {
        "undo" if rest.is_empty() => undo(repl),
        "undo" => Err(usage("compact", "undo takes no arguments")),
        "dry" => dry(repl, rest).await,
        "" => Ok(Next::Compact(ALL, String::new())),
        word => match (of_word(word), near(word)) {
            (Some(what), _) => {
                takes_wish(repl, what, rest)?;
                Ok(Next::Compact(what, rest.to_owned()))
            }
            (None, Some(near)) => {
                let problem = format!("has no option {word:?}; did you mean `/compact {near}`?");
                Err(usage("compact", problem))
            }
            (None, None) => Ok(Next::Compact(ALL, arguments.to_owned())),
        },
    }
}

const ALL: Compacting = Compacting::Kind(Kind::Compact);

/// A wish is for whoever writes; where nobody does, it would be lost.
fn takes_wish(repl: &ReplContext, what: Compacting, wish: &str) -> Result<(), CommandError> {
    let writes = repl.agent.settings().context.proactive_summary;
    let problem = match what {
        Compacting::Tools => "tools does not use the model, so it takes no focus",
        Compacting::Kind(Kind::Proactive) if !writes => {
            "proactive writes no summary unless context.proactive_summary is set, so it takes no focus"
        }
        Compacting::Aggressive | Compacting::Rolling | Compacting::Kind(_) => return Ok(()),
    };
    if wish.is_empty() {
        return Ok(());
    }
    Err(usage("compact", problem))
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

fn undo(repl: &mut ReplContext) -> Result<Next, CommandError> {
    let (what, warning) = repl.agent.undo_newest()?;
    let said = match what {
        TakenDown::Compaction => {
            "Last compaction undone; its messages are sent again. No automatic one until another tenth of the window fills; \
             until then, what does not fit is left out"
        }
        TakenDown::Summary => "Last summary undone; back to the previous one, if any",
    };
    Ok(Next::with(said.to_owned(), warning))
}

/// What would go, and what would stay.
async fn dry(repl: &mut ReplContext, word: &str) -> Result<Next, CommandError> {
    let what = match (word, of_word(word)) {
        ("", _) => ALL,
        (_, Some(what)) => what,
        (_, None) => {
            let problem = format!("dry has no option {word:?}");
            return Err(usage("compact", problem));
        }
    };
    Next::answer(match repl.agent.compact_dry(what).await {
        Ok(dry) => format!("{}; nothing changed", shown(&dry)),
        Err(error) => advised(&error),
    })
}

fn shown(dry: &Dry) -> String {
    match dry {
        Dry::Cut(cut) => shown_cut(cut),
        Dry::Tools(tools) => shown_tools(tools),
        Dry::Aggressive(None, cut) => format!("No long tool results\n{}", shown_cut(cut)),
        Dry::Aggressive(Some(tools), cut) => {
            format!("{}\nthen {}", shown_tools(tools), shown_cut(cut))
        }
        Dry::Rolling(size) => format!(
            "rolling would summarise {} outside the window ({} tokens)",
            count(size.messages, "message"),
            size.tokens
        ),
    }
}

fn shown_tools(tools: &DryTools) -> String {
    format!(
        "tools would shorten {} to the beginning: {} → {} tokens",
        count(tools.results, "result"),
        tools.before,
        tools.after
    )
}

fn shown_cut(dry: &DryCut) -> String {
    let DryCut {
        kind,
        cut,
        goes,
        stays,
        requests,
    } = dry;
    let head = match cut.head {
        0 => String::new(),
        head => format!("; messages 1 to {head} stay before it"),
    };
    let stays = match stays.messages {
        0 => String::new(),
        messages => format!(
            "{} stay as they are ({} tokens); ",
            count(messages, "message"),
            stays.tokens
        ),
    };
    format!(
        "{} would replace {} (up to message {}, {} tokens) with a summary{head}\n\
         {stays}it takes {}",
        kind.as_str(),
        count(goes.messages, "message"),
        cut.upto,
        goes.tokens,
        count(*requests, "model call"),
    )
}
