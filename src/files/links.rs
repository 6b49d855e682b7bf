//! Where a link of the person's own leads. Unit: one path.

use std::path::{Path, PathBuf};

/// Links that lead to links; more are a circle.
const MOST: usize = 40;

/// The file behind a path, be it there or not: who replaces that leaves the link a link. For paths that the person chose, never
/// for names of a model.
pub fn behind_links(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MOST {
        let Ok(leads_to) = std::fs::read_link(&target) else {
            return target;
        };
        target = target.parent().unwrap_or(Path::new("")).join(leads_to);
    }
    path.to_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_leads_to_what_is_not_there_yet_and_a_circle_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        symlink("later/c.md", path("b.md")).unwrap();
        symlink(path("b.md"), path("a.md")).unwrap();
        symlink("round.md", path("round.md")).unwrap();
        assert_eq!(behind_links(&path("a.md")), path("later/c.md"));
        assert_eq!(behind_links(&path("plain.md")), path("plain.md"));
        assert_eq!(behind_links(&path("round.md")), path("round.md"));
    }
}
