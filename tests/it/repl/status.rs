//! What a person sees of the state of things: the prompt, what is waited for, the line after a turn.

use cogtrix::testing::server::{Script, Server, say};
use rustix::fs::{CWD, FileType, mknodat};
use serde_json::json;

use super::Home;
use crate::support::is_wholly_confined;

/// A home whose only model has a window and maybe a price, with the line after turns.
fn home(server: &Server, model: &str) -> Home {
    let home = Home {
        model: "main",
        ..Home::offline()
    };
    let config = format!(
        "providers: {{desk: {{type: openai, base_url: \"{}\"}}}}\n\
         models: {{main: {{provider: desk, model: scripted, {model}}}}}\n\
         network: {{tries: 1}}\n",
        server.openai_url()
    );
    home.write("home/.cogtrix.yaml", &config);
    home
}

#[test]
fn the_prompt_says_how_full_the_context_is_once_that_matters() {
    let server = Server::start([
        say("Small.").usage(2_399, 5),
        say("Larger.").usage(2_520, 5),
        say("Small again.").usage(900, 5),
    ]);
    let mut chat = home(&server, "context_window: 4000").chat(&[]);
    chat.enter("one").wait_for("Small.");
    chat.wait_until("a plain prompt", |screen| {
        screen.ends_with("\nconversation>")
    });
    chat.enter("two").wait_for("\nconversation 63%>");
    chat.enter("three").wait_for("Small again.");
    chat.wait_until("a plain prompt", |screen| {
        screen.ends_with("\nconversation>")
    });
    chat.leave();
}

#[test]
fn waiting_says_for_what_how_long_and_what_ctrl_c_does() {
    let (reply, rest) = say("at last").hold_after(0);
    let server = Server::start([reply]);
    let mut chat = Home::with(&server).sized(40, 12).chat(&["--no-banner"]);
    chat.enter("hello")
        .wait_for("waiting for desk/sc… 1 s · Ctrl-C stops")
        .wait_for(" 2 s · Ctrl-C stops");
    rest.go_on();
    chat.wait_for("hello\nat last\n").wait_for_prompt();
    assert_eq!(chat.count("Ctrl-C"), 0);
    chat.leave();
}

#[test]
fn a_running_tool_is_named_and_then_the_model_is_waited_for_again() {
    if !is_wholly_confined() {
        return;
    }
    let (reply, rest) = say("Opened.").hold_after(0);
    let call = say("").calling("c1", "shell", json!({"command": "echo 6; cat gate"}));
    let server = Server::start([call, reply]);
    let home = Home::with(&server);
    let gate = home.path().join("gate");
    mknodat(CWD, &gate, FileType::Fifo, 0o600.into(), 0).unwrap();
    let mut chat = home.chat(&["--tools", "all", "-y"]);
    chat.enter("open it")
        .wait_for("shell echo 6; cat gate · 6 · 1 s · Ctrl-C stops");
    #[expect(clippy::disallowed_methods, reason = "opens the gate")]
    std::fs::write(&gate, "open\n").unwrap();
    chat.wait_for("waiting for desk/scripted … ");
    rest.go_on();
    chat.wait_for("Opened.").wait_for_prompt();
    assert_eq!(chat.count("Ctrl-C stops"), 0);
    chat.leave();
}

#[test]
fn one_line_after_a_turn_says_what_memory_did_and_what_it_cost() {
    let server = Server::start([
        say("Tabs it is.").usage(4_100, 180),
        say("At nine.").usage(2_000, 10),
    ]);
    let price = "context_window: 16384, price: {input: 0.4, output: 2}";
    let mut chat = home(&server, price).sized(120, 60).chat(&["--no-banner"]);
    chat.says(
        "I prefer tabs over spaces",
        "Tabs it is.\nnoted 1 preference (undo: /forget) · 4.1k of 16k tokens · $0.002\n",
    );
    assert_eq!(chat.count("Noted ("), 0, "one line, not two");
    let printed = chat.printed();
    assert!(printed.contains("\x1b[2mnoted 1 preference"), "{printed:?}");
    chat.says("/forget", "Forgotten: I prefer tabs");
    chat.says("/memory add the harbour opens at nine", "Kept");
    chat.says(
        "when does the harbour open?",
        "At nine.\nrecalled 1 from today · 2.0k of 16k tokens · $0.00082",
    );
    chat.leave();
}

