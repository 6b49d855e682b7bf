//! What a model's calls come to: checked, judged, asked about, done; each gets exactly one result.
//!
//! Calls of one reply run one after another, in their order: a later one may build on an earlier one, and a person is
//! asked one question at a time. However a call ends, its result is recorded before the next begins (C87).

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Agent;
use super::event::{ToolReport, TurnContext, TurnEvent, Warning};
use super::toolbox::{Approval, Asked, Look, Strikes, Whole};
use crate::chat::{Message, Part, Record, Role, Tokens, ToolCall, TurnId, changed_to};
use crate::hint::{Hint, chain};
use crate::index::Scope;
use crate::memory::report::Report;
use crate::text::is_off_record;
use crate::tools::policy::{Asking, Rule, Verdict};
use crate::tools::{
    Around, Detail, Done, Effect, Escalation, Failure, Output, PutBack, REQUEST_TOOLS, Tool, Wish,
    progress, shape::shaped,
};

/// How a reply's calls ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Acted {
    /// Every call has its result; the model is asked again.
    All,
    Interrupted,
    /// The same call failed so often that more of it leads nowhere.
    Stuck {
        tool: String,
    },
}

/// The calls of one reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Called<'a> {
    pub(super) turn: TurnId,
    pub(super) calls: &'a [ToolCall],
    pub(super) standing: Standing,
}

/// What the end of a reply says of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    ToBeDone,
    /// The reply ended at its limit: its last call may be half of one.
    CutAt(Tokens),
    /// None of them is done; why, in words for the model.
    Refused(&'static str),
}

/// What is known of a call before it is done.
struct Approved {
    tool: Arc<dyn Tool>,
    arguments: Value,
    by: By,
}

/// Who wrote the arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    Model,
    Person,
}

impl Agent {
    /// Does what a reply calls for.
    pub(super) async fn act(
        &mut self,
        called: Called<'_>,
        strikes: &mut Strikes,
        context: &mut TurnContext<'_>,
    ) -> Acted {
        let Called {
            turn,
            calls,
            standing,
        } = called;
        let mut acted = Acted::All;
        for call in calls {
            let output = match (&acted, unfit(call, standing)) {
                (Acted::All, Some(failure)) => Err(failure),
                (Acted::All, None) => self.perform(turn, call, context).await,
                (Acted::Interrupted, _) => Err(Failure::NotRun("interrupted".to_owned())),
                (Acted::Stuck { .. }, _) => Err(Failure::NotRun("the turn was stopped".to_owned())),
            };
            let failed = output.as_ref().map_or(true, |output| output.failed);
            if output.is_err() && context.cancel.is_cancelled() {
                acted = Acted::Interrupted;
            } else if failed && acted == Acted::All && strikes.strike(&call.name, &call.arguments) {
                acted = Acted::Stuck {
                    tool: call.name.clone(),
                };
            }
            self.record_result(turn, call, output, context);
        }
        acted
    }

    /// Does one call and tells how it went.
    async fn perform(
        &mut self,
        turn: TurnId,
        call: &ToolCall,
        context: &mut TurnContext<'_>,
    ) -> Result<Output, Failure> {
        context.emit(TurnEvent::ToolStarted(call.clone()));
        let approved = self.approved(call, context).await;
        // How long a person thinks about it is no part of it.
        let began = Instant::now();
        let made_by = approved.as_ref().map_or(By::Model, |approved| approved.by);
        let mut output = match approved {
            Ok(approved) => self.carry_out(turn, approved, context).await,
            Err(Failure::Interrupted) => Err(Failure::NotRun("interrupted".to_owned())),
            Err(failure) => Err(failure),
        };
        let mut took = began.elapsed();
        if let Ok(first) = &mut output
            && let Some(arguments) = first.retry.take()
        {
            let approved = self.approved_with(&call.name, arguments, context).await;
            match approved {
                Ok(approved) => {
                    let more = approved.escalation();
                    let approved = Approved {
                        by: made_by.max(approved.by),
                        ..approved
                    };
                    let began = Instant::now();
                    let again = self.carry_out(turn, approved, context).await;
                    took += began.elapsed();
                    output = retried(std::mem::take(first), again, more);
                }
                Err(Failure::Interrupted) => output = Err(Failure::Interrupted),
                Err(failure) => note(first, format_args!("not retried: {failure}")),
            }
        }
        if let Ok(output) = &mut output {
            self.keep_put_back(&call.name, output, context.cancel).await;
        }
        context.emit(TurnEvent::ToolFinished(ToolReport {
            call: call.clone(),
            took,
            output: output.clone(),
        }));
        output
    }

