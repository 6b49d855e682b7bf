//! Tables of what is said and found, and any text at all.

use proptest::prelude::*;

use super::*;
use crate::memory::tracking::Piece;
use crate::memory::tracking::readers::{Cued, with};

fn read(text: &str) -> Vec<Finding> {
    let exchange = Exchange {
        pieces: vec![Piece {
            by: Speaker::User,
            text: text.into(),
        }],
        ..Exchange::default()
    };
    thread_local! {
        static READER: ReasoningReader = ReasoningReader::embedded();
    }
    READER.with(|reader| reader.read(&exchange))
}

/// Findings in one line each: `Decision: Nomad < Kubernetes :: it is small`.
fn lines(text: &str) -> Vec<String> {
    let line = |Finding { kind, note }: Finding| {
        let label = note.label.map(|label| format!("{label}: "));
        let over = note.instead_of.iter().map(|other| format!(" < {other}"));
        let why = note.why.map(|why| format!(" :: {why}"));
        let (label, over) = (label.unwrap_or_default(), over.collect::<String>());
        format!(
            "{kind:?}: {label}{}{over}{}",
            note.text,
            why.unwrap_or_default()
        )
    };
    read(text).into_iter().map(line).collect()
}

#[test]
fn what_is_said_by_its_form_is_found_in_full() {
    for (text, expected) in [
        ("Goal: fewer meetings", vec!["Objective: fewer meetings"]),
        ("Milestone 2: the trailer", vec!["Goal: the trailer"]),
        ("Phase 2: design", vec!["Phase: design"]),
        (
            "**Decision:** weekly releases",
            vec!["Decision: weekly releases"],
        ),
        ("Budget: $50k", vec!["Constraint: Budget: $50k"]),
        (
            "tech stack: Rust, Postgres",
            vec!["Constraint: Tech stack: Rust, Postgres"],
        ),
        ("Deadline: 31 March", vec!["Constraint: Deadline: 31 March"]),
        ("Deadline: whenever the boss wakes up", vec![]),
        ("Deadline: talk number 10", vec![]),
        (
            "Deadline: two weeks from now",
            vec!["Constraint: Deadline: two weeks from now"],
        ),
        ("Budget: TBD", vec![]),
        ("Open question: who pays?", vec!["Question: who pays"]),
        (
            "ruled out: Kafka (too heavy), bonfires (smoke, complaints)",
            vec![
                "Alternative: Kafka :: too heavy",
                "Alternative: bonfires :: smoke, complaints",
            ],
        ),
    ] {
        assert_eq!(lines(text), expected, "{text:?}");
    }
}

#[test]
fn a_deadline_has_a_date_or_a_duration() {
    let reader = ReasoningReader::embedded();
    for (text, expected) in [
        ("due with talk number 10", "due with talk number 10"),
        ("ready at the latest", "ready at the latest"),
        ("due on 3/12", "Deadline: due on 3/12"),
        ("due in two weeks", "Deadline: due in two weeks"),
        ("ready by 5pm", "Deadline: ready by 5pm"),
    ] {
        assert_eq!(reader.note(Kind::Constraint, text).text, expected);
    }
}

#[test]
fn free_talk_is_read_without_a_label() {
    for (text, expected) in [
        (
            "Our goal is to launch in Portugal by June.",
            vec!["Objective: launch in Portugal by June"],
        ),
        (
            "my goal is: one shelf for every room",
            vec!["Objective: one shelf for every room"],
        ),
        (
            "First, we need to sort out the permits, since they take long.",
            vec!["Goal: sort out the permits"],
        ),
        ("we're still in the research phase", vec!["Phase: research"]),
        (
            "Because the rent doubled, we decided to move.",
            vec!["Decision: move :: the rent doubled"],
        ),
        (
            "We picked Nomad over Kubernetes, mostly because it is small.",
            vec![
                "Decision: Nomad < Kubernetes :: it is small",
                "Alternative: Kubernetes",
            ],
        ),
        (
            "Kubernetes is off the table as nobody knows it",
            vec!["Alternative: Kubernetes :: nobody knows it"],
        ),
        (
            "The ferry is out: sails once a week",
            vec!["Alternative: The ferry :: sails once a week"],
        ),
        (
            "We must ship by March.",
            vec!["Constraint: Deadline: ship by March"],
        ),
        ("Everything must be vegan", vec!["Constraint: be vegan"]),
        (
            "Assuming that the roof holds, we can start.",
            vec!["Assumption: the roof holds"],
        ),
        (
            "So the date can't move.",
            vec!["Chain: the date can't move"],
        ),
        (
            "We don't know yet if the bank agrees",
            vec!["Question: if the bank agrees"],
        ),
    ] {
        assert_eq!(lines(text), expected, "{text:?}");
    }
    let rejected = &read("We picked Nomad over Kubernetes")[1];
    assert_eq!(rejected.note.status, Some(Status::Rejected));
}

#[test]
fn a_constraint_without_a_label_replaces_no_other() {
    let findings = read("Everything must be vegan. It has to run on ARM. We must ship by March.");
    assert_eq!(findings.len(), 3);
    assert!(findings.iter().all(|it| it.note.label.is_none()));
}

