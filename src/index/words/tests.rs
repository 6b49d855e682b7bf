//! The index as its callers see it.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use super::*;
use crate::index::words::{Document, Match, Voice};

static LISTS: LazyLock<Arc<Lists>> = LazyLock::new(|| Arc::new(Lists::embedded()));

/// 2023-05-01, 12:00.
const MAY: i64 = 1_682_942_400;
const DAY: i64 = 86_400;

fn said(text: &str) -> Document<'_> {
    Document {
        text,
        ..Document::default()
    }
}

fn index(documents: &[Document<'_>]) -> LexicalIndex {
    let mut index = LexicalIndex::new(LISTS.clone());
    for document in documents {
        index.push(*document);
    }
    index
}

fn places(hits: &[Match]) -> Vec<u32> {
    hits.iter().map(|hit| hit.place).collect()
}

fn ask(index: &LexicalIndex, question: &str) -> Vec<u32> {
    places(&index.search(question, &[], 10, |_| true))
}

#[test]
fn the_message_with_the_words_comes_first() {
    let index = index(&[
        said("Nothing of note."),
        said("Nobody came."),
        said("It rained."),
        said("My sister adopted two kittens."),
    ]);
    assert_eq!(ask(&index, "Who adopted a kitten?")[0], 3);
    let hit = index.search("Who adopted a kitten?", &[], 1, |_| true)[0];
    assert!(hit.overlap > 0.5 && hit.overlap <= 1.0, "{hit:?}");
}

#[test]
fn an_answer_is_found_by_the_question_before_it_and_stands_first() {
    let at = |days: i64| Some(MAY + days * DAY);
    let texts = [
        ("Good morning.", at(0)),
        (
            "So what is your favourite colour for a sofa in there?",
            at(1),
        ),
        ("Teal, always.", at(1)),
        ("Good night.", at(2)),
    ];
    let index = index(&texts.map(|(text, at)| Document { at, ..said(text) }));
    assert_eq!(ask(&index, "favourite colour"), [2, 1]);
}

#[test]
fn the_same_question_asked_before_stands_behind_every_answer_but_is_found() {
    let index = index(&[
        said("When do I have to see the dentist?"),
        said("I do not know that."),
        said("x"),
        said("x"),
        said("Note: the dentist sees me on 14 May at 9:30."),
    ]);
    assert_eq!(
        ask(&index, "when do I have to see the dentist"),
        [4, 3, 2, 1, 0]
    );
}

#[test]
fn a_reply_that_does_not_know_stands_behind_what_says_something_of_it() {
    let reply = |text| Document {
        voice: Some(Voice::Assistant),
        ..said(text)
    };
    for no_answer in [
        "Sorry, I don't know the code of the gate, you haven't told me.",
        "Das weiß ich leider nicht, den code vom gate.",
        "No lo sé, no tengo ningún code de gate.",
    ] {
        let index = index(&[
            reply(no_answer),
            said("x"),
            said("x"),
            said("Joyce changed the gate in March."),
        ]);
        assert_eq!(ask(&index, "code of the gate")[0], 3, "{no_answer}");
    }
    let index = index(&[
        reply("I don't have a dog, but the code of the gate is 2968."),
        said("the gate"),
    ]);
    assert_eq!(ask(&index, "code of the gate")[0], 0);
}

#[test]
fn words_do_not_reach_into_another_sitting() {
    let apart = |seconds: i64| {
        let at = [MAY, MAY + seconds];
        let texts = ["the kettle", "the teapot"];
        let documents: Vec<_> = texts
            .iter()
            .zip(at)
            .map(|(text, at)| Document {
                at: Some(at),
                ..said(text)
            })
            .collect();
        ask(&index(&documents), "kettle")
    };
    assert_eq!(apart(1800), [0, 1]);
    assert_eq!(apart(1801), [0]);
    assert_eq!(apart(-1801), [0]);
}

#[test]
fn what_the_named_speaker_said_comes_first() {
    let by = |speaker| Document {
        text: "I repaired a clock",
        speaker: Some(speaker),
        ..Document::default()
    };
    let index = index(&[by("Rosalind"), by("Henrietta")]);
    assert_eq!(ask(&index, "Which clock did Ros repair?"), [0, 1]);
    assert_eq!(ask(&index, "Which clock did henrietta repair?"), [1, 0]);
    assert_eq!(
        index.in_first_person("Did Henrietta’s clock stop?"),
        "Did my clock stop?"
    );
}

#[test]
fn i_is_the_user_and_you_the_assistant() {
    let by = |voice| Document {
        voice: Some(voice),
        ..said("a quiet lake")
    };
    let index = index(&[by(Voice::User), by(Voice::Assistant)]);
    assert_eq!(ask(&index, "my lake"), [0, 1]);
    assert_eq!(ask(&index, "your lake"), [1, 0]);
}

#[test]
fn a_date_in_the_question_brings_its_messages() {
    let on = |days: i64| Document {
        at: Some(MAY + days * DAY),
        ..said("We met for lunch")
    };
    let index = index(&[on(-40), on(0), on(14), on(40), on(800)]);
    assert_eq!(ask(&index, "lunch on 16 May 2023")[..2], [2, 1]);
    assert_eq!(ask(&index, "lunch in June")[0], 3);
    assert_eq!(ask(&index, "in 2025"), [4], "a date alone is enough");
}

#[test]
fn a_message_that_tells_a_time_answers_when() {
    let index = index(&[
        said("the wedding was nice"),
        said("x"),
        said("x"),
        said("the wedding was last week"),
    ]);
    assert_eq!(ask(&index, "when was the wedding?")[0], 3);
}

#[test]
fn questions_stand_behind_statements() {
    let index = index(&[said("a piano?"), said("x"), said("x"), said("a piano!")]);
    assert_eq!(ask(&index, "piano")[0], 3);
}

#[test]
fn nothing_in_common_finds_nothing() {
    let index = index(&[said("a piano"), said("")]);
    for question in ["", "the", "zebra", "🎉", "?!"] {
        assert_eq!(ask(&index, question), [0; 0], "{question}");
    }
    assert!(ask(&LexicalIndex::new(LISTS.clone()), "piano").is_empty());
}

#[test]
fn other_languages_are_found_by_their_characters() {
    let texts = [
        "我昨天买了一只猫",
        "Вчера мы ездили на дачу",
        "Das Straßenfest war schön",
        "주말에 고양이를 봤어요",
        "ฉันชอบแมวมาก",
        "🎉🎉🎉",
    ];
    let documents = texts.map(|text| Document {
        at: Some(MAY),
        ..said(text)
    });
    let spaced: Vec<_> = documents
        .iter()
        .zip(0..)
        .map(|(document, day)| Document {
            at: Some(MAY + day * DAY),
            ..*document
        })
        .collect();
    let index = index(&spaced);
    let rows = [
        ("猫", 0),
        ("谁买了猫？", 0),
        ("дачу", 1),
        ("strassenfest", 2),
        ("고양이", 3),
        ("แมว", 4),
    ];
    for (question, place) in rows {
        assert_eq!(ask(&index, question).first(), Some(&place), "{question}");
    }
}

#[test]
fn a_huge_message_is_one_message() {
    let huge = "antidisestablishmentarian straw ".repeat(40_000);
    let index = index(&[said(&huge), said("x"), said("x"), said("a needle")]);
    assert_eq!(ask(&index, "needle")[0], 3);
    assert_eq!(ask(&index, "straw")[0], 0);
    assert!(index.to_bytes().len() < 1000);
}

#[test]
fn a_related_word_is_found_behind_the_word_itself() {
    let index = index(&[
        said("It rained."),
        said("x"),
        said("x"),
        said("We adopted a puppy."),
        said("x"),
        said("x"),
        said("My pet is a goldfish."),
    ]);
    let found = ask(&index, "pet");
    assert_eq!((found[0], found.contains(&3)), (6, true));
}

#[test]
fn a_word_that_begins_alike_is_found_behind_the_word_itself() {
    let index = index(&[
        said("Katerina called"),
        said("x"),
        said("x"),
        said("Katerine called"),
        said("x"),
        said("x"),
        said("Мы купили дачу"),
        said("x"),
        said("x"),
        said("number 20233"),
    ]);
    assert_eq!(ask(&index, "katerine")[0], 3);
    assert!(ask(&index, "katerine").contains(&0));
    assert_eq!(ask(&index, "дача")[0], 6);
    assert!(ask(&index, "2023").is_empty());
}

#[test]
fn a_message_of_substance_stands_before_a_short_one() {
    let index = index(&[
        said("tea"),
        said("tea keeps warm longest under cosy woollen hats knitted yesterday evening"),
    ]);
    assert_eq!(ask(&index, "tea"), [1, 0]);
}

#[test]
fn a_huge_question_is_read_at_its_ends() {
    let index = index(&[said("a needle"), said("x"), said("x"), said("a kettle")]);
    let hay: Vec<String> = (0..100_000).map(|n| format!("hay{n}é")).collect();
    let hay = hay.join(" ");
    assert_eq!(ask(&index, &format!("where is the needle? {hay}"))[0], 0);
    assert_eq!(ask(&index, &format!("{hay} where is the kettle?"))[0], 3);
    assert!(ask(&index, &format!("{hay} needle {hay}")).is_empty());
}

#[test]
fn of_a_crowd_the_first_are_told_apart() {
    let names: Vec<String> = (0..300).map(|n| format!("Speaker{n}x")).collect();
    let documents: Vec<_> = names
        .iter()
        .map(|name| Document {
            speaker: Some(name),
            ..said("the lake")
        })
        .collect();
    let index = index(&documents);
    assert_eq!(ask(&index, "Speaker7x lake")[0], 7);
    assert_eq!(ask(&index, "Speaker299x lake")[0], 299);
}

#[test]
fn the_filter_keeps_messages_back() {
    let index = index(&[said("tea"), said("tea"), said("tea")]);
    let hits = index.search("tea", &[], 2, |place| place != 0);
    assert_eq!(places(&hits), [1, 2]);
    assert!(index.search("tea", &[], 0, |_| true).is_empty());
}

#[test]
fn a_message_withdrawn_leaves_nothing_behind() {
    let mut index = index(&[said("tea"), said("a zeppelin"), said("tea")]);
    index.withdraw(1);
    index.withdraw(1);
    index.withdraw(99);
    assert!(index.is_withdrawn(1) && !index.is_withdrawn(0));
    assert!(ask(&index, "zeppelin").is_empty());
    assert!(!String::from_utf8_lossy(&index.to_bytes()).contains("zeppelin"));
    assert_eq!(ask(&index, "tea"), [0, 2]);
    index.push(said("a zeppelin"));
    assert_eq!(ask(&index, "zeppelin")[0], 3);
}

#[test]
fn meaning_brings_what_shares_no_word() {
    let index = index(&[said("tea"), said("x"), said("x"), said("x"), said("oolong")]);
    let nearest = [(3, 0.2), (4, 0.9), (77, 1.0), (2, f32::NAN)];
    let hits = index.search("brew", &nearest, 1, |_| true);
    assert_eq!(places(&hits), [4]);
}

#[test]
fn a_single_cosine_of_nothing_proves_nothing() {
    let index = index(&[said("tea"), said("x")]);
    let hits = index.search("tea", &[(1, 0.05)], 1, |_| true);
    assert_eq!(places(&hits), [0]);
}

#[test]
fn a_sitting_that_speaks_of_it_all_through_lifts_what_is_near_in_it() {
    let at = |day: i64, text| Document {
        at: Some(MAY + day * DAY),
        ..said(text)
    };
    let index = index(&[
        at(0, "we sailed along the coast"),
        at(1, "the harbour at night"),
        at(1, "we sailed along the coast"),
        at(1, "another harbour, the old harbour"),
    ]);
    let hits = index.search("harbour", &[(0, 0.6), (2, 0.6)], 4, |_| true);
    let of = |place| hits.iter().find(|hit| hit.place == place).unwrap().score;
    assert!(of(2) > of(0), "{hits:?}");
}

#[test]
fn who_speaks_of_himself_answers_rather_than_who_asks_back() {
    let index = index(&[
        said("you sold your boat to my uncle"),
        said("x"),
        said("x"),
        said("I sold my boat to his uncle"),
    ]);
    let hits = index.search("boat uncle", &[(0, 0.6), (3, 0.6)], 2, |_| true);
    assert_eq!(places(&hits), [3, 0]);
}

#[test]
fn bytes_that_are_no_index_say_why() {
    let mut index = index(&[said("tea")]);
    index.push(said("x"));
    let bytes = index.to_bytes();
    let read = |bytes: &[u8]| LexicalIndex::from_bytes(LISTS.clone(), bytes).map(|_| ());
    assert_eq!(read(b""), Err(BadBytes::Foreign));
    assert_eq!(read(&bytes[..18]), Err(BadBytes::Foreign));
    let mut newer = bytes.clone();
    newer[16] = 9;
    assert_eq!(read(&newer), Err(BadBytes::Version { found: 9 }));
    let other = Lists::parse("{}").unwrap();
    let other = LexicalIndex::from_bytes(other, &bytes).map(|_| ());
    assert_eq!(other, Err(BadBytes::OtherLists));
    for at in 20..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert_eq!(read(&damaged), Err(BadBytes::Damaged), "byte {at}");
        assert_eq!(read(&bytes[..at]), Err(BadBytes::Damaged), "cut at {at}");
    }
}

