//! What any strategy must keep to, over histories of any shape; and the figures of each.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::cut::{first, first_run};
use super::material::{Material, snippets};
use super::*;
use crate::chat::fixture;
use crate::chat::{
    Calibration, CallId, Compaction, Form, Hybrid, Message, MessageId, Part, Record, Role, Session,
    Timestamp, Tokens, ToolCall, Withdrawal,
};
use crate::context::{Budget, Content, Layout, Settings, Strategy as Owner, fit};
use crate::memory::tracking::readers::Readers;
use crate::memory::{Memory, Prompts, Registry, Surroundings};

const SUMMARY: &str = "- They talked of the harbour and of its tide tables.";

/// A finished turn: its words, how many rounds of calls it has, whether it was taken back.
#[derive(Clone, Debug)]
struct Shape {
    words: usize,
    rounds: usize,
    says_first: bool,
    withdrawn: bool,
}

const PLAIN: Shape = Shape {
    words: 12,
    rounds: 0,
    says_first: false,
    withdrawn: false,
};

fn now() -> Timestamp {
    Timestamp::from_unix(1_800_000_000).unwrap()
}

fn session(shapes: &[Shape]) -> Session {
    let mut session = Session::new("test".parse().unwrap());
    for shape in shapes {
        turn(&mut session, shape);
    }
    session
}

fn turns(session: &mut Session, more: usize) {
    for _ in 0..more {
        turn(session, &PLAIN);
    }
}

fn plain(turns: usize) -> Session {
    session(&vec![PLAIN; turns])
}

fn input(session: &mut Session, text: &str) -> crate::chat::TurnId {
    fixture::begin(session, text, None)
}

fn turn(session: &mut Session, shape: &Shape) {
    let said = "harbour ".repeat(shape.words);
    let turn = input(session, &said);
    for round in 0..shape.rounds {
        let id = CallId::new(format!("c{turn}-{round}"));
        let call = ToolCall::new(id.as_str(), "read_file", "{}");
        let mut parts = vec![Part::ToolCall(call)];
        if shape.says_first {
            parts.insert(0, Part::Text("I look it up.".into()));
        }
        let id_of = |session: &Session| session.next_message_id(0);
        let message = Message::new(id_of(session), Role::Assistant, parts, None);
        session.apply(Record::MessageAdded { turn, message });
        let result = Part::ToolResult {
            call: id,
            name: "read_file".into(),
            output: said.clone(),
            failed: false,
        };
        let message = Message::new(id_of(session), Role::Tool, vec![result], None);
        session.apply(Record::MessageAdded { turn, message });
    }
    let reply = Message::text(session.next_message_id(0), Role::Assistant, said, None);
    fixture::answer(session, turn, vec![reply]);
    if shape.withdrawn {
        let why = Withdrawal::Undone;
        session.apply(Record::TurnWithdrawn { turn, why });
    }
}

fn gauge(used: u32, window: u32) -> Gauge {
    Gauge {
        window: Tokens(window),
        used: Tokens(used),
        fixed: Tokens(200),
        ..Gauge::default()
    }
}

fn job_of(session: &Session, kind: Kind, settings: &Settings) -> Result<CompactJob, CannotCompact> {
    let view = View {
        session,
        settings,
        gauge: gauge(700, 800),
    };
    job(
        &view,
        kind,
        kind.cut(&view),
        &Prompts::embedded(),
        "",
        &[],
        None,
    )
}

fn compacted(session: &mut Session, kind: Kind, settings: &Settings, form: Form) -> Option<Cut> {
    let job = job_of(session, kind, settings).ok()?;
    let cut = job.cut;
    let done = match form {
        Form::Summary => job.done(SUMMARY),
        Form::Notice => job.without_summary()?,
    };
    session.apply(accept(session, done, now()).ok()?);
    Some(cut)
}