#[test]
fn the_line_after_a_turn_is_there_at_a_terminal_only_and_can_be_turned_off() {
    let server = Script::answering(|_| say("Good.").usage(4_100, 180)).serve();
    let mut chat = Home::with(&server).chat(&["--no-banner"]);
    chat.says("I prefer tabs over spaces", "Noted (preference)");
    assert_eq!(chat.count("tokens"), 0, "{}", chat.screen());
    chat.leave();

    let home = crate::support::home::Home::new();
    home.config(&server, "");
    let run = home.lines("piped", &["I prefer tabs over spaces"]);
    assert!(!run.stderr.contains("tokens"), "{run}");
    assert!(run.stderr.contains("Noted (preference)"), "{run}");
}

#[test]
fn cost_tells_tokens_by_model_for_the_session_and_for_this_run() {
    let server = Server::start([say("One.").usage(2_100, 100), say("Two.").usage(2_200, 100)]);
    let home = home(
        &server,
        "context_window: 16384, price: {input: 1, output: 2}",
    );
    let mut chat = home.chat(&["-s", "paid"]);
    chat.says("/cost", "No server has reported any tokens yet.");
    chat.says("one", "One.").leave();
    let mut chat = home.chat(&["-s", "paid"]);
    chat.says("two", "Two.");
    chat.says(
        "/cost",
        "This session: $0.0047\n  desk/scripted: 2 requests, 4.3k tokens sent, 200 received, $0.0047\n\
         This run: $0.0024\n  desk/scripted: 1 request, 2.2k tokens sent, 100 received, $0.0024\n",
    );
    chat.enter("/clear").wait_for("[y/N]");
    chat.enter("y").wait_for("Cleared.").wait_for_prompt();
    chat.says("/cost", "This run: $0.0024");
    assert_eq!(
        chat.count("This session"),
        1,
        "a cleared session has cost nothing"
    );
    chat.leave();
}

#[test]
fn without_a_price_tokens_alone_are_told() {
    let server = Server::start([say("One.").usage(2_100, 100)]);
    let mut chat = Home::with(&server).chat(&[]);
    chat.says("one", "One.");
    chat.says(
        "/cost",
        "1 request, 2.1k tokens sent, 100 received\nNo price is known for",
    );
    assert_eq!(chat.count("$"), 0);
    chat.leave();
}

#[test]
fn status_is_one_screen_with_all_that_counts() {
    let server = Server::start([say("Two.").usage(8_192, 100), say("One.").usage(8_192, 100)]);
    let home = home(&server, "context_window: 16384").sized(80, 40);
    let mut chat = home.chat(&["-s", "here", "--no-banner"]);
    chat.says("My password is bluewhale99.", "Two.")
        .says("/undo", "Undone: ");
    chat.says("one", "One.").says("/pin mind the gap", "Pinned");
    chat.says("/status", "session   here, started 20");
    let screen = chat.screen();
    for row in [
        "messages  2 in 1 turn",
        "model     desk/scripted",
        "window    8.2k of 16k tokens used, 50 % (from config)",
        "memory    0 entries, 0 noted, 1 pinned",
        "config    ~/.cogtrix.yaml",
        "tools     ask before changes; sandbox ",
        "folder    ",
        "version   0.",
    ] {
        assert!(screen.contains(row), "{row:?} in\n{screen}");
    }
    chat.says("/info", "version   0.").leave();
}

#[test]
fn copy_sends_a_reply_or_its_code_to_the_terminal() {
    let server = Server::start([say("First."), say("Try\n\n```sh\nls -l\n```\n\nor not.")]);
    let mut chat = Home::with(&server).chat(&[]);
    chat.says("/copy", "no replies yet");
    chat.says("one", "First.").says("two", "or not.");
    chat.says(
        "/copy code",
        "Sent the last code block (6 characters) to the terminal",
    );
    chat.wait_printed("\x1b]52;c;bHMgLWwK\x07", 1);
    chat.says(
        "/copy 2",
        "Sent reply 2 from the end (6 characters) to the terminal",
    );
    chat.wait_printed("\x1b]52;c;Rmlyc3Qu\x07", 1);
    chat.says("/copy", "Sent the last reply");
    chat.says("/copy 3", "no such reply");
    chat.says("/copy it", "/copy does not know \"it\"");
    chat.leave();
}

