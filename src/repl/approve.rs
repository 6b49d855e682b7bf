//! A tool's question to the person, and the person's answer.
//!
//! ```text
//!   turn -> Approver::approve -> Pending over a channel -> who reads lines -> Approval back
//! ```
//! The turn waits while the question stands; nothing else of it runs then but what a command looks at. A question that
//! cannot be answered (the input ended, the process is told to end) is answered by no.

use async_trait::async_trait;
use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot};

use super::ask::STOPS;
use super::commands::{self, Answer, CommandError, Next};
use super::input::{InputError, Line, LineReader};
use super::memory_view::Caller;
use super::question::{Length, Wide, choices, headline, named};
use super::repl_context::Environment;
use super::{Signal, Signals, show as shown_as};
use crate::agent::{Approval, Approver, Asked, Look};
use crate::hint::{Hint, chain};
use crate::term::{Output, harmless};
use crate::tools::mcp::Servers;
use crate::tools::policy::{Only, Rule};
use crate::tools::{Detail, Effect};

/// A question, and the way back for its answer.
#[derive(Debug)]
pub struct Pending {
    asked: Asked,
    answer: oneshot::Sender<Approval>,
    looks: mpsc::UnboundedSender<Look>,
}

/// Questions on their way to whoever reads lines.
pub type Questions = mpsc::UnboundedReceiver<Pending>;

/// Sends questions to the person at the terminal.
#[derive(Debug)]
struct AtTerminal {
    questions: mpsc::UnboundedSender<Pending>,
    looks: mpsc::UnboundedSender<Look>,
}

/// A person who is asked at the terminal.
#[derive(Debug)]
pub struct Person {
    pub approver: std::sync::Arc<dyn Approver>,
    /// Where the questions arrive.
    pub questions: Questions,
    /// What the person wants to look at meanwhile.
    pub looks: mpsc::UnboundedReceiver<Look>,
}

pub fn at_terminal() -> Person {
    let (questions, arriving) = mpsc::unbounded_channel();
    let (looks, looked) = mpsc::unbounded_channel();
    Person {
        approver: std::sync::Arc::new(AtTerminal { questions, looks }),
        questions: arriving,
        looks: looked,
    }
}

#[async_trait]
impl Approver for AtTerminal {
    async fn approve(&self, asked: Asked) -> Approval {
        let (answer, arriving) = oneshot::channel();
        let nobody = Approval::Unanswered("nobody answered".to_owned());
        let pending = Pending {
            asked,
            answer,
            looks: self.looks.clone(),
        };
        match self.questions.send(pending) {
            Ok(()) => arriving.await.unwrap_or(nobody),
            Err(_) => nobody,
        }
    }
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    Answered,
    /// Ctrl-C: the turn is to end.
    Interrupted,
    /// The process is told to end.
    Leave,
}

/// What a person typed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Typed {
    Yes,
    No(Option<String>),
    Always(Wide),
    /// `always`, and what stood behind it.
    AlwaysIn(String),
    Edit,
    /// Show everything that would be done.
    Show,
    /// `/quit`: out of the turn and the chat.
    Quit,
    /// Any other slash command, without the slash.
    Command(String),
    /// A command for the shell.
    Shell,
    /// Neither an answer nor a word to the model.
    Unclear,
}

impl Pending {
    /// Asks until there is an answer. Commands that only show something look at the agent, and at what is given here.
    pub async fn ask(
        self,
        input: &mut LineReader,
        (env, servers): (&Environment, Option<&dyn Servers>),
        output: &mut Output,
        signals: &mut Signals,
    ) -> Asking {
        let Self {
            asked,
            answer,
            looks,
        } = self;
        if let Some(unread) = &asked.unread {
            output.notice(&format!(
                "{unread}; until it is fixed, every call needs approval"
            ));
        }
        let mut shown = Length::Short;
        show(output, asked.detail.as_ref(), shown.of_diff());
        put(output, &asked, shown);
        let (asking, approval) = loop {
            let line = tokio::select! {
                biased;
                line = input.answer("answer> ", output) => line,
                signal = signals.next() => {
                    input.abandon(output);
                    break (ended_by(signal), Approval::Refused { why: None });
                }
            };
            match heard(line) {
                None => break (Asking::Interrupted, Approval::Refused { why: None }),
                Some(Typed::Yes) => break (Asking::Answered, Approval::Once),
                Some(Typed::No(why)) => break (Asking::Answered, Approval::Refused { why }),
                Some(Typed::Always(wide)) => {
                    match asked.rules.iter().find(|rule| Wide::of(rule) == wide) {
                        Some(rule) => break (Asking::Answered, Approval::Always(rule.clone())),
                        None => refuse(output, "Not available for this call", &asked, shown),
                    }
                }
                Some(Typed::AlwaysIn(words)) => match meant(&asked, &words) {
                    Some(rule) => break (Asking::Answered, Approval::Always(rule.clone())),
                    None => refuse(output, "Not available for this call", &asked, shown),
                },
                Some(Typed::Show) => {
                    shown = Length::Whole;
                    show(output, asked.detail.as_ref(), shown.of_diff());
                    put(output, &asked, shown);
                }
                Some(Typed::Quit) => break (Asking::Leave, Approval::Refused { why: None }),
                Some(Typed::Command(line)) => {
                    // A server that is asked may take its time.
                    output.wait_for(format!("running /{line}"), STOPS);
                    tokio::select! {
                        biased;
                        () = look(&looks, (env, servers), &line, output) => {}
                        signal = signals.next() => {
                            break (ended_by(signal), Approval::Refused { why: None });
                        }
                    }
                    output.end_progress();
                    shown = Length::Short;
                    put(output, &asked, shown);
                }
                Some(Typed::Shell) => {
                    refuse(
                        output,
                        "!COMMAND has to wait until you answer",
                        &asked,
                        shown,
                    );
                }
                Some(Typed::Unclear) => refuse(output, "Not an answer", &asked, shown),
                Some(Typed::Edit) if matches!(asked.effect, Effect::RunsLater(_)) => {
                    refuse(output, "Not available for this call", &asked, shown);
                }
                Some(Typed::Edit) => match edited(&asked, input, output).await {
                    Ok(Some(approval)) => break (Asking::Answered, approval),
                    Ok(None) => {}
                    Err(problem) => output.notice(&problem),
                },
            }
        };
        // A turn that is gone needs no answer.
        answer.send(approval).ok();
        asking
    }
}

