//! `/config`: what is set, and where.

use super::{CommandError, Next, ReplContext, cannot};
use crate::repl::listing;

/// `/config [WORDS]`: the settings whose key has these words; without any, those that are not the defaults.
pub(super) fn run(repl: &ReplContext, words: &str) -> Result<Next, CommandError> {
    let rows = repl.settings.iter().filter(|setting| match words {
        "" => setting.source.is_some(),
        words => words
            .split_whitespace()
            .all(|word| setting.key.contains(word)),
    });
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return match words {
            "" => Next::answer("All settings are at their defaults; `/config WORD` finds one"),
            words => Err(cannot(
                format!("no setting has {words:?} in its name"),
                None,
            )),
        };
    }
    Next::answer(listing::settings(rows, repl.env.columns))
}
