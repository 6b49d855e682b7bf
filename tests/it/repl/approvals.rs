//! A tool's question on the screen, and every answer a person can give to it.

use cogtrix::testing::server::{Reply, Server, say};
use serde_json::json;

use super::{Home, config};
use crate::support::is_wholly_confined;
use crate::support::pty::{Exit, Key};

fn write(path: &str, content: &str) -> Reply {
    say("").calling(
        "c1",
        "write_file",
        json!({"path": path, "content": content}),
    )
}

const ALL: [&str; 2] = ["--tools", "all"];

#[test]
fn yes_does_it_no_tells_the_model_and_always_is_remembered_for_the_project() {
    let server = Server::start([
        write("a.txt", "one\n"),
        say("Written."),
        write("a.txt", "two\n"),
        say("Understood."),
        write("a.txt", "three\n"),
        say("Third."),
        write("a.txt", "four\n"),
        say("Fourth."),
    ]);
    let home = Home::with(&server);
    let held = |home: &Home| std::fs::read_to_string(home.path().join("a.txt")).unwrap();
    let mut chat = home.chat(&ALL);
    chat.says("write", "? write_file wants to create a.txt")
        .says("y", "Written.");
    assert_eq!(held(&home), "one\n");
    chat.says("again", "? write_file wants to change a.txt")
        .says("no, spell it out", "Understood.");
    assert_eq!(held(&home), "one\n");
    let told = server.chats()[3].body.to_string();
    assert!(
        told.contains("declined by the person: spell it out"),
        "{told}"
    );
    chat.says("more", "t = always in this project: write_file")
        .says(
            "t",
            "Saved for this project. `/approvals revoke 1` undoes it.\n",
        );
    chat.wait_for("Third.");
    assert_eq!(held(&home), "three\n");
    chat.leave();
    // In another run, nothing is asked any more until that is taken back.
    let mut chat = home.chat(&ALL);
    chat.says("and on", "Fourth.");
    assert_eq!(held(&home), "four\n");
    chat.says("/approvals", "1  always write_file");
    chat.says("/approvals revoke 1", "revoked: always write_file");
    chat.says("/approvals revoke 1", "no rule 1");
    chat.leave();
}

#[test]
fn a_command_can_be_edited_before_it_runs_and_its_beginning_be_allowed() {
    if !is_wholly_confined() {
        return;
    }
    let shell = |command: &str| say("").calling("c1", "shell", json!({"command": command}));
    let server = Server::start([
        shell("echo typo > /dev/null"),
        say("Ran."),
        shell("echo second"),
        say("Second."),
        shell("echo third"),
        say("Third."),
    ]);
    let home = Home::with(&server);
    let mut chat = home.chat(&ALL);
    chat.says("run", "shell wants to run: echo typo > /dev/null");
    chat.enter("e").wait_for("edit> echo typo");
    chat.type_text("\u{15}")
        .enter("echo mended")
        .wait_for("Ran.");
    let sent = server.chats()[1].body.to_string();
    assert!(sent.contains("mended\\n[exit 0"), "{sent}");
    assert!(sent.contains("the person changed the call to"), "{sent}");
    chat.says("run it", "a = always in this project: `echo …`")
        .says("a", "Second.");
    chat.says("once more", "Third.");
    chat.leave();
}

#[test]
fn the_network_is_asked_for_with_the_reason_and_remembered_only_when_the_answer_says_so() {
    if !is_wholly_confined() {
        return;
    }
    let plain = |command: &str| say("").calling("c1", "shell", json!({"command": command}));
    let with_network = |command: &str| {
        let reason = "to look\nup\u{1b}[2J";
        let arguments = json!({"command": command, "network": true, "reason": reason});
        say("").calling("c1", "shell", arguments)
    };
    let server = Server::start([
        plain("echo zero"),
        say("Zero."),
        with_network("echo one"),
        say("One."),
        with_network("echo two"),
        say("Two."),
        with_network("echo two"),
        say("Three."),
        with_network("echo four"),
        say("Four."),
    ]);
    let home = Home::with(&server);
    let mut chat = home.chat(&ALL);
    chat.says("zero", "a = always in this project: `echo …`")
        .says("a", "Zero.");
    // Neither that answer nor a yes for once speaks of the network.
    chat.says("one", "with network: to look up").wait_until(
        "an answer for the project",
        |screen| {
            let words: Vec<&str> = screen.split_whitespace().collect();
            let words = words.join(" ");
            words.contains("p = always in this project: `echo one` with network")
        },
    );
    let printed = chat.printed();
    assert!(!printed.contains("up\u{1b}[2J"), "{printed:?}");
    chat.says("a", "Not available for this call")
        .says("y", "One.");
    chat.says("two", "with network: to look up")
        .says(
            "p",
            "Saved for this project. `/approvals revoke 2` undoes it.\n",
        )
        .wait_for("Two.");
    chat.says("three", "Three.");
    // Nor does it speak of other operands.
    chat.says("four", "shell wants to run: echo four")
        .says("n", "Four.");
    chat.says("/approvals", "always shell: `echo two` with network");
    chat.leave();
    let folder = home.path().join("state/cogtrix/approvals");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    let rules = std::fs::read_to_string(file.path()).unwrap();
    assert!(
        rules.ends_with("- allow: shell\n  command: echo two\n  network: true\n"),
        "{rules}"
    );
}

