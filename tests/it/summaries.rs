//! The rolling summary through the real program: when it is made, what it holds, and what its failures cost.

use cogtrix::testing::server::{Reply, Request, Script, Server, fail, say, silent};
use serde_json::Value;

use crate::support::home::Home;

fn is_summary(request: &Request) -> bool {
    request.message(-1).contains("running summary")
}

/// A server that answers talk with "Noted." and requests for a summary with what `summarise` makes of them.
fn server(mut summarise: impl FnMut(usize) -> Reply + Send + 'static) -> Server {
    let mut made = 0;
    Script::answering(move |request| {
        if is_summary(request) {
            made += 1;
            summarise(made)
        } else {
            say("Noted.")
        }
    })
    .serve()
}

fn numbered(n: usize) -> Reply {
    say(format!(
        "- Summary number {n} of what was said so far in this talk."
    ))
}

/// After which replies (counted from 1) a summary was asked for.
fn asked_after(server: &Server) -> Vec<usize> {
    let mut replies = 0;
    let mut asked = Vec::new();
    for chat in server.chats() {
        if is_summary(&chat) {
            asked.push(replies);
        } else {
            replies += 1;
        }
    }
    asked
}

fn hybrid(home: &Home, session: &str) -> Value {
    let file = home.history(&format!("{session}_hybrid.json"));
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn talk(home: &Home, session: &str, from: usize, to: usize) {
    let lines: Vec<String> = (from..=to).map(|n| format!("message number {n}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let run = home.lines(session, &lines);
    assert_eq!(run.code, Some(0), "{run}");
}

const FOREGROUND: &str = "memory: {background: false}";

#[test]
fn a_summary_is_made_when_ten_messages_have_left_the_window_and_stands_in_the_next_request() {
    for (mode, expected) in [
        ("conversation", [18, 23, 28]),
        ("code", [20, 25, 30]),
        ("reasoning", [20, 25, 30]),
    ] {
        let home = Home::new();
        let server = server(numbered);
        home.config(
            &server,
            &format!("memory: {{background: false, mode: {mode}}}"),
        );
        let last = expected[2];
        talk(&home, "w", 1, last);
        assert_eq!(asked_after(&server), expected, "{mode}");
        assert_eq!(hybrid(&home, "w")["summary_idx"], 30);
        let chats = server.chats();
        let (second, first) = {
            let asked: Vec<&Request> = chats.iter().filter(|chat| is_summary(chat)).collect();
            (asked[1].message(-1), asked[0].message(-1))
        };
        assert!(first.contains("message number 1\n") && !first.contains("message number 6\n"));
        assert!(second.contains("Summary number 1") && second.contains("message number 6\n"));
        assert!(!second.contains("message number 5\n") && !second.contains("message number 11\n"));

        talk(&home, "w", last + 1, last + 1);
        let resumed = server.chats().pop().unwrap();
        assert!(resumed.system().contains("Summary number 3"), "{mode}");
        assert_eq!(asked_after(&server).len(), 3, "resuming asks for nothing");
    }
}

#[test]
fn a_failed_summary_keeps_the_old_one_and_everything_uncovered_is_still_sent() {
    let home = Home::new();
    let server = server(|_| fail(500, "no"));
    home.config(&server, FOREGROUND);
    talk(&home, "w", 1, 19);
    let chats = server.chats();
    let last = chats.iter().rfind(|chat| !is_summary(chat)).unwrap();
    let body = last.body.to_string();
    for n in 1..=18 {
        assert!(
            body.contains(&format!("message number {n}\""))
                || body.contains(&format!("message number {n}\\")),
            "{n}"
        );
    }
}

#[test]
fn the_window_and_the_summary_hold_what_they_should() {
    let home = Home::new();
    let server = server(numbered);
    home.config(&server, FOREGROUND);
    talk(&home, "w", 1, 19);
    let last = server.chats().pop().unwrap();
    let body = last.body.to_string();
    assert!(last.system().contains("Summary number 1"));
    assert!(!body.contains("message number 5\""), "covered");
    assert!(body.contains("message number 6\""), "in the window");
}

#[test]
fn a_summariser_that_never_answers_delays_neither_the_prompt_nor_leaving() {
    let home = Home::new();
    let server = server(|_| silent());
    home.config(&server, "shutdown_grace: 10ms");
    let run = {
        talk(&home, "w", 1, 17);
        home.lines(
            "w",
            &[
                "message number 18",
                "message number 19",
                "message number 20",
            ],
        )
    };
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.stdout, "Noted.\nNoted.\nNoted.\n");
    let file = home.history("w_hybrid.json");
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    assert!(!kept.contains("summary_idx"), "{kept}");
}

#[test]
fn summaries_are_shown_listed_and_taken_back() {
    let home = Home::new();
    let server = server(numbered);
    home.config(&server, FOREGROUND);
    let run = home.lines("w", &["/summary", "/summary undo", "/summary nonsense"]);
    assert!(run.stdout.contains("No summary yet"), "{run}");
    assert!(run.stderr.contains("there is no summary to undo"), "{run}");
    assert!(run.stderr.contains("does not know \"nonsense\""), "{run}");
    talk(&home, "w", 1, 23);
    let run = home.lines(
        "w",
        &["/summary", "/summary history", "/summary undo", "/summary"],
    );
    let shown = &run.stdout;
    assert!(
        shown.contains("Stands for messages 1 to 20 (m1 to m20), made "),
        "{run}"
    );
    assert_eq!(shown.matches("Summary number 2").count(), 2, "{run}");
    assert!(shown.contains("Back to the summary of "), "{run}");
    assert_eq!(hybrid(&home, "w")["summary_idx"], 10);
}

#[test]
fn without_a_model_the_summary_is_made_of_what_was_said() {
    let home = Home::new();
    let lines: Vec<String> = (1..=19)
        .map(|n| format!("The harbour crane number {n} lifts {n}0 tons."))
        .collect();
    let args = ["-s", "w", "--lines"];
    let run = home.cogtrix(&args).stdin(lines.join("\n")).run();
    assert_eq!(run.code, Some(0), "{run}");
    let kept = hybrid(&home, "w");
    assert_eq!(kept["summary_by"], "offline/quotes");
    assert!(
        kept["summary"].as_str().unwrap().contains("crane number 1"),
        "{kept}"
    );
}

#[test]
fn a_summary_of_its_own_model_is_asked_for_there() {
    let home = Home::new();
    let talker = server(numbered);
    let own = Script::answering(|_| say("- The other model's summary of the talk so far.")).serve();
    let (here, there) = (talker.openai_url(), own.openai_url());
    let text = format!(
        "providers: {{here: {{type: openai, base_url: \"{here}\"}}, there: {{type: openai, base_url: \"{there}\"}}}}\n\
         memory: {{background: false, summarization_model: small}}\n\
         models: {{default: big, big: {{provider: here, model: large, context_window: 32768}}, small: {{provider: there, model: tiny}}}}\n"
    );
    home.write("test.yaml", text);
    talk(&home, "w", 1, 18);
    assert_eq!(own.chats().len(), 1);
    assert_eq!(asked_after(&talker), Vec::<usize>::new());
    assert_eq!(hybrid(&home, "w")["summary_by"], "there/tiny");
}
