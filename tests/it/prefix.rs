//! The cache-friendly layout: requests that begin as the ones before them did, and leave nothing out.

use std::sync::Arc;

use cogtrix::chat::Tokens;
use cogtrix::context::{ContextPlan, Layout, SectionKind};
use cogtrix::testing::{ManualClock, MemoryLog};
use tokio_util::sync::CancellationToken;

use talk::{Held, hold, wire};

#[path = "../../benches/prefix/talk.rs"]
mod talk;

const LARGE: Held = Held {
    layout: Layout::CacheFriendly,
    mode: "conversation",
    window: Tokens(32_768),
    turns: 120,
    summarization: true,
};

fn kinds(plan: &ContextPlan) -> Vec<SectionKind> {
    let mut kinds: Vec<SectionKind> = plan.sections().iter().map(|section| section.kind).collect();
    kinds.dedup();
    kinds
}

#[tokio::test]
async fn in_the_cache_friendly_layout_85_percent_of_a_prompt_is_as_before() {
    let share = hold(LARGE, |agent, plan| {
        assert_eq!(plan.messages_left_out(), 0);
        let proof = agent.memory().proof(agent.session(), plan, |_| false);
        assert_eq!(proof.check(agent.session()), Ok(()));
    })
    .await;
    assert!(
        share.percent() >= 85.0,
        "{share:?}: {:.1} %",
        share.percent()
    );
}

#[tokio::test]
async fn a_small_window_and_a_mode_without_summaries_move_in_steps_too() {
    let small = Held {
        window: Tokens(8_192),
        turns: 60,
        ..LARGE
    };
    let alone = Held {
        summarization: false,
        turns: 60,
        ..LARGE
    };
    for (held, most_broken) in [(small, 12), (alone, 4)] {
        let friendly = hold(held, |_, plan| {
            assert!(plan.cost() <= plan.budget().prompt());
        })
        .await;
        assert!(friendly.broken <= most_broken, "{friendly:?}");
        let classic = Held {
            layout: Layout::Classic,
            ..held
        };
        let classic = hold(classic, |_, _| {}).await;
        assert!(
            friendly.percent() > 2.0 * classic.percent(),
            "{friendly:?} {classic:?}"
        );
    }
}

#[tokio::test]
async fn what_changes_in_every_turn_stands_behind_the_past_and_in_front_of_the_input() {
    use SectionKind::{Input, ModeState, Pending, Recall, Summary, System, Window};
    let mut last = None;
    let held = Held { turns: 90, ..LARGE };
    hold(held, |_, plan| last = Some(plan.clone())).await;
    let plan = last.unwrap();
    assert_eq!(
        kinds(&plan),
        [System, Summary, Pending, Window, Recall, ModeState, Input]
    );
    let messages: Vec<_> = plan.messages().collect();
    let [.., reply, recall, state, input] = messages.as_slice() else {
        panic!("too few messages");
    };
    assert!(!reply.is_reference() && !input.is_reference());
    for (message, holds) in [
        (recall, "Related past exchanges."),
        (state, "Noted from this conversation"),
    ] {
        let said = message.said();
        assert!(message.is_reference() && said.contains(holds), "{said}");
        assert!(
            said.starts_with("Reference, put here by the program."),
            "{said}"
        );
    }
}

#[tokio::test]
async fn an_input_is_the_same_to_the_byte_when_it_is_history() {
    for layout in [Layout::Classic, Layout::CacheFriendly] {
        let mut input: Option<String> = None;
        let held = Held {
            layout,
            turns: 20,
            ..LARGE
        };
        hold(held, |_, plan| {
            let messages: Vec<_> = plan.messages().collect();
            let said = |message: &cogtrix::chat::Message| message.said().into_owned();
            if let Some(input) = &input {
                let history = messages.iter().filter(|message| !message.is_reference());
                let asked = history.rev().nth(2).unwrap();
                assert_eq!(said(asked), *input);
            }
            input = messages.last().copied().map(said);
        })
        .await;
    }
}

#[tokio::test]
async fn a_resumed_session_begins_its_requests_as_before() {
    let mut session = None;
    let mut before = String::new();
    let held = Held { turns: 70, ..LARGE };
    hold(held, |agent, plan| {
        session = Some(agent.session().clone());
        before = wire(plan);
    })
    .await;
    let opened = MemoryLog::default().reopen(session.unwrap());
    let mut agent = talk::agent(held, opened, Arc::new(ManualClock::new()));
    let cancel = CancellationToken::new();
    let turn = agent
        .turn("And now?".to_owned(), &mut |_| {}, &cancel)
        .await;
    turn.unwrap();
    let after = wire(agent.last_plan().unwrap());
    let same = before
        .bytes()
        .zip(after.bytes())
        .take_while(|(a, b)| a == b);
    let same = same.count();
    assert!(same * 5 > before.len() * 4, "{same} of {}", before.len());
}