/// Puts the question and says which answers there are. What it is about stands above, so that on a small screen the
/// question is next to its answer.
fn put(output: &mut Output, asked: &Asked, shown: Length) {
    output.question(&headline(asked, shown));
    output.notice(&choices(asked, shown, output.columns()));
}

/// Says why an answer is none, and which ones there are.
fn refuse(output: &mut Output, why: &str, asked: &Asked, shown: Length) {
    let choices = choices(asked, shown, output.columns());
    output.notice(&format!("{why}:\n{choices}"));
}

/// Carries out a command that only shows something; says of any other that it has to wait.
async fn look(
    looks: &mpsc::UnboundedSender<Look>,
    (env, servers): (&Environment, Option<&dyn Servers>),
    line: &str,
    output: &mut Output,
) {
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    // The servers are not the agent's.
    let next = if commands::find(name).is_ok_and(|command| command.name == "mcp") {
        commands::look_at_servers(servers, env.columns, arguments.trim())
    } else {
        match look_at_agent(looks, env, name, arguments.trim()).await {
            Some(next) => next,
            None => return,
        }
    };
    match next {
        Ok(Next::Answer(Answer { text, warning })) => {
            output.answer(&text);
            if let Some(warning) = warning {
                shown_as::warning(output, &warning, Caller::Chat);
            }
        }
        Ok(Next::Diff(diff)) => output.change(&diff),
        Ok(Next::Refuted(text, problem)) => {
            output.answer(&text);
            output.error(&problem.to_string(), None);
        }
        Err(error) => output.error(&chain(&error), error.hint().as_deref()),
        // Nothing else comes of looking.
        Ok(_) => {}
    }
}

/// Returns what comes of a command that looks at the agent; `None`: the turn is gone.
async fn look_at_agent(
    looks: &mpsc::UnboundedSender<Look>,
    env: &Environment,
    name: &str,
    arguments: &str,
) -> Option<Result<Next, CommandError>> {
    let (name, arguments) = (name.to_owned(), arguments.to_owned());
    let (shown, showing) = oneshot::channel();
    let env = env.clone();
    let look: Look = Box::new(move |agent| {
        async move {
            let next = commands::look(agent, &env, &name, &arguments).await;
            // Nobody waits for it where the question is gone.
            shown.send(next).ok();
        }
        .boxed_local()
    });
    looks.send(look).ok()?;
    showing.await.ok()
}

fn ended_by(signal: Signal) -> Asking {
    match signal {
        Signal::Interrupt => Asking::Interrupted,
        Signal::Terminate | Signal::Hangup => Asking::Leave,
    }
}

/// What a line means; `None`: it ends the turn.
fn heard(line: Result<Line, InputError>) -> Option<Typed> {
    match line {
        Ok(Line::Text(text)) => Some(typed(&text)),
        Ok(Line::Cleared) => Some(Typed::Show),
        Ok(Line::Interrupted | Line::Eof) | Err(_) => None,
    }
}

fn typed(text: &str) -> Typed {
    if let Some(command) = text.strip_prefix('/') {
        let is_quit = commands::find(command.trim()).is_ok_and(|command| command.name == "quit");
        return if is_quit {
            Typed::Quit
        } else {
            Typed::Command(command.to_owned())
        };
    }
    if text.starts_with('!') {
        return Typed::Shell;
    }
    let text = text.trim();
    match text.to_lowercase().as_str() {
        "y" | "yes" => Typed::Yes,
        "" | "n" | "no" => Typed::No(None),
        "a" => Typed::Always(Wide::LikeThis),
        "p" | "project" => Typed::Always(Wide::Escalated),
        "t" | "tool" => Typed::Always(Wide::Tool),
        "e" | "edit" => Typed::Edit,
        "d" | "diff" | "show" => Typed::Show,
        "always" => Typed::AlwaysIn(String::new()),
        _ if is_yes_and_more(text) => Typed::Unclear,
        lower if lower.starts_with("always ") => {
            Typed::AlwaysIn(text["always ".len()..].to_owned())
        }
        _ => {
            let why = ["no, ", "no: ", "n, ", "n: ", "n "]
                .iter()
                .find_map(|no| text.strip_prefix(no))
                .unwrap_or(text);
            Typed::No(Some(why.trim().to_owned()))
        }
    }
}

