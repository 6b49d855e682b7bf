use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::memory::tracking::Piece;
use crate::memory::tracking::readers::with;

/// Its patterns are compiled once for all tests.
static READER: LazyLock<ConversationReader> = LazyLock::new(ConversationReader::embedded);

fn found(user: &str, assistant: &str, kind: Kind) -> Vec<String> {
    let pieces = [(Speaker::User, user), (Speaker::Assistant, assistant)];
    let pieces = pieces.map(|(by, text)| Piece {
        by,
        text: text.into(),
    });
    let exchange = Exchange {
        pieces: pieces.into(),
        ..Exchange::default()
    };
    let found = READER.read(&exchange);
    let found = found.into_iter().filter(|finding| finding.kind == kind);
    found.map(|finding| finding.note.text).collect()
}

fn check(kind: Kind, rows: &[(&str, &[&str])]) {
    for (said, expected) in rows {
        assert_eq!(&found(said, "", kind), expected, "{said:?}");
    }
}

#[test]
fn the_embedded_cues_can_be_used() {
    ConversationReader::embedded().check().unwrap();
}

#[test]
fn a_cue_file_with_a_fault_names_the_file_and_what_is_wrong_with_it() {
    for (text, what) in [
        ("en: {moods: []}", "unknown field"),
        ("en: {cues: {fact: ['{who} is']}}", "names a list \"who\""),
        ("en: {cues: {topic: ['(about']}}", "cannot be used"),
        ("en: {fiction: ['[z-a]']}", "cannot be used"),
    ] {
        let fault = with::<ConversationReader>("mine.yaml", text).unwrap_err();
        assert!(fault.to_string().starts_with("mine.yaml: "));
        assert!(fault.to_string().contains(what), "{text}: {fault}");
    }
}

#[test]
fn words_of_another_language_count_beside_the_english_ones() {
    let text = "fr: {cues: {topic: ['^parle-moi de (?P<text>.+)']}}";
    let reader = ConversationReader::parse(text).unwrap();
    let piece = Piece {
        by: Speaker::User,
        text: "Parle-moi de la photosynthèse.".into(),
    };
    let exchange = Exchange {
        pieces: vec![piece],
        ..Exchange::default()
    };
    assert_eq!(
        reader.read(&exchange),
        [Note::new("photosynthèse").of(Kind::Topic)]
    );
}

#[test]
fn an_announced_subject_is_a_topic_without_what_surrounds_it() {
    check(
        Kind::Topic,
        &[
            (
                "Tell me about the French Revolution, please.",
                &["French Revolution"],
            ),
            (
                "whats a sourdough starter and how do i keep it alive??",
                &["sourdough starter"],
            ),
            (
                "I have a quick question about compound interest.",
                &["compound interest"],
            ),
            (
                "What's the difference between a virus and a bacterium?",
                &["virus", "bacterium"],
            ),
            ("how do heat pumps really work", &["heat pumps"]),
            ("Explain black holes to me like I'm five", &["black holes"]),
            ("Can you explain how vaccines work?", &["vaccines"]),
            (
                "I’m interested in bookbinding, is there a gentle way in?",
                &["bookbinding"],
            ),
            (
                "What is torque? And teach me something about gears.",
                &["torque", "gears"],
            ),
        ],
    );
}

#[test]
fn what_points_back_or_at_nobody_is_no_topic() {
    check(
        Kind::Topic,
        &[
            ("What's that supposed to mean?", &[]),
            ("Tell me about yourself.", &[]),
            ("What is wrong with you?", &[]),
            ("Can you explain it again?", &[]),
            ("I don't want to talk about politics.", &[]),
            ("What are you?", &[]),
            ("```\ntell me about ducks\n```", &[]),
            ("> tell me about ducks", &[]),
        ],
    );
}

