//! Which tools there are, and which of them a request offers (C36).
//!
//! Unit: a tool, by its name. Three things decide: what the person chose for the whole run ([`Selection`]), what a
//! person switched by hand, and what the model asked for in the running turn. Invariant: what is offered comes in the
//! order of names, so that requests begin alike.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;

use super::{Failure, MEMORY, Tool};
use crate::chat::ToolSpec;

/// Active in every mode; the model cannot put them away.
const ALWAYS: [&str; 2] = [REQUEST_TOOLS, "current_time"];

/// The tool that loads others.
pub const REQUEST_TOOLS: &str = "request_tools";

/// What a mode has at hand without asking; all else is loaded on demand.
const PRESETS: [(&str, &[&str]); 3] = [
    ("conversation", &["memory_search", "memorize"]),
    (
        "code",
        &[
            "track",
            "scratchpad_read",
            "scratchpad_write",
            "memory_search",
            "read_file",
            "search_files",
            "list_directory",
            "edit_file",
            "write_file",
            "shell",
        ],
    ),
    (
        "reasoning",
        &["track", "deep_think", "memory_search", "history_search"],
    ),
];

/// Tools that keep something beyond a turn.
const KEEPING: [&str; 5] = [
    "memorize",
    MEMORY,
    "memories",
    "pin_context",
    "scratchpad_write",
];

/// Rows of the catalogue that one answer shows.
const MAX_LISTED: usize = 200;

/// What a person chose: `tools.preset`, `--tools`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// No tool is offered but what a person switches on.
    None,
    /// The mode's few, and what is asked for.
    #[default]
    Mode,
    All,
    /// These and no others.
    Listed(Vec<String>),
}

/// Why a tool is offered, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// By the mode, or because all are.
    Active,
    /// The model asked for it in this turn.
    Loaded,
    /// A person switched it on, or off.
    On,
    Off,
    /// Can be asked for.
    OnDemand,
    /// Not among those that were listed.
    Excluded,
}

/// One row of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listed<'a> {
    pub spec: &'a ToolSpec,
    pub state: State,
}

/// No tool has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown tool {name}{}", near(.nearest.as_deref()))]
pub struct UnknownTool {
    pub name: String,
    pub nearest: Option<String>,
}

fn near(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

/// The tools of a run.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    /// Names of tools that come and go.
    guests: BTreeSet<String>,
    selection: Selection,
    loaded: BTreeSet<String>,
    /// By hand: on or off.
    switched: BTreeMap<String, Switch>,
    /// Whether tools that the model was trained with are at hand in every mode (Q37).
    favours_trained: bool,
}

/// What a person says of one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    On,
    Off,
}

