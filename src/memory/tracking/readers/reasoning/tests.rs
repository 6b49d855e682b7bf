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
fn what_a_sentence_says_is_found_with_its_parts() {
    for (text, expected) in [
        (
            "Our goal is to launch in Portugal by June.",
            "Objective: launch in Portugal by June",
        ),
        (
            "What I’m after is a garden without weeds",
            "Objective: a garden without weeds",
        ),
        ("Goal: fewer meetings", "Objective: fewer meetings"),
        (
            "First, we need to sort out the permits, since they take long.",
            "Goal: sort out the permits",
        ),
        ("Milestone 2: the trailer", "Goal: the trailer"),
        (
            "A second goal is to train two volunteers.",
            "Goal: train two volunteers",
        ),
        ("we're still in the research phase", "Phase: research"),
        ("Phase 2: design", "Phase: design"),
        ("ok so let's go with Postgres", "Decision: Postgres"),
        (
            "We decided to move since the rent doubled.",
            "Decision: move :: the rent doubled",
        ),
        (
            "Because the rent doubled, we decided to move.",
            "Decision: move :: the rent doubled",
        ),
        ("**Decision:** weekly releases", "Decision: weekly releases"),
        ("We ruled out Tuesday.", "Alternative: Tuesday"),
        (
            "Kubernetes is off the table as nobody knows it",
            "Alternative: Kubernetes :: nobody knows it",
        ),
        (
            "The hotel is too expensive, so no.",
            "Alternative: The hotel :: too expensive",
        ),
        (
            "We looked at Ghost but dropped it because it is slow",
            "Alternative: Ghost :: it is slow",
        ),
        ("Budget: $50k", "Constraint: Budget: $50k"),
        (
            "The budget for the trip is around 2,000 euros, and that is final",
            "Constraint: Budget: 2,000 euros",
        ),
        (
            "tech stack: Rust, Postgres",
            "Constraint: Tech stack: Rust, Postgres",
        ),
        (
            "We must ship by March.",
            "Constraint: Deadline: ship by March",
        ),
        (
            "It has to run on ARM.",
            "Constraint: Technology: run on ARM",
        ),
        (
            "Queries must return within 200 ms. Fine.",
            "Constraint: Performance: return within 200 ms",
        ),
        (
            "It needs to comply with GDPR",
            "Constraint: Compliance: comply with GDPR",
        ),
        (
            "We have at most three engineers",
            "Constraint: Team: at most three engineers",
        ),
        (
            "Everything must be vegan",
            "Constraint: Requirement: be vegan",
        ),
        (
            "Assuming that the roof holds, we can start.",
            "Assumption: the roof holds",
        ),
        (
            "They extend the lease, I assume.",
            "Assumption: They extend the lease",
        ),
        ("Hence we need a caterer", "Chain: we need a caterer"),
        ("So the date can't move.", "Chain: the date can't move"),
        ("Open question: who pays?", "Question: who pays"),
        (
            "Where to park is still up in the air",
            "Question: Where to park",
        ),
        (
            "We don't know yet if the bank agrees",
            "Question: if the bank agrees",
        ),
    ] {
        assert_eq!(lines(text), [expected], "{text:?}");
    }
}

#[test]
fn what_something_was_preferred_to_is_rejected() {
    for (text, expected) in [
        (
            "We picked Nomad over Kubernetes, mostly because it is small.",
            [
                "Decision: Nomad < Kubernetes :: it is small",
                "Alternative: Kubernetes",
            ],
        ),
        (
            "Going with URL versions because they are visible, rather than headers",
            [
                "Decision: URL versions < headers :: they are visible",
                "Alternative: headers",
            ],
        ),
        (
            "Final answer: the night train, not the flight",
            ["Decision: the night train < flight", "Alternative: flight"],
        ),
        (
            "Instead of a planner we'll take my sister",
            ["Decision: my sister < a planner", "Alternative: a planner"],
        ),
    ] {
        assert_eq!(lines(text), expected, "{text:?}");
        assert_eq!(read(text)[1].note.status, Some(Status::Rejected));
    }
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
fn a_long_sentence_is_read_clause_by_clause() {
    let text = "so i talked to legal and we can't store data abroad so let's go with Frankfurt even \
                though it's pricier and it's still unclear who signs, but presumably Ana does";
    assert_eq!(
        lines(text),
        [
            "Constraint: Requirement: can't store data abroad",
            "Decision: Frankfurt",
            "Question: who signs",
            "Assumption: Ana does",
        ]
    );
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
            "Constraint: Requirement: nothing with flames",
            "Constraint: Budget: 900 pounds",
            "Question: who pays",
            "Decision: tea",
        ]
    );
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
    let text = "de: {clauses: [{cues: {decision: ['^wir nehmen (?P<text>.+)']}}]}";
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
        ("en: {leads: ['(']}", "unclosed group"),
        (
            "en: {clauses: [{cues: {goal: ['{nouns}']}}]}",
            "\"nouns\" that does not exist",
        ),
        ("en: {clauses: [{needs: ['a{']}]}", "names a list"),
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
