//! Pipes, devices, links and folders in the place of files beside a history: their session goes on without them, and no
//! other session is worse off (C76).

use std::path::{Path, PathBuf};

use cogtrix::testing::server::{Script, Server, say};
use rustix::fs::{CWD, FileType, mknodat};

use crate::support::home::Home;
use crate::support::run::Run;
use crate::support::told;

/// Files beside a history.
const SIDE: [&str; 4] = [
    "history/s_pins.json",
    "history/s_scratchpad.json",
    "history/s_hybrid.json",
    "history/s_mode_state.json",
];
/// What recall keeps of a session.
const INDEX: [&str; 3] = [
    "vectordb/sessions/s/words.idx",
    "vectordb/sessions/s/exchanges.jsonl",
    "vectordb/sessions/s/meta.json",
];
/// The vectors of all sessions, by `hashed/32`.
const VECTORS: &str = "vectordb/b07595f0f2d57b98.vectors";

/// What stands in the place of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Odd {
    Pipe,
    Device,
    LinkLoop,
    Folder,
    Unreadable,
}

const ODD: [Odd; 5] = [
    Odd::Pipe,
    Odd::Device,
    Odd::LinkLoop,
    Odd::Folder,
    Odd::Unreadable,
];

impl Odd {
    fn take_the_place_of(self, path: &Path) {
        if self == Self::Unreadable {
            let none = std::os::unix::fs::PermissionsExt::from_mode(0o000);
            std::fs::set_permissions(path, none).unwrap();
            return;
        }
        std::fs::remove_file(path).unwrap();
        match self {
            Self::Pipe => mknodat(CWD, path, FileType::Fifo, 0o600.into(), 0).unwrap(),
            Self::Device => std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
            Self::LinkLoop => std::os::unix::fs::symlink(path, path).unwrap(),
            Self::Folder | Self::Unreadable => std::fs::create_dir(path).unwrap(),
        }
    }

    /// Whether a path is what stood there.
    fn is_at(self, path: &Path) -> bool {
        use std::os::unix::fs::FileTypeExt;
        let kind = path.symlink_metadata().unwrap().file_type();
        match self {
            Self::Pipe => kind.is_fifo(),
            Self::Device | Self::LinkLoop => kind.is_symlink(),
            Self::Folder => kind.is_dir(),
            Self::Unreadable => kind.is_file(),
        }
    }

    /// Whether nobody can read it: the administrator reads everything.
    fn is_odd(self, path: &Path) -> bool {
        self != Self::Unreadable || std::fs::read(path).is_err()
    }
}

