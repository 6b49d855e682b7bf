use std::sync::LazyLock;

use super::super::{Extractor, WalSettings};
use super::*;

fn verdict(lines: &[&str], category: Category, detail: &str) -> Verdict {
    static CAPTOR: LazyLock<Extractor> =
        LazyLock::new(|| Extractor::with(|_| None, &WalSettings::default()).unwrap());
    let new = Capture {
        category,
        detail: detail.to_owned(),
    };
    CAPTOR.written(lines, &new)
}

fn after(category: Category, old: &str, new: &str) -> Verdict {
    let line = format!("- **{category}**: {old}");
    verdict(&["# Memory", "", &line], category, new)
}

const CHANGED: Verdict = Verdict::Supersedes(2);

#[test]
fn a_fact_that_is_said_again_is_there_already() {
    use Category::{Preference, ProperNoun, Remember};
    for (category, old, new) in [
        (Preference, "I prefer dark mode", "I prefer dark mode"),
        (
            Preference,
            "I prefer dark mode",
            "i really prefer Dark Mode",
        ),
        (
            Preference,
            "Well, I prefer dark mode in the editor",
            "I prefer dark mode",
        ),
        (Preference, "I don’t like emojis", "I don't like emojis"),
        (ProperNoun, "My name is Bobur", "Hi, my name is Bobur"),
        (
            ProperNoun,
            "My name is Sardor, not Sarvar",
            "My name is Sardor",
        ),
        (ProperNoun, "Mening ismim Bobur", "ismim Bobur"),
        (
            Remember,
            "Remember that I am allergic to nuts",
            "Please remember that I am allergic to nuts",
        ),
        (
            Remember,
            "Don't forget the port is 8443",
            "Don't forget the port is 8443",
        ),
    ] {
        assert_eq!(
            after(category, old, new),
            Verdict::AlreadyThere,
            "{old} / {new}"
        );
    }
}

#[test]
fn a_changed_value_takes_the_place_of_the_old_one() {
    use Category::{Preference, ProperNoun, Remember};
    for (category, old, new) in [
        (Preference, "I prefer dark mode", "I prefer light mode"),
        (
            Preference,
            "I prefer light mode",
            "Actually, I prefer dark mode now",
        ),
        (Preference, "I prefer coffee", "I prefer tea over coffee"),
        (
            Preference,
            "I prefer coffee",
            "I prefer tea rather than coffee",
        ),
        (Preference, "I prefer tabs", "I prefer spaces instead"),
        (
            Preference,
            "I like dark mode",
            "I don't like dark mode anymore",
        ),
        (Preference, "I don't like emojis", "I like emojis"),
        (Preference, "I want short answers", "I want long answers"),
        (
            Preference,
            "My favourite colour is blue",
            "my favourite colour is green",
        ),
        (
            Preference,
            "Men qorong'i rejimni afzal ko'raman",
            "Men yorug' rejimni afzal ko'raman",
        ),
        (
            ProperNoun,
            "My name is Sarvar",
            "My name is Sardor, not Sarvar",
        ),
        (ProperNoun, "My name is Bobur", "My name is Bobur Karimov"),
        (ProperNoun, "call me Bobur", "call me Bo"),
        (ProperNoun, "call me Bo", "call me Bobur"),
        (ProperNoun, "Mening ismim Sarvar", "Mening ismim Sardor"),
        (
            Remember,
            "Remember that the port is 8080",
            "remember that the port is 8443",
        ),
    ] {
        assert_eq!(after(category, old, new), CHANGED, "{old} / {new}");
    }
}

#[test]
fn what_is_about_something_else_is_new() {
    use Category::{Preference, ProperNoun, Remember};
    for (category, old, new) in [
        (Preference, "I prefer dark mode", "I prefer tea"),
        (Preference, "I prefer tea", "I prefer dark mode"),
        (
            Preference,
            "I prefer tea to coffee",
            "I prefer coffee to tea",
        ),
        (Preference, "I like green tea", "I like black tea"),
        (
            Preference,
            "I prefer dark mode in Vim",
            "I prefer light mode in Outlook",
        ),
        (
            Preference,
            "I prefer dark mode",
            "I prefer tea instead of coffee",
        ),
        (
            Preference,
            "I want short answers",
            "I want tests for every change",
        ),
        (ProperNoun, "I'm German", "I'm Bobur"),
        (ProperNoun, "My name is Bobur", "call me Bo"),
        (
            Remember,
            "Remember that the port is 8080",
            "Remember that the host is db.local",
        ),
        (
            Remember,
            "Remember the deploy is on Friday, and bring the keys",
            "Remember the deploy is not done",
        ),
    ] {
        assert_eq!(after(category, old, new), Verdict::New, "{old} / {new}");
    }
    assert_eq!(verdict(&[], Preference, "I prefer tea"), Verdict::New);
}

