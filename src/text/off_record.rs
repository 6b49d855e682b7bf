//! Messages that are said to be kept nowhere: `don't save this`, `off the record`. Unit: a message.

/// Whether a person wants nothing of a message to be kept beyond history.
pub fn is_off_record(text: &str) -> bool {
    // What is wanted so is short, or stands at one end of what is long.
    let head = &text[..text.floor_char_boundary(READ.min(text.len()))];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(READ))..];
    is_asked(head) || text.len() > READ && is_asked(tail)
}

/// Bytes at each end that are read.
const READ: usize = 4_000;

fn is_asked(text: &str) -> bool {
    let small = text.to_lowercase().replace(['’', '‘', 'ʻ', 'ʼ', '`'], "'");
    let words: Vec<&str> = small
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .collect();
    let said = format!(" {} ", words.join(" "));
    let has_phrase = PHRASES.iter().any(|phrase| {
        said.match_indices(phrase).any(|(at, _)| {
            let (before, behind) = (&said[..at], &said[at + phrase.len()..]);
            let is_whole = before.ends_with(' ') && behind.starts_with(' ');
            let speaker = before.split_whitespace().next_back().unwrap_or_default();
            let next = behind
                .split_whitespace()
                .find(|word| !["this", "that", "the", "my", "it"].contains(word));
            is_whole
                && !SPEAKERS.contains(&speaker)
                && next.is_none_or(|next| !THINGS.contains(&next))
        })
    });
    has_phrase || UNSPACED.iter().any(|phrase| small.contains(phrase))
}

/// `I don't remember this` asks for nothing.
const SPEAKERS: [&str; 15] = [
    "i", "we", "you", "they", "he", "she", "who", "people", "users", "really", "just", "ich",
    "wir", "je", "я",
];

/// `don't save this file` is work.
const THINGS: [&str; 30] = [
    "file",
    "files",
    "document",
    "branch",
    "change",
    "changes",
    "draft",
    "image",
    "picture",
    "column",
    "field",
    "value",
    "state",
    "buffer",
    "page",
    "row",
    "record",
    "model",
    "config",
    "setting",
    "settings",
    "datei",
    "archivo",
    "fichier",
    "файл",
    "файлы",
    "изменения",
    "faylni",
    "fayl",
    "variable",
];

/// Whole words, in small letters.
const PHRASES: &[&str] = &[
    "don't save this",
    "do not save this",
    "dont save this",
    "don't save that",
    "do not save that",
    "dont save that",
    "don't save any of this",
    "do not save any of this",
    "don't save my message",
    "do not save my message",
    "never save this",
    "don't remember this",
    "do not remember this",
    "dont remember this",
    "don't remember that",
    "do not remember that",
    "please don't remember",
    "please do not remember",
    "please dont remember",
    "please don't save",
    "please do not save",
    "please dont save",
    "don't memorize this",
    "don't memorise this",
    "do not memorize this",
    "do not memorise this",
    "don't keep this",
    "do not keep this",
    "dont keep this",
    "don't store this",
    "do not store this",
    "dont store this",
    "don't record this",
    "do not record this",
    "don't save the following",
    "do not save the following",
    "dont save the following",
    "don't store the following",
    "do not store the following",
    "dont store the following",
    "don't remember the following",
    "do not remember the following",
    "dont remember the following",
    "don't keep the following",
    "do not keep the following",
    "don't record the following",
    "do not record the following",
    "don't note the following",
    "do not note the following",
    "don't note this",
    "do not note this",
    "don't write this down",
    "do not write this down",
    "dont write this down",
    "don't take notes on this",
    "don't add this to your memory",
    "don't put this in your memory",
    "don't put this into memory",
    "don't put this in your notes",
    "keep this out of your memory",
    "keep this out of your notes",
    "keep this out of memory",
    "leave this out of your memory",
    "leave this out of your notes",
    "stay out of your notes",
    "stay out of your memory",
    "stays out of your notes",
    "stays out of your memory",
    "keep this between us",
    "keep that between us",
    "keep it between us",
    "no notes on this",
    "no need to remember",
    "no need to note this",
    "forget what i say next",
    "forget what i tell you next",
    "you don't have to keep this",
    "you don't have to save this",
    "you don't have to remember this",
    "you don't need to keep this",
    "you don't need to save this",
    "you don't need to remember this",
    "please don't keep it",
    "please do not keep it",
    "don't log this",
    "do not log this",
    "dont log this",
    "don't note that",
    "do not note that",
    "no need to save this",
    "off the record",
    "not for the record",
    "this stays between us",
    "strictly between us",
    "merk dir das nicht",
    "merke dir das nicht",
    "merk dir das bitte nicht",
    "speicher das nicht",
    "speichere das nicht",
    "speicher das bitte nicht",
    "speichere das bitte nicht",
    "folgendes nicht speichern",
    "speichere folgendes nicht",
    "speicher folgendes nicht",
    "merk dir folgendes nicht",
    "merke dir folgendes nicht",
    "nicht in deine notizen",
    "bleib das unter uns",
    "bleibt unter uns",
    "bitte nicht speichern",
    "bitte nicht merken",
    "nicht speichern bitte",
    "schreib das nicht auf",
    "bitte nicht aufschreiben",
    "notier das nicht",
    "notiere das nicht",
    "unter uns gesagt",
    "nicht fürs protokoll",
    "nicht für die akten",
    "не запоминай",
    "не сохраняй",
    "не записывай",
    "не для записи",
    "не под запись",
    "без протокола",
    "это между нами",
    "останется между нами",
    "не заноси это в заметки",
    "не для твоих заметок",
    "не храни это",
    "no guardes esto",
    "no lo guardes",
    "no recuerdes esto",
    "no lo recuerdes",
    "no anotes esto",
    "no lo anotes",
    "no memorices esto",
    "extraoficialmente",
    "esto queda entre nosotros",
    "quede entre nosotros",
    "no guardes lo siguiente",
    "no anotes lo siguiente",
    "no recuerdes lo siguiente",
    "fuera de tus notas",
    "no lo pongas en tus notas",
    "n'enregistre pas ça",
    "n'enregistre pas cela",
    "ne retiens pas ça",
    "ne retiens pas cela",
    "ne note pas ça",
    "ne note pas cela",
    "ne garde pas ça",
    "ne garde pas cela",
    "ne mémorise pas ça",
    "ne mémorise pas cela",
    "ne sauvegarde pas ça",
    "à ne pas retenir",
    "ça reste entre nous",
    "garde ça entre nous",
    "garde cela entre nous",
    "n'enregistre pas ce qui suit",
    "ne retiens pas ce qui suit",
    "ne note pas ce qui suit",
    "pas dans tes notes",
    "cela reste entre nous",
    "hors micro",
    "ne t'en souviens pas",
    "buni saqlama",
    "buni saqlamang",
    "buni eslab qolmang",
    "buni yozib qo'yma",
    "eslab qolma",
    "yodlab qolma",
    "saqlab qo'yma",
    "buni yozma",
    "quyidagini saqlama",
    "oramizda qolsin",
    "eslatmalaringga yozma",
    "буни сақлама",
    "эслаб қолма",
];

