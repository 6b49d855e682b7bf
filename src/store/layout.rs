//! Where a session's files are, and which of them go together: one table, used by opening,
//! renaming, discarding and archiving alike.

use std::path::{Path, PathBuf};

use crate::chat::{SessionName, Timestamp};
use crate::files::{self, Disk, What};

const HISTORY: &str = "history";
const TRASH: &str = "trash";
const ARCHIVE: &str = "archive";

const SNAPSHOT: &str = ".json";
const JOURNAL: &str = ".journal.jsonl";
const HYBRID: &str = "_hybrid.json";
const MODE_STATE: &str = "_mode_state.json";
const SCRATCHPAD: &str = "_scratchpad.json";
const PINS: &str = "_pins.json";
const FORGOTTEN: &str = "_forgotten.json";
const OUTPUTS: &str = "_outputs";
const LOCK: &str = ".lock";
const DAMAGED: &str = ".damaged-";
const MOVING: &str = ".moving";
const LAST: &str = ".last";

/// Everything that belongs to a session: its folder, and how the name ends. In the order of moving: what
/// a session is found by comes last.
const PIECES: [(&str, &str); 11] = [
    ("changes", ""),
    ("vectordb/sessions", ""),
    ("workspace/sessions", ""),
    (HISTORY, OUTPUTS),
    (HISTORY, PINS),
    (HISTORY, SCRATCHPAD),
    (HISTORY, MODE_STATE),
    (HISTORY, HYBRID),
    (HISTORY, FORGOTTEN),
    (HISTORY, JOURNAL),
    (HISTORY, SNAPSHOT),
];

/// A file beside the history, replaced whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Hybrid,
    ModeStates,
    Scratchpad,
    Pins,
    Forgotten,
}

/// The data folder, and what is where in it.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    root: PathBuf,
}

/// What a file in the history folder is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The snapshot or the journal of a session.
    Session(SessionName),
    /// An intent to move the files of a session.
    Moving(SessionName),
}

impl Layout {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn history(&self) -> PathBuf {
        self.root.join(HISTORY)
    }

    pub(super) fn snapshot(&self, name: &SessionName) -> PathBuf {
        self.in_history(name, SNAPSHOT)
    }

    pub(super) fn journal(&self, name: &SessionName) -> PathBuf {
        self.in_history(name, JOURNAL)
    }

    pub(super) fn side(&self, name: &SessionName, side: Side) -> PathBuf {
        self.in_history(
            name,
            match side {
                Side::Hybrid => HYBRID,
                Side::ModeStates => MODE_STATE,
                Side::Scratchpad => SCRATCHPAD,
                Side::Pins => PINS,
                Side::Forgotten => FORGOTTEN,
            },
        )
    }

    /// A folder for what belongs to a session beside its words.
    pub(super) fn outputs(&self, name: &SessionName) -> PathBuf {
        self.in_history(name, OUTPUTS)
    }

    pub(super) fn lock(&self, name: &SessionName) -> PathBuf {
        self.in_history(name, LOCK)
    }

    /// Where the intent to move a session stands; the leading dot keeps it apart from sessions.
    pub(super) fn moving(&self, name: &SessionName) -> PathBuf {
        self.history().join(format!(".{name}{MOVING}"))
    }

    /// Which session a chat was left in last, and when.
    pub(super) fn last(&self) -> PathBuf {
        self.history().join(LAST)
    }

    fn in_history(&self, name: &SessionName, end: &str) -> PathBuf {
        self.history().join(format!("{name}{end}"))
    }

