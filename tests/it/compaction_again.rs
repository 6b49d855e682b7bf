//! How often a compaction is made, and that none is made for nothing: cool-downs, answers that were had, targets that
//! cannot be reached, what the server counts before and after.

use cogtrix::testing::server::{Reply, Request, Script, Server, fail, say, silent};
use serde_json::Value;

use crate::support::asked_before;
use crate::support::home::Home;
use crate::support::run::Run;

const SUMMARY: &str = "- They count messages, one after the other; the rotation is on Fridays.";
const FOREGROUND: &str = "memory: {background: false}\ntools: {preset: none}";

fn is_summary(request: &Request) -> bool {
    let asked = request.message(-1);
    asked.contains("Write a summary of the conversation") || asked.contains("Below are summaries")
}

/// Answers talk with so many words, and requests for a summary with what `summary` makes of their number, from 1.
fn server(words: usize, mut summary: impl FnMut(usize) -> Reply + Send + 'static) -> Server {
    let mut summaries = 0;
    Script::answering(move |request| {
        if is_summary(request) {
            summaries += 1;
            summary(summaries)
        } else {
            say("tide ".repeat(words)).without_usage()
        }
    })
    .serve()
}

fn summaries(server: &Server) -> usize {
    server
        .chats()
        .iter()
        .filter(|chat| is_summary(chat))
        .count()
}

/// A model with such a window, and so many turns of about 110 tokens each way.
fn talk(server: &Server, home: &Home, context: &str, window: u32, turns: usize) -> Run {
    let models = format!(
        "models: {{default: it, it: {{provider: there, model: scripted, context_window: {window}, max_tokens: 300}}}}"
    );
    let config = format!("{FOREGROUND}\ncontext: {{{context}}}\n{models}");
    home.config(server, &config);
    let lines: Vec<String> = (1..=turns)
        .map(|n| format!("Message number {n}. {}", "The tide is high. ".repeat(24)))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    home.lines("s", &lines)
}

#[test]
fn a_guard_that_cannot_reach_its_target_rests_for_ten_messages_and_says_so_once() {
    // Once, one of these made a summary before every second turn, and warned each time.
    for layout in ["classic", "cache-friendly"] {
        let home = Home::new();
        let server = server(90, |_| say("The tide is high, and so on. ".repeat(60)));
        let context = format!("strategy: full, guards: [threshold], layout: {layout}");
        let run = talk(&server, &home, &context, 1_800, 30);
        assert_eq!(run.code, Some(0), "{run}");
        let mut asked = asked_before(&server, is_summary);
        // One compaction may take several requests.
        asked.dedup();
        assert!(!asked.is_empty(), "{run}");
        for pair in asked.windows(2) {
            assert!(pair[1] - pair[0] >= 5, "{layout}: {asked:?}");
        }
        let told = run.stderr.matches("after compaction (target").count();
        assert!(told <= 1, "{run}");
    }
}

#[test]
fn a_guard_that_reaches_its_target_does_not_come_two_turns_in_a_row() {
    for guard in ["threshold", "proactive"] {
        let home = Home::new();
        let server = server(90, |_| say(SUMMARY));
        let context = format!("strategy: full, guards: [{guard}], proactive_summary: true");
        let run = talk(&server, &home, &context, 3_000, 40);
        let asked = asked_before(&server, is_summary);
        assert!(asked.len() > 2, "{guard}: {run}");
        for pair in asked.windows(2) {
            assert!(pair[1] - pair[0] >= 2, "{guard}: {asked:?}");
        }
    }
}

#[test]
fn turns_that_were_taken_back_bring_no_compaction_nearer() {
    let home = Home::new();
    let server = server(5, |_| say(SUMMARY));
    let config = format!("{FOREGROUND}\ncontext: {{strategy: window, guards: []}}");
    home.config(&server, &config);
    let lines: Vec<String> = (1..=21).map(|n| format!("message number {n}")).collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.extend(["/retry"; 12]);
    let run = home.lines("s", &lines);
    assert_eq!(summaries(&server), 1, "{run}");
}

#[test]
fn what_was_summarised_is_not_asked_for_again_when_the_disk_refused_it_or_it_was_undone() {
    let home = Home::new();
    let server = server(60, |_| say(SUMMARY));
    home.config(&server, "");
    let mut running = home
        .cogtrix(&["-c", "test.yaml", "-s", "s", "--lines"])
        .open_stdin()
        .start();
    for n in 1..=4 {
        running.say(&format!("message number {n}"));
        server.wait_for_chats(n);
    }
    running.say("/memory");
    running.wait_for("conversation");
    // A folder stands where the file is to be.
    std::fs::create_dir(home.history("s_hybrid.json")).unwrap();
    running.say("/compact");
    running.wait_for("Compacted: ");
    running.wait_for("NOT SAVED");
    running.say("/compact");
    running.wait_for_notice("nothing to compact");
    std::fs::remove_dir(home.history("s_hybrid.json")).unwrap();
    running.say("/compact undo");
    running.wait_for("undone");
    running.say("/compact");
    running.wait_for_times("Compacted: ", 2);
    let run = running.wait();
    assert_eq!(summaries(&server), 1, "{run}");
    let file = std::fs::read(home.history("s_hybrid.json")).unwrap();
    let hybrid: Value = serde_json::from_slice(&file).unwrap();
    assert!(
        hybrid["compaction"]["text"]
            .as_str()
            .unwrap()
            .contains("Fridays")
    );
}

