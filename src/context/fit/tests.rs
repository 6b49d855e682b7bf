use proptest::prelude::*;

use super::*;
use crate::chat::{Calibration, Message, MessageId, Part, Role, ToolCall, ToolSpec, TurnId};
use crate::context::{SectionKind, Source, TRUNCATED};

fn message(id: u64, role: Role, text: &str) -> Message {
    Message::text(MessageId::numbered(id), role, text, None)
}

fn turn(id: u32, kind: SectionKind, user: &str, reply: &str) -> Section {
    let n = u64::from(id) * 10;
    let messages = vec![
        message(n, Role::User, user),
        message(n + 1, Role::Assistant, reply),
    ];
    Section::messages(kind, Source::Turn(TurnId(id)), messages)
}

fn tool_turn(id: u32, output: &str) -> Section {
    let n = u64::from(id) * 10;
    let mut call = message(n + 1, Role::Assistant, "");
    call.parts
        .push(Part::ToolCall(ToolCall::new("c", "read", "{}")));
    let mut result = message(n + 2, Role::Tool, "");
    result.parts = vec![Part::ToolResult {
        call: crate::chat::CallId::new("c"),
        name: "read".into(),
        output: output.into(),
        failed: false,
    }];
    let messages = vec![
        message(n, Role::User, "read it"),
        call,
        result,
        message(n + 3, Role::Assistant, "done"),
    ];
    Section::messages(SectionKind::Window, Source::Turn(TurnId(id)), messages)
}

/// A reply that called tools, and what came back.
fn step(n: u64, results: &[&str]) -> Section {
    let mut reply = message(1_000 + n * 10, Role::Assistant, "");
    let mut messages = Vec::new();
    for (id, output) in (n * 10..).zip(results) {
        let call = ToolCall::new(&format!("s{id}"), "read", "{}");
        let mut result = message(2_000 + id, Role::Tool, "");
        result.parts = vec![Part::ToolResult {
            call: call.id.clone(),
            name: "read".into(),
            output: (*output).to_owned(),
            failed: false,
        }];
        reply.parts.push(Part::ToolCall(call));
        messages.push(result);
    }
    messages.insert(0, reply);
    Section::messages(SectionKind::Step, Source::Turn(TurnId(99)), messages)
}

fn tools() -> Section {
    Section::tools(vec![ToolSpec {
        name: "read".into(),
        description: "Reads a file".into(),
        parameters: serde_json::json!({"type": "object", "properties": {}}),
        trained: None,
    }])
}

/// Characters of every result of the steps, in order.
fn results(plan: &ContextPlan) -> Vec<usize> {
    let steps = plan.sections().iter();
    let steps = steps.filter(|section| section.kind == SectionKind::Step);
    let messages = steps.flat_map(Section::as_messages);
    let outputs = messages.filter_map(|message| match message.parts.first() {
        Some(Part::ToolResult { output, .. }) => Some(output.chars().count()),
        _ => None,
    });
    outputs.collect()
}

fn system(text: &str) -> Section {
    Section::system(SectionKind::System, Source::Prompt("base.md".into()), text)
}

fn input(text: &str) -> Section {
    Section::messages(
        SectionKind::Input,
        Source::You,
        vec![message(9_999, Role::User, text)],
    )
}

fn budget(window: u32) -> Budget {
    Budget::new(Tokens(window), None, Calibration::default())
}

fn draft(sections: Vec<Section>) -> Draft {
    Draft {
        sections,
        beyond: 0,
    }
}