/// A command that gets through to a server of this test only with the network of this machine.
fn reaching(port: u16) -> String {
    format!(
        "bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' 2>/dev/null && echo reached || \
         {{ echo 'curl: (6) Could not resolve host: example.com'; exit 6; }}"
    )
}

#[test]
fn a_command_that_fails_for_want_of_the_network_is_offered_with_it_once() {
    if !is_wholly_confined() {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let command = reaching(listener.local_addr().unwrap().port());
    let call = || say("").calling("c1", "shell", json!({"command": command}));
    let server = Server::start([call(), say("Refused."), call(), say("Reached.")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&ALL);
    chat.says("fetch", "shell wants to run")
        .says("y", "with network: it failed without: curl: (6) Could not")
        .says("no, work offline", "Refused.");
    let sent = server.chats()[1].body.to_string();
    assert!(
        sent.contains("[not retried: declined by the person: work offline]"),
        "{sent}"
    );
    assert!(!sent.contains("reached\\n[exit 0"), "{sent}");
    chat.says("again", "shell wants to run")
        .says("y", "with network: it failed without")
        .says("y", "Reached.");
    let sent = server.chats()[3].body.to_string();
    assert!(sent.contains("reached\\n[exit 0"), "{sent}");
    // The model gets to know that this was with the network, and that nobody changed the call.
    let told = "ran again with network, which the person allowed]";
    assert!(sent.contains(told), "{sent}");
    assert!(!sent.contains("the person changed"), "{sent}");
    chat.leave();
}

#[test]
fn a_change_of_a_file_that_runs_later_is_put_back_unless_the_person_keeps_it() {
    let shell = |command: &str| say("").calling("c1", "shell", json!({"command": command}));
    let server = Server::start([
        shell("mkdir -p .git/hooks && echo 'echo hooked' > .git/hooks/pre-commit"),
        say("First."),
        shell("echo '[core]' > .git/config.worktree"),
        say("Second."),
    ]);
    let home = Home::with(&server);
    // Beside a data folder in the project no command makes another folder.
    home.write(".git/HEAD", "ref: refs/heads/main\n");
    let hook = home.path().join(".git/hooks/pre-commit");
    let mut chat = home.chat(&ALL);
    chat.says("hook", "shell wants to run")
        .says("y", "which runs later. Keep it? [y/N]")
        .wait_for("+echo hooked");
    chat.says("n", "First.");
    assert!(!hook.exists());
    let sent = server.chats()[1].body.to_string();
    assert!(sent.contains("which was undone]"), "{sent}");
    chat.says("configure", "shell wants to run")
        .says("y", "which runs later. Keep it? [y/N]")
        .says("y", "Second.");
    let config = home.path().join(".git/config.worktree");
    assert_eq!(std::fs::read_to_string(config).unwrap(), "[core]\n");
    let sent = server.chats()[3].body.to_string();
    assert!(sent.contains("the user kept the change to"), "{sent}");
    chat.leave();
}

#[test]
fn approve_is_refused_until_rules_that_cannot_be_read_are_mended() {
    let server = Server::start([
        write("a.txt", "one\n"),
        say("Told."),
        write("a.txt", "two\n"),
        say("Two."),
        write("a.txt", "three\n"),
        say("Three."),
    ]);
    let home = Home::with(&server);
    let mut chat = home.chat(&ALL);
    chat.says("write", "t = always in this project: write_file")
        .says("t", "Told.");
    // By hand, while it runs.
    let folder = home.path().join("state/cogtrix/approvals");
    let mut files = std::fs::read_dir(folder).unwrap();
    let file = files.next().unwrap().unwrap().path();
    let file = file.strip_prefix(home.path()).unwrap().to_str().unwrap();
    home.write(file, "rules: [");
    chat.says("/approve on", "valid approvals file");
    chat.says("again", "until it is fixed");
    chat.says("y", "Two.");
    home.write(file, "rules: []\n");
    // Whether or not commands still are asked, for want of a part of the sandbox.
    chat.says("/approve on", "/approve off");
    chat.says("once more", "Three.");
    chat.leave();
}

#[test]
fn ctrl_c_at_a_question_ends_the_turn_and_the_session_goes_on() {
    let server = Server::start([write("a.txt", "one\n"), say("Still here.")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&ALL);
    chat.says("write", "+one").key(Key::CtrlC);
    chat.wait_for("Interrupted;").wait_for_prompt();
    // It was not run, so nothing failed.
    assert!(!chat.screen().contains("failed"), "{}", chat.screen());
    assert!(!home.path().join("a.txt").exists());
    chat.says("hello?", "Still here.");
    let sent = server.chats()[1].body.to_string();
    assert!(sent.contains("not run: interrupted"), "{sent}");
    chat.says("/history", "[write_file not run]").leave();
}

#[test]
fn quit_at_a_question_declines_it_and_leaves() {
    let server = Server::start([write("quit.txt", "never")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&ALL);
    chat.says("write", "n, Enter = no").enter("/quit");
    assert_eq!(chat.wait_exit(), Exit::code(0));
    assert!(!home.path().join("quit.txt").exists());
}

#[test]
fn one_ctrl_c_ends_a_question_and_a_reply_in_a_chat_that_began_with_the_list_of_sessions() {
    let server = Server::start([
        say("Hello."),
        say("Hello."),
        write("a.txt", "one\n"),
        say("half of it").stall_after(2),
        say("Still here."),
    ]);
    let home = Home::with(&server);
    for session in ["first", "second"] {
        let mut chat = home.chat(&["-s", session]);
        chat.says("hi", "Hello.").leave();
    }
    let mut chat = home.start(&["-r", "--tools", "all"], &[]);
    chat.wait_for("2 of 2").key(Key::Enter).wait_for_prompt();
    chat.says("write", "+one").key(Key::CtrlC);
    chat.wait_for("Interrupted;").wait_for_prompt();
    chat.enter("go on").wait_for("half of").key(Key::CtrlC);
    chat.wait_for_prompt().says("hello?", "Still here.");
    chat.leave();
}

#[test]
fn sequences_in_a_result_do_not_reach_the_terminal() {
    let server = Server::start([
        say("").calling("c1", "read_file", json!({"path": "evil.txt"})),
        say("Read."),
    ]);
    let home = Home::with(&server);
    home.write(
        "evil.txt",
        "words\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}2J\u{202e}more",
    );
    let mut chat = home.chat(&ALL);
    chat.says("read it", "Read.");
    // What came back is shown, and yet nothing of it is an order to the terminal.
    chat.says("/details", "words").wait_for("more");
    let printed = chat.printed();
    for sequence in [
        "\u{1b}]0;owned",
        "\u{7}",
        "\u{1b}[2J",
        "\u{9b}2J",
        "\u{202e}",
    ] {
        assert!(!printed.contains(sequence), "{sequence:?} in {printed:?}");
    }
    chat.leave();
}

#[test]
fn sequences_in_a_command_do_not_reach_the_terminal() {
    let command = "echo \u{1b}[2J\u{1b}]0;owned\u{7} \u{202e}safe";
    let server = Server::start([
        say("").calling("c1", "shell", json!({"command": command})),
        say("Done."),
    ]);
    let mut chat = Home::with(&server).chat(&ALL);
    chat.says("run", "wants to run");
    let printed = chat.printed();
    for sequence in ["\u{1b}]0;owned", "\u{202e}", "\u{1b}[2J"] {
        assert!(!printed.contains(sequence), "{sequence:?} in {printed:?}");
    }
    chat.says("n", "Done.");
    chat.leave();
}

#[test]
fn commands_that_only_show_something_work_while_a_question_waits() {
    let server = Server::start([write("a.txt", "one\n"), say("Written.")]);
    let home = Home::with(&server);
    let tracker = "mcp_servers: {tracker: {command: tracker, enabled: false}}\n";
    home.write("home/.cogtrix.yaml", &(config(&server) + tracker));
    let mut chat = home.chat(&ALL);
    chat.says("please write", "+one");
    let question = "write_file wants to create";
    for (line, shown) in [
        ("/help diff", "Show which file changes tools made"),
        ("/context", "tokens"),
        ("/context proof", "all within reach"),
        ("/memory", "next request:"),
        ("/history", "please write"),
        ("/diff", "No files changed by tools."),
        ("/details", "write_file"),
        ("/tools", "read_file"),
        ("/mode code", "/mode has to wait until you answer"),
        ("/model", "* desk/scripted\n  main: desk/scripted"),
        ("/model other", "/model has to wait"),
        ("/mdoe", "did you mean /mode?\n"),
        ("/sessions", "* "),
        ("/search written", "No matches in"),
        ("/status", "sandbox"),
        ("/memory list", "othing"),
        ("/memory forget 1", "/memory has to wait"),
        ("/mcp", "tracker  stdio  off"),
        ("/mcp log tracker", "tracker has no log output"),
        ("/mcp restart tracker", "/mcp restart has to wait"),
        ("/nonsense", "unknown command /nonsense"),
        ("!touch b.txt", "!COMMAND has to wait until you answer:"),
    ] {
        chat.clear_screen().says(line, shown);
        let again = usize::from(line.starts_with('/'));
        assert_eq!(chat.count(question), again, "{}", chat.screen());
    }
    chat.says("y", "Written.");
    assert_eq!(
        std::fs::read_to_string(home.path().join("a.txt")).unwrap(),
        "one\n"
    );
    assert!(!home.path().join("b.txt").exists());
    chat.says("/mode", "* conversation");
}

/// The keys pushed the question off a small screen, and were gone after `d`.
#[test]
fn the_question_and_its_answers_stand_above_the_prompt_on_a_small_screen_too() {
    let tall = "a line\n".repeat(60);
    let server = Server::start([
        write("a.txt", "one\ntwo\nthree\n"),
        write("a.txt", &tall),
        say("Understood."),
    ]);
    let mut chat = Home::with(&server).sized(40, 12).chat(&ALL);
    let question = "\n? write_file wants to create a.txt\n";
    let answers = "y = yes\nn, Enter = no, or say what to do instead\nt = always in this project: write_file\ne = edit\n";
    chat.enter("write")
        .wait_for(&format!("+three{question}{answers}answer>"));
    chat.enter("n")
        .wait_for(&format!("{question}{answers}d = show all\nanswer>"));
    chat.enter("d")
        .wait_for(&format!("+a line{question}{answers}answer>"));
    chat.says("n", "Understood.");
}

#[test]
fn ctrl_c_ends_the_turn_after_something_was_looked_at_and_the_next_one_is_asked_again() {
    let server = Server::start([
        write("a.txt", "one\n"),
        write("a.txt", "two\n"),
        say("Written."),
    ]);
    let home = Home::with(&server);
    let mut chat = home.chat(&ALL);
    chat.says("write", "+one").says("/context", "tokens");
    chat.key(Key::CtrlC).wait_for("interrupted");
    chat.wait_for_prompt();
    chat.says("again", "+two").says("/memory", "next request:");
    chat.says("y", "Written.");
}

#[test]
fn details_are_of_one_turn_and_tell_a_declined_call() {
    let server = Server::start([
        write("a.txt", "one\n"),
        say("As you like."),
        say("Four.").thinking("two\nand\ntwo"),
        say("Six."),
    ]);
    let home = Home::with(&server);
    let mut chat = home.chat(&ALL);
    chat.says("please write", "+one")
        .says("n", "As you like.")
        .says("/details", "1. write_file a.txt (declined)")
        .says("2 + 2?", "Four.");
    let calls = chat.count("(declined)");
    chat.says("/details", "Thinking\ntwo\nand\ntwo");
    assert_eq!(chat.count("(declined)"), calls);
    chat.says("and 3 + 3?", "Six.");
    chat.says(
        "/details",
        "None in the last turn; these are of \"please write\":",
    );
    chat.leave();
}
