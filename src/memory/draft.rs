//! What the next request would hold if there were room: system texts, what stands for the past, the past itself, what
//! was just said (C8).

use std::borrow::Cow;
use std::ops::Range;

use super::recall::{self, Found, Question, Searching};
use super::transcript::fenced;
use super::{LongTermContext, Memory, Prompt, Timestamps, compaction, report};
use crate::chat::{Message, Part, Role, Session, Summary, Timestamp, Tokens, ToolSpec};
use crate::context::stages::{history, stamp, trim, work};
use crate::context::{Brought, Draft, Layout, Section, SectionKind, Source, Strategy};

/// What a request is made for beside the session.
#[derive(Clone, Debug)]
pub struct Surroundings<'a> {
    /// The folder the person works in, as the base prompt names it.
    pub directory: String,
    pub now: Timestamp,
    /// What the prompt may cost: older turns beyond it are not drafted.
    pub room: Tokens,
    pub layout: Layout,
    /// What recall searches; `None` where it cannot.
    pub recall: Option<Searching<'a>>,
    /// Tools that the model may call; none where it cannot.
    pub offered: Option<Offered<'a>>,
    /// Characters of a tool's result in the turns after its own; 0: all of them (O3).
    pub result_chars: usize,
    /// What outlives a session, as it is now.
    pub kept: &'a LongTermContext,
    /// Messages that were compacted for this very request: recall does not bring them back into it.
    pub compacted_now: Range<usize>,
    /// Who owns the list of messages.
    pub strategy: Strategy,
}

/// The tools of a request.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    pub tools: &'a [ToolSpec],
    /// A line on tools that could be had, or nothing.
    pub further: &'a str,
    pub keeping: Keeping,
}

/// Whether tools are at hand, or can be loaded, that keep something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    WithinReach,
    OutOfReach,
}

/// Messages that wait for a summary and are sent as they were said; of more recall brings what is spoken of.
pub(super) const MAX_PENDING: usize = 200;

/// Exchanges that one request recalls at most.
const MAX_RECALLED: usize = 40;

/// The share of the best exchange's score that those beyond the first `vector_recall_k` must have: of what is below it
/// hardly any holds what is asked (docs/RECALL.md).
const WORTH: f32 = 0.25;

/// Past turns of a draft, oldest first.
struct Past {
    sections: Vec<Section>,
    /// The index of the first message among them.
    begins: usize,
    /// Older messages that are not among them and that nothing stands for.
    beyond: usize,
}

impl Memory {
    /// Lines up what the next request would hold if there were room (C8). Reads only.
    pub fn prepare(&self, session: &Session, input: &Message, around: &Surroundings<'_>) -> Draft {
        match around.layout {
            Layout::Classic => self.classic(session, input, around),
            Layout::CacheFriendly => self.cache_friendly(session, input, around),
        }
    }

    fn classic(&self, session: &Session, input: &Message, around: &Surroundings<'_>) -> Draft {
        let mut sections = self.system(session, around);
        sections.extend(self.lasting(around.kept, around.room));
        let hybrid = session.hybrid();
        let summarises = self.mode().hybrid.summarization;
        let summary = hybrid.running().filter(|_| summarises);
        sections.extend(summary.map(|summary| self.summary(summary)));
        let place_of_recall = sections.len();
        sections.extend(self.related(around.kept));
        sections.extend(self.modes.active().sections());
        sections.extend(self.results(session));
        let compaction = hybrid.compaction.as_ref();
        sections.extend(self.compacted(session, around));
        let compacted = compaction.map_or(0, |compaction| compaction.upto);
        let wanted = history::Wanted {
            window: self.window(around),
            covered: summary.map_or(compacted, |summary| summary.upto),
            pending: if self.settings.carry_pending && summarises {
                history::Pending::Carried {
                    max: self.max_pending(),
                }
            } else {
                history::Pending::Dropped
            },
            room: around.room,
        };
        let (past, beyond) = history::sections(session, wanted, self.past(session, around));
        let mut past = Past {
            begins: begins(session, &past),
            sections: past,
            beyond,
        };
        let last = Section::input(self.rendered(input));
        let work = work::sections(session, around.room, |message| self.rendered(message));
        let running = cost(&work);
        let fixed = cost(&sections) + last.cost() + running;
        let recalled = self.recalled(session, input, around, fixed, &mut past);
        if let Some(recalled) = recalled {
            sections.insert(place_of_recall, recalled);
        }
        sections.extend(past.sections);
        let rest = around.room.minus(cost(&sections) + last.cost() + running);
        sections.push(last);
        sections.extend(self.recovered(around.kept, rest));
        sections.extend(work);
        Draft {
            sections,
            beyond: past.beyond,
        }
    }

