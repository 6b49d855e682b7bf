use std::sync::LazyLock;

use super::*;
use crate::chat::{Attached, MessageId, Part};
use crate::memory::texts;

fn extractor() -> &'static Extractor {
    static CAPTOR: LazyLock<Extractor> =
        LazyLock::new(|| Extractor::with(|_| None, &WalSettings::default()).unwrap());
    &CAPTOR
}

fn found(text: &str) -> Vec<(Category, String)> {
    let captures = extractor().said(text, "");
    captures
        .into_iter()
        .map(|capture| (capture.category, capture.detail))
        .collect()
}

fn categories(text: &str) -> Vec<Category> {
    found(text)
        .into_iter()
        .map(|(category, _)| category)
        .collect()
}

fn own(text: &str) -> Result<Extractor, BadCues> {
    Extractor::with(
        |_| Some(Prompt::new("my.yaml", text)),
        &WalSettings::default(),
    )
}

#[test]
fn every_embedded_pattern_compiles() {
    let every = WalSettings {
        languages: vec!["uz".into(), "en".into(), "en".into()],
        ..WalSettings::default()
    };
    Extractor::with(|name| Some(texts::embedded(name)), &every).unwrap();
}

#[test]
fn of_a_long_message_the_beginning_is_read() {
    let german = own("de: {cues: {preference: [{cues: ['\\bich mag \\S']}]}}").unwrap();
    let filler = "Wie heißt das? ".repeat(READ / 14);
    let found = |text: String| german.said(&text, "").len();
    assert_eq!(found(format!("Ich mag Tee. {filler}")), 1);
    assert_eq!(found(format!("{filler} Ich mag Tee.")), 0);
}

#[test]
fn orders_and_decisions_about_books_and_games_count_and_words_of_a_character_do_not() {
    for (said, expected) in [
        (
            "Remember that Harry Potter is my favourite book",
            vec![Category::Remember],
        ),
        (
            "Remember that in our game we use metric units",
            vec![Category::Remember],
        ),
        ("Let's use Godot for the game", vec![Category::Decision]),
        (
            "We decided to use Bevy for the game engine",
            vec![Category::Decision],
        ),
        ("I prefer tabs in my script", vec![Category::Preference]),
        ("in the game the guard says I prefer to die", vec![]),
        ("in our D&D game I'm Thorgrim", vec![]),
        ("in this script I'm Hamlet", vec![]),
        ("in the novel I prefer the villain", vec![]),
    ] {
        assert_eq!(categories(said), expected, "{said}");
    }
}

#[test]
fn what_is_to_be_remembered_may_stand_before_the_order() {
    for text in [
        "my landlord is called Marko Horvat, please remember it",
        "the gate closes at eleven, so remember that",
        "the spare key is under the blue pot - don't forget it please",
    ] {
        assert!(categories(text).contains(&Category::Remember), "{text}");
    }
    for text in [
        "my teacher said nobody is perfect, remember that",
        "If you see a bear, remember this",
        "remember it",
    ] {
        assert!(!categories(text).contains(&Category::Remember), "{text}");
    }
}

#[test]
fn one_sentence_may_say_several_things_in_the_order_of_the_table() {
    assert_eq!(
        found("Actually, my name is Sardor, not Sarvar."),
        [
            (
                Category::Correction,
                "Actually, my name is Sardor, not Sarvar".to_owned()
            ),
            (
                Category::ProperNoun,
                "Actually, my name is Sardor, not Sarvar".to_owned()
            ),
        ]
    );
    assert_eq!(
        categories("Actually, I prefer tabs"),
        [Category::Correction, Category::Preference]
    );
}

#[test]
fn the_same_words_are_captured_once_in_a_category() {
    assert_eq!(
        categories("I prefer tea. I prefer tea. I prefer tea and I prefer tea."),
        [Category::Preference; 2]
    );
}

#[test]
fn a_detail_is_one_line_with_its_secrets_masked() {
    let text =
        "Remember that the key of the staging\nserver is sk-abc123DEF456ghi789 and nothing else.";
    assert_eq!(
        found("Please remember that\tthe backup runs at 7 and my password is hunter2."),
        [(
            Category::Remember,
            "Please remember that the backup runs at 7 and my password is [secret]".to_owned()
        )]
    );
    // What is left says nothing.
    assert_eq!(found("Please remember that my password is hunter2."), []);
    let details = found(text);
    assert!(
        details
            .iter()
            .all(|(_, detail)| !detail.contains("sk-") && !detail.contains('\n')),
        "{details:?}"
    );
}

#[test]
fn a_long_sentence_is_cut_around_the_match() {
    let text = format!(
        "{}, and I prefer dark mode {}",
        "a long story ".repeat(20).trim(),
        "of every kind ".repeat(40)
    );
    let [(Category::Preference, detail)] = &found(&text)[..] else {
        panic!("{:?}", found(&text))
    };
    assert!(
        detail.contains("I prefer dark mode") && detail.chars().count() <= 50 + 20 + 150,
        "{detail}"
    );
    assert!(
        !detail.starts_with("ong") && detail.split(' ').all(|word| text.contains(word)),
        "{detail}"
    );
}

