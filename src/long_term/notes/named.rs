//! Files of a workspace as a person names, reads and edits them.
//!
//! Invariant: no name leads out of the workspace.

use std::path::PathBuf;

use super::error::NotesError;
use super::long_term::{LONG_TERM, TITLE};
use super::memories::is_inside;
use super::merging::merged;
use super::page::{Edit, Page};
use super::sources::Source;
use super::workspace::Workspace;
use crate::chat::SessionName;

/// What a person sees of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    pub text: String,
    /// Bytes of the file that are not in it.
    pub more: u64,
}

/// A file as it was when an editor got it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    pub source: Source,
    pub path: PathBuf,
    pub text: String,
}

/// What became of an edited draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenIn {
    /// The person changed nothing; nothing was written.
    Unchanged,
    Written {
        /// Lines that others wrote meanwhile, and that are there too.
        others: usize,
    },
}

impl Workspace {
    /// The file that a person means: by its name, a day by its date, `SESSION-STATE.md` as that of the session.
    pub fn named(&self, name: &str, session: &SessionName) -> Option<Source> {
        let name = name.trim();
        if name == "SESSION-STATE.md" {
            return Source::parse(self.session(session).state().source());
        }
        let day = name.strip_suffix(".md").unwrap_or(name);
        Source::parse(name).or_else(|| Source::parse(&format!("memory/{day}.md")))
    }

    /// Names of the files that are there, and of MEMORY.md, as [`Workspace::named`] takes them.
    pub fn names(&self, session: &SessionName) -> Vec<String> {
        const DAYS: usize = 30;
        let found = self.sources(session, DAYS).found.into_iter();
        let state = self.session(session).state().source().to_owned();
        let short = found.map(|source| match source.as_str() {
            name if name == state => "SESSION-STATE.md".to_owned(),
            name => name.to_owned(),
        });
        let mut names: Vec<String> = short.collect();
        if !names.iter().any(|name| name == LONG_TERM) {
            names.insert(0, LONG_TERM.to_owned());
        }
        names
    }

    pub fn path(&self, source: &Source) -> PathBuf {
        self.root().join(source.as_str())
    }

    /// So many characters of a file; `None` where it is not there.
    pub fn beginning(
        &self,
        source: &Source,
        chars: usize,
    ) -> Result<Option<Beginning>, NotesError> {
        /// Bytes of the widest character.
        const WIDEST: usize = 4;
        let Some(size) = self.size(source)? else {
            return Ok(None);
        };
        let text = if is_inside(source.as_str()) {
            match self.text(source)? {
                Some(text) => text,
                None => return Ok(None),
            }
        } else {
            Page::new(self.desk(), source.as_str()).head(chars.saturating_mul(WIDEST))?
        };
        let text: String = text.chars().take(chars).collect();
        let more = size.saturating_sub(text.len() as u64);
        Ok(Some(Beginning { text, more }))
    }

    /// A file as an editor is to have it; one of the root that is not there is begun, MEMORY.md with its title. `None`
    /// where there is no such file, and none that a person would begin. Nothing is written.
    pub fn draft(&self, source: &Source) -> Result<Option<Draft>, NotesError> {
        // What cannot be read as text is not to be edited as text; a link in the model's folder leads who knows where.
        let text = match self.text(source)? {
            Some(text) => text,
            None if source.as_str().contains('/') => return Ok(None),
            None => begun(source).to_owned(),
        };
        Ok(Some(Draft {
            path: self.path(source),
            source: source.clone(),
            text,
        }))
    }

    /// Writes what a person made of a draft, without what was written into the file meanwhile being lost.
    pub fn take_in(&self, draft: &Draft, edited: &str) -> Result<TakenIn, NotesError> {
        if edited == draft.text {
            return Ok(TakenIn::Unchanged);
        }
        if is_inside(draft.source.as_str()) {
            // No link may have come into the model's folder.
            self.text(&draft.source)?;
        }
        let page = Page::new(self.desk(), draft.source.as_str());
        page.edit(|now| {
            let now = if now.is_empty() {
                begun(&draft.source)
            } else {
                now
            };
            let (whole, others) = merged(&draft.text, edited, now);
            Ok((Edit::replace(whole), TakenIn::Written { others }))
        })
    }
}

