//! What the tests stand on.
//!
//! ```text
//! home     folders and an empty environment for the real program     run      the program under way
//! normal   output without what differs from run to run               pty      the program on a terminal
//! ```

pub(crate) mod chance;
pub(crate) mod home;
pub(crate) mod normal;
pub(crate) mod pty;
pub(crate) mod run;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cogtrix::testing::server::{Request, Server};
use cogtrix::tools::shell::{available, support};
use landlock::{ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};

/// Names another program to test: an older one, on which every test of an attack has to fail, or a copy elsewhere.
pub(crate) const PROGRAM: &str = "COGTRIX_TEST_PROGRAM";

/// The program under test.
pub(crate) fn program() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests decides")]
    let other = std::env::var_os(PROGRAM);
    other
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_cogtrix").into())
        .into()
}

/// Tells what a test leaves out, so that no test runner swallows it.
pub(crate) fn told(text: &str) {
    let thread = std::thread::current();
    let line = format!("{} {text}\n", thread.name().unwrap_or_default());
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Returns whether commands can be confined at all; where not even the kernel could, a test that needs it is left out.
pub(crate) fn can_confine() -> bool {
    let Err(error) = available() else { return true };
    assert!(!has_landlock(), "the kernel can confine: {error}");
    told(&format!("is skipped: {error}"));
    false
}

/// Whether the sandbox is whole, without which each command is asked, whatever was said before. Where it is not, as in
/// a command of cogtrix itself, a test that needs it is left out.
pub(crate) fn is_wholly_confined() -> bool {
    if !can_confine() {
        return false;
    }
    let running = tempfile::TempDir::new().unwrap();
    let missing = match support(&program(), Some(running.path())) {
        Ok(support) if !support.is_whole() => support.missing.join(", "),
        // Another program under test may not know how to tell; it is to fail.
        _ => return true,
    };
    let is_possible = has_namespaces() && rustix::thread::secure_computing_mode().is_ok();
    assert!(!is_possible, "the kernel can hold it: {missing}");
    told(&format!("is skipped: without {missing}"));
    false
}

/// Returns whether the kernel has what commands are confined by, asked by system calls and not by way of the program.
fn has_landlock() -> bool {
    let writing = AccessFs::from_write(ABI::V3);
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let ruleset = ruleset.handle_access(writing);
    ruleset.and_then(Ruleset::create).is_ok()
}

/// Returns whether somebody else than the program can make namespaces here, with privileges, without or through
/// bubblewrap.
fn has_namespaces() -> bool {
    let tries = [
        ("unshare", &["-nmi"][..]),
        ("unshare", &["-rnmi"]),
        (
            "bwrap",
            &["--dev-bind", "/", "/", "--unshare-net", "--unshare-ipc"],
        ),
    ];
    tries.iter().any(|(program, arguments)| {
        let mut command = Command::new(program);
        command.args(*arguments).arg("true").stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

/// All of these stand in a text, in this order.
pub(crate) fn in_order(text: &str, parts: &[&str]) {
    let places: Vec<usize> = parts
        .iter()
        .map(|part| {
            text.find(part)
                .unwrap_or_else(|| panic!("no {part:?} in:\n{text}"))
        })
        .collect();
    assert!(places.is_sorted(), "{parts:?} at {places:?} in:\n{text}");
}

/// What asks for a text that takes the place of messages, whatever its kind.
pub(crate) fn is_summary(request: &Request) -> bool {
    let asked = request.message(-1);
    [
        "Write a summary of the conversation",
        "Write a short summary",
        "Below are summaries",
        "running summary",
    ]
    .iter()
    .any(|begin| asked.contains(begin))
}

/// Before which requests of the talk (counted from 1) one of another kind was sent: one for a summary.
pub(crate) fn asked_before(server: &Server, is_other: impl Fn(&Request) -> bool) -> Vec<usize> {
    let mut next = 1;
    let mut asked = Vec::new();
    for chat in server.chats() {
        if is_other(&chat) {
            asked.push(next);
        } else {
            next += 1;
        }
    }
    asked
}