fn is_due(session: &Session, kind: Kind, settings: &Settings, gauge: Gauge) -> bool {
    kind.is_due(&View {
        session,
        settings,
        gauge,
    })
}

/// The messages of the next request, or what makes it unfit.
fn sent(session: &Session, owner: Owner, layout: Layout) -> Vec<Message> {
    let settings = crate::memory::Settings::default();
    let prompts = Prompts::embedded();
    let modes = Registry::standard(&settings, &prompts, Readers::embedded());
    let memory = Memory::new(modes, settings, prompts).unwrap();
    let budget = Budget::new(Tokens(1_000_000), None, Calibration::default());
    let around = Surroundings {
        directory: "~".into(),
        now: now(),
        room: budget.prompt(),
        layout,
        recall: None,
        offered: None,
        result_chars: 2_000,
        kept: &crate::memory::LongTermContext::default(),
        compacted_now: 0..0,
        strategy: owner,
    };
    let input = session.running().first().unwrap().clone();
    let draft = memory.prepare(session, &input, &around);
    let plan = fit(draft, budget).unwrap();
    assert!(
        plan.sections()
            .iter()
            .all(|section| !matches!(section.content(), Content::System(text) if text.is_empty()))
    );
    plan.messages().cloned().collect()
}

fn has_valid_order(messages: &[Message]) -> Result<(), String> {
    if messages.first().map(|it| it.role) != Some(Role::User) {
        return Err("does not begin with the user".into());
    }
    if messages.last().map(|it| it.role) != Some(Role::User) {
        return Err("does not end with the user".into());
    }
    let mut open: Vec<CallId> = Vec::new();
    for message in messages {
        if message.role != Role::Tool && !open.is_empty() {
            return Err(format!("{open:?} have no result"));
        }
        for answer in message.answers() {
            let place = open.iter().position(|call| call == answer);
            open.remove(place.ok_or("a result of no call")?);
        }
        open.extend(message.calls().map(|call| call.id.clone()));
    }
    Ok(())
}

fn shapes() -> impl Strategy_<Value = Vec<Shape>> {
    let shape = (1usize..60, 0usize..4, any::<bool>(), 0u8..8).prop_map(
        |(words, rounds, says_first, withdrawn)| Shape {
            words,
            rounds,
            says_first,
            withdrawn: withdrawn == 0,
        },
    );
    prop::collection::vec(shape, 1..40)
}

use proptest::strategy::Strategy as Strategy_;

fn kinds() -> impl Strategy_<Value = Kind> {
    prop::sample::select(Kind::ALL.to_vec())
}

fn owners() -> impl Strategy_<Value = Owner> {
    let owners = [Owner::Rolling, Owner::Window, Owner::Prefix, Owner::Full];
    prop::sample::select(owners.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_cut_parts_a_call_from_its_result_or_takes_the_newest_words(
        shapes in shapes(), kind in kinds(), owner in owners(), steady in any::<bool>(), fails in any::<bool>(),
    ) {
        let mut session = session(&shapes);
        input(&mut session, "the newest words");
        let settings = Settings { max_history_messages: 10, ..Settings::default() };
        let form = if fails { Form::Notice } else { Form::Summary };
        let cut = compacted(&mut session, kind, &settings, form);
        let layout = if steady { Layout::CacheFriendly } else { Layout::Classic };
        let sent = sent(&session, owner, layout);
        prop_assert_eq!(has_valid_order(&sent), Ok(()));
        prop_assert!(sent.last().unwrap().said().contains("the newest words"));
        if let Some(cut) = cut {
            let starts = session.turns().iter().map(|turn| turn.messages.start);
            prop_assert!(starts.collect::<Vec<_>>().contains(&cut.upto));
            prop_assert!(cut.upto < session.messages().len());
        }
    }
}

/// How many cases a property is tried on.
const CASES: u32 = 96;

/// Tries a property, and tells in how many of the cases it had anything to say.
fn tried<V: Strategy_>(
    values: &V,
    property: impl Fn(V::Value) -> Result<Said, TestCaseError>,
) -> u32 {
    let said = Cell::new(0);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(CASES));
    let tried = runner.run(values, |value| {
        if property(value)? == Said::Something {
            said.set(said.get() + 1);
        }
        Ok(())
    });
    if let Err(why) = tried {
        panic!("{why}");
    }
    said.get()
}

