//! Deep think in the real binary: `/think` and the tool, what they leave behind, and what goes wrong on the way.

use cogtrix::testing::server::{Reply, Request, Script, Server, fail, say, silent};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::home::Home;

/// The step of thinking that a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Branch,
    Develop,
    Converge,
    /// None: an ordinary request.
    Talk,
}

fn step(request: &Request) -> Step {
    let asked = request.message(-1);
    [
        ("Name the best", Step::Converge),
        ("Work out this one approach", Step::Develop),
        ("Do not solve it yet", Step::Branch),
    ]
    .into_iter()
    .find(|(words, _)| asked.contains(words))
    .map_or(Step::Talk, |(_, step)| step)
}

fn branches(fence: &str) -> Reply {
    let approaches = ["Postgres", "Mongo", "Files"]
        .map(|title| json!({"title": title, "idea": format!("{title} could do")}));
    let object = json!({"approaches": approaches});
    let end = if fence.is_empty() { "" } else { "\n```" };
    say(format!("{fence}{object}{end}"))
}

fn developed(request: &Request) -> Reply {
    let asked = request.message(-1);
    let title = ["Postgres", "Mongo", "Files"]
        .into_iter()
        .find(|title| asked.contains(&format!("{title} could do")));
    let title = title.unwrap_or("Direct");
    let work = json!({
        "steps": [format!("Look at {title}"), "Count the rows"],
        "result": format!("{title} it is"), "critique": format!("{title} costs"),
    });
    say(work.to_string())
}

fn weighed(goes_on: bool, confidence: f32) -> Reply {
    let weighing = json!({
        "scores": [{"approach": 1, "score": 8.5, "reason": "it is known here"},
                   {"approach": 2, "score": 4, "reason": "nobody knows it"}],
        "best": 1, "confidence": confidence, "continue": goes_on, "answer": "Take Postgres.",
    });
    say(weighing.to_string())
}

/// A model that thinks well and ends after the first round.
fn thinks(request: &Request) -> Reply {
    match step(request) {
        Step::Branch => branches(""),
        Step::Develop => developed(request),
        Step::Converge => weighed(false, 8.0),
        Step::Talk => say("Noted."),
    }
}

fn home(server: &Server, mode: &str) -> Home {
    let home = Home::new();
    home.config(server, &format!("memory: {{mode: {mode}}}"));
    home
}

fn steps(server: &Server) -> Vec<Step> {
    server.chats().iter().map(step).collect()
}

fn scratchpad(home: &Home) -> Value {
    let file = std::fs::read(home.history("s_scratchpad.json")).unwrap();
    serde_json::from_slice(&file).unwrap()
}

