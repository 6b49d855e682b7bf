//! Slash commands as they are typed, and what the model gets to see of them: nothing.

use cogtrix::testing::server::{Request, Script, Server, say};

use super::Home;
use crate::support::pty::Key;

#[test]
fn a_mode_is_listed_switched_and_told_with_the_very_next_request() {
    let server = Script::answering(|_| say("noted")).serve();
    let mut chat = Home::with(&server).chat(&["-M", "code"]);
    chat.says("/mode", "* code           30 messages");
    assert!(
        chat.screen()
            .contains("\n  conversation   25 messages  General")
    );
    chat.says("a", "noted")
        .says("/mode reasoning", "Switched to reasoning mode");
    chat.says("b", "noted");
    chat.says("/M reasoning", "Already in reasoning mode");
    chat.says("/M  Code ", "Switched to code mode");
    chat.says("/mode cod", "error: ");
    let screen = chat.screen();
    for name in ["conversation", "code", "reasoning"] {
        let told = &screen[screen.rfind("error:").unwrap()..];
        assert!(told.contains(name), "{told}");
    }
    assert!(screen.ends_with("\ncode>"), "{screen}");
    chat.wait_for_prompt().says("c", "noted");
    chat.leave();
    let sent = server.chats();
    let systems: Vec<String> = sent.iter().map(Request::system).collect();
    assert_ne!(systems[0], systems[1]);
    assert_eq!(systems[0], systems[2], "back to what it was");
    assert!(sent[2].message(1).ends_with('a'), "nothing is lost");
}

#[test]
fn the_case_of_m_tells_mode_from_model() {
    let server = Script::new([say("from the second")])
        .models(["scripted", "second"])
        .serve();
    let mut chat = Home::with(&server).chat(&[]);
    chat.says("/M", "* conversation")
        .says("/m", "* desk/scripted");
    // Without its provider, where only one lists it.
    chat.says("/m scripted", "Switched to desk/scripted");
    chat.says("/m third", "unknown model \"third\"");
    chat.says("/m secnd", "hint: did you mean desk/second?");
    chat.says("/m desk/secnd", "hint: did you mean second? available: ");
    chat.says("/m other", "Switched to desk/second");
    chat.says("/m nobody/nothing", "error: ");
    chat.says("/m desk/third", "does not have the model \"third\"");
    chat.says("hello", "from the second");
    assert_eq!(server.chats()[0].body["model"], "second");
}

#[test]
fn help_lists_every_command() {
    let mut chat = Home::offline().sized(110, 90).chat(&["--no-banner"]);
    chat.says("/help", "explains one, ");
    chat.says("/help keys", "Ctrl-X Ctrl-E");
    insta::assert_snapshot!(chat.screen());
    chat.says("/help modes", "Memory modes\n");
    chat.says("/help /retry", "Ask the last question again");
    chat.says(
        "/help nonsense",
        "unknown command /nonsense\nhint: `/help` lists commands\n",
    );
    chat.says("/help forgte", "hint: did you mean /forget?\n");
}

#[test]
fn an_unknown_command_names_the_nearest_and_is_never_sent() {
    let server = Server::start([]);
    let mut chat = Home::with(&server).chat(&[]);
    chat.says("/mdoe code", "unknown command /mdoe");
    assert!(chat.screen().contains("hint: did you mean /mode"));
    chat.says(
        "/",
        "unknown command /\nhint: `/help` lists commands; to send the line",
    );
    chat.says("/usr/bin/env", "unknown command /usr/bin/env");
    chat.leave();
    assert_eq!(server.chats().len(), 0);
}

