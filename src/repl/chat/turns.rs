//! What a chat asks a model. Unit: the turn of a message, from the asking to what is said of it.

use super::{Chat, Ended};
use crate::chat::Outcome;
use crate::hint::Hint;
use crate::repl::Signal;
use crate::repl::ask::{self, After, Asked, Deadline, Person, Question, Shown};
use crate::repl::memory_view::Caller;
use crate::repl::repl_context::ReplContext;
use crate::repl::show;
use crate::repl::turn_line::{TurnLine, cost, known_price};

impl Chat<'_> {
    /// Takes the model that the server has, where it did not say at the start; returns the signal that came meanwhile.
    async fn settle_model(&mut self) -> Option<Signal> {
        if !self.repl.assumed {
            return None;
        }
        let provider = &self.repl.agent.provider().model().provider;
        self.output
            .wait_for(format!("asking {provider} for its models"), ask::STOPS);
        let choice = tokio::select! {
            biased;
            choice = self.repl.env.catalog.choose(None) => Ok(choice),
            signal = self.signals.next() => Err(signal),
        };
        self.output.end_progress();
        let choice = match choice {
            Ok(Ok(choice)) => choice,
            Ok(Err(_)) => return None,
            Err(signal) => return Some(signal),
        };
        self.repl.assumed = choice.is_assumed();
        let agent = &mut self.repl.agent;
        let model = choice.provider.model().clone();
        if !self.repl.assumed && model != *agent.provider().model() {
            let warning = agent.switch_model(choice.provider);
            self.output.notice(&format!("Switched to {model}"));
            if let Some(warning) = warning {
                show::warning(self.output, &warning, Caller::Chat);
            }
        }
        None
    }

    pub(super) async fn ask(&mut self, question: Question) -> After {
        if let Some(signal) = self.settle_model().await {
            self.output.notice("Interrupted; nothing was sent");
            return if signal == Signal::Interrupt {
                After::GoOn
            } else {
                After::Leave
            };
        }
        self.take_in_servers();
        let mut ran = || std::mem::take(&mut self.repl.ran);
        let question = match question {
            Question::New(input) => Question::New(input.with_attached(ran())),
            Question::Think(task) => Question::Think(task.with_attached(ran())),
            Question::Again => Question::Again,
        };
        let before = self.repl.env.catalog.meter().total();
        let person = match &mut self.repl.questions {
            Some(questions) => Person::At {
                input: self.input,
                questions,
                env: &self.repl.env,
                servers: self.repl.servers.as_deref(),
            },
            None => Person::Nobody,
        };
        let Asked {
            result,
            after,
            timed_out,
            thinking,
            noted,
        } = ask::ask(
            &mut self.repl.agent,
            question,
            if self.repl.memory_line {
                Shown::WithLineAfter(Caller::Chat)
            } else {
                Shown::AsItArrives(Caller::Chat)
            },
            person,
            self.repl.turn_timeout.and_then(Deadline::after),
            self.output,
            self.signals,
        )
        .await;
        self.repl.thinking = thinking;
        let is_answered = matches!(&result, Ok(Ok(report)) if report.outcome == Outcome::Answered);
        // A server that answers with this model need not say which it has.
        self.repl.assumed &= !is_answered;
        match result {
            Ok(Ok(report)) if report.outcome == Outcome::Interrupted => match timed_out {
                None => show::interrupted(self.output, &report),
                Some(error) => {
                    self.ended = Ended::WithErrors;
                    show::timed_out(self.output, error, &report);
                }
            },
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                self.ended = Ended::WithErrors;
                show::failure(self.output, &error);
            }
            Err(no_turn) => {
                self.ended = Ended::WithErrors;
                self.output
                    .error(&no_turn.to_string(), no_turn.hint().as_deref());
            }
        }
        if self.repl.memory_line {
            let ReplContext { agent, env, .. } = &*self.repl;
            let mut told = TurnLine::noting(&noted);
            if is_answered {
                let spent = env.catalog.meter().total().since(&before);
                let price = |model: &str| known_price(agent, &env.catalog, model);
                told = told.with_request(agent, cost(&spent, price));
            }
            if let Some(line) = told.line(self.repl.env.now()) {
                self.output.aside(&line);
            }
        }
        after
    }
}
