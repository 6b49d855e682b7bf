//! What an input, a server or a small machine may cost: memory, time, open files. A limit is set on the process, which
//! does its work within it or says what it wants for.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use cogtrix::testing::server::{Reply, Script, Server, raw, say};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::run::Run;

const MEBIBYTE: usize = 1 << 20;

/// A server whose only page is this.
fn site(content_type: &str, page: Vec<u8>) -> Server {
    Script::new([])
        .route("/page", raw(200, content_type, [page]))
        .serve()
}

#[test]
fn a_page_made_to_be_costly_is_read_in_bounded_memory() {
    let words = "<b>x</b>".repeat(MEBIBYTE / 8);
    let table = format!("<table>{}", "<td>x</td>".repeat(50_000));
    let pages = [
        site("text/html", words.into_bytes()),
        site("text/html", table.into_bytes()),
        site("text/html; charset=gbk", vec![0xff; MEBIBYTE]),
    ];
    let calls = pages.iter().map(|page| {
        let url = format!("{}/page", page.url());
        say("").calling("c", "fetch_url", json!({"url": url}))
    });
    let server = Server::start(calls.chain([say("Read.")]).collect::<Vec<_>>());
    let home = Home::new();
    home.config(
        &server,
        "tools: {fetch: {allow_private: true, timeout: 10min}}",
    );
    let run = home
        .cogtrix(&["-c", "test.yaml", "-y", "-p", "read them"])
        .args(["--tools", "fetch_url"])
        // Of data, in KiB.
        .limited("-d 200000")
        .run();
    assert_eq!(
        (run.stdout.as_str(), run.code),
        ("Read.\n", Some(0)),
        "{run}"
    );
    let chats = server.chats();
    for result in [
        chats[1].message(-1),
        chats[2].message(-1),
        chats[3].message(-1),
    ] {
        let head: String = result.chars().take(200).collect();
        assert!(head.contains("status: 200 OK"), "{head}");
    }
}

/// A model's server that begins a reply and goes on with nothing but signs of life.
fn dripping() -> String {
    fn drip(mut stream: TcpStream) -> std::io::Result<()> {
        let mut request = BufReader::new(stream.try_clone()?);
        let (mut line, mut length) = (String::new(), 0);
        while request.read_line(&mut line)? > 2 {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        request.read_exact(&mut vec![0; length])?;
        let begun = json!({"choices": [{"delta": {"content": "Once upon"}}]});
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {begun}\n\n"
        )?;
        loop {
            stream.write_all(b": still there\n\n")?;
            // What makes it a drip and no flood.
            thread::park_timeout(Duration::from_millis(20));
        }
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || drip(stream.unwrap()));
        }
    });
    url
}

#[test]
fn a_server_that_drips_is_given_up_and_what_arrived_is_kept() {
    let home = Home::new();
    home.config_of("openai", &dripping(), "");
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "--timeout", "3s", "-p", "hi"])
        .run();
    assert_eq!(run.code, Some(1), "{run}");
    assert_eq!(run.stdout, "Once upon\n");
    let expected = "error: no complete reply after 3s (--timeout) (the partial reply is kept)\n\
        hint: wait longer with `--timeout 2h`, or without limit with `--timeout 0s`\n";
    assert_eq!(run.stderr, expected);
    let said = home.said("s");
    assert!(
        said[1].ends_with("Once upon\n[reply cut: interrupted]"),
        "{said:?}"
    );
}

#[test]
fn a_reply_in_json_tells_that_it_took_too_long() {
    let home = Home::new();
    home.config_of("openai", &dripping(), "");
    let run = home
        .cogtrix(&["-c", "test.yaml", "--timeout", "1s", "--json", "-p", "hi"])
        .run();
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        told["error"]["message"],
        "no complete reply after 1s (--timeout)"
    );
    assert_eq!(told["outcome"], "interrupted");
    assert_eq!(run.code, Some(1));
}

#[test]
fn in_a_chat_each_reply_may_take_as_long() {
    let home = Home::new();
    home.config_of("openai", &dripping(), "");
    let run = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "--timeout", "1s", "--lines"])
        .stdin("one\ntwo\n")
        .run();
    let late = run.stderr.matches("no complete reply after 1s");
    assert_eq!((late.count(), run.code), (2, Some(1)), "{run}");
    assert_eq!(home.said("s").len(), 4);
}

#[test]
fn a_tool_counts_for_the_time_of_a_run() {
    let home = Home::new();
    let call = say("").calling(
        "c",
        "shell",
        json!({"command": "sleep 1000", "timeout_s": 500}),
    );
    let server = Server::start([call]);
    home.config(&server, "");
    let run = home
        .cogtrix(&[
            "-c",
            "test.yaml",
            "-s",
            "s",
            "--timeout",
            "3s",
            "-y",
            "--sandbox",
            "off",
        ])
        .args(["--tools", "shell", "-p", "wait"])
        .run();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("no complete reply after 3s"), "{run}");
    assert!(home.said("s").join("\n").contains("[interrupted]"));
}

