//! Going from session to session, and what asks before it does something.

use cogtrix::testing::server::{Script, Server, say};

use super::Home;
use crate::support::pty::{Exit, Key, Size};

#[test]
fn switching_sessions_keeps_each_by_itself() {
    let server = Script::answering(|_| say("noted")).serve();
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "one"]);
    chat.says("the secret of one", "noted");
    chat.says("/info", "messages  2 in 1 turn");
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
fn a_session_open_elsewhere_can_be_read_or_left_for_another_within_a_chat() {
    let home = Home::offline();
    let mut first = home.chat(&["-s", "held"]);
    first.says("The boat leaves at nine", "Message saved.");
    let mut second = home.chat(&["-s", "other", "-M", "code"]);
    second.says("hello", "Message saved.");
    let open = "Session held is open in another process (pid";
    let question = "r = open read-only, Enter =\nstay in other, or type another name:";
    for no in ["\r", "\x03"] {
        second
            .enter("/session held")
            .wait_for(open)
            .wait_for(question);
        second.type_text(no).wait_for("Still in session other");
        second.wait_for_prompt().says("/info", "session   other");
        second.clear_screen();
    }
    // From the list too.
    second
        .enter("/session")
        .wait_for("2 of 2")
        .type_text("held\r");
    second.wait_for(question).enter("third");
    second.wait_for("New session third");
    second.wait_for_prompt().enter("/session held");
    second.wait_for("stay in third").enter("r");
    second.wait_for("session held · code mode");
    second.wait_for("Opened read-only").wait_for_prompt();
    second.says("/history", "The boat leaves at nine");
    second.wait_for("code read-only>");
    second.says("hello?", "this session is open read-only");
    second.enter("/new").wait_for("New session default");
    second.wait_for_prompt();
    // Back where it may write.
    second.enter("/session other");
    second.wait_for("Resumed other (2 messages");
    second
        .wait_for_prompt()
        .says("green apples", "Message saved.");
    assert!(second.leave().ends_with("cogtrix -s other"));
    assert_eq!(home.kept("other").len(), 4);
    first.leave();
}

#[test]
fn a_signal_at_the_question_about_an_open_session_leaves() {
    let home = Home::offline();
    for name in ["held", "other"] {
        home.chat(&["-s", name]).says("hello", "saved.").leave();
    }
    let mut first = home.chat(&["-s", "held"]);
    for key in ["\x03", "\x04"] {
        let mut second = home.start(&["-r"], &[]);
        second.wait_for("2 of 2").type_text("held\r");
        second.wait_for("type another name:").type_text(key);
        assert_eq!(second.wait_exit(), Exit::code(1), "{key:?}");
        assert!(second.is_restored(), "{key:?}");
    }
    first.leave();
}

#[test]
fn clear_asks_and_takes_only_a_yes() {
    let home = Home::offline();
    let mut chat = home.chat(&["-s", "full"]);
    chat.says("/clear", "No messages yet");
    chat.says("hello", "Message saved.");
    for no in ["\r", "n\r", "no\r", "yeah\r", "\x03", "\x04"] {
        chat.enter("/clear").wait_for("to the archive? [y/N]");
        chat.type_text(no).wait_for("Cancelled; nothing changed");
        chat.wait_for_prompt();
        chat.says("/info", "messages  2 in 1 turn");
        // The next round's texts are to be new on the screen.
        chat.clear_screen();
    }
    chat.enter("/clear")
        .wait_for("to the archive? [y/N]")
        .enter("y");
    chat.wait_for("Cleared. Archived to");
    chat.wait_for_prompt()
        .says("/info", "messages  0 in 0 turns");
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
    chat.enter("/clear").enter("y").type_text("y");
    rest.go_on();
    chat.wait_for("[y/N]")
        .enter("n")
        .wait_for("Cancelled; nothing changed");
    // The line begun before the question is begun still.
    chat.wait_for("conversation> y\nlast\n\nconversation> y");
    chat.key(Key::CtrlC).wait_for_prompt();
    chat.says("/info", "messages  6 in 3 turns");
}

#[test]
fn delete_moves_to_the_trash_after_a_yes() {
    let home = Home::offline();
    home.chat(&["-s", "old"]).says("hello", "saved.").leave();
    let mut chat = home.chat(&["-s", "new"]);
    chat.says("/delete new", "this session is open\nhint: switch with");
    chat.says("/delete nobody", "error: no session nobody");
    chat.says(
        "/delete",
        "error: /delete needs the name of another session",
    );
    chat.enter("/delete old")
        .wait_for("Move session old (2 messages) to the trash? [y/N]");
    chat.key(Key::Enter).wait_for("Cancelled; nothing changed");
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
    chat.says("/rename final", "Renamed session draft to final");
    assert!(chat.leave().ends_with("cogtrix -s final"));
    home.chat(&["-s", "final"])
        .wait_for("Resumed final (2 messages")
        .key(Key::CtrlD);
    assert!(!home.history("draft.json").exists());
}

