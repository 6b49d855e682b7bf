//! Secrets without a name, known by what is done with them: `the gate opens with 4821`, `the bank sent me 382215`, the
//! turns of a safe, the words of a wallet, the answer to a security question. Unit: a sentence.
//!
//! Invariant: both must be there, words that set the scene and a value of the form that belongs to it.

use std::ops::Range;

use super::cues::{
    self, ACCESS, ASKED, BANK, CODE, Cues, DELIVERED, LEFT, LOCK, OPEN, OTP, PLACE, PRESS, SEED,
    SENT, UNLOCK,
};
use super::phrase::{self, Kind};
use super::words::{
    ANSWER_VERBS, COUNTED, INTRODUCES, MANAGERS, NOT_CODES, NOT_IN_SEED, NUMBERED, PRICES,
    QUESTIONS, TOLD, UNITS,
};
use super::{Class, Found, ids, nearby, numbers};

/// Words of a wallet, without anything that says so and with it.
const SEED_WORDS: usize = 12;
const SEED_WORDS_NAMED: usize = 8;
/// Bytes behind a card in which its other number stands.
const BESIDE_CARD: usize = 120;

/// A word of a sentence, as it is written.
#[derive(Clone, Copy, Debug)]
struct Word<'t> {
    at: usize,
    text: &'t str,
    cues: Cues,
}

pub(super) fn found(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let cards = numbers::cards(text);
    let small = text.to_lowercase();
    let may_ask = asks(&small);
    let mut before: Cues = 0;
    let mut is_asked = false;
    let mut all: Vec<Word<'_>> = Vec::new();
    for sentence in sentences(text) {
        let words = words(text, sentence.clone());
        let said = words.iter().fold(0, |cues, word| cues | word.cues);
        numbers(text, &words, said, before, &cards, &mut found);
        turns(&words, said | before, &mut found);
        let asked_before = std::mem::replace(
            &mut is_asked,
            answers(text, &sentence, &words, said, may_ask, &mut found),
        );
        if asked_before && !is_asked {
            answer_to(text, &words, &mut found);
        }
        before = said;
        all.extend(words);
    }
    seeds(text, &all, &mut found);
    found.extend(unspaced_turns(text));
    found
}

/// Behind a stop with a blank, and lines.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut from = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '\n' | '。' | '？' | '！' => true,
            '.' | '?' | '!' | ';' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            sentences.push(from..at + c.len_utf8());
            from = at + c.len_utf8();
        }
    }
    sentences.push(from..text.len());
    sentences
}

fn words(text: &str, sentence: Range<usize>) -> Vec<Word<'_>> {
    let base = text.as_ptr().addr();
    let mut words: Vec<Word<'_>> = Vec::new();
    for token in text[sentence].split_whitespace() {
        let token = token.trim_matches(|c: char| !c.is_alphanumeric() && !"#*".contains(c));
        if token.is_empty() {
            continue;
        }
        let small = token.to_lowercase();
        let mut cues = cues::of(&small);
        if cues == 0 {
            for part in small
                .split(['-', '/', '\'', '’', ':'])
                .filter(|part| part.len() > 2)
            {
                cues |= cues::of(part);
            }
        }
        // An `error code` is no code.
        if cues & CODE != 0
            && words
                .last()
                .is_some_and(|before| NOT_CODES.contains(&before.text.to_lowercase().as_str()))
        {
            cues &= !CODE;
        }
        words.push(Word {
            at: token.as_ptr().addr() - base,
            text: token,
            cues,
        });
    }
    words
}