#[test]
fn after_an_undo_no_compaction_comes_until_a_tenth_of_the_window_was_said() {
    // Once, the guard came again before the very next request, so that the undo was for nothing.
    for context in [
        "strategy: full, guards: [threshold]",
        "strategy: full, guards: [proactive], proactive_summary: true",
        "strategy: window, max_history_messages: 14, guards: []",
    ] {
        let home = Home::new();
        let server = server(90, |_| say(SUMMARY));
        // A tenth of it takes two turns, which the window has no room for beside all before them.
        let run = talk(&server, &home, context, 3_000, 14);
        let made = asked_before(&server, is_summary).len();
        assert!(made > 0, "{context}: {run}");
        let undo = ["/compact undo"];
        let run = home.lines("s", &undo);
        let told = "No automatic one until another tenth of the window fills";
        assert_eq!(run.stdout.matches(told).count(), 1, "{context}: {run}");
        let said = format!("And then. {}", "The tide is high. ".repeat(24));
        let run = home.lines("s", &[&said]);
        assert_eq!(run.code, Some(0), "{context}: {run}");
        assert_eq!(
            asked_before(&server, is_summary).len(),
            made,
            "{context}: {run}"
        );
        home.lines("s", &[&said, &said, &said]);
        assert!(asked_before(&server, is_summary).len() > made, "{context}");
        assert!(server.violations().is_empty(), "{:?}", server.violations());
    }
}

#[test]
fn a_compaction_in_the_background_is_given_up_for_one_that_is_asked_for_and_that_is_told() {
    for (asked, told) in [
        (
            "/compact",
            "Cancelled the background compaction in favour of this one",
        ),
        (
            "/compact the dates",
            "Cancelled the background compaction; it restarts after the next turn if due",
        ),
    ] {
        let home = Home::new();
        let server = server(90, move |n| match n {
            1 => silent(),
            _ if told.contains("next turn") => fail(500, "no"),
            _ => say(SUMMARY),
        });
        let models = "models: {default: it, it: {provider: there, model: scripted, context_window: 3000, max_tokens: 300}}";
        let config = format!(
            "tools: {{preset: none}}\ncontext: {{strategy: full, guards: [threshold]}}\n{models}"
        );
        home.config(&server, &config);
        let args = ["-c", "test.yaml", "-s", "s", "--lines"];
        let mut run = home.cogtrix(&args).open_stdin().start();
        for n in 1..=9 {
            let tides = "The tide is high. ".repeat(24);
            run.say(&format!("Message number {n}. {tides}"));
            server.wait_for_chats(n);
        }
        // Begun behind the ninth turn; nobody answers it.
        server.wait_for_chats(10);
        run.say(asked);
        run.wait_for_notice(told);
        let run = run.wait();
        assert!(
            run.stderr.contains("Cancelled the background compaction"),
            "{run}"
        );
        assert_eq!(
            run.stdout.contains("Compacted: "),
            asked == "/compact",
            "{run}"
        );
    }
}

#[test]
fn after_a_step_that_failed_the_steps_before_it_are_not_asked_for_again() {
    let home = Home::new();
    let server = server(150, |n| {
        if n == 2 {
            fail(500, "no")
        } else {
            say(SUMMARY)
        }
    });
    talk(&server, &home, "strategy: full, guards: []", 3_000, 12);
    let run = home.lines("s", &["/compact", "/compact"]);
    assert!(run.stderr.contains("not compacted: "), "{run}");
    assert!(run.stdout.contains("Compacted: "), "{run}");
    let asked: Vec<String> = server
        .chats()
        .iter()
        .filter(|chat| is_summary(chat))
        .map(|chat| chat.message(-1))
        .collect();
    assert!(asked.len() >= 3, "{} requests", asked.len());
    let firsts = asked
        .iter()
        .filter(|asked| asked.contains("Message number 1."));
    assert_eq!(firsts.count(), 1, "the first step was had already");
}

#[test]
fn a_summary_that_was_refused_is_asked_for_anew_in_the_background_too() {
    // Once, the refused text of a background compaction came back from the kept answers until the next run.
    let home = Home::new();
    let bad = "The tide is high, and so on. ".repeat(800);
    let server = server(90, move |n| {
        if n == 1 {
            say(bad.clone())
        } else {
            say(SUMMARY)
        }
    });
    let context = "strategy: full, guards: [threshold]";
    let run = talk(&server, &home, context, 3_000, 14);
    assert!(summaries(&server) >= 2, "{run}");
    let file = std::fs::read(home.history("s_hybrid.json")).unwrap();
    let hybrid: Value = serde_json::from_slice(&file).unwrap();
    assert!(
        hybrid["compaction"]["text"]
            .as_str()
            .unwrap()
            .contains("Fridays"),
        "{run}"
    );
}

