//! What a person sets by hand on a mode's board: `/task`, `/done`, `/goal`, `/decide`, … and `/drop`.
//!
//! Each without an argument shows what stands there. What is set here no heuristic overwrites.

use super::{Answer, CommandError, Deed, Next, ReplContext, cannot, usage};
use crate::memory::tracking::{
    CannotEdit, Edit, Edited, Entry, Finding, Holds, Kind, Note, Section, Status, words,
};
use crate::repl::listing::count;

/// `/task`: one text of one kind.
pub(super) async fn task(repl: &mut ReplContext, text: &str) -> Result<Next, CommandError> {
    set(repl, Kind::Task, text)
}

pub(super) async fn objective(repl: &mut ReplContext, text: &str) -> Result<Next, CommandError> {
    set(repl, Kind::Objective, text)
}

pub(super) async fn phase(repl: &mut ReplContext, text: &str) -> Result<Next, CommandError> {
    set(repl, Kind::Phase, text)
}

pub(super) async fn assume(repl: &mut ReplContext, text: &str) -> Result<Next, CommandError> {
    set(repl, Kind::Assumption, text)
}

/// `/goal`: the first one is the objective; `/goal 2 blocked` sets how far the second has come.
pub(super) async fn goal(repl: &mut ReplContext, text: &str) -> Result<Next, CommandError> {
    if text.is_empty() {
        let shown = [Kind::Objective, Kind::Goal].map(|kind| show(repl, kind));
        return Next::answer(shown.join("\n"));
    }
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match (number_of(first), Status::parse(rest)) {
        (Some(number), Some(status)) => return status_of(repl, number, status),
        (Some(number), None) if rest.is_empty() => {
            return Next::answer(show_one(repl, Kind::Goal, number)?);
        }
        // "10 customers by May" is a goal, "#10 sold" is not.
        (Some(_), None) if first.starts_with('#') => {
            return Err(usage("goal", format!("has no status {rest:?}")));
        }
        (Some(_) | None, _) => {}
    }
    let has_objective = section(repl, Kind::Objective).is_some_and(|it| !it.entries().is_empty());
    if !has_objective {
        return set(repl, Kind::Objective, text);
    }
    let note = Note {
        status: Some(Status::Pending),
        ..Note::new(text)
    };
    keep(repl, note.of(Kind::Goal))
}

/// `/decide T :: why`.
pub(super) async fn decide(repl: &mut ReplContext, text: &str) -> Result<Next, CommandError> {
    reasoned(repl, Kind::Decision, None, text)
}

/// `/reject ALT :: why`.
pub(super) async fn reject(repl: &mut ReplContext, text: &str) -> Result<Next, CommandError> {
    reasoned(repl, Kind::Alternative, Some(Status::Rejected), text)
}

/// `/constraint L: V`.
pub(super) async fn constraint(repl: &mut ReplContext, text: &str) -> Result<Next, CommandError> {
    if text.is_empty() {
        return Next::answer(show(repl, Kind::Constraint));
    }
    let (label, value) = text
        .split_once(':')
        .map(|(label, value)| (label.trim(), value.trim()))
        .filter(|(label, value)| !label.is_empty() && !value.is_empty())
        .ok_or_else(|| {
            usage(
                "constraint",
                "needs a label and a value, as in Budget: $50k",
            )
        })?;
    let note = Note {
        label: Some(label.to_owned()),
        ..Note::new(value)
    };
    keep(repl, note.of(Kind::Constraint))
}

