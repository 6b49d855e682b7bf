//! Replies while they arrive: shown at once, kept when stopped, harmless, and not in the way of typing.

use cogtrix::testing::server::{Server, fail, say};

use super::Home;
use crate::support::pty::{Key, Size};

#[test]
fn text_appears_while_the_server_still_writes() {
    let (reply, rest) = say("one two three four").hold_after(2);
    let server = Server::start([reply]);
    let mut chat = Home::with(&server).chat(&[]);
    chat.enter("count").wait_for("\none two");
    assert_eq!(chat.count("three"), 0);
    rest.go_on();
    chat.wait_for("one two three four").wait_for_prompt();
}

#[test]
fn a_wait_is_shown_and_leaves_no_trace() {
    let (reply, rest) = say("at last").hold_after(0);
    let server = Server::start([reply]);
    let mut chat = Home::with(&server).chat(&[]);
    chat.enter("hello").wait_for("waiting for desk/scripted …");
    rest.go_on();
    chat.wait_for("at last").wait_for_prompt();
    assert_eq!(chat.count("waiting"), 0);
    assert!(chat.screen().contains("conversation> hello\nat last\n\n"));
}

#[test]
fn ctrl_c_keeps_what_arrived_and_gives_the_prompt_back() {
    let server = Server::start([say("half of it").stall_after(2), say("the whole")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "stopped"]);
    chat.enter("tell").wait_for("half of");
    chat.key(Key::CtrlC)
        .wait_for("Interrupted; the partial reply is kept, `/retry`");
    chat.wait_for_prompt().says("go on", "the whole");
    chat.leave();
    assert!(server.chats()[1].message(2).contains("] half of "));
    let kept = home.kept("stopped");
    assert_eq!(kept.len(), 4);
    assert!(kept[1].starts_with("half of"), "{kept:?}");
}

#[test]
fn ctrl_c_before_the_first_word_gives_the_prompt_back() {
    let server = Server::start([cogtrix::testing::server::silent(), say("there")]);
    let mut chat = Home::with(&server).chat(&[]);
    chat.enter("hello").wait_for("waiting for");
    server.wait_for_chats(1);
    chat.key(Key::CtrlC).wait_for("Interrupted");
    assert_eq!(chat.count("the partial reply"), 0, "nothing did");
    chat.wait_for_prompt().says("/retry", "there");
}

#[test]
fn a_reply_that_breaks_off_is_kept_and_said() {
    let server = Server::start([
        say("half of it").cut_after(2),
        fail(401, "bad key"),
        say("ok"),
    ]);
    let mut chat = Home::with(&server).chat(&[]);
    chat.says("tell", "(the partial reply is kept)");
    assert!(chat.screen().contains("half of\nerror: "));
    chat.says("again", "needs an API key").says("/retry", "ok");
}

#[test]
fn lines_typed_while_a_reply_streams_are_sent_after_it() {
    let (reply, rest) = say("first reply").hold_after(1);
    let server = Server::start([reply, say("second reply")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "ahead"]);
    chat.enter("one").wait_for("first");
    chat.enter("two").enter("/mode code").type_text("thr");
    rest.go_on();
    chat.wait_for("conversation> two\nsecond reply\n\nconversation> /mode code\nSwitched to code");
    chat.wait_for("code> thr").key(Key::CtrlC);
    chat.wait_for_prompt();
    chat.leave();
    assert_eq!(
        home.kept("ahead"),
        ["one", "first reply", "two", "second reply"]
    );
}

#[test]
fn what_was_typed_during_a_stopped_reply_waits_on_the_next_line() {
    let server = Server::start([say("half of it").stall_after(2), say("the whole")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "held"]);
    chat.enter("tell").wait_for("half of");
    chat.enter("and then").type_text("what").key(Key::CtrlC);
    chat.wait_for("> and then\n").wait_for("what");
    assert_eq!(server.chats().len(), 1, "nothing was sent by itself");
    chat.key(Key::Enter).wait_for("the whole").wait_for_prompt();
    chat.leave();
    assert_eq!(home.kept("held")[2], "and then\nwhat");
}

#[test]
fn thinking_is_dim_and_is_kept_nowhere() {
    let server = Server::start([say("Four.").thinking("two and two"), say("Yes.")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "sum"]);
    chat.says("2 + 2?", "two and two\nFour.");
    let printed = chat.printed();
    assert!(printed.contains("\x1b[2mtwo and two\x1b[0m"), "{printed:?}");
    chat.says("sure?", "Yes.").says("/history", "Assistant, ");
    assert_eq!(chat.count("two and two"), 1);
    chat.leave();
    assert_eq!(home.kept("sum"), ["2 + 2?", "Four.", "sure?", "Yes."]);
    let sent = server.chats()[1].body.to_string();
    assert!(!sent.contains("two and two"), "{sent}");
}