#[test]
fn the_oldest_turn_goes_first_and_the_last_one_stays() {
    let long = "x".repeat(4_000);
    let sections = vec![
        system("be good"),
        turn(1, SectionKind::Pending, &long, "a"),
        turn(2, SectionKind::Window, &long, "b"),
        turn(3, SectionKind::Window, &long, "c"),
        input("hi"),
    ];
    let plan = fit(draft(sections), budget(4_096)).unwrap();
    insta::assert_snapshot!(plan, @r"
    system           6 tok  base.md
    window       1,009 tok  turn 2
    window       1,009 tok  turn 3
    input            5 tok  you
    left out     1,009 tok  pending, turn 1
    2,029 tok of 3,008 tok
    ");
}

#[test]
fn what_was_recovered_goes_before_what_was_recalled_and_any_turn() {
    let sections = vec![
        system("be good"),
        Section::system(SectionKind::Recall, Source::Recall(vec![]), "r".repeat(400)),
        turn(1, SectionKind::Window, &"x".repeat(4_000), "a"),
        turn(2, SectionKind::Window, &"x".repeat(7_000), "b"),
        Section::reference(
            SectionKind::Recovered,
            Source::Files(vec!["SESSION-STATE.md".into()]),
            "y".repeat(1_000),
        ),
        input("hi"),
    ];
    let plan = fit(draft(sections), budget(4_096)).unwrap();
    let kinds: Vec<SectionKind> = plan.sections().iter().map(|section| section.kind).collect();
    let stays = [
        SectionKind::System,
        SectionKind::Recall,
        SectionKind::Window,
        SectionKind::Window,
        SectionKind::Input,
    ];
    assert_eq!(kinds, stays);
    assert_eq!(plan.left_out()[0].kind, SectionKind::Recovered);
    assert_eq!((plan.cuts(), plan.messages_left_out()), (&[][..], 0));
}

#[test]
fn mode_state_and_compacted_head_go_before_a_message_is_cut() {
    let head = vec![
        message(1, Role::User, &"s".repeat(400)),
        message(2, Role::Assistant, "ok"),
    ];
    let sections = vec![
        system("be good"),
        Section::system(
            SectionKind::ModeState,
            Source::Tracker("code".into()),
            "m".repeat(400),
        ),
        Section::messages(
            SectionKind::Compacted,
            Source::Compaction {
                head: 0,
                from: 0,
                upto: 40,
                form: crate::chat::Form::Summary,
            },
            head,
        ),
        turn(9, SectionKind::Window, &"x".repeat(8_000), "short"),
        input("hi"),
    ];
    let plan = fit(draft(sections), budget(2_048)).unwrap();
    let gone: Vec<_> = plan.left_out().iter().map(|gone| gone.kind).collect();
    assert_eq!(gone, [SectionKind::ModeState, SectionKind::Compacted]);
    assert_eq!(plan.cuts().len(), 1);
    let cut = plan.messages().next().unwrap().said().into_owned();
    assert_eq!(cut.matches(TRUNCATED).count(), 1);
    assert!(cut.starts_with('x') && cut.ends_with('x'));
    assert!(plan.cost() <= plan.budget().prompt());
}

#[test]
fn an_input_larger_than_the_budget_is_cut_last_and_said() {
    let sections = vec![
        system("be good"),
        turn(1, SectionKind::Window, "q", "a"),
        input(&"ä".repeat(40_000)),
    ];
    let plan = fit(draft(sections), budget(4_096)).unwrap();
    let [cut] = plan.cuts() else {
        panic!("one cut, not {:?}", plan.cuts())
    };
    assert_eq!(cut.kind, SectionKind::Input);
    assert!(cut.chars > 27_000 && cut.chars < 40_000, "{}", cut.chars);
    assert_eq!(plan.messages().count(), 3);
}

#[test]
fn a_last_turn_that_cannot_be_cut_goes_whole_rather_than_block_the_session() {
    let mut section = tool_turn(1, "fine");
    section.edit(|messages| {
        let call = ToolCall::new("c", "write", "x".repeat(40_000));
        messages[1].parts[1] = Part::ToolCall(call);
    });
    let plan = fit(
        draft(vec![system("be good"), section, input("hello")]),
        budget(8_192),
    )
    .unwrap();
    assert_eq!(plan.left_out().len(), 1);
    assert_eq!(plan.messages().count(), 1);
    assert_eq!(plan.cuts(), []);
}

#[test]
fn the_reply_reserve_gives_way_to_a_prompt_that_needs_its_room() {
    let prompt = "x".repeat(4 * 1_200);
    let plan = fit(draft(vec![system(&prompt), input("hi")]), budget(2_048)).unwrap();
    assert_eq!(plan.system(true), [prompt]);
    assert!(plan.max_tokens() >= Tokens(256), "{}", plan.max_tokens());
}

#[test]
fn a_window_too_small_for_the_system_prompt_is_refused() {
    let error = fit(
        draft(vec![system(&"x".repeat(4_000)), input("hi")]),
        budget(1_000),
    )
    .unwrap_err();
    assert_eq!(error.window, Tokens(1_000));
    assert!(error.needed > error.room);
}

#[test]
fn what_was_just_read_stays_whole_and_the_oldest_results_are_cut_first() {
    let long = "x".repeat(8_000);
    let sections = vec![
        system("be good"),
        tools(),
        turn(1, SectionKind::Window, &"x".repeat(400), "a"),
        input("hi"),
        step(1, &[&long]),
        step(2, &[&long, "short", &long]),
        step(3, &[&long]),
        step(4, &[&long]),
    ];
    let plan = fit(draft(sections), budget(10_240)).unwrap();
    assert_eq!(results(&plan), [2_000, 5_988, 5, 5_988, 8_000, 8_000]);
    insta::assert_snapshot!(plan, @r"
    system           6 tok  base.md
    tools           17 tok  1 tool offered
    window          33 tok  turn 1
    input            5 tok  you
    step           511 tok  turn 99
    step         3,021 tok  turn 99
    step         2,011 tok  turn 99
    step         2,011 tok  turn 99
    cut            317 chars  window, turn 1
    cut           6013 chars  step, turn 99
    cut           4050 chars  step, turn 99
    7,615 tok of 7,616 tok
    ");
}

#[test]
fn older_results_share_what_is_left_before_the_last_step_is_cut() {
    let long = "x".repeat(10_000);
    let older = [step(1, &[&long]), step(2, &[&long]), step(3, &[&long])];
    let sections = |last: Section| {
        let mut sections = vec![system("be good"), input("hi")];
        sections.extend(older.clone());
        sections.push(last);
        draft(sections)
    };
    let plan = fit(sections(step(4, &[&long])), budget(5_000)).unwrap();
    let [first, second, third, last] = results(&plan)[..] else {
        panic!("{plan}")
    };
    assert!(first == second && second == third && first > 500, "{plan}");
    assert_eq!(last, 10_000);

    // The results of the last step too are cut to one length.
    let plan = fit(sections(step(4, &[&long, "short", &long])), budget(5_000)).unwrap();
    let [.., one, short, other] = results(&plan)[..] else {
        panic!("{plan}")
    };
    assert!(one == other && one > 2_000 && short == 5, "{plan}");
}

#[test]
fn steps_that_cannot_be_cut_go_before_the_last_one_is_crushed() {
    let mut heavy = step(1, &["fine"]);
    heavy.edit(|messages| {
        let call = ToolCall::new("s10", "write", "x".repeat(8_000));
        messages[0].parts[1] = Part::ToolCall(call);
    });
    let sections = vec![
        system("be good"),
        input("hi"),
        heavy,
        step(2, &[&"x".repeat(8_000)]),
    ];
    let plan = fit(draft(sections), budget(3_000)).unwrap();
    assert_eq!(plan.left_out().len(), 1);
    assert_eq!(results(&plan), [2_000]);
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,80}",
        "[日本語の文字]{0,200}",
        "[😀👩‍👧🎉]{0,60}",
        (0usize..12_000).prop_map(|n| "word ".repeat(n / 5)),
    ]
}