/// Codes of doors and devices, codes that were sent, numbers of accounts, and what belongs to a card.
fn numbers(
    text: &str,
    words: &[Word<'_>],
    said: Cues,
    before_said: Cues,
    cards: &[Range<usize>],
    found: &mut Vec<Found>,
) {
    let has_cards = !cards.is_empty();
    let is_beside_card = |at: usize| {
        cards.iter().any(|card| {
            at.saturating_sub(BESIDE_CARD) <= card.end && at + BESIDE_CARD / 2 >= card.start
        })
    };
    let has = |cues: Cues| said & cues == cues;
    let any = |cues: Cues| said & cues != 0;
    let is_door =
        any(LOCK | PLACE) && any(CODE | PRESS | OPEN) || has(CODE) && before_said & LOCK != 0;
    let is_unlocked = has(UNLOCK);
    let is_sent = has(OTP) || has(CODE | SENT);
    let is_confirmed = has(SENT) && any(OPEN | PRESS | CODE | OTP)
        || words.iter().any(|it| {
            ["confirm", "verify", "bestätigen", "confirmar", "confirmer"].contains(&it.text)
        });
    let is_bank = has(BANK);
    let is_manager = words
        .iter()
        .any(|it| MANAGERS.contains(&it.text.to_lowercase().as_str()));
    let has_in_with = words
        .windows(2)
        .any(|pair| pair[0].text == "in" && pair[1].text == "with");
    let is_delivered = has(DELIVERED)
        || words
            .windows(2)
            .any(|pair| pair[0].text == "sent" && pair[1].text == "me");
    if !(any(ACCESS | LOCK | PLACE | OPEN | BANK | SENT | DELIVERED)
        || has_in_with
        || is_unlocked
        || is_sent
        || is_confirmed
        || before_said & LOCK != 0
        || has_cards)
    {
        return;
    }
    let is_at_lock = has(LOCK)
        && !words
            .iter()
            .any(|it| PRICES.contains(&it.text.to_lowercase().as_str()));
    for (n, word) in words.iter().enumerate() {
        let mut push = |place: Range<usize>, class| found.push(Found { place, class });
        let whole = word.at..word.at + word.text.len();
        if is_door && is_short_code(word.text) {
            push(whole.clone(), Class::AccessCode);
        }
        let before = n
            .checked_sub(1)
            .map(|before| words[before].text.to_lowercase());
        let before = before.as_deref().unwrap_or_default();
        let is_with = ["with", "using", "mit", "con", "avec", "use", "is"].contains(&before);
        let is_in_with = before == "with" && n >= 2 && words[n - 2].text == "in";
        if ((is_unlocked || has(OPEN)) && is_with
            || is_unlocked && nearby::is_strong(word.text)
            || is_in_with)
            && word.text.len() >= 6
            && phrase::is_strange(word.text)
            && !nearby::is_name_with_number(word.text)
        {
            push(nearby::word(text, word.at), Class::Password);
        }
        if any(ACCESS)
            && !is_manager
            && (INTRODUCES.contains(&before) || text[..word.at].trim_end().ends_with(['/', ':']))
            && is_made_of_words(word.text)
        {
            push(nearby::word(text, word.at), Class::Password);
        }
        let Some(number) = number(text, word) else {
            continue;
        };
        let digits = text[number.clone()]
            .bytes()
            .filter(u8::is_ascii_digit)
            .count();
        let is_typed_in = before == "in" && n >= 2 && words[n - 2].cues & PRESS != 0;
        let is_dashed = is_at_lock && word.text.contains('-');
        if COUNTED.contains(&before) && !is_typed_in && !is_dashed
            || words
                .get(n + 1)
                .is_some_and(|next| is_counted(next.text, next.at == number.end + 1))
        {
            continue;
        }
        // `730 118`
        if let Some(next) = words.get(n + 1)
            && any(OTP | SENT | CODE)
            && digits == 3
            && next.at == number.end + 1
            && self::number(text, next).is_some_and(|it| it.len() == 3)
        {
            push(number.start..next.at + 3, Class::OneTimeCode);
            continue;
        }
        match digits {
            3..=8 if is_dashed => push(number, Class::AccessCode),
            4..=6 if is_at_lock && !is_year(&text[number.clone()]) => {
                push(number, Class::AccessCode);
            }
            3..=8 if is_door && (digits > 3 || has(CODE)) => push(number, Class::AccessCode),
            4..=8 if is_unlocked => push(number, Class::Pin),
            4..=8 if is_sent || (is_confirmed || is_delivered) && digits == 6 => {
                push(number, Class::OneTimeCode);
            }
            4 if has_cards && ["cid", "cvv", "cvc", "cvv2", "code", "csc"].contains(&before) => {
                push(number, Class::Card);
            }
            3 if is_beside_card(number.start) => push(number, Class::Card),
            _ if is_bank && (6..=20).contains(&digits) => push(number, Class::Account),
            _ => {}
        }
    }
}

/// Digits in one piece or joined by dashes, which are no date, time or amount; `G-892468` as well.
fn number(text: &str, word: &Word<'_>) -> Option<Range<usize>> {
    let sent = word.text.strip_prefix("G-");
    let digits = sent.unwrap_or(word.text).trim_matches(['#', '*']);
    let start = digits.as_ptr().addr() - text.as_ptr().addr();
    let is_number = digits
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'#' | b'*'))
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.ends_with(|c: char| c.is_ascii_digit());
    let before = &text[..start];
    let behind = &text[start + digits.len()..];
    let is_part = before.ends_with(['$', '€', '£', '.', ':', '/', '+', '-', '=', '@'])
        && sent.is_none()
        || behind.starts_with(['%', '€', '$', '/', '°'])
        || behind.starts_with([':', '.', ','])
            && behind[1..].starts_with(|c: char| c.is_ascii_digit());
    (is_number && !is_part && !ids::is_date(digits)).then(|| start..start + digits.len())
}

