//! Settings before they are typed: a tree of keys and values, as a file, the environment or the command
//! line gave them. Unit: one layer. Invariant: a block never holds a key twice.
//!
//! Values may be secrets, so nothing here implements `Debug`.

use std::fmt;

use super::yaml;

/// A value or a block of keys.
#[derive(Clone, PartialEq)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Whole(i128),
    Real(f64),
    Text(String),
    /// Text of a variable or a flag: becomes whatever its key wants.
    Word(String),
    List(Vec<Self>),
    Block(Vec<(String, Self)>),
}

impl Tree {
    pub(super) fn empty() -> Self {
        Self::Block(Vec::new())
    }

    /// Returns what the value is, for a message; never the value.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Whole(_) | Self::Real(_) => "a number",
            Self::Text(_) | Self::Word(_) => "text",
            Self::List(_) => "a list",
            Self::Block(_) => "a mapping",
        }
    }

    /// Returns what is set at `path`; nothing where the value is empty.
    pub(super) fn get(&self, path: &KeyPath) -> Option<&Self> {
        self.find(path).filter(|found| **found != Self::Null)
    }

    fn find(&self, path: &KeyPath) -> Option<&Self> {
        path.0.iter().try_fold(self, |at, name| match at {
            Self::Block(entries) => entries
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value),
            _ => None,
        })
    }

    /// Returns whether `path` is written at all, empty or not.
    pub(super) fn has(&self, path: &KeyPath) -> bool {
        self.find(path).is_some()
    }

    /// Sets a value, making blocks on the way.
    pub(super) fn set(&mut self, path: &KeyPath, value: Self) {
        let mut at = self;
        for name in &path.0 {
            if !matches!(at, Self::Block(_)) {
                *at = Self::empty();
            }
            let Self::Block(entries) = at else { return };
            // From the end: what is merged comes block by block.
            let index = entries
                .iter()
                .rposition(|(key, _)| key == name)
                .unwrap_or_else(|| {
                    entries.push((name.clone(), Self::Null));
                    entries.len() - 1
                });
            at = &mut entries[index].1;
        }
        *at = value;
    }

    /// Takes a value out, as if it had never been set.
    pub(super) fn remove(&mut self, path: &KeyPath) {
        let Some((last, parents)) = path.0.split_last() else {
            *self = Self::empty();
            return;
        };
        let mut at = self;
        for name in parents {
            let Self::Block(entries) = at else { return };
            let Some((_, next)) = entries.iter_mut().find(|(key, _)| key == name) else {
                return;
            };
            at = next;
        }
        if let Self::Block(entries) = at {
            entries.retain(|(key, _)| key != last);
        }
    }

    /// Lays `over` on top: blocks are merged key by key, anything else is replaced.
    pub(super) fn merge(&mut self, over: &Self) {
        for (path, value) in over.leaves() {
            self.set(&path, value.clone());
        }
    }

    /// Every value with its path, in the order of writing. An empty block counts as a value.
    pub(super) fn is_empty_block(&self) -> bool {
        matches!(self, Self::Block(entries) if entries.is_empty())
    }

    pub(super) fn leaves(&self) -> Vec<(KeyPath, &Self)> {
        let mut found = Vec::new();
        self.collect_leaves(&KeyPath::default(), &mut found);
        found
    }

    fn collect_leaves<'a>(&'a self, at: &KeyPath, found: &mut Vec<(KeyPath, &'a Self)>) {
        match self {
            Self::Null => {}
            Self::Block(entries) if !entries.is_empty() => {
                for (key, value) in entries {
                    value.collect_leaves(&at.child(key), found);
                }
            }
            Self::Block(_) if at.0.is_empty() => {}
            value => found.push((at.clone(), value)),
        }
    }

    /// The value in words, as a person would write it. No two values of one kind read alike.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Bool(value) => value.to_string(),
            Self::Whole(value) => value.to_string(),
            Self::Real(value) => value.to_string(),
            Self::Text(text) | Self::Word(text) => {
                if text.is_empty() || text.starts_with('"') || text.contains(char::is_control) {
                    quoted(text)
                } else {
                    text.clone()
                }
            }
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(Self::shown_inside).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Block(entries) => {
                let entries: Vec<_> = entries
                    .iter()
                    .map(|(key, value)| {
                        let key = Self::Text(key.clone()).shown_inside();
                        format!("{key}: {}", value.shown_inside())
                    })
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    /// As it stands in a list: a text that could be read as another value, or as more than one, is quoted.
    fn shown_inside(&self) -> String {
        let is_plain = |text: &str| {
            let is_name = |c: char| c.is_alphanumeric() || "-_./@~*".contains(c);
            text.contains(char::is_alphabetic)
                && text.chars().all(is_name)
                && matches!(yaml::parse(text), Ok(Self::Text(_)))
        };
        match self {
            Self::Null => "null".to_owned(),
            Self::Real(value) => format!("{value:?}"),
            Self::Text(text) | Self::Word(text) if !is_plain(text) => quoted(text),
            other => other.shown(),
        }
    }

    /// Appends kind, length and content, item by item, so that no two values come to the same bytes.
    pub(super) fn write_to(&self, bytes: &mut Vec<u8>) {
        let mut add = |kind: u8, content: &[u8]| {
            bytes.push(kind);
            bytes.extend((content.len() as u64).to_le_bytes());
            bytes.extend(content);
        };
        match self {
            Self::Null => add(0, &[]),
            Self::Bool(value) => add(1, &[u8::from(*value)]),
            Self::Whole(value) => add(2, &value.to_le_bytes()),
            Self::Real(value) => add(3, &value.to_le_bytes()),
            Self::Text(text) => add(4, text.as_bytes()),
            Self::Word(text) => add(5, text.as_bytes()),
            Self::List(items) => {
                add(6, &(items.len() as u64).to_le_bytes());
                for item in items {
                    item.write_to(bytes);
                }
            }
            Self::Block(entries) => {
                add(7, &(entries.len() as u64).to_le_bytes());
                for (key, value) in entries {
                    Self::Text(key.clone()).write_to(bytes);
                    value.write_to(bytes);
                }
            }
        }
    }
}

