//! Every text that the program can show, in one table to be read: `snapshots/words.snap`, by file.
//!
//! Taken from the source: literals of two words or more, those of `#[error(…)]` and the help of arguments included.
//! Left out are tests, `expect` messages, and what texts are compared with: regular expressions, lists of words and of
//! flags.

use std::fmt::Write;
use std::fs;
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Rooms whose literals are data or doubles.
const LEFT_OUT: [&str; 2] = ["testing", "text"];
/// Attributes whose literals are shown.
const SHOWN: [&str; 3] = ["error", "command", "arg"];
/// Words with which items begin that are no argument.
const ITEMS: [&str; 7] = ["const", "static", "fn", "async", "enum", "impl", "struct"];
/// Macros and methods whose literals only a developer sees.
const FOR_DEVELOPERS: [&str; 9] = [
    "expect",
    "expect_err",
    "unreachable",
    "assert",
    "assert_eq",
    "debug_assert",
    "debug_assert_eq",
    "debug",
    "trace",
];

#[test]
fn every_text_that_is_shown_stands_in_the_table() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&source, &mut files);
    files.sort();
    let mut table = String::new();
    for file in files {
        let name = file.strip_prefix(&source).unwrap().display().to_string();
        let tokens: TokenStream = fs::read_to_string(&file).unwrap().parse().unwrap();
        let mut texts = Vec::new();
        // What clap shows of arguments are their comments.
        read(tokens, name.starts_with("cli/args"), &mut texts);
        if !texts.is_empty() {
            writeln!(table, "\n{name}").unwrap();
            for text in texts {
                writeln!(table, "    {text}").unwrap();
            }
        }
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("words", table);
    });
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if path.is_dir() && !LEFT_OUT.contains(&stem) && stem != "tests" {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !is_for_tests(&path) {
            files.push(path);
        }
    }
}

/// Whether the module above has it for tests alone.
fn is_for_tests(path: &Path) -> bool {
    let (folder, stem) = (path.parent().unwrap(), path.file_stem().unwrap());
    let module = format!("#[cfg(test)]\nmod {};", stem.to_str().unwrap());
    let above = [folder.join("mod.rs"), folder.with_extension("rs")];
    let mut above = above
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    stem == "tests" || above.any(|text| text.contains(&module))
}

/// The literals of a stream in their order; `has_help` where comments on items are the help of arguments.
fn read(tokens: TokenStream, has_help: bool, texts: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    let mut is_for_developers = false;
    let (mut help, mut is_public) = (Vec::new(), false);
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                if matches!(tokens.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == '!') {
                    tokens.next();
                    tokens.next();
                    continue;
                }
                let Some(TokenTree::Group(attribute)) = tokens.next() else {
                    continue;
                };
                let inner = attribute.stream().to_string();
                let name = inner.split([' ', '(', '=']).next().unwrap_or_default();
                if inner.replace(' ', "") == "cfg(test)" {
                    skip_item(&mut tokens);
                } else if name == "doc" {
                    read(attribute.stream(), has_help, &mut help);
                } else if SHOWN.contains(&name) {
                    read(attribute.stream(), has_help, texts);
                }
            }
            TokenTree::Ident(name) => {
                let name = name.to_string();
                // The help of a field or a variant; of other items the comments are for developers.
                match name.as_str() {
                    "pub" => {}
                    "const" | "static" if !is_public && is_list(&tokens) => skip_item(&mut tokens),
                    // The program's own.
                    "struct" if is_named(&mut tokens, "Args") => texts.append(&mut help),
                    _ if has_help && !ITEMS.contains(&name.as_str()) => texts.append(&mut help),
                    _ => help.clear(),
                }
                is_public = name == "pub";
                is_for_developers = FOR_DEVELOPERS.contains(&name.as_str());
            }
            TokenTree::Punct(mark) if mark.as_char() == '!' => {}
            TokenTree::Group(group) => {
                if !(is_for_developers && group.delimiter() == Delimiter::Parenthesis) {
                    read(group.stream(), has_help, texts);
                }
                is_for_developers = false;
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if let Some(text) = shown(&text) {
                    texts.push(text);
                }
            }
            TokenTree::Punct(_) => is_for_developers = false,
        }
    }
}

fn is_named(tokens: &mut Peekable<IntoIter>, name: &str) -> bool {
    matches!(tokens.peek(), Some(TokenTree::Ident(found)) if found == name)
}

/// Whether the constant that follows is a list of literals: texts are compared with it.
fn is_list(tokens: &Peekable<IntoIter>) -> bool {
    fn is_plain(token: &TokenTree) -> bool {
        match token {
            // Signs that files begin with stand beside what is said of them.
            TokenTree::Literal(literal) => !literal.to_string().starts_with('b'),
            TokenTree::Punct(mark) => mark.as_char() == ',',
            TokenTree::Group(group) => group.stream().into_iter().all(|token| is_plain(&token)),
            TokenTree::Ident(_) => false,
        }
    }
    let rest = tokens.clone();
    let is_value =
        |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '=');
    let mut value = rest.skip_while(|token| !is_value(token)).skip(1);
    value.next().is_some_and(|token| {
        matches!(&token, TokenTree::Group(list) if list.delimiter() == Delimiter::Bracket)
            && is_plain(&token)
    })
}

/// Skips the rest of an item: to its braces or its semicolon.
fn skip_item(tokens: &mut impl Iterator<Item = TokenTree>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            TokenTree::Punct(mark) if mark.as_char() == ';' => return,
            _ => {}
        }
    }
}

/// The text of a string literal on one line, where it has two words.
fn shown(literal: &str) -> Option<String> {
    let text = literal.trim_start_matches(['r', '#']).strip_prefix('"')?;
    let text = text.trim_end_matches('#').strip_suffix('"')?;
    let lines: Vec<&str> = text.split("\\\n").map(str::trim_start).collect();
    let text = lines.concat().replace('\n', "\\n");
    let words = text.split([' ', '\\']);
    let is_word = |word: &&str| word.chars().filter(|sign| sign.is_alphabetic()).count() > 1;
    let is_shown = words.filter(is_word).count() > 1 && !is_pattern(&text);
    is_shown.then_some(text)
}

/// Whether it is a regular expression, or a list of words or flags.
fn is_pattern(text: &str) -> bool {
    const LONGEST_SENTENCE: usize = 40;
    let is_expression = ["(?", "\\b", "\\s"].iter().any(|sign| text.contains(sign));
    let is_all = |of: fn(&str) -> bool| text.split(' ').all(of);
    let has_no_marks = text
        .replace("\\n", " ")
        .chars()
        .all(|c| c.is_lowercase() || c == ' ');
    is_expression
        || is_all(|word| word.starts_with('-'))
        || (has_no_marks && text.split(' ').count() > LONGEST_SENTENCE)
}