/// In scripts without blanks.
const UNSPACED: &[&str] = &[
    "不要记住",
    "别记住",
    "不要保存这",
    "别保存这",
    "不要保存我",
    "不要记录",
    "别记录",
    "不要记下",
    "别记下",
    "不要存这",
    "不要保存以下",
    "别保存以下",
    "不要存以下",
    "不要写进笔记",
    "别写进笔记",
    "只有我们俩知道",
    "不要写进你的笔记",
    "别写进你的笔记",
    "别存这",
    "不用记住",
    "私下说",
    "不要記住",
    "別記住",
    "不要保存這",
    "不要記錄",
    "覚えないで",
    "保存しないで",
    "記録しないで",
    "기억하지 마",
    "저장하지 마",
];

#[cfg(test)]
mod tests {
    use super::{PHRASES, is_off_record};

    #[test]
    fn no_phrase_is_needless_because_a_shorter_one_is_in_it() {
        for phrase in PHRASES {
            let longer = PHRASES.iter().find(|longer| {
                *longer != phrase && format!(" {longer} ").contains(&format!(" {phrase} "))
            });
            assert_eq!(longer, None, "{phrase}");
        }
    }

    #[test]
    fn who_wants_nothing_kept_is_heard_in_seven_languages() {
        for text in [
            "Don't save this: I am thinking of leaving the company",
            "I'm looking for another job. Please don't remember.",
            "Off the record, the launch slips to May",
            "No need to remember: I prefer green tea",
            "Forget what I say next: I am leaving in May",
            "You don't have to keep this, I am leaving in May",
            "Please don't keep it: I am leaving in May",
            "Don't log this, I am leaving in May",
            "don't note that I am leaving in May",
            "please don’t save that",
            "Do not store the following: I am leaving in May",
            "Keep this between us: I am leaving in May",
            "This should stay out of your notes: I am leaving in May",
            "Speichere Folgendes nicht: ich kündige im Mai",
            "Это останется между нами: я ухожу в мае",
            "No guardes lo siguiente: me voy en mayo",
            "N'enregistre pas ce qui suit : je pars en mai",
            "别写进你的笔记：我五月要离职",
            "Quyidagini saqlama: may oyida ketaman",
            "Ich kündige im Mai, merk dir das bitte nicht",
            "Я ухожу в мае, не запоминай это",
            "Me voy en mayo, no guardes esto",
            "Je pars en mai, ne retiens pas ça",
            "我五月要离职，别记住",
            "May oyida ketaman, buni eslab qolma",
        ] {
            assert!(is_off_record(text), "{text}");
        }
    }

    #[test]
    fn talk_about_saving_and_remembering_is_no_wish() {
        for text in [
            "I don't remember this function at all",
            "please don't save this file, I am still editing it",
            "Remember this: the deadline is Friday",
            "Why do we not store passwords?",
            "We do not store the following fields",
            "не сохраняй файл",
            "save this",
            "",
        ] {
            assert!(!is_off_record(text), "{text}");
        }
    }
}
