//! Mends what `loading` found damaged, so that a session can be written again. Invariant: the original is kept as
//! `*.damaged-<time>` before anything takes its place, and what was good is under its own name at every moment.

use std::io;
use std::path::{Path, PathBuf};

use super::error::{At, StoreError};
use super::format::side;
use super::layout::{Layout, Side};
use super::loading::{Damage, Loaded};
use super::{Repair, repair, snapshot};
use crate::chat::{Record, Session, SessionName, Timestamp};
use crate::files::Disk;

/// Where and when mending happens.
pub(super) struct Bench<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) layout: &'a Layout,
    pub(super) name: &'a SessionName,
    pub(super) now: Timestamp,
}

/// What was done, and what the log has to write first.
pub(super) struct Mended {
    pub(super) repairs: Vec<Repair>,
    /// Closes the turn that was cut off; already part of the session.
    pub(super) closing: Option<Record>,
}

/// Mends everything; `loaded` is then what is on disk, but for the closing of an unfinished turn.
pub(super) fn mend(bench: &Bench<'_>, loaded: &mut Loaded) -> Result<Mended, StoreError> {
    let has_arrived = !loaded.session.arrived().trim().is_empty();
    let mut closing = loaded
        .session
        .unfinished()
        .map(|turn| repair::closing(&loaded.session, turn, bench.now));
    if let Some(record) = &closing {
        loaded.session.apply(record.clone());
    }
    let unfinished = closing.is_some();
    let damage = std::mem::take(&mut loaded.damage);
    let is_written = damage.iter().any(Damage::is_of_the_snapshot);
    let mut repairs = Vec::new();
    for damage in damage {
        repairs.push(bench.mend_one(damage, loaded)?);
    }
    if loaded.is_renumbered && !is_written {
        bench.write_snapshot(loaded)?;
    }
    if is_written || loaded.is_renumbered {
        // The new snapshot has taken in the journal and the closing.
        let journal = bench.layout.journal(bench.name);
        bench.disk.remove(&journal).at("remove", &journal)?;
        closing = None;
    }
    if unfinished {
        repairs.push(Repair::UnfinishedTurn { has_arrived });
    }
    Ok(Mended { repairs, closing })
}

impl Bench<'_> {
    fn mend_one(&self, damage: Damage, loaded: &mut Loaded) -> Result<Repair, StoreError> {
        match damage {
            Damage::Snapshot { recovered } => {
                let file = self.layout.snapshot(self.name);
                let kept_as = self.keep_copy(&file)?;
                self.write_snapshot(loaded)?;
                Ok(Repair::SetAside {
                    file,
                    kept_as,
                    recovered,
                })
            }
            Damage::Journal { skipped, clean } => {
                let file = self.layout.journal(self.name);
                let kept_as = self.keep_copy(&file)?;
                // Of a folder nothing is left to replace.
                if !clean.is_empty() || self.disk.size(&file).is_ok() {
                    self.disk.replace(&file, &clean).at("write", &file)?;
                }
                Ok(Repair::JournalLines {
                    file,
                    kept_as,
                    skipped,
                })
            }
            Damage::Side(side) => Ok(self.set_aside(side, loaded)),
            Damage::HybridIndices => {
                let file = self.write_hybrid(loaded)?;
                Ok(Repair::Clamped { file })
            }
            Damage::Summaries => {
                let kept_as = self.keep_copy(&self.layout.side(self.name, Side::Hybrid))?;
                let file = self.write_hybrid(loaded)?;
                Ok(Repair::SummariesDropped { file, kept_as })
            }
        }
    }

    fn write_hybrid(&self, loaded: &Loaded) -> Result<PathBuf, StoreError> {
        let file = self.layout.side(self.name, Side::Hybrid);
        let bytes = side::write_hybrid(loaded.session.hybrid());
        self.disk.replace(&file, &bytes).at("write", &file)?;
        Ok(file)
    }

    /// Writes what was recovered, journal included; the journal itself goes last, once a copy of it is
    /// kept if it needs one.
    fn write_snapshot(&self, loaded: &mut Loaded) -> Result<(), StoreError> {
        let file = self.layout.snapshot(self.name);
        let len = replace_snapshot(
            self.disk,
            &file,
            &loaded.session,
            self.name,
            loaded.last_seq,
        )?;
        loaded.snapshot_len = len;
        loaded.journal_len = 0;
        loaded.open_end = false;
        Ok(())
    }

    /// A copy beside the file; a folder in a file's place is moved instead.
    fn keep_copy(&self, file: &Path) -> Result<PathBuf, StoreError> {
        let kept_as = Layout::damaged(self.disk, file, self.now);
        match self.disk.read(file) {
            Ok(bytes) => self.disk.replace(&kept_as, &bytes).at("write", &kept_as)?,
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                self.disk.rename(file, &kept_as).at("move", file)?;
            }
            Err(error) => return Err(error).at("read", file),
        }
        Ok(kept_as)
    }

    /// Moves a file beside the history out of the way, whatever it is; where that cannot be, it is left alone.
    fn set_aside(&self, side: Side, loaded: &mut Loaded) -> Repair {
        let file = self.layout.side(self.name, side);
        let kept_as = Layout::damaged(self.disk, &file, self.now);
        if let Err(error) = self.disk.rename(&file, &kept_as) {
            loaded.blocked.push(side);
            let why = error.to_string();
            return Repair::LeftAlone { file, why };
        }
        match side {
            Side::Hybrid => Repair::SetAside {
                file,
                kept_as,
                recovered: 0,
            },
            Side::ModeStates => Repair::NotesSetAside { file, kept_as },
            Side::Scratchpad => Repair::ScratchpadSetAside { file, kept_as },
            Side::Pins => Repair::PinsSetAside { file, kept_as },
            Side::Forgotten => Repair::ForgottenSetAside { file, kept_as },
        }
    }
}

/// Writes a snapshot; returns its length.
pub(super) fn replace_snapshot(
    disk: &dyn Disk,
    file: &Path,
    session: &Session,
    name: &SessionName,
    journal_seq: u64,
) -> Result<u64, StoreError> {
    let bytes = snapshot::write(session, name, journal_seq).at("write", file)?;
    disk.replace(file, &bytes).at("write", file)?;
    Ok(bytes.len() as u64)
}
