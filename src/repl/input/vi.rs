//! The operators of vi, `d`, `y` and `c`, with motions, text objects and counts, and what goes with them: `f` and the like,
//! `%`, `$`, `p`, `.`, `u`, `~`, and what is short for an operator, such as `x`. Unit: one key of the command mode. Pure.
//!
//! The editor has operators of its own, but reads the key behind one where nobody else sees it, and knows no text objects.
//! Undoing stays with the editor, but for a change that began a line anew: nothing but a new line is in insert mode.

use std::ops::Range;

use super::paste::Folded;
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
    /// A line as a change left it that began it anew, and as it was before.
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
    /// Takes a key of the command mode; `None`: the editor is to see to it. What is folded changes as a whole.
    pub(super) fn key(
        &mut self,
        key: char,
        n: usize,
        (line, at): (&str, usize),
        folded: &Folded,
    ) -> Option<Act> {
        if let Some(pending) = self.pending.take() {
            return Some(self.behind(pending, key, n, (line, at), folded));
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
                Some(self.again(Change { n, ..last }, (line, at), folded))
            }
            'u' => {
                let is_undone = std::mem::replace(&mut self.is_undoing, true);
                let begun = self.begun.take_if(|(after, _)| is_undone && after == line);
                let (after, before) = begun?;
                let same = before
                    .chars()
                    .zip(after.chars())
                    .take_while(|(a, b)| a == b);
                let cursor = same.map(|(c, _)| c.len_utf8()).sum();
                Some(Act::Edit(Edit {
                    range: 0..after.len(),
                    cursor: on_character(&before, cursor),
                    text: before,
                }))
            }
            '$' => {
                let end = row(line, at).end;
                Some(Act::Edit(Edit::cursor(on_character(line, end))))
            }
            '~' | 'x' | 'X' | 's' | 'S' | 'D' | 'C' => {
                let (operator, target) = match key {
                    '~' => ('~', Target::Motion('l')),
                    'x' => ('d', Target::Motion('l')),
                    'X' => ('d', Target::Motion('h')),
                    'D' => ('d', Target::Motion('$')),
                    's' => ('c', Target::Motion('l')),
                    'C' => ('c', Target::Motion('$')),
                    _ => ('c', Target::Rows),
                };
                let change = Change {
                    operator,
                    target,
                    n,
                    text: String::new(),
                };
                Some(self.operate(change, (line, at), folded))
            }
            'I' => {
                self.last = None;
                let row = row(line, at);
                let text = &line[row.clone()];
                let first = row.start + text.len() - text.trim_start().len();
                // That is where the editor goes.
                (first > row.start).then(|| Act::Insert(Edit::cursor(first)))
            }
            'r' | 'R' | 'a' | 'A' | 'i' => {
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
            // It is undone as one.
            if let Some((after, _)) = &mut self.begun {
                line.clone_into(after);
            }
        }
    }

    fn behind(
        &mut self,
        pending: Pending,
        key: char,
        n: usize,
        (line, at): (&str, usize),
        folded: &Folded,
    ) -> Act {
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
                self.operate(change, (line, at), folded)
            }
            (None, Target::Find(kind, wanted)) => match found(line, at, kind, wanted, n) {
                Some(to) => Act::Edit(Edit::cursor(to)),
                None => Act::Nothing,
            },
            (None, _) => Act::Nothing,
        }
    }

    fn operate(&mut self, change: Change, (line, at): (&str, usize), folded: &Folded) -> Act {
        let taken = change.range(line, at);
        // On an empty row there is nothing to take, and what is typed goes there.
        let taken = taken
            .or_else(|| (change.operator == 'c' && row(line, at).is_empty()).then_some(at..at));
        let Some(taken) = taken else {
            return Act::Nothing;
        };
        let range = folded.whole(line, &taken);
        if change.operator == '~' && range != taken {
            return Act::Nothing;
        }
        let (operator, taken) = (change.operator, &line[range.clone()]);
        if operator == '~' {
            self.last = Some(change);
            let text: String = taken.chars().flat_map(in_other_case).collect();
            let mut edit = Edit {
                cursor: range.start + text.len(),
                range,
                text,
            };
            edit.cursor = on_character(&edit.done(line), edit.cursor);
            return Act::Edit(edit);
        }
        self.register = Some(taken.to_owned());
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
        edit.cursor = on_character(&done, cursor);
        Act::Edit(edit)
    }

    fn again(&mut self, change: Change, (line, at): (&str, usize), folded: &Folded) -> Act {
        let text = change.text.clone();
        match self.operate(change, (line, at), folded) {
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

/// The cursor of the command mode stands on a character, where its row has one.
fn on_character(line: &str, at: usize) -> usize {
    let row = row(line, at.min(line.len()));
    if at >= row.end && row.start < row.end {
        last(&line[..row.end]).unwrap_or_default()
    } else {
        at
    }
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
    use super::super::paste::Came;
    use super::*;

    /// Types keys of the command mode; what is typed in insert mode stands between `<` and `>`.
    fn typed(text: &str, keys: &str) -> String {
        typed_with(&Folded::default(), text, keys)
    }

    fn typed_with(folded: &Folded, text: &str, keys: &str) -> String {
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
                    match vi.key(key, n, (&line, at), folded) {
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
    fn a_folded_paste_changes_as_a_whole() {
        let mut folded = Folded::default();
        let marker = folded.fold("line\n".repeat(20), Came::Pasted);
        let inside = marker.replace("pasted", "pa|sted");
        for (keys, expected) in [
            ("~", format!("see {inside} now")),
            ("x", "see | now".to_owned()),
            ("xp", format!("see  {}now", marker.replace(']', "|]"))),
            ("ciw<this>", "see thi|s now".to_owned()),
            ("ciw<this>.", "see thi|s now".to_owned()),
        ] {
            let text = format!("see {inside} now");
            assert_eq!(typed_with(&folded, &text, keys), expected, "{keys}");
        }
    }

    #[test]
    fn keys_do_what_they_do_in_vi() {
        for (text, keys, expected) in [
            ("one tw|o three", "ciw<2>", "one |2 three"),
            ("|", "C<x>", "|x"),
            ("|", "s<x>", "|x"),
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
            ("one t|wo", "ciw<>u", "one |two"),
            ("one t|wo", "ciw<x>u", "one |two"),
            ("one t|wo", "ciw<x>dl", "one| "),
            ("one t|wo", "ciw<x>dlu", "u is the editor's"),
            ("one|", "dx", "one|"),
            ("one|", "x", "one|"),
            ("|abcd", "xp", "b|acd"),
            ("|abcd", "x.", "|cd"),
            ("ab|cd", "2X", "|cd"),
            ("|abcd", "$x", "ab|c"),
            ("|ab\ncd", "$", "a|b\ncd"),
            ("|abcd", "~.", "AB|cd"),
            ("abc|d", "~", "abc|D"),
            ("a|bcd", "Dp", "abc|d"),
            ("a|bcd ef", "C<x>", "a|x"),
            ("a|bbd", "s<x>fb.", "ax|xd"),
            ("one| two", "S<x>", "|x"),
            ("  ab|c", "I<x>", "  |xabc"),
            ("ab|c", "I", "I is the editor's"),
            ("don't say '|hello' now", "di'", "don't say '|' now"),
            ("don't say 'hello' |now", "di'", "don't say 'hello' |now"),
            ("one|", "u", "u is the editor's"),
        ] {
            assert_eq!(typed(text, keys), expected, "{keys} in {text}");
        }
    }
}
