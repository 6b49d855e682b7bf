//! `/tools`, `/approvals`, `/approve`, `/details`: what the model may do, and what it did.

use super::{CommandError, Next, ReplContext, usage};
use crate::agent::{Agent, Warning};
use crate::chat::{Message, answered};
use crate::repl::question::named;
use crate::repl::{show, transcript};
use crate::term::{Align, NARROW, Table};
use crate::tools::policy::{Asking, EachTime, Only, Rule, Says, Writing};
use crate::tools::{Listed, Selection, Switch};

/// `/tools`, `/tools on NAME`, `/tools all`.
pub(super) async fn tools(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let (word, name) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    match (word, name.trim()) {
        ("", _) => Next::answer(catalogue(&repl.agent, repl.env.columns)),
        ("on", name) if !name.is_empty() => switch(repl, name, Switch::On),
        ("off", name) if !name.is_empty() => switch(repl, name, Switch::Off),
        ("all" | "none" | "mode", "") => {
            repl.agent
                .toolbox_mut()
                .registry
                .select(Selection::parse(word));
            if word == "none" {
                return Next::answer(
                    "No tools are offered, until you quit. `/tools mode` offers those of the mode again.",
                );
            }
            Next::answer(catalogue(&repl.agent, repl.env.columns))
        }
        (_, _) => Err(usage("tools", format!("has no option {arguments:?}"))),
    }
}

fn switch(repl: &mut ReplContext, name: &str, switch: Switch) -> Result<Next, CommandError> {
    repl.agent.toolbox_mut().registry.switch(name, switch)?;
    let word = match switch {
        Switch::On => "offered in every request",
        Switch::Off => "no longer offered",
    };
    Next::answer(format!("{name} is {word}, until you quit"))
}

pub(super) fn catalogue(agent: &Agent, columns: usize) -> String {
    let mode = &agent.memory().mode().name;
    let registry = &agent.toolbox().registry;
    // What a tool does is too long for a narrow screen.
    let align = [Align::Left; 3];
    let mut table = Table::new(&align[usize::from(columns < NARROW)..]).with_names();
    let rows: Vec<Listed<'_>> = registry.catalogue(mode).collect();
    if rows.is_empty() {
        return "No tools.".to_owned();
    }
    for Listed { spec, state } in rows {
        table.row([
            spec.name.clone(),
            state.as_str().to_owned(),
            spec.summary().to_owned(),
        ]);
    }
    table.render(columns)
}

/// `/approvals`, `/approvals revoke N`.
pub(super) async fn approvals(
    repl: &mut ReplContext,
    arguments: &str,
) -> Result<Next, CommandError> {
    let (word, which) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    let toolbox = repl.agent.toolbox_mut();
    match (word, which.trim()) {
        ("", _) => {
            toolbox.reread()?;
            Next::answer(rules(&repl.agent))
        }
        ("revoke", "all") => {
            let count = toolbox.revoke_all()?;
            Next::answer(format!("{count} revoked; every call needs approval again"))
        }
        ("revoke", number) => match number.parse() {
            Ok(number) => {
                let rule = toolbox.revoke(number)?;
                Next::answer(format!("revoked: {}", in_words(&rule)))
            }
            Err(_) => Err(usage("approvals", "needs a rule number, or all".to_owned())),
        },
        (_, _) => Err(usage("approvals", format!("has no option {arguments:?}"))),
    }
}

pub(super) fn rules(agent: &Agent) -> String {
    let toolbox = agent.toolbox();
    let rules = toolbox.rules().iter().enumerate();
    let mut lines: Vec<String> = rules
        .map(|(place, rule)| format!("{:>3}  {}", place + 1, in_words(rule)))
        .collect();
    if lines.is_empty() && toolbox.stance.asking != Asking::Never {
        lines.push("No rules: every change, command and fetch needs approval.".to_owned());
    }
    if toolbox.stance.asking == Asking::Never {
        lines.push("Nothing needs approval in this run; `/approve off` ends that.".to_owned());
    }
    if toolbox.stance.writing == Writing::Refused {
        lines.push("This run is read-only: nothing can be changed or run.".to_owned());
    }
    if let Some(approvals) = toolbox.approvals() {
        lines.push(format!("Stored in {}", approvals.file().display()));
    }
    lines.join("\n")
}

/// A rule as a person says it.
fn in_words(rule: &Rule) -> String {
    let says = match rule.says {
        Says::Allow => "always",
        Says::Deny => "never",
    };
    let tool = &rule.tool;
    match &rule.only {
        Only::Any if tool != "shell" => format!("{says} {tool}"),
        Only::Any | Only::Command { .. } | Only::Host(_) => {
            format!("{says} {tool}: {}", named(rule))
        }
    }
}

