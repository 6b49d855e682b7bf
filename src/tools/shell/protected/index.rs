//! Submodules that an index of git names. Unit: the index files of one repository.
//!
//! A command can write the index, so it is read as git reads it: every version, both lengths of hashes, blocks that a
//! table of offsets names, and the shared part of a split index. Where these could differ the union counts.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::children;
use super::entry::read;

/// A larger index is not read.
const SIZE_MAX: u64 = 256 << 20;
/// Entries that are read in all, for each that the files have room for: an index that takes more is made to be costly.
const READINGS_MAX: usize = 8;

const SIGNATURE: &[u8] = b"DIRC";
/// Names the table of blocks.
const BLOCKS: &[u8] = b"IEOT";
/// SHA-1 and SHA-256.
const HASHES: [usize; 2] = [20, 32];

/// Type bits of the mode of a submodule.
const GITLINK: u32 = 0o160_000;
const TYPE: u32 = 0o170_000;

const TIMES_AND_OWNER: usize = 40;
const MODE: usize = 24;
const SHORTEST_ENTRY: usize = 62;
/// Flags of an entry: the length of its path, and whether more flags follow.
const LENGTH: usize = 0xfff;
const EXTENDED: u16 = 0x4000;

/// Returns the paths of submodules in the index of a git folder; `None` where it is too large.
pub(super) fn gitlinks(git: &Path) -> Option<BTreeSet<PathBuf>> {
    let mut found = Entries::default();
    found.read(&git.join("index"))?;
    // The shared parts of a split index; of those that are not used any more too many paths are known, and no harm is
    // done.
    let name_of = |path: &PathBuf| path.file_name().unwrap_or_default().to_owned();
    let is_shared = |path: &PathBuf| name_of(path).as_bytes().starts_with(b"sharedindex.");
    for shared in children(git).filter(is_shared) {
        found.read(&shared)?;
    }
    Some(found.gitlinks)
}

#[derive(Debug, Default)]
struct Entries {
    gitlinks: BTreeSet<PathBuf>,
    /// An entry without a path replaces one of the shared index: whichever may be a submodule.
    may_be_any: bool,
}

impl Entries {
    fn read(&mut self, index: &Path) -> Option<()> {
        // Anything but a file may have no end.
        let Some(found) = fs::metadata(index).ok().filter(fs::Metadata::is_file) else {
            return Some(());
        };
        if found.len() > SIZE_MAX {
            return None;
        }
        self.parse(&read(index, SIZE_MAX).unwrap_or_default())
    }

    fn parse(&mut self, bytes: &[u8]) -> Option<()> {
        let (Some(version), Some(count)) = (number(bytes, 4), number(bytes, 8)) else {
            return Some(());
        };
        if !bytes.starts_with(SIGNATURE) {
            return Some(());
        }
        let mut left = (bytes.len() / SHORTEST_ENTRY + 1) * READINGS_MAX;
        for hash in HASHES {
            let reader = Reader {
                bytes,
                version,
                hash,
            };
            for (at, count) in std::iter::once((12, count)).chain(blocks(bytes)) {
                self.take(reader, at, count, &mut left)?;
            }
        }
        Some(())
    }

    fn take(&mut self, reader: Reader<'_>, at: usize, count: u32, left: &mut usize) -> Option<()> {
        let mut at = at;
        let mut previous = None;
        for _ in 0..count {
            let Some(entry) = reader.entry(at, previous.as_deref()) else {
                break;
            };
            *left = left.checked_sub(1)?;
            at = entry.end;
            let is_gitlink = entry.mode & TYPE == GITLINK;
            self.may_be_any |= is_gitlink && entry.path.is_empty();
            // To git it ends with the first zero.
            let path = entry.path.split(|byte| *byte == 0).next();
            let path = Path::new(OsStr::from_bytes(path.unwrap_or_default()));
            let is_below = path
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
            if (is_gitlink || self.may_be_any) && is_below && !path.as_os_str().is_empty() {
                self.gitlinks.insert(path.to_owned());
            }
            previous = Some(entry.path);
        }
        Some(())
    }
}

/// Offsets and lengths of blocks of entries, wherever a table of them might stand.
fn blocks(bytes: &[u8]) -> impl Iterator<Item = (usize, u32)> {
    let tables = bytes.windows(BLOCKS.len()).enumerate();
    let tables = tables.filter(|(_, word)| *word == BLOCKS);
    tables.flat_map(move |(at, _)| {
        let size = number(bytes, at + 4).unwrap_or_default() as usize;
        (at + 12..(at + 8 + size).min(bytes.len()))
            .step_by(8)
            .filter_map(|row| Some((number(bytes, row)? as usize, number(bytes, row + 4)?)))
    })
}

