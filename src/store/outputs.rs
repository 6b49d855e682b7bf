//! Bytes that belong to a session beside its words: `history/{session}_outputs/{sha256}`. They move with the session.
//!
//! Unit: one file, named by what is in it, so that it is written once and what was changed is not taken for it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::layout::Layout;
use crate::chat::SessionName;
use crate::files::{Disk, digest};

/// The folders of all sessions.
#[derive(Clone, Debug)]
pub struct Outputs {
    layout: Layout,
    disk: Arc<dyn Disk>,
}

impl Outputs {
    /// In this data folder.
    pub fn new(root: PathBuf, disk: Arc<dyn Disk>) -> Self {
        Self {
            layout: Layout::new(root),
            disk,
        }
    }

    /// Keeps bytes; tells their name.
    pub fn put(&self, session: &SessionName, bytes: &[u8]) -> io::Result<String> {
        let name = digest(bytes);
        let path = self.layout.outputs(session).join(&name);
        if self.get(session, &name).is_none() {
            self.disk.replace(&path, bytes)?;
        }
        Ok(name)
    }

    /// The bytes of this name, if they are there and as they were.
    pub fn get(&self, session: &SessionName, name: &str) -> Option<Vec<u8>> {
        // A name comes from a file that anybody may have written to.
        let is_digest = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let path = self.layout.outputs(session).join(name);
        let bytes = self.disk.read(&path).ok().filter(|_| is_digest)?;
        (digest(&bytes) == name).then_some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryDisk;

    #[test]
    fn bytes_come_back_by_their_name_and_changed_ones_do_not() {
        let disk = MemoryDisk::default();
        let outputs = Outputs::new(PathBuf::from("data"), Arc::new(disk.clone()));
        let session = "work".parse().unwrap();
        let name = outputs.put(&session, b"picture").unwrap();
        assert_eq!(outputs.put(&session, b"picture").unwrap(), name);
        assert_eq!(outputs.get(&session, &name).unwrap(), b"picture");
        let path = PathBuf::from("data/history/work_outputs").join(&name);
        disk.replace(&path, b"other").unwrap();
        assert_eq!(outputs.get(&session, &name), None);
        assert_eq!(outputs.get(&session, "../work.json"), None);
        assert_eq!(outputs.get(&"other".parse().unwrap(), &name), None);
    }
}
