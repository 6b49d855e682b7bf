//! Files that are damaged and servers that talk nonsense: a clear word, nothing lost, and it goes on
//! (C76, E16, E17, A12).

use cogtrix::testing::server::{Reply, Script, Server, fail, hang_up, raw, say};

use crate::support::home::Home;

fn chatty() -> Server {
    Script::answering(|_| say("Noted.")).serve()
}

/// A home with a session of two turns.
fn begun(server: &Server) -> Home {
    let home = Home::new();
    home.config(server, "");
    home.ask("s", "the first question");
    home.ask("s", "the second question");
    home
}

#[test]
fn a_damaged_history_is_set_aside_and_what_can_be_read_is_recovered() {
    type Damage = fn(&[u8]) -> Vec<u8>;
    let damages: [(&str, Damage); 5] = [
        ("empty", |_| Vec::new()),
        ("torn", |bytes| bytes[..bytes.len() * 4 / 5].to_vec()),
        ("binary", |_| (0..=255).cycle().take(2_000).collect()),
        ("another type", |_| b"\"just a string\"".to_vec()),
        ("garbled in the middle", |bytes| {
            let mut bytes = bytes.to_vec();
            let middle = bytes.len() / 2;
            bytes[middle..middle + 4].copy_from_slice(b"\0\xff{{");
            bytes
        }),
    ];
    for (what, damage) in damages {
        let server = chatty();
        let home = begun(&server);
        let file = home.history("s.json");
        let bytes = std::fs::read(&file).unwrap();
        home.write(&file, damage(&bytes));
        let run = home.ask("s", "are you there?");
        assert_eq!(run.code, Some(0), "{what}: {run}");
        assert!(run.stderr.contains("damaged"), "{what}: {run}");
        let kept = std::fs::read_dir(home.data().join("history")).unwrap();
        let aside = kept.filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .contains(".damaged-")
        });
        assert_eq!(aside.count(), 1, "{what}: the damaged file is kept");
        let said = home.said("s");
        assert!(
            said.iter().any(|line| line.contains("are you there?")),
            "{what}: {said:?}"
        );
        if what == "torn" {
            assert!(said[0].contains("the first question"), "{said:?}");
        }
        assert_eq!(home.ask("s", "and now?").stderr, "", "{what}: said once");
    }
}

#[test]
fn a_file_of_a_newer_version_is_refused_and_left_alone() {
    let server = chatty();
    let home = begun(&server);
    let newer = r#"{"version": 99, "meta": {}, "messages": []}"#;
    home.write(home.history("s.json"), newer);
    let run = home.ask("s", "hi");
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("version 99"), "{run}");
    assert_eq!(
        std::fs::read_to_string(home.history("s.json")).unwrap(),
        newer
    );
}

#[test]
fn damaged_side_files_and_journals_cost_only_themselves() {
    for (file, bytes) in [
        (
            "s_mode_state.json",
            &b"{\"version\": 1, \"modes\": [1, 2"[..],
        ),
        ("s_hybrid.json", b"\0\0\0"),
        ("s.journal.jsonl", b"{\"seq\": 99, garbage\n\xff\xfe\n"),
    ] {
        let server = chatty();
        let home = begun(&server);
        home.write(home.history(file), bytes);
        let run = home.ask("s", "still there?");
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (Some(0), "Noted.\n"),
            "{file}: {run}"
        );
        assert!(run.stderr.contains(file), "{file}: {run}");
        assert_eq!(home.said("s").len(), 6, "{file}");
    }
}

#[test]
fn a_folder_in_the_place_of_a_file_is_a_clear_error_and_other_sessions_go_on() {
    let server = chatty();
    let home = begun(&server);
    std::fs::create_dir_all(home.history("d.json")).unwrap();
    let run = home.ask("d", "hi");
    assert!(run.stderr.contains("d.json"), "{run}");
    assert_eq!(home.ask("s", "hi").code, Some(0));
    assert_eq!(home.cogtrix(&["sessions"]).run().code, Some(0));
}

#[test]
fn servers_that_talk_nonsense_get_one_clear_error_and_the_session_goes_on() {
    type Nonsense = fn() -> Reply;
    let cases: [(&str, Nonsense); 8] = [
        ("a page", || {
            raw(200, "text/html", ["<html><body>Welcome</body></html>"])
        }),
        ("an error page", || {
            raw(502, "text/html", ["<html>Bad Gateway</html>"])
        }),
        ("an empty body", || raw(200, "text/event-stream", [""])),
        ("invalid JSON", || {
            raw(200, "text/event-stream", ["data: {\"choices\": [\n\n"])
        }),
        ("invalid UTF-8", || {
            raw(200, "text/event-stream", [&b"data: \xff\xfe\n\n"[..]])
        }),
        ("an early end", || {
            say("Half a reply")
                .pieces(["Half", " a reply"])
                .end_after(1)
        }),
        ("plain text", || {
            raw(404, "text/plain", ["404 page not found"])
        }),
        ("nothing", hang_up),
    ];
    for (what, reply) in cases {
        let home = Home::new();
        let server = Server::start([reply(), say("Better.")]);
        home.config(&server, "");
        let run = home.lines("s", &["hello", "/retry"]);
        let errors = run
            .stderr
            .lines()
            .filter(|line| line.starts_with("error: "))
            .count();
        assert_eq!(errors, 1, "{what}: {run}");
        assert!(run.stdout.ends_with("Better.\n"), "{what}: {run}");
        assert!(home.said("s").last().unwrap().contains("Better."), "{what}");
    }
}

#[test]
fn a_closed_port_is_one_error_and_quit_is_well() {
    let home = Home::new();
    home.config_of("openai", "http://127.0.0.1:9/v1", "");
    let run = home.lines("s", &["hello", "/quit"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stderr.contains("cannot reach http://127.0.0.1:9/v1"),
        "{run}"
    );
    let said = home.said("s");
    assert!(
        said[0].contains("hello") && said[1].contains("[no reply: "),
        "{said:?}"
    );
}

#[test]
fn errors_of_the_vendors_are_quoted_with_a_remedy() {
    for (status, message, expected) in [
        (401, "Incorrect API key", "key"),
        (403, "not allowed", "key"),
        (404, "model not found", "it has: "),
        (429, "slow down", "wait"),
    ] {
        let home = Home::new();
        let server = Server::start([fail(status, message)]);
        home.config(&server, "");
        let run = home.ask("s", "hi");
        assert!(
            run.stderr.contains(message) && run.stderr.contains(expected),
            "{status}: {run}"
        );
    }
}

#[test]
fn an_enormous_prompt_is_sent_in_part_and_kept_whole() {
    let home = Home::new();
    let server = chatty();
    home.config(&server, "");
    let enormous = "a long line of words, ".repeat(400_000);
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s"])
        .stdin(enormous.as_str())
        .run();
    assert_eq!(run.code, Some(0), "{}", &run.stderr);
    assert!(run.stderr.contains("were not sent"), "{}", run.stderr);
    assert!(server.chats()[0].message(-1).contains("[…truncated…]"));
    assert!(home.said("s")[0].len() > 8_000_000);
}
