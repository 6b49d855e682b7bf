//! A program on a terminal of its own: keys in, screen out.
//!
//! Nothing here sleeps: a thread reads what the program prints, and who
//! waits for something is woken when the screen changes or the program ends. The deadline is only there
//! so that a test that would hang fails, with the screen in its message.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, tcgetattr};
use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(20);
/// Written behind all that a program printed when it has ended, so that its last words are seen first.
const END: &[u8] = b"\x1b]777;ended\x07";
/// A question that every terminal answers: what it can do.
const ATTRIBUTES: &[u8] = b"\x1b[c";

/// Keys that are more than a letter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Key {
    Enter,
    AltEnter,
    Tab,
    Backspace,
    Up,
    Left,
    Right,
    CtrlC,
    CtrlD,
    CtrlZ,
}

impl Key {
    fn bytes(self) -> &'static str {
        match self {
            Self::Enter => "\r",
            Self::AltEnter => "\x1b\r",
            Self::Tab => "\t",
            Self::Backspace => "\x7f",
            Self::Up => "\x1b[A",
            Self::Left => "\x1b[D",
            Self::Right => "\x1b[C",
            Self::CtrlC => "\x03",
            Self::CtrlD => "\x04",
            Self::CtrlZ => "\x1a",
        }
    }
}

/// Columns and rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size(pub u16, pub u16);

impl From<Size> for PtySize {
    fn from(Size(cols, rows): Size) -> Self {
        Self {
            rows,
            cols,
            pixel_width: 0,
            pixel_height: 0,
        }
    }
}

/// How the program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    pub code: u32,
    pub signal: Option<String>,
}

impl Exit {
    pub(crate) fn code(code: u32) -> Self {
        Self { code, signal: None }
    }
}

/// What the two threads have seen.
struct Seen {
    screen: vt100::Parser,
    bytes: Vec<u8>,
    status: Option<Exit>,
}

impl Seen {
    /// How the program ended, once all that it printed was read.
    fn exit(&self) -> Option<Exit> {
        self.status.clone().filter(|_| self.bytes.ends_with(END))
    }
}

struct Watch {
    seen: Mutex<Seen>,
    changed: Condvar,
}

impl Watch {
    fn update(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock().unwrap());
        self.changed.notify_all();
    }
}

type Keys = Arc<Mutex<Box<dyn Write + Send>>>;

/// A running program, its terminal and its home, which is new and empty.
pub(crate) struct Pty {
    master: Box<dyn MasterPty + Send>,
    /// Kept open, so that the terminal's settings outlive the program.
    _slave: Box<dyn SlavePty + Send>,
    keys: Keys,
    pid: Pid,
    watch: Arc<Watch>,
    home: Arc<TempDir>,
}

impl Pty {
    /// Starts a program with nothing of this process's environment but `PATH`.
    pub(crate) fn spawn(program: &Path, args: &[&str], env: &[(&str, &str)], size: Size) -> Self {
        Self::spawn_at(Arc::new(TempDir::new().unwrap()), program, args, env, size)
    }

    /// In a home where something was before.
    pub(crate) fn spawn_at(
        home: Arc<TempDir>,
        program: &Path,
        args: &[&str],
        env: &[(&str, &str)],
        size: Size,
    ) -> Self {
        let folder = home.path().to_owned();
        Self::spawn_in(&folder, home, program, args, env, size)
    }

