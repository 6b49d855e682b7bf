use super::*;
use crate::chat::fixture;
use crate::chat::{CallId, Part, ToolCall, Withdrawal};
use crate::memory::Prompts;

fn session(turns: usize, said: &str) -> Session {
    let mut session = Session::new("test".parse().unwrap());
    for _ in 0..turns {
        turn(&mut session, said, Vec::new());
    }
    session
}

/// A turn in which the model calls tools first.
fn turn(session: &mut Session, said: &str, calls: Vec<&str>) {
    let turn = fixture::begin(session, said, None);
    let mut messages = Vec::new();
    let mut text = |role, text: &str, part: Option<Part>| {
        let id = session.next_message_id(messages.len() as u64);
        let mut message = Message::text(id, role, text, None);
        if let Some(part) = part {
            message.parts = vec![part];
        }
        messages.push(message);
    };
    for call in calls {
        text(
            Role::Assistant,
            "",
            Some(Part::ToolCall(ToolCall::new(call, "read", "{}"))),
        );
        let result = Part::ToolResult {
            call: CallId::new(call),
            name: "read".into(),
            output: "x".into(),
            failed: false,
        };
        text(Role::Tool, "", Some(result));
    }
    text(Role::Assistant, said, None);
    fixture::answer(session, turn, messages);
}

fn due_in(session: &Session) -> Option<SummaryJob> {
    let prompts = Prompts::embedded();
    let asking = Asking {
        summarise: &prompts.summarise,
        shorten: &prompts.shorten,
    };
    due(session, 25, asking)
}

const SAID: &str = "We talked about the harbour, its cranes and the tide tables of last spring.";
const SUMMARY: &str = "- They talk about the harbour and its tide tables.";

fn now() -> Timestamp {
    Timestamp::from_unix(1_800_000_000).unwrap()
}

fn done(job: SummaryJob, text: &str) -> Summarised {
    Summarised {
        job,
        text: text.into(),
        by: "m".into(),
    }
}

fn take(session: &mut Session, text: &str) -> Result<(), NotSummarised> {
    let job = due_in(session).unwrap();
    let record = accept(session, done(job, text), now())?;
    session.apply(record);
    Ok(())
}

#[test]
fn a_batch_is_due_when_ten_messages_have_left_the_window() {
    for (turns, expected) in [(17, None), (18, Some(10)), (23, Some(20))] {
        let session = session(turns, SAID);
        assert_eq!(
            due_in(&session).map(|job| job.messages()),
            expected,
            "{turns}"
        );
    }
    let mut session = session(18, SAID);
    take(&mut session, SUMMARY).unwrap();
    assert_eq!(due_in(&session), None);
    assert_eq!(session.hybrid().covered(), 10);
    let covers = &session.hybrid().summary.as_ref().unwrap().covers;
    assert_eq!(*covers, (MessageId::numbered(1), MessageId::numbered(10)));
}

#[test]
fn what_is_said_of_a_job_for_a_log_holds_nothing_that_was_said() {
    let mut session = session(18, SAID);
    take(&mut session, SUMMARY).unwrap();
    for _ in 0..5 {
        turn(&mut session, SAID, Vec::new());
    }
    let job = due_in(&session).unwrap();
    let job_said = format!("{job:?}");
    let done_said = format!("{:?}", done(job, SUMMARY));
    for said in [job_said, done_said] {
        assert!(said.contains("upto: 20"), "{said}");
        assert!(!said.contains("harbour"), "{said}");
    }
}

#[test]
fn tool_work_alone_waits_and_long_words_do_not() {
    let calls: Vec<String> = (0..12).map(|n| format!("c{n}")).collect();
    let mut session = session(0, SAID);
    turn(
        &mut session,
        "go",
        calls.iter().map(String::as_str).collect(),
    );
    for _ in 0..13 {
        turn(&mut session, SAID, Vec::new());
    }
    assert_eq!(due_in(&session), None, "two messages with something to say");
    let mut long = self::session(0, SAID);
    turn(
        &mut long,
        &"x".repeat(5_000),
        calls.iter().map(String::as_str).collect(),
    );
    for _ in 0..13 {
        turn(&mut long, SAID, Vec::new());
    }
    let job = due_in(&long).unwrap();
    let request = job.writing(Tokens(8_000)).unwrap().request(0, "");
    assert!(request.contains("[…]") && request.len() < 6_000, "clipped");
    assert!(!request.contains("read"), "no tool work");
}

#[test]
fn nothing_changes_unless_the_result_is_good() {
    let mut session = session(18, SAID);
    for (text, error) in [
        ("  \n", NotSummarised::Empty),
        (&*SAID.repeat(30), NotSummarised::NotShorter),
        (
            "他们讨论了港口、起重机和去年春天的潮汐表，没有其他内容。",
            NotSummarised::OtherScript,
        ),
    ] {
        assert_eq!(take(&mut session, text), Err(error), "{text}");
        assert_eq!(session.hybrid().covered(), 0);
    }
}