    /// Asks whether changes to files that run later are kept after all. They are put back where nobody says so.
    async fn keep_put_back(&mut self, tool: &str, output: &mut Output, cancel: &CancellationToken) {
        let mut files = std::mem::take(&mut output.put_back);
        files.retain(PutBack::can_be_kept);
        if files.is_empty() || self.toolbox.stance.asking == Asking::Never {
            return;
        }
        let asked = Asked {
            tool: tool.to_owned(),
            arguments: Value::Null,
            effect: Effect::RunsLater(files.iter().map(|file| file.path.clone()).collect()),
            detail: Some(Detail::Diff(
                files.iter().map(PutBack::difference).collect(),
            )),
            rules: Vec::new(),
            unread: None,
            is_unconfined: false,
        };
        if !matches!(self.ask_person(asked, cancel).await, Ok(Approval::Once)) {
            return;
        }
        for file in files {
            let path = file.path.display();
            let said = match file.keep() {
                Ok(()) => format!("the user kept the change to {path} after all"),
                Err(error) => format!("could not keep the change to {path}: {error}"),
            };
            note(output, said);
        }
    }

    /// Runs the tool and does what it wishes for. A model that does not hear of it takes a changed call for its own.
    async fn carry_out(
        &mut self,
        turn: TurnId,
        approved: Approved,
        context: &mut TurnContext<'_>,
    ) -> Result<Output, Failure> {
        let changed = match approved.by {
            By::Model => None,
            By::Person => Some(changed_to(&approved.arguments)),
        };
        let mut output = match self.run_tool(turn, approved, context).await? {
            Done::Output(output) => output,
            Done::Wish(wish) => self.grant(wish, context).await?,
        };
        if let Some(changed) = changed {
            output.text.insert_str(0, &changed);
        }
        Ok(output)
    }

    /// The tool and its arguments, once nothing stands against the call.
    async fn approved(
        &mut self,
        call: &ToolCall,
        context: &mut TurnContext<'_>,
    ) -> Result<Approved, Failure> {
        // A tool that is not there is told before what is wrong with the arguments.
        self.tool_of(&call.name)?;
        let arguments = parsed(&call.arguments)?;
        self.approved_with(&call.name, arguments, context).await
    }

    /// The same for arguments that are known already.
    async fn approved_with(
        &mut self,
        name: &str,
        arguments: Value,
        context: &mut TurnContext<'_>,
    ) -> Result<Approved, Failure> {
        let tool = self.tool_of(name)?;
        let effect = tool.effect(&arguments)?;
        if matches!(effect, Effect::Keeps(_)) {
            self.may_keep()?;
        }
        if matches!(effect, Effect::Runs(_))
            && let Some(notice) = self.toolbox.try_sandbox().await
        {
            context.warn(Warning::NotConfined { notice });
        }
        match self.toolbox.verdict(name, &effect) {
            Verdict::Allow => return Ok(Approved::as_made(tool, arguments)),
            Verdict::Deny(why) => return Err(Failure::Failed(why)),
            Verdict::Ask => {}
        }
        let asked = Asked {
            tool: name.to_owned(),
            arguments: arguments.clone(),
            detail: tool.preview(&arguments).await,
            rules: self.toolbox.rules_for(name, &effect),
            unread: self.toolbox.unread().map(str::to_owned),
            is_unconfined: self.toolbox.is_unconfined(&effect),
            effect,
        };
        match self.ask_person(asked, context.cancel).await? {
            Approval::Once => Ok(Approved::as_made(tool, arguments)),
            Approval::Always(rule) => {
                self.learn_rule(&rule, context);
                Ok(Approved::as_made(tool, arguments))
            }
            Approval::Edited(arguments) => {
                // What a person wrote themselves needs no second yes, but a rule may deny it.
                let effect = tool.effect(&arguments)?;
                match self.toolbox.verdict(name, &effect) {
                    Verdict::Deny(why) => Err(Failure::Failed(why)),
                    Verdict::Allow | Verdict::Ask => Ok(Approved {
                        tool,
                        arguments,
                        by: By::Person,
                    }),
                }
            }
            Approval::Refused { why } => Err(Failure::Declined { why }),
            Approval::Unanswered(why) => Err(Failure::NotRun(why)),
        }
    }

