//! Words of a command line of the shell that may name files that it runs. Unit: one command line. Pure.
//!
//! A guess, on the safe side: variables may hold anything, what is quoted may be a command line itself, and the word
//! behind an option may be its value or what is run.

use std::mem::take;

use crate::tools::quotes::{Piece, pieces};

/// Programs that run the file that their first argument names, wherever they stand: another program may start them.
#[rustfmt::skip] // not one a line
const INTERPRETERS: [&str; 20] = [
    "sh", "bash", "dash", "ash", "zsh", "ksh", "python", "pypy", "node", "nodejs", "deno", "bun", "perl", "ruby", "php",
    "lua", "Rscript", "tclsh", "pwsh", "env",
];

/// Words that a command follows.
#[rustfmt::skip] // not one a line
const PREFIXES: [&str; 15] = [
    ".", "source", "eval", "exec", "command", "builtin", "time", "if", "then", "else", "elif", "while", "until", "do",
    "run",
];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// It stands where a line names what it runs, not among the arguments.
    pub(super) runs: bool,
}

pub(super) fn words(line: &str) -> Vec<Word> {
    let mut found = Vec::new();
    read(line, true, None, &mut found);
    found
}

/// Reads a line that begins where a command stands, or among arguments, behind the `cd` that led to a folder.
fn read(line: &str, runs: bool, folder: Option<String>, found: &mut Vec<Word>) {
    let mut reading = Reading {
        found,
        runs,
        is_behind_option: false,
        folder,
        is_behind_cd: false,
        word: None,
        piece: String::new(),
    };
    let mut pieces = pieces(line).peekable();
    // Where what is in brackets or back quotes stands.
    let mut outer = Vec::new();
    let mut quoted = None;
    while let Some(piece) = pieces.next() {
        let next = match piece {
            Piece::Bare(next) => next,
            Piece::Escaped(next) => {
                reading.push(next);
                continue;
            }
            Piece::Quoted { text, expands, .. } => {
                reading.quote(&text, expands);
                continue;
            }
            Piece::Unfinished => break,
        };
        match next {
            '$' => {
                reading.end_piece();
                if pieces.next_if(|it| it.is(|it| it == '{')).is_some() {
                    while pieces.next().is_some_and(|it| !it.is(|it| it == '}')) {}
                } else if pieces.next_if(|it| it.is(|it| it == '(')).is_some() {
                    outer.push((reading.runs, reading.folder.clone()));
                    reading.begin();
                } else if pieces
                    .next_if(|it| it.is(|it| "@*#?$!-".contains(it)))
                    .is_none()
                {
                    let is_of_name = |it: char| it.is_alphanumeric() || it == '_';
                    while pieces.next_if(|it| it.is(is_of_name)).is_some() {}
                }
            }
            '`' => {
                if let Some(runs) = quoted.take() {
                    reading.go_on(runs);
                } else {
                    reading.end_piece();
                    quoted = Some(reading.runs);
                    reading.begin();
                }
            }
            '(' => {
                reading.end_word();
                outer.push((reading.runs, reading.folder.clone()));
                reading.begin();
            }
            // Of a `case` there is no first one.
            ')' => {
                let (runs, folder) = outer.pop().unwrap_or((true, None));
                reading.go_on(runs);
                reading.folder = folder;
            }
            ';' | '|' | '&' | '\n' => {
                reading.end_word();
                reading.begin();
            }
            '<' | '>' => reading.end_word(),
            _ if next.is_whitespace() => reading.end_word(),
            _ => reading.push(next),
        }
    }
    reading.end_word();
}

/// Bytes of the folder that a row of `cd` leads to, at most: each word is looked for there, too.
const FOLDER_MAX: usize = 256;

struct Reading<'a> {
    found: &'a mut Vec<Word>,
    runs: bool,
    is_behind_option: bool,
    /// Where the last `cd` led.
    folder: Option<String>,
    is_behind_cd: bool,
    /// Without variables; `None` between words.
    word: Option<String>,
    /// The part of it since the last variable.
    piece: String,
}