/// The text between quotation marks, with marks, backslashes and control characters written out.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", printable(&text))
}

/// The text with control characters written out.
fn printable(text: &str) -> String {
    text.chars().fold(String::new(), |mut shown, c| {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
        shown
    })
}

/// Where a value stands: the names from the top down to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyPath(pub(super) Vec<String>);

impl KeyPath {
    /// From dotted text, as our own tables write it.
    pub(super) fn new(dotted: &str) -> Self {
        Self(dotted.split('.').map(str::to_owned).collect())
    }

    pub(super) fn child(&self, name: &str) -> Self {
        let mut path = self.clone();
        path.0.push(name.to_owned());
        path
    }

    pub(super) fn parent(&self) -> Self {
        let mut path = self.clone();
        path.0.pop();
        path
    }

    pub(super) fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }

    /// Returns whether it lies below the block of this name at the top.
    pub(super) fn is_below(&self, block: &str) -> bool {
        self.0.len() > 1 && self.0[0] == block
    }

    /// Returns whether this is the key a table row means; `*` in a row stands for any name.
    pub(super) fn matches(&self, row: &str) -> bool {
        let mut names = self.0.iter();
        row.split('.').all(|wanted| {
            names
                .next()
                .is_some_and(|name| wanted == "*" || wanted == name)
        }) && names.next().is_none()
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.0.join(".")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Tree {
        Tree::Text(value.to_owned())
    }

    fn tree(entries: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::empty();
        for (key, value) in entries {
            tree.set(&KeyPath::new(key), text(value));
        }
        tree
    }

    #[test]
    fn the_layer_on_top_wins_key_by_key() {
        let mut below = tree(&[("a.x", "1"), ("a.y", "2"), ("b", "3")]);
        below.merge(&tree(&[("a.y", "9"), ("c", "4")]));
        let found: Vec<_> = below
            .leaves()
            .iter()
            .map(|(path, value)| format!("{path}={}", value.shown()))
            .collect();
        assert_eq!(found, ["a.x=1", "a.y=9", "b=3", "c=4"]);
    }

    #[test]
    fn an_empty_value_is_as_good_as_none() {
        let mut tree = tree(&[("a", "1")]);
        let mut over = Tree::empty();
        over.set(&KeyPath::new("a"), Tree::Null);
        tree.merge(&over);
        assert_eq!(
            tree.get(&KeyPath::new("a")).map(Tree::shown).as_deref(),
            Some("1")
        );
        assert!(over.get(&KeyPath::new("a")).is_none());
    }

    #[test]
    fn a_removed_key_was_never_there() {
        let mut tree = tree(&[("a.x", "1"), ("a.y", "2")]);
        tree.remove(&KeyPath::new("a.x"));
        tree.remove(&KeyPath::new("a.x.deeper"));
        tree.remove(&KeyPath::new("nowhere"));
        assert_eq!(tree.leaves().len(), 1);
    }

    #[test]
    fn a_star_stands_for_one_name() {
        let path = KeyPath::new("providers.local.base_url");
        assert!(path.matches("providers.*.base_url"));
        assert!(!path.matches("providers.*"));
        assert!(!path.matches("providers.*.base_url.more"));
        assert!(!path.matches("providers.other.base_url"));
    }
}