    fn learn_rule(&mut self, rule: &Rule, context: &mut TurnContext<'_>) {
        match self.toolbox.learn(rule) {
            Ok(number) => context.warn_all(number.map(|number| Warning::Remembered { number })),
            Err(error) => {
                let why = chain(&error);
                let hint = error.hint().unwrap_or_default().into_owned();
                context.warn(Warning::NotRemembered { why, hint });
            }
        }
    }

    fn tool_of(&mut self, name: &str) -> Result<Arc<dyn Tool>, Failure> {
        let mode = &self.memory.mode().name;
        let registry = &mut self.toolbox.registry;
        if let Some(tool) = registry.called(name, mode) {
            return Ok(Arc::clone(tool));
        }
        Err(Failure::Failed(if registry.get(name).is_some() {
            format!("{name} is not available in this run")
        } else {
            format!(
                "there is no tool {name}; call {REQUEST_TOOLS} without arguments to list them all"
            )
        }))
    }

    async fn ask_person(
        &mut self,
        asked: Asked,
        cancel: &CancellationToken,
    ) -> Result<Approval, Failure> {
        let approver = Arc::clone(&self.toolbox.approver);
        let mut approval = approver.approve(asked);
        loop {
            let look = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(Failure::Interrupted),
                Some(look) = next_look(&mut self.toolbox.looks) => look,
                approval = &mut approval => return Ok(approval),
            };
            look(self).await;
        }
    }

    async fn run_tool(
        &self,
        turn: TurnId,
        approved: Approved,
        context: &mut TurnContext<'_>,
    ) -> Result<Done, Failure> {
        let (sender, mut said) = progress();
        let around = Around {
            session: self.ledger.session(),
            turn,
            now: self.clock.now(),
            cancel: context.cancel,
            progress: &sender,
        };
        // What panics is the library's fault, or ours; the conversation goes on.
        let call = approved.tool.call(approved.arguments, &around);
        let mut call = std::pin::pin!(AssertUnwindSafe(call).catch_unwind());
        let ended = loop {
            tokio::select! {
                biased;
                Some(text) = said.recv() => context.emit(TurnEvent::ToolOutput(text)),
                done = &mut call => break done,
            }
        };
        while let Ok(text) = said.try_recv() {
            context.emit(TurnEvent::ToolOutput(text));
        }
        ended.unwrap_or_else(|_| Err(Failure::of("the tool crashed; try another way")))
    }

    /// Does what only an agent can do.
    async fn grant(
        &mut self,
        wish: Wish,
        context: &mut TurnContext<'_>,
    ) -> Result<Output, Failure> {
        match wish {
            Wish::Think(thinking) => {
                self.has_not_thought()?;
                self.think_for_model(&thinking, context).await
            }
            Wish::Load { add, remove, query } => {
                let mode = self.memory.mode().name.clone();
                let registry = &mut self.toolbox.registry;
                let text = registry.load(&add, &remove, query.as_deref(), &mode)?;
                let brief = if add.is_empty() && remove.is_empty() {
                    "catalogue".to_owned()
                } else {
                    let added = add.iter().map(|name| format!("+{name}"));
                    let changes = added.chain(remove.iter().map(|name| format!("-{name}")));
                    changes.collect::<Vec<_>>().join(" ")
                };
                Ok(Output::text(text, brief))
            }
            Wish::Keep(keeping) => self.keep_for_model(keeping, context).await,
            Wish::Search { query, limit, mode } => {
                let searched = self.search(&query, limit, mode, Scope::Everything).await;
                Ok(searched.as_result())
            }
            Wish::Track(edit) => {
                let now = self.clock.now();
                let noted = self.memory.track(&edit, now);
                let noted = noted.map_err(|error| Failure::of(chain(&error)))?;
                Ok(Output::text(noted.clone(), noted))
            }
        }
    }

    /// Refuses a call that would keep something of a message that the person wants kept nowhere.
    pub(super) fn may_keep(&self) -> Result<(), Failure> {
        let mut asked = self.session().running().iter();
        let asked = asked.find(|message| message.role == Role::User);
        if asked.is_some_and(|message| is_off_record(&message.said())) {
            return Err(Failure::of(
                "not saved: the person asked that nothing of this message be kept",
            ));
        }
        Ok(())
    }

    /// Thinking is dear: a turn has it once.
    fn has_not_thought(&self) -> Result<(), Failure> {
        if Report::of(self.session().running()).next().is_some() {
            return Err(Failure::of(
                "deep_think already ran in this turn; use its report",
            ));
        }
        Ok(())
    }

    fn record_result(
        &mut self,
        turn: TurnId,
        call: &ToolCall,
        output: Result<Output, Failure>,
        context: &mut TurnContext<'_>,
    ) {
        let failure = |text| Output {
            text,
            failed: true,
            ..Output::default()
        };
        let output = match output {
            Ok(output) => output,
            Err(Failure::Interrupted) => failure("[interrupted]".to_owned()),
            Err(why) => failure(why.to_string()),
        };
        let failed = output.failed;
        let text = if output.text.trim().is_empty() {
            "[no output]".to_owned()
        } else {
            self.fitting(&output, context)
        };
        let result = Part::ToolResult {
            call: call.id.clone(),
            name: call.name.clone(),
            output: text,
            failed,
        };
        let (id, at) = (self.session().next_message_id(0), Some(self.clock.now()));
        let message = Message::new(id, Role::Tool, vec![result], at);
        self.record(Record::MessageAdded { turn, message }, context);
    }
}