/// Returns the rule that somebody means who types `always`, or what is offered behind it: the narrowest unless it is
/// named.
fn meant<'a>(asked: &'a Asked, words: &str) -> Option<&'a Rule> {
    if words.is_empty() {
        return asked.rules.first();
    }
    let plain = |text: &str| {
        text.replace(" …", "")
            .replace('`', "")
            .trim()
            .to_lowercase()
    };
    let mut rules = asked.rules.iter();
    rules.find(|rule| {
        let is_tool = rule.only == Only::Any && plain(&rule.tool) == plain(words);
        is_tool || plain(&named(rule)) == plain(words)
    })
}

/// `yes please`, but also `yes, but only in src`.
fn is_yes_and_more(text: &str) -> bool {
    let first = text.split(|c: char| !c.is_alphabetic()).next();
    let first = first.unwrap_or_default().to_lowercase();
    matches!(first.as_str(), "y" | "yes" | "ok" | "okay" | "sure")
}

/// What would change, so many lines of it.
pub fn show(output: &mut Output, detail: Option<&Detail>, most: usize) {
    match detail {
        Some(Detail::Diff(diff)) => output.diff(diff, most),
        Some(Detail::Text(text)) => output.notice(text),
        None => {}
    }
}

/// Lets the person write the call themselves: the command line of a command, else the arguments as JSON.
async fn edited(
    asked: &Asked,
    input: &mut LineReader,
    output: &mut Output,
) -> Result<Option<Approval>, String> {
    let initial = match &asked.effect {
        Effect::Runs(run) => run.command.clone(),
        _ => asked.arguments.to_string(),
    };
    // A line editor draws what it is given.
    if harmless(&initial) != initial || initial.contains(['\n', '\r', '\t']) {
        return Err(
            "this contains characters that cannot be edited on one line; describe the change instead"
                .to_owned(),
        );
    }
    let Ok(Line::Text(text)) = input.edit("edit> ", &initial, output).await else {
        return Ok(None);
    };
    let mut arguments = asked.arguments.clone();
    match &asked.effect {
        Effect::Runs(_) => arguments["command"] = text.into(),
        _ => {
            arguments = serde_json::from_str(&text)
                .map_err(|error| format!("invalid arguments: {error}"))?;
        }
    }
    Ok(Some(Approval::Edited(arguments)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repl::question::tests::asked;

    #[test]
    fn a_line_is_an_answer_or_a_no_with_a_word_to_the_model() {
        let no = |why: &str| Typed::No(Some(why.to_owned()));
        for (text, expected) in [
            ("y", Typed::Yes),
            (" YES ", Typed::Yes),
            ("", Typed::No(None)),
            ("n", Typed::No(None)),
            ("a", Typed::Always(Wide::LikeThis)),
            ("always", Typed::AlwaysIn(String::new())),
            ("Always shell", Typed::AlwaysIn("shell".to_owned())),
            ("t", Typed::Always(Wide::Tool)),
            ("p", Typed::Always(Wide::Escalated)),
            ("e", Typed::Edit),
            ("no, use cargo check", no("use cargo check")),
            ("n use cargo check", no("use cargo check")),
            ("no way", no("no way")),
            ("use cargo check", no("use cargo check")),
            ("yesterday's tests first", no("yesterday's tests first")),
            ("yes, but only in src", Typed::Unclear),
            ("/approve on", Typed::Command("approve on".to_owned())),
            ("/q", Typed::Quit),
            (" /tmp is no place for it", no("/tmp is no place for it")),
            ("!ls", Typed::Shell),
        ] {
            assert_eq!(typed(text), expected, "{text}");
        }
    }

    #[test]
    fn always_means_the_narrowest_rule_unless_another_is_named() {
        let asked = asked(Effect::Runs("cargo test --lib".into()));
        for (words, expected) in [
            ("", Some("`cargo test …`")),
            ("cargo test", Some("`cargo test …`")),
            ("`cargo test`", Some("`cargo test …`")),
            ("`cargo test …`", Some("`cargo test …`")),
            ("shell", Some("any command")),
            ("any command", Some("any command")),
            ("everything", None),
        ] {
            let rule = meant(&asked, words).map(named);
            assert_eq!(rule.as_deref(), expected, "{words}");
        }
    }

    #[tokio::test]
    async fn a_question_whose_asker_is_gone_is_answered_by_no() {
        let person = at_terminal();
        drop(person.questions);
        let answer = person.approver.approve(asked(Effect::Nothing)).await;
        assert!(matches!(answer, Approval::Unanswered(_)));
    }
}
