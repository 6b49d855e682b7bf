//! One run of a program: its time, its peak memory, what it wrote. Each in a run of its own, so that nothing
//! that measures is measured.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What is run.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) binary: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) home: Option<PathBuf>,
}

impl Program {
    pub(crate) fn new(binary: PathBuf) -> Self {
        Self {
            binary,
            arguments: Vec::new(),
            home: None,
        }
    }

    pub(crate) fn arguments(mut self, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned());
        self.arguments.extend(arguments);
        self
    }

    pub(crate) fn home(mut self, folder: &Path) -> Self {
        self.home = Some(folder.to_owned());
        self
    }

    /// The program as the last words of another, which may be none.
    fn behind(&self, wrapper: &[&str]) -> Command {
        let mut words = wrapper
            .iter()
            .map(|&word| word.to_owned())
            .chain([self.binary.to_string_lossy().into_owned()])
            .chain(self.arguments.iter().cloned());
        let mut command = Command::new(words.next().unwrap());
        command.args(words);
        command.env_clear().env("PATH", "/usr/bin:/bin");
        if let Some(home) = &self.home {
            command.env("HOME", home).current_dir(home);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    pub(crate) fn command(&self) -> Command {
        self.behind(&[])
    }
}

/// Milliseconds from start to end.
pub(crate) fn timed(program: &Program) -> f64 {
    let mut command = program.command();
    let begin = Instant::now();
    let status = command.status().unwrap();
    let wall = begin.elapsed().as_secs_f64() * 1_000.0;
    assert!(status.success(), "{program:?}: {status}");
    wall
}

/// Peak resident memory, by GNU time: asked from here, the answer would include this process.
pub(crate) fn peak_mb(program: &Program) -> Option<f64> {
    let report = tempfile::NamedTempFile::new().unwrap();
    let path = report.path().to_string_lossy();
    let wrapper = ["/usr/bin/time", "-f", "%M", "-o", &path];
    program.behind(&wrapper).status().ok()?;
    let kilobytes: f64 = std::fs::read_to_string(report.path())
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(kilobytes / 1_024.0)
}

/// What a run wrote below a folder.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Footprint {
    pub(crate) bytes: f64,
    pub(crate) syncs: u32,
}

impl Footprint {
    pub(crate) fn kilobytes(&self) -> f64 {
        self.bytes / 1_024.0
    }
}

/// Bytes and syncs, from the system calls.
pub(crate) fn footprint(program: &Program, below: &Path) -> Option<Footprint> {
    let report = tempfile::NamedTempFile::new().unwrap();
    let path = report.path().to_string_lossy();
    let wrapper = [
        "strace",
        "-f",
        "-y",
        "-s",
        "0",
        "-o",
        &path,
        "-e",
        "trace=write,pwrite64,writev,fsync,fdatasync",
    ];
    program.behind(&wrapper).status().ok()?;
    let calls = std::fs::read_to_string(report.path()).ok()?;
    let below = format!("<{}", below.display());
    let mut footprint = Footprint::default();
    for call in calls.lines().filter(|call| call.contains(&below)) {
        if call.contains("sync(") {
            footprint.syncs += 1;
        } else {
            let written = call.rsplit("= ").next();
            footprint.bytes += written
                .and_then(|bytes| bytes.trim().parse().ok())
                .unwrap_or(0.0);
        }
    }
    Some(footprint)
}
