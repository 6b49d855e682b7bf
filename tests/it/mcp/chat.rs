//! Servers in the real binary: their tools in a chat, what they cannot hold up, what starts them, and that they end
//! with it.

use std::io::Read;

use cogtrix::testing::server::{Server, say};
use rustix::process::Signal;
use serde_json::json;

use super::support::SCRIPT;
use crate::support::home::Home;
use crate::support::run::{Run, Running};

/// An entry of the config for a program by rote.
fn rote(name: &str, kind: &str, more: &str) -> String {
    format!("{name}: {{command: sh, args: ['{SCRIPT}', {kind}]{more}}}")
}

fn home_with(server: &Server, servers: &[String]) -> Home {
    let home = Home::new();
    let servers = servers.join(", ");
    home.config(server, &format!("mcp_servers: {{{servers}}}"));
    home
}

/// A model that loads a tool, calls it, and says that it is done.
fn calling(tool: &str) -> Server {
    Server::start([
        say("").calling("c1", "request_tools", json!({"add": [tool]})),
        say("").calling("c2", tool, json!({})),
        say("Done."),
    ])
}

fn ask(home: &Home, more: &[&str]) -> Run {
    let args = [&["-c", "test.yaml", "-s", "s", "-p", "Go"], more].concat();
    home.cogtrix(&args).run()
}

/// A chat whose lines come one by one.
fn chat(home: &Home, more: &[&str]) -> Running {
    let args = [&["-c", "test.yaml", "-s", "s", "--lines"], more].concat();
    home.cogtrix(&args).open_stdin().start()
}

/// Asks for the list until it says this; each answer is waited for, so nothing is guessed about time.
fn list_until(chat: &mut Running, text: &str) {
    const OFTEN: usize = 100_000;
    for n in 1..OFTEN {
        chat.say("/mcp");
        chat.wait_for_times("SERVER", n);
        if chat.stdout().contains(text) {
            return;
        }
    }
    panic!("{text:?} did not come: {}", chat.stdout());
}

#[test]
fn a_model_loads_a_tool_of_a_server_and_calls_it() {
    let server = calling("notes__echo");
    let home = home_with(&server, &[rote("notes", "plain", "")]);
    let run = ask(&home, &["-y", "-v"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), "Done.\n"),
        "{run}"
    );
    assert!(
        run.stderr.contains("MCP server notes is up: 10 tools"),
        "{run}"
    );
    let chats = server.chats();
    assert!(
        chats[0].system().contains("notes__echo"),
        "{:?}",
        chats[0].body
    );
    assert!(chats[1].body["tools"].to_string().contains("Does echo."));
    assert!(
        chats[2].message(-1).contains("plain heard it"),
        "{:?}",
        chats[2].body
    );
}

#[test]
fn a_call_that_nobody_can_approve_is_refused_and_the_flag_is_named() {
    let server = calling("notes__echo");
    let home = home_with(&server, &[rote("notes", "plain", "")]);
    let run = ask(&home, &[]);
    assert_eq!(run.code, Some(0), "{run}");
    let last = server.chats()[2].message(-1);
    assert!(
        last.contains("nobody can approve notes__echo") && last.contains("-y (--no-confirm)"),
        "{last}"
    );
    assert!(
        !run.stderr.contains("is up"),
        "what went as expected is a detail: {run}"
    );
}