/// Words that meet often, and anything at all.
fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "tea",
        "kettle",
        "garden",
        "rose",
        "May",
        "yesterday",
        "Ann",
        "Bob",
        "2023",
        "?",
        "猫",
        "茶",
        "дом",
        "🎉",
    ]);
    prop_oneof![
        4 => prop::collection::vec(word, 0..8).prop_map(|words| words.join(" ")),
        1 => any::<String>(),
    ]
}

#[derive(Clone, Debug)]
struct Said {
    text: String,
    speaker: Option<&'static str>,
    voice: Option<Voice>,
    at: Option<i64>,
}

fn conversation() -> impl Strategy<Value = Vec<Said>> {
    let speaker = prop::option::of(prop::sample::select(vec!["Ann", "Bob", "Charlotte Will"]));
    let at = prop::option::of(prop_oneof![
        9 => (0..400_i64).prop_map(|n| MAY + n * 1000),
        1 => any::<i64>(),
    ]);
    let voice = prop::option::of(prop::sample::select(vec![Voice::User, Voice::Assistant]));
    let one = (text(), speaker, voice, at).prop_map(|(text, speaker, voice, at)| Said {
        text,
        speaker,
        voice,
        at,
    });
    prop::collection::vec(one, 0..25)
}

fn index_of(conversation: &[Said]) -> LexicalIndex {
    let mut index = LexicalIndex::new(LISTS.clone());
    for said in conversation {
        index.push(Document {
            text: &said.text,
            speaker: said.speaker,
            voice: said.voice,
            at: said.at,
        });
    }
    index
}