#[test]
fn capitals_within_a_sentence_make_names() {
    check(
        Kind::Entity,
        &[
            (
                "I read The Left Hand of Darkness in Lisbon.",
                &["The Left Hand of Darkness", "Lisbon"],
            ),
            (
                "We saw The Old Man and the Sea at the Globe.",
                &["The Old Man and the Sea", "Globe"],
            ),
            ("she likes Ludwig van Beethoven", &["Ludwig van Beethoven"]),
            (
                "a talk at the University of Porto",
                &["University of Porto"],
            ),
            ("my new iPhone 15 Pro and a PS5", &["iPhone 15 Pro", "PS5"]),
            (
                "Was Marcus Aurelius a friend of Seneca?",
                &["Marcus Aurelius", "Seneca"],
            ),
            (
                "I was at St Mary's School and at King's College",
                &["St Mary's School", "King's College"],
            ),
            ("Ana's brother lives near Tom's house", &["Ana", "Tom"]),
            (
                "it is by J.R.R. Tolkien, not by Ursula K. Le Guin",
                &["J.R.R. Tolkien", "Ursula K. Le Guin"],
            ),
            (
                "a quote from \"The Name of the Rose\" please",
                &["The Name of the Rose"],
            ),
            ("my dog (Rex) is old", &["Rex"]),
            ("is NASA in the US?", &["NASA", "US"]),
            ("we met Dr. Osei in Accra", &["Dr. Osei", "Accra"]),
        ],
    );
}

#[test]
fn a_first_word_is_a_name_only_if_the_text_tells_so() {
    check(
        Kind::Entity,
        &[
            (
                "Biscuit hates the vet. We call our cat Biscuit.",
                &["Biscuit"],
            ),
            ("Pancakes came out flat.", &[]),
            ("Prague or Vienna?", &["Prague", "Vienna"]),
            ("Bread\nOlive oil\nBasil", &[]),
            (
                "Will do. Frank answer. May I see it? Mark the best line.",
                &[],
            ),
        ],
    );
    check(Kind::Entity, &[("i met ravi in pune", &["ravi", "pune"])]);
}

#[test]
fn not_every_capital_makes_a_name() {
    check(
        Kind::Entity,
        &[
            ("WHY DOES NOTHING EVER WORK TODAY", &[]),
            ("OK FYI the PDF is on the TV, it's 3 PM", &[]),
            ("See you on Monday or in May", &[]),
            ("Now say it in Portuguese, then in Swiss German", &[]),
            ("I think I'm late and I'd go", &[]),
            (
                "open README.md and `Foo` and https://Example.com/Bar and ana@Mail.com",
                &[],
            ),
            ("Hi Lumen, how are you", &[]),
            ("this is REALLY NOT good", &[]),
            (
                "Ich habe gestern mit meiner Mutter im Garten den Baum geschnitten.",
                &[],
            ),
            ("Меня зовут Анна, я живу в Москве.", &[]),
            ("我住在北京。My T-shirt is red", &[]),
            (
                "Please Help Me With My Essay About The Cats Of My Aunt",
                &[],
            ),
        ],
    );
}

#[test]
fn lasting_facts_are_kept_as_said() {
    check(
        Kind::Fact,
        &[
            (
                "hi! my name is Ana, I live in Lisbon and I work as a nurse",
                &["my name is Ana", "I live in Lisbon", "I work as a nurse"],
            ),
            (
                "My daughter is 4. She loves owls.",
                &["My daughter is 4", "She loves owls"],
            ),
            (
                "I’m allergic to nuts, what can I bake?",
                &["I’m allergic to nuts"],
            ),
            (
                "we dont eat beef and im vegetarian",
                &["we dont eat beef", "im vegetarian"],
            ),
            (
                "Remember that my mother-in-law is diabetic.",
                &["my mother-in-law is diabetic"],
            ),
            (
                "I've been knitting for six years",
                &["I've been knitting for six years"],
            ),
            ("I want to run a marathon", &["I want to run a marathon"]),
            (
                "I can't stand horror films",
                &["I can't stand horror films"],
            ),
            (
                "our dog is called Rex. Rex hates cats.",
                &["our dog is called Rex", "Rex hates cats"],
            ),
            (
                "My brother Kwame and I run a bar.",
                &["My brother Kwame and I run a bar"],
            ),
            (
                "When I was small I lived in Cairo.",
                &["When I was small I lived in Cairo"],
            ),
            ("We moved to Porto in May", &["We moved to Porto in May"]),
        ],
    );
}

#[test]
fn what_is_said_of_the_user_is_a_fact_and_a_label_names_a_topic() {
    check(
        Kind::Fact,
        &[("User wants to learn Python.", &["wants to learn Python"])],
    );
    check(Kind::Topic, &[("Topic: tides", &["tides"])]);
}