#[test]
fn resume_refuses_a_name_that_no_session_has_and_names_the_nearest() {
    let home = Home::offline();
    let mut chat = home.chat(&["-s", "harbour"]);
    chat.says("hello", "Message saved.");
    chat.says("/new other", "New session other");
    chat.says(
        "/resume harbuor",
        "error: no session harbuor\nhint: did you mean harbour? `/new harbuor` starts it",
    );
    chat.says(
        "/resume zebra",
        "error: no session zebra\nhint: `/new zebra` starts it",
    );
    chat.says("/status", "session   other");
    chat.says("/resume harbour", "Resumed harbour (2 messages");
    chat.says("/delete zebra", "hint: `/sessions` lists them");
    chat.says(
        "/delete harbuor",
        "hint: did you mean harbour? `/sessions` lists",
    );
    chat.leave();
    assert!(!home.history("zebra.json").exists());
}

#[test]
fn at_a_terminal_that_draws_no_list_a_session_is_chosen_by_name() {
    let home = three();
    for (typed, opened) in [("a", "Resumed a ("), ("", "Resumed b (")] {
        let mut chat = home.start(&["-r"], &[("TERM", "dumb")]);
        chat.wait_for("Session name (Enter = b):").enter(typed);
        chat.wait_for(opened).enter("/quit");
    }
}

/// A home with three sessions, of which `b` was used last.
fn three() -> Home {
    let home = Home::offline();
    for (name, day, said) in [
        ("a", 1, "the harbour of Hamburg"),
        ("b", 3, "hello"),
        ("c", 2, "a walk by the river"),
    ] {
        write_session(&home, name, &format!("2026-01-0{day}T00:00:00Z"), said);
    }
    home
}

fn write_session(home: &Home, name: &str, at: &str, said: &str) {
    let reply = r#"{"role": "assistant", "content": "it is noted"}"#;
    let text =
        format!(r#"[{{"role": "user", "content": "{said}", "timestamp": "{at}"}}, {reply}]"#);
    home.write(&format!("data/cogtrix/history/{name}.json"), &text);
}

#[test]
fn resume_without_a_name_offers_the_sessions_and_enter_takes_the_one_used_last() {
    let home = three();
    let mut chat = home.start(&["-r"], &[]);
    chat.wait_for("3 of 3 · type to filter");
    let screen = chat.screen();
    let rows: Vec<&str> = screen.lines().collect();
    assert_eq!(rows[0], "Session:", "{screen}");
    assert!(rows[1].starts_with("> b "), "{screen}");
    assert!(rows[2].starts_with("  c "), "{screen}");
    chat.key(Key::Enter).wait_for("Resumed b (2 messages,");
    chat.wait_for_prompt();
    assert_eq!(chat.count("type to filter"), 0, "{}", chat.screen());
    chat.leave();
    home.chat(&["--continue"])
        .wait_for("Resumed b (2 messages,");
}

#[test]
fn a_session_is_found_by_what_was_said_in_it() {
    let home = three().sized(40, 12);
    for typed in ["hamburg", "HARBOUR ham", "nothing\x15hamb", "hambx\x7f"] {
        let mut chat = home.start(&["--resume"], &[]);
        chat.wait_for("3 of 3").type_text(typed);
        chat.wait_for("> a ").wait_for("of Hamb");
        chat.wait_until("one row", |screen| screen.contains("\n1 of 3"));
        chat.key(Key::Enter).wait_for("Resumed a (2 messages,");
        chat.wait_for_prompt().leave();
    }
}

#[test]
fn leaving_the_list_leaves_nothing_behind() {
    for key in ["\x1b", "\x03", "\x04"] {
        let mut chat = three().start(&["-r"], &[]);
        chat.wait_for("3 of 3")
            .type_text("\x1b[B\x0e\x10")
            .type_text(key);
        assert_eq!(chat.wait_exit(), Exit::code(0), "{key:?}");
        assert_eq!(chat.screen(), "", "{key:?}");
        assert!(chat.is_restored(), "{key:?}");
    }
}

#[test]
fn a_list_is_drawn_anew_when_the_terminal_is_resized() {
    let home = Home::offline().sized(80, 24);
    for n in 10..60 {
        let name = format!("session-{n}");
        write_session(&home, &name, &format!("2026-01-01T00:00:{n}Z"), "hello");
    }
    let mut chat = home.start(&["-r"], &[]);
    chat.wait_for("50 of 50");
    for (columns, rows) in [(40, 12), (1, 1), (10, 3), (200, 50), (40, 12)] {
        chat.resize(Size(columns, rows));
        if columns < 40 {
            continue;
        }
        let list_rows = usize::from(rows).saturating_sub(6).min(20);
        let last = format!("  session-{}", 60 - list_rows);
        chat.wait_until("a whole list", |screen| {
            let begins = screen.lines().filter(|line| line.starts_with("Session:"));
            begins.count() == 1 && screen.contains(&last) && screen.contains("> session-59")
        });
    }
    chat.type_text("\x1b[6~\x1b[6~").wait_for("> session-47 ");
    chat.kill(rustix::process::Signal::TERM);
    assert_eq!(chat.wait_exit(), Exit::code(0));
    assert!(chat.is_restored());
}

#[test]
fn sessions_are_chosen_in_a_chat_and_a_key_leaves_the_list() {
    let home = three();
    for command in ["/session", "/resume", "/s"] {
        let mut chat = home.chat(&["-s", "other"]);
        chat.enter(command).wait_for("3 of 3").type_text("\x1b");
        chat.wait_for_prompt().enter(command);
        chat.wait_for("3 of 3").type_text("walk\r");
        chat.wait_for("Resumed c (2 messages,");
        chat.wait_for_prompt();
        assert_eq!(chat.count("type to filter"), 0, "{}", chat.screen());
        chat.says("/info", "session   c").leave();
    }
}

#[test]
fn new_begins_the_next_session_of_the_usual_name_and_refuses_a_name_that_is_taken() {
    let home = three();
    let mut chat = home.chat(&[]);
    chat.says("hello", "saved.");
    chat.says("/new", "New session default-2");
    chat.says("hello", "saved.");
    chat.says("/new plans", "New session plans");
    chat.says("/new b", "error: session b already exists");
    chat.says("/resume default-2", "Resumed default-2 (2 messages");
    chat.says("/resume default-2", "Already in session default-2");
    chat.leave();
}

#[test]
fn a_session_whose_last_reply_was_stopped_says_so_when_it_is_resumed() {
    let server = Server::start([say("Yes."), say("half of it").stall_after(2)]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "cut"]);
    chat.says("hello", "Yes.");
    chat.enter("Where shall it be?").wait_for("half of");
    chat.key(Key::CtrlC).wait_for_prompt();
    chat.leave();
    let screen = home.chat(&["-s", "cut"]).screen();
    assert!(screen.contains("  You:   Where shall it be?\n"), "{screen}");
    assert!(
        screen.contains("  Reply: (cut, `/retry` asks again) half of"),
        "{screen}"
    );
}

