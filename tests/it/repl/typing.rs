//! Ways of getting a message in: several lines, pastes, completion, the history.

use std::path::Path;

use cogtrix::testing::server::{Script, Server, say};

use super::Home;
use crate::shell::{lies_outside, outside_of_temporary_folders};
use crate::support::pty::Key;
use crate::support::{is_wholly_confined, program};

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
fn a_paste_that_is_not_utf8_is_left_out_and_the_next_line_is_typed_as_ever() {
    let long = "more\r".repeat(2000);
    for rest in ["second\r", &long] {
        let server = listener();
        let mut chat = Home::with(&server).chat(&[]);
        let paste = [b"\x1b[200~caf\xe9 ", rest.as_bytes(), b"\x1b[201~"].concat();
        chat.type_bytes(&paste).wait_for("not UTF-8");
        chat.wait_for_prompt();
        chat.says("typed by hand", "got it");
        assert_eq!(heard(&server), "typed by hand");
        assert_eq!(server.chats().len(), 1);
        chat.leave();
    }
}

#[test]
fn ctrl_c_ends_a_paste_that_never_ends() {
    let server = listener();
    let mut chat = Home::with(&server).chat(&[]);
    chat.type_text("\x1b[200~begun").key(Key::CtrlC);
    chat.says("typed by hand", "got it");
    assert_eq!(heard(&server), "typed by hand");
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
        .wait_for("model  List models");
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

#[test]
fn a_command_behind_an_exclamation_mark_runs_unasked_and_goes_with_the_next_message() {
    if !is_wholly_confined() {
        return;
    }
    let server = listener();
    let home = Home::with(&server);
    let mut chat = home.chat(&[]);
    chat.says("!", "usage: !COMMAND");
    chat.says("!echo out; echo err >&2; exit 3", "out\nerr\nexit 3");
    chat.wait_for("it goes to the model with your next message");
    chat.says(
        "!true",
        "no output; it goes to the model with your next message",
    );
    home.write(".envrc", "");
    chat.says("!echo x >> .envrc", "[.envrc is protected from commands");
    // As programs do that wait there for keys, and vim, whose screen stood in the message.
    for command in [
        "!exec 0>&2; sleep 1000",
        "!printf 'before\\n\\033[?1049hscreen'; sleep 1000; true",
        "!echo 'Vim: Warning: Output is not to a terminal'; sleep 1000",
    ] {
        chat.says(
            command,
            "error: the command needs a terminal of its own\nhint: run it in",
        );
    }
    chat.says("!printf '\\033[?1049hrecorded\\n'", "recorded\nexit 0");
    chat.wait_for("\nbefore\n");
    assert!(!chat.screen().contains("\nscreen"), "{}", chat.screen());
    // It is held in as the commands of tools are, but for the network.
    let outside = tempfile::TempDir::new_in(outside_of_temporary_folders()).unwrap();
    if lies_outside(outside.path()) {
        let made = outside.path().join("m");
        let line = format!("!touch {} 2> /dev/null || echo held", made.display());
        chat.enter(&line).wait_for("\nheld\nexit 0");
        chat.wait_for_prompt();
        assert!(!made.exists());
    }
    let ours = std::fs::read_link("/proc/self/ns/net").unwrap();
    chat.says("!readlink /proc/self/ns/net", ours.to_str().unwrap());
    assert_eq!(server.chats().len(), 0);
    chat.says("what was that", "got it");
    let sent = heard(&server);
    assert!(
        sent.starts_with("what was that\n\n[the person ran ! echo out;"),
        "{sent}"
    );
    assert!(
        sent.contains("```\n$ echo out; echo err >&2; exit 3\nout\nerr\n[exit 3, "),
        "{sent}"
    );
    assert!(sent.contains("$ true\n[exit 0, "), "{sent}");
    chat.says(" !important", "got it");
    assert_eq!(heard(&server), "!important");
}

#[test]
fn ctrl_c_ends_a_typed_command_and_what_it_printed_is_kept() {
    if !is_wholly_confined() {
        return;
    }
    let server = listener();
    let mut chat = Home::with(&server).chat(&[]);
    chat.enter("!echo begun; sleep 1000").wait_for("\nbegun");
    chat.key(Key::CtrlC).wait_for("interrupted; it goes");
    chat.wait_for_prompt();
    chat.says("well", "got it");
    assert!(heard(&server).contains("begun\n[interrupted]"));
}

#[test]
fn a_read_only_run_runs_no_typed_command() {
    let server = listener();
    let home = Home::with(&server);
    let mut chat = home.chat(&["--read-only"]);
    chat.says(
        "!touch made",
        "this run is read-only: commands are disabled",
    );
    assert!(!home.path().join("made").exists());
}

#[test]
fn edit_sends_the_last_message_as_the_editor_leaves_it() {
    let server = listener();
    let home = Home::with(&server);
    let script = "#!/bin/sh\ncp \"$1\" seen\ncat next > \"$1\"\n";
    home.write("editor", script);
    home.write("next", "said otherwise\nin two lines\n");
    let mut chat = home.start(&[], &[("EDITOR", "sh ./editor")]);
    chat.wait_for_prompt().says("/edit", "No message to edit.");
    chat.says("as it was", "got it");
    chat.says(
        "/edit",
        "conversation> said otherwise\nin two lines\ngot it",
    );
    assert_eq!(heard(&server), "said otherwise\nin two lines");
    let seen = std::fs::read_to_string(home.path().join("seen")).unwrap();
    assert_eq!(seen, "as it was");
    chat.says("/edit", "Unchanged; nothing was sent");
    home.write("next", "\n");
    chat.says("/edit", "Unchanged; nothing was sent");
    assert_eq!(server.chats().len(), 2);
    home.write("next", &"more\n".repeat(300));
    chat.says("/edit", "conversation> [edited 300 lines]\ngot it");
    assert!(heard(&server).ends_with("more\nmore"));
    chat.leave();
    let mut chat = home.chat(&[]);
    chat.says("/edit", "no editor is set");
}

#[test]
fn history_folds_long_messages_unless_asked_for_all_of_them() {
    let server = listener();
    let mut chat = Home::with(&server).sized(80, 400).chat(&[]);
    let lines: Vec<String> = (1..=300).map(|n| format!("line {n}")).collect();
    chat.paste(&lines.join("\n")).key(Key::Enter);
    chat.wait_for("got it").wait_for_prompt();
    chat.says(
        "/history",
        "line 3 …\n[300 lines; `/history full` shows them]",
    );
    assert_eq!(chat.count("line 4"), 0);
    chat.says("/history 1 full", "line 299\nline 300\n");
    chat.says("/history some", "needs a number, not \"some\"");
}

#[test]
fn what_completion_lists_fits_the_width_with_dim_descriptions_one_to_a_line() {
    let server = listener();
    for columns in [40, 80, 200] {
        let home = Home::with(&server).sized(columns, 100);
        home.write("notes/a.md", "12345");
        home.write("notes/b.md", "");
        let mut chat = home.chat(&[]);
        chat.type_text("/mo").key(Key::Tab);
        chat.wait_until("a list of two", |screen| {
            let lines: Vec<&str> = screen.lines().collect();
            lines
                .iter()
                .any(|line| line.starts_with("mode   List memory"))
                && lines
                    .iter()
                    .any(|line| line.starts_with("model  List models"))
        });
        assert!(chat.printed().contains("\x1b[2mList memory"));
        chat.key(Key::CtrlC).wait_for_prompt();
        chat.type_text("/m ")
            .key(Key::Tab)
            .wait_for("main           desk/scripted")
            .wait_for("desk/second");
        chat.key(Key::CtrlC).wait_for_prompt();
        chat.type_text("see @notes/")
            .key(Key::Tab)
            .wait_for("notes/a.md  5 B");
        chat.key(Key::CtrlC).wait_for_prompt();
        chat.type_text("/context preset qa").key(Key::Tab);
        chat.wait_for("> /context preset qanot");
    }
}

#[test]
fn ctrl_z_during_a_reply_gives_the_shell_its_terminal_and_keeps_what_was_typed() {
    let (reply, rest) = say("first reply").hold_after(1);
    let mut replies = vec![reply].into_iter();
    let server = Script::answering(move |_| replies.next().unwrap_or_else(|| say("last"))).serve();
    let home = Home::with(&server);
    let program = program();
    let script =
        "set -m; \"$0\"; stty -a | grep -o -w -e '-*echo' -e '-*icanon'; echo back; fg; echo over";
    let shell = ["-c", script, program.to_str().unwrap()];
    let mut chat = home.run(Path::new("/bin/sh"), &shell);
    chat.wait_for_prompt().enter("one").wait_for("first");
    chat.enter("kept").type_text("be").key(Key::CtrlZ);
    chat.wait_for("\nback");
    let screen = chat.screen();
    assert!(screen.contains("firsticanon\necho\n"), "{screen}");
    rest.go_on();
    chat.wait_for("conversation> kept\nlast")
        .wait_for("conversation> be");
    chat.enter("gun").wait_for("begun\nlast").wait_for_prompt();
    assert_eq!(heard(&server), "begun");
    chat.key(Key::CtrlD).wait_for("over");
}

#[test]
fn inputs_are_remembered_for_each_project_and_those_from_before_for_all() {
    let server = listener();
    let home = Home::with(&server);
    home.write("data/cogtrix/line_history", "from before\n");
    for folder in ["a/.git", "a/src", "b"] {
        std::fs::create_dir_all(home.path().join(folder)).unwrap();
    }
    let start = |folder: &str| {
        let mut chat = home.start_in(&home.path().join(folder), &[], &[]);
        chat.wait_for_prompt();
        chat
    };
    start("a").says("only in a", "got it").leave();
    let mut chat = start("b");
    chat.key(Key::Up).wait_for("> from before").key(Key::CtrlC);
    chat.wait_for_prompt();
    chat.leave();
    let mut chat = start("a/src");
    chat.key(Key::Up).wait_for("> only in a");
    chat.key(Key::Up).wait_for("> from before");
    drop(chat);
    start("a")
        .says("I prefer trains over planes", "/memory forget")
        .leave();
    let mut chat = start("b");
    chat.says("/memory forget trains", "Forgotten: ").leave();
    let folder = home.path().join("data/cogtrix/line_histories");
    let kept = std::fs::read_dir(folder).unwrap();
    let kept = kept.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let kept: String = kept.collect();
    assert!(
        kept.contains("only in a") && !kept.contains("trains"),
        "{kept}"
    );
}

fn with_vi_keys(server: &Server) -> Home {
    let home = Home::with(server);
    let config = super::config(server).replace("ui: {", "ui: {keys: vi, ");
    home.write("home/.cogtrix.yaml", &config);
    home
}

#[test]
fn vi_keys_come_with_the_configuration() {
    let server = listener();
    let home = with_vi_keys(&server);
    let mut chat = home.chat(&[]);
    chat.type_text("one two").wait_for("> one two");
    chat.type_text("\x1b0dw")
        .wait_until("the rest of the line", |screen| {
            screen.lines().last() == Some("conversation> two")
        });
}

/// `ci"` left the word as it was and wrote what followed into it.
#[test]
fn vi_keys_know_text_objects_and_take_a_change_back() {
    let server = listener();
    let home = with_vi_keys(&server);
    let mut chat = home.chat(&[]);
    chat.type_text("say \"hello you\" now")
        .wait_for("> say \"hello you\" now");
    let mut types = |keys: &str, expected: &str| {
        let expected = format!("conversation> {expected}");
        chat.type_text(keys).wait_until(&expected, |screen| {
            screen.lines().last() == Some(&expected) && screen.matches("conversation>").count() == 1
        });
    };
    types("\x1b0f\"", "say \"hello you\" now");
    types("ci\"bye", "say \"bye\" now");
    types("\x1bhdaw", "say \"\" now");
    types("u", "say \"bye\" now");
    types("u", "say \"hello you\" now");
    types("0xp$x", "asy \"hello you\" no");
    types("uuu", "say \"hello you\" now");
    types("0daw", "\"hello you\" now");
    // A key with a purpose of its own gives an operator up.
    types("0d\x1b[Cw", "\"hello you\" now");
    // A count beyond all words ends where they do.
    types("9999d9999e", "\"");
}

/// A digit was a count, and the key behind it the one that was searched for.
#[test]
fn vi_keys_find_digits() {
    let server = listener();
    let home = with_vi_keys(&server);
    let mut chat = home.chat(&[]);
    chat.type_text("say 3 of 42 words")
        .wait_for("> say 3 of 42 words");
    chat.type_text("\x1b0f4x").wait_for("> say 3 of 2 words");
    chat.type_text("0t2x").wait_for("> say 3 of2 words");
}

/// `.` wrote what stood in the same place of the next line.
#[test]
fn vi_keys_repeat_what_was_typed_to_the_end_of_its_line() {
    let server = listener();
    let home = with_vi_keys(&server);
    let mut chat = home.chat(&[]);
    chat.type_text("one").wait_for("> one");
    chat.type_text("\x1b0cw/pin").wait_for("> /pin");
    chat.enter("").wait_for("No pins");
    chat.type_text("other words").wait_for("> other words");
    chat.type_text("\x1b0.").wait_for("> /pin words");
}