/// Whether a case was one that a property speaks of.
#[derive(PartialEq, Eq)]
enum Said {
    Something,
    Nothing,
}

/// Long enough that most of them can be compacted.
fn long() -> impl Strategy_<Value = Vec<Shape>> {
    shapes().prop_filter("long", |shapes| shapes.len() >= 16)
}

#[test]
fn what_is_summarised_is_what_is_no_longer_sent() {
    let cases = (long(), kinds(), 0usize..12);
    let said = tried(&cases, |(shapes, kind, again)| {
        let mut session = session(&shapes);
        let settings = Settings {
            max_history_messages: 10,
            ..Settings::default()
        };
        if again > 0 {
            compacted(&mut session, kind, &settings, Form::Summary);
            turns(&mut session, 6 + again);
        }
        input(&mut session, "go on");
        let Ok(job) = job_of(&session, kind, &settings) else {
            return Ok(Said::Nothing);
        };
        let material = Material::of(&session, job.cut);
        let asked: Vec<MessageId> = material
            .messages
            .iter()
            .map(|message| message.id.clone())
            .collect();
        let before = sent(&session, Owner::Full, Layout::Classic);
        let Ok(record) = accept(&session, job.done(SUMMARY), now()) else {
            return Ok(Said::Nothing);
        };
        session.apply(record);
        let after = sent(&session, Owner::Full, Layout::Classic);
        let ids = before
            .iter()
            .filter(|message| message.id.number().is_some());
        let gone = ids.filter(|message| after.iter().all(|it| it.id != message.id));
        let gone: Vec<MessageId> = gone.map(|it| it.id.clone()).collect();
        prop_assert_eq!(gone, asked);
        Ok(Said::Something)
    });
    assert!(said >= CASES / 2, "only {said} cases came to a summary");
}

#[test]
fn a_list_that_was_compacted_is_not_compacted_again() {
    let cases = (long(), kinds(), any::<bool>());
    let said = tried(&cases, |(shapes, kind, fails)| {
        let mut session = session(&shapes);
        input(&mut session, "go on");
        let settings = Settings {
            max_history_messages: 10,
            ..Settings::default()
        };
        let form = if fails { Form::Notice } else { Form::Summary };
        if compacted(&mut session, kind, &settings, form).is_none() {
            return Ok(Said::Nothing);
        }
        prop_assert!(job_of(&session, kind, &settings).is_err());
        let full = gauge(8_000, 8_000);
        prop_assert!(
            !is_due(&session, kind, &settings, full),
            "{kind:?} twice in a turn"
        );
        Ok(Said::Something)
    });
    assert!(said >= CASES / 3, "only {said} cases were compacted");
}

