//! `/context`: what the model is sent, and how much of its window that takes.
//!
//! Tokens are counted by the server where its protocol has a question for that; an estimate stands behind `~`.

use super::{CommandError, Next, ReplContext, usage};
use crate::agent::{Agent, Count, Uncounted};
use crate::chat::Tokens;
use crate::context::{
    Content, ContextPlan, DoesNotFit, Guard, LeftOut, Section, SectionKind, Strategy, TokenUsage,
};
use crate::memory::Place;
use crate::memory::proof::Ranges;
use crate::repl::listing::{self, count};
use crate::repl::transcript;
use crate::term::{NARROW, bar, fit_end, width};

pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    match arguments {
        "preset" => Next::answer(presets(repl)),
        other if other.starts_with("preset ") => preset(repl, other["preset ".len()..].trim()),
        other => look(&mut repl.agent, repl.env.columns, other).await,
    }
}

pub(super) async fn look(
    agent: &mut Agent,
    columns: usize,
    arguments: &str,
) -> Result<Next, CommandError> {
    let shown = match arguments {
        "" => Shown::Overview,
        "full" => Shown::Full,
        "proof" => return Ok(proof(agent).await),
        other => return Err(usage("context", format!("has no option {other:?}"))),
    };
    Next::answer(show(agent, shown, columns).await)
}

/// Every preset and what it sets.
fn presets(repl: &ReplContext) -> String {
    let active = &repl.agent.settings().context.preset;
    let lines = repl.presets.iter().map(|preset| {
        let mark = if preset.name == *active { "* " } else { "  " };
        let sets = if preset.sets.is_empty() {
            "nothing (the defaults)".to_owned()
        } else {
            preset.sets.join(&format!("\n{:12}", ""))
        };
        format!("{mark}{:<10}{sets}", preset.name)
    });
    let now = format!("Now: {}", owner(repl.agent.settings()));
    lines.chain([now]).collect::<Vec<_>>().join("\n")
}

/// Takes another preset from the next request on.
fn preset(repl: &mut ReplContext, name: &str) -> Result<Next, CommandError> {
    let Some(preset) = repl.presets.iter().find(|preset| preset.name == name) else {
        let known: Vec<&str> = repl.presets.iter().map(|it| it.name.as_str()).collect();
        let problem = format!("has no preset {name:?}; available: {}", known.join(", "));
        return Err(usage("context", problem));
    };
    let (context, memory) = (preset.context.clone(), preset.memory.clone());
    repl.agent.resettle(context, memory);
    let owner = owner(repl.agent.settings());
    Next::answer(format!("From the next request on: {owner}"))
}

/// How much of the request is shown.
#[derive(Clone, Copy, Debug)]
enum Shown {
    Overview,
    Full,
}

async fn show(agent: &mut Agent, shown: Shown, columns: usize) -> String {
    let (heading, plan) = match plan(agent).await {
        Ok((Seen::Sent, plan)) => ("", plan),
        Ok((Seen::Ahead, plan)) => ("Nothing sent yet; the next request would contain:\n", plan),
        Ok((Seen::Compacted, plan)) => (
            "Compacted since the last request; the next one would contain:\n",
            plan,
        ),
        Err(error) => return error.to_string(),
    };
    let body = match shown {
        Shown::Overview => overview(agent, &plan, columns).await,
        Shown::Full => full(&plan),
    };
    format!("{heading}{body}")
}

/// Which request is looked at.
#[derive(Clone, Copy, Debug)]
enum Seen {
    Sent,
    /// The next one, before anything is said.
    Ahead,
    /// The next one, for which messages were compacted since.
    Compacted,
}

async fn plan(agent: &Agent) -> Result<(Seen, ContextPlan), DoesNotFit> {
    match agent.last_plan().cloned() {
        Some(_) if agent.is_compacted_since() => {
            let plan = agent.preview().await?;
            Ok((Seen::Compacted, plan))
        }
        Some(plan) => Ok((Seen::Sent, plan)),
        None => agent.preview().await.map(|plan| (Seen::Ahead, plan)),
    }
}

