use std::sync::Arc;

use super::*;
use crate::chat::fixture;
use crate::chat::{Record, Timestamp, Withdrawal};
use crate::index::Lists;

const DAY: i64 = 86_400;

/// Adds a turn, a day after the one before.
fn say(session: &mut Session, user: &str, assistant: &str) {
    let day = i64::from(session.next_turn().0);
    let at = Timestamp::from_unix(1_700_000_000 + day * DAY);
    fixture::say(session, user, assistant, at);
}

fn session() -> Session {
    let mut session = Session::new("test".parse().unwrap());
    for (user, assistant) in [
        (
            "Our passwords rotate on Fridays at noon.",
            "Noted: Fridays.",
        ),
        ("The cat of my sister is called Mogli.", "A fine name."),
        (
            "Which port does the staging database use?",
            "It listens on 5433.",
        ),
        ("Let us talk about sailing.", "Gladly."),
        ("The wind was strong yesterday.", "Reef early then."),
    ] {
        say(&mut session, user, assistant);
    }
    session
}

fn words(session: &Session) -> Words {
    let mut words = Words::new(Lists::embedded());
    words.follow(session);
    words
}

fn asked(text: &str) -> Question<'_> {
    Question {
        text,
        k: 3,
        before: usize::MAX,
        min_similarity: 0.25,
    }
}

fn turns(session: &Session, words: &Words, question: Question<'_>) -> Vec<u32> {
    let searching = Searching {
        words,
        nearest: &[],
    };
    let found = find(session, searching, question);
    found.into_iter().map(|found| found.turn.0).collect()
}

#[test]
fn the_exchange_that_answers_comes_first_with_where_it_is_from() {
    let session = session();
    let words = words(&session);
    let question = asked("on which day do the passwords rotate?");
    let searching = Searching {
        words: &words,
        nearest: &[],
    };
    let found = find(&session, searching, question);
    assert_eq!(found[0].turn, TurnId(1));
    assert!(found[0].best.overlap > MIN_OVERLAP);
    insta::assert_snapshot!(quote(&session, &words.asked(question.text), &found[..1]), @r"
    [turn 1, m1 to m2, 2023-11-15 22:13 UTC]
    User: Our passwords rotate on Fridays at noon.
    Assistant: Noted: Fridays.
    ");
}

#[test]
fn nothing_is_found_that_the_request_holds_or_that_was_taken_back_or_that_has_nothing_to_do_with_it()
 {
    let mut session = session();
    let mut words = words(&session);
    let question = asked("what is the name of the cat?");
    assert_eq!(turns(&session, &words, question)[0], 2);
    let before = Question {
        before: 2,
        ..question
    };
    assert!(!turns(&session, &words, before).contains(&2));
    assert_eq!(
        turns(
            &session,
            &words,
            asked("please translate zygomorphic into Dutch")
        ),
        [0; 0]
    );
    let turn = TurnId(2);
    let why = Withdrawal::Undone;
    session.apply(Record::TurnWithdrawn { turn, why });
    words.take_back(&session, turn);
    assert!(!turns(&session, &words, question).contains(&2));
}

#[test]
fn what_is_near_by_meaning_is_found_without_a_common_word() {
    let session = session();
    let words = words(&session);
    let nearest = [(2, 0.6), (3, 0.6), (0, 0.1), (1, 0.1)];
    let searching = Searching {
        words: &words,
        nearest: &nearest,
    };
    let found = find(&session, searching, asked("who is that kitten?"));
    let turns: Vec<u32> = found.iter().map(|found| found.turn.0).collect();
    assert_eq!(turns, [2], "and not what is only a little near");
    assert_eq!(found[0].best.similarity, Some(0.6));
}

#[test]
fn the_same_words_said_twice_come_back_once() {
    let mut session = session();
    say(
        &mut session,
        "The cat of my sister is called Mogli.",
        "A fine name.",
    );
    let words = words(&session);
    let found = turns(&session, &words, asked("how is my sister's cat called?"));
    assert_eq!(
        found.iter().filter(|turn| [2, 6].contains(*turn)).count(),
        1
    );
}

#[test]
fn of_a_long_message_the_part_is_quoted_that_is_asked_about() {
    let mut session = session();
    let filler = "Nothing much happened there. ".repeat(100);
    let report = format!("{filler}The vault opens with 7731. {filler}");
    say(&mut session, &report, "I read it.");
    let words = words(&session);
    let question = asked("what opens the vault?");
    let searching = Searching {
        words: &words,
        nearest: &[],
    };
    let found = find(&session, searching, question);
    let text = quote(&session, &words.asked(question.text), &found);
    assert!(text.contains("The vault opens with 7731."), "{text}");
    assert!(text.chars().count() < 1_500);
}

#[test]
fn an_index_comes_back_from_its_bytes_and_reads_on() {
    let mut session = session();
    let lists = Arc::new(Lists::embedded());
    let bytes = words(&session).to_bytes();
    say(&mut session, "The harbour closes at nine.", "Good to know.");
    let mut back = Words::from_bytes(Arc::clone(&lists), &bytes).unwrap();
    assert!(back.is_of(&session));
    assert_eq!(session.messages().len() - back.read(), 2);
    back.follow(&session);
    assert_eq!(
        turns(&session, &back, asked("when does the harbour close?"))[0],
        6
    );
    assert_eq!(
        turns(&session, &back, asked("when do passwords rotate?"))[0],
        1
    );
    let mut other = Session::new("other".parse().unwrap());
    for n in 0..9 {
        say(&mut other, &format!("Hello {n}"), "Hi");
    }
    assert!(
        !back_again(&lists, &bytes).is_of(&other),
        "same ids, other messages"
    );
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        let read = Words::from_bytes(Arc::clone(&lists), &damaged);
        assert!(
            read.is_none_or(|mut words| !words.is_of(&session)),
            "byte {at}"
        );
        assert!(Words::from_bytes(Arc::clone(&lists), &bytes[..at]).is_none());
    }
}

fn back_again(lists: &Arc<Lists>, bytes: &[u8]) -> Words {
    Words::from_bytes(Arc::clone(lists), bytes).unwrap()
}

#[test]
fn a_backlog_read_elsewhere_gives_the_same_index() {
    let session = session();
    let mut words = Words::new(Lists::embedded());
    let backlog = words.backlog(&session);
    assert_eq!(backlog.len(), 10);
    words.take(backlog);
    assert_eq!(words.to_bytes(), self::words(&session).to_bytes());
}

#[test]
fn short_inputs_ask_for_nothing() {
    let settings = RecallSettings::default();
    for (input, asks) in [
        ("yes please", false),
        ("when was it", true),
        ("密码是什么", true),
        ("密码", false),
        ("👍👍👍", false),
        ("“ok”…", false),
        ("", false),
    ] {
        assert_eq!(settings.asks(input), asks, "{input}");
    }
}