/// `/approve [on|off]`.
pub(super) async fn approve(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let asking = match arguments {
        "" => return approvals(repl, "").await,
        "on" | "all" => Asking::Never,
        "off" => Asking::WhenNeeded,
        other => return Err(usage("approve", format!("has no option {other:?}"))),
    };
    let toolbox = repl.agent.toolbox_mut();
    // Nobody can say yes to all but what is denied, where that is not known.
    toolbox.reread()?;
    toolbox.stance.asking = asking;
    // The answer tells what is asked all the same.
    let missing = match asking {
        Asking::Never => toolbox.try_sandbox().await,
        Asking::WhenNeeded => None,
    };
    let warning = missing.map(|notice| Warning::NotConfined { notice });
    let each_time = toolbox.stance.each_time;
    let answer = match (asking, each_time) {
        (Asking::Never, EachTime::Everything) => {
            "This folder is not a project, so every change, command and fetch still needs approval."
        }
        (Asking::Never, EachTime::Commands) => {
            "Only commands still need approval, because part of their sandbox is missing here. `/approve off` asks again."
        }
        (Asking::Never, EachTime::Nothing) => {
            "Nothing inside the sandbox needs approval until you quit, except changes to files that run later; deny rules still apply. `/approve off` asks again."
        }
        (Asking::WhenNeeded, _) => "Every change, command and fetch needs approval again.",
    };
    Ok(Next::with(answer.to_owned(), warning))
}

/// `/details [N]`: the thinking and the calls of the last turn that had any, whole.
pub(super) async fn details(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    made(&repl.agent, &repl.thinking, arguments)
}

pub(super) fn made(agent: &Agent, thinking: &str, arguments: &str) -> Result<Next, CommandError> {
    let which = match arguments {
        "" => None,
        number => Some(
            number
                .parse::<usize>()
                .map_err(|_| usage("details", format!("needs a call number, not {number:?}")))?,
        ),
    };
    let session = agent.session();
    let thinking = thinking.trim();
    // The thinking is the last turn's.
    let is_last = |place| place == 0 && !thinking.is_empty() && which.is_none();
    let turns = session.live_turns().rev().enumerate();
    let messages = turns
        .map(|(place, turn)| (place, session.messages_of(turn)))
        .find(|(place, messages)| {
            let mut calls = messages.iter().flat_map(Message::calls);
            is_last(*place) || calls.next().is_some()
        });
    let earlier = messages.filter(|(place, _)| *place > 0 && which.is_none());
    let earlier = earlier.map(|(_, messages)| {
        let asked = transcript::first_words(&messages[0].said(), 50);
        format!("None in the last turn; these are of \"{asked}\":")
    });
    let calls: Vec<String> = messages.map_or_else(Vec::new, |(_, messages)| calls(messages));
    if calls.is_empty() && (thinking.is_empty() || which.is_some()) {
        return Next::answer("No tool calls yet.");
    }
    match which {
        None => {
            let thinking = (!thinking.is_empty()).then(|| format!("Thinking\n{thinking}"));
            let parts: Vec<String> = earlier.into_iter().chain(thinking).chain(calls).collect();
            Next::answer(parts.join("\n\n"))
        }
        Some(number) => match number.checked_sub(1).and_then(|place| calls.get(place)) {
            Some(call) => Next::answer(call.clone()),
            None => Err(usage(
                "details",
                format!("has only calls 1 to {}", calls.len()),
            )),
        },
    }
}

fn calls(messages: &[Message]) -> Vec<String> {
    let answered = answered(messages);
    let made = messages.iter().flat_map(Message::calls).enumerate();
    let in_words = made.map(|(place, call)| {
        let result = answered.iter().find(|result| result.place == place);
        let ended = result.map_or("no result yet", |result| {
            transcript::ended(result.failed, result.output)
        });
        let output = result.map_or("", |result| result.output);
        let mark = match ended {
            "answered" => String::new(),
            ended => format!(" ({ended})"),
        };
        format!(
            "{}. {}{mark}\n   {}\n{output}",
            place + 1,
            show::title(call),
            call.arguments
        )
        .trim_end()
        .to_owned()
    });
    in_words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{CallId, MessageId, Part, Role, ToolCall};

    #[test]
    fn each_call_is_shown_with_its_own_result_where_ids_repeat() {
        let with = |role, part| Message {
            parts: vec![part],
            ..Message::text(MessageId::numbered(1), role, "", None)
        };
        let round = |path: &str| {
            let arguments = format!(r#"{{"path":"{path}"}}"#);
            let call = Part::ToolCall(ToolCall::new("call_0", "read_file", arguments));
            let result = Part::ToolResult {
                call: CallId::new("call_0"),
                name: "read_file".into(),
                output: format!("what {path} holds"),
                failed: false,
            };
            [with(Role::Assistant, call), with(Role::Tool, result)]
        };
        let [waiting, _] = round("c");
        let shown = calls(&[waiting]).concat();
        assert_eq!(shown, "1. read_file c (no result yet)\n   {\"path\":\"c\"}");
        let calls = calls(&[round("a"), round("b")].concat());
        let ends = ["what a holds", "what b holds"];
        for (call, end) in calls.iter().zip(ends) {
            assert!(call.ends_with(end), "{call}");
        }
        assert_eq!(calls.len(), 2);
    }
}
