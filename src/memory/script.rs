//! Which script a text is mainly written in: enough to see that a summary left the language of its conversation.

use crate::chat::{Message, Session};

/// A family of letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    Latin,
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    Indic,
    Thai,
    /// Han, kana and bopomofo.
    Cjk,
    Hangul,
}

/// First and last scalar value of each block that counts.
const BLOCKS: [(u32, u32, Script); 18] = [
    (0x0041, 0x005A, Script::Latin),
    (0x0061, 0x007A, Script::Latin),
    (0x00C0, 0x024F, Script::Latin),
    (0x0370, 0x03FF, Script::Greek),
    (0x0400, 0x052F, Script::Cyrillic),
    (0x0590, 0x05FF, Script::Hebrew),
    (0x0600, 0x077F, Script::Arabic),
    (0x0900, 0x0DFF, Script::Indic),
    (0x0E00, 0x0E7F, Script::Thai),
    (0x1100, 0x11FF, Script::Hangul),
    (0x1E00, 0x1EFF, Script::Latin),
    (0x1F00, 0x1FFF, Script::Greek),
    (0x3040, 0x30FF, Script::Cjk),
    (0x3100, 0x312F, Script::Cjk),
    (0x3400, 0x4DBF, Script::Cjk),
    (0x4E00, 0x9FFF, Script::Cjk),
    (0xAC00, 0xD7AF, Script::Hangul),
    (0x20000, 0x323AF, Script::Cjk),
];

fn of(c: char) -> Option<Script> {
    let value = u32::from(c);
    BLOCKS
        .iter()
        .find(|(first, last, _)| (*first..=*last).contains(&value))
        .map(|(.., script)| *script)
}

/// Letters of each script, weighed: a CJK or Hangul letter is about a syllable or a word and weighs three Latin ones.
fn weights<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<(Script, usize)> {
    let mut weights: Vec<(Script, usize)> = Vec::new();
    for script in texts.flat_map(str::chars).filter_map(of) {
        let weight = match script {
            Script::Cjk | Script::Hangul => 3,
            _ => 1,
        };
        match weights.iter_mut().find(|(known, _)| *known == script) {
            Some((_, sum)) => *sum += weight,
            None => weights.push((script, weight)),
        }
    }
    weights
}

/// Fewer letters do not tell a script.
const ENOUGH: usize = 12;

/// The script that most letters of a text are in; `None` where there are too few to tell.
pub(crate) fn dominant(text: &str) -> Option<Script> {
    let heaviest = weights(std::iter::once(text))
        .into_iter()
        .max_by_key(|(_, weight)| *weight);
    heaviest
        .filter(|(_, weight)| *weight >= ENOUGH)
        .map(|(script, _)| script)
}

/// The share of a script among the letters of all texts; `None` where there are too few to tell.
pub(crate) fn share<'a>(script: Script, texts: impl Iterator<Item = &'a str>) -> Option<f64> {
    let weights = weights(texts);
    let sum: usize = weights.iter().map(|(_, weight)| weight).sum();
    let own = weights
        .iter()
        .find(|(known, _)| *known == script)
        .map_or(0, |(_, weight)| *weight);
    #[expect(clippy::cast_precision_loss, reason = "counts of letters")]
    (sum >= ENOUGH).then(|| own as f64 / sum as f64)
}

/// The script that most of the newest messages are in.
pub(crate) fn mainly(session: &Session) -> Option<Script> {
    const NEWEST: usize = 50;
    let newest = session.messages().iter().rev().take(NEWEST);
    let said: Vec<_> = newest.map(Message::said).collect();
    dominant(&said.join("\n"))
}

/// Whether a summary is written in letters that are hardly met in the conversation. A conversation may mix
/// scripts (Russian talk about Rust), and its summary may lean to either.
pub(crate) fn is_foreign(session: &Session, summary: &str) -> bool {
    const HARDLY: f64 = 0.05;
    const NEWEST: usize = 200;
    let spoken = session
        .messages()
        .iter()
        .rev()
        .take(NEWEST)
        .map(Message::said);
    let spoken: Vec<_> = spoken.collect();
    dominant(summary).is_some_and(|written| {
        share(written, spoken.iter().map(AsRef::as_ref)).is_some_and(|share| share < HARDLY)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_script_is_found_despite_code_and_names() {
        for (text, expected) in [
            ("The quick brown fox", Some(Script::Latin)),
            (
                "Давай сделаем это в файле main.rs сегодня",
                Some(Script::Cyrillic),
            ),
            ("我们决定使用 PostgreSQL 数据库", Some(Script::Cjk)),
            ("データベースを使います", Some(Script::Cjk)),
            ("42 + 17 = 59", None),
        ] {
            assert_eq!(dominant(text), expected, "{text}");
        }
    }
}
