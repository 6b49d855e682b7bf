//! An index on disk. Unit: one folder. Invariant: what a [`Store`] counts has been read or written whole;
//! whatever stands behind it is overwritten by what comes next.
//!
//! ```text
//!   vectors.f32    rows of little-endian f32, as they came: the truth
//!   vectors.rows   records: places, codes, checksums (see `record`)
//!   meta.json      model, dimension, count, checksum, version (see `meta`)
//! ```
//! Writing order: floats, record; at a sync the two files, then the metadata. So a record vouches for its
//! floats, and the metadata for the records it counts. After a crash what is beyond them stays as far as it
//! is whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::check::{checksum, mix};
use super::error::VectorError;
use super::file::{self, Access, Positioned};
use super::meta::{Meta, MetaError, Spec};
use super::quantise::Grain;
use super::record::{self, Record};
use super::scan::number;

const FLOATS: &str = "vectors.f32";
const RECORDS: &str = "vectors.rows";
const META: &str = "meta.json";

/// Records read at once.
const AT_ONCE: u64 = 512;

/// An open index.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    spec: Spec,
    records: Positioned,
    floats: Positioned,
    n_records: u64,
    n_rows: u64,
    /// Over the checksums of all records.
    chain: u64,
}

impl Store {
    /// Opens the index, or starts an empty one where there is none; hands every record to `read`.
    pub(super) fn open(
        folder: &Path,
        spec: &Spec,
        read: &mut dyn FnMut(Record<'_>),
    ) -> Result<Self, VectorError> {
        let meta = match file::read(&folder.join(META)) {
            Ok(bytes) => Self::meta(&folder.join(META), &bytes, spec)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let has_rows =
                    fs::symlink_metadata(folder.join(RECORDS)).is_ok_and(|file| file.len() > 0);
                if has_rows {
                    return Err(VectorError::damaged(&folder.join(META), "it is missing"));
                }
                return Self::create(folder, spec);
            }
            Err(error) => return Err(VectorError::io(&folder.join(META), error)),
        };
        let mut store = Self::empty(folder, spec, Access::Written)?;
        store.load(&meta, read)?;
        store.cut()?;
        Ok(store)
    }

