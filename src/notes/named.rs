//! Files of a workspace as a person names, reads and edits them. Unit: one file.
//!
//! Invariant: no name leads out of the workspace.

use std::path::PathBuf;

use super::error::NotesError;
use super::long_term::TITLE;
use super::memories::is_inside;
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
        if !names.iter().any(|name| name == "MEMORY.md") {
            names.insert(0, "MEMORY.md".to_owned());
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

    /// The path of a file for an editor; one of the root that is not there is begun, MEMORY.md with its title. `None` where
    /// there is no such file, and none that a person would begin.
    pub fn begin(&self, source: &Source) -> Result<Option<PathBuf>, NotesError> {
        let page = Page::new(self.desk(), source.as_str());
        // What cannot be read as text is not to be edited as text; a link in the model's folder leads who knows where.
        let is_there = self.beginning(source, 1)?.is_some();
        if !is_there && source.as_str().contains('/') {
            return Ok(None);
        }
        if !is_there {
            let title = if source.as_str() == "MEMORY.md" {
                TITLE
            } else {
                ""
            };
            page.edit(|text| {
                let whole = if text.is_empty() { title } else { text }.to_owned();
                Ok((Edit::Replace { whole, added: None }, ()))
            })?;
        }
        Ok(Some(page.path))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::files::{Disk, LocalDisk, MemoryDisk};
    use crate::notes::WorkspaceSettings;

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
    fn what_a_person_may_begin_is_begun_and_what_is_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = on(LocalDisk, &folder.path().join("w"));
        let begin = |name: &str| {
            let source = workspace.named(name, &session()).unwrap();
            workspace.begin(&source).unwrap()
        };
        let path = begin("MEMORY.md").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "# Memory\n");
        Disk::replace(&LocalDisk, &path, b"mine").unwrap();
        assert_eq!(begin("MEMORY.md"), Some(path.clone()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        assert_eq!(
            std::fs::read_to_string(begin("USER.md").unwrap()).unwrap(),
            ""
        );
        for name in ["memories/a.md", "2026-02-14", "SESSION-STATE.md"] {
            assert_eq!(begin(name), None, "{name}");
        }
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
        assert!(!matches!(workspace.begin(&source), Ok(Some(_))));
    }
}