impl Agent {
    /// A result as history keeps it; what is cut is put beside the session where that is wanted.
    fn fitting(&self, output: &Output, context: &mut TurnContext<'_>) -> String {
        let limits = self.toolbox.limits;
        let (text, most) = (&output.text, limits.result_chars);
        let cut = shaped(text, output.kind, output.failed, limits.result_policy, most);
        let files = self.toolbox.files.as_ref();
        match (limits.whole, files.and_then(|files| files.outputs.as_ref())) {
            (Whole::Beside, Some(outputs)) if cut != *text => {
                // Nothing but history keeps secrets.
                let whole = self.ledger.known().masked(text);
                match outputs.put(self.session().name(), whole.as_bytes()) {
                    Ok(name) => format!("{cut}\n[full output saved as {name}]"),
                    Err(error) => {
                        let why = error.to_string();
                        context.warn(Warning::NotKeptWhole { why });
                        cut
                    }
                }
            }
            (Whole::Beside | Whole::Dropped, _) => cut,
        }
    }
}

async fn next_look(looks: &mut Option<UnboundedReceiver<Look>>) -> Option<Look> {
    looks.as_mut()?.recv().await
}

impl Approved {
    fn as_made(tool: Arc<dyn Tool>, arguments: Value) -> Self {
        Self {
            tool,
            arguments,
            by: By::Model,
        }
    }

    /// Returns what of the sandbox it goes without.
    fn escalation(&self) -> Escalation {
        match self.tool.effect(&self.arguments) {
            Ok(Effect::Runs(run)) => run.escalation,
            _ => Escalation::NONE,
        }
    }
}

