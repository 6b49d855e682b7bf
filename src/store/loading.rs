//! Reads all files of a session and folds them into one value; says what is damaged, touches nothing.
//! Mending is `opening.rs`.

use std::io;
use std::path::Path;

use super::coverage::{self, Followed};
use super::error::{At, StoreError};
use super::format::VERSION;
use super::format::side::{self, Unusable};
use super::journal;
use super::layout::{Layout, Side};
use super::repair;
use super::replay::{self, Ground};
use super::snapshot::{self, Snapshot, Unreadable};
use crate::chat::{Compaction, Hybrid, Record, Session, SessionName, Unknown};
use crate::files::Disk;

/// A session as its files have it.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) session: Session,
    /// Whether there was a snapshot or a journal.
    pub(super) found: bool,
    pub(super) last_seq: u64,
    /// What the journal is applied to.
    ground: Ground,
    pub(super) snapshot_len: u64,
    pub(super) journal_len: u64,
    /// The journal's last line has no end.
    pub(super) open_end: bool,
    /// The journal has other numbers for turns than the session.
    pub(super) is_renumbered: bool,
    /// Fields of the mode state file beside the modes.
    pub(super) states_others: Unknown,
    pub(super) damage: Vec<Damage>,
    /// What stands in the place of these could not be moved aside.
    pub(super) blocked: Vec<Side>,
}

/// What has to be mended before anything is written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Damage {
    Snapshot {
        recovered: usize,
    },
    Journal {
        skipped: usize,
        clean: Vec<u8>,
    },
    /// A file beside the history that cannot be used.
    Side(Side),
    HybridIndices,
    /// Summaries of messages that are not there.
    Summaries,
}

/// What stands where a file should be.
enum Content {
    Nothing,
    File(Vec<u8>),
    Folder,
}

pub(super) fn load(
    disk: &dyn Disk,
    layout: &Layout,
    name: &SessionName,
) -> Result<Loaded, StoreError> {
    let snapshot = content(disk, &layout.snapshot(name))?;
    let journal = content(disk, &layout.journal(name))?;
    let found = !matches!((&snapshot, &journal), (Content::Nothing, Content::Nothing));
    let mut loaded = base(name, snapshot, &layout.snapshot(name))?;
    loaded.found = found;
    replay(&mut loaded, journal, &layout.journal(name))?;
    let at = (disk, layout);
    if let Some(hybrid) = read_side(&mut loaded, at, Side::Hybrid, side::read_hybrid)? {
        take_hybrid(&mut loaded, hybrid);
    }
    let states = read_side(&mut loaded, at, Side::ModeStates, side::read_mode_states)?;
    if let Some((states, others)) = states {
        loaded.states_others = others;
        loaded.session.apply(Record::ModeStatesReplaced(states));
    }
    let scratchpad = read_side(&mut loaded, at, Side::Scratchpad, side::read_scratchpad)?;
    if let Some(scratchpad) = scratchpad {
        loaded.session.apply(Record::ScratchpadReplaced(scratchpad));
    }
    if let Some(pins) = read_side(&mut loaded, at, Side::Pins, side::read_pins)? {
        loaded.session.apply(Record::PinsReplaced(pins));
    }
    // Last, so that it holds for every message.
    let forgotten = read_side(&mut loaded, at, Side::Forgotten, side::read_forgotten)?;
    if let Some(forgotten) = forgotten {
        loaded.session.apply(Record::ForgottenReplaced(forgotten));
    }
    Ok(loaded)
}

/// A session of which nothing is kept.
pub(super) fn nothing(layout: &Layout, name: &SessionName) -> Result<Loaded, StoreError> {
    base(name, Content::Nothing, &layout.snapshot(name))
}

fn content(disk: &dyn Disk, path: &Path) -> Result<Content, StoreError> {
    match disk.read(path) {
        Ok(bytes) => Ok(Content::File(bytes)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => Ok(Content::Nothing),
            io::ErrorKind::IsADirectory => Ok(Content::Folder),
            _ => Err(error).at("read", path),
        },
    }
}

