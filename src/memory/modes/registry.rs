//! Modes by name (C6, A11).

use std::borrow::Cow;

use serde_json::Value;

use super::{MemoryMode, standard};
use crate::chat::ModeStates;
use crate::hint::Hint;
use crate::memory::tracking::Kind;
use crate::memory::tracking::readers::Readers;
use crate::memory::{Prompts, Settings};

/// Every mode there is, and which of them is active. All read every turn; one speaks.
///
/// Invariant: names are unique and not empty; `active` is an index of `modes`.
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
    #[error("unknown mode {name:?}")]
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
    /// Names of the standard modes.
    pub const STANDARD: [&str; 3] = [standard::CONVERSATION, standard::CODE, standard::REASONING];

    /// The three standard modes, `conversation` active (C37).
    pub fn standard(settings: &Settings, prompts: &Prompts, readers: Readers) -> Self {
        let modes = &settings.modes;
        let conversation = standard::conversation(
            &modes.conversation,
            &prompts.conversation,
            readers.conversation,
        );
        let code = standard::code(&modes.code, &prompts.code, readers.code);
        let reasoning =
            standard::reasoning(&modes.reasoning, &prompts.reasoning, readers.reasoning);
        Self {
            modes: vec![Box::new(conversation), Box::new(code), Box::new(reasoning)],
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
        if self.index_of(name).is_some() {
            return Err(BadMode::Duplicate { name: name.clone() });
        }
        self.modes.push(mode);
        Ok(())
    }

    /// Makes a mode the active one. The name is trimmed and its case does not matter (C64).
    pub fn switch(&mut self, name: &str) -> Result<(), BadMode> {
        self.active = self.find(name)?;
        Ok(())
    }

    fn find(&self, name: &str) -> Result<usize, BadMode> {
        let name = name.trim().to_lowercase();
        self.index_of(&name).ok_or_else(|| BadMode::Unknown {
            name,
            known: self.names(),
        })
    }

    pub fn active(&self) -> &dyn MemoryMode {
        self.modes[self.active].as_ref()
    }

    pub(crate) fn active_mut(&mut self) -> &mut dyn MemoryMode {
        self.modes[self.active].as_mut()
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

    /// The mode of a name (see [`Registry::switch`]).
    pub fn get(&self, name: &str) -> Result<&dyn MemoryMode, BadMode> {
        self.find(name).map(|index| self.modes[index].as_ref())
    }

    /// The mode that keeps notes of a kind; the active one first.
    pub fn keeper(&self, kind: Kind) -> Option<&dyn MemoryMode> {
        self.keeps(kind).map(|index| self.modes[index].as_ref())
    }

    pub(crate) fn keeper_mut(&mut self, kind: Kind) -> Option<&mut Box<dyn MemoryMode>> {
        let index = self.keeps(kind)?;
        self.modes.get_mut(index)
    }

    fn keeps(&self, kind: Kind) -> Option<usize> {
        let keeps = |index: &usize| {
            let board = self.modes[*index].board();
            board.is_some_and(|board| board.section(kind).is_some())
        };
        std::iter::once(self.active)
            .chain(0..self.modes.len())
            .find(keeps)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn MemoryMode>> {
        self.modes.iter_mut()
    }

    /// The states of all modes, to be kept.
    pub(crate) fn states(&self) -> ModeStates {
        let ours = self
            .iter()
            .map(|mode| (mode.preset().name.clone(), mode.state()));
        ModeStates(self.foreign.iter().cloned().chain(ours).collect())
    }

    /// Takes up kept states; a mode without one starts anew. Tells what could not be read: `code: files[3]`.
    pub(crate) fn restore(&mut self, states: &ModeStates) -> Vec<String> {
        let mut unread = Vec::new();
        for mode in &mut self.modes {
            let kept = states.0.get(&mode.preset().name).cloned();
            let places = mode.restore(kept.unwrap_or(Value::Null));
            let name = &mode.preset().name;
            unread.extend(places.into_iter().map(|place| format!("{name}: {place}")));
        }
        let foreign = states
            .0
            .iter()
            .filter(|(name, _)| self.index_of(name).is_none());
        self.foreign = foreign
            .map(|(name, state)| (name.clone(), state.clone()))
            .collect();
        unread
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.modes
            .iter()
            .position(|mode| mode.preset().name == name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Preset;
    use super::standard::Tracked;
    use super::*;
    use crate::memory::tracking::Board;

    fn registry() -> Registry {
        Registry::standard(
            &Settings::default(),
            &Prompts::embedded(),
            Readers::embedded(),
        )
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
        let texts = Prompts::embedded().code;
        let mode = || {
            Box::new(standard::code(
                &settings.modes.code,
                &texts,
                Readers::embedded().code,
            ))
        };
        assert!(matches!(
            registry.register(mode()),
            Err(BadMode::Duplicate { .. })
        ));
        let unnamed = Tracked {
            preset: Preset {
                name: " ".into(),
                ..mode().preset().clone()
            },
            reader: Readers::embedded().code,
            board: Board::new(&[]),
            template: Prompts::embedded().code.block,
            max_chars: None,
        };
        assert_eq!(registry.register(Box::new(unnamed)), Err(BadMode::Unnamed));
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
        let kept = json!({"code": {"turn_count": 3}, "poetry": {"metre": "iambic"}});
        let Value::Object(kept) = kept else {
            unreachable!()
        };
        registry.restore(&ModeStates(kept));
        let states = registry.states().0;
        assert_eq!(states["poetry"], json!({"metre": "iambic"}));
        assert_eq!(states["code"], json!({"turn_count": 3}));
        assert_eq!(states["reasoning"], json!({"turn_count": 0}));
    }
}
