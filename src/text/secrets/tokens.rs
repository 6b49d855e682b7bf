//! A text cut into words and signs, as the tagger reads it. Unit: a window.
//!
//! A value is one token wherever that is possible: it is cut at its edges, and behind a name (`key=…`, `user:…`).

use std::ops::Range;

use super::MASK;
use super::labels::{self, Label};
use crate::text::linear;

/// What a token looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Edge,
    Mask,
    Stop,
    Comma,
    Colon,
    Quote,
    Bracket,
    Sign,
    Letter,
    Lower,
    Capital,
    Upper,
    Camel,
    Unspaced,
    Digits,
    Number,
    Named,
    Mixed,
    Signed,
    Joined,
    JoinedMixed,
    Hex,
    Uuid,
    Path,
    Mail,
    Placeholder,
    Code,
}

impl Kind {
    pub(super) fn is_punctuation(self) -> bool {
        (Self::Stop..=Self::Sign).contains(&self)
    }

    pub(super) fn is_word(self) -> bool {
        (Self::Letter..=Self::Unspaced).contains(&self)
    }

    /// Returns whether it is a word of a script that writes blanks between words.
    pub(super) fn is_spaced_word(self) -> bool {
        matches!(self, Self::Lower | Self::Capital | Self::Upper)
    }

    /// Whether it may be a secret that nothing names.
    pub(super) fn is_strange(self) -> bool {
        matches!(
            self,
            Self::Digits
                | Self::Number
                | Self::Mixed
                | Self::Signed
                | Self::Joined
                | Self::JoinedMixed
                | Self::Hex
                | Self::Camel
        )
    }
}

/// What stands before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    Glued,
    Blank,
    Line,
    Paragraph,
}

#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) start: usize,
    pub(super) text: &'t str,
    pub(super) kind: Kind,
    pub(super) gap: Gap,
    pub(super) label: Label,
    /// Hash of the word, or of the shape of what is no word.
    pub(super) id: u64,
    pub(super) shape: u64,
    pub(super) is_quoted: bool,
}

impl Token<'_> {
    pub(super) fn place(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

const QUOTES: &str = "\"'`“”„«»‘’‚「」『』";
const OPENING: &str = "\"'`“”„«»‘’‚「」『』([{<*（【";
const CLOSING: &str = ".,;:?!)]}>\"'`“”„«»‘’…*";
/// Always tokens of their own.
const APART: &str = "\"`“”„«»「」『』，。！？；：、（）【】—–→|<>;…";

/// Whether a script writes such characters without blanks.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF)
}

pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Tokens {
        text,
        read: Vec::with_capacity(text.len() / 4),
        lower: String::new(),
        gap: Gap::Line,
        is_quoted: false,
    };
    let mut at = 0;
    while at < text.len() {
        let blank = text[at..]
            .find(|c: char| !c.is_whitespace())
            .unwrap_or(text.len() - at);
        if blank > 0 {
            let lines = text[at..at + blank].bytes().filter(|b| *b == b'\n').count();
            tokens.gap = match lines {
                0 => Gap::Blank,
                1 => Gap::Line,
                _ => Gap::Paragraph,
            };
            at += blank;
        }
        let run = text[at..]
            .find(char::is_whitespace)
            .unwrap_or(text.len() - at);
        tokens.run(at, at + run);
        at += run;
    }
    tokens.read
}

struct Tokens<'t> {
    text: &'t str,
    read: Vec<Token<'t>>,
    lower: String,
    gap: Gap,
    is_quoted: bool,
}