#[test]
fn a_short_summary_of_terse_messages_is_taken() {
    let mut session = session(18, "ok, go");
    take(&mut session, &format!("{SUMMARY}\n").repeat(5)).unwrap();
    assert_eq!(session.hybrid().covered(), 10);
    let mut session = self::session(18, "ok, go");
    let long = format!("{SUMMARY}\n").repeat(13);
    assert_eq!(take(&mut session, &long), Err(NotSummarised::NotShorter));
}

#[test]
fn a_result_for_what_is_no_longer_so_is_stale() {
    let mut session = session(18, SAID);
    let job = due_in(&session).unwrap();
    turn(&mut session, "more", Vec::new());
    assert!(job.basis.holds(&session), "what came after does not matter");
    let first = session.turns()[0].id;
    session.apply(Record::TurnWithdrawn {
        turn: first,
        why: Withdrawal::Undone,
    });
    let late = accept(&session, done(job, SUMMARY), now());
    assert_eq!(late, Err(NotSummarised::Stale));
}

#[test]
fn after_three_failures_it_is_tried_every_tenth_turn_until_it_works() {
    let mut session = session(18, SAID);
    for n in 1..=3 {
        let (record, tell) = failed(&session);
        session.apply(record);
        assert_eq!(tell, n == 3, "{n}");
    }
    let mut tried = Vec::new();
    for _ in 0..12 {
        turn(&mut session, SAID, Vec::new());
        if due_in(&session).is_some() {
            tried.push(session.turns().len());
        }
    }
    assert_eq!(tried, [20, 30]);
    take(&mut session, SUMMARY).unwrap();
    assert_eq!(session.hybrid().failures, 0);
}

#[test]
fn replaced_summaries_are_kept_and_come_back() {
    let mut session = session(18, SAID);
    for n in 1..=15 {
        take(&mut session, &format!("- Summary {n} of the harbour talk.")).unwrap();
        for _ in 0..5 {
            turn(&mut session, SAID, Vec::new());
        }
    }
    assert_eq!(session.hybrid().replaced.len(), Hybrid::MAX_REPLACED);
    let covered = session.hybrid().covered();
    session.apply(undone(&session).unwrap());
    assert!(
        session
            .hybrid()
            .summary
            .as_ref()
            .unwrap()
            .text
            .starts_with("- Summary 14")
    );
    assert_eq!(session.hybrid().covered(), covered - 10);
    let fresh = self::session(1, SAID);
    assert_eq!(undone(&fresh), None);
}

#[test]
fn a_summary_goes_back_to_the_one_that_fits_what_is_left() {
    let mut session = session(18, SAID);
    for n in 1..=3 {
        take(&mut session, &format!("- Summary {n} of the harbour talk.")).unwrap();
        for _ in 0..5 {
            turn(&mut session, SAID, Vec::new());
        }
    }
    let upto = |live| {
        let hybrid = fitting(session.hybrid(), live)?;
        Some(hybrid.summary.map_or(0, |summary| summary.upto))
    };
    assert_eq!(upto(66), None);
    assert_eq!(upto(30), None);
    assert_eq!(upto(28), Some(20));
    assert_eq!(upto(10), Some(10));
    assert_eq!(upto(8), Some(0));
    let mut later = session.hybrid().clone();
    later.summary.as_mut().unwrap().from = 4;
    let hybrid = fitting(&later, 66).unwrap();
    assert_eq!(
        hybrid.summary.unwrap().upto,
        20,
        "nothing stands for the first four"
    );
}

#[test]
fn a_text_over_four_hundred_words_is_asked_for_again_and_then_cut() {
    let mut session = session(60, SAID);
    let job = due_in(&session).unwrap();
    let long = "- The harbour is long. ".repeat(120);
    assert!(job.shorten(&long).unwrap().contains("400 words"));
    assert_eq!(job.shorten(SUMMARY), None);
    take(&mut session, &long).unwrap();
    let kept = &session.hybrid().summary.as_ref().unwrap().text;
    assert!(
        kept::words(kept) <= MAX_WORDS && kept.ends_with("long."),
        "{kept}"
    );
}

#[test]
fn a_backlog_is_worked_off_job_by_job() {
    let mut session = session(2_000, SAID);
    let mut covered = 0;
    for _ in 0..3 {
        take(&mut session, SUMMARY).unwrap();
        let now = session.hybrid().covered();
        assert!(
            (100..1_000).contains(&(now - covered)),
            "{covered} to {now}"
        );
        covered = now;
    }
}

#[test]
fn a_batch_larger_than_the_summarisers_window_takes_several_requests() {
    let session = session(80, SAID);
    let job = due_in(&session).unwrap();
    let writing = job.writing(Tokens(1_500)).unwrap();
    assert!(writing.steps() > 1);
    assert!(writing.request(1, SUMMARY).contains(SUMMARY));
    assert_eq!(job.writing(Tokens(300)), None);
}