#[test]
fn context_shows_what_was_sent_and_full_prints_it() {
    let server = Server::start([say("one"), say("two")]);
    let mut chat = Home::with(&server).chat(&["-M", "code", "--tools", "none"]);
    chat.says(
        "/context",
        "Nothing sent yet; the next request would contain:",
    );
    chat.says("first", "one").says("second", "two");
    chat.says("/context", "reserved for the");
    let screen = chat.screen();
    let shown = &screen[screen.rfind("/context").unwrap()..];
    for part in [
        "config/modes/code.md",
        "window ",
        "turn 1, 2 messages",
        "█░",
        " of 33k tokens (",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    chat.says("/context full", "── input · you");
    assert!(chat.screen().contains("] first\nassistant: ["));
    chat.says(
        "/context half",
        "usage: /context [full|proof|preset [NAME]]",
    );
}

#[test]
fn compact_shows_its_progress_and_what_shrank() {
    let (summary, rest) = say("We spoke of five things.").hold_after(1);
    let mut replies: Vec<_> = (0..5).map(|n| say(long(n))).collect();
    replies.extend([summary, say("after")]);
    let server = Server::start(replies);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "long"]);
    chat.says("/compact", "nothing");
    for n in 0..5 {
        chat.says(&format!("question {n}"), &format!("end {n}"));
    }
    chat.enter("/compact").wait_for("writing a summary …");
    rest.go_on();
    chat.wait_for("Compacted: messages 10 → 2, ");
    chat.wait_for_prompt();
    assert_eq!(chat.count("writing a summary"), 0);
    chat.says("and now?", "after").leave();
    let sent = &server.chats()[6];
    assert!(sent.message(1).contains("We spoke of five things."));
    assert_eq!(sent.body["messages"].as_array().unwrap().len(), 4);
    assert_eq!(home.kept("long").len(), 12, "the whole history stays");
}

#[test]
fn ctrl_c_while_compacting_leaves_all_as_it_was() {
    let mut replies: Vec<_> = (0..5).map(|n| say(long(n))).collect();
    replies.extend([say("We spoke of things.").stall_after(1), say("after")]);
    let server = Server::start(replies);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "long"]);
    for n in 0..5 {
        chat.says(&format!("question {n}"), &format!("end {n}"));
    }
    chat.enter("/compact").wait_for("writing a summary …");
    server.wait_for_chats(6);
    chat.key(Key::CtrlC).wait_for("not compacted: interrupted");
    assert!(!home.history("long_hybrid.json").exists());
    chat.wait_for_prompt().says("and now?", "after").leave();
    assert_eq!(
        server.chats()[6].body["messages"].as_array().unwrap().len(),
        12
    );
}

/// Long enough to be worth a summary, with an end to wait for.
fn long(n: usize) -> String {
    format!("{} end {n}", format!("thing {n} and ").repeat(40))
}

#[test]
fn undo_and_retry_change_what_is_sent_and_not_what_is_kept() {
    let server = Server::start([say("first"), say("second"), say("third"), say("fourth")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "back"]);
    chat.says("a", "first").says("b", "second");
    chat.says("/undo", "Undone: b").says("/retry", "third");
    chat.says("/undo", "Undone: a")
        .says("/undo", "error: nothing to undo");
    chat.says("/history", "(retried)").says("c", "fourth");
    chat.leave();
    assert!(server.chats()[2].message(-1).ends_with('a'));
    assert_eq!(
        server.chats()[3].body["messages"].as_array().unwrap().len(),
        2
    );
    assert_eq!(home.kept("back").len(), 8);
}

#[test]
fn export_writes_a_file_and_never_over_one() {
    let home = Home::offline();
    let mut chat = home.chat(&[]);
    chat.says("hello", "Message saved.");
    chat.says("/export md notes.md", "2 messages written to notes.md");
    chat.says("/export notes.md", "error: cannot write notes.md");
    chat.says("/export nowhere/notes.md", "create its folder first");
    let notes = std::fs::read_to_string(home.path().join("notes.md")).unwrap();
    assert!(notes.starts_with("# default\n\n**You**"), "{notes}");
    chat.says("/export", "usage: /export [md|json|html] FILE");
}

#[test]
fn info_says_where_one_is() {
    let home = Home::offline().sized(120, 30);
    let mut chat = home.chat(&["-s", "here", "-M", "code"]);
    chat.says("/info", "version   0.");
    let screen = chat.screen();
    for row in [
        "session   here",
        "messages  0 in 0 turns",
        "mode      code (window of 30 messages)",
        "model     none; replies only quote earlier messages",
    ] {
        assert!(screen.contains(row), "{row}: {screen}");
    }
}
