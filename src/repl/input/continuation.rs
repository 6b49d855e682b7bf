//! When several lines are one input, pure, for the editor and for plain lines alike:
//!
//! - a text that starts with `"""` goes on to the closing `"""`; the marks are left out of the input;
//! - a line that ends with a backslash goes on, and the backslash becomes the line break.
//!
//! An even number of backslashes is just text, as is a backslash between two `"""`.

const FENCE: &str = "\"\"\"";

/// What the Enter key does to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enter {
    /// Hands the input in.
    Accept,
    /// Starts another line.
    Break,
    /// Starts another line in place of the backslash at the end.
    BreakInPlace,
}

/// Decides for the whole text so far.
pub(super) fn enter(text: &str) -> Enter {
    if text.starts_with(FENCE) {
        enter_in_fence(text.matches(FENCE).count())
    } else {
        enter_after(text)
    }
}

fn enter_in_fence(n_fences: usize) -> Enter {
    if n_fences % 2 == 1 {
        Enter::Break
    } else {
        Enter::Accept
    }
}

fn enter_after(line: &str) -> Enter {
    let n_backslashes = line.len() - line.trim_end_matches('\\').len();
    if n_backslashes % 2 == 1 {
        Enter::BreakInPlace
    } else {
        Enter::Accept
    }
}

/// An accepted text without its marks: only when they hold all of it, for text that merely begins with a
/// quoted part is to stay as it is.
pub(super) fn assemble(text: String) -> String {
    let inner = text
        .strip_prefix(FENCE)
        .and_then(|rest| rest.trim_end().strip_suffix(FENCE))
        .filter(|inner| !inner.contains(FENCE));
    let Some(inner) = inner else { return text };
    let inner = inner.strip_prefix('\n').unwrap_or(inner);
    inner.strip_suffix('\n').unwrap_or(inner).to_owned()
}

/// Collects lines until they are an input.
#[derive(Debug, Default)]
pub(super) struct Continuation {
    /// Complete lines, each ended by a line break.
    text: String,
    n_fences: usize,
}

impl Continuation {
    /// Takes a line without its line break; gives the input that it completes.
    pub(super) fn push(&mut self, line: &str) -> Option<String> {
        let is_fenced = self.n_fences > 0 || self.text.is_empty() && line.starts_with(FENCE);
        let enter = if is_fenced {
            self.n_fences += line.matches(FENCE).count();
            enter_in_fence(self.n_fences)
        } else {
            enter_after(line)
        };
        self.text.push_str(line);
        match enter {
            Enter::Accept => return Some(assemble(std::mem::take(self).text)),
            Enter::Break => {}
            Enter::BreakInPlace => {
                self.text.pop();
            }
        }
        self.text.push('\n');
        None
    }

    /// Bytes that wait for their end.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// What waits for its end, as typed; `None` when the next line begins a new input.
    pub(super) fn take(&mut self) -> Option<String> {
        let text = std::mem::take(self).text;
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_that_belong_together_become_one_input() {
        for (lines, expected) in [
            (vec!["hi"], Some("hi")),
            (vec![""], Some("")),
            (vec!["a\\", "b"], Some("a\nb")),
            (vec!["a\\", "\\", ""], Some("a\n\n")),
            (vec!["C:\\dir\\\\"], Some("C:\\dir\\\\")),
            (vec!["a\\"], None),
            (vec!["\"\"\"", "x", "", "y\\", "\"\"\""], Some("x\n\ny\\")),
            (vec!["\"\"\"x", "y\"\"\""], Some("x\ny")),
            (vec!["\"\"\"one line\"\"\""], Some("one line")),
            (vec!["\"\"\"", "x"], None),
            (vec!["\"\"\"", "\"\"\""], Some("")),
            (
                vec!["\"\"\"doc\"\"\" and code"],
                Some("\"\"\"doc\"\"\" and code"),
            ),
            (vec!["say \"\"\"x"], Some("say \"\"\"x")),
            (vec!["/mode code"], Some("/mode code")),
        ] {
            let mut continuation = Continuation::default();
            let mut inputs = lines.iter().filter_map(|line| continuation.push(line));
            assert_eq!(inputs.next().as_deref(), expected, "{lines:?}");
            assert_eq!(inputs.next(), None, "{lines:?}");
        }
    }

    proptest! {
        #[test]
        fn the_editor_and_plain_lines_agree(lines in prop::collection::vec("[a\"\\\\ ]{0,5}", 1..6)) {
            let mut continuation = Continuation::default();
            let mut buffer = String::new();
            for line in &lines {
                buffer.push_str(line);
                let edited = match enter(&buffer) {
                    Enter::Accept => Some(assemble(std::mem::take(&mut buffer))),
                    Enter::Break => { buffer.push('\n'); None }
                    Enter::BreakInPlace => { buffer.pop(); buffer.push('\n'); None }
                };
                prop_assert_eq!(continuation.push(line), edited);
            }
        }
    }
}
