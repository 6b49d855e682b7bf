//! What a person may set about the screen: the `ui` block.

use serde::Deserialize;

use super::policy::Replies;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Replies are laid out where a terminal shows them; `false`: as the model writes them.
    pub markdown: bool,
    /// The background that the colours of code are made for.
    pub theme: Theme,
    /// The keys of the line editor.
    pub keys: EditKeys,
    /// A line after each turn says what memory did and what the request took.
    pub memory_line: bool,
}

/// The keys of the line editor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditKeys {
    #[default]
    Emacs,
    Vi,
}

/// The background of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// As the terminal says; the terminal's own colours where it does not.
    #[default]
    Auto,
    Dark,
    Light,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            markdown: true,
            theme: Theme::Auto,
            keys: EditKeys::Emacs,
            memory_line: true,
        }
    }
}

impl Settings {
    pub fn replies(self) -> Replies {
        if self.markdown {
            Replies::Markdown(self.theme)
        } else {
            Replies::Raw
        }
    }
}