proptest! {
    #[test]
    fn a_search_of_anything_for_anything_ends_in_order(
        conversation in conversation(),
        question in text(),
        withdrawn in prop::collection::vec(0..25_u32, 0..4),
        k in 0..30_usize,
    ) {
        let mut index = index_of(&conversation);
        for place in &withdrawn {
            index.withdraw(*place);
        }
        let hits = index.search(&question, &[], k, |place| place % 5 != 0);
        prop_assert!(hits.len() <= k);
        for pair in hits.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            prop_assert!(a.score > b.score || (a.score - b.score).abs() <= 0.0 && a.place < b.place);
        }
        for hit in &hits {
            prop_assert!(hit.place % 5 != 0 && !withdrawn.contains(&hit.place) && hit.place < index.len());
            prop_assert!(hit.score.is_finite() && (0.0..=1.0).contains(&hit.overlap));
        }
        let all = index.search(&question, &[], usize::MAX, |place| place % 5 != 0);
        prop_assert_eq!(&all[..hits.len()], &hits[..]);
    }

    #[test]
    fn an_index_comes_back_from_its_bytes(
        conversation in conversation(),
        question in text(),
        withdrawn in prop::collection::vec(0..25_u32, 0..4),
    ) {
        let mut index = index_of(&conversation);
        for place in withdrawn {
            index.withdraw(place);
        }
        let bytes = index.to_bytes();
        let mut read = LexicalIndex::from_bytes(LISTS.clone(), &bytes).unwrap();
        prop_assert_eq!(read.to_bytes(), bytes);
        read.push(said("tea for Ann"));
        index.push(said("tea for Ann"));
        let find = |index: &LexicalIndex| places(&index.search(&question, &[], 30, |_| true));
        prop_assert_eq!(find(&read), find(&index));
    }

    #[test]
    fn what_was_truncated_was_never_said(
        conversation in conversation(),
        question in text(),
        len in 0..25_usize,
    ) {
        let mut conversation = conversation;
        for said in &mut conversation {
            said.speaker = None;
        }
        let mut index = index_of(&conversation);
        index.truncate(u32::try_from(len).unwrap());
        conversation.truncate(len);
        let plain = index_of(&conversation);
        prop_assert_eq!(index.to_bytes(), plain.to_bytes());
        prop_assert_eq!(ask(&index, &question), ask(&plain, &question));
    }

    #[test]
    fn sealed_rubbish_is_refused_or_harmless(body: Vec<u8>) {
        if let Some(mut index) = persist::read_sealed(&LISTS, &body) {
            index.search("tea in May", &[], 5, |_| true);
            index.push(said("tea"));
        }
    }
}