#[test]
fn thinking_survives_a_fence_and_broken_json_and_is_kept_as_one_turn() {
    let server = Script::answering(|request| match step(request) {
        Step::Branch => branches("Here you are:\n```json\n"),
        Step::Develop if request.message(-1).contains("Files could do") => {
            say(r#"{"steps": ["Write a fi"#)
        }
        Step::Develop => developed(request),
        // Sure at once: that alone ends no first round.
        Step::Converge => weighed(true, 9.6),
        Step::Talk => say("Noted."),
    })
    .serve();
    let home = home(&server, "reasoning");
    let run = home.lines(
        "s",
        &[
            "We store 40 GB of orders",
            "/think Which database?",
            "Thanks",
        ],
    );
    assert_eq!(run.code, Some(0), "{run}");
    let asked = steps(&server);
    let of = |step| asked.iter().filter(|it| **it == step).count();
    assert_eq!(
        (of(Step::Branch), of(Step::Develop), of(Step::Converge)),
        (2, 6, 2)
    );
    assert!(
        run.stdout
            .contains("- ★ **Postgres** — 8.5/10: it is known here"),
        "{run}"
    );
    assert!(
        run.stdout.contains("- **Mongo** — 4.0/10: nobody knows it"),
        "{run}"
    );
    assert!(
        !run.stdout.contains("**Files**"),
        "its work was broken: {run}"
    );
    assert!(run.stdout.contains("(2 rounds, 10 model calls)"), "{run}");
    let said = home.said("s");
    assert_eq!(said.len(), 6, "{said:?}");
    assert_eq!(said[2], "user: Which database?");
    assert!(
        said[3].starts_with("assistant: # Deep think #1\n"),
        "{}",
        said[3]
    );
    assert!(
        said[3].ends_with("## Answer\n\nTake Postgres."),
        "{}",
        said[3]
    );
    let kept = &scratchpad(&home)["subagent_result::think-1"];
    assert_eq!(format!("assistant: {}", kept.as_str().unwrap()), said[3]);
    let next = server.chats().last().unwrap().system();
    assert!(next.contains("Earlier sub-results"), "{next}");
    assert!(
        next.contains("- think-1: Which database? → Postgres (8.5/10)"),
        "{next}"
    );
}

#[test]
fn the_chosen_approach_is_a_decision_and_undoing_takes_all_of_it_back() {
    let server = Script::answering(thinks).serve();
    let home = home(&server, "reasoning");
    home.lines("s", &["/think Which database?", "And now?", "/memory"]);
    let next = server.chats().last().unwrap().system();
    for line in [
        "Postgres (because deep think, 8.5/10: it is known here; rejected: Mongo, Files)",
        "Mongo (rejected; because deep think, 4.0/10: nobody knows it)",
        "Files (rejected; because deep think, 3.0/10: Files costs)",
        "- Deep think #1: Look at Postgres",
    ] {
        assert!(next.contains(line), "no {line:?} in {next}");
    }
    let run = home.lines("s", &["/undo", "/undo", "So?"]);
    assert_eq!(run.code, Some(0), "{run}");
    let next = server.chats().last().unwrap().system();
    assert!(
        !next.contains("Postgres") && !next.contains("sub-results"),
        "{next}"
    );
    assert_eq!(scratchpad(&home), json!({"version": 1}));
}

#[test]
fn another_mode_keeps_the_notes_too() {
    let server = Script::answering(thinks).serve();
    let home = home(&server, "conversation");
    home.lines(
        "s",
        &["/think Which database?", "/mode reasoning", "And now?"],
    );
    let next = server.chats().last().unwrap().system();
    assert!(
        next.contains("Postgres (because deep think, 8.5/10"),
        "{next}"
    );
}

#[test]
fn notes_that_were_lost_are_read_from_the_report_again() {
    let server = Script::answering(thinks).serve();
    let home = home(&server, "reasoning");
    home.lines("s", &["/think Which database?"]);
    std::fs::remove_file(home.history("s_mode_state.json")).unwrap();
    home.ask("s", "And now?");
    let next = server.chats().last().unwrap().system();
    assert!(
        next.contains("Postgres (because deep think, 8.5/10"),
        "{next}"
    );
}

#[test]
fn it_ends_at_fifteen_calls_whatever_the_model_wants() {
    let server = Script::answering(|request| match step(request) {
        Step::Converge => weighed(true, 5.0),
        _ => thinks(request),
    })
    .serve();
    let home = home(&server, "conversation");
    let run = home.lines("s", &["/think Which database?"]);
    assert!(run.stdout.contains("(3 rounds, 15 model calls)"), "{run}");
    assert_eq!(server.chats().len(), 15);
}

#[test]
fn each_step_knows_the_talk_has_its_temperature_and_no_tools_in_each_format() {
    for kind in ["openai", "ollama", "anthropic"] {
        let server = Script::answering(thinks).serve();
        let home = Home::new();
        let url = if kind == "openai" {
            server.openai_url()
        } else {
            server.url()
        };
        home.config_of(kind, &url, "deep_think: {temperature: 0.4}");
        home.lines("s", &["The orders take 40 GB", "/think Which database?"]);
        let chats = server.chats();
        assert_eq!(chats.len(), 6, "{kind}");
        for chat in &chats[1..] {
            let body = &chat.body;
            let temperature = match kind {
                "ollama" => &body["options"]["temperature"],
                _ => &body["temperature"],
            };
            assert_eq!(temperature, &json!(0.4), "{kind}: {body}");
            assert!(body.get("tools").is_none(), "{kind}: {body}");
            assert!(
                chat.message(-1).contains("Which database?"),
                "{kind}: {body}"
            );
            assert!(body.to_string().contains("The orders take 40 GB"), "{kind}");
        }
        assert!(chats[0].body.get("temperature").is_none(), "{kind}");
    }
}

#[test]
fn a_model_calls_for_it_and_gets_the_report_as_its_result() {
    let mut talks = 0;
    let server = Script::answering(move |request| match step(request) {
        Step::Talk => {
            talks += 1;
            let arguments = json!({
                "task": "Which database?", "context": "40 GB of orders",
                "max_iterations": 1, "num_branches": 9,
            });
            match talks {
                1 => say("").calling("c1", "deep_think", arguments),
                _ => say("Postgres, then."),
            }
        }
        _ => thinks(request),
    })
    .serve();
    let home = home(&server, "reasoning");
    let run = home.ask("s", "Help me choose");
    assert!(run.stdout.ends_with("Postgres, then.\n"), "{run}");
    assert!(
        run.stderr.contains("deep_think Which database?: Postgres"),
        "{run}"
    );
    let chats = server.chats();
    let branch = chats[1].message(-1);
    assert!(
        branch.contains("40 GB of orders") && branch.contains("name 5 approaches"),
        "{branch}"
    );
    assert!(chats[1].body.get("tools").is_none(), "not inside itself");
    let last = chats.last().unwrap();
    assert!(
        last.message(-1).contains("# Deep think #1"),
        "{}",
        last.body
    );
    assert_eq!(home.said("s").len(), 4, "input, call, result, reply");
    home.ask("s", "And now?");
    let next = server.chats().last().unwrap().system();
    assert!(
        next.contains("Postgres (because deep think, 8.5/10"),
        "{next}"
    );
    assert!(
        next.contains("- think-1: Which database? → Postgres"),
        "{next}"
    );
}

#[test]
fn ctrl_c_gives_the_best_so_far_or_an_interrupted_turn() {
    for (stuck, calls) in [(Step::Converge, 5), (Step::Branch, 1)] {
        let server = Script::answering(move |request| {
            if step(request) == stuck {
                silent()
            } else {
                thinks(request)
            }
        })
        .serve();
        let home = home(&server, "reasoning");
        let mut running = home
            .cogtrix(&["-c", "test.yaml", "-s", "s", "--lines"])
            .open_stdin()
            .start();
        running.say("/think Which database?");
        server.wait_for_chats(calls);
        running.signal(Signal::INT);
        running.say("Go on");
        running.wait_for("Noted.");
        let run = running.wait();
        let said = home.said("s");
        assert_eq!(said.len(), 4, "{said:?}");
        let kept = if stuck == Step::Converge {
            assert!(
                said[1].contains("this is the best so far (1 round, 5 model calls)"),
                "{run}"
            );
            assert!(run.stdout.contains("Postgres it is"), "{run}");
            true
        } else {
            assert_eq!(said[1], "assistant: [no reply: interrupted]");
            assert!(run.stderr.contains("Interrupted; "), "{run}");
            false
        };
        assert_eq!(home.history("s_scratchpad.json").exists(), kept);
        let next = server.chats().last().unwrap().system();
        assert!(
            !next.contains("because deep think"),
            "nothing was decided: {next}"
        );
    }
}

#[test]
fn a_server_that_fails_is_told_the_turn_is_kept_and_retry_thinks_again() {
    let mut failures = 2;
    let server = Script::answering(move |request| {
        if failures > 0 {
            failures -= 1;
            fail(500, "on fire")
        } else {
            thinks(request)
        }
    })
    .serve();
    let home = home(&server, "conversation");
    let run = home.lines("s", &["/think Which database?", "/retry"]);
    assert!(run.stderr.contains("on fire"), "{run}");
    assert!(run.stdout.contains("★ **Postgres**"), "{run}");
    let said = home.said("s");
    assert!(said[1].starts_with("assistant: [no reply: "), "{said:?}");
    assert_eq!(said.len(), 4, "{said:?}");
}

#[test]
fn without_approaches_the_direct_one_is_taken_and_what_fails_later_leaves_the_best_so_far() {
    let server = Script::answering(|request| match step(request) {
        Step::Branch => say("I would rather not."),
        Step::Converge => fail(503, "too busy"),
        _ => thinks(request),
    })
    .serve();
    let home = home(&server, "conversation");
    let run = home.lines("s", &["/think Which database?"]);
    assert!(
        run.stdout.contains("- ★ **Direct answer** — 3.0/10"),
        "{run}"
    );
    assert!(
        run.stdout
            .contains("this is the best so far (1 round, 3 model calls)"),
        "{run}"
    );
    assert!(
        run.stderr.contains("thinking ended early") && run.stderr.contains("too busy"),
        "{run}"
    );
}

#[test]
fn nothing_readable_is_a_failed_turn() {
    let server = Script::answering(|_| say(r#"{"steps": ["#)).serve();
    let home = home(&server, "conversation");
    let run = home.lines("s", &["/think Which database?", "/think"]);
    assert!(run.stderr.contains("no approach found"), "{run}");
    assert!(run.stderr.contains("/think needs a task"), "{run}");
    assert_eq!(server.chats().len(), 2);
}

#[test]
fn without_a_model_there_is_nobody_to_think() {
    let home = Home::new();
    let run = home
        .cogtrix(&["-m", "offline/quotes", "-s", "s", "--lines"])
        .stdin("We use Postgres\n/think Which database?\n/retry\n")
        .run();
    let refused = "error: /think needs a model, and none is connected\n\
                   hint: `/model` lists models; `/help model` says how to connect one";
    assert!(run.stderr.contains(refused), "{run}");
    assert!(!run.stderr.contains("/retry"), "{run}");
    let said = home.said("s");
    let asked: Vec<_> = said.iter().filter(|it| it.starts_with("user: ")).collect();
    assert_eq!(asked, ["user: We use Postgres"; 2], "asked again: {said:?}");
}

#[test]
fn a_thought_that_is_asked_again_without_a_model_is_a_plain_question() {
    let server = Script::answering(thinks).serve();
    let home = home(&server, "conversation");
    home.lines("s", &["/think Which database?"]);
    let run = home
        .cogtrix(&["-m", "offline/quotes", "-s", "s", "--lines"])
        .stdin("/retry\n")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("No model connected. "), "{run}");
}

#[test]
fn a_server_that_wants_no_temperature_is_asked_without() {
    let server = Script::answering(|request| {
        if request.body.get("temperature").is_some() {
            fail(400, "Unsupported value: 'temperature' does not support 0.7")
        } else {
            thinks(request)
        }
    })
    .serve();
    let home = home(&server, "conversation");
    let run = home.lines("s", &["/think Which database?"]);
    assert!(run.stdout.contains("★ **Postgres**"), "{run}");
}

#[test]
fn a_damaged_scratchpad_is_set_aside_and_said() {
    let server = Script::answering(thinks).serve();
    let home = home(&server, "conversation");
    home.lines("s", &["/think Which database?"]);
    home.write(home.history("s_scratchpad.json"), "{not json");
    let run = home.ask("s", "Hi");
    assert!(run.stderr.contains("the scratchpad was damaged"), "{run}");
    assert!(
        !server
            .chats()
            .last()
            .unwrap()
            .system()
            .contains("sub-results")
    );
}

#[test]
fn a_full_window_is_compacted_before_thinking_begins() {
    // Once, thinking dropped the oldest turns where any other turn would have had them summarised.
    let summary = "- They count messages, one after the other; the rotation is on Fridays.";
    let server = Script::answering(move |request| {
        let asked = request.message(-1);
        if asked.contains("Write a summary of the conversation") {
            return say(summary);
        }
        match step(request) {
            Step::Talk => say("The tide is high. ".repeat(77)).without_usage(),
            _ => thinks(request),
        }
    })
    .serve();
    let home = Home::new();
    let guarded_by = |guards: &str| {
        let config = format!(
            "memory: {{background: false}}\ntools: {{preset: none}}\ncontext: {{strategy: full, guards: [{guards}]}}\n\
             models: {{default: it, it: {{provider: there, model: scripted, context_window: 8000, max_tokens: 500}}}}"
        );
        home.config(&server, &config)
    };
    // Nobody watches while the window fills.
    guarded_by("");
    let lines = (1..=9).map(|n| format!("Number {n}. {}", "The tide is high. ".repeat(77)));
    let lines: Vec<String> = lines.collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    home.lines("s", &lines);
    guarded_by("threshold");
    let run = home.lines("s", &["/think which database"]);
    let chats = server.chats();
    let first = chats.iter().position(|chat| step(chat) == Step::Branch);
    let first = first.unwrap_or_else(|| panic!("{run}"));
    let before = chats[first - 1].message(-1);
    assert!(before.contains("Write a summary"), "{run}");
    let branch = &chats[first];
    let sent = branch.body["messages"].to_string();
    assert!(sent.contains("the rotation is on Fridays"), "{sent}");
}