#[test]
fn a_server_that_never_answers_does_not_delay_a_chat() {
    let server = Server::start([
        say("").calling("c1", "current_time", json!({})),
        say("First."),
    ]);
    let home = home_with(&server, &[rote("mute", "silent", ", timeout: 24h")]);
    let mut chat = chat(&home, &[]);
    chat.say("Hi");
    chat.wait_for("First.");
    chat.say("/mcp");
    chat.wait_for("starting");
    let run = chat.wait();
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn a_server_that_fails_costs_one_line_and_its_own_tools() {
    let server = Server::start([say("Here.")]);
    let home = home_with(
        &server,
        &[rote("bad", "dies", ""), rote("good", "plain", "")],
    );
    let run = ask(&home, &[]);
    insta::assert_snapshot!(home.shown(&run), @r"
    Here.
    --- stderr
    warning: MCP server bad: it ended with exit status 3: no licence found; see `cogtrix doctor`
    --- exit 0
    ");
    assert!(server.chats()[0].system().contains("good__echo"));
}

#[test]
fn a_server_that_cannot_be_started_costs_a_short_line_where_its_tools_would_be_offered() {
    let server = Server::start([say("Here."), say("And here.")]);
    let home = home_with(&server, &["gone: {command: no-such-program}".to_owned()]);
    let run = ask(&home, &[]);
    insta::assert_snapshot!(home.shown(&run), @r"
    Here.
    --- stderr
    warning: MCP server gone: cannot start no-such-program: not found; see `cogtrix doctor`
    --- exit 0
    ");
    for without in [["--tools", "read_file"], ["-m", "offline"]] {
        let run = ask(&home, &without);
        assert_eq!((run.stderr.as_str(), run.code), ("", Some(0)), "{run}");
    }
}

#[test]
fn the_list_of_tools_cuts_no_name() {
    let server = Server::start([]);
    let department = "notes_of_the_whole_department";
    let home = home_with(&server, &[rote(department, "plain", "")]);
    let mut chat = chat(&home, &[]);
    list_until(&mut chat, "ready");
    chat.say("/tools");
    let run = chat.wait();
    assert!(!run.stdout.contains("notes_of_the_whole_depart…"), "{run}");
    // As long as a name of a tool may be.
    for tool in ["echo  ", "fail  "] {
        let name = format!("\nnotes_of_the_whole_depar__{tool}  on demand  Does");
        assert!(run.stdout.contains(&name), "{run}");
    }
}

#[test]
fn servers_are_listed_started_again_and_their_last_lines_shown() {
    let server = Server::start([]);
    let home = home_with(
        &server,
        &[
            rote("bad", "dies", ""),
            rote("good", "plain", ""),
            rote("off", "plain", ", enabled: false"),
        ],
    );
    let mut chat = chat(&home, &[]);
    list_until(&mut chat, "failed");
    list_until(&mut chat, "ready");
    chat.say("/mcp log bad");
    chat.wait_for("no licence found");
    chat.say("/mcp log good");
    chat.wait_for("good has no log output");
    chat.say("/mcp restart bad");
    chat.wait_for("Restarting bad; `/mcp` shows when it is ready");
    for line in ["/mcp restart", "/mcp stop bad", "/mcp log nobody"] {
        chat.say(line);
    }
    let run = chat.wait();
    let table = run.stdout.rsplit("SERVER").next().unwrap_or_default();
    assert!(
        table.contains("good    stdio  ready      10  just now  by rote 1"),
        "{table}"
    );
    assert!(
        table.contains("off     stdio  off                      sh "),
        "{table}"
    );
    for said in [
        "warning: MCP server bad: it ended with exit status 3: no licence found; see `/mcp log bad`",
        "error: /mcp restart needs a server name",
        "error: /mcp has no option \"stop bad\"",
        "error: unknown MCP server \"nobody\"\nhint: available: bad, good, off",
    ] {
        assert!(run.stderr.contains(said), "{said}: {run}");
    }
}

#[test]
fn a_chat_without_servers_says_how_to_get_them() {
    let server = Server::start([]);
    let home = Home::new();
    home.config(&server, "");
    let run = home.lines("s", &["/mcp", "/mcp restart x"]);
    assert!(
        run.stdout
            .contains("add them under `mcp_servers` in the config file"),
        "{run}"
    );
    assert!(run.stderr.contains("unknown MCP server \"x\""), "{run}");
}

/// What a server that leaves a trace of its start leaves.
const TRACE: &str = "mcp_servers: {s: {command: sh, args: [-c, 'touch started']}}";

#[test]
fn a_server_of_the_folder_is_not_started_without_trust() {
    let server = Server::start([say("Here.")]);
    let home = Home::new();
    let config = home.config(&server, "");
    home.write("cogtrix.yaml", TRACE);
    let model = format!("{}\n{TRACE}\n", std::fs::read_to_string(&config).unwrap());
    let started = home.work().join("started");
    for args in [["-p", "Hi"], ["--lines", "-q"]] {
        let run = home.cogtrix(&args).stdin("Hi\n").run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(
            run.stderr
                .contains("mcp_servers.s.args, mcp_servers.s.command"),
            "{run}"
        );
        assert!(run.stderr.contains("--trust-folder"), "{run}");
        assert!(!started.exists(), "{run}");
    }
    home.write("cogtrix.yaml", model);
    let run = home.cogtrix(&["--trust-folder", "-p", "Hi"]).run();
    assert_eq!(run.stdout, "Here.\n", "{run}");
    assert!(started.exists(), "{run}");
}

#[test]
fn without_tools_no_server_is_started() {
    let server = Server::start([say("Here.")]);
    let home = Home::new();
    home.config(&server, TRACE);
    let run = ask(&home, &["--tools", "none"]);
    assert_eq!(run.to_string(), "Here.\n--- stderr\n--- exit 0");
    assert!(!home.work().join("started").exists());
}

#[test]
fn tools_of_servers_may_be_named_before_they_are_known() {
    let server = Server::start([
        say("").calling("c1", "notes__echo", json!({})),
        say("Done."),
    ]);
    let home = home_with(&server, &[rote("notes", "plain", "")]);
    let run = ask(&home, &["-y", "--tools", "notes__echo"]);
    assert_eq!(run.stdout, "Done.\n", "{run}");
    let offered = server.chats()[0].body["tools"].as_array().unwrap().len();
    assert_eq!(offered, 1);
    let run = ask(&home, &["--tools", "others__echo"]);
    assert!(run.stderr.contains("unknown tool others__echo"), "{run}");
}

#[test]
fn a_server_sees_what_it_is_given_of_the_environment_and_nothing_else() {
    let server = calling("s__env");
    let more = ", pass_env: [TOKEN], env: {MODE: strict}";
    let home = home_with(&server, &[rote("s", "plain", more)]);
    let args = ["-c", "test.yaml", "-y", "-p", "Go"];
    let run = home
        .cogtrix(&args)
        .env("TOKEN", "of-the-person")
        .env("OPENAI_API_KEY", "sk-secret")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let sent = server.chats()[2].message(-1);
    let seen = sent.lines().find(|line| line.contains("token="));
    let seen = seen.unwrap_or_else(|| panic!("{sent}"));
    // What a shell adds by itself is not of our doing.
    let names: Vec<&str> = seen
        .split_whitespace()
        .take_while(|word| !word.starts_with("token="))
        .filter(|word| !["PWD", "OLDPWD", "SHLVL", "_"].contains(word))
        .collect();
    assert_eq!(names, ["HOME", "MODE", "PATH", "TOKEN"], "{seen}");
    let folder = home.work().canonicalize().unwrap();
    assert!(
        seen.contains(&format!("token=of-the-person in {}", folder.display())),
        "{seen}"
    );
}

#[test]
fn servers_and_what_they_started_end_with_the_chat() {
    let server = calling("s__hold");
    let home = home_with(&server, &[rote("s", "stubborn", "")]);
    let mut chat = chat(&home, &["-y"]);
    list_until(&mut chat, "ready");
    chat.say("Go");
    chat.wait_for("Done.");
    // Opens when the server opens it too, and ends when the last process does that has it.
    let mut alive = std::fs::File::open(home.work().join("alive")).unwrap();
    chat.signal(Signal::TERM);
    let run = chat.wait();
    assert_eq!(run.code, Some(0), "{run}");
    let mut rest = Vec::new();
    alive.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
}

#[test]
fn an_interrupt_ends_the_wait_for_servers_and_nothing_is_asked() {
    let server = Server::start([say("never asked")]);
    let home = Home::new();
    // It tells that it runs by writing to the pipe, and never answers.
    let up = home.work().join("up");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &up,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
    )
    .unwrap();
    home.config(
        &server,
        "mcp_servers: {s: {command: sh, args: [-c, 'echo up > up; while read -r line; do :; done'], timeout: 24h}}",
    );
    let running = home.cogtrix(&["-c", "test.yaml", "-p", "Hi"]).start();
    assert_eq!(std::fs::read_to_string(&up).unwrap(), "up\n");
    running.signal(Signal::INT);
    let run = running.wait();
    assert_eq!(run.code, Some(130), "{run}");
    assert!(run.stderr.contains("nothing was sent"), "{run}");
    assert_eq!(server.chats().len(), 0);
}