    /// A path given relative to the data folder.
    pub(super) fn inside(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// A folder of its own for what is discarded or archived, relative to the data folder.
    pub(super) fn trash_for(&self, name: &SessionName, now: Timestamp, disk: &dyn Disk) -> String {
        self.free(disk, format!("{TRASH}/{}-{name}", now.compact()))
    }

    /// The folders of sessions of a name in the trash, relative to the data folder, the one discarded last at the end.
    pub(super) fn trashed(&self, name: &SessionName, disk: &dyn Disk) -> Vec<String> {
        let has_history = |folder: &str| {
            let root = Self::new(self.inside(folder));
            let files = [root.snapshot(name), root.journal(name)];
            files.iter().any(|file| disk.size(file).is_ok())
        };
        let found = disk.survey(&self.root.join(TRASH)).unwrap_or_default();
        let folders = found.iter().filter(|it| it.what == What::Folder);
        let mut folders: Vec<String> = folders
            .map(|it| format!("{TRASH}/{}", file_name(&it.path)))
            .filter(|folder| has_history(folder))
            .collect();
        // Times come first in their names; of one second the longer number is the later.
        folders.sort_unstable_by(|a, b| (time_of(a), a.len(), a).cmp(&(time_of(b), b.len(), b)));
        folders
    }

    pub(super) fn archive_for(
        &self,
        name: &SessionName,
        now: Timestamp,
        disk: &dyn Disk,
    ) -> String {
        self.free(disk, format!("{ARCHIVE}/{name}-{}", now.compact()))
    }

    fn free(&self, disk: &dyn Disk, relative: String) -> String {
        let taken = |relative: &str| disk.size(&self.root.join(relative)).is_ok();
        if !taken(&relative) {
            return relative;
        }
        let numbered = (2..).map(|n| format!("{relative}-{n}"));
        let mut free = numbered.skip_while(|candidate| taken(candidate));
        free.next().unwrap_or(relative)
    }

    /// Every folder of what is discarded or archived.
    pub(super) fn put_away(&self, disk: &dyn Disk) -> Vec<PathBuf> {
        let each = [TRASH, ARCHIVE].iter().flat_map(|folder| {
            let found = disk.survey(&self.root.join(folder)).unwrap_or_default();
            let folders = found.into_iter().filter(|it| it.what == What::Folder);
            folders.map(|it| it.path)
        });
        each.collect()
    }

    /// Whether a relative path is one that [`Layout::trash_for`] or [`Layout::archive_for`] gave.
    pub(super) fn is_put_away(relative: &str) -> bool {
        let folder = [TRASH, ARCHIVE]
            .iter()
            .find_map(|folder| relative.strip_prefix(folder)?.strip_prefix('/'));
        folder.is_some_and(|name| !name.is_empty() && !name.contains(['/', '\\']) && name != "..")
    }

    /// Every file and folder of a session that may exist, damaged copies included, in the order of
    /// moving; each as its folder in the data folder and the end of its name.
    pub(super) fn pieces(name: &SessionName, history: &[PathBuf]) -> Vec<Piece> {
        let copies = history.iter().filter_map(|file| {
            let end = file_name(file).strip_prefix(name.as_str())?;
            let of = end.split_once(DAMAGED)?.0;
            let ours = PIECES
                .iter()
                .any(|(_, piece)| *piece == of && !of.is_empty());
            ours.then(|| Piece {
                folder: HISTORY,
                end: end.to_owned(),
            })
        });
        let pieces = PIECES.iter().map(|(folder, end)| Piece {
            folder,
            end: (*end).to_owned(),
        });
        copies.chain(pieces).collect()
    }

    pub(super) fn path_of(&self, piece: &Piece, name: &SessionName) -> PathBuf {
        let Piece { folder, end } = piece;
        self.root.join(folder).join(format!("{name}{end}"))
    }

    /// What a file of the history folder tells about; side files, locks, copies and strange files: nothing.
    pub(super) fn classify(file: &Path) -> Option<Found> {
        let file = file_name(file);
        if let Some(hidden) = file.strip_prefix('.') {
            let name = hidden.strip_suffix(MOVING)?.parse().ok()?;
            return Some(Found::Moving(name));
        }
        let stem = file
            .strip_suffix(JOURNAL)
            .or_else(|| file.strip_suffix(SNAPSHOT))?;
        let name: SessionName = stem.parse().ok()?;
        // A name is parsed after trimming; a file called " a.json" is not session "a".
        (name.as_str() == stem).then_some(Found::Session(name))
    }

    /// Whether a file is what a killed process left of replacing a file of this session, or the one that all share.
    pub(super) fn is_leftover(file: &Path, name: &SessionName) -> bool {
        let Some(target) = files::temporary_for(file_name(file)) else {
            return false;
        };
        if target == LAST {
            return true;
        }
        let visible = target.strip_prefix('.').unwrap_or(target);
        let Some(end) = visible.strip_prefix(name.as_str()) else {
            return false;
        };
        let end = end.split_once(DAMAGED).map_or(end, |(of, _)| of);
        end == MOVING
            || PIECES
                .iter()
                .any(|(_, piece)| *piece == end && !end.is_empty())
    }

    /// Where a damaged file is kept: beside itself, under a name that nothing has.
    pub(super) fn damaged(disk: &dyn Disk, file: &Path, now: Timestamp) -> PathBuf {
        let base = format!("{}{DAMAGED}{}", file_name(file), now.compact());
        // A link that leads nowhere has no size, and takes its name all the same.
        let taken = file.parent().and_then(|folder| disk.list(folder).ok());
        let taken = taken.unwrap_or_default();
        let first = file.with_file_name(&base);
        let others = (2..).map(|n| file.with_file_name(format!("{base}-{n}")));
        std::iter::once(first.clone())
            .chain(others)
            .find(|path| disk.size(path).is_err() && !taken.contains(path))
            .unwrap_or(first)
    }
}

/// A file or folder of a session: where it is, and what follows the session's name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    folder: &'static str,
    end: String,
}