/// What is in a file that is not there yet.
fn begun(source: &Source) -> &'static str {
    if source.as_str() == LONG_TERM {
        TITLE
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::files::{Disk, LocalDisk, MemoryDisk};
    use crate::long_term::notes::WorkspaceSettings;

    fn session() -> SessionName {
        "work".parse().unwrap()
    }

    fn on(disk: impl Disk + 'static, root: &std::path::Path) -> Workspace {
        let settings = WorkspaceSettings::default();
        Workspace::new(Arc::new(disk), root.to_owned(), settings)
    }

    #[test]
    fn a_name_is_a_file_of_the_workspace_or_nothing() {
        let workspace = on(MemoryDisk::default(), "/w".as_ref());
        for (name, expected) in [
            ("MEMORY.md", Some("MEMORY.md")),
            (" USER.md ", Some("USER.md")),
            ("SESSION-STATE.md", Some("sessions/work/SESSION-STATE.md")),
            ("2026-02-14", Some("memory/2026-02-14.md")),
            ("2026-02-14.md", Some("memory/2026-02-14.md")),
            ("memories/a.md", Some("memories/a.md")),
            ("../../etc/passwd", None),
            ("/etc/passwd", None),
            ("memories/../../x", None),
            ("memory/../../x.md", None),
            ("sessions/../x/SESSION-STATE.md", None),
            ("MEMORY.md\0", None),
            ("", None),
        ] {
            let found = workspace.named(name, &session());
            assert_eq!(found.as_ref().map(Source::as_str), expected, "{name:?}");
        }
    }

    #[test]
    fn a_beginning_ends_between_characters_and_tells_what_is_left() {
        let disk = MemoryDisk::with([("/w/MEMORY.md", "äöü".as_bytes()), ("/w/USER.md", b"\xff")]);
        let workspace = on(disk, "/w".as_ref());
        let of = |name: &str, chars| {
            let source = workspace.named(name, &session()).unwrap();
            workspace.beginning(&source, chars)
        };
        let beginning = of("MEMORY.md", 2).unwrap().unwrap();
        assert_eq!((beginning.text.as_str(), beginning.more), ("äö", 2));
        assert_eq!(of("MEMORY.md", 9).unwrap().unwrap().more, 0);
        assert_eq!(of("SOUL.md", 9).unwrap(), None);
        assert!(of("USER.md", 9).is_err());
    }

    #[test]
    fn what_a_person_may_edit_is_drafted_and_nothing_is_made_before_it_is_changed() {
        let disk = MemoryDisk::default();
        let workspace = on(disk.clone(), "/w".as_ref());
        let draft = |name: &str| {
            let source = workspace.named(name, &session()).unwrap();
            workspace.draft(&source).unwrap()
        };
        let memory = draft("MEMORY.md").unwrap();
        assert_eq!(memory.text, "# Memory\n");
        let soul = draft("SOUL.md").unwrap();
        for draft in [&memory, &soul] {
            let taken = workspace.take_in(draft, &draft.text).unwrap();
            assert_eq!(taken, TakenIn::Unchanged);
        }
        for name in ["memories/a.md", "2026-02-14", "SESSION-STATE.md"] {
            assert_eq!(draft(name), None, "{name}");
        }
        assert!(disk.files().is_empty());
        let taken = workspace.take_in(&memory, "# Memory\n- mine\n").unwrap();
        assert_eq!(taken, TakenIn::Written { others: 0 });
        assert_eq!(draft("MEMORY.md").unwrap().text, "# Memory\n- mine\n");
    }

    #[test]
    fn what_another_session_noted_while_an_editor_had_the_file_stays() {
        let disk = MemoryDisk::with([("/w/MEMORY.md", b"# Memory\n\n- tea\n" as &[u8])]);
        let workspace = on(disk.clone(), "/w".as_ref());
        let source = workspace.named("MEMORY.md", &session()).unwrap();
        let draft = workspace.draft(&source).unwrap().unwrap();
        disk.put("/w/MEMORY.md", b"# Memory\n\n- tea\n- noted meanwhile\n");
        let taken = workspace
            .take_in(&draft, "# Mine\n\n- green tea\n")
            .unwrap();
        assert_eq!(taken, TakenIn::Written { others: 1 });
        let whole = workspace.text(&source).unwrap().unwrap();
        for line in ["# Mine\n", "- green tea\n", "- noted meanwhile\n"] {
            assert!(whole.contains(line), "{whole}");
        }
        assert!(!whole.contains("- tea"), "{whole}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_models_folder_is_neither_shown_nor_edited() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        Disk::replace(&LocalDisk, &secret, b"secret").unwrap();
        std::fs::create_dir_all(folder.path().join("w/memories")).unwrap();
        std::os::unix::fs::symlink(&secret, folder.path().join("w/memories/a.md")).unwrap();
        let workspace = on(LocalDisk, &folder.path().join("w"));
        let source = workspace.named("memories/a.md", &session()).unwrap();
        let shown = workspace.beginning(&source, 100);
        assert!(!matches!(shown, Ok(Some(_))), "{shown:?}");
        assert!(!matches!(workspace.draft(&source), Ok(Some(_))));
    }
}