/// `/done`: a finished goal in the mode that keeps goals, else a finished step; alone, the task itself.
pub(super) async fn done(repl: &mut ReplContext, text: &str) -> Result<Next, CommandError> {
    let board = repl.agent.memory().modes().active().board();
    let goals = board.and_then(|board| board.section(Kind::Goal));
    if let Some(goals) = goals {
        let number = finished(goals.entries(), text)?;
        return status_of(repl, number, Status::Completed);
    }
    if !text.is_empty() {
        return set(repl, Kind::Progress, text);
    }
    let task = section(repl, Kind::Task).and_then(|section| section.entries().last().cloned());
    let Some(task) = task else {
        return Err(usage("done", "needs a text: no task is set"));
    };
    repl.agent.edit(&Edit::Drop {
        kind: Kind::Task,
        number: task.number,
    })?;
    set(repl, Kind::Progress, &task.note.text)
}

/// The goal that a person means by its number or its words: those that are not finished first, and the very
/// words before a part of them.
fn finished(goals: &[Entry], text: &str) -> Result<u32, CommandError> {
    if let Some(number) = number_of(text) {
        return Ok(number);
    }
    if text.is_empty() {
        return Err(usage("done", "needs a goal: its number or words from it"));
    }
    let wanted = text.to_lowercase();
    let is_open = |entry: &Entry| entry.note.status != Some(Status::Completed);
    let is_it = |entry: &Entry| entry.note.text.to_lowercase() == wanted;
    let has_it = |entry: &Entry| entry.note.text.to_lowercase().contains(&wanted);
    let ranks: [&dyn Fn(&Entry) -> bool; 3] = [
        &|entry| is_open(entry) && is_it(entry),
        &|entry| is_open(entry) && has_it(entry),
        &has_it,
    ];
    for fits in ranks {
        let fitting = goals.iter().filter(|entry| fits(entry));
        let found: Vec<u32> = fitting.map(|entry| entry.number).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(*one),
            [..] => {
                let problem = format!("several goals match {text:?}");
                return Err(cannot(problem, "use the number; `/goal` lists them"));
            }
        }
    }
    Err(cannot(
        format!("no goal matches {text:?}"),
        "`/goal` lists them",
    ))
}

/// `2` or `#2`.
fn number_of(text: &str) -> Option<u32> {
    text.strip_prefix('#').unwrap_or(text).parse().ok()
}

/// `/note KIND TEXT`: anything a mode keeps.
pub(super) async fn note(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let (kind, text) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    let text = text.trim();
    match kind_of("note", kind)? {
        Kind::Constraint => constraint(repl, text).await,
        Kind::Decision => decide(repl, text).await,
        Kind::Alternative => reject(repl, text).await,
        kind => set(repl, kind, text),
    }
}

/// `/drop SECTION [N]`.
pub(super) async fn drop(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let (name, number) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    let kind = kind_of("drop", name)?;
    let number = number.trim();
    if number.is_empty() {
        let entries = section(repl, kind);
        let entries = entries.map_or(0, |section| section.entries().len() + section.hidden());
        if entries > 1 {
            let question = format!("Drop all {entries} {}?", kind.row().section);
            return Ok(Next::Confirm(question, Deed::DropAll(kind)));
        }
        return drop_all(repl, kind).map(Next::Answer);
    }
    let number = number_of(number)
        .ok_or_else(|| usage("drop", format!("needs a number, not {number:?}")))?;
    dropped(repl, &Edit::Drop { kind, number }).map(Next::Answer)
}

pub(super) fn drop_all(repl: &mut ReplContext, kind: Kind) -> Result<Answer, CommandError> {
    dropped(repl, &Edit::DropAll(kind))
}

fn dropped(repl: &mut ReplContext, edit: &Edit) -> Result<Answer, CommandError> {
    let (edited, _, warning) = repl.agent.edit(edit)?;
    let text = match edited {
        Edited::Dropped(entries) => match entries.as_slice() {
            [one] => format!("Dropped: {}", words(&one.note)),
            several => format!("Dropped {}", count(several.len(), edit.kind().row().name)),
        },
        Edited::Set(entry) => words(&entry.note),
    };
    Ok(Answer { text, warning })
}

