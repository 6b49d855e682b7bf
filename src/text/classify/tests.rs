use std::path::Path;
use std::sync::LazyLock;

use super::*;

fn read(text: &str) -> Reading {
    static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(Classifier::default);
    CLASSIFIER.read(text, "")
}

fn kept(text: &str) -> Vec<&str> {
    let kept = read(text).kept.into_iter();
    kept.map(|it| &text[it.place]).collect()
}

#[test]
fn what_lasts_is_told_from_what_passes_in_seven_languages() {
    for text in [
        "I'm allergic to peanuts.",
        "From now on always answer me in short sentences.",
        "We decided to move the billing service to Postgres.",
        "Ich bin Vegetarierin und esse keine Eier.",
        "Wir haben uns für den zweiten Entwurf entschieden.",
        "У меня аллергия на орехи.",
        "Мы решили отказаться от Docker.",
        "Soy celíaca, no puedo comer gluten.",
        "Hemos decidido usar Python para el servidor.",
        "Je suis allergique aux noix.",
        "On a décidé de passer à Postgres.",
        "我对花生过敏。",
        "Menda yong'oqqa allergiya bor.",
    ] {
        assert_eq!(kept(text), [text]);
    }
    for text in [
        "How do I boil an egg?",
        "Make it shorter, please.",
        "Pretend you are a pirate and greet me.",
        "Wie koche ich ein Ei?",
        "Schreib mir bitte ein Gedicht über den Herbst.",
        "Как сварить яйцо?",
        "¿Cómo se cuece un huevo?",
        "Écris un poème sur l'automne.",
        "帮我写一首关于秋天的诗",
        "Tuxumni qanday qaynataman?",
    ] {
        assert!(kept(text).is_empty(), "{text}");
    }
}

#[test]
fn of_the_same_words_over_and_over_nothing_is_kept() {
    let text = format!("My message number 9 is {}", "tide ".repeat(40));
    assert!(kept(&text).is_empty());
    assert!(kept("second").is_empty(), "nor of a single word");
    assert!(kept("before kill").is_empty(), "nor of two");
    assert!(!kept("name's Gulnora").is_empty(), "but for a sentence");
}

#[test]
fn of_a_message_the_sentence_that_lasts_is_kept() {
    let text = "Can you write a packing list for the weekend? I'm a vegetarian. Thanks!";
    assert_eq!(kept(text), ["I'm a vegetarian."]);
}

#[test]
fn what_else_a_message_says_neither_hides_what_lasts_nor_brings_it_along() {
    for (text, lasts) in [
        (
            "My landlord is called Marko and I live in Graz. I prefer short answers.",
            &[
                "My landlord is called Marko and I live in Graz.",
                "I prefer short answers.",
            ][..],
        ),
        (
            "thanks that worked! btw my sister Ana moved to Lyon. can you draft an invitation?",
            &["btw my sister Ana moved to Lyon."],
        ),
        (
            "How late is it in Tokyo? What would a ticket cost if I flew on Monday?",
            &[],
        ),
    ] {
        assert_eq!(kept(text), lasts);
    }
}

#[test]
fn the_weights_are_as_good_on_the_corpus_as_when_they_were_learned() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/corpus/kinds");
    let (mut worth, mut found, mut right) = (0_u32, 0_u32, 0_u32);
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines().step_by(9) {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = row["text"].as_str().unwrap();
            let is_worth = row["keep"].as_bool().unwrap();
            let is_kept = !read(text).kept.is_empty();
            worth += u32::from(is_worth);
            found += u32::from(is_kept);
            right += u32::from(is_worth && is_kept);
        }
    }
    assert!(worth > 300, "{worth}");
    let (precision, recall) = (
        f64::from(right) / f64::from(found),
        f64::from(right) / f64::from(worth),
    );
    assert!(precision >= 0.95 && recall >= 0.9, "{precision} {recall}");
}

#[test]
fn weights_are_at_most_a_mebibyte() {
    let bytes = include_bytes!("keep.weights").len() + include_bytes!("kinds.weights").len();
    assert!((100_000..=1 << 20).contains(&bytes), "{bytes}");
}

#[test]
fn every_kind_has_its_name_and_the_first_are_kept() {
    let names: HashSet<&str> = Kind::ALL.iter().map(|it| it.as_str()).collect();
    assert_eq!(names.len(), Kind::ALL.len());
    assert_eq!(
        Kind::ALL.iter().filter(|it| it.is_kept()).count(),
        Kind::KEPT
    );
    assert!(Kind::RememberRequest.is_kept() && !Kind::Request.is_kept());
}

#[test]
fn any_text_is_read_without_a_slip() {
    proptest::proptest!(|(text in "\\PC{0,120}|([’' \n\"`.,?。]|always|我|é|ß|123|-){0,40}", before in "\\PC{0,40}")| {
        static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(Classifier::default);
        for judged in CLASSIFIER.read(&text, &before).kept {
            proptest::prop_assert!(!text[judged.place].trim().is_empty());
        }
    });
}