impl Tokens<'_> {
    /// Cuts what stands between two blanks.
    fn run(&mut self, start: usize, end: usize) {
        let text = self.text;
        let mut at = start;
        while at < end {
            let rest = &text[at..end];
            let first = rest.chars().next().unwrap_or(' ');
            let length = if rest.starts_with(MASK) {
                MASK.len()
            } else if let Some((length, _)) =
                is_unspaced(first).then(|| labels::unspaced(rest)).flatten()
            {
                length
            } else if !first.is_ascii_alphanumeric()
                && (is_unspaced(first) || OPENING.contains(first) || APART.contains(first))
            {
                if rest.starts_with("${")
                    || rest.starts_with("{{")
                    || rest.starts_with('<')
                        && rest.find('>').is_some_and(|at| at > 2)
                        && !rest[1..].starts_with('/')
                        && !rest.contains("</")
                {
                    placeholder(rest)
                } else {
                    first.len_utf8()
                }
            } else {
                core(rest, at > start)
            };
            self.push(at, at + length);
            at += length;
        }
    }

    fn push(&mut self, start: usize, end: usize) {
        let text = &self.text[start..end];
        let kind = kind(text);
        if kind == Kind::Quote || self.gap == Gap::Paragraph {
            self.is_quoted = kind == Kind::Quote && !self.is_quoted;
        }
        self.lower.clear();
        if text.is_ascii() {
            self.lower.push_str(&text[..text.len().min(64)]);
            self.lower.make_ascii_lowercase();
        } else {
            let chars = text.chars().take(64);
            self.lower.extend(chars.flat_map(char::to_lowercase));
        }
        let label = match kind {
            Kind::Unspaced => labels::unspaced(text).map_or(Label::Plain, |(_, label)| label),
            _ if kind > Kind::Sign => labels::label(&self.lower),
            _ => Label::Plain,
        };
        let shape = shape(text);
        let is_named = kind <= Kind::Sign || kind.is_word() || label != Label::Plain;
        self.read.push(Token {
            start,
            text,
            kind,
            gap: self.gap,
            label,
            id: if is_named {
                linear::hash(&self.lower)
            } else {
                shape
            },
            shape,
            is_quoted: self.is_quoted,
        });
        self.gap = Gap::Glued;
    }
}

fn placeholder(rest: &str) -> usize {
    let end = rest.find(['}', '>']).map_or(1, |at| at + 1);
    end + usize::from(rest[end..].starts_with('}'))
}

/// The length of a word or a value that begins here, at a blank or behind another one.
fn core(rest: &str, is_behind: bool) -> usize {
    let mut end = rest.len();
    let bytes = rest.as_bytes();
    for (at, c) in rest.char_indices().skip(1) {
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let behind_name = |min| {
            at >= min
                && rest[..at]
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b) || b >= 128)
                && rest.starts_with(char::is_alphabetic)
        };
        let cuts = match c {
            ',' => !(is_digit(at - 1) && is_digit(at + 1)),
            ':' => {
                behind_name(2) && !rest[at..].starts_with("://") && !rest[at..].starts_with("::")
            }
            '=' => behind_name(2),
            '/' => behind_name(2) && !rest[at + 1..].contains(['/', '.']) && at + 1 < rest.len(),
            '[' => rest[at..].starts_with(MASK),
            c if c.is_ascii_alphanumeric() => false,
            c => is_unspaced(c) || APART.contains(c),
        };
        if cuts {
            end = at;
            break;
        }
    }
    if is_behind
        && matches!(rest.as_bytes()[0], b'=' | b':' | b'/')
        && end > 1
        && !rest.starts_with("=>")
        && !rest.starts_with("://")
    {
        // Behind the name.
        return 1;
    }
    let trimmed = rest[..end].trim_end_matches(|c| CLOSING.contains(c));
    if trimmed.is_empty() {
        rest.chars().next().map_or(1, char::len_utf8)
    } else {
        trimmed.len()
    }
}

/// `www.example.com`
fn is_host(text: &str) -> bool {
    const ENDS: [&str; 14] = [
        "com", "org", "net", "eu", "io", "de", "at", "ch", "fr", "es", "it", "ru", "uz", "dev",
    ];
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.';
    let end = text.rsplit_once('.').map_or("", |(_, end)| end);
    text.bytes().all(is_plain) && (ENDS.contains(&end) || text.starts_with("www."))
}

