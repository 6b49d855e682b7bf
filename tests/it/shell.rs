//! The shell tool: how commands end, what they print and get, what they may write, and that nothing is left of them.
//! Nothing sleeps: a test waits for what a process prints, or for the end of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use cogtrix::chat::{Session, Timestamp, TurnId};
use cogtrix::testing::server::{Server, say};
use cogtrix::tools::shell::{Level, Place, Sandbox, Settings, Shell, available};
use cogtrix::tools::{Around, Done, Failure, Output, Tool, tool};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

use crate::support::home::Home;
use crate::support::{can_confine, is_wholly_confined, program, told};

/// Commands that would run for ever have to be ended by what is tested.
const LONG: &str = "1000";

/// A project, a home and a data folder that nothing else uses. They lie outside of all temporary folders, which a
/// command may write to.
struct Desk {
    root: TempDir,
    settings: Settings,
    environment: BTreeMap<String, String>,
    data: PathBuf,
    /// Where commands run, below the root.
    project: &'static str,
    is_trusted: bool,
}

fn is_temporary(path: &Path) -> bool {
    let real = path.canonicalize().unwrap_or_default();
    ["/tmp", "/var/tmp"].iter().any(|it| real.starts_with(it))
}

/// Returns whether a folder lies where commands may not write; a test that needs that is left out where none does.
pub(super) fn lies_outside(folder: &Path) -> bool {
    let is_outside = !is_temporary(folder);
    if !is_outside {
        told("is skipped: checkout and home folder lie in a temporary folder");
    }
    is_outside
}

/// Commands may write to temporary folders, and a checkout may lie in one.
pub(super) fn outside_of_temporary_folders() -> PathBuf {
    let usual = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let home = directories::BaseDirs::new().map(|folders| folders.home_dir().to_owned());
    let places = [Some(usual.clone()), home].into_iter().flatten();
    // In a command of cogtrix itself modes do not tell.
    let can_write = |path: &PathBuf| TempDir::new_in(path).is_ok();
    let places: Vec<PathBuf> = places.filter(can_write).collect();
    let outside = places.iter().find(|path| !is_temporary(path));
    outside.or(places.first()).cloned().unwrap_or(usual)
}

