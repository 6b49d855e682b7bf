//! The texts that memory reads: prompts, blocks, cues and word lists under `config/`, embedded here and nowhere else.
//! A person's own file of the same name takes the place of one.

use serde::de::DeserializeOwned;

use super::prompts::Prompt;

macro_rules! text {
    ($name:literal) => {
        ($name, include_str!(concat!("../../config/", $name)))
    };
}

/// Name under `config/` and content of each.
pub const TEXTS: [(&str, &str); 42] = [
    text!("blocks/code.md"),
    text!("blocks/compact_places.md"),
    text!("blocks/conversation.md"),
    text!("blocks/identity.md"),
    text!("blocks/long_term.md"),
    text!("blocks/pins.md"),
    text!("blocks/reasoning.md"),
    text!("blocks/recall.md"),
    text!("blocks/recovery.md"),
    text!("blocks/reference.md"),
    text!("blocks/related.md"),
    text!("blocks/related_heading.md"),
    text!("blocks/related_heading_zh.md"),
    text!("blocks/results.md"),
    text!("blocks/rules.md"),
    text!("blocks/session_state.md"),
    text!("blocks/summary.md"),
    text!("cues/capture.yaml"),
    text!("cues/code.yaml"),
    text!("cues/conversation.yaml"),
    text!("cues/facts.yaml"),
    text!("cues/reasoning.yaml"),
    text!("cues/recovery.yaml"),
    text!("modes/code.md"),
    text!("modes/conversation.md"),
    text!("modes/reasoning.md"),
    text!("prompts/base.md"),
    text!("prompts/compact.md"),
    text!("prompts/compact_focus.md"),
    text!("prompts/compact_merge.md"),
    text!("prompts/compact_prefix.md"),
    text!("prompts/compact_prefix_zh.md"),
    text!("prompts/compact_threshold.md"),
    text!("prompts/keeping.md"),
    text!("prompts/learn.md"),
    text!("prompts/shorten.md"),
    text!("prompts/summarise.md"),
    text!("prompts/think_branch.md"),
    text!("prompts/think_converge.md"),
    text!("prompts/think_develop.md"),
    text!("prompts/tools.md"),
    text!("search/english.yaml"),
];

macro_rules! cues {
    ($name:literal) => {
        (
            concat!("cues/", $name, ".yaml"),
            include_str!(concat!(env!("OUT_DIR"), "/", $name, ".json")),
        )
    };
}

/// The embedded cue files as JSON.
const CUES: [(&str, &str); 6] = [
    cues!("capture"),
    cues!("code"),
    cues!("conversation"),
    cues!("facts"),
    cues!("reasoning"),
    cues!("recovery"),
];

/// The embedded cue file of a name, as JSON; empty for a name that none has.
pub(super) fn embedded_cues(name: &str) -> &'static str {
    let cues = CUES.iter().find(|(known, _)| *known == name);
    cues.map_or("", |(_, json)| json)
}

/// Reads YAML. What is JSON is read as such, which is many times faster.
pub(super) fn read<T: DeserializeOwned>(yaml: &str) -> Result<T, serde_yaml::Error> {
    let json = yaml.starts_with('{').then(|| serde_json::from_str(yaml));
    match json {
        Some(Ok(read)) => Ok(read),
        Some(Err(_)) | None => serde_yaml::from_str(yaml),
    }
}

/// The embedded text of a name; empty for a name that no text has.
pub(super) fn embedded(name: &str) -> Prompt {
    let text = TEXTS.iter().find(|(known, _)| *known == name);
    Prompt::new(
        format!("config/{name}"),
        text.map_or("", |(_, content)| *content),
    )
}