#[test]
fn a_timeout_that_is_none_is_refused_with_an_example() {
    let home = Home::new();
    let run = home.cogtrix(&["--timeout", "soon", "-p", "hi"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    let expected = "--timeout: expected a duration such as 10s or 5min, found \"soon\"";
    assert!(run.stderr.contains(expected), "{run}");
}

#[test]
fn too_many_calls_end_the_turn_and_lose_nothing_of_the_session() {
    for kind in ["openai", "ollama", "anthropic"] {
        let home = Home::new();
        let call = |reply: Reply, n: usize| {
            reply.calling(&format!("c{n}"), "list_directory", json!({"path": "."}))
        };
        let many = (0..101).fold(say("Looking."), call);
        let server = Server::start([many, say("Fine.")]);
        let url = if kind == "openai" {
            server.openai_url()
        } else {
            server.url()
        };
        home.config_of(kind, &url, "");
        let run = home.ask("s", "look everywhere");
        assert_eq!(run.code, Some(1), "{kind}: {run}");
        let expected = "a reply with more than 100 tool calls";
        assert!(run.stderr.contains(expected), "{kind}: {run}");
        assert_eq!(home.ask("s", "go on").stdout, "Fine.\n", "{kind}");
        let said = home.said("s");
        assert_eq!(said.len(), 4, "{kind}: {said:?}");
        assert!(said[0].ends_with("look everywhere"), "{kind}: {said:?}");
        assert!(
            said[1].starts_with("assistant: Looking."),
            "{kind}: {said:?}"
        );
    }
}

#[test]
fn arguments_without_an_end_end_the_turn_and_lose_nothing_of_the_session() {
    let home = Home::new();
    let content = json!({"path": "large", "content": "x".repeat(5 << 20)});
    let call =
        |reply: Reply, n: usize| reply.calling(&format!("c{n}"), "write_file", content.clone());
    let large = (0..7).fold(say("Writing."), call);
    let server = Server::start([large, say("Fine.")]);
    // The one format in which arguments come in one piece.
    home.config_of("ollama", &server.url(), "");
    let run = home.ask("s", "write a lot");
    assert_eq!(run.code, Some(1), "{run}");
    let expected = "a reply of more than 32 MiB";
    assert!(run.stderr.contains(expected), "{run}");
    assert!(!home.work().join("large").exists());
    assert_eq!(home.ask("s", "go on").stdout, "Fine.\n");
    let said = home.said("s");
    assert!(
        said[0].ends_with("write a lot") && said.len() == 4,
        "{said:?}"
    );
}

#[test]
fn devices_and_pipes_are_no_files_to_import() {
    let home = Home::new();
    let pipe = home.work().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for arguments in [
        &["memory", "import"][..],
        &["memory", "import", "--format", "entries"],
        &["memory", "search", "--batch"],
    ] {
        for path in ["/dev/zero", "pipe", "."] {
            let run = home.cogtrix(arguments).args([path]).run();
            let expected = format!("error: cannot read {path}: it is not a regular file\n");
            assert_eq!((run.stderr, run.code), (expected, Some(1)), "{arguments:?}");
        }
    }
    let run = home.cogtrix(&["memory", "import", "-"]).run();
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn inputs_without_an_end_are_cut_off_with_an_error() {
    let home = Home::new();
    for arguments in [
        &["--prompt-file", "/dev/zero"][..],
        &["-c", "/dev/zero", "-p", "hi"],
    ] {
        let run = home.cogtrix(arguments).limited("-d 400000").run();
        assert_eq!(run.code, Some(2), "{arguments:?}: {run}");
        assert!(run.stderr.contains("larger than"), "{arguments:?}: {run}");
    }
}

#[test]
fn too_few_open_files_are_an_error_with_a_hint_and_no_crash() {
    let home = Home::new();
    let server = Script::answering(|_| say("Hello.")).serve();
    home.config(&server, "");
    for limit in [4, 6, 7, 9, 12, 20, 34, 40] {
        let run = |arguments: &[&str]| -> Run {
            home.cogtrix(arguments)
                .stdin("hi\n")
                .limited(&format!("-n {limit}"))
                .run()
        };
        assert_eq!(run(&["--version"]).code, Some(0), "{limit}");
        for arguments in [
            &["-c", "test.yaml", "-p", "hi"][..],
            &["-c", "test.yaml", "--lines"],
            &["-c", "test.yaml", "doctor"],
            &["-c", "test.yaml", "sessions"],
        ] {
            let run = run(arguments);
            let is_told = run
                .stderr
                .contains("hint: raise the limit on open files with `ulimit -n");
            assert_eq!(is_told, limit < 35, "{limit} {arguments:?}: {run}");
            assert!(
                matches!(run.code, Some(0 | 1)),
                "{limit} {arguments:?}: {run}"
            );
            assert!(
                !run.stderr.contains("panicked"),
                "{limit} {arguments:?}: {run}"
            );
        }
    }
    let run = home.cogtrix(&["-c", "test.yaml", "-p", "hi"]);
    assert_eq!(run.limited("-n 40").run().stdout, "Hello.\n");
}

#[test]
fn what_is_written_for_a_person_is_theirs_alone_unless_the_file_was_there() {
    let home = Home::new();
    let server = Script::answering(|_| say("Hello.")).serve();
    home.config(&server, "");
    let there = home.write("there.txt", "old");
    std::fs::set_permissions(&there, std::fs::Permissions::from_mode(0o644)).unwrap();
    for file in ["new.txt", "there.txt"] {
        let run = home
            .cogtrix(&["-c", "test.yaml", "-s", "s", "-p", "hi", "-o", file])
            .run();
        assert_eq!(run.code, Some(0), "{run}");
    }
    home.lines("s", &["/export md out.md", "/export json out.json"]);
    home.cogtrix(&["memory", "export", "kept.jsonl"]).run();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    for file in ["new.txt", "out.md", "out.json", "kept.jsonl"] {
        assert_eq!(mode(&home.work().join(file)), 0o600, "{file}");
    }
    assert_eq!(mode(&there), 0o644);
}
