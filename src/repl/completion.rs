//! What Tab offers: behind a slash names of commands and their first arguments, behind an `@` files of the project.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use bytesize::ByteSize;

use super::commands::{COMMANDS, Completes, EXPORT_FORMATS, MEMORY_FILES, MEMORY_WORDS, find};
use super::input::{Candidate, Complete, Completions};
use super::repl_context::Settings;
use crate::memory::tracking::{Kind, Row};
use crate::tools::files::Project;
use crate::tools::files::mentions::{Begun, Named, names, written};

/// A word and what it means.
pub type Offer = (String, String);

/// Words that take a while to list. Completion is asked at every key, so the list is made when an argument
/// is begun and kept while it is typed.
pub struct Listed {
    list: Box<dyn Fn() -> Vec<Offer> + Send>,
    kept: RefCell<Option<Vec<Offer>>>,
}

impl Listed {
    pub fn by(list: impl Fn() -> Vec<Offer> + Send + 'static) -> Self {
        Self {
            list: Box::new(list),
            kept: RefCell::default(),
        }
    }

    fn offers(&self, begun: &str) -> Vec<Offer> {
        let mut kept = self.kept.borrow_mut();
        if begun.is_empty() {
            *kept = None;
        }
        kept.get_or_insert_with(&self.list).clone()
    }
}

impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listed")
            .field("kept", &self.kept)
            .finish_non_exhaustive()
    }
}

/// So many files are listed one to a line, with their sizes; more stand side by side.
const DESCRIBED: usize = 20;

/// Files of the project. A folder is read when a name in it is begun, and kept while that is typed.
#[derive(Debug)]
pub struct Paths {
    project: Arc<Project>,
    /// The folder as it is typed, whether hidden names are among them, and the names with their sizes.
    kept: RefCell<Option<(String, bool, Vec<Named>)>>,
}

impl Paths {
    pub fn of(project: Arc<Project>) -> Self {
        Self {
            project,
            kept: RefCell::default(),
        }
    }

    fn complete(&self, typed: &str) -> Option<Completions> {
        let begun = Begun::of(typed)?;
        let wanted = (begun.folder, begun.wants_hidden());
        let mut kept = self.kept.borrow_mut();
        let is_kept = |(folder, hidden, _): &mut (String, bool, Vec<Named>)| {
            !begun.name.is_empty() && (folder.as_str(), *hidden) == wanted
        };
        let (_, _, names) = match kept.take_if(is_kept) {
            Some(found) => kept.insert(found),
            None => kept.insert((
                begun.folder.to_owned(),
                wanted.1,
                names(&self.project, begun.folder, wanted.1),
            )),
        };
        let begin_so = |named: &&Named| named.name.starts_with(begun.name);
        let is_described = names.iter().filter(begin_so).count() <= DESCRIBED;
        let candidates = names
            .iter()
            .filter(begin_so)
            .map(|Named { name, bytes }| Candidate {
                replacement: written(&format!("{}{name}", begun.folder)),
                description: match bytes {
                    _ if !is_described => String::new(),
                    Some(bytes) => ByteSize::b(*bytes).display().si().to_string(),
                    None => "folder".to_owned(),
                },
            });
        Some(Completions {
            start: begun.start,
            candidates: candidates.collect(),
        })
    }
}

/// Words that complete arguments. Modes do not change while the program runs.
#[derive(Debug)]
pub struct Offers {
    pub modes: Vec<Offer>,
    pub models: Listed,
    /// Of settings of the context.
    pub presets: Vec<Offer>,
    pub sessions: Listed,
    pub settings: Settings,
    /// Of the workspace.
    pub files: Listed,
    /// `None`: there is no project.
    pub paths: Option<Paths>,
}

impl Offers {
    fn of(&self, completes: Completes, begun: &str) -> Vec<Offer> {
        match completes {
            Completes::Nothing => Vec::new(),
            Completes::Modes => self.modes.clone(),
            Completes::Memory => {
                let words = explained(&MEMORY_WORDS);
                words.chain(self.modes.iter().cloned()).collect()
            }
            Completes::Formats => explained(&EXPORT_FORMATS).collect(),
            Completes::Models => self.models.offers(begun),
            Completes::Settings => {
                let settings = self.settings.iter();
                settings
                    .map(|setting| (setting.key.clone(), setting.value.clone()))
                    .collect()
            }
            Completes::Sessions => self.sessions.offers(begun),
            Completes::Commands => COMMANDS
                .iter()
                .map(|command| (command.name.to_owned(), command.summary.to_owned()))
                .collect(),
            Completes::Kinds => kinds(|row| row.name),
            Completes::Sections => kinds(|row| row.section),
            Completes::Words(words) => words
                .iter()
                .map(|word| ((*word).to_owned(), String::new()))
                .collect(),
        }
    }
}

