use super::*;
use crate::chat::fixture;
use crate::memory::Prompts;

fn session_of(said: &[&str]) -> Session {
    let mut session = Session::new("s".parse().unwrap());
    for said in said {
        let turn = fixture::begin(&mut session, *said, None);
        fixture::answer(&mut session, turn, Vec::new());
    }
    session
}

fn job(said: &[&str], known: &[&str]) -> LearnJob {
    let mut said = said.to_vec();
    while said.len() < MIN_UNREAD {
        said.push("go on please");
    }
    let session = session_of(&said);
    let known = known.iter().map(|line| (*line).to_owned()).collect();
    LearnJob::of(&session, known, &Prompts::embedded().learn).unwrap()
}

fn facts(job: &LearnJob, reply: &str) -> Vec<String> {
    let learned = job.read(reply).unwrap();
    learned
        .facts
        .into_iter()
        .map(|fact| fact.capture.detail)
        .collect()
}

#[test]
fn a_fact_without_a_source_in_the_persons_words_is_left_out() {
    let job = job(
        &["psych bumped me up to 75mg on Wednesday", "我住在上海浦东"],
        &[],
    );
    let reply = |quote: &str| {
        format!(
            "Here you are:\n```json\n{{\"facts\": [{{\"fact\": \"Takes 75 mg\", \"kind\": \"profile\", \"quote\": {quote:?}}}]}}\n```"
        )
    };
    for (quote, counts) in [
        ("bumped me up to 75mg", true),
        ("Bumped  me, UP to", true),
        ("我住在上海", true),
        ("bumped me down to 75mg", false),
        ("bumped me", false),
        ("", false),
    ] {
        assert_eq!(!facts(&job, &reply(quote)).is_empty(), counts, "{quote}");
    }
}

#[test]
fn what_is_malformed_or_secret_or_too_much_is_left_out() {
    let job = job(&["my name is Ana and I live in Graz"], &[]);
    let fact = |text: &str, kind: &str| {
        format!("{{\"fact\": {text:?}, \"kind\": {kind:?}, \"quote\": \"I live in Graz\"}}")
    };
    let reply = |facts: &[String]| format!("{{\"facts\": [{}]}}", facts.join(","));
    assert_eq!(
        facts(
            &job,
            &reply(&[
                fact("Lives in\nGraz", "profile"),
                fact("Lives in Graz", "nonsense"),
                fact("", "profile"),
                fact(&"x".repeat(301), "profile"),
                fact("The password is hunter2-Xk9", "profile"),
                "7".to_owned(),
            ])
        ),
        ["Lives in Graz"]
    );
    let many: Vec<String> = (0..20)
        .map(|n| fact(&format!("Fact {n}"), "goal"))
        .collect();
    assert_eq!(facts(&job, &reply(&many)).len(), MAX_FACTS);
    for bad in ["", "none", "{\"facts\": 3}", "}{", "{\"facts\": [}"] {
        assert_eq!(job.read(bad), Err(Unreadable), "{bad}");
    }
}

#[test]
fn a_fact_that_makes_many_lines_outdated_replaces_none() {
    let known = ["- a: one thing", "- b: another", "- c: a third"];
    let job = job(&["finally unpacked, Vienna feels like home"], &known);
    let reply = "{\"facts\": [{\"fact\": \"Lives in Vienna\", \"kind\": \"profile\", \"quote\": \"Vienna feels like home\", \"replaces\": [1, 2, 3]}]}";
    let learned = job.read(reply).unwrap();
    assert_eq!(learned.facts[0].replaces, [""; 0]);
}

#[test]
fn known_lines_are_replaced_by_their_numbers() {
    let known = ["- **profile**: Lives in Graz", "- **goal**: Run a marathon"];
    let job = job(&["finally unpacked, Vienna feels like home"], &known);
    let reply = "{\"facts\": [{\"fact\": \"Lives in Vienna (before: Graz)\", \"kind\": \"profile\", \"quote\": \"Vienna feels like home\", \"replaces\": [1, 0, 9, -1, \"x\"]}]}";
    let learned = job.read(reply).unwrap();
    assert_eq!(learned.facts[0].replaces, [known[0]]);
}

#[test]
fn the_request_holds_the_oldest_messages_that_fit_and_the_others_stay_unread() {
    let long = "the tide is high ".repeat(60);
    let said = [
        long.as_str(),
        &long,
        &long,
        &long,
        &long,
        "the last of them",
    ];
    let mut job = job(&said, &["- **profile**: Lives in Graz"]);
    let whole = job.request(Tokens(8_000)).unwrap();
    assert_eq!(whole.matches(long.trim()).count(), 5);
    assert!(whole.contains("1. - **profile**: Lives in Graz"));
    assert_eq!(job.nothing().upto, 6);
    let part = job.request(Tokens(1_400)).unwrap();
    assert!(Tokens::estimate(&part) <= Tokens(1_400));
    let shown = part.matches(long.trim()).count();
    assert!((1..5).contains(&shown), "{part}");
    assert!(!part.contains("the last of them"));
    assert_eq!(job.nothing().upto, shown);
    assert_eq!(job.request(Tokens(10)), None);
}

#[test]
fn few_messages_and_those_that_were_read_are_not_read() {
    let prompt = &Prompts::embedded().learn;
    let few = session_of(&["one", "two", "three"]);
    assert_eq!(LearnJob::of(&few, Vec::new(), prompt), None);
    let mut session = session_of(&["one", "two", "three", "four", "five", "six"]);
    let job = LearnJob::of(&session, Vec::new(), prompt).unwrap();
    let record = job.nothing().record(&session);
    session.apply(record);
    assert_eq!(unread(&session), 0);
}
