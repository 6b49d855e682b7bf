//! How a run talks to the person: one prompt, lines from a pipe, or a terminal.

use std::time::Duration;

use super::args::ChatArgs;
use super::report::CliError;
use super::stdin::{self, Stdin};
use crate::agent::Input;

/// How this run talks to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RunMode {
    OneShot(Input),
    Lines,
    Terminal,
}

impl RunMode {
    /// Reads what is piped in, if that is the prompt.
    pub(super) fn of(args: &ChatArgs) -> Result<Self, CliError> {
        if args.lines {
            return Ok(Self::Lines);
        }
        let given = match (&args.prompt, &args.prompt_file) {
            (Some(prompt), _) => Some(prompt.clone()),
            (None, Some(file)) => Some(stdin::read_file(file)?),
            (None, None) => None,
        };
        let piped = match stdin::kind() {
            Stdin::Terminal => String::new(),
            Stdin::Piped => stdin::read()?,
        };
        let asked = given.is_some();
        let prompt = stdin::joined(given, &piped);
        match (prompt.is_empty(), asked, stdin::kind()) {
            (false, ..) => Ok(Self::OneShot(prompt)),
            (true, false, Stdin::Terminal) => Ok(Self::Terminal),
            (true, ..) => Err(CliError::Usage {
                problem: if asked {
                    "the prompt is empty".to_owned()
                } else {
                    "no prompt: stdin is empty".to_owned()
                },
                hint: "pass text with -p, or pipe it in",
            }),
        }
    }

    /// A one-shot run waits for a session that is open elsewhere; a person is told at once.
    pub(super) fn patience(&self, lock_wait: Duration) -> Duration {
        match self {
            Self::OneShot(_) | Self::Lines => lock_wait,
            Self::Terminal => Duration::ZERO,
        }
    }
}