#[test]
fn copy_and_save_say_what_they_cannot_do() {
    let long = "word ".repeat(20_000);
    let server = Script::answering(move |_| say(long.clone())).serve();
    let mut chat = Home::with(&server).chat(&["--plain"]);
    chat.enter("talk");
    chat.wait_until("the reply and a prompt", |screen| {
        screen.contains("word word") && screen.ends_with("\nconversation>")
    });
    chat.says("/copy", "it has 100,000 bytes");
    chat.leave();

    let home = crate::support::home::Home::new();
    home.config(&server, "");
    let saved = home.write("there.md", "mine\n");
    let run = home.lines(
        "piped",
        &["talk", "/copy", "/save there.md", "/save new.md"],
    );
    assert!(
        run.stderr.contains("stdout is not a terminal"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("cannot write there.md"),
        "{}",
        run.stderr
    );
    assert_eq!(std::fs::read_to_string(&saved).unwrap(), "mine\n");
    let new = std::fs::read_to_string(home.work().join("new.md")).unwrap();
    assert!(new.starts_with("word word") && new.ends_with('\n'));
}

#[test]
fn save_asks_before_it_overwrites() {
    let server = Server::start([say("The **reply**.")]);
    let home = Home::with(&server);
    home.write("notes.md", "mine\n");
    let held = |name: &str| std::fs::read_to_string(home.path().join(name)).unwrap();
    let mut chat = home.chat(&[]);
    chat.says("one", "The reply.");
    chat.says("/save", "/save needs a file name");
    chat.says(
        "/save new.md",
        "Saved the last reply to new.md (14 characters)",
    );
    assert_eq!(held("new.md"), "The **reply**.\n");
    let question = "notes.md exists. Overwrite it? [y/N]";
    chat.enter("/save notes.md").wait_for(question);
    chat.enter("n")
        .wait_for("Cancelled; nothing changed")
        .wait_for_prompt();
    assert_eq!(held("notes.md"), "mine\n");
    chat.enter("/save notes.md").wait_for(&format!(
        "Cancelled; nothing changed\n\nconversation> /save notes.md\n{question}"
    ));
    chat.enter("y")
        .wait_for("Saved the last reply to notes.md")
        .wait_for_prompt();
    assert_eq!(held("notes.md"), "The **reply**.\n");
    chat.leave();
}

#[test]
fn a_session_is_exported_as_one_html_file() {
    let server = Server::start([say("Some **bold** words <script>alert(1)</script>")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "paged"]);
    chat.says("is 1 < 2?", "Some bold words");
    chat.says("/export talk.html", "2 messages written to talk.html");
    chat.leave();
    let page = std::fs::read_to_string(home.path().join("talk.html")).unwrap();
    assert!(
        page.contains("<div class=\"said\">is 1 &lt; 2?</div>"),
        "{page}"
    );
    assert!(page.contains("<strong>bold</strong>"), "{page}");
    assert_eq!(page.matches("<script>").count(), 1, "its own alone: {page}");
    assert!(page.contains("default-src 'none'"), "{page}");
}

#[test]
fn why_shows_the_kept_lines_that_were_sent() {
    let server = Script::answering(|_| say("Noted.")).serve();
    let mut chat = Home::with(&server).sized(120, 100).chat(&["--no-banner"]);
    chat.says("Please remember that the gate closes at eleven.", "Noted.");
    chat.says("hello again", "Noted.");
    chat.says("/why", "MEMORY.md: sent with every request");
    let screen = chat.screen();
    let why = &screen[screen.rfind("> /why").unwrap()..];
    // As a person would read it, without time, category and mark of a list.
    let line = "\n    Please remember that the gate closes at eleven\n";
    assert_eq!(why.matches(line).count(), 2, "{why}");
    chat.leave();
}

#[test]
fn why_tells_what_of_memory_stood_behind_the_last_answer() {
    let server = Script::answering(|_| say("At nine.")).serve();
    let mut chat = Home::with(&server).sized(120, 100).chat(&["--no-banner"]);
    chat.says("/why", "No answer yet.");
    chat.says("hello", "At nine.");
    chat.says("/why", "Memory was not used: the last answer is based");
    chat.says("/memory add hours: the harbour opens at nine", "Kept");
    chat.says("/pin be brief", "Pinned");
    chat.says("when does the harbour open?", "At nine.");
    chat.says("/why", "1 pinned by you: sent with every request");
    let screen = chat.screen();
    let why = &screen[screen.rfind("> /why").unwrap()..];
    assert!(why.contains("\nentry hours, "), "{why}");
    assert!(
        why.contains("% of the question's words\n    the harbour opens at nine"),
        "{why}"
    );
    chat.leave();
    let mut offline = Home::offline().sized(120, 100).chat(&["--no-banner"]);
    offline.says("/pin be brief", "Pinned");
    offline.says("hello", "Message saved.");
    offline.says("/why", "No model is connected: replies quote");
    assert_eq!(offline.count("sent with every request"), 0);
    offline.leave();
}