fn kind_of(command: &'static str, name: &str) -> Result<Kind, CommandError> {
    Kind::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Kind::all().map(|kind| kind.row().section).collect();
        let problem = if name.is_empty() {
            format!("needs one of: {}", known.join(", "))
        } else {
            format!("has no section {name:?}; use one of: {}", known.join(", "))
        };
        usage(command, problem)
    })
}

fn set(repl: &mut ReplContext, kind: Kind, text: &str) -> Result<Next, CommandError> {
    if text.is_empty() {
        return Next::answer(show(repl, kind));
    }
    keep(repl, Note::new(text).of(kind))
}

/// A text with its reason behind `::` between blanks; `Foo::Bar` is a text.
fn reasoned(
    repl: &mut ReplContext,
    kind: Kind,
    status: Option<Status>,
    text: &str,
) -> Result<Next, CommandError> {
    if text.is_empty() {
        return Next::answer(show(repl, kind));
    }
    let padded = format!(" {text} ");
    let (text, why) = padded.split_once(" :: ").unwrap_or((&padded, ""));
    let why = why.trim();
    if text.trim().is_empty() {
        let name = if kind == Kind::Decision {
            "decide"
        } else {
            "reject"
        };
        return Err(usage(name, "needs a text before the reason"));
    }
    let note = Note {
        why: (!why.is_empty()).then(|| why.to_owned()),
        status,
        ..Note::new(text.trim())
    };
    keep(repl, note.of(kind))
}

fn status_of(repl: &mut ReplContext, number: u32, status: Status) -> Result<Next, CommandError> {
    change(
        repl,
        &Edit::Status {
            kind: Kind::Goal,
            number,
            status,
        },
    )
}

fn keep(repl: &mut ReplContext, finding: Finding) -> Result<Next, CommandError> {
    change(repl, &Edit::Note(finding))
}

fn change(repl: &mut ReplContext, edit: &Edit) -> Result<Next, CommandError> {
    let active = repl.agent.memory().mode().name.clone();
    let (edited, mode, warning) = repl.agent.edit(edit)?;
    let said = match edited {
        Edited::Set(entry) => one(edit.kind(), &entry),
        Edited::Dropped(entries) => count(entries.len(), edit.kind().row().name),
    };
    let elsewhere = if mode == active {
        String::new()
    } else {
        format!(" (kept for {mode} mode)")
    };
    Ok(Next::with(format!("{said}{elsewhere}"), warning))
}

/// `Goal #2: sell it (pending)`.
fn one(kind: Kind, entry: &Entry) -> String {
    let row = kind.row();
    let mut name = row.name.to_owned();
    name[..1].make_ascii_uppercase();
    let number = match row.holds {
        Holds::One => String::new(),
        Holds::Most(_) => format!(" #{}", entry.number),
    };
    format!("{name}{number}: {}", words(&entry.note))
}

fn show(repl: &ReplContext, kind: Kind) -> String {
    let entries = section(repl, kind).map_or(&[][..], Section::entries);
    if entries.is_empty() {
        return format!("No {} yet", kind.row().name);
    }
    let lines: Vec<String> = entries.iter().map(|entry| one(kind, entry)).collect();
    lines.join("\n")
}

fn show_one(repl: &ReplContext, kind: Kind, number: u32) -> Result<String, CommandError> {
    let entries = section(repl, kind).map_or(&[][..], Section::entries);
    if entries.is_empty() {
        return Err(CannotEdit::Nothing { kind }.into());
    }
    let known = || entries.iter().map(|entry| entry.number).collect();
    let entry = entries.iter().find(|entry| entry.number == number);
    let entry = entry.ok_or_else(|| CannotEdit::NoSuch {
        kind,
        number,
        known: known(),
    })?;
    Ok(one(kind, entry))
}

fn section(repl: &ReplContext, kind: Kind) -> Option<&Section> {
    let keeper = repl.agent.memory().modes().keeper(kind)?;
    keeper.board()?.section(kind)
}