    /// Opens what is there for reading alone: another process may be writing it.
    pub(super) fn read(
        folder: &Path,
        spec: &Spec,
        read: &mut dyn FnMut(Record<'_>),
    ) -> Result<Self, VectorError> {
        let path = folder.join(META);
        let bytes = file::read(&path).map_err(|error| VectorError::io(&path, error))?;
        let meta = Self::meta(&path, &bytes, spec)?;
        let mut store = Self::empty(folder, spec, Access::Read)?;
        store.load(&meta, read)?;
        Ok(store)
    }

    /// Drops whatever is there and starts an empty index.
    pub(super) fn create(folder: &Path, spec: &Spec) -> Result<Self, VectorError> {
        file::create_folder(folder)?;
        // The rows go first: without metadata they count as damage, metadata without rows as well.
        file::remove(&folder.join(RECORDS))?;
        file::remove(&folder.join(FLOATS))?;
        file::replace(folder, META, &Meta::new(spec, 0, 0).to_bytes())?;
        Self::empty(folder, spec, Access::Written)
    }

    /// What made the vectors in `folder`, if its metadata can be read.
    pub(super) fn spec(folder: &Path) -> Option<Spec> {
        Meta::spec(&file::read(&folder.join(META)).ok()?)
    }

    fn empty(folder: &Path, spec: &Spec, access: Access) -> Result<Self, VectorError> {
        Ok(Self {
            records: Positioned::open(folder.join(RECORDS), access)?,
            floats: Positioned::open(folder.join(FLOATS), access)?,
            folder: folder.to_owned(),
            spec: spec.clone(),
            n_records: 0,
            n_rows: 0,
            chain: 0,
        })
    }

    fn meta(path: &Path, bytes: &[u8], spec: &Spec) -> Result<Meta, VectorError> {
        Meta::read(bytes, spec).map_err(|error| match error {
            MetaError::Unusable(why) => why.into(),
            MetaError::Broken(what) => VectorError::damaged(path, what),
        })
    }

    fn load(&mut self, meta: &Meta, read: &mut dyn FnMut(Record<'_>)) -> Result<(), VectorError> {
        let size = record::size(self.spec.dimension) as u64;
        let whole = self.records.len()? / size;
        if whole < meta.count {
            let what = format!("{whole} records of {} are left", meta.count);
            return Err(VectorError::damaged(self.records.path(), what));
        }
        let mut codes = vec![0_i8; self.spec.dimension];
        let mut buffer = Vec::new();
        'all: for first in (0..whole).step_by(usize_of(AT_ONCE)) {
            let n = AT_ONCE.min(whole - first);
            buffer.resize(usize_of(n * size), 0);
            self.records.read(&mut buffer, first * size)?;
            for bytes in buffer.chunks_exact(usize_of(size)) {
                let is_sure = self.n_records < meta.count;
                let Some((record, check)) = record::decode(bytes, self.n_records, &mut codes)
                else {
                    if is_sure {
                        let what = format!("record {} is broken", self.n_records);
                        return Err(VectorError::damaged(self.records.path(), what));
                    }
                    break 'all;
                };
                if !is_sure && !self.has_floats(&record)? {
                    break 'all;
                }
                self.count(&record, check);
                read(record);
                if self.n_records == meta.count && !meta.agrees_with(self.chain) {
                    let what = "its checksum is another";
                    return Err(VectorError::damaged(self.records.path(), what));
                }
            }
        }
        if self.floats.len()? < self.n_rows * self.row_size() {
            return Err(VectorError::damaged(self.floats.path(), "it is too short"));
        }
        Ok(())
    }

    /// Lets go of what is behind the last whole record.
    fn cut(&self) -> Result<(), VectorError> {
        let size = record::size(self.spec.dimension) as u64;
        self.records.cut(self.n_records * size)?;
        self.floats.cut(self.n_rows * self.row_size())
    }

    fn count(&mut self, record: &Record<'_>, check: u64) {
        self.n_records += 1;
        self.chain = mix(self.chain, check);
        match record {
            Record::Came { .. } => self.n_rows += 1,
            Record::Went { .. } => {}
        }
    }

    /// Whether the floats a record speaks of were written too; asked only of what was never synced.
    fn has_floats(&self, record: &Record<'_>) -> Result<bool, VectorError> {
        let Record::Came { floats, .. } = record else {
            return Ok(true);
        };
        if self.floats.len()? < (self.n_rows + 1) * self.row_size() {
            return Ok(false);
        }
        let mut bytes = vec![0; usize_of(self.row_size())];
        self.floats
            .read(&mut bytes, self.n_rows * self.row_size())?;
        Ok(check_floats(self.n_rows, &bytes) == *floats)
    }

    fn row_size(&self) -> u64 {
        self.spec.dimension as u64 * 4
    }

    /// Writes a row; returns the checksum of its floats.
    pub(super) fn came(
        &mut self,
        place: u64,
        floats: &[f32],
        codes: &[i8],
        grain: Grain,
    ) -> Result<u32, VectorError> {
        let bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.floats.write(&bytes, self.n_rows * self.row_size())?;
        let check = check_floats(self.n_rows, &bytes);
        self.append(&Record::Came {
            place,
            grain,
            floats: check,
            codes,
        })?;
        Ok(check)
    }

    pub(super) fn went(&mut self, place: u64) -> Result<(), VectorError> {
        self.append(&Record::Went { place })
    }

    fn append(&mut self, record: &Record<'_>) -> Result<(), VectorError> {
        let (bytes, check) = record.encode(self.n_records, self.spec.dimension);
        self.records
            .write(&bytes, self.n_records * bytes.len() as u64)?;
        self.count(record, check);
        Ok(())
    }

    /// Reads a row's floats again; `check` is what its record says of them.
    pub(super) fn floats(&self, row: u32, check: u32) -> Result<Vec<f32>, VectorError> {
        let mut bytes = vec![0; usize_of(self.row_size())];
        let at = u64::from(row) * self.row_size();
        match self.floats.read(&mut bytes, at) {
            Err(VectorError::Io { source, .. })
                if source.kind() == io::ErrorKind::UnexpectedEof =>
            {
                return Err(VectorError::damaged(self.floats.path(), "it is too short"));
            }
            read => read?,
        }
        if check_floats(u64::from(row), &bytes) != check {
            let what = format!("row {row} is broken");
            return Err(VectorError::damaged(self.floats.path(), what));
        }
        let (words, _) = bytes.as_chunks::<4>();
        Ok(words.iter().map(|word| f32::from_le_bytes(*word)).collect())
    }

    /// Makes everything so far last.
    pub(super) fn sync(&mut self) -> Result<(), VectorError> {
        self.floats.sync()?;
        self.records.sync()?;
        let meta = Meta::new(&self.spec, self.n_records, self.chain);
        file::replace(&self.folder, META, &meta.to_bytes())
    }
}

fn check_floats(row: u64, bytes: &[u8]) -> u32 {
    let sum = checksum(row, bytes);
    number(usize_of(sum >> 32))
}

/// Sizes of files that are read into memory.
fn usize_of(n: u64) -> usize {
    usize::try_from(n).expect("what is read at once fits into memory")
}
