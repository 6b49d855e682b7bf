//! The one function that makes a draft fit.
//!
//! One order of giving way (C79-C81): recall and sub-results; pending and window as one list, oldest turn first, never the last
//! whole turn; then mode state and compacted head; then the longest message of the last turn is cut with
//! the marker, and last of all an input that alone is larger than the budget. System texts never change.
//! A last turn that cannot be cut enough (a tool call is never cut) goes whole after all: a session must
//! never become unsendable.

use std::borrow::Cow;

use crate::chat::{Attached, Message, Part, Tokens};
use crate::hint::Hint;

use super::{Budget, ContextPlan, Cut, Draft, GivesWay, LeftOut, Section, TRUNCATED};

/// The window is too small for the system prompt and a usable rest of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a context window of {window} tokens leaves {room} for the prompt, and {needed} are needed at least"
)]
pub struct DoesNotFit {
    pub window: Tokens,
    pub room: Tokens,
    pub needed: Tokens,
}

impl Hint for DoesNotFit {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some("choose a model with a larger window, raise its context_window or num_ctx, or shorten the system prompt".into())
    }
}

/// An input is not cut below this before the reply's reserve has given way.
const INPUT_AT_LEAST: Tokens = Tokens(256);

/// Least cost of a message that was cut: marker and a few words on either side.
const LEAST_CUT: Tokens = Tokens(24);

/// Makes `draft` fit into `budget`: beside the whole reply reserve, or beside a small one where the
/// prompt alone is too large for that.
pub fn fit(draft: Draft, budget: Budget) -> Result<ContextPlan, DoesNotFit> {
    let fixed: Tokens = draft.sections.iter().map(least_cost).sum();
    let limit = if fixed <= budget.prompt() {
        budget.prompt()
    } else {
        budget.prompt_at_most()
    };
    let Draft {
        mut sections,
        beyond,
    } = draft;
    let mut left_out = Vec::new();
    let mut cost: Tokens = sections.iter().map(Section::cost).sum();

    let leaving = order_of_leaving(&sections);
    let mut gone = vec![false; sections.len()];
    for place in leaving {
        if cost <= limit {
            break;
        }
        cost = cost.minus(sections[place].cost());
        gone[place] = true;
        left_out.push(leave(&sections[place]));
    }
    let mut keep = gone.iter().map(|gone| !gone);
    sections.retain(|_| keep.next().unwrap_or(true));

    let mut cuts = cut(&mut sections, limit, GivesWay::WithHistory);
    if !absorbs(&sections, limit) {
        left_out.extend(
            sections
                .extract_if(.., |section| section.kind.is_history())
                .map(|section| leave(&section)),
        );
        cuts.clear();
    }
    cuts.extend(cut(&mut sections, limit, GivesWay::Working));
    left_out.extend(let_steps_go(&mut sections, limit));
    cuts.extend(cut(&mut sections, limit, GivesWay::IsCut));
    let plan = ContextPlan {
        sections,
        left_out,
        beyond,
        cuts,
        budget,
    };
    if plan.cost() <= limit {
        Ok(plan)
    } else {
        Err(DoesNotFit {
            window: budget.window(),
            room: limit,
            needed: plan.cost(),
        })
    }
}

/// What a section costs at least in any plan.
fn least_cost(section: &Section) -> Tokens {
    match section.kind.gives_way() {
        GivesWay::Never => section.cost(),
        GivesWay::IsCut => section.cost().min(INPUT_AT_LEAST),
        GivesWay::BeforeHistory
        | GivesWay::WithHistory
        | GivesWay::AfterHistory(_)
        | GivesWay::Working => Tokens::ZERO,
    }
}

/// Places of the sections that may go, first to go first.
fn order_of_leaving(sections: &[Section]) -> Vec<usize> {
    let last_turn = sections
        .iter()
        .rposition(|section| section.kind.is_history());
    let mut places: Vec<usize> = (0..sections.len())
        .filter(|&place| {
            let gives_way = sections[place].kind.gives_way();
            gives_way < GivesWay::Working && Some(place) != last_turn
        })
        .collect();
    places.sort_by_key(|&place| sections[place].kind.gives_way());
    places
}

fn leave(section: &Section) -> LeftOut {
    LeftOut {
        kind: section.kind,
        source: section.source.clone(),
        cost: section.cost(),
        messages: section.spoken(),
    }
}

/// Whether what is still too much can be taken out of the work in progress and the input.
fn absorbs(sections: &[Section], limit: Tokens) -> bool {
    let excess = total(sections).minus(limit);
    let input = cost_of(sections, GivesWay::IsCut);
    let work = cost_of(sections, GivesWay::Working);
    let last_step = sections
        .iter()
        .rfind(|section| section.kind.gives_way() == GivesWay::Working);
    let work = work.minus(last_step.map_or(Tokens::ZERO, uncuttable));
    excess == Tokens::ZERO || (input + work).minus(excess) >= INPUT_AT_LEAST
}

fn cost_of(sections: &[Section], gives_way: GivesWay) -> Tokens {
    let sections = sections.iter();
    let some = sections.filter(|section| section.kind.gives_way() == gives_way);
    some.map(Section::cost).sum()
}