fn any_history() -> impl Strategy<Value = Vec<Section>> {
    let turn = (any_text(), any_text(), any::<bool>());
    prop::collection::vec(turn, 0..12).prop_map(|turns| {
        let half = turns.len() / 2;
        let section = |(n, (user, reply, tools)): (usize, (String, String, bool))| {
            let id = u32::try_from(n).unwrap() + 1;
            let kind = if n < half {
                SectionKind::Pending
            } else {
                SectionKind::Window
            };
            if tools {
                tool_turn(id, &reply)
            } else {
                turn_of(id, kind, &user, &reply)
            }
        };
        turns.into_iter().enumerate().map(section).collect()
    })
}

fn any_steps() -> impl Strategy<Value = Vec<Section>> {
    let results = prop::collection::vec(any_text(), 1..4);
    prop::collection::vec(results, 1..8).prop_map(|steps| {
        let section = |(n, results): (u64, Vec<String>)| {
            let results: Vec<&str> = results.iter().map(String::as_str).collect();
            step(n, &results)
        };
        (1..).zip(steps).map(section).collect()
    })
}

fn turn_of(id: u32, kind: SectionKind, user: &str, reply: &str) -> Section {
    turn(id, kind, user, reply)
}

/// Every call is answered by the messages right after it.
fn paired(messages: &[&Message]) -> bool {
    messages.iter().enumerate().all(|(i, message)| {
        let calls: Vec<_> = message.calls().map(|call| &call.id).collect();
        let after = messages[i + 1..].iter();
        let results = after.take_while(|after| after.role == Role::Tool);
        let answers: Vec<_> = results.flat_map(|result| result.answers()).collect();
        message.role == Role::Tool || calls == answers
    })
}