/// `C19Y`, `B47A2`: capitals and digits.
pub(super) fn is_short_code(word: &str) -> bool {
    (4..=9).contains(&word.chars().count())
        && word.chars().all(|c| c.is_uppercase() || c.is_ascii_digit())
        && word.chars().filter(char::is_ascii_digit).count() >= 2
        && word.chars().any(char::is_uppercase)
}

/// Whether a number before this word tells how many of it there are.
fn is_counted(next: &str, is_beside: bool) -> bool {
    const NO_PLURALS: [&str; 10] = [
        "this", "is", "was", "as", "thanks", "always", "works", "opens", "gets", "unlocks",
    ];
    let small = next.to_lowercase();
    UNITS.contains(&small.as_str())
        || is_beside
            && small.len() >= 4
            && small.ends_with('s')
            && small.bytes().all(|b| b.is_ascii_lowercase())
            && !NO_PLURALS.contains(&small.as_str())
}

fn is_year(number: &str) -> bool {
    number.len() == 4 && (number.starts_with("19") || number.starts_with("20"))
}

/// The turns of a lock: `left 42, right 17, left 88`.
fn turns(words: &[Word<'_>], said: Cues, found: &mut Vec<Found>) {
    let is_number =
        |word: &Word<'_>| word.text.len() <= 3 && word.text.bytes().all(|b| b.is_ascii_digit());
    let n_turns = words.iter().filter(|word| word.cues & LEFT != 0).count();
    let n_numbers = words.iter().filter(|word| is_number(word)).count();
    if said & (LOCK | CODE) == 0 || n_turns < 2 || n_numbers < 2 {
        return;
    }
    let is_turn = |word: &&Word<'_>| word.cues & LEFT != 0 || is_number(word);
    let (first, last) = (words.iter().find(is_turn), words.iter().rfind(is_turn));
    if let (Some(first), Some(last)) = (first, last) {
        found.push(Found {
            place: first.at..last.at + last.text.len(),
            class: Class::AccessCode,
        });
    }
}

/// The same in Chinese: `左转15再右转40`.
fn unspaced_turns(text: &str) -> Option<Found> {
    let (first, last) = (text.find(['左', '右'])?, text.rfind(['左', '右'])?);
    let is_lock = ["锁", "保险", "柜", "密码"]
        .iter()
        .any(|it| text.contains(it));
    let digits = |c: char| c.is_ascii_digit();
    let end = last + text[last..].find(digits)?;
    let end = end
        + text[end..]
            .find(|c: char| !digits(c))
            .unwrap_or(text.len() - end);
    let is_near = end - first <= BESIDE_CARD && text[first..last].contains(digits);
    (is_lock && is_near).then_some(Found {
        place: first..end,
        class: Class::AccessCode,
    })
}

/// The words of a wallet: plain words in a row, without those that hold sentences together.
fn seeds(text: &str, words: &[Word<'_>], found: &mut Vec<Found>) {
    let is_number =
        |word: &Word<'_>| word.text.len() <= 2 && word.text.bytes().all(|b| b.is_ascii_digit());
    let may_be = |word: &Word<'_>| {
        (3..=8).contains(&word.text.len())
            && word.text.bytes().all(|b| b.is_ascii_lowercase())
            && !NOT_IN_SEED.contains(&word.text)
    };
    let is_named = words.iter().any(|word| word.cues & SEED != 0);
    let min = if is_named {
        SEED_WORDS_NAMED
    } else {
        SEED_WORDS
    };
    let mut row: Vec<&Word<'_>> = Vec::new();
    let mut end_row = |row: &mut Vec<&Word<'_>>| {
        let many = row.iter().filter(|word| !is_number(word)).count();
        if let (Some(first), Some(last)) = (row.first(), row.last())
            && many >= min
            && is_varied(row)
        {
            found.push(Found {
                place: first.at..last.at + last.text.len(),
                class: Class::RecoveryPhrase,
            });
        }
        row.clear();
    };
    for word in words {
        let is_apart = row.last().is_some_and(|last: &&Word<'_>| {
            let between = &text[last.at + last.text.len()..word.at];
            between.contains([
                '.', ',', ';', ':', '(', ')', '/', '=', '{', '}', '"', '|', '`',
            ]) && !is_named
                || between.contains([';', '(', ')', '{', '}', '=', '|', '/'])
        });
        if is_apart {
            end_row(&mut row);
        }
        if may_be(word) || is_number(word) && is_named {
            row.push(word);
        } else {
            end_row(&mut row);
        }
    }
    end_row(&mut row);
}

