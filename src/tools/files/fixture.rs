//! For tests of the tools: a project folder with something outside of it, and calls as the agent makes them.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::changes::Changes;
use super::project::Project;
use super::{EditFile, ListDirectory, ReadFile, SearchFiles, WriteFile};
use crate::chat::{Session, SessionName, Timestamp, TurnId};
use crate::files::MemoryDisk;
use crate::tools::{Around, Detail, Done, Failure, Output, Tool, tool};

/// What lies outside; no tool may ever show it.
pub(super) const SECRET: &str = "outside-secret";

/// What a result may have.
pub(super) const RESULT_CHARS: usize = 10_000;

/// `{root}/project` is the project, `{root}/outside/secret.txt` is not.
pub(super) struct Fixture {
    root: TempDir,
    pub(super) project: Arc<Project>,
    pub(super) changes: Arc<Changes>,
    pub(super) disk: MemoryDisk,
    pub(super) cancel: CancellationToken,
    pub(super) turn: TurnId,
}

impl Fixture {
    /// With these files in the project.
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("project")).unwrap();
        let disk = MemoryDisk::default();
        let changes = Changes::new(PathBuf::from("changes"), Arc::new(disk.clone()));
        let fixture = Self {
            project: Arc::new(Project::open(&root.path().join("project")).unwrap()),
            changes: Arc::new(changes),
            disk,
            cancel: CancellationToken::new(),
            turn: TurnId(1),
            root,
        };
        fixture.put("../outside/secret.txt", SECRET);
        for (name, content) in files {
            fixture.put(name, content);
        }
        fixture
    }

    /// Somewhere on the disk, from the project folder.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.root.path().join("project").join(name)
    }

    /// Writes behind the tools' back.
    pub(super) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = File::create(path).unwrap();
        file.write_all(content.as_ref()).unwrap();
    }

    /// Returns what a file holds; `None` where there is none.
    pub(super) fn held(&self, name: &str) -> Option<String> {
        let bytes = std::fs::read(self.at(name)).ok()?;
        Some(String::from_utf8(bytes).unwrap())
    }

    #[cfg(unix)]
    pub(super) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.at(name)).unwrap();
    }

    #[cfg(unix)]
    pub(super) fn pipe(&self, name: &str) {
        use rustix::fs::{CWD, FileType, mknodat};
        mknodat(CWD, self.at(name), FileType::Fifo, 0o600.into(), 0).unwrap();
    }

    /// Does it while a folder is swapped for a link and back, again and again.
    #[cfg(target_os = "linux")]
    pub(super) fn while_swapped(&self, folder: &str, link: &str, work: impl FnOnce()) {
        use std::sync::atomic::{AtomicBool, Ordering};
        let is_over = AtomicBool::new(false);
        let swap = || {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            let (folder, link) = (self.at(folder), self.at(link));
            renameat_with(CWD, folder, CWD, link, RenameFlags::EXCHANGE).unwrap();
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    swap();
                    swap();
                }
            });
            // Told whatever happens, so that a test that fails ends.
            let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            is_over.store(true, Ordering::Relaxed);
            if let Err(panic) = worked {
                std::panic::resume_unwind(panic);
            }
        });
    }

    fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let (project, changes) = (self.project.clone(), self.changes.clone());
        match name {
            "read_file" => tool(ReadFile::new(project, RESULT_CHARS)),
            "list_directory" => tool(ListDirectory::new(project)),
            "search_files" => tool(SearchFiles::new(project, RESULT_CHARS)),
            "write_file" => tool(WriteFile::new(project, changes)),
            "edit_file" => tool(EditFile::new(project, changes)),
            _ => panic!("no tool {name}"),
        }
    }

    /// As the agent calls: what it would do first, then the call.
    pub(super) fn call(&self, name: &str, arguments: Value) -> Result<Output, Failure> {
        let tool = self.tool(name);
        tool.effect(&arguments)?;
        let (progress, _heard) = crate::tools::progress();
        let session = Session::new(session());
        let around = Around {
            session: &session,
            turn: self.turn,
            now: Timestamp::from_unix(0).unwrap(),
            cancel: &self.cancel,
            progress: &progress,
        };
        match run(tool.call(arguments, &around))? {
            Done::Output(output) => Ok(output),
            Done::Wish(wish) => panic!("{name} wishes {wish:?}"),
        }
    }

    /// The text of a result, or why there is none.
    pub(super) fn text(&self, name: &str, arguments: Value) -> String {
        match self.call(name, arguments) {
            Ok(output) => output.text,
            Err(failure) => failure.to_string(),
        }
    }

    pub(super) fn preview(&self, name: &str, arguments: &Value) -> Option<Detail> {
        run(self.tool(name).preview(arguments))
    }
}

/// The session of all calls.
pub(super) fn session() -> SessionName {
    "work".parse().unwrap()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}
