//! `/config`: what is set, and where.

use super::{CommandError, Desk, Next, usage};
use crate::term::{Align, Table};

/// `/config [WORDS]`: the settings whose key has these words; without any, those that are not the defaults.
pub(super) fn run(desk: &Desk, words: &str) -> Result<Next, CommandError> {
    let mut table = Table::new([Align::Left, Align::Left, Align::Left]);
    let rows = desk.settings.iter().filter(|setting| match words {
        "" => setting.source.is_some(),
        words => words
            .split_whitespace()
            .all(|word| setting.key.contains(word)),
    });
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return match words {
            "" => Next::answer("All settings are at their defaults; `/config WORD` finds one"),
            words => Err(usage("config", format!("finds no setting with {words:?}"))),
        };
    }
    for setting in rows {
        let source = setting.source.as_deref().unwrap_or("default");
        table.row([&setting.key, &setting.value, &format!("# {source}")].map(String::clone));
    }
    Next::answer(table.render(desk.env.columns).trim_end())
}