impl Registry {
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>, selection: Selection) -> Self {
        let mut registry = Self {
            selection,
            ..Self::default()
        };
        registry.add(tools);
        registry
    }

    /// Adds tools; one with a name that is known takes its place.
    pub fn add(&mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) {
        let named = tools
            .into_iter()
            .map(|tool| (tool.spec().name.clone(), tool));
        self.tools.extend(named);
    }

    /// Puts tools that come and go in place of those that came before; none takes the name of one that stays.
    pub fn welcome(&mut self, guests: impl IntoIterator<Item = Arc<dyn Tool>>) {
        for name in std::mem::take(&mut self.guests) {
            self.tools.remove(&name);
        }
        for guest in guests {
            let name = guest.spec().name.clone();
            if !self.tools.contains_key(&name) {
                self.guests.insert(name.clone());
                self.tools.insert(name, guest);
            }
        }
    }

    /// Names of the tools that stay.
    pub fn own_names(&self) -> BTreeSet<String> {
        let own = self
            .tools
            .keys()
            .filter(|name| !self.guests.contains(*name));
        own.cloned().collect()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Makes another choice for the rest of the run. None puts off what was switched on before, too.
    pub fn select(&mut self, selection: Selection) {
        if selection == Selection::None {
            self.switched.retain(|_, switch| *switch == Switch::Off);
        }
        self.selection = selection;
    }

    /// What the model loaded is put away: a new turn has the mode's few again.
    pub fn begin_turn(&mut self) {
        self.loaded.clear();
    }

    /// Says whether the model was trained with some of the tools: these are at hand in every mode then.
    pub fn favour_trained(&mut self, favours: bool) {
        self.favours_trained = favours;
    }

    /// Whether tools that the model was trained with are at hand in every mode.
    pub fn favours_trained(&self) -> bool {
        self.favours_trained
    }

    /// Switches a tool by hand, for the rest of the run.
    pub fn switch(&mut self, name: &str, switch: Switch) -> Result<(), UnknownTool> {
        let name = self.known(name)?.to_owned();
        self.switched.insert(name, switch);
        Ok(())
    }

    /// Returns what a request in a mode offers.
    pub fn offered(&self, mode: &str) -> Vec<ToolSpec> {
        let rows = self.catalogue(mode);
        rows.filter(|row| row.state.is_offered())
            .map(|row| row.spec.clone())
            .collect()
    }

    /// A tool that the model calls. One that it could have loaded first is loaded.
    pub fn called(&mut self, name: &str, mode: &str) -> Option<&Arc<dyn Tool>> {
        let can_load = self.callable(REQUEST_TOOLS, mode).is_some();
        if can_load && self.state(name, mode) == State::OnDemand && self.tools.contains_key(name) {
            self.loaded.insert(name.to_owned());
        }
        self.callable(name, mode)
    }

    /// A tool that may be called now.
    pub fn callable(&self, name: &str, mode: &str) -> Option<&Arc<dyn Tool>> {
        let tool = self.tools.get(name)?;
        self.state(name, mode).is_offered().then_some(tool)
    }

    /// Every tool, with its state.
    pub fn catalogue<'a>(&'a self, mode: &'a str) -> impl Iterator<Item = Listed<'a>> {
        self.tools.iter().map(move |(name, tool)| Listed {
            spec: tool.spec(),
            state: self.state(name, mode),
        })
    }

    /// One sentence on what could be loaded: it stands in the prompt.
    pub fn further(&self, mode: &str) -> String {
        let on_demand = self
            .catalogue(mode)
            .filter(|row| matches!(row.state, State::OnDemand | State::Loaded));
        let names: Vec<&str> = on_demand.map(|row| row.spec.name.as_str()).collect();
        if names.is_empty() || self.callable(REQUEST_TOOLS, mode).is_none() {
            return String::new();
        }
        format!(
            "- More tools can be loaded with `{REQUEST_TOOLS}` and then called in your next reply: {}.",
            names.join(", ")
        )
    }

    /// Returns whether the model has a tool, or can load one, that keeps something.
    pub fn can_keep(&self, mode: &str) -> bool {
        let can_load = self.callable(REQUEST_TOOLS, mode).is_some();
        KEEPING.iter().any(|name| {
            self.tools.contains_key(*name)
                && match self.state(name, mode) {
                    State::OnDemand => can_load,
                    state => state.is_offered(),
                }
        })
    }

    /// Loads and puts away what the model asks for; answers with the tools it has then, or with the catalogue.
    pub fn load(
        &mut self,
        add: &[String],
        remove: &[String],
        query: Option<&str>,
        mode: &str,
    ) -> Result<String, Failure> {
        if add.is_empty() && remove.is_empty() {
            return Ok(self.described(query.unwrap_or_default(), mode));
        }
        let mut adding = Vec::new();
        for name in add {
            let name = self.known(name).map_err(Failure::of)?;
            match self.state(name, mode) {
                State::Off | State::Excluded => {
                    return Err(Failure::Failed(format!(
                        "{name} was switched off by the user"
                    )));
                }
                State::OnDemand => adding.push(name.to_owned()),
                State::Active | State::Loaded | State::On => {}
            }
        }
        for name in remove {
            let name = self.known(name).map_err(Failure::of)?;
            if matches!(self.state(name, mode), State::Active | State::On) {
                return Err(Failure::Failed(format!("{name} cannot be removed")));
            }
        }
        self.loaded.extend(adding);
        for name in remove {
            self.loaded.remove(name);
        }
        let active: Vec<String> = self.offered(mode).into_iter().map(|it| it.name).collect();
        Ok(format!("Tools you can call now: {}", active.join(", ")))
    }

    fn state(&self, name: &str, mode: &str) -> State {
        match (self.switched.get(name), &self.selection) {
            (Some(Switch::Off), _) => State::Off,
            (Some(Switch::On), _) => State::On,
            (None, Selection::All) => State::Active,
            (None, Selection::Listed(names)) if names.iter().any(|it| it == name) => State::Active,
            (None, Selection::None | Selection::Listed(_)) => State::Excluded,
            (None, Selection::Mode) if ALWAYS.contains(&name) || in_preset(name, mode) => {
                State::Active
            }
            (None, Selection::Mode) if self.favours_trained && self.is_trained(name) => {
                State::Active
            }
            (None, Selection::Mode) if self.loaded.contains(name) => State::Loaded,
            (None, Selection::Mode) => State::OnDemand,
        }
    }

    fn is_trained(&self, name: &str) -> bool {
        let tool = self.tools.get(name);
        tool.is_some_and(|tool| tool.spec().trained.is_some())
    }

    /// The catalogue in words: one line a tool.
    fn described(&self, query: &str, mode: &str) -> String {
        let query = query.to_lowercase();
        let rows = self.catalogue(mode).filter(|row| {
            let said = format!("{} {}", row.spec.name, row.spec.description).to_lowercase();
            query.split_whitespace().all(|word| said.contains(word))
        });
        let mut lines: Vec<String> = rows
            .filter(|row| !matches!(row.state, State::Off | State::Excluded))
            .map(|row| {
                let active = if row.state.is_offered() {
                    " (active)"
                } else {
                    ""
                };
                format!("{}{active}: {}", row.spec.name, row.spec.summary())
            })
            .collect();
        if lines.is_empty() {
            return format!("no tool matches {query:?}; ask without a query to see all");
        }
        let unlisted = lines.len().saturating_sub(MAX_LISTED);
        lines.truncate(MAX_LISTED);
        if unlisted > 0 {
            lines.push(format!("… and {unlisted} more; give a query"));
        }
        lines.join("\n")
    }

    fn known(&self, name: &str) -> Result<&str, UnknownTool> {
        if let Some((known, _)) = self.tools.get_key_value(name) {
            return Ok(known);
        }
        Err(UnknownTool {
            name: name.to_owned(),
            nearest: self.nearest(name).map(str::to_owned),
        })
    }

    /// Returns the tool that was likely meant by a name.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let distance = |known: &&String| strsim::damerau_levenshtein(known, name);
        let nearest = self.tools.keys().min_by_key(distance)?;
        (distance(&nearest) <= nearest.len() / 2).then_some(nearest)
    }
}