proptest! {
    #[test]
    fn any_request_fits_or_is_refused_and_keeps_its_promises(
        history in any_history(), said in any_text(), prompt in "[a-z ]{0,400}",
        window in 100u32..20_000, ratio in 1.0f64..3.0,
    ) {
        let mut sections = vec![system(&prompt)];
        sections.extend(history.clone());
        sections.push(input(&said));
        let budget = Budget::new(Tokens(window), None, Calibration::new(ratio));
        let Ok(plan) = fit(draft(sections), budget) else {
            // Refused only where prompt, marker and the least of the last turn leave no room.
            let min = Tokens::estimate(&prompt) + Tokens(200);
            prop_assert!(budget.prompt() < min, "refused {} with {} free", min, budget.prompt());
            return Ok(());
        };
        let counted = budget.calibration().grow(plan.cost());
        prop_assert!(counted + plan.max_tokens() <= Tokens(window), "over the window");
        prop_assert!(plan.max_tokens() >= Tokens(1));
        prop_assert_eq!(plan.system(true), vec![prompt.trim().to_owned()].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>());

        let messages: Vec<&Message> = plan.messages().collect();
        let last = messages.last().unwrap().said().into_owned();
        let alone = Tokens::estimate(&prompt) + Tokens::estimate(&said) + Tokens(200);
        prop_assert!(last == said || (alone > budget.prompt() && last.contains(TRUNCATED)), "the input was touched");
        prop_assert!(paired(&messages), "a call lost its result");

        // What is kept of history is its end, in order.
        let kept: Vec<u32> = plan.sections().iter().filter_map(|section| match section.source {
            Source::Turn(turn) => Some(turn.0),
            _ => None,
        }).collect();
        let all = u32::try_from(history.len()).unwrap();
        let first = all + 1 - u32::try_from(kept.len()).unwrap();
        prop_assert_eq!(&kept, &(first..=all).collect::<Vec<_>>());
        let input = Tokens::estimate(&said).0.min(256);
        let tight = Tokens::estimate(&prompt) + Tokens(input + 200) > budget.prompt();
        prop_assert!(history.is_empty() || !kept.is_empty() || tight, "the last turn went");
    }

    #[test]
    fn work_in_progress_fits_or_is_refused_and_its_last_step_stays(
        history in any_history(), steps in any_steps(), said in any_text(), window in 100u32..20_000,
    ) {
        let mut sections = vec![system("be good"), tools()];
        sections.extend(history);
        sections.push(input(&said));
        sections.extend(steps.clone());
        let budget = Budget::new(Tokens(window), None, Calibration::default());
        let before = total(&sections);
        let Ok(plan) = fit(draft(sections), budget) else {
            let last = uncuttable(steps.last().unwrap());
            let fixed = system("be good").cost() + tools().cost();
            prop_assert!(budget.prompt() < fixed + last + Tokens(300), "refused");
            return Ok(());
        };
        prop_assert!(plan.cost() + plan.max_tokens() <= Tokens(window), "over the window");
        prop_assert_eq!(plan.system(true), ["be good"]);
        prop_assert_eq!(plan.tools().count(), 1);
        let messages: Vec<&Message> = plan.messages().collect();
        prop_assert!(paired(&messages), "a call lost its results");
        let kinds: Vec<SectionKind> = plan.sections().iter().map(|section| section.kind).collect();
        prop_assert!(kinds.contains(&SectionKind::Input));
        prop_assert_eq!(kinds.last(), Some(&SectionKind::Step));

        // The last step is touched only where those before it gave all they had, and crushed only when they are gone.
        let (kept, whole) = (plan.sections().last().unwrap(), steps.last().unwrap());
        let left = plan.sections().iter().filter(|section| section.kind == SectionKind::Step).count();
        prop_assert_eq!(texts(kept).len(), texts(whole).len());
        for (text, whole) in texts(kept).iter().zip(texts(whole)) {
            let floor = if left > 1 { Tokens(500) } else { MIN_CUT };
            prop_assert!(Tokens::estimate(text) >= Tokens::estimate(whole).min(floor), "crushed");
        }
        if kept != whole {
            let older = plan.sections().iter().rev().filter(|section| section.kind == SectionKind::Step).skip(1);
            let max = older.flat_map(texts).map(Tokens::estimate).max().unwrap_or_default();
            prop_assert!(max <= MIN_CUT, "an older one was not cut");
        }
        prop_assert!(before > budget.prompt() || plan.cuts().is_empty(), "cut without need");
    }
}

fn texts(section: &Section) -> Vec<&str> {
    let parts = section
        .as_messages()
        .iter()
        .flat_map(|message| &message.parts);
    parts.filter_map(text_of).collect()
}
