//! Messages made of wordings: `frames.txt` says how its lines are read.

use crate::learning::Random;
use crate::varying;

/// A text with the places of its secrets.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) text: String,
    pub(crate) secrets: Vec<String>,
    /// Number of its frame.
    pub(crate) frame: usize,
}

/// Returns messages of all frames, each several times with other words.
pub(crate) fn messages(frames: &str, words: &[String], random: &mut Random) -> Vec<Made> {
    let mut lists: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut made = Vec::new();
    for (number, line) in frames
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#') && !line.is_empty())
    {
        if let Some((name, list)) = line
            .strip_prefix('@')
            .and_then(|line| line.split_once(" = "))
            .filter(|(name, _)| name.chars().all(char::is_alphanumeric))
        {
            lists.push((name, list.split('|').collect()));
            lists.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
            continue;
        }
        let frame = line
            .strip_prefix("- ")
            .filter(|_| !line.contains(", [v]") || !line.starts_with("- @app"))
            .unwrap_or(line);
        let times = (frame.matches(['|', '@']).count() * 2 + frame.matches('[').count() * 4)
            .clamp(6, TIMES);
        for _ in 0..times {
            let listed = with_lists(frame, &lists, random);
            let is_cyrillic = |text: &str| text.contains(|c| ('а'..='я').contains(&c));
            let of_script: Vec<String> = if is_cyrillic(frame) && random.chance(60) {
                words.iter().filter(|it| is_cyrillic(it)).cloned().collect()
            } else {
                Vec::new()
            };
            let words = if of_script.is_empty() {
                words
            } else {
                &of_script
            };
            made.push(Made {
                frame: number,
                ..with_values(&with_choices(&listed, random), words, random)
            });
        }
    }
    made
}

/// Messages of one frame.
const TIMES: usize = 30;

fn with_lists(frame: &str, lists: &[(&str, Vec<&str>)], random: &mut Random) -> String {
    let mut text = String::new();
    let mut rest = frame;
    while let Some(at) = rest.find('@') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some((name, list)) = lists.iter().find(|(name, _)| rest.starts_with(name)) {
            text.push_str(list[random.below(list.len())]);
            rest = &rest[name.len()..];
        } else {
            text.push('@');
        }
    }
    text + rest
}

/// One of each choice; brackets without a choice stay.
fn with_choices(frame: &str, random: &mut Random) -> String {
    let mut text = frame.to_owned();
    while let Some(end) = text.find(')') {
        let Some(start) = text[..end].rfind('(') else {
            text.replace_range(end..=end, "\u{2}");
            continue;
        };
        let inner = &text[start + 1..end];
        let choices: Vec<&str> = inner.split('|').collect();
        let new = if choices.len() > 1 {
            (*random.one(&choices)).to_owned()
        } else {
            format!("\u{1}{inner}\u{2}")
        };
        text.replace_range(start..=end, &new);
    }
    text.replace('\u{1}', "(")
        .replace('\u{2}', ")")
        .replace("\\n", "\n")
}

fn with_values(frame: &str, words: &[String], random: &mut Random) -> Made {
    let mut made = Made::default();
    let mut rest = frame;
    while let Some(at) = rest.find(['[', '{']) {
        let is_secret = rest[at..].starts_with('[');
        made.text.push_str(&rest[..at]);
        let close = if is_secret { ']' } else { '}' };
        let value = rest[at..]
            .find(close)
            .and_then(|end| Some((end, value(&rest[at + 1..at + end], words, random)?)));
        if let Some((end, value)) = value {
            made.text.push_str(&value);
            if is_secret {
                made.secrets.push(value);
            }
            rest = &rest[at + end + 1..];
        } else {
            made.text.push_str(&rest[at..=at]);
            rest = &rest[at + 1..];
        }
    }
    made.text.push_str(rest);
    if random.chance(25) {
        // People begin as they like.
        let mut chars = made.text.chars();
        let first = chars.next().unwrap_or(' ');
        if made
            .secrets
            .iter()
            .all(|it| !made.text.starts_with(it.as_str()))
        {
            made.text = first.to_uppercase().collect::<String>() + chars.as_str();
        }
    }
    made
}

const DIGITS: &[&[&str]] = &[
    &[
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    ],
    &[
        "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "niner",
    ],
    &[
        "null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun",
    ],
    &[
        "cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve",
    ],
    &[
        "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf",
    ],
    &[
        "ноль",
        "один",
        "два",
        "три",
        "четыре",
        "пять",
        "шесть",
        "семь",
        "восемь",
        "девять",
    ],
    &[
        "nol", "bir", "ikki", "uch", "to'rt", "besh", "olti", "yetti", "sakkiz", "to'qqiz",
    ],
];

