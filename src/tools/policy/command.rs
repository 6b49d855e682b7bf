//! Command lines as a shell reads them, and which of them a remembered prefix covers.
//!
//! A prefix covers one simple command that begins with its words and adds nothing but options and operands that
//! [`options`] lists as harmless. Everything else asks again: several commands, redirections, substitutions, unlisted
//! options. Outside of the sandbox no operand is harmless: `git push x` runs the hooks of a repository that lies at
//! `x`.

use super::options::{self, Operands, Row, Style};
use crate::tools::quotes::{Piece, pieces};

/// Characters by which one command line becomes several, or writes somewhere, or holds another one.
pub(super) const JOINTS: [char; 13] = [
    ';', '|', '&', '$', '`', '<', '>', '(', ')', '{', '}', '\n', '\r',
];
const GLOBS: [char; 3] = ['*', '?', '['];

/// One word of a simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    text: String,
    /// Whether any of it is quoted or escaped.
    quoted: bool,
    glob: Glob,
}

/// Where an unquoted pattern stands in a word. One at the beginning can become a file name that looks like an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Glob {
    #[default]
    None,
    Leading,
    Inner,
}

impl Word {
    fn push(&mut self, character: char, quoted: bool) {
        if !quoted && self.glob == Glob::None && GLOBS.contains(&character) {
            self.glob = if self.text.is_empty() {
                Glob::Leading
            } else {
                Glob::Inner
            };
        }
        self.quoted |= quoted;
        self.text.push(character);
    }

    /// Returns whether it means itself: no path, no quotes, nothing that a shell replaces.
    fn is_plain(&self) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+:@".contains(c);
        !self.quoted && self.text.chars().all(is_plain)
    }

    fn is_option(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('-')
    }

    /// Returns whether it can be the value of an option. Another option would be hidden there if the table erred; an
    /// address loads from elsewhere.
    fn is_value(&self) -> bool {
        let is_negative = self.text.strip_prefix('-').is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(|digit: char| digit.is_ascii_digit())
        });
        self.glob != Glob::Leading
            && (is_negative || !self.text.starts_with('-'))
            && !self.text.contains("://")
    }
}

/// Splits a command line that is one simple command into its words; `None` for anything else.
pub(super) fn words(line: &str) -> Option<Vec<Word>> {
    let is_odd = |c: char| c.is_control() && c != '\t' || c.is_whitespace() && !" \t".contains(c);
    if line.contains(is_odd) {
        return None;
    }
    let (mut words, mut word) = (Vec::new(), None::<Word>);
    for piece in pieces(line) {
        match piece {
            Piece::Bare(' ' | '\t') => words.extend(word.take()),
            Piece::Bare(joint) if JOINTS.contains(&joint) => return None,
            Piece::Bare(other) => word.get_or_insert_default().push(other, false),
            Piece::Escaped(other) => word.get_or_insert_default().push(other, true),
            Piece::Quoted {
                text,
                expands: false,
                is_closed: true,
            } => {
                let word = word.get_or_insert_default();
                // Empty quotes are a word too.
                word.quoted = true;
                text.chars().for_each(|other| word.push(other, true));
            }
            Piece::Quoted { .. } | Piece::Unfinished => return None,
        }
    }
    words.extend(word);
    Some(words)
}

/// What may follow the words of a prefix, where a table lists it as harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Further {
    OptionsAndOperands,
    /// Options alone: for commands that leave the sandbox.
    Options,
}

/// The words of a command that tell what it does, `cargo test` or `ls`, where they cover the command itself; all of its
/// words where they only cover it as a whole.
pub(super) fn prefix(command: &str, further: Further) -> Option<String> {
    let prefix = short_prefix(command)?;
    if covers(&prefix, command, further) {
        return Some(prefix);
    }
    let means_itself = |word: &Word| word.glob == Glob::None;
    let command = command.trim();
    let is_whole = words(command)?.iter().all(means_itself) && covers(command, command, further);
    is_whole.then(|| command.to_owned())
}

fn short_prefix(command: &str) -> Option<String> {
    let words = words(command)?;
    let program = words.first().filter(|word| word.is_plain())?;
    let prefix = if options::has_subcommands(&program.text) {
        let subcommand = words.get(1).filter(|word| is_subcommand(word))?;
        format!("{} {}", program.text, subcommand.text)
    } else {
        options::row(&program.text, "")?;
        program.text.clone()
    };
    covers(&prefix, command, Further::OptionsAndOperands).then_some(prefix)
}