impl Reading<'_> {
    fn push(&mut self, next: char) {
        self.word.get_or_insert_default().push(next);
        self.piece.push(next);
    }

    /// What is quoted; it `expands` where it holds variables or substitutions.
    fn quote(&mut self, text: &str, expands: bool) {
        if expands {
            self.end_piece();
        }
        read(text, self.runs, self.folder.clone(), self.found);
        let word = self.word.get_or_insert_default();
        // A variable alone may hold the name of an interpreter.
        if !expands || text.contains('/') {
            word.push_str(text);
        }
        if !expands {
            self.piece.push_str(text);
        }
    }

    /// What follows is a command.
    fn begin(&mut self) {
        self.word = None;
        self.runs = true;
        self.is_behind_option = false;
        self.is_behind_cd = false;
    }

    /// Ends a substitution; the word that it is part of goes on.
    fn go_on(&mut self, runs: bool) {
        self.end_word();
        self.runs = runs;
        self.word = Some(String::new());
    }

    fn end_piece(&mut self) {
        self.word.get_or_insert_default();
        let text = take(&mut self.piece);
        let runs = self.runs;
        let assigned = text.split_once('=').map(|(_, value)| value.to_owned());
        let texts = assigned
            .into_iter()
            .chain([text])
            .filter(|it| !it.is_empty());
        for text in texts {
            // The line may have left that folder again, so both count.
            let moved = self.folder.iter().map(|folder| format!("{folder}/{text}"));
            let texts = moved.chain([text.clone()]);
            self.found.extend(texts.map(|text| Word { text, runs }));
        }
    }

    fn end_word(&mut self) {
        if self.word.is_none() {
            return;
        }
        self.end_piece();
        let word = self.word.take().unwrap_or_default();
        let is_option = word.starts_with('-');
        if self.is_behind_cd && !is_option {
            let outer = self
                .folder
                .take()
                .filter(|it| !word.starts_with('/') && it.len() < FOLDER_MAX);
            self.folder =
                Some(outer.map_or_else(|| word.clone(), |outer| format!("{outer}/{word}")));
        }
        self.is_behind_cd = self.runs && word == "cd" || self.is_behind_cd && is_option;
        let name = word.rsplit('/').next().unwrap_or_default();
        // Such as `python3.12`.
        let name = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
        let is_prefix = is_option
            || self.is_behind_option
            || ["", "!"].contains(&word.as_str())
            || PREFIXES.contains(&word.as_str())
            || is_assignment(&word);
        self.is_behind_option = self.runs && is_option;
        // The body of a function begins with a brace.
        self.runs = self.runs && is_prefix || word == "{" || INTERPRETERS.contains(&name);
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| name.chars().all(|it| it.is_alphanumeric() || it == '_'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn commands_are_distinguished_from_arguments() {
        for (line, expected) in [
            ("x", true),
            ("A=1 x", true),
            ("A=x git diff", true),
            ("'x' y", true),
            ("git a; x", true),
            ("git a;x", true),
            ("git a && x", true),
            ("git a | x", true),
            ("git a & x", true),
            ("(x)", true),
            ("! x", true),
            ("git $(x) a", true),
            ("git \"a $(x)\"", true),
            ("git `x`", true),
            ("f() { x; }; f", true),
            ("f() { git a; x; }; f", true),
            ("if true; then x; fi", true),
            ("case $1 in a) x;; esac", true),
            (". x", true),
            ("$(git rev-parse --show-toplevel)/x", true),
            ("\"$(git rev-parse --show-toplevel)\"/x", true),
            ("\"$TOP/x\" a", true),
            ("\"$TOP\"/x a", true),
            ("${TOP}/x a", true),
            ("sh x", true),
            ("sh -e x", true),
            ("sh < x", true),
            ("sh -c 'git a && x b'", true),
            ("sh -c \"git a \\\"$(x)\\\"\"", true),
            ("/usr/bin/env -u A B=1 python3.12 -W ignore x a", true),
            ("\"$SHELL\" x", true),
            ("find -name a | xargs -n 1 perl x", true),
            ("git rebase --exec 'ruby x' a", true),
            ("deno run -A x", true),
            ("git diff -- . x", false),
            ("git diff -- . ':!x'", false),
            ("git diff -- . ':(exclude)x'", false),
            ("git diff -- . \":(exclude,top)x\"", false),
            ("A=1 git add x", false),
            ("git add \"$TOP/x\"", false),
            ("git add \"$(git rev-parse --show-toplevel)/x\"", false),
            ("git add $(git rev-parse --show-toplevel)/x", false),
            ("git a | grep x", false),
            ("sh y x", false),
            ("\"$TOP/y\" x", false),
            ("sh -c 'git add x'", false),
            ("f() { git add x; }; f", false),
            ("test -f x && git a", false),
            ("git --exec=x a", false),
            ("git a > x", false),
        ] {
            let named = |word: &&Word| word.text.trim_start_matches('/') == "x";
            let found = words(line);
            let runs = found.iter().filter(named).any(|word| word.runs);
            assert_eq!(runs, expected, "{line}: {found:?}");
        }
        let expected = ["git", "diff", "./a b"].map(str::to_owned);
        let found = words("git diff ./'a b'");
        let moved = words("cd a && cd b; ./x");
        let is_there = |it: &Word| it.runs && it.text == "a/b/./x";
        assert!(moved.iter().any(is_there), "{moved:?}");
        let inner = words("cd a && sh -c 'cd b; ./x'");
        assert!(inner.iter().any(is_there), "{inner:?}");
        let whole = expected
            .iter()
            .all(|text| found.iter().any(|it| it.text == *text));
        assert!(whole, "{found:?}");
    }

    proptest! {
        #[test]
        fn reading_comes_to_an_end(line in r#"([ax ='"\\$(){}`;|&<>!-]|\n){0,40}"#) {
            prop_assert!(words(&line).len() <= 2 * 40 * 40);
        }
    }
}
