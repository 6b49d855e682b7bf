//! The operators of vi, `d`, `y` and `c`, with motions, text objects and counts, and what goes with them: `f` and the like,
//! `%`, `p`, `.`, `u` and `~`. Unit: one key of the command mode. Pure.
//!
//! The editor has operators of its own, but reads the key behind one where nobody else sees it, and knows no text objects.
//! What changes text without an operator (`x`, `D`, `s`, …) stays with the editor, and so does undoing, but for a change
//! that began a line anew: nothing but a new line is in insert mode.

use std::ops::Range;

use super::text_object::{Extent, chars_on, found, last, object, partner, reach, row};

/// What is known of the keys before.
#[derive(Debug, Default)]
pub(super) struct Vi {
    pending: Option<Pending>,
    /// What `;` and `,` go on with: the key and the character.
    find: Option<(char, char)>,
    /// A search that the editor makes: its key, and where the cursor stood.
    searching: Option<(char, usize)>,
    /// What `p` puts, where an operator took it last.
    register: Option<String>,
    /// What `.` does again, where that was an operator.
    last: Option<Change>,
    /// Where the text of a change begins that is being typed.
    typing: Option<usize>,
    /// A line as a change began it anew, and as it was before.
    begun: Option<(String, String)>,
    /// Nothing changed since, but what was undone.
    is_undoing: bool,
}

/// An operator that waits for what it is to take; none where `f` waits for its character.
#[derive(Clone, Copy, Debug)]
struct Pending {
    operator: Option<char>,
    n: usize,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Motion,
    Find(char),
    Object(Extent),
}

/// What an operator takes.
#[derive(Clone, Copy, Debug)]
enum Target {
    Motion(char),
    Find(char, char),
    Object(Extent, char),
    /// The operator's key once more.
    Rows,
}

#[derive(Clone, Debug)]
struct Change {
    operator: char,
    target: Target,
    n: usize,
    /// What was typed in its place.
    text: String,
}

/// What a key does to the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing yet, or nothing at all.
    Nothing,
    Edit(Edit),
    /// The same, and what is typed then goes into the line.
    Insert(Edit),
}

/// A change of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
    /// Where the cursor stands after it.
    pub(super) cursor: usize,
}

impl Edit {
    fn cursor(at: usize) -> Self {
        Self {
            range: at..at,
            text: String::new(),
            cursor: at,
        }
    }

    /// The line after it.
    pub(super) fn done(&self, line: &str) -> String {
        let Range { start, end } = self.range;
        format!("{}{}{}", &line[..start], self.text, &line[end..])
    }
}