fn kind(text: &str) -> Kind {
    if text == MASK {
        return Kind::Mask;
    }
    let mut chars = text.chars();
    let first = chars.next().unwrap_or(' ');
    let is_one = chars.next().is_none();
    if is_unspaced(first) {
        return Kind::Unspaced;
    }
    if is_one {
        return match first {
            '.' | '!' | '?' | '。' | '！' | '？' | '…' => Kind::Stop,
            ',' | ';' | '，' | '；' | '、' => Kind::Comma,
            ':' | '=' | '：' | '—' | '–' | '-' | '→' => Kind::Colon,
            c if QUOTES.contains(c) => Kind::Quote,
            c if "()[]{}<>（）【】".contains(c) => Kind::Bracket,
            c if c.is_ascii_digit() => Kind::Digits,
            c if c.is_alphabetic() => Kind::Letter,
            _ => Kind::Sign,
        };
    }
    if matches!(text, "->" | "=>" | "==" | "--" | ":=" | "==>" | "-->") {
        return Kind::Colon;
    }
    let (
        mut lower,
        mut upper,
        mut digits,
        mut joins,
        mut signs,
        mut dots,
        mut slashes,
        mut changes,
    ) = (0, 0, 0, 0, 0, 0, 0, 0);
    let mut last_digit = first.is_ascii_digit();
    let mut inner_upper = 0;
    for (at, c) in text.char_indices() {
        let is_digit = c.is_ascii_digit();
        match c {
            _ if is_digit => digits += 1,
            '-' | '_' | '\'' | '’' => joins += 1,
            '.' | ':' | ',' => dots += 1,
            '/' | '\\' => slashes += 1,
            _ if c.is_uppercase() => {
                upper += 1;
                inner_upper += usize::from(at > 0);
            }
            _ if c.is_alphabetic() => lower += 1,
            _ => signs += 1,
        }
        changes += usize::from(at > 0 && is_digit != last_digit);
        last_digit = is_digit;
    }
    let letters = lower + upper;
    let others = joins + dots + signs + slashes;
    let is_hex = || text.bytes().all(|b| b.is_ascii_hexdigit()) && (upper == 0 || lower == 0);
    let is_dotted = dots > 0 && !text.ends_with('.');
    if text.starts_with("${")
        || text.starts_with("{{")
        || first == '<' && text.len() > 2
        || first == '$' && upper + joins + 1 == text.chars().count() && upper > 1
        || letters > 1 && text.chars().all(|c| "xX*.•-".contains(c))
        || letters + digits == 0 && text.contains(['*', '•'])
    {
        return Kind::Placeholder;
    }
    // `://` has two.
    if slashes > 1
        || slashes == 1 && letters + digits > 0 && !(digits > 0 && letters == 0)
        || text.starts_with("~/")
        || dots > 0 && is_host(text)
    {
        return Kind::Path;
    }
    if signs > 0
        && text
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
    {
        return Kind::Mail;
    }
    if digits + letters == 0 {
        return Kind::Sign;
    }
    if text.len() == 36 && text.bytes().filter(|b| *b == b'-').count() == 4 {
        return Kind::Uuid;
    }
    if signs > 0
        && text.contains(['(', ')', '{', '}', '&', '[', ']'])
        && text.contains(['(', '{', '['])
        && letters > digits
    {
        return Kind::Code;
    }
    match () {
        () if letters == 0 && others == 0 => Kind::Digits,
        () if letters == 0 => Kind::Number,
        () if digits > 0 && letters > 0 && text.len() >= 7 && is_hex() => Kind::Hex,
        () if signs > 0 => Kind::Signed,
        () if digits == 0 && joins + dots == 0 => {
            if upper == 0 {
                Kind::Lower
            } else if inner_upper == 0 {
                Kind::Capital
            } else if lower == 0 {
                Kind::Upper
            } else {
                Kind::Camel
            }
        }
        () if digits == 0 && is_dotted => Kind::Joined,
        () if digits == 0 => {
            if text.contains(['\'', '’']) && joins == 1 {
                Kind::Lower
            } else {
                Kind::Joined
            }
        }
        () if joins + dots > 0 => Kind::JoinedMixed,
        () if changes == 1 && (inner_upper == 0 || lower == 0) => Kind::Named,
        () => Kind::Mixed,
    }
}

/// Classes of characters, each row of equal ones as one or as "many".
fn shape(text: &str) -> u64 {
    let class = |c: char| match c {
        '0'..='9' => 1,
        'a'..='z' => 2,
        'A'..='Z' => 3,
        c if c.is_ascii() => 16 + u64::from(c),
        c if c.is_uppercase() => 5,
        c if is_unspaced(c) => 6,
        c if c.is_alphabetic() => 4,
        c => 256 + u64::from(c),
    };
    let mut last = (0, 0_u64);
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut mix = |(class, count): (u64, u64)| {
        if count > 0 {
            // Rows of digits by their length.
            let count = if class == 1 {
                count.min(9)
            } else {
                count.min(3)
            };
            hash = (hash ^ (class * 16 + count)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    };
    for c in text.chars().take(40) {
        let class = class(c);
        if class == last.0 {
            last.1 += 1;
        } else {
            mix(last);
            last = (class, 1);
        }
    }
    mix(last);
    hash
}
