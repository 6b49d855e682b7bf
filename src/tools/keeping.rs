//! What tools want done with what outlives a turn: entries of memory, pins, the scratchpad. The doing is the agent's.

use super::{Around, Failure};
use crate::long_term::entries::{Origin, Scope, Wanted};

/// One wish.
#[derive(Clone, Debug, PartialEq)]
pub enum Keeping {
    Add(Adding),
    Get {
        name: String,
        scope: Option<Scope>,
    },
    Search {
        query: String,
        scope: Option<Scope>,
        limit: usize,
    },
    List {
        scope: Option<Scope>,
        limit: usize,
    },
    Remove {
        name: String,
        scope: Option<Scope>,
    },
    Pin(String),
    /// Every pin goes.
    Unpin,
    /// On the scratchpad.
    Write {
        key: String,
        text: String,
    },
}

/// Something for the entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Adding {
    /// `None`: where things of its kind go.
    pub scope: Option<Scope>,
    pub wanted: Wanted,
    pub lasting: Lasting,
}

/// Where it goes beside the entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lasting {
    #[default]
    Entry,
    /// Also into MEMORY.md (Q20).
    Durable,
}

/// A scope as a model names it.
pub(super) fn scope_of(name: Option<&str>) -> Result<Option<Scope>, Failure> {
    let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let scope = Scope::parse(&name.to_lowercase());
    scope.map(Some).ok_or_else(|| {
        Failure::Arguments(format!(
            "unknown scope {name:?}; use session, project or global"
        ))
    })
}

/// The message that is being answered.
pub(super) fn origin(around: &Around<'_>) -> Option<Origin> {
    let asked = around.session.running().first()?;
    Some(Origin {
        session: around.session.name().to_string(),
        message: asked.id.as_str().to_owned(),
        at: asked.at,
    })
}