/// The session as of its snapshot.
fn base(name: &SessionName, content: Content, path: &Path) -> Result<Loaded, StoreError> {
    let (file, is_there) = match content {
        Content::Nothing => (Vec::new(), false),
        Content::Folder => (Vec::new(), true),
        Content::File(file) => (file, true),
    };
    let mut damage = Vec::new();
    let snapshot = if is_there {
        match snapshot::read(name, &file) {
            Ok(snapshot) => snapshot,
            Err(Unreadable::Newer(found)) => return Err(newer(path, found)),
            Err(Unreadable::Damaged) => {
                if let Some(found) = repair::newer_version(&file) {
                    return Err(newer(path, found));
                }
                let salvaged = repair::salvage(name, &file);
                damage.push(Damage::Snapshot {
                    recovered: salvaged.recovered,
                });
                salvaged.snapshot
            }
        }
    } else {
        Snapshot::empty(name)
    };
    let ground = match snapshot.journal_seq {
        None if damage.is_empty() => Ground::Unplaced,
        Some(journal_seq) if damage.is_empty() => Ground::Whole { journal_seq },
        seq => Ground::Salvaged {
            journal_seq: seq.unwrap_or(0),
        },
    };
    Ok(Loaded {
        session: snapshot.session,
        found: is_there,
        last_seq: snapshot.journal_seq.unwrap_or(0),
        ground,
        snapshot_len: file.len() as u64,
        journal_len: 0,
        open_end: false,
        is_renumbered: false,
        states_others: Unknown::new(),
        damage,
        blocked: Vec::new(),
    })
}

fn newer(path: &Path, found: String) -> StoreError {
    StoreError::Newer {
        path: path.to_owned(),
        found,
        known: VERSION,
    }
}

fn replay(loaded: &mut Loaded, content: Content, path: &Path) -> Result<(), StoreError> {
    let file = match content {
        Content::Nothing => return Ok(()),
        Content::File(file) => file,
        Content::Folder => {
            loaded.damage.push(Damage::Journal {
                skipped: 0,
                clean: Vec::new(),
            });
            return Ok(());
        }
    };
    let journal = journal::read(&file);
    if let Some(found) = journal.newer {
        return Err(newer(path, found.to_string()));
    }
    if journal.skipped > 0 {
        let clean = journal::clean(&journal);
        loaded.journal_len = clean.len() as u64;
        loaded.damage.push(Damage::Journal {
            skipped: journal.skipped,
            clean,
        });
    } else {
        loaded.journal_len = file.len() as u64;
        loaded.open_end = journal.open_end;
    }
    let replayed = replay::replay(&mut loaded.session, loaded.ground, journal);
    loaded.last_seq = replayed.last_seq;
    loaded.is_renumbered = replayed.is_renumbered;
    Ok(())
}

impl Damage {
    pub(super) fn is_of_the_snapshot(&self) -> bool {
        matches!(self, Self::Snapshot { .. })
    }
}

/// What a file beside the history holds; nothing where there is none. One that is no such file, or cannot be read, is
/// damage: the session is had without it.
fn read_side<T>(
    loaded: &mut Loaded,
    (disk, layout): (&dyn Disk, &Layout),
    side: Side,
    parse: impl FnOnce(&[u8]) -> Result<T, Unusable>,
) -> Result<Option<T>, StoreError> {
    let path = layout.side(loaded.session.name(), side);
    let read = match disk.read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) => Err(Unusable::Damaged),
        Ok(file) => parse(&file),
    };
    match read {
        Ok(held) => Ok(Some(held)),
        Err(Unusable::Newer(found)) => Err(newer(&path, found)),
        Err(Unusable::Damaged) => {
            loaded.damage.push(Damage::Side(side));
            Ok(None)
        }
    }
}

/// Makes summaries and compactions stand for what is there.
fn take_hybrid(loaded: &mut Loaded, mut hybrid: Hybrid) {
    // What is missing may have stood before an index: moved back by all of it, the index covers
    // nothing that it did not cover before.
    let session = &loaded.session;
    let missing = if loaded.damage.is_empty() {
        0
    } else {
        session.missing_messages()
    };
    // Of a whole history one without ids can only be another one's: clamped, it would stand for all of this one.
    let beyond = |upto: usize| upto > session.messages().len();
    let compaction = hybrid.compaction.as_ref();
    let is_of_another = |it: &Compaction| it.covers.is_none() && beyond(it.upto);
    if loaded.damage.is_empty() && compaction.is_some_and(is_of_another) {
        loaded.damage.push(Damage::Side(Side::Hybrid));
        return;
    }
    let fits = |index: usize| session.boundary(index.saturating_sub(missing));
    let clamped = side::clamp(&mut hybrid, fits);
    let damage = match coverage::follow(&mut hybrid, session, missing) {
        Followed::Dropped => Some(Damage::Summaries),
        Followed::Moved => Some(Damage::HybridIndices),
        Followed::Unchanged => clamped.then_some(Damage::HybridIndices),
    };
    loaded.damage.extend(damage);
    loaded.session.apply(Record::HybridReplaced(hybrid));
}
