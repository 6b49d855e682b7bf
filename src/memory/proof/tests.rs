use super::*;
use crate::chat::fixture;
use crate::chat::{
    Calibration, Compaction, Hybrid, Message, Record, Summary, Timestamp, Tokens, Withdrawal,
};
use crate::context::{Budget, Layout, fit};
use crate::memory::LongTermContext;
use crate::memory::tracking::readers::Readers;
use crate::memory::{Memory, Prompts, Registry, Settings, Surroundings};

fn session(turns: usize) -> Session {
    let mut session = Session::new("test".parse().unwrap());
    for _ in 0..turns {
        turn(&mut session);
    }
    session
}

fn turn(session: &mut Session) {
    fixture::say(session, "question", "answer", None);
}

fn covering(from: usize, upto: usize) -> Summary {
    let id = |n: usize| MessageId::numbered(n as u64);
    Summary {
        text: "- They ask and answer.".into(),
        from,
        upto,
        covers: (id(from + 1), id(upto)),
        at: Timestamp::from_unix(1_800_000_000).unwrap(),
        by: "m".into(),
    }
}

fn compacted(upto: usize) -> Compaction {
    let at = Timestamp::from_unix(1_800_000_000).unwrap();
    Compaction {
        upto,
        text: "- They began.".into(),
        ..Compaction::blank("compact", at)
    }
}

fn with(session: &mut Session, summary: Summary, compaction: Option<Compaction>) {
    session.apply(Record::HybridReplaced(Hybrid {
        summary: Some(summary),
        compaction,
        ..Hybrid::default()
    }));
}

/// What the next request would hold in a window of so many tokens.
fn plan(session: &Session, window: u32) -> ContextPlan {
    laid_out(session, window, Layout::Classic, "next")
}

fn laid_out(session: &Session, window: u32, layout: Layout, input: &str) -> ContextPlan {
    let settings = Settings::default();
    let prompts = Prompts::embedded();
    let modes = Registry::standard(&settings, &prompts, Readers::embedded());
    let memory = Memory::new(modes, settings, prompts).unwrap();
    let budget = Budget::new(Tokens(window), None, Calibration::default());
    let around = Surroundings {
        directory: "~".into(),
        now: Timestamp::from_unix(1_800_000_000).unwrap(),
        room: budget.prompt(),
        layout,
        recall: None,
        offered: None,
        result_chars: 2_000,
        kept: &LongTermContext::default(),
        compacted_now: 0..0,
        strategy: crate::context::Strategy::Rolling,
    };
    let input = Message::text(session.next_message_id(0), Role::User, input, None);
    fit(memory.prepare(session, &input, &around), budget).unwrap()
}

fn places(session: &Session, proof: &Proof) -> String {
    let mut shown: Vec<String> = Vec::new();
    for place in Place::ALL {
        let ranges = proof.ranges(place);
        if ranges.count() > 0 {
            shown.push(format!("{} {ranges}", place.as_str()));
        }
    }
    shown.extend(proof.check(session).err().map(|error| error.to_string()));
    shown.join("; ")
}

fn proven(session: &Session, window: u32) -> String {
    places(
        session,
        &Proof::of(session, &plan(session, window), |_| false),
    )
}

#[test]
fn every_message_is_in_exactly_one_place() {
    assert_eq!(proven(&session(0), 8_192), "");
    assert_eq!(proven(&session(3), 8_192), "window 1 to 6");
    assert_eq!(
        proven(&session(18), 8_192),
        "window 11 to 36; pending 1 to 10"
    );
    let mut session = session(20);
    with(&mut session, covering(0, 10), None);
    assert_eq!(
        proven(&session, 8_192),
        "window 15 to 40; pending 11 to 14; summarised 1 to 10"
    );
    with(&mut session, covering(6, 10), Some(compacted(6)));
    assert_eq!(
        proven(&session, 8_192),
        "window 15 to 40; pending 11 to 14; summarised 7 to 10; compacted 1 to 6"
    );
}