impl Piece {
    /// The same place under another root.
    pub(super) fn under(&self, root: &Path, name: &SessionName) -> PathBuf {
        root.join(self.folder).join(format!("{name}{}", self.end))
    }
}

/// When a folder of the trash was made, as its name begins.
pub(super) fn time_of(folder: &str) -> &str {
    let name = folder.rsplit_once('/').map_or(folder, |(_, name)| name);
    name.split_once('-').map_or(name, |(time, _)| time)
}

/// The times of such folders, the newest first: `2026-02-14T15:23:05Z`.
pub(super) fn times_of(folders: &[String]) -> Vec<String> {
    let spelled = |folder: &String| {
        let time = time_of(folder);
        let part = |range| time.get(range).unwrap_or_default();
        let date = [part(0..4), part(4..6), part(6..8)].join("-");
        let clock = [part(9..11), part(11..13), part(13..16)].join(":");
        format!("{date}T{clock}")
    };
    folders.iter().rev().map(spelled).collect()
}

fn file_name(path: &Path) -> &str {
    path.file_name()
        .and_then(std::ffi::OsStr::to_str)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::LocalDisk;

    fn name(text: &str) -> SessionName {
        text.parse().unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn a_damaged_file_is_kept_under_a_name_that_not_even_a_link_to_nowhere_has() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        let now = Timestamp::parse("2026-02-14T15:23:05Z").unwrap();
        let first = Layout::damaged(&LocalDisk, &file, now);
        assert_eq!(file_name(&first), "a.json.damaged-20260214T152305Z");
        std::os::unix::fs::symlink("nowhere", &first).unwrap();
        let second = Layout::damaged(&LocalDisk, &file, now);
        assert_eq!(file_name(&second), "a.json.damaged-20260214T152305Z-2");
    }

    #[test]
    fn only_snapshots_journals_and_intents_tell_of_a_session() {
        let session = |text| Some(Found::Session(name(text)));
        for (file, expected) in [
            ("a.json", session("a")),
            ("a.journal.jsonl", session("a")),
            ("a.b.json", session("a.b")),
            (".a.moving", Some(Found::Moving(name("a")))),
            ("a_hybrid.json", None),
            ("a_mode_state.json", None),
            ("a_scratchpad.json", None),
            ("a_pins.json", None),
            ("a.lock", None),
            ("a.json.damaged-20260214T152305Z", None),
            (".a.json.x7Yz01.tmp", None),
            (" a.json", None),
            (".gitkeep", None),
        ] {
            assert_eq!(Layout::classify(Path::new(file)), expected, "{file}");
        }
    }

    #[test]
    fn leftovers_belong_to_exactly_one_session() {
        for (file, expected) in [
            (".a.json.x7Yz01.tmp", true),
            (".a_hybrid.json.x7Yz01.tmp", true),
            (".a.json.damaged-20260214T152305Z.x7Yz01.tmp", true),
            ("..a.moving.x7Yz01.tmp", true),
            (".a.json.json.x7Yz01.tmp", false),
            (".ab.json.x7Yz01.tmp", false),
            (".a.json", false),
        ] {
            assert_eq!(
                Layout::is_leftover(Path::new(file), &name("a")),
                expected,
                "{file}"
            );
        }
    }

    #[test]
    fn only_folders_of_trash_and_archive_are_put_away() {
        for (relative, expected) in [
            ("trash/20260214T152305Z-a", true),
            ("archive/a-20260214T152305Z", true),
            ("trash/", false),
            ("trash/..", false),
            ("trash/../../x", false),
            ("/etc", false),
            ("history/a", false),
        ] {
            assert_eq!(Layout::is_put_away(relative), expected, "{relative}");
        }
    }
}