#[test]
fn only_what_a_person_typed_is_read() {
    let message = |role, parts| Message::new(MessageId::numbered(1), role, parts, None);
    let said = || vec![Part::Text("I prefer tea".into())];
    assert_eq!(
        extractor().capture(&message(Role::User, said()), "").len(),
        1
    );
    assert_eq!(
        extractor().capture(&message(Role::Assistant, said()), ""),
        []
    );
    assert_eq!(
        extractor().capture(&Message::reference("I prefer tea"), ""),
        []
    );
    let attached = Part::Attached(Attached {
        name: "notes.txt".into(),
        lines: None,
        text: "I prefer tea".into(),
    });
    assert_eq!(
        extractor().capture(&message(Role::User, vec![attached]), ""),
        []
    );
    for text in [
        "/think I prefer tea",
        "```\nI prefer tea\n```",
        "> I prefer tea",
        "[INFO] I prefer tea",
        "+++ b/x\n+I prefer tea",
        "say \"I prefer tea\" and 'my name is Bob'",
        "Translate this text: I prefer tea.\n\nMy name is Bob.",
        "Please summarise the following email:\n\nHi, I'm Bob. I prefer tea. Don't forget this.",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
    assert_eq!(
        categories("I prefer tea. Fix this text:\n\nI'm Bob."),
        [Category::Preference]
    );
}

#[test]
fn curly_apostrophes_are_as_good_as_straight_ones() {
    let text = "I don’t like emojis";
    assert_eq!(found(text), [(Category::Preference, text.to_owned())]);
    assert_eq!(
        categories("Yo‘q, aslida mening ismim Sardor"),
        [Category::Correction, Category::ProperNoun]
    );
}

#[test]
fn a_mistake_in_a_persons_own_file_names_file_language_and_category() {
    for (text, wanted) in [
        (
            "en: {cues: {preference: [{cues: ['(open']}]}}\nuz: {}",
            ["my.yaml", "en: preference", "(open"],
        ),
        (
            "en: {cues: {decision: [{but: ['{nolist}']}]}}\nuz: {}",
            ["my.yaml", "en: decision", "nolist"],
        ),
        (
            "en: {slots: {cues: {remember: ['(?P<value']}}}\nuz: {}",
            ["my.yaml", "en: slots: remember", "(?P<value"],
        ),
        (
            "en: {cues: {prefrence: []}}",
            ["my.yaml", "prefrence", "preference"],
        ),
        ("[", ["my.yaml", "", ""]),
    ] {
        let error = own(text).unwrap_err().to_string();
        assert!(
            wanted.iter().all(|part| error.contains(part)),
            "{text}: {error}"
        );
    }
    let settings = WalSettings {
        languages: vec!["fr".into()],
        ..WalSettings::default()
    };
    let error = Extractor::with(|_| Some(Prompt::new("my.yaml", "de: {}")), &settings).unwrap_err();
    assert!(
        error.to_string().contains("\"fr\" is not one of "),
        "{error}"
    );
}

#[test]
fn a_person_may_add_a_language() {
    let file = "de: {cues: {preference: [{cues: ['\\bich mag \\S']}]}}\n";
    let settings = WalSettings {
        languages: vec!["de".into()],
        ..WalSettings::default()
    };
    let german = Extractor::with(|_| Some(Prompt::new("my.yaml", file)), &settings).unwrap();
    assert_eq!(german.said("Ich mag Tee", "").len(), 1);
    assert_eq!(own(file).unwrap().said("Ich mag Tee", "").len(), 1);
}

#[test]
fn cues_may_name_sentences_in_which_they_do_not_count() {
    let file = "de: {cues: {preference: [{cues: ['\\bich mag \\S'], never: ['\\bhaha\\b']}]}}\n";
    let german = own(file).unwrap();
    assert_eq!(german.said("Ich mag Tee", "").len(), 1);
    assert_eq!(german.said("haha, ich mag Tee", "").len(), 0);
    let bad = own("de: {cues: {preference: [{never: ['(open']}]}}").unwrap_err();
    assert!(bad.to_string().contains("de: preference"), "{bad}");
}

#[test]
fn what_is_durable_is_for_the_settings_to_say() {
    let passing: Vec<Category> = Category::ALL
        .into_iter()
        .filter(|category| !extractor().is_durable(*category))
        .collect();
    assert_eq!(passing, [Category::Correction, Category::SpecificValue]);
}

#[test]
fn any_text_is_read_without_a_slip() {
    let extractor = extractor();
    proptest::proptest!(|(text in "\\PC{0,120}|([’' \n\"`.,?]|I prefer|actually|not|, but|my name is|é|http://x.y){0,30}")| {
        for Capture { detail, .. } in extractor.said(&text, "") {
            proptest::prop_assert!(!detail.contains('\n') && !detail.is_empty());
        }
    });
}

#[test]
fn a_file_with_one_more_language_leaves_the_others_as_they_are_and_is_heard() {
    let own =
        "de: {cues: {preference: [{cues: ['\\bich bevorzuge \\S']}]}}\nen: {not_names: 'zed'}";
    let settings = WalSettings::default();
    let extractor = Extractor::with(|_| Some(Prompt::new("mine.yaml", own)), &settings).unwrap();
    for (said, expected) in [
        ("ich bevorzuge kurze Antworten", 1),
        ("I prefer dark mode", 1),
        ("My name is Zed", 0),
        ("Keling, Django ishlatamiz.", 1),
    ] {
        assert_eq!(extractor.said(said, "").len(), expected, "{said}");
    }
}

#[test]
fn what_is_announced_is_kept_with_its_content_and_nothing_without() {
    for (said, expected) in [
        (
            "Remember this. The rate is 3.5 percent.",
            "The rate is 3.5 percent",
        ),
        (
            "Remember the following:\n- the office is closed in August\n- the alarm code changes monthly",
            "the office is closed in August; the alarm code changes monthly",
        ),
        (
            "Remember: first, buy milk; second, call the plumber",
            "Remember: first, buy milk; second, call the plumber",
        ),
    ] {
        let found = found(said);
        let remembered: Vec<&str> = found
            .iter()
            .filter(|(category, _)| *category == Category::Remember)
            .map(|(_, detail)| detail.as_str())
            .collect();
        assert_eq!(remembered, [expected], "{said}: {found:?}");
    }
    assert_eq!(found("Remember this."), []);
}

#[test]
fn what_no_pattern_finds_is_kept_where_it_lasts_in_every_language() {
    for (said, category) in [
        ("I'm allergic to peanuts.", Category::Profile),
        ("name's Gulnora", Category::ProperNoun),
        ("I'd rather have short answers", Category::Preference),
        (
            "we agreed that invoices go out on Mondays",
            Category::Decision,
        ),
        (
            "Wir haben uns für den zweiten Entwurf entschieden.",
            Category::Decision,
        ),
        ("У меня аллергия на орехи.", Category::Profile),
        ("Prefiero el modo oscuro", Category::Preference),
        ("Je suis allergique aux noix.", Category::Profile),
        ("我对花生过敏。", Category::Profile),
        ("Menda yong'oqqa allergiya bor.", Category::Profile),
    ] {
        assert_eq!(categories(said), [category], "{said}");
    }
    for said in [
        "please make the letter more formal",
        "My friend says: I hate tea",
        "Schreib mir bitte ein Gedicht über den Herbst.",
        "Напиши стихотворение про осень.",
    ] {
        assert_eq!(categories(said), [], "{said}");
    }
}

#[test]
fn of_a_message_that_is_not_to_be_kept_nothing_is() {
    for said in [
        "Don't remember this: I'm allergic to peanuts.",
        "Off the record, my name is Bobur and we decided to use PostgreSQL.",
    ] {
        let message = Message::text(MessageId::numbered(1), Role::User, said, None);
        assert_eq!(extractor().capture(&message, ""), [], "{said}");
    }
}

#[test]
fn a_sentence_about_he_or_it_is_kept_with_the_one_that_names_them() {
    for (message, kept) in [
        (
            "Six people are coming on Saturday. Two of them are vegetarian and Ellie can't have nuts.",
            true,
        ),
        (
            "We have decided to buy an e-bike. It has to cost less than 1000 euros.",
            true,
        ),
        (
            "My sister Lena lives in Oslo. Remember that her birthday is on 3 March.",
            true,
        ),
        (
            "My sister Lena lives in Oslo. Remember that the dentist is on 3 March.",
            false,
        ),
        (
            "Do you know Oslo? Remember that its airport is at Gardermoen.",
            false,
        ),
    ] {
        let both = message.trim_end_matches('.').to_owned();
        let found = found(message);
        assert!(!found.is_empty());
        assert_eq!(
            found.iter().all(|(_, detail)| *detail == both),
            kept,
            "{found:?}"
        );
    }
}

/// The words that asked for it stood in MEMORY.md, too.
#[test]
fn an_order_at_the_end_to_remember_is_not_kept_itself() {
    for (said, kept) in [
        (
            "My landlord is called Marko Horvat, please remember that",
            "My landlord is called Marko Horvat",
        ),
        (
            "I prefer tea over coffee - so please don\u{2019}t forget it!",
            "I prefer tea over coffee",
        ),
        (
            "The gate closes at nine, remember that the bell rings twice",
            "The gate closes at nine, remember that the bell rings twice",
        ),
    ] {
        let found = found(said);
        assert!(!found.is_empty(), "{said}");
        for (_, detail) in found {
            assert_eq!(detail, kept);
        }
    }
}