    /// The exchanges of long ago that speak of the input. They are given room before the oldest turns of the past are,
    /// and what those say can be found then; so the one search there is looks at those turns too.
    fn recalled(
        &self,
        session: &Session,
        input: &Message,
        around: &Surroundings<'_>,
        fixed: Tokens,
        past: &mut Past,
    ) -> Option<Section> {
        let max = self.settings.recall.room(around.room);
        let room = around.room.minus(fixed);
        let before = past.begin_within(session, room.minus(max));
        let candidates = self.candidates(session, input, around, before, MAX_RECALLED)?;
        let recalled = candidates.quoted(self, session, past.begins, max)?;
        if !past.shrink(session, room.minus(recalled.cost())) {
            return Some(recalled);
        }
        // What was found before is no part of the request now either.
        let max = max.min(recalled.cost());
        let again = candidates.quoted(self, session, past.begins, max);
        again.or(Some(recalled))
    }

    /// The best exchanges before a message, `vector_recall_k` that cost at most so much: what changes from request to
    /// request is kept small where requests are to begin alike.
    pub(super) fn recall(
        &self,
        session: &Session,
        input: &Message,
        around: &Surroundings<'_>,
        before: usize,
        max: Tokens,
    ) -> Option<Section> {
        self.candidates(session, input, around, before, self.recall_k())?
            .quoted(self, session, before, max)
    }

    /// What recall finds for an input among the messages before one.
    fn candidates<'a>(
        &self,
        session: &Session,
        input: &'a Message,
        around: &Surroundings<'a>,
        before: usize,
        max: usize,
    ) -> Option<Candidates<'a>> {
        let searching = around.recall?;
        let said = input.said();
        let k = self.recall_k();
        if k == 0 || !self.settings.recall.asks(&said) {
            return None;
        }
        let asked = recall::asked(said);
        let question = Question {
            text: &asked,
            k: k.max(MAX_RECALLED),
            before,
            min_similarity: self.settings.recall.min_similarity,
        };
        let mut found = recall::find(session, searching, question);
        let gone = &around.compacted_now;
        found.retain(|it| it.messages.end <= gone.start || gone.end <= it.messages.start);
        Some(Candidates {
            searching,
            found,
            asked,
            k,
            max: max.max(k),
        })
    }

    /// What waits for a summary is sent as it was said. Of a long backlog recall brings what is spoken of.
    pub(super) fn max_pending(&self) -> usize {
        match self.recall_k() {
            0 => usize::MAX,
            _ => MAX_PENDING,
        }
    }

    pub(super) fn summary(&self, summary: &Summary) -> Section {
        let messages = (summary.upto - summary.from).to_string();
        // What a model wrote must not pass for what the program says.
        let text = fenced(&summary.text);
        let values = [("messages", messages.as_str()), ("summary", text.as_str())];
        let text = self.prompts.summary.fill(&values);
        let source = Source::Summary {
            from: summary.from,
            upto: summary.upto,
        };
        Section::system(SectionKind::Summary, source, text)
    }

    /// What was found out aside.
    pub(super) fn results(&self, session: &Session) -> Option<Section> {
        report::section(session.scratchpad(), &self.prompts.results)
    }

    pub(super) fn system(&self, session: &Session, around: &Surroundings<'_>) -> Vec<Section> {
        let time = match self.settings.timestamps {
            Timestamps::All | Timestamps::User => {
                "- A message may begin with its time in brackets, added by the program. The newest one is the \
                 current time. Never write such a time in front of your own replies."
                    .to_owned()
            }
            Timestamps::Off => format!("- Today is {} (UTC).", around.now.date()),
        };
        let values = [
            ("session", session.name().as_str()),
            ("directory", around.directory.as_str()),
            ("time", time.as_str()),
        ];
        let text = |prompt: &Prompt, values: &[(&str, &str)]| {
            let source = Source::Prompt(prompt.file.clone());
            Section::system(SectionKind::System, source, prompt.fill(values))
        };
        let mut sections: Vec<Section> = [&self.prompts.base, &self.mode().prompt]
            .map(|prompt| text(prompt, &values))
            .into();
        if let Some(offered) = around.offered {
            let keeping = match offered.keeping {
                Keeping::WithinReach => format!("{}\n", self.prompts.keeping.text.trim_end()),
                Keeping::OutOfReach => String::new(),
            };
            let values = [("keeping", keeping.as_str()), ("further", offered.further)];
            sections.push(text(&self.prompts.tools, &values));
            sections.push(Section::tools(offered.tools.to_vec()));
        }
        sections
    }

    /// A message of an earlier turn as it is sent, by its place in history.
    pub(super) fn past<'a>(
        &'a self,
        session: &Session,
        around: &Surroundings<'_>,
    ) -> impl Fn(usize, &Message) -> Message + use<'a> {
        let condensed = session.hybrid().compaction.as_ref();
        let condensed = condensed.map_or(0, |it| it.condensed);
        let result_chars = around.result_chars;
        move |place, message| {
            let max = if place < condensed {
                compaction::CONDENSED
            } else {
                result_chars
            };
            self.rendered(&trim::trimmed(message, max))
        }
    }

    /// What stands for the messages that were compacted.
    pub(super) fn compacted(
        &self,
        session: &Session,
        around: &Surroundings<'_>,
    ) -> Option<Section> {
        let compaction = session.hybrid().compaction.as_ref()?;
        compaction::section(session, compaction, self.past(session, around))
    }

    /// Messages of the sliding window; all, where the strategy has none.
    pub(super) fn window(&self, around: &Surroundings<'_>) -> usize {
        match around.strategy {
            Strategy::Rolling => self.mode().window,
            Strategy::Window | Strategy::Prefix | Strategy::Full => usize::MAX,
        }
    }

    pub(super) fn rendered(&self, message: &Message) -> Message {
        if message.role == Role::Tool {
            return fenced_results(message);
        }
        match (self.settings.timestamps, message.role) {
            (Timestamps::Off, _) | (_, Role::Tool) | (Timestamps::User, Role::Assistant) => {
                message.clone()
            }
            (Timestamps::All, _) | (Timestamps::User, Role::User) => stamp::stamped(message),
        }
    }
}

