//! Going from session to session, and what asks before it does something.

use cogtrix::testing::server::{Script, say};

use super::Home;
use crate::support::pty::Key;

#[test]
fn switching_sessions_keeps_each_by_itself() {
    let server = Script::answering(|_| say("noted")).serve();
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "one"]);
    chat.says("the secret of one", "noted");
    chat.says("/session", "Session one (2 messages, last just now)");
    chat.says("/session one", "Already in session one");
    chat.says("/session two", "New session two")
        .says("of two", "noted");
    chat.says("/s one", "Resumed one (2 messages, last just now)");
    chat.says("/sessions", "FIRST WORDS");
    let screen = chat.screen();
    assert!(screen.contains("* one      conversation"), "{screen}");
    assert!(screen.contains("  two      conversation"), "{screen}");
    chat.says("/s ../up", "error: ");
    let screen = chat.says("again", "noted").leave();
    assert!(screen.ends_with("cogtrix -s one"), "{screen}");
    let sent = server.chats();
    assert_eq!(sent[1].body["messages"].as_array().unwrap().len(), 2);
    let second = sent[1].body.to_string();
    assert!(!second.contains("the secret of one"), "{second}");
    assert!(sent[2].message(1).ends_with("the secret of one"));
}

#[test]
fn a_session_open_elsewhere_is_not_taken() {
    let home = Home::offline();
    let mut first = home.chat(&["-s", "held"]);
    let mut second = home.chat(&["-s", "other"]);
    second.says(
        "/session held",
        "error: session held is open in another process (pid",
    );
    second
        .says("/session", "Session other (0 messages)")
        .leave();
    first.says("hello", "Message saved.").leave();
}

#[test]
fn clear_asks_and_takes_only_a_yes() {
    let home = Home::offline();
    let mut chat = home.chat(&["-s", "full"]);
    chat.says("/clear", "No messages yet");
    chat.says("hello", "Message saved.");
    for no in ["\r", "n\r", "no\r", "yeah\r", "\x03", "\x04"] {
        chat.enter("/clear").wait_for("to the archive? [y/N]");
        chat.type_text(no).wait_for("cancelled; nothing changed");
        chat.wait_for_prompt();
        chat.says("/session", "Session full (2 messages");
        // The next round's texts are to be new on the screen.
        chat.clear_screen();
    }
    chat.enter("/clear")
        .wait_for("to the archive? [y/N]")
        .enter("y");
    chat.wait_for("Cleared. Archived to");
    chat.wait_for_prompt()
        .says("/session", "Session full (0 messages)");
    let archive = home.path().join("data/cogtrix/archive");
    assert_eq!(std::fs::read_dir(archive).unwrap().count(), 1);
    chat.says("hello", "Message saved.").leave();
    assert_eq!(home.kept("full").len(), 2);
}

#[test]
fn a_yes_typed_before_the_question_does_not_answer_it() {
    let (reply, rest) = say("slow").hold_after(0);
    let mut replies = vec![say("quick"), reply].into_iter();
    let server = Script::answering(move |_| replies.next().unwrap_or_else(|| say("last"))).serve();
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "hasty"]);
    chat.says("hello", "quick");
    chat.enter("slowly").wait_for("waiting for");
    chat.enter("/clear")
        .enter("y")
        .type_text("y")
        .wait_for("y\ny");
    rest.go_on();
    chat.wait_for("[y/N]")
        .enter("n")
        .wait_for("cancelled; nothing changed");
    // The line begun before the question is begun still.
    chat.wait_for("conversation> y\nlast\n\nconversation> y");
    chat.key(Key::CtrlC).wait_for_prompt();
    chat.says("/session", "Session hasty (6 messages");
}

#[test]
fn delete_moves_to_the_trash_after_a_yes() {
    let home = Home::offline();
    home.chat(&["-s", "old"]).says("hello", "saved.").leave();
    let mut chat = home.chat(&["-s", "new"]);
    chat.says("/delete new", "cannot delete the open session");
    chat.says("/delete nobody", "error: session nobody");
    chat.says("/delete", "usage: /delete NAME");
    chat.enter("/delete old")
        .wait_for("Move session old (2 messages) to the trash? [y/N]");
    chat.key(Key::Enter).wait_for("cancelled; nothing changed");
    assert!(home.history("old.json").exists());
    chat.wait_for_prompt().enter("/delete old");
    chat.wait_until("the second question", |screen| {
        screen.matches("[y/N]").count() == 2
    });
    chat.enter("Y").wait_for("Session old moved to ");
    chat.wait_for_prompt();
    assert!(!home.history("old.json").exists());
    chat.says("/sessions", "No sessions yet");
}

#[test]
fn a_renamed_session_is_resumed_under_its_new_name() {
    let home = Home::offline();
    let mut chat = home.chat(&["-s", "draft"]);
    chat.says("hello", "Message saved.");
    chat.says("/rename final", "Session draft to final");
    assert!(chat.leave().ends_with("cogtrix -s final"));
    home.chat(&["-s", "final"])
        .wait_for("Resumed final (2 messages")
        .key(Key::CtrlD);
    assert!(!home.history("draft.json").exists());
}

#[test]
fn resume_without_a_name_takes_the_session_used_last() {
    let home = Home::offline();
    let said = |day: u32| {
        format!(r#"[{{"role": "user", "content": "hi", "timestamp": "2026-01-0{day}T00:00:00Z"}}]"#)
    };
    for (name, day) in [("a", 1), ("b", 3), ("c", 2)] {
        home.write(&format!("data/cogtrix/history/{name}.json"), &said(day));
    }
    home.chat(&["-r"]).wait_for("Resumed b (1 message,");
}