    /// In a folder that is not the home itself.
    pub(crate) fn spawn_in(
        folder: &Path,
        home: Arc<TempDir>,
        program: &Path,
        args: &[&str],
        env: &[(&str, &str)],
        size: Size,
    ) -> Self {
        let pair = native_pty_system().openpty(size.into()).unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.cwd(folder);
        command.env_clear();
        for (name, value) in environment(home.path()) {
            command.env(name, value);
        }
        for (name, value) in env {
            command.env(name, value);
        }
        let mut child = pair.slave.spawn_command(command).unwrap();
        let pid = Pid::from_raw(child.process_id().unwrap().cast_signed()).unwrap();
        let watch = Arc::new(Watch {
            seen: Mutex::new(Seen {
                screen: vt100::Parser::new(cells(size.1), cells(size.0), 1000),
                bytes: Vec::new(),
                status: None,
            }),
            changed: Condvar::new(),
        });
        let mut printed = pair.master.try_clone_reader().unwrap();
        let keys = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let (reading, answering) = (Arc::clone(&watch), Arc::clone(&keys));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = printed.read(&mut buffer) {
                let mut is_asked = false;
                reading.update(|seen| {
                    seen.screen.process(&buffer[..read]);
                    let new = seen.bytes.len().saturating_sub(ATTRIBUTES.len() - 1);
                    seen.bytes.extend_from_slice(&buffer[..read]);
                    let mut windows = seen.bytes[new..].windows(ATTRIBUTES.len());
                    is_asked = windows.any(|bytes| bytes == ATTRIBUTES);
                });
                if is_asked {
                    answering.lock().unwrap().write_all(b"\x1b[?6c").unwrap();
                }
            }
        });
        let waiting = Arc::clone(&watch);
        // Held open: its name may belong to another terminal by then.
        let mut terminal = File::options()
            .write(true)
            .open(pair.master.tty_name().unwrap())
            .unwrap();
        thread::spawn(move || {
            let status = child.wait().unwrap();
            waiting.update(|seen| {
                seen.status = Some(Exit {
                    code: status.exit_code(),
                    signal: status.signal().map(str::to_owned),
                });
            });
            // A terminal that is gone has nobody who waits.
            terminal.write_all(END).ok();
        });
        Self {
            keys,
            master: pair.master,
            _slave: pair.slave,
            pid,
            watch,
            home,
        }
    }

    /// The program's home folder.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    pub(crate) fn shared_home(&self) -> Arc<TempDir> {
        Arc::clone(&self.home)
    }

    /// Types text as it is; a newline is not the Enter key.
    pub(crate) fn type_text(&mut self, text: &str) -> &mut Self {
        self.type_bytes(text.as_bytes())
    }

    pub(crate) fn type_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        let mut keys = self.keys.lock().unwrap();
        keys.write_all(bytes).unwrap();
        keys.flush().unwrap();
        drop(keys);
        self
    }

    pub(crate) fn key(&mut self, key: Key) -> &mut Self {
        self.type_text(key.bytes())
    }

    /// Types a line and Enter.
    pub(crate) fn enter(&mut self, line: &str) -> &mut Self {
        self.type_text(line).key(Key::Enter)
    }

    /// Pastes as a terminal does: line breaks as returns, marked where the program asked for marks.
    pub(crate) fn paste(&mut self, text: &str) -> &mut Self {
        let text = text.replace('\n', "\r");
        let is_marked = self.look(|seen| seen.screen.screen().bracketed_paste());
        if is_marked {
            self.type_text(&format!("\x1b[200~{text}\x1b[201~"))
        } else {
            self.type_text(&text)
        }
    }

    pub(crate) fn resize(&mut self, size: Size) -> &mut Self {
        self.watch.update(|seen| {
            seen.screen
                .screen_mut()
                .set_size(cells(size.1), cells(size.0));
        });
        self.master.resize(size.into()).unwrap();
        self
    }

    /// The same on a terminal that breaks its lines anew, as most do.
    pub(crate) fn resize_reflowing(&mut self, size: Size) -> &mut Self {
        self.watch
            .update(|seen| seen.screen = reflowed(seen.screen.screen(), size));
        self.master.resize(size.into()).unwrap();
        self
    }

    pub(crate) fn kill(&self, signal: Signal) -> &Self {
        kill_process(self.pid, signal).unwrap();
        self
    }

    /// What the screen shows, without the spaces at the ends of lines.
    pub(crate) fn screen(&self) -> String {
        self.look(screen_of)
    }

    /// The screen with its colours.
    pub(crate) fn cells(&self) -> vt100::Screen {
        self.look(|seen| seen.screen.screen().clone())
    }

    /// Everything printed so far, sequences included.
    pub(crate) fn printed(&self) -> String {
        self.look(|seen| {
            let bytes = seen.bytes.strip_suffix(END).unwrap_or(&seen.bytes);
            String::from_utf8_lossy(bytes).into_owned()
        })
    }

    /// Waits until the screen shows a text.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) -> &mut Self {
        self.wait_until(&format!("{text:?}"), |screen| screen.contains(text))
    }

    /// Waits until the screen satisfies a condition.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, what: &str, holds: impl Fn(&str) -> bool) -> &mut Self {
        self.wait(what, |seen| holds(&screen_of(seen)).then_some(()));
        self
    }

    /// Waits until something was printed so many times, sequences included.
    #[track_caller]
    pub(crate) fn wait_printed(&mut self, text: &str, times: usize) -> &mut Self {
        let count = |seen: &Seen| String::from_utf8_lossy(&seen.bytes).matches(text).count();
        let what = format!("{times} times {text:?}");
        self.wait(&what, |seen| (count(seen) >= times).then_some(()));
        self
    }

    /// Waits until the program has ended.
    #[track_caller]
    pub(crate) fn wait_exit(&mut self) -> Exit {
        self.wait("the end of the program", Seen::exit)
    }

    /// Whether the terminal echoes and collects lines, as a shell expects to find it.
    pub(crate) fn is_restored(&self) -> bool {
        let terminal = File::open(self.master.tty_name().unwrap()).unwrap();
        let modes = tcgetattr(&terminal).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    fn look<T>(&self, at: impl FnOnce(&Seen) -> T) -> T {
        at(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.watch.seen.lock().unwrap()
    }

    #[track_caller]
    fn wait<T>(&self, what: &str, found: impl Fn(&Seen) -> Option<T>) -> T {
        let begun = Instant::now();
        let mut seen = self.lock();
        loop {
            if let Some(found) = found(&seen) {
                return found;
            }
            let left = DEADLINE.saturating_sub(begun.elapsed());
            seen = self.watch.changed.wait_timeout(seen, left).unwrap().0;
            if begun.elapsed() >= DEADLINE {
                let (screen, exit) = (screen_of(&seen), seen.status.clone());
                // The lock must be whole for the drop that follows.
                drop(seen);
                panic!("waited in vain for {what}; ended: {exit:?}; the screen:\n{screen}\n");
            }
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if self.look(|seen| seen.status.is_none()) {
            kill_process(self.pid, Signal::KILL).ok();
        }
    }
}

/// The lines of a screen up to its cursor, behind which nothing may stand, on one of another size.
fn reflowed(screen: &vt100::Screen, size: Size) -> vt100::Parser {
    let (_, columns) = screen.size();
    let (last, end) = screen.cursor_position();
    let mut text = String::new();
    for row in 0..=last {
        let cells = (0..columns.get()).map(|column| screen.cell(row, column).unwrap());
        let line: String = cells
            .map(|cell| match cell.contents() {
                "" => " ",
                contents => contents,
            })
            .collect();
        if row == last {
            let (line, rest) = line.split_at(end.into());
            assert_eq!(rest.trim(), "");
            text.push_str(line);
        } else if screen.row_wrapped(row) {
            text.push_str(&line);
        } else {
            text.push_str(line.trim_end());
            text.push_str("\r\n");
        }
    }
    let mut parser = vt100::Parser::new(cells(size.1), cells(size.0), 1000);
    parser.process(text.as_bytes());
    parser
}

fn cells(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}

fn screen_of(seen: &Seen) -> String {
    let contents = seen.screen.screen().contents();
    let lines: Vec<&str> = contents.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

/// A home of its own, so that nothing of this machine's user is read or written.
fn environment(home: &Path) -> BTreeMap<&'static str, String> {
    let below = |folder: &str| home.join(folder).display().to_string();
    #[expect(
        clippy::disallowed_methods,
        reason = "the program may need to find others"
    )]
    let path = std::env::var("PATH").unwrap_or_default();
    BTreeMap::from([
        ("HOME", below("home")),
        ("XDG_CONFIG_HOME", below("config")),
        ("XDG_DATA_HOME", below("data")),
        ("XDG_STATE_HOME", below("state")),
        ("XDG_CACHE_HOME", below("cache")),
        ("TMPDIR", home.display().to_string()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TERM", "xterm-256color".to_owned()),
        ("PATH", path),
    ])
}
