//! A home of its own for the program under test: empty folders, an empty environment, and runs of the
//! real binary in it.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cogtrix::testing::server::Server;
use serde_json::Value;
use tempfile::TempDir;

/// A run that takes longer has failed.
const DEADLINE: Duration = Duration::from_secs(30);

/// Folders that nothing else uses.
pub(crate) struct Home {
    folder: TempDir,
}

/// What a run left behind.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
}

/// Everything a run printed, as one text.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self
            .code
            .map_or_else(|| "signal".to_owned(), |code| code.to_string());
        write!(
            f,
            "{}--- stderr\n{}--- exit {code}",
            self.stdout, self.stderr
        )
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        for name in ["home", "work"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The folder it is started in.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A file below `history/`.
    pub(crate) fn history(&self, file: &str) -> PathBuf {
        self.data().join("history").join(file)
    }

    /// The snapshot of a session.
    pub(crate) fn snapshot(&self, session: &str) -> Value {
        let path = self.history(&format!("{session}.json"));
        let bytes =
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_slice(&bytes).unwrap()
    }

    /// What a session's snapshot holds, as `role: content`.
    pub(crate) fn said(&self, session: &str) -> Vec<String> {
        let snapshot = self.snapshot(session);
        let messages = snapshot["messages"].as_array().unwrap().iter();
        let line = |message: &Value| {
            format!(
                "{}: {}",
                message["role"].as_str().unwrap(),
                message["content"].as_str().unwrap()
            )
        };
        messages.map(line).collect()
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(text.as_ref()).unwrap();
        path
    }

    /// A config file with one OpenAI-compatible model at `server`, and more lines behind it.
    pub(crate) fn config(&self, server: &Server, more: &str) -> PathBuf {
        self.config_of("openai", &server.openai_url(), more)
    }

    /// The same for another protocol.
    pub(crate) fn config_of(&self, kind: &str, url: &str, more: &str) -> PathBuf {
        let key = if kind == "anthropic" {
            ", api_key: secret-key"
        } else {
            ""
        };
        let text = format!(
            "providers: {{there: {{type: {kind}, base_url: \"{url}\"{key}}}}}\n\
             network: {{tries: 1}}\n{more}\n"
        );
        let models = if more.contains("models:") {
            ""
        } else {
            "models: {default: it, it: {provider: there, model: scripted, context_window: 32768}}\n"
        };
        self.write("test.yaml", text + models)
    }

    /// The program with arguments, its data in this home.
    pub(crate) fn cogtrix(&self, args: &[&str]) -> Cogtrix {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cogtrix"));
        command
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home())
            .env("COGTRIX_DATA_DIR", self.data());
        Cogtrix {
            command,
            stdin: Vec::new(),
        }
    }

    /// One prompt to the model of `test.yaml`, in a session.
    pub(crate) fn ask(&self, session: &str, prompt: &str) -> Run {
        self.cogtrix(&["-c", "test.yaml", "-s", session, "-p", prompt])
            .run()
    }

    /// Lines to the model of `test.yaml`, in a session.
    pub(crate) fn lines(&self, session: &str, lines: &[&str]) -> Run {
        let text: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        self.cogtrix(&["-c", "test.yaml", "-s", session, "--lines"])
            .stdin(text)
            .run()
    }
}

/// A run about to start.
pub(crate) struct Cogtrix {
    command: Command,
    stdin: Vec<u8>,
}

impl Cogtrix {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Piped in, and then the end of the pipe.
    pub(crate) fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = text.into();
        self
    }

    /// Runs to the end.
    pub(crate) fn run(self) -> Run {
        self.start().wait()
    }

    pub(crate) fn start(mut self) -> Running {
        let pipes = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let text = self.stdin;
        // Its own thread: the program may answer before it has read everything, or not read at all.
        thread::spawn(move || drop(stdin.write_all(&text)));
        Running { child }
    }
}

/// A run under way.
pub(crate) struct Running {
    child: Child,
}

impl Running {
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end; a run that hangs is killed and fails the test.
    pub(crate) fn wait(mut self) -> Run {
        let pid = rustix::process::Pid::from_child(&self.child);
        let started = Instant::now();
        let (done, watched) = std::sync::mpsc::channel::<()>();
        let watch = thread::spawn(move || {
            if watched.recv_timeout(DEADLINE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let killed = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                killed.ok();
            }
        });
        drop(self.child.stdin.take());
        let output = self.child.wait_with_output().unwrap();
        drop(done);
        watch.join().unwrap();
        assert!(started.elapsed() < DEADLINE, "the program hung: {output:?}");
        Run {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }
}
