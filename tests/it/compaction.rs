//! Strategies and guards through the real program: when a text takes the place of messages, what stays beside it, and
//! what becomes of it when the model that writes it does not (E7, 2.2).

use cogtrix::testing::server::{Reply, Request, Script, Server, fail, say};
use serde_json::{Value, json};

use crate::support::asked_before;
use crate::support::home::Home;
use crate::support::is_summary;
use crate::support::run::Run;

const SUMMARY: &str = "- They count messages, one after the other; the rotation is on Fridays.";

/// Answers talk with what `reply` makes of its number, from 1, and requests for a summary with what `summary` does.
fn server(
    mut reply: impl FnMut(usize) -> Reply + Send + 'static,
    mut summary: impl FnMut(usize) -> Reply + Send + 'static,
) -> Server {
    let (mut replies, mut summaries) = (0, 0);
    Script::answering(move |request| {
        if is_summary(request) {
            summaries += 1;
            summary(summaries)
        } else {
            replies += 1;
            reply(replies)
        }
    })
    .serve()
}

fn noted(_: usize) -> Reply {
    say("Noted.")
}

fn summarised(_: usize) -> Reply {
    say(SUMMARY)
}

fn talk(home: &Home, from: usize, to: usize) -> Run {
    let lines: Vec<String> = (from..=to).map(|n| format!("message number {n}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    home.lines("s", &lines)
}

/// The request of a turn, counted from 1.
fn request(server: &Server, turn: usize) -> Request {
    let chats = server.chats().into_iter();
    let mut talk = chats.filter(|chat| !is_summary(chat));
    talk.nth(turn - 1).unwrap()
}

fn messages(request: &Request) -> Vec<String> {
    let messages = request.body["messages"].as_array().unwrap();
    (0..messages.len().cast_signed())
        .filter(|n| messages[n.unsigned_abs()]["role"] != "system")
        .map(|n| request.message(n))
        .collect()
}

fn hybrid(home: &Home) -> Value {
    let file = std::fs::read(home.history("s_hybrid.json")).unwrap();
    serde_json::from_slice(&file).unwrap()
}

const FOREGROUND: &str = "memory: {background: false}";

#[test]
fn the_window_strategy_summarises_the_middle_above_forty_messages() {
    let home = Home::new();
    let server = server(noted, summarised);
    home.config(
        &server,
        &format!("{FOREGROUND}\ncontext: {{strategy: window, guards: []}}"),
    );
    let run = talk(&home, 1, 40);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(asked_before(&server, is_summary), [21, 30, 39]);
    let told = "18 older messages replaced by a summary · /compact undo";
    assert!(run.stderr.contains(told), "{run}");
    assert_eq!(
        run.stderr.matches("older messages replaced by").count(),
        3,
        "{run}"
    );
    assert_eq!(messages(&request(&server, 20)).len(), 39);
    // Head, marker and 20 messages with the input, the first of them moved back to its turn's user message; marker and
    // user message are one message to the server.
    let sent = messages(&request(&server, 21));
    assert_eq!(sent.len(), 2 + 21);
    assert!(sent[0].contains("message number 1"));
    assert!(sent[2].contains("[Summary of 18 earlier messages]") && sent[2].contains(SUMMARY));
    assert!(sent[2].contains("message number 11"), "{}", sent[2]);
    assert!(sent.last().unwrap().contains("message number 21"));
    assert!(messages(&request(&server, 30))[2].contains("[Summary of 36 earlier messages]"));
    assert_eq!(home.snapshot("s")["messages"].as_array().unwrap().len(), 80);
    // What is summarised is what is gone, the old summary in the place of what it stands for.
    let chats = server.chats();
    let asked: Vec<String> = chats
        .iter()
        .filter(|chat| is_summary(chat))
        .map(|chat| chat.message(-1))
        .collect();
    assert!(asked[0].contains("message number 2\n") && asked[0].contains("message number 10\n"));
    assert!(!asked[0].contains("message number 1\n") && !asked[0].contains("number 11\n"));
    assert!(asked[1].contains(SUMMARY) && asked[1].contains("message number 11\n"));
    assert!(!asked[1].contains("message number 10\n"));
}

#[test]
fn a_window_of_no_messages_never_summarises() {
    let home = Home::new();
    let server = server(noted, summarised);
    home.config(
        &server,
        "context: {strategy: window, guards: [], max_history_messages: 0}",
    );
    talk(&home, 1, 30);
    assert!(asked_before(&server, is_summary).is_empty());
    assert_eq!(messages(&request(&server, 30)).len(), 59);
}

#[test]
fn a_window_without_a_summary_says_how_many_are_left_out_and_the_turn_goes_on() {
    let home = Home::new();
    let server = server(noted, |_| fail(500, "overloaded"));
    home.config(&server, "context: {strategy: window, guards: []}");
    let run = talk(&home, 1, 30);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        asked_before(&server, is_summary),
        [21, 30],
        "a failure brings no storm of requests"
    );
    let sent = messages(&request(&server, 21));
    assert!(sent[2].contains("[Left out: 18 earlier messages, without a summary]"));
    assert!(!sent[2].contains("Summary of"), "{}", sent[2]);
    assert!(
        run.stderr.contains("Could not summarise older messages"),
        "{run}"
    );
    let told = "18 older messages replaced by a notice (no summary)";
    assert!(run.stderr.contains(told), "{run}");
    // What no summary stands for is in the next one that is asked for.
    let asked = server
        .chats()
        .into_iter()
        .filter(is_summary)
        .nth(1)
        .unwrap();
    assert!(asked.message(-1).contains("message number 2\n"));
}

#[test]
fn the_prefix_strategy_keeps_the_newest_eight_behind_a_summary_of_the_rest() {
    let home = Home::new();
    let server = server(noted, summarised);
    home.config(
        &server,
        &format!("{FOREGROUND}\ncontext: {{strategy: prefix, guards: []}}"),
    );
    talk(&home, 1, 30);
    assert_eq!(asked_before(&server, is_summary), [11, 18, 25]);
    let eleventh = request(&server, 11);
    assert_eq!(messages(&eleventh).len(), 9);
    let system = eleventh.system();
    assert!(system.contains("[compacted] 12 earlier messages") && system.contains(SUMMARY));
    let chats = server.chats();
    let asked = chats.iter().find(|chat| is_summary(chat)).unwrap();
    assert_eq!(asked.body["temperature"].as_f64(), Some(0.0));
    assert_eq!(asked.body["max_tokens"], json!(400));
    assert!(asked.body.get("tools").is_none());
}

#[test]
fn a_prefix_without_a_summary_holds_snippets() {
    let home = Home::new();
    let server = server(noted, |_| fail(500, "overloaded"));
    home.config(&server, "context: {strategy: prefix, guards: []}");
    talk(&home, 1, 12);
    let compaction = &hybrid(&home)["compaction"];
    let text = compaction["text"].as_str().unwrap();
    assert!(text.contains("User: message number 6"), "{text}");
    assert!(text.chars().count() <= 700);
    assert!(request(&server, 11).system().contains("[compacted]"));
}

/// About 350 tokens.
fn long(n: usize) -> String {
    format!("Message number {n}. {}", "The tide is high. ".repeat(77))
}

/// Turns with so much to say that the server's counts are believed; the `usage` of each reply, where it has one.
fn full_talk(server: &Server, home: &Home, context: &str, turns: usize, window: u32) -> Run {
    let models = format!(
        "models: {{default: it, it: {{provider: there, model: scripted, context_window: {window}, max_tokens: 500}}}}"
    );
    home.config(
        server,
        &format!("{FOREGROUND}\ntools: {{preset: none}}\ncontext: {{{context}}}\n{models}"),
    );
    let lines: Vec<String> = (1..=turns).map(long).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    home.lines("s", &lines)
}

/// A reply, with what the server counted of its request.
fn counting(prompts: &'static [(usize, u32)]) -> impl FnMut(usize) -> Reply + Send {
    move |n| {
        let counted = prompts.iter().find(|(turn, _)| *turn == n);
        match counted {
            Some((_, prompt)) => say(long(n)).usage(*prompt, 100),
            None => say(long(n)).without_usage(),
        }
    }
}

const THRESHOLD: &str = "strategy: full, guards: [threshold]";

#[test]
fn from_three_quarters_of_the_window_on_a_summary_is_made_after_the_turn() {
    let home = Home::new();
    let server = server(counting(&[(6, 5_920), (7, 6_080)]), summarised);
    let run = full_talk(&server, &home, THRESHOLD, 8, 8_000);
    assert_eq!(asked_before(&server, is_summary), [8], "{run}");
    assert!(
        run.stderr.contains("older messages replaced by a summary"),
        "{run}"
    );
    let compaction = &hybrid(&home)["compaction"];
    assert_eq!(compaction["strategy"], json!("threshold"));
    assert_eq!(compaction["head"], json!(2));
    let sent = messages(&request(&server, 8));
    assert!(sent[2].contains("[Summary of ") && sent[2].contains(SUMMARY));
    let cost: usize = sent.iter().map(|text| text.len() / 4).sum();
    assert!(cost < 8_000 / 2, "{cost} tokens");
    assert_eq!(home.snapshot("s")["messages"].as_array().unwrap().len(), 16);
}

#[test]
fn where_that_fails_it_is_made_before_the_next_request_once_the_warning_is_due() {
    let home = Home::new();
    let summary = |n| if n < 3 { fail(500, "no") } else { say(SUMMARY) };
    let server = server(counting(&[(7, 6_080), (8, 6_480)]), summary);
    let run = full_talk(&server, &home, THRESHOLD, 9, 8_000);
    assert_eq!(
        asked_before(&server, is_summary),
        [8, 9, 9],
        "{}",
        run.stderr
    );
    assert!(messages(&request(&server, 9))[2].contains(SUMMARY));
    assert_eq!(
        run.stderr.matches("the context window is").count(),
        1,
        "{run}"
    );
}

#[test]
fn one_switch_keeps_every_model_from_being_asked_and_the_warning_stays() {
    let home = Home::new();
    let server = server(counting(&[(7, 6_480), (8, 6_600)]), summarised);
    let context = format!("{THRESHOLD}, enable_auto_summary: false");
    let run = full_talk(&server, &home, &context, 9, 8_000);
    assert!(asked_before(&server, is_summary).is_empty());
    assert_eq!(
        run.stderr.matches("the context window is").count(),
        1,
        "{run}"
    );
    assert!(!home.history("s_hybrid.json").exists());
}

#[test]
fn a_compaction_that_frees_little_is_tried_once_a_turn_and_not_on_and_on() {
    let home = Home::new();
    // The text is as long as what it stands for.
    let server = server(
        counting(&[(7, 6_080), (8, 6_480), (9, 6_490), (10, 6_500)]),
        |_| say("The tide is high, and so on. ".repeat(800)),
    );
    let run = full_talk(&server, &home, THRESHOLD, 11, 8_000);
    assert_eq!(run.code, Some(0), "{run}");
    let asked = asked_before(&server, is_summary);
    for turn in 1..=12 {
        let times = asked.iter().filter(|at| **at == turn).count();
        assert!(times <= 2, "after one turn and before the next: {asked:?}");
    }
    assert!(asked.len() <= 4, "three failures are enough: {asked:?}");
    let said = home.said("s").len();
    assert_eq!(said, 22);
}

#[test]
fn the_proactive_guard_counts_what_the_next_turn_takes() {
    for (prompt, is_due) in [(5_900, false), (5_901, true)] {
        let home = Home::new();
        let counted: &'static [(usize, u32)] = if is_due { &[(7, 5_901)] } else { &[(7, 5_900)] };
        let server = server(counting(counted), summarised);
        let run = full_talk(
            &server,
            &home,
            "strategy: full, guards: [proactive]",
            8,
            10_000,
        );
        assert!(
            asked_before(&server, is_summary).is_empty(),
            "no model is asked: {run}"
        );
        let sent = messages(&request(&server, 8));
        if is_due {
            assert_eq!(sent.len(), 2 + 4 + 1, "{prompt}: {run}");
            let marker = "[CONTEXT COMPACTION: 8 earlier messages are no longer shown]";
            assert!(sent[2].contains(marker), "{}", sent[2]);
            assert!(sent[2].contains("history/s.json"), "{}", sent[2]);
        } else {
            assert_eq!(sent.len(), 15, "{prompt}: {run}");
        }
    }
}

#[test]
fn what_was_just_compacted_is_not_recalled_into_the_same_request_and_is_into_the_next() {
    let home = Home::new();
    let server = server(counting(&[(7, 5_901)]), summarised);
    let models = "models: {default: it, it: {provider: there, model: scripted, context_window: 10000, max_tokens: 500}}";
    let context = "context: {strategy: full, guards: [proactive], recovery: false}";
    home.config(
        &server,
        &format!("{FOREGROUND}\ntools: {{preset: none}}\n{context}\n{models}"),
    );
    let mut lines: Vec<String> = (1..=7).map(long).collect();
    lines[2] = format!(
        "The walrus of the aquarium sleeps in berth forty. {}",
        long(3)
    );
    let question = "Where does the walrus of the aquarium sleep?".to_owned();
    lines.extend([question.clone(), question]);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let run = home.lines("s", &lines);
    let shows = |turn| {
        request(&server, turn)
            .body
            .to_string()
            .contains("berth forty")
    };
    assert!(shows(7), "{run}");
    let eighth = request(&server, 8).body.to_string();
    assert!(eighth.contains("[CONTEXT COMPACTION: "), "{run}");
    assert!(!shows(8), "{eighth}");
    assert!(shows(9), "{run}");
}

#[test]
fn after_a_proactive_compaction_the_context_is_thought_a_third_full_until_the_server_counts() {
    let home = Home::new();
    let mut counted = counting(&[(7, 5_901), (9, 3_100)]);
    let reply = move |n| match n {
        8 => fail(400, "no"),
        n => counted(n),
    };
    let server = server(reply, summarised);
    let models = "models: {default: it, it: {provider: there, model: scripted, context_window: 10000, max_tokens: 500}}";
    let context = "context: {strategy: full, guards: [proactive]}";
    home.config(
        &server,
        &format!("{FOREGROUND}\ntools: {{preset: none}}\n{context}\n{models}"),
    );
    let mut lines: Vec<String> = (1..=8).map(long).collect();
    lines.extend(["/context", "/retry", "/context"].map(String::from));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let run = home.lines("s", &lines);
    let assumed = "~3.5k of 10k tokens (35 %), ";
    let reported = "\n3.1k of 10k tokens (31 %), ";
    let places = [assumed, reported].map(|line| run.stdout.find(line));
    assert!(places[0].is_some() && places[0] < places[1], "{run}");
}

/// The first and the last of the entries that a request speaks of.
fn span(asked: &str) -> (usize, usize) {
    let numbers = asked.split("Entry number ").skip(1);
    let numbers = numbers.map(|rest| rest.split('.').next().unwrap().parse().unwrap());
    let numbers: Vec<usize> = numbers.collect();
    let [first, last] = [numbers.iter().min(), numbers.iter().max()].map(|it| *it.unwrap());
    (first, last)
}

#[test]
fn a_large_imported_session_is_summarised_from_its_newest_part_on_with_two_requests_a_turn_at_most()
{
    for context in [
        "guards: [threshold]",
        "strategy: full, guards: [threshold]",
        "strategy: window, guards: []",
    ] {
        let home = Home::new();
        let server = server(noted, summarised);
        let models = "models: {default: it, it: {provider: there, model: scripted, context_window: 16000, max_tokens: 500}}";
        home.config(
            &server,
            &format!("{FOREGROUND}\ntools: {{preset: none}}\ncontext: {{{context}}}\n{models}"),
        );
        let lines: Vec<String> = (0..1_000)
            .map(|n| {
                let role = ["user", "assistant"][n % 2];
                let text = format!("Entry number {n}. {}", "The tide is high. ".repeat(8));
                let line =
                    json!({"session": "s", "id": format!("s/{n}"), "role": role, "text": text});
                format!("{line}\n")
            })
            .collect();
        home.write("talk.jsonl", lines.concat());
        let import = ["memory", "import", "--format", "jsonl", "talk.jsonl"];
        let imported = home.cogtrix(&import).run();
        assert_eq!(imported.code, Some(0), "{imported}");
        let mut parts = Vec::new();
        for _ in 0..3 {
            let before = server.chats().len();
            let run = home.ask("s", "And now?");
            assert_eq!(run.code, Some(0), "{run}");
            let asked = server.chats().split_off(before).into_iter();
            let asked: Vec<String> = asked
                .filter(is_summary)
                .map(|chat| chat.message(-1))
                .collect();
            assert!((1..=2).contains(&asked.len()), "{context}: {}", asked.len());
            parts.push(asked.concat());
        }
        let spans: Vec<(usize, usize)> = parts.iter().map(|part| span(part)).collect();
        assert!(spans[0].1 > 950, "{context}: {spans:?}");
        for pair in spans.windows(2) {
            assert_eq!(pair[1].1 + 1, pair[0].0, "{context}: {spans:?}");
        }
        assert!(parts[1].contains(SUMMARY), "what came later goes along");
        let untold = hybrid(&home)["compaction"]["untold"].as_u64().unwrap();
        assert!((200..700).contains(&untold), "{context}: {untold}");
        let proof = home.lines("s", &["/context proof"]);
        assert!(
            proof.stdout.contains("all within reach"),
            "{context}: {proof}"
        );
    }
}

#[test]
fn a_long_list_is_summarised_in_chunks_and_these_as_one() {
    let home = Home::new();
    let server = server(noted, summarised);
    home.config(&server, "context: {strategy: full, guards: []}");
    talk(&home, 1, 51);
    let before = server.chats().len();
    let run = home.lines("s", &["/compact threshold"]);
    assert!(run.stdout.contains("Compacted: messages 102 → "), "{run}");
    let asked: Vec<String> = server.chats()[before..]
        .iter()
        .map(|chat| chat.message(-1))
        .collect();
    let merges = asked.iter().filter(|it| it.contains("Below are summaries"));
    assert_eq!(merges.count(), 1);
    assert_eq!(asked.len(), 3 + 1, "80 messages in chunks of 27");
    assert!(asked[3].contains("Below are summaries"));
}

#[test]
fn a_chunk_that_fails_leaves_its_snippets() {
    let home = Home::new();
    let summary = |n| {
        if n == 1 {
            fail(500, "no")
        } else {
            say(SUMMARY)
        }
    };
    let server = server(noted, summary);
    home.config(&server, "context: {strategy: full, guards: []}");
    talk(&home, 1, 51);
    let run = home.lines("s", &["/compact threshold"]);
    assert!(run.stdout.contains("Compacted: "), "{run}");
    let merge = server.chats().pop().unwrap().message(-1);
    assert!(merge.contains("User: message number "), "{merge}");
}

#[test]
fn a_record_stays_when_the_strategy_changes_and_can_be_undone() {
    let home = Home::new();
    let server = server(noted, summarised);
    home.config(&server, "context: {strategy: window, guards: []}");
    talk(&home, 1, 21);
    for strategy in ["full", "prefix", "rolling"] {
        home.config(
            &server,
            &format!("context: {{strategy: {strategy}, guards: [], threshold_messages: 200}}"),
        );
        home.ask("s", "go on");
        let body = server.chats().pop().unwrap().body.to_string();
        assert!(
            body.contains("[Summary of 18 earlier messages]"),
            "{strategy}"
        );
    }
    home.config(&server, "context: {strategy: full, guards: []}");
    home.lines("s", &["/compact undo", "and on"]);
    let sent = messages(&server.chats().pop().unwrap());
    assert_eq!(sent.len(), 49);
    assert!(!sent[2].contains("Summary of"));
}

#[test]
fn a_preset_is_switched_live_and_explicit_keys_win() {
    let home = Home::new();
    let server = server(noted, summarised);
    home.config(&server, "context: {max_history_messages: 10}");
    let lines: Vec<String> = (1..=7).map(|n| format!("message number {n}")).collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.splice(
        0..0,
        [
            "/context preset",
            "/context preset nonsense",
            "/context preset co-cli",
        ],
    );
    let run = home.lines("s", &lines);
    assert!(run.stdout.contains("* default"), "{run}");
    assert!(run.stdout.contains("context.strategy: window"), "{run}");
    assert!(run.stderr.contains("has no preset \"nonsense\""), "{run}");
    assert!(
        run.stdout
            .contains("preset co-cli, strategy window, guards none"),
        "{run}"
    );
    assert_eq!(asked_before(&server, is_summary), [6]);
}

#[test]
fn what_would_go_is_told_before_anything_does() {
    let home = Home::new();
    let server = server(noted, summarised);
    home.config(&server, "context: {guards: []}");
    talk(&home, 1, 15);
    let run = home.lines(
        "s",
        &[
            "/compact dry window",
            "/compact dry",
            "/compact udno",
            "/compact dry prefix",
        ],
    );
    assert!(
        run.stdout
            .contains("window would replace 8 messages (up to message 10, "),
        "{run}"
    );
    assert!(
        run.stdout
            .contains("compact would replace 30 messages (up to message 30, "),
        "{run}"
    );
    assert!(run.stdout.contains("it takes 1 model call"), "{run}");
    assert!(
        run.stderr.contains("did you mean `/compact undo`?"),
        "{run}"
    );
    assert!(asked_before(&server, is_summary).is_empty());
    assert!(!home.history("s_hybrid.json").exists());
}

#[test]
fn what_the_person_wants_kept_is_asked_for_as_a_wish() {
    let home = Home::new();
    let server = server(noted, summarised);
    home.config(&server, "");
    talk(&home, 1, 6);
    let run = home.lines("s", &["/compact the dates of the harbour"]);
    let told = "undo with `/compact undo`; focus: the dates of the harbour\n";
    assert!(run.stdout.contains(told), "{run}");
    let asked = server.chats().pop().unwrap().message(-1);
    let wish = asked.find("The person asks that the summary").unwrap();
    let fence = asked[wish..].find("<--->\nthe dates of the harbour\n<--->");
    assert!(fence.is_some(), "{asked}");
}

#[test]
fn the_summary_of_a_chinese_talk_is_asked_for_in_chinese_and_one_in_english_is_refused() {
    let home = Home::new();
    let server = Script::answering(|request: &Request| {
        if request.message(-1).contains("摘要") || is_summary(request) {
            say("- They talk about the harbour, its cranes and the tide of last spring.")
        } else {
            say("好的，我已经记下来了，我们继续谈港口和起重机。")
        }
    })
    .serve();
    home.config(&server, "context: {strategy: prefix, guards: []}");
    let lines: Vec<String> = (1..=11)
        .map(|n| format!("我们谈一下港口的第{n}台起重机和去年春天的潮汐表"))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let run = home.lines("s", &lines);
    assert!(
        run.stderr.contains("not in the conversation's script"),
        "{run}"
    );
    let asked = server.chats()[10].message(-1);
    assert!(asked.starts_with("请为下面对话"), "{asked}");
    let compaction = &hybrid(&home)["compaction"];
    assert_eq!(compaction["form"], json!("notice"));
}

#[test]
fn who_is_asked_depends_on_who_wants_it() {
    let home = Home::new();
    let server = server(noted, summarised);
    let models = "models: {default: it, it: {provider: there, model: scripted, context_window: 32768}, sum: {provider: there, model: small, context_window: 8192}}";
    home.config(
        &server,
        &format!(
            "memory: {{summarization_model: sum}}\ncontext: {{strategy: window, max_history_messages: 8, guards: []}}\n{models}"
        ),
    );
    talk(&home, 1, 5);
    home.lines("s", &["/compact"]);
    let chats = server.chats().into_iter().filter(is_summary);
    let models: Vec<Value> = chats.map(|chat| chat.body["model"].clone()).collect();
    assert_eq!(models, [json!("small"), json!("scripted")]);
}

#[test]
fn rules_and_what_a_mode_noted_survive_a_compaction() {
    let home = Home::new();
    let server = server(noted, summarised);
    home.write("rules.md", "Never touch the lighthouse.");
    home.config(
        &server,
        "system_prompt_file: rules.md\nmemory: {mode: code}\ncontext: {guards: []}",
    );
    let mut lines = vec!["/task Fix the login in src/auth.py"];
    let asked = "Look at src/auth.py, and say what happens when the password is wrong or missing.";
    lines.extend([asked, asked, asked, "/compact", "go on"]);
    let run = home.lines("s", &lines);
    assert!(run.stdout.contains("Compacted: "), "{run}");
    let last = server.chats().pop().unwrap();
    assert_eq!(messages(&last).len(), 3);
    for kept in ["Never touch the lighthouse", "Fix the login in src/auth.py"] {
        assert!(last.system().contains(kept), "{kept}: {}", last.system());
    }
}

#[test]
fn every_request_of_every_strategy_is_one_that_strict_servers_take() {
    for preset in ["default", "cogtrix", "co-cli", "agenticx", "gokin", "qanot"] {
        for layout in ["classic", "cache-friendly"] {
            let home = Home::new();
            let server = server(noted, summarised);
            home.config(
                &server,
                &format!("{FOREGROUND}\ncontext: {{preset: {preset}, layout: {layout}}}"),
            );
            let run = talk(&home, 1, 24);
            assert_eq!(run.code, Some(0), "{preset}: {run}");
            assert_eq!(
                server.violations(),
                Vec::<String>::new(),
                "{preset}, {layout}"
            );
        }
    }
}
