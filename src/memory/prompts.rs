//! The texts a model reads that a person wrote: files under `config/`, embedded, overridable by the user.

use super::texts::embedded;

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

/// The texts of one mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeTexts {
    /// What it adds to the system prompt (C4).
    pub prompt: Prompt,
    /// How its tracker speaks in a request.
    pub block: Prompt,
}

/// How the steps of thinking something through are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThinkTexts {
    pub branch: Prompt,
    pub develop: Prompt,
    pub converge: Prompt,
}

/// How what outlives a session stands in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTexts {
    pub identity: Prompt,
    pub rules: Prompt,
    pub pins: Prompt,
    pub long_term: Prompt,
    pub session_state: Prompt,
    pub related: Prompt,
    pub related_heading: Prompt,
    /// The same for a conversation in Chinese.
    pub related_heading_zh: Prompt,
    pub recovery: Prompt,
}

/// Every prompt that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompts {
    pub base: Prompt,
    /// What a model is told that may call tools.
    pub tools: Prompt,
    /// When to keep something, for a model that has tools to do so.
    pub keeping: Prompt,
    pub conversation: ModeTexts,
    pub code: ModeTexts,
    pub reasoning: ModeTexts,
    pub compact: Prompt,
    pub compact_prefix: Prompt,
    /// The same for a conversation in Chinese.
    pub compact_prefix_zh: Prompt,
    pub compact_threshold: Prompt,
    /// How summaries of parts become one.
    pub compact_merge: Prompt,
    /// What a person wants kept, behind any of these.
    pub compact_focus: Prompt,
    /// Where the messages are that a compaction without a summary leaves out.
    pub compact_places: Prompt,
    pub summarise: Prompt,
    pub shorten: Prompt,
    /// What lasts of a conversation.
    pub learn: Prompt,
    pub think: ThinkTexts,
    /// How the running summary stands in a request.
    pub summary: Prompt,
    /// How what recall found stands in a request.
    pub recall: Prompt,
    /// How what was found out aside stands in a request.
    pub results: Prompt,
    /// How what outlives a session stands in a request.
    pub kept: KeptTexts,
    /// How recall and mode state stand in front of the input, where they are no system text.
    pub reference: Prompt,
}

impl Prompts {
    /// The texts as they are embedded in the program, each replaced by what `own` has under its name (`modes/code.md`).
    pub fn with(own: impl Fn(&str) -> Option<Prompt>) -> Self {
        let text = |name: &str| own(name).unwrap_or_else(|| embedded(name));
        let mode = |mode: &str| ModeTexts {
            prompt: text(&format!("modes/{mode}.md")),
            block: text(&format!("blocks/{mode}.md")),
        };
        Self {
            base: text("prompts/base.md"),
            tools: text("prompts/tools.md"),
            keeping: text("prompts/keeping.md"),
            conversation: mode("conversation"),
            code: mode("code"),
            reasoning: mode("reasoning"),
            compact: text("prompts/compact.md"),
            compact_prefix: text("prompts/compact_prefix.md"),
            compact_prefix_zh: text("prompts/compact_prefix_zh.md"),
            compact_threshold: text("prompts/compact_threshold.md"),
            compact_merge: text("prompts/compact_merge.md"),
            compact_focus: text("prompts/compact_focus.md"),
            compact_places: text("blocks/compact_places.md"),
            summarise: text("prompts/summarise.md"),
            shorten: text("prompts/shorten.md"),
            learn: text("prompts/learn.md"),
            think: ThinkTexts {
                branch: text("prompts/think_branch.md"),
                develop: text("prompts/think_develop.md"),
                converge: text("prompts/think_converge.md"),
            },
            summary: text("blocks/summary.md"),
            recall: text("blocks/recall.md"),
            results: text("blocks/results.md"),
            kept: KeptTexts {
                identity: text("blocks/identity.md"),
                rules: text("blocks/rules.md"),
                pins: text("blocks/pins.md"),
                long_term: text("blocks/long_term.md"),
                session_state: text("blocks/session_state.md"),
                related: text("blocks/related.md"),
                related_heading: text("blocks/related_heading.md"),
                related_heading_zh: text("blocks/related_heading_zh.md"),
                recovery: text("blocks/recovery.md"),
            },
            reference: text("blocks/reference.md"),
        }
    }

    /// The texts as they are embedded in the program.
    pub fn embedded() -> Self {
        Self::with(|_| None)
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
    fn every_prompt_has_its_embedded_text() {
        let prompts = format!("{:?}", Prompts::embedded());
        assert!(!prompts.contains(r#"text: """#), "{prompts}");
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
