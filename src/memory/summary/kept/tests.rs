use proptest::prelude::*;

use super::*;

#[test]
fn lines_with_names_numbers_dates_or_paths_that_vanish_come_back() {
    let old = "- The harbour master is Edith Quill.\n- The budget is $50k.\n- They chat about tea.\n- The code is in src/tide.rs.";
    let new = "- Work on src/tide.rs goes on.";
    let merged = with_what_was_lost(old, new, "User: the tests pass");
    assert_eq!(
        merged,
        "- Work on src/tide.rs goes on.\n\nKept from before:\n- The harbour master is Edith Quill. (older)\n- The budget is $50k. (older)"
    );
}

#[test]
fn an_old_value_does_not_come_back_where_something_new_is_said_of_its_subject() {
    for (old, new, material) in [
        (
            "User lives in Graz.",
            "They talk.",
            "User: I moved to Vienna last week",
        ),
        (
            "- The user lives in Graz",
            "- The user lives in Vienna since May",
            "",
        ),
        (
            "- Works at Siemens",
            "- They talk.",
            "User: my new job is at Bosch",
        ),
        (
            "- The meeting is on 3 May at 10:00",
            "- The meeting is on 7 May",
            "",
        ),
        (
            "- The dog is called Rex",
            "- They talk.",
            "User: our dog's name is Bello now",
        ),
        (
            "- Edith Quill is the harbour master",
            "- Tom Pike is the harbour master",
            "",
        ),
        (
            "- The deadline is 12 March",
            "- They talk.",
            "User: it is due on 1 April",
        ),
        (
            "- The project uses Postgres version 14",
            "- The project uses Postgres 16, a newer version",
            "",
        ),
    ] {
        assert_eq!(with_what_was_lost(old, new, material), new, "{old}");
    }
}

#[test]
fn what_nobody_speaks_of_comes_back_marked_as_older_and_once() {
    for old in [
        "- The user lives in Graz",
        "- Marta is allergic to nuts",
        "- The code word is KX-4471",
        "- The train leaves from platform 9",
        "- Shelf 40 has the book KX-5240",
    ] {
        for new in [
            "- They talk about tea and a train.",
            "- Tom lives for music. Shelf 60 has the book KX-1.",
        ] {
            let merged = with_what_was_lost(old, new, "User: who lives there? And the code?");
            if old.contains("Graz") && new.contains("lives") {
                continue;
            }
            assert_eq!(merged, format!("{new}\n\nKept from before:\n{old} (older)"));
            let again = with_what_was_lost(&merged, new, "User: fine");
            assert_eq!(again, merged, "{old}");
        }
    }
}

#[test]
fn what_the_new_messages_speak_of_may_go() {
    let old = "- The budget is $50k.";
    let merged = with_what_was_lost(old, "- The budget is open.", "User: forget the $50k");
    assert_eq!(merged, "- The budget is open.");
}

#[test]
fn a_name_that_begins_a_line_comes_back_and_other_words_that_do_so_do_not() {
    let old = "- Marta is allergic to nuts.\n- They chat about tea.\n* If it rains, nobody rows. Quill does.\n\
               - OK was said.\n- Rowing goes on.\nAllergies: Ines has none.\n- NOT now.\n- iPhone is the word.";
    let new = "- They are rowing, and talk of allergies.";
    assert_eq!(
        with_what_was_lost(old, new, "User: let us go"),
        "- They are rowing, and talk of allergies.\n\nKept from before:\n- Marta is allergic to nuts. (older)\n\
         * If it rains, nobody rows. Quill does. (older)\n- OK was said. (older)\nAllergies: Ines has none. (older)\n- iPhone is the word. (older)"
    );
    let spoken = with_what_was_lost(old, new, "User: marta, quill, ok, ines and an iPhone");
    assert!(!spoken.contains("Marta is"), "{spoken}");
}

#[test]
fn lines_of_plain_words_do_not_come_back() {
    let lines = [
        "The weather was fine.",
        "They'd go again.",
        "It's late.",
        "Decided to go on.",
        "User wants tea.",
        "Assistant is helpful.",
        "Before that, nothing.",
        "Next: more of it.",
    ];
    for line in lines {
        let old = format!("- {line}");
        assert_eq!(with_what_was_lost(&old, "- tea", ""), "- tea", "{line}");
    }
}

#[test]
fn facts_at_the_end_of_one_that_is_too_long_survive_the_cut() {
    let new = format!(
        "{}\n- The key is KX-4471.",
        "- They talk of this and that.\n".repeat(80)
    );
    let merged = with_what_was_lost("- The pier is in Ostend.", &new, "");
    assert!(words(&merged) <= MAX_WORDS, "{}", words(&merged));
    assert!(
        merged.ends_with(
            "Kept from before:\n- The pier is in Ostend. (older)\n- The key is KX-4471. (older)"
        ),
        "{merged}"
    );
    let merged = with_what_was_lost("", &new, "");
    assert!(
        merged.ends_with("- The key is KX-4471. (older)"),
        "{merged}"
    );
}

#[test]
fn the_whole_stays_within_its_length_however_much_was_lost() {
    let old: Vec<String> = (0..300)
        .map(|n| format!("- fact number {n} of many"))
        .collect();
    let old = old.join("\n");
    let new = "- word. ".repeat(500);
    let merged = with_what_was_lost(&old, &new, "");
    assert!(words(&merged) <= MAX_WORDS, "{}", words(&merged));
    assert!(merged.contains("fact number 0 of many"));
    let again = with_what_was_lost(&merged, "- short", "");
    assert_eq!(again.matches(HEADING).count(), 1);
}

#[test]
fn a_cut_ends_with_a_sentence_or_a_line() {
    for (text, max, expected) in [
        ("One two. Three four five.", 4, "One two."),
        ("- one two\n- three four five", 5, "- one two"),
        ("one two three", 2, "one two"),
        ("short.", 9, "short."),
        ("Version 1.2 is out. It is good", 5, "Version 1.2 is out."),
    ] {
        assert_eq!(cut(text, max), expected, "{text:?}");
    }
}

#[test]
fn scripts_without_blanks_have_words_too() {
    assert_eq!(words("我们决定使用数据库"), 1 + 4);
    let long = "我们决定使用数据库。".repeat(200);
    let short = cut(&long, 400);
    assert!(words(short) <= 400 && short.ends_with('。'));
}

proptest! {
    #[test]
    fn what_is_cut_is_a_beginning_and_short_enough(text in "[a-c .\n。数]{0,200}", max in 1..20_usize) {
        let short = cut(&text, max);
        prop_assert!(text.starts_with(short));
        prop_assert!(words(short) <= max);
    }
}