impl Vi {
    /// Takes a key of the command mode; `None`: the editor is to see to it.
    pub(super) fn key(&mut self, key: char, n: usize, line: &str, at: usize) -> Option<Act> {
        if let Some(pending) = self.pending.take() {
            return Some(self.behind(pending, key, n, line, at));
        }
        if let Some((kind, from)) = self.searching.take() {
            self.find = searched(kind, from, line, at);
        }
        let mut wait = |operator, stage| {
            self.pending = Some(Pending { operator, n, stage });
            Some(Act::Nothing)
        };
        self.is_undoing &= !"dcxXsSDCrRpP~.aAiI".contains(key);
        match key {
            'd' | 'y' | 'c' => wait(Some(key), Stage::Motion),
            // The editor takes a digit for a count before anybody sees it, but where it reads the character itself. Its
            // search would go on in the next row.
            'f' | 'F' | 't' | 'T' if !line.contains('\n') => {
                (self.find, self.searching) = (None, Some((key, at)));
                None
            }
            'f' | 'F' | 't' | 'T' => wait(None, Stage::Find(key)),
            ';' | ',' => {
                let (kind, wanted) = self.found_last(key == ',')?;
                let to = found(line, at, kind, wanted, n);
                Some(to.map_or(Act::Nothing, |to| Act::Edit(Edit::cursor(to))))
            }
            '%' => {
                let to = partner(line, at);
                Some(to.map_or(Act::Nothing, |to| Act::Edit(Edit::cursor(to))))
            }
            'p' | 'P' => Some(Act::Edit(self.put(key, n, line, at)?)),
            '.' => {
                let last = self.last.clone()?;
                let n = if n > 1 { n } else { last.n };
                Some(self.again(Change { n, ..last }, line, at))
            }
            'u' => {
                let is_undone = std::mem::replace(&mut self.is_undoing, true);
                let begun = self.begun.take_if(|(after, _)| is_undone && after == line);
                let (after, before) = begun?;
                let range = 0..after.len();
                let (text, cursor) = (before, 0);
                Some(Act::Edit(Edit {
                    range,
                    text,
                    cursor,
                }))
            }
            '~' => {
                let end = chars_on(line, at, n).min(row(line, at).end);
                let text: String = line[at..end].chars().flat_map(in_other_case).collect();
                let cursor = at + text.len();
                self.last = None;
                Some(Act::Edit(Edit {
                    range: at..end,
                    text,
                    cursor,
                }))
            }
            'x' | 'X' | 's' | 'S' | 'D' | 'C' => {
                (self.last, self.register) = (None, None);
                None
            }
            'r' | 'R' | 'a' | 'A' | 'i' | 'I' => {
                self.last = None;
                None
            }
            _ => None,
        }
    }

    /// Another line begins: no change goes on in it.
    pub(super) fn begin(&mut self) {
        (self.typing, self.begun) = (None, None);
    }

    /// A key that is no character, or a new line: an operator that waits is given up. Tells whether one did.
    pub(super) fn give_up(&mut self) -> bool {
        self.searching = None;
        self.pending.take().is_some()
    }

    /// The insert mode ends, or the line is handed in: what was typed belongs to the change.
    pub(super) fn typed(&mut self, line: &str, at: usize) {
        if let Some(start) = self.typing.take()
            && let Some(last) = &mut self.last
        {
            let text = line.get(start..at).unwrap_or_default();
            text.clone_into(&mut last.text);
            self.is_undoing &= text.is_empty();
        }
    }

    fn behind(&mut self, pending: Pending, key: char, n: usize, line: &str, at: usize) -> Act {
        let n = pending.n.saturating_mul(n);
        let Pending {
            operator, stage, ..
        } = pending;
        let target = match (stage, operator) {
            (Stage::Motion, _) if matches!(key, 'f' | 'F' | 't' | 'T' | 'i' | 'a') => {
                let stage = match key {
                    'i' => Stage::Object(Extent::Inner),
                    'a' => Stage::Object(Extent::Around),
                    find => Stage::Find(find),
                };
                self.pending = Some(Pending { operator, n, stage });
                return Act::Nothing;
            }
            (Stage::Motion, Some(operator)) if operator == key => Target::Rows,
            (Stage::Motion, _) if matches!(key, ';' | ',') => match self.found_last(key == ',') {
                Some((kind, wanted)) => Target::Find(kind, wanted),
                None => return Act::Nothing,
            },
            (Stage::Motion, _) => Target::Motion(key),
            (Stage::Find(kind), _) => {
                self.find = Some((kind, key));
                Target::Find(kind, key)
            }
            (Stage::Object(extent), _) => Target::Object(extent, key),
        };
        match (operator, target) {
            (Some(operator), target) => {
                let text = String::new();
                let change = Change {
                    operator,
                    target,
                    n,
                    text,
                };
                self.operate(change, line, at)
            }
            (None, Target::Find(kind, wanted)) => match found(line, at, kind, wanted, n) {
                Some(to) => Act::Edit(Edit::cursor(to)),
                None => Act::Nothing,
            },
            (None, _) => Act::Nothing,
        }
    }