#[test]
fn a_recap_shows_no_secret() {
    let server = Script::answering(|_| say("Noted.")).serve();
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "keys"]);
    chat.says("Remember that my password is hunter2xyz9", "Noted.");
    chat.leave();
    let mut chat = home.chat(&["-s", "keys"]);
    let screen = chat.screen();
    let recap = "  You:   Remember that my password is [secret]";
    assert!(screen.contains(recap), "{screen}");
    assert!(!screen.contains("hunter2"), "{screen}");
    chat.leave();
}

#[test]
fn a_resumed_session_says_what_it_was_about_and_what_is_open() {
    let server = Script::answering(|_| say("Answer to that. ".repeat(20))).serve();
    let mut home = Home::with(&server);
    let mut chat = home.chat(&["-s", "plan", "-M", "reasoning"]);
    chat.says("/objective Move the harbour", "harbour");
    chat.says("/goal Find a place", "place");
    chat.says("Where shall it be?", "Answer to");
    chat.says(
        "Is Hamburg better than any other place of the coast?",
        "Answer to",
    );
    chat.leave();
    for (columns, rows) in [(80, 24), (40, 12), (200, 50)] {
        home.size = Size(columns, rows);
        let mut chat = home.chat(&["-s", "plan"]);
        let screen = chat.screen();
        assert!(screen.contains("Resumed plan (4 messages"), "{screen}");
        let from = screen.lines().position(|line| line.starts_with("  About:"));
        let lines: Vec<&str> = screen.lines().skip(from.unwrap() - 1).collect();
        assert_eq!(lines[1], "  About: Where shall it be?", "{screen}");
        assert!(
            lines[2].starts_with("  Open:  Move the harbour; Find a pl"),
            "{screen}"
        );
        assert!(
            lines[3].starts_with("  You:   Is Hamburg better than"),
            "{screen}"
        );
        assert!(lines[4].starts_with("  Reply: Answer to"), "{screen}");
        assert!(!lines[5].starts_with(' '), "{screen}");
        chat.leave();
    }
}
