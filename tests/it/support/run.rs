//! The real program under way: what it is given, what it prints, how it ends. Nothing sleeps: threads read
//! what is printed and wake whoever waits for it; the deadline only ends what would hang.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// A run that takes longer has failed.
const DEADLINE: Duration = Duration::from_secs(90);

/// What a run left behind.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

/// Everything a run printed, as one text.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}--- stderr\n{}--- ", self.stdout, self.stderr)?;
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exit {code}"),
            (None, signal) => write!(f, "signal {}", signal.unwrap_or(0)),
        }
    }
}

/// A run about to start.
pub(crate) struct Cogtrix {
    command: Command,
    stdin: Stdin,
    reader: Reader,
}

enum Stdin {
    Text(Vec<u8>),
    /// Left to [`Running::say`].
    Open,
}

/// Who reads stdout.
#[derive(Clone, Copy)]
enum Reader {
    Patient,
    /// Closes the pipe after so many lines, as `head` does.
    Head(usize),
}

impl Cogtrix {
    /// With an empty environment and nothing on stdin.
    pub(super) fn new(directory: &Path) -> Self {
        let mut command = Command::new(super::program());
        command
            .current_dir(directory)
            .env_clear()
            .env("PATH", "/usr/bin:/bin");
        Self {
            command,
            stdin: Stdin::Text(Vec::new()),
            reader: Reader::Patient,
        }
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Within these limits, as `ulimit` takes them.
    pub(crate) fn limited(mut self, limits: &str) -> Self {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", &format!("ulimit {limits} && exec \"$0\" \"$@\"")])
            .arg(self.command.get_program())
            .args(self.command.get_args())
            .env_clear();
        for (name, value) in self.command.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        if let Some(directory) = self.command.get_current_dir() {
            command.current_dir(directory);
        }
        self.command = command;
        self
    }

    /// Piped in, and then the end of the pipe.
    pub(crate) fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Stdin::Text(text.into());
        self
    }

    /// Lines come one by one, by [`Running::say`].
    pub(crate) fn open_stdin(mut self) -> Self {
        self.stdin = Stdin::Open;
        self
    }

    /// Nobody reads stdout behind that many lines.
    pub(crate) fn head(mut self, lines: usize) -> Self {
        self.reader = Reader::Head(lines);
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
        let printed = Arc::new(Printed::default());
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let stdin = child.stdin.take().unwrap();
        let (out, err) = (Arc::clone(&printed), Arc::clone(&printed));
        let reader = self.reader;
        thread::spawn(move || out.collect(stdout, reader, |texts| &mut texts.stdout));
        thread::spawn(move || err.collect(stderr, Reader::Patient, |texts| &mut texts.stderr));
        let stdin = match self.stdin {
            Stdin::Open => Some(stdin),
            Stdin::Text(text) => {
                // Its own thread: the program may answer before it has read everything, or not read at all.
                thread::spawn(move || feed(stdin, &text));
                None
            }
        };
        Running {
            child,
            stdin,
            printed,
        }
    }
}

/// A program that does not read is within its rights.
fn feed(mut stdin: ChildStdin, text: &[u8]) {
    drop(stdin.write_all(text));
}

#[derive(Default)]
struct Printed {
    texts: Mutex<Texts>,
    changed: Condvar,
}

#[derive(Default)]
struct Texts {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Streams that have ended, of two.
    ended: usize,
}

impl Printed {
    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn collect(
        &self,
        mut stream: impl Read,
        reader: Reader,
        of: impl Fn(&mut Texts) -> &mut Vec<u8>,
    ) {
        let mut buffer = [0; 8192];
        loop {
            let read = match stream.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(read) => read,
                Err(_) => 0,
            };
            let mut texts = self.texts();
            let text = of(&mut texts);
            text.extend_from_slice(&buffer[..read]);
            let lines = text.split(|byte| *byte == b'\n').count() - 1;
            let enough = matches!(reader, Reader::Head(most) if lines >= most);
            if read == 0 || enough {
                drop(stream);
                texts.ended += 1;
                self.changed.notify_all();
                return;
            }
            self.changed.notify_all();
        }
    }

    /// Waits until `is_enough`; tells whether that came in time.
    fn wait(&self, is_enough: impl Fn(&Texts) -> bool) -> bool {
        let texts = self.texts();
        let waited = self
            .changed
            .wait_timeout_while(texts, DEADLINE, |texts| !is_enough(texts));
        let (_texts, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        !waited.timed_out()
    }
}

/// A run under way; killed if the test is done with it before its end.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    printed: Arc<Printed>,
}

impl Running {
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// One more line on an open stdin.
    pub(crate) fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Waits until stdout holds `text` so many times, or the program has ended.
    pub(crate) fn wait_for_times(&self, text: &str, times: usize) {
        let came = self.printed.wait(|texts| {
            let stdout = String::from_utf8_lossy(&texts.stdout);
            stdout.matches(text).count() >= times || texts.ended == 2
        });
        assert!(came, "{text:?} did not come: {}", self.stdout());
    }

    /// What came on stdout so far.
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.printed.texts().stdout).into_owned()
    }

    /// Waits until stderr holds `text`.
    pub(crate) fn wait_for_notice(&self, text: &str) {
        let holds = |texts: &Texts| String::from_utf8_lossy(&texts.stderr).contains(text);
        let came = self.printed.wait(|texts| holds(texts) || texts.ended == 2);
        assert!(
            came && holds(&self.printed.texts()),
            "{text:?} did not come"
        );
    }

    /// Waits until stdout holds `text`.
    pub(crate) fn wait_for(&self, text: &str) {
        let came = self.printed.wait(|texts| {
            let stdout = String::from_utf8_lossy(&texts.stdout);
            stdout.contains(text) || texts.ended == 2
        });
        let texts = self.printed.texts();
        let stdout = String::from_utf8_lossy(&texts.stdout);
        let stderr = String::from_utf8_lossy(&texts.stderr);
        assert!(
            came && stdout.contains(text),
            "{text:?} did not come: {stdout}--- stderr\n{stderr}"
        );
    }

    /// Waits for the end; a run that hangs is killed and fails the test.
    pub(crate) fn wait(mut self) -> Run {
        drop(self.stdin.take());
        let ended = self.printed.wait(|texts| texts.ended == 2);
        if !ended {
            self.child.kill().unwrap();
        }
        let status = self.child.wait().unwrap();
        let texts = self.printed.texts();
        let run = Run {
            stdout: String::from_utf8_lossy(&texts.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&texts.stderr).into_owned(),
            code: status.code(),
            signal: status.signal(),
        };
        drop(texts);
        assert!(ended, "the program hung: {run}");
        run
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Already over where the test waited for it.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
