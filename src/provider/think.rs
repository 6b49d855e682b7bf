//! Splits thinking that a model writes into its text, `<think>…</think>`, from the reply itself. Invariant: however the
//! pieces are cut, the concatenated text and the concatenated thinking are the same.
//!
//! Only a block at the very start counts (or right after another such block): models write it there, and
//! a reply that talks *about* the tag further down must not vanish into the thinking.

/// What a piece turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Text(String),
    Thought(String),
}

/// The tags that models use, opening and closing.
const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

#[derive(Clone, Copy, Debug)]
enum Place {
    /// Only white space and whole blocks so far.
    Start,
    /// Inside the block that ends with this tag.
    Block(&'static str),
    Reply,
}

/// The state between two pieces.
#[derive(Debug)]
pub(super) struct Splitter {
    place: Place,
    /// Whether a block was closed: the white space after it belongs to nobody.
    after_block: bool,
    /// Held back: may be the beginning of a tag.
    held: String,
}

impl Splitter {
    pub(super) fn new() -> Self {
        Self {
            place: Place::Start,
            after_block: false,
            held: String::new(),
        }
    }

    pub(super) fn push(&mut self, piece: &str) -> Vec<Said> {
        let mut said = Vec::new();
        self.held.push_str(piece);
        while self.step(&mut said) {}
        said
    }

    /// Returns what is still held back when the reply ends.
    pub(super) fn end(&mut self) -> Option<Said> {
        let held = std::mem::take(&mut self.held);
        match self.place {
            _ if held.is_empty() => None,
            Place::Start if self.after_block && held.trim().is_empty() => None,
            Place::Start | Place::Reply => Some(Said::Text(held)),
            Place::Block(_) => Some(Said::Thought(held)),
        }
    }

    /// Returns whether the place changed and there may be more to do.
    fn step(&mut self, said: &mut Vec<Said>) -> bool {
        match self.place {
            Place::Start => self.at_start(),
            Place::Block(close) => self.in_block(close, said),
            Place::Reply => {
                let held = std::mem::take(&mut self.held);
                if !held.is_empty() {
                    said.push(Said::Text(held));
                }
                false
            }
        }
    }

    fn at_start(&mut self) -> bool {
        let begun = self.held.trim_start();
        if let Some((open, close)) = TAGS.iter().find(|(open, _)| begun.starts_with(open)) {
            self.held = begun[open.len()..].to_owned();
            self.place = Place::Block(close);
            return true;
        }
        if TAGS.iter().any(|(open, _)| open.starts_with(begun)) {
            return false;
        }
        if self.after_block {
            self.held = begun.to_owned();
        }
        self.place = Place::Reply;
        true
    }

    fn in_block(&mut self, close: &'static str, said: &mut Vec<Said>) -> bool {
        let (thought, rest, closed) = if let Some(at) = self.held.find(close) {
            (at, at + close.len(), true)
        } else {
            let keep = self.held.len() - tail_of_tag(&self.held, close);
            (keep, keep, false)
        };
        if thought > 0 {
            said.push(Said::Thought(self.held[..thought].to_owned()));
        }
        self.held.drain(..rest);
        if closed {
            self.place = Place::Start;
            self.after_block = true;
        }
        closed
    }
}

/// Length of the longest end of `text` that begins `tag`.
fn tail_of_tag(text: &str, tag: &str) -> usize {
    (1..tag.len())
        .rev()
        .find(|&n| text.ends_with(&tag[..n]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let mut splitter = Splitter::new();
        let mut said: Vec<Said> = pieces.iter().flat_map(|p| splitter.push(p)).collect();
        said.extend(splitter.end());
        let (mut thought, mut text) = (String::new(), String::new());
        for one in said {
            match one {
                Said::Text(t) => text.push_str(&t),
                Said::Thought(t) => thought.push_str(&t),
            }
        }
        (thought, text)
    }

    const CASES: [(&str, &str, &str); 9] = [
        ("<think>hm</think>\n\nYes.", "hm", "Yes."),
        ("\n<think>a<b></think>Yes.", "a<b>", "Yes."),
        ("<thinking>a</thinking>b", "a", "b"),
        ("<think>a</think><think>b</think> c", "ab", "c"),
        ("<think>never closed </thi", "never closed </thi", ""),
        (" The tag <think> is", "", " The tag <think> is"),
        ("<thin air", "", "<thin air"),
        ("<think>é😀</think>é😀", "é😀", "é😀"),
        ("<think></think>\n", "", ""),
    ];

    #[test]
    fn thinking_is_told_from_the_reply() {
        for (whole, thought, text) in CASES {
            assert_eq!(split(&[whole]), (thought.into(), text.into()), "{whole}");
        }
    }

    #[test]
    fn tags_cut_at_any_place_give_the_same() {
        for (whole, thought, text) in CASES {
            for cut in (0..=whole.len()).filter(|at| whole.is_char_boundary(*at)) {
                let (head, tail) = whole.split_at(cut);
                let got = split(&[head, tail]);
                assert_eq!(got, (thought.into(), text.into()), "{head}|{tail}");
            }
            let single: Vec<String> = whole.chars().map(String::from).collect();
            let single: Vec<&str> = single.iter().map(String::as_str).collect();
            assert_eq!(split(&single), (thought.into(), text.into()), "{whole}");
        }
    }
}