#[test]
fn talk_that_is_no_plan_gives_nothing() {
    for text in [
        "Should we go with Postgres over MySQL?",
        "should we go with Postgres",
        "If we go with Postgres, we must learn SQL.",
        "Let's go with Postgres if it is free.",
        "We could go with either. Maybe we should take the bus.",
        "They decided to sue.",
        "She chose the red dress over the blue one.",
        "Last year our goal was to grow. We decided on Saturdays, so we had to get up early.",
        "My boss said \"we must ship by Friday. Our goal is growth.\"",
        "> we decided to go\n> Budget: 5",
        "```\n# decision: use the cache\n```",
        "You must be joking. I must say that is nice. I can't wait!",
        "The recipe says the dough must rest.",
        "I'd like to eat sooner rather than later",
        "I'm trying to understand closures.",
        "Suppose the mountains were free.",
        "Suppose f is continuous.",
        "Thanks, that means a lot. Thus far all is well. Hence the name.",
        "I have to go now.",
        "Budget: TBD",
        "Title: Metropolis",
        "Steps to reproduce:\n- open the page",
        "\"We must go,\" said Ana. Therefore we must leave.",
        "Please proofread this text:\nWe decided to leave. Budget: 5k",
    ] {
        assert_eq!(lines(text), [""; 0], "{text:?}");
    }
}

#[test]
fn items_are_what_their_heading_says() {
    let text = "Goals:\n- ship it. Ana helps.\n- sell it\n\n## Constraints\n- nothing with flames\n\
                - budget is 900 pounds\n\nOpen questions:\n1. who pays?\n\nNews:\n- Decision: tea";
    assert_eq!(
        lines(text),
        [
            "Goal: ship it",
            "Goal: sell it",
            "Constraint: nothing with flames",
            "Constraint: Budget: budget is 900 pounds",
            "Question: who pays",
            "Decision: tea",
        ]
    );
}

#[test]
fn a_goal_that_is_crossed_off_is_completed() {
    let findings = read("Goals:\n- [ ] ship it\n- [x] sell it");
    let statuses: Vec<_> = findings.iter().map(|it| it.note.status).collect();
    assert_eq!(statuses, [None, Some(Status::Completed)]);
    let findings = read("done: book the hall");
    let goals: Vec<_> = findings
        .iter()
        .map(|it| (&*it.note.text, it.note.status))
        .collect();
    assert_eq!(goals, [("book the hall", Some(Status::Completed))]);
}

#[test]
fn a_line_is_what_the_title_above_says() {
    let text = "## Objective\nSell bread in Porto. The oven is old.\n\n**Open questions:**\nWho bakes?\n\nBudget\n5k";
    let expected = ["Objective: Sell bread in Porto", "Question: Who bakes"];
    assert_eq!(lines(text), expected);
}

#[test]
fn a_finding_comes_once_and_an_exchange_has_one_objective() {
    let text = "Our goal is peace. My aim is war. We ruled out tea. We ruled out Tea.";
    assert_eq!(lines(text), ["Objective: peace", "Alternative: tea"]);
}

#[test]
fn only_the_person_is_read() {
    let reader = ReasoningReader::embedded();
    for by in [
        Speaker::Assistant,
        Speaker::Call,
        Speaker::Output,
        Speaker::Failure,
    ] {
        let text = "Budget: $50k".into();
        let pieces = vec![Piece { by, text }];
        assert_eq!(
            reader.read(&Exchange {
                pieces,
                ..Exchange::default()
            }),
            []
        );
    }
}

#[test]
fn words_of_another_language_stand_beside() {
    let text = "de: {cues: {decision: ['^wir nehmen (?P<text>.+)']}}";
    let reader = ReasoningReader::parse(text).unwrap();
    assert_eq!(reader.check(), Ok(()));
    let exchange = Exchange {
        pieces: vec![Piece {
            by: Speaker::User,
            text: "Wir nehmen Öl".into(),
        }],
        ..Exchange::default()
    };
    assert_eq!(reader.read(&exchange), [Note::new("Öl").of(Kind::Decision)]);
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let bad = |text: &str| {
        with::<ReasoningReader>("my.yaml", text)
            .unwrap_err()
            .to_string()
    };
    for (text, told) in [
        ("en: {clausess: []}", "unknown field `clausess`"),
        ("en: {story: ['(']}", "unclosed group"),
        (
            "en: {cues: {goal: ['{nouns}']}}",
            "\"nouns\" that does not exist",
        ),
        ("en: {present: ['a{']}", "names a list"),
    ] {
        let error = bad(text);
        assert!(
            error.starts_with("my.yaml: ") && error.contains(told),
            "{error}"
        );
    }
}

const FRAGMENTS: [&str; 36] = [
    "we must ",
    "let's go with ",
    "so ",
    "because ",
    "over ",
    "instead of ",
    "Our goal is ",
    ", ",
    " and ",
    ". ",
    "\n",
    "\n\n",
    "\"",
    "“",
    "”",
    "’",
    "(",
    ")",
    ":",
    "Goals:\n- ",
    "Budget: ",
    "phase 2: ",
    "we picked ",
    "is off the table",
    "not ",
    "if ",
    "last year ",
    "**",
    "\u{202e}",
    "\0",
    "é",
    "\u{200d}",
    "$5k",
    "within 200 ms",
    "open question: ",
    "as they ",
];

proptest! {
    #[test]
    fn any_text_can_be_read(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn shuffled_cues_can_be_read_and_give_no_empty_notes(
        places in prop::collection::vec(0..FRAGMENTS.len(), 0..60),
    ) {
        let text: String = places.iter().map(|place| FRAGMENTS[*place]).collect();
        for finding in read(&text) {
            prop_assert!(finding.note.text.chars().any(char::is_alphanumeric));
            prop_assert_eq!(finding.note.text.trim(), &finding.note.text);
            prop_assert_ne!(finding.note.why.as_deref(), Some(""));
        }
    }
}