/// What a section costs when all its texts are cut.
fn uncuttable(section: &Section) -> Tokens {
    let parts = section
        .as_messages()
        .iter()
        .flat_map(|message| &message.parts);
    let texts = parts.filter_map(text_of);
    let cuttable = texts.map(|text| Tokens::estimate(text).minus(LEAST_CUT));
    section.cost().minus(cuttable.sum())
}

/// Lets the oldest steps go that do not fit although they were cut; never the last one.
fn let_steps_go(sections: &mut Vec<Section>, limit: Tokens) -> Vec<LeftOut> {
    let mut gone = Vec::new();
    while total(sections) > limit {
        let mut steps = (0..sections.len())
            .filter(|&place| sections[place].kind.gives_way() == GivesWay::Working);
        let (Some(oldest), Some(_)) = (steps.next(), steps.next()) else {
            break;
        };
        gone.push(leave(&sections.remove(oldest)));
    }
    gone
}

fn total(sections: &[Section]) -> Tokens {
    sections.iter().map(Section::cost).sum()
}

/// Cuts the longest messages of the sections that give way so, until all fits or nothing more can be cut.
fn cut(sections: &mut [Section], limit: Tokens, cuttable: GivesWay) -> Vec<Cut> {
    let mut cuts = Vec::new();
    loop {
        let excess = total(sections).minus(limit);
        if excess == Tokens::ZERO {
            return cuts;
        }
        let Some((place, message)) = longest(sections, cuttable) else {
            return cuts;
        };
        let section = &mut sections[place];
        let mut chars = 0;
        section.edit(|messages| {
            let message = &mut messages[message];
            let target = message.cost().minus(excess).max(LEAST_CUT);
            chars = shorten(message, target);
        });
        cuts.push(Cut {
            kind: section.kind,
            source: section.source.clone(),
            chars,
        });
    }
}

/// The costliest message that can still be cut: (section, message).
fn longest(sections: &[Section], cuttable: GivesWay) -> Option<(usize, usize)> {
    sections
        .iter()
        .enumerate()
        .filter(|(_, section)| section.kind.gives_way() == cuttable)
        .flat_map(|(place, section)| {
            let messages = section.as_messages().iter().enumerate();
            messages.map(move |(index, message)| (longest_part(message), place, index))
        })
        .filter(|(cost, ..)| *cost > LEAST_CUT)
        .max_by_key(|(cost, ..)| *cost)
        .map(|(_, place, index)| (place, index))
}

/// Cost of the longest text or tool result of a message; calls are never cut.
fn longest_part(message: &Message) -> Tokens {
    message
        .parts
        .iter()
        .filter_map(text_of)
        .map(Tokens::estimate)
        .max()
        .unwrap_or_default()
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text)
        | Part::ToolResult { output: text, .. }
        | Part::Attached(Attached { text, .. }) => Some(text),
        Part::ToolCall(_) | Part::Image(_) => None,
    }
}

/// Shortens the longest part so that the message costs `target` where that is possible; tells how many
/// characters went.
fn shorten(message: &mut Message, target: Tokens) -> usize {
    let excess = message.cost().minus(target);
    let longest = message.parts.iter_mut().filter_map(|part| match part {
        Part::Text(text)
        | Part::ToolResult { output: text, .. }
        | Part::Attached(Attached { text, .. }) => Some(text),
        Part::ToolCall(_) | Part::Image(_) => None,
    });
    let Some(text) = longest.max_by_key(|text| text.len()) else {
        return 0;
    };
    let room = Tokens::estimate(text)
        .minus(excess)
        .max(LEAST_CUT.minus(Tokens::PER_MESSAGE));
    let before = text.chars().count();
    *text = truncate(text, room.chars());
    before - (text.chars().count() - TRUNCATED.chars().count()).min(before)
}

/// Keeps head and tail of a text around the marker, `chars` scalar values in all.
fn truncate(text: &str, chars: usize) -> String {
    let room = chars.saturating_sub(TRUNCATED.chars().count());
    let total = text.chars().count();
    if total <= chars {
        return text.to_owned();
    }
    let tail = room / 3;
    let head = room - tail;
    let head: String = text.chars().take(head).collect();
    let tail: String = text.chars().skip(total - tail).collect();
    format!("{head}{TRUNCATED}{tail}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chat::{Calibration, MessageId, Role, ToolCall, TurnId};
    use crate::context::{SectionKind, Source};

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
                Source::Compaction { upto: 40 },
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

    fn turn_of(id: u32, kind: SectionKind, user: &str, reply: &str) -> Section {
        turn(id, kind, user, reply)
    }

    /// Every call is answered by the message right after it.
    fn paired(messages: &[&Message]) -> bool {
        messages.iter().enumerate().all(|(i, message)| {
            let calls = message.calls().map(|call| &call.id);
            let answers = messages
                .get(i + 1)
                .map(|next| next.answers().collect::<Vec<_>>())
                .unwrap_or_default();
            calls.eq(answers)
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
                let least = Tokens::estimate(&prompt) + Tokens(200);
                prop_assert!(budget.prompt() < least, "refused {} with {} free", least, budget.prompt());
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
    }
}