#[test]
fn what_the_server_counted_before_a_compaction_says_nothing_of_what_is_sent_after_it() {
    // The count of 90 % is of the list before; with it, a compaction would come again as soon as it may.
    let home = Home::new();
    let mut replies = 0;
    let server = Script::answering(move |request| {
        if is_summary(request) {
            return say(SUMMARY);
        }
        replies += 1;
        let reply = say("The tide is high. ".repeat(77));
        if replies == 8 {
            reply.usage(7_200, 100)
        } else {
            reply.without_usage()
        }
    })
    .serve();
    let run = talk(
        &server,
        &home,
        "strategy: full, guards: [threshold]",
        8_000,
        10,
    );
    assert_eq!(asked_before(&server, is_summary), [9], "{run}");
    let shown = home.lines("s", &["/context"]);
    assert!(!shown.stdout.contains("near the limit"), "{shown}");
}

#[test]
fn context_tells_of_the_next_request_once_messages_were_compacted() {
    let home = Home::new();
    let server = server(150, |_| say(SUMMARY));
    home.config(&server, "tools: {preset: none}");
    let lines = [
        "one",
        "two",
        "three",
        "four",
        "/compact",
        "/context",
        "/context proof",
        "five",
        "/context",
    ];
    let run = home.lines("s", &lines);
    let ahead = "Compacted since the last request; the next one would contain:";
    assert_eq!(run.stdout.matches(ahead).count(), 1, "{run}");
    let shown = &run.stdout[run.stdout.find(ahead).unwrap()..];
    let shown = &shown[..shown.find("as of the next one:").unwrap()];
    assert!(
        shown.contains("summarises 8 messages") && shown.contains("of 33k tokens"),
        "{shown}"
    );
    assert!(run.stdout.contains("all within reach"), "{run}");
}

#[test]
fn tools_are_counted_among_what_fills_the_window() {
    // The same talk: with the schemas of the tools it fills the window to where a guard is due, without them it does
    // not.
    let mut asked = Vec::new();
    for preset in ["none", "all"] {
        let home = Home::new();
        let server = server(90, |_| say(SUMMARY));
        let config = format!(
            "memory: {{background: false, mode: code}}\ntools: {{preset: {preset}}}\n\
             context: {{strategy: full, guards: [threshold]}}\n\
             models: {{default: it, it: {{provider: there, model: scripted, context_window: 5000, max_tokens: 300}}}}"
        );
        home.config(&server, &config);
        let lines: Vec<String> = (1..=11)
            .map(|n| format!("Message number {n}. {}", "The tide is high. ".repeat(24)))
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let run = home.lines("s", &lines);
        assert_eq!(run.code, Some(0), "{run}");
        asked.push(summaries(&server));
    }
    assert_eq!(asked[0], 0);
    assert!(asked[1] > 0, "{asked:?}");
}

#[test]
fn a_window_or_prefix_larger_than_the_model_that_summarises_is_summarised_in_steps() {
    for strategy in ["window", "prefix"] {
        let home = Home::new();
        let server = Script::answering(move |request| {
            let asked = request.message(-1);
            if request.body["model"] == "small" {
                assert!(asked.len() / 4 < 2_048, "{} tokens", asked.len() / 4);
                say(SUMMARY)
            } else {
                say("tide ".repeat(120)).without_usage()
            }
        })
        .serve();
        let config = format!(
            "memory: {{background: false, summarization_model: small}}\ntools: {{preset: none}}\n\
             context: {{strategy: {strategy}, guards: []}}\n\
             models: {{default: it, it: {{provider: there, model: scripted, context_window: 32768}}, \
             small: {{provider: there, model: small, context_window: 2048, max_tokens: 500}}}}"
        );
        home.config(&server, &config);
        let lines: Vec<String> = (1..=22)
            .map(|n| format!("Message number {n}. {}", "The tide is high. ".repeat(24)))
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let run = home.lines("s", &lines);
        let small = server
            .chats()
            .iter()
            .filter(|chat| chat.body["model"] == "small")
            .count();
        assert!(small > 2, "{strategy}: {small} requests; {run}");
        assert!(!run.stderr.contains("could not summarise"), "{run}");
        assert!(server.violations().is_empty(), "{:?}", server.violations());
        let file = std::fs::read(home.history("s_hybrid.json")).unwrap();
        let hybrid: Value = serde_json::from_slice(&file).unwrap();
        assert_eq!(hybrid["compaction"]["strategy"], strategy);
    }
}

#[test]
fn a_model_that_writes_none_of_the_first_parts_is_not_asked_for_all_of_them() {
    let home = Home::new();
    let server = server(5, |_| fail(500, "no"));
    home.config(&server, "context: {strategy: full, guards: []}");
    let lines: Vec<String> = (1..=130).map(|n| format!("message number {n}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    home.lines("s", &lines);
    let run = home.lines("s", &["/compact threshold"]);
    assert!(run.stderr.contains("not compacted: "), "{run}");
    let asked = summaries(&server);
    assert!((3..=6).contains(&asked), "{asked} of ten parts");
}