/// Where every message is, and which are nowhere (C7).
async fn proof(agent: &mut Agent) -> Next {
    let (heading, plan) = match plan(agent).await {
        Ok((Seen::Sent, plan)) => ("As of the last request and its reply:", plan),
        Ok((Seen::Ahead, plan)) => ("Nothing sent yet; as of the next request:", plan),
        Ok((Seen::Compacted, plan)) => (
            "Compacted since the last request; as of the next one:",
            plan,
        ),
        Err(error) => return Next::with(error.to_string(), None),
    };
    let proof = agent.proof(&plan).await;
    let session = agent.session();
    let mut lines = vec![heading.to_owned()];
    lines.extend(Place::ALL.map(|place| placed(place, &proof.ranges(place))));
    match proof.check(session) {
        Ok(()) => {
            let all = count(session.messages().len(), "message");
            lines.push(format!("{all}, all within reach"));
            Next::with(lines.join("\n"), None)
        }
        Err(problem) => Next::Refuted(lines.join("\n"), problem),
    }
}

fn placed(place: Place, ranges: &Ranges) -> String {
    let which = match ranges.count() {
        0 => String::new(),
        1 => format!("  message {ranges}"),
        _ => format!("  messages {ranges}"),
    };
    format!("{:<11}{:>7}{which}", place.as_str(), ranges.count())
}

/// Neighbouring sections of one kind as one row.
struct Row<'a> {
    kind: SectionKind,
    sections: Vec<&'a Section>,
}

fn rows(plan: &ContextPlan) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for section in plan.sections() {
        match rows.last_mut() {
            // Turns of one kind are shown as a range; system texts each have a file of their own.
            Some(row) if row.kind == section.kind && row.kind.is_history() => {
                row.sections.push(section);
            }
            _ => rows.push(Row {
                kind: section.kind,
                sections: vec![section],
            }),
        }
    }
    rows
}

impl Row<'_> {
    fn uncounted(&self, plan: &ContextPlan) -> Uncounted {
        let texts: Vec<String> = self.sections.iter().map(|section| words(section)).collect();
        let cost = self.sections.iter().map(|section| section.cost()).sum();
        Uncounted {
            text: texts.join("\n"),
            estimate: estimate(plan, cost).tokens,
        }
    }

    fn source(&self) -> String {
        match self.sections.as_slice() {
            [] => String::new(),
            [only] => only.source.to_string(),
            [first, .., last] => format!("{} to {}", first.source, last.source),
        }
    }

    fn messages(&self) -> usize {
        let sections = self.sections.iter();
        sections.map(|section| section.spoken()).sum()
    }

    fn line(&self, count: Count, window: Tokens, columns: usize) -> String {
        let (mut bar_of_share, mut source) = (String::new(), self.source());
        if columns >= NARROW {
            bar_of_share = bar(count.tokens.share_of(window), (columns / 4).min(24)) + "  ";
            match self.messages() {
                0 => {}
                n => source.extend([", ", &listing::count(n, "message")]),
            }
        }
        laid_out(self.kind.as_str(), count, &bar_of_share, &source, columns)
    }
}

/// A line of the overview; of a source that is too long the end is shown.
fn laid_out(kind: &str, count: Count, bar: &str, source: &str, columns: usize) -> String {
    let figure = figure(count);
    let head = match columns {
        0..NARROW => format!("{kind:<9}{figure:>7}  "),
        _ => format!("{kind:<10}{figure:>8} tok  {bar}"),
    };
    let room = columns.saturating_sub(width(&head)).max(12);
    format!("{head}{}", fit_end(source, room))
}

/// An estimate is told from a count.
fn figure(count: Count) -> String {
    let mark = if count.is_estimate { "~" } else { "" };
    format!("{mark}{}", count.tokens)
}

fn estimate(plan: &ContextPlan, cost: Tokens) -> Count {
    Count {
        tokens: plan.budget().calibration().grow(cost),
        is_estimate: true,
    }
}