#[test]
fn what_passes_is_asked_imagined_or_quoted_is_no_fact() {
    check(
        Kind::Fact,
        &[
            (
                "I'm tired. I'm back. I'm not sure. I have a question. I need help.",
                &[],
            ),
            ("I want you to be honest with me", &[]),
            (
                "if i lived on a boat and i had a parrot, would i be allowed to vote?",
                &[],
            ),
            ("Do I have two cats?", &[]),
            ("She said \"I have two dogs and I live in Rome\" to me", &[]),
            ("\"I have nine geese. I don't care for tea.\"", &[]),
            ("I don't like that one. I prefer the second.", &[]),
            ("I think I get it now", &[]),
            ("Translate this: my name is Ana. I live in Rome.", &[]),
            ("Imagine you are me. I live on the moon.", &[]),
            ("Napoleon was born in Corsica. He died on St Helena.", &[]),
            ("I have an exam on Monday and my phone is dying", &[]),
            ("Remember that my password is [secret]", &[]),
        ],
    );
}

#[test]
fn the_same_thing_said_twice_is_told_once_and_in_order() {
    let said = "I live in Rome. Tell me about Rome. I live in rome.";
    let exchange = Exchange {
        pieces: vec![Piece {
            by: Speaker::User,
            text: said.into(),
        }],
        ..Exchange::default()
    };
    let findings = READER.read(&exchange);
    let told: Vec<_> = findings
        .iter()
        .map(|f| (f.kind, f.note.text.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (Kind::Fact, "I live in Rome"),
            (Kind::Topic, "Rome"),
            (Kind::Entity, "Rome")
        ]
    );
}

#[test]
fn what_the_assistant_says_of_itself_is_not_read() {
    for kind in [Kind::Topic, Kind::Entity, Kind::Fact] {
        let told = found("ok", "I live in Oslo. Tell me about Rex.", kind);
        assert_eq!(told, Vec::<String>::new());
    }
}

/// Pieces that the cues and the reader of words are made for, to be thrown together.
const FRAGMENTS: [&str; 40] = [
    "I",
    "i'm",
    "I’ve",
    "my",
    "wife",
    "Ana",
    "'s",
    "’s",
    "and",
    ", ",
    ". ",
    "? ",
    "\n",
    "\n\n",
    "\"",
    "“",
    "”",
    "(",
    ")",
    "tell me about",
    "what is",
    "difference between",
    "The",
    "of the",
    "van",
    "J.R.R.",
    "15",
    "—",
    "/",
    "if",
    "live in",
    "Ünal",
    "Łódź",
    "是",
    "\u{202e}",
    "\u{0}",
    "\u{fffd}",
    "K.",
    "é",
    "İ",
];

proptest! {
    #[test]
    fn whatever_is_said_is_read_and_found_in_what_was_said(said in ".{0,200}") {
        let exchange = Exchange { pieces: vec![Piece { by: Speaker::User, text: said.as_str().into() }], ..Exchange::default() };
        for finding in READER.read(&exchange) {
            prop_assert!(said.contains(&finding.note.text));
        }
    }

    #[test]
    fn cues_in_any_order_are_read_and_found_in_what_was_said(
        parts in proptest::collection::vec(0..FRAGMENTS.len(), 0..60),
        gaps in proptest::collection::vec(any::<bool>(), 60),
    ) {
        let mut said = String::new();
        for (part, gap) in parts.into_iter().zip(gaps) {
            said.push_str(FRAGMENTS[part]);
            said.push_str(if gap { " " } else { "" });
        }
        let piece = |by| Piece { by, text: said.as_str().into() };
        let exchange = Exchange { pieces: vec![piece(Speaker::User), piece(Speaker::Assistant)], ..Exchange::default() };
        for finding in READER.read(&exchange) {
            prop_assert!(said.contains(&finding.note.text));
        }
    }
}

#[test]
fn a_name_with_its_number_says_nothing() {
    for text in ["message number 7", "Message number 12.", "talk 3"] {
        for kind in [Kind::Topic, Kind::Entity, Kind::Fact] {
            assert_eq!(found(text, "", kind), [""; 0], "{text}");
        }
    }
}
