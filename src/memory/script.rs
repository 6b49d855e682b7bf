//! Which script a text is mainly written in: enough to see that a summary left the language of its
//! conversation.

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

/// The script that most letters of `texts` are in; `None` where there are too few to tell. A CJK or
/// Hangul letter weighs three Latin ones: it is about a syllable or a word.
pub(crate) fn dominant<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Script> {
    const ENOUGH: usize = 12;
    let mut counts: Vec<(Script, usize)> = Vec::new();
    for script in texts.flat_map(str::chars).filter_map(of) {
        let weight = match script {
            Script::Cjk | Script::Hangul => 3,
            _ => 1,
        };
        match counts.iter_mut().find(|(known, _)| *known == script) {
            Some((_, count)) => *count += weight,
            None => counts.push((script, weight)),
        }
    }
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .filter(|(_, count)| *count >= ENOUGH)
        .map(|(script, _)| script)
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
            assert_eq!(dominant(std::iter::once(text)), expected, "{text}");
        }
    }
}