impl State {
    fn is_offered(self) -> bool {
        match self {
            Self::Active | Self::Loaded | Self::On => true,
            Self::Off | Self::OnDemand | Self::Excluded => false,
        }
    }

    /// As `/tools` shows it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Loaded => "loaded",
            Self::On => "on",
            Self::Off => "off",
            Self::OnDemand => "on demand",
            Self::Excluded => "not selected",
        }
    }
}

fn in_preset(name: &str, mode: &str) -> bool {
    let mut presets = PRESETS.iter().filter(|(known, _)| *known == mode);
    presets.any(|(_, names)| names.contains(&name))
}

impl Selection {
    /// `all`, `none`, `mode`, or names with commas between them.
    pub fn parse(text: &str) -> Self {
        match text.trim() {
            "all" => Self::All,
            "none" => Self::None,
            "mode" | "" => Self::Mode,
            names => Self::Listed(
                names
                    .split(',')
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned)
                    .collect(),
            ),
        }
    }
}

/// One word, or a list of names.
impl<'de> Deserialize<'de> for Selection {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> serde::de::Visitor<'de> for Either {
            type Value = Selection;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("all, none, mode, or a list of tools")
            }

            fn visit_unit<E: serde::de::Error>(self) -> Result<Selection, E> {
                Ok(Selection::Mode)
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Selection, E> {
                Ok(Selection::parse(text))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut names: A,
            ) -> Result<Selection, A::Error> {
                let mut listed = Vec::new();
                while let Some(name) = names.next_element()? {
                    listed.push(name);
                }
                Ok(Selection::Listed(listed))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests;
