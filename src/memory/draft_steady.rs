//! The draft of the cache-friendly layout: what changes least stands first (C8).
//!
//! ```text
//!  system texts, files | summary | compacted head | past ...   | recall | captures, mode state | input | recovered
//!  the same in every turn, until the past begins later         | new in every turn
//! ```
//! Invariant: what no summary in it stands for is sent word for word while there is room. Where the past begins is read
//! from the session and the room alone, so that it is the same after a resume.

use super::draft::{begins, cost};
use super::summary::steady;
use super::{Memory, Surroundings, transcript};
use crate::chat::{Hybrid, Message, Session, Tokens, TurnId};
use crate::context::stages::history::{self, Pending};
use crate::context::stages::steps::{self, Bounds, Size};
use crate::context::stages::work;
use crate::context::{Content, Draft, Section, SectionKind, Source};

/// The share of the room that is kept free behind the past, one part in so many: what recall, mode state and input take
/// differs from turn to turn and must not move the beginning. Recall may take what is left of it.
const BEHIND_SHARE: u32 = 8;

/// The room for summary and past.
#[derive(Clone, Copy)]
struct Room {
    /// Beside what is kept free.
    usual: Tokens,
    /// Beside the mode state and the input of this turn.
    max: Tokens,
}

impl Memory {
    pub(super) fn cache_friendly(
        &self,
        session: &Session,
        input: &Message,
        around: &Surroundings<'_>,
    ) -> Draft {
        let mut sections = self.system(session, around);
        let lasting = self.lasting(around.kept, around.room);
        // What a turn may add to stands behind the past.
        let (captured, lasting): (Vec<_>, Vec<_>) = lasting
            .into_iter()
            .partition(|section| section.kind == SectionKind::SessionState);
        sections.extend(lasting);
        let head = self.compacted(session, around);
        let states = self.modes.active().sections().into_iter();
        let states = states.chain(self.results(session));
        let states = captured
            .into_iter()
            .chain(self.related(around.kept))
            .chain(states);
        let states: Vec<Section> = states.collect();
        let states: Vec<Section> = states.iter().map(|state| self.behind(state)).collect();
        let last = Section::input(self.rendered(input));

        let work = work::sections(session, around.room, |message| self.rendered(message));
        let running = last.cost() + cost(&work);
        let before = cost(&sections) + head.as_ref().map_or(Tokens::ZERO, Section::cost);
        let max = around.room.minus(before + cost(&states) + running);
        let free = Tokens(around.room.0 / BEHIND_SHARE);
        let room = Room {
            usual: around.room.minus(before + free).min(max),
            max,
        };
        let (summary, past, beyond) = self.turns(session, room, around);
        sections.extend(summary);
        sections.extend(head);

        let begins = begins(session, &past);
        let fence = self.behind(&Section::system(SectionKind::Recall, Source::You, ""));
        let taken = cost(&sections) + cost(&past) + cost(&states) + running + fence.cost();
        let rest = around.room.minus(taken);
        let max = rest.min(self.settings.recall.room(around.room));
        let recalled = self.recall(session, input, around, begins, max);
        sections.extend(past);
        sections.extend(recalled.iter().map(|recalled| self.behind(recalled)));
        sections.extend(states);
        let rest = around.room.minus(cost(&sections) + running);
        sections.push(last);
        sections.extend(self.recovered(around.kept, rest));
        sections.extend(work);
        Draft { sections, beyond }
    }

    /// The summary to send, the past behind it, and how many messages neither holds.
    fn turns(
        &self,
        session: &Session,
        room: Room,
        around: &Surroundings<'_>,
    ) -> (Option<Section>, Vec<Section>, usize) {
        let summarises = self.mode().hybrid.summarization;
        let choices = self.choices(session.hybrid(), summarises);
        let oldest = choices.first().map_or(0, |choice| choice.upto);
        let wanted = history::Wanted {
            window: self.window(around),
            covered: oldest,
            pending: Pending::Carried { max: usize::MAX },
            room: room.max,
        };
        let (past, missing) = history::sections(session, wanted, self.past(session, around));
        let past = Past {
            ends: past.iter().map(|turn| end(session, turn)).collect(),
            sections: past,
            begins_at: if missing > 0 { oldest + missing } else { 0 },
        };
        let choice = past.choose(choices, room);
        let first = past.first_behind(choice.upto);
        let left = room.usual.minus(choice.cost());
        let sizes = past.sizes(first);
        let max = if summarises {
            self.max_pending()
        } else {
            self.window(around)
        };
        let summarises = summarises || max == usize::MAX;
        // Of a long backlog not all is sent, as of an imported history, which no summary covers for long.
        let spoken: usize = sizes.iter().map(|turn| turn.messages).sum();
        let is_short = summarises && spoken <= max.saturating_add(steady::STEP);
        let bounds = if is_short {
            Bounds::of_room(left)
        } else {
            Bounds::of_messages(max, steady::STEP, left)
        };
        let start = if is_short && past.fits(&choice, room.max) {
            first
        } else {
            first + steps::start(&sizes, bounds)
        };
        let (sections, beyond) = past.from(session, choice.upto, start);
        (choice.section, sections, beyond)
    }

