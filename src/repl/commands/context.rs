//! `/context` and `/compact`: what the model is sent, and how much of its window that takes.

use super::{CommandError, Desk, Next, usage};
use crate::chat::Tokens;
use crate::context::{Content, ContextPlan, Section, SectionKind, Source, TokenUsage};
use crate::repl::transcript;
use crate::term::{bar, fit_to};

pub(super) async fn run(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    let render: fn(&ContextPlan, f64, usize) -> String = match arguments {
        "" => overview,
        "full" => full,
        other => return Err(usage("context", format!("does not know {other:?}"))),
    };
    let threshold = desk.agent.settings().context.warning_threshold;
    let columns = desk.columns;
    if let Some(plan) = desk.agent.last_plan() {
        return Next::answer(render(plan, threshold, columns));
    }
    match desk.agent.preview().await {
        Ok(plan) => Next::answer(format!(
            "Nothing was sent yet; the next request would hold:\n{}",
            render(&plan, threshold, columns)
        )),
        Err(error) => Next::answer(error.to_string()),
    }
}

pub(super) async fn compact(desk: &mut Desk, arguments: &str) -> Result<Next, CommandError> {
    match arguments {
        "" => Ok(Next::Compact),
        "undo" => {
            let warning = desk.agent.undo_compaction()?;
            Ok(Next::with(
                "The last compaction is undone; the messages are sent again".to_owned(),
                warning,
            ))
        }
        other => Err(usage("compact", format!("does not know {other:?}"))),
    }
}

/// Neighbouring sections of one kind as one row.
struct Row {
    kind: SectionKind,
    sections: usize,
    messages: usize,
    cost: Tokens,
    source: String,
}

fn rows(plan: &ContextPlan) -> Vec<Row> {
    let mut rows: Vec<(Row, Source)> = Vec::new();
    for section in plan.sections() {
        match rows.last_mut() {
            Some((row, first)) if row.kind == section.kind && joins(section) => {
                row.sections += 1;
                row.messages += section.as_messages().len();
                row.cost += section.cost();
                row.source = format!("{first} to {}", section.source);
            }
            _ => rows.push((row_of(section), section.source.clone())),
        }
    }
    rows.into_iter().map(|(row, _)| row).collect()
}

/// Turns of one kind are shown as a range; system texts each have a file of their own.
fn joins(section: &Section) -> bool {
    matches!(section.kind, SectionKind::Pending | SectionKind::Window)
}

fn row_of(section: &Section) -> Row {
    Row {
        kind: section.kind,
        sections: 1,
        messages: section.as_messages().len(),
        cost: section.cost(),
        source: section.source.to_string(),
    }
}

fn overview(plan: &ContextPlan, threshold: f64, columns: usize) -> String {
    let window = plan.budget().window();
    let calibration = plan.budget().calibration();
    let bar_width = (columns / 4).clamp(4, 24);
    let mut lines: Vec<String> = rows(plan)
        .into_iter()
        .map(|row| {
            let counted = calibration.grow(row.cost);
            let bar = bar(counted.share_of(window), bar_width);
            let messages = match row.messages {
                0 => String::new(),
                1 => ", 1 message".to_owned(),
                n => format!(", {n} messages"),
            };
            format!(
                "{:<10}{counted:>8} tok  {bar}  {}{messages}",
                row.kind.as_str(),
                row.source
            )
        })
        .collect();
    lines.extend(
        plan.left_out()
            .iter()
            .map(|gone| {
                format!(
                    "{:<10}{:>8} tok  {}, {}",
                    "left out",
                    gone.cost,
                    gone.kind.as_str(),
                    gone.source
                )
            })
            .take(3),
    );
    let left_out = plan.messages_left_out();
    if left_out > 0 {
        lines.push(format!(
            "{left_out} older messages do not fit and are not sent; they are kept on disk"
        ));
    }
    let rows = lines.iter().map(|line| fit_to(line, columns));
    let rows: Vec<_> = rows.collect();
    format!("{}\n{}", rows.join("\n"), usage_lines(plan, threshold))
}

/// The six figures (G17), and the room for the reply.
fn usage_lines(plan: &ContextPlan, threshold: f64) -> String {
    let input = plan.budget().calibration().grow(plan.cost());
    let usage = TokenUsage::new(input, plan.budget().window(), threshold, true);
    let state = match (usage.exceeds_limit, usage.near_limit) {
        (true, _) => "over the limit",
        (false, true) => "near the limit",
        (false, false) => "within the limit",
    };
    let kind = if usage.is_estimate {
        "estimated"
    } else {
        "counted"
    };
    format!(
        "input {} of {} tokens ({:.0} %, {state}, {kind}); room for a reply of {}",
        usage.input,
        usage.max,
        usage.percent_used,
        plan.max_tokens()
    )
}

fn full(plan: &ContextPlan, _: f64, _: usize) -> String {
    let blocks = plan.sections().iter().map(|section| {
        let heading = format!(
            "── {} · {} · {} tok",
            section.kind.as_str(),
            section.source,
            section.cost()
        );
        let body = match section.content() {
            Content::System(text) => text.trim().to_owned(),
            Content::Messages(messages) => messages
                .iter()
                .map(|message| format!("{}: {}", message.role.as_str(), transcript::body(message)))
                .collect::<Vec<_>>()
                .join("\n"),
        };
        format!("{heading}\n{body}")
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}