#[test]
fn a_guard_reaches_its_target_or_keeps_the_least_it_may() {
    /// Messages of the tail of either guard that stay whatever they cost.
    const MIN_TAIL: usize = 4;
    /// The marker, the fences of results and the input.
    const BESIDE: Tokens = Tokens(200);
    for (kind, share) in [(Kind::Threshold, 0.5), (Kind::Proactive, 0.35)] {
        let said = tried(&(long(), 2_000u32..20_000), |(shapes, window)| {
            let mut session = session(&shapes);
            let settings = Settings::default();
            let gauge = gauge(window, window);
            let view = View {
                session: &session,
                settings: &settings,
                gauge,
            };
            let Ok(job) = job(
                &view,
                kind,
                kind.cut(&view),
                &Prompts::embedded(),
                "",
                &[],
                None,
            ) else {
                return Ok(Said::Nothing);
            };
            let tail = session
                .live_turns()
                .rev()
                .take_while(|turn| turn.messages.start >= job.cut.upto);
            let lengths: Vec<usize> = tail.map(|turn| turn.messages.len()).collect();
            let kept: usize = lengths.iter().sum();
            // The oldest of them came in while there were too few.
            let is_least = kept - lengths.last().unwrap_or(&0) < MIN_TAIL;
            let room = gauge.room(share);
            prop_assert!(job.stays.tokens <= room || is_least, "{kind:?} {kept}");
            let Ok(record) = accept(&session, job.done(SUMMARY), now()) else {
                return Ok(Said::Nothing);
            };
            session.apply(record);
            input(&mut session, "go on");
            let request: Tokens = sent(&session, Owner::Full, Layout::Classic)
                .iter()
                .map(Message::cost)
                .sum();
            prop_assert!(
                request <= room + BESIDE || is_least,
                "{kind:?} {request} of {room}"
            );
            Ok(Said::Something)
        });
        assert!(
            said >= CASES / 2,
            "only {said} cases of {kind:?} came to a summary"
        );
    }
}

#[test]
fn the_head_is_the_first_run() {
    let shape = |rounds, says_first| Shape {
        rounds,
        says_first,
        ..PLAIN
    };
    for (rounds, says_first, expected) in [(0, false, 2), (1, false, 4), (1, true, 3), (2, true, 3)]
    {
        let session = session(&[shape(rounds, says_first), PLAIN]);
        assert_eq!(first_run(&session), expected, "{rounds} {says_first}");
    }
    let mut unanswered = Session::new("test".parse().unwrap());
    input(&mut unanswered, "hello");
    assert_eq!(first_run(&unanswered), 1);
    assert_eq!(first(&session(&[shape(1, false)]), 2), 3, "with its result");
}

#[test]
fn the_tail_is_half_of_the_window_and_four_at_least() {
    for (max, tail) in [(4, 4), (8, 4), (40, 20)] {
        let settings = Settings {
            max_history_messages: max,
            ..Settings::default()
        };
        assert_eq!(settings.window_retained(), tail, "{max}");
    }
}

#[test]
fn a_window_is_due_above_its_number_and_with_none_never() {
    let settings = Settings::default();
    let never = Settings {
        max_history_messages: 0,
        ..Settings::default()
    };
    for (turns, due) in [(19, false), (20, true)] {
        let mut session = plain(turns);
        input(&mut session, "one more");
        let listed = turns * 2 + 1;
        let gauge = Gauge::default();
        assert_eq!(
            is_due(&session, Kind::Window, &settings, gauge),
            due,
            "{listed}"
        );
        assert!(!is_due(&session, Kind::Window, &never, gauge));
    }
}

#[test]
fn a_prefix_is_due_above_its_messages_or_its_characters() {
    let due = |session: &Session| {
        is_due(
            session,
            Kind::Prefix,
            &Settings::default(),
            Gauge::default(),
        )
    };
    for (turns, expected) in [(9, false), (10, true)] {
        let mut session = plain(turns);
        input(&mut session, "one more");
        assert_eq!(due(&session), expected, "{turns}");
    }
    for (chars, expected) in [(48_000, false), (48_001, true)] {
        let mut session = plain(0);
        input(&mut session, &"é".repeat(chars));
        assert_eq!(due(&session), expected, "{chars}");
    }
}

#[test]
fn tokens_bring_a_guard_at_its_share_and_no_earlier() {
    let settings = Settings::default();
    let session = plain(8);
    for (used, due) in [(5_999, false), (6_000, true)] {
        let gauge = gauge(used, 8_000);
        assert_eq!(is_due(&session, Kind::Threshold, &settings, gauge), due);
    }
    for (used, due) in [(5_900, false), (5_901, true)] {
        let gauge = Gauge {
            output: Tokens(100),
            ..gauge(used, 10_000)
        };
        assert_eq!(is_due(&session, Kind::Proactive, &settings, gauge), due);
    }
    let unknown = gauge(5_000, 0);
    assert!(!is_due(&session, Kind::Proactive, &settings, unknown));
    assert!(!is_due(&session, Kind::Threshold, &settings, unknown));
}