    /// What may stand for the beginning, oldest first; never empty.
    fn choices(&self, hybrid: &Hybrid, summarises: bool) -> Vec<Choice> {
        let candidates = if summarises {
            steady::candidates(hybrid)
        } else {
            Vec::new()
        };
        let nothing = Choice {
            upto: hybrid.compaction.as_ref().map_or(0, |it| it.upto),
            level: steady::LEVELS,
            section: None,
        };
        let choices = candidates.iter().map(|candidate| Choice {
            upto: candidate.summary.upto,
            level: candidate.level,
            section: Some(self.summary(candidate.summary)),
        });
        // Until the first whole step is over, all can still be sent.
        let is_young = steady::is_young(&candidates, nothing.upto);
        is_young
            .then_some(nothing)
            .into_iter()
            .chain(choices)
            .collect()
    }

    /// A text of the system as it stands behind the past: fenced, and told from what the person says.
    fn behind(&self, section: &Section) -> Section {
        let Content::System(text) = section.content() else {
            return section.clone();
        };
        let fenced = transcript::fenced(text.trim());
        let text = self.prompts.reference.fill(&[("text", &fenced)]);
        Section::reference(section.kind, section.source.clone(), text.trim())
    }
}

/// A summary, or nothing, that stands for the messages before `upto`.
#[derive(Debug, Default)]
struct Choice {
    upto: usize,
    /// The higher, the longer will it be the one to send.
    level: u32,
    section: Option<Section>,
}

impl Choice {
    fn cost(&self) -> Tokens {
        self.section.as_ref().map_or(Tokens::ZERO, Section::cost)
    }
}

/// The newest turns, as many as may find room.
struct Past {
    sections: Vec<Section>,
    /// Where each of them ends, as an index of a message.
    ends: Vec<usize>,
    /// Older messages than this one are not among them.
    begins_at: usize,
}

impl Past {
    /// What stands for the beginning: of what there is room for, the choice that stays longest, of equals the newest;
    /// where there is no room for any, the newest.
    fn choose(&self, choices: Vec<Choice>, room: Room) -> Choice {
        let best = (0..choices.len())
            .filter(|place| self.fits(&choices[*place], room.usual))
            .max_by_key(|place| (choices[*place].level, *place));
        let place = best.unwrap_or(choices.len().saturating_sub(1));
        choices.into_iter().nth(place).unwrap_or_default()
    }

    /// What the turns from this one on take.
    fn sizes(&self, first: usize) -> Vec<Size> {
        self.sections[first..].iter().filter_map(size).collect()
    }

    /// Whether all that a choice does not stand for can be sent beside it.
    fn fits(&self, choice: &Choice, room: Tokens) -> bool {
        let behind = &self.sections[self.first_behind(choice.upto)..];
        choice.upto >= self.begins_at && cost(behind) + choice.cost() <= room
    }

    /// The first turn that something does not stand for; coverage that ends inside a turn moves back (C10).
    fn first_behind(&self, upto: usize) -> usize {
        self.ends.partition_point(|end| *end <= upto)
    }

    /// The turns to send, and how many messages are left out between them and what stands for the beginning.
    fn from(mut self, session: &Session, upto: usize, start: usize) -> (Vec<Section>, usize) {
        let is_whole = upto >= self.begins_at && start == self.first_behind(upto);
        let sections = self.sections.split_off(start);
        let beyond = if is_whole {
            0
        } else {
            begins(session, &sections).saturating_sub(upto)
        };
        (sections, beyond)
    }
}

/// Where the turn of a section ends.
fn end(session: &Session, section: &Section) -> usize {
    let turns = session.turns();
    let at = turn_of(section).and_then(|id| turns.binary_search_by_key(&id, |turn| turn.id).ok());
    at.map_or(usize::MAX, |at| turns[at].messages.end)
}

fn size(section: &Section) -> Option<Size> {
    Some(Size {
        turn: turn_of(section)?,
        messages: section.spoken(),
        cost: section.cost(),
    })
}

fn turn_of(section: &Section) -> Option<TurnId> {
    match section.source {
        Source::Turn(turn) => Some(turn),
        _ => None,
    }
}
