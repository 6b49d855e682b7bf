//! Ways of getting a message in: several lines, pastes, completion, the history.

use std::path::Path;

use cogtrix::testing::server::{Script, Server, say};

use super::Home;
use crate::support::program;
use crate::support::pty::Key;

/// A server that says "got it" to everything.
fn listener() -> Server {
    Script::answering(|_| say("got it"))
        .models(["scripted", "second"])
        .serve()
}

/// What was sent last, without its time.
fn heard(server: &Server) -> String {
    let sent = server.chats().last().unwrap().message(-1);
    let (_, text) = sent.split_once("UTC] ").unwrap();
    text.to_owned()
}

#[test]
fn several_lines_are_one_message_in_every_way_of_typing_them() {
    for (name, keys) in [
        ("fence", "\"\"\"\ra\rb\r\"\"\"\r"),
        ("backslash", "a\\\rb\r"),
        ("/paste", "/paste\ra\rb\r.\r"),
        ("marked paste", "\x1b[200~a\rb\x1b[201~\r"),
        ("Alt-Enter", "a\x1b\rb\r"),
    ] {
        let server = listener();
        let mut chat = Home::with(&server).chat(&[]);
        chat.type_text(keys).wait_for("got it");
        chat.wait_for_prompt();
        assert_eq!(heard(&server), "a\nb", "{name}");
        assert_eq!(server.chats().len(), 1, "{name}");
        chat.leave();
    }
}

#[test]
fn a_paste_that_looks_like_commands_is_one_message() {
    let server = listener();
    let mut chat = Home::with(&server).chat(&[]);
    chat.paste("see:\n/quit\n/clear").key(Key::Enter);
    chat.wait_for("got it").wait_for_prompt();
    assert_eq!(heard(&server), "see:\n/quit\n/clear");
}

#[test]
fn paste_mode_ends_with_ctrl_d_and_is_given_up_with_ctrl_c() {
    let server = listener();
    let mut chat = Home::with(&server).chat(&[]);
    chat.enter("/paste").wait_for("\n...");
    chat.enter("never sent").wait_for("never sent\n...");
    chat.key(Key::CtrlC).wait_for_prompt();
    chat.enter("/paste").wait_for("\n...");
    chat.enter("/mode").enter("  x");
    chat.wait_for("... /mode\n...   x\n...").key(Key::CtrlD);
    chat.wait_for("got it").wait_for_prompt();
    assert_eq!(heard(&server), "/mode\n  x");
    assert_eq!(server.chats().len(), 1);
}

#[test]
fn a_blank_before_the_slash_sends_the_line() {
    let server = listener();
    let mut chat = Home::with(&server).chat(&[]);
    chat.says(" /etc/passwd holds users", "got it");
    assert_eq!(heard(&server), "/etc/passwd holds users");
}

#[test]
fn empty_lines_ask_nothing() {
    let server = listener();
    let mut chat = Home::with(&server).chat(&[]);
    chat.enter("").enter("   ").says("/mode", "* conversation");
    assert_eq!(server.chats().len(), 0);
}

#[test]
fn tab_completes_commands_modes_models_and_sessions() {
    let server = listener();
    let home = Home::with(&server);
    home.chat(&["-s", "garden plan"])
        .says("x", "got it")
        .leave();
    home.chat(&["-s", "garage"]).says("x", "got it").leave();
    let mut chat = home.chat(&["-s", "here"]);

    chat.type_text("/mod")
        .key(Key::Tab)
        .wait_for("model  List the models");
    chat.wait_for("List memory modes, or switch to one");
    chat.type_text(" re")
        .key(Key::Tab)
        .wait_for("> /mode reasoning");
    chat.key(Key::Enter).wait_for("Switched to reasoning mode");
    chat.wait_for_prompt();

    chat.type_text("/m o").key(Key::Tab).wait_for("> /m other");
    chat.key(Key::Enter).wait_for("Switched to desk/second");
    chat.wait_for_prompt();

    chat.type_text("/s gar").key(Key::Tab).wait_for("garage");
    chat.wait_for("garden plan").type_text("d").key(Key::Tab);
    chat.wait_for("> /s garden plan").key(Key::Enter);
    chat.wait_for("Resumed garden plan (2 messages");
    chat.wait_for_prompt();
    chat.type_text("/cont")
        .key(Key::Tab)
        .type_text(" f")
        .key(Key::Tab);
    chat.wait_for("> /context full");
}

#[test]
fn what_was_typed_is_found_again_later() {
    let server = listener();
    let home = Home::with(&server);
    home.chat(&[]).says("the question", "got it").leave();
    let mut chat = home.chat(&["-s", "another"]);
    chat.key(Key::Up).wait_for("> the question").key(Key::Enter);
    chat.wait_for("got it");
    assert_eq!(heard(&server), "the question");
}

#[test]
fn ctrl_z_stops_the_program_and_the_begun_line_goes_on_with_it() {
    let server = listener();
    let home = Home::with(&server);
    // Only where a shell waits can a program be stopped.
    let program = program();
    let program = program.to_str().unwrap();
    let shell = ["-c", "set -m; \"$0\"; echo back; fg; echo over", program];
    let mut chat = home.run(Path::new("/bin/sh"), &shell);
    chat.wait_for_prompt();
    chat.type_text("half a li").wait_for("> half a li");
    chat.key(Key::CtrlZ).wait_for("back");
    chat.wait_until("the begun line, again", |screen| {
        screen.lines().last() == Some("conversation> half a li")
    });
    chat.enter("ne").wait_for("got it");
    chat.wait_for_prompt();
    assert_eq!(heard(&server), "half a line");
    chat.key(Key::CtrlD).wait_for("over");
}

#[test]
fn tab_completes_files_behind_an_at() {
    let server = listener();
    let home = Home::with(&server);
    for file in ["notes/first plan.md", "notes/second.md", "notes/x.log"] {
        home.write(file, "noted");
    }
    home.write(".gitignore", "*.log");
    let mut chat = home.chat(&[]);
    chat.type_text("Read @not").key(Key::Tab);
    chat.wait_for("> Read @notes/").type_text("s").key(Key::Tab);
    chat.wait_for("> Read @notes/second.md");
    chat.type_text(" and @notes/f").key(Key::Tab);
    chat.wait_for("@\"notes/first plan.md\"");
    chat.type_text(" @notes/x").key(Key::Tab).key(Key::Enter);
    chat.wait_for("got it").wait_for_prompt();
    let heard = heard(&server);
    let typed = "Read @notes/second.md and @\"notes/first plan.md\" @notes/x\n\n";
    assert!(heard.starts_with(typed), "{heard}");
    assert!(heard.contains("[file notes/first plan.md]\n```\nnoted\n```"));
}
