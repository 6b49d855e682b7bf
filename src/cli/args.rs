//! The command line as typed. Making an [`Args`] does nothing but check its shape; what it means is
//! settled together with the other layers in `config`.

mod commands;

use std::ffi::OsString;
use std::mem;
use std::path::PathBuf;

use clap::{Args as ClapArgs, CommandFactory, Parser};

use crate::term::NARROW;

pub(super) use commands::{
    Command, ConfigCommand, EmbedderCommand, ExportFormat, ImportFormat, KeptFor, MemoryCommand,
    SearchArgs, SessionsCommand, Within,
};
#[cfg(feature = "mcp")]
pub(super) use commands::{McpCommand, ProbeArgs};

const EXAMPLES: &str = "\
Examples:
  cogtrix                               chat in the session `default`
  cogtrix -s trip -m ollama/qwen3:8b    chat in a session, with a model
  cogtrix what is a monad               ask one question
  git diff | cogtrix -p 'review this'   ask about what is piped in
  cogtrix --continue                    continue where you left off

`cogtrix --help-all` has every flag, `cogtrix manual` the manual page.";

/// Returns the examples as a screen of so many columns shows them: a narrow one has each explanation below its command.
pub(super) fn examples(columns: usize) -> String {
    if columns >= NARROW {
        return EXAMPLES.to_owned();
    }
    let lines = EXAMPLES.lines().map(|line| {
        let example = line.strip_prefix("  ").and_then(|it| it.split_once("  "));
        match example {
            Some((command, what)) => format!("  {command}\n      {}", what.trim_start()),
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A terminal chat agent with long-term memory
#[derive(Debug, Parser)]
#[command(
    name = "cogtrix",
    version,
    about,
    args_conflicts_with_subcommands = false,
    after_help = EXAMPLES
)]
pub struct Args {
    #[command(flatten)]
    pub chat: ChatArgs,

    /// Question to ask, as with -p; put -- before it if it looks like a command
    #[arg(value_name = "QUESTION", conflicts_with_all = ["prompt", "prompt_file", "lines"])]
    pub question: Vec<String>,

    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Args {
    /// Edits by which a first word may differ from a command that is meant.
    const MAX_EDITS: usize = 2;

    /// Makes the words of a question the prompt.
    ///
    /// # Errors
    /// The command that was likely meant, where a bare first word is nearly its name.
    pub fn settle_question(
        &mut self,
        typed: impl IntoIterator<Item = OsString>,
    ) -> Result<(), String> {
        let Some(first) = self.question.first() else {
            return Ok(());
        };
        let is_marked = typed.into_iter().any(|word| word == "--");
        if !is_marked && let Some(command) = Self::near_command(first) {
            return Err(command);
        }
        self.chat.prompt = Some(mem::take(&mut self.question).join(" "));
        Ok(())
    }

    /// A short name is near from one edit only: two make `in` of `init` and `hello` of `help`.
    fn near_command(word: &str) -> Option<String> {
        let word = word.to_lowercase();
        let commands = Self::command();
        let names = commands.get_subcommands().map(clap::Command::get_name);
        let distances = names
            .chain(["help"])
            .map(|name| (strsim::osa_distance(name, &word), name))
            .filter(|(edits, name)| *edits <= Self::MAX_EDITS && 2 * edits < name.len());
        distances.min().map(|(_, name)| name.to_owned())
    }
}

/// Options of a chat; the places of files and data hold for every command.
#[derive(Clone, Debug, Default, ClapArgs)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one for each switch, as typed"
)]
pub struct ChatArgs {
    /// Memory mode: conversation, code or reasoning
    #[arg(
        short = 'M',
        long = "memory-mode",
        alias = "mode",
        value_name = "MODE",
        global = true
    )]
    pub mode: Option<String>,

    /// Session to open or create
    #[arg(short, long, value_name = "NAME", global = true)]
    pub session: Option<String>,

    /// Resume a session; without a name, choose one from a list (in a script: the last one used)
    #[arg(short, long, value_name = "NAME", num_args = 0..=1, conflicts_with = "session")]
    #[expect(
        clippy::option_option,
        reason = "clap's form of a flag whose value may be missing"
    )]
    pub resume: Option<Option<String>>,

    /// Resume the last session used
    #[arg(long = "continue", conflicts_with_all = ["session", "resume"])]
    pub resume_last: bool,

    /// With -r or --continue: include sessions of one-shot questions
    #[arg(long)]
    pub last: bool,

    /// Model: an alias from the config file, or provider/model
    #[arg(short, long, value_name = "MODEL", global = true)]
    pub model: Option<String>,

    /// Config file to use instead of the default
    #[arg(
        short,
        long = "config-file",
        alias = "config",
        value_name = "FILE",
        global = true
    )]
    pub config_file: Option<PathBuf>,

    /// Folder for sessions and all other saved data
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<PathBuf>,

    /// Folder for notes, memories and other long-term files
    #[arg(long, value_name = "DIR", global = true)]
    pub workspace: Option<PathBuf>,

    /// Tools to offer the model: all, none, mode, or a comma-separated list
    #[arg(long, value_name = "TOOLS")]
    pub tools: Option<String>,

    /// Project folder for tools and memory entries, instead of the current one
    #[arg(long, value_name = "DIR", global = true)]
    pub project: Option<PathBuf>,

    /// Let tools change files, run commands and fetch URLs without asking
    #[arg(short = 'y', long = "no-confirm")]
    pub no_confirm: bool,

    /// Refuse tool calls that could change anything, including memory
    #[arg(long)]
    pub read_only: bool,

    /// Sandbox for shell commands: on, net (on, with network access), or off
    #[arg(long, value_name = "KIND")]
    pub sandbox: Option<String>,

    /// Context preset: default, cogtrix, co-cli, agenticx, gokin, qanot
    #[arg(long, value_name = "NAME")]
    pub context_preset: Option<String>,

    /// Ask this and exit; text piped to stdin is appended
    #[arg(short, long, value_name = "TEXT")]
    pub prompt: Option<String>,

    /// Ask the contents of this file and exit
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub prompt_file: Option<PathBuf>,

    /// Write the reply to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Print one JSON object: reply, session, model, usage, context
    #[arg(long)]
    pub json: bool,

    /// Time limit for a one-shot run, or for each reply in a chat, such as 90s or 2h (one-shot default: 1h; 0s: no
    /// limit)
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<String>,

    /// Read stdin line by line as if typed, commands included
    #[arg(long, conflicts_with_all = ["prompt", "prompt_file", "json", "output"])]
    pub lines: bool,

    /// Show replies only when complete
    #[arg(long)]
    pub no_stream: bool,

    /// Show replies as written, without rendering Markdown
    #[arg(long)]
    pub plain: bool,

    /// Hide the banner
    #[arg(long)]
    pub no_banner: bool,

    /// Show only replies, warnings and errors
    #[arg(short, long, conflicts_with = "verbose", global = true)]
    pub quiet: bool,

    /// Show more detail
    #[arg(short, long, global = true)]
    pub verbose: bool,

    /// Write a log to this file
    #[arg(long, value_name = "FILE", global = true)]
    pub log: Option<PathBuf>,

    /// Save nothing: the session is lost on exit
    #[arg(long, conflicts_with_all = ["session", "resume", "resume_last"])]
    pub private: bool,

    /// Trust this folder for this run: its config file may name servers and keys
    #[arg(long, global = true)]
    pub trust_folder: bool,

    /// Open the session read-only, even if another process has it open: commands work, nothing is sent or saved
    #[arg(long, conflicts_with = "private")]
    pub no_lock: bool,

    /// Show the help with every flag
    #[arg(long)]
    pub help_all: bool,

    /// Fail at a write, for tests: kill-before@N, kill-torn@N, kill-after@N, full@N
    #[cfg(feature = "testing")]
    #[arg(long, value_name = "FAULT", hide = true, global = true)]
    pub fault: Option<crate::files::Schedule>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(typed: &[&str]) -> Result<Option<String>, String> {
        let mut args = Args::try_parse_from(typed).unwrap();
        assert!(args.command.is_none(), "{typed:?}");
        let typed = typed.iter().map(OsString::from);
        args.settle_question(typed).map(|()| args.chat.prompt)
    }

    #[test]
    fn words_that_are_no_command_are_a_question() {
        for (typed, asked) in [
            (&["cogtrix", "what", "is", "rust"][..], "what is rust"),
            (&["cogtrix", "-m", "x", "what is rust"], "what is rust"),
            (
                &["cogtrix", "explain", "memory", "please"],
                "explain memory please",
            ),
            (&["cogtrix", "what", "is", "-q", "rust"], "what is rust"),
            (&["cogtrix", "hello"], "hello"),
            (&["cogtrix", "can", "you", "help"], "can you help"),
            (&["cogtrix", "my name"], "my name"),
            (&["cogtrix", "--", "in", "short"], "in short"),
            (&["cogtrix", "--", "memory", "is", "what"], "memory is what"),
            (&["cogtrix", "--", "sesions"], "sesions"),
            (&["cogtrix", "sesions of what"], "sesions of what"),
        ] {
            assert_eq!(settled(typed), Ok(Some(asked.to_owned())), "{typed:?}");
        }
    }

    #[test]
    fn a_first_word_that_is_nearly_a_command_is_taken_for_a_slip() {
        for (typed, meant) in [
            (&["cogtrix", "sesions"][..], "sessions"),
            (&["cogtrix", "mmeory", "search", "x"], "memory"),
            (&["cogtrix", "Doctor"], "doctor"),
            (&["cogtrix", "manul"], "manual"),
            (&["cogtrix", "modl", "is", "what"], "models"),
            (&["cogtrix", "int", "the", "repo"], "init"),
            #[cfg(feature = "mcp")]
            (&["cogtrix", "mpc", "add"], "mcp"),
        ] {
            assert_eq!(settled(typed), Err(meant.to_owned()), "{typed:?}");
        }
    }

    #[test]
    fn first_words_of_questions_are_no_slips_of_commands() {
        let words = "what how can is tell why explain write make show give who when where are do does could should please hi hello \
                     thanks i the a find fix compare translate plan will would did has on if you we they this that these \
                     which whose list name draft create generate build debug run read open check add change convert \
                     calculate solve define describe summarize suggest recommend let use was were have had am \
                     my me may in it not mom";
        let taken = words.split_whitespace().filter_map(|word| {
            let command = Args::near_command(word)?;
            Some(format!("{word}: {command}"))
        });
        assert_eq!(taken.collect::<Vec<_>>(), Vec::<String>::new());
    }

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn resume_takes_a_name_or_none() {
        let resume = |args: &[&str]| Args::try_parse_from(args).unwrap().chat.resume;
        assert_eq!(resume(&["cogtrix"]), None);
        assert_eq!(resume(&["cogtrix", "-r"]), Some(None));
        assert_eq!(
            resume(&["cogtrix", "--resume", "work"]),
            Some(Some("work".into()))
        );
    }

    #[test]
    fn config_is_an_alias_of_config_file() {
        let args = Args::try_parse_from(["cogtrix", "--config", "x.yaml"]).unwrap();
        assert_eq!(args.chat.config_file, Some("x.yaml".into()));
    }
}