/// A value of a kind.
fn value(kind: &str, words: &[String], random: &mut Random) -> Option<String> {
    let word = |random: &mut Random| random.one(words).clone();
    let capital = |word: String| varying::capital(&word);
    let of = |signs: &str, length: usize, random: &mut Random| -> String {
        let signs: Vec<char> = signs.chars().collect();
        (0..length).map(|_| *random.one(&signs)).collect()
    };
    let (small, capitals, digits) = (
        "abcdefghijklmnopqrstuvwxyz",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "0123456789",
    );
    let all = format!("{small}{capitals}{digits}");
    let groups = |parts: &[usize], signs: &str, joint: &str, random: &mut Random| {
        let parts: Vec<String> = parts
            .iter()
            .map(|length| of(signs, *length, random))
            .collect();
        parts.join(joint)
    };
    let length = kind
        .trim_start_matches(|c: char| c.is_alphabetic())
        .parse::<usize>()
        .ok();
    let kind = kind.trim_end_matches(|c: char| c.is_ascii_digit());
    Some(match (kind, length) {
        ("n", Some(length)) => {
            let number = of(digits, length, random);
            match random.below(12) {
                0 if length == 6 => format!("{} {}", &number[..3], &number[3..]),
                1 if length == 4 => format!("{} {}", &number[..2], &number[2..]),
                3 if length == 6 || length == 4 => {
                    format!("{}-{}", &number[..length / 2], &number[length / 2..])
                }
                2 if length == 4 => number
                    .chars()
                    .map(String::from)
                    .collect::<Vec<_>>()
                    .join(*random.one(&["-", " "])),
                _ => number,
            }
        }
        ("hex", Some(length)) => of("0123456789abcdef", length, random),
        ("uuid", _) => groups(&[8, 4, 4, 4, 12], "0123456789abcdef", "-", random),
        ("w", _) => word(random),
        ("ws", _) => {
            let count = 2 + random.below(5);
            let words: Vec<String> = (0..count).map(|_| word(random)).collect();
            words.join(*random.one(&[" ", " ", " ", " ", "-"]))
        }
        ("nm", _) => capital(word(random)),
        ("a", _) => match random.below(5) {
            0 => word(random),
            1 => capital(word(random)) + " " + &capital(word(random)),
            2 => word(random) + " " + &word(random),
            _ => capital(word(random)),
        },
        ("p", _) => match random.below(5) {
            0..=2 => varying::made(words, random),
            3 => {
                let length = 8 + random.below(10);
                of(&format!("{all}{digits}!#$%&*@?^+="), length, random)
            }
            _ => {
                let length = 8 + random.below(6);
                of(&all, length, random)
            }
        },
        ("v", _) => {
            let kind = ["p", "p", "p", "w", "w", "a", "ws", "wn"][random.below(8)];
            if kind == "wn" {
                word(random) + &of(digits, 1 + random.below(3), random)
            } else {
                value(kind, words, random)?
            }
        }
        ("half", _) => {
            let length = 3 + random.below(4);
            match random.below(3) {
                0 => of(digits, length, random),
                1 => word(random),
                _ => of(&all, length, random),
            }
        }
        ("dc", _) => match random.below(6) {
            0 => groups(&[2, 2, 2], digits, "-", random),
            1 => of(digits, 4, random) + *random.one(&["#", "*", "A", "B"]),
            2 => of(digits, 6, random),
            3 => of(digits, 3, random),
            _ => of(digits, 4, random),
        },
        ("g", _) => match random.below(5) {
            0 => groups(&[4, 4], &format!("{small}{digits}"), "-", random),
            1 => groups(&[5, 5], &format!("{small}{digits}"), "-", random),
            2 => groups(&[4, 4], digits, " ", random),
            3 => of(digits, 8, random),
            _ => groups(&[4, 4, 4], &format!("{capitals}{digits}"), "-", random),
        },
        ("rk", _) => match random.below(2) {
            0 => groups(&[4; 6], &format!("{capitals}{digits}"), "-", random),
            _ => groups(&[6; 8], digits, "-", random),
        },
        ("lk", _) => match random.below(3) {
            0 => groups(&[5; 5], &format!("{capitals}{digits}"), "-", random),
            1 => groups(&[4; 4], &format!("{capitals}{digits}"), "-", random),
            _ => groups(&[4, 4, 2], &format!("{capitals}{digits}"), "-", random),
        },
        ("k", _) => match random.below(4) {
            0 => of(&all, 24, random),
            1 => of("0123456789abcdef", 32, random),
            2 => word(random) + "_" + &of(&format!("{small}{digits}"), 20, random),
            _ => of(&format!("{all}-_"), 32, random),
        },
        ("s", _) => {
            let count = *random.one(&[6, 8, 12, 12, 24]);
            let words: Vec<String> = (0..count).map(|_| word(random)).collect();
            words.join(*random.one(&[" ", " ", " ", ", "]))
        }
        ("sp", _) => {
            let spelt: Vec<String> = (word(random) + &of(digits, 2, random))
                .chars()
                .map(String::from)
                .collect();
            spelt.join(*random.one(&["-", " ", ", ", " - "]))
        }
        ("nw", _) => {
            let digits = random.one(DIGITS);
            let words: Vec<&str> = (0..4).map(|_| *random.one(digits)).collect();
            words.join(*random.one(&[" ", " ", ", ", "-"]))
        }
        ("id", _) => match random.below(6) {
            0 => groups(&[3, 2, 4], digits, "-", random),
            1 => of(capitals, 2, random) + &of(digits, 7, random),
            2 => groups(&[3, 3, 3], digits, " ", random),
            3 => of(digits, 11, random),
            4 => of(capitals, 1, random) + &of(digits, 8, random),
            _ => of(digits, 8, random) + &of(capitals, 1, random),
        },
        ("acc", _) => {
            let length = 7 + random.below(8);
            of(digits, length, random)
        }
        ("card", _) => groups(&[4; 4], digits, [" ", "-", ""][random.below(3)], random),
        _ => return None,
    })
}