    fn operate(&mut self, change: Change, line: &str, at: usize) -> Act {
        let Some(range) = change.range(line, at) else {
            return Act::Nothing;
        };
        self.register = Some(line[range.clone()].to_owned());
        let operator = change.operator;
        if operator == 'y' {
            return Act::Edit(Edit::cursor(range.start.min(at)));
        }
        self.last = Some(change);
        let cursor = range.start;
        let mut edit = Edit {
            range,
            text: String::new(),
            cursor,
        };
        let done = edit.done(line);
        if operator == 'c' {
            self.typing = Some(cursor);
            self.begun = Some((done, line.to_owned()));
            self.is_undoing = true;
            return Act::Insert(edit);
        }
        let row = row(&done, cursor.min(done.len()));
        // The cursor stands on a character.
        if cursor >= row.end && row.start < row.end {
            edit.cursor = last(&done[..row.end]).unwrap_or_default();
        }
        Act::Edit(edit)
    }

    fn again(&mut self, change: Change, line: &str, at: usize) -> Act {
        let text = change.text.clone();
        match self.operate(change, line, at) {
            Act::Insert(mut edit) => {
                (self.typing, self.begun) = (None, None);
                edit.cursor += last(&text).unwrap_or_default();
                edit.text = text;
                Act::Edit(edit)
            }
            act => act,
        }
    }

    fn put(&self, key: char, n: usize, line: &str, at: usize) -> Option<Edit> {
        let text = self.register.as_ref()?.repeat(n);
        let to = match key {
            'p' => chars_on(line, at, 1).min(row(line, at).end.max(at)),
            _ => at,
        };
        let cursor = to + last(&text).unwrap_or_default();
        Some(Edit {
            range: to..to,
            text,
            cursor,
        })
    }

    fn found_last(&self, is_back: bool) -> Option<(char, char)> {
        let (kind, wanted) = self.find?;
        let other = if kind.is_lowercase() {
            kind.to_ascii_uppercase()
        } else {
            kind.to_ascii_lowercase()
        };
        Some((if is_back { other } else { kind }, wanted))
    }
}

impl Change {
    fn range(&self, line: &str, at: usize) -> Option<Range<usize>> {
        let n = self.n;
        match self.target {
            Target::Motion(key) => reach(line, at, key, n, self.operator == 'c'),
            Target::Object(extent, key) => object(line, at, extent, key, n),
            Target::Find(kind, wanted) => {
                let to = found(line, at, kind, wanted, n)?;
                if kind.is_lowercase() {
                    Some(at..chars_on(line, to, 1))
                } else {
                    (to < at).then_some(to..at)
                }
            }
            Target::Rows => {
                let first = row(line, at);
                let more = line[first.end..].match_indices('\n').take(n - 1).last();
                let end = more.map_or(first.end, |(more, _)| row(line, first.end + more + 1).end);
                let is_deleted = self.operator == 'd';
                Some(match (line.len() > end, first.start > 0) {
                    (true, _) if is_deleted => first.start..end + 1,
                    (_, true) if is_deleted => first.start - 1..end,
                    _ => first.start..end,
                })
            }
        }
    }
}

/// What a search of the editor was for, by where it led; `None`: it led nowhere.
fn searched(kind: char, from: usize, line: &str, at: usize) -> Option<(char, char)> {
    let (before, behind) = line.split_at_checked(at).filter(|_| at != from)?;
    let wanted = match kind {
        't' => behind.chars().nth(1),
        'T' => before.chars().next_back(),
        _ => behind.chars().next(),
    };
    Some((kind, wanted?))
}