/// Puts a line behind a result.
fn note(output: &mut Output, line: impl std::fmt::Display) {
    output.text = format!("{}\n[{line}]", output.text);
}

/// What two runs of one call come to. What the first had put back can be kept still, unless the second touched it too.
fn retried(
    mut first: Output,
    again: Result<Output, Failure>,
    more: Escalation,
) -> Result<Output, Failure> {
    match again {
        Ok(mut again) => {
            let is_newer = |file: &PutBack| again.put_back.iter().any(|it| it.path == file.path);
            first.put_back.retain(|file| !is_newer(file));
            first.put_back.append(&mut again.put_back);
            again.put_back = first.put_back;
            // That the person changed it stands before it.
            if more != Escalation::NONE {
                note(
                    &mut again,
                    format_args!(
                        "it failed at first and ran again with {more}, which the person allowed"
                    ),
                );
            }
            Ok(again)
        }
        Err(Failure::Interrupted) => Err(Failure::Interrupted),
        Err(failure) => {
            note(&mut first, format_args!("retried: {failure}"));
            Ok(first)
        }
    }
}

/// Why a call is not even looked at.
fn unfit(call: &ToolCall, standing: Standing) -> Option<Failure> {
    match standing {
        Standing::ToBeDone => None,
        Standing::Refused(why) => Some(Failure::NotRun(why.to_owned())),
        Standing::CutAt(_) if parsed(&call.arguments).is_ok() => None,
        Standing::CutAt(most) => Some(Failure::Arguments(format!(
            "your reply was cut off at its limit of {most} tokens, in the middle of this call; split it into smaller calls"
        ))),
    }
}

/// Arguments as the JSON object they should be; nothing at all is an empty one.
fn parsed(arguments: &str) -> Result<Value, Failure> {
    if arguments.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    let bad = |what: String| {
        Failure::Arguments(format!(
            "the arguments are not valid: {what}; send one JSON object"
        ))
    };
    match serde_json::from_str(arguments) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(Value::Null) => Ok(Value::Object(serde_json::Map::new())),
        Ok(_) => Err(bad("they are JSON, but not an object".to_owned())),
        Err(error) => Err(bad(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::shell::Change;

    const NETWORK: Escalation = Escalation {
        network: true,
        keys: false,
    };

    fn output(text: &str, copies: &[(&str, &str)]) -> Output {
        let put_back = copies.iter().map(|(path, copy)| PutBack {
            change: Change::Made,
            path: path.into(),
            copy: Some(copy.into()),
        });
        Output {
            put_back: put_back.collect(),
            ..Output::text(text, "exit 0")
        }
    }

    #[test]
    fn what_the_first_of_two_runs_had_put_back_can_be_kept_still() {
        let first = output("first", &[("hook", "1"), ("config", "2")]);
        let again = output("second", &[("config", "3")]);
        let told =
            "second\n[it failed at first and ran again with network, which the person allowed]";
        let both = output(told, &[("hook", "1"), ("config", "3")]);
        assert_eq!(retried(first, Ok(again), NETWORK), Ok(both));
    }

    /// It was said to have run again "with nothing more, which the person allowed".
    #[test]
    fn a_second_run_that_was_changed_to_ask_for_nothing_more_has_no_note() {
        let again = || output("second", &[]);
        let both = retried(output("first", &[]), Ok(again()), Escalation::NONE);
        assert_eq!(both, Ok(again()));
    }

    #[test]
    fn a_second_run_that_could_not_be_done_leaves_the_result_of_the_first() {
        let first = || output("first", &[("hook", "1")]);
        let kept = output("first\n[retried: no sandbox]", &[("hook", "1")]);
        let failure = Failure::of("no sandbox");
        assert_eq!(retried(first(), Err(failure), NETWORK), Ok(kept));
        let interrupted = retried(first(), Err(Failure::Interrupted), NETWORK);
        assert_eq!(interrupted, Err(Failure::Interrupted));
    }
}