#[test]
fn few_messages_are_left_alone_by_guards() {
    for (turns, threshold, proactive) in [(3, false, false), (4, false, true), (6, true, true)] {
        let session = plain(turns);
        let can = |kind| job_of(&session, kind, &Settings::default()).is_ok();
        assert_eq!(can(Kind::Threshold), threshold, "{turns}");
        assert_eq!(can(Kind::Proactive), proactive, "{turns}");
    }
}

#[test]
fn a_list_of_a_hundred_is_one_request_and_one_more_message_makes_it_several() {
    let one_more = Shape { rounds: 1, ..PLAIN };
    let mut longer = vec![PLAIN; 49];
    longer.push(one_more);
    for (session, parts) in [(plain(50), 1), (session(&longer), 4)] {
        let job = job_of(&session, Kind::Threshold, &Settings::default()).unwrap();
        let inquiry = job.inquiry(Tokens(100_000)).unwrap();
        let is_single = inquiry.parts.len() == 1;
        assert_eq!(
            is_single,
            parts == 1,
            "{} messages",
            session.messages().len()
        );
        let texts = vec![SUMMARY.to_owned(); inquiry.parts.len()];
        assert_eq!(inquiry.merge(&texts).is_some(), parts > 1);
    }
}

#[test]
fn parts_fit_the_window_of_the_model_that_summarises() {
    let session = plain(60);
    let job = job_of(&session, Kind::Compact, &Settings::default()).unwrap();
    let inquiry = job.inquiry(Tokens(1_600)).unwrap();
    let writing = &inquiry.parts[0].writing;
    assert!(writing.steps() > 1);
    for step in 0..writing.steps() {
        let request = writing.request(step, SUMMARY);
        assert!(Tokens::estimate(&request) < Tokens(1_600));
    }
    assert_eq!(
        job.inquiry(Tokens(300)).err(),
        Some(CannotCompact::WindowTooSmall)
    );
}

#[test]
fn snippets_are_of_the_last_twelve_and_short() {
    let session = session(&vec![
        Shape {
            words: 100,
            ..PLAIN
        };
        10
    ]);
    let messages: Vec<&Message> = session.messages().iter().collect();
    let text = snippets(&messages);
    assert!(text.chars().count() <= 700);
    assert!(text.lines().all(|line| line.chars().count() <= 160));
    assert_eq!(text.lines().count(), 4);
}

#[test]
fn of_snippets_without_room_for_all_the_newest_stay() {
    let said: Vec<Message> = (1..=12)
        .map(|n| {
            let text = format!("Message {n}. {}", "The tide is high. ".repeat(20));
            Message::text(MessageId::numbered(n), Role::User, text, None)
        })
        .collect();
    let text = snippets(&said.iter().collect::<Vec<_>>());
    let kept: Vec<&str> = text.lines().map(|line| &line[..17]).collect();
    assert_eq!(
        kept,
        [
            "User: Message 9. ",
            "User: Message 10.",
            "User: Message 11.",
            "User: Message 12."
        ]
    );
    assert!(text.chars().count() <= 700);
}

#[test]
fn a_notice_begins_unlike_a_summary_and_its_messages_are_summarised_later() {
    let mut session = plain(12);
    let settings = Settings {
        max_history_messages: 10,
        ..Settings::default()
    };
    compacted(&mut session, Kind::Window, &settings, Form::Notice).unwrap();
    let shown = |session: &Session| {
        let compaction = session.hybrid().compaction.as_ref().unwrap();
        let section = section(session, compaction, |_, message| message.clone()).unwrap();
        section.as_messages().last().unwrap().said().into_owned()
    };
    assert!(shown(&session).starts_with("[Left out: "));
    for _ in 0..6 {
        turn(&mut session, &PLAIN);
    }
    let job = job_of(&session, Kind::Window, &settings).unwrap();
    let material = Material::of(&session, job.cut);
    assert_eq!(material.messages.len(), job.messages());
    session.apply(accept(&session, job.done(SUMMARY), now()).unwrap());
    assert!(shown(&session).starts_with("[Summary of "));
}