#[test]
fn sequences_in_a_reply_reach_the_screen_as_signs() {
    let evil = "a\x1b[2Jb\x1b]0;owned\x07c\rd\u{9b}31me\u{202e}f\x1b[6n";
    let pieces = ["a\x1b", "[2Jb\x1b]0;own", &evil[evil.find("ed").unwrap()..]];
    let server = Server::start([say("").pieces(pieces), say("still here")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "evil"]);
    chat.says("be evil", "a␛[2Jb␛]0;owned␇c␍d");
    let shown = "d\u{fffd}31me\u{fffd}f␛[6n";
    assert!(chat.printed().contains(shown));
    assert!(!chat.printed().contains("\x1b[2J"));
    chat.says("/history", "You, ")
        .says("/context full", "── input");
    chat.says("well?", "still here");
    assert!(!chat.printed().contains("\x1b]0;"));
    chat.leave();
    assert_eq!(home.kept("evil")[1], evil);
}

#[test]
fn wide_and_joined_characters_come_through_whole() {
    let text = "日本語 👩‍👧‍👦 e\u{301} ｆｕｌｌ";
    let server = Server::start([say(text)]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "日本語"]);
    chat.says("👋 こんにちは", "日本語")
        .says("/sessions", "FIRST WORDS");
    let screen = chat.screen();
    assert!(screen.contains("* 日本語   conversation"), "{screen}");
    assert!(screen.contains("👋 こんにちは"), "{screen}");
    chat.leave();
    assert_eq!(home.kept("日本語"), ["👋 こんにちは", text]);
}

#[test]
fn a_window_that_changes_its_size_while_a_reply_streams_is_fine() {
    let words = "words that are longer than one line of the smaller window can hold";
    let (reply, rest) = say(words).hold_after(6);
    let server = Server::start([reply]);
    let mut chat = Home::with(&server).chat(&[]);
    chat.enter("talk").wait_for("longer than one");
    chat.resize(Size(50, 20));
    rest.go_on();
    chat.wait_for("can hold").wait_for_prompt();
    chat.says("/sessions", "* default");
    let screen = chat.screen();
    let row = screen.lines().find(|line| line.starts_with("* default"));
    assert!(row.unwrap().chars().count() <= 50, "{screen}");
    chat.resize(Size(100, 100))
        .enter("/mode")
        .wait_for("* conv");
}

#[test]
fn a_reply_is_laid_out_and_kept_as_the_model_wrote_it() {
    let reply = "# Title\n\nSome **bold** words.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```\n";
    let server = Server::start([say(reply), say(reply)]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "laid"]);
    let shown = "Title\n\nSome bold words.\n\n• one\n• two\n\na  b\n─  ─\n1  2\n\nfn main() {}\n\nconversation>";
    chat.says("show", shown);
    let printed = chat.printed();
    assert!(printed.contains("\x1b[1mbold\x1b[0m"), "{printed:?}");
    chat.leave();
    assert_eq!(home.kept("laid")[1], reply);

    let mut plain = home.chat(&["-s", "plain", "--plain"]);
    plain.says("show", "# Title\n\nSome **bold** words.");
    assert_eq!(plain.count("```rust"), 1);
    plain.leave();
}

#[test]
fn long_thinking_folds_to_a_line_and_is_read_with_details() {
    let thinking = "first line of it\nsecond line\n\nand the last words";
    let server = Server::start([say("Four.").thinking(thinking), say("Five.")]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "folded"]);
    chat.says("2 + 2?", " (10 words) · /details\nFour.\n\nconversation>");
    assert_eq!(chat.count("second line"), 0);
    chat.says(
        "/details",
        "Thinking\nfirst line of it\nsecond line\n\nand the last words\n",
    );
    chat.says("3 + 2?", "Five.")
        .says("/details", "No tool calls yet.");
    chat.leave();
    assert_eq!(home.kept("folded"), ["2 + 2?", "Four.", "3 + 2?", "Five."]);
}

#[test]
fn what_acts_on_a_terminal_does_not_come_out_of_a_character_reference() {
    let evil = "a &#27;[2J b\n\n    code &#155;31m\n\n[link](http://x/&#27;c) &#x202e;";
    let server = Server::start([say(evil)]);
    let home = Home::with(&server);
    let mut chat = home.chat(&[]);
    chat.says("be evil", "a ␛[2J b");
    let printed = chat.printed();
    assert!(!printed.contains("\x1b[2J"), "{printed:?}");
    assert!(!printed.contains(['\u{9b}', '\u{202e}']), "{printed:?}");
    chat.leave();
}

#[test]
fn a_reply_of_one_very_long_line_is_shown_and_kept_whole() {
    let long = "word ".repeat(60_000);
    let server = Server::start([say("").pieces([long.as_str(), "```\nend"])]);
    let home = Home::with(&server);
    let mut chat = home.chat(&["-s", "long"]);
    chat.enter("talk").wait_for("```\nend").wait_for_prompt();
    chat.leave();
    assert_eq!(home.kept("long")[1], format!("{long}```\nend"));
}