fn in_other_case(c: char) -> Vec<char> {
    if c.is_lowercase() {
        c.to_uppercase().collect()
    } else {
        c.to_lowercase().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types keys of the command mode; what is typed in insert mode stands between `<` and `>`.
    fn typed(text: &str, keys: &str) -> String {
        let mut at = text.find('|').unwrap();
        let mut line = text.replace('|', "");
        let mut vi = Vi::default();
        let mut inserting = false;
        let mut n = 0;
        // The editor reads what it searches for.
        let mut search = None;
        for key in keys.chars() {
            if let Some((kind, n)) = search.take() {
                at = found(&line, at, kind, key, n).unwrap_or(at);
                continue;
            }
            match key {
                '<' => assert!(inserting, "{keys} in {text}"),
                '>' => {
                    vi.typed(&line, at);
                    inserting = false;
                    at = line[..at]
                        .char_indices()
                        .next_back()
                        .map_or(0, |(at, _)| at);
                }
                key if inserting => {
                    line.insert(at, key);
                    at += key.len_utf8();
                }
                '1'..='9' => n = n * 10 + key.to_digit(10).unwrap() as usize,
                key => {
                    let n = std::mem::take(&mut n).max(1);
                    match vi.key(key, n, &line, at) {
                        Some(Act::Edit(edit)) => (line, at) = (edit.done(&line), edit.cursor),
                        Some(Act::Insert(edit)) => {
                            (line, at) = (edit.done(&line), edit.cursor);
                            inserting = true;
                        }
                        Some(Act::Nothing) => {}
                        None if "fFtT".contains(key) => search = Some((key, n)),
                        None => return format!("{key} is the editor's"),
                    }
                }
            }
        }
        line.insert(at, '|');
        line
    }

    #[test]
    fn keys_do_what_they_do_in_vi() {
        for (text, keys, expected) in [
            ("one tw|o three", "ciw<2>", "one |2 three"),
            ("one tw|o three", "diw", "one | three"),
            ("one two thr|ee", "daw", "one tw|o"),
            ("say \"h|ello\"", "ci\"<bye>", "say \"by|e\""),
            ("f(a|, b)", "ci(<>", "f|()"),
            ("f(a|, b) c", "da(", "f| c"),
            ("f(a, (b|))", "d2i(", "f(|)"),
            ("f(a, (b|))", "2di(", "f(|)"),
            ("one t|wo", "yiwP", "one tw|otwo"),
            ("|one two", "dwp", "tone| wo"),
            ("|one two three", "cw<a>", "|a two three"),
            ("|one two one", "cw<x>f.", "|x two one"),
            ("|a, b, c", "f,;", "a, b|, c"),
            ("|a, b, c", "f,;,", "a|, b, c"),
            ("|a4 b4 c", "f4;", "a4 b|4 c"),
            ("|aa4 b4 c", "t4d;", "a|4 b4 c"),
            ("a4 b4 |c", "F4;", "a|4 b4 c"),
            ("|a4 b4 c", "2f4dl", "a4 b| c"),
            ("|a4 b4 c", "f4d;", "a| c"),
            ("|a, b, c", "fxdt,", "|, b, c"),
            ("a, b\n|c, d, e", "f,;", "a, b\nc, d|, e"),
            ("|a, b, c", "dt,", "|, b, c"),
            ("|a, b, c", "d2f,", "| c"),
            ("a, b|, c", "dF,", "a|, c"),
            ("|f(a)", "%", "f(a|)"),
            ("f|(a) b", "d%", "f| b"),
            ("a\n|b\nc", "dd", "a\n|c"),
            ("a\n|b", "dd", "|a"),
            ("one| two", "cc<x>", "|x"),
            ("|one two three", "dwdw.", "|"),
            ("|one two", "2~", "ON|e two"),
            ("one t|wo", "ciw<>u", "|one two"),
            ("one t|wo", "ciw<x>dl", "one| "),
            ("one t|wo", "ciw<x>dlu", "u is the editor's"),
            ("one|", "dx", "one|"),
            ("one|", "x", "x is the editor's"),
            ("one|", "u", "u is the editor's"),
        ] {
            assert_eq!(typed(text, keys), expected, "{keys} in {text}");
        }
    }
}
