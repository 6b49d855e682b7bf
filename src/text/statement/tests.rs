use proptest::prelude::*;

use super::*;

fn statements(text: &str) -> Statements {
    Statement::of(text).into_iter().collect()
}

#[test]
fn a_phrase_is_taken_and_what_stands_around_it_stays() {
    let tea = statements("I prefer tea over coffee");
    for (text, left) in [
        ("I prefer tea over coffee", "[forgotten]"),
        (
            "I prefer  tea over coffee. Fix the bug.",
            "[forgotten] Fix the bug.",
        ),
        (
            "By the way, i prefer tea over coffee, so no beans",
            "By the way, [forgotten], so no beans",
        ),
        (
            "- **preference**: I prefer tea over coffee.",
            "- **preference**: [forgotten].",
        ),
    ] {
        let masked = tea.masked(text, Author::Person);
        assert_eq!(masked.as_deref(), Some(left), "{text}");
    }
}

#[test]
fn the_same_words_in_another_order_or_form_are_the_same_and_one_shared_word_is_not() {
    let sister = statements("My sister Gulnora lives in Tashkent");
    for (text, is_said) in [
        ("In Tashkent lives my sister Gulnora!", true),
        ("Gulnora, my sister, lived in Tashkent", false),
        (
            "The sister's name is Gulnora, she lives near Tashkent.",
            true,
        ),
        ("I fly to Tashkent in May", false),
        ("My sister likes tea", false),
    ] {
        assert_eq!(sister.are_in(text, Author::Person), is_said, "{text}");
    }
}

#[test]
fn a_name_alone_tells_it_in_what_was_derived_unless_the_person_said_it_elsewhere() {
    let mut sister = statements("My sister Gulnora lives in Tashkent");
    assert!(sister.are_in("Nice to hear of Gulnora!", Author::Derived));
    assert!(!sister.are_in("Nice to hear of Gulnora!", Author::Person));
    sister.without_names_of("I fly to Tashkent in May");
    assert!(!sister.are_in("Tashkent is hot in May.", Author::Derived));
    assert!(sister.are_in("user's sister: Gulnora", Author::Derived));
}

#[test]
fn other_languages_are_read_by_their_own_words() {
    for (said, text, others) in [
        (
            "Моя сестра Гульнора живёт в Ташкенте",
            "Сестра Гульнора живет в Ташкенте.",
            "Моя сестра любит чай.",
        ),
        (
            "Ich wohne in der Gartenstraße 12",
            "Er wohnt in der Gartenstrasse 12.",
            "Ich wohne gern hier.",
        ),
        ("我姐姐叫古尔诺拉", "我姐姐叫古尔诺拉。", "我姐姐喜欢茶。"),
        (
            "Mening singlim Gulnora Toshkentda yashaydi",
            "Singlim Gulnora Toshkentda yashaydi",
            "Singlim choy ichadi",
        ),
    ] {
        let said = statements(said);
        assert!(said.are_in(text, Author::Derived), "{text}");
        assert!(!said.are_in(others, Author::Person), "{others}");
    }
}

#[test]
fn a_full_stop_behind_a_title_or_in_a_number_ends_no_sentence() {
    let dentist = statements("Dr. Adler is my dentist, at 3.30 pm");
    let text = "Hello. Dr. Adler is my dentist, at 3.30 pm. And more.";
    assert_eq!(
        dentist.masked(text, Author::Person).unwrap(),
        "Hello. [forgotten] And more."
    );
    let rate = statements("The rate is 3.5 percent");
    assert!(!rate.are_in("The rate is 35 percent", Author::Derived));
    assert!(!rate.are_in("The rate is 3.6 percent", Author::Derived));
}

#[test]
fn sentences_leave_a_summary_and_a_line_that_is_empty_then_goes_too() {
    let sister = statements("My sister Gulnora lives in Tashkent");
    let summary = "The user plans a trip. Their sister Gulnora lives in Tashkent. Tea is fine.\n- Family: sister Gulnora lives in Tashkent\n- Budget: 500";
    assert_eq!(
        sister.without(summary, Author::Derived).unwrap(),
        "The user plans a trip. Tea is fine.\n- Budget: 500"
    );
    assert_eq!(
        sister.without("The user plans a trip.", Author::Derived),
        None
    );
}

#[test]
fn a_text_that_was_cut_is_known_by_its_beginning() {
    let tea = statements("I prefer tea over coffee");
    for (text, left) in [
        (
            "**User:** Well, I prefer tea…",
            Some("**User:** Well, [forgotten]"),
        ),
        (
            "- User request: I prefer tea ov…",
            Some("- User request: [forgotten]"),
        ),
        ("**User:** I pre…", None),
        ("I prefer tea… and cake", Some("[forgotten] and cake")),
    ] {
        assert_eq!(tea.masked(text, Author::Person).as_deref(), left, "{text}");
    }
}

#[test]
fn a_line_that_says_more_is_known_from_one_that_says_nothing_else() {
    let tea = statements("I prefer tea over coffee");
    assert!(tea.are_all_of(
        "- [2026-02-14T12:00:00+00:00] **preference**: I prefer tea over coffee",
        Author::Derived
    ));
    assert!(tea.are_all_of("- User request: I prefer tea over coffee.", Author::Derived));
    assert!(!tea.are_all_of(
        "- I prefer tea over coffee, and milk in it",
        Author::Derived
    ));
}

proptest! {
    #[test]
    fn ranges_lie_between_characters_in_any_text(
        said in "(\\PC{0,12}|[äßё姐ʼ' .!]{0,8}| [A-Za-z]{1,6}){1,6}",
        text in "(\\PC{0,12}|[äßё姐ʼ' .!\n]{0,8}| [A-Za-z]{1,6}){0,12}",
    ) {
        let statements = statements(&said);
        let whole = format!("{text} {said} {text}");
        for author in [Author::Person, Author::Derived] {
            for range in statements.found(&whole, author) {
                prop_assert!(whole.get(range).is_some());
            }
            statements.without(&whole, author);
        }
    }
}