#[test]
fn a_notice_never_gives_up_an_earlier_summary() {
    let mut session = plain(12);
    let settings = Settings::default();
    compacted(&mut session, Kind::Threshold, &settings, Form::Summary).unwrap();
    for _ in 0..6 {
        turn(&mut session, &PLAIN);
    }
    compacted(&mut session, Kind::Proactive, &settings, Form::Notice).unwrap();
    let text = &session.hybrid().compaction.as_ref().unwrap().text;
    assert!(text.contains(SUMMARY), "{text}");
}

#[test]
fn bad_summaries_change_nothing() {
    let session = plain(6);
    let done = |text: &str| {
        job_of(&session, Kind::Compact, &Settings::default())
            .unwrap()
            .done(text)
    };
    let error = |text: &str| accept(&session, done(text), now()).unwrap_err();
    assert_eq!(error("  \n "), NotCompacted::TooShort);
    assert_eq!(error("ok"), NotCompacted::TooShort);
    let long = "harbour ".repeat(200);
    assert!(matches!(error(&long), NotCompacted::NotSmaller { .. }));
    let chinese = "他们讨论了港口、起重机和去年春天的潮汐表，没有其他内容。";
    assert_eq!(error(chinese), NotCompacted::OtherScript);
}

#[test]
fn a_summary_is_taken_from_a_fifth_on_and_what_frees_less_is_refused() {
    // One that frees a few per cent would be due again at once, and again.
    let session = plain(60);
    let job = job_of(&session, Kind::Compact, &Settings::default()).unwrap();
    let before = job.before.tokens.0;
    for (per_cent, is_taken) in [
        (97, false),
        (90, false),
        (83, false),
        (77, true),
        (20, true),
    ] {
        let chars = before as usize * 4 * per_cent / 100;
        let text: String = "harbour ".chars().cycle().take(chars).collect();
        let done = Compacted {
            text,
            ..job.clone().done(SUMMARY)
        };
        let taken = accept(&session, done, now());
        assert_eq!(taken.is_ok(), is_taken, "{per_cent} %: {taken:?}");
    }
}

#[test]
fn a_notice_forgives_no_failure_of_the_model_and_a_summary_does() {
    for (form, expected) in [(Form::Notice, 2), (Form::Summary, 0)] {
        let mut session = plain(24);
        session.apply(Record::HybridReplaced(Hybrid {
            failures: 2,
            ..session.hybrid().clone()
        }));
        compacted(&mut session, Kind::Window, &Settings::default(), form).unwrap();
        assert_eq!(session.hybrid().failures, expected, "{form:?}");
    }
}

#[test]
fn a_result_counts_only_while_the_session_begins_as_it_did() {
    let mut session = plain(8);
    let settings = Settings::default();
    let job = |session: &Session| job_of(session, Kind::Threshold, &settings).unwrap();
    let planned = job(&session);
    turn(&mut session, &PLAIN);
    assert!(
        accept(&session, planned.clone().done(SUMMARY), now()).is_ok(),
        "what came later is not concerned"
    );
    let turn = session.turns()[1].id;
    session.apply(Record::TurnWithdrawn {
        turn,
        why: Withdrawal::Undone,
    });
    let stale = accept(&session, planned.done(SUMMARY), now());
    assert_eq!(stale.unwrap_err(), NotCompacted::Stale);
}