#[test]
fn which_of_several_is_meant_by_instead_is_not_guessed() {
    let lines = [
        "- **preference**: I prefer dark mode",
        "- **preference**: I prefer coffee",
    ];
    let new = "I prefer tea instead";
    assert_eq!(verdict(&lines, Category::Preference, new), Verdict::New);
    assert_eq!(
        verdict(&lines[1..], Category::Preference, new),
        Verdict::Supersedes(0)
    );
}

#[test]
fn the_newest_line_decides_and_what_was_superseded_is_gone() {
    let lines = [
        "- (superseded 2025-01-15) **preference**: I prefer dark mode",
        "- **preference**: I prefer light mode",
    ];
    assert_eq!(
        verdict(&lines, Category::Preference, "I prefer dark mode"),
        Verdict::Supersedes(1)
    );
    assert_eq!(
        verdict(&lines[..1], Category::Preference, "I prefer dark mode"),
        Verdict::New
    );
}

#[test]
fn what_a_person_wrote_by_hand_is_seen_but_never_superseded() {
    let lines = ["## Me", "I prefer dark mode, always."];
    assert_eq!(
        verdict(&lines, Category::Preference, "I prefer dark mode"),
        Verdict::AlreadyThere
    );
    assert_eq!(
        verdict(&lines, Category::Preference, "I prefer light mode"),
        Verdict::New
    );
}

#[test]
fn a_correction_takes_the_place_of_the_line_it_corrects_whatever_its_category() {
    use Category::{Correction, Preference, ProperNoun, Remember};
    for (category, old, new) in [
        (
            Remember,
            "Remember the deadline is Thursday",
            "Actually, the deadline is Friday, not Thursday",
        ),
        (
            Remember,
            "Remember that the deadline is Thursday",
            "Actually, the deadline is Friday",
        ),
        (
            Remember,
            "Remember that our office is in Rome",
            "no, actually our office is in Milan",
        ),
        (
            Remember,
            "Remember that the meeting is at 5",
            "The meeting is at 6, not 5",
        ),
        (
            Preference,
            "I want all answers in German",
            "Actually, I want answers in French, not German",
        ),
        (
            ProperNoun,
            "I'm Dilnoza",
            "Actually, I'm Sardor, not Dilnoza",
        ),
        (
            Remember,
            "Remember the deadline is Thursday",
            "It's Friday, not Thursday",
        ),
    ] {
        let line = format!("- **{category}**: {old}");
        let other = "- **remember**: Remember that the parrot is green";
        assert_eq!(
            verdict(&["# Memory", other, &line], Correction, new),
            CHANGED,
            "{old} / {new}"
        );
    }
}

#[test]
fn a_correction_leaves_what_is_about_another_thing_and_what_a_person_wrote() {
    let new = "The meeting is on Friday, not Thursday";
    for lines in [
        &["- **remember**: Remember the deadline is Thursday"][..],
        &["- the meeting is on Thursday"],
        &["- (superseded 2026-01-02) **remember**: Remember the meeting is on Thursday"],
        &[
            "- **remember**: Remember the meeting is on Thursday",
            "- **preference**: I like the meeting on Thursday",
        ],
    ] {
        assert_eq!(
            verdict(lines, Category::Correction, new),
            Verdict::New,
            "{lines:?}"
        );
    }
}

#[test]
fn what_is_said_again_with_another_place_or_hour_takes_the_place_of_the_old() {
    use Category::{Preference, Remember};
    for (category, old, new) in [
        (
            Remember,
            "Remember that the meeting is at 5",
            "Remember that the meeting is at 6 sharp",
        ),
        (
            Remember,
            "Remember our office is in Rome",
            "Remember our office is in Milan",
        ),
        (
            Preference,
            "I want all answers in German",
            "I want answers in French",
        ),
    ] {
        assert_eq!(after(category, old, new), CHANGED, "{old} / {new}");
    }
}