#[test]
fn the_head_of_a_compaction_is_sent_and_a_notice_stands_for_nothing() {
    let mut session = session(6);
    let of_form = |form| Compaction {
        head: 2,
        form,
        ..compacted(8)
    };
    let hybrid = |compaction| Hybrid {
        compaction: Some(compaction),
        ..Hybrid::default()
    };
    session.apply(Record::HybridReplaced(hybrid(of_form(Form::Summary))));
    let expected = "window 1 to 2, 9 to 12; compacted 3 to 8";
    assert_eq!(proven(&session, 8_192), expected);
    session.apply(Record::HybridReplaced(hybrid(of_form(Form::Notice))));
    let plan = plan(&session, 8_192);
    let proof = Proof::of(&session, &plan, |index| index < 7);
    let shown = places(&session, &proof);
    assert!(
        shown.contains("recallable 3 to 7; 1 of 12 messages are out of reach: 8"),
        "{shown}"
    );
}

#[test]
fn a_layout_that_sends_an_older_summary_sends_what_that_does_not_cover() {
    let mut session = session(80);
    session.apply(Record::HybridReplaced(Hybrid {
        summary: Some(covering(0, 120)),
        replaced: [90, 100, 110].map(|upto| covering(0, upto)).into(),
        ..Hybrid::default()
    }));
    for (window, expected) in [
        (
            8_192,
            "window 135 to 160; pending 101 to 134; summarised 1 to 100",
        ),
        (
            1_600,
            "window 135 to 160; pending 121 to 134; summarised 1 to 120",
        ),
    ] {
        let plan = laid_out(&session, window, Layout::CacheFriendly, "next");
        let proof = Proof::of(&session, &plan, |_| false);
        assert_eq!(places(&session, &proof), expected, "{window}");
    }
}

#[test]
fn nothing_is_out_of_reach_in_one_layout_that_is_not_in_the_other() {
    let mut session = session(80);
    session.apply(Record::HybridReplaced(Hybrid {
        summary: Some(covering(0, 120)),
        replaced: [90, 100, 110].map(|upto| covering(0, upto)).into(),
        ..Hybrid::default()
    }));
    let mut whole = 0;
    for words in (0..5_000).step_by(25) {
        let input = "word ".repeat(words);
        let is_whole = |layout| {
            let plan = laid_out(&session, 8_192, layout, &input);
            let proof = Proof::of(&session, &plan, |_| false);
            proof.check(&session).is_ok()
        };
        if is_whole(Layout::Classic) {
            whole += 1;
            assert!(is_whole(Layout::CacheFriendly), "{words} words");
        }
    }
    assert!((100..200).contains(&whole), "{whole}");
}

#[test]
fn what_was_taken_back_is_named_as_such() {
    let mut session = session(5);
    for (turn, why) in [(1, Withdrawal::Undone), (4, Withdrawal::Retried)] {
        let turn = session.turns()[turn].id;
        session.apply(Record::TurnWithdrawn { turn, why });
    }
    assert_eq!(
        proven(&session, 8_192),
        "window 1 to 2, 5 to 8; withdrawn 3 to 4, 9 to 10"
    );
}

#[test]
fn the_turn_that_a_request_began_counts_with_its_answer() {
    let mut session = session(2);
    let plan = plan(&session, 8_192);
    turn(&mut session);
    let proof = Proof::of(&session, &plan, |_| false);
    assert_eq!(places(&session, &proof), "window 1 to 6");
}

#[test]
fn what_found_no_room_is_recallable_or_out_of_reach_and_named() {
    let mut session = session(40);
    with(&mut session, covering(0, 20), None);
    let shown = proven(&session, 1_000);
    assert!(
        shown.contains("messages are out of reach: 21 to ") && shown.contains("(m21 to m"),
        "{shown}"
    );
    let proof = Proof::of(&session, &plan(&session, 1_000), |index| index >= 20);
    assert_eq!(proof.check(&session), Ok(()));
    assert!(proof.ranges(Place::Recallable).count() > 10);
}

#[test]
fn a_summary_that_begins_later_does_not_stand_for_what_was_before_it() {
    let mut session = session(20);
    with(&mut session, covering(6, 14), None);
    let shown = proven(&session, 8_192);
    assert!(
        shown.ends_with("6 of 40 messages are out of reach: 1 to 6 (m1 to m6)"),
        "{shown}"
    );
}

#[test]
fn many_ranges_are_shown_in_a_line() {
    let ranges = Ranges((0..9).map(|n| n * 3..n * 3 + 2).collect());
    assert_eq!(
        ranges.to_string(),
        "1 to 2, 4 to 5, 7 to 8, 10 to 11, 13 to 14, 16 to 17 and 3 more ranges"
    );
    assert_eq!(ranges.count(), 18);
}