async fn overview(agent: &mut Agent, plan: &ContextPlan, columns: usize) -> String {
    let rows = rows(plan);
    let texts: Vec<Uncounted> = rows.iter().map(|row| row.uncounted(plan)).collect();
    let counts = agent.count(&texts).await;
    let window = plan.budget().window();
    let counted = rows.iter().zip(&counts);
    let mut lines: Vec<String> = counted
        .map(|(row, count)| row.line(*count, window, columns))
        .collect();
    lines.extend(
        plan.left_out()
            .iter()
            .take(3)
            .map(|gone| left_out(plan, gone, columns)),
    );
    let left_out = plan.messages_left_out();
    if left_out > 0 {
        lines.push(format!(
            "{left_out} older messages do not fit and are not sent; they are kept on disk"
        ));
    }
    let threshold = agent.settings().context.warning_threshold;
    lines.push(total(used(agent, &counts), plan, threshold));
    lines.join("\n")
}

/// Who decides what is sent of the past (2.2).
fn owner(settings: &crate::agent::Settings) -> String {
    let context = &settings.context;
    let guards = context.guards.iter();
    let guards = guards.map(|guard| match guard {
        Guard::Threshold => "threshold",
        Guard::Proactive => "proactive",
    });
    let guards: Vec<&str> = guards.collect();
    let guards = if guards.is_empty() {
        "none".to_owned()
    } else {
        guards.join(", ")
    };
    let strategy = match context.strategy {
        Strategy::Rolling => "rolling",
        Strategy::Window => "window",
        Strategy::Prefix => "prefix",
        Strategy::Full => "full",
    };
    format!(
        "preset {}, strategy {strategy}, guards {guards}",
        context.preset
    )
}

fn left_out(plan: &ContextPlan, gone: &LeftOut, columns: usize) -> String {
    let source = format!("{}, {}", gone.kind.as_str(), gone.source);
    laid_out("left out", estimate(plan, gone.cost), "", &source, columns)
}

/// Tokens of the whole request: as the server reported them, else the sum of the rows.
fn used(agent: &Agent, counts: &[Count]) -> Count {
    let usage = agent.last_usage().filter(|_| !agent.is_compacted_since());
    if let Some(tokens) = usage.and_then(|usage| usage.prompt) {
        return Count {
            tokens,
            is_estimate: false,
        };
    }
    let sum = counts.iter().map(|count| count.tokens).sum();
    let assumed = agent.assumed_prompt();
    Count {
        tokens: assumed.unwrap_or(sum),
        is_estimate: assumed.is_some() || counts.iter().any(|count| count.is_estimate),
    }
}

/// The line that says how full the window is (G17), and the room for the reply.
fn total(used: Count, plan: &ContextPlan, threshold: f64) -> String {
    let max = plan.budget().window();
    let usage = TokenUsage::new(used.tokens, max, threshold, used.is_estimate);
    let state = match (usage.exceeds_limit, usage.near_limit) {
        (true, _) => ", over the limit",
        (false, true) => ", near the limit",
        (false, false) => "",
    };
    // What the server counted may be more than was expected.
    let reserved = plan
        .max_tokens()
        .min(Tokens(max.0.saturating_sub(used.tokens.0)));
    let short = |tokens: Tokens| listing::thousand(u64::from(tokens.0));
    format!(
        "{}{} of {} tokens ({:.0} %{state}), {} reserved for the reply",
        if usage.is_estimate { "~" } else { "" },
        short(usage.input),
        short(max),
        usage.percent_used,
        short(reserved)
    )
}

fn full(plan: &ContextPlan) -> String {
    let blocks = plan.sections().iter().map(|section| {
        format!(
            "── {} · {} · {} tok\n{}",
            section.kind.as_str(),
            section.source,
            figure(estimate(plan, section.cost())),
            words(section)
        )
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}

/// What a section says, and who says it.
fn words(section: &Section) -> String {
    match section.content() {
        Content::System(text) => text.trim().to_owned(),
        Content::Messages(messages) => {
            let said = messages.iter().filter_map(|message| {
                let body = transcript::body(message);
                let is_blank = body.trim().is_empty();
                (!is_blank).then(|| format!("{}: {body}", message.role.as_str()))
            });
            said.collect::<Vec<_>>().join("\n")
        }
        Content::Tools(tools) => {
            let described = tools.iter().map(|tool| {
                let schema = &tool.parameters;
                format!("{}: {}\n{schema}", tool.name, tool.description)
            });
            described.collect::<Vec<_>>().join("\n")
        }
    }
}

#[cfg(test)]
mod tests;