/// Returns whether a word names what a program does; `cargo +nightly` does not.
fn is_subcommand(word: &Word) -> bool {
    word.is_plain()
        && word.text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !options::RUNNING.contains(&&word.text[..])
}

/// Returns whether a prefix covers a command.
pub(super) fn covers(prefix: &str, command: &str, further: Further) -> bool {
    let (Some(prefix), Some(words)) = (words(prefix), words(command)) else {
        return false;
    };
    !prefix.is_empty()
        && words.starts_with(&prefix)
        && adds_only_harmless(&words, prefix.len(), further)
}

/// Returns whether nothing but harmless options and operands follows the first `named` words, which a person allowed by
/// name.
fn adds_only_harmless(words: &[Word], named: usize, further: Further) -> bool {
    let program = &words[0].text;
    let subcommand = words.get(1).filter(|word| is_subcommand(word));
    let subcommand = subcommand.map_or("", |word| &word.text);
    if let Some(row) = options::row(program, "") {
        return allows(row, &words[named.max(1)..], further);
    }
    match options::row(program, subcommand) {
        Some(row) => allows(row, &words[named.max(2)..], further),
        // Of a program or subcommand without a row nobody knows what its options do.
        None if options::has_subcommands(program) || further == Further::Options => {
            words.len() == named
        }
        None => !words[named..]
            .iter()
            .any(|word| word.is_option() || word.glob == Glob::Leading),
    }
}

/// What the table says of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Complete,
    /// The next word is its value.
    WantsValue,
    Unknown,
}

fn allows(row: &Row, words: &[Word], further: Further) -> bool {
    let mut operands = 0;
    let mut listed = Some(row.options);
    let mut is_needed_there = row.needs.is_empty();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word.text == "--" && listed == Some(row.options) {
            listed = row.passed_on;
            continue;
        }
        match listed {
            _ if word.glob == Glob::Leading && row.operands != Operands::Patterns => return false,
            Some(listed) if word.is_option() => match known(row.style, listed, &word.text) {
                Known::Unknown => return false,
                Known::Complete => is_needed_there |= row.needs.contains(&&word.text[..]),
                Known::WantsValue => {
                    if !words.next().is_some_and(Word::is_value) {
                        return false;
                    }
                }
            },
            _ => {
                operands += 1;
                if further == Further::Options || !allows_operand(row.operands, word, operands) {
                    return false;
                }
            }
        }
    }
    is_needed_there
}

/// Looks an option up: whole, with its value behind `=` or joined, or as a cluster of letters.
fn known(style: Style, listed: &[&str], option: &str) -> Known {
    let has = |wanted: &str| {
        let mut listed = listed.iter().flat_map(|some| some.split_ascii_whitespace());
        listed.any(|it| it == wanted)
    };
    let takes_value = |name: &str| has(&format!("{name}:"));
    if option.contains("://") {
        return Known::Unknown;
    }
    if has(option) {
        return Known::Complete;
    }
    if takes_value(option) {
        return Known::WantsValue;
    }
    if style == Style::Words || option.starts_with("--") {
        return match option.split_once('=') {
            Some((name, _)) if has(name) || takes_value(name) => Known::Complete,
            _ => Known::Unknown,
        };
    }
    let letters = &option[1..];
    for (at, letter) in letters.char_indices() {
        let rest = &letters[at + letter.len_utf8()..];
        if takes_value(&format!("-{letter}")) {
            return if rest.is_empty() {
                Known::WantsValue
            } else {
                Known::Complete
            };
        }
        if has("-#") && letters[at..].chars().all(|c| c.is_ascii_digit()) {
            return Known::Complete;
        }
        if !has(&format!("-{letter}")) {
            return Known::Unknown;
        }
    }
    Known::Complete
}

/// `count`: how many operands there are with this one.
fn allows_operand(operands: Operands, word: &Word, count: usize) -> bool {
    let text = &word.text;
    match operands {
        Operands::Any | Operands::Patterns => true,
        Operands::Paths => !text.starts_with('@'),
        Operands::None => false,
        Operands::One => count == 1 && word.glob == Glob::None,
        Operands::Format => text.starts_with('+'),
        Operands::Plain => text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-+:@/".contains(c)),
        Operands::Remote if count == 1 => !text.contains([':', '/']) && !text.starts_with('.'),
        // `+main` overwrites, `:main` deletes.
        Operands::Remote => !text.starts_with(['+', ':']) && word.glob == Glob::None,
    }
}

#[cfg(test)]
mod tests;