/// Whatever a tool brought is data, and cannot pass for anything else.
fn fenced_results(message: &Message) -> Message {
    let mut message = message.clone();
    for part in &mut message.parts {
        if let Part::ToolResult { output, .. } = part {
            *output = fenced(output);
        }
    }
    message
}

/// What recall found for an input, best first.
struct Candidates<'a> {
    searching: Searching<'a>,
    found: Vec<Found>,
    asked: Cow<'a, str>,
    /// So many whatever their scores, and so many at most.
    k: usize,
    max: usize,
}

impl Candidates<'_> {
    /// Of those before a message, as many as are wanted and find room in so much.
    fn quoted(
        &self,
        memory: &Memory,
        session: &Session,
        before: usize,
        max: Tokens,
    ) -> Option<Section> {
        let asked = self.searching.words.asked(&self.asked);
        // The beginning may stand in the request itself.
        let head = session.hybrid().compaction.as_ref();
        let head = head.map_or(0, |compaction| compaction.head);
        let earlier = self.found.iter();
        let earlier =
            earlier.filter(|found| found.messages.start < before && found.messages.end > head);
        let ranked = recall::with_the_plainest(earlier.cloned().collect(), self.k);
        let best = ranked.iter().map(|found| found.best.score);
        let min = WORTH * best.fold(0.0, f32::max);
        let worth = ranked
            .into_iter()
            .take(self.max)
            .enumerate()
            .filter(|(at, found)| *at < self.k || found.best.score >= min);
        let mut chosen: Vec<Found> = Vec::new();
        let mut room = max;
        for (_, found) in worth {
            let quoted = recall::quote(session, &asked, std::slice::from_ref(&found));
            let cost = Section::system(SectionKind::Recall, Source::You, fenced(&quoted)).cost();
            if cost <= room {
                room = room.minus(cost);
                chosen.push(found);
            }
        }
        // What stands around the quotes costs something too: the last one leaves for it.
        while !chosen.is_empty() {
            let quotes = fenced(&recall::quote(session, &asked, &chosen));
            let text = memory.prompts.recall.fill(&[("exchanges", &quotes)]);
            let turns = chosen.iter().map(|found| Brought {
                what: found.turn,
                score: found.best.score,
                overlap: found.best.overlap,
                similarity: found.best.similarity,
                at: session.begun(found.turn),
            });
            let turns = turns.collect();
            let section = Section::system(SectionKind::Recall, Source::Recall(turns), text);
            if section.cost() <= max {
                return Some(section);
            }
            chosen.pop();
        }
        None
    }
}

impl Past {
    /// Lets go of the oldest turns that do not fit, never of the last one; tells whether any went.
    fn shrink(&mut self, session: &Session, room: Tokens) -> bool {
        let gone = self.too_many(room);
        self.sections.drain(..gone);
        let begins = begins(session, &self.sections);
        self.beyond += begins - self.begins;
        self.begins = begins;
        gone > 0
    }

    /// Where it would begin then.
    fn begin_within(&self, session: &Session, room: Tokens) -> usize {
        begins(session, &self.sections[self.too_many(room)..])
    }

    /// How many of the oldest turns do not fit.
    fn too_many(&self, room: Tokens) -> usize {
        let mut cost: Tokens = self.sections.iter().map(Section::cost).sum();
        let mut gone = 0;
        while cost > room && gone + 1 < self.sections.len() {
            cost = cost.minus(self.sections[gone].cost());
            gone += 1;
        }
        gone
    }
}

/// The index of the first message of the first of these turns; beyond all messages where there is none.
pub(super) fn begins(session: &Session, past: &[Section]) -> usize {
    let first = past.iter().find_map(|section| match section.source {
        Source::Turn(turn) => Some(turn),
        _ => None,
    });
    let turns = session.turns();
    let at = first.and_then(|first| turns.binary_search_by_key(&first, |turn| turn.id).ok());
    at.map_or(session.messages().len(), |at| turns[at].messages.start)
}

pub(super) fn cost(sections: &[Section]) -> Tokens {
    sections.iter().map(Section::cost).sum()
}