impl Desk {
    fn new() -> Self {
        let root = TempDir::new_in(outside_of_temporary_folders()).unwrap();
        for folder in ["project", "home", "data"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let home = root.path().join("home").display().to_string();
        let environment = [("HOME", home.as_str()), ("PATH", "/usr/bin:/bin")];
        Self {
            settings: Settings::default(),
            environment: environment
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            data: root.path().join("data"),
            project: "project",
            is_trusted: true,
            root,
        }
    }

    fn unconfined() -> Self {
        let mut desk = Self::new();
        desk.settings.sandbox = Sandbox::Off;
        desk
    }

    /// `None` where the kernel cannot confine.
    fn confined() -> Option<Self> {
        can_confine().then(Self::new)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn tool(&self) -> std::sync::Arc<dyn Tool> {
        let place = Place {
            program: program(),
            project: self.path(self.project),
            is_trusted: self.is_trusted,
            home: Some(self.path("home")),
            kept: vec![self.data.clone()],
            config_files: Vec::new(),
            aside: Some(self.data.join("changes")),
            running: Some(self.root.path().join("running")),
            environment: self.environment.clone(),
        };
        tool(Shell::new(self.settings.clone(), place))
    }

    async fn call(&self, arguments: Value) -> Result<Output, Failure> {
        let run = self.begin(arguments);
        run.end().await
    }

    async fn run(&self, command: &str) -> Output {
        self.call(json!({"command": command})).await.unwrap()
    }

    /// A call under way, to be cancelled.
    fn begin(&self, arguments: Value) -> Run {
        let (progress, shown) = cogtrix::tools::progress();
        let cancel = CancellationToken::new();
        let (tool, token) = (self.tool(), cancel.clone());
        let task = tokio::spawn(async move {
            let session = Session::new("s".parse().unwrap());
            let around = Around {
                session: &session,
                turn: TurnId(1),
                now: Timestamp::from_unix(0).unwrap(),
                cancel: &token,
                progress: &progress,
            };
            tool.call(arguments, &around).await
        });
        Run {
            task,
            cancel,
            shown,
        }
    }
}

struct Run {
    task: tokio::task::JoinHandle<Result<Done, Failure>>,
    cancel: CancellationToken,
    shown: Receiver<String>,
}

impl Run {
    async fn end(self) -> Result<Output, Failure> {
        match self.task.await.unwrap()? {
            Done::Output(output) => Ok(output),
            Done::Wish(wish) => panic!("{wish:?}"),
        }
    }

    /// Everything shown until there are so many lines.
    async fn lines(&mut self, n: usize) -> Vec<String> {
        let mut text = String::new();
        while text.matches('\n').count() < n {
            text += &self.shown.recv().await.unwrap();
        }
        text.lines().map(str::to_owned).collect()
    }
}

/// The pids that were printed, one a line.
pub(super) fn pids<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<Pid> {
    let pids = lines.into_iter().filter_map(|line| line.parse().ok());
    pids.map(|pid| Pid::from_raw(pid).unwrap()).collect()
}

/// Processes of these that are still there.
pub(super) fn alive(pids: &[Pid]) -> Vec<Pid> {
    let is_alive = |pid: &Pid| test_kill_process(*pid).is_ok();
    pids.iter().copied().filter(is_alive).collect()
}

/// Without the time it took.
fn end_of(output: &Output) -> &str {
    let last = output.text.lines().last().unwrap();
    last.split([',', ']']).next().unwrap()
}

fn wrote(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Prints the pids of processes that stay, the way a command might start them.
pub(super) const STAYERS: &str = "sleep 1000 & echo $!
    setsid sh -c 'echo $$; exec sleep 1000' &
    (setsid sh -c 'echo $$; exec sleep 1000' & ) &
    sh -c 'trap \"\" TERM HUP INT; echo $$; sleep 1000; sleep 1000' &
    ";

#[tokio::test]
async fn a_command_runs_in_the_project_and_its_end_is_told() {
    let Some(desk) = Desk::confined() else { return };
    for (command, printed, brief, failed) in [
        ("pwd", "project\n", "exit 0", false),
        (
            "echo out; echo err >&2; exit 3",
            "out\nerr\n",
            "exit 3",
            true,
        ),
        ("no-such-command-here", "not found\n", "exit 127", true),
        ("kill -9 $$", "", "signal 9", true),
        ("printf 'no end'", "no end\n", "exit 0", false),
        ("cat; echo empty", "empty\n", "exit 0", false),
        ("echo there > /dev/stderr", "there\n", "exit 0", false),
    ] {
        let output = desk.run(command).await;
        let (text, _) = output.text.rsplit_once('[').unwrap();
        // In a command of cogtrix itself there are no further namespaces.
        let (text, _) = text.split_once("[sandbox: ").unwrap_or((text, ""));
        assert!(text.ends_with(printed), "{command}: {}", output.text);
        assert_eq!(
            (output.brief.as_str(), output.failed),
            (brief, failed),
            "{command}"
        );
    }
}

#[tokio::test]
async fn the_last_line_says_how_it_ended() {
    let desk = Desk::unconfined();
    for (command, expected) in [
        ("exit 1", "[exit 1"),
        ("kill -9 $$", "[killed by signal 9"),
        ("echo '[exit 0]'; exit 2", "[exit 2"),
    ] {
        assert_eq!(end_of(&desk.run(command).await), expected);
    }
    let timed = json!({"command": format!("echo begun; sleep {LONG}"), "timeout_s": 1});
    let output = desk.call(timed).await.unwrap();
    assert_eq!(output.text, "begun\n[timed out after 1 s]");
    assert_eq!((output.brief.as_str(), output.failed), ("timed out", true));
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_with_everything_it_started() {
    for mut desk in [Some(Desk::unconfined()), Desk::confined()]
        .into_iter()
        .flatten()
    {
        // Short, and yet all have printed by then: what has not started cannot be left.
        desk.settings.timeout = Duration::from_secs(2);
        let output = desk.run(&format!("{STAYERS} wait")).await;
        let pids = pids(output.text.lines());
        assert_eq!(pids.len(), 4, "{}", output.text);
        assert_eq!(alive(&pids), []);
    }
}

#[tokio::test]
async fn a_cancelled_command_is_ended_with_everything_it_started() {
    for desk in [Some(Desk::unconfined()), Desk::confined()]
        .into_iter()
        .flatten()
    {
        let mut run = desk.begin(json!({"command": format!("{STAYERS} wait")}));
        let lines = run.lines(4).await;
        run.cancel.cancel();
        assert_eq!(run.end().await.unwrap_err(), Failure::Interrupted);
        let pids = pids(lines.iter().map(String::as_str));
        assert_eq!((pids.len(), alive(&pids)), (4, vec![]));
    }
}

#[tokio::test]
async fn what_a_shell_leaves_in_the_background_ends_with_it() {
    for desk in [Some(Desk::unconfined()), Desk::confined()]
        .into_iter()
        .flatten()
    {
        // The shell ends at once; its children hold the pipe.
        let command = "sleep 1000 & echo $!; setsid sleep 1000 & echo $!; exit 4";
        let output = desk.run(command).await;
        let pids = pids(output.text.lines());
        assert_eq!((pids.len(), alive(&pids)), (2, vec![]));
        assert_eq!(end_of(&output), "[exit 4");
        assert!(
            output
                .text
                .contains("background processes ended with the command"),
            "{}",
            output.text
        );
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_nothing_behind() {
    let desk = Desk::unconfined();
    let mut run = desk.begin(json!({"command": format!("mkfifo gone; {STAYERS} wait")}));
    let lines = run.lines(4).await;
    run.task.abort();
    run.task.await.unwrap_err();
    let pids = pids(lines.iter().map(String::as_str));
    assert_eq!(pids.len(), 4);
    gone(&pids);
}

/// Waits for the end of processes that are no children of this one.
fn gone(pids: &[Pid]) {
    for pid in pids {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        use rustix::process::{PidfdFlags, pidfd_open};
        // One that has ended already cannot be opened.
        let Ok(process) = pidfd_open(*pid, PidfdFlags::empty()) else {
            continue;
        };
        let deadline = Timespec {
            tv_sec: 20,
            tv_nsec: 0,
        };
        let mut ended = [PollFd::new(&process, PollFlags::IN)];
        assert_eq!(poll(&mut ended, Some(&deadline)).unwrap(), 1, "{pid:?}");
    }
}

#[test]
fn the_end_of_cogtrix_is_the_end_of_its_commands() {
    use std::io::{BufRead, BufReader};
    let desk = Desk::unconfined();
    // What the hidden process sees of a cogtrix that is killed is the end of its stdin.
    let mut child = Command::new(program())
        .args(["__confined", "--sandbox", "off", "--", "sh", "-c"])
        .arg(format!("{STAYERS} wait"))
        .current_dir(desk.path("project"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let printed = BufReader::new(child.stderr.take().unwrap());
    let lines: Vec<String> = printed.lines().take(4).map(Result::unwrap).collect();
    drop(child.stdin.take());
    child.wait().unwrap();
    let pids = pids(lines.iter().map(String::as_str));
    assert_eq!((pids.len(), alive(&pids)), (4, vec![]));
}

#[tokio::test]
async fn a_confined_command_cannot_get_rid_of_who_looks_after_it() {
    let Some(desk) = Desk::confined() else { return };
    let output = desk.run("kill -9 $PPID; echo $?").await;
    let is_held = available() == Ok(Level::FilesAndSignals);
    assert_eq!(end_of(&output) == "[exit 0", is_held, "{}", output.text);
}

#[tokio::test]
async fn without_the_hidden_process_the_command_is_killed_and_the_call_returns() {
    let desk = Desk::unconfined();
    let command = "echo $$; kill -9 $PPID; sleep 1000";
    let output = desk.run(command).await;
    let pids = pids(output.text.lines());
    assert_eq!(end_of(&output), "[killed from outside");
    assert_eq!(pids.len(), 1);
    gone(&pids);
}

#[tokio::test]
async fn when_the_supervisor_is_killed_from_outside_everything_is_ended_and_put_back_all_the_same()
{
    let Some(desk) = Desk::confined() else { return };
    if !is_wholly_confined() {
        return told("is skipped: there are no namespaces");
    }
    let command = format!("echo evil > .envrc; echo $PPID; {STAYERS} wait");
    let mut run = desk.begin(json!({"command": command}));
    let lines = run.lines(5).await;
    let mut pids = pids(lines.iter().map(String::as_str));
    let supervisor = pids.remove(0);
    kill_process(supervisor, Signal::KILL).unwrap();
    let output = run.end().await.unwrap();
    assert_eq!(end_of(&output), "[killed from outside");
    assert_eq!(wrote(&desk.path("project/.envrc")), None);
    let told = ".envrc is protected: the command made it, which was undone]";
    assert!(output.text.contains(told), "{}", output.text);
    assert_eq!(pids.len(), 4);
    gone(&pids);
}

#[tokio::test]
async fn a_hundred_megabytes_neither_block_nor_are_kept() {
    let desk = Desk::unconfined();
    let command = "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last";
    let mut run = desk.begin(json!({"command": command}));
    // Nobody reads what is shown while it runs.
    let done = (&mut run.task).await.unwrap().unwrap();
    let Done::Output(output) = done else {
        panic!("{done:?}")
    };
    assert!(output.text.len() < 1_100_000, "{}", output.text.len());
    assert!(output.text.starts_with("first\nxxx"));
    assert!(output.text.contains("bytes left out ...]"));
    assert!(output.text.contains("xxx\nlast\n[exit 0"));
    let mut shown = 0;
    while let Ok(text) = run.shown.try_recv() {
        shown += text.len();
    }
    assert!(shown < 400_000, "{shown}");
}

#[tokio::test]
async fn binary_output_is_told_of_and_not_shown() {
    let desk = Desk::unconfined();
    let output = desk.run("printf '\\177ELF\\0\\377\\376'").await;
    assert!(output.text.starts_with("[7 bytes of binary data]\n"));
}

#[tokio::test]
async fn output_is_shown_as_it_comes() {
    let desk = Desk::unconfined();
    let mut run = desk.begin(json!({"command": "mkfifo go; echo one; cat go; echo two"}));
    assert_eq!(run.lines(1).await, ["one"]);
    // The command waits until somebody writes.
    let go = desk.path("project/go");
    drop(fs::File::options().write(true).open(go).unwrap());
    assert_eq!(run.lines(1).await, ["two"]);
    assert!(run.end().await.unwrap().text.starts_with("one\ntwo\n"));
}

#[tokio::test]
async fn a_command_gets_few_variables_and_no_secrets() {
    let mut desk = Desk::unconfined();
    for name in ["OPENAI_API_KEY", "LC_TOKEN", "RUST_LOG", "MINE", "LC_ALL"] {
        desk.environment.insert(name.to_owned(), "C".to_owned());
    }
    desk.settings.pass_env = vec!["MINE".to_owned(), "OPENAI_API_KEY".to_owned()];
    let output = desk.run("env | cut -d= -f1 | sort").await;
    let lines = output.text.lines();
    // The shell's own.
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    let names: Vec<&str> = lines
        .filter(|line| !own.contains(line) && !line.starts_with('['))
        .collect();
    assert_eq!(
        names,
        [
            "GIT_PAGER",
            "GIT_TERMINAL_PROMPT",
            "HOME",
            "LC_ALL",
            "MINE",
            "NO_COLOR",
            "PAGER",
            "PATH",
            "TERM"
        ]
    );
}

#[tokio::test]
async fn what_looks_after_a_command_gets_its_variables_under_other_names() {
    let mut desk = Desk::unconfined();
    let libraries = desk.path("project/lib").display().to_string();
    desk.environment
        .insert("LD_LIBRARY_PATH".to_owned(), libraries.clone());
    let output = desk
        .run("echo $LD_LIBRARY_PATH; tr '\\0' '\\n' < /proc/$PPID/environ | grep -vc ^COGTRIX_COMMAND_; env | grep -c ^COGTRIX_")
        .await;
    let lines: Vec<&str> = output.text.lines().take(3).collect();
    assert_eq!(lines, [libraries.as_str(), "0", "0"]);
}

#[tokio::test]
async fn no_other_user_reads_the_value_of_a_variable_in_a_list_of_processes() {
    for desk in [Some(Desk::unconfined()), Desk::confined()] {
        let Some(mut desk) = desk else { continue };
        desk.settings.env = vec!["MARKER=of-one-person".to_owned()];
        // Patterns that do not find themselves.
        let script = "echo $MARKER; tr '\\0' '\\n' < /proc/$PPID/cmdline > seen
            grep -cx __confine[d] seen; cat /proc/[0-9]*/cmdline 2>/dev/null | grep -ac of-one-perso[n]";
        let output = desk.run(script).await;
        let lines: Vec<&str> = output.text.lines().take(3).collect();
        assert_eq!(lines, ["of-one-person", "1", "0"], "{}", output.text);
    }
}

#[test]
fn a_command_that_replaces_the_program_has_nothing_run_outside_of_the_sandbox() {
    let Some(desk) = Desk::confined().filter(|_| is_wholly_confined()) else {
        return;
    };
    let marker = desk.path("marker");
    let replace = format!(
        "printf '#!/bin/sh\\necho evil > {}\\n' > new && chmod +x new && mv new cogtrix && echo replaced",
        marker.display()
    );
    let call = |command: &str| say("").calling("c", "shell", json!({"command": command}));
    let server = Server::start([call(&replace), call("echo again"), say("Done.")]);
    let home = Home::new();
    home.config(&server, "");
    let copy = home.work().join("cogtrix");
    fs::copy(program(), &copy).unwrap();
    let run = Command::new(&copy)
        .args(["-c", "test.yaml", "-s", "s", "--tools", "all", "-y"])
        .args(["-p", "Run it"])
        .current_dir(home.work())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home.home())
        .env("COGTRIX_DATA_DIR", home.data())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!marker.exists(), "{run:?}");
    assert!(run.status.success(), "{run:?}");
    let told = server.chats()[2].body.to_string();
    assert!(told.contains("replaced\\n[exit 0"), "{told}");
    assert!(told.contains("again\\n[exit 0"), "{told}");
}

#[tokio::test]
async fn there_is_no_terminal_to_ask_at() {
    let desk = Desk::unconfined();
    let output = desk
        .run("(echo x > /dev/tty) 2>/dev/null || echo none")
        .await;
    assert!(output.text.starts_with("none\n"), "{}", output.text);
}

#[tokio::test]
async fn a_confined_command_writes_inside_and_to_temporary_folders() {
    let Some(mut desk) = Desk::confined() else {
        return;
    };
    if !lies_outside(desk.root.path()) {
        return;
    }
    let own = desk.path("own");
    fs::create_dir(&own).unwrap();
    desk.environment
        .insert("TMPDIR".to_owned(), own.display().to_string());
    fs::create_dir(desk.path("project/old")).unwrap();
    fs::File::create(desk.path("project/old/file")).unwrap();
    for command in [
        "echo new > file && echo more >> file && rm file",
        "mkdir -p a/b && ln -s nowhere a/link && mv a c && rm -r c",
        // Between folders of the project.
        "mkdir new && mv old/file new/ && ln new/file new/second && mv new/file old/",
        "f=$(mktemp) && echo x > $f && rm $f",
        "f=$(mktemp -p /tmp) && echo x > $f && rm $f",
        "f=$(mktemp -p /var/tmp) && echo x > $f && rm $f",
        "f=$(mktemp -p /dev/shm) && echo x > $f && rm $f",
        "echo x > /dev/null && cat /etc/passwd > /dev/null",
    ] {
        let output = desk.run(command).await;
        assert_eq!(end_of(&output), "[exit 0", "{command}: {}", output.text);
    }
}

#[tokio::test]
async fn a_confined_command_writes_nowhere_else() {
    let Some(desk) = Desk::confined() else { return };
    if !lies_outside(desk.root.path()) {
        return;
    }
    let outside = desk.path("home/there");
    fs::copy("/etc/hostname", &outside).unwrap_or_default();
    let mut options = fs::File::options();
    Write::write_all(
        &mut options
            .write(true)
            .create(true)
            .truncate(true)
            .open(&outside)
            .unwrap(),
        b"kept",
    )
    .unwrap();
    std::os::unix::fs::symlink(desk.path("home"), desk.path("project/out")).unwrap();
    std::os::unix::fs::symlink(&outside, desk.path("project/file")).unwrap();
    assert!(!desk.run("echo x > inside").await.failed);
    for command in [
        "touch $HOME/x",
        "mkdir $HOME/x",
        "echo x > $HOME/there",
        "echo x >> $HOME/there",
        "truncate -s 0 $HOME/there",
        "rm $HOME/there",
        "echo x > ../home/there",
        "echo x > out/there",
        "echo x > out/x",
        "echo x > file",
        "ln ../home/there linked && echo x > linked",
        "mv ../home/there moved",
        "mv file $HOME/x",
        "cp /etc/passwd $HOME/x",
        "ln -s / $HOME/x",
        "mkfifo $HOME/x",
        "rmdir $HOME",
        "mv ../project ../else",
        "echo x > /etc/cogtrix-test",
        "echo 1 > /proc/sys/vm/drop_caches",
        // A confinement is inherited.
        "setsid sh -c 'echo x > $HOME/x'",
    ] {
        let output = desk.run(command).await;
        assert!(output.failed, "{command}: {}", output.text);
        assert_eq!(wrote(&outside).as_deref(), Some("kept"), "{command}");
        assert_eq!(
            fs::read_dir(desk.path("home")).unwrap().count(),
            1,
            "{command}"
        );
        assert!(!Path::new("/etc/cogtrix-test").exists(), "{command}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn the_data_folder_cannot_be_written_even_inside_of_the_project() {
    let Some(mut desk) = Desk::confined() else {
        return;
    };
    desk.data = desk.path("project/.cogtrix/data");
    fs::create_dir_all(desk.data.join("history")).unwrap();
    fs::create_dir(desk.path("project/src")).unwrap();
    for command in [
        "echo x > .cogtrix/data/x",
        "echo x > .cogtrix/data/history/s.json",
        "mkdir .cogtrix/data/x",
        "rmdir .cogtrix/data/history",
        "mv .cogtrix/data src/",
        "mv .cogtrix src/",
        "ln -s ../src .cogtrix/x",
    ] {
        let output = desk.run(command).await;
        assert!(output.failed, "{command}: {}", output.text);
    }
    if is_wholly_confined() {
        let output = desk.run("touch new").await;
        assert!(!output.failed, "{}", output.text);
    }
    assert_eq!(names(&desk.data), ["history"]);
    let output = desk.run("echo x > src/new").await;
    assert!(!output.failed, "{}", output.text);
}

#[tokio::test]
async fn the_data_folder_cannot_be_written_even_in_a_temporary_folder() {
    let Some(mut desk) = Desk::confined() else {
        return;
    };
    let temporary = TempDir::new_in("/tmp").unwrap();
    desk.data = temporary.path().join("data");
    fs::create_dir(&desk.data).unwrap();
    let other = temporary.path().join("other");
    fs::create_dir(&other).unwrap();
    let allowed = format!("echo x > {}/x", other.display());
    assert!(!desk.run(&allowed).await.failed);
    let output = desk
        .run(&format!("echo x > {}/x", desk.data.display()))
        .await;
    assert!(output.failed, "{}", output.text);
    assert_eq!(names(&desk.data), [""; 0]);
}

#[tokio::test]
async fn what_a_command_makes_of_protected_files_is_put_back_and_told() {
    let Some(desk) = Desk::confined() else { return };
    let output = desk.run("echo evil > .envrc; echo fine > file").await;
    assert_eq!(wrote(&desk.path("project/.envrc")), None);
    assert_eq!(wrote(&desk.path("project/file")).as_deref(), Some("fine\n"));
    let told = ".envrc is protected: the command made it, which was undone]";
    assert!(output.text.contains(told), "{}", output.text);
}

#[tokio::test]
async fn a_missing_network_is_reported_wherever_the_failure_hides() {
    let Some(desk) = Desk::confined() else { return };
    let fails = "sh -c 'echo Could not resolve host: x; exit 6'";
    for line in [
        format!("{fails}|cat"),
        format!("{fails}; true"),
        format!("{fails} || true"),
        format!("echo \"$({fails})\""),
    ] {
        let output = desk.run(&line).await;
        assert!(!output.failed && output.retry.is_none(), "{line}");
        let told = "[it ran without network; if it needs that, call again with network: true";
        assert!(output.text.contains(told), "{line}: {}", output.text);
    }
}

#[tokio::test]
async fn a_new_repository_is_no_change_of_protected_files() {
    let Some(desk) = Desk::confined() else { return };
    let git = Command::new("git").arg("--version").output();
    if git.is_err() {
        return assert!(git.is_err());
    }
    let output = desk
        .run("git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git log --oneline")
        .await;
    assert!(output.text.contains(" x\n"), "{}", output.text);
    assert!(!output.text.contains("is protected"), "{}", output.text);
    assert!(desk.path("project/.git/config").exists());
}

#[tokio::test]
async fn a_repository_that_commands_name_in_the_index_runs_nothing_when_the_person_calls_git() {
    let Some(desk) = Desk::confined() else { return };
    let project = desk.path("project");
    let git = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(&project);
        command.env("HOME", desk.path("home")).output()
    };
    if !git("git init -q").unwrap().status.success() {
        return told("is skipped: there is no git");
    }
    let make = |name: &str| {
        format!(
            "git init -q {name} && git -C {name} -c user.name=a -c user.email=b commit -q --allow-empty -m x
            git update-index --add --cacheinfo 160000,$(git -C {name} rev-parse HEAD),{name}"
        )
    };
    let evil = |name: &str| format!("git -C {name} config core.fsmonitor 'touch $HOME/ran; false'");
    let plain = desk.run(&make("plain")).await;
    assert!(!plain.text.contains("is protected"), "{}", plain.text);
    desk.run(&evil("plain")).await;
    let output = desk.run(&format!("{}\n{}", make("sub"), evil("sub"))).await;
    let told = "sub/.git/config is protected: the command made it, which was undone]";
    assert!(output.text.contains(told), "{}", output.text);
    let status = git("git status").unwrap();
    assert!(status.status.success(), "{status:?}");
    assert!(!desk.path("home/ran").exists());
    for name in ["plain", "sub"] {
        git(&evil(name)).unwrap();
        git("git status").unwrap();
        assert!(desk.path("home/ran").exists(), "the attack is a good one");
        fs::remove_file(desk.path("home/ran")).unwrap();
    }
}

#[tokio::test]
async fn git_works_in_a_folder_of_a_repository_in_a_worktree_and_in_a_submodule() {
    let Some(mut desk) = Desk::confined() else {
        return;
    };
    let outside = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-ec", line]).current_dir(desk.root.path());
        let output = command.env("HOME", desk.path("home")).output().unwrap();
        output.status.success()
    };
    let made = outside(
        "git config --global user.name a; git config --global user.email b
        git config --global protocol.file.allow always
        for name in inner repo; do git init -q $name; cd $name; echo x > f; git add f; git commit -qm x; cd ..; done
        cd repo; mkdir sub; git submodule --quiet add ../inner module; git commit -qm module
        git worktree add -q ../tree; git init -q --separate-git-dir ../kept ../apart",
    );
    if !made {
        return told("is skipped: there is no git, or it is too old");
    }
    let work = "echo y > g && git add g && git stash -q && git stash pop -q && git commit -qm g \
        && git checkout -qb of-$(basename $PWD) && git log --oneline | head -1";
    let attack = "git=$(git rev-parse --git-common-dir); echo evil > $git/hooks/post-commit
        git config core.fsmonitor evil; echo '[core]' > $git/config.worktree; mv $git/hooks $git/moved; exit 1";
    for (project, git) in [
        ("repo/sub", "repo/.git"),
        ("tree", "repo/.git"),
        ("repo/module", "repo/.git/modules/module"),
    ] {
        desk.project = project;
        desk.is_trusted = true;
        let git = desk.path(git);
        let config = wrote(&git.join("config"));
        let ran = desk.run(work).await;
        assert_eq!(
            (ran.failed, end_of(&ran)),
            (false, "[exit 0"),
            "{project}: {ran:?}"
        );
        let ran = desk.run(attack).await;
        assert!(
            !git.join("hooks/post-commit").exists(),
            "{project}: {ran:?}"
        );
        assert!(git.join("hooks").is_dir() && !git.join("config.worktree").exists());
        assert_eq!(wrote(&git.join("config")), config, "{project}: {ran:?}");
        if is_wholly_confined() {
            assert!(
                ran.text.contains("because git runs it"),
                "{project}: {ran:?}"
            );
        }
        // Without trust it stays as it is.
        desk.is_trusted = false;
        let ran = desk.run("echo z > g; git add g").await;
        let hint = "git's folder is in ";
        assert!(ran.failed && ran.text.contains(hint), "{project}: {ran:?}");
    }
    // A file that leads to a folder of git which knows nothing of it opens none.
    desk.project = "apart";
    desk.is_trusted = true;
    assert!(desk.run("echo z > g; git add g").await.failed);
    assert!(desk.run("echo evil > ../repo/.git/evil").await.failed);
}

#[tokio::test]
async fn a_project_inside_of_the_data_folder_cannot_be_written() {
    let Some(mut desk) = Desk::confined() else {
        return;
    };
    desk.data = desk.root.path().to_owned();
    assert!(!desk.run("ls").await.failed);
    assert!(desk.run("echo x > x").await.failed);
}

#[test]
fn an_order_that_cannot_be_followed_ends_with_126_and_a_word() {
    let run = |command: &[&str]| {
        let output = Command::new(program())
            .args(["__confined", "--sandbox", "off", "--"])
            .args(command)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), stderr)
    };
    let (code, stderr) = run(&["/no/such/program"]);
    assert_eq!(code, Some(126));
    assert!(
        stderr.starts_with("cogtrix: /no/such/program: "),
        "{stderr}"
    );
}

#[tokio::test]
async fn a_command_that_cannot_be_started_is_a_failure_the_model_reads() {
    let desk = Desk::unconfined();
    fs::remove_dir(desk.path("project")).unwrap();
    let failure = desk.call(json!({"command": "true"})).await.unwrap_err();
    assert!(
        failure
            .to_string()
            .starts_with("the command could not be started")
    );
}
