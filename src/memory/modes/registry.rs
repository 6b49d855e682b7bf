//! Modes by name (C6, A11).

use std::borrow::Cow;

use serde_json::Value;

use super::{MemoryMode, code, conversation, reasoning};
use crate::chat::{Message, ModeStates, Session};
use crate::hint::Hint;
use crate::memory::{Prompt, Prompts, Settings};

/// Every mode there is, and which of them is active. All read every turn; one speaks.
///
/// Invariant: names are unique and not empty; `active` is a place in `modes`.
#[derive(Debug)]
pub struct Registry {
    modes: Vec<Box<dyn MemoryMode>>,
    active: usize,
    /// States of modes this version does not have; kept on rewrite.
    foreign: Vec<(String, Value)>,
}

/// A mode that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMode {
    #[error("there is no mode {name:?}")]
    Unknown { name: String, known: Vec<String> },
    #[error("a mode needs a name")]
    Unnamed,
    #[error("there is already a mode {name:?}")]
    Duplicate { name: String },
}

impl Hint for BadMode {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Unknown { known, .. } => Some(format!("modes: {}", known.join(", ")).into()),
            Self::Unnamed | Self::Duplicate { .. } => None,
        }
    }
}

impl Registry {
    /// The three standard modes, `conversation` active (C37).
    pub fn standard(settings: &Settings, prompts: &Prompts) -> Self {
        let prompt = |name: &str| {
            let missing = || Prompt::new(format!("config/modes/{name}.md"), "");
            prompts.modes.get(name).cloned().unwrap_or_else(missing)
        };
        let modes = &settings.modes;
        Self {
            modes: vec![
                conversation::create(&modes.conversation, prompt(conversation::NAME)),
                code::create(&modes.code, prompt(code::NAME)),
                reasoning::create(&modes.reasoning, prompt(reasoning::NAME)),
            ],
            active: 0,
            foreign: Vec::new(),
        }
    }

    /// Adds a mode; refuses one without a name or with a name that is taken.
    pub fn register(&mut self, mode: Box<dyn MemoryMode>) -> Result<(), BadMode> {
        let name = &mode.preset().name;
        if name.trim().is_empty() {
            return Err(BadMode::Unnamed);
        }
        if self.place(name).is_some() {
            return Err(BadMode::Duplicate { name: name.clone() });
        }
        self.modes.push(mode);
        Ok(())
    }

    /// Makes a mode the active one. The name is trimmed and its case does not matter (C64).
    pub fn switch(&mut self, name: &str) -> Result<(), BadMode> {
        let name = name.trim().to_lowercase();
        let Some(place) = self.place(&name) else {
            return Err(BadMode::Unknown {
                name,
                known: self.names(),
            });
        };
        self.active = place;
        Ok(())
    }

    pub fn active(&self) -> &dyn MemoryMode {
        self.modes[self.active].as_ref()
    }

    pub fn iter(&self) -> impl Iterator<Item = &dyn MemoryMode> {
        self.modes.iter().map(AsRef::as_ref)
    }

    /// Names, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.iter().map(|mode| mode.preset().name.clone()).collect();
        names.sort();
        names
    }

    pub(crate) fn observe(&mut self, session: &Session, turn: &[Message]) {
        for mode in &mut self.modes {
            mode.observe(session, turn);
        }
    }

    /// The states of all modes, to be kept.
    pub(crate) fn states(&self) -> ModeStates {
        let ours = self
            .iter()
            .map(|mode| (mode.preset().name.clone(), mode.state()));
        ModeStates(self.foreign.iter().cloned().chain(ours).collect())
    }

    /// Takes up kept states; a mode without one starts anew.
    pub(crate) fn restore(&mut self, states: &ModeStates) {
        for mode in &mut self.modes {
            let kept = states.0.get(&mode.preset().name).cloned();
            mode.restore(kept.unwrap_or(Value::Null));
        }
        let foreign = states
            .0
            .iter()
            .filter(|(name, _)| self.place(name).is_none());
        self.foreign = foreign
            .map(|(name, state)| (name.clone(), state.clone()))
            .collect();
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.modes
            .iter()
            .position(|mode| mode.preset().name == name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn registry() -> Registry {
        Registry::standard(&Settings::default(), &Prompts::embedded())
    }

    #[test]
    fn an_unknown_mode_names_the_known_ones() {
        let error = registry().switch("chat").unwrap_err();
        assert_eq!(
            error.hint().as_deref(),
            Some("modes: code, conversation, reasoning")
        );
    }

    #[test]
    fn names_are_trimmed_and_case_does_not_matter() {
        let mut registry = registry();
        registry.switch("  Code ").unwrap();
        assert_eq!(registry.active().preset().name, "code");
    }

    #[test]
    fn empty_and_taken_names_are_refused() {
        let mut registry = registry();
        let settings = Settings::default();
        let taken = code::create(&settings.modes.code, Prompt::new("x", "x"));
        assert!(matches!(
            registry.register(taken),
            Err(BadMode::Duplicate { .. })
        ));
        let unnamed = super::super::Preset {
            name: " ".into(),
            summary: String::new(),
            window: 1,
            prompt: Prompt::new("x", "x"),
        };
        assert_eq!(
            registry.register(super::super::Standard::boxed(unnamed)),
            Err(BadMode::Unnamed)
        );
    }

    #[test]
    fn the_standard_modes_have_their_windows_and_openers() {
        let seen: Vec<_> = registry()
            .iter()
            .map(|mode| {
                (
                    mode.preset().window,
                    mode.preset()
                        .prompt
                        .text
                        .split(" for ")
                        .next()
                        .unwrap()
                        .to_owned(),
                )
            })
            .collect();
        assert_eq!(seen[0], (25, "You are a helpful AI assistant".to_owned()));
        assert_eq!(seen[1].0, 30);
        assert!(seen[1].1.starts_with("You are an expert programmer"));
        assert_eq!(seen[2], (30, "You are a strategic advisor".to_owned()));
    }

    #[test]
    fn states_of_modes_we_do_not_have_are_kept() {
        let mut registry = registry();
        let kept =
            json!({"code": {"turn_count": 3, "sections": {}}, "poetry": {"metre": "iambic"}});
        let Value::Object(kept) = kept else {
            unreachable!()
        };
        registry.restore(&ModeStates(kept));
        let states = registry.states().0;
        assert_eq!(states["poetry"], json!({"metre": "iambic"}));
        assert_eq!(states["code"], json!({"turn_count": 3, "sections": {}}));
        assert_eq!(states["reasoning"], json!({"turn_count": 0}));
    }
}
