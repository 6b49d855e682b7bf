//! Cuts a line into words that could be paths: prose, commands, diffs, traces, lists.
//!
//! Looks ahead at most [`AHEAD`] bytes, so linear in the length of the text.

use super::paths::Paths;

/// Bytes in which a bracket or a quote has to close again.
const AHEAD: usize = 260;

/// One line that is being scanned.
pub(super) struct Line<'p, 't> {
    paths: &'p Paths,
    text: &'t str,
    /// Has `a/` and `b/` before its paths.
    is_diff: bool,
    is_include: bool,
}

impl<'p, 't> Line<'p, 't> {
    pub(super) fn of(paths: &'p Paths, text: &'t str) -> Self {
        let content = text.trim_start();
        let starts = |signs: &[&str]| signs.iter().any(|sign| content.starts_with(sign));
        Self {
            paths,
            text,
            is_diff: starts(&["diff --git ", "--- ", "+++ ", "Binary files "]),
            is_include: starts(&["#include <", "# include <"]),
        }
    }

    pub(super) fn scan(&self, found: &mut impl FnMut(&'t str)) {
        if self.is_include {
            return;
        }
        let mut at = 0;
        let mut before = None;
        while let Some(c) = self.text[at..].chars().next() {
            if let Some((path, length)) = self.quoted(at, c) {
                found(path);
                at += length;
                before = None;
                continue;
            }
            let end = self.word_end(at);
            if end == at {
                at += c.len_utf8();
                before = Some(c);
                continue;
            }
            let word = &self.text[at..end];
            let rest = &self.text[end..];
            if let Some(address) = rest.strip_prefix("://") {
                let is_file = self.paths.schemes.contains(word);
                at = self.text.len() - address.len();
                if !is_file {
                    at = self.address_end(at);
                }
                before = None;
                continue;
            }
            if self.paths.is_address(word) {
                at = self.address_end(end);
                before = None;
                continue;
            }
            // What follows `${x}`, `<x>` or `f()` is only the end of a path.
            let is_end =
                before.is_some_and(|b| "})>]".contains(b)) && word.starts_with(['.', '/', '\\']);
            // The path of an address whose port came before.
            let is_port = before == Some(':')
                && word.split('/').next().is_some_and(|port| {
                    port.len() < word.len() && port.bytes().all(|b| b.is_ascii_digit())
                });
            if !is_end && !is_port {
                self.word(at, word, rest, found);
            }
            before = word.chars().next_back();
            at = end;
        }
    }

    fn word(&self, at: usize, word: &'t str, rest: &str, found: &mut impl FnMut(&'t str)) {
        let mut word = word;
        if at == 0 {
            word = word.trim_start_matches(['+', '-']);
        }
        if self.is_diff
            && let Some(path) = sideless(word)
        {
            word = path;
        }
        let mut next = rest.chars();
        let follows = next.next();
        // `x.ts(18,7)` is a place.
        let is_place = next.next().is_some_and(|c| c.is_ascii_digit());
        let follows = follows.filter(|_| !is_place);
        if let Some(path) = self.paths.path(word, follows) {
            found(path);
        }
    }

    /// A path with blanks in quotes, and the bytes it takes.
    fn quoted(&self, at: usize, quote: char) -> Option<(&'t str, usize)> {
        if !matches!(quote, '"' | '\'' | '`') {
            return None;
        }
        let rest = &self.text[at + 1..];
        let mut bytes = rest.bytes();
        let first = bytes.next()?;
        let is_drive = first.is_ascii_alphabetic() && bytes.next() == Some(b':');
        let is_rooted = quote != '`' && matches!(first, b'/' | b'~');
        if !is_drive && !is_rooted {
            return None;
        }
        let near = &rest[..rest.floor_char_boundary(AHEAD)];
        let content = &near[..near.find(quote)?];
        let (program, _) = content.split_once(' ')?;
        let is_command = program.contains("/bin/") || content.contains(" -");
        let others = content.split(' ').skip(1);
        let mut others = others.filter(|word| word.starts_with(['/', '~', '.']));
        let is_path = !is_command && others.next().is_none();
        let name = content.rsplit(['/', '\\']).next().unwrap_or_default();
        let is_file = is_path && !content.contains("://") && self.paths.names_file(name);
        (is_file && !self.paths.is_library(content)).then_some((content, content.len() + 2))
    }

    /// Where the word that begins here ends.
    fn word_end(&self, from: usize) -> usize {
        let text = &self.text[from..];
        if is_drive(text) {
            let more = Self {
                text: &text[2..],
                ..*self
            };
            return from + 2 + more.word_end(0);
        }
        let mut end = 0;
        let mut has_folder = false;
        let mut last = None;
        while let Some(c) = text[end..].chars().next() {
            let length = match c {
                '/' | '\\' => {
                    has_folder = true;
                    1
                }
                '_' | '-' | '.' | '~' | '+' | '$' | '@' | '%' | '*' => 1,
                '(' | '[' if matches!(last, None | Some('/' | '\\')) => {
                    match bracketed(&text[end..]) {
                        Some(length) => {
                            has_folder = true;
                            length
                        }
                        None => break,
                    }
                }
                // `[...slug]` may also stand behind a dot or a word: `post.[id].ts`.
                _ if is_ideograph(c) => {
                    let ends = last.is_some_and(|l: char| l.is_ascii_alphanumeric())
                        && (!has_folder || text[..end].rfind('.') > text[..end].rfind('/'));
                    if ends {
                        break;
                    }
                    c.len_utf8()
                }
                _ if c.is_alphanumeric() => {
                    if !has_folder && last.is_some_and(is_ideograph) {
                        break;
                    }
                    c.len_utf8()
                }
                _ => break,
            };
            last = text[end..end + length].chars().next_back();
            end += length;
        }
        from + end
    }

    fn address_end(&self, from: usize) -> usize {
        let ends = |c: char| c.is_whitespace() || "\"'`<>)]}".contains(c) || is_ideograph(c);
        let length = self.text[from..].find(ends);
        length.map_or(self.text.len(), |length| from + length)
    }
}

/// `C:\` or `C:/`.
fn is_drive(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && (bytes[2] == b'\\' || (bytes[2] == b'/' && bytes.get(3) != Some(&b'/')))
}

/// Bytes of a folder or a name in brackets: `[id]/`, `(shop)/`, `[[...slug]].tsx`.
fn bracketed(text: &str) -> Option<usize> {
    let near = &text.as_bytes()[..text.len().min(AHEAD)];
    let mut depth = 0_u32;
    for (at, byte) in near.iter().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => {
                depth -= 1;
                if depth == 0 {
                    let goes_on = matches!(near.get(at + 1), Some(b'/' | b'.'));
                    let is_name =
                        at > 1 && near.get(at + 2).is_some_and(|b| !b.is_ascii_whitespace());
                    return (goes_on && is_name).then_some(at + 1);
                }
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'@' => {}
            _ => return None,
        }
    }
    None
}

/// Written without spaces between words, so that a path may follow one at once.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// Without the side that a diff writes before a path.
fn sideless(path: &str) -> Option<&str> {
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"))
}