struct Entry {
    mode: u32,
    path: Vec<u8>,
    end: usize,
}

/// How entries of an index are written.
#[derive(Clone, Copy)]
struct Reader<'a> {
    bytes: &'a [u8],
    version: u32,
    hash: usize,
}

impl Reader<'_> {
    fn entry(self, start: usize, previous: Option<&[u8]>) -> Option<Entry> {
        let mode = number(self.bytes, start.checked_add(MODE)?)?;
        let mut at = start + TIMES_AND_OWNER + self.hash;
        let flags = u16::from_be_bytes(self.bytes.get(at..at + 2)?.try_into().ok()?);
        at += if self.version >= 3 && flags & EXTENDED != 0 {
            4
        } else {
            2
        };
        let mut path = Vec::new();
        if self.version == 4 {
            let strip = varint(self.bytes, &mut at)?;
            // The first of a block has none before it, whatever it says.
            if let Some(previous) = previous {
                path = previous.get(..previous.len().checked_sub(strip)?)?.to_vec();
            }
        }
        let rest = self.bytes.get(at..)?;
        let length = match usize::from(flags) & LENGTH {
            LENGTH => rest.iter().position(|byte| *byte == 0)?,
            length => length.checked_sub(path.len())?,
        };
        path.extend(rest.get(..length)?);
        let end = if self.version == 4 {
            at + length + 1
        } else {
            start + ((at - start + length + 8) & !7)
        };
        Some(Entry { mode, path, end })
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// Reads seven bits a byte, the highest first; each further byte counts from one.
fn varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_mul(128)? + usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, arguments: &[&str]) -> bool {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(folder);
        command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("HOME", "/nonexistent")]);
        command.output().is_ok_and(|output| output.status.success())
    }

    #[test]
    fn submodules_are_found_in_every_kind_of_index() {
        for (format, options) in [
            ("sha1", &["-c", "index.version=2"][..]),
            ("sha1", &["-c", "index.version=4"]),
            ("sha1", &["-c", "index.version=4", "-c", "index.threads=4"]),
            ("sha1", &["-c", "core.splitIndex=true"]),
            ("sha256", &["-c", "index.version=2"]),
            ("sha256", &["-c", "index.version=4"]),
        ] {
            let root = tempfile::TempDir::new().unwrap();
            if !git(root.path(), &["init", "-q", "--object-format", format]) {
                return;
            }
            let object = "1".repeat(if format == "sha1" { 40 } else { 64 });
            let long = format!("deep/{}", "x".repeat(200));
            for (mode, path) in [
                ("100644", "a"),
                ("160000", "deep/below"),
                ("160000", &long),
                ("100644", "z"),
            ] {
                let info = format!("{mode},{object},{path}");
                let mut arguments = options.to_vec();
                arguments.extend(["update-index", "--add", "--cacheinfo", &info]);
                assert!(git(root.path(), &arguments), "{options:?} {path}");
            }
            let found = gitlinks(&root.path().join(".git")).unwrap();
            let expected = ["deep/below", &long].map(PathBuf::from);
            assert!(
                found.is_superset(&expected.into()),
                "{options:?}: {found:?}"
            );
            assert!(!found.contains(Path::new("a")), "{options:?}: {found:?}");
        }
    }

    #[test]
    fn an_index_that_is_broken_or_made_to_be_costly_takes_bounded_work() {
        let mut entries = Entries::default();
        for bytes in [&b""[..], b"DIRC", b"DIRC\0\0\0\x04\xff\xff\xff\xff"] {
            assert_eq!(entries.parse(bytes), Some(()));
        }
        // A thousand tables that name the whole file, each.
        let mut costly = b"DIRC\0\0\0\x02\0\0\xff\xff".to_vec();
        costly.extend(vec![0; 64 * 1_000]);
        for _ in 0..1_000 {
            costly.extend(b"IEOT\0\0\0\x0c\0\0\0\x01\0\0\0\x0c\0\0\xff\xff");
        }
        assert_eq!(entries.parse(&costly), None);
        assert_eq!(entries.gitlinks, BTreeSet::new());
    }

    #[test]
    fn no_path_of_an_index_leads_out_of_the_project() {
        for path in ["../x", "/x", "a/../../x", "./x"] {
            let mut bytes = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
            bytes.extend([0; MODE]);
            bytes.extend(GITLINK.to_be_bytes());
            bytes.extend([0; TIMES_AND_OWNER - MODE - 4 + 20]);
            bytes.extend([0, u8::try_from(path.len()).unwrap()]);
            bytes.extend(path.as_bytes());
            bytes.extend([0; 8]);
            let mut entries = Entries::default();
            entries.parse(&bytes);
            assert_eq!(entries.gitlinks, BTreeSet::new(), "{path}");
        }
    }
}