#[test]
fn a_conversation_in_two_scripts_may_be_summarised_in_either() {
    let mut session = Session::new("test".parse().unwrap());
    for _ in 0..6 {
        let said =
            "Исправь эту функцию: fn main() { let harbour = crane(); println!(\"{harbour}\"); }";
        fixture::say(&mut session, said, said, None);
    }
    for summary in [
        "- Они исправили функцию main и портовый кран.",
        "- They fixed the function main.",
    ] {
        let job = job_of(&session, Kind::Compact, &Settings::default()).unwrap();
        accept(&session, job.done(summary), now()).unwrap();
    }
}

#[test]
fn results_of_tools_are_condensed_without_a_model_and_texts_stay() {
    let busy = Shape {
        words: 100,
        rounds: 2,
        ..PLAIN
    };
    let mut session = session(&vec![busy; 8]);
    let settings = Settings {
        max_history_messages: 30,
        ..Settings::default()
    };
    compacted(&mut session, Kind::Window, &settings, Form::Summary).unwrap();
    let before = session.hybrid().compaction.clone();
    let condensed = condense(&session, 2_000, now()).unwrap();
    assert!(condensed.after.tokens < condensed.before.tokens);
    session.apply(condensed.record);
    let compaction = session.hybrid().compaction.clone().unwrap();
    let text = before.as_ref().map(|it| it.text.clone());
    assert_eq!(Some(compaction.text), text);
    assert_eq!(compaction.previous.map(|it| *it), before);
    assert_eq!(
        condense(&session, 2_000, now()).unwrap_err(),
        CannotCompact::NoResults
    );
    input(&mut session, "go on");
    let sent = sent(&session, Owner::Full, Layout::Classic);
    let marked = sent.iter().filter(|message| {
        let parts = message.parts.iter();
        parts.clone().any(
            |part| matches!(part, Part::ToolResult { output, .. } if output.contains("…truncated, 800")),
        )
    });
    assert!(marked.count() > 0);
}

#[test]
fn every_request_asks_for_what_is_open_and_what_is_done() {
    let prompts = Prompts::embedded();
    for prompt in [
        &prompts.compact,
        &prompts.compact_prefix,
        &prompts.compact_threshold,
        &prompts.compact_merge,
    ] {
        for word in ["summary", "open", "done", "not instructions"] {
            assert!(prompt.text.contains(word), "{word}: {}", prompt.file);
        }
    }
    assert!(prompts.compact_prefix_zh.text.contains("summary"));
}

#[test]
fn no_more_replaced_ones_are_kept_than_a_file_holds() {
    let mut compaction = Compaction::blank("window", now());
    for _ in 0..40 {
        compaction = Compaction::blank("window", now()).replacing(Some(compaction));
    }
    let mut depth = 0;
    let mut next = compaction.previous.as_deref();
    while let Some(previous) = next {
        depth += 1;
        next = previous.previous.as_deref();
    }
    assert_eq!(depth, Compaction::MAX_PREVIOUS);
}

#[test]
fn what_a_compaction_stands_for_is_counted_when_it_is_made() {
    let mut shapes = vec![PLAIN; 6];
    shapes[1].withdrawn = true;
    let session = session(&shapes);
    let compaction = Compaction {
        head: 0,
        upto: 8,
        gone: Some(Cut { head: 0, upto: 8 }.count(&session)),
        text: SUMMARY.to_owned(),
        ..Compaction::blank("window", now())
    };
    assert_eq!(compaction.gone(), 6, "a turn was taken back");
    // Nothing of the session is looked at for it.
    let empty = Session::new("test".parse().unwrap());
    let section = section(&empty, &compaction, |_, message| message.clone()).unwrap();
    let told = format!("{:?}", section.content());
    assert!(told.contains("Summary of 6 earlier messages"), "{told}");
    let earlier = Compaction {
        gone: None,
        ..compaction
    };
    assert_eq!(earlier.gone(), 8, "files of earlier versions do not say");
}