/// Whether most words stand there once.
fn is_varied(row: &[&Word<'_>]) -> bool {
    let words: std::collections::HashSet<&str> = row.iter().map(|word| word.text).collect();
    words.len() * 4 >= row.len() * 3
}

/// What is answered to a security question.
///
/// Returns whether one was asked and not answered.
fn answers(
    text: &str,
    sentence: &Range<usize>,
    words: &[Word<'_>],
    said: Cues,
    may_ask: bool,
    found: &mut Vec<Found>,
) -> bool {
    let said_whole = &text[sentence.clone()];
    let is_asked = said & ASKED != 0
        || may_ask && {
            let small = said_whole.to_lowercase();
            QUESTIONS.iter().any(|question| small.contains(question))
        };
    if !is_asked {
        return false;
    }
    if said_whole.trim_end().ends_with('?') {
        return true;
    }
    let mut push = |place: Range<usize>| {
        found.push(Found {
            place,
            class: Class::Password,
        });
    };
    if let Some(quoted) = quoted(said_whole) {
        push(sentence.start + quoted.start..sentence.start + quoted.end);
        return false;
    }
    // Behind the last word that tells it.
    let is_verb = |word: &Word<'_>| {
        let small = word.text.to_lowercase();
        ANSWER_VERBS.contains(&small.as_str())
            || text[word.at + word.text.len()..].starts_with([':', '='])
    };
    let behind = words.iter().rposition(is_verb).map(|at| &words[at + 1..]);
    if let Some([first, ..]) = behind {
        let clause = phrase::clause(text, first.at);
        let said = &text[clause.clone()];
        if said.split_whitespace().count() <= 4
            && !phrase::is_talk(said, Kind::Password)
            && !nearby::talks(said)
        {
            push(clause);
            return false;
        }
    }
    // `persimmon, my memorable word`
    let apposed = words.windows(2).find(|pair| {
        ["my", "the", "our"].contains(&pair[1].text)
            && text[pair[0].at + pair[0].text.len()..].starts_with(',')
    });
    if let Some([word, _]) = apposed {
        push(word.at..word.at + word.text.len());
        return false;
    }
    // A name.
    let tells = said & ASKED != 0
        || words
            .iter()
            .any(|word| TOLD.contains(&word.text.to_lowercase().as_str()));
    if !tells {
        return false;
    }
    let is_name = |word: &Word<'_>| word.text.starts_with(char::is_uppercase) && word.cues == 0;
    let last = words.iter().skip(1).rposition(is_name).map(|at| at + 1);
    if let Some(last) = last {
        let particle =
            ["von", "van", "de", "der", "la", "di", "da", "mac"].contains(&words[last - 1].text);
        let first = if particle { last - 1 } else { last };
        let follows = words
            .get(last + 1)
            .filter(|next| next.text == "opa" || next.text == "aka");
        let end = follows.unwrap_or(&words[last]);
        push(words[first].at..end.at + end.text.len());
    }
    false
}

/// What is said behind a security question: `answer: …`, or nothing else than it.
fn answer_to(text: &str, words: &[Word<'_>], found: &mut Vec<Found>) {
    let is_verb = |word: &Word<'_>| ANSWER_VERBS.contains(&word.text.to_lowercase().as_str());
    let behind = words
        .iter()
        .rposition(is_verb)
        .map_or(words, |at| &words[at + 1..]);
    let ([first, ..], [.., last]) = (behind, behind) else {
        return;
    };
    let place = first.at..last.at + last.text.len();
    let said = &text[place.clone()];
    if behind.len() <= 4 && !nearby::talks(said) && !phrase::is_talk(said, Kind::Password) {
        found.push(Found {
            place,
            class: Class::Password,
        });
    }
}

fn quoted(text: &str) -> Option<Range<usize>> {
    for (open, close) in [('"', '"'), ('“', '”'), ('«', '»'), ('„', '“')] {
        if let Some(start) = text.find(open) {
            let from = start + open.len_utf8();
            if let Some(length) = text[from..].find(close).filter(|length| *length >= 2) {
                return Some(from..from + length);
            }
        }
    }
    None
}

/// Whether a text, in small letters, speaks of a security question.
fn asks(small: &str) -> bool {
    const SECURITY: [&str; 6] = ["security", "secret", "recover", "verif", "bank", "reset"];
    let has = |words: &[&str]| words.iter().any(|word| small.contains(word));
    has(QUESTIONS) || has(super::words::WEAK_QUESTIONS) && has(&SECURITY)
}

/// `Rutabaga_12`, `wobbly-penguin-3`, `raspberry!jam`: words with a number or a sign, as people make passwords of them.
fn is_made_of_words(token: &str) -> bool {
    let letters = token.chars().filter(|c| c.is_alphabetic()).count();
    let body = token.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = token.len() - body.len();
    let words = body.trim_end_matches(['-', '_', '.']);
    let first = words
        .split(['-', '_', '.'])
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let is_plain = words
        .chars()
        .all(|c| c.is_alphabetic() || c == '-' || c == '_');
    let is_numbered = (1..=4).contains(&digits) && is_plain && letters >= 5;
    let has_sign = token.contains(['!', '$', '&', '%'])
        && !token.ends_with(['!', '%', '$'])
        && letters >= 6
        && token
            .chars()
            .all(|c| c.is_alphanumeric() || "!$&%-_".contains(c));
    (is_numbered || has_sign)
        && !NUMBERED.contains(&first.as_str())
        && !nearby::is_name_with_number(words)
}
