//! What a person sees of their own memory at a terminal: receipts before replies, and files in their editor.

use cogtrix::testing::server::{Script, say};
use rustix::process::Signal;

use super::Home;
use crate::support::pty::{Exit, Key};

#[test]
fn a_receipt_stands_before_the_reply_and_its_number_takes_it_back() {
    let server = Script::answering(|_| say("Good to know.")).serve();
    let mut chat = Home::with(&server).sized(120, 60).chat(&["--no-banner"]);
    chat.says("I prefer tea over coffee", "Good to know.");
    let screen = chat.screen();
    let receipt = screen.find("Noted (preference)").unwrap();
    assert!(receipt < screen.find("Good to know.").unwrap(), "{screen}");
    assert!(screen.contains("/memory forget 1"), "{screen}");
    chat.says("/memory forget 1", "Forgotten: I prefer tea");
    chat.says("/memory list", "Nothing saved yet");
    chat.says("I prefer trains over planes", "/memory forget 2");
    chat.leave();
}

#[test]
fn an_editor_opens_memory_and_what_was_edited_is_sent_next() {
    let server = Script::answering(|_| say("I see.")).serve();
    let home = Home::with(&server).sized(120, 60);
    home.write(
        "editor.sh",
        "test -t 0 && echo '- the ferry sails at noon' >> \"$1\" && echo \"edited $1\"\n",
    );
    let script = home.path().join("editor.sh");
    let editor = format!("sh {}", script.display());
    let mut chat = home.start(&["--no-banner"], &[("EDITOR", &editor)]);
    chat.wait_for_prompt();
    chat.says("/memory edit", "Saved; takes effect with the next turn");
    assert!(chat.screen().contains("MEMORY.md"));
    chat.says("/memory edit USER.md", "USER.md");
    chat.says("/memory edit ../../etc/passwd", "no entry, note or file");
    chat.says("hello", "I see.");
    chat.says("/memory show MEMORY.md", "# Memory");
    chat.type_text("/memory edit ME").key(Key::Tab);
    chat.wait_for("/memory edit MEMORY.md");
    chat.key(Key::CtrlC);
    chat.wait_for_prompt().leave();
    let sent = server.chats()[0].body.to_string();
    assert_eq!(sent.matches("the ferry sails at noon").count(), 2, "{sent}");
}

#[test]
fn an_editor_keeps_what_others_wrote_and_may_not_take_the_file_away() {
    let home = Home::offline().sized(200, 60);
    let memory = home.path().join("data/cogtrix/workspace/MEMORY.md");
    let script = format!(
        "mkdir -p '{}' && echo '- noted elsewhere' >> '{}' && echo '- mine' >> \"$1\"\n",
        memory.parent().unwrap().display(),
        memory.display()
    );
    home.write("editor.sh", &script);
    let editor = format!("sh {}", home.path().join("editor.sh").display());
    let mut chat = home.start(&["--no-banner"], &[("EDITOR", &editor)]);
    chat.wait_for_prompt();
    chat.says("/memory edit", "one line noted meanwhile was kept");
    chat.leave();
    let text = std::fs::read_to_string(&memory).unwrap();
    assert!(
        text.contains("- noted elsewhere\n") && text.contains("- mine\n"),
        "{text}"
    );
    let mut chat = home.start(&["--no-banner"], &[("EDITOR", "rm")]);
    chat.wait_for_prompt();
    chat.says("/memory edit", "the editor deleted the file");
    chat.leave();
    assert_eq!(std::fs::read_to_string(&memory).unwrap(), text);
}

#[test]
fn signals_during_an_edit_end_the_editor_and_lose_nothing() {
    let server = Script::answering(|_| say("I see.")).serve();
    let home = Home::with(&server);
    home.write(
        "editor",
        "trap 'echo \"- mine\" >> \"$1\"; exit 1' TERM; echo in the editor; read -r line\n",
    );
    let mut chat = home.start(&["--no-banner"], &[("EDITOR", "sh ./editor")]);
    chat.wait_for_prompt().says("as it was", "I see.");
    let times = |words: &'static str, times: usize| {
        move |screen: &str| screen.matches(words).count() == times
    };
    for (number, command) in [(1, "/edit"), (2, "/memory edit")] {
        chat.enter(command);
        chat.wait_until("the editor", times("in the editor", number));
        chat.key(Key::CtrlC);
        chat.wait_until("its end", times("was interrupted", number));
        chat.wait_for_prompt();
    }
    chat.enter("/memory edit");
    chat.wait_until("the editor", times("in the editor", 3));
    chat.kill(Signal::TERM);
    assert_eq!(chat.wait_exit(), Exit::code(0));
    assert!(
        chat.screen().contains("what it saved is in"),
        "{}",
        chat.screen()
    );
    let copies = home.path().join("data/cogtrix/editing");
    let copies = std::fs::read_dir(copies).unwrap();
    let copies: Vec<_> = copies
        .map(|copy| std::fs::read_to_string(copy.unwrap().path()).unwrap())
        .collect();
    assert!(
        matches!(&copies[..], [copy] if copy.ends_with("- mine\n")),
        "{copies:?}"
    );
}

#[test]
fn an_editor_that_fails_or_is_missing_is_told_with_the_file() {
    let home = Home::offline().sized(160, 60);
    let mut chat = home.start(&["--no-banner"], &[("VISUAL", "false")]);
    chat.wait_for_prompt();
    chat.says(
        "/memory edit",
        "the editor \"false\" failed with exit code 1",
    );
    chat.leave();
    let mut chat = home.chat(&["--no-banner"]);
    chat.says("/memory edit", "no editor set; the file is ");
    chat.says("/memory edit SOUL.md", "SOUL.md");
    chat.leave();
    // Nothing is made for an edit that never was.
    let workspace = home.path().join("data/cogtrix/workspace");
    for file in ["MEMORY.md", "SOUL.md"] {
        assert!(!workspace.join(file).exists(), "{file}");
    }
}
