//! The texts a model reads that a person wrote: files under `config/`, embedded, overridable by the user.

use std::collections::BTreeMap;

/// A prompt file: where it came from and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// `config/…` for an embedded text, else the path of the user's own.
    pub file: String,
    pub text: String,
}

impl Prompt {
    pub fn new(file: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            text: text.into(),
        }
    }

    /// The text with each `{{name}}` replaced. Names that are not given stay as they are, so that a
    /// typing error in a user's own prompt is seen and not swallowed.
    pub fn fill(&self, values: &[(&str, &str)]) -> String {
        let mut text = self.text.clone();
        for (name, value) in values {
            text = text.replace(&format!("{{{{{name}}}}}"), value);
        }
        text
    }
}

/// Every prompt that memory uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompts {
    pub base: Prompt,
    /// What each mode adds, by the mode's name (C4).
    pub modes: BTreeMap<String, Prompt>,
    pub compact: Prompt,
}

impl Prompts {
    /// The texts as they are embedded in the program, each replaced by what `own` has under its name
    /// (`modes/code.md`).
    pub fn with(own: impl Fn(&str) -> Option<Prompt>) -> Self {
        let or = |name: &str, embedded: Prompt| own(name).unwrap_or(embedded);
        let Self {
            base,
            modes,
            compact,
        } = Self::embedded();
        let modes = modes.into_iter().map(|(mode, prompt)| {
            let prompt = or(&format!("modes/{mode}.md"), prompt);
            (mode, prompt)
        });
        Self {
            base: or("prompts/base.md", base),
            modes: modes.collect(),
            compact: or("prompts/compact.md", compact),
        }
    }

    /// The texts as they are embedded in the program.
    pub fn embedded() -> Self {
        let modes = [
            (
                "conversation",
                include_str!("../../config/modes/conversation.md"),
            ),
            ("code", include_str!("../../config/modes/code.md")),
            ("reasoning", include_str!("../../config/modes/reasoning.md")),
        ];
        let mode = |(name, text): (&str, &str)| {
            (
                name.to_owned(),
                Prompt::new(format!("config/modes/{name}.md"), text),
            )
        };
        Self {
            base: Prompt::new(
                "config/prompts/base.md",
                include_str!("../../config/prompts/base.md"),
            ),
            modes: modes.map(mode).into(),
            compact: Prompt::new(
                "config/prompts/compact.md",
                include_str!("../../config/prompts/compact.md"),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_filled_and_unknown_ones_stay_visible() {
        let prompt = Prompt::new("x", "In {{session}}, {{sesion}}");
        assert_eq!(prompt.fill(&[("session", "work")]), "In work, {{sesion}}");
    }

    #[test]
    fn every_placeholder_of_the_embedded_base_prompt_is_known() {
        let filled =
            Prompts::embedded()
                .base
                .fill(&[("session", "s"), ("directory", "d"), ("time", "t")]);
        assert!(!filled.contains("{{"), "{filled}");
    }
}