/// The name of a file behind `/memory edit`.
fn file_begun(completes: Completes, begun: &str) -> Option<&str> {
    let (word, rest) = begun.split_once(' ')?;
    (completes == Completes::Memory && MEMORY_FILES.contains(&word)).then(|| rest.trim_start())
}

fn explained<'a>(words: &'a [(&'a str, &'a str)]) -> impl Iterator<Item = Offer> + 'a {
    let offer = |(word, does): &(&str, &str)| ((*word).to_owned(), (*does).to_owned());
    words.iter().map(offer)
}

fn kinds(name: impl Fn(&Row) -> &'static str) -> Vec<Offer> {
    let rows = Kind::all().map(Kind::row);
    rows.map(|row| (name(row).to_owned(), row.heading.to_owned()))
        .collect()
}

impl Complete for Offers {
    fn complete(&self, line: &str, cursor: usize) -> Completions {
        let Some(rest) = line.get(..cursor).and_then(|line| line.strip_prefix('/')) else {
            let typed = line.get(..cursor);
            let paths = self.paths.as_ref().zip(typed);
            return paths
                .and_then(|(paths, typed)| paths.complete(typed))
                .unwrap_or_default();
        };
        let (start, begun, offers) = match rest.split_once(' ') {
            None => (1, rest, self.of(Completes::Commands, rest)),
            Some((name, argument)) => {
                let completes = find(name).map_or(Completes::Nothing, |command| command.completes);
                let begun = argument.trim_start();
                if let Some(begun) = file_begun(completes, begun) {
                    (cursor - begun.len(), begun, self.files.offers(begun))
                } else if let ("context", Some(begun)) = (name, begun.strip_prefix("preset ")) {
                    (cursor - begun.len(), begun, self.presets.clone())
                } else {
                    (cursor - begun.len(), begun, self.of(completes, begun))
                }
            }
        };
        let candidates = offers
            .into_iter()
            .filter(|(word, _)| word.starts_with(begun))
            .map(|(replacement, description)| Candidate {
                replacement,
                description,
            });
        Completions {
            start,
            candidates: candidates.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::repl::repl_context::Setting;

    #[test]
    fn names_and_arguments_are_completed() {
        let offers = Offers {
            modes: vec![("code".into(), "Programming".into())],
            models: Listed::by(|| vec![("desk/big".into(), String::new())]),
            presets: vec![("qanot".into(), "threshold: 0.6".into())],
            sessions: Listed::by(|| vec![("work".into(), "First words".into())]),
            settings: Arc::new(LazyLock::new(Box::new(|| {
                vec![Setting {
                    key: "ui.keys".into(),
                    value: "vi".into(),
                    source: None,
                }]
            }))),
            files: Listed::by(|| vec![("MEMORY.md".into(), String::new())]),
            paths: None,
        };
        for (line, start, expected) in [
            ("/mo", 1, vec!["mode", "model"]),
            ("/mode c", 6, vec!["code"]),
            ("/M ", 3, vec!["code"]),
            ("/model desk/", 7, vec!["desk/big"]),
            ("/context f", 9, vec!["full"]),
            ("/context preset q", 16, vec!["qanot"]),
            ("/config ui.", 8, vec!["ui.keys"]),
            ("/delete w", 8, vec!["work"]),
            ("/export j", 8, vec!["json"]),
            ("/memory re", 8, vec!["restore", "reindex"]),
            ("/memory edit ", 13, vec!["MEMORY.md"]),
            ("/mem show ME", 10, vec!["MEMORY.md"]),
            ("/memory forget ME", 8, vec![]),
            ("/mem c", 5, vec!["code"]),
            ("/unpin a", 7, vec!["all"]),
            ("hello", 0, vec![]),
            ("/nonsense x", 10, vec![]),
        ] {
            let completions = offers.complete(line, line.len());
            let words: Vec<_> = completions
                .candidates
                .iter()
                .map(|c| c.replacement.as_str())
                .collect();
            assert_eq!((completions.start, words), (start, expected), "{line:?}");
        }
        let formats = offers.complete("/export ", 8).candidates;
        assert!(formats.iter().all(|format| !format.description.is_empty()));
    }
}
