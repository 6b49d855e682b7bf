//! What a turn begins with: words, how many of them are the person's own, and what goes with them.

use crate::chat::Attached;

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    text: String,
    /// Bytes from the start in which mentions of files count.
    typed: usize,
    attached: Vec<Attached>,
}

impl Input {
    /// A prompt, and text that was piped in beside it: nobody looked there for what it mentions.
    pub fn with_piped(prompt: &str, piped: &str) -> Self {
        Self {
            text: format!("{prompt}\n\n{piped}"),
            typed: prompt.len(),
            attached: Vec::new(),
        }
    }

    /// The same with texts that go with it.
    #[must_use]
    pub fn with_attached(self, attached: Vec<Attached>) -> Self {
        Self { attached, ..self }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn into_text(self) -> String {
        self.text
    }

    pub(super) fn take_attached(&mut self) -> Vec<Attached> {
        std::mem::take(&mut self.attached)
    }

    pub(super) fn typed(&self) -> &str {
        &self.text[..self.typed]
    }
}

impl From<String> for Input {
    fn from(text: String) -> Self {
        let typed = text.len();
        Self {
            text,
            typed,
            attached: Vec::new(),
        }
    }
}
