//! The one function that makes a draft fit.
//!
//! One order of giving way (C79-C81): what was recovered; recall and sub-results; pending and window as one list,
//! oldest turn first, never the last whole turn; then mode state and compacted head; then the texts of the last turn
//! are cut with the marker, the longest to one level. Then the steps of the running turn, from the oldest on: each
//! result down to 2,000 characters before anything newer is touched, then all but the last step to one level, then the
//! last step; what fits in no other way lets the oldest steps go, whole, never the last one. Last of all an input that
//! alone is larger than the budget is cut. System texts and what is said of tools never change. A last turn that cannot
//! be cut enough (a tool call is never cut) goes whole after all: a session must never become unsendable.

mod cut;

use std::borrow::Cow;

use crate::chat::Tokens;
use crate::hint::Hint;

use super::{Budget, ContextPlan, Cut, Draft, GivesWay, LeftOut, Section};
use cut::{level, text_of};

/// The window is too small for the system prompt and a usable rest of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a context window of {window} tokens leaves {room} for the prompt, which needs at least {needed}"
)]
pub struct DoesNotFit {
    pub window: Tokens,
    pub room: Tokens,
    pub needed: Tokens,
}

impl Hint for DoesNotFit {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some("choose a model with a larger window, raise its context_window (Ollama: num_ctx), or shorten the system prompt".into())
    }
}

/// An input is not cut below this before the reply's reserve has given way.
const MIN_INPUT: Tokens = Tokens(256);

/// Least cost of a text that was cut: marker and a few words on either side.
const MIN_CUT: Tokens = Tokens(24);

/// What a result is cut to before anything newer is touched: 2,000 characters.
const WORTH_READING: Tokens = Tokens(500);

/// Makes `draft` fit into `budget`: beside the whole reply reserve, or beside a small one where the
/// prompt alone is too large for that.
pub fn fit(draft: Draft, budget: Budget) -> Result<ContextPlan, DoesNotFit> {
    let fixed: Tokens = draft.sections.iter().map(min_cost).sum();
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

    let history = places(&sections, GivesWay::WithHistory);
    let mut cuts = level(&mut sections, &history, limit, MIN_CUT);
    if !absorbs(&sections, limit) {
        left_out.extend(
            sections
                .extract_if(.., |section| section.kind.is_history())
                .map(|section| leave(&section)),
        );
        cuts.clear();
    }
    let (worked, gone) = work(&mut sections, limit);
    cuts.extend(worked);
    left_out.extend(gone);
    let input = places(&sections, GivesWay::IsCut);
    cuts.extend(level(&mut sections, &input, limit, MIN_CUT));
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
fn min_cost(section: &Section) -> Tokens {
    match section.kind.gives_way() {
        GivesWay::Never => section.cost(),
        GivesWay::IsCut => section.cost().min(MIN_INPUT),
        GivesWay::First
        | GivesWay::BeforeHistory
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
    excess == Tokens::ZERO || (input + work).minus(excess) >= MIN_INPUT
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
    let cuttable = texts.map(|text| Tokens::estimate(text).minus(MIN_CUT));
    section.cost().minus(cuttable.sum())
}

/// Work in progress gives way from its oldest step on; the last one, which the model has not read yet, is the last to.
fn work(sections: &mut Vec<Section>, limit: Tokens) -> (Vec<Cut>, Vec<LeftOut>) {
    let steps = places(sections, GivesWay::Working);
    let Some((last, older)) = steps.split_last() else {
        return (Vec::new(), Vec::new());
    };
    let mut cuts = Vec::new();
    for step in older {
        let step = std::slice::from_ref(step);
        cuts.extend(level(sections, step, limit, WORTH_READING));
    }
    cuts.extend(level(sections, older, limit, MIN_CUT));
    cuts.extend(level(sections, &[*last], limit, WORTH_READING));
    let gone = let_steps_go(sections, older, limit);
    let last = last - gone.len();
    cuts.extend(level(sections, &[last], limit, MIN_CUT));
    (cuts, gone)
}

/// Lets the oldest steps go that do not fit although they were cut; the last one is not among them.
fn let_steps_go(sections: &mut Vec<Section>, older: &[usize], limit: Tokens) -> Vec<LeftOut> {
    let mut gone = Vec::new();
    for step in older {
        if total(sections) <= limit {
            break;
        }
        gone.push(leave(&sections.remove(step - gone.len())));
    }
    gone
}

fn places(sections: &[Section], gives_way: GivesWay) -> Vec<usize> {
    let sections = sections.iter().enumerate();
    let some = sections.filter(|(_, section)| section.kind.gives_way() == gives_way);
    some.map(|(place, _)| place).collect()
}

fn total(sections: &[Section]) -> Tokens {
    sections.iter().map(Section::cost).sum()
}

#[cfg(test)]
mod tests;