/// Sessions `s`, with every file that a session can have, and `other`.
fn template(server: &Server) -> Home {
    let home = Home::new();
    configure(&home, server);
    home.lines(
        "s",
        &[
            "The ferry leaves from the western quay",
            "And it costs nothing",
            "/pin keep this",
            "/scratch port 8080",
            "/task mend the ferry",
            "/compact",
        ],
    );
    home.ask("other", "The bakery is closed on Tuesdays");
    let run = home
        .cogtrix(&["-c", "test.yaml", "memory", "reindex"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    for file in SIDE.iter().chain(&INDEX).chain([&VECTORS]) {
        assert!(home.data().join(file).is_file(), "{file}");
    }
    home
}

fn configure(home: &Home, server: &Server) {
    let more = "memory: {timestamps: off, background: false, capture: off}\n\
                embedding: {provider: hashed, dim: 32}";
    home.config(server, more);
}

fn server() -> Server {
    let long = "The ferry is one that people take who have time. ".repeat(9);
    Script::answering(move |request| {
        let asked = request.message(-1);
        let is_said = |end: &&str| asked.ends_with(*end);
        if ["quay", "nothing", "Tuesdays", "leave?", "Wednesdays?"]
            .iter()
            .any(is_said)
        {
            say(long.clone())
        } else {
            say("- The ferry leaves from the western quay.")
        }
    })
    .serve()
}

fn copy_of(template: &Home, server: &Server) -> Home {
    let home = Home::new();
    for (path, bytes) in Home::files(&template.data()) {
        home.write(home.data().join(path), bytes);
    }
    configure(&home, server);
    home
}

fn run(home: &Home, args: &[&str]) -> Run {
    let run = home.cogtrix(&[&["-c", "test.yaml"], args].concat()).run();
    assert!(!run.stderr.contains("panicked"), "{run}");
    run
}

/// Everything in the folder of a file whose name begins like it.
fn named_like(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap().to_string_lossy();
    let entries = std::fs::read_dir(path.parent().unwrap()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| {
            let like = path.file_name().unwrap().to_string_lossy();
            like.starts_with(&*name)
        })
        .collect()
}

#[test]
fn a_session_goes_on_without_a_file_that_is_none_and_what_stood_there_is_kept() {
    let server = server();
    let template = template(&server);
    for odd in ODD {
        for file in SIDE.iter().chain(&INDEX).chain([&VECTORS]) {
            let case = format!("{file}: {odd:?}");
            let home = copy_of(&template, &server);
            let path = home.data().join(file);
            odd.take_the_place_of(&path);
            if !odd.is_odd(&path) {
                continue;
            }
            let asked = home.ask("s", "and when does the ferry leave?");
            assert_eq!(asked.code, Some(0), "{case}: {asked}");
            assert!(asked.stdout.contains("people take"), "{case}: {asked}");
            if SIDE.contains(file) {
                assert!(asked.stderr.contains(file), "{case} is told: {asked}");
            }
            let kept = named_like(&path);
            assert!(
                kept.iter().any(|path| odd.is_at(path)),
                "{case}: what stood there is kept: {kept:?}"
            );
            let said = home.said("s");
            assert_eq!(said.len(), 6, "{case}: {said:?}");
            let again = home.lines("s", &["/pin another", "/scratch port 9090"]);
            assert_eq!(again.code, Some(0), "{case}: {again}");
            assert!(!again.stderr.contains("NOT SAVED"), "{case}: {again}");
            let last = home.lines("s", &["/pin", "/scratch port"]);
            assert!(last.stdout.contains("another"), "{case}: {last}");
            assert!(last.stdout.contains("9090"), "{case}: {last}");
        }
    }
}

#[test]
fn no_other_session_is_worse_off_by_files_that_are_none() {
    let server = server();
    let template = template(&server);
    for odd in ODD {
        for files in [&SIDE[..], &INDEX[..]] {
            let case = format!("{files:?}: {odd:?}");
            let home = copy_of(&template, &server);
            for file in files {
                odd.take_the_place_of(&home.data().join(file));
            }
            let other = std::fs::read(home.history("other.json")).unwrap();
            let listed = run(&home, &["sessions"]);
            assert_eq!(listed.code, Some(0), "{case}: {listed}");
            assert!(
                listed.stdout.contains("The ferry leaves"),
                "{case}: {listed}"
            );
            for args in [
                &["memory", "search", "--all", "bakery"][..],
                &["memory", "search", "bakery"],
                &["-s", "other", "memory", "search", "bakery"],
            ] {
                let found = run(&home, args);
                assert_eq!(found.code, Some(0), "{case}: {found}");
                assert!(
                    found.stdout.contains("closed on Tuesdays"),
                    "{case}: {found}"
                );
            }
            let stats = run(&home, &["memory", "stats"]);
            assert_eq!(stats.code, Some(0), "{case}: {stats}");
            for session in ["s ", "other "] {
                let row = stats.stdout.lines().find(|line| line.starts_with(session));
                assert!(row.is_some(), "{case}: {stats}");
            }
            let reindexed = run(&home, &["memory", "reindex"]);
            let row = reindexed
                .stdout
                .lines()
                .find(|line| line.starts_with("other: "));
            let row = row.unwrap_or_else(|| panic!("{case}: {reindexed}"));
            assert!(
                row.contains("vectors for 1 exchange"),
                "{case}: {reindexed}"
            );
            assert_eq!(
                std::fs::read(home.history("other.json")).unwrap(),
                other,
                "{case}"
            );
        }
    }
}

#[test]
fn a_note_of_a_move_that_cannot_be_read_stops_no_other_session() {
    let server = server();
    let home = copy_of(&template(&server), &server);
    let note = home.history(".s.moving");
    mknodat(CWD, &note, FileType::Fifo, 0o600.into(), 0).unwrap();
    let listed = run(&home, &["sessions"]);
    assert!(listed.stdout.contains("The bakery"), "{listed}");
    let asked = home.ask("other", "and on Wednesdays?");
    assert_eq!(asked.code, Some(0), "{asked}");
    let refused = home.ask("s", "anything");
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains(".s.moving"), "{refused}");
}

/// Every turn said it again, with the names of its files and of the system's errors, and the end did so too.
#[test]
fn a_data_folder_that_cannot_be_made_is_said_at_the_start_and_once_at_the_end() {
    let home = Home::new();
    let run = home.cogtrix(&["--data-dir", "/proc/none", "--lines"]);
    let run = run.env("COGTRIX_MODEL", "offline/quotes");
    let run = run.stdin("hello\nI prefer tea over coffee\n").run();
    let lines: Vec<&str> = run.stderr.lines().collect();
    // Root may write there, but nothing can be made.
    let [warning, error] = lines[..] else {
        panic!("{run}");
    };
    assert!(warning.starts_with("warning: nothing can be saved in /proc/none: "));
    assert!(error.starts_with("error: session not saved in /proc/none: "));
    assert!(!run.stderr.contains("os error"), "{run}");
}

/// Commands named the system's errors and files nobody knows, or said that something was kept.
#[test]
fn commands_say_plainly_that_nothing_can_be_saved() {
    let home = Home::new();
    let told = |commands: &str| {
        let run = home.cogtrix(&["--data-dir", "/proc/none", "--lines"]);
        let run = run.env("COGTRIX_MODEL", "offline/quotes");
        let run = run.stdin(format!("hello\n{commands}\n")).run();
        assert!(!run.to_string().contains("os error"), "{run}");
        assert!(run.stdout.contains("Nothing is saved."), "{run}");
        run
    };
    for command in [
        "/rename other",
        "/fork",
        "/new",
        "/session other",
        "/clear\ny",
    ] {
        let run = told(command);
        let error = "error: nothing can be saved in /proc/none/";
        assert!(run.stderr.contains(error), "{command}: {run}");
        assert!(
            run.stderr.contains(" with --data-dir\nerror: "),
            "{command}: {run}"
        );
    }
    let run = told("/memory add the cat is blue\n/memory");
    assert!(
        run.stdout.contains("Not saved: it is lost when you quit"),
        "{run}"
    );
    assert!(run.stdout.contains("messages    2, not saved;"), "{run}");
}

/// The advice was missing, or the error was "entity not found".
#[test]
fn a_place_that_takes_no_files_is_named_with_what_to_do() {
    let home = Home::new();
    let run = |args: &[&str]| {
        let run = home.cogtrix(args).env("COGTRIX_MODEL", "offline/quotes");
        run.run().stderr
    };
    let out = run(&["-p", "hello", "-o", "/proc/x"]);
    let expected =
        "error: cannot write /proc/x: no file can be created there\nhint: choose another file\n";
    assert_eq!(out, expected);
    let workspace = run(&["-p", "I prefer tea", "--workspace", "/proc/none"]);
    assert!(
        workspace.contains("another workspace with --workspace"),
        "{workspace}"
    );
}

/// A memory that lies elsewhere was lost without a word, for the whole session.
#[test]
fn a_memory_that_lies_elsewhere_and_cannot_be_written_is_said_too() {
    let home = Home::new();
    home.write("test.yaml", "memory: {path: /proc/other}\n");
    let run = home.cogtrix(&["-c", "test.yaml", "--data-dir", "/proc/none", "--lines"]);
    let run = run.env("COGTRIX_MODEL", "offline/quotes");
    let run = run.stdin("hello\nI prefer tea over coffee\n").run();
    assert!(run.stderr.contains("long-term memory: "), "{run}");
    assert!(run.stderr.contains("/proc/other"), "{run}");
}

#[test]
fn a_data_folder_that_cannot_be_written_is_said_at_the_start() {
    if rustix::process::geteuid().is_root() {
        return told("is skipped: root may write everywhere; it runs as an ordinary user too");
    }
    let home = Home::new();
    std::fs::create_dir_all(home.data().join("history")).unwrap();
    let with_mode = std::os::unix::fs::PermissionsExt::from_mode;
    std::fs::set_permissions(home.data().join("history"), with_mode(0o500)).unwrap();
    let warning = format!(
        "warning: nothing can be saved in {}: permission denied; make the data folder writable, or choose another with --data-dir\n",
        home.data().display()
    );
    let run = |args: &[&str]| {
        let run = home.cogtrix(args).env("COGTRIX_MODEL", "offline/quotes");
        run.stdin("hello\n").run()
    };
    let lines = run(&["--lines"]);
    assert!(lines.stderr.starts_with(&warning), "{lines}");
    assert_eq!(lines.stderr.lines().count(), 2, "{lines}");
    // A single prompt has no time between its start and its end, which says it.
    let prompt = run(&["-p", "hello"]);
    assert!(
        prompt.stderr.starts_with("error: session not saved in "),
        "{prompt}"
    );
    assert_eq!(prompt.stderr.lines().count(), 2, "{prompt}");
    assert!(
        prompt
            .stderr
            .contains("hint: make the data folder writable"),
        "{prompt}"
    );
    let run = home.cogtrix(&["--private", "-p", "hello"]);
    let run = run.env("COGTRIX_MODEL", "offline/quotes").run();
    assert!(!run.stderr.contains("nothing can be saved"), "{run}");
    std::fs::set_permissions(home.data().join("history"), with_mode(0o700)).unwrap();
}
