//! The command line: arguments, the composition root, and the words and exit code of whatever went wrong.

mod app;
mod args;
mod ask;
mod candidates;
mod doctor;
mod embedder;
mod greeting;
mod init;
mod leaving;
mod log;
mod manual;
#[cfg(feature = "mcp")]
mod mcp;
mod memory;
mod models;
mod opening;
mod parts;
mod report;
mod run_mode;
mod servers;
mod sessions;
mod settings;
mod stdin;
mod talk;
mod toolbox;
mod trust;

use std::fs::File;
use std::io;
use std::process::ExitCode;

use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue};

pub use args::Args;
use args::{Command, MemoryCommand};
#[cfg(any(test, feature = "testing"))]
pub use memory::import_line;
use report::{CliError, Exit};

use crate::config;
use crate::repl::outlive_file_size_limit;
use crate::term::{Features, Output, Paint, Policy, Replies, Verbosity, width};
use crate::tools::shell::hidden_subcommand;

/// Runs cogtrix as it was called.
pub fn main() -> ExitCode {
    // Before there is a configuration or a thread: this process only looks after a command, or becomes one.
    if let Some(code) = hidden_subcommand(std::env::args_os().skip(1), || config::environment().0) {
        return code;
    }
    let environment = config::environment();
    let paint = Paint::from_variables(environment.get("NO_COLOR"), environment.get("TERM"));
    let mut output = Output::standard(Policy {
        verbosity: Verbosity::Normal,
        paint,
        replies: Replies::Raw,
        features: Features::from_variables(|name| environment.get(name)),
    });
    let mut args = match parsed(&output) {
        Ok(args) => args,
        Err(error) => return refused(&error, output),
    };
    output.set_verbosity(match (args.chat.quiet, args.chat.verbose) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Verbose,
        (false, false) => Verbosity::Normal,
    });
    let settled = args.settle_question(std::env::args_os().skip(1));
    let settled = settled.map_err(|command| CliError::NearCommand {
        word: args.question.first().cloned().unwrap_or_default(),
        command,
    });
    let exit = match settled.and_then(|()| run(args, &mut output)) {
        Ok(exit) => exit,
        Err(error) => report::report(&mut output, &error),
    };
    report::last_words(output, exit).into()
}

fn parsed(output: &Output) -> Result<Args, clap::Error> {
    let command = manual::usual().after_help(args::examples(output.columns()));
    let matches = command.try_get_matches().map_err(|mut error| {
        // A question may begin with the name of a command, and goes on behind the word that is none.
        let word = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
        let word = word.iter().find_map(|kind| error.get(*kind));
        if let Some(ContextValue::String(word)) = word
            && !word.starts_with('-')
            && std::env::args_os()
                .skip_while(|typed| typed != word.as_str())
                .count()
                > 1
        {
            let tip =
                "to ask this as a question, quote it or put `--` right after `cogtrix`".into();
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
        }
        error
    })?;
    Args::from_arg_matches(&matches)
}

/// Prints what is wrong with the arguments, or the help they ask for.
fn refused(error: &clap::Error, mut output: Output) -> ExitCode {
    let text = error.render().to_string();
    let columns = output.columns();
    let is_seen = output.is_interactive() || error.use_stderr();
    if is_seen && text.lines().all(|line| width(line) <= columns) {
        // In its colours.
        error.exit();
    }
    let exit = if error.use_stderr() {
        output.notice(&text);
        Exit::Usage
    } else {
        output.answer(&text);
        Exit::Ok
    };
    report::last_words(output, exit).into()
}

fn run(args: Args, output: &mut Output) -> Result<Exit, CliError> {
    check_open_files()?;
    outlive_file_size_limit().map_err(|source| CliError::Runtime { source })?;
    log::start(args.chat.log.as_deref())?;
    if args.chat.no_lock && args.command.is_some() {
        return Err(CliError::Usage {
            problem: "--no-lock only works with a chat".to_owned(),
            hint: "remove --no-lock",
        });
    }
    if args.chat.help_all {
        return Ok(manual::help_all(output));
    }
    match args.command {
        None => runtime()?.block_on(app::chat(&args.chat, output)),
        Some(Command::Sessions { command }) => sessions::run(command, &args.chat, output),
        Some(Command::Embedder { command }) => {
            runtime()?.block_on(embedder::run(&command, &args.chat, output))
        }
        Some(Command::Memory { command }) => {
            runtime()?.block_on(memory::run(command, &args.chat, output))
        }
        Some(Command::Search(search)) => {
            let command = MemoryCommand::Search(search);
            runtime()?.block_on(memory::run(command, &args.chat, output))
        }
        #[cfg(feature = "mcp")]
        Some(Command::Mcp { command }) => runtime()?.block_on(mcp::run(&command, output)),
        Some(Command::Init { yes }) => runtime()?.block_on(init::run(yes, &args.chat, output)),
        Some(Command::Doctor) => runtime()?.block_on(doctor::run(&args.chat, output)),
        Some(Command::Config { command }) => {
            runtime()?.block_on(settings::run(command, &args.chat, output))
        }
        Some(Command::Models { json }) => {
            runtime()?.block_on(models::run(json, &args.chat, output))
        }
        Some(Command::Manual { folder }) => manual::print_or_write(folder.as_deref(), output),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut manual::all(), "cogtrix", &mut script);
            output.answer(&String::from_utf8_lossy(&script));
            Ok(Exit::Ok)
        }
    }
}

/// Holds as many files open for a moment as a run may need at once: where one cannot be opened, tokio panics, and other
/// libraries report something else that is wrong.
fn check_open_files() -> Result<(), CliError> {
    const NEEDED: usize = 32;
    let opened: io::Result<Vec<File>> = (0..NEEDED).map(|_| File::open("/dev/null")).collect();
    match opened {
        Err(source) if report::is_out_of_files(&source) => Err(CliError::Runtime { source }),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// One thread: a chat waits far more than it works.
fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| CliError::Runtime { source })
}
